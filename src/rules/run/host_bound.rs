//! Tells how long GPUs wait for the host between the pieces of their work.

use crate::rules::{Check, Confidence, Finding, Missing, Rule, Run, Threshold, least_shown};
use crate::units::{Seconds, percent, si};

pub(super) const RULE: Rule = Rule {
    id: "host-bound",
    summary: "the GPU waits for the host to launch its next work",
    documentation: "\
## What it finds
Traces in which the GPU has nothing to do because the host has not launched the next work yet.

## Why it costs time
A launch takes the host 5 to 20 µs, an operator of a framework more. Where kernels are shorter, or
the host stops to load data, to write a log or to read a result, the GPU runs out of work. Faster
kernels do not help there: it waits longer.

## Detection
Of each gap between the first start and the last end on a GPU: the time until the call that launches
the next work begins, and from there until the work starts. Together they take `share` of the span
or more. Savings: at most all of it. Needs a trace with launch calls.

## Remedy
Short kernels one after the other: a CUDA or HIP graph, `torch.compile`, fewer and larger kernels, a
larger batch. Calls that synchronize or copy: no `.item()`, `.cpu()` or synchronization inside a step.
Single long gaps: data loaders with workers and pinned memory that load ahead, logs and checkpoints
outside of the step.

## False positives
A profiler makes calls slower, so gaps are longer than without it. Loading, compilation and warm-up
are long gaps that come once: capture steps that repeat.

## Sources
NVIDIA technical blog, \"Getting Started with CUDA Graphs\"; PyTorch, *Performance Tuning Guide*, \"Avoid
unnecessary CPU-GPU synchronization\"; *Holistic Trace Analysis*, \"Idle Time Breakdown\".
",
    thresholds: &[SHARE],
    silences: &[],
    check: Check::Run(check),
};

const SHARE: Threshold =
    Threshold::new("share", 0.1, "1", "with less, most time is in the kernels");

/// Most of the waiting: its remedy is the first to try.
const MOST: f64 = 0.5;

/// Time on all GPUs whose launch calls are known.
#[derive(Default)]
struct Waits {
    gpus: usize,
    span: Seconds,
    host: Seconds,
    in_calls: Seconds,
    launch: Seconds,
    longest: Seconds,
}

impl Waits {
    fn of(run: &Run<'_>) -> Self {
        let mut all = Self::default();
        for timeline in &run.analysis.timelines {
            let Some(causes) = timeline.idle_causes else { continue };
            all.gpus += 1;
            all.span += timeline.span;
            all.host += causes.host;
            all.in_calls += causes.host_waiting;
            all.launch += causes.launch;
            all.longest = all.longest.max(causes.longest_host);
        }
        all
    }

    fn total(&self) -> Seconds {
        self.host + self.in_calls + self.launch
    }

    /// What most of it is, and what to try.
    fn most(&self, graph: &str) -> (String, String) {
        let least = self.total() * MOST;
        if self.longest >= least {
            let next = "find what the host does there: loading, compiling, logging";
            (format!("{} at once", si(self.longest, "s")), next.to_owned())
        } else if self.in_calls >= least {
            let what = format!("{} in calls that synchronize or copy", si(self.in_calls, "s"));
            (what, "avoid .item(), .cpu() and synchronizations".to_owned())
        } else if self.launch >= least {
            let what = format!("{} of launch latency", si(self.launch, "s"));
            (what, format!("use a {graph} or torch.compile"))
        } else {
            let what = format!("{} until launch calls", si(self.host + self.in_calls, "s"));
            (what, format!("use a {graph} or torch.compile; load data ahead"))
        }
    }
}

fn check(run: &Run<'_>) -> Result<Vec<Finding>, Missing> {
    if run.total() <= Seconds::ZERO {
        return Err(Missing("gpu__time_duration.sum"));
    }
    let waits = Waits::of(run);
    if waits.gpus == 0 {
        return Err(Missing("launch calls of a trace"));
    }
    let total = waits.total();
    let is_much = waits.span > Seconds::ZERO && total / waits.span >= run.threshold(&SHARE);
    if !is_much || total < least_shown(run.total()) {
        return Ok(Vec::new());
    }
    let share = total / waits.span;
    let (who, of) = match waits.gpus {
        1 => ("the GPU waits".to_owned(), "the span"),
        gpus => (format!("{gpus} GPUs wait"), "their spans"),
    };
    let (what, next) = waits.most(run.graph());
    let (time, percentage) = (si(total, "s"), percent(share));
    let message = format!("{who} {time} for the host ({percentage} of {of}); {what}");
    let mut finding = run
        .finding(message)
        .confidence(Confidence::Medium)
        .at_stake(total, "idle")
        .evidence("share of the span", share, "1")
        .evidence("host not launching", waits.host.get(), "s")
        .evidence("host in a synchronize or copy call", waits.in_calls.get(), "s")
        .evidence("launch latency", waits.launch.get(), "s")
        .evidence("longest time until a launch call", waits.longest.get(), "s")
        .next(next);
    // A profiler makes calls slower: how much of it is there without one is not known.
    finding.at_stake_low_s = 0.0;
    Ok(vec![finding])
}
