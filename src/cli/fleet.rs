//! `fleet`: the ranks of a training job, read from a partitioned launch table or from partials.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::PossibleValuesParser;

use super::args::{Advice, Ceilings, Model};
use super::exit::Failure;
use super::terminal::Terminal;
use super::{config, output, reading, session};
use crate::analysis::{Options, Totals};
use crate::catalog::Catalog;
use crate::fleet::{self, Gathered, Layout, PositionsFrom};
use crate::report::{FORMATS, FleetReport, NO_OWN, Style};

/// Compare the ranks of a training job
#[derive(Debug, Args)]
pub(super) struct Fleet {
    /// A folder of partitions, as `convert -o FOLDER/` writes it; or summaries, as `summarize` and `merge` write
    /// them
    #[arg(value_name = "FOLDER|FILE", required_unless_present = "files_from")]
    files: Vec<PathBuf>,

    /// Read the names of more summaries from this file, one per line; `-` is standard input
    #[arg(long, value_name = "FILE")]
    files_from: Option<PathBuf>,

    /// Number of threads; 0: one per core. Results do not depend on it
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    threads: usize,

    /// Axes of parallelism, the fastest first, such as `tensor=8,pipeline=4,data=32` [default: the positions in file
    /// names]
    #[arg(long, value_name = "AXES", value_delimiter = ',', value_parser = axis)]
    axes: Vec<(String, u64)>,

    /// Position of each rank on the axes of parallelism: a CSV file with the column `rank` and one for each axis
    #[arg(long, value_name = "FILE", conflicts_with = "axes")]
    layout: Option<PathBuf>,

    /// Price of an hour of one GPU, to show savings as money
    #[arg(long, value_name = "PRICE", allow_negative_numbers = true, value_parser = price)]
    price: Option<f64>,

    /// Rows in the tables [default: 10 on a terminal, all elsewhere]
    #[arg(long, value_name = "N")]
    top: Option<usize>,

    #[command(flatten)]
    model: Model,
    #[command(flatten)]
    advice: Advice,

    /// Set the format of standard output
    #[arg(long, value_name = "FORMAT", help_heading = "Output", value_parser = PossibleValuesParser::new(FORMATS.iter().map(|format| format.name)))]
    format: Option<String>,

    #[arg(
        short = 'o',
        long = "output",
        value_name = "[FORMAT=]PATH",
        help_heading = "Output",
        help = output::help(NO_OWN, ", .parquet") + "; a folder (`tables/`) gets kernels.parquet and ranks.parquet"
    )]
    paths: Vec<PathBuf>,
}

fn axis(text: &str) -> Result<(String, u64), String> {
    let wrong = || "not an axis; write NAME=SIZE, such as tensor=8".to_owned();
    let (name, size) = text.split_once('=').ok_or_else(wrong)?;
    let size = size.trim().parse().ok().filter(|size| (1..=1_000_000).contains(size));
    let name = Some(name.trim()).filter(|name| !name.is_empty()).ok_or_else(wrong)?;
    Ok((name.to_owned(), size.ok_or_else(wrong)?))
}

fn price(text: &str) -> Result<f64, String> {
    let price = text.trim().parse::<f64>().ok().filter(|price| (0.0..1e9).contains(price));
    price.ok_or_else(|| "not a price; write a number such as 2.50".to_owned())
}

