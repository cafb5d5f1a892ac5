//! The command line: commands, options, help.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};

use super::output::Outputs;
use crate::analysis::CeilingSet;
use crate::config;
use crate::ingest::FORMATS;
use crate::model::Pipe;
#[cfg(feature = "plot")]
use crate::report::Subject;
use crate::rules::Over;
use crate::units::Seconds;

const EXAMPLES: &str = "\
Examples:
  rooflint demo                                    a report on a sample profile
  rooflint run.csv                                 analyse an export; `analyze` may be left out
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
    pub(super) terminal: Terminal,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Terminal")]
pub(super) struct Terminal {
    /// Colours; `auto` follows the terminal, `NO_COLOR`, `FORCE_COLOR`, `CLICOLOR` and `CLICOLOR_FORCE`
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_short_help = true
    )]
    pub(super) color: Color,

    /// Only ASCII characters
    #[arg(long, global = true, hide_short_help = true)]
    pub(super) ascii: bool,

    /// Columns to fit the text into, instead of the terminal's width
    #[arg(long, global = true, value_name = "COLUMNS", value_parser = clap::value_parser!(u16).range(40..), hide_short_help = true)]
    pub(super) width: Option<u16>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Compare every kernel with its roofline and rank what can be won
    #[command(visible_alias = "analyse")]
    Analyze(Analyze),
    /// What an export is, what is in it, and the command that would supply what is missing
    Inspect(Inspect),
    /// Write the canonical launch table: one row per launch, units in the column names
    Convert(Convert),
    /// What a kernel should take on a device, before there is a profile
    Predict(Predict),
    Gate(super::gate::Gate),
    Diff(super::gate::Diff),
    Calibrate(super::calibrate::Calibrate),
    Baseline(super::baseline::Baseline),
    Trend(super::trend::Trend),
    /// Write a page that teaches the roofline model, with hardware and kernel to vary
    #[cfg(feature = "page")]
    Learn(Learn),
    /// The catalogue of devices, or one of them with every figure and its source
    Devices(Devices),
    /// What can be read, and how to produce it
    Formats,
    /// The rules that look for causes, or one of them in full
    Rules(Rules),
    /// Analyse a sample profile that is carried in the program
    Demo(Demo),
    /// Print the JSON schema of the report, of predictions or of the configuration
    Schema(Schema),
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Reading")]
pub(super) struct Reading {
    /// Exports: files, directories, patterns, `-` for standard input
    #[arg(value_name = "FILE", required = true)]
    pub(super) files: Vec<PathBuf>,

    /// Read as this format, whatever the content looks like
    #[arg(long, value_name = "FORMAT", value_parser = PossibleValuesParser::new(FORMATS.iter().map(|format| format.name)), conflicts_with = "map")]
    pub(super) from: Option<String>,

    /// Read as a CSV whose columns this TOML file names
    #[arg(long, value_name = "MAPPING")]
    pub(super) map: Option<PathBuf>,

    /// Stop at the first record that cannot be used, instead of counting it
    #[arg(long)]
    pub(super) strict: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Model")]
pub(super) struct Model {
    /// The GPU, where the export does not name it (or to overrule it)
    #[arg(long, value_name = "NAME")]
    pub(super) device: Option<String>,

    /// Your own devices, in a TOML file
    #[arg(long, value_name = "FILE")]
    pub(super) devices: Vec<PathBuf>,

    /// Which roofs to compare with; `auto` takes the measured clock if every launch has it
    #[arg(long, value_name = "SET", default_value = "auto")]
    pub(super) ceilings: Ceilings,

    /// Headroom from which a kernel is an opportunity [default: 2.0 for spec, else 1.5]
    #[arg(long, value_name = "H", value_parser = threshold)]
    pub(super) threshold: Option<f64>,

    /// Smallest time to win that makes an opportunity, beside the share
    /// [default: 50us, and at most 5 % of the run]
    #[arg(long, value_name = "TIME", value_parser = config::time)]
    pub(super) min_win: Option<Seconds>,

