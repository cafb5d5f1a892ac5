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
    let next = told.split("rooflint ").find(|command| command.contains("--explain")).unwrap();
    let next = next.split(" --explain").next().unwrap().replace('\'', "");
    assert!(next.ends_with("--kernel softmax_warp_forward_v2"), "{told}");
    // It can be typed as it stands.
    let words: Vec<&str> = next.split_whitespace().chain(["--explain"]).collect();
    let explained = rooflint(at, &words);
    assert_eq!(explained.code, 0, "{words:?}: {}", explained.err);
    let off = gate(at, &[&base[..], &["--policy", "off.toml"]].concat());
    assert!(!off.out.contains("was renamed"), "{}", off.out);
}

/// The softmax and the kernel before it become one that takes 30% longer than both.
#[test]
fn a_fusion_that_is_slower_than_its_parts_fails() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let fused = |label: &str, kernels: &[(&str, f64)]| {
        runs(at, label, "softmax", 1.0);
        for run in 0..5 {
            let path = at.join(format!("{label}-{run}.csv"));
            let mut text = std::fs::read_to_string(&path).unwrap();
            for (name, time) in kernels {
                for launch in 0..20_u32 {
                    let noise = f64::from((launch * 11 + run * 5) * 37 % 21) / 4000.0;
                    text.push_str(&format!("{name},{}\n", time * (1.0 + noise)));
                }
            }
            std::fs::write(path, text).unwrap();
        }
    };
    fused("main", &[("scale_kernel", 100.0), ("mask_kernel", 100.0)]);
    fused("slow", &[("scale_mask_kernel", 260.0)]);
    fused("fast", &[("scale_mask_kernel", 150.0)]);
    let slow = gate(at, &["slow-*.csv", "--baseline", "main-*.csv"]);
    assert_eq!(slow.code, 1, "{}{}", slow.out, slow.err);
    let said = slow.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("were fused into scale_mask_kernel"), "{said}");
    let fast = gate(at, &["fast-*.csv", "--baseline", "main-*.csv"]);
    assert_eq!(fast.code, 0, "{}{}", fast.out, fast.err);
}

/// 21 launches instead of 20, each as fast as before: 5% of the time of the kernel, which only a limit on its
/// total sees.
#[test]
fn a_limit_on_the_total_of_a_kernel_sees_more_launches() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    runs(at, "main", "softmax", 1.0);
    runs(at, "now", "softmax", 1.0);
    for run in 0..5 {
        let path = at.join(format!("now-{run}.csv"));
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{text}softmax,200.4\nsoftmax,200.6\n")).unwrap();
    }
    let base = ["now-*.csv", "--baseline", "main-*.csv"];
    let limit = "[[gate.limit]]\nkernel = \"softmax\"\nmetric = \"kernel-total\"\nworse = \"5%\"\n";
    std::fs::write(at.join("total.toml"), limit).unwrap();
    assert_eq!(gate(at, &base).code, 0, "{}", gate(at, &base).out);
    let failed = gate(at, &[&base[..], &["--policy", "total.toml"]].concat());
    assert_eq!(failed.code, 1, "{}{}", failed.out, failed.err);
    let said = failed.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("launches went from 20 to 22"), "{said}");
}

