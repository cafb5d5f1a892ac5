//! The decision of a gate with its reasons, shared by every output.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::policy::{Action, Metric};
use super::value::{Allowed, Value};
use crate::compare::{
    self, Comparison, Contribution, ContributionKind, MatchLevel, Measured, ProposalKind, Side,
};
use crate::units::{Probability, RelativeChange, Seconds, Share};

/// The rule of what most kernels share while others stay.
pub(super) const MANY_KERNELS: &str = "many-kernels";

/// The rule of a run that lacks ranks or launches.
pub(super) const INCOMPLETE: &str = "incomplete";

/// Checks without a difference of times stand behind those with one, by their share of the time: as if the
/// run took a picosecond, which no difference that was measured is less than.
const ANY_TIME: Seconds = Seconds::new(1e-12);

/// Result of one check: of a kernel, of the whole run, or of a rule of the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Certainly worse than the limit allows.
    Regression,
    /// A bound that needs no baseline is violated.
    Violation,
    /// Probably worse than the limit allows, but not certainly.
    Ambiguous,
    /// Data needed for the check is missing or does not match.
    Incomparable,
    /// Nothing was measured.
    NoData,
    /// As slow, or as fast, as other work makes it.
    OtherWork,
    /// An improvement too large to be plausible.
    ImplausibleImprovement,
    /// Occurs only in the current runs.
    New,
    /// Occurs only in the baseline.
    Vanished,
    /// Certainly better, by more than the limit.
    Improvement,
    /// Within the limit.
    Unchanged,
    /// Within a bound, which asks for no comparison.
    WithinBounds,
}

impl Verdict {
    /// All verdicts, most severe first.
    pub const ALL: [Self; 12] = [
        Self::Regression,
        Self::Violation,
        Self::Ambiguous,
        Self::Incomparable,
        Self::NoData,
        Self::OtherWork,
        Self::ImplausibleImprovement,
        Self::New,
        Self::Vanished,
        Self::Improvement,
        Self::Unchanged,
        Self::WithinBounds,
    ];

    /// Name used in reports.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Regression => "regression",
            Self::Violation => "violation",
            Self::Ambiguous => "ambiguous",
            Self::Incomparable => "incomparable",
            Self::NoData => "no data",
            Self::OtherWork => "other work",
            Self::ImplausibleImprovement => "implausible improvement",
            Self::New => "new",
            Self::Vanished => "vanished",
            Self::Improvement => "improvement",
            Self::Unchanged => "unchanged",
            Self::WithinBounds => "within bounds",
        }
    }
}

/// Overall result of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Nothing violates the policy.
    Passed,
    /// The policy is violated.
    Failed,
    /// The data cannot decide, and the policy demands an answer.
    Inconclusive,
    /// Nothing was measured that could be checked.
    NothingMeasured,
    /// The sides ran on different devices, and the policy does not allow comparing them.
    DifferentDevices,
}

impl Outcome {
    /// Name used in reports.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Inconclusive => "inconclusive",
            Self::NothingMeasured => "nothing measured",
            Self::DifferentDevices => "different devices",
        }
    }
}

/// Subject of a check.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Subject {
    /// The whole run.
    Run,
    /// A kernel.
    Kernel {
        /// Short name.
        name: String,
        /// Full name as written in the export.
        full_name: String,
        /// Grid and block; empty if unknown.
        shape: String,
        /// Name of the device.
        device: String,
        /// Framework operator and parameters: the same kernel may run for several.
        operator: Option<String>,
    },
}

impl Subject {
    /// Makes the subject of a kernel from its short name and its measurements.
    pub(super) fn kernel(name: &str, measured: &Measured) -> Self {
        Self::Kernel {
            name: name.to_owned(),
            full_name: measured.full_name.clone(),
            shape: measured.shape.clone(),
            device: measured.device.clone(),
            operator: measured.operator.clone(),
        }
    }

    /// Returns the name of its kernel as written in the export, or the short one if there is none; `None` for the run.
    #[must_use]
    pub fn written(&self) -> Option<&str> {
        match self {
            Self::Run => None,
            Self::Kernel { name, full_name, .. } => Some(compare::written(full_name, name)),
        }
    }

    /// Whether it is the kernel of a part of the total that both sides have.
    pub(super) fn is_part(&self, part: &Contribution) -> bool {
        let is_lone = matches!(part.kind, ContributionKind::New | ContributionKind::Vanished);
        match self {
            Self::Run => false,
            Self::Kernel { name, shape, operator, .. } => {
                !is_lone && part.name == *name && part.shape == *shape && part.operator == *operator
            }
        }
    }

    /// Whether it is the kernel of these measurements.
    #[must_use]
    pub fn is(&self, called: &str, measured: &Measured) -> bool {
        match self {
            Self::Run => false,
            Self::Kernel { name, full_name, shape, device, operator } => {
                called == name
                    && measured.full_name == *full_name
                    && (measured.shape == *shape || measured.shape.is_empty())
                    && (measured.device == *device || measured.device.is_empty())
                    && measured.operator == *operator
            }
        }
    }
}

