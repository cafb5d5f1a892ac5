//! Which launches are one kernel: same name, operator, shape and device.

use std::collections::HashMap;
use std::sync::Arc;

use super::intent::Intent;
use crate::model::{KernelName, Launch, NameId, Profile};

/// Head of the name, operator, shape and device: what makes launches one kernel.
pub(super) type Key = (usize, NameId, u32, usize);

/// The kernels met so far.
#[derive(Default)]
pub(super) struct Groups {
    heads: HashMap<String, usize>,
    head_of_name: HashMap<NameId, usize>,
    pub(super) intents: Vec<Intent>,
    pub(super) short_names: Vec<Arc<str>>,
    index: HashMap<Key, usize>,
    pub(super) keys: Vec<Key>,
    last: Option<(Key, usize)>,
}

impl Groups {
    /// The group of a launch, and the hints of its name. Groups are numbered as they appear.
    pub(super) fn of(
        &mut self,
        profile: &Profile,
        launch: &Launch<'_>,
        device: usize,
    ) -> (usize, Intent) {
        let (name, operator, shape, _) = profile.launches.kernel_key(launch.row());
        let head = match self.head_of_name.get(&name) {
            Some(head) => *head,
            None => self.head(profile, name),
        };
        let key = (head, operator, shape, device);
        if let Some((last, group)) = self.last
            && last == key
        {
            return (group, self.intents[head]);
        }
        let group = *self.index.entry(key).or_insert_with(|| {
            self.keys.push(key);
            self.keys.len() - 1
        });
        self.last = Some((key, group));
        (group, self.intents[head])
    }

    fn head(&mut self, profile: &Profile, name: NameId) -> usize {
        let KernelName { head, short } = KernelName::parse(profile.names.get(name));
        let next = self.intents.len();
        let intent = Intent::of(&head);
        let found = *self.heads.entry(head).or_insert(next);
        if found == next {
            self.intents.push(intent);
            self.short_names.push(short.into());
        }
        self.head_of_name.insert(name, found);
        found
    }
}
