//! The mapping file as it is written.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use toml::Spanned;

/// The whole file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) device: Option<String>,
    #[serde(default)]
    pub(super) devices: BTreeMap<String, String>,
    pub(super) delimiter: Option<Spanned<String>>,
    pub(super) decimal: Option<Spanned<String>>,
    pub(super) records: Option<String>,
    #[serde(default)]
    pub(super) optional: Vec<String>,
    #[serde(default)]
    pub(super) channels: BTreeMap<String, Vec<usize>>,
    #[serde(default)]
    pub(super) rows: RowFilters,
    pub(super) columns: Columns,
    #[serde(default)]
    pub(super) quantities: BTreeMap<Spanned<String>, Cell>,
}

/// Which rows are kernels, by the text of columns.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct RowFilters {
    #[serde(default)]
    pub(super) only: BTreeMap<String, Texts>,
    #[serde(default)]
    pub(super) leave_out: BTreeMap<String, Texts>,
}

/// A text or several of them; a `*` at the end stands for any ending.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a text such as \"KERNEL\", or an array of texts")]
pub(super) enum Texts {
    One(String),
    Many(Vec<String>),
}

impl Texts {
    pub(super) fn all(self) -> Vec<String> {
        match self {
            Self::One(text) => vec![text],
            Self::Many(texts) => texts,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Columns {
    pub(super) kernel: String,
    pub(super) time: Spanned<TimeCell>,
    pub(super) start: Option<InstantCell>,
    pub(super) bytes: Option<Cell>,
    pub(super) flops: Option<OneOrMany>,
    pub(super) launches: Option<RowLaunches>,
    pub(super) device: Option<String>,
    pub(super) grid: Option<ExtentCell>,
    pub(super) block: Option<ExtentCell>,
    pub(super) operator: Option<String>,
    pub(super) stream: Option<String>,
    pub(super) id: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table such as { column = \"dur_us\", unit = \"us\" }")]
pub(super) struct TimeCell {
    pub(super) column: Option<String>,
    pub(super) start: Option<String>,
    pub(super) end: Option<String>,
    pub(super) unit: Spanned<String>,
    #[serde(default)]
    pub(super) kind: Kind,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table such as { column = \"ts\", unit = \"us\" }")]
pub(super) struct InstantCell {
    pub(super) column: String,
    pub(super) unit: Spanned<String>,
}

/// A column, three columns for x, y and z, or either of them with what it counts.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "a column, three columns such as [\"x\", \"y\", \"z\"], or { columns = [\"x\", \"y\", \"z\"], unit = \"threads\" }"
)]
pub(super) enum ExtentCell {
    One(String),
    Three([String; 3]),
    Counted(CountedExtent),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CountedExtent {
    pub(super) columns: Vec<String>,
    pub(super) unit: Counted,
}

/// What a grid counts.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub(super) enum Counted {
    Blocks,
    Threads,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table such as { column = \"dur_us\", unit = \"us\" }")]
pub(super) struct Cell {
    pub(super) column: Option<Spanned<String>>,
    pub(super) sum: Option<Spanned<BTreeMap<String, f64>>>,
    pub(super) unit: Spanned<String>,
    #[serde(default)]
    pub(super) kind: Kind,
    pub(super) low: Option<Spanned<f64>>,
    pub(super) high: Option<Spanned<f64>>,
}

#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { column = \"gflop\", unit = \"GFLOP\", precision = \"bf16_matrix\" }"
)]
struct WorkCell {
    column: Option<Spanned<String>>,
    sum: Option<Spanned<BTreeMap<String, f64>>>,
    unit: Spanned<String>,
    #[serde(default)]
    kind: Kind,
    low: Option<Spanned<f64>>,
    high: Option<Spanned<f64>>,
    precision: Option<Spanned<String>>,
}

/// A column of work with its precision.
pub(super) struct Work {
    pub(super) value: Cell,
    pub(super) precision: Option<Spanned<String>>,
}

impl From<WorkCell> for Work {
    fn from(cell: WorkCell) -> Self {
        let WorkCell { column, sum, unit, kind, low, high, precision } = cell;
        Self { value: Cell { column, sum, unit, kind, low, high }, precision }
    }
}

#[derive(Deserialize, Clone, Copy, Default)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    #[default]
    Measured,
    Algorithmic,
}

#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { column = \"count\", values = \"total\" }"
)]
pub(super) struct RowLaunches {
    pub(super) column: String,
    pub(super) values: RowValues,
}

/// What the values of a row that stands for several launches are.
#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(super) enum RowValues {
    Total,
    Average,
}

/// One table or an array of them.
pub(super) struct OneOrMany(pub(super) Vec<Work>);

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
