//! The mapping file as it is written.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use toml::Spanned;

use crate::json;

/// The JSON schema of mappings, as pretty-printed JSON.
#[must_use]
pub fn mapping_schema() -> String {
    json::schema_of_toml::<File>("mapping", "Mapping of rooflint: which column is which quantity")
}

/// Which column of a table is which quantity, in which unit.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    /// Name of the GPU on which all launches ran.
    pub(super) device: Option<String>,
    /// Names of the GPUs, by what the device column says.
    #[serde(default)]
    pub(super) devices: BTreeMap<String, String>,
    /// Separator of columns: a tab or one visible character; a comma if left out.
    #[schemars(with = "Option<String>")]
    pub(super) delimiter: Option<Spanned<String>>,
    /// Decimal sign, "," or "."; recognized if left out.
    #[schemars(with = "Option<String>")]
    pub(super) decimal: Option<Spanned<String>>,
    /// JSON: key of the array of records.
    pub(super) records: Option<String>,
    /// Columns that a table may lack.
    #[serde(default)]
    pub(super) optional: Vec<String>,
    /// Columns that are sums over hardware channels, by the start of their names: how many channels each index has.
    #[serde(default)]
    pub(super) channels: BTreeMap<String, Vec<usize>>,
    /// Which rows are kernels, by the text of columns.
    #[serde(default)]
    pub(super) rows: RowFilters,
    /// Columns by what they hold.
    pub(super) columns: Columns,
    /// Other quantities, by their column in the launch table.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Cell>")]
    pub(super) quantities: BTreeMap<Spanned<String>, Cell>,
}

/// Which rows are kernels, by the text of columns.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct RowFilters {
    /// Only rows with these texts are kernels.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Texts>")]
    pub(super) only: BTreeMap<Spanned<String>, Texts>,
    /// Rows with these texts are not kernels.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Texts>")]
    pub(super) leave_out: BTreeMap<Spanned<String>, Texts>,
}

/// A text or several of them; a `*` stands for any characters.
#[derive(JsonSchema)]
#[serde(untagged)]
pub(super) enum Texts {
    One(String),
    Many(Vec<String>),
}

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextsVisitor)
    }
}

/// Unlike an untagged enum, it says what was found.
struct TextsVisitor;

impl<'de> Visitor<'de> for TextsVisitor {
    type Value = Texts;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text such as \"KERNEL\", or an array of texts")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Texts, E> {
        Ok(Texts::One(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, texts: A) -> Result<Texts, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(texts)).map(Texts::Many)
    }
}

impl Texts {
    pub(super) fn all(self) -> Vec<String> {
        match self {
            Self::One(text) => vec![text],
            Self::Many(texts) => texts,
        }
    }
}

/// Columns by what they hold.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Columns {
    /// Column of the kernel's name.
    pub(super) kernel: String,
    /// Column of the time, or of start and end.
    #[schemars(with = "TimeCell")]
    pub(super) time: Spanned<TimeCell>,
    /// Column of the start on the GPU.
    pub(super) start: Option<InstantCell>,
    /// Column of the bytes of device memory.
    pub(super) bytes: Option<Cell>,
    /// Column of the operations, or several of different precisions.
    #[schemars(with = "Option<EitherWork>")]
    pub(super) flops: Option<OneOrMany>,
    /// Column of the number of launches that a row stands for.
    pub(super) launches: Option<RowLaunches>,
    /// Column of the GPU's name or number.
    pub(super) device: Option<String>,
    /// Column or columns of the grid.
    pub(super) grid: Option<ExtentCell>,
    /// Column or columns of the block.
    pub(super) block: Option<ExtentCell>,
    /// Column of the framework operator.
    pub(super) operator: Option<String>,
    /// Column of the stream.
    pub(super) stream: Option<String>,
    /// Column of the launch id.
    pub(super) id: Option<String>,
}

/// Column of the time, or of start and end.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { column = \"dur_us\", unit = \"us\" }")]
pub(super) struct TimeCell {
    /// Column of the duration.
    pub(super) column: Option<String>,
    /// Column of the start, if there is no duration.
    pub(super) start: Option<String>,
    /// Column of the end, if there is no duration.
    pub(super) end: Option<String>,
    /// Unit: s, ms, us or ns.
    #[schemars(with = "String")]
    pub(super) unit: Spanned<String>,
    /// How the values came about.
    #[serde(default)]
    pub(super) kind: Kind,
}

/// A column of instants.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { column = \"ts\", unit = \"us\" }")]
pub(super) struct InstantCell {
    /// The column.
    pub(super) column: String,
    /// Unit: s, ms, us or ns.
    #[schemars(with = "String")]
    pub(super) unit: Spanned<String>,
}

