//! Decisions made by hand for the outputs of the gate: one with everything and names that break out of
//! quotes, one that is clean, one that is empty, and the smallest that fails.

use std::collections::BTreeMap;

use rooflint::compare::{
    Basis, Change, Common, Comparison, Contribution, ContributionKind, Contributions, Coverage,
    Evidence, Lone, MatchLevel, Measured, Pair, ProposalKind, Side, Unit,
};
use rooflint::gate::{
    Action, Allowed, Check, CodePlace, Decision, Detectable, GateWaiver, Guess, Limit, Metric,
    Outcome, Policy, Selector, Subject, Value, Verdict,
};

use rooflint::units::{Bytes, Factor, Hertz, Probability, RelativeChange, Seconds, Share, Shift};

const DEVICE: &str = "NVIDIA H100 SXM5 80 GB";

/// Names as exports hold them, and worse.
pub(crate) const NAMES: [&str; 12] = [
    "sm90_xmma_gemm_f16f16_f16f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_kernel",
    "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>, at::detail::Array<char*, 3> >(int, at::native::AddFunctor<float>, at::detail::Array<char*, 3>)",
    "triton_red_fused_native_layer_norm_3",
    "a|b`c<img src=x onerror=alert(1)>*_d_*",
    "</script><script>alert(1)</script>",
    "100%25 sure, really: %0A::error::injected",
    "line one\n::error file=a.py::injected\r\n::stop-commands::x",
    "\u{1b}]0;owned\u{7}\u{1b}[31mred\u{1b}[0m\u{202e}desrever",
    "\"quoted\" & 'single' ]]> \u{fffe}\u{0}",
    "@team [link](http://example.com) #1 ~~x~~ {{7*7}}",
    "memcpy HtoD",
    "",
];

fn seconds(value: f64) -> Value {
    Seconds::new(value).into()
}

fn limit(change: f64) -> Allowed {
    Allowed::Change(RelativeChange::new(change))
}

fn interval(low: f64, high: f64) -> [RelativeChange; 2] {
    [low, high].map(RelativeChange::new)
}

/// A kernel whose short name is the beginning of its full one.
fn kernel(full_name: &str) -> Subject {
    let short = full_name.strip_prefix("void ").unwrap_or(full_name);
    let name = short.split(['(', '<']).next().unwrap_or(short);
    let name = if name.trim().is_empty() { short } else { name };
    Subject::Kernel {
        name: name.to_owned(),
        full_name: full_name.to_owned(),
        shape: "108 / 256".to_owned(),
        device: DEVICE.to_owned(),
        operator: Some("aten::linear".to_owned()),
    }
}

/// A check of time: `change` is relative, `before` in seconds.
pub(crate) fn timed(
    full_name: &str,
    verdict: Verdict,
    action: Action,
    before: f64,
    change: f64,
) -> Check {
    let after = before * (1.0 + change);
    Check {
        rule: "time".to_owned(),
        metric: Metric::Time,
        subject: kernel(full_name),
        verdict,
        action,
        before: Some(seconds(before)),
        after: Some(seconds(after)),
        change: Some(RelativeChange::new(change)),
        interval: Some(interval(change - 0.021, change + 0.018)),
        confidence: Some(Probability::new(0.95)),
        limit: Some(limit(0.05)),
        noise: None,
        delta_s: Some(Seconds::new(after - before)),
        share: Some(Share::new(after / 20e-3)),
        matched: Some(MatchLevel::Exact),
        more_runs: None,
        message: format!(
            "takes {:.1}% more time, at least {:.1}%",
            change * 100.0,
            change * 100.0 - 2.1
        ),
        evidence: vec![format!("SM cycles changed by +{:.1}%", change * 98.0)],
        required: None,
        waived: None,
    }
}

