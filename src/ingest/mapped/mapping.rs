//! The mapping file: which column is which quantity, in which unit, and how it came about.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use toml::Spanned;

use crate::ingest::IngestError;
use crate::ingest::decimal::{Content, DecimalSign};
use crate::model::{OriginKind, Pipe, Quantity};
use crate::plain;

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
    /// Name of the GPU all launches ran on.
    pub(super) device: Option<String>,
    pub(super) delimiter: u8,
    pub(in crate::ingest) decimal: Option<DecimalSign>,
    pub(super) kernel: String,
    /// The columns that hold quantities; the time is the first.
    pub(super) values: Vec<Value>,
    pub(super) launches: Option<Launches>,
    /// Columns that are no quantities.
    pub(super) plain: Plain,
}

/// A column that holds a quantity.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Value {
    pub(super) quantity: Quantity,
    pub(super) column: String,
    /// SI units in one unit of the column.
    pub(super) scale: f64,
    /// Whether the column holds an amount per second, to be multiplied by the time.
    pub(super) rate: bool,
    pub(super) kind: OriginKind,
}

impl Value {
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

/// Columns that are no quantities, by what they are.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Plain {
    pub(super) device: Option<String>,
    pub(super) grid: Option<String>,
    pub(super) block: Option<String>,
    pub(super) operator: Option<String>,
    pub(super) stream: Option<String>,
    pub(super) id: Option<String>,
}

impl Mapping {
    /// Reads a mapping; `path` names it in messages.
    ///
    /// # Errors
    /// At the line and column where the text is no TOML, has a key that is not known, lacks `kernel` or
    /// `time`, or names an unknown unit, precision, kind or quantity.
    pub fn from_toml(text: &str, path: &str) -> Result<Self, IngestError> {
        let place = Place { text, path };
        let file: File = toml::from_str(text).map_err(|error| {
            let fault = plain::toml(text, &error);
            let error = place.error(error.span().map_or(0, |span| span.start), fault.message);
            if fault.help.is_empty() { error } else { error.help(fault.help) }
        })?;
        let columns = file.columns;
        let mut values = vec![place.value(Quantity::Duration, &columns.time)?];
        if let Some(bytes) = &columns.bytes {
            values.push(place.value(Quantity::DramBytes, bytes)?);
        }
        for work in columns.flops.map_or_else(Vec::new, |flops| flops.0) {
            let pipe = work
                .precision
                .as_ref()
                .map_or(Ok(Pipe::Unstated), |precision| place.pipe(precision))?;
            let value = place.value(Quantity::Work(pipe), &work.value)?;
            if values.iter().any(|known| known.quantity == value.quantity) {
                let start = work
                    .precision
                    .as_ref()
                    .map_or(work.value.unit.span().start, |at| at.span().start);
                return Err(
                    place.error(start, format!("precision {:?} is mapped twice", pipe.key()))
                );
            }
            values.push(value);
        }
        for (name, cell) in &file.quantities {
            values.push(place.value(place.quantity(name)?, cell)?);
        }
        let launches = columns.launches.map(|launches| Launches {
            column: launches.column,
            totals: launches.values == Rows::Total,
        });
        let delimiter = match &file.delimiter {
            None => b',',
            Some(text) => match text.get_ref().as_bytes() {
                [delimiter]
                    if *delimiter == b'\t'
                        || (delimiter.is_ascii_graphic() && *delimiter != b'"') =>
                {
                    *delimiter
                }
                _ => return Err(place.error(
                    text.span().start,
                    "the delimiter must be a tab or one visible ASCII character other than a quote",
                )),
            },
        };
        let decimal = match &file.decimal {
            None => None,
            Some(text) => Some(match text.get_ref().as_str() {
                "," => DecimalSign::Comma,
                "." => DecimalSign::Point,
                _ => {
                    let message = "the decimal sign must be \",\" or \".\"";
                    return Err(place.error(text.span().start, message));
                }
            }),
        };
        let plain = Plain {
            device: columns.device,
            grid: columns.grid,
            block: columns.block,
            operator: columns.operator,
            stream: columns.stream,
            id: columns.id,
        };
        let path = path.to_owned();
        Ok(Self {
            path,
            device: file.device,
            delimiter,
            decimal,
            kernel: columns.kernel,
            values,
            launches,
            plain,
        })
    }

