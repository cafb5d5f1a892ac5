//! The kernels of a brief: those with most to save, grids of one cause together.

use std::cmp::Ordering;

use super::sentence::{ROOM, first_clauses, sentence};
use crate::analysis::{self, GroupTotals, Kernel, State, Target, most_headroom};
use crate::report::Report;
use crate::report::numbers::count;
use crate::report::view::{Style, name, si};
use crate::rules::{Confidence, Finding, Severity};
use crate::units::Seconds;

/// A kernel, with all its grids that have the same cause.
#[derive(Debug, Clone, Copy)]
pub(in crate::report) struct Entry<'a> {
    /// The one with most to save.
    pub(in crate::report) kernel: &'a Kernel,
    /// How many grids of the kernel it stands for.
    pub(in crate::report) grids: usize,
    /// Measured time of all of them.
    pub(in crate::report) measured: Seconds,
    /// Share of the run.
    pub(in crate::report) share: f64,
    /// Measured over roofline time of all of them, and the least that it certainly is.
    pub(in crate::report) headroom: Option<(f64, f64)>,
    /// Their savings, which are a part of those of the run; zero where they are unproven.
    pub(in crate::report) savings: Seconds,
    /// The range of the savings; where they are unproven, its upper end is the most there can be.
    pub(in crate::report) range: (Seconds, Seconds),
    /// How certain the savings are.
    pub(in crate::report) certainty: Certainty,
    /// Whether one of them is flagged, or waived.
    is_flagged: bool,
    /// The finding that explains them, where a rule does.
    pub(in crate::report) finding: Option<&'a Finding>,
    /// Whether rules explain a part of them.
    is_partly_explained: bool,
}

/// How certain savings are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::report) enum Certainty {
    /// Work was counted, and what was not is bounded.
    Certain,
    /// By what the kernel is, or by counts from shapes.
    Likely,
    /// Apart from all sums: no certain cause shows that there is anything to save.
    Unproven,
}

/// As many kernels where all savings are unproven, or fill up fewer proven ones.
const UNPROVEN: usize = 3;

impl Certainty {
    /// The word used in reports.
    pub(in crate::report) const fn label(self) -> &'static str {
        match self {
            Self::Certain => "certain",
            Self::Likely => "likely",
            Self::Unproven => "unproven",
        }
    }
}

/// Whether savings are not certain: no more than the state that they come with.
fn is_likely(kernel: &Kernel) -> bool {
    kernel.has_likely_savings() || kernel.confidence != Some(analysis::Confidence::Certain)
}

