//! Measured data: a [`Profile`] of [`Launches`] with the [`Origin`] of each figure.
//!
//! A million launches must fit in memory, so they are kept as columns; [`Profile::launch`] gives a
//! typed view of one. A missing value is `None`, never zero.

mod advice;
mod apart;
mod batch;
mod data_type;
mod date;
mod described;
mod launches;
mod memory_level;
mod names;
mod origin;
mod pipe;
mod positions;
mod profiler;
mod quantity;
mod reached;
mod shapes;
mod short;
mod source;
mod text;
mod timeline;
mod uniform;

use std::collections::{HashMap, HashSet};

pub use advice::{AdviceKind, Speedup, SpeedupScope, ToolAdvice};
pub(crate) use apart::{elide_apart, make_unique};
pub(crate) use batch::{Batch, Ids};
pub use data_type::DataType;
pub use date::Date;
use described::Described;
use launches::Renumbered;
pub use launches::{Head, Launch, Launches, Values};
pub use memory_level::MemoryLevel;
pub use names::{KernelName, NameId, Names, printable};
pub(crate) use origin::MI350;
pub use origin::{Origin, OriginId, OriginKind, Origins};
pub use pipe::{Engine, Pipe, Precision};
pub(crate) use positions::Positions;
pub use profiler::Profiler;
pub use quantity::Quantity;
pub use reached::Reached;
pub use shapes::{Dim3, Shape};
pub(crate) use short::elide;
pub use source::{DeviceHint, HintId, Mended, Recorded, Skip, Skips, Source};
pub(crate) use source::{PRINTED_AS_ZERO, skipped};
pub use text::Text;
pub(crate) use text::Texts;
pub use timeline::{Activity, HostMemory, HostWait, LaunchCall, Step};

/// Everything read from one or more exports.
#[derive(Debug, Default)]
pub struct Profile {
    /// The files, in the order given.
    pub sources: Vec<Source>,
    /// The launches of all files, in file order, as columns.
    pub launches: Launches,
    /// Copies and fills of the traces, which are no launches, in file order.
    pub activities: Vec<Activity>,
    /// Calls that launched work of the GPUs of the traces, in file order.
    pub calls: Vec<LaunchCall>,
    /// Calls of the host that wait for a GPU, in file order.
    pub waits: Vec<HostWait>,
    /// Steps of the loops that were traced, in order for each file and device.
    pub steps: Vec<Step>,
    /// Interned kernel names, operator names and parameters.
    pub names: Names,
    /// Origins of the values; columns refer to these by [`OriginId`].
    pub origins: Origins,
    /// Attributes of the devices in the files; launches refer to these by [`HintId`].
    pub devices: Vec<DeviceHint>,
    /// Where those are.
    pub(crate) described: Described,
    /// Caveats about the whole profile.
    pub notes: Vec<String>,
    /// Those of the notes that change what the figures mean; reports begin with them.
    pub checks: Vec<String>,
    /// Number of files found by a search that could not be read; the notes have the reasons.
    pub unread: usize,
    /// Their paths.
    pub unread_files: Vec<String>,
}

