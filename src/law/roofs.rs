//! The roofs of one device, and those of a launch on it.

use super::ceilings::CeilingSet;
use super::interval::Interval;
use super::reading::Reading;
use crate::model::{Engine, MemoryLevel, Pipe, Precision, Quantity};
use crate::roofline::{achievable, formula};
use crate::scalar::{Branch, Maybe, Number, Truth};

/// The roofs of one device.
#[derive(Debug, Clone)]
pub(crate) struct Roofs<N: Number> {
    /// Compute roofs, in the order of [`Pipe::ALL`].
    pub(crate) peaks: Vec<Maybe<N, Roof<N>>>,
    pub(crate) dram: Maybe<N, Roof<N>>,
    /// Whether the DRAM roof is derived from the export, because the catalog has none.
    pub(crate) is_derived: N::Truth,
    pub(crate) l2: Maybe<N, N>,
    /// L2 bandwidth of a published benchmark: an achievable roof, not a theoretical one.
    pub(crate) measured_l2: Maybe<N, N>,
    /// Bandwidths of L1 and shared memory that were measured on the machine: achievable roofs too.
    pub(crate) measured_l1: Maybe<N, N>,
    pub(crate) measured_shared: Maybe<N, N>,
    /// Highest realistic clock: short launches count cycles and time in different passes.
    pub(crate) highest_clock: Maybe<N, N>,
    /// Clock at which CUDA-core peaks are quoted.
    pub(crate) rated_clock: Maybe<N, N>,
    /// Memory clock at which the bandwidth is quoted.
    pub(crate) memory_clock: Maybe<N, N>,
    /// Highest memory clock by the export.
    pub(crate) highest_memory_clock: Maybe<N, N>,
    /// Group of each pipe, in the order of [`Pipe::ALL`]; see [`group`].
    pub(crate) groups: Vec<N>,
    pub(crate) limits: Maybe<N, Limits<N>>,
    /// Whether the device is known to have no matrix units.
    pub(crate) lacks_matrix_units: N::Truth,
    /// Bytes per clock of an SM's path to L1 and shared memory.
    pub(crate) on_chip: Maybe<N, N>,
    /// Bandwidth to the host and to peers, both directions together.
    pub(crate) system: Maybe<N, N>,
    pub(crate) peer: Maybe<N, N>,
    pub(crate) l2_bytes: Maybe<N, N>,
    pub(crate) sms: Maybe<N, N>,
}

/// A roof.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Roof<N: Number> {
    pub(crate) value: N,
    /// Clock at which the value is quoted.
    pub(crate) clock: Maybe<N, N>,
    /// Share that is achievable in practice.
    pub(crate) achievable: N,
}

/// Occupancy limits of one SM.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits<N> {
    pub(crate) warps: N,
    pub(crate) blocks: N,
    pub(crate) shared_bytes: N,
    pub(crate) reserved_shared_bytes: N,
    pub(crate) shared_granularity: N,
}

/// Number of groups of pipes.
pub(super) const GROUPS: usize = 6;

const SHARED: usize = 0;
const FMA: usize = 1;
const HALF: usize = 2;
const DOUBLE: usize = 3;
const INTEGER: usize = 4;
const MATRIX: usize = 5;

/// Pipes that share issue slots or datapaths have the same group: their times add up. Independent
/// pipes overlap. If the chip is unknown, all pipes share one group, which is conservative.
///
/// Source: `sm__pipe_shared_cycles_active` and pipe tables of the *Nsight Compute Profiling Guide*.
/// For AMD: *AMD Instinct MI300 ISA*, "Matrix Arithmetic Instructions": while the matrix core runs, a SIMD issues other
/// instructions. Formats of 32 and 64 bits are taken as sharing with vector instructions, which is conservative.
pub(crate) fn group(target: Option<&str>, pipe: Pipe) -> usize {
    let Some(capability) = target else { return SHARED };
    if capability.starts_with("gfx") {
        let has_own_cores = matches!(capability, "gfx908" | "gfx90a" | "gfx942" | "gfx950");
        return if has_own_cores && is_narrow_matrix(pipe) { MATRIX } else { SHARED };
    }
    if pipe.engine() == Engine::Matrix {
        // The small FP64 unit of graphics chips serves both.
        let own_double = matches!(capability, "8.6" | "8.9" | "12.0" | "12.1");
        return if own_double && pipe.precision() == Precision::Fp64 { DOUBLE } else { SHARED };
    }
    match (pipe.precision(), capability) {
        (Precision::Int32 | Precision::Int8, _) => INTEGER,
        (Precision::Fp64, "7.0" | "8.0" | "9.0" | "10.0" | "10.3")
        | (Precision::Fp16 | Precision::Bf16, "7.0" | "7.5") => SHARED,
        (Precision::Fp64, _) => DOUBLE,
        (Precision::Fp16 | Precision::Bf16, "6.0" | "8.0") => HALF,
        _ => FMA,
    }
}

