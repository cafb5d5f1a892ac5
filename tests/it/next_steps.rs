//! Errors of people who are new to the program: what went wrong in their words, and the command that works.

use std::path::Path;

use super::gate::cli::{demo, rooflint};
use super::house::root;

/// Runs a command that fails in a folder, and checks its code, error and help.
fn refused(at: &Path, line: &str, code: i32, says: &[&str]) {
    let arguments: Vec<&str> = line.split(' ').collect();
    let found = rooflint(at, &arguments);
    assert_eq!(found.code, code, "{line}: {}{}", found.out, found.err);
    for says in says {
        assert!(found.err.contains(says), "{line}: {says:?}: {}", found.err);
    }
}

#[test]
fn a_baseline_that_took_every_file_is_named_with_the_command_that_works() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let took = "--baseline took every file after it, so that no run is left to check";
    for (line, says, command) in [
        ("gate --baseline a.csv b.csv", took, "rooflint gate b.csv --baseline a.csv\n"),
        (
            "gate --exit-zero --baseline a.csv b.csv c.csv -o out.md",
            took,
            "rooflint gate b.csv c.csv --baseline a.csv --exit-zero -o out.md\n",
        ),
        (
            "gate --baseline a.csv",
            "gate needs the runs to check",
            "rooflint gate CURRENT --baseline a.csv\n",
        ),
    ] {
        refused(at, line, 2, &[says, "name the runs to check before --baseline: ", command]);
    }
    let help = rooflint(at, &["gate", "--help"]).out;
    assert!(help.contains("rooflint gate CURRENT... --baseline BASELINE... [OPTIONS]"), "{help}");
}

#[test]
fn a_wrong_number_is_answered_with_what_the_option_takes() {
    let folder = tempfile::tempdir().unwrap();
    for value in ["-1", "99999999999999999999999", "x", "1.5"] {
        let says = format!("invalid value \"{value}\" for --top");
        let line = format!("run.csv --top {value}");
        refused(folder.path(), &line, 2, &[&says, "--top takes a whole number from 0, such as 20"]);
    }
}

/// A table of all ranks as one CSV is refused by `fleet`: the folder is what was meant.
#[test]
fn an_output_without_an_ending_leads_to_the_folder_with_a_part_per_rank() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for name in ["rank0.csv", "rank1.csv"] {
        std::fs::copy(demo(), at.join(name)).unwrap();
    }
    let says = "parts: no table format has this ending\nhelp: use one of .csv, .json, .parquet";
    let way = "for a partitioned table with a part per rank: -o parts/\n";
    refused(at, "convert rank0.csv rank1.csv -o parts", 2, &[says, way]);
    let other = rooflint(at, &["convert", "rank0.csv", "-o", "table.xlsx"]);
    assert!(other.code == 2 && !other.err.contains("per rank"), "{}", other.err);
}

#[test]
fn a_device_that_is_written_without_blanks_is_suggested() {
    let folder = tempfile::tempdir().unwrap();
    for (name, near) in [("2080Ti", "GeForce RTX 2080 Ti"), ("1080ti", "GeForce GTX 1080 Ti")] {
        let says = format!("unknown device {name:?}; closest: \"{near}");
        refused(folder.path(), &format!("demo --device {name}"), 2, &[&says]);
    }
}

/// "catalog figure of My GPU" sent readers to the wrong place.
#[test]
fn the_derivation_names_the_device_file_of_a_figure() {
    let folder = tempfile::tempdir().unwrap();
    let text = "name = \"My GPU\"\nmemory.bandwidth_gbs = 33.5\npeaks_tflops.bf16_matrix = 900\n";
    std::fs::write(folder.path().join("my.toml"), text).unwrap();
    let own = ["--devices", "my.toml", "--device", "My GPU", "--ceilings", "spec"];
    let found = rooflint(folder.path(), &[&["demo", "--explain", "#1"], &own[..]].concat());
    let says = "figure of My GPU in the device file my.toml";
    assert!(found.out.contains(says) && !found.out.contains("catalog figure"), "{}", found.out);
    let page = rooflint(folder.path(), &["devices", "My GPU", "--devices", "my.toml"]);
    assert!(page.out.contains("33.5 GB/s"), "{}", page.out);
}

