//! The decision for programs: versioned JSON, units in the keys, `null` for missing.
//!
//! Within a major version keys are only added. The schema is published from these types.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::policy::PolicyDocument;
use super::{GateOutput, GateReport, places};
use crate::compare::{
    Basis, Change, Common, Comparison, Contributions, Coverage, Evidence, Inferred, Lone,
    MatchLevel, Measured, OddRun, Side, WorkChange,
};
use crate::gate::{Check, Guess, Outcome, Verdict};
use crate::report::view::Style;
use crate::units::{Factor, Probability, RelativeChange, Share, Shift};

pub(super) const OUTPUT: GateOutput = GateOutput {
    name: "json",
    endings: &["json"],
    summary: "everything, for programs; versioned, with a schema",
    render,
};

/// Name of the document type; the number is its major version.
const SCHEMA: &str = "rooflint/gate/2";

/// The decision of a gate, or the result of a comparison.
///
/// Shifts are natural logarithms of ratios; changes, limits and intervals are relative (0.1 is 10%
/// more); shares lie between 0 and 1.
#[derive(Serialize, JsonSchema)]
struct Document<'a> {
    /// Type and major version of this document.
    schema: &'static str,
    /// Version of rooflint that wrote it.
    rooflint: &'static str,
    /// Overall result.
    outcome: Outcome,
    /// True for `gate`, which decides; false for `diff`, which only informs.
    decides: bool,
    /// True if the policy only warns: the outcome is reported, but the command does not fail.
    warn_only: bool,
    /// Reason of the outcome, in one sentence.
    reason: &'a str,
    /// Command line of this run, if known.
    command: Option<&'a str>,
    /// Number of kernels (and the whole run) per verdict; absent verdicts did not occur.
    counts: BTreeMap<&'static str, usize>,
    /// All checks: failing and inconclusive ones first, then by severity.
    checks: Vec<CheckDocument<'a>>,
    /// The comparison of both sides; `null` if only bounds were checked, which need no baseline.
    comparison: Option<ComparisonDocument<'a>>,
    /// The runs, if only bounds were checked; else they are in the comparison.
    current: Option<&'a Side>,
    /// Guesses at what happened to new and vanished kernels; they never affect a verdict.
    guesses: &'a [Guess],
    /// Sensitivity: the relative slowdown that would be detected in kernels covering half the run
    /// time.
    detectable_change: Option<RelativeChange>,
    /// The part of gates that find a slowdown of this size; 0.9 is nine of ten.
    detectable_power: Option<Probability>,
    /// The policy.
    policy: PolicyDocument<'a>,
    /// Method, in sentences.
    method: &'a [String],
    /// Caveats, one sentence each.
    notes: &'a [String],
}

#[derive(Serialize, JsonSchema)]
struct CheckDocument<'a> {
    #[serde(flatten)]
    check: &'a Check,
    /// Stable for the same rule and kernel, whatever the numbers.
    fingerprint: String,
    /// Location of the kernel's source code, if the policy has it.
    code: Option<CodeDocument>,
}

#[derive(Serialize, JsonSchema)]
struct CodeDocument {
    /// Path from the root of the repository.
    file: String,
    /// Line number, from 1.
    line: u32,
}

