//! The readers against real exports that are kept outside of this repository.
//!
//! Skipped, and said so, where the folder is missing. Numbers of launches and total times are those of
//! the profiles the exports were made from; totals of work come from an independent program that
//! applies the rules of [`super::counts`] to the columns. Pixels that convolutions skip, whose stride is wider than the
//! filter, are subtracted from them by hand: 30 × 4·16·956·(54² − 38²) bytes, of which 20 are halved where the type is
//! not known, and 3 × 3/4 of 2·32·(256·56² + 512·28² + 1024·14²) in the residual network. The log-softmax of 700 × 33278
//! numbers and its gradient move 2 and 3 times 4 bytes of each by its sizes, and not the 3 and 5 times that `PyProf` prints.

use std::path::PathBuf;

use crate::ingest::{Input, Options, read};
use crate::model::{Profile, Quantity};

/// One export: file, format, launches, nanoseconds, launches with operations, these, launches with bytes, these.
type Export = (&'static str, &'static str, usize, f64, usize, f64, usize, f64);

#[rustfmt::skip]
const EXPORTS: [Export; 10] = [
    ("GEN_nvidia-3.11dev_conv2d_80_all-20col.csv", "pyprof", 80, 21_785_339.0, 30, 22_529_172_480.0, 30, 2_398_417_920.0),
    ("GEN_nvidia-3.11dev_conv2d_80_default-8col.csv", "pyprof", 80, 21_785_339.0, 30, 22_529_172_480.0, 30, 2_398_417_920.0),
    ("GEN_nvidia-3.11dev_conv2d_80_w150-text.txt", "pyprof-text", 80, 21_785_339.0, 0, 0.0, 0, 0.0),
    ("GEN_nvidia-3.11dev_lenet-like-2070super_46_all-20col.csv", "pyprof", 46, 346_684.0, 11, 17_973_600.0, 11, 579_536.0),
    ("GEN_nvidia-3.11dev_lm160_TRUNCATED-by-assert.csv", "pyprof", 144, 7_075_140.0, 52, 29_312_028_279.0, 50, 715_251_372.0),
    ("GEN_nvidia-3.11dev_resnet-amp-2080ti_1058_16col.csv", "pyprof", 1058, 67_709_663.0, 648, 783_722_330_205.0, 648, 14_049_530_988.0),
    ("GEN_pyprof2_lm160_all-20col.csv", "pyprof", 160, 7_296_770.0, 68, 29_332_561_996.0, 66, 877_813_040.0),
    ("GEN_pyprof2_lm160_w150-text.txt", "pyprof-text", 160, 7_296_770.0, 64, 28_354_041_796.0, 66, 1_323_798_040.0),
    ("apex_transformer-lm_160_12col.csv", "pyprof", 160, 7_296_770.0, 77, 28_380_988_767.0, 81, 1_377_691_952.0),
    ("fork_conv2d_80_25col-lowercase.csv", "pyprof", 80, 21_785_339.0, 30, 22_529_172_480.0, 30, 2_398_417_920.0),
];

/// Launches with operations, these, launches with bytes, these.
type Totals = (usize, f64, usize, f64);

/// What the sizes of operators tell beyond what `PyProf` counts or has a formula for: totals from
/// another independent program, which works on the columns.
#[rustfmt::skip]
const NEEDED: [(&str, Totals); 8] = [
    ("GEN_nvidia-3.11dev_conv2d_80_all-20col.csv", (30, 1_963_670.0, 30, 1_795_909_840.0)),
    ("GEN_nvidia-3.11dev_conv2d_80_default-8col.csv", (30, 1_963_670.0, 30, 14_384_720.0)),
    ("GEN_nvidia-3.11dev_conv2d_80_w150-text.txt", (60, 22_531_136_150.0, 60, 1_787_242_280.0)),
    ("GEN_nvidia-3.11dev_lenet-like-2070super_46_all-20col.csv", (30, 8_878_518.0, 30, 4_106_720.0)),
    ("GEN_nvidia-3.11dev_lm160_TRUNCATED-by-assert.csv", (31, 242_768_156.0, 33, 996_993_912.0)),
    ("GEN_nvidia-3.11dev_resnet-amp-2080ti_1058_16col.csv", (248, 54_623_488.0, 248, 3_578_381_056.0)),
    ("GEN_pyprof2_lm160_all-20col.csv", (39, 243_888_156.0, 41, 1_001_473_912.0)),
    ("fork_conv2d_80_25col-lowercase.csv", (30, 1_963_670.0, 30, 1_795_909_840.0)),
];

