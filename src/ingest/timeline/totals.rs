//! Rows of a table with the sum over all launches of a kernel each.

use super::{LeftOut, NAMELESS, Timed, is_besides, skip, time};
use crate::ingest::numerals::is_missing;
use crate::ingest::rows::{Row, unquoted};
use crate::ingest::{IngestError, Numerals, Reading};
use crate::model::{DeviceHint, Dim3, Head, HintId, Origin, OriginId, Quantity, Shape, Values};

/// Where the columns of a table of totals are.
#[derive(Debug, Clone)]
pub(in crate::ingest) struct TotalColumns {
    pub(in crate::ingest) titles: Vec<String>,
    pub(in crate::ingest) total: Timed,
    pub(in crate::ingest) launches: usize,
    /// Average and standard deviation, in the same unit.
    pub(in crate::ingest) spread: Option<[usize; 2]>,
    /// Grid and block, each as three numbers between blanks.
    pub(in crate::ingest) shape: Option<[usize; 2]>,
    /// What a row is about, and the word there of kernels.
    pub(in crate::ingest) kind: Option<(usize, &'static str)>,
    pub(in crate::ingest) name: usize,
}

/// Why a grid or block cannot be read.
const NO_EXTENTS: &str = "not three whole numbers";

/// A standard deviation above this share of the average is that of several shapes under one name.
const SPREAD: f64 = 0.5;

/// A table being turned into kernels.
pub(in crate::ingest) struct Totals {
    columns: TotalColumns,
    numerals: Numerals,
    left_out: LeftOut,
    origin: OriginId,
    /// No table of totals names a device.
    device: HintId,
    values: Values,
    found: u32,
    /// Kernels whose launches differ widely.
    uneven: u64,
}

impl Totals {
    pub(in crate::ingest) fn new(
        reading: &mut Reading<'_>,
        columns: TotalColumns,
        numerals: Numerals,
    ) -> Self {
        Self {
            origin: origin(reading, &columns),
            columns,
            numerals,
            left_out: LeftOut::default(),
            device: reading.hint(DeviceHint::default()),
            values: Values::default(),
            found: 0,
            uneven: 0,
        }
    }

    /// Takes the columns of the rows that follow from another header.
    pub(in crate::ingest) fn turn_to(&mut self, reading: &mut Reading<'_>, columns: TotalColumns) {
        self.origin = origin(reading, &columns);
        self.columns = columns;
    }

    /// Whether a row has a name of this kind, in a table without a column of kinds.
    pub(in crate::ingest) fn is_named(&self, row: &Row, is_it: fn(&str) -> bool) -> bool {
        self.columns.kind.is_none()
            && is_it(&String::from_utf8_lossy(&unquoted(row.cell(self.columns.name))))
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
        let total = time(row, columns.total, numerals);
        let launches = numerals.whole(row.cell(columns.launches)).ok().flatten();
        let launches = launches.filter(|count| *count > 0);
        let name = unquoted(row.cell(columns.name));
        let is_other = columns.kind.is_some_and(|(at, kernels)| row.cell(at) != kernels.as_bytes());
        if is_other || is_besides(&name) {
            // What is neither is a call of the host.
            if is_besides(&name) {
                let seconds = total.ok().flatten().unwrap_or(0.0) / columns.total.per_second;
                self.left_out.row(&name, launches.map_or(1, u64::from), seconds);
            }
            reading.source.other_lines += 1;
            return Ok(());
        }
        reading.source.rows += 1;
        if name.is_empty() {
            return skip(reading, row, &columns.titles, columns.name, NAMELESS);
        }
        let total = match total {
            Ok(total) => total,
            Err(reason) => return skip(reading, row, &columns.titles, columns.total.at, reason),
        };
        let Some(count) = launches else {
            let reason = "not a number of launches";
            return skip(reading, row, &columns.titles, columns.launches, reason);
        };
        self.values.clear();
        if let Some(total) = total {
            let each = total / columns.total.per_second / f64::from(count);
            self.values.set(Quantity::Duration, each, self.origin);
            let title = columns.titles[columns.total.at].clone();
            *reading.source.columns.entry(title).or_default() += 1;
        }
        if let Some(spread) = columns.spread {
            let number = |at: usize| numerals.parse(row.cell(at)).ok().flatten();
            if let [Some(average), Some(deviation)] = spread.map(number) {
                self.uneven += u64::from(deviation > SPREAD * average);
            }
        }
        let shape = self.shape(reading, row)?;
        let head = Head {
            id: self.found,
            name: reading.name(&name),
            shape,
            device: self.device,
            count,
            ..Head::default()
        };
        self.found = self.found.saturating_add(1);
        reading.push(head, &self.values);
        Ok(())
    }

    /// Grid and block of a row.
    ///
    /// # Errors
    /// When one cannot be read and reading is strict.
    fn shape(&self, reading: &mut Reading<'_>, row: &Row) -> Result<Shape, IngestError> {
        let mut extent = |at: usize| {
            let text = String::from_utf8_lossy(row.cell(at));
            let parts: Vec<&str> = text.split_ascii_whitespace().collect();
            let extent = Dim3::parse(&parts.join(","));
            if extent.is_none() && !is_missing(text.trim().as_bytes()) {
                skip(reading, row, &self.columns.titles, at, NO_EXTENTS)?;
            }
            Ok(extent)
        };
        Ok(match self.columns.shape {
            Some([grid, block]) => Shape::new(extent(grid)?, extent(block)?),
            None => Shape::default(),
        })
    }

    /// Says what was left out, and what the sums hide.
    pub(in crate::ingest) fn finish(&self, reading: &mut Reading<'_>) {
        let clues = &mut reading.source.clues;
        clues.extend(self.left_out.clue());
        if self.uneven > 0 {
            clues.push(format!(
                "names of kernels whose launches differ widely in time: {}; a trace shows them one by one",
                self.uneven
            ));
        }
    }
}

fn origin(reading: &mut Reading<'_>, columns: &TotalColumns) -> OriginId {
    let title = |at: usize| columns.titles.get(at).map_or("", String::as_str);
    let formula = format!("{} ÷ {}", title(columns.total.at), title(columns.launches));
    reading.origin(&Origin::derived(formula))
}
