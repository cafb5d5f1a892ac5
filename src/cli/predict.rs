//! `predict`: a kernel or a whole step on devices, before there is a profile; or what can be predicted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};

use super::args::Picture;
use super::catalog;
use super::exit::Failure;
use super::listing::Listing;
use super::output::{self, Kind, Outputs, Place};
use super::terminal::Terminal;
use crate::catalog::Device;
use crate::model::{Engine, Pipe};
use crate::predict::{
    Crossing, FORMS, Form, ModelFile, ModelPrediction, Options, Sweep, SweepTable, form,
};
use crate::report::Predicted;

/// What formats are called in messages.
pub(super) const WHAT: &str = "format of predictions";

const PREDICT_EXAMPLES: &str = "\
Examples:
  rooflint predict --list                    list kernels with their sizes
  rooflint predict --list gemm               show parameters and derivation
  rooflint predict axpy n=16M --device 'A100 SXM4 80GB'
  rooflint predict gemm m=8k n=8k k=8k dtype=bf16 --device 'H200 SXM 141GB'
  rooflint predict linear batch=1..4Ki:x2 in=4096 out=4096 --device L4
  rooflint predict --model step.toml sequence=4096 --device L4

Sizes are 4096, 1M (10^6), 64Ki (64*1024), 2^20, 8*2048. Up to two keys may take several values:
n=1k..64k:log, n=1k..64k:x2, n=128..4096:+128, n=1k,2k,4k, dtype=fp32,fp16.";

/// Estimate a kernel's time on a device without a profile
#[derive(Debug, Args)]
#[command(override_usage = "rooflint predict KERNEL KEY=VALUE... --device NAME[,NAME...]\n       rooflint predict --model FILE [SIZE=VALUE...] --device NAME[,NAME...]\n       rooflint predict --list [KERNEL]", after_long_help = PREDICT_EXAMPLES, arg_required_else_help = true)]
#[command(mut_arg("size", |size| size.help("Set the size of pictures in pixels, or their width alone [default: 960x640]")))]
pub(super) struct Predict {
    /// A kernel and its sizes, such as `gemm m=4096 n=4096 k=4096` (with --model: sizes)
    #[arg(value_name = "KERNEL KEY=VALUE")]
    call: Vec<String>,

    /// List kernels, or show one with its parameters and derivation
    #[arg(long, conflicts_with_all = ["model", "device", "dtype", "pipe", "engine", "launch"])]
    list: bool,

    /// Read a step from a TOML file: kernels with shapes and counts
    #[arg(long, value_name = "FILE", conflicts_with_all = ["dtype", "launch"])]
    model: Option<PathBuf>,

    /// Set the GPUs (comma-separated)
    #[arg(long, value_name = "NAME")]
    device: Vec<String>,

    /// Add devices from a TOML file
    #[arg(long, value_name = "FILE")]
    devices: Vec<PathBuf>,

    /// Set the operands' format, as `dtype=`: fp64, fp32, tf32, fp16, bf16, fp8, int8, …
    #[arg(long, value_name = "FORMAT")]
    dtype: Option<String>,

    /// Run the main operations on this pipe, such as `bf16_matrix`
    #[arg(long, value_name = "PIPE", hide_possible_values = true, value_parser = PossibleValuesParser::new(Pipe::ALL.iter().filter(|pipe| **pipe != Pipe::Unstated).map(|pipe| pipe.key())))]
    pipe: Option<String>,

    /// Use matrix or vector units for matrix products, whatever the format
    #[arg(long, value_name = "UNITS", conflicts_with = "pipe")]
    engine: Option<Units>,

    /// Set the grid; few or small blocks make latency the limiter
    #[arg(long, value_name = "BLOCKSxTHREADS")]
    launch: Option<String>,

    #[command(flatten)]
    outputs: Outputs<true>,

