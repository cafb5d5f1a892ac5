//! `PyProf`'s CSV: one row per launch, in any subset and order of its columns.
//!
//! `python -m pyprof.prof --csv -c … FILE.dict`, of `NVIDIA/PyProf`, `apex.pyprof`, `pyprof2` and forks.
//! `FLOPs` and `Bytes` are computed from tensor shapes by the profiler, not counted by the hardware,
//! and belong to the operator; [`super::counts`] says which are believed. The file names no GPU.

use super::columns::{Column, Columns, NAMES, fixed_width, names_time};
use super::table::Table;
use crate::ingest::beside::Beside;
use crate::ingest::decimal::{Content, Evidence};
use crate::ingest::lines::Understand;
use crate::ingest::rows::{Found, Quotes, Rows};
use crate::ingest::sample::as_text;
use crate::ingest::split::fields;
use crate::ingest::{Format, IngestError, Reading, Sample, Sniff};
use crate::model::Profiler;

pub(super) const FORMAT: Format = Format {
    name: "pyprof",
    profiler: Profiler::PyProf,
    summary: "PyProf `prof --csv`: one row per launch, FLOPs and bytes from tensor shapes",
    command: "python -m pyprof.prof --csv -c idx,dir,sub,mod,op,kernel,params,sil,tc,device,stream,grid,block,flops,bytes FILE.dict > FILE.csv",
    sniff,
    read,
};

/// How many records decide how numbers are written.
const NUMERAL_RECORDS: usize = 1000;

fn sniff(sample: &Sample) -> Sniff {
    if let Some(columns) = header(sample).map(|(columns, _)| columns) {
        let time = columns.header(Column::Time).unwrap_or_default();
        return Sniff::Yes(format!(
            "the header has {time:?} among {} columns",
            columns.headers().len()
        ));
    }
    // These cannot be read either, but here it is known what to do about them.
    match not_csv(sample) {
        Some((what, _)) => Sniff::Unsure(what.to_owned()),
        None => Sniff::No(
            "no header with \"Sil(ns)\" or \"sil\" and other columns of PyProf".to_owned(),
        ),
    }
}

fn header(sample: &Sample) -> Option<(Columns, &str)> {
    let (fields, rest) = sample.header(
        |line| names_time(line) && line.contains(','),
        |fields| Columns::of(fields).is_some(),
    )?;
    Some((Columns::of(&fields)?, rest))
}

/// What `PyProf` writes that is no CSV, and the user's next step.
fn not_csv(sample: &Sample) -> Option<(&'static str, &'static str)> {
    let is_space_separated = |line: &str| {
        if !names_time(line) {
            return false;
        }
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        words.len() > 2 && Columns::of(&words).is_some() && fixed_width(line).is_none()
    };
    let begins = || sample.titles().take_while(|(number, _)| *number < 100).map(|(_, line)| line);
    if begins().any(|line| line.starts_with("{'kShortName'")) {
        Some((
            "this is what PyProf's parse step writes, one Python dictionary per launch, not its table",
            "run the second step: python -m pyprof.prof --csv -c idx,dir,sub,mod,op,kernel,params,sil,tc,device,stream,grid,block,flops,bytes FILE.dict > FILE.csv",
        ))
    } else if begins().any(is_space_separated) {
        Some((
            "this is PyProf's output without --csv: fields are separated by single blanks, which fields hold too",
            "print it again with --csv: python -m pyprof.prof --csv -c … FILE.dict > FILE.csv",
        ))
    } else {
        None
    }
}

