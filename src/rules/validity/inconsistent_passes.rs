//! Tells of kernels whose counters contradict each other: the runs they come from were not alike.

use crate::analysis::State;
use crate::model::Quantity;
use crate::rules::{Check, Confidence, Judgment, Missing, Rule, Severity, Subject, Threshold};

pub(super) const RULE: Rule = Rule {
    id: "inconsistent-passes",
    summary: "two counters that tell the same figure differ",
    documentation: "\
## What it finds
Kernels for which two routes to one figure lead to different values.

## Why it costs time
It costs none. Nsight Compute replays a kernel once for each group of counters, and the figures of one
launch come from several runs of it. If those differ, bytes, operations and time do not belong together,
and rates made of them are off by as much.

## How it decides
Two figures that should be equal differ by more than `apart`: bytes of device memory as a whole, by reads
and writes, and by sectors; the share of time it moved data, by bytes and by cycles, if they are two points
apart as well; multiply-adds as a count and as a rate; the time from the raw page and from the details,
beyond the 64 ns that two ticks of the timer make. Or the SM clock, cycles over time, is that much above
the highest of the device, which only figures of two runs can be; GeForce cards, which run above their
rated clock, are left out there. A hit rate above 100% is told as well, as something to know. The widest pair of each launch counts, averaged over the launches;
`rooflint convert` names it with the column `pass_disagreement`.

## What to try
Collect fewer metrics in one run, so that fewer passes are needed; give the kernel more work; run with
`--replay-mode application`, so that each pass sees the program's own state; see that the program does the
same each time (no time limits, no atomics whose order decides).

## When it is wrong
Kernels of a few microseconds always vary by some percent. Digits that an export rounds away count as a
difference.

## Sources
*Nsight Compute Profiling Guide*, \"Kernel Replay\", \"Application Replay\" and \"Reproducibility\".
",
    thresholds: &[APART],
    silences: &[],
    check: Check::KernelAlso(State::FasterThanRoofline, check),
};

const APART: Threshold = Threshold::new(
    "apart",
    0.03,
    "1",
    "as for kernels faster than their roof: what replay makes of equal figures",
);

/// SM clock over the highest of the device, minus one.
fn above_highest(subject: &Subject<'_>) -> Option<f64> {
    let ran = subject.ran();
    let is_rated = |class: &str| class == "geforce";
    let device = ran.device.as_ref()?;
    if device.rate_class.as_deref().is_some_and(is_rated) {
        return None;
    }
    let highest = ran.hint.max_sm_clock.filter(|clock| clock.get() > 0.0)?;
    Some(subject.get(Quantity::SmClock)? / highest.get() - 1.0)
}

/// A hit rate above one, which no cache has.
fn beyond_whole(subject: &Subject<'_>) -> Option<(&'static str, f64)> {
    let rates = [("L2 hit rate", Quantity::L2HitRate), ("L1 hit rate", Quantity::L1HitRate)];
    let rates = rates.into_iter().filter_map(|(name, rate)| Some((name, subject.get(rate)?)));
    rates.filter(|(_, rate)| *rate > 1.0 + ROUNDED).max_by(|one, two| one.1.total_cmp(&two.1))
}

/// What digits that an export rounds away may add to a rate.
const ROUNDED: f64 = 1e-4;

fn check(subject: &Subject<'_>) -> Judgment {
    let apart = subject.get(Quantity::PassDisagreement);
    let above = above_highest(subject);
    let impossible = beyond_whole(subject);
    let worst =
        apart.into_iter().chain(above).reduce(f64::max).or(impossible.map(|(_, rate)| rate - 1.0));
    let worst = worst.ok_or(Missing("dram__cycles_active.avg.pct_of_peak_sustained_elapsed"))?;
    if worst <= subject.threshold(&APART) {
        let told = |(name, rate): (&str, f64)| {
            let message = format!(
                "{name} of {:.2}%: its parts come from passes that were not alike",
                rate * 100.0
            );
            let finding = subject.info(message).confidence(Confidence::High);
            finding.evidence(name, rate, "1").next("collect fewer metrics at once")
        };
        return Ok(impossible.map(told));
    }
    let message = if apart == Some(worst) {
        format!(
            "two counters of the same figure differ by {:.0}%: they come from runs that were not alike",
            worst * 100.0
        )
    } else {
        format!(
            "cycles over time give a clock {:.0}% above the highest of the device: they come from runs \
             that were not alike",
            worst * 100.0
        )
    };
    let finding = subject
        .info(message)
        .severity(Severity::Medium)
        .confidence(Confidence::High)
        .evidence_if("difference of two counters", apart, "1")
        .evidence_if("SM clock", subject.get(Quantity::SmClock), "Hz")
        .evidence_if("above the highest clock", above, "1")
        .evidence_if("passes", subject.get(Quantity::ReplayPasses), "1")
        .evidence("time of a launch", subject.mean().get(), "s");
    Ok(Some(finding.next("collect fewer metrics at once, or use --replay-mode application")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::DeviceHint;
    use crate::rules::engine::bench_launches::{Bench, h100};
    use crate::units::Hertz;

    const ID: &str = "inconsistent-passes";

    fn apart(difference: f64) -> Bench {
        let values = [(Quantity::PassDisagreement, difference)];
        h100().launch("k", (1000, 256), (1, 1000.0), &values)
    }

    fn clocked(name: &str, clock: f64) -> Bench {
        let hint = DeviceHint {
            name: Some(name.to_owned()),
            max_sm_clock: Some(Hertz::new(1.98e9)),
            ..DeviceHint::default()
        };
        let values = [(Quantity::SmClock, clock)];
        h100().then_on(hint).launch("k", (1000, 256), (1, 1000.0), &values)
    }

    #[test]
    fn counters_that_differ_are_a_warning() {
        let found = apart(0.12).found(ID);
        assert_eq!(found.severity, Severity::Medium);
        assert!(found.message.contains("differ by 12%"), "{}", found.message);
    }

    #[test]
    fn a_clock_that_cannot_be_is_a_warning() {
        // 2.88 of 1.98 GHz, as an H200 showed for a kernel of 2 µs.
        let found = clocked("NVIDIA H200", 2.88e9).found(ID);
        assert!(found.message.contains("45% above the highest"), "{}", found.message);
    }

    #[test]
    fn noise_and_clocks_that_can_be_are_left_alone() {
        assert!(apart(0.02).is_content(ID));
        assert!(clocked("NVIDIA H200", 1.99e9).is_content(ID));
    }

    #[test]
    fn with_one_route_it_cannot_judge() {
        let bare = h100().launch("k", (1000, 256), (1, 1000.0), &[]);
        let metric = "dram__cycles_active.avg.pct_of_peak_sustained_elapsed";
        assert_eq!(bare.lacks(ID), [metric]);
        // A GeForce may run above its rated clock.
        let geforce = clocked("NVIDIA GeForce RTX 4090", 2.88e9);
        assert_eq!(geforce.lacks(ID), [metric]);
    }
}
