//! Several runs per side: what a part of them, or of their launches, must not decide, and what must not hide in it.

use std::slice::from_ref;

use rooflint::compare::{ContributionKind, Run};
use rooflint::gate::{
    self, Action, Check, Decision, Limit, Metric, Outcome, Policy, Setting, Verdict,
};
use rooflint::units::{RelativeChange, Seconds};

use super::made::{decide, run, sample};

/// Kernels of one run: name, and times of launches in microseconds.
type Kernels = Vec<(String, Vec<f64>)>;

/// A number between -1 and 1 that looks random, and is the same everywhere.
fn noise(seed: usize) -> f64 {
    let mut z = (seed as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def0;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z >> 11) as f64 / (1_u64 << 52) as f64) - 1.0
}

/// Six kernels of six launches each, as long as `factor` of the kernel says, with noise of 1%.
fn six(seed: usize, factor: impl Fn(usize) -> f64) -> Kernels {
    let launch = |kernel: usize, launch: usize| {
        let level = [1000.0, 300.0, 200.0, 150.0, 100.0, 80.0][kernel] * factor(kernel);
        level * (1.0 + 0.01 * noise(seed * 1000 + kernel * 10 + launch))
    };
    (0..6)
        .map(|kernel| {
            let name = format!("kernel_{}", (b'a' + kernel as u8) as char);
            (name, (0..6).map(|at| launch(kernel, at)).collect())
        })
        .collect()
}

fn side(first: usize, of: impl Fn(usize) -> Kernels) -> Vec<Run> {
    (0..5).map(|at| run(&format!("r{}", first + at), &of(first + at))).collect()
}

fn total(decision: &Decision) -> &Check {
    decision.checks.iter().find(|check| check.rule == "total").unwrap()
}

fn change(check: &Check) -> f64 {
    check.change.unwrap().get()
}

fn of<'a>(decision: &'a Decision, rule: &str, kernel: &str) -> Vec<&'a Check> {
    let is_it = |check: &&Check| {
        check.rule == rule
            && matches!(&check.subject, gate::Subject::Kernel { name, .. } if name == kernel)
    };
    decision.checks.iter().filter(is_it).collect()
}

#[test]
fn a_kernel_that_stayed_while_all_others_got_faster_does_not_fail() {
    for first in [0, 100, 200, 300] {
        let faster = |kernel: usize| if kernel == 3 { 1.0 } else { 0.8 };
        let before = side(first, |seed| six(seed, |_| 1.0));
        let after = side(first + 50, |seed| six(seed, faster));
        let decision = decide(&before, &after);
        assert_eq!(decision.outcome, Outcome::Passed, "{first}: {}", decision.reason);
        // And the other way round it is no improvement.
        let decision = decide(&after, &before);
        let verdicts: Vec<Verdict> =
            of(&decision, "time", "kernel_d").iter().map(|check| check.verdict).collect();
        assert_eq!(verdicts, [Verdict::Unchanged], "{first}");
        // Nor does one within its own limit of 5%, however far the others are.
        let barely = |kernel: usize| if kernel == 3 { 1.02 } else { 0.8 };
        let decision = decide(&before, &side(first + 50, |seed| six(seed, barely)));
        assert_eq!(decision.outcome, Outcome::Passed, "{first}: {}", decision.reason);
        // One that takes longer fails, whatever the others do.
        let slower = |kernel: usize| if kernel == 3 { 1.1 } else { 0.8 };
        let decision = decide(&before, &side(first + 50, |seed| six(seed, slower)));
        assert_eq!(decision.outcome, Outcome::Failed, "{first}: {}", decision.reason);
    }
}

/// One of five runs launches everything twice: its total stands apart, and it says nothing of the work of the others.
#[test]
fn one_run_with_more_launches_does_not_set_the_amount_of_work() {
    let twice = |seed: usize| {
        let all = six(seed, |_| 1.0).into_iter();
        all.map(|(name, times)| (name, [times.clone(), times].concat())).collect::<Kernels>()
    };
    let before = side(0, |seed| six(seed, |_| 1.0));
    let odd = |seed: usize| if seed == 53 { twice(seed) } else { six(seed, |_| 1.0) };
    let decision = decide(&before, &side(50, odd));
    assert!(change(total(&decision)).abs() < 0.01, "{:?}", total(&decision));
    // A new kernel of 5% is seen beside it.
    let more = |seed: usize| {
        let mut kernels = odd(seed);
        kernels.push(("kernel_new".to_owned(), vec![100.0; 6]));
        kernels
    };
    let decision = decide(&before, &side(50, more));
    assert!((change(total(&decision)) - 0.055).abs() < 0.01, "{:?}", total(&decision));
    assert_eq!(total(&decision).verdict, Verdict::Regression);
}

