//! Our own launch table, as `rooflint convert` writes it: CSV, JSON, or Parquet turned into CSV.
//!
//! Its columns are those of [`crate::table`], found by their names, in any order; those that are
//! not known are left alone. An empty cell is missing. The launches of several exports stay apart
//! by the column `source`.

mod json;

use std::collections::{BTreeMap, HashMap};

use super::headers::header_again;
use super::numbered::{UNNUMBERED, are_numbered};
use super::split::fields;
use super::{Format, IngestError, Reading, Sample, Sniff, sums};
use crate::model::{
    DeviceHint, Head, HintId, OriginId, OriginKind, Profiler, Quantity, Source, Values,
};
use crate::table::{CHECKS, Header, Row, SCHEMA, TELLING, Value, named_schema};

pub(super) const FORMAT: Format = Format {
    name: "launch-table",
    profiler: Profiler::Rooflint,
    summary: "the launch table that `convert` writes, as CSV, JSON or (with the feature `frames`) Parquet",
    command: "rooflint convert FILE... -o launches.csv",
    sniff,
    read,
};

fn is_header(fields: &[String]) -> bool {
    TELLING.iter().all(|name| fields.iter().any(|field| field == name))
}

fn may_be_header(line: &str) -> bool {
    line.contains("device_ordinal") && line.contains("threads_per_block")
}

fn is_json(sample: &Sample) -> bool {
    sample.text().trim_start().starts_with('{')
}

fn sniff(sample: &Sample) -> Sniff {
    if is_json(sample) {
        return if sample.text().contains("\"rooflint/launches/") {
            Sniff::Yes("JSON of the schema rooflint/launches".to_owned())
        } else {
            Sniff::No("JSON without the schema rooflint/launches".to_owned())
        };
    }
    match sample.header(may_be_header, is_header) {
        Some(_) => Sniff::Yes(format!("a header with {}", TELLING.join(", "))),
        None => Sniff::No(format!("no header with {}", TELLING.join(", "))),
    }
}

fn read(reading: &mut Reading<'_>) -> Result<(), IngestError> {
    "decimal point, no grouping".clone_into(&mut reading.source.numerals);
    let launches = if is_json(&reading.sample) { json::read(reading)? } else { read_csv(reading)? };
    launches.finish(reading);
    reading.keep_devices();
    Ok(())
}

fn read_csv(reading: &mut Reading<'_>) -> Result<Launches, IngestError> {
    let titles = reading.header(|line| may_be_header(line) && is_header(&fields(line)), |_| {})?;
    let mut launches = Launches { width: titles.len(), ..Launches::default() };
    let numbers = titles.iter().position(|title| title == "id");
    launches.has_numbers = numbers.is_some_and(|at| are_numbered(reading, &titles, at, b','));
    launches.set(reading, titles);
    let metadata = reading.take_metadata();
    launches.describe(reading, metadata)?;
    let mut records = reading.records();
    while let Some(record) = records.next()? {
        let line = record.line();
        let width = launches.titles.len();
        if let Some(titles) = header_again(&record, launches.number, is_header) {
            let is_numbered = titles.iter().any(|title| title == "id");
            launches.turn_to(reading, titles);
            reading.begin_table(is_numbered);
        } else if record.fits(width..=width) {
            let filled =
                (0..width).filter(|at| record.get(*at).is_some_and(|cell| !cell.is_empty()));
            launches.add(reading, |at| record.get(at).unwrap_or_default(), filled, line)?;
        } else {
            reading.source.rows += 1;
            reading.misfit(line, &record, width)?;
        }
    }
    Ok(launches)
}

/// How the values of a quantity come about.
struct Derived {
    /// The formula, where the table tells it; else the column.
    formula: String,
    known: Vec<(OriginKind, [u64; 2], OriginId)>,
}

