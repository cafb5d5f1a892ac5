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

use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::view::{self, Style, Table};
use super::{Canvas, Encoding, Output, Report, Subject, advice, groups, what_if};
use crate::analysis::{Kernel, State};
use crate::catalog::Catalog;
use crate::units::Seconds;

pub use learn::{LearnError, learn};

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

const STYLE: &str = concat!(include_str!("page.css"), include_str!("bench.css"));

/// Rows of both tables together without a script.
const STILL_ROWS: usize = 50;

/// A picture of very many kernels would be most of the page, and is not much to look at.
const LARGEST_PICTURE: usize = 200_000;

/// Kernels of one list without a script.
struct Still {
    title: String,
    table: Table,
}

/// Kernels set apart for one state.
struct Group {
    key: &'static str,
    label: &'static str,
    extent: String,
    reasons: Vec<String>,
}

/// Kernels by group, and what the figures leave out.
struct Grouped {
    title: &'static str,
    table: Table,
    notes: Vec<String>,
}

/// One change of `--what-if`.
struct Changed {
    title: String,
    kernels: Table,
    notes: Vec<String>,
    kept: Vec<String>,
}

#[derive(Template)]
#[template(path = "page.html")]
struct Page {
    title: String,
    version: &'static str,
    style: String,
    style_hash: String,
    script: String,
    script_hash: String,
    data: String,
    bench: String,
    verdict: Vec<(&'static str, String)>,
    steps: Vec<String>,
    /// The roofline as SVG, for where no script runs.
    picture: Option<String>,
    stills: Vec<Still>,
    groups: Option<Grouped>,
    run: Vec<String>,
    own: Vec<String>,
    apart: Vec<Group>,
    changes: Option<(Table, String)>,
    changed: Vec<Changed>,
    ranks: Vec<String>,
    ceilings: (&'static str, Vec<String>),
    settings: Vec<(&'static str, String)>,
    blind: Option<String>,
    read: Vec<String>,
}

fn render(report: &Report<'_>, style: &Style) -> String {
    let analysis = report.analysis;
    let (script, style_sheet) = (lean(SCRIPT), lean(STYLE));
    let page = Page {
        title: title(report),
        version: env!("CARGO_PKG_VERSION"),
        style_hash: hash(&style_sheet),
        style: style_sheet,
        script_hash: hash(&script),
        script,
        data: data::json(report, style),
        // The built-in catalogue is sound: its tests see to that.
        bench: bench::json(&Catalog::builtin(), None, analysis.fixed_cost).unwrap_or_default(),
        verdict: super::verdict::verdict(report),
        steps: advice::next_steps(report, style),
        picture: picture(report),
        stills: stills(report, style),
        groups: grouped(report, style),
        run: advice::run(report),
        own: advice::own(report, style),
        apart: apart(report),
        changes: (!report.what_if.is_empty())
            .then(|| (what_if::summary(report), what_if::meaning(report))),
        changed: changed(report, style),
        ranks: view::ranks(report),
        ceilings: (analysis.ceilings.label(), view::ceilings(report)),
        settings: settings(report),
        blind: advice::blind(report),
        read: view::provenance(report),
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
    let canvas = Canvas { width: 960, height: 600, dark: false };
    let bytes = super::picture(report, None, Subject::Roofline, &canvas, Encoding::Svg).ok()?;
    // Said of every element, and so without saying; texts hold no quotation mark that is not escaped.
    let text = String::from_utf8(bytes).ok()?.replace(" opacity=\"1\"", "");
    (text.len() < LARGEST_PICTURE).then_some(text)
}

/// The tables for where no script runs: opportunities first, then as many others as there is room for.
fn stills(report: &Report<'_>, style: &Style) -> Vec<Still> {
    let analysis = report.analysis;
    let total = analysis.totals.measured;
    let still = |title: &str, (kernels, rows): (&[&Kernel], usize), draw: Draw| {
        let (all, shown) = (kernels.len(), &kernels[..kernels.len().min(rows)]);
        let of = if all > rows { format!(", the first {rows} of {all}") } else { String::new() };
        (all > 0).then(|| Still { title: format!("{title}{of}"), table: draw(shown, total, style) })
    };
    let rows = report.top.max(STILL_ROWS);
    let (ranked, others): (Vec<&Kernel>, Vec<&Kernel>) =
        analysis.kernels.iter().partition(|kernel| kernel.state == State::Opportunity);
    let left = rows.saturating_sub(ranked.len()).max(report.top);
    let title = "Opportunities, by what a better implementation can win";
    let ranked = still(title, (&ranked, rows), view::opportunities);
    let others = still("Other kernels, by time", (&others, left), view::others);
    ranked.into_iter().chain(others).collect()
}

/// Draws kernels as a table.
type Draw = fn(&[&Kernel], Seconds, &Style) -> Table;

fn grouped(report: &Report<'_>, style: &Style) -> Option<Grouped> {
    let (table, notes) = groups::table(report, style)?;
    let told = table.rows.iter().zip(&notes).filter(|(_, notes)| !notes.is_empty());
    let notes = told.map(|(row, notes)| format!("{}: {}", row[0], notes.join("; "))).collect();
    Some(Grouped { title: groups::title(report), table, notes })
}

fn apart(report: &Report<'_>) -> Vec<Group> {
    let total = report.analysis.totals.measured;
    let groups = view::apart(report).into_iter().map(|group| {
        let kernels = view::count(group.kernels as u64, "kernel", "kernels");
        let time = view::si(group.time.get(), "s");
        let extent = if total.get() > 0.0 {
            format!("{kernels}, {time} ({})", view::percent(group.time / total))
        } else {
            kernels
        };
        let (key, label) = (group.state.key(), group.state.label());
        Group { key, label, extent, reasons: group.reasons }
    });
    groups.collect()
}

fn changed(report: &Report<'_>, style: &Style) -> Vec<Changed> {
    let changes = report.what_if.iter().map(|one| {
        let (kernels, all) = what_if::kernels(report, one, style);
        let shown = kernels.rows.len();
        let of = if all > shown { format!(", the first {shown} of {all}") } else { String::new() };
        Changed {
            title: format!("What if: {}{of}", view::printable(&one.change)),
            kernels,
            notes: one.notes.iter().map(|note| view::printable(note)).collect(),
            kept: what_if::kept(report, one, style),
        }
    });
    changes.collect()
}

/// What the user decided, or left to the program.
fn settings(report: &Report<'_>) -> Vec<(&'static str, String)> {
    let analysis = report.analysis;
    let command = report.command.map(|command| ("command", view::printable(command)));
    let settings = [
        ("ceilings", format!("{}: {}", analysis.ceilings.label(), analysis.ceilings_reason)),
        (
            "an opportunity",
            format!(
                "takes at least {} its expected time, with {} or more to win",
                view::factor(analysis.threshold),
                view::si(analysis.smallest_win().get(), "s")
            ),
        ),
        (
            "a launch",
            format!("costs at least {}, as measured", view::si(analysis.fixed_cost.get(), "s")),
        ),
    ];
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
