//! Compares two sides: matches their kernels and separates the global shift from that of each
//! kernel.

use super::both::Both;
use super::comparison::{Basis, Comparison, OddRun, Side};
use super::conditions::{cut_alike, cut_off, doubts, drift, letters, notes, warmup};
use super::contributions::{self, Parts};
use super::evidence::{Change, Inferred, Lone, Proposal};
use super::noise::Noise;
use super::odd::Odd;
use super::pairing::{MatchLevel, pair_sides};
use super::proposals;
use super::rows::{Row, Shared, Table};
use super::run::Run;
use super::shifts;
use super::sides::{Joined, kernels};
use crate::units::{Factor, Seconds, Shift, median};

/// Resolution of profilers that report whole microseconds.
const MICROSECOND: Seconds = Seconds::new(1e-6);

/// Tolerance for a duration in whole microseconds, because exports round decimals.
const WHOLE: f64 = 1e-6;

/// Fewest durations that show a microsecond timer; fewer may be whole by chance.
const ENOUGH_DURATIONS: usize = 8;

/// Peaks that follow from percentages of an export differ by less than 5% from run to run.
const ALIKE: f64 = 0.05;

/// Inputs of a comparison besides the runs.
#[derive(Debug, Clone, Default)]
pub struct Setting {
    /// Noise floors for cases in which noise cannot be measured.
    pub noise: Noise,
    /// Order in which the runs were taken, `true` for runs of the current side; empty if it was not
    /// declared. Runs of a side are in the order given.
    pub order: Vec<bool>,
    /// Whether only kernels are compared whose names say that they are the same: no confident guess at
    /// renames, fusions and splits.
    pub by_names_only: bool,
    /// Whether times are compared for the same work: where a launch of a kernel has other operations or
    /// bytes, its time is divided by them.
    pub normalize_work: bool,
}

/// Compares two sides of one or more runs each. The same code on both sides gives no shift in any
/// order of kernels, launches and runs; exchanging the sides mirrors all shifts.
#[must_use]
pub fn compare(baseline: &[Run], current: &[Run], setting: &Setting) -> Comparison {
    let runs = Both { before: baseline, after: current };
    let joined = runs.map(Joined::new);
    let sides = joined.as_ref();
    let identities = sides.map(|side| side.identities.as_slice());
    let pairing = pair_sides(identities, runs.map(<[Run]>::len));
    let basis = if same_devices(runs) { Basis::Time } else { Basis::Headroom };
    let row = |pair: &super::Pair| {
        let groups =
            Both { before: sides.before.of(&pair.before), after: sides.after.of(&pair.after) };
        let row = Row::new(pair.clone(), groups, basis);
        // Headroom is a distance from the time that the work should take.
        if basis == Basis::Time { row.counted(setting.normalize_work) } else { row }
    };
    let mut table = Table {
        rows: pairing.pairs.iter().map(row).collect(),
        basis,
        noise: setting.noise,
        timer: timer(baseline).max(timer(current)),
        runs: runs.map(<[Run]>::len),
        places: places(&setting.order),
    };
    let work = table.work();
    table.rows = table.rows.into_iter().map(|row| row.unmixed(work, basis)).collect();
    let offsets = table.offsets();
    let (common, odd) = table.common(&offsets);
    let prior = table.prior(&offsets, common.removed);
    let shared = Shared { offsets: &offsets, common: &common, prior, work };
    let untimed = table.untimed();
    let times = untimed.times(runs);
    let other_work = table.other_work(work, &untimed);
    let total = table.total(&times, &shared, other_work);
    let mut notes = notes(baseline, current, &setting.order);
    notes.extend(untimed.note());
    notes.extend(drift(&total.evidence, &setting.order));
    let counting = counting(&total.odd, runs.map(<[Run]>::len));
    let odd = odd_runs([&total.odd, &odd], runs);
    let parts = Parts { work, counting: &counting };
    let mut changes: Vec<Change> =
        table.rows.iter().map(|row| table.change(row, &shared, None)).collect();
    let mut lone = Both {
        before: sides.before.lone(pairing.vanished.iter().copied()),
        after: sides.after.lone(pairing.new.iter().copied()),
    };
    let mut proposals =
        proposals::propose(sides, lone.as_ref().map(Vec::as_slice), &pairing.pairs, work);
    let mut contributions = parts.of_rows(&table.rows);
    let mut together = Vec::new();
    // Where no name is the same, nothing says that it is the same program.
    if !setting.by_names_only && basis == Basis::Time && !table.rows.is_empty() {
        for proposal in proposals.iter().filter(|proposal| proposal.is_sure) {
            let (pair, inferred) = inferred(proposal, &lone);
            let groups =
                Both { before: sides.before.of(&pair.before), after: sides.after.of(&pair.after) };
            let row = Row::inferred(pair, groups, proposal.kind);
            contributions.push(parts.of_inferred(&row, &inferred));
            changes.push(table.change(&row, &shared, Some(inferred)));
            together.push(row);
        }
        lone = without_inferred(lone, &proposals);
        proposals =
            proposals::propose(sides, lone.as_ref().map(Vec::as_slice), &pairing.pairs, work);
    }
    contributions.extend(parts.of_lone(sides, &lone));
    let Both { before: vanished, after: new } = lone;
    let coverage = table.coverage(runs, sides.before, &together, (&vanished, &proposals));
    let kernels = sides.map(|side| side.members.len());
    let baseline_side = side(baseline, &times.before, kernels.before, &counting.before);
    let current_side = side(current, &times.after, kernels.after, &counting.after);
    let mut doubts = doubts(baseline, current);
    // A check of its own reports less work of the same kind.
    if work.shift().abs() < Shift::new(1e-9) {
        doubts.extend(cut_alike(baseline, current));
    }
    let difference = current_side.time_s - baseline_side.time_s * (work.get() * other_work.get());
    Comparison {
        basis,
        coverage,
        odd,
        total: total.evidence,
        total_own: total.own,
        total_typical: {
            let work = Factor::new(work.get() * other_work.get());
            table.total_typical(sides, &untimed, work)
        },
        work,
        other_work,
        contributions: contributions::sorted(contributions, difference),
        proposals,
        cut_off: cut_off(baseline, current),
        unequal_warmup: warmup(baseline) != warmup(current),
        doubts,
        notes,
        order: letters(&setting.order),
        baseline: baseline_side,
        current: current_side,
        changes: longest_first(changes),
        common,
        new,
        vanished,
    }
}

