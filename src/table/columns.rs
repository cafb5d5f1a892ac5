//! The columns of the launch table in order: type of values, how to get them from a launch and how
//! to set them when reading.

use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

use super::cell::{Cell, Form, NO_CLOCK, NO_COUNT, NO_NUMBER};
use super::row::{Fault, Row, Value};
use crate::model::{DeviceHint, Dim3, Launch, NameId, Origin, OriginKind, Profile, Quantity};
use crate::units::Hertz;

type Get = for<'a> fn(&'a Profile, &Launch<'a>) -> Option<Cell<'a>>;
type Set = fn(&mut Row, Cell<'_>) -> Result<(), Fault>;

/// Where a column reads and writes its value.
#[derive(Clone, Copy)]
enum Slot {
    /// An attribute that identifies a launch; tables omit rare ones if no launch has them.
    Head { get: Get, set: Set, is_rare: bool },
    /// A quantity.
    Value(Quantity),
    /// Origin of a quantity.
    Origin(Quantity),
    /// Lower factor of its uncertainty; missing if it is exact.
    Low(Quantity),
    /// Upper factor of its uncertainty; missing if it is exact or unbounded.
    High(Quantity),
}

/// A column of the launch table.
pub struct LaunchColumn {
    /// Name, including the unit.
    pub name: String,
    /// Type of its values.
    pub form: Form,
    /// Meaning, as a phrase.
    pub about: String,
    /// Possible words, if they are few and known; otherwise empty.
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

    /// Returns its value in a launch; `None` if it is missing or not finite.
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

    /// Sets its value in a launch that is being read. Columns are set in the order of the list.
    ///
    /// # Errors
    /// [`Fault`] if the value is invalid.
    pub(super) fn set(&self, row: &mut Row, cell: Cell<'_>) -> Result<(), Fault> {
        match self.slot {
            Slot::Head { set, .. } => set(row, cell),
            Slot::Value(quantity) => row.measure(quantity, cell),
            Slot::Origin(_) => in_last(row, |value| value.came_about(cell)),
            Slot::Low(_) => in_last(row, |value| {
                bounds(cell, &mut value.low, |low| (0.0..=1.0 + ROUNDED).contains(&low))
            }),
            Slot::High(_) => {
                in_last(row, |value| bounds(cell, &mut value.high, |high| high >= 1.0 - ROUNDED))
            }
        }
    }

    /// Returns `true` if it applies to this launch; the origin of a missing value does not.
    pub(super) fn is_about(&self, row: &Row) -> bool {
        match self.slot {
            Slot::Head { .. } | Slot::Value(_) => true,
            Slot::Origin(quantity) | Slot::Low(quantity) | Slot::High(quantity) => {
                row.values.last().is_some_and(|value| value.quantity == quantity)
            }
        }
    }

    /// Returns the quantity it holds or describes; `None` for identifying attributes.
    pub(super) fn quantity(&self) -> Option<Quantity> {
        match self.slot {
            Slot::Head { .. } => None,
            Slot::Value(quantity)
            | Slot::Origin(quantity)
            | Slot::Low(quantity)
            | Slot::High(quantity) => Some(quantity),
        }
    }

    /// Returns `true` if it holds the quantity itself.
    pub(super) fn is_value(&self) -> bool {
        matches!(self.slot, Slot::Value(_))
    }

    /// Returns `true` if tables omit it when no launch has it.
    pub(super) fn is_rare(&self) -> bool {
        matches!(self.slot, Slot::Head { is_rare: true, .. } | Slot::Low(_) | Slot::High(_))
    }
}

/// Returns the origin of a quantity that is not exact.
fn inexact<'a>(launch: &Launch<'a>, quantity: Quantity) -> Option<&'a Origin> {
    launch.get(quantity).map(|(_, origin)| origin).filter(|origin| !origin.is_exact())
}

/// Returns all columns, in the order of the table.
#[must_use]
pub fn columns() -> &'static [LaunchColumn] {
    static COLUMNS: LazyLock<Vec<LaunchColumn>> = LazyLock::new(all);
    &COLUMNS
}

/// Returns the columns by which a launch names its device, in the order of the table.
pub fn device_columns() -> impl Iterator<Item = &'static LaunchColumn> {
    columns().iter().filter(|column| column.name == "device" || column.name.starts_with("device_"))
}

