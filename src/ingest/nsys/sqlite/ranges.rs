//! The NVTX range that each launch lies in: the innermost around the call that launched it, on the thread of the call.
//!
//! An export has no index for that, and comparing each call with each range is quadratic: both are sorted, and a stack
//! holds the ranges that are open.

use std::collections::{BTreeMap, HashMap};

use super::calls::Calls;
use super::database::{Cell, Database, Failure, integer, text};
use super::kernels::Kernels;
use super::slots::Slot;
use crate::ingest::nsight::steady;

/// The table of ranges and marks.
pub(super) const RANGES: &str = "NVTX_EVENTS";

/// Ranges that are pushed and popped on one thread: recorded, and read from a text.
const PUSH_POP: [i64; 2] = [59, 70];

/// The name of a range: its text, or the number of one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Label {
    Text(String),
    Id(i64),
}

/// A call that launched kernels.
#[derive(Debug, Clone, Copy)]
struct Call {
    start: i64,
    end: i64,
    /// Its place among the slots.
    slot: u32,
}

#[derive(Debug, Clone, Copy)]
struct Range {
    start: i64,
    end: i64,
    label: u32,
    /// Whether the program opened it, and no library in a domain of its own.
    is_own: bool,
}

/// What is known of the calls behind launches.
#[derive(Default)]
pub(super) struct Operators {
    pub(super) labels: Vec<Label>,
    /// The label of each slot, or [`NONE`].
    of_slot: Vec<u32>,
    /// Launches whose call is in the export.
    pub(super) called: u64,
}

/// Marks a call in no range.
const NONE: u32 = u32::MAX;

impl Operators {
    /// Finds the ranges of these kernels.
    pub(super) fn of(
        database: &Database,
        kernels: &Kernels,
        calls: &Calls,
    ) -> Result<Self, Failure> {
        let mut found = Self { of_slot: vec![NONE; calls.len()], ..Self::default() };
        let mut threads: BTreeMap<i64, Vec<Call>> = BTreeMap::new();
        let mut is_taken = vec![false; calls.len()];
        for kernel in &kernels.launches {
            let Some(call) = calls.of_slot(kernel.slot) else { continue };
            let Some(slot) = kernel.slot.place() else { continue };
            found.called += 1;
            if !std::mem::replace(&mut is_taken[slot], true) {
                let (start, end) = (call.start, call.end);
                let slot = slot as u32;
                threads.entry(call.thread).or_default().push(Call { start, end, slot });
            }
        }
        if found.called == 0 || !database.has(RANGES) {
            return Ok(found);
        }
        for calls in threads.values_mut() {
            calls.sort_by_key(|call| (call.start, call.end));
        }
        let (mut ranges, labels) = ranges(database, &threads)?;
        found.labels = labels;
        for (thread, ranges) in &mut ranges {
            // Of ranges that begin together, the longer one is outside.
            ranges.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
            let Some(calls) = threads.get(thread) else { continue };
            innermost(calls, ranges, |slot, label| found.of_slot[slot as usize] = label);
        }
        Ok(found)
    }

    /// The label of the range around the call of a slot.
    pub(super) fn label(&self, slot: Slot) -> Option<u32> {
        self.of_slot.get(slot.place()?).copied().filter(|label| *label != NONE)
    }
}

/// Ranges by thread.
type Ranges = BTreeMap<i64, Vec<Range>>;

/// The ranges that hold a call, by thread, and their labels.
fn ranges(
    database: &Database,
    threads: &BTreeMap<i64, Vec<Call>>,
) -> Result<(Ranges, Vec<Label>), Failure> {
    let mut ranges = Ranges::new();
    let mut labels: Vec<Label> = Vec::new();
    let mut known: HashMap<Label, u32> = HashMap::new();
    let columns = ["eventType", "globalTid", "start", "end", "text", "textId", "domainId"];
    database.each(RANGES, columns, |[kind, thread, start, end, words, id, domain]| {
        if !integer(kind).is_some_and(|kind| PUSH_POP.contains(&kind)) {
            return Ok(());
        }
        let [Some(thread), Some(start), Some(end)] = [thread, start, end].map(integer) else {
            return Ok(());
        };
        let Some(calls) = threads.get(&thread) else { return Ok(()) };
        let first = calls.partition_point(|call| call.start < start);
        if calls.get(first).is_none_or(|call| call.start > end) {
            return Ok(());
        }
        let Some(label) = label(words, id) else { return Ok(()) };
        let number = *known.entry(label).or_insert_with_key(|label| {
            labels.push(label.clone());
            labels.len() as u32 - 1
        });
        let is_own = integer(domain).unwrap_or_default() == 0;
        ranges.entry(thread).or_default().push(Range { start, end, label: number, is_own });
        Ok(())
    })?;
    Ok((ranges, labels))
}

