//! What `key_averages()` gives: the table that `.table()` prints, or a CSV of its attributes.
//!
//! Operators and kernels are rows of one table, and the time of an operator is that of its kernels:
//! only the rows of kernels are launches.

use std::collections::HashSet;

use crate::ingest::rows::{self, fields};
use crate::ingest::timeline::{Tables, Turn, read_tables};
use crate::ingest::{Format, IngestError, Reading, Sample, Sniff};
use crate::model::{DeviceHint, Head, Origin, Profiler, Quantity, Values};
use crate::plain::counted;
use crate::units::si;

pub(super) const FORMAT: Format = Format {
    name: "pytorch-averages",
    profiler: Profiler::PyTorch,
    summary: "key_averages() of the PyTorch profiler: its table as text, or its attributes as CSV",
    command: "prof.key_averages().table(max_name_column_width=1000)  # better: prof.export_chrome_trace(\"trace.json.gz\")",
    sniff,
    read,
};

/// A table of text parts its columns with at least this many blanks.
const GAP: &str = "  ";

/// Where the columns are that are read.
#[derive(Debug)]
struct Columns {
    name: usize,
    count: usize,
    /// Time of the CPU, the children's included; a kernel has none.
    cpu: usize,
    /// Time of the GPU.
    gpu: usize,
    /// The title of that column.
    title: String,
    width: usize,
    is_text: bool,
}

impl Columns {
    /// The columns that a line names, if it is the header.
    fn of(line: &str) -> Option<Self> {
        if line.contains("Self CPU %") && line.contains("# of Calls") {
            let titles: Vec<&str> = cells(line).collect();
            let at = |title: &str| titles.iter().position(|one| *one == title);
            let device = ["Self CUDA", "Self XPU", "Self PRIVATEUSEONE"];
            let gpu = device.iter().find_map(|title| at(title))?;
            return Some(Self {
                name: at("Name")?,
                count: at("# of Calls")?,
                cpu: at("CPU total")?,
                gpu,
                title: titles[gpu].to_owned(),
                width: titles.len(),
                is_text: true,
            });
        }
        if !line.contains("cpu_time_total") {
            return None;
        }
        let titles = fields(line, b',');
        let at = |title: &str| titles.iter().position(|one| one == title);
        let gpu = at("self_device_time_total").or_else(|| at("self_cuda_time_total"))?;
        Some(Self {
            name: at("key")?,
            count: at("count")?,
            cpu: at("cpu_time_total")?,
            gpu,
            title: titles[gpu].clone(),
            width: titles.len(),
            is_text: false,
        })
    }
}

/// The cells of a line of text.
fn cells(line: &str) -> impl Iterator<Item = &str> {
    line.split(GAP).map(str::trim).filter(|cell| !cell.is_empty())
}

/// The titles of a table, with or without times of the GPU.
fn is_title(line: &str) -> bool {
    line.contains("Self CPU %") && line.contains("# of Calls")
        || line.contains("self_cpu_time_total")
}

fn sniff(sample: &Sample) -> Sniff {
    match sample.titles().find(|(_, line)| is_title(line)) {
        Some(_) => Sniff::Yes("the titles of key_averages()".to_owned()),
        None => Sniff::No("no titles of key_averages()".to_owned()),
    }
}

/// A row of a table.
#[derive(Debug)]
struct Row {
    /// The table of the file that it is in.
    table: usize,
    line: u64,
    name: String,
    count: u32,
    /// Seconds.
    cpu: f64,
    /// Seconds.
    gpu: f64,
}