fn all() -> Vec<LaunchColumn> {
    let mut all = origin();
    all.extend(identity());
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

/// Returns the columns beside a value: its origin and its uncertainty.
fn beside(name: &str, quantity: Quantity) -> [LaunchColumn; 3] {
    let column = |end: &str, form: Form, about: &str, slot: Slot| {
        LaunchColumn::new(&format!("{name}_{end}"), form, about, slot)
    };
    let about = format!("origin of `{name}`");
    let mut origin = column("origin", Form::Text, &about, Slot::Origin(quantity));
    origin.words = OriginKind::ALL.map(OriginKind::label).to_vec();
    let about = format!("lower bound of the true `{name}`, as a factor; missing if exact");
    let low = column("low", Form::Number("1"), &about, Slot::Low(quantity));
    let about = format!(
        "upper bound of the true `{name}`, as a factor; missing if exact, or if it is unbounded \
         beside a `_low`"
    );
    [origin, low, column("high", Form::Number("1"), &about, Slot::High(quantity))]
}

/// Makes a column of an identifying attribute.
fn column(name: &str, form: Form, about: &str, get: Get, set: Set) -> LaunchColumn {
    LaunchColumn::new(name, form, about, Slot::Head { get, set, is_rare: false })
}

/// Makes a column that few tables have.
fn rare(name: &str, form: Form, about: &str, get: Get, set: Set) -> LaunchColumn {
    LaunchColumn::new(name, form, about, Slot::Head { get, set, is_rare: true })
}

fn origin() -> Vec<LaunchColumn> {
    use Form::{Count, Text};
    vec![
        column(
            "source",
            Text,
            "file it was read from",
            |profile, launch| {
                let source = profile.sources.get(usize::from(launch.head.source))?;
                Some(Cell::word(&source.path))
            },
            |row, cell| words(cell, &mut row.source),
        ),
        rare(
            "source_format",
            Text,
            "input format of that file",
            |profile, launch| {
                let source = profile.sources.get(usize::from(launch.head.source))?;
                Some(Cell::word(&source.format))
            },
            |row, cell| words(cell, &mut row.source_format),
        ),
        rare(
            "caches_kept",
            Count,
            "1 if the profiler was set to keep cache contents between passes",
            |profile, launch| {
                let source = profile.sources.get(usize::from(launch.head.source))?;
                source.keeps_caches.then_some(Cell::Count(1))
            },
            |row, cell| {
                row.keeps_caches = cell == Cell::Count(1);
                Ok(())
            },
        ),
    ]
}

fn identity() -> Vec<LaunchColumn> {
    use Form::{Count, Text};
    vec![
        column(
            "process",
            Count,
            "operating-system process; 0 if the export has none",
            |_, launch| Some(Cell::Count(u64::from(launch.head.process))),
            |row, cell| whole(cell, &mut row.process),
        ),
        column(
            "id",
            Count,
            "ID of the launch within its export",
            |_, launch| Some(Cell::Count(u64::from(launch.head.id))),
            |row, cell| whole(cell, &mut row.id),
        ),
        column(
            "kernel",
            Text,
            "name as written by the profiler",
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
        rare(
            "place",
            Text,
            "modules, lines or function of the program that made the launch",
            |profile, launch| {
                let place = launch.head.place;
                (place != NameId::default()).then(|| Cell::word(profile.names.get(place)))
            },
            |row, cell| words(cell, &mut row.place),
        ),
        column(
            "device",
            Text,
            "name of the device as written in the export",
            |profile, launch| hint(profile, launch)?.name.as_deref().map(Cell::word),
            |row, cell| {
                row.device.name_from = Some("device".to_owned());
                words(cell, &mut row.device.name)
            },
        ),
        column(
            "device_ordinal",
            Text,
            "index of the device in its machine; after the label of its rank where ranks of one file have the same index",
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
        rare(
            "start_ns",
            Count,
            "start on the GPU in nanoseconds, since 1970 (UTC) or an instant that all launches of the file share",
            |_, launch| launch.head.start.map(Cell::Count),
            |row, cell| whole(cell, &mut row.start),
        ),
        column(
            "launches",
            Count,
            "number of launches in this row",
            |_, launch| Some(Cell::Count(u64::from(launch.head.count))),
            |row, cell| match cell {
                Cell::Count(0) => Err(Fault::Row("a row needs at least one launch")),
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
            "threads per block in x",
            |_, launch| extent(launch.head.shape.block, |dim| dim.x),
            |row, cell| whole(cell, &mut row.block[0]),
        ),
        column(
            "block_y",
            Count,
            "threads per block in y",
            |_, launch| extent(launch.head.shape.block, |dim| dim.y),
            |row, cell| whole(cell, &mut row.block[1]),
        ),
        column(
            "block_z",
            Count,
            "threads per block in z",
            |_, launch| extent(launch.head.shape.block, |dim| dim.z),
            |row, cell| whole(cell, &mut row.block[2]),
        ),
        column(
            "blocks",
            Count,
            "blocks in the grid",
            |_, launch| launch.head.shape.blocks.map(Cell::Count),
            |row, cell| whole(cell, &mut row.blocks),
        ),
        column(
            "threads_per_block",
            Count,
            "threads per block",
            |_, launch| launch.head.shape.threads_per_block.map(Cell::Count),
            |row, cell| whole(cell, &mut row.threads_per_block),
        ),
    ]
}

/// Returns columns with attributes of the device besides its name.
fn device() -> Vec<LaunchColumn> {
    use Form::{Count, Number, Text};
    vec![
        rare(
            "device_compute_capability",
            Text,
            "compute capability of the device, from the export",
            |profile, launch| hint(profile, launch)?.compute_capability.as_deref().map(Cell::word),
            |row, cell| words(cell, &mut row.device.compute_capability),
        ),
        rare(
            "device_gfx",
            Text,
            "AMD target of the device, from the export",
            |profile, launch| hint(profile, launch)?.gfx.as_deref().map(Cell::word),
            |row, cell| words(cell, &mut row.device.gfx),
        ),
        rare(
            "device_multiprocessors",
            Count,
            "number of SMs (AMD: compute units) of the device, from the export",
            |profile, launch| Some(Cell::Count(u64::from(hint(profile, launch)?.sms?))),
            |row, cell| whole(cell, &mut row.device.sms),
        ),
        rare(
            "device_max_sm_clock_hz",
            Number("Hz"),
            "maximum SM clock of the device, from the export",
            |profile, launch| Some(Cell::Number(hint(profile, launch)?.max_sm_clock?.get())),
            |row, cell| clock(cell, &mut row.device.max_sm_clock),
        ),
        rare(
            "device_max_memory_clock_hz",
            Number("Hz"),
            "maximum memory clock of the device, from the export",
            |profile, launch| Some(Cell::Number(hint(profile, launch)?.max_memory_clock?.get())),
            |row, cell| clock(cell, &mut row.device.max_memory_clock),
        ),
        rare(
            "device_memory_clock_hz",
            Number("Hz"),
            "memory clock observed while a kernel ran",
            |profile, launch| {
                Some(Cell::Number(hint(profile, launch)?.observed_memory_clock?.get()))
            },
            |row, cell| clock(cell, &mut row.device.observed_memory_clock),
        ),
        rare(
            "device_memory_bus_bits",
            Count,
            "memory bus width of the device in bits, from the export",
            |profile, launch| Some(Cell::Count(u64::from(hint(profile, launch)?.memory_bus_bits?))),
            |row, cell| whole(cell, &mut row.device.memory_bus_bits),
        ),
        rare(
            "device_l2_bytes",
            Count,
            "L2 cache size of the device in bytes, from the export",
            |profile, launch| Some(Cell::Count(hint(profile, launch)?.l2_bytes?)),
            |row, cell| whole(cell, &mut row.device.l2_bytes),
        ),
    ]
}

fn hint<'a>(profile: &'a Profile, launch: &Launch<'a>) -> Option<&'a DeviceHint> {
    profile.devices.get(launch.head.device.position())
}

fn extent(dim: Option<Dim3>, of: fn(Dim3) -> u32) -> Option<Cell<'static>> {
    dim.map(|dim| Cell::Count(u64::from(of(dim))))
}

fn words(cell: Cell<'_>, place: &mut Option<String>) -> Result<(), Fault> {
    put(cell.text().map(Cow::into_owned), place, "not text")
}

/// Parses a whole number within range.
fn whole<T: TryFrom<u64>>(cell: Cell<'_>, place: &mut Option<T>) -> Result<(), Fault> {
    put(cell.count().and_then(|count| T::try_from(count).ok()), place, NO_COUNT)
}

fn clock(cell: Cell<'_>, place: &mut Option<Hertz>) -> Result<(), Fault> {
    put(cell.number().filter(|rate| *rate > 0.0).map(Hertz::new), place, NO_CLOCK)
}

fn put<T>(value: Option<T>, place: &mut Option<T>, fault: &'static str) -> Result<(), Fault> {
    *place = value;
    if place.is_some() { Ok(()) } else { Err(Fault::Cell(fault)) }
}

/// A bound may miss its value by this share: means are rounded.
const ROUNDED: f64 = 1e-9;

/// Takes a bound of a value, as a factor of it; one that leaves out the value bounds nothing.
fn bounds(
    cell: Cell<'_>,
    place: &mut Option<f64>,
    holds: impl Fn(f64) -> bool,
) -> Result<(), Fault> {
    put(cell.number(), place, NO_NUMBER)?;
    if place.is_some_and(|bound| !holds(bound)) {
        *place = None;
        return Err(Fault::Cell("a bound on the wrong side of its value"));
    }
    Ok(())
}

/// Changes the value that was read last, which its describing columns follow.
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
    fn a_bound_that_leaves_out_its_value_is_none() {
        for (low, high, expected) in [
            (0.5, 2.0, [0.5, 2.0]),
            (1.0 + 1e-12, 1.0 - 1e-12, [1.0 + 1e-12, 1.0 - 1e-12]),
            (1.5, 2.0, [0.0, 2.0]),
            (0.5, 0.7, [0.5, f64::INFINITY]),
            (-0.5, 2.0, [0.0, 2.0]),
        ] {
            let mut row = Row::default();
            named("dram_bytes").set(&mut row, Cell::Number(100.0)).unwrap();
            let set = [("dram_bytes_low", low), ("dram_bytes_high", high)]
                .map(|(name, bound)| named(name).set(&mut row, Cell::Number(bound)).is_ok());
            let found = row.values[0].bounds();
            assert_eq!(found, expected, "{low} {high} {set:?}");
            let is_kept = [found[0] == low, found[1] == high];
            assert_eq!(set, is_kept);
        }
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
