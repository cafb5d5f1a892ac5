//! What is counted once, of another size, or from the other side than it seems.

use super::*;

/// 256³ in NVFP4, two elements to a byte, one FP8 scale for 16; 16×64×64 in MXFP8, one scale for 32.
#[test]
fn products_of_few_bits_count_packed_elements_and_scales_of_a_byte() {
    let values = r#"["","","","","","","15","False"]"#;
    for (dims, types, flops, bytes) in [
        (
            "[[256,128],[128,256],[4096],[4096],[],[],[],[]]",
            r#"["c10::Float4_e2m1fn_x2","c10::Float4_e2m1fn_x2","c10::Float8_e4m3fn","c10::Float8_e4m3fn","","","Scalar","Scalar"]"#,
            2.0 * 256.0 * 256.0 * 256.0,
            2.0 * 32_768.0 + 2.0 * 4096.0 + 2.0 * 65_536.0,
        ),
        (
            "[[16,64],[64,64],[32],[128],[],[],[],[]]",
            r#"["c10::Float8_e4m3fn","c10::Float8_e4m3fn","c10::Float8_e8m0fnu","c10::Float8_e8m0fnu","","","Scalar","Scalar"]"#,
            2.0 * 16.0 * 64.0 * 64.0,
            1024.0 + 4096.0 + 160.0 + 2.0 * 1024.0,
        ),
        // A scale for all of an operand is a float.
        (
            "[[16,64],[64,64],[],[],[],[],[],[]]",
            r#"["c10::Float8_e4m3fn","c10::Float8_e4m3fn","float","float","","","Scalar","Scalar"]"#,
            2.0 * 16.0 * 64.0 * 64.0,
            1024.0 + 4096.0 + 8.0 + 2.0 * 1024.0,
        ),
    ] {
        let called = called("aten::_scaled_mm", dims, types, values);
        assert_eq!(work(&called, "nvjet_sm100_qqtst"), (Some(flops), Some(bytes)), "{types}");
    }
    let packed =
        called("aten::copy_", "[[4,8],[4,8]]", r#"["c10::Float4_e2m1fn_x2","unsigned char"]"#, "");
    assert_eq!(packed.tensor(0, None).unwrap().bytes(), Some(32.0));
}

/// 4 channels of 8×8 become 4 of 16×16 by filters of 2×2: each pixel of the input meets each filter.
#[test]
fn the_gradient_of_a_transposed_convolution_counts_the_pixels_of_its_input() {
    let types = r#"["float","float","float"]"#;
    let dims = "[[2,4,16,16],[2,4,8,8],[4,4,2,2],[],[],[],[],[],[],[],[]]";
    let values = |transposed: &str| {
        format!(
            r#"["","","","[0]","[2, 2]","[0, 0]","[1, 1]","{transposed}","[0, 0]","1","[True, True, False]"]"#
        )
    };
    let gradient = |values: &str| called("aten::convolution_backward", dims, types, values);
    let kernel = "sm80_xmma_dgrad_implicit_gemm_indexed_f32f32_f32f32_f32";
    let elements = 2.0 * 4.0 * 256.0 + 2.0 * 4.0 * 64.0 + 64.0;
    assert_eq!(
        work(&gradient(&values("True")), kernel),
        (Some(2.0 * 2.0 * 64.0 * 4.0 * 4.0 * 4.0), Some(4.0 * elements))
    );
    // What it says of the output is of no convolution from input to output.
    let mut outputs = Outputs::new();
    note_output(&mut outputs, &gradient(&values("True")));
    assert!(outputs.is_empty());
}

/// A bias of 64 by 64 for each of 2·8 heads, of its own or the same for all: bytes on top of the same without it.
#[test]
fn attention_reads_what_is_stored_of_a_bias() {
    let of = |name: &str, bias: &str, strides: &str, mask: &str, kernel: &str| {
        let rows = "[2,64,8,64]";
        let is_backward = name.contains("backward");
        let (before, after) = if is_backward { (4, 15) } else { (3, 10) };
        let dims = format!("[{}{bias}{}]", format!("{rows},").repeat(before), ",[]".repeat(after));
        let types = format!("[{}\"c10::Half\"]", "\"c10::Half\",".repeat(before));
        let strides = format!("[{}{strides}]", "[],".repeat(before));
        let mut recorded = vec![String::new(); before + after + 1];
        recorded[if is_backward { 14 } else { 9 }] = mask.to_owned();
        let values = format!("{recorded:?}");
        let parts = [name, &dims, &types, &values, &strides];
        let parts = parts.iter().flat_map(|part| part.bytes().chain(std::iter::once(APART)));
        let called = Called::of(&parts.collect::<Vec<u8>>());
        let operator = operator(&called, None, &Outputs::new(), None).unwrap();
        let (work, _) = operator.share(Kernel::of(kernel), ALONE, &Shape::default());
        let bytes = work.bytes.unwrap();
        (bytes.value, bytes.basis.low, bytes.basis.high * bytes.value)
    };
    let forward = |bias, strides, mask| {
        let kernel = "fmha_cutlassF_f16_aligned_64x64_rf_sm80";
        of("aten::_efficient_attention_forward", bias, strides, mask, kernel)
    };
    let (without, ..) = forward("[]", "[]", "0");
    let all = 2.0 * 2.0 * 8.0 * 64.0 * 64.0;
    let own = forward("[2,8,64,64]", "[32768,4096,64,1]", "0");
    assert_eq!(own, (without + all, 1.0, without + all));
    let shared = forward("[2,8,64,64]", "[0,0,64,1]", "0");
    assert_eq!(shared.0, without + all / 16.0);
    // Up to the diagonal 65 of 128 pairs.
    let causal = forward("[2,8,64,64]", "[32768,4096,64,1]", "1");
    assert_eq!(causal.0, without + all * 65.0 / 128.0);
    // Whether the gradient of the bias is written is not asked.
    let backward = |bias, strides| {
        let kernel = "fmha_cutlassB_f16_aligned_64x64_k64_sm80";
        of("aten::_efficient_attention_backward", bias, strides, "0", kernel)
    };
    let (without, ..) = backward("[]", "[]");
    let (value, _, high) = backward("[2,8,64,64]", "[32768,4096,64,1]");
    assert_eq!(value, without + all);
    assert!((high - (without + 2.0 * all)).abs() < 1.0, "{high}");
}

/// 100 look-ups in a table of 2 rows of 8 read 2 rows.
#[test]
fn rows_of_a_small_table_are_read_once() {
    let bytes = |name: &str, dims: &str, types: &str, values: &str| {
        work(&called(name, dims, types, values), "indexSelectLargeIndex").1
    };
    let [indices, rows, written] = [8.0 * 100.0, 4.0 * 2.0 * 8.0, 4.0 * 100.0 * 8.0];
    let types = r#"["float","long int"]"#;
    let found = bytes("aten::embedding", "[[2,8],[100]]", types, "");
    assert_eq!(found, Some(indices + rows + written));
    let found = bytes(
        "aten::index_select",
        "[[2,8],[],[100]]",
        r#"["float","Scalar","long int"]"#,
        r#"["","0",""]"#,
    );
    assert_eq!(found, Some(indices + rows + written));
    let found = bytes(
        "aten::_embedding_bag",
        "[[2,8],[100],[10]]",
        r#"["float","long int","long int"]"#,
        "",
    );
    assert_eq!(found, Some(indices + 80.0 + rows + 4.0 * 10.0 * 8.0));
}

/// `addcmul_(gradient, gradient)` reads two tensors and writes one; two other factors are read both.
#[test]
fn a_square_is_read_once() {
    let of = |dims: &str, name: &str| {
        let called = called(name, dims, r#"["float","float","float"]"#, "");
        let operator = operator(&called, None, &Outputs::new(), None).unwrap();
        let kernel = Kernel::of("at::native::vectorized_elementwise_kernel");
        let (work, _) = operator.share(kernel, ALONE, &Shape::default());
        work.bytes.map(|bytes| (bytes.value, bytes.basis.low, bytes.basis.high))
    };
    let alike = "[[1000],[1000],[1000]]";
    // 4 ÷ 3, in eighths.
    assert_eq!(of(alike, "aten::addcmul_"), Some((12_000.0, 1.0, 1.375)));
    assert_eq!(of(alike, "aten::addcdiv_"), Some((16_000.0, 1.0, 1.0)));
    assert_eq!(of("[[1000],[1000],[1]]", "aten::addcmul_"), Some((12_004.0, 1.0, 1.0)));
}
