//! A run as a table with a row per kernel: what a store keeps as Parquet, which engines of SQL query as it lies.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::run::{Run, RunFinding, RunKernel};
use super::seal::{DAMAGED, fingerprint};
use crate::plain;
#[cfg(feature = "frames")]
use crate::table::frames;
use crate::table::{Cell, Cells, Form, Table};
use crate::units::{Factor, Seconds};

/// Name and major version of the table's schema.
pub const RUN_TABLE: &str = "rooflint/run-table/1";

/// Key of the metadata with the run itself, as JSON without its kernels.
const HEAD: &str = "run";

/// Key of the metadata with the fingerprint of all cells and of the run.
const CONTENT: &str = "content";

const SECONDS: Form = Form::Number("s");

/// Where a column is in the document of a kernel: under a key, or at a place of the list there.
type Place = (&'static str, Option<usize>);

/// The columns that a kernel is read back from.
const COLUMNS: &[(&str, Form, Place)] = &[
    ("kernel", Form::Text, ("full_name", None)),
    ("name", Form::Text, ("name", None)),
    ("operator", Form::Text, ("operator", None)),
    ("grid_x", Form::Count, ("grid", Some(0))),
    ("grid_y", Form::Count, ("grid", Some(1))),
    ("grid_z", Form::Count, ("grid", Some(2))),
    ("block_x", Form::Count, ("block", Some(0))),
    ("block_y", Form::Count, ("block", Some(1))),
    ("block_z", Form::Count, ("block", Some(2))),
    ("blocks", Form::Count, ("blocks", None)),
    ("threads_per_block", Form::Count, ("threads_per_block", None)),
    ("device_number", Form::Count, ("device", None)),
    ("category", Form::Text, ("category", None)),
    ("launches", Form::Count, ("launches", None)),
    ("timed", Form::Count, ("timed", None)),
    ("cold", Form::Count, ("cold", None)),
    ("measured_s", SECONDS, ("measured_s", None)),
    ("share", Form::Share, ("share", None)),
    ("sm_clock_hz", Form::Number("Hz"), ("clock_hz", None)),
    ("bytes", Form::Number("B"), ("bytes", None)),
    ("flops", Form::Number("FLOP"), ("flops", None)),
    ("fp64_flops", Form::Number("FLOP"), ("fp64_flops", None)),
    ("judged_s", SECONDS, ("judged_s", None)),
    ("roofline_s", SECONDS, ("roofline_s", None)),
    ("roofline_high_s", SECONDS, ("roofline_high_s", None)),
    ("roofline_low_s", SECONDS, ("roofline_low_s", None)),
    ("savings_s", SECONDS, ("savings_s", None)),
    ("skipped_rules", Form::Count, ("skipped_rules", None)),
    ("first_row", Form::Count, ("rows", Some(0))),
    ("last_row", Form::Count, ("rows", Some(1))),
];

/// Columns that tables of earlier versions do not have.
const LATER: [&str; 1] = ["skipped_rules"];

/// Columns of lists.
const LISTS: [&str; 2] = ["samples_s", "samples_cycles"];

/// Column with the findings, as words `rule=severity`.
const FINDINGS: &str = "findings";

/// What a derived cell of a kernel is made of.
type Derived<'a> = &'a dyn Fn(&RunKernel) -> Option<Cell<'a>>;

impl Run {
    /// Returns the run as a table with a row per kernel, for Parquet.
    ///
    /// Each row repeats what identifies the run (`run`, `saved`, `commit`, `branch`), so that a query over the files
    /// of a store needs no other table. [`Run::from_table`] leads back to the same run.
    #[must_use]
    pub fn table(&self) -> Table<'static> {
        let mut columns = self.derived();
        let documents: Vec<Value> = self.kernels.iter().map(|kernel| json!(kernel)).collect();
        for (name, form, (key, at)) in COLUMNS {
            let value = |kernel: &Value| match at {
                Some(at) => kernel[key].get(at).and_then(cell),
                None => cell(&kernel[key]),
            };
            columns.push(((*name).to_owned(), Cells::of(*form, documents.iter().map(value))));
        }
        for key in LISTS {
            let list = |kernel: &Value| {
                let numbers = kernel[key].as_array().into_iter().flatten();
                numbers.filter_map(Value::as_f64).collect()
            };
            columns.push((key.to_owned(), Cells::Numbers(documents.iter().map(list).collect())));
        }
        let findings = self.kernels.iter().map(|kernel| Some(Cell::Text(words(kernel).into())));
        columns.push((FINDINGS.to_owned(), Cells::of(Form::Text, findings)));
        let head = Self { kernels: Vec::new(), ..self.clone() };
        let mut table = Table { height: self.kernels.len(), columns, metadata: Vec::new() };
        table.metadata = vec![
            ("schema".to_owned(), RUN_TABLE.to_owned()),
            ("rooflint".to_owned(), self.rooflint.clone()),
            (HEAD.to_owned(), json!(head).to_string()),
        ];
        table.metadata.push((CONTENT.to_owned(), content(&table)));
        table
    }

    /// The columns that only queries read.
    fn derived(&self) -> Vec<(String, Cells<'static>)> {
        let mut columns = Vec::new();
        let mut add = |name: &str, form: Form, of: Derived<'_>| {
            columns.push((name.to_owned(), Cells::of(form, self.kernels.iter().map(of))));
        };
        let text = |text: &Option<String>| text.clone().map(|text| Cell::Text(text.into()));
        add("run", Form::Text, &|_| Some(Cell::word(&self.label)));
        add("saved", Form::Text, &|_| text(&self.origin.saved));
        add("commit", Form::Text, &|_| text(&self.origin.commit));
        add("branch", Form::Text, &|_| text(&self.origin.branch));
        add("device_name", Form::Text, &|kernel| {
            Some(Cell::word(&self.devices.get(kernel.device)?.name))
        });
        add("launch_s", SECONDS, &|kernel| kernel.launch_s().map(Seconds::get).map(Cell::Number));
        add("headroom", Form::Factor, &|kernel| {
            kernel.headroom().map(Factor::get).map(Cell::Number)
        });
        columns
    }

    /// Returns the table as a Parquet file.
    ///
    /// # Errors
    /// Returns a message if the table cannot be built, or this build has no Parquet.
    pub fn parquet(&self) -> Result<Vec<u8>, String> {
        #[cfg(feature = "frames")]
        return frames::parquet(&self.table()).map_err(|error| error.to_string());
        #[cfg(not(feature = "frames"))]
        Err(NO_PARQUET.to_owned())
    }

    /// Returns `true` if a Parquet file is the table of a run, of any version.
    #[must_use]
    pub fn is_table(path: &Path) -> bool {
        let family = RUN_TABLE.trim_end_matches(|character| character != '/');
        schema(path).is_some_and(|schema| schema.starts_with(family))
    }

    /// Reads a run from a Parquet file.
    ///
    /// # Errors
    /// As [`Run::from_table`]; a message if this build has no Parquet.
    pub fn from_parquet(path: &Path) -> Result<Self, String> {
        Self::from_table(&read(path, false)?)
    }

    /// Reads a run without its kernels from a Parquet file.
    ///
    /// # Errors
    /// As [`Run::from_table_head`]; a message if this build has no Parquet.
    pub fn from_parquet_head(path: &Path) -> Result<Self, String> {
        Self::from_table_head(&read(path, true)?)
    }

    /// Reads a run back from its table.
    ///
    /// # Errors
    /// Returns a message with the problem: the table is damaged, or has no run of a known version.
    pub fn from_table(table: &Table<'_>) -> Result<Self, String> {
        let mut run = Self::from_table_head(table)?;
        if of(table, CONTENT) != Some(&*content(table)) {
            return Err(DAMAGED.to_owned());
        }
        let column = |name: &str| {
            let known = table.columns.iter().find(|(known, _)| known == name);
            known.map(|(_, cells)| cells).ok_or_else(|| format!("column {name:?} is missing"))
        };
        let mut kernels = vec![Map::new(); table.height];
        for (name, _, (key, at)) in COLUMNS {
            let cells = match column(name) {
                Err(_) if LATER.contains(name) => continue,
                cells => cells?,
            };
            for (row, kernel) in kernels.iter_mut().enumerate() {
                let value = cells.get(row).map_or(Value::Null, value);
                match at {
                    None => drop(kernel.insert((*key).to_owned(), value)),
                    Some(_) => {
                        let list = kernel.entry(*key).or_insert_with(|| json!([]));
                        list.as_array_mut().into_iter().for_each(|list| list.push(value.clone()));
                    }
                }
            }
        }
        for key in LISTS {
            let Cells::Numbers(lists) = column(key)? else {
                return Err(format!("column {key:?} has no lists of numbers"));
            };
            for (kernel, list) in kernels.iter_mut().zip(lists) {
                kernel.insert(key.to_owned(), json!(list));
            }
        }
        let findings = column(FINDINGS)?;
        for (row, kernel) in kernels.iter_mut().enumerate() {
            let found = findings.get(row).and_then(Cell::text).unwrap_or_default();
            kernel.insert(FINDINGS.to_owned(), documents(&found));
            for key in ["full_name", "name", "category"] {
                // A table has no empty texts.
                kernel.entry(key).and_modify(|text| {
                    if text.is_null() {
                        *text = json!("");
                    }
                });
            }
            for key in ["grid", "block"] {
                let lacks = |list: &Value| {
                    list.as_array().is_some_and(|list| list.iter().any(Value::is_null))
                };
                kernel.entry(key).and_modify(|list| {
                    if lacks(list) {
                        *list = Value::Null;
                    }
                });
            }
        }
        for (row, kernel) in kernels.into_iter().enumerate() {
            let read = serde_json::from_value::<RunKernel>(Value::Object(kernel));
            let kernel = read.map_err(|error| format!("kernel {row}: {}", plain::json(&error)))?;
            run.kernels.push(kernel.without_assumed_savings());
        }
        run.checked()?.agreeing()
    }

    /// Reads a run without its kernels, from the metadata of its table.
    ///
    /// # Errors
    /// Returns a message if the metadata have no run of a known version.
    pub fn from_table_head(table: &Table<'_>) -> Result<Self, String> {
        let head = of(table, HEAD).ok_or_else(|| format!("its metadata have no {HEAD:?}"))?;
        Self::known(head)
    }
}

