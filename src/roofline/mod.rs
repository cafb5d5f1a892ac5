//! The roofline model: how fast a kernel could run, and what follows from it.
//!
//! Pure functions over [`crate::units`]; every formula of the tool is here once, with its source.
//! The base model is Williams, Waterman, Patterson, *Roofline: an insightful visual performance
//! model for multicore architectures*, CACM 52(4), 2009, doi 10.1145/1498765.1498785.

pub(crate) mod formula;

pub use formula::{
    BLOCK_SLOTS, BLOCKS_PER_SM, BUSY, L2_BYTES_PER_CLOCK_PER_SM, LAUNCH_FLOOR, Limiter, NEAR,
    STRAGGLER, THREADS_PER_BLOCK,
};

use crate::units::{Bytes, BytesPerSecond, Flops, FlopsPerByte, FlopsPerSecond, Hertz, Seconds};

/// Returns `t_mem`: the least time in which a memory level can move `bytes`.
#[must_use]
pub fn memory_time(bytes: Bytes, bandwidth: BytesPerSecond) -> Seconds {
    Seconds::new(formula::time(bytes.get(), bandwidth.get()))
}

/// Returns `t_math`: the least time in which a pipe can execute `operations`.
#[must_use]
pub fn math_time(operations: Flops, peak: FlopsPerSecond) -> Seconds {
    Seconds::new(formula::time(operations.get(), peak.get()))
}

/// Returns the roofline time: the longer of the two, because memory and math overlap.
///
/// Source: NVIDIA, *GPU Performance Background User's Guide*, "Understanding Performance".
#[must_use]
pub fn roofline_time(memory: Seconds, math: Seconds) -> Seconds {
    Seconds::new(formula::roofline_time(memory.get(), math.get()))
}

/// Returns the arithmetic intensity at which the memory roof meets the compute roof.
#[must_use]
pub fn ridge_point(peak: FlopsPerSecond, bandwidth: BytesPerSecond) -> FlopsPerByte {
    peak / bandwidth
}

/// Returns the headroom: measured over roofline time, 1 at the roofline.
#[must_use]
pub fn headroom(measured: Seconds, roofline_time: Seconds) -> f64 {
    formula::headroom(measured.get(), roofline_time.get())
}

/// Returns the time saved if the launch reached its roofline; zero if it is already there.
#[must_use]
pub fn savings(measured: Seconds, roofline_time: Seconds) -> Seconds {
    Seconds::new(formula::savings(measured.get(), roofline_time.get()))
}

/// Returns the pessimistic time of a launch after a rewrite that only just comes near its roofs;
/// never below the structural time.
///
/// `most` is the upper bound of the roofline time over all memory levels, including uncounted work, or the busy time of
/// the busiest unit of SMs and memory if that is longer; if it is infinite, no savings are certain.
#[must_use]
pub fn modest_time(structural: Seconds, most: Seconds) -> Seconds {
    Seconds::new(formula::modest_time(structural.get(), most.get()))
}

/// Returns the efficiency: roofline over measured time, 1 at the roofline; the inverse of headroom.
#[must_use]
pub fn efficiency(roofline_time: Seconds, measured: Seconds) -> f64 {
    roofline_time / measured
}

/// Returns the time saved by reaching a target efficiency; zero if it is already reached.
#[must_use]
pub fn above_target(measured: Seconds, roofline_time: Seconds, target: f64) -> Seconds {
    savings(measured, roofline_time / target)
}

/// Returns the speedup of the whole if `saved` of `total` is removed; 1 if nothing would be left.
///
/// Source: G. Amdahl, AFIPS 1967, with the headroom of a part as its speedup.
#[must_use]
pub fn run_speedup(total: Seconds, saved: Seconds) -> f64 {
    if saved < total { total / (total - saved) } else { 1.0 }
}

/// Returns the peak rate of a pipe from the datasheet; each multiply-add is two operations.
///
/// `fma_per_clock` is per multiprocessor (CUDA C++ Programming Guide, arithmetic instructions table).
#[must_use]
pub fn peak_rate(fma_per_clock: f64, multiprocessors: u32, clock: Hertz) -> FlopsPerSecond {
    FlopsPerSecond::new(2.0 * fma_per_clock * f64::from(multiprocessors) * clock.get())
}

/// Returns the peak rate of a pipe from a profiler's `.peak_sustained` (units per cycle) at the
/// clock measured.
#[must_use]
pub fn peak_at_clock(per_cycle: f64, operations_per_unit: f64, clock: Hertz) -> FlopsPerSecond {
    FlopsPerSecond::new(per_cycle * operations_per_unit * clock.get())
}

