//! The columns of the launch table, in its order: what each holds, how it is taken from a launch,
//! and how a launch that is read back gets it.

use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

use super::cell::{Cell, Form, NO_COUNT, NO_NUMBER};
use super::row::{Fault, Row, Value};
use crate::model::{DeviceHint, Dim3, Launch, Origin, OriginKind, Profile, Quantity};
use crate::units::Hertz;

type Get = for<'a> fn(&'a Profile, &Launch<'a>) -> Option<Cell<'a>>;
type Set = fn(&mut Row, Cell<'_>) -> Result<(), Fault>;

/// Where the value of a column is found, and where it goes.
#[derive(Clone, Copy)]
enum Slot {
    /// What tells a launch from others; tables leave a rare one out where no launch has it.
    Head { get: Get, set: Set, is_rare: bool },
    /// A quantity.
    Value(Quantity),
    /// How it came about.
    Origin(Quantity),
    /// The least factor by which it may be off; missing where it is exact.
    Low(Quantity),
    /// The greatest factor; missing where it is exact, and where nothing bounds it.
    High(Quantity),
}

/// A column of the launch table.
pub struct LaunchColumn {
    /// Its name, unit included.
    pub name: String,
    /// What it holds.
    pub form: Form,
    /// What it means, in a phrase.
    pub about: String,
    /// The words it can hold, where they are few and known; else empty.
    pub words: Vec<&'static str>,
    slot: Slot,
}

impl fmt::Debug for LaunchColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LaunchColumn").field("name", &self.name).finish_non_exhaustive()
    }
}

impl LaunchColumn {
    fn new(name: &str, form: Form, about: &str, slot: Slot) -> Self {
        let (name, about) = (name.to_owned(), about.to_owned());
        Self { name, form, about, words: Vec::new(), slot }
    }

    /// Its value in a launch; nothing where it is missing or no finite number.
    #[must_use]
    pub fn get<'a>(&self, profile: &'a Profile, launch: &Launch<'a>) -> Option<Cell<'a>> {
        match self.slot {
            Slot::Head { get, .. } => get(profile, launch),
            Slot::Value(quantity) => launch.value(quantity).map(Cell::Number),
            Slot::Origin(quantity) => {
                launch.get(quantity).map(|(_, origin)| Cell::word(origin.kind.label()))
            }
            Slot::Low(quantity) => inexact(launch, quantity).map(|one| Cell::Number(one.low)),
            Slot::High(quantity) => inexact(launch, quantity).map(|one| Cell::Number(one.high)),
        }
        .and_then(Cell::known)
    }

    /// Puts a value of it into a launch that is read back. Columns are set in the order of the
    /// list.
    ///
    /// # Errors
    /// [`Fault`] where the value does not fit.
    pub(super) fn set(&self, row: &mut Row, cell: Cell<'_>) -> Result<(), Fault> {
        match self.slot {
            Slot::Head { set, .. } => set(row, cell),
            Slot::Value(quantity) => row.measure(quantity, cell),
            Slot::Origin(_) => in_last(row, |value| value.came_about(cell)),
            Slot::Low(_) => in_last(row, |value| put(cell.number(), &mut value.low, NO_NUMBER)),
            Slot::High(_) => in_last(row, |value| put(cell.number(), &mut value.high, NO_NUMBER)),
        }
    }

    /// Whether it says something of this launch: how a value came about that is missing says
    /// nothing.
    pub(super) fn is_about(&self, row: &Row) -> bool {
        match self.slot {
            Slot::Head { .. } | Slot::Value(_) => true,
            Slot::Origin(quantity) | Slot::Low(quantity) | Slot::High(quantity) => {
                row.values.last().is_some_and(|value| value.quantity == quantity)
            }
        }
    }

    /// The quantity it holds, or says more about; none for what tells launches apart.
    pub(super) fn quantity(&self) -> Option<Quantity> {
        match self.slot {
            Slot::Head { .. } => None,
            Slot::Value(quantity)
            | Slot::Origin(quantity)
            | Slot::Low(quantity)
            | Slot::High(quantity) => Some(quantity),
        }
    }

    /// Whether it holds a quantity itself.
    pub(super) fn is_value(&self) -> bool {
        matches!(self.slot, Slot::Value(_))
    }

    /// Whether tables leave it out where no launch has it.
    pub(super) fn is_rare(&self) -> bool {
        matches!(self.slot, Slot::Head { is_rare: true, .. } | Slot::Low(_) | Slot::High(_))
    }
}

