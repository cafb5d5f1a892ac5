//! Report of `inspect`: format and contents of an export, and the command that collects missing
//! data.

use schemars::JsonSchema;
use serde::Serialize;

use super::document::{Block, Cell, Column, Document, Fact, Figure, Form, Table};
use super::view::{Style, count, printable};
use super::{Reported, pretty};
use crate::analysis::{self, Need};
use crate::catalog::{Catalog, Device, Observed};
use crate::json;
use crate::model::{Launch, Origin, Profile, Quantity, Skip, Source};

/// Format and contents of an export, and the command that collects missing data.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Inspection<'a> {
    /// Type and major version of this document.
    schema: &'static str,
    /// Version of rooflint that wrote it.
    rooflint: &'static str,
    /// The files.
    inputs: Vec<File<'a>>,
    /// The devices, as the export names or describes them.
    devices: Vec<Named>,
    /// Number of launches after separate runs were joined.
    launches: u64,
    /// Number of launches with a duration.
    timed_launches: u64,
    /// Time of all launches, in seconds.
    measured_s: f64,
    /// Quantities that at least one launch has.
    quantities: Vec<Present>,
    /// Data that some launches lack.
    missing: Vec<Absent>,
    /// Command that collects everything that is missing; `null` if nothing is, or no profiler can.
    command: Option<String>,
    /// Remarks on how the files were joined.
    notes: &'a [String],
}

/// What a file is, and what was read of it.
#[derive(Debug, Serialize, JsonSchema)]
struct File<'a> {
    /// Its path as given.
    path: &'a str,
    /// Its format, a name for `--from`, or of a mapping.
    format: &'a str,
    /// The profiler that writes this format.
    profiler: &'a str,
    /// Which variant of the format it is.
    dialect: &'a str,
    /// Character encoding and compression.
    encoding: &'a str,
    /// How numbers are written; empty for binary formats.
    numerals: &'a str,
    /// Rows that say something of a launch, read or skipped.
    rows: u64,
    /// Launches read.
    launches: u64,
    /// Records and cells that could not be used.
    skipped: u64,
    /// Lines beside the table, such as messages of the program.
    other_lines: u64,
    /// What else was noticed.
    clues: Vec<String>,
    /// The first skipped records and cells.
    first_skipped: &'a [Skip],
}

/// A device that launches ran on.
#[derive(Debug, Serialize, JsonSchema)]
struct Named {
    /// Its name in the catalog, or in the export; `null` if it is not known.
    name: Option<String>,
    /// How it was identified, or why not.
    how: String,
    /// Where the export and the catalog disagree.
    notes: Vec<String>,
}

/// A quantity that launches have.
#[derive(Debug, Serialize, JsonSchema)]
struct Present {
    /// Its column in the launch table, with the unit.
    quantity: String,
    /// SI base unit; `1` for numbers without one.
    unit: &'static str,
    /// Number of launches that have it.
    launches: u64,
    /// Origins, with the export's own columns.
    from: Vec<String>,
}

/// Data that launches lack.
#[derive(Debug, Serialize, JsonSchema)]
struct Absent {
    /// What is missing.
    what: &'static str,
    /// Consequence of missing it.
    consequence: &'static str,
    /// Number of launches that lack it.
    launches: u64,
}

/// Returns the JSON schema of inspections, as pretty-printed JSON.
#[must_use]
pub fn inspection_schema() -> String {
    json::schema::<Inspection<'_>>("inspection-1", "Format and contents of an export")
}

impl Reported for Inspection<'_> {
    fn document(&self, _: &Style) -> Document {
        let mut document = Document::new("Export contents");
        document.push(Block::Facts(self.facts()));
        for file in &self.inputs {
            document.section(printable(file.path), vec![Block::Figures(file.figures())]);
        }
        document.section("There", vec![Block::Table(self.there())]);
        if self.missing.is_empty() {
            document.push(Block::Paragraph("No metrics are missing.".to_owned()));
        }
        let missing = self.missing.iter().map(|absent| {
            let launches = count(absent.launches, "launch", "launches");
            format!("{}, in {launches}: {}", absent.what, absent.consequence)
        });
        document.section("Missing", vec![Block::lines(missing.collect())]);
        document.section(
            "Command to collect it",
            self.command.clone().map(Block::Code).into_iter().collect(),
        );
        document
    }

    fn own(&self, format: &str, _: &Style) -> Option<String> {
        (format == "json").then(|| pretty(self))
    }
}

