//! Robust shifts, distribution-free intervals and pooled variances for comparisons.
//!
//! Only here and in the series of [`crate::history`] are numbers plain `f64`: statistics apply to
//! values of any unit. Callers wrap the results in quantities.
//!
//! Sources: J. L. Hodges, E. L. Lehmann, *Estimates of location based on rank tests*, Ann. Math. Stat. 34
//! (1963); M. Hollander, D. A. Wolfe, E. Chicken, *Nonparametric Statistical Methods*, 3rd ed., §4.2–4.3
//! (the interval); G. K. Smyth, *Linear models and empirical Bayes methods*, Stat. Appl. Genet. Mol. Biol.
//! 3 (2004) (pooled variances); D. J. `McCarthy`, G. K. Smyth, *Testing significance relative to a
//! fold-change threshold is a TREAT*, Bioinformatics 25 (2009); Y. Benjamini, Y. Hochberg, *Controlling
//! the false discovery rate*, J. R. Stat. Soc. B 57 (1995).

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use statrs::function::gamma::digamma;

use crate::units::{median, median_of};

/// Two-sided target confidence of intervals: the deciding end has a confidence of 95%.
pub(crate) const CONFIDENCE: f64 = 0.90;

/// Ratio of the standard deviation to the median absolute deviation of a normal distribution: one
/// over its upper quartile, 0.6745.
const NORMAL_DEVIATIONS: f64 = 1.4826;

/// Pairs of values up to which the rank distribution is computed exactly, in a few milliseconds;
/// beyond it the normal approximation is within a rank.
const COUNTED_PAIRS: usize = 1024;

/// Weights that differ by less than this relative amount are equal up to rounding.
const ROUNDING: f64 = 1e-12;

/// Kernels needed to estimate how much variances differ; with fewer, nothing is pooled (Smyth 2004
/// estimates a variance of variances).
const VARIANCES: usize = 3;

/// Degrees of freedom above which Student's t equals the normal distribution to the last shown
/// digit.
const AS_NORMAL: f64 = 1e6;

/// Returns the mean; 0 for no values.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Returns the sum of squared distances from the mean.
pub(crate) fn squares(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

/// Returns the weighted median: half of the weight lies on either side.
pub(crate) fn weighted_median(values: &[(f64, f64)]) -> Option<f64> {
    let mut sorted: Vec<(f64, f64)> =
        values.iter().copied().filter(|(_, weight)| *weight > 0.0).collect();
    sorted.sort_unstable_by(|one, two| one.0.total_cmp(&two.0));
    let half = sorted.iter().map(|(_, weight)| weight).sum::<f64>() / 2.0;
    let mut below = 0.0;
    for (at, (value, weight)) in sorted.iter().enumerate() {
        below += weight;
        if below > half * (1.0 + ROUNDING) {
            return Some(*value);
        }
        // Exactly half lies below: any value up to the next is a median, and the middle is symmetric.
        if below > half * (1.0 - ROUNDING) {
            let next = sorted.get(at + 1).map_or(*value, |(next, _)| *next);
            return Some(f64::midpoint(*value, next));
        }
    }
    sorted.last().map(|(value, _)| *value)
}

/// Returns the standard deviation of a normal distribution with the same median absolute deviation.
pub(crate) fn robust_deviation(values: &[f64]) -> Option<f64> {
    let center = median(values)?;
    let distances: Vec<f64> = values.iter().map(|value| (value - center).abs()).collect();
    median(&distances).map(|distance| NORMAL_DEVIATIONS * distance)
}

/// Returns the Hodges–Lehmann estimate of one sample: the median of all averages of two values. It
/// lies between the modes of a sample that has two, where the median jumps from one to the other.
pub(crate) fn pseudomedian(values: &[f64]) -> Option<f64> {
    let mut averages = Vec::with_capacity(values.len() * (values.len() + 1) / 2);
    for (at, one) in values.iter().enumerate() {
        averages.extend(values[at..].iter().map(|two| f64::midpoint(*one, *two)));
    }
    median_of(&mut averages)
}

/// A shift between two samples, and its distribution-free interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shift {
    pub(crate) estimate: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// Two-sided confidence of the interval; 0 for one value per side.
    pub(crate) confidence: f64,
}

