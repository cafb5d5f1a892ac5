//! What an export has of a GPU's work beside kernels.

use super::database::{Database, Failure, integer};
use super::kernels::Kernels;
use super::missing::GRAPHS;
use super::slots::{self, Slot, Slots};
use crate::model::HostMemory;

/// The tables of copies and of memsets.
const COPIES: &str = "CUPTI_ACTIVITY_KIND_MEMCPY";
const FILLS: &str = "CUPTI_ACTIVITY_KIND_MEMSET";

/// A copy, a memset, or a graph that was traced as a whole.
pub(super) struct Moved {
    pub(super) table: &'static str,
    pub(super) process: i64,
    pub(super) slot: Slot,
    pub(super) device: i64,
    pub(super) start: Option<u64>,
    pub(super) end: Option<u64>,
    pub(super) bytes: Option<u64>,
    pub(super) kind: Option<i64>,
    /// Stream, node of a graph, and address of managed memory: several may begin and end at once.
    pub(super) places: [Option<i64>; 3],
    pub(super) host_memory: Option<HostMemory>,
}

impl Moved {
    /// Whether its times are those of something that ran; of graphs zeros stand for what is not known.
    pub(super) fn is_timed(&self) -> bool {
        let is_span = self.start.zip(self.end).is_some_and(|(start, end)| start <= end);
        is_span || self.table == GRAPHS
    }

    /// Nanoseconds; 0 if it is not known.
    pub(super) fn duration(&self) -> u64 {
        self.start.zip(self.end).map_or(0, |(start, end)| end.saturating_sub(start))
    }

    /// What it is, as `nsys stats` calls it.
    pub(super) fn name(&self) -> &'static str {
        match self.table {
            COPIES => copy(self.kind),
            FILLS => "[CUDA memset]",
            _ => "[CUDA graph]",
        }
    }
}

/// Reads copies, memsets, and graphs that were traced as a whole; not those whose kernels were traced, too.
pub(super) fn read(
    database: &Database,
    kernels: &Kernels,
    slots: &mut Slots,
) -> Result<Vec<Moved>, Failure> {
    let mut moved = Vec::new();
    let mut has_kernels = vec![false; slots.len()];
    for place in kernels.launches.iter().filter_map(|kernel| kernel.slot.place()) {
        has_kernels[place] = true;
    }
    let columns = [
        "start",
        "end",
        "globalPid",
        "correlationId",
        "deviceId",
        "bytes",
        "copyKind",
        "srcKind",
        "dstKind",
        "streamId",
        "graphNodeId",
        "virtualAddress",
    ];
    for table in [COPIES, FILLS, GRAPHS] {
        database.each(table, columns, |cells| {
            let cells = cells.map(integer);
            let [
                start,
                end,
                process,
                correlation,
                device,
                bytes,
                kind,
                from,
                to,
                stream,
                node,
                address,
            ] = cells;
            let number = |cell: Option<i64>| cell.and_then(|number| u64::try_from(number).ok());
            let process = process.map_or(0, slots::process);
            let slot = slots.take(process, correlation);
            let is_traced = |place: usize| has_kernels.get(place).copied().unwrap_or(false);
            if table == GRAPHS && slot.place().is_some_and(is_traced) {
                return Ok(());
            }
            moved.push(Moved {
                table,
                process,
                slot,
                device: device.unwrap_or_default(),
                start: number(start),
                end: number(end),
                bytes: number(bytes),
                kind,
                places: [stream, node, address],
                host_memory: host_memory(kind, (from, to)),
            });
            Ok(())
        })?;
    }
    Ok(moved)
}

/// A copy as `nsys stats` calls it, by the number of its kind.
fn copy(kind: Option<i64>) -> &'static str {
    match kind {
        Some(1) => "[CUDA memcpy HtoD]",
        Some(2) => "[CUDA memcpy DtoH]",
        Some(3) => "[CUDA memcpy HtoA]",
        Some(4) => "[CUDA memcpy AtoH]",
        Some(5..=8) => "[CUDA memcpy DtoD]",
        Some(10) => "[CUDA memcpy PtoP]",
        Some(11) => "[CUDA Unified Memory memcpy HtoD]",
        Some(12) => "[CUDA Unified Memory memcpy DtoH]",
        Some(13) => "[CUDA Unified Memory memcpy DtoD]",
        _ => "[CUDA memcpy]",
    }
}

/// The memory of the host that a copy reads or writes, by the numbers of its kind and of the memory at its ends
/// (`ENUM_CUDA_MEM_KIND`, the same in exports that lack this table).
fn host_memory(kind: Option<i64>, (from, to): (Option<i64>, Option<i64>)) -> Option<HostMemory> {
    const PAGEABLE: i64 = 0;
    const PINNED: i64 = 1;
    let (host, other) = match kind? {
        1 | 3 => (from?, to?),
        2 | 4 => (to?, from?),
        _ => return None,
    };
    match host {
        // Zeros at both ends of a copy to or from a device are what an unknown memory looks like.
        PAGEABLE if other != PAGEABLE => Some(HostMemory::Pageable),
        PINNED => Some(HostMemory::Pinned),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_at_the_host_says_which_memory_it_is() {
        let of = |kind, from, to| host_memory(Some(kind), (Some(from), Some(to)));
        assert_eq!(of(1, 0, 2), Some(HostMemory::Pageable));
        assert_eq!(of(2, 2, 0), Some(HostMemory::Pageable));
        assert_eq!(of(1, 1, 2), Some(HostMemory::Pinned));
        assert_eq!(of(2, 5, 1), Some(HostMemory::Pinned));
        // Managed memory, memory that is not known, between devices.
        assert_eq!([of(1, 4, 2), of(1, 7, 2), of(1, 0, 0), of(8, 2, 2)], [None; 4]);
        assert_eq!(host_memory(Some(1), (None, Some(2))), None, "an older export");
    }
}
