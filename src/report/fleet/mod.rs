//! The report of a fleet: kernels over all ranks, stragglers with their cause, imbalance, savings in GPU-hours.

mod json;
mod tables;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use super::document::{Block, Cell, Column, Document, Fact, Form, Table, first_of};
use super::run::{devices, headroom, roofline_time};
use super::view::{Style, count, digits, overall, percent, printable, si};
use super::{Report, Reported};
use crate::analysis::{Analysis, Kernel, KernelRanks, Sketch, TimePart};
use crate::fleet::{Imbalance, PositionsFrom, Rank, Straggler};
use crate::rules::Findings;
use crate::units::{Seconds, median};
pub use json::fleet_schema;

/// Many ranks, merged and judged.
#[derive(Debug, Clone, Copy)]
pub struct FleetReport<'a> {
    /// The verdicts on all kernels.
    pub analysis: &'a Analysis,
    /// What the rules found.
    pub findings: &'a Findings,
    /// For each row of the analyzed profile: the times of the launches, and of the ranks.
    pub spread: &'a [(Sketch, KernelRanks)],
    /// The ranks by run and number.
    pub ranks: &'a [Rank],
    /// Ranks that take longer than the others, the slowest first.
    pub stragglers: &'a [Straggler],
    /// Imbalance along the axes of parallelism; empty if no positions are known.
    pub imbalances: &'a [Imbalance],
    /// What gives the positions on these axes; `None` if nothing does.
    pub positions_from: Option<PositionsFrom>,
    /// What limits the comparison of the ranks, one sentence each.
    pub notes: &'a [String],
    /// Price of an hour of one GPU, without currency.
    pub price: Option<f64>,
    /// Rows of tables; `None`: as many as a terminal shows well, and all elsewhere.
    pub top: Option<usize>,
}

/// Seconds of an hour.
const HOUR: f64 = 3600.0;

/// Ranks that documents for people show at most, the slowest; JSON and Parquet have all.
const MOST: usize = 10_000;

/// Rows of tables on a terminal.
const ROWS: usize = 10;

impl Reported for FleetReport<'_> {
    fn document(&self, style: &Style) -> Document {
        let ranks = count(self.ranks.len() as u64, "rank", "ranks");
        let runs = count(self.runs().len() as u64, "run", "runs");
        let mut document = Document::titled(format!("{ranks} of {runs}"));
        document.push(Block::Facts(self.facts()));
        let whole = style.full || style.verbose;
        let top = match self.top {
            _ if whole => usize::MAX,
            Some(top) => top,
            None if style.width.is_none() => usize::MAX,
            None => ROWS,
        };
        let kernels = &self.analysis.kernels;
        let shown = kernels.len().min(top);
        let title = format!("Kernels over all ranks{}", first_of(shown, kernels.len()));
        document.section(title, vec![Block::Table(self.kernels(shown))]);
        let shown = self.stragglers.len().min(top).min(MOST);
        let all = self.stragglers.len();
        let (title, table) = match (shown, all) {
            (0, 0) if self.ranks.len() <= 2 => (String::new(), Block::Table(stragglers(&[]))),
            // Asked for no rows.
            (0, _) => {
                let who = match all {
                    0 => "no rank takes".to_owned(),
                    1 => "1 rank takes".to_owned(),
                    all => format!("{all} ranks take"),
                };
                let text = format!("{who} 5% longer than the median of its run");
                ("Stragglers".to_owned(), Block::Paragraph(text))
            }
            _ => {
                let table = stragglers(&self.stragglers[..shown]);
                (format!("Stragglers{}", first_of(shown, all)), Block::Table(table))
            }
        };
        document.section(title, vec![table]);
        let from = self.positions_from.map_or("", |from| match from {
            PositionsFrom::Names => " by the positions in file names",
            PositionsFrom::Sizes => " by the positions of --axes",
            PositionsFrom::Layout => " by the positions of --layout",
        });
        let table = imbalances(self.imbalances, self.runs().len() > 1);
        document.section(format!("Imbalance{from}"), vec![Block::Table(table)]);
        let shown = self.ranks.len().min(top).min(MOST);
        let title = format!("Ranks{}", first_of(shown, self.ranks.len()));
        document.section(title, vec![Block::Table(self.ranks(shown))]);
        document.section("How exact", vec![Block::lines(self.exactness())]);
        let notes = self.notes.iter().map(|note| printable(note)).collect();
        document.section("Notes", vec![Block::lines(notes)]);
        document
    }

    /// Programs read all figures of the kernels.
    fn own(&self, format: &str, _: &Style) -> Option<String> {
        match format {
            "json" => Some(crate::json::lines(&self.json())),
            "csv" => Some(self.kernel_table().csv()),
            _ => None,
        }
    }

    fn stream(&self, format: &str, to: &mut dyn Write) -> Option<io::Result<()>> {
        (format == "json").then(|| crate::json::write(to, &self.json()))
    }
}

