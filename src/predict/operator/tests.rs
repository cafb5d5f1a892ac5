//! Numbers worked out by hand, from the sizes alone.

use super::*;

fn shape(grid: &str, block: &str) -> Shape {
    Shape::new(Dim3::parse(grid), Dim3::parse(block))
}

/// N=16, C=956, 54×54 to K=17, 19×19 by filters of 2×2 at steps of 3, FP32, as of a public trace.
fn strided() -> Convolved {
    Convolved {
        images: 16.0,
        inputs: 956.0,
        input: (54.0, 54.0),
        outputs: 17.0,
        output: (19.0, 19.0),
        filter: (2.0, 2.0),
        groups: Some(1.0),
        data_type: Some(DataType::Fp32),
    }
}

/// N=1, C=6, 30×30 to K=16, 26×26 by filters of 5×5, FP32.
fn small() -> Convolved {
    Convolved {
        images: 1.0,
        inputs: 6.0,
        input: (30.0, 30.0),
        outputs: 16.0,
        output: (26.0, 26.0),
        filter: (5.0, 5.0),
        groups: Some(1.0),
        data_type: Some(DataType::Fp32),
    }
}

/// Operations, bytes and how much more they may be, of the kernel of this name.
fn around(
    sizes: Convolved,
    backward: bool,
    kernel: &str,
    shape: &Shape,
) -> Option<(Option<f64>, f64, f64)> {
    let operands = Operands::Convolution(sizes);
    let operator = Operator { name: "conv2d".to_owned(), backward, operands };
    let need = operator.need(Part::of(kernel), shape)?;
    Some((need.operations, need.bytes, need.high))
}

fn on_tensors(
    name: &str,
    backward: bool,
    tensors: &[(&[f64], DataType)],
    kernel: &str,
    shape: &Shape,
) -> Option<(Option<f64>, f64, f64)> {
    let tensor = |(shape, data_type): &(&[f64], DataType)| Tensor {
        shape: shape.to_vec(),
        data_type: *data_type,
    };
    let operands = Operands::Tensors(tensors.iter().map(tensor).collect());
    let operator = Operator { name: name.to_owned(), backward, operands };
    let need = operator.need(Part::of(kernel), shape)?;
    Some((need.operations, need.bytes, need.high))
}

#[test]
fn the_grid_tells_which_tensor_changes_its_layout() {
    // 32 images of 128×56×56 to 128×28×28 by 3×3, FP16.
    let sizes = Convolved {
        images: 32.0,
        inputs: 128.0,
        input: (56.0, 56.0),
        outputs: 128.0,
        output: (28.0, 28.0),
        filter: (3.0, 3.0),
        data_type: Some(DataType::Fp16),
        ..strided()
    };
    let of = |backward, kernel, grid| around(sizes, backward, kernel, &shape(grid, "256,1,1"));
    // ⌈3136/32⌉ by ⌈128/32⌉ for each of 32 images: the input, 32·128·3136 = 12,845,056 elements.
    let input = Some((Some(0.0), 51_380_224.0, 1.0));
    assert_eq!(of(false, "nchwToNhwcKernel", "98,4,32"), input);
    // ⌈9/32⌉ by ⌈128/32⌉ for each of 128 filters: 128·128·9 = 147,456 elements.
    let filter = Some((Some(0.0), 589_824.0, 1.0));
    assert_eq!(of(false, "nchwToNhwcKernel", "1,4,128"), filter);
    assert_eq!(of(true, "nhwcToNchwKernel", "1,4,128"), filter);
    // ⌈784/32⌉: the output, 32·128·784 = 3,211,264 elements; no other tensor goes back.
    let output = Some((Some(0.0), 12_845_056.0, 1.0));
    assert_eq!(of(true, "nchwToNhwcKernel", "25,4,32"), output);
    assert_eq!(of(false, "nhwcToNchwKernel", "7,7,7"), output);
    // Without a grid it is the filter or something larger: 12,845,056 / 147,456 = 87.1, up to 128.
    let unknown = around(sizes, true, "nchwToNhwcKernel", &Shape::default());
    assert_eq!(unknown, Some((Some(0.0), 589_824.0, 128.0)));
}