/// Exports that cannot be read, and a part of the next step that is named.
const REFUSED: [(&str, &str); 4] = [
    ("GEN_nvidia-3.11dev_conv2d_80_space-separated.txt", "print it again with --csv"),
    ("apex_stdout-noise-only_transformer.csv", "python -m pyprof.prof --csv"),
    ("apex_transformer-lm_160.dict", "run the second step: python -m pyprof.prof --csv"),
    ("fork_conv2d_80.dict", "run the second step: python -m pyprof.prof --csv"),
];

fn folder() -> Option<PathBuf> {
    if let Some(collection) = std::env::var_os("ROOFLINT_PROFILES") {
        return Some(PathBuf::from(collection).join("pyprof"));
    }
    #[expect(
        clippy::print_stderr,
        reason = "a test that did not run must not look like one that passed"
    )]
    {
        eprintln!("SKIPPED: ROOFLINT_PROFILES is not set");
    }
    None
}

fn profile(folder: &std::path::Path, name: &str) -> Profile {
    let strict = Options { strict: true, ..Options::default() };
    read(&[Input::Named(folder.join(name))], &strict).unwrap()
}

#[test]
fn launches_times_and_work_of_real_exports_are_all_found() {
    let Some(folder) = folder() else { return };
    for (name, format, launches, nanoseconds, with_flops, flops, with_bytes, bytes) in EXPORTS {
        let profile = profile(&folder, name);
        assert_eq!(profile.sources[0].format, format, "{name}");
        assert_eq!(profile.launches.len(), launches, "{name}");
        let time = |launch| profile.launches.get(launch, Quantity::Duration).unwrap().0;
        let total: f64 = (0..launches).map(|launch| (time(launch) * 1e9).round()).sum();
        assert_eq!(total, nanoseconds, "{name}");
        let (counted, needed) = totals(&profile);
        assert_eq!(counted, (with_flops, flops, with_bytes, bytes), "{name}");
        let expected = NEEDED.iter().find(|(file, _)| *file == name).map(|(_, totals)| *totals);
        assert_eq!(needed, expected.unwrap_or_default(), "{name}");
    }
}

/// Totals of what was counted, and of what the sizes of operators tell.
fn totals(profile: &Profile) -> (Totals, Totals) {
    let mut both = (Totals::default(), Totals::default());
    for launch in profile.iter() {
        let work = launch.work().next().map(|(pipe, ..)| Quantity::Work(pipe));
        for quantity in work.into_iter().chain([Quantity::DramBytes]) {
            let Some((value, origin)) = launch.get(quantity) else { continue };
            let is_needed = origin.formula.starts_with("sizes of the ");
            let totals = if is_needed { &mut both.1 } else { &mut both.0 };
            if quantity == Quantity::DramBytes {
                totals.2 += 1;
                totals.3 += value;
            } else {
                totals.0 += 1;
                totals.1 += value.trunc();
            }
        }
    }
    both
}

#[test]
fn what_cannot_be_read_is_refused_with_the_next_step() {
    let Some(folder) = folder() else { return };
    for (name, help) in REFUSED {
        let error = read(&[Input::Named(folder.join(name))], &Options::default()).unwrap_err();
        let next = error.next_step().unwrap_or_default();
        assert!(next.contains(help), "{name}: {error}: {next}");
    }
}

#[test]
fn programs_that_wrote_them_are_told_apart() {
    let Some(folder) = folder() else { return };
    for (name, dialect) in [
        ("fork_conv2d_80_25col-lowercase.csv", "lower-case fork of PyProf"),
        ("apex_transformer-lm_160_12col.csv", "apex.pyprof or pyprof2"),
        ("GEN_pyprof2_lm160_all-20col.csv", "apex.pyprof or pyprof2"),
        ("GEN_nvidia-3.11dev_resnet-amp-2080ti_1058_16col.csv", "NVIDIA PyProf"),
        ("GEN_nvidia-3.11dev_lm160_TRUNCATED-by-assert.csv", "NVIDIA PyProf"),
        ("GEN_nvidia-3.11dev_conv2d_80_all-20col.csv", "PyProf, version unknown"),
        ("GEN_pyprof2_lm160_w150-text.txt", "PyProf, version unknown"),
    ] {
        assert_eq!(profile(&folder, name).sources[0].dialect, dialect, "{name}");
    }
}
