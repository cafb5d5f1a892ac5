//! What text and Markdown share: words, numbers, columns, order.

use super::GateReport;
use crate::compare::{Basis, Evidence, Lone, MatchLevel, Side};
use crate::gate::{Action, Allowed, Check, Metric, Outcome, Subject, Value, Verdict};
use crate::report::document::{Cell, Column, Fact, Form, Table, Tone};
use crate::report::numbers::{change, change_interval, count_of};
use crate::report::view::{MISSING, Style, count, factor, percent, printable, si};
use crate::units::Dimension;

/// A limit as it is written in a policy: `+5%`, not `+5.00%`.
fn limit(check: &Check) -> Option<String> {
    let worse = match check.limit? {
        Allowed::Change(worse) => worse,
        Allowed::Bound(bound) => {
            let known = check.after.or(check.before)?;
            let side = match check.verdict {
                Verdict::Violation if known.value < bound.value => "≥",
                Verdict::Violation => "≤",
                _ => "",
            };
            return Some(format!("{side}{}", value(bound)));
        }
    };
    let shown = change(worse);
    let number = shown.trim_end_matches('%');
    let number = if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        number
    };
    Some(format!("{number}%"))
}

/// A value with its unit.
pub(super) fn value(value: Value) -> String {
    match value.unit {
        Dimension::Time | Dimension::Bytes | Dimension::Operations => {
            si(value.value, value.unit.key())
        }
        Dimension::Factor => factor(value.value),
        Dimension::Share => percent(value.value),
        Dimension::Count => count_of(value.value),
    }
}

/// What a check is about, as tables show it.
pub(super) fn name(check: &Check, style: &Style) -> String {
    match &check.subject {
        Subject::Run => match check.metric {
            Metric::Total => "(the whole run)".to_owned(),
            Metric::CommonShift => "(all kernels together)".to_owned(),
            _ => format!("(the run: {})", printable(&check.rule)),
        },
        Subject::Kernel { name, full_name, .. } => {
            let wanted = if style.full_names { [full_name, name] } else { [name, full_name] };
            let shown = wanted.into_iter().map(|name| printable(name).trim().to_owned());
            shown
                .into_iter()
                .find(|name| !name.is_empty())
                .unwrap_or_else(|| "(unnamed)".to_owned())
        }
    }
}

/// Grid and block of the kernel of a check; empty where not known.
pub(super) fn shape(check: &Check) -> String {
    let Subject::Kernel { shape, .. } = &check.subject else { return String::new() };
    printable(shape)
}

/// The device of the kernel of a check; empty for the run.
pub(super) fn device(check: &Check) -> String {
    match &check.subject {
        Subject::Kernel { device, .. } => printable(device),
        Subject::Run => String::new(),
    }
}

/// The checks of one table, numbered; times have one unit.
pub(super) fn table(checks: &[&Check], style: &Style) -> Table {
    // One unit in the header, if nothing but times stands below it.
    let mut values = checks.iter().flat_map(|check| [check.before, check.after]).flatten();
    let only_times = values.all(|value| value.unit == Dimension::Time);
    let form = if only_times { Form::Time } else { Form::Digits };
    let mut table = Table::new(
        "checks",
        vec![
            Column::number("position", "#", Form::Count),
            Column::name("name", "kernel"),
            Column::number("shape", "grid / block", Form::Count).spare(12),
            Column::number("before", "before", form).spare(2),
            Column::number("now", "now", form),
            Column::number("change", "change", Form::Change),
            Column::number("interval", "interval", Form::Change).spare(1),
            Column::number("limit", "limit", Form::Change),
            Column::number("share", "share", Form::Share).spare(11),
            Column::number("difference_s", "diff", Form::TimeChange).spare(4),
            Column::text("result", "result").spare(3),
        ],
    );
    for (position, check) in checks.iter().enumerate() {
        let known = |value: Option<Value>| match value {
            None => Cell::Missing,
            Some(value) if only_times => Cell::Number(value.value),
            Some(value) => Cell::Other(value.value, form_of(value.unit)),
        };
        let shape = Some(shape(check)).filter(|shape| !shape.is_empty());
        table.push([
            Cell::count(position as u64 + 1),
            Cell::text(name(check, style)),
            Cell::maybe_text(shape),
            known(check.before),
            known(check.after),
            Cell::maybe(check.change),
            check.interval.map_or(Cell::Missing, |[low, high]| Cell::Ends(low.get(), high.get())),
            Cell::maybe_text(limit(check)),
            Cell::maybe(check.share),
            Cell::maybe(check.delta_s),
            Cell::text(check.verdict.label()),
        ]);
    }
    table
}

