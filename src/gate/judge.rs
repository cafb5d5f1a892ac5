//! Judges two sides of runs by a policy.

use super::decision::{
    Check, Decision, Detectable, Guess, Outcome, Subject, Verdict, counted, gravest_first,
};
use super::policy::{Action, Metric, Normalize, Policy};
use super::{bounds, coverage, damaged, idle, kernels, presence, whole, words};
use crate::compare::{self, Basis, Comparison, Lone, Run, Side};
use crate::model::Date;
use crate::units::{Seconds, Shift};

/// Inputs of a gate besides the policy.
#[derive(Debug, Clone, Default)]
pub struct Setting {
    /// Date on which waivers must still be valid; `None` accepts all of them.
    pub today: Option<Date>,
    /// Order in which the runs were taken, `true` for runs of the current side; empty if it was not
    /// declared.
    pub order: Vec<bool>,
    /// True for `gate`, which decides; false for `diff`, which only informs.
    pub decides: bool,
}

/// Judges the current runs by a policy, compared with the baseline if there is one.
#[must_use]
pub fn judge(baseline: &[Run], current: &[Run], policy: &Policy, setting: &Setting) -> Decision {
    let unmeasured = unmeasured(current, "the current side")
        .or_else(|| (!baseline.is_empty()).then(|| unmeasured(baseline, "the baseline")).flatten());
    if let Some(reason) = unmeasured {
        let found = Found::failing("no-data", Verdict::NoData, &reason);
        return found.decision(Outcome::NothingMeasured, reason, policy, setting);
    }
    let sifted = damaged::sift(baseline, current, &setting.order);
    let (baseline, current) = (sifted.baseline.as_ref(), sifted.current.as_ref());
    let there: Vec<Lone> = compare::kernels(current);
    let mut found = if baseline.is_empty() {
        Found { alone: Some(compare::alone(current)), ..Found::default() }
    } else {
        let sides = compare::Setting {
            noise: policy.noise,
            order: sifted.order,
            by_names_only: policy.renamed == Action::None,
            normalize_work: policy.normalize == Normalize::Work,
        };
        let comparison = compare::compare(baseline, current, &sides);
        if comparison.basis == Basis::Headroom && !policy.across_devices {
            return different_devices(comparison, policy, setting);
        }
        if coverage::is_unmeasured(&comparison) {
            let reason = "no kernel has a duration on both sides".to_owned();
            let found = Found::failing("no-data", Verdict::NoData, &reason);
            return found.decision(Outcome::NothingMeasured, reason, policy, setting);
        }
        Found::of(comparison, policy, setting)
    };
    found.checks.extend(presence::required(&there, current.len(), policy));
    found.checks.extend(coverage::damaged(&sifted.left_out, &sifted.unclear, policy));
    let bounds = bounds::judge(current, policy);
    // With a baseline there are other checks, which answer, unless the policy has none of these.
    let are_alone = found.comparison.is_none() || idle::compares_nothing(policy);
    found.checks.extend(coverage::of_bounds(&bounds).filter(|_| are_alone));
    found.checks.extend(bounds);
    if policy.limits.iter().any(|limit| !limit.selector.is_everything())
        && found.comparison.is_some()
    {
        found.checks.extend(idle::limits(&found.measured(&there), policy));
    }
    if !policy.code.is_empty() && found.comparison.is_some() {
        found.notes.extend(idle::code(&found.measured(&there), policy));
    }
    found.waive(policy, &there, setting.today);
    found.checks.sort_by(gravest_first);
    let (mut outcome, mut reason) = concluded(&found.checks);
    if outcome == Outcome::Passed && setting.decides && idle::is_idle(policy) {
        outcome = Outcome::Inconclusive;
        "the policy has no active limit, bound or required kernel: nothing was checked"
            .clone_into(&mut reason);
    }
    found.decision(outcome, reason, policy, setting)
}

/// Results collected on the way to a decision.
#[derive(Default)]
pub(super) struct Found {
    pub(super) checks: Vec<Check>,
    pub(super) comparison: Option<Comparison>,
    /// The runs, where they are compared with no others.
    alone: Option<Side>,
    guesses: Vec<Guess>,
    detectable: Option<Detectable>,
    method: Vec<String>,
    pub(super) notes: Vec<String>,
}