#[test]
fn commas_between_thousands_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let says = "error: n=16,000,000: a comma separates the values of a sweep; write 16000000\n";
    refused(folder.path(), "predict axpy n=16,000,000 --device A10", 2, &[says]);
    let says = "error: n=0: must be at least 1\n";
    refused(folder.path(), "predict axpy n=0,1 --device A10", 2, &[says]);
}

/// What a mapping says of rows and devices, and the table has otherwise, is named with both.
#[test]
fn a_mapping_that_does_not_fit_its_table_is_the_cause() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let table = "name,begin,end,gpu,kind\nk1,1000,2000,0,KERNEL\ncopy,9000,9500,0,MEMCPY\n";
    std::fs::write(at.join("all.csv"), table).unwrap();
    let map = |time: &str, kind: &str, device: u32| {
        let text = format!(
            "devices = {{ {device} = \"AMD Instinct MI300X\" }}\n[rows]\nonly = {{ kind = \"{kind}\" }}\n\
             [columns]\nkernel = \"name\"\ndevice = \"gpu\"\ntime = {{ {time}, unit = \"ns\" }}\n"
        );
        std::fs::write(at.join("map.toml"), text).unwrap();
    };
    let line = "all.csv --map map.toml";
    map("start = \"end\", end = \"begin\"", "KERNEL", 0);
    let says = "no launch could be read; 1 row is skipped, the first in line 2: begin \"1000\": ends before it starts; \
                only = { kind = \"KERNEL\" } of map.toml:3 leaves out 1 row";
    refused(at, line, 3, &[says]);
    map("start = \"begin\", end = \"end\"", "kernel", 0);
    let says = "only = { kind = \"kernel\" } of map.toml:3 leaves out 2 rows, where \"kind\" is \"KERNEL\", \"MEMCPY\"";
    refused(at, line, 3, &[says, "help: did you mean \"KERNEL\"? correct [rows] in map.toml"]);
    map("start = \"begin\", end = \"end\"", "KERNEL", 1);
    let found = rooflint(at, &["all.csv", "--map", "map.toml"]);
    let says = "the column \"gpu\" has \"0\", and `devices` of map.toml names only \"1\"";
    assert!(found.code == 0 && found.out.replace("\n  ", "").contains(says), "{}", found.out);
}

#[test]
fn a_file_of_another_kind_is_called_so() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::copy(demo(), at.join("run.csv")).unwrap();
    let store = "name a store: the folder that `rooflint baseline save FILE` makes";
    refused(at, "trend run.csv", 3, &["run.csv is a file, and not a store of baselines", store]);
    let summary = "a summary of a rank is made by rooflint summarize FILE -o rank-0.partial.json";
    for command in ["merge", "fleet"] {
        let line = format!("{command} run.csv");
        refused(at, &line, 3, &["run.csv: not a summary of a rank\n", summary]);
    }
    std::fs::write(at.join("p.yaml"), "gate:\n  version: 1\n").unwrap();
    refused(at, "config check p.yaml", 2, &["this looks like YAML", "docs/gate-policy.md"]);
}

#[test]
fn a_mapping_that_does_not_fit_says_what_to_write() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("net.csv"), "name;avg time;bytes\na;1,25;4000000\nb;0,30;80000\n")
        .unwrap();
    let suggested = rooflint(at, &["inspect", "net.csv", "--suggest-map"]);
    std::fs::write(at.join("net.toml"), &suggested.out).unwrap();
    let fill = [
        "net.toml:",
        "missing key \"time\"",
        "and remove the # before it: time = { column = \"avg time\", unit = \"UNIT\" }",
    ];
    refused(at, "net.csv --map net.toml", 2, &fill);
    let write = "write one for this table: rooflint inspect net.csv --suggest-map > MAPPING.toml";
    refused(at, "net.csv --map dlprof", 3, &["the built-in mapping dlprof", write]);
}

