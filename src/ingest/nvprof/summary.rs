//! `nvprof --csv` without a mode, or with `--print-gpu-summary`: the total of each kernel, then other tables.

use super::{Titles, begin, cells, found, has, header_again, is_message};
use crate::ingest::rows::Row;
use crate::ingest::timeline::{Tables, TotalColumns, Totals, Turn, read_tables};
use crate::ingest::{Format, IngestError, Numerals, Reading, Sample, Sniff};
use crate::model::Profiler;

pub(super) const FORMAT: Format = Format {
    name: "nvprof-summary",
    profiler: Profiler::Nvprof,
    summary: "`nvprof` without a mode, or --print-gpu-summary: the total of each kernel",
    command: "nvprof --csv --print-gpu-summary --log-file summary.csv APP",
    sniff,
    read,
};

const WANTED: [&str; 4] = ["Time(%)", "Time", "Calls", "Name"];

fn sniff(sample: &Sample) -> Sniff {
    match found(sample, &WANTED) {
        Some(_) => Sniff::Yes("a header with Time(%), Time, Calls and Name".to_owned()),
        None => Sniff::No("no header with Time(%), Time, Calls and Name".to_owned()),
    }
}

fn columns(header: &[String], units: &[String]) -> Option<TotalColumns> {
    let titles = Titles { titles: header, units };
    Some(TotalColumns {
        titles: header.to_vec(),
        total: titles.time("Time")?,
        launches: titles.at("Calls")?,
        spread: None,
        shape: None,
        kind: titles.at("Type").map(|at| (at, "GPU activities")),
        name: titles.at("Name")?,
    })
}

struct Summary {
    numerals: Numerals,
    /// Titles whose units come next.
    header: Option<Vec<String>>,
    totals: Option<Totals>,
    /// The table that comes is of calls of the host: without a column of types, a message says so.
    is_host: bool,
    /// The tables that come are of parts of the same run, or of something else: a message says so.
    is_elsewhere: bool,
}

impl Tables for Summary {
    fn turn(&mut self, reading: &mut Reading<'_>, row: &Row) -> Result<Turn, IngestError> {
        if let Some(header) = self.header.take() {
            let Some(columns) = columns(&header, &cells(row)) else {
                return Err(reading
                    .error("no line of units below the titles: times cannot be read")
                    .line(row.line())
                    .help("give the file as nvprof wrote it"));
            };
            match &mut self.totals {
                Some(totals) => totals.turn_to(reading, columns),
                none => *none = Some(Totals::new(reading, columns, self.numerals)),
            }
            return Ok(Turn::Taken);
        }
        if is_message(row.cell(0)) {
            let text = row.whole();
            if text.contains("API calls:") || text.contains("Profiling result:") {
                self.is_host = text.contains("API calls:");
                self.is_elsewhere &= self.is_host;
            } else if text.trim_end().ends_with("result:") {
                self.is_elsewhere = true;
                return Ok(Turn::Away);
            }
            return Ok(Turn::Taken);
        }
        if row.cell(0) == b"Range" {
            // Below it are the launches of an NVTX range, which the table of all has, too.
            return Ok(Turn::Away);
        }
        if let Some(header) = header_again(reading, row, &WANTED)? {
            if self.is_elsewhere || self.is_host && !has(&header, &["Type"]) {
                return Ok(Turn::Away);
            }
            let width = header.len();
            self.header = Some(header);
            return Ok(Turn::Titles(width));
        }
        Ok(if has(&cells(row), &["Device", "Count"]) { Turn::Away } else { Turn::Row })
    }

    fn row(&mut self, reading: &mut Reading<'_>, row: &Row) -> Result<(), IngestError> {
        match &mut self.totals {
            Some(totals) if !totals.is_named(row, is_call) => totals.row(reading, row),
            _ => reading.other_line(),
        }
    }
}