/// How a value of this dimension is shown.
const fn form_of(dimension: Dimension) -> Form {
    match dimension {
        Dimension::Time | Dimension::Bytes | Dimension::Operations => Form::Si(dimension.key()),
        Dimension::Factor => Form::Factor,
        Dimension::Share => Form::Share,
        Dimension::Count => Form::Count,
    }
}

/// Why a check ended as it did: its rule and sentence first, then what else is known, a line each.
pub(super) fn why(check: &Check) -> Vec<String> {
    let mut lines = vec![format!("{}: {}", printable(&check.rule), printable(&check.message))];
    if let Some(noise) = check.noise {
        lines.push(format!(
            "noise alone may change it by {}",
            change(noise).trim_start_matches('+')
        ));
    }
    if let Some(level) = check.matched.filter(|level| *level > MatchLevel::Signature) {
        lines.push(format!("both sides are held for the same kernel by {} only", level.label()));
    }
    if let Some(more) = check.more_runs {
        let runs = count(u64::from(more), "run more a side", "runs more a side");
        lines.push(format!("{runs} would settle it"));
    }
    lines.extend(check.evidence.iter().map(|line| printable(line)));
    lines
}

/// The first lines of a report: the decision, the whole, what all kernels share, both sides.
pub(super) fn head(report: &GateReport<'_>) -> Vec<Fact> {
    let decision = report.decision;
    let reason = printable(&decision.reason);
    let mut lines = Vec::new();
    if decision.decides {
        let warns = if decision.warn_only { " (the policy only warns)" } else { "" };
        let line = format!("{}{warns}: {reason}", outcome(decision.outcome));
        lines.push(Fact::new("Gate", line).toned(tone(decision.outcome)));
    } else {
        lines.push(Fact::new("Comparison", reason));
    }
    lines.extend(total(report).map(|line| Fact::new("Total", line)));
    lines.extend(common(report).map(|line| Fact::new("Common shift", line)));
    if let Some(both) = &decision.comparison {
        lines.push(Fact::new("Baseline", side(&both.baseline)));
        lines.push(Fact::new("Current", side(&both.current)));
    }
    lines
}

/// Red, green or yellow, beside the word that says the same.
const fn tone(outcome: Outcome) -> Tone {
    match outcome {
        Outcome::Passed => Tone::Good,
        Outcome::Failed | Outcome::NothingMeasured | Outcome::DifferentDevices => Tone::Bad,
        Outcome::Inconclusive => Tone::Doubtful,
    }
}

/// What the table of decisive checks is called.
pub(super) fn decided(report: &GateReport<'_>) -> &'static str {
    if report.decision.decides { "What decided" } else { "What a gate would act on" }
}

/// How the gate ended, in capitals where it did not pass: a reader without colors must see it, too.
pub(super) fn outcome(outcome: Outcome) -> String {
    match outcome {
        Outcome::Passed => outcome.label().to_owned(),
        _ => outcome.label().to_uppercase(),
    }
}

/// The check of a metric of the whole run.
fn of_run<'a>(report: &GateReport<'a>, metric: Metric) -> Option<&'a Check> {
    let mut checks = report.decision.checks.iter();
    checks.find(|check| check.metric == metric && check.subject == Subject::Run)
}

/// A shift with its interval, as relative changes.
fn shift(evidence: &Evidence) -> String {
    let ends = evidence.low.zip(evidence.high);
    let ends = ends.map(|(low, high)| format!(" {}", change_interval(low.change(), high.change())));
    format!("{}{}", change(evidence.shift.change()), ends.unwrap_or_default())
}

/// A change as a check knows it, with limit and verdict.
fn judged(check: &Check, otherwise: Option<&Evidence>) -> String {
    let mut text = match (check.change, otherwise) {
        (Some(relative), _) => {
            let ends = check.interval.map(|[low, high]| format!(" {}", change_interval(low, high)));
            format!("{}{}", change(relative), ends.unwrap_or_default())
        }
        (None, Some(evidence)) => shift(evidence),
        (None, None) => "change not known".to_owned(),
    };
    if let Some(limit) = limit(check) {
        text.push_str(&format!(", limit {limit}"));
    }
    format!("{text}: {}", check.verdict.label())
}

