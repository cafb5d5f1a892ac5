//! What the rules advise, as all human-readable outputs show it.

use std::collections::HashSet;

use crate::analysis::{GroupTotals, Kernel, State, Target};
use crate::model::{KernelName, Profiler};
use crate::report::Report;
use crate::report::view::{Style, count, name, printable, si};
use crate::rules::{self, Finding, Severity};
use crate::units::Seconds;

/// The most important next steps, a line each, at most five: those in groups that miss their target
/// first, those in groups that meet theirs last.
pub(super) fn next_steps(report: &Report<'_>, style: &Style) -> Vec<String> {
    const STEPS: usize = 5;
    let mut steps: Vec<Step> = Vec::new();
    for (position, kernel) in report.analysis.kernels.iter().enumerate() {
        let found = report.findings.by_kernel.get(position).map_or(&[][..], Vec::as_slice);
        // One step per kernel: that of its gravest finding with something to win.
        let mut winning = found.iter().filter(|finding| finding.at_stake_s > 0.0);
        let first = winning.find_map(|finding| Some((finding, finding.next.as_ref()?)));
        let first = first.filter(|(finding, _)| win(finding, kernel) > 0.0);
        let (next, rule, severity) = match first {
            Some((finding, next)) => (next.clone(), Some(finding), finding.severity),
            // What can be won is worth a question where no rule knows why.
            None if report.analysis.is_ranked(kernel) && most_of(kernel) > Seconds::ZERO => {
                (measure(report, kernel), None, Severity::Low)
            }
            None => continue,
        };
        let win = rule.map_or(most_of(kernel).get(), |finding| win(finding, kernel));
        let group = report.analysis.group_of(kernel);
        let (urgency, of) = match group.and_then(GroupTotals::verdict) {
            Some(Target::Missed) => (2, format!(" of {}, which misses its target", kernel.group)),
            Some(Target::Met) => (0, String::new()),
            Some(Target::CannotTell) | None => (1, String::new()),
        };
        let what = format!("{}{of}: {next}", name(kernel, style));
        let id = rule.map_or("", |finding| &*finding.rule);
        let apart = match rule {
            Some(finding) if finding.estimator == "pipe" => Apart::Pipe,
            _ if !kernel.is_winnable => Apart::Open,
            _ => Apart::No,
        };
        // The grids of a kernel that want the same are one step.
        let same = steps
            .iter_mut()
            .find(|step| step.what == what && step.rule == id && step.apart == apart);
        match same {
            Some(step) => {
                step.win += win;
                step.severity = step.severity.max(severity);
                step.kernels.push(position);
            }
            None => steps.push(Step {
                urgency,
                win,
                severity,
                what,
                rule: id.to_owned(),
                apart,
                kernels: vec![position],
            }),
        }
    }
    for finding in report.findings.run.iter().filter(|one| one.severity >= Severity::Medium) {
        if let Some(next) = &finding.next {
            let all = report.analysis.kernels.iter().enumerate();
            let of_finding =
                all.filter(|(_, kernel)| finding.kernels.iter().any(|name| **name == *kernel.name));
            steps.push(Step {
                urgency: 1,
                win: finding.at_stake_s,
                severity: finding.severity,
                what: format!("the run: {next}"),
                rule: finding.rule.to_string(),
                apart: Apart::No,
                kernels: of_finding.map(|(position, _)| position).collect(),
            });
        }
    }
    steps.sort_by(|one, two| {
        let by_win = two.urgency.cmp(&one.urgency).then(two.win.total_cmp(&one.win));
        by_win.then(two.severity.cmp(&one.severity)).then_with(|| one.what.cmp(&two.what))
    });
    // Two ways to win the same time are one step, the larger: each microsecond is claimed once.
    let mut claimed = HashSet::new();
    steps.retain(|step| {
        let is_new = step.kernels.is_empty()
            || step.kernels.iter().any(|position| !claimed.contains(position));
        claimed.extend(step.kernels.iter().copied().filter(|_| is_new));
        is_new
    });
    steps.truncate(STEPS);
    steps.iter().map(|step| printable(&step.sentence())).collect()
}

