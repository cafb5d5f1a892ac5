//! What a user sets about rules: which run, and by which numbers they decide.

use std::collections::{BTreeMap, BTreeSet};

use super::custom::{Custom, Over};
use super::threshold::Threshold;

/// What a user sets about rules.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    /// Only these rules run; all if empty.
    pub select: BTreeSet<String>,
    /// These rules do not run.
    pub ignore: BTreeSet<String>,
    /// Thresholds by rule and key.
    pub thresholds: BTreeMap<(String, String), f64>,
    /// Rules of the user's own.
    pub custom: Vec<Custom>,
}

impl Settings {
    /// Forgets what was said of custom rules that are no longer there.
    pub(crate) fn forget_unknown(&mut self) {
        let Self { select, ignore, custom, .. } = self;
        let is_known = |id: &String| {
            super::super::rule(id).is_some() || custom.iter().any(|rule| rule.id == *id)
        };
        select.retain(&is_known);
        ignore.retain(&is_known);
    }

    /// Whether the rule of this name runs.
    #[must_use]
    pub fn runs(&self, id: &str) -> bool {
        (self.select.is_empty() || self.select.contains(id)) && !self.ignore.contains(id)
    }

    /// The custom rules over kernels or launches that run.
    pub(in crate::rules) fn custom(&self, over: Over) -> impl Iterator<Item = &Custom> {
        self.custom.iter().filter(move |rule| rule.over == over && self.runs(&rule.id))
    }

    /// A threshold as set, or its default.
    #[must_use]
    pub fn threshold(&self, rule: &str, threshold: &Threshold) -> f64 {
        let key = (rule.to_owned(), threshold.key.to_owned());
        self.thresholds.get(&key).copied().unwrap_or(threshold.default)
    }
}