/// Eight launches of 10 µs and two of 1 ms, of which the long ones take half as long again.
#[test]
fn a_few_slow_launches_count_in_the_time_of_all() {
    let of_scan = |seed: usize, long: f64| {
        let mut kernels = six(seed, |_| 1.0);
        let mut times: Vec<f64> =
            (0..8).map(|at| 10.0 * (1.0 + 0.01 * noise(seed * 77 + at))).collect();
        times.extend([1000.0 * long, 1001.0 * long]);
        kernels.push(("kernel_scan".to_owned(), times));
        kernels
    };
    let before = side(0, |seed| of_scan(seed, 1.0));
    let after = side(50, |seed| of_scan(seed, 1.5));
    let decision = decide(&before, &after);
    let [tail] = of(&decision, "time", "kernel_scan")[..] else { panic!("{:?}", decision.checks) };
    // 1.0 ms more of a run of 13 ms, although the median launch stayed.
    assert_eq!((tail.verdict, tail.action), (Verdict::Ambiguous, Action::Warn));
    assert!((tail.delta_s.unwrap().get() / 1000.5e-6 - 1.0).abs() < 0.05, "{tail:?}");
    // A policy that sets a limit to it fails.
    let limit = Limit {
        action: Action::Fail,
        ..Limit::new(Metric::KernelTotal, RelativeChange::new(0.04))
    };
    let mut policy = Policy { noise_is_declared: true, ..Policy::default() };
    policy.limits.push(limit);
    let setting = Setting { decides: true, ..Setting::default() };
    let decision = gate::judge(&before, &after, &policy, &setting);
    assert_eq!(decision.outcome, Outcome::Failed);
    let [all] = of(&decision, "kernel-total", "kernel_scan")[..] else { panic!() };
    // (80 + 3001.5) ÷ (80 + 2001).
    assert!((change(all) - 0.481).abs() < 0.02 && all.verdict == Verdict::Regression, "{all:?}");
    // More launches by default: as much as they take, whatever one run of the baseline did.
    let more = |seed: usize, launches: usize| {
        let mut kernels = six(seed, |_| 1.0);
        kernels.push(("kernel_loop".to_owned(), vec![100.0; launches]));
        kernels
    };
    let before = side(0, |seed| more(seed, if seed == 2 { 200 } else { 10 }));
    let decision = decide(&before, &side(50, |seed| more(seed, 20)));
    let [all] = of(&decision, "kernel-total", "kernel_loop")[..] else { panic!("{decision:?}") };
    assert!((change(all) - 1.0).abs() < 0.02 && all.action == Action::Warn, "{all:?}");
    assert!((all.delta_s.unwrap().get() / 1e-3 - 1.0).abs() < 0.02, "{all:?}");
}

#[test]
fn launches_without_a_time_count_as_the_mean_of_their_kernel() {
    let lacking = |seed: usize| {
        let mut run = run(&format!("r{seed}"), &six(seed, |_| 1.0));
        let kernel = run.kernels.iter_mut().find(|kernel| kernel.name == "kernel_b").unwrap();
        let lost: Seconds = kernel.samples_s.drain(..2).sum();
        kernel.timed -= 2;
        kernel.measured_s = kernel.measured_s - lost;
        run.timed_launches -= 2;
        run.measured_s = run.measured_s - lost;
        run
    };
    let whole = side(0, |seed| six(seed, |_| 1.0));
    let part: Vec<Run> = (50..55).map(lacking).collect();
    for decision in [decide(&whole, &part), decide(&part, &whole)] {
        assert!(change(total(&decision)).abs() < 0.01, "{:?}", total(&decision));
        let parts = &decision.comparison.as_ref().unwrap().contributions.parts;
        assert!(parts.iter().all(|part| part.change_s.abs() < Seconds::new(60e-6)), "{parts:?}");
        let note = "10 of 180 launches have no duration on the ";
        assert!(decision.notes.iter().any(|told| told.starts_with(note)), "{:?}", decision.notes);
    }
}