/// Whether a pipe multiplies matrices of at most 16 bits.
fn is_narrow_matrix(pipe: Pipe) -> bool {
    let is_wide = matches!(pipe.precision(), Precision::Fp64 | Precision::Fp32 | Precision::Tf32);
    pipe.engine() == Engine::Matrix && !is_wide
}

/// Returns the groups that a pipe can have on any device.
fn possible_groups(pipe: Pipe) -> &'static [usize] {
    match (pipe.engine(), pipe.precision()) {
        (_, Precision::Fp64) => &[SHARED, DOUBLE],
        _ if is_narrow_matrix(pipe) => &[SHARED, MATRIX],
        (Engine::Matrix, _) => &[SHARED],
        (_, Precision::Int32 | Precision::Int8) => &[SHARED, INTEGER],
        (_, Precision::Fp16 | Precision::Bf16) => &[SHARED, FMA, HALF],
        _ => &[SHARED, FMA],
    }
}

/// Returns the usual achievable share of a pipe's peak.
pub(crate) fn default_share(pipe: Pipe) -> f64 {
    match pipe.engine() {
        Engine::Vector => achievable::VECTOR,
        Engine::Matrix => achievable::MATRIX,
    }
}

impl<N: Number> Roofs<N> {
    /// Returns whether any compute roof is known.
    pub(crate) fn has_peaks(&self) -> N::Truth {
        self.peaks.iter().fold(N::Truth::of(false), |any, peak| any | peak.is)
    }

    /// Adds the time of a pipe to that of the pipes that share its hardware.
    #[inline]
    pub(super) fn add(
        &self,
        groups: &mut [Interval<N>; GROUPS],
        pipe: Pipe,
        interval: Interval<N>,
    ) {
        let of_pipe = self.groups[pipe as usize];
        for group in possible_groups(pipe) {
            let sum = groups[*group];
            let is_here = of_pipe.same(N::of(*group as f64));
            groups[*group] = N::select(is_here, || sum.add(interval), || sum);
        }
    }

    /// Returns the SM clock of a launch, capped at the device's maximum.
    #[inline]
    pub(crate) fn clock(&self, launch: &impl Reading<N>) -> Maybe<N, N> {
        let clock = launch.value(Quantity::SmClock);
        clock.map(|clock| self.highest_clock.map_or(clock, |highest| clock.min(highest)))
    }

    /// Returns the compute roof of a pipe for a launch.
    pub(crate) fn peak(
        &self,
        launch: &impl Reading<N>,
        pipe: Pipe,
        set: N::Choice<CeilingSet>,
    ) -> Maybe<N, N> {
        let roof = self.peaks[pipe as usize];
        let is_spec = N::is(set, CeilingSet::Spec);
        let of_launch = || {
            let clock = self.clock(launch);
            let own = launch.value(Quantity::Peak(pipe)).map(|peak| {
                let clocks = clock.zip(launch.value(Quantity::SmClock));
                peak * clocks.map_or(N::of(1.0), |(clock, seen)| clock / seen)
            });
            own.or_else(|| {
                roof.and_then(|roof| {
                    let clocks = clock.zip(roof.clock);
                    clocks.map(|(clock, rated)| roof.value * (clock / rated))
                })
            })
        };
        let quoted = || roof.map(|roof| roof.value);
        let value = Maybe::only_if(!is_spec, of_launch).or_else(quoted);
        value.map(|value| {
            let share = || self.achievable_math(pipe);
            value * N::select(N::is(set, CeilingSet::Achievable), share, || N::of(1.0))
        })
    }