impl<'a> FleetReport<'a> {
    /// Returns the report of a run on the same kernels.
    fn run(&self) -> Report<'a> {
        let Self { analysis, findings, .. } = *self;
        let top = self.top.unwrap_or(ROWS);
        Report { analysis, findings, top, what_if: &[], command: None }
    }

    fn runs(&self) -> BTreeSet<&str> {
        self.ranks.iter().map(|rank| &*rank.id.run).collect()
    }

    /// Returns the median time of the ranks of each run, in seconds, where there is one.
    fn medians(&self) -> BTreeMap<&str, f64> {
        let mut times: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for rank in self.ranks {
            let measured = rank.measured().map(Seconds::get);
            times.entry(&rank.id.run).or_default().extend(measured);
        }
        let median = |(run, times): (_, Vec<f64>)| {
            median(&times).filter(|median| *median > 0.0).map(|median| (run, median))
        };
        times.into_iter().filter_map(median).collect()
    }

    /// Returns the relative difference of a rank from the median of its run, among these.
    fn from_median(rank: &Rank, medians: &BTreeMap<&str, f64>) -> Option<f64> {
        let median = medians.get(&*rank.id.run)?;
        Some(rank.measured()?.get() / median - 1.0)
    }

    fn facts(&self) -> Vec<Fact> {
        let totals = &self.analysis.totals;
        let hours = |time: Seconds| {
            let hours = time.get() / HOUR;
            let cost = |price: f64| format!(" ({:.2} at {price:.2} per hour)", hours * price);
            let cost = self.price.map(cost).unwrap_or_default();
            let is_shown = hours >= 0.001 || hours <= 0.0;
            let hours = if is_shown { digits(hours) } else { "less than 0.001".to_owned() };
            format!("{hours} GPU-hours{cost}")
        };
        let launches = count(totals.launches, "launch", "launches");
        let kernels = count(totals.kernels as u64, "kernel", "kernels");
        let whole = format!("{launches} of {kernels} on {}", devices(self.analysis).join(", "));
        let ceilings = Fact::new("Ceilings", self.analysis.ceilings.label());
        if totals.measured <= Seconds::ZERO {
            let time = format!("unknown: no durations in {whole}");
            return vec![Fact::new("GPU time", time), ceilings];
        }
        let time = si(totals.measured.get(), "s");
        let mut facts =
            vec![Fact::new("GPU time", format!("{time} in {whole}: {}", hours(totals.measured)))];
        if let Some(headroom) = overall(totals) {
            let (judged, roofline) = (totals.modeled.get(), totals.roofline_time.get());
            facts.push(Fact::new(
                "Roofline",
                format!("{} of {} judged ({})", si(roofline, "s"), si(judged, "s"), headroom),
            ));
        }
        let savings = if totals.savings > Seconds::ZERO {
            format!(
                "{} ({} of the GPU time): {}; {} to {}",
                si(totals.savings.get(), "s"),
                percent(totals.savings / totals.measured),
                hours(totals.savings),
                si(totals.savings_low.get(), "s"),
                si(totals.savings_high.get(), "s")
            )
        } else {
            "none proven".to_owned()
        };
        facts.push(Fact::new("Savings", savings));
        if totals.savings_unproven > Seconds::ZERO {
            let most = si(totals.savings_unproven.get(), "s");
            let hours = hours(totals.savings_unproven);
            let text = format!("at most {most} more, where no certain cause was found: {hours}");
            facts.push(Fact::new("Unproven", text));
        }
        facts.push(ceilings);
        facts.extend(self.impossible());
        facts
    }

    /// Says how much of the time is in kernels that cannot be: of most of it, a wrong device is the first suspect.
    fn impossible(&self) -> Option<Fact> {
        /// Less is left to the states of the kernels.
        const PART: f64 = 0.05;
        let totals = &self.analysis.totals;
        let share = totals.parts.get(TimePart::FasterThanRoofline) / totals.measured;
        (share >= PART).then(|| {
            let text = "of the GPU time is in kernels faster than their roofline: the device, a clock or a metric is wrong";
            Fact::new("Check", format!("{} {text}{}", percent(share), if self.notes.is_empty() { "" } else { "; see the notes" }))
        })
    }

    /// Returns the spread of a kernel over launches and ranks.
    fn spread_of(&self, kernel: &Kernel) -> Option<&(Sketch, KernelRanks)> {
        self.spread.get(kernel.longest)
    }

    fn kernels(&self, shown: usize) -> Table {
        // Said once where it is the same for all.
        let is_shown = devices(self.analysis).len() > 1;
        let device = is_shown.then(|| Column::text("device", "device").spare(9));
        let mut columns = vec![Column::name("kernel", "kernel")];
        columns.extend(device);
        columns.extend([
            Column::text("state", "state"),
            Column::number("launches", "launches", Form::Count).spare(2),
            Column::number("measured_s", "time", Form::Time),
            Column::number("roofline_s", "roofline", Form::Time).spare(6),
            Column::number("headroom", "headroom", Form::Factor),
            Column::number("savings_s", "savings", Form::Time),
            Column::number("savings_gpu_hours", "GPU-hours", Form::Digits).spare(5),
            Column::number("median_launch_s", "median launch", Form::Si("s")).spare(8),
            Column::number("ranks", "ranks", Form::Count).spare(4),
            Column::number("least_rank_s", "least rank", Form::Si("s")).spare(7),
            Column::number("median_rank_s", "median rank", Form::Si("s")).spare(7),
            Column::number("greatest_rank_s", "slowest rank", Form::Si("s")).spare(7),
            Column::text("slowest_rank", "slowest").spare(3),
            Column::number("rank_ratio", "slowest/median", Form::Factor).spare(1),
        ]);
        let mut table = Table::new("kernels", columns);
        for kernel in self.analysis.kernels.iter().take(shown) {
            let has_savings = kernel.has_savings();
            let savings = has_savings.then_some(kernel.savings.get());
            let spread = self.spread_of(kernel);
            let ranks = spread.map(|(_, ranks)| ranks);
            let median = ranks.and_then(KernelRanks::median).map(Seconds::get);
            let end = |end: Option<&(crate::analysis::RankId, Seconds)>| {
                Cell::maybe(end.map(|(_, time)| time.get()))
            };
            let greatest = ranks.and_then(|ranks| ranks.greatest.as_ref());
            let ratio = greatest.zip(median.filter(|median| *median > 0.0));
            let typical = spread.and_then(|(times, _)| times.median());
            let device = self.analysis.devices.get(kernel.device);
            let device = Cell::maybe_text(device.map(|device| printable(device.name())));
            let mut cells = vec![Cell::text(printable(&kernel.name))];
            cells.extend(is_shown.then_some(device));
            cells.extend([
                Cell::text(kernel.state.label()),
                Cell::count(kernel.launches),
                Cell::maybe(
                    Some(kernel.measured).filter(|time| *time > Seconds::ZERO).map(Seconds::get),
                ),
                roofline_time(kernel),
                headroom(kernel),
                Cell::maybe(savings),
                Cell::maybe(savings.map(|savings| savings / HOUR)),
                Cell::maybe(typical.map(Seconds::get)),
                ranks.map_or(Cell::Missing, |ranks| Cell::count(ranks.count())),
                end(ranks.and_then(|ranks| ranks.least.as_ref())),
                Cell::maybe(median),
                end(greatest),
                Cell::maybe_text(greatest.map(|(id, _)| printable(&id.to_string()))),
                Cell::maybe(ratio.map(|((_, time), median)| time.get() / median)),
            ]);
            table.push(cells);
        }
        table
    }

    /// The ranks, the slowest first where not all are shown.
    fn ranks(&self, shown: usize) -> Table {
        let mut devices = self.ranks.iter().map(|rank| &rank.figures.devices);
        let first = devices.next();
        let is_shown = devices.any(|other| Some(other) != first);
        let mut columns = vec![Column::name("rank", "rank")];
        columns.extend(is_shown.then(|| Column::text("device", "device").spare(1)));
        columns.extend([
            Column::number("launches", "launches", Form::Count).spare(5),
            Column::number("measured_s", "time", Form::Time),
            Column::number("deviation", "from median", Form::Change),
            Column::number("communication_s", "communication", Form::Time).spare(2),
            Column::number("roofline_s", "roofline", Form::Time).spare(4),
            Column::number("sm_clock_hz", "SM clock", Form::Si("Hz")).spare(3),
        ]);
        let mut table = Table::new("ranks", columns);
        let medians = self.medians();
        let mut ranks: Vec<&Rank> = self.ranks.iter().collect();
        if shown < ranks.len() {
            ranks.sort_by(|one, two| two.figures.measured.total_cmp(&one.figures.measured));
        }
        for rank in ranks.into_iter().take(shown) {
            let figures = &rank.figures;
            let mut cells = vec![Cell::text(printable(&rank.id.to_string()))];
            cells.extend(is_shown.then(|| Cell::text(printable(&figures.devices.join(", ")))));
            cells.extend([
                Cell::count(figures.launches),
                Cell::maybe(rank.timed(figures.measured)),
                Cell::maybe(Self::from_median(rank, &medians)),
                Cell::maybe(rank.timed(figures.communication)),
                Cell::maybe(rank.timed(figures.roofline)),
                Cell::maybe(figures.clock.map(crate::units::Hertz::get)),
            ]);
            table.push(cells);
        }
        table
    }

    fn exactness(&self) -> Vec<String> {
        let mut lines = vec![
            "exact: launches, times, roofline times, savings, least and slowest ranks".to_owned(),
            "sketched, within 1%: the median launch of a kernel".to_owned(),
        ];
        if self.spread.iter().any(|(_, ranks)| ranks.is_sketched()) {
            lines.push("sketched, within 1%: the median rank of kernels on many ranks".to_owned());
        }
        lines
    }
}