    /// Every column the mapping names, each once.
    pub(super) fn columns(&self) -> Vec<&str> {
        let plain = &self.plain;
        let optional =
            [&plain.device, &plain.grid, &plain.block, &plain.operator, &plain.stream, &plain.id];
        let mut columns = vec![self.kernel.as_str()];
        columns.extend(self.values.iter().map(|value| value.column.as_str()));
        columns.extend(optional.into_iter().flatten().map(String::as_str));
        columns.extend(self.launches.iter().map(|launches| launches.column.as_str()));
        let mut seen = std::collections::HashSet::new();
        columns.retain(|column| seen.insert(*column));
        columns
    }
}

/// The text, for messages with a place in it.
struct Place<'a> {
    text: &'a str,
    path: &'a str,
}

impl Place<'_> {
    fn error(&self, at: usize, message: impl Into<String>) -> IngestError {
        let (line, column) = plain::place(self.text, at);
        IngestError::new(format!("{}:{line}:{column}", self.path), message)
    }

    fn value(&self, quantity: Quantity, cell: &Cell) -> Result<Value, IngestError> {
        let units = Units::of(quantity);
        let Some((scale, rate)) = units.find(cell.unit.get_ref()) else {
            let message =
                format!("unknown unit {:?}, one of {}", cell.unit.get_ref(), units.names());
            return Err(self.error(cell.unit.span().start, message));
        };
        let kind = match (cell.kind, rate) {
            (Kind::Algorithmic, _) => OriginKind::Algorithmic,
            (Kind::Measured, true) => OriginKind::Derived,
            (Kind::Measured, false) => OriginKind::Measured,
        };
        Ok(Value { quantity, column: cell.column.clone(), scale, rate, kind })
    }

    fn pipe(&self, precision: &Spanned<String>) -> Result<Pipe, IngestError> {
        Pipe::from_key(precision.get_ref()).ok_or_else(|| {
            let keys: Vec<_> = Pipe::ALL.iter().map(|pipe| pipe.key()).collect();
            let message =
                format!("unknown precision {:?}, one of {}", precision.get_ref(), keys.join(", "));
            self.error(precision.span().start, message)
        })
    }

    fn quantity(&self, name: &Spanned<String>) -> Result<Quantity, IngestError> {
        let own_key = |quantity: &Quantity| {
            matches!(quantity, Quantity::Duration | Quantity::DramBytes | Quantity::Work(_))
        };
        let known = || Quantity::all().filter(|quantity| !own_key(quantity));
        known().find(|quantity| quantity.column() == *name.get_ref()).ok_or_else(|| {
            let names: Vec<_> = known()
                .filter(|quantity| !matches!(quantity, Quantity::Peak(_)))
                .map(Quantity::column)
                .collect();
            let message =
                format!("unknown quantity {:?}, one of {}", name.get_ref(), names.join(", "));
            self.error(name.span().start, message)
        })
    }
}

/// The units a quantity may be given in, with their size in SI units.
struct Units {
    amounts: &'static [(&'static str, f64)],
    /// Whether an amount per second may be given, to be multiplied by the time.
    rates: bool,
}