/// Returns the peak bandwidth from bytes per cycle at the measured clock.
#[must_use]
pub fn bandwidth_at_clock(bytes_per_cycle: f64, clock: Hertz) -> BytesPerSecond {
    BytesPerSecond::new(formula::bandwidth_at_clock(bytes_per_cycle, clock.get()))
}

/// Returns the peak bandwidth of a double-data-rate memory from its bus width and the driver's
/// memory clock.
#[must_use]
pub fn ddr_bandwidth(bus_bits: u32, clock: Hertz) -> BytesPerSecond {
    BytesPerSecond::new(2.0 * f64::from(bus_bits) / 8.0 * clock.get())
}

/// Returns the operations of CUDA cores from thread-instruction counts; a fused multiply-add counts
/// 2.
#[must_use]
pub fn operations(add: f64, mul: f64, fma: f64) -> Flops {
    Flops::new(add + mul + 2.0 * fma)
}

/// Returns the operations of a packed half instruction mix with `lanes` halves per thread
/// instruction.
///
/// NVIDIA's `HierarchicalHalfRooflineChart` section uses two lanes since 2023 (weights 2, 2, 4).
#[must_use]
pub fn half_operations(add: f64, mul: f64, fma: f64, lanes: f64) -> Flops {
    operations(add, mul, fma) * lanes
}

/// Returns the elapsed cycles, from their sum over the four sub-partitions of each SM.
#[must_use]
pub fn elapsed_cycles(sum: f64, sms: f64) -> f64 {
    sum / (4.0 * sms)
}

/// Returns the operations of one warp-level matrix instruction of shape m × n × k (PTX ISA, `mma`).
#[must_use]
pub fn mma_operations(m: u32, n: u32, k: u32) -> Flops {
    Flops::new(2.0 * f64::from(m) * f64::from(n) * f64::from(k))
}

/// Returns the bytes of 32-byte sectors.
#[must_use]
pub fn sector_bytes(sectors: f64) -> Bytes {
    Bytes::new(32.0 * sectors)
}

/// Returns the time of a cycle count at its clock.
#[must_use]
pub fn duration_from_cycles(cycles: f64, clock: Hertz) -> Seconds {
    Seconds::new(cycles / clock.get())
}

/// Returns the math time of several pipes, each with the number of its group: pipes of a group share hardware and add up,
/// groups overlap.
#[must_use]
pub fn grouped_math_time(pipes: impl IntoIterator<Item = (usize, Seconds)>) -> Seconds {
    let mut groups: Vec<(usize, Seconds)> = Vec::new();
    for (group, time) in pipes {
        match groups.iter_mut().find(|(known, _)| *known == group) {
            Some((_, sum)) => *sum += time,
            None => groups.push((group, time)),
        }
    }
    Seconds::new(formula::grouped_math_time(groups.into_iter().map(|(_, sum)| sum.get())))
}

/// Returns the limiter by the method of the *GPU Performance Background* guide: parallelism first,
/// then intensity.
///
/// `utilization` is the larger share of a roof that was reached: from [`BUSY`] on, parallelism was
/// sufficient.
#[must_use]
pub fn limiter(
    memory: Seconds,
    math: Seconds,
    blocks: Option<u64>,
    threads_per_block: Option<u64>,
    sms: Option<u32>,
    utilization: f64,
) -> Limiter {
    let grid = formula::Grid {
        blocks: blocks.map(|blocks| blocks as f64).into(),
        threads_per_block: threads_per_block.map(|threads| threads as f64).into(),
        sms: sms.map(f64::from).into(),
        resident: None.into(),
    };
    formula::limiter(memory.get(), math.get(), grid.has_little_parallelism(), utilization)
}

/// Returns `true` if the time is impossible under the model: shorter than the roofline time by more
/// than 3%, or two ticks of the 32 ns GPU timer.
#[must_use]
pub fn is_faster_than_roof(measured: Seconds, roofline_time: Seconds) -> bool {
    formula::is_faster_than_roof(measured.get(), roofline_time.get())
}

/// Returns `true` if launching costs more than the work: fewer launches help, a faster kernel does
/// not.
#[must_use]
pub fn is_launch_floored(measured: Seconds, roofline_time: Seconds, fixed: Seconds) -> bool {
    formula::is_launch_floored(measured.get(), roofline_time.get(), fixed.get())
}

/// Smallest savings of a flagged kernel, besides 1% of the total and where a user sets no other.
pub const FLAG_FLOOR: Seconds = Seconds::new(50e-6);

/// Default share of the total time below which savings are ignored.
pub const FLAG_SHARE: f64 = 0.01;

