//! Likely work of a kernel, by its class or by words in an unrecognized name: which uncounted work
//! is missing. A name is a hint and never overrides a counter.

use crate::law::{Nature, Uncounted};
use crate::model::{DataType, Precision};
use crate::taxonomy::{Category, Class, Kind};

/// Returns the likely work of kernels of a class; `head` is the name without its parameters.
pub(super) fn nature(class: &Class, head: &str) -> Nature<f64> {
    let is_product = class.category == Category::DotProduct;
    let may_use_tensor_cores = may_use_tensor_cores(class, head);
    let product = class.precision().filter(|_| is_product && !class.formats.inferred);
    let product = product.filter(|_| may_use_tensor_cores);
    let by_name = ByName {
        class,
        is_known: class.category != Category::Unknown,
        moves_data: moves_data(class),
        is_product,
        may_use_tensor_cores,
    };
    Nature {
        moves_data: by_name.moves_data,
        is_product,
        product: match product {
            // Half formats share their counters on some chips, and FP32 is multiplied as TF32 or in parts.
            Some(Precision::Fp16 | Precision::Bf16) => Precision::Fp16,
            Some(Precision::Fp32 | Precision::Tf32) | None => Precision::Unstated,
            Some(precision) => precision,
        },
        tensor: match (is_product && class.tensor == Some(true), may_use_tensor_cores) {
            (true, _) => Uncounted::Certain,
            (false, true) => Uncounted::Open,
            // There is none if CUDA-core work was fully counted and the name shows no products.
            (false, false) => Uncounted::Nothing,
        },
        fp64: by_name.vector(Precision::Fp64),
        fp32: by_name.vector(Precision::Fp32),
        fp16: by_name.vector(Precision::Fp16),
    }
}

/// Returns the likely work of a kernel whose name is not recognized, and whose operator multiplies
/// matrices.
pub(super) fn launched_by_product(own: Nature<f64>) -> Nature<f64> {
    // What says that tensor cores are idle is not known of an unrecognized name.
    Nature { tensor: own.tensor.max(Uncounted::Open), ..own }
}

/// What a name says of work on CUDA cores.
struct ByName<'a> {
    class: &'a Class,
    /// True if a rule recognizes it.
    is_known: bool,
    moves_data: bool,
    is_product: bool,
    may_use_tensor_cores: bool,
}

impl ByName<'_> {
    /// Returns what is known of uncounted CUDA-core work in a format.
    fn vector(&self, precision: Precision) -> Uncounted {
        let is_told = |format: DataType| match format.precision() {
            Precision::Bf16 => precision == Precision::Fp16,
            told => told == precision,
        };
        let formats = &self.class.formats;
        let tells =
            [formats.a, formats.accumulate, formats.output].into_iter().flatten().any(is_told);
        match (self.is_known, self.moves_data, self.is_product) {
            (false, ..) => Uncounted::Open,
            (_, true, _) => Uncounted::Unlikely,
            // Scaling and sums beside the products; whether those were counted is told apart.
            (.., true) if self.may_use_tensor_cores => Uncounted::Unlikely,
            (.., true) if tells => Uncounted::Certain,
            _ if tells || formats.a.is_none() => Uncounted::Open,
            _ => Uncounted::Unlikely,
        }
    }
}

/// Returns `true` if a kernel moves data, or computes little per element.
fn moves_data(class: &Class) -> bool {
    match class.category {
        Category::Elementwise | Category::Reduction | Category::DataMovement => !matches!(
            class.kind,
            // Transforms and random numbers compute for their traffic.
            Some(Kind::WinogradTransform | Kind::RnnCell | Kind::Histogram)
        ),
        _ => false,
    }
}

/// Words in names that no rule recognizes; plain `mma` would match `gamma`.
const WORDS: [&str; 18] = [
    "hmma",
    "wmma",
    "wgmma",
    "gmma",
    "tensorop",
    "gemm",
    "conv",
    "attn",
    "attention",
    "matmul",
    "matrix",
    "flash",
    "triton",
    "cutlass",
    "moe",
    "mlp",
    "linear",
    "einsum",
];

/// Returns `true` if a kernel may use tensor cores, so that uncounted tensor work cannot be ruled
/// out.
fn may_use_tensor_cores(class: &Class, head: &str) -> bool {
    match class.category {
        Category::DotProduct => class.tensor != Some(false),
        Category::Unknown => {
            let name = head.to_lowercase();
            WORDS.iter().any(|word| name.contains(word))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Pipe;
    use crate::taxonomy::Taxonomy;

    fn uncounted(name: &str, counts: &[Pipe]) -> Uncounted {
        nature(&Taxonomy::builtin().classify(name), name).uncounted_beside(counts)
    }

    const VECTOR: [Pipe; 3] = [Pipe::Fp64Vector, Pipe::Fp32Vector, Pipe::Fp16Vector];

    #[test]
    fn what_was_not_counted_weighs_by_what_the_kernel_is() {
        let fp32 = [Pipe::Fp32Vector];
        for (name, counts, expected) in [
            // All of the CUDA cores, and no sign of products.
            ("stencil_kernel<double>", &VECTOR[..], Uncounted::Nothing),
            // A layout change does no tensor work, and no FP64.
            ("nchwToNhwcKernel<float, float, float>", &fp32[..], Uncounted::Unlikely),
            ("vectorized_elementwise_kernel<4, AddFunctor>", &[][..], Uncounted::Unlikely),
            // The name says tensor cores, and nobody counted them.
            ("ampere_fp16_s16816gemm_fp16_128x128", &VECTOR[..], Uncounted::Certain),
            // CUDA cores multiply, in FP32; the tensor cores stay idle.
            ("volta_sgemm_128x64_nn", &[][..], Uncounted::Certain),
            ("volta_sgemm_128x64_nn", &VECTOR[..], Uncounted::Nothing),
            // Nobody knows.
            ("my_kernel", &fp32[..], Uncounted::Open),
            ("my_matmul", &VECTOR[..], Uncounted::Open),
        ] {
            assert_eq!(uncounted(name, counts), expected, "{name}");
        }
    }

    #[test]
    fn counts_of_one_tensor_format_are_none_of_another() {
        let name = "cutlass_80_tensorop_i16832gemm_s8_256x128_64x3_tn_align16";
        let halves = [Pipe::Fp16Matrix, Pipe::Fp8Matrix];
        let floats: Vec<Pipe> = VECTOR.into_iter().chain(halves).collect();
        assert_eq!(uncounted(name, &floats), Uncounted::Certain);
        let with_integers: Vec<Pipe> = floats.into_iter().chain([Pipe::Int8Matrix]).collect();
        assert_eq!(uncounted(name, &with_integers), Uncounted::Nothing);
    }

    fn may(name: &str) -> bool {
        may_use_tensor_cores(&Taxonomy::builtin().classify(name), name)
    }

    #[test]
    fn kernels_that_may_use_tensor_cores_are_recognized() {
        for name in [
            "ampere_fp16_s16816gemm_fp16_128x128",
            "nvjet_tst_128x128_64x6",
            "_attn_fwd",
            "my_wmma_test",
        ] {
            assert!(may(name), "{name}");
        }
        for name in [
            "iterate_kn",
            "ij_deriv_kernel",
            "stencil_kernel<double>",
            "layer_norm<float, 128>",
            "volta_sgemm_128x64_nn",
            "vectorized_elementwise_kernel<4, Half>",
        ] {
            assert!(!may(name), "{name}");
        }
    }
}
