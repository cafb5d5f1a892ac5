//! `convert`: the canonical launch table as Parquet, CSV or JSON, or in partitions.

use std::path::{Path, PathBuf};

use clap::Args;

use super::args::{Configuration, Reading, run_name};
use super::exit::{Code, Failure};
use super::output::{self, Known, Place};
use super::reading::read_whole;
use super::terminal::Terminal;
use super::{config, environment, session};
use crate::plain;
use crate::table::Table;

/// Convert to a table with one row per launch (CSV, JSON, Parquet, or a folder of partitions)
#[derive(Debug, Args)]
pub(super) struct Convert {
    #[command(flatten)]
    reading: Reading,

    /// Write to a .parquet, .csv or .json file, or as FORMAT=PATH; repeatable; `-` is
    /// standard output. A folder (`launches/`) gets a part per rank: run=RUN/rank=N/part-00000.parquet
    #[arg(short = 'o', long = "output", value_name = "[FORMAT=]PATH", required = true)]
    paths: Vec<PathBuf>,

    /// Name of the run in a folder of partitions [default: run]
    #[arg(long, value_name = "NAME", value_parser = run_name)]
    run: Option<String>,

    /// Set the GPU of the ranks in a folder of partitions, if the exports do not name it or name it wrong
    #[arg(long, value_name = "NAME")]
    device: Option<String>,

    /// Add devices from a TOML file to those that a folder of partitions knows
    #[arg(long = "devices", value_name = "FILE")]
    devices: Vec<PathBuf>,

    #[command(flatten)]
    configuration: Configuration,
}

#[derive(Debug, Clone, Copy)]
enum Format {
    Csv,
    Json,
    Parquet,
}

/// Standard output gets CSV, the one that can be piped on.
const KNOWN: &[Known<Format>] = &[
    Known { name: "csv", endings: &["csv"], format: Format::Csv },
    Known { name: "json", endings: &["json"], format: Format::Json },
    Known { name: "parquet", endings: &["parquet"], format: Format::Parquet },
];

pub(super) fn run(command: &Convert, terminal: &Terminal) -> Result<(), Failure> {
    if let Some(folder) = command.paths.iter().find(|path| output::is_folder(path)) {
        return match command.paths.as_slice() {
            [_] => partitions(command, folder, terminal),
            _ => Err(Failure::usage(format!(
                "{}: a folder of partitions is written alone",
                folder.display()
            ))
            .help("run the command again for the other outputs")),
        };
    }
    if command.run.is_some() {
        return Err(Failure::usage("--run has no effect: no folder of partitions is written")
            .help("add -o FOLDER/, or leave it out"));
    }
    // What only partitions need may be set for all commands: it is checked, and left alone.
    let catalog = super::catalog::load(&command.devices)?;
    if let Some(name) = &command.device {
        session::known(&catalog, name)?;
    }
    if command.configuration.config.is_some() {
        config::find(&command.configuration, terminal)?;
    }
    for (option, is_given) in [
        ("device", command.device.is_some()),
        ("devices", !command.devices.is_empty()),
        ("config", command.configuration.config.is_some()),
    ] {
        if is_given && !environment::stands_for(option) {
            terminal.note(
                Code::Usage,
                &format!("--{option} has no effect on a launch table: give it to the command that reads the table"),
            );
        }
    }
    let places = output::places(&command.paths, None, KNOWN, "table format")
        .map_err(|failure| with_folder(failure, &command.paths))?;
    #[cfg(not(feature = "frames"))]
    if places.iter().any(|place| matches!(place.format, Format::Parquet)) {
        output::parquet(&Table::default())?;
    }
    let profile = read_whole(&command.reading, terminal)?;
    // A table as CSV has no place for them.
    for check in &profile.checks {
        terminal.note(Code::Input, check);
    }
    let table = Table::of(&profile);
    for Place { path, format } in places {
        match format {
            Format::Csv => terminal.stream(&path, |to| table.write_csv(to))?,
            Format::Json => terminal.stream(&path, |to| table.write_json(to))?,
            Format::Parquet => terminal.write(&path, &output::parquet(&table)?)?,
        }
    }
    Ok(())
}

/// The same failure, which names the way to a folder where it is about a name without an ending.
fn with_folder(failure: Failure, paths: &[PathBuf]) -> Failure {
    let Failure::Usage { message, help: Some(help) } = failure else { return failure };
    let is_meant = |path: &&PathBuf| {
        path.extension().is_none() && message.starts_with(&format!("{}: no ", path.display()))
    };
    let folder = paths.iter().find(is_meant).map(|path| {
        let folder = plain::quoted(&format!("{}/", path.display()));
        format!("{help}; for a partitioned table with a part per rank: -o {folder}")
    });
    let help = folder.unwrap_or(help);
    Failure::usage(message).help(help)
}

#[cfg(feature = "frames")]
fn partitions(command: &Convert, folder: &Path, terminal: &Terminal) -> Result<(), Failure> {
    use crate::fleet::Partitioning;
    use crate::history::Store;
    use crate::report::count;

    let catalog = super::catalog::load(&command.devices)?;
    if let Some(name) = &command.device {
        session::known(&catalog, name)?;
    }
    let taxonomy = session::taxonomy(&config::find(&command.configuration, terminal)?)?;
    let options = super::reading::options(&command.reading)?;
    let files = super::reading::rank_files(&command.reading)?;
    let partitioning = Partitioning {
        folder,
        run: command.run.as_deref().unwrap_or("run"),
        options: &options,
        catalog: &catalog,
        device: command.device.as_deref(),
        taxonomy: taxonomy.as_ref(),
    };
    if Store::is_store(folder) {
        let message = format!("{} is a store of baselines", folder.display());
        return Err(Failure::usage(message).help("give the launch table a folder of its own"));
    }
    let done = partitioning.write(&files)?;
    for note in &done.notes {
        terminal.note(Code::Input, note);
    }
    let gone = if done.forgotten.is_empty() {
        String::new()
    } else {
        let gone = done.forgotten.join(", ");
        format!("no longer in the table, as their folders were removed: {gone}")
    };
    if let [first, rest @ ..] = done.failed.as_slice() {
        let others = match rest.len() {
            0 => String::new(),
            1 => "; nor can 1 other rank".to_owned(),
            more => format!("; nor can {more} other ranks"),
        };
        let kept = count((done.converted + done.unchanged) as u64, "rank is", "ranks are");
        let gone = if gone.is_empty() { gone } else { format!("; {gone}") };
        let message = format!("{first}{others}; {kept} in the table{gone}");
        let error = crate::ingest::IngestError::new("", message);
        let help = first.next_step().unwrap_or("export the rank again, or leave it out");
        return Err(error.help(help).into());
    }
    let converted = count(done.converted as u64, "rank", "ranks");
    let rows = count(done.rows, "row", "rows");
    let shown = folder.display();
    let unchanged = done.unchanged;
    let mut said =
        format!("{shown}: {converted} converted, {unchanged} unchanged; {rows} in the table\n");
    if !gone.is_empty() {
        said.push_str(&format!("{gone}\n"));
    }
    if done.is_refreshed {
        said.push_str("the tables of devices and names are written again\n");
    }
    if !done.numbered_by.is_empty() {
        let axes = done.numbered_by.join(", ");
        said.push_str(&format!(
            "ranks are numbered by their positions in file names: {axes} (the last the fastest)\n"
        ));
    }
    terminal.say(&said)
}

#[cfg(not(feature = "frames"))]
fn partitions(_: &Convert, _: &Path, _: &Terminal) -> Result<(), Failure> {
    output::parquet(&Table::default()).map(|_| ())
}
