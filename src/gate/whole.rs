//! Judges the run as a whole: total time, global shift, and kernels that are new, vanished or
//! missing.

use super::certainty::{MoreRuns, Standing, is_beyond, mirrored};
use super::decision::{Check, Guess, INCOMPLETE, MANY_KERNELS, Subject, Verdict};
use super::kernels::clock_explains;
use super::policy::{Action, Limit, Metric, Policy};
use super::presence::{in_few_runs, lone};
use super::thresholds::{MORE_RUNS, ROUNDING, SHOWN_SHIFT};
use super::value::{Allowed, Value};
use super::{causes, words};
use crate::compare::{Basis, Change, Common, Comparison, Evidence, Lone, Unit};
use crate::units::{Probability, RelativeChange, Seconds, Shift, change_limit, digits, si};

/// Probability below which a shift of the whole run is certain; only two such shifts are tested.
const CERTAIN: Probability = Probability::new(0.01);

/// Global shifts whose time and cycles differ by less than 1% are not explained by clocks.
const WORTH_A_CLOCK: Shift = Shift::new(0.01);

/// Judges everything except the kernels that both sides have.
pub(super) fn judge(comparison: &Comparison, policy: &Policy) -> Vec<Check> {
    let mut checks = Vec::new();
    checks.extend(total(comparison, policy));
    checks.extend(common(comparison, policy));
    checks.extend(split(comparison, policy));
    checks.extend(work(comparison, policy));
    if let Some(reason) = &comparison.cut_off {
        checks.push(Check {
            verdict: Verdict::NoData,
            action: policy.incomplete,
            ..Check::new(INCOMPLETE, Metric::Presence, Subject::Run, reason.clone())
        });
    }
    for doubt in &comparison.doubts {
        checks.push(Check {
            verdict: Verdict::Incomparable,
            action: policy.incomparable,
            ..Check::new("conditions", Metric::Presence, Subject::Run, doubt.clone())
        });
    }
    checks.extend(lone(comparison, policy, true));
    checks.extend(lone(comparison, policy, false));
    checks.extend(in_few_runs(comparison, policy));
    checks
}

/// Returns the position of a shift of the whole run relative to its limit.
fn standing(evidence: &Evidence, limit: Shift) -> Standing {
    let certain = |own: Probability| own <= CERTAIN;
    if is_beyond(evidence, limit, certain) {
        Standing::Worse
    } else if is_beyond(&mirrored(evidence), limit, certain) {
        Standing::Better
    } else if evidence.shift > limit {
        Standing::Unsure
    } else {
        Standing::Within
    }
}

/// Something of the whole run, with the limit that it must keep.
struct Whole<'a> {
    rule: &'a str,
    limit: &'a Limit,
    evidence: &'a Evidence,
    /// The shift at the same SM clock, where both sides have clocks that differ.
    in_cycles: Option<Shift>,
}

impl Whole<'_> {
    fn check(&self, policy: &Policy, message: &str) -> Check {
        let Self { rule, limit, evidence, in_cycles } = *self;
        // What cycles confirm is no difference of clocks: of devices, days or heat.
        let confirmed = in_cycles.is_some_and(|cycles| cycles > limit.shift());
        let is_several = evidence.unit == Unit::Runs;
        let at_any_clock = Evidence { floor: Shift::ZERO, ..evidence.clone() };
        let evidence = if confirmed && is_several { &at_any_clock } else { evidence };
        let standing = standing(evidence, limit.shift());
        let clock = in_cycles.filter(|_| standing == Standing::Worse && !confirmed);
        let undeclared =
            standing == Standing::Worse && clock.is_none() && policy.may_be_noise(evidence);
        let open = (Verdict::Ambiguous, policy.ambiguous.min(limit.action));
        let (verdict, action) = match standing {
            Standing::Worse if clock.is_some() || undeclared => open,
            Standing::Worse => (Verdict::Regression, limit.action),
            Standing::Unsure => (Verdict::Ambiguous, policy.ambiguous),
            Standing::Better if evidence.shift < policy.implausible() => {
                (Verdict::ImplausibleImprovement, policy.implausible)
            }
            Standing::Better => (Verdict::Improvement, Action::None),
            Standing::Within => (Verdict::Unchanged, Action::None),
        };
        let doubt = match standing {
            Standing::Unsure => Some(words::doubt(evidence, limit.shift())),
            _ if undeclared => Some(words::undeclared()),
            _ if verdict == Verdict::ImplausibleImprovement => Some(words::TOO_FAST.to_owned()),
            _ => clock.map(words::clock),
        };
        let message =
            doubt.map_or_else(|| message.to_owned(), |doubt| format!("{message}; {doubt}"));
        let more_runs = match standing {
            Standing::Unsure => MoreRuns::of(evidence, limit.shift()).number(),
            _ => undeclared.then_some(MORE_RUNS),
        };
        Check {
            verdict,
            action,
            change: Some(evidence.change()),
            interval: evidence.interval(),
            confidence: evidence.confidence,
            limit: Some(Allowed::Change(limit.worse)),
            noise: (!is_several).then(|| policy.noise_of(evidence.floor)),
            more_runs,
            ..Check::new(rule, limit.metric, Subject::Run, message)
        }
    }
}

