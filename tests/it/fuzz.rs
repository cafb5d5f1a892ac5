//! The fuzz targets without a fuzzer: with the corpora of the repository, with changed inputs, and with random bytes.

mod changed;
#[path = "../../fuzz/targets/mod.rs"]
mod targets;

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use targets::{TARGETS, Target, joined, meaning};

use crate::house::root;

/// The files of a folder and of its folders, or the file itself.
fn files(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(path) else { return vec![path.to_owned()] };
    let mut files: Vec<PathBuf> = entries.flat_map(|entry| files(&entry.unwrap().path())).collect();
    files.sort();
    files
}

/// What the fuzzer starts from: what it found before, and the seeds.
fn corpus(target: &Target) -> Vec<PathBuf> {
    let corpus = root().join("fuzz/corpus").join(target.name);
    let seeds = target.seeds.iter().map(|seed| root().join(seed));
    let all = std::iter::once(corpus).filter(|path| path.is_dir()).chain(seeds);
    all.flat_map(|path| files(&path)).collect()
}

#[test]
fn every_format_has_a_target() {
    for format in rooflint::ingest::FORMATS {
        let has = |target: &Target| {
            let rest = format.name.strip_prefix(target.name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        assert!(TARGETS.iter().any(has), "{} has no target", format.name);
    }
}

/// What the fuzzer starts from, as a target takes it.
fn inputs(target: &Target) -> Vec<(PathBuf, Vec<u8>)> {
    let read = |path: PathBuf| {
        let mut bytes = std::fs::read(&path).unwrap();
        bytes.truncate(target.longest);
        (path, bytes)
    };
    let inputs: Vec<_> = corpus(target).into_iter().map(read).collect();
    assert!(!inputs.is_empty(), "{} has no corpus", target.name);
    inputs
}

/// Whether a target holds for an input; what it panicked with is printed.
fn survives(target: &Target, bytes: &[u8]) -> bool {
    std::panic::catch_unwind(|| (target.run)(bytes)).is_ok()
}

#[test]
fn nothing_that_the_fuzzer_knows_makes_a_target_fail() {
    for target in TARGETS {
        for (path, bytes) in inputs(target) {
            assert!(survives(target, &bytes), "{} fails with {}", target.name, path.display());
        }
    }
}

/// So many for each target as `ROOFLINT_CHANGED_INPUTS` says.
#[test]
fn changed_inputs_make_no_target_fail() {
    let asked = std::env::var("ROOFLINT_CHANGED_INPUTS").ok();
    let count: usize = asked.and_then(|asked| asked.parse().ok()).unwrap_or(30);
    for target in TARGETS {
        let seeds = inputs(target).into_iter().map(|(_, bytes)| bytes).collect();
        for (number, bytes) in changed::inputs(target, seeds).take(count).enumerate() {
            if !survives(target, &bytes) {
                let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(target.name);
                std::fs::write(&kept, bytes).unwrap();
                panic!("{} fails with changed input {number}, {}", target.name, kept.display());
            }
        }
    }
}

/// Runs a target with random bytes, the same each time: what is new is looked for with `fuzz/run`. A failure is
/// shrunk to the fewest choices.
fn holds(target: fn(&[u8]), cases: u32) {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let same = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, same);
    let bytes = proptest::collection::vec(any::<u8>(), 0..400);
    let run = runner.run(&bytes, |bytes| {
        target(&bytes);
        Ok(())
    });
    run.unwrap();
}

#[test]
fn launches_in_any_dialect_are_read_back() {
    holds(meaning::any_dialect, 400);
    let counted = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    let (written, refused) = (counted(&meaning::WRITTEN), counted(&meaning::REFUSED));
    assert!(written >= 400 && refused * 20 < written, "{refused} of {written} are refused");
}

#[test]
fn numbers_without_a_telling_cell_are_right_or_refused() {
    holds(meaning::unmarked, 400);
}

#[test]
fn what_is_lost_of_a_damaged_export_is_counted() {
    holds(meaning::damaged, 400);
}

#[test]
fn what_several_files_say_of_a_run_comes_together() {
    holds(joined::joined, 400);
}

#[test]
fn a_launch_table_in_any_dress_is_the_same_table() {
    holds(meaning::launch_table, 200);
}

/// Returns a Parquet file with some bytes changed or its end cut off, in another way each round; `None` after the last.
///
/// polars takes too long to build with the fuzzer: bytes are changed blindly, so many times as
/// `ROOFLINT_PARQUET_MUTATIONS` says.
#[cfg(feature = "frames")]
fn spoilt(whole: &[u8], round: u64) -> Option<Vec<u8>> {
    let asked = std::env::var("ROOFLINT_PARQUET_MUTATIONS").ok();
    let rounds: u64 = asked.and_then(|asked| asked.parse().ok()).unwrap_or(300);
    if round == rounds {
        return None;
    }
    // Marsaglia's xorshift, from another beginning each time.
    let mut state = (round + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut below = |end: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % end as u64) as usize
    };
    let mut bytes = whole.to_vec();
    for _ in 0..=below(4) {
        // Half of the changes are in the last kilobytes, where the metadata is.
        let from = if below(2) == 0 { bytes.len().saturating_sub(4096) } else { 0 };
        let at = from + below(bytes.len() - from);
        bytes[at] = below(256) as u8;
    }
    if below(8) == 0 {
        bytes.truncate(below(bytes.len()));
    }
    Some(bytes)
}

