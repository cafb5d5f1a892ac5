//! What only some kernels have.

use super::{Algorithmic, KernelAdvice};
use crate::model::MemoryLevel;
use crate::units::{Bytes, BytesPerSecond, Seconds};

/// Traffic of a kernel at one level of the memory hierarchy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelTraffic {
    /// The memory level.
    pub level: MemoryLevel,
    /// Bytes of all launches with a count.
    pub bytes: Bytes,
    /// Least time of these bytes; `None` if the bandwidth of the level is unknown.
    pub time: Option<Seconds>,
    /// Number of launches with a count.
    pub launches: u64,
}

/// What only some kernels have, apart from the others, of which there can be a million.
#[derive(Debug, Clone, Default)]
pub(crate) struct Extras {
    pub(super) algorithmic: Option<Box<Algorithmic>>,
    pub(crate) levels: Box<[LevelTraffic]>,
    pub(super) hierarchical: Option<Seconds>,
    pub(super) doubt: Option<Doubt>,
    /// The memory roof, where bytes and time of the memory are not of the same launches.
    pub(super) bandwidth: Option<BytesPerSecond>,
    pub(super) tool_advice: Box<[KernelAdvice]>,
    /// See `beside` of the kernel.
    pub(crate) beside: Seconds,
    /// See `shared` of the kernel.
    pub(crate) shared: Seconds,
}

impl Extras {
    /// Returns it if a kernel has anything of it.
    pub(super) fn kept(self) -> Option<Box<Self>> {
        // What is shared is beside others.
        let Self {
            algorithmic, levels, hierarchical, doubt, tool_advice, beside, bandwidth, ..
        } = &self;
        let is_empty = algorithmic.is_none()
            && levels.is_empty()
            && hierarchical.is_none()
            && doubt.is_none()
            && tool_advice.is_empty()
            && bandwidth.is_none()
            && *beside == Seconds::ZERO;
        (!is_empty).then(|| Box::new(self))
    }
}

/// What makes sums over the launches of a kernel less than the whole of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Doubt {
    /// True if launches that were judged lack bytes or operations that others have: sums over them have no ratio.
    pub(crate) is_partly_counted: bool,
    /// Number of launches with operations on any pipe.
    pub(crate) with_work: u64,
    /// True if a launch has operations on every pipe.
    pub(crate) has_all_pipes: bool,
    /// Part of the roofline time that is certainly needed: counts may be too high.
    pub(crate) roofline_time_low: Seconds,
}
