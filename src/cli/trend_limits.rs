//! `trend --gate`: what got worse over the history by more than the policy allows.

use std::collections::BTreeSet;

use crate::compare::Measured;
use crate::gate::{Action, GateWaiver, Limit, Metric, Policy};
use crate::history::{ENOUGH, Least, Line, MIN_CHANGE, MIN_STEP, Trend, TrendMetric};
use crate::model::Date;
use crate::units::{RelativeChange, Seconds, change, change_limit};

/// Adds what got worse by more than the policy allows, and stayed so: a sentence for the run and each
/// kernel. What fails, what is inconclusive, what only warns and what a waiver accepts are kept apart. Where nothing was
/// checked, that is inconclusive, too; where too few commits are the reason, a note if `allows_short`.
pub(super) fn judge(trend: &mut Trend, policy: &Policy, today: Date, allows_short: bool) {
    let lines = || trend.kernels.iter().chain(&trend.whole);
    let (mut exceeded, mut inconclusive, mut warned) = (Vec::new(), Vec::new(), Vec::new());
    // What waived kernels cost, and so no limit on the whole run forbids.
    let mut accepted = Seconds::ZERO;
    for line in lines() {
        let Some((limit, sentence)) = beyond(line, policy) else { continue };
        let (expired, valid): (Vec<_>, Vec<_>) = policy
            .waivers
            .iter()
            .filter(|waiver| is_meant(line, waiver))
            .partition(|waiver| Date::past(waiver.expires, Some(today)).is_some());
        let with_expired = || {
            let expired = expired.iter().filter_map(|waiver| waiver.expires).max();
            let expired = expired.map_or_else(String::new, |expires| {
                format!("; the waiver for it expired on {expires}")
            });
            format!("{sentence}{expired}")
        };
        match (valid.first(), limit.action) {
            (Some(waiver), _) => {
                accepted += line.cost_s;
                warned.push(format!("waived: {sentence} ({})", waiver.reason));
            }
            (None, _)
                if line.kernel.is_none()
                    && accepted > Seconds::ZERO
                    && without(line, accepted).shift() <= limit.shift() =>
            {
                let rest = change(without(line, accepted));
                warned.push(format!(
                    "waived: {sentence} ({rest} without the kernels that are waived)"
                ));
            }
            (None, Action::Fail) => exceeded.push(with_expired()),
            (None, Action::Inconclusive) => inconclusive.push(with_expired()),
            (None, Action::Warn | Action::Notice | Action::None) => warned.push(sentence),
        }
    }
    let unchecked = unchecked(&lines().collect::<Vec<_>>(), policy);
    match unchecked {
        Some(Unchecked::Short(sentence)) if allows_short => trend.notes.push(sentence),
        Some(Unchecked::Short(sentence) | Unchecked::Unlimited(sentence)) => {
            inconclusive.push(sentence);
        }
        None => {}
    }
    (trend.exceeded, trend.inconclusive, trend.warned) = (exceeded, inconclusive, warned);
}

/// Why nothing was checked at all.
enum Unchecked {
    /// No line has enough commits yet.
    Short(String),
    /// The policy limits nothing that is followed.
    Unlimited(String),
}

/// Returns why no line was checked; `None` if any was.
fn unchecked(lines: &[&Line], policy: &Policy) -> Option<Unchecked> {
    let is_limited =
        |line: &&&Line| limit(line, policy).is_some_and(|limit| limit.action > Action::None);
    if lines.iter().filter(is_limited).any(|line| line.is_judged) {
        return None;
    }
    if !lines.is_empty() && !lines.iter().any(|line| is_limited(&line)) {
        let keys: BTreeSet<&str> = lines.iter().map(|line| metric_of(line).key()).collect();
        let keys = keys.into_iter().collect::<Vec<_>>().join(" or ");
        let sentence = format!("the policy has no active limit on {keys}: nothing was checked");
        return Some(Unchecked::Unlimited(sentence));
    }
    Some(Unchecked::Short(format!(
        "nothing was checked: a line needs values of {ENOUGH} commits or more"
    )))
}

