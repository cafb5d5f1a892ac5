//! Tells that the SM clock fell while the profile was taken.

use super::clocks::Clocks;
use crate::rules::{Check, Confidence, Finding, Missing, Rule, Run, Severity, Threshold};

pub(super) const RULE: Rule = Rule {
    id: "clock-throttled",
    summary: "the SM clock dropped during profiling",
    documentation: "\
## What it finds
Profiles in which kernels ran at clearly different SM clocks, or below the device's base clock.

## Why it costs time
A device at its power or temperature limit lowers its clock. Kernels then slow down for a reason
outside their code, and their times cannot be compared.

## Detection
Among kernels of at least 20 µs on one device, the lowest average clock is `spread` or more below
the highest; or the time-averaged clock is below `base` of the base clock and the clocks differ by
`steady` or more. A clock that hardly varies was set on purpose; `base-clock-profile` covers that.

## Remedy
Lock the clock (`nvidia-smi --lock-gpu-clocks`, or Nsight Compute's default); check power limit
and cooling; compare medians of several runs; use ceilings at the measured clock.

## False positives
Devices lower the clock for heavy tensor-core kernels by design; that is the price of these
kernels. Clocks that ramp up from idle during the first kernels look the same.

## Sources
*Nsight Compute Profiling Guide*, \"Clock Control\"; NVIDIA, *nvidia-smi* manual, \"Clocks Throttle
Reasons\".
",
    thresholds: &[SPREAD, BASE, STEADY],
    silences: &[],
    check: Check::Run(check),
};

const SPREAD: Threshold =
    Threshold::new("spread", 0.05, "1", "more than a locked clock varies between kernels");

const STEADY: Threshold =
    Threshold::new("steady", 0.01, "1", "a locked clock varies less than this between kernels");

const BASE: Threshold =
    Threshold::new("base", 0.90, "1", "the base clock is the vendor's rating under sustained load");

fn check(run: &Run<'_>) -> Result<Vec<Finding>, Missing> {
    let mut found = Vec::new();
    for (position, clocks) in Clocks::all(run)? {
        let used = &run.analysis.devices[position];
        let figure = used.device.as_ref().and_then(|device| device.base_clock.as_ref());
        let base = figure.map(|figure| figure.value.get());
        // A clock that hardly varies was set, not throttled.
        let varies = clocks.spread() >= run.threshold(&STEADY);
        let is_below = varies && base.is_some_and(|base| clocks.mean < run.threshold(&BASE) * base);
        if clocks.spread() < run.threshold(&SPREAD) && !is_below {
            continue;
        }
        let mhz = |hertz: f64| hertz / 1e6;
        let beside = match base {
            Some(base) if is_below => format!("; its base clock is {:.0} MHz", mhz(base)),
            _ => String::new(),
        };
        let message = format!(
            "the SM clock of {} varied from {:.0} to {:.0} MHz, {:.0} MHz on average{beside}",
            used.name(),
            mhz(clocks.lowest),
            mhz(clocks.highest),
            mhz(clocks.mean)
        );
        let finding = run
            .finding(message)
            .severity(Severity::Medium)
            .confidence(Confidence::Medium)
            .evidence("lowest SM clock", clocks.lowest, "Hz")
            .evidence("highest SM clock", clocks.highest, "Hz")
            .evidence("average SM clock over time", clocks.mean, "Hz")
            .evidence_if("base clock", base, "Hz")
            .next("lock the clock and profile again, or compare medians of several runs");
        found.push(finding);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use crate::model::Quantity;
    use crate::rules::engine::bench_launches::{Bench, h100};

    const RULE: &str = "clock-throttled";

    fn clocks(one: f64, two: f64) -> Bench {
        let clock = |hertz| [(Quantity::SmClock, hertz)];
        h100().launch("a", (1000, 256), (1, 1000.0), &clock(one)).launch(
            "b",
            (1000, 256),
            (1, 1000.0),
            &clock(two),
        )
    }

    #[test]
    fn tells_a_clock_that_falls() {
        let found = clocks(1.9e9, 1.5e9).found(RULE);
        assert!(
            found.message.ends_with("varied from 1500 to 1900 MHz, 1700 MHz on average"),
            "{}",
            found.message
        );
        assert!(clocks(1.0e8, 1.03e8).found(RULE).message.contains("its base clock is"));
    }

    #[test]
    fn stays_quiet_on_a_steady_one() {
        assert!(clocks(1.9e9, 1.88e9).is_content(RULE));
        // One that was set is of another rule.
        assert!(clocks(1.0e8, 1.0e8).is_content(RULE));
    }

    #[test]
    fn cannot_judge_without_clocks() {
        let bench = h100().launch("a", (1000, 256), (1, 1000.0), &[]);
        assert_eq!(bench.lacks(RULE), ["sm__cycles_elapsed.avg.per_second"]);
    }
}