/// Returns the smallest savings of a flagged kernel: a share of the total, usually [`FLAG_SHARE`],
/// and at least `floor`. Without one it is [`FLAG_FLOOR`], but at most 5% of a short run.
#[must_use]
pub fn flag_floor(total: Seconds, floor: Option<Seconds>, share: f64) -> Seconds {
    Seconds::new(formula::flag_floor(total.get(), floor.map(Seconds::get), share))
}

/// Returns `true` if a kernel is an opportunity: far from its roofline, and with enough savings.
///
/// `floor` is the smallest savings that matter in this run, from [`flag_floor`].
#[must_use]
pub fn is_opportunity(
    measured: Seconds,
    roofline_time: Seconds,
    threshold: f64,
    floor: Seconds,
) -> bool {
    formula::is_opportunity(measured.get(), roofline_time.get(), threshold, floor.get())
}

/// Returns the blocks that fit on one SM by registers: allocated per warp in units of 256, a
/// quarter of 65,536 registers for each sub-partition (CUDA occupancy calculator).
#[must_use]
pub fn register_limited_blocks(threads: u32, registers: u32) -> u32 {
    formula::register_limited_blocks(f64::from(threads), f64::from(registers)) as u32
}

/// Returns the blocks that fit on one SM by its warp slots.
#[must_use]
pub fn warp_limited_blocks(threads: u32, warp_slots: u32) -> u32 {
    formula::warp_limited_blocks(f64::from(threads), f64::from(warp_slots)) as u32
}

/// Returns the blocks that fit on one SM by shared memory; `taken` are the bytes of one block,
/// reserved part included, rounded up.
#[must_use]
pub fn shared_limited_blocks(taken: u32, available: u32) -> u32 {
    formula::shared_limited_blocks(f64::from(taken), f64::from(available)) as u32
}

/// Returns the share of touched sectors, lanes, warps or bytes that is not needed.
#[must_use]
pub fn excess_fraction(touched: f64, needed: f64) -> f64 {
    1.0 - needed / touched
}

/// Returns the time saved if the busiest unit had only `factor` of its work, after which the next
/// unit binds. Zero if another unit is already busier.
#[must_use]
pub fn next_bottleneck(time: Seconds, busiest: f64, factor: f64, next: f64) -> Seconds {
    if busiest <= 0.0 || next > busiest {
        return Seconds::ZERO;
    }
    time * (1.0 - (busiest * factor).max(next) / busiest)
}

/// Returns what kept the hardware busy, from the shares of their roofs that memory and math
/// reached.
///
/// Source: thresholds of `SpeedOfLight.py` of Nsight Compute.
#[must_use]
pub fn bound(memory: f64, math: f64) -> Limiter {
    if memory.max(math) < BUSY {
        Limiter::Latency
    } else if memory >= math {
        Limiter::Memory
    } else {
        Limiter::Math
    }
}

/// Returns the waves of blocks: the grid over the blocks resident on the whole device at once.
#[must_use]
pub fn waves(blocks: u64, sms: u32, resident_per_sm: u32) -> f64 {
    blocks as f64 / (f64::from(sms) * f64::from(resident_per_sm))
}

/// Returns the efficiency if every wave takes equally long: the upper estimate of the tail's cost.
#[must_use]
pub fn wave_efficiency(blocks: u64, sms: u32, resident_per_sm: u32) -> f64 {
    let waves = waves(blocks, sms, resident_per_sm);
    waves / waves.ceil()
}

/// Returns the efficiency if an SM's speed does not depend on its number of blocks: the lower
/// estimate of the tail's cost.
#[must_use]
pub fn sm_efficiency(blocks: u64, sms: u32, resident_per_sm: u32) -> f64 {
    formula::sm_efficiency(blocks as f64, f64::from(sms), f64::from(resident_per_sm))
}

/// Returns the L2 bandwidth that the SMs with a block can receive together, whatever memory could
/// send.
#[must_use]
pub fn port_bandwidth(blocks: u64, sms: u32, clock: Hertz) -> BytesPerSecond {
    BytesPerSecond::new(formula::port_bandwidth(blocks as f64, f64::from(sms), clock.get()))
}

/// Largest relative difference of memory and math time that counts as balanced.
const BALANCED: f64 = 0.10;

/// Returns `true` if memory and math take equally long, within 10%.
#[must_use]
pub fn is_balanced(memory: Seconds, math: Seconds) -> bool {
    let (shorter, longer) = (memory.min(math), memory.max(math));
    longer > Seconds::ZERO && shorter / longer > 1.0 - BALANCED
}

