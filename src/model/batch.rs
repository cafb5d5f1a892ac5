//! Launches that were read into one profile and belong in another.

use std::sync::Arc;

use super::launches::{Launches, Renumbered};
use super::{DeviceHint, HintId, Origin, Profile, Text};

/// Launches with the names, origins and devices that are new with them.
///
/// A profile that reads many batches knows most names after the first; each name crosses over once.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) launches: Launches,
    names: Vec<Text>,
    origins: Vec<Arc<Origin>>,
    devices: Vec<DeviceHint>,
}

impl Batch {
    /// Moves the launches out of a profile that gave batches with so many names, origins and devices
    /// before; counts those of this one.
    pub(crate) fn take(profile: &mut Profile, given: &mut [usize; 3]) -> Self {
        let [names, origins, devices] = *given;
        let batch = Self {
            launches: std::mem::take(&mut profile.launches),
            names: profile.names.since(names),
            origins: profile.origins.since(origins),
            devices: profile.devices[devices..].to_vec(),
        };
        let now = [batch.names.len(), batch.origins.len(), batch.devices.len()];
        for (given, now) in given.iter_mut().zip(now) {
            *given += now;
        }
        batch
    }
}

/// The ids that the parts of batches from one profile have in another.
#[derive(Debug, Default)]
pub(crate) struct Ids(Renumbered);

impl Profile {
    /// Appends the launches of a batch to those of a source, as if they had been read here; gives the ids
    /// of devices that are new with them.
    pub(crate) fn append_batch(
        &mut self,
        batch: &Batch,
        source: u16,
        ids: &mut Ids,
    ) -> Vec<HintId> {
        let ids = &mut ids.0;
        ids.sources = source;
        ids.names.extend(batch.names.iter().map(|text| self.names.id(text)));
        ids.origins.extend(batch.origins.iter().map(|origin| self.origins.id(origin)));
        let devices: Vec<HintId> =
            batch.devices.iter().map(|hint| self.hint(hint.clone())).collect();
        ids.devices.extend_from_slice(&devices);
        self.launches.append(&batch.launches, ids);
        devices
    }
}