/// Returns the median of all differences `after - before` (Hodges–Lehmann), and the interval of
/// differences that Wilcoxon's rank sum test does not reject. If the counts do not allow
/// [`CONFIDENCE`], the interval spans every difference.
pub(crate) fn hodges_lehmann(before: &[f64], after: &[f64]) -> Option<Shift> {
    let mut differences = Vec::with_capacity(before.len() * after.len());
    for one in before {
        differences.extend(after.iter().map(|two| two - one));
    }
    let estimate = median_of(&mut differences)?;
    let (cut, _) = cut(before.len(), after.len());
    let last = differences.len() - 1;
    let low = *differences.select_nth_unstable_by(cut, f64::total_cmp).1;
    let high = *differences.select_nth_unstable_by(last - cut, f64::total_cmp).1;
    let confidence = interval_confidence(before.len(), after.len());
    Some(Shift { estimate, low, high, confidence })
}

/// Returns the two-sided confidence of an interval from so many values per side; 0 for one value per
/// side. The counts may not allow [`CONFIDENCE`].
pub(crate) fn interval_confidence(before: usize, after: usize) -> f64 {
    (1.0 - 2.0 * cut(before, after).1).max(0.0)
}

/// Returns how many differences are cut off at either end, and the probability of one tail.
fn cut(before: usize, after: usize) -> (usize, f64) {
    let tail = (1.0 - CONFIDENCE) / 2.0;
    // Exact where that is quick; the normal approximation is good beyond.
    if before * after <= COUNTED_PAIRS {
        let counts = rank_sums(before, after);
        let all: f64 = counts.iter().sum();
        let mut below = counts[0] / all;
        let mut cut = 0;
        // The interval from difference number `cut` on leaves out ranks sums up to `cut`.
        while cut + 1 < counts.len() / 2 && below + counts[cut + 1] / all <= tail {
            cut += 1;
            below += counts[cut] / all;
        }
        return (cut, below.min(0.5));
    }
    let (one, two) = (before as f64, after as f64);
    let mean = one * two / 2.0;
    let deviation = (one * two * (one + two + 1.0) / 12.0).sqrt();
    let cut = (mean - normal().inverse_cdf(1.0 - tail) * deviation - 0.5).floor().max(0.0);
    (cut as usize, normal().cdf((cut + 0.5 - mean) / deviation))
}

/// Counts the ways to get each rank sum `U` of the Mann–Whitney test, from 0 to `one * two`.
fn rank_sums(one: usize, two: usize) -> Vec<f64> {
    // The number of partitions of u into at most `one` parts of at most `two`: the coefficients of the
    // Gaussian binomial, multiplied and divided factor by factor.
    let size = one * two;
    let mut counts = vec![0.0; size + 1];
    counts[0] = 1.0;
    for part in 1..=one {
        // times (1 - q^(two + part))
        for at in (two + part..=size).rev() {
            counts[at] -= counts[at - two - part];
        }
        // over (1 - q^part)
        for at in part..=size {
            counts[at] += counts[at - part];
        }
    }
    counts
}

/// Returns the two-sided Mann–Whitney probability of ranks at least this different, with ties
/// counted half.
pub(crate) fn rank_test(before: &[f64], after: &[f64]) -> Option<f64> {
    if before.is_empty() || after.is_empty() {
        return None;
    }
    let mut wins = 0.0_f64;
    for one in before {
        for two in after {
            wins += match two.total_cmp(one) {
                std::cmp::Ordering::Greater => 1.0,
                std::cmp::Ordering::Equal => 0.5,
                std::cmp::Ordering::Less => 0.0,
            };
        }
    }
    let mut all: Vec<f64> = before.iter().chain(after).copied().collect();
    all.sort_unstable_by(f64::total_cmp);
    let ties: f64 = all
        .chunk_by(|one, two| one == two)
        .map(|tied| (tied.len() as f64).powi(3) - tied.len() as f64)
        .sum();
    let (one, two) = (before.len() as f64, after.len() as f64);
    if ties == 0.0 && before.len() * after.len() <= COUNTED_PAIRS {
        let counts = rank_sums(before.len(), after.len());
        let sum: f64 = counts.iter().sum();
        let least = wins.min(one * two - wins) as usize;
        let below: f64 = counts[..=least].iter().sum();
        return Some((2.0 * below / sum).min(1.0));
    }
    let count = one + two;
    let variance = one * two / 12.0 * (count + 1.0 - ties / (count * (count - 1.0)));
    if variance <= 0.0 {
        return Some(1.0);
    }
    let distance = ((wins - one * two / 2.0).abs() - 0.5).max(0.0) / variance.sqrt();
    Some((2.0 * normal().sf(distance)).min(1.0))
}

