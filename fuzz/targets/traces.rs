//! Launches as traces in the formats of the profilers: when each began, on which GPU.

use std::collections::BTreeMap;

use super::choices::Choices;
use super::launches::Truth;
use super::sheet::{Rows, Sheet};

/// A launch in a trace.
#[derive(Debug, Clone)]
pub(crate) struct Started {
    pub(crate) launch: Truth,
    /// The number of the process of a job, and of its GPU.
    pub(crate) rank: u32,
    /// Nanoseconds since the profiler started.
    pub(crate) start: u64,
    pub(crate) nanoseconds: u64,
}

/// The format of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// `nsys stats --report cuda_gpu_trace`.
    NsightSystems,
    /// The JSON of `torch.profiler`.
    PyTorch,
    /// The kernels of DLProf.
    DlProf,
}

impl Form {
    pub(crate) fn choose(choices: &mut Choices<'_>) -> Self {
        choices.pick(&[Self::NsightSystems, Self::PyTorch, Self::DlProf])
    }
}

const GPU: &str = "NVIDIA H100 80GB HBM3";

/// The trace as a file has it.
pub(crate) fn trace(launches: &[Started], form: Form, choices: &mut Choices<'_>) -> Vec<u8> {
    let rows = match form {
        Form::NsightSystems => nsight_systems(launches),
        Form::DlProf => dlprof(launches),
        Form::PyTorch => return pytorch(launches),
    };
    Sheet::choose(choices, false).write(&rows)
}

fn rows(header: &str, launches: &[Started], cells: fn(&Started) -> Vec<String>) -> Rows {
    let header = header.split(',').map(str::to_owned).collect();
    std::iter::once(header).chain(launches.iter().map(cells)).collect()
}

fn nsight_systems(launches: &[Started]) -> Rows {
    const HEADER: &str = "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),Throughput (MBps),SrcMemKd,DstMemKd,Device,Ctx,Strm,Name";
    rows(HEADER, launches, |one| {
        let launch = &one.launch;
        let mut cells =
            vec![one.start.to_string(), one.nanoseconds.to_string(), (launch.id + 100).to_string()];
        cells.extend(launch.grid.iter().chain(&launch.block).map(u32::to_string));
        cells.extend(["32", "0.000", "0.000", "", "", "", ""].map(str::to_owned));
        cells.push(format!("{GPU} ({})", one.rank));
        cells.extend(["1".to_owned(), launch.stream.to_string(), launch.kernel.clone()]);
        cells
    })
}

fn dlprof(launches: &[Started]) -> Rows {
    const HEADER: &str = "Iteration,Op Name,Device ID,GPU Start Time (ns),GPU Duration (ns),Grid X,Grid Y,Grid Z,Block X,Block Y,Block Z,Long Kernel Name";
    rows(HEADER, launches, |one| {
        let launch = &one.launch;
        let mut cells = vec!["0".to_owned(), "op".to_owned(), one.rank.to_string()];
        cells.extend([one.start.to_string(), one.nanoseconds.to_string()]);
        cells.extend(launch.grid.iter().chain(&launch.block).map(u32::to_string));
        cells.push(launch.kernel.clone());
        cells
    })
}

/// The sums of a trace: `nsys stats --report cuda_gpu_kern_gb_sum`, a row for a kernel with its launch configuration.
pub(crate) fn sums(launches: &[Started], choices: &mut Choices<'_>) -> Vec<u8> {
    const HEADER: [&str; 11] = [
        "Time (%)",
        "Total Time (ns)",
        "Instances",
        "Avg (ns)",
        "Med (ns)",
        "Min (ns)",
        "Max (ns)",
        "StdDev (ns)",
        "GridXYZ",
        "BlockXYZ",
        "Name",
    ];
    type Work<'a> = (&'a str, [u32; 3], [u32; 3]);
    let mut by_kernel: BTreeMap<Work<'_>, Vec<u64>> = BTreeMap::new();
    for one in launches {
        let Truth { kernel, grid, block, .. } = &one.launch;
        by_kernel.entry((kernel, *grid, *block)).or_default().push(one.nanoseconds);
    }
    let all: u64 = launches.iter().map(|one| one.nanoseconds).sum();
    let mut rows: Rows = vec![HEADER.map(str::to_owned).to_vec()];
    for ((kernel, grid, block), mut times) in by_kernel {
        times.sort_unstable();
        let (sum, count) = (times.iter().sum::<u64>(), times.len());
        let extent = |[x, y, z]: [u32; 3]| format!("{x:>4} {y:>4} {z:>4}");
        let mean = sum as f64 / count as f64;
        rows.push(vec![
            format!("{:.1}", 100.0 * sum as f64 / all as f64),
            sum.to_string(),
            count.to_string(),
            format!("{mean:.1}"),
            format!("{:.1}", times[count / 2] as f64),
            times[0].to_string(),
            times[count - 1].to_string(),
            "0.0".to_owned(),
            extent(grid),
            extent(block),
            kernel.to_owned(),
        ]);
    }
    Sheet::choose(choices, false).write(&rows)
}

fn pytorch(launches: &[Started]) -> Vec<u8> {
    // Microseconds with three decimals are whole nanoseconds.
    let microseconds = |nanoseconds: u64| nanoseconds as f64 / 1e3;
    let events: Vec<serde_json::Value> = launches
        .iter()
        .map(|one| {
            let launch = &one.launch;
            serde_json::json!({
                "ph": "X", "cat": "kernel", "name": launch.kernel,
                "pid": one.rank, "tid": launch.stream,
                "ts": microseconds(one.start), "dur": microseconds(one.nanoseconds),
                "args": {
                    "device": one.rank, "context": 1, "stream": launch.stream,
                    "correlation": launch.id + 100, "registers per thread": 32,
                    "grid": launch.grid, "block": launch.block,
                },
            })
        })
        .collect();
    let gpu = |rank: u32| {
        serde_json::json!({
            "id": rank, "name": GPU, "computeMajor": 9, "computeMinor": 0, "numSms": 132,
        })
    };
    let gpus: Vec<serde_json::Value> = (0..2).map(gpu).collect();
    let document = serde_json::json!({
        "schemaVersion": 1, "deviceProperties": gpus, "traceEvents": events,
    });
    document.to_string().into_bytes()
}
