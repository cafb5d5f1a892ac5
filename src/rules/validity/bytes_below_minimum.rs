//! Remarks on kernels that moved fewer bytes than their sizes compel.

use crate::model::Quantity;
use crate::rules::engine::subject::CLOSED_FORM;
use crate::rules::{Check, Confidence, Judgment, Missing, Rule, Severity, Subject, Threshold};
use crate::units::{Bytes, whole_percent};

pub(super) const RULE: Rule = Rule {
    id: "bytes-below-minimum",
    summary: "fewer bytes were moved than the problem size requires",
    documentation: "\
## What it finds
Kernels whose measured device-memory bytes are below what their closed form requires: each input
read once, each output written once.

## Why it costs time
No time is lost, but the roofline time is too short and the intensity too high. Outputs may still
be in L2 when the launch ends, inputs may have been there before, or a counter (such as writes)
was not collected.

## Detection
The measured bytes are less than `share` of those of the closed form. If the missing bytes fit in
L2, the cache explains them and the finding is only informational; otherwise the figures are
misleading.

## Remedy
Collect reads and writes (`dram__bytes_read.sum`, `dram__bytes_write.sum`); profile with
`--cache-control all`; check the sizes given to the closed form.

## False positives
A closed form with wrong sizes or a wrong format can claim anything. Compressed data moves in
fewer bytes.

## Sources
*Nsight Compute Profiling Guide*, \"Memory Tables\" and \"Cache Control\"; S. Williams et al., *Roofline*, CACM
2009 (compulsory traffic).
",
    thresholds: &[SHARE],
    silences: &[],
    check: Check::Kernel(check),
};

const SHARE: Threshold =
    Threshold::new("share", 0.9, "1", "caches keep a few percent of any kernel's data");

fn check(subject: &Subject<'_>) -> Judgment {
    let needed = subject.kernel.algorithmic().ok_or(CLOSED_FORM)?;
    let moved = needed.traffic_factor.ok_or(Missing("dram__bytes.sum"))?;
    if moved >= subject.threshold(&SHARE) || moved <= 0.0 {
        return Ok(None);
    }
    let missing = needed.bytes * (1.0 - moved);
    let size = subject.device().ok().and_then(|device| device.l2_bytes);
    let size = size.or(subject.ran().hint.l2_bytes).map(|bytes| Bytes::new(bytes as f64));
    let is_cached = size.is_some_and(|size| missing <= size);
    let why = if is_cached {
        "the rest fits in L2"
    } else {
        "more is missing than fits in L2: a counter is missing, or the sizes are wrong"
    };
    let message = format!(
        "moves only {} of the bytes that {} needs: {why}",
        whole_percent(moved),
        needed.call.split(' ').next().unwrap_or_default()
    );
    let finding = subject.info(message);
    let finding = if is_cached { finding } else { finding.severity(Severity::Medium) };
    Ok(Some(
        finding
            .confidence(Confidence::Medium)
            .evidence("moved share of the needed bytes", moved, "1")
            .evidence("bytes needed per launch", needed.bytes.get(), "B")
            .evidence_if("size of L2", size.map(Bytes::get), "B")
            .evidence_if("read share of the bytes", subject.get(Quantity::DramReadShare), "1")
            .next("collect reads and writes separately, and check the sizes of the closed form"),
    ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::engine::bench_table::kernel;

    #[test]
    fn a_copy_that_writes_nothing_is_remarked() {
        // 2²⁸ floats: 1 GiB read and 1 GiB written; an H100's L2 holds 50 MiB.
        let copy = |bytes: f64| kernel("k", 1000.0).operator("copy n=268435456").bytes(bytes);
        let found = copy(1_073_741_824.0).found(&RULE);
        assert!(found.message.starts_with("moves only 50% of the bytes that copy needs: more is"));
        assert!(copy(2.0 * 1_073_741_824.0).is_fine(&RULE));
        let small = kernel("k", 50.0).operator("copy n=1048576").bytes(4_194_304.0);
        assert!(small.found(&RULE).message.contains("fits in L2"));
    }
}
