//! How exports number processes, and the calls that work names.

use crate::model::Positions;

/// Processes and threads are numbered by the lower half of these bits, machines by the upper.
const THREAD_BITS: u32 = 24;

/// The process of a thread or process as exports number them, with its machine.
pub(super) fn process(number: i64) -> i64 {
    number >> THREAD_BITS
}

/// The number of a process for the operating system.
pub(super) fn process_id(process: i64) -> u32 {
    (process & ((1 << THREAD_BITS) - 1)) as u32
}

/// What launched some work: a place among the [`Slots`], or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot(u32);

impl Slot {
    /// Of work that does not say what launched it.
    const NONE: Self = Self(u32::MAX);

    /// Its place, if it is one.
    pub(super) fn place(self) -> Option<usize> {
        (self != Self::NONE).then_some(self.0 as usize)
    }
}

/// The calls that work names, by process and correlation. Kernels of one graph share a call.
#[derive(Default)]
pub(super) struct Slots {
    keys: Vec<(i64, i64)>,
    positions: Positions,
}

impl Slots {
    /// The slot of a process and correlation, which is made if there is none.
    pub(super) fn take(&mut self, process: i64, correlation: Option<i64>) -> Slot {
        let Some(correlation) = correlation else { return Slot::NONE };
        self.find(process, correlation).unwrap_or_else(|| {
            let at = self.keys.len();
            self.keys.push((process, correlation));
            self.positions.add(at, |at| &self.keys[at]);
            Slot(at as u32)
        })
    }

    /// The slot of a process and correlation, if there is one.
    pub(super) fn find(&self, process: i64, correlation: i64) -> Option<Slot> {
        let found = self.positions.find(&(process, correlation), |at| &self.keys[at]);
        found.map(|at| Slot(at as u32))
    }

    /// Number of slots.
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether the export numbers processes; one that does not is of one.
    pub(super) fn have_processes(&self) -> bool {
        self.keys.iter().any(|(process, _)| *process != 0)
    }

    /// The correlation that a slot is for.
    pub(super) fn correlation(&self, slot: Slot) -> Option<i64> {
        Some(self.keys.get(slot.place()?)?.1)
    }
}
