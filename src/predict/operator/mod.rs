//! Minimum work of one kernel of an operator, from the operator's sizes.
//!
//! An operator (a convolution, a softmax, a layer normalization) runs as several kernels, and a
//! recorder of shapes has the sizes of the operator, not of its kernels. The name of a kernel
//! identifies its part: a change of layout, a sum, one pass of a normalization. Operator and part
//! together give the compulsory traffic of *this* kernel: a helper is never credited with the
//! product it helps. If a part could work on several tensors, the grid decides; if the grid is
//! ambiguous, the smallest tensor is used and [`Need::high`] bounds the rest. If nothing is known
//! the need is missing, not zero.

mod around;
mod attention;
mod layers;
mod part;
#[cfg(test)]
mod tests;

pub use attention::{Attended, Band, Seen};
pub use part::Part;

use super::{Arguments, Count, DataType, form};
use crate::model::{Dim3, Shape};

/// A tensor as recorded with its shape.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    /// Extents, outermost first; empty for a scalar.
    pub shape: Vec<f64>,
    /// Format of its elements.
    pub data_type: DataType,
}

impl Tensor {
    /// Returns the number of elements; 1 for a scalar.
    #[must_use]
    pub fn elements(&self) -> f64 {
        self.shape.iter().product()
    }
}

/// The sizes of a convolution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Convolved {
    /// Number of images.
    pub images: f64,
    /// Number of input channels.
    pub inputs: f64,
    /// Height and width of the input.
    pub input: (f64, f64),
    /// Number of output channels.
    pub outputs: f64,
    /// Height and width of the output.
    pub output: (f64, f64),
    /// Height and width of the filter.
    pub filter: (f64, f64),
    /// Number of channel groups; `None` if unknown.
    pub groups: Option<f64>,
    /// Format of all three tensors; `None` if unknown.
    pub data_type: Option<DataType>,
}

/// Operands of an operator.
#[derive(Debug, Clone, PartialEq)]
pub enum Operands {
    /// Its tensors, in the order of its arguments.
    Tensors(Vec<Tensor>),
    /// The sizes of a convolution.
    Convolution(Convolved),
    /// The sizes of a fused attention.
    Attention(Attended),
}

/// An operator with its operands.
#[derive(Debug, Clone, PartialEq)]
pub struct Operator {
    /// Name without namespace and outer underscores: `softmax`, `conv2d`.
    pub name: String,
    /// True for the backward pass, which computes gradients.
    pub backward: bool,
    /// Its operands.
    pub operands: Operands,
}

/// Work of one kernel, as far as the sizes of its operator determine it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Need {
    /// Formula of the counts, in words and letters of sizes.
    pub formula: &'static str,
    /// Operations by the customary form; zero if data is only moved.
    pub operations: Option<f64>,
    /// Factors that bound the true operations from below and above.
    pub operations_within: (f64, f64),
    /// Lower bound of the compulsory bytes.
    pub bytes: f64,
    /// Factor that bounds the true bytes from above: 1 if they are exact.
    pub high: f64,
    /// True if the operations are matrix products.
    pub is_product: bool,
}

impl Need {
    /// Makes a need with exact bytes and operations.
    const fn exact(formula: &'static str, operations: f64, bytes: f64) -> Self {
        Self {
            formula,
            operations: Some(operations),
            operations_within: (1.0, 1.0),
            bytes,
            high: 1.0,
            is_product: false,
        }
    }

    /// Makes a need from the counts of a closed form.
    fn of(formula: &'static str, count: &Count) -> Self {
        Self::exact(formula, count.operations().get(), count.bytes().get())
    }

    /// Sets the factor by which the bytes may be larger.
    const fn at_most(mut self, factor: f64) -> Self {
        self.high *= factor;
        self
    }

    /// Sets the factors that bound the operations.
    const fn operations_within(mut self, low: f64, high: f64) -> Self {
        self.operations_within = (low, high);
        self
    }

    /// Returns the need if its values are finite and not zero.
    fn checked(self) -> Option<Self> {
        let sound = |value: f64| value.is_finite() && value >= 0.0;
        (sound(self.bytes)
            && self.bytes > 0.0
            && self.operations.is_none_or(sound)
            && sound(self.high)
            && self.high >= 1.0)
            .then_some(self)
    }
}

impl Operator {
    /// Returns the work of a kernel that does this part of the operator, launched in this shape;
    /// `None` if unknown.
    #[must_use]
    pub fn need(&self, part: Part, shape: &Shape) -> Option<Need> {
        let launched = Launched { grid: shape.grid, block: shape.block };
        match &self.operands {
            Operands::Convolution(sizes) => sizes.need(part, self.backward, launched),
            Operands::Tensors(tensors) => layers::need(self, tensors, part, launched),
            Operands::Attention(attended) => {
                let is_part = part == Part::Attention { backward: self.backward };
                is_part.then(|| attended.need(self.backward)).flatten()
            }
        }?
        .checked()
    }
}

/// The blocks and threads of a launch, if known.
#[derive(Debug, Clone, Copy)]
struct Launched {
    grid: Option<Dim3>,
    block: Option<Dim3>,
}

impl Launched {
    /// Returns the blocks, and the threads of each.
    fn counts(self) -> Option<(f64, f64)> {
        Some((self.grid?.volume() as f64, self.block?.volume() as f64)).filter(|(_, t)| *t > 0.0)
    }

    /// Returns `true` if the launch could process this many elements: every block has at least one.
    fn has_work_for(self, elements: f64) -> bool {
        self.counts().is_none_or(|(blocks, threads)| elements > (blocks - 1.0) * threads)
    }

    /// Returns `true` if the blocks are exactly those needed for this many elements, at 1 to 16 per
    /// thread.
    fn covers(self, elements: f64) -> bool {
        self.counts().is_some_and(|(blocks, threads)| {
            [1.0, 2.0, 4.0, 8.0, 16.0]
                .iter()
                .any(|each| (elements / (threads * each)).ceil() == blocks)
        })
    }
}

/// The least of some values, and by which factor the greatest may be more.
///
/// The factor is rounded up to a power of two, so that a profile of many shapes has few of them.
fn between(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    let ends = values.into_iter().fold(None, |ends: Option<(f64, f64)>, value| {
        Some(ends.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
    });
    let (low, high) = ends?;
    let factor = high / low;
    let factor = if factor > 1.0 { factor.log2().ceil().exp2() } else { 1.0 };
    factor.is_finite().then_some((low, factor))
}

/// A closed form with these sizes.
fn count<const N: usize>(
    name: &str,
    sizes: [(&str, f64); N],
    data_type: DataType,
) -> Option<Count> {
    let sizes = sizes.iter().map(|(key, size)| format!("{key}={size:.0}"));
    let all = sizes.chain([format!("dtype={}", data_type.name())]);
    Arguments::parse(form(name).ok()?, all).ok()?.count().ok()
}