/// Prior of the variances of many kernels (Smyth 2004, §6.2): a variance with its degrees of
/// freedom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Prior {
    pub(crate) variance: f64,
    /// Infinite if kernels differ no more than by chance.
    pub(crate) degrees: f64,
    /// Degrees of freedom of all kernels together.
    pub(crate) most: f64,
}

impl Prior {
    /// Fits the prior to sample variances with their degrees of freedom; `None` if there are none.
    pub(crate) fn fit(variances: &[(f64, f64)]) -> Option<Self> {
        // Identical values have no variance and no logarithm; the smallest that is told apart stands in.
        let usable: Vec<(f64, f64)> = variances
            .iter()
            .filter(|(_, degrees)| *degrees > 0.0)
            .map(|(variance, degrees)| (variance.max(SMALLEST_VARIANCE), *degrees))
            .collect();
        let count = usable.len() as f64;
        let most = usable.iter().map(|(_, degrees)| degrees).sum::<f64>();
        if usable.is_empty() {
            return None;
        }
        let logs: Vec<f64> = usable
            .iter()
            .map(|(variance, degrees)| {
                variance.ln() - digamma(degrees / 2.0) + (degrees / 2.0).ln()
            })
            .collect();
        let mean = logs.iter().sum::<f64>() / count;
        if usable.len() < VARIANCES {
            // Too few to tell how far they differ: nothing is pooled beyond their own degrees.
            let pooled = usable.iter().map(|(variance, own)| variance * own).sum::<f64>() / most;
            return Some(Self { variance: pooled, degrees: 0.0, most });
        }
        let spread = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let expected =
            usable.iter().map(|(_, degrees)| trigamma(degrees / 2.0)).sum::<f64>() / count;
        let excess = spread - expected;
        if excess <= 0.0 {
            return Some(Self { variance: mean.exp(), degrees: f64::INFINITY, most });
        }
        let half = trigamma_inverse(excess);
        Some(Self { variance: (mean + digamma(half) - half.ln()).exp(), degrees: 2.0 * half, most })
    }

    /// Returns a kernel's variance shrunk towards the prior, and its degrees of freedom: at most
    /// those of all kernels together.
    pub(crate) fn moderate(self, variance: f64, degrees: f64) -> (f64, f64) {
        if self.degrees.is_infinite() {
            return (self.variance, self.most);
        }
        let all = self.degrees + degrees;
        if all <= 0.0 {
            return (self.variance, 0.0);
        }
        let own = if degrees > 0.0 { variance.max(SMALLEST_VARIANCE) * degrees } else { 0.0 };
        ((self.variance * self.degrees + own) / all, all.min(self.most))
    }
}

/// Logarithms closer than the square root of this, 0.01%, are the same measurement.
const SMALLEST_VARIANCE: f64 = 1e-8;

/// Returns the second derivative of the logarithm of the gamma function, for positive arguments:
/// recurrence up to 10, then the asymptotic series (Abramowitz and Stegun 6.4.6, 6.4.12).
fn trigamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 10.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    sum + 1.0 / x
        + square / 2.0
        + square / x * (1.0 / 6.0 - square * (1.0 / 30.0 - square * (1.0 / 42.0 - square / 30.0)))
}

/// Returns the positive number whose trigamma is `y`: Newton's method on the reciprocal, which is
/// nearly linear (Smyth 2004, appendix).
fn trigamma_inverse(y: f64) -> f64 {
    if y > 1e7 {
        return 1.0 / y.sqrt();
    }
    if y < 1e-6 {
        return 1.0 / y;
    }
    let mut x = 0.5 + 1.0 / y;
    for _ in 0..50 {
        let value = trigamma(x);
        let slope = (trigamma(x * (1.0 + 1e-6)) - value) / (x * 1e-6);
        let step = value * (1.0 - value / y) / slope;
        x += step;
        if step.abs() < 1e-9 * x {
            break;
        }
    }
    x
}

