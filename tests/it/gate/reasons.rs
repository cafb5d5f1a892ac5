//! Why a gate decides as it does, where something stands beside the change itself: a drift over the runs, a clock, a second
//! baseline, work that is split otherwise, a small limit.

use std::path::Path;

use super::cli::{Outcome, copies, rooflint};

const MAP: &str = "[columns]\nkernel = \"name\"\nbytes = { column = \"mb\", unit = \"MB\" }\n\
                   time = { column = \"us\", unit = \"us\" }\n[quantities]\nsm_clock_hz = { column = \"mhz\", unit = \"MHz\" }\n";
const READ: [&str; 4] = ["--map", "map.toml", "--device", "L4"];

/// Names and times of a launch in microseconds.
const KERNELS: [(&str, f64); 4] =
    [("copy", 300.0), ("gelu", 500.0), ("norm", 900.0), ("mm", 400.0)];

/// What a run differs in: launches of a kernel, time and bytes of each, and the SM clock, in times of the usual.
#[derive(Clone, Copy)]
struct Usual {
    launches: f64,
    time: f64,
    bytes: f64,
    clock: f64,
}

const USUAL: Usual = Usual { launches: 1.0, time: 1.0, bytes: 1.0, clock: 1.0 };

/// Writes a run with a little noise; `of` says how a kernel differs from the usual.
fn run(folder: &Path, label: &str, seed: u32, of: impl Fn(&str) -> Usual) {
    std::fs::write(folder.join("map.toml"), MAP).unwrap();
    let mut text = "name,us,mb,mhz\n".to_owned();
    for (place, (name, time)) in KERNELS.into_iter().enumerate() {
        let Usual { launches, time: slower, bytes, clock } = of(name);
        for launch in 0..(20.0 * launches) as u32 {
            let noise = f64::from((launch * 7 + seed * 3 + place as u32) * 37 % 21) / 8000.0;
            // No two runs are the same.
            let time = time * slower * (1.0 + noise + f64::from(seed) * 1e-6);
            text.push_str(&format!("{name},{time},{},{}\n", 20.0 * bytes, 1500.0 * clock));
        }
    }
    std::fs::write(folder.join(format!("{label}.csv")), text).unwrap();
}

fn runs(folder: &Path, label: &str, of: impl Fn(&str) -> Usual) {
    (0..5).for_each(|seed| run(folder, &format!("{label}-{seed}"), seed, &of));
}

fn gate(folder: &Path, arguments: &[&str]) -> Outcome {
    rooflint(folder, &[&["gate"], arguments, &READ].concat())
}

fn policy(folder: &Path, text: &str) {
    std::fs::write(folder.join("rooflint.toml"), text).unwrap();
}

/// Every run takes 2% longer than the one before, and those of the current side 4.5% more: no clock moved.
#[test]
fn a_drift_that_is_taken_out_of_the_time_is_taken_out_of_the_cycles() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for (place, letter) in (0_u32..).zip("BABABABABA".chars()) {
        let own = if letter == 'B' { 1.045 } else { 1.0 };
        let time = own * 1.02_f64.powf(f64::from(place));
        run(at, &format!("{letter}-{place}"), place, |_| Usual { time, ..USUAL });
    }
    let found = gate(at, &["B-*.csv", "--baseline", "A-*.csv", "--order", "BABABABABA"]);
    assert_eq!(found.code, 1, "{}{}", found.out, found.err);
    assert!(!found.out.contains("the clock explains"), "{}", found.out);
}

/// One of four kernels takes 20% longer at a clock that is 17% lower: that alone is +3.8% of the run.
#[test]
fn a_total_that_a_lower_clock_explains_is_ambiguous() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    policy(at, "");
    runs(at, "main", |_| USUAL);
    let throttled = |name: &str| match name {
        "mm" => Usual { time: 1.2, clock: 1.0 / 1.2, ..USUAL },
        _ => USUAL,
    };
    runs(at, "now", throttled);
    let found = gate(at, &["now-*.csv", "--baseline", "main-*.csv"]);
    assert_eq!(found.code, 0, "{}{}", found.out, found.err);
    assert!(found.out.contains("the clock explains the slowdown"), "{}", found.out);
    runs(at, "slow", |name| Usual { clock: 1.0, ..throttled(name) });
    let found = gate(at, &["slow-*.csv", "--baseline", "main-*.csv"]);
    assert_eq!(found.code, 1, "{}{}", found.out, found.err);
}

