//! Flags kernels that move far more through device memory than their algorithm needs.

use super::caches::spared;
use crate::model::Quantity;
use crate::roofline;
use crate::rules::engine::subject::CLOSED_FORM;
use crate::rules::{Check, Confidence, Judgment, Missing, Rule, Subject, Threshold};
use crate::units::{Bytes, Seconds};

pub(super) const RULE: Rule = Rule {
    id: "redundant-dram-traffic",
    summary: "the kernel moves far more bytes than the algorithm needs",
    documentation: "\
## What it finds
Kernels that move far more bytes to and from DRAM than the closed form of their algorithm needs:
every input read once, every output written once.

## Why it costs time
Bytes that are read again, or fetched and not used, take bandwidth. The memory roof is computed
from the bytes moved, so such a kernel can be near its roofline and still slow.

## Detection
The measured bytes are at least `factor` times the compulsory bytes of the kernel's closed form.
Savings: the time of the excess at achievable bandwidth, certain where DRAM is busy at least 60%
of the time, otherwise only the upper end.

## Remedy
Use larger tiles so that each operand is fetched fewer times; a block order that shares operands
while they are in L2 (swizzled rasterization); fuse passes over the same data; use whole sectors
per access.

## False positives
The closed form may miss an operand, such as a bias, a mask or the old output (`beta` not 0).
Multi-pass algorithms on data larger than L2 (softmax, FFT, sorting) need more than the form says.

## Sources
NVIDIA, *Memory-Limited Layers*; *Time-Based Roofline for Deep Learning Performance Analysis*, arXiv
2009.04598.
",
    thresholds: &[FACTOR],
    silences: &["dram-saturated"],
    check: Check::Kernel(check),
};

const FACTOR: Threshold = Threshold::new(
    "factor",
    1.3,
    "1",
    "counters include refetched sectors and other clients; a third more is not an accident",
);

/// What the profile lacks where the shape of a kernel is not known.
fn check(subject: &Subject<'_>) -> Judgment {
    let needed = subject.kernel.algorithmic().ok_or(CLOSED_FORM)?;
    let factor = needed.traffic_factor.ok_or(Missing("dram__bytes.sum"))?;
    if factor < subject.threshold(&FACTOR) {
        return Ok(None);
    }
    let kernel = subject.kernel;
    let moved = kernel.bytes.unwrap_or(Bytes::ZERO);
    let excess = moved * roofline::excess_fraction(factor, 1.0);
    let memory = kernel.memory_time.unwrap_or(Seconds::ZERO);
    let is_bound = memory >= kernel.modeled * roofline::BUSY;
    let least = if is_bound { excess } else { Bytes::ZERO };
    let message = format!(
        "moves {factor:.1}× the bytes that {} needs",
        needed.call.split(' ').next().unwrap_or_default()
    );
    let finding = spared(subject, message, (least, excess))?
        .confidence(if is_bound { Confidence::Medium } else { Confidence::Low })
        .evidence("bytes moved", moved.get(), "B")
        .evidence("bytes needed", moved.get() / factor, "B")
        .evidence_if("L2 hit rate", subject.get(Quantity::L2HitRate), "1")
        .evidence_if("L1 hit rate", subject.get(Quantity::L1HitRate), "1")
        .next("compare bytes read and written with the operand sizes to see which is moved again");
    Ok(Some(finding))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::engine::bench_table::kernel;

    #[test]
    fn traffic_beyond_the_closed_form_is_found_and_weighed() {
        // A copy of 100 million floats needs 0.8 GB; 2.4 GB were moved.
        let copy = kernel("copy", 1500.0).operator("copy n=100000000 dtype=fp32");
        let found = copy.bytes(2.4e9).found(&RULE);
        assert!(found.message.starts_with("moves 3.0× the bytes that copy needs"));
        // Bounded by the gap: 1500 µs less 2.4 GB at 3.352 TB/s.
        assert!((found.at_stake_s - 1.6e9 / 3.352e12 / 0.9).abs() < 1e-6, "{}", found.at_stake_s);
        assert_eq!(found.at_stake_low_s, 0.0);
    }

    #[test]
    fn compulsory_traffic_is_fine() {
        let copy =
            |bytes| kernel("copy", 1500.0).operator("copy n=100000000 dtype=fp32").bytes(bytes);
        assert!(copy(0.9e9).is_fine(&RULE));
        assert!(copy(0.1e9).is_fine(&RULE));
    }

    #[test]
    fn without_shape_or_bytes_it_cannot_judge() {
        assert_eq!(kernel("copy", 1500.0).bytes(2.4e9).lacks(&RULE), CLOSED_FORM.0);
        let copy = kernel("copy", 1500.0).operator("copy n=100000000 dtype=fp32");
        assert_eq!(copy.lacks(&RULE), "dram__bytes.sum");
    }
}
