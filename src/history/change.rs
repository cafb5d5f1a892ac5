//! Finds the changes of a series: steps by energy statistics, confirmed by Student's t-test, or a
//! steady drift. It uses no random numbers, so the same series gives the same answer.
//!
//! Sources: candidates are those of E-divisive (D. Matteson, N. James, *A nonparametric approach
//! for multiple change point analysis of multivariate data*, JASA 109, 2014), with distances to the
//! power of one. The permutation test is replaced by Student's t-test, windows keep long series
//! quick, and weak points are dropped from the bottom up, as in Hunter and Apache Otava (M. Fleming
//! et al., *Hunter: using change point detection to hunt for performance regressions*, ICPE 2023).
//! Additions of our own: logarithms, so that 10% is 10% anywhere; each position is optimized again
//! between its neighbors, with the p-value multiplied by the number of candidates; a line competes
//! with the steps (Bayesian information criterion, G. Schwarz 1978), because a drift would
//! otherwise be reported as a staircase.
//!
//! A series is of any unit: its values, and the statistics on them, are plain numbers here.

use schemars::JsonSchema;
use serde::Serialize;

use crate::compare::{mean, squares, student_tail};
use crate::units::{Probability, RelativeChange, Shift, median};

/// Fewest values on each side of a step: fewer cannot be distinguished from an outlier.
pub const MIN_SIDE: usize = 3;

/// Fewest values of a series in which changes can be found.
pub const ENOUGH: usize = 2 * MIN_SIDE;

/// Largest p-value of a step, corrected for the candidate positions, and of a drift: together they
/// are reported by chance in about 1% of series that do not change.
pub const MAX_P: Probability = Probability::new(0.005);

/// Smallest difference of two levels that is reported, symmetric on a logarithmic scale. Machines of one kind differ
/// by less from day to day, and smaller changes do not fail a default gate.
pub const MIN_CHANGE: RelativeChange = RelativeChange::new(0.05);

/// Smallest step between levels: several add up to a change that is reported. Smaller ones are those of a machine's day.
pub const MIN_STEP: RelativeChange = RelativeChange::new(0.01);

/// Largest p-value of a step below the least change: whatever its size, chance would otherwise add one to about 1% of the
/// series that have a larger step.
const SMALL_P: Probability = Probability::new(0.001);

/// Number of values searched for candidates at once; windows overlap by half. The search time is
/// cubic in it, so windows keep long series fast, as in Hunter (see the module).
pub const WINDOW: usize = 50;

/// Largest p-value of a candidate before its neighbors are known: loose, because weak points are
/// dropped later.
const WEAK_P: f64 = 0.05;

/// A step between two segments of a series.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct ChangePoint {
    /// Index of the first value after the step.
    #[serde(skip)]
    pub at: usize,
    /// Median before the step, back to the previous step, in the unit of the series.
    pub before: f64,
    /// Median after the step, up to the next step, in the unit of the series.
    pub after: f64,
    /// Relative change: 0.12 is 12% more.
    pub change: RelativeChange,
    /// Probability of such a step by chance: Student's t, two-sided, times the number of candidate
    /// positions.
    pub p: Probability,
    /// Number of values back to the previous step.
    pub values_before: usize,
    /// Number of values up to the next step.
    pub values_after: usize,
}

/// A steady change over the whole series.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Drift {
    /// First value of the fitted line, in the unit of the series.
    pub from: f64,
    /// Last value of the fitted line, in the unit of the series.
    pub to: f64,
    /// Relative change from first to last value.
    pub change: RelativeChange,
    /// Probability of such a slope by chance: Student's t, two-sided.
    pub p: Probability,
}

/// The changes of a series.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Turns {
    /// Steps, in order; empty if a drift explains the series better.
    pub steps: Vec<ChangePoint>,
    /// The drift, if there is one.
    pub drift: Option<Drift>,
}

