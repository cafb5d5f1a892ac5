//! Takes what waivers accept out of a decision, and says which of them accept nothing.

use super::decision::{Check, MANY_KERNELS, Subject};
use super::judge::Found;
use super::policy::{Action, GateWaiver, Metric, Policy};
use super::value::Allowed;
use crate::analysis;
use crate::compare::{Change, Contribution, Lone, Measured};
use crate::model::Date;
use crate::units::Seconds;

/// Metrics of the whole run that a waiver without a kernel accepts.
const OF_RUN: [Metric; 2] = [Metric::Total, Metric::CommonShift];

/// Why a waiver has accepted nothing.
#[derive(Debug, Clone, Copy)]
enum Idle<'a> {
    /// No kernel is the one that it is for; what was probably meant, if anything.
    Nowhere(&'a str),
    /// Its kernels exceed no limit; whether the whole run exceeds each of [`OF_RUN`] where that may be meant.
    Unused([bool; 2]),
}

impl Idle<'_> {
    /// All in which the whole run may be meant.
    const UNUSED: [Self; 4] = [
        Self::Unused([false, false]),
        Self::Unused([false, true]),
        Self::Unused([true, false]),
        Self::Unused([true, true]),
    ];

    fn note(self, waiver: &GateWaiver) -> String {
        let (of, reason) = (called(waiver), &waiver.reason);
        let exceeded = match self {
            Self::Nowhere(meant) => return format!("{of}{NOTHING}{meant}: {reason}"),
            Self::Unused(exceeded) => exceeded,
        };
        let on = waiver.metric.map_or_else(String::new, |metric| format!(" on {}", metric.key()));
        let of_run = OF_RUN.iter().zip(exceeded).filter(|(_, is)| *is);
        let of_run: Vec<String> =
            of_run.map(|(metric, _)| format!("`metric = \"{}\"`", metric.key())).collect();
        let is_of_run = waiver.selector.is_everything()
            && waiver.metric.is_some_and(|metric| OF_RUN.contains(&metric));
        let none = if is_of_run {
            format!("no limit{on} is exceeded")
        } else {
            format!("its kernels exceed no limit{on}")
        };
        let next = if of_run.is_empty() {
            "; remove it if that stays so".to_owned()
        } else {
            format!(
                ". The whole run does, which a waiver without a kernel accepts: one with {}",
                of_run.join(", and one with ")
            )
        };
        format!("{of} had nothing to accept: {none}{next}: {reason}")
    }
}

/// What follows the name of a waiver that no kernel is of.
const NOTHING: &str = " matches nothing; remove it";

/// A waiver by what it is for and its owner.
fn called(waiver: &GateWaiver) -> String {
    let owner = waiver.owner.as_ref().map_or_else(String::new, |owner| format!(" ({owner})"));
    format!("the waiver for {}{owner}", waiver.of())
}

/// Whether a note says that a waiver has accepted nothing.
pub(super) fn is_idle_note(waiver: &GateWaiver, note: &str) -> bool {
    let is_nowhere =
        || note.strip_prefix(&*called(waiver)).is_some_and(|rest| rest.starts_with(NOTHING));
    is_nowhere() || Idle::UNUSED.iter().any(|idle| idle.note(waiver) == note)
}

/// What was probably meant by the name of a kernel that is not there; empty where another criterion rules it out.
fn meant(waiver: &GateWaiver, known: &[(String, Measured)]) -> String {
    let Some(pattern) = &waiver.selector.kernel else { return String::new() };
    let names = known.iter().map(|(name, measured)| (name.as_str(), &*measured.full_name));
    if names.clone().any(|(name, full)| analysis::is_called(pattern, name, full)) {
        return String::new();
    }
    analysis::meant(pattern, &names)
}