/// Whether a name is that of a call of the host: without a column of types, and without the messages between them, the
/// table of calls looks like that of kernels.
fn is_call(name: &str) -> bool {
    /// What the functions of the runtime and the driver are about, after `cuda` or `cu`.
    const CALLS: [&str; 43] = [
        "Array",
        "Bind",
        "Configure",
        "Create",
        "Ctx",
        "Destroy",
        "Device",
        "Driver",
        "Event",
        "Free",
        "Func",
        "Get",
        "Graph",
        "Graphics",
        "Host",
        "Init",
        "Ipc",
        "Launch",
        "Link",
        "Malloc",
        "Mem",
        "Memcpy",
        "Memset",
        "Mipmapped",
        "Module",
        "Occupancy",
        "Param",
        "Peek",
        "Pointer",
        "Profiler",
        "Runtime",
        "Set",
        "Setup",
        "Stream",
        "Surf",
        "Tex",
        "Thread",
        "Unbind",
        "User",
        "External",
        "Import",
        "Wait",
        "Signal",
    ];
    let rest = name.strip_prefix("cuda").or_else(|| name.strip_prefix("cu"));
    rest.is_some_and(|rest| {
        let is_word = |word: &&str| {
            let after = rest.strip_prefix(*word);
            after.is_some_and(|after| !after.starts_with(|c: char| c.is_ascii_lowercase()))
        };
        CALLS.iter().any(is_word)
            && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

fn read(reading: &mut Reading<'_>) -> Result<(), IngestError> {
    let (header, numerals) = begin(reading, &WANTED, &["Time(%)", "Time", "Avg", "Min", "Max"])?;
    let width = header.len();
    reading.source.dialect = format!("GPU summary, {width} columns; times are averages");
    let mut summary = Summary {
        numerals,
        header: Some(header),
        totals: None,
        is_host: false,
        is_elsewhere: false,
    };
    read_tables(reading, width, &mut summary)?;
    if let Some(totals) = summary.totals {
        totals.finish(reading);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::ingest::{Options, read_text};

    /// The tables of NVTX ranges repeat launches of the table of all, with other units.
    #[test]
    fn launches_of_ranges_count_once() {
        let header = "\"Type\",\"Time(%)\",\"Time\",\"Calls\",\"Avg\",\"Min\",\"Max\",\"Name\"\n";
        let text = format!(
            "==7== Profiling result:\n{header},%,ms,,us,us,us,\n\
             \"GPU activities\",70.0,7.0,100,70.0,60.0,80.0,\"gemm\"\n\
             \"API calls\",70.0,7.0,110,70.0,60.0,80.0,\"cudaLaunchKernel\"\n\n\
             ==7== NVTX result:\n==7==   Thread \"<unnamed>\" (id = 1)\n==7==     Domain \"<unnamed>\"\n\
             ==7==       Range \"step\"\n{header},%,ms,,ms,ms,ms,\n\
             \"Range\",100.0,171.0,1,171.0,171.0,171.0,\"step\"\n\
             \"GPU activities\",70.0,6.9,99,0.07,0.06,0.08,\"gemm\"\n\
             ==8== Profiling result:\n{header},%,ms,,us,us,us,\n\
             \"GPU activities\",70.0,1.0,10,100.0,100.0,100.0,\"axpy\"\n"
        );
        // Without its messages, the rows of ranges tell.
        let bare: Vec<&str> = text.lines().filter(|line| !line.starts_with("==")).collect();
        for text in [text.clone(), bare.join("\n")] {
            let profile = read_text("summary.csv", text.leak(), &Options::default()).unwrap();
            let counts: Vec<(&str, u32)> =
                profile.iter().map(|launch| (launch.kernel(), launch.head.count)).collect();
            assert_eq!(counts, [("gemm", 100), ("axpy", 10)]);
        }
    }

    /// CUDA 8, whose tables have no column of types, without the messages between them.
    #[test]
    fn calls_of_the_host_are_no_kernels() {
        let text = "\"Time(%)\",\"Time\",\"Calls\",\"Avg\",\"Min\",\"Max\",\"Name\"\n%,ms,,us,us,us,\n\
            75.0,0.6,2,300.0,290.0,310.0,\"copy(float*, float const *, int)\"\n25.0,0.2,1,200.0,200.0,200.0,\"cuFilter2D\"\n\n\
            \"Time(%)\",\"Time\",\"Calls\",\"Avg\",\"Min\",\"Max\",\"Name\"\n%,ms,,ms,ms,ms,\n99.0,120.0,3,40.0,0.01,119.0,\"cudaMalloc\"\n\
            1.0,1.2,3,0.4,0.01,1.0,\"cuDeviceGetAttribute\"\n";
        let profile = read_text("summary.csv", text, &Options::default()).unwrap();
        let names: Vec<&str> = profile.iter().map(|launch| launch.kernel()).collect();
        assert_eq!(names, ["copy(float*, float const *, int)", "cuFilter2D"]);
        assert!(profile.sources[0].other_lines >= 2);
    }
}
