//! Laws of the gate: what must hold for any runs and for every real profile.

use proptest::prelude::*;

use rooflint::compare::{self, Run};
use rooflint::gate::{self, Action, Decision, Outcome, Policy, Setting, Verdict};
use rooflint::ingest;
use rooflint::units::{Factor, Seconds, Share, Shift};

use super::made::{decide, judged, one, read, run, sample};

/// Kernels with their launches, each kernel with a level of its own.
fn kernels() -> impl Strategy<Value = Vec<(String, Vec<f64>)>> {
    let launches = prop::collection::vec(0.9..1.1_f64, 1..9);
    let kernel = (1.0..1e4_f64, launches).prop_map(|(level, launches)| {
        launches.into_iter().map(|factor| level * factor).collect::<Vec<f64>>()
    });
    prop::collection::vec(kernel, 1..16).prop_map(|kernels| {
        let named = kernels.into_iter().enumerate();
        named.map(|(at, times)| (format!("kernel_{}", (b'a' + at as u8) as char), times)).collect()
    })
}

/// What became of the kernels that both sides have, by name.
fn verdicts(decision: &Decision) -> Vec<(String, Verdict)> {
    let mut verdicts: Vec<(String, Verdict)> = decision
        .checks
        .iter()
        .filter(|check| check.rule == "time")
        .map(|check| (format!("{:?}", check.subject), check.verdict))
        .collect();
    verdicts.sort();
    verdicts
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_run_against_itself_passes_in_any_order(mut kernels in kernels(), turn in 0_usize..16) {
        let before = run("a", &kernels);
        let turn = turn % kernels.len();
        kernels.rotate_left(turn);
        for (_, times) in &mut kernels {
            times.reverse();
        }
        let after = run("b", &kernels);
        for decision in [one(&before, &after), one(&before, &before), one(&before, &before.shuffled())] {
            prop_assert_eq!(decision.outcome, Outcome::Passed, "{}", decision.reason);
            let worse = decision.checks.iter().find(|check| check.action > Action::None);
            prop_assert!(worse.is_none(), "{:?}", worse);
        }
    }

    #[test]
    fn exchanging_the_sides_mirrors_every_shift(kernels in kernels(), factors in prop::collection::vec(0.5..2.0_f64, 16), runs in 1_usize..4) {
        let slowed: Vec<(String, Vec<f64>)> = kernels.iter().zip(&factors)
            .map(|((name, times), factor)| (name.clone(), times.iter().map(|time| time * factor).collect()))
            .collect();
        let side = |kernels: &[(String, Vec<f64>)], label: &str| -> Vec<Run> {
            (0..runs).map(|at| {
                let shifted: Vec<(String, Vec<f64>)> = kernels.iter().enumerate()
                    .map(|(place, (name, times))| {
                        let shift = 1.0 + 0.003 * ((at * 7 + place * 3)% 5) as f64;
                        (name.clone(), times.iter().map(|time| time * shift).collect())
                    })
                    .collect();
                run(&format!("{label}{at}"), &shifted)
            }).collect()
        };
        let (before, after) = (side(&kernels, "a"), side(&slowed, "b"));
        let setting = compare::Setting::default();
        let there = compare::compare(&before, &after, &setting);
        let back = compare::compare(&after, &before, &setting);
        let near = |one: Shift, two: Shift| (one - two).abs() < Shift::new(1e-9);
        prop_assert!(near(there.total.shift, -back.total.shift));
        prop_assert!(near(there.common.evidence.shift, -back.common.evidence.shift));
        for change in &there.changes {
            let mirror = back.changes.iter().find(|mirror| mirror.name == change.name).unwrap();
            let (one, two) = (change.own.as_ref().unwrap(), mirror.own.as_ref().unwrap());
            prop_assert!(near(one.shift, -two.shift), "{:?} {:?}", one.shift, two.shift);
            prop_assert!(near(one.low.unwrap_or_default(), -two.high.unwrap_or_default()));
            prop_assert!(near(one.floor, two.floor));
        }
        // What one way is certainly slower is certainly faster the other way.
        let (there, back) = (verdicts(&decide(&before, &after)), verdicts(&decide(&after, &before)));
        for ((name, one), (_, two)) in there.iter().zip(&back) {
            let faster = |verdict: Verdict| matches!(verdict, Verdict::Improvement | Verdict::ImplausibleImprovement);
            prop_assert_eq!(*one == Verdict::Regression, faster(*two), "{}: {:?} {:?}", name, one, two);
        }
    }

    #[test]
    fn a_faster_run_never_fails(kernels in kernels(), factors in prop::collection::vec(0.2..1.0_f64, 16), runs in 1_usize..4) {
        let faster: Vec<(String, Vec<f64>)> = kernels.iter().zip(&factors)
            .map(|((name, times), factor)| (name.clone(), times.iter().map(|time| time * factor).collect()))
            .collect();
        let side = |kernels: &[(String, Vec<f64>)], label: &str| -> Vec<Run> {
            (0..runs).map(|at| run(&format!("{label}{at}"), kernels)).collect()
        };
        let decision = decide(&side(&kernels, "a"), &side(&faster, "b"));
        prop_assert_eq!(decision.outcome, Outcome::Passed, "{}", decision.reason);
    }

    #[test]
    fn a_slower_kernel_fails_where_it_matters(kernels in kernels(), slower in 0_usize..16) {
        let slower = slower % kernels.len();
        let slowed: Vec<(String, Vec<f64>)> = kernels.iter().enumerate()
            .map(|(at, (name, times))| {
                let factor = if at == slower { 3.0 } else { 1.0 };
                (name.clone(), times.iter().map(|time| time * factor).collect())
            })
            .collect();
        let (before, after) = (run("a", &kernels), run("b", &slowed));
        let weight = before.kernels.iter().find(|kernel| kernel.name == kernels[slower].0).unwrap();
        prop_assume!(weight.share > Share::new(0.02) && weight.measured_s > Seconds::new(5e-6));
        let decision = one(&before, &after);
        prop_assert_eq!(decision.outcome, Outcome::Failed, "{}", decision.reason);
    }

    #[test]
    fn a_run_that_was_cut_off_never_passes(kernels in kernels(), part in 0.0..1.0_f64) {
        let rows: Vec<(String, f64)> = kernels.iter()
            .flat_map(|(name, times)| times.iter().map(move |time| (name.clone(), *time)))
            .collect();
        let text = |rows: &[(String, f64)]| {
            rows.iter().fold("name,us,grid\n".to_owned(), |text, (name, time)| text + &format!("{name},{time},8\n"))
        };
        let whole = read("a", &text(&rows)).unwrap();
        let kept = (rows.len() as f64 * part) as usize;
        // A file without a single launch is refused by its reader.
        let Some(cut) = read("b", &text(&rows[..kept])) else { return Ok(()) };
        let decision = one(&whole, &cut);
        prop_assert!(decision.outcome != Outcome::Passed, "{} of {}: {}", kept, rows.len(), decision.reason);
    }
}

