//! Any table whose columns a mapping names: CSV, or records in JSON.
//!
//! A mapping is a small TOML file. Nothing is guessed: units, precisions and the meaning of rows that
//! stand for several launches are written down, and a column that is not there is an error.
//!
//! ```toml
//! device = "NVIDIA H100 80GB HBM3"   # all launches ran on it; [columns] device where a column has it
//! devices = { 0 = "AMD Instinct MI300X" } # names for what the device column says
//! delimiter = ";"                    # a comma if left out
//! decimal = ","                      # the decimal sign; found out if left out
//! records = "events"                 # JSON: the key of the array; all of the document if left out
//! optional = ["occ"]                 # columns that a table may lack
//! channels = { TCC_EA_ = [32] }      # TCC_EA_A_sum is the sum of TCC_EA_A[0] to TCC_EA_A[31] where it is lacking
//!
//! [rows]
//! only = { kind = "KERNEL" }         # other rows are left out and counted
//! leave_out = { name = ["[CUDA *"] } # `*` stands for any characters
//!
//! [columns]
//! kernel = "name"                                  # needed
//! time = { column = "dur_us", unit = "us" }        # needed: s, ms, us, ns; or
//! # time = { start = "begin", end = "end", unit = "ns" }
//! start = { column = "ts", unit = "us" }           # start on the GPU
//! bytes = { column = "mb", unit = "MB" }           # of device memory: B … TB, KiB … TiB, or /s
//! # bytes = { sum = { read = 1, written = 1 }, unit = "KiB" } # columns times factors
//! flops = [                                        # one table, or several of different precisions
//!     { column = "gflop", unit = "GFLOP", precision = "bf16_matrix" },
//!     { column = "rest", unit = "TFLOP/s", precision = "fp32_vector", kind = "algorithmic", low = 0.5 },
//! ]
//! launches = { column = "count", values = "total" } # a row stands for several; or "average"
//! grid = "grid"                                    # `128,1,1`, `(128, 1, 1)`, `128x1x1`, or a number
//! block = ["bx", "by", "bz"]                       # or three columns
//! # grid = { columns = ["gx", "gy", "gz"], unit = "threads" } # AMD's work-items
//! operator = "layer"                               # separates launches of one kernel
//! device = "gpu"                                   # a name or a number
//! stream = "stream"
//! id = "index"
//!
//! [quantities]                                     # anything else that is measured, by canonical name
//! achieved_occupancy = { column = "occ", unit = "%" }
//! ```
//!
//! An amount per second is multiplied by the time of its row. Values are measured unless their `kind`
//! is `algorithmic`, counted from shapes; the true value is between `low` and `high` times the value. Here a zero
//! is a zero; only a time of zero is missing.

mod column;
mod counters;
mod data_table;
mod evidence;
mod file;
mod filtered;
mod header;
mod mapping;
mod pivot;
mod records;
mod roles;
mod shape;
mod suggest;
mod table;
mod titles;
mod units;
mod written;

pub(super) use counters::Layout;
pub(super) use data_table::titles;
pub use file::mapping_schema;
pub use mapping::Mapping;
pub(super) use mapping::is_titled;
pub(super) use pivot::{Long, read_long};
pub use suggest::suggest_map;

use counters::Counters;
use evidence::evidence;
use filtered::LeftOut;
use header::header;
use table::Table;

use super::rows::{Found, Quotes, Rows};
use super::{IngestError, Reading, Sample};
use crate::plain::counted;

/// Reads a table by its mapping.
pub(super) fn read(reading: &mut Reading<'_>, mapping: &Mapping) -> Result<(), IngestError> {
    "mapped".clone_into(&mut reading.source.format);
    reading.source.dialect = format!("columns named by {}", mapping.path);
    read_as_known(reading, std::slice::from_ref(mapping), None)
}