/// How a quantity came about that is not known exactly.
fn inexact<'a>(launch: &Launch<'a>, quantity: Quantity) -> Option<&'a Origin> {
    launch.get(quantity).map(|(_, origin)| origin).filter(|origin| !origin.is_exact())
}

/// Every column, in the order of the table.
#[must_use]
pub fn columns() -> &'static [LaunchColumn] {
    static COLUMNS: LazyLock<Vec<LaunchColumn>> = LazyLock::new(all);
    &COLUMNS
}

fn all() -> Vec<LaunchColumn> {
    let mut all = identity();
    all.extend(shape());
    all.extend(device());
    for quantity in Quantity::all() {
        let (name, about) = (quantity.column(), quantity.about().trim_end_matches('.'));
        let form = Form::Number(quantity.unit());
        all.push(LaunchColumn::new(&name, form, about, Slot::Value(quantity)));
        // Time, bytes and work are what conclusions rest on: each cell says how it came about.
        if matches!(quantity, Quantity::Duration | Quantity::DramBytes | Quantity::Work(_)) {
            all.extend(beside(&name, quantity));
        }
    }
    all
}

/// What stands beside a value: how it came about, and how far it may be off.
fn beside(name: &str, quantity: Quantity) -> [LaunchColumn; 3] {
    let column = |end: &str, form: Form, about: &str, slot: Slot| {
        LaunchColumn::new(&format!("{name}_{end}"), form, about, slot)
    };
    let about = format!("how `{name}` came about");
    let mut origin = column("origin", Form::Text, &about, Slot::Origin(quantity));
    origin.words = OriginKind::ALL.map(OriginKind::label).to_vec();
    let about = format!("the true `{name}` is at least this times it; missing where it is exact");
    let low = column("low", Form::Number("1"), &about, Slot::Low(quantity));
    let about = format!(
        "the true `{name}` is at most this times it; missing where it is exact, and beside a \
         `_low` where nothing bounds it"
    );
    [origin, low, column("high", Form::Number("1"), &about, Slot::High(quantity))]
}

/// A column of what tells a launch from others.
fn column(name: &str, form: Form, about: &str, get: Get, set: Set) -> LaunchColumn {
    LaunchColumn::new(name, form, about, Slot::Head { get, set, is_rare: false })
}

/// A column that few tables have.
fn rare(name: &str, form: Form, about: &str, get: Get, set: Set) -> LaunchColumn {
    LaunchColumn::new(name, form, about, Slot::Head { get, set, is_rare: true })
}

fn identity() -> Vec<LaunchColumn> {
    use Form::{Count, Text};
    vec![
        column(
            "source",
            Text,
            "the file it was read from",
            |profile, launch| {
                let source = profile.sources.get(usize::from(launch.head.source))?;
                Some(Cell::word(&source.path))
            },
            |row, cell| words(cell, &mut row.source),
        ),
        rare(
            "source_format",
            Text,
            "the format in which that file was read",
            |profile, launch| {
                let source = profile.sources.get(usize::from(launch.head.source))?;
                Some(Cell::word(&source.format))
            },
            |row, cell| words(cell, &mut row.source_format),
        ),
        rare(
            "caches_kept",
            Count,
            "1 where the profiler said that it left caches as they were between passes",
            |profile, launch| {
                let source = profile.sources.get(usize::from(launch.head.source))?;
                source.keeps_caches.then_some(Cell::Count(1))
            },
            |row, cell| {
                row.keeps_caches = cell == Cell::Count(1);
                Ok(())
            },
        ),
        column(
            "process",
            Count,
            "operating-system process; 0 where the export has none",
            |_, launch| Some(Cell::Count(u64::from(launch.head.process))),
            |row, cell| whole(cell, &mut row.process),
        ),
        column(
            "id",
            Count,
            "number of the launch within its export",
            |_, launch| Some(Cell::Count(u64::from(launch.head.id))),
            |row, cell| whole(cell, &mut row.id),
        ),
        column(
            "kernel",
            Text,
            "name as the profiler wrote it",
            |_, launch| Some(Cell::word(launch.kernel())),
            |row, cell| words(cell, &mut row.kernel),
        ),
        column(
            "operator",
            Text,
            "framework operator and its parameters",
            |profile, launch| Some(Cell::word(profile.names.get(launch.head.operator))),
            |row, cell| words(cell, &mut row.operator),
        ),
        column(
            "device",
            Text,
            "name of the device, as the export writes it",
            |profile, launch| hint(profile, launch)?.name.as_deref().map(Cell::word),
            |row, cell| {
                row.device.name_from = Some("device".to_owned());
                words(cell, &mut row.device.name)
            },
        ),
        column(
            "device_ordinal",
            Text,
            "number of the device in its machine",
            |profile, launch| hint(profile, launch)?.ordinal.as_deref().map(Cell::word),
            |row, cell| words(cell, &mut row.device.ordinal),
        ),
        column(
            "stream",
            Count,
            "CUDA stream",
            |_, launch| launch.head.stream.map(|stream| Cell::Count(u64::from(stream))),
            |row, cell| whole(cell, &mut row.stream),
        ),
        column(
            "launches",
            Count,
            "executions the row stands for",
            |_, launch| Some(Cell::Count(u64::from(launch.head.count))),
            |row, cell| match cell {
                Cell::Count(0) => Err(Fault::Row("a row stands for one launch at least")),
                _ => whole(cell, &mut row.launches),
            },
        ),
    ]
}

