//! What the launches of a file show of its devices beside what it says of them.

use crate::model::{HintId, Profile};
use crate::units::Hertz;

/// What the launches of a file show of its devices.
#[derive(Debug, Default)]
pub(super) struct Observed {
    pub(super) devices: Vec<HintId>,
    pub(super) memory_clock: Option<Hertz>,
    pub(super) l2_bytes: Option<u64>,
}

impl Observed {
    /// Adds it to the descriptions of the devices.
    pub(super) fn complete(&self, profile: &mut Profile) {
        for id in &self.devices {
            let device = &mut profile.devices[usize::from(id.0)];
            device.observed_memory_clock = self.memory_clock.or(device.observed_memory_clock);
            device.l2_bytes = device.l2_bytes.or(self.l2_bytes);
        }
    }
}
