//! What a mapping says: which column is which quantity, in which unit, and how it came about.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use crate::ingest::decimal::{Content, DecimalSign};
use crate::model::{Origin, OriginKind, Quantity};
use crate::plain::{fits, fits_name};

/// Whether a title of a table is this column. The sign for micro has two code points and a common replacement.
pub(in crate::ingest) fn is_titled(title: &str, column: &str) -> bool {
    let plain = |c: char| if matches!(c, 'µ' | 'μ') { 'u' } else { c };
    let is_ascii = title.is_ascii() && column.is_ascii();
    title == column || (!is_ascii && title.chars().map(plain).eq(column.chars().map(plain)))
}

/// Which column of a CSV is which quantity.
///
/// ```
/// use rooflint::ingest::Mapping;
/// let mapping = Mapping::from_toml(
///     r#"
///     device = "NVIDIA H100 80GB HBM3"
///     [columns]
///     kernel = "name"
///     time = { column = "dur_us", unit = "us" }
///     flops = { column = "gflop", unit = "GFLOP", precision = "bf16_matrix" }
///     bytes = { column = "mb", unit = "MB" }
///     "#,
///     "map.toml",
/// )?;
/// # let _ = mapping;
/// let error = Mapping::from_toml("[columns]\nkernel = 'name'\ntime = { column = 't', unit = 'µsec' }", "map.toml");
/// assert!(error.unwrap_err().to_string().starts_with("map.toml:3:31: unknown unit \"µsec\""));
/// # Ok::<(), rooflint::ingest::IngestError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Mapping {
    pub(super) path: String,
    /// Whether it is part of the program, so that a table it does not fit needs another one.
    pub(super) is_built_in: bool,
    /// Name of the GPU all launches ran on.
    pub(super) device: Option<String>,
    /// Names of the GPUs by what the device column says.
    pub(super) devices: BTreeMap<String, String>,
    pub(super) delimiter: u8,
    pub(in crate::ingest) decimal: Option<DecimalSign>,
    /// The key of a JSON document under which its records are; records are all of it if there is none.
    pub(super) records: Option<String>,
    /// Columns that a table may lack.
    pub(super) optional: Vec<String>,
    /// For counters that begin so, how many channels a device may have.
    pub(super) channels: BTreeMap<String, Vec<usize>>,
    pub(super) filters: Vec<Filter>,
    pub(super) kernel: String,
    pub(super) time: Time,
    pub(super) start: Option<Instant>,
    /// The columns that hold other quantities than the time.
    pub(super) values: Vec<Value>,
    pub(super) launches: Option<Launches>,
    pub(super) grid: Option<Extent>,
    pub(super) block: Option<Extent>,
    /// Columns of one text or number.
    pub(super) plain: Plain,
}

/// Where the time of a row is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Time {
    Column(Value),
    /// From the start to the end.
    Span {
        start: Instant,
        end: Instant,
    },
}

impl Time {
    /// How the time came about.
    pub(super) fn formula(&self) -> (OriginKind, String) {
        match self {
            Self::Column(value) => (value.kind, value.formula()),
            Self::Span { start, end } => {
                (OriginKind::Derived, format!("{} - {}", end.column, start.column))
            }
        }
    }
}

/// A column of instants.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Instant {
    pub(super) column: String,
    /// Decimal places from its unit to picoseconds.
    pub(super) digits: u32,
}

/// A quantity, in one column or as a sum over several.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Value {
    pub(super) quantity: Quantity,
    /// The columns that add up to it, each times a factor.
    pub(super) terms: Vec<(f64, String)>,
    /// SI units in one unit of the columns.
    pub(super) scale: f64,
    /// Whether the column holds an amount per second, to be multiplied by the time.
    pub(super) rate: bool,
    pub(super) kind: OriginKind,
    /// The true value is between these two times the value.
    pub(super) within: (f64, f64),
}

impl Value {
    /// The columns that are read for it.
    pub(super) fn columns(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().map(|(_, column)| column.as_str())
    }

    /// The column that holds it, if it is one as it is.
    pub(super) fn column(&self) -> Option<&str> {
        match self.terms.as_slice() {
            [(factor, column)] if *factor == 1.0 => Some(column),
            _ => None,
        }
    }

    /// How it follows from the columns.
    pub(super) fn formula(&self) -> String {
        if let Some(column) = self.column() {
            return column.to_owned();
        }
        let mut formula = String::new();
        for (factor, column) in &self.terms {
            let sign = match (formula.is_empty(), *factor < 0.0) {
                (true, false) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (false, true) => " - ",
            };
            let size = factor.abs();
            let times = if size == 1.0 { String::new() } else { format!("{size} × ") };
            formula.push_str(&format!("{sign}{times}{column}"));
        }
        formula
    }

    /// How it came about.
    pub(super) fn origin(&self) -> Origin {
        let (low, high) = self.within;
        Origin::new(self.kind, self.formula()).within(low, high)
    }

    /// What its cells hold.
    pub(super) fn content(&self) -> Content {
        let is_base = match self.quantity {
            Quantity::Duration => self.scale <= 1e-9,
            Quantity::DramBytes | Quantity::Work(_) => self.scale <= 1.0 && !self.rate,
            _ => false,
        };
        if is_base {
            Content::Whole
        } else if self.quantity.unit() == "1" && self.scale < 1.0 {
            Content::Percent
        } else {
            Content::Any
        }
    }
}

/// The column that says how many launches a row stands for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Launches {
    pub(super) column: String,
    /// Whether the row's values are sums over these launches; else they are averages.
    pub(super) totals: bool,
}

/// The columns of a grid or block: one, or three for x, y and z.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Extent {
    pub(super) columns: Vec<String>,
    /// Whether a grid counts threads, as AMD's work-items do, instead of blocks.
    pub(super) threads: bool,
}

