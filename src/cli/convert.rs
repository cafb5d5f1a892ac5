//! `convert`: the canonical launch table as Parquet, CSV or JSON.

use std::path::PathBuf;

use clap::Args;

use super::args::Reading;
use super::exit::Failure;
use super::output::{self, Known, Place};
use super::reading::read;
use super::terminal::Terminal;
use crate::table::Table;

/// Convert to a table with one row per launch (CSV, JSON, Parquet)
#[derive(Debug, Args)]
pub(super) struct Convert {
    #[command(flatten)]
    reading: Reading,

    /// Write to a .parquet, .csv or .json file, or as FORMAT=PATH; repeatable; `-` is
    /// standard output
    #[arg(short = 'o', long = "output", value_name = "[FORMAT=]PATH", required = true)]
    paths: Vec<PathBuf>,
}

#[derive(Debug, Clone, Copy)]
enum Format {
    Csv,
    Json,
    Parquet,
}

/// Standard output gets CSV, the one that can be piped on.
const KNOWN: &[Known<Format>] = &[
    Known { name: "csv", endings: &["csv"], format: Format::Csv },
    Known { name: "json", endings: &["json"], format: Format::Json },
    Known { name: "parquet", endings: &["parquet"], format: Format::Parquet },
];

pub(super) fn run(command: &Convert, terminal: &Terminal) -> Result<(), Failure> {
    let places = output::places(&command.paths, None, KNOWN, "table format")?;
    #[cfg(not(feature = "frames"))]
    if places.iter().any(|place| matches!(place.format, Format::Parquet)) {
        parquet(&Table::default())?;
    }
    let profile = read(&command.reading)?;
    let table = Table::of(&profile);
    for Place { path, format } in places {
        match format {
            Format::Csv => terminal.stream(&path, |to| table.write_csv(to))?,
            Format::Json => terminal.stream(&path, |to| table.write_json(to))?,
            Format::Parquet => terminal.write(&path, &parquet(&table)?)?,
        }
    }
    Ok(())
}

#[cfg(feature = "frames")]
fn parquet(table: &Table<'_>) -> Result<Vec<u8>, Failure> {
    crate::table::frames::parquet(table.clone()).map_err(|error| Failure::usage(error.to_string()))
}

#[cfg(not(feature = "frames"))]
fn parquet(_: &Table<'_>) -> Result<Vec<u8>, Failure> {
    Err(Failure::usage("this build has no Parquet")
        .help("build with the feature `frames`, or write .csv or .json"))
}
