//! What the gate makes of changes that are known, one by one.

use rooflint::compare::{self, MatchLevel, ProposalKind, Run};
use rooflint::gate::{
    self, Action, Bound, Check, Decision, GateWaiver, Limit, Metric, Outcome, Policy, Selector,
    Setting, Value, Verdict,
};

use rooflint::model::Date;
use rooflint::units::{Factor, RelativeChange, Share};

use super::made::{decide, one, run, sample, steady};

fn under(policy: &Policy, baseline: &[Run], current: &[Run]) -> Decision {
    let setting = Setting { decides: true, today: Date::new(2026, 11, 22), ..Setting::default() };
    gate::judge(baseline, current, policy, &setting)
}

fn check<'a>(decision: &'a Decision, rule: &str) -> &'a Check {
    decision.checks.iter().find(|check| check.rule == rule).unwrap()
}

fn regressions<'a>(decision: &'a Decision, rule: &'a str) -> Vec<&'a Check> {
    let worse = |check: &&Check| check.rule == rule && check.verdict == Verdict::Regression;
    decision.checks.iter().filter(worse).collect()
}

#[test]
fn what_all_kernels_share_is_taken_out_of_each_and_judged_by_itself() {
    let before = steady("a", 16, |_| 1.0);
    let decision = one(&before, &steady("b", 16, |_| 1.2));
    assert_eq!(decision.outcome, Outcome::Failed);
    assert!(regressions(&decision, "time").is_empty(), "no kernel is slower than the others");
    let common = check(&decision, "common-shift");
    assert_eq!((common.verdict, common.action), (Verdict::Regression, Action::Fail));
    assert!((common.change.unwrap().get() - 0.2).abs() < 1e-9, "{:?}", common.change);
    // One kernel more than the others is told from them: 1.5 / 1.2 of its own.
    let decision = one(&before, &steady("b", 16, |at| if at == 9 { 1.5 } else { 1.2 }));
    let worse = regressions(&decision, "time");
    assert_eq!(worse.len(), 1);
    assert!((worse[0].change.unwrap().get() - 0.25).abs() < 1e-9, "{:?}", worse[0].change);
    // What stayed while all others got faster has not become slower.
    let decision = one(&before, &steady("b", 16, |at| if at == 9 { 1.0 } else { 0.8 }));
    assert_eq!(decision.outcome, Outcome::Passed, "{}", decision.reason);
}

#[test]
fn a_slower_clock_is_told_from_slower_code() {
    let before = sample();
    // A kernel whose launches are alike.
    let at = before.kernels.iter().position(|kernel| kernel.name.starts_with("flash_fwd")).unwrap();
    let regressed = before.slowed(Factor::new(1.6), |kernel| kernel == at);
    let verdict = |after: &Run| {
        let decision = one(&before, after);
        let name = &before.kernels[at];
        let found = decision.checks.into_iter().find(|check| {
            check.rule == "time"
                && matches!(&check.subject, gate::Subject::Kernel { name: known, .. } if *known == name.name)
        });
        found.unwrap()
    };
    // As many cycles more as time: the code.
    assert_eq!(verdict(&regressed).verdict, Verdict::Regression, "{:?}", verdict(&regressed));
    // The same cycles on a slower clock: not the code.
    let mut throttled = regressed.clone();
    throttled.kernels[at].samples_cycles.clone_from(&before.kernels[at].samples_cycles);
    throttled.kernels[at].clock_hz = before.kernels[at].clock_hz.map(|clock| clock / 1.6);
    let found = verdict(&throttled);
    assert_eq!((found.verdict, found.action), (Verdict::Ambiguous, Action::Warn));
    assert!(found.message.contains("the clock explains the slowdown"), "{}", found.message);
    // Without clocks nothing excuses it.
    throttled.kernels[at].samples_cycles.clear();
    assert_eq!(verdict(&throttled).verdict, Verdict::Regression);
}

