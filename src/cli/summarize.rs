//! `summarize` and `merge`: the sums of ranks as small files that merge.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use super::args::{Configuration, Reading, Roofs, run_name};
use super::exit::Failure;
use super::terminal::Terminal;
use super::{catalog, config, reading, session};
use crate::analysis::{Options, RankId};
use crate::fleet::{self, positions_in, rank_in};

/// Sum up the launches of one rank in a small file
#[derive(Debug, Args)]
pub(super) struct Summarize {
    #[command(flatten)]
    reading: Reading,

    /// Write to this file; `-` is standard output
    #[arg(short = 'o', long = "output", value_name = "PATH", default_value = "-")]
    output: PathBuf,

    /// Name of the run
    #[arg(long, value_name = "NAME", default_value = "run", value_parser = run_name)]
    run: String,

    /// Number of the rank [default: that in the name of the first file or its folder]
    #[arg(long, value_name = "N")]
    rank: Option<u64>,

    #[command(flatten)]
    roofs: Roofs,
    #[command(flatten)]
    configuration: Configuration,
}

/// Merge summaries of ranks into one
#[derive(Debug, Args)]
pub(super) struct Merge {
    /// Summaries, or folders of files that end in .partial.json
    #[arg(value_name = "FILE", required_unless_present = "files_from")]
    files: Vec<PathBuf>,

    /// Read the names of more summaries from this file, one per line; `-` is standard input
    #[arg(long, value_name = "FILE")]
    files_from: Option<PathBuf>,

    /// Number of threads; 0: one per core. Results do not depend on it
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    threads: usize,

    /// Write to this file; `-` is standard output
    #[arg(short = 'o', long = "output", value_name = "PATH", default_value = "-")]
    output: PathBuf,

    /// Add devices from a TOML file
    #[arg(long, value_name = "FILE")]
    devices: Vec<PathBuf>,
}

pub(super) fn summarize(command: &Summarize, terminal: &Terminal) -> Result<(), Failure> {
    let config = config::find(&command.configuration, terminal)?;
    let session = session::roofs(&command.roofs, config)?;
    if command.rank.is_none() {
        one_rank(&reading::paths(&command.reading)?)?;
    }
    let first = command.reading.files.first().map_or_else(PathBuf::new, Clone::clone);
    let mut names = first.iter().rev().map(|name| name.to_string_lossy());
    let rank = command.rank.or_else(|| names.find_map(|name| rank_in(&name)));
    let rank = rank.ok_or_else(|| {
        Failure::usage(format!(
            "{}: no rank in the name of the file or its folder",
            first.display()
        ))
        .help("add --rank N")
    })?;
    let profile = reading::read_whole(&command.reading, terminal)?;
    let id = RankId { run: Arc::from(command.run.as_str()), rank };
    let mut gathered = fleet::summarize(&profile, id, &session.catalog, &session.options)?;
    for rank in &mut gathered.ranks {
        rank.positions = positions_in(&first);
    }
    terminal.stream(&command.output, |to| fleet::write_partial(&gathered, to))
}

/// Refuses files of several ranks: all would count as the first.
fn one_rank(files: &[PathBuf]) -> Result<(), Failure> {
    let of = |file: &PathBuf| {
        let mut names = file.iter().rev().map(|name| name.to_string_lossy());
        Some((names.find_map(|name| rank_in(&name))?, file.clone()))
    };
    let mut ranks = files.iter().filter_map(of);
    let Some((rank, first)) = ranks.next() else { return Ok(()) };
    let Some((other, file)) = ranks.find(|(other, _)| *other != rank) else { return Ok(()) };
    Err(Failure::usage(format!(
        "{}: of rank {other}, and {} of rank {rank}: a summary has one rank",
        file.display(),
        first.display()
    ))
    .help("summarize each rank by itself and merge the summaries, or add --rank N if all files are of one"))
}

pub(super) fn merge(command: &Merge, terminal: &Terminal) -> Result<(), Failure> {
    let catalog = catalog::load(&command.devices)?;
    let mut files = command.files.clone();
    files.extend(reading::listed(command.files_from.as_deref())?);
    let files = fleet::partial_files(&files)?;
    let gathered = fleet::merge_partials(&files, &catalog, &Options::default(), command.threads)?;
    terminal.stream(&command.output, |to| fleet::write_partial(&gathered, to))
}
