//! Tells that a run mixes kernels of different devices.

use crate::rules::engine::shares::Together;
use crate::rules::{Check, Confidence, Finding, Missing, Rule, Run, Severity};
use crate::units::whole_percent;

pub(super) const RULE: Rule = Rule {
    id: "mixed-devices",
    summary: "the run adds up kernels of different devices",
    documentation: "\
## What it finds
Runs whose kernels ran on different devices: other models, or entries with other attributes.

## Why it costs time
No time is lost, but sums and shares of such a run mix unlike things: a kernel takes a larger
share because its device is slower. Each kernel is judged by the roofs of its own device.

## Detection
Kernels with measured time ran on more than one of the report's devices. Several devices of one
model count as one.

## Remedy
Analyze the devices one by one, or compare files of the same device only.

## False positives
Workloads that use two kinds of devices on purpose.

## Sources
*Nsight Compute Profiling Guide*, \"Device Attributes\".
",
    thresholds: &[],
    silences: &[],
    check: Check::Run(check),
};

fn check(run: &Run<'_>) -> Result<Vec<Finding>, Missing> {
    let mut parts = Vec::new();
    for (position, used) in run.analysis.devices.iter().enumerate() {
        let part = Together::of(run, |kernel| kernel.device == position)?;
        if part.time.get() > 0.0 {
            parts.push((used.name(), part.share));
        }
    }
    if parts.len() < 2 {
        return Ok(Vec::new());
    }
    let told: Vec<String> =
        parts.iter().map(|(name, share)| format!("{name} ({})", whole_percent(*share))).collect();
    let finding = run
        .finding(format!("the run adds up {} devices: {}", parts.len(), told.join(", ")))
        .severity(Severity::Info)
        .confidence(Confidence::High)
        .next("analyze the devices one by one");
    let finding = parts.iter().fold(finding, |finding, (name, share)| {
        finding.evidence(format!("share of the run, {name}"), *share, "1")
    });
    Ok(vec![finding])
}

#[cfg(test)]
mod tests {
    use crate::model::DeviceHint;
    use crate::rules::engine::bench_launches::h100;

    const RULE: &str = "mixed-devices";

    #[test]
    fn tells_the_devices_and_their_shares() {
        let other =
            DeviceHint { name: Some("NVIDIA A100-SXM4-40GB".to_owned()), ..DeviceHint::default() };
        let bench = h100().launch("k", (1000, 256), (1, 750.0), &[]).then_on(other).launch(
            "k",
            (1000, 256),
            (1, 250.0),
            &[],
        );
        let found = bench.found(RULE);
        assert!(found.message.starts_with("the run adds up 2 devices: "), "{}", found.message);
        assert!(found.message.contains("(75%)"), "{}", found.message);
    }

    #[test]
    fn stays_quiet_on_one() {
        assert!(h100().launch("k", (1000, 256), (1, 1000.0), &[]).is_content(RULE));
    }
}
