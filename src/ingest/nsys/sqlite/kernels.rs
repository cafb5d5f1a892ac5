//! The launches of an export, in the order of their start.

use super::database::{Cell, Database, Failure, integer, shown};
use super::slots::{Slot, Slots, process};
use crate::ingest::Reading;
use crate::ingest::distinct::Distinct;
use crate::model::{Dim3, Shape};

/// The table with one row per launch.
pub(super) const TABLE: &str = "CUPTI_ACTIVITY_KIND_KERNEL";

/// A launch: 24 bytes, for an export can have millions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kernel {
    pub(super) start: u64,
    /// Nanoseconds; 0 if the row has none.
    pub(super) duration: u64,
    /// The call that launched it, among the slots.
    pub(super) slot: Slot,
    /// Position among the settings.
    pub(super) setting: u32,
}

impl Kernel {
    /// When it ended; when it began if its time is not known.
    pub(super) fn end(self) -> u64 {
        self.start.saturating_add(self.duration)
    }
}

/// What many launches have in common: kept once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Setting {
    /// The process with its machine; 0 if the export does not number them.
    pub(super) process: i64,
    pub(super) device: i64,
    pub(super) stream: Option<u32>,
    /// Number of the name among the texts.
    pub(super) name: i64,
    pub(super) shape: Shape,
    pub(super) registers: Option<u32>,
    /// Static and dynamic shared memory of a block.
    pub(super) shared: Option<u64>,
}

/// All launches of an export, in the order of their start.
pub(super) struct Kernels {
    pub(super) launches: Vec<Kernel>,
    pub(super) settings: Vec<Setting>,
    /// Whether a row could not be read: then it is not known when the GPU was busy.
    pub(super) lost: bool,
}

impl Kernels {
    /// What a launch has in common with others.
    pub(super) fn setting(&self, kernel: &Kernel) -> &Setting {
        &self.settings[kernel.setting as usize]
    }
}

const COLUMNS: [&str; 18] = [
    "start",
    "end",
    "globalPid",
    "correlationId",
    "deviceId",
    "streamId",
    "demangledName",
    "shortName",
    "gridX",
    "gridY",
    "gridZ",
    "blockX",
    "blockY",
    "blockZ",
    "registersPerThread",
    "staticSharedMemory",
    "dynamicSharedMemory",
    "mangledName",
];

/// The columns of stream, grid, block, registers and shared memory.
const WHOLE: [usize; 10] = [5, 8, 9, 10, 11, 12, 13, 14, 15, 16];

/// Whether a cell is empty or has a whole number; a number that is not known may be written as -1.
fn is_whole(cell: Cell<'_>) -> bool {
    matches!(cell, Cell::Null) || integer(cell).is_some_and(|of| of <= i64::from(u32::MAX))
}

/// Reads them all; rows may be in any order.
pub(super) fn read(
    database: &Database,
    reading: &mut Reading<'_>,
    slots: &mut Slots,
) -> Result<Kernels, Failure> {
    let mut launches = Vec::new();
    let mut settings = Distinct::default();
    let mut lost = false;
    database.each(TABLE, COLUMNS, |cells| {
        reading.source.rows += 1;
        match kernel(&cells) {
            Ok((start, duration, setting)) => launches.push(Kernel {
                start,
                duration,
                slot: slots.take(setting.process, integer(cells[3])),
                setting: settings.position(&setting),
            }),
            Err((column, reason)) => {
                lost = true;
                let row = reading.source.rows;
                reading.skip(row, Some(COLUMNS[column]), &shown(cells[column]), reason)?;
                return Ok(());
            }
        }
        for at in WHOLE.into_iter().filter(|at| !is_whole(cells[*at])) {
            let row = reading.source.rows;
            reading.skip(row, Some(COLUMNS[at]), &shown(cells[at]), "not a whole number")?;
        }
        Ok(())
    })?;
    let mut kernels = Kernels { launches, settings: settings.into_list(), lost };
    let Kernels { launches, settings, .. } = &mut kernels;
    let process = |kernel: &Kernel| settings[kernel.setting as usize].process;
    launches.sort_by(|one, other| {
        let of_process = || process(one).cmp(&process(other));
        let number = || slots.correlation(one.slot).cmp(&slots.correlation(other.slot));
        let of_setting = || one.setting.cmp(&other.setting);
        let begun = one.start.cmp(&other.start).then_with(of_process).then_with(number);
        begun.then_with(of_setting).then(one.duration.cmp(&other.duration))
    });
    let all = launches.len();
    leave_out_repeats(database, &mut kernels, slots)?;
    reading.leave_out_repeats((all - kernels.launches.len()) as u64);
    Ok(kernels)
}