#[test]
fn a_kernel_that_most_runs_lack_has_vanished() {
    let some = |runs: usize| {
        side(50, |seed| {
            let mut kernels = six(seed, |_| 1.0);
            if seed >= 50 + runs {
                kernels.retain(|(name, _)| name != "kernel_c");
            }
            kernels
        })
    };
    let before = side(0, |seed| six(seed, |_| 1.0));
    let policy = Policy {
        vanished: Action::Fail,
        required: vec!["kernel_c".to_owned()],
        noise_is_declared: true,
        ..Policy::default()
    };
    let setting = Setting { decides: true, ..Setting::default() };
    for (runs, failing) in [(0, 2), (1, 2), (2, 2), (3, 0), (5, 0)] {
        let decision = gate::judge(&before, &some(runs), &policy, &setting);
        let of_presence = decision.checks.iter().filter(|check| {
            ["vanished", "required-kernel"].contains(&check.rule.as_str())
                && check.action == Action::Fail
        });
        assert_eq!(of_presence.count(), failing, "{runs}: {:?}", decision.reason);
        // What the total is made of says the same: 6 launches of 200 µs with noise of 1%, in most runs.
        let parts = &decision.comparison.as_ref().unwrap().contributions.parts;
        let part = parts.iter().find(|part| part.name == "kernel_c").unwrap();
        assert_eq!(part.kind == ContributionKind::Vanished, failing > 0, "{runs}: {part:?}");
        if failing > 0 {
            assert!((part.change_s.get() / -1.2e-3 - 1.0).abs() < 0.01, "{part:?}");
            assert_eq!((part.launches_before, part.launches_after), (6.0, 0.0));
            // 200 of 1,830 µs of a launch of each are not compared.
            let compared = decision.comparison.as_ref().unwrap().coverage.compared.get();
            assert!((compared - 1630.0 / 1830.0).abs() < 0.002, "{compared}");
        }
        let is_note = |note: &&String| note.starts_with("not in every run");
        let note = decision.notes.iter().find(is_note).map(String::as_str);
        let told = "not in every run, and judged by the runs that have it: kernel_c in 3 of 5 \
                    current runs, in 5 of 5 baseline runs";
        assert_eq!(note, (runs == 3).then_some(told));
    }
    // The other way round it is new.
    let decision = gate::judge(&some(2), &before, &policy, &setting);
    let [new] = of(&decision, "new", "kernel_c")[..] else { panic!("{decision:?}") };
    assert_eq!(new.message, "in 5 of 5 current runs, in 2 of 5 baseline runs");
    let parts = &decision.comparison.as_ref().unwrap().contributions.parts;
    let part = parts.iter().find(|part| part.name == "kernel_c").unwrap();
    assert_eq!((part.kind, part.launches_before), (ContributionKind::New, 0.0));
    assert!(of(&decision, "time", "kernel_c").is_empty(), "{decision:?}");
    // A pattern that another kernel satisfies in each run.
    let variants = |first: usize| {
        side(first, |seed| {
            let mut kernels = six(seed, |_| 1.0);
            kernels[2].0 = format!("kernel_c{}", seed % 5);
            kernels
        })
    };
    let policy =
        Policy { required: vec!["kernel_c*".to_owned()], vanished: Action::None, ..policy };
    let decision = gate::judge(&variants(0), &variants(50), &policy, &setting);
    assert!(!decision.checks.iter().any(|check| check.rule == "required-kernel"), "{decision:?}");
}

/// The kernel is in one of five runs, where it takes 1.5 times as long: it has vanished, and is nothing else.
#[test]
fn a_kernel_that_most_runs_lack_is_gone_and_not_slower() {
    let before = side(0, |seed| six(seed, |_| 1.0));
    let lacking = |seed: usize| {
        let all = six(seed, |kernel| if kernel == 3 { 1.5 } else { 1.0 });
        all.into_iter().filter(|(name, _)| seed == 50 || name != "kernel_d").collect()
    };
    let decision = decide(&before, &side(50, lacking));
    let rules = |rule| of(&decision, rule, "kernel_d").len();
    assert_eq!(["vanished", "time", "kernel-total"].map(rules), [1, 0, 0], "{decision:?}");
    assert_eq!(decision.outcome, Outcome::Passed, "{}", decision.reason);
}