/// Which runs of each side the total is of.
fn counting(odd: &[Odd], runs: Both<usize>) -> Both<Vec<bool>> {
    let of = |later: bool, count: usize| {
        let is_out = |at: usize| odd.iter().any(|odd| odd.later == later && odd.at == at);
        (0..count).map(|at| !is_out(at)).collect()
    };
    Both { before: of(false, runs.before), after: of(true, runs.after) }
}

/// Runs that stand apart in the total and in the common shift by their labels, each once.
fn odd_runs([total, common]: [&[Odd]; 2], runs: Both<&[Run]>) -> Vec<OddRun> {
    let mut found: Vec<OddRun> = Vec::new();
    let all = total.iter().map(|odd| (odd, true)).chain(common.iter().map(|odd| (odd, false)));
    for (Odd { later, at, distance }, of_total) in all {
        let run = if *later { runs.after.get(*at) } else { runs.before.get(*at) };
        let Some(run) = run else { continue };
        let is_it = |known: &&mut OddRun| known.is_current == *later && known.label == run.label;
        if let Some(known) = found.iter_mut().find(is_it) {
            known.of_common = known.of_common || !of_total;
            continue;
        }
        found.push(OddRun {
            label: run.label.clone(),
            is_current: *later,
            shift: Shift::new(*distance),
            of_total,
            of_common: !of_total,
        });
    }
    found
}

/// The kernels of a guess as a pair, and what they are called.
fn inferred(proposal: &Proposal, lone: &Both<Vec<Lone>>) -> (super::Pair, Inferred) {
    let of = |lone: &[Lone], at: &[usize]| -> (Vec<usize>, Vec<String>) {
        let kernels = at.iter().filter_map(|at| lone.get(*at));
        kernels.map(|lone| (lone.kernel, lone.name.clone())).unzip()
    };
    let (before, names_before) = of(&lone.before, &proposal.before);
    let (after, names_after) = of(&lone.after, &proposal.after);
    let inferred = Inferred {
        kind: proposal.kind,
        before: names_before,
        after: names_after,
        confidence: proposal.confidence,
        why: proposal.why.clone(),
    };
    (super::Pair { level: MatchLevel::Inferred, before, after }, inferred)
}

/// The kernels of one side alone that no sure guess explains.
fn without_inferred(lone: Both<Vec<Lone>>, proposals: &[Proposal]) -> Both<Vec<Lone>> {
    let rest = |lone: Vec<Lone>, of: fn(&Proposal) -> &[usize]| -> Vec<Lone> {
        let is_explained = |at: usize| {
            proposals.iter().any(|proposal| proposal.is_sure && of(proposal).contains(&at))
        };
        let rest = lone.into_iter().enumerate().filter(|(at, _)| !is_explained(*at));
        rest.map(|(_, lone)| lone).collect()
    };
    Both {
        before: rest(lone.before, |proposal| &proposal.before),
        after: rest(lone.after, |proposal| &proposal.after),
    }
}