impl Profile {
    /// Returns a typed view of launch `row`.
    ///
    /// # Panics
    /// If `row` is not below `self.launches.len()`.
    #[must_use]
    pub fn launch(&self, row: usize) -> Launch<'_> {
        Launch::new(self, row)
    }

    /// Iterates over all launches in file order.
    pub fn iter(&self) -> impl Iterator<Item = Launch<'_>> {
        (0..self.launches.len()).map(|row| self.launch(row))
    }

    /// Adds a note that reports show at their beginning.
    pub fn check(&mut self, note: String) {
        self.notes.push(note.clone());
        self.checks.push(note);
    }

    /// Returns what must be known of the launches wherever they go: the checks, and that records were skipped.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        self.checks.iter().cloned().chain(skipped(&self.sources)).collect()
    }

    /// Returns the id of a device description, adding it if it is new. A zero, which drivers give
    /// for a clock that they do not know, and an impossible clock count as missing.
    pub fn hint(&mut self, mut hint: DeviceHint) -> HintId {
        hint.forget_impossible();
        let DeviceHint { name, ordinal, compute_capability, gfx, .. } = &mut hint;
        for text in [name, ordinal, compute_capability, gfx] {
            // Blanks around a text make no other device of it.
            let bare = text.take().map(|text| printable(&text).trim().to_owned());
            *text = bare.filter(|text| !text.is_empty());
        }
        let known = self.described.find(&self.devices, &hint);
        HintId::at(known.unwrap_or_else(|| {
            self.devices.push(hint);
            self.described.add_last(&self.devices);
            self.devices.len() - 1
        }))
    }

    /// Makes one of descriptions that became equal after they were made.
    pub(crate) fn merge_devices(&mut self) {
        if first_equal(&self.devices).iter().enumerate().any(|(at, first)| *first < at) {
            self.forget_devices();
        }
    }

    /// Leaves out the descriptions of devices that no launch has, or that are equal to others.
    pub(crate) fn forget_devices(&mut self) {
        let first = first_equal(&self.devices);
        let mut is_used = vec![false; self.devices.len()];
        self.launches.devices().for_each(|id| {
            if let Some(first) = first.get(id.position()) {
                is_used[*first] = true;
            }
        });
        let mut ids: Vec<HintId> = Vec::new();
        let mut kept = Vec::new();
        for (at, hint) in self.devices.drain(..).enumerate() {
            let new = HintId::at(kept.len());
            ids.push(if first[at] < at { ids[first[at]] } else { new });
            kept.extend(is_used[at].then_some(hint));
        }
        self.devices = kept;
        self.launches.renumber_devices(&ids);
        let devices = self.activities.iter_mut().map(|one| &mut one.device);
        let devices = devices.chain(self.calls.iter_mut().map(|call| &mut call.device));
        for device in devices.chain(self.steps.iter_mut().map(|step| &mut step.device)) {
            *device = ids.get(device.position()).copied().unwrap_or_default();
        }
    }

    /// Leaves out launches, and the descriptions of devices that only they had.
    pub(crate) fn leave_out(&mut self, gone: &[bool]) {
        if gone.contains(&true) {
            self.launches.retain(|row| !gone[row]);
            self.forget_devices();
        }
    }

    /// Counts the launches of a row as repeated in its source: a row of sums stands for several.
    pub(crate) fn count_repeated(&mut self, row: usize) {
        let source = usize::from(self.launches.source(row));
        self.sources[source].repeated += u64::from(self.launches.count(row).max(1));
    }

    /// Returns the first file that has sums of launches; `None` where every row is a single launch.
    #[must_use]
    pub fn sums(&self) -> Option<&Source> {
        let is_sum = |row: usize, source: &Source| source.sums || self.launches.count(row) > 1;
        (0..self.launches.len()).find_map(|row| {
            let source = self.sources.get(usize::from(self.launches.source(row)))?;
            is_sum(row, source).then_some(source)
        })
    }

    /// Returns the rows of each source, in their order.
    pub(crate) fn rows_by_source(&self) -> Vec<Vec<usize>> {
        let mut rows = vec![Vec::new(); self.sources.len()];
        for row in 0..self.launches.len() {
            rows[usize::from(self.launches.source(row))].push(row);
        }
        rows
    }

    /// Returns the number or tag of a device in its file.
    pub(crate) fn ordinal(&self, device: HintId) -> Option<&str> {
        self.devices.get(device.position())?.ordinal.as_deref()
    }

    /// Leaves out copies, calls and steps of devices that have no launch in their file, and what describes such devices: a GPU
    /// that only copies is not judged, and a file that repeats another counts once.
    pub(crate) fn forget_idle(&mut self) {
        if self.activities.is_empty() && self.steps.is_empty() && self.calls.is_empty() {
            return;
        }
        let launches = (0..self.launches.len()).map(|row| self.launches.head(row));
        let used: HashSet<(u16, HintId)> =
            launches.map(|head| (head.source, head.device)).collect();
        self.activities.retain(|one| used.contains(&(one.source, one.device)));
        self.steps.retain(|step| used.contains(&(step.source, step.device)));
        self.calls.retain(|call| used.contains(&(call.source, call.device)));
        let used: HashSet<u16> = used.into_iter().map(|(source, _)| source).collect();
        self.waits.retain(|wait| used.contains(&wait.source));
        self.forget_devices();
    }

    /// Appends another profile: the result is as if its files had been read into this one.
    /// Returns the ids that its devices get.
    pub(crate) fn append(&mut self, other: Self) -> Vec<HintId> {
        // Without `..`, so that nothing is forgotten.
        let Self {
            sources,
            launches,
            activities,
            calls,
            waits,
            steps,
            names,
            origins,
            devices,
            described: _,
            notes,
            checks,
            unread,
            unread_files,
        } = other;
        let ids = Renumbered {
            sources: u16::try_from(self.sources.len()).unwrap_or(u16::MAX),
            names: names.iter().map(|text| self.names.id(text)).collect(),
            origins: origins.iter().map(|origin| self.origins.id(origin)).collect(),
            devices: devices.into_iter().map(|hint| self.hint(hint)).collect(),
        };
        let (source, device) = (
            |source: u16| source.saturating_add(ids.sources),
            |device: HintId| ids.devices[device.position()],
        );
        self.launches.append(&launches, &ids);
        self.activities.extend(activities.into_iter().map(|one| Activity {
            source: source(one.source),
            device: device(one.device),
            name: ids.names[one.name.0 as usize],
            ..one
        }));
        self.calls.extend(calls.into_iter().map(|call| LaunchCall {
            source: source(call.source),
            device: device(call.device),
            ..call
        }));
        let waits = waits.into_iter();
        self.waits.extend(waits.map(|wait| HostWait { source: source(wait.source), ..wait }));
        self.steps.extend(steps.into_iter().map(|step| Step {
            source: source(step.source),
            device: device(step.device),
            ..step
        }));
        self.sources.extend(sources);
        self.notes.extend(notes);
        self.checks.extend(checks);
        self.unread += unread;
        self.unread_files.extend(unread_files);
        ids.devices
    }

    /// How much was read so far.
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            sources: self.sources.len(),
            launches: self.launches.len(),
            devices: self.devices.len(),
            notes: self.notes.len(),
            checks: self.checks.len(),
        }
    }

    /// Takes back what was read since: a file that breaks off in its middle would pass for a shorter run.
    pub(crate) fn roll_back(&mut self, to: Mark) {
        if self.launches.len() > to.launches {
            self.launches.retain(|row| row < to.launches);
        }
        self.devices.truncate(to.devices);
        self.sources.truncate(to.sources);
        self.notes.truncate(to.notes);
        self.checks.truncate(to.checks);
        let is_kept = |source: u16| usize::from(source) < to.sources;
        self.activities.retain(|one| is_kept(one.source));
        self.calls.retain(|call| is_kept(call.source));
        self.waits.retain(|wait| is_kept(wait.source));
        self.steps.retain(|step| is_kept(step.source));
    }
}

