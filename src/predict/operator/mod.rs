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
mod layers;
mod part;
#[cfg(test)]
mod tests;

pub use part::Part;

use super::{Arguments, Count, DataType, form};
use crate::model::{Dim3, Shape};

/// A tensor as a recorder of shapes tells it.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    /// Extents, outermost first; empty for a scalar.
    pub shape: Vec<f64>,
    /// How its elements are stored.
    pub data_type: DataType,
}

impl Tensor {
    /// How many elements it has; 1 for a scalar.
    #[must_use]
    pub fn elements(&self) -> f64 {
        self.shape.iter().product()
    }
}

/// The sizes of a convolution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Convolved {
    /// Images.
    pub images: f64,
    /// Input channels.
    pub inputs: f64,
    /// Height and width of the input.
    pub input: (f64, f64),
    /// Output channels.
    pub outputs: f64,
    /// Height and width of the output.
    pub output: (f64, f64),
    /// Height and width of the filter.
    pub filter: (f64, f64),
    /// Groups of channels; none where they are not told.
    pub groups: Option<f64>,
    /// How all three tensors are stored; none where it is not told.
    pub data_type: Option<DataType>,
}

/// What an operator works on.
#[derive(Debug, Clone, PartialEq)]
pub enum Operands {
    /// Its tensors, in the order of its arguments.
    Tensors(Vec<Tensor>),
    /// The sizes of a convolution.
    Convolution(Convolved),
}

/// An operator with its operands.
#[derive(Debug, Clone, PartialEq)]
pub struct Operator {
    /// Its name without namespace and underscores at its ends: `softmax`, `conv2d`.
    pub name: String,
    /// Whether it is the backward pass, which computes gradients.
    pub backward: bool,
    /// What it works on.
    pub operands: Operands,
}

/// What one kernel has to do, as far as the sizes of its operator tell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Need {
    /// What was counted, in words and letters of sizes.
    pub formula: &'static str,
    /// Operations, customary; zero where data is only moved.
    pub operations: Option<f64>,
    /// The operations are at least and at most these factors times the value.
    pub operations_within: (f64, f64),
    /// Compulsory bytes, at least.
    pub bytes: f64,
    /// The bytes are at most this factor times the value: 1 where they are exact.
    pub high: f64,
    /// Whether the operations are products of matrices.
    pub is_product: bool,
}

impl Need {
    /// Bytes and operations that follow exactly.
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

    /// What a closed form counts.
    fn of(formula: &'static str, count: &Count) -> Self {
        Self::exact(formula, count.operations().get(), count.bytes().get())
    }

    /// The same, of which the bytes may be this factor more.
    const fn at_most(mut self, factor: f64) -> Self {
        self.high *= factor;
        self
    }

    /// The same, of which the operations are known within these factors.
    const fn operations_within(mut self, low: f64, high: f64) -> Self {
        self.operations_within = (low, high);
        self
    }

    /// What can be believed: finite, and not nothing.
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
    /// What the kernel has to do that does this part of the operator, launched in this shape.
    #[must_use]
    pub fn need(&self, part: Part, shape: &Shape) -> Option<Need> {
        let launched = Launched { grid: shape.grid, block: shape.block };
        match &self.operands {
            Operands::Convolution(sizes) => sizes.need(part, self.backward, launched),
            Operands::Tensors(tensors) => layers::need(self, tensors, part, launched),
        }?
        .checked()
    }
}

/// The blocks and threads of a launch, where they are known.
#[derive(Debug, Clone, Copy)]
struct Launched {
    grid: Option<Dim3>,
    block: Option<Dim3>,
}

impl Launched {
    /// Blocks, and threads of each.
    fn counts(self) -> Option<(f64, f64)> {
        Some((self.grid?.volume() as f64, self.block?.volume() as f64)).filter(|(_, t)| *t > 0.0)
    }

    /// Whether the launch could be for so many elements: every block has at least one to work on.
    fn has_work_for(self, elements: f64) -> bool {
        self.counts().is_none_or(|(blocks, threads)| elements > (blocks - 1.0) * threads)
    }

    /// Whether the blocks are exactly those that so many elements need, at 1 to 16 for each thread.
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
