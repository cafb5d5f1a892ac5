//! A comparison as a page: verdict and total first, then what got slower and what got faster, then all the rest.

use std::collections::HashMap;

use super::{GateOutput, GateReport, view};
use crate::compare::{Basis, Change, Measured, Side};
use crate::gate::{Check, Metric, Outcome, Subject, Value, Verdict};
use crate::report::formats::html::{escape, figure, page, panels};
use crate::report::numbers::{change, count_of, si};
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

/// Kernels that certainly got slower, in a launch or by more of them, and that got faster.
fn tally(report: &GateReport<'_>) -> (usize, usize) {
    let sure: Vec<Move<'_>> = moved(report).into_iter().filter(|one| is_sure(one.check)).collect();
    let slower = sure.iter().filter(|one| is_worse(one.check)).count();
    (slower, sure.len() - slower)
}

/// The verdict in a line, and the large figures.
fn head(report: &GateReport<'_>) -> String {
    let decision = report.decision;
    let tone = match decision.outcome {
        _ if !decision.decides => "",
        Outcome::Passed if decision.lacks_baseline.is_some() => " is-doubt",
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

/// A kernel of both sides: the check that says most about it, and what its time did in the run.
struct Move<'a> {
    check: &'a Check,
    /// Change of the time of all its launches; none where ratios to the roofline are compared.
    delta: Option<Seconds>,
    /// The change between the values shown, which may be the time of a launch or of all.
    relative: Option<f64>,
    values: String,
    /// What tells these values from the change that was judged.
    remarks: Vec<String>,
    /// Whether the values are of all launches, and the check of one.
    is_of_launch: bool,
}

impl Move<'_> {
    /// By how much the kernel moved: in seconds where they are known.
    fn size(&self) -> f64 {
        let relative = self.check.change.map_or(0.0, RelativeChange::get);
        self.delta.map_or(relative, Seconds::get).abs()
    }

    /// Whether it takes more than before, whatever part of that all kernels share.
    fn is_more(&self) -> bool {
        self.delta.map_or_else(|| is_worse(self.check), |delta| delta > Seconds::ZERO)
    }
}

/// Launches are counted: fewer than 1% more are a loop that ran once more.
const SAME_LAUNCHES: f64 = 0.01;

/// What tells a kernel from all others.
type Key<'a> = (&'a str, &'a str, &'a str, &'a str, Option<&'a str>);

fn key_of(subject: &Subject) -> Option<Key<'_>> {
    let Subject::Kernel { name, full_name, shape, device, operator } = subject else { return None };
    Some((name, full_name, shape, device, operator.as_deref()))
}

/// The kernels of both sides, those that moved most first: each once, with the check of all its launches where that
/// found more than the one of a typical launch.
fn moved<'a>(report: &GateReport<'a>) -> Vec<Move<'a>> {
    let both = report.decision.comparison.as_ref();
    let changes = both.map_or(&[][..], |both| &both.changes).iter();
    let changes: HashMap<Key<'_>, &Change> = changes
        .map(|change| {
            let Measured { full_name, shape, device, operator, .. } = &change.after;
            ((&*change.name, &**full_name, &**shape, &**device, operator.as_deref()), change)
        })
        .collect();
    let mut places: HashMap<Key<'_>, usize> = HashMap::new();
    let mut checks: Vec<(Key<'_>, &Check)> = Vec::new();
    for check in report.decision.checks.iter().filter(|check| check.change.is_some()) {
        let is_time = matches!(check.metric, Metric::Time | Metric::Headroom | Metric::KernelTotal);
        let Some(key) = key_of(&check.subject).filter(|_| is_time) else { continue };
        match places.get(&key) {
            Some(at) => {
                let known = &mut checks[*at].1;
                let of_all = check.metric == Metric::KernelTotal;
                if of_all && (is_sure(check) || !is_sure(known)) {
                    *known = check;
                }
            }
            None => {
                places.insert(key, checks.len());
                checks.push((key, check));
            }
        }
    }
    let global = both.is_some_and(|both| both.common.removed);
    let work = both.map_or(1.0, |both| both.work.get());
    let moves = checks.into_iter();
    let mut all: Vec<Move<'a>> =
        moves.map(|(key, check)| a_move(check, changes.get(&key).copied(), work, global)).collect();
    all.sort_by(|one, two| two.size().total_cmp(&one.size()));
    all
}