fn total(report: &GateReport<'_>) -> Option<String> {
    let comparison = report.decision.comparison.as_ref();
    let check = of_run(report, Metric::Total);
    let told = |known: Option<Value>| known.map(value);
    let (before, after) = match (check, comparison) {
        (Some(check), _) => (told(check.before), told(check.after)),
        (None, Some(both)) => {
            (told(Some(both.baseline.time_s.into())), told(Some(both.current.time_s.into())))
        }
        (None, None) => return None,
    };
    let evidence = comparison.map(|both| &both.total);
    // Across devices the total is a distance from the roof, and times say nothing.
    if comparison.is_some_and(|both| both.basis == Basis::Headroom) {
        let change = match check {
            Some(check) => judged(check, evidence),
            None => evidence.map(shift)?,
        };
        return Some(format!("headroom of the whole run, not its time: {change}"));
    }
    let change = match check {
        Some(check) => judged(check, evidence),
        None => evidence.map(shift)?,
    };
    let missing = || MISSING.to_owned();
    let (before, after) = (before.unwrap_or_else(missing), after.unwrap_or_else(missing));
    let mut text = format!("{before} before, {after} now: {change}");
    if let Some(both) = comparison.filter(|both| both.work.change().abs().get() > 0.005) {
        text.push_str(&format!(
            "; for the same work: there is {} as much",
            factor(both.work.get())
        ));
    }
    Some(text)
}

fn common(report: &GateReport<'_>) -> Option<String> {
    let common = report.decision.comparison.as_ref().map(|both| &both.common);
    let mut text = match of_run(report, Metric::CommonShift) {
        Some(check) => judged(check, common.map(|common| &common.evidence)),
        None => shift(&common?.evidence),
    };
    if let Some(common) = common {
        let done = if common.removed { "taken out of" } else { "not taken out of" };
        let kernels = count(common.kernels as u64, "kernel", "kernels");
        text.push_str(&format!("; over {kernels}, {done} each: {}", printable(&common.reason)));
        if let Some(cycles) = common.cycles {
            text.push_str(&format!("; {} in SM cycles", change(cycles.change())));
        }
    }
    Some(text)
}

/// One side in a line.
fn side(side: &Side) -> String {
    const LABELS: usize = 3;
    let mut labels: Vec<String> =
        side.labels.iter().take(LABELS).map(|label| printable(label)).collect();
    if side.labels.len() > LABELS {
        labels.push(format!("{} more", side.labels.len() - LABELS));
    }
    let devices: Vec<String> = side.devices.iter().map(|device| printable(device)).collect();
    let on = if devices.is_empty() { String::new() } else { format!(" on {}", devices.join(", ")) };
    let mut text = format!(
        "{} ({}){on}: {} in {} launches of {}",
        count(side.labels.len() as u64, "run", "runs"),
        labels.join(", "),
        si(side.time_s, "s"),
        count_of(side.launches),
        count(side.kernels as u64, "kernel", "kernels"),
    );
    if let Some(spread) = side.spread {
        text.push_str(&format!(", runs spread by {}", percent(spread.change().get())));
    }
    if !side.commits.is_empty() {
        let commits: Vec<String> =
            side.commits.iter().take(LABELS).map(|it| printable(it)).collect();
        text.push_str(&format!(", commit {}", commits.join(", ")));
    }
    text
}

/// What neither decided nor is only on one side, but the policy wants told by this action.
pub(super) fn beside<'a>(report: &GateReport<'a>, action: Action) -> Vec<&'a Check> {
    let checks = report.decision.checks.iter();
    let checks = checks.filter(|check| check.action == action && check.waived.is_none());
    let is_lone = |check: &&Check| matches!(check.verdict, Verdict::New | Verdict::Vanished);
    checks.filter(|check| !is_lone(check)).collect()
}

/// Improvements that nothing else tells of.
pub(super) fn improved<'a>(report: &GateReport<'a>) -> Vec<&'a Check> {
    let checks = report.decision.checks.iter();
    let is_quiet = |check: &&Check| check.action == Action::None && check.waived.is_none();
    checks.filter(|check| check.verdict == Verdict::Improvement).filter(is_quiet).collect()
}

/// What is accepted, and why.
pub(super) fn waived<'a>(report: &GateReport<'a>) -> Vec<(&'a Check, String)> {
    let checks = report.decision.checks.iter();
    checks.filter_map(|check| Some((check, printable(check.waived.as_deref()?)))).collect()
}

