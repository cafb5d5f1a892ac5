//! Counts what loops really do: operations, and the distinct elements of each operand they touch.

use std::collections::{BTreeMap, BTreeSet};

use super::count;

/// What loops did so far. Within a phase an element that was read stays at hand; a new phase, such
/// as the next kernel or the next pass, reads it again.
#[derive(Default)]
pub(super) struct Meter {
    operations: u64,
    read: BTreeSet<(&'static str, usize)>,
    written: BTreeSet<(&'static str, usize)>,
    reads: BTreeMap<&'static str, usize>,
    writes: BTreeMap<&'static str, usize>,
}

impl Meter {
    /// Operations that were executed.
    pub(super) fn op(&mut self, operations: u64) {
        self.operations += operations;
    }

    pub(super) fn read(&mut self, operand: &'static str, element: usize) {
        self.read.insert((operand, element));
    }

    pub(super) fn write(&mut self, operand: &'static str, element: usize) {
        self.written.insert((operand, element));
    }

    /// Everything at hand is forgotten.
    pub(super) fn phase(&mut self) {
        for (operand, _) in std::mem::take(&mut self.read) {
            *self.reads.entry(operand).or_default() += 1;
        }
        for (operand, _) in std::mem::take(&mut self.written) {
            *self.writes.entry(operand).or_default() += 1;
        }
    }
}

/// Runs loops and holds what they did against the closed form: operations, and for each operand
/// the elements read and written. `left_out` are operations the loops do and the form leaves out.
pub(super) fn check_with(call: &str, left_out: i64, loops: impl FnOnce(&mut Meter)) {
    let mut meter = Meter::default();
    loops(&mut meter);
    meter.phase();
    let count = count(call);
    let operations = count.operations().get() as i64;
    assert_eq!(operations, meter.operations as i64 - left_out, "{call}: operations");
    for one in &count.traffic {
        let (read, written) = (one.elements * one.reads, one.elements * one.writes);
        let did = |kind: &BTreeMap<&str, usize>| kind.get(one.operand).copied().unwrap_or(0) as f64;
        assert_eq!(read, did(&meter.reads), "{call}: {} read", one.operand);
        assert_eq!(written, did(&meter.writes), "{call}: {} written", one.operand);
    }
    let named = |operand: &&str| count.traffic.iter().any(|one| one.operand == *operand);
    let touched = meter.reads.keys().chain(meter.writes.keys());
    let unnamed: Vec<_> = touched.filter(|operand| !named(operand)).collect();
    assert!(unnamed.is_empty(), "{call}: {unnamed:?} are touched and not in the form");
}

/// As [`check_with`], where nothing is left out.
pub(super) fn check(call: &str, loops: impl FnOnce(&mut Meter)) {
    check_with(call, 0, loops);
}