/// A table being turned into launches.
#[derive(Default)]
struct Launches {
    titles: Vec<String>,
    /// How many columns the table has, for the report.
    width: usize,
    header: Header,
    /// Where every row has a number.
    number: usize,
    /// Whether a launch of this table had one of its own.
    has_numbers: bool,
    /// What the table says of itself: how its quantities were derived.
    metadata: BTreeMap<String, String>,
    derived: HashMap<Quantity, Derived>,
    /// The exports that the launches come from: source and format, as far as the table tells.
    parts: Vec<[Option<String>; 2]>,
    /// Where they are, and that of the last row.
    places: HashMap<[Option<String>; 2], usize>,
    last_part: Option<usize>,
    /// For each of them, how many launches have a value in a column.
    filled: Vec<Vec<u64>>,
    /// The device of the last row: neighbors often share it.
    device: Option<(DeviceHint, HintId)>,
    row: Row,
    values: Values,
}

impl Launches {
    /// Takes what the table says of itself, and repeats what it says of its figures.
    ///
    /// # Errors
    /// When it is a table of another version.
    fn describe(
        &mut self,
        reading: &mut Reading<'_>,
        metadata: BTreeMap<String, String>,
    ) -> Result<(), IngestError> {
        match named_schema(|key| metadata.get(key).map(String::as_str)) {
            Some(SCHEMA) | None => {}
            Some(other) => {
                return Err(reading
                    .error(format!(
                        "this is a launch table of an unsupported version: {other:?}, not {SCHEMA:?}"
                    ))
                    .help("convert the export again: rooflint convert EXPORT.csv -o launches.json"));
            }
        }
        for check in metadata.get(CHECKS).map_or("", String::as_str).lines() {
            reading.check(check);
        }
        self.metadata = metadata;
        Ok(())
    }

    /// Takes the columns from a header.
    fn set(&mut self, reading: &mut Reading<'_>, titles: Vec<String>) {
        self.header = Header::new(&titles);
        tell_unknown(reading, self.header.unknown());
        self.number = titles.iter().position(|title| title == "launches").unwrap_or_default();
        self.filled = vec![vec![0; titles.len()]; self.parts.len()];
        self.titles = titles;
    }

    /// Adds a column behind the others.
    fn add_column(&mut self, title: &str) {
        self.header.add(title, self.titles.len());
        self.titles.push(title.to_owned());
        for filled in &mut self.filled {
            filled.push(0);
        }
    }

    /// Takes the columns of the rows that follow from a header inside the table.
    fn turn_to(&mut self, reading: &mut Reading<'_>, titles: Vec<String>) {
        if titles != self.titles {
            self.count(reading);
            self.set(reading, titles);
        }
    }

