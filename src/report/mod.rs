//! What was found → text, Markdown, a page, CSV, JSON. Pure: the same subject gives the same bytes.
//!
//! Every subject becomes a document once ([`Reported::document`]), and every format draws any document
//! ([`FORMATS`]). Where programs need more than a document says, a subject has a form of its own
//! ([`Reported::own`]).

#[cfg(feature = "gate")]
mod against;
#[cfg(feature = "gate")]
mod baselines;
#[cfg(test)]
mod bench;
#[cfg(feature = "gate")]
mod calibration;
mod devices;
mod document;
mod explained;
#[cfg(feature = "plot")]
mod figure;
mod files;
#[cfg(feature = "gate")]
mod fleet;
mod format_list;
mod formats;
#[cfg(feature = "gate")]
mod gate;
mod inspection;
mod next_ncu;
mod numbers;
#[cfg(feature = "plot")]
mod pictures;
mod predicted;
mod roofs;
mod rule_list;
mod run;
#[cfg(feature = "plot")]
mod scene;
mod schema_list;
mod settings;
pub mod tables;
mod tool_advice;
#[cfg(feature = "gate")]
mod trend;
mod view;

use std::io::{self, Write};

use crate::analysis::{Analysis, Kernel, WhatIf};
use crate::rules::{Finding, Findings};

#[cfg(feature = "gate")]
pub use against::Against;
#[cfg(feature = "gate")]
pub use baselines::{BaselineList, BaselinePages, baseline_list_schema, doubts, unread};
#[cfg(feature = "gate")]
pub use calibration::{Calibrated, calibration_schema};
pub use devices::{DeviceList, DevicePage, device_list_schema};
pub use document::{
    Block, Cell, Column, Document, Fact, Figure, Form, Item, Row, Section, Table, Tone,
};
pub use explained::Explained;
#[cfg(feature = "plot")]
pub use figure::{Canvas, Encoding, PictureError};
#[cfg(feature = "gate")]
pub use fleet::{FleetReport, fleet_schema};
pub use format_list::{FormatLine, FormatList, format_list_schema};
pub use formats::{FORMATS, Format, Render};
#[cfg(feature = "gate")]
pub use gate::{GATE_OUTPUTS, GateOutput, GateReport, gate_output, gate_schema, metrics};
pub use inspection::{Inspection, inspection_schema};
pub use next_ncu::other_than_ncu;
pub use numbers::{count, printable, printable_lines};
#[cfg(feature = "plot")]
pub use pictures::{Subject, picture};
pub use predicted::{
    FormList, FormPages, Predicted, form_list_schema, prediction_schema, step_prediction_schema,
};
pub use rule_list::{RuleList, RulePage, rule_list_schema};
pub use schema_list::{SchemaLine, SchemaList, schema_list_schema};
pub use settings::{Setting, SettingList, SettingOrigin, settings_schema};
#[cfg(feature = "gate")]
pub use trend::TrendReport;
#[cfg(feature = "plot")]
pub use trend::trend_picture;
pub use view::Style;

/// A judged run, as it is reported.
#[derive(Debug, Clone, Copy)]
pub struct Report<'a> {
    /// The judged profile.
    pub analysis: &'a Analysis,
    /// What the rules found.
    pub findings: &'a Findings,
    /// How many kernels are shown in tables; the machine formats carry all.
    pub top: usize,
    /// What becomes of the kernels under changes that were asked about; may be empty.
    pub what_if: &'a [WhatIf],
    /// The command that asked for the report, as it would be typed again.
    pub command: Option<&'a str>,
}

impl<'a> Report<'a> {
    /// What the rules found about one of the kernels of the analysis.
    #[must_use]
    pub fn findings_of(&self, kernel: &Kernel) -> &'a [Finding] {
        let all = &self.analysis.kernels;
        let is_it = |one: &Kernel| std::ptr::eq(one, kernel);
        // Of a whole analysis the rank is the place.
        let ranked = kernel.rank.checked_sub(1).filter(|at| all.get(*at).is_some_and(is_it));
        let position = ranked.or_else(|| all.iter().position(is_it));
        position.map_or(&[], |position| self.findings.of(position))
    }
}

/// What is reported on: a run, a kernel, a gate's decision, a trend …
pub trait Reported {
    /// What is to say of it, before it has a format.
    fn document(&self, style: &Style) -> Document;

    /// What is left of it where only the verdict is asked for: the labels and sentences that the document begins with; all
    /// of it where it begins otherwise.
    fn verdict(&self, style: &Style) -> Document {
        let mut document = self.document(style);
        if matches!(document.blocks.first(), Some(Block::Facts(_))) {
            document.blocks.truncate(1);
            document.is_titled = false;
        }
        document
    }

