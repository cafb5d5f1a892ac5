//! What the rules advise, as all human-readable outputs show it.

use crate::analysis::{GroupTotals, Kernel, State, Target};
use crate::report::Report;
use crate::report::view::{Style, count, name, printable, si};
use crate::rules::{self, Finding, Severity};

/// The most important next steps, a line each, at most five: those in groups that miss their target
/// first, those in groups that meet theirs last.
pub(super) fn next_steps(report: &Report<'_>, style: &Style) -> Vec<String> {
    const STEPS: usize = 5;
    let mut steps: Vec<((u8, f64, Severity), String)> = Vec::new();
    for (position, kernel) in report.analysis.kernels.iter().enumerate() {
        let Some(found) = report.findings.by_kernel.get(position) else { continue };
        // One step per kernel: that of its gravest finding with something to win.
        let mut winning = found.iter().filter(|finding| finding.at_stake_s > 0.0);
        let first = winning.find_map(|finding| Some((finding, finding.next.as_ref()?)));
        let Some((finding, next)) = first else { continue };
        let win = win(finding, kernel);
        if win > 0.0 {
            let shown = name(kernel, style);
            let group = report.analysis.group_of(kernel);
            let (urgency, of) = match group.and_then(GroupTotals::verdict) {
                Some(Target::Missed) => {
                    (2, format!(" of {}, which misses its target", kernel.group))
                }
                Some(Target::Met) => (0, String::new()),
                Some(Target::CannotTell) | None => (1, String::new()),
            };
            let most = most(finding, win);
            let text = format!("{shown}{of}: {next} ({}, {most})", finding.rule);
            steps.push(((urgency, win, finding.severity), text));
        }
    }
    for finding in report.findings.run.iter().filter(|one| one.severity >= Severity::Medium) {
        if let Some(next) = &finding.next {
            let stake = finding.at_stake_s;
            let win =
                if stake > 0.0 { format!(", at most {}", si(stake, "s")) } else { String::new() };
            steps.push((
                (1, stake, finding.severity),
                format!("the run: {next} ({}{win})", finding.rule),
            ));
        }
    }
    steps.sort_by(|(one, text), (two, other)| {
        let by_win = two.0.cmp(&one.0).then(two.1.total_cmp(&one.1));
        by_win.then(two.2.cmp(&one.2)).then_with(|| text.cmp(other))
    });
    steps.truncate(STEPS);
    steps.into_iter().map(|(_, text)| printable(&text)).collect()
}

/// What a cure can win at most, in seconds. A better implementation on the same pipes leads to the
/// structural expectation of the kernel; another pipe leads to another roof.
fn win(finding: &Finding, kernel: &Kernel) -> f64 {
    match finding.estimator {
        "pipe" => finding.at_stake_s,
        _ => finding.at_stake_s.min(kernel.recoverable.get()),
    }
}

/// What can be won in words. What another pipe would bring is no part of what the report calls recoverable,
/// which is for the pipes the kernel uses.
fn most(finding: &Finding, win: f64) -> String {
    let win = si(win, "s");
    match finding.estimator {
        "pipe" => format!("at most {win}, on another pipe and so not in Recoverable"),
        _ => format!("at most {win}"),
    }
}

/// Causes with much at stake on kernels that are no opportunity, such as a product at the roof of a slow
/// pipe: the ranking does not show them.
pub(super) fn beside(report: &Report<'_>, style: &Style) -> Vec<String> {
    const LINES: usize = 5;
    let kernels = report.analysis.kernels.iter().zip(&report.findings.by_kernel);
    let apart = kernels
        .filter(|(kernel, _)| kernel.state != State::Opportunity && kernel.state != State::Waived)
        // At its roof, another pipe or format is all that is left.
        .map(|(kernel, found)| (kernel, found, kernel.state == State::NearRoof));
    let mut found: Vec<(&Kernel, &Finding)> = apart
        .filter_map(|(kernel, found, is_near)| {
            // What a better implementation wins is among the next steps.
            let is_step = |one: &&Finding| one.estimator != "pipe" && win(one, kernel) > 0.0;
            let grave = found.iter().filter(|one| {
                one.severity >= Severity::Medium && one.at_stake_s > 0.0 && is_built_in(one)
            });
            let grave = grave.filter(|one| !is_step(one) && (!is_near || one.estimator == "pipe"));
            let first = grave.max_by(|one, two| one.at_stake_s.total_cmp(&two.at_stake_s))?;
            Some((kernel, first))
        })
        .collect();
    found.sort_by(|one, two| {
        two.1.at_stake_s.total_cmp(&one.1.at_stake_s).then(one.0.rank.cmp(&two.0.rank))
    });
    let line = |(kernel, finding): &(&Kernel, &Finding)| {
        let most = most(finding, finding.at_stake_s);
        let state = kernel.state.label();
        format!("{} ({state}): {}; {most}", name(kernel, style), sentence(finding))
    };
    let mut lines: Vec<String> = found.iter().take(LINES).map(line).collect();
    if found.len() > LINES {
        let more = count((found.len() - LINES) as u64, "more kernel", "more kernels");
        lines.push(format!("and {more}; JSON lists all"));
    }
    lines
}