fn read(reading: &mut Reading<'_>) -> Result<(), IngestError> {
    let Some((columns, rest)) = header(&reading.sample) else { return Err(refusal(reading)) };
    let records = reading.sample.records(rest, NUMERAL_RECORDS);
    let numeric = |columns: &Columns| {
        [Column::Time, Column::Flops, Column::Bytes].map(|column| columns.at(column))
    };
    let mut at = numeric(&columns);
    let mut evidence = Evidence::default();
    let has_headers = NAMES.iter().any(|name| records.has(name));
    for record in records.iter() {
        // A header inside the table names the columns of the records below it.
        if has_headers && record.iter().any(|cell| names_time(as_text(cell))) {
            let titles: Vec<String> = record.iter().map(|cell| as_text(cell).to_owned()).collect();
            at = Columns::of(&titles).as_ref().map_or(at, numeric);
        }
        // Whole nanoseconds; of operations and bytes Python prints any number of decimals behind a point.
        for (place, cell) in at.iter().enumerate() {
            let Some(cell) = cell.and_then(|at| record.get(at)) else { continue };
            let is_whole = place == 0 || !cell.contains(&b'.');
            evidence.add(cell, if is_whole { Content::Whole } else { Content::Any }, || None);
        }
    }
    let numerals = reading.numerals(&evidence, true)?;

    reading.header(
        |line| names_time(line) && line.contains(',') && Columns::of(&fields(line)).is_some(),
        |_| {},
    )?;
    let mut rows = Rows::new(reading, Quotes::Untouched, b',', columns.headers().len());
    let mut table = Table::new(reading, columns, numerals, false);
    loop {
        if rows.may_share(reading) {
            if reading.is_large() {
                let is_strict = reading.is_strict();
                reading.share(|thread| understand(&table, thread, is_strict));
            }
            while let Some(part) = rows.part(reading)? {
                table.join(reading, part)?;
            }
        }
        let Some(found) = rows.next(reading)? else { break };
        if found != Found::Blank
            && let Some(columns) = table.header(rows.row())
        {
            rows.set_width(columns.headers().len());
            table.turn_to(reading, columns);
            reading.read_alone();
            continue;
        }
        match found {
            Found::Row => table.launch(reading, rows.row())?,
            Found::Blank => reading.other_line()?,
            Found::Misfit { cells, open } => table.misfit(reading, rows.row(), cells, open)?,
        }
    }
    table.finish(reading)
}

/// Lets another thread read rows as this table reads those that come next.
fn understand(table: &Table, thread: usize, is_strict: bool) -> Understand {
    let (columns, numerals) = (table.columns().clone(), table.numerals());
    let width = columns.headers().len();
    let mut beside = Beside::new(thread, is_strict, move |reading| {
        Table::new(reading, columns.clone(), numerals, false).beside()
    });
    Box::new(move |text| {
        beside.read(|reading, table: &mut Table| {
            let are_rows = Rows::each(text, Quotes::Untouched, b',', width, |row| {
                let is_row = table.header(row).is_none();
                if is_row {
                    table.launch(reading, row)?;
                }
                Ok(is_row)
            })?;
            Ok(table.more().filter(|_| are_rows))
        })
    })
}

