//! The gate as a pipeline runs it: files, exit codes, all surfaces at once.

use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

pub(crate) fn rooflint(folder: &Path, arguments: &[&str]) -> Outcome {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rooflint"));
    let output = command.args(arguments).current_dir(folder).env_clear().output().unwrap();
    Outcome {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

pub(crate) fn demo() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/demo/h100-training-step.csv")
}

/// Copies of the demo whose kernels of this name take so many times as long, and a little noise.
pub(crate) fn copies(folder: &Path, label: &str, runs: u64, slower: (&str, f64)) {
    let text = std::fs::read_to_string(demo()).unwrap();
    for run in 0..runs {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
        let mut writer = csv::WriterBuilder::new()
            .quote_style(csv::QuoteStyle::Always)
            .from_path(folder.join(format!("{label}-{run}.csv")))
            .unwrap();
        let mut columns = (0, 0);
        for (number, record) in reader.records().enumerate() {
            let record = record.unwrap();
            let find = |name: &str| record.iter().position(|cell| cell == name).unwrap();
            if number == 0 {
                columns = (find("Kernel Name"), find("gpu__time_duration.sum"));
            }
            let factor = if record[columns.0].contains(slower.0) { slower.1 } else { 1.0 };
            // A percent of noise that differs from launch to launch and from run to run.
            let noise = 1.0 + ((number as u64 * 37 + run * 53) % 21) as f64 / 2000.0;
            let cells = record.iter().enumerate().map(|(at, cell)| {
                let time = (at == columns.1).then(|| cell.replace(',', "").parse::<f64>().ok());
                time.flatten()
                    .map_or_else(|| cell.to_owned(), |time| (time * factor * noise).to_string())
            });
            writer.write_record(cells).unwrap();
        }
        writer.flush().unwrap();
    }
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    copies(folder.path(), "main", 4, ("", 1.0));
    copies(folder.path(), "same", 4, ("", 1.001));
    copies(folder.path(), "slow", 4, ("softmax", 1.3));
    folder
}

#[test]
fn a_slowdown_fails_the_gate_and_only_a_slowdown() {
    let folder = folder();
    let gate = |arguments: &[&str]| {
        rooflint(folder.path(), &[&["gate"], arguments, &["--baseline", "main-*.csv"]].concat())
    };
    let slow = gate(&["slow-*.csv"]);
    assert_eq!(slow.code, 1, "{}{}", slow.out, slow.err);
    assert!(slow.out.starts_with("Gate         FAILED: "), "{}", slow.out);
    assert!(slow.out.contains("softmax"), "{}", slow.out);
    let same = gate(&["same-*.csv"]);
    assert_eq!((same.code, same.err.as_str()), (0, ""), "{}", same.out);
    // The same text, and no failure.
    let warned = gate(&["slow-*.csv", "--exit-zero"]);
    assert_eq!(warned.code, 0);
    assert!(warned.out.contains("softmax"), "{}", warned.out);
    // The other way round it is an improvement.
    let faster = rooflint(folder.path(), &["gate", "main-*.csv", "--baseline", "slow-*.csv"]);
    assert_eq!(faster.code, 0, "{}", faster.out);
    // One run per side: the declared noise decides, and 30% is beyond it.
    let single = rooflint(folder.path(), &["gate", "slow-0.csv", "--baseline", "main-0.csv"]);
    assert_eq!(single.code, 1, "{}", single.out);
    assert!(single.out.contains("ne run per side"), "{}", single.out);
}

#[test]
fn every_surface_is_written_in_one_run() {
    let folder = folder();
    let names = ["gate.txt", "gate.md", "gate.json", "gate.xml", "gate.sarif"];
    let mut arguments = vec!["gate", "slow-*.csv", "--baseline", "main-*.csv"];
    for name in names {
        arguments.extend(["-o", name]);
    }
    arguments.extend(["-o", "gitlab=quality.json", "-o", "-", "--format", "github"]);
    let gate = rooflint(folder.path(), &arguments);
    assert_eq!((gate.code, gate.err.as_str()), (1, ""));
    assert!(gate.out.contains("::error "), "{}", gate.out);
    for name in names.into_iter().chain(["quality.json"]) {
        let text = std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert!(text.contains("softmax"), "{name}: {text}");
    }
    let wrong = rooflint(
        folder.path(),
        &["gate", "slow-0.csv", "--baseline", "main-0.csv", "-o", "gate.pdf"],
    );
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("use one of"), "{}", wrong.err);
}

