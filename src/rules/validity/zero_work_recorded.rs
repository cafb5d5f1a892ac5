//! Tells that zeros of a profiler that counts from shapes were taken as missing.

use crate::rules::{Check, Confidence, Finding, Missing, Rule, Run, Severity, Threshold};
use crate::units::{Seconds, percent, si};

pub(super) const RULE: Rule = Rule {
    id: "zero-work-recorded",
    summary: "the profiler reports zero operations and bytes for work it did not count",
    documentation: "\
## What it finds
Launches that `PyProf` reports with 0 FLOPs and 0 bytes.

## Why it costs time
No time is lost, but `PyProf` prints zeros for operators without a formula and for helper kernels
of those with one. Taken literally, such kernels would be infinitely far from every roof and sums
over the run too small. They are treated as missing and are not ranked. `not-enough-data` names
the longest of them.

## Detection
Launches with both zeros, for which the operator's shapes show nothing either, take `share` of the
run or more.

## Remedy
Measure the longest of them with Nsight Compute, or write down what they must move and compare
(`rooflint predict`).

## False positives
Operators that only rename a tensor launch nothing, but some helper kernels do no countable work.

## Sources
NVIDIA, *PyProf* 3.11, `prof/base.py` and `prof/prof.py`: operators that are not known count as zero.
",
    thresholds: &[SHARE],
    silences: &[],
    check: Check::Run(check),
};

const SHARE: Threshold = Threshold::new("share", 0.01, "1", "from here it can matter");

fn check(run: &Run<'_>) -> Result<Vec<Finding>, Missing> {
    if run.total() <= Seconds::ZERO {
        return Err(Missing("Sil(ns)"));
    }
    let sources = &run.analysis.sources;
    let launches: u64 = sources.iter().map(|source| source.mended.zeros).sum();
    let time: Seconds = sources.iter().map(|source| source.mended.zero_time).sum();
    let share = run.share(time);
    if launches == 0 || share < run.threshold(&SHARE) {
        return Ok(Vec::new());
    }
    let plural = if launches == 1 { "" } else { "es" };
    let finding = run
        .finding(format!(
            "the profiler recorded no work for {launches} launch{plural} ({}, {} of the run)",
            si(time, "s"),
            percent(share)
        ))
        .severity(Severity::Info)
        .confidence(Confidence::High)
        .evidence("launches", launches as f64, "1")
        .evidence("time", time.get(), "s")
        .evidence("share of the run", share, "1")
        .next(format!("profile the longest of them with {}", run.analysis.counting_profiler()));
    Ok(vec![finding])
}

#[cfg(test)]
mod tests {
    use crate::rules::Severity;
    use crate::rules::engine::bench_launches::pyprof;

    const RULE: &str = "zero-work-recorded";

    #[test]
    fn tells_how_many_and_how_long() {
        let rows = [
            "\"sgemm\",\"linear\",\"M=1024,N=1024,K=1024,fp32,\",\"900000\",\"2147483648\",\"12582912\"",
            "\"strange\",\"strange\",\"na=na,\",\"100000\",\"0\",\"0\"",
        ];
        let found = pyprof(&rows).found(RULE);
        assert_eq!(
            found.message,
            "the profiler recorded no work for 1 launch (100 µs, 10.0% of the run)"
        );
        assert_eq!((found.severity, found.at_stake_s), (Severity::Info, 0.0));
    }

    #[test]
    fn stays_quiet_on_counts_small_shares_and_empty_cells() {
        let known = "\"sgemm\",\"linear\",\"M=1024,N=1024,K=1024,fp32,\",\"900000\",\"2147483648\",\"12582912\"";
        assert!(pyprof(&[known]).is_content(RULE));
        let short = "\"strange\",\"strange\",\"na=na,\",\"1000\",\"0\",\"0\"";
        assert!(pyprof(&[known, short]).is_content(RULE));
        let empty = "\"strange\",\"strange\",\"na=na,\",\"100000\",\"na\",\"na\"";
        assert!(pyprof(&[known, empty]).is_content(RULE));
    }
}
