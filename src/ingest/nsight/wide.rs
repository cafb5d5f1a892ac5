//! Nsight Compute raw page: one row per launch, one column per metric, units in the second row.

use std::collections::{BTreeMap, VecDeque};

use super::header::{Map, decimals, evidence, first_rows, is_header};
use super::interleaved::Turns;
use super::row::{RESCALED, Row, Seen, TWICE, is_same};
use super::scales::{
    Column, Decimals, Scale, add_steps, count, has_numbers, scale, style, take_back_rounded,
};
use super::{BEST, Catalog, GRAPH, Preamble, Whole, complete_shape};
use crate::ingest::beside::Beside;
use crate::ingest::part::Part;
use crate::ingest::split::{Understand, fields};
use crate::ingest::{Format, IngestError, Reading, Record, Sample, Sniff};
use crate::model::{Profiler, Quantity};

pub(super) const FORMAT: Format = Format {
    name: "ncu-wide",
    profiler: Profiler::NsightCompute,
    summary: "raw page: one row per launch, one column per metric, a row of units",
    command: BEST,
    sniff,
    read,
};

fn sniff(sample: &Sample) -> Sniff {
    match sample.header(|line| line.contains("Kernel Name"), is_header) {
        Some((header, _)) => {
            Sniff::Yes(format!("a header of {} columns with ID and Kernel Name", header.len()))
        }
        None => Sniff::No("no header with ID and Kernel Name and without Metric Name".to_owned()),
    }
}

/// What is read of a raw page, row by row.
struct Page {
    map: Map,
    catalog: Catalog,
    preamble: Preamble,
    row: Row,
    /// The cells that describe the device of a launch.
    described: Vec<u8>,
    /// Whether a row changed what those after it mean.
    has_turned: bool,
    turns: Turns,
    /// The decimals of the tables that come next.
    tables: VecDeque<Decimals>,
    /// Those of the tables so far.
    decimals: Decimals,
    /// The last printed digits in the tables so far.
    steps: BTreeMap<Quantity, f64>,
}

/// What the rows of another thread add to what is known of the whole page.
struct More {
    /// Launches with a value, by column.
    launches: Vec<u64>,
    seen: Seen,
}

fn read(reading: &mut Reading<'_>) -> Result<(), IngestError> {
    let mut preamble = Preamble::default();
    let header = reading.header(
        |line| line.contains("Kernel Name") && is_header(&fields(line)),
        |line| preamble.line(line),
    )?;
    let mut catalog = Catalog::default();
    let map = Map::new(&header, &mut catalog);
    let first = first_rows(&reading.sample);
    let evidence = evidence(&first, &map, &mut catalog);
    let numerals = reading.numerals(&evidence, true)?;
    let tables = decimals(&first, &map, &mut catalog, numerals);
    let mut page = Page::new(map, catalog, preamble, Row::new(numerals));
    page.tables = tables;
    page.next_table();
    let mut records = reading.records();
    loop {
        if records.is_large() {
            let is_strict = reading.is_strict();
            records.share(|thread| page.understand(thread, is_strict));
        }
        if let Some(part) = records.part(|_| true)? {
            page.join(reading, part)?;
        } else if let Some(record) = records.next()? {
            page.record(reading, &record)?;
            if std::mem::take(&mut page.has_turned) {
                records.read_alone();
            }
        } else {
            page.turns.check(reading)?;
            page.finish(reading);
            return Ok(());
        }
    }
}

impl Page {
    fn new(map: Map, catalog: Catalog, preamble: Preamble, row: Row) -> Self {
        Self {
            map,
            catalog,
            preamble,
            row,
            described: Vec::new(),
            has_turned: false,
            turns: Turns::default(),
            tables: VecDeque::new(),
            decimals: Decimals::default(),
            steps: BTreeMap::new(),
        }
    }

    /// Takes the decimals of the table that begins; of metrics that it shows none of, those of a table before it.
    fn next_table(&mut self) {
        self.decimals.take(self.tables.pop_front().unwrap_or_default());
        self.decimals.tell(&mut self.map.columns);
    }