/// Reads a table, or only its metadata.
#[cfg(feature = "frames")]
fn read(path: &Path, only_metadata: bool) -> Result<Table<'static>, String> {
    frames::read_table(path, RUN_TABLE, only_metadata).map_err(|error| error.to_string())
}

#[cfg(feature = "frames")]
fn schema(path: &Path) -> Option<String> {
    frames::schema(path)
}

#[cfg(not(feature = "frames"))]
fn schema(_: &Path) -> Option<String> {
    None
}

#[cfg(not(feature = "frames"))]
const NO_PARQUET: &str = "this build has no Parquet: build with the feature `frames`";

#[cfg(not(feature = "frames"))]
fn read(_: &Path, _: bool) -> Result<Table<'static>, String> {
    Err(NO_PARQUET.to_owned())
}

fn of<'t>(table: &'t Table<'_>, key: &str) -> Option<&'t str> {
    table.metadata.iter().find(|(known, _)| known == key).map(|(_, text)| text.as_str())
}

/// Returns the fingerprint of all cells, and of the run that they belong to.
fn content(table: &Table<'_>) -> String {
    let mut text = of(table, HEAD).unwrap_or_default().to_owned();
    for (name, cells) in &table.columns {
        text.push('\n');
        text.push_str(name);
        for row in 0..table.height {
            text.push('\0');
            match cells {
                Cells::Numbers(lists) => {
                    let list = lists.get(row).map_or(&[][..], Vec::as_slice);
                    for number in list {
                        text.push_str(&format!("{number} "));
                    }
                }
                cells => text.extend(cells.get(row).map(|cell| cell.to_string())),
            }
        }
    }
    fingerprint(&text)
}