/// A check of the whole run.
fn of_run(rule: &str, metric: Metric, verdict: Verdict, action: Action, change: f64) -> Check {
    Check {
        rule: rule.to_owned(),
        metric,
        subject: Subject::Run,
        before: (metric == Metric::Total).then(|| seconds(18.2e-3)),
        after: (metric == Metric::Total).then(|| seconds(18.2e-3 * (1.0 + change))),
        limit: Some(limit(0.03)),
        delta_s: None,
        share: None,
        matched: None,
        message: format!("the run changed by {:.1}%", change * 100.0),
        evidence: Vec::new(),
        required: None,
        ..timed("", verdict, action, 1.0, change)
    }
}

fn checks() -> Vec<Check> {
    use Verdict::{
        Ambiguous, Improvement, Incomparable, New, Regression, Unchanged, Vanished, Violation,
    };
    let roof = Check {
        rule: "gemms near roofline".to_owned(),
        metric: Metric::Roof,
        before: None,
        after: Some(Share::new(0.412).into()),
        change: None,
        interval: None,
        confidence: None,
        limit: Some(Allowed::Bound(Share::new(0.7).into())),
        delta_s: None,
        message: "roof is 41.2%, bound \"gemms near roofline\" requires at least 70.0%".to_owned(),
        evidence: Vec::new(),
        required: None,
        matched: None,
        ..timed(NAMES[5], Violation, Action::Fail, 1.1e-3, 0.0)
    };
    let lone = |name: &str, verdict, action| Check {
        rule: if verdict == New { "new" } else { "vanished" }.to_owned(),
        metric: Metric::Presence,
        before: (verdict == Vanished).then(|| seconds(0.21e-3)),
        after: (verdict == New).then(|| seconds(0.34e-3)),
        change: None,
        interval: None,
        confidence: None,
        limit: None,
        delta_s: None,
        share: Some(Share::new(0.017)),
        matched: None,
        message: format!(
            "only in {}",
            if verdict == New { "the current run" } else { "the baseline" }
        ),
        evidence: Vec::new(),
        required: None,
        ..timed(name, verdict, action, 0.2e-3, 0.0)
    };
    vec![
        Check {
            evidence: vec![
                "SM cycles changed by +12.1%".to_owned(),
                "the same bytes and operations as before".to_owned(),
                "its mean launch grew by as much as its median".to_owned(),
            ],
            ..timed(NAMES[0], Regression, Action::Fail, 7.4e-3, 0.123)
        },
        Check {
            matched: Some(MatchLevel::Family),
            ..timed(NAMES[3], Regression, Action::Fail, 0.9e-3, 0.31)
        },
        roof,
        of_run("total", Metric::Total, Regression, Action::Fail, 0.0712),
        Check {
            noise: Some(RelativeChange::new(0.03)),
            more_runs: Some(4),
            interval: Some(interval(-0.012, 0.164)),
            message: "takes 7.6% more time, but that is not certain; 4 more runs per side would \
                      settle it"
                .to_owned(),
            ..timed(NAMES[1], Ambiguous, Action::Inconclusive, 1.4e-3, 0.076)
        },
        Check {
            message: format!(
                "{} cannot be compared: the baseline has no duration for it",
                "memcpy HtoD"
            ),
            before: None,
            change: None,
            interval: None,
            limit: None,
            delta_s: None,
            ..timed(NAMES[10], Incomparable, Action::Warn, 0.3e-3, 0.0)
        },
        timed(NAMES[6], Regression, Action::Warn, 0.12e-3, 0.09),
        lone(NAMES[7], Vanished, Action::Warn),
        lone(NAMES[4], New, Action::Notice),
        timed(NAMES[2], Improvement, Action::None, 2.2e-3, -0.184),
        Check {
            waived: Some("known: the new layout pays off elsewhere, see <#12>".to_owned()),
            ..timed(NAMES[8], Regression, Action::None, 0.4e-3, 0.11)
        },
        timed(NAMES[9], Unchanged, Action::None, 1.0e-3, 0.002),
        timed(NAMES[11], Unchanged, Action::None, 0.1e-3, 0.0),
        of_run("common-shift", Metric::CommonShift, Unchanged, Action::None, 0.004),
    ]
}

