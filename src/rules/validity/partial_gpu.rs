//! Tells that launches could use only a part of the device whose roofs they are judged by.

use crate::model::Quantity;
use crate::rules::{Check, Confidence, Finding, Missing, Rule, Run, Severity};

pub(super) const RULE: Rule = Rule {
    id: "partial-gpu",
    summary: "launches could use only part of the device",
    documentation: "\
## What it finds
Profiles taken on part of a device whose roofs are those of more: a green context, a context with an SM
limit, or a MIG slice whose share is not known.

## Why it costs time
No time is lost, but the roofs are too high. The headroom of compute-bound kernels is overstated by
the ratio of SMs, and in a slice that of memory-bound kernels by its share of the memory.

## Detection
Launches could use fewer SMs than the device has according to the export, or to the catalog where the
export does not say. A MIG slice or a partition (CPX, NPS4) that the export names has roofs of its own:
peaks by its SMs, bandwidth by its share of the memory. Where neither export nor catalog says how many SMs
the slice has, its peaks are those of the whole device. Where export and catalog disagree about a whole
device, `device-mismatch` covers it.

## Remedy
Profile on the whole device, or describe the part in your own device file (`--devices`) with its
SMs, bandwidth and peaks.

## False positives
Peaks from the profile itself are those of the part; the headroom is then right.

## Sources
NVIDIA, *Multi-Instance GPU User Guide*; *CUDA Driver API*, \"Green Contexts\"; *Nsight Compute Profiling
Guide*, `launch__sm_count` and \"Multi Instance GPU\"; AMD, *Instinct GPU partitioning*.
",
    thresholds: &[],
    silences: &[],
    check: Check::Run(check),
};

fn check(run: &Run<'_>) -> Result<Vec<Finding>, Missing> {
    let analysis = run.analysis;
    let mut found = Vec::new();
    let mut is_known = false;
    for (position, used) in analysis.devices.iter().enumerate() {
        let listed = used.device.as_ref().and_then(|device| device.sms);
        let part = used.device.as_ref().and_then(|device| device.part.as_ref());
        // A part reports its own multiprocessors as those of the device.
        let whole = if part.is_some() { listed } else { used.hint.sms.or(listed) };
        let kernels = analysis.kernels.iter().filter(|kernel| kernel.device == position);
        let counted = kernels.filter_map(|kernel| kernel.average(Quantity::SmCount));
        let counted = counted.filter(|sms| *sms > 0.0).min_by(f64::total_cmp);
        let usable = counted.zip(whole.map(f64::from));
        is_known |= usable.is_some() || part.is_some();
        let less = usable.filter(|(usable, whole)| usable + 0.5 < *whole);
        let unknown = part.map(|part| match (part.compute_share, part.memory_share) {
            (None, None) => "peaks and memory bandwidth",
            (None, Some(_)) => "peaks",
            (Some(_), None) => "memory bandwidth",
            (Some(_), Some(_)) => "",
        });
        let unknown = unknown.filter(|what| !what.is_empty());
        if less.is_none() && unknown.is_none() {
            continue;
        }
        let (units, name) = (used.units_label(), used.name());
        let message = match (less, unknown) {
            (Some((usable, whole)), _) if part.is_none() => format!(
                "launches could use only {usable:.0} of {whole:.0} {units} of {name}, but the roofs are those of the whole device"
            ),
            (Some((usable, whole)), _) => format!(
                "launches could use only {usable:.0} of {whole:.0} {units} of {name}, but the roofs are those of all {whole:.0}"
            ),
            (None, what) => format!(
                "launches could use only the part {name} of a device, but {} are those of the whole",
                what.unwrap_or_default()
            ),
        };
        let finding = run
            .finding(message)
            .severity(Severity::Medium)
            .confidence(Confidence::High)
            .evidence_if(format!("{units} available to launches"), less.map(|less| less.0), "1")
            .evidence_if(format!("{units} of the device"), less.map(|less| less.1), "1")
            .evidence_if("ratio of the compute roofs", less.map(|(part, all)| all / part), "1")
            .next("profile on the whole device, or describe the part in your own device file");
        found.push(finding);
    }
    if is_known { Ok(found) } else { Err(Missing("launch__sm_count")) }
}

#[cfg(test)]
mod tests {
    use crate::model::{DeviceHint, Quantity};
    use crate::rules::engine::bench_launches::{Bench, h100, on};
    use crate::rules::{Settings, Severity};

    const RULE: &str = "partial-gpu";

    fn using(bench: Bench, sms: f64) -> Bench {
        bench.launch("k", (1000, 256), (1, 1000.0), &[(Quantity::SmCount, sms)])
    }

    #[test]
    fn tells_a_context_with_fewer_multiprocessors() {
        let found = using(h100(), 66.0).found(RULE);
        assert_eq!(
            found.message,
            "launches could use only 66 of 132 SMs of H100 SXM5 80GB, but the roofs are those of the whole device"
        );
        assert_eq!(found.severity, Severity::Medium);
        assert!(found.evidence.iter().any(|one| one.value == 2.0));
    }

    #[test]
    fn a_slice_has_its_own_roofs_unless_its_share_is_unknown() {
        let hint = DeviceHint {
            name: Some("NVIDIA A100-SXM4-40GB MIG 3g.20gb".to_owned()),
            sms: Some(42),
            ..DeviceHint::default()
        };
        let bench = h100().then_on(hint).launch("k", (1000, 256), (1, 1000.0), &[]);
        let all = bench.all(&Settings::default()).run;
        assert!(all.iter().all(|one| one.rule != "device-mismatch" && one.rule != RULE));
        let bare = on("NVIDIA H100 80GB HBM3 MIG 1g.10gb").launch("k", (1000, 256), (1, 1.0), &[]);
        assert_eq!(
            bare.found(RULE).message,
            "launches could use only the part H100 SXM5 80GB MIG 1g.10gb of a device, but peaks are those of the whole"
        );
        let context = using(bench, 20.0).found(RULE);
        assert_eq!(
            context.message,
            "launches could use only 20 of 42 SMs of A100 SXM4 40GB MIG 3g.20gb, but the roofs are those of all 42"
        );
    }

    #[test]
    fn stays_quiet_on_a_whole_device_and_on_a_mismatch() {
        assert!(using(h100(), 132.0).is_content(RULE));
        let hint = DeviceHint {
            name: Some("NVIDIA A100-SXM4-40GB".to_owned()),
            sms: Some(98),
            ..DeviceHint::default()
        };
        assert!(using(h100().then_on(hint), 98.0).is_content(RULE));
    }

    #[test]
    fn cannot_judge_without_a_count() {
        let bench = h100().launch("k", (1000, 256), (1, 1000.0), &[]);
        assert_eq!(bench.lacks(RULE), ["launch__sm_count"]);
    }
}
