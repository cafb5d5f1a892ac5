//! Rows of a table with one launch each.

use std::collections::HashMap;

use super::{Devices, LeftOut, NAMELESS, Timed, is_besides, is_fault, skip, time};
use crate::ingest::rows::{Row, unquoted};
use crate::ingest::{IngestError, Numerals, Reading};
use crate::model::{
    Activity, Dim3, Head, HintId, HostMemory, NameId, Origin, OriginId, Positions, Quantity,
    Recorded, Shape, Values,
};
use crate::plain::counted;

/// A size below this many of its units is rounded by more than a percent, where it has three decimals.
const LEAST_SIZE: f64 = 0.05;

/// A spreadsheet leaves from so many to so many digits before an exponent.
const ROUNDED: std::ops::RangeInclusive<usize> = 5..=15;

/// A start that is rounded to a place of which a launch takes fewer says little of when it ran.
const STEPS: f64 = 20.0;

/// Where the columns of a table of launches are.
#[derive(Debug, Clone)]
pub(in crate::ingest) struct LaunchColumns {
    pub(in crate::ingest) titles: Vec<String>,
    pub(in crate::ingest) start: Option<Timed>,
    pub(in crate::ingest) duration: Timed,
    pub(in crate::ingest) grid: Option<[usize; 3]>,
    pub(in crate::ingest) block: Option<[usize; 3]>,
    pub(in crate::ingest) registers: Option<usize>,
    /// Static and dynamic shared memory of a block with their units in bytes, where they are exact.
    pub(in crate::ingest) shared: Option<[(usize, f64); 2]>,
    /// Size of a copy or memset with its unit in bytes.
    pub(in crate::ingest) moved: Option<(usize, f64)>,
    /// The memory that a copy reads, and the memory that it writes.
    pub(in crate::ingest) memory: [Option<usize>; 2],
    pub(in crate::ingest) device: Option<usize>,
    pub(in crate::ingest) stream: Option<usize>,
    pub(in crate::ingest) name: usize,
    /// The number that the profiler gives each launch.
    pub(in crate::ingest) number: Option<usize>,
    /// Whether a name ends with that number, as in `kernel [1170]`.
    pub(in crate::ingest) is_numbered: bool,
}

/// The three columns whose titles end with X, Y and Z.
pub(in crate::ingest) fn extents(
    find: impl Fn(&str) -> Option<usize>,
    title: &str,
) -> Option<[usize; 3]> {
    let at = |axis: &str| find(&format!("{title}{axis}"));
    Some([at("X")?, at("Y")?, at("Z")?])
}

/// A table being turned into launches.
pub(in crate::ingest) struct Launches {
    columns: LaunchColumns,
    numerals: Numerals,
    devices: Devices,
    left_out: LeftOut,
    origins: Origins,
    values: Values,
    /// Rows that are neither kernels nor copies.
    gridless: u64,
    found: u32,
    seen: Seen,
    repeated: u64,
    /// Copies and fills that repeat earlier ones.
    repeated_copies: u64,
    /// Rows whose starts are rounded, and the first of these.
    rounded: Option<(u64, String)>,
}

/// The launches of known start so far, to know one that is repeated: 32 bytes for each, and its position.
#[derive(Default)]
struct Seen {
    launches: Vec<Once>,
    positions: Positions,
    /// What launches have in common, by its number.
    alike: HashMap<Alike, u32>,
}

/// Kernel, device, stream and blocks of a launch.
type Alike = (NameId, HintId, u32, Option<u64>);

/// A launch, by what no other has too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Once {
    start: u64,
    /// Bits of its time in the unit of its column.
    time: u64,
    /// The number that the profiler gives it; [`NO_NUMBER`] if it has none.
    number: u64,
    alike: u32,
}

/// Marks a launch without a number; no profiler counts so far.
const NO_NUMBER: u64 = u64::MAX;

