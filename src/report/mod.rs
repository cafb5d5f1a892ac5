//! Analysis and findings → text, Markdown, JSON, CSV, a page. Pure: the same report gives the same bytes.
//!
//! To add an output: one file with an `OUTPUT` constant, one line in the list below.

mod advice;
#[cfg(feature = "gate")]
mod baselines;
mod explained;
#[cfg(feature = "plot")]
mod figure;
#[cfg(feature = "gate")]
mod gate;
mod groups;
mod numbers;
#[cfg(feature = "plot")]
mod pictures;
mod predicted;
mod roofs;
#[cfg(feature = "plot")]
mod scene;
mod tool_advice;
#[cfg(feature = "gate")]
mod trend;
mod verdict;
mod view;
mod what_if;

use crate::analysis::{Analysis, WhatIf};
use crate::rules::Findings;

#[cfg(feature = "gate")]
pub use baselines::{baseline_page, baselines_json, baselines_text, doubts, unread};
pub use explained::explained;
#[cfg(feature = "plot")]
pub use figure::{Canvas, Encoding, PictureError};
#[cfg(feature = "gate")]
pub use gate::{GATE_OUTPUTS, GateOutput, GateReport, gate_output, gate_schema};
pub use numbers::{count, printable, printable_lines};
#[cfg(feature = "plot")]
pub use pictures::{Subject, picture};
pub use predicted::{
    Predicted, kernel_list, kernel_page, page, prediction_schema, step_prediction_schema,
};
#[cfg(feature = "plot")]
pub use trend::trend_picture;
pub use view::Style;

/// What is reported.
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

/// One format a report can be written in.
#[derive(Debug)]
pub struct Output {
    /// Name on the command line.
    pub name: &'static str,
    /// File name endings that select it, the usual one first.
    pub endings: &'static [&'static str],
    /// What it is for, in one line.
    pub summary: &'static str,
    /// Renders a report.
    pub render: fn(&Report<'_>, &Style) -> String,
}

macro_rules! outputs {
    ($($(#[$condition:meta])* $module:ident),* $(,)?) => {
        $($(#[$condition])* mod $module;)*
        /// Every output, in the order of the help text.
        pub const OUTPUTS: &[Output] = &[$($(#[$condition])* $module::OUTPUT),*];
    };
}

outputs! {
    text,
    markdown,
    json,
    csv,
    #[cfg(feature = "page")]
    html,
}

#[cfg(feature = "page")]
pub use html::{LearnError, learn};
pub use json::schema;

/// The output with this name.
#[must_use]
pub fn output(name: &str) -> Option<&'static Output> {
    OUTPUTS.iter().find(|output| output.name == name)
}
