//! What a rule says: a sentence, the facts behind it, the time at stake, and the next experiment.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::analysis::Kernel;
use crate::units::Seconds;

/// How much time is at stake, by its share of the run.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Something to know; nothing is promised.
    Info,
    /// Below 1% of the run.
    Low,
    /// From 1% of the run; among validity findings: a figure may mislead.
    Medium,
    /// From 5% of the run; among validity findings: figures are wrong.
    High,
}

impl Severity {
    /// The severity of this share of the run.
    #[must_use]
    pub fn of_share(share: f64) -> Self {
        match share {
            share if share >= 0.05 => Self::High,
            share if share >= 0.01 => Self::Medium,
            _ => Self::Low,
        }
    }

    /// Every one, the least first.
    pub const ALL: [Self; 4] = [Self::Info, Self::Low, Self::Medium, Self::High];

    /// The word in reports.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// What a cure would bring: at least and at most, and how that was estimated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stake {
    /// The cautious end.
    pub low: Seconds,
    /// The hopeful end.
    pub high: Seconds,
    /// How it was estimated.
    pub estimator: &'static str,
}

impl Stake {
    /// One figure for both ends.
    #[must_use]
    pub const fn of(time: Seconds, estimator: &'static str) -> Self {
        Self { low: time, high: time, estimator }
    }
}

/// How directly the facts show the cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// From a name, a shape or a closed form.
    Low,
    /// Inferred from counters.
    Medium,
    /// A counter counts the waste itself.
    High,
}

impl Confidence {
    /// The word in reports.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// One fact that supports a finding.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Evidence {
    /// What was measured.
    pub name: String,
    /// Its value, in its unit.
    pub value: f64,
    /// The unit; `1` for shares and counts.
    pub unit: &'static str,
}

/// What a rule says about a kernel or about the run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Finding {
    /// The rule.
    pub rule: Cow<'static, str>,
    /// How much time is at stake, by its share of the run.
    pub severity: Severity,
    /// How directly the facts show the cause.
    pub confidence: Confidence,
    /// What was found, in a sentence with its numbers.
    pub message: String,
    /// The facts behind it.
    pub evidence: Vec<Evidence>,
    /// Most that can be saved, in seconds: bounded by the kernel's gap, never added across rules.
    pub at_stake_s: f64,
    /// The cautious end of the same estimate.
    pub at_stake_low_s: f64,
    /// How the time at stake is estimated, such as `gap` or `next-bottleneck`.
    pub estimator: &'static str,
    /// The next experiment.
    pub next: Option<String>,
    /// The kernels it concerns, for findings about the run; by their names.
    pub kernels: Vec<String>,
    /// Fixed by the rule: not derived from the time at stake.
    #[serde(skip)]
    pub(in crate::rules) is_fixed: bool,
    /// Its cure moves the roof itself.
    #[serde(skip)]
    pub(in crate::rules) is_beyond: bool,
}

impl Finding {
    /// A finding without time at stake: something to know.
    pub(in crate::rules) fn info(rule: impl Into<Cow<'static, str>>, message: String) -> Self {
        Self {
            rule: rule.into(),
            severity: Severity::Info,
            confidence: Confidence::High,
            message,
            evidence: Vec::new(),
            at_stake_s: 0.0,
            at_stake_low_s: 0.0,
            estimator: "none",
            next: None,
            kernels: Vec::new(),
            is_fixed: true,
            is_beyond: false,
        }
    }

    /// A finding about a kernel with what a cure would bring, capped by the kernel's gap.
    pub(in crate::rules) fn of(
        rule: impl Into<Cow<'static, str>>,
        message: String,
        stake: Stake,
        kernel: &Kernel,
    ) -> Self {
        // Where no roof is known, nothing but the measured time bounds what can be won.
        let known = kernel.roofline_time.is_some();
        let most = if known { kernel.savings_high } else { kernel.measured };
        let mut finding = Self::info(rule, message).confidence(Confidence::Medium);
        finding.at_stake_s = stake.high.min(most).max(Seconds::ZERO).get();
        finding.at_stake_low_s = stake.low.min(most).max(Seconds::ZERO).get();
        finding.estimator = stake.estimator;
        finding.is_fixed = false;
        finding
    }

    /// Whether its cure moves the roof itself, to another pipe or to fewer bytes, so that what it wins is not part of the
    /// kernel's savings.
    #[must_use]
    pub fn goes_beyond_the_roof(&self) -> bool {
        self.is_beyond || self.estimator == "pipe"
    }

    /// Sets a severity that does not follow from the time at stake.
    pub(in crate::rules) fn severity(mut self, severity: Severity) -> Self {
        (self.severity, self.is_fixed) = (severity, true);
        self
    }

    /// Sets how directly the facts show the cause.
    pub(in crate::rules) fn confidence(mut self, confidence: Confidence) -> Self {
        self.confidence = confidence;
        self
    }

    /// Adds a fact with its unit.
    pub(in crate::rules) fn evidence(
        mut self,
        name: impl Into<String>,
        value: f64,
        unit: &'static str,
    ) -> Self {
        self.evidence.push(Evidence { name: name.into(), value, unit });
        self
    }

    /// Adds a fact, if it is known.
    pub(in crate::rules) fn evidence_if(
        self,
        name: impl Into<String>,
        value: Option<f64>,
        unit: &'static str,
    ) -> Self {
        match value {
            Some(value) => self.evidence(name, value, unit),
            None => self,
        }
    }

    /// Names the next experiment.
    pub(in crate::rules) fn next(mut self, experiment: impl Into<String>) -> Self {
        self.next = Some(experiment.into());
        self
    }

    /// Names the kernels it concerns.
    pub(in crate::rules) fn kernels(mut self, kernels: impl IntoIterator<Item = String>) -> Self {
        self.kernels = kernels.into_iter().collect();
        self
    }

    /// Sets the time at stake of a finding about the run.
    pub(in crate::rules) fn at_stake(mut self, time: Seconds, estimator: &'static str) -> Self {
        (self.at_stake_s, self.at_stake_low_s) = (time.get(), time.get());
        (self.estimator, self.is_fixed) = (estimator, false);
        self
    }
}