fn cell(value: &Value) -> Option<Cell<'static>> {
    match value {
        Value::String(text) => Some(Cell::Text(text.clone().into())),
        Value::Number(number) => match number.as_u64() {
            Some(count) => Some(Cell::Count(count)),
            None => number.as_f64().map(Cell::Number),
        },
        _ => None,
    }
}

fn value(cell: Cell<'_>) -> Value {
    match cell {
        Cell::Text(text) => json!(text),
        Cell::Truth(truth) => json!(truth),
        Cell::Count(count) => json!(count),
        Cell::Number(number) => json!(number),
    }
}

/// Returns the findings of a kernel as words `rule=severity`.
fn words(kernel: &RunKernel) -> String {
    let word = |finding: &RunFinding| {
        let severity = json!(finding.severity);
        format!("{}={}", finding.rule, severity.as_str().unwrap_or_default())
    };
    kernel.findings.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// Returns the findings as in the document of a kernel.
fn documents(words: &str) -> Value {
    let pairs = words.split_whitespace().map(|word| word.rsplit_once('=').unwrap_or((word, "")));
    pairs.map(|(rule, severity)| json!({"rule": rule, "severity": severity})).collect()
}

#[cfg(test)]
mod tests {
    use super::super::made::{kernel, run};
    use super::super::{RunDevice, RunOrigin};
    use super::*;
    use crate::rules::Severity;

    fn full() -> Run {
        let finding = |rule: &str| RunFinding { rule: rule.to_owned(), severity: Severity::High };
        let one = RunKernel {
            findings: vec![finding("uncoalesced-access"), finding("tail-effect")],
            samples_cycles: vec![1e6, 2.5e6],
            clock_hz: Some(crate::units::Hertz::new(1.5e9)),
            operator: Some("aten::mm".to_owned()),
            ..kernel("a, \"quoted\"", &[0.25, 1.0 / 3.0])
        };
        let bare = RunKernel {
            full_name: String::new(),
            grid: None,
            block: None,
            blocks: None,
            flops: None,
            roofline_s: None,
            savings_s: None,
            samples_s: Vec::new(),
            device: 1,
            ..kernel("b", &[2.0])
        };
        let mut run = run(vec![one, bare]);
        run.skipped_rules = vec![vec!["small-grid".to_owned()].into()];
        run.kernels[1].skipped_rules = Some(0);
        run.devices.push(RunDevice {
            name: "H100".to_owned(),
            known: false,
            dram_bytes_per_s: None,
            fp32_per_clock: Some(128.0),
        });
        run.origin = RunOrigin {
            commit: Some("abc".to_owned()),
            branch: None,
            saved: Some("2026-11-22T05:30:00Z".to_owned()),
            number: Some(3),
        };
        run
    }

    #[test]
    fn a_run_comes_back_from_its_table() {
        let run = full();
        let table = run.table();
        assert_eq!(Run::from_table(&table), Ok(run.clone()));
        let head = Run { kernels: Vec::new(), ..run.clone() };
        assert_eq!(Run::from_table_head(&table), Ok(head.clone()));
        #[cfg(feature = "frames")]
        {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), run.parquet().unwrap()).unwrap();
            assert_eq!(Run::from_parquet_head(file.path()), Ok(head));
            assert_eq!(Run::from_parquet(file.path()), Ok(run));
        }
    }

    #[test]
    fn each_row_says_what_a_query_asks_for() {
        let table = full().table();
        let cell = |name: &str, row: usize| {
            let (_, cells) = table.columns.iter().find(|(known, _)| known == name).unwrap();
            cells.get(row).map(|cell| cell.to_string())
        };
        // The longest kernel is first: one launch of 2 s without samples.
        let of = |name: &str| [0, 1].map(|row| cell(name, row).unwrap_or_default());
        assert_eq!(of("kernel"), ["", "a, \"quoted\""]);
        assert_eq!(of("device_name"), ["H100", "L4"]);
        assert_eq!(of("saved"), ["2026-11-22T05:30:00Z"; 2]);
        assert_eq!(of("commit"), ["abc"; 2]);
        assert_eq!(of("findings"), ["", "uncoalesced-access=high tail-effect=high"]);
        assert_eq!(of("launch_s")[0], "2");
        // The pseudo-median of 1/4 and 1/3 on logarithms: of those two and their geometric mean, 1 over the root of 12.
        let middle: f64 = of("launch_s")[1].parse().unwrap();
        assert!((middle - 1.0 / 12.0_f64.sqrt()).abs() < 1e-15, "{middle}");
        assert_eq!(of("headroom"), ["", "2"]);
    }

    #[test]
    fn every_cell_counts() {
        let table = full().table();
        for at in 0..table.columns.len() {
            let mut other = table.clone();
            let is_changed = match &mut other.columns[at].1 {
                Cells::Count(cells) => change(cells, |count| *count += 1),
                Cells::Number(cells) => {
                    change(cells, |number| *number = f64::from_bits(number.to_bits() + 1))
                }
                Cells::Text(cells) => change(cells, |text| text.push('x')),
                Cells::Numbers(lists) => {
                    lists.iter_mut().flatten().for_each(|number| *number *= 2.0);
                    true
                }
                _ => false,
            };
            let name = &table.columns[at].0;
            assert_eq!(Run::from_table(&other).is_err(), is_changed, "{name}");
        }
        let mut other = table.clone();
        other.metadata[2].1 = other.metadata[2].1.replace("2026", "2025");
        assert_eq!(Run::from_table(&other), Err(DAMAGED.to_owned()));
        other.metadata[2].1 = "{\"schema\": \"rooflint/run/9\"}".to_owned();
        assert!(Run::from_table(&other).unwrap_err().contains("rooflint/run/9"));
        other.metadata.clear();
        assert!(Run::from_table(&other).is_err());
    }

    /// Changes the cells that are there; `false` if there are none.
    fn change<T>(cells: &mut [Option<T>], change: impl Fn(&mut T)) -> bool {
        cells.iter_mut().flatten().for_each(change);
        cells.iter().any(Option::is_some)
    }
}