/// How far the whole run is above its best level without what is accepted.
fn without(whole: &Line, accepted: Seconds) -> RelativeChange {
    let best = whole.run_s - whole.cost_s;
    RelativeChange::new((whole.cost_s - accepted) / best)
}

/// The limit that a line exceeds, if it has one worth a report, and the sentence about it.
fn beyond<'a>(line: &Line, policy: &'a Policy) -> Option<(&'a Limit, String)> {
    // A kernel that the newest run does not have costs nothing any more.
    let is_there = line.values.last().is_some_and(Option::is_some);
    let worsening = line.worsening().filter(|_| is_there)?;
    let limit = limit(line, policy).filter(|limit| limit.action > Action::None)?;
    let name = line.kernel.as_deref().unwrap_or("the whole run");
    // A limit on time holds for headroom, too, if that has none; its floor stays one in seconds.
    let is_enough = match limit.metric {
        Metric::Headroom | Metric::Share => line.excess() >= limit.least(),
        _ => limit.is_enough(line.cost_s, line.run_s),
    };
    let counts = line.kernel.is_none() || limit.counts(line.share);
    (worsening.shift() > limit.shift() && is_enough && counts).then(|| {
        let (by, most) = (change(worsening), change_limit(limit.worse));
        (limit, format!("{name} is {by} above its best level in the history, limit {most}"))
    })
}

/// The smallest changes to look for: as small as the policy allows none, and as a step may be.
pub(super) fn least(metric: TrendMetric, policy: &Policy) -> Least {
    let of = |of_run: bool| {
        let line = Line { kernel: (!of_run).then(String::new), metric, ..Line::default() };
        let own = metric_of(&line);
        let limits = policy.limits.iter().filter(|limit| {
            let is_of_time = own == Metric::Headroom && limit.metric == Metric::Time;
            // Mixed kernels are followed by the time of all.
            let is_of_all = own == Metric::Time && limit.metric == Metric::KernelTotal;
            let is_meant = limit.metric == own || is_of_time || is_of_all;
            limit.action > Action::None && is_meant
        });
        let least = limits.map(|limit| limit.worse).min_by(RelativeChange::total_cmp);
        let least =
            least.map_or(MIN_CHANGE, |least| if least < MIN_CHANGE { least } else { MIN_CHANGE });
        if least < MIN_STEP { MIN_STEP } else { least }
    };
    Least { run: of(true), kernel: of(false) }
}

/// The metric of a policy that a line follows.
const fn metric_of(line: &Line) -> Metric {
    match line.metric {
        _ if line.kernel.is_none() => Metric::Total,
        TrendMetric::Time => Metric::Time,
        TrendMetric::Total => Metric::KernelTotal,
        TrendMetric::Headroom => Metric::Headroom,
        TrendMetric::Share => Metric::Share,
    }
}

/// What selectors look at.
fn measured(line: &Line) -> Measured {
    Measured {
        full_name: line.full_name.clone().unwrap_or_default(),
        operator: line.operator.clone(),
        category: line.category.clone(),
        ..Measured::default()
    }
}

/// Returns the limit of a line: that of its metric. A headroom without one has the limit of the time; a share has
/// none, because it grows where others get faster.
fn limit<'a>(line: &Line, policy: &'a Policy) -> Option<&'a Limit> {
    let own = metric_of(line);
    let Some(name) = &line.kernel else { return policy.limit_of_run(own) };
    let kernel = measured(line);
    let of_time = || (own == Metric::Headroom).then(|| policy.limit(Metric::Time, &kernel, name));
    policy.limit(own, &kernel, name).or_else(|| of_time().flatten())
}

/// Whether a waiver, expired or not, is about what a line shows.
fn is_meant(line: &Line, waiver: &GateWaiver) -> bool {
    let own = metric_of(line);
    waiver.metric.is_none_or(|metric| metric == own)
        && match &line.kernel {
            Some(name) => waiver.selector.fits(name, &measured(line)),
            None => waiver.metric == Some(own) && waiver.selector.is_everything(),
        }
}