/// One check with its result and evidence.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Check {
    /// Stable name of the rule, such as `time`, `total`, `common-shift`, `required-kernel`,
    /// `vanished` …
    pub rule: String,
    /// The metric that was checked.
    pub metric: Metric,
    /// The run or the kernel that was checked.
    pub subject: Subject,
    /// Result of the check.
    pub verdict: Verdict,
    /// Action that the policy takes on this verdict.
    pub action: Action,
    /// Value in the baseline.
    pub before: Option<Value>,
    /// Value in the current runs.
    pub after: Option<Value>,
    /// Relative change: 0.1 is 10% more.
    pub change: Option<RelativeChange>,
    /// Lower and upper end of the change's interval.
    pub interval: Option<[RelativeChange; 2]>,
    /// Confidence of that interval, from 0 to 1.
    pub confidence: Option<Probability>,
    /// Relative change that the policy allows, or the absolute bound.
    #[schemars(with = "Option<f64>")]
    pub limit: Option<Allowed>,
    /// Relative change that noise alone could explain; only with one run per side.
    pub noise: Option<RelativeChange>,
    /// What the change costs a run, in seconds: that of the time per launch at launches midway between the sides, or that of
    /// the time of all launches where these are judged; net of the global shift, as the change is. More launches alone are in
    /// the contributions to the total.
    pub delta_s: Option<Seconds>,
    /// Share of the current run's time; of the baseline's time for vanished kernels.
    pub share: Option<Share>,
    /// How the kernels of both sides were matched.
    pub matched: Option<MatchLevel>,
    /// Additional runs per side that would settle the check; where there is one, those that measure the noise and may
    /// settle it.
    pub more_runs: Option<u32>,
    /// One sentence for people, with the numbers.
    pub message: String,
    /// Supporting evidence: cycles, work, clocks, launches; one sentence each.
    pub evidence: Vec<String>,
    /// The pattern under `required` that no kernel matches.
    pub required: Option<String>,
    /// Reason of the waiver that accepts this result.
    pub waived: Option<String>,
}

/// A guess at what happened to new and vanished kernels, for people.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Guess {
    /// Kind of change.
    pub kind: ProposalKind,
    /// Names of the kernels in the baseline.
    pub before: Vec<String>,
    /// Names of the kernels in the current runs.
    pub after: Vec<String>,
    /// Time in the baseline, in seconds.
    pub before_s: Seconds,
    /// Time in the current runs, in seconds.
    pub after_s: Seconds,
    /// Confidence, from 0 to 1.
    pub confidence: Probability,
    /// Evidence for the guess, in a sentence.
    pub why: String,
    /// Whether it is sure enough that these kernels were compared as one.
    pub is_judged: bool,
}

/// A slowdown that would have been seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Detectable {
    /// The slowdown.
    pub change: RelativeChange,
    /// The part of gates that find one of this size.
    pub power: Probability,
}

/// The decision of a gate or of a comparison, with all checks.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// Overall result.
    pub outcome: Outcome,
    /// True if the policy only warns: the outcome is reported, but the command does not fail.
    pub warn_only: bool,
    /// Reason of the outcome, in one sentence.
    pub reason: String,
    /// All checks: failing and inconclusive ones first, then by severity.
    pub checks: Vec<Check>,
    /// Number of kernels (and the whole run) per verdict, waived ones included.
    pub counts: BTreeMap<Verdict, usize>,
    /// The comparison; `None` if the policy only has bounds that need no baseline.
    pub comparison: Option<Comparison>,
    /// The runs, where they are compared with no others.
    pub alone: Option<Side>,
    /// Guesses at what happened to new and vanished kernels.
    pub guesses: Vec<Guess>,
    /// Sensitivity: the slowdown that is detected in kernels covering half the time of all kernels
    /// with a share of 5% or more, and how often.
    pub detectable: Option<Detectable>,
    /// Method, limits and noise floors, in sentences.
    pub method: Vec<String>,
    /// Caveats: doubts about the comparison, expired waivers, an old baseline.
    pub notes: Vec<String>,
    /// True for `gate`, which decides; false for `diff`, which only informs.
    pub decides: bool,
    /// Why there is no baseline, where it may be missing: then nothing was compared.
    pub lacks_baseline: Option<String>,
}

impl Decision {
    /// Makes the decision for inputs that could not be read: nothing was measured, for this reason.
    #[must_use]
    pub fn refused(reason: String) -> Self {
        Self {
            outcome: Outcome::NothingMeasured,
            warn_only: false,
            reason,
            checks: Vec::new(),
            counts: BTreeMap::new(),
            comparison: None,
            alone: None,
            guesses: Vec::new(),
            detectable: None,
            method: Vec::new(),
            notes: Vec::new(),
            decides: true,
            lacks_baseline: None,
        }
    }

