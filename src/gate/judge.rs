//! Two sides and a policy → a decision.

use std::collections::BTreeMap;

use super::decision::{Check, Decision, Outcome, Subject, Verdict};
use super::policy::{Action, Metric, Policy};
use super::{bounds, kernels, whole, words};
use crate::compare::{self, Basis, Comparison, Lone, Run};
use crate::model::Date;

/// What a gate is told beside the policy.
#[derive(Debug, Clone, Default)]
pub struct Setting {
    /// The day on which waivers must still hold; none lets all of them hold.
    pub today: Option<Date>,
    /// The order in which the runs were taken, `true` for those of the current side; empty where it
    /// was not declared.
    pub order: Vec<bool>,
    /// Whether it decides (`gate`) or informs (`diff`).
    pub decides: bool,
}

/// Judges the current runs by a policy, against the baseline if there is one.
#[must_use]
pub fn judge(baseline: &[Run], current: &[Run], policy: &Policy, setting: &Setting) -> Decision {
    let mut decision = Decision {
        outcome: Outcome::Passed,
        warn_only: policy.warn_only,
        reason: String::new(),
        checks: Vec::new(),
        counts: BTreeMap::new(),
        comparison: None,
        guesses: Vec::new(),
        detectable: None,
        method: Vec::new(),
        notes: Vec::new(),
        decides: setting.decides,
    };
    if let Some(reason) = unmeasured(current, "the current side")
        .or_else(|| (!baseline.is_empty()).then(|| unmeasured(baseline, "the baseline")).flatten())
    {
        decision.outcome = Outcome::NothingMeasured;
        decision.checks.push(Check {
            verdict: Verdict::NoData,
            action: Action::Fail,
            ..Check::new("no-data", Metric::Presence, Subject::Run, reason.clone())
        });
        decision.reason = reason;
        decision.count();
        return decision;
    }
    let there: Vec<Lone> = compare::kernels(current);
    if baseline.is_empty() {
        decision.checks.extend(whole::missing(policy, |pattern| {
            there.iter().any(|lone| whole::named(pattern, &lone.name, &lone.measured.full_name))
        }));
    } else {
        let setting = compare::Setting { noise: policy.noise, order: setting.order.clone() };
        let comparison = compare::compare(baseline, current, &setting);
        if comparison.basis == Basis::Headroom && !policy.across_devices {
            return different_devices(decision, comparison);
        }
        let verdicts = kernels::judge(&comparison, policy);
        decision.checks.extend(whole::judge(&comparison, policy));
        decision.checks.extend(verdicts.checks);
        decision.detectable = verdicts.detectable;
        decision.guesses = whole::guesses(&comparison);
        decision.method = method(&comparison, policy);
        decision.notes.extend(comparison.notes.iter().cloned());
        if comparison.changes.is_empty() {
            decision.checks.push(Check {
                verdict: Verdict::Incomparable,
                action: Action::Fail,
                ..Check::new(
                    "no-match",
                    Metric::Presence,
                    Subject::Run,
                    "no kernel of the baseline is in the current side: is it the same program?"
                        .to_owned(),
                )
            });
        }
        decision.comparison = Some(comparison);
    }
    decision.checks.extend(bounds::judge(&there, current, policy));
    decision.waive(policy, &there, setting.today);
    decision.conclude();
    decision
}

/// Why there is nothing to judge in any run of a side.
fn unmeasured(runs: &[Run], side: &str) -> Option<String> {
    let empty = runs.iter().find(|run| run.timed_launches == 0 || run.measured_s <= 0.0);
    match empty {
        _ if runs.is_empty() => Some(format!("{side} has no run")),
        Some(run) if run.launches == 0 => Some(format!("{side}: {} holds no launch", run.label)),
        Some(run) => Some(format!("{side}: no launch of {} has a duration", run.label)),
        None => None,
    }
}

fn different_devices(mut decision: Decision, comparison: Comparison) -> Decision {
    let (one, two) =
        (comparison.baseline.devices.join(", "), comparison.current.devices.join(", "));
    decision.outcome = Outcome::DifferentDevices;
    decision.reason = format!(
        "the baseline ran on {one}, the current side on {two}: their times cannot be compared"
    );
    decision.checks.push(Check {
        verdict: Verdict::Incomparable,
        action: Action::Fail,
        ..Check::new("device", Metric::Presence, Subject::Run, decision.reason.clone())
    });
    decision.comparison = Some(comparison);
    decision.count();
    decision
}

