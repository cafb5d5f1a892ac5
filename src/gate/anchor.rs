//! A second baseline: a release, or the oldest of a window. Against the newest one alone, a kernel that gets
//! 3% slower with every commit never exceeds its limit.

use std::collections::BTreeSet;

use super::decision::{Check, Decision, Outcome, Verdict, counted, gravest_first};
use super::judge::{Setting, concluded, judge};
use super::policy::{Action, Metric, Policy};
use super::waive;
use crate::compare::Run;

/// Runs that stay the same while newer baselines come.
#[derive(Debug, Clone)]
pub struct Anchor {
    /// What it is called in reports: `oldest (4f2a91c)`.
    pub label: String,
    /// Its runs.
    pub runs: Vec<Run>,
}

/// Whether a metric is judged against an anchor, too. The global shift is not, as machines change over months; kernels that
/// came or went since then were reported when they did.
const fn is_judged(metric: Metric) -> bool {
    !matches!(metric, Metric::CommonShift | Metric::Presence)
}

/// Compares the current runs with an anchor too, by the same limits, and adds what exceeds them there
/// alone to a decision.
pub fn beside(
    decision: &mut Decision,
    anchor: &Anchor,
    current: &[Run],
    (policy, setting): (&Policy, &Setting),
) {
    // The order of runs is that of the newest baseline.
    let setting = Setting { order: Vec::new(), ..setting.clone() };
    let mut limits = Policy { bounds: Vec::new(), required: Vec::new(), ..policy.clone() };
    // Another version of rooflint has other rules: what they find is not new in the code.
    let version = env!("CARGO_PKG_VERSION");
    let is_other = |run: &Run| run.rooflint != version || run.rules.is_none();
    if anchor.runs.iter().any(is_other) {
        limits.limits.retain(|limit| limit.metric != Metric::Findings);
        if limits.limits.len() < policy.limits.len() {
            decision.notes.push(format!(
                "anchor {}: findings are not compared, as another version of rooflint saved it",
                anchor.label
            ));
        }
    }
    let found = judge(&anchor.runs, current, &limits, &setting);
    let label = &anchor.label;
    if matches!(found.outcome, Outcome::NothingMeasured | Outcome::DifferentDevices) {
        decision.notes.push(format!("anchor {label} was not compared: {}", found.reason));
        return;
    }
    let partial = found.checks.iter().filter(|check| check.rule == "coverage");
    decision.notes.extend(partial.map(|check| format!("anchor {label}: {}", check.message)));
    // A waiver that has nothing to accept against one baseline may have against the other.
    for waiver in &policy.waivers {
        if !found.notes.iter().any(|note| waive::is_idle_note(waiver, note)) {
            decision.notes.retain(|note| !waive::is_idle_note(waiver, note));
        }
    }
    let is_known = |check: &Check| {
        decision.checks.iter().any(|known| {
            known.metric == check.metric
                && known.subject == check.subject
                && known.action >= check.action
        })
    };
    let (worse, others): (Vec<Check>, Vec<Check>) = found
        .checks
        .into_iter()
        .filter(|check| is_judged(check.metric) && !is_known(check))
        .partition(|check| matches!(check.verdict, Verdict::Regression | Verdict::Ambiguous));
    let lacking = lacking(label, &others);
    let added: Vec<Check> = worse
        .into_iter()
        .filter(|check| check.action > Action::Notice || check.waived.is_some())
        .map(|check| Check {
            rule: format!("anchor:{}", check.rule),
            message: format!("since anchor {label}: {}", check.message),
            ..check
        })
        .collect();
    decision.notes.extend(lacking);
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
    decision.counts = counted(&decision.checks);
}

