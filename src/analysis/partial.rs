//! The analysis of many profiles, one at a time: sums that merge, and the verdicts once all are in.

use std::collections::BTreeMap;

use super::beside::{Beside, Company};
use super::groups::Groups;
use super::over_ranks::{KernelRanks, RankFigures, RankId};
use super::record::{Key, PartKey, Record};
use super::resolve::{self, DeviceUse, NamedDevices};
use super::sketch::Sketch;
use super::summing::{Basis, Summing};
use super::sums::Sums;
use super::{Analysis, AnalysisError, Instruments, Options, Setup, assemble, conclude};
use crate::catalog::Catalog;
use crate::law::CeilingSet;
use crate::model::{DeviceHint, Head, HintId, Pipe, Profile, Quantity, Source, Values};
use crate::units::{Hertz, MergedSum, Seconds};

/// Sums of the launches of many profiles by kernel, with the longest launch of each.
#[derive(Default)]
pub struct Partial {
    ceilings: Option<CeilingSet>,
    /// A row per kernel, and rows that are no longer needed.
    profile: Profile,
    devices: Vec<DeviceUse>,
    of_hint: Vec<usize>,
    groups: Groups,
    /// By group.
    kernels: Vec<Merged>,
    /// What to check of the bytes of the one profile that it was made of.
    halved_reads: Option<String>,
}

/// What is known of a kernel.
#[derive(Debug, Clone, Default)]
struct Merged {
    record: Record,
    /// Row of its longest launch.
    row: usize,
    /// Times of its launches.
    times: Sketch,
    ranks: KernelRanks,
}

/// A kernel of a partial, for documents.
#[derive(Debug, Clone)]
pub struct KernelPart {
    /// Row of its longest launch.
    pub row: usize,
    /// Id of its device in the catalog; `None` if it is unknown.
    pub device: Option<String>,
    /// Its sums by name, each as terms that do not overlap.
    pub figures: BTreeMap<String, Vec<f64>>,
    /// Times of its launches.
    pub times: Sketch,
    /// Its time in each rank.
    pub ranks: KernelRanks,
}

/// An analysis of all that was merged.
#[derive(Debug)]
pub struct Concluded {
    /// The longest launch of each kernel.
    pub profile: Profile,
    /// The verdicts.
    pub analysis: Analysis,
    /// For each row of the profile: the times of the kernel's launches, and of its ranks.
    pub spread: Vec<(Sketch, KernelRanks)>,
}

impl Partial {
    /// Sums the launches of one rank; without `ceilings`, those that fit it.
    ///
    /// # Errors
    /// [`AnalysisError`] under the same conditions as [`super::analyze`].
    pub fn of(
        profile: &Profile,
        rank: &RankId,
        catalog: &Catalog,
        options: &Options,
        ceilings: Option<CeilingSet>,
    ) -> Result<Self, AnalysisError> {
        let basis = Basis::of(profile, catalog, options.device.as_deref(), ceilings)?;
        let mut groups = Groups::new(options.taxonomy.clone());
        let summing = Summing::new(basis.setting(profile), &mut groups);
        let mut times = vec![Sketch::default(); groups.keys.len()];
        let mut placed = Beside::default();
        for (launch, group) in profile.iter().zip(summing.of_row()) {
            placed.add(&launch, *group);
            if let Some((time, _)) = launch.duration() {
                times[*group as usize].add(time, u64::from(launch.head.count));
            }
        }
        let mut partial = Self {
            ceilings: Some(basis.ceilings),
            groups: Groups::new(options.taxonomy.clone()),
            halved_reads: resolve::halved_reads(profile, &basis.devices, &basis.of_hint),
            ..Self::default()
        };
        let mut times = times.into_iter();
        let company = placed.times(groups.keys.len(), |group| groups.computes(group));
        summing.each(|group, sums| {
            let mut sums = sums.clone();
            sums.company = company.get(group).copied().unwrap_or_default();
            let merged = Merged {
                row: sums.longest.0,
                record: Record::of(&mut sums),
                times: times.next().unwrap_or_default(),
                ranks: KernelRanks::default(),
            };
            partial.absorb(profile, &basis.devices[groups.keys[group].3 as usize], merged);
        });
        for merged in &mut partial.kernels {
            let measured = Seconds::new(merged.record.get(Key::Measured));
            merged.ranks = KernelRanks::of(rank, measured);
        }
        Ok(partial)
    }

