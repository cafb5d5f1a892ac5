//! Judges the time of every kernel that both sides have, or its headroom if the devices differ.

use super::certainty::{MoreRuns, POWER, Standing, detectable, is_beyond, mirrored, probability};
use super::decision::{Check, Detectable, Subject, Verdict};
use super::metrics;
use super::policy::{Action, Limit, Metric, Policy};
use super::presence::is_judged;
use super::renumbered::{RENUMBERED, Renumbered};
use super::thresholds::{BEYOND_ROOF, END, MORE_RUNS};
use super::value::{Allowed, Value};
use super::{causes, kernel_total, words};
use crate::compare::{
    Basis, Change, Common, Comparison, Evidence, Measured, ProposalKind, Unit, benjamini_hochberg,
    weighted_median,
};
use crate::units::{Probability, Seconds, Share, Shift};

/// Share of the run time from which slowdowns must be detected; `docs/gate-error-rates.md` measures
/// the detection.
const WEIGHTY: Share = Share::new(0.05);

/// The mean launch disagrees with the median one if it moved by more than this multiple of the
/// limit.
const OUT_OF_STEP: f64 = 2.0;

/// A clock change explains a shift if it is at least this part of the limit and the cycles moved by
/// less.
const EXPLAINED: f64 = 0.5;

/// The checks of all kernels.
pub(super) struct Verdicts {
    pub(super) checks: Vec<Check>,
    /// See [`super::Decision::detectable`].
    pub(super) detectable: Option<Detectable>,
}

/// Judges every kernel by the limits of the policy.
pub(super) fn judge(comparison: &Comparison, policy: &Policy) -> Verdicts {
    let renumbered = Renumbered::of(comparison);
    let Sorted { timed, missing } = sorted(comparison, policy, &renumbered);
    let chances = Chances::of(&timed);
    let judged = timed.iter().filter(|timed| timed.counts).count();
    let mut checks = missing;
    let (mut seen, mut power) = (Vec::new(), POWER);
    for (timed, chance) in timed.iter().zip(chances) {
        if let Some(share) = timed.change.share().filter(|share| *share >= WEIGHTY) {
            let rate = (policy.false_discovery, judged);
            let (shift, chance) =
                detectable(timed.own, timed.limit.shift(), rate, policy.undeclared());
            seen.push((shift.get(), share.get()));
            power = power.min(chance);
        }
        let standing = timed.standing(&chance, policy, &comparison.common);
        checks.push(time_check(comparison, policy, timed, standing));
    }
    let there = || comparison.changes.iter().filter(|change| is_judged(comparison, change));
    checks.extend(there().flat_map(|change| metrics::judge(comparison, change, policy)));
    checks.extend(there().filter_map(|change| kernel_total::judge(comparison, change, policy)));
    let detectable = weighted_median(&seen)
        .map(|shift| Detectable { change: Shift::new(shift).change(), power });
    Verdicts { checks, detectable }
}

/// A kernel's change with the limit that applies to it.
struct Timed<'a> {
    change: &'a Change,
    limit: &'a Limit,
    own: &'a Evidence,
    /// The mirrored evidence, which shows an improvement.
    mirror: Evidence,
    /// True if the kernel takes enough time to be judged separately.
    counts: bool,
    renumbered: &'a Renumbered<'a>,
}

/// Changes that have a limit, split into those with a shift and checks of those without.
struct Sorted<'a> {
    timed: Vec<Timed<'a>>,
    missing: Vec<Check>,
}

fn sorted<'a>(
    comparison: &'a Comparison,
    policy: &'a Policy,
    renumbered: &'a Renumbered<'a>,
) -> Sorted<'a> {
    let metric = match comparison.basis {
        Basis::Time => Metric::Time,
        Basis::Headroom => Metric::Headroom,
    };
    let mut sorted = Sorted { timed: Vec::new(), missing: Vec::new() };
    let there = comparison.changes.iter().filter(|change| is_judged(comparison, change));
    for change in there {
        // A limit on time holds for headroom across devices, unless headroom has one of its own.
        let limit = policy
            .limit(metric, &change.after, &change.name)
            .or_else(|| policy.limit(Metric::Time, &change.after, &change.name));
        let Some(limit) = limit else { continue };
        let Some(own) = &change.own else {
            sorted.missing.push(missing(comparison, change, limit, policy));
            continue;
        };
        let counts = limit.counts(change.share());
        sorted.timed.push(Timed { change, limit, own, mirror: mirrored(own), counts, renumbered });
    }
    sorted
}

