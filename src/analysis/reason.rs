//! Why a kernel is in its state.

use std::fmt;

/// Why a kernel is in its state: what is the same for all kernels of which it holds, then the figures of this
/// one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reason {
    text: String,
    /// Where the figures begin.
    figures: usize,
}

impl Reason {
    /// A reason and the figures that follow it, with the mark between; there may be none.
    pub(super) fn new(general: &str, figures: &str) -> Self {
        Self { text: format!("{general}{figures}"), figures: general.len() }
    }

    /// The whole sentence.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// What is the same for all kernels of which it holds.
    #[must_use]
    pub fn general(&self) -> &str {
        &self.text[..self.figures]
    }

    /// The figures of this kernel, without the mark before them; none where there are none.
    #[must_use]
    pub fn figures(&self) -> Option<&str> {
        let figures = self.text[self.figures..].trim_start_matches([':', ';', ' ']);
        (!figures.is_empty()).then_some(figures)
    }
}

impl From<String> for Reason {
    fn from(text: String) -> Self {
        Self { figures: text.len(), text }
    }
}

impl From<&str> for Reason {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::Reason;

    #[test]
    fn figures_are_told_from_what_is_general() {
        let reason = Reason::new("FLOPs were not counted", ": bytes alone explain 40%");
        assert_eq!(reason.to_string(), "FLOPs were not counted: bytes alone explain 40%");
        assert_eq!(reason.general(), "FLOPs were not counted");
        assert_eq!(reason.figures(), Some("bytes alone explain 40%"));
        let plain = Reason::from("no duration in the export");
        assert_eq!((plain.general(), plain.figures()), ("no duration in the export", None));
    }
}
