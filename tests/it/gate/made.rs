//! Runs made for tests of the gate, and the gate under the default policy.

use rooflint::compare::Run;
use rooflint::gate::{self, Decision, Policy, Setting};
use rooflint::ingest;
use rooflint::session::Session;

/// A run of kernels with these times of launches, in microseconds.
pub(super) fn run(label: &str, kernels: &[(String, Vec<f64>)]) -> Run {
    let mut text = "name,us,grid\n".to_owned();
    for (name, times) in kernels {
        for time in times {
            text.push_str(&format!("{name},{time},8\n"));
        }
    }
    read(label, &text).unwrap()
}

pub(super) fn read(label: &str, text: &str) -> Option<Run> {
    let map = "[columns]\nkernel = \"name\"\ntime = { column = \"us\", unit = \"us\" }\ngrid = \"grid\"\n";
    let map = ingest::Mapping::from_toml(map, "map.toml").unwrap();
    let options = ingest::Options { map: Some(map), ..ingest::Options::default() };
    judged(label, &ingest::read_text(label, text.to_owned().leak(), &options).ok()?)
}

pub(super) fn judged(label: &str, profile: &rooflint::model::Profile) -> Option<Run> {
    let (session, asked) = (Session::default(), Session::default().on(Some("L4".to_owned())));
    let judged = session.judge(profile).or_else(|_| asked.judge(profile)).ok()?;
    let mut run = judged.run(0);
    label.clone_into(&mut run.label);
    Some(run)
}

/// The gate under the default policy, with its noise declared: else one run per side hardly ever fails.
pub(super) fn decide(baseline: &[Run], current: &[Run]) -> Decision {
    let policy = Policy { noise_is_declared: true, ..Policy::default() };
    let setting = Setting { decides: true, ..Setting::default() };
    gate::judge(baseline, current, &policy, &setting)
}

pub(super) fn one(baseline: &Run, current: &Run) -> Decision {
    decide(std::slice::from_ref(baseline), std::slice::from_ref(current))
}

/// The run of the sample that the program carries: with clocks, bytes, operations and roofs.
pub(super) fn sample() -> Run {
    let demo = ingest::read_text("demo", rooflint::SAMPLE, &ingest::Options::default()).unwrap();
    judged("demo", &demo).unwrap()
}

/// Kernels `kernel_a`, `kernel_b` … of five launches each, `100 µs` and its multiples, times `factor`.
pub(super) fn steady(label: &str, kernels: u8, factor: impl Fn(u8) -> f64) -> Run {
    let kernels: Vec<(String, Vec<f64>)> = (0..kernels)
        .map(|at| {
            let level = 100.0 * f64::from(at + 1) * factor(at);
            let times = (0..5).map(|launch| level * (1.0 + 0.001 * f64::from(launch)));
            (format!("kernel_{}", (b'a' + at) as char), times.collect())
        })
        .collect();
    run(label, &kernels)
}
