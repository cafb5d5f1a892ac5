//! Sets two sides beside each other: pairs their kernels, takes apart what all share and what each has.

use super::comparison::{Basis, Common, Comparison, Side};
use super::conditions::{cut_off, doubts, notes};
use super::evidence::{Change, Evidence};
use super::noise::Noise;
use super::pairing::{Pair, pair_sides};
use super::proposals;
use super::run::Run;
use super::shifts;
use super::sides::{Group, Joined};
use super::statistics::{Prior, median, rank_test, robust_deviation, weighted_median};

/// Kernels that take at least this share of the time tell what is common to all.
const TELLING_SHARE: f64 = 0.001;
/// So many of them must agree before their common shift is taken out of each, with one run a side.
const TELLING_KERNELS: usize = 10;
/// With several runs, fewer do: what is taken out is judged by itself, and its noise is known.
const TELLING_KERNELS_OF_RUNS: usize = 3;
/// They do not agree if they spread further than this, as logarithms.
const AGREEMENT: f64 = 0.05;

/// What the user tells about two sides.
#[derive(Debug, Clone, Default)]
pub struct Setting {
    /// What noise may do where it cannot be measured.
    pub noise: Noise,
    /// The order in which the runs were taken, `true` for those of the current side; empty where it
    /// was not declared. Runs of a side are in the order given.
    pub order: Vec<bool>,
}

/// Compares two sides of one or more runs each. Same code on both sides, in any order of kernels,
/// launches and runs of a side, gives no shift; exchanging the sides mirrors all shifts.
#[must_use]
pub fn compare(baseline: &[Run], current: &[Run], setting: &Setting) -> Comparison {
    let (before, after) = (Joined::new(baseline), Joined::new(current));
    let pairing =
        pair_sides(&before.identities, &after.identities, (baseline.len(), current.len()));
    let basis = if same_devices(baseline, current) { Basis::Time } else { Basis::Headroom };
    let rows: Vec<Row<'_>> = pairing
        .pairs
        .iter()
        .map(|pair| Row::new(pair.clone(), before.of(&pair.before), after.of(&pair.after), basis))
        .collect();
    let table = Table {
        rows,
        basis,
        noise: setting.noise,
        timer_s: timer(baseline).max(timer(current)),
        several: baseline.len() + current.len() > 2,
        positions: positions(&setting.order),
    };
    let offsets = table.offsets((baseline.len(), current.len()));
    let common = table.common(&offsets);
    let prior = if table.several { table.prior(&offsets, common.removed) } else { None };
    let mut changes: Vec<Change> =
        table.rows.iter().map(|row| table.change(row, &offsets, &common, prior)).collect();
    let work = work(&table.rows);
    for (change, row) in changes.iter_mut().zip(&table.rows) {
        let (one, two) = (row.before.launches(), row.after.launches());
        change.launches_shift = if one > 0.0 && two > 0.0 { (two / one / work).ln() } else { 0.0 };
    }
    changes.sort_by(|one, two| {
        let time = |change: &Change| change.before.time_s.max(change.after.time_s);
        time(two).total_cmp(&time(one)).then_with(|| one.name.cmp(&two.name))
    });
    let new = after.lone(pairing.new.iter().copied());
    let vanished = before.lone(pairing.vanished.iter().copied());
    Comparison {
        basis,
        total: table.total(baseline, current, work),
        total_typical: table.total_typical((&before, &after), work),
        common,
        work,
        proposals: proposals::propose((&before, &vanished), (&after, &new), work),
        cut_off: cut_off(baseline, current),
        doubts: doubts(baseline, current),
        notes: notes(baseline, current, &setting.order),
        order: order(&setting.order),
        baseline: side(baseline, &before),
        current: side(current, &after),
        changes,
        new,
        vanished,
    }
}

/// A pair of kernels with a value for each run.
struct Row<'a> {
    pair: Pair,
    before: Group<'a>,
    after: Group<'a>,
    /// The typical launch of each run, or its headroom, as logarithms.
    values: (Vec<Option<f64>>, Vec<Option<f64>>),
    /// Typical launches of each run, whatever is compared.
    centres: (Vec<Option<f64>>, Vec<Option<f64>>),
    by_samples: bool,
    /// Mean share of the time of both sides.
    share: f64,
}