/// How much of a profile there was at some time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    sources: usize,
    launches: usize,
    devices: usize,
    notes: usize,
    checks: usize,
}

/// For each description the first that is equal to it.
fn first_equal(devices: &[DeviceHint]) -> Vec<usize> {
    /// Name, number and multiprocessors: what most descriptions differ in.
    type Short<'a> = (Option<&'a str>, Option<&'a str>, Option<u32>);
    let mut alike: HashMap<Short<'_>, Vec<usize>> = HashMap::new();
    let first = devices.iter().enumerate().map(|(at, hint)| {
        let short = (hint.name.as_deref(), hint.ordinal.as_deref(), hint.sms);
        let known = alike.entry(short).or_default();
        let same = known.iter().copied().find(|first| devices[*first] == *hint);
        same.unwrap_or_else(|| {
            known.push(at);
            at
        })
    });
    first.collect()
}

impl Launch<'_> {
    /// Whether its time is that of the real run. Counters that it has are then of another run, at other clocks.
    #[must_use]
    pub fn is_of_real_run(&self) -> bool {
        let source = self.profile.sources.get(usize::from(self.head.source));
        source.is_some_and(|source| source.profiler.times_real_run())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a file adds, of a device of its own.
    fn add(profile: &mut Profile, source: u16) {
        let ordinal = Some(source.to_string());
        let device = profile.hint(DeviceHint { ordinal, ..DeviceHint::default() });
        let head = Head { source, device, count: 1, ..Head::default() };
        profile.launches.push(head, &Values::default());
        profile.activities.push(Activity { source, device, ..Activity::default() });
        profile.calls.push(LaunchCall { source, device, ..LaunchCall::default() });
        profile.waits.push(HostWait { source, ..HostWait::default() });
        profile.steps.push(Step { source, device, ..Step::default() });
        profile.sources.push(Source::default());
        profile.check(format!("of file {source}"));
    }

    /// How many of each there are, and the file of the last one.
    fn numbers(profile: &Profile) -> ([usize; 9], u16) {
        let Profile { sources, launches, activities, calls, waits, steps, devices, .. } = profile;
        let lists = [sources.len(), launches.len(), activities.len(), calls.len(), waits.len()];
        let others = [steps.len(), devices.len(), profile.notes.len(), profile.checks.len()];
        let all = [&lists[..], &others].concat();
        (all.try_into().unwrap(), waits.last().map_or(u16::MAX, |wait| wait.source))
    }

    #[test]
    fn nothing_is_left_of_a_file_that_is_taken_back() {
        let mut profile = Profile::default();
        add(&mut profile, 0);
        let mark = profile.mark();
        add(&mut profile, 1);
        profile.roll_back(mark);
        assert_eq!(numbers(&profile), ([1; 9], 0));
    }

    #[test]
    fn what_is_appended_is_as_if_it_had_been_read_here() {
        let mut profile = Profile::default();
        add(&mut profile, 0);
        let mut other = Profile::default();
        add(&mut other, 0);
        other.devices[0].ordinal = Some("1".to_owned());
        assert_eq!(profile.append(other), [HintId::at(1)]);
        assert_eq!(numbers(&profile), ([2; 9], 1));
        assert_eq!(profile.steps[1].device, HintId::at(1));
    }
}
