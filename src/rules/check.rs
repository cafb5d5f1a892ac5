//! Runs the rules: on which kernels, which findings count, and which silence others.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;

use super::RULES;
use super::custom;
use super::finding::{Finding, Severity};
use super::rule::{Check, Missing, Rule};
use super::run::Run;
use super::settings::Settings;
use super::subject::Subject;
use crate::analysis::{Analysis, Kernel, State};
use crate::model::Profile;
use crate::units::Seconds;

/// The findings of an analysis, and what each rule could say.
#[derive(Debug, Default)]
pub struct Findings {
    /// For each kernel of the analysis, in its order; the gravest first.
    pub by_kernel: Vec<Vec<Finding>>,
    /// About the whole run; the gravest first.
    pub run: Vec<Finding>,
    /// What each rule that ran could say.
    pub tally: Vec<Tally>,
}

/// What a rule could say of the kernels it looked at; of the run as of one kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// The rule.
    pub rule: Cow<'static, str>,
    /// It found something.
    pub found: usize,
    /// It found something with too little time at stake to show.
    pub minor: usize,
    /// It found something that another finding explains.
    pub silenced: usize,
    /// It was content.
    pub content: usize,
    /// It could not judge, for want of a metric.
    pub cannot_judge: usize,
    /// The metrics it lacked, and for how many kernels.
    pub missing: BTreeMap<&'static str, usize>,
}

/// Findings with less at stake than this share of the run and this time are counted, not shown.
const SHOWN_SHARE: f64 = 0.005;
const SHOWN_TIME: Seconds = Seconds::new(20e-6);

/// A finding of the first rule explains findings of the others on the same kernel, or on some of the
/// kernels that it concerns.
const SILENCES: &[(&str, &[&str])] = &[
    (
        "small-grid",
        &[
            "occupancy-limited",
            "low-issue-utilisation",
            "warp-stalls",
            "low-tensor-utilisation",
            "old-architecture-kernel",
            "memory-bound-matmul",
            "memory-latency-bound",
        ],
    ),
    (
        "insufficient-parallelism",
        &["low-achieved-occupancy", "low-issue-utilisation", "warp-stalls", "memory-latency-bound"],
    ),
    ("tail-effect", &["sm-load-imbalance", "low-achieved-occupancy"]),
    ("sm-load-imbalance", &["low-achieved-occupancy", "occupancy-limited"]),
    ("occupancy-limited", &["low-issue-utilisation"]),
    ("low-achieved-occupancy", &["low-issue-utilisation"]),
    ("warp-stalls", &["low-issue-utilisation"]),
    ("warp-divergence", &["predication-waste"]),
    (
        "register-spills",
        &[
            "local-arrays",
            "l1-bandwidth-bound",
            "l2-bandwidth-bound",
            "warp-stalls",
            "low-issue-utilisation",
        ],
    ),
    ("local-arrays", &["l1-bandwidth-bound", "warp-stalls", "low-issue-utilisation"]),
    (
        "uncoalesced-access",
        &[
            "misaligned-access",
            "narrow-global-loads",
            "memory-latency-bound",
            "l1-bandwidth-bound",
            "l2-bandwidth-bound",
            "integer-address-overhead",
            "warp-stalls",
            "low-issue-utilisation",
        ],
    ),
    // A gather is read beyond its need by nature: the rule that knows so speaks.
    ("random-gather-bound", &["partial-dram-bursts", "memory-latency-bound"]),
    ("ecc-partial-writes", &["partial-dram-bursts"]),
    // Reuse that L2 loses is why more is moved than needed, and why device memory is saturated.
    ("l2-thrashing", &["redundant-dram-traffic", "dram-saturated", "memory-bound-matmul"]),
    ("shared-bandwidth-bound", &["l1-bandwidth-bound", "warp-stalls", "low-issue-utilisation"]),
    ("shared-load-bank-conflicts", &["l1-bandwidth-bound", "warp-stalls", "low-issue-utilisation"]),
    (
        "shared-store-bank-conflicts",
        &["l1-bandwidth-bound", "warp-stalls", "low-issue-utilisation"],
    ),
    ("narrow-global-loads", &["warp-stalls", "low-issue-utilisation"]),
    ("memory-latency-bound", &["warp-stalls", "low-issue-utilisation"]),
    ("special-function-bound", &["pipe-saturated", "warp-stalls", "low-issue-utilisation"]),
    (
        "gemm-on-cuda-cores",
        &[
            "pipe-saturated",
            "old-architecture-kernel",
            "unfused-multiply-add",
            "integer-address-overhead",
        ],
    ),
    (
        "half-gemm-on-cuda-cores",
        &[
            "pipe-saturated",
            "old-architecture-kernel",
            "unfused-multiply-add",
            "integer-address-overhead",
        ],
    ),
    ("fp64-on-consumer-gpu", &["pipe-saturated"]),
    ("fp64-in-single-precision-code", &["pipe-saturated", "unfused-multiply-add"]),
    ("unfused-multiply-add", &["pipe-saturated"]),
    ("integer-address-overhead", &["pipe-saturated"]),
    ("warp-mma-on-hopper", &["low-tensor-utilisation", "old-architecture-kernel", "warp-stalls"]),
    ("unaligned-gemm-dimensions", &["unaligned-gemm-kernel", "low-tensor-utilisation"]),
    ("unaligned-gemm-kernel", &["low-tensor-utilisation"]),
    ("redundant-dram-traffic", &["dram-saturated"]),
    ("old-architecture-kernel", &["low-tensor-utilisation"]),
    // about the whole run
    ("convolution-layout-or-algorithm", &["layout-transforms"]),
];

