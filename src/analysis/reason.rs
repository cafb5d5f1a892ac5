//! Reasons for the states of kernels.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::shared::Shared;
use crate::units::{Factor, factor};

/// Reason for a kernel's state: a general part shared with other kernels, and the figures of this
/// kernel.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reason {
    general: Arc<str>,
    own: Own,
}

/// What is said of one kernel alone.
#[derive(Debug, Clone, PartialEq)]
enum Own {
    /// How many times the roofline time it takes, which stands in the general part.
    Times(Factor),
    /// Figures at its end, with their leading separator; may be empty.
    Figures(Box<str>),
}

/// Where the ratio of a kernel stands in a general part.
const RATIO: &str = "{}×";

impl Default for Own {
    fn default() -> Self {
        Self::Figures(Box::default())
    }
}

impl Reason {
    /// Makes a reason from its general part and its figures with their leading separator; figures
    /// may be empty.
    pub(super) fn new(general: &str, figures: &str) -> Self {
        Self { general: general.into(), own: Own::Figures(figures.into()) }
    }

    /// Makes a reason that begins with how many times the roofline time a kernel takes.
    pub(super) fn times(headroom: f64, rest: &str) -> Self {
        Self::with_ratio(headroom, format!("{RATIO} the roofline time{rest}"))
    }

    /// Makes a reason that begins with how many times the roofline time a kernel takes at most: what is not
    /// counted, or bounds of what is, may explain some of it.
    pub(super) fn up_to(headroom: f64, rest: &str) -> Self {
        Self::with_ratio(headroom, format!("up to {RATIO} the roofline time{rest}"))
    }

    /// Makes a reason that begins with how many times the roofline time a kernel takes at least: some of what it did may
    /// not be needed.
    pub(super) fn at_least(headroom: f64, rest: &str) -> Self {
        Self::with_ratio(headroom, format!("at least {RATIO} the roofline time{rest}"))
    }

    fn with_ratio(headroom: f64, general: String) -> Self {
        Self { general: general.into(), own: Own::Times(Factor::new(headroom)) }
    }

    /// Adds what else is to be said, with its leading separator.
    pub(super) fn push(&mut self, rest: &str) {
        match &mut self.own {
            Own::Times(_) => self.general = format!("{}{rest}", self.general).into(),
            Own::Figures(figures) => *figures = format!("{figures}{rest}").into(),
        }
    }

    /// Lets it share its general part with the kernels before.
    pub(super) fn share(&mut self, generals: &mut Shared<str>) {
        self.general = generals.of(&self.general);
    }

    /// Returns the general part, which is the same for all kernels with this reason.
    #[must_use]
    pub fn general(&self) -> Cow<'_, str> {
        match &self.own {
            Own::Times(times) => {
                let text = self.general.replacen(RATIO, &factor(times.get()), 1);
                // What is less than the least that is shown is so at most.
                text.replacen("up to <", "<", 1).into()
            }
            Own::Figures(_) => Cow::Borrowed(&self.general),
        }
    }

    /// Returns the figures of this kernel without their leading separator; `None` if there are
    /// none.
    #[must_use]
    pub fn figures(&self) -> Option<&str> {
        let figures = self.ending().trim_start_matches([':', ';', ' ']);
        (!figures.is_empty()).then_some(figures)
    }

    fn ending(&self) -> &str {
        match &self.own {
            Own::Times(_) => "",
            Own::Figures(figures) => figures,
        }
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
        write!(f, "{}{}", self.general(), self.ending())
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
        let next_to_nothing = Reason::up_to(1e-6, ", but savings are below 5 µs");
        assert!(next_to_nothing.to_string().starts_with("<0.001× the roofline time"));
        let most = Reason::up_to(14.39, "; {} stays as it is");
        assert_eq!(most.to_string(), "up to 14.4× the roofline time; {} stays as it is");
    }

    #[test]
    fn what_is_general_is_kept_once() {
        let mut generals = Shared::default();
        let [mut one, mut two] = [1.5, 2.5].map(|times| Reason::times(times, ", far"));
        let before = two.to_string();
        one.share(&mut generals);
        two.share(&mut generals);
        assert!(Arc::ptr_eq(&one.general, &two.general));
        assert_eq!(two.to_string(), before);
    }
}
