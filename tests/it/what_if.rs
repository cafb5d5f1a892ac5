//! Projections: what must hold of any, and figures worked out apart from the program.

use std::collections::BTreeSet;
use std::path::Path;

use rooflint::analysis::{self, Analysis, CeilingSet, Change, Options, Outcome, State, WhatIf};
use rooflint::catalog::{Catalog, Device};
use rooflint::ingest::{self, Input};
use rooflint::model::{DeviceHint, Profile};
use rooflint::report::{OUTPUTS, Report, Style};
use rooflint::rules;

use super::golden::{check, fixtures};

fn analysed(profile: &Profile, options: &Options) -> Option<Analysis> {
    analysis::analyse(profile, &Catalog::builtin(), options).ok()
}

fn sample() -> Profile {
    ingest::read_text("demo", rooflint::SAMPLE, &ingest::Options::default()).unwrap()
}

fn device(name: &str) -> Device {
    Catalog::builtin().find(name, &DeviceHint::default()).unwrap()
}

fn on(profile: &Profile, analysis: &Analysis, device: Device) -> WhatIf {
    let changes = [Change::Device(Box::new(device))];
    analysis::what_if(profile, analysis, &changes).unwrap().remove(0)
}

#[test]
fn on_its_own_device_everything_stays_and_all_time_is_accounted_for() {
    let mut projected = 0;
    for (path, named) in fixtures() {
        let profile =
            ingest::read(&[Input::Named(path.clone())], &ingest::Options::default()).unwrap();
        for set in [CeilingSet::Spec, CeilingSet::Achievable] {
            let options =
                Options { device: named.clone(), ceilings: Some(set), ..Options::default() };
            let Some(analysis) = analysed(&profile, &options) else { continue };
            let [only] = analysis.devices.as_slice() else { continue };
            let Some(own) = only.device.clone() else { continue };
            // Achievable roofs follow the clock of each launch; only without one are they the same.
            if set == CeilingSet::Achievable
                && profile
                    .iter()
                    .any(|launch| launch.value(rooflint::model::Quantity::SmClock).is_some())
            {
                continue;
            }
            let answer = on(&profile, &analysis, own);
            for (kernel, outcome) in analysis.kernels.iter().zip(&answer.kernels) {
                let Outcome::Projected(one) = outcome else { continue };
                projected += 1;
                let close = |one: f64, two: f64| (one / two - 1.0).abs() < 1e-9;
                let label = format!("{}: {}", path.display(), kernel.name);
                assert!(close(one.measured.get(), kernel.modelled.get()), "{label}");
                assert!(close(one.expected.get(), kernel.expected.unwrap().get()), "{label}");
                assert!(close(one.ideal.get(), one.expected.get()), "{label}: {one:?}");
                assert!(
                    close(one.projected.get(), one.measured.get().max(one.ideal.get()))
                        || kernel.headrooms.unwrap().0 < 1.0,
                    "{label}: {one:?}"
                );
            }
            let totals = &answer.totals;
            assert_eq!(totals.projected_kernels + totals.kept_kernels, analysis.kernels.len());
            let sum = (totals.measured + totals.kept).get();
            assert!((sum - analysis.totals.measured.get()).abs() <= 1e-12 + 1e-9 * sum);
        }
    }
    assert!(projected > 20, "{projected}");
}

#[test]
fn roofs_twice_as_high_halve_the_ideal_time_and_what_is_beyond_the_launch_cost() {
    let profile = sample();
    let options = Options { ceilings: Some(CeilingSet::Spec), ..Options::default() };
    let analysis = analysed(&profile, &options).unwrap();
    let mut twice = device("H100 SXM5 80GB");
    "twice".clone_into(&mut twice.name);
    if let Some(bandwidth) = twice.memory.bandwidth.as_mut() {
        bandwidth.value = bandwidth.value * 2.0;
    }
    for peak in twice.peaks.values_mut() {
        peak.value = peak.value * 2.0;
    }
    let answer = on(&profile, &analysis, twice);
    let mut seen = 0;
    for (kernel, outcome) in analysis.kernels.iter().zip(&answer.kernels) {
        let Outcome::Projected(one) = outcome else { continue };
        seen += 1;
        assert!((one.ideal / one.expected - 0.5).abs() < 1e-12);
        let cost = analysis.fixed_cost * kernel.launches as f64;
        let by_hand = cost + (one.measured - cost) * 0.5;
        assert!((one.projected / by_hand - 1.0).abs() < 1e-9, "{}: {one:?}", kernel.name);
    }
    assert!(seen > 5);
}

