//! Reports of a baseline store: its entries, and one entry in full.

use schemars::JsonSchema;
use serde::Serialize;

use super::document::{
    Block, Cell, Column, Document, Figure, Form, MISSING, Section, Table, first_of,
};
use super::view::{Style, count, factor, printable, si};
use super::{Reported, pretty};
use crate::compare::{Run, RunFile};
use crate::history::{
    Batch, Entry, Filter, Moment, Store, Unreadable, batches, counted_commits, outliers,
};
use crate::json;
use crate::table::guarded;
use crate::units::median;

/// The entries of a store as JSON.
#[derive(Serialize, JsonSchema)]
struct Listing<'a> {
    /// Type and major version of this document.
    schema: &'static str,
    /// Folder of the store.
    folder: String,
    /// The saved runs, oldest first.
    entries: Vec<Listed<'a>>,
    /// Files that are no saved runs, or damaged ones.
    unreadable: Vec<Unread<'a>>,
    /// Outliers of the newest runs of each baseline.
    doubts: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Listed<'a> {
    /// Name of the baseline.
    baseline: &'a str,
    /// Id of the entry, for `baseline show` and `--anchor`.
    entry: &'a str,
    /// Path of its file.
    file: String,
    /// When it was saved, as RFC 3339.
    saved: Option<&'a str>,
    /// Days since then.
    age_days: Option<u64>,
    /// The commit that was measured.
    commit: Option<&'a str>,
    /// The branch that was measured.
    branch: Option<&'a str>,
    /// Label of the run.
    label: &'a str,
    /// Names of its devices.
    devices: Vec<&'a str>,
    /// Roofs that it was judged by.
    ceilings: &'a str,
    /// Number of kernels.
    kernels: usize,
    /// Number of launches.
    launches: u64,
    /// Number of launches that have a duration.
    timed_launches: u64,
    /// Measured time of all launches.
    measured_s: f64,
    /// Version of rooflint that saved it.
    rooflint: &'a str,
    /// Fingerprint of what was measured; two entries with the same one are the same measurement.
    fingerprint: &'a str,
}

#[derive(Serialize, JsonSchema)]
struct Unread<'a> {
    /// Path of the file.
    file: String,
    /// Why it cannot be read.
    reason: &'a str,
}

/// Returns the JSON schema of the list of baselines, as pretty-printed JSON.
#[must_use]
pub fn baseline_list_schema() -> String {
    json::schema::<Listing<'_>>("baselines-list-1", "Entries of a store of baselines")
}

impl<'a> From<&'a Unreadable> for Unread<'a> {
    fn from(one: &'a Unreadable) -> Self {
        Self { file: one.path.display().to_string(), reason: &one.reason }
    }
}

/// The entries of a store.
#[derive(Debug, Clone, Copy)]
pub struct BaselineList<'a> {
    /// The store.
    pub store: &'a Store,
    /// Selects its entries.
    pub filter: &'a Filter,
    /// Current time, from which ages are computed.
    pub now: Moment,
}

impl Reported for BaselineList<'_> {
    /// Makes a table with a row per commit, oldest first.
    fn document(&self, _: &Style) -> Document {
        let Self { store, filter, now } = *self;
        let all = batches(store.entries().iter().filter(|entry| filter.fits(entry)));
        let folder = printable(&store.folder().display().to_string());
        let runs = all.iter().map(|batch| batch.entries.len() as u64).sum();
        let runs = count(runs, "run", "runs");
        let commits = counted_commits(all.iter().map(|batch| batch.commit().is_some()));
        let mut document = Document::titled(format!("{folder}: {runs} of {commits}"));
        if all.is_empty() {
            document = Document::new(folder);
            document.push(Block::Paragraph(printable(&store.nothing(filter))));
        } else {
            document.push(Block::Table(table(&all, now)));
        }
        document.section("Suspicious baselines", vec![Block::lines(doubts(store, filter))]);
        document.section("Unreadable files", vec![Block::lines(unread(store))]);
        document
    }

    /// How many there are, without the table.
    fn verdict(&self, style: &Style) -> Document {
        let mut document = self.document(style);
        document.blocks.retain(|block| !matches!(block, Block::Table(_)));
        document
    }

    fn own(&self, format: &str, _: &Style) -> Option<String> {
        match format {
            "json" => Some(pretty(&self.listing())),
            "csv" => Some(self.csv()),
            _ => None,
        }
    }
}

