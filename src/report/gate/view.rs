//! Wording, numbers, columns and order that text and Markdown share.

use super::GateReport;
use crate::compare::{Basis, Evidence, Lone, MatchLevel, Side};
use crate::gate::{Action, Allowed, Check, Metric, Outcome, Subject, Value, Verdict};
use crate::model::elide;
use crate::report::document::{Cell, Column, Fact, Form, Table, Tone};
use crate::report::numbers::{change, change_interval, change_limit, count_of};
use crate::report::view::{MISSING, Style, count, factor, percent, printable, si};
use crate::units::{Dimension, Share};

/// Formats a limit as written in a policy: `+5%`, not `+5.00%`.
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
            return Some(format!("{side}{}", bound.written()));
        }
    };
    Some(change_limit(worse))
}

/// Maximum characters of an operator behind the name of a kernel.
const OPERATOR: usize = 60;

/// Returns the subject of a check as tables show it.
pub(super) fn name(check: &Check, style: &Style) -> String {
    match &check.subject {
        Subject::Run => match check.metric {
            Metric::Total => "(whole run)".to_owned(),
            Metric::CommonShift if check.rule == "many-kernels" => "(most kernels)".to_owned(),
            Metric::CommonShift => "(all kernels together)".to_owned(),
            _ => format!("(run: {})", printable(&check.rule)),
        },
        Subject::Kernel { operator, .. } => match operator {
            Some(operator) => {
                let operator = elide(&printable(operator), OPERATOR);
                format!("{} [{operator}]", plain_name(check, style))
            }
            None => plain_name(check, style),
        },
    }
}

/// Returns the name of the kernel of a check, without its operator; empty for the run.
pub(super) fn plain_name(check: &Check, style: &Style) -> String {
    let Subject::Kernel { name, full_name, .. } = &check.subject else { return String::new() };
    let wanted = if style.full_names { [full_name, name] } else { [name, full_name] };
    let shown = wanted.into_iter().map(|name| printable(name).trim().to_owned());
    shown.into_iter().find(|name| !name.is_empty()).unwrap_or_else(|| "(unnamed)".to_owned())
}

/// Returns grid and block of the kernel of a check; empty if unknown.
pub(super) fn shape(check: &Check) -> String {
    let Subject::Kernel { shape, .. } = &check.subject else { return String::new() };
    printable(shape)
}

/// Returns the device of the kernel of a check; empty for the run.
pub(super) fn device(check: &Check) -> String {
    match &check.subject {
        Subject::Kernel { device, .. } => printable(device),
        Subject::Run => String::new(),
    }
}

/// Makes the table of checks, numbered, with one unit for times.
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
            Column::number("difference_s", "diff/run", Form::TimeChange).spare(4),
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
            Cell::text(check.result()),
        ]);
    }
    table
}

/// Returns the column form for values of this dimension.
const fn form_of(dimension: Dimension) -> Form {
    match dimension {
        Dimension::Time | Dimension::Bytes | Dimension::Operations => Form::Si(dimension.key()),
        Dimension::Factor => Form::Factor,
        Dimension::Share => Form::Share,
        Dimension::Count => Form::Count,
    }
}

/// Explains the result of a check: its rule and sentence first, then further evidence, one line
/// each.
pub(super) fn why(check: &Check) -> Vec<String> {
    let mut lines = vec![format!("{}: {}", printable(&check.rule), printable(&check.message))];
    if let Some(noise) = check.noise {
        lines.push(format!("noise alone could explain {}", change(noise).trim_start_matches('+')));
    }
    if let Some(level) =
        check.matched.filter(|level| matches!(level, MatchLevel::Name | MatchLevel::Family))
    {
        lines.push(format!("matched by {} only", level.label()));
    }
    lines.extend(check.evidence.iter().map(|line| printable(line)));
    lines
}

