//! Names, anchors and limits as a pipeline meets them: files, policies, stores and exit codes.

use std::path::Path;

use super::cli::rooflint;

const MAP: &str = "[columns]\nkernel = \"name\"\ntime = { column = \"us\", unit = \"us\" }\n";

/// Five runs of a step whose softmax has this name and takes this part longer.
fn runs(folder: &Path, label: &str, softmax: &str, slower: f64) {
    std::fs::write(folder.join("map.toml"), MAP).unwrap();
    for run in 0..5_u32 {
        let mut text = "name,us\n".to_owned();
        let kernels = [("gemm_nn", 400.0), ("layer_norm", 300.0), ("gelu", 100.0), ("bias", 100.0)];
        let softmax = [(softmax, 200.0 * slower)];
        for (place, (name, time)) in kernels.into_iter().chain(softmax).enumerate() {
            for launch in 0..20_u32 {
                let noise = f64::from((launch * 7 + run * 3 + place as u32) * 37 % 21) / 4000.0;
                text.push_str(&format!("\"{name}\",{}\n", time * (1.0 + noise)));
            }
        }
        std::fs::write(folder.join(format!("{label}-{run}.csv")), text).unwrap();
    }
}

const READ: [&str; 4] = ["--map", "map.toml", "--device", "L4"];

fn gate(folder: &Path, arguments: &[&str]) -> super::cli::Outcome {
    rooflint(folder, &[&["gate"], arguments, &READ].concat())
}

#[test]
fn a_renamed_kernel_fails_unless_the_policy_says_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    runs(at, "main", "softmax_warp_forward", 1.0);
    runs(at, "now", "softmax_warp_forward_v2", 1.15);
    std::fs::write(at.join("off.toml"), "[gate]\nrenamed = \"none\"\n").unwrap();
    let base = ["now-*.csv", "--baseline", "main-*.csv"];
    let failed = gate(at, &base);
    assert_eq!(failed.code, 1, "{}{}", failed.out, failed.err);
    let told = failed.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("was renamed to softmax_warp_forward_v2 ("), "{told}");
    assert!(
        told.contains("[[gate.waiver]] kernel = \"softmax_warp_forward_v2\" metric = \"time\"")
    );
    assert!(told.contains("--kernel 'softmax_warp_forward_v2' --explain"), "{told}");
    let off = gate(at, &[&base[..], &["--policy", "off.toml"]].concat());
    assert!(!off.out.contains("was renamed"), "{}", off.out);
}

#[test]
fn the_waiver_of_a_failure_can_be_pasted() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let name = "void softmax<float, 4>(float const*, \\\"\\\" int)";
    runs(at, "main", &name.replace("\\\"", "'"), 1.0);
    runs(at, "now", &name.replace("\\\"", "'"), 1.1);
    let failed = gate(at, &["now-*.csv", "--baseline", "main-*.csv", "-o", "gate.md", "-o", "-"]);
    assert_eq!(failed.code, 1, "{}{}", failed.out, failed.err);
    for text in [failed.out, std::fs::read_to_string(at.join("gate.md")).unwrap()] {
        let snippet = text.split_once("[[gate.waiver]]").unwrap().1;
        let lines: Vec<&str> = snippet.lines().skip(1).take(3).map(str::trim).collect();
        let policy = format!("[[gate.waiver]]\n{}\n", lines.join("\n"));
        std::fs::write(at.join("policy.toml"), &policy).unwrap();
        let base = ["now-*.csv", "--baseline", "main-*.csv", "--policy", "policy.toml"];
        let waived = gate(at, &base);
        assert_eq!(waived.code, 0, "{policy}{}{}", waived.out, waived.err);
        assert!(waived.out.contains("Waived"), "{}", waived.out);
    }
}