/// What a kernel did: in a run with other numbers of launches its whole time, else that of a launch.
fn a_move<'a>(check: &'a Check, of: Option<&Change>, work: f64, global: bool) -> Move<'a> {
    let shown = |value: Option<Value>| value.map_or_else(|| MISSING.to_owned(), Value::shown);
    let is_time = check.metric != Metric::Headroom;
    let times = of.filter(|_| is_time).and_then(|of| match &of.of_all {
        Some(all) => Some((all.before_s, all.after_s, [all.launches_before, all.launches_after])),
        None => {
            let launches = [of.before.launches * work, of.after.launches];
            Some((of.before.time_s? * work, of.after.time_s?, launches))
        }
    });
    let has_other_launches = check.metric == Metric::KernelTotal
        || of.is_some_and(|of| of.launches_shift.get().abs() > SAME_LAUNCHES);
    let (mut before, mut after) = (check.before, check.after);
    let mut remarks = Vec::new();
    if let Some((one, two, [launches, now])) = times.filter(|_| has_other_launches) {
        (before, after) = (Some(one.into()), Some(two.into()));
        let launches = [launches, now].map(count_of);
        if launches[0] != launches[1] {
            remarks.push(format!("launches {} → {}", launches[0], launches[1]));
        }
    }
    let relative = before.zip(after).map(|(one, two)| two.value / one.value - 1.0);
    let is_of_launch = has_other_launches && check.metric == Metric::Time;
    let judged = check.change.map(change);
    if let Some(judged) = judged.filter(|judged| relative.map(change).as_ref() != Some(judged)) {
        let of = if is_of_launch { "a launch " } else { "" };
        let how = if global { "net of the global shift" } else { "as compared" };
        remarks.push(format!("{of}{judged} {how}"));
    }
    Move {
        check,
        delta: times.map(|(one, two, _)| two - one).or(check.delta_s),
        relative,
        values: format!("{} → {}", shown(before), shown(after)),
        remarks,
        is_of_launch,
    }
}

fn is_worse(check: &Check) -> bool {
    check.change.is_some_and(|relative| relative.get() > 0.0)
}

fn is_sure(check: &Check) -> bool {
    !matches!(
        check.verdict,
        Verdict::Unchanged
            | Verdict::WithinBounds
            | Verdict::Ambiguous
            | Verdict::Incomparable
            | Verdict::NoData
    )
}

/// What takes longer than before beside what takes less, with bars of the same scale, certain or not.
fn moves(report: &GateReport<'_>, style: &Style) -> String {
    let all = moved(report);
    let most = all.first().map_or(0.0, Move::size);
    if most <= 0.0 {
        return String::new();
    }
    // What did not move is in neither list.
    let moved = all.into_iter().filter(|one| one.size() > 0.0);
    let (slower, faster): (Vec<Move<'_>>, Vec<Move<'_>>) = moved.partition(Move::is_more);
    let lists = [("Largest increases", "slower", slower), ("Largest decreases", "faster", faster)];
    let lists = lists.map(|(title, kind, all)| list(title, kind, &all, most, style));
    format!("<div class=\"pair\">\n{}</div>\n", lists.concat())
}

fn list(title: &str, kind: &str, all: &[Move<'_>], most: f64, style: &Style) -> String {
    let rows: String = all.iter().take(LISTED).map(|one| row(one, kind, most, style)).collect();
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

fn row(one: &Move<'_>, kind: &str, most: f64, style: &Style) -> String {
    let check = one.check;
    let name = escape(&view::name(check, style));
    let by = escape(&one.relative.map_or_else(|| MISSING.to_owned(), change));
    let tone = match check.verdict {
        Verdict::Regression | Verdict::Violation => " is-bad",
        Verdict::Improvement => " is-good",
        Verdict::Unchanged | Verdict::WithinBounds => "",
        _ => " is-doubt",
    };
    let width = one.size() / most * 100.0;
    let mut hint = vec![one.values.clone()];
    hint.extend(one.remarks.iter().cloned());
    hint.extend(one.delta.map(|delta| {
        let sign = if delta.get() < 0.0 { '-' } else { '+' };
        format!("{sign}{} in the run", si(delta.get().abs(), "s"))
    }));
    hint.extend(check.waived.as_deref().map(|why| format!("waived: {}", printable(why))));
    let kind = if is_sure(check) { kind } else { "roofline" };
    let of = if one.is_of_launch { " per launch" } else { "" };
    format!(
        "<li><span class=\"name\">{name}</span><span class=\"number\">{by}</span>\
         <span class=\"badge{tone}\">{}{of}</span>\
         <svg class=\"bar\" viewBox=\"0 0 100 1\" preserveAspectRatio=\"none\" aria-hidden=\"true\">\
         <rect width=\"{width:.2}\" height=\"1\" class=\"part-{kind}\"/></svg>\
         <span class=\"hint\">{}</span></li>\n",
        escape(check.result()),
        escape(&hint.join(", ")),
    )
}
