//! Things that come again and again, each kept once.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// Things of which there are few, each known by its position in the order in which they came.
#[derive(Debug)]
pub(in crate::ingest) struct Distinct<T> {
    at: HashMap<T, u32>,
}

impl<T> Default for Distinct<T> {
    fn default() -> Self {
        Self { at: HashMap::new() }
    }
}

impl<T: Hash + Eq> Distinct<T> {
    /// The position of one.
    pub(in crate::ingest) fn position<Q>(&mut self, item: &Q) -> u32
    where
        T: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = T> + ?Sized,
    {
        if let Some(at) = self.at.get(item) {
            return *at;
        }
        let at = u32::try_from(self.at.len()).unwrap_or(u32::MAX);
        self.at.insert(item.to_owned(), at);
        at
    }

    /// All of them, in no order.
    pub(in crate::ingest) fn iter(&self) -> impl Iterator<Item = &T> {
        self.at.keys()
    }

    /// All of them, by position.
    pub(in crate::ingest) fn into_list(self) -> Vec<T> {
        let mut list: Vec<(T, u32)> = self.at.into_iter().collect();
        list.sort_by_key(|(_, at)| *at);
        list.into_iter().map(|(item, _)| item).collect()
    }
}
