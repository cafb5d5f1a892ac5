//! Tables before they are drawn: typed columns and cells, so that a terminal shows `1.32 ms` where a
//! spreadsheet gets 0.00132.

use crate::report::numbers::{
    TimeUnit, change, count_of, digits, factor, interval, percent, si, whole,
};
use crate::units::Seconds;

/// The dash that stands for a missing value.
pub(crate) const MISSING: &str = "-";

/// Rows and columns.
#[derive(Debug, Clone, Default)]
pub struct Table {
    /// What its rows are, in one word: the name of the table for programs.
    pub key: &'static str,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows, each with a cell per column.
    pub rows: Vec<Row>,
}

/// A row of a table.
#[derive(Debug, Clone, Default)]
pub struct Row {
    /// One per column.
    pub cells: Vec<Cell>,
    /// What else is to say of it, a line each.
    pub notes: Vec<String>,
    /// A page that says more about its notes, or about its first cell if it has none; shown where a terminal
    /// can open it.
    pub link: Option<String>,
}

/// A column.
#[derive(Debug, Clone)]
pub struct Column {
    /// Its name for programs, with the unit that machine formats write, as in `measured_s`.
    pub key: String,
    /// Its name for people, without unit.
    pub title: String,
    /// What its cells are, and how they are shown.
    pub form: Form,
    /// Which columns are left out first where the terminal is narrow, the greatest; 0 is never.
    pub spare: u8,
    /// Columns of times with the same number are read against each other, and share a unit.
    pub scale: u8,
}

/// What the cells of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A name, which is elided in its middle where room is short.
    Name,
    /// Words.
    Text,
    /// Whole numbers.
    Count,
    /// Whole numbers in full, with separators.
    Whole,
    /// Times in seconds; people see one unit a column.
    Time,
    /// Quantities of this unit, each with an SI prefix.
    Si(&'static str),
    /// One decimal, in 10¹² of this unit: figures as vendors quote them.
    Tera(&'static str),
    /// One decimal, in this unit.
    Tenths(&'static str),
    /// Three digits; the unit is of the title.
    Digits,
    /// A ratio such as headroom: `1.32×`.
    Factor,
    /// A share of a whole: `6.8%`.
    Share,
    /// A relative change: `+5.0%`.
    Change,
    /// A difference of times, with its sign; people see one unit a column.
    TimeChange,
}

impl Form {
    /// Whether cells are aligned by their right end.
    #[must_use]
    pub const fn is_number(self) -> bool {
        !matches!(self, Self::Name | Self::Text)
    }
}

/// A cell.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Cell {
    /// Not known.
    #[default]
    Missing,
    /// Nothing is to be shown.
    Empty,
    /// Words; in a column of numbers, what is no number.
    Text(String),
    /// A number in the unit of the column's key.
    Number(f64),
    /// The number is a lower bound.
    AtLeast(f64),
    /// The number is an upper bound.
    AtMost(f64),
    /// A number between two others; the second is its value where only one can be shown.
    Between(f64, f64),
    /// The two ends of an interval.
    Ends(f64, f64),
    /// A number, and the two it lies between where there is room for them.
    Around {
        /// The number.
        value: f64,
        /// Its lower end.
        low: f64,
        /// Its upper end.
        high: f64,
    },
    /// A number in a unit of its own.
    Other(f64, Form),
}

impl Cell {
    /// Words.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A number, or missing.
    #[must_use]
    pub fn maybe(value: Option<impl Into<f64>>) -> Self {
        value.map_or(Self::Missing, |value| Self::Number(value.into()))
    }

    /// A whole number.
    #[must_use]
    pub fn count(number: u64) -> Self {
        Self::Number(number as f64)
    }

    /// A time.
    #[must_use]
    pub fn time(time: Seconds) -> Self {
        Self::Number(time.get())
    }

    /// Words, or missing.
    #[must_use]
    pub fn maybe_text(text: Option<impl Into<String>>) -> Self {
        text.map_or(Self::Missing, Self::text)
    }

    /// The same as a lower bound.
    #[must_use]
    pub fn at_least(self) -> Self {
        match self {
            Self::Number(value) => Self::AtLeast(value),
            other => other,
        }
    }

    /// The same as an upper bound.
    #[must_use]
    pub fn at_most(self) -> Self {
        match self {
            Self::Number(value) => Self::AtMost(value),
            other => other,
        }
    }

    /// The number, without what bounds it.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        match self {
            Self::Missing | Self::Empty | Self::Text(_) | Self::Ends(..) => None,
            Self::Number(value)
            | Self::AtLeast(value)
            | Self::AtMost(value)
            | Self::Between(_, value)
            | Self::Around { value, .. }
            | Self::Other(value, _) => Some(*value),
        }
    }

    /// The ends that it lies between; none for an end that is open, and for a number that is exact.
    #[must_use]
    pub fn ends(&self) -> (Option<f64>, Option<f64>) {
        match self {
            Self::AtLeast(low) => (Some(*low), None),
            Self::AtMost(high) => (None, Some(*high)),
            Self::Between(low, high) | Self::Ends(low, high) | Self::Around { low, high, .. } => {
                (Some(*low), Some(*high))
            }
            _ => (None, None),
        }
    }

    /// Whether something bounds it.
    #[must_use]
    pub fn is_interval(&self) -> bool {
        self.ends() != (None, None)
    }
}

