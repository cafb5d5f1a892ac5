//! Tells how much of a run the roofline says nothing about, and why.

use crate::analysis::State;
use crate::rules::engine::shares::Together;
use crate::rules::{Check, Confidence, Finding, Missing, Rule, Run, Severity, Threshold};

pub(super) const RULE: Rule = Rule {
    id: "not-enough-data",
    summary: "a notable share of the run has not enough data for a verdict",
    documentation: "\
## What it finds
Time of kernels that cannot be compared with a roof because the export lacks what is needed.

## Why it costs time
No time is lost, but potential savings in these kernels are in no sum, and the best opportunity
may be among them.

## Detection
Kernels without a verdict take `share` of the run or more. From `much` on, the ranking itself is
in doubt.

## Remedy
Collect the missing metrics: `missing-metrics` prints the command where the profiler can supply
them. Set the device with `--device` where its roofs are unknown.

## False positives
Kernels without floating-point work (sorts, indexing, copies without byte counters) may not
matter.

## Sources
*Nsight Compute Profiling Guide*, \"Sets and Sections\"; *Nsight Compute CLI*, `--metrics`.
",
    thresholds: &[SHARE, MUCH],
    silences: &[],
    check: Check::Run(check),
};

const SHARE: Threshold =
    Threshold::new("share", 0.05, "1", "the share that makes other findings high severity");

const MUCH: Threshold =
    Threshold::new("much", 0.20, "1", "above this, a fifth of the time is not ranked");

fn check(run: &Run<'_>) -> Result<Vec<Finding>, Missing> {
    let unknown = Together::of(run, |kernel| kernel.state == State::NotEnoughData)?;
    if unknown.kernels.is_empty() || unknown.share < run.threshold(&SHARE) {
        return Ok(Vec::new());
    }
    let count = unknown.kernels.len();
    // The longest speaks for the others: their reasons are mostly alike.
    let longest = unknown.kernels.first();
    let reason = longest.map_or_else(String::new, |kernel| kernel.reason.to_string());
    let plural = if count == 1 { "" } else { "s" };
    let message = format!(
        "not enough data for {count} kernel{plural} ({}); the longest: {reason}",
        unknown.words()
    );
    let is_much = unknown.share >= run.threshold(&MUCH);
    // Nothing can be held against roofs that are not known; no metric would change that.
    let device = unknown.kernels.first().map(|kernel| &run.analysis.devices[kernel.device]);
    let is_nameless = device.is_some_and(|used| used.device.is_none());
    let severity = match (is_much, is_nameless) {
        (true, true) => Severity::High,
        (true, false) => Severity::Medium,
        (false, _) => Severity::Info,
    };
    let finding = unknown
        .finding(run, message)
        .severity(severity)
        .confidence(Confidence::High)
        .evidence("kernels", count as f64, "1");
    Ok(vec![if is_nameless {
        finding.next("set the GPU with --device NAME; `rooflint devices` lists them")
    } else {
        finding
    }])
}

#[cfg(test)]
mod tests {
    use crate::model::DeviceHint;
    use crate::rules::Severity;
    use crate::rules::engine::bench_launches::h100;

    const RULE: &str = "not-enough-data";

    #[test]
    fn tells_their_share_and_the_reason() {
        let bench = h100().launch("a", (1000, 256), (1, 900.0), &[]).bare(
            "b",
            (1000, 256),
            (1, 100.0),
            &[],
        );
        let found = bench.found(RULE);
        assert_eq!(
            found.message,
            "not enough data for 1 kernel (1 launch, 100 µs, 10.0% of the run); the longest: neither FLOPs nor DRAM bytes were collected"
        );
        assert_eq!(found.severity, Severity::Info);
    }

    #[test]
    fn asks_for_the_device_where_it_is_not_known() {
        let bench = h100().launch("b", (1000, 256), (1, 100.0), &[]);
        let bench = bench.then_on(DeviceHint::default());
        let found = bench.launch("a", (1000, 256), (1, 900.0), &[]).found(RULE);
        assert_eq!(found.severity, Severity::High);
        assert!(found.next.is_some_and(|next| next.contains("--device")), "{}", found.message);
    }

    #[test]
    fn stays_quiet_where_all_are_judged() {
        assert!(h100().launch("a", (1000, 256), (1, 900.0), &[]).is_content(RULE));
    }
}
