//! A second baseline: a release, or the oldest of a window. Against the newest one alone, a kernel that gets
//! 3% slower with every commit never exceeds its limit.

use std::collections::BTreeMap;

use super::decision::gravest_first;
use super::decision::{Check, Decision, Outcome, Verdict};
use super::judge::{Setting, concluded, judge};
use super::policy::{Action, Metric, Policy};
use super::words;
use crate::compare::Run;

/// Runs that stay the same while newer baselines come.
#[derive(Debug, Clone)]
pub struct Anchor {
    /// What it is called in reports: `oldest (4f2a91c)`.
    pub label: String,
    /// Its runs.
    pub runs: Vec<Run>,
}

/// Compares the current runs with an anchor too, by the same limits, and adds what exceeds them there
/// alone to a decision. The global shift is not judged again: machines change over months.
pub fn beside(
    decision: &mut Decision,
    anchor: &Anchor,
    current: &[Run],
    (policy, setting): (&Policy, &Setting),
) {
    // The order of runs is that of the newest baseline.
    let setting = Setting { order: Vec::new(), ..setting.clone() };
    let limits = Policy { bounds: Vec::new(), required: Vec::new(), ..policy.clone() };
    let found = judge(&anchor.runs, current, &limits, &setting);
    let label = &anchor.label;
    if matches!(found.outcome, Outcome::NothingMeasured | Outcome::DifferentDevices) {
        decision.notes.push(format!("anchor {label} was not compared: {}", found.reason));
        return;
    }
    let partial = found.checks.iter().filter(|check| check.rule == "coverage");
    decision.notes.extend(partial.map(|check| format!("anchor {label}: {}", check.message)));
    // A waiver that has nothing to accept against one baseline may have against the other.
    let of_waivers = policy.waivers.iter();
    let of_waivers = of_waivers.flat_map(|one| [true, false].map(|is| words::idle_waiver(one, is)));
    let idle: Vec<String> = of_waivers.collect();
    decision.notes.retain(|note| !idle.contains(note) || found.notes.contains(note));
    let added: Vec<Check> = found
        .checks
        .into_iter()
        .filter(|check| {
            let is_judged =
                matches!(check.metric, Metric::Time | Metric::KernelTotal | Metric::Total)
                    && matches!(check.verdict, Verdict::Regression | Verdict::Ambiguous);
            let is_known = decision.checks.iter().any(|known| {
                known.metric == check.metric
                    && known.subject == check.subject
                    && known.action >= check.action
            });
            is_judged && (check.action > Action::Notice || check.waived.is_some()) && !is_known
        })
        .map(|check| Check {
            rule: format!("anchor:{}", check.rule),
            message: format!("since anchor {label}: {}", check.message),
            ..check
        })
        .collect();
    let many = added.iter().filter(|check| check.action > Action::Notice).count();
    decision.notes.push(match many {
        0 => format!("compared with anchor {label} too: nothing more exceeds a limit"),
        _ => format!(
            "compared with anchor {label} too: {many} more than against the newest baseline"
        ),
    });
    if added.is_empty()
        || matches!(decision.outcome, Outcome::NothingMeasured | Outcome::DifferentDevices)
    {
        return;
    }
    decision.checks.extend(added);
    decision.checks.sort_by(gravest_first);
    let (outcome, reason) = concluded(&decision.checks);
    // What was inconclusive for a reason of its own stays so.
    if outcome != Outcome::Passed || decision.outcome == Outcome::Passed {
        (decision.outcome, decision.reason) = (outcome, reason);
    }
    decision.counts = BTreeMap::new();
    for check in &decision.checks {
        *decision.counts.entry(check.verdict).or_default() += 1;
    }
}
