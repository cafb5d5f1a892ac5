//! Needs of a kernel's algorithm, compared with the counts.

use crate::predict::Product;
use crate::units::{Bytes, Flops, Seconds};

/// Needs of a kernel's algorithm by a closed form, compared with the counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Algorithmic {
    /// The closed form with its sizes: `gemm m=4096 n=4096 k=1024`.
    pub call: String,
    /// Source of the form: a line of the configuration, or the operator.
    pub from: String,
    /// Operations of one launch.
    pub operations: Flops,
    /// Compulsory bytes of one launch: every input read once, every output written once.
    pub bytes: Bytes,
    /// The shape as a matrix product, if it is one.
    pub product: Option<Product>,
    /// Least time of the compulsory bytes of the judged launches, on their memory roof.
    pub memory_time: Option<Seconds>,
    /// Least time of the operations of the judged launches, on the pipe for their format.
    pub math_time: Option<Seconds>,
    /// Counted over compulsory bytes; `None` if the bytes come from shapes themselves.
    pub traffic_factor: Option<f64>,
    /// Counted over needed operations; `None` if none were counted, or only from shapes.
    pub work_factor: Option<f64>,
}

impl Algorithmic {
    /// Returns the roofline time of the algorithm: the longer of the two times.
    #[must_use]
    pub fn roofline_time(&self) -> Option<Seconds> {
        Some(self.memory_time?.max(self.math_time?))
    }
}