impl BaselineList<'_> {
    /// A row for each entry, whole where a terminal shows a commit with its runs in short.
    fn csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let mut write = |row: [String; 14]| {
            // Writing to memory cannot fail.
            let _ = writer.write_record(row);
        };
        write(
            [
                "baseline",
                "entry",
                "file",
                "saved",
                "commit",
                "branch",
                "label",
                "devices",
                "ceilings",
                "kernels",
                "launches",
                "timed_launches",
                "measured_s",
                "rooflint",
            ]
            .map(str::to_owned),
        );
        for entry in self.listing().entries {
            write([
                guarded(entry.baseline),
                guarded(entry.entry),
                guarded(&entry.file),
                guarded(entry.saved.unwrap_or_default()),
                guarded(entry.commit.unwrap_or_default()),
                guarded(entry.branch.unwrap_or_default()),
                guarded(entry.label),
                guarded(&entry.devices.join(", ")),
                guarded(entry.ceilings),
                entry.kernels.to_string(),
                entry.launches.to_string(),
                entry.timed_launches.to_string(),
                if entry.timed_launches > 0 { entry.measured_s.to_string() } else { String::new() },
                guarded(entry.rooflint),
            ]);
        }
        String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
    }

    fn listing(&self) -> Listing<'_> {
        let fitting = self.store.entries().iter().filter(|entry| self.filter.fits(entry));
        let entries = fitting.map(|entry| Listed {
            baseline: &entry.name,
            entry: &entry.id,
            file: entry.path.display().to_string(),
            saved: entry.run.origin.saved.as_deref(),
            age_days: entry.age_days(self.now),
            commit: entry.run.origin.commit.as_deref(),
            branch: entry.run.origin.branch.as_deref(),
            label: &entry.run.label,
            devices: entry.run.device_names(),
            ceilings: &entry.run.ceilings,
            kernels: entry.run.kernels.len(),
            launches: entry.run.launches,
            timed_launches: entry.run.timed_launches,
            measured_s: entry.run.measured_s.get(),
            rooflint: &entry.run.rooflint,
            fingerprint: &entry.run.fingerprint,
        });
        Listing {
            schema: "rooflint/baselines-list/1",
            folder: self.store.folder().display().to_string(),
            entries: entries.collect(),
            unreadable: self.store.unreadable().iter().map(Unread::from).collect(),
            doubts: doubts(self.store, self.filter),
        }
    }
}

