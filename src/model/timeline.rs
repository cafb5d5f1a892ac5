//! What a trace has of a GPU's time beside its launches: copies and fills, the calls of the host that launched the
//! work, and the steps of a training loop.

use std::collections::HashMap;

use super::{HintId, NameId, Profile};

/// Work of a GPU other than a kernel: a copy, a fill, or a graph that was traced as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Activity {
    /// Index into [`Profile::sources`](super::Profile::sources).
    pub source: u16,
    /// The device it ran on.
    pub device: HintId,
    /// What it is, as the profiler names it: `[CUDA memcpy HtoD]`.
    pub name: NameId,
    /// Start in nanoseconds, on the clock of the launches of its file.
    pub start: Option<u64>,
    /// Nanoseconds.
    pub duration: u64,
    /// Bytes that were copied or filled.
    pub bytes: Option<u64>,
    /// The memory of the host that a copy reads or writes; `None` where the profiler does not say, and for other work.
    pub host_memory: Option<HostMemory>,
}

/// Memory of the host, as copies between it and a device meet it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostMemory {
    /// Allocated as usual: the driver copies it through a buffer of its own, so that a copy is slower, and its call may wait.
    Pageable,
    /// Page-locked (`cudaHostAlloc`, `pin_memory`): a device reads and writes it directly.
    Pinned,
}

impl HostMemory {
    /// The memory that CUPTI names in a text, as in `Memcpy HtoD (Pageable -> Device)`: `Pageable` or `Pinned`.
    pub(crate) fn named(text: &[u8]) -> Option<Self> {
        let has = |word: &[u8]| text.windows(word.len()).any(|part| part == word);
        match (has(b"Pageable"), has(b"Pinned")) {
            (true, _) => Some(Self::Pageable),
            (false, true) => Some(Self::Pinned),
            (false, false) => None,
        }
    }
}

/// A call of the host that launched work of a GPU: a kernel, a copy or a fill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LaunchCall {
    /// Index into [`Profile::sources`](super::Profile::sources).
    pub source: u16,
    /// The device that the work ran on.
    pub device: HintId,
    /// Start of the work on the GPU, in nanoseconds on the clock of the launches of its file.
    pub work: u64,
    /// Start of the call, on the same clock.
    pub start: u64,
    /// Thread of the host, by its position in the file.
    pub thread: u32,
}

impl Profile {
    /// Sorts launches by their file, and within it as they were called: on several streams they may begin in another order.
    /// One without a call, as within a graph, follows what began before it. `rows` are in the order of their starts.
    pub(crate) fn sort_by_call(&self, rows: &mut [usize]) {
        let called: HashMap<(u16, HintId, u64), u64> = self
            .calls
            .iter()
            .map(|call| ((call.source, call.device, call.work), call.start))
            .collect();
        let mut latest: HashMap<u16, u64> = HashMap::new();
        let mut calls: HashMap<usize, (u16, u64)> = HashMap::with_capacity(rows.len());
        for row in rows.iter() {
            let head = self.launches.head(*row);
            let latest = latest.entry(head.source).or_default();
            let call = head.start.and_then(|start| called.get(&(head.source, head.device, start)));
            *latest = call.copied().unwrap_or(*latest);
            calls.insert(*row, (head.source, *latest));
        }
        rows.sort_by_key(|row| calls.get(row).copied());
    }
}

/// A call in which a thread of the host waits for a GPU: it synchronizes or copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HostWait {
    /// Index into [`Profile::sources`](super::Profile::sources).
    pub source: u16,
    /// Thread of the host, as in [`LaunchCall`].
    pub thread: u32,
    /// Start of the call, in nanoseconds on the clock of the launches of its file.
    pub start: u64,
    /// End of the call.
    pub end: u64,
}

/// A step of the loop that was profiled, on one device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Step {
    /// Index into [`Profile::sources`](super::Profile::sources).
    pub source: u16,
    /// The device whose work it is.
    pub device: HintId,
    /// Its number, as the profiler counts.
    pub number: u64,
    /// Start of the first work that was launched in it, in nanoseconds on the clock of the launches.
    pub start: u64,
    /// Start of the next step, or the end of its own work where none follows at once.
    pub end: u64,
    /// Kernels that were launched in it.
    pub launches: u64,
    /// Whether none follows at once: it is the last one, or other work or steps that were not recorded come next.
    pub is_last: bool,
}
