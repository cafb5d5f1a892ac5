//! The brief as a document that fits a screen: the run, one bar of its time, the kernels to begin with, what is missing.

use super::brief::{Brief, KERNELS, Missing, Remedy, STEPS};
use super::entry::{Entry, of_kernels};
use super::tables::Devices;
use super::{checks, tables, verdict};
use crate::analysis::{Analysis, Kernel};
use crate::model::Profiler;
use crate::plain;
use crate::report::document::{Block, Cell, Column, Document, Fact, Form, Table, first_of};
use crate::report::view::{self, Style};
use crate::report::{FORMATS, Report};
use crate::rules;
use crate::units::Seconds;

/// Lines of a terminal of [`COLUMNS`] columns that a brief takes at most.
const LINES: usize = 25;
const COLUMNS: usize = 100;

/// Where there is more.
const MORE: &str =
    "--full: all sections · --kernel '#1': one kernel · -o report.html: interactive page";

/// A brief with as much as fits a screen.
pub(super) struct Screen<'a> {
    /// What is drawn, and nothing else.
    pub(super) brief: Brief<'a>,
    room: Room,
}

/// So many kernels, notes and steps for the whole run a screen has room for.
#[derive(Clone, Copy)]
struct Room {
    kernels: usize,
    notes: usize,
    steps: usize,
    /// What would be won beyond the roof: it is among the issues of the full report too.
    beyond: bool,
    /// The command that reads the export with what the missing counters were collected into.
    joined: bool,
}

impl<'a> Screen<'a> {
    /// As many steps, then notes, then kernels as fit: two kernels before a second note, one before a second step.
    pub(super) fn of(report: &Report<'a>, style: &Style) -> Self {
        let whole = Brief::of(report, KERNELS);
        let with = |room: Room| {
            let brief = whole.first(report, room.kernels, room.steps);
            Self { brief, room }
        };
        // The same kernels whether sections follow or not.
        let alone = Style { full: false, ..*style };
        let mut screens = (1..=STEPS).rev().flat_map(|steps| {
            let room =
                move |notes, kernels| Room { kernels, notes, steps, beyond: true, joined: false };
            (1..=checks::NOTES)
                .rev()
                .flat_map(move |notes| (2..=KERNELS).rev().map(move |kernels| room(notes, kernels)))
                .chain([room(1, 1)])
        });
        let fits = |screen: &Self| lines(&screen.document(report, &alone)) <= LINES;
        let screen = screens.by_ref().map(with).find(fits).unwrap_or_else(|| {
            // All notes are in the list of inputs.
            let least = Room { kernels: 1, notes: 0, steps: 1, beyond: true, joined: false };
            let least = with(least);
            let room = Room { beyond: fits(&least), ..least.room };
            Self { room, ..least }
        });
        let mut joined = Self { room: Room { joined: true, ..screen.room }, ..screen };
        joined.room.joined = fits(&joined);
        joined
    }

    /// The document.
    pub(super) fn document(&self, report: &Report<'_>, style: &Style) -> Document {
        drawn(report, &self.brief, self.room, style)
    }
}

/// Lines of a document in a terminal.
fn lines(document: &Document) -> usize {
    let style = Style { width: Some(COLUMNS), ..Style::default() };
    let text = FORMATS.iter().find(|one| one.name == "text");
    // A terminal breaks what is never wrapped.
    let shown = |line: &str| line.chars().count().div_ceil(COLUMNS).max(1);
    text.map_or(0, |text| (text.render)(document, &style).lines().map(shown).sum())
}

fn drawn(report: &Report<'_>, brief: &Brief<'_>, room: Room, style: &Style) -> Document {
    let mut document = Document::new("Roofline report");
    let mut verdict = verdict::verdict(report, room.notes, style);
    let over_time = brief.over_time.as_ref().map(|one| Fact::new("Timeline", one.sentence()));
    // Behind the GPU time, which it explains.
    verdict.splice(1..1, over_time);
    let [first, others] = brief.steps_around().map(|steps| -> Vec<Fact> {
        steps.into_iter().map(|step| Fact::new("Whole run", step.sentence())).collect()
    });
    verdict.extend(first);
    document.push(Block::Facts(verdict));
    document.push(Block::Bar(report.analysis.totals.parts.segments().collect()));
    if brief.kernels.is_empty() {
        // A run that saves nothing is made of kernels too.
        let longest = longest(report, room.kernels.min(LONGEST));
        let title =
            format!("Longest kernels{}", first_of(longest.len(), report.analysis.kernels.len()));
        document.section(title, vec![Block::Table(plain(&longest, report.analysis, style))]);
    } else {
        let title =
            format!("Top kernels by potential savings{}", first_of(brief.kernels.len(), brief.all));
        document.section(title, vec![Block::Table(table(&brief.kernels, report.analysis, style))]);
    }
    let mut facts = others;
    facts.extend(
        brief
            .beyond
            .as_ref()
            .filter(|_| room.beyond)
            .map(|one| Fact::new("Beyond", one.sentence(style))),
    );
    match &brief.missing {
        // A line of its own that is never wrapped: it is there to be copied.
        Some(Missing { what, remedy: Remedy::Command(command) }) => {
            let does = if command.ends_with("--next-ncu") {
                "get the ncu command"
            } else {
                "this collects it"
            };
            facts.push(Fact::new("Missing", format!("{what}; {does}:")));
            document.push(Block::Facts(std::mem::take(&mut facts)));
            document.push(Block::Code(command.clone()));
            if let Some(again) = joined(report.analysis, command).filter(|_| room.joined) {
                facts.push(Fact::new("Then", again));
            }
        }
        Some(missing) => facts.push(Fact::new("Missing", missing.sentence())),
        None => {}
    }
    if !style.full {
        facts.push(Fact::new("More", MORE));
    }
    document.push(Block::Facts(facts));
    document
}

