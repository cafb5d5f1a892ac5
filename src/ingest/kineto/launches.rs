//! What was gathered of a trace → launches, in the order in which they began.

use std::collections::{HashMap, HashSet};

use super::about::About;
use super::devices;
use super::earlier;
use super::event::Launch;
use super::gathered::{Gathered, Kernel, Moved, Setting};
use super::judged::{Judgements, Members};
use super::learnt::Learnt;
use super::links::Links;
use super::nested::Span;
use super::places::Places;
use super::work::Works;
use crate::ingest::Reading;
use crate::ingest::operators::forms::{Basis, Count};
use crate::ingest::timeline::{Ran, Work, steps};
use crate::model::{
    Activity, DeviceHint, Head, HintId, HostWait, LaunchCall, NameId, Origin, OriginId, OriginKind,
    Quantity, Recorded, Shape, Step, Values,
};

/// What a rank is called, if a file merges several.
#[derive(Debug)]
pub(super) struct Label {
    /// Empty without one.
    pub(super) text: String,
    /// Whether its GPUs are called by it: other ranks have GPUs of the same numbers.
    pub(super) is_in_ordinals: bool,
}

impl Label {
    /// What is known of the GPU of this rank with this number.
    fn device(&self, about: &About, number: Option<i64>) -> DeviceHint {
        let hint = devices::hint(&about.devices, number);
        if !self.is_in_ordinals {
            return hint;
        }
        let ordinal = match number {
            Some(number) => format!("{} {number}", self.text),
            None => self.text.clone(),
        };
        DeviceHint { ordinal: Some(ordinal), ..hint }
    }
}