    fn record(
        &mut self,
        reading: &mut Reading<'_>,
        record: &Record<'_>,
    ) -> Result<(), IngestError> {
        let line = record.line();
        if self.preamble.takes(reading, record) {
            self.has_turned = true;
            return Ok(());
        }
        let Map { identity, attributes, columns, kinds, width, has_twins } = &mut self.map;
        let row = &mut self.row;
        if let Some(header) = identity.header(record, is_header) {
            reading.source.other_lines += 1;
            count(columns, reading);
            add_steps(&mut self.steps, columns);
            self.map = Map::new(&header, &mut self.catalog);
            self.next_table();
            self.has_turned = true;
        } else if record.len() == *width
            && identity.is_blank(record)
            && record.get(identity.kernel).is_none_or(<[u8]>::is_empty)
            && !has_numbers(columns, record)
        {
            add_steps(&mut self.steps, columns);
            scale(columns, record);
            self.turns.turn(reading, columns, line);
            row.units = style(columns, record);
            self.has_turned = true;
        } else if !record.fits(*width..=*width) {
            reading.source.rows += 1;
            reading.misfit(line, record, *width)?;
        } else if identity.key(record).is_none() {
            reading.source.rows += 1;
            identity.skip(reading, record, line)?;
        } else if let Some(whole) = identity.whole(record) {
            reading.source.rows += 1;
            match whole {
                Whole::Graph => reading.skip(line, Some("Kernel Name"), "graph", GRAPH)?,
                Whole::Range => row.seen.ranges += 1,
            }
        } else {
            reading.source.rows += 1;
            row.raw.clear();
            row.raw.saw_as(kinds);
            self.has_turned |= cells(row, reading, columns, record, line)?;
            if *has_twins {
                twins(row, reading, columns, record, line)?;
            }
            take_back_rounded(row, columns);
            let numerals = row.numerals;
            let parse = |cell: &[u8]| numerals.parse(cell).ok().flatten();
            let cells = identity.device_cells(record);
            attributes.cells(record, &mut self.described);
            let device = identity.device(reading, cells, &self.described, |hint| {
                attributes.complete(hint, record, parse);
                self.preamble.complete(hint);
            });
            let mut head = identity.head(reading, record)?;
            head.device = device;
            complete_shape(&mut head.shape, &row.raw);
            row.push(reading, &self.catalog, head);
        }
        Ok(())
    }

    /// Lets another thread read rows as this page reads those that come next.
    fn understand(&self, thread: usize, is_strict: bool) -> Understand {
        let (map, catalog, preamble) =
            (self.map.clone(), self.catalog.clone(), self.preamble.clone());
        let numerals = self.row.numerals;
        let mut beside = Beside::new(thread, is_strict, move |_| {
            Page::new(map.like(), catalog.clone(), preamble.clone(), Row::new(numerals))
        });
        Box::new(move |block| {
            let rows = 0..block.len();
            let part = beside.read(|reading, page: &mut Page| {
                block.each(rows.clone(), |record| page.record(reading, record))?;
                let columns = page.map.columns.iter_mut();
                let launches = columns.map(|one| std::mem::take(&mut one.launches)).collect();
                let more = More { launches, seen: std::mem::take(&mut page.row.seen) };
                Ok((!page.has_turned).then_some(more))
            })?;
            Some((rows, part))
        })
    }

    /// Appends what another thread has read.
    fn join(&mut self, reading: &mut Reading<'_>, part: Part) -> Result<(), IngestError> {
        let first = reading.launches();
        let Some(More { launches, seen }) = reading.join(part)? else { return Ok(()) };
        for (column, launches) in self.map.columns.iter_mut().zip(launches) {
            column.launches += launches;
        }
        self.row.seen.join(&seen, first);
        Ok(())
    }

    fn finish(&mut self, reading: &mut Reading<'_>) {
        let age = if self.map.identity.is_new() { "2023 or later" } else { "2022 or earlier" };
        reading.source.dialect =
            format!("raw page of {age}, {} columns, {} units", self.map.width, self.row.units);
        self.preamble.tell(reading);
        reading.source.clues.extend(self.catalog.clues());
        count(&self.map.columns, reading);
        add_steps(&mut self.steps, &self.map.columns);
        reading.source.steps = std::mem::take(&mut self.steps);
        self.row.finish(reading);
    }
}

/// Gathers the cells of a launch; whether a column was left out from here on.
fn cells(
    row: &mut Row,
    reading: &mut Reading<'_>,
    columns: &mut [Column],
    record: &Record<'_>,
    line: u64,
) -> Result<bool, IngestError> {
    let mut leaves_out = false;
    for column in columns {
        let cell = record.get(column.field).unwrap_or_default();
        match row.value(cell) {
            Ok(None) => {}
            Ok(Some(value))
                if value < 0.0 && !column.dimension.can_be_negative(column.name.as_bytes()) =>
            {
                let reason = format!("{} cannot be negative", column.dimension.noun());
                let text = String::from_utf8_lossy(cell).into_owned();
                reading.skip(line, Some(&column.name), &text, reason)?;
            }
            Ok(Some(value)) => match &column.scale {
                Scale::Factor(factor) => {
                    column.launches += 1;
                    row.raw.set(column.slot, value * factor);
                }
                Scale::Unusable(reason) => {
                    let reason = format!("{reason}, column left out");
                    column.scale = Scale::Reported;
                    leaves_out = true;
                    let text = String::from_utf8_lossy(cell).into_owned();
                    reading.skip(line, Some(&column.name), &text, reason)?;
                }
                Scale::Reported => {}
            },
            Err(_) => {
                let reason = format!("cannot read as {}", column.dimension.noun());
                let text = String::from_utf8_lossy(cell).into_owned();
                reading.skip(line, Some(&column.name), &text, reason)?;
            }
        }
    }
    Ok(leaves_out)
}

