//! Metric columns of a raw page, with what their units convert to.

use std::collections::BTreeMap;

use super::row::{Row, value_end};
use super::{Catalog, Dimension, Raw, unit};
use crate::ingest::{Numerals, Reading, Record};
use crate::model::{PRINTED_AS_ZERO, Quantity};

/// Profilers count whole nanoseconds: times are exact where more is printed. In seconds.
const EXACT: f64 = 1.5e-9;

/// Of a larger amount on the other side of device memory, what was rounded away is so small a share; of a time, too.
const NOTHING: f64 = 0.01;

/// The columns that amounts are printed in; reads and writes add up where there is none of all bytes.
const AMOUNTS: [(Quantity, &[Raw]); 7] = [
    (Quantity::Duration, &[Raw::TimeSum]),
    (Quantity::DramBytes, &[Raw::DramBytes]),
    (Quantity::DramBytes, &[Raw::DramRead, Raw::DramWrite]),
    (Quantity::DramReadBytes, &[Raw::DramRead]),
    (Quantity::DramWriteBytes, &[Raw::DramWrite]),
    (Quantity::L2Bytes, &[Raw::LtsBytes]),
    (Quantity::L1Bytes, &[Raw::L1Bytes]),
];

/// A metric column that is read.
#[derive(Clone)]
pub(super) struct Column {
    pub(super) field: usize,
    pub(super) slot: usize,
    pub(super) dimension: Dimension,
    pub(super) name: String,
    pub(super) scale: Scale,
    /// The unit in the title, where two header rows were made one.
    pub(super) titled: Option<String>,
    pub(super) launches: u64,
    /// Decimals of its cells, where they are known.
    decimals: Option<u8>,
    /// The largest amount that is printed as zero, where that is more than a few bytes or a nanosecond.
    hidden: Option<f64>,
    /// The position among the columns of the same metric before it.
    pub(super) twin: Option<usize>,
}

/// Factor to the base unit, or why there is none.
#[derive(Clone)]
pub(super) enum Scale {
    Factor(f64),
    Unusable(String),
    /// Reported once already.
    Reported,
}

impl Scale {
    /// The factor of a unit for a metric.
    fn of(word: &str, dimension: Dimension) -> Self {
        match unit(word) {
            Some(unit) if unit.dimension == dimension => Self::Factor(unit.factor),
            // Rates of tensor operations and some peaks per cycle are printed without a unit.
            Some(unit) if word.is_empty() && unitless(dimension) => Self::Factor(unit.factor),
            Some(_) if word.is_empty() => Self::Unusable("no unit".to_owned()),
            Some(_) => Self::Unusable(format!("unit {word:?} is not {}", dimension.noun())),
            None => Self::Unusable(format!("unknown unit {word:?}")),
        }
    }
}

impl Column {
    /// The column with this title, if its metric is read.
    pub(super) fn of(field: usize, title: &str, catalog: &mut Catalog) -> Option<Self> {
        let (name, unit) = with_unit(title);
        let wanted = catalog.metric(name)?;
        Some(Self {
            field,
            slot: wanted.slot,
            dimension: wanted.dimension,
            name: name.to_owned(),
            scale: match unit {
                Some(word) => Scale::of(word, wanted.dimension),
                None => Scale::Unusable("no units row before this row".to_owned()),
            },
            titled: unit.map(str::to_owned),
            launches: 0,
            decimals: None,
            hidden: None,
            twin: None,
        })
    }

    /// The factor to the base unit; none without one.
    pub(super) fn factor(&self) -> Option<f64> {
        match self.scale {
            Scale::Factor(factor) => Some(factor),
            Scale::Unusable(_) | Scale::Reported => None,
        }
    }

    /// Takes the factor of a unit.
    fn scale(&mut self, word: &str) {
        self.scale = Scale::of(word, self.dimension);
        self.find_hidden();
    }

    fn find_hidden(&mut self) {
        let is_time = self.dimension == Dimension::Time;
        self.hidden =
            self.step().map(|step| step / 2.0).filter(|most| is_time || *most > PRINTED_AS_ZERO);
    }