fn read(reading: &mut Reading<'_>) -> Result<(), IngestError> {
    const EXPORT: &str = "export the trace, which has every launch with its shapes: \
        prof.export_chrome_trace(\"trace.json.gz\")";
    let mut title = String::new();
    reading.header(
        |line| {
            is_title(line) && {
                line.clone_into(&mut title);
                true
            }
        },
        |_| {},
    )?;
    let Some(columns) = Columns::of(&title) else {
        return Err(reading
            .error("the averages of the PyTorch profiler have no time of the GPU")
            .help("record it: torch.profiler.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])"));
    };
    let (gpu, is_text, width) = (columns.title.clone(), columns.is_text, columns.width);
    let mut tables = Below { columns: Some(columns), rows: Vec::new(), totals: vec![None] };
    if is_text {
        tables.read_text(reading)?;
    } else {
        read_tables(reading, width, &mut tables)?;
    }
    let Below { rows, totals, .. } = tables;
    // The range around a compiled kernel has the kernel's name and its time; that around anything else has no time of its own.
    let is_kernel = |row: &Row| row.name.starts_with("triton_");
    let is_range = |row: &&Row| row.cpu > 0.0 && row.gpu <= 0.0 && !is_kernel(row);
    let of = |rows: &mut dyn Iterator<Item = &Row>| -> HashSet<String> {
        rows.map(|row| row.name.clone()).collect()
    };
    let launching = of(&mut rows.iter().filter(|row| row.cpu > 0.0 && row.gpu > 0.0));
    let ranges = &of(&mut rows.iter().filter(is_range)) - &launching;
    let origin = reading.origin(&Origin::measured(&gpu));
    let device = reading.hint(DeviceHint::default());
    let mut values = Values::default();
    let (mut operators, mut moved, mut cut) = (0_u64, 0_u64, 0_u64);
    let mut times = vec![0.0; totals.len()];
    for row in &rows {
        let is_on_gpu = row.cpu <= 0.0 && row.gpu > 0.0 && row.count > 0;
        // No kernel takes longer than all.
        let is_too_long = totals[row.table].is_some_and(|total| row.gpu > total * (1.0 + ROUNDED));
        // A range of the program has a row of its name on the CPU and another on the GPU.
        if !is_on_gpu || is_too_long || ranges.contains(&row.name) || is_annotation(&row.name) {
            operators += 1;
        } else if row.name.starts_with("Memcpy ") || row.name.starts_with("Memset ") {
            moved += 1;
        } else {
            cut += u64::from(row.name.ends_with("..."));
            times[row.table] += row.gpu;
            values.clear();
            values.set(Quantity::Duration, row.gpu / f64::from(row.count), origin);
            let name = reading.name(row.name.as_bytes());
            let id = u32::try_from(row.line).unwrap_or(u32::MAX);
            reading.push(Head { id, name, device, count: row.count, ..Head::default() }, &values);
        }
    }
    for (time, total) in times.into_iter().zip(&totals) {
        let Some(total) = total.filter(|total| time > total * (1.0 + ROUNDED)) else { continue };
        reading.check(&format!(
            "the rows of kernels take {}, and the table's own total is {}: some may be ranges of the program, which \
             count; {EXPORT}",
            si(time, "s"),
            si(total, "s")
        ));
    }
    if reading.source.launches == 0 {
        return Err(reading
            .error(format!("none of the {} rows is a kernel, only operators", rows.len()))
            .help(EXPORT));
    }
    let source = &mut reading.source;
    source.dialect = if is_text {
        "table of key_averages()".to_owned()
    } else {
        "attributes of key_averages() as CSV".to_owned()
    };
    if operators > 0 {
        let rows =
            counted(operators, "row is an operator or range", "rows are operators or ranges");
        source.clues.push(format!("{rows}: left out, as their time is that of their kernels"));
    }
    if moved > 0 {
        let rows = counted(moved, "row is a copy or fill", "rows are copies and fills");
        source.clues.push(format!("{rows}: left out"));
    }
    if cut > 0 {
        let names = counted(cut, "name of a kernel is cut", "names of kernels are cut");
        source.clues.push(format!("{names}: print them with table(max_name_column_width=1000)"));
    }
    source.clues.push(format!("averages have no grids, shapes and devices; {EXPORT}"));
    Ok(())
}