impl Found {
    /// Removes waived kernels from the decision; they stay in the list of checks.
    pub(super) fn waive(&mut self, policy: &Policy, there: &[Lone], today: Option<Date>) {
        let known = if policy.waivers.is_empty() { Vec::new() } else { self.measured(there) };
        let mut idle = Vec::new();
        for waiver in &policy.waivers {
            let owner =
                waiver.owner.as_ref().map_or_else(String::new, |owner| format!(" ({owner})"));
            let of = waiver.of();
            let fits = |check: &Check| match &check.subject {
                Subject::Kernel { .. } => {
                    waiver.metric.is_none_or(|metric| metric == check.metric)
                        && known.iter().any(|(known, known_as)| {
                            check.subject.is(known, known_as)
                                && waiver.selector.fits(known, known_as)
                        })
                }
                // What is of the whole run is accepted by its metric, a required kernel that is not there by its name.
                Subject::Run => match &check.required {
                    Some(pattern) => {
                        waiver.metric.is_none_or(|metric| metric == check.metric)
                            && waiver.selector.names(pattern)
                    }
                    None => waiver.metric == Some(check.metric) && waiver.selector.is_everything(),
                },
            };
            let fitting: Vec<usize> = (0..self.checks.len())
                .filter(|at| fits(&self.checks[*at]) && self.checks[*at].action > Action::Notice)
                .collect();
            if let Some(expires) = Date::past(waiver.expires, today) {
                self.notes.push(format!(
                    "the waiver for {of}{owner} expired on {expires} and has no effect: {}",
                    waiver.reason
                ));
                continue;
            }
            if fitting.is_empty() {
                idle.push(waiver);
            }
            for at in fitting {
                self.checks[at].action = Action::Notice;
                self.checks[at].waived = Some(format!("{}{owner}", waiver.reason));
            }
        }
        let mut together = self.waive_many(policy, today);
        together.extend(self.waive_total(policy, today));
        let idle = idle.into_iter().filter(|one| !together.contains(one));
        let notes: Vec<String> = idle.map(|waiver| self.idle(waiver, &known)).collect();
        self.notes.extend(notes);
    }

    /// Says that a waiver has accepted nothing, and what would accept what the whole run exceeds.
    fn idle(&self, waiver: &GateWaiver, known: &[(String, Measured)]) -> String {
        let is_of = |(name, measured): &&(String, Measured)| waiver.selector.fits(name, measured);
        let of = known.iter().filter(is_of).count();
        if of == 0 {
            return Idle::Nowhere(&meant(waiver, known)).note(waiver);
        }
        let is_exceeded = |metric: Metric| {
            let mut checks = self.checks.iter().filter(|check| check.subject == Subject::Run);
            checks.any(|check| {
                check.metric == metric && check.limit.is_some() && check.action > Action::Notice
            })
        };
        // One for a few kernels is not meant for the whole run.
        let is_meant = of == known.len() || waiver.metric.is_some_and(|one| OF_RUN.contains(&one));
        Idle::Unused(OF_RUN.map(|metric| is_meant && is_exceeded(metric))).note(waiver)
    }