impl Seen {
    /// Takes a launch by its start, time and number; `false` if it was there before.
    fn take(&mut self, (start, time): (u64, f64), number: Option<u64>, alike: Alike) -> bool {
        let next = self.alike.len() as u32;
        let alike = *self.alike.entry(alike).or_insert(next);
        let number = number.unwrap_or(NO_NUMBER);
        let once = Once { start, time: time.to_bits(), number, alike };
        if self.positions.find(&once, |at| &self.launches[at]).is_some() {
            return false;
        }
        self.launches.push(once);
        self.positions.add(self.launches.len() - 1, |at| &self.launches[at]);
        true
    }
}

/// Where the values of the current columns come from.
struct Origins {
    duration: OriginId,
    registers: OriginId,
    shared: OriginId,
}

impl Origins {
    fn of(reading: &mut Reading<'_>, columns: &LaunchColumns) -> Self {
        let title = |at: usize| columns.titles.get(at).map_or("", String::as_str);
        let shared = columns.shared.map_or_else(String::new, |[fixed, dynamic]| {
            format!("{} + {}", title(fixed.0), title(dynamic.0))
        });
        Self {
            duration: reading.origin(&Origin::measured(title(columns.duration.at))),
            registers: reading.origin(&Origin::measured(columns.registers.map_or("", title))),
            shared: reading.origin(&Origin::derived(shared)),
        }
    }
}

impl Launches {
    pub(in crate::ingest) fn new(
        reading: &mut Reading<'_>,
        columns: LaunchColumns,
        numerals: Numerals,
    ) -> Self {
        Self {
            origins: Origins::of(reading, &columns),
            columns,
            numerals,
            devices: Devices::default(),
            left_out: LeftOut::default(),
            values: Values::default(),
            gridless: 0,
            found: 0,
            seen: Seen::default(),
            repeated: 0,
            repeated_copies: 0,
            rounded: None,
        }
    }

    /// Takes the columns of the rows that follow from another header.
    pub(in crate::ingest) fn turn_to(&mut self, reading: &mut Reading<'_>, columns: LaunchColumns) {
        self.origins = Origins::of(reading, &columns);
        self.columns = columns;
    }

    /// Reads one row.
    ///
    /// # Errors
    /// When something in it cannot be read and reading is strict.
    pub(in crate::ingest) fn row(
        &mut self,
        reading: &mut Reading<'_>,
        row: &Row,
    ) -> Result<(), IngestError> {
        let columns = &self.columns;
        let numerals = self.numerals;
        let duration = time(row, columns.duration, numerals);
        let per_second = columns.duration.per_second;
        let seconds = |time: f64| time / per_second;
        let name = unquoted(row.cell(columns.name));
        let grid = columns.grid.map(|at| at.map(|at| row.cell(at)));
        let has_grid = grid.is_none_or(|grid| grid.iter().any(|cell| !cell.is_empty()));
        if is_besides(&name) || !has_grid {
            reading.source.other_lines += 1;
            let took = match duration {
                Ok(duration) => duration.map_or(0.0, seconds),
                Err(reason) => {
                    return skip(reading, row, &columns.titles, columns.duration.at, reason);
                }
            };
            let is_new = is_fault(&name) || self.activity(reading, row, &name, took)?;
            if is_new && is_besides(&name) {
                self.left_out.row(&name, 1, took);
            } else if is_new {
                self.gridless += 1;
            }
            return Ok(());
        }
        reading.source.rows += 1;
        if name.is_empty() {
            return skip(reading, row, &columns.titles, columns.name, NAMELESS);
        }
        let duration = match duration {
            Ok(duration) => duration,
            Err(reason) => {
                return skip(reading, row, &columns.titles, columns.duration.at, reason);
            }
        };
        let start = self.start(reading, row, duration.map_or(0.0, seconds))?;
        let (name, number) = self.name(reading, row, &name);
        let shape = Shape::new(
            self.extent(reading, row, self.columns.grid)?,
            self.extent(reading, row, self.columns.block)?,
        );
        let device = self.device(reading, row);
        let stream = self.whole(reading, row, self.columns.stream)?;
        // Launches of one stream follow each other: only a repeated row has the same start.
        if let (Some(start), Some(time), Some(stream)) = (start, duration, stream) {
            let alike = (name, device, stream, shape.blocks);
            if !self.seen.take((start, time), number, alike) {
                self.repeated += 1;
                return Ok(());
            }
        }
        self.values.clear();
        if let Some(duration) = duration {
            self.values.set(Quantity::Duration, seconds(duration), self.origins.duration);
        }
        if let Some(registers) = self.whole(reading, row, self.columns.registers)? {
            let registers = f64::from(registers);
            self.values.set(Quantity::RegistersPerThread, registers, self.origins.registers);
        }
        if let Some(shared) = self.shared(reading, row)? {
            self.values.set(Quantity::SharedMemoryPerBlock, shared, self.origins.shared);
        }
        let columns = &self.columns;
        for (at, quantity) in [
            (Some(columns.duration.at), Quantity::Duration),
            (columns.registers, Quantity::RegistersPerThread),
            (columns.shared.map(|[fixed, _]| fixed.0), Quantity::SharedMemoryPerBlock),
        ] {
            if let Some(at) = at.filter(|_| self.values.get(quantity).is_some()) {
                match reading.source.columns.get_mut(&columns.titles[at]) {
                    Some(filled) => *filled += 1,
                    None => _ = reading.source.columns.insert(columns.titles[at].clone(), 1),
                }
            }
        }
        let head = Head {
            id: self.found,
            name,
            shape,
            device,
            stream,
            start,
            count: 1,
            ..Head::default()
        };
        self.found = self.found.saturating_add(1);
        reading.push(head, &self.values);
        Ok(())
    }

