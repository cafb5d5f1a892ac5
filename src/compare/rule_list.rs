//! Lists of rules, as a run keeps them: those that ran, and those that were skipped on a kernel.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::rules;

/// A list of rules, each once. Kernels with the same list share it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "Vec<String>", into = "Vec<String>")]
pub struct RuleList(Arc<[String]>);

impl From<Vec<String>> for RuleList {
    fn from(mut rules: Vec<String>) -> Self {
        rules.sort_unstable();
        rules.dedup();
        Self(rules.into())
    }
}

impl From<RuleList> for Vec<String> {
    fn from(rules: RuleList) -> Self {
        rules.0.to_vec()
    }
}

impl RuleList {
    /// Returns `true` if it has no rule.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns `true` if this rule is among them.
    #[must_use]
    pub fn has(&self, rule: &str) -> bool {
        self.iter().any(|one| one == rule)
    }

    /// Iterates over the rules, by the names that they have today.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|rule| rules::current(rule))
    }

    /// Adds the rules of another list.
    pub(super) fn join(&mut self, other: &Self) {
        if Arc::ptr_eq(&self.0, &other.0) || self == other || other.is_empty() {
            return;
        }
        *self = self.0.iter().chain(&*other.0).cloned().collect::<Vec<String>>().into();
    }

    /// Returns the rules that are in both lists.
    pub(super) fn common(&self, other: &Self) -> Self {
        // Most runs that are compared had the same rules.
        if Arc::ptr_eq(&self.0, &other.0) || self == other {
            return self.clone();
        }
        let both = self.0.iter().filter(|rule| other.0.contains(rule));
        both.cloned().collect::<Vec<String>>().into()
    }
}

/// Different lists, each once.
#[cfg(feature = "frames")]
#[derive(Debug, Default)]
pub(super) struct Lists(Vec<RuleList>);

#[cfg(feature = "frames")]
impl Lists {
    /// Returns the place of a list.
    pub(super) fn place(&mut self, list: RuleList) -> Option<u32> {
        if list.is_empty() {
            return None;
        }
        let known = self.0.iter().position(|known| *known == list);
        let place = known.unwrap_or_else(|| {
            self.0.push(list);
            self.0.len() - 1
        });
        Some(place as u32)
    }

    /// Returns the place of the rules that are in both of the lists at these places.
    pub(super) fn common(&mut self, one: Option<u32>, two: Option<u32>) -> Option<u32> {
        if one == two {
            return one;
        }
        let at = |place: u32| self.0.get(place as usize);
        let both = at(one?)?.common(at(two?)?);
        self.place(both)
    }

    pub(super) fn into_inner(self) -> Vec<RuleList> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(rules: &[&str]) -> RuleList {
        rules.iter().map(|&rule| rule.to_owned()).collect::<Vec<String>>().into()
    }

    #[test]
    fn lists_are_joined_and_former_names_are_those_of_today() {
        let mut joined = list(&["small-grid", "tile-quantisation"]);
        joined.join(&list(&["a-rule", "small-grid"]));
        assert_eq!(
            joined.iter().collect::<Vec<_>>(),
            ["a-rule", "small-grid", "tile-quantization"]
        );
        assert!(joined.has("tile-quantization") && !joined.has("tail-effect"));
        assert_eq!(serde_json::to_string(&list(&["b", "a"])).unwrap(), r#"["a","b"]"#);
    }

    #[cfg(feature = "frames")]
    #[test]
    fn a_rule_that_one_of_two_ranks_judged_was_judged() {
        let mut lists = Lists::default();
        let (ab, bc) = (lists.place(list(&["a", "b"])), lists.place(list(&["b", "c"])));
        assert_eq!((ab, bc, lists.place(list(&["b", "a"]))), (Some(0), Some(1), Some(0)));
        assert_eq!(lists.common(ab, bc), Some(2));
        assert_eq!((lists.common(ab, ab), lists.common(ab, None)), (ab, None));
        assert_eq!(lists.into_inner()[2], list(&["b"]));
    }
}