/// Sums of times that a table rounds differ by less than this share.
const ROUNDED: f64 = 1e-3;

/// Whether a name is that of a range which PyTorch, its compiler or its frameworks annotate on the GPU.
fn is_annotation(name: &str) -> bool {
    const STARTS: [&str; 12] = [
        "ProfilerStep",
        "## Call CompiledFxGraph",
        "Torch-Compiled Region",
        "CompiledFunction",
        "Optimizer.step#",
        "Optimizer.zero_grad#",
        "DistributedDataParallel.",
        "FullyShardedDataParallel.",
        "FSDP::",
        "nn.Module: ",
        "nccl:",
        "[pl]",
    ];
    STARTS.iter().any(|start| name.starts_with(start))
}

/// What is below the titles of the tables of a file.
#[derive(Debug)]
struct Below {
    /// Those of the table that is read; `None` in one without times of the GPU.
    columns: Option<Columns>,
    rows: Vec<Row>,
    /// For each table the time of all kernels, copies and fills in seconds, as a line below it says.
    totals: Vec<Option<f64>>,
}

impl Below {
    /// Adds what a row says.
    fn add(
        &mut self,
        reading: &mut Reading<'_>,
        (line, text): (u64, &str),
        parts: &[String],
    ) -> Result<(), IngestError> {
        reading.source.rows += 1;
        let Some(columns) = &self.columns else {
            return reading.skip(line, None, text, "its table has no time of the GPU");
        };
        if parts.len() != columns.width {
            let reason = format!("{} cells instead of {}", parts.len(), columns.width);
            return reading.skip(line, None, text, reason);
        }
        let time = |at: usize| {
            let cell = parts[at].as_str();
            // A CSV has microseconds without a unit.
            if columns.is_text { seconds(cell) } else { amount(cell).map(|micros| micros / 1e6) }
        };
        let count = parts[columns.count].parse().ok();
        match (count, time(columns.cpu), time(columns.gpu)) {
            (Some(count), Some(cpu), Some(gpu)) => {
                let table = self.totals.len() - 1;
                let name = parts[columns.name].clone();
                self.rows.push(Row { table, line, name, count, cpu, gpu });
                Ok(())
            }
            _ => reading.skip(line, None, text, "a count or a time cannot be read"),
        }
    }

    /// Reads what is printed below the titles.
    fn read_text(&mut self, reading: &mut Reading<'_>) -> Result<(), IngestError> {
        let mut line = Vec::new();
        loop {
            line.clear();
            if reading.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let text = String::from_utf8_lossy(&line);
            let text = text.trim_end_matches(['\r', '\n']);
            if let Some((of, time)) = text.split_once(" time total: ")
                && of.starts_with("Self ")
                && of != "Self CPU"
            {
                if let Some(last) = self.totals.last_mut() {
                    *last = seconds(time.trim()).filter(|total| *total > 0.0);
                }
                self.totals.push(None);
            }
            let is_frame = text.trim().is_empty()
                || text.starts_with("---")
                || text.starts_with("Self ") && text.contains("time total:");
            if is_title(text) {
                self.columns = Columns::of(text);
            } else if !is_frame {
                let parts: Vec<String> = cells(text).map(str::to_owned).collect();
                let number = reading.line();
                self.add(reading, (number, text), &parts)?;
            }
        }
    }
}

impl Tables for Below {
    fn turn(&mut self, _: &mut Reading<'_>, row: &rows::Row) -> Result<Turn, IngestError> {
        let text = row.whole();
        if !is_title(&text) {
            return Ok(Turn::Row);
        }
        self.columns = Columns::of(&text);
        Ok(self.columns.as_ref().map_or(Turn::Away, |columns| Turn::Titles(columns.width)))
    }

    fn row(&mut self, reading: &mut Reading<'_>, row: &rows::Row) -> Result<(), IngestError> {
        let width = self.columns.as_ref().map_or(0, |columns| columns.width);
        let parts: Vec<String> = (0..width).map(|at| row.text(at)).collect();
        self.add(reading, (row.line(), &row.whole()), &parts)
    }
}

