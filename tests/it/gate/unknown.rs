//! What was not measured is no zero: a gate neither passes nor fails by it, in whatever form a run is kept.

use std::path::Path;

use super::cli::{Outcome, rooflint};

const MAP: &str = r#"[columns]
kernel = "name"
time = { column = "us", unit = "us" }
bytes = { column = "mb", unit = "MB" }
"#;

const SELECTED: [&str; 4] = ["--map", "map.toml", "--device", "L4"];

/// 20 MB take 66.7 µs on an L4 of 300 GB/s, 33.3 µs less than they took.
const COUNTED: &str = "name,us,mb\ngemm,900,\ngemm,900,\ncopy,100,20\ncopy,100,20\n";

/// A folder with runs, each under a name.
fn folder(runs: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("map.toml"), MAP).unwrap();
    for (name, text) in runs {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

/// Every form of `run.csv`: the export, its launch table, its report, the saved run as JSON and as Parquet.
fn forms(at: &Path) -> Vec<String> {
    let done = |arguments: &[&str]| {
        let run = rooflint(at, &[arguments, &SELECTED[..]].concat());
        assert_eq!(run.code, 0, "{arguments:?}: {}{}", run.out, run.err);
    };
    done(&["convert", "run.csv", "-o", "table.json"]);
    done(&["run.csv", "-o", "report.json"]);
    let mut forms: Vec<String> = ["run.csv", "table.json", "report.json"].map(str::to_owned).into();
    for format in ["json", "parquet"] {
        if format == "parquet" && !cfg!(feature = "frames") {
            continue;
        }
        let commit = ["--format", format, "--commit", "abc", "--date", "2026-11-22"];
        done(&[&["baseline", "save", "run.csv", "--store", format][..], &commit].concat());
        let entries = std::fs::read_dir(at.join(format).join("default")).unwrap();
        let saved = entries.map(|entry| entry.unwrap().path()).next().unwrap();
        let name = format!("saved.{format}");
        std::fs::copy(saved, at.join(&name)).unwrap();
        forms.push(name);
    }
    forms
}

fn gate(at: &Path, policy: &str, arguments: &[&str]) -> Outcome {
    std::fs::write(at.join("rooflint.toml"), policy).unwrap();
    let selected = match arguments[0] {
        "table.json" => &SELECTED[2..],
        // What was analyzed has its device.
        "report.json" | "saved.json" | "saved.parquet" => &[],
        _ => &SELECTED,
    };
    rooflint(at, &[&["gate"], arguments, selected].concat())
}

/// A bound on one metric, with more keys.
fn bound(metric: &str, more: &str) -> String {
    format!("[[gate.bound]]\nname = \"b\"\nmetric = \"{metric}\"\n{more}\n")
}

/// Neither bytes nor operations of the product were counted: its savings are unknown, as its headroom is.
#[test]
fn a_bound_on_savings_or_headroom_that_are_unknown_is_inconclusive() {
    let folder = folder(&[("run.csv", COUNTED)]);
    let at = folder.path();
    for form in forms(at) {
        // What the copy computed was not counted, and may take all of its time.
        for (metric, most, code) in [("savings", "\"1us\"", 1), ("headroom", "1.1", 0)] {
            let of = |kernel: &str| {
                let policy = bound(metric, &format!("kernel = \"{kernel}\"\nmax = {most}"));
                gate(at, &policy, &[&form])
            };
            let unknown = of("gemm");
            assert_eq!(unknown.code, 4, "{form} {metric}: {}{}", unknown.out, unknown.err);
            assert!(unknown.out.contains("the only check of a bound lacks"), "{}", unknown.out);
            let known = of("copy");
            assert_eq!(known.code, code, "{form} {metric}: {}{}", known.out, known.err);
        }
    }
}

/// A baseline without counters, and a current side without them: nothing is known of the change.
#[test]
fn savings_that_a_side_lacks_did_not_change() {
    let bare = "name,us,mb\ngemm,901,\ngemm,901,\ncopy,101,\ncopy,101,\n";
    let folder = folder(&[("run.csv", COUNTED), ("bare.csv", bare)]);
    let limit = "[[gate.limit]]\nmetric = \"savings\"\nworse = \"10%\"\n";
    for (sides, lacking) in
        [(["run.csv", "bare.csv"], "the baseline"), (["bare.csv", "run.csv"], "the current side")]
    {
        let [current, baseline] = sides;
        let found = gate(folder.path(), limit, &[current, "--baseline", baseline, "-v"]);
        assert_eq!(found.code, 0, "{}{}", found.out, found.err);
        let text = found.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            text.contains(&format!("savings is limited by the policy but missing in {lacking}"))
        );
        // It is as grave as the policy has it.
        let strict = format!("[gate]\nincomparable = \"fail\"\n{limit}");
        let found = gate(folder.path(), &strict, &[current, "--baseline", baseline]);
        assert_eq!(found.code, 1, "{}{}", found.out, found.err);
    }
}

