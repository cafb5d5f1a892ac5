//! Tells how long GPUs wait for the host between the pieces of their work.

use crate::analysis::are_traces;
use crate::rules::engine::run::LAUNCH_CALLS;
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
Of each gap between the first start and the last end on a GPU whose next work was launched after the
GPU fell idle: the time until the launch call begins, and from there until the work starts. They take
`share` of the span of a GPU or more; of several such GPUs times and spans are added up. Savings: at
most all of it. Needs a trace with launch calls.

## Remedy
Short kernels one after the other: a CUDA or HIP graph (PyTorch: `torch.compile`), fewer and larger kernels, a
larger batch. Calls that synchronize or copy: none inside a step (PyTorch: `.item()`, `.cpu()`, `print`).
Gaps of 1 ms or more: data loaders with workers and pinned memory that load ahead, logs and
checkpoints outside of the step.

## False positives
A profiler makes calls slower, so gaps are longer than without it. Loading of data and modules,
compilation and warm-up are long gaps or long calls that come once: capture steps that repeat. Work
that waits on the GPU after a late launch counts as launch latency.

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

/// A part of the long gaps that has a remedy of its own.
const MATERIAL: f64 = 0.1;

/// Time of the GPUs that wait.
#[derive(Default)]
struct Waits {
    gpus: usize,
    span: Seconds,
    host: Seconds,
    in_calls: Seconds,
    launch: Seconds,
    long: Seconds,
    long_launch: Seconds,
    long_gaps: u64,
}

impl Waits {
    /// Those of the GPUs that wait for this part of their span or more, as far as launch calls are known.
    fn of(run: &Run<'_>, least: f64) -> Self {
        let mut all = Self::default();
        let timelines = run.analysis.timelines.iter();
        for (span, causes) in timelines.filter_map(|one| Some((one.span, one.idle_causes?))) {
            let waits = causes.host + causes.host_waiting + causes.launch;
            if span <= Seconds::ZERO || waits / span < least {
                continue;
            }
            all.gpus += 1;
            all.span += span;
            all.host += causes.host;
            all.in_calls += causes.host_waiting;
            all.launch += causes.launch;
            all.long += causes.long_host;
            all.long_launch += causes.long_launch;
            all.long_gaps += causes.long_gaps;
        }
        all
    }

    fn total(&self) -> Seconds {
        self.host + self.in_calls + self.launch
    }

    /// What most of it is, and what to try.
    fn most(&self, run: &Run<'_>) -> (String, String) {
        let least = self.total() * MOST;
        let graph = match (run.graph(), run.is_in_graphs()) {
            (graph, true) => format!("put more of the step into each {graph}"),
            (graph, false) => format!("use a {graph} or torch.compile"),
        };
        if self.in_calls >= least {
            let what = format!("{} in calls that synchronize or copy", si(self.in_calls, "s"));
            (what, "avoid synchronizations (.item(), .cpu())".to_owned())
        } else if self.long >= least {
            let gaps = match self.long_gaps {
                1 => "one gap".to_owned(),
                gaps => format!("{gaps} gaps of 1 ms or more"),
            };
            let mut what = format!("{} in {gaps}", si(self.long, "s"));
            if self.long_launch >= self.long * MATERIAL {
                what += &format!(" ({} of it inside launch calls)", si(self.long_launch, "s"));
            }
            let next = if self.long_launch >= self.long * MOST {
                "warm up before profiling: a kernel's first launch loads its module"
            } else if self.long_launch >= self.long * MATERIAL {
                "find out what the host does then; warm up before profiling: first launches load modules"
            } else {
                "find out what the host does then: loading data, compiling, logging"
            };
            (what, next.to_owned())
        } else if self.launch >= least {
            (format!("{} of launch latency", si(self.launch, "s")), graph)
        } else {
            let what = format!("{} before launch calls", si(self.host + self.in_calls, "s"));
            (what, format!("{graph}; load data ahead"))
        }
    }
}

fn check(run: &Run<'_>) -> Result<Vec<Finding>, Missing> {
    if run.total() <= Seconds::ZERO {
        return Err(Missing("gpu__time_duration.sum"));
    }
    if run.analysis.timelines.iter().all(|one| one.idle_causes.is_none()) {
        return Err(LAUNCH_CALLS);
    }
    let waits = Waits::of(run, run.threshold(&SHARE));
    let total = waits.total();
    if waits.gpus == 0 || total < least_shown(run.total()) {
        return Ok(Vec::new());
    }
    let share = total / waits.span;
    let is_of_traces = are_traces(&run.analysis.timelines);
    let (who, of) = match (waits.gpus, run.gpus_of(waits.gpus)) {
        (_, None) => ("the GPU waits".to_owned(), "the span"),
        (1, Some(of)) if is_of_traces => (format!("in {of} the GPU waits"), "its span"),
        (_, Some(of)) if is_of_traces => (format!("in {of} the GPU waits"), "their spans"),
        (1, Some(of)) => (format!("{of} waits"), "its span"),
        (_, Some(of)) => (format!("{of} wait"), "their spans"),
    };
    let (what, next) = waits.most(run);
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
        .evidence("in gaps of 1 ms or more", waits.long.get(), "s")
        .evidence("of it inside launch calls", waits.long_launch.get(), "s")
        .next(next);
    // A profiler makes calls slower: how much of it is there without one is not known.
    finding.at_stake_low_s = 0.0;
    Ok(vec![finding])
}

#[cfg(test)]
mod tests {
    use crate::rules::engine::bench_launches::h100;

    #[test]
    fn cannot_judge_without_launch_calls() {
        let bench = h100().launch("k", (1000, 256), (1, 100.0), &[]);
        assert_eq!(bench.lacks("host-bound"), ["launch calls"]);
        let (_, tally) = bench.ask("host-bound");
        assert!(tally.cannot_judge == 1 && !tally.lacks_metrics());
    }
}
