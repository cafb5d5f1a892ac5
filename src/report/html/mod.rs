//! The report as one interactive page: a file that asks nothing of the network and runs nothing but its own script.
//!
//! A page is mailed, kept beside a build and opened years later. So its script is plain modern
//! JavaScript without library or tool chain, which also keeps it small enough to be read whole; it
//! stands in the page with its style, and the content security policy names both by their hashes:
//! nothing else can run, whatever a kernel is called. Without a script the page shows the verdict,
//! the picture and the tables; the script replaces picture and tables by what can be asked.

mod bench;
mod data;
mod learn;
mod summary;

use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::document::{Block, Figure, Section};
use super::formats::html;
use super::run::{Brief, KERNELS};
use super::view::{self, Style};
use super::{Canvas, Encoding, GateReport, Output, Report, Reported, Subject, gate, run};
use crate::catalog::Catalog;

pub use learn::{LearnError, learn, left_out_of_learn};

pub(super) const OUTPUT: Output = Output {
    name: "html",
    endings: &["html"],
    summary: "one interactive page, for a browser",
    render,
};

/// The script, in the order in which its parts build on each other. The first two know nothing of a
/// report: numbers, elements and logarithmic axes serve any page.
const SCRIPT: &str = concat!(
    "\"use strict\";\n(() => {\n",
    include_str!("text.js"),
    include_str!("plot.js"),
    include_str!("state.js"),
    include_str!("chart.js"),
    include_str!("off.js"),
    include_str!("touch.js"),
    include_str!("table.js"),
    include_str!("detail.js"),
    include_str!("start.js"),
    include_str!("bench-law.js"),
    include_str!("bench-stage.js"),
    include_str!("bench-chart.js"),
    include_str!("bench.js"),
    include_str!("bench-report.js"),
    "})();\n"
);

/// Before anything is drawn: what needs a script takes its place. Where the script cannot run, what stands
/// in for it comes back.
const START: &str = include_str!("first.js");

const STYLE: &str = concat!(
    include_str!("tokens.css"),
    include_str!("chart.css"),
    include_str!("page.css"),
    include_str!("bench.css"),
);

/// The level of the headings of sections.
const LEVEL: usize = 2;

/// Rows of both tables together without a script.
const STILL_ROWS: usize = 50;

/// A picture of very many kernels would be most of the page, and is not much to look at.
const LARGEST_PICTURE: usize = 200_000;

#[derive(Template)]
#[template(path = "page.html")]
struct Page {
    title: String,
    version: &'static str,
    by: String,
    start: String,
    start_hash: String,
    style: String,
    style_hash: String,
    script: String,
    script_hash: String,
    data: String,
    bench: String,
    figures: Vec<summary::Figure>,
    over_time: Option<String>,
    parts: Vec<summary::Part>,
    notices: Vec<summary::Notice>,
    cards: Vec<summary::Card>,
    /// Whether a card leads to a kernel; a list that scrolls is else reached by no key.
    has_links: bool,
    /// The roofline as SVG, for where no script runs.
    picture: Option<String>,
    /// Tables for where no script runs.
    stills: String,
    /// What changed since the baseline; empty without one.
    compared: String,
    /// All other sections.
    rest: String,
}

fn render(report: &Report<'_>, style: &Style) -> String {
    written(report, None, style)
}

/// The page of a run with what changed since its baseline.
pub(super) fn compared(report: &Report<'_>, changes: &GateReport<'_>, style: &Style) -> String {
    written(report, Some(changes), style)
}

/// What changed since the baseline, as `diff` has it.
fn comparison(changes: &GateReport<'_>, style: &Style) -> String {
    let all = html::panels(&changes.document(style).blocks);
    format!(
        "<h2 class=\"title\">Compared with the baseline</h2>\n{}<details class=\"panel\">\
         <summary>All of the comparison</summary>\n{all}</details>\n",
        gate::summary(changes, style)
    )
}

fn written(report: &Report<'_>, changes: Option<&GateReport<'_>>, style: &Style) -> String {
    let analysis = report.analysis;
    let (start, script, style_sheet) = (lean(START), lean(SCRIPT), lean(STYLE));
    let cards = summary::cards(report, style);
    let page = Page {
        title: title(report),
        version: env!("CARGO_PKG_VERSION"),
        by: summary::by(report),
        start_hash: hash(&start),
        start,
        style_hash: hash(&style_sheet),
        style: style_sheet,
        script_hash: hash(&script),
        script,
        data: data::json(report, style),
        // The built-in catalog is sound: its tests see to that.
        bench: bench::json(&Catalog::builtin(), None, analysis.fixed_cost).unwrap_or_default(),
        figures: summary::figures(report, changes),
        over_time: summary::over_time(report),
        parts: summary::parts(report),
        notices: summary::notices(report),
        has_links: cards.iter().any(|card| card.rank.is_some()),
        cards,
        picture: picture(report),
        stills: stills(report, style),
        compared: changes.map_or_else(String::new, |changes| comparison(changes, style)),
        rest: rest(report, style),
    };
    // Writing to a string does not fail, and the template calls nothing that could.
    page.render().unwrap_or_default()
}

