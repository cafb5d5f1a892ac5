//! The launches of an export of Nsight Systems.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::calls::{self, Calls};
use super::database::{Database, Failure, STRINGS, integer, text};
use super::gpus::Gpus;
use super::kernels::{self, Kernel, Kernels, Setting};
use super::missing;
use super::moved::{self, Moved};
use super::ranges::{self, Label, Operators};
use super::slots::{Slot, Slots, process_id};
use super::steps::{self, OfThread};
use crate::ingest::Reading;
use crate::ingest::timeline::{self, LeftOut, Work};
use crate::model::{
    Activity, Head, HintId, HostWait, LaunchCall, NameId, Origin, OriginId, Quantity, Recorded,
    Step, Values, printable,
};
use crate::plain::counted;
use crate::units::si;

/// Launches without a call in the export are said from this share on.
const UNCALLED: f64 = 0.05;

/// Versions of the tables by their first number that are known.
const KNOWN_SCHEMAS: [&str; 2] = ["2", "3"];

/// Where the values come from.
struct Origins {
    duration: OriginId,
    registers: OriginId,
    shared: OriginId,
    shared_with_reserve: OriginId,
}

impl Origins {
    fn of(reading: &mut Reading<'_>) -> Self {
        let mut derived = |formula| reading.origin(&Origin::derived(formula));
        let (shared, shared_with_reserve) = (
            derived("staticSharedMemory + dynamicSharedMemory"),
            derived("staticSharedMemory + dynamicSharedMemory + 1 KiB of the driver"),
        );
        Self {
            duration: reading.origin(&Origin::measured("end − start")),
            registers: reading.origin(&Origin::measured("registersPerThread")),
            shared,
            shared_with_reserve,
        }
    }
}

