//! What a gate must not answer: partial data, damaged or foreign runs, the same run twice; and what one run,
//! one odd run, one clock decide.

use std::fmt::Write as _;
use std::path::Path;

use super::cli::{Outcome, copies, demo, rooflint};

/// Kernels of 5 launches each, `100 µs` and its multiples, times `factor`; with a noise that differs from run to
/// run.
fn write(folder: &Path, name: &str, kernels: usize, factor: impl Fn(usize) -> f64) {
    let seed = name.bytes().fold(7_u64, |sum, byte| sum.wrapping_mul(31) ^ u64::from(byte));
    let mut text = "name,us,grid\n".to_owned();
    for at in 0..kernels {
        for launch in 0..5_u64 {
            let noise = (seed.wrapping_mul(at as u64 + 3) ^ (launch * 7919)) % 101;
            let time = 100.0 * (at + 1) as f64 * factor(at) * (1.0 + noise as f64 * 5e-5);
            writeln!(text, "kernel_{},{time},8", (b'a' + at as u8) as char).unwrap();
        }
    }
    std::fs::write(folder.join(name), text).unwrap();
}

/// A folder in which such files can be read.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let map = "[columns]\nkernel = \"name\"\ntime = { column = \"us\", unit = \"us\" }\ngrid = \"grid\"\n";
    std::fs::write(folder.path().join("map.toml"), map).unwrap();
    folder
}

/// The gate on such files, with its arguments after the current side.
fn gate(folder: &Path, arguments: &[&str]) -> Outcome {
    let common = ["--map", "map.toml", "--device", "L4"];
    rooflint(folder, &[&["gate"], arguments, &common].concat())
}

/// Five files of a side.
fn side(folder: &Path, name: &str, factor: impl Fn(usize, usize) -> f64) {
    for run in 0..5 {
        write(folder, &format!("{name}-{run}.csv"), 12, |at| factor(run, at));
    }
}

fn ends(found: &Outcome, code: i32, said: &str) {
    let text = format!("{}{}", found.out, found.err);
    // Lines are wrapped to the width of the terminal.
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(found.code, code, "{text}");
    assert!(words(&text).contains(&words(said)), "{said:?} in\n{text}");
}

#[test]
fn too_little_data_is_inconclusive() {
    let folder = folder();
    let at = folder.path();
    write(at, "main.csv", 12, |_| 1.0);
    let baseline = ["--baseline", "main.csv"];
    // Nearly all launches without a duration: only the first of 12 kernels keeps its own.
    let text = std::fs::read_to_string(at.join("main.csv")).unwrap();
    let untimed = |line: &str| {
        let name = line.split(',').next().unwrap_or_default();
        if ["name", "kernel_a"].contains(&name) { line.to_owned() } else { format!("{name},,8") }
    };
    let lines: Vec<String> = text.lines().map(untimed).collect();
    std::fs::write(at.join("untimed.csv"), lines.join("\n") + "\n").unwrap();
    let found = gate(at, &[&["untimed.csv"][..], &baseline].concat());
    ends(&found, 4, "only 1.3% of the baseline's time can be compared, and 90.0% is needed");
    assert!(!found.out.contains("improvement"), "{}", found.out);
    // None of them.
    let none: Vec<&str> =
        lines.iter().map(String::as_str).filter(|one| !one.starts_with("kernel_a")).collect();
    std::fs::write(at.join("none.csv"), none.join("\n") + "\n").unwrap();
    let found = gate(at, &[&["none.csv"][..], &baseline].concat());
    assert_eq!(found.code, 3, "{}{}", found.out, found.err);
    // Every second kernel is gone.
    let half: Vec<&str> = text
        .lines()
        .filter(|line| line.as_bytes()[7] % 2 == 0 || line.starts_with("name"))
        .collect();
    std::fs::write(at.join("half.csv"), half.join("\n") + "\n").unwrap();
    let found = gate(at, &[&["half.csv"][..], &baseline].concat());
    ends(&found, 4, "is in kernels that the current side does not have");
    assert!(!found.out.contains("improvement"), "{}", found.out);
    // Unless that much was announced, on the command line or in the policy.
    std::fs::write(at.join("low.toml"), "[gate]\ncoverage = \"40%\"\n").unwrap();
    for allowed in [["--coverage", "40%"], ["--policy", "low.toml"]] {
        let found = gate(at, &[&["half.csv"][..], &baseline, &allowed].concat());
        assert_eq!(found.code, 0, "{}{}", found.out, found.err);
    }
    assert_eq!(gate(at, &["half.csv", "--baseline", "main.csv", "--coverage", "2"]).code, 2);
}

