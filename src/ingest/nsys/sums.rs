//! `nsys stats --report cuda_gpu_kern_sum` and `…_kern_gb_sum` (`gpukernsum` until 2022): one row per kernel, or per
//! kernel, grid and block.

use super::titles::Titles;
use super::{begin, found, turn};
use crate::ingest::rows::Row;
use crate::ingest::timeline::{Tables, TotalColumns, Totals, Turn, read_tables};
use crate::ingest::{Format, IngestError, Reading, Sample, Sniff};
use crate::model::Profiler;

pub(super) const FORMAT: Format = Format {
    name: "nsys-sum",
    profiler: Profiler::NsightSystems,
    summary: "`nsys stats` cuda_gpu_kern_sum or cuda_gpu_kern_gb_sum: the total of each kernel",
    command: "nsys profile -o run APP && nsys stats --report cuda_gpu_kern_gb_sum --format csv --output . run.nsys-rep",
    sniff,
    read,
};

/// A title that every header has.
const WORD: &str = "Instances";

fn sniff(sample: &Sample) -> Sniff {
    match found(sample, WORD, columns) {
        Some(_) => Sniff::Yes("a header with Total Time, Instances and Name".to_owned()),
        None => Sniff::No("no header with Total Time, Instances and Name".to_owned()),
    }
}

fn columns(header: &[String]) -> Option<TotalColumns> {
    let titles = Titles(header);
    // `mpi_event_sum` has all of them, and says beside each call what made it.
    if titles.at("Source").is_some() {
        return None;
    }
    let pair = |one, two| Some([titles.at(one)?, titles.at(two)?]);
    let kind = titles.at("Category").map(|at| (at, "CUDA_KERNEL"));
    Some(TotalColumns {
        titles: header.to_vec(),
        total: titles.time("Total Time")?,
        launches: titles.at(WORD)?,
        spread: pair("Avg", "StdDev"),
        shape: pair("GridXYZ", "BlockXYZ"),
        name: titles.at(if kind.is_some() { "Operation" } else { "Name" })?,
        kind,
    })
}

struct Sums(Totals);

impl Tables for Sums {
    fn turn(&mut self, reading: &mut Reading<'_>, row: &Row) -> Result<Turn, IngestError> {
        let (turn, columns) = turn(reading, row, columns)?;
        if let Some(columns) = columns {
            self.0.turn_to(reading, columns);
        }
        Ok(turn)
    }

    fn row(&mut self, reading: &mut Reading<'_>, row: &Row) -> Result<(), IngestError> {
        self.0.row(reading, row)
    }
}

fn read(reading: &mut Reading<'_>) -> Result<(), IngestError> {
    let is_number =
        |title: &str| matches!(title, "Total Time" | "Avg" | "Average" | "StdDev" | "Time");
    let (columns, numerals) = begin(reading, WORD, columns, is_number)?;
    let width = columns.titles.len();
    let report = match (columns.kind, columns.shape) {
        (Some(_), _) => "cuda_gpu_sum",
        (None, Some(_)) => "cuda_gpu_kern_gb_sum",
        (None, None) => "cuda_gpu_kern_sum",
    };
    reading.source.dialect = format!("{report}, {width} columns; times are averages");
    let mut sums = Sums(Totals::new(reading, columns, numerals));
    read_tables(reading, width, &mut sums)?;
    sums.0.finish(reading);
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::ingest::{Options, read_text};

    const KERNELS: &str = "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n\
        100.0,7000000,100,70000.0,70000.0,60000,80000,1000.0,gemm\n";
    const CALLS: &str = "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Source,Name\n\
        70.0,7000000,100,70000.0,70000.0,60000,80000,1000.0,collectives,MPI_Allreduce\n";

    /// `mpi_event_sum` has the columns of a table of kernels.
    #[test]
    fn calls_of_mpi_are_no_kernels() {
        for text in [format!("{KERNELS}\n{CALLS}"), format!("{CALLS}\n{KERNELS}")] {
            let profile = read_text("sums.csv", text.leak(), &Options::default()).unwrap();
            let names: Vec<&str> = profile.iter().map(|launch| launch.kernel()).collect();
            assert_eq!(names, ["gemm"]);
        }
        let error = read_text("sums.csv", CALLS, &Options::default()).unwrap_err();
        assert!(error.to_string().contains("table of calls or ranges"), "{error}");
    }
}