/// Reads the launches.
///
/// # Errors
/// When the database is damaged, or a row cannot be used and reading is strict.
pub(super) fn read(database: &Database, reading: &mut Reading<'_>) -> Result<(), Failure> {
    version(database, reading)?;
    let mut slots = Slots::default();
    let kernels = kernels::read(database, reading, &mut slots)?;
    if kernels.launches.is_empty() {
        if let Some(unreadable) = reading.unreadable() {
            return Err(Failure::Refused(unreadable));
        }
        return Err(Failure::Refused(missing::kernels(database, reading)?));
    }
    let mut moved = moved::read(database, &kernels, &mut slots)?;
    let all = moved.len();
    moved.retain(Moved::is_timed);
    let untimed = (all - moved.len()) as u64;
    // Rows that are there twice, as kernels may be.
    let mut seen = HashSet::new();
    moved.retain(|one| {
        let Moved { table, process, device, start, end, bytes, kind, slot, places, .. } = *one;
        seen.insert((table, process, device, start, end, bytes, kind, slot.place(), places))
    });
    let calls = Calls::of(database, &slots)?;
    drop(slots);
    let operators = Operators::of(database, &kernels, &calls)?;
    let mut names = Names::of(database, reading, &kernels, &operators)?;
    let of_kernels = kernels.settings.iter().map(|setting| (setting.process, setting.device));
    let of_moved = moved.iter().map(|one| (one.process, one.device));
    let used = of_kernels.chain(of_moved).map(|(process, device)| (process_id(process), device));
    let mut gpus = Gpus::of(database, reading, used)?;
    let origins = Origins::of(reading);
    let zero = epoch(database)?;
    let mut numbers: HashMap<u32, u32> = HashMap::new();
    let mut values = Values::default();
    let mut in_ranges = 0_u64;
    let mut devices: Vec<Option<HintId>> = vec![None; kernels.settings.len()];
    for kernel in &kernels.launches {
        let setting = kernels.setting(kernel);
        let process = process_id(setting.process);
        let device = *devices[kernel.setting as usize]
            .get_or_insert_with(|| gpus.hint(reading, process, setting.device));
        set(&mut values, reading, (kernel, setting), &origins, Gpus::reserved(reading, device));
        let operator = operators.label(kernel.slot).map(|label| names.labels[label as usize]);
        in_ranges += u64::from(operator.is_some());
        let number = numbers.entry(process).or_default();
        let head = Head {
            process,
            id: *number,
            name: names.kernel(reading, setting.name),
            operator: operator.unwrap_or_default(),
            shape: setting.shape,
            device,
            stream: setting.stream,
            start: Some(zero.saturating_add(kernel.start)),
            count: 1,
            ..Head::default()
        };
        *number = number.saturating_add(1);
        reading.push(head, &values);
    }
    let launches = kernels.launches.len() as u64;
    let columns = &mut reading.source.columns;
    columns.insert("start, end".to_owned(), launches);
    columns.insert("NVTX range".to_owned(), in_ranges);
    let called = operators.called;
    drop(operators);
    let whole = moved.iter().filter(|one| one.table == missing::GRAPHS);
    let gpus_with_kernels = kernels.settings.iter().map(|one| (one.process, one.device));
    let gpus_with_kernels: HashSet<(i64, i64)> = gpus_with_kernels.collect();
    let mut graphs = Graphs::default();
    for one in whole {
        graphs.launches += 1;
        graphs.time = graphs.time.saturating_add(one.duration());
        if !gpus_with_kernels.contains(&(one.process, one.device)) {
            graphs.alone.insert(one.device);
        }
    }
    let (left_out, moved) = activities(&moved, reading, &mut gpus, zero);
    reading.source.clues.extend(left_out.clue());
    if untimed > 0 {
        let moved = counted(untimed, "copy or memset has", "copies and memsets have");
        reading.source.clues.push(format!(
            "{moved} no start, or no end after it: how the time of the GPUs went is not shown"
        ));
    }
    let work = AllLaunched { kernels: &kernels, devices: &devices, moved };
    host(reading, &work, &calls, zero);
    let annotated = steps::annotated(database)?;
    training(reading, &annotated, &work, &calls, zero);
    let is_whole = !kernels.lost && untimed == 0;
    reading.source.recorded = if is_whole { Recorded::Everything } else { Recorded::Launches };
    tell(database, reading, (launches, called), &graphs)
}

/// Graphs that were traced as a whole.
#[derive(Default)]
struct Graphs {
    launches: u64,
    /// Nanoseconds.
    time: u64,
    /// GPUs on which their processes ran no kernels beside them, by number: they are not shown.
    alone: BTreeSet<i64>,
}

/// Work of a GPU, by what leads to the call that launched it.
#[derive(Clone, Copy)]
struct Launched {
    process: i64,
    slot: Slot,
    device: HintId,
    /// Nanoseconds.
    start: u64,
    end: u64,
    is_kernel: bool,
}

/// All work of the GPUs whose start is known.
struct AllLaunched<'a> {
    kernels: &'a Kernels,
    /// The device of each setting.
    devices: &'a [Option<HintId>],
    moved: Vec<Launched>,
}

impl AllLaunched<'_> {
    /// Kernels in the order of their start, then the rest.
    fn iter(&self) -> impl Iterator<Item = Launched> {
        let kernels = self.kernels.launches.iter().map(|kernel| Launched {
            process: self.kernels.setting(kernel).process,
            slot: kernel.slot,
            device: self.devices[kernel.setting as usize].unwrap_or_default(),
            start: kernel.start,
            end: kernel.end(),
            is_kernel: true,
        });
        kernels.chain(self.moved.iter().copied())
    }
}