    /// The last printed digit of bytes in a unit with a prefix, or of times in one that hides nanoseconds.
    fn step(&self) -> Option<f64> {
        let Scale::Factor(factor) = self.scale else { return None };
        let step = factor * 10_f64.powi(-i32::from(self.decimals?));
        let is_coarse = match self.dimension {
            Dimension::Bytes => factor > 1.0,
            Dimension::Time => self.slot == Raw::TimeSum as usize && step > EXACT,
            _ => false,
        };
        is_coarse.then_some(step)
    }
}

/// The most decimals that cells of each column of a table have; `None` where it has no number.
pub(super) type Digits = Vec<Option<u8>>;

/// Takes the decimals of the cells of a launch.
pub(super) fn see(
    digits: &mut Digits,
    columns: &[Column],
    record: &Record<'_>,
    numerals: Numerals,
) {
    digits.resize(columns.len(), None);
    for (column, most) in columns.iter().zip(digits) {
        let cell = record.get(column.field).unwrap_or_default();
        let value = &cell[..value_end(cell)];
        if numerals.parse(value).is_ok_and(|value| value.is_some()) {
            let mark = value.iter().rposition(|byte| *byte == numerals.decimal_mark());
            let decimals = mark.map_or(0, |mark| value.len() - mark - 1);
            let decimals = u8::try_from(decimals).unwrap_or(u8::MAX);
            *most = (*most).max(Some(decimals));
        }
    }
}

/// How many decimals the cells of each metric have.
#[derive(Default)]
pub(super) struct Decimals(BTreeMap<String, u8>);

impl Decimals {
    /// Those of the columns of a table.
    pub(super) fn of(columns: &[Column], digits: &[Option<u8>]) -> Self {
        let mut known = BTreeMap::new();
        for (column, digits) in columns.iter().zip(digits) {
            if let Some(digits) = digits {
                let most: &mut u8 = known.entry(column.name.clone()).or_default();
                *most = (*most).max(*digits);
            }
        }
        Self(known)
    }