fn shape() -> Vec<LaunchColumn> {
    use Form::Count;
    vec![
        column(
            "grid_x",
            Count,
            "blocks in x",
            |_, launch| extent(launch.head.shape.grid, |dim| dim.x),
            |row, cell| whole(cell, &mut row.grid[0]),
        ),
        column(
            "grid_y",
            Count,
            "blocks in y",
            |_, launch| extent(launch.head.shape.grid, |dim| dim.y),
            |row, cell| whole(cell, &mut row.grid[1]),
        ),
        column(
            "grid_z",
            Count,
            "blocks in z",
            |_, launch| extent(launch.head.shape.grid, |dim| dim.z),
            |row, cell| whole(cell, &mut row.grid[2]),
        ),
        column(
            "block_x",
            Count,
            "threads of a block in x",
            |_, launch| extent(launch.head.shape.block, |dim| dim.x),
            |row, cell| whole(cell, &mut row.block[0]),
        ),
        column(
            "block_y",
            Count,
            "threads of a block in y",
            |_, launch| extent(launch.head.shape.block, |dim| dim.y),
            |row, cell| whole(cell, &mut row.block[1]),
        ),
        column(
            "block_z",
            Count,
            "threads of a block in z",
            |_, launch| extent(launch.head.shape.block, |dim| dim.z),
            |row, cell| whole(cell, &mut row.block[2]),
        ),
        column(
            "blocks",
            Count,
            "blocks of the grid",
            |_, launch| launch.head.shape.blocks.map(Cell::Count),
            |row, cell| whole(cell, &mut row.blocks),
        ),
        column(
            "threads_per_block",
            Count,
            "threads of a block",
            |_, launch| launch.head.shape.threads_per_block.map(Cell::Count),
            |row, cell| whole(cell, &mut row.threads_per_block),
        ),
    ]
}

/// What the export says of the device beyond its name.
fn device() -> Vec<LaunchColumn> {
    use Form::{Count, Number, Text};
    vec![
        rare(
            "device_compute_capability",
            Text,
            "compute capability of the device, as the export says",
            |profile, launch| hint(profile, launch)?.compute_capability.as_deref().map(Cell::word),
            |row, cell| words(cell, &mut row.device.compute_capability),
        ),
        rare(
            "device_multiprocessors",
            Count,
            "multiprocessors of the device, as the export says",
            |profile, launch| Some(Cell::Count(u64::from(hint(profile, launch)?.sms?))),
            |row, cell| whole(cell, &mut row.device.sms),
        ),
        rare(
            "device_max_sm_clock_hz",
            Number("Hz"),
            "highest SM clock of the device, as the export says",
            |profile, launch| Some(Cell::Number(hint(profile, launch)?.max_sm_clock?.get())),
            |row, cell| clock(cell, &mut row.device.max_sm_clock),
        ),
        rare(
            "device_max_memory_clock_hz",
            Number("Hz"),
            "highest memory clock of the device, as the export says",
            |profile, launch| Some(Cell::Number(hint(profile, launch)?.max_memory_clock?.get())),
            |row, cell| clock(cell, &mut row.device.max_memory_clock),
        ),
        rare(
            "device_memory_clock_hz",
            Number("Hz"),
            "a memory clock observed while a kernel ran",
            |profile, launch| {
                Some(Cell::Number(hint(profile, launch)?.observed_memory_clock?.get()))
            },
            |row, cell| clock(cell, &mut row.device.observed_memory_clock),
        ),
        rare(
            "device_memory_bus_bits",
            Count,
            "width of the device's memory bus in bits, as the export says",
            |profile, launch| Some(Cell::Count(u64::from(hint(profile, launch)?.memory_bus_bits?))),
            |row, cell| whole(cell, &mut row.device.memory_bus_bits),
        ),
        rare(
            "device_l2_bytes",
            Count,
            "size of the device's L2 cache in bytes, as the export says",
            |profile, launch| Some(Cell::Count(hint(profile, launch)?.l2_bytes?)),
            |row, cell| whole(cell, &mut row.device.l2_bytes),
        ),
    ]
}

