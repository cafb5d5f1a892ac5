//! Exports without counters: what the report says of them, and the command that collects the rest.

use super::program::run;

/// `ncu` is named for no device that it cannot profile, by the device or by the profiler.
#[test]
fn counters_of_other_devices_are_collected_by_other_profilers() {
    for (arguments, why, help) in [
        (vec!["fixtures/rocprof/compute-kernel-top.csv"], "NVIDIA's devices", "rocprof-compute "),
        (
            vec!["fixtures/rocprof/v3-kernel-trace.csv", "--device", "MI300X"],
            "NVIDIA's devices",
            "rocprof-compute ",
        ),
        (vec!["fixtures/nvprof_trace/p100-cuda8.csv"], "7.0 and above", "nvprof --csv --metrics "),
        (vec!["fixtures/nvprof_summary/p100.csv"], "7.0 and above", "nvprof --csv --metrics "),
        (
            vec!["fixtures/nvprof_metrics/p100.csv"],
            "7.0 and above",
            "nvprof --csv --print-gpu-trace",
        ),
    ] {
        let run = run(&[&arguments[..], &["--next-ncu"]].concat());
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(why), "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(&format!("help: {help}")), "{arguments:?}: {}", run.stderr);
    }
}

/// A table of sums names no shapes to count.
#[test]
fn shapes_that_an_export_does_not_tell_apart_are_not_counted() {
    let sums = "fixtures/nsys_sum/h100-cuda_gpu_kern_sum.csv";
    let next = run(&[sums, "--device", "H100 SXM5", "--next-ncu"]).stdout;
    assert!(next.contains("the first launch of each shape of these names"), "{next}");
}

/// A trace with grids takes the counters; without grids nothing shows whose they are, and counters have times of their own.
#[test]
fn the_report_of_counters_is_read_beside_a_trace_that_can_take_them() {
    let last = |arguments: &[&str]| {
        let next = run(&[arguments, &["--next-ncu"]].concat()).stdout;
        next.trim_end().lines().last().unwrap_or_default().to_owned()
    };
    let trace = "fixtures/pytorch_trace/a100-training.json";
    let beside = format!(
        "then, for the times of the real run with these counters: rooflint {trace} next.ncu-rep"
    );
    assert_eq!(last(&[trace]), beside);
    let sums = "fixtures/nsys_sum/h100-cuda_gpu_kern_sum.csv";
    assert_eq!(last(&[sums, "--device", "H100 SXM5"]), "then: rooflint next.ncu-rep");
    let counters = "fixtures/advice/addition-through-l2.csv";
    assert_eq!(last(&[counters]), "then: rooflint next.ncu-rep");
}

/// What was collected is not asked for again, and the files that have it stay in the commands.
#[test]
fn kernels_with_counters_are_not_collected_again() {
    let whole = run(&["fixtures/demo/h100-training-step.csv", "--next-ncu"]);
    assert!(whole.stderr.contains("all have their counters"), "{}", whole.stderr);
    let trace = "fixtures/pytorch_trace/h100-step-before.json.gz";
    let counters = "fixtures/ncu_wide/h100-step-before-next.csv.gz";
    let first = run(&[trace, "--next-ncu"]).stdout;
    let next = run(&[trace, counters, "--next-ncu"]).stdout;
    // Name, operator and shape of each kernel.
    let collected = |inputs: &[&str]| -> Vec<String> {
        let table = run(&[&["analyze", "--format", "csv", "--next-ncu"], inputs].concat()).stdout;
        let mut rows = csv::Reader::from_reader(table.as_bytes());
        assert_eq!(
            rows.headers().unwrap().iter().collect::<Vec<_>>(),
            ["rank", "name", "operator", "shape", "launches", "measured_s", "share"]
        );
        let cells = |row: csv::StringRecord| row.iter().skip(1).take(3).collect::<String>();
        rows.records().map(|row| cells(row.unwrap())).collect()
    };
    let (one, other) = (collected(&[trace]), collected(&[trace, counters]));
    assert_eq!((one.len(), other.len()), (5, 5));
    assert!(other.iter().all(|kernel| !one.contains(kernel)), "{first}\n{next}");
    assert!(next.contains(&format!("rooflint {trace} {counters} next.ncu-rep")), "{next}");
    assert!(next.contains(" of the 4.17 ms that may be saved or could not be judged"), "{next}");
}

/// Launches without a time are no part of the mean.
#[test]
fn the_mean_time_is_that_of_the_launches_with_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.csv");
    let columns = "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"gpu__time_duration.sum\"\n";
    let units = "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"ns\"\n";
    let row = |id: u32, time: &str| {
        format!(
            "\"{id}\",\"7\",\"app\",\"host\",\"gemm\",\"1\",\"7\",\"(128, 1, 1)\",\"(64, 1, 1)\",\"0\",\"9.0\",\"{time}\"\n"
        )
    };
    let rows = [row(0, "8000"), row(1, "n/a"), row(2, "6000"), row(3, "n/a")].concat();
    std::fs::write(&page, format!("{columns}{units}{rows}")).unwrap();
    let text = run(&[page.to_str().unwrap(), "--device", "H100 SXM5"]).stdout;
    assert!(text.contains("2 timed launches of 7.00 µs; "), "{text}");
}

/// Naming the device of times alone leads nowhere.
#[test]
fn what_times_alone_lack_are_counters_before_the_device() {
    for (file, command) in [
        ("fixtures/xprof/a100-kernel-stats.csv", "\nncu --csv "),
        ("fixtures/nsys_sum/h100-cuda_gpu_kern_sum.csv", "\nncu --csv "),
        ("fixtures/nvprof_summary/p100.csv", "\nnvprof --csv --metrics "),
        // Its workload has the counters already.
        ("fixtures/rocprof/compute-kernel-top.csv", " → give the folder of the workload"),
    ] {
        let text = run(&[file]).stdout;
        assert!(text.contains("the GPU: times alone have no roofline"), "{file}: {text}");
        assert!(text.contains(command) && !text.contains("--device NAME"), "{file}: {text}");
    }
}

/// The cause of an empty result is the rows, and not a filter or a driver.
#[test]
fn a_file_without_a_readable_row_names_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("trace.csv");
    let header =
        "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,Device,Strm,Name";
    let row = "21931921,-100,93,181,1,1,8,8,1,64,H100 (0),7,kernel";
    std::fs::write(&table, format!("{header}\n{row}\n{row}\n")).unwrap();
    let run = run(&[&table.to_string_lossy()]);
    let says = "no launch could be read; 2 rows are skipped, the first in line 2: Duration (ns) \"-100\": \
        negative time";
    assert!(run.code != 0 && run.stderr.contains(says), "{}", run.stderr);
}

#[test]
fn a_folder_has_trees_and_traces() {
    let folder = tempfile::tempdir().unwrap();
    let proton = "fixtures/proton/h100-two-scopes.hatchet";
    std::fs::copy(proton, folder.path().join("run.hatchet")).unwrap();
    let alone = run(&[proton]).stdout;
    let found = run(&[&folder.path().to_string_lossy()]);
    assert_eq!(found.stdout.lines().next(), alone.lines().next(), "{}", found.stderr);
}
