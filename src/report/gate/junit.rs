//! The decision as `JUnit` XML: a suite for each device, a case for each check.
//!
//! There is no specification; this follows the sources of its readers: GitLab and Jenkins show
//! `classname` and `name`, and GitLab keeps only the first case of a name.

use std::collections::BTreeMap;
use std::fmt::Write;

use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};

use super::findings::rule;
use super::{GateOutput, GateReport, view};
use crate::gate::{Action, Check, Outcome, Subject, Value, Verdict};
use crate::model::elide;
use crate::report::view::{Style, printable};
use crate::units::{Dimension, Probability, RelativeChange, Seconds, Share};

pub(super) const OUTPUT: GateOutput = GateOutput {
    name: "junit",
    endings: &["xml"],
    summary: "JUnit XML: a test case for each check",
    render,
};

/// Maximum characters of a kernel's name in the name of a case.
const NAME: usize = 160;

fn render(report: &GateReport<'_>, style: &Style) -> String {
    let mut junit = Report::new("rooflint gate");
    // The gate is a case itself: a clean run has a test, and an empty one fails.
    let mut suite = TestSuite::new("gate");
    let mut case = TestCase::new("gate", whole(report));
    case.set_classname("rooflint.gate");
    suite.add_test_case(case);
    let mut names = Names::default();
    let of_run = |check: &&Check| check.subject == Subject::Run;
    for check in report.decision.checks.iter().filter(of_run) {
        suite.add_test_case(case_of(report, check, &mut names));
    }
    junit.add_test_suite(suite);
    let mut devices: BTreeMap<String, Vec<&Check>> = BTreeMap::new();
    for check in report.decision.checks.iter().filter(|check| !of_run(check)) {
        devices.entry(view::device(check)).or_default().push(check);
    }
    for (device, checks) in devices {
        let name = if device.is_empty() { "unknown device" } else { &device };
        let mut suite = TestSuite::new(visible(name));
        for check in checks {
            suite.add_test_case(case_of(report, check, &mut names));
        }
        junit.add_test_suite(suite);
    }
    // Writing to memory does not fail.
    style.adapted(junit.to_string().unwrap_or_default())
}

fn whole(report: &GateReport<'_>) -> TestCaseStatus {
    let decision = report.decision;
    let mut status = match decision.outcome {
        // A test that did not run: a success would count as a comparison.
        Outcome::Passed if decision.checked_nothing() => TestCaseStatus::skipped(),
        Outcome::Passed => TestCaseStatus::success(),
        Outcome::NothingMeasured | Outcome::DifferentDevices => {
            TestCaseStatus::non_success(NonSuccessKind::Error)
        }
        Outcome::Failed if report.can_fail() => {
            TestCaseStatus::non_success(NonSuccessKind::Failure)
        }
        // Not green: a reader of the file must see what the exit code says.
        Outcome::Inconclusive if report.can_fail() => {
            TestCaseStatus::non_success(NonSuccessKind::Error)
        }
        Outcome::Failed | Outcome::Inconclusive => TestCaseStatus::skipped(),
    };
    status.set_type(decision.outcome.label());
    status.set_message(visible(&decision.reason));
    status
}

/// Names already used, so that no two cases have the same one.
#[derive(Default)]
struct Names(BTreeMap<String, usize>);

impl Names {
    fn unique(&mut self, check: &Check) -> String {
        let name = elide(&view::name(check, &Style::default()), NAME);
        let shape = view::shape(check);
        let shape = if shape.is_empty() { shape } else { format!(" [{shape}]") };
        let mut name = visible(&format!("{name}{shape} ({})", rule(check)));
        if self.0.contains_key(&name) {
            let hash: String = check.fingerprint().chars().take(8).collect();
            let _ = write!(name, " #{hash}");
        }
        let base = name.clone();
        while self.0.contains_key(&name) {
            let seen = self.0.entry(base.clone()).or_default();
            *seen += 1;
            name = format!("{base}-{}", *seen + 1);
        }
        self.0.insert(name.clone(), 0);
        name
    }
}

fn case_of(report: &GateReport<'_>, check: &Check, names: &mut Names) -> TestCase {
    let mut status = status(report, check);
    let mut details = view::why(check);
    if let Some(reason) = &check.waived {
        details.insert(0, format!("waived: {}", printable(reason)));
    }
    status.set_type(check.verdict.label());
    status.set_message(visible(&format!("{}: {}", check.result(), check.message)));
    status.set_description(visible(&details.join("\n")));
    let mut case = TestCase::new(names.unique(check), status);
    case.set_classname(visible(&format!("rooflint.{}", rule(check))));
    // The crate writes milliseconds only, and kernels take microseconds.
    if let Some(time) = seconds(check.after) {
        case.extra.insert("time".into(), format!("{time:.9}").into());
    }
    for (name, value) in properties(check) {
        case.add_property(Property::new(name, visible(&value)));
    }
    case
}

/// Returns the status of a case: it fails only if it fails the gate; uncertain, new, vanished and
/// waived checks are skipped.
fn status(report: &GateReport<'_>, check: &Check) -> TestCaseStatus {
    let fine = [Verdict::Improvement, Verdict::Unchanged, Verdict::WithinBounds];
    let is_fine = fine.contains(&check.verdict);
    match check.action {
        _ if check.waived.is_some() => TestCaseStatus::skipped(),
        Action::Fail if report.can_fail() => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Action::None | Action::Notice if is_fine => TestCaseStatus::success(),
        _ => TestCaseStatus::skipped(),
    }
}

fn seconds(value: Option<Value>) -> Option<f64> {
    let value = value.filter(|value| value.unit == Dimension::Time)?.value;
    (value.is_finite() && value >= 0.0).then_some(value)
}

/// Returns the figures of a check, with units in their names.
fn properties(check: &Check) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = vec![
        ("verdict".to_owned(), check.verdict.label().to_owned()),
        ("action".to_owned(), check.action.key().to_owned()),
        ("metric".to_owned(), check.metric.key().to_owned()),
        ("fingerprint".to_owned(), check.fingerprint()),
    ];
    if let Subject::Kernel { full_name, operator, .. } = &check.subject {
        all.push(("kernel".to_owned(), printable(full_name)));
        all.extend(operator.as_deref().map(|it| ("operator".to_owned(), printable(it))));
    }
    for (side, value) in [("before", check.before), ("now", check.after)] {
        all.extend(
            value.map(|value| (format!("{side}_{}", value.unit.key()), value.value.to_string())),
        );
    }
    let [low, high] = check.interval.map_or([None, None], |[low, high]| [Some(low), Some(high)]);
    for (name, value) in [
        ("change", check.change.map(RelativeChange::get)),
        ("change_low", low.map(RelativeChange::get)),
        ("change_high", high.map(RelativeChange::get)),
        ("confidence", check.confidence.map(Probability::get)),
        ("limit", check.limit.map(f64::from)),
        ("noise", check.noise.map(RelativeChange::get)),
        ("diff_s", check.delta_s.map(Seconds::get)),
        ("share", check.share.map(Share::get)),
    ] {
        all.extend(value.map(|value| (name.to_owned(), value.to_string())));
    }
    all
}

/// Removes characters that XML 1.0 does not allow.
fn visible(text: &str) -> String {
    text.lines()
        .map(|line| printable(line).replace(['\u{fffe}', '\u{ffff}'], ""))
        .collect::<Vec<_>>()
        .join("\n")
}