fn table(all: &[Batch<'_>], now: Moment) -> Table {
    let mut table = Table::new(
        "commits",
        vec![
            Column::text("baseline", "baseline").spare(20),
            Column::text("saved", "saved"),
            Column::number("age_days", "age [d]", Form::Count).spare(21),
            Column::text("commit", "commit"),
            Column::text("branch", "branch").spare(23),
            Column::name("device", "device"),
            Column::text("ceilings", "ceilings").spare(24),
            Column::number("runs", "runs", Form::Count).spare(21),
            Column::number("kernels", "kernels", Form::Count).spare(22),
            Column::number("measured_s", "time", Form::Time),
            Column::text("version", "version").spare(25),
        ],
    );
    for batch in all {
        let Some(first) = batch.entries.first() else { continue };
        let kernels = batch.entries.iter().map(|entry| entry.run.kernels.len() as f64);
        let (least, most) =
            (kernels.clone().fold(f64::INFINITY, f64::min), kernels.fold(0.0, f64::max));
        table.push([
            Cell::text(printable(&first.name)),
            Cell::maybe_text(batch.saved().map(minute)),
            first.age_days(now).map_or(Cell::Missing, Cell::count),
            Cell::maybe_text(first.short_commit().map(printable)),
            Cell::maybe_text(batch.branch().map(printable)),
            Cell::text(printable(&first.run.device_names().join(", "))),
            Cell::text(printable(&first.run.ceilings)),
            Cell::count(batch.entries.len() as u64),
            if least < most { Cell::Between(least, most) } else { Cell::Number(most) },
            Cell::maybe(total(batch)),
            Cell::text(printable(&first.run.rooflint)),
        ]);
    }
    table
}

/// Formats a time for tables, to the minute.
fn minute(moment: Moment) -> String {
    let text = moment.to_string();
    text.get(..16).unwrap_or(&text).replace('T', " ")
}

/// Returns the median time of its runs, in seconds.
fn total(batch: &Batch<'_>) -> Option<f64> {
    let times: Vec<f64> = batch.entries.iter().map(|entry| entry.run.measured_s.get()).collect();
    median(&times)
}

/// Lists the outliers of the newest runs of each baseline, in sentences.
#[must_use]
pub fn doubts(store: &Store, filter: &Filter) -> Vec<String> {
    /// Largest number of outliers listed; the rest is counted.
    const LISTED: usize = 3;
    let all = batches(store.entries().iter().filter(|entry| filter.fits(entry)));
    let mut doubts = Vec::new();
    for (position, batch) in all.iter().enumerate() {
        if all[position + 1..].iter().any(|later| later.is_like(batch)) {
            continue;
        }
        let Some(first) = batch.entries.first() else { continue };
        let found = outliers(&all[..=position]);
        let whose = format!("{} on {}", first.name, first.run.device_names().join(", "));
        for outlier in found.iter().take(LISTED) {
            doubts.push(printable(&format!("{whose}: {}", outlier.sentence())));
        }
        if found.len() > LISTED {
            doubts.push(printable(&format!(
                "{whose}: {} of the newest runs are outliers, too",
                count((found.len() - LISTED) as u64, "more kernel", "more kernels")
            )));
        }
    }
    doubts
}

/// Lists the files of a store that could not be read, in sentences.
#[must_use]
pub fn unread(store: &Store) -> Vec<String> {
    let told = store.unreadable().iter();
    told.map(|one| printable(&format!("{}: {}", one.path.display(), one.reason))).collect()
}

/// Full reports of entries, with their top kernels by time.
#[derive(Debug, Clone, Copy)]
pub struct BaselinePages<'a> {
    /// The entries.
    pub entries: &'a [&'a Entry],
    /// Current time, from which ages are computed.
    pub now: Moment,
    /// Number of kernels to show per entry; machine formats have all.
    pub top: usize,
}

impl Reported for BaselinePages<'_> {
    fn document(&self, style: &Style) -> Document {
        let name = |entry: &Entry| printable(&format!("{}/{}", entry.name, entry.id));
        if let [entry] = self.entries {
            let blocks = page(entry, self.now, self.top, style);
            return Document { blocks, ..Document::titled(name(entry)) };
        }
        let mut document = Document::new("Saved runs");
        for entry in self.entries {
            document.section(name(entry), page(entry, self.now, self.top, style));
        }
        document
    }

    /// Renders the saved runs themselves, one after the other.
    fn own(&self, format: &str, style: &Style) -> Option<String> {
        match format {
            "json" => Some(self.entries.iter().map(|entry| entry.run.json()).collect()),
            "csv" => Some(self.csv(style)),
            _ => None,
        }
    }
}

impl BaselinePages<'_> {
    /// The kernels of all entries, whatever a terminal shows of them.
    fn csv(&self, style: &Style) -> String {
        let mut all = Document::new("Saved runs");
        for entry in self.entries {
            let mut table = kernels(&entry.run, entry.run.kernels.len(), style);
            table.columns.insert(0, Column::text("entry", "entry"));
            for row in &mut table.rows {
                let name = printable(&format!("{}/{}", entry.name, entry.id));
                row.cells.insert(0, Cell::text(name));
            }
            all.push(Block::Table(table));
        }
        let csv = crate::report::FORMATS.iter().find(|format| format.name == "csv");
        csv.map_or_else(String::new, |format| (format.render)(&all, style))
    }
}