#[test]
fn kernels_around_a_convolution_get_their_own_part() {
    let of = |backward, kernel, grid: &str, block| {
        around(strided(), backward, kernel, &shape(grid, block))
    };
    // 65,535 blocks of 256 are for 16·956·54·54 = 44,603,136 elements, not for 65,008 or 98,192.
    let cleared = Some((Some(0.0), 178_412_544.0, 2.0));
    assert_eq!(of(true, "scalePackedTensor_kernel", "65535,1,1", "256,1,1"), cleared);
    // The gradient of the bias: 98,192 elements read, 17 written, 98,175 additions.
    let bias = Some((Some(98_175.0), 4.0 * 98_209.0, 1.0));
    assert_eq!(of(true, "reduce_kernel", "2,1,1", "32,16,1"), bias);
    // The bias: 384 blocks of 128 threads with 2 elements each are for 98,192.
    let added = Some((Some(98_192.0), 4.0 * (2.0 * 98_192.0 + 17.0), 1.0));
    assert_eq!(of(false, "elementwise_kernel", "384,1,1", "128,1,1"), added);
    assert_eq!(of(false, "elementwise_kernel", "383,1,1", "128,1,1"), None);
    // Tables of offsets, and whatever is not known.
    assert_eq!(of(true, "cask_cudnn::computeWgradBOffsetsKernel", "2,1,1", "256,1,1"), None);
    assert_eq!(of(true, "splitKreduce_kernel", "2,1,1", "256,1,1"), None);
}

#[test]
fn transforms_of_a_convolution_are_counted_by_their_tiles() {
    let of = |kernel, grid, block| around(small(), false, kernel, &shape(grid, block));
    // 5,400 elements read, 26·26 columns of 150 written.
    let columns = Some((Some(0.0), 4.0 * (5_400.0 + 101_400.0), 1.0));
    assert_eq!(of("im2col4d_kernel", "2,1,1", "512,1,1"), columns);
    assert_eq!(of("flip_filter", "16,6,1", "5,5,1"), Some((Some(0.0), 8.0 * 2_400.0, 1.0)));
    // One tile of 32×32 yields 28×28. 96 planes of filters at 16 a block are 6 blocks, 6 are one.
    let planes = |elements: f64, planes: f64| 4.0 * elements + planes * 8.0 * 544.0;
    // 2.5·1024·10 operations for each.
    let filters = Some((Some(96.0 * 25_600.0), planes(2_400.0, 96.0), 1.0));
    assert_eq!(of("fft2d_r2c_32x32", "6,1,1", "512,1,1"), filters);
    assert_eq!(
        of("fft2d_r2c_32x32", "1,1,1", "512,1,1"),
        Some((Some(6.0 * 25_600.0), planes(5_400.0, 6.0), 1.0))
    );
    let output = Some((Some(16.0 * 25_600.0), planes(10_816.0, 16.0), 1.0));
    assert_eq!(of("fft2d_c2r_32x32", "1,1,1", "512,1,1"), output);
    // F(9×9, 5×5): tiles of 13×13, ⌈26/9⌉² = 9 of them on each of 6 and 16 planes.
    let data = Some((Some(9_126.0), 4.0 * (5_400.0 + 6.0 * 9.0 * 169.0), 1.0));
    assert_eq!(of("winogradForwardData9x9_5x5", "2,6,1", "936,1,1"), data);
    let filter = Some((Some(16_224.0), 4.0 * (2_400.0 + 96.0 * 169.0), 1.0));
    assert_eq!(of("winogradForwardFilter9x9_5x5", "1,16,1", "64,13,1"), filter);
    let output = Some((Some(24_336.0), 4.0 * (10_816.0 + 16.0 * 9.0 * 169.0), 1.0));
    assert_eq!(of("winogradForwardOutput9x9_5x5", "2,16,1", "936,1,1"), output);
    assert_eq!(of("winogradForwardData4x4", "2,6,1", "936,1,1"), None);
    // 169 products of 16×6 and 6×9, and 544 of 16×6 and 6×1 complex numbers.
    let products = Some((Some(2.0 * 169.0 * 864.0), 4.0 * 169.0 * (96.0 + 54.0 + 144.0), 1.0));
    assert_eq!(of("gemmSN_NN_kernel", "3,4,169", "128,1,1"), products);
    let products = Some((Some(8.0 * 544.0 * 96.0), 8.0 * 544.0 * (96.0 + 6.0 + 16.0), 1.0));
    assert_eq!(of("gemv2T_kernel_val", "2,1,544", "128,1,1"), products);
    // A product of another count may be the whole convolution or a part of it.
    assert_eq!(of("gemmSN_NN_kernel", "3,4,1", "128,1,1"), None);
}

