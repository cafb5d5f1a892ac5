//! What a gate decided, and why: the same for every output.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::policy::{Action, Metric};
use super::value::{Allowed, Value};
use crate::compare::{Comparison, MatchLevel, Measured, ProposalKind};
use crate::units::{Probability, RelativeChange, Seconds, Share};

/// What became of a kernel, of the whole, or of a rule of the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Worse than the limit allows, for certain.
    Regression,
    /// A rule that needs no baseline is broken.
    Violation,
    /// Worse than the limit allows, but not for certain.
    Ambiguous,
    /// What is needed for a judgment is missing or does not fit.
    Incomparable,
    /// Nothing was measured.
    NoData,
    /// Better than is believable.
    ImplausibleImprovement,
    /// Only the current runs have it.
    New,
    /// Only the baseline has it.
    Vanished,
    /// Better than the limit, for certain.
    Improvement,
    /// Within the limit.
    Unchanged,
}

impl Verdict {
    /// Every one, the gravest first.
    pub const ALL: [Self; 10] = [
        Self::Regression,
        Self::Violation,
        Self::Ambiguous,
        Self::Incomparable,
        Self::NoData,
        Self::ImplausibleImprovement,
        Self::New,
        Self::Vanished,
        Self::Improvement,
        Self::Unchanged,
    ];

    /// The word in reports.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Regression => "regression",
            Self::Violation => "violation",
            Self::Ambiguous => "ambiguous",
            Self::Incomparable => "incomparable",
            Self::NoData => "no data",
            Self::ImplausibleImprovement => "implausible improvement",
            Self::New => "new",
            Self::Vanished => "vanished",
            Self::Improvement => "improvement",
            Self::Unchanged => "unchanged",
        }
    }
}

/// How the gate ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Nothing that the policy forbids.
    Passed,
    /// The policy is broken.
    Failed,
    /// It cannot be told, and the policy asks for an answer.
    Inconclusive,
    /// Nothing was measured that could be judged.
    NothingMeasured,
    /// The sides ran on different devices, and the policy does not let them be compared.
    DifferentDevices,
}

impl Outcome {
    /// The word in reports.
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

/// What a check is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Subject {
    /// The whole run.
    Run,
    /// A kernel.
    Kernel {
        /// Its short name.
        name: String,
        /// Its name as the export writes it.
        full_name: String,
        /// Grid and block; empty where not known.
        shape: String,
        /// Its device.
        device: String,
    },
}

impl Subject {
    /// A kernel by its short name, and what is measured of it.
    pub(super) fn kernel(name: &str, measured: &Measured) -> Self {
        Self::Kernel {
            name: name.to_owned(),
            full_name: measured.full_name.clone(),
            shape: measured.shape.clone(),
            device: measured.device.clone(),
        }
    }
}

/// One thing that was checked.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Check {
    /// Stable name of the rule: `time`, `total`, `common-shift`, `required-kernel`, `vanished` …
    pub rule: String,
    /// What is measured.
    pub metric: Metric,
    /// About what.
    pub subject: Subject,
    /// What became of it.
    pub verdict: Verdict,
    /// What the policy makes of it.
    pub action: Action,
    /// The baseline.
    pub before: Option<Value>,
    /// The current side.
    pub after: Option<Value>,
    /// The change as a relative one: 0.1 is 10% more.
    pub change: Option<RelativeChange>,
    /// Lower and upper end of its interval.
    pub interval: Option<[RelativeChange; 2]>,
    /// The confidence of that interval.
    pub confidence: Option<Probability>,
    /// The relative change that the policy allows, or the absolute bound.
    #[schemars(with = "Option<f64>")]
    pub limit: Option<Allowed>,
    /// What noise alone may change, where one run a side decides.
    pub noise: Option<RelativeChange>,
    /// Difference of the total time of the kernel, in seconds.
    pub delta_s: Option<Seconds>,
    /// Share of the time of the current run; of the baseline for what vanished.
    pub share: Option<Share>,
    /// How surely the kernels of both sides are the same.
    pub matched: Option<MatchLevel>,
    /// Runs a side that would settle it, beyond those there are.
    pub more_runs: Option<u32>,
    /// One sentence for people, with its numbers.
    pub message: String,
    /// What else speaks for or against it: cycles, work, clocks, launches; one sentence each.
    pub evidence: Vec<String>,
    /// Why it does not count: the reason of the waiver.
    pub waived: Option<String>,
}

/// What may have become of kernels, for people.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Guess {
    /// What may have happened.
    pub kind: ProposalKind,
    /// Names of the kernels before.
    pub before: Vec<String>,
    /// Names of the kernels now.
    pub after: Vec<String>,
    /// Time before, in seconds.
    pub before_s: Seconds,
    /// Time now, in seconds.
    pub after_s: Seconds,
    /// How sure, from 0 to 1.
    pub confidence: Probability,
    /// What speaks for it.
    pub why: String,
}

/// What a gate decided.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// How it ends.
    pub outcome: Outcome,
    /// Whether the policy only warns: the outcome stands, and fails nothing.
    pub warn_only: bool,
    /// Why, in one sentence.
    pub reason: String,
    /// Everything that was checked: what decided first, the gravest first within.
    pub checks: Vec<Check>,
    /// Kernels (and the whole) per verdict; waived ones too.
    pub counts: BTreeMap<Verdict, usize>,
    /// The comparison; none where the policy only has bounds that need no baseline.
    pub comparison: Option<Comparison>,
    /// What may have become of new and vanished kernels.
    pub guesses: Vec<Guess>,
    /// The slowdown that would have been seen in kernels with half of the time of all kernels with 5% or
    /// more; a relative change.
    pub detectable: Option<RelativeChange>,
    /// How it was judged, in sentences: method, limits, floors.
    pub method: Vec<String>,
    /// What a reader must know: doubts, expired waivers, an old baseline.
    pub notes: Vec<String>,
    /// Whether it decides (`gate`) or informs (`diff`).
    pub decides: bool,
}

impl Decision {
    /// The decision where the inputs could not be read: nothing was measured, for this reason.
    #[must_use]
    pub fn refused(reason: String) -> Self {
        Self {
            outcome: Outcome::NothingMeasured,
            warn_only: false,
            reason,
            checks: Vec::new(),
            counts: BTreeMap::new(),
            comparison: None,
            guesses: Vec::new(),
            detectable: None,
            method: Vec::new(),
            notes: Vec::new(),
            decides: true,
        }
    }

    /// What decided: the checks that fail the gate or leave it open, the gravest first.
    pub fn deciding(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| check.decides())
    }
}

impl Check {
    /// Whether it fails the gate or leaves it open.
    pub(super) const fn decides(&self) -> bool {
        matches!(self.action, Action::Fail | Action::Inconclusive)
    }

    /// A check that found nothing wrong and knows no numbers.
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
            waived: None,
        }
    }

    /// Stays the same from run to run for the same rule and kernel, whatever the numbers: for code
    /// scanners that follow a finding.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let subject = match &self.subject {
            Subject::Run => "run".to_owned(),
            Subject::Kernel { full_name, name, shape, device } => {
                let name = if full_name.is_empty() { name } else { full_name };
                format!("{}\0{shape}\0{device}", crate::compare::family(name))
            }
        };
        crate::compare::fingerprint(&format!("{}\0{subject}", self.rule))
    }
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
