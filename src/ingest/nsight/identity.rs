//! Which launch a record belongs to: the identity columns of both header generations.

use super::nvtx::Nvtx;
use crate::ingest::headers::header_again;
use crate::ingest::nsight::{Gathered, Raw};
use crate::ingest::numerals::is_missing;
use crate::ingest::{IngestError, Reading, Record};
use crate::model::{DeviceHint, Dim3, Head, HintId, Shape};
use crate::units::Hertz;

/// Where the identity columns are; all but the kernel name can be absent.
#[derive(Debug, Default, Clone)]
pub(super) struct Identity {
    id: Option<usize>,
    process: Option<usize>,
    pub(super) kernel: usize,
    stream: Option<usize>,
    block: Option<usize>,
    grid: Option<usize>,
    device: Option<usize>,
    compute_capability: Option<usize>,
    /// What only graphs have on a raw page.
    graph: Option<usize>,
    /// Whether a raw page has launch statistics, those of graphs among them.
    has_statistics: bool,
    nvtx: Nvtx,
    last: Option<LastDevice>,
    key: Vec<u8>,
}

/// What stands between launches and is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Whole {
    Graph,
    Range,
}

/// The device cells met last, with the hint they led to.
type LastDevice = (Vec<u8>, HintId);

impl Identity {
    /// Finds the columns in a header.
    pub(super) fn new(header: &[String]) -> Self {
        let find = |name: &str| header.iter().position(|field| field == name);
        Self {
            id: find("ID"),
            process: find("Process ID"),
            kernel: find("Kernel Name").unwrap_or_default(),
            stream: find("Stream"),
            block: find("Block Size"),
            grid: find("Grid Size"),
            device: find("Device"),
            compute_capability: find("CC"),
            graph: find("launch__graph_contains_device_launch"),
            has_statistics: find("Metric Name").is_none()
                && header.iter().any(|field| field.starts_with("launch__")),
            nvtx: Nvtx::new(header),
            last: None,
            key: Vec::new(),
        }
    }

    /// The same columns, with no device met.
    pub(super) fn like(&self) -> Self {
        Self { last: None, ..self.clone() }
    }

    /// Whether the header is of 2023 or later (it has grid, device and compute capability).
    pub(super) fn is_new(&self) -> bool {
        self.compute_capability.is_some()
    }