#[test]
fn more_work_is_divided_out_and_one_kernel_launched_more_often_is_not_more_work() {
    let twice = |label: &str, extra: &str, times: usize| {
        let kernels: Vec<(String, Vec<f64>)> = ["a", "b", "c", "d", "e"]
            .iter()
            .map(|name| {
                let launches = if *name == extra { 6 * times } else { 6 };
                (format!("kernel_{name}"), vec![100.0; launches])
            })
            .collect();
        run(label, &kernels)
    };
    let all = |label: &str, launches: usize| {
        let kernels: Vec<(String, Vec<f64>)> = ["a", "b", "c"]
            .iter()
            .map(|name| (format!("kernel_{name}"), vec![100.0; launches]))
            .collect();
        run(label, &kernels)
    };
    let decision = one(&all("a", 6), &all("b", 12));
    assert_eq!(decision.outcome, Outcome::Passed, "{}", decision.reason);
    assert!((decision.comparison.as_ref().unwrap().work.get() - 2.0).abs() < 1e-9);
    assert_eq!(check(&decision, "work").action, Action::Warn);
    assert!(check(&decision, "total").change.unwrap().get().abs() < 1e-9);
    // 6 of 30 launches become 18: the run takes 40% longer, whatever each launch takes.
    let decision = one(&twice("a", "-", 1), &twice("b", "c", 3));
    assert!((decision.comparison.as_ref().unwrap().work.get() - 1.0).abs() < 1e-9);
    assert_eq!(check(&decision, "total").verdict, Verdict::Regression);
    assert!((check(&decision, "total").change.unwrap().get() - 0.4).abs() < 1e-9);
    assert_eq!(decision.outcome, Outcome::Failed);
}

fn bound(metric: Metric, min: Option<f64>, max: Option<f64>) -> Bound {
    let value = |value: f64| Value { value, unit: metric.dimension().unwrap() };
    Bound {
        name: metric.key().to_owned(),
        metric,
        selector: Selector::default(),
        min: min.map(value),
        max: max.map(value),
        min_share: Share::ZERO,
        severity: None,
        rule: None,
        action: Action::Fail,
    }
}

#[test]
fn bounds_and_required_kernels_need_no_baseline() {
    let current = [sample()];
    let with = |bounds: Vec<Bound>, required: &[&str]| {
        let required = required.iter().map(|name| (*name).to_owned()).collect();
        under(&Policy { bounds, required, ..Policy::default() }, &[], &current)
    };
    for (decision, outcome) in [
        (with(vec![], &["transpose_naive_kernel*"]), Outcome::Passed),
        (with(vec![], &["flash_attention_3*"]), Outcome::Failed),
        // The run takes 48.8 ms.
        (with(vec![bound(Metric::Total, None, Some(0.050))], &[]), Outcome::Passed),
        (with(vec![bound(Metric::Total, None, Some(0.040))], &[]), Outcome::Failed),
        // Nothing in it computes in double precision, and nothing is faster than 10 times its roof.
        (with(vec![bound(Metric::Fp64, None, Some(0.0))], &[]), Outcome::Passed),
        (with(vec![bound(Metric::Headroom, Some(0.1), None)], &[]), Outcome::Passed),
    ] {
        assert_eq!(decision.outcome, outcome, "{}", decision.reason);
    }
    // The transpose reaches 17% of its roof, the matrix products 80 %.
    let products = Bound {
        selector: Selector { category: Some("dot-product".to_owned()), ..Selector::default() },
        min_share: Share::new(0.1),
        ..bound(Metric::Roof, Some(0.7), None)
    };
    let decision = with(vec![products.clone()], &[]);
    assert_eq!(decision.outcome, Outcome::Passed, "{}", decision.reason);
    let moves =
        Selector { kernel: Some("transpose_naive_kernel*".to_owned()), ..Selector::default() };
    let decision = with(vec![Bound { selector: moves, ..products }], &[]);
    let decision_all = with(vec![bound(Metric::Roof, Some(0.7), None)], &[]);
    // Kernels with less than a tenth of the run are left alone by this bound, which then judges none, and judged by
    // that one.
    assert_eq!(decision.outcome, Outcome::Inconclusive, "{}", decision.reason);
    let broken = decision_all.checks.iter().find(|check| {
        matches!(&check.subject, gate::Subject::Kernel { name, .. } if name.starts_with("transpose_naive"))
    });
    let broken = broken.unwrap();
    assert_eq!(broken.verdict, Verdict::Violation);
    assert!((broken.after.unwrap().value - 0.17).abs() < 0.005, "{:?}", broken.after);
}

