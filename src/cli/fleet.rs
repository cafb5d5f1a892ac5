//! `fleet`: the ranks of a training job, read from a partitioned launch table or from partials.

use std::path::PathBuf;

use clap::Args;

use super::args::{Advice, Model};
use super::exit::Failure;
use super::output::{self, Outputs};
use super::terminal::Terminal;
use super::{config, session};
use crate::fleet::{self, Gathered};
use crate::report::{FleetReport, Style};

/// Rows of tables where nobody asks for another number.
const ROWS: usize = 10;

/// Compare the ranks of a job, from a folder of partitions or from summaries
#[derive(Debug, Args)]
pub(super) struct Fleet {
    /// A folder of partitions, as `convert -o FOLDER/` writes it; or summaries, as `summarize` and `merge` write
    /// them
    #[arg(value_name = "FOLDER|FILE", required = true)]
    files: Vec<PathBuf>,

    /// Number of threads; 0: one per core. Results do not depend on it
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    threads: usize,

    /// Axes of parallelism, the fastest first, such as `tensor=8,pipeline=4,data=32`
    #[arg(long, value_name = "AXES", value_delimiter = ',', value_parser = axis)]
    axes: Vec<(String, u64)>,

    /// Price of an hour of one GPU, to show savings as money
    #[arg(long, value_name = "PRICE", value_parser = price)]
    price: Option<f64>,

    /// Rows in the tables [default: 10]
    #[arg(long, value_name = "N", default_value_t = ROWS, hide_default_value = true)]
    top: usize,

    #[command(flatten)]
    model: Model,
    #[command(flatten)]
    advice: Advice,
    #[command(flatten)]
    outputs: Outputs,
}

fn axis(text: &str) -> Result<(String, u64), String> {
    let wrong = || "not an axis; write NAME=SIZE, such as tensor=8".to_owned();
    let (name, size) = text.split_once('=').ok_or_else(wrong)?;
    let size = size.trim().parse().ok().filter(|size| (1..=1_000_000).contains(size));
    Ok((name.trim().to_owned(), size.ok_or_else(wrong)?))
}

fn price(text: &str) -> Result<f64, String> {
    let price = text.trim().parse::<f64>().ok().filter(|price| (0.0..1e9).contains(price));
    price.ok_or_else(|| "not a price; write a number such as 2.50".to_owned())
}

pub(super) fn run(command: &Fleet, terminal: &Terminal) -> Result<(), Failure> {
    let places = command.outputs.places("report format")?;
    let session = session::new(&command.model, config::load(&command.advice, terminal)?)?;
    let (catalog, options) = (&session.catalog, &session.options);
    let Gathered { partial, ranks, notes, .. } = match command.files.as_slice() {
        [folder] if folder.is_dir() && fleet::partial_files(&command.files).is_err() => {
            fleet::scan(folder, catalog, options, command.threads)?
        }
        files => fleet::merge_partials(&fleet::partial_files(files)?, catalog, options)?,
    };
    let imbalances = if command.axes.is_empty() {
        Vec::new()
    } else {
        fleet::imbalances(&ranks, &command.axes)
            .map_err(|error| Failure::usage(error).help("write them as --axes tensor=8,data=4"))?
    };
    let concluded = partial.conclude(options);
    let judged = session.explain(&concluded.profile, concluded.analysis);
    let stragglers = fleet::stragglers(&ranks);
    let report = FleetReport {
        analysis: &judged.analysis,
        spread: &concluded.spread,
        ranks: &ranks,
        stragglers: &stragglers,
        imbalances: &imbalances,
        notes: &notes,
        price: command.price,
        top: command.top,
    };
    output::write(&places, &report, |style: Style, _| style, terminal)
}
