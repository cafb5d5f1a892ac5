//! The right name on it: renames, fusions, launches, other work, and who made the total change.

use rooflint::compare::ContributionKind::{Launches, New, Vanished};
use rooflint::compare::{ContributionKind, ProposalKind, Run};
use rooflint::gate::{
    self, Action, Check, Decision, Limit, Metric, Normalize, Outcome, Policy, Selector, Setting,
    Verdict,
};
use rooflint::units::{Bytes, Flops, RelativeChange};

use super::made::run;

/// Five runs of kernels with this name, time of a launch in µs and number of launches, with 0.5% of noise.
fn side(label: &str, kernels: &[(&str, f64, usize)]) -> Vec<Run> {
    let noise = |at: usize| 1.0 + ((at * 37 + 11) % 21) as f64 / 4000.0;
    let one = |run_at: usize| {
        let of = |(place, (name, time, launches)): (usize, &(&str, f64, usize))| {
            let times = (0..*launches).map(|launch| time * noise(launch * 7 + run_at * 3 + place));
            ((*name).to_owned(), times.collect())
        };
        let kernels: Vec<(String, Vec<f64>)> = kernels.iter().enumerate().map(of).collect();
        run(&format!("{label}-{run_at}.csv"), &kernels)
    };
    (0..5).map(one).collect()
}

fn judged(before: &[Run], after: &[Run], policy: &Policy) -> Decision {
    let setting = Setting { decides: true, ..Setting::default() };
    gate::judge(before, after, policy, &setting)
}

/// Kernels beside those that a test looks at: 80% of the time.
const OTHERS: [(&str, f64, usize); 4] = [
    ("ampere_sgemm_128x64_tn", 400.0, 20),
    ("layer_norm_kernel", 200.0, 20),
    ("bias_gelu_kernel", 100.0, 20),
    ("residual_add_kernel", 100.0, 20),
];

fn with(extra: &[(&'static str, f64, usize)]) -> Vec<(&'static str, f64, usize)> {
    OTHERS.iter().chain(extra).copied().collect()
}

fn of_rule<'a>(decision: &'a Decision, rule: &str) -> Option<&'a Check> {
    decision.checks.iter().find(|check| check.rule == rule && check.action > Action::None)
}

#[test]
fn a_kernel_that_was_renamed_and_got_slower_fails_by_both_names() {
    let before = side("main", &with(&[("softmax_warp_forward", 200.0, 20)]));
    for name in ["softmax_warp_forward_v2", "row_probabilities"] {
        let after = side("now", &with(&[(name, 230.0, 20)]));
        {
            let decision = judged(&before, &after, &Policy::default());
            assert_eq!(decision.outcome, Outcome::Failed, "{name}: {}", decision.reason);
            let check = of_rule(&decision, "time").unwrap();
            assert_eq!((check.verdict, check.action), (Verdict::Regression, Action::Fail));
            let text = &check.message;
            let renamed = format!("softmax_warp_forward was renamed to {name} (");
            assert!(text.starts_with(&renamed) && text.contains("confidence"), "{text}");
            assert!(text.contains("+15.") || text.contains("+14."), "{text}");
            assert!(of_rule(&decision, "vanished").is_none(), "it has not vanished");
        }
        // As fast under its new name, it is neither new nor gone nor slower.
        let same = side("now", &with(&[(name, 200.0, 20)]));
        let decision = judged(&before, &same, &Policy::default());
        assert_eq!(decision.outcome, Outcome::Passed, "{}", decision.reason);
        assert!(of_rule(&decision, "vanished").is_none() && of_rule(&decision, "new").is_none());
    }
}

#[test]
fn the_policy_says_what_a_renamed_regression_means() {
    // Half of the limit of the total: only the kernel can tell.
    let before = side("main", &with(&[("softmax_warp_forward", 80.0, 20)]));
    let after = side("now", &with(&[("softmax_warp_forward_v2", 92.0, 20)]));
    for (renamed, outcome) in [
        (Action::Fail, Outcome::Failed),
        (Action::Warn, Outcome::Passed),
        (Action::None, Outcome::Passed),
    ] {
        let decision = judged(&before, &after, &Policy { renamed, ..Policy::default() });
        assert_eq!(decision.outcome, outcome, "{renamed:?}: {}", decision.reason);
        let is_judged = decision.guesses.iter().any(|guess| guess.is_judged);
        assert_eq!(is_judged, renamed != Action::None);
        assert_eq!(of_rule(&decision, "vanished").is_some(), renamed == Action::None);
    }
}

