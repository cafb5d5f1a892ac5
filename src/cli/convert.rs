//! `convert`: the canonical launch table as Parquet, CSV or JSON.

use std::path::Path;

use super::analyze::read;
use super::args::Convert;
use super::exit::Failure;
use super::terminal::Terminal;
use crate::analysis::Table;

pub(super) fn run(command: &Convert, terminal: &Terminal) -> Result<(), Failure> {
    // A wrong ending is found before a long read.
    for path in &command.paths {
        check(path)?;
    }
    let table = Table::of(&read(&command.reading)?);
    for path in &command.paths {
        let bytes = match ending(path).as_str() {
            "parquet" => parquet(&table)?,
            "json" => table.json().into_bytes(),
            _ => table.csv().into_bytes(),
        };
        terminal.write(path, &bytes)?;
    }
    Ok(())
}

fn ending(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_lowercase()
}

fn check(path: &Path) -> Result<(), Failure> {
    // Standard output gets CSV, the one that can be piped on.
    if path.as_os_str() == "-" || matches!(ending(path).as_str(), "parquet" | "csv" | "json") {
        return Ok(());
    }
    Err(Failure::usage(format!("{}: no table format has this ending", path.display()))
        .help("use .parquet, .csv or .json; `-` writes CSV to standard output"))
}

#[cfg(feature = "frames")]
fn parquet(table: &Table) -> Result<Vec<u8>, Failure> {
    crate::analysis::frames::parquet(table.clone())
        .map_err(|error| Failure::usage(error.to_string()))
}

#[cfg(not(feature = "frames"))]
fn parquet(_: &Table) -> Result<Vec<u8>, Failure> {
    Err(Failure::usage("this build has no Parquet")
        .help("build with the feature `frames`, or write .csv or .json"))
}