/// Rows that are kernels, or are none, by the text of a column.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Filter {
    pub(super) column: String,
    pub(super) texts: Vec<String>,
    /// Whether rows with such a text are the ones that stay.
    pub(super) only: bool,
    /// The line of the mapping, counted from 1.
    pub(super) line: usize,
}

impl Filter {
    /// Whether a row with this text has one of the filter's.
    pub(super) fn fits(&self, text: &[u8]) -> bool {
        let text = String::from_utf8_lossy(text);
        self.texts.iter().any(|known| *known == text || fits_name(known, &text))
    }
}

/// As in the mapping: `only = { kind = "KERNEL" }`.
impl fmt::Display for Filter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// So many texts are shown.
        const SHOWN: usize = 3;
        let is_bare = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
        let column = match &self.column {
            column if !column.is_empty() && column.chars().all(is_bare) => column.clone(),
            column => format!("{column:?}"),
        };
        let texts: Vec<String> =
            self.texts.iter().take(SHOWN).map(|text| format!("{text:?}")).collect();
        let more = if self.texts.len() > SHOWN { ", …" } else { "" };
        let texts = match texts.as_slice() {
            [one] => one.clone(),
            several => format!("[{}{more}]", several.join(", ")),
        };
        let key = if self.only { "only" } else { "leave_out" };
        write!(formatter, "{key} = {{ {column} = {texts} }}")
    }
}

/// Columns that are no quantities, by what they are.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Plain {
    pub(super) device: Option<String>,
    pub(super) operator: Option<String>,
    pub(super) stream: Option<String>,
    pub(super) id: Option<String>,
}

impl Mapping {
    /// The same, wherever it lies.
    pub(in crate::ingest) fn without_path(&self) -> Self {
        let at_no_line = |filter: &Filter| Filter { line: 0, ..filter.clone() };
        let filters = self.filters.iter().map(at_no_line).collect();
        Self { path: String::new(), filters, ..self.clone() }
    }

    /// This mapping with the quantities of another: of those in both, its own if `own_first`, else the other's.
    pub(in crate::ingest) fn with_values_of(mut self, other: Self, own_first: bool) -> Self {
        let (own, others) = (self.values, other.values);
        let (mut first, second) = if own_first { (own, others) } else { (others, own) };
        let is_new = |value: &Value| first.iter().all(|known| known.quantity != value.quantity);
        let fresh: Vec<Value> = second.into_iter().filter(is_new).collect();
        first.extend(fresh);
        self.values = first;
        self.channels.extend(other.channels);
        self
    }

    /// This mapping with other names of columns that add up to quantities.
    pub(in crate::ingest) fn with_columns(mut self, names: &[(&str, &str)]) -> Self {
        for (_, column) in self.values.iter_mut().flat_map(|value| &mut value.terms) {
            if let Some((_, other)) = names.iter().find(|(name, _)| name == column) {
                *column = (*other).to_owned();
            }
        }
        self
    }

    /// Where the columns are that add up to one: itself, or a sum over channels (`A_sum`) that of each channel (`A[0]`,
    /// `A[1]`, …) if all of them are there.
    pub(super) fn places(&self, column: &str, titles: &[String]) -> Option<Vec<usize>> {
        if let Some(at) = titles.iter().position(|title| is_titled(title, column)) {
            return Some(vec![at]);
        }
        let counter = column.strip_suffix("_sum")?;
        let channels = |(start, counts): (&String, &Vec<usize>)| {
            counter.starts_with(start.as_str()).then(|| counts.clone())
        };
        let counts = self.channels.iter().find_map(channels)?;
        let channel = |title: &String| {
            title.strip_prefix(counter)?.strip_prefix('[')?.strip_suffix(']')?.parse::<usize>().ok()
        };
        let mut places: Vec<(usize, usize)> = titles
            .iter()
            .enumerate()
            .filter_map(|(at, title)| Some((channel(title)?, at)))
            .collect();
        places.sort_unstable();
        let is_whole = places.iter().enumerate().all(|(number, (channel, _))| number == *channel);
        (is_whole && counts.contains(&places.len()))
            .then(|| places.into_iter().map(|(_, at)| at).collect())
    }

    /// Every column the mapping names, each once.
    pub(in crate::ingest) fn columns(&self) -> Vec<&str> {
        let mut columns = self.needed();
        columns.extend(self.values.iter().flat_map(Value::columns));
        columns.extend(self.start.iter().map(|start| start.column.as_str()));
        let extents = [&self.grid, &self.block].into_iter().flatten();
        columns.extend(extents.flat_map(|extent| &extent.columns).map(String::as_str));
        let plain = &self.plain;
        let optional = [&plain.device, &plain.operator, &plain.stream, &plain.id];
        columns.extend(optional.into_iter().flatten().map(String::as_str));
        columns.extend(self.launches.iter().map(|launches| launches.column.as_str()));
        columns.extend(self.filters.iter().map(|filter| filter.column.as_str()));
        let mut seen = HashSet::new();
        columns.retain(|column| seen.insert(*column));
        columns
    }

    /// The columns without which there is no launch.
    fn needed(&self) -> Vec<&str> {
        let mut columns = vec![self.kernel.as_str()];
        match &self.time {
            Time::Column(value) => columns.extend(value.columns()),
            Time::Span { start, end } => columns.extend([&*start.column, &*end.column]),
        }
        columns
    }

    /// Whether a table may lack this column: never those of kernel and time, so that `*` leaves what tells a header.
    pub(super) fn is_optional(&self, column: &str) -> bool {
        let is_listed = self.optional.iter().any(|known| fits(known, column));
        is_listed && !self.needed().contains(&column)
    }
}