#[test]
fn a_fusion_or_a_split_that_is_slower_than_its_parts_fails() {
    let parts = with(&[("scale_kernel", 100.0, 20), ("mask_kernel", 100.0, 20)]);
    let whole = |time: f64| with(&[("scale_mask_kernel", time, 20)]);
    let found = |before: &[(&str, f64, usize)], after: &[(&str, f64, usize)]| {
        judged(&side("main", before), &side("now", after), &Policy::default())
    };
    let fused = found(&parts, &whole(260.0));
    assert_eq!(fused.outcome, Outcome::Failed);
    let check = of_rule(&fused, "time").unwrap();
    assert!(
        check.message.starts_with("mask_kernel + scale_kernel were fused into scale_mask_kernel")
            || check.message.starts_with("scale_kernel + mask_kernel were fused into"),
        "{}",
        check.message
    );
    assert!((check.change.unwrap().get() - 0.3).abs() < 0.02, "{check:?}");
    assert_eq!(fused.guesses[0].kind, ProposalKind::Fusion);
    assert_eq!(found(&parts, &whole(150.0)).outcome, Outcome::Passed);
    let split =
        found(&whole(200.0), &with(&[("scale_kernel", 130.0, 20), ("mask_kernel", 130.0, 20)]));
    assert_eq!(split.outcome, Outcome::Failed);
    assert!(of_rule(&split, "time").unwrap().message.contains("was split into"));
}

#[test]
fn two_kernels_that_may_be_either_are_not_taken_for_one() {
    let before = side("main", &with(&[("pack_left", 100.0, 20), ("pack_right", 100.0, 20)]));
    let after = side("now", &with(&[("pack_up", 100.0, 20), ("pack_down", 102.0, 20)]));
    let decision = judged(&before, &after, &Policy::default());
    assert!(decision.guesses.iter().all(|guess| !guess.is_judged), "{:?}", decision.guesses);
    assert!(of_rule(&decision, "vanished").is_some());
}

/// 10 launches of 20 µs beside 16 ms: 1.2%, 2.5% with twice as many.
#[test]
fn a_kernel_that_is_launched_twice_as_often_is_named() {
    let before = side("main", &with(&[("allreduce_kernel", 40.0, 10)]));
    let after = side("now", &with(&[("allreduce_kernel", 40.0, 20)]));
    let decision = judged(&before, &after, &Policy::default());
    assert_eq!(decision.outcome, Outcome::Passed, "{}", decision.reason);
    let check = of_rule(&decision, "kernel-total").unwrap();
    assert_eq!((check.verdict, check.action), (Verdict::Regression, Action::Warn));
    assert!(check.message.contains("launches went from 10 to 20"), "{}", check.message);
    assert!(check.message.contains("+100"), "{}", check.message);
    let mut policy = Policy::default();
    policy.limits.push(Limit::new(Metric::KernelTotal, RelativeChange::new(0.5)));
    assert_eq!(judged(&before, &after, &policy).outcome, Outcome::Failed);
    // A slower launch is the matter of the limit on one launch, unless it allows more.
    let slower = side("now", &with(&[("allreduce_kernel", 48.0, 10)]));
    let decision = judged(&before, &slower, &Policy::default());
    assert!(of_rule(&decision, "kernel-total").is_none() && of_rule(&decision, "time").is_some());
}

#[test]
fn the_total_names_its_contributors_and_they_add_up() {
    let before = side("main", &with(&[("allreduce_kernel", 100.0, 20), ("old_copy", 50.0, 20)]));
    let after = side(
        "now",
        &with(&[("allreduce_kernel", 100.0, 30), ("debug_checksum_of_everything", 90.0, 7)]),
    );
    for runs in [1, 5] {
        let decision = judged(&before[..runs], &after[..runs], &Policy::default());
        let parts = &decision.comparison.as_ref().unwrap().contributions;
        let sum: f64 = parts.parts.iter().map(|part| part.change_s.get()).sum();
        let whole = parts.change_s.get();
        assert!((sum + parts.rest_s.get() - whole).abs() < 1e-12);
        assert!(runs > 1 || parts.rest_s.get().abs() < 1e-12, "one run per side has no rest");
        let kinds: Vec<(&str, ContributionKind)> =
            parts.parts.iter().take(3).map(|part| (part.name.as_str(), part.kind)).collect();
        assert_eq!(
            kinds,
            [
                ("allreduce_kernel", Launches),
                ("old_copy", Vanished),
                ("debug_checksum_of_everything", New)
            ]
        );
    }
    let after = side("now", &with(&[("allreduce_kernel", 100.0, 40), ("old_copy", 50.0, 20)]));
    let decision = judged(&before, &after, &Policy::default());
    assert_eq!(decision.outcome, Outcome::Failed);
    let total = of_rule(&decision, "total").unwrap();
    let named = "largest contributors: allreduce_kernel +2.0";
    assert!(total.evidence.iter().any(|line| line.starts_with(named)), "{total:?}");
    assert!(total.evidence[0].contains("(launches 20 to 40)"), "{total:?}");
}

