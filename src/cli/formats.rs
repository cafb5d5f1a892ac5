//! `formats`: what can be read, and how to produce it.

use clap::Args;

use super::exit::Failure;
use super::output::{self, Outputs};
use super::terminal::Terminal;
use crate::ingest::FORMATS;
use crate::report::{FormatLine, FormatList};

/// List input formats, with the commands to export them
#[derive(Debug, Args)]
pub(super) struct Formats {
    #[command(flatten)]
    outputs: Outputs,
}

/// Any other table, by a mapping of its columns.
const MAPPED: FormatLine<'static> = FormatLine {
    name: "mapped",
    profiler: "any",
    summary: "any other table, CSV or JSON, its columns named in a mapping",
    command: "rooflint FILE --map MAPPING.toml",
};

pub(super) fn run(command: &Formats, terminal: &Terminal) -> Result<(), Failure> {
    let places = command.outputs.places("format of formats")?;
    let profilers: Vec<String> = FORMATS.iter().map(|format| format.profiler.to_string()).collect();
    let lines = FORMATS.iter().zip(&profilers).map(|(format, profiler)| FormatLine {
        name: format.name,
        profiler,
        summary: format.summary,
        command: format.command,
    });
    let lines: Vec<FormatLine<'_>> = lines.chain([MAPPED]).collect();
    output::write(&places, &FormatList(&lines), |style, _| style, terminal)
}
