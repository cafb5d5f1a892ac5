//! Sums of sums that do not depend on how they are grouped.

/// A sum without any rounding: merging is associative and commutative to the last bit.
///
/// The sum is kept as floating-point numbers that do not overlap. Source: J. R. Shewchuk, "Adaptive Precision
/// Floating-Point Arithmetic and Fast Robust Geometric Predicates", Discrete & Computational Geometry 18 (1997). For
/// sums over single launches, [`super::ExactSum`] is smaller.
#[derive(Debug, Clone, Default)]
pub struct MergedSum {
    /// Largest last.
    parts: Vec<f64>,
    is_unbounded: bool,
}

impl MergedSum {
    /// Adds a term; an infinite one makes the sum infinite.
    pub fn add(&mut self, mut term: f64) {
        if !term.is_finite() {
            self.is_unbounded = true;
            return;
        }
        let mut kept = 0;
        for at in 0..self.parts.len() {
            let other = self.parts[at];
            let (large, small) =
                if term.abs() < other.abs() { (other, term) } else { (term, other) };
            let sum = large + small;
            let lost = small - (sum - large);
            if lost != 0.0 {
                self.parts[kept] = lost;
                kept += 1;
            }
            term = sum;
        }
        self.parts.truncate(kept);
        if term.is_finite() {
            self.parts.extend(Some(term).filter(|term| *term != 0.0));
        } else {
            self.is_unbounded = true;
        }
    }

    /// Adds another sum.
    pub fn merge(&mut self, other: &Self) {
        self.is_unbounded |= other.is_unbounded;
        other.parts.iter().for_each(|term| self.add(*term));
    }

    /// Returns the sum, correctly rounded.
    #[must_use]
    pub fn get(&self) -> f64 {
        self.terms().first().copied().unwrap_or_default()
    }

    /// Returns the terms of the sum, each the correctly rounded rest: equal sums have equal terms.
    #[must_use]
    pub fn terms(&self) -> Vec<f64> {
        if self.is_unbounded {
            return vec![f64::INFINITY];
        }
        let (mut rest, mut terms) = (self.clone(), Vec::new());
        // Each term takes 53 bits of what is left.
        while !rest.parts.is_empty() {
            let term = rest.rounded();
            if !term.is_finite() {
                return vec![f64::INFINITY];
            }
            terms.push(term);
            rest.add(-term);
        }
        terms
    }

    /// Rounds the sum once, half to even, as `fsum` of Python does.
    fn rounded(&self) -> f64 {
        let mut parts = self.parts.iter().rev().copied();
        let mut high = parts.next().unwrap_or_default();
        let mut low = 0.0;
        for part in parts.by_ref() {
            let before = high;
            high = before + part;
            low = part - (high - before);
            if low != 0.0 {
                break;
            }
        }
        // Exactly between two numbers, what comes after decides.
        if let Some(next) = parts.next()
            && (low < 0.0 && next < 0.0 || low > 0.0 && next > 0.0)
        {
            let twice = low * 2.0;
            let up = high + twice;
            if twice == up - high {
                return up;
            }
        }
        high
    }
}

impl FromIterator<f64> for MergedSum {
    fn from_iter<I: IntoIterator<Item = f64>>(terms: I) -> Self {
        let mut sum = Self::default();
        terms.into_iter().for_each(|term| sum.add(term));
        sum
    }
}

impl PartialEq for MergedSum {
    fn eq(&self, other: &Self) -> bool {
        self.terms() == other.terms()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_is_lost() {
        let sum: MergedSum = [1e16, 1.0, 1e-30, -1e16].into_iter().collect();
        assert_eq!(sum.terms(), [1.0, 1e-30]);
        assert_eq!(MergedSum::default().get(), 0.0);
        // Half way between 1 and the next number; the last bit decides.
        let half = f64::EPSILON / 2.0;
        assert_eq!([1.0, half].into_iter().collect::<MergedSum>().get(), 1.0);
        let above: MergedSum = [1.0, half, 1e-40].into_iter().collect();
        assert_eq!(above.get(), 1.0 + f64::EPSILON);
    }

    #[test]
    fn an_infinite_term_makes_an_infinite_sum() {
        let mut sum: MergedSum = [1.0, f64::INFINITY].into_iter().collect();
        sum.merge(&[2.0].into_iter().collect());
        assert_eq!(sum.terms(), [f64::INFINITY]);
        // Larger than any number.
        assert_eq!(
            [f64::MAX, f64::MAX].into_iter().collect::<MergedSum>().terms(),
            [f64::INFINITY]
        );
    }

    proptest! {
        #[test]
        fn order_and_grouping_do_not_matter(
            terms in proptest::collection::vec(-1e12..1e12_f64, 1..40),
            scales in proptest::collection::vec(-300..=0_i32, 40),
            cut in 0_usize..40,
        ) {
            let terms: Vec<f64> =
                terms.iter().zip(&scales).map(|(term, scale)| term * 2f64.powi(*scale)).collect();
            let whole: MergedSum = terms.iter().copied().collect();
            let cut = cut.min(terms.len());
            let mut right: MergedSum = terms[cut..].iter().rev().copied().collect();
            right.merge(&terms[..cut].iter().copied().collect());
            prop_assert_eq!(whole.terms(), right.terms());
            // The terms are the sum.
            let again: MergedSum = whole.terms().into_iter().collect();
            prop_assert_eq!(again.terms(), whole.terms());
        }
    }
}
