//! `inspect`: what an export is, what is in it, and the command that would supply what is missing.

use std::path::PathBuf;

use clap::Args;

use super::args::Reading;
use super::exit::Failure;
use super::output::{self, Outputs};
use super::terminal::Terminal;
use super::{catalog, reading};
use crate::ingest;
use crate::report::Inspection;

/// Show an export's format, contents and missing metrics, with the command to collect them
#[derive(Debug, Args)]
pub(super) struct Inspect {
    #[command(flatten)]
    reading: Reading,

    /// Add devices from a TOML file
    #[arg(long, value_name = "FILE")]
    devices: Vec<PathBuf>,

    /// Print a mapping made from the titles of a table that no format knows, to be checked and given to `--map`
    #[arg(long, conflicts_with_all = ["from", "map", "devices", "format", "paths"])]
    suggest_map: bool,

    #[command(flatten)]
    outputs: Outputs,
}

pub(super) fn run(command: &Inspect, terminal: &Terminal) -> Result<(), Failure> {
    if command.suggest_map {
        return terminal.print(&reading::suggest_map(&command.reading)?);
    }
    let places = command.outputs.places("format of inspections")?;
    let catalog = catalog::load(&command.devices)?;
    let profile = reading::read(&command.reading)?;
    let profiler = |format: &str| Some(ingest::format(format)?.profiler.label());
    let inspection = Inspection::new(&profile, &catalog, profiler);
    output::write(&places, &inspection, |style, _| style, terminal)
}