/// Says which limits could be checked against the newest baseline only: runs of long ago may lack what is collected today.
fn lacking(label: &str, checks: &[Check]) -> Option<String> {
    let lacks = |check: &&Check| {
        matches!(check.verdict, Verdict::NoData | Verdict::Incomparable)
            && check.action > Action::Notice
    };
    let metrics: Vec<&str> = checks.iter().filter(lacks).map(|check| check.metric.key()).collect();
    let named: BTreeSet<&str> = metrics.iter().copied().collect();
    (!metrics.is_empty()).then(|| {
        let many = match metrics.len() {
            1 => "1 check lacks".to_owned(),
            many => format!("{many} checks lack"),
        };
        let named: Vec<&str> = named.into_iter().collect();
        format!("anchor {label}: {many} data to compare ({})", named.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::super::policy::Limit;
    use super::*;
    use crate::compare::made::{kernel, run};
    use crate::compare::{RunFinding, RunKernel};
    use crate::rules::Severity;
    use crate::units::{Bytes, RelativeChange, Seconds};

    /// Two kernels of five launches of 1 ms; of the first, the bytes of all launches and the roofline time.
    fn side(device: &str, bytes: Option<f64>, roofline: f64) -> Vec<Run> {
        let of = |name: &str, bytes: Option<f64>, roofline: f64| RunKernel {
            bytes: bytes.map(|bytes| Bytes::new(bytes * 5.0)),
            roofline_s: Some(Seconds::new(roofline)),
            roofline_high_s: Some(Seconds::new(roofline)),
            ..kernel(name, &[1e-3; 5])
        };
        let mut run = run(vec![of("looked_at", bytes, roofline), of("other", Some(1e6), 4e-3)]);
        device.clone_into(&mut run.devices[0].name);
        vec![run]
    }

    /// The decision on a side against the newest baseline, and then against an anchor too.
    fn decided([oldest, newest, current]: [Vec<Run>; 3], metric: Metric) -> (Outcome, Decision) {
        let limits = vec![Limit::new(metric, RelativeChange::new(0.05))];
        let policy =
            Policy { limits, noise_is_declared: true, across_devices: true, ..Policy::default() };
        let setting = Setting { decides: true, ..Setting::default() };
        let mut decision = judge(&newest, &current, &policy, &setting);
        let outcome = decision.outcome;
        let anchor = Anchor { label: "oldest".to_owned(), runs: oldest };
        beside(&mut decision, &anchor, &current, (&policy, &setting));
        (outcome, decision)
    }

    /// 1.00, 1.04 and 1.08 GB a launch: each is 4% more than the one before, and the last 8% more than the first.
    #[test]
    fn bytes_creep_too() {
        let sides = [1.00e9, 1.04e9, 1.08e9].map(|bytes| side("L4", Some(bytes), 4e-3));
        let (alone, decision) = decided(sides, Metric::Bytes);
        assert_eq!((alone, decision.outcome), (Outcome::Passed, Outcome::Failed));
        let [check] = &decision.checks[..] else { panic!("{:?}", decision.checks) };
        assert_eq!(check.rule, "anchor:bytes");
        assert!((check.change.unwrap().get() - 0.08).abs() < 1e-12, "{check:?}");
    }

    /// Across devices headroom is compared: 5 ms over 4.0, 3.7 and 3.4 ms of roofline time. It is 8.8% more than on the
    /// newest baseline, less than the noise of one run (10%), and 17.6% more than on the oldest.
    #[test]
    fn headroom_creeps_across_devices() {
        let times = [("A100", 4.0e-3), ("A100", 3.7e-3), ("L4", 3.4e-3)];
        let sides = times.map(|(device, time)| side(device, None, time));
        let (alone, decision) = decided(sides, Metric::Headroom);
        assert_eq!((alone, decision.outcome), (Outcome::Passed, Outcome::Failed));
        let check = decision.checks.iter().find(|check| check.rule == "anchor:headroom").unwrap();
        assert!((check.change.unwrap().get() - (4.0 / 3.4 - 1.0)).abs() < 1e-12, "{check:?}");
    }

    /// What a rule found when the anchor was saved is not new; what it found since is, also if the newest baseline has it. Of an
    /// anchor of another version nothing is known of the rules of today.
    #[test]
    fn findings_since_the_anchor_are_new() {
        let finding = |rule: &str| RunFinding { rule: rule.to_owned(), severity: Severity::High };
        let sides = |version: &str| {
            [1, 2, 2].map(|many| {
                let mut side = side("L4", None, 4e-3);
                version.clone_into(&mut side[0].rooflint);
                side[0].rules =
                    Some(vec!["low-occupancy".to_owned(), "tail-effect".to_owned()].into());
                let found = ["low-occupancy", "tail-effect"].map(finding);
                side[0].kernels.iter_mut().find(|one| one.name == "looked_at").unwrap().findings =
                    found.into_iter().take(many).collect();
                side
            })
        };
        let (alone, decision) = decided(sides(env!("CARGO_PKG_VERSION")), Metric::Findings);
        assert_eq!((alone, decision.outcome), (Outcome::Passed, Outcome::Failed));
        assert!(decision.checks[0].message.ends_with("new findings: tail-effect (high)"));
        let (_, decision) = decided(sides("0.0.1"), Metric::Findings);
        assert_eq!(decision.outcome, Outcome::Passed);
        let says = "findings are not compared, as another version of rooflint saved it";
        assert!(decision.notes.iter().any(|note| note.contains(says)), "{:?}", decision.notes);
    }

    /// Bytes that the anchor lacks are no reason to say that nothing exceeds a limit, and no reason to fail.
    #[test]
    fn what_an_anchor_lacks_is_named() {
        let sides = [None, Some(1e9), Some(1e9)].map(|bytes| side("L4", bytes, 4e-3));
        let (alone, decision) = decided(sides, Metric::Bytes);
        assert_eq!((alone, decision.outcome), (Outcome::Passed, Outcome::Passed));
        let note = "anchor oldest: 1 check lacks data to compare (bytes)";
        assert!(decision.notes.iter().any(|one| one == note), "{:?}", decision.notes);
    }

    /// A kernel that is new since the anchor, and a shift that all share, are not judged against it.
    #[test]
    fn what_came_since_and_what_all_share_are_left_to_the_newest_baseline() {
        let of = |factor: f64, is_there: bool| {
            let names = ["a", "b", "c", "d", "e", "f"].into_iter();
            let kernels = names.map(|name| kernel(name, &[factor * 1e-3; 5]));
            vec![run(kernels.chain(is_there.then(|| kernel("g", &[factor * 1e-3; 5]))).collect())]
        };
        let (alone, decision) =
            decided([of(1.0, false), of(1.2, true), of(1.2, true)], Metric::CommonShift);
        assert_eq!((alone, decision.outcome), (Outcome::Passed, Outcome::Passed));
        assert!(!decision.checks.iter().any(|check| check.rule.starts_with("anchor:")));
    }
}
