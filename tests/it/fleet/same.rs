//! One export, by itself, by way of a part and by way of a partial: the same kernels, figures and verdicts.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rooflint::analysis::{Analysis, Kernel, RankId};
use rooflint::fleet::{self, Gathered};
use rooflint::ingest::{self, Input, Options};
use rooflint::model::Profile;
use rooflint::session::Session;
use rooflint::units::{Bytes, Seconds};

use super::{partition, same, scan};
use crate::house::root;
use crate::profiles::collection;

/// What tells kernels apart.
type Key = (String, Option<String>, String, String);

fn by_name(analysis: &Analysis) -> BTreeMap<Key, Vec<&Kernel>> {
    let mut all: BTreeMap<Key, Vec<&Kernel>> = BTreeMap::new();
    for kernel in &analysis.kernels {
        let device = analysis.devices[kernel.device].name().to_owned();
        let operator = kernel.operator.as_deref().map(str::to_owned);
        let key = (kernel.full_name.to_string(), operator, format!("{:?}", kernel.shape), device);
        all.entry(key).or_default().push(kernel);
    }
    for alike in all.values_mut() {
        alike.sort_by(|one, two| one.measured.total_cmp(&two.measured));
    }
    all
}

fn figures(kernel: &Kernel) -> [Option<f64>; 9] {
    [
        Some(kernel.measured.get()),
        Some(kernel.modeled.get()),
        kernel.roofline_time.map(Seconds::get),
        kernel.memory_time.map(Seconds::get),
        kernel.math_time.map(Seconds::get),
        Some(kernel.savings_low.get()),
        Some(kernel.savings.get()),
        Some(kernel.savings_high.get()),
        kernel.bytes.map(Bytes::get),
    ]
}

/// What differs between two analyses of the same launches, one line each.
fn differences(found: &Analysis, expected: &Analysis) -> Vec<String> {
    let (found, expected) = (by_name(found), by_name(expected));
    let mut wrong = Vec::new();
    if found.keys().ne(expected.keys()) {
        let other = found.keys().filter(|key| !expected.contains_key(*key));
        wrong.push(format!("{} kernels, {} expected", found.len(), expected.len()));
        wrong.extend(other.map(|key| format!("only there: {key:?}")));
    }
    for (key, expected) in expected {
        for (found, expected) in found.get(&key).into_iter().flatten().zip(expected) {
            let words = |kernel: &Kernel| {
                let counted = (kernel.work.len(), kernel.averages.iter().count());
                (kernel.state, kernel.limiter, kernel.confidence, kernel.launches, counted)
            };
            if words(found) != words(expected) {
                let (found, expected) = (words(found), words(expected));
                wrong.push(format!("{}: {found:?}, {expected:?} expected", key.0));
            }
            for (at, pair) in figures(found).into_iter().zip(figures(expected)).enumerate() {
                let is_same = match pair {
                    (Some(found), Some(expected)) => {
                        (found - expected).abs() <= expected.abs() * 1e-9 + 1e-18
                    }
                    (found, expected) => found.is_none() == expected.is_none(),
                };
                if !is_same {
                    wrong.push(format!("{}: figure {at}: {pair:?}", key.0));
                }
            }
        }
    }
    wrong
}

fn concluded(session: &Session, gathered: Gathered) -> Analysis {
    let concluded = gathered.partial.conclude(&session.options);
    session.explain(&concluded.profile, concluded.analysis).analysis
}

/// The analysis of an export by both ways, compared with its own; returns whether it has savings.
fn check(path: &Path, profile: &Profile, wrong: &mut Vec<String>) -> bool {
    let session = Session::default();
    let expected = session.judge(profile).unwrap().analysis;
    let folder = tempfile::tempdir().unwrap();
    let launches = folder.path().join("launches");
    let done = partition(&launches, &[path.to_owned()]).unwrap();
    assert!(done.failed.is_empty(), "{:?}", done.failed);
    let by_part = concluded(&session, scan(&launches).unwrap());
    let id = RankId { run: "run".into(), rank: 0 };
    let own = fleet::summarize(profile, id, &session.catalog, &session.options).unwrap();
    let mut text = Vec::new();
    fleet::write_partial(&own, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let (catalog, options) = (&session.catalog, &session.options);
    let read = fleet::parse_partial("partial", &text, catalog, options).unwrap();
    let by_partial = concluded(&session, read);
    for (way, found) in [("part", by_part), ("partial", by_partial)] {
        same(&found.totals, &expected.totals, &format!("{} by a {way}", path.display()));
        let different = differences(&found, &expected);
        wrong.extend(different.iter().take(3).map(|one| {
            format!("{} by a {way} ({} in all): {one}", path.display(), different.len())
        }));
    }
    expected.totals.savings.get() > 0.0
}

fn exports(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.append(&mut exports(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// Compares those of the files that can be read by themselves; returns how many there were, and how many have savings.
fn compare(files: Vec<PathBuf>) -> (usize, usize) {
    let (mut wrong, mut count, mut savings) = (Vec::new(), 0, 0);
    for path in files {
        let input = [Input::Named(path.clone())];
        let Ok(profile) = ingest::read(&input, &Options::default()) else { continue };
        savings += usize::from(check(&path, &profile, &mut wrong));
        count += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    (count, savings)
}

#[test]
fn every_fixture_is_judged_by_part_and_partial_as_analyze_judges_it() {
    let skipped = ["bad", "advice", "mapped", "workloads"];
    let is_export = |path: &PathBuf| {
        !skipped.iter().any(|one| path.starts_with(root().join("fixtures").join(one)))
    };
    let files = exports(&root().join("fixtures"));
    let (count, savings) = compare(files.into_iter().filter(is_export).collect());
    assert!(count > 30 && savings > 10, "{count} {savings}");
}

#[test]
fn every_real_export_is_judged_by_part_and_partial_as_analyze_judges_it() {
    let Some(collection) = collection() else { return };
    let (count, savings) = compare(exports(&collection));
    println!("{count} exports, {savings} with savings");
    assert!(count > 100 && savings > 15, "{count} {savings}");
}
