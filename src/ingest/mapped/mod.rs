//! Any CSV whose columns a mapping names.
//!
//! A mapping is a small TOML file. Nothing is guessed: units, precisions and the meaning of rows that
//! stand for several launches are written down, and a column that is not there is an error.
//!
//! ```toml
//! device = "NVIDIA H100 80GB HBM3"   # all launches ran on it; [columns] device where a column tells
//! delimiter = ";"                    # a comma if left out
//! decimal = ","                      # the decimal sign; found out if left out
//!
//! [columns]
//! kernel = "name"                                  # needed
//! time = { column = "dur_us", unit = "us" }        # needed: s, ms, us, ns
//! bytes = { column = "mb", unit = "MB" }           # of device memory: B … TB, KiB … TiB, or /s
//! flops = [                                        # one table, or several of different precisions
//!     { column = "gflop", unit = "GFLOP", precision = "bf16_matrix" },
//!     { column = "rest", unit = "TFLOP/s", precision = "fp32_vector", kind = "algorithmic" },
//! ]
//! launches = { column = "count", values = "total" } # a row stands for several; or "average"
//! grid = "grid"                                    # `128,1,1`, `(128, 1, 1)`, `128x1x1`, or a number
//! block = "block"
//! operator = "layer"                               # tells launches of one kernel apart
//! device = "gpu"                                   # a name or a number
//! stream = "stream"
//! id = "index"
//!
//! [quantities]                                     # anything else that is measured, by canonical name
//! achieved_occupancy = { column = "occ", unit = "%" }
//! ```
//!
//! An amount per second is multiplied by the time of its row. Values are measured unless their `kind`
//! is `algorithmic`, counted from shapes. Here a zero is a zero; only a time of zero is missing.

mod evidence;
mod mapping;

pub use mapping::Mapping;

use evidence::evidence;
use mapping::Value;

use super::rows::{Found, Quotes, Row, Rows, fields, unquoted};
use super::{IngestError, Numerals, Reading};
use crate::model::{
    DeviceHint, Dim3, Head, HintId, Origin, OriginId, OriginKind, Quantity, Shape, Values,
};

/// Reads a CSV by its mapping.
pub(super) fn read(reading: &mut Reading<'_>, mapping: &Mapping) -> Result<(), IngestError> {
    "mapped".clone_into(&mut reading.source.format);
    reading.source.dialect = format!("columns named by {}", mapping.path);
    let (header_line, header) = header(reading, mapping)?;
    let mut line = Vec::new();
    for _ in 0..header_line {
        line.clear();
        reading.read_line(&mut line)?;
    }
    reading.source.other_lines += header_line - 1;
    let evidence = evidence(reading, mapping, header_line, &header);
    let numerals = reading.numerals(&evidence, false)?;

    let mut table = Table::new(reading, mapping, &header, numerals);
    let mut rows = Rows::new(reading, Quotes::Doubled, mapping.delimiter, header.len());
    while let Some(found) = rows.next(reading)? {
        if found != Found::Blank
            && let Some(header) = table.header(rows.row())
        {
            reading.source.other_lines += 1;
            table.count(reading);
            rows.set_width(header.len());
            table = Table::new(reading, mapping, &header, numerals);
            continue;
        }
        match found {
            Found::Row => table.launch(reading, rows.row())?,
            Found::Blank => reading.other_line()?,
            Found::Misfit { cells, open } => {
                reading.source.rows += 1;
                let reason = if open {
                    "a quoted field has no end".to_owned()
                } else {
                    format!("row has {cells} fields, the header {}", header.len())
                };
                reading.skip(rows.row().line(), None, &rows.row().whole(), reason)?;
            }
        }
    }
    table.count(reading);
    if mapping.launches.as_ref().is_some_and(|launches| launches.totals) {
        reading
            .source
            .clues
            .push("rows hold sums over several launches; they are read as averages".to_owned());
    }
    Ok(())
}