impl Units {
    const TIME: &'static [(&'static str, f64)] =
        &[("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("µs", 1e-6), ("μs", 1e-6), ("ns", 1e-9)];
    const BYTES: &'static [(&'static str, f64)] = &[
        ("B", 1.0),
        ("kB", 1e3),
        ("KB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("TB", 1e12),
        ("KiB", 1024.0),
        ("MiB", 1_048_576.0),
        ("GiB", 1_073_741_824.0),
        ("TiB", 1_099_511_627_776.0),
    ];
    const WORK: &'static [(&'static str, f64)] = &[
        ("FLOP", 1.0),
        ("kFLOP", 1e3),
        ("MFLOP", 1e6),
        ("GFLOP", 1e9),
        ("TFLOP", 1e12),
        ("PFLOP", 1e15),
        ("OP", 1.0),
        ("kOP", 1e3),
        ("MOP", 1e6),
        ("GOP", 1e9),
        ("TOP", 1e12),
        ("POP", 1e15),
    ];
    const BANDWIDTH: &'static [(&'static str, f64)] =
        &[("B/s", 1.0), ("kB/s", 1e3), ("MB/s", 1e6), ("GB/s", 1e9), ("TB/s", 1e12)];
    const WORK_RATE: &'static [(&'static str, f64)] =
        &[("FLOP/s", 1.0), ("GFLOP/s", 1e9), ("TFLOP/s", 1e12), ("OP/s", 1.0), ("TOP/s", 1e12)];
    const FREQUENCY: &'static [(&'static str, f64)] =
        &[("Hz", 1.0), ("kHz", 1e3), ("MHz", 1e6), ("GHz", 1e9)];
    const NUMBER: &'static [(&'static str, f64)] = &[("1", 1.0), ("%", 0.01)];

    fn of(quantity: Quantity) -> Self {
        let (amounts, rates) = match (quantity, quantity.unit()) {
            (Quantity::Work(_), _) => (Self::WORK, true),
            (_, "s") => (Self::TIME, false),
            (_, "B") => (Self::BYTES, true),
            (_, "B/s") => (Self::BANDWIDTH, false),
            (_, "FLOP/s") => (Self::WORK_RATE, false),
            (_, "Hz") => (Self::FREQUENCY, false),
            _ => (Self::NUMBER, false),
        };
        Self { amounts, rates }
    }

    /// SI units in one of these, and whether they are per second.
    fn find(&self, unit: &str) -> Option<(f64, bool)> {
        let amount = |unit: &str| {
            self.amounts.iter().find(|(name, _)| *name == unit).map(|(_, scale)| *scale)
        };
        if let Some(scale) = amount(unit) {
            return Some((scale, false));
        }
        let scale = amount(unit.strip_suffix("/s").filter(|_| self.rates)?)?;
        Some((scale, true))
    }

    fn names(&self) -> String {
        let names: Vec<_> = self.amounts.iter().map(|(name, _)| *name).collect();
        let rates = if self.rates { ", or any of these with /s" } else { "" };
        format!("{}{rates}", names.join(", "))
    }
}

/// The file as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    device: Option<String>,
    delimiter: Option<Spanned<String>>,
    decimal: Option<Spanned<String>>,
    columns: Columns,
    #[serde(default)]
    quantities: BTreeMap<Spanned<String>, Cell>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Columns {
    kernel: String,
    time: Cell,
    bytes: Option<Cell>,
    flops: Option<OneOrMany>,
    launches: Option<RowLaunches>,
    device: Option<String>,
    grid: Option<String>,
    block: Option<String>,
    operator: Option<String>,
    stream: Option<String>,
    id: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table such as { column = \"dur_us\", unit = \"us\" }")]
struct Cell {
    column: String,
    unit: Spanned<String>,
    #[serde(default)]
    kind: Kind,
}

#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { column = \"gflop\", unit = \"GFLOP\", precision = \"bf16_matrix\" }"
)]
struct WorkCell {
    column: String,
    unit: Spanned<String>,
    #[serde(default)]
    kind: Kind,
    precision: Option<Spanned<String>>,
}

/// A column of work with its precision.
struct Work {
    value: Cell,
    precision: Option<Spanned<String>>,
}

impl From<WorkCell> for Work {
    fn from(cell: WorkCell) -> Self {
        let WorkCell { column, unit, kind, precision } = cell;
        Self { value: Cell { column, unit, kind }, precision }
    }
}

#[derive(Deserialize, Clone, Copy, Default)]
#[serde(rename_all = "lowercase")]
enum Kind {
    #[default]
    Measured,
    Algorithmic,
}

