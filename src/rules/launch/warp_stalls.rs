//! Flags kernels whose warps wait mostly for one or two reasons, and says what each means.

use crate::model::Quantity;
use crate::roofline::BUSY;
use crate::rules::engine::stalls::{lacks_a_stall, stalls};
use crate::rules::{Check, Confidence, Judgment, Missing, Rule, Stake, Subject, Threshold, Unit};
use crate::units::{Seconds, whole_percent};

pub(super) const RULE: Rule = Rule {
    id: "warp-stalls",
    summary: "warps stall mostly for one or two reasons",
    documentation: "\
## What it finds
The one or two reasons for which warps stall longest between instructions, with what each means
and what usually helps.

## Why it costs time
A stalled warp issues nothing. As long as others are ready that is harmless; where schedulers
often find none, the stall costs time.

## Detection
Instructions are issued in less than `issue` of the active cycles, and a warp spends more than
`share` of the time between two of its instructions on one stall reason. The two longest are
reported. A math or tensor pipe that is at least 60% busy is not a fault and is left out; so are waits
for device memory that runs at 80% of its peak bandwidth. Where reasons were not collected, and
more than `share` of the time is unexplained, the rule cannot judge. Savings:
at most the longest stall, and no more than the share of cycles without an issue; at least
nothing, because other stalls may take its place.

## Remedy
It depends on the reason. Global memory: more loads in flight (unrolling, asynchronous copies,
more warps) or better locality. Load/store queue: fewer and wider accesses. Shared memory: no bank
conflicts. Barriers: even work and smaller blocks. Fixed latencies: more independent instructions
per thread. Each finding names its own.

## False positives
A stall is a symptom. Where a rule names its cause (uncoalesced accesses, bank conflicts, spills),
fix that. Kernels with fewer blocks than SMs stall for lack of work, and warps of persistent
kernels wait for each other by design; both are exempt.

## Sources
`CPIStall.py` of Nsight Compute; *Nsight Compute Profiling Guide*, \"Warp State Statistics\".
",
    thresholds: &[ISSUE, SHARE],
    silences: &["low-issue-utilization"],
    check: Check::Kernel(check),
};

const ISSUE: Threshold = Threshold::new("issue", 0.80, "1", "CPIStall.py of Nsight Compute");

const SHARE: Threshold = Threshold::new("share", 0.30, "1", "CPIStall.py of Nsight Compute");

/// Share of the peak DRAM bandwidth from which waits for memory are no fault of the kernel, as in `dram-saturated`.
const SATURATED: f64 = 0.80;

const STALL_METRICS: &str = "smsp__average_warps_issue_stalled_*_per_issue_active.ratio";

fn check(subject: &Subject<'_>) -> Judgment {
    let metric = "smsp__issue_active.avg.pct_of_peak_sustained_active";
    let issue = subject.need(Quantity::IssueActive, metric)?;
    let mut waits = stalls(subject);
    if waits.is_empty() {
        return Err(Missing(STALL_METRICS));
    }
    // Warps of such kernels wait for each other by design: some load, others multiply.
    if issue >= subject.threshold(&ISSUE) || subject.is_persistent() || subject.leaves_idle() {
        return Ok(None);
    }
    let unknown = 1.0 - waits.iter().map(|(_, wait)| wait).sum::<f64>();
    let is_busy = subject.utilization(Unit::Sm).is_ok_and(|used| used >= BUSY);
    let share = subject.threshold(&SHARE);
    let is_fed = subject.get(Quantity::TensorActive).is_some_and(|used| used >= BUSY);
    let is_pipe = [Quantity::StallMathThrottle, Quantity::StallGmma];
    // Warps that wait for DRAM at its peak wait no shorter with more loads in flight.
    let is_saturated = subject.dram_reached().is_some_and(|reached| reached >= SATURATED);
    let is_memory =
        [Quantity::StallLongScoreboard, Quantity::StallLgThrottle, Quantity::StallDrain];
    waits.retain(|(stall, wait)| {
        let is_right = ((is_busy || is_fed) && is_pipe.contains(&stall.quantity))
            || (is_saturated && is_memory.contains(&stall.quantity));
        *wait > share && !is_right
    });
    waits.truncate(2);
    let Some((first, longest)) = waits.first().copied() else {
        // What is left of the time may all be one reason that was not collected.
        let is_open = unknown > share && lacks_a_stall(subject);
        return if is_open { Err(Missing(STALL_METRICS)) } else { Ok(None) };
    };
    let told: Vec<String> = waits
        .iter()
        .map(|(stall, wait)| format!("{} of the time {}", whole_percent(*wait), stall.wait))
        .collect();
    let message = format!("warps stall {}", told.join(" and "));
    let stake = Stake { low: Seconds::ZERO, ..subject.stall(longest) };
    let finding = subject
        .finding(message, stake)
        .confidence(Confidence::Medium)
        .evidence("issue slots used", issue, "1")
        .evidence_if("eligible warps per scheduler", subject.get(Quantity::EligibleWarps), "1");
    let finding = waits.iter().fold(finding, |finding, (stall, wait)| {
        finding.evidence(
            format!("stall, {}", stall.quantity.stall().unwrap_or_default()),
            *wait,
            "1",
        )
    });
    Ok(Some(finding.next(subject.rewrite(first.attempt))))
}

