//! Flags kernels whose warps wait mostly for one or two reasons, and says what each means.

use crate::model::Quantity;
use crate::roofline::BUSY;
use crate::rules::{Check, Confidence, Judgment, Missing, Rule, Stake, Subject, Threshold, Unit};
use crate::units::Seconds;

pub(super) const RULE: Rule = Rule {
    id: "warp-stalls",
    summary: "warps wait mostly for one or two reasons",
    documentation: "\
## What it finds
The one or two reasons for which warps wait longest between two instructions, with what each means and
what usually helps.

## Why it costs time
A warp that waits issues nothing. As long as others are ready that is harmless; where schedulers often
find none, the wait is time.

## How it decides
Instructions are issued in less than `issue` of the active cycles, and a warp spends more than `share` of
the time between two of its instructions waiting for one reason. The two longest are told. A busy math or tensor pipe is no fault where
it is 60% busy and is left out there. At most the
longest wait goes, and no more than the share of cycles without an issue; at least nothing, because
other waits may take its place.

## What to try
It depends on the reason: for global memory, more loads in flight (unrolling, asynchronous copies, more
warps) or better locality; for the queue of the load/store unit, fewer and wider accesses; for shared
memory, no bank conflicts; at barriers, even work and smaller blocks; for fixed latencies, more
independent instructions in each thread. Each finding names its own.

## When it is wrong
A stall is a symptom. Where a rule names its cause (uncoalesced accesses, bank conflicts, spills), cure
that. Nothing can be told of kernels with fewer blocks than multiprocessors, which wait for lack of work. The
warps of persistent kernels wait for each other by design; those are left alone.

## Sources
`CPIStall.py` of Nsight Compute; *Nsight Compute Profiling Guide*, \"Warp State Statistics\".
",
    thresholds: &[ISSUE, SHARE],
    silences: &["low-issue-utilization"],
    check: Check::Kernel(check),
};

const ISSUE: Threshold = Threshold::new("issue", 0.80, "1", "CPIStall.py of Nsight Compute");

const SHARE: Threshold = Threshold::new("share", 0.30, "1", "CPIStall.py of Nsight Compute");

/// A reason to wait.
struct Stall {
    quantity: Quantity,
    /// As Nsight Compute calls it.
    name: &'static str,
    /// Reads after "warps wait 45% of the time …".
    wait: &'static str,
    attempt: &'static str,
}

macro_rules! stalls {
    ($($quantity:ident, $name:literal, $wait:literal, $attempt:literal;)*) => {
        const STALLS: &[Stall] = &[$(Stall {
            quantity: Quantity::$quantity,
            name: $name,
            wait: $wait,
            attempt: $attempt,
        }),*];
    };
}

stalls! {
    StallLongScoreboard, "long scoreboard", "for global, local or texture data",
        "keep more loads in flight: unroll, copy asynchronously, or keep more warps resident";
    StallLgThrottle, "LG throttle", "for the queue to global and local memory",
        "make accesses fewer and wider: coalesce, load 16 bytes a thread, avoid spills";
    StallShortScoreboard, "short scoreboard", "for shared memory or special functions",
        "remove bank conflicts, keep operands in registers, use fewer special functions";
    StallMioThrottle, "MIO throttle", "for the queue to shared memory and special functions",
        "make shared-memory accesses fewer and wider, use fewer special functions";
    StallTexThrottle, "TEX throttle", "for the texture queue",
        "issue fewer texture or surface accesses, or load through the load/store unit";
    StallBarrier, "barrier", "at barriers of the block",
        "even out the work before barriers, use smaller blocks, or split arrive from wait";
    StallMembar, "membar", "at memory fences",
        "use fewer fences, and of the narrowest scope";
    StallMathThrottle, "math pipe throttle", "for a busy math pipe",
        "do less of what this pipe does, or move a part to another one";
    StallWait, "wait", "for fixed latencies of earlier instructions",
        "give each thread more independent instructions: unroll, process several elements";
    StallDrain, "drain", "for stores to drain after their last instruction",
        "coalesce the stores, and do not leave all of them to the end";
    StallBranch, "branch resolving", "for the targets of branches",
        "use fewer jumps: unroll, or select instead of branching";
    StallNoInstruction, "no instruction", "for instructions to fetch",
        "unroll less, so that loops fit the instruction cache";
    StallConstant, "IMC miss", "for constants that are not cached",
        "index constants alike in all threads of a warp, or load them from global memory";
    StallDispatch, "dispatch stall", "for the dispatcher",
        "look for register bank conflicts; this stall is rare";
    StallSleeping, "sleeping", "asleep by their own will",
        "shorten the sleep in polling loops, or wait on a barrier";
    StallGmma, "GMMA", "for warp-group matrix products",
        "deepen the pipeline, or let two consumer groups take turns";
}