fn shift(change: f64) -> Shift {
    RelativeChange::new(change).shift()
}

fn evidence(change: f64) -> Evidence {
    Evidence {
        shift: shift(change),
        low: Some(shift(change - 0.021)),
        high: Some(shift(change + 0.018)),
        confidence: Some(Probability::new(0.9375)),
        unit: Unit::Runs,
        before: 5,
        after: 5,
        standard_error: Some(Shift::new(0.004)),
        degrees: Some(8.0),
        floor: Shift::ZERO,
        tick: Shift::ZERO,
        within: Some(Shift::new(0.011)),
        between: Some(Shift::new(0.006)),
        drift: None,
    }
}

fn measured(time_s: f64, name: &str) -> Measured {
    Measured {
        in_runs: (0..5).collect(),
        runs: 5,
        launches: 24.0,
        by_run: Vec::new(),
        time_s: Some(Seconds::new(time_s)),
        launch_s: Some(Seconds::new(time_s / 24.0)),
        share: Some(Share::new(time_s / 20e-3)),
        bytes: Some(Bytes::new(1.2e9)),
        flops: None,
        fp64_flops: None,
        per_launch: rooflint::compare::PerLaunch::default(),
        headroom: Some(Factor::new(1.8)),
        headroom_low: Some(Factor::new(1.7)),
        headroom_high: Some(Factor::new(1.8)),
        savings_s: Some(Seconds::new(time_s / 4.0)),
        clock_hz: Some(Hertz::new(1.755e9)),
        category: if name.contains("gemm") { "dot-product" } else { "elementwise" }.to_owned(),
        operator: Some("aten::linear".to_owned()),
        full_name: name.to_owned(),
        shape: "108 / 256".to_owned(),
        device: DEVICE.to_owned(),
        findings: vec![("low-occupancy".to_owned(), rooflint::rules::Severity::Medium)],
        rules: None,
        skipped_rules: rooflint::compare::RuleList::default(),
    }
}

fn comparison() -> Comparison {
    let side = |name: &str, time_s: f64| Side {
        labels: (1..=5).map(|run| format!("{name}-{run}.csv")).collect(),
        devices: vec![DEVICE.to_owned()],
        time_s: Seconds::new(time_s),
        launches: 288.0,
        warmup: 0,
        is_warmup_partial: false,
        kernels: 12,
        commits: vec![if name == "main" { "4f2a91c" } else { "b07d3ee" }.to_owned()],
        spread: Some(Shift::new(0.0061)),
    };
    let change = |name: &str, time: f64, by: f64| Change {
        pair: Pair { level: MatchLevel::Exact, before: vec![0], after: vec![0] },
        name: name.to_owned(),
        was: None,
        before: measured(time, name),
        after: measured(time * (1.0 + by), name),
        raw: Some(evidence(by + 0.004)),
        own: Some(evidence(by)),
        missing: None,
        is_mixed: false,
        launches_shift: Shift::ZERO,
        of_all: None,
        cycles: Some(evidence(by * 0.98)),
        mean_shift: Some(Shift::new(by)),
        p_launches: Some(Probability::new(0.000_1)),
        work: None,
        inferred: None,
    };
    Comparison {
        basis: Basis::Time,
        baseline: side("main", 18.2e-3),
        current: side("now", 19.5e-3),
        order: Some("ABBAABBAAB".to_owned()),
        common: Common {
            evidence: evidence(0.004),
            kernels: 12,
            removed: true,
            reason: "median over 12 kernels".to_owned(),
            cycles: Some(Shift::new(0.000_2)),
            split: None,
        },
        total: evidence(0.0712),
        total_own: None,
        odd: Vec::new(),
        coverage: Coverage {
            compared: Share::new(0.97),
            unmeasured: Share::ZERO,
            missing: Share::new(0.03),
        },
        total_typical: None,
        work: Factor::ONE,
        other_work: Factor::ONE,
        contributions: contributions(),
        changes: vec![change(NAMES[0], 7.4e-3, 0.123), change(NAMES[2], 2.2e-3, -0.184)],
        new: vec![Lone {
            kernel: 7,
            name: NAMES[4].to_owned(),
            measured: measured(0.34e-3, NAMES[4]),
        }],
        vanished: vec![Lone {
            kernel: 3,
            name: NAMES[7].to_owned(),
            measured: measured(0.21e-3, NAMES[7]),
        }],
        proposals: Vec::new(),
        cut_off: None,
        unequal_warmup: false,
        doubts: vec!["the driver differs: 550.54 before, 560.35 now".to_owned()],
        notes: Vec::new(),
    }
}