    /// Takes those of another table.
    pub(super) fn take(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Says them to the columns.
    pub(super) fn tell(&self, columns: &mut [Column]) {
        for column in columns {
            column.decimals = self.0.get(&column.name).copied();
            column.find_hidden();
        }
    }
}

/// Adds the last printed digits of amounts that are in units with a prefix; of several tables the coarsest counts.
pub(super) fn add_steps(steps: &mut BTreeMap<Quantity, f64>, columns: &[Column]) {
    let mut found = BTreeMap::new();
    for (quantity, metrics) in AMOUNTS {
        let of = |raw: &Raw| columns.iter().find(|column| column.slot == *raw as usize);
        let columns: Option<Vec<&Column>> = metrics.iter().map(of).collect();
        let known = columns.map(|columns| columns.iter().filter_map(|one| one.step()).sum());
        if let Some(step) = known.filter(|step: &f64| *step > 0.0) {
            found.entry(quantity).or_insert(step);
        }
    }
    for (quantity, step) in found {
        let known = steps.entry(quantity).or_default();
        *known = step.max(*known);
    }
}

/// Takes back zeros of a launch that the unit of their column makes of more than a few bytes: they are missing. One side of
/// device memory is as good as zero beside the other if that is much larger. Times that are rounded much are counted.
pub(super) fn take_back_rounded(row: &mut Row, columns: &mut [Column]) {
    let mut is_rounded = false;
    for column in columns {
        let Some(most) = column.hidden else { continue };
        let value = row.raw.slot(column.slot);
        if column.dimension == Dimension::Time {
            row.seen.coarse += u64::from(value.is_some_and(|time| most > NOTHING * time));
            row.seen.instant += u64::from(value == Some(0.0));
            continue;
        }
        if value != Some(0.0) {
            continue;
        }
        let other = match column.slot {
            slot if slot == Raw::DramRead as usize => row.raw.get(Raw::DramWrite),
            slot if slot == Raw::DramWrite as usize => row.raw.get(Raw::DramRead),
            _ => None,
        };
        if other.is_none_or(|other| most > NOTHING * other) {
            row.raw.unset(column.slot);
            column.launches = column.launches.saturating_sub(1);
            is_rounded = true;
        }
    }
    row.seen.rounded += u64::from(is_rounded);
}

/// Notes how many launches have a value in which column.
pub(super) fn count(columns: &[Column], reading: &mut Reading<'_>) {
    for column in columns.iter().filter(|column| column.launches > 0) {
        *reading.source.columns.entry(column.name.clone()).or_default() += column.launches;
    }
}

/// Whether metrics of a row are numbers, which units are not: a spreadsheet's row of totals names no kernel either.
pub(super) fn has_numbers(columns: &[Column], record: &Record<'_>) -> bool {
    columns.iter().any(|column| {
        let cell = record.get(column.field).unwrap_or_default();
        matches!(cell.trim_ascii_start(), [b'0'..=b'9', ..] | [b'-', b'0'..=b'9', ..])
    })
}

/// Where titles have units, a metric whose title has none has none: ratios, counts and percentages.
pub(super) fn without_units(columns: &mut [Column]) {
    if columns.iter().any(|column| column.titled.is_some()) {
        for column in columns.iter_mut().filter(|column| column.titled.is_none()) {
            if let Scale::Factor(factor) = Scale::of("", column.dimension) {
                column.scale = Scale::Factor(factor);
            }
        }
    }
}

/// Takes the factors from a units row.
pub(super) fn scale(columns: &mut [Column], record: &Record<'_>) {
    for column in columns {
        let word = String::from_utf8_lossy(record.get(column.field).unwrap_or_default());
        column.scale(&word);
    }
}

/// The name of a metric and its unit, which scripts that make one header of two write behind it: `dram__bytes.sum (byte)`,
/// `dram__bytes.sum [byte]`, `dram__bytes.sum byte`.
fn with_unit(title: &str) -> (&str, Option<&str>) {
    let parts = title.trim_end().rsplit_once(' ').filter(|(name, _)| name.contains("__"));
    let Some((name, word)) = parts else { return (title, None) };
    let bare = |open, close| word.strip_prefix(open)?.strip_suffix(close);
    let word = bare('(', ')').or_else(|| bare('[', ']')).unwrap_or(word);
    if unit(word).is_some() { (name.trim_end(), Some(word)) } else { (title, None) }
}

/// Dimensions that ncu prints without a unit for some metrics, always in base units then.
fn unitless(dimension: Dimension) -> bool {
    matches!(dimension, Dimension::BytesPerCycle | Dimension::CountPerSecond)
}

/// Whether units are base or scaled, for the dialect.
pub(super) fn style(columns: &[Column], record: &Record<'_>) -> &'static str {
    let scaled = columns.iter().any(|column| {
        let base = if column.dimension == Dimension::Time { 1e-9 } else { 1.0 };
        matches!(column.scale, Scale::Factor(factor) if factor > base)
    });
    let long = columns
        .iter()
        .filter_map(|column| record.get(column.field))
        .any(|word| word.ends_with(b"second"));
    match (scaled, long) {
        (true, true) => "scaled (long words: before 2025.3)",
        (true, false) => "scaled (short words: 2025.3 or later)",
        (false, true) => "base (long words: before 2025.3)",
        (false, false) => "base",
    }
}

#[cfg(test)]
mod tests {
    use crate::ingest::{Options, read_text};
    use crate::model::Quantity;

    /// A ratio has no unit to stand in its title; bytes without one are left out.
    #[test]
    fn beside_titles_with_units_ratios_need_none() {
        let head = "ID,Process ID,Process Name,Host Name,Kernel Name,Context,Stream,Block Size,Grid Size,Device,CC";
        let text = format!(
            "{head},gpu__time_duration.sum (us),launch__waves_per_multiprocessor,dram__bytes.sum\n\
             0,1,app,host,k,1,7,\"(128, 1, 1)\",\"(512, 1, 1)\",0,9.0,300,2.5,7\n"
        );
        let profile = read_text("raw.csv", text.leak(), &Options::default()).unwrap();
        let values = [Quantity::Duration, Quantity::Waves, Quantity::DramBytes];
        let launch = profile.launch(0);
        let values = values.map(|quantity| launch.value(quantity));
        assert_eq!(values, [Some(300.0 * 1e-6), Some(2.5), None]);
    }
}