impl Column {
    fn new(key: &str, title: &str, form: Form) -> Self {
        Self { key: key.to_owned(), title: title.to_owned(), form, spare: 0, scale: 0 }
    }

    /// A column of names, which gives way first where room is short.
    #[must_use]
    pub fn name(key: &str, title: &str) -> Self {
        Self::new(key, title, Form::Name)
    }

    /// A column of words.
    #[must_use]
    pub fn text(key: &str, title: &str) -> Self {
        Self::new(key, title, Form::Text)
    }

    /// A column of numbers.
    #[must_use]
    pub fn number(key: &str, title: &str, form: Form) -> Self {
        Self::new(key, title, form)
    }

    /// The same, left out where the terminal is narrow, before all of a smaller number.
    #[must_use]
    pub fn spare(mut self, spare: u8) -> Self {
        self.spare = spare;
        self
    }

    /// The same with the unit of other columns of this scale.
    #[must_use]
    pub fn scale(mut self, scale: u8) -> Self {
        self.scale = scale;
        self
    }
}

/// A table as people see it: titles with units, and texts.
#[derive(Debug, Clone)]
pub(crate) struct Drawn {
    pub(crate) titles: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    #[must_use]
    pub fn new(key: &'static str, columns: Vec<Column>) -> Self {
        Self { key, columns, rows: Vec::new() }
    }

    /// Adds a row.
    pub fn push(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.push_with(cells, Vec::new());
    }

    /// Adds a row with notes below it.
    pub fn push_with(&mut self, cells: impl IntoIterator<Item = Cell>, notes: Vec<String>) {
        self.rows.push(Row { cells: cells.into_iter().collect(), notes, link: None });
    }

    /// Adds a page to the last row, if there is one.
    pub fn link(&mut self, link: Option<String>) {
        if let Some(row) = self.rows.last_mut() {
            row.link = link;
        }
    }

    /// Titles with units, and cells as texts. `wide` says whether there is room for ranges.
    pub(crate) fn drawn(&self, wide: bool) -> Drawn {
        let units: Vec<TimeUnit> =
            self.columns.iter().map(|column| self.time_unit(column.scale)).collect();
        let titles = self.columns.iter().zip(&units).map(|(column, unit)| match column.form {
            Form::Time | Form::TimeChange => format!("{} [{}]", column.title, unit.symbol),
            _ => column.title.clone(),
        });
        let rows = self.rows.iter().map(|row| {
            let cells = row.cells.iter().zip(&self.columns).zip(&units);
            cells.map(|((cell, column), unit)| shown(cell, column.form, *unit, wide)).collect()
        });
        Drawn { titles: titles.collect(), rows: rows.collect() }
    }

    /// The unit of the columns of times of a scale: that of their largest number.
    fn time_unit(&self, scale: u8) -> TimeUnit {
        let is_time = |form| matches!(form, Form::Time | Form::TimeChange);
        let cells = self.rows.iter().flat_map(|row| row.cells.iter().zip(&self.columns));
        let alike = cells.filter(|(_, column)| column.scale == scale && is_time(column.form));
        let times = alike.filter_map(|(cell, _)| match cell {
            Cell::Other(..) => None,
            cell => cell.value(),
        });
        TimeUnit::of(times.map(|time| Seconds::new(time.abs())))
    }
}