/// Probabilities that a kernel did not get slower, and not faster: adjusted for the number of kernels that
/// are judged together. Whether it is beyond its limit is asked of each by itself.
struct Chances {
    worse: Probability,
    better: Probability,
}

impl Chances {
    fn of(timed: &[Timed<'_>]) -> Vec<Self> {
        // Only kernels that count are judged together: the others cannot fail the gate.
        let family = |of: &dyn Fn(&Timed<'_>) -> Option<Probability>| -> Vec<Probability> {
            let all: Vec<Option<Probability>> =
                timed.iter().map(|timed| of(timed).filter(|_| timed.counts)).collect();
            let known: Vec<f64> = all.iter().flatten().map(|known| known.get()).collect();
            let mut adjusted = benjamini_hochberg(&known).into_iter();
            let mut next = || adjusted.next().unwrap_or(1.0);
            all.iter().map(|known| Probability::new(known.map_or(1.0, |_| next()))).collect()
        };
        let worse = family(&|timed| probability(timed.own, Shift::ZERO));
        let better = family(&|timed| probability(&timed.mirror, Shift::ZERO));
        worse.into_iter().zip(better).map(|(worse, better)| Self { worse, better }).collect()
    }
}

impl Timed<'_> {
    /// The shift as measured, with the global shift included; for the same work if that is normalized.
    fn raw(&self) -> Shift {
        self.change.raw.as_ref().map_or(Shift::ZERO, |raw| raw.shift)
    }

    /// The part of the shift that was taken out as other work.
    fn other_work(&self) -> Shift {
        let normalized = self.change.work.filter(|work| work.normalized);
        normalized.map_or(Shift::ZERO, |work| work.shift)
    }

    /// Whether other work explains that it takes longer, or less time.
    fn is_other_work(&self, standing: Standing) -> bool {
        let measured = self.own.shift + self.other_work();
        let limit = self.limit.shift();
        let is_moved = measured > limit || measured < -limit;
        match standing {
            Standing::Within | Standing::Unsure => is_moved && self.other_work() != Shift::ZERO,
            // A kernel that does less work in as much time has not become slower, nor faster.
            Standing::Worse => {
                self.raw() + self.other_work() <= limit && self.other_work() != Shift::ZERO
            }
            Standing::Better => false,
        }
    }

    /// Whether the kernel itself took longer, as measured (`raw`), and not only in comparison with others that got
    /// faster (`common`): where they certainly did, its own runs must show it, by more than the limit.
    fn is_its_own(raw: &Evidence, [noise, limit]: [Shift; 2], common: &Evidence) -> bool {
        let is_shown = |evidence: &Evidence| {
            probability(evidence, Shift::ZERO).is_none_or(|chance| chance <= END)
        };
        let others_moved_back = common.shift < Shift::ZERO
            && common.standard_error.is_some()
            && is_shown(&mirrored(common));
        raw.shift > noise && (!others_moved_back || raw.shift > limit && is_shown(raw))
    }

