//! `inspect`: what an export is, what is in it, and the command that would supply what is missing.

use std::fmt::Write as _;

use serde::Serialize;

use super::analyze::read;
use super::args::{Inspect, Listing};
use super::catalog;
use super::exit::Failure;
use super::terminal::Terminal;
use crate::analysis::{self, Need};
use crate::catalog::{Catalog, Device};
use crate::ingest;
use crate::model::{Profile, Quantity, Skip, Source};
use crate::report::{count, printable};

pub(super) fn run(command: &Inspect, terminal: &Terminal) -> Result<(), Failure> {
    let catalog = catalog(&command.devices)?;
    let profile = read(&command.reading)?;
    let inspection = Inspection::new(&profile, &catalog);
    let text = match command.format {
        Listing::Text => terminal.style().adapted(inspection.text()),
        Listing::Json => serde_json::to_string_pretty(&inspection).unwrap_or_default() + "\n",
    };
    terminal.print(&text)
}

#[derive(Serialize)]
struct Inspection<'a> {
    inputs: Vec<File<'a>>,
    devices: Vec<Named>,
    /// Launches after separate runs were joined.
    launches: u64,
    /// Launches with a duration, and its sum.
    timed_launches: u64,
    measured_s: f64,
    quantities: Vec<Present>,
    missing: Vec<Absent>,
    /// The command that would supply everything that is missing.
    command: Option<String>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct File<'a> {
    path: &'a str,
    format: &'a str,
    profiler: &'a str,
    dialect: &'a str,
    encoding: &'a str,
    numerals: &'a str,
    rows: u64,
    launches: u64,
    skipped: u64,
    other_lines: u64,
    clues: Vec<String>,
    /// The first records and cells that were skipped.
    first_skipped: &'a [Skip],
}