/// Returns the first lines of a report: decision, total, global shift, both sides.
pub(super) fn head(report: &GateReport<'_>) -> Vec<Fact> {
    let decision = report.decision;
    let reason = printable(&decision.reason);
    let mut lines = Vec::new();
    if decision.decides {
        let warns = if decision.warn_only { " (reported only)" } else { "" };
        let line = format!("{}{warns}: {reason}", outcome(decision.outcome));
        let is_doubtful = decision.passed_uncompared();
        let tone = if is_doubtful { Tone::Doubtful } else { tone(decision.outcome) };
        lines.push(Fact::new("Gate", line).toned(tone));
    } else {
        lines.push(Fact::new("Comparison", reason));
    }
    lines.extend(total(report).map(|line| Fact::new("Total", line)));
    lines.extend(common(report).map(|line| Fact::new("Global shift", line)));
    if let Some(both) = &decision.comparison {
        lines.push(Fact::new("Baseline", side(&both.baseline)));
        lines.push(Fact::new("Current", side(&both.current)));
    }
    lines.extend(decision.alone.as_ref().map(|alone| Fact::new("Current", side(alone))));
    lines
}

/// Returns the color of an outcome, which the word beside it repeats.
const fn tone(outcome: Outcome) -> Tone {
    match outcome {
        Outcome::Passed => Tone::Good,
        Outcome::Failed | Outcome::NothingMeasured | Outcome::DifferentDevices => Tone::Bad,
        Outcome::Inconclusive => Tone::Doubtful,
    }
}

/// Returns the title of the table of deciding checks.
pub(super) fn decided(report: &GateReport<'_>) -> &'static str {
    let is_open = report.decision.outcome == Outcome::Inconclusive;
    match (report.decision.decides, is_open) {
        (true, false) => "Failing checks",
        (true, true) => "Inconclusive checks",
        (false, false) => "Checks that would fail a gate",
        (false, true) => "Checks that would leave a gate inconclusive",
    }
}

/// Returns the outcome, in capitals if the gate did not pass, so that it stands out without colors.
pub(super) fn outcome(outcome: Outcome) -> String {
    match outcome {
        Outcome::Passed => outcome.label().to_owned(),
        _ => outcome.label().to_uppercase(),
    }
}

/// Returns the check of a metric of the whole run.
fn of_run<'a>(report: &GateReport<'a>, metric: Metric) -> Option<&'a Check> {
    let mut checks = report.decision.checks.iter();
    checks.find(|check| check.rule == metric.key() && check.subject == Subject::Run)
}

/// Formats a shift with its interval as relative changes.
fn shift(evidence: &Evidence) -> String {
    let ends = evidence.low.zip(evidence.high);
    let ends =
        ends.map(|(low, high)| format!(" ({})", change_interval(low.change(), high.change())));
    format!("{}{}", change(evidence.shift.change()), ends.unwrap_or_default())
}

/// Formats the change of a check with its limit and verdict.
fn judged(check: &Check, otherwise: Option<&Evidence>) -> String {
    let mut text = match (check.change, otherwise) {
        (Some(relative), _) => {
            let ends =
                check.interval.map(|[low, high]| format!(" ({})", change_interval(low, high)));
            format!("{}{}", change(relative), ends.unwrap_or_default())
        }
        (None, Some(evidence)) => shift(evidence),
        (None, None) => "change unknown".to_owned(),
    };
    // What is not limited is not judged.
    if matches!(check.limit, Some(Allowed::Change(worse)) if !worse.get().is_finite()) {
        return format!("{text}, no limit");
    }
    if let Some(limit) = limit(check) {
        text.push_str(&format!(", limit {limit}"));
    }
    format!("{text}: {}", check.verdict.label())
}