/// What the clock adds to the common shift, where cycles tell it and it is worth a sentence.
fn clock(common: &Common) -> Option<Shift> {
    let cycles = common.cycles.filter(|_| common.removed)?;
    let clock = common.evidence.shift - cycles;
    (clock.abs() > WORTH_A_CLOCK).then_some(clock)
}

fn total(comparison: &Comparison, policy: &Policy) -> Option<Check> {
    let limit = policy.limit_of_run(Metric::Total)?;
    let work = comparison.work.get() * comparison.other_work.get();
    let times = [comparison.baseline.time_s * work, comparison.current.time_s];
    let is_time = comparison.basis == Basis::Time;
    let what = if is_time {
        let [one, two] = times.map(|time| si(time.get(), "s"));
        format!("GPU time went from {one}{} to {two}", words::scaled(work))
    } else {
        "headroom of the whole run changed".to_owned()
    };
    if comparison.unequal_warmup {
        let message =
            format!("{what}, but the sides leave out other numbers of first launches (--warmup)");
        return Some(Check {
            verdict: Verdict::Incomparable,
            action: policy.incomparable,
            ..Check::new("total", Metric::Total, Subject::Run, message)
        });
    }
    let (shift, allowed) = (words::change(comparison.total.shift), change_limit(limit.worse));
    let message = format!("{what}: {shift}, limit {allowed}");
    Some(Total { comparison, policy, limit, times, is_time, message }.check())
}

/// The total of the run, for as much work as the current side did.
struct Total<'a> {
    comparison: &'a Comparison,
    policy: &'a Policy,
    limit: &'a Limit,
    /// Time of the baseline and of the current side.
    times: [Seconds; 2],
    /// Whether times are compared; across devices headroom is.
    is_time: bool,
    message: String,
}

