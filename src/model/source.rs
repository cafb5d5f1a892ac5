//! Facts about an input file: format, condition, skipped records, device attributes.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use super::Reached;
use super::profiler::Profiler;
use super::quantity::Quantity;
use crate::plain::counted;
use crate::units::{Bytes, FASTEST_CLOCK, Hertz, Seconds};

/// Amounts of up to this many bytes may be printed as zero: half of the last digit where gigabytes have six decimals.
pub(crate) const PRINTED_AS_ZERO: f64 = 500.0;

/// What a file records of the time of its GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Recorded {
    /// Launches, maybe not all of them, or at times that are not those of the run.
    #[default]
    Launches,
    /// All kernels with their starts in the run, and nothing of copies.
    Kernels,
    /// All kernels, copies and fills with their starts in the run.
    Everything,
}

/// One input file (or the standard input) after reading.
#[derive(Debug, Clone, Default)]
pub struct Source {
    /// The path as given, or `<stdin>`.
    pub path: String,
    /// Name of the format that read it, such as `ncu-wide`.
    pub format: String,
    /// The profiler that wrote the file.
    pub profiler: Profiler,
    /// The variant of the format, in words: header generation, page, live or imported.
    pub dialect: String,
    /// Character encoding, and compression and byte-order mark if they were removed.
    pub encoding: String,
    /// How numbers are written: decimal mark and digit grouping.
    pub numerals: String,
    /// Facts in the file on the profiler's version, clocks and caches, one sentence each.
    pub clues: Vec<String>,
    /// What it records of the time of its GPUs.
    pub recorded: Recorded,
    /// True if a record is the sum over the launches of a kernel.
    pub sums: bool,
    /// True if the profiler was set to keep cache contents between passes.
    pub keeps_caches: bool,
    /// Corrected counts, if a profiler computes them from shapes.
    pub mended: Mended,
    /// Data records read, skipped ones included.
    pub rows: u64,
    /// Launches the records describe, before separate runs were joined.
    pub launches: u64,
    /// Launches that repeat earlier ones, of this file or another, and are not counted again.
    pub repeated: u64,
    /// Lines before the table and messages of the profiler inside it.
    pub other_lines: u64,
    /// Records that could not be used.
    pub skips: Skips,
    /// The last printed digit of amounts in units with a prefix, in SI units: 1 kB where gigabytes have six decimals.
    pub steps: BTreeMap<Quantity, f64>,
    /// Metric names (or columns) found, with the number of launches that have a value.
    pub columns: BTreeMap<String, u64>,
}

/// Counts from shapes that were corrected instead of used as printed.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Mended {
    /// Launches printed with zero operations and zero bytes that have no other counts.
    pub zeros: u64,
    /// Time of these launches, in seconds.
    pub zero_time: Seconds,
    /// Launches whose bytes follow a faulty formula and were recomputed from the shapes.
    pub repaired: u64,
    /// Bytes printed for the repaired launches.
    pub printed: Bytes,
    /// Bytes recomputed for the repaired launches.
    pub right: Bytes,
    /// Launches whose bytes follow a faulty formula, without shapes to recompute them.
    pub unrepaired: u64,
    /// Time of repaired and unrepaired launches together, in seconds.
    pub faulty_time: Seconds,
}

/// Records that could not be used: the first few in full, and the total count.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Skips {
    /// Total number.
    pub count: u64,
    /// The first ones, at most [`Skips::SHOWN`].
    pub first: Vec<Skip>,
}

impl Skips {
    /// Number of records kept in full.
    pub const SHOWN: usize = 20;

    /// Adds one record.
    pub fn add(&mut self, skip: Skip) {
        self.count += 1;
        if self.first.len() < Self::SHOWN {
            self.first.push(skip);
        }
    }

    /// Adds the records that come after so many lines.
    pub(crate) fn join(&mut self, others: Self, lines: u64) {
        self.count += others.count;
        let room = Self::SHOWN - self.first.len();
        let others = others.first.into_iter().take(room);
        self.first.extend(others.map(|skip| Skip { line: lines + skip.line, ..skip }));
    }
}

/// One record, or one cell, that could not be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Skip {
    /// Line of the file, counted from 1; 0 where a file has none, as a trace or a database.
    pub line: u64,
    /// Name of the column, if a single cell is at fault.
    pub column: Option<String>,
    /// The text found.
    pub text: String,
    /// Why it could not be used, in lowercase.
    pub reason: String,
}

