//! Remarks on kernels that moved fewer bytes than their sizes compel.

use crate::model::Quantity;
use crate::rules::engine::subject::CLOSED_FORM;
use crate::rules::{Check, Confidence, Judgment, Missing, Rule, Severity, Subject, Threshold};
use crate::units::Bytes;

pub(super) const RULE: Rule = Rule {
    id: "bytes-below-need",
    summary: "fewer bytes were moved than the sizes compel",
    documentation: "\
## What it finds
Kernels of which fewer bytes of device memory were counted than their closed form needs: each input read once,
each output written once.

## Why it costs time
It costs none: the memory roof is too short, the intensity too high. What was written may still lie in L2 when
the launch ends, inputs may have lain there before, or a counter, such as that of writes, was not collected.

## How it decides
The bytes counted are less than `share` of those of the closed form. If what is missing fits in L2, the cache
explains it, and it is something to know; else the figures mislead.

## What to try
Collect reads and writes (`dram__bytes_read.sum`, `dram__bytes_write.sum`); profile with `--cache-control all`;
check the sizes of the closed form.

## When it is wrong
A closed form with the wrong sizes or format says anything. Data compressed in memory moves in fewer bytes.

## Sources
*Nsight Compute Profiling Guide*, \"Memory Tables\" and \"Cache Control\"; S. Williams et al., *Roofline*, CACM
2009 (compulsory traffic).
",
    thresholds: &[SHARE],
    silences: &[],
    check: Check::Kernel(check),
};

const SHARE: Threshold =
    Threshold::new("share", 0.9, "1", "a few percent are what the caches keep of any kernel");

fn check(subject: &Subject<'_>) -> Judgment {
    let needed = subject.kernel.algorithmic.as_deref().ok_or(CLOSED_FORM)?;
    let moved = needed.traffic_factor.ok_or(Missing("dram__bytes.sum"))?;
    if moved >= subject.threshold(&SHARE) || moved <= 0.0 {
        return Ok(None);
    }
    let missing = needed.bytes * (1.0 - moved);
    let size = subject.device().ok().and_then(|device| device.l2_bytes);
    let size = size.or(subject.ran().hint.l2_bytes).map(|bytes| Bytes::new(bytes as f64));
    let is_cached = size.is_some_and(|size| missing <= size);
    let why = if is_cached {
        "the rest fits in L2, before the launch or after it"
    } else {
        "more is missing than L2 holds: a counter, or the sizes are wrong"
    };
    let message = format!(
        "it moves {:.0}% of the bytes that {} needs: {why}",
        moved * 100.0,
        needed.call.split(' ').next().unwrap_or_default()
    );
    let finding = subject.info(message);
    let finding = if is_cached { finding } else { finding.severity(Severity::Medium) };
    Ok(Some(
        finding
            .confidence(Confidence::Medium)
            .evidence("bytes moved, of those needed", moved, "1")
            .evidence("bytes needed by one launch", needed.bytes.get(), "B")
            .evidence_if("size of L2", size.map(Bytes::get), "B")
            .evidence_if("read share of the bytes", subject.get(Quantity::DramReadShare), "1")
            .next("collect reads and writes apart, and check the sizes of the closed form"),
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
        assert!(found.message.starts_with("it moves 50% of the bytes that copy needs: more is"));
        assert!(copy(2.0 * 1_073_741_824.0).is_fine(&RULE));
        let small = kernel("k", 50.0).operator("copy n=1048576").bytes(4_194_304.0);
        assert!(small.found(&RULE).message.contains("fits in L2"));
    }
}