fn hint<'a>(profile: &'a Profile, launch: &Launch<'a>) -> Option<&'a DeviceHint> {
    profile.devices.get(usize::from(launch.head.device.0))
}

fn extent(dim: Option<Dim3>, of: fn(Dim3) -> u32) -> Option<Cell<'static>> {
    dim.map(|dim| Cell::Count(u64::from(of(dim))))
}

fn words(cell: Cell<'_>, place: &mut Option<String>) -> Result<(), Fault> {
    put(cell.text().map(Cow::into_owned), place, "not a text")
}

/// A whole number that fits its place.
fn whole<T: TryFrom<u64>>(cell: Cell<'_>, place: &mut Option<T>) -> Result<(), Fault> {
    put(cell.count().and_then(|count| T::try_from(count).ok()), place, NO_COUNT)
}

fn clock(cell: Cell<'_>, place: &mut Option<Hertz>) -> Result<(), Fault> {
    put(cell.number().map(Hertz::new), place, NO_NUMBER)
}

fn put<T>(value: Option<T>, place: &mut Option<T>, fault: &'static str) -> Result<(), Fault> {
    *place = value;
    if place.is_some() { Ok(()) } else { Err(Fault::Cell(fault)) }
}

/// Changes the value that was read last: what stands beside a value follows it.
fn in_last(
    row: &mut Row,
    change: impl FnOnce(&mut Value) -> Result<(), Fault>,
) -> Result<(), Fault> {
    row.values.last_mut().map_or(Ok(()), change)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> &'static LaunchColumn {
        columns().iter().find(|column| column.name == name).unwrap()
    }

    #[test]
    fn what_a_launch_gives_is_what_a_row_takes() {
        let options = crate::ingest::Options::default();
        let profile = crate::ingest::read_text("demo", crate::SAMPLE, &options).unwrap();
        let launch = profile.launch(0);
        let mut row = Row::default();
        for column in columns() {
            if let Some(cell) = column.get(&profile, &launch) {
                assert!(column.is_about(&row), "{}", column.name);
                column.set(&mut row, cell).unwrap();
            }
        }
        assert_eq!(row.kernel.as_deref(), Some(launch.kernel()));
        assert_eq!(row.shape(), launch.head.shape);
        let (taken, known): (Vec<_>, Vec<_>) = (
            row.values.iter().map(|value| (value.quantity, value.value)).collect(),
            Quantity::all().filter_map(|one| Some((one, launch.value(one)?))).collect(),
        );
        assert_eq!(taken, known);
    }

    #[test]
    fn no_two_columns_have_one_name() {
        let mut names: Vec<&str> = columns().iter().map(|column| column.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), columns().len());
    }

    #[test]
    fn a_number_that_does_not_fit_is_a_fault_of_its_cell() {
        let mut row = Row::default();
        let large = u64::from(u32::MAX) + 1;
        assert_eq!(named("id").set(&mut row, Cell::Count(large)), Err(Fault::Cell(NO_COUNT)));
        assert_eq!((row.id, named("blocks").set(&mut row, Cell::Count(large))), (None, Ok(())));
        assert_eq!(row.blocks, Some(large));
        // A row that stands for no launch is none.
        let none = named("launches").set(&mut row, Cell::Count(0));
        assert!(matches!(none, Err(Fault::Row(_))));
    }

    /// What stands beside a value is about the value that was read last, and about nothing without it.
    #[test]
    fn what_stands_beside_a_value_follows_it() {
        let [bytes, low, time_low] =
            ["dram_bytes", "dram_bytes_low", "duration_s_low"].map(|name| {
                let known = columns().iter().find(|column| column.name == name);
                known.unwrap_or_else(|| panic!("{name}"))
            });
        let mut row = Row::default();
        assert!(!low.is_about(&row));
        bytes.set(&mut row, Cell::Number(64.0)).unwrap();
        assert!(low.is_about(&row) && !time_low.is_about(&row));
        low.set(&mut row, Cell::Number(0.5)).unwrap();
        assert_eq!(row.values[0].bounds(), [0.5, f64::INFINITY]);
    }
}