#[derive(Serialize, JsonSchema)]
struct ComparisonDocument<'a> {
    /// What both sides have in common that is compared: times, or ratios to the roofline.
    basis: Basis,
    /// The runs of the baseline.
    baseline: &'a Side,
    /// The current runs.
    current: &'a Side,
    /// Order in which runs were taken; `null` if it was not declared.
    order: Option<&'a str>,
    /// Work of the current runs relative to the baseline, as a ratio.
    work_ratio: Factor,
    /// Shift of the whole run, for the same amount of work.
    total: ShiftDocument<'a>,
    /// Shift of the total if every launch took the median time of its kernel, as a logarithm; only
    /// for one run per side.
    total_typical_shift: Option<Shift>,
    /// The same with what all kernels share subtracted; `null` with one run per side.
    total_own: Option<ShiftDocument<'a>>,
    /// How much of the baseline's time is compared, as shares of it.
    coverage: Coverage,
    /// Runs that were left out of the total or of the common shift.
    odd_runs: &'a [OddRun],
    /// By how much kernels that do other work should have changed the total, as a ratio; 1 where work is
    /// not normalized.
    other_work_ratio: Factor,
    /// What the change of the total is made of.
    contributions: &'a Contributions,
    /// Global shift of all kernels.
    common: &'a Common,
    /// Kernels of both sides, most time first.
    changes: Vec<ChangeDocument<'a>>,
    /// Kernels that only the current side has.
    new: Vec<LoneDocument<'a>>,
    /// Kernels that only the baseline has.
    vanished: Vec<LoneDocument<'a>>,
    /// Why the current side looks truncated; `null` if it does not.
    cut_off: Option<&'a str>,
    /// Differences between the sides that make the comparison doubtful.
    doubts: &'a [String],
    /// Caveats, one sentence each.
    notes: &'a [String],
}

/// A shift as a relative change, with its evidence.
#[derive(Serialize, JsonSchema)]
struct ShiftDocument<'a> {
    /// Relative change; `null` if it is unbounded.
    change: Option<RelativeChange>,
    /// Lower end of its interval, as a relative change.
    low_change: Option<RelativeChange>,
    /// Upper end of its interval, as a relative change.
    high_change: Option<RelativeChange>,
    /// The shift on the logarithmic scale, with counts and spreads.
    evidence: &'a Evidence,
}

#[derive(Serialize, JsonSchema)]
struct ChangeDocument<'a> {
    /// Name of the kernel in the current runs.
    name: &'a str,
    /// Name in the baseline, if different.
    was: Option<&'a str>,
    /// How the kernels of both sides were matched.
    matched: MatchLevel,
    /// Number of baseline kernels that are joined.
    kernels_before: usize,
    /// Number of current kernels that are joined.
    kernels_after: usize,
    /// What the baseline measured.
    before: &'a Measured,
    /// What the current runs measured.
    after: &'a Measured,
    /// Shift as measured.
    raw: Option<ShiftDocument<'a>>,
    /// Shift with the global shift subtracted.
    own: Option<ShiftDocument<'a>>,
    /// Why there is no shift, if there is none.
    missing: Option<&'a str>,
    /// Shift of the number of launches, as a logarithm.
    launches_shift: Shift,
    /// Shift in SM cycles; `null` if a side has no clocks.
    cycles: Option<ShiftDocument<'a>>,
    /// Shift of the mean launch, as a logarithm.
    mean_shift: Option<Shift>,
    /// Mann–Whitney probability of the ranks if launches were independent; informational only.
    p_launches: Option<Probability>,
    /// By how much the work of a launch changed; `null` where it did not, or was not counted.
    work: Option<WorkChange>,
    /// What probably became of kernels that are compared as one; `null` where names match.
    inferred: Option<&'a Inferred>,
}

#[derive(Serialize, JsonSchema)]
struct LoneDocument<'a> {
    /// Name of the kernel.
    name: &'a str,
    /// What was measured of it.
    measured: &'a Measured,
}

/// Returns the JSON schema of a gate's decision, as pretty-printed JSON.
#[must_use]
pub fn gate_schema() -> String {
    crate::json::schema::<Document<'_>>(
        "gate-2",
        "Decision of rooflint gate, or comparison of rooflint diff",
    )
}

fn render(report: &GateReport<'_>, _: &Style) -> String {
    serde_json::to_string_pretty(&document(report)).unwrap_or_default() + "\n"
}