#[test]
fn waivers_accept_what_they_name_until_they_expire() {
    let before = steady("a", 12, |_| 1.0);
    let after = steady("b", 12, |at| if at == 11 { 1.3 } else { 1.0 });
    let waiver = |kernel: Option<&str>, metric, expires| GateWaiver {
        selector: Selector { kernel: kernel.map(str::to_owned), ..Selector::default() },
        metric,
        reason: "needed for the new layout".to_owned(),
        owner: None,
        expires,
    };
    let with = |waivers: Vec<GateWaiver>| {
        let policy = Policy { waivers, noise_is_declared: true, ..Policy::default() };
        under(&policy, std::slice::from_ref(&before), std::slice::from_ref(&after))
    };
    assert_eq!(with(vec![]).outcome, Outcome::Failed);
    let kernel = |expires| waiver(Some("kernel_l"), None, expires);
    let total = waiver(None, Some(Metric::Total), None);
    let accepted = with(vec![kernel(None), total.clone()]);
    assert_eq!(accepted.outcome, Outcome::Passed, "{}", accepted.reason);
    let let_go = regressions(&accepted, "time");
    assert_eq!(let_go[0].waived.as_deref(), Some("needed for the new layout"));
    assert_eq!(with(vec![kernel(Date::new(2026, 11, 22)), total.clone()]).outcome, Outcome::Passed);
    let expired = with(vec![kernel(Date::new(2026, 11, 21)), total.clone()]);
    assert_eq!(expired.outcome, Outcome::Failed);
    assert!(expired.notes.iter().any(|note| note.contains("expired on 2026-11-21")));
    let other = with(vec![waiver(Some("kernel_a"), None, None), total]);
    assert_eq!(other.outcome, Outcome::Failed);
    // A bound is waived with and without a baseline.
    let policy = Policy {
        bounds: vec![bound(Metric::Time, None, Some(1e-3))],
        waivers: vec![waiver(Some("kernel_*"), None, None)],
        ..Policy::default()
    };
    assert_eq!(under(&policy, &[], std::slice::from_ref(&before)).outcome, Outcome::Passed);
    let unwaived = Policy { waivers: vec![], ..policy };
    assert_eq!(under(&unwaived, &[], std::slice::from_ref(&before)).outcome, Outcome::Failed);
}

#[test]
fn doubt_is_what_the_policy_makes_of_it_and_says_what_would_settle_it() {
    let before =
        run("a", &[("kernel_a".to_owned(), vec![100.0]), ("kernel_b".to_owned(), vec![900.0])]);
    let after =
        run("b", &[("kernel_a".to_owned(), vec![112.0]), ("kernel_b".to_owned(), vec![900.0])]);
    // 12% of one launch per side: beyond the limit of 5%, within the noise of single launches.
    for (ambiguous, outcome) in [
        (Action::Notice, Outcome::Passed),
        (Action::Warn, Outcome::Passed),
        (Action::Inconclusive, Outcome::Inconclusive),
        (Action::Fail, Outcome::Failed),
    ] {
        let policy = Policy { ambiguous, ..Policy::default() };
        let decision = under(&policy, std::slice::from_ref(&before), std::slice::from_ref(&after));
        assert_eq!(decision.outcome, outcome);
        let doubtful = decision.checks.iter().find(|check| check.verdict == Verdict::Ambiguous);
        let doubtful = doubtful.unwrap();
        assert_eq!(doubtful.more_runs, Some(2), "{doubtful:?}");
        assert!(doubtful.message.contains("measure the noise and may settle it"), "{doubtful:?}");
    }
}

#[test]
fn a_limited_metric_that_one_side_lacks_is_no_pass_in_silence() {
    let before = sample();
    let mut after = before.clone();
    let policy = |worse| {
        let mut policy = Policy { incomparable: Action::Fail, ..Policy::default() };
        policy.limits.push(Limit::new(Metric::Bytes, RelativeChange::new(worse)));
        policy
    };
    let judged = |after: &Run, worse| {
        under(&policy(worse), std::slice::from_ref(&before), std::slice::from_ref(after))
    };
    assert_eq!(judged(&after, 0.01).outcome, Outcome::Passed);
    after.kernels[0].bytes = after.kernels[0].bytes.map(|bytes| bytes * 1.1);
    assert_eq!(judged(&after, 0.05).outcome, Outcome::Failed);
    assert_eq!(judged(&after, 0.15).outcome, Outcome::Passed);
    after.kernels[0].bytes = None;
    let decision = judged(&after, 0.15);
    assert_eq!(check(&decision, "bytes").verdict, Verdict::NoData);
}

fn named(kernels: &[(&str, f64)]) -> Run {
    let kernels: Vec<(String, Vec<f64>)> =
        kernels.iter().map(|(name, time)| ((*name).to_owned(), vec![*time; 6])).collect();
    run("made", &kernels)
}

#[test]
fn what_may_have_become_of_kernels_is_guessed_and_decides_nothing() {
    let before = named(&[
        ("gemm_nn", 500.0),
        ("triton_poi_fused_add_relu_3", 40.0),
        ("triton_poi_fused_mul_tanh_4", 30.0),
        ("softmax_warp_forward", 200.0),
    ]);
    let after = named(&[
        ("gemm_nn", 500.0),
        ("triton_poi_fused_add_mul_relu_tanh_3", 55.0),
        ("softmax_warp_forward_v2", 205.0),
    ]);
    let decision = one(&before, &after);
    assert_eq!(decision.outcome, Outcome::Passed, "{}", decision.reason);
    let kinds: Vec<ProposalKind> = decision.guesses.iter().map(|guess| guess.kind).collect();
    assert!(kinds.contains(&ProposalKind::Rename), "{:?}", decision.guesses);
    // What cannot be is not guessed: another time, another number of launches.
    let other = named(&[("gemm_nn", 500.0), ("copy_strided", 7.0)]);
    assert!(one(&before, &other).guesses.is_empty());
    // A guess hides no slowdown: the total tells.
    let slower = named(&[
        ("gemm_nn", 500.0),
        ("triton_poi_fused_add_mul_relu_tanh_3", 300.0),
        ("softmax_warp_forward_v2", 205.0),
    ]);
    assert_eq!(one(&before, &slower).outcome, Outcome::Failed);
}

