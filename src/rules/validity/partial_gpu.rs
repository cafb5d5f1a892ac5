//! Tells that launches could use only a part of the device whose roofs they are judged by.

use crate::analysis::DeviceUse;
use crate::model::Quantity;
use crate::rules::{Check, Confidence, Finding, Missing, Rule, Run, Severity};

pub(super) const RULE: Rule = Rule {
    id: "partial-gpu",
    summary: "launches could use only part of the device",
    documentation: "\
## What it finds
Profiles taken on part of a device: a MIG slice, a green context, or a context with an SM limit.

## Why it costs time
No time is lost, but the roofs are those of the whole device. The headroom of compute-bound
kernels is overstated by the ratio of SMs, and in a MIG slice that of memory-bound kernels by its
share of the memory.

## Detection
The device name in the export is a MIG slice, or launches could use fewer SMs than the device has
according to the export, or to the catalog where the export does not say. Where export and catalog
disagree about a whole device, `device-mismatch` covers it.

## Remedy
Profile on the whole device, or describe the part in your own device file (`--devices`) with its
SMs, bandwidth and peaks.

## False positives
Peaks from the profile itself are those of the part; the headroom is then right.

## Sources
NVIDIA, *Multi-Instance GPU User Guide*; *CUDA Driver API*, \"Green Contexts\"; *Nsight Compute Profiling
Guide*, `launch__sm_count` and \"Multi Instance GPU\".
",
    thresholds: &[],
    silences: &[],
    check: Check::Run(check),
};

/// The slice of a device that an export names, such as `1g.10gb`.
pub(super) fn slice(used: &DeviceUse) -> Option<&str> {
    let name = used.hint.name.as_deref()?;
    let at = name.to_ascii_lowercase().find(" mig ")?;
    Some(name[at..].trim_start_matches([' ', 'M', 'm', 'I', 'i', 'G', 'g']).trim())
}

fn check(run: &Run<'_>) -> Result<Vec<Finding>, Missing> {
    let analysis = run.analysis;
    let mut found = Vec::new();
    let mut is_known = false;
    for (position, used) in analysis.devices.iter().enumerate() {
        let listed = used.device.as_ref().and_then(|device| device.sms);
        let slice = slice(used);
        // A slice reports its own multiprocessors as those of the device.
        let whole = if slice.is_some() { listed } else { used.hint.sms.or(listed) };
        let kernels = analysis.kernels.iter().filter(|kernel| kernel.device == position);
        let counted = kernels.filter_map(|kernel| kernel.average(Quantity::SmCount));
        let counted = counted.filter(|sms| *sms > 0.0).min_by(f64::total_cmp);
        let of_slice = slice.and(used.hint.sms).map(f64::from);
        let usable = counted.or(of_slice).zip(whole.map(f64::from));
        is_known |= usable.is_some() || slice.is_some();
        let less = usable.filter(|(usable, whole)| usable + 0.5 < *whole);
        if less.is_none() && slice.is_none() {
            continue;
        }
        let named = slice.map_or_else(String::new, |slice| format!(", the MIG slice {slice}"));
        let units = used.units_label();
        let part = less.map_or_else(
            || format!("part of {}{named}", used.name()),
            |(usable, whole)| {
                format!("{usable:.0} of {whole:.0} {units} of {}{named}", used.name())
            },
        );
        let finding = run
            .finding(format!(
                "launches could use only {part}, but the roofs are those of the whole device"
            ))
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
    fn tells_a_slice_by_its_name_and_is_no_mismatch() {
        let hint = DeviceHint {
            name: Some("NVIDIA A100-SXM4-40GB MIG 3g.20gb".to_owned()),
            sms: Some(42),
            ..DeviceHint::default()
        };
        let bench = h100().then_on(hint).launch("k", (1000, 256), (1, 1000.0), &[]);
        let found = bench.found(RULE);
        let start = "launches could use only 42 of 108 SMs of A100 SXM4 40GB, the MIG slice \
                     3g.20gb, but";
        assert!(found.message.starts_with(start), "{}", found.message);
        let all = bench.all(&Settings::default()).run;
        assert!(all.iter().all(|one| one.rule != "device-mismatch"));
        let bare = on("NVIDIA A100-SXM4-40GB MIG 3g.20gb").launch("k", (1000, 256), (1, 1.0), &[]);
        let found = bare.found(RULE);
        assert!(found.message.contains("part of A100 SXM4 40GB, the MIG"), "{}", found.message);
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