/// Half of the time is 30% slower, the other kernels are 30% faster, and no clock moved.
#[test]
fn kernels_that_moved_apart_are_not_explained_by_a_clock() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    policy(at, "");
    runs(at, "main", |_| USUAL);
    let slower = |name: &str| if matches!(name, "norm" | "mm" | "gelu") { 1.3 } else { 0.7 };
    runs(at, "now", |name| Usual { time: slower(name), ..USUAL });
    let found = gate(at, &["now-*.csv", "--baseline", "main-*.csv"]);
    assert_eq!(found.code, 1, "{}{}", found.out, found.err);
    assert!(!found.out.contains("the clock explains"), "{}", found.out);
}

/// The baseline is of an L4, the runs of an A10, which are compared by headroom.
#[test]
fn a_baseline_of_another_device_is_there_where_devices_are_compared() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    policy(at, "");
    runs(at, "main", |_| USUAL);
    let first = ["main-0.csv", "--baseline", "store", "--allow-missing-baseline"];
    assert_eq!(gate(at, &first).code, 0);
    runs(at, "now", |_| Usual { time: 3.0, ..USUAL });
    let arguments =
        ["gate", "now-0.csv", "--map", "map.toml", "--device", "A10", "--baseline", "store"];
    let across = [&arguments[..], &["--across-devices", "--allow-missing-baseline"]].concat();
    let found = rooflint(at, &across);
    // FLOPs were not counted, so what is compared has no certain roofline time; nothing passes for that.
    assert_eq!(found.code, 4, "{}{}", found.out, found.err);
    assert!(found.out.contains("kernels are compared by headroom"), "{}", found.out);
    assert!(!found.out.contains("was saved"), "{}", found.out);
}

/// The same kernels are saved for a commit on an L4 only, and for another one on an A10, too.
#[test]
fn a_commit_that_is_saved_on_another_device_is_compared_across_devices() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    policy(at, "");
    runs(at, "main", |_| USUAL);
    let save = |label: &str, device: &str, commit: &str| {
        let saved = rooflint(
            at,
            &[
                "baseline", "save", label, "--store", "store", "--map", "map.toml", "--device",
                device, "--commit", commit,
            ],
        );
        assert_eq!(saved.code, 0, "{}{}", saved.out, saved.err);
    };
    save("main-0.csv", "L4", "1111111");
    save("main-1.csv", "A10", "2222222");
    let asked = ["--across-devices", "--allow-missing-baseline", "--baseline-commit", "1111111"];
    let arguments =
        ["gate", "main-2.csv", "--map", "map.toml", "--device", "A10", "--baseline", "store"];
    let found = rooflint(at, &[&arguments[..], &asked].concat());
    assert!(found.out.contains("kernels are compared by headroom"), "{}{}", found.out, found.err);
    assert!(!found.out.contains("nothing was compared"), "{}", found.out);
}

