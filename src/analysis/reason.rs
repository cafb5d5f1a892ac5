//! Reasons for the states of kernels.

use std::fmt;

/// Reason for a kernel's state: a general part shared with other kernels, and the figures of this
/// kernel.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reason {
    text: Box<str>,
    /// Byte offset at which the figures begin.
    figures: u32,
}

impl Reason {
    /// Makes a reason from its general part and its figures with their leading separator; figures
    /// may be empty.
    pub(super) fn new(general: &str, figures: &str) -> Self {
        Self { text: format!("{general}{figures}").into(), figures: general.len() as u32 }
    }

    /// Returns the whole sentence.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the general part, which is the same for all kernels with this reason.
    #[must_use]
    pub fn general(&self) -> &str {
        &self.text[..self.figures as usize]
    }

    /// Returns the figures of this kernel without their leading separator; `None` if there are
    /// none.
    #[must_use]
    pub fn figures(&self) -> Option<&str> {
        let figures = self.text[self.figures as usize..].trim_start_matches([':', ';', ' ']);
        (!figures.is_empty()).then_some(figures)
    }
}

impl From<String> for Reason {
    fn from(text: String) -> Self {
        Self { figures: text.len() as u32, text: text.into() }
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