impl Total<'_> {
    /// Judges the shift of the total, and then what else is known of it: each step may take back or confirm what the ones
    /// before say.
    fn check(&self) -> Check {
        let Self { comparison, policy, limit, times: [one, two], is_time, .. } = *self;
        let evidence = &comparison.total;
        let whole = Whole { rule: "total", limit, evidence, in_cycles: self.in_cycles() };
        let mut check = Check {
            before: is_time.then(|| one.into()),
            after: is_time.then(|| two.into()),
            delta_s: is_time.then(|| two - one),
            ..whole.check(policy, &self.message)
        };
        self.doubt_rare_launches(&mut check);
        self.confirm_by_kernels(&mut check);
        self.allow_less_work(&mut check);
        self.doubt_clocks(&mut check);
        self.allow_small(&mut check);
        if is_time && check.verdict != Verdict::Unchanged {
            check.evidence.extend(causes::contributors(comparison));
        }
        let common = comparison.common.evidence.shift;
        if comparison.common.removed && common.abs() > SHOWN_SHIFT {
            let common = words::change(common);
            check.evidence.push(format!(
                "{common} is a global shift; the rest comes from single \
                 kernels"
            ));
        }
        check
    }

    /// The shift at the same SM clock.
    fn in_cycles(&self) -> Option<Shift> {
        let Self { comparison, limit, .. } = self;
        let (common, shift) = (&comparison.common, comparison.total.shift);
        let cycles = common.cycles?;
        let clock = clock(common).filter(|clock| *clock > Shift::ZERO);
        clock.map(|clock| shift - clock).or_else(|| (cycles > limit.shift()).then_some(shift))
    }

    /// A total is a sum: one launch that something interrupted can make it.
    fn doubt_rare_launches(&self, check: &mut Check) {
        let Self { comparison, policy, limit, .. } = self;
        let floor = comparison.total.floor;
        let is_within = |typical: &Shift| *typical <= limit.shift() || *typical <= floor;
        let Some(typical) = comparison.total_typical.filter(is_within) else { return };
        if check.verdict == Verdict::Regression {
            check.verdict = Verdict::Ambiguous;
            check.action = policy.ambiguous;
            check.more_runs = Some(MORE_RUNS);
            check.message.push_str(&format!(
                "; typical launches explain {}, and single launches that took much longer the rest; two \
                 more runs per side would show if they recur",
                words::change(typical)
            ));
        }
    }

    /// What single kernels add is no clock, device or day.
    fn confirm_by_kernels(&self, check: &mut Check) {
        let Self { comparison, limit, message, .. } = self;
        let Some(own) = &comparison.total_own else { return };
        let is_open =
            check.verdict != Verdict::Regression && comparison.total.shift > limit.shift();
        if is_open && standing(own, limit.shift()) == Standing::Worse {
            check.verdict = Verdict::Regression;
            check.action = limit.action;
            check.more_runs = None;
            check.message.clone_from(message);
            check.evidence = vec![format!(
                "single kernels alone make {}, beyond what all kernels share",
                words::change(own.shift)
            )];
        }
    }

    /// A shorter run that does less work has not become slower.
    fn allow_less_work(&self, check: &mut Check) {
        let Self { comparison, limit, message, .. } = self;
        let for_same_work = comparison.total.shift;
        let measured = for_same_work + comparison.other_work.shift();
        // What saves too much to be believed does so for the same work.
        let is_slower = check.verdict != Verdict::ImplausibleImprovement;
        let is_less = measured <= limit.shift() && measured < for_same_work;
        if check.action > Action::Notice && is_slower && is_less {
            check.verdict = Verdict::OtherWork;
            check.action = Action::Notice;
            check.more_runs = None;
            check.message = format!(
                "{message}; as measured {}, for less work than before",
                words::change(measured)
            );
        }
    }

    /// What a lower clock explains of single kernels is taken off.
    fn doubt_clocks(&self, check: &mut Check) {
        let Self { comparison, policy, limit, times: [one, _], is_time, .. } = *self;
        if check.verdict != Verdict::Regression || !is_time {
            return;
        }
        let before = Seconds::new(one.get().max(f64::MIN_POSITIVE));
        let by_clock = by_clock(comparison, limit.shift()) / before;
        let rest = comparison.total.change().get() - by_clock;
        if rest <= limit.worse.get() {
            check.verdict = Verdict::Ambiguous;
            check.action = policy.ambiguous.min(limit.action);
            check.message.push_str(&format!(
                "; {} without the kernels whose slowdown the SM clock explains; lock the clocks",
                crate::units::change(rest)
            ));
        }
    }

    /// A shift that is too small to count is a notice; of an improvement that is hard to believe, what it saved counts.
    fn allow_small(&self, check: &mut Check) {
        let Self { limit, times: [one, two], is_time, .. } = *self;
        let is_implausible = check.verdict == Verdict::ImplausibleImprovement;
        let moved = if is_implausible { (two - one).abs() } else { two - one };
        if is_time && check.action > Action::Notice && !limit.is_enough(moved, two.max(one)) {
            check.action = Action::Notice;
            let why = words::too_small(true, limit, Some(moved));
            check.message.push_str(&format!("; {why}"));
        }
    }
}

/// What a lower clock makes of the time of the kernels whose slowdown it explains: not their launches, of which there may
/// be more, nor the cycles that each takes longer.
fn by_clock(comparison: &Comparison, limit: Shift) -> Seconds {
    let longer = |change: &Change| {
        let (measured, cycles) = (change.raw.as_ref()?.shift, change.cycles.as_ref()?.shift);
        clock_explains(change, limit).filter(|_| measured > limit)?;
        let same_clock = (cycles.max(Shift::ZERO) - measured).get().exp().min(1.0);
        Some(change.after.time_s? * (1.0 - same_clock))
    };
    comparison.changes.iter().filter_map(longer).sum()
}