    /// Share of the run below which a win is noise [default: 0.01]
    #[arg(long, value_name = "SHARE", value_parser = min_share)]
    pub(super) min_share: Option<f64>,
}

fn threshold(text: &str) -> Result<f64, String> {
    config::threshold(text.parse().map_err(|_| "not a number".to_owned())?)
}

fn min_share(text: &str) -> Result<f64, String> {
    config::min_share(text.parse().map_err(|_| "not a number".to_owned())?)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Ceilings {
    /// Measured clock if every launch has it, else the datasheet
    Auto,
    /// Datasheet peaks at the rated boost clock
    Spec,
    /// Peaks at the clock each launch ran at
    MeasuredClock,
    /// What published benchmarks reach
    Achievable,
}

impl Ceilings {
    pub(super) fn set(self) -> Option<CeilingSet> {
        match self {
            Self::Auto => None,
            Self::Spec => Some(CeilingSet::Spec),
            Self::MeasuredClock => Some(CeilingSet::MeasuredClock),
            Self::Achievable => Some(CeilingSet::Achievable),
        }
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Rules")]
pub(super) struct Configuration {
    /// Rules, limits, groups, waivers and kernel names of your own [default: rooflint.toml here or in a folder above]
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,

    /// Read no configuration
    #[arg(long, conflicts_with = "config")]
    pub(super) no_config: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Rules")]
pub(super) struct Advice {
    #[command(flatten)]
    pub(super) configuration: Configuration,

    /// Run only these rules, separated by commas
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub(super) select: Vec<String>,

    /// Leave out these rules, separated by commas
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub(super) ignore: Vec<String>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct Out {
    #[command(flatten)]
    pub(super) outputs: Outputs,

    /// Kernels shown in tables
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(super) top: usize,

    /// Kernel names as the profiler wrote them
    #[arg(long)]
    pub(super) full_names: bool,

    /// Only these kernels: a whole name, a pattern with `*`, or `#2` for the second
    #[arg(long, value_name = "NAME")]
    pub(super) kernel: Option<String>,

    /// Print the arithmetic of the chosen kernels (the first one if none is chosen)
    #[arg(long)]
    pub(super) explain: bool,

    /// What the kernels would take on other GPUs, or as `tensor-cores`, `bf16`, `fused` with their
    /// neighbour, or with the traffic of a closed form (with --kernel)
    #[arg(long, value_name = "CHANGE", conflicts_with = "explain", help_heading = "Model")]
    pub(super) what_if: Vec<String>,

    /// What a picture (`-o FILE.svg`, `-o FILE.png`) shows: the roofline, or bars of time
    #[cfg(feature = "plot")]
    #[arg(long, value_name = "SUBJECT", default_value = "roofline", value_parser = subjects(), help_heading = "Pictures", hide_short_help = true)]
    pub(super) figure: Subject,

    #[command(flatten)]
    pub(super) picture: Picture,
}

#[derive(Debug, Args)]
pub(super) struct Analyze {
    #[command(flatten)]
    pub(super) reading: Reading,
    /// An earlier run, whose kernels are drawn beside those of this one; may be given several times
    #[cfg(feature = "plot")]
    #[arg(long, value_name = "FILE", help_heading = "Pictures", hide_short_help = true)]
    pub(super) baseline: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) model: Model,
    #[command(flatten)]
    pub(super) advice: Advice,
    #[command(flatten)]
    pub(super) output: Out,
}

#[derive(Debug, Args)]
pub(super) struct Demo {
    #[command(flatten)]
    pub(super) model: Model,
    #[command(flatten)]
    pub(super) advice: Advice,
    #[command(flatten)]
    pub(super) output: Out,
}

#[derive(Debug, Args)]
pub(super) struct Inspect {
    #[command(flatten)]
    pub(super) reading: Reading,

    /// Your own devices, in a TOML file
    #[arg(long, value_name = "FILE")]
    pub(super) devices: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) outputs: Outputs,
}

#[derive(Debug, Args)]
pub(super) struct Convert {
    #[command(flatten)]
    pub(super) reading: Reading,

    /// Where to write: .parquet, .csv or .json, or as FORMAT=PATH; may be given several times, `-` is
    /// standard output
    #[arg(short = 'o', long = "output", value_name = "[FORMAT=]PATH", required = true)]
    pub(super) paths: Vec<PathBuf>,
}

const PREDICT_EXAMPLES: &str = "\
Examples:
  rooflint predict --list                         every kernel with its sizes
  rooflint predict --list gemm                    one of them: parameters, derivation
  rooflint predict axpy n=16M --device 'A100 SXM4 80GB'
  rooflint predict gemm m=4096 n=4096 k=4096 dtype=bf16 --device 'H100 SXM5 80GB,H200 SXM 141GB'
  rooflint predict linear batch=1..4Ki:x2 in=4096 out=4096 --device L4
  rooflint predict --model step.toml sequence=4096 --device L4

Sizes are 4096, 1M (10^6), 64Ki (64*1024), 2^20, 8*2048. Up to two keys may take several values:
n=1k..64k:log, n=1k..64k:x2, n=128..4096:+128, n=1k,2k,4k, dtype=fp32,fp16.";

/// What a kernel should take on a device, before there is a profile
///
/// Counts the operations of a kernel and the bytes it must move from its sizes, and holds both
/// against the roofs of devices: times, ridge point, limiter, tiles, and where a sweep of sizes
/// crosses the ridge point.
#[derive(Debug, Args)]
#[command(override_usage = "rooflint predict KERNEL KEY=VALUE... --device NAME[,NAME...]\n       rooflint predict --model FILE [SIZE=VALUE...] --device NAME[,NAME...]\n       rooflint predict --list [KERNEL]", after_long_help = PREDICT_EXAMPLES, arg_required_else_help = true)]
pub(super) struct Predict {
    /// A kernel and its sizes, such as `gemm m=4096 n=4096 k=4096`; sizes only with --model
    #[arg(value_name = "KERNEL KEY=VALUE")]
    pub(super) call: Vec<String>,

    /// Every kernel, or one with its parameters and how it is counted
    #[arg(long, conflicts_with_all = ["model", "device", "dtype", "pipe", "engine", "launch"])]
    pub(super) list: bool,

    /// A step as a list of kernels with shapes and counts, in a TOML file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["dtype", "launch"])]
    pub(super) model: Option<PathBuf>,

    /// The GPUs, separated by commas
    #[arg(long, value_name = "NAME")]
    pub(super) device: Vec<String>,

    /// Your own devices, in a TOML file
    #[arg(long, value_name = "FILE")]
    pub(super) devices: Vec<PathBuf>,

    /// Format of the operands, as `dtype=`: fp64, fp32, tf32, fp16, bf16, fp8, int8 and others
    #[arg(long, value_name = "FORMAT")]
    pub(super) dtype: Option<String>,

    /// Executes the main operations, whatever their format, such as `bf16_matrix`
    #[arg(long, value_name = "PIPE", hide_possible_values = true, value_parser = PossibleValuesParser::new(Pipe::ALL.iter().map(|pipe| pipe.key())))]
    pub(super) pipe: Option<String>,

    /// Matrix or vector units for products of matrices, instead of what the format decides
    #[arg(long, value_name = "UNITS")]
    pub(super) engine: Option<Units>,

    /// The launch, where it is known; too few or too small blocks make latency the limiter
    #[arg(long, value_name = "BLOCKSxTHREADS")]
    pub(super) launch: Option<String>,

    #[command(flatten)]
    pub(super) outputs: Outputs,

    #[command(flatten)]
    pub(super) picture: Picture,
}

/// How pictures look.
#[derive(Debug, Args)]
#[command(next_help_heading = "Pictures")]
pub(super) struct Picture {
    /// Size of pictures, in pixels [default: 960x640]
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = size, hide_short_help = true)]
    pub(super) size: Option<(u32, u32)>,

    /// Light or dark ground of pictures
    #[arg(long, value_name = "THEME", default_value = "light", hide_short_help = true)]
    pub(super) theme: Theme,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Theme {
    Light,
    Dark,
}

#[cfg(feature = "plot")]
impl Picture {
    /// The canvas that is asked for.
    pub(super) fn canvas(&self) -> crate::report::Canvas {
        let default = crate::report::Canvas::default();
        let (width, height) = self.size.unwrap_or((default.width, default.height));
        crate::report::Canvas { width, height, dark: self.theme == Theme::Dark }
    }
}

#[cfg(feature = "plot")]
fn subjects() -> impl clap::builder::TypedValueParser<Value = Subject> {
    use clap::builder::TypedValueParser;
    let names = PossibleValuesParser::new(Subject::ALL.map(Subject::name));
    // The parser lets only their names through.
    names.map(|name| Subject::from_name(&name).unwrap_or_default())
}

/// A size such as `960x640`.
fn size(text: &str) -> Result<(u32, u32), String> {
    let sides = text.split_once(['x', '×']).and_then(|(width, height)| {
        Some((width.trim().parse().ok()?, height.trim().parse().ok()?))
    });
    let fits = |side: &u32| (240..=8192).contains(side);
    match sides {
        Some((width, height)) if fits(&width) && fits(&height) => Ok((width, height)),
        Some(_) => Err("each side is 240 to 8192 pixels".to_owned()),
        None => Err("write for example 960x640".to_owned()),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Units {
    Matrix,
    Vector,
}

/// Write a page that teaches the roofline model
///
/// Data moves through the memory bus into the processor, for any device of the catalogue and any
/// kernel: memory-bound, balanced, math-bound, too little parallelism. The page needs nothing but a
/// browser.
#[cfg(feature = "page")]
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  rooflint learn -o learn.html
  rooflint learn -o learn.html --device 'RTX 4090'
  rooflint learn -o - > learn.html")]
pub(super) struct Learn {
    /// Where to write: a file that ends in .html, or `-` for standard output
    #[arg(short = 'o', long = "output", value_name = "PATH")]
    pub(super) path: Option<PathBuf>,

    /// The GPU to begin with
    #[arg(long, value_name = "NAME", default_value = "H100 SXM5 80GB")]
    pub(super) device: String,

    /// Your own devices, in a TOML file
    #[arg(long, value_name = "FILE")]
    pub(super) devices: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct Devices {
    /// One device, by any of its names
    pub(super) name: Option<String>,

    /// Your own devices, in a TOML file
    #[arg(long = "devices", value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) outputs: Outputs,
}

#[derive(Debug, Args)]
pub(super) struct Rules {
    /// One rule, by its name
    pub(super) id: Option<String>,

    /// What the conditions of custom rules can ask of kernels or launches
    #[arg(long, value_name = "OVER", num_args = 0..=1, default_missing_value = "kernels", value_parser = PossibleValuesParser::new(Over::ALL.map(Over::key)), conflicts_with = "id")]
    pub(super) columns: Option<String>,

    #[command(flatten)]
    pub(super) configuration: Configuration,

    #[command(flatten)]
    pub(super) outputs: Outputs,
}

#[derive(Debug, Args)]
pub(super) struct Schema {
    /// Of which document
    #[arg(value_name = "DOCUMENT", default_value = "report")]
    pub(super) document: Document,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Document {
    /// `analyze … --format json`
    Report,
    /// `predict KERNEL … --format json`
    Prediction,
    /// `predict --model FILE … --format json`
    StepPrediction,
    /// `gate` and `diff`, as JSON
    Gate,
    /// `rooflint.toml`
    Config,
}
