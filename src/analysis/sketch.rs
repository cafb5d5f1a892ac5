//! Quantiles of times in little memory, which merge in any order.

use std::collections::BTreeMap;

use crate::units::Seconds;

/// Counts of times in classes that each are 2% wide: a quantile is off by at most 1%.
///
/// Classes are never joined, so a sketch follows from its times alone and merging is associative and commutative; a
/// nanosecond to a day takes 1600 classes at most. Source: C. Masson, J. Rim and H. Lee, "`DDSketch`: a fast and
/// fully-mergeable quantile sketch with relative-error guarantees", PVLDB 12 (2019).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sketch {
    classes: BTreeMap<i32, u64>,
}

/// Largest relative error of a quantile.
const ERROR: f64 = 0.01;

/// Ratio of the ends of a class.
const GAMMA: f64 = (1.0 + ERROR) / (1.0 - ERROR);

/// Class of times that are not positive.
const ZERO: i32 = i32::MIN;

/// Class below that of the least positive number.
const LEAST: i32 = -37_300;

/// Class of 10³⁰ seconds.
const GREATEST: i32 = 3454;

impl Sketch {
    /// Adds a time `count` times.
    pub fn add(&mut self, time: Seconds, count: u64) {
        let is_positive = time > Seconds::ZERO;
        let class = if is_positive { (time.get().ln() / GAMMA.ln()).ceil() as i32 } else { ZERO };
        self.put(class, count);
    }

    fn put(&mut self, class: i32, count: u64) {
        let known = self.classes.entry(class).or_default();
        *known = known.saturating_add(count);
    }

    /// Adds all times of another sketch.
    pub fn merge(&mut self, other: &Self) {
        for (class, count) in &other.classes {
            self.put(*class, *count);
        }
    }

    /// Returns the number of times.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.classes.values().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Returns a quantile, 0 to 1, off by at most 1%; `None` without times.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<Seconds> {
        let last = self.count().checked_sub(1)?;
        self.at((share.clamp(0.0, 1.0) * last as f64).floor() as u64)
    }

    /// Returns the median of the times above zero, off by at most 1%: of an even number the mean of the two in the middle.
    /// `None` without such times.
    #[must_use]
    pub fn median(&self) -> Option<Seconds> {
        let zeros = self.classes.get(&ZERO).copied().unwrap_or_default();
        let last = self.count().saturating_sub(zeros).checked_sub(1)?;
        let at = |place: u64| self.at(place.saturating_add(zeros));
        let [low, high] = [at(last / 2)?, at(last.div_ceil(2))?];
        Some(Seconds::new(f64::midpoint(low.get(), high.get())))
    }

    /// Returns the time at a place in ascending order.
    fn at(&self, wanted: u64) -> Option<Seconds> {
        let mut before = 0_u64;
        let class = self.classes.iter().find_map(|(class, count)| {
            before = count.saturating_add(before);
            (before > wanted).then_some(*class)
        })?;
        // The middle of the class, in relative terms.
        let time = if class == ZERO { 0.0 } else { 2.0 * GAMMA.powi(class) / (GAMMA + 1.0) };
        Some(Seconds::new(time))
    }

    /// Makes a sketch of classes that a document has; `None` if a class is beyond all times.
    #[must_use]
    pub fn of_classes(classes: &[(i32, u64)]) -> Option<Self> {
        let is_time = |class: i32| class == ZERO || (LEAST..=GREATEST).contains(&class);
        let is_whole = classes.iter().all(|(class, _)| is_time(*class));
        is_whole.then(|| classes.iter().copied().collect())
    }

    /// Returns the classes with their counts, for documents.
    pub fn classes(&self) -> impl Iterator<Item = (i32, u64)> {
        self.classes.iter().map(|(class, count)| (*class, *count))
    }
}

impl FromIterator<(i32, u64)> for Sketch {
    fn from_iter<I: IntoIterator<Item = (i32, u64)>>(classes: I) -> Self {
        let mut sketch = Self::default();
        for (class, count) in classes {
            sketch.put(class, count);
        }
        sketch
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_median_is_of_the_times_above_zero() {
        let mut sketch = Sketch::default();
        sketch.add(Seconds::ZERO, 5);
        assert_eq!(sketch.median(), None);
        for time in [1.0, 2.0, 3.0] {
            sketch.add(Seconds::new(time), 1);
        }
        let median = sketch.median().unwrap().get();
        assert!((median / 2.0 - 1.0).abs() < ERROR, "{median}");
    }

    #[test]
    fn no_times_have_no_quantile() {
        assert_eq!(Sketch::default().quantile(0.5), None);
        let mut zero = Sketch::default();
        zero.add(Seconds::ZERO, 3);
        assert_eq!((zero.quantile(0.9), zero.count()), (Some(Seconds::ZERO), 3));
    }

    #[test]
    fn classes_beyond_all_times_are_refused() {
        for time in [5e-324, 1e-9, 1.0, 0.99e30] {
            let mut sketch = Sketch::default();
            sketch.add(Seconds::new(time), 2);
            let classes: Vec<(i32, u64)> = sketch.classes().collect();
            assert_eq!(Sketch::of_classes(&classes), Some(sketch), "{time}");
        }
        for class in [i32::MAX, 3460, -37_400] {
            assert_eq!(Sketch::of_classes(&[(class, 1)]), None, "{class}");
        }
    }

    proptest! {
        #[test]
        fn a_quantile_is_within_one_percent(
            exponents in proptest::collection::vec(-9.0..3.0_f64, 1..200),
            share in 0.0..=1.0_f64,
            cut in 0_usize..200,
        ) {
            let mut times: Vec<f64> = exponents.iter().map(|exponent| 10f64.powf(*exponent)).collect();
            let of = |times: &[f64]| {
                let mut sketch = Sketch::default();
                for time in times {
                    sketch.add(Seconds::new(*time), 1);
                }
                sketch
            };
            let whole = of(&times);
            let cut = cut.min(times.len());
            let mut merged = of(&times[cut..]);
            merged.merge(&of(&times[..cut]));
            prop_assert_eq!(&merged, &whole);
            prop_assert_eq!(&merged.classes().collect::<Sketch>(), &whole);
            times.sort_by(f64::total_cmp);
            let exact = times[(share * (times.len() - 1) as f64).floor() as usize];
            let found = whole.quantile(share).unwrap().get();
            prop_assert!((found / exact - 1.0).abs() <= ERROR * 1.0001, "{found} {exact}");
            let last = times.len() - 1;
            let exact = f64::midpoint(times[last / 2], times[last.div_ceil(2)]);
            let found = whole.median().unwrap().get();
            prop_assert!((found / exact - 1.0).abs() <= ERROR * 1.0001, "{found} {exact}");
        }
    }
}