#[test]
fn contributors_of_one_name_are_named_with_their_shapes() {
    let mut sides = [100.0, 150.0].map(|time| {
        side("run", &[("gemm", time, 20), ("gemm_other", time, 20), ("copy", time, 20)])
    });
    for kernel in sides.iter_mut().flatten().flat_map(|run| &mut run.kernels) {
        if kernel.name == "gemm_other" {
            (kernel.name, kernel.full_name) = ("gemm".to_owned(), "gemm".to_owned());
            (kernel.grid, kernel.blocks) = (Some([64, 1, 1]), Some(64));
        }
    }
    let decision = judged(&sides[0], &sides[1], &Policy::default());
    let total = &of_rule(&decision, "total").unwrap().evidence[0];
    assert_eq!(total.matches("gemm at ").count(), 2, "{total}");
    assert!(total.contains("gemm at 64 / ") && total.contains("copy +"), "{total}");
}

/// Runs whose first kernel has so much work a launch.
fn working(mut runs: Vec<Run>, flops: Option<f64>, bytes: f64) -> Vec<Run> {
    for run in &mut runs {
        for kernel in &mut run.kernels {
            let launches = kernel.launches as f64;
            let is_it = kernel.name.contains("sgemm");
            kernel.flops =
                flops.map(|flops| Flops::new(if is_it { flops } else { 1e9 } * launches));
            kernel.bytes = Some(Bytes::new(if is_it { bytes } else { 1e6 } * launches));
        }
    }
    runs
}

#[test]
fn other_work_is_said_first_and_normalized_where_the_policy_asks() {
    let of = |time: f64| {
        side(
            "run",
            &[
                ("ampere_sgemm_128x64_tn", time, 20),
                ("layer_norm_kernel", 200.0, 20),
                ("bias_gelu_kernel", 100.0, 20),
                ("residual_add_kernel", 100.0, 20),
            ],
        )
    };
    let before = working(of(100.0), Some(1e9), 1e6);
    // +144% of the time for +183% of the operations.
    let after = working(of(244.0), Some(2.83e9), 2e6);
    let plain = judged(&before, &after, &Policy::default());
    assert_eq!(plain.outcome, Outcome::Failed);
    let message = &of_rule(&plain, "time").unwrap().message;
    assert!(message.starts_with("work per launch changed (FLOPs +183%): "), "{message}");
    let policy = Policy { normalize: Normalize::Work, ..Policy::default() };
    let normalized = judged(&before, &after, &policy);
    assert_eq!(normalized.outcome, Outcome::Passed, "{}", normalized.reason);
    let of_product = |decision: &Decision| {
        let is_it = |check: &&Check| check.rule == "time" && check.message.contains("work per");
        decision.checks.iter().find(is_it).cloned().unwrap()
    };
    // 2.44 / 2.83 is 14% less for the same work.
    let check = of_product(&normalized);
    assert_eq!(check.verdict, Verdict::Improvement);
    assert!((check.change.unwrap().get() + 0.138).abs() < 0.005, "{check:?}");
    let as_much = judged(&before, &working(of(283.0), Some(2.83e9), 2e6), &policy);
    assert_eq!(of_product(&as_much).verdict, Verdict::OtherWork);
    assert_eq!(as_much.outcome, Outcome::Passed, "{}", as_much.reason);
    // Longer than its work explains.
    let slower = judged(&before, &working(of(340.0), Some(2.83e9), 2e6), &policy);
    assert_eq!(slower.outcome, Outcome::Failed);
    assert_eq!(of_product(&slower).verdict, Verdict::Regression);
    // More bytes for the same operations are what is wrong with a kernel, and excuse nothing.
    let wasteful = judged(&before, &working(of(200.0), Some(1e9), 2e6), &policy);
    assert_eq!(wasteful.outcome, Outcome::Failed);
    // Where no operations are counted, bytes are the work.
    let (copy, more) = (working(of(100.0), None, 1e6), working(of(200.0), None, 2e6));
    assert_eq!(judged(&copy, &more, &policy).outcome, Outcome::Passed);
    // Half of the work in less time is no slower kernel, and no faster one.
    let less = judged(&before, &working(of(60.0), Some(0.5e9), 1e6), &policy);
    assert_eq!(of_product(&less).verdict, Verdict::OtherWork);
    assert_eq!(less.outcome, Outcome::Passed, "{}", less.reason);
}