/// The rule needs counters of sectors, which no launch has; the one on architectures needs names alone.
#[test]
fn a_bound_on_a_rule_that_was_skipped_is_inconclusive() {
    let folder = folder(&[("run.csv", COUNTED)]);
    let at = folder.path();
    for form in forms(at) {
        let of = |rule: &str| {
            gate(at, &bound("findings", &format!("rule = \"{rule}\"\nmax = 0")), &[&form])
        };
        let skipped = of("uncoalesced-access");
        assert_eq!(skipped.code, 4, "{form}: {}{}", skipped.out, skipped.err);
        assert!(skipped.out.contains("all 2 checks of bounds lack"), "{}", skipped.out);
        let judged = of("old-architecture-kernel");
        assert_eq!(judged.code, 0, "{form}: {}{}", judged.out, judged.err);
        let any = gate(at, &bound("findings", "severity = \"high\"\nmax = 9"), &[&form]);
        assert_eq!(any.code, 0, "{form}: {}{}", any.out, any.err);
    }
}

/// The product has 90% of the time, the copy 10%.
#[test]
fn a_bound_that_its_min_share_leaves_no_kernel_is_inconclusive() {
    let folder = folder(&[("run.csv", COUNTED), ("main.csv", &COUNTED.replace("900", "901"))]);
    let at = folder.path();
    let of = |more: &str| bound("time", &format!("{more}\nmax = \"1s\""));
    for (more, code) in [
        ("kernel = \"copy\"\nmin-share = 0.95", 4),
        ("min-share = 0.95", 4),
        ("kernel = \"copy\"\nmin-share = 0.05", 0),
        // The copy is rightly left out beside the product.
        ("min-share = 0.5", 0),
    ] {
        let found = gate(at, &of(more), &["run.csv"]);
        assert_eq!(found.code, code, "{more}: {}{}", found.out, found.err);
    }
    // With a baseline the limits answer, unless all of them are off.
    let asleep = of("min-share = 0.95");
    let with_baseline = ["run.csv", "--baseline", "main.csv", "-v"];
    let found = gate(at, &asleep, &with_baseline);
    assert_eq!(found.code, 0, "{}{}", found.out, found.err);
    assert!(found.out.contains("below its min-share"), "{}", found.out);
    let off = ["time", "kernel-total", "total", "common-shift"].map(|metric| {
        format!("[[gate.limit]]\nmetric = \"{metric}\"\nworse = 0\naction = \"none\"\n")
    });
    let found = gate(at, &(off.concat() + &asleep), &with_baseline);
    assert_eq!(found.code, 4, "{}{}", found.out, found.err);
}

/// Of the copy no launch has a duration: it has no share, and whether it is large enough nobody knows.
#[test]
fn a_share_that_is_unknown_is_not_small() {
    let folder = folder(&[("run.csv", "name,us,mb\ngemm,900,\ngemm,900,\ncopy,,20\ncopy,,20\n")]);
    let at = folder.path();
    for form in forms(at) {
        for (metric, more) in [
            ("share", "max = 0.01"),
            ("time", "max = \"1us\""),
            ("time", "max = \"1us\"\nmin-share = \"1%\""),
            ("bytes", "max = \"1MB\"\nmin-share = \"1%\""),
            ("findings", "max = 0"),
        ] {
            let policy = bound(metric, &format!("kernel = \"copy\"\n{more}"));
            let found = gate(at, &policy, &[&form]);
            assert_eq!(found.code, 4, "{form} {metric} {more}: {}{}", found.out, found.err);
        }
        // Bytes are known without a time.
        let bytes = gate(at, &bound("bytes", "kernel = \"copy\"\nmax = \"1MB\""), &[&form]);
        assert_eq!(bytes.code, 1, "{form}: {}{}", bytes.out, bytes.err);
    }
}