    /// The cells that number a launch: equal cells are the same launch, without reading numbers.
    pub(super) fn number_cells<'r>(&self, record: &'r Record<'_>) -> [&'r [u8]; 2] {
        [self.process, self.id]
            .map(|column| column.and_then(|column| record.get(column)).unwrap_or_default())
    }

    /// Number of columns up to the last of those that tell launches apart.
    pub(super) fn width(&self) -> usize {
        let columns = [
            self.process,
            self.id,
            Some(self.kernel),
            self.block,
            self.grid,
            self.device,
            self.compute_capability,
        ];
        columns.into_iter().flatten().max().unwrap_or(0) + 1
    }

    /// What a record is of, if not of a launch: a whole CUDA graph or a range, which stand under these names between
    /// kernels. A range has no grid. A graph may have that of one of its kernels: a raw page with launch statistics
    /// has a column of graphs, other pages have no other sign.
    pub(super) fn whole(&self, record: &Record<'_>) -> Option<Whole> {
        let kernel = record.get(self.kernel)?;
        if kernel == b"range" {
            return self.is_shapeless(record).then_some(Whole::Range);
        }
        let is_graph = || match self.graph {
            Some(column) => record.get(column).is_some_and(|cell| !cell.is_empty()),
            None => !self.has_statistics,
        };
        (kernel == b"graph" && (is_graph() || self.is_shapeless(record))).then_some(Whole::Graph)
    }

    /// Whether a record has neither a grid nor a block, where its table has columns of them.
    fn is_shapeless(&self, record: &Record<'_>) -> bool {
        [self.grid, self.block].into_iter().all(|column| {
            let cell = column.and_then(|column| record.get(column)).map(<[u8]>::trim_ascii);
            cell.is_some_and(|cell| {
                let is_zero = |of: Dim3| (of.x, of.y, of.z) == (0, 0, 0);
                is_missing(cell) || Dim3::parse_bytes(cell).is_some_and(is_zero)
            })
        })
    }

    /// Launch number and process of a record; `None` where one of them is not a number, or the record names no kernel, as
    /// the sums of a spreadsheet.
    pub(super) fn key(&self, record: &Record<'_>) -> Option<(u32, u32)> {
        if record.get(self.kernel).is_some_and(<[u8]>::is_empty) {
            return None;
        }
        self.numbers(record)
    }

    /// Launch number and process of a record.
    fn numbers(&self, record: &Record<'_>) -> Option<(u32, u32)> {
        Some((number(record, self.process)?, number(record, self.id)?))
    }

    /// Skips a record without a key, and names the cell that is to blame.
    pub(super) fn skip(
        &self,
        reading: &mut Reading<'_>,
        record: &Record<'_>,
        line: u64,
    ) -> Result<(), IngestError> {
        let [has_process, has_id] =
            [self.process, self.id].map(|column| number(record, column).is_some());
        let (column, title, reason) = if !has_process {
            (self.process, "Process ID", "process ID is not a number")
        } else if !has_id {
            (self.id, "ID", "launch ID is not a number")
        } else {
            (Some(self.kernel), "Kernel Name", "the row names no kernel")
        };
        let cell = column.and_then(|column| record.get(column)).unwrap_or_default();
        reading.skip(line, Some(title), &String::from_utf8_lossy(cell), reason)
    }

    /// The fields of a record that is a header printed again, as `is_header` knows it.
    ///
    /// Its columns may be in another order: it is recognized by a title where the number of a launch is.
    pub(super) fn header(
        &self,
        record: &Record<'_>,
        is_header: impl Fn(&[String]) -> bool,
    ) -> Option<Vec<String>> {
        header_again(record, self.id?, is_header)
    }

    /// Whether a record has no launch number, as the units row of a raw page.
    pub(super) fn is_blank(&self, record: &Record<'_>) -> bool {
        self.id.and_then(|id| record.get(id)).is_some_and(|id| id.trim_ascii().is_empty())
    }

    /// The identity of a launch, with its kernel's own name; the grid may come later, from its metrics.
    ///
    /// # Errors
    /// When a cell cannot be read and reading is strict.
    pub(super) fn head(
        &self,
        reading: &mut Reading<'_>,
        record: &Record<'_>,
    ) -> Result<Head, IngestError> {
        let (process, id) = self.numbers(record).unwrap_or_default();
        let cell = |column: Option<usize>| record.get(column?);
        let dim = |column| Dim3::parse_bytes(cell(column)?);
        let [grid, block] = [self.grid, self.block].map(dim);
        let stream = cell(self.stream).and_then(integer);
        for (column, title, is_read) in [
            (self.grid, "Grid Size", grid.is_some()),
            (self.block, "Block Size", block.is_some()),
            (self.stream, "Stream", stream.is_some()),
        ] {
            let text = cell(column).unwrap_or_default();
            if !is_read && !is_missing(text.trim_ascii()) {
                let (line, text) = (record.line(), String::from_utf8_lossy(text));
                reading.skip(line, Some(title), &text, "cannot be read")?;
            }
        }
        let shape = Shape::new(grid, block);
        let kernel = record.get(self.kernel).unwrap_or_default();
        let (path, before) = self.nvtx.of(record, kernel);
        let kernel = kernel.get(before..).unwrap_or(kernel);
        let (name, operator) = (reading.name(kernel), reading.name(path.as_bytes()));
        Ok(Head { process, id, name, operator, shape, stream, count: 1, ..Head::default() })
    }

    /// The cells that tell launches with the same numbers apart: block, grid, number of the device, compute capability.
    pub(super) fn described_cells<'r>(&self, record: &'r Record<'_>) -> [&'r [u8]; 4] {
        [self.block, self.grid, self.device, self.compute_capability]
            .map(|column| column.and_then(|column| record.get(column)).unwrap_or_default())
    }

    /// The device cells of a record: ordinal and compute capability.
    pub(super) fn device_cells<'r>(&self, record: &'r Record<'_>) -> [&'r [u8]; 2] {
        [self.device, self.compute_capability]
            .map(|column| column.and_then(|column| record.get(column)).unwrap_or_default())
    }

    /// The device of a launch; looked up again only when its cells change.
    ///
    /// `attributes` holds the other cells that describe the device, however joined; `complete` adds what
    /// they and the rest of the export tell, when the device is met first.
    pub(super) fn device(
        &mut self,
        reading: &mut Reading<'_>,
        [ordinal, capability]: [&[u8]; 2],
        attributes: &[u8],
        complete: impl FnOnce(&mut DeviceHint),
    ) -> HintId {
        self.key.clear();
        for part in [ordinal, capability, attributes] {
            self.key.extend_from_slice(part);
            self.key.push(0);
        }
        if let Some((last, hint)) = &self.last
            && *last == self.key
        {
            return *hint;
        }
        let text = |cell: &[u8]| {
            let text = String::from_utf8_lossy(cell).trim().to_owned();
            (!text.is_empty() && text != "No-CC").then_some(text)
        };
        // A spreadsheet may have given it the decimal mark of its locale.
        let capability = text(capability).map(|capability| capability.replace(',', "."));
        let mut hint = DeviceHint {
            compute_capability: capability,
            ordinal: text(ordinal).map(|ordinal| unfractioned(&ordinal).to_owned()),
            ..DeviceHint::default()
        };
        complete(&mut hint);
        let hint = reading.hint(hint);
        self.last = Some((self.key.clone(), hint));
        hint
    }
}

