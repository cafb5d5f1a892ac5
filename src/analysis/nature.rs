//! Likely work of a kernel, by its class or by words in an unrecognized name: which uncounted work
//! is missing. A name is a hint and never overrides a counter.

use super::confidence::Uncounted;
use crate::model::{DataType, Engine, Pipe, Precision};
use crate::taxonomy::{Category, Class, Kind};

/// Likely work of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Nature {
    /// True if it may use tensor cores, so that uncounted tensor work cannot be ruled out.
    may_use_tensor_cores: bool,
    /// True if tensor cores do its work.
    uses_tensor_cores: bool,
    /// True if it moves data or computes little per element: its arithmetic takes no longer than
    /// its traffic.
    moves_data: bool,
    /// True if a rule recognizes its name.
    is_known: bool,
    /// True if it multiplies matrices, or a matrix and a vector.
    is_product: bool,
    /// Number formats in its name.
    formats: [Option<DataType>; 3],
    /// Format of its products, if it multiplies matrices.
    product: Option<Precision>,
}

impl Nature {
    /// Makes the nature of kernels of a class; `head` is the name without its parameters.
    pub(super) fn of(class: &Class, head: &str) -> Self {
        let is_product = class.category == Category::DotProduct;
        Self {
            may_use_tensor_cores: may_use_tensor_cores(class, head),
            uses_tensor_cores: is_product && class.tensor == Some(true),
            moves_data: moves_data(class),
            is_known: class.category != Category::Unknown,
            is_product,
            formats: [class.formats.a, class.formats.accumulate, class.formats.output],
            product: class.precision().filter(|_| is_product && !class.formats.inferred),
        }
    }

    /// Returns the nature of a kernel whose operator multiplies matrices.
    pub(super) const fn launched_by_product(self) -> Self {
        Self { may_use_tensor_cores: true, ..self }
    }

    /// Returns `true` if it multiplies matrices, or a matrix and a vector.
    pub(super) const fn is_product(self) -> bool {
        self.is_product
    }

    /// Returns `true` if its arithmetic takes no longer than its traffic.
    pub(super) const fn moves_data(self) -> bool {
        self.moves_data
    }

    /// Returns what is known of the uncounted work.
    pub(super) fn uncounted(self, counted: &Counted) -> Uncounted {
        if counted.whole {
            return Uncounted::Nothing;
        }
        [
            (counted.has_tensor(self), self.tensor()),
            (counted.fp64, self.vector(Precision::Fp64)),
            (counted.fp32, self.vector(Precision::Fp32)),
            (counted.fp16, self.vector(Precision::Fp16)),
        ]
        .into_iter()
        .filter(|(was_counted, _)| !was_counted)
        .map(|(_, missing)| missing)
        .max()
        .unwrap_or_default()
    }

    /// Returns what is known of uncounted tensor work. There is none if CUDA-core work was fully
    /// counted and the name shows no matrix products.
    fn tensor(self) -> Uncounted {
        match (self.uses_tensor_cores, self.may_use_tensor_cores) {
            (true, _) => Uncounted::Certain,
            (false, true) => Uncounted::Open,
            (false, false) => Uncounted::Nothing,
        }
    }

    /// Returns what is known of uncounted CUDA-core work in a format.
    fn vector(self, precision: Precision) -> Uncounted {
        let is_told = |format: DataType| match format.precision() {
            Precision::Bf16 => precision == Precision::Fp16,
            told => told == precision,
        };
        let tells = self.formats.iter().flatten().any(|format| is_told(*format));
        match (self.is_known, self.moves_data, self.is_product) {
            (false, ..) => Uncounted::Open,
            (_, true, _) => Uncounted::Unlikely,
            // Scaling and sums beside the products; whether those were counted is told apart.
            (.., true) if self.may_use_tensor_cores => Uncounted::Unlikely,
            (.., true) if tells => Uncounted::Certain,
            _ if tells || self.formats[0].is_none() => Uncounted::Open,
            _ => Uncounted::Unlikely,
        }
    }
}

/// Kinds of work that were counted for a launch.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counted {
    fp64: bool,
    fp32: bool,
    fp16: bool,
    /// Matrix work by the format of its operands, one bit each.
    matrix: u32,
    /// True if the activity of the tensor pipe is known, for all formats together.
    pub(super) tensor_activity: bool,
    /// True if any matrix work was found.
    found_matrix: bool,
    /// True if counted from shapes, which covers everything the operator does.
    pub(super) whole: bool,
}

impl Counted {
    /// Records that work was counted on a pipe.
    pub(super) fn note(&mut self, pipe: Pipe, is_some: bool) {
        match (pipe.engine(), pipe) {
            (Engine::Matrix, _) => {
                self.matrix |= 1 << pipe.precision() as u32;
                self.found_matrix |= is_some;
            }
            (_, Pipe::Fp64Vector) => self.fp64 = true,
            (_, Pipe::Fp32Vector) => self.fp32 = true,
            (_, Pipe::Fp16Vector | Pipe::Bf16Vector) => self.fp16 = true,
            _ => {}
        }
    }

    /// Returns `true` if tensor work was counted in the format of the kernel; counts of fp16 and
    /// fp8 do not include int8 products.
    fn has_tensor(&self, nature: Nature) -> bool {
        let counts = |precision: Precision| self.matrix & 1 << precision as u32 != 0;
        if self.tensor_activity || self.found_matrix {
            return true;
        }
        match nature.product.filter(|_| nature.may_use_tensor_cores) {
            // Half formats share their counters on some chips, and FP32 is multiplied as TF32 or in parts.
            Some(Precision::Fp16 | Precision::Bf16) => {
                counts(Precision::Fp16) || counts(Precision::Bf16)
            }
            Some(Precision::Fp32 | Precision::Tf32) | None => self.matrix != 0,
            Some(precision) => counts(precision),
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
    use crate::taxonomy::Taxonomy;

    fn uncounted(name: &str, counts: &[Pipe]) -> Uncounted {
        let mut counted = Counted::default();
        for pipe in counts {
            counted.note(*pipe, false);
        }
        Nature::of(&Taxonomy::builtin().classify(name), name).uncounted(&counted)
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