fn document<'a>(report: &GateReport<'a>) -> Document<'a> {
    let decision = report.decision;
    let checks = decision.checks.iter().map(|check| CheckDocument {
        check,
        fingerprint: check.fingerprint(),
        code: places::code(report, check)
            .map(|place| CodeDocument { file: place.path, line: place.line }),
    });
    let counted = |verdict: &Verdict| Some((key(*verdict), *decision.counts.get(verdict)?));
    Document {
        schema: SCHEMA,
        rooflint: env!("CARGO_PKG_VERSION"),
        outcome: decision.outcome,
        decides: decision.decides,
        warn_only: decision.warn_only,
        reason: &decision.reason,
        command: report.command,
        counts: Verdict::ALL.iter().filter_map(counted).collect(),
        checks: checks.collect(),
        comparison: decision.comparison.as_ref().map(comparison),
        current: decision.alone.as_ref(),
        guesses: &decision.guesses,
        detectable_change: decision.detectable.map(|seen| seen.change),
        detectable_power: decision.detectable.map(|seen| seen.power),
        policy: PolicyDocument::of(report.policy),
        method: &decision.method,
        notes: &decision.notes,
    }
}

/// Returns the name of a verdict in machine formats, as `serde` writes it.
fn key(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Regression => "regression",
        Verdict::Violation => "violation",
        Verdict::Ambiguous => "ambiguous",
        Verdict::Incomparable => "incomparable",
        Verdict::NoData => "no_data",
        Verdict::OtherWork => "other_work",
        Verdict::ImplausibleImprovement => "implausible_improvement",
        Verdict::New => "new",
        Verdict::Vanished => "vanished",
        Verdict::Improvement => "improvement",
        Verdict::Unchanged => "unchanged",
        Verdict::WithinBounds => "within_bounds",
    }
}

fn comparison(both: &Comparison) -> ComparisonDocument<'_> {
    ComparisonDocument {
        basis: both.basis,
        baseline: &both.baseline,
        current: &both.current,
        order: both.order.as_deref(),
        work_ratio: both.work,
        // What compares nothing is no change of zero.
        total: ShiftDocument {
            change: shift(&both.total).change.filter(|_| both.coverage.compared > Share::ZERO),
            ..shift(&both.total)
        },
        total_own: both.total_own.as_ref().map(shift),
        coverage: both.coverage,
        odd_runs: &both.odd,
        total_typical_shift: both.total_typical,
        other_work_ratio: both.other_work,
        contributions: &both.contributions,
        common: &both.common,
        changes: both.changes.iter().map(change).collect(),
        new: both.new.iter().map(lone).collect(),
        vanished: both.vanished.iter().map(lone).collect(),
        cut_off: both.cut_off.as_deref(),
        doubts: &both.doubts,
        notes: &both.notes,
    }
}

fn shift(evidence: &Evidence) -> ShiftDocument<'_> {
    let relative = |shift: Shift| Some(shift.change()).filter(|change| change.get().is_finite());
    ShiftDocument {
        change: relative(evidence.shift),
        low_change: evidence.low.and_then(relative),
        high_change: evidence.high.and_then(relative),
        evidence,
    }
}

fn change(change: &Change) -> ChangeDocument<'_> {
    ChangeDocument {
        name: &change.name,
        was: change.was.as_deref(),
        matched: change.pair.level,
        kernels_before: change.pair.before.len(),
        kernels_after: change.pair.after.len(),
        before: &change.before,
        after: &change.after,
        raw: change.raw.as_ref().map(shift),
        own: change.own.as_ref().map(shift),
        missing: change.missing.as_deref(),
        launches_shift: change.launches_shift,
        cycles: change.cycles.as_ref().map(shift),
        mean_shift: change.mean_shift,
        p_launches: change.p_launches,
        work: change.work,
        inferred: change.inferred.as_ref(),
    }
}

fn lone(lone: &Lone) -> LoneDocument<'_> {
    LoneDocument { name: &lone.name, measured: &lone.measured }
}