    /// Accepts what many kernels share if a waiver that holds is for each of them, and returns these waivers.
    fn waive_many<'a>(&mut self, policy: &'a Policy, today: Option<Date>) -> Vec<&'a GateWaiver> {
        let Some(comparison) = &self.comparison else { return Vec::new() };
        let Some(split) = &comparison.common.split else { return Vec::new() };
        let is_for = |waiver: &GateWaiver, change: &Change| {
            Date::past(waiver.expires, today).is_none()
                && waiver.metric.is_none_or(|metric| metric == Metric::Time)
                && waiver.selector.fits(&change.name, &change.after)
        };
        let moved = comparison.changes.iter().filter(|one| split.pairs.contains(&one.pair));
        let moved: Vec<&Change> = moved.collect();
        let is_waived = |change: &&Change| policy.waivers.iter().any(|one| is_for(one, change));
        if !moved.iter().all(is_waived) {
            return Vec::new();
        }
        let of_moved = |waiver: &&GateWaiver| moved.iter().any(|change| is_for(waiver, change));
        let waivers: Vec<&GateWaiver> = policy.waivers.iter().filter(of_moved).collect();
        let is_it =
            |check: &&mut Check| check.rule == MANY_KERNELS && check.action > Action::Notice;
        let Some(check) = self.checks.iter_mut().find(is_it) else { return Vec::new() };
        (check.action, check.waived) = (Action::Notice, Some("its kernels are waived".to_owned()));
        waivers
    }

    /// Accepts a total that is beyond its limit only by what waived kernels take longer, and returns the waivers that
    /// make it so. The kernels may be within their own limits. A kernel that is new counts: it may do the work of one that
    /// is gone.
    fn waive_total<'a>(&mut self, policy: &'a Policy, today: Option<Date>) -> Vec<&'a GateWaiver> {
        let Some(comparison) = &self.comparison else { return Vec::new() };
        let changes = &comparison.changes;
        let is_for = |waiver: &GateWaiver, change: &Change| {
            waiver.selector.fits(&change.name, &change.after)
        };
        // What all kernels share is waived by its metric.
        let is_for_all = |waiver: &GateWaiver| {
            waiver.selector.is_everything()
                || changes.len() > 1 && changes.iter().all(|change| is_for(waiver, change))
        };
        let is_of_time = |metric: Metric| matches!(metric, Metric::Time | Metric::KernelTotal);
        let mut waivers: Vec<&GateWaiver> = policy.waivers.iter().collect();
        waivers.retain(|waiver| {
            Date::past(waiver.expires, today).is_none()
                && waiver.metric.is_none_or(is_of_time)
                && !is_for_all(waiver)
        });
        let named = changes.iter().filter(|one| waivers.iter().any(|waiver| is_for(waiver, one)));
        let named: Vec<(&Change, Subject)> =
            named.map(|change| (change, Subject::kernel(&change.name, &change.after))).collect();
        // A waiver for the time of a launch accepts no further launches.
        let waived = |part: &Contribution| {
            let checks = self.checks.iter().filter(|check| check.waived.is_some());
            let of_checks = checks.filter(|check| check.subject.is_part(part));
            let of_waivers = named.iter().filter(|(_, subject)| subject.is_part(part));
            let of_waivers = of_waivers.flat_map(|(change, _)| {
                waivers.iter().filter(|waiver| is_for(waiver, change)).map(|waiver| waiver.metric)
            });
            let metrics = of_checks.map(|check| Some(check.metric)).chain(of_waivers);
            let metrics = metrics.filter(|metric| metric.is_none_or(is_of_time));
            let part_of = |metric| match metric {
                Some(Metric::Time) => longer_launches(part),
                _ => part.change_s,
            };
            metrics.map(part_of).fold(Seconds::ZERO, Seconds::max)
        };
        let parts = comparison.contributions.parts.iter().map(|part| (part, waived(part)));
        let parts: Vec<(&Contribution, Seconds)> =
            parts.filter(|(_, longer)| *longer > Seconds::ZERO).collect();
        let longer: Seconds = parts.iter().map(|(_, longer)| *longer).sum();
        // What the baseline takes for the same amount of work.
        let before = comparison.current.time_s - comparison.contributions.change_s;
        if longer <= Seconds::ZERO || before <= Seconds::ZERO {
            return Vec::new();
        }
        let mut is_accepted = false;
        for check in self.checks.iter_mut().filter(|check| check.metric == Metric::Total) {
            let (Some(change), Some(Allowed::Change(limit))) = (check.change, check.limit) else {
                continue;
            };
            let rest = change.get() - longer / before;
            if check.action > Action::Notice && rest <= limit.get() {
                let rest = crate::units::change(rest);
                check.action = Action::Notice;
                check.waived = Some(format!("{rest} without the kernels that are waived"));
                is_accepted = true;
            }
        }
        let is_longer = |subject: &Subject| parts.iter().any(|(part, _)| subject.is_part(part));
        let made = named.iter().filter(|(_, subject)| is_accepted && is_longer(subject));
        let made: Vec<&Change> = made.map(|(change, _)| *change).collect();
        waivers.retain(|waiver| made.iter().any(|change| is_for(waiver, change)));
        waivers
    }
}

/// What longer launches of a kernel add to the total, without what more of them add.
fn longer_launches(part: &Contribution) -> Seconds {
    let [before, after] =
        [(part.before_s, part.launches_before), (part.after_s, part.launches_after)];
    if before.1 <= 0.0 || after.1 <= 0.0 {
        return Seconds::ZERO;
    }
    let longer = after.0 - before.0 * (after.1 / before.1);
    if longer < part.change_s { longer } else { part.change_s }
}

