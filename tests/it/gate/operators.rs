//! Launches of one kernel by several operators, and launches without a time: neither may hide the other.

use std::path::Path;

use super::cli::rooflint;

const MAP: &str = "[columns]\nkernel = \"name\"\noperator = \"op\"\n\
                   time = { column = \"us\", unit = \"us\" }\nbytes = { column = \"mb\", unit = \"MB\" }\n";
const READ: [&str; 4] = ["--map", "map.toml", "--device", "L4"];
const OPERATORS: [&str; 2] = ["mm 8192x4096", "mm 8192x3072"];

/// Five runs of a product that two operators launch, each so much slower; both have 20 launches of 300 and 400 µs.
fn runs(folder: &Path, label: &str, slower: [f64; 2]) {
    std::fs::write(folder.join("map.toml"), MAP).unwrap();
    for run in 0..5_u32 {
        let mut text = "name,op,us,mb\n".to_owned();
        let others = [("copy", "copy_", 300.0), ("gelu", "gelu", 500.0), ("norm", "norm", 900.0)];
        let products = [300.0 * slower[0], 400.0 * slower[1]];
        let products =
            OPERATORS.into_iter().zip(products).map(|(op, time)| ("nvjet_tst", op, time));
        for (place, (name, operator, time)) in others.into_iter().chain(products).enumerate() {
            for launch in 0..20_u32 {
                let noise = f64::from((launch * 7 + run * 3 + place as u32) * 37 % 21) / 4000.0;
                text.push_str(&format!("{name},{operator},{},1\n", time * (1.0 + noise)));
            }
        }
        std::fs::write(folder.join(format!("{label}-{run}.csv")), text).unwrap();
    }
}

fn gate(folder: &Path, arguments: &[&str]) -> super::cli::Outcome {
    rooflint(folder, &[&["gate"], arguments, &READ].concat())
}

#[test]
fn a_waiver_for_one_operator_accepts_nothing_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    runs(at, "main", [1.0, 1.0]);
    runs(at, "now", [1.0, 1.3]);
    let waived = |operator: &str| {
        let policy = format!(
            "[[gate.waiver]]\nkernel = \"nvjet_tst\"\noperator = \"{operator}\"\nreason = \"known\"\n"
        );
        std::fs::write(at.join("policy.toml"), policy).unwrap();
        gate(at, &["now-*.csv", "--baseline", "main-*.csv", "--policy", "policy.toml"])
    };
    let other = waived(OPERATORS[0]);
    assert_eq!(other.code, 1, "{}{}", other.out, other.err);
    assert!(other.out.contains("nvjet_tst [mm 8192x3072]"), "{}", other.out);
    let own = waived(OPERATORS[1]);
    assert_eq!(own.code, 0, "{}{}", own.out, own.err);
}

#[test]
fn findings_of_two_operators_are_two() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    runs(at, "main", [1.0, 1.0]);
    let fingerprints = |label: &str, slower: [f64; 2]| -> Vec<(String, String)> {
        runs(at, label, slower);
        let pattern = format!("{label}-*.csv");
        let found = gate(at, &[&pattern, "--baseline", "main-*.csv", "--format", "json"]);
        let found: serde_json::Value = serde_json::from_str(&found.out).unwrap();
        let checks = found["checks"].as_array().unwrap().iter();
        let failing = checks.filter(|check| {
            check["action"] == "fail"
                && check["metric"] == "time"
                && check["verdict"] == "regression"
        });
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let of = |check: &serde_json::Value| {
            (text(&check["subject"]["operator"]), text(&check["fingerprint"]))
        };
        let mut found: Vec<_> = failing.map(of).collect();
        found.sort();
        found
    };
    let both = fingerprints("both", [1.3, 1.2]);
    assert_eq!(both.len(), 2, "{both:?}");
    assert_ne!(both[0].1, both[1].1);
    // Which of them is worse changes neither, nor does the other one being there.
    assert_eq!(fingerprints("turned", [1.2, 1.3]), both);
    assert_eq!(fingerprints("one", [1.0, 1.3]), both[..1]);
}