#[test]
fn all_limits_off_is_no_pass() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    runs(at, "main", "softmax", 1.0);
    runs(at, "now", "softmax", 1.5);
    let off = |metric: &str| format!("[[gate.limit]]\nmetric = \"{metric}\"\naction = \"none\"\n");
    let policy: String = ["time", "kernel-total", "total", "common-shift"].map(off).concat();
    std::fs::write(at.join("off.toml"), policy).unwrap();
    let idle = gate(at, &["now-*.csv", "--baseline", "main-*.csv", "--policy", "off.toml"]);
    assert_eq!(idle.code, 4, "{}{}", idle.out, idle.err);
    // A former word of a metric is still read.
    std::fs::write(
        at.join("former.toml"),
        "[[gate.bound]]\nname = \"b\"\nmetric = \"recoverable\"\nmax = \"1s\"\n",
    )
    .unwrap();
    let former = gate(at, &["now-0.csv", "--policy", "former.toml"]);
    assert_eq!(former.code, 0, "{}{}", former.out, former.err);
}

/// 3% slower with every commit, and two steps up: 0 passes against the newest, 1 against the anchor and in
/// the trend.
#[test]
fn creep_fails_by_the_anchor_and_in_the_trend() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for commit in 0..12_i32 {
        let label = format!("c{commit}");
        runs(at, &label, "softmax", 1.03_f64.powi(commit));
        if commit == 11 {
            break;
        }
        let date = format!("2026-10-{:02}", commit + 1);
        let commit = format!("{commit:02}aaaaaaaaaa");
        let (first, second) = (format!("{label}-0.csv"), format!("{label}-1.csv"));
        let save = ["baseline", "save", &first, &second, "--commit", &commit, "--date", &date];
        let saved = rooflint(at, &[&save[..], &READ].concat());
        assert_eq!(saved.code, 0, "{}{}", saved.out, saved.err);
    }
    let base = ["c11-*.csv", "--baseline", "baselines"];
    assert_eq!(gate(at, &base).code, 0, "{}", gate(at, &base).out);
    for anchor in ["oldest", "00aaaaaaaaaa"] {
        let anchored = gate(at, &[&base[..], &["--anchor", anchor]].concat());
        assert_eq!(anchored.code, 1, "{}{}", anchored.out, anchored.err);
        assert!(anchored.out.contains("since anchor"), "{}", anchored.out);
    }
    std::fs::write(at.join("rooflint.toml"), "[gate]\nanchor = \"oldest\"\n").unwrap();
    assert_eq!(gate(at, &base).code, 1);
    let unknown = gate(at, &[&base[..], &["--anchor", "v9"]].concat());
    assert_eq!(unknown.code, 2, "{}{}", unknown.out, unknown.err);
    assert_eq!(rooflint(at, &["trend"]).code, 0);
    let trend = rooflint(at, &["trend", "--gate"]);
    assert_eq!(trend.code, 1, "{}{}", trend.out, trend.err);
    assert!(trend.out.contains("softmax got worse by +"), "{}", trend.out);
}

#[test]
fn names_with_line_breaks_and_formulas_stay_names() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    runs(at, "main", "=cmd()\nsoftmax", 1.0);
    runs(at, "now", "=cmd()\nsoftmax", 1.3);
    let failed = gate(at, &["now-*.csv", "--baseline", "main-*.csv", "-o", "gate.xml"]);
    assert_eq!(failed.code, 1, "{}{}", failed.out, failed.err);
    let junit = std::fs::read_to_string(at.join("gate.xml")).unwrap();
    assert!(junit.contains("softmax") && !junit.contains("=cmd()\nsoftmax"), "{junit}");
    let save =
        ["baseline", "save", "main-0.csv", "main-1.csv", "--commit", "aa", "--date", "2026-10-01"];
    assert_eq!(rooflint(at, &[&save[..], &READ].concat()).code, 0);
    let listed = rooflint(at, &["baseline", "show", "aa", "--format", "json"]);
    assert!(!listed.out.contains("\\nsoftmax"), "{}", listed.out);
    let trend = rooflint(at, &["trend", "--format", "csv"]);
    assert_eq!(trend.code, 0, "{}{}", trend.out, trend.err);
    assert!(trend.out.contains("\n'=cmd()"), "{}", trend.out);
}

#[test]
fn a_warmup_that_leaves_one_launch_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    runs(at, "main", "softmax", 1.0);
    runs(at, "now", "softmax", 1.001);
    let base = ["now-*.csv", "--baseline", "main-*.csv", "--warmup", "50"];
    let told = gate(at, &base).out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("--warmup 50 leaves a single launch of 5 kernels"), "{told}");
}