/// Seven of twelve kernels take 20% longer at a clock that is 17% lower; memory limits the others, which stay.
#[test]
fn most_kernels_that_follow_the_clock_are_ambiguous() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let run = |label: &str, [time, others]: [f64; 2], clock: f64| {
        std::fs::write(at.join("map.toml"), MAP).unwrap();
        for seed in 0..5 {
            let mut text = "name,us,mb,mhz\n".to_owned();
            for kernel in 0..12 {
                let slower = if kernel < 7 { time } else { others };
                for launch in 0..10 {
                    let noise = f64::from((launch * 7 + seed * 3 + kernel) * 37 % 21) / 8000.0;
                    let own = f64::from(300 + 40 * kernel) * slower * (1.0 + noise);
                    // No two runs are the same.
                    let time = own + f64::from(seed) * 1e-4 + clock * 1e-5;
                    text.push_str(&format!("k{kernel:02},{time},20,{}\n", 1500.0 * clock));
                }
            }
            std::fs::write(at.join(format!("{label}-{seed}.csv")), text).unwrap();
        }
    };
    run("main", [1.0, 1.0], 1.0);
    run("hot", [1.2, 1.0], 1.0 / 1.2);
    run("slow", [1.2, 1.0], 0.99);
    // All follow a clock that is 2.9% lower, and seven take 4.5% more cycles.
    run("code", [1.045 * 1.03, 1.03], 1.0 / 1.03);
    let found = gate(at, &["hot-*.csv", "--baseline", "main-*.csv"]);
    assert_eq!(found.code, 0, "{}{}", found.out, found.err);
    assert!(found.out.contains("7 of 12 kernels"), "{}", found.out);
    assert!(found.out.contains("at the same SM clock: the clock explains"), "{}", found.out);
    let found = gate(at, &["slow-*.csv", "--baseline", "main-*.csv"]);
    assert_eq!(found.code, 1, "{}{}", found.out, found.err);
    assert!(!found.out.contains("the clock explains"), "{}", found.out);
    let found = gate(at, &["code-*.csv", "--baseline", "main-*.csv"]);
    assert_eq!(found.code, 1, "{}{}", found.out, found.err);
}

/// Twice the launches of a kernel, each 7% longer at a clock that is 6.5% lower: the launches are no doing of a clock.
#[test]
fn more_launches_are_not_explained_by_a_lower_clock() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    policy(at, "");
    runs(at, "main", |_| USUAL);
    runs(at, "now", |name| match name {
        "copy" => Usual { launches: 2.0, time: 1.07, clock: 1.0 / 1.07, ..USUAL },
        _ => USUAL,
    });
    let found = gate(at, &["now-*.csv", "--baseline", "main-*.csv"]);
    assert_eq!(found.code, 1, "{}{}", found.out, found.err);
}

/// Twice the launches, each of which moves half of the bytes in half of the time.
#[test]
fn work_that_is_split_into_more_launches_is_as_much_work() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    policy(
        at,
        "[gate]\nnormalize = \"work\"\n[[gate.limit]]\nmetric = \"kernel-total\"\nworse = \"5%\"\n",
    );
    runs(at, "main", |_| USUAL);
    let split = |time: f64| {
        move |name: &str| match name {
            "mm" => Usual { launches: 2.0, time, bytes: 0.5, ..USUAL },
            _ => USUAL,
        }
    };
    runs(at, "now", split(0.5));
    let found = gate(at, &["now-*.csv", "--baseline", "main-*.csv"]);
    assert_eq!(found.code, 0, "{}{}", found.out, found.err);
    runs(at, "slow", split(0.6));
    let found = gate(at, &["slow-*.csv", "--baseline", "main-*.csv"]);
    assert_eq!(found.code, 1, "{}{}", found.out, found.err);
}

/// +20% of one kernel are 1.6 ms of 42 ms, and its roof falls by some points.
#[test]
fn the_least_that_counts_is_in_the_unit_of_the_metric() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    runs(at, "main", |_| USUAL);
    runs(at, "now", |name| Usual { time: if name == "mm" { 1.2 } else { 1.0 }, ..USUAL });
    let off = "[[gate.limit]]\nmetric = \"time\"\naction = \"none\"\n\
               [[gate.limit]]\nmetric = \"kernel-total\"\naction = \"none\"\n";
    let of = |limit: &str| {
        policy(at, &format!("{off}{limit}"));
        gate(at, &["now-*.csv", "--baseline", "main-*.csv"])
    };
    let total = |least| {
        format!("[[gate.limit]]\nmetric = \"total\"\nworse = \"3%\"\nat-least = \"{least}\"\n")
    };
    assert_eq!(of(&total("1ms")).code, 1);
    let found = of(&total("1s"));
    assert_eq!(found.code, 0, "{}{}", found.out, found.err);
    // 20 MB at 300 GB/s are 66.7 µs: 16.7% of the roof before, 13.9% now.
    let roof = |least| {
        format!(
            "[[gate.limit]]\nmetric = \"total\"\naction = \"none\"\n\
             [[gate.limit]]\nmetric = \"roof\"\nworse = \"5%\"\nat-least = \"{least}\"\n"
        )
    };
    assert_eq!(of(&roof("2%")).code, 1);
    let found = of(&roof("4%"));
    assert_eq!(found.code, 0, "{}{}", found.out, found.err);
}