/// Reads a table whose format is known by its mapping: that of several with the same columns of a launch whose other
/// columns most are there. With a layout, what is beside it are counters, which other passes of the run may complete.
pub(super) fn read_as_known(
    reading: &mut Reading<'_>,
    mappings: &[Mapping],
    layout: Option<&Layout>,
) -> Result<(), IngestError> {
    let Some(first) = mappings.first() else { return Ok(()) };
    let before = reading.source.launches;
    let (mapping, left_out) = if titles(&reading.sample).is_some() {
        (first, data_table::read(reading, first)?)
    } else if is_json(&reading.sample) {
        (first, records::read(reading, first)?)
    } else {
        let (line, header) = header(reading, first)?;
        let mapping = fullest(mappings, &header).unwrap_or(first);
        let counters = |titles: &[String]| Counters::new(layout?, mappings, titles);
        (mapping, read_csv(reading, mapping, (line, header), counters)?)
    };
    if mapping.launches.as_ref().is_some_and(|launches| launches.totals) {
        let clue = "rows hold sums over several launches; they are read as averages";
        reading.source.clues.push(clue.to_owned());
        reading.source.sums = true;
    }
    let has_launches = reading.source.launches > before;
    left_out.say(reading, mapping, has_launches)
}

/// Whether the sample begins as JSON does.
fn is_json(sample: &Sample) -> bool {
    sample.text().trim_start().starts_with(['{', '['])
}

/// The mapping of whose columns a table has most; of equals the first.
fn fullest<'a>(mappings: &'a [Mapping], titles: &[String]) -> Option<&'a Mapping> {
    let known = |mapping: &&Mapping| {
        let has = |column: &&&str| mapping.places(column, titles).is_some();
        mapping.columns().iter().filter(has).count()
    };
    mappings.iter().rev().max_by_key(known)
}

