//! `inspect`: what an export is, what is in it, and the command that would supply what is missing.

use super::analyze::read;
use super::args::Inspect;
use super::exit::Failure;
use super::terminal::Terminal;
use super::{catalog, output};
use crate::ingest;
use crate::report::Inspection;

pub(super) fn run(command: &Inspect, terminal: &Terminal) -> Result<(), Failure> {
    let places = command.outputs.places("format of inspections")?;
    let catalog = catalog(&command.devices)?;
    let profile = read(&command.reading)?;
    let profiler = |format: &str| Some(ingest::format(format)?.profiler.label());
    let inspection = Inspection::new(&profile, &catalog, profiler);
    output::write(&places, &inspection, |style, _| style, terminal)
}