impl<'a> Entry<'a> {
    /// Kernels of one cause; none of no kernels.
    fn of(
        report: &Report<'a>,
        kernels: &[&'a Kernel],
        finding: Option<&'a Finding>,
    ) -> Option<Self> {
        let analysis = report.analysis;
        let first = *kernels.first()?;
        let sum =
            |time: fn(&Kernel) -> Seconds| kernels.iter().map(|one| time(one)).sum::<Seconds>();
        let expected = sum(|one| one.roofline_time.unwrap_or_default());
        let (low, high) = (
            sum(|one| one.least_roofline_time().unwrap_or_default()),
            sum(|one| one.roofline_time_high.unwrap_or(one.modeled).min(one.modeled)),
        );
        let modeled = sum(|one| one.modeled);
        let certainty = match first.has_savings() {
            false => Certainty::Unproven,
            true if kernels.iter().any(|one| is_likely(one)) => Certainty::Likely,
            true => Certainty::Certain,
        };
        Some(Self {
            kernel: first,
            grids: kernels.len(),
            measured: sum(|one| one.measured),
            share: kernels.iter().map(|one| analysis.totals.share(one.measured)).sum(),
            headroom: (expected > Seconds::ZERO)
                .then(|| (most_headroom(modeled, expected, low), modeled / high.max(expected))),
            savings: if first.has_savings() { sum(|one| one.savings) } else { Seconds::ZERO },
            range: (sum(|one| one.savings_low), sum(|one| one.savings_high)),
            certainty,
            is_flagged: kernels
                .iter()
                .any(|one| matches!(one.state, State::Flagged | State::Waived)),
            finding,
            is_partly_explained: report.findings_of(first).iter().any(|one| one.next.is_some()),
        })
    }

    /// Whether it is below its roofline and no rule says why.
    pub(super) fn is_unexplained(&self) -> bool {
        let needs_none = matches!(
            self.kernel.state,
            State::NearRoofline
                | State::LaunchBound
                | State::NotEnoughData
                | State::NotRoofline
                | State::FasterThanRoofline
        );
        self.finding.is_none() && !needs_none && !self.kernel.is_shared()
    }

    /// The name, and how many grids it stands for.
    pub(in crate::report) fn name(&self, style: &Style) -> String {
        let name = name(self.kernel, style);
        if self.grids > 1 { format!("{name} ({} grids)", self.grids) } else { name }
    }

    /// How certain the savings are, and whether they are too small, or the kernel too near its roofline, to be flagged for.
    pub(in crate::report) fn verdict(&self) -> String {
        let certainty = self.certainty.label();
        if self.is_flagged || self.certainty == Certainty::Unproven {
            certainty.to_owned()
        } else {
            format!("{certainty}, not flagged")
        }
    }

    /// Cause and next step in one sentence.
    pub(in crate::report) fn sentence(&self) -> String {
        match self.finding {
            Some(finding) => sentence(finding),
            None if self.is_unexplained() => {
                let meaning = self.kernel.meaning();
                let part = if self.is_partly_explained { "most of it" } else { "it" };
                format!("{}; no rule explains {part}", first_clauses(&meaning, ROOM))
            }
            None if self.kernel.state == State::NotEnoughData => {
                let Kernel { launches, timed, .. } = *self.kernel;
                let launches = if timed == launches {
                    count(launches, "launch", "launches")
                } else {
                    count(timed, "timed launch", "timed launches")
                };
                let each = si(self.kernel.mean().get(), "s");
                format!("{launches} of {each}; {}", self.kernel.reason.general())
            }
            None => first_clauses(&self.kernel.meaning(), ROOM).to_owned(),
        }
    }
}

/// An entry for each of these kernels, whatever it can save.
pub(super) fn of_kernels<'a>(report: &Report<'a>, kernels: &[&'a Kernel]) -> Vec<Entry<'a>> {
    let entry = |kernel: &&'a Kernel| {
        Entry::of(report, &[*kernel], cause(report.findings_of(kernel), kernel))
    };
    kernels.iter().filter_map(entry).collect()
}

/// So many kernels with savings, then with unproven ones, each most first; and how many there are.
pub(super) fn entries<'a>(report: &Report<'a>, most: usize) -> (Vec<Entry<'a>>, usize) {
    /// Less of the largest savings is not worth a line.
    const LEAST: f64 = 0.1;
    let analysis = report.analysis;
    let floor = analysis.smallest_win();
    let mut alike: Vec<(&'a Kernel, Option<&'a Finding>)> = Vec::new();
    for (position, kernel) in analysis.kernels.iter().enumerate() {
        let is_proven = kernel.has_savings() && kernel.savings > Seconds::ZERO;
        let is_open = kernel.is_unproven() && kernel.savings_high >= floor;
        if is_proven || is_open {
            alike.push((kernel, cause(report.findings.of(position), kernel)));
        }
    }
    // Kernels of one cause stand side by side, the first of them first.
    alike.sort_unstable_by(|one, two| (key(one).cmp(&key(two))).then(one.0.rank.cmp(&two.0.rank)));
    let entry = |alike: &[(&'a Kernel, Option<&'a Finding>)]| {
        let kernels: Vec<&Kernel> = alike.iter().map(|(kernel, _)| *kernel).collect();
        Entry::of(report, &kernels, alike.first()?.1)
    };
    // Where groups have targets, those that miss theirs come first.
    let urgency =
        |entry: &Entry<'_>| match analysis.group_of(entry.kernel).and_then(GroupTotals::verdict) {
            Some(Target::Missed) => 0_u8,
            Some(Target::CannotTell) | None => 1,
            Some(Target::Met) => 2,
        };
    let standings = || {
        let mut start = 0;
        alike.chunk_by(|one, two| key(one) == key(two)).filter_map(move |group| {
            let place = (start, start + group.len());
            start = place.1;
            entry(group).map(|entry| Standing {
                urgency: urgency(&entry),
                is_unproven: entry.certainty == Certainty::Unproven,
                savings: entry.savings,
                most: entry.range.1,
                rank: entry.kernel.rank,
                place,
            })
        })
    };
    let largest = standings().map(|one| one.savings).fold(Seconds::ZERO, Seconds::max);
    // There can be as many as launches: only those that are shown are kept.
    let mut first: Vec<Standing> = Vec::new();
    let (mut all, mut proven) = (0, 0);
    for one in standings() {
        if !one.is_unproven && one.savings < (largest * LEAST).min(floor) {
            continue;
        }
        all += 1;
        proven += usize::from(!one.is_unproven);
        let at = first.partition_point(|known| known.order(&one).is_lt());
        if at < most {
            first.insert(at, one);
            first.truncate(most);
        }
    }
    first.truncate(proven.max(UNPROVEN));
    let entries = first.iter().filter_map(|one| entry(&alike[one.place.0..one.place.1]));
    (entries.collect(), all)
}