#[test]
fn what_a_cut_list_of_sizes_does_not_tell_is_bounded() {
    let cut = Convolved { groups: None, data_type: None, ..strided() };
    let operands = Operands::Convolution(cut);
    let operator = Operator { name: "conv2d".to_owned(), backward: true, operands };
    let need = operator.need(Part::Convolution, &Shape::default()).unwrap();
    // 956 and 17 share no divisor: one group. Filters meet 38 of 54 rows and columns: 22,087,424 + 65,008 + 98,192
    // elements, of 2 to 8 bytes, and the gradient is written in all of 44,603,136.
    assert_eq!(need.bytes, 2.0 * 22_250_624.0);
    assert!((need.high - 4.0 * 44_766_336.0 / 22_250_624.0).abs() < 1e-9, "{need:?}");
    assert_eq!(need.operations, Some(2.0 * 98_192.0 * 956.0 * 4.0));
    assert!(need.is_product);
    // 6 and 16 share 2: how many groups, and whether a launch does all, is not told.
    let cut = Operands::Convolution(Convolved { groups: None, ..small() });
    let operator = Operator { name: "conv2d".to_owned(), backward: false, operands: cut };
    assert_eq!(operator.need(Part::Convolution, &Shape::default()), None);
    // Nothing is known around a convolution in groups.
    let grouped = Convolved { groups: Some(2.0), ..small() };
    assert_eq!(around(grouped, false, "flip_filter", &Shape::default()), None);
}

#[test]
fn softmax_and_loss_are_counted_by_rows() {
    let logits: &[(&[f64], DataType)] =
        &[(&[700.0, 33_278.0], DataType::Fp32), (&[700.0], DataType::Int64)];
    let n = 23_294_600.0;
    let of =
        |backward, kernel| on_tensors("cross_entropy", backward, logits, kernel, &Shape::default());
    assert_eq!(of(false, "cunn_SoftMaxForward"), Some((Some(5.0 * n), 8.0 * n, 2.0)));
    assert_eq!(of(false, "cunn_SoftMaxForwardSmem"), Some((Some(5.0 * n), 8.0 * n, 1.0)));
    let gradient = Some((Some(4.0 * n), 12.0 * n, 4.0 / 3.0));
    assert_eq!(of(true, "cunn_SoftMaxBackward"), gradient);
    let picked = Some((Some(700.0), 8_400.0, 1.0));
    assert_eq!(of(false, "cunn_ClassNLLCriterion_updateOutput_kernel"), picked);
    assert_eq!(of(false, "memcpy"), None);
    // Half formats may be widened before.
    let half: &[(&[f64], DataType)] = &[(&[32.0, 1_000.0], DataType::Fp16)];
    let widened = on_tensors("softmax", false, half, "softmax_warp_forward", &Shape::default());
    assert_eq!(widened, Some((Some(160_000.0), 128_000.0, 2.0)));
}

#[test]
fn passes_of_a_layer_normalization_add_up_to_all_of_it() {
    let tensors: &[(&[f64], DataType)] = &[
        (&[35.0, 20.0, 200.0], DataType::Fp32),
        (&[200.0], DataType::Fp32),
        (&[200.0], DataType::Fp32),
    ];
    let of = |backward, kernel| {
        on_tensors("layer_norm", backward, tensors, kernel, &Shape::default()).unwrap()
    };
    // 140,000 elements in 700 rows.
    let passes = [
        (false, "RowwiseMomentsCUDAKernel", 560_000.0, 565_600.0),
        (false, "LayerNormForwardCUDAKernel", 560_000.0, 1_127_200.0),
        (true, "ComputeInternalGradientsCUDAKernel", 560_000.0, 1_126_400.0),
        (true, "ComputeGradientFusedParamsCUDAKernel", 4_200.0, 16_800.0),
        (true, "LayerNormBackwardCUDAKenrel", 840_000.0, 1_686_400.0),
        (true, "GammaBetaBackwardCUDAKernel", 560_000.0, 1_127_200.0),
    ];
    for (backward, kernel, operations, bytes) in passes {
        assert_eq!(of(backward, kernel), (Some(operations), bytes, 1.0), "{kernel}");
    }
    let whole = of(false, "vectorized_layer_norm_kernel");
    assert_eq!(whole, (Some(1_120_000.0), 1_127_200.0, 1.0));
}