fn page(entry: &Entry, now: Moment, top: usize, style: &Style) -> Vec<Block> {
    let run = &entry.run;
    let origin = &run.origin;
    let age = entry.age_days(now).map(|days| format!(" ({days} d ago)")).unwrap_or_default();
    let files = run.files.iter().map(files);
    let headroom = run.headroom().map(|headroom| factor(headroom.get()));
    let rows = [
        ("saved", origin.saved.as_ref().map(|saved| format!("{saved}{age}"))),
        ("commit", origin.commit.clone()),
        ("branch", origin.branch.clone()),
        ("run", Some(run.label.clone())),
        ("files", Some(files.collect::<Vec<_>>().join("; "))),
        ("devices", Some(run.device_names().join(", "))),
        ("ceilings", Some(run.ceilings.clone())),
        ("time", Some(si(run.measured_s.get(), "s"))),
        ("launches", Some(format!("{}, {} with a duration", run.launches, run.timed_launches))),
        (
            "warm-up excluded",
            match run.warmup {
                0 => Some("none".to_owned()),
                most => Some(format!(
                    "up to {} of each kernel",
                    count(most.into(), "launch", "launches")
                )),
            },
        ),
        ("kernels", Some(run.kernels.len().to_string())),
        ("headroom", headroom),
        ("rooflint", Some(run.rooflint.clone())),
        ("fingerprint", Some(run.fingerprint.clone())),
    ];
    let figures = rows.map(|(label, value)| {
        let value = value.filter(|value| !value.is_empty()).unwrap_or_else(|| MISSING.to_owned());
        Figure::new(label, printable(&value), "")
    });
    let shown = run.kernels.get(..top).unwrap_or(&run.kernels);
    let title = format!("Kernels by time{}", first_of(shown.len(), run.kernels.len()));
    let kernels = Section::new(title, vec![Block::Table(kernels(run, shown.len(), style))]);
    let mut blocks = vec![Block::Figures(figures.into())];
    blocks.extend((!shown.is_empty()).then_some(Block::Section(kernels)));
    blocks
}

/// A file of a run, or those of its ranks that were measured alike.
fn files(file: &RunFile) -> String {
    let skipped = match file.skipped {
        0 => String::new(),
        skipped => format!(", {skipped} skipped"),
    };
    let launches = count(file.launches, "launch", "launches");
    let path = match file.files {
        0 | 1 => file.path.clone(),
        several => format!("{several} files such as {}", file.path),
    };
    format!("{path} ({}, {launches}{skipped})", file.format)
}

/// The first kernels of a run.
fn kernels(run: &Run, shown: usize, style: &Style) -> Table {
    let mut table = Table::new(
        "kernels",
        vec![
            Column::name("kernel", "kernel"),
            Column::text("shape", "grid / block").spare(12),
            Column::text("device", "device").spare(15),
            Column::number("share", "share", Form::Share).spare(11),
            Column::number("measured_s", "time", Form::Time),
            Column::number("launches", "launches", Form::Count).spare(14),
            Column::number("mean_s", "per launch", Form::Time).scale(1),
            Column::number("headroom", "headroom", Form::Factor),
        ],
    );
    for kernel in run.kernels.iter().take(shown) {
        let is_full = style.full_names && !kernel.full_name.is_empty();
        let name = if is_full { &kernel.full_name } else { &kernel.name };
        let operator = kernel.operator.as_ref().map(|operator| format!(" [{operator}]"));
        table.push([
            Cell::text(printable(&format!("{name}{}", operator.unwrap_or_default()))),
            Cell::maybe_text(Some(kernel.shape()).filter(|shape| !shape.is_empty())),
            Cell::maybe_text(run.devices.get(kernel.device).map(|device| printable(&device.name))),
            Cell::Number(kernel.share.get()),
            Cell::time(kernel.measured_s),
            Cell::count(kernel.launches),
            Cell::maybe((kernel.timed > 0).then(|| kernel.mean_s())),
            Cell::maybe(kernel.headroom()),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Profiler;

    #[test]
    fn files_of_ranks_are_counted() {
        let of = |number: u64| {
            files(&RunFile {
                path: "ranks/rank-0.csv".to_owned(),
                files: number,
                format: "ncu-wide".to_owned(),
                profiler: Profiler::NsightCompute,
                launches: 368,
                skipped: 0,
                controls: Vec::new(),
            })
        };
        assert_eq!(of(1), "ranks/rank-0.csv (ncu-wide, 368 launches)");
        assert_eq!(of(8), "8 files such as ranks/rank-0.csv (ncu-wide, 368 launches)");
    }
}