/// Least launch cost as a timeline tool measures it: 1.34 µs (A100) to 2.8 µs (Turing) are the
/// shortest kernels in public timelines.
pub const LAUNCH_COST_TIMELINE: Seconds = Seconds::new(1.5e-6);

/// Least launch cost as Nsight Compute measures it.
pub const LAUNCH_COST_COUNTERS: Seconds = Seconds::new(2.0e-6);

/// Share of the datasheet peak that well-written kernels reach; always overridable.
pub mod achievable {
    /// DRAM, NVIDIA HBM: V100 ERT 0.92, A100 and H100 STREAM 0.90–0.93.
    pub const HBM: f64 = 0.90;
    /// DRAM, AMD HBM: MI200 0.85, MI300X 0.80 (rocprof-compute micro-benchmark).
    pub const HBM_AMD: f64 = 0.82;
    /// DRAM, GDDR and LPDDR: vendor samples 0.80–0.92.
    pub const GDDR: f64 = 0.85;
    /// Links to the host and to peers: 0.80 to 0.90 in vendor samples and NCCL tests, packet headers included.
    pub const LINK: f64 = 0.85;
    /// L2 and shared memory: V100 ERT 0.956.
    pub const CACHE: f64 = 0.90;
    /// CUDA cores: V100 ERT 0.90.
    pub const VECTOR: f64 = 0.90;
    /// Tensor Cores: cuBLAS and CUTLASS at the clock-corrected peak; power limits cut the clock.
    pub const MATRIX: f64 = 0.80;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_and_the_rate_of_the_roof_agree() {
        let (flops, bytes) = (Flops::new(3e12), Bytes::new(7e9));
        for (peak, bandwidth) in [(1e12, 1e12), (3e14, 2e12), (1e13, 1e9)] {
            let (peak, bandwidth) = (FlopsPerSecond::new(peak), BytesPerSecond::new(bandwidth));
            let expected = roofline_time(memory_time(bytes, bandwidth), math_time(flops, peak));
            let by_rate = flops / peak.min((flops / bytes) * bandwidth);
            assert!((expected / by_rate - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn parallelism_comes_before_intensity_unless_a_roof_is_reached() {
        let (short, long) = (Seconds::new(1e-6), Seconds::new(2e-6));
        assert_eq!(limiter(short, long, Some(1), Some(1), Some(80), 0.0), Limiter::Latency);
        assert_eq!(limiter(short, long, Some(80), Some(256), Some(80), 0.9), Limiter::Math);
        assert_eq!(limiter(long, short, Some(320), Some(256), Some(80), 0.0), Limiter::Memory);
        assert_eq!(limiter(long, short, None, None, None, 0.0), Limiter::Memory);
        // 64 threads: 8 blocks on each of 80 SMs are 512 threads, as 4 blocks of 128 are; fewer are too few.
        assert_eq!(limiter(long, short, Some(640), Some(64), Some(80), 0.0), Limiter::Memory);
        assert_eq!(limiter(long, short, Some(639), Some(64), Some(80), 0.0), Limiter::Latency);
        // 16 blocks run at once, whatever waits behind them: of 31 threads that is too little.
        assert_eq!(limiter(long, short, Some(9999), Some(32), Some(80), 0.0), Limiter::Memory);
        assert_eq!(limiter(long, short, Some(9999), Some(31), Some(80), 0.0), Limiter::Latency);
        assert_eq!(limiter(long, short, None, Some(64), None, 0.0), Limiter::Latency);
        let grid = |resident: f64| formula::Grid {
            blocks: Some(9999.0).into(),
            threads_per_block: Some(64.0).into(),
            sms: Some(80.0).into(),
            resident: Some(resident).into(),
        };
        assert!(grid(7.0).has_little_parallelism() && !grid(8.0).has_little_parallelism());
    }

    #[test]
    fn two_timer_ticks_are_no_violation() {
        assert!(!is_faster_than_roof(Seconds::new(1e-6), Seconds::new(1.05e-6)));
        assert!(is_faster_than_roof(Seconds::new(9e-5), Seconds::new(1e-4)));
        // Two ticks of 32 ns, however short the launch.
        assert!(is_faster_than_roof(Seconds::new(32e-9), Seconds::new(6e-5)));
        assert!(is_faster_than_roof(Seconds::new(1e-7), Seconds::new(1.7e-7)));
        assert!(!is_faster_than_roof(Seconds::new(1e-7), Seconds::new(1.6e-7)));
        assert!(!is_faster_than_roof(Seconds::new(9.8e-5), Seconds::new(1e-4)));
    }
}