#[test]
fn sums_and_poolings_read_their_input() {
    let matrix: &[(&[f64], DataType)] = &[(&[200.0, 200.0], DataType::Fp32)];
    let norm = on_tensors("norm", false, matrix, "reduce_kernel", &Shape::default());
    assert_eq!(norm, Some((Some(80_000.0), 160_000.0, 1.0)));
    let images: &[(&[f64], DataType)] = &[(&[32.0, 64.0, 112.0, 112.0], DataType::Fp16)];
    // 25,690,112 elements in. 25,088 blocks of 256 are at least 6,422,272 results and places.
    let n = 25_690_112.0;
    let pool = |backward, kernel, grid| {
        on_tensors("max_pool2d", backward, images, kernel, &shape(grid, "256,1,1"))
    };
    let forward = 2.0 * n + 10.0 * 6_422_272.0;
    assert_eq!(pool(false, "", "25088,1,1"), Some((Some(n), forward, 4.0)));
    assert_eq!(pool(true, "", "49,32,64"), Some((Some(n), 2.0 * n, 8.0)));
    // 25,088 blocks of 256 threads with 4 elements each clear 25,690,112.
    let cleared = pool(true, "vectorized_elementwise_kernel", "25088,1,1");
    assert_eq!(cleared, Some((Some(0.0), 2.0 * n, 1.0)));
    assert_eq!(pool(true, "vectorized_elementwise_kernel", "25087,1,1"), None);
}

#[test]
fn an_elementwise_kernel_within_an_operator_needs_a_grid_that_fits_one_tensor() {
    let tensors: &[(&[f64], DataType)] = &[
        (&[35.0, 20.0, 200.0], DataType::Fp32),
        (&[600.0, 200.0], DataType::Fp32),
        (&[35.0, 35.0], DataType::Fp32),
    ];
    let of = |grid, block| {
        on_tensors(
            "multi_head_attention_forward",
            false,
            tensors,
            "elementwise_kernel",
            &shape(grid, block),
        )
    };
    // 274 blocks of 512 are for 140,000, 235 of 512 for 120,000.
    assert_eq!(of("274,1,1", "512,1,1"), Some((Some(140_000.0), 560_000.0, 4.0)));
    assert_eq!(of("235,1,1", "512,1,1"), Some((Some(120_000.0), 480_000.0, 4.0)));
    assert_eq!(of("821,1,1", "128,1,1"), None);
    assert_eq!(of("", ""), None);
}

#[test]
fn sizes_of_any_extent_give_numbers_or_nothing() {
    for extent in [0.0, 1.0, 3.0, 1e9, 1e18, 1e300] {
        let sizes = Convolved { images: extent, input: (extent, 3.0), ..small() };
        let tensors: &[(&[f64], DataType)] = &[(&[extent, extent, 3.0], DataType::Fp16)];
        for kernel in [
            "",
            "nchwToNhwcKernel",
            "scalePackedTensor_kernel",
            "im2col4d_kernel",
            "fft2d_r2c_32x32",
            "winogradForwardData9x9_5x5",
            "reduce_kernel",
            "elementwise_kernel",
            "cunn_SoftMaxForward",
            "RowwiseMomentsCUDAKernel",
        ] {
            for grid in ["", "4294967295,4294967295,1", "1,1,1"] {
                let shape = shape(grid, "1024,1,1");
                let found = [
                    around(sizes, true, kernel, &shape),
                    on_tensors("softmax", false, tensors, kernel, &shape),
                    on_tensors("layer_norm", false, tensors, kernel, &shape),
                    on_tensors("max_pool2d", true, tensors, kernel, &shape),
                ];
                for (operations, bytes, high) in found.into_iter().flatten() {
                    assert!(bytes.is_finite() && bytes > 0.0 && high >= 1.0, "{kernel} {extent}");
                    assert!(operations.is_none_or(f64::is_finite), "{kernel} {extent}");
                }
            }
        }
    }
}

