//! Report of a trend: a row per commit, and the change points.

mod html;
#[cfg(feature = "plot")]
mod picture;

use super::document::{Block, Cell, Column, Document, Form, MISSING, Table};
use super::numbers::{TimeUnit, change};
use super::view::{Style, count, digits, factor, percent, printable, si};
use super::{Reported, pretty};
use crate::history::{self, Drift, Line, Point, Trend, TrendChange, TrendMetric};
use crate::table::guarded;
use crate::units::Seconds;

#[cfg(feature = "plot")]
pub use picture::trend_picture;

/// Number of commits in tables; machine formats have all.
const ROWS: usize = 40;

/// Width in characters of the plot column, if there is room.
const RULER: usize = 28;

/// A trend to report.
#[derive(Debug, Clone, Copy)]
pub struct TrendReport<'a> {
    /// The trend.
    pub trend: &'a Trend,
    /// Number of changes and kernel tables to show; machine formats have all.
    pub top: usize,
}

impl Reported for TrendReport<'_> {
    /// Makes tables of the run and of the selected kernels, and lists every change.
    fn document(&self, style: &Style) -> Document {
        let trend = self.trend;
        let mut document = Document::titled(trend.title());
        let chosen = if trend.chosen.is_some() { self.top } else { 0 };
        for line in trend.whole.iter().chain(trend.kernels.iter().take(chosen)) {
            let words = line.metric.words(line.kernel.is_some());
            let title = match line.kernel {
                Some(_) => format!("{}, {words}", name(trend, line, style)),
                None => words.to_owned(),
            };
            document.section(title, trend.rows(line, style));
        }
        self.conclude(&mut document, style);
        let notes = trend.notes.iter().map(|note| printable(note)).collect();
        document.section("Notes", vec![Block::lines(notes)]);
        document
    }

    /// What changed, without the values.
    fn verdict(&self, style: &Style) -> Document {
        let mut document = Document::titled(self.trend.title());
        self.conclude(&mut document, style);
        document
    }

    fn own(&self, format: &str, style: &Style) -> Option<String> {
        match format {
            "csv" => Some(self.trend.csv()),
            "json" => Some(pretty(self.trend)),
            "html" => Some(html::page(self, style)),
            _ => None,
        }
    }
}

impl TrendReport<'_> {
    fn conclude(&self, document: &mut Document, style: &Style) {
        let trend = self.trend;
        document.section("Changes", vec![Block::lines(trend.changes(self.top, style))]);
        let exceeded = trend.exceeded.iter().map(|line| printable(line)).collect();
        document.section("Limits exceeded", vec![Block::lines(exceeded)]);
        let inconclusive = trend.inconclusive.iter().map(|line| printable(line)).collect();
        document.section("Inconclusive", vec![Block::lines(inconclusive)]);
        let warned = trend.warned.iter().map(|line| printable(line)).collect();
        document.section("Warnings", vec![Block::lines(warned)]);
    }
}

impl Trend {
    fn title(&self) -> String {
        let runs: usize = self.points.iter().map(|point| point.entries.len()).sum();
        let ends = [self.points.first(), self.points.last()];
        let ends = ends.map(|point| point.and_then(|point| point.saved.as_deref()).and_then(day));
        let between = match ends {
            [Some(first), Some(last)] if first != last => format!(", {first} to {last}"),
            [Some(first), _] => format!(", {first}"),
            _ => String::new(),
        };
        printable(&format!(
            "Trend of {} on {}: {} of {}{between}",
            self.name,
            self.devices.join(", "),
            count(runs as u64, "run", "runs"),
            history::counted_commits(self.points.iter().map(|point| point.commit.is_some())),
        ))
    }

