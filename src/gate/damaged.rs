//! Runs of a side that are no repeats of the others: of another program, in another unit, of other numbers of steps, or
//! with half of their durations gone.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::words;
use crate::compare::{self, Run, weighted_median};
use crate::units::digits;

/// Repeats of a run have at least half of its time in common kernels.
const COMMON: f64 = 0.5;

/// Repeats of a run take at most three times as long: a hot device takes 1.5 times, a slip of a unit 1,000.
const FACTOR: f64 = 3.0;

/// Repeats of a run have as many launches, and durations for as many of them, up to a tenth: if fewer were
/// read and records could not be used, the file is damaged.
const TIMED: f64 = 0.1;

/// Kernels with this part of the common time have the same ratio of launches where a run is of more steps.
const MOST: f64 = 0.75;

/// Ratios of launches that differ by less are one.
const SAME_RATIO: f64 = 0.02;

/// The runs of both sides that are repeats of each other.
pub(super) struct Sifted<'a> {
    pub(super) baseline: Cow<'a, [Run]>,
    pub(super) current: Cow<'a, [Run]>,
    /// The order of those that are left.
    pub(super) order: Vec<bool>,
    /// What was left out and why, a sentence each.
    pub(super) left_out: Vec<String>,
    /// Sides whose runs do not agree, so that it is not clear which to leave out.
    pub(super) unclear: Vec<String>,
}

/// Leaves out runs that are no repeats of most others of their side.
pub(super) fn sift<'a>(baseline: &'a [Run], current: &'a [Run], order: &[bool]) -> Sifted<'a> {
    let mut sifted = Sifted {
        baseline: Cow::Borrowed(baseline),
        current: Cow::Borrowed(current),
        order: order.to_vec(),
        left_out: Vec::new(),
        unclear: Vec::new(),
    };
    let (one, two) = (outlines(baseline), outlines(current));
    let before = sifted.side("the baseline", (baseline, &one), (current, &two));
    let after = sifted.side("the current side", (current, &two), (baseline, &one));
    let before = sifted.without_beginnings("the baseline", baseline, before, &[]);
    let after = sifted.without_beginnings("the current side", current, after, baseline);
    let before = sifted.of_as_many_steps("the baseline", (baseline, &one), before, (current, &two));
    let after =
        sifted.of_as_many_steps("the current side", (current, &two), after, (baseline, &one));
    if before.len() + after.len() == baseline.len() + current.len() {
        return sifted;
    }
    let of = |kept: &[usize], runs: &'a [Run]| -> Cow<'a, [Run]> {
        kept.iter().map(|at| runs[*at].clone()).collect()
    };
    sifted.baseline = of(&before, baseline);
    sifted.current = of(&after, current);
    let mut places = [0, 0];
    sifted.order.retain(|later| {
        let at = places[usize::from(*later)];
        places[usize::from(*later)] += 1;
        if *later { after.contains(&at) } else { before.contains(&at) }
    });
    sifted
}

