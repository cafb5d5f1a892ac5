//! Counters that only some launches of a kernel have: bytes and operations are compared by the launches that they are of.

use std::path::Path;

use super::cli::{Outcome, rooflint};

const MAP: &str = r#"[columns]
kernel = "name"
time = { column = "us", unit = "us" }
bytes = { column = "mb", unit = "MB" }
flops = [
  { column = "fp32", unit = "FLOP", precision = "fp32_vector" },
  { column = "fp64", unit = "FLOP", precision = "fp64_vector" },
  { column = "fp16", unit = "FLOP", precision = "fp16_vector" },
]
"#;

/// One of the ten launches of a kernel: megabytes, and operations in single, double and half precision.
type Counted = [Option<f64>; 4];

const ALL: Counted = [Some(20.0), Some(1e8), Some(1e6), None];

/// Writes three runs of two kernels, of which `of` says what was counted in each launch.
fn runs(folder: &Path, label: &str, of: impl Fn(usize) -> Counted) {
    std::fs::write(folder.join("map.toml"), MAP).unwrap();
    // No two runs are the same.
    let first: usize = label.bytes().map(usize::from).sum();
    for seed in 0..3 {
        let mut text = "name,us,mb,fp32,fp64,fp16\n".to_owned();
        for (name, time) in [("norm", 900.0), ("gelu", 500.0)] {
            for launch in 0..10 {
                let noise = ((launch * 7 + seed * 3) % 5) as f64 / 1000.0;
                let time = time * (1.0 + noise + (first + seed) as f64 * 1e-6);
                let cells = of(launch)
                    .map(|value| value.map_or_else(String::new, |value| value.to_string()));
                text.push_str(&format!("{name},{time},{}\n", cells.join(",")));
            }
        }
        std::fs::write(folder.join(format!("{label}-{seed}.csv")), text).unwrap();
    }
}

fn gate(folder: &Path, metric: &str, current: &str, warmup: &str) -> Outcome {
    compared(folder, metric, [current, "all"], warmup)
}

/// The findings of a gate that allows 10% more of a metric; current side and baseline.
fn compared(folder: &Path, metric: &str, sides: [&str; 2], warmup: &str) -> Outcome {
    let policy = format!("[[gate.limit]]\nmetric = \"{metric}\"\nworse = \"10%\"\n");
    std::fs::write(folder.join("rooflint.toml"), policy).unwrap();
    let [current, baseline] = sides.map(|side| format!("{side}-*.csv"));
    let arguments = ["gate", &current, "--baseline", &baseline, "--map", "map.toml"];
    rooflint(folder, &[&arguments[..], &["--device", "L4", "--warmup", warmup]].concat())
}

/// The sides move 20 MB each launch, counted in the first six or in the last five of ten; five are left out of the times.
#[test]
fn bytes_of_some_launches_are_those_of_a_launch_with_any_warmup() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let some = |is_counted: fn(usize) -> bool, megabytes: f64| {
        move |launch: usize| [Some(megabytes).filter(|_| is_counted(launch)), None, None, None]
    };
    runs(at, "all", some(|_| true, 20.0));
    runs(at, "early", some(|launch| launch < 6, 20.0));
    runs(at, "late", some(|launch| launch >= 5, 20.0));
    runs(at, "more", some(|launch| launch >= 5, 40.0));
    for warmup in ["0", "2", "5", "20"] {
        for same in ["early", "late"] {
            let found = gate(at, "bytes", same, warmup);
            assert_eq!(found.code, 0, "{same} {warmup}: {}{}", found.out, found.err);
        }
        let found = gate(at, "bytes", "more", warmup);
        assert_eq!(found.code, 1, "{warmup}: {}{}", found.out, found.err);
        assert!(found.out.contains("from 20.0 MB to 40.0 MB"), "{}", found.out);
        // Both sides name ten launches, and those of them that their times are not of.
        // Of ten launches one is kept.
        let most = if warmup == "20" { "up to " } else { "" };
        let left_out = format!(
            ", {most}the first {warmup} launches of each counted as the mean of the others"
        );
        let says = found.out.matches(&left_out).count();
        assert_eq!(says, if warmup == "0" { 0 } else { 2 }, "{}", found.out);
    }
}

