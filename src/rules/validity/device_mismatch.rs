//! Tells that the export describes another device than the catalog entry it is judged by.

use super::partial_gpu;
use crate::rules::{Check, Confidence, Finding, Missing, Rule, Run, Severity};

pub(super) const RULE: Rule = Rule {
    id: "device-mismatch",
    summary: "the export disagrees with the device it is judged by",
    documentation: "\
## What it finds
Profiles whose own attributes (compute capability, multiprocessors, highest clock, memory bandwidth)
disagree with the catalog entry whose roofs are used.

## Why it costs time
It costs none, but roofs of another device make every headroom wrong by the quotient of the two.

## How it decides
Compute capability or the number of multiprocessors differ, or the highest clock or the bandwidth differ
by more than the tolerance of the catalog. A MIG slice, which has less of everything by design, is left
to `partial-gpu`. It is graver where the device was found by its name than
where `--device` named it, which may be on purpose.

## What to try
Name the device with `--device`; describe it in a file of your own (`--devices`) where the catalog does
not have the variant.

## When it is wrong
Exports that tell only how many multiprocessors a launch could use have fewer of them in a green context;
drivers of some devices report odd memory clocks.

## Sources
*CUDA Driver API*, `CUdevice_attribute`; *Nsight Compute Profiling Guide*, \"Device Attributes\".
",
    thresholds: &[],
    silences: &[],
    check: Check::Run(check),
};

fn check(run: &Run<'_>) -> Result<Vec<Finding>, Missing> {
    let devices = &run.analysis.devices;
    if devices.iter().all(|used| used.device.is_none()) {
        return Err(Missing("--device"));
    }
    let wrong = devices.iter().filter(|used| {
        let is_whole = partial_gpu::slice(used).is_none();
        used.device.is_some() && is_whole && !used.notes.is_empty()
    });
    let found = wrong.map(|used| {
        let listed = used.device.as_ref().and_then(|device| device.sms);
        run.finding(format!("{} ({})", used.notes.join("; "), used.how))
            .severity(if used.is_asked { Severity::Medium } else { Severity::High })
            .confidence(Confidence::High)
            .evidence("disagreements", used.notes.len() as f64, "1")
            .evidence_if("multiprocessors of the export", used.hint.sms.map(f64::from), "1")
            .evidence_if("multiprocessors of the catalog", listed.map(f64::from), "1")
            .next("name the device with --device, or describe it in a file of your own")
    });
    Ok(found.collect())
}

#[cfg(test)]
mod tests {
    use crate::model::DeviceHint;
    use crate::rules::Severity;
    use crate::rules::engine::bench_launches::h100;

    const RULE: &str = "device-mismatch";

    #[test]
    fn tells_which_attributes_disagree() {
        let hint = DeviceHint {
            name: Some("NVIDIA A100-SXM4-40GB".to_owned()),
            sms: Some(108),
            ..DeviceHint::default()
        };
        let bench =
            h100().then_on(hint).named("H100 SXM5 80GB").launch("k", (1000, 256), (1, 1000.0), &[]);
        let found = bench.found(RULE);
        assert!(found.message.contains("108 SMs"), "{}", found.message);
        assert_eq!(found.severity, Severity::Medium);
    }

    #[test]
    fn stays_quiet_where_they_agree() {
        assert!(h100().launch("k", (1000, 256), (1, 1000.0), &[]).is_content(RULE));
    }
}
