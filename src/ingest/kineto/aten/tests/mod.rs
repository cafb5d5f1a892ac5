//! Work of operators, counted by hand.

mod counted;

use super::*;
use crate::ingest::kineto::gathered::APART;
use crate::ingest::operators::kernel::Kernel;
use crate::ingest::operators::operator::Place;
use crate::model::Shape;

/// The only kernel of its operator.
const ALONE: Place = Place {
    is_first: true,
    is_alone: true,
    is_only_product: true,
    is_transformed: false,
    is_in_steps: false,
};

fn called(name: &str, dims: &str, types: &str, values: &str) -> Called {
    let key: Vec<u8> = [name, dims, types, values]
        .iter()
        .flat_map(|part| part.bytes().chain(std::iter::once(APART)))
        .collect();
    Called::of(&key)
}

/// FLOPs and bytes of the only kernel of an operator.
fn work(called: &Called, kernel: &str) -> (Option<f64>, Option<f64>) {
    let Some(operator) = operator(called, None, &Outputs::new(), None) else {
        return (None, None);
    };
    let (work, _) = operator.share(Kernel::of(kernel), ALONE, &Shape::default());
    (work.flops.map(|count| count.value), work.bytes.map(|count| count.value))
}

#[expect(clippy::too_many_lines, reason = "one case after the other, as a table")]
#[test]
fn operators_have_the_work_of_their_tensors() {
    const ELEMENTS: &str = "at::native::vectorized_elementwise_kernel";
    for (name, dims, types, values, kernel, flops, bytes) in [
        (
            "aten::bmm",
            "[[8,16,64],[8,64,32]]",
            r#"["float","float"]"#,
            "",
            "sgemm",
            524_288.0,
            4.0 * 8.0 * (1024.0 + 2048.0 + 512.0),
        ),
        (
            "aten::linear",
            "[[4,2,64],[32,64],[32]]",
            r#"["double","double","double"]"#,
            "",
            "dgemm",
            32_768.0,
            8.0 * (512.0 + 2048.0 + 256.0),
        ),
        (
            "aten::addmv",
            "[[9],[9,5],[5]]",
            r#"["float","float","float"]"#,
            "",
            "gemv",
            90.0,
            4.0 * 59.0,
        ),
        (
            "aten::mul",
            "[[32,8],[32,1]]",
            r#"["c10::Half","float"]"#,
            "",
            ELEMENTS,
            256.0,
            512.0 + 128.0 + 1024.0,
        ),
        (
            "aten::where",
            "[[64],[64],[]]",
            r#"["bool","float","float"]"#,
            "",
            ELEMENTS,
            64.0,
            64.0 + 256.0 + 256.0,
        ),
        (
            "aten::copy_",
            "[[64],[64],[]]",
            r#"["c10::Half","float","Scalar"]"#,
            "",
            ELEMENTS,
            0.0,
            384.0,
        ),
        (
            "aten::threshold_backward",
            "[[64],[64],[]]",
            r#"["float","float","Scalar"]"#,
            "",
            ELEMENTS,
            64.0,
            768.0,
        ),
        // Every element is read, the four kept of each row are written with places of 8 bytes.
        (
            "aten::topk",
            "[[16,100],[],[],[],[]]",
            r#"["float","Scalar","Scalar","Scalar","Scalar"]"#,
            r#"["","4","-1","True","True"]"#,
            "at::native::sbtopk::gatherTopK",
            0.0,
            4.0 * 1600.0 + 64.0 * 12.0,
        ),
        // 500 rows of 32 in 10 lists: the rows, the indices and lists, and 10 rows written.
        (
            "aten::_embedding_bag",
            "[[1000,32],[500],[10],[],[],[],[],[],[]]",
            r#"["float","long int","long int","Scalar","Scalar","Scalar","","Scalar","Scalar"]"#,
            "",
            "EmbeddingBag_updateOutputKernel_sum_mean",
            16_000.0,
            4.0 * 32.0 * 510.0 + 8.0 * 510.0,
        ),
        // FP8 operands, one scale each, an output in BF16.
        (
            "aten::_scaled_mm",
            "[[64,128],[128,32],[],[],[],[],[],[]]",
            r#"["c10::Float8_e4m3fn","c10::Float8_e4m3fn","float","float","","","Scalar","Scalar"]"#,
            r#"["","","","","","","15","True"]"#,
            "nvjet_qqtst_128x256_128x4_2x1_v_bz_coopA_TNT",
            2.0 * 64.0 * 128.0 * 32.0,
            64.0 * 128.0 + 128.0 * 32.0 + 8.0 + 2.0 * 64.0 * 32.0,
        ),
        // A bias of 32 is read once at least; with beta 0 it is not.
        (
            "aten::addmm",
            "[[32],[64,16],[16,32],[],[]]",
            r#"["float","float","float","Scalar","Scalar"]"#,
            r#"["","","","1","1"]"#,
            "sgemm",
            65_536.0,
            4.0 * (1024.0 + 512.0 + 2048.0 + 32.0),
        ),
        (
            "aten::addmm",
            "[[64,32],[64,16],[16,32],[],[]]",
            r#"["float","float","float","Scalar","Scalar"]"#,
            r#"["","","","0","1"]"#,
            "sgemm",
            65_536.0,
            4.0 * (1024.0 + 512.0 + 2048.0),
        ),
        (
            "aten::baddbmm",
            "[[8,16,32],[8,16,64],[8,64,32],[],[]]",
            r#"["float","float","float","Scalar","Scalar"]"#,
            r#"["","","","1","1"]"#,
            "sgemm",
            524_288.0,
            4.0 * 8.0 * (1024.0 + 2048.0 + 2.0 * 512.0),
        ),
        // Beside the product C is copied into the output.
        (
            "aten::addmm",
            "[[32],[64,16],[16,32],[],[]]",
            r#"["float","float","float","Scalar","Scalar"]"#,
            "",
            ELEMENTS,
            0.0,
            4.0 * (32.0 + 2048.0),
        ),
        (
            "aten::mse_loss_backward",
            "[[],[64],[64],[]]",
            r#"["float","float","float","Scalar"]"#,
            "",
            ELEMENTS,
            192.0,
            768.0,
        ),
        // Input of 2×3×8×8, output of 4×4 with its places.
        (
            "aten::max_pool2d_with_indices_backward",
            "[[2,3,4,4],[2,3,8,8],[],[],[],[],[],[2,3,4,4]]",
            r#"["float","float","ScalarList","ScalarList","ScalarList","ScalarList","Scalar","long int"]"#,
            "",
            "max_pool_backward_nchw",
            96.0,
            4.0 * 384.0 + 12.0 * 96.0,
        ),
        ("aten::gelu_backward", "[[64],[64]]", r#"["float","float"]"#, "", ELEMENTS, 512.0, 768.0),
        (
            "aten::native_dropout",
            "[[64],[],[]]",
            r#"["float","Scalar","Scalar"]"#,
            "",
            "fused_dropout_kernel_vec",
            128.0,
            576.0,
        ),
        (
            "aten::index_select",
            "[[100,16],[],[7]]",
            r#"["float","Scalar","long int"]"#,
            r#"["","0",""]"#,
            "indexSelectLargeIndex",
            0.0,
            2.0 * 4.0 * 7.0 * 16.0 + 56.0,
        ),
        (
            "aten::_log_softmax_backward_data",
            "[[32,10],[32,10],[],[]]",
            r#"["float","float","Scalar","Scalar"]"#,
            "",
            "softmax_warp_backward",
            1280.0,
            3840.0,
        ),
    ] {
        let called = called(name, dims, types, values);
        assert_eq!(work(&called, kernel), (Some(flops), Some(bytes)), "{name}");
    }
}

/// 8×8 at steps of 2, with a border of 1 and filters that reach over 5, is 3×3, of the rows and columns 1, 3, 5 and 7.
#[test]
fn the_output_of_a_convolution_follows_from_its_values() {
    let values = r#"["","","","[2, 2]","[1, 1]","[2, 2]","False","[0, 0]","2"]"#;
    let convolution = called(
        "aten::convolution",
        "[[2,4,8,8],[6,2,3,3],[],[],[],[],[],[],[]]",
        r#"["float","float","","ScalarList","ScalarList","ScalarList","Scalar","ScalarList","Scalar"]"#,
        values,
    );
    let output = 2.0 * 6.0 * 3.0 * 3.0;
    // In groups only kernels that do all of them have the whole work.
    let kernel = "conv2d_grouped_direct_kernel";
    let bytes = 4.0 * (2.0 * 4.0 * 16.0 + 6.0 * 18.0 + output);
    assert_eq!(work(&convolution, kernel), (Some(2.0 * output * 18.0), Some(bytes)));
    assert_eq!(work(&convolution, "implicit_convolve_sgemm"), (None, None));
    let unknown = Called::of(b"aten::convolution\0[[2,4,8,8],[6,2,3,3]]\0[]\0\0");
    assert_eq!(work(&unknown, kernel), (None, None));
}

/// Winograd's algorithm does a quarter of the products at least, in one kernel or in 36.
#[test]
fn a_convolution_by_winograd_has_fewer_products_than_the_direct_one() {
    let values = r#"["","","[1, 1]","[1, 1]","[1, 1]","1","False","False","True"]"#;
    let convolution = called(
        "aten::cudnn_convolution",
        "[[32,64,56,56],[64,64,3,3],[],[],[],[],[],[],[]]",
        r#"["float","float","ScalarList","ScalarList","ScalarList","Scalar","Scalar","Scalar","Scalar"]"#,
        values,
    );
    let operator = operator(&convolution, None, &Outputs::new(), None).unwrap();
    let direct = 2.0 * 32.0 * 64.0 * 56.0 * 56.0 * 64.0 * 9.0;
    for (kernel, low) in [
        ("volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1", 0.25),
        ("volta_scudnn_128x64_relu_interior_nn_v1", 1.0),
    ] {
        let (work, _) = operator.share(Kernel::of(kernel), ALONE, &Shape::default());
        let flops = work.flops.unwrap();
        assert_eq!((flops.value, flops.basis.low, flops.basis.high), (direct, low, 1.0));
    }
}

/// 2 images of 8 heads over 32 rows of 64: two products of 2 · 32 · 32 · 64 each, five for the gradients. cuDNN has heads
/// before rows, and says whether it stops at the diagonal.
#[test]
fn fused_attention_of_cudnn_has_its_heads_before_its_rows() {
    let kernel = "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128";
    let dims = "[[2,8,32,64],[2,8,32,64],[2,8,32,64],[],[],[],[],[],[],[],[],[],[]]";
    let types =
        r#"["c10::BFloat16","c10::BFloat16","c10::BFloat16","","","","","","","","","",""]"#;
    let values =
        |causal| format!(r#"["","","","","","","32","32","True","0.","{causal}","False",""]"#);
    let one = 2.0 * 8.0 * 2.0 * 32.0 * 32.0 * 64.0;
    let tensors = 4.0 * 2.0 * (2.0 * 8.0 * 32.0 * 64.0);
    let of = |causal| {
        work(&called("aten::_cudnn_attention_forward", dims, types, &values(causal)), kernel)
    };
    let (flops, bytes) = of("False");
    assert_eq!(flops, Some(2.0 * one));
    assert!(bytes.unwrap() >= tensors && bytes.unwrap() < 1.1 * tensors, "{bytes:?}");
    // Up to the diagonal: 33 of 64 pairs.
    assert_eq!(of("True").0, Some(2.0 * one * 33.0 / 64.0));
    let backward = called(
        "aten::_cudnn_attention_backward",
        "[[2,8,32,64],[2,8,32,64],[2,8,32,64],[2,8,32,64],[2,8,32,64],[2,8,32,1],[],[],[],[],[],[],[],[],[],[]]",
        r#"["c10::BFloat16","c10::BFloat16","c10::BFloat16","c10::BFloat16","c10::BFloat16","float","","","","","","","","","",""]"#,
        r#"["","","","","","","","","","","","32","32","0.","False",""]"#,
    );
    let gradients = "cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_26";
    assert_eq!(work(&backward, gradients).0, Some(5.0 * one));
    assert_eq!(work(&backward, "compute_dot_do_o_specialized").0, None);
}

/// 64 queries and keys of 2 images of 8 heads of 64: 4·2·8·64 operations for each pair that is computed.
#[test]
fn attention_counts_the_pairs_within_its_mask_and_window() {
    let each = 4.0 * 2.0 * 8.0 * 64.0;
    let named = |name: &str, keys: u32, before: usize, values: &str| {
        let list = format!("[2,64,8,64],[2,{keys},8,64],[2,{keys},8,64]");
        let dims = format!("[{list}{}]", ",[]".repeat(before));
        let types =
            format!("[{}\"c10::Half\"{}]", "\"c10::Half\",".repeat(2), ",\"\"".repeat(before));
        called(name, &dims, &types, values)
    };
    let flash = |keys, causal: &str, [left, right]: [&str; 2]| {
        let values =
            format!(r#"["","","","","","64","64","0.","{causal}","False","","{left}","{right}"]"#);
        work(&named("aten::_flash_attention_forward", keys, 10, &values), "flash_fwd_kernel").0
    };
    assert_eq!(flash(64, "False", ["", ""]), Some(each * 64.0 * 64.0));
    assert_eq!(flash(64, "False", ["-1", "-1"]), Some(each * 64.0 * 64.0));
    assert_eq!(flash(64, "True", ["-1", "0"]), Some(each * (64.0 * 65.0 / 2.0)));
    // Its own key and 7 before.
    assert_eq!(flash(64, "True", ["7", "0"]), Some(each * (8.0 * 9.0 / 2.0 + 56.0 * 8.0)));
    // The last of 128 keys is that of the last query, so each has 7 before its own.
    assert_eq!(flash(128, "True", ["7", "0"]), Some(each * 64.0 * 8.0));
    assert_eq!(flash(64, "False", ["0", "0"]), Some(each * 64.0));
    assert_eq!(flash(32, "True", ["", ""]), None);
    let efficient = |keys, mask: &str, window: &str| {
        let values = format!(r#"["","","","","","","","","0.","{mask}","False","","","{window}"]"#);
        let name = "aten::_efficient_attention_forward";
        work(&named(name, keys, 11, &values), "fmha_cutlassF_f16_aligned_64x64_rf_sm80").0
    };
    assert_eq!(efficient(64, "0", ""), Some(each * 64.0 * 64.0));
    // The diagonal begins with the first of both, or ends with the last of both.
    assert_eq!(efficient(128, "1", ""), Some(each * (64.0 * 65.0 / 2.0)));
    assert_eq!(efficient(128, "2", ""), Some(each * (64.0 * 65.0 / 2.0 + 64.0 * 64.0)));
    assert_eq!(efficient(64, "1", "8"), Some(each * (8.0 * 9.0 / 2.0 + 56.0 * 8.0)));
    assert_eq!(efficient(64, "0", "8"), None);
    // Two sequences in one tensor: three offsets of int32.
    let packed = called(
        "aten::_efficient_attention_forward",
        "[[1,64,8,64],[1,64,8,64],[1,64,8,64],[],[3],[3],[],[],[],[],[]]",
        r#"["c10::Half","c10::Half","c10::Half","","int","int","","","","",""]"#,
        r#"["","","","","","","32","32","0.","1","False"]"#,
    );
    assert_eq!(work(&packed, "fmha_cutlassF_f16_aligned_64x64_rf_sm80").0, None);
}

/// A number beside a tensor comes with the call, and what is written is not an operand: read once, written once.
#[test]
fn what_is_written_is_no_operand() {
    let of = |name: &str, dims: &str, types: &str| {
        let kernel =
            "void at::native::vectorized_elementwise_kernel<4, at::native::AUnaryFunctor<float>>";
        work(&called(name, dims, types, ""), kernel).1
    };
    let number = ("[[1000], [], [1000]]", r#"["float", "double", "float"]"#);
    assert_eq!(of("aten::mul", number.0, number.1), Some(8000.0));
    assert_eq!(of("aten::div", number.0, number.1), Some(8000.0));
    let pair = ("[[1000], [1000], [], [1000]]", r#"["float", "float", "Scalar", "float"]"#);
    assert_eq!(of("aten::add", pair.0, pair.1), Some(12_000.0));
    let three = (
        "[[1000], [1000], [1000], [], [1000]]",
        r#"["float", "float", "float", "Scalar", "float"]"#,
    );
    assert_eq!(of("aten::lerp", three.0, three.1), Some(16_000.0));
}

/// A softmax in FP32 of bf16: result and gradient are read in 4 bytes, and the gradient of its input is written in 2.
#[test]
fn the_gradient_of_a_widened_softmax_is_written_as_its_input_was() {
    let of = |name: &str, kernel: &str, input: &str| {
        let values = format!(r#"["", "", "-1", "{input}"]"#);
        let dims = "[[64, 1024], [64, 1024], [], []]";
        work(&called(name, dims, r#"["float", "float", "Scalar", "Scalar"]"#, &values), kernel).1
    };
    let warp = "void softmax_warp_backward<float, c10::BFloat16, float, 10, false, false>(c10::BFloat16*, float const*)";
    assert_eq!(of("aten::_softmax_backward_data", warp, "15"), Some(65_536.0 * 10.0));
    assert_eq!(of("aten::_softmax_backward_data", warp, "6"), Some(65_536.0 * 12.0));
    assert_eq!(of("aten::_log_softmax_backward_data", warp, "15"), Some(65_536.0 * 10.0));
}

/// 4 by 1000 elements: what is kept of a sum is written, too.
#[test]
fn a_reduction_writes_a_result_for_each_element_of_what_is_kept() {
    let of = |name: &str, data_type: &str, values: &str| {
        let kernel = "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>";
        let dims =
            if name.contains("norm") { "[[4,1000],[],[],[],[]]" } else { "[[4,1000],[],[],[]]" };
        let types = format!("[\"{data_type}\",\"\",\"\",\"\"]");
        work(&called(name, dims, &types, values), kernel)
    };
    let sum = |values: &str| of("aten::sum", "float", values);
    assert_eq!(sum(r#"["","[0]","False",""]"#), (Some(4000.0), Some(16_000.0 + 4000.0)));
    assert_eq!(sum(r#"["","[-1]","True",""]"#), (Some(4000.0), Some(16_000.0 + 16.0)));
    assert_eq!(sum(r#"["","[0, 1]","False",""]"#), (Some(4000.0), Some(16_000.0 + 4.0)));
    assert_eq!(sum(r#"["","[]","False",""]"#), (Some(4000.0), Some(16_000.0 + 4.0)));
    // To double precision; and all of it, where the second value is the type.
    assert_eq!(sum(r#"["","[0]","False","7"]"#), (Some(4000.0), Some(16_000.0 + 8000.0)));
    assert_eq!(sum(r#"["","7"]"#), (Some(4000.0), Some(16_000.0 + 8.0)));
    let whole = of("aten::sum", "int", r#"["","[0]","False",""]"#);
    assert_eq!(whole, (Some(4000.0), Some(16_000.0 + 8000.0)));
    // A division, or a root, for each result.
    let mean = of("aten::mean", "float", r#"["","[0]","False",""]"#);
    assert_eq!(mean, (Some(4000.0 + 1000.0), Some(16_000.0 + 4000.0)));
    let norm = of("aten::linalg_vector_norm", "float", r#"["","2","[1]","False",""]"#);
    assert_eq!(norm, (Some(8000.0 + 4.0), Some(16_000.0 + 16.0)));
    // Nothing recorded: at least all is read.
    assert_eq!(sum(""), (Some(4000.0), Some(16_000.0)));
}

/// Bytes are multiplied into sums of four bytes.
#[test]
fn a_product_of_integers_has_a_wide_result() {
    let product =
        called("aten::_int_mm", "[[64,32],[32,16]]", r#"["signed char","signed char"]"#, "");
    let bytes = 64.0 * 32.0 + 32.0 * 16.0 + 4.0 * 64.0 * 16.0;
    let kernel = "cutlass_80_tensorop_i16832gemm_s8_128x128_64x3_nt_align16";
    assert_eq!(work(&product, kernel), (Some(2.0 * 64.0 * 32.0 * 16.0), Some(bytes)));
}

/// Where the gradient of an embedding sorts its indices, none of its kernels does the whole of it.
#[test]
fn each_step_of_a_gradient_of_an_embedding_is_a_part_of_it() {
    let gradient = called(
        "aten::embedding_dense_backward",
        "[[8,16],[8],[],[],[]]",
        r#"["float","long int","Scalar","Scalar","Scalar"]"#,
        r#"["","","100","-1","False"]"#,
    );
    let operator = operator(&gradient, None, &Outputs::new(), None).unwrap();
    let place = |is_in_steps| Place {
        is_first: false,
        is_alone: false,
        is_only_product: true,
        is_transformed: false,
        is_in_steps,
    };
    let bytes = |kernel, is_in_steps| {
        let (work, _) = operator.share(Kernel::of(kernel), place(is_in_steps), &Shape::default());
        work.bytes.map(|count| count.value)
    };
    let table = 4.0 * 100.0 * 16.0;
    assert_eq!(bytes("DeviceRadixSortOnesweepKernel", true), None);
    assert!(bytes("embedding_backward_feature_kernel", false).is_some());
    // A fill clears the table, whatever is beside it.
    assert_eq!(bytes("vectorized_elementwise_kernel", true), Some(table));
}

#[test]
fn operands_that_do_not_fit_give_no_work() {
    for (name, dims) in [
        ("aten::mm", "[[4,5],[6,7]]"),
        ("aten::mm", "[[4,5]]"),
        ("aten::bmm", "[[2,4,5],[3,5,7]]"),
        ("aten::convolution_backward", "[[1,2,3,3],[1,3,3,3],[2,2,1,1]]"),
        ("aten::copy_", "[[64],[32]]"),
        ("aten::gather", "[[64],[],[64]]"),
        ("my::op", "[[64]]"),
    ] {
        let called = called(name, dims, r#"["float","float","float"]"#, "");
        assert_eq!(work(&called, "gemm"), (None, None), "{name}");
    }
}

/// Operands that `expand` made: a row for all of a matrix, a matrix for all of a stack.
#[test]
fn what_is_repeated_is_read_once() {
    let expanded = |name: &str, dims: &str, strides: &str| {
        let types = r#"["float","float"]"#;
        let parts = [name, dims, types, "", strides];
        let parts = parts.iter().flat_map(|part| part.bytes().chain(std::iter::once(APART)));
        work(&Called::of(&parts.collect::<Vec<u8>>()), "elementwise_kernel").1
    };
    let dims = "[[64,32,16],[64,32,16]]";
    let all = 64.0 * 32.0 * 16.0;
    assert_eq!(expanded("aten::copy_", dims, "[[512,16,1],[512,16,1]]"), Some(8.0 * all));
    assert_eq!(expanded("aten::copy_", dims, "[[512,16,1],[0,0,1]]"), Some(4.0 * (all + 16.0)));
    assert_eq!(
        expanded("aten::add", dims, "[[0,16,1],[512,16,1]]"),
        Some(4.0 * (2.0 * all + 512.0))
    );
    // One row of C for all rows: N, M·K, K·N, M·N.
    let parts = [
        "aten::addmm",
        "[[64,32],[64,16],[16,32],[],[]]",
        r#"["float","float","float","Scalar","Scalar"]"#,
        r#"["","","","1","1"]"#,
        "[[0,1],[16,1],[32,1],[],[]]",
    ];
    let parts = parts.iter().flat_map(|part| part.bytes().chain(std::iter::once(APART)));
    let added = work(&Called::of(&parts.collect::<Vec<u8>>()), "sgemm").1;
    assert_eq!(added, Some(4.0 * (32.0 + 1024.0 + 512.0 + 2048.0)));
    // B·M·K, K·N once, B·M·N.
    let types = r#"["float","float"]"#;
    let product = |strides: &str| {
        let parts = ["aten::bmm", "[[8,16,64],[8,64,32]]", types, "", strides];
        let parts = parts.iter().flat_map(|part| part.bytes().chain(std::iter::once(APART)));
        work(&Called::of(&parts.collect::<Vec<u8>>()), "sgemm").1
    };
    assert_eq!(product("[[1024,64,1],[0,32,1]]"), Some(4.0 * (8192.0 + 2048.0 + 4096.0)));
    assert_eq!(product(""), Some(4.0 * (8192.0 + 16_384.0 + 4096.0)));
}

#[test]
fn what_is_written_has_the_type_of_the_result() {
    const ELEMENTS: &str = "at::native::vectorized_elementwise_kernel";
    for (name, types, each) in [
        // An operator that overwrites its first operand keeps its type.
        ("aten::add_", r#"["c10::BFloat16","float"]"#, 8.0),
        ("aten::add", r#"["c10::BFloat16","float"]"#, 10.0),
        ("aten::mul_", r#"["float","c10::BFloat16"]"#, 10.0),
        // Whole numbers are divided into floating-point ones.
        ("aten::div", r#"["long int","long int"]"#, 20.0),
        ("aten::mul", r#"["long int","long int"]"#, 24.0),
        ("aten::eq", r#"["long int","long int"]"#, 17.0),
    ] {
        let called = called(name, "[[1000],[1000]]", types, "");
        assert_eq!(work(&called, ELEMENTS).1, Some(each * 1000.0), "{name} {types}");
    }
    let root = called("aten::sqrt", "[[1000]]", r#"["long int"]"#, "");
    assert_eq!(work(&root, ELEMENTS).1, Some(12_000.0));
}

/// 1×1 filters at steps of 2 meet a quarter of 4×4 pixels.
#[test]
fn a_convolution_reads_what_its_filters_meet() {
    let types = r#"["float","float","","ScalarList","ScalarList","ScalarList","Scalar","Scalar"]"#;
    let dims = "[[2,8,4,4],[16,8,1,1],[],[],[],[],[],[]]";
    let plane = called(
        "aten::cudnn_convolution",
        dims,
        types,
        r#"["","","[0, 0]","[2, 2]","[1, 1]","1","False","False","True"]"#,
    );
    let found = work(&plane, "implicit_convolve_sgemm");
    let (input, filters, output) = (2.0 * 8.0 * 4.0, 16.0 * 8.0, 2.0 * 16.0 * 4.0);
    assert_eq!(found, (Some(2.0 * output * 8.0), Some(4.0 * (input + filters + output))));

    // 1×3×3 filters at steps of 2, 1 and 1 meet half of 8 slices, and all of their 6×6 pixels.
    let volume = called(
        "aten::convolution",
        "[[2,8,8,6,6],[16,8,1,3,3],[],[],[],[],[],[],[]]",
        r#"["float","float","","ScalarList","ScalarList","ScalarList","Scalar","ScalarList","Scalar"]"#,
        r#"["","","","[2, 1, 1]","[0, 1, 1]","[1, 1, 1]","False","[0, 0, 0]","1"]"#,
    );
    let (_, bytes) = work(&volume, "implicit_convolve_sgemm");
    let (input, filters, output) =
        (2.0 * 8.0 * 4.0 * 36.0, 16.0 * 8.0 * 9.0, 2.0 * 16.0 * 4.0 * 36.0);
    assert_eq!(bytes, Some(4.0 * (input + filters + output)));
}