/// The oldest baseline is as fast as once, the newest as slow as now.
#[test]
fn a_waiver_accepts_what_is_slower_than_the_anchor() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let slower = |time: f64| {
        move |name: &str| Usual { time: if name == "mm" { time } else { 1.0 }, ..USUAL }
    };
    for (label, time, date) in [("old", 1.0, "2026-05-01"), ("new", 1.3, "2026-06-01")] {
        runs(at, label, slower(time));
        for seed in 0..5 {
            let file = format!("{label}-{seed}.csv");
            let saved = rooflint(
                at,
                &[&["baseline", "save", &file, "--date", date, "--store", "store"], &READ[..]]
                    .concat(),
            );
            assert_eq!(saved.code, 0, "{}{}", saved.out, saved.err);
        }
    }
    (5..10).for_each(|seed| run(at, &format!("now-{seed}"), seed, slower(1.3)));
    let of = |waiver: &str| {
        policy(at, &format!("[gate]\nanchor = \"oldest\"\nmax-age = 9999\n{waiver}"));
        gate(at, &["now-*.csv", "--baseline", "store"])
    };
    let found = of("");
    assert_eq!(found.code, 1, "{}{}", found.out, found.err);
    let waived = of("[[gate.waiver]]\nkernel = \"mm\"\nreason = \"known\"\n");
    assert_eq!(waived.code, 0, "{}{}", waived.out, waived.err);
    assert!(!waived.out.contains("remove it"), "{}", waived.out);
    assert!(waived.out.contains("waived"), "{}", waived.out);
    let idle = of("[[gate.waiver]]\nkernel = \"gelu\"\nreason = \"known\"\n");
    assert!(idle.out.contains("had nothing to accept"), "{}", idle.out);
    let wrong = of(
        "[[gate.waiver]]\nkernel = \"gelo\"\nreason = \"known\"\n[[gate.code]]\nkernel = \"gelo\"\nfile = \"a.cu\"\n",
    );
    assert!(wrong.out.contains("matches nothing; remove it"), "{}", wrong.out);
    assert!(
        wrong.out.contains("[[gate.code]] of a.cu for kernel \"gelo\" matches no kernel"),
        "{}",
        wrong.out
    );
}

/// The shown name of a template without its parameters, and a waiver of `analyze` in the file of the policy.
#[test]
fn a_waiver_that_misses_the_failing_kernel_says_what_would_accept_it() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    copies(at, "main", 4, ("", 1.0));
    copies(at, "slow", 4, ("softmax", 1.3));
    let sides = ["gate", "slow-*.csv", "--baseline", "main-*.csv", "-v", "--policy", "policy.toml"];
    let of = |waiver: &str| {
        std::fs::write(at.join("policy.toml"), waiver).unwrap();
        let found = rooflint(at, &sides);
        assert_eq!(found.code, 1, "{}{}", found.out, found.err);
        found.out
    };
    let missed =
        of("[[gate.waiver]]\nkernel = \"softmax_cross_entropy_rows\"\nreason = \"known\"\n");
    let meant = "the waiver for \"softmax_cross_entropy_rows\" matches nothing; remove it, or correct the name (did you mean \
                 \"softmax_cross_entropy_rows*\", which matches softmax_cross_entropy_rows<float>?): known";
    assert!(missed.contains(meant), "{missed}");
    let other = of("[[waiver]]\nkernel = \"softmax*\"\nreason = \"known\"\n");
    let apart =
        "[[waiver]] for \"softmax*\" leaves kernels out of the savings and accepts no check";
    assert!(other.contains(apart), "{other}");
    // For other kernels it stays what it is: nothing of the gate.
    let other = of("[[waiver]]\nkernel = \"transpose*\"\nreason = \"known\"\n");
    assert!(!other.contains("[[waiver]]"), "{other}");
}