#[derive(Serialize)]
struct Named {
    name: Option<String>,
    how: String,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct Present {
    quantity: String,
    unit: &'static str,
    launches: u64,
    /// How it came about, with the export's own columns.
    from: Vec<String>,
}

#[derive(Serialize)]
struct Absent {
    what: &'static str,
    /// What cannot be said without it.
    consequence: &'static str,
    launches: u64,
}

impl<'a> Inspection<'a> {
    fn new(profile: &'a Profile, catalog: &Catalog) -> Self {
        let launches: u64 = profile.iter().map(|launch| u64::from(launch.head.count)).sum();
        let mut timed_launches = 0;
        let mut sum = crate::units::ExactSum::default();
        for launch in profile.iter() {
            if let Some((time, _)) = launch.duration() {
                timed_launches += u64::from(launch.head.count);
                sum.add(time.get() * f64::from(launch.head.count));
            }
        }
        let absent: Vec<(&Need, u64)> = analysis::NEEDS
            .iter()
            .map(|need| (need, profile.iter().filter(|launch| !need.is_met(launch)).count() as u64))
            .filter(|(_, lacking)| *lacking > 0)
            .collect();
        Self {
            inputs: profile.sources.iter().map(file).collect(),
            devices: devices(profile, catalog),
            launches,
            timed_launches,
            measured_s: sum.get(),
            quantities: profile
                .launches
                .quantities()
                .map(|quantity| present(profile, quantity))
                .collect(),
            missing: absent
                .iter()
                .map(|(need, launches)| Absent {
                    what: need.what,
                    consequence: need.consequence,
                    launches: *launches,
                })
                .collect(),
            command: profile.sources.first().and_then(|source| {
                let needs: Vec<&Need> = absent.iter().map(|(need, _)| *need).collect();
                let mut hints = profile.devices.iter();
                let capability = hints.find_map(|hint| hint.compute_capability.as_deref());
                analysis::command_for(source, &needs, capability)
            }),
            notes: &profile.notes,
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for file in &self.inputs {
            let _ = writeln!(text, "{}", printable(file.path));
            let _ = writeln!(
                text,
                "  format     {} ({}), {}",
                file.format,
                file.profiler,
                printable(file.dialect)
            );
            let _ = writeln!(text, "  text       {}; {}", file.encoding, file.numerals);
            let _ = writeln!(
                text,
                "  table      {}, {}, {} skipped, {}",
                count(file.rows, "row", "rows"),
                count(file.launches, "launch", "launches"),
                count(file.skipped, "record or cell", "records or cells"),
                count(file.other_lines, "other line", "other lines")
            );
            for skip in file.first_skipped {
                let column = skip
                    .column
                    .as_ref()
                    .map_or_else(String::new, |column| format!(" column {column:?}:"));
                let _ = writeln!(
                    text,
                    "  skipped    line {}:{column} {} ({:?})",
                    skip.line,
                    printable(&skip.reason),
                    printable(&skip.text)
                );
            }
            for clue in &file.clues {
                let _ = writeln!(text, "  clue       {}", printable(clue));
            }
        }
        for device in &self.devices {
            let name = device.name.as_deref().map_or_else(|| "not known".to_owned(), printable);
            let _ = writeln!(text, "\nDevice       {name}: {}", printable(&device.how));
            for note in &device.notes {
                let _ = writeln!(text, "             {}", printable(note));
            }
        }
        let _ = writeln!(
            text,
            "\nLaunches     {}, {} with a duration ({:.0} ns in all)",
            self.launches,
            self.timed_launches,
            self.measured_s * 1e9
        );
        for note in self.notes {
            let _ = writeln!(text, "             {}", printable(note));
        }
        let _ = writeln!(text, "\nThere");
        let width = self.quantities.iter().map(|present| present.quantity.len()).max().unwrap_or(0);
        for present in &self.quantities {
            let _ = writeln!(
                text,
                "  {:width$}  {:>8} launches  {}",
                present.quantity,
                present.launches,
                printable(&present.from.join("; "))
            );
        }
        if self.missing.is_empty() {
            let _ = writeln!(text, "\nNothing is missing.");
            return text;
        }
        let _ = writeln!(text, "\nMissing");
        for absent in &self.missing {
            let _ = writeln!(
                text,
                "  {}, in {}: {}",
                absent.what,
                count(absent.launches, "launch", "launches"),
                absent.consequence
            );
        }
        if let Some(command) = &self.command {
            let _ = writeln!(text, "\nTo collect it\n  {command}");
        }
        text
    }
}

fn file(source: &Source) -> File<'_> {
    File {
        path: &source.path,
        format: &source.format,
        profiler: ingest::format(&source.format)
            .map_or("through a mapping", |format| format.profiler.label()),
        dialect: &source.dialect,
        encoding: &source.encoding,
        numerals: &source.numerals,
        rows: source.rows,
        launches: source.launches,
        skipped: source.skips.count,
        other_lines: source.other_lines,
        clues: source.clues.iter().cloned().chain(mended(source)).collect(),
        first_skipped: &source.skips.first,
    }
}

/// What was not taken as a file prints it; in a report, the rules of validity tell.
fn mended(source: &Source) -> Vec<String> {
    let mended = &source.mended;
    let launches = |launches: u64| count(launches, "launch", "launches");
    let mut told = Vec::new();
    if mended.repaired > 0 {
        told.push(format!(
            "bytes of {} are computed again: the profiler's formula is wrong",
            launches(mended.repaired)
        ));
    }
    if mended.unrepaired > 0 {
        told.push(format!(
            "bytes of {} follow a wrong formula, and no shapes tell the right ones",
            launches(mended.unrepaired)
        ));
    }
    if mended.zeros > 0 {
        told.push(format!(
            "zero operations and bytes of {} are taken as missing: the profiler does not model them",
            launches(mended.zeros)
        ));
    }
    told
}

fn devices(profile: &Profile, catalog: &Catalog) -> Vec<Named> {
    let mut devices: Vec<Named> = Vec::new();
    for hint in &profile.devices {
        let named = match catalog.identify(hint) {
            Ok(found) => Named {
                notes: found.device.disagreements(hint),
                name: Some(found.device.name),
                how: found.how,
            },
            Err(_) if Device::from_attributes(hint).is_some() => Named {
                name: hint.name.clone(),
                how: "not in the catalogue; the export's device attributes give its roofs"
                    .to_owned(),
                notes: Vec::new(),
            },
            Err(error) => {
                Named { name: None, how: format!("{error}; {}", error.help()), notes: Vec::new() }
            }
        };
        if !devices.iter().any(|known| known.name == named.name && known.how == named.how) {
            devices.push(named);
        }
    }
    devices
}

fn present(profile: &Profile, quantity: Quantity) -> Present {
    let mut from: Vec<String> = Vec::new();
    let mut launches = 0;
    for launch in profile.iter() {
        let Some((_, origin)) = launch.get(quantity) else { continue };
        launches += u64::from(launch.head.count);
        let words = format!("{}: {}", origin.kind.label(), origin.formula);
        if !from.contains(&words) {
            from.push(words);
        }
    }
    Present { quantity: quantity.column(), unit: quantity.unit(), launches, from }
}