impl<'a> Row<'a> {
    fn new(pair: Pair, before: Group<'a>, after: Group<'a>, basis: Basis) -> Self {
        let by_samples = before.has_samples() && after.has_samples();
        let centres = (before.centres(by_samples), after.centres(by_samples));
        let values = match basis {
            Basis::Time => centres.clone(),
            Basis::Headroom => (before.headrooms(), after.headrooms()),
        };
        let share = |group: &Group<'_>| {
            let runs = group.by_run.len().max(1) as f64;
            group.all().map(|kernel| kernel.share).sum::<f64>() / runs
        };
        let share = f64::midpoint(share(&before), share(&after));
        Self { pair, before, after, values, centres, by_samples, share }
    }

    fn known(&self) -> (Vec<f64>, Vec<f64>) {
        let known = |values: &[Option<f64>]| values.iter().flatten().copied().collect();
        (known(&self.values.0), known(&self.values.1))
    }

    /// The values of the runs that have one, with what is common to each run taken out.
    fn without(&self, offsets: &Offsets) -> (Vec<f64>, Vec<f64>) {
        let known = |values: &[Option<f64>], offsets: &[f64]| {
            let pairs = values.iter().zip(offsets);
            pairs.filter_map(|(value, offset)| value.map(|value| value - offset)).collect()
        };
        (known(&self.values.0, &offsets.before), known(&self.values.1, &offsets.after))
    }
}

/// What all kernels of a run share, as logarithms about a common level; zero where it is not known.
struct Offsets {
    before: Vec<f64>,
    after: Vec<f64>,
    /// Kernels it was taken from.
    kernels: usize,
    /// How far the shifts of these kernels spread.
    spread: f64,
}

struct Table<'a> {
    rows: Vec<Row<'a>>,
    basis: Basis,
    noise: Noise,
    timer_s: f64,
    /// Whether there are more runs than one a side.
    several: bool,
    /// Places of the runs of both sides in the order in which they were taken.
    positions: Option<(Vec<f64>, Vec<f64>)>,
}

