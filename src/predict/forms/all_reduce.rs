//! `all-reduce`: a sum of n bytes over r devices in a ring, each device with a link in and a link
//! out.
//!
//! FLOPs: n/e additions per device, customary; exactly (r−1)/r of that.
//! Bytes: 2n in the device's memory, and 2(r−1)/r·n over each link, which is the ceiling.
//! Source: P. Patarasuk, X. Yuan, *Bandwidth Optimal All-Reduce Algorithms for Clusters of
//! Workstations*, JPDC 69(2), 2009; NCCL Tests, *Performance reported by NCCL tests* (bus
//! bandwidth).

use super::{
    Arguments, Category, Count, DTYPE, DataType, EXACT, Form, Link, PLAIN, Parameter, PredictError,
};

pub(super) const FORM: Form = Form {
    name: "all-reduce",
    summary: "a sum over devices in a ring",
    category: Category::DataMovement,
    parameters: &[
        Parameter::size("bytes", "bytes of the buffer on each device"),
        Parameter::size("ranks", "devices"),
        DTYPE.or("fp16"),
        EXACT,
    ],
    example: "bytes=256Mi ranks=8",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let (bytes, ranks, e) =
        (given.number("bytes"), given.number("ranks"), given.data_type("dtype"));
    let share = (ranks - 1.0) / ranks;
    let added = if given.is("exact") { share } else { 1.0 };
    Ok(Count::new()
        .vector("add", bytes / e.bytes() * added, e)
        .update("buffer", bytes, DataType::Int8)
        .over(Link::Peers, 2.0 * share * bytes))
}
