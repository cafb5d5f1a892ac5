//! Runs of Nsight Compute that have counters of one sum or quotient each, and could not be joined.

use super::{Formula, Pass};
use crate::model::{Profile, Profiler};

/// How many pairs of runs are named.
const NAMED: usize = 3;

/// Says of which runs that were not joined each has some counters of a formula that the other lacks, and what to do.
pub(super) fn check(profile: &mut Profile, alone: &[&Pass]) {
    let of_ncu = |pass: &&&Pass| {
        let source = profile.sources.get(pass.source);
        source.is_some_and(|source| source.profiler == Profiler::NsightCompute)
    };
    let alone: Vec<&Pass> = alone.iter().filter(of_ncu).copied().collect();
    let mut notes = Vec::new();
    for (at, one) in alone.iter().enumerate() {
        let with = |two: &&&Pass| two.source != one.source;
        for two in alone[at + 1..].iter().filter(with) {
            let parts = |formula: &&Formula| {
                let only = |one: &Pass, two: &Pass| {
                    let has = |pass: &Pass, name| pass.counters.contains(name);
                    formula.counters().any(|name| has(one, name) && !has(two, name))
                };
                only(one, two) && only(two, one)
            };
            let Some(formula) = one.fullest().find(parts) else { continue };
            let path = |pass: &Pass| profile.sources[pass.source].path.clone();
            let metrics: Vec<&str> = formula.counters().map(String::as_str).collect();
            notes.push(format!(
                "{} and {} have some counters of {} each, and were not joined: they do not match in launch number, kernel \
                 and grid, or match several runs; collect all in one run: `ncu --metrics {}`",
                path(one),
                path(two),
                formula.quantity.column(),
                metrics.join(",")
            ));
            break;
        }
        if notes.len() == NAMED {
            break;
        }
    }
    for note in notes {
        profile.check(note);
    }
}