    /// A whole number of a row; `None` where it has none.
    ///
    /// # Errors
    /// When its cell cannot be read and reading is strict.
    fn whole(
        &self,
        reading: &mut Reading<'_>,
        row: &Row,
        at: Option<usize>,
    ) -> Result<Option<u32>, IngestError> {
        let Some(at) = at else { return Ok(None) };
        let number = self.numerals.whole(row.cell(at));
        number.or_else(|reason| skip(reading, row, &self.columns.titles, at, reason).map(|()| None))
    }

    /// The grid or block of a row; `None` unless all its extents are there.
    ///
    /// # Errors
    /// When one cannot be read and reading is strict.
    fn extent(
        &self,
        reading: &mut Reading<'_>,
        row: &Row,
        at: Option<[usize; 3]>,
    ) -> Result<Option<Dim3>, IngestError> {
        let Some([x, y, z]) = at else { return Ok(None) };
        let mut axis = |at| self.whole(reading, row, Some(at));
        let [Some(x), Some(y), Some(z)] = [axis(x)?, axis(y)?, axis(z)?] else { return Ok(None) };
        Ok(Some(Dim3 { x, y, z }))
    }

    /// Bytes of shared memory of a block, static and dynamic; `None` unless both are there.
    ///
    /// # Errors
    /// When one cannot be read and reading is strict.
    fn shared(&self, reading: &mut Reading<'_>, row: &Row) -> Result<Option<f64>, IngestError> {
        let Some(parts) = self.columns.shared else { return Ok(None) };
        let mut bytes = Some(0.0);
        for (at, unit) in parts {
            let part = match self.numerals.parse(row.cell(at)) {
                Ok(part) if part.is_none_or(|part| part >= 0.0) => part,
                _ => {
                    skip(reading, row, &self.columns.titles, at, "not a size")?;
                    None
                }
            };
            bytes = bytes.zip(part).map(|(bytes, part)| bytes + part * unit);
        }
        Ok(bytes)
    }

    /// The name of a launch without its number, and that number.
    fn name(&self, reading: &mut Reading<'_>, row: &Row, name: &[u8]) -> (NameId, Option<u64>) {
        let (name, number) = match self.columns.number {
            _ if self.columns.is_numbered => numbered(name),
            None => (name, None),
            Some(at) => (name, digits(row.cell(at))),
        };
        (reading.name(name), number)
    }

