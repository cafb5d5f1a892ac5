//! The sums of every kernel in turn, in little memory: there can be as many kernels as launches.

use std::collections::BTreeMap;

use super::beside::Company;
use super::groups::Groups;
use super::law::Alike;
use super::resolve::{self, DeviceUse};
use super::sums::Sums;
use super::{AnalysisError, Instruments, choose_ceilings};
use crate::catalog::Catalog;
use crate::law::{CeilingSet, Nature};
use crate::model::{Profile, Quantity};

/// Launches from which the sums of a kernel are kept, of which it then has few for each launch. Those of
/// the others are made whenever they are asked for.
const MANY: u32 = 64;

/// Visits the sums of every kernel and how long it ran beside others, in the order of the groups.
pub(super) type Each<'a> = &'a dyn Fn(&mut dyn FnMut(usize, &Sums, Company));

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
    /// Quantities of the profile but the time, if all add up. The law then takes the time only to compare it with
    /// the roofline time: how busy units were, which are shares of the time, is not known.
    amounts: Option<Vec<Quantity>>,
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
            let device = setting.of_hint[profile.launches.device(row).position()];
            groups.of(profile, row, device) as u32
        });
        let of_row: Vec<u32> = grouped.collect();
        groups.finish(profile);
        let amounts: Vec<Quantity> =
            profile.launches.quantities().filter(|one| *one != Quantity::Duration).collect();
        let amounts = Some(amounts).filter(|all| all.iter().all(|one| one.is_additive()));
        let quantities = profile.launches.quantities();
        let is_averaged =
            |quantity: &Quantity| !quantity.is_additive() && !matches!(quantity, Quantity::Peak(_));
        let averaged = quantities.filter(is_averaged).collect();
        let (starts, rows) = few(&of_row, groups.keys.len());
        let natures = groups.take_natures(profile);
        let kept = BTreeMap::new();
        let mut summing = Self { setting, averaged, amounts, of_row, natures, starts, rows, kept };
        let mut kept = BTreeMap::<u32, (Sums, Option<Known>)>::new();
        for (row, group) in summing.of_row.iter().enumerate() {
            if summing.rows_of(*group as usize).is_empty() {
                let (sums, known) = kept.entry(*group).or_default();
                summing.add(sums, known, row);
            }
        }
        summing.kept = kept.into_iter().map(|(group, (sums, _))| (group, sums)).collect();
        summing
    }

    /// Visits the sums of every kernel, in order of appearance.
    pub(super) fn each(&self, mut visit: impl FnMut(usize, &Sums)) {
        for group in 0..self.natures.len() {
            if let Some(kept) = self.kept.get(&(group as u32)) {
                visit(group, kept);
                continue;
            }
            let (mut sums, mut known) = (Sums::default(), None);
            for row in self.rows_of(group) {
                self.add(&mut sums, &mut known, *row as usize);
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

    /// Adds a launch to the sums of its kernel, of which another one may be known.
    fn add(&self, sums: &mut Sums, known: &mut Option<Known>, row: usize) {
        let Setting { profile, devices, of_hint, ceilings, instruments } = self.setting;
        let launch = profile.launch(row);
        let roofs = &devices[of_hint[launch.head.device.position()]].roofs;
        let instrument = instruments.get(launch.head.source);
        let nature = self.natures[self.of_row[row] as usize];
        let judge = || Alike::judge(&launch, roofs, ceilings, nature, instrument);
        if let Some(known) = known.as_mut().filter(|known| self.is_alike(known.row, row)) {
            let judged = known.alike.with_time_of(&launch);
            if cfg!(test) {
                assert_eq!(format!("{judged:?}"), format!("{:?}", judge().with_time_of(&launch)));
            }
            sums.add(&launch, judged, &self.averaged);
            return;
        }
        let mut alike = judge();
        sums.add(&launch, alike.with_time_of(&launch), &self.averaged);
        *known = self.amounts.is_some().then_some(Known { row, alike });
    }

    /// Returns `true` if two launches of a kernel differ in nothing but their time.
    fn is_alike(&self, one: usize, other: usize) -> bool {
        let launches = &self.setting.profile.launches;
        let time = |row| launches.get(row, Quantity::Duration).map(|(_, origin)| origin);
        let amount = |row, quantity| {
            launches.get(row, quantity).map(|(value, origin)| (value.to_bits(), origin))
        };
        self.amounts.as_ref().is_some_and(|amounts| {
            launches.source(one) == launches.source(other)
                && time(one) == time(other)
                && amounts.iter().all(|quantity| amount(one, *quantity) == amount(other, *quantity))
        })
    }
}

/// A launch of a kernel, and what holds for those like it.
struct Known {
    row: usize,
    alike: Alike,
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
    use proptest::prelude::*;

    use super::{MANY, few};
    use crate::analysis::{Options, analyze};
    use crate::catalog::Catalog;
    use crate::model::{
        DeviceHint, Head, Origin, OriginKind, Pipe, Profile, Profiler, Quantity, Source, Values,
    };

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

    proptest! {
        /// Whether a launch is like another one is asked of kernels with few and with many; what is taken over is
        /// compared with what the law says of the launch itself, see [`Summing::add`].
        #[test]
        fn a_launch_like_another_is_judged_like_it(
            launches in prop::collection::vec((0..4_u32, 0..4_usize, 0..3_u32, 0..3_u16, 0..3_usize), 1..400),
            busy in any::<bool>(),
        ) {
            let mut profile = Profile::default();
            let origins = [
                Origin::measured("time"),
                Origin::new(OriginKind::Instrumented, "time"),
                Origin::new(OriginKind::Algorithmic, "2·M·N·K").within(0.5, 2.0),
            ]
            .map(|origin| profile.origins.id(&origin));
            let hint = DeviceHint { name: Some("NVIDIA H200".to_owned()), ..DeviceHint::default() };
            let device = profile.hint(hint);
            for profiler in [Profiler::PyProf, Profiler::NsightCompute, Profiler::PyTorch] {
                profile.sources.push(Source { profiler, ..Source::default() });
            }
            let names = ["gemm", "copy", "k", "reduce"].map(|name| profile.names.id(name));
            let mut values = Values::default();
            for (at, (time, name, amount, source, origin)) in launches.iter().enumerate() {
                values.clear();
                if *time > 0 {
                    values.set(Quantity::Duration, f64::from(*time) * 1e-5, origins[origin % 2]);
                }
                if *amount > 0 {
                    let amount = f64::from(*amount) * 1e8;
                    values.set(Quantity::DramBytes, amount, origins[*origin]);
                    values.set(Quantity::Work(Pipe::Fp16Matrix), 3e3 * amount, origins[2]);
                }
                if busy && *source == 1 {
                    values.set(Quantity::DramActive, 0.5, origins[0]);
                }
                // Most are of one kernel.
                let name = names[if at % 3 == 0 { *name } else { 0 }];
                let head = Head { name, device, source: *source, count: 1, ..Head::default() };
                profile.launches.push(head, &values);
            }
            let analysis = analyze(&profile, &Catalog::builtin(), &Options::default()).unwrap();
            let counted: u64 = analysis.kernels.iter().map(|kernel| kernel.launches).sum();
            prop_assert_eq!(counted, launches.len() as u64);
        }
    }
}