/// A time with its unit.
fn seconds(cell: &str) -> Option<f64> {
    let units = [("us", 1e-6), ("ms", 1e-3), ("s", 1.0)];
    let (number, factor) =
        units.iter().find_map(|(unit, factor)| Some((cell.strip_suffix(unit)?, factor)))?;
    Some(amount(number)? * factor)
}

fn amount(cell: &str) -> Option<f64> {
    let number: f64 = cell.parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number)
}

#[cfg(test)]
mod tests {
    use crate::ingest::{Options, read_text};
    use crate::model::Quantity;

    fn read(text: &'static str) -> Result<Vec<(String, u32, f64)>, String> {
        let profile = read_text("averages.txt", text, &Options::default())
            .map_err(|error| format!("{error} | {}", error.next_step().unwrap_or_default()))?;
        let launches = profile.iter().map(|launch| {
            let time = launch.value(Quantity::Duration).unwrap() * 1e6;
            (launch.kernel().to_owned(), launch.head.count, (time * 1e3).round() / 1e3)
        });
        Ok(launches.collect())
    }

    #[test]
    fn rows_of_kernels_are_launches_and_rows_of_operators_are_not() {
        let text = "\
-----  -----\n\
 Name    Self CPU %      Self CPU   CPU total %     CPU total     Self CUDA    Self CUDA %    # of Calls  \n\
-----  -----\n\
 aten::mm         10.00%      68.000us     12.00%     1.234ms     6.000ms     60.00%     3  \n\
 void gemm<128>(float*, int)     0.00%     0.000us     0.00%     0.000us     6.000ms     60.00%     3  \n\
 ProfilerStep*     1.00%     9.000us     1.00%     2.000s     0.000us     0.00%     1  \n\
 ProfilerStep*     0.00%     0.000us     0.00%     0.000us     7.000ms     70.00%     1  \n\
 Memcpy HtoD (Pinned -> Device)     0.00%     0.000us     0.00%     0.000us     5.000us     0.05%     1  \n\
-----  -----\n\
Self CPU time total: 2.0s\n\
Self CUDA time total: 6.005ms\n";
        assert_eq!(read(text), Ok(vec![("void gemm<128>(float*, int)".to_owned(), 3, 2000.0)]));
    }

    /// `torch.compile` opens a range with the kernel's name; a range of the program has no time of its own.
    #[test]
    fn a_compiled_kernel_is_one_and_a_range_on_the_gpu_is_none() {
        let text = "\
 Name    Self CPU %      Self CPU   CPU total %     CPU total     Self CUDA    Self CUDA %    # of Calls  \n\
 triton_poi_fused_gelu_3     0.01%     43.000us     0.01%     55.000us     5.000ms     62.50%     5  \n\
 triton_poi_fused_gelu_3     0.00%     0.000us     0.00%     0.000us     5.000ms     62.50%     5  \n\
 ProfilerStep*     0.00%     0.000us     0.00%     0.000us     7.000ms     87.50%     1  \n\
 forward     1.00%     9.000us     1.00%     2.000s     0.000us     0.00%     1  \n\
 forward     0.00%     0.000us     0.00%     0.000us     6.000ms     75.00%     1  \n\
 longer_than_all     0.00%     0.000us     0.00%     0.000us     9.000ms     112.50%     1  \n\
 gemm     0.00%     0.000us     0.00%     0.000us     3.000ms     37.50%     3  \n\
Self CPU time total: 2.0s\n\
Self CUDA time total: 8.000ms\n";
        let kernels =
            vec![("triton_poi_fused_gelu_3".to_owned(), 5, 1000.0), ("gemm".to_owned(), 3, 1000.0)];
        assert_eq!(read(text), Ok(kernels));
        let profile = |text: &'static str| read_text("a.txt", text, &Options::default()).unwrap();
        assert_eq!(profile(text).checks.len(), 0);
        let less = text.replace("8.000ms\n", "7.000ms\n").replace("9.000ms", "6.000ms");
        let checks = profile(less.leak()).checks;
        assert!(
            checks[0].contains("take 14.0 ms, and the table's own total is 7.00 ms"),
            "{checks:?}"
        );
        // Two tables in one file have a total each.
        let short = text.replace("5.000ms", "1.000ms").replace("8.000ms\n", "4.000ms\n");
        let both: &str = format!("{text}{short}").leak();
        let launches: Vec<f64> =
            read(both).unwrap().iter().map(|one| one.2 * f64::from(one.1)).collect();
        assert_eq!(launches, [5000.0, 3000.0, 1000.0, 3000.0]);
        assert!(!profile(both).checks.iter().any(|check| check.contains("own total")));
    }