fn is_built_in(finding: &Finding) -> bool {
    rules::rule(&finding.rule).is_some()
}

/// The causes found on a kernel, a sentence each. What is only to be known of how it was measured, with nothing
/// to win, is no cause: a note, where there is something to do about it; JSON and `--explain` have all.
pub(super) fn causes(found: &[Finding]) -> impl Iterator<Item = String> {
    found.iter().filter_map(|finding| {
        if !rules::is_remark(finding) {
            return Some(sentence(finding));
        }
        let note = || format!("note, {}: {}", finding.rule, printable(&finding.message));
        finding.next.is_some().then(note)
    })
}

/// A finding in one sentence, with the next experiment.
pub(super) fn sentence(finding: &Finding) -> String {
    let next = finding.next.as_ref();
    let next = next.map_or_else(String::new, |next| format!("; try: {next}"));
    format!("{}: {}{next}", finding.rule, printable(&finding.message))
}

/// What was found about the whole run, the gravest first; with the kernels it concerns.
pub(super) fn run(report: &Report<'_>) -> Vec<String> {
    const KERNELS: usize = 3;
    let lines = report.findings.run.iter().map(|finding| {
        let shown: Vec<String> =
            finding.kernels.iter().take(KERNELS).map(|name| printable(name)).collect();
        let more = finding.kernels.len().saturating_sub(KERNELS);
        let kernels = match (shown.is_empty(), more) {
            (true, _) => String::new(),
            (false, 0) => format!(" [{}]", shown.join(", ")),
            (false, more) => format!(" [{} and {more} more]", shown.join(", ")),
        };
        format!("{}, {}{kernels}", finding.severity.label(), sentence(finding))
    });
    lines.collect()
}

/// What rules of the user's own found, a line each. Findings stand under opportunities only, and a
/// custom rule may speak of any kernel.
pub(super) fn own(report: &Report<'_>, style: &Style) -> Vec<String> {
    let tallies = report.findings.tally.iter();
    let own = tallies.filter(|tally| rules::rule(&tally.rule).is_none());
    let lines = own.filter_map(|tally| {
        let kernels = report.analysis.kernels.iter().zip(&report.findings.by_kernel);
        let found: Vec<(&Kernel, &Finding)> = kernels
            .filter_map(|(kernel, found)| {
                Some((kernel, found.iter().find(|finding| finding.rule == tally.rule)?))
            })
            .collect();
        // Of equals the first of the ranking.
        let (kernel, finding) = found.iter().rev().max_by(|one, two| {
            let graver = one.1.severity.cmp(&two.1.severity);
            graver.then(one.0.measured.get().total_cmp(&two.0.measured.get()))
        })?;
        let kernel = name(kernel, style);
        let on = match found.len() {
            1 => kernel,
            many => format!("{many} kernels, such as {kernel}"),
        };
        let (severity, rule, message) = (finding.severity.label(), &finding.rule, &finding.message);
        Some(printable(&format!("{severity}, {rule} on {on}: {message}")))
    });
    lines.collect()
}

/// How many rules could not judge something, and what most of them lacked.
pub(super) fn blind(report: &Report<'_>) -> Option<String> {
    let blind = report.findings.tally.iter().filter(|tally| tally.cannot_judge > 0).count();
    (blind > 0).then(|| {
        let (rules, were) = if blind == 1 { ("rule", "was") } else { ("rules", "were") };
        format!(
            "{blind} {rules} {were} skipped on some kernels because metrics are missing; `rooflint \
             inspect` prints the command that collects them, JSON lists what each rule lacked"
        )
    })
}