/// Leaves out rows that repeat another one; the launches are in order of time. A call of a graph launches many kernels,
/// but no stream runs two at once, unless they are nodes of a graph whose branches run side by side.
fn leave_out_repeats(
    database: &Database,
    kernels: &mut Kernels,
    slots: &Slots,
) -> Result<(), Failure> {
    let Kernels { launches, settings, .. } = kernels;
    let setting = |kernel: &Kernel| &settings[kernel.setting as usize];
    let is_same = |one: &Kernel, other: &Kernel| {
        let is_timed = one.start == other.start && one.duration == other.duration;
        let is_known = setting(one).stream.is_some() && one.duration > 0;
        is_timed && is_known && one.setting == other.setting && one.slot == other.slot
    };
    // Rows are seldom alike: the nodes that distinguish them are read only then.
    let key = |kernel: &Kernel| {
        let Setting { process, stream, name, .. } = *setting(kernel);
        (kernel.start, kernel.duration, process, slots.correlation(kernel.slot), stream, name)
    };
    let alike = launches.windows(2).filter(|pair| is_same(&pair[0], &pair[1]));
    let mut starts: Vec<u64> = alike.map(|pair| pair[0].start).collect();
    starts.dedup();
    if starts.is_empty() {
        return Ok(());
    }
    let mut nodes = Vec::new();
    let [.., mangled] = COLUMNS;
    let columns = [
        "start",
        "end",
        "globalPid",
        "correlationId",
        "streamId",
        "demangledName",
        "shortName",
        mangled,
        "graphNodeId",
    ];
    database.each(TABLE, columns, |cells| {
        let [start, end, of, correlation, stream, names @ .., node] = cells.map(integer);
        let small = |number: Option<i64>| u32::try_from(number?).ok();
        let large = |number: Option<i64>| u64::try_from(number?).ok();
        if let (Some(start), Some(end), Some(node)) = (large(start), large(end), node)
            && let Some(name) = names.into_iter().flatten().next()
            && starts.binary_search(&start).is_ok()
        {
            let duration = end.saturating_sub(start);
            let of = of.map_or(0, process);
            nodes.push(((start, duration, of, correlation, small(stream), name), node));
        }
        Ok(())
    })?;
    nodes.sort_unstable();
    nodes.dedup();
    let mut kept = 1;
    let mut last: Option<Kernel> = None;
    launches.retain(|kernel| {
        let repeats = last.is_some_and(|last| is_same(&last, kernel));
        last = Some(*kernel);
        kept = if repeats { kept + 1 } else { 1 };
        !repeats || {
            let key = key(kernel);
            let first = nodes.partition_point(|(of, _)| *of < key);
            nodes[first..].iter().take_while(|(of, _)| *of == key).count() >= kept
        }
    });
    Ok(())
}

/// A row, or the column that cannot be used and why.
fn kernel(cells: &[Cell<'_>; 18]) -> Result<(u64, u64, Setting), (usize, &'static str)> {
    let [start, end, process_of, _, device, stream, name, short, ..] = *cells;
    let mangled = cells[17];
    let start =
        integer(start).and_then(|start| u64::try_from(start).ok()).ok_or((0, "not a time"))?;
    let end = integer(end).and_then(|end| u64::try_from(end).ok()).ok_or((1, "not a time"))?;
    let duration = end.checked_sub(start).ok_or((1, "it ends before it starts"))?;
    let small = |at: usize| integer(cells[at]).and_then(|number| u32::try_from(number).ok());
    let extent = |at: usize| Some(Dim3 { x: small(at)?, y: small(at + 1)?, z: small(at + 2)? });
    let name = [name, short, mangled].into_iter().find_map(integer);
    let parts = [small(15), small(16)].map(|part| part.map(u64::from));
    let setting = Setting {
        process: integer(process_of).map_or(0, process),
        device: integer(device).unwrap_or_default(),
        stream: integer(stream).and_then(|stream| u32::try_from(stream).ok()),
        name: name.ok_or((6, "no name"))?,
        shape: Shape::new(extent(8), extent(11)),
        registers: small(14),
        shared: parts[0].zip(parts[1]).map(|(fixed, dynamic)| fixed + dynamic),
    };
    Ok((start, duration, setting))
}