/// The line that has the most of the mapped columns, and its fields.
///
/// # Errors
/// When it lacks one, or has one twice.
fn header(reading: &Reading<'_>, mapping: &Mapping) -> Result<(u64, Vec<String>), IngestError> {
    let columns = mapping.columns();
    let mut best: Option<(usize, u64, Vec<String>)> = None;
    for (line, text) in (1..).zip(reading.sample.lines()) {
        let fields = fields(text, mapping.delimiter);
        let known =
            columns.iter().filter(|column| fields.iter().any(|field| field == *column)).count();
        // Without any match the first line that looks like a table is shown.
        let better = best.as_ref().is_none_or(|(most, _, _)| known > *most);
        if better && (known > 0 || fields.len() > 1) {
            best = Some((known, line, fields));
        }
        if known == columns.len() {
            break;
        }
    }
    let Some((_, line, header)) = best else {
        return Err(reading
            .error(format!(
                "no table found: no line has fields separated by {:?}",
                char::from(mapping.delimiter)
            ))
            .help("set delimiter = \";\" (or another character) in the mapping"));
    };
    for column in &columns {
        match header.iter().filter(|field| field == column).count() {
            1 => {}
            0 => {
                let nearest = header
                    .iter()
                    .map(|field| {
                        (strsim::jaro_winkler(&field.to_lowercase(), &column.to_lowercase()), field)
                    })
                    .max_by(|a, b| a.0.total_cmp(&b.0))
                    .filter(|(similarity, _)| *similarity > 0.7);
                let error = reading
                    .error(format!(
                        "no column {column:?}, which {} names; the header has {}",
                        mapping.path,
                        header
                            .iter()
                            .map(|field| format!("{field:?}"))
                            .collect::<Vec<_>>()
                            .join(", ")
                    ))
                    .line(line);
                return Err(match nearest {
                    Some((_, field)) => error.help(format!("did you mean {field:?}?")),
                    None => {
                        error.help(format!("name the columns of this file in {}", mapping.path))
                    }
                });
            }
            count => {
                return Err(reading
                    .error(format!(
                        "the header has {count} columns {column:?}, which {} names",
                        mapping.path
                    ))
                    .line(line)
                    .help("rename all but one of them"));
            }
        }
    }
    Ok((line, header))
}