    /// Adds a row: its cells by column, and the columns that are not empty.
    fn add<'c>(
        &mut self,
        reading: &mut Reading<'_>,
        cell: impl Fn(usize) -> &'c [u8],
        filled: impl Iterator<Item = usize>,
        line: u64,
    ) -> Result<(), IngestError> {
        let mut row = std::mem::take(&mut self.row);
        let is_usable = self.header.read(&mut row, &cell, |at, fault| {
            let text = String::from_utf8_lossy(cell(at));
            let title = self.titles.get(at).map(String::as_str);
            reading.skip(line, title, text.trim(), fault.reason())
        })?;
        let mut filled = filled.peekable();
        // A launch of a damaged report may have no name, but comes from there.
        let is_nameless =
            [&row.kernel, &row.operator, &row.source].into_iter().all(Option::is_none);
        if is_nameless && filled.peek().is_none() {
            // Spreadsheets leave such lines.
            reading.source.other_lines += 1;
        } else if is_usable && is_nameless {
            reading.source.rows += 1;
            reading.skip(line, Some("kernel"), "", "the row names no kernel")?;
        } else if is_usable {
            let part = self.part(reading, &row)?;
            reading.turn_to(part);
            reading.current().rows += 1;
            for column in filled {
                self.filled[part][column] += 1;
            }
            self.launch(reading, &row);
        } else {
            // As what is skipped, it counts for the table and not for an export.
            reading.source.rows += 1;
        }
        self.row = row;
        Ok(())
    }

    fn launch(&mut self, reading: &mut Reading<'_>, row: &Row) {
        self.values.clear();
        for value in &row.values {
            let origin = self.origin(reading, value);
            self.values.set(value.quantity, value.value, origin);
        }
        let source = reading.current();
        source.keeps_caches |= row.keeps_caches;
        let rows = u32::try_from(source.rows).unwrap_or(u32::MAX);
        let name =
            |text: &Option<String>| reading.name(text.as_deref().unwrap_or_default().as_bytes());
        self.has_numbers |= row.id.is_some();
        let [kernel, operator, place] = [&row.kernel, &row.operator, &row.place].map(name);
        let head = Head {
            process: row.process.unwrap_or_default(),
            // One without a number among others that have one is beyond all of theirs.
            id: row.id.unwrap_or(if self.has_numbers { rows | UNNUMBERED } else { rows }),
            name: kernel,
            operator,
            place,
            shape: row.shape(),
            device: self.device(reading, &row.device),
            stream: row.stream,
            start: row.start,
            count: row.launches.unwrap_or(1),
            ..Head::default()
        };
        reading.push(head, &self.values);
    }

    fn origin(&mut self, reading: &mut Reading<'_>, value: &Value) -> OriginId {
        let bits = value.bounds().map(f64::to_bits);
        let metadata = &self.metadata;
        let derived = self.derived.entry(value.quantity).or_insert_with(|| {
            let name = value.quantity.column();
            let stated = metadata.get(&format!("column:{name}"));
            // Of `[B] a + b` the unit is left out.
            let formula =
                stated.map(|text| text.split_once("] ").map_or(&**text, |(_, rest)| rest));
            Derived { formula: formula.map_or(name, str::to_owned), known: Vec::new() }
        });
        let known = derived.known.iter().find(|one| one.0 == value.kind && one.1 == bits);
        if let Some((.., origin)) = known {
            return *origin;
        }
        let origin = reading.origin(&value.origin(&derived.formula));
        derived.known.push((value.kind, bits, origin));
        origin
    }

    fn device(&mut self, reading: &mut Reading<'_>, device: &DeviceHint) -> HintId {
        if let Some((known, id)) = &self.device
            && known == device
        {
            return *id;
        }
        let id = reading.hint(device.clone());
        self.device = Some((device.clone(), id));
        id
    }

    /// The number of the export that a row comes from.
    fn part(&mut self, reading: &mut Reading<'_>, row: &Row) -> Result<usize, IngestError> {
        // Rows of one export mostly stand together.
        let is_it =
            |known: &[Option<String>; 2]| known[0] == row.source && known[1] == row.source_format;
        if let Some(part) = self.last_part.filter(|part| is_it(&self.parts[*part])) {
            return Ok(part);
        }
        let export = [row.source.clone(), row.source_format.clone()];
        if let Some(part) = self.places.get(&export) {
            self.last_part = Some(*part);
            return Ok(*part);
        }
        let path = row.source.as_deref().unwrap_or_default();
        let part = if self.parts.is_empty() {
            0
        } else {
            let table = &reading.source;
            let part = Source {
                path: format!("{} ({path})", table.path),
                encoding: table.encoding.clone(),
                numerals: table.numerals.clone(),
                ..Source::default()
            };
            reading.add_part(part)?
        };
        reading.turn_to(part);
        let source = reading.current();
        // The profiler behind a mapping, or a format of a later version, is not known.
        let format = row.source_format.as_deref().unwrap_or(FORMAT.name);
        let known = super::format(format);
        source.profiler = known.map_or(Profiler::Other, |known| known.profiler);
        format.clone_into(&mut source.format);
        source.sums = sums::is_format(format);
        self.places.insert(export.clone(), self.parts.len());
        self.last_part = Some(self.parts.len());
        self.parts.push(export);
        self.filled.push(vec![0; self.titles.len()]);
        Ok(part)
    }

    /// Tells what was found in which column.
    fn count(&self, reading: &mut Reading<'_>) {
        for (part, filled) in self.filled.iter().enumerate() {
            reading.turn_to(part);
            let columns = &mut reading.current().columns;
            for (title, filled) in self.titles.iter().zip(filled).filter(|(_, filled)| **filled > 0)
            {
                *columns.entry(title.clone()).or_default() += filled;
            }
        }
    }

    /// Tells what was found in which column, and the names of exports that stand in one table.
    fn finish(self, reading: &mut Reading<'_>) {
        let dialect = format!("launch table, {} columns", self.width);
        reading.source.dialect.clone_from(&dialect);
        for (part, [path, _]) in self.parts.iter().enumerate() {
            reading.turn_to(part);
            reading.current().dialect = match path {
                Some(path) => format!("{dialect}, made from {path}"),
                None => dialect.clone(),
            };
        }
        self.count(reading);
        if let [[first, _], _, ..] = self.parts.as_slice() {
            let first = first.as_deref().unwrap_or_default();
            reading.source.path = format!("{} ({first})", reading.source.path);
        }
    }
}