impl Table<'_> {
    /// The median over telling kernels of how far each run lies from the kernel's level, which is
    /// midway between the sides.
    fn offsets(&self, (before, after): (usize, usize)) -> Offsets {
        let telling: Vec<(&Row<'_>, f64, f64)> = self
            .rows
            .iter()
            .filter(|row| row.share >= TELLING_SHARE)
            .filter(|row| {
                [&row.values.0, &row.values.1].iter().all(|side| side.iter().all(Option::is_some))
            })
            .filter_map(|row| {
                let (one, two) = row.known();
                Some((row, median(&one)?, median(&two)?))
            })
            .collect();
        let of = |later: bool, runs: usize| -> Vec<f64> {
            (0..runs)
                .map(|run| {
                    let distances: Vec<f64> = telling
                        .iter()
                        .filter_map(|(row, one, two)| {
                            let values = if later { &row.values.1 } else { &row.values.0 };
                            Some(values[run]? - f64::midpoint(*one, *two))
                        })
                        .collect();
                    median(&distances).unwrap_or(0.0)
                })
                .collect()
        };
        let shifts: Vec<f64> = telling.iter().map(|(_, one, two)| two - one).collect();
        Offsets {
            before: of(false, before),
            after: of(true, after),
            kernels: telling.len(),
            spread: robust_deviation(&shifts).unwrap_or(0.0),
        }
    }

    fn common(&self, offsets: &Offsets) -> Common {
        let floor = self.noise.common.ln_1p();
        let evidence = self.of_whole(&offsets.before, &offsets.after, floor);
        let needed = if self.several { TELLING_KERNELS_OF_RUNS } else { TELLING_KERNELS };
        let (removed, reason) = if self.basis == Basis::Headroom {
            (false, "headroom is compared, and the devices differ".to_owned())
        } else if offsets.kernels < needed {
            let few = format!(
                "{} kernels have 0.1 % of the time or more, and {needed} are needed to tell what they \
                 share from what each has",
                offsets.kernels
            );
            (false, few)
        } else if offsets.spread > AGREEMENT {
            let spread = offsets.spread * 100.0;
            (false, format!("the kernels do not agree: their shifts spread by {spread:.1} %"))
        } else {
            (true, format!("the median over {} kernels", offsets.kernels))
        };
        Common { evidence, kernels: offsets.kernels, removed, reason, cycles: self.common_cycles() }
    }

    /// The median shift in cycles of the telling kernels, if all of them have clocks.
    fn common_cycles(&self) -> Option<f64> {
        let mut shifts = Vec::new();
        for row in self.rows.iter().filter(|row| row.share >= TELLING_SHARE) {
            let (one, two) = (row.before.cycle_centres()?, row.after.cycle_centres()?);
            shifts.push(median(&two)? - median(&one)?);
        }
        median(&shifts)
    }

    /// Evidence on something that each run has one of, with the drift over the order of runs taken out.
    fn of_whole(&self, before: &[f64], after: &[f64], floor: f64) -> Evidence {
        if !self.several {
            let shift = match (before, after) {
                ([one], [two]) => two - one,
                _ => 0.0,
            };
            return shifts::single(shift, floor);
        }
        let level = self.positions.as_ref().filter(|(one, two)| one.len() + two.len() >= 4);
        let drifting = level.and_then(|positions| shifts::of_drifting(before, after, positions));
        drifting
            .or_else(|| shifts::of_runs(before, after, None, 0.0))
            .unwrap_or_else(|| shifts::single(0.0, floor))
    }

    /// The whole run, for the same amount of work.
    fn total(&self, baseline: &[Run], current: &[Run], work: f64) -> Evidence {
        let floor = self.noise.common.ln_1p();
        let (one, two): (Vec<f64>, Vec<f64>) = match self.basis {
            Basis::Time => {
                let logs = |runs: &[Run]| {
                    runs.iter()
                        .filter(|run| run.measured_s > 0.0)
                        .map(|run| run.measured_s.ln())
                        .collect()
                };
                (logs(baseline), logs(current))
            }
            Basis::Headroom => self.whole_headrooms((baseline.len(), current.len())),
        };
        if one.is_empty() || two.is_empty() {
            return shifts::single(0.0, floor);
        }
        let two: Vec<f64> = match self.basis {
            Basis::Time => two.iter().map(|log| log - work.ln()).collect(),
            Basis::Headroom => two,
        };
        self.of_whole(&one, &two, floor)
    }

    /// The shift of the whole with typical launches, for one run a side.
    fn total_typical(&self, (before, after): (&Joined<'_>, &Joined<'_>), work: f64) -> Option<f64> {
        if self.several || self.basis == Basis::Headroom {
            return None;
        }
        let (one, two) = (before.typical_time(), after.typical_time());
        (one > 0.0 && two > 0.0).then(|| (two / one / work).ln())
    }

    /// Headroom of everything that both sides have judged, run by run.
    fn whole_headrooms(&self, runs: (usize, usize)) -> (Vec<f64>, Vec<f64>) {
        let judged: Vec<&Row<'_>> = self
            .rows
            .iter()
            .filter(|row| row.values.0.iter().chain(&row.values.1).all(Option::is_some))
            .collect();
        let of = |later: bool, run: usize| {
            let mut sums = (0.0, 0.0);
            for row in &judged {
                let group = if later { &row.after } else { &row.before };
                for kernel in &group.by_run[run] {
                    sums.0 += kernel.modelled_s;
                    sums.1 += kernel.expected_s.unwrap_or_default();
                }
            }
            (sums.0 > 0.0 && sums.1 > 0.0).then(|| (sums.0 / sums.1).ln())
        };
        (
            (0..runs.0).filter_map(|run| of(false, run)).collect(),
            (0..runs.1).filter_map(|run| of(true, run)).collect(),
        )
    }

    fn prior(&self, offsets: &Offsets, removed: bool) -> Option<Prior> {
        let variances: Vec<(f64, f64)> = self
            .rows
            .iter()
            .filter(|row| row.share >= TELLING_SHARE)
            .map(|row| {
                let (one, two) = if removed { row.without(offsets) } else { row.known() };
                shifts::variance(&one, &two)
            })
            .collect();
        Prior::fit(&variances)
    }

    fn change(
        &self,
        row: &Row<'_>,
        offsets: &Offsets,
        common: &Common,
        prior: Option<Prior>,
    ) -> Change {
        let (raw, own) = self.evidence(row, offsets, common, prior);
        let missing = raw.is_none().then(|| self.missing(row));
        let mean_shift = match self.basis {
            Basis::Time => row.after.mean().zip(row.before.mean()).map(|(two, one)| two - one),
            Basis::Headroom => None,
        };
        let launches =
            (row.before.by_run.len(), row.after.by_run.len()) == (1, 1) && row.by_samples;
        let name = row.after.name();
        let was = Some(row.before.name()).filter(|was| *was != name);
        Change {
            pair: row.pair.clone(),
            before: row.before.measured(&row.centres.0),
            after: row.after.measured(&row.centres.1),
            name,
            was,
            own,
            raw,
            missing,
            launches_shift: 0.0,
            cycles: self.cycles(row),
            mean_shift,
            p_launches: launches
                .then(|| rank_test(&row.before.logs(0), &row.after.logs(0)))
                .flatten(),
        }
    }

    fn missing(&self, row: &Row<'_>) -> String {
        let (one, two) = row.known();
        let side = match (one.is_empty(), two.is_empty()) {
            (true, true) => "neither side has",
            (true, false) => "the baseline has no",
            _ => "the current side has no",
        };
        match self.basis {
            Basis::Time if side == "neither side has" => {
                "neither side has a duration of it".to_owned()
            }
            Basis::Time => format!("{side} duration of it"),
            Basis::Headroom if side == "neither side has" => {
                "neither side's roofline judges it".to_owned()
            }
            Basis::Headroom => format!("{side} certain expected time of it"),
        }
    }

    fn evidence(
        &self,
        row: &Row<'_>,
        offsets: &Offsets,
        common: &Common,
        prior: Option<Prior>,
    ) -> (Option<Evidence>, Option<Evidence>) {
        let (one, two) = row.known();
        if one.is_empty() || two.is_empty() {
            return (None, None);
        }
        let taken = if common.removed { common.evidence.shift } else { 0.0 };
        let logs = |group: &Group<'_>| {
            let runs = 0..group.by_run.len();
            runs.map(|run| group.logs(run)).collect::<Vec<_>>()
        };
        let (all_before, all_after) = (logs(&row.before), logs(&row.after));
        let every: Vec<&[f64]> = all_before.iter().chain(&all_after).map(Vec::as_slice).collect();
        let within = if row.by_samples { shifts::within(&every) } else { None };
        // A kernel that only one run of each side has is judged as if there were only these.
        if !self.several || one.len() + two.len() < 3 {
            let find = |logs: &[Vec<f64>]| logs.iter().find(|run| !run.is_empty()).cloned();
            let pick = || Some((find(&all_before)?, find(&all_after)?));
            let samples = pick().filter(|_| row.by_samples && self.basis == Basis::Time);
            // The two runs that have it share what befell these runs, not the median of all.
            let taken = if common.removed && self.several {
                let (clean_before, clean_after) = row.without(offsets);
                (two[0] - one[0]) - (clean_after[0] - clean_before[0])
            } else {
                taken
            };
            let of = |offset: f64| {
                let mut evidence = match &samples {
                    Some((one, two)) => {
                        shifts::of_launches(one, two, offset, &self.noise, self.timer_s)?
                    }
                    None => {
                        let launches = |group: &Group<'_>| {
                            group.all().map(|kernel| kernel.timed).min().unwrap_or(1) as usize
                        };
                        let (before, after) = (launches(&row.before), launches(&row.after));
                        let floor = shifts::few(&self.noise, before, after);
                        shifts::single(two[0] - one[0] - offset, floor)
                    }
                };
                // What befell all kernels of a run is in the shift of each, unless it is taken out.
                if !common.removed {
                    evidence.floor = evidence.floor.max(self.noise.common.ln_1p());
                }
                Some(evidence)
            };
            return (of(0.0), of(taken));
        }
        let shortest = row.centres.0.iter().chain(&row.centres.1).flatten();
        let shortest = shortest.copied().fold(f64::INFINITY, f64::min);
        let timer = (self.timer_s.max(self.noise.timer_s) / shortest.exp()).ln_1p();
        let with = |evidence: Option<Evidence>| evidence.map(|known| Evidence { within, ..known });
        let raw = with(shifts::of_runs(&one, &two, prior, timer));
        let own = if common.removed {
            let (one, two) = row.without(offsets);
            with(shifts::of_runs(&one, &two, prior, timer))
        } else {
            raw.clone()
        };
        (raw, own)
    }

    /// The shift in SM cycles, where every run of both sides has clocks.
    fn cycles(&self, row: &Row<'_>) -> Option<Evidence> {
        if self.basis == Basis::Headroom || !row.by_samples {
            return None;
        }
        let (one, two) = (row.before.cycle_centres()?, row.after.cycle_centres()?);
        if one.len() + two.len() >= 3 {
            return shifts::of_runs(&one, &two, None, 0.0);
        }
        shifts::of_launches(
            &row.before.cycle_logs(0),
            &row.after.cycle_logs(0),
            0.0,
            &self.noise,
            0.0,
        )
    }
}