    /// Returns the DRAM roof for a launch: from the profile, else the catalog's at the memory clock
    /// measured.
    pub(crate) fn dram(&self, launch: &impl Reading<N>, set: N::Choice<CeilingSet>) -> Maybe<N, N> {
        let is_spec = N::is(set, CeilingSet::Spec);
        let own = Maybe::only_if(!is_spec, || {
            let peak = launch.value(Quantity::DramBandwidth);
            peak.map(|peak| peak / self.dram_excess(launch))
        });
        let value = own.or_else(|| {
            self.dram.map(|roof| {
                let is_scaled = !is_spec & !self.is_derived;
                let scale = N::select(is_scaled, || self.dram_scale(launch), || N::of(1.0));
                roof.value * scale
            })
        });
        value.map(|value| {
            let share = || self.achievable_memory();
            value * N::select(N::is(set, CeilingSet::Achievable), share, || N::of(1.0))
        })
    }

    /// Returns the L2 roof for a launch; without one in the profile, the catalog's follows the SM
    /// clock.
    fn l2(&self, launch: &impl Reading<N>, set: N::Choice<CeilingSet>) -> Maybe<N, N> {
        let is_achievable = N::is(set, CeilingSet::Achievable);
        N::select(
            N::is(set, CeilingSet::Spec),
            || self.l2,
            || {
                launch.value(Quantity::L2Bandwidth).or_else(|| {
                    let reached = || Maybe::only_if(is_achievable, || self.measured_l2);
                    self.l2.or_else(reached).map(|bandwidth| bandwidth * self.clock_scale(launch))
                })
            },
        )
    }

    /// Returns the measured over the rated SM clock; 1 if either is unknown.
    fn clock_scale(&self, launch: &impl Reading<N>) -> N {
        let clocks = self.clock(launch).zip(self.rated_clock);
        clocks.map_or(N::of(1.0), |(clock, rated)| clock / rated)
    }

    /// Returns the roof of a cache or a link for a launch; see [`Roofs::dram`] for device memory.
    pub(crate) fn level(
        &self,
        launch: &impl Reading<N>,
        level: MemoryLevel,
        set: N::Choice<CeilingSet>,
    ) -> Maybe<N, N> {
        let is_spec = N::is(set, CeilingSet::Spec);
        let reached =
            |measured: Maybe<N, N>| Maybe::only_if(N::is(set, CeilingSet::Achievable), || measured);
        match level {
            MemoryLevel::L2 => self.l2(launch, set),
            MemoryLevel::L1 => Maybe::only_if(!is_spec, || launch.value(Quantity::L1Bandwidth))
                .or_else(|| self.on_chip(launch, is_spec))
                .or_else(|| reached(self.measured_l1)),
            MemoryLevel::Shared => {
                self.on_chip(launch, is_spec).or_else(|| reached(self.measured_shared))
            }
            MemoryLevel::Dram => self.dram(launch, set),
            MemoryLevel::System => self.system,
            MemoryLevel::Peer => self.peer,
        }
    }

    /// Returns the bandwidth of L1 and shared memory, by the width of their data path.
    fn on_chip(&self, launch: &impl Reading<N>, is_spec: N::Truth) -> Maybe<N, N> {
        self.on_chip.and_then(|each| {
            let measured = Maybe::only_if(!is_spec, || self.clock(launch));
            let clock = measured.or_else(|| self.rated_clock);
            let of = |(clock, sms): (N, N)| formula::bandwidth_at_clock(each * sms, clock);
            clock.zip(self.sms_of(launch)).map(of)
        })
    }

    /// Returns the SMs that a launch could use.
    #[inline]
    pub(crate) fn sms_of(&self, launch: &impl Reading<N>) -> Maybe<N, N> {
        let counted = launch.value(Quantity::SmCount).map(N::round);
        counted.or_else(|| self.sms).filter(|sms| N::of(0.0).less(sms))
    }