/// Returns why no run of a side can be judged, if so.
fn unmeasured(runs: &[Run], side: &str) -> Option<String> {
    let empty = runs.iter().find(|run| run.timed_launches == 0 || run.measured_s <= Seconds::ZERO);
    match empty {
        _ if runs.is_empty() => Some(format!("{side} has no runs")),
        Some(run) if run.launches == 0 => {
            Some(format!("{side}: {} contains no launches", run.label))
        }
        Some(run) => Some(format!("{side}: no launch in {} has a duration", run.label)),
        None => None,
    }
}

fn different_devices(comparison: Comparison, policy: &Policy, setting: &Setting) -> Decision {
    let (one, two) =
        (comparison.baseline.devices.join(", "), comparison.current.devices.join(", "));
    let reason = if one == two {
        format!(
            "not all runs used the same devices ({one}), or their exports state different peaks: times on different \
             devices cannot be compared"
        )
    } else {
        format!(
            "the baseline ran on {one}, the current side on {two}: times on different devices \
             cannot be compared"
        )
    };
    let by_headroom = "--across-devices (policy: across-devices = true) compares each kernel's distance from its roofline instead";
    let on_one = if one == two {
        "else name only runs of one device on both sides".to_owned()
    } else {
        format!("else give a baseline on {two}; a store keeps one for each device")
    };
    let wrong = "; if an export names the wrong device, set it: --device, --baseline-device";
    let mut found = Found {
        comparison: Some(comparison),
        ..Found::failing("device", Verdict::Incomparable, &reason)
    };
    for check in &mut found.checks {
        check.evidence = vec![by_headroom.to_owned(), format!("{on_one}{wrong}")];
    }
    found.decision(Outcome::DifferentDevices, reason, policy, setting)
}

/// Describes how the runs were judged, for people who want to check it.
fn method(comparison: &Comparison, policy: &Policy) -> Vec<String> {
    let (one, two) = (comparison.baseline.labels.len(), comparison.current.labels.len());
    let mut told = Vec::new();
    if comparison.basis == Basis::Headroom {
        told.push(
            "the devices differ, so kernels are compared by headroom (measured/roofline time on \
             their own device), not by time"
                .to_owned(),
        );
    }
    if one + two > 2 {
        told.push(words::several_runs(one, two, policy.false_discovery));
    } else {
        let noise = policy.noise;
        told.push(format!(
            "one run per side: the median of all launch ratios (Hodges–Lehmann) must exceed the \
             limit with its whole distribution-free interval, and it must exceed the declared \
             noise: {} for a kernel; with fewer than {} launches per side {} with {} to {} with one; {} \
             for the global shift",
            words::size(noise.kernel),
            compare::Noise::ENOUGH,
            words::size(noise.few_launches),
            compare::Noise::FEW,
            words::size(noise.few(1, 1).change()),
            words::size(noise.common)
        ));
        if !policy.noise_is_declared {
            told.push(words::undeclared());
        }
    }
    let between = comparison.total.floor;
    if one + two > 2 && between > Shift::ZERO {
        told.push(format!(
            "the runs did not alternate (--order), so the total and the global shift may differ by {} \
             between devices and days ([gate.noise] device and day)",
            words::size(between.change())
        ));
    }
    told.push(if comparison.common.removed {
        format!(
            "the global shift, {}, is subtracted from each kernel and judged separately",
            words::change(comparison.common.evidence.shift)
        )
    } else {
        format!("the global shift is not subtracted: {}", comparison.common.reason)
    });
    told
}

impl Found {
    /// Makes the result with a single failing check.
    fn failing(rule: &str, verdict: Verdict, reason: &str) -> Self {
        let check = Check {
            verdict,
            action: Action::Fail,
            ..Check::new(rule, Metric::Presence, Subject::Run, reason.to_owned())
        };
        Self { checks: vec![check], ..Self::default() }
    }

    /// Collects all checks of a comparison.
    fn of(comparison: Comparison, policy: &Policy, setting: &Setting) -> Self {
        let mut checks = whole::judge(&comparison, policy);
        checks.extend(coverage::judge(&comparison, policy, setting.decides));
        coverage::withdraw(&mut checks);
        let verdicts = kernels::judge(&comparison, policy);
        checks.extend(verdicts.checks);
        if comparison.changes.is_empty() {
            let reason =
                "the two sides have no kernel in common: are they runs of the same program?";
            checks.push(coverage::inconclusive(
                "no-match",
                Verdict::Incomparable,
                reason.to_owned(),
            ));
        }
        let mut notes: Vec<String> = comparison.odd.iter().map(words::odd).collect();
        notes.extend(comparison.notes.iter().cloned());
        notes.extend(presence::not_in_all(&comparison, policy));
        Self {
            checks,
            detectable: verdicts.detectable,
            guesses: whole::guesses(&comparison),
            method: method(&comparison, policy),
            notes,
            comparison: Some(comparison),
            alone: None,
        }
    }