/// The name of a range; `None` for what says where in the source the next one is.
fn label(words: Cell<'_>, id: Cell<'_>) -> Option<Label> {
    match text(words) {
        Some(words) => named(&String::from_utf8_lossy(words)).map(Label::Text),
        None => integer(id).map(Label::Id),
    }
}

/// A name without what differs at every execution. `PyProf` and `DLProf` write dictionaries: of those of operators the
/// module and the operator are kept, those of places in the source are none.
pub(super) fn named(name: &str) -> Option<String> {
    if name.starts_with("{'traceMarker'") {
        return None;
    }
    let value = |key: &str| {
        let rest = &name[name.find(key)? + key.len()..];
        rest.split('\'').next().filter(|value| !value.is_empty())
    };
    if name.starts_with("{'mod': '")
        && let (Some(module), Some(operator)) = (value("{'mod': '"), value("'op': '"))
    {
        return Some(format!("{module}.{operator}"));
    }
    Some(steady(name)).filter(|name| !name.is_empty())
}

/// Finds for each call the range that opened last of those around it; one of the program before those of libraries,
/// which do not say to which part of it a launch belongs.
fn innermost(calls: &[Call], ranges: &[Range], mut found: impl FnMut(u32, u32)) {
    let mut open: Vec<Range> = Vec::new();
    let mut next = ranges.iter().peekable();
    for call in calls {
        while let Some(range) = next.next_if(|range| range.start <= call.start) {
            // Ranges of one thread nest: what has ended lies on top.
            while open.last().is_some_and(|last| last.end < range.start) {
                open.pop();
            }
            open.push(*range);
        }
        while open.last().is_some_and(|last| last.end < call.start) {
            open.pop();
        }
        let around = |range: &&Range| range.end >= call.end;
        let own = open.iter().rev().filter(around).find(|range| range.is_own);
        if let Some(range) = own.or_else(|| open.iter().rev().find(around)) {
            found(call.slot, range.label);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn call(start: i64, end: i64, slot: u32) -> Call {
        Call { start, end, slot }
    }

    fn range(start: i64, end: i64, label: u32, is_own: bool) -> Range {
        Range { start, end, label, is_own }
    }

    fn labels(calls: &[Call], ranges: &[Range]) -> Vec<Option<u32>> {
        let mut labels = vec![None; calls.len()];
        innermost(calls, ranges, |slot, label| labels[slot as usize] = Some(label));
        labels
    }

    #[test]
    fn a_launch_has_the_innermost_range_around_its_call() {
        let ranges = [
            range(0, 100, 0, true),
            range(10, 20, 1, true),
            range(12, 18, 2, false),
            range(30, 40, 3, false),
            range(35, 50, 4, true),
        ];
        let calls = [
            call(5, 6, 0),
            // Within a library's range: the program's own around it counts.
            call(13, 14, 1),
            // It ends after the range it began in.
            call(19, 25, 2),
            call(36, 45, 3),
            call(99, 101, 4),
        ];
        assert_eq!(labels(&calls, &ranges), [Some(0), Some(1), Some(0), Some(4), None]);
        // Of a library's range alone.
        assert_eq!(labels(&[call(1, 2, 0)], &[range(0, 3, 7, false)]), [Some(7)]);
    }

    #[test]
    fn names_lose_what_differs_at_every_execution() {
        for (name, kept) in [
            ("aten::mul, seq = 45328, op_id = 990354", Some("aten::mul")),
            ("layer 3", Some("layer 3")),
            ("{'mod': 'Tensor', 'op': 'cuda', 'args': []}", Some("Tensor.cuda")),
            ("{'mod': 'x'}", Some("{'mod': 'x'}")),
            ("{'traceMarker': ['a.py:3']}", None),
            ("", None),
        ] {
            assert_eq!(named(name).as_deref(), kept, "{name}");
        }
    }

    proptest! {
        /// The plain definition is the oracle: ranges nest as pushes and pops make them.
        #[test]
        fn the_stack_finds_what_comparing_all_pairs_finds(
            steps in prop::collection::vec(0_u8..4, 0..60),
        ) {
            let (mut ranges, mut calls, mut stack) = (Vec::new(), Vec::new(), Vec::new());
            for (time, step) in (0_i64..).step_by(10).zip(&steps) {
                match step {
                    0 => stack.push(time),
                    1 => {
                        if let Some(start) = stack.pop() {
                            ranges.push(range(start, time, ranges.len() as u32, true));
                        }
                    }
                    _ => calls.push(call(time, time + 5, calls.len() as u32)),
                }
            }
            ranges.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
            let expected: Vec<Option<u32>> = calls
                .iter()
                .map(|call| {
                    let around =
                        ranges.iter().filter(|of| of.start <= call.start && call.end <= of.end);
                    around.max_by_key(|range| range.start).map(|range| range.label)
                })
                .collect();
            prop_assert_eq!(labels(&calls, &ranges), expected);
        }
    }
}
