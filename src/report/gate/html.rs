//! A comparison as a page: verdict and total first, then what got slower and what got faster, then all the rest.

use super::{GateOutput, GateReport, view};
use crate::compare::{Basis, Side};
use crate::gate::{Check, Metric, Outcome, Subject, Value, Verdict};
use crate::report::formats::html::{escape, figure, page, panels};
use crate::report::numbers::{change, si};
use crate::report::view::{MISSING, Style, count};
use crate::report::{Reported, printable};
use crate::units::{RelativeChange, Seconds};

pub(super) const OUTPUT: GateOutput =
    GateOutput { name: "html", endings: &["html"], summary: "a page for a browser", render };

/// Kernels of each list.
const LISTED: usize = 12;

fn render(report: &GateReport<'_>, style: &Style) -> String {
    let document = report.document(style);
    let sides = report.decision.comparison.as_ref().map(|both| (&both.baseline, &both.current));
    let by = sides
        .map_or_else(String::new, |(before, now)| format!("{} → {}", labels(before), labels(now)));
    let body = format!("{}{}", summary(report, style), panels(&document.blocks));
    style.adapted(page(&document.title, &by, &body))
}

/// Verdict, total and the kernels that moved: what the page of a run shows of its baseline, too.
pub(in crate::report) fn summary(report: &GateReport<'_>, style: &Style) -> String {
    format!(
        "<section class=\"panel\" aria-label=\"Comparison\">\n{}</section>\n{}",
        head(report),
        moves(report, style)
    )
}

/// What a side is called: by its file, without the folders.
fn labels(side: &Side) -> String {
    match side.labels.as_slice() {
        [one] => printable(one.rsplit(['/', '\\']).next().unwrap_or_default()),
        many => count(many.len() as u64, "run", "runs"),
    }
}

/// The change of the whole run and how many kernels moved, for the first screen of a report.
#[cfg(feature = "page")]
pub(in crate::report) fn total(report: &GateReport<'_>) -> Option<(f64, String)> {
    let both = report.decision.comparison.as_ref()?;
    let (slower, faster) = tally(report);
    let moved = format!("{slower} slower, {faster} faster");
    Some((both.total.shift.change().get(), moved))
}

/// Kernels that certainly got slower, and that got faster.
fn tally(report: &GateReport<'_>) -> (usize, usize) {
    let sure: Vec<&Check> = moved(report).into_iter().filter(|check| is_sure(check)).collect();
    let slower = sure.iter().filter(|check| is_worse(check)).count();
    (slower, sure.len() - slower)
}

/// The verdict in a line, and the large figures.
fn head(report: &GateReport<'_>) -> String {
    let decision = report.decision;
    let tone = match decision.outcome {
        _ if !decision.decides => "",
        Outcome::Passed => " is-good",
        Outcome::Failed | Outcome::NothingMeasured | Outcome::DifferentDevices => " is-bad",
        Outcome::Inconclusive => " is-doubt",
    };
    let word = if decision.decides { decision.outcome.label() } else { "comparison" };
    let reason = escape(&printable(&decision.reason));
    let mut text = format!(
        "<p class=\"verdict-line\"><span class=\"badge{tone}\">{}</span> <span>{reason}</span></p>\n\
         <dl class=\"figures-row\">\n",
        escape(word)
    );
    if let Some(both) = &decision.comparison {
        let (before, now) = (both.baseline.time_s, both.current.time_s);
        let relative = both.total.shift.change().get();
        let ends = both.total.low.zip(both.total.high).map_or_else(String::new, |(low, high)| {
            format!("{} to {}", change(low.change()), change(high.change()))
        });
        let (what, tone) = match both.basis {
            Basis::Headroom => ("Ratio to the roofline", tone_of(relative)),
            Basis::Time => ("Total change", tone_of(relative)),
        };
        text.push_str(&figure("Before", &si(before, "s"), &labels(&both.baseline), ""));
        text.push_str(&figure("Now", &si(now, "s"), &labels(&both.current), ""));
        text.push_str(&figure(what, &change(relative), &ends, tone));
        let (slower, faster) = tally(report);
        let kernels = format!("of {}", count(both.changes.len() as u64, "kernel", "kernels"));
        text.push_str(&figure(
            "Slower",
            &slower.to_string(),
            &kernels,
            if slower > 0 { "bad" } else { "" },
        ));
        text.push_str(&figure(
            "Faster",
            &faster.to_string(),
            &kernels,
            if faster > 0 { "good" } else { "" },
        ));
        if !both.new.is_empty() || !both.vanished.is_empty() {
            let lone = format!("{} / {}", both.new.len(), both.vanished.len());
            text.push_str(&figure("New / vanished", &lone, "kernels on one side only", ""));
        }
    }
    text + "</dl>\n"
}