/// What decides on the place of an entry.
struct Standing {
    urgency: u8,
    is_unproven: bool,
    savings: Seconds,
    most: Seconds,
    rank: usize,
    /// Where its kernels are.
    place: (usize, usize),
}

impl Standing {
    /// The order of entries, that with most to save first.
    fn order(&self, other: &Self) -> Ordering {
        (self.urgency.cmp(&other.urgency))
            .then(self.is_unproven.cmp(&other.is_unproven))
            .then(other.savings.total_cmp(&self.savings))
            .then(other.most.total_cmp(&self.most))
            .then(self.rank.cmp(&other.rank))
    }
}

/// What kernels of one cause have in common.
fn key<'a>(
    (kernel, finding): &(&'a Kernel, Option<&'a Finding>),
) -> (&'a str, Option<&'a str>, usize, bool, Option<&'a str>) {
    let rule = finding.map(|finding| &*finding.rule);
    (&kernel.name, kernel.operator.as_deref(), kernel.device, kernel.has_savings(), rule)
}

/// What the cure of a finding saves at most. A better implementation on the same pipes leads to the
/// structural expectation of the kernel; another pipe leads to another roof.
pub(super) fn win(finding: &Finding, kernel: &Kernel) -> f64 {
    let most = if kernel.is_winnable { kernel.savings } else { kernel.savings_high };
    // What caches serve has no roof, and no savings that would bound it.
    if finding.goes_beyond_the_roof() || kernel.state == State::CacheResident {
        finding.at_stake_s
    } else {
        finding.at_stake_s.min(most.get())
    }
}

/// The finding that explains what a kernel has to save: of those that explain half as much as the one that explains
/// most, the surest; a guess only where nothing surer explains a third. Where no rule explains a fifth of it, what a
/// counter shows to take most of the time, though nobody knows what it would save; and what is grave in a kernel of
/// which nobody knows whether it has anything to save.
pub(super) fn cause<'a>(found: &'a [Finding], kernel: &Kernel) -> Option<&'a Finding> {
    const ALIKE: f64 = 0.5;
    const PART: f64 = 0.2;
    const THIRD: f64 = 1.0 / 3.0;
    let most = if kernel.is_winnable { kernel.savings } else { kernel.savings_high };
    let cures = || {
        let cures = found.iter().filter(|finding| finding.next.is_some());
        cures.map(|finding| (finding, win(finding, kernel))).filter(|(_, win)| *win > 0.0)
    };
    let explains = |win: f64, part: f64| win > 0.0 && win >= most.get() * part;
    let is_sure = |finding: &Finding| finding.confidence > Confidence::Low;
    let has_sure = cures().any(|(finding, win)| is_sure(finding) && explains(win, THIRD));
    let cures = || cures().filter(move |(finding, _)| is_sure(finding) || !has_sure);
    let largest = cures().map(|(_, win)| win).fold(0.0, f64::max);
    if !explains(largest, PART) {
        let is_shown = |finding: &&Finding| {
            let is_open = finding.at_stake_s == 0.0 || !kernel.is_winnable;
            let is_grave = finding.severity == Severity::High && is_sure(finding);
            is_open && is_grave && finding.next.is_some()
        };
        return found.iter().find(is_shown).filter(|_| most > Seconds::ZERO);
    }
    let large = cures().filter(|(_, win)| *win >= largest * ALIKE);
    // Of equals the first: findings come in the order of their weight.
    large.rev().max_by_key(|(finding, _)| finding.confidence).map(|(finding, _)| finding)
}
