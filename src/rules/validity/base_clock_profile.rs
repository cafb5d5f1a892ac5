//! Tells that a profile was taken below the clock at which production runs.

use super::clocks::Clocks;
use crate::analysis::CeilingSet;
use crate::model::{Profiler, Quantity};
use crate::rules::{Check, Confidence, Finding, Missing, Rule, Run, Severity, Threshold};

pub(super) const RULE: Rule = Rule {
    id: "base-clock-profile",
    summary: "the profiler locked the SM clock below the boost clock",
    documentation: "\
## What it finds
Profiles of Nsight Compute whose kernels ran at the base clock, or at another fixed clock well below
boost.

## Why it costs time
Nothing in production: the profiler locks the clock to make runs comparable. Times in the profile are
longer than real ones, math-limited kernels most; memory runs at its usual clock, so that kernels move
towards the compute roof.

## How it decides
The SM clock, averaged over time, lies within `base` of the base clock of the catalog; or it is below
`boost` of the boost clock and the same in all kernels within `steady`.

## What to try
Keep the locked clock to compare versions of a kernel. For times as in production, profile with
`--clock-control none`; take the ceilings at the measured clock either way.

## When it is wrong
A device that is capped in power or clock by its administrator looks the same.

## Sources
*Nsight Compute Profiling Guide*, \"Clock Control\"; *Nsight Compute CLI*, `--clock-control`.
",
    thresholds: &[BASE, BOOST, STEADY],
    silences: &[],
    check: Check::Run(check),
};

const BASE: Threshold =
    Threshold::new("base", 0.02, "1", "clocks are counted over the kernel and vary a little");

const BOOST: Threshold =
    Threshold::new("boost", 0.85, "1", "clocks that float under load rarely fall that far");

const STEADY: Threshold = Threshold::new("steady", 0.01, "1", "a floating clock varies more");

fn check(run: &Run<'_>) -> Result<Vec<Finding>, Missing> {
    let sources = &run.analysis.sources;
    // Other profilers do not touch the clock.
    if !sources.iter().any(|source| source.profiler == Profiler::NsightCompute) {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    let clocks = Clocks::all(run)?;
    if run.analysis.devices.iter().all(|used| used.device.is_none()) {
        return Err(Missing("--device"));
    }
    for (position, clocks) in clocks {
        let used = &run.analysis.devices[position];
        let Some(device) = &used.device else { continue };
        let base = device.base_clock.as_ref().map(|figure| figure.value.get());
        let boost = device.boost_clock.as_ref().map(|figure| figure.value.get());
        let at_base =
            base.is_some_and(|base| (clocks.mean / base - 1.0).abs() <= run.threshold(&BASE));
        let is_low = boost.is_some_and(|boost| clocks.mean < run.threshold(&BOOST) * boost);
        if !(at_base || is_low && clocks.spread() < run.threshold(&STEADY)) {
            continue;
        }
        let mhz = |hertz: f64| format!("{:.0} MHz", hertz / 1e6);
        let of = match (at_base, base, boost) {
            (true, _, Some(boost)) => format!(", its base clock (boost {})", mhz(boost)),
            (true, _, None) => ", its base clock".to_owned(),
            (false, _, Some(boost)) => format!(", below its boost clock of {}", mhz(boost)),
            (false, _, None) => String::new(),
        };
        let ceilings = match run.analysis.ceilings {
            CeilingSet::Spec => "the ceilings are at boost clock, so that headroom is overstated",
            CeilingSet::MeasuredClock | CeilingSet::Achievable => {
                "the ceilings are at the measured clock; production may be faster"
            }
        };
        let message = format!("{} ran at {}{of}: {ceilings}", used.name(), mhz(clocks.mean));
        let severity = if run.analysis.ceilings == CeilingSet::Spec {
            Severity::Medium
        } else {
            Severity::Info
        };
        let finding = run
            .finding(message)
            .severity(severity)
            .confidence(Confidence::High)
            .evidence("SM clock", clocks.mean, Quantity::SmClock.unit())
            .evidence_if("base clock", base, "Hz")
            .evidence_if("boost clock", boost, "Hz")
            .evidence("spread of the clock between kernels", clocks.spread(), "1")
            .next("profile with --clock-control none for times as in production");
        found.push(finding);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use crate::model::Quantity;
    use crate::rules::Severity;
    use crate::rules::engine::bench_launches::{h100, on};

    const RULE: &str = "base-clock-profile";

    fn clock(hertz: f64) -> [(Quantity, f64); 1] {
        [(Quantity::SmClock, hertz)]
    }

    #[test]
    fn tells_a_locked_clock() {
        let bench = on("NVIDIA A100-SXM4-40GB").ncu();
        let found = bench.launch("k", (1000, 256), (1, 1000.0), &clock(1.095e9)).found(RULE);
        assert!(found.message.contains("ran at 1095 MHz"), "{}", found.message);
        assert_eq!(found.severity, Severity::Info);
    }

    #[test]
    fn stays_quiet_at_boost_and_in_timelines() {
        let bench = h100().ncu().launch("k", (1000, 256), (1, 1000.0), &clock(1.95e9));
        assert!(bench.is_content(RULE));
        let bench = h100().launch("k", (1000, 256), (1, 1000.0), &clock(1.0e9));
        assert!(bench.is_content(RULE));
    }

    #[test]
    fn cannot_judge_without_clocks() {
        let bench = h100().ncu().launch("k", (1000, 256), (1, 1000.0), &[]);
        assert_eq!(bench.lacks(RULE), ["sm__cycles_elapsed.avg.per_second"]);
    }
}