/// A product with 2.83 times the operations takes 2.44 times as long: 1 as it is, 0 for the same work; 3.4 times as
/// long is more than its work explains.
#[test]
fn a_kernel_with_more_work_is_no_slower_kernel_where_work_is_normalized() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let map = format!(
        "{MAP}flops = {{ column = \"flop\", unit = \"FLOP\", precision = \"fp32_vector\" }}\n"
    );
    std::fs::write(at.join("map.toml"), map).unwrap();
    for (label, time, work) in
        [("main", 100.0, 1e9), ("more", 244.0, 2.83e9), ("slow", 340.0, 2.83e9)]
    {
        for run in 0..5_u32 {
            let mut text = "name,us,flop\n".to_owned();
            for (name, time, work) in
                [("sgemm_nn", time, work), ("layer_norm", 300.0, 1e6), ("gelu", 200.0, 1e6)]
            {
                for launch in 0..20_u32 {
                    let noise = f64::from((launch * 7 + run * 3) * 37 % 21) / 4000.0;
                    text.push_str(&format!("{name},{},{work}\n", time * (1.0 + noise)));
                }
            }
            std::fs::write(at.join(format!("{label}-{run}.csv")), text).unwrap();
        }
    }
    std::fs::write(at.join("work.toml"), "[gate]\nnormalize = \"work\"\n").unwrap();
    let ends = |files: &str, policy: &[&str]| {
        let found = gate(at, &[&[files, "--baseline", "main-*.csv"], policy].concat());
        (found.code, found.out.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let (code, said) = ends("more-*.csv", &[]);
    assert!(code == 1 && said.contains("work per launch changed (FLOPs +183%): "), "{code} {said}");
    let (code, said) = ends("more-*.csv", &["--policy", "work.toml"]);
    assert_eq!(code, 0, "{said}");
    let (code, said) = ends("slow-*.csv", &["--policy", "work.toml"]);
    assert!(code == 1 && said.contains("sgemm_nn"), "{code} {said}");
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
    assert!(former.out.contains("softmax: savings is unknown"), "{}{}", former.out, former.err);
    // The times alone say nothing of savings.
    assert_eq!(former.code, 4, "{}{}", former.out, former.err);
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
    assert!(trend.out.contains("softmax is +"), "{}", trend.out);
    // A waiver holds here too, until it expires.
    let waived = |expires: &str| {
        let waiver = "[[gate.waiver]]\nkernel = \"softmax\"\nmetric = \"time\"\nreason = \"r\"\n";
        let text = format!("{waiver}expires = {expires}\n");
        std::fs::write(at.join("rooflint.toml"), text).unwrap();
        let trend = rooflint(at, &["trend", "--gate"]);
        (trend.code, trend.out)
    };
    let (code, out) = waived("2999-01-31");
    assert!(out.contains("waived: softmax is +"), "{out}");
    // The whole run is slower by the softmax alone.
    assert!(!out.contains("\nLimits exceeded"), "{out}");
    assert_eq!(code, 0, "{out}");
    let (code, out) = waived("2020-01-31");
    assert_eq!(code, 1);
    assert!(out.contains("limit +5%; the waiver for it expired on 2020-01-31"), "{out}");
    // What the limit leaves out is left out here, too, and the time of all launches has a limit of its own.
    let limited = |limit: &str, metric: &str| {
        let limit = format!("[[gate.limit]]\nmetric = \"time\"\nworse = \"5%\"\n{limit}\n");
        std::fs::write(at.join("rooflint.toml"), limit).unwrap();
        let out = rooflint(at, &["trend", "--gate", "--metric", metric]).out;
        let (failing, warnings) = out.split_once("\nWarnings").unwrap_or((&out, ""));
        assert_eq!(metric == "total", warnings.contains("softmax is +"), "{out}");
        failing.contains("softmax is +")
    };
    assert!(limited("", "time") && limited("at-least = \"5us\"", "time"));
    assert!(!limited("at-least = \"1s\"\nmin-share = 0.999", "time"), "a second is more than all");
    assert!(!limited("min-share = 0.999", "time"));
    // By default it only warns.
    assert!(!limited("", "total"));
    std::fs::remove_file(at.join("rooflint.toml")).unwrap();
    // A share grows where other kernels get faster: without a limit of its own it fails nothing.
    let share = rooflint(at, &["trend", "--gate", "--metric", "share"]);
    assert!(!share.out.contains("softmax is +"), "{}{}", share.out, share.err);
    // A damaged run is no history to pass on.
    let file = std::fs::read_dir(at.join("baselines/default")).unwrap().next().unwrap().unwrap();
    std::fs::write(file.path(), "{").unwrap();
    assert_eq!(rooflint(at, &["trend", "--gate"]).code, 3);
    let trend = rooflint(at, &["trend"]);
    assert_eq!(trend.code, 0, "{}", trend.err);
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

/// Nothing to compare with and no limit of its own: a pipeline that forgot its baseline would pass for ever.
#[test]
fn a_baseline_that_was_never_named_may_not_be_missing() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    runs(at, "now", "softmax_warp_forward", 1.0);
    let refused = gate(at, &["now-0.csv", "--allow-missing-baseline", "--no-config"]);
    assert_eq!(refused.code, 2, "{}", refused.out);
    assert!(refused.err.contains("gate needs a baseline"), "{}", refused.err);
    let first =
        gate(at, &["now-0.csv", "--allow-missing-baseline", "--no-config", "--baseline", "store"]);
    assert_eq!(first.code, 0, "{}", first.err);
    assert!(first.out.contains("saved as the first baseline"), "{}", first.out);
    // What violates a bound is not what later runs are compared with.
    let policy = "[[gate.bound]]\nname = \"short\"\nmetric = \"total\"\nmax = \"1us\"\n";
    std::fs::write(at.join("policy.toml"), policy).unwrap();
    let store = ["now-0.csv", "--allow-missing-baseline", "--policy", "policy.toml", "--baseline"];
    let failed = gate(at, &[&store[..], &["another"]].concat());
    assert_eq!(failed.code, 1, "{}", failed.out);
    assert!(!failed.out.contains("saved as") && !at.join("another").exists(), "{}", failed.out);
}

/// 20% of a kernel are 0.8 ms of a run of 20 ms: less than the policy asks for, though more than a hundredth of the run.
#[test]
fn the_least_worsening_of_a_policy_holds_in_short_runs_too() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    runs(at, "main", "softmax_warp_forward", 1.0);
    runs(at, "now", "softmax_warp_forward", 1.2);
    for (least, code) in [("100us", 1), ("10s", 0)] {
        let policy = format!(
            "[[gate.limit]]\nmetric = \"time\"\nworse = \"5%\"\nat-least = \"{least}\"\n\
             [[gate.limit]]\nmetric = \"total\"\nworse = \"50%\"\n"
        );
        std::fs::write(at.join("policy.toml"), policy).unwrap();
        let found = gate(at, &["now-*.csv", "--baseline", "main-*.csv", "--policy", "policy.toml"]);
        assert_eq!(found.code, code, "{least}: {}", found.out);
    }
}