/// How much more work the current side holds: the ratio of launches that most of the time agrees on.
fn work(rows: &[Row<'_>]) -> f64 {
    let ratios: Vec<(f64, f64)> = rows
        .iter()
        .filter_map(|row| {
            let (one, two) = (row.before.launches(), row.after.launches());
            (one > 0.0 && two > 0.0).then(|| ((two / one).ln(), row.share))
        })
        .collect();
    let Some(usual) = weighted_median(&ratios) else { return 1.0 };
    let agreeing: Vec<f64> = ratios
        .iter()
        .filter(|(ratio, _)| (ratio - usual).abs() < 0.02)
        .map(|(_, share)| *share)
        .collect();
    // Most kernels and most of the time of the whole run: a single kernel that is launched more often
    // is a change, not more work.
    let most_kernels = agreeing.len() * 4 >= ratios.len() * 3 && agreeing.len() >= 2;
    let most_time = agreeing.iter().sum::<f64>() >= 0.75;
    if most_kernels && most_time { usual.exp() } else { 1.0 }
}

/// Whether every run of both sides ran on the same devices.
fn same_devices(baseline: &[Run], current: &[Run]) -> bool {
    let mut sets = baseline.iter().chain(current).map(|run| devices(std::slice::from_ref(run)));
    let Some(first) = sets.next() else { return true };
    sets.all(|set| set == first)
}

fn devices(runs: &[Run]) -> Vec<&str> {
    let mut names: Vec<&str> = runs.iter().flat_map(Run::device_names).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// What the timer of the runs cannot tell: a microsecond where every duration is a whole number of them.
fn timer(runs: &[Run]) -> f64 {
    let mut times = runs.iter().flat_map(|run| &run.kernels).flat_map(|kernel| &kernel.samples_s);
    let is_whole = |time: &f64| {
        let micros = time * 1e6;
        (micros - micros.round()).abs() < 1e-6 * micros.max(1.0)
    };
    // Few values are whole by chance.
    let mut seen = 0_u32;
    let whole = times.by_ref().all(|time| {
        seen += 1;
        is_whole(time)
    });
    if whole && seen >= 8 { 1e-6 } else { 0.0 }
}

/// Places of the runs of both sides, from 0.
fn positions(order: &[bool]) -> Option<(Vec<f64>, Vec<f64>)> {
    if order.is_empty() {
        return None;
    }
    let of = |later: bool| {
        let places = order.iter().enumerate().filter(|(_, is_later)| **is_later == later);
        places.map(|(at, _)| at as f64).collect()
    };
    Some((of(false), of(true)))
}

fn order(order: &[bool]) -> Option<String> {
    let letters: String = order.iter().map(|later| if *later { 'B' } else { 'A' }).collect();
    (!letters.is_empty()).then_some(letters)
}

fn side(runs: &[Run], joined: &Joined<'_>) -> Side {
    let times: Vec<f64> = runs.iter().map(|run| run.measured_s).collect();
    let launches: Vec<f64> = runs.iter().map(|run| run.launches as f64).collect();
    let logs: Vec<f64> = times.iter().filter(|time| **time > 0.0).map(|time| time.ln()).collect();
    let mut commits: Vec<String> =
        runs.iter().filter_map(|run| run.origin.commit.clone()).collect();
    commits.sort_unstable();
    commits.dedup();
    Side {
        labels: runs.iter().map(|run| run.label.clone()).collect(),
        devices: devices(runs).into_iter().map(str::to_owned).collect(),
        time_s: median(&times).unwrap_or(0.0),
        launches: median(&launches).unwrap_or(0.0),
        kernels: joined.members.len(),
        commits,
        spread: shifts::deviation(&logs),
    }
}
