//! One run decides alike in every form it can be kept in: the export, its launch table, the saved run, the
//! report for programs.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::gate::cli::{demo, rooflint};

/// Rules, waivers and groups that every form of the run is made under.
const CONFIG: &str = r#"
[[custom-rule]]
id = "slow-product"
when = 'category == "dot-product" && headroom > 1.2 && share > 0.1'
message = "{name} is {headroom} above its roof"
severity = "high"

[[custom-rule]]
id = "long-launch"
over = "launches"
when = 'duration_s > 1e-3 && sm_clock_hz < 1.7e9'
message = "a launch at {sm_clock_hz}"
severity = "low"

[[waiver]]
kernel = "transpose_naive*"
reason = "replaced in the next release"
expires = 2999-01-31

[[group]]
name = "products"
kernel = "nvjet*"
target = 0.5
"#;

/// Policies, each with how it must end and the checks that must decide so.
const POLICIES: [(&str, i32, &[&str]); 9] = [
    // The waived kernel has nothing to win.
    (
        "[[gate.bound]]\nname = \"w\"\nmetric = \"savings\"\nkernel = \"transpose_naive*\"\nmax = \"1us\"\n",
        0,
        &[],
    ),
    (
        "[[gate.bound]]\nname = \"r\"\nmetric = \"savings\"\nmax = \"1ms\"\n",
        1,
        &["bound:r flash_fwd_kernel<bf16>"],
    ),
    // Rules of the user's own over launches and over kernels.
    (
        "[[gate.bound]]\nname = \"l\"\nmetric = \"findings\"\nrule = \"long-launch\"\nkernel = \"nvjet*\"\nmax = 0\n",
        1,
        &["bound:l nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT"],
    ),
    (
        "[[gate.bound]]\nname = \"k\"\nmetric = \"findings\"\nrule = \"slow-product\"\nkernel = \"nvjet*\"\nmax = 0\n",
        1,
        &["bound:k nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT"],
    ),
    (
        "[[gate.bound]]\nname = \"k\"\nmetric = \"findings\"\nrule = \"slow-product\"\nkernel = \"softmax*\"\nmax = 0\n",
        0,
        &[],
    ),
    (
        // A rule whose metrics the export lacks.
        "[[gate.bound]]\nname = \"s\"\nmetric = \"findings\"\nrule = \"warp-stalls\"\nkernel = \"nvjet*\"\nmax = 0\n",
        4,
        &["no-data run"],
    ),
    (
        "[[gate.bound]]\nname = \"h\"\nmetric = \"headroom\"\nkernel = \"softmax_cross*\"\nmax = 4\n",
        1,
        &["bound:h softmax_cross_entropy_rows<float>"],
    ),
    ("[[gate.bound]]\nname = \"t\"\nmetric = \"total\"\nmax = \"48ms\"\n", 1, &["bound:t run"]),
    (
        "[gate]\nrequired = [\"nvjet*\"]\n[[gate.bound]]\nname = \"t\"\nmetric = \"total\"\nmax = \"50ms\"\n",
        0,
        &[],
    ),
];

/// The checks that fail or warn, as rule and subject.
fn decided(report: &Value) -> BTreeSet<String> {
    let checks = report["checks"].as_array().unwrap().iter();
    let grave =
        checks.filter(|check| check["action"] == "fail" || check["action"] == "inconclusive");
    let told = grave.map(|check| {
        let subject = check["subject"]["name"].as_str().unwrap_or("run");
        format!("{} {subject}", check["rule"].as_str().unwrap())
    });
    told.collect()
}

/// The forms of one run, each made by the program under the configuration in the folder.
fn forms(at: &Path) -> Vec<String> {
    std::fs::copy(demo(), at.join("run.csv")).unwrap();
    let done = |arguments: &[&str]| {
        let run = rooflint(at, arguments);
        assert_eq!(run.code, 0, "{arguments:?}: {}{}", run.out, run.err);
    };
    done(&["convert", "run.csv", "-o", "table.csv", "-o", "table.json"]);
    done(&["run.csv", "-o", "report.json"]);
    done(&[
        "baseline",
        "save",
        "run.csv",
        "--store",
        "store",
        "--commit",
        "abc",
        "--date",
        "2026-11-22",
    ]);
    let saved =
        std::fs::read_dir(at.join("store/default")).unwrap().next().unwrap().unwrap().path();
    std::fs::copy(saved, at.join("saved.json")).unwrap();
    let mut forms = vec!["run.csv", "table.csv", "table.json", "saved.json", "report.json"];
    if cfg!(feature = "frames") {
        done(&["convert", "run.csv", "-o", "table.parquet"]);
        forms.push("table.parquet");
    }
    forms.into_iter().map(str::to_owned).collect()
}

#[test]
fn every_form_of_a_run_decides_alike() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("rooflint.toml"), CONFIG).unwrap();
    let forms = forms(at);
    for (policy, code, expected) in POLICIES {
        std::fs::write(at.join("rooflint.toml"), format!("{CONFIG}\n{policy}")).unwrap();
        for form in &forms {
            let run = rooflint(at, &["gate", form, "-o", "json=gate.json"]);
            assert_eq!(run.code, code, "{form} under {policy}{}{}", run.out, run.err);
            let text = std::fs::read_to_string(at.join("gate.json")).unwrap();
            let found = decided(&serde_json::from_str(&text).unwrap());
            let expected: BTreeSet<String> = expected.iter().map(|&one| one.to_owned()).collect();
            assert_eq!(found, expected, "{form} under {policy}");
        }
    }
}

#[test]
fn every_form_of_a_run_equals_every_other_form() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("rooflint.toml"), CONFIG).unwrap();
    let forms = forms(at);
    for baseline in &forms {
        for form in forms.iter().filter(|form| *form != baseline) {
            let run = rooflint(at, &["gate", form, "--baseline", baseline]);
            // With all single launches in both, it is known as the same measurement.
            let is_known = run.code == 2 && run.err.contains("are the same measurement");
            assert!(run.code == 0 || is_known, "{form} against {baseline}: {}{}", run.out, run.err);
        }
    }
}

/// The waiver of the configuration, two years after it expired.
#[test]
fn a_waiver_that_expired_is_named_by_gate_and_diff_as_by_analyze() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::copy(demo(), at.join("run.csv")).unwrap();
    std::fs::copy(demo(), at.join("main.csv")).unwrap();
    let policy = "[[gate.bound]]\nname = \"t\"\nmetric = \"total\"\nmax = \"50ms\"\n";
    let note =
        "the waiver for \"transpose_naive*\" expired on 2024-01-31: replaced in the next release";
    let told = |config: String, arguments: &[&str]| {
        std::fs::write(at.join("rooflint.toml"), config).unwrap();
        let run = rooflint(at, arguments);
        assert_eq!(run.code, 0, "{arguments:?}: {}{}", run.out, run.err);
        // Lines are wrapped.
        run.out.split_whitespace().collect::<Vec<_>>().join(" ").matches(note).count()
    };
    for arguments in [&["run.csv"][..], &["gate", "run.csv"], &["diff", "main.csv", "run.csv"]] {
        let expired = CONFIG.replace("2999-01-31", "2024-01-31");
        assert_eq!(told(format!("{expired}\n{policy}"), arguments), 1, "{arguments:?}");
        assert_eq!(told(format!("{CONFIG}\n{policy}"), arguments), 0, "{arguments:?}");
    }
}
