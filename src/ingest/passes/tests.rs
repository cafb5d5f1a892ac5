//! Passes of made runs.

use crate::ingest::{Input, Options, read};
use crate::model::{Pipe, Profile, Quantity};

const HEADER: &str = "Correlation_Id,Dispatch_Id,Agent_Id,Queue_Id,Process_Id,Thread_Id,Grid_Size,Kernel_Id,Kernel_Name,\
    Workgroup_Size,Counter_Name,Counter_Value";
const TIMES: &str = ",Start_Timestamp,End_Timestamp";

/// A pass of two dispatches: each counter with its values, and when both began. No two processes take equally long.
fn pass(process: u32, starts: [u64; 2], counters: &[(&str, [u64; 2])]) -> String {
    let mut text = format!("{HEADER}{TIMES}\n");
    for (at, (kernel, took)) in [("add", 2000), ("mul", 4000)].into_iter().enumerate() {
        let (id, end) = (at + 1, starts[at] + took * u64::from(process) / 7);
        for (counter, values) in counters {
            text += &format!(
                "{id},{id},1,1,{process},{process},1024,16,{kernel},64,{counter},{},{},{end}\n",
                values[at], starts[at]
            );
        }
    }
    text
}

/// The same without times, as before ROCm 6.3.
fn untimed(text: &str) -> String {
    let rows = text.lines().map(|line| line.rsplitn(3, ',').last().unwrap_or_default());
    rows.collect::<Vec<_>>().join("\n") + "\n"
}

fn of(files: &[(&str, &str)]) -> Profile {
    let inputs: Vec<Input> = files.iter().map(|(name, text)| Input::text(name, text)).collect();
    read(&inputs, &Options::default()).unwrap()
}

fn all(profile: &Profile, quantity: Quantity) -> Vec<Option<f64>> {
    profile.iter().map(|launch| launch.value(quantity)).collect()
}

fn fetch(process: u32) -> String {
    pass(process, [1000, 9000], &[("FETCH_SIZE", [3, 30]), ("SQ_WAVES", [16, 16])])
}

fn write(process: u32) -> String {
    pass(process, [5000, 20000], &[("WRITE_SIZE", [1, 10])])
}

/// 3 + 1 and 30 + 10 KiB; the times are those of the first pass.
#[test]
fn a_sum_over_counters_of_two_passes_is_there() {
    let (fetch, write) = (fetch(7), write(8));
    for files in [
        [("pmc_1/c.csv", &*fetch), ("pmc_2/c.csv", &*write)],
        [("c2.csv", &write), ("c1.csv", &fetch)],
        [("a/c.csv", &fetch), ("b/c.csv", &write.replace(",8,", ",7,"))],
    ] {
        let found = of(&files);
        let bytes = [Some(4096.0), Some(40960.0)];
        assert_eq!(all(&found, Quantity::DramBytes), bytes, "{:?}", found.notes);
        let of_first = all(&of(&files[..1]), Quantity::Duration);
        assert_eq!(all(&found, Quantity::Duration), of_first);
        let clues: Vec<&String> = found.sources.iter().flat_map(|one| &one.clues).collect();
        assert!(clues.is_empty(), "{clues:?}");
        let note = format!(
            "joined 2 launches of {} with those of {}, counters of another pass, by launch number, kernel and grid",
            files[1].0, files[0].0
        );
        assert_eq!(found.notes, [note]);
        assert!(found.checks.is_empty(), "{:?}", found.checks);
    }
}

/// 3 + 1 and 30 + 10 KiB, each dispatch once.
fn are_whole(files: &[(&str, &str)]) {
    let found = of(files);
    let bytes = [Some(4096.0), Some(40960.0)];
    assert_eq!(all(&found, Quantity::DramBytes), bytes, "{:?}", found.notes);
    assert!(found.checks.is_empty(), "{:?}", found.checks);
}