impl<'a> Inspection<'a> {
    /// Inspects a profile. `profiler` returns the profiler of a format, if it has one.
    #[must_use]
    pub fn new(
        profile: &'a Profile,
        catalog: &Catalog,
        profiler: impl Fn(&str) -> Option<&'static str>,
    ) -> Self {
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
            .map(|need| (need, launches_of(profile, |launch| !need.is_met(launch))))
            .filter(|(_, lacking)| *lacking > 0)
            .collect();
        Self {
            schema: "rooflint/inspection/1",
            rooflint: env!("CARGO_PKG_VERSION"),
            inputs: profile.sources.iter().map(|source| file(source, &profiler)).collect(),
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
                    consequence: consequence(profile, need),
                    launches: *launches,
                })
                .collect(),
            command: profile.sources.first().and_then(|source| {
                let needs: Vec<&Need> = absent.iter().map(|(need, _)| *need).collect();
                let mut hints = profile.devices.iter();
                let capability = hints.find_map(|hint| hint.compute_capability.as_deref());
                analysis::command_for(source, &needs, capability, &profile.sources)
            }),
            notes: &profile.notes,
        }
    }

    fn facts(&self) -> Vec<Fact> {
        let mut facts = Vec::new();
        for device in &self.devices {
            let name = device.name.as_deref().map_or_else(|| "unknown".to_owned(), printable);
            let mut lines = vec![format!("{name}: {}", printable(&device.how))];
            lines.extend(device.notes.iter().map(|note| printable(note)));
            facts.push(Fact::list("Device", lines, usize::MAX));
        }
        let mut lines = vec![format!(
            "{}, {} with a duration ({:.0} ns in total)",
            self.launches,
            self.timed_launches,
            self.measured_s * 1e9
        )];
        lines.extend(self.notes.iter().map(|note| printable(note)));
        facts.push(Fact::list("Launches", lines, usize::MAX));
        facts
    }

    /// Makes the table of available quantities with their origins.
    fn there(&self) -> Table {
        let columns = vec![
            Column::text("quantity", "quantity"),
            Column::number("launches", "launches", Form::Count),
            Column::text("from", "from"),
        ];
        let mut table = Table::new("quantities", columns);
        for present in &self.quantities {
            table.push([
                Cell::text(present.quantity.clone()),
                Cell::count(present.launches),
                Cell::text(printable(&present.from.join("; "))),
            ]);
        }
        table
    }
}

impl File<'_> {
    fn figures(&self) -> Vec<Figure> {
        let line = |label: &str, text: String| Figure::new(label, text, "");
        let (format, profiler) = (self.format, self.profiler);
        let table = format!(
            "{}, {}, {} skipped, {}",
            count(self.rows, "row", "rows"),
            count(self.launches, "launch", "launches"),
            count(self.skipped, "record or cell", "records or cells"),
            count(self.other_lines, "other line", "other lines")
        );
        let text = match self.numerals {
            // Binary formats have no locale.
            "" => self.encoding.to_owned(),
            numerals => format!("{}; {numerals}", self.encoding),
        };
        let mut figures = vec![
            line("format", format!("{format} ({profiler}), {}", printable(self.dialect))),
            line("text", text),
            line("table", table),
        ];
        for skip in self.first_skipped {
            figures.push(line("skipped", printable(&skip.to_string())));
        }
        figures.extend(self.clues.iter().map(|clue| line("clue", printable(clue))));
        figures
    }
}

fn file<'a>(source: &'a Source, profiler: &impl Fn(&str) -> Option<&'static str>) -> File<'a> {
    File {
        path: &source.path,
        format: &source.format,
        profiler: profiler(&source.format).unwrap_or("through a mapping"),
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

/// Lists corrected figures; in a report, validity rules report them.
fn mended(source: &Source) -> Vec<String> {
    let mended = &source.mended;
    let launches = |launches: u64| count(launches, "launch", "launches");
    let mut told = Vec::new();
    if mended.repaired > 0 {
        told.push(format!(
            "bytes of {} are recomputed, because the profiler's formula is wrong",
            launches(mended.repaired)
        ));
    }
    if mended.unrepaired > 0 {
        told.push(format!(
            "bytes of {} follow a wrong formula, and shapes to correct them are missing",
            launches(mended.unrepaired)
        ));
    }
    if mended.zeros > 0 {
        told.push(format!(
            "zero operations and bytes of {} are treated as missing, because the profiler does \
             not model them",
            launches(mended.zeros)
        ));
    }
    told
}

fn devices(profile: &Profile, catalog: &Catalog) -> Vec<Named> {
    let mut devices: Vec<Named> = Vec::new();
    for (hint, observed) in profile.devices.iter().zip(Observed::of(profile)) {
        let named = match catalog.identify(hint, &observed) {
            Ok(found) => Named {
                notes: catalog.disagreements(&found.device, hint, &observed),
                name: Some(found.device.name),
                how: found.how,
            },
            Err(_) if Device::from_attributes(hint).is_some() => Named {
                name: hint.name.clone(),
                how: "not in the catalog; its roofs are derived from the export's device \
                    attributes"
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

/// How many launches there are of which something holds; a row may stand for several.
fn launches_of(profile: &Profile, holds: impl Fn(&Launch<'_>) -> bool) -> u64 {
    let launches = profile.iter().filter(holds);
    launches.map(|launch| u64::from(launch.head.count)).sum()
}

/// What follows for the launches that lack something: the gravest, that of having nothing of it.
fn consequence(profile: &Profile, need: &Need) -> &'static str {
    let lacking = profile.iter().filter(|launch| !need.is_met(launch));
    let mut found = lacking.map(|launch| need.consequence_for(&launch)).peekable();
    let first = found.peek().copied().unwrap_or(need.consequence);
    if found.any(|one| one == need.consequence) { need.consequence } else { first }
}

fn present(profile: &Profile, quantity: Quantity) -> Present {
    let mut from: Vec<&Origin> = Vec::new();
    let mut launches = 0;
    for launch in profile.iter() {
        let Some((_, origin)) = launch.get(quantity) else { continue };
        launches += u64::from(launch.head.count);
        let says_same =
            |one: &&Origin| (one.kind, &*one.formula) == (origin.kind, &*origin.formula);
        // Launches share their origins.
        if !from.iter().any(|one| std::ptr::eq(*one, origin)) && !from.iter().any(says_same) {
            from.push(origin);
        }
    }
    let words = |origin: &&Origin| format!("{}: {}", origin.kind.label(), origin.formula);
    let from = from.iter().map(words).collect();
    Present { quantity: quantity.column(), unit: quantity.unit(), launches, from }
}
