//! Tells how much of a run goes into communication between devices.

use crate::analysis::Timeline;
use crate::rules::engine::run::START_TIMES;
use crate::rules::engine::shares::Together;
use crate::rules::{Check, Confidence, Finding, Missing, Rule, Run, Threshold, least_shown};
use crate::taxonomy::{Category, Kind};
use crate::units::{Seconds, percent, si};

pub(super) const RULE: Rule = Rule {
    id: "communication-share",
    summary: "communication between devices takes a large share of the run",
    documentation: "\
## What it finds
Collectives (NCCL, RCCL and similar) and copies between devices, as a share of the run.

## Why it costs time
Links between devices have a fraction of the bandwidth of device memory. Communication that does
not overlap with kernels leaves the device idle.

## Detection
Communication takes `share` of the run or more. In a trace with start times also where the exposed
communication (no computation runs at the same time, and beside copies nothing else) is `exposed` of the span of a GPU or more; savings
are at most that, of those GPUs. Summaries do not show overlap, so no savings are claimed there,
and a share of `exposed` or more, but below `share`, cannot be judged. A collective also waits for its
slowest rank.

## Remedy
Overlap with the backward pass; use larger buckets, fewer ranks per collective, or a narrower
format. Compare ranks: the one that waits least is the one the others wait for.

## False positives
Communication that overlaps with kernels costs only the SMs it occupies.

## Sources
NCCL documentation; PyTorch documentation, \"Distributed Data Parallel\"; S. Li et al., *PyTorch
Distributed*, VLDB 2020.
",
    thresholds: &[SHARE, EXPOSED],
    silences: &[],
    check: Check::Run(check),
};

const SHARE: Threshold = Threshold::new(
    "share",
    0.10,
    "1",
    "communication often overlaps; a smaller share is rarely the cause",
);

const EXPOSED: Threshold = Threshold::new(
    "exposed",
    0.03,
    "1",
    "nothing hides it; less of the span is hardly worth another schedule",
);

/// Time in which GPUs communicate and do not compute: kernels of communication run, or nothing but copies between devices.
struct Exposed {
    time: Seconds,
    /// Part of it that is of copies.
    copies: Seconds,
    span: Seconds,
    /// The GPUs that it is of.
    gpus: usize,
}

impl Exposed {
    /// That of the GPUs which have it for this part of their span.
    fn of(run: &Run<'_>, least: f64) -> Option<Self> {
        let timelines = run.analysis.timelines.iter();
        let waits = timelines.map(|one| Self {
            time: alone(one),
            copies: copies(one),
            span: one.span,
            gpus: 1,
        });
        let waits = waits.filter(|one| one.span > Seconds::ZERO && one.time / one.span >= least);
        waits.reduce(|one, two| Self {
            time: one.time + two.time,
            copies: one.copies + two.copies,
            span: one.span + two.span,
            gpus: one.gpus + two.gpus,
        })
    }

    /// `44.4% of the span`; which GPUs, where there are several.
    fn share(&self, run: &Run<'_>) -> String {
        let share = percent(self.time / self.span);
        match (self.gpus, run.gpus_of(self.gpus)) {
            (_, None) => format!("{share} of the span"),
            (1, Some(of)) => format!("{share} of the span of {of}"),
            (_, Some(of)) => format!("{share} of the spans of {of}"),
        }
    }
}

/// Time of one GPU.
fn alone(timeline: &Timeline) -> Seconds {
    timeline.exposed_communication + copies(timeline)
}

/// Part of it with nothing but copies between devices.
fn copies(timeline: &Timeline) -> Seconds {
    timeline.copies.as_ref().map_or(Seconds::ZERO, |copies| copies.peers_alone)
}

