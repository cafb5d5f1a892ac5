//! A trend as a page: figures first, then its chart, the changes, and a row per commit.

use super::{TrendReport, shown};
use crate::history::counted_commits;
use crate::report::Reported;
use crate::report::formats::html;
use crate::report::numbers::change;
use crate::report::view::{MISSING, Style};

pub(super) fn page(report: &TrendReport<'_>, style: &Style) -> String {
    let document = report.document(style);
    let body = format!("{}{}{}", figures(report), charts(report), html::panels(&document.blocks));
    style.adapted(html::page(&document.title, "", &body))
}

fn figures(report: &TrendReport<'_>) -> String {
    let trend = report.trend;
    let runs: usize = trend.points.iter().map(|point| point.entries.len()).sum();
    let commits = counted_commits(trend.points.iter().map(|point| point.commit.is_some()));
    let mut text = html::figure("Runs", &runs.to_string(), &commits, "");
    if let Some(line) = trend.whole.as_ref().or_else(|| trend.kernels.first()) {
        let mut values = line.values.iter().flatten().map(|one| one.median);
        let first = values.next();
        let last = values.next_back().or(first);
        let known = |value: Option<f64>| {
            value.map_or_else(|| MISSING.to_owned(), |value| shown(trend.metric, value))
        };
        text.push_str(&html::figure("First", &known(first), "", ""));
        text.push_str(&html::figure("Latest", &known(last), "", ""));
        if let (Some(first), Some(last)) = (first, last)
            && first > 0.0
        {
            let relative = last / first - 1.0;
            text.push_str(&html::figure("Change", &change(relative), "first to latest", ""));
        }
    }
    // A line that drifts has no steps.
    let of = |line: &crate::history::Line| line.changes.len() + usize::from(line.drift.is_some());
    let changes = trend.whole.iter().chain(&trend.kernels).map(of);
    let changes: usize = changes.sum();
    text.push_str(&html::figure("Changes", &changes.to_string(), "of the run and its kernels", ""));
    format!(
        "<section class=\"panel\" aria-label=\"Summary\">\n<dl class=\"figures-row\">\n{text}</dl>\n</section>\n"
    )
}

/// The picture of the trend, for a light and for a dark ground.
#[cfg(feature = "plot")]
fn charts(report: &TrendReport<'_>) -> String {
    use crate::report::{Canvas, Encoding};
    let drawn = [(false, "light"), (true, "dark")].map(|(dark, ground)| {
        let canvas = Canvas { width: 1200, height: Some(420), dark };
        let picture = super::trend_picture(report.trend, &canvas, Encoding::Svg);
        let picture = picture.ok().and_then(|bytes| String::from_utf8(bytes).ok());
        picture.map_or_else(String::new, |svg| {
            format!("<figure class=\"on-{ground}\" role=\"img\" aria-label=\"The trend; the tables list its values\">{svg}</figure>\n")
        })
    });
    format!("<section class=\"panel\">\n<h2>Over commits</h2>\n{}</section>\n", drawn.concat())
}

#[cfg(not(feature = "plot"))]
fn charts(_: &TrendReport<'_>) -> String {
    String::new()
}