    /// Its own form of a format, for programs that read this subject; `None` where the document's does.
    fn own(&self, format: &str, style: &Style) -> Option<String> {
        let _ = (format, style);
        None
    }

    /// Writes its own form of a format that is too long to be held at once; `None` where it is not.
    fn stream(&self, format: &str, to: &mut dyn Write) -> Option<io::Result<()>> {
        let _ = (format, to);
        None
    }
}

/// Writes what [`written()`] returns, part by part where it may be long; nothing if there is no such
/// format.
///
/// # Errors
/// Those of the writer.
pub fn write(
    subject: &dyn Reported,
    format: &str,
    style: &Style,
    to: &mut dyn Write,
) -> io::Result<()> {
    subject.stream(format, to).unwrap_or_else(|| {
        to.write_all(written(subject, format, style).unwrap_or_default().as_bytes())
    })
}

/// A subject in a format, by the format's name; `None` if there is no such format.
#[must_use]
pub fn written(subject: &dyn Reported, format: &str, style: &Style) -> Option<String> {
    subject.own(format, style).or_else(|| {
        let format = FORMATS.iter().find(|one| one.name == format)?;
        Some((format.render)(&subject.document(style), style))
    })
}

/// Only the verdict of a subject, as text.
#[must_use]
pub fn verdict(subject: &dyn Reported, style: &Style) -> String {
    let document = subject.verdict(style);
    let text = FORMATS.iter().find(|format| format.name == "text");
    text.map_or_else(String::new, |text| (text.render)(&document, style))
}

/// A document of its own, as JSON.
fn pretty(document: &impl serde::Serialize) -> String {
    // What is reported has string keys and finite numbers, so it always serializes.
    serde_json::to_string_pretty(document).unwrap_or_default() + "\n"
}

/// The name, the endings and the purpose of a format.
#[derive(Debug, Clone, Copy)]
pub struct Named {
    /// Name on the command line.
    pub name: &'static str,
    /// File name endings that select it, the usual one first; none where the name must be given.
    pub endings: &'static [&'static str],
    /// What it is for, in one line.
    pub summary: &'static str,
}

/// For subjects without a format that no document has.
pub const NO_OWN: &[Format] = &[];

/// Several subjects, one after the other.
#[allow(missing_debug_implementations, reason = "what is reported on need not be printable")]
pub struct Joined<'a> {
    /// The title of a page that holds all of them.
    pub title: String,
    /// The subjects.
    pub parts: Vec<Box<dyn Reported + 'a>>,
}

impl Reported for Joined<'_> {
    fn document(&self, style: &Style) -> Document {
        let mut parts: Vec<Document> = self.parts.iter().map(|one| one.document(style)).collect();
        if parts.len() == 1
            && let Some(only) = parts.pop()
        {
            return only;
        }
        let mut document = Document::titled(self.title.clone());
        for part in parts {
            document.section(part.title, part.blocks);
        }
        document
    }

    fn own(&self, format: &str, style: &Style) -> Option<String> {
        if let [only] = self.parts.as_slice() {
            return only.own(format, style);
        }
        // Read from top to bottom, each is as it would be alone.
        let is_read = matches!(format, "text" | "markdown");
        is_read.then(|| {
            let parts = self.parts.iter().filter_map(|part| written(&**part, format, style));
            parts.collect::<Vec<_>>().join("\n")
        })
    }
}

/// Every format of a subject with these forms of its own: first those of all documents.
pub fn formats_with<R>(own: &'static [Format<R>]) -> impl Iterator<Item = Named> {
    fn named<R>(format: &'static Format<R>) -> Named {
        Named { name: format.name, endings: format.endings, summary: format.summary }
    }
    let instead = |name: &str| own.iter().find(|one| one.name == name).map(named);
    let all = FORMATS.iter().map(move |one| instead(one.name).unwrap_or_else(|| named(one)));
    let is_new = |one: &&Format<R>| FORMATS.iter().all(|known| known.name != one.name);
    all.chain(own.iter().filter(is_new).map(named))
}

/// A form of its own of the report of a run.
pub type Output = Format<fn(&Report<'_>, &Style) -> String>;

macro_rules! outputs {
    ($($(#[$condition:meta])* $module:ident),* $(,)?) => {
        $($(#[$condition])* mod $module;)*
        /// The formats of its own.
        pub const OUTPUTS: &[Output] = &[$($(#[$condition])* $module::OUTPUT),*];
    };
}

outputs! {
    json,
    csv,
    #[cfg(feature = "page")]
    html,
}

#[cfg(feature = "page")]
pub use html::{LearnError, learn, left_out_of_learn};
pub use json::schema;