/// Completes a shape from launch metrics, where the identity columns lack it.
pub(super) fn complete_shape(shape: &mut Shape, raw: &Gathered) {
    // Zeros are what lost extents look like.
    let whole = |raw: Option<f64>| raw.filter(|value| *value > 0.0 && value.fract() == 0.0);
    let dim = |x, y, z| {
        let extent = |of| {
            whole(raw.get(of))
                .filter(|value| *value <= f64::from(u32::MAX))
                .map(|value| value as u32)
        };
        Some(Dim3 { x: extent(x)?, y: extent(y)?, z: extent(z)? })
    };
    if shape.grid.is_none()
        && let Some(grid) = dim(Raw::GridX, Raw::GridY, Raw::GridZ)
    {
        shape.grid = Some(grid);
        shape.blocks = Some(grid.volume());
    }
    if shape.block.is_none()
        && let Some(block) = dim(Raw::BlockX, Raw::BlockY, Raw::BlockZ)
    {
        shape.block = Some(block);
        shape.threads_per_block = Some(block.volume());
    }
    shape.blocks = shape.blocks.or_else(|| whole(raw.get(Raw::Blocks)).map(|value| value as u64));
    shape.threads_per_block =
        shape.threads_per_block.or_else(|| whole(raw.get(Raw::Threads)).map(|value| value as u64));
}

/// The `device__attribute_*` columns of a raw page.
#[derive(Debug, Default, Clone)]
pub(super) struct Attributes(Vec<(usize, Attribute)>);

#[derive(Debug, Clone, Copy)]
enum Attribute {
    Name,
    Major,
    Minor,
    Sms,
    SmClock,
    MemoryClock,
    Bus,
    L2,
}

impl Attributes {
    /// Finds the columns in a header.
    pub(super) fn new(header: &[String]) -> Self {
        Self(
            header
                .iter()
                .enumerate()
                .filter_map(|(column, name)| {
                    let attribute = match name.strip_prefix("device__attribute_")? {
                        "display_name" => Attribute::Name,
                        "compute_capability_major" => Attribute::Major,
                        "compute_capability_minor" => Attribute::Minor,
                        "multiprocessor_count" => Attribute::Sms,
                        "clock_rate" => Attribute::SmClock,
                        "memory_clock_rate" => Attribute::MemoryClock,
                        "global_memory_bus_width" => Attribute::Bus,
                        "l2_cache_size" => Attribute::L2,
                        _ => return None,
                    };
                    Some((column, attribute))
                })
                .collect(),
        )
    }