/// Two images of 1024 rows of 16 heads of 64, FP16: 4·2·16·1024²·64 operations for both products; Q, K, V and the
/// output once, and 4 bytes for each row and head. Up to the diagonal there are 1024·1025/2 pairs; of 101 keys each query
/// sees its own and 100 before, where there are as many.
#[test]
fn fused_attention_is_two_products_over_the_pairs_that_see_each_other() {
    let of = |keys: [f64; 4], seen, backward, kernel: &str| {
        let tensor = |shape: [f64; 4]| Tensor { shape: shape.to_vec(), data_type: DataType::Fp16 };
        let tensors = vec![tensor([2.0, 1024.0, 16.0, 64.0]), tensor(keys), tensor(keys)];
        let operands = Operands::Attention(Attended { tensors, seen });
        let operator = Operator { name: "attention".to_owned(), backward, operands };
        operator.need(Part::of(kernel), &shape("(8, 2, 16)", "(128, 1, 1)"))
    };
    let rows = [2.0, 1024.0, 16.0, 64.0];
    let band = |before, offset| Seen::Band(Band { before, after: 0.0, offset });
    let causal = band(f64::INFINITY, 0.0);
    let forward = "flash_fwd_kernel";
    let counts = |keys, seen| {
        let need = of(keys, seen, false, forward)?;
        Some((need.operations?, need.bytes, need.operations_within))
    };
    let bytes = 16_777_216.0 + 131_072.0;
    let exact = (1.0, 1.0);
    assert_eq!(counts(rows, Seen::All), Some((8_589_934_592.0, bytes, exact)));
    assert_eq!(counts(rows, causal), Some((4_299_161_600.0, bytes, exact)));
    let maybe = Some((8_589_934_592.0, bytes, (0.5, 1.0)));
    assert_eq!(counts(rows, Seen::AllOrCausal), maybe);
    let pairs = 101.0 * 102.0 / 2.0 + (1024.0 - 101.0) * 101.0;
    let window = Some((8192.0 * pairs, bytes, exact));
    assert_eq!(counts(rows, band(100.0, 0.0)), window);
    // Of 4096 keys the first 1024 are seen if the diagonal begins with the first of both.
    let long = [2.0, 4096.0, 16.0, 64.0];
    assert_eq!(counts(long, causal), Some((4_299_161_600.0, bytes, exact)));
    let gradients = "flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel";
    let backward = of(rows, Seen::All, true, gradients).unwrap();
    assert_eq!(backward.operations, Some(2.5 * 8_589_934_592.0));
    assert_eq!(of(rows, Seen::All, true, forward), None);
    assert_eq!(of([2.0, 1024.0, 3.0, 64.0], Seen::All, false, forward), None);
}

/// 32 images of 256 channels of 14×14 by 256 filters of 3×3: F(4×4, 3×3) has ⌈14/4⌉² tiles of 36 numbers on each plane.
/// The gradient of the input is such a convolution of the output's; that of the filter sums tiles of both.
#[test]
fn gradients_by_winograd_are_transforms_and_36_products() {
    let sizes = Convolved {
        images: 32.0,
        inputs: 256.0,
        input: (14.0, 14.0),
        outputs: 256.0,
        output: (14.0, 14.0),
        filter: (3.0, 3.0),
        groups: Some(1.0),
        data_type: Some(DataType::Fp32),
    };
    let of = |kernel, grid| around(sizes, true, kernel, &shape(grid, "64,1,1")).unwrap();
    let columns = 32.0 * 16.0;
    let matrices = 256.0 * 256.0 + 2.0 * 256.0 * columns;
    let products = (Some(2.0 * 36.0 * 256.0 * 256.0 * columns), 4.0 * 36.0 * matrices, 1.0);
    assert_eq!(of("volta_sgemm_64x64_nt", "8,4,36"), products);
    let tiles = 36.0 * 256.0 * columns;
    let image = 32.0 * 256.0 * 196.0;
    for kernel in [
        "winogradForwardData4x4",
        "winogradForwardOutput4x4",
        "winogradWgradData4x4",
        "winogradWgradDelta4x4",
    ] {
        assert_eq!(of(kernel, "2,256,1").1, 4.0 * (image + tiles), "{kernel}");
    }
    let filter = 4.0 * 256.0 * 256.0 * (9.0 + 36.0);
    for kernel in ["winogradForwardFilter4x4", "winogradWgradOutput4x4"] {
        assert_eq!(of(kernel, "8,32,1").1, filter, "{kernel}");
    }
    assert_eq!(around(sizes, true, "volta_sgemm_64x64_nt", &shape("8,4,1", "64,1,1")), None);
}
