//! Likely work of a kernel, by its name: which uncounted work is missing. A name is a hint and never
//! overrides a counter.

use crate::model::{Engine, Pipe, Precision};
use crate::scalar::{Constant, Number, Truth, Word};

/// What is known of uncounted work, from harmless to certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Uncounted {
    /// Everything was counted.
    #[default]
    Nothing,
    /// By its name and number formats, the kernel does no other work.
    Unlikely,
    /// There may be uncounted work.
    Open,
    /// By its name, the kernel does uncounted work.
    Certain,
}

impl Uncounted {
    /// All of them, in order.
    pub(crate) const ALL: [Self; 4] = [Self::Nothing, Self::Unlikely, Self::Open, Self::Certain];
}

impl Word for Uncounted {
    const BLANK: Self = Self::Nothing;

    fn constant(self) -> Constant {
        Constant::Rank(self as u8)
    }
}

/// Likely work of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Nature<N: Number> {
    /// Whether it moves data or computes little per element: its arithmetic takes no longer than its
    /// traffic.
    pub(crate) moves_data: N::Truth,
    /// Whether it multiplies matrices, or a matrix and a vector.
    pub(crate) is_product: N::Truth,
    /// Format of its products on tensor cores, half formats as FP16; [`Precision::Unstated`] if any
    /// count of tensor work covers them.
    pub(crate) product: N::Choice<Precision>,
    /// What is known of work of each kind while it is not counted.
    pub(crate) tensor: N::Choice<Uncounted>,
    pub(crate) fp64: N::Choice<Uncounted>,
    pub(crate) fp32: N::Choice<Uncounted>,
    pub(crate) fp16: N::Choice<Uncounted>,
}

impl Word for Precision {
    const BLANK: Self = Self::Unstated;

    fn constant(self) -> Constant {
        Constant::Text(self.key())
    }
}

/// Kinds of work that were counted for a launch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kinds<N: Number> {
    fp64: N::Truth,
    fp32: N::Truth,
    fp16: N::Truth,
    /// Matrix work by the format of its operands.
    matrix: [N::Truth; Precision::ALL.len()],
    /// Whether the activity of the tensor pipe is known, for all formats together: it was counted, or there is none.
    pub(super) tensor_activity: N::Truth,
    /// Whether any matrix work was found.
    found_matrix: N::Truth,
    /// Whether counted from shapes, which covers everything the operator does.
    pub(super) whole: N::Truth,
    /// Whether bytes were counted, and no work at all: then the bytes say nothing of work.
    pub(super) bytes_alone: N::Truth,
}

impl<N: Number> Kinds<N> {
    pub(super) fn new(whole: N::Truth) -> Self {
        let no = N::Truth::of(false);
        Self {
            fp64: no,
            fp32: no,
            fp16: no,
            matrix: [no; Precision::ALL.len()],
            tensor_activity: no,
            found_matrix: no,
            whole,
            bytes_alone: no,
        }
    }

    /// Records whether work was counted on a pipe, and whether it was more than none.
    #[inline]
    pub(super) fn note(&mut self, pipe: Pipe, is: N::Truth, is_some: N::Truth) {
        let kind = match (pipe.engine(), pipe) {
            (Engine::Matrix, _) => {
                self.found_matrix = self.found_matrix | is_some;
                // Half formats share their counters on some chips.
                let precision = match pipe.precision() {
                    Precision::Bf16 => Precision::Fp16,
                    other => other,
                };
                &mut self.matrix[precision as usize]
            }
            (_, Pipe::Fp64Vector) => &mut self.fp64,
            (_, Pipe::Fp32Vector) => &mut self.fp32,
            (_, Pipe::Fp16Vector | Pipe::Bf16Vector) => &mut self.fp16,
            _ => return,
        };
        *kind = *kind | is;
    }

    /// Returns whether tensor work was counted in the format of the kernel; counts of fp16 and fp8 do
    /// not include int8 products.
    fn has_tensor(&self, product: N::Choice<Precision>) -> N::Truth {
        let no = || N::Truth::of(false);
        N::select(
            self.tensor_activity | self.found_matrix,
            || N::Truth::of(true),
            || {
                let any = self.matrix.into_iter().fold(no(), |one, other| one | other);
                N::select(
                    N::is(product, Precision::Unstated),
                    || any,
                    || {
                        let formats = Precision::ALL.into_iter().zip(self.matrix);
                        formats.fold(no(), |has, (format, counts)| {
                            has | (N::is(product, format) & counts)
                        })
                    },
                )
            },
        )
    }
}

impl<N: Number> Nature<N> {
    /// Returns what is known of the uncounted work.
    pub(super) fn uncounted(self, kinds: &Kinds<N>) -> N::Choice<Uncounted> {
        let nothing = || N::word(Uncounted::Nothing);
        N::select(kinds.whole & !kinds.bytes_alone, nothing, || {
            [
                (kinds.has_tensor(self.product), self.tensor),
                (kinds.fp64, self.fp64),
                (kinds.fp32, self.fp32),
                (kinds.fp16, self.fp16),
            ]
            .into_iter()
            .map(|(was_counted, missing)| N::select(was_counted, nothing, || missing))
            .fold(N::word(Uncounted::Nothing), N::later)
        })
    }
}

#[cfg(test)]
impl Nature<f64> {
    /// Returns what is known of uncounted work beside counts of none on some pipes.
    pub(crate) fn uncounted_beside(self, counts: &[Pipe]) -> Uncounted {
        let mut kinds = Kinds::new(false);
        for pipe in counts {
            kinds.note(*pipe, true, false);
        }
        self.uncounted(&kinds)
    }
}