fn longest_first(mut changes: Vec<Change>) -> Vec<Change> {
    changes.sort_by(|one, two| {
        let time = |change: &Change| {
            let known = change.before.time_s.into_iter().chain(change.after.time_s);
            known.reduce(Seconds::max).unwrap_or_default()
        };
        time(two).total_cmp(&time(one)).then_with(|| one.name.cmp(&two.name))
    });
    changes
}

/// Returns `true` if every run of both sides ran on the same devices.
fn same_devices(runs: Both<&[Run]>) -> bool {
    let mut all = runs.before.iter().chain(runs.after);
    let Some(first) = all.next() else { return true };
    all.all(|run| {
        devices(std::slice::from_ref(run)) == devices(std::slice::from_ref(first))
            && unknown_alike(first, run)
    })
}

/// Whether the devices that the catalog does not know have the same peaks, as far as the exports tell them.
fn unknown_alike(one: &Run, two: &Run) -> bool {
    let unknown = |run: &Run| {
        let unknown = run.devices.iter().filter(|device| !device.known);
        let mut unknown: Vec<(String, Option<f64>, Option<f64>)> = unknown
            .map(|device| {
                let bandwidth = device.dram_bytes_per_s.map(crate::units::BytesPerSecond::get);
                (device.name.clone(), bandwidth, device.fp32_per_clock)
            })
            .collect();
        unknown.sort_by(|one, two| one.0.cmp(&two.0));
        unknown
    };
    let near = |one: Option<f64>, two: Option<f64>| match (one, two) {
        (Some(one), Some(two)) => (one - two).abs() <= ALIKE * one.max(two),
        _ => true,
    };
    let (one, two) = (unknown(one), unknown(two));
    one.iter().zip(&two).all(|(one, two)| near(one.1, two.1) && near(one.2, two.2))
}

