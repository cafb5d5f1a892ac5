//! Measured data: a [`Profile`] of [`Launches`] with the [`Origin`] of each figure.
//!
//! A million launches must fit in memory, so they are kept as columns; [`Profile::launch`] gives a
//! typed view of one. A missing value is `None`, never zero.

mod advice;
mod apart;
mod batch;
mod data_type;
mod date;
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
use launches::Renumbered;
pub use launches::{Head, Launch, Launches, Values};
pub use memory_level::MemoryLevel;
pub use names::{KernelName, NameId, Names, printable};
pub use origin::{Origin, OriginId, OriginKind, Origins};
pub use pipe::{Engine, Pipe, Precision};
pub(crate) use positions::Positions;
pub use profiler::Profiler;
pub use quantity::Quantity;
pub use reached::Reached;
pub use shapes::{Dim3, Shape};
pub(crate) use short::elide;
pub use source::{DeviceHint, HintId, Mended, Recorded, Skip, Skips, Source};
pub use text::Text;
pub(crate) use text::Texts;
pub use timeline::{Activity, HostWait, LaunchCall, Step};

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
    /// Caveats about the whole profile.
    pub notes: Vec<String>,
    /// Those of the notes that change what the figures mean; reports begin with them.
    pub checks: Vec<String>,
    /// Number of files found by a search that could not be read; the notes have the reasons.
    pub unread: usize,
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
        let position = self.devices.iter().position(|known| *known == hint).unwrap_or_else(|| {
            self.devices.push(hint);
            self.devices.len() - 1
        });
        HintId(u16::try_from(position).unwrap_or(u16::MAX))
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
            if let Some(first) = first.get(usize::from(id.0)) {
                is_used[*first] = true;
            }
        });
        let mut ids: Vec<HintId> = Vec::new();
        let mut kept = Vec::new();
        for (at, hint) in self.devices.drain(..).enumerate() {
            let new = HintId(u16::try_from(kept.len()).unwrap_or(u16::MAX));
            ids.push(if first[at] < at { ids[first[at]] } else { new });
            kept.extend(is_used[at].then_some(hint));
        }
        self.devices = kept;
        self.launches.renumber_devices(&ids);
        let devices = self.activities.iter_mut().map(|one| &mut one.device);
        let devices = devices.chain(self.calls.iter_mut().map(|call| &mut call.device));
        for device in devices.chain(self.steps.iter_mut().map(|step| &mut step.device)) {
            *device = ids.get(usize::from(device.0)).copied().unwrap_or_default();
        }
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
        self.forget_devices();
    }

    /// Appends another profile: the result is as if its files had been read into this one.
    /// Returns the ids that its devices get.
    pub(crate) fn append(&mut self, other: Self) -> Vec<HintId> {
        let ids = Renumbered {
            sources: u16::try_from(self.sources.len()).unwrap_or(u16::MAX),
            names: other.names.iter().map(|text| self.names.id(text)).collect(),
            origins: other.origins.iter().map(|origin| self.origins.id(origin)).collect(),
            devices: other.devices.into_iter().map(|hint| self.hint(hint)).collect(),
        };
        self.launches.append(&other.launches, &ids);
        let activities = other.activities.into_iter().map(|one| Activity {
            source: one.source.saturating_add(ids.sources),
            device: ids.devices[usize::from(one.device.0)],
            name: ids.names[one.name.0 as usize],
            ..one
        });
        self.activities.extend(activities);
        let calls = other.calls.into_iter().map(|call| LaunchCall {
            source: call.source.saturating_add(ids.sources),
            device: ids.devices[usize::from(call.device.0)],
            ..call
        });
        self.calls.extend(calls);
        let waits = other
            .waits
            .into_iter()
            .map(|wait| HostWait { source: wait.source.saturating_add(ids.sources), ..wait });
        self.waits.extend(waits);
        let steps = other.steps.into_iter().map(|step| Step {
            source: step.source.saturating_add(ids.sources),
            device: ids.devices[usize::from(step.device.0)],
            ..step
        });
        self.steps.extend(steps);
        self.sources.extend(other.sources);
        self.notes.extend(other.notes);
        self.unread += other.unread;
        ids.devices
    }
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
