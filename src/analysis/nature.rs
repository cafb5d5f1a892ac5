//! What a kernel is likely to do, by its class, or by words in a name that no rule knows: which work is
//! missing where it was not counted. A name is a hint and never overrides a counter.

use super::confidence::Uncounted;
use crate::model::{DataType, Engine, Pipe, Precision};
use crate::taxonomy::{Category, Class, Kind};

/// What a kernel is likely to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Nature {
    /// Tensor cores may have worked in it: their work is only taken as absent if it was counted.
    may_use_tensor_cores: bool,
    /// Tensor cores do its work.
    uses_tensor_cores: bool,
    /// It moves data, or computes little on each element that it moves: its arithmetic takes no longer than
    /// its traffic.
    moves_data: bool,
    /// A rule knows its name.
    is_known: bool,
    /// It multiplies matrices, or a matrix and a vector.
    is_product: bool,
    /// Number formats that its name tells.
    formats: [Option<DataType>; 3],
    /// The format of its products, where it multiplies matrices.
    product: Option<Precision>,
}

impl Nature {
    /// The nature of kernels of a class; `head` is the name without its parameters.
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

    /// The nature of a kernel whose operator multiplies matrices.
    pub(super) const fn launched_by_product(self) -> Self {
        Self { may_use_tensor_cores: true, ..self }
    }

    /// Whether it multiplies matrices, or a matrix and a vector.
    pub(super) const fn is_product(self) -> bool {
        self.is_product
    }

    /// Whether its arithmetic takes no longer than its traffic.
    pub(super) const fn moves_data(self) -> bool {
        self.moves_data
    }

    /// What is known of the work that was not counted.
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

    /// What it means that tensor work was not counted. Where CUDA-core work was counted in full and the
    /// name gives no sign of matrix products there is none.
    fn tensor(self) -> Uncounted {
        match (self.uses_tensor_cores, self.may_use_tensor_cores) {
            (true, _) => Uncounted::Certain,
            (false, true) => Uncounted::Open,
            (false, false) => Uncounted::Nothing,
        }
    }

    /// What it means that the work of CUDA cores in a format was not counted.
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

/// Which kinds of work a launch was counted for.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counted {
    fp64: bool,
    fp32: bool,
    fp16: bool,
    /// Matrix work by the format of its operands, a bit each.
    matrix: u32,
    /// The activity of the tensor pipe: that of all formats.
    pub(super) tensor_activity: bool,
    /// Any matrix work was found.
    found_matrix: bool,
    /// Counted from shapes: then everything the operator does is in it.
    pub(super) whole: bool,
}

impl Counted {
    /// Notes work that was counted on a pipe.
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

    /// Whether tensor work was counted in the format of the kernel: int8 products are not among counts of
    /// fp16 and fp8.
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

/// Whether a kernel moves data, or does little with each element.
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

/// Whether a kernel may use tensor cores: then their work is only taken as absent if it was counted.
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
