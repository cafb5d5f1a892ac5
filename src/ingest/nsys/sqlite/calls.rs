//! The calls of the runtime and the driver that launched work of a GPU, or during which a thread of the host waits for one.

use std::collections::HashSet;

use super::database::{Database, Failure, STRINGS, integer, text};
use super::slots::{Slot, Slots, process};

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
    /// The call of each slot; its thread is [`NO_CALL`] if it is not in the export.
    found: Vec<Call>,
    /// Calls that synchronize or copy.
    pub(super) waits: Vec<Call>,
}

/// Marks a slot without a call; threads are numbered from 0.
const NO_CALL: i64 = i64::MIN;

impl Calls {
    /// The calls of these slots.
    pub(super) fn of(database: &Database, slots: &Slots) -> Result<Self, Failure> {
        let missing = Call { thread: NO_CALL, start: 0, end: 0 };
        let mut calls = Self { found: vec![missing; slots.len()], waits: Vec::new() };
        if !database.has(TABLE) {
            return Ok(calls);
        }
        let waiting = waiting(database)?;
        // Exports that do not number processes are of one.
        let is_one = !slots.have_processes();
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
            let slot = integer(correlation).and_then(|number| slots.find(process, number));
            if let Some(found) = slot.and_then(Slot::place).map(|at| &mut calls.found[at])
                && found.thread == NO_CALL
                && call.thread != NO_CALL
            {
                *found = call;
            }
            Ok(())
        })?;
        Ok(calls)
    }

    /// The call that launched work.
    pub(super) fn of_slot(&self, slot: Slot) -> Option<Call> {
        self.found.get(slot.place()?).copied().filter(|call| call.thread != NO_CALL)
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
