//! Work of a kernel: operations by the units that can execute them, and traffic by operand.

use schemars::JsonSchema;
use serde::Serialize;

use super::error::PredictError;
use crate::model::DataType;
use crate::units::{Bytes, Flops, FlopsPerByte};

/// Operations and compulsory traffic of one launch: every input read once, every output written
/// once, no padding, no recomputation.
///
/// A kernel whose data stays in a cache can beat the bytes; one that reads again or pads cannot
/// reach them. A floating-point add, multiply, compare, or special function is one operation, a
/// fused multiply-add two.
///
/// Counts are exact up to 2⁵³ (9·10¹⁵) and within one part in 10¹⁵ above.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Count {
    /// The operations, main part first; empty if data is only moved.
    pub work: Vec<Work>,
    /// The operands with the number of reads and writes of each.
    pub traffic: Vec<Traffic>,
    /// Threads of the customary simple kernel: one per element, or one per row of a matrix–vector
    /// product. None for tiled products, whose grid follows from their tiles.
    pub work_items: Option<f64>,
    /// Bytes over a link to the host or to other devices, if any.
    pub link: Option<Transfer>,
    /// The shape as a matrix product, if it runs as one.
    pub product: Option<Product>,
}

/// A part of the operations of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Work {
    /// Name of the operations.
    pub what: &'static str,
    /// Number of operations.
    #[serde(rename = "flop")]
    pub operations: Flops,
    /// The format they compute in.
    pub data_type: DataType,
    /// True if they are matrix products, which matrix units can execute.
    pub is_product: bool,
}

/// The traffic of one operand.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Traffic {
    /// Name of the operand in the formula.
    pub operand: &'static str,
    /// Number of distinct elements.
    pub elements: f64,
    /// Format of an element.
    pub data_type: DataType,
    /// How often each element is read.
    pub reads: f64,
    /// How often each element is written.
    pub writes: f64,
}

/// A transfer over a link.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Transfer {
    /// The link.
    pub over: Link,
    /// Bytes in one direction.
    pub bytes: Bytes,
}

/// What connects a device with the host or with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Link {
    /// To the host.
    Host,
    /// To other devices; one direction is half of the bandwidth that is quoted.
    Peers,
}

/// `batch` products of an m×k and a k×n matrix.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Product {
    /// Number of products of this shape in one launch.
    pub batch: f64,
    /// Rows of the result.
    pub m: f64,
    /// Columns of the result.
    pub n: f64,
    /// Depth.
    pub k: f64,
    /// Format of the left operand.
    pub a: DataType,
    /// Format of the right operand.
    pub b: DataType,
    /// Format of the result.
    pub d: DataType,
}

impl Count {
    pub(super) const fn new() -> Self {
        Self { work: Vec::new(), traffic: Vec::new(), work_items: None, link: None, product: None }
    }

    /// Adds operations of the vector units.
    pub(super) fn vector(self, what: &'static str, operations: f64, data_type: DataType) -> Self {
        self.work(Work {
            what,
            operations: Flops::new(operations),
            data_type: data_type.real(),
            is_product: false,
        })
    }

    /// Adds products of matrices.
    pub(super) fn products(self, what: &'static str, operations: f64, data_type: DataType) -> Self {
        self.work(Work {
            what,
            operations: Flops::new(operations),
            data_type: data_type.real(),
            is_product: true,
        })
    }

    fn work(mut self, work: Work) -> Self {
        if work.operations != Flops::ZERO {
            self.work.push(work);
        }
        self
    }

    /// Adds an operand that is read once.
    pub(super) fn read(self, operand: &'static str, elements: f64, data_type: DataType) -> Self {
        self.moved(operand, elements, data_type, 1.0, 0.0)
    }

    /// Adds an operand that is written once.
    pub(super) fn write(self, operand: &'static str, elements: f64, data_type: DataType) -> Self {
        self.moved(operand, elements, data_type, 0.0, 1.0)
    }

    /// Adds an operand that is read once and written once.
    pub(super) fn update(self, operand: &'static str, elements: f64, data_type: DataType) -> Self {
        self.moved(operand, elements, data_type, 1.0, 1.0)
    }

    /// Adds an operand with its numbers of reads and writes, unless both are zero.
    pub(super) fn moved(
        mut self,
        operand: &'static str,
        elements: f64,
        data_type: DataType,
        reads: f64,
        writes: f64,
    ) -> Self {
        if elements * (reads + writes) != 0.0 {
            self.traffic.push(Traffic { operand, elements, data_type, reads, writes });
        }
        self
    }

    /// Sets the number of threads of the customary simple kernel.
    pub(super) const fn work_items(mut self, threads: f64) -> Self {
        self.work_items = Some(threads);
        self
    }

    /// Sets the shape as a matrix product.
    pub(super) const fn tiled(mut self, product: Product) -> Self {
        self.product = Some(product);
        self
    }

    /// Adds a transfer.
    pub(super) const fn over(mut self, over: Link, bytes: f64) -> Self {
        self.link = Some(Transfer { over, bytes: Bytes::new(bytes) });
        self
    }

    /// Checks that every number is finite and not negative.
    pub(super) fn checked(self, form: &'static str) -> Result<Self, PredictError> {
        let sound = |value: f64| value.is_finite() && value >= 0.0;
        if !self.work.iter().all(|work| sound(work.operations.get())) {
            return Err(PredictError::Overflow { form, what: "operations" });
        }
        let link = self.link.map_or(0.0, |link| link.bytes.get());
        let moved = [self.read_bytes(), self.written_bytes(), self.bytes()];
        if !moved.iter().all(|bytes| sound(bytes.get())) || !sound(link) {
            return Err(PredictError::Overflow { form, what: "bytes" });
        }
        Ok(self)
    }

    /// Returns the sum of all operations.
    #[must_use]
    pub fn operations(&self) -> Flops {
        self.work.iter().fold(Flops::ZERO, |sum, work| sum + work.operations)
    }

    /// Returns the compulsory reads, in bytes.
    #[must_use]
    pub fn read_bytes(&self) -> Bytes {
        self.traffic.iter().fold(Bytes::ZERO, |sum, one| sum + one.read_bytes())
    }

    /// Returns the compulsory writes, in bytes.
    #[must_use]
    pub fn written_bytes(&self) -> Bytes {
        self.traffic.iter().fold(Bytes::ZERO, |sum, one| sum + one.written_bytes())
    }

    /// Returns the compulsory reads and writes, in bytes.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        self.read_bytes() + self.written_bytes()
    }

    /// Returns the arithmetic intensity: all operations over all bytes; `None` if no byte moves.
    #[must_use]
    pub fn intensity(&self) -> Option<FlopsPerByte> {
        let bytes = self.bytes();
        (bytes > Bytes::ZERO).then(|| self.operations() / bytes)
    }
}

impl Traffic {
    /// Returns the bytes read.
    #[must_use]
    pub fn read_bytes(&self) -> Bytes {
        Bytes::new(self.elements * self.data_type.bytes() * self.reads)
    }

    /// Returns the bytes written.
    #[must_use]
    pub fn written_bytes(&self) -> Bytes {
        Bytes::new(self.elements * self.data_type.bytes() * self.writes)
    }
}
