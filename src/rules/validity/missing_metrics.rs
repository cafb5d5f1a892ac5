//! Tells what the export lacks, what cannot be said without it, and the command that collects it.

use crate::analysis::Lack;
use crate::model::Profiler;
use crate::rules::{Check, Confidence, Finding, Missing, Rule, Run, Severity, Threshold};
use crate::units::Seconds;

pub(super) const RULE: Rule = Rule {
    id: "missing-metrics",
    summary: "metrics needed for a verdict are missing and can be collected",
    documentation: "\
## What it finds
Metrics or columns without which kernels have no verdict, or only a bound, and which the profiler
that wrote the export can supply.

## Why it costs time
No time is lost, but without durations, bytes and operations a kernel cannot be compared with a
roof, or only with a lower bound of its roofline time. Without clocks, it is compared with roofs
at a clock it did not run at.

## Detection
Kernels whose longest launch lacks such a metric take `share` of the run or more; where nothing
has a duration, that share of the launches. Uncounted bytes and operations matter only in kernels
with no verdict or with a bound for headroom. The severity rises when `much` of the run cannot be
judged. Communication kernels need nothing. Where the profiler has nothing more to give,
`not-enough-data` and `zero-work-recorded` report what remains. Metrics that single rules lack
are in JSON.

## Remedy
Run the command printed with the finding and pass its file together with this one; launches are
matched. `rooflint inspect` lists everything that is missing, with the command metric by metric.

## False positives
Kernels that certainly do none of the uncounted work.

## Sources
*Nsight Compute CLI*, `--set`, `--section`, `--metrics`; *Nsight Compute Profiling Guide*, \"Sets and
Sections\"; NVIDIA, *PyProf* 3.11, `prof.py -c`.
",
    thresholds: &[SHARE, MUCH],
    silences: &[],
    check: Check::Run(check),
};

const SHARE: Threshold =
    Threshold::new("share", 0.01, "1", "a smaller share is not worth another profile");

const MUCH: Threshold =
    Threshold::new("much", 0.20, "1", "above this, a fifth of the time is not ranked");

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
            format!("{} ({percent:.0}% of the {of}: {})", lack.need.what, lack.consequence)
        })
        .collect();
    let more = match lacking.len().saturating_sub(TOLD) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let unmodeled = run.share(analysis.totals.unmodeled);
    let grave = !is_timed || unmodeled >= run.threshold(&MUCH);
    let give_both =
        if source.profiler == Profiler::NsightCompute { ", and pass both files" } else { "" };
    let mut finding = run
        .finding(format!("missing metrics: {}{more}", told.join("; ")))
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
            "missing metrics: SM clock (100% of the time: only datasheet peaks at boost clock are used, \
             which a locked clock cannot reach)"
        );
        assert_eq!(
            found.next.as_deref(),
            Some(
                "collect it with `ncu --csv --metrics sm__cycles_elapsed.avg.per_second APP > \
                 more.csv`, and pass both files"
            )
        );
        assert_eq!((found.severity, found.at_stake_s), (Severity::Info, 0.0));
    }

    #[test]
    fn is_grave_where_nothing_can_be_judged() {
        let found = h100().ncu().bare("k", (1000, 256), (1, 1000.0), &[]).found(RULE);
        assert_eq!(found.severity, Severity::Medium);
        assert!(found.message.starts_with(
            "missing metrics: DRAM bytes (100% of the time: no memory roof); FP32 operations"
        ));
        assert!(found.message.ends_with("; and 3 more"), "{}", found.message);
        assert!(found.next.is_some_and(|next| next.contains("--set roofline")));
        let untimed = h100().ncu().launch("k", (1000, 256), (1, f64::NAN), &[]).found(RULE);
        assert_eq!(untimed.severity, Severity::Medium);
        assert!(untimed.message.contains("time (100% of the launches: no launch can be analyzed)"));
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