#[test]
fn kernels_whose_tile_is_chosen_anew_in_each_run_are_compared_over_all_runs() {
    let side = |label: &str, tiles: [&str; 3], factor: f64| -> Vec<Run> {
        let made = |(at, tile): (usize, &&str)| {
            let mut run = named(&[
                ("layer_norm_kernel", 100.0 * (1.0 + 0.001 * at as f64)),
                (&format!("ampere_sgemm_{tile}_tn"), 300.0 * factor * (1.0 + 0.002 * at as f64)),
            ]);
            run.label = format!("{label}{at}");
            run
        };
        tiles.iter().enumerate().map(made).collect()
    };
    let before = side("a", ["128x64", "64x64", "128x64"], 1.0);
    let after = side("b", ["64x64", "64x64", "128x128"], 1.0);
    let comparison = compare::compare(&before, &after, &compare::Setting::default());
    assert!(comparison.new.is_empty() && comparison.vanished.is_empty());
    let gemm = comparison.changes.iter().find(|change| change.name.contains("sgemm")).unwrap();
    assert_eq!(gemm.pair.level, MatchLevel::Family);
    assert_eq!((gemm.before.runs, gemm.after.runs), (3, 3));
    let slower = side("b", ["64x64", "64x64", "128x128"], 1.3);
    let decision = decide(&before, &slower);
    assert_eq!(decision.outcome, Outcome::Failed);
    assert!(
        regressions(&decision, "time")[0].message.contains("300 µs to 390 µs")
            || regressions(&decision, "time")[0].message.contains("301 µs to 391 µs"),
        "{}",
        regressions(&decision, "time")[0].message
    );
}

#[test]
fn a_drift_is_taken_out_where_the_order_of_runs_lets_it_be_told() {
    // 2% slower from run to run, whatever the code; and nothing else but a little noise.
    let noise = [0.0004, -0.0003, 0.0002, -0.0004, 0.0003, -0.0002];
    let shift = |order: &str, declared: bool| {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for (place, letter) in order.chars().enumerate() {
            let drift = 1.0 + 0.02 * place as f64 + noise[place];
            let run = steady(&format!("{letter}{place}"), 12, |_| drift);
            if letter == 'B' { after.push(run) } else { before.push(run) }
        }
        let order =
            if declared { order.chars().map(|letter| letter == 'B').collect() } else { vec![] };
        let setting = compare::Setting { order, ..compare::Setting::default() };
        compare::compare(&before, &after, &setting).total
    };
    assert!((shift("ABABAB", false).change().get() - 0.02).abs() < 0.003);
    let found = shift("ABABAB", true);
    assert!(found.change().get().abs() < 0.002, "{:?}", found.change());
    // Six runs, a mean, a side and a slope.
    assert_eq!(found.degrees, Some(3.0));
    assert!(shift("ABBA", true).change().get().abs() < 0.002);
    // In blocks a drift cannot be told from a change, and is not taken out.
    assert!((shift("AABB", true).change().get() - 0.04).abs() < 0.006);
}

#[test]
fn runs_of_one_side_on_different_devices_are_not_compared() {
    let h100 = sample();
    let mut other = h100.clone();
    other.devices[0].name = "A100 SXM4 80GB".to_owned();
    let (one, two) = ([h100.clone(), other.clone()], [h100, other]);
    let found = decide(&one, &two);
    assert_eq!(found.outcome, Outcome::DifferentDevices);
    let [by_headroom, on_one] = &found.checks[0].evidence[..] else { panic!("two next steps") };
    assert!(by_headroom.starts_with("--across-devices "), "{by_headroom}");
    assert!(on_one.starts_with("else name only runs of one device on both sides; "), "{on_one}");
    assert!(on_one.ends_with(": --device, --baseline-device"), "{on_one}");
    // Sides on one device each: a baseline on that of the current side.
    let found = decide(&one[..1], &one[1..]);
    let next = &found.checks[0].evidence[1];
    assert!(next.starts_with("else give a baseline on A100 SXM4 80GB; a store keeps"), "{next}");
}