/// A table being turned into launches.
struct Table<'a> {
    mapping: &'a Mapping,
    numerals: Numerals,
    kernel: usize,
    /// The quantities with their positions; the time first.
    values: Vec<(&'a Value, usize, OriginId)>,
    launches: Option<usize>,
    /// Whether values are sums over the launches of a row.
    totals: bool,
    device: Option<usize>,
    grid: Option<usize>,
    block: Option<usize>,
    operator: Option<usize>,
    stream: Option<usize>,
    id: Option<usize>,
    hints: Vec<(Vec<u8>, HintId)>,
    /// Columns in use, where they are, and how many launches have a value there.
    filled: Vec<(&'a str, usize, u64)>,
    read: Values,
}

impl<'a> Table<'a> {
    fn new(
        reading: &mut Reading<'_>,
        mapping: &'a Mapping,
        header: &[String],
        numerals: Numerals,
    ) -> Self {
        // All of them are there: `header` has seen to it.
        let at = |column: &str| header.iter().position(|field| field == column).unwrap_or_default();
        let optional = |column: &Option<String>| column.as_deref().map(at);
        let launches = mapping.launches.as_ref();
        let totals = launches.is_some_and(|launches| launches.totals);
        let time = &mapping.values[0].column;
        let values = mapping.values.iter().map(|value| {
            let mut formula = value.column.clone();
            let mut kind = value.kind;
            if value.rate {
                formula = format!("{formula} × {time}");
            }
            if let Some(launches) = launches.filter(|_| totals && value.quantity.is_additive()) {
                formula = format!("{formula} / {}", launches.column);
                kind = kind.max(OriginKind::Derived);
            }
            (value, at(&value.column), reading.origin(&Origin::new(kind, formula)))
        });
        let plain = &mapping.plain;
        Self {
            values: values.collect(),
            mapping,
            numerals,
            kernel: at(&mapping.kernel),
            launches: launches.map(|launches| at(&launches.column)),
            totals,
            device: optional(&plain.device),
            grid: optional(&plain.grid),
            block: optional(&plain.block),
            operator: optional(&plain.operator),
            stream: optional(&plain.stream),
            id: optional(&plain.id),
            hints: Vec::new(),
            filled: mapping.columns().into_iter().map(|column| (column, at(column), 0)).collect(),
            read: Values::default(),
        }
    }

    /// The fields of a row that is a header: concatenated tables have several.
    fn header(&self, row: &Row) -> Option<Vec<String>> {
        // All rows pass here: one byte tells most of them.
        let time = self.values.first().map_or(&b""[..], |(_, at, _)| row.cell(*at));
        if time.first().is_some_and(u8::is_ascii_digit) {
            return None;
        }
        let fields = fields(&row.whole(), self.mapping.delimiter);
        let names = |column: &&str| fields.iter().filter(|field| field == column).count() == 1;
        self.mapping.columns().iter().all(names).then_some(fields)
    }

    /// Leaves how many rows have a value in which column.
    fn count(&self, reading: &mut Reading<'_>) {
        for (column, _, filled) in &self.filled {
            *reading.source.columns.entry((*column).to_owned()).or_default() += filled;
        }
    }

    fn launch(&mut self, reading: &mut Reading<'_>, row: &Row) -> Result<(), IngestError> {
        reading.source.rows += 1;
        let name = unquoted(row.cell(self.kernel));
        if name.is_empty() {
            // Rows of sums have no name.
            return reading.skip(
                row.line(),
                Some(&self.mapping.kernel),
                &row.whole(),
                "no kernel name",
            );
        }
        let count = match self.launches {
            None => 1,
            Some(at) => match self.whole(row, at).filter(|count| *count > 0) {
                Some(count) => count,
                None => return self.skip(reading, row, at, "not a number of launches"),
            },
        };
        if !self.read_values(reading, row, count)? {
            return Ok(());
        }
        for (_, at, filled) in &mut self.filled {
            *filled += u64::from(!matches!(row.cell(*at), b"" | b"-" | b"n/a" | b"na" | b"nan"));
        }
        let text = |at: Option<usize>| at.map_or(&b""[..], |at| row.cell(at));
        let number = |at: Option<usize>| at.and_then(|at| self.whole(row, at));
        let id = number(self.id)
            .unwrap_or_else(|| u32::try_from(reading.source.rows).unwrap_or(u32::MAX));
        let head = Head {
            id,
            name: reading.name(&name),
            operator: reading.name(&unquoted(text(self.operator))),
            shape: shape(text(self.grid), text(self.block)),
            stream: number(self.stream),
            device: self.hint(reading, text(self.device)),
            count,
            ..Head::default()
        };
        reading.push(head, &self.read);
        Ok(())
    }

    /// Reads the quantities of a row; false if it was skipped because its time cannot be read.
    fn read_values(
        &mut self,
        reading: &mut Reading<'_>,
        row: &Row,
        count: u32,
    ) -> Result<bool, IngestError> {
        let mut read = std::mem::take(&mut self.read);
        read.clear();
        for (value, at, origin) in &self.values {
            let is_time = value.quantity == Quantity::Duration;
            let cell = row.cell(*at);
            let reason = match self.numerals.parse(cell) {
                Ok(Some(number)) if number >= 0.0 => {
                    let number = number * value.scale;
                    let number = match (value.rate, read.get(Quantity::Duration)) {
                        // The time is that of one launch already.
                        (true, time) => time.map(|time| number * time),
                        // A launch takes time: 0 is what a lost measurement looks like.
                        (false, _) if is_time && number == 0.0 => None,
                        (false, _) if self.totals && value.quantity.is_additive() => {
                            Some(number / f64::from(count))
                        }
                        (false, _) => Some(number),
                    };
                    if let Some(number) = number {
                        read.set(value.quantity, number, *origin);
                    }
                    continue;
                }
                Ok(Some(_)) => "negative",
                Ok(None) if !(is_time && cell.eq_ignore_ascii_case(b"nan")) => continue,
                Ok(None) | Err(_) => "not a number",
            };
            self.skip(reading, row, *at, reason)?;
            if is_time {
                return Ok(false);
            }
        }
        self.read = read;
        Ok(true)
    }

    fn skip(
        &self,
        reading: &mut Reading<'_>,
        row: &Row,
        at: usize,
        reason: &str,
    ) -> Result<(), IngestError> {
        let column =
            self.filled.iter().find(|(_, known, _)| *known == at).map(|(column, _, _)| *column);
        reading.skip(row.line(), column, &row.text(at), reason)
    }

    /// A whole number of 32 bits.
    fn whole(&self, row: &Row, at: usize) -> Option<u32> {
        let number = self.numerals.parse(row.cell(at)).ok()??;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked first"
        )]
        (number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number))
            .then_some(number as u32)
    }

    /// The device: the mapping's name, and what the column says.
    fn hint(&mut self, reading: &mut Reading<'_>, text: &[u8]) -> HintId {
        if let Some((_, hint)) = self.hints.iter().find(|(known, _)| known == text) {
            return *hint;
        }
        let said = String::from_utf8_lossy(text).into_owned();
        let mut hint = DeviceHint::default();
        if let Some(name) = &self.mapping.device {
            hint.name = Some(name.clone());
            hint.name_from = Some(self.mapping.path.clone());
        }
        if said.bytes().all(|byte| byte.is_ascii_digit()) {
            hint.ordinal = Some(said).filter(|ordinal| !ordinal.is_empty());
        } else {
            hint.name = Some(said);
            hint.name_from.clone_from(&self.mapping.plain.device);
        }
        let id = reading.hint(hint);
        self.hints.push((text.to_vec(), id));
        id
    }
}

