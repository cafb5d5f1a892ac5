//! Descriptions of devices, found by what they say.

use std::hash::{BuildHasher, Hash};

use hashbrown::{DefaultHashBuilder, HashTable};

use super::DeviceHint;
use crate::units::Hertz;

/// Where each description is in a list that is kept elsewhere: a file may describe as many devices as it has launches.
#[derive(Debug, Default)]
pub(crate) struct Described {
    table: HashTable<u32>,
    state: DefaultHashBuilder,
}

impl Described {
    /// Returns the position of a description. The list may have changed since, but grows by what is added here only.
    pub(super) fn find(&mut self, list: &[DeviceHint], hint: &DeviceHint) -> Option<usize> {
        if self.table.len() != list.len() {
            self.table.clear();
            (0..list.len()).for_each(|at| self.enter(list, at));
        }
        let hash = self.hash(hint);
        self.table.find(hash, |at| list[*at as usize] == *hint).map(|at| *at as usize)
    }

    /// Adds the last one of the list.
    pub(super) fn add_last(&mut self, list: &[DeviceHint]) {
        self.enter(list, list.len() - 1);
    }

    fn enter(&mut self, list: &[DeviceHint], at: usize) {
        let hash = self.hash(&list[at]);
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        let Self { table, state } = self;
        table.insert_unique(hash, at, |at| hash_of(state, &list[*at as usize]));
    }

    fn hash(&self, hint: &DeviceHint) -> u64 {
        hash_of(&self.state, hint)
    }
}

/// Of what descriptions differ in.
fn hash_of(state: &DefaultHashBuilder, hint: &DeviceHint) -> u64 {
    let bits = |clock: Option<Hertz>| clock.map(|clock| clock.get().to_bits());
    let clocks = [hint.max_sm_clock, hint.max_memory_clock, hint.observed_memory_clock].map(bits);
    let DeviceHint { name, ordinal, compute_capability, gfx, sms, l2_bytes, .. } = hint;
    let texts = [name, ordinal, compute_capability, gfx];
    let mut hasher = state.build_hasher();
    (texts, sms, l2_bytes, clocks).hash(&mut hasher);
    std::hash::Hasher::finish(&hasher)
}

#[cfg(test)]
mod tests {
    use super::super::{HintId, Profile};
    use super::*;

    fn gpu(ordinal: usize) -> DeviceHint {
        DeviceHint { ordinal: Some(ordinal.to_string()), ..DeviceHint::default() }
    }

    /// More than numbers of 16 bits can tell apart.
    #[test]
    fn each_description_is_found_where_it_is() {
        let mut profile = Profile::default();
        let ids: Vec<HintId> = (0..70_000).map(|at| profile.hint(gpu(at))).collect();
        assert_eq!(profile.devices.len(), 70_000);
        for at in [0, 255, 65_535, 65_536, 69_999] {
            assert_eq!((ids[at].position(), profile.hint(gpu(at))), (at, ids[at]));
        }
    }

    #[test]
    fn a_list_that_was_changed_meanwhile_is_read_again() {
        let mut profile = Profile::default();
        (0..4).for_each(|at| assert_eq!(profile.hint(gpu(at)).position(), at));
        profile.devices.remove(0);
        assert_eq!(profile.hint(gpu(3)).position(), 2);
        assert_eq!(profile.hint(gpu(0)).position(), 3);
        assert_eq!((profile.hint(gpu(0)).position(), profile.devices.len()), (3, 4));
    }
}
