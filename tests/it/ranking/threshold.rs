//! A threshold labels kernels and changes no sum, on every fixture, rules and all.

use std::path::Path;

use rooflint::analysis::Options;
use rooflint::session::{Judged, Session};
use rooflint::units::Seconds;

use super::{Math, analyzed};
use crate::golden::{fixtures, reading};

/// What must not depend on the threshold: sums, and the order of what can be won.
fn sums(path: &Path, device: Option<&str>, threshold: f64) -> Option<(Vec<f64>, Vec<String>)> {
    let inputs = [rooflint::ingest::Input::Named(path.to_owned())];
    let profile = rooflint::ingest::read(&inputs, &reading(path)).ok()?;
    let mut session = Session::default().on(device.map(str::to_owned));
    session.options.threshold = Some(threshold);
    let Judged { analysis, .. } = session.judge(&profile).ok()?;
    let totals = &analysis.totals;
    let sums = [
        totals.modeled,
        totals.unmodeled,
        totals.roofline_time,
        totals.savings_low,
        totals.savings,
        totals.savings_high,
        totals.savings_likely,
        totals.savings_unproven,
    ];
    let order = analysis.kernels.iter().map(|kernel| kernel.full_name.to_string()).collect();
    Some((sums.map(Seconds::get).to_vec(), order))
}

#[test]
fn a_threshold_changes_no_sum_and_no_rank_of_any_fixture() {
    let mut judged = 0;
    for (path, device) in fixtures() {
        let Some((usual, order)) = sums(&path, device.as_deref(), 1.5) else { continue };
        judged += 1;
        for threshold in [1.05, 1.3, 2.0, 3.5, 8.0, 1e3] {
            let (other, other_order) = sums(&path, device.as_deref(), threshold).unwrap();
            for (one, two) in usual.iter().zip(&other) {
                let close = (one - two).abs() <= 1e-12 * one.abs() + 1e-15;
                assert!(close, "{} at {threshold}: {usual:?} {other:?}", path.display());
            }
            assert_eq!(order, other_order, "{} at {threshold}", path.display());
        }
    }
    assert!(judged > 50, "{judged}");
}

/// 1000 MB take 1000 µs.
#[test]
fn a_threshold_is_shown_as_it_was_set() {
    for (time, threshold, said) in [
        (1700.0, 1.75, "1.70× the roofline time, below the threshold of 1.75"),
        (1749.6, 1.75, "1.75× the roofline time, just below the threshold of 1.75"),
        (1999.6, 2.0, "2.00× the roofline time, just below the threshold of 2.0"),
    ] {
        let options = Options { threshold: Some(threshold), ..Options::default() };
        let analysis = analyzed(&[("fair", time, Some(1000.0), Math::None)], options);
        assert_eq!(analysis.kernels[0].reason.to_string(), said);
    }
}