/// Whether what a step wins is in the sum that the report calls savings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Apart {
    /// It is.
    No,
    /// On another pipe than the kernel uses.
    Pipe,
    /// Nothing shows that it can be won.
    Open,
}

/// Something to do first.
struct Step {
    /// Of a group that misses its target, or of one that meets it.
    urgency: u8,
    /// At most, in seconds; zero where it is not known.
    win: f64,
    severity: Severity,
    /// Of which kernel, and what to do.
    what: String,
    /// The rule that says so; empty where none does.
    rule: String,
    apart: Apart,
    /// The kernels whose time it would win, by position.
    kernels: Vec<usize>,
}

impl Step {
    fn sentence(&self) -> String {
        let most = (self.win > 0.0).then(|| most(self.apart, self.win));
        let rule = Some(self.rule.clone()).filter(|rule| !rule.is_empty());
        let why: Vec<String> = rule.into_iter().chain(most).collect();
        if why.is_empty() {
            self.what.clone()
        } else {
            format!("{} ({})", self.what, why.join(", "))
        }
    }
}

/// What to measure of a kernel whose cause no rule tells.
fn measure(report: &Report<'_>, kernel: &Kernel) -> String {
    let source = report.analysis.sources.iter().any(|one| one.profiler == Profiler::NsightCompute);
    // Templates and namespaces are no part of the name that ncu filters by.
    let head = KernelName::parse(&kernel.full_name).head;
    let base = head.split(['<', '(']).next().unwrap_or_default();
    let base = base.rsplit([':', ' ']).next().unwrap_or_default();
    let is_name = !base.is_empty() && base.chars().all(|one| one.is_alphanumeric() || one == '_');
    let filter = if is_name { format!("-k {base} ") } else { String::new() };
    let command = format!("ncu --set full --import-source yes {filter}-o why APP");
    if source {
        format!("no rule tells why it takes so long; see where its warps wait: `{command}`")
    } else {
        format!("measure what it waits for: `{command}`")
    }
}

/// What can be won of a kernel at most, where it is open whether it can.
fn most_of(kernel: &Kernel) -> Seconds {
    if kernel.is_winnable { kernel.savings } else { kernel.savings_high }
}

/// What a cure can win at most, in seconds. A better implementation on the same pipes leads to the
/// structural expectation of the kernel; another pipe leads to another roof.
fn win(finding: &Finding, kernel: &Kernel) -> f64 {
    match finding.estimator {
        "pipe" => finding.at_stake_s,
        _ => finding.at_stake_s.min(most_of(kernel).get()),
    }
}

/// What can be won in words. What another pipe would bring is no part of what the report calls savings,
/// which is for the pipes the kernel uses.
fn most(apart: Apart, win: f64) -> String {
    let win = si(win, "s");
    let apart = match apart {
        Apart::No => "",
        Apart::Pipe => ", on another pipe and so not in Savings",
        Apart::Open => ", not in Savings: whether it can be won is open",
    };
    format!("at most {win}{apart}")
}

