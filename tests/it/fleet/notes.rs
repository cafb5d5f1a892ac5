//! What limits the figures of ranks is said wherever their launches went in between.

use std::fs;
use std::path::Path;

use super::{program, rank, text};

/// A trace of ten kernels of 100 µs each, which begins at so many milliseconds.
fn trace(begin: f64) -> String {
    trace_of(begin, 10)
}

/// The same of so many kernels.
fn trace_of(begin: f64, kernels: u32) -> String {
    let event = |at: u32| {
        let start = begin * 1e3 + f64::from(at) * 150.0;
        format!(
            r#"{{"ph": "X", "cat": "kernel", "name": "k{at}", "pid": 0, "tid": 7, "ts": {start}, "dur": 100, "args": {{"device": 0, "stream": 7, "correlation": {at}}}}}"#
        )
    };
    let events: Vec<String> = (1..=kernels).map(event).collect();
    format!(
        r#"{{"deviceProperties": [{{"id": 0, "name": "NVIDIA A100-SXM4-80GB", "numSms": 108}}], "traceEvents": [{}]}}"#,
        events.join(",\n")
    )
}

/// Writes traces of ranks, and returns their paths.
fn ranks(folder: &Path, traces: &[String]) -> Vec<String> {
    let write = |(rank, trace): (usize, &String)| {
        let path = folder.join(format!("rank{rank}.json"));
        fs::write(&path, trace).unwrap();
        text(&path)
    };
    traces.iter().enumerate().map(write).collect()
}