/// Finds the steps or the drift of a series of positive values, if two of its levels differ by at least this much
/// ([`MIN_CHANGE`] where nothing else is asked for). Steps between them may be smaller, from [`MIN_STEP`] on. Returns
/// nothing for fewer than [`ENOUGH`] values, or if a value is not positive.
#[must_use]
pub fn turns(values: &[f64], least: RelativeChange) -> Turns {
    let is_positive = |value: &f64| *value > 0.0 && value.is_finite();
    if values.len() < ENOUGH || !values.iter().all(is_positive) {
        return Turns::default();
    }
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let candidates = candidates(&logs);
    let bar = Bar::of(least);
    let steps = kept(&logs, candidates.clone(), &bar);
    // A step that is too small to report is not a drift, either: a line through it rises further than it does.
    let of_any_size = || staircase(&logs, &kept(&logs, candidates, &Bar::default()));
    match line(&logs, least) {
        Some((drift, misfit)) if misfit < staircase(&logs, &steps) && misfit < of_any_size() => {
            Turns { steps: Vec::new(), drift: Some(drift) }
        }
        _ => {
            let mut steps: Vec<ChangePoint> = steps.iter().map(Step::told).collect();
            far_enough(&mut steps, least);
            Turns { steps, drift: None }
        }
    }
}

/// Drops all steps of a series if no two of its levels differ by this much: what is that small does not matter.
pub(super) fn far_enough(steps: &mut Vec<ChangePoint>, least: RelativeChange) {
    let levels = || steps.iter().flat_map(|step| [step.before, step.after]);
    let lowest = levels().fold(f64::INFINITY, f64::min);
    let highest = levels().fold(0.0, f64::max);
    // Less than the last digit is no difference.
    if (highest / lowest).ln() < least.shift().get() - SAME {
        steps.clear();
    }
}

/// Gives steps of a series, of which others were dropped, the levels up to those that are left.
pub(super) fn rejoin(values: &[f64], steps: &mut [ChangePoint]) {
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let mut ends: Vec<usize> = steps.iter().map(|step| step.at).collect();
    ends.push(values.len());
    let mut start = 0;
    for (position, step) in steps.iter_mut().enumerate() {
        let (left, right) = (&logs[start..step.at], &logs[step.at..ends[position + 1]]);
        let [before, after] = [left, right].map(|values| median(values).unwrap_or_default());
        let sides = (left.len(), right.len());
        *step = Step { at: step.at, before, after, p: step.p.get(), sides }.told();
        start = step.at;
    }
}

/// Sizes of steps on the logarithmic scale.
#[derive(Debug, Default)]
struct Bar {
    /// Below it a step must be clearer.
    least: f64,
    /// Below it there is none.
    smallest: f64,
}

impl Bar {
    fn of(least: RelativeChange) -> Self {
        let least = least.shift().get();
        Self { least, smallest: least.min(MIN_STEP.shift().get()) }
    }
}

/// A step between its neighbors: levels are logarithms.
#[derive(Debug, Clone, Copy)]
struct Step {
    at: usize,
    before: f64,
    after: f64,
    p: f64,
    sides: (usize, usize),
}

impl Step {
    fn told(&self) -> ChangePoint {
        ChangePoint {
            at: self.at,
            before: self.before.exp(),
            after: self.after.exp(),
            change: Shift::new(self.after - self.before).change(),
            p: Probability::new(self.p),
            values_before: self.sides.0,
            values_after: self.sides.1,
        }
    }

    /// Returns the largest p-value that it may have.
    fn most(&self, bar: &Bar) -> f64 {
        if self.size() < bar.least { SMALL_P.get() } else { MAX_P.get() }
    }

    /// Returns `true` if it is significant and large enough.
    fn is_kept(&self, bar: &Bar) -> bool {
        self.p <= self.most(bar) && self.size() >= bar.smallest
    }

    fn size(&self) -> f64 {
        (self.after - self.before).abs()
    }
}