/// Why a file without a header is not read.
fn refusal(reading: &Reading<'_>) -> IngestError {
    if let Some((what, help)) = not_csv(&reading.sample) {
        return reading.error(what).help(help);
    }
    if reading.sample.lines().any(|line| fixed_width(line).is_some()) {
        return reading.error("this is PyProf's fixed-width text (-w), not its CSV").help(
            "read it with --from pyprof-text, or print it again with --csv: nothing is cut there",
        );
    }
    if reading.sample.lines().any(|line| line.contains("NVTX monkey patch")) {
        return reading
            .error("only PyProf's start messages, no table follows")
            .help(FORMAT.command);
    }
    reading
        .error("no table found: no line has \"Sil(ns)\" or \"sil\" among columns of PyProf")
        .help("without a time nothing can be judged: print the column with -c …,sil,…")
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use crate::ingest::{Input, Options, format};
    use crate::model::{OriginKind, Pipe, Profile, Quantity};

    fn fixture(name: &str) -> Profile {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/pyprof").join(name);
        let strict = Options { strict: true, ..Options::default() };
        crate::ingest::read(&[Input::Named(path)], &strict).unwrap()
    }

    fn read_with(text: &str, options: &Options) -> Result<Profile, String> {
        let directory = tempfile::tempdir().unwrap();
        let path: PathBuf = directory.path().join("table.csv");
        std::fs::write(&path, text).unwrap();
        crate::ingest::read(&[Input::Named(path)], options).map_err(|error| {
            error.to_string().replace(&format!("{}/", directory.path().display()), "")
        })
    }

    fn read_text(text: &str) -> Profile {
        read_with(text, &Options::default()).unwrap()
    }

    /// Reads text as `PyProf`'s CSV whatever it looks like.
    fn refused(text: &str) -> String {
        read_with(text, &Options { from: format("pyprof"), ..Options::default() }).unwrap_err()
    }

    #[test]
    fn launches_with_known_work_and_their_totals_are_as_computed_by_hand() {
        for (name, launches, known, flops, bytes) in [
            ("v100-nvidia-transformer-16col.csv", 23, 18, 63_040_619_520.0, 1_086_397_440.0),
            ("v100-nvidia-transformer-w170.txt", 23, 17, 63_021_745_152.0, 1_076_932_608.0),
            ("t4-nvidia-resnet-default-8col.csv", 18, 14, 9_243_328_512.0, 267_849_472.0),
            ("v100-apex-transformer-12col.csv", 11, 9, 11_615_527_937.0, 138_303_488.0),
            ("rtx2080-fork-conv-25col.csv", 6, 4, 2_550_693_888.0, 30_517_248.0),
        ] {
            let profile = fixture(name);
            assert_eq!(profile.launches.len(), launches, "{name}");
            let work: f64 =
                profile.iter().filter_map(|launch| Some(launch.work().next()?.1.get())).sum();
            let moved: Vec<_> =
                profile.iter().filter_map(|launch| launch.value(Quantity::DramBytes)).collect();
            assert_eq!((moved.len(), work, moved.iter().sum()), (known, flops, bytes), "{name}");
        }
    }

    #[test]
    fn a_launch_has_its_operator_shape_pipe_and_basis() {
        let profile = fixture("v100-nvidia-transformer-16col.csv");
        let cutlass = profile.iter().find(|launch| launch.kernel() == "cutlass::Kernel").unwrap();
        assert_eq!(profile.names.get(cutlass.head.operator), "linear M=3072,N=24x128,K=768,fp16");
        assert_eq!(cutlass.head.id, 10);
        assert_eq!(cutlass.head.stream, Some(7));
        assert_eq!(cutlass.head.shape.blocks, Some(24 * 18));
        assert_eq!(profile.devices[cutlass.head.device.position()].ordinal.as_deref(), Some("0"));
        let (pipe, flops, origin) = cutlass.work().next().unwrap();
        assert_eq!((pipe, flops.get()), (Pipe::Fp16Matrix, 14_495_514_624.0));
        assert_eq!(
            (origin.kind, origin.formula.as_str()),
            (OriginKind::Algorithmic, "PyProf FLOPs")
        );
        let (bytes, origin) = cutlass.dram_bytes().unwrap();
        assert_eq!(bytes.get(), 2.0 * (3072.0 * 3072.0 + 3072.0 * 768.0 + 3072.0 * 768.0));
        assert_eq!(origin.formula, "s·(M·N + M·K + N·K) from shapes");
        assert_eq!(cutlass.duration().unwrap().1.formula, "Sil(ns)");
    }

    #[test]
    fn kernels_without_a_name_go_by_their_operator_and_number() {
        let profile = fixture("v100-nvidia-transformer-16col.csv");
        let nameless: Vec<_> = profile
            .iter()
            .filter(|launch| launch.kernel() == "cross_entropy")
            .map(|launch| profile.names.get(launch.head.operator))
            .collect();
        assert_eq!(
            nameless,
            [
                "cross_entropy T=[3072x30522,3072],[float16,int64] #0",
                "cross_entropy T=[3072x30522,3072],[float16,int64] #1",
            ],
        );
    }

    #[test]
    fn the_source_tells_what_was_found() {
        let source = &fixture("t4-nvidia-resnet-default-8col.csv").sources[0];
        assert_eq!((source.rows, source.launches, source.other_lines), (18, 18, 2));
        assert_eq!(source.dialect, "NVIDIA PyProf");
        assert_eq!((source.columns["Kernel"], source.columns["Params"]), (16, 18));
        assert!(
            source.clues.iter().any(|clue| clue.starts_with("no column FLOPs, Bytes")),
            "{:?}",
            source.clues
        );
        let text = &fixture("v100-nvidia-transformer-w170.txt").sources[0];
        assert_eq!(text.format, "pyprof-text");
        assert!(
            text.clues.iter().any(|clue| clue.contains("cut up to 0 kernel names and 1 Params"))
        );
    }

    /// Below a table spreadsheets leave blank lines, and sums that name nothing.
    #[test]
    fn rows_that_name_nothing_are_no_launches() {
        let profile = read_text("Kernel,Op,Sil(ns)\nk,x,7\n,y,5\n,,\n,,12\n");
        let times: Vec<_> = profile.iter().map(|one| one.value(Quantity::Duration)).collect();
        assert_eq!(times, [Some(7e-9), Some(5e-9)]);
        let source = &profile.sources[0];
        assert_eq!((source.rows, source.skips.count, source.other_lines), (3, 1, 1));
    }

    #[test]
    fn missing_values_stay_missing() {
        let profile = read_text(
            "\"Kernel\",\"Op\",\"Sil(ns)\",\"FLOPs\",\"Bytes\",\"Grid\"\n\"k\",\"x\",\"0\",\"na\",\"-\",\"\"\n\"\",\"y\",\"7\",\"1e+16\",\"12.5\",\"1,2,3\"\n",
        );
        let (first, second) = (profile.launch(0), profile.launch(1));
        assert_eq!(first.duration(), None);
        assert_eq!((first.work().count(), first.dram_bytes()), (0, None));
        assert_eq!(first.head.shape.grid, None);
        assert_eq!((second.kernel(), second.head.id), ("y", 2));
        assert_eq!(second.value(Quantity::Work(Pipe::Unstated)), Some(1e16));
        assert_eq!(second.value(Quantity::DramBytes), Some(12.5));
        assert_eq!(second.value(Quantity::Duration), Some(7e-9));
        assert_eq!(profile.sources[0].columns["FLOPs"], 1);
    }

    #[test]
    fn line_ends_of_windows_and_line_breaks_inside_fields_are_read() {
        let profile = read_text(
            "\u{feff}\"Kernel\",\"Params\",\"Sil(ns)\"\r\n\"a\",\"x=1,\r\ny=2\",\"5\"\r\n\"b\",\"\",\"6\"\r\n",
        );
        let times: Vec<_> =
            profile.iter().filter_map(|launch| launch.value(Quantity::Duration)).collect();
        assert_eq!(times, [5e-9, 6e-9]);
    }

    #[test]
    fn what_cannot_be_read_is_skipped_with_its_place_and_strict_stops_there() {
        let text = "note\nidx,kernel,sil,flops\n1,a,fast,1\n2,b,-5,1\n3,c,nan,1\n4,d,100,many\n5,e\nx,f,9,-1\n";
        let profile = read_text(text);
        assert_eq!(profile.launches.len(), 3);
        assert_eq!(profile.launch(2).head.id, 6);
        let skips = &profile.sources[0].skips;
        let told: Vec<_> = skips
            .first
            .iter()
            .map(|skip| {
                format!(
                    "{}:{}: {}: {}",
                    skip.line,
                    skip.column.as_deref().unwrap_or("row"),
                    skip.text,
                    skip.reason
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                "3:sil: fast: not a number of nanoseconds",
                "4:sil: -5: negative time",
                "6:flops: many: not a number",
                "7:row: 5,e: row has 2 fields, the header 4",
                "8:flops: -1: negative count",
                "8:idx: x: not a number",
            ],
        );
        let strict = read_with(text, &Options { strict: true, ..Options::default() }).unwrap_err();
        assert_eq!(strict, "table.csv:3: column \"sil\": not a number of nanoseconds: \"fast\"");
    }

    #[test]
    fn a_traceback_a_second_header_and_gaps_are_noticed() {
        let row = |id| format!("\"{id}\",\"a\",\"5\"\n");
        let header = "\"Idx\",\"Kernel\",\"Sil(ns)\"\n";
        let text =
            format!("{header}{}{header}{}Traceback (most recent call last):\n", row(1), row(9));
        let profile = read_text(&text);
        let source = &profile.sources[0];
        assert_eq!((profile.launches.len(), source.other_lines, source.skips.count), (2, 2, 0));
        let has = |part: &str| source.clues.iter().any(|clue| clue.contains(part));
        assert!(
            has("stopped with a Python error (line 5)") && has("not consecutive in 1 places"),
            "{:?}",
            source.clues
        );
    }

    /// The second table has its columns in another order, and one fewer: 5 + 9 ns.
    #[test]
    fn a_header_inside_the_table_names_the_columns_below_it() {
        let profile = read_text(
            "\"Idx\",\"Kernel\",\"Sil(ns)\"\n\"1\",\"a\",\"5\"\n\"Sil(ns)\",\"Kernel\",\"Idx\"\n\
             \"9\",\"b\",\"2\"\n\"Kernel\",\"Sil(ns)\"\n\"c\",\"11\"\n",
        );
        let launches: Vec<_> =
            profile.iter().map(|one| (one.kernel(), one.value(Quantity::Duration))).collect();
        assert_eq!(launches, [("a", Some(5e-9)), ("b", Some(9e-9)), ("c", Some(1.1e-8))]);
        let source = &profile.sources[0];
        assert_eq!((source.other_lines, source.skips.count), (2, 0));
        assert_eq!((source.columns["Sil(ns)"], source.columns["Idx"]), (3, 2));
    }

    #[test]
    fn a_table_without_rows_says_so() {
        let header = "\"Kernel\",\"Op\",\"Sil(ns)\"\n";
        assert_eq!(refused(header), "table.csv: the table has a header and no rows");
        assert_eq!(
            refused(&format!("{header}\"a\",\"b\",\"?\"\n")),
            "table.csv: none of the 1 rows can be used; line 2: not a number of nanoseconds: \"?\"",
        );
        let noise = "Initializing NVTX monkey patches\nDone with NVTX monkey patching\n";
        assert_eq!(refused(noise), "table.csv: only PyProf's start messages, no table follows");
        assert!(refused("\"Kernel\",\"Op\",\"FLOPs\"\n").contains("no line has \"Sil(ns)\""));
    }

    #[test]
    fn what_pyprof_writes_besides_is_refused_with_what_it_is() {
        let spaces =
            "Idx Direction Sub Op Kernel Sil(ns)\n1 fprop 0 relu elementwise_kernel 2000\n";
        let dictionary = "{'kShortName': 'elementwise_kernel', 'kDuration': 3168, 'layer': []}\n";
        let fixed = "Idx     Op              Sil(ns)    \n      1 relu                  2000 \n";
        for (text, what) in [
            (spaces, "PyProf's output without --csv"),
            (dictionary, "what PyProf's parse step writes"),
            (fixed, "fixed-width text (-w)"),
        ] {
            assert!(refused(text).contains(what), "{text}");
        }
        assert!(read_with(spaces, &Options::default()).unwrap_err().contains("without --csv"));
        assert!(read_with(dictionary, &Options::default()).unwrap_err().contains("parse step"));
        assert_eq!(read_text(fixed).sources[0].format, "pyprof-text");
    }

    #[test]
    fn the_long_name_is_preferred_where_a_branch_prints_it() {
        let profile = read_text(
            "\"Kernel\",\"KernelLName\",\"Sil(ns)\"\n\"gemm\",\"void gemm<float, 4>(int, \"x\")\",\"5\"\n\"axpy\",\"\",\"5\"\n",
        );
        assert_eq!(profile.launch(0).kernel(), "void gemm<float, 4>(int, \"x\")");
        assert_eq!(profile.launch(1).kernel(), "axpy");
    }
}
