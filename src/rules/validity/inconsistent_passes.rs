//! Tells of kernels whose counters contradict each other: the runs they come from were not alike.

use crate::analysis::State;
use crate::model::Quantity;
use crate::rules::{
    Check, Confidence, Judgment, Missing, Rule, Severity, Subject, Threshold, Unit,
};
use crate::units::whole_percent;

pub(super) const RULE: Rule = Rule {
    id: "inconsistent-passes",
    summary: "two counters for the same figure disagree",
    documentation: "\
## What it finds
Kernels for which two ways to obtain one figure give different values.

## Why it costs time
No time is lost, but Nsight Compute replays a kernel once per group of counters, so the figures of
one launch come from several runs. If these differ, bytes, operations and time do not belong
together, and rates computed from them are off by as much.

## Detection
Two figures that should be equal differ by more than `apart`: DRAM bytes in total, from reads and
writes, and from sectors; the share of time it moved data, by bytes and by cycles, if they are
also two points apart; multiply-adds as a count and as a rate; the time on the raw and the details
page, beyond 64 ns (two timer ticks). Or the SM clock, cycles ÷ time, exceeds the device's maximum
by that much, which can only happen across runs (GeForce cards run above their rated clock and are
exempt). A hit rate above 100% is reported as info. The largest disagreement per launch counts,
averaged over launches; `rooflint convert` has it in the column `pass_disagreement`.

## Remedy
Collect fewer metrics per run so that fewer passes are needed; give the kernel more work; use
`--replay-mode application` so that each pass sees the program's own state; make sure the program
does the same work each time (no time limits, no order-dependent atomics).

## False positives
Kernels of a few microseconds always vary by a few percent. Digits rounded away in an export count
as a difference.

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
    "as for kernels faster than their roofline: replay passes vary this much",
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
    let rates = [
        ("L2 hit rate", Quantity::L2HitRate, Unit::L2),
        ("L1 hit rate", Quantity::L1HitRate, Unit::L1),
    ];
    // Of a cache that is hardly asked for anything, what other work asks is in the rate too.
    let is_asked = |unit| subject.utilization(unit).map_or(true, |used| used >= ASKED);
    let rates = rates.into_iter().filter(|(_, _, unit)| is_asked(*unit));
    let rates = rates.filter_map(|(name, rate, _)| Some((name, subject.get(rate)?)));
    rates.filter(|(_, rate)| *rate > 1.0 + ROUNDED).max_by(|one, two| one.1.total_cmp(&two.1))
}

/// Share of its peak from which what a cache does is the kernel's.
const ASKED: f64 = 0.05;

/// What digits that an export rounds away may add to a rate.
const ROUNDED: f64 = 1e-4;

fn check(subject: &Subject<'_>) -> Judgment {
    let apart = subject.get(Quantity::PassDisagreement);
    let above = above_highest(subject);
    let impossible = beyond_whole(subject);
    let worst =
        apart.into_iter().chain(above).reduce(f64::max).or(impossible.map(|(_, rate)| rate - 1.0));
    let worst = worst.ok_or(Missing("dram__cycles_active.avg.pct_of_peak_sustained_elapsed"))?;
    let is_rate = impossible.is_some() && apart.is_none() && above.is_none();
    if worst <= subject.threshold(&APART) || is_rate {
        let told = |(name, rate): (&str, f64)| {
            let message =
                format!("{name} of {:.2}%: its parts come from different passes", rate * 100.0);
            let finding = subject.info(message).confidence(Confidence::High);
            finding.evidence(name, rate, "1").next("collect fewer metrics per run")
        };
        return Ok(impossible.map(told));
    }
    let message = if apart == Some(worst) {
        format!(
            "two counters of the same figure differ by {}: they come from different replay \
             passes",
            whole_percent(worst)
        )
    } else {
        format!(
            "cycles ÷ time give a clock {} above the device's maximum: they come from \
             different replay passes",
            whole_percent(worst)
        )
    };
    let finding = subject
        .info(message)
        .severity(Severity::Medium)
        .confidence(Confidence::High)
        .evidence_if("difference of two counters", apart, "1")
        .evidence_if("SM clock", subject.get(Quantity::SmClock), "Hz")
        .evidence_if("above the maximum clock", above, "1")
        .evidence_if("passes", subject.get(Quantity::ReplayPasses), "1")
        .evidence("time per launch", subject.mean().get(), "s");
    Ok(Some(finding.next("collect fewer metrics per run, or use --replay-mode application")))
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
        assert!(found.message.contains("45% above the device"), "{}", found.message);
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