    /// Returns the ceilings; `None` while nothing was merged.
    #[must_use]
    pub fn ceilings(&self) -> Option<CeilingSet> {
        self.ceilings
    }

    /// Returns the first way in which an export contradicts the device that was asked for; a document of the partial does
    /// not keep what shows it.
    #[must_use]
    pub fn contradiction(&self) -> Option<String> {
        let mut asked = self.devices.iter().filter(|used| used.is_asked);
        asked.find_map(|used| Some(format!("{} ({})", used.contradictions().first()?, used.how)))
    }

    /// Returns what to check of bytes whose counters take long reads of MI350 for shorter ones; nothing of what was
    /// merged, as documents keep it with the rank.
    #[must_use]
    pub fn halved_reads(&self) -> Option<&str> {
        self.halved_reads.as_deref()
    }

    /// Returns the number of kernels.
    #[must_use]
    pub fn kernels(&self) -> usize {
        self.kernels.len()
    }

    /// Adds the launches of another one, of other ranks and with the same ceilings. The result does not depend on
    /// order or grouping.
    pub fn merge(&mut self, other: Self) {
        if self.ceilings.is_none() {
            *self = other;
            return;
        }
        let Self { profile, devices, of_hint, kernels, .. } = other;
        for merged in kernels {
            let device = of_hint[profile.launches.head(merged.row).device.position()];
            self.absorb(&profile, &devices[device], merged);
        }
        // Rows of kernels that a longer launch replaced, and of which only the key was needed.
        if self.profile.launches.len() > 4 * self.kernels.len() + 8192 {
            self.compact();
        }
    }

    /// Adds a kernel of a profile.
    fn absorb(&mut self, from: &Profile, device: &DeviceUse, mut merged: Merged) {
        let launch = from.launch(merged.row);
        let mut head = self.head(from, launch.head);
        head.device = self.hint(launch.head.device, from, device);
        let row = self.profile.launches.push(head, &Values::default());
        let device = self.of_hint[head.device.position()];
        let group = self.groups.of(&self.profile, row, device);
        let is_longer = self.kernels.get(group).is_none_or(|known| {
            let key = |profile: &Profile, row: usize, record: &Record| {
                let launch = profile.launch(row);
                let head = launch.head;
                let name = launch.kernel().to_owned();
                (record.get(Key::Longest), name, head.process, head.id, head.start)
            };
            let (new, old) = (
                key(from, merged.row, &merged.record),
                key(&self.profile, known.row, &known.record),
            );
            let by_head = || (&new.1, new.2, new.3, new.4).cmp(&(&old.1, old.2, old.3, old.4));
            // Ranks may agree in all of it, as containers do in their processes: then the figures decide, so that the same
            // launch stands for the kernel whatever rank comes first.
            let by_rest = || rest(from, merged.row).cmp(&rest(&self.profile, known.row));
            let order = old.0.total_cmp(&new.0).then_with(by_head).then_with(by_rest);
            order.is_lt()
        });
        if is_longer {
            let mut values = Values::default();
            for quantity in from.launches.quantities() {
                if let Some((value, origin)) = launch.get(quantity) {
                    let origin = self.profile.origins.id(origin);
                    values.set(quantity, value, origin);
                }
            }
            self.profile.launches.fill(row, &values);
        }
        merged.row = row;
        match self.kernels.get_mut(group) {
            None => self.kernels.push(merged),
            Some(known) => {
                known.record.merge(&merged.record);
                known.times.merge(&merged.times);
                known.ranks.merge(&merged.ranks);
                if is_longer {
                    known.row = row;
                }
            }
        }
    }

    /// Returns the head of a launch with the ids of this profile; which file it is from no longer counts.
    fn head(&mut self, from: &Profile, head: Head) -> Head {
        let names = &mut self.profile.names;
        let source = from.sources.get(usize::from(head.source));
        let source = Source {
            format: source.map_or_else(String::new, |known| known.format.clone()),
            profiler: source.map_or_else(Default::default, |known| known.profiler),
            keeps_caches: source.is_some_and(|known| known.keeps_caches),
            ..Source::default()
        };
        let sources = &mut self.profile.sources;
        let is_it = |known: &Source| {
            known.format == source.format
                && known.profiler == source.profiler
                && known.keeps_caches == source.keeps_caches
        };
        let at = sources.iter().position(is_it).unwrap_or_else(|| {
            sources.push(source);
            sources.len() - 1
        });
        Head {
            source: u16::try_from(at).unwrap_or(u16::MAX),
            name: names.id(from.names.get(head.name)),
            operator: names.id(from.names.get(head.operator)),
            place: names.id(from.names.get(head.place)),
            ..head
        }
    }