    /// Makes the table with a row per commit.
    fn rows(&self, line: &Line, style: &Style) -> Vec<Block> {
        let hidden = self.points.len().saturating_sub(ROWS);
        let scale = Scale::of(self.metric, line, hidden);
        let ruler = Ruler::of(line, style);
        let mut rows = Table::new(
            "commits",
            vec![
                Column::text("saved", "saved"),
                Column::name("commit", "commit"),
                Column::number("runs", "runs", Form::Count).spare(21),
                scale.column(),
                Column::number("spread", "spread", Form::Share).spare(11),
                Column::text("ruler", &ruler.title(&scale)).spare(10),
                Column::number("change", "change", Form::Change),
            ],
        );
        for (at, point) in self.points.iter().enumerate().skip(hidden) {
            let value = line.values.get(at).copied().flatten();
            let change = line.changes.iter().find(|change| change.point == at);
            let several = value.filter(|one| one.runs > 1);
            rows.push([
                Cell::maybe_text(point.saved.as_deref().map(minute)),
                Cell::maybe_text(point.commit.as_deref().map(short)),
                Cell::count(value.map_or(0, |one| one.runs as u64)),
                Cell::maybe(value.map(|one| one.median)),
                Cell::maybe(several.map(|one| (one.greatest - one.least) / one.median)),
                value.map_or(Cell::Empty, |one| Cell::Text(ruler.dot(one.median))),
                change.map_or(Cell::Empty, |change| Cell::Number(change.step.change.get())),
            ]);
        }
        let mut blocks = vec![Block::Table(rows)];
        if hidden > 0 {
            let known = self.points.iter().take(hidden).map(|point| point.commit.is_some());
            let hidden = history::counted_commits(known);
            let text = format!("{hidden} before these not shown; CSV and JSON have all");
            blocks.push(Block::Paragraph(text));
        }
        blocks
    }

    /// Lists every change of the run and its kernels, and what did not change.
    fn changes(&self, top: usize, style: &Style) -> Vec<String> {
        let lines = || self.whole.iter().chain(&self.kernels);
        let mut sentences: Vec<String> =
            lines().flat_map(|line| self.sentences(line, style)).collect();
        let hidden = sentences.len().saturating_sub(top);
        sentences.truncate(top);
        if hidden > 0 {
            sentences.push(format!("{hidden} more: use --top"));
        }
        let gone: Vec<String> =
            lines().filter(|line| line.is_gone).map(|line| name(self, line, style)).collect();
        if !gone.is_empty() {
            let (shown, more) = gone.split_at(gone.len().min(GONE_NAMED));
            let more = match more.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            sentences.push(format!("not in the newest commit: {}{more}", shown.join(", ")));
        }
        let calm = |line: &&Line| line.changes.is_empty() && line.drift.is_none();
        let kernels = self.kernels.iter().filter(calm).filter(|line| line.is_judged).count();
        let (few, none): (Vec<&Line>, Vec<&Line>) = self
            .kernels
            .iter()
            .filter(|line| !line.is_judged)
            .partition(|line| line.values.iter().any(Option::is_some));
        let whole = self.whole.as_ref().filter(|line| line.is_judged).filter(calm);
        let mut calm: Vec<String> = whole.map(|_| "the run".to_owned()).into_iter().collect();
        if kernels > 0 {
            calm.push(count(kernels as u64, "kernel", "kernels"));
        }
        if !calm.is_empty() {
            sentences.push(format!("no change in {}", calm.join(" and ")));
        }
        if !few.is_empty() {
            let few = count(few.len() as u64, "kernel", "kernels");
            sentences.push(format!("too few commits to check {few}"));
        }
        if !none.is_empty() {
            let none = count(none.len() as u64, "kernel", "kernels");
            sentences.push(format!("{} is not known of {none}", self.metric.words(true)));
        }
        sentences
    }

    /// Lists the changes of a line, one sentence each.
    fn sentences(&self, line: &Line, style: &Style) -> Vec<String> {
        let whose = if line.kernel.is_some() {
            let (name, share) = (name(self, line, style), percent(line.share.get()));
            let of = if line.is_gone { "of the last run that has it" } else { "of the run" };
            format!("{name} ({share} {of})")
        } else {
            name(self, line, style)
        };
        let words = match (line.metric, line.kernel.is_some()) {
            (TrendMetric::Time | TrendMetric::Total, false) => String::new(),
            (metric, is_kernel) => format!("{} ", metric.words(is_kernel)),
        };
        let mut sentences: Vec<String> = line
            .changes
            .iter()
            .map(|change| format!("{whose}: {words}{}", self.step(change, line)))
            .collect();
        sentences.extend(
            line.drift.as_ref().map(|drift| format!("{whose}: {words}{}", self.drift(drift, line))),
        );
        sentences
    }

