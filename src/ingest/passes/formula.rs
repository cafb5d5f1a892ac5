//! A quantity that follows from counters.

use crate::model::{Origin, Quantity};

/// A quantity as a sum over counters, or as a quotient of such a sum and a counter.
#[derive(Debug, Clone)]
pub(in crate::ingest) struct Formula {
    pub(in crate::ingest) quantity: Quantity,
    /// The counters, each times a factor.
    pub(in crate::ingest) terms: Vec<(f64, String)>,
    /// The counter that the sum is divided by.
    pub(in crate::ingest) over: Option<String>,
    /// SI units in one unit of the counters.
    pub(in crate::ingest) scale: f64,
    pub(in crate::ingest) origin: Origin,
    /// How the sum of some of the terms is written, by which of them are known, where it is a lower bound.
    pub(in crate::ingest) of_some: Option<fn(&[bool]) -> &'static str>,
}

/// Where the counters of a formula are among those of a pass.
pub(super) struct Places {
    terms: Vec<(f64, Option<usize>)>,
    over: Option<usize>,
}

impl Formula {
    /// The counters that it follows from.
    pub(super) fn counters(&self) -> impl Iterator<Item = &String> {
        self.terms.iter().map(|(_, name)| name).chain(&self.over)
    }

    pub(super) fn places(&self, place: impl Fn(&String) -> Option<usize>) -> Places {
        let terms = self.terms.iter().map(|(factor, name)| (*factor, place(name)));
        Places { terms: terms.collect(), over: self.over.as_ref().and_then(place) }
    }

    /// The value for these counters, with its origin; a lower bound where some are missing and it is one.
    pub(super) fn value(
        &self,
        places: &Places,
        counter: impl Fn(usize) -> Option<f64>,
    ) -> Option<(f64, Origin)> {
        let term = |(factor, place): &(f64, Option<usize>)| Some(factor * counter((*place)?)?);
        let terms: Vec<Option<f64>> = places.terms.iter().map(term).collect();
        let over = match &self.over {
            Some(_) => counter(places.over?).filter(|over| *over > 0.0)?,
            None => 1.0,
        };
        let sum = terms.iter().flatten().sum::<f64>() / over * self.scale;
        if !sum.is_finite() {
            return None;
        }
        if terms.iter().all(Option::is_some) {
            return Some((sum, self.origin.clone()));
        }
        // Of none that were counted nothing follows.
        let known: Vec<bool> = terms.iter().map(Option::is_some).collect();
        let formula = self.of_some.filter(|_| sum > 0.0)?(&known);
        Some((
            sum,
            Origin { formula: formula.to_owned(), ..self.origin.clone() }
                .within(1.0, f64::INFINITY),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 3 and 2 × 5, of which the first alone is a lower bound; divided by 4 it is nothing without the divisor.
    #[test]
    fn a_formula_is_whole_or_a_lower_bound_or_nothing() {
        let sum = Formula {
            quantity: Quantity::LoadSectorsPerRequest,
            terms: vec![(1.0, "a".to_owned()), (2.0, "b".to_owned())],
            over: None,
            scale: 1.0,
            origin: Origin::derived("a + 2 × b"),
            of_some: Some(|_| "a part"),
        };
        let quotient = Formula { over: Some("c".to_owned()), of_some: None, ..sum.clone() };
        let value = |formula: &Formula, counters: &[(&str, f64)]| {
            let places = formula.places(|name| counters.iter().position(|one| one.0 == name));
            let found = formula.value(&places, |place| Some(counters[place].1));
            found.map(|(value, origin)| (value, origin.high))
        };
        let [a, b, c] = [("a", 3.0), ("b", 5.0), ("c", 4.0)];
        assert_eq!(value(&sum, &[b, a]), Some((13.0, 1.0)));
        assert_eq!(value(&sum, &[a]), Some((3.0, f64::INFINITY)));
        assert_eq!(value(&sum, &[("a", 0.0)]), None);
        assert_eq!(value(&quotient, &[a, b, c]), Some((3.25, 1.0)));
        assert_eq!(value(&quotient, &[a, b]), None);
        assert_eq!(value(&quotient, &[a, c]), None);
        assert_eq!(value(&quotient, &[a, b, ("c", 0.0)]), None);
    }
}
