//! A column of an unknown table: its title and first values, and what they may be.

use super::titles::{Title, Unit, plain};
use crate::ingest::numerals::is_missing;
use crate::model::{Dim3, Pipe};

/// How many values of a column are shown.
const SHOWN: usize = 3;

/// A value is shown up to this many characters.
const LONGEST: usize = 40;

/// Words of a time that a kernel takes.
const TIMES: &[&str] = &["dur", "duration", "time", "elapsed", "latency", "runtime"];
/// Words that a title of a time may consist of, where it has a unit.
const BESIDE_TIME: &[&str] =
    &["total", "sum", "avg", "average", "mean", "gpu", "kernel", "device", "cuda", "hip", "in"];
/// Words of times that are none of a kernel on the GPU, or one of many.
const NO_TIME: &[&str] = &[
    "start",
    "begin",
    "end",
    "stop",
    "min",
    "max",
    "minimum",
    "maximum",
    "median",
    "med",
    "std",
    "stddev",
    "dev",
    "stdev",
    "var",
    "variance",
    "cpu",
    "host",
    "api",
    "p50",
    "p90",
    "p95",
    "p99",
    "queue",
    "wait",
    "launch",
    "overhead",
    "idle",
    "compile",
    "wall",
    "expected",
    "theoretical",
    "ideal",
    "roofline",
    "cumulative",
    "limit",
    "saved",
    "predicted",
    "estimated",
];
/// A column of the table: its title and first values.
pub(super) struct Column {
    pub(super) name: String,
    pub(super) title: Title,
    /// The first different values.
    first: Vec<String>,
    /// Whether all values are numbers, or none at all.
    pub(super) is_numeric: bool,
    /// Whether they are extents, such as `128,1,1`.
    pub(super) is_extent: bool,
    /// Whether another column has the same title: a mapping can name neither.
    pub(super) is_twice: bool,
}

impl Column {
    /// A column by its name, the title in it, and the values of the first rows.
    pub(super) fn new<'v>(
        name: &str,
        title: &str,
        values: impl Iterator<Item = &'v str>,
        is_twice: bool,
    ) -> Self {
        let (mut first, mut is_numeric, mut is_extent) = (Vec::new(), true, true);
        for value in values.map(str::trim) {
            if is_missing(value.as_bytes()) {
                continue;
            }
            let digits = value.trim_start_matches(['-', '+', '.']);
            is_numeric &= digits.starts_with(|c: char| c.is_ascii_digit());
            let spelled = value.replace(['x', 'X', '×', '*'], ",");
            is_extent &= Dim3::parse(&spelled).is_some() || value.parse::<u64>().is_ok();
            if first.len() < SHOWN && !first.iter().any(|known| known == value) {
                first.push(value.to_owned());
            }
        }
        let (name, title) = (name.to_owned(), Title::new(title));
        Self { name, title, first, is_numeric, is_extent, is_twice }
    }

    pub(super) fn is_text(&self) -> bool {
        self.title.unit.is_none() && (!self.is_numeric || self.first.is_empty())
    }

    pub(super) fn is_number(&self) -> bool {
        self.title.unit.is_none() && self.is_numeric && !self.title.is_relative
    }

    /// Its title and first values, for a comment.
    pub(super) fn shown(&self) -> String {
        let values = self.first.iter().map(|value| {
            let mut shown: String = value.chars().take(LONGEST).collect();
            if shown.len() < value.len() {
                shown.push('…');
            }
            format!("\"{}\"", plain(&shown))
        });
        let values: Vec<String> = values.collect();
        let title = plain(&self.name);
        if values.is_empty() {
            format!("\"{title}\", which has no values")
        } else {
            format!("\"{title}\": {}", values.join(", "))
        }
    }

    /// `unit` of a mapping, if the title names one.
    pub(super) fn unit(&self) -> Option<String> {
        let (Unit::Time(unit) | Unit::Bytes(unit) | Unit::Work(unit)) = self.title.unit?;
        Some(format!("{unit}{}", if self.title.is_rate { "/s" } else { "" }))
    }

    pub(super) fn time_unit(&self) -> Option<&'static str> {
        match self.title.unit {
            Some(Unit::Time(unit)) if self.is_numeric && !self.title.is_relative => Some(unit),
            _ => None,
        }
    }

    /// How good a time it is, less is better; with `several`, a row may stand for several launches.
    pub(super) fn time_rank(&self, several: bool) -> Option<(bool, usize, bool)> {
        let title = &self.title;
        let is_time = title.has(TIMES);
        let is_beside = title.words.iter().all(|word| BESIDE_TIME.contains(&&**word));
        let is_known = match title.unit {
            Some(Unit::Time(_)) => is_time || is_beside,
            Some(_) => false,
            None => is_time,
        };
        if !is_known || title.is_relative || !self.is_numeric || title.has(NO_TIME) {
            return None;
        }
        let kinds = [Some(true), Some(false), None];
        let order = if several { kinds } else { [None, Some(false), Some(true)] };
        let kind = order.iter().position(|kind| *kind == self.is_total()).unwrap_or_default();
        let is_gpu = title.has(&["gpu", "kernel", "device", "cuda", "hip"]);
        Some((title.unit.is_none(), kind, !is_gpu))
    }

    /// Whether it is a total over launches; an average if not.
    pub(super) fn is_total(&self) -> Option<bool> {
        if self.title.has(&["total", "sum"]) {
            Some(true)
        } else if self.title.has(&["avg", "average", "mean"]) {
            Some(false)
        } else {
            None
        }
    }

    /// The precision of a column of work, if its title leaves no doubt.
    pub(super) fn precision(&self) -> Option<&'static str> {
        let has = |words: &[&str]| self.title.has(words);
        let is_matrix = has(&["matrix", "tensor", "mma", "wgmma", "mfma", "hmma"]);
        let pipe = if is_matrix { "matrix" } else { "vector" };
        if !is_matrix && !has(&["vector", "simt", "valu"]) {
            return None;
        }
        let kinds = ["fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8"];
        let kind = kinds.into_iter().find(|kind| has(&[*kind]))?;
        Some(Pipe::from_key(&format!("{kind}_{pipe}"))?.key())
    }
}
