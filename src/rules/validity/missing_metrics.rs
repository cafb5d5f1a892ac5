//! Tells what the export lacks, what cannot be said without it, and the command that collects it.

use crate::analysis::Lack;
use crate::model::Profiler;
use crate::rules::{Check, Confidence, Finding, Missing, Rule, Run, Severity, Threshold};
use crate::units::Seconds;

pub(super) const RULE: Rule = Rule {
    id: "missing-metrics",
    summary: "the export lacks metrics that a verdict needs and the profiler could supply",
    documentation: "\
## What it finds
Metrics, or columns, without which kernels have no verdict, or only a bound of one, and which the profiler
that wrote the export can supply.

## Why it costs time
It costs none, but without durations, bytes and operations kernels cannot be compared with a roof, or only
with a lower bound of their expected time; without clocks, only with roofs at a clock they did not run at.

## How it decides
Kernels whose longest launch lacks such a metric take `share` of the run or more; where nothing has a
duration, that share of the launches. Bytes and operations that were not counted matter only in kernels
that are unmodeled or whose headroom is a bound. It is graver from `much` of the run on that cannot be
judged. Kernels that are bound by links need nothing. Where the profiler has no more to give, it says
nothing: `unmodeled-share` and `zero-means-unmodeled` tell what remains. What single rules lack is in
their tallies (JSON).

## What to try
The command that the finding prints; the file it writes is read together with this one, and launches are
joined. `rooflint inspect` lists everything that is missing, with the command metric by metric.

## When it is wrong
Kernels that certainly do none of the work that was not counted.

## Sources
*Nsight Compute CLI*, `--set`, `--section`, `--metrics`; *Nsight Compute Profiling Guide*, \"Sets and
Sections\"; NVIDIA, *PyProf* 3.11, `prof.py -c`.
",
    thresholds: &[SHARE, MUCH],
    silences: &[],
    check: Check::Run(check),
};

const SHARE: Threshold = Threshold::new("share", 0.01, "1", "less is not worth another profile");

const MUCH: Threshold =
    Threshold::new("much", 0.20, "1", "beyond, a fifth of the time has no place in the ranking");

fn check(run: &Run<'_>) -> Result<Vec<Finding>, Missing> {
    /// As many needs as a reader takes in.
    const TOLD: usize = 3;
    let analysis = run.analysis;
    let is_timed = run.total() > Seconds::ZERO;
    let share = |lack: &Lack| analysis.share_of(lack);
    let Some(supply) = analysis.supply(run.threshold(&SHARE)) else { return Ok(Vec::new()) };
    let (source, lacking, command) = (supply.source, supply.lacking, supply.command);
    let of = if is_timed { "time" } else { "launches" };
    let told: Vec<String> = lacking
        .iter()
        .take(TOLD)
        .map(|lack| {
            let percent = share(lack) * 100.0;
            format!("{} ({percent:.0}% of the {of}: {})", lack.need.what, lack.need.consequence)
        })
        .collect();
    let more = match lacking.len().saturating_sub(TOLD) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let unmodeled = run.share(analysis.totals.unmodeled);
    let grave = !is_timed || unmodeled >= run.threshold(&MUCH);
    let give_both =
        if source.profiler == Profiler::NsightCompute { ", and give both files" } else { "" };
    let mut finding = run
        .finding(format!("not in the export: {}{more}", told.join("; ")))
        .severity(if grave { Severity::Medium } else { Severity::Info })
        .confidence(Confidence::High)
        .next(format!("collect it with `{command}`{give_both}"));
    for lack in &lacking {
        finding = finding.evidence(format!("share without {}", lack.need.what), share(lack), "1");
    }
    Ok(vec![finding])
}

#[cfg(test)]
mod tests {
    use crate::model::{Pipe, Quantity};
    use crate::rules::Severity;
    use crate::rules::engine::bench_launches::{Bench, h100, pyprof};

    const RULE: &str = "missing-metrics";

    /// A kernel of 1 ms with all that an analysis needs, but for the quantities left out.
    fn kernel(bench: Bench, without: &[Quantity]) -> Bench {
        let pipes = [Pipe::Fp64Vector, Pipe::Fp32Vector, Pipe::Fp16Vector, Pipe::Fp16Matrix];
        let work = pipes.map(Quantity::Work);
        let others = [Quantity::DramBytes, Quantity::SmClock];
        let all = work.into_iter().chain(others).filter(|one| !without.contains(one));
        let all: Vec<(Quantity, f64)> = all.map(|one| (one, 1e9)).collect();
        bench.bare("k", (1000, 256), (1, 1000.0), &all)
    }

    #[test]
    fn tells_what_is_missing_and_the_command() {
        let found = kernel(h100().ncu(), &[Quantity::SmClock]).found(RULE);
        assert_eq!(
            found.message,
            "not in the export: SM clock (100% of the time: only datasheet peaks at boost clock, \
             which a locked clock cannot reach)"
        );
        assert_eq!(
            found.next.as_deref(),
            Some(
                "collect it with `ncu --csv --metrics sm__cycles_elapsed.avg.per_second APP > \
                 more.csv`, and give both files"
            )
        );
        assert_eq!((found.severity, found.at_stake_s), (Severity::Info, 0.0));
    }

    #[test]
    fn is_grave_where_nothing_can_be_judged() {
        let found = h100().ncu().bare("k", (1000, 256), (1, 1000.0), &[]).found(RULE);
        assert_eq!(found.severity, Severity::Medium);
        assert!(found.message.starts_with(
            "not in the export: DRAM bytes (100% of the time: no memory roof); FP32 operations"
        ));
        assert!(found.message.ends_with("; and 3 more"), "{}", found.message);
        assert!(found.next.is_some_and(|next| next.contains("--set roofline")));
        let untimed = h100().ncu().launch("k", (1000, 256), (1, f64::NAN), &[]).found(RULE);
        assert_eq!(untimed.severity, Severity::Medium);
        assert!(untimed.message.contains("time (100% of the launches: no launch can be judged)"));
    }

    #[test]
    fn stays_quiet_on_small_shares_and_where_nothing_more_can_be_had() {
        assert!(kernel(h100().ncu(), &[]).is_content(RULE));
        let mixed = kernel(h100().ncu(), &[]).bare("short", (1000, 256), (1, 5.0), &[]);
        assert!(mixed.is_content(RULE));
        // A user's own columns, and a table of PyProf with all columns.
        assert!(h100().bare("k", (1000, 256), (1, 1000.0), &[]).is_content(RULE));
        let zero = "\"strange\",\"strange\",\"na=na,\",\"100000\",\"0\",\"0\"";
        assert!(pyprof(&[zero]).is_content(RULE));
    }
}