/// The first pass broke off after a dispatch: the others have the second one together.
#[test]
fn launches_that_the_first_pass_lacks_are_joined_with_each_other() {
    let instructions = pass(6, [2000, 15000], &[("SQ_INSTS_VALU_ADD_F32", [5, 50])]);
    let (fetch, write) = (fetch(7), write(8));
    let cut = instructions.lines().take(2).collect::<Vec<_>>().join("\n") + "\n";
    for files in [
        [("pmc_1/c.csv", &*cut), ("pmc_2/c.csv", &*fetch), ("pmc_3/c.csv", &*write)],
        [("pmc_1/c.csv", &fetch), ("pmc_2/c.csv", &cut), ("pmc_3/c.csv", &write)],
    ] {
        are_whole(&files);
    }
}

/// Parts of one pass have other launches of the run.
#[test]
fn parts_of_a_pass_join_the_run_that_has_all() {
    let (fetch, write) = (fetch(7), write(8));
    let lines: Vec<&str> = write.lines().collect();
    let [one, two] = [1, 2].map(|at| format!("{}\n{}\n", lines[0], lines[at]));
    for files in [
        [("a.csv", &*fetch), ("b.csv", &*one), ("c.csv", &*two)],
        [("a.csv", &*fetch), ("c.csv", &*two), ("b.csv", &*one)],
    ] {
        are_whole(&files);
    }
}

/// Both passes in one table, one behind the other; and at the same times, which say nothing of copies.
#[test]
fn passes_are_told_apart_by_process_and_counters() {
    let write = write(8);
    let body = write.split_once('\n').unwrap().1;
    let bytes = [Some(4096.0), Some(40960.0)];
    let one = of(&[("c.csv", &(fetch(7) + body))]);
    assert_eq!(all(&one, Quantity::DramBytes), bytes, "{:?}", one.notes);
    let at_once = pass(7, [1000, 9000], &[("WRITE_SIZE", [1, 10])]);
    let two = of(&[("1.csv", &fetch(7)), ("2.csv", &at_once)]);
    assert_eq!(all(&two, Quantity::DramBytes), bytes, "{:?}", two.notes);
    assert!(two.checks.is_empty(), "{:?}", two.checks);
}

/// The same two dispatches as tables of version 1 and 2, which have a column for each counter.
fn wide(version: u32, process: u32, starts: [u64; 2], counters: &[(&str, [u64; 2])]) -> String {
    let titles: Vec<&str> = counters.iter().map(|(name, _)| *name).collect();
    let titles = titles.join(",");
    let mut text = if version == 1 {
        format!(
            "Index,KernelName,gpu-id,queue-id,pid,tid,grd,wgr,{titles},DispatchNs,BeginNs,EndNs,CompleteNs\n"
        )
    } else {
        format!(
            "Dispatch_ID,GPU_ID,Queue_ID,PID,TID,Grid_Size,Workgroup_Size,Kernel_Name,Start_Timestamp,End_Timestamp,Correlation_ID,{titles}\n"
        )
    };
    for (at, (kernel, took)) in [("add", 2000), ("mul", 4000)].into_iter().enumerate() {
        let (start, end) = (starts[at], starts[at] + took * u64::from(process) / 7);
        let values: Vec<String> =
            counters.iter().map(|(_, of)| format!("{}.0000000000", of[at])).collect();
        let values = values.join(",");
        text += &if version == 1 {
            format!(
                "{at},{kernel},1,0,{process},{process},1024,64,{values},1,{start},{end},{end}\n"
            )
        } else {
            format!("{at},1,0,{process},{process},1024,64,{kernel},{start},{end},0,{values}\n")
        };
    }
    text
}