    fn decision(
        self,
        outcome: Outcome,
        reason: String,
        policy: &Policy,
        setting: &Setting,
    ) -> Decision {
        Decision {
            outcome,
            warn_only: policy.warn_only,
            reason,
            counts: counted(&self.checks),
            checks: self.checks,
            comparison: self.comparison,
            alone: self.alone,
            guesses: self.guesses,
            detectable: self.detectable,
            method: self.method,
            notes: self.notes,
            decides: setting.decides,
            lacks_baseline: None,
        }
    }

    /// Returns every kernel of the current side and of the comparison, in the form that selectors
    /// match.
    pub(super) fn measured(&self, there: &[Lone]) -> Vec<(String, compare::Measured)> {
        let there = there.iter().map(|lone| (lone.name.clone(), lone.measured.clone()));
        let Some(comparison) = &self.comparison else { return there.collect() };
        let changes = comparison.changes.iter().map(|change| (&change.name, &change.after));
        let lone = comparison.new.iter().chain(&comparison.vanished);
        let lone = lone.map(|lone| (&lone.name, &lone.measured));
        let both = changes.chain(lone).map(|(name, measured)| (name.clone(), measured.clone()));
        there.chain(both).collect()
    }
}

/// Returns the outcome of ordered checks and its reason.
pub(super) fn concluded(checks: &[Check]) -> (Outcome, String) {
    let worst = checks.iter().map(|check| check.action).max().unwrap_or(Action::None);
    let outcome = match worst {
        Action::Fail => Outcome::Failed,
        Action::Inconclusive => Outcome::Inconclusive,
        _ => Outcome::Passed,
    };
    let deciding: Vec<&Check> = checks.iter().filter(|check| check.decides()).collect();
    let warnings = checks.iter().filter(|check| check.action == Action::Warn).count();
    // A pass that rests on a waiver is not one like others.
    let waived = checks.iter().filter(|check| check.waived.is_some()).count();
    let mut reason = match (deciding.as_slice(), warnings) {
        ([], 0) if waived > 0 => {
            return (outcome, format!("each check that exceeds its limit is waived ({waived})"));
        }
        ([], 0) => "no check exceeds its limit".to_owned(),
        ([], 1) => "no check certainly exceeds its limit; 1 warning".to_owned(),
        ([], many) => {
            format!("no check certainly exceeds its limit; {many} warnings")
        }
        (deciding, _) => words::reason(deciding),
    };
    if waived > 0 {
        reason.push_str(&format!("; {waived} waived"));
    }
    (outcome, reason)
}

#[cfg(test)]
mod tests {
    use super::super::policy::{GateWaiver, Selector};
    use super::*;
    use crate::compare::made::{kernel, run};

    /// A run of ten kernels of 1 ms a launch, and one that is looked at.
    fn side(milliseconds: f64) -> [Run; 1] {
        let other = |at: u8| kernel(&format!("{}_other", (b'a' + at) as char), &[1e-3; 5]);
        let looked_at = kernel("looked_at", &[milliseconds * 1e-3; 5]);
        [run((0..10).map(other).chain([looked_at]).collect())]
    }

    /// One run per side, whose noise is declared.
    fn decided(policy: &Policy, today: Option<Date>) -> Decision {
        let policy = &Policy { noise_is_declared: true, ..policy.clone() };
        let setting = Setting { today, decides: true, ..Setting::default() };
        judge(&side(1.0), &side(1.2), policy, &setting)
    }

    fn waiver(metric: Option<Metric>, kernel: Option<&str>) -> GateWaiver {
        GateWaiver {
            selector: Selector { kernel: kernel.map(str::to_owned), ..Selector::default() },
            metric,
            reason: "known since May".to_owned(),
            owner: Some("ada".to_owned()),
            expires: Date::new(2026, 5, 31),
        }
    }