/// Turns what was gathered into launches, one rank after the other.
pub(super) struct Writer {
    base: u64,
    /// Whether times are whole microseconds.
    is_coarse: bool,
    origins: Vec<(Basis, OriginId)>,
    /// Origins of times by how much longer the launch may have taken.
    times: HashMap<u32, OriginId>,
    origin: Origins,
    /// Launches that have a value, by what the trace calls it.
    filled: [(&'static str, u64); 9],
    /// Launches of the ranks before: numbers of launches go on.
    launches: u32,
    /// Threads of the ranks before: those of a rank are others.
    threads: u32,
    learnt: Learnt,
}

/// Origins of what is read as it is.
struct Origins {
    registers: OriginId,
    shared: OriginId,
    occupancy: OriginId,
    stated: OriginId,
}

impl Writer {
    /// A writer that has written nothing yet.
    pub(super) fn new(reading: &mut Reading<'_>, is_coarse: bool, base: u64) -> Self {
        Self {
            base,
            is_coarse,
            origins: Vec::new(),
            times: HashMap::new(),
            origin: Origins {
                registers: reading.origin(&Origin::measured("registers per thread")),
                shared: reading.origin(&Origin::measured("shared memory")),
                occupancy: reading.origin(&Origin::measured("est. achieved occupancy %")),
                stated: reading
                    .origin(&Origin::new(OriginKind::Algorithmic, "kernel_num_gb of Inductor")),
            },
            filled: [
                ("dur", 0),
                ("grid", 0),
                ("block", 0),
                ("registers per thread", 0),
                ("shared memory", 0),
                ("est. achieved occupancy %", 0),
                ("operator", 0),
                ("Input Dims", 0),
                ("kernel_num_gb", 0),
            ],
            launches: 0,
            threads: 0,
            learnt: Learnt::default(),
        }
    }

    /// Appends all launches of a rank.
    pub(super) fn write(
        &mut self,
        reading: &mut Reading<'_>,
        mut gathered: Gathered,
        (about, label): (&About, &Label),
    ) {
        self.learnt.begin(&label.text, &gathered);
        if let Some((device, [one, two])) = gathered.of_processes.take() {
            reading.check(&format!(
                "kernels of GPU {device} are of processes {one} and {two}: if the file merges the traces of several ranks, \
                 their GPUs are taken for one in idle time, steps and overlaps; read the trace of each rank by itself"
            ));
        }
        let (before, processes) = (self.filled, gathered.take_processes());
        let mut kernels = std::mem::take(&mut gathered.kernels);
        let Gathered {
            calls,
            mut launching,
            launches,
            settings,
            operators,
            modules,
            functions,
            places,
            mut moved,
            moving,
            waits,
            steps: annotated,
            ..
        } = gathered;
        launching.extend(moving);
        in_order(&mut moved);
        kernels.sort_by_key(|kernel| kernel.start);
        let (settings, launches) = (settings.into_list(), launches.into_list());
        self.learnt.twice += leave_out_copies(&mut kernels, &settings);
        let operators = operators.into_list();
        let links = Links::new(&kernels, &calls, &launching, &processes);
        let mut works = Works::new(&operators, &calls, &links);
        let places = Places::new(&calls, [&modules, &functions], places.into_list());
        let members = Members::new(reading, &kernels, &links, (&settings, &launches));
        let mut judgements = Judgements::of(&mut works, &links, &kernels, &members);
        let earlier = earlier::earlier(&kernels, (&settings, &launches), &links);
        self.learnt.earlier += judgements.take_over(&earlier, &calls);

        let mut labels: HashMap<u32, NameId> = HashMap::new();
        let mut hints: HashMap<Option<i64>, HintId> = HashMap::new();
        let mut values = Values::default();
        for (at, kernel) in kernels.iter().enumerate() {
            values.clear();
            let launch = members.configuration(kernel);
            let setting = members.setting(kernel);
            self.configuration(&mut values, &launch);
            let is_timed = self.time(reading, &mut values, kernel.duration);
            self.learnt.short += u64::from(!is_timed);
            let mut operator = NameId::default();
            let judged = judgements.at(at);
            if let Some((call, (work, pipe))) = judged {
                let of = calls[call as usize].operator;
                operator = *labels
                    .entry(of)
                    .or_insert_with(|| reading.name(works.called(call).label().as_bytes()));
                self.filled[6].1 += 1;
                self.filled[7].1 += u64::from(!works.called(call).arguments.is_empty());
                for (quantity, count) in
                    [(Quantity::Work(*pipe), work.flops), (Quantity::DramBytes, work.bytes)]
                {
                    if let Some(Count { value, basis }) = count {
                        let origin = self.basis(reading, basis);
                        values.set(quantity, value, origin);
                    }
                }
            }
            if let Some(gigabytes) = setting.gigabytes() {
                self.filled[8].1 += 1;
                values.set(Quantity::DramBytes, gigabytes * 1e9, self.origin.stated);
            }
            let device = *hints
                .entry(setting.device)
                .or_insert_with(|| reading.hint(label.device(about, setting.device)));
            let head = Head {
                id: self.launches.saturating_add(u32::try_from(at).unwrap_or(u32::MAX)),
                name: kernel.name,
                operator,
                shape: Shape::new(launch.grid, launch.block),
                device,
                stream: setting.stream,
                start: self.at(kernel.start),
                count: 1,
                place: places
                    .of(kernel, judged.map(|(call, _)| call), &links)
                    .map_or_else(NameId::default, |place| reading.name(place.as_bytes())),
                ..Head::default()
            };
            reading.source.rows += 1;
            reading.push(head, &values);
        }
        self.activities(reading, &moved, &hints);
        self.host(reading, (&kernels, &moved), (&members, &links), &hints);
        self.waits(reading, &waits);
        self.steps(
            reading,
            &steps(annotated, launched((&kernels, &moved), &members, &links)),
            &hints,
        );
        self.learnt.of_several +=
            kernels.iter().filter(|kernel| links.is_of_several(kernel)).count() as u64;
        self.end(kernels.len(), processes.len(), &before);
    }

    /// Counts a rank that is written: so many launches and threads, and what was filled before it.
    fn end(&mut self, launches: usize, threads: usize, before: &[(&str, u64); 9]) {
        let number = u32::try_from(launches).unwrap_or(u32::MAX);
        self.launches = self.launches.saturating_add(number);
        self.threads = self.threads.saturating_add(u32::try_from(threads).unwrap_or(u32::MAX));
        let [operators, shapes] = [6, 7].map(|at: usize| self.filled[at].1 - before[at].1);
        self.learnt.unnamed += launches as u64 - operators;
        self.learnt.end(operators, shapes);
    }

    /// Appends copies and fills of the devices that have launches: those of others are on no timeline.
    fn activities(
        &self,
        reading: &mut Reading<'_>,
        moved: &[Moved],
        hints: &HashMap<Option<i64>, HintId>,
    ) {
        reading.source.recorded = Recorded::Everything;
        for one in moved {
            let Some(device) = hints.get(&one.device) else { continue };
            reading.add_activity(Activity {
                device: *device,
                name: one.name,
                start: self.at(one.start),
                duration: u64::try_from(one.duration).unwrap_or(0),
                bytes: one.bytes,
                host_memory: one.host_memory,
                ..Activity::default()
            });
        }
    }

    /// Appends the calls that launched work.
    fn host(
        &self,
        reading: &mut Reading<'_>,
        (kernels, moved): (&[Kernel], &[Moved]),
        (members, links): (&Members<'_>, &Links<'_>),
        hints: &HashMap<Option<i64>, HintId>,
    ) {
        let device = |kernel: &Kernel| members.setting(kernel).device;
        let kernels = kernels.iter().map(|one| (one.correlation, device(one), one.start));
        let moved = moved.iter().map(|one| (one.correlation, one.device, one.start));
        for (correlation, device, work) in kernels.chain(moved) {
            let Some(call) = links.launch(correlation) else { continue };
            if let (Some(device), Some(work), Some(start)) =
                (hints.get(&device), self.at(work), self.at(call.start))
            {
                let (device, thread) = (*device, self.threads.saturating_add(call.thread));
                reading.add_call(LaunchCall {
                    device,
                    work,
                    start,
                    thread,
                    ..LaunchCall::default()
                });
            }
        }
    }

    /// Appends the calls in which a thread waits for the GPU.
    fn waits(&self, reading: &mut Reading<'_>, waits: &[Span]) {
        for wait in waits {
            if let (Some(start), Some(end)) = (self.at(wait.start), self.at(wait.end)) {
                let thread = self.threads.saturating_add(wait.thread);
                reading.add_wait(HostWait { thread, start, end, ..HostWait::default() });
            }
        }
    }

    /// Appends the steps of the devices that have launches.
    fn steps(
        &self,
        reading: &mut Reading<'_>,
        ran: &[Ran<Option<i64>>],
        hints: &HashMap<Option<i64>, HintId>,
    ) {
        for ran in ran {
            let (Some(device), Some(start), Some(end)) =
                (hints.get(&ran.device), self.at(ran.start), self.at(ran.end))
            else {
                continue;
            };
            reading.add_step(Step {
                device: *device,
                number: ran.number,
                start,
                end,
                launches: ran.launches,
                is_last: ran.is_last,
                ..Step::default()
            });
        }
    }

    /// A time of the file in nanoseconds since 1970, where the file says so.
    fn at(&self, time: i64) -> Option<u64> {
        self.base.checked_add_signed(time)
    }

    /// Leaves what was learnt of the whole file.
    pub(super) fn finish(self, reading: &mut Reading<'_>, about: &About) {
        let source = &mut reading.source;
        let times = if self.is_coarse { "whole microseconds" } else { "nanoseconds" };
        source.dialect = format!("trace of the PyTorch profiler, times in {times}");
        for (column, launches) in self.filled {
            if launches > 0 {
                source.columns.insert(column.to_owned(), launches);
            }
        }
        source.clues.extend(self.learnt.clues(about, self.is_coarse));
    }

    /// Sets the time of a launch; `false` if it is less than the trace can tell.
    fn time(&mut self, reading: &mut Reading<'_>, values: &mut Values, duration: i64) -> bool {
        if duration <= 0 {
            return false;
        }
        self.filled[0].1 += 1;
        let micros = duration / 1000;
        // Beyond a millisecond the microsecond that was cut off does not matter.
        let step = if self.is_coarse && micros < 1000 { micros } else { 0 };
        let step = u32::try_from(step).unwrap_or(0);
        // In powers of two from 8 on: a profile has few origins.
        let step = if step < 8 { step } else { 1 << step.ilog2() };
        let origin = *self.times.entry(step).or_insert_with(|| {
            let origin = Origin::measured("dur");
            reading.origin(&match step {
                0 => origin,
                step => origin.within(1.0, 1.0 + 1.0 / f64::from(step)),
            })
        });
        values.set(Quantity::Duration, duration as f64 / 1e9, origin);
        true
    }

    fn configuration(&mut self, values: &mut Values, launch: &Launch) {
        self.filled[1].1 += u64::from(launch.grid.is_some());
        self.filled[2].1 += u64::from(launch.block.is_some());
        if let Some(registers) = launch.registers {
            self.filled[3].1 += 1;
            let origin = self.origin.registers;
            values.set(Quantity::RegistersPerThread, f64::from(registers), origin);
        }
        if let Some(shared) = launch.shared {
            self.filled[4].1 += 1;
            values.set(Quantity::SharedMemoryPerBlock, f64::from(shared), self.origin.shared);
        }
        if let Some(occupancy) = launch.occupancy {
            self.filled[5].1 += 1;
            let origin = self.origin.occupancy;
            values.set(Quantity::TheoreticalOccupancy, f64::from(occupancy) / 100.0, origin);
        }
    }

    fn basis(&mut self, reading: &mut Reading<'_>, basis: Basis) -> OriginId {
        if let Some((_, id)) = self.origins.iter().find(|(known, _)| *known == basis) {
            return *id;
        }
        let origin =
            Origin::new(OriginKind::Algorithmic, basis.formula).within(basis.low, basis.high);
        let id = reading.origin(&origin);
        self.origins.push((basis, id));
        id
    }
}

/// Sorts copies and fills by time, without those that are written again.
fn in_order(moved: &mut Vec<Moved>) {
    let all = |one: &Moved| {
        (one.start, one.correlation, one.name, one.duration, one.device, one.stream, one.bytes)
    };
    moved.sort_by_key(all);
    moved.dedup_by(|one, other| one.correlation > 0 && one == other);
}

/// All work of the GPUs whose call is in the trace.
fn launched<'a>(
    (kernels, moved): (&'a [Kernel], &'a [Moved]),
    members: &'a Members<'_>,
    links: &'a Links<'_>,
) -> impl Iterator<Item = Work<Option<i64>>> + 'a {
    let kernels = kernels
        .iter()
        .map(|one| (one.correlation, members.setting(one).device, one.start, one.duration, true));
    let moved =
        moved.iter().map(|one| (one.correlation, one.device, one.start, one.duration, false));
    kernels.chain(moved).filter_map(|(correlation, device, start, duration, is_kernel)| {
        let called = links.launch(correlation)?.start;
        Some(Work { device, called, start, end: start.saturating_add(duration), is_kernel })
    })
}

/// Leaves out events that are written again, and counts them; the kernels are in order of time.
fn leave_out_copies(kernels: &mut Vec<Kernel>, settings: &[Setting]) -> u64 {
    let all = kernels.len();
    let mut start = None;
    let mut seen = HashSet::new();
    kernels.retain(|kernel| {
        if start.replace(kernel.start) != Some(kernel.start) {
            seen.clear();
        }
        let Kernel { name, duration, setting, correlation, node, .. } = *kernel;
        let Setting { device, stream, .. } = settings[setting as usize];
        // Kernels of a graph have one correlation, and those of parallel branches may have one start.
        correlation == 0
            || duration == 0
            || seen.insert((name, duration, device, stream, correlation, node))
    });
    (all - kernels.len()) as u64
}
