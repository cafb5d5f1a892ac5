//! The commands: their names, and the help above them.

use clap::{Parser, Subcommand};

use super::args;
use super::environment::Variable;
#[cfg(feature = "page")]
use super::learn;
use super::{
    analyze, baseline, calibrate, completions, convert, devices, fleet, formats, gate, inspect,
    man, predict, rules, schema, settings, sql, summarize, trend,
};

const EXAMPLES: &str = "\
Examples:
  rooflint demo                               analyze the built-in sample
  rooflint run.csv                            analyze an export
  rooflint run.csv --device 'A100 SXM4 80GB'  set the GPU if it is not named
  rooflint run.csv -o report.html             write an interactive page
  rooflint ranks/ -o all.json -o all.md -o -  report all ranks in three formats
  rooflint run.csv --kernel '#1' --explain    show the arithmetic of one kernel
  rooflint run.csv --what-if L40S             estimate times on another GPU
  rooflint inspect run.csv                    show what an export contains
  rooflint predict axpy n=16M --device L4     estimate without a profile
  rooflint learn -o learn.html                open the tutorial

Record an export:
  ncu --set full -o report APP
  ncu --import report.ncu-rep --csv --page raw --print-units base > run.csv

Exit codes:
  0  done
  1  gate failed
  2  usage, configuration or device error
  3  input unreadable or without kernels
  4  inconclusive

Configuration:
  the nearest rooflint.toml, .rooflint.toml or pyproject.toml, here or in a
  folder above; or --config FILE. ROOFLINT_DEVICE and other variables set
  options: `rooflint config show`";

const MCP_EXAMPLES: &str = "\
Examples:
  rooflint mcp                                serve a client on standard input
  claude mcp add rooflint -- rooflint mcp     register it with a client

Tools: analyze, explain, compare, predict, devices. It reads the files that a call
names, and the configuration as every command does; it writes no file and starts
no program. See docs/assistants.md.";

/// How fast each GPU kernel could run, and how much time you can save.
///
/// Reads profiler exports (Nsight Compute and Nsight Systems, the PyTorch profiler, PyProf, rocprof and others, any CSV
/// through a mapping), compares each kernel with the roofline of its GPU, and ranks optimization opportunities.
#[derive(Debug, Parser)]
#[command(name = "rooflint", version, override_usage = "rooflint FILE...\n       rooflint COMMAND [OPTIONS]", after_long_help = EXAMPLES, after_help = "Try `rooflint demo`; --help shows examples and exit codes.", arg_required_else_help = true, max_term_width = 80)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,

    #[command(flatten)]
    pub(super) terminal: args::Terminal,

    /// The variables that set options.
    #[arg(skip)]
    pub(super) environment: Vec<Variable>,
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
    Fleet(fleet::Fleet),
    Summarize(summarize::Summarize),
    Merge(summarize::Merge),
    #[cfg(feature = "page")]
    Learn(learn::Learn),
    Devices(devices::Devices),
    Formats(formats::Formats),
    Rules(rules::Rules),
    Demo(analyze::Demo),
    Config(settings::Settings),
    Schema(schema::Schema),
    Sql(sql::Sql),
    Completions(completions::Completions),
    Man(man::Man),
    /// Serve analyze, explain, compare, predict and devices to assistants (MCP)
    #[command(after_long_help = MCP_EXAMPLES)]
    Mcp,
}
