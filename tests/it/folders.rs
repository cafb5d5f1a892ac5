//! Tables in Parquet among the exports of a folder: what `convert` wrote is read, once, and other data is left out.

use std::path::Path;

use super::gate::cli::{copies, rooflint};

/// A folder with the export of rank 0, and beside the folder that of rank 1: copies of the demo with other times.
fn ranks(at: &Path) {
    copies(at, "rank", 2, ("", 1.0));
    std::fs::create_dir(at.join("ranks")).unwrap();
    std::fs::rename(at.join("rank-0.csv"), at.join("ranks/rank-0.csv")).unwrap();
}

/// The line of the brief with the number of launches.
fn launches(at: &Path, arguments: &[&str]) -> String {
    let found = rooflint(at, arguments);
    assert_eq!(found.code, 0, "{}{}", found.out, found.err);
    found.out.lines().find(|line| line.starts_with("GPU time")).unwrap().to_owned()
}

fn ok(at: &Path, arguments: &[&str]) -> String {
    let found = rooflint(at, arguments);
    assert_eq!(found.code, 0, "{arguments:?}: {}{}", found.out, found.err);
    found.out + &found.err
}

#[test]
fn a_launch_table_in_parquet_is_an_export_of_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    ranks(at);
    let alone = launches(at, &["ranks/"]);
    // Beside its own export it counts once.
    ok(at, &["convert", "ranks/rank-0.csv", "-o", "ranks/rank-0.parquet"]);
    assert_eq!(launches(at, &["ranks/"]), alone);
    // Without it, it is what there is.
    std::fs::rename(at.join("ranks/rank-0.csv"), at.join("rank-0.csv")).unwrap();
    assert_eq!(launches(at, &["ranks/"]), alone);
    // Another run is another rank.
    ok(at, &["convert", "rank-1.csv", "-o", "ranks/rank-1.parquet"]);
    let both = ok(at, &["ranks/"]);
    assert!(both.contains(" in 92 launches"), "{both}");
    let table = ok(at, &["convert", "ranks/", "-o", "launches/"]);
    assert!(table.contains("2 ranks converted"), "{table}");
    // A part of a partitioned table is a launch table, too.
    let part = launches(at, &["launches/run=run/rank=0/"]);
    assert_eq!(part, alone);
    let fleet = ok(at, &["fleet", "launches/"]);
    assert!(fleet.contains("2 ranks"), "{fleet}");
}

#[test]
fn other_data_in_parquet_is_not_an_export() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    ranks(at);
    let alone = launches(at, &["ranks/"]);
    // A saved run, and the tables beside the parts of a partitioned one.
    ok(at, &["baseline", "save", "rank-1.csv", "--store", "store", "--format", "parquet"]);
    let saved = std::fs::read_dir(at.join("store/default")).unwrap();
    let saved = saved.map(|entry| entry.unwrap().path());
    let saved = saved.filter(|path| path.extension().is_some_and(|end| end == "parquet"));
    std::fs::copy(saved.last().unwrap(), at.join("ranks/saved.parquet")).unwrap();
    ok(at, &["convert", "rank-1.csv", "-o", "launches/"]);
    std::fs::copy(at.join("launches/names.parquet"), at.join("ranks/names.parquet")).unwrap();
    let found = ok(at, &["ranks/"]);
    assert!(found.contains(&alone), "{found}");
    // What writes a table of them, or judges them, names how many were left out, and goes on.
    let table = ok(at, &["convert", "ranks/", "-o", "table.csv"]);
    assert!(table.contains("2 files are not exports and were left out"), "{table}");
    ok(at, &["gate", "ranks/", "--baseline", "rank-1.csv"]);
    // The store is still one, and not a folder of exports.
    let gate = ok(at, &["gate", "ranks/rank-0.csv", "--baseline", "store"]);
    assert!(gate.contains("Gate"), "{gate}");
    // Alone they are named.
    let saved = rooflint(at, &["launches/names.parquet"]);
    assert_eq!(saved.code, 3);
    assert!(saved.err.contains("not a rooflint launch table"), "{}", saved.err);
}

/// An output beside the exports is not read as one of them, and does not take the place of one.
#[test]
fn a_table_of_a_folder_is_not_written_into_it_twice() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    ranks(at);
    let arguments = ["convert", "ranks/", "-o", "ranks/all.parquet"];
    ok(at, &arguments);
    let again = rooflint(at, &arguments);
    assert_eq!(again.code, 2, "{}{}", again.out, again.err);
    assert!(again.err.contains("ranks/all.parquet"), "{}", again.err);
}

#[test]
fn a_damaged_launch_table_of_a_folder_is_not_left_out_in_silence() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    ranks(at);
    ok(at, &["convert", "rank-1.csv", "-o", "ranks/rank-1.parquet"]);
    let whole = std::fs::read(at.join("ranks/rank-1.parquet")).unwrap();
    std::fs::write(at.join("ranks/rank-1.parquet"), &whole[..whole.len() / 2]).unwrap();
    let found = rooflint(at, &["gate", "ranks/", "--baseline", "rank-1.csv"]);
    assert_eq!(found.code, 3, "{}{}", found.out, found.err);
    assert!(found.err.contains("rank-1.parquet"), "{}", found.err);
}