    fn standing(&self, chance: &Chances, policy: &Policy, common: &Common) -> Standing {
        let rate = policy.false_discovery;
        // Kernels too small to be judged are shown by their own probability.
        let allowed = |adjusted: Probability| {
            move |own: Probability| own <= END && (adjusted <= rate || !self.counts)
        };
        let limit = self.limit.shift();
        // The noise of several runs is in their spread; what is declared is for one run per side.
        let noise = match self.own.unit {
            Unit::Runs => Shift::ZERO,
            Unit::Launches | Unit::Single => policy.noise.kernel.shift(),
        };
        let raw = self.raw();
        let measured = self.change.raw.as_ref().unwrap_or(self.own);
        let common = if common.removed { &common.evidence } else { measured };
        let is_slower = Self::is_its_own(measured, [noise, limit], common);
        let is_faster = Self::is_its_own(&mirrored(measured), [noise, limit], &mirrored(common));
        // As measured it may still be beyond the limit.
        let may_be = measured.high.is_none_or(|high| high > limit);
        // What is only relative to others that moved is not a change of this kernel.
        if is_beyond(self.own, limit, allowed(chance.worse)) && is_slower {
            Standing::Worse
        } else if is_beyond(&self.mirror, limit, allowed(chance.better)) && is_faster {
            Standing::Better
        } else if self.own.shift > limit && raw > Shift::ZERO && may_be {
            Standing::Unsure
        } else if raw < policy.implausible() && raw < -self.own.floor {
            // Where all kernels got so much faster, the shift that they share hides each.
            Standing::Better
        } else {
            Standing::Within
        }
    }

    /// What an improvement that is too large to believe is shown by: as measured, since what all kernels share may be what
    /// is hard to believe, unless others got slower.
    fn fastest(&self) -> &Evidence {
        let raw = self.change.raw.as_ref();
        raw.filter(|raw| raw.shift < self.own.shift).unwrap_or(self.own)
    }

    /// The shift of the mean launch, if it differs much from that of the median launch.
    fn tail(&self, comparison: &Comparison) -> Option<Shift> {
        let common = &comparison.common;
        let common = if common.removed { common.evidence.shift } else { Shift::ZERO };
        let most = self.limit.shift().max(self.own.floor) * OUT_OF_STEP;
        let is_apart = |mean: &Shift| *mean - self.raw() > self.limit.shift();
        self.change.mean_shift.filter(|mean| *mean - common > most).filter(is_apart)
    }
}

/// Conclusion on a kernel's time.
struct Conclusion {
    verdict: Verdict,
    action: Action,
    message: String,
}

fn told(
    comparison: &Comparison,
    policy: &Policy,
    timed: &Timed<'_>,
    standing: Standing,
) -> Conclusion {
    let Timed { change, limit, own, .. } = timed;
    let by_headroom = comparison.basis == Basis::Headroom;
    let first = causes::first(change);
    let moved = || format!("{first}{}", words::moved(change, own, by_headroom));
    let slower = || format!("{first}{}", words::slower(change, own, limit, by_headroom));
    // What is inferred about names fails no more than the policy lets it.
    let at_most = |action: Action| match change.inferred {
        Some(_) => action.min(policy.renamed),
        None => action,
    };
    let told = |verdict, action, message| Conclusion { verdict, action, message };
    match standing {
        _ if timed.is_other_work(standing) => told(Verdict::OtherWork, Action::Notice, moved()),
        Standing::Worse => match clock_explains(change, limit.shift()) {
            Some(reason) => {
                let action = at_most(policy.ambiguous);
                told(Verdict::Ambiguous, action, format!("{}; {reason}", slower()))
            }
            None if timed.renumbered.explain(change) => {
                let action = at_most(policy.ambiguous);
                let message = format!("{}; {RENUMBERED}", slower());
                told(Verdict::Ambiguous, action, message)
            }
            None if policy.may_be_noise(own) => {
                let action = at_most(policy.ambiguous.min(limit.action));
                let message = format!("{}; {}", slower(), words::undeclared());
                told(Verdict::Ambiguous, action, message)
            }
            None => told(Verdict::Regression, at_most(limit.action), slower()),
        },
        Standing::Unsure => {
            let doubt = words::doubt(own, limit.shift());
            let action = at_most(policy.ambiguous);
            told(Verdict::Ambiguous, action, format!("{}; {doubt}", slower()))
        }
        Standing::Better if is_implausible(change, own, policy) => {
            let message = words::implausible(change, timed.fastest(), by_headroom);
            told(Verdict::ImplausibleImprovement, policy.implausible, message)
        }
        Standing::Better => told(Verdict::Improvement, Action::None, moved()),
        Standing::Within => match timed.tail(comparison) {
            Some(mean) => {
                let message = format!("{}; {}", moved(), words::tail(mean, own));
                told(Verdict::Ambiguous, policy.ambiguous, message)
            }
            None => told(Verdict::Unchanged, Action::None, moved()),
        },
    }
}