/// What is read of a damaged saved run is the run: its fingerprint is of every cell.
#[cfg(all(feature = "frames", feature = "gate"))]
#[test]
fn a_damaged_table_of_a_saved_run_is_refused_or_the_same() {
    use rooflint::compare::Run;
    use rooflint::session::Session;

    let options = rooflint::ingest::Options::default();
    let profile = rooflint::ingest::read_text("demo", rooflint::SAMPLE, &options).unwrap();
    let session = Session::default();
    let run = session.judge(&profile).unwrap().run(0);
    let whole = run.parquet().unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut refused = 0;
    for round in 0.. {
        let Some(bytes) = spoilt(&whole, round) else { break };
        std::fs::write(file.path(), bytes).unwrap();
        match Run::from_parquet(file.path()) {
            Ok(read) => assert_eq!(read, run, "round {round}"),
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 0, "nothing was damaged");
}

#[cfg(feature = "frames")]
#[test]
fn a_damaged_parquet_table_is_refused_or_read_whole() {
    use std::io::Read;

    use rooflint::ingest;
    use rooflint::table::{Table, frames};

    let options = ingest::Options::default();
    let profile = ingest::read_text("demo", rooflint::SAMPLE, &options).unwrap();
    let whole = frames::parquet(&Table::of(&profile)).unwrap();
    let mut refused = 0;
    for round in 0.. {
        let Some(bytes) = spoilt(&whole, round) else { break };
        let mut text = String::new();
        let read = frames::Rows::open(bytes);
        if read.is_err() || read.is_ok_and(|mut rows| rows.read_to_string(&mut text).is_err()) {
            refused += 1;
            continue;
        }
        // A name may be changed, but no row is lost: none of the sample has a line break in it.
        let mut rows = csv::ReaderBuilder::new().from_reader(text.as_bytes());
        let rows = rows.records().map(|row| row.unwrap().len()).collect::<Vec<_>>();
        assert_eq!(rows.len(), profile.launches.len(), "round {round}");
        let _ = ingest::read_text("damaged", text.leak(), &options);
    }
    assert!(refused > 0, "nothing was damaged");
}

#[test]
fn every_target_is_in_the_document() {
    let document = std::fs::read_to_string(root().join("docs/fuzzing.md")).unwrap();
    let missing: Vec<&str> = TARGETS
        .iter()
        .map(|target| target.name)
        .filter(|name| !document.contains(&format!("| `{name}` |")))
        .collect();
    assert!(missing.is_empty(), "{missing:?} are not in the table of docs/fuzzing.md");
}