/// Seven of twelve kernels take 10% longer, which exceeds the limit on what kernels share, unless the policy allows each
/// of them as much, or waives them.
#[test]
fn what_many_kernels_share_follows_what_each_may_do() {
    let twelve = |label: &str, moved: f64| {
        let of = |at: u8| {
            let level = 500.0 * if at < 7 { moved } else { 1.0 };
            let name = format!("{}_kernel", (b'a' + at) as char);
            (name, (0..8).map(|launch| level * (1.0 + 0.0005 * f64::from(launch))).collect())
        };
        run(label, &(0..12).map(of).collect::<Vec<_>>())
    };
    let (before, after) = (twelve("before", 1.0), twelve("after", 1.1));
    let decided = |limits: &[Limit], waived: &[&str]| {
        let waiver = |kernel: &&str| gate::GateWaiver {
            selector: gate::Selector {
                kernel: Some((*kernel).to_owned()),
                ..gate::Selector::default()
            },
            metric: None,
            reason: "accepted".to_owned(),
            owner: None,
            expires: None,
        };
        let mut policy = Policy {
            noise_is_declared: true,
            waivers: waived.iter().map(waiver).collect(),
            ..Policy::default()
        };
        let loose = Limit::new(Metric::Total, RelativeChange::new(0.5));
        policy.limits.extend([&[loose][..], limits].concat());
        let setting = Setting { decides: true, ..Setting::default() };
        let decision = gate::judge(from_ref(&before), from_ref(&after), &policy, &setting);
        let many = decision.checks.iter().find(|check| check.rule == "many-kernels");
        many.map(|check| (check.action, check.waived.is_some()))
    };
    let time = |worse: f64| Limit::new(Metric::Time, RelativeChange::new(worse));
    let shared = Limit::new(Metric::CommonShift, RelativeChange::new(0.03));
    let none = Limit { action: Action::None, ..time(0.2) };
    assert_eq!(decided(&[], &[]), Some((Action::Fail, false)));
    assert_eq!(decided(&[time(0.2)], &[]), Some((Action::None, false)));
    // What the policy writes of the shared shift holds, and a limit that is off allows nothing.
    assert_eq!(decided(&[time(0.2), shared], &[]), Some((Action::Fail, false)));
    assert_eq!(decided(&[none], &[]), Some((Action::Fail, false)));
    assert_eq!(decided(&[], &["*"]), Some((Action::Notice, true)));
    assert_eq!(decided(&[], &["a_kernel", "b_kernel"]), Some((Action::Fail, false)));
}

/// Metrics of a kernel that have a limit of their own besides time.
const VALUES: [Metric; 8] = [
    Metric::Share,
    Metric::Headroom,
    Metric::Roof,
    Metric::Bytes,
    Metric::Flops,
    Metric::Fp64,
    Metric::Savings,
    Metric::Launches,
];

/// The run of the sample, in which the softmax (one launch) takes `time` times as long, does `work` times the work per
/// launch, and is launched `launches` times.
fn softmax(time: f64, work: f64, launches: u64) -> Run {
    let mut run = sample();
    let is_it = |kernel: &&mut rooflint::compare::RunKernel| kernel.name.contains("softmax");
    let kernel = run.kernels.iter_mut().find(is_it).unwrap();
    let times = time * launches as f64;
    let before = kernel.measured_s;
    kernel.samples_s = vec![kernel.samples_s[0] * time; launches as usize];
    (kernel.launches, kernel.timed) = (launches, launches);
    (kernel.measured_s, kernel.judged_s) = (kernel.measured_s * times, kernel.judged_s * times);
    let of_all = launches as f64;
    for bound in [&mut kernel.roofline_s, &mut kernel.roofline_high_s, &mut kernel.roofline_low_s] {
        *bound = bound.map(|time| time * of_all);
    }
    kernel.savings_s = kernel.roofline_s.map(|roof| kernel.judged_s - roof);
    kernel.bytes = kernel.bytes.map(|bytes| bytes * (work * of_all));
    kernel.flops = kernel.flops.map(|flops| flops * (work * of_all));
    kernel.fp64_flops = Some(rooflint::units::Flops::new(1e9 * work * of_all));
    run.measured_s = run.measured_s + kernel.measured_s - before;
    let whole = run.measured_s;
    for kernel in &mut run.kernels {
        kernel.share = rooflint::units::Share::new(kernel.measured_s / whole);
    }
    run
}