fn time_check(
    comparison: &Comparison,
    policy: &Policy,
    timed: &Timed<'_>,
    standing: Standing,
) -> Check {
    let Timed { change, limit, own, .. } = timed;
    let by_headroom = comparison.basis == Basis::Headroom;
    // Where a few launches make the change, it is that of all together.
    let tail = timed.tail(comparison).filter(|_| standing == Standing::Within);
    let Conclusion { verdict, mut action, mut message } = told(comparison, policy, timed, standing);
    let is_implausible = verdict == Verdict::ImplausibleImprovement;
    // The numbers are those of the sentence.
    let shown = if is_implausible { timed.fastest() } else { *own };
    let delta =
        tail.map_or_else(|| difference(change, shown), |mean| of_all_launches(change, mean));
    let run = comparison.current.time_s.max(comparison.baseline.time_s);
    let is_enough = || delta.is_none_or(|delta| limit.is_enough(delta.abs(), run));
    let matters = timed.counts && (by_headroom || is_enough());
    let evidence = words::evidence(comparison, change, shown);
    if !matters && action > Action::Notice {
        action = Action::Notice;
        message.push_str(&format!("; {}", words::too_small(timed.counts, limit, delta)));
    }
    let value = |measured: &Measured| {
        if by_headroom {
            measured.headroom.map(Value::from)
        } else {
            measured.launch_s.map(Value::from)
        }
    };
    Check {
        rule: if by_headroom { "headroom" } else { "time" }.to_owned(),
        metric: if by_headroom { Metric::Headroom } else { Metric::Time },
        subject: Subject::kernel(&change.name, &change.after),
        verdict,
        action,
        before: value(&change.before),
        after: value(&change.after),
        change: Some(shown.change()),
        interval: shown.interval(),
        confidence: shown.confidence,
        limit: Some(Allowed::Change(limit.worse)),
        noise: (own.unit != Unit::Runs).then(|| policy.noise_of(shown.floor)),
        delta_s: delta.filter(|_| !by_headroom),
        share: change.after.share,
        matched: Some(change.pair.level),
        more_runs: (verdict == Verdict::Ambiguous)
            .then(|| match standing {
                Standing::Unsure => MoreRuns::of(own, limit.shift()).number(),
                // No number of runs separates a clock from the code.
                Standing::Worse if clock_explains(change, limit.shift()).is_none() => {
                    Some(MORE_RUNS)
                }
                _ => None,
            })
            .flatten(),
        message,
        evidence,
        required: None,
        waived: None,
    }
}

/// The shift as a difference of the kernel's time, symmetric in the two sides.
fn difference(change: &Change, own: &Evidence) -> Option<Seconds> {
    let launches = match &change.inferred {
        // Several kernels together run as often as the one they became, or were.
        Some(one) if one.kind == ProposalKind::Fusion => change.after.launches,
        Some(one) if one.kind == ProposalKind::Split => change.before.launches,
        _ => f64::midpoint(change.before.launches, change.after.launches),
    };
    let middle = (change.before.launch_s?.get() * change.after.launch_s?.get()).sqrt();
    Some(Seconds::new(2.0 * middle * (own.shift.get() / 2.0).sinh() * launches))
}

/// The shift of the mean launch as a difference of the time of as many launches.
fn of_all_launches(change: &Change, mean: Shift) -> Option<Seconds> {
    let before = change.before.time_s? / change.before.launches.max(1.0);
    Some(before * (mean.get().exp_m1() * change.after.launches))
}

/// Returns why the clock may explain a slower kernel: its cycles did not grow as its time did.
pub(super) fn clock_explains(change: &Change, limit: Shift) -> Option<String> {
    let cycles = change.cycles.as_ref()?;
    let clock = Shift::between(change.before.clock_hz?.get(), change.after.clock_hz?.get());
    let least = limit * EXPLAINED;
    // A clock that stayed explains nothing, and a kernel that memory holds up may need fewer cycles.
    (cycles.shift < least && clock < -least).then(|| {
        format!(
            "SM cycles changed by {}, the clock by {}: the clock explains the slowdown, unless \
             the code makes the device throttle",
            words::change(cycles.shift),
            words::change(clock)
        )
    })
}