#[test]
fn a_baseline_that_is_mistyped_is_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    runs(at, "main", |_| USUAL);
    let first = ["main-0.csv", "--baseline", "store", "--allow-missing-baseline"];
    let found = gate(at, &first);
    assert_eq!(found.code, 0, "{}{}", found.out, found.err);
    assert!(
        found.out.contains("1 run was saved as the first baseline \"default\""),
        "{}",
        found.out
    );
    let mistyped = [&["main-1.csv"], &first[1..], &["--baseline-branch", "Main"]].concat();
    let found = gate(at, &mistyped);
    assert_eq!(found.code, 0, "{}{}", found.out, found.err);
    assert!(
        found.out.contains(
            "nothing was saved: the branch of the runs is not known, and \"Main\" is asked for"
        ),
        "{}",
        found.out
    );
    // Another GPU has no baseline yet, and one is made.
    let other = [
        "gate",
        "main-2.csv",
        "--map",
        "map.toml",
        "--device",
        "A10",
        "--baseline",
        "store",
        "--allow-missing-baseline",
    ];
    let found = rooflint(at, &other);
    assert_eq!(found.code, 0, "{}{}", found.out, found.err);
    assert!(found.out.contains("1 run was saved"), "{}", found.out);
    // Of two baselines one must be named, whatever may be missing.
    let second = [&["main-3.csv"], &first[1..], &["--baseline-name", "other"]].concat();
    assert_eq!(gate(at, &second).code, 0);
    let found = gate(at, &[&["main-4.csv"], &first[1..]].concat());
    assert_eq!(found.code, 2, "{}{}", found.out, found.err);
    assert!(found.err.contains("--baseline-name NAME chooses"), "{}", found.err);
}

/// Sixteen commits, of which the last eight take 4% longer: more than the 3% that the whole run may.
#[test]
fn a_trend_holds_limits_below_five_percent() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for commit in 0..16_u32 {
        let time = if commit < 8 { 1.0 } else { 1.04 };
        run(at, "run", commit, |_| Usual { time, ..USUAL });
        let date = format!("2026-05-{:02}", commit + 1);
        let save = ["baseline", "save", "run.csv", "--date", &date, "--store", "store"];
        let saved = rooflint(at, &[&save[..], &READ].concat());
        assert_eq!(saved.code, 0, "{}{}", saved.out, saved.err);
    }
    let found = rooflint(at, &["trend", "store", "--gate"]);
    assert_eq!(found.code, 1, "{}{}", found.out, found.err);
    assert!(found.out.contains("the whole run is +4.0"), "{}", found.out);
    assert_eq!(rooflint(at, &["trend", "store"]).code, 0);
    let quiet = rooflint(at, &["trend", "store", "--gate", "-q"]);
    assert!(
        quiet.out.lines().count() < 12 && quiet.out.contains("the whole run is"),
        "{}",
        quiet.out
    );
    policy(at, "[[gate.limit]]\nmetric = \"total\"\nworse = \"6%\"\n");
    assert_eq!(rooflint(at, &["trend", "store", "--gate"]).code, 0);
}

/// A limit that is off is no limit, neither unbounded nor kept.
#[test]
fn a_total_without_a_limit_is_not_judged() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    runs(at, "before", |_| USUAL);
    runs(at, "after", |_| Usual { time: 1.02, ..USUAL });
    let total = || {
        let found = gate(at, &["after-*.csv", "--baseline", "before-*.csv"]);
        let line = found.out.lines().find(|line| line.starts_with("Total "));
        line.unwrap_or_else(|| panic!("{}{}", found.out, found.err)).to_owned()
    };
    assert!(total().ends_with("limit +3%: unchanged"), "{}", total());
    policy(at, "[[gate.limit]]\nmetric = \"total\"\naction = \"none\"\n");
    assert!(total().ends_with(", no limit"), "{}", total());
}