pub(super) fn run(command: &Fleet, terminal: &Terminal) -> Result<(), Failure> {
    let is_folder = |path: &&PathBuf| output::is_folder(path);
    let folders: Vec<&PathBuf> = command.paths.iter().filter(is_folder).collect();
    let files: Vec<PathBuf> =
        command.paths.iter().filter(|path| !is_folder(path)).cloned().collect();
    let asked = (&*files, command.format.as_deref());
    let mut places = output::places_or_parquet(asked, "report format").map_err(|failure| {
        // A folder that is not there yet is one by its last letter.
        let bare = files.iter().find(|path| path.extension().is_none());
        match bare {
            Some(path) => failure.help(format!(
                "for a folder of tables end its path with a slash, -o {}/; a file needs the ending of a format, such as .html or .parquet",
                path.display()
            )),
            None => failure,
        }
    })?;
    if files.is_empty() && !folders.is_empty() {
        // What goes to a folder goes nowhere else.
        places.clear();
    }
    let session = session::new(&command.model, config::load(&command.advice, terminal)?)?;
    let options = &session.options;
    let mut gathered = gather(command, &session.catalog, options)?;
    let mut positions_from = gathered
        .ranks
        .iter()
        .any(|rank| !rank.positions.is_empty())
        .then_some(PositionsFrom::Names);
    if !command.axes.is_empty() {
        fleet::place(&mut gathered.ranks, &command.axes).map_err(|error| {
            Failure::usage(error)
                .help("the sizes multiply to the number of ranks, as --axes tensor=8,data=4 for 32")
        })?;
        positions_from = Some(PositionsFrom::Sizes);
    }
    if let Some(layout) = &command.layout {
        let missing = Layout::read(layout)?.place(&mut gathered.ranks)?;
        gathered.notes.extend(missing);
        positions_from = Some(PositionsFrom::Layout);
    }
    let Gathered { partial, ranks, mut notes, .. } = gathered;
    let (imbalances, unplaced) = fleet::imbalances(&ranks);
    notes.extend(unplaced);
    let concluded = partial.conclude(options);
    let judged = session.explain(&concluded.profile, concluded.analysis);
    let stragglers = fleet::stragglers(&ranks);
    notes.extend(untimed(&judged.analysis.totals));
    notes.extend(judged.caveats());
    let report = FleetReport {
        analysis: &judged.analysis,
        findings: &judged.findings,
        spread: &concluded.spread,
        ranks: &ranks,
        stragglers: &stragglers,
        imbalances: &imbalances,
        positions_from,
        notes: &notes,
        price: command.price,
        top: command.top,
    };
    let style = |style: Style, _: &Path| style;
    output::write_or_table(&places, &report, style, terminal, || report.kernel_table())?;
    for folder in folders {
        std::fs::create_dir_all(folder)
            .map_err(|cause| Failure::Output { path: folder.display().to_string(), cause })?;
        for (name, table) in [("kernels", report.kernel_table()), ("ranks", report.rank_table())] {
            let path = folder.join(format!("{name}.parquet"));
            terminal.write(&path, &output::parquet(&table)?)?;
        }
    }
    Ok(())
}

fn gather(command: &Fleet, catalog: &Catalog, options: &Options) -> Result<Gathered, Failure> {
    let mut files = command.files.clone();
    match (files.as_slice(), &command.files_from) {
        ([folder], None) if folder.is_dir() && fleet::partial_files(&files).is_err() => {
            scan(folder, catalog, options, command.threads)
        }
        (_, from) => {
            files.extend(reading::listed(from.as_deref())?);
            let files = fleet::partial_files(&files)?;
            let mut gathered = fleet::merge_partials(&files, catalog, options, command.threads)?;
            gathered.notes.extend(settled(&command.model));
            Ok(gathered)
        }
    }
}

#[cfg(feature = "frames")]
fn scan(
    folder: &Path,
    catalog: &Catalog,
    options: &Options,
    threads: usize,
) -> Result<Gathered, Failure> {
    Ok(fleet::scan(folder, catalog, options, threads)?)
}

#[cfg(not(feature = "frames"))]
fn scan(folder: &Path, _: &Catalog, _: &Options, _: usize) -> Result<Gathered, Failure> {
    let message = format!("{}: this build has no Parquet", folder.display());
    Err(Failure::usage(message).help("build with the feature `frames`, or give summaries"))
}

/// Says that summaries keep their roofs, where others are asked for, on the command line or by a variable.
fn settled(model: &Model) -> Option<String> {
    let asked = [
        model.roofs.device.is_some().then_some("--device"),
        (model.roofs.ceilings != Ceilings::Auto).then_some("--ceilings"),
    ];
    let asked: Vec<&str> = asked.into_iter().flatten().collect();
    (!asked.is_empty()).then(|| {
        let (change, them) = if asked.len() > 1 { ("change", "them") } else { ("changes", "it") };
        format!(
            "{} {change} no summary, which has the roofs it was made with: give {them} to `summarize`, or read the \
             launch table of the ranks",
            asked.join(" and ")
        )
    })
}

/// Says how many launches are in no time, by which ranks are compared.
fn untimed(totals: &Totals) -> Option<String> {
    let missing = totals.launches.saturating_sub(totals.timed_launches);
    (missing > 0).then(|| {
        format!(
            "{missing} of {} launches have no duration and are in no time: a rank that lacks some looks \
             faster than it is",
            totals.launches
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_without_a_duration_are_counted() {
        let of =
            |timed_launches| untimed(&Totals { launches: 50, timed_launches, ..Totals::default() });
        assert!(of(35).unwrap().starts_with("15 of 50 launches have no duration"));
        assert_eq!(of(50), None);
    }
}
