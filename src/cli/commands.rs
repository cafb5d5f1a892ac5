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
  rooflint demo                                    a report on a sample profile
  rooflint run.csv                                 analyze an export; `analyze` may be left out
  rooflint run.csv --device 'A100 SXM4 80GB'       where the export does not name the GPU
  rooflint run.csv -o report.html                  one interactive page, for a browser
  rooflint ranks/ -o report.json -o report.md -o - one report of all ranks, in three formats
  rooflint run.csv --kernel '#1' --explain         the arithmetic of the first kernel
  rooflint run.csv --what-if 'H200 SXM 141GB'      the same kernels on another GPU
  rooflint inspect run.csv                         what is in an export, and what is missing
  rooflint predict axpy n=16M --device L4          what a kernel should take, without a profile
  rooflint learn -o learn.html                     the model to try: a page with a bench and four cases

How to get an export:
  ncu --set full -o report APP
  ncu --import report.ncu-rep --csv --page raw --print-units base > run.csv

Exit codes:
  0 done · 1 a gate failed · 2 usage, configuration or device error
  3 the input could not be read or holds no kernel · 4 inconclusive";

/// How long each GPU kernel should have taken, and what can be won.
///
/// Reads a profiler's export (Nsight Compute, PyProf, or any CSV through a mapping), compares every
/// kernel with the roofline of its device, and ranks the opportunities.
#[derive(Debug, Parser)]
#[command(name = "rooflint", version, override_usage = "rooflint FILE...\n       rooflint COMMAND [OPTIONS]", after_long_help = EXAMPLES, after_help = "Try `rooflint demo`, or --help for examples and exit codes.", arg_required_else_help = true, max_term_width = 100)]
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
    /// What can be read, and how to produce it
    Formats,
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
            Self::Formats => formats::run(terminal),
            Self::Rules(command) => rules::run(command, terminal),
            Self::Demo(command) => analyze::demo(command, terminal),
            Self::Schema(command) => schema::run(command, terminal),
        }
    }
}
