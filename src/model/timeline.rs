//! What a trace has of a GPU's time beside its launches: copies and fills, the calls of the host that launched the
//! work, and the steps of a training loop.

use super::{HintId, NameId};

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
    /// Start of the next step; of the last one, the end of its own work.
    pub end: u64,
    /// Kernels that were launched in it.
    pub launches: u64,
    /// Whether it is the last one, whose end is not the start of another.
    pub is_last: bool,
}
