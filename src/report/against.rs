//! A run beside its baseline: the report with what `diff` says of both.

use std::io::{self, Write};

use super::document::{Block, Document, Section};
use super::view::Style;
use super::{FORMATS, GateReport, Report, Reported};

/// A judged run and its comparison with an earlier one.
#[derive(Debug, Clone, Copy)]
pub struct Against<'a> {
    /// The run.
    pub report: Report<'a>,
    /// What changed since the baseline.
    pub changes: GateReport<'a>,
}

impl Against<'_> {
    /// The document of the run, with the comparison behind it.
    fn behind(&self, mut document: Document, style: &Style) -> Document {
        let changes = self.changes.document(style);
        document.push(Block::Section(Section::new("Compared with the baseline", changes.blocks)));
        document
    }
}

impl Reported for Against<'_> {
    fn document(&self, style: &Style) -> Document {
        self.behind(self.report.document(style), style)
    }

    fn own(&self, format: &str, style: &Style) -> Option<String> {
        #[cfg(feature = "page")]
        if format == "html" {
            return Some(super::html::compared(&self.report, &self.changes, style));
        }
        if format == "markdown" && !self.report.analysis.is_narrowed {
            let format = FORMATS.iter().find(|one| one.name == format)?;
            let document = self.behind(super::run::folded(&self.report, style), style);
            return Some((format.render)(&document, style));
        }
        // Documents hold the comparison; machine formats of a run do not.
        self.report.own(format, style)
    }

    fn stream(&self, format: &str, to: &mut dyn Write) -> Option<io::Result<()>> {
        self.report.stream(format, to)
    }
}