/// Half of the launches lack one of two pipes, which is not zero there.
#[test]
fn operations_are_scaled_by_the_launches_of_their_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    runs(at, "all", |_| ALL);
    runs(at, "half", |launch| [ALL[0], ALL[1], ALL[2].filter(|_| launch < 5), None]);
    runs(at, "double", |launch| [ALL[0], ALL[1], Some(2e6).filter(|_| launch < 5), None]);
    runs(at, "other", |launch| [ALL[0], ALL[1].filter(|_| launch < 5), ALL[2], None]);
    for (metric, current, code) in
        [("fp64", "half", 0), ("fp64", "double", 1), ("flops", "half", 0), ("flops", "other", 0)]
    {
        let found = gate(at, metric, current, "0");
        assert_eq!(found.code, code, "{metric} {current}: {}{}", found.out, found.err);
    }
    // The lacking pipe is in the baseline.
    runs(at, "now", |_| ALL);
    runs(at, "all", |launch| [ALL[0], ALL[1].filter(|_| launch < 5), ALL[2], None]);
    let found = gate(at, "flops", "now", "0");
    assert_eq!(found.code, 0, "{}{}", found.out, found.err);
}

/// Launches that take turns on two pipes do as much as those on one: nothing was left uncounted.
#[test]
fn launches_on_different_pipes_are_each_counted() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let on = |is_half: bool| {
        let [single, half] = if is_half { [None, Some(1e8)] } else { [Some(1e8), None] };
        [Some(20.0), single, None, half]
    };
    runs(at, "all", |_| on(false));
    runs(at, "turns", |launch| on(launch % 2 == 0));
    for [current, baseline] in [["turns", "all"], ["all", "turns"]] {
        let found = compared(at, "flops", [current, baseline], "0");
        assert_eq!(found.code, 0, "{}{}", found.out, found.err);
    }
    let file = at.join("turns-0.csv");
    let explained = rooflint(
        at,
        &[
            file.to_str().unwrap(),
            "--map",
            "map.toml",
            "--device",
            "L4",
            "--kernel",
            "#1",
            "--explain",
        ],
    );
    assert!(!explained.out.contains("partly counted"), "{}", explained.out);
}

/// The first five of ten launches are left out of the times, or the last five were not counted: savings are those of the
/// launches that are compared.
#[test]
fn savings_are_of_the_launches_that_are_compared() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    runs(at, "all", |_| ALL);
    runs(at, "half", |launch| if launch < 5 { ALL } else { [None; 4] });
    for warmup in ["0", "5"] {
        for sides in [["half", "all"], ["all", "half"]] {
            let found = compared(at, "savings", sides, warmup);
            assert_eq!(found.code, 0, "{sides:?} {warmup}: {}{}", found.out, found.err);
        }
    }
}

/// Nine tenths of the time for seven tenths of the operations: the same work would take longer, and the run has not.
#[test]
fn a_shorter_run_that_does_less_work_is_no_slower_one() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    runs(at, "all", |_| ALL);
    runs(at, "less", |_| [Some(20.0), Some(0.7e8), Some(1e6), None]);
    for seed in 0..3 {
        let path = at.join(format!("less-{seed}.csv"));
        let text = std::fs::read_to_string(&path).unwrap();
        let shorter = |line: &str| match line.split(',').collect::<Vec<_>>().as_slice() {
            [name, time, rest @ ..] if *time != "us" => {
                format!("{name},{},{}\n", time.parse::<f64>().unwrap() * 0.9, rest.join(","))
            }
            _ => format!("{line}\n"),
        };
        std::fs::write(&path, text.lines().map(shorter).collect::<String>()).unwrap();
    }
    std::fs::write(at.join("rooflint.toml"), "[gate]\nnormalize = \"work\"\n").unwrap();
    let arguments = ["gate", "less-*.csv", "--baseline", "all-*.csv", "--map", "map.toml", "-v"];
    let found = rooflint(at, &[&arguments[..], &["--device", "L4"]].concat());
    assert_eq!(found.code, 0, "{}", found.out);
    let total = found.out.lines().find(|line| line.starts_with("Total")).unwrap();
    // 14 ms of the baseline are 9.86 ms for seven tenths of the operations.
    let scaled = "other work; normalized to the same work (current/baseline 0.70×)";
    assert!(total.contains("9.86 ms before") && total.ends_with(scaled), "{}", found.out);
}
