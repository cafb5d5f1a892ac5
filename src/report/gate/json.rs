//! The decision for programs: versioned JSON, units in the keys, `null` for missing.
//!
//! Within a major version keys are only added. The schema is published from these types.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::policy::PolicyDocument;
use super::{GateOutput, GateReport, places};
use crate::compare::{
    Basis, Change, Common, Comparison, Evidence, Lone, MatchLevel, Measured, Side,
};
use crate::gate::{Check, Guess, Outcome, Verdict};
use crate::report::view::Style;
use crate::units::{Factor, Probability, RelativeChange, Shift};

pub(super) const OUTPUT: GateOutput = GateOutput {
    name: "json",
    endings: &["json"],
    summary: "everything, for programs; versioned, with a schema",
    render,
};

/// Name of the document type; the number is its major version.
const SCHEMA: &str = "rooflint/gate/2";

/// What a gate decided, or what a comparison told.
///
/// Shifts are natural logarithms of ratios; changes, limits and intervals are relative (0.1 is 10%
/// more); shares lie between 0 and 1.
#[derive(Serialize, JsonSchema)]
struct Document<'a> {
    /// Type and major version of this document.
    schema: &'static str,
    /// Version of the program that wrote it.
    rooflint: &'static str,
    /// How it ends.
    outcome: Outcome,
    /// Whether it decides; a comparison only informs.
    decides: bool,
    /// Whether the policy only warns: the outcome stands, and fails nothing.
    warn_only: bool,
    /// Why, in one sentence.
    reason: &'a str,
    /// The command that asked, where it is known.
    command: Option<&'a str>,
    /// Kernels (and the whole) per verdict; a verdict that is absent did not occur.
    counts: BTreeMap<&'static str, usize>,
    /// Everything that was checked: what decided first, the gravest first within.
    checks: Vec<CheckDocument<'a>>,
    /// Both sides beside each other; `null` where only bounds were checked that need no baseline.
    comparison: Option<ComparisonDocument<'a>>,
    /// What may have become of new and vanished kernels: never used for a verdict.
    guesses: &'a [Guess],
    /// The slowdown that would have been seen in kernels with half of the time, as a relative change.
    detectable_change: Option<RelativeChange>,
    /// What the policy allows.
    policy: PolicyDocument<'a>,
    /// How it was judged, in sentences.
    method: &'a [String],
    /// What a reader must know.
    notes: &'a [String],
}

#[derive(Serialize, JsonSchema)]
struct CheckDocument<'a> {
    #[serde(flatten)]
    check: &'a Check,
    /// Stays the same for the same rule and kernel, whatever the numbers.
    fingerprint: String,
    /// Where the code of the kernel is, where the policy tells.
    code: Option<CodeDocument>,
}

#[derive(Serialize, JsonSchema)]
struct CodeDocument {
    /// From the root of the repository.
    file: String,
    /// From 1.
    line: u32,
}

#[derive(Serialize, JsonSchema)]
struct ComparisonDocument<'a> {
    basis: Basis,
    baseline: &'a Side,
    current: &'a Side,
    /// Order in which runs were taken; `null` where it was not declared.
    order: Option<&'a str>,
    /// How much more work the current runs hold, as a ratio.
    work_ratio: Factor,
    /// The whole run, for the same amount of work.
    total: ShiftDocument<'a>,
    /// The same with every launch taken for a typical one of its kernel, as a logarithm: only for one
    /// run a side.
    total_typical_shift: Option<Shift>,
    /// What all kernels share.
    common: &'a Common,
    /// Kernels of both sides, those with most time first.
    changes: Vec<ChangeDocument<'a>>,
    /// Kernels that only the current side has.
    new: Vec<LoneDocument<'a>>,
    /// Kernels that only the baseline has.
    vanished: Vec<LoneDocument<'a>>,
    /// Why the current side looks cut off; `null` where it does not.
    cut_off: Option<&'a str>,
    /// What makes the comparison doubtful.
    doubts: &'a [String],
    /// What a reader must know.
    notes: &'a [String],
}

/// A shift as people read it, with all that is known of it.
#[derive(Serialize, JsonSchema)]
struct ShiftDocument<'a> {
    /// The shift as a relative change; `null` where it has no bounds.
    change: Option<RelativeChange>,
    /// Lower end of its interval.
    low_change: Option<RelativeChange>,
    /// Upper end of its interval.
    high_change: Option<RelativeChange>,
    /// The same on the logarithmic scale, with counts and spreads.
    evidence: &'a Evidence,
}

#[derive(Serialize, JsonSchema)]
struct ChangeDocument<'a> {
    /// How the kernel is called in the current runs.
    name: &'a str,
    /// How it was called, if differently.
    was: Option<&'a str>,
    /// How surely the kernels of both sides are the same.
    matched: MatchLevel,
    /// Kernels of the baseline that are joined.
    kernels_before: usize,
    /// Kernels of the current side that are joined.
    kernels_after: usize,
    before: &'a Measured,
    after: &'a Measured,
    /// As measured.
    raw: Option<ShiftDocument<'a>>,
    /// With the shift that is common to all kernels taken out.
    own: Option<ShiftDocument<'a>>,
    /// Why there is no shift.
    missing: Option<&'a str>,
    /// What more or fewer launches add, as a logarithm.
    launches_shift: Shift,
    /// In SM cycles; `null` where a side has no clocks.
    cycles: Option<ShiftDocument<'a>>,
    /// Shift of the mean launch, as a logarithm.
    mean_shift: Option<Shift>,
    /// Probability of ranks so different by chance, were launches independent: it decides nothing.
    p_launches: Option<Probability>,
}

#[derive(Serialize, JsonSchema)]
struct LoneDocument<'a> {
    name: &'a str,
    measured: &'a Measured,
}

/// The JSON schema of a gate's decision, as pretty-printed JSON.
#[must_use]
pub fn gate_schema() -> String {
    let schema = schemars::schema_for!(Document<'_>);
    // Schemas of derived types always serialize.
    serde_json::to_string_pretty(&schema).unwrap_or_default() + "\n"
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
        guesses: &decision.guesses,
        detectable_change: decision.detectable,
        policy: PolicyDocument::of(report.policy),
        method: &decision.method,
        notes: &decision.notes,
    }
}

/// The word of a verdict in machine formats, as `serde` writes it.
fn key(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Regression => "regression",
        Verdict::Violation => "violation",
        Verdict::Ambiguous => "ambiguous",
        Verdict::Incomparable => "incomparable",
        Verdict::NoData => "no_data",
        Verdict::ImplausibleImprovement => "implausible_improvement",
        Verdict::New => "new",
        Verdict::Vanished => "vanished",
        Verdict::Improvement => "improvement",
        Verdict::Unchanged => "unchanged",
    }
}

fn comparison(both: &Comparison) -> ComparisonDocument<'_> {
    ComparisonDocument {
        basis: both.basis,
        baseline: &both.baseline,
        current: &both.current,
        order: both.order.as_deref(),
        work_ratio: both.work,
        total: shift(&both.total),
        total_typical_shift: both.total_typical,
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
    }
}

fn lone(lone: &Lone) -> LoneDocument<'_> {
    LoneDocument { name: &lone.name, measured: &lone.measured }
}