fn common(comparison: &Comparison, policy: &Policy) -> Option<Check> {
    let Common { evidence, kernels, removed, cycles, .. } = &comparison.common;
    let limit = policy.limit_of_run(Metric::CommonShift).filter(|_| *removed)?;
    let message = format!(
        "{kernels} kernels share a shift of {}, limit {}: clocks, temperature, driver, or a \
         change to all of them",
        words::change(evidence.shift),
        change_limit(limit.worse)
    );
    let whole = Whole { rule: "common-shift", limit, evidence, in_cycles: *cycles };
    let mut check = whole.check(policy, &message);
    if let Some(cycles) = cycles {
        check.evidence.push(format!("in SM cycles the shift is {}", words::change(*cycles)));
    }
    Some(check)
}

/// Half of the kernels or more that moved together while the others stayed: no clock does that.
fn split(comparison: &Comparison, policy: &Policy) -> Option<Check> {
    let split = comparison.common.split.as_ref()?;
    let limit = policy.limit_of_run(Metric::CommonShift)?;
    // What a policy allows each kernel to take longer, it allows many of them together.
    let of_kernel =
        |change: &Change| policy.limit(Metric::Time, &change.after, &change.name).cloned();
    let of_kernels = comparison.changes.iter().filter_map(of_kernel);
    let of_kernels = of_kernels.filter(|limit| limit.action > Action::None);
    let least = of_kernels.map(|limit| limit.worse).min_by(RelativeChange::total_cmp);
    // The defaults come first.
    let of_shared = policy.limits.iter().filter(|one| one.metric == Metric::CommonShift);
    let is_default = of_shared.count() == 1;
    let least = least.filter(|least| *least > Limit::time().worse && is_default);
    let limit = &Limit { worse: least.unwrap_or(limit.worse), ..limit.clone() };
    let all = split.moved + split.stayed;
    let message = format!(
        "{} of {all} kernels, with {} of the time, changed by {} together while {} stayed, limit {}",
        split.moved,
        Value::from(split.share).shown(),
        words::change(split.evidence.shift),
        split.stayed,
        change_limit(limit.worse)
    );
    let clock = split.clock.filter(|clock| *clock > WORTH_A_CLOCK);
    let in_cycles = clock.map(|clock| split.evidence.shift - clock);
    let whole = Whole { rule: MANY_KERNELS, limit, evidence: &split.evidence, in_cycles };
    let more = split.evidence.change().get() * split.share.get();
    let delta_s = Some(comparison.baseline.time_s * more);
    Some(Check { share: Some(split.share), delta_s, ..whole.check(policy, &message) })
}

/// Reports more or less work than before; the total is compared for the same amount.
fn work(comparison: &Comparison, policy: &Policy) -> Option<Check> {
    let work = comparison.work;
    (work.shift().abs() > ROUNDING).then(|| Check {
        verdict: Verdict::Ambiguous,
        action: policy.ambiguous.min(Action::Warn),
        before: Some(Value::count(comparison.baseline.launches)),
        after: Some(Value::count(comparison.current.launches)),
        change: Some(work.change()),
        ..Check::new(
            "work",
            Metric::Launches,
            Subject::Run,
            format!(
                "most kernels have {}× the launches of the baseline; totals are compared for the \
                 same amount of work",
                digits(work.get())
            ),
        )
    })
}