#[test]
fn bounds_that_lack_all_data_are_inconclusive() {
    let folder = folder();
    let at = folder.path();
    write(at, "now.csv", 12, |_| 1.0);
    let bound = |metric: &str, max: &str| {
        format!("[[gate.bound]]\nname = \"{metric}\"\nmetric = \"{metric}\"\nmax = {max}\n")
    };
    std::fs::write(at.join("none.toml"), bound("headroom", "3") + &bound("fp64", "0")).unwrap();
    std::fs::write(at.join("some.toml"), bound("headroom", "3") + &bound("total", "\"1s\""))
        .unwrap();
    ends(
        &gate(at, &["now.csv", "--policy", "none.toml"]),
        4,
        "all 24 checks of bounds lack the data",
    );
    assert_eq!(gate(at, &["now.csv", "--policy", "some.toml"]).code, 0);
}

/// Without operations and bytes no kernel has a roofline, so that nothing is comparable across devices.
#[test]
fn sides_of_incomparable_kernels_are_inconclusive() {
    let folder = folder();
    let at = folder.path();
    write(at, "a.csv", 12, |_| 1.0);
    write(at, "b.csv", 12, |_| 0.5);
    let found =
        gate(at, &["b.csv", "--baseline", "a.csv", "--baseline-device", "T4", "--across-devices"]);
    ends(&found, 4, "has no certain roofline time on a side");
    assert!(!found.out.contains(": unchanged"), "{}", found.out);
}

#[test]
fn runs_that_are_no_repeats_are_named_and_left_out() {
    let folder = folder();
    let at = folder.path();
    side(at, "main", |_, _| 1.0);
    side(at, "slow", |_, kernel| if kernel == 9 { 1.3 } else { 1.0 });
    // A unit slip: 1,000 times as long.
    write(at, "slow-2.csv", 12, |_| 1000.0);
    let found = gate(at, &["slow-*.csv", "--baseline", "main-*.csv"]);
    ends(&found, 1, "slow-2.csv is left out, because it is not a repeat");
    assert!(found.out.contains("kernel_j"), "{}", found.out);
    // Half of its times negative: they are not read.
    let text = std::fs::read_to_string(at.join("main-2.csv")).unwrap();
    let negative: Vec<String> = text
        .lines()
        .enumerate()
        .map(
            |(number, line)| {
                if number % 2 == 1 { line.replacen(',', ",-", 1) } else { line.to_owned() }
            },
        )
        .collect();
    std::fs::write(at.join("main-2.csv"), negative.join("\n") + "\n").unwrap();
    let found = gate(at, &["slow-*.csv", "--baseline", "main-*.csv"]);
    ends(&found, 1, "main-2.csv is left out");
    // The export of another program.
    std::fs::copy(demo(), at.join("main-2.csv")).unwrap();
    let found = rooflint(at, &["gate", "main-2.csv", "--baseline", "main-2.csv"]);
    assert_eq!(found.code, 2, "{}{}", found.out, found.err);
    let other = text.replace("kernel_", "particle_");
    std::fs::write(at.join("main-2.csv"), other).unwrap();
    let found = gate(at, &["slow-*.csv", "--baseline", "main-*.csv"]);
    ends(&found, 1, "another program?");
    // Two runs of which nothing tells the odd one, and every kernel a thousand times as fast.
    write(at, "kilo.csv", 12, |_| 1000.0);
    write(at, "tens.csv", 12, |_| 20.0);
    let found = gate(at, &["main-0.csv", "kilo.csv", "--baseline", "tens.csv"]);
    ends(&found, 4, "are not repeats of each other");
    ends(&gate(at, &["main-0.csv", "--baseline", "kilo.csv"]), 4, "another unit?");
}