/// 3 + 1 and 30 + 10 KiB, in whatever order the files come.
#[test]
fn passes_with_a_column_for_each_counter_are_joined() {
    for version in [1, 2] {
        let fetch =
            wide(version, 7, [1000, 9000], &[("FETCH_SIZE", [3, 30]), ("SQ_WAVES", [16, 16])]);
        let write = wide(version, 8, [5000, 20000], &[("WRITE_SIZE", [1, 10])]);
        let waves = wide(version, 9, [7000, 31000], &[("Wavefronts", [16, 16])]);
        let mut files =
            [("pmc_1/r.csv", &*fetch), ("pmc_2/r.csv", &write), ("pmc_3/r.csv", &waves)];
        for _ in 0..files.len() {
            files.rotate_left(1);
            are_whole(&files);
        }
        // Another run with the same counter is another run.
        let again = wide(version, 9, [7000, 31000], &[("FETCH_SIZE", [5, 50])]);
        let found = of(&[("1.csv", &fetch), ("2.csv", &again)]);
        assert_eq!(found.launches.len(), 4, "{:?}", found.notes);
        // So is one that moved other bytes, whatever else was counted beside them, and one of which another tool left a
        // column that is not a counter.
        let sizes = |process, fetch, more: &str| {
            let all = [("FETCH_SIZE", [fetch, 30]), ("WRITE_SIZE", [1, 10]), (more, [1, 2])];
            wide(version, process, [7000, 31000], &all)
        };
        for (one, two) in [
            (sizes(7, 3, "SQ_WAVES"), sizes(9, 9, "GRBM_COUNT").replace(",30.0", ",90.0")),
            (sizes(7, 3, "Wave_Size_1"), sizes(9, 3, "Remark")),
        ] {
            let found = of(&[("1.csv", &one), ("2.csv", &two)]);
            assert_eq!(found.launches.len(), 4, "{:?}", found.notes);
        }
        // Two passes that both have the bytes are one run.
        let found =
            of(&[("1.csv", &sizes(7, 3, "SQ_WAVES")), ("2.csv", &sizes(9, 3, "GRBM_COUNT"))]);
        assert_eq!(found.launches.len(), 2, "{:?}", found.notes);
        // Tables of one file, one behind the other.
        are_whole(&[("r.csv", &(fetch.clone() + &write))]);
    }
}

/// Requests are counted for each channel, reads in one pass and writes in the other.
#[test]
fn channels_of_two_passes_add_up() {
    let channels = |name: &str, each: u64| -> Vec<(String, [u64; 2])> {
        (0..32)
            .map(|at| (format!("TCC_EA_{name}[{at}]"), [if at < 2 { each } else { 0 }; 2]))
            .collect()
    };
    let all_of = |names: [(&str, u64); 2]| -> Vec<(String, [u64; 2])> {
        names.into_iter().flat_map(|(name, each)| channels(name, each)).collect()
    };
    let [reads, writes] =
        [[("RDREQ", 8), ("RDREQ_32B", 1)], [("WRREQ", 6), ("WRREQ_64B", 2)]].map(all_of);
    let [reads, writes] = [(&reads, 7), (&writes, 8)].map(|(of, process)| {
        let of: Vec<(&str, [u64; 2])> =
            of.iter().map(|(name, values)| (&**name, *values)).collect();
        wide(2, process, [1000, 9000], &of)
    });
    // 16 requests, of which 2 are of 32 B; 12, of which 4 are of 64 B.
    let bytes = 14.0 * 64.0 + 2.0 * 32.0 + 8.0 * 32.0 + 4.0 * 64.0;
    for files in
        [[("1.csv", &*reads), ("2.csv", &*writes)], [("2.csv", &writes), ("1.csv", &reads)]]
    {
        let found = of(&files);
        assert_eq!(all(&found, Quantity::DramBytes), [Some(bytes); 2], "{:?}", found.notes);
    }
}