#[test]
fn exit_codes_tell_apart_what_failed() {
    let folder = folder();
    let at = folder.path();
    std::fs::write(at.join("broken.csv"), "nothing,to,see\n").unwrap();
    std::fs::write(at.join("unsure.toml"), "[gate]\nambiguous = \"inconclusive\"\n").unwrap();
    copies(at, "little", 1, ("softmax", 1.08));
    for (arguments, code) in [
        (&["gate", "broken.csv", "--baseline", "main-0.csv"][..], 3),
        (&["gate", "main-0.csv", "--baseline", "missing.csv"][..], 3),
        (&["gate", "main-0.csv", "--baseline", "main-1.csv", "--device", "H200"][..], 0),
        (&["gate", "main-0.csv"][..], 2),
        (&["gate", "main-0.csv", "--baseline", "main-1.csv", "--order", "ABBA"][..], 2),
        (&["gate", "little-0.csv", "--baseline", "main-0.csv"][..], 0),
        (&["gate", "little-0.csv", "--baseline", "main-0.csv", "--policy", "unsure.toml"][..], 4),
        (
            &[
                "gate",
                "little-0.csv",
                "--baseline",
                "main-0.csv",
                "--policy",
                "unsure.toml",
                "--exit-zero",
            ][..],
            0,
        ),
        (&["gate", "main-*.csv", "--self-test"][..], 0),
        (&["diff", "main-0.csv", "slow-0.csv"][..], 0),
        (&["diff", "main-0.csv"][..], 2),
        (&["calibrate", "main-0.csv"][..], 2),
        (&["calibrate", "main-*.csv"][..], 0),
    ] {
        let ended = rooflint(at, arguments);
        assert_eq!(ended.code, code, "{arguments:?}\n{}{}", ended.out, ended.err);
    }
    let order = ["gate", "main-0.csv", "--baseline", "main-1.csv", "--order", "ABB"];
    let says =
        "--order names 1 run A and 2 runs B, and the baseline has 1 run, the current side 1 run";
    let ended = rooflint(at, &order);
    assert!(ended.err.contains(says), "{}", ended.err);
}

#[test]
fn saved_runs_and_reports_are_sides_too() {
    let folder = folder();
    let at = folder.path();
    assert_eq!(rooflint(at, &["main-0.csv", "-o", "report.json"]).code, 0);
    let same = rooflint(at, &["gate", "same-0.csv", "--baseline", "report.json"]);
    assert_eq!(same.code, 0, "{}{}", same.out, same.err);
    let slow = rooflint(at, &["gate", "slow-0.csv", "--baseline", "report.json"]);
    assert_eq!(slow.code, 1, "{}{}", slow.out, slow.err);
    let keep =
        |run: &str| rooflint(at, &["baseline", "save", run, "--store", "store", "--commit", "abc"]);
    for run in ["main-0.csv", "main-1.csv", "main-2.csv"] {
        let saved = keep(run);
        assert_eq!(saved.code, 0, "{}{}", saved.out, saved.err);
    }
    let slow = rooflint(at, &["gate", "slow-*.csv", "--baseline", "store"]);
    assert_eq!(slow.code, 1, "{}{}", slow.out, slow.err);
    let own = rooflint(at, &["gate", "main-0.csv", "--baseline", "store"]);
    assert_eq!(own.code, 2, "{}", own.out);
    assert!(own.err.contains("cannot be its own yardstick"), "{}", own.err);
}

/// The policy takes the place of `[gate]`; the custom rule that its bound names is that of the configuration.
#[test]
fn a_policy_file_leaves_the_rest_of_the_configuration() {
    let folder = folder();
    let at = folder.path();
    let rule = "[[custom-rule]]\nid = \"any\"\nwhen = 'share > 0.05'\nmessage = \"large\"\nseverity = \"high\"\n";
    let bound = "[[gate.bound]]\nname = \"none\"\nmetric = \"findings\"\nrule = \"any\"\nmax = 0\n";
    std::fs::write(at.join("rooflint.toml"), rule).unwrap();
    std::fs::write(at.join("policy.toml"), bound).unwrap();
    let with = |more: &[&str]| rooflint(at, &[&["gate", "main-0.csv"][..], more].concat());
    let found = with(&["--policy", "policy.toml"]);
    assert_eq!(found.code, 1, "{}{}", found.out, found.err);
    // Without the configuration the rule is unknown, and one of its own takes the place of the other.
    assert_eq!(with(&["--policy", "policy.toml", "--no-config"]).code, 2);
    std::fs::write(at.join("own.toml"), rule.replace("> 0.05", "> 2") + bound).unwrap();
    let own = with(&["--policy", "own.toml"]);
    assert_eq!(own.code, 0, "{}{}", own.out, own.err);
}