fn contributions() -> Contributions {
    let part = |kind, name: &str, before_s: f64, after_s: f64| Contribution {
        kind,
        name: name.to_owned(),
        was: None,
        shape: "108 / 256".to_owned(),
        operator: None,
        before_s: Seconds::new(before_s),
        after_s: Seconds::new(after_s),
        change_s: Seconds::new(after_s - before_s),
        launches_before: 24.0,
        launches_after: if kind == ContributionKind::Launches { 36.0 } else { 24.0 },
    };
    Contributions {
        change_s: Seconds::new(1.3e-3),
        parts: vec![
            part(ContributionKind::LaunchTime, NAMES[0], 7.4e-3, 8.31e-3),
            part(ContributionKind::Launches, NAMES[1], 1.4e-3, 2.1e-3),
            part(ContributionKind::LaunchTime, NAMES[2], 2.2e-3, 1.8e-3),
            part(ContributionKind::New, NAMES[4], 0.0, 0.34e-3),
            part(ContributionKind::Vanished, NAMES[7], 0.21e-3, 0.0),
        ],
        rest_s: Seconds::new(-0.04e-3),
    }
}

fn counts(checks: &[Check]) -> BTreeMap<Verdict, usize> {
    let mut counts = BTreeMap::new();
    for check in checks {
        *counts.entry(check.verdict).or_default() += 1;
    }
    counts
}

/// Everything that a decision can hold.
pub(crate) fn full() -> Decision {
    let checks = checks();
    Decision {
        outcome: Outcome::Failed,
        warn_only: false,
        reason: "2 kernels and the whole run exceeded the limit, and 1 bound is violated"
            .to_owned(),
        counts: counts(&checks),
        checks,
        comparison: Some(comparison()),
        alone: None,
        guesses: vec![Guess {
            kind: ProposalKind::Rename,
            before: vec![NAMES[7].to_owned()],
            after: vec![NAMES[4].to_owned()],
            before_s: Seconds::new(0.21e-3),
            after_s: Seconds::new(0.34e-3),
            confidence: Probability::new(0.7),
            why: "same grid and block, similar time".to_owned(),
            is_judged: false,
        }],
        detectable: Some(Detectable {
            change: RelativeChange::new(0.024),
            power: Probability::new(0.9),
        }),
        method: vec![
            "5 and 5 runs: the run is the unit of repetition.".to_owned(),
            "A regression exceeds the limit with its whole interval.".to_owned(),
        ],
        notes: vec!["waiver for *softmax* expired on 2026-10-31".to_owned()],
        decides: true,
        lacks_baseline: None,
    }
}