/// Returns the guesses about new and vanished kernels, by their names.
pub(super) fn guesses(comparison: &Comparison) -> Vec<Guess> {
    let names = |lone: &[Lone], at: &[usize]| {
        at.iter().filter_map(|at| lone.get(*at)).map(|lone| lone.name.clone()).collect()
    };
    let judged = comparison.changes.iter().filter_map(|change| {
        let inferred = change.inferred.as_ref()?;
        Some(Guess {
            kind: inferred.kind,
            before: inferred.before.clone(),
            after: inferred.after.clone(),
            before_s: change.before.time_s?,
            after_s: change.after.time_s?,
            confidence: inferred.confidence,
            why: inferred.why.clone(),
            is_judged: true,
        })
    });
    let open = comparison.proposals.iter().map(|proposal| Guess {
        kind: proposal.kind,
        before: names(&comparison.vanished, &proposal.before),
        after: names(&comparison.new, &proposal.after),
        before_s: proposal.before_s,
        after_s: proposal.after_s,
        confidence: proposal.confidence,
        why: proposal.why.clone(),
        is_judged: false,
    });
    judged.chain(open).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{
        self, Run, RunKernel,
        made::{kernel, run},
    };
    use crate::units::Factor;

    /// A run of kernels of so many launches of 1 ms.
    fn side(kernels: &[(&str, usize)]) -> [Run; 1] {
        [run(kernels.iter().map(|(name, count)| kernel(name, &vec![1e-3; *count])).collect())]
    }

    fn compared(before: &[Run], after: &[Run]) -> Comparison {
        compare::compare(before, after, &compare::Setting::default())
    }

    fn of_rule<'a>(checks: &'a [Check], rule: &str) -> Option<&'a Check> {
        checks.iter().find(|check| check.rule == rule)
    }

    /// The copy is 1 of 2,001 ms, less than a thousandth of the run; the product is half of it.
    #[test]
    fn new_and_vanished_kernels_that_take_hardly_any_time_are_notices() {
        let side = |other: Option<RunKernel>| {
            let softmax = kernel("softmax", &[20e-3; 100]);
            [run(std::iter::once(softmax).chain(other).collect())]
        };
        let one = side(None);
        let found = |other: &[Run], back: bool| {
            let comparison = if back { compared(other, &one) } else { compared(&one, other) };
            let checks = judge(&comparison, &Policy { new: Action::Fail, ..Policy::default() });
            let check = of_rule(&checks, if back { "vanished" } else { "new" }).unwrap();
            (check.action, check.delta_s.unwrap().get() * 1e3)
        };
        let small = side(Some(kernel("copy", &[1e-3])));
        let large = side(Some(kernel("gemm", &[20e-3; 100])));
        assert_eq!(found(&small, false).0, Action::Notice);
        let near = |found: (Action, f64), expected: (Action, f64)| {
            found.0 == expected.0 && (found.1 - expected.1).abs() < 1e-9
        };
        assert!(near(found(&large, false), (Action::Fail, 2000.0)));
        assert!(near(found(&large, true), (Action::Warn, -2000.0)));
        assert!(near(found(&small, true), (Action::Notice, -1.0)));
    }

    /// One of twenty launches of the whole run takes 6 ms more: 30% of 20 ms. Its typical launch is as ever.
    #[test]
    fn one_slow_launch_does_not_fail_the_total() {
        let before = side(&[("softmax", 20)]);
        let mut times = vec![1e-3; 19];
        times.push(7e-3);
        let found = |after: [Run; 1]| {
            let checks = judge(&compared(&before, &after), &Policy::default());
            of_rule(&checks, "total").unwrap().clone()
        };
        let one = found([run(vec![kernel("softmax", &times)])]);
        assert_eq!(
            (one.verdict, one.action, one.more_runs),
            (Verdict::Ambiguous, Action::Warn, Some(2))
        );
        assert!((one.delta_s.unwrap().get() - 6e-3).abs() < 1e-12);
        // 30% of every launch is beyond what noise that nobody measured may do.
        let all = found([run(vec![kernel("softmax", &[1.3e-3; 20])])]);
        assert_eq!((all.verdict, all.action), (Verdict::Regression, Action::Fail));
    }

    /// Every kernel is launched twice as often: as much time a launch, and no slower total.
    #[test]
    fn twice_the_work_is_said_and_taken_out_of_the_total() {
        let one = side(&[("softmax", 4), ("gemm", 4), ("copy", 4)]);
        let two = side(&[("softmax", 8), ("gemm", 8), ("copy", 8)]);
        let checks = judge(&compared(&one, &two), &Policy::default());
        let work = of_rule(&checks, "work").unwrap();
        assert!(work.message.contains("2.00× the launches"), "{work:?}");
        assert_eq!(work.after, Some(Value::count(24.0)));
        assert_eq!(of_rule(&checks, "total").unwrap().verdict, Verdict::Unchanged);
        assert_eq!(of_rule(&judge(&compared(&one, &one), &Policy::default()), "work"), None);
    }

    /// A fifth of the time for the same work, of which there is half as much: a tenth as measured.
    #[test]
    fn less_work_does_not_excuse_what_is_too_fast_for_its_work() {
        let one = side(&[("softmax", 5)]);
        let mut comparison = compared(&one, &one);
        comparison.total.shift = Shift::new(0.2_f64.ln());
        comparison.other_work = Factor::new(0.5);
        comparison.current.time_s = comparison.baseline.time_s * 0.1;
        let check = total(&comparison, &Policy::default()).unwrap();
        assert_eq!((check.verdict, check.action), (Verdict::ImplausibleImprovement, Action::Warn));
        // 5 ms, of which the work is half, and 0.5 ms now.
        assert!((check.delta_s.unwrap().get() + 2e-3).abs() < 1e-12, "{check:?}");
    }

    /// A common shift of 6% of one run per side that is declared quiet: the clock explains it if cycles stay
    /// within the limit of 3%, for the common shift as for the total.
    #[test]
    fn what_the_clock_explains_is_ambiguous() {
        let one = side(&[("softmax", 5)]);
        let mut comparison = compared(&one, &one);
        comparison.common.removed = true;
        for evidence in [&mut comparison.common.evidence, &mut comparison.total] {
            evidence.shift = Shift::new(0.06);
            evidence.floor = Shift::new(0.01);
        }
        comparison.total_typical = None;
        let policy = Policy { noise_is_declared: true, ..Policy::default() };
        let told = |cycles: Option<f64>| {
            let mut comparison = comparison.clone();
            comparison.common.cycles = cycles.map(Shift::new);
            [common(&comparison, &policy).unwrap(), total(&comparison, &policy).unwrap()]
        };
        for check in told(Some(0.029)) {
            assert_eq!((check.verdict, check.action), (Verdict::Ambiguous, Action::Warn));
            assert!(check.message.contains("the clock explains the rest"), "{check:?}");
        }
        for check in told(Some(0.031)).into_iter().chain(told(None)) {
            assert_eq!(
                (check.verdict, check.action),
                (Verdict::Regression, Action::Fail),
                "{check:?}"
            );
        }
        comparison.common.removed = false;
        assert!(common(&comparison, &policy).is_none());
    }

    /// Twelve kernels of ten launches of 1 ms, and one launch that takes 13 ms: 12 more than 120 ms are 10%.
    #[test]
    fn a_total_that_single_launches_make_says_so() {
        let side = |longest: f64| {
            let times = |kernel: u8, launch: u32| {
                if (kernel, launch) == (11, 4) { longest } else { 1e-3 }
            };
            let of = |at: u8| {
                let times: Vec<f64> = (0..10).map(|launch| times(at, launch)).collect();
                kernel(&format!("{}_kernel", (b'a' + at) as char), &times)
            };
            [run((0..12).map(of).collect())]
        };
        let policy = Policy { noise_is_declared: true, ..Policy::default() };
        let check = total(&compared(&side(1e-3), &side(13e-3)), &policy).unwrap();
        assert_eq!((check.verdict, check.action), (Verdict::Ambiguous, Action::Warn));
        let says = ": +10.0%, limit +3%; typical launches explain 0.00%, and single launches that";
        assert!(check.message.contains(says), "{}", check.message);
    }

    /// Five runs per side, all kernels 4% slower: a device may do that. In cycles too, or taken in turns, it is
    /// the code.
    #[test]
    fn what_devices_and_days_do_is_ambiguous() {
        let runs = |factor: f64| -> Vec<Run> {
            let of = |at: usize| {
                let time = 1e-3 * factor * (1.0 + 0.001 * (at % 3) as f64);
                run((0..12)
                    .map(|k| kernel(&format!("{}_kernel", (b'a' + k) as char), &[time; 5]))
                    .collect())
            };
            (0..5).map(of).collect()
        };
        let found = |order: Vec<bool>, cycles: Option<f64>| {
            let setting = compare::Setting { order, ..compare::Setting::default() };
            let mut comparison = compare::compare(&runs(1.0), &runs(1.04), &setting);
            comparison.common.cycles = cycles.map(Shift::new);
            let checks = judge(&comparison, &Policy::default());
            ["total", "common-shift"].map(|rule| of_rule(&checks, rule).unwrap().verdict)
        };
        let turns = [false, true, true, false, false, true, true, false, false, true];
        assert_eq!(found(Vec::new(), None), [Verdict::Ambiguous; 2]);
        assert_eq!(found(turns.to_vec(), None), [Verdict::Regression; 2]);
        assert_eq!(found(Vec::new(), Some(0.039)), [Verdict::Regression; 2]);
        assert_eq!(found(turns.to_vec(), Some(0.0)), [Verdict::Ambiguous; 2]);
    }
}
