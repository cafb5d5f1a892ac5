//! `calibrate`: what repeated runs of the same code tell of the noise.

use clap::Args;

use super::args::{Configuration, Model, Reading};
use super::config;
use super::exit::Failure;
use super::output::{self, Outputs};
use super::sides::Sides;
use super::terminal::Terminal;
use crate::gate;
use crate::report::Calibrated;

const EXAMPLES: &str = "\
Examples:
  rooflint calibrate run1.csv run2.csv run3.csv run4.csv
  rooflint calibrate 'nightly-*.csv' >> rooflint.toml";

/// Measure run-to-run noise and suggest thresholds
///
/// Compares each run with each other and suggests the noise floors of [gate.noise]: what 99% of the
/// kernels stay below. Counts false alarms under the current and the suggested policy. Record the runs
/// as the pipeline does: on its machines, at its times.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Calibrate {
    #[command(flatten)]
    reading: Reading,

    #[command(flatten)]
    model: Model,

    #[command(flatten)]
    configuration: Configuration,

    /// Skip this many first launches of each kernel
    #[arg(long, value_name = "N", default_value_t = 0)]
    warmup: u32,

    #[command(flatten)]
    outputs: Outputs,
}

pub(super) fn run(command: &Calibrate, terminal: &Terminal) -> Result<(), Failure> {
    let places = command.outputs.places("format of calibrations")?;
    let config = config::find(&command.configuration)?;
    let sides = Sides::new(&command.reading, &command.model, &config, command.warmup)?;
    let runs = sides.runs(&command.reading.files)?.runs;
    if runs.len() < 2 {
        return Err(Failure::usage("noise is what differs between runs, and there is one")
            .help("give two or more runs of the same code; five or more tell something"));
    }
    for run in &runs {
        if run.timed_launches == 0 {
            let error = crate::ingest::IngestError::new(&run.label, "no launch has a duration");
            return Err(Failure::Ingest(error));
        }
        if run.device_names() != runs[0].device_names() {
            let message = format!("{} and {} ran on different devices", runs[0].label, run.label);
            return Err(Failure::usage(message).help("calibrate each device by itself"));
        }
    }
    let found = gate::calibrate(&runs, &config.gate);
    output::write(&places, &Calibrated(&found), |style, _| style, terminal)
}