    /// When a row that took so many seconds began, in nanoseconds; `None` where it does not say so, or a spreadsheet has
    /// rounded it: other rows have the same start then, and nothing ran when they say.
    ///
    /// # Errors
    /// When its cell cannot be read and reading is strict.
    fn start(
        &mut self,
        reading: &mut Reading<'_>,
        row: &Row,
        took: f64,
    ) -> Result<Option<u64>, IngestError> {
        let Some(column) = self.columns.start else { return Ok(None) };
        let cell = row.cell(column.at);
        match self.numerals.parse(cell) {
            Ok(Some(start)) if start >= 0.0 => {
                let place = |power: i32| 10_f64.powi(power) / column.per_second;
                let is_rounded =
                    self.numerals.before_exponent(cell).is_some_and(|(digits, power)| {
                        let is_cut = ROUNDED.contains(&digits)
                            || self.rounded.is_some() && digits < *ROUNDED.start();
                        is_cut && place(power) > 1e-9 && took < STEPS * place(power)
                    });
                if is_rounded {
                    let text = || (0, row.text(column.at));
                    self.rounded.get_or_insert_with(text).0 += 1;
                    return Ok(None);
                }
                Ok(Some((start * (1e9 / column.per_second)).round() as u64))
            }
            Ok(None) => Ok(None),
            _ => {
                skip(reading, row, &self.columns.titles, column.at, "not a time")?;
                Ok(None)
            }
        }
    }

    fn device(&mut self, reading: &mut Reading<'_>, row: &Row) -> HintId {
        let device = self.columns.device.map_or(&b""[..], |at| row.cell(at));
        let column = self.columns.device.and_then(|at| self.columns.titles.get(at));
        self.devices.hint(reading, device, column.map_or("", String::as_str))
    }

    /// Takes a row that is no kernel as work of its GPU; `false` if it repeats an earlier one.
    ///
    /// # Errors
    /// When its start or size cannot be read and reading is strict.
    fn activity(
        &mut self,
        reading: &mut Reading<'_>,
        row: &Row,
        name: &[u8],
        took: f64,
    ) -> Result<bool, IngestError> {
        let (device, name) = (self.device(reading, row), reading.name(name));
        let start = self.start(reading, row, took)?;
        let stream = self.columns.stream.map(|at| row.cell(at));
        let stream = stream.and_then(|cell| self.numerals.whole(cell).ok().flatten());
        let number = self.columns.number.and_then(|at| digits(row.cell(at)));
        if let (Some(start), Some(stream)) = (start, stream)
            && !self.seen.take((start, took), number, (name, device, stream, None))
        {
            self.repeated_copies += 1;
            return Ok(false);
        }
        let [from, to] = self.columns.memory.map(|at| HostMemory::named(row.cell(at?)));
        let activity = Activity {
            device,
            name,
            start,
            duration: (took * 1e9).round() as u64,
            bytes: self.moved(reading, row)?,
            // The same at both ends is what memory looks like that is not known.
            host_memory: from.xor(to),
            ..Activity::default()
        };
        reading.add_activity(activity);
        Ok(true)
    }

    /// Bytes of a copy or memset; `None` where the row has none.
    ///
    /// # Errors
    /// When its cell cannot be read and reading is strict.
    fn moved(&self, reading: &mut Reading<'_>, row: &Row) -> Result<Option<u64>, IngestError> {
        let Some((at, unit)) = self.columns.moved else { return Ok(None) };
        match self.numerals.parse(row.cell(at)) {
            Ok(None) => Ok(None),
            Ok(Some(size)) if size >= 0.0 => {
                // Sizes in large units have three decimals in some tables: few of them are no size.
                let is_exact = unit == 1.0 || size >= LEAST_SIZE;
                Ok(is_exact.then_some((size * unit).round() as u64))
            }
            _ => {
                skip(reading, row, &self.columns.titles, at, "not a size")?;
                Ok(None)
            }
        }
    }