/// Returns positions where the series may change, from overlapping windows.
fn candidates(logs: &[f64]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut start = 0;
    loop {
        let end = (start + WINDOW).min(logs.len());
        split(logs, start, end, &mut found);
        if end == logs.len() {
            break;
        }
        start = (start + WINDOW / 2).max(found.iter().copied().max().unwrap_or(0).min(end));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Splits a segment where it differs most, then both parts.
fn split(logs: &[f64], start: usize, end: usize, found: &mut Vec<usize>) {
    let Some((place, until)) = most_different(logs, start, end) else { return };
    if student(&logs[start..place], &logs[place..until]) > WEAK_P {
        return;
    }
    found.push(place);
    split(logs, start, place, found);
    split(logs, place, end, found);
}

/// Returns the position and the end of the following values with the greatest energy distance; the
/// end may lie within the segment, so that a bump is found too.
fn most_different(logs: &[f64], start: usize, end: usize) -> Option<(usize, usize)> {
    let distance = |one: usize, two: usize| (logs[one] - logs[two]).abs();
    let mut best: Option<(f64, (usize, usize))> = None;
    let mut within_left = 0.0;
    for place in start + 1..end {
        let last = place - 1;
        within_left += (start..last).map(|one| distance(one, last)).sum::<f64>();
        if place - start < MIN_SIDE {
            continue;
        }
        let (mut between, mut within_right) = (0.0, 0.0);
        for next in place..end {
            between += (start..place).map(|one| distance(one, next)).sum::<f64>();
            within_right += (place..next).map(|one| distance(one, next)).sum::<f64>();
            let (left, right) = ((place - start) as f64, (next + 1 - place) as f64);
            if next + 1 - place < MIN_SIDE {
                continue;
            }
            let energy = 2.0 * between / (left * right)
                - 2.0 * within_left / (left * (left - 1.0))
                - 2.0 * within_right / (right * (right - 1.0));
            let scaled = energy * left * right / (left + right);
            if best.is_none_or(|(greatest, _)| scaled > greatest) {
                best = Some((scaled, (place, next + 1)));
            }
        }
    }
    best.map(|(_, places)| places)
}

/// Returns the steps that are significant beside their neighbors, and large enough; the weakest are dropped first.
fn kept(logs: &[f64], mut places: Vec<usize>, bar: &Bar) -> Vec<Step> {
    loop {
        let steps = stood(logs, &mut places);
        let weakest = steps.iter().enumerate().filter(|(_, step)| !step.is_kept(bar));
        // First what chance explains, the likeliest of it; then what is too small.
        let weakest = weakest.max_by(|(_, one), (_, two)| {
            let unlikely = |step: &Step| if step.p > step.most(bar) { step.p } else { 0.0 };
            let by_chance = unlikely(one).total_cmp(&unlikely(two));
            by_chance.then(two.size().total_cmp(&one.size()))
        });
        match weakest {
            Some((position, _)) => {
                places.remove(position);
            }
            None => return steps,
        }
    }
}

/// Returns the steps at these positions, each moved to the best split between its neighbors.
fn stood(logs: &[f64], places: &mut [usize]) -> Vec<Step> {
    let mut steps = Vec::new();
    for position in 0..places.len() {
        let start = if position == 0 { 0 } else { places[position - 1] };
        let end = places.get(position + 1).copied().unwrap_or(logs.len());
        let choice = start + MIN_SIDE..(end + 1).saturating_sub(MIN_SIDE);
        let misfit = |place: &usize| squares(&logs[start..*place]) + squares(&logs[*place..end]);
        let best = choice.clone().min_by(|one, two| misfit(one).total_cmp(&misfit(two)));
        // Neighbors that moved may leave too little room: such a step is dropped.
        let Some(place) = best else {
            let p = 1.0;
            steps.push(Step { at: places[position], before: 0.0, after: 0.0, p, sides: (0, 0) });
            continue;
        };
        places[position] = place;
        let (left, right) = (&logs[start..place], &logs[place..end]);
        let [before, after] = [left, right].map(|values| median(values).unwrap_or_default());
        // Beside the end a value of the other level belongs beyond the step, where too few others follow to tell.
        let is_of = |value: f64, own: f64, other: f64| (value - own).abs() <= (value - other).abs();
        let is_cut = place == choice.start && !is_of(logs[place - 1], before, after)
            || place + MIN_SIDE == end && !is_of(logs[place], after, before);
        let p = if is_cut { 1.0 } else { student(left, right) * choice.len() as f64 };
        let sides = (left.len(), right.len());
        steps.push(Step { at: place, before, after, p: p.min(1.0), sides });
    }
    steps
}

/// Values that differ by less than this are equal up to rounding.
const SAME: f64 = 1e-12;

/// Returns the two-sided p-value of Student's t-test with pooled variance.
fn student(left: &[f64], right: &[f64]) -> f64 {
    let degrees = (left.len() + right.len()).saturating_sub(2) as f64;
    let difference = (mean(left) - mean(right)).abs();
    if left.is_empty() || right.is_empty() || degrees < 1.0 || difference <= SAME {
        return 1.0;
    }
    let variance = (squares(left) + squares(right)) / degrees;
    let error = (variance * (1.0 / left.len() as f64 + 1.0 / right.len() as f64)).sqrt();
    two_sided(difference, error, degrees)
}

/// Returns the two-sided probability of a difference this many standard errors large.
fn two_sided(difference: f64, error: f64, degrees: f64) -> f64 {
    if error <= SAME {
        return 0.0;
    }
    (2.0 * student_tail(difference / error, degrees)).min(1.0)
}

/// Returns the Bayesian information criterion of a sum of squares with this number of parameters.
fn misfit(squares: f64, parameters: usize, values: usize) -> f64 {
    let count = values as f64;
    count * (squares / count).max(SAME * SAME).ln() + parameters as f64 * count.ln()
}

/// Returns the information criterion of a staircase: a level for each segment, a position for each
/// step.
fn staircase(logs: &[f64], steps: &[Step]) -> f64 {
    let places = steps.iter().map(|step| step.at);
    let ends: Vec<usize> =
        std::iter::once(0).chain(places).chain(std::iter::once(logs.len())).collect();
    let left = ends.windows(2).map(|ends| squares(&logs[ends[0]..ends[1]])).sum();
    misfit(left, 2 * steps.len() + 1, logs.len())
}

/// Returns the line through the series and its information criterion, if the slope is significant
/// and large enough.
fn line(logs: &[f64], least: RelativeChange) -> Option<(Drift, f64)> {
    let count = logs.len() as f64;
    let (middle, height) = ((count - 1.0) / 2.0, mean(logs));
    let along: f64 = (0..logs.len()).map(|at| (at as f64 - middle).powi(2)).sum();
    let both: f64 =
        logs.iter().enumerate().map(|(at, log)| (at as f64 - middle) * (log - height)).sum();
    let slope = both / along;
    let left = (squares(logs) - slope * both).max(0.0);
    let error = (left / (count - 2.0) / along).sqrt();
    let p = two_sided(slope.abs(), error, count - 2.0);
    let rise = slope * (count - 1.0);
    if p > MAX_P.get() || rise.abs() < least.shift().get() {
        return None;
    }
    let from = height - slope * middle;
    let drift = Drift {
        from: from.exp(),
        to: (from + rise).exp(),
        change: Shift::new(rise).change(),
        p: Probability::new(p),
    };
    Some((drift, misfit(left, 2, logs.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found_in(values: &[f64]) -> Turns {
        turns(values, MIN_CHANGE)
    }

    /// 1, 2 and 8, three values each: without the first step the level before the second is the middle of all six.
    #[test]
    fn levels_reach_to_the_steps_that_are_left() {
        let values = [1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 8.0, 8.0, 8.0];
        let mut steps = vec![
            Step { at: 3, before: 0.0, after: 2_f64.ln(), p: 1e-3, sides: (3, 3) }.told(),
            Step { at: 6, before: 2_f64.ln(), after: 8_f64.ln(), p: 1e-4, sides: (3, 3) }.told(),
        ];
        let all = steps.clone();
        rejoin(&values, &mut steps);
        assert_eq!(steps, all);
        steps.remove(0);
        rejoin(&values, &mut steps);
        let [step] = &steps[..] else { panic!("{steps:?}") };
        assert!((step.before - 2_f64.sqrt()).abs() < 1e-12 && (step.after - 8.0).abs() < 1e-12);
        assert_eq!((step.values_before, step.values_after, step.p.get()), (6, 3, 1e-4));
        steps.clear();
        rejoin(&values, &mut steps);
        assert!(steps.is_empty());
    }

    /// Numbers that look random and are the same everywhere (splitmix64), as a normal distribution.
    struct Noise(u64);

    impl Noise {
        fn uniform(&mut self) -> f64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
        }

        fn normal(&mut self) -> f64 {
            let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
            radius * (std::f64::consts::TAU * self.uniform()).cos()
        }
    }

    /// Levels, each so many times, with noise of this relative width.
    fn series(levels: &[(f64, usize)], width: f64, seed: u64) -> Vec<f64> {
        let mut noise = Noise(seed);
        let all = levels.iter().flat_map(|(level, count)| std::iter::repeat_n(*level, *count));
        all.map(|level| level * (width * noise.normal()).exp()).collect()
    }

    #[test]
    fn students_test_is_that_of_the_textbook() {
        // W. Gosset's sleep data (1908) with pooled variance: t = -1.8608, 18 degrees, p = 0.07919.
        let one = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let two = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        assert!((student(&one, &two) - 0.079_186_71).abs() < 1e-6, "{}", student(&one, &two));
        assert_eq!(student(&[1.0, 1.0], &[1.0, 1.0]), 1.0);
        assert_eq!(student(&[1.0, 1.0], &[2.0, 2.0]), 0.0);
        assert_eq!(student(&[], &[2.0]), 1.0);
    }

    const SERIES: u64 = 300; // each with noise of its own

    #[test]
    fn noise_alone_is_rarely_a_change() {
        // 5% is more noise than runs have: with less, the least change that is told keeps all away.
        for (width, count, most) in
            [(0.01, 20, 0), (0.02, 40, 1), (0.05, 12, 6), (0.05, 30, 6), (0.10, 120, 6)]
        {
            let is_told = |seed: &u64| {
                let turns = found_in(&series(&[(1.0, count)], width, *seed));
                !turns.steps.is_empty() || turns.drift.is_some()
            };
            let told = (0..SERIES).filter(is_told).count();
            assert!(told <= most, "{told} of {SERIES} for noise of {width} in {count} values");
        }
    }

    #[test]
    fn a_step_is_found_where_it_is() {
        for (levels, width, least) in [
            ([(1.0, 8), (1.1, 6)], 0.02, 285),
            ([(1.0, 20), (1.1, 20)], 0.02, 294),
            ([(1.1, 10), (1.0, 5)], 0.02, 285),
            ([(1.0, 10), (1.1, 3)], 0.01, 294),
            ([(1.0, 30), (1.07, 15)], 0.02, 270),
            ([(1e-6, 90), (1.2e-6, 90)], 0.03, 294),
        ] {
            let found = |seed: &u64| {
                let turns = found_in(&series(&levels, width, *seed));
                let [step] = turns.steps.as_slice() else { return false };
                let expected = levels[1].0 / levels[0].0 - 1.0;
                step.at.abs_diff(levels[0].1) <= 1 && (step.change.get() - expected).abs() < 0.04
            };
            let found = (0..SERIES).filter(found).count();
            assert!(found >= least, "{found} of {SERIES} for {levels:?}, noise {width}");
        }
    }

    /// 200, 208 and 216.32 µs, then 200, 209.6 and 219.66 µs: no step reaches 5%, and together they are 8.16% and 9.83%. No
    /// level is the middle of two others.
    #[test]
    fn steps_that_add_up_are_found_with_their_own_levels() {
        for (factor, counts) in [(1.04, [5, 5, 4]), (1.048, [7, 7, 7])] {
            let level = |at: i32| 200e-6 * f64::powi(factor, at);
            let levels = [(level(0), counts[0]), (level(1), counts[1]), (level(2), counts[2])];
            for seed in 0..200 {
                let steps = found_in(&series(&levels, 0.003, seed)).steps;
                let [one, two] = steps.as_slice() else { panic!("{steps:?}, seed {seed}") };
                assert_eq!((one.at, two.at), (counts[0], counts[0] + counts[1]));
                let near = |value: f64, level: f64| (value / level - 1.0).abs() < 0.006;
                assert!(near(one.before, level(0)) && near(one.after, level(1)), "{one:?}");
                assert!(one.after == two.before && near(two.after, level(2)), "{two:?}");
            }
            let exact = found_in(&series(&levels, 0.0, 0)).steps;
            let changes = exact.iter().map(|step| step.change.get() - (factor - 1.0));
            assert!(changes.map(f64::abs).all(|off| off < 1e-12) && exact.len() == 2, "{exact:?}");
        }
        // There and back: no two levels differ by 5%. Then up by 4% and down by 7%: they do.
        assert_eq!(found_in(&series(&[(1.0, 8), (1.04, 8), (1.0, 8)], 0.003, 1)).steps, []);
        let down = found_in(&series(&[(1.0, 8), (1.04, 8), (0.97, 8)], 0.003, 1)).steps;
        assert_eq!(down.iter().map(|step| step.at).collect::<Vec<_>>(), [8, 16]);
        // A step below 1% is none, also beside a large one.
        let beside = found_in(&series(&[(1.0, 20), (1.007, 20), (1.2, 20)], 0.001, 1)).steps;
        assert_eq!(beside.iter().map(|step| step.at).collect::<Vec<_>>(), [40]);
    }

    /// A line through a step of 4% rises by 6%, and fits worse.
    #[test]
    fn a_step_too_small_to_report_is_no_drift() {
        let is_quiet = |seed: &u64| {
            let turns = found_in(&series(&[(1.0, 7), (1.04, 7)], 0.003, *seed));
            turns.steps.is_empty() && turns.drift.is_none()
        };
        let quiet = (0..200).filter(is_quiet).count();
        assert!(quiet >= 195, "{quiet} of 200");
    }

    /// Two values may be outliers, and the third from the end is not blamed for them.
    #[test]
    fn a_change_in_the_last_or_first_two_values_is_not_seen() {
        for levels in [[(1.0, 18), (1.5, 2)], [(1.5, 2), (1.0, 18)]] {
            for seed in 0..200 {
                let values = series(&levels, 0.005, seed);
                assert_eq!(found_in(&values).steps, [], "{levels:?}, seed {seed}");
            }
        }
        // A third one shows it, at its place.
        for (levels, at) in [([(1.0, 18), (1.5, 3)], 18), ([(1.5, 3), (1.0, 18)], 3)] {
            let found = found_in(&series(&levels, 0.005, 7));
            assert_eq!(found.steps.iter().map(|step| step.at).collect::<Vec<_>>(), [at]);
        }
    }

    #[test]
    fn two_steps_and_a_bump_are_told_apart() {
        for levels in [
            [(1.0, 12), (1.2, 8), (1.35, 10)],
            [(1.0, 10), (1.25, 4), (1.0, 10)],
            [(1.0, 60), (1.1, 5), (1.0, 60)],
        ] {
            let right = |seed: &u64| {
                let found = found_in(&series(&levels, 0.01, *seed));
                let places: Vec<usize> = found.steps.iter().map(|step| step.at).collect();
                places == [levels[0].1, levels[0].1 + levels[1].1]
            };
            let found = (0..200).filter(right).count();
            assert!(found >= 190, "{found} of 200 for {levels:?}");
        }
    }

    #[test]
    fn a_drift_is_a_drift_and_no_staircase() {
        let drifting = |seed: &u64| {
            let mut noise = Noise(*seed);
            let values: Vec<f64> = (0..30)
                .map(|at| 1e-3 * (0.01 * f64::from(at) + 0.01 * noise.normal()).exp())
                .collect();
            let turns = found_in(&values);
            let right =
                |drift: Drift| (drift.change.get() - 0.336).abs() < 0.06 && drift.p.get() < 1e-6;
            turns.steps.is_empty() && turns.drift.is_some_and(right)
        };
        let found = (0..200).filter(drifting).count();
        assert!(found >= 190, "{found} of 200");
    }

    #[test]
    fn a_series_that_never_varies_has_steps_that_are_certain() {
        let mut values = vec![2.0; 5];
        values.extend([2.5; 5]);
        let turns = found_in(&values);
        let [step] = turns.steps.as_slice() else { panic!("{turns:?}") };
        assert_eq!((step.at, step.values_before, step.values_after), (5, 5, 5));
        assert!(
            (step.change.get() - 0.25).abs() < 1e-12 && step.p == Probability::ZERO,
            "{step:?}"
        );
        assert_eq!(found_in(&[3.0; 40]), Turns::default());
    }

    #[test]
    fn a_change_and_its_reverse_mirror_each_other() {
        for seed in 0..50 {
            let up = series(&[(1.0, 9), (1.2, 9)], 0.02, seed);
            let down: Vec<f64> = up.iter().map(|value| 1.0 / value).collect();
            let (up, down) = (found_in(&up), found_in(&down));
            assert_eq!(up.steps.len(), down.steps.len());
            for (one, two) in up.steps.iter().zip(&down.steps) {
                assert_eq!(one.at, two.at);
                assert!(((1.0 + one.change.get()) * (1.0 + two.change.get()) - 1.0).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn what_is_too_short_or_no_time_is_left_alone() {
        for values in [&[][..], &[1.0], &[1.0, 1.0, 1.0, 2.0, 2.0], &[0.0; 9], &[f64::NAN; 9]] {
            assert_eq!(found_in(values), Turns::default());
        }
    }
}