/// A gate that passed, with a kernel that did not move.
pub(crate) fn clean() -> Decision {
    let checks = vec![
        of_run("total", Metric::Total, Verdict::Unchanged, Action::None, 0.001),
        timed(NAMES[0], Verdict::Unchanged, Action::None, 7.4e-3, 0.001),
    ];
    let mut comparison = comparison();
    comparison.changes.truncate(1);
    comparison.new.clear();
    comparison.vanished.clear();
    comparison.doubts.clear();
    comparison.total = evidence(0.001);
    comparison.baseline.labels = vec!["main 1.csv".to_owned()];
    comparison.current.labels = vec!["now.csv".to_owned()];
    Decision {
        outcome: Outcome::Passed,
        reason: "no check exceeds its limit".to_owned(),
        counts: counts(&checks),
        checks,
        comparison: Some(comparison),
        guesses: Vec::new(),
        notes: Vec::new(),
        ..full()
    }
}

/// Nothing to judge at all.
pub(crate) fn empty() -> Decision {
    Decision {
        outcome: Outcome::NothingMeasured,
        warn_only: false,
        reason: "no launch of the current side has a duration".to_owned(),
        checks: Vec::new(),
        counts: BTreeMap::new(),
        comparison: None,
        alone: None,
        guesses: Vec::new(),
        detectable: None,
        method: Vec::new(),
        notes: Vec::new(),
        decides: true,
        lacks_baseline: None,
    }
}

/// A first run: nothing to compare with, and no bound.
pub(crate) fn first() -> Decision {
    let alone = comparison().current;
    let passed = Decision {
        outcome: Outcome::Passed,
        reason: "no check exceeds its limit".to_owned(),
        alone: Some(alone),
        ..empty()
    };
    passed.without_baseline("there is no baseline main*.csv".to_owned(), false)
}

/// One kernel that fails, without a comparison.
pub(crate) fn single() -> Decision {
    let checks = vec![timed(NAMES[1], Verdict::Regression, Action::Fail, 3.3e-6, 0.5)];
    Decision {
        outcome: Outcome::Failed,
        reason: "1 kernel exceeded the limit".to_owned(),
        counts: counts(&checks),
        checks,
        ..empty()
    }
}

/// Many kernels that fail, warn and are told, under names that take turns.
pub(crate) fn many(kernels: usize) -> Decision {
    let actions = [Action::Fail, Action::Warn, Action::Notice, Action::Inconclusive, Action::None];
    let checks: Vec<Check> = (0..kernels)
        .map(|number| {
            let name = format!("{} {number}", NAMES[number % NAMES.len()]);
            let action = actions[number % actions.len()];
            timed(&name, Verdict::Regression, action, 1e-3, 0.1)
        })
        .collect();
    let lone = |number: usize| Lone {
        kernel: number,
        name: format!("{} {number}", NAMES[number % NAMES.len()]),
        measured: measured(1e-4, ""),
    };
    let mut both = comparison();
    both.new = (0..kernels).map(lone).collect();
    Decision { counts: counts(&checks), checks, comparison: Some(both), ..full() }
}

/// A policy with places of code and a waiver.
pub(crate) fn policy() -> Policy {
    let place =
        |selector: Selector, file: &str, line| CodePlace { selector, file: file.to_owned(), line };
    let by_name = Selector { kernel: Some("*<img*".to_owned()), ..Selector::default() };
    let by_sort = Selector {
        operator: Some("aten::lin*".to_owned()),
        category: Some("dot-product".to_owned()),
        ..Selector::default()
    };
    Policy {
        limits: [(Metric::Time, 0.05), (Metric::Total, 0.03)]
            .map(|(metric, worse)| Limit::new(metric, RelativeChange::new(worse)))
            .to_vec(),
        required: vec!["*gemm*".to_owned()],
        waivers: vec![GateWaiver {
            selector: Selector { kernel: Some("*quoted*".to_owned()), ..Selector::default() },
            metric: Some(Metric::Time),
            reason: "known".to_owned(),
            owner: Some("kernels".to_owned()),
            expires: rooflint::model::Date::new(2027, 1, 31),
        }],
        code: vec![
            place(by_sort, "model/linear layers.py", 42),
            place(by_name, "src\\odd,name:1.cu", 7),
        ],
        ..Policy::default()
    }
}