/// A number of a form as people read it.
fn number(value: f64, form: Form, unit: TimeUnit) -> String {
    match form {
        Form::Time => unit.show(Seconds::new(value)),
        Form::TimeChange => {
            let size = unit.show(Seconds::new(value.abs()));
            match value {
                0.0 => size,
                value if value < 0.0 => format!("-{size}"),
                _ => format!("+{size}"),
            }
        }
        Form::Si(symbol) => si(value, symbol),
        Form::Tera(symbol) => format!("{:.1} T{symbol}", value / 1e12),
        Form::Tenths(symbol) => format!("{value:.1} {symbol}"),
        Form::Factor => factor(value),
        Form::Share => percent(value),
        Form::Change => change(value),
        Form::Count => count_of(value),
        Form::Whole => whole(value),
        Form::Name | Form::Text | Form::Digits => digits(value),
    }
}

fn shown(cell: &Cell, form: Form, unit: TimeUnit, wide: bool) -> String {
    let show = |value: &f64| number(*value, form, unit);
    // What is smaller than the least that is shown says so already.
    let bound = |mark: &str, text: String| {
        if text.starts_with(['<', '>']) { text } else { format!("{mark}{text}") }
    };
    match cell {
        Cell::Missing => MISSING.to_owned(),
        Cell::Empty => String::new(),
        Cell::Text(text) => text.clone(),
        Cell::Number(value) => show(value),
        Cell::AtLeast(value) => bound("≥", show(value)),
        Cell::AtMost(value) => bound("≤", show(value)),
        Cell::Between(low, high) | Cell::Ends(low, high) => interval(&show(low), &show(high)),
        Cell::Around { value, low, high } => {
            let (from, to) = (show(low), show(high));
            if wide && from != to {
                format!("{} ({})", show(value), interval(&from, &to))
            } else {
                show(value)
            }
        }
        Cell::Other(value, own) => number(*value, *own, unit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let columns = vec![
            Column::name("kernel", "kernel"),
            Column::number("measured_s", "measured", Form::Time),
            Column::number("headroom", "headroom", Form::Factor),
        ];
        let mut table = Table::new("kernels", columns);
        table.push([Cell::text("copy"), Cell::Number(2e-3), Cell::Between(1.5, 2.0)]);
        table.push([Cell::text("gemm"), Cell::AtLeast(5e-6), Cell::Missing]);
        table
    }

    #[test]
    fn a_column_of_times_has_one_unit_in_its_title() {
        let drawn = table().drawn(true);
        assert_eq!(drawn.titles, ["kernel", "measured [ms]", "headroom"]);
        assert_eq!(drawn.rows[0], ["copy", "2.00", "1.50–2.00×"]);
        assert_eq!(drawn.rows[1], ["gemm", "≥0.005", "-"]);
    }

    #[test]
    fn a_range_is_shown_where_there_is_room() {
        let cell = Cell::Around { value: 0.05, low: 0.04, high: 0.06 };
        let unit = TimeUnit::of(std::iter::empty());
        assert_eq!(shown(&cell, Form::Share, unit, true), "5.0% (4.0–6.0%)");
        assert_eq!(shown(&cell, Form::Share, unit, false), "5.0%");
    }

    #[test]
    fn what_is_too_small_to_show_needs_no_second_sign() {
        let unit = TimeUnit::of([Seconds::new(1.0)].into_iter());
        assert_eq!(shown(&Cell::AtLeast(1e-9), Form::Time, unit, true), "<0.001");
        assert_eq!(shown(&Cell::AtMost(1e9), Form::Factor, unit, true), ">9999×");
    }

    #[test]
    fn an_interval_keeps_its_number_and_its_ends() {
        let cell = Cell::Around { value: 2.0, low: 1.0, high: 3.0 };
        assert_eq!((cell.value(), cell.ends()), (Some(2.0), (Some(1.0), Some(3.0))));
        assert_eq!(Cell::AtLeast(2.0).ends(), (Some(2.0), None));
        assert!(!Cell::Number(2.0).is_interval());
    }
}