    /// The cells of a record one after the other, to see whether they changed.
    pub(super) fn cells(&self, record: &Record<'_>, into: &mut Vec<u8>) {
        into.clear();
        for (column, _) in &self.0 {
            into.extend_from_slice(record.get(*column).unwrap_or_default());
            into.push(0);
        }
    }

    /// Fills a hint from a record; clocks are in kHz, and 0 for "not stated" (integrated parts) is left to
    /// [`crate::model::Profile::hint`].
    pub(super) fn complete(
        &self,
        hint: &mut DeviceHint,
        record: &Record<'_>,
        parse: impl Fn(&[u8]) -> Option<f64>,
    ) {
        let (mut major, mut minor) = (None, None);
        for (column, attribute) in &self.0 {
            let Some(cell) = record.get(*column) else { continue };
            let number = parse(cell);
            match attribute {
                Attribute::Name => {
                    let name = String::from_utf8_lossy(cell).trim().to_owned();
                    if !name.is_empty() {
                        hint.name = Some(name);
                        hint.name_from = Some("device__attribute_display_name".to_owned());
                    }
                }
                Attribute::Major => major = number.filter(|major| *major > 0.0),
                Attribute::Minor => minor = number,
                Attribute::Sms => hint.sms = number.map(|value| value as u32),
                Attribute::SmClock => hint.max_sm_clock = number.map(|khz| Hertz::new(khz * 1e3)),
                Attribute::MemoryClock => {
                    hint.max_memory_clock = number.map(|khz| Hertz::new(khz * 1e3));
                }
                Attribute::Bus => hint.memory_bus_bits = number.map(|bits| bits as u32),
                Attribute::L2 => hint.l2_bytes = number.map(|bytes| bytes as u64),
            }
        }
        if hint.compute_capability.is_none()
            && let (Some(major), Some(minor)) = (major, minor)
        {
            hint.compute_capability = Some(format!("{major}.{minor}"));
        }
    }
}

/// The number in a column of a record; 0 if the export does not have it.
fn number(record: &Record<'_>, column: Option<usize>) -> Option<u32> {
    match column {
        None => Some(0),
        Some(column) => integer(record.get(column)?),
    }
}

/// A whole number without the fraction that pandas writes where a column lacks a value, as in the row of units.
fn unfractioned(text: &str) -> &str {
    let whole = text.strip_suffix(".0").filter(|whole| !whole.is_empty());
    whole.filter(|whole| whole.bytes().all(|byte| byte.is_ascii_digit())).unwrap_or(text)
}

/// A whole number; `ID` and `Process ID` are grouped in some locales.
fn integer(cell: &[u8]) -> Option<u32> {
    // So many digits fit.
    if (1..=9).contains(&cell.len()) && cell.iter().all(u8::is_ascii_digit) {
        return Some(cell.iter().fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0')));
    }
    let text = unfractioned(std::str::from_utf8(cell.trim_ascii()).ok()?);
    let mark = text.contains([',', '.']);
    let well_grouped = || {
        let mut groups = text.split([',', '.']);
        groups.next().is_some_and(|first| (1..=3).contains(&first.len()))
            && groups.all(|group| group.len() == 3)
    };
    if mark && !well_grouped() {
        return None;
    }
    if !mark {
        return text.parse().ok();
    }
    let digits: String = text.chars().filter(|c| !matches!(c, ',' | '.')).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::integer;

    #[test]
    fn grouped_numbers_are_numbers_and_text_is_not() {
        for (cell, number) in [
            ("12", Some(12)),
            ("1,234", Some(1234)),
            ("52.060", Some(52060)),
            ("3823.0", Some(3823)),
            ("0.0", Some(0)),
            ("1,234.0", None),
            ("7.00", None),
            ("0.5", None),
            ("loss, 7", None),
            ("", None),
            ("-1", None),
        ] {
            assert_eq!(integer(cell.as_bytes()), number, "{cell}");
        }
    }
}
