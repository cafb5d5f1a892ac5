//! `calibrate`: what repeated runs of the same code tell of the noise.

use clap::Args;
use clap::builder::PossibleValuesParser;

use super::args::{Configuration, Model, Reading};
use super::config;
use super::exit::Failure;
use super::output::{self, Outputs};
use super::sides::Sides;
use super::terminal::Terminal;
use crate::gate::{self, Calibration, Grouped};
use crate::report::Calibrated;

const EXAMPLES: &str = "\
Examples:
  rooflint calibrate run1.csv run2.csv run3.csv run4.csv
  rooflint calibrate --groups device 'gpu0-*.csv' 'gpu1-*.csv' 'gpu2-*.csv'
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

    /// Each argument is a pattern of runs that were taken on one device, or on one day: learn how far these differ
    #[arg(long, value_name = "WHAT", value_parser = PossibleValuesParser::new(["device", "day"]))]
    groups: Option<String>,

    #[command(flatten)]
    outputs: Outputs,
}

pub(super) fn run(command: &Calibrate, terminal: &Terminal) -> Result<(), Failure> {
    let places = command.outputs.places("format of calibrations")?;
    let config = config::find(&command.configuration, terminal)?;
    let sides = Sides::new(&command.reading, &command.model, &config, command.warmup)?;
    let runs = sides.runs(&command.reading.files)?.runs;
    let groups = match command.groups.as_deref() {
        None => None,
        Some(by) => {
            let by = if by == "day" { Grouped::Day } else { Grouped::Device };
            let files = &command.reading.files;
            let of = |path| Ok(sides.runs(std::slice::from_ref(path))?.runs.len());
            Some((by, files.iter().map(of).collect::<Result<Vec<usize>, Failure>>()?))
        }
    };
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
    if let Some(why) = gate::no_repeats(&runs) {
        return Err(Failure::usage(format!("these runs are not repeats of each other: {why}"))
            .help("leave that run out, or take it again"));
    }
    let groups = groups.as_ref().map(|(by, sizes)| (*by, sizes.as_slice()));
    let found = gate::calibrate(&runs, groups, &config.gate);
    if groups.is_some() && found.between.is_none() {
        return Err(Failure::usage(
            "--groups needs two groups or more, with more runs than groups",
        )
        .help("quote a pattern for each device or day, such as 'gpu0-*.csv' 'gpu1-*.csv'"));
    }
    if let Some(why) = too_different(&found) {
        return Err(Failure::usage(why).help("leave out the run that differs, or take it again"));
    }
    output::write(&places, &Calibrated(&found), |style, _| style, terminal)
}

/// Why no policy can allow what these runs differ by.
fn too_different(found: &Calibration) -> Option<String> {
    let noise = &found.proposed;
    let in_all = [noise.common, noise.device, noise.day];
    let of_kernels = [noise.kernel, noise.few_launches];
    let floor = in_all.into_iter().chain(of_kernels).find(|floor| floor.get() >= 1.0)?;
    let apart = |what: &str, share: f64, [one, two]: &[String; 2]| {
        format!("{what} {:.0}% between {one} and {two}", 100.0 * share)
    };
    let why = if in_all.contains(&floor) {
        let runs = found.furthest.as_ref();
        runs.map(|runs| apart("all kernels together differ by", found.common_largest.get(), runs))
    } else {
        let wildest = found.wildest.as_ref();
        wildest.map(|one| {
            let what = format!("{} differs by", one.kernel);
            apart(&what, one.shift.get(), &one.runs)
        })
    };
    Some(format!(
        "these runs are no repeats of each other: {}; a noise floor of {:.0}% would follow, and must be below 100%",
        why.unwrap_or_default(),
        100.0 * floor.get()
    ))
}
