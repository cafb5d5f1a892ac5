//! Which rules were skipped on which kernels, because a metric is missing.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// The rules that were skipped on each kernel.
///
/// Most kernels of a run lack the same metrics: each has the number of a list, and each list is kept once, so that a
/// run of many kernels is hardly larger for it.
#[derive(Debug, Clone, Default)]
pub struct SkippedRules {
    /// The list of each kernel, by its index in the analysis; 0 is the empty one, as for kernels beyond the end.
    of: Vec<u32>,
    /// List `n + 1`: another list, and the rule that it has more.
    lists: Vec<(u32, Cow<'static, str>)>,
}

impl SkippedRules {
    /// Adds a rule that was skipped on these kernels; each rule is added once.
    pub(in crate::rules) fn add(&mut self, rule: impl Into<Cow<'static, str>>, kernels: &[usize]) {
        let rule = rule.into();
        let mut longer: BTreeMap<u32, u32> = BTreeMap::new();
        for position in kernels {
            if self.of.len() <= *position {
                self.of.resize(position + 1, 0);
            }
            let list = self.of[*position];
            self.of[*position] = *longer.entry(list).or_insert_with(|| {
                self.lists.push((list, rule.clone()));
                self.lists.len() as u32
            });
        }
    }

    /// Returns the different lists of rules, and for each kernel which of them is its own; `None` for a kernel on which
    /// no rule was skipped, as for kernels beyond the end.
    #[must_use]
    pub fn lists(&self) -> (Vec<Vec<&str>>, Vec<Option<u32>>) {
        let mut lists = Vec::new();
        let mut places: BTreeMap<u32, u32> = BTreeMap::new();
        let place = |list: &u32| {
            let place = || {
                lists.push(self.rules(*list));
                lists.len() as u32 - 1
            };
            (*list > 0).then(|| *places.entry(*list).or_insert_with(place))
        };
        let of = self.of.iter().map(place).collect();
        (lists, of)
    }

    /// The rules of a list, in the order in which they were added.
    fn rules(&self, mut list: u32) -> Vec<&str> {
        let mut rules = Vec::new();
        while let Some((before, rule)) =
            list.checked_sub(1).and_then(|at| self.lists.get(at as usize))
        {
            rules.push(&**rule);
            list = *before;
        }
        rules.reverse();
        rules
    }

    /// Follows kernels that changed places; `before` has where each was.
    pub(super) fn follow(&mut self, before: &[usize]) {
        let of = before.iter().map(|was| self.of.get(*was).copied().unwrap_or(0));
        self.of = of.collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two rules on kernel 0, one of them on kernel 2 as well, and another one on kernels 2 and 3.
    #[test]
    fn kernels_that_lack_the_same_share_a_list() {
        let mut skipped = SkippedRules::default();
        skipped.add("a", &[0, 2, 5]);
        skipped.add("b", &[0, 5]);
        skipped.add("c", &[2, 3]);
        let (lists, of) = skipped.lists();
        assert_eq!(lists, [vec!["a", "b"], vec!["a", "c"], vec!["c"]]);
        assert_eq!(of, [Some(0), None, Some(1), Some(2), None, Some(0)]);
        // Kernels 3, 0 and 9 are left, in this order.
        skipped.follow(&[3, 0, 9]);
        let (lists, of) = skipped.lists();
        assert_eq!((lists, of), (vec![vec!["c"], vec!["a", "b"]], vec![Some(0), Some(1), None]));
    }
}
