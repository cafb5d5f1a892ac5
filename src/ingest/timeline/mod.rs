//! What exports of timelines share: rows of launches and of totals, units of time, devices named with their number, and
//! what is not a kernel.

mod launches;
mod tables;
mod totals;
mod training;

use std::collections::HashMap;

pub(super) use launches::{LaunchColumns, Launches, extents};
pub(super) use tables::{Tables, Turn, read_tables};
pub(super) use totals::{TotalColumns, Totals};
pub(super) use training::{Annotated, Ran, Work, steps};

use super::rows::Row;
use super::{IngestError, Numerals, Reading};
use crate::model::{DeviceHint, HintId};
use crate::units::si;

/// Units of time by their spellings, as how many of them are a second.
pub(super) fn per_second(unit: &str) -> Option<f64> {
    match unit {
        "s" | "sec" => Some(1.0),
        "ms" | "msec" => Some(1e3),
        "us" | "usec" | "µs" => Some(1e6),
        "ns" | "nsec" => Some(1e9),
        _ => None,
    }
}

/// A column of times.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timed {
    pub(super) at: usize,
    /// How many of its units are a second.
    pub(super) per_second: f64,
}

/// Whether a row of a timeline is something else than a kernel, by its name: `[CUDA memcpy HtoD]`,
/// `[Unified Memory CPU page faults]`.
pub(super) fn is_besides(name: &[u8]) -> bool {
    name.starts_with(b"[CUDA ") || name.starts_with(b"[Unified Memory ")
}

/// Whether such a row is of page faults, which are no work of the GPU.
fn is_fault(name: &[u8]) -> bool {
    name.ends_with(b"page faults]")
}

/// Copies, memsets and page faults: left out, and counted with their time.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    count: u64,
    seconds: f64,
    has_faults: bool,
}

impl LeftOut {
    /// Adds so many of them, which took so long together.
    pub(super) fn add(&mut self, count: u64, seconds: f64) {
        self.count += count;
        self.seconds += seconds;
    }

    /// Adds a row by its name.
    fn row(&mut self, name: &[u8], count: u64, seconds: f64) {
        self.add(count, seconds);
        self.has_faults |= is_fault(name);
    }

    /// What is said of them.
    pub(super) fn clue(&self) -> Option<String> {
        let Self { count, seconds, has_faults } = self;
        let time = if *seconds > 0.0 { format!(" ({})", si(*seconds, "s")) } else { String::new() };
        match (count, has_faults) {
            (0, _) => None,
            (1, _) => Some(format!("1 copy or memset{time} is left out: it is not a kernel")),
            (_, false) => {
                Some(format!("{count} copies and memsets{time} are left out: they are not kernels"))
            }
            (_, true) => Some(format!(
                "{count} copies, memsets and page faults{time} are left out: they are not kernels"
            )),
        }
    }
}

/// Devices by the cell that names them, such as `NVIDIA GeForce RTX 2080 SUPER (0)`.
#[derive(Debug, Default)]
pub(super) struct Devices(HashMap<Vec<u8>, HintId>);

impl Devices {
    /// The device of a cell; `column` is where its name comes from.
    pub(super) fn hint(&mut self, reading: &mut Reading<'_>, cell: &[u8], column: &str) -> HintId {
        if let Some(known) = self.0.get(cell) {
            return *known;
        }
        let text = String::from_utf8_lossy(cell);
        let (name, ordinal) = named(&text);
        let name = Some(name.to_owned()).filter(|name| !name.is_empty());
        let hint = reading.hint(DeviceHint {
            name_from: name.as_ref().map(|_| column.to_owned()),
            name,
            ordinal: ordinal.map(str::to_owned),
            ..DeviceHint::default()
        });
        self.0.insert(cell.to_vec(), hint);
        hint
    }
}

/// A name without the number of the device in brackets behind it, and that number.
fn named(text: &str) -> (&str, Option<&str>) {
    let text = text.trim();
    let number = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    match text.strip_suffix(')').and_then(|inside| inside.rsplit_once('(')) {
        Some((name, ordinal)) if number(ordinal) => (name.trim_end(), Some(ordinal)),
        _ => (text, None),
    }
}

/// A time of a row in units of its column; `None` if its cell is empty or 0, which is what a lost timestamp looks like.
///
/// # Errors
/// When the cell has no time, with the reason.
fn time(row: &Row, column: Timed, numerals: Numerals) -> Result<Option<f64>, &'static str> {
    match numerals.parse(row.cell(column.at)) {
        Ok(Some(time)) if time < 0.0 => Err("negative time"),
        Ok(time) => Ok(time.filter(|time| *time > 0.0)),
        Err(_) => Err("not a time"),
    }
}

/// Why a row without a name is no launch: a spreadsheet's totals have none.
const NAMELESS: &str = "the row names no kernel";

/// Counts a row with a cell that cannot be read.
fn skip(
    reading: &mut Reading<'_>,
    row: &Row,
    titles: &[String],
    at: usize,
    reason: &str,
) -> Result<(), IngestError> {
    reading.skip(row.line(), titles.get(at).map(String::as_str), &row.text(at), reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_has_its_number_in_brackets_behind_its_name() {
        for (cell, name, ordinal) in [
            ("NVIDIA GeForce RTX 2080 SUPER (0)", "NVIDIA GeForce RTX 2080 SUPER", Some("0")),
            ("NVIDIA A30 MIG 2g.12gb (3)", "NVIDIA A30 MIG 2g.12gb", Some("3")),
            ("GeForce GTX 1060 with Max-Q Design", "GeForce GTX 1060 with Max-Q Design", None),
            ("Quadro (Mobile)", "Quadro (Mobile)", None),
            ("", "", None),
        ] {
            assert_eq!(named(cell), (name, ordinal));
        }
    }

    #[test]
    fn what_is_left_out_is_said_with_its_time() {
        let mut left = LeftOut::default();
        assert_eq!(left.clue(), None);
        left.add(1, 0.5e-3);
        assert_eq!(
            left.clue().unwrap(),
            "1 copy or memset (500 µs) is left out: it is not a kernel"
        );
        left.row(b"[CUDA memset]", 2, 1e-3);
        assert_eq!(
            left.clue().unwrap(),
            "3 copies and memsets (1.50 ms) are left out: they are not kernels"
        );
        left.row(b"[Unified Memory CPU page faults]", 1, 0.0);
        assert!(left.clue().unwrap().starts_with("4 copies, memsets and page faults (1.50 ms)"));
    }
}
