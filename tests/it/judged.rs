//! How much of the GPU time of every real export is judged, and how surely: `judged-on-profiles.txt`.
//!
//! Skipped without the collection, see `profiles`; `BLESS=1` with it writes the table.

use std::path::Path;

use rooflint::analysis::{self, Analysis, Confidence, Options, State};
use rooflint::catalog::Catalog;
use rooflint::model::Profile;

use super::golden::check;
use super::profiles::{DEVICES, collection, read};

/// The device by the beginning of a file's name.
pub(crate) fn by_name(file: &str) -> Option<&'static str> {
    let whose = file.trim_start_matches("review-");
    DEVICES.iter().find(|(start, _)| whose.starts_with(start)).map(|(_, name)| *name)
}

/// Judged with the device that the export tells, else with the one its file is named for; and how that
/// is known.
fn judged(file: &str, profile: &Profile) -> (Analysis, &'static str) {
    let analyze = |device| {
        let options = Options { device, ..Options::default() };
        analysis::analyze(profile, &Catalog::builtin(), &options)
            .unwrap_or_else(|error| panic!("{file}: {error}"))
    };
    let own = analyze(None);
    match by_name(file) {
        Some(name) if own.devices.iter().any(|device| device.unknown.is_some()) => {
            (analyze(Some(name.to_owned())), "given")
        }
        _ => (own, "export"),
    }
}

/// Percentages of the time: judged for certain, likely, possibly; set apart; not judged.
fn shares(analysis: &Analysis) -> [f64; 5] {
    let mut sums = [0.0; 5];
    for kernel in &analysis.kernels {
        let column = match kernel.state {
            State::NotEnoughData => 4,
            state if !state.is_modeled() => 3,
            _ => kernel.confidence.map_or(4, |confidence: Confidence| confidence as usize),
        };
        sums[column] += 100.0 * analysis.totals.share(kernel.measured);
    }
    sums
}

#[test]
fn at_most_a_tenth_of_the_time_of_real_exports_is_not_judged() {
    let Some(collection) = collection() else { return };
    let mut rows = Vec::new();
    for folder in ["ncu", "pyprof"] {
        for entry in std::fs::read_dir(collection.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let file = path.file_name().unwrap().to_str().unwrap().to_owned();
            // Files that are refused, and why, have a test of their own.
            let Ok(profile) = read(&path) else { continue };
            let (analysis, how) = judged(&file, &profile);
            if analysis.totals.measured.get() > 0.0 {
                let devices: Vec<&str> =
                    analysis.devices.iter().map(analysis::DeviceUse::name).collect();
                rows.push((format!("{folder}/{file}"), devices.join(", "), how, shares(&analysis)));
            }
        }
    }
    rows.sort_by(|one, two| one.0.cmp(&two.0));
    let mut text = String::from(
        "How much of the GPU time of each real export is judged, in % of the time.\n\
         \"export\": the device is named in the export; \"given\": it does not, and it is named by hand.\n\
         Set apart: launch-bound, cache-resident, faster than the roofline, communication and copies.\n\n",
    );
    text.push_str(&format!(
        "{:65} {:38} {:6} {:>7} {:>7} {:>8} {:>9} {:>10}\n",
        "file", "device", "by", "certain", "likely", "possible", "set apart", "not judged"
    ));
    for (file, device, how, [certain, likely, possible, apart, not]) in &rows {
        text.push_str(&format!(
            "{file:65} {device:38} {how:6} {certain:7.1} {likely:7.1} {possible:8.1} {apart:9.1} {not:10.1}\n"
        ));
        let sum = certain + likely + possible + apart + not;
        assert!((sum - 100.0).abs() < 1e-6, "{file}: {sum}");
    }
    let mean = rows.iter().map(|row| row.3[4]).sum::<f64>() / rows.len() as f64;
    text.push_str(&format!("\nnot judged, mean of {} exports: {mean:.1}%\n", rows.len()));
    print!("{text}");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    check(&root.join("tests/golden/judged-on-profiles.txt"), &text);
    assert!(mean <= 10.0, "{mean}% of the time is not judged");
}