    /// Returns the id of a device here; what differs from launch to launch of one device is left out.
    fn hint(&mut self, id: HintId, from: &Profile, device: &DeviceUse) -> HintId {
        let hint = from.devices.get(id.position()).cloned().unwrap_or_default();
        let hint = DeviceHint { ordinal: None, observed_memory_clock: None, ..hint };
        // What the launches of one rank say against the catalog makes no other device of it.
        let is_it = |known: &DeviceUse| match (&known.device, &device.device) {
            (Some(one), Some(two)) => one.id == two.id && known.hint.reached == device.hint.reached,
            _ => known.is_same(device),
        };
        let at = self.devices.iter().position(is_it);
        let at = at.unwrap_or_else(|| {
            self.devices.push(device.clone());
            self.devices.len() - 1
        });
        // What the launches of any rank say against it is said, the same whatever rank comes first: the most, of equally
        // many that with the largest figures.
        let weight = |notes: &[String]| (notes.len(), notes.concat().len(), notes.concat());
        let known = &mut self.devices[at].notes;
        if weight(&device.notes) > weight(known) {
            known.clone_from(&device.notes);
        }
        // One description may belong to several devices where only the launches tell them apart.
        let mut known = self.profile.devices.iter().zip(&self.of_hint);
        let place = known.position(|(known, of)| *known == hint && *of == at);
        let place = place.unwrap_or_else(|| {
            self.profile.devices.push(hint);
            self.of_hint.push(at);
            self.profile.devices.len() - 1
        });
        HintId::at(place)
    }

    /// Leaves out rows that are no longer needed, with their names and origins.
    fn compact(&mut self) {
        let old = std::mem::take(&mut self.profile);
        let (devices, of_hint) =
            (std::mem::take(&mut self.devices), std::mem::take(&mut self.of_hint));
        self.groups = self.groups.again();
        for merged in std::mem::take(&mut self.kernels) {
            let device = of_hint[old.launches.head(merged.row).device.position()];
            self.absorb(&old, &devices[device], merged);
        }
    }

    /// Returns the figures of the launches so far; those of one rank tell why it is slow.
    #[must_use]
    pub fn figures(&self) -> RankFigures {
        let mut devices: Vec<String> =
            self.devices.iter().map(|device| device.name().to_owned()).collect();
        devices.sort();
        let mut figures = RankFigures { devices: devices.into(), ..RankFigures::default() };
        let ceilings = self.ceilings.unwrap_or(CeilingSet::Spec);
        let mut sums: BTreeMap<&str, MergedSum> = BTreeMap::new();
        for (group, merged) in self.kernels.iter().enumerate() {
            let record = &merged.record;
            let measured = record.get(Key::Measured);
            figures.launches = figures.launches.saturating_add(record.get(Key::Launches) as u64);
            let mut add = |name, value| sums.entry(name).or_default().add(value);
            add("measured", measured);
            if self.groups.class(group).crosses_link() {
                add("communication", measured);
            } else if !record.is_faster(ceilings) {
                add("judged", record.get(Key::Judged(PartKey::Time)));
                add("roofline", record.get(Key::Judged(PartKey::Roofline)));
            }
            for of in [Key::Judged, Key::Rest] {
                add("bytes", record.get(of(PartKey::Bytes)));
                for pipe in Pipe::ALL {
                    add("operations", record.get(of(PartKey::Operations(*pipe))));
                }
            }
            add("clock", record.get(Key::AverageSum(Quantity::SmClock)));
            add("clocked", record.get(Key::AverageWeight(Quantity::SmClock)));
        }
        let of = |name: &str| sums.get(name).map_or(0.0, MergedSum::get);
        figures.measured = Seconds::new(of("measured"));
        figures.communication = Seconds::new(of("communication"));
        figures.judged = Seconds::new(of("judged"));
        figures.roofline = Seconds::new(of("roofline"));
        (figures.operations, figures.bytes) = (of("operations"), of("bytes"));
        let clocked = of("clocked");
        figures.clock = (clocked > 0.0).then(|| Hertz::new(of("clock") / clocked));
        figures
    }

