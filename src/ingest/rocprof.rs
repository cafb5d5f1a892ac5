//! Counters of rocprofv3: `counter_collection.csv`, a row for each dispatch and counter.
//!
//! The formulas are those of the mappings for ROCm Compute Profiler, which counts with the same counters. Versions
//! before ROCm 6.3 write no times: such counters complete the `kernel_trace.csv` of the same run.

use std::sync::LazyLock;

use super::mapped::{Long, Mapping, read_long};
use super::presets::with_counters;
use super::{Format, IngestError, Reading, Sample, Sniff};
use crate::model::{Profile, Profiler, Quantity, Recorded};

pub(super) const FORMAT: Format = Format {
    name: "rocprof-v3-counters",
    profiler: Profiler::Rocprof,
    summary: "AMD rocprofv3: counter_collection.csv, one row per launch and counter; older versions need kernel_trace.csv beside it",
    // MI300 cannot count both at once: of each line rocprofv3 makes a run.
    command: "printf 'pmc: FETCH_SIZE\\npmc: WRITE_SIZE\\n' > pmc.txt; \
              rocprofv3 -i pmc.txt --kernel-trace --output-format csv -d out -o run -- APP",
    sniff,
    read,
};

/// Columns that tell the table apart.
const COLUMNS: [&str; 4] = ["Counter_Name", "Counter_Value", "Dispatch_Id", "Kernel_Name"];

/// The columns of a dispatch. `Grid_Size` counts work-items; derived sizes are in KiB.
const DISPATCH: &str = r#"
optional = ["Start_Timestamp", "End_Timestamp", "Queue_Id", "FETCH_SIZE", "WRITE_SIZE", "SQ_*", "TCC_*", "TCP_*"]

[columns]
kernel = "Kernel_Name"
time = { start = "Start_Timestamp", end = "End_Timestamp", unit = "ns" }
grid = { columns = ["Grid_Size"], unit = "threads" }
block = "Workgroup_Size"
device = "Agent_Id"
stream = "Queue_Id"
id = "Dispatch_Id"
bytes = { unit = "KiB", sum = { FETCH_SIZE = 1, WRITE_SIZE = 1 } }
"#;

/// Made once, for many files.
static MAPPINGS: LazyLock<Result<Vec<Mapping>, IngestError>> = LazyLock::new(|| {
    let dispatch = Mapping::from_toml(DISPATCH, "the mapping of dispatches")?;
    with_counters(&dispatch)
});

fn sniff(sample: &Sample) -> Sniff {
    let is_in =
        |fields: &[String]| COLUMNS.iter().all(|column| fields.iter().any(|field| field == column));
    match sample.header(|line| line.contains(COLUMNS[0]), is_in) {
        Some(_) => Sniff::Yes(format!("the header has {}", COLUMNS.join(", "))),
        None => Sniff::No(format!("no header with {}", COLUMNS.join(", "))),
    }
}

fn read(reading: &mut Reading<'_>) -> Result<(), IngestError> {
    "counter_collection.csv of rocprofv3".clone_into(&mut reading.source.dialect);
    let mappings = MAPPINGS.as_ref().map_err(|error| reading.error(error.to_string()))?;
    let long = Long { mappings, apart: "Process_Id", counter: COLUMNS[0], value: COLUMNS[1] };
    read_long(reading, &long)
}