fn said(arguments: &[&str]) -> String {
    let run = program::run(arguments);
    assert_eq!(run.code, 0, "{arguments:?}: {}", run.stderr);
    // Lines are as long as the terminal is wide.
    run.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Converts ranks into a partitioned table, and returns what `fleet` says of it.
fn fleet(folder: &Path, files: &[String]) -> String {
    let table = text(&folder.join("launches")) + "/";
    let mut arguments = vec!["convert"];
    arguments.extend(files.iter().map(String::as_str));
    arguments.extend(["-o", &*table]);
    said(&arguments);
    said(&["fleet", &table])
}

#[test]
fn a_trace_that_was_cut_off_is_named_behind_tables_and_summaries() {
    const CUT: &str = "the trace breaks off at byte";
    let folder = tempfile::tempdir().unwrap();
    let mut traces: Vec<String> = [0.0, 0.01, 0.02].map(trace).into();
    let half = traces[2].len() / 2;
    traces[2].truncate(half);
    let files = ranks(folder.path(), &traces);
    let of_table = fleet(folder.path(), &files);
    assert!(of_table.contains("rank run/2: ") && of_table.contains(CUT), "{of_table}");
    let summary = |rank: usize| {
        let to = text(&folder.path().join(format!("{rank}.partial.json")));
        said(&["summarize", &files[rank], "--rank", &rank.to_string(), "-o", &to]);
        to
    };
    let summaries = [0, 1, 2].map(summary);
    let merged = text(&folder.path().join("all.partial.json"));
    said(&["merge", &summaries[0], &summaries[1], &summaries[2], "-o", &merged]);
    assert!(said(&["fleet", &merged]).contains(CUT));
    // A launch table as JSON has a place for it.
    let table = text(&folder.path().join("cut.json"));
    let converted = program::run(&["convert", &files[2], "-o", &table]);
    assert!(converted.stderr.contains(CUT), "{}", converted.stderr);
    assert!(said(&[&table]).contains(CUT));
    let whole = text(&folder.path().join("whole.json"));
    said(&["convert", &files[0], "-o", &whole]);
    assert!(!said(&[&whole]).contains("Check"));
}

/// Ranks of 1.5 ms that begin 5 ms apart, and one of four that does.
#[test]
fn ranks_that_ran_at_other_times_are_named_only_beside_a_majority() {
    let of = |begins: &[f64]| {
        let folder = tempfile::tempdir().unwrap();
        let traces: Vec<String> = begins.iter().map(|begin| trace(*begin)).collect();
        let files = ranks(folder.path(), &traces);
        fleet(folder.path(), &files)
    };
    let apart = of(&[0.0, 5.0, 10.0, 15.0]);
    assert!(
        apart.contains("its 4 ranks did not run at the same time, by their own clocks"),
        "{apart}"
    );
    let one = of(&[0.0, 0.2, 0.1, 15.0]);
    assert!(one.contains("rank 3 ran at another time than most, by its own clock"), "{one}");
    let two = of(&[0.0, 5.0]);
    assert!(two.contains("its 2 ranks did not run at the same time"), "{two}");
    assert!(!of(&[0.0, 0.1]).contains("time than most"));
}

/// Cycles of one worker are traces of one GPU, which does not become three.
#[test]
fn traces_are_not_counted_as_gpus() {
    let folder = tempfile::tempdir().unwrap();
    let traces: Vec<String> = [0.0, 5.0, 10.0].map(trace).into();
    let files = ranks(folder.path(), &traces);
    let report = said(&[&files[0], &files[1], &files[2]]);
    // 10 of 100 µs in 1450.
    assert!(report.contains("Timeline 3 traces, busy 69.0%"), "{report}");
    assert!(!report.contains("3 GPUs"), "{report}");
}

/// Roofs of another GPU than the one that ran make every headroom wrong: whoever compares runs or ranks has to know.
#[test]
fn a_device_that_the_export_contradicts_is_named_by_fleet_and_gate() {
    const SAYS: &str =
        "the export says 108 SMs, the catalog 132 for H100 SXM5 80GB (set with --device)";
    let folder = tempfile::tempdir().unwrap();
    let slower = trace(0.02).replace("\"dur\": 100", "\"dur\": 101");
    let files = ranks(folder.path(), &[trace(0.0), slower]);
    let right = fleet(folder.path(), &files);
    let table = text(&folder.path().join("launches")) + "/";
    let asked = ["--device", "H100 SXM5 80GB"];
    let wrong = said(&["fleet", &table, asked[0], asked[1]]);
    assert_eq!((right.matches(SAYS).count(), wrong.matches(SAYS).count()), (0, 1), "{wrong}");
    // Both sides say so, and it is said once.
    let sides = [&*files[0], "--baseline", &*files[1], "--no-config"];
    let gate = |more: &[&str]| said(&[&["gate"], &sides[..], more].concat());
    assert_eq!(gate(&[]).matches(SAYS).count(), 0);
    assert_eq!(gate(&asked).matches(SAYS).count(), 1, "{}", gate(&asked));
}

/// One of three ranks ends after seven of ten launches: a gate must fail on it in a folder, in a table and across a store, and
/// `calibrate` must not take it for noise.
#[test]
fn a_gate_fails_where_one_rank_ends_early() {
    let folder = tempfile::tempdir().unwrap();
    let whole = [trace(0.0), trace(0.01), trace(0.02)];
    let mut part = whole.clone();
    part[1] = trace_of(0.01, 7);
    let job = |name: &str, traces: &[String]| {
        let at = folder.path().join(name);
        fs::create_dir(&at).unwrap();
        let files = ranks(&at, traces);
        let table = text(&folder.path().join(format!("{name}-table"))) + "/";
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        said(&[&["convert"], &files[..], &["-o", &table]].concat());
        [text(&at), table]
    };
    let [main, branch] = [job("main", &whole), job("branch", &part)];
    let store = text(&folder.path().join("store"));
    said(&["baseline", "save", &main[1], "--store", &store, "--no-config"]);
    for (baseline, current, rank) in [
        (&main[0], &branch[0], "rank1.json"),
        (&main[1], &branch[1], "rank 1"),
        (&store, &branch[1], "rank 1"),
    ] {
        let run = program::run(&["gate", current, "--baseline", baseline, "--no-config"]);
        assert_eq!(run.code, 1, "{}{}", run.stdout, run.stderr);
        let says = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(says.contains(&format!("{rank} of ")), "{says}");
        assert!(says.contains("has 7 of the 10 launches that it has in"), "{says}");
        let same = program::run(&["gate", &main[0], "--baseline", current, "--no-config"]);
        assert_eq!(same.code, 0, "{}{}", same.stdout, same.stderr);
    }
    let rank =
        |job: &str, rank: usize| text(&folder.path().join(job).join(format!("rank{rank}.json")));
    let noise = program::run(&["calibrate", &rank("main", 0), &rank("branch", 1)]);
    assert_eq!((noise.code, &*noise.stdout), (2, ""), "{}", noise.stderr);
    assert!(
        noise.stderr.contains("these runs are not repeats of each other: "),
        "{}",
        noise.stderr
    );
}

/// A record that no launch could be made of is lost where the export is: what is made of it must say so.
#[test]
fn what_was_skipped_is_said_by_tables_and_summaries() {
    let folder = tempfile::tempdir().unwrap();
    let files = [0, 1].map(|one| rank(folder.path(), one, 1.0));
    let mut lines: Vec<String> =
        fs::read_to_string(&files[1]).unwrap().lines().map(str::to_owned).collect();
    // The record of a launch ends after its number.
    lines[9] = "\"7\"".to_owned();
    fs::write(&files[1], lines.join("\n") + "\n").unwrap();
    let said =
        format!("1 record or cell was skipped as unreadable, in {}, line 10:", files[1].display());
    let run = |arguments: &[&str]| {
        let done = program::run(arguments);
        assert_eq!(done.code, 0, "{arguments:?}: {}", done.stderr);
        done
    };
    let table = text(folder.path()) + "/launches/";
    let done = run(&["convert", &text(&files[0]), &text(&files[1]), "-o", &table]);
    assert!(done.stderr.contains(&format!("note: rank 1: {said}")), "{}", done.stderr);
    let summary = text(&folder.path().join("1.partial.json"));
    assert!(run(&["summarize", &text(&files[1]), "-o", &summary]).stderr.contains(&said));
    for whole in [&table, &summary] {
        let done = run(&["fleet", whole]);
        assert!(done.stdout.contains(&format!("rank run/1: {said}")), "{whole}: {}", done.stdout);
    }
    for name in ["one.json", "one.parquet"] {
        let one = text(&folder.path().join(name));
        run(&["convert", &text(&files[1]), "-o", &one]);
        let done = run(&["analyze", &one]);
        assert!(done.stdout.contains(&format!("Check        {said}")), "{name}: {}", done.stdout);
    }
}

/// `TCC_BUBBLE` stays 0 on MI350, so that its reads of 128 bytes count as 64.
#[test]
fn bytes_of_mi350_that_may_be_too_few_are_named_with_their_ranks() {
    let folder = tempfile::tempdir().unwrap();
    let path = |rank: u32| folder.path().join(format!("rank{rank}.csv"));
    for rank in 0..2 {
        let table = format!(
            "Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,Kernel_Name,TCC_BUBBLE_sum,TCC_EA0_RDREQ_sum,\
             TCC_EA0_RDREQ_32B_sum,TCC_EA0_WRREQ_sum,TCC_EA0_WRREQ_64B_sum,Start_Timestamp,End_Timestamp\n\
             0,4,33554432,256,copy,0,8388608,0,16777216,16777216,1000,60100{rank}\n"
        );
        fs::write(path(rank), table).unwrap();
    }
    let [one, two] = [0, 1].map(|rank| text(&path(rank)));
    let (table, device) = (text(&folder.path().join("launches")) + "/", ["--device", "MI355X"]);
    let with_device = |arguments: &[&str]| said(&[arguments, &device].concat());
    with_device(&["convert", &one, &two, "-o", &table]);
    let summaries = [0, 1].map(|rank| text(&folder.path().join(format!("{rank}.partial.json"))));
    for (export, summary) in [&one, &two].into_iter().zip(&summaries) {
        with_device(&["summarize", export, "-o", summary]);
    }
    for found in [said(&["fleet", &table]), said(&["fleet", &summaries[0], &summaries[1]])] {
        for rank in ["run/0", "run/1"] {
            assert!(found.contains(&format!("rank {rank}: on MI350, TCC_BUBBLE")), "{found}");
        }
        assert_eq!(found.matches("TCC_BUBBLE").count(), 2, "{found}");
    }
    // The device of those that do not name it, as the table does not.
    let table = text(&folder.path().join("others")) + "/";
    said(&["convert", &one, &two, "-o", &table]);
    let found = with_device(&["fleet", &table]);
    assert_eq!(found.matches("rank run/").count(), 2, "{found}");
    assert!(!said(&["fleet", &table]).contains("TCC_BUBBLE"));
}