    /// Returns the decision with the reason why there is no baseline: a pass without a comparison must not read like one
    /// with it. `has_checks` is true for a policy with bounds or required kernels, which need no baseline.
    #[must_use]
    pub fn without_baseline(mut self, why: String, has_checks: bool) -> Self {
        let nothing = format!("nothing was compared: {why}");
        self.reason = if self.outcome == Outcome::Passed && !has_checks {
            nothing
        } else {
            format!("{}; {nothing}", self.reason)
        };
        self.lacks_baseline = Some(why);
        self
    }

    /// Returns `true` if it passed without a comparison, because there is no baseline.
    #[must_use]
    pub fn passed_uncompared(&self) -> bool {
        self.outcome == Outcome::Passed && self.lacks_baseline.is_some()
    }

    /// Returns `true` if it passed without a comparison and without a bound or required kernel to check either.
    #[must_use]
    pub fn checked_nothing(&self) -> bool {
        self.passed_uncompared() && self.checks.is_empty()
    }

    /// Returns the checks that fail the gate or leave it inconclusive, most severe first.
    pub fn deciding(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| check.decides())
    }
}

impl Check {
    /// Returns `true` if the check fails the gate or leaves it inconclusive.
    pub(super) const fn decides(&self) -> bool {
        matches!(self.action, Action::Fail | Action::Inconclusive)
    }

    /// Returns the result in the words of reports: of an incomplete run there is data, but not all.
    #[must_use]
    pub fn result(&self) -> &'static str {
        if self.rule == INCOMPLETE && self.verdict == Verdict::NoData {
            "incomplete"
        } else {
            self.verdict.label()
        }
    }

    /// Makes a check that found nothing wrong and has no numbers yet.
    pub(super) fn new(rule: &str, metric: Metric, subject: Subject, message: String) -> Self {
        Self {
            rule: rule.to_owned(),
            metric,
            subject,
            verdict: Verdict::Unchanged,
            action: Action::None,
            before: None,
            after: None,
            change: None,
            interval: None,
            confidence: None,
            limit: None,
            noise: None,
            delta_s: None,
            share: None,
            matched: None,
            more_runs: None,
            message,
            evidence: Vec::new(),
            required: None,
            waived: None,
        }
    }

    /// Returns a hash that is the same from run to run for one rule and kernel, whatever the
    /// numbers, so that code scanners can track a finding.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let subject = match &self.subject {
            Subject::Run => {
                self.required.as_ref().map_or_else(|| "run".to_owned(), |of| format!("run\0{of}"))
            }
            Subject::Kernel { full_name, name, shape, device, operator } => {
                let name = compare::family(compare::written(full_name, name));
                let operator = operator.as_ref().map_or_else(String::new, |it| format!("\0{it}"));
                format!("{name}\0{shape}\0{device}{operator}")
            }
        };
        compare::fingerprint(&format!("{}\0{subject}", self.rule))
    }
}

/// Counts checks by verdict.
pub(super) fn counted(checks: &[Check]) -> BTreeMap<Verdict, usize> {
    let mut counts = BTreeMap::new();
    for check in checks {
        *counts.entry(check.verdict).or_default() += 1;
    }
    counts
}

/// Orders failing and inconclusive checks first, then by severity.
pub(super) fn gravest_first(one: &Check, two: &Check) -> Ordering {
    let impact = |check: &Check| {
        let share = || check.share.unwrap_or_default().get() * ANY_TIME.get();
        check.delta_s.map_or_else(share, |delta| delta.abs().get())
    };
    two.action
        .cmp(&one.action)
        .then(one.verdict.cmp(&two.verdict))
        .then_with(|| impact(two).total_cmp(&impact(one)))
        .then_with(|| (&one.rule, &one.subject).cmp(&(&two.rule, &two.subject)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_is_followed_through_numbers_and_builds() {
        let check = |rule: &str, name: &str, device: &str| {
            let measured = Measured { device: device.to_owned(), ..Measured::default() };
            Check::new(rule, Metric::Time, Subject::kernel(name, &measured), String::new())
        };
        let one = check("time", "triton_poi_fused_add_7", "L4");
        let later = Check {
            verdict: Verdict::Regression,
            message: "slower".to_owned(),
            delta_s: Some(Seconds::new(1.0)),
            ..check("time", "triton_poi_fused_add_12", "L4")
        };
        assert_eq!(one.fingerprint(), later.fingerprint());
        for other in [
            check("bytes", "triton_poi_fused_add_7", "L4"),
            check("time", "triton_poi_fused_mul_7", "L4"),
            check("time", "triton_poi_fused_add_7", "H100"),
        ] {
            assert_ne!(one.fingerprint(), other.fingerprint(), "{other:?}");
        }
    }
}