fn stragglers(stragglers: &[Straggler]) -> Table {
    let mut table = Table::new(
        "stragglers",
        vec![
            Column::name("rank", "rank"),
            Column::number("measured_s", "time", Form::Time),
            Column::number("ratio", "of median", Form::Factor),
            Column::number("compute_ratio", "without communication", Form::Factor).spare(2),
            Column::text("cause", "cause"),
            Column::text("evidence", "evidence").spare(1),
        ],
    );
    for straggler in stragglers {
        table.push([
            Cell::text(printable(&straggler.id.to_string())),
            Cell::time(straggler.measured),
            Cell::Number(straggler.ratio),
            Cell::Number(straggler.compute_ratio),
            Cell::text(straggler.cause.label()),
            Cell::text(printable(&straggler.evidence)),
        ]);
    }
    table
}

fn imbalances(imbalances: &[Imbalance], has_runs: bool) -> Table {
    let mut columns: Vec<Column> =
        has_runs.then(|| Column::text("run", "run")).into_iter().collect();
    columns.extend([
        Column::text("axis", "axis"),
        Column::number("size", "positions", Form::Count),
        Column::number("slowest", "slowest", Form::Count),
        Column::number("slowest_s", "its time", Form::Time),
        Column::number("mean_s", "mean", Form::Time),
        Column::number("ratio", "slowest/mean", Form::Factor),
    ]);
    let mut table = Table::new("imbalance", columns);
    for one in imbalances {
        let mut cells: Vec<Cell> =
            has_runs.then(|| Cell::text(printable(&one.run))).into_iter().collect();
        cells.extend([
            Cell::text(printable(&one.axis)),
            Cell::count(one.size),
            Cell::count(one.slowest),
            Cell::time(one.slowest_time),
            Cell::time(one.mean),
            Cell::Number(one.ratio()),
        ]);
        table.push(cells);
    }
    table
}