#[cfg(test)]
mod tests {
    use super::STALL_METRICS;
    use crate::model::Quantity;
    use crate::rules::engine::bench_launches::h100;
    use crate::rules::engine::stalls::STALLS;

    const RULE: &str = "warp-stalls";

    #[test]
    fn tells_the_two_longest_waits() {
        let values = [
            (Quantity::IssueActive, 0.20),
            (Quantity::StallLongScoreboard, 0.45),
            (Quantity::StallBarrier, 0.35),
            (Quantity::StallWait, 0.05),
        ];
        let found = h100().launch("k", (10_000, 256), (1, 1000.0), &values).found(RULE);
        assert_eq!(
            found.message,
            "warps stall 45% of the time on global, local or texture data and 35% of the time \
             at block barriers"
        );
        assert!((found.at_stake_s - 0.45e-3).abs() < 1e-9);
        assert!(found.next.is_some_and(|next| next.starts_with("keep more loads in flight")));
    }

    /// These figures, and no wait for any other reason.
    fn with_all_stalls(values: &[(Quantity, f64)]) -> Vec<(Quantity, f64)> {
        let given = |quantity| values.iter().any(|(one, _)| *one == quantity);
        let others = STALLS.iter().filter(|one| !given(one.quantity));
        values.iter().copied().chain(others.map(|one| (one.quantity, 0.0))).collect()
    }

    #[test]
    fn stays_quiet_just_below_the_threshold_and_where_a_pipe_is_rightly_busy() {
        let is_content = |values: &[(Quantity, f64)]| {
            let values = with_all_stalls(values);
            h100().launch("k", (10_000, 256), (1, 1000.0), &values).is_content(RULE)
        };
        // The lg-throttle share of NVIDIA's public uncoalesced sample: 68.45 of 234.41 cycles.
        assert!(is_content(&[(Quantity::IssueActive, 0.10), (Quantity::StallLgThrottle, 0.292)]));
        assert!(is_content(&[
            (Quantity::IssueActive, 0.50),
            (Quantity::StallMathThrottle, 0.60),
            (Quantity::SmThroughput, 0.85),
        ]));
        assert!(is_content(&[(Quantity::IssueActive, 0.85), (Quantity::StallWait, 0.60)]));
        // 2.69 GB in 1 ms are 80% of 3.35 TB/s.
        let saturated = [
            (Quantity::IssueActive, 0.10),
            (Quantity::StallLongScoreboard, 0.82),
            (Quantity::DramBytes, 2.69e9),
        ];
        assert!(is_content(&saturated));
        let barrier = [saturated[0], saturated[1], (Quantity::StallBarrier, 0.4), saturated[2]];
        let found = h100().launch("k", (10_000, 256), (1, 1000.0), &barrier).found(RULE);
        assert_eq!(found.message, "warps stall 40% of the time at block barriers");
    }

    #[test]
    fn reasons_that_were_not_collected_may_be_the_longest() {
        let launch =
            |values: &[(Quantity, f64)]| h100().launch("k", (10_000, 256), (1, 1000.0), values);
        let issue = (Quantity::IssueActive, 0.10);
        let one = [issue, (Quantity::StallBarrier, 0.25)];
        assert_eq!(launch(&one).lacks(RULE), [STALL_METRICS]);
        // 0.25 + 0.25 + 0.22 leave 0.28 of the time, less than the threshold of 0.30.
        let most = [(Quantity::StallWait, 0.25), (Quantity::StallLongScoreboard, 0.22)];
        assert!(launch(&[&one[..], &most].concat()).is_content(RULE));
    }

    #[test]
    fn cannot_judge_without_stalls() {
        let values = [(Quantity::IssueActive, 0.10)];
        let lacks = h100().launch("k", (10_000, 256), (1, 1000.0), &values).lacks(RULE);
        assert_eq!(lacks, [STALL_METRICS]);
    }
}
