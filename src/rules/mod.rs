//! Analysis → findings: one rule per file, each a pure check of one kernel.
//!
//! To add a rule: one file with documentation and a `RULE` constant, one line in the list below.
//! A rule cannot judge ([`Missing`]), is content (`None`) or speaks (`Some`).

use serde::Serialize;

use crate::analysis::{Analysis, Kernel};
use crate::model::Quantity;
use crate::units::Seconds;

/// One diagnosis: what it is called, how serious it is, and how it decides.
#[derive(Debug)]
pub struct Rule {
    /// Stable name; reads after "allow", such as `low-occupancy`.
    pub id: &'static str,
    /// How much such a finding usually costs.
    pub severity: Severity,
    /// What is wrong, in one line.
    pub summary: &'static str,
    /// What it finds, why it costs time, how it decides, what to try, when it is wrong.
    pub documentation: &'static str,
    /// Decides on one kernel.
    pub check: fn(&Subject<'_>) -> Result<Option<Finding>, Missing>,
}

/// How much a finding usually costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A few percent.
    Low,
    /// Tens of percent.
    Medium,
    /// Multiples.
    High,
}

/// A metric without which a rule cannot judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missing(pub &'static str);

/// A kernel under examination, with the device it ran on.
#[derive(Debug)]
pub struct Subject<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// Multiprocessors of its device.
    pub sms: Option<u32>,
}

impl Subject<'_> {
    /// A time-weighted average that the rule needs.
    ///
    /// # Errors
    /// [`Missing`] when the export does not have it.
    pub fn need(&self, quantity: Quantity, name: &'static str) -> Result<f64, Missing> {
        self.kernel.average(quantity).ok_or(Missing(name))
    }
}

/// One fact that supports a finding.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Evidence {
    /// What was measured, with its unit.
    pub name: String,
    /// Its value.
    pub value: f64,
}

/// What a rule says about a kernel.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Finding {
    /// The rule.
    pub rule: &'static str,
    /// How much such a finding usually costs.
    pub severity: Severity,
    /// What was found, in a sentence with its numbers.
    pub message: String,
    /// The facts behind it.
    pub evidence: Vec<Evidence>,
    /// Most that can be won, in seconds: bounded by the kernel's gap, never added across rules.
    pub at_stake_s: f64,
}

impl Finding {
    /// A finding of a rule; the time at stake is capped by the kernel's gap to its roof.
    #[must_use]
    pub fn new(rule: &Rule, subject: &Subject<'_>, message: String, at_stake: Seconds) -> Self {
        let kernel = subject.kernel;
        Self {
            rule: rule.id,
            severity: rule.severity,
            message,
            evidence: Vec::new(),
            at_stake_s: at_stake.min(kernel.recoverable_upper).get(),
        }
    }

    /// Adds a fact.
    #[must_use]
    pub fn evidence(mut self, name: impl Into<String>, value: f64) -> Self {
        self.evidence.push(Evidence { name: name.into(), value });
        self
    }
}

macro_rules! rules {
    ($($module:ident),* $(,)?) => {
        $(mod $module;)*
        /// Every rule, in the order in which findings are listed.
        pub const RULES: &[Rule] = &[$($module::RULE),*];
    };
}

rules! {
    uncoalesced_access,
    small_grid,
    tail_effect,
    low_occupancy,
}

/// The findings of an analysis, kernel by kernel, and what each rule could say.
#[derive(Debug, Default)]
pub struct Findings {
    /// For each kernel of the analysis, in its order.
    pub by_kernel: Vec<Vec<Finding>>,
    /// For each rule: kernels it spoke on, was content with, and could not judge.
    pub tally: Vec<(&'static str, [usize; 3])>,
}

/// Runs every rule on every kernel that is far from its roof.
///
/// Kernels at their roof, or without a roof, have no gap for a rule to explain.
#[must_use]
pub fn check(analysis: &Analysis) -> Findings {
    use crate::analysis::State;
    let mut findings = Findings {
        by_kernel: vec![Vec::new(); analysis.kernels.len()],
        tally: RULES.iter().map(|rule| (rule.id, [0; 3])).collect(),
    };
    for (kernel, found) in analysis.kernels.iter().zip(&mut findings.by_kernel) {
        if !matches!(kernel.state, State::Opportunity | State::Fair | State::Minor) {
            continue;
        }
        let device = &analysis.devices[kernel.device];
        let sms = kernel
            .average(Quantity::SmCount)
            .map(|sms| sms as u32)
            .or_else(|| device.device.as_ref().and_then(|device| device.sms))
            .or(device.hint.sms);
        let subject = Subject { kernel, sms };
        for (rule, (_, tally)) in RULES.iter().zip(&mut findings.tally) {
            match (rule.check)(&subject) {
                Ok(Some(finding)) => {
                    tally[0] += 1;
                    found.push(finding);
                }
                Ok(None) => tally[1] += 1,
                Err(Missing(_)) => tally[2] += 1,
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::RULES;

    #[test]
    fn every_rule_is_documented_under_the_same_headings() {
        for rule in RULES {
            for heading in [
                "What it finds",
                "Why it costs time",
                "How it decides",
                "What to try",
                "When it is wrong",
            ] {
                assert!(
                    rule.documentation.contains(&format!("## {heading}\n")),
                    "{}: {heading}",
                    rule.id
                );
            }
            assert!(rule.id.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", rule.id);
        }
    }
}