/// Says how many records or cells of files were skipped, and where the first one is; `None` if none was.
pub(crate) fn skipped(sources: &[Source]) -> Option<String> {
    let of_each = || sources.iter().filter(|source| source.skips.count > 0);
    let first = of_each().next()?;
    let all = of_each().map(|source| source.skips.count).sum();
    let many = counted(all, "record or cell was", "records or cells were");
    let the_first = if all == 1 { "" } else { "the first " };
    let at = first.skips.first.first().map_or_else(String::new, |skip| format!(", {skip}"));
    Some(format!("{many} skipped as unreadable, {the_first}in {}{at}", first.path))
}

/// Where it is, what is wrong and the text: `line 3: column "Stream": not a whole number ("x")`.
impl fmt::Display for Skip {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, text, reason } = self;
        if *line > 0 {
            write!(formatter, "line {line}: ")?;
        }
        if let Some(column) = column {
            write!(formatter, "column {column:?}: ")?;
        }
        formatter.write_str(reason)?;
        if !text.is_empty() {
            write!(formatter, " ({text:?})")?;
        }
        Ok(())
    }
}

/// Reference to a [`DeviceHint`] of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct HintId(u32);

impl HintId {
    /// The id of the description at a position.
    pub(crate) fn at(position: usize) -> Self {
        Self(u32::try_from(position).unwrap_or(u32::MAX))
    }

    /// Returns the position of the description among those of the profile.
    #[must_use]
    pub const fn position(self) -> usize {
        self.0 as usize
    }
}

/// Attributes of the GPU in an export; all of them may be missing.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct DeviceHint {
    /// The name the driver reports, such as `NVIDIA H200`.
    pub name: Option<String>,
    /// Source of the name, such as `device__attribute_display_name`.
    pub name_from: Option<String>,
    /// Compute capability (`9.0`).
    pub compute_capability: Option<String>,
    /// AMD target (`gfx942`).
    pub gfx: Option<String>,
    /// Number of SMs (AMD: compute units).
    pub sms: Option<u32>,
    /// Maximum SM clock.
    pub max_sm_clock: Option<Hertz>,
    /// Maximum memory clock (half the data rate of a double-data-rate memory).
    pub max_memory_clock: Option<Hertz>,
    /// Width of the memory bus, in bits.
    pub memory_bus_bits: Option<u32>,
    /// Size of the L2 cache in bytes, stated or derived from a launch's set-aside part.
    pub l2_bytes: Option<u64>,
    /// Memory clock observed while a kernel ran; narrows the candidates if there is no name.
    pub observed_memory_clock: Option<Hertz>,
    /// CUDA ordinal or other tag that distinguishes several devices of one file.
    pub ordinal: Option<String>,
    /// Rates that a benchmark of the profiler reached on it.
    pub reached: Option<Reached>,
}

impl DeviceHint {
    /// Returns the compute capability or the AMD target, whichever identifies the architecture.
    #[must_use]
    pub fn target(&self) -> Option<&str> {
        self.compute_capability.as_deref().or(self.gfx.as_deref())
    }

    /// Whether instructions that add or multiply two FP32 numbers at once are counted apart from those on one (`FADD2`,
    /// `FMUL2`, `FFMA2`). Nsight Compute's roofline rule asks for their counters on these compute capabilities and no other.
    pub(crate) fn counts_packed_fp32(compute_capability: &str) -> bool {
        matches!(compute_capability, "10.0" | "10.3")
    }

    /// Takes attributes of zero, and clocks beyond all, for unknown.
    pub(crate) fn forget_impossible(&mut self) {
        for clock in
            [&mut self.max_sm_clock, &mut self.max_memory_clock, &mut self.observed_memory_clock]
        {
            *clock = clock.filter(|clock| (1.0..FASTEST_CLOCK).contains(&clock.get()));
        }
        self.sms = self.sms.filter(|sms| *sms > 0);
        self.memory_bus_bits = self.memory_bus_bits.filter(|bits| *bits > 0);
        self.l2_bytes = self.l2_bytes.filter(|bytes| *bytes > 0);
    }

    /// Returns `true` if the export has no attributes at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self { ordinal: self.ordinal.clone(), ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Profile;
    use super::*;

    #[test]
    fn attributes_that_no_device_has_are_unknown() {
        let mut profile = Profile::default();
        for clock in [0.0, -1.98e9, 1.98e39, f64::NAN] {
            let clock = Some(Hertz::new(clock));
            let hint = DeviceHint {
                sms: Some(0),
                max_sm_clock: clock,
                max_memory_clock: clock,
                observed_memory_clock: clock,
                ..DeviceHint::default()
            };
            let id = profile.hint(hint);
            assert!(profile.devices[id.position()].is_empty(), "{clock:?}");
        }
    }
}
