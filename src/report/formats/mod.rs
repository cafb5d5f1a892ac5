//! Any document → text, Markdown, a page, CSV, JSON. Pure: the same document gives the same bytes.
//!
//! To add a format: one file with a `FORMAT` constant, one line in the list below.

mod bar;
mod sheet;

use super::document::Document;
use super::view::Style;

/// Draws a document.
pub type Render = fn(&Document, &Style) -> String;

/// A format: one that draws any document, or that of a subject of its own.
#[derive(Debug)]
pub struct Format<R = Render> {
    /// Name on the command line.
    pub name: &'static str,
    /// File name endings that select it, the usual one first; none where the name must be given.
    pub endings: &'static [&'static str],
    /// What it is for, in one line.
    pub summary: &'static str,
    /// Renders the document, or the subject.
    pub render: R,
}

macro_rules! formats {
    ($($module:ident),* $(,)?) => {
        $(pub(super) mod $module;)*
        /// Every format, in the order of the help text; the first is that of the terminal.
        pub const FORMATS: &[Format] = &[$($module::FORMAT),*];
    };
}

formats! {
    text,
    markdown,
    html,
    csv,
    json,
}
