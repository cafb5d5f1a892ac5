//! Where in a list a value is, found by its hash.

use std::hash::{BuildHasher, Hash};

use hashbrown::{DefaultHashBuilder, HashTable};

/// Positions in a list of different values, which is kept elsewhere: five bytes for each value.
#[derive(Debug, Clone, Default)]
pub(crate) struct Positions {
    table: HashTable<u32>,
    /// With another seed in each run, so that no file can choose values that collide.
    state: DefaultHashBuilder,
}

impl Positions {
    /// Returns how many positions are known.
    pub(crate) fn len(&self) -> usize {
        self.table.len()
    }

    /// Returns the position of a value; `list` gives the value at a position.
    #[inline]
    pub(crate) fn find<'a, K: Hash + Eq + ?Sized + 'a>(
        &self,
        value: &K,
        list: impl Fn(usize) -> &'a K,
    ) -> Option<usize> {
        let is_same = |at: &u32| list(*at as usize) == value;
        self.table.find(self.state.hash_one(value), is_same).map(|at| *at as usize)
    }

    /// Adds a position whose value has none yet.
    pub(crate) fn add<'a, K: Hash + ?Sized + 'a>(
        &mut self,
        at: usize,
        list: impl Fn(usize) -> &'a K,
    ) {
        let hash = |at: &u32| self.state.hash_one(list(*at as usize));
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        self.table.insert_unique(hash(&at), at, hash);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_where_it_was_added() {
        let list: Vec<String> = (0..5_000).map(|at| format!("kernel {at}")).collect();
        let mut positions = Positions::default();
        for at in 0..list.len() {
            assert_eq!(positions.find(&list[at], |at| &list[at]), None);
            positions.add(at, |at| &list[at]);
        }
        assert_eq!(positions.len(), list.len());
        for (at, value) in list.iter().enumerate() {
            assert_eq!(positions.find(value, |at| &list[at]), Some(at));
        }
    }
}