    fn step(&self, found: &TrendChange, line: &Line) -> String {
        let step = &found.step;
        let place = self.points.get(found.point).map_or_else(String::new, place);
        let impact = match line.kernel {
            Some(_) => format!("; {} per run", signed_time(found.impact_s.get())),
            None => String::new(),
        };
        format!(
            "{} at {place}, from {} to {}, {}, {} before / {} after{impact}",
            change(step.change),
            shown(self.metric, step.before),
            shown(self.metric, step.after),
            probability(step.p.get()),
            step.values_before,
            step.values_after,
        )
    }

    fn drift(&self, drift: &Drift, line: &Line) -> String {
        let points = self.points.iter().zip(&line.values).filter(|(_, value)| value.is_some());
        let commits = history::counted_commits(points.map(|(point, _)| point.commit.is_some()));
        format!(
            "drifts by {} over {commits}, from {} to {}, {}; no step explains it better",
            change(drift.change),
            shown(self.metric, drift.from),
            shown(self.metric, drift.to),
            probability(drift.p.get()),
        )
    }

    /// Formats the trend as CSV: a row per commit for the run, then for each kernel; values in SI
    /// units. A drift over all commits stands in the last row of its line.
    fn csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let header = [
            "kernel", "operator", "shape", "saved", "commit", "branch", "runs", "median", "least",
            "greatest", "unit", "change", "p", "drift", "drift_p", "metric",
        ];
        let mut write = |row: &[String]| {
            // Writing to memory cannot fail.
            let _ = writer.write_record(row);
        };
        write(&header.map(str::to_owned));
        for line in self.whole.iter().chain(&self.kernels) {
            let last = line.values.iter().rposition(Option::is_some);
            for (at, (point, value)) in self.points.iter().zip(&line.values).enumerate() {
                let Some(value) = value else { continue };
                let change = line.changes.iter().find(|change| change.point == at);
                let number = |value: f64| format!("{value:e}");
                let drift = line.drift.as_ref().filter(|_| Some(at) == last);
                write(&[
                    guarded(line.full_name.as_deref().unwrap_or_default()),
                    guarded(line.operator.as_deref().unwrap_or_default()),
                    guarded(line.shape.as_deref().unwrap_or_default()),
                    guarded(point.saved.as_deref().unwrap_or_default()),
                    guarded(point.commit.as_deref().unwrap_or_default()),
                    guarded(point.branch.as_deref().unwrap_or_default()),
                    value.runs.to_string(),
                    number(value.median),
                    number(value.least),
                    number(value.greatest),
                    self.unit.key().to_owned(),
                    change.map(|change| number(change.step.change.get())).unwrap_or_default(),
                    change.map(|change| number(change.step.p.get())).unwrap_or_default(),
                    drift.map(|drift| number(drift.change.get())).unwrap_or_default(),
                    drift.map(|drift| number(drift.p.get())).unwrap_or_default(),
                    line.metric.key().to_owned(),
                ]);
            }
        }
        let bytes = writer.into_inner().unwrap_or_default();
        String::from_utf8(bytes).unwrap_or_default()
    }
}

/// Returns the name of a line, with its grid and block where others have that name.
fn name(trend: &Trend, line: &Line, style: &Style) -> String {
    let Some(short) = &line.kernel else { return "total".to_owned() };
    let full = line.full_name.as_ref().filter(|_| style.full_names);
    let operator = line.operator.as_ref().map(|operator| format!(" [{operator}]"));
    let is_alike = |other: &&Line| other.kernel == line.kernel && other.operator == line.operator;
    let is_shared = trend.kernels.iter().filter(is_alike).count() > 1;
    let shape = line.shape.as_ref().filter(|_| is_shared).map(|shape| format!(", {shape}"));
    printable(&format!(
        "{}{}{}",
        full.unwrap_or(short),
        operator.unwrap_or_default(),
        shape.unwrap_or_default()
    ))
}