/// Appends copies, memsets and whole graphs, and returns those whose start is known.
fn activities(
    moved: &[Moved],
    reading: &mut Reading<'_>,
    gpus: &mut Gpus,
    zero: u64,
) -> (LeftOut, Vec<Launched>) {
    let mut left_out = LeftOut::default();
    let mut launched = Vec::new();
    for one in moved {
        let (start, duration) = (one.start, one.duration());
        if one.table != missing::GRAPHS {
            left_out.add(1, duration as f64 / 1e9);
        }
        let device = gpus.hint(reading, process_id(one.process), one.device);
        // A graph of which nothing is known begins and ends at 0.
        let start = start.filter(|start| *start > 0 || one.table != missing::GRAPHS);
        let activity = Activity {
            device,
            name: reading.name(one.name().as_bytes()),
            start: start.map(|start| zero.saturating_add(start)),
            duration,
            bytes: one.bytes,
            host_memory: one.host_memory,
            ..Activity::default()
        };
        reading.add_activity(activity);
        launched.extend(start.map(|start| Launched {
            process: one.process,
            slot: one.slot,
            device,
            start,
            end: start.saturating_add(duration),
            is_kernel: false,
        }));
    }
    (left_out, launched)
}

/// Appends the calls that launched work, and those in which a thread waits.
fn host(reading: &mut Reading<'_>, launched: &AllLaunched<'_>, calls: &Calls, zero: u64) {
    let mut threads: HashMap<i64, u32> = HashMap::new();
    let mut thread = |number: i64| {
        let next = threads.len() as u32;
        *threads.entry(number).or_insert(next)
    };
    let at = |time: i64| Some(zero.saturating_add(u64::try_from(time).ok()?));
    for one in launched.iter() {
        let Some(call) = calls.of_slot(one.slot) else { continue };
        let Some(start) = at(call.start) else { continue };
        reading.add_call(LaunchCall {
            device: one.device,
            work: zero.saturating_add(one.start),
            start,
            thread: thread(call.thread),
            ..LaunchCall::default()
        });
    }
    for wait in &calls.waits {
        if let (Some(start), Some(end)) = (at(wait.start), at(wait.end)) {
            let thread = thread(wait.thread);
            reading.add_wait(HostWait { thread, start, end, ..HostWait::default() });
        }
    }
}

/// Whose calls launch the kernels of a device.
#[derive(Default)]
struct Callers {
    /// The process, if all of its work is of one.
    process: Option<i64>,
    is_of_several: bool,
    /// How many kernels each thread launched.
    threads: BTreeMap<i64, u64>,
}

impl Callers {
    /// Which of the steps of its process are those of a device: of the thread that launches almost all of its kernels, or
    /// else those that take the most time. Backward passes run on threads of their own, which have no steps.
    fn steps<'a>(&self, annotated: &'a [OfThread]) -> Option<&'a OfThread> {
        const ALMOST_ALL: f64 = 0.95;
        let all: u64 = self.threads.values().sum();
        let is_main = |(_, kernels): &(&i64, &u64)| **kernels as f64 >= ALMOST_ALL * all as f64;
        let main = self.threads.iter().find(is_main).map(|(thread, _)| *thread);
        let own = annotated.iter().find(|one| Some(one.thread) == main);
        own.or_else(|| annotated.first())
    }
}

