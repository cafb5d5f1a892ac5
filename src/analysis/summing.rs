//! The sums of every kernel in turn, in little memory: there can be as many kernels as launches.

use std::collections::BTreeMap;

use super::groups::Groups;
use super::law;
use super::resolve::{self, DeviceUse};
use super::sums::Sums;
use super::{AnalysisError, Instruments, choose_ceilings};
use crate::catalog::Catalog;
use crate::law::{CeilingSet, Nature};
use crate::model::{Profile, Quantity};

/// Launches from which the sums of a kernel are kept, of which it then has few for each launch. Those of
/// the others are made whenever they are asked for.
const MANY: u32 = 64;

/// What the launches of a profile are compared with.
pub(super) struct Basis {
    pub(super) devices: Vec<DeviceUse>,
    /// For each device hint of the profile, the index of its device.
    pub(super) of_hint: Vec<usize>,
    pub(super) ceilings: CeilingSet,
    /// Why these.
    pub(super) ceilings_reason: String,
    pub(super) instruments: Instruments,
}

impl Basis {
    /// Returns that of a profile; without `ceilings`, those that fit it.
    pub(super) fn of(
        profile: &Profile,
        catalog: &Catalog,
        device: Option<&str>,
        ceilings: Option<CeilingSet>,
    ) -> Result<Self, AnalysisError> {
        let (devices, of_hint) = resolve::devices(profile, catalog, device)?;
        let (ceilings, ceilings_reason) = choose_ceilings(profile, ceilings)?;
        let instruments = Instruments::of(profile);
        Ok(Self { devices, of_hint, ceilings, ceilings_reason, instruments })
    }

    pub(super) fn setting<'a>(&'a self, profile: &'a Profile) -> Setting<'a> {
        let Self { devices, of_hint, ceilings, instruments, .. } = self;
        Setting { profile, devices, of_hint, ceilings: *ceilings, instruments }
    }
}

/// The same with its profile.
#[derive(Clone, Copy)]
pub(super) struct Setting<'a> {
    pub(super) profile: &'a Profile,
    pub(super) devices: &'a [DeviceUse],
    /// For each device hint of the profile, the index of its device.
    pub(super) of_hint: &'a [usize],
    pub(super) ceilings: CeilingSet,
    pub(super) instruments: &'a Instruments,
}

/// The launches of each kernel.
pub(super) struct Summing<'a> {
    setting: Setting<'a>,
    /// Quantities of the profile that do not add up.
    averaged: Vec<Quantity>,
    /// The kernel of each row.
    of_row: Vec<u32>,
    natures: Vec<Nature<f64>>,
    /// Where the rows of each kernel with few launches begin, and after the last where they end.
    starts: Vec<u32>,
    /// These rows, kernel by kernel.
    rows: Vec<u32>,
    /// The sums of kernels with many launches.
    kept: BTreeMap<u32, Sums>,
}

impl<'a> Summing<'a> {
    /// Groups the launches into kernels, and sums those of kernels with many.
    pub(super) fn new(setting: Setting<'a>, groups: &mut Groups) -> Self {
        let profile = setting.profile;
        let grouped = (0..profile.launches.len()).map(|row| {
            let device = setting.of_hint[usize::from(profile.launches.device(row).0)];
            groups.of(profile, row, device).0 as u32
        });
        let of_row: Vec<u32> = grouped.collect();
        groups.finish(profile);
        let quantities = profile.launches.quantities();
        let is_averaged =
            |quantity: &Quantity| !quantity.is_additive() && !matches!(quantity, Quantity::Peak(_));
        let averaged = quantities.filter(is_averaged).collect();
        let (starts, rows) = few(&of_row, groups.keys.len());
        let natures = groups.take_natures(profile);
        let mut kept = BTreeMap::new();
        let mut summing =
            Self { setting, averaged, of_row, natures, starts, rows, kept: BTreeMap::new() };
        for (row, group) in summing.of_row.iter().enumerate() {
            if summing.rows_of(*group as usize).is_empty() {
                summing.add(kept.entry(*group).or_default(), row);
            }
        }
        summing.kept = kept;
        summing
    }

    /// Visits the sums of every kernel, in order of appearance.
    pub(super) fn each(&self, mut visit: impl FnMut(usize, &Sums)) {
        for group in 0..self.natures.len() {
            if let Some(kept) = self.kept.get(&(group as u32)) {
                visit(group, kept);
                continue;
            }
            let mut sums = Sums::default();
            for row in self.rows_of(group) {
                self.add(&mut sums, *row as usize);
            }
            visit(group, &sums);
        }
    }

    /// Returns the rows of a kernel with few launches.
    fn rows_of(&self, group: usize) -> &[u32] {
        &self.rows[self.starts[group] as usize..self.starts[group + 1] as usize]
    }

    /// Returns the kernel of each row.
    pub(super) fn of_row(&self) -> &[u32] {
        &self.of_row
    }

    /// Returns the kernel of each row, and the likely work of each.
    pub(super) fn into_groups(self) -> (Vec<u32>, Vec<Nature<f64>>) {
        (self.of_row, self.natures)
    }

    fn add(&self, sums: &mut Sums, row: usize) {
        let Setting { profile, devices, of_hint, ceilings, instruments } = self.setting;
        let launch = profile.launch(row);
        let roofs = &devices[of_hint[usize::from(launch.head.device.0)]].roofs;
        let instrument = instruments.get(launch.head.source);
        let nature = self.natures[self.of_row[row] as usize];
        let judged = law::judge(&launch, roofs, ceilings, nature, instrument);
        sums.add(&launch, &judged, &self.averaged);
    }
}

/// Returns where the rows of each group begin, and the rows; groups with many have none.
fn few(of_row: &[u32], groups: usize) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0_u32; groups + 1];
    for group in of_row {
        starts[*group as usize] += 1;
    }
    let mut next = 0;
    for start in &mut starts {
        let count = std::mem::replace(start, next);
        next += if count < MANY { count } else { 0 };
    }
    let mut rows = vec![0; next as usize];
    let mut free = starts.clone();
    for (row, group) in of_row.iter().enumerate() {
        let group = *group as usize;
        if starts[group] < starts[group + 1] {
            rows[free[group] as usize] = row as u32;
            free[group] += 1;
        }
    }
    (starts, rows)
}

#[cfg(test)]
mod tests {
    use super::{MANY, few};

    #[test]
    fn rows_of_kernels_with_few_launches_are_listed_in_order() {
        let mut of_row = vec![1, 0, 1, 3];
        of_row.extend((0..MANY).map(|_| 2));
        of_row.extend([3, 0]);
        let last = of_row.len() as u32 - 1;
        let (starts, rows) = few(&of_row, 4);
        assert_eq!(starts, [0, 2, 4, 4, 6]);
        assert_eq!(rows, [1, last, 0, 2, 3, last - 1]);
    }
}