/// Rules on how a kernel was counted: they may explain why one is faster than its roof.
const VALIDITY: &[&str] = &[
    "sparse-work",
    "unweighted-flop-metric",
    "tensor-undercount",
    "tensor-parent-peak",
    "inconsistent-passes",
];

/// Runs every rule that the settings do not leave out.
///
/// Kernels that are bound by links or that have no time are not looked at; one that is faster than the
/// model allows is looked at for how it was counted, one that is only launch cost for that alone. Custom
/// rules look at every kernel, or at every launch of the profile that was analyzed.
#[must_use]
pub fn check(profile: &Profile, analysis: &Analysis, settings: &Settings) -> Findings {
    let mut findings =
        Findings { by_kernel: vec![Vec::new(); analysis.kernels.len()], ..Findings::default() };
    for rule in RULES.iter().filter(|rule| settings.runs(rule.id)) {
        let mut tally = Tally::new(rule.id);
        match rule.check {
            Check::Kernel(check) => {
                for (kernel, found) in analysis.kernels.iter().zip(&mut findings.by_kernel) {
                    if !is_examined(rule, kernel) {
                        continue;
                    }
                    let subject = Subject { rule, kernel, analysis, settings };
                    match check(&subject) {
                        Ok(Some(finding)) if finding.is_fixed && kernel.share < SHOWN_SHARE => {
                            tally.minor += 1;
                            drop(finding);
                        }
                        Ok(Some(finding)) => {
                            // What can be won of an opportunity is worth its cause, however small.
                            let is_shown = kernel.state == State::Opportunity;
                            let weighed = weighed(finding, analysis, is_shown, &mut tally);
                            if let Some(finding) = weighed {
                                found.push(finding);
                            }
                        }
                        Ok(None) => tally.content += 1,
                        Err(missing) => tally.lacks(missing),
                    }
                }
            }
            Check::Run(check) => match check(&Run { rule, analysis, settings }) {
                Ok(found) if found.is_empty() => tally.content += 1,
                Ok(found) => {
                    for finding in found {
                        findings.run.extend(weighed(finding, analysis, false, &mut tally));
                    }
                }
                Err(missing) => tally.lacks(missing),
            },
        }
        findings.tally.push(tally);
    }
    custom::check_kernels(&mut findings, analysis, settings);
    for found in &mut findings.by_kernel {
        silence(found, &mut findings.tally);
        sort(found);
    }
    silence(&mut findings.run, &mut findings.tally);
    sort(&mut findings.run);
    custom::check_launches(&mut findings, profile, analysis, settings);
    findings
}

