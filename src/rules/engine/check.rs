//! Runs the rules: on which kernels, which findings count, and which silence others.

use std::collections::HashSet;

use super::custom;
use super::finding::Finding;
use super::findings::{Findings, SHOWN_SHARE, Slight, Tally, accounts, is_worth_it, sort, weighed};
use super::rule::{Check, Rule};
use super::run::Run;
use super::settings::Settings;
use super::subject::Subject;
use crate::analysis::{Analysis, Kernel, State};
use crate::model::Profile;
use crate::units::Seconds;

/// Runs those of the rules that the settings do not leave out, then the custom ones.
pub(in crate::rules) fn check(
    rules: &[&'static Rule],
    profile: &Profile,
    analysis: &Analysis,
    settings: &Settings,
) -> Findings {
    let mut findings = Findings::default();
    let mut slight: Vec<Slight> = Vec::new();
    for rule in rules.iter().copied().filter(|rule| settings.runs(rule.id)) {
        let mut tally = Tally::new(rule.id);
        let mut skipped = Vec::new();
        match rule.check {
            Check::Kernel(check) | Check::KernelAlso(_, check) => {
                for (position, kernel) in analysis.kernels.iter().enumerate() {
                    if !is_examined(rule, kernel) {
                        // It is not counted, and says as little of a kernel whose time is missing.
                        if rule.check.looks_at(kernel.state) {
                            skipped.push(position);
                        }
                        continue;
                    }
                    let subject = Subject { rule: rule.id, kernel, analysis, settings };
                    match check(&subject) {
                        Ok(Some(finding))
                            if finding.is_fixed
                                && analysis.totals.share(kernel.measured) < SHOWN_SHARE =>
                        {
                            tally.minor += 1;
                            drop(finding);
                        }
                        Ok(Some(finding)) => {
                            // What can be won of an opportunity is worth its cause, however small.
                            let accounts = accounts(&finding, kernel);
                            let is_shown = kernel.state == State::Flagged
                                || accounts && is_worth_it(&finding, analysis);
                            let at_stake_s = finding.at_stake_s;
                            match weighed(finding, analysis, is_shown, &mut tally) {
                                Some(finding) => findings.add(position, finding),
                                None if accounts => {
                                    slight.push(Slight { position, rule: rule.id, at_stake_s });
                                }
                                None => {}
                            }
                        }
                        Ok(None) => tally.content += 1,
                        Err(missing) => {
                            tally.lacks(missing);
                            skipped.push(position);
                        }
                    }
                }
            }
            Check::Run(check) => match check(&Run { rule: rule.id, analysis, settings }) {
                Ok(found) if found.is_empty() => tally.content += 1,
                Ok(found) => {
                    for finding in found {
                        findings.run.extend(weighed(finding, analysis, false, &mut tally));
                    }
                }
                Err(missing) => tally.lacks(missing),
            },
        }
        findings.skipped.add(tally.rule.clone(), &skipped);
        findings.tally.push(tally);
    }
    custom::check_kernels(&mut findings, analysis, settings);
    leave_explained(rules, &findings, &mut slight);
    findings.account(&slight);
    findings.by_kernel.retain(|_, found| {
        silence(rules, found, &mut findings.tally);
        agree(found, &mut findings.tally);
        sort(found);
        !found.is_empty()
    });
    silence(rules, &mut findings.run, &mut findings.tally);
    sort(&mut findings.run);
    custom::check_launches(&mut findings, profile, analysis, settings);
    findings
}

/// Leaves out slight causes that another finding of their kernel explains.
fn leave_explained(rules: &[&Rule], findings: &Findings, slight: &mut Vec<Slight>) {
    let silencing = |rule: &str| {
        let speakers = rules.iter().filter(|one| one.silences.contains(&rule));
        speakers.map(|one| one.id).collect::<Vec<_>>()
    };
    let speaks: HashSet<(usize, &str)> =
        slight.iter().map(|one| (one.position, one.rule)).collect();
    slight.retain(|one| {
        let found = findings.of(one.position);
        !silencing(one.rule).into_iter().any(|speaker| {
            speaks.contains(&(one.position, speaker))
                || found.iter().any(|finding| *finding.rule == *speaker)
        })
    });
}

/// Whether a rule looks at a kernel at all.
fn is_examined(rule: &Rule, kernel: &Kernel) -> bool {
    kernel.measured > Seconds::ZERO && rule.check.looks_at(kernel.state)
}

/// Leaves out findings that another one explains, which is about the same kernels or more.
fn silence(rules: &[&Rule], found: &mut Vec<Finding>, tally: &mut [Tally]) {
    let speaks: Vec<(String, Vec<String>, f64)> = found
        .iter()
        .map(|finding| (finding.rule.to_string(), finding.kernels.clone(), finding.at_stake_s))
        .collect();
    let explains = |rule: &str, other: &Finding| {
        speaks.iter().any(|(speaker, kernels, at_stake)| {
            // Findings about a run name only their longest kernels: what is at stake tells of the others.
            let covers = other.kernels.is_empty()
                || *at_stake >= other.at_stake_s
                    && other.kernels.iter().all(|name| kernels.contains(name));
            speaker == rule && covers
        })
    };
    leave_out(found, tally, |finding| {
        let mut silencing = rules.iter().filter(|rule| rule.silences.contains(&&*finding.rule));
        silencing.any(|rule| explains(rule.id, finding))
    });
}

/// Rules whose cures pull one kernel in opposite directions: more of a multiprocessor for each block, such as
/// larger tiles; less of it, for more blocks at once.
const MORE_FOR_A_BLOCK: [&str; 5] = [
    "low-tensor-utilization",
    "l2-bandwidth-bound",
    "l1-bandwidth-bound",
    "shared-bandwidth-bound",
    "register-spills",
];
const MORE_BLOCKS: [&str; 3] = ["occupancy-limited", "insufficient-parallelism", "small-grid"];

/// Leaves one direction of opposed cures: that of the surer finding, of equals that with more at stake.
fn agree(found: &mut Vec<Finding>, tally: &mut [Tally]) {
    let best = |rules: &[&str]| {
        let of = found.iter().filter(|finding| rules.contains(&&*finding.rule));
        of.map(|finding| (finding.confidence, finding.at_stake_s))
            .max_by(|one, two| one.0.cmp(&two.0).then(one.1.total_cmp(&two.1)))
    };
    let (Some(more), Some(less)) = (best(&MORE_FOR_A_BLOCK), best(&MORE_BLOCKS)) else { return };
    let out: &[&str] = if more.partial_cmp(&less).is_some_and(std::cmp::Ordering::is_lt) {
        &MORE_FOR_A_BLOCK
    } else {
        &MORE_BLOCKS
    };
    leave_out(found, tally, |finding| out.contains(&&*finding.rule));
}

/// Takes findings out and counts them as silenced.
fn leave_out(found: &mut Vec<Finding>, tally: &mut [Tally], is_out: impl Fn(&Finding) -> bool) {
    found.retain(|finding| {
        let is_silenced = is_out(finding);
        if is_silenced
            && let Some(tally) = tally.iter_mut().find(|tally| tally.rule == finding.rule)
        {
            tally.found -= 1;
            tally.silenced += 1;
        }
        !is_silenced
    });
}