/// The command that reads what another command collects: with the exports where it completes them, alone where it is a
/// report of some kernels with all counters. None where that prints a command, or is of another profiler.
fn joined(analysis: &Analysis, command: &str) -> Option<String> {
    /// More are a folder or a pattern, which is written in fewer words.
    const FILES: usize = 3;
    let device = analysis.device_options();
    let (profiler, more) = if command.starts_with("ncu ") {
        let options = command.strip_suffix(" APP");
        if let Some((_, report)) = options.and_then(|options| options.rsplit_once(" -o ")) {
            return Some(format!("rooflint {report}.ncu-rep{device}"));
        }
        (Profiler::NsightCompute, command.rsplit_once(" > ")?.1)
    } else {
        let (_, rest) = command.strip_prefix("nvprof ")?.split_once(" --log-file ")?;
        (Profiler::Nvprof, rest.split(' ').next()?)
    };
    let sources = &analysis.sources;
    let is_joined = sources.iter().all(|source| source.profiler == profiler);
    let files: Vec<String> = sources.iter().map(|source| plain::file(&source.path)).collect();
    (is_joined && files.len() <= FILES)
        .then(|| format!("rooflint {} {more}{device}", files.join(" ")))
}

/// As many kernels as are shown of a run that saves nothing, at most.
const LONGEST: usize = 3;

/// So many kernels with most of the time, of those that have one.
fn longest<'a>(report: &Report<'a>, most: usize) -> Vec<Entry<'a>> {
    let timed = report.analysis.kernels.iter().filter(|kernel| kernel.measured > Seconds::ZERO);
    let mut kernels: Vec<&Kernel> = timed.collect();
    kernels.sort_by(|one, two| two.measured.total_cmp(&one.measured).then(one.rank.cmp(&two.rank)));
    kernels.truncate(most);
    of_kernels(report, &kernels)
}

/// Kernels that save nothing, each with what it is.
fn plain(kernels: &[Entry<'_>], analysis: &Analysis, style: &Style) -> Table {
    let devices = Devices::of(analysis);
    let mut table = Table::new(
        "longest",
        devices.columns(
            3,
            vec![
                Column::number("rank", "#", Form::Count),
                Column::name("name", "kernel"),
                Column::number("measured_s", "time", Form::Time),
                Column::number("share", "share", Form::Share).spare(2),
                Column::number("headroom", "vs. roofline", Form::Factor).spare(1),
            ],
        ),
    );
    for entry in kernels {
        let name = entry.name(style);
        let is_alone = kernels.iter().filter(|one| one.name(style) == name).count() == 1;
        let name = if is_alone { name } else { format!("{name} [{}]", view::shape(entry.kernel)) };
        let cells = [
            Cell::count(entry.kernel.rank as u64),
            Cell::text(name),
            Cell::time(entry.measured),
            Cell::Number(entry.share),
            entry.headroom.map_or(Cell::Missing, |(high, low)| tables::between(high, low)),
        ];
        table.push_with(devices.cells(entry.kernel, cells.into()), vec![entry.sentence()]);
        table.link(entry.finding.and_then(|finding| rules::link(&finding.rule)));
    }
    table
}

/// Kernels, a line of numbers and a sentence each.
pub(super) fn table(kernels: &[Entry<'_>], analysis: &Analysis, style: &Style) -> Table {
    let devices = Devices::of(analysis);
    let mut table = Table::new(
        "brief",
        devices.columns(
            3,
            vec![
                Column::number("rank", "#", Form::Count),
                Column::name("name", "kernel"),
                Column::number("measured_s", "time", Form::Time),
                Column::number("share", "share", Form::Share).spare(2),
                Column::number("savings_s", "savings", Form::Time),
                Column::number("headroom", "vs. roofline", Form::Factor).spare(1),
                Column::text("certainty", "certainty").spare(4),
            ],
        ),
    );
    for entry in kernels {
        let (low, high) = entry.range;
        // What is unproven is in no sum, and so in no column that adds up.
        let savings = if entry.savings > Seconds::ZERO {
            Cell::Around { value: entry.savings.get(), low: low.get(), high: high.get() }
        } else {
            Cell::Missing
        };
        let cells = [
            Cell::count(entry.kernel.rank as u64),
            Cell::text(entry.name(style)),
            Cell::time(entry.measured),
            Cell::Number(entry.share),
            savings,
            entry.headroom.map_or(Cell::Missing, |(high, low)| tables::between(high, low)),
            Cell::text(entry.verdict()),
        ];
        table.push_with(devices.cells(entry.kernel, cells.into()), vec![entry.sentence()]);
        table.link(entry.finding.and_then(|finding| rules::link(&finding.rule)));
    }
    table
}