#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { column = \"count\", values = \"total\" }"
)]
struct RowLaunches {
    column: String,
    values: Rows,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Rows {
    Total,
    Average,
}

/// One table or an array of them.
struct OneOrMany(Vec<Work>);

impl<'de> Deserialize<'de> for OneOrMany {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = OneOrMany;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table such as { column = \"gflop\", unit = \"GFLOP\", precision = \"bf16_matrix\" }, or an array of them")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<OneOrMany, A::Error> {
                let cell = WorkCell::deserialize(MapAccessDeserializer::new(map))?;
                Ok(OneOrMany(vec![cell.into()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, cells: A) -> Result<OneOrMany, A::Error> {
                let cells = Vec::<WorkCell>::deserialize(SeqAccessDeserializer::new(cells))?;
                Ok(OneOrMany(cells.into_iter().map(Work::from).collect()))
            }
        }

        deserializer.deserialize_any(Either)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(text: &str) -> Result<Mapping, String> {
        Mapping::from_toml(text, "map.toml").map_err(|error| error.to_string())
    }

    const NEEDED: &str = "[columns]\nkernel = 'name'\ntime = { column = 'dur', unit = 'ms' }\n";

    #[test]
    fn units_are_turned_into_si() {
        let mapping = mapping(&format!(
            "{NEEDED}bytes = {{ column = 'b', unit = 'MiB' }}\nflops = {{ column = 'f', unit = 'TFLOP/s', precision = 'fp16_matrix' }}\n\
             [quantities]\nachieved_occupancy = {{ column = 'occ', unit = '%' }}\nl2_bytes = {{ column = 'l2', unit = 'GB/s', kind = 'algorithmic' }}\n"
        ))
        .unwrap();
        let values: Vec<_> = mapping
            .values
            .iter()
            .map(|value| (value.quantity.column(), value.scale, value.rate, value.kind))
            .collect();
        assert_eq!(
            values,
            [
                ("duration_s".to_owned(), 1e-3, false, OriginKind::Measured),
                ("dram_bytes".to_owned(), 1_048_576.0, false, OriginKind::Measured),
                ("flops_fp16_matrix".to_owned(), 1e12, true, OriginKind::Derived),
                ("achieved_occupancy".to_owned(), 0.01, false, OriginKind::Measured),
                ("l2_bytes".to_owned(), 1e9, true, OriginKind::Algorithmic),
            ],
        );
        assert_eq!(mapping.columns(), ["name", "dur", "b", "f", "occ", "l2"]);
    }

    #[test]
    fn several_columns_of_work_may_be_given_in_three_ways() {
        let one = "{ column = 'a', unit = 'FLOP', precision = 'fp32_vector' }";
        let two = "{ column = 'b', unit = 'OP', precision = 'int8_matrix' }";
        for flops in [
            format!("flops = [{one}, {two}]"),
            "[[columns.flops]]\ncolumn = 'a'\nunit = 'FLOP'\nprecision = 'fp32_vector'\n[[columns.flops]]\ncolumn = 'b'\nunit = 'OP'\nprecision = 'int8_matrix'".to_owned(),
        ] {
            let mapping = mapping(&format!("{NEEDED}{flops}\n")).unwrap();
            assert_eq!(mapping.values.len(), 3, "{flops}");
        }
        assert_eq!(mapping(&format!("{NEEDED}flops = {one}\n")).unwrap().values.len(), 2);
    }

    #[test]
    fn faults_are_told_with_their_place() {
        for (text, expected) in [
            ("[columns]\nkernel = 'n'\n", "map.toml:1:1: missing key \"time\""),
            ("[columns\n", "map.toml:1:9: unclosed table; expected `]`"),
            (
                "[columns]\nkernel = 'n'\ntime = 'dur'\n",
                "map.toml:3:8: expected a table such as { column = \"dur_us\", unit = \"us\" }, found the text \"dur\"",
            ),
            (
                "[columns]\nkernel = 'n'\ntime = { column = 'd', unit = 'sec' }\n",
                "map.toml:3:31: unknown unit \"sec\", one of s, ms, us, µs, μs, ns",
            ),
            (
                "[columns]\nkernel = 'n'\ntime = { column = 'd', units = 's' }\n",
                "map.toml:3:24: unknown key \"units\"",
            ),
            (
                &format!(
                    "{NEEDED}flops = [{{ column = 'f', unit = 'FLOP', precision = 'bf16' }}]\n"
                ),
                "map.toml:4:53: unknown precision \"bf16\", one of fp64_vector, fp32_vector",
            ),
            (
                &format!("{NEEDED}flops = {{ column = 'f', units = 'FLOP' }}\n"),
                "unknown key \"units\"",
            ),
            (
                &format!("{NEEDED}bytes = {{ column = 'b', unit = 'B', kind = 'guessed' }}\n"),
                "unknown value \"guessed\"",
            ),
            (&format!("{NEEDED}launches = {{ column = 'n' }}\n"), "missing key \"values\""),
            (
                &format!("{NEEDED}[quantities]\noccupancy = {{ column = 'o', unit = '%' }}\n"),
                "map.toml:5:1: unknown quantity \"occupancy\", one of sm_clock_hz",
            ),
            (
                &format!(
                    "{NEEDED}flops = [{{ column = 'f', unit = 'FLOP' }}, {{ column = 'g', unit = 'FLOP' }}]\n"
                ),
                "map.toml:4:66: precision \"unstated\" is mapped twice",
            ),
            (&format!("delimiter = 'tab'\n{NEEDED}"), "map.toml:1:13: the delimiter must be a tab"),
            (&format!("devices = 'H100'\n{NEEDED}"), "map.toml:1:1: unknown key \"devices\""),
        ] {
            let error = mapping(text).unwrap_err();
            assert!(error.contains(expected), "{error}\n{expected}");
        }
    }
}