#[test]
fn nothing_measured_is_never_a_pass() {
    let whole = run("a", &[("k".to_owned(), vec![5.0, 5.1])]);
    let empty = whole.only(|_| false);
    for (baseline, current) in [(&whole, &empty), (&empty, &whole), (&empty, &empty)] {
        assert_eq!(one(baseline, current).outcome, Outcome::NothingMeasured);
    }
    assert_eq!(decide(std::slice::from_ref(&whole), &[]).outcome, Outcome::NothingMeasured);
    let untimed = read("b", "name,us,grid\nk,,8\nk,,8\n");
    if let Some(untimed) = untimed {
        assert_eq!(one(&whole, &untimed).outcome, Outcome::NothingMeasured);
    }
    let other = run("c", &[("another".to_owned(), vec![5.0, 5.1])]);
    assert_eq!(one(&whole, &other).outcome, Outcome::Inconclusive);
}

#[test]
fn another_device_never_passes_and_is_compared_by_headroom_where_the_policy_allows() {
    let baseline = sample();
    let mut current = baseline.clone();
    for device in &mut current.devices {
        device.name = "H200 SXM 141GB".to_owned();
    }
    assert_eq!(one(&baseline, &current).outcome, Outcome::DifferentDevices);
    let policy = Policy { across_devices: true, ..Policy::default() };
    let setting = Setting { decides: true, ..Setting::default() };
    let decide = |current: &Run| {
        gate::judge(
            std::slice::from_ref(&baseline),
            std::slice::from_ref(current),
            &policy,
            &setting,
        )
    };
    let same = decide(&current);
    assert_eq!(same.outcome, Outcome::Passed, "{}", same.reason);
    assert!(same.method[0].contains("headroom"), "{:?}", same.method);
    // Twice as fast on a device with twice the roofs is the same distance; on the same roofs it is not.
    let slower = decide(&current.slowed(Factor::new(2.0), |_| true));
    assert_eq!(slower.outcome, Outcome::Failed, "{}", slower.reason);
    assert!(slower.checks.iter().any(|check| check.rule == "headroom"));
}

