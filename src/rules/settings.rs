//! What a user sets about rules: which run, and by which numbers they decide.

use std::collections::{BTreeMap, BTreeSet};

use super::rule::{Rule, Threshold};

/// What a user sets about rules.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    /// Only these rules run; all if empty.
    pub select: BTreeSet<String>,
    /// These rules do not run.
    pub ignore: BTreeSet<String>,
    /// Thresholds by rule and key.
    pub thresholds: BTreeMap<(String, String), f64>,
}

impl Settings {
    /// Whether a rule runs.
    #[must_use]
    pub fn runs(&self, rule: &Rule) -> bool {
        (self.select.is_empty() || self.select.contains(rule.id)) && !self.ignore.contains(rule.id)
    }

    /// A threshold as set, or its default.
    #[must_use]
    pub fn threshold(&self, rule: &str, threshold: &Threshold) -> f64 {
        let key = (rule.to_owned(), threshold.key.to_owned());
        self.thresholds.get(&key).copied().unwrap_or(threshold.default)
    }
}
