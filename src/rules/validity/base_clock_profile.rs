//! Tells that a profile was taken below the clock at which production runs.

use super::clocks::Clocks;
use crate::analysis::CeilingSet;
use crate::model::{Profiler, Quantity};
use crate::rules::{Check, Confidence, Finding, Missing, Rule, Run, Severity, Threshold};

pub(super) const RULE: Rule = Rule {
    id: "base-clock-profile",
    summary: "the profiler locked the SM clock below boost",
    documentation: "\
## What it finds
Nsight Compute profiles whose kernels ran at the base clock, or at another fixed clock well below
boost.

## Why it costs time
Nothing is lost in production: the profiler locks the clock to make runs comparable. Profiled
times are longer than real ones, most of all for compute-bound kernels. Memory keeps its usual
clock, so kernels move toward the compute roof.

## Detection
The average SM clock is within `base` of the device's base clock, or it is below `boost` of the
boost clock and equal in all kernels within `steady`.

## Remedy
Keep the locked clock to compare versions of a kernel. For production times, profile with
`--clock-control none`. Either way, use ceilings at the measured clock.

## False positives
A power or clock cap set by an administrator looks the same.

## Sources
*Nsight Compute Profiling Guide*, \"Clock Control\"; *Nsight Compute CLI*, `--clock-control`.
",
    thresholds: &[BASE, BOOST, STEADY],
    silences: &[],
    check: Check::Run(check),
};

const BASE: Threshold =
    Threshold::new("base", 0.02, "1", "clocks are averages over the kernel and vary a little");

const BOOST: Threshold =
    Threshold::new("boost", 0.85, "1", "unlocked clocks rarely fall that far under load");

const STEADY: Threshold = Threshold::new("steady", 0.01, "1", "an unlocked clock varies more");

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
            CeilingSet::Spec => "ceilings are at the boost clock, so headroom is overstated",
            CeilingSet::MeasuredClock | CeilingSet::Achievable => {
                "ceilings are at the measured clock; production may be faster"
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
            .next("profile with --clock-control none for production times");
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
