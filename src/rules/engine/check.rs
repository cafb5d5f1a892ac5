//! Runs the rules: on which kernels, which findings count, and which silence others.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;

use super::custom;
use super::finding::{Finding, Severity};
use super::rule::{Check, Missing, Rule};
use super::run::Run;
use super::settings::Settings;
use super::subject::Subject;
use crate::analysis::{Analysis, Kernel, State};
use crate::model::Profile;
use crate::units::Seconds;

/// The findings of an analysis, and what each rule could say.
#[derive(Debug, Default)]
pub struct Findings {
    /// For each kernel of the analysis, in its order; the gravest first.
    pub by_kernel: Vec<Vec<Finding>>,
    /// About the whole run; the gravest first.
    pub run: Vec<Finding>,
    /// What each rule that ran could say.
    pub tally: Vec<Tally>,
}

/// What a rule could say of the kernels it looked at; of the run as of one kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// The rule.
    pub rule: Cow<'static, str>,
    /// It found something.
    pub found: usize,
    /// It found something with too little time at stake to show.
    pub minor: usize,
    /// It found something that another finding explains.
    pub silenced: usize,
    /// It was content.
    pub content: usize,
    /// It could not judge, for want of a metric.
    pub cannot_judge: usize,
    /// The metrics it lacked, and for how many kernels.
    pub missing: BTreeMap<&'static str, usize>,
}

/// Findings with less at stake than this share of the run and this time are counted, not shown.
const SHOWN_SHARE: f64 = 0.005;
const SHOWN_TIME: Seconds = Seconds::new(20e-6);

/// Runs those of the rules that the settings do not leave out, then the custom ones.
pub(in crate::rules) fn check(
    rules: &[&'static Rule],
    profile: &Profile,
    analysis: &Analysis,
    settings: &Settings,
) -> Findings {
    let mut findings =
        Findings { by_kernel: vec![Vec::new(); analysis.kernels.len()], ..Findings::default() };
    for rule in rules.iter().copied().filter(|rule| settings.runs(rule.id)) {
        let mut tally = Tally::new(rule.id);
        match rule.check {
            Check::Kernel(check) | Check::KernelAlso(_, check) => {
                for (kernel, found) in analysis.kernels.iter().zip(&mut findings.by_kernel) {
                    if !is_examined(rule, kernel) {
                        continue;
                    }
                    let subject = Subject { rule, kernel, analysis, settings };
                    match check(&subject) {
                        Ok(Some(finding)) if finding.is_fixed && kernel.share < SHOWN_SHARE => {
                            tally.minor += 1;
                            drop(finding);
                        }
                        Ok(Some(finding)) => {
                            // What can be won of an opportunity is worth its cause, however small.
                            let is_shown = kernel.state == State::Opportunity;
                            let weighed = weighed(finding, analysis, is_shown, &mut tally);
                            if let Some(finding) = weighed {
                                found.push(finding);
                            }
                        }
                        Ok(None) => tally.content += 1,
                        Err(missing) => tally.lacks(missing),
                    }
                }
            }
            Check::Run(check) => match check(&Run { rule, analysis, settings }) {
                Ok(found) if found.is_empty() => tally.content += 1,
                Ok(found) => {
                    for finding in found {
                        findings.run.extend(weighed(finding, analysis, false, &mut tally));
                    }
                }
                Err(missing) => tally.lacks(missing),
            },
        }
        findings.tally.push(tally);
    }
    custom::check_kernels(&mut findings, analysis, settings);
    for found in &mut findings.by_kernel {
        silence(rules, found, &mut findings.tally);
        sort(found);
    }
    silence(rules, &mut findings.run, &mut findings.tally);
    sort(&mut findings.run);
    custom::check_launches(&mut findings, profile, analysis, settings);
    findings
}

impl Tally {
    pub(in crate::rules) fn new(rule: impl Into<Cow<'static, str>>) -> Self {
        Self {
            rule: rule.into(),
            found: 0,
            minor: 0,
            silenced: 0,
            content: 0,
            cannot_judge: 0,
            missing: BTreeMap::new(),
        }
    }

    pub(in crate::rules) fn lacks(&mut self, Missing(metric): Missing) {
        self.cannot_judge += 1;
        *self.missing.entry(metric).or_default() += 1;
    }
}

/// Whether a rule looks at a kernel at all.
fn is_examined(rule: &Rule, kernel: &Kernel) -> bool {
    kernel.measured > Seconds::ZERO && rule.check.looks_at(kernel.state)
}

/// A finding with its severity, or nothing where it is too small to show.
pub(in crate::rules) fn weighed(
    mut finding: Finding,
    analysis: &Analysis,
    is_shown: bool,
    tally: &mut Tally,
) -> Option<Finding> {
    let total = analysis.totals.measured;
    if !finding.is_fixed {
        let floor = (total * SHOWN_SHARE).max(SHOWN_TIME);
        // A run shorter than the floor itself would show nothing.
        let floor = floor.min(total * 0.05);
        let is_shown = is_shown && finding.at_stake_s > 0.0;
        if finding.at_stake_s < floor.get() && !is_shown {
            tally.minor += 1;
            return None;
        }
        finding.severity = Severity::of_share(finding.at_stake_s / total.get());
    }
    tally.found += 1;
    Some(finding)
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
    found.retain(|finding| {
        let is_silenced = rules
            .iter()
            .any(|rule| rule.silences.contains(&&*finding.rule) && explains(rule.id, finding));
        if is_silenced
            && let Some(tally) = tally.iter_mut().find(|tally| tally.rule == finding.rule)
        {
            tally.found -= 1;
            tally.silenced += 1;
        }
        !is_silenced
    });
}

/// The gravest first, then by time at stake; else in the order of the rules.
pub(in crate::rules) fn sort(found: &mut [Finding]) {
    found.sort_by(|one, two| {
        two.severity.cmp(&one.severity).then(two.at_stake_s.total_cmp(&one.at_stake_s))
    });
}
