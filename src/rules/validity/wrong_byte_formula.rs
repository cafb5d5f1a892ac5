//! Tells that the profiler's formula for bytes is wrong, and which bytes were taken instead.

use crate::rules::{Check, Confidence, Finding, Missing, Rule, Run, Severity, Threshold};
use crate::units::{Bytes, Seconds, percent, si};

pub(super) const RULE: Rule = Rule {
    id: "wrong-byte-formula",
    summary: "the profiler's byte formula for matrix products is wrong",
    documentation: "\
## What it finds
Launches whose bytes `PyProf` computes with a wrong formula: `linear` layers and batched `matmul`.

## Why it costs time
No time is lost, but too few bytes make every such product look compute-bound, and headroom too
large where memory is the limit.

## Detection
The reported bytes equal the result of the wrong formula for the shapes in `Params`: for `linear`,
`m·n + m·k + n·k·size` instead of `size·(m·n + m·k + n·k)`; for `matmul`, one product instead of
the batch. They are recomputed, and the corrected ones are used. Without `Params` nothing can be
corrected: bytes of `linear` are then taken as one to four times the reported figure, those of
`matmul` as reported. Such launches take `share` of the run or more.

## Remedy
Export the table with `Params` (`-c …,params,…`) if some could not be corrected. Do not compare
these bytes with those of other tools.

## False positives
Shapes for which the right and the wrong formula nearly agree.

## Sources
NVIDIA, *PyProf* 3.11, `prof/linear.py` (precedence of `+` and `*`) and `prof/blas.py` (`Matmul`).
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
    let mended = || run.analysis.sources.iter().map(|source| source.mended);
    let repaired: u64 = mended().map(|one| one.repaired).sum();
    let unrepaired: u64 = mended().map(|one| one.unrepaired).sum();
    let time: Seconds = mended().map(|one| one.faulty_time).sum();
    let share = run.share(time);
    if repaired + unrepaired == 0 || share < run.threshold(&SHARE) {
        return Ok(Vec::new());
    }
    let printed: Bytes = mended().map(|one| one.printed).sum();
    let right: Bytes = mended().map(|one| one.right).sum();
    let mut told = Vec::new();
    if repaired > 0 {
        told.push(format!(
            "{}: reported {}, corrected to {}",
            counted(repaired),
            amount(printed),
            amount(right)
        ));
    }
    if unrepaired > 0 {
        told.push(format!("{}: cannot be corrected without shapes", counted(unrepaired)));
    }
    let known = (repaired > 0).then_some(());
    let mut finding = run
        .finding(format!(
            "the profiler's byte formula is wrong here ({}, {} of the run): {}",
            si(time, "s"),
            percent(share),
            told.join("; ")
        ))
        .severity(if unrepaired > 0 { Severity::Medium } else { Severity::Info })
        .confidence(Confidence::High)
        .evidence("corrected launches", repaired as f64, "1")
        .evidence("uncorrected launches", unrepaired as f64, "1")
        .evidence("time", time.get(), "s")
        .evidence("share of the run", share, "1")
        .evidence_if("bytes printed", known.map(|()| printed.get()), "B")
        .evidence_if("bytes used", known.map(|()| right.get()), "B");
    if unrepaired > 0 {
        finding = finding.next("export the table with the column params, which has the shapes");
    }
    Ok(vec![finding])
}

fn counted(launches: u64) -> String {
    format!("{launches} launch{}", if launches == 1 { "" } else { "es" })
}

/// Bytes with three digits, in the unit that suits them.
fn amount(bytes: Bytes) -> String {
    let (value, unit) = match bytes.get() {
        bytes if bytes >= 0.9995e9 => (bytes / 1e9, "GB"),
        bytes if bytes >= 0.9995e6 => (bytes / 1e6, "MB"),
        bytes => (bytes / 1e3, "kB"),
    };
    let digits = match value {
        value if value >= 99.95 => 0,
        value if value >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use crate::rules::Severity;
    use crate::rules::engine::bench_launches::pyprof;

    const RULE: &str = "wrong-byte-formula";

    /// M = 33278, N = 700, K = 200 in FP32, with these bytes printed.
    fn linear(params: &str, bytes: u64) -> String {
        format!(
            "\"volta_sgemm_128x64_tn\",\"linear\",\"{params}\",\"751000\",\"9317840000\",\"{bytes}\""
        )
    }

    const SHAPES: &str = "M=33278,N=(35,20),K=200,fp32,";

    #[test]
    fn tells_the_bytes_printed_and_the_right_ones() {
        let found = pyprof(&[&linear(SHAPES, 30_510_200)]).found(RULE);
        assert_eq!(
            found.message,
            "the profiler's byte formula is wrong here (751 µs, 100.0% of the run): 1 launch: \
             reported 30.5 MB, corrected to 120 MB"
        );
        assert_eq!((found.severity, found.at_stake_s), (Severity::Info, 0.0));
        let used = found.evidence.iter().find(|one| one.name == "bytes used").unwrap();
        assert_eq!((used.value, used.unit), (120_360_800.0, "B"));
    }

    #[test]
    fn warns_where_no_shapes_tell_them() {
        let found = pyprof(&[&linear("", 30_510_200)]).found(RULE);
        assert_eq!(found.severity, Severity::Medium);
        assert!(found.message.ends_with("1 launch: cannot be corrected without shapes"));
        assert!(found.next.is_some());
    }

    #[test]
    fn stays_quiet_on_right_bytes_and_small_shares() {
        assert!(pyprof(&[&linear(SHAPES, 120_360_800)]).is_content(RULE));
        let long = "\"relu\",\"relu\",\"T=(1000,),fp32,\",\"900000000\",\"1000\",\"8000\"";
        assert!(pyprof(&[&linear(SHAPES, 30_510_200), long]).is_content(RULE));
    }
}
