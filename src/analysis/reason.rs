//! Reasons for the states of kernels.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use crate::units::Factor;

/// Reason for a kernel's state: a general part shared with other kernels, and the figures of this
/// kernel.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reason {
    /// How many times the roofline time it takes, if the sentence begins so.
    times: Option<Factor>,
    general: Arc<str>,
    /// With their leading separator.
    figures: Box<str>,
}

impl Reason {
    /// Makes a reason from its general part and its figures with their leading separator; figures
    /// may be empty.
    pub(super) fn new(general: &str, figures: &str) -> Self {
        Self { times: None, general: general.into(), figures: figures.into() }
    }

    /// Makes a reason that begins with how many times the roofline time a kernel takes.
    pub(super) fn times(headroom: f64, rest: &str) -> Self {
        Self { times: Some(Factor::new(headroom)), ..Self::new(rest, "") }
    }

    /// Returns the general part, which is the same for all kernels with this reason.
    #[must_use]
    pub fn general(&self) -> Cow<'_, str> {
        match self.times {
            Some(times) => format!("{:.2}× the roofline time{}", times.get(), self.general).into(),
            None => Cow::Borrowed(&self.general),
        }
    }

    /// Returns the figures of this kernel without their leading separator; `None` if there are
    /// none.
    #[must_use]
    pub fn figures(&self) -> Option<&str> {
        let figures = self.figures.trim_start_matches([':', ';', ' ']);
        (!figures.is_empty()).then_some(figures)
    }
}

impl From<String> for Reason {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl From<&str> for Reason {
    fn from(text: &str) -> Self {
        Self::new(text, "")
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.general(), self.figures)
    }
}

/// The general parts met so far, each kept once: there can be as many kernels as launches.
#[derive(Default)]
pub(super) struct Reasons(HashSet<Arc<str>>);

impl Reasons {
    /// Lets a reason share its general part with those before it.
    pub(super) fn share(&mut self, reason: &mut Reason) {
        /// Parts that are remembered; where there are more, they have figures of their own.
        const MOST: usize = 256;

        if let Some(known) = self.0.get(&reason.general) {
            reason.general = Arc::clone(known);
        } else if self.0.len() < MOST {
            self.0.insert(Arc::clone(&reason.general));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_told_from_what_is_general() {
        let reason = Reason::new("FLOPs were not counted", ": bytes alone explain 40%");
        assert_eq!(reason.to_string(), "FLOPs were not counted: bytes alone explain 40%");
        assert_eq!(reason.general(), "FLOPs were not counted");
        assert_eq!(reason.figures(), Some("bytes alone explain 40%"));
        let plain = Reason::from("no duration in the export");
        assert_eq!((&*plain.general(), plain.figures()), ("no duration in the export", None));
        let far = Reason::times(1.537, ", but savings are below 5 µs");
        assert_eq!(far.to_string(), "1.54× the roofline time, but savings are below 5 µs");
        assert_eq!((far.general(), far.figures()), (far.to_string().into(), None));
    }

    #[test]
    fn what_is_general_is_kept_once() {
        let mut reasons = Reasons::default();
        let [mut one, mut two] = [1.5, 2.5].map(|times| Reason::times(times, ", far"));
        let before = two.to_string();
        reasons.share(&mut one);
        reasons.share(&mut two);
        assert!(Arc::ptr_eq(&one.general, &two.general));
        assert_eq!(two.to_string(), before);
    }
}