/// 64 lanes: 100 + 20 + 2 × 50 + 0 of each dispatch, and 2 × 4 and 2 × 1 KiB in a pass that is whole.
#[test]
fn any_number_of_passes_is_joined() {
    let sizes = pass(7, [1000, 9000], &[("FETCH_SIZE", [4, 1]), ("WRITE_SIZE", [4, 1])]);
    let other = |names: [&str; 2], values: [u64; 2], start: u64| {
        let counters = [0, 1].map(|at| (names[at], [values[at]; 2]));
        pass(7, [start, start + 9000], &counters)
    };
    let one = other(["SQ_INSTS_VALU_ADD_F32", "SQ_INSTS_VALU_FMA_F32"], [100, 50], 100);
    let two = other(["SQ_INSTS_VALU_MUL_F32", "SQ_INSTS_VALU_TRANS_F32"], [20, 0], 200);
    let waves = other(["SQ_WAVES", "GRBM_COUNT"], [16, 5], 300);
    let mut files = [("a.csv", &*sizes), ("b.csv", &one), ("c.csv", &two), ("d.csv", &waves)];
    for _ in 0..files.len() {
        files.rotate_left(1);
        let found = of(&files);
        assert_eq!(all(&found, Quantity::DramBytes), [Some(8192.0), Some(2048.0)]);
        let work = all(&found, Quantity::Work(Pipe::Fp32Vector));
        assert_eq!(work, [Some(64.0 * 220.0); 2], "{:?}", found.notes);
    }
}

/// No FP16 says nothing of BF16, which is counted apart; with both it is known that there is none.
#[test]
fn no_products_of_one_format_are_none_only_where_all_were_counted() {
    let [half, brain] = ["F16", "BF16"].map(|format| {
        pass(7, [1000, 9000], &[(&format!("SQ_INSTS_VALU_MFMA_MOPS_{format}"), [0, 0])])
    });
    let products = |files: &[(&str, &str)]| {
        let found = of(files);
        [Pipe::Fp16Matrix, Pipe::Bf16Matrix].map(|pipe| all(&found, Quantity::Work(pipe)))
    };
    assert_eq!(products(&[("1.csv", &half)]), [[None; 2], [None; 2]]);
    let both = products(&[("1.csv", &half), ("2.csv", &brain)]);
    assert_eq!(both, [[Some(0.0); 2], [Some(0.0); 2]]);
    let some = half.replace("F16,0", "F16,3");
    assert_eq!(products(&[("1.csv", &some)])[0], [Some(1536.0); 2]);
}

#[test]
fn passes_without_times_complete_a_trace() {
    let trace = "Kind,Agent_Id,Queue_Id,Thread_Id,Dispatch_Id,Kernel_Id,Kernel_Name,Correlation_Id,Start_Timestamp,\
        End_Timestamp,Private_Segment_Size,Group_Segment_Size,Workgroup_Size_X,Workgroup_Size_Y,Workgroup_Size_Z,\
        Grid_Size_X,Grid_Size_Y,Grid_Size_Z\n\
        KERNEL_DISPATCH,1,1,7,1,16,add,1,1000,3000,0,0,64,1,1,1024,1,1\n\
        KERNEL_DISPATCH,1,1,7,2,17,mul,2,5000,9000,0,0,64,1,1,1024,1,1\n";
    let (one, two) = (untimed(&fetch(7)), untimed(&write(8)));
    let later = &trace.replace(",1000,3000,", ",1000,3500,").replace(",5000,9000,", ",5100,9600,");
    for files in [
        [("t.csv", trace), ("1.csv", &one), ("2.csv", &two), ("2.csv.gz", "")].as_slice(),
        // Each pass with a trace of its own: the times are those of the first.
        &[("p1/t.csv", trace), ("p1/c.csv", &one), ("p2/t.csv", later), ("p2/c.csv", &two)],
        &[
            ("1_kernel_trace.csv", trace),
            ("1_counter_collection.csv", &one),
            ("2_kernel_trace.csv", later),
            ("2_counter_collection.csv", &two),
        ],
    ] {
        let files: Vec<_> = files.iter().filter(|(_, text)| !text.is_empty()).copied().collect();
        let found = of(&files);
        assert_eq!(all(&found, Quantity::DramBytes), [Some(4096.0), Some(40960.0)]);
        assert_eq!(all(&found, Quantity::Duration), [Some(2e-6), Some(4e-6)]);
        assert!(found.checks.is_empty(), "{:?}", found.checks);
    }
    // Ranks, each with a trace and counters in its folder.
    let ranks = of(&[
        ("r0/t.csv", trace),
        ("r0/c.csv", &one),
        ("r1/t.csv", later),
        ("r1/c.csv", &one.replace("FETCH_SIZE,3", "FETCH_SIZE,5")),
    ]);
    assert_eq!(ranks.launches.len(), 4, "{:?}", ranks.notes);
    assert!(ranks.checks.is_empty(), "{:?}", ranks.checks);
}

