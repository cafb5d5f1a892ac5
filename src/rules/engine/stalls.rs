//! Why warps wait between two of their instructions.

use super::subject::Subject;
use crate::model::Quantity;

/// A reason to wait.
pub(in crate::rules) struct Stall {
    pub(in crate::rules) quantity: Quantity,
    /// Reads after "warps stall 45% of the time …".
    pub(in crate::rules) wait: &'static str,
    /// What usually helps.
    pub(in crate::rules) attempt: &'static str,
}

macro_rules! stalls {
    ($($quantity:ident, $wait:literal, $attempt:literal;)*) => {
        pub(in crate::rules) const STALLS: &[Stall] = &[$(Stall {
            quantity: Quantity::$quantity,
            wait: $wait,
            attempt: $attempt,
        }),*];
    };
}

stalls! {
    StallLongScoreboard, "on global, local or texture data",
        "keep more loads in flight: unroll, use asynchronous copies, or keep more warps resident";
    StallLgThrottle, "on the queue to global and local memory",
        "make accesses fewer and wider: coalesce, load 16 bytes per thread, avoid spills";
    StallShortScoreboard, "on shared memory or special functions",
        "remove bank conflicts, keep operands in registers, use fewer special functions";
    StallMioThrottle, "on the queue to shared memory and special functions",
        "make shared-memory accesses fewer and wider, use fewer special functions";
    StallTexThrottle, "on the texture queue",
        "issue fewer texture or surface accesses, or load through the load/store unit";
    StallBarrier, "at block barriers",
        "even out the work before barriers, use smaller blocks, or split arrive from wait";
    StallMembar, "at memory fences",
        "use fewer fences, and of the narrowest scope";
    StallMathThrottle, "on a busy math pipe",
        "reduce work on this pipe, or move part of it to another";
    StallWait, "on fixed instruction latencies",
        "give each thread more independent instructions: unroll, process several elements";
    StallDrain, "on stores that drain at exit",
        "coalesce the stores, and spread them over the kernel";
    StallBranch, "on branch targets",
        "use fewer jumps: unroll, or select instead of branching";
    StallNoInstruction, "on instruction fetch",
        "unroll less, so that loops fit the instruction cache";
    StallConstant, "on constant cache misses",
        "use the same constant index in all threads of a warp, or load from global memory";
    StallDispatch, "on the dispatcher",
        "look for register bank conflicts; this stall is rare";
    StallSleeping, "sleeping on request",
        "shorten sleeps in polling loops, or wait on a barrier";
    StallGmma, "on warp-group matrix products",
        "deepen the pipeline, or let two consumer groups take turns";
}

/// The reasons that are known with their shares of the time between two instructions, the longest first.
pub(in crate::rules) fn stalls(subject: &Subject<'_>) -> Vec<(&'static Stall, f64)> {
    let known = STALLS.iter().filter_map(|stall| Some((stall, subject.get(stall.quantity)?)));
    let mut waits: Vec<(&Stall, f64)> = known.collect();
    waits.sort_by(|one, two| two.1.total_cmp(&one.1));
    waits
}

/// Whether a reason for which warps of this device can wait was not collected.
pub(in crate::rules) fn lacks_a_stall(subject: &Subject<'_>) -> bool {
    /// The first compute capability whose warps wait for products of warp groups.
    const HOPPER: (u32, u32) = (9, 0);
    let has_groups = subject.compute_capability().is_none_or(|capability| capability >= HOPPER);
    let mut reasons = STALLS.iter().filter(|one| has_groups || one.quantity != Quantity::StallGmma);
    reasons.any(|one| subject.get(one.quantity).is_none())
}