/// First launches that one side leaves out are no speedup of the whole run.
#[test]
fn totals_without_other_first_launches_are_not_compared() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    runs(at, "main", "softmax_warp_forward", 1.0);
    runs(at, "now", "softmax_warp_forward", 1.0);
    for run in 0..3 {
        let file = format!("main-{run}.csv");
        let save = ["baseline", "save", &file, "--store", "st", "--commit", "c1", "--warmup", "3"];
        assert_eq!(rooflint(at, &[&save[..], &READ].concat()).code, 0);
    }
    let found = gate(at, &["now-*.csv", "--baseline", "st", "--no-config", "-v"]);
    assert!(found.out.contains("leave out other numbers of first launches"), "{}", found.out);
    assert_eq!(found.code, 0, "{}", found.out);
}

/// Five runs that all end before the last kernel were not cut off.
#[test]
fn the_last_kernel_of_a_program_can_be_taken_out() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    runs(at, "main", "softmax_warp_forward", 1.0);
    for run in 0..5 {
        let text = std::fs::read_to_string(at.join(format!("main-{run}.csv"))).unwrap();
        let lines: Vec<&str> =
            text.lines().filter(|line| !line.contains("softmax_warp_forward")).collect();
        std::fs::write(at.join(format!("now-{run}.csv")), lines.join("\n") + "\n").unwrap();
    }
    let all = gate(at, &["now-*.csv", "--baseline", "main-*.csv", "--no-config"]);
    assert!(!all.out.contains("truncated file?"), "{}", all.out);
    assert!(all.out.contains("softmax_warp_forward"), "{}", all.out);
    let one = gate(at, &["now-0.csv", "--baseline", "main-*.csv", "--no-config"]);
    assert!(one.out.contains("truncated file?"), "{}", one.out);
}

/// A pattern without a file is a baseline that is missing, as a file is. What a pattern is for, somebody else writes.
#[test]
fn a_pattern_without_files_is_a_missing_baseline() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    runs(at, "now", "softmax_warp_forward", 1.0);
    for pattern in ["main-*.csv", "nowhere/*.csv", "main-*"] {
        let base = ["now-0.csv", "--no-config", "--baseline", pattern];
        let refused = gate(at, &base);
        assert_eq!(refused.code, 3, "{}", refused.out);
        let said = format!("there is no baseline {pattern}: no file fits the pattern");
        assert!(refused.err.contains(&said), "{}", refused.err);
        assert!(
            refused.err.contains("help: `rooflint baseline save` makes one"),
            "{}",
            refused.err
        );
        let first = gate(at, &[&base[..], &["--allow-missing-baseline"]].concat());
        assert_eq!(first.code, 0, "{}", first.err);
        assert!(first.out.contains("nothing was compared"), "{}", first.out);
        assert!(!first.out.contains("saved as") && !at.join(pattern).exists(), "{}", first.out);
    }
    // With a file it is compared, and one that is not a pattern stays an error.
    runs(at, "main", "softmax_warp_forward", 1.0);
    let base = ["now-0.csv", "--no-config", "--allow-missing-baseline", "--baseline"];
    let found = gate(at, &[&base[..], &["main-*.csv"]].concat());
    assert!(!found.out.contains("nothing was compared"), "{}{}", found.out, found.err);
    let wrong = gate(at, &[&base[..], &["main-[.csv"]].concat());
    assert_eq!(wrong.code, 2, "{}{}", wrong.out, wrong.err);
}