#[test]
fn a_measurement_counts_once() {
    let folder = folder();
    let at = folder.path();
    side(at, "main", |_, _| 1.0);
    side(at, "now", |_, _| 1.0);
    std::fs::copy(at.join("main-1.csv"), at.join("copy.csv")).unwrap();
    for arguments in [
        ["now-1.csv", "now-1.csv", "--baseline", "main-1.csv", "main-2.csv"],
        ["now-1.csv", "now-2.csv", "--baseline", "main-1.csv", "main-1.csv"],
        ["now-1.csv", "now-2.csv", "--baseline", "main-1.csv", "copy.csv"],
        ["copy.csv", "now-2.csv", "--baseline", "main-1.csv", "main-2.csv"],
    ] {
        ends(&gate(at, &arguments), 2, "are the same measurement");
    }
}

#[test]
fn a_damaged_store_is_refused_by_name() {
    let folder = folder();
    let at = folder.path();
    side(at, "main", |_, _| 1.0);
    write(at, "now.csv", 12, |_| 1.0);
    let save = ["baseline", "save", "main-0.csv", "main-1.csv", "--commit", "abc"];
    let saved = rooflint(at, &[&save[..], &["--map", "map.toml", "--device", "L4"]].concat());
    assert_eq!(saved.code, 0, "{}{}", saved.out, saved.err);
    let against = || gate(at, &["now.csv", "--baseline", "baselines"]);
    assert_eq!(against().code, 0, "{}", against().err);
    let kept =
        std::fs::read_dir(at.join("baselines/default")).unwrap().next().unwrap().unwrap().path();
    let whole = std::fs::read_to_string(&kept).unwrap();
    let digits: Vec<usize> = whole
        .bytes()
        .enumerate()
        .filter(|(_, byte)| byte.is_ascii_digit())
        .map(|(at, _)| at)
        .collect();
    let name = kept.file_name().unwrap().to_str().unwrap().to_owned();
    let mut state = 17_u64;
    for _ in 0..12 {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let place = digits[(state >> 33) as usize % digits.len()];
        let mut bytes = whole.clone().into_bytes();
        bytes[place] = b'0' + (bytes[place] - b'0' + 1 + (state >> 60) as u8 % 9) % 10;
        std::fs::write(&kept, bytes).unwrap();
        let found = against();
        assert_eq!(found.code, 3, "the digit at {place}: {}{}", found.out, found.err);
        assert!(found.err.contains(&name), "{}", found.err);
    }
    // Damage is no lack of a baseline.
    let damaged = whole.replacen("\"timed\": ", "\"timed\": 1", 1);
    assert_ne!(damaged, whole);
    std::fs::write(&kept, damaged).unwrap();
    let allowed = ["now.csv", "--baseline", "baselines", "--allow-missing-baseline"];
    ends(&gate(at, &allowed), 3, &name);
    // A document of an earlier version has no fingerprint, and is read with a note.
    let end = whole.rfind(",\n  \"content\"").unwrap();
    std::fs::write(&kept, format!("{}\n}}\n", &whole[..end])).unwrap();
    ends(&against(), 0, "was saved without a fingerprint");
}

#[test]
fn one_run_a_side_warns_until_its_noise_is_known() {
    let folder = folder();
    let at = folder.path();
    side(at, "main", |_, _| 1.0);
    side(at, "slow", |_, kernel| if kernel == 9 { 1.15 } else { 1.0 });
    let found = gate(at, &["slow-0.csv", "--baseline", "main-0.csv"]);
    ends(
        &found,
        0,
        "2 more runs per side measure the noise and may settle it, as may noise floors from `rooflint calibrate`",
    );
    assert!(found.out.contains("kernel_j"), "{}", found.out);
    // Beyond what any machine shows, it fails.
    write(at, "more.csv", 12, |kernel| if kernel == 9 { 1.3 } else { 1.0 });
    assert_eq!(gate(at, &["more.csv", "--baseline", "main-0.csv"]).code, 1);
    // Two more runs, or measured noise, settle it.
    let three = [
        "slow-0.csv",
        "slow-1.csv",
        "slow-2.csv",
        "--baseline",
        "main-0.csv",
        "main-1.csv",
        "main-2.csv",
    ];
    ends(&gate(at, &three), 1, "kernel_j");
    let calibrate = ["calibrate", "main-*.csv", "--map", "map.toml", "--device", "L4"];
    std::fs::write(at.join("noise.toml"), rooflint(at, &calibrate).out).unwrap();
    let found = gate(at, &["slow-0.csv", "--baseline", "main-0.csv", "--policy", "noise.toml"]);
    ends(&found, 1, "kernel_j");
}