/// A column, three columns for x, y and z, or either of them with what it counts.
#[derive(JsonSchema)]
#[serde(untagged)]
pub(super) enum ExtentCell {
    One(String),
    Three([String; 3]),
    Counted(CountedExtent),
}

impl<'de> Deserialize<'de> for ExtentCell {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ExtentVisitor)
    }
}

/// Unlike an untagged enum, it says what was found.
struct ExtentVisitor;

impl<'de> Visitor<'de> for ExtentVisitor {
    type Value = ExtentCell;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a column, three columns such as [\"x\", \"y\", \"z\"], or { columns = [\"x\", \"y\", \"z\"], unit = \"threads\" }",
        )
    }

    fn visit_str<E: Error>(self, column: &str) -> Result<ExtentCell, E> {
        Ok(ExtentCell::One(column.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, columns: A) -> Result<ExtentCell, A::Error> {
        let columns: Vec<String> = Vec::deserialize(SeqAccessDeserializer::new(columns))?;
        <[String; 3]>::try_from(columns).map(ExtentCell::Three).map_err(|columns| {
            let (number, found) = (columns.len(), columns.join(", "));
            A::Error::custom(format!(
                "three columns are needed, for x, y and z; found {number}: {found:?}"
            ))
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ExtentCell, A::Error> {
        CountedExtent::deserialize(MapAccessDeserializer::new(map)).map(ExtentCell::Counted)
    }
}

/// Columns with what they count.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CountedExtent {
    /// One column, or three for x, y and z.
    pub(super) columns: Vec<String>,
    /// What a grid counts.
    pub(super) unit: Counted,
}

/// What a grid counts.
#[derive(Deserialize, JsonSchema, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub(super) enum Counted {
    Blocks,
    Threads,
}

/// A quantity, in one column or as a sum over several.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { column = \"dur_us\", unit = \"us\" }")]
pub(super) struct Cell {
    /// The column.
    #[schemars(with = "Option<String>")]
    pub(super) column: Option<Spanned<String>>,
    /// Columns with factors, which add up to it.
    #[schemars(with = "Option<BTreeMap<String, f64>>")]
    pub(super) sum: Option<Spanned<BTreeMap<String, f64>>>,
    /// Unit of the column.
    #[schemars(with = "String")]
    pub(super) unit: Spanned<String>,
    /// How the values came about.
    #[serde(default)]
    pub(super) kind: Kind,
    /// The true value is at least this times the value, from 0 to 1.
    #[schemars(with = "Option<f64>")]
    pub(super) low: Option<Spanned<f64>>,
    /// The true value is at most this times the value, 1 or more.
    #[schemars(with = "Option<f64>")]
    pub(super) high: Option<Spanned<f64>>,
}

/// Operations, in one column or as a sum over several.
#[derive(Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { column = \"gflop\", unit = \"GFLOP\", precision = \"bf16_matrix\" }"
)]
struct WorkCell {
    /// The column.
    #[schemars(with = "Option<String>")]
    column: Option<Spanned<String>>,
    /// Columns with factors, which add up to it.
    #[schemars(with = "Option<BTreeMap<String, f64>>")]
    sum: Option<Spanned<BTreeMap<String, f64>>>,
    /// Unit of the column.
    #[schemars(with = "String")]
    unit: Spanned<String>,
    /// How the values came about.
    #[serde(default)]
    kind: Kind,
    /// The true value is at least this times the value, from 0 to 1.
    #[schemars(with = "Option<f64>")]
    low: Option<Spanned<f64>>,
    /// The true value is at most this times the value, 1 or more.
    #[schemars(with = "Option<f64>")]
    high: Option<Spanned<f64>>,
    /// Key of the pipe that executes them, such as `bf16_matrix`.
    #[schemars(with = "Option<String>")]
    precision: Option<Spanned<String>>,
}

/// Stands in the schema for one table or an array of them.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum EitherWork {
    One(Box<WorkCell>),
    Many(Vec<WorkCell>),
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

/// How values came about.
#[derive(Deserialize, JsonSchema, Clone, Copy, Default)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    /// Measured by a profiler.
    #[default]
    Measured,
    /// Counted from shapes.
    Algorithmic,
}

/// Number of launches that a row stands for.
#[derive(Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { column = \"count\", values = \"total\" }"
)]
pub(super) struct RowLaunches {
    /// The column.
    pub(super) column: String,
    /// What the row's values are.
    pub(super) values: RowValues,
}

/// What the values of a row that stands for several launches are.
#[derive(Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(super) enum RowValues {
    /// Sums over the launches.
    Total,
    /// Averages of the launches.
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