/// Names columns that the launch table does not have.
fn tell_unknown(reading: &mut Reading<'_>, unknown: &[String]) {
    if unknown.is_empty() {
        return;
    }
    // pandas writes its index without a title.
    let titles = unknown.iter().map(String::as_str);
    let titles = titles.map(|title| if title.is_empty() { "one without a title" } else { title });
    let titles: Vec<&str> = titles.collect();
    let clue = format!("columns left alone: {}", titles.join(", "));
    if !reading.source.clues.contains(&clue) {
        reading.source.clues.push(clue);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::{Input, Options, read, read_text};
    use crate::model::Profile;

    fn profile(text: &str) -> Profile {
        read_text("table.csv", text.to_owned().leak(), &Options::default()).unwrap()
    }

    const HEADER: &str = "source,source_format,kernel,device_ordinal,launches,grid_x,\
                          threads_per_block,duration_s,duration_s_origin,mood\n";

    #[test]
    fn launches_of_several_exports_stay_apart() {
        let rows = "a.csv,ncu-wide,k,0,1,8,256,0.5,measured,\n\
                    b.csv,mapped,k,0,2,8,256,0.25,derived,x\n\
                    a.csv,ncu-wide,k,0,1,8,256,,,\n";
        let found = profile(&format!("{HEADER}{rows}"));
        let sources: Vec<(&str, &str, u64, u64)> = found
            .sources
            .iter()
            .map(|one| (one.path.as_str(), one.format.as_str(), one.rows, one.launches))
            .collect();
        assert_eq!(
            sources,
            [("table.csv (a.csv)", "ncu-wide", 2, 2), ("table.csv (b.csv)", "mapped", 1, 2)]
        );
        assert_eq!(found.sources[0].profiler, Profiler::NsightCompute);
        let of =
            |at: usize| found.launch(at).duration().map(|(time, origin)| (time.get(), origin.kind));
        assert_eq!(of(0), Some((0.5, OriginKind::Measured)));
        assert_eq!((of(1), of(2)), (Some((0.25, OriginKind::Derived)), None));
        assert_eq!(found.sources[0].clues, ["columns left alone: mood"]);
        assert_eq!(found.sources[0].columns.get("duration_s"), Some(&1));
    }

    #[test]
    fn a_faulty_cell_is_missing_and_a_faulty_row_is_left_out() {
        let rows = "a,ncu-wide,k,0,1,8,256,soon,measured,\n\
                    a,ncu-wide,k,0,0,8,256,0.5,measured,\n\
                    a,ncu-wide,k,0\n";
        let found = profile(&format!("{HEADER}{rows}"));
        assert_eq!((found.launches.len(), found.sources[0].skips.count), (1, 3));
        assert!(found.launch(0).duration().is_none());
        let lines: Vec<u64> = found.sources[0].skips.first.iter().map(|skip| skip.line).collect();
        assert_eq!(lines, [2, 3, 4]);
        assert_eq!(found.sources[0].skips.first[0].column.as_deref(), Some("duration_s"));
    }

    #[test]
    fn a_faulty_row_of_another_export_counts_where_its_fault_does() {
        let rows = "a,ncu-wide,k,0,1,8,256,0.5,measured,\n\
                    b,ncu-wide,k,0,0,8,256,0.5,measured,\n";
        let found = profile(&format!("{HEADER}{rows}"));
        assert_eq!(found.sources.len(), 1);
        assert_eq!((found.sources[0].rows, found.sources[0].skips.count), (2, 1));
    }

    /// Two tables one after the other, the second with its columns in another order: 0.5 s and 0.25 s.
    #[test]
    fn a_header_inside_the_table_names_the_columns_below_it() {
        let rows = "a.csv,ncu-wide,k,0,1,8,256,0.5,measured,\n";
        let other = "kernel,duration_s,duration_s_origin,source,source_format,device_ordinal,\
                     launches,grid_x,threads_per_block\nk,0.25,measured,a.csv,ncu-wide,0,3,8,256\n";
        let found = profile(&format!("{HEADER}{rows}{HEADER}{rows}{other}"));
        let launches: Vec<_> = found
            .iter()
            .map(|one| (one.kernel(), one.head.count, one.value(Quantity::Duration)))
            .collect();
        assert_eq!(launches, [("k", 1, Some(0.5)), ("k", 1, Some(0.5)), ("k", 3, Some(0.25))]);
        let source = &found.sources[0];
        assert_eq!((source.other_lines, source.skips.count, source.rows), (2, 0, 3));
        assert_eq!(source.columns["duration_s"], 3);
    }

    /// Metadata before and behind the launches.
    #[test]
    fn json_tells_how_a_quantity_was_derived_and_by_which_schema() {
        let text = |schema: &str, is_behind: bool| {
            let metadata = format!(
                "\"metadata\": {{\"schema\": \"{schema}\", \"column:duration_s\": \"[s] end - start\"}}"
            );
            let launches = "\"launches\": [{\"kernel\": \"k\", \"duration_s\": 0.5}]";
            if is_behind {
                format!("{{{launches}, \"schema\": \"rooflint/launches/\", {metadata}}}")
            } else {
                format!("{{{metadata}, {launches}}}")
            }
        };
        for is_behind in [false, true] {
            let found = profile(&text(SCHEMA, is_behind));
            let launch = found.launch(0);
            let (time, origin) = launch.duration().unwrap();
            assert_eq!((time.get(), origin.formula.as_str()), (0.5, "end - start"));
            let later = text("rooflint/launches/99", is_behind).leak();
            let error = read_text("later.json", later, &Options::default()).unwrap_err();
            assert!(error.to_string().contains("\"rooflint/launches/99\""), "{error}");
        }
    }

    /// What CSV has no place for: how bytes were derived, and that the profiler reported an error.
    #[cfg(feature = "frames")]
    #[test]
    fn parquet_tells_the_same_of_its_figures_as_json() {
        let export = "==ERROR== An error occurred\n\
            ID,Process ID,Kernel Name,Grid Size,Block Size,Device,CC,gpu__time_duration.sum,dram__bytes_read.sum,dram__bytes_write.sum\n\
            ,,,,,,,ns,byte,byte\n0,7,k,\"(1, 1, 1)\",\"(32, 1, 1)\",0,8.0,1000,300,200\n";
        let found = read_text("err.csv", export, &Options::default()).unwrap();
        let table = crate::table::Table::of(&found);
        let parquet = crate::table::frames::parquet(&table).unwrap();
        let told = |name: &str, bytes: &[u8]| {
            let input = Input::Memory(name.to_owned(), bytes.into());
            let found = read(&[input], &Options::default()).unwrap();
            let (bytes, origin) = found.launch(0).dram_bytes().unwrap();
            (found.checks.clone(), bytes.get(), origin.formula.clone())
        };
        let error = "the profiler reported an error, so launches may be missing: An error occurred";
        let formula = "dram__bytes_read.sum + dram__bytes_write.sum".to_owned();
        for (name, bytes) in [("t.json", table.json().into_bytes()), ("t.parquet", parquet)] {
            let checks = vec![format!("{name}: err.csv: {error}")];
            assert_eq!(told(name, &bytes), (checks, 500.0, formula.clone()));
        }
    }

    fn json(launches: &str) -> Result<Profile, String> {
        let text = format!("{}\"launches\": {launches}}}", metadata());
        let read = read_text("table.json", text.leak(), &Options::default());
        read.map_err(|error| error.to_string())
    }

    /// Columns come as launches have them: in another order, with others between them, as null.
    #[test]
    fn launches_of_a_document_need_not_have_the_same_columns() {
        let found = json(
            "[{\"kernel\": \"a\", \"duration_s\": null, \"mood\": \"\", \"launches\": 2},
              {\"dram_bytes\": 64, \"duration_s\": 0.25, \"zest\": [1], \"kernel\": \"=b\"},
              {\"launches\": 0, \"age\": 1}, {\"kernel\": \"c\", \"duration_s\": \"soon\"}]",
        )
        .unwrap();
        let launches: Vec<_> = found
            .iter()
            .map(|one| {
                (
                    one.kernel(),
                    one.head.count,
                    one.value(Quantity::Duration),
                    one.dram_bytes().is_some(),
                )
            })
            .collect();
        assert_eq!(
            launches,
            [("a", 2, None, false), ("=b", 1, Some(0.25), true), ("c", 1, None, false)]
        );
        let source = &found.sources[0];
        assert_eq!(source.dialect, "launch table, 7 columns");
        assert_eq!(source.clues, ["columns left alone: age, mood, zest"]);
        let columns: Vec<(&str, u64)> =
            source.columns.iter().map(|(name, filled)| (name.as_str(), *filled)).collect();
        assert_eq!(
            columns,
            [("dram_bytes", 1), ("duration_s", 2), ("kernel", 3), ("launches", 1), ("zest", 1)]
        );
        let skips: Vec<(u64, &str)> =
            source.skips.first.iter().map(|skip| (skip.line, skip.reason.as_str())).collect();
        assert_eq!(skips, [(3, "a row needs at least one launch"), (4, "not a number")]);
    }

    /// The first of two files ends behind a launch on another GPU.
    #[test]
    fn nothing_is_left_of_a_document_that_breaks_off() {
        let launch = |device: &str| {
            let of = "\"kernel\": \"k\", \"duration_s\": 1e-6";
            format!("{}\"launches\": [{{{of}, \"device\": \"{device}\"}}", metadata())
        };
        let folder = tempfile::tempdir().unwrap();
        let files = [("a.json", launch("A100")), ("b.json", launch("H100") + "]}")];
        let inputs = files.map(|(name, text)| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            Input::Found(path)
        });
        let found = read(&inputs, &Options::default()).unwrap();
        assert_eq!((found.launches.len(), found.devices.len()), (1, 1));
        assert_eq!(found.devices[0].name.as_deref(), Some("H100"));
    }

    /// A person emptied a cell: the launch is neither the second one nor a copy of it.
    #[test]
    fn a_launch_that_lost_its_number_is_one_of_its_own() {
        let columns = "source,source_format,kernel,process,device_ordinal,launches,grid_x,threads_per_block,duration_s,id";
        let row = |id: &str| format!("a.csv,ncu-wide,k,1,0,1,8,256,0.5,{id}\n");
        for ids in [["1", "", "2", "3"], ["", "1", "2", "3"], ["", "", "1", "2"]] {
            let found = profile(&format!("{columns}\n{}", ids.map(row).concat()));
            assert_eq!((found.launches.len(), found.sources[0].repeated), (4, 0), "{ids:?}");
        }
    }

    /// How a document with metadata begins.
    fn metadata() -> String {
        format!("{{\"metadata\": {{\"schema\": \"{SCHEMA}\"}}, ")
    }

    #[test]
    fn a_document_that_is_no_table_is_refused() {
        for (launches, reason) in [
            ("[{\"kernel\": \"a\", \"kernel\": \"b\"}]", "kernel"),
            ("[{\"kernel\": \"a\"}", "table.json:1: damaged launch table"),
            ("[7]", "damaged launch table"),
            ("[], \"launches\": []", "launches"),
            ("[]}, 7", "damaged launch table"),
        ] {
            let error = json(launches).unwrap_err();
            assert!(error.contains(reason), "{launches}: {error}");
        }
        let error =
            read_text("t.json", "{\"schema\": \"rooflint/launches/1\"}", &Options::default());
        let error = error.unwrap_err().to_string();
        assert!(error.contains("launches"), "{error}");
    }
}
