//! Nsight Compute's own rules: their results are read, reported beside ours, and compared with them.

mod compared;
mod topics;

use std::path::{Path, PathBuf};

use rooflint::analysis::{self, KernelAdvice};
use rooflint::catalog::Catalog;
use rooflint::ingest::{self, Input, Options};
use rooflint::model::{AdviceKind, Profile, SpeedupScope};

use crate::predict::program::program;

fn fixture() -> PathBuf {
    let file = "fixtures/ncu_long/h100-details-rules-with-speedups.csv";
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

const DEVICE: &str = "H100 SXM5 80GB";

fn advice(profile: &Profile) -> Vec<Vec<KernelAdvice>> {
    let options =
        analysis::Options { device: Some(DEVICE.to_owned()), ..analysis::Options::default() };
    let analysis = analysis::analyze(profile, &Catalog::builtin(), &options).unwrap();
    analysis.kernels.iter().map(|kernel| kernel.tool_advice().to_vec()).collect()
}

/// A details page of these records, after the header of 2023 and later.
fn page(records: &[&str]) -> Profile {
    try_page(records, false).unwrap()
}

fn try_page(records: &[&str], strict: bool) -> Result<Profile, ingest::IngestError> {
    let mut text = "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\
        \"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\
        \"Metric Value\",\"Rule Name\",\"Rule Type\",\"Rule Description\",\"Estimated Speedup Type\",\
        \"Estimated Speedup\"\n"
        .to_owned();
    for record in records {
        let (id, rest) = record.split_once(' ').unwrap();
        text.push_str(&format!(
            "\"{id}\",\"7\",\"app\",\"127.0.0.1\",\"kernel_{id}\",\"1\",\"7\",\"(256, 1, 1)\",\"(512, 1, 1)\",\
             \"0\",\"9.0\",{rest}\n"
        ));
    }
    let text: &'static str = Box::leak(text.into_boxed_str());
    ingest::read_text("page", text, &Options { strict, ..Options::default() })
}

const TIME: &str = r#""GPU Speed Of Light Throughput","Duration","us","20","#;

type Estimate = (Option<SpeedupScope>, f64);

/// What is said of a launch: rule, mark, what about, estimate.
fn said(profile: &Profile, row: usize) -> Vec<(String, AdviceKind, String, Option<Estimate>)> {
    let told = profile.launch(row).advice().iter().map(|one| {
        (
            profile.names.get(one.rule).to_owned(),
            one.kind,
            profile.names.get(one.about).to_owned(),
            one.speedup.map(|speedup| (speedup.scope, speedup.share)),
        )
    });
    told.collect()
}

#[test]
fn results_of_rules_are_kept_with_their_kernels() {
    let profile = ingest::read(&[Input::Named(fixture())], &Options::default()).unwrap();
    assert_eq!(profile.sources[0].skips.count, 0);
    assert!(
        profile.sources[0].dialect.contains("20 columns, 18 rule rows"),
        "{:?}",
        profile.sources
    );
    // Counted by hand in the fixture: five each of launches 0 and 1, four of 2, four of 3, one of
    // which has a line break in its text.
    let counts: Vec<usize> = profile.iter().map(|launch| launch.advice().len()).collect();
    assert_eq!(counts, [5, 5, 4, 4]);
    let local = said(&profile, 2).pop().unwrap();
    assert_eq!(local.0, "LocalMemoryUsage");
    assert_eq!(local.2, "local memory; register spilling");
    assert_eq!(local.3, None, "n/a is no estimate");
    assert_eq!(said(&profile, 3)[1].3, Some((Some(SpeedupScope::Local), 0.75)));
    let kernels = advice(&profile);
    let scaled = kernels.iter().find(|advice| advice.len() == 5).unwrap();
    let stall = scaled.iter().find(|one| &*one.rule == "CPIStall").unwrap();
    let speedup = stall.speedup.unwrap();
    assert_eq!((stall.launches, speedup.low, speedup.high), (2, 0.285, 0.315));
}

#[test]
fn a_rule_may_stand_before_the_metrics_and_away_from_them() {
    let rule = r#""LaunchStats","","","","OurRule","WRN","First.","global","12.5""#;
    let later = r#""LaunchStats","","","","OurRule","WRN","Second.","global","25""#;
    let lines = [
        format!("0 {rule}"),
        format!("0 {TIME}"),
        format!("1 {TIME}"),
        // The launch again, after another one: what is known is not said twice.
        format!("0 {rule}"),
        format!("0 {later}"),
        // A launch of which nothing is measured.
        format!("2 {rule}"),
    ];
    let profile = page(&lines.each_ref().map(String::as_str));
    assert_eq!(profile.launches.len(), 3);
    let about = |row| said(&profile, row).into_iter().map(|one| one.2).collect::<Vec<_>>();
    assert_eq!(about(0), ["First", "Second"]);
    assert_eq!(about(1), Vec::<String>::new());
    assert_eq!(about(2), ["First"]);
    assert!((profile.launch(0).duration().unwrap().0.get() / 20e-6 - 1.0).abs() < 1e-12);
}

#[test]
fn estimates_that_are_none_are_counted_and_their_rule_stays() {
    let rule = |kind: &str, scope: &str, share: &str| {
        format!(r#"0 "S","","","","Rule {kind} {scope} {share}","{kind}","","{scope}","{share}""#)
    };
    let lines = [
        format!("0 {TIME}"),
        rule("OPT", "global", "n/a"),
        rule("OPT", "global", ""),
        rule("OPT", "global", "many"),
        rule("OPT", "global", "-1"),
        rule("OPT", "global", "100.5"),
        rule("OPT", "local", "250"),
        rule("OPT", "cosmic", "5"),
        rule("FUN", "global", "0"),
        rule("", "", "1e999"),
        // No name: a rule row, but nothing that could be told.
        r#"0 "S","","","","","OPT","A text.","global","5""#.to_owned(),
        // Cut off after the name.
        r#"0 "S","","","","Rule cut""#.to_owned(),
    ];
    let lines = lines.each_ref().map(String::as_str);
    let profile = page(&lines);
    let told: Vec<_> = said(&profile, 0).into_iter().map(|one| (one.1, one.3)).collect();
    let (opt, unknown) = (AdviceKind::Optimization, AdviceKind::Unknown);
    let global = Some(SpeedupScope::Global);
    assert_eq!(
        told,
        [
            (opt, None),
            (opt, None),
            (opt, None),
            (opt, None),
            (opt, None),
            (opt, Some((Some(SpeedupScope::Local), 2.5))),
            (opt, Some((None, 0.05))),
            (unknown, Some((global, 0.0))),
            (unknown, None),
            (unknown, None),
        ]
    );
    let skips = &profile.sources[0].skips;
    assert_eq!(skips.count, 4, "{skips:?}");
    assert!(skips.first.iter().all(|skip| skip.column.as_deref() == Some("Estimated Speedup")));
    let strict = try_page(&lines, true).unwrap_err().to_string();
    assert!(strict.contains("cannot read as share"), "{strict}");
}

#[test]
fn explanations_show_what_the_profiler_says_beside_ours() {
    let path = fixture();
    let path = path.to_str().unwrap();
    let run = program(&["analyze", path, "--device", DEVICE, "--explain", "--kernel", "*"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(run.stdout.matches("Nsight Compute says").count(), 3, "{}", run.stdout);
    let line = |rule: &str| {
        let found = run.stdout.lines().find(|line| line.trim_start().starts_with(rule));
        found.unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for (rule, expected) in [
        (
            "CPIStall",
            "CPIStall optimization, est. speedup 28.5–31.5% stalled waiting for a scoreboard \
             dependency on a L1TEX (local, global, surface, texture) operation",
        ),
        (
            "TheoreticalOccupancy",
            "TheoreticalOccupancy optimization, est. local speedup 75.0% limited by registers",
        ),
        ("PCSamplingData", "PCSamplingData warning no samples"),
        ("LocalMemoryUsage", "LocalMemoryUsage optimization local memory; register spilling"),
    ] {
        assert_eq!(line(rule), expected);
    }
    // The report without --explain stays as it is.
    let plain = program(&["analyze", path, "--device", DEVICE]);
    assert!(!plain.stdout.contains("Nsight Compute says"), "{}", plain.stdout);
}

#[test]
fn the_json_report_carries_what_the_profiler_says() {
    let path = fixture();
    let run = program(&["analyze", path.to_str().unwrap(), "--device", DEVICE, "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let kernels = report["kernels"].as_array().unwrap();
    let copy = kernels.iter().find(|one| one["name"].as_str().unwrap().contains("copy_strided"));
    let advice = &copy.unwrap()["tool_advice"][1];
    let expected = serde_json::json!({
        "rule": "TheoreticalOccupancy",
        "kind": "optimization",
        "about": "limited by registers",
        "launches": 1,
        "speedup": { "scope": "local", "low": 0.75, "high": 0.75 },
    });
    assert_eq!(*advice, expected);
    let demo = program(&["demo", "--format", "json"]);
    let demo: serde_json::Value = serde_json::from_str(&demo.stdout).unwrap();
    assert_eq!(demo["kernels"][0]["tool_advice"], serde_json::json!([]));
}