fn is_implausible(change: &Change, own: &Evidence, policy: &Policy) -> bool {
    let raw = change.raw.as_ref().map_or(own.shift, |raw| raw.shift);
    let far = own.shift.min(raw) < policy.implausible();
    // Faster than the roof allows, which it was not before.
    let beyond =
        |measured: &Measured| measured.headroom_high.is_some_and(|most| most < BEYOND_ROOF);
    // A fusion saves whole kernels.
    let is_same = change.inferred.is_none();
    is_same && (far || beyond(&change.after) && !beyond(&change.before))
}

fn missing(comparison: &Comparison, change: &Change, limit: &Limit, policy: &Policy) -> Check {
    let reason = change.missing.clone().unwrap_or_else(|| "it has no value".to_owned());
    let share = change.share();
    let (verdict, metric) = match comparison.basis {
        Basis::Time if change.is_mixed => (Verdict::Incomparable, Metric::Time),
        Basis::Time => (Verdict::NoData, Metric::Time),
        Basis::Headroom => (Verdict::Incomparable, Metric::Headroom),
    };
    // What has no duration on either side is not judged by its time, and what is judged by the time of all by that.
    let of_all = policy.limit(Metric::KernelTotal, &change.after, &change.name);
    let is_judged = change.is_mixed && of_all.is_some_and(|all| all.action > Action::None);
    let counts = limit.counts(share) && share.is_some() && !is_judged;
    Check {
        verdict,
        action: if counts { policy.incomparable } else { Action::Notice },
        share,
        matched: Some(change.pair.level),
        ..Check::new(
            metric.key(),
            metric,
            Subject::kernel(&change.name, &change.after),
            if change.is_mixed { reason } else { format!("cannot be compared: {reason}") },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{
        self, Run,
        made::{kernel, run},
    };
    use crate::units::{Factor, Hertz, RelativeChange};

    /// A kernel of 5 launches per side, and ten others that stay, each of as much time.
    fn compared(before: f64, after: f64) -> Comparison {
        let side = |time: f64| -> [Run; 1] {
            let mut kernels = vec![kernel("looked_at", &[time; 5])];
            kernels.extend(
                (0..10).map(|at| kernel(&format!("{}_other", (b'a' + at) as char), &[1e-3; 5])),
            );
            [run(kernels)]
        };
        compare::compare(&side(before), &side(after), &compare::Setting::default())
    }

    fn check_of(comparison: &Comparison, policy: &Policy) -> Check {
        let is_it = |check: &Check| match &check.subject {
            Subject::Kernel { name, .. } => name == "looked_at",
            Subject::Run => false,
        };
        judge(comparison, policy).checks.into_iter().find(is_it).unwrap()
    }

    fn declared() -> Policy {
        Policy { noise_is_declared: true, ..Policy::default() }
    }

    /// With one run per side whose noise nobody measured, 22% is the most that noise may do.
    #[test]
    fn one_run_a_side_warns_where_its_noise_was_not_measured() {
        for (after, verdict, action) in [
            (1.20e-3, Verdict::Ambiguous, Action::Warn),
            (1.23e-3, Verdict::Regression, Action::Fail),
        ] {
            let check = check_of(&compared(1e-3, after), &Policy::default());
            assert_eq!((check.verdict, check.action), (verdict, action), "{check:?}");
        }
        let check = check_of(&compared(1e-3, 1.2e-3), &Policy::default());
        assert_eq!(check.more_runs, Some(2));
        assert!(check.message.contains("`rooflint calibrate`"), "{check:?}");
    }

    /// With one run per side and no spread, the floor is 3%, the limit 5%: 6% fail, 4% do not.
    #[test]
    fn a_kernel_beyond_its_limit_and_the_noise_is_a_regression() {
        let policy = declared();
        for (after, verdict, action) in [
            (1.06e-3, Verdict::Regression, Action::Fail),
            (1.04e-3, Verdict::Unchanged, Action::None),
            (0.90e-3, Verdict::Improvement, Action::None),
            // Less than a third of the time.
            (0.30e-3, Verdict::ImplausibleImprovement, Action::Warn),
        ] {
            let check = check_of(&compared(1e-3, after), &policy);
            assert_eq!((check.verdict, check.action), (verdict, action), "{after}: {check:?}");
        }
    }

    /// Five launches of 1 ms that take 0.1 ms longer each: 0.5 ms, which is what the shift of `ln 1.1` makes
    /// of the geometric middle: 2 √1.1 sinh(ln √1.1) = 1.1 - 1.
    #[test]
    fn the_difference_is_that_of_the_times_and_mirrors() {
        let delta = |before: f64, after: f64| {
            check_of(&compared(before, after), &Policy::default()).delta_s.unwrap().get()
        };
        assert!((delta(1e-3, 1.1e-3) - 0.5e-3).abs() < 1e-12);
        assert!((delta(1e-3, 1.1e-3) + delta(1.1e-3, 1e-3)).abs() < 1e-15);
    }

    /// 20% of 5 launches of 1.5 µs are 1.5 µs: less than the 5 µs that count in a run of 1 ms, and more than
    /// 1% of a run of 83 µs.
    #[test]
    fn what_is_too_small_is_shown_and_decides_nothing() {
        let small = |others: f64| {
            let side = |time: f64| {
                let mut kernels = vec![kernel("looked_at", &[time; 5])];
                kernels.extend(
                    (0..10)
                        .map(|at| kernel(&format!("{}_other", (b'a' + at) as char), &[others; 5])),
                );
                [run(kernels)]
            };
            let setting = compare::Setting::default();
            check_of(&compare::compare(&side(1.5e-6), &side(1.8e-6), &setting), &declared())
        };
        let long = small(20.5e-6);
        assert_eq!((long.verdict, long.action), (Verdict::Regression, Action::Notice));
        assert!(long.message.ends_with("is below the minimum of 5.00 µs"), "{long:?}");
        assert_eq!(small(1.5e-6).action, Action::Fail);
        // And kernels with less than half a percent count only in the total.
        let minor = small(1e-3);
        assert!(minor.action <= Action::Notice, "{minor:?}");
    }

    /// The clock fell by 10% and cycles stayed: of a limit of 5%, each is on its side of the half.
    #[test]
    fn a_clock_explains_time_that_cycles_do_not_show() {
        let limit = RelativeChange::new(0.05).shift();
        let mut comparison = compared(1e-3, 1.1e-3);
        let change =
            comparison.changes.iter_mut().find(|change| change.name == "looked_at").unwrap();
        assert_eq!(clock_explains(change, limit), None);
        change.before.clock_hz = Some(Hertz::new(1.8e9));
        change.after.clock_hz = Some(Hertz::new(1.62e9));
        let own = change.own.clone().unwrap();
        change.cycles = Some(Evidence { shift: Shift::ZERO, ..own.clone() });
        assert!(clock_explains(change, limit).unwrap().contains("the clock by -10.0%"));
        change.cycles = Some(Evidence { shift: limit, ..own });
        assert_eq!(clock_explains(change, limit), None);
        change.cycles = None;
        assert_eq!(clock_explains(change, limit), None);
    }

    /// Half of its roof before, 4% beyond it now: it is not believed, though it is no three times as fast.
    #[test]
    fn what_is_faster_than_its_roof_is_hard_to_believe() {
        let mut comparison = compared(1e-3, 0.8e-3);
        let at = comparison.changes.iter().position(|one| one.name == "looked_at").unwrap();
        let policy = Policy::default();
        assert_eq!(check_of(&comparison, &policy).verdict, Verdict::Improvement);
        comparison.changes[at].after.headroom_high = Some(Factor::new(0.96));
        assert_eq!(check_of(&comparison, &policy).verdict, Verdict::ImplausibleImprovement);
        comparison.changes[at].before.headroom_high = Some(Factor::new(0.96));
        assert_eq!(check_of(&comparison, &policy).verdict, Verdict::Improvement);
    }
}