    #[test]
    fn what_was_not_measured_fails_and_names_its_side() {
        let untimed = || {
            let mut one = run(vec![kernel("a", &[1e-3])]);
            (one.timed_launches, one.measured_s) = (0, Seconds::ZERO);
            [one]
        };
        let of = |before: &[Run], after: &[Run]| {
            let found = judge(before, after, &Policy::default(), &Setting::default());
            assert_eq!(found.outcome, Outcome::NothingMeasured);
            assert_eq!((found.checks.len(), found.checks[0].action), (1, Action::Fail));
            found.reason
        };
        assert_eq!(of(&side(1.0), &[]), "the current side has no runs");
        assert_eq!(
            of(&side(1.0), &[run(Vec::new())]),
            "the current side: run.csv contains no \
            launches"
        );
        let text = "the baseline: no launch in run.csv has a duration";
        assert_eq!(of(&untimed(), &side(1.0)), text);
    }

    #[test]
    fn other_devices_are_not_compared_unless_the_policy_says_so() {
        let mut there = side(1.0);
        there[0].devices[0].name = "H100".to_owned();
        let of = |across_devices: bool| {
            let policy = Policy { across_devices, ..Policy::default() };
            judge(&side(1.0), &there, &policy, &Setting::default()).outcome
        };
        assert_eq!(of(false), Outcome::DifferentDevices);
        assert_ne!(of(true), Outcome::DifferentDevices);
    }

    /// 20% more on one of eleven kernels: 1.8% of the run, and beyond the 5% that a kernel may.
    #[test]
    fn a_waiver_accepts_what_it_names_until_it_expires() {
        let failed = decided(&Policy::default(), None);
        assert_eq!((failed.outcome, failed.deciding().count()), (Outcome::Failed, 1));
        assert_eq!(failed.reason, "1 kernel exceeded the limit");
        let waived = |waiver: GateWaiver, today| {
            let policy = Policy { waivers: vec![waiver], ..Policy::default() };
            decided(&policy, today)
        };
        let accepted = waived(waiver(None, Some("looked_at")), Date::new(2026, 5, 31));
        assert_eq!(accepted.outcome, Outcome::Passed);
        assert_eq!(accepted.reason, "each check that exceeds its limit is waived (1)");
        let check = accepted.checks.iter().find(|check| check.waived.is_some()).unwrap();
        assert_eq!(check.waived.as_deref(), Some("known since May (ada)"));
        assert_eq!((check.verdict, check.action), (Verdict::Regression, Action::Notice));

        let expired = waived(waiver(None, Some("looked_at")), Date::new(2026, 6, 1));
        assert_eq!(expired.outcome, Outcome::Failed);
        assert!(
            expired.notes[0]
                .starts_with("the waiver for \"looked_at\" (ada) expired on 2026-05-31"),
            "{expired:?}"
        );
        for (other, says) in [
            (waiver(Some(Metric::Bytes), Some("looked_at")), "had nothing to accept"),
            (waiver(None, Some("b_other")), "had nothing to accept"),
            (waiver(None, Some("of_no_kernel")), "matches nothing"),
        ] {
            let found = waived(other, None);
            assert_eq!(found.outcome, Outcome::Failed);
            assert!(found.notes[0].contains(says), "{found:?}");
        }
    }

    /// One of eleven kernels takes 2.2 times as long: 10.9% of the run, and the limit is 3%.
    #[test]
    fn a_waived_kernel_takes_its_part_of_the_total_with_it() {
        let policy = |waivers| Policy { waivers, noise_is_declared: true, ..Policy::default() };
        let of = |waivers| judge(&side(1.0), &side(2.2), &policy(waivers), &Setting::default());
        assert_eq!(of(Vec::new()).deciding().count(), 2);
        let accepted = of(vec![waiver(None, Some("looked_at"))]);
        assert_eq!(accepted.outcome, Outcome::Passed, "{:?}", accepted.checks);
        let total = accepted.checks.iter().find(|check| check.metric == Metric::Total).unwrap();
        let reason = total.waived.as_deref().unwrap();
        assert!(reason.ends_with(" without the kernels that are waived"), "{reason}");
    }