/// Worked out with a calculator from the sample's own cells and the two datasheets.
#[test]
fn figures_of_the_sample_on_an_h200_are_those_of_a_separate_calculation() {
    let profile = sample();
    let analysis = analysed(&profile, &Options::default()).unwrap();
    let answer = on(&profile, &analysis, device("H200 SXM 141GB"));
    let find = |name: &str| {
        let at = analysis.kernels.iter().position(|kernel| kernel.name.contains(name)).unwrap();
        match &answer.kernels[at] {
            Outcome::Projected(one) => (&analysis.kernels[at], *one),
            Outcome::Kept(reason) => panic!("{name}: {reason}"),
        }
    };
    // Memory-limited: bytes over 4.8 TB/s.
    let (kernel, one) = find("transpose_naive");
    let ideal = kernel.bytes.unwrap().get() / 4.8e12;
    assert!((one.ideal.get() / ideal - 1.0).abs() < 1e-9, "{one:?}");
    let cost = 2e-6 * kernel.launches as f64;
    let here = kernel.expected.unwrap().get();
    let projected = cost + (kernel.measured.get() - cost) * ideal / here;
    assert!((one.projected.get() / projected - 1.0).abs() < 1e-6, "{one:?} {projected}");
    // Math-limited: FLOPs over 989.4 TFLOP/s.
    let (kernel, one) = find("nvjet_tst_128x256");
    let flops: f64 = kernel.work.iter().map(|work| work.operations.get()).fold(0.0, f64::max);
    assert!((one.ideal.get() / (flops / 989.4e12) - 1.0).abs() < 1e-3, "{one:?}");
    assert_eq!(one.limiter.label(), "math");
}

#[test]
fn what_cannot_be_projected_says_why_and_is_counted() {
    let profile = sample();
    let analysis = analysed(&profile, &Options::default()).unwrap();
    let answer = on(&profile, &analysis, device("V100 SXM2 32GB"));
    let mut reasons = BTreeSet::new();
    for (kernel, outcome) in analysis.kernels.iter().zip(&answer.kernels) {
        match outcome {
            Outcome::Projected(one) => {
                assert!(kernel.state.is_modelled());
                assert!(one.projected.get() >= one.ideal.get());
            }
            Outcome::Kept(reason) => {
                reasons.insert(reason.clone());
            }
        }
        if kernel.state == State::NotRoofline {
            assert!(matches!(outcome, Outcome::Kept(reason) if reason.contains("links")));
        }
    }
    assert!(reasons.contains("Tesla V100 SXM2 32GB has no bf16 tensor units"), "{reasons:?}");
    assert!(reasons.iter().any(|reason| reason.starts_with("too little parallelism")));
}

#[test]
fn every_output_shows_the_projections_of_the_sample() {
    let profile = sample();
    let analysis = analysed(&profile, &Options::default()).unwrap();
    let findings = rules::check(&analysis);
    let changes =
        ["H200 SXM 141GB", "V100 SXM2 32GB"].map(|name| Change::Device(Box::new(device(name))));
    let changes: Vec<Change> = std::iter::once(Change::RatedClock).chain(changes).collect();
    let answers = analysis::what_if(&profile, &analysis, &changes).unwrap();
    let report = Report { analysis: &analysis, findings: &findings, top: 3, what_if: &answers };
    let schema = serde_json::from_str(&rooflint::report::schema()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for output in OUTPUTS {
        let text = (output.render)(&report, &Style { width: Some(100), ..Style::default() });
        if output.name == "json" {
            let document: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert!(validator.is_valid(&document));
            assert_eq!(document["what_if"].as_array().unwrap().len(), 3);
            let kernels = document["what_if"][1]["kernels"].as_array().unwrap();
            assert_eq!(kernels.len(), analysis.kernels.len());
        }
        let file = format!("what-if.{}", output.extension);
        check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(file), &text);
    }
}
