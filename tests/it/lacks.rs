//! What reports say of what is not known: that the device is, the time is, or a count is; and the step that helps.

use super::program::run;

/// Runs the program on a file of this text.
fn told(text: &str, arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.csv");
    std::fs::write(&file, text).unwrap();
    run(&[&[file.to_str().unwrap()], arguments].concat()).stdout
}

/// The lines of a report with single blanks, so that widths of columns do not matter.
fn lines(report: &str) -> Vec<String> {
    report.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// Asserts that lines begin like these.
#[track_caller]
fn has(report: &str, beginnings: &[&str]) {
    let lines = lines(report);
    for beginning in beginnings {
        assert!(lines.iter().any(|line| line.starts_with(beginning)), "{beginning}:\n{report}");
    }
}

/// A table of one kernel of Nsight Compute with these columns.
fn table(columns: &[(&str, &str)]) -> String {
    let head =
        "source,source_format,kernel,device_ordinal,launches,grid_x,blocks,threads_per_block";
    let [names, values] = [0, 1].map(|at| {
        let cells = columns.iter().map(|(name, value)| if at == 0 { *name } else { *value });
        cells.collect::<Vec<_>>().join(",")
    });
    format!("{head},{names}\nrun,ncu-wide,stencil,0,1,100000,100000,256,{values}\n")
}

/// 200 MFLOP and 100 MB, 2 FLOP/B, on a device that nothing is known of: both are known, only their roofs are not, and
/// nothing bounds the operations on other pipes. At 900 GB/s, 100 MB take 111 µs.
#[test]
fn without_a_device_only_the_roofs_are_unknown() {
    let counted =
        table(&[("duration_s", "1e-3"), ("dram_bytes", "1e8"), ("flops_fp64_vector", "2e8")]);
    let explained = ["--kernel", "#1", "--explain"];
    let report = told(&counted, &explained);
    has(
        &report,
        &[
            "B 100 MB no bandwidth to divide by",
            "F fp64 200 MFLOP",
            "t_math - no peak to divide by",
            "not counted fp32, fp16, tensor may need time too: without E, nothing rules it out",
            "I 2.00 FLOP/B F ÷ B = 200 MFLOP ÷ 100 MB",
            "limiter unknown what was counted has no roofs, so neither t_mem nor t_math is known",
            "meaning not enough data: what was counted has no roofs; set the device with --device NAME",
            "read next docs/guide.md of rooflint, \"Name the device\"",
        ],
    );
    assert!(!report.contains("not in the export\n"), "{report}");
    let named = told(&counted, &[&explained[..], &["--device", "V100-SXM2-16GB"]].concat());
    has(
        &named,
        &[
            "t_mem 111 µs B ÷ BW = 100 MB ÷ 900 GB/s",
            "not counted fp32, fp16, tensor may need time too: E is a lower bound",
        ],
    );
}

/// SMs busy for 60% of 1 ms, 600 µs, stand in for operations that were not counted; and for counted ones, whose peak is
/// not known.
#[test]
fn busy_units_stand_in_for_counts_or_for_roofs() {
    let of = |work: &[(&str, &str)]| {
        table(&[&[("duration_s", "1e-3"), ("sm_throughput", "0.6")], work].concat())
    };
    for (work, why) in [
        (&[("flops_fp16_matrix", "1e9")][..], "the peaks of the device are not known"),
        (&[], "operations were not counted"),
    ] {
        let text = of(work);
        let full = told(&text, &["--full"]);
        let compared =
            format!("Compared 100.0% of the time, 100.0% by how busy its units were because {why}");
        has(&full.replace(" (100.0% possible)", "").replace(" (100.0% likely)", ""), &[&compared]);
        let explained = told(&text, &["--kernel", "#1", "--explain"]);
        let busy =
            format!("E 600 µs the SMs were busy for so long, which stands in for t_math: {why}");
        has(&explained, &[&busy]);
    }
}

/// Half of 1 ms: by the cycles with data, or by the throughput of DRAM, in which commands count, too.
#[test]
fn memory_time_says_which_figure_it_follows_from() {
    for (figure, why) in [
        ("dram_active", "share of DRAM cycles with data × T"),
        (
            "dram_throughput",
            "DRAM throughput in percent of its peak × T: the most, as it counts commands besides data",
        ),
    ] {
        let text = table(&[("duration_s", "1e-3"), (figure, "0.5")]);
        let explained = told(&text, &["--kernel", "#1", "--explain"]);
        has(&explained, &[&format!("t_mem 500 µs {why}")]);
    }
}

/// A launch without a duration did not take 0 s.
#[test]
fn a_time_that_is_not_known_is_no_zero() {
    let untimed = table(&[("dram_bytes", "1e8"), ("flops_fp64_vector", "2e8")]);
    for device in [&[][..], &["--device", "V100-SXM2-16GB"]] {
        let explained = told(&untimed, &[&["--kernel", "#1", "--explain"], device].concat());
        has(
            &explained,
            &["T - no duration in the export", "limiter unknown there is no T to compare with"],
        );
        assert!(!explained.contains("T 0 s"), "{explained}");
    }
}

/// At 616 GB/s, 308 MB take half of 1 ms, and no rule says why it takes twice as long. What its warps wait for is asked for
/// if it was not counted; if it was, it is told, and only the lines of code are missing.
#[test]
fn what_was_collected_is_not_asked_for_again() {
    let counted = [
        ("duration_s", "1e-3"),
        ("dram_bytes", "3.08e8"),
        ("flops_fp64_vector", "0"),
        ("flops_fp32_vector", "1e6"),
        ("flops_fp16_vector", "0"),
        ("flops_fp16_matrix", "0"),
        ("sm_clock_hz", "1.545e9"),
    ];
    let device = ["--device", "RTX 2080 Ti"];
    let blank = told(&table(&counted), &device);
    has(&blank, &["Missing what the warps of #1 wait for; this collects it:", "ncu --set full"]);
    let waits = [("stall_barrier", "0.125"), ("stall_long_scoreboard", "0.25")];
    let known = told(&table(&[&counted[..], &waits].concat()), &device);
    has(
        &known,
        &["Missing where in the code the warps of #1 (long scoreboard 25.0%) wait → page Source"],
    );
    assert!(!known.contains("ncu --set full --import"), "{known}");
    // One reason with a sixteenth of the time is not what they wait for.
    let little = told(&table(&[&counted[..], &[("stall_wait", "0.0625")]].concat()), &device);
    has(&little, &["Missing what the warps of #1 wait for; this collects it:"]);
}

/// 57 MB were read from memory, and what was written was not counted: at 300 GB/s that is a memory roof of 190 µs.
#[test]
fn bytes_of_one_side_are_a_lower_bound_and_have_a_roof() {
    let text = |metric: &str, unit: &str, value: &str| {
        format!(
            "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"gpu__time_duration.sum\",\"{metric}\"\n\
             \"\",\"\",\"\",\"\",\"\",\"\",\"us\",\"{unit}\"\n\
             \"0\",\"gemv\",\"(1024, 1, 1)\",\"(1400, 1, 1)\",\"0\",\"8.9\",\"216\",\"{value}\"\n"
        )
    };
    let cases = [
        (text("dram__bytes_read.sum", "Mbyte", "57"), "they are a lower bound"),
        (
            text("dram__throughput.avg.pct_of_peak_sustained_elapsed", "%", "88"),
            "of DRAM only how busy it was is known",
        ),
        (text("launch__registers_per_thread", "register/thread", "32"), "no memory roof"),
    ];
    for (text, consequence) in cases {
        let full = told(&text, &["--device", "L4", "--full"]);
        let share = "missing metrics: DRAM bytes (100% of the time: ";
        assert!(full.contains(&format!("{share}{consequence}); FP32")), "{consequence}:\n{full}");
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run.csv");
        std::fs::write(&file, text).unwrap();
        let inspected = run(&["inspect", file.to_str().unwrap()]).stdout;
        has(&inspected, &[&format!("DRAM bytes, in 1 launch: {consequence}")]);
    }
}

/// A profiler of AMD profiles devices of AMD, named or not.
#[test]
fn kernels_of_amd_get_the_tools_of_amd() {
    let table = "source,source_format,kernel,device_ordinal,launches,grid_x,blocks,threads_per_block,duration_s\n\
                 run,rocprof-v3,__amd_rocclr_fillBufferAligned,0,2000,304,304,256,5e-6\n\
                 run,rocprof-v3,stencil,0,1,304,304,256,5e-3\n";
    let full = told(table, &["--full"]);
    assert!(full.contains("then try a HIP graph") && !full.contains("CUDA graph"), "{full}");
    let step = "fixtures/pytorch_trace/mi250-step.json";
    let full = run(&[step, "--full"]).stdout;
    assert!(full.contains("profile the slowest kernel with ROCm Compute Profiler"), "{full}");
    for rank in ["#1", "#2"] {
        let explained = run(&[step, "--kernel", rank, "--explain"]).stdout;
        let next = explained.lines().find(|line| line.trim_start().starts_with("read next"));
        let next = next.unwrap_or_default();
        assert!(!["CUDA", "NVIDIA"].iter().any(|word| next.contains(word)), "{next}");
    }
}

/// Of 132 multiprocessors a persistent kernel keeps 96 busy, one block each: 0.73 of a wave, which is not all that fit.
#[test]
fn a_grid_below_one_wave_has_not_as_many_blocks_as_fit() {
    let text = "source,source_format,kernel,device_ordinal,launches,grid_x,blocks,threads_per_block,duration_s,dram_bytes,\
                flops_fp64_vector,flops_fp32_vector,flops_fp16_vector,flops_bf16_matrix,resident_blocks_per_sm\n\
                run,ncu-wide,nvjet_tst_64x32_64x16_4x1_v_bz_TNT,0,1,96,96,384,1e-3,1.6e9,0,0,0,1e9,1\n";
    let explained = told(text, &["--device", "H100 SXM5 80GB", "--kernel", "#1", "--explain"]);
    has(&explained, &["waves 0.73 96 blocks ÷ (132 SMs × 1 that fit at a time"]);
    let limiter = explained.lines().find(|line| line.trim_start().starts_with("limiter")).unwrap();
    assert!(limiter.contains("  memory  "), "{limiter}");
    let made = "its grid is made to fit, so the number of its blocks does not count";
    assert!(limiter.ends_with(made), "{limiter}");
}

/// 256 blocks on 132 SMs are too few whatever their size, which nobody knows: it is not zero.
#[test]
fn a_block_of_unknown_size_has_not_zero_threads() {
    let text = "kernel,time,bytes,flops,blocks\nmy_gemm,500,100,1,256\n";
    let folder = tempfile::tempdir().unwrap();
    let [file, map] = ["bench.csv", "bench.toml"].map(|name| folder.path().join(name));
    std::fs::write(&file, text).unwrap();
    let mapping = "[columns]\nkernel = \"kernel\"\ntime = { column = \"time\", unit = \"us\" }\n\
                   bytes = { column = \"bytes\", unit = \"MB\" }\n\
                   flops = [{ column = \"flops\", unit = \"GFLOP\", precision = \"fp32_vector\" }]\ngrid = \"blocks\"\n";
    std::fs::write(&map, mapping).unwrap();
    let [file, map] = [&file, &map].map(|path| path.to_str().unwrap());
    let report = run(&[file, "--map", map, "--device", "H100 SXM5 80GB", "--full"]).stdout;
    assert!(report.contains("too little parallelism to hide latency: only 256 blocks"), "{report}");
    assert!(!report.contains("0 threads"), "{report}");
}

/// Three grids of one name on a device that is not known: each row has its own.
#[test]
fn rows_of_one_name_have_their_grids() {
    let head = "source,source_format,kernel,device_ordinal,launches,grid_x,blocks,threads_per_block,duration_s";
    let rows = [100, 200].map(|blocks| format!("run,pyprof,gemv,0,1,{blocks},{blocks},256,1e-3\n"));
    let report =
        told(&format!("{head}\n{}other,pyprof,other,0,1,1,1,32,1e-3\n", rows.concat()), &[]);
    assert!(report.contains("gemv [100 / 256]") && report.contains("gemv [200 / 256]"), "{report}");
    assert!(!report.contains("other ["), "{report}");
}