/// Two GPUs that count their launches each from 1: what one of them read is not the other's.
#[test]
fn launches_of_two_gpus_with_one_number_are_two() {
    let both = |text: &str, more: &str| {
        let body = text.split_once('\n').unwrap().1;
        text.to_owned() + &body.replace(",1,1,7,", ",2,1,7,").replace("SIZE,", more)
    };
    let (fetch, write) = (both(&fetch(7), "SIZE,1"), both(&write(7), "SIZE,2"));
    let found = of(&[("1.csv", &fetch), ("2.csv", &write)]);
    // 3 + 1, 30 + 10, 13 + 21 and 130 + 210 KiB.
    let bytes = [4.0, 40.0, 34.0, 340.0].map(|size| Some(size * 1024.0));
    assert_eq!(all(&found, Quantity::DramBytes), bytes, "{:?}", found.notes);
}

/// Each of two ranks has both passes: they belong to their folders, and to none where all lie in one.
#[test]
fn passes_of_ranks_are_not_mixed() {
    let (fetch, write) = (fetch(7), write(8));
    let fetch2 = &pass(9, [61_000, 69_000], &[("FETCH_SIZE", [5, 50]), ("SQ_WAVES", [16, 16])]);
    let write2 = &pass(10, [65_000, 80_000], &[("WRITE_SIZE", [2, 20])]);
    let apart = of(&[
        ("r0/1.csv", &fetch),
        ("r1/1.csv", fetch2),
        ("r0/2.csv", &write),
        ("r1/2.csv", write2),
    ]);
    let mut bytes = all(&apart, Quantity::DramBytes);
    bytes.sort_by(|one, two| one.partial_cmp(two).unwrap());
    // 3 + 1, 5 + 2, 30 + 10, 50 + 20 KiB.
    assert_eq!(bytes, [4096.0, 7168.0, 40960.0, 71680.0].map(Some), "{:?}", apart.notes);
    // Of each pass a folder, with a file of each rank.
    let by_pass = of(&[
        ("p1/r0.csv", &fetch),
        ("p1/r1.csv", fetch2),
        ("p2/r0.csv", &write),
        ("p2/r1.csv", write2),
    ]);
    let mut same = all(&by_pass, Quantity::DramBytes);
    same.sort_by(|one, two| one.partial_cmp(two).unwrap());
    assert_eq!(same, bytes);
    let flat = of(&[("1.csv", &fetch), ("2.csv", fetch2), ("3.csv", &write), ("4.csv", write2)]);
    assert_eq!(flat.launches.len(), 8);
    assert!(all(&flat, Quantity::DramBytes).iter().all(Option::is_none));
    let unclear = flat.checks.iter().filter(|check| check.contains("match several runs"));
    assert_eq!(unclear.count(), 2, "{:?}", flat.checks);
    // One pass of two ranks, and one of the other.
    let odd = of(&[("1.csv", &fetch), ("2.csv", fetch2), ("3.csv", &write)]);
    assert_eq!(odd.launches.len(), 6, "{:?}", odd.notes);
}