impl Tally {
    pub(super) fn new(rule: impl Into<Cow<'static, str>>) -> Self {
        Self {
            rule: rule.into(),
            found: 0,
            minor: 0,
            silenced: 0,
            content: 0,
            cannot_judge: 0,
            missing: BTreeMap::new(),
        }
    }

    pub(super) fn lacks(&mut self, Missing(metric): Missing) {
        self.cannot_judge += 1;
        *self.missing.entry(metric).or_default() += 1;
    }
}

/// Whether a rule looks at a kernel at all.
fn is_examined(rule: &Rule, kernel: &Kernel) -> bool {
    if kernel.measured <= Seconds::ZERO {
        return false;
    }
    match kernel.state {
        State::NotRoofline => false,
        State::FasterThanRoof => VALIDITY.contains(&rule.id),
        State::LaunchFloored => rule.id == "launch-bound",
        _ => true,
    }
}

/// A finding with its severity, or nothing where it is too small to show.
pub(super) fn weighed(
    mut finding: Finding,
    analysis: &Analysis,
    is_shown: bool,
    tally: &mut Tally,
) -> Option<Finding> {
    let total = analysis.totals.measured;
    if !finding.is_fixed {
        let floor = (total * SHOWN_SHARE).max(SHOWN_TIME);
        // A run shorter than the floor itself would show nothing.
        let floor = floor.min(total * 0.05);
        let is_shown = is_shown && finding.at_stake_s > 0.0;
        if finding.at_stake_s < floor.get() && !is_shown {
            tally.minor += 1;
            return None;
        }
        finding.severity = Severity::of_share(finding.at_stake_s / total.get());
    }
    tally.found += 1;
    Some(finding)
}

/// Leaves out findings that another one explains, which is about the same kernels or more.
fn silence(found: &mut Vec<Finding>, tally: &mut [Tally]) {
    let speaks: Vec<(String, Vec<String>, f64)> = found
        .iter()
        .map(|finding| (finding.rule.to_string(), finding.kernels.clone(), finding.at_stake_s))
        .collect();
    let explains = |rule: &str, other: &Finding| {
        speaks.iter().any(|(speaker, kernels, at_stake)| {
            // Findings about a run name only their longest kernels: what is at stake tells of the others.
            let covers = other.kernels.is_empty()
                || *at_stake >= other.at_stake_s
                    && other.kernels.iter().all(|name| kernels.contains(name));
            speaker == rule && covers
        })
    };
    found.retain(|finding| {
        let is_silenced = SILENCES
            .iter()
            .any(|(rule, others)| others.contains(&&*finding.rule) && explains(rule, finding));
        if is_silenced
            && let Some(tally) = tally.iter_mut().find(|tally| tally.rule == finding.rule)
        {
            tally.found -= 1;
            tally.silenced += 1;
        }
        !is_silenced
    });
}

/// The gravest first, then by time at stake; else in the order of the rules.
pub(super) fn sort(found: &mut [Finding]) {
    found.sort_by(|one, two| {
        two.severity.cmp(&one.severity).then(two.at_stake_s.total_cmp(&one.at_stake_s))
    });
}

#[cfg(test)]
mod tests {
    use super::{SILENCES, VALIDITY};
    use crate::rules::rule;

    #[test]
    fn what_silences_and_what_is_silenced_are_rules() {
        for (one, others) in SILENCES {
            assert!(rule(one).is_some(), "{one}");
            for other in *others {
                assert!(rule(other).is_some(), "{other}");
                assert_ne!(one, other);
            }
        }
        assert!(VALIDITY.iter().all(|id| rule(id).is_some()));
    }
}