#[cfg(test)]
mod tests {
    use super::super::judge::{Setting, judge};
    use super::super::policy::{Limit, Selector};
    use super::super::{Decision, Outcome};
    use super::*;
    use crate::compare::Run;
    use crate::compare::made::{kernel, run};
    use crate::units::RelativeChange;

    fn waiver(metric: Option<Metric>, kernel: Option<&str>) -> GateWaiver {
        GateWaiver {
            selector: Selector { kernel: kernel.map(str::to_owned), ..Selector::default() },
            metric,
            reason: "known".to_owned(),
            owner: None,
            expires: None,
        }
    }

    /// Five runs of twelve kernels of 1 ms, as much longer as each says, with steps of a thousandth between runs.
    fn side(factor: impl Fn(u8) -> f64) -> Vec<Run> {
        let of = |at: usize| {
            let time = 1e-3 * (1.0 + 0.001 * (at % 3) as f64);
            let name = |place: u8| format!("{}_kernel", (b'a' + place) as char);
            run((0..12).map(|place| kernel(&name(place), &[time * factor(place); 5])).collect())
        };
        (0..5).map(of).collect()
    }

    fn judged(after: &[Run], waivers: Vec<GateWaiver>) -> Decision {
        let policy = Policy { waivers, ..Policy::default() };
        let order = vec![false, true, true, false, false, true, true, false, false, true];
        let setting = Setting { order, decides: true, ..Setting::default() };
        judge(&side(|_| 1.0), after, &policy, &setting)
    }

    /// All take 8% longer: the total and what all share exceed 3%, and no kernel does beside the others.
    #[test]
    fn a_waiver_for_all_kernels_points_to_those_for_the_run() {
        let slow = side(|_| 1.08);
        let note = |waivers: Vec<GateWaiver>| {
            let found = judged(&slow, waivers);
            assert_eq!(found.outcome, Outcome::Failed);
            let of_waiver = |note: &&String| note.starts_with("the waiver");
            found.notes.iter().filter(of_waiver).cloned().collect::<Vec<String>>()
        };
        let all = waiver(None, Some("*"));
        let begin = "the waiver for \"*\" had nothing to accept: its kernels exceed no limit";
        let run = ". The whole run does, which a waiver without a kernel accepts: one with";
        let [total, shift] = ["`metric = \"total\"`", "`metric = \"common-shift\"`"];
        assert_eq!(
            note(vec![all.clone()]),
            [format!("{begin}{run} {total}, and one with {shift}: known")]
        );
        let beside = vec![all, waiver(Some(Metric::Total), None)];
        assert_eq!(note(beside), [format!("{begin}{run} {shift}: known")]);
        let of_all = waiver(Some(Metric::Total), Some("*"));
        assert_eq!(
            note(vec![of_all]),
            [format!("{begin} on total{run} {total}, and one with {shift}: known")]
        );
        // One for a single kernel is not meant for the run.
        let one = note(vec![waiver(None, Some("b_kernel"))]);
        assert!(
            one[0].ends_with(": its kernels exceed no limit; remove it if that stays so: known")
        );
    }