    /// Returns the resident blocks per SM of a launch from the profiler.
    #[inline]
    pub(crate) fn counted_resident(launch: &impl Reading<N>) -> Maybe<N, N> {
        let counted = launch.value(Quantity::ResidentBlocksPerSm);
        counted.filter(|blocks| N::of(1.0).at_most(blocks)).map(N::round)
    }

    /// Returns the resident blocks per SM of a launch: from the profiler, else computed from its
    /// threads, registers and shared memory. If the carve-out is unknown, all of the shared memory
    /// is assumed to be available.
    pub(crate) fn resident(&self, launch: &impl Reading<N>) -> Maybe<N, N> {
        Self::counted_resident(launch).or_else(|| {
            let registers = launch.value(Quantity::RegistersPerThread).map(N::round);
            let shared = launch.value(Quantity::SharedMemoryPerBlock).map(N::round);
            let limits = self.limits.zip(launch.threads_per_block());
            let known = limits.zip(registers.zip(shared));
            let known = known.filter(|((_, threads), _)| N::of(0.0).less(threads));
            known
                .map(|((limits, threads), (registers, shared))| {
                    limits.resident_blocks(threads, registers, shared)
                })
                .filter(|blocks| N::of(0.0).less(blocks))
        })
    }

    /// Returns the busy time of the tensor pipe, scaled to the roofs of a set.
    pub(crate) fn activity_at_tensor(
        &self,
        launch: &impl Reading<N>,
        busy: N,
        set: N::Choice<CeilingSet>,
    ) -> N {
        let pipe = Pipe::Fp16Matrix;
        let rated = self.peaks[pipe as usize].and_then(|roof| roof.clock);
        let rated = rated.or_else(|| self.rated_clock);
        let scale = || {
            let clocks = self.clock(launch).zip(rated);
            busy * clocks.map_or(N::of(1.0), |(clock, rated)| clock / rated)
        };
        activity(set, busy, || self.achievable_math(pipe), scale)
    }

    /// Returns the busy time of an SM unit, scaled to the roofs of a set.
    pub(crate) fn activity_at_sm(
        &self,
        launch: &impl Reading<N>,
        busy: N,
        set: N::Choice<CeilingSet>,
    ) -> N {
        let share = || self.achievable_math(Pipe::Fp32Vector);
        activity(set, busy, share, || busy * self.clock_scale(launch))
    }

    /// Returns the busy time of DRAM, scaled to the roofs of a set.
    pub(crate) fn activity_at_dram(
        &self,
        launch: &impl Reading<N>,
        busy: N,
        set: N::Choice<CeilingSet>,
    ) -> N {
        activity(set, busy, || self.achievable_memory(), || busy * self.dram_scale(launch))
    }

    /// Returns the measured over the rated memory clock, if both are known and agree roughly:
    /// profilers count some memories at another multiple of the driver's clock.
    pub(crate) fn dram_scale(&self, launch: &impl Reading<N>) -> N {
        let one = N::of(1.0);
        let scale = launch.value(Quantity::DramClock).zip(self.memory_clock);
        let scale = scale
            .map(|(seen, rated)| seen / rated)
            .filter(|scale| N::of(0.5).at_most(scale) & scale.at_most(N::of(1.02)));
        scale.map_or(one, |scale| scale.min(one))
    }

    /// Returns the measured over the highest memory clock where it is above it, else 1. Short launches count cycles
    /// and time in different passes; beyond a tenth the profiler counts at another multiple of the driver's clock.
    fn dram_excess(&self, launch: &impl Reading<N>) -> N {
        let one = N::of(1.0);
        let clocks = launch.value(Quantity::DramClock).zip(self.highest_memory_clock);
        let excess = clocks
            .map(|(seen, highest)| seen / highest)
            .filter(|excess| one.less(excess) & excess.at_most(N::of(1.1)));
        excess.unwrap_or(one)
    }

    /// Returns the achievable share of a compute roof.
    #[inline]
    pub(crate) fn achievable_math(&self, pipe: Pipe) -> N {
        self.peaks[pipe as usize].map_or(N::of(default_share(pipe)), |roof| roof.achievable)
    }

