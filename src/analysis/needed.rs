//! What the algorithm of a kernel needs, beside what was counted.

use crate::predict::Product;
use crate::units::{Bytes, Flops, Seconds};

/// What the algorithm of a kernel needs, by a closed form, beside what was counted.
#[derive(Debug, Clone, PartialEq)]
pub struct Algorithmic {
    /// The closed form with its sizes: `gemm m=4096 n=4096 k=1024`.
    pub call: String,
    /// Where the form was found: a line of the configuration, or the operator.
    pub from: String,
    /// Operations of one launch.
    pub operations: Flops,
    /// Compulsory bytes of one launch: every input read once, every output written once.
    pub bytes: Bytes,
    /// The shape as a matrix product, where it is one.
    pub product: Option<Product>,
    /// Time that the compulsory bytes of the judged launches need at least, on their memory roof.
    pub memory_time: Option<Seconds>,
    /// Time that the operations of the judged launches need at least, on the pipe for their format.
    pub math_time: Option<Seconds>,
    /// Bytes counted over compulsory ones; none where they come from shapes themselves.
    pub traffic_factor: Option<f64>,
    /// Operations counted over needed ones; none where none were counted, or from shapes.
    pub work_factor: Option<f64>,
}

impl Algorithmic {
    /// The longer of the two times: what the algorithm allows.
    #[must_use]
    pub fn roofline_time(&self) -> Option<Seconds> {
        Some(self.memory_time?.max(self.math_time?))
    }
}