fn total(report: &GateReport<'_>) -> Option<String> {
    let comparison = report.decision.comparison.as_ref();
    let check = of_run(report, Metric::Total);
    let told = |known: Option<Value>| known.map(Value::shown);
    let (before, after) = match (check, comparison) {
        (Some(check), _) => (told(check.before), told(check.after)),
        (None, Some(both)) => {
            (told(Some(both.baseline.time_s.into())), told(Some(both.current.time_s.into())))
        }
        (None, None) => return None,
    };
    let evidence = comparison.map(|both| &both.total);
    // Across devices the total is a distance from the roof, and times say nothing.
    if let Some(both) = comparison.filter(|both| both.basis == Basis::Headroom) {
        if both.coverage.compared == Share::ZERO {
            return None;
        }
        let change = match check {
            Some(check) => judged(check, evidence),
            None => evidence.map(shift)?,
        };
        return Some(format!("headroom (not time) of the whole run: {change}"));
    }
    let change = match check {
        Some(check) => judged(check, evidence),
        None => evidence.map(shift)?,
    };
    let missing = || MISSING.to_owned();
    let (before, after) = (before.unwrap_or_else(missing), after.unwrap_or_else(missing));
    let mut text = format!("{before} before, {after} now: {change}");
    let work = comparison.map_or(1.0, |both| both.work.get() * both.other_work.get());
    if crate::gate::is_scaled(work) {
        let work = factor(work);
        text.push_str(&format!("; normalized to the same work (current/baseline {work})"));
    }
    Some(text)
}

fn common(report: &GateReport<'_>) -> Option<String> {
    let common = report.decision.comparison.as_ref().map(|both| &both.common);
    if common.is_some_and(|common| common.kernels == 0 && !common.removed) {
        return None;
    }
    let mut text = match of_run(report, Metric::CommonShift) {
        Some(check) => judged(check, common.map(|common| &common.evidence)),
        None => shift(&common?.evidence),
    };
    if let Some(common) = common {
        let reason = printable(&common.reason);
        if common.removed {
            text.push_str(&format!(" ({reason}, subtracted from each)"));
        } else {
            let kernels = count(common.kernels as u64, "kernel", "kernels");
            text.push_str(&format!("; over {kernels}, not subtracted: {reason}"));
        }
        if let Some(cycles) = common.cycles {
            text.push_str(&format!("; {} in SM cycles", change(cycles.change())));
        }
    }
    Some(text)
}

/// Describes one side in a line.
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
        "{} ({}){on}: {} in {} of {}",
        count(side.labels.len() as u64, "run", "runs"),
        labels.join(", "),
        si(side.time_s, "s"),
        match count_of(side.launches) {
            one if one == "1" => "1 launch".to_owned(),
            several => format!("{several} launches"),
        },
        count(side.kernels as u64, "kernel", "kernels"),
    );
    match (side.warmup, side.is_warmup_partial) {
        (0, _) => {}
        (1, false) => text.push_str(", the first launch of each counted as the mean of the others"),
        (1, true) => text
            .push_str(", the first launch of each that has more counted as the mean of the others"),
        (first, is_partial) => {
            let most = if is_partial { "up to " } else { "" };
            text.push_str(&format!(
                ", {most}the first {first} launches of each counted as the mean of the others"
            ));
        }
    }
    if let Some(spread) = side.spread {
        text.push_str(&format!(", run-to-run spread {}", percent(spread.change().get())));
    }
    if !side.commits.is_empty() {
        let commits: Vec<String> =
            side.commits.iter().take(LABELS).map(|it| printable(it)).collect();
        text.push_str(&format!(", commit {}", commits.join(", ")));
    }
    text
}

/// Returns the checks with this action that neither decided nor belong to one side only.
pub(super) fn beside<'a>(report: &GateReport<'a>, action: Action) -> Vec<&'a Check> {
    let checks = report.decision.checks.iter();
    let checks = checks.filter(|check| check.action == action && check.waived.is_none());
    let is_lone = |check: &&Check| matches!(check.verdict, Verdict::New | Verdict::Vanished);
    checks.filter(|check| !is_lone(check)).collect()
}

/// Returns improvements that no other list shows.
pub(super) fn improved<'a>(report: &GateReport<'a>) -> Vec<&'a Check> {
    let checks = report.decision.checks.iter();
    let is_quiet = |check: &&Check| check.action == Action::None && check.waived.is_none();
    checks.filter(|check| check.verdict == Verdict::Improvement).filter(is_quiet).collect()
}