impl Sifted<'_> {
    /// Positions of the runs of a side that agree with most of it.
    fn side(
        &mut self,
        side: &str,
        (runs, outlines): (&[Run], &[Outline<'_>]),
        (others, known): (&[Run], &[Outline<'_>]),
    ) -> Vec<usize> {
        let all: Vec<usize> = (0..runs.len()).collect();
        let with_first =
            |at: &usize| differs((&runs[*at], &outlines[*at]), (&runs[0], &outlines[0])).is_none();
        if all.iter().skip(1).all(with_first) {
            return all;
        }
        let agree = |at: usize| -> Vec<usize> {
            let of = |other: &usize| {
                differs((&runs[at], &outlines[at]), (&runs[*other], &outlines[*other]))
            };
            all.iter().copied().filter(|other| of(other).is_none()).collect()
        };
        let best = all.iter().map(|at| agree(*at)).max_by_key(Vec::len).unwrap_or_default();
        if best.len() == runs.len() {
            return all;
        }
        // Of two runs that differ, the other side may tell which is the odd one.
        let fits = |at: &usize| {
            let mut others = others.iter().zip(known);
            others.any(|other| differs((&runs[*at], &outlines[*at]), other).is_none())
        };
        let kept = if 2 * best.len() > runs.len() {
            best
        } else {
            all.iter().copied().filter(fits).collect()
        };
        let alike = kept.iter().all(|at| {
            kept.iter().all(|other| {
                differs((&runs[*at], &outlines[*at]), (&runs[*other], &outlines[*other])).is_none()
            })
        });
        let (Some(first), true) = (kept.first(), alike) else {
            let labels: Vec<&str> = runs.iter().map(|run| run.label.as_str()).collect();
            let why = differs(
                (&runs[0], &outlines[0]),
                (&runs[runs.len() - 1], &outlines[runs.len() - 1]),
            );
            let why = why.unwrap_or_else(|| "they do not agree".to_owned());
            self.unclear.push(format!(
                "the runs of {side} are not repeats of each other ({}): {why}; check the files",
                labels.join(", ")
            ));
            return all;
        };
        for at in all.iter().filter(|at| !kept.contains(at)) {
            let why = differs((&runs[*at], &outlines[*at]), (&runs[*first], &outlines[*first]));
            let why = why.unwrap_or_else(|| "it differs from most of them".to_owned());
            self.left_out.push(format!(
                "{} is left out, because it is not a repeat of the other runs of {side}: {why}",
                runs[*at].label
            ));
        }
        kept
    }
}

impl Sifted<'_> {
    /// Those of the positions whose runs are not the beginning of others of their side, where these are most. A run that is
    /// the beginning of one of `judging`, which fails for that, stays.
    fn without_beginnings(
        &mut self,
        side: &str,
        runs: &[Run],
        at: Vec<usize>,
        judging: &[Run],
    ) -> Vec<usize> {
        // A loop may end a few turns earlier: repeats differ by a tenth at most.
        let is_shorter = |part: &Run, whole: &Run| {
            (part.launches as f64) < (1.0 - TIMED) * whole.launches as f64
                && compare::is_beginning(part, whole)
        };
        let whole_of =
            |one: &usize| at.iter().copied().find(|whole| is_shorter(&runs[*one], &runs[*whole]));
        let cut: Vec<(usize, usize)> =
            at.iter().filter_map(|one| Some((*one, whole_of(one)?))).collect();
        if 2 * cut.len() >= at.len() {
            return at;
        }
        let fails = |one: &Run| judging.iter().any(|whole| compare::is_beginning(one, whole));
        let mut gone = Vec::new();
        for (one, whole) in cut.into_iter().filter(|(one, _)| !fails(&runs[*one])) {
            self.left_out.push(format!(
                "{} is left out, because it is not a repeat of the other runs of {side}: it matches the beginning of {} and \
                 ends after {} of {} launches: cut off?",
                runs[one].label, runs[whole].label, runs[one].launches, runs[whole].launches
            ));
            gone.push(one);
        }
        at.into_iter().filter(|one| !gone.contains(one)).collect()
    }

    /// Those of the positions whose runs have as many steps as most: the total of a side is that of a run. Where most do
    /// not agree, each is what it is.
    fn of_as_many_steps(
        &mut self,
        side: &str,
        (runs, outlines): (&[Run], &[Outline<'_>]),
        at: Vec<usize>,
        (others_runs, others): (&[Run], &[Outline<'_>]),
    ) -> Vec<usize> {
        let is_alike =
            |one: usize, two: usize| more_steps(&outlines[one], &outlines[two]).is_none();
        let agree = |one: usize| -> Option<Vec<usize>> {
            let all: Vec<usize> = at.iter().copied().filter(|two| is_alike(one, *two)).collect();
            let mut pairs = all.iter().flat_map(|one| all.iter().map(|two| (*one, *two)));
            pairs.all(|(one, two)| is_alike(one, two)).then_some(all)
        };
        let sets: Vec<Vec<usize>> = at.iter().filter_map(|one| agree(*one)).collect();
        let most = sets.iter().find(|set| 2 * set.len() > at.len());
        let fits =
            |one: &usize| others.iter().any(|other| more_steps(&outlines[*one], other).is_none());
        let kept: Vec<usize> = match (most, at.len()) {
            (Some(most), _) => most.clone(),
            // Of two the other side may tell.
            (None, 2) => at.iter().copied().filter(fits).collect(),
            (None, _) => return at,
        };
        // One that was cut off is for those to name who look for that.
        let is_cut = |one: &usize| {
            let run = std::slice::from_ref(&runs[*one]);
            let mut all = runs.iter().chain(others_runs);
            all.any(|other| compare::cut_off(std::slice::from_ref(other), run).is_some())
        };
        let is_kept = |one: &usize| kept.contains(one) || is_cut(one);
        if kept.is_empty() || at.iter().all(is_kept) {
            return at;
        }
        for one in at.iter().filter(|one| !is_kept(one)) {
            let more =
                |other: &usize| Some((*other, more_steps(&outlines[*one], &outlines[*other])?));
            let Some((other, more)) = kept.iter().find_map(more) else { continue };
            self.left_out.push(format!(
                "{} is left out, because it is not a repeat of the other runs of {side}: it launches almost every kernel {}× \
                 as often as {}: another number of steps?",
                runs[*one].label,
                digits(more),
                runs[other].label
            ));
        }
        at.iter().copied().filter(is_kept).collect()
    }
}

/// Returns why runs of the same code are no repeats of each other: one that measured another program or was cut off makes
/// a difference that is not noise. `None` where all may be repeats.
#[must_use]
pub fn no_repeats(runs: &[Run]) -> Option<String> {
    let one = std::slice::from_ref::<Run>;
    let cut = |run: &Run| runs.iter().find_map(|other| compare::cut_off(one(other), one(run)));
    if let Some(why) = runs.iter().find_map(cut) {
        return Some(why);
    }
    let outlines = outlines(runs);
    let mut all = runs.iter().zip(&outlines);
    let first = all.next()?;
    all.find_map(|other| {
        let why = differs(other, first)?;
        Some(format!("{} and {}: {why}", other.0.label, first.0.label))
    })
}

/// The kernels of a run by the names that builds keep.
struct Outline<'a> {
    kernels: BTreeMap<Cow<'a, str>, OfName>,
    /// Part of the launches that have a duration, warm-up apart.
    timed: f64,
    launches: u64,
}

/// Kernels of one name in a run.
#[derive(Default)]
struct OfName {
    time: f64,
    timed: u64,
    launches: u64,
    /// Share of the time.
    share: f64,
}

impl OfName {
    /// The mean launch in seconds, where there is one.
    fn mean(&self) -> Option<f64> {
        (self.timed > 0 && self.time > 0.0).then(|| self.time / self.timed as f64)
    }
}

fn outlines(runs: &[Run]) -> Vec<Outline<'_>> {
    runs.iter().map(outline).collect()
}

fn outline(run: &Run) -> Outline<'_> {
    let mut kernels: BTreeMap<Cow<'_, str>, OfName> = BTreeMap::new();
    let (mut timed, mut wanted) = (0_u64, 0_u64);
    for kernel in &run.kernels {
        let sum = kernels.entry(Cow::Owned(compare::family(kernel.written()))).or_default();
        sum.time += kernel.measured_s.get();
        sum.timed += kernel.timed;
        sum.launches += kernel.launches;
        timed += kernel.timed;
        wanted += kernel.warm_launches(run.warmup);
    }
    let all = run.measured_s.get();
    for kernel in kernels.values_mut().filter(|_| all > 0.0) {
        kernel.share = kernel.time / all;
    }
    Outline {
        kernels,
        timed: (timed as f64 / wanted.max(1) as f64).min(1.0),
        launches: run.launches,
    }
}

/// Why a run is no repeat of another; none where it may be one.
fn differs(
    (run, outline): (&Run, &Outline<'_>),
    (other, known): (&Run, &Outline<'_>),
) -> Option<String> {
    let shared = |one: &Outline<'_>, two: &Outline<'_>| -> f64 {
        let known = one.kernels.iter().filter(|(name, _)| two.kernels.contains_key(*name));
        known.map(|(_, kernel)| kernel.share).sum()
    };
    let common = shared(outline, known).min(shared(known, outline));
    if common < COMMON {
        return Some(format!(
            "kernels that both have take {}% of the time: another program?",
            // The sum of no shares is -0.
            digits(common.abs() * 100.0)
        ));
    }
    let unused = |run: &Run| run.files.iter().map(|file| file.skipped).sum::<u64>();
    let launches = run.launches as f64 / other.launches.max(1) as f64;
    if (launches - 1.0).abs() > TIMED && unused(run) != unused(other) {
        return Some(format!(
            "it has {} and {} records or cells that could not be used, {} has {} and {}",
            words::of_launches(run.launches as f64),
            unused(run),
            other.label,
            other.launches,
            unused(other)
        ));
    }
    if (outline.timed - known.timed).abs() > TIMED {
        return Some(format!(
            "{}% of its launches have a duration, and {}% of the others'",
            digits(outline.timed * 100.0),
            digits(known.timed * 100.0)
        ));
    }
    let ratio = |(name, kernel): (&Cow<'_, str>, &OfName)| {
        let other = known.kernels.get(name)?.mean()?;
        Some((kernel.mean()? / other).ln())
    };
    let ratios: Vec<f64> = outline.kernels.iter().filter_map(ratio).collect();
    let launch = crate::units::median(&ratios).unwrap_or(0.0);
    let total = (run.measured_s / other.measured_s).ln();
    let (shift, what) =
        if launch.abs() > FACTOR.ln() { (launch, "a launch takes") } else { (total, "it takes") };
    (shift.abs() > FACTOR.ln()).then(|| {
        format!("{what} {}× as long as in {}: another unit?", digits(shift.exp()), other.label)
    })
}

/// The same whichever run is asked.
fn more_steps(one: &Outline<'_>, two: &Outline<'_>) -> Option<f64> {
    steps(one, two).or_else(|| steps(two, one).map(f64::recip))
}

/// How many times the steps of another run a run has, if they are not as many: kernels with most of the time that both have
/// are launched so many times as often.
fn steps(outline: &Outline<'_>, known: &Outline<'_>) -> Option<f64> {
    // Kernels with most of the time are most of the launches, too, or nearly so.
    let whole = outline.launches as f64 / known.launches.max(1) as f64;
    if whole.ln().abs() < TIMED.ln_1p() / 2.0 {
        return None;
    }
    let ratio = |(name, kernel): (&Cow<'_, str>, &OfName)| {
        let other = known.kernels.get(name).filter(|other| other.launches > 0)?;
        Some(((kernel.launches as f64 / other.launches as f64).ln(), kernel.share))
    };
    let ratios: Vec<(f64, f64)> = outline.kernels.iter().filter_map(ratio).collect();
    let usual = weighted_median(&ratios).filter(|usual| usual.abs() > TIMED.ln_1p())?;
    let agree = ratios.iter().filter(|(ratio, _)| (ratio - usual).abs() < SAME_RATIO);
    let agree: Vec<f64> = agree.map(|(_, share)| *share).collect();
    let common: f64 = ratios.iter().map(|(_, share)| share).sum();
    let is_of_steps = agree.len() > 1 && agree.iter().sum::<f64>() >= MOST * common;
    is_of_steps.then(|| usual.exp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::made::{kernel, run};

    fn named(label: &str, prefix: &str, factor: f64) -> Run {
        let of = |name: &str| kernel(&format!("{prefix}_{name}"), &[1e-3 * factor; 5]);
        Run { label: label.to_owned(), ..run(vec![of("gemm"), of("softmax"), of("copy")]) }
    }

    fn left(runs: &[Run], others: &[Run]) -> (Vec<String>, Vec<String>, usize) {
        let order: Vec<bool> =
            others.iter().map(|_| false).chain(runs.iter().map(|_| true)).collect();
        let found = sift(others, runs, &order);
        assert_eq!(found.order.len(), found.baseline.len() + found.current.len());
        (found.left_out, found.unclear, found.current.len())
    }

    #[test]
    fn a_run_in_another_unit_or_of_another_program_is_named_and_left_out() {
        let good = |label: &str| named(label, "net", 1.0);
        let other = [good("a"), good("b")];
        for (odd, why) in [
            (named("odd", "net", 1000.0), "takes 1000× as long"),
            (named("odd", "net", 0.001), "takes 0.001× as long"),
            (named("odd", "physics", 1.0), "another program?"),
        ] {
            let (out, unclear, kept) = left(&[good("c"), odd.clone(), good("d")], &other);
            assert!(out.len() == 1 && out[0].starts_with("odd is left out"), "{out:?}");
            assert!(out[0].contains(why) && unclear.is_empty() && kept == 2, "{out:?}");
            // Of two, the other side tells which.
            let (out, unclear, kept) = left(&[odd.clone(), good("c")], &other);
            assert!(out.len() == 1 && unclear.is_empty() && kept == 1, "{out:?} {unclear:?}");
            // One is what it is: the comparison judges it.
            assert_eq!(left(&[odd], &other).2, 1);
        }
    }

    #[test]
    fn a_run_with_half_of_its_durations_is_left_out() {
        let good = |label: &str| named(label, "net", 1.0);
        let mut half = good("half");
        half.kernels.iter_mut().for_each(|kernel| kernel.launches = 10);
        let (out, _, kept) = left(&[good("c"), half, good("d")], &[good("a")]);
        assert!(out[0].contains("50.0% of its launches have a duration") && kept == 2, "{out:?}");
    }

    /// Two steps in one file, beside runs of one step each; or all runs of the side with as many as they like.
    #[test]
    fn a_run_of_more_steps_is_left_out_beside_others() {
        let of = |label: &str, steps: usize| {
            let of = |name: &str| kernel(&format!("net_{name}"), &vec![1e-3; 5 * steps]);
            Run { label: label.to_owned(), ..run(vec![of("gemm"), of("softmax"), of("copy")]) }
        };
        let runs = [of("c", 1), of("d", 2), of("e", 1)];
        let (out, _, kept) = left(&runs, &[of("a", 1)]);
        let says = "d is left out, because it is not a repeat of the other runs of the current side: it launches \
                    almost every kernel 2.00× as often as c: another number of steps?";
        assert_eq!((out, kept), (vec![says.to_owned()], 2));
        let (out, unclear, kept) = left(&[of("c", 1), of("d", 2)], &[of("a", 1)]);
        assert!(out.len() == 1 && unclear.is_empty() && kept == 1, "{out:?} {unclear:?}");
        // Where each is of its own number, none is the odd one.
        let each = [of("c", 1), of("d", 2), of("e", 3)];
        assert_eq!(left(&each, &[of("a", 5)]), (vec![], vec![], 3));
        // Neither 91 nor 118 steps are as many as those of most: 100 is a tenth from 91 and from 109.
        let spread = [of("c", 91), of("d", 100), of("e", 109), of("f", 118)];
        assert_eq!(left(&spread, &[of("a", 100)]), (vec![], vec![], 4));
        // Nor is one that lacks a rank of another number of steps.
        let with_ranks = |run: Run, ranks: &[&str]| {
            let ranks = ranks.iter().map(|rank| ((*rank).to_owned(), 15)).collect();
            Run { ranks, ..run }
        };
        let both = ["0", "1"];
        let [c, e] = ["c", "e"].map(|label| with_ranks(of(label, 2), &both));
        let runs = [c, with_ranks(of("d", 1), &both[..1]), e];
        assert_eq!(left(&runs, &[of("a", 2)]), (vec![], vec![], 3));
        let twice = [of("c", 2), of("d", 2)];
        assert_eq!(left(&twice, &[of("a", 1), of("b", 1)]), (vec![], vec![], 2));
    }

    /// Rows: a, b, b, c. One of three ends in the middle of b, whichever side has it; the gate fails for one of the
    /// current side that is the beginning of a run of the baseline, and judges the others where all end there.
    #[test]
    fn a_run_that_is_the_beginning_of_the_others_is_left_out() {
        let at = |name: &str, launches: usize, rows: [u64; 2]| compare::RunKernel {
            rows,
            ..kernel(&format!("net_{name}"), &vec![1e-3; launches])
        };
        let of = |label: &str, kernels: Vec<compare::RunKernel>| Run {
            label: label.to_owned(),
            ..run(kernels)
        };
        let whole =
            |label| of(label, vec![at("a", 1, [0, 0]), at("b", 2, [1, 2]), at("c", 1, [3, 3])]);
        let part = |label| of(label, vec![at("a", 1, [0, 0]), at("b", 1, [1, 1])]);
        let other = || of("x", vec![at("a", 1, [0, 0]), at("b", 2, [1, 2]), at("d", 1, [3, 3])]);
        let runs = [whole("c"), part("d"), whole("e")];
        let says = "d is left out, because it is not a repeat of the other runs of the current side: it matches the \
                    beginning of c and ends after 2 of 4 launches: cut off?";
        assert_eq!(left(&runs, &[of("y", vec![at("z", 9, [0, 8])])]).0, [says]);
        let others = [other()];
        let found = sift(&runs, &others, &[]);
        assert_eq!((found.baseline.len(), found.left_out.len()), (2, 1), "{:?}", found.left_out);
        assert_eq!(left(&runs, &[whole("a")]).2, 3);
        assert_eq!(left(&[part("c"), part("d"), whole("e")], &[whole("a")]).2, 3);
    }

    #[test]
    fn two_runs_that_nothing_decides_between_are_not_clear() {
        let (one, two) = (named("c", "net", 1.0), named("d", "net", 1000.0));
        let (out, unclear, kept) = left(&[one, two], &[named("a", "net", 30.0)]);
        assert!(out.is_empty() && kept == 2, "{out:?}");
        assert!(
            unclear[0].contains("(c, d)") && unclear[0].contains("another unit?"),
            "{unclear:?}"
        );
    }

    /// A hot run takes half as much again, and is a repeat.
    #[test]
    fn a_hot_run_is_a_repeat() {
        let good = |label: &str, factor| named(label, "net", factor);
        let runs = [good("c", 1.0), good("d", 1.5), good("e", 1.0)];
        assert_eq!(left(&runs, &[good("a", 1.0)]), (vec![], vec![], 3));
    }
}
