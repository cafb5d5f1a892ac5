//! What the launches of a file show of its devices beside what it says of them.

use std::collections::HashMap;

use super::passes::Pass;
use super::workload::Machine;
use crate::model::{DeviceHint, HintId, Profile};
use crate::units::Hertz;

/// What the launches of a file show of its devices.
#[derive(Debug, Default)]
pub(super) struct Observed {
    pub(super) devices: Vec<HintId>,
    pub(super) memory_clock: Option<Hertz>,
    pub(super) l2_bytes: Option<u64>,
    /// Whether devices stay as the file describes them: our own table has for each launch what was known of its device.
    pub(super) are_told: bool,
    /// What the file says of the device of other files, if it has no launches.
    pub(super) machine: Option<Machine>,
    /// Counters that those of other files may complete.
    pub(super) passes: Vec<Pass>,
}

/// What a file says about other files.
#[derive(Debug, Default)]
pub(super) struct Beside {
    pub(super) machines: Vec<Machine>,
    pub(super) passes: Vec<Pass>,
}

impl Beside {
    pub(super) fn extend(&mut self, other: Self) {
        self.machines.extend(other.machines);
        self.passes.extend(other.passes);
    }
}

impl Observed {
    /// Sees a device.
    pub(super) fn see(&mut self, device: HintId) {
        if !self.devices.contains(&device) {
            self.devices.push(device);
        }
    }

    /// Gives devices the number of multiprocessors that some launches of the file tell and others do not, where all
    /// else that is said of them is the same.
    fn count_multiprocessors(&self, profile: &mut Profile) {
        let place = |id: &HintId| id.position();
        let told = self.devices.iter().filter(|id| profile.devices[place(id)].sms.is_some());
        // By name and number, in which devices of a file differ.
        let mut told_of: HashMap<_, Vec<DeviceHint>> = HashMap::new();
        for id in told {
            let device = &profile.devices[place(id)];
            let short = (device.name.clone(), device.ordinal.clone());
            told_of.entry(short).or_default().push(device.clone());
        }
        if told_of.is_empty() {
            return;
        }
        for id in &self.devices {
            let device = &mut profile.devices[place(id)];
            let Some(others) = told_of.get(&(device.name.clone(), device.ordinal.clone())) else {
                continue;
            };
            if device.sms.is_some() {
                continue;
            }
            // What launches reached describes them, not the device.
            let bare = |hint: &DeviceHint| DeviceHint { sms: None, reached: None, ..hint.clone() };
            let alike = others.iter().filter(|other| bare(other) == bare(device));
            let mut counts: Vec<u32> = alike.filter_map(|other| other.sms).collect();
            counts.dedup();
            if let [sms] = counts.as_slice() {
                device.sms = Some(*sms);
            }
        }
    }

    /// Adds it to the descriptions of the devices, but for what it says of other files. The launches of the file begin in
    /// this row.
    pub(super) fn complete(self, profile: &mut Profile, first: usize) -> Beside {
        for id in &self.devices {
            let device = &mut profile.devices[id.position()];
            device.observed_memory_clock = self.memory_clock.or(device.observed_memory_clock);
            device.l2_bytes = device.l2_bytes.or(self.l2_bytes);
            device.forget_impossible();
        }
        if !self.are_told {
            self.count_multiprocessors(profile);
        }
        let passes = self.passes.into_iter().map(|pass| pass.placed(first)).collect();
        Beside { machines: self.machine.into_iter().collect(), passes }
    }
}

#[cfg(test)]
mod tests {
    use crate::ingest::{Options, read_text};
    use crate::model::Quantity;
    use crate::units::Hertz;

    /// A rule states it between the second launch and the third.
    #[test]
    fn all_launches_of_a_file_are_on_the_device_whose_size_a_rule_states() {
        let header = "ID,Process ID,Process Name,Host Name,Kernel Name,Context,Stream,Block Size,Grid Size,Device,CC,Section Name,Metric Name,Metric Unit,Metric Value,Rule Name,Rule Type,Rule Description\n";
        let cells = |id: u32| format!("{id},1,a,h,k,1,7,\"(256, 1, 1)\",\"(64, 1, 1)\",0,8.0,");
        let launch = |id: u32| format!("{}Speed,gpu__time_duration.sum,ns,1000,,,\n", cells(id));
        let rule = format!(
            "{}Launch Statistics,,,,LaunchConfiguration,WRN,fewer blocks than the GPU's 108 multiprocessors\n",
            cells(1)
        );
        let text = format!("{header}{}{}{rule}{}", launch(0), launch(1), launch(2)).leak();
        let options = Options::default();
        let found = read_text("list.csv", text, &options).unwrap();
        assert_eq!((found.launches.len(), found.devices.len()), (3, 1));
        assert_eq!(found.devices[0].sms, Some(108));
    }

    /// 1,593 MHz in one launch, and 31.9 THz in the other, which is no clock.
    #[test]
    fn a_clock_beyond_all_is_not_that_of_the_device() {
        let text = "ID,Process ID,Kernel Name,Block Size,Grid Size,Device,CC,gpu__time_duration.sum,dram__cycles_elapsed.avg.per_second\n\
             ,,,,,,,ns,Ghz\n\
             0,1,k,\"(256, 1, 1)\",\"(64, 1, 1)\",0,8.0,1000,1.593\n\
             1,1,k,\"(256, 1, 1)\",\"(64, 1, 1)\",0,8.0,1000,31920.002\n";
        let found = read_text("page.csv", text, &Options::default()).unwrap();
        let clocks: Vec<Option<f64>> = (0..2)
            .map(|row| found.launches.get(row, Quantity::DramClock).map(|(clock, _)| clock))
            .collect();
        assert_eq!(clocks, [Some(1.593e9), None]);
        assert_eq!(found.devices[0].observed_memory_clock, Some(Hertz::new(1.593e9)));
    }
}