#[test]
fn a_copy_of_a_pass_is_no_rival() {
    let (fetch, write) = (fetch(7), write(8));
    let copy = fetch.clone();
    let found = of(&[("1.csv", &fetch), ("copy.csv", &copy), ("2.csv", &write)]);
    assert_eq!(all(&found, Quantity::DramBytes), [Some(4096.0), Some(40960.0)]);
    assert!(found.checks.iter().any(|check| check.starts_with("copy.csv repeats 1.csv")));
    // Those of another program, or of another GPU, are not of this run.
    for other in
        [write.replace("mul", "sub").replace("add", "sum"), write.replace(",1,1,8,", ",2,1,8,")]
    {
        let found = of(&[("1.csv", &fetch), ("2.csv", &other)]);
        assert_eq!(found.launches.len(), 4, "{:?}", found.notes);
    }
}

/// A list of metrics of two launches under Nsight Compute, each with its unit and values.
fn list(process: u32, metrics: &[(&str, &str, [u64; 2])]) -> String {
    let mut text = "ID,Process ID,Process Name,Host Name,Kernel Name,Context,Stream,Block Size,Grid Size,Device,CC,Section Name,\
                    Metric Name,Metric Unit,Metric Value\n"
        .to_owned();
    for (id, kernel) in ["add", "mul"].iter().enumerate() {
        for (name, unit, values) in metrics {
            text += &format!(
                "{id},{process},app,host,{kernel},1,7,\"(64, 1, 1)\",\"(16, 1, 1)\",0,8.0,Command line profiler metrics,{name},\
                 {unit},{}\n",
                values[id]
            );
        }
    }
    text
}

fn count(process: u32, operation: &str, values: [u64; 2]) -> String {
    let name = format!("smsp__sass_thread_inst_executed_op_{operation}_pred_on.sum");
    list(process, &[(&name, "inst", values)])
}

/// 100 + 20 + 2 × 50 and 7 + 0 + 2 × 0; none of one instruction is known, as none is one of the three.
#[test]
fn runs_of_nsight_compute_with_a_counter_each_are_joined() {
    let time = |process, of: [u64; 2]| {
        let bytes = ("dram__bytes.sum", "byte", [4000, 500]);
        list(process, &[("gpu__time_duration.sum", "ns", of), bytes])
    };
    for processes in [[1, 2, 3, 4], [7; 4]] {
        let [add, mul, fma, timed] = processes;
        let add = count(add, "fadd", [100, 7]);
        let mul = count(mul, "fmul", [20, 0]);
        let fma = count(fma, "ffma", [50, 0]);
        let timed = time(timed, [1000, 2000]);
        let mut files = [("a.csv", &*add), ("b.csv", &mul), ("c.csv", &fma), ("d.csv", &timed)];
        for _ in 0..files.len() {
            files.rotate_left(1);
            let found = of(&files);
            let work = all(&found, Quantity::Work(Pipe::Fp32Vector));
            assert_eq!(work, [Some(220.0), Some(7.0)], "{:?}", found.notes);
            assert_eq!(all(&found, Quantity::DramBytes), [Some(4000.0), Some(500.0)]);
            let (_, origin) = found.launch(0).get(Quantity::Work(Pipe::Fp32Vector)).unwrap();
            assert!(origin.is_exact(), "{origin:?}");
            assert!(found.notes.iter().all(|note| !note.contains("repeats")), "{:?}", found.notes);
        }
        // Two of three are a lower bound, of which nothing is known where they are 0.
        let found = of(&[("b.csv", &mul), ("c.csv", &fma)]);
        assert_eq!(all(&found, Quantity::Work(Pipe::Fp32Vector)), [Some(120.0), None]);
        let (_, origin) = found.launch(0).get(Quantity::Work(Pipe::Fp32Vector)).unwrap();
        assert_eq!(
            (origin.high, origin.formula.as_str()),
            (f64::INFINITY, "fmul + 2 × ffma; fadd was not collected")
        );
    }
}