/// A kernel that takes the place of another, and is waived, is no excuse for all others; nor is one that was launched less
/// often than before, with another number of launches.
#[test]
fn a_waived_kernel_excuses_only_itself() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    runs(at, "main", [1.0, 1.0]);
    // All but the waived kernel take 5% longer, and the run has half the launches.
    for run in 0..5 {
        let text = std::fs::read_to_string(at.join(format!("main-{run}.csv"))).unwrap();
        let lines = text.lines().enumerate().filter(|(number, _)| *number == 0 || number % 2 == 0);
        let slower = |line: &str, factor: f64| {
            let cells: Vec<&str> = line.split(',').collect();
            let time: f64 = cells[2].parse().unwrap();
            format!("{},{},{},{}", cells[0], cells[1], time * factor, cells[3])
        };
        let lines = lines.map(|(number, line)| match number {
            0 => line.to_owned(),
            _ if line.starts_with("gelu") => slower(line, 1.4),
            _ => slower(line, 1.045),
        });
        let text = lines.collect::<Vec<_>>().join("\n") + "\n";
        std::fs::write(at.join(format!("less-{run}.csv")), &text).unwrap();
        std::fs::write(at.join(format!("new-{run}.csv")), text.replace("gelu,gelu", "glu_v9,glu"))
            .unwrap();
    }
    let policy = "[gate]\nnew = \"fail\"\nrenamed = \"none\"\n";
    for (label, kernel) in [("less", "gelu"), ("new", "glu_v9")] {
        let waiver = format!("[[gate.waiver]]\nkernel = \"{kernel}\"\nreason = \"known\"\n");
        std::fs::write(at.join("policy.toml"), format!("{policy}{waiver}")).unwrap();
        let pattern = format!("{label}-*.csv");
        let base = [&pattern, "--baseline", "main-*.csv", "--policy", "policy.toml"];
        let found = gate(at, &[&base[..], &["--format", "json"]].concat());
        let found: serde_json::Value = serde_json::from_str(&found.out).unwrap();
        let mut checks = found["checks"].as_array().unwrap().iter();
        let accepted = checks.clone().filter(|check| !check["waived"].is_null()).count();
        let total = checks.find(|check| check["metric"] == "total").unwrap();
        assert_eq!((total["action"].as_str(), accepted), (Some("fail"), 1), "{label}: {total}");
    }
}

#[test]
fn a_series_of_a_tracker_is_of_one_kernel() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    runs(at, "main", [1.0, 1.0]);
    for (format, line) in
        [("openmetrics", "rooflint_kernel_time_seconds{"), ("metrics", "kernel_time_seconds_")]
    {
        let found = gate(at, &["main-0.csv", "--baseline", "main-1.csv", "--format", format]);
        let lines = found.out.lines().map(str::trim).filter(|text| text.contains(line));
        let names: Vec<&str> =
            lines.map(|text| text.rsplit_once(['}', ':']).map_or(text, |(name, _)| name)).collect();
        let different: std::collections::BTreeSet<&str> = names.iter().copied().collect();
        assert_eq!((names.len(), different.len()), (5, 5), "{format}: {names:?}");
    }
}

/// Half of the launches have no time, and the model leaves their bytes out: 1 MB a launch is still 1 MB a launch.
#[test]
fn launches_without_a_time_do_not_make_the_others_do_less() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    runs(at, "main", [1.0, 1.0]);
    let text = std::fs::read_to_string(at.join("main-0.csv")).unwrap();
    let lines = text.lines().enumerate().map(|(number, line)| {
        let cells: Vec<&str> = line.split(',').collect();
        if number > 0 && number % 2 == 0 && cells[0] == "gelu" {
            format!("{},{},,{}", cells[0], cells[1], cells[3])
        } else {
            line.to_owned()
        }
    });
    std::fs::write(at.join("half.csv"), lines.collect::<Vec<_>>().join("\n") + "\n").unwrap();
    let policy = "[[gate.bound]]\nname = \"least\"\nmetric = \"bytes\"\nmax = \"0.8MB\"\nkernel = \"gelu\"\n";
    std::fs::write(at.join("bytes.toml"), policy).unwrap();
    for file in ["main-0.csv", "half.csv"] {
        let bounded = gate(at, &[file, "--policy", "bytes.toml"]);
        assert_eq!(bounded.code, 1, "{file}: {}{}", bounded.out, bounded.err);
        assert!(bounded.out.contains("1.00 MB"), "{file}: {}", bounded.out);
    }
    // First launches are left out of times, and of nothing else.
    let policy = policy.replace("0.8MB", "1.1MB");
    std::fs::write(at.join("most.toml"), policy).unwrap();
    let warmed = gate(at, &["main-0.csv", "--policy", "most.toml", "--warmup", "5"]);
    assert_eq!(warmed.code, 0, "{}{}", warmed.out, warmed.err);
    let tracked = gate(at, &["half.csv", "--policy", "bytes.toml", "--format", "openmetrics"]);
    assert!(!tracked.out.lines().any(|line| line.ends_with(" 0") && line.contains("time_seconds")));
}