    /// All eleven kernels take 20% longer.
    #[test]
    fn what_is_of_the_run_is_waived_by_its_metric_alone() {
        let slow =
            [run(side(1.0)[0].kernels.iter().map(|one| kernel(&one.name, &[1.2e-3; 5])).collect())];
        let failing = |waivers: Vec<GateWaiver>| {
            let policy = Policy { waivers, noise_is_declared: true, ..Policy::default() };
            let found = judge(&side(1.0), &slow, &policy, &Setting::default());
            let rules: Vec<String> = found.deciding().map(|check| check.rule.clone()).collect();
            rules
        };
        assert_eq!(failing(Vec::new()), ["total", "common-shift"]);
        assert_eq!(failing(vec![waiver(Some(Metric::Total), None)]), ["common-shift"]);
        // Neither one for all metrics nor one for a kernel is meant for the run.
        let others = vec![waiver(None, None), waiver(Some(Metric::Total), Some("looked_at"))];
        assert_eq!(failing(others).len(), 2);
    }

    #[test]
    fn a_required_kernel_that_is_not_there_is_waived_by_its_name() {
        let failing = |required: &[&str], waivers: Vec<GateWaiver>| {
            let required = required.iter().map(|one| (*one).to_owned()).collect();
            let policy = Policy { required, waivers, noise_is_declared: true, ..Policy::default() };
            let found = judge(&side(1.0), &side(1.0), &policy, &Setting::default());
            let left: Vec<String> =
                found.deciding().filter_map(|check| check.required.clone()).collect();
            (found.outcome, left.join(" "))
        };
        let of = |metric, kernel| vec![waiver(metric, Some(kernel))];
        let both = ["flash*", "fused_norm"];
        assert_eq!(failing(&both, Vec::new()), (Outcome::Failed, "flash* fused_norm".to_owned()));
        for waiver in [of(Some(Metric::Presence), "flash*"), of(None, "flash*")] {
            assert_eq!(failing(&both, waiver), (Outcome::Failed, "fused_norm".to_owned()));
        }
        let waiver = of(Some(Metric::Presence), "fused_*");
        assert_eq!(failing(&both[1..], waiver), (Outcome::Passed, String::new()));
        // Neither what is said of times nor what is said of the whole run is said of it.
        for waivers in [of(Some(Metric::Time), "flash*"), of(Some(Metric::Presence), "gemm")] {
            assert_eq!(failing(&both[..1], waivers).0, Outcome::Failed);
        }
        let missing = |required: &str| {
            let policy = Policy { required: vec![required.to_owned()], ..Policy::default() };
            let found = judge(&side(1.0), &side(1.0), &policy, &Setting::default());
            found.checks.iter().find(|check| check.required.is_some()).unwrap().fingerprint()
        };
        assert_ne!(missing("flash*"), missing("fused_norm"));
    }

    #[test]
    fn the_gravest_comes_first_and_the_largest_within() {
        let check = |action, verdict, milliseconds: Option<f64>| Check {
            action,
            verdict,
            delta_s: milliseconds.map(|time| Seconds::new(time * 1e-3)),
            share: Some(crate::units::Share::new(0.5)),
            ..Check::new("time", Metric::Time, Subject::Run, String::new())
        };
        let mut checks = [
            check(Action::Warn, Verdict::Regression, Some(9.0)),
            check(Action::Fail, Verdict::Violation, None),
            check(Action::Fail, Verdict::Regression, Some(1.0)),
            check(Action::Fail, Verdict::Regression, None),
            check(Action::Fail, Verdict::Regression, Some(-2.0)),
        ];
        checks.sort_by(gravest_first);
        let order =
            checks.each_ref().map(|check| check.delta_s.map(|delta| (delta.get() * 1e3).round()));
        assert_eq!(order, [Some(-2.0), Some(1.0), None, None, Some(9.0)]);
        assert_eq!(checks[3].verdict, Verdict::Violation);
    }

    #[test]
    fn warnings_pass_and_are_counted() {
        let check = |action| Check {
            action,
            ..Check::new("time", Metric::Time, Subject::Run, String::new())
        };
        let of =
            |actions: &[Action]| concluded(&actions.iter().copied().map(check).collect::<Vec<_>>());
        let (outcome, reason) = of(&[Action::Warn, Action::Warn, Action::Notice]);
        assert_eq!(outcome, Outcome::Passed);
        assert!(reason.ends_with("; 2 warnings"), "{reason}");
        assert!(of(&[Action::Notice]).1.starts_with("no check exceeds"));
        assert_eq!(of(&[Action::Warn, Action::Inconclusive]).0, Outcome::Inconclusive);
        assert_eq!(of(&[Action::Fail, Action::Inconclusive]).0, Outcome::Failed);
    }
}
