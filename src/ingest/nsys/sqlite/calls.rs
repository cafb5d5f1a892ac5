//! The calls of the runtime and the driver that launched work of a GPU, or during which a thread of the host waits for one.

use std::collections::{HashMap, HashSet};

use super::database::{Database, Failure, STRINGS, integer, text};
use super::kernels::process;

/// The table of calls of the runtime and the driver.
pub(super) const TABLE: &str = "CUPTI_ACTIVITY_KIND_RUNTIME";

/// Calls of the runtime and of the driver; other records repeat a call with its stack.
const KINDS: [i64; 2] = [0, 1];

/// What the names of calls that synchronize or copy have in them.
const WAITING: [&[u8]; 2] = [b"ynchronize", b"emcpy"];

/// A call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call {
    /// The thread with its process and machine, as exports number them.
    pub(super) thread: i64,
    /// Nanoseconds.
    pub(super) start: i64,
    pub(super) end: i64,
}

/// The calls of an export.
#[derive(Default)]
pub(super) struct Calls {
    /// Slots by process and correlation. Kernels of one graph share a call.
    slots: HashMap<(i64, i64), u32>,
    /// The call of each slot, if it is in the export.
    found: Vec<Option<Call>>,
    /// Calls that synchronize or copy.
    pub(super) waits: Vec<Call>,
}

impl Calls {
    /// The calls that launched work of these processes and correlations.
    pub(super) fn of(
        database: &Database,
        launched: impl Iterator<Item = (i64, i64)>,
    ) -> Result<Self, Failure> {
        let mut calls = Self::default();
        for key in launched {
            let next = calls.slots.len() as u32;
            calls.slots.entry(key).or_insert(next);
        }
        calls.found = vec![None; calls.slots.len()];
        if !database.has(TABLE) {
            return Ok(calls);
        }
        let waiting = waiting(database)?;
        // Exports that do not number processes are of one.
        let is_one = calls.slots.keys().all(|(process, _)| *process == 0);
        let columns = ["eventClass", "correlationId", "globalTid", "start", "end", "nameId"];
        database.each(TABLE, columns, |[kind, correlation, thread, start, end, name]| {
            if integer(kind).is_some_and(|kind| !KINDS.contains(&kind)) {
                return Ok(());
            }
            let (Some(start), Some(end)) = (integer(start), integer(end)) else { return Ok(()) };
            let call = Call { thread: integer(thread).unwrap_or_default(), start, end };
            if integer(name).is_some_and(|name| waiting.contains(&name)) {
                calls.waits.push(call);
            }
            let process = if is_one { 0 } else { process(call.thread) };
            let slot = integer(correlation).and_then(|number| calls.slots.get(&(process, number)));
            if let Some(slot) = slot {
                calls.found[*slot as usize].get_or_insert(call);
            }
            Ok(())
        })?;
        Ok(calls)
    }

    /// The slot of work by its process and correlation.
    pub(super) fn slot(&self, process: i64, correlation: Option<i64>) -> Option<u32> {
        self.slots.get(&(process, correlation?)).copied()
    }

    /// The call of a slot.
    pub(super) fn of_slot(&self, slot: u32) -> Option<Call> {
        self.found.get(slot as usize).copied().flatten()
    }

    /// The call that launched work.
    pub(super) fn launch(&self, process: i64, correlation: Option<i64>) -> Option<Call> {
        self.of_slot(self.slot(process, correlation)?)
    }

    /// Number of slots.
    pub(super) fn len(&self) -> usize {
        self.found.len()
    }
}

/// Numbers of the names of calls that synchronize or copy.
fn waiting(database: &Database) -> Result<HashSet<i64>, Failure> {
    let mut waiting = HashSet::new();
    database.each(STRINGS, ["id", "value"], |[id, value]| {
        let name = text(value).unwrap_or_default();
        let is_call = name.starts_with(b"cu");
        let has = |part: &[u8]| name.windows(part.len()).any(|found| found == part);
        if is_call && WAITING.into_iter().any(has) {
            waiting.extend(integer(id));
        }
        Ok(())
    })?;
    Ok(waiting)
}