/// Appends the steps of each device whose work is of one process.
fn training(
    reading: &mut Reading<'_>,
    annotated: &BTreeMap<i64, Vec<OfThread>>,
    launched: &AllLaunched<'_>,
    calls: &Calls,
    zero: u64,
) {
    if annotated.is_empty() {
        return;
    }
    let mut callers: BTreeMap<HintId, Callers> = BTreeMap::new();
    for one in launched.iter() {
        let of = callers.entry(one.device).or_default();
        of.is_of_several |= *of.process.get_or_insert(one.process) != one.process;
        if let Some(call) = calls.of_slot(one.slot).filter(|_| one.is_kernel) {
            *of.threads.entry(call.thread).or_default() += 1;
        }
    }
    // Of each thread with steps, its devices.
    let mut devices: BTreeMap<(i64, i64), (&OfThread, Vec<HintId>)> = BTreeMap::new();
    for (device, of) in callers.iter().filter(|(_, of)| !of.is_of_several) {
        let steps = of.process.and_then(|process| of.steps(annotated.get(&process)?));
        if let Some((process, steps)) = of.process.zip(steps) {
            let of_thread = devices.entry((process, steps.thread));
            of_thread.or_insert_with(|| (steps, Vec::new())).1.push(*device);
        }
    }
    for (annotated, devices) in devices.into_values() {
        let is_of = |one: &Launched| devices.contains(&one.device);
        let work = launched.iter().filter(is_of).filter_map(|one| {
            Some(Work {
                device: one.device,
                called: calls.of_slot(one.slot)?.start,
                start: i64::try_from(one.start).ok()?,
                end: i64::try_from(one.end).ok()?,
                is_kernel: one.is_kernel,
            })
        });
        for ran in timeline::steps(annotated.steps.clone(), work) {
            let at = |time: i64| zero.saturating_add(time.unsigned_abs());
            reading.add_step(Step {
                device: ran.device,
                number: ran.number,
                start: at(ran.start),
                end: at(ran.end),
                launches: ran.launches,
                is_last: ran.is_last,
                ..Step::default()
            });
        }
    }
}

fn set(
    values: &mut Values,
    reading: &mut Reading<'_>,
    (kernel, setting): (&Kernel, &Setting),
    origins: &Origins,
    reserved: Option<u64>,
) {
    values.clear();
    // A launch takes time: 0 is what a lost timestamp looks like, and counts as missing.
    values.set(Quantity::Duration, kernel.duration as f64 / 1e9, origins.duration);
    if let Some(registers) = setting.registers {
        values.set(Quantity::RegistersPerThread, f64::from(registers), origins.registers);
    }
    if let (Some(shared), Some(reserved)) = (setting.shared, reserved) {
        let origin = if reserved > 0 { origins.shared_with_reserve } else { origins.shared };
        values.set(Quantity::SharedMemoryPerBlock, (shared + reserved) as f64, origin);
    }
    let columns = &mut reading.source.columns;
    for (column, quantity) in [
        ("registersPerThread", Quantity::RegistersPerThread),
        ("staticSharedMemory", Quantity::SharedMemoryPerBlock),
    ] {
        if values.get(quantity).is_some() {
            match columns.get_mut(column) {
                Some(filled) => *filled += 1,
                None => _ = columns.insert(column.to_owned(), 1),
            }
        }
    }
}

/// Texts of kernels and ranges.
struct Names {
    kernels: HashMap<i64, NameId>,
    labels: Vec<NameId>,
}

impl Names {
    fn of(
        database: &Database,
        reading: &mut Reading<'_>,
        kernels: &Kernels,
        operators: &Operators,
    ) -> Result<Self, Failure> {
        let wanted: HashSet<i64> = kernels.settings.iter().map(|setting| setting.name).collect();
        let mut of_labels: HashMap<i64, NameId> = operators
            .labels
            .iter()
            .filter_map(|label| match label {
                Label::Id(id) => Some((*id, NameId::default())),
                Label::Text(_) => None,
            })
            .collect();
        let mut kernels = HashMap::new();
        database.each(STRINGS, ["id", "value"], |[id, value]| {
            let Some(id) = integer(id) else { return Ok(()) };
            if wanted.contains(&id)
                && let Some(value) = text(value)
            {
                kernels.insert(id, reading.name(value));
            }
            if let Some(name) = of_labels.get_mut(&id) {
                let value = String::from_utf8_lossy(text(value).unwrap_or_default());
                let value = ranges::named(&value).unwrap_or_default();
                *name = reading.name(value.as_bytes());
            }
            Ok(())
        })?;
        let labels = operators
            .labels
            .iter()
            .map(|label| match label {
                Label::Text(text) => reading.name(text.as_bytes()),
                Label::Id(id) => of_labels.get(id).copied().unwrap_or_default(),
            })
            .collect();
        Ok(Self { kernels, labels })
    }