    #[test]
    fn attributes_as_csv_are_in_microseconds() {
        let text = "key,count,self_cpu_time_total,cpu_time_total,self_device_time_total,flops\n\
            aten::mm,2,5.5,9.0,40.0,100\n\
            \"gemm<1, 2>\",2,0,0,40.0,0\n";
        assert_eq!(read(text), Ok(vec![("gemm<1, 2>".to_owned(), 2, 20.0)]));
    }

    /// A header inside names the columns of what is below it, and a quoted name may have several lines.
    #[test]
    fn later_titles_and_names_of_several_lines_are_read() {
        let csv = "key,count,self_cpu_time_total,cpu_time_total,self_device_time_total,device_time_total\n\
            gemm,2,0,0,40,40\n\
            key,count,self_cpu_time_total,cpu_time_total,device_time_total,self_device_time_total\n\
            foo,2,0,0,70,50\n\
            ,key,count,self_cpu_time_total,cpu_time_total,self_cuda_time_total\n\
            0,\"axpy(float*,\n int)\",1,0,0,9\n";
        let row = |name: &str, count, time| (name.to_owned(), count, time);
        let kernels =
            vec![row("gemm", 2, 20.0), row("foo", 2, 25.0), row("axpy(float*,  int)", 1, 9.0)];
        assert_eq!(read(csv), Ok(kernels));
        let text = "\
 Name    Self CPU %      Self CPU   CPU total %     CPU total     Self CUDA    CUDA total    CUDA Mem    # of Calls  \n\
 gemm     0.00%     0.000us     0.00%     0.000us     5.000ms     6.000ms     0 b     2  \n\
Self CPU time total: 2.0s\n\
Self CUDA time total: 5.000ms\n\
 Name    Self CPU %      Self CPU   CPU total %     CPU total     CUDA total    Self CUDA    # of Calls  \n\
 axpy     0.00%     0.000us     0.00%     0.000us     8.000ms     7.000ms     1  \n\
 Name    Self CPU %      Self CPU   CPU total %     CPU total    # of Calls  \n\
 aten::mm     1.00%     1.000us     1.00%     2.000us     1  \n";
        assert_eq!(read(text), Ok(vec![row("gemm", 2, 2500.0), row("axpy", 1, 7000.0)]));
        let profile = read_text("a.txt", text, &Options::default()).unwrap();
        let skips = &profile.sources[0].skips;
        assert!(skips.first[0].reason.contains("no time of the GPU"), "{skips:?}");
    }

    #[test]
    fn tables_without_kernels_are_refused_with_the_next_step() {
        let cpu =
            "Name  Self CPU %  Self CPU  CPU total  # of Calls\na  1.00%  1.000us  1.000us  1\n";
        assert!(read(cpu).unwrap_err().contains("no time of the GPU"));
        let operators = "key,count,cpu_time_total,self_cpu_time_total,self_cuda_time_total\naten::mm,2,5.5,1,9.0\n";
        let error = read(operators).unwrap_err();
        assert!(error.contains("none of the 1 rows is a kernel"), "{error}");
        assert!(error.contains("export_chrome_trace"), "{error}");
    }
}
