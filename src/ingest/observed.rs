//! What the launches of a file show of its devices beside what it says of them.

use super::workload::Machine;
use crate::model::{HintId, Profile};
use crate::units::Hertz;

/// What the launches of a file show of its devices.
#[derive(Debug, Default)]
pub(super) struct Observed {
    pub(super) devices: Vec<HintId>,
    pub(super) memory_clock: Option<Hertz>,
    pub(super) l2_bytes: Option<u64>,
    /// What the file says of the device of other files, if it has no launches.
    pub(super) machine: Option<Machine>,
}

impl Observed {
    /// Sees a device.
    pub(super) fn see(&mut self, device: HintId) {
        if !self.devices.contains(&device) {
            self.devices.push(device);
        }
    }

    /// Adds it to the descriptions of the devices, but for what it says of other files.
    pub(super) fn complete(self, profile: &mut Profile) -> Option<Machine> {
        for id in &self.devices {
            let device = &mut profile.devices[usize::from(id.0)];
            device.observed_memory_clock = self.memory_clock.or(device.observed_memory_clock);
            device.l2_bytes = device.l2_bytes.or(self.l2_bytes);
        }
        self.machine
    }
}