    /// Says what was left out.
    pub(in crate::ingest) fn finish(&self, reading: &mut Reading<'_>) {
        if self.repeated > 0 {
            reading.source.repeated += self.repeated;
            let are = if self.repeated == 1 { "launch is" } else { "launches are" };
            reading.check(&format!(
                "{} {are} repeated in this file (same kernel, grid, stream, start and time); counted once",
                self.repeated
            ));
        }
        if self.repeated_copies > 0 {
            let are = counted(self.repeated_copies, "copy or fill is", "copies and fills are");
            reading.check(&format!(
                "{are} repeated in this file (same kind, stream, start and time); counted once"
            ));
        }
        if let Some((rows, start)) = &self.rounded {
            let rows = counted(*rows, "row has a start", "rows have starts");
            reading.check(&format!(
                "{rows} rounded as a spreadsheet leaves them ({start}): the timeline is left out, and repeated rows are not \
                 recognized; use the file as the profiler wrote it"
            ));
        }
        let source = &mut reading.source;
        if self.columns.start.is_some() {
            source.recorded = Recorded::Everything;
        }
        source.clues.extend(self.left_out.clue());
        if self.gridless > 0 {
            let rows = counted(self.gridless, "row without a grid is", "rows without a grid are");
            source.clues.push(format!(
                "{rows} left out: CUDA graphs traced as a whole (`--cuda-graph-trace=node` traces their kernels)"
            ));
        }
    }
}

/// A name without the number of its launch, and that number.
fn numbered(name: &[u8]) -> (&[u8], Option<u64>) {
    let Some(inside) = name.strip_suffix(b"]") else { return (name, None) };
    let count = inside.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (before, number) = inside.split_at(inside.len() - count);
    match before.strip_suffix(b" [") {
        Some(bare) if count > 0 => (bare, digits(number)),
        _ => (name, None),
    }
}

/// A whole number of nothing but digits.
fn digits(cell: &[u8]) -> Option<u64> {
    std::str::from_utf8(cell).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::numbered;
    use crate::ingest::{Input, Options, read};

    /// As a spreadsheet saves numbers of twelve digits: many launches have one start.
    #[test]
    fn rounded_starts_are_not_used() {
        const HEADER: &str = "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),Throughput (MBps),SrcMemKd,DstMemKd,Device,Ctx,Strm,Name\n";
        let of = |starts: &[&str]| {
            let row =
                |start: &&str| format!("{start},5000,7,1,1,1,32,1,1,8,0,0,,,,,GPU (0),1,7,k\n");
            let text = HEADER.to_owned() + &starts.iter().map(row).collect::<String>();
            let found = read(&[Input::text("trace.csv", &text)], &Options::default()).unwrap();
            (found.iter().map(|launch| launch.head.start).collect::<Vec<_>>(), found.notes)
        };
        let (starts, notes) = of(&["1.50003E+11", "1.50003E+11", "1.5E+11"]);
        assert_eq!(starts, [None, None, None]);
        let note = "trace.csv: 3 rows have starts rounded as a spreadsheet leaves them (1.50003E+11): the timeline is left out, \
                    and repeated rows are not recognized; use the file as the profiler wrote it";
        assert_eq!(notes, [note]);
        // All digits of a start, and one that a program wrote short.
        let exact = ["1.50003000001e+11", "1.7000000000123457e+18", "2e3", "150003000007"];
        let (starts, notes) = of(&exact);
        let expected = [150_003_000_001, 1_700_000_000_012_345_700, 2_000, 150_003_000_007];
        for (start, expected) in starts.iter().zip(expected) {
            assert!(start.unwrap().abs_diff(expected) <= 256, "{start:?} {expected}");
        }
        assert!(notes.is_empty(), "{notes:?}");
        // A row that is there twice is recognized by its start.
        let (starts, notes) = of(&["150003000001", "150003000001"]);
        assert_eq!((starts.len(), notes.len()), (1, 1));
    }

    #[test]
    fn a_name_loses_the_number_of_its_launch_and_nothing_else() {
        for (name, bare, number) in [
            ("copy(float*, int) [1170]", "copy(float*, int)", Some(1170)),
            ("k<int=3> [12] [7]", "k<int=3> [12]", Some(7)),
            ("k []", "k []", None),
            ("k[3]", "k[3]", None),
            ("k [a1]", "k [a1]", None),
            ("k", "k", None),
        ] {
            assert_eq!(numbered(name.as_bytes()), (bare.as_bytes(), number), "{name}");
        }
    }
}
