//! What the rules advise, as all human-readable outputs show it.

use super::brief::{self, Brief};
use super::entry::win;
use crate::analysis::{Kernel, State};
use crate::report::Report;
use crate::report::view::{Style, count, name, printable, si};
use crate::rules::{self, Finding, Severity, Tally};

/// Issues with much at stake in kernels that are not flagged, such as a product at the roof of a slow
/// pipe: the ranking does not show them.
pub(super) fn beside(report: &Report<'_>, style: &Style) -> Vec<String> {
    const LINES: usize = 5;
    let kernels = report.findings.of_kernels(report.analysis);
    let apart = kernels
        .filter(|(kernel, _)| kernel.state != State::Flagged && kernel.state != State::Waived)
        // At its roof, another pipe or format is all that is left.
        .map(|(kernel, found)| (kernel, found, kernel.state == State::NearRoofline));
    let mut found: Vec<(&Kernel, &Finding)> = apart
        .filter_map(|(kernel, found, is_near)| {
            // What a better implementation wins is among the next steps.
            let is_cached = kernel.state == State::CacheResident;
            let is_step = |one: &&Finding| {
                !is_cached && !one.goes_beyond_the_roof() && win(one, kernel) > 0.0
            };
            let grave = found.iter().filter(|one| {
                one.severity >= Severity::Medium && one.at_stake_s > 0.0 && is_built_in(one)
            });
            let grave =
                grave.filter(|one| !is_step(one) && (!is_near || one.goes_beyond_the_roof()));
            let first = grave.max_by(|one, two| one.at_stake_s.total_cmp(&two.at_stake_s))?;
            Some((kernel, first))
        })
        .collect();
    found.sort_by(|one, two| {
        two.1.at_stake_s.total_cmp(&one.1.at_stake_s).then(one.0.rank.cmp(&two.0.rank))
    });
    let line = |(kernel, finding): &(&Kernel, &Finding)| {
        // The savings of a kernel are for the pipes that it uses.
        let apart = if finding.goes_beyond_the_roof() { ", beyond the savings" } else { "" };
        let (state, most) = (kernel.state.label(), si(finding.at_stake_s, "s"));
        let (name, sentence) = (name(kernel, style), sentence(finding, true));
        format!("{name} ({state}): {sentence} (at most {most}{apart})")
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

/// The causes found on a kernel, a sentence each; without its next step that of the rule `told`, whose step stands
/// elsewhere. A remark on how it was measured is a note, where there is something to do about it; JSON and
/// `--explain` have all.
pub(super) fn causes(found: &[Finding], told: Option<&str>) -> impl Iterator<Item = String> {
    found.iter().filter_map(move |finding| {
        if !rules::is_remark(finding) {
            return Some(sentence(finding, told != Some(&*finding.rule)));
        }
        let note = || format!("note, {}: {}", finding.rule, printable(&finding.message));
        finding.next.is_some().then(note)
    })
}

/// A finding in one sentence, with its next step where that is wanted.
pub(super) fn sentence(finding: &Finding, has_next: bool) -> String {
    let next = finding.next.as_ref().filter(|_| has_next);
    let next = next.map_or_else(String::new, |next| format!("; try: {}", printable(next)));
    format!("{}: {}{next}", finding.rule, printable(&finding.message))
}

/// What was found about the whole run, the gravest first, with the kernels it concerns; without the next step where
/// the brief has it.
pub(super) fn run(report: &Report<'_>, brief: &Brief<'_>) -> Vec<String> {
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
        let mut steps = brief.steps.iter();
        let is_told = steps.any(|step| {
            std::ptr::eq(step.finding, finding) && brief::is_whole(finding, &step.sentence())
        });
        let is_told = is_told || brief::is_about_input(finding) && brief.missing.is_some();
        format!("{}, {}{kernels}", finding.severity.label(), sentence(finding, !is_told))
    });
    lines.collect()
}

/// What custom rules found, a line each: they may fire on any kernel, also on those that are not ranked.
pub(super) fn own(report: &Report<'_>, style: &Style) -> Vec<String> {
    let tallies = report.findings.tally.iter();
    let own = tallies.filter(|tally| rules::rule(&tally.rule).is_none());
    let lines = own.filter_map(|tally| {
        let kernels = report.findings.of_kernels(report.analysis);
        let found: Vec<(&Kernel, &Finding)> = kernels
            .filter_map(|(kernel, found)| {
                Some((kernel, found.iter().find(|finding| finding.rule == tally.rule)?))
            })
            .collect();
        if found.is_empty() && tally.minor > 0 {
            let kernels = count(tally.minor as u64, "kernel", "kernels");
            let rule = &tally.rule;
            return Some(format!(
                "minor, {rule} on {kernels}: too little time is at stake to show it there"
            ));
        }
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
        let next = finding.next.as_ref();
        let next = next.map_or_else(String::new, |next| format!("; try: {next}"));
        Some(printable(&format!("{severity}, {rule} on {on}: {message}{next}")))
    });
    lines.collect()
}

/// That rules were skipped. How many would change in every report with each new rule, and helps nobody.
pub(super) fn blind(report: &Report<'_>) -> Option<String> {
    report.findings.tally.iter().any(Tally::lacks_metrics).then(|| {
        let command = match report.analysis.supply(0.0) {
            Some(_) => "`rooflint inspect` prints the command that collects them, ",
            None => "",
        };
        format!(
            "some rules were skipped on some kernels because metrics are missing; {command}JSON lists what each rule lacked"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::bench::{Bench, run as judged};
    use crate::units::Seconds;

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
            bench.find(at, finding);
        }
        // A low one, and one of the user's own rules.
        let low = bench.finding(rule, Severity::Low, 2.0);
        let own = bench.finding("my-own", Severity::High, 2.0);
        bench.findings.by_kernel.insert(3, vec![low, own]);
        // What a better implementation wins is among the steps.
        bench.analysis.kernels[4].savings = Seconds::new(1e-3);
        bench.find(4, bench.finding(rule, Severity::High, 2.0));
        let text = format!(
            "b (near roofline): {rule}: message; try: next (at most 2.00 ms, beyond the \
             savings)"
        );
        assert_eq!(beside(&bench.report(), &Style::default()), [text]);
    }

    #[test]
    fn what_own_rules_found_is_told_by_its_gravest_kernel() {
        let kernels = [("a", State::Fair, 3.0), ("b", State::Fair, 5.0), ("c", State::Fair, 9.0)];
        let mut bench = judged(&kernels);
        for (at, severity) in [(0, Severity::High), (1, Severity::High), (2, Severity::Low)] {
            bench.find(at, bench.finding("my-own", severity, 0.0));
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
        assert_eq!(told, ["high, my-own on 3 kernels, such as b: message; try: next"]);
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
        let brief = Brief::of(&bench.report(), 5);
        let lines = run(&bench.report(), &brief);
        assert_eq!(lines, ["low, one: message", "low, one: message [a, b, c and 2 more]"]);
    }
}