/// Returns the probability that Student's t with these degrees of freedom exceeds a value.
pub(crate) fn student_tail(value: f64, degrees: f64) -> f64 {
    if value.is_nan() {
        return 1.0;
    }
    if degrees > AS_NORMAL {
        return normal().sf(value);
    }
    match StudentsT::new(0.0, 1.0, degrees) {
        Ok(student) => student.sf(value),
        // Without degrees of freedom nothing is certain.
        Err(_) => 1.0,
    }
}

/// Returns the value that Student's t exceeds with this probability.
pub(crate) fn student_quantile(tail: f64, degrees: f64) -> f64 {
    if degrees > AS_NORMAL {
        return normal().inverse_cdf(1.0 - tail);
    }
    StudentsT::new(0.0, 1.0, degrees)
        .map_or(f64::INFINITY, |student| student.inverse_cdf(1.0 - tail))
}

/// Returns the adjusted probabilities (q-values) of Benjamini and Hochberg, in the order of the
/// input.
#[must_use]
pub fn benjamini_hochberg(probabilities: &[f64]) -> Vec<f64> {
    let count = probabilities.len() as f64;
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|one, two| probabilities[*two].total_cmp(&probabilities[*one]));
    let mut adjusted = vec![1.0; probabilities.len()];
    let mut least = 1.0_f64;
    for (from_top, at) in order.into_iter().enumerate() {
        let rank = count - from_top as f64;
        least = least.min(probabilities[at] * count / rank);
        adjusted[at] = least;
    }
    adjusted
}