/// How it was judged, for people who want to check it.
fn method(comparison: &Comparison, policy: &Policy) -> Vec<String> {
    let (one, two) = (comparison.baseline.labels.len(), comparison.current.labels.len());
    let mut told = Vec::new();
    if comparison.basis == Basis::Headroom {
        told.push(
            "the devices differ: kernels are compared by headroom, the distance from the roof of each \
             one's own device, not by time"
                .to_owned(),
        );
    }
    if one + two > 2 {
        told.push(format!(
            "{one} and {two} runs: the run is the unit; median of all ratios (Hodges–Lehmann), whose \
             distribution-free interval must lie beyond the limit, and a t test against the limit with \
             the variance pooled across kernels, at a false-discovery rate of {} %",
            policy.false_discovery * 100.0
        ));
    } else {
        let noise = policy.noise;
        told.push(format!(
            "one run a side: median of all ratios of launches (Hodges–Lehmann), whose distribution-free \
             interval must lie beyond the limit, and the declared noise decides: {} for a kernel, {} with \
             fewer than {} launches, {} for all together",
            words::relative(noise.kernel),
            words::relative(noise.few_launches),
            compare::Noise::ENOUGH,
            words::relative(noise.common)
        ));
    }
    told.push(if comparison.common.removed {
        format!(
            "the shift that all kernels share, {}, is taken out of each and judged by itself",
            words::change(comparison.common.evidence.shift)
        )
    } else {
        format!("no common shift is taken out: {}", comparison.common.reason)
    });
    told
}

impl Decision {
    /// Takes the kernels that waivers name out of the decision; they stay in the list.
    fn waive(&mut self, policy: &Policy, there: &[Lone], today: Option<Date>) {
        let known = if policy.waivers.is_empty() { Vec::new() } else { self.measured(there) };
        for waiver in &policy.waivers {
            let owner =
                waiver.owner.as_ref().map_or_else(String::new, |owner| format!(" ({owner})"));
            let fits = |check: &Check| match &check.subject {
                Subject::Kernel { name, full_name, shape, .. } => {
                    waiver.metric.is_none_or(|metric| metric == check.metric)
                        && known.iter().any(|(known, known_as)| {
                            known == name
                                && known_as.full_name == *full_name
                                && (known_as.shape == *shape || known_as.shape.is_empty())
                                && waiver.selector.fits(known, known_as)
                        })
                }
                // What is of the whole run is accepted by its metric.
                Subject::Run => {
                    waiver.metric == Some(check.metric) && waiver.selector.is_everything()
                }
            };
            let fitting: Vec<usize> = (0..self.checks.len())
                .filter(|at| fits(&self.checks[*at]) && self.checks[*at].action > Action::Notice)
                .collect();
            if let Some(expires) =
                waiver.expires.filter(|expires| today.is_some_and(|today| *expires < today))
            {
                self.notes.push(format!(
                    "a waiver{owner} expired on {expires} and changes nothing: {}",
                    waiver.reason
                ));
                continue;
            }
            if fitting.is_empty() {
                self.notes.push(format!(
                    "a waiver{owner} has nothing to accept and can go: {}",
                    waiver.reason
                ));
            }
            for at in fitting {
                self.checks[at].action = Action::Notice;
                self.checks[at].waived = Some(format!("{}{owner}", waiver.reason));
            }
        }
    }

    /// Every kernel of the current side and of the comparison, as selectors look at it.
    fn measured(&self, there: &[Lone]) -> Vec<(String, compare::Measured)> {
        let there = there.iter().map(|lone| (lone.name.clone(), lone.measured.clone()));
        let Some(comparison) = &self.comparison else { return there.collect() };
        let changes = comparison.changes.iter().map(|change| (&change.name, &change.after));
        let lone = comparison.new.iter().chain(&comparison.vanished);
        let lone = lone.map(|lone| (&lone.name, &lone.measured));
        let both = changes.chain(lone).map(|(name, measured)| (name.clone(), measured.clone()));
        there.chain(both).collect()
    }

    /// Orders the checks, counts them and says how it ends.
    fn conclude(&mut self) {
        self.checks.sort_by(|one, two| {
            let impact = |check: &Check| {
                check.delta_s.map_or_else(|| check.share.unwrap_or(0.0) * 1e-12, f64::abs)
            };
            two.action
                .cmp(&one.action)
                .then(one.verdict.cmp(&two.verdict))
                .then_with(|| impact(two).total_cmp(&impact(one)))
                .then_with(|| (&one.rule, &one.subject).cmp(&(&two.rule, &two.subject)))
        });
        let worst = self.checks.iter().map(|check| check.action).max().unwrap_or(Action::None);
        self.outcome = match worst {
            Action::Fail => Outcome::Failed,
            Action::Inconclusive => Outcome::Inconclusive,
            _ => Outcome::Passed,
        };
        let deciding: Vec<&Check> = self.deciding().collect();
        let reason = if deciding.is_empty() {
            let warnings = self.checks.iter().filter(|check| check.action == Action::Warn).count();
            match warnings {
                0 => "nothing is worse than the policy allows".to_owned(),
                1 => "nothing is certainly worse than the policy allows; 1 warning".to_owned(),
                many => {
                    format!("nothing is certainly worse than the policy allows; {many} warnings")
                }
            }
        } else {
            words::reason(&deciding)
        };
        self.reason = reason;
        self.count();
    }

    fn count(&mut self) {
        for check in &self.checks {
            *self.counts.entry(check.verdict).or_default() += 1;
        }
    }
}