    /// Returns the same with its kernels in the order of their names, whatever the order of merging was.
    #[must_use]
    pub fn ordered(self) -> Self {
        let mut ordered =
            Self { ceilings: self.ceilings, groups: self.groups.again(), ..Self::default() };
        let mut kernels = self.kernels;
        kernels.sort_by_cached_key(|merged| {
            let launch = self.profile.launch(merged.row);
            let operator = self.profile.names.get(launch.head.operator);
            let device = self.of_hint[launch.head.device.position()];
            let shape = format!("{:?}", launch.head.shape);
            (launch.kernel(), operator, shape, self.devices[device].name().to_owned())
        });
        for merged in kernels {
            let device = self.of_hint[self.profile.launches.head(merged.row).device.position()];
            ordered.absorb(&self.profile, &self.devices[device], merged);
        }
        ordered
    }

    /// Returns the launches that the rows of the kernels are of.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Iterates over the kernels, for documents.
    pub fn parts(&self) -> impl Iterator<Item = KernelPart> {
        self.kernels.iter().map(|merged| {
            let device = self.of_hint[self.profile.launches.head(merged.row).device.position()];
            let device = self.devices[device].device.as_ref();
            let figures = merged.record.0.iter();
            KernelPart {
                row: merged.row,
                device: device.map(|device| device.id.clone()),
                figures: figures.map(|(key, figure)| (key.name(), figure.terms())).collect(),
                times: merged.times.clone(),
                ranks: merged.ranks.clone(),
            }
        })
    }

    /// Makes a partial of kernels whose longest launches are the rows of a profile.
    ///
    /// # Errors
    /// A description of what is wrong: a figure or a device that is not known.
    pub fn from_parts(
        profile: &Profile,
        parts: Vec<KernelPart>,
        ceilings: CeilingSet,
        devices: &NamedDevices<'_>,
        options: &Options,
    ) -> Result<Self, String> {
        let groups = Groups::new(options.taxonomy.clone());
        let mut partial = Self { ceilings: Some(ceilings), groups, ..Self::default() };
        for part in parts {
            let mut record = Record::default();
            for (name, terms) in part.figures {
                let key = Key::named(&name).ok_or_else(|| format!("unknown figure {name:?}"))?;
                record.0.insert(key, key.of_terms(&terms));
                if record.get(key) < 0.0 && !key.is_average() {
                    return Err(format!("figure {name:?} is negative"));
                }
            }
            record.complete();
            let hint = profile.launches.head(part.row).device;
            let hint = profile.devices.get(hint.position()).cloned().unwrap_or_default();
            let device =
                devices.get(&hint, part.device.as_deref()).map_err(|error| error.to_string())?;
            let merged = Merged { row: part.row, record, times: part.times, ranks: part.ranks };
            partial.absorb(profile, &device, merged);
        }
        Ok(partial)
    }

    /// Returns the verdicts on all kernels.
    #[must_use]
    pub fn conclude(self, options: &Options) -> Concluded {
        let ceilings = self.ceilings.unwrap_or(CeilingSet::Spec);
        let Self { profile, devices, of_hint, mut groups, kernels, .. } = self.ordered();
        let natures = groups.take_natures(&profile);
        groups.finish(&profile);
        let instruments = Instruments::of(&profile);
        let ceilings_reason = "of all parts".to_owned();
        let basis = Basis { devices, of_hint, ceilings, ceilings_reason, instruments };
        let each = |visit: &mut dyn FnMut(usize, &Sums, Company)| {
            for (group, merged) in kernels.iter().enumerate() {
                let sums = merged.record.sums(merged.row);
                visit(group, &sums, sums.company);
            }
        };
        let found = conclude(&basis.setting(&profile), options, groups, &each);
        let of_row = (0..kernels.len() as u32).collect();
        let setup = Setup { profile: &profile, basis, of_row, natures };
        let analysis = assemble(setup, options, found);
        let spread = kernels.into_iter().map(|merged| (merged.times, merged.ranks)).collect();
        Concluded { profile, analysis, spread }
    }
}

/// What a launch has beside its name, process, number and start, as a text to order by.
fn rest(profile: &Profile, row: usize) -> String {
    let launch = profile.launch(row);
    let figure = |quantity| Some((quantity, launch.get(quantity)?));
    let figures: Vec<_> = profile.launches.quantities().filter_map(figure).collect();
    let source = profile.sources.get(usize::from(launch.head.source));
    let from = source.map(|source| (&source.format, source.profiler));
    let place = profile.names.get(launch.head.place);
    format!(
        "{:?}",
        (launch.head.shape, launch.head.stream, launch.head.count, place, from, figures)
    )
}