fn normal() -> Normal {
    Normal::standard()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, wanted: f64, tolerance: f64) {
        assert!((found - wanted).abs() <= tolerance * wanted.abs().max(1e-300), "{found} {wanted}");
    }

    #[test]
    fn weights_and_pairs_have_a_middle() {
        assert_eq!(weighted_median(&[(1.0, 1.0), (2.0, 5.0), (3.0, 1.0)]), Some(2.0));
        assert_eq!(weighted_median(&[(1.0, 1.0), (2.0, 1.0)]), Some(1.5));
        assert_eq!(weighted_median(&[(1.0, 0.0)]), None);
        // 1, 1.5, 2, 2.5, 3, 5.5, 6, 6.5, 7, 10 (1, 2, 3, 10 with their averages).
        assert_eq!(pseudomedian(&[1.0, 2.0, 3.0, 10.0]), Some(2.75));
        near(robust_deviation(&[1.0, 2.0, 3.0, 4.0, 100.0]).unwrap(), 1.4826, 1e-12);
    }

    /// Tables of the Mann–Whitney test: `P(U <= u)` for 5 and 5 is 1/252 at 0, and 5% is passed between
    /// 4 (12/252) and 5 (19/252).
    #[test]
    fn the_interval_leaves_out_as_many_differences_as_the_tables_say() {
        assert_eq!(rank_sums(2, 2), [1.0, 1.0, 2.0, 1.0, 1.0]);
        assert_eq!(rank_sums(5, 5).iter().sum::<f64>(), 252.0);
        assert_eq!(rank_sums(5, 5)[..4], [1.0, 1.0, 2.0, 3.0]);
        assert_eq!(cut(5, 5).0, 4);
        near(1.0 - 2.0 * cut(5, 5).1, 1.0 - 24.0 / 252.0, 1e-12);
        // Too few: everything, and the confidence says so.
        assert_eq!(cut(2, 2).0, 0);
        near(1.0 - 2.0 * cut(2, 2).1, 2.0 / 3.0, 1e-12);
        assert_eq!(cut(1, 1), (0, 0.5));
        // The tables give 138 as the critical value for 20 and 20; the approximation begins later.
        assert_eq!(cut(20, 20).0, 138);
        let exact = {
            let counts = rank_sums(33, 33);
            let all: f64 = counts.iter().sum();
            let mut below = 0.0;
            counts.iter().position(|count| {
                below += count / all;
                below > 0.05
            })
        };
        let (approximate, tail) = cut(33, 33);
        assert!(exact.unwrap().abs_diff(approximate + 1) <= 1, "{exact:?} {approximate}");
        assert!(tail < 0.052);
    }

    #[test]
    fn the_shift_is_the_median_of_differences_and_mirrors() {
        let (before, after) = ([1.0, 2.0, 3.0, 4.0, 5.0], [3.0, 4.0, 5.0, 6.0, 7.5]);
        let there = hodges_lehmann(&before, &after).unwrap();
        let back = hodges_lehmann(&after, &before).unwrap();
        assert_eq!(there.estimate, 2.0);
        assert_eq!((there.low, there.high), (-back.high, -back.low));
        assert_eq!(there.estimate, -back.estimate);
        assert!(there.low <= there.estimate && there.estimate <= there.high);
        assert_eq!(hodges_lehmann(&[], &after), None);
        let single = hodges_lehmann(&[1.0], &[3.0]).unwrap();
        assert_eq!((single.low, single.high, single.confidence), (2.0, 2.0, 0.0));
    }

    /// Published: 0.0079 is the least two-sided probability of 5 and 5, 0.1 that of 3 and 3.
    #[test]
    fn the_rank_test_gives_what_tables_give() {
        let p = |before: &[f64], after: &[f64]| rank_test(before, after).unwrap();
        near(p(&[1.0, 2.0, 3.0, 4.0, 5.0], &[6.0, 7.0, 8.0, 9.0, 10.0]), 2.0 / 252.0, 1e-12);
        near(p(&[1.0, 2.0, 3.0], &[6.0, 7.0, 8.0]), 0.1, 1e-12);
        assert_eq!(p(&[1.0, 1.0], &[1.0, 1.0]), 1.0);
        assert_eq!(rank_test(&[], &[1.0]), None);
        assert_eq!(p(&[1.0, 4.0], &[2.0, 3.0]), 1.0);
    }

    /// trigamma(1) = π²/6, trigamma(1/2) = π²/2.
    #[test]
    fn the_trigamma_function_and_its_inverse_agree() {
        let pi2 = std::f64::consts::PI.powi(2);
        near(trigamma(1.0), pi2 / 6.0, 1e-12);
        near(trigamma(0.5), pi2 / 2.0, 1e-12);
        for x in [0.01, 0.3, 1.0, 4.0, 50.0, 1e4] {
            near(trigamma_inverse(trigamma(x)), x, 1e-6);
        }
    }

    #[test]
    fn variances_that_agree_are_pooled_and_others_keep_their_own() {
        // Exactly equal variances differ less than chance allows.
        let prior = Prior::fit(&[(4e-4, 8.0); 20]).unwrap();
        assert!(prior.degrees.is_infinite());
        // The mean of the logarithm of a chi-square variable is corrected for: slightly above 4e-4.
        assert!(prior.variance > 4e-4 && prior.variance < 5e-4, "{}", prior.variance);
        let wild: Vec<(f64, f64)> = (0..20).map(|at| (10f64.powi(at % 5 - 6), 8.0)).collect();
        let prior = Prior::fit(&wild).unwrap();
        assert!(prior.degrees < 4.0, "{}", prior.degrees);
        let (moderate, degrees) = prior.moderate(1e-2, 8.0);
        assert!(moderate < 1e-2 && moderate > 5e-3 && degrees > 8.0);
        assert_eq!(Prior::fit(&[]), None);
        assert_eq!(Prior::fit(&[(1e-4, 4.0)]).unwrap().moderate(1e-4, 4.0), (1e-4, 4.0));
    }

    /// Student's t: 2.306 is exceeded with 2.5% at 8 degrees of freedom; 1.96 by the normal.
    #[test]
    fn tails_are_those_of_the_tables() {
        near(student_tail(2.306, 8.0), 0.025, 1e-3);
        near(student_tail(1.959_964, f64::INFINITY), 0.025, 1e-5);
        near(student_quantile(0.025, 8.0), 2.306, 1e-3);
        assert_eq!(student_tail(5.0, 0.0), 1.0);
    }

    /// The example of the paper's procedure by hand: 0.01, 0.02, 0.03, 0.5 with m = 4.
    #[test]
    fn adjusted_probabilities_step_up() {
        let adjusted = benjamini_hochberg(&[0.5, 0.01, 0.03, 0.02]);
        for (found, wanted) in adjusted.iter().zip([0.5, 0.04, 0.04, 0.04]) {
            near(*found, wanted, 1e-12);
        }
        assert!(benjamini_hochberg(&[]).is_empty());
    }
}