/// Leaves out metrics whose columns contradict each other in a launch.
fn twins(
    row: &mut Row,
    reading: &mut Reading<'_>,
    columns: &[Column],
    record: &Record<'_>,
    line: u64,
) -> Result<(), IngestError> {
    let value = |row: &Row, column: &Column| {
        let Scale::Factor(factor) = column.scale else { return None };
        let value = row.value(record.get(column.field)?).ok()??;
        Some(value * factor)
    };
    for column in columns {
        let first = column.twin.map(|twin| &columns[twin]);
        let values = first.map(|first| (value(row, first), value(row, column)));
        let Some((Some(one), Some(two))) = values else { continue };
        if !is_same(one, two, RESCALED) {
            row.raw.unset(column.slot);
            let text = String::from_utf8_lossy(record.get(column.field).unwrap_or_default());
            reading.skip(line, Some(&column.name), &text, TWICE)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::ingest::{Options, read_text};
    use crate::model::{Profile, Quantity};

    const HEAD: [&str; 11] = [
        "ID",
        "Process ID",
        "Process Name",
        "Host Name",
        "Kernel Name",
        "Context",
        "Stream",
        "Block Size",
        "Grid Size",
        "Device",
        "CC",
    ];

    /// A raw page with these metrics, a row of units, and a launch for each row of values.
    fn profile(metrics: &[&str], units: &[&str], rows: &[&[&str]]) -> Profile {
        let line = |cells: &[&str]| {
            let cells: Vec<String> = cells.iter().map(|cell| format!("\"{cell}\"")).collect();
            cells.join(",") + "\n"
        };
        let mut text = line(&[&HEAD[..], metrics].concat()) + &line(&[&[""; 11], units].concat());
        for (at, values) in rows.iter().enumerate() {
            let id = at.to_string();
            let head =
                [&id, "1", "app", "host", "k", "1", "7", "(128, 1, 1)", "(512, 1, 1)", "0", "9.0"];
            text.push_str(&line(&[&head[..], values].concat()));
        }
        read_text("raw.csv", text.leak(), &Options::default()).unwrap()
    }

    const TIME: &str = "gpu__time_duration.sum";
    const BYTES: &str = "dram__bytes.sum";

    fn reasons(profile: &Profile) -> Vec<&str> {
        profile.sources[0].skips.first.iter().map(|skip| skip.reason.as_str()).collect()
    }

    #[test]
    fn units_of_the_second_row_hold_for_every_launch() {
        let found = profile(&[TIME, BYTES], &["us", "Mbyte"], &[&["2", "3"], &["4", "n/a"]]);
        let time = |at: usize| found.launch(at).duration().unwrap().0.get();
        assert!((time(0) - 2e-6).abs() < 1e-18 && (time(1) - 4e-6).abs() < 1e-18);
        let bytes = |at: usize| found.launch(at).value(Quantity::DramBytes);
        assert_eq!((bytes(0), bytes(1)), (Some(3e6), None));
        let source = &found.sources[0];
        assert!(source.dialect.contains("scaled (short words"), "{}", source.dialect);
        assert_eq!((source.columns.get(TIME), source.columns.get(BYTES)), (Some(&2), Some(&1)));
        assert_eq!(reasons(&found), [""; 0]);
    }

    /// Three tables one after the other: the second has other units and another order of columns, the
    /// third no row of units, so that nothing of it can be read.
    #[test]
    fn a_header_inside_the_table_names_the_columns_below_it() {
        let head = HEAD.join(",");
        let row = |id: &str| format!("{id},1,app,host,k,1,7,\"(128, 1, 1)\",\"(512, 1, 1)\",0,9.0");
        let text = format!(
            "{head},{TIME},{BYTES}\n,,,,,,,,,,,ns,byte\n{},2000,3\n\
             {BYTES},{TIME},{head}\nKbyte,us,,,,,,,,,,,\n5,7,{}\n{head},{TIME}\n{},9\n",
            row("0"),
            row("1"),
            row("2"),
        );
        let found = read_text("raw.csv", text.leak(), &Options::default()).unwrap();
        let values: Vec<_> = found
            .iter()
            .map(|one| (one.value(Quantity::Duration), one.value(Quantity::DramBytes)))
            .collect();
        assert_eq!(
            values,
            [(Some(2000.0 * 1e-9), Some(3.0)), (Some(7.0 * 1e-6), Some(5e3)), (None, None)]
        );
        let source = &found.sources[0];
        assert_eq!((source.other_lines, source.rows, source.columns[TIME]), (2, 3, 2));
        assert_eq!(reasons(&found), ["no units row before this row, column left out"]);
    }

    /// A kernel that has the name of a range or a graph stays: it has a grid, and statistics of its launch.
    #[test]
    fn whole_graphs_and_ranges_are_no_launches() {
        let page = |metrics: &str, units: &str, values: &str| {
            let mut text = format!("{},{metrics}\n,,,,,,,,,,,{units}\n", HEAD.join(","));
            for (id, (kernel, shape)) in [
                ("k", "(8, 1, 1)"),
                ("range", "(0, 0, 0)"),
                ("graph", "(0, 0, 0)"),
                ("range", ""),
                ("range", "(8, 1, 1)"),
                ("graph", "(8, 1, 1)"),
            ]
            .into_iter()
            .enumerate()
            {
                text.push_str(&format!(
                    "{id},1,app,host,{kernel},1,7,\"{shape}\",\"{shape}\",0,9.0,{values}\n"
                ));
            }
            read_text("raw.csv", text.leak(), &Options::default()).unwrap()
        };
        let names =
            |found: &Profile| found.iter().map(|one| one.kernel().to_owned()).collect::<Vec<_>>();
        let found = page(&format!("{TIME},launch__registers_per_thread"), "ns,", "9,32");
        assert_eq!(names(&found), ["k", "range", "graph"]);
        assert_eq!((found.sources[0].rows, reasons(&found)), (6, vec![super::GRAPH]));
        let clue = "2 results of range replay are not read: they are not launches";
        assert!(found.sources[0].clues.iter().any(|one| one == clue));
        // A list of metrics has no statistics that could tell a graph from a kernel.
        let found = page(TIME, "ns", "9");
        assert_eq!(names(&found), ["k", "range"]);
        assert_eq!(reasons(&found), [super::GRAPH; 2]);
    }

    #[test]
    fn a_column_with_a_wrong_unit_is_left_out_and_told_once() {
        let found = profile(&[TIME, BYTES], &["ns", "second"], &[&["2", "3"], &["4", "5"]]);
        let [only] = reasons(&found)[..] else { panic!("{:?}", reasons(&found)) };
        assert!(only.starts_with("unit \"second\" is not") && only.ends_with("left out"), "{only}");
        assert_eq!(found.launch(1).value(Quantity::DramBytes), None);
        assert_eq!(found.launches.len(), 2);
    }

    #[test]
    fn a_metric_with_two_values_is_left_out_and_named() {
        let found = profile(
            &[TIME, TIME, BYTES],
            &["ns", "us", "byte"],
            &[&["2000", "2.01", "3"], &["2000", "999", "3"]],
        );
        let [only] = reasons(&found)[..] else { panic!("{:?}", reasons(&found)) };
        assert!(only.starts_with("given twice for one launch"), "{only}");
        let skip = &found.sources[0].skips.first[0];
        assert_eq!((skip.line, skip.column.as_deref(), skip.text.as_str()), (4, Some(TIME), "999"));
        assert_eq!(found.launch(0).value(Quantity::Duration), Some(2000.0 * 1e-9));
        assert_eq!(found.launch(1).value(Quantity::Duration), None);
        assert_eq!(found.launch(1).value(Quantity::DramBytes), Some(3.0));
    }

    #[test]
    fn a_cell_that_is_no_amount_is_skipped_alone() {
        let found = profile(&[TIME, BYTES], &["ns", "byte"], &[&["2", "-3"], &["x", "5"]]);
        let told = reasons(&found);
        assert!(told.len() == 2 && told[0].ends_with("cannot be negative"), "{told:?}");
        assert!(found.launch(0).value(Quantity::DramBytes).is_none());
        assert!(found.launch(1).duration().is_none());
        assert_eq!(found.launch(1).value(Quantity::DramBytes), Some(5.0));
        let share = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed";
        let found = profile(&[TIME, share], &["ns", "%"], &[&["2", "-20"]]);
        assert_eq!(reasons(&found), ["a percentage cannot be negative"]);
        assert!(found.launch(0).value(Quantity::DramThroughput).is_none());
    }

    /// A spreadsheet's sums stand where units could.
    #[test]
    fn a_row_of_totals_is_no_row_of_units() {
        let table = |totals: &str| {
            let blank = "\"\",".repeat(10) + "\"\"";
            format!(
                "\"{}\",\"{TIME}\",\"{BYTES}\"\n{blank},ns,byte\n{totals}{}",
                HEAD.join("\",\""),
                "0,1,app,host,k,1,7,\"(128, 1, 1)\",\"(512, 1, 1)\",0,9.0,300,500\n"
            )
        };
        for totals in ["300,500", "-300,500", ",500", " 300,"] {
            let totals = "\"\",".repeat(10) + "\"\"," + totals + "\n";
            let text = table(&totals);
            let profile = read_text("raw.csv", text.leak(), &Options::default()).unwrap();
            assert_eq!(profile.launch(0).value(Quantity::DramBytes), Some(500.0));
            assert_eq!((profile.launches.len(), profile.sources[0].skips.count), (1, 1));
        }
    }

    #[test]
    fn units_may_stand_in_the_titles() {
        let read = |time: &str, bytes: &str, values: &str| {
            let head = HEAD.join("\",\"");
            let text = format!(
                "\"{head}\",\"{TIME}{time}\",\"{BYTES}{bytes}\"\n\
                 0,1,app,host,k,1,7,\"(128, 1, 1)\",\"(512, 1, 1)\",0,9.0,{values}\n"
            );
            let profile = read_text("raw.csv", text.leak(), &Options::default()).unwrap();
            let launch = profile.launch(0);
            [Quantity::Duration, Quantity::DramBytes].map(|quantity| launch.value(quantity))
        };
        for (time, bytes) in [(" (us)", " (Kbyte)"), (" [us]", " [Kbyte]"), (" us", " Kbyte")] {
            assert_eq!(read(time, bytes, "300,5"), [Some(300.0 * 1e-6), Some(5000.0)]);
        }
        assert_eq!(read(" (us)", "", "300,5"), [Some(300.0 * 1e-6), None]);
        assert_eq!(read(" (byte)", " (per launch)", "300,5"), [None, None]);
        // Decimals of the unit that keeps numbers below a thousand.
        assert_eq!(read(" (us)", " (byte)", "\"300,123\",5")[0], Some(300.123 * 1e-6));
    }

    /// A terabyte with six decimals has steps of 1 MB: a kernel that moved less has no bytes, not none.
    #[test]
    fn bytes_that_the_unit_rounds_to_zero_are_missing() {
        let (read, write) = ("dram__bytes_read.sum", "dram__bytes_write.sum");
        let of = |unit, rows: &[&[&str]]| {
            let found = profile(&[TIME, read, write], &["ns", unit, unit], rows);
            let bytes: Vec<_> = found.iter().map(|one| one.value(Quantity::DramBytes)).collect();
            (bytes, found.sources[0].clues.iter().any(|clue| clue.contains("--print-units base")))
        };
        let rows: [&[&str]; 2] =
            [&["9000", "2.000000", "0.000000"], &["9", "0.000000", "0.000000"]];
        assert_eq!(of("Tbyte", &rows), (vec![Some(2e12), None], true));
        // Half a kilobyte is nothing.
        assert_eq!(of("Gbyte", &rows), (vec![Some(2e9), Some(0.0)], false));
        let rows: [&[&str]; 1] = [&["9", "0", "0"]];
        assert_eq!(of("byte", &rows), (vec![Some(0.0)], false));
        // Each page of several has its own units and digits.
        let page = |unit: &str, id: u32, values: &str| {
            format!(
                "{},{TIME},{read},{write}\n,,,,,,,,,,,ns,{unit},{unit}\n\
                 {id},1,app,host,k,1,7,\"(128, 1, 1)\",\"(512, 1, 1)\",0,9.0,{values}\n",
                HEAD.join(",")
            )
        };
        let pages = [
            page("Tbyte", 0, "9000,2.000000,0.000000"),
            page("Tbyte", 1, "9,0.000000,0.000000"),
            page("byte", 2, "9,0,0"),
        ];
        let found = read_text("raw.csv", pages.concat().leak(), &Options::default()).unwrap();
        let bytes: Vec<_> = found.iter().map(|one| one.value(Quantity::DramBytes)).collect();
        assert_eq!(bytes, [Some(2e12), None, Some(0.0)]);
        assert_eq!(found.sources[0].steps[&Quantity::DramReadBytes], 1e6);
    }
}