/// Returns the date of a time such as `2026-11-22T05:30:00Z`.
fn day(saved: &str) -> Option<&str> {
    saved.get(..10)
}

fn minute(saved: &str) -> String {
    printable(saved.get(..16).unwrap_or(saved)).replace('T', " ")
}

/// Returns the first eight characters of a commit.
fn short(commit: &str) -> String {
    printable(history::short(commit))
}

/// Formats a commit with its date, or the time if no commit is known.
fn place(point: &Point) -> String {
    let day = point.saved.as_deref().and_then(day);
    match (&point.commit, day) {
        (Some(commit), Some(day)) => format!("commit {} ({})", short(commit), printable(day)),
        (Some(commit), None) => format!("commit {}", short(commit)),
        (None, _) => point.saved.as_deref().map_or_else(|| MISSING.to_owned(), minute),
    }
}

/// Formats a value with its unit.
fn shown(metric: TrendMetric, value: f64) -> String {
    match metric {
        TrendMetric::Time | TrendMetric::Total => si(value, "s"),
        TrendMetric::Headroom => factor(value),
        TrendMetric::Share => percent(value),
    }
}

fn signed_time(seconds: f64) -> String {
    let sign = if seconds < 0.0 { '-' } else { '+' };
    format!("{sign}{}", si(seconds.abs(), "s"))
}

fn probability(p: f64) -> String {
    if p < 0.0001 { "p < 0.0001".to_owned() } else { format!("p = {p:.4}") }
}

/// So many kernels that the newest commit does not have are named.
const GONE_NAMED: usize = 5;

/// Plot column that marks each value between the smallest and the largest with a dot; a bar from
/// zero would hide 5%.
struct Ruler {
    low: f64,
    high: f64,
    width: usize,
    ascii: bool,
}

impl Ruler {
    fn of(line: &Line, style: &Style) -> Self {
        /// Width of the other columns.
        const OTHERS: usize = 80;
        let values = || line.values.iter().flatten().map(|one| one.median);
        let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
        // Noise of one per cent does not go from end to end.
        let span = (high - low).max(high * 0.1);
        let low = (f64::midpoint(low, high) - span / 2.0).max(0.0);
        let room = style.width.map_or(RULER, |width| width.saturating_sub(OTHERS));
        Self { low, high: low + span, width: room.clamp(12, RULER), ascii: style.ascii }
    }

    fn title(&self, scale: &Scale) -> String {
        if !self.low.is_finite() {
            return String::new();
        }
        let (low, high) = (scale.show(self.low), scale.show(self.high));
        let gap = self.width.saturating_sub(low.chars().count() + high.chars().count()).max(1);
        format!("{low}{}{high}", " ".repeat(gap))
    }

    /// Draws a dot at the end of a line of points, because formats may drop leading blanks.
    fn dot(&self, value: f64) -> String {
        let part = ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        let at = (part * (self.width - 1) as f64).round() as usize;
        let (point, dot) = if self.ascii { (".", 'o') } else { ("·", '●') };
        format!("{}{dot}", point.repeat(at))
    }
}

/// The common unit of a column.
enum Scale {
    Time(TimeUnit),
    Headroom,
    Share,
}

impl Scale {
    /// Returns the unit for the commits that are shown, which are all but the first `hidden`.
    fn of(metric: TrendMetric, line: &Line, hidden: usize) -> Self {
        match metric {
            TrendMetric::Time | TrendMetric::Total => {
                let times = line.values.iter().skip(hidden).flatten();
                Self::Time(TimeUnit::of(times.map(|one| Seconds::new(one.median))))
            }
            TrendMetric::Headroom => Self::Headroom,
            TrendMetric::Share => Self::Share,
        }
    }

    fn column(&self) -> Column {
        match self {
            Self::Time(_) => Column::number("time_s", "time", Form::Time),
            Self::Headroom => Column::number("headroom", "headroom", Form::Digits),
            Self::Share => Column::number("share", "share", Form::Share),
        }
    }

    fn show(&self, value: f64) -> String {
        match self {
            Self::Time(unit) => unit.show(Seconds::new(value)),
            Self::Headroom => digits(value),
            Self::Share => percent(value),
        }
    }
}