/// The reading of every file is tested elsewhere; here, what is read passes against itself.
#[test]
fn every_real_profile_passes_against_itself() {
    let Some(folder) = crate::profiles::collection() else { return };
    let mut seen = 0;
    for kind in ["ncu", "pyprof"] {
        let Ok(inputs) = ingest::expand(&[folder.join(kind)]) else {
            println!("skipped: no real profiles of {kind} beside the repository");
            continue;
        };
        for input in inputs {
            let read = ingest::read(std::slice::from_ref(&input), &ingest::Options::default());
            let Some(run) = read.ok().and_then(|profile| judged("profile", &profile)) else {
                continue;
            };
            let decision = one(&run, &run.shuffled());
            let expected =
                if run.timed_launches == 0 { Outcome::NothingMeasured } else { Outcome::Passed };
            assert_eq!(decision.outcome, expected, "{:?}: {}", run.files, decision.reason);
            let saved = Run::from_json(&run.json()).unwrap();
            assert_eq!(saved, run, "a saved run is the run");
            seen += 1;
        }
    }
    println!("{seen} real profiles against themselves");
}

/// Published: docs/gate-error-rates.md. Here a small part of it, so that a change of method is noticed.
#[test]
fn false_alarms_are_rare_and_slowdowns_are_found() {
    let mut state = 7_u64;
    let mut uniform = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    };
    // The sum of twelve uniform numbers is close to normal, with a deviation of 1.
    let mut normal = move || (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
    let mut side = |slowdown: f64, label: &str| -> Vec<Run> {
        (0..5)
            .map(|at| {
                let clock = 0.015 * normal();
                let kernels: Vec<(String, Vec<f64>)> = (0..16)
                    .map(|place| {
                        let own = 0.007 * normal() + if place == 3 { slowdown } else { 0.0 };
                        let times = (0..5).map(|_| {
                            100.0 * (1.0 + f64::from(place)) * (clock + own + 0.01 * normal()).exp()
                        });
                        (format!("kernel_{}", (b'a' + place) as char), times.collect())
                    })
                    .collect();
                run(&format!("{label}{at}"), &kernels)
            })
            .collect()
    };
    let mut gates = |slowdown: f64| {
        let failed = (0..60)
            .filter(|_| decide(&side(0.0, "a"), &side(slowdown, "b")).outcome == Outcome::Failed);
        failed.count()
    };
    assert_eq!(gates(0.0), 0, "false alarms of 60 gates");
    let found = gates(0.1_f64.ln_1p());
    assert!(found >= 58, "{found} of 60 slowdowns of 10% were found");
}