/// Leaves out counters whose launches have no time, neither their own nor that of a trace.
///
/// # Errors
/// When nothing else is left.
pub(super) fn leave_out_untimed(profile: &mut Profile) -> Result<(), IngestError> {
    let is_ours: Vec<bool> =
        profile.sources.iter().map(|source| source.format == FORMAT.name).collect();
    if !is_ours.contains(&true) {
        return Ok(());
    }
    // Dispatches whose counters are read run one at a time: what is between them is not the program's.
    let traces = profile.sources.iter_mut().filter(|source| source.profiler == Profiler::Rocprof);
    traces.for_each(|source| source.recorded = Recorded::Launches);
    let launches = &profile.launches;
    let source = |row: usize| usize::from(launches.head(row).source);
    // A launch of the profiler's that has no time among others that have one is shown as such.
    let mut is_timed = vec![false; is_ours.len()];
    let mut rows = vec![0_u64; is_ours.len()];
    for row in 0..launches.len() {
        rows[source(row)] += 1;
        is_timed[source(row)] |= launches.get(row, Quantity::Duration).is_some();
    }
    let goes = |at: usize| is_ours[at] && !is_timed[at] && rows[at] > 0;
    let Some(first) = (0..is_ours.len()).find(|at| goes(*at)) else { return Ok(()) };
    if (0..is_ours.len()).all(|at| rows[at] == 0 || goes(at)) {
        let message = "this version of rocprofv3 writes counters with no times of kernels";
        return Err(IngestError::new(&profile.sources[first].path, message).help(format!(
            "take a trace in the same run, and give both tables: {}; \
             rooflint out/pmc_*/run_kernel_trace.csv out/pmc_*/run_counter_collection.csv",
            FORMAT.command
        )));
    }
    let notes: Vec<String> = (0..is_ours.len())
        .filter(|at| goes(*at))
        .map(|at| {
            let path = &profile.sources[at].path;
            match rows[at] {
                1 => format!(
                    "{path}: 1 launch is left out: it has no time and completes no kernel trace"
                ),
                rows => format!(
                    "{path}: {rows} launches are left out: they have no times and complete no kernel trace"
                ),
            }
        })
        .collect();
    let gone: Vec<bool> = (0..launches.len()).map(|row| goes(source(row))).collect();
    profile.leave_out(&gone);
    profile.notes.extend(notes);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::{Input, Options, read as read_all};
    use crate::model::Pipe;

    const HEADER: &str = "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\",\"Thread_Id\",\"Grid_Size\",\
        \"Kernel_Id\",\"Kernel_Name\",\"Workgroup_Size\",\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\",\"SGPR_Count\",\
        \"Counter_Name\",\"Counter_Value\"";
    const TRACE: &str = "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Thread_Id\",\"Dispatch_Id\",\"Kernel_Id\",\"Kernel_Name\",\
        \"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\",\"Private_Segment_Size\",\"Group_Segment_Size\",\
        \"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"\n\
        \"KERNEL_DISPATCH\",1,1,7,1,16,\"add(float*, int)\",1,1000,3000,0,0,64,1,1,1024,1,1\n\
        \"KERNEL_DISPATCH\",1,1,7,2,17,\"mul\",2,5000,9000,0,0,64,1,1,2048,1,1\n";

    fn row(
        dispatch: u32,
        kernel: &str,
        grid: u32,
        counter: &str,
        value: &str,
        times: &str,
    ) -> String {
        format!(
            "{dispatch},{dispatch},1,1,99,99,{grid},16,\"{kernel}\",64,0,0,8,16,\"{counter}\",{value}{times}\n"
        )
    }

    fn read_texts(texts: &[(&str, String)]) -> Result<Profile, String> {
        let inputs: Vec<Input> = texts.iter().map(|(name, text)| Input::text(name, text)).collect();
        read_all(&inputs, &Options::default())
            .map_err(|error| format!("{error} | {}", error.next_step().unwrap_or_default()))
    }

    /// 64 lanes, two operations for each FMA; requests of 64 bytes, but for 32 B ones.
    #[test]
    fn rows_of_a_dispatch_may_be_apart_and_make_one_launch() {
        let mut text = format!("{HEADER},\"Start_Timestamp\",\"End_Timestamp\"\n");
        for (counter, one, two) in [
            ("SQ_INSTS_VALU_ADD_F32", "100", "1"),
            ("SQ_INSTS_VALU_MUL_F32", "0", "0"),
            ("SQ_INSTS_VALU_TRANS_F32", "0.0", "0"),
            ("SQ_INSTS_VALU_FMA_F32", "50", "1"),
            ("TCC_EA_RDREQ_sum", "1000", "10"),
            ("TCC_EA_RDREQ_32B_sum", "200", "0"),
            ("TCC_EA_WRREQ_sum", "300", "many"),
            ("TCC_EA_WRREQ_64B_sum", "300", "7"),
            ("SQ_WAVES", "16", "32"),
        ] {
            text += &row(1, "add(float*, int)", 1024, counter, one, ",1000,3000");
            text += &row(2, "mul", 2048, counter, two, ",5000,9000");
        }
        let profile = read_texts(&[("c.csv", text)]).unwrap();
        assert_eq!(profile.launches.len(), 2);
        let [add, mul] = [0, 1].map(|at| profile.launch(at));
        assert_eq!(
            (add.kernel(), add.head.id, add.head.start),
            ("add(float*, int)", 1, Some(1000))
        );
        assert_eq!((add.head.shape.blocks, add.head.shape.threads_per_block), (Some(16), Some(64)));
        assert_eq!(add.value(Quantity::Duration), Some(2_000_000.0 * 1e-12));
        assert_eq!(add.value(Quantity::Work(Pipe::Fp32Vector)), Some(64.0 * 200.0));
        assert_eq!(
            add.value(Quantity::DramBytes),
            Some(800.0 * 64.0 + 200.0 * 32.0 + 300.0 * 64.0)
        );
        assert_eq!(mul.value(Quantity::Work(Pipe::Fp32Vector)), Some(64.0 * 3.0));
        // One of its counters is no number, and the sum is missing.
        assert_eq!(mul.value(Quantity::DramBytes), None);
        let source = &profile.sources[0];
        assert_eq!((source.rows, source.launches, source.columns["SQ_WAVES"]), (18, 2, 2));
        assert_eq!((source.skips.count, source.skips.first[0].line), (1, 15));
    }

    #[test]
    fn a_counter_given_twice_with_other_values_is_left_out() {
        let mut text = format!("{HEADER},\"Start_Timestamp\",\"End_Timestamp\"\n");
        for (counter, value) in [("FETCH_SIZE", "4"), ("WRITE_SIZE", "2"), ("FETCH_SIZE", "4.0")] {
            text += &row(1, "k", 64, counter, value, ",1000,3000");
        }
        let profile = read_texts(&[("c.csv", text.clone())]).unwrap();
        assert_eq!(profile.launch(0).value(Quantity::DramBytes), Some(6.0 * 1024.0));
        text += &row(1, "k", 64, "FETCH_SIZE", "5", ",1000,3000");
        let profile = read_texts(&[("c.csv", text)]).unwrap();
        assert_eq!(profile.launch(0).value(Quantity::DramBytes), None);
        let skip = &profile.sources[0].skips.first[0];
        assert_eq!((skip.line, &*skip.text), (5, "5"));
        assert_eq!(skip.reason, "the counter is given twice, with different values");
    }

    #[test]
    fn sizes_that_version_1_derives_are_bytes() {
        let text = "Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,FetchSize,WriteSize,DispatchNs,BeginNs,EndNs,CompleteNs\n\
            0,\"add(float*, int)\",1,0,0,9,9,1024,64,3.5,0.5,1,10,20,30\n";
        let profile = read_texts(&[("results.csv", text.to_owned())]).unwrap();
        assert_eq!(profile.sources[0].format, "rocprof-v1");
        assert_eq!(profile.launch(0).value(Quantity::DramBytes), Some(4.0 * 1024.0));
        assert_eq!(profile.launch(0).value(Quantity::Duration), Some(10_000.0 * 1e-12));
        let text = text.replace("FetchSize,WriteSize", "FETCH_SIZE,WRITE_SIZE");
        let profile = read_texts(&[("results.csv", text)]).unwrap();
        assert_eq!(profile.launch(0).value(Quantity::DramBytes), Some(4.0 * 1024.0));
        // Beside the counters of all operations on FP32, and in version 2.
        let counts = "SQ_INSTS_VALU_ADD_F32,SQ_INSTS_VALU_MUL_F32,SQ_INSTS_VALU_TRANS_F32,SQ_INSTS_VALU_FMA_F32";
        let text = format!(
            "Dispatch_ID,GPU_ID,Queue_ID,PID,TID,Grid_Size,Workgroup_Size,Kernel_Name,FETCH_SIZE,WRITE_SIZE,{counts},Start_Timestamp,End_Timestamp\n\
             1,2,1,9,9,1024,64,\"add(float*, int)\",3.5,0.5,100,0,0,50,1000,3000\n"
        );
        let profile = read_texts(&[("results.csv", text)]).unwrap();
        assert_eq!(profile.sources[0].format, "rocprof-v2");
        assert_eq!(profile.launch(0).value(Quantity::DramBytes), Some(4.0 * 1024.0));
        assert_eq!(profile.launch(0).value(Quantity::Work(Pipe::Fp32Vector)), Some(64.0 * 200.0));
    }

    /// A table of version 1 or 2 whose requests to memory are given for each of so many channels.
    fn channels(start: &str, end: &str, counter: &str, channels: usize) -> String {
        let (mut titles, mut cells) = (String::new(), String::new());
        for (name, each) in [("RDREQ", 10), ("RDREQ_32B", 2), ("WRREQ", 5), ("WRREQ_64B", 4)] {
            for channel in 0..channels {
                titles += &format!(",{counter}_{name}[{channel}]");
                cells += &format!(",{each}.0000000000");
            }
        }
        for (name, value) in [("ADD_F32", 100), ("MUL_F32", 0), ("FMA_F32", 50), ("TRANS_F32", 0)] {
            titles += &format!(",SQ_INSTS_VALU_{name}");
            cells += &format!(",{value}");
        }
        titles += ",SQ_INSTS_VALU_ADD_F16,SQ_INSTS_VALU_MFMA_MOPS_BF16";
        format!("{start}{titles},BeginNs,EndNs\n{end}{cells},7,3,10,30\n")
    }

    /// A request of a channel is 8 × 64 B + 2 × 32 B of reads and 4 × 64 B + 32 B of writes: 864 B.
    #[test]
    fn counters_of_versions_1_and_2_are_operations_and_bytes() {
        let start = "Index,KernelName,gpu-id,queue-id,grd,wgr";
        let table =
            |counter, count| channels(start, "0,\"add(float*, int)\",1,0,1024,64", counter, count);
        let read = |text: String| read_texts(&[("results.csv", text)]).unwrap();
        let profile = read(table("TCC_EA", 32));
        let launch = profile.launch(0);
        assert_eq!(launch.value(Quantity::DramBytes), Some(32.0 * 864.0));
        assert_eq!(launch.value(Quantity::Work(Pipe::Fp32Vector)), Some(64.0 * 200.0));
        assert_eq!(launch.value(Quantity::Work(Pipe::Bf16Matrix)), Some(3.0 * 512.0));
        assert_eq!(launch.value(Quantity::Work(Pipe::Fp16Vector)), None);
        let clue = "flops_fp16_vector is not counted: the table lacks SQ_INSTS_VALU_FMA_F16, \
            SQ_INSTS_VALU_MUL_F16, SQ_INSTS_VALU_TRANS_F16";
        assert!(
            profile.sources[0].clues.contains(&clue.to_owned()),
            "{:?}",
            profile.sources[0].clues
        );
        // A part of the channels is not their sum, and MI300 has other requests too.
        for (counter, count) in [("TCC_EA", 31), ("TCC_EA", 16), ("TCC_EA0", 128)] {
            let profile = read(table(counter, count));
            assert_eq!(profile.launch(0).value(Quantity::DramBytes), None, "{counter} {count}");
        }
        let start = "Dispatch_ID,GPU_ID,Queue_ID,PID,TID,Grid_Size,Workgroup_Size,Kernel_Name,TCC_BUBBLE_sum";
        let text = channels(start, "1,2,1,9,9,1024,64,\"add(float*, int)\",7", "TCC_EA0", 128)
            .replace("BeginNs,EndNs", "Start_Timestamp,End_Timestamp");
        let profile = read(text);
        assert_eq!(profile.sources[0].format, "rocprof-v2");
        // Of the reads 7 are of 128 B, which are counted as 64 B too.
        let bytes = 128.0 * 864.0 + 7.0 * 64.0;
        assert_eq!(profile.launch(0).value(Quantity::DramBytes), Some(bytes));
    }

    /// A copy of 1 GiB on MI350, where reads of 128 B are not counted by `TCC_BUBBLE`: taken as on MI300 they are half.
    const COPY: [(&str, u64); 7] = [
        ("TCC_BUBBLE_sum", 0),
        ("TCC_EA0_RDREQ_sum", 1 << 23),
        ("TCC_EA0_RDREQ_32B_sum", 0),
        ("TCC_EA0_RDREQ_64B_sum", 0),
        ("TCC_EA0_RDREQ_128B_sum", 1 << 23),
        ("TCC_EA0_WRREQ_sum", 1 << 24),
        ("TCC_EA0_WRREQ_64B_sum", 1 << 24),
    ];

    #[test]
    fn reads_that_are_counted_by_size_are_summed_by_size() {
        let gib = f64::from(1 << 30);
        let bytes = |counters: &[(&str, u64)], others: &[(&str, u64)]| {
            let all = [counters, others].concat();
            let start = "Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,Kernel_Name";
            let (names, values): (Vec<&str>, Vec<String>) =
                all.iter().map(|(name, value)| (*name, value.to_string())).unzip();
            let [names, values] = [names.join(","), values.join(",")];
            let wide = format!(
                "{start},{names},Start_Timestamp,End_Timestamp\n0,4,1024,64,copy,{values},10,20\n"
            );
            let mut long = format!("{HEADER},\"Start_Timestamp\",\"End_Timestamp\"\n");
            for (name, value) in all {
                long += &row(1, "copy", 1024, name, &value.to_string(), ",1000,3000");
            }
            let of = |text: String| {
                let profile = read_texts(&[("c.csv", text)]).unwrap();
                profile.launch(0).value(Quantity::DramBytes)
            };
            [of(wide), of(long)]
        };
        assert_eq!(bytes(&COPY, &[]), [Some(2.0 * gib); 2]);
        // What is derived is of the same counters, in another way.
        let derived = [("FETCH_SIZE", 1 << 19), ("WRITE_SIZE", 1 << 20)];
        assert_eq!(bytes(&COPY, &derived), [Some(2.0 * gib); 2]);
        assert_eq!(bytes(&COPY[1..], &[]), [Some(2.0 * gib); 2]);
        // On MI300 there are no sizes of 64 and 128 B.
        let of_mi300 = [("TCC_BUBBLE_sum", 1 << 23), COPY[1], COPY[2], COPY[5], COPY[6]];
        assert_eq!(bytes(&of_mi300, &[]), [Some(2.0 * gib); 2]);
    }

    #[test]
    fn a_header_inside_is_skipped_unless_it_has_other_columns() {
        let header = format!("{HEADER},\"Start_Timestamp\",\"End_Timestamp\"\n");
        let rows = |process: &str| {
            let row = row(1, "k", 64, "FETCH_SIZE", "4", ",1000,3000");
            format!("{header}{}", row.replace(",99,99,", &format!(",{process},7,")))
        };
        let text = rows("1") + &rows("2");
        let profile = read_texts(&[("c.csv", text.clone())]).unwrap();
        let source = &profile.sources[0];
        assert_eq!((source.launches, source.other_lines, source.skips.count), (2, 1, 0));
        let turned = text.replacen(
            "\"Counter_Name\",\"Counter_Value\"",
            "\"Counter_Value\",\"Counter_Name\"",
            1,
        );
        let error = read_texts(&[("c.csv", turned)]).unwrap_err();
        assert!(
            error.starts_with("c.csv:3: a second table with other columns begins here"),
            "{error}"
        );
    }

    #[test]
    fn counters_without_times_complete_a_trace_and_are_nothing_alone() {
        let mut text = format!("{HEADER}\n");
        for (counter, value) in [("FETCH_SIZE", "4"), ("WRITE_SIZE", "2")] {
            text += &row(1, "add(float*, int)", 1024, counter, value, "");
            text += &row(2, "mul", 2048, counter, value, "");
        }
        let profile = read_texts(&[("t.csv", TRACE.to_owned()), ("c.csv", text.clone())]).unwrap();
        assert_eq!(profile.launches.len(), 2);
        let launch = profile.launch(1);
        assert_eq!(launch.value(Quantity::Duration), Some(4_000_000.0 * 1e-12));
        assert_eq!(launch.value(Quantity::DramBytes), Some(6.0 * 1024.0));
        let alone = read_texts(&[("c.csv", text.clone())]).unwrap_err();
        assert!(
            alone.starts_with("c.csv: this version of rocprofv3 writes counters with no times"),
            "{alone}"
        );
        assert!(
            alone.contains("| take a trace in the same run, and give both tables: printf "),
            "{alone}"
        );
        // Those of another program are left out.
        let other = text.replace("mul", "sub").replace("add(", "sum(");
        let profile = read_texts(&[("t.csv", TRACE.to_owned()), ("c.csv", other.clone())]).unwrap();
        assert_eq!(profile.launches.len(), 2);
        // No launch is on their GPUs any more.
        let on_others =
            other.replace("1,1,1,1,99", "1,1,5,1,99").replace("2,2,1,1,99", "2,2,5,1,99");
        let alone = read_texts(&[("t.csv", TRACE.to_owned()), ("c.csv", on_others)]).unwrap();
        assert_eq!(alone.devices, profile.devices);
        assert_eq!(alone.devices.len(), 1);
        assert!(
            profile.notes.iter().any(|note| note.contains("2 launches are left out")),
            "{:?}",
            profile.notes
        );
    }
}
