//! What is known of a file itself: its format, its condition, what was skipped, which GPU it names.

use std::collections::BTreeMap;

use serde::Serialize;

use super::profiler::Profiler;
use crate::units::{Bytes, Hertz, Seconds};

/// One input file (or the standard input) after reading.
#[derive(Debug, Clone, Default)]
pub struct Source {
    /// The path as given, or `<stdin>`.
    pub path: String,
    /// Name of the format that read it, such as `ncu-wide`.
    pub format: String,
    /// The tool that measured what the file holds.
    pub profiler: Profiler,
    /// The variant of the format, in words: header generation, page, live or imported.
    pub dialect: String,
    /// Character encoding and, where one was removed, compression and byte-order mark.
    pub encoding: String,
    /// How numbers are written: decimal mark and digit grouping.
    pub numerals: String,
    /// What the file tells about the profiler's version, clocks and caches, one sentence each.
    pub clues: Vec<String>,
    /// Whether the profiler said that it left caches as they were between passes.
    pub keeps_caches: bool,
    /// What was not taken as the file prints it, where a profiler counts from shapes.
    pub mended: Mended,
    /// Data records read, skipped ones included.
    pub rows: u64,
    /// Launches the records describe, before separate runs were joined.
    pub launches: u64,
    /// Lines before the table and messages of the profiler inside it.
    pub other_lines: u64,
    /// Records that could not be used.
    pub skips: Skips,
    /// Metric names (or columns) found, with the number of launches that have a value.
    pub columns: BTreeMap<String, u64>,
}

/// Counts from shapes that were not taken as the file prints them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Mended {
    /// Launches printed with zero operations and zero bytes of which nothing else is known.
    pub zeros: u64,
    /// Time of these launches.
    pub zero_time: Seconds,
    /// Launches whose bytes follow a faulty formula and were computed again from the shapes.
    pub repaired: u64,
    /// The bytes printed for the repaired launches.
    pub printed: Bytes,
    /// The bytes computed for them.
    pub right: Bytes,
    /// Launches whose bytes follow a faulty formula, and no shapes to compute them from.
    pub unrepaired: u64,
    /// Time of the launches that were repaired and of those that were not.
    pub faulty_time: Seconds,
}

/// Records that could not be used: the first few in full, all of them counted.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Skips {
    /// How many in all.
    pub count: u64,
    /// The first ones, at most [`Skips::SHOWN`].
    pub first: Vec<Skip>,
}

impl Skips {
    /// How many are kept in full.
    pub const SHOWN: usize = 20;

    /// Records one.
    pub fn add(&mut self, skip: Skip) {
        self.count += 1;
        if self.first.len() < Self::SHOWN {
            self.first.push(skip);
        }
    }
}

/// One record, or one cell, that could not be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skip {
    /// Line of the file, counted from 1.
    pub line: u64,
    /// Name of the column, where one cell is at fault.
    pub column: Option<String>,
    /// The text found.
    pub text: String,
    /// Why it could not be used, in lowercase.
    pub reason: String,
}

/// Reference to a [`DeviceHint`] of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct HintId(pub u16);

/// What an export says about the GPU it was taken on; all of it may be missing.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct DeviceHint {
    /// The name the driver reports, such as `NVIDIA H200`.
    pub name: Option<String>,
    /// Where the name was found, such as `device__attribute_display_name`.
    pub name_from: Option<String>,
    /// Compute capability (`9.0`).
    pub compute_capability: Option<String>,
    /// Multiprocessors of the device.
    pub sms: Option<u32>,
    /// Highest SM clock.
    pub max_sm_clock: Option<Hertz>,
    /// Highest memory clock (half the data rate of a double-data-rate memory).
    pub max_memory_clock: Option<Hertz>,
    /// Width of the memory bus, in bits.
    pub memory_bus_bits: Option<u32>,
    /// Size of the L2 cache, in bytes; stated, or from what a launch sets aside of it.
    pub l2_bytes: Option<u64>,
    /// A memory clock observed while a kernel ran; narrows the candidates where no name is given.
    pub observed_memory_clock: Option<Hertz>,
    /// CUDA ordinal or other tag that tells several devices of one file apart.
    pub ordinal: Option<String>,
}

impl DeviceHint {
    /// Whether the export says nothing at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self { ordinal: self.ordinal.clone(), ..Self::default() }
    }
}