    /// Returns the achievable share of the DRAM roof.
    #[inline]
    pub(crate) fn achievable_memory(&self) -> N {
        self.dram.map_or(N::of(achievable::GDDR), |roof| roof.achievable)
    }
}

/// Returns busy time on the roofs of a set: as measured, over the achievable share, or at the rated
/// clock.
fn activity<N: Number>(
    set: N::Choice<CeilingSet>,
    busy: N,
    share: impl FnOnce() -> N,
    at_rated: impl FnOnce() -> N,
) -> N {
    N::select(
        N::is(set, CeilingSet::MeasuredClock),
        || busy,
        || N::select(N::is(set, CeilingSet::Achievable), || busy / share(), at_rated),
    )
}

impl<N: Number> Limits<N> {
    /// Returns the resident blocks per SM; zero if not even one fits.
    fn resident_blocks(&self, threads: N, registers: N, shared: N) -> N {
        let granularity = self.shared_granularity.max(N::of(1.0));
        let taken = shared.max(self.reserved_shared_bytes);
        let taken = (taken / granularity).ceil() * granularity;
        formula::register_limited_blocks(threads, registers)
            .min(formula::warp_limited_blocks(threads, self.warps))
            .min(formula::shared_limited_blocks(taken, self.shared_bytes))
            .min(self.blocks)
    }
}

impl<N: Number> Branch<N> for Roof<N> {
    #[inline]
    fn blank() -> Self {
        Self { value: N::blank(), clock: Maybe::missing(), achievable: N::blank() }
    }

    #[inline]
    fn merge(is: N::Truth, then: Self, other: Self) -> Self {
        Self {
            value: N::merge(is, then.value, other.value),
            clock: Maybe::merge(is, then.clock, other.clock),
            achievable: N::merge(is, then.achievable, other.achievable),
        }
    }
}

impl<N: Number> Branch<N> for Limits<N> {
    fn blank() -> Self {
        let zero = N::of(0.0);
        Self {
            warps: zero,
            blocks: zero,
            shared_bytes: zero,
            reserved_shared_bytes: zero,
            shared_granularity: zero,
        }
    }

    fn merge(is: N::Truth, then: Self, other: Self) -> Self {
        let of = |field: fn(&Self) -> N| N::merge(is, field(&then), field(&other));
        Self {
            warps: of(|limits| limits.warps),
            blocks: of(|limits| limits.blocks),
            shared_bytes: of(|limits| limits.shared_bytes),
            reserved_shared_bytes: of(|limits| limits.reserved_shared_bytes),
            shared_granularity: of(|limits| limits.shared_granularity),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGETS: [&str; 14] = [
        "5.2", "6.0", "6.1", "7.0", "7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "10.3", "12.0",
        "gfx942", "gfx1100",
    ];

    #[test]
    fn pipes_that_share_hardware_share_a_group() {
        let shared = |cc, a, b| group(Some(cc), a) == group(Some(cc), b);
        assert!(shared("8.0", Pipe::Fp64Vector, Pipe::Bf16Matrix));
        assert!(!shared("8.0", Pipe::Fp32Vector, Pipe::Bf16Matrix));
        assert!(shared("7.0", Pipe::Fp16Vector, Pipe::Fp16Matrix));
        assert!(shared("8.9", Pipe::Fp16Vector, Pipe::Fp32Vector));
        assert!(!shared("gfx942", Pipe::Fp32Vector, Pipe::Bf16Matrix));
        assert!(shared("gfx942", Pipe::Fp64Vector, Pipe::Fp64Matrix));
        assert!(shared("gfx1100", Pipe::Fp32Vector, Pipe::Fp16Matrix));
        assert_eq!(group(None, Pipe::Fp32Vector), group(None, Pipe::Bf16Matrix));
    }

    #[test]
    fn the_group_of_a_pipe_is_among_those_that_are_possible() {
        for pipe in Pipe::ALL {
            for target in TARGETS.map(Some).into_iter().chain([None]) {
                let group = group(target, *pipe);
                assert!(group < GROUPS && possible_groups(*pipe).contains(&group), "{pipe:?}");
            }
        }
    }
}
