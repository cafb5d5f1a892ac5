//! The formulas over any scalar, in SI base units. The functions of the parent evaluate them with their
//! units and have the sources; the model as SQL prints them.

use schemars::JsonSchema;
use serde::Serialize;

use super::FLAG_FLOOR;
use crate::scalar::{Constant, Maybe, Number, Word};

/// Headroom up to which a kernel is near roofline, as good kernels are.
pub const NEAR: f64 = 1.3;

/// Time above the median of a run, as a share of it, from which a rank is a straggler: less is common between healthy
/// machines.
pub const STRAGGLER: f64 = 0.05;

/// Ratio to the median from which a rank is a straggler, less what a quotient may come out too small.
pub(crate) const STRAGGLES: f64 = (1.0 + STRAGGLER) * (1.0 - 1e-12);

/// Blocks per SM below which a grid is too small to fill the device.
///
/// Source: NVIDIA, *GPU Performance Background*: "at least roughly four times higher than the number of SMs".
pub const BLOCKS_PER_SM: u64 = 4;

/// Threads per block below which latency is hard to hide ("a few hundred" in the same guide).
pub const THREADS_PER_BLOCK: u64 = 128;

/// Blocks that every GPU of this list has slots for on an SM, where registers and shared memory allow them: 16 on compute
/// capability 7.5 and 8.6, more elsewhere (*CUDA C++ Programming Guide*, "Technical Specifications per Compute
/// Capability"); as many workgroups on a compute unit of CDNA.
pub const BLOCK_SLOTS: u64 = 16;

/// Share of a roof from which parallelism is sufficient; also NVIDIA's latency threshold in the
/// `SpeedOfLight` rule.
pub const BUSY: f64 = 0.60;

/// Multiple of the launch cost below which a launch is launch-bound: no rewrite of a kernel makes
/// it shorter.
pub const LAUNCH_FLOOR: f64 = 2.5;

/// Bytes an SM can receive from L2 per clock.
pub const L2_BYTES_PER_CLOCK_PER_SM: f64 = 64.0;

/// Share of the total time from which savings are never too small, however short the run.
const NEVER_SMALL: f64 = 0.05;

/// The first limit that an algorithm meets on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Limiter {
    /// The memory roof: intensity is left of the ridge point.
    Memory,
    /// The compute roof: intensity is right of the ridge point.
    Math,
    /// Too little parallelism to reach either roof.
    Latency,
    /// One side is missing and the other does not explain the time.
    Unknown,
}

impl Limiter {
    /// All limiters.
    pub const ALL: [Self; 4] = [Self::Memory, Self::Math, Self::Latency, Self::Unknown];

    /// Returns the name used in reports and JSON.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Math => "math",
            Self::Latency => "latency",
            Self::Unknown => "unknown",
        }
    }
}

impl Word for Limiter {
    const BLANK: Self = Self::Unknown;

    fn constant(self) -> Constant {
        Constant::Text(self.label())
    }
}

/// Time of an amount at a rate: bytes at a bandwidth, operations at a peak.
#[inline]
pub(crate) fn time<N: Number>(amount: N, rate: N) -> N {
    amount / rate
}

/// Roofline time.
#[inline]
pub(crate) fn roofline_time<N: Number>(memory: N, math: N) -> N {
    memory.max(math)
}

/// Headroom.
#[inline]
pub(crate) fn headroom<N: Number>(measured: N, roofline_time: N) -> N {
    measured / roofline_time
}

/// The least that headroom can be by a bound: whatever was not counted, the true roofline time is not longer than the
/// measured one. A kernel faster than its roofline contradicts that and keeps the bound.
#[inline]
pub(crate) fn least_headroom<N: Number>(bound: N, headroom: N) -> N {
    let one = N::of(1.0);
    N::select(headroom.less(one), || bound, || bound.max(one))
}

/// Savings.
#[inline]
pub(crate) fn savings<N: Number>(measured: N, roofline_time: N) -> N {
    (measured - roofline_time).max(N::of(0.0))
}

/// Pessimistic time after a rewrite.
#[inline]
pub(crate) fn modest_time<N: Number>(structural: N, most: N) -> N {
    structural.max(most * N::of(NEAR))
}

/// Bandwidth at a clock.
#[inline]
pub(crate) fn bandwidth_at_clock<N: Number>(bytes_per_cycle: N, clock: N) -> N {
    bytes_per_cycle * clock
}

/// Math time of several groups of pipes.
#[inline]
pub(crate) fn grouped_math_time<N: Number>(groups: impl IntoIterator<Item = N>) -> N {
    groups.into_iter().fold(N::of(0.0), N::max)
}

/// A grid on a device.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grid<N: Number> {
    pub(crate) blocks: Maybe<N, N>,
    pub(crate) threads_per_block: Maybe<N, N>,
    pub(crate) sms: Maybe<N, N>,
    /// Blocks that an SM holds at once.
    pub(crate) resident: Maybe<N, N>,
}

