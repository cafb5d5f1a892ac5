//! Tells that the export describes another device than the catalog entry it is judged by.

use crate::rules::{Check, Confidence, DEVICE_MISMATCH, Finding, Missing, Rule, Run, Severity};

pub(super) const RULE: Rule = Rule {
    id: DEVICE_MISMATCH,
    summary: "the export disagrees with the selected device",
    documentation: "\
## What it finds
Profiles whose own attributes (compute capability, SM count, maximum clock, memory bandwidth)
disagree with the device entry whose roofs are used.

## Why it costs time
No time is lost, but with the roofs of another device every headroom is wrong by the ratio of the
two.

## Detection
Compute capability or SM count differ, or the maximum clock or bandwidth differ by more than the
catalog's tolerance; or the device is a package of several GPUs (both GCDs of an MI250X), of which a launch runs on one. MIG slices and partitions are covered by `partial-gpu`. The severity is higher where the device was found by name than where `--device`
named it, which may be intended.

## Remedy
Set the device with `--device`, or describe a missing variant in your own file (`--devices`).

## False positives
In a green context, an export that only reports the SMs available to a launch shows fewer of them.
Some drivers report odd memory clocks.

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
    let wrong = devices.iter().filter(|used| !used.contradictions().is_empty());
    let found = wrong.map(|used| {
        let listed = used.device.as_ref().and_then(|device| device.sms);
        let units = used.units_label();
        run.finding(format!("{} ({})", used.notes.join("; "), used.how))
            .severity(if used.is_asked { Severity::Medium } else { Severity::High })
            .confidence(Confidence::High)
            .evidence("disagreements", used.notes.len() as f64, "1")
            .evidence_if(format!("{units} of the export"), used.hint.sms.map(f64::from), "1")
            .evidence_if(format!("{units} of the catalog"), listed.map(f64::from), "1")
            .next("set the device with --device, or describe it in your own device file")
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
