//! Finds the kernels that a user named.

use super::called::folded;
use super::{Analysis, Kernel};

impl Analysis {
    /// Finds kernels by rank (`#2`), full name or pattern with `*`; otherwise by name, library,
    /// category or kind that contains the query, ignoring case.
    #[must_use]
    pub fn find(&self, query: &str) -> Vec<&Kernel> {
        if let Some(rank) = query.strip_prefix('#').and_then(|rank| rank.parse::<usize>().ok()) {
            // Of a report on some kernels, ranks are those of the whole run.
            return self.kernels.iter().filter(|kernel| kernel.rank == rank).collect();
        }
        let whole: Vec<&Kernel> =
            self.kernels.iter().filter(|kernel| kernel.is_named(query)).collect();
        if !whole.is_empty() || query.is_empty() || query.contains('*') {
            return whole;
        }
        let part = folded(query);
        self.kernels.iter().filter(|kernel| kernel.mentions(&part)).collect()
    }

    /// Returns the kernel name most similar to a query.
    #[must_use]
    pub fn nearest(&self, query: &str) -> Option<&str> {
        self.kernels
            .iter()
            .map(|kernel| (crate::plain::likeness(query, &kernel.name), &*kernel.name))
            .max_by(|one, two| one.0.total_cmp(&two.0))
            .map(|(_, name)| name)
    }
}