/// Grid and block, each as three extents in some spelling, or as their product.
fn shape(grid: &[u8], block: &[u8]) -> Shape {
    let extents = |cell: &[u8]| {
        Dim3::parse(&String::from_utf8_lossy(cell).replace(['x', 'X', '×', '*'], ","))
    };
    let product = |cell: &[u8]| std::str::from_utf8(cell).ok()?.parse::<u64>().ok();
    let mut shape = Shape::new(extents(grid), extents(block));
    shape.blocks = shape.blocks.or_else(|| product(grid));
    shape.threads_per_block = shape.threads_per_block.or_else(|| product(block));
    shape
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::{Input, Options};
    use crate::model::{Pipe, Profile};

    fn read(csv: &str, map: &str) -> Result<Profile, String> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("table.csv");
        std::fs::write(&path, csv).unwrap();
        let map = Some(Mapping::from_toml(map, "map.toml").unwrap());
        let options = Options { map, ..Options::default() };
        crate::ingest::read(&[Input::Named(path)], &options).map_err(|error| {
            let text = format!("{error} | {}", error.next_step().unwrap_or_default());
            text.replace(&format!("{}/", directory.path().display()), "")
        })
    }

    const NEEDED: &str = "[columns]\nkernel = 'name'\ntime = { column = 'dur', unit = 'us' }\n";

    #[test]
    fn columns_become_quantities_in_si_units() {
        let profile = read(
            "run 7, kept for later\nname,gpu,dur,tflops,mb,occ,grid,block,n\n\
             \"gemm<a, \"\"b\"\">\",1,10,2,3,50,\"(128, 1, 1)\",256x1x1,4\n",
            &format!(
                "device = 'NVIDIA H100 PCIe'\n{NEEDED}bytes = {{ column = 'mb', unit = 'MB' }}\n\
                 flops = {{ column = 'tflops', unit = 'TFLOP/s', precision = 'fp16_matrix' }}\n\
                 device = 'gpu'\ngrid = 'grid'\nblock = 'block'\nid = 'n'\n\
                 [quantities]\nachieved_occupancy = {{ column = 'occ', unit = '%' }}\n"
            ),
        )
        .unwrap();
        let launch = profile.launch(0);
        assert_eq!(launch.kernel(), "gemm<a, \"b\">");
        assert_eq!(launch.value(Quantity::Duration), Some(10.0 * 1e-6));
        assert_eq!(launch.value(Quantity::DramBytes), Some(3e6));
        let (flops, origin) = launch.get(Quantity::Work(Pipe::Fp16Matrix)).unwrap();
        assert_eq!(flops, 2e12 * (10.0 * 1e-6));
        assert_eq!((origin.kind, origin.formula.as_str()), (OriginKind::Derived, "tflops × dur"));
        assert_eq!(launch.value(Quantity::AchievedOccupancy), Some(0.5));
        assert_eq!(launch.head.shape.blocks, Some(128));
        assert_eq!(launch.head.shape.threads_per_block, Some(256));
        assert_eq!(launch.head.id, 4);
        let device = &profile.devices[0];
        assert_eq!(device.name.as_deref(), Some("NVIDIA H100 PCIe"));
        assert_eq!(device.ordinal.as_deref(), Some("1"));
        let source = &profile.sources[0];
        assert_eq!((source.format.as_str(), source.rows, source.other_lines), ("mapped", 1, 1));
        assert_eq!(source.columns["occ"], 1);
    }

    #[test]
    fn sums_over_several_launches_become_averages() {
        let map = format!(
            "delimiter = ';'\n{NEEDED}bytes = {{ column = 'kb', unit = 'kB', kind = 'algorithmic' }}\n\
             launches = {{ column = 'n', values = 'total' }}\ngrid = 'blocks'\n"
        );
        let profile =
            read("name;dur;kb;n;blocks\na;1,5;3,0;3;80\nb;4,25;1,0;0;80\n", &map).unwrap();
        assert_eq!(profile.launches.len(), 1);
        let launch = profile.launch(0);
        assert_eq!(launch.head.count, 3);
        assert_eq!(launch.value(Quantity::Duration), Some(1.5e-6 / 3.0));
        let (bytes, origin) = launch.get(Quantity::DramBytes).unwrap();
        assert_eq!(bytes, 1000.0);
        assert_eq!((origin.kind, origin.formula.as_str()), (OriginKind::Algorithmic, "kb / n"));
        assert_eq!(launch.head.shape.blocks, Some(80));
        let skip = &profile.sources[0].skips.first[0];
        assert_eq!((skip.line, skip.column.as_deref(), skip.text.as_str()), (3, Some("n"), "0"));
        let averages = map.replace("total", "average");
        let profile = read("name;dur;kb;n;blocks\na;1,5;3,0;3;80\n", &averages).unwrap();
        assert_eq!(profile.launch(0).value(Quantity::DramBytes), Some(3000.0));
    }

    #[test]
    fn a_spreadsheet_is_read_by_its_mapping() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/mapped");
        let text = std::fs::read_to_string(folder.join("h100-benchmark.toml")).unwrap();
        let map = Some(Mapping::from_toml(&text, "h100-benchmark.toml").unwrap());
        let options = Options { map, ..Options::default() };
        let csv = Input::Named(folder.join("h100-benchmark.csv"));
        let profile = crate::ingest::read(&[csv], &options).unwrap();
        assert_eq!(profile.launches.len(), 3);
        let [flash, product, gelu] = [0, 1, 2].map(|row| profile.launch(row));
        assert_eq!(flash.kernel(), "flash_fwd<128, \"causal\">");
        assert_eq!(profile.names.get(flash.head.operator), "block0.attn");
        assert_eq!(flash.value(Quantity::Duration), Some(2874.6 * 1e-6 / 12.0));
        assert_eq!(product.value(Quantity::Work(Pipe::Bf16Matrix)), Some(3298.534 * 1e9 / 24.0));
        assert_eq!(product.head.shape.blocks, Some(132));
        assert_eq!(gelu.value(Quantity::Work(Pipe::Bf16Matrix)), None);
        assert_eq!(
            gelu.value(Quantity::Work(Pipe::Fp32Vector)),
            Some(4.2 * 1e12 * (318.6 * 1e-6 / 12.0))
        );
        assert_eq!(gelu.value(Quantity::AchievedOccupancy), Some(88.1 * 0.01));
        let source = &profile.sources[0];
        assert_eq!(source.numerals, "decimal comma, grouped by points");
        assert_eq!((source.rows, source.skips.count, source.other_lines), (4, 1, 1));
    }

    #[test]
    fn cells_that_cannot_be_read_are_counted() {
        let map = format!("{NEEDED}bytes = {{ column = 'b', unit = 'B' }}\n");
        let csv = "name,dur,b\na,1,1 GB?\nb,-1,1\nc,fast,1\nd,nan,1\n,9,9\ne,0,0\nf,2\n";
        let profile = read(csv, &map).unwrap();
        assert_eq!(profile.launches.len(), 2);
        assert_eq!(profile.launch(0).value(Quantity::DramBytes), None);
        assert_eq!(profile.launch(1).value(Quantity::Duration), None);
        assert_eq!(profile.launch(1).value(Quantity::DramBytes), Some(0.0));
        let skips = &profile.sources[0].skips;
        let told: Vec<_> = skips
            .first
            .iter()
            .map(|skip| format!("{}: {}: {}", skip.line, skip.text, skip.reason))
            .collect();
        assert_eq!(
            told,
            [
                "2: 1 GB?: not a number",
                "3: -1: negative",
                "4: fast: not a number",
                "5: nan: not a number",
                "6: ,9,9: no kernel name",
                "8: f,2: row has 2 fields, the header 3",
            ],
        );
    }

    #[test]
    fn a_header_inside_the_table_names_the_columns_below_it() {
        let map = format!("{NEEDED}bytes = {{ column = 'b', unit = 'B' }}\n");
        let csv = "name,dur,b\na,1,7\nname,dur,b\na,2,7\nb,note,dur,name\n5,x,3,c\n";
        let profile = read(csv, &map).unwrap();
        let launches: Vec<_> = profile
            .iter()
            .map(|one| {
                (one.kernel(), one.value(Quantity::Duration), one.value(Quantity::DramBytes))
            })
            .collect();
        assert_eq!(
            launches,
            [
                ("a", Some(1e-6), Some(7.0)),
                ("a", Some(2.0 * 1e-6), Some(7.0)),
                ("c", Some(3.0 * 1e-6), Some(5.0))
            ]
        );
        let source = &profile.sources[0];
        assert_eq!((source.other_lines, source.skips.count, source.columns["b"]), (2, 0, 3));
    }

    #[test]
    fn a_missing_column_is_named_with_the_nearest() {
        let map = format!("{NEEDED}bytes = {{ column = 'bytes', unit = 'B' }}\n");
        assert_eq!(
            read("# made today\nname,dur,Byte\na,1,2\n", &map).unwrap_err(),
            "table.csv:2: no column \"bytes\", which map.toml names; the header has \"name\", \"dur\", \"Byte\" | did you mean \"Byte\"?",
        );
        assert_eq!(
            read("name,dur,bytes,dur\n", &map).unwrap_err(),
            "table.csv:1: the header has 2 columns \"dur\", which map.toml names | rename all but one of them",
        );
        assert!(
            read("one word\n", &map).unwrap_err().contains("no line has fields separated by ','")
        );
    }
}