#[test]
fn one_hot_run_hides_nothing_and_is_named() {
    let folder = folder();
    let at = folder.path();
    side(at, "main", |run, _| if run == 3 { 1.3 } else { 1.0 });
    side(at, "slow", |_, _| 1.15);
    side(at, "same", |_, _| 1.0);
    let found = gate(at, &["slow-*.csv", "--baseline", "main-*.csv"]);
    ends(&found, 1, "main-3.csv differs from the other runs of the baseline by +30.");
    let same = gate(at, &["same-*.csv", "--baseline", "main-*.csv"]);
    ends(&same, 0, "main-3.csv differs");
    // A run in which everything takes longer makes no launch of the other runs slow.
    assert!(!same.out.contains("mean launch"), "{}", same.out);
}

/// Nine of ten equal kernels are 90%, whatever their sum rounds to; and what is inconclusive is no green file.
#[test]
fn coverage_is_met_at_its_limit_and_files_say_what_the_exit_code_says() {
    let folder = folder();
    let at = folder.path();
    let equal = |name: &str, kernels: usize| {
        let launches: String = (0..kernels)
            .flat_map(|kernel| (0..3).map(move |_| format!("kernel_{kernel},0.7,8\n")))
            .collect();
        std::fs::write(at.join(name), format!("name,us,grid\n{launches}")).unwrap();
    };
    equal("ten.csv", 10);
    equal("nine.csv", 9);
    equal("eight.csv", 8);
    let limits = "[gate]\nvanished = \"warn\"\nincomplete = \"warn\"\n";
    std::fs::write(at.join("warn.toml"), limits).unwrap();
    let base = ["--baseline", "ten.csv", "--policy", "warn.toml"];
    let nine = gate(at, &[&["nine.csv"][..], &base].concat());
    assert_eq!(nine.code, 0, "{}{}", nine.out, nine.err);
    let eight = gate(at, &[&["eight.csv"][..], &base, &["-o", "gate.xml", "-o", "-"]].concat());
    ends(&eight, 4, "20.0% is in kernels that the current side does not have; --coverage");
    let junit = std::fs::read_to_string(at.join("gate.xml")).unwrap();
    assert!(junit.contains("errors=\"1\""), "{junit}");
    // Kernels that may not vanish are a limit too.
    let off = |metric: &str| format!("[[gate.limit]]\nmetric = \"{metric}\"\naction = \"none\"\n");
    let limits: String = ["time", "kernel-total", "total", "common-shift"].map(off).concat();
    std::fs::write(at.join("gone.toml"), format!("[gate]\nvanished = \"fail\"\n{limits}")).unwrap();
    let gone = gate(at, &["nine.csv", "--baseline", "ten.csv", "--policy", "gone.toml"]);
    assert_eq!(gone.code, 1, "{}{}", gone.out, gone.err);
    // Nothing in common is no regression.
    let other = "name,us,grid\nanother,0.7,8\n";
    std::fs::write(at.join("other.csv"), other).unwrap();
    let other = gate(at, &["other.csv", "--baseline", "ten.csv"]);
    ends(&other, 4, "no kernel in common");
}

#[test]
fn most_kernels_slower_together_are_no_clock() {
    let folder = folder();
    let at = folder.path();
    side(at, "main", |_, _| 1.0);
    side(at, "slow", |_, kernel| if kernel < 8 { 1.065 } else { 1.0 });
    let found = gate(at, &["slow-*.csv", "--baseline", "main-*.csv"]);
    ends(&found, 1, "8 of 12 kernels");
    ends(&found, 1, "while 4 stayed");
    // One run per side says it, too.
    ends(&gate(at, &["slow-0.csv", "--baseline", "main-0.csv"]), 0, "8 of 12 kernels");
}