fn check(run: &Run<'_>) -> Result<Vec<Finding>, Missing> {
    let links = Together::of(run, |kernel| {
        kernel.class.category == Category::Communication
            || kernel.class.kind == Some(Kind::MemcpyPeer)
    })?
    .and_moved(run, &[Kind::MemcpyPeer]);
    let exposed = Exposed::of(run, run.threshold(&EXPOSED))
        .filter(|exposed| exposed.time >= least_shown(run.total()));
    if links.share < run.threshold(&SHARE) && exposed.is_none() {
        // How much of it nothing hides is not known.
        let may_be_exposed =
            run.analysis.timelines.is_empty() && links.share >= run.threshold(&EXPOSED);
        return if may_be_exposed { Err(START_TIMES) } else { Ok(Vec::new()) };
    }
    // A timeline says that computation runs beside all of it.
    let timelines = &run.analysis.timelines;
    let is_hidden =
        !timelines.is_empty() && timelines.iter().all(|one| alone(one) == Seconds::ZERO);
    let longest = links.kernels.first().map(|kernel| kernel.mean());
    let mut words = links.words();
    if let (Some(longest), true) = (longest, links.launches > 1) {
        words.push_str(&format!(", {} per launch of the longest", si(longest, "s")));
    }
    let message = match &exposed {
        None => format!("communication: {words}"),
        Some(exposed) => {
            let (time, share) = (si(exposed.time, "s"), exposed.share(run));
            // A timeline counts exposed copies apart from communication.
            let copies =
                if exposed.copies > Seconds::ZERO { " and copies between devices" } else { "" };
            format!("{time} of exposed communication{copies} ({share}); in all {words}")
        }
    };
    let mut finding = links
        .finding(run, message)
        .confidence(Confidence::High)
        .evidence_if("longest kernel's time per launch", longest.map(Seconds::get), "s")
        .next(if is_hidden {
            "compare the ranks: computation hides it here, and it takes SMs and bandwidth from what runs beside it"
        } else {
            "compare the ranks, and overlap communication with the backward pass"
        });
    if let Some(exposed) = exposed {
        finding = finding.at_stake(exposed.time, "exposed");
        // Part of it may be waiting for the slowest rank, which overlap does not end.
        finding.at_stake_low_s = 0.0;
    }
    Ok(vec![finding])
}

#[cfg(test)]
mod tests {
    use crate::rules::Severity;
    use crate::rules::engine::bench_launches::h100;

    const RULE: &str = "communication-share";

    #[test]
    fn tells_its_share_and_promises_nothing() {
        let name = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
        let bench = h100().bare(name, (24, 512), (4, 100.0), &[]).launch(
            "sgemm_128x128",
            (1000, 256),
            (1, 600.0),
            &[],
        );
        let found = bench.found(RULE);
        assert!(found.message.starts_with("communication: 4 launches, 400 µs, 40.0% of the run"));
        assert_eq!((found.severity, found.at_stake_s), (Severity::Info, 0.0));
    }

    /// 40 of 1000 µs are more than may be exposed for nothing, and 20 are not.
    #[test]
    fn cannot_judge_a_smaller_share_without_start_times() {
        let name = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
        let bench = |time: f64| {
            let rest = (1, 1000.0 - time);
            h100().bare(name, (24, 512), (1, time), &[]).launch("k", (1000, 256), rest, &[])
        };
        assert_eq!(bench(40.0).lacks(RULE), ["start times"]);
        assert!(bench(20.0).is_content(RULE));
    }

    #[test]
    fn stays_quiet_without_it() {
        assert!(h100().launch("k", (1000, 256), (1, 100.0), &[]).is_content(RULE));
    }

    /// A kernel of 100 µs and a copy between devices of 60 µs behind it, or beside it.
    #[test]
    fn copies_between_devices_are_exposed_where_nothing_runs_beside_them() {
        use crate::ingest::{Options, read_text};
        use crate::session::Session;
        let found = |copied: u32| {
            let event = |cat: &str, name: &str, stream: u32, start: u32, time: u32| {
                format!(
                    r#"{{"ph": "X", "cat": "{cat}", "name": "{name}", "pid": 0, "tid": {stream}, "ts": {start}.5, "dur": {time}.0, "args": {{"device": 0, "stream": {stream}, "bytes": 1000, "grid": [9000, 1, 1], "block": [256, 1, 1]}}}}"#
                )
            };
            let events = (0..100_u32).map(|at| {
                let start = 200 * at;
                let kernel = event("kernel", "k", 7, start, 100);
                kernel
                    + ", "
                    + &event("gpu_memcpy", "Memcpy PtoP (Device -> Device)", 8, start + copied, 60)
            });
            let events = events.collect::<Vec<_>>().join(", ");
            let text = format!(r#"{{"schemaVersion": 1, "traceEvents": [{events}]}}"#);
            let profile = read_text("trace.json", text.leak(), &Options::default()).unwrap();
            let judged =
                Session::default().on(Some("H100 SXM5 80GB".to_owned())).judge(&profile).unwrap();
            let mut findings = judged.findings.run.into_iter().filter(|one| one.rule == RULE);
            let found = findings.next().unwrap();
            (found.message, (found.at_stake_s * 1e6).round(), found.next.unwrap_or_default())
        };
        let (message, stake, _) = found(110);
        assert!(
            message.starts_with("6.00 ms of exposed communication and copies between devices"),
            "{message}"
        );
        assert_eq!(stake, 6000.0);
        let (message, stake, next) = found(20);
        assert!(message.starts_with("communication: ") && stake == 0.0, "{message}");
        assert!(next.contains("computation hides it here"), "{next}");
    }
}