pub(in crate::report) fn tone_of(relative: f64) -> &'static str {
    match relative {
        up if up > 0.005 => "bad",
        down if down < -0.005 => "good",
        _ => "",
    }
}

/// The checks of kernels on both sides, those that moved most first.
fn moved<'a>(report: &GateReport<'a>) -> Vec<&'a Check> {
    let checks = report.decision.checks.iter();
    let of_kernels = |check: &&Check| {
        let is_time = matches!(check.metric, Metric::Time | Metric::Headroom);
        is_time && matches!(check.subject, Subject::Kernel { .. }) && check.change.is_some()
    };
    let mut all: Vec<&Check> = checks.filter(of_kernels).collect();
    all.sort_by(|one, two| size(two).total_cmp(&size(one)));
    all
}

/// By how much a kernel moved: in seconds where they are known.
fn size(check: &Check) -> f64 {
    let relative = check.change.map_or(0.0, RelativeChange::get);
    check.delta_s.map_or(relative, Seconds::get).abs()
}

fn is_worse(check: &Check) -> bool {
    check.change.is_some_and(|relative| relative.get() > 0.0)
}

fn is_sure(check: &Check) -> bool {
    !matches!(
        check.verdict,
        Verdict::Unchanged | Verdict::Ambiguous | Verdict::Incomparable | Verdict::NoData
    )
}

/// What takes longer than before beside what takes less, with bars of the same scale, certain or not.
fn moves(report: &GateReport<'_>, style: &Style) -> String {
    let all = moved(report);
    let most = all.first().map_or(0.0, |check| size(check));
    if most <= 0.0 {
        return String::new();
    }
    // What did not move is in neither list.
    let moved = all.into_iter().filter(|check| size(check) > 0.0);
    let (slower, faster): (Vec<&Check>, Vec<&Check>) = moved.partition(|check| is_worse(check));
    let lists = [("Largest increases", "slower", slower), ("Largest decreases", "faster", faster)];
    let lists = lists.map(|(title, kind, all)| list(title, kind, &all, most, style));
    format!("<div class=\"pair\">\n{}</div>\n", lists.concat())
}

fn list(title: &str, kind: &str, all: &[&Check], most: f64, style: &Style) -> String {
    let rows: String = all.iter().take(LISTED).map(|check| row(check, kind, most, style)).collect();
    let rest = all.len().saturating_sub(LISTED);
    let more = if rest > 0 {
        format!("<p class=\"hint\">{rest} more with smaller changes</p>\n")
    } else {
        String::new()
    };
    let rows = if all.is_empty() {
        "<p class=\"hint\">no kernel</p>\n".to_owned()
    } else {
        format!("<ol class=\"moves\">\n{rows}</ol>\n")
    };
    format!("<section class=\"panel\">\n<h2>{title}</h2>\n{rows}{more}</section>\n")
}

fn row(check: &Check, kind: &str, most: f64, style: &Style) -> String {
    let shown = |value: Option<Value>| value.map_or_else(|| MISSING.to_owned(), Value::shown);
    let name = escape(&view::name(check, style));
    let by = escape(&check.change.map_or_else(|| MISSING.to_owned(), change));
    let values = escape(&format!("{} → {}", shown(check.before), shown(check.after)));
    let tone = match check.verdict {
        Verdict::Regression | Verdict::Violation => " is-bad",
        Verdict::Improvement => " is-good",
        Verdict::Unchanged => "",
        _ => " is-doubt",
    };
    let width = size(check) / most * 100.0;
    let delta = check.delta_s.map_or_else(String::new, |delta| {
        let sign = if delta.get() < 0.0 { '-' } else { '+' };
        format!(", {sign}{} in the run", si(delta.get().abs(), "s"))
    });
    let waived = check
        .waived
        .as_deref()
        .map_or_else(String::new, |why| format!(", waived: {}", printable(why)));
    let kind = if is_sure(check) { kind } else { "roofline" };
    format!(
        "<li><span class=\"name\">{name}</span><span class=\"number\">{by}</span>\
         <span class=\"badge{tone}\">{}</span>\
         <svg class=\"bar\" viewBox=\"0 0 100 1\" preserveAspectRatio=\"none\" aria-hidden=\"true\">\
         <rect width=\"{width:.2}\" height=\"1\" class=\"part-{kind}\"/></svg>\
         <span class=\"hint\">{values}{}</span></li>\n",
        escape(check.verdict.label()),
        escape(&format!("{delta}{waived}")),
    )
}
