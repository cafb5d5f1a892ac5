//! A judged run for the tests of reports, whose figures a test sets as it needs them; compiled under
//! `#[cfg(test)]` only.

use super::Report;
use crate::analysis::{Analysis, Kernel, State, WhatIf};
use crate::ingest;
use crate::rules::{Finding, Findings, Severity};
use crate::session::{Judged, Session};
use crate::units::Seconds;

/// A run to report on.
pub(super) struct Bench {
    pub(super) analysis: Analysis,
    pub(super) findings: Findings,
    pub(super) what_if: Vec<WhatIf>,
    finding: Finding,
}

/// A run of these kernels, each with its state and milliseconds; nothing was found about them.
pub(super) fn run(kernels: &[(&str, State, f64)]) -> Bench {
    let profile = ingest::read_text("demo", crate::SAMPLE, &ingest::Options::default()).unwrap();
    let Judged { mut analysis, findings, .. } = Session::default().judge(&profile).unwrap();
    let finding = findings.by_kernel.values().flatten().next().unwrap().clone();
    let one = analysis.kernels[0].clone();
    let total: f64 = kernels.iter().map(|(.., time)| time * 1e-3).sum();
    let kernel = |(at, (name, state, milliseconds)): (usize, &(&str, State, f64))| {
        let measured = Seconds::new(milliseconds * 1e-3);
        Kernel {
            rank: at + 1,
            name: (*name).into(),
            full_name: (*name).into(),
            operator: None,
            state: *state,
            measured,
            modeled: measured,
            savings: Seconds::ZERO,
            ..one.clone()
        }
    };
    analysis.kernels = kernels.iter().enumerate().map(kernel).collect();
    analysis.totals.measured = Seconds::new(total);
    (analysis.totals.modeled, analysis.totals.unmodeled) = (Seconds::new(total), Seconds::ZERO);
    analysis.totals.graded = [Seconds::new(total), Seconds::ZERO, Seconds::ZERO];
    analysis.totals.savings_unproven = Seconds::ZERO;
    analysis.groups.clear();
    Bench { analysis, findings: Findings::default(), what_if: Vec::new(), finding }
}

impl Bench {
    pub(super) fn report(&self) -> Report<'_> {
        let (analysis, findings) = (&self.analysis, &self.findings);
        Report { analysis, findings, top: 10, what_if: &self.what_if, command: None }
    }

    /// Sets the one finding about a kernel.
    pub(super) fn find(&mut self, position: usize, finding: Finding) {
        self.findings.by_kernel.insert(position, vec![finding]);
    }

    /// A finding of a rule with so many milliseconds at stake: "message; try: next".
    pub(super) fn finding(&self, rule: &str, severity: Severity, milliseconds: f64) -> Finding {
        let mut finding = self.finding.clone();
        (finding.rule, finding.severity) = (rule.to_owned().into(), severity);
        (finding.message, finding.next) = ("message".to_owned(), Some("next".to_owned()));
        (finding.at_stake_s, finding.estimator) = (milliseconds * 1e-3, "gap");
        finding.kernels.clear();
        finding
    }
}
