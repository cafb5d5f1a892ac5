//! Which kernels a user typed.

use super::called::folded;
use super::{Analysis, Kernel};

impl Analysis {
    /// Kernels that fit what a user typed: `#2` (rank), a whole name, a pattern with `*`; else those whose
    /// name, library, category or kind contains it, in any case.
    #[must_use]
    pub fn find(&self, query: &str) -> Vec<&Kernel> {
        if let Some(rank) = query.strip_prefix('#').and_then(|rank| rank.parse::<usize>().ok()) {
            return rank
                .checked_sub(1)
                .and_then(|rank| self.kernels.get(rank))
                .into_iter()
                .collect();
        }
        let whole: Vec<&Kernel> =
            self.kernels.iter().filter(|kernel| kernel.is_named(query)).collect();
        if !whole.is_empty() || query.is_empty() || query.contains('*') {
            return whole;
        }
        let part = folded(query);
        self.kernels.iter().filter(|kernel| kernel.mentions(&part)).collect()
    }

    /// The kernel name most like the one typed.
    #[must_use]
    pub fn nearest(&self, query: &str) -> Option<&str> {
        self.kernels
            .iter()
            .map(|kernel| (strsim::jaro_winkler(query, &kernel.name), &*kernel.name))
            .max_by(|one, two| one.0.total_cmp(&two.0))
            .map(|(_, name)| name)
    }
}