impl<N: Number> Grid<N> {
    /// Whether it is too small, or its blocks are. Small blocks are enough where so many of them run at once that an SM
    /// has as many threads as with the fewest blocks of the smallest size that suffice.
    #[inline]
    pub(crate) fn has_little_parallelism(self) -> N::Truth {
        let least = |count: u64| N::of(count as f64);
        let few_blocks = self
            .blocks
            .zip(self.sms)
            .is_some_and(|(blocks, sms)| blocks.less(sms * least(BLOCKS_PER_SM)));
        let small =
            self.threads_per_block.is_some_and(|threads| threads.less(least(THREADS_PER_BLOCK)));
        let at_once = self
            .blocks
            .zip(self.sms)
            .map(|(blocks, sms)| (blocks / sms).min(self.resident.unwrap_or(least(BLOCK_SLOTS))));
        let is_filled = at_once.zip(self.threads_per_block).is_some_and(|(blocks, threads)| {
            least(BLOCKS_PER_SM * THREADS_PER_BLOCK).at_most(blocks * threads)
        });
        few_blocks | (small & !is_filled)
    }
}

/// Limiter.
#[inline]
pub(crate) fn limiter<N: Number>(
    memory: N,
    math: N,
    has_little_parallelism: N::Truth,
    utilization: N,
) -> N::Choice<Limiter> {
    N::select(
        has_little_parallelism & utilization.less(N::of(BUSY)),
        || N::word(Limiter::Latency),
        || {
            let is_math = memory.less(math);
            N::select(is_math, || N::word(Limiter::Math), || N::word(Limiter::Memory))
        },
    )
}

/// A time that is less than the roofline time by more than this share of it, and than two ticks, is impossible.
pub(crate) const FASTER_SHARE: f64 = 0.03;

/// Two ticks of the 32 ns GPU timer, in seconds.
pub(crate) const TWO_TICKS: f64 = 64e-9;

/// Whether the time is impossible, beyond the tolerance.
#[inline]
pub(crate) fn is_faster_than_roof<N: Number>(measured: N, roofline_time: N) -> N::Truth {
    let tolerance = (roofline_time * N::of(FASTER_SHARE)).max(N::of(TWO_TICKS));
    N::of(0.0).less(measured) & measured.less(roofline_time - tolerance)
}

/// Whether launches are faster than the model allows: those that are take most of the time, or, with some, all together
/// are. The latter only counts at roofs that no kernel beats, which achievable ones are not.
#[inline]
pub(crate) fn are_faster_than_roof<N: Number>(
    (measured, roofline_time): (N, N),
    faster_time: N,
    has_faster: N::Truth,
    at_peaks: N::Truth,
) -> N::Truth {
    (measured / N::of(2.0)).less(faster_time)
        | (at_peaks & has_faster & is_faster_than_roof(measured, roofline_time))
}

/// Whether launching costs more than the work.
#[inline]
pub(crate) fn is_launch_floored<N: Number>(measured: N, roofline_time: N, fixed: N) -> N::Truth {
    roofline_time.less(fixed) & measured.less(fixed * N::of(LAUNCH_FLOOR))
}

/// Smallest savings of a flagged kernel; the usual ones are capped in a short run, those that a user set are not.
#[inline]
pub(crate) fn flag_floor<N: Number>(total: N, floor: Option<N>, share: N) -> N {
    let usual = || N::of(FLAG_FLOOR.get()).min(total * N::of(NEVER_SMALL));
    (total * share).max(floor.unwrap_or_else(usual))
}

/// Whether a kernel is an opportunity.
#[inline]
pub(crate) fn is_opportunity<N: Number>(
    measured: N,
    roofline_time: N,
    threshold: N,
    floor: N,
) -> N::Truth {
    threshold.at_most(headroom(measured, roofline_time))
        & floor.at_most(savings(measured, roofline_time))
}

/// Blocks that fit on one SM by registers.
#[inline]
pub(crate) fn register_limited_blocks<N: Number>(threads: N, registers: N) -> N {
    let one = N::of(1.0);
    let warps = (threads / N::of(32.0)).ceil().max(one);
    let per_warp = (registers * N::of(32.0) / N::of(256.0)).ceil().max(one) * N::of(256.0);
    (N::of(4.0) * (N::of(16_384.0) / per_warp).floor() / warps).floor()
}

/// Blocks that fit on one SM by its warp slots.
#[inline]
pub(crate) fn warp_limited_blocks<N: Number>(threads: N, warp_slots: N) -> N {
    (warp_slots / (threads / N::of(32.0)).ceil().max(N::of(1.0))).floor()
}

/// Blocks that fit on one SM by shared memory.
#[inline]
pub(crate) fn shared_limited_blocks<N: Number>(taken: N, available: N) -> N {
    let most = N::of(f64::from(u32::MAX));
    N::select(N::of(0.0).less(taken), || (available / taken).floor(), || most)
}

/// Efficiency of a grid, if an SM's speed does not depend on its number of blocks.
#[inline]
pub(crate) fn sm_efficiency<N: Number>(blocks: N, sms: N, resident: N) -> N {
    let full = (blocks / (sms * resident)).floor();
    let rest = blocks - full * sms * resident;
    (blocks / sms) / (full * resident + (rest / sms).ceil())
}

/// Bandwidth that the SMs with a block can receive.
#[inline]
pub(crate) fn port_bandwidth<N: Number>(blocks: N, sms: N, clock: N) -> N {
    bandwidth_at_clock(blocks.min(sms) * N::of(L2_BYTES_PER_CLOCK_PER_SM), clock)
}