/// Causes with much at stake on kernels that are no opportunity, such as a product at the roof of a slow
/// pipe: the ranking does not show them.
pub(super) fn beside(report: &Report<'_>, style: &Style) -> Vec<String> {
    const LINES: usize = 5;
    let kernels = report.analysis.kernels.iter().zip(&report.findings.by_kernel);
    let apart = kernels
        .filter(|(kernel, _)| kernel.state != State::Flagged && kernel.state != State::Waived)
        // At its roof, another pipe or format is all that is left.
        .map(|(kernel, found)| (kernel, found, kernel.state == State::NearRoofline));
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
        let apart = if finding.estimator == "pipe" { Apart::Pipe } else { Apart::No };
        let most = most(apart, finding.at_stake_s);
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

/// That rules could not judge something. How many would change in every report with each
/// new rule, and tells nobody what to do.
pub(super) fn blind(report: &Report<'_>) -> Option<String> {
    report.findings.tally.iter().any(|tally| tally.cannot_judge > 0).then(|| {
        "some rules were skipped on some kernels because metrics are missing; `rooflint inspect` \
         prints the command that collects them, JSON lists what each rule lacked"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::bench::{Bench, run as judged};
    use crate::rules::Tally;

    fn ms(time: f64) -> Seconds {
        Seconds::new(time * 1e-3)
    }

    /// A kernel of 4 ms that a better implementation makes 1 ms faster: no cure on its pipe wins more.
    #[test]
    fn a_step_wins_no_more_than_its_kernel_can() {
        let mut bench = judged(&[("a", State::Flagged, 4.0)]);
        bench.analysis.kernels[0].savings = ms(1.0);
        let step = |mut finding: Finding, estimator: &'static str, bench: &mut Bench| {
            finding.estimator = estimator;
            bench.findings.by_kernel[0] = vec![finding];
            next_steps(&bench.report(), &Style::default())
        };
        let finding = bench.finding("one", Severity::High, 3.0);
        assert_eq!(step(finding.clone(), "gap", &mut bench), ["a: next (one, at most 1.00 ms)"]);
        assert_eq!(
            step(finding.clone(), "pipe", &mut bench),
            ["a: next (one, at most 3.00 ms, on another pipe and so not in Savings)"]
        );
        let mut nothing = finding;
        nothing.next = None;
        let asked = step(nothing, "gap", &mut bench);
        assert_eq!(
            asked,
            ["a: no rule tells why it takes so long; see where its warps wait: `ncu --set full \
              --import-source yes -k a -o why APP` (at most 1.00 ms)"]
        );
    }

    /// Six kernels win 1 to 6 ms; the run itself may win 4.5 ms, and what is hardly grave is no step.
    #[test]
    fn the_five_largest_steps_are_shown() {
        let names = ["a", "b", "c", "d", "e", "f"];
        let mut bench = judged(&names.map(|name| (name, State::Flagged, 10.0)));
        for at in 0..6 {
            let win = (at + 1) as f64;
            bench.analysis.kernels[at].savings = ms(win);
            bench.findings.by_kernel[at] = vec![bench.finding("one", Severity::High, win)];
        }
        bench.findings.run = vec![
            bench.finding("run-wide", Severity::Medium, 4.5),
            bench.finding("hardly", Severity::Low, 9.0),
        ];
        let steps = next_steps(&bench.report(), &Style::default());
        let of: Vec<&str> = steps.iter().map(|step| step.split_once(':').unwrap().0).collect();
        assert_eq!(of, ["f", "e", "the run", "d", "c"]);
        assert_eq!(steps[2], "the run: next (run-wide, at most 4.50 ms)");
    }

    /// b wins less, but is in a group that reaches 5 ms of 10 ms where 70% are wanted; c's reaches them.
    #[test]
    fn groups_that_miss_their_target_come_first_and_those_that_meet_it_last() {
        let names = ["a", "b", "c"];
        let mut bench = judged(&names.map(|name| (name, State::Flagged, 10.0)));
        for (at, expected) in [(1, 5.0), (2, 8.0)] {
            let mut group = GroupTotals::default();
            group.name = names[at].into();
            (group.judged, group.target) = (ms(10.0), Some(0.7));
            (group.roofline_time, group.roofline_time_high) = (ms(expected), ms(expected));
            bench.analysis.groups.push(group);
        }
        for (at, win) in [(0, 2.0), (1, 1.0), (2, 3.0)] {
            let kernel = &mut bench.analysis.kernels[at];
            (kernel.savings, kernel.group) = (ms(win), names[at].into());
            bench.findings.by_kernel[at] = vec![bench.finding("one", Severity::High, win)];
        }
        assert_eq!(
            next_steps(&bench.report(), &Style::default()),
            [
                "b of b, which misses its target: next (one, at most 1.00 ms)",
                "a: next (one, at most 2.00 ms)",
                "c: next (one, at most 3.00 ms)",
            ]
        );
    }

    /// The run wins 3 ms in a, of which a itself wins 2: one step; b's own stays.
    #[test]
    fn each_microsecond_is_claimed_by_one_step() {
        let mut bench = judged(&["a", "b"].map(|name| (name, State::Flagged, 10.0)));
        for (at, win) in [(0, 2.0), (1, 1.0)] {
            bench.analysis.kernels[at].savings = ms(win);
            bench.findings.by_kernel[at] = vec![bench.finding("one", Severity::High, win)];
        }
        let mut whole = bench.finding("run-wide", Severity::Medium, 3.0);
        whole.kernels = vec!["a".to_owned()];
        bench.findings.run = vec![whole];
        assert_eq!(
            next_steps(&bench.report(), &Style::default()),
            ["the run: next (run-wide, at most 3.00 ms)", "b: next (one, at most 1.00 ms)"]
        );
    }

    #[test]
    fn grids_of_a_kernel_that_want_the_same_are_one_step() {
        let mut bench = judged(&["a", "a"].map(|name| (name, State::Flagged, 10.0)));
        for at in 0..2 {
            bench.analysis.kernels[at].savings = ms(2.0);
            bench.findings.by_kernel[at] = vec![bench.finding("one", Severity::High, 1.0)];
        }
        let steps = next_steps(&bench.report(), &Style::default());
        assert_eq!(steps, ["a: next (one, at most 2.00 ms)"]);
    }

    #[test]
    fn grave_causes_on_kernels_that_are_no_opportunity_are_told_beside() {
        let state = [State::Flagged, State::NearRoofline, State::Waived, State::Fair, State::Fair];
        let names = ["a", "b", "c", "d", "e"];
        let kernels: Vec<_> =
            names.into_iter().zip(state).map(|(name, state)| (name, state, 5.0)).collect();
        let mut bench = judged(&kernels);
        let rule = rules::RULES[0].id;
        for at in 0..3 {
            let mut finding = bench.finding(rule, Severity::Medium, 2.0);
            // At a roof, another pipe is all that is left.
            finding.estimator = "pipe";
            bench.findings.by_kernel[at] = vec![finding];
        }
        // A low one, and one of the user's own rules.
        bench.findings.by_kernel[3] = vec![
            bench.finding(rule, Severity::Low, 2.0),
            bench.finding("my-own", Severity::High, 2.0),
        ];
        // What a better implementation wins is among the steps.
        bench.analysis.kernels[4].savings = ms(1.0);
        bench.findings.by_kernel[4] = vec![bench.finding(rule, Severity::High, 2.0)];
        let text = format!(
            "b (near roofline): {rule}: message; try: next; at most 2.00 ms, on another pipe and so \
             not in Savings"
        );
        assert_eq!(beside(&bench.report(), &Style::default()), [text]);
    }

    #[test]
    fn what_own_rules_found_is_told_by_its_gravest_kernel() {
        let kernels = [("a", State::Fair, 3.0), ("b", State::Fair, 5.0), ("c", State::Fair, 9.0)];
        let mut bench = judged(&kernels);
        for (at, severity) in [(0, Severity::High), (1, Severity::High), (2, Severity::Low)] {
            bench.findings.by_kernel[at] = vec![bench.finding("my-own", severity, 0.0)];
        }
        let tally = |rule: &'static str, cannot_judge: usize| Tally {
            rule: rule.into(),
            found: 3,
            minor: 0,
            silenced: 0,
            content: 0,
            cannot_judge,
            missing: std::collections::BTreeMap::default(),
        };
        bench.findings.tally = vec![tally("my-own", 0), tally(rules::RULES[0].id, 0)];
        let told = own(&bench.report(), &Style::default());
        assert_eq!(told, ["high, my-own on 3 kernels, such as b: message"]);
        assert_eq!(blind(&bench.report()), None);
        bench.findings.tally[1].cannot_judge = 7;
        assert!(blind(&bench.report()).unwrap().starts_with("some rules were skipped"));
    }

    #[test]
    fn findings_about_the_run_name_three_of_their_kernels() {
        let mut bench = judged(&[("a", State::Fair, 1.0)]);
        let finding = |names: &[&str], bench: &Bench| {
            let mut finding = bench.finding("one", Severity::Low, 0.0);
            finding.kernels = names.iter().map(|name| (*name).to_owned()).collect();
            finding.next = None;
            finding
        };
        bench.findings.run =
            vec![finding(&[], &bench), finding(&["a", "b", "c", "d", "e"], &bench)];
        let lines = run(&bench.report());
        assert_eq!(lines, ["low, one: message", "low, one: message [a, b, c and 2 more]"]);
    }
}