/// Returns waived checks with their reasons.
pub(super) fn waived<'a>(report: &GateReport<'a>) -> Vec<(&'a Check, String)> {
    let checks = report.decision.checks.iter();
    checks.filter_map(|check| Some((check, printable(check.waived.as_deref()?)))).collect()
}

/// Counts the verdicts in a line.
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

/// Lists kernels that only one side has, with share and time.
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
    let runs = both.map_or(0, |both| match verdict {
        Verdict::New => both.current.labels.len(),
        _ => both.baseline.labels.len(),
    });
    let kernels = kernels.map_or(&[][..], Vec::as_slice);
    let told = |lone: &Lone| {
        let known = lone.measured.share.zip(lone.measured.time_s);
        let about = known.map_or_else(
            || format!("in {side}, without a duration"),
            |(share, time)| format!("{} of {side}, {}", percent(share.get()), si(time.get(), "s")),
        );
        let in_some = match lone.measured.runs {
            some if some < runs => format!(", in {some} of {runs} runs"),
            _ => String::new(),
        };
        (printable(&lone.name), format!("{about}{in_some}"))
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

/// Lists the guesses about new and vanished kernels, one sentence each.
pub(super) fn guesses(report: &GateReport<'_>, are_judged: bool) -> Vec<String> {
    let names = |names: &[String]| {
        const SHOWN: usize = 4;
        let mut text: Vec<String> = names.iter().take(SHOWN).map(|name| printable(name)).collect();
        if names.len() > SHOWN {
            text.push(format!("{} more", names.len() - SHOWN));
        }
        text.join(" + ")
    };
    let open = report.decision.guesses.iter().filter(|guess| guess.is_judged == are_judged);
    let guesses = open.map(|guess| {
        let kind = guess.kind.label();
        let (one, mut two) = (names(&guess.before), names(&guess.after));
        if one == two {
            "another kernel of that short name".clone_into(&mut two);
        }
        format!(
            "{kind} ({:.0}% confidence): {one} is now {two}; {} before, {} now; {}",
            guess.confidence.get() * 100.0,
            si(guess.before_s.get(), "s"),
            si(guess.after_s.get(), "s"),
            printable(&guess.why)
        )
    });
    guesses.collect()
}

/// Returns the caveats, including doubts about the comparison.
pub(super) fn notes(report: &GateReport<'_>) -> Vec<String> {
    let decision = report.decision;
    let mut notes: Vec<String> = Vec::new();
    if let Some(both) = &decision.comparison {
        // Doubts are checks, too: those listed as doubts are not listed again.
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

/// Describes the method and its sensitivity.
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
        // What one run per side finds half of the time is no promise.
        let often = if seen.power.get() > 0.5 {
            format!("in {:.0}% of gates", seen.power.get() * 100.0)
        } else {
            "about half of the time".to_owned()
        };
        lines.push(format!(
            "Sensitivity: slowdowns of {} or more are detected {often} in kernels covering half of the run \
             time.",
            change(seen.change).trim_start_matches('+')
        ));
    }
    lines
}

/// Returns the next steps as text around commands.
pub(super) fn next(report: &GateReport<'_>) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    let mut failing = report.decision.deciding();
    let kernel = failing.find_map(|check| check.subject.written());
    if let (Some(kernel), Some(export)) = (kernel, report.export) {
        let quoted = |text: &str| format!("'{}'", printable(text).replace('\'', "'\\''"));
        let reading = if report.reading.is_empty() { "" } else { " " };
        let command = format!(
            "rooflint {}{reading}{} --kernel {} --explain",
            quoted(export),
            printable(report.reading),
            quoted(kernel)
        );
        lines.push(("Next", command));
    }
    if let Some(command) = report.command {
        lines.push(("Again", printable(command)));
    }
    lines
}