/// The copy has the counters that the first had before it took those of the others.
#[test]
fn a_copy_of_one_of_three_runs_is_no_rival() {
    let runs = ["fadd", "fmul", "ffma"].map(|one| count(7, one, [100, 10]));
    let [add, mul, fma] = &runs;
    let mut files = [("a.csv", &**add), ("copy.csv", add), ("b.csv", mul), ("c.csv", fma)];
    for _ in 0..files.len() {
        files.rotate_left(1);
        let found = of(&files);
        let work = all(&found, Quantity::Work(Pipe::Fp32Vector));
        assert_eq!(work, [Some(400.0), Some(40.0)], "{:?}", found.notes);
    }
}

/// Each has a time of its own: those of the first stay. 4,000 sectors over 1,000 requests.
#[test]
fn runs_with_times_of_their_own_are_one_run() {
    let with = |process: u32, time: [u64; 2], name: &str, values: [u64; 2]| {
        list(process, &[("gpu__time_duration.sum", "ns", time), (name, "", values)])
    };
    let sectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
    let requests = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum";
    let one = with(1, [1000, 2000], sectors, [4000, 0]);
    let two = with(2, [1010, 1990], requests, [1000, 0]);
    let found = of(&[("a.csv", &one), ("b.csv", &two)]);
    assert_eq!(all(&found, Quantity::LoadSectorsPerRequest), [Some(4.0), None]);
    let times = all(&found, Quantity::Duration).into_iter().flatten();
    let times: Vec<u64> = times.map(|time| (time * 1e9).round() as u64).collect();
    assert_eq!(times, [1000, 2000], "{:?}", found.notes);
}

/// A trace of the program takes the counters of all runs together, not their mean.
#[test]
fn a_trace_takes_the_whole_sum_of_several_runs() {
    let trace = "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Device,Ctx,Strm,Name\n\
                 0,1000,1,16,1,1,64,1,1,NVIDIA A100-SXM4-40GB (0),1,7,add\n\
                 2000,1000,2,16,1,1,64,1,1,NVIDIA A100-SXM4-40GB (0),1,7,mul\n";
    let runs = ["fadd", "fmul", "ffma"].map(|one| count(7, one, [100, 10]));
    let found =
        of(&[("t.csv", trace), ("a.csv", &runs[0]), ("b.csv", &runs[1]), ("c.csv", &runs[2])]);
    let work = all(&found, Quantity::Work(Pipe::Fp32Vector));
    assert_eq!(work, [Some(400.0), Some(40.0)], "{:?}", found.notes);
}

/// Another grid, or two ranks that both lack the counter: what is not joined is said, with the command that helps.
#[test]
fn parts_of_a_sum_that_are_not_joined_are_named() {
    let add = count(1, "fadd", [100, 7]);
    let other_grid = count(2, "fmul", [20, 5]).replace("(16, 1, 1)", "(17, 1, 1)");
    let found = of(&[("a.csv", &add), ("b.csv", &other_grid)]);
    assert_eq!(found.launches.len(), 4);
    assert_eq!(
        found.checks,
        [
            "a.csv and b.csv have some counters of flops_fp32_vector each, and were not joined: they do not match in launch \
             number, kernel and grid, or match several runs; collect all in one run: `ncu --metrics \
             smsp__sass_thread_inst_executed_op_fadd_pred_on.sum,smsp__sass_thread_inst_executed_op_fmul_pred_on.sum,\
             smsp__sass_thread_inst_executed_op_ffma_pred_on.sum`"
        ]
    );
    let rank = count(3, "fadd", [200, 9]);
    let mul = count(2, "fmul", [20, 5]);
    let found = of(&[("a.csv", &add), ("r.csv", &rank), ("b.csv", &mul)]);
    assert_eq!(found.launches.len(), 6, "{:?}", found.notes);
    assert!(found.checks.iter().any(|check| check.contains("match several runs equally")));
}
