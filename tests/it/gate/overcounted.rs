//! Counts that may be too high: the roof that is reached, targets and other devices are compared with both ends.

use std::path::Path;

use super::cli::{Outcome, rooflint};

/// 60 GFLOP in 1 ms on an H100 of 66.9 TFLOP/s: 89.7% of its roof, or a tenth of that where the count may be so high.
fn folder(bounds: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "map.toml",
        &format!(
            "[columns]\nkernel = 'name'\ntime = {{ column = 'us', unit = 'us' }}\n\
             bytes = {{ column = 'mb', unit = 'MB' }}\n\
             flops = {{ column = 'gf', unit = 'GFLOP', precision = 'fp32_vector'{bounds} }}\n"
        ),
    );
    write("now.csv", "name,us,mb,gf\nk,1000,1,60\nk,1001,1,60\n");
    write("before.csv", "name,us,mb,gf\nk,4000,1,60\nk,4003,1,60\n");
    write(
        "bound.toml",
        "[[gate.bound]]\nname = 'near'\nmetric = 'roof'\nkernel = 'k'\nmin = '70%'\n",
    );
    write("groups.toml", "[[group]]\nname = 'g'\nkernel = 'k'\ntarget = 0.7\n");
    folder
}

fn run(folder: &Path, arguments: &[&str]) -> Outcome {
    rooflint(folder, &[arguments, &["--map", "map.toml", "--device", "H100 SXM5 80GB"]].concat())
}

#[test]
fn a_bound_on_the_roof_is_passed_only_by_what_is_certain() {
    let bound = |bounds: &str| {
        let folder = folder(bounds);
        let found = run(folder.path(), &["gate", "now.csv", "--policy", "bound.toml"]);
        assert_eq!(found.code, 0, "{}", found.err);
        found.out
    };
    assert!(bound("").contains("1 within bounds"), "{}", bound(""));
    let open = bound(", low = 0.1");
    assert!(open.contains("ambiguous: k: roof is 9.0–89.6%"), "{open}");
}

#[test]
fn a_target_is_met_only_by_what_is_certain() {
    let targets = |bounds: &str| {
        let folder = folder(bounds);
        run(folder.path(), &["now.csv", "--config", "groups.toml", "--full"]).out
    };
    let exact = targets("");
    assert!(exact.contains("Targets      1 met"), "{exact}");
    let open = targets(", low = 0.1");
    assert!(open.contains("Targets      1 cannot tell") && open.contains("9.0–89.6%"), "{open}");
}

/// The baseline ran on another device, where the ratio to the roofline is compared: 60 GFLOP take 3.08 of 4 ms on 19.5 TFLOP/s.
#[test]
fn headrooms_of_two_devices_are_compared_only_where_they_are_certain() {
    let across = |bounds: &str| {
        let folder = folder(bounds);
        let other = ["--baseline-device", "A100 SXM4 80GB", "--across-devices"];
        let sides = ["gate", "now.csv", "--baseline", "before.csv"];
        run(folder.path(), &[&sides[..], &other].concat()).out
    };
    let (exact, open) = (across(""), across(", low = 0.1"));
    // 4.0015 ÷ 3.0769 ms before, 1.0005 ÷ 0.8969 ms now: 1.3005 and 1.1156.
    assert!(exact.contains("k: -14.2%"), "{exact}");
    assert!(open.contains("100.0% has no certain roofline time on a side"), "{open}");
}

/// A saved run keeps both ends, also as a table.
#[test]
fn a_saved_run_keeps_what_is_certainly_needed() {
    let folder = folder(", low = 0.1");
    for format in ["json", "parquet"] {
        let store = format!("store-{format}");
        let saved = run(
            folder.path(),
            &["baseline", "save", "now.csv", "--store", &store, "--format", format],
        );
        assert_eq!(saved.code, 0, "{}", saved.err);
        let shown = rooflint(
            folder.path(),
            &["gate", &format!("{store}/default/*.{format}"), "--policy", "bound.toml"],
        );
        assert!(shown.out.contains("roof is 9.0–89.6%"), "{format}: {}{}", shown.out, shown.err);
    }
}

/// Summaries of ranks show the interval, too: 2 ms of 1.79 ms, or of a tenth of it.
#[test]
fn summaries_of_ranks_keep_both_ends() {
    let folder = folder(", low = 0.1");
    let summary = run(folder.path(), &["summarize", "now.csv", "--rank", "0", "-o", "rank.json"]);
    assert_eq!(summary.code, 0, "{}", summary.err);
    let fleet = rooflint(folder.path(), &["fleet", "rank.json"]);
    assert!(fleet.out.contains("1.79 ms of 2.00 ms judged (1.12–11.2×)"), "{}", fleet.out);
}

/// On an A100 of 19.5 TFLOP/s the operations take 3.08 ms, or a tenth of that: the projection is what it takes at most.
#[test]
fn a_projection_of_counts_that_may_be_too_high_is_an_upper_bound() {
    let projected = |bounds: &str| {
        let folder = folder(bounds);
        let what_if = ["now.csv", "--what-if", "A100 SXM4 80GB"];
        let text = run(folder.path(), &[&what_if[..], &["--full"]].concat()).out;
        let json = run(folder.path(), &[&what_if[..], &["--format", "json"]].concat()).out;
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let all = json["what_if"].as_array().unwrap();
        let ends = ["is_lower_bound", "is_upper_bound"];
        (text.contains('≤'), ends.map(|end| all[all.len() - 1]["totals"][end].as_bool().unwrap()))
    };
    assert_eq!(projected("").1, [false, false]);
    assert_eq!(projected(", low = 0.1"), (true, [false, true]));
    assert_eq!(projected(", high = 10").1, [true, false]);
    // With both it is neither.
    assert_eq!(projected(", low = 0.1, high = 10").1, [true, true]);
}