fn read_csv<'a>(
    reading: &mut Reading<'_>,
    mapping: &Mapping,
    (header_line, header): (u64, Vec<String>),
    counters_of: impl Fn(&[String]) -> Option<Counters<'a>>,
) -> Result<LeftOut, IngestError> {
    let mut line = Vec::new();
    for _ in 0..header_line {
        line.clear();
        reading.read_line(&mut line)?;
    }
    reading.source.other_lines += header_line - 1;
    let evidence = evidence(reading, mapping, header_line, &header);
    let numerals = reading.numerals(&evidence, false)?;

    let mut table = Table::new(reading, mapping, &header, numerals);
    let mut counters = counters_of(&header);
    let mut rows = Rows::new(reading, Quotes::Doubled, mapping.delimiter, header.len());
    let mut left_out = LeftOut::default();
    while let Some(found) = rows.next(reading)? {
        if found != Found::Blank
            && let Some(header) = table.header(rows.row())
        {
            let alike = std::mem::take(&mut table.alike);
            left_out = table.end(reading, left_out);
            rows.set_width(header.len());
            table = Table::new(reading, mapping, &header, numerals);
            table.alike = alike;
            if let Some(counters) = std::mem::replace(&mut counters, counters_of(&header)) {
                counters.end(reading);
            }
            reading.begin_table(table.is_numbered());
            continue;
        }
        match found {
            Found::Row => {
                let launch = reading.source.launches;
                table.launch(reading, rows.row())?;
                if let Some(counters) =
                    counters.as_mut().filter(|_| reading.source.launches > launch)
                {
                    counters.add(rows.row(), numerals, launch);
                }
            }
            Found::Blank => reading.other_line()?,
            Found::Misfit { cells, open } => {
                reading.source.rows += 1;
                let reason = if open {
                    "a quoted field has no end".to_owned()
                } else {
                    format!(
                        "row has {}, the header {}",
                        counted(cells as u64, "field", "fields"),
                        header.len()
                    )
                };
                reading.skip(rows.row().line(), None, &rows.row().whole(), reason)?;
            }
        }
    }
    if let Some(counters) = counters {
        counters.end(reading);
    }
    Ok(table.end(reading, left_out))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::{Input, Options};
    use crate::model::{OriginKind, Pipe, Profile, Quantity};

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
        assert_eq!(profile.launches.len(), 3);
        assert_eq!(profile.launch(0).value(Quantity::DramBytes), None);
        // A time of `nan` is missing, as everywhere.
        assert_eq!(profile.launch(1).value(Quantity::Duration), None);
        assert_eq!(profile.launch(1).value(Quantity::DramBytes), Some(1.0));
        assert_eq!(profile.launch(2).value(Quantity::Duration), None);
        assert_eq!(profile.launch(2).value(Quantity::DramBytes), Some(0.0));
        let skips = &profile.sources[0].skips;
        let told: Vec<_> = skips
            .first
            .iter()
            .map(|skip| format!("{}: {}: {}", skip.line, skip.text, skip.reason))
            .collect();
        assert_eq!(
            told,
            [
                "2: 1 GB?: the unit behind the number is unknown, or not one of the column",
                "3: -1: negative",
                "4: fast: not a number",
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

    /// Rows that differ in a column that is not mapped are of other layers; the table a second time is a copy.
    #[test]
    fn rows_of_sums_that_differ_anywhere_all_count() {
        const MAP: &str = "[columns]\nkernel = 'name'\ntime = { column = 'dur', unit = 'us' }\n\
                           launches = { column = 'n', values = 'total' }\n";
        const HEADER: &str = "layer,name,dur,n\n";
        for layers in [3_u64, 4] {
            let row = |layer| format!("{layer},gemm,6,2\n");
            let rows: String = (0..layers).map(row).collect();
            for text in [format!("{HEADER}{rows}"), format!("{HEADER}{rows}{HEADER}{rows}")] {
                let found = read(&text, MAP).unwrap();
                let launches: u64 = found.iter().map(|one| u64::from(one.head.count)).sum();
                assert_eq!(launches, 2 * layers, "{text}");
            }
        }
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

    const AMD: &str = "devices = { 1 = 'AMD Instinct MI300X' }\n[rows]\nonly = { Kind = 'KERNEL_DISPATCH' }\n\
        leave_out = { Name = ['__amd_rocclr_*'] }\n[columns]\nkernel = 'Name'\ndevice = 'Agent'\n\
        time = { start = 'Begin', end = 'End', unit = 'ns' }\nblock = ['Wx', 'Wy', 'Wz']\n\
        grid = { columns = ['Gx', 'Gy', 'Gz'], unit = 'threads' }\n";

    #[test]
    fn a_trace_has_starts_and_ends_and_rows_that_are_no_kernels() {
        let csv = "Kind,Agent,Name,Begin,End,Wx,Wy,Wz,Gx,Gy,Gz\n\
            KERNEL_DISPATCH,1,add,1712195495519689047,1712195495519689147,64,1,1,1000,2,1\n\
            MEMORY_COPY,1,copy,1,2,1,1,1,1,1,1\n\
            KERNEL_DISPATCH,1,__amd_rocclr_fillBuffer,1,2,1,1,1,1,1,1\n\
            KERNEL_DISPATCH,2,add,20,10,64,1,1,64,1,1\n";
        let profile = read(csv, AMD).unwrap();
        assert_eq!(profile.launches.len(), 1);
        let launch = profile.launch(0);
        let (time, origin) = launch.get(Quantity::Duration).unwrap();
        assert_eq!((time, origin.formula.as_str()), (100_000.0 * 1e-12, "End - Begin"));
        assert_eq!(launch.head.start, Some(1_712_195_495_519_689_047));
        // 1000 work-items are 15.6 groups of 64.
        assert_eq!(launch.head.shape.grid.unwrap().to_string(), "16×2×1");
        assert_eq!(profile.devices[0].name.as_deref(), Some("AMD Instinct MI300X"));
        let source = &profile.sources[0];
        assert_eq!(
            source.clues,
            ["2 rows that are not kernels are left out, such as \"MEMORY_COPY\""]
        );
        assert_eq!(source.skips.first[0].reason, "ends before it starts");
        let only = "Kind,Agent,Name,Begin,End,Wx,Wy,Wz,Gx,Gy,Gz\nMEMORY_COPY,1,c,1,2,1,1,1,1,1,1\n";
        let error = read(only, AMD).unwrap_err();
        let says = "table.csv: no row is a kernel: only = { Kind = \"KERNEL_DISPATCH\" } of map.toml:3 leaves out 1 row, \
                    where \"Kind\" is \"MEMORY_COPY\"";
        assert!(error.starts_with(says), "{error}");
    }

    /// A sum over channels that the table lacks need not be optional where each of its channels is there.
    #[test]
    fn channels_take_the_place_of_their_sum() {
        let map = "channels = { tcc_ = [2] }\n[columns]\nkernel = 'name'\ntime = { column = 't', unit = 'us' }\n\
            bytes = { column = 'tcc_reads_sum', unit = 'B' }\n";
        let profile = read("name,t,tcc_reads[0],tcc_reads[1]\na,10,1,2\n", map).unwrap();
        assert_eq!(profile.launch(0).value(Quantity::DramBytes), Some(3.0));
        let error = read("name,t,tcc_reads[0]\na,10,1\n", map).unwrap_err();
        assert!(error.contains("no column \"tcc_reads_sum\""), "{error}");
    }

    /// A row without a time is no header, though all columns are optional; kernel and time never are.
    #[test]
    fn a_row_without_a_time_ends_no_table() {
        let map = "optional = ['*']\n[columns]\nkernel = 'name'\ntime = { column = 't', unit = 'us' }\n\
            bytes = { column = 'mb', unit = 'MB' }\n";
        let profile = read("name,t\na,100\nb,\nc,50\nname,t,mb\nd,25,1\n", map).unwrap();
        let times: Vec<_> = profile.iter().map(|one| one.value(Quantity::Duration)).collect();
        assert_eq!(times, [Some(100.0 * 1e-6), None, Some(50.0 * 1e-6), Some(25.0 * 1e-6)]);
        assert_eq!(profile.launch(3).value(Quantity::DramBytes), Some(1e6));
        let error = read("name,mb\na,1\n", map).unwrap_err();
        assert!(error.contains("no column \"t\""), "{error}");
    }

    #[test]
    fn records_of_json_are_rows_of_a_table() {
        let map = "optional = ['occ']\n[columns]\nkernel = 'name'\nstart = { column = 'ts', unit = 'us' }\n\
            time = { column = 'args.dur', unit = 'us' }\ngrid = 'args.grid'\n\
            [quantities]\nachieved_occupancy = { column = 'occ', unit = '%' }\n";
        let one = r#"{"name": "a\"b", "ts": 1712195495519689.047, "args": {"dur": 2.5, "grid": [128, 1, 1], "x": {}}}"#;
        let two = r#"{"args": {"dur": null}, "occ": 50, "name": "b", "ts": 7}"#;
        for (text, map) in [
            (format!("{one}\n{two}\n"), map.to_owned()),
            (format!("[\n {one},\n {two}]"), map.to_owned()),
            (
                format!("{{\"n\": 1, \"rows\": [{one}, {two}], \"z\": [0]}}"),
                format!("records = 'rows'\n{map}"),
            ),
        ] {
            let profile = read(&text, &map).unwrap();
            let [a, b] = [0, 1].map(|row| profile.launch(row));
            assert_eq!((a.kernel(), a.value(Quantity::Duration)), ("a\"b", Some(2.5 * 1e-6)));
            assert_eq!(a.head.start, Some(1_712_195_495_519_689_047));
            assert_eq!(a.head.shape.blocks, Some(128));
            assert_eq!((b.kernel(), b.value(Quantity::Duration)), ("b", None));
            assert_eq!(b.value(Quantity::AchievedOccupancy), Some(0.5));
        }
        let fault = |text: &str| read(text, map).unwrap_err();
        let cut = fault(&format!("{one}\n{{\"name\": "));
        assert!(cut.starts_with("table.csv:2: damaged JSON: "), "{cut}");
        let other = fault("[{\"kernel\": \"a\", \"dur\": 1}]");
        assert!(
            other.starts_with("table.csv: no column \"name\", which map.toml names"),
            "{other}"
        );
        let under = read("{\"events\": []}", &format!("records = 'rows'\n{map}")).unwrap_err();
        assert!(under.starts_with("table.csv: the document has no key \"rows\""), "{under}");
        let twice = r#"{"name": "a", "name": "b", "ts": 1, "args": {"dur": 1, "grid": 1}}"#;
        let profile = read(&format!("{one}\n{twice}\n"), map).unwrap();
        let skip = &profile.sources[0].skips.first[0];
        assert_eq!((skip.line, skip.reason.as_str()), (2, "the key is given twice"));
    }

    /// Bytes that are read and written apart are DRAM bytes together; what the table has of them itself comes first.
    #[test]
    fn reads_and_writes_add_up_to_dram_bytes() {
        let sides = "dram_read_bytes = { column = 'r', unit = 'MB' }\n\
                     dram_write_bytes = { column = 'w', unit = 'MB' }\n";
        let bytes = |map: &str| {
            let profile = read("name,dur,r,w,b\na,1,3,4,9\n", map).unwrap();
            profile.launch(0).value(Quantity::DramBytes)
        };
        assert_eq!(bytes(&format!("{NEEDED}[quantities]\n{sides}")), Some(7e6));
        let both =
            format!("{NEEDED}bytes = {{ column = 'b', unit = 'MB' }}\n[quantities]\n{sides}");
        assert_eq!(bytes(&both), Some(9e6));
        let one = sides.lines().next().unwrap();
        assert_eq!(bytes(&format!("{NEEDED}[quantities]\n{one}\n")), None);
        // The sum is as uncertain as its parts.
        let bounded = sides.replace("'MB' }", "'MB', kind = 'algorithmic', low = 0.1, high = 3 }");
        let map = format!("{NEEDED}[quantities]\n{bounded}");
        let profile = read("name,dur,r,w,b\na,1,3,4,9\n", &map).unwrap();
        let (_, origin) = profile.launch(0).get(Quantity::DramBytes).unwrap();
        assert_eq!((origin.kind, origin.low, origin.high), (OriginKind::Algorithmic, 0.1, 3.0));
        assert_eq!(origin.formula, "r + w");
    }

    /// The keys of `devices` are what the column has.
    #[test]
    fn a_device_that_the_mapping_does_not_name_is_pointed_out() {
        let map = |key| {
            format!("devices = {{ {key} = 'AMD Instinct MI300X' }}\n{NEEDED}device = 'gpu'\n")
        };
        let csv = "name,dur,gpu\na,1,0\nb,2,0\nc,3,2\n";
        let notes = read(csv, &map(1)).unwrap().notes;
        let says = "table.csv: the column \"gpu\" has \"0\", and `devices` of map.toml names only \"1\": this GPU has \
                    no name";
        assert!(notes.len() == 1 && notes[0].ends_with(says), "{notes:?}");
        assert_eq!(read("name,dur,gpu\na,1,0\n", &map(0)).unwrap().notes, [""; 0]);
    }

    /// Nanoseconds that the mapping takes for seconds.
    #[test]
    fn launches_that_take_minutes_are_pointed_out() {
        let map = NEEDED.replace("'us'", "'s'");
        let profile = read("name,dur\na,1000\nb,6000\nc,99\n", &map).unwrap();
        let says = "2 rows have launches longer than 100 s, the first of 1000 s: check the unit of the time in map.toml";
        assert!(profile.notes[0].contains(says), "{:?}", profile.notes);
        // Of a row that stands for several, the mean.
        let map = format!("{map}launches = {{ column = 'n', values = 'total' }}\n");
        assert_eq!(read("name,dur,n\na,1000,100\n", &map).unwrap().notes, [""; 0]);
    }

    /// 45 of a column without a unit are not 4500%.
    #[test]
    fn a_share_above_all_is_skipped() {
        let map = format!(
            "{NEEDED}[quantities]\nachieved_occupancy = {{ column = 'occ', unit = '%' }}\nwaves_per_sm = {{ column = 'w', unit = '1' }}\n"
        );
        let profile = read("name,dur,occ,w\na,1,250,250\nb,1,100.5,1\n", &map).unwrap();
        let of = |row: usize, quantity| profile.launch(row).value(quantity);
        assert_eq!(of(0, Quantity::AchievedOccupancy), None);
        assert_eq!(of(0, Quantity::Waves), Some(250.0));
        assert!(of(1, Quantity::AchievedOccupancy).is_some());
        let skips = &profile.sources[0].skips;
        assert_eq!((skips.count, skips.first[0].reason.as_str()), (1, "more than 100%"));
        let bare = map.replace("'%'", "'1'");
        assert_eq!(read("name,dur,occ,w\na,1,45,2\n", &bare).unwrap().sources[0].skips.count, 1);
    }

    #[test]
    fn a_bound_on_either_side_is_kept() {
        let map =
            format!("{NEEDED}flops = {{ column = 'f', unit = 'FLOP', low = 0.5, high = inf }}\n");
        let profile = read("name,dur,f\na,1,7\n", &map).unwrap();
        let (_, origin) = profile.launch(0).get(Quantity::Work(Pipe::Unstated)).unwrap();
        assert_eq!((origin.low, origin.high), (0.5, f64::INFINITY));
    }
}