/// How many of what, in a line.
pub(super) fn counts(report: &GateReport<'_>) -> Option<String> {
    let counts = &report.decision.counts;
    let shown: Vec<String> = Verdict::ALL
        .into_iter()
        .filter_map(|verdict| Some((verdict, *counts.get(&verdict)?)))
        .filter(|(_, number)| *number > 0)
        .map(|(verdict, number)| {
            let is_noun = matches!(
                verdict,
                Verdict::Regression
                    | Verdict::Violation
                    | Verdict::ImplausibleImprovement
                    | Verdict::Improvement
            );
            let many = if is_noun && number > 1 { "s" } else { "" };
            format!("{number} {}{many}", verdict.label())
        })
        .collect();
    (!shown.is_empty()).then(|| shown.join(", "))
}

/// Kernels that only one side has: name, and what else is to say.
pub(super) fn lone(
    report: &GateReport<'_>,
    verdict: Verdict,
    style: &Style,
) -> Vec<(String, String)> {
    let both = report.decision.comparison.as_ref();
    let (kernels, side) = match verdict {
        Verdict::New => (both.map(|both| &both.new), "the current run"),
        _ => (both.map(|both| &both.vanished), "the baseline"),
    };
    let kernels = kernels.map_or(&[][..], Vec::as_slice);
    let told = |lone: &Lone| {
        let (share, time) =
            (percent(lone.measured.share.get()), si(lone.measured.time_s.get(), "s"));
        (printable(&lone.name), format!("{share} of {side}, {time}"))
    };
    let mut lines: Vec<(String, String)> = kernels.iter().map(told).collect();
    // Kernels that must be there are checked without a comparison of sides, too.
    let missing = report.decision.checks.iter().filter(|check| check.verdict == verdict);
    for check in missing {
        let name = name(check, style);
        let Subject::Kernel { name: short, full_name, .. } = &check.subject else { continue };
        if !kernels.iter().any(|lone| lone.name == *short || lone.name == *full_name) {
            lines.push((name, printable(&check.message)));
        }
    }
    lines
}

/// What may have become of kernels, a sentence each.
pub(super) fn guesses(report: &GateReport<'_>) -> Vec<String> {
    use crate::compare::ProposalKind;
    let names = |names: &[String]| {
        const SHOWN: usize = 4;
        let mut text: Vec<String> = names.iter().take(SHOWN).map(|name| printable(name)).collect();
        if names.len() > SHOWN {
            text.push(format!("{} more", names.len() - SHOWN));
        }
        text.join(" + ")
    };
    let guesses = report.decision.guesses.iter().map(|guess| {
        let kind = match guess.kind {
            ProposalKind::Rename => "renamed",
            ProposalKind::Fusion => "fused",
            ProposalKind::Split => "split",
        };
        format!(
            "{kind}, {:.0}% sure: {} is now {}, {} before and {} now: {}",
            guess.confidence.get() * 100.0,
            names(&guess.before),
            names(&guess.after),
            si(guess.before_s.get(), "s"),
            si(guess.after_s.get(), "s"),
            printable(&guess.why)
        )
    });
    guesses.collect()
}

/// What a reader must know, doubts about the comparison included.
pub(super) fn notes(report: &GateReport<'_>) -> Vec<String> {
    let decision = report.decision;
    let mut notes: Vec<String> = Vec::new();
    if let Some(both) = &decision.comparison {
        // Doubts are checks, too: those that are told as such need no second place.
        let is_told = |doubt: &String| {
            let mut checks = decision.checks.iter();
            checks.any(|check| check.action > Action::None && check.message.contains(doubt))
        };
        let doubts = both.cut_off.iter().chain(&both.doubts).filter(|doubt| !is_told(doubt));
        notes.extend(doubts.chain(&both.notes).map(|note| printable(note)));
    }
    notes.extend(decision.notes.iter().map(|note| printable(note)));
    let mut once: Vec<String> = Vec::new();
    for note in notes {
        if !once.contains(&note) {
            once.push(note);
        }
    }
    once
}

/// How it was judged, and what it could have seen.
pub(super) fn method(report: &GateReport<'_>) -> Vec<String> {
    let decision = report.decision;
    let sentence = |line: &String| {
        let line = printable(line);
        let mut letters = line.chars();
        let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
        let end = if line.ends_with('.') { "" } else { "." };
        format!("{first}{}{end}", letters.as_str())
    };
    let mut lines: Vec<String> = decision.method.iter().map(sentence).collect();
    if let Some(seen) = decision.detectable {
        lines.push(format!(
            "A slowdown by {} or more would have been seen in kernels with half of the time.",
            change(seen).trim_start_matches('+')
        ));
    }
    lines
}

/// What to do next, as text around commands.
pub(super) fn next(report: &GateReport<'_>) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    if let Some(command) = report.command {
        lines.push(("Again", printable(command)));
    }
    lines
}