    /// The name of a kernel by its number among the texts.
    fn kernel(&mut self, reading: &mut Reading<'_>, id: i64) -> NameId {
        *self.kernels.entry(id).or_insert_with(|| reading.name(format!("<string {id}>").as_bytes()))
    }
}

/// The time of the export's zero, in nanoseconds since 1970; 0 if it is not known.
fn epoch(database: &Database) -> Result<u64, Failure> {
    let mut zero = 0;
    database.each("TARGET_INFO_SESSION_START_TIME", ["utcEpochNs"], |[time]| {
        zero = integer(time).and_then(|time| u64::try_from(time).ok()).unwrap_or(zero);
        Ok(())
    })?;
    Ok(zero)
}

/// What wrote the export.
fn version(database: &Database, reading: &mut Reading<'_>) -> Result<(), Failure> {
    let (mut product, mut schema) = (None, None);
    if let Some(table) = database.first(&["META_DATA_EXPORT", "EXPORT_META_DATA"]) {
        // Other rows name users and hosts.
        database.each(table, ["name", "value"], |[name, value]| {
            let value = text(value).map(|text| printable(&String::from_utf8_lossy(text)));
            match text(name) {
                Some(b"EXPORT_PRODUCT_VERSION") => product = value,
                Some(b"EXPORT_SCHEMA_VERSION") => schema = value,
                _ => {}
            }
            Ok(())
        })?;
    }
    let product = product.unwrap_or_else(|| "2021 or older".to_owned());
    let source = &mut reading.source;
    source.dialect = match &schema {
        Some(schema) => format!("SQLite export of Nsight Systems {product}, schema {schema}"),
        None => format!("SQLite export of Nsight Systems {product}"),
    };
    let major = schema.as_deref().and_then(|schema| schema.split('.').next());
    if let Some(major) = major.filter(|major| !KNOWN_SCHEMAS.contains(major)) {
        source.clues.push(format!(
            "schema {major} of the export is newer than known: check the figures against `nsys stats`"
        ));
    }
    Ok(())
}

/// Says what the launches do not show.
fn tell(
    database: &Database,
    reading: &mut Reading<'_>,
    (launches, called): (u64, u64),
    Graphs { launches: graphs, time, alone }: &Graphs,
) -> Result<(), Failure> {
    if *graphs > 0 {
        let graphs = counted(*graphs, "launch of a CUDA graph was", "launches of CUDA graphs were");
        let alone: Vec<String> = alone.iter().map(|number| format!("GPU {number}")).collect();
        let alone = match alone.as_slice() {
            [] => String::new(),
            [one] => format!(", with all kernels of {one}, which is not shown"),
            several => format!(", with all kernels of {}, which are not shown", several.join(", ")),
        };
        reading.check(&format!(
            "{graphs} traced as a whole ({}{alone}): the kernels are missing; trace them with --cuda-graph-trace=node",
            si(*time as f64 / 1e9, "s")
        ));
    }
    let (messages, more) = missing::messages(database)?;
    for message in messages {
        reading.check(&format!("the profiler says: {message}"));
    }
    if more > 0 {
        let more = counted(more, "more message", "more messages");
        reading.check(&format!("the profiler has {more} of what it may have lost"));
    }
    let uncalled = launches - called;
    if database.has(calls::TABLE) && uncalled as f64 > UNCALLED * launches as f64 {
        reading.source.clues.push(format!(
            "{uncalled} of {launches} launches have no launch call in the export: it was cut, or the capture began after them"
        ));
    }
    if !database.has(ranges::RANGES) {
        reading.source.clues.push(
            "no NVTX ranges: with --trace=cuda,nvtx and ranges in the program, kernels are listed by operator"
                .to_owned(),
        );
    }
    Ok(())
}