/// The text without indentation and lines that are comments: they are for who works on it.
fn lean(text: &str) -> String {
    let lines = text.lines().map(str::trim_start);
    let is_comment =
        |line: &str| line.starts_with("//") || line.starts_with("/*") && line.ends_with("*/");
    let code = lines.filter(|line| !line.is_empty() && !is_comment(line));
    code.fold(String::with_capacity(text.len()), |mut lean, line| {
        lean.push_str(line);
        lean.push('\n');
        lean
    })
}

/// The hash of an inline script or style as a content security policy names it.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

/// What was read, shortly: tabs and bookmarks show it.
fn title(report: &Report<'_>) -> String {
    let sources = &report.analysis.sources;
    let first = sources.first().map_or("", |source| source.path.as_str());
    let name = first.rsplit(['/', '\\']).next().unwrap_or_default();
    match sources.len() {
        0 | 1 => view::printable(name),
        files => format!("{} and {} more", view::printable(name), files - 1),
    }
}

/// The roofline for where no script runs, as SVG whose texts are escaped.
fn picture(report: &Report<'_>) -> Option<String> {
    let canvas = Canvas::default();
    let bytes = super::picture(report, None, Subject::Roofline, &canvas, Encoding::Svg).ok()?;
    // Said of every element, and so without saying; texts hold no quotation mark that is not escaped.
    let text = String::from_utf8(bytes).ok()?.replace(" opacity=\"1\"", "");
    (text.len() < LARGEST_PICTURE).then_some(text)
}

/// The tables for where no script runs: opportunities first, then as many others as there is room for.
fn stills(report: &Report<'_>, style: &Style) -> String {
    let rows = report.top.max(STILL_ROWS);
    let ranked = report.analysis.opportunities().count();
    let left = rows.saturating_sub(ranked).max(report.top);
    shown(run::kernels(report, &Brief::of(report, KERNELS), [rows, left], style))
}

/// What the explorer does not show, and what the user decided or left to the program.
fn rest(report: &Report<'_>, style: &Style) -> String {
    let mut sections: Vec<Section> =
        run::findings(report, &Brief::of(report, KERNELS), style).into();
    sections.extend(run::rest(report, style));
    let settings = Section::new("Settings", vec![Block::Figures(settings(report))]);
    // Beside the roofs, which they choose.
    sections.insert(sections.len().saturating_sub(1), settings);
    shown(sections)
}

/// Sections that say something, in the open.
fn shown(sections: impl IntoIterator<Item = Section>) -> String {
    let said = sections.into_iter().filter(|section| !section.is_empty());
    let open = said.map(|section| Block::Section(Section { is_folded: false, ..section }));
    html::blocks(&open.collect::<Vec<_>>(), LEVEL)
}

/// What the user decided, or left to the program.
fn settings(report: &Report<'_>) -> Vec<Figure> {
    let analysis = report.analysis;
    let ceilings = format!("{}: {}", analysis.ceilings.label(), analysis.ceilings_reason);
    let (threshold, win) =
        (view::factor(analysis.threshold), view::si(analysis.smallest_win().get(), "s"));
    let flagged = format!("at least {threshold} the roofline time, with savings of {win} or more");
    let launch =
        format!("costs at least {}, as measured", view::si(analysis.fixed_cost.get(), "s"));
    let command =
        report.command.map(|command| Figure::new("command", view::printable(command), ""));
    let settings = [("ceilings", ceilings), ("flagged", flagged), ("a launch", launch)];
    let settings = settings.into_iter().map(|(label, value)| Figure::new(label, value, ""));
    command.into_iter().chain(settings).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_that_browsers_compute() {
        // printf 'alert(1)' | openssl dgst -sha256 -binary | base64
        assert_eq!(hash("alert(1)"), "sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI=");
    }

    #[test]
    fn script_and_style_are_small_and_cannot_end_their_elements() {
        let (script, style) = (lean(SCRIPT), lean(STYLE));
        assert!(script.len() + style.len() < 150_000);
        assert!(!script.contains("</") && !script.contains("<!--"));
        assert!(!style.contains("</"));
        // Whatever is shown goes through text nodes.
        for way in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("] {
            assert!(!script.contains(way), "{way}");
        }
        // Lines can be taken for themselves only where no literal runs over several.
        for line in SCRIPT.lines() {
            assert!(line.matches('`').count() % 2 == 0, "{line}");
        }
    }
}