#[test]
fn calibration_can_be_pasted_into_a_policy() {
    let folder = folder();
    let found = rooflint(folder.path(), &["calibrate", "main-*.csv"]);
    std::fs::write(folder.path().join("policy.toml"), &found.out).unwrap();
    let with = ["gate", "slow-*.csv", "--baseline", "main-*.csv", "--policy", "policy.toml"];
    let gate = rooflint(folder.path(), &with);
    assert_eq!(gate.code, 1, "{}{}{}", found.out, gate.out, gate.err);
    // Of several lines of comments only the thresholds are left.
    let quiet = rooflint(folder.path(), &["calibrate", "main-*.csv", "-q"]);
    assert!(
        quiet.out.starts_with("[gate.noise]\n") && found.out.ends_with(&quiet.out),
        "{}",
        quiet.out
    );
}

/// A floor of 100% or more is no floor, and a policy with it could not be read.
#[test]
fn runs_that_are_no_repeats_of_each_other_calibrate_nothing() {
    let folder = folder();
    // All kernels, and one of them.
    for (slower, parts) in [
        (("", 3.0), ["all kernels together differ by", "are no repeats"]),
        (("softmax", 4.0), ["softmax_cross_entropy_rows", "are no repeats"]),
    ] {
        copies(folder.path(), "other", 1, slower);
        let found = rooflint(folder.path(), &["calibrate", "main-*.csv", "other-0.csv"]);
        assert_eq!((found.code, found.out.as_str()), (2, ""), "{}", found.err);
        for part in [&parts[..], &["must be below 100%", "other-0.csv", "help: leave out"]].concat()
        {
            assert!(found.err.contains(part), "{part}: {}", found.err);
        }
    }
}

/// All rank sums of 2 and 2 runs are 6, of 1 and 2 runs 3: the interval leaves out one of them at either end.
#[test]
fn the_method_is_that_of_the_runs_that_there_are() {
    let folder = folder();
    let at = folder.path();
    let of = |runs: &[&str]| rooflint(at, &[&["gate"], runs, &["--width", "118"]].concat()).out;
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for (runs, confidence) in [
        (&["slow-0.csv", "slow-1.csv", "--baseline", "main-0.csv", "main-1.csv"][..], "67%"),
        (&["slow-0.csv", "slow-1.csv", "--baseline", "main-0.csv"][..], "33%"),
    ] {
        let text = words(&of(runs));
        let reached = format!("interval ({confidence} confidence, the most these runs allow)");
        assert!(text.contains(&reached), "{text}");
        assert!(text.contains(&format!(", {confidence} confidence), limit +5%")), "{text}");
    }
    // One launch per side: twice the noise of four, on the logarithmic scale.
    let single = of(&["slow-0.csv", "--baseline", "main-0.csv"]);
    let declared = "with fewer than 5 launches per side 10.0% with 4 to 21.0% with one";
    assert!(words(&single).contains(declared), "{single}");
    // Nobody measured it: the method says what it may be.
    assert!(single.contains("noise alone could explain 22.0%"), "{single}");
    assert!(words(&single).contains("up to 22.0% may be noise"), "{single}");
    // Commands to be copied are one line each.
    let line = |label: &str| single.lines().find(|line| line.starts_with(label)).unwrap();
    assert!(line("Next ").ends_with(" --explain"), "{single}");
    assert!(line("Reproduce ").ends_with(" --width 118"), "{single}");
}

/// `diff` has no `--coverage`, and too little to compare fails no gate.
#[test]
fn a_comparison_names_no_option_that_it_lacks() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let [before, after] =
        ["before", "after"].map(|side| format!("fixtures/pytorch_trace/h100-step-{side}.json.gz"));
    let diff = rooflint(root, &["diff", &before, &after]).out;
    assert!(!diff.contains("--coverage") && diff.contains("is needed for a gate: "), "{diff}");
    assert!(diff.contains("\nChecks that would leave a gate inconclusive\n"), "{diff}");
    assert!(diff.contains("\nKernels, by time gained or lost, the first 15 of "), "{diff}");
    let gate = rooflint(root, &["gate", &after, "--baseline", &before]);
    assert!(gate.out.contains("--coverage sets what is needed"), "{}", gate.out);
    assert!(gate.code == 4 && gate.out.contains("\nInconclusive checks\n"), "{}", gate.out);
}