#[test]
fn devices_and_days_are_learned_and_used() {
    let folder = folder();
    let at = folder.path();
    for (device, level) in [("x", 1.0), ("y", 1.03), ("z", 0.97)] {
        for run in 0..3 {
            write(at, &format!("{device}-{run}.csv"), 12, |_| level);
        }
    }
    let common = ["--map", "map.toml", "--device", "L4"];
    let learn = |groups: &[&str]| {
        rooflint(
            at,
            &[&["calibrate"], groups, &["x-*.csv", "y-*.csv", "z-*.csv"], &common].concat(),
        )
    };
    let found = learn(&["--groups", "device"]);
    assert_eq!(found.code, 0, "{}", found.err);
    assert!(
        found.out.contains("# devices differ by 3.0% (standard deviation over 3 of them"),
        "{}",
        found.out
    );
    // Half as much again, as three devices have not shown the worst.
    assert!(found.out.contains("\ndevice = 0.04"), "{}", found.out);
    let table = learn(&["--groups", "device", "--format", "csv"]).out;
    assert!(table.contains("\ndevice,3,,0.04"), "{table}");
    assert!(!learn(&[]).out.contains("device ="), "not without groups");
    let one = rooflint(at, &[&["calibrate", "x-*.csv", "--groups", "day"], &common[..]].concat());
    assert_eq!(one.code, 2, "{}", one.out);
    // 6% between two devices is too much for a quiet fleet, and not for this one; taken in turns it is the code.
    let quiet = "[gate.noise]\ndevice = 0.005\nday = 0.005\n";
    std::fs::write(at.join("quiet.toml"), quiet).unwrap();
    std::fs::write(at.join("fleet.toml"), found.out).unwrap();
    let against = |more: &[&str]| {
        let more = [
            &["y-0.csv", "y-1.csv", "y-2.csv", "--baseline", "z-0.csv", "z-1.csv", "z-2.csv"],
            more,
        ]
        .concat();
        gate(at, &more)
    };
    assert_eq!(against(&["--policy", "quiet.toml"]).code, 1);
    ends(&against(&["--policy", "fleet.toml"]), 0, "devices and days alone could explain");
    assert_eq!(against(&["--policy", "fleet.toml", "--order", "ABBABA"]).code, 1);
}

/// A job of three ranks whose last file is garbage, or gone: each is named as what it is.
#[test]
fn a_rank_that_is_not_an_export_is_not_a_missing_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    copies(at, "main", 3, ("", 1.0));
    copies(at, "now", 3, ("", 1.001));
    for (side, run) in [("base", "main"), ("cur", "now")] {
        std::fs::create_dir(at.join(side)).unwrap();
        for rank in 0..3 {
            let to = at.join(format!("{side}/rank-{rank}.csv"));
            std::fs::rename(at.join(format!("{run}-{rank}.csv")), to).unwrap();
        }
    }
    let gate = || {
        let found = rooflint(at, &["gate", "cur/", "--baseline", "base/", "-v"]);
        assert_eq!(found.code, 1, "{}{}", found.out, found.err);
        assert!(!found.out.contains("truncated file?"), "{}", found.out);
        let row = found.out.lines().find(|line| line.contains("(run: incomplete)")).unwrap();
        assert!(row.trim_end().ends_with("  incomplete"), "{row}");
        found.out
    };
    std::fs::write(at.join("cur/rank-2.csv"), "garbage\n").unwrap();
    let garbage = gate();
    let said = "rank-2.csv in cur/ is not an export and was left out, unlike in base/, whose other ranks cur/ has";
    assert!(garbage.contains(said), "{garbage}");
    let note =
        "1 file is not an export and was left out: cur/rank-2.csv (`rooflint inspect` says why)";
    assert!(garbage.contains(note), "{garbage}");
    std::fs::remove_file(at.join("cur/rank-2.csv")).unwrap();
    let gone = gate();
    let said = "rank-2.csv of base/ is missing in cur/, which has the other ranks";
    assert!(gone.contains(said), "{gone}");
}