#[test]
fn a_policy_that_judges_nothing_does_not_pass() {
    let before = side("main", &OTHERS);
    let off = |metric| Limit {
        action: Action::None,
        ..Limit::new(metric, RelativeChange::new(f64::INFINITY))
    };
    let mut policy = Policy::default();
    let metrics = [Metric::Time, Metric::KernelTotal, Metric::Total, Metric::CommonShift];
    policy.limits.extend(metrics.map(off));
    let idle = judged(&before, &side("now", &OTHERS), &policy);
    assert_eq!(idle.outcome, Outcome::Inconclusive);
    assert!(idle.reason.contains("no active limit"), "{}", idle.reason);
    policy.limits.push(Limit::new(Metric::Total, RelativeChange::new(0.03)));
    assert_eq!(judged(&before, &side("now", &OTHERS), &policy).outcome, Outcome::Passed);
}

#[test]
fn a_limit_whose_pattern_matches_nothing_is_reported() {
    let named = |kernel: &str| {
        let selector = Selector { kernel: Some(kernel.to_owned()), ..Selector::default() };
        let limit = Limit::new(Metric::Time, RelativeChange::new(0.02));
        let mut policy = Policy::default();
        policy.limits.push(Limit { selector, ..limit });
        judged(&side("main", &OTHERS), &side("now", &OTHERS), &policy)
    };
    let decision = named("flash_attention*");
    let check = of_rule(&decision, "limit:time").unwrap();
    assert_eq!((check.verdict, check.action), (Verdict::NoData, Action::Warn));
    assert!(check.message.contains("kernel \"flash_attention*\" matches no kernel"), "{check:?}");
    assert!(of_rule(&named("layer_norm*"), "limit:time").is_none());
}

/// 3% slower with each of eleven commits: each passes against the one before, the last is 34% slower.
#[test]
fn an_anchor_finds_what_creeps() {
    let at = |commit: i32| {
        side(&format!("c{commit}"), &with(&[("softmax_kernel", 20.0 * 1.03_f64.powi(commit), 20)]))
    };
    let (oldest, newest, current) = (at(0), at(9), at(10));
    let policy = Policy::default();
    let setting = Setting { decides: true, ..Setting::default() };
    let mut decision = judged(&newest, &current, &policy);
    assert_eq!(decision.outcome, Outcome::Passed, "{}", decision.reason);
    let anchor = gate::Anchor { label: "oldest (c0)".to_owned(), runs: oldest };
    gate::beside(&mut decision, &anchor, &current, (&policy, &setting));
    assert_eq!(decision.outcome, Outcome::Failed, "{}", decision.reason);
    let check = of_rule(&decision, "anchor:time").unwrap();
    assert!(check.message.starts_with("since anchor oldest (c0): "), "{}", check.message);
    assert!((check.change.unwrap().get() - 0.344).abs() < 0.02, "{check:?}");
    let total: usize = decision.counts.values().sum();
    assert_eq!(total, decision.checks.len());
    // What the newest baseline shows already is not said twice.
    let slow = side("slow", &with(&[("softmax_kernel", 40.0, 20)]));
    let mut decision = judged(&newest, &slow, &policy);
    gate::beside(&mut decision, &anchor, &slow, (&policy, &setting));
    assert!(of_rule(&decision, "anchor:time").is_none() && of_rule(&decision, "time").is_some());
}

/// A fifth of the baseline is gone, which is too little to answer; the anchor answers all the same.
#[test]
fn an_anchor_fails_where_too_little_of_the_newest_baseline_is_compared() {
    let all = |label, gemm| {
        let mut kernels = vec![("softmax_kernel", 250.0, 20)];
        kernels.extend(OTHERS);
        kernels[1].1 *= gemm;
        side(label, &kernels)
    };
    let current = side("now", &OTHERS);
    let policy = Policy::default();
    let setting = Setting { decides: true, ..Setting::default() };
    let mut decision = judged(&all("main", 1.0), &current, &policy);
    assert_eq!(decision.outcome, Outcome::Inconclusive, "{}", decision.reason);
    let anchor = gate::Anchor { label: "v1".to_owned(), runs: all("v1", 0.8) };
    gate::beside(&mut decision, &anchor, &current, (&policy, &setting));
    assert_eq!(decision.outcome, Outcome::Failed, "{}", decision.reason);
    assert!(
        of_rule(&decision, "anchor:time").is_some() && of_rule(&decision, "coverage").is_some()
    );
    let note = "anchor v1: only ";
    assert!(decision.notes.iter().any(|line| line.starts_with(note)), "{:?}", decision.notes);
}

/// The judged rename is 20% of the time: without it, less than what is needed would be compared.
#[test]
fn what_is_compared_as_one_is_compared() {
    let before = side("main", &with(&[("softmax_warp_forward", 200.0, 20)]));
    let after = side("now", &with(&[("row_probabilities", 200.0, 20)]));
    let decision = judged(&before, &after, &Policy::default());
    assert!(decision.guesses[0].is_judged);
    let coverage = decision.comparison.as_ref().unwrap().coverage;
    assert_eq!((coverage.compared.get(), coverage.missing.get()), (1.0, 0.0));
}
