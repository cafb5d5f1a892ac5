//! A run beside its baseline: the report with what `diff` says of both.

use std::io::{self, Write};

use super::document::{Block, Document, Section};
use super::view::Style;
use super::{GateReport, Report, Reported};

/// A judged run and its comparison with an earlier one.
#[derive(Debug, Clone, Copy)]
pub struct Against<'a> {
    /// The run.
    pub report: Report<'a>,
    /// What changed since the baseline.
    pub changes: GateReport<'a>,
}

impl Reported for Against<'_> {
    fn document(&self, style: &Style) -> Document {
        let mut document = self.report.document(style);
        let changes = self.changes.document(style);
        document.push(Block::Section(Section::new("Compared with the baseline", changes.blocks)));
        document
    }

    fn own(&self, format: &str, style: &Style) -> Option<String> {
        #[cfg(feature = "page")]
        if format == "html" {
            return Some(super::html::compared(&self.report, &self.changes, style));
        }
        // Documents hold the comparison; machine formats of a run do not.
        self.report.own(format, style)
    }

    fn stream(&self, format: &str, to: &mut dyn Write) -> Option<io::Result<()>> {
        self.report.stream(format, to)
    }
}