fn check(subject: &Subject<'_>) -> Judgment {
    let metric = "smsp__issue_active.avg.pct_of_peak_sustained_active";
    let issue = subject.need(Quantity::IssueActive, metric)?;
    let mut waits: Vec<(&Stall, f64)> =
        STALLS.iter().filter_map(|stall| Some((stall, subject.get(stall.quantity)?))).collect();
    if waits.is_empty() {
        return Err(Missing("smsp__average_warps_issue_stalled_*_per_issue_active.ratio"));
    }
    // Warps of such kernels wait for each other by design: some load, others multiply.
    if issue >= subject.threshold(&ISSUE) || subject.is_persistent() || subject.leaves_idle() {
        return Ok(None);
    }
    let is_busy = subject.utilization(Unit::Sm).is_ok_and(|used| used >= BUSY);
    let share = subject.threshold(&SHARE);
    let is_fed = subject.get(Quantity::TensorActive).is_some_and(|used| used >= BUSY);
    let is_pipe = [Quantity::StallMathThrottle, Quantity::StallGmma];
    waits.retain(|(stall, wait)| {
        *wait > share && !((is_busy || is_fed) && is_pipe.contains(&stall.quantity))
    });
    waits.sort_by(|one, two| two.1.total_cmp(&one.1));
    waits.truncate(2);
    let Some((first, longest)) = waits.first().copied() else { return Ok(None) };
    let told: Vec<String> = waits
        .iter()
        .map(|(stall, wait)| format!("{:.0}% of the time {}", wait * 100.0, stall.wait))
        .collect();
    let message = format!("warps wait {}", told.join(" and "));
    let stake = Stake { low: Seconds::ZERO, ..subject.stall(longest) };
    let finding = subject
        .finding(message, stake)
        .confidence(Confidence::Medium)
        .evidence("issue slots used", issue, "1")
        .evidence_if("eligible warps per scheduler", subject.get(Quantity::EligibleWarps), "1");
    let finding = waits.iter().fold(finding, |finding, (stall, wait)| {
        finding.evidence(format!("stall, {}", stall.name), *wait, "1")
    });
    Ok(Some(finding.next(first.attempt)))
}

#[cfg(test)]
mod tests {
    use crate::model::Quantity;
    use crate::rules::engine::bench_launches::h100;

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
            "warps wait 45% of the time for global, local or texture data and 35% of the time \
             at barriers of the block"
        );
        assert!((found.at_stake_s - 0.45e-3).abs() < 1e-9);
        assert!(found.next.is_some_and(|next| next.starts_with("keep more loads in flight")));
    }

    #[test]
    fn stays_quiet_just_below_the_threshold_and_where_a_pipe_is_rightly_busy() {
        // The lg-throttle share of NVIDIA's public uncoalesced sample: 68.45 of 234.41 cycles.
        let below = [(Quantity::IssueActive, 0.10), (Quantity::StallLgThrottle, 0.292)];
        assert!(h100().launch("k", (10_000, 256), (1, 1000.0), &below).is_content(RULE));
        let busy = [
            (Quantity::IssueActive, 0.50),
            (Quantity::StallMathThrottle, 0.60),
            (Quantity::SmThroughput, 0.85),
        ];
        assert!(h100().launch("k", (10_000, 256), (1, 1000.0), &busy).is_content(RULE));
        let issuing = [(Quantity::IssueActive, 0.85), (Quantity::StallWait, 0.60)];
        assert!(h100().launch("k", (10_000, 256), (1, 1000.0), &issuing).is_content(RULE));
    }

    #[test]
    fn cannot_judge_without_stalls() {
        let values = [(Quantity::IssueActive, 0.10)];
        let lacks = h100().launch("k", (10_000, 256), (1, 1000.0), &values).lacks(RULE);
        assert_eq!(lacks, ["smsp__average_warps_issue_stalled_*_per_issue_active.ratio"]);
    }
}