fn devices(runs: &[Run]) -> Vec<&str> {
    let mut names: Vec<&str> = runs.iter().flat_map(Run::device_names).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Returns the resolution of the runs' timer: a microsecond if every duration is a whole number of
/// them.
fn timer(runs: &[Run]) -> Seconds {
    let kernels = runs.iter().flat_map(|run| &run.kernels);
    let mut times = kernels.flat_map(|kernel| &kernel.samples_s);
    let is_whole = |time: &Seconds| {
        let micros = time.get() * 1e6;
        (micros - micros.round()).abs() < WHOLE * micros.max(1.0)
    };
    let mut seen = 0_usize;
    let whole = times.by_ref().all(|time| {
        seen += 1;
        is_whole(time)
    });
    if whole && seen >= ENOUGH_DURATIONS { MICROSECOND } else { Seconds::ZERO }
}

/// Returns the positions of the runs of both sides in the order in which they were taken, from 0.
fn places(order: &[bool]) -> Option<Both<Vec<f64>>> {
    if order.is_empty() {
        return None;
    }
    let of = |later: bool| {
        let places = order.iter().enumerate().filter(|(_, is_later)| **is_later == later);
        places.map(|(at, _)| at as f64).collect()
    };
    Some(Both { before: of(false), after: of(true) })
}

/// Whether a kernel of a run leaves out fewer first launches than the run says. Over several ranks each leaves out its own.
fn is_warmup_partial(run: &Run) -> bool {
    let wanted = u64::from(run.warmup);
    let is_less = |left_out: u64| left_out == 0 || !left_out.is_multiple_of(wanted);
    wanted > 0 && run.kernels.iter().any(|kernel| is_less(kernel.cold_launches(run.warmup)))
}

/// Returns what is said of runs that are compared with no others.
#[must_use]
pub fn alone(runs: &[Run]) -> Side {
    let times: Vec<Seconds> = runs.iter().map(Run::whole_s).collect();
    side(runs, &times, kernels(runs).len(), &vec![true; runs.len()])
}

/// A side, with the time of those of its runs that count.
fn side(runs: &[Run], times: &[Seconds], kernels: usize, counting: &[bool]) -> Side {
    let times: Vec<f64> = times.iter().map(|time| time.get()).collect();
    let counted: Vec<f64> =
        times.iter().zip(counting).filter(|(_, counts)| **counts).map(|(time, _)| *time).collect();
    let launches: Vec<f64> = runs.iter().map(|run| run.launches as f64).collect();
    let logs: Vec<f64> = times.iter().filter(|time| **time > 0.0).map(|time| time.ln()).collect();
    let mut commits: Vec<String> =
        runs.iter().filter_map(|run| run.origin.commit.clone()).collect();
    commits.sort_unstable();
    commits.dedup();
    Side {
        labels: runs.iter().map(|run| run.label.clone()).collect(),
        devices: devices(runs).into_iter().map(str::to_owned).collect(),
        time_s: Seconds::new(median(&counted).unwrap_or(0.0)),
        launches: median(&launches).unwrap_or(0.0),
        warmup: warmup(runs),
        is_warmup_partial: runs.iter().any(is_warmup_partial),
        kernels,
        commits,
        spread: shifts::deviation(&logs),
    }
}

#[cfg(test)]
mod tests {
    use super::super::made::{kernel, run};
    use super::*;
    use crate::units::{Factor, RelativeChange};

    fn near(found: Shift, change: f64) -> bool {
        (found - RelativeChange::new(change).shift()).abs() < Shift::new(1e-12)
    }

    /// Eight whole microseconds are a timer that counts them; seven are chance, and 1.5 µs is another timer.
    #[test]
    fn a_timer_of_microseconds_is_recognized() {
        let whole = |count: usize| (1..=count).map(|at| at as f64 * 1e-6).collect::<Vec<f64>>();
        assert_eq!(timer(&[run(vec![kernel("a", &whole(8))])]), MICROSECOND);
        assert_eq!(timer(&[run(vec![kernel("a", &whole(7))])]), Seconds::ZERO);
        let other = [whole(9), vec![1.5e-6]].concat();
        assert_eq!(timer(&[run(vec![kernel("a", &other)])]), Seconds::ZERO);
    }

    #[test]
    fn unknown_devices_with_other_peaks_are_other_devices() {
        use crate::units::BytesPerSecond;
        let on = |bandwidth: Option<f64>, known: bool| {
            let mut run = run(vec![kernel("a", &[1e-3])]);
            run.devices[0].known = known;
            run.devices[0].dram_bytes_per_s = bandwidth.map(BytesPerSecond::new);
            [run]
        };
        let same = |one: [Run; 1], two: [Run; 1]| same_devices(Both { before: &one, after: &two });
        assert!(!same(on(Some(1e12), false), on(Some(2e12), false)));
        assert!(same(on(Some(1e12), false), on(Some(1.03e12), false)));
        assert!(same(on(Some(1e12), false), on(None, false)), "one of them does not tell");
        // Of a device that the catalog knows, the name decides.
        assert!(same(on(Some(1e12), true), on(Some(2e12), true)));
    }

    #[test]
    fn places_are_those_of_the_letters() {
        // A B B A.
        let order = [false, true, true, false];
        let expected = Both { before: vec![0.0, 3.0], after: vec![1.0, 2.0] };
        assert_eq!(places(&order), Some(expected));
        assert_eq!(letters(&order).as_deref(), Some("ABBA"));
        assert_eq!((places(&[]), letters(&[])), (None, None));
    }

    /// Ten kernels agree that everything takes 4% longer, and one takes 1.04 × 1.25 = 30% longer.
    #[test]
    fn what_all_share_is_taken_out_of_each() {
        let side = |all: f64, last: f64| {
            let of = |at: usize| {
                let time = 1e-3 * all * if at == 10 { last } else { 1.0 };
                kernel(&format!("{}_kernel", (b'a' + at as u8) as char), &[time; 5])
            };
            [run((0..11).map(of).collect())]
        };
        let found = compare(&side(1.0, 1.0), &side(1.04, 1.25), &Setting::default());
        assert!(found.common.removed && near(found.common.evidence.shift, 0.04), "{found:?}");
        let slow = found.changes.iter().find(|change| change.name == "k_kernel").unwrap();
        assert!(near(slow.raw.as_ref().unwrap().shift, 0.3));
        assert!(near(slow.own.as_ref().unwrap().shift, 0.25));
        // 11.25 / 11 × 1.04 of the time for as much work.
        assert_eq!(found.work, Factor::ONE);
        assert!(near(found.total.shift, 11.25 / 11.0 * 1.04 - 1.0));
    }

    /// Three kernels of four, with three quarters of the launches twice as many: twice the work. Of two
    /// kernels of which one is launched twice as often, that is a change.
    #[test]
    fn more_work_is_what_most_kernels_and_most_of_the_time_say() {
        let side = |counts: [usize; 4]| {
            let of = |(at, count): (usize, &usize)| {
                kernel(&format!("{}_kernel", (b'a' + at as u8) as char), &vec![1e-3; *count])
            };
            [run(counts.iter().enumerate().map(of).collect())]
        };
        let work =
            |before, after| compare(&side(before), &side(after), &Setting::default()).work.get();
        assert!((work([4, 4, 4, 4], [8, 8, 8, 4]) - 2.0).abs() < 1e-12);
        assert_eq!(work([4, 4, 4, 4], [8, 8, 4, 4]), 1.0);
    }
}
