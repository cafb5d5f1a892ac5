//! The commands: their names, the help above them, and what runs them.
//!
//! Only the face of the command line names this file.

use clap::{Parser, Subcommand};

use super::args;
use super::exit::Failure;
#[cfg(feature = "page")]
use super::learn;
use super::terminal::Terminal;
use super::{
    analyze, baseline, calibrate, convert, devices, formats, gate, inspect, predict, rules, schema,
    trend,
};

const EXAMPLES: &str = "\
Examples:
  rooflint demo                               analyze the built-in sample
  rooflint run.csv                            analyze an export
  rooflint run.csv --device 'A100 SXM4 80GB'  set the GPU if it is not named
  rooflint run.csv -o report.html             write an interactive page
  rooflint ranks/ -o all.json -o all.md -o -  one report of all ranks, three formats
  rooflint run.csv --kernel '#1' --explain    show the arithmetic of one kernel
  rooflint run.csv --what-if 'H200 SXM 141GB' estimate times on another GPU
  rooflint inspect run.csv                    show what an export contains
  rooflint predict axpy n=16M --device L4     estimate without a profile
  rooflint learn -o learn.html                open the tutorial

Record an export:
  ncu --set full -o report APP
  ncu --import report.ncu-rep --csv --page raw --print-units base > run.csv

Exit codes:
  0 done · 1 gate failed · 2 usage, configuration or device error
  3 input unreadable or without kernels · 4 inconclusive

Configuration:
  the nearest rooflint.toml, here or in a folder above; or --config FILE";

/// How fast each GPU kernel could run, and how much time you can save.
///
/// Reads profiler exports (Nsight Compute, PyProf, or any CSV through a mapping), compares each kernel
/// with the roofline of its GPU, and ranks optimization opportunities.
#[derive(Debug, Parser)]
#[command(name = "rooflint", version, override_usage = "rooflint FILE...\n       rooflint COMMAND [OPTIONS]", after_long_help = EXAMPLES, after_help = "Try `rooflint demo`; --help shows examples and exit codes.", arg_required_else_help = true, max_term_width = 80)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,

    #[command(flatten)]
    pub(super) terminal: args::Terminal,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    #[command(alias = "analyse")]
    Analyze(analyze::Analyze),
    Inspect(inspect::Inspect),
    Convert(convert::Convert),
    Predict(predict::Predict),
    Gate(gate::Gate),
    Diff(gate::Diff),
    Calibrate(calibrate::Calibrate),
    Baseline(baseline::Baseline),
    Trend(trend::Trend),
    #[cfg(feature = "page")]
    Learn(learn::Learn),
    Devices(devices::Devices),
    Formats(formats::Formats),
    Rules(rules::Rules),
    Demo(analyze::Demo),
    Schema(schema::Schema),
}

impl Command {
    pub(super) fn run(&self, terminal: &Terminal) -> Result<(), Failure> {
        match self {
            Self::Analyze(command) => analyze::files(command, terminal),
            Self::Inspect(command) => inspect::run(command, terminal),
            Self::Convert(command) => convert::run(command, terminal),
            Self::Predict(command) => predict::run(command, terminal),
            Self::Gate(command) => gate::gate(command, terminal),
            Self::Diff(command) => gate::diff(command, terminal),
            Self::Calibrate(command) => calibrate::run(command, terminal),
            Self::Baseline(command) => baseline::run(command, terminal),
            Self::Trend(command) => trend::run(command, terminal),
            #[cfg(feature = "page")]
            Self::Learn(command) => learn::run(command, terminal),
            Self::Devices(command) => devices::run(command, terminal),
            Self::Formats(command) => formats::run(command, terminal),
            Self::Rules(command) => rules::run(command, terminal),
            Self::Demo(command) => analyze::demo(command, terminal),
            Self::Schema(command) => schema::run(command, terminal),
        }
    }
}