    #[command(flatten)]
    picture: Picture,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Units {
    Matrix,
    Vector,
}

pub(super) fn run(command: &Predict, terminal: &Terminal) -> Result<(), Failure> {
    if command.list {
        let places = command.outputs.places_of_text(WHAT, &command.picture.given())?;
        return listed(command)?.write(&places, terminal);
    }
    let places = command.outputs.places_or_pictures(WHAT, &command.picture.given())?;
    write(&estimate(command)?.predicted(), command, &places, terminal)
}

/// A prediction that outlives its command.
#[derive(Debug)]
pub(super) enum Estimate {
    Kernel { form: &'static Form, call: String, table: SweepTable, crossings: Vec<Crossing> },
    Step { sizes: BTreeMap<String, u64>, steps: Vec<ModelPrediction> },
}

impl Estimate {
    pub(super) fn predicted(&self) -> Predicted<'_> {
        match self {
            Self::Kernel { form, call, table, crossings } => {
                Predicted::Kernel { form, call, table, crossings }
            }
            Self::Step { sizes, steps } => Predicted::Step { sizes, steps },
        }
    }
}

/// What the command finds: a prediction, or what can be predicted.
#[derive(Debug)]
pub(super) enum Found {
    Estimate(Estimate),
    Listing(Listing),
}

/// Predicts, or lists what can be predicted, for another program; outputs are not looked at.
pub(super) fn found(command: &Predict) -> Result<Found, Failure> {
    if command.list {
        return Ok(Found::Listing(listed(command)?));
    }
    Ok(Found::Estimate(estimate(command)?))
}

/// Predicts what the command names.
fn estimate(command: &Predict) -> Result<Estimate, Failure> {
    match &command.model {
        Some(path) => step(command, path),
        None => kernel(command),
    }
}

fn kernel(command: &Predict) -> Result<Estimate, Failure> {
    let Some((name, given)) = command.call.split_first() else {
        return Err(Failure::usage("no kernel is named")
            .help("`rooflint predict --list` shows every kernel with its parameters"));
    };
    if name.contains('=') {
        return Err(Failure::usage(format!("{name:?} stands where the kernel's name belongs"))
            .help("write for example: rooflint predict gemm m=4096 n=4096 k=4096 --device L4"));
    }
    let form = form(name)?;
    let sweep = Sweep::parse(form, pairs(command, given)?)?;
    // A size that is missing is told before a device that is.
    let first: Vec<&str> = sweep.points().next().unwrap_or_default();
    sweep.arguments(&first)?;
    let options = options(command)?;
    let devices = devices(command)?;
    let table = sweep.table(&devices, &options)?;
    let mut crossings: Vec<Crossing> = Vec::new();
    for device in &devices {
        crossings.extend(sweep.crossings(device, &options)?);
    }
    let call: Vec<String> =
        std::iter::once(form.name.to_owned()).chain(pairs(command, given)?).collect();
    Ok(Estimate::Kernel { form, call: call.join(" "), table, crossings })
}

/// The arguments of the kernel; `--dtype` is one of them.
fn pairs(command: &Predict, given: &[String]) -> Result<Vec<String>, Failure> {
    let mut pairs = given.to_vec();
    if let Some(data_type) = &command.dtype {
        let is_given = |pair: &String| {
            pair.split_once('=').is_some_and(|(key, _)| key.trim().eq_ignore_ascii_case("dtype"))
        };
        if given.iter().any(is_given) {
            return Err(Failure::usage("--dtype and dtype= are both given")
                .help("they mean the same: leave one of them out"));
        }
        pairs.push(format!("dtype={data_type}"));
    }
    Ok(pairs)
}

fn step(command: &Predict, path: &Path) -> Result<Estimate, Failure> {
    let model = ModelFile::read(path)?.with_sizes(&command.call)?;
    let options = options(command)?;
    let mut steps = Vec::new();
    for device in devices(command)? {
        steps.push(model.predict(&device, &options)?);
    }
    Ok(Estimate::Step { sizes: model.sizes().clone(), steps })
}

#[cfg(feature = "plot")]
fn write(
    predicted: &Predicted<'_>,
    command: &Predict,
    places: &[Place<Kind>],
    terminal: &Terminal,
) -> Result<(), Failure> {
    let picture = |encoding| predicted.picture(&command.picture.canvas(), encoding);
    output::write_or_draw(places, predicted, |style, _| style, terminal, picture)
}

/// The options of pictures are understood, also where none can be drawn.
#[cfg(not(feature = "plot"))]
fn write(
    predicted: &Predicted<'_>,
    command: &Predict,
    places: &[Place<Kind>],
    terminal: &Terminal,
) -> Result<(), Failure> {
    let _ = &command.picture;
    output::write(places, predicted, |style, _| style, terminal)
}

fn devices(command: &Predict) -> Result<Vec<Device>, Failure> {
    let catalog = catalog::load(&command.devices)?;
    if command.device.is_empty() {
        return Err(Failure::usage("no device is named").help(
            "add --device 'H100 SXM5 80GB', or several separated by commas; `rooflint devices` \
             lists them",
        ));
    }
    super::what_if::devices(&command.device, &catalog)
}

fn options(command: &Predict) -> Result<Options, Failure> {
    let engine = command.engine.map(|units| match units {
        Units::Matrix => Engine::Matrix,
        Units::Vector => Engine::Vector,
    });
    Ok(Options {
        pipe: command.pipe.as_deref().and_then(Pipe::from_key),
        engine,
        grid: command.launch.as_deref().map(str::parse).transpose()?,
    })
}

/// Every kernel, or some in full.
fn listed(command: &Predict) -> Result<Listing, Failure> {
    if command.call.is_empty() {
        return Ok(Listing::Forms(FORMS.iter().collect()));
    }
    let chosen: Result<_, _> = command.call.iter().map(|name| form(name)).collect();
    Ok(Listing::FormPages(chosen?))
}