    /// A kernel of 12 ms beside twelve of 1 ms takes 7% longer, within its limit of 10%: 0.84 of 24 ms are 3.5%, and the
    /// total may take 3% longer.
    #[test]
    fn a_total_is_waived_with_a_kernel_that_is_within_its_limit() {
        let with = |factor: f64, others: f64| {
            let of = |mut one: Run| {
                let steps = one.kernels[0].samples_s[0].get() / 1e-3;
                one.kernels.iter_mut().for_each(|known| {
                    *known = kernel(&known.name, &[1e-3 * steps * others; 5]);
                });
                one.kernels.push(kernel("z_kernel", &[12e-3 * steps * factor; 5]));
                run(one.kernels)
            };
            side(|_| 1.0).into_iter().map(of).collect::<Vec<Run>>()
        };
        let limit = |metric: Metric, worse: f64| {
            let mut limits = Policy::default().limits.into_iter();
            let limit = limits.find(|limit| limit.metric == metric).unwrap();
            Limit { worse: RelativeChange::new(worse), ..limit }
        };
        let judged = |after: &[Run], waivers: Vec<GateWaiver>, today: Option<Date>| {
            let mut policy = Policy { waivers, ..Policy::default() };
            policy.limits.push(limit(Metric::Time, 0.1));
            let order = vec![false, true, true, false, false, true, true, false, false, true];
            judge(&with(1.0, 1.0), after, &policy, &Setting { order, today, decides: true })
        };
        let slow = with(1.07, 1.0);
        let found = judged(&slow, Vec::new(), None);
        let rules: Vec<&str> = found.deciding().map(|check| check.rule.as_str()).collect();
        assert_eq!(rules, ["total"], "{}", found.reason);
        for metric in [None, Some(Metric::Time)] {
            let accepted = judged(&slow, vec![waiver(metric, Some("z_*"))], None);
            assert_eq!(accepted.outcome, Outcome::Passed, "{}", accepted.reason);
            let total = accepted.checks.iter().find(|check| check.rule == "total").unwrap();
            assert!(
                total.waived.as_deref().unwrap().ends_with("without the kernels that are waived")
            );
            let about = |note: &String| note.contains("waiver");
            assert!(!accepted.notes.iter().any(about), "{:?}", accepted.notes);
        }
        // One that expired, one of another metric, of another kernel, for all kernels.
        let expired = GateWaiver { expires: Date::new(2026, 5, 31), ..waiver(None, Some("z_*")) };
        let others = [
            expired,
            waiver(Some(Metric::Bytes), Some("z_*")),
            waiver(None, Some("b_kernel")),
            waiver(None, Some("*")),
        ];
        for other in others {
            let found = judged(&slow, vec![other.clone()], Date::new(2026, 6, 1));
            assert_eq!(found.outcome, Outcome::Failed, "{other:?}");
        }
        // The others alone take 4% longer: 0.48 + 0.84 of 24 ms.
        let all = judged(&with(1.07, 1.04), vec![waiver(None, Some("b_kernel"))], None);
        assert_eq!(all.outcome, Outcome::Failed);
        assert!(all.notes.iter().any(|note| note.contains("exceed no limit")), "{:?}", all.notes);
    }

    /// One of twelve kernels runs three times as often: a waiver for the time of a launch is for none of its launches.
    #[test]
    fn a_waiver_for_the_time_of_a_launch_accepts_no_more_of_them() {
        let of = |one: Run| {
            let often = |known: &crate::compare::RunKernel| {
                let time = known.samples_s[0].get();
                let times = if known.name == "b_kernel" { 15 } else { 5 };
                kernel(&known.name, &vec![time; times])
            };
            run(one.kernels.iter().map(often).collect())
        };
        let more: Vec<Run> = side(|_| 1.0).into_iter().map(of).collect();
        for (metric, outcome) in [
            (Some(Metric::Time), Outcome::Failed),
            (Some(Metric::KernelTotal), Outcome::Passed),
            (None, Outcome::Passed),
        ] {
            let found = judged(&more, vec![waiver(metric, Some("b_kernel"))]);
            assert_eq!(found.outcome, outcome, "{metric:?}: {}", found.reason);
        }
    }

    /// Seven of twelve take 4% longer: each within its limit of 5%, together beyond 3%.
    #[test]
    fn a_waiver_for_kernels_that_moved_together_is_not_idle() {
        let slow = side(|place| if place < 7 { 1.04 } else { 1.0 });
        let found = judged(&slow, Vec::new());
        let rules: Vec<&str> = found.deciding().map(|check| check.rule.as_str()).collect();
        assert_eq!(rules, ["many-kernels"]);
        let accepted = judged(&slow, vec![waiver(None, Some("*"))]);
        assert_eq!(accepted.outcome, Outcome::Passed);
        let about = |note: &String| note.contains("waiver");
        assert!(!accepted.notes.iter().any(about), "{:?}", accepted.notes);
    }
}