/// What limits of 5% on every value of the softmax say.
fn values(before: &[Run], after: &[Run]) -> Vec<(Metric, Verdict, f64)> {
    let limit = |metric| Limit {
        selector: gate::Selector {
            kernel: Some("*softmax*".to_owned()),
            ..gate::Selector::default()
        },
        ..Limit::new(metric, RelativeChange::new(0.05))
    };
    let policy = Policy { limits: VALUES.map(limit).to_vec(), ..Policy::default() };
    let setting = Setting { decides: true, ..Setting::default() };
    let decision = gate::judge(before, after, &policy, &setting);
    let of_value = decision.checks.iter().filter(|check| VALUES.contains(&check.metric));
    of_value.map(|check| (check.metric, check.verdict, change(check))).collect()
}

/// One of three runs takes three times as long, for three times the work in two launches: no value of the side is its.
#[test]
fn one_odd_run_of_three_fails_no_limit() {
    let steady = [0.999, 1.0, 1.001].map(|time| softmax(time, 1.0, 1));
    let odd = [softmax(1.001, 1.0, 1), softmax(3.0, 3.0, 2), softmax(0.999, 1.0, 1)];
    assert_eq!(values(&steady, &odd), []);
    // It hides nothing in the baseline: the medians are 1.001 and 1.12, of work 1 and 1.12. What follows the time warns, as
    // the time does: three runs leave it open.
    let slower = [1.119, 1.12, 1.121].map(|time| softmax(time, 1.12, 1));
    let found = values(&odd, &slower);
    let of = |wanted: Metric| found.iter().find(|(metric, ..)| *metric == wanted);
    let near = |wanted: Metric, verdict: Verdict, change: f64| {
        let (_, known, by) = of(wanted).unwrap_or_else(|| panic!("{wanted:?}: {found:?}"));
        assert!(*known == verdict && (by - change).abs() < 1e-9, "{wanted:?}: {found:?}");
    };
    near(Metric::Headroom, Verdict::Ambiguous, 1.12 / 1.001 - 1.0);
    near(Metric::Bytes, Verdict::Regression, 0.12);
    near(Metric::Fp64, Verdict::Regression, 0.12);
    assert!(of(Metric::Launches).is_none(), "{found:?}");
    // Where all runs agree it is certain, and one that is odd takes nothing from it.
    for more in [1.121, 3.0] {
        let slower = [1.119, 1.12, more].map(|time| softmax(time, 1.0, 1));
        let found = values(&steady, &slower);
        let headroom = found.iter().find(|(metric, ..)| *metric == Metric::Headroom).unwrap();
        assert!(headroom.1 == Verdict::Regression && (headroom.2 - 0.12).abs() < 1e-9, "{found:?}");
    }
    // Of two runs that disagree the middle is twice as much, and certain is none of it.
    let found = values(&steady[..2], &[softmax(1.0, 1.0, 1), softmax(3.0, 1.0, 1)]);
    let [headroom, roof] = [Metric::Headroom, Metric::Roof]
        .map(|wanted| found.iter().find(|(metric, ..)| *metric == wanted).unwrap().1);
    assert_eq!([headroom, roof], [Verdict::Ambiguous; 2], "{found:?}");
}

/// A hot run of five takes 1.6 times as long with all of its kernels; the softmax of the others takes 12% longer now.
#[test]
fn a_hot_run_does_not_widen_what_the_others_may_do() {
    let hot = |run: Run| {
        let mut run = run;
        for kernel in &mut run.kernels {
            for time in &mut kernel.samples_s {
                *time = *time * 1.6;
            }
            (kernel.measured_s, kernel.judged_s) = (kernel.measured_s * 1.6, kernel.judged_s * 1.6);
        }
        run.measured_s = run.measured_s * 1.6;
        run
    };
    let side = |time: f64| [-0.002, -0.001, 0.0, 0.001, 0.002].map(|by| softmax(time + by, 1.0, 1));
    let mut after = side(1.12);
    after[4] = hot(after[4].clone());
    let found = values(&side(1.0), &after);
    let headroom = found.iter().find(|(metric, ..)| *metric == Metric::Headroom).unwrap();
    // The medians: 1 and 1.12.
    assert!(headroom.1 == Verdict::Regression && (headroom.2 - 0.12).abs() < 1e-9, "{found:?}");
}
