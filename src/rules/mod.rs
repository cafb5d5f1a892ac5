//! Analysis → findings: one rule per file, each a pure check of one kernel or of the whole run.
//!
//! To add a rule: one file with documentation and a `RULE` constant in the folder of its family, one line
//! in the list of that family. A rule is skipped ([`Missing`]), passes, or fires; all three are
//! counted. What rules are made of and what runs them is in `engine`.

#![allow(clippy::unnecessary_wraps, reason = "the checks of all rules have one signature")]

/// The rules of a family, in the order in which findings of equal weight are listed.
macro_rules! rules {
    ($($module:ident),* $(,)?) => {
        $(mod $module;)*
        pub(super) const RULES: &[&crate::rules::Rule] = &[$(&$module::RULE),*];
    };
}

mod arithmetic;
mod engine;
mod launch;
mod memory;
mod run;
mod validity;

use crate::analysis::Analysis;
use crate::model::Profile;

pub use engine::custom::{Custom, Expression, Fault, Over, Template, columns_page};
pub use engine::finding::{Confidence, Evidence, Finding, Severity, Stake};
pub(crate) use engine::findings::least_shown;
pub use engine::findings::{Findings, Tally};
pub use engine::rule::{Check, Judgment, Rule};
pub use engine::run::Run;
pub use engine::settings::Settings;
pub use engine::skipped::SkippedRules;
pub use engine::subject::{Subject, Unit};
pub use engine::threshold::{Missing, Threshold};

pub(crate) use engine::custom::NOT_ESTIMATED;

/// Every rule, family by family, in the order in which findings of equal weight are listed.
pub const RULES: &[&Rule] =
    joined!(&Rule, &[launch::RULES, memory::RULES, arithmetic::RULES, run::RULES, validity::RULES]);

/// Returns the address of the page of a built-in rule; `None` for custom rules, which have no page.
///
/// ```
/// let page = rooflint::rules::link("tail-effect").unwrap();
/// assert!(page.ends_with("/docs/rules/tail-effect.md"));
/// ```
#[must_use]
pub fn link(id: &str) -> Option<String> {
    let rule = rule(id)?;
    Some(format!("{}/blob/main/docs/rules/{}.md", env!("CARGO_PKG_REPOSITORY"), rule.id))
}

/// Runs every rule that the settings do not leave out.
///
/// Kernels that are bound by links or that have no time are not looked at; one that is faster than the
/// model allows is looked at for how it was counted, one that is only launch cost for that alone. Custom
/// rules look at every kernel, or at every launch of the profile that was analyzed.
#[must_use]
pub fn check(profile: &Profile, analysis: &Analysis, settings: &Settings) -> Findings {
    engine::check::check(RULES, profile, analysis, settings)
}

/// The rule that fires where the export describes another device than the one whose roofs are used.
pub(crate) const DEVICE_MISMATCH: &str = "device-mismatch";

/// Whether a finding only remarks on how a kernel was measured, with no savings and nothing wrong.
#[must_use]
pub fn is_remark(finding: &Finding) -> bool {
    finding.severity == Severity::Info
        && validity::RULES.iter().any(|rule| *rule.id == *finding.rule)
}

/// Identifiers that rules had before, and those of today.
const FORMER: &[(&str, &str)] = &[
    ("bytes-below-need", "bytes-below-minimum"),
    ("low-issue-utilisation", "low-issue-utilization"),
    ("low-tensor-utilisation", "low-tensor-utilization"),
    ("materialised-attention", "materialized-attention"),
    ("modelled-bytes-faulty", "wrong-byte-formula"),
    ("tile-quantisation", "tile-quantization"),
    ("unmodelled-share", "not-enough-data"),
    ("zero-means-unmodelled", "zero-work-recorded"),
];

/// The identifier that a rule has today, if this is a former one; otherwise the same identifier.
#[must_use]
pub fn current(id: &str) -> &str {
    FORMER.iter().find(|(former, _)| *former == id).map_or(id, |(_, today)| today)
}

/// Former identifiers of a rule, which are still accepted wherever a rule is named.
pub fn aliases(id: &str) -> impl Iterator<Item = &'static str> {
    FORMER.iter().filter(move |(_, today)| *today == id).map(|(former, _)| *former)
}

/// The rule with this identifier, or with this former one.
#[must_use]
pub fn rule(id: &str) -> Option<&'static Rule> {
    let id = current(id);
    RULES.iter().find(|rule| rule.id == id).copied()
}

/// Whether a rule looks at the whole run, and not at kernels: a built-in one, as custom ones never do.
#[must_use]
pub fn is_of_run(id: &str) -> bool {
    rule(id).is_some_and(|rule| matches!(rule.check, Check::Run(_)))
}

#[cfg(test)]
mod tests {
    use super::{FORMER, RULES, Rule, aliases, rule};

    #[test]
    fn every_rule_is_documented_under_the_same_headings() {
        for rule in RULES {
            let mut rest = rule.documentation;
            for heading in Rule::HEADINGS {
                let at = rest.find(&format!("## {heading}\n"));
                let at = at.unwrap_or_else(|| panic!("{}: {heading}, in this order", rule.id));
                rest = &rest[at..];
            }
            assert!(rule.id.chars().all(|c| c.is_ascii_lowercase() || "-0123456789".contains(c)));
            for threshold in rule.thresholds {
                let is_said = rule.documentation.contains(&format!("`{}`", threshold.key));
                assert!(is_said, "{}: {} is not in its documentation", rule.id, threshold.key);
                assert!(!threshold.reason.is_empty(), "{}: {}", rule.id, threshold.key);
            }
        }
    }

    #[test]
    fn names_are_unique_and_like_their_files() {
        let mut ids: Vec<&str> = RULES.iter().map(|rule| rule.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), RULES.len());
    }

    #[test]
    fn former_names_lead_to_the_rules_of_today() {
        for (former, today) in FORMER {
            assert!(RULES.iter().all(|rule| rule.id != *former), "{former}");
            assert_eq!(rule(former).map(|rule| rule.id), Some(*today));
            assert!(aliases(today).any(|alias| alias == *former));
        }
        assert_eq!(aliases("tail-effect").count(), 0);
    }

    #[test]
    fn what_is_silenced_are_other_rules() {
        for one in RULES {
            for other in one.silences {
                assert!(rule(other).is_some(), "{} silences {other}", one.id);
                assert_ne!(one.id, *other);
            }
        }
    }
}