/// At 4 TB/s both kernels are faster than the roofline, and rules lack counters: the command is the one that was typed.
#[test]
fn the_command_for_counters_names_the_file_and_how_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("bench.csv"), "kernel,us,MB\na,100,400\nb,50,300\n").unwrap();
    let map = "[columns]\nkernel = 'kernel'\ntime = { column = 'us', unit = 'us' }\n\
               bytes = { column = 'MB', unit = 'MB' }\nflops = { column = 'MB', unit = 'MFLOP', precision = 'fp32_vector' }\n";
    std::fs::write(at.join("good.toml"), map).unwrap();
    let with = |more: &[&str]| {
        let named = ["bench.csv", "--map", "good.toml", "--device", "A100 SXM4 80GB"];
        rooflint(at, &[&named, more].concat()).out
    };
    let brief = with(&[]);
    let command = "`rooflint bench.csv --map good.toml --device 'A100 SXM4 80GB' --next-ncu`";
    assert!(brief.contains(&format!("{command} prints the command")), "{brief}");
    // It goes with no option that says what is shown.
    let full = with(&["--full"]);
    assert!(!full.contains("--full --next-ncu"), "{full}");
}

/// More counters are in a second file, which is read with the first.
#[test]
fn a_command_that_collects_more_counters_is_followed_by_what_reads_both() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let row = |metric: &str, unit: &str, value: &str| {
        format!("0,7,app,k,1,7,8.0,Command line profiler metrics,{metric},{unit},{value}\n")
    };
    let text = [
        "ID,Process ID,Process Name,Kernel Name,Context,Stream,CC,Section Name,Metric Name,Metric Unit,Metric Value\n",
        &row("gpu__time_duration.sum", "ns", "1000000"),
        &row("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "inst", "100000000000"),
    ];
    std::fs::write(at.join("list.csv"), text.concat()).unwrap();
    let brief = rooflint(at, &["list.csv", "--device", "A100 SXM4 80GB"]).out;
    assert!(brief.contains("; this collects it:\nncu "), "{brief}");
    let then = "\nThen         rooflint list.csv more.csv --device 'A100 SXM4 80GB'\n";
    assert!(brief.contains(then), "{brief}");

    // What was collected before is not overwritten.
    std::fs::rename(at.join("list.csv"), at.join("more.csv")).unwrap();
    let brief = rooflint(at, &["more.csv", "--device", "A100 SXM4 80GB"]).out;
    assert!(brief.contains(" APP > more-2.csv\n"), "{brief}");
    let then = "\nThen         rooflint more.csv more-2.csv --device 'A100 SXM4 80GB'\n";
    assert!(brief.contains(then), "{brief}");
    let inspected = rooflint(at, &["inspect", "more.csv"]).out;
    assert!(inspected.contains("> more-2.csv"), "{inspected}");
}

/// Times and metrics of nvprof are of two runs, which are read together.
#[test]
fn what_nvprof_collects_is_followed_by_what_reads_it_with_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let with = |fixture: &str, collected: &str| {
        std::fs::copy(root().join("fixtures").join(fixture), at.join("metrics.csv")).unwrap();
        let brief = rooflint(at, &["metrics.csv"]).out;
        assert!(brief.contains(&format!(" --log-file {collected} APP\n")), "{brief}");
        brief
    };
    let brief = with("nvprof_metrics/p100.csv", "trace.csv");
    assert!(brief.contains("\nThen         rooflint metrics.csv trace.csv\n"), "{brief}");
    with("nvprof_trace/p100-cuda8.csv", "metrics-2.csv");
}

/// A report with all counters of the kernels that nothing explains is read alone: it may have other launches.
#[test]
fn a_report_that_says_why_is_followed_by_what_reads_it() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let fixture = root().join("fixtures/advice/pooling.csv");
    for (file, report) in [("pooling.csv", "why"), ("why.csv", "why-2")] {
        std::fs::copy(&fixture, at.join(file)).unwrap();
        let brief = rooflint(at, &[file]).out;
        assert!(brief.contains(&format!(" -o {report} APP\n")), "{brief}");
        assert!(brief.contains(&format!("\nThen         rooflint {report}.ncu-rep\n")), "{brief}");
    }
}
