//! The canonical quantities to which every profiler's columns are converted.

use super::Pipe;
use crate::units::{BEYOND_ALL, FASTEST_CLOCK};

macro_rules! quantities {
    ($($(#[doc = $doc:literal])* $variant:ident, $column:literal, $unit:literal, $additive:literal;)*) => {
        /// One canonical quantity of a launch in SI base units; fractions are from 0 to 1.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Quantity {
            $($(#[doc = $doc])* $variant,)*
            /// Operations executed on one pipe (FMA = 2).
            Work(Pipe),
            /// Peak rate of one pipe at the clock the launch ran at, taken from the profile.
            Peak(Pipe),
        }

        impl Quantity {
            const SCALARS: &'static [Quantity] = &[$(Quantity::$variant),*];

            /// Returns the index in tables by quantity, below [`Quantity::COUNT`].
            #[must_use]
            // A constant wherever the quantity is one.
            #[inline(always)]
            pub const fn index(self) -> usize {
                match self {
                    $(Quantity::$variant => Scalar::$variant as usize,)*
                    Quantity::Work(pipe) => Self::SCALARS.len() + pipe as usize,
                    Quantity::Peak(pipe) => Self::SCALARS.len() + Pipe::ALL.len() + pipe as usize,
                }
            }

            /// Returns the column name in the canonical launch table, including the unit.
            #[must_use]
            pub fn column(self) -> String {
                match self {
                    $(Quantity::$variant => $column.to_owned(),)*
                    Quantity::Work(pipe) => format!("{}_{}", pipe.operation().to_lowercase() + "s", pipe.key()),
                    Quantity::Peak(pipe) => format!("peak_{}_{}s_per_s", pipe.key(), pipe.operation().to_lowercase()),
                }
            }

            /// Describes it in a sentence.
            #[must_use]
            pub const fn about(self) -> &'static str {
                match self {
                    $(Quantity::$variant => concat!($($doc),*).trim_ascii_start(),)*
                    Quantity::Work(_) => "Operations executed on one pipe (FMA = 2).",
                    Quantity::Peak(_) => "Peak rate of one pipe at the clock the launch ran at, taken from the profile.",
                }
            }

            /// Returns the SI unit of the values; `1` for fractions and counts.
            #[must_use]
            pub const fn unit(self) -> &'static str {
                match self {
                    $(Quantity::$variant => $unit,)*
                    Quantity::Work(pipe) => pipe.operation(),
                    Quantity::Peak(pipe) => pipe.operations_per_second(),
                }
            }

            /// Returns `true` if another run of the same launch has it too, whatever its clocks: amounts, properties of
            /// the launch and ratios of counters; not times, rates and shares of elapsed cycles.
            #[must_use]
            pub const fn is_of_the_work(self) -> bool {
                !matches!(
                    self,
                    Quantity::Duration
                        | Quantity::SmClock
                        | Quantity::DramClock
                        | Quantity::DramBandwidth
                        | Quantity::L2Bandwidth
                        | Quantity::L1Bandwidth
                        | Quantity::SmThroughput
                        | Quantity::MemoryThroughput
                        | Quantity::DramThroughput
                        | Quantity::L2Throughput
                        | Quantity::L1Throughput
                        | Quantity::SharedThroughput
                        | Quantity::TensorActive
                        | Quantity::DramActive
                        | Quantity::L2AtomicActive
                        | Quantity::PipeFma
                        | Quantity::PipeAlu
                        | Quantity::PipeFp64
                        | Quantity::PipeFp16
                        | Quantity::PipeXu
                        | Quantity::PipeLsu
                        | Quantity::SmImbalance
                        | Quantity::SmActive
                        | Quantity::Peak(_)
                )
            }

            /// Returns `true` if it is a clock or a peak rate of the device: a launch that ran had one above zero, so
            /// that a zero means that it was not recorded.
            #[must_use]
            pub const fn is_rate_of_device(self) -> bool {
                matches!(
                    self,
                    Quantity::SmClock
                        | Quantity::DramClock
                        | Quantity::DramBandwidth
                        | Quantity::L2Bandwidth
                        | Quantity::L1Bandwidth
                        | Quantity::Peak(_)
                )
            }

            /// Returns `true` if it is a clock.
            #[must_use]
            pub const fn is_clock(self) -> bool {
                matches!(self, Quantity::SmClock | Quantity::DramClock)
            }

            /// Returns `true` if a launch can have this value, in SI base units. Not possible are what is not finite or
            /// 10³⁰ and more, a negative amount of what adds up, a time that is not above zero, a clock or peak rate
            /// below one per second, and a clock of 1 THz.
            #[must_use]
            #[inline]
            pub fn allows(self, value: f64) -> bool {
                // Most are: every quantity allows these.
                if (1.0..FASTEST_CLOCK).contains(&value) {
                    return true;
                }
                let is_in_range = match self {
                    // A launch takes time: 0 is what a lost one looks like.
                    Quantity::Duration => value > 0.0,
                    _ if self.is_clock() => (1.0..FASTEST_CLOCK).contains(&value),
                    _ if self.is_rate_of_device() => value >= 1.0,
                    _ if self.is_additive() => value >= 0.0,
                    _ => true,
                };
                value.abs() < BEYOND_ALL && is_in_range
            }

            /// Returns `true` if values of several launches add up (bytes do, a hit rate does not).
            #[must_use]
            pub const fn is_additive(self) -> bool {
                match self {
                    $(Quantity::$variant => $additive,)*
                    Quantity::Work(_) => true,
                    Quantity::Peak(_) => false,
                }
            }
        }

        enum Scalar { $($variant),* }
    };
}

quantities! {
    /// Time on the GPU from start to end of the launch.
    Duration, "duration_s", "s", true;
    /// Average SM clock while the launch ran.
    SmClock, "sm_clock_hz", "Hz", false;
    /// Average DRAM clock while the launch ran, as the profiler counts it.
    DramClock, "dram_clock_hz", "Hz", false;
    /// Bytes read from and written to device memory.
    DramBytes, "dram_bytes", "B", true;
    /// Bytes read from device memory.
    DramReadBytes, "dram_read_bytes", "B", true;
    /// Bytes written to device memory.
    DramWriteBytes, "dram_write_bytes", "B", true;
    /// Bytes between L2 and the SMs.
    L2Bytes, "l2_bytes", "B", true;
    /// Bytes through the L1/TEX cache.
    L1Bytes, "l1_bytes", "B", true;
    /// Bytes through shared memory, bank conflicts included.
    SharedBytes, "shared_bytes", "B", true;
    /// Bytes between L2 and the memory of the host.
    SystemBytes, "system_memory_bytes", "B", true;
    /// Bytes between L2 and the memory of other devices.
    PeerBytes, "peer_memory_bytes", "B", true;
    /// Peak DRAM bandwidth at the memory clock of the launch, taken from the profile.
    DramBandwidth, "peak_dram_bytes_per_s", "B/s", false;
    /// Peak L2 bandwidth at the L2 clock of the launch, taken from the profile.
    L2Bandwidth, "peak_l2_bytes_per_s", "B/s", false;
    /// Peak L1 bandwidth at the SM clock of the launch, taken from the profile.
    L1Bandwidth, "peak_l1_bytes_per_s", "B/s", false;
    /// Registers per thread.
    RegistersPerThread, "registers_per_thread", "1", false;
    /// Shared memory per block, driver reserve included.
    SharedMemoryPerBlock, "shared_memory_per_block_bytes", "B", false;
    /// Blocks that fit on one SM at once: the smallest of the occupancy limits.
    ResidentBlocksPerSm, "resident_blocks_per_sm", "1", false;
    /// Waves of blocks per SM.
    Waves, "waves_per_sm", "1", false;
    /// SMs usable by the launch.
    SmCount, "sm_count", "1", false;
    /// Average resident warps over the maximum.
    AchievedOccupancy, "achieved_occupancy", "1", false;
    /// Resident warps the launch configuration allows, over the maximum.
    TheoreticalOccupancy, "theoretical_occupancy", "1", false;
    /// Speed-of-light of the busiest SM pipe.
    SmThroughput, "sm_throughput", "1", false;
    /// Speed-of-light of the busiest memory unit.
    MemoryThroughput, "memory_throughput", "1", false;
    /// Speed-of-light of DRAM, including command overhead (an upper bound of the data share).
    DramThroughput, "dram_throughput", "1", false;
    /// Speed-of-light of L2.
    L2Throughput, "l2_throughput", "1", false;
    /// Speed-of-light of L1/TEX (share of *active* cycles on the details page).
    L1Throughput, "l1_throughput", "1", false;
    /// Share of L2 sector look-ups that hit.
    L2HitRate, "l2_hit_rate", "1", false;
    /// Share of L1 sector look-ups that hit.
    L1HitRate, "l1_hit_rate", "1", false;
    /// Share of elapsed cycles in which the tensor pipe was active.
    TensorActive, "tensor_pipe_active", "1", false;
    /// Share of elapsed DRAM cycles in which data moved.
    DramActive, "dram_active", "1", false;
    /// 32-byte sectors per warp-level global load request (4 is perfect for 4-byte elements).
    LoadSectorsPerRequest, "load_sectors_per_request", "1", false;
    /// 32-byte sectors per warp-level global store request.
    StoreSectorsPerRequest, "store_sectors_per_request", "1", false;
    /// Minimum sectors that global accesses need, over those they touch.
    CoalescingEfficiency, "coalescing_efficiency", "1", false;
    /// Bytes used of each sector that global loads touch.
    LoadSectorEfficiency, "load_sector_efficiency", "1", false;
    /// Bytes used of each sector that global stores touch.
    StoreSectorEfficiency, "store_sector_efficiency", "1", false;
    /// Sectors that global loads touch, over all sectors of L1, or of L2 where bulk copies make these more.
    LoadSectorShare, "load_sector_share", "1", false;
    /// Sectors that global stores touch, over the same.
    StoreSectorShare, "store_sector_share", "1", false;
    /// Share of memory instructions that move at most 4 bytes per thread.
    NarrowLoadShare, "narrow_load_share", "1", false;
    /// Sectors of local memory (spills, arrays indexed at run time), over the same.
    LocalSectorShare, "local_sector_share", "1", false;
    /// Requests to local memory that register spills cause, over all requests to local memory.
    SpillShare, "spill_share", "1", false;
    /// Requests to local memory that register spills cause, over all warp instructions.
    SpillInstructionShare, "spill_instruction_share", "1", false;
    /// Shared-memory load wavefronts added by bank conflicts, over all load wavefronts.
    SharedLoadConflicts, "shared_load_conflict_share", "1", false;
    /// Shared-memory store wavefronts added by bank conflicts, over all store wavefronts.
    SharedStoreConflicts, "shared_store_conflict_share", "1", false;
    /// Shared-memory wavefronts of loads, over all.
    SharedLoadShare, "shared_load_share", "1", false;
    /// Shared-memory wavefronts of stores, over all.
    SharedStoreShare, "shared_store_share", "1", false;
    /// Minimum shared-memory wavefronts needed, over those executed.
    SharedEfficiency, "shared_efficiency", "1", false;
    /// Share of its peak at which L1's data stage serves shared memory, one wavefront per cycle and SM.
    SharedThroughput, "shared_throughput", "1", false;
    /// L2 sectors that crossed the fabric between the halves of L2, over all L2 sectors.
    L2FabricShare, "l2_fabric_share", "1", false;
    /// L2 sectors that go to system memory, over all L2 sectors.
    L2SystemShare, "l2_system_memory_share", "1", false;
    /// L2 sectors that go to peer memory, over all L2 sectors.
    L2PeerShare, "l2_peer_memory_share", "1", false;
    /// L2 sectors of atomics and reductions, over all sectors that SMs request.
    L2AtomicShare, "l2_atomic_share", "1", false;
    /// Share of elapsed cycles in which the atomic units of L2 took input.
    L2AtomicActive, "l2_atomic_active", "1", false;
    /// Bytes read from device memory in excess of L2 read misses, over all bytes moved.
    DramExcessReads, "dram_excess_read_share", "1", false;
    /// Bytes read from device memory over all bytes moved.
    DramReadShare, "dram_read_share", "1", false;
    /// 1 if ECC of device memory is enabled, 0 if not.
    EccEnabled, "ecc_enabled", "1", false;
    /// Bytes passed to the L2 compression unit, over the bytes moved by device memory.
    CompressionInputShare, "compression_input_share", "1", false;
    /// Sectors that the L2 compression unit could compress, over those passed to it.
    CompressionSuccess, "compression_success_share", "1", false;
    /// Share of active cycles in which a scheduler issued an instruction.
    IssueActive, "issue_active", "1", false;
    /// Warps of a scheduler that were ready to issue, on average.
    EligibleWarps, "eligible_warps", "1", false;
    /// Threads active in an executed warp instruction, of 32.
    ThreadsPerInstruction, "threads_per_instruction", "1", false;
    /// Threads active in an executed warp instruction and not disabled by a predicate, of 32.
    PredicatedThreadsPerInstruction, "predicated_threads_per_instruction", "1", false;
    /// Integer thread instructions, over all thread instructions.
    IntegerInstructionShare, "integer_instruction_share", "1", false;
    /// Pairs of one FP32 addition and one multiplication, over all FP32 instructions: upper bound
    /// of what fusing saves.
    UnfusedShareFp32, "unfused_share_fp32", "1", false;
    /// Pairs of one FP64 addition and one multiplication, over all FP64 instructions: upper bound
    /// of what fusing saves.
    UnfusedShareFp64, "unfused_share_fp64", "1", false;
    /// Tensor operations of warp-wide instructions, over all tensor operations: Hopper's fast path
    /// is warp-group-wide.
    WarpMmaShare, "warp_mma_share", "1", false;
    /// Blocks per SM that registers allow.
    BlocksByRegisters, "blocks_by_registers", "1", false;
    /// Blocks per SM that shared memory allows.
    BlocksBySharedMemory, "blocks_by_shared_memory", "1", false;
    /// Blocks per SM that its slots for blocks allow.
    BlocksBySlots, "blocks_by_slots", "1", false;
    /// Blocks per SM that its slots for warps allow.
    BlocksByWarps, "blocks_by_warps", "1", false;
    /// Time by which the busiest SM worked longer than the average one, over elapsed time.
    SmImbalance, "sm_imbalance", "1", false;
    /// Share of elapsed cycles in which an SM had warps, at most, on average over the SMs.
    SmActive, "sm_active", "1", false;
    /// Utilization of the FMA pipe (FP32, part of the integers).
    PipeFma, "pipe_fma", "1", false;
    /// Utilization of the ALU pipe (integers, logic, comparisons).
    PipeAlu, "pipe_alu", "1", false;
    /// Utilization of the FP64 pipe.
    PipeFp64, "pipe_fp64", "1", false;
    /// Utilization of the FP16 pipe.
    PipeFp16, "pipe_fp16", "1", false;
    /// Utilization of the XU pipe (special functions, conversions).
    PipeXu, "pipe_xu", "1", false;
    /// Utilization of the load/store pipe.
    PipeLsu, "pipe_lsu", "1", false;
    /// Share of a warp's time between instructions in which it waits for global, local or texture data.
    StallLongScoreboard, "stall_long_scoreboard", "1", false;
    /// Share of that time in which it waits for the queue of the load/store unit to global and
    /// local memory.
    StallLgThrottle, "stall_lg_throttle", "1", false;
    /// Share of that time in which it waits for shared memory and special functions.
    StallShortScoreboard, "stall_short_scoreboard", "1", false;
    /// Share of that time in which it waits for the queue to shared memory and special functions.
    StallMioThrottle, "stall_mio_throttle", "1", false;
    /// Share of that time in which it waits for the texture queue.
    StallTexThrottle, "stall_tex_throttle", "1", false;
    /// Share of that time in which it waits at a barrier.
    StallBarrier, "stall_barrier", "1", false;
    /// Share of that time in which it waits at a memory fence.
    StallMembar, "stall_membar", "1", false;
    /// Share of that time in which it waits for a busy math pipe.
    StallMathThrottle, "stall_math_throttle", "1", false;
    /// Share of that time in which it waits for a fixed-latency dependency.
    StallWait, "stall_wait", "1", false;
    /// Share of that time in which it waits for stores to drain after the last instruction.
    StallDrain, "stall_drain", "1", false;
    /// Share of that time in which it waits for a branch target.
    StallBranch, "stall_branch", "1", false;
    /// Share of that time in which it waits for instruction fetches.
    StallNoInstruction, "stall_no_instruction", "1", false;
    /// Share of that time in which it waits for constant fetches.
    StallConstant, "stall_constant", "1", false;
    /// Share of that time in which it waits for the dispatcher.
    StallDispatch, "stall_dispatch", "1", false;
    /// Share of that time in which it sleeps.
    StallSleeping, "stall_sleeping", "1", false;
    /// Share of that time in which it waits for a warp-group matrix product.
    StallGmma, "stall_gmma", "1", false;
    /// Peak of a tensor counter for dense and sparse work together, over the dense peak of its
    /// format.
    TensorParentPeak, "tensor_parent_peak_ratio", "1", false;
    /// Largest relative difference between two counters of the launch for the same figure.
    PassDisagreement, "pass_disagreement", "1", false;
    /// Passes over which the profiler replayed the launch.
    ReplayPasses, "replay_passes", "1", false;
}

impl Quantity {
    /// Number of distinct quantities.
    pub const COUNT: usize = Self::SCALARS.len() + 2 * Pipe::ALL.len();

    /// Returns what warps wait for, as Nsight Compute calls it, if this is the share of their time that goes there.
    #[must_use]
    pub const fn stall(self) -> Option<&'static str> {
        Some(match self {
            Self::StallLongScoreboard => "long scoreboard",
            Self::StallLgThrottle => "LG throttle",
            Self::StallShortScoreboard => "short scoreboard",
            Self::StallMioThrottle => "MIO throttle",
            Self::StallTexThrottle => "TEX throttle",
            Self::StallBarrier => "barrier",
            Self::StallMembar => "membar",
            Self::StallMathThrottle => "math pipe throttle",
            Self::StallWait => "wait",
            Self::StallDrain => "drain",
            Self::StallBranch => "branch resolving",
            Self::StallNoInstruction => "no instruction",
            Self::StallConstant => "IMC miss",
            Self::StallDispatch => "dispatch stall",
            Self::StallSleeping => "sleeping",
            Self::StallGmma => "GMMA",
            _ => return None,
        })
    }

    /// Iterates over all quantities, in table order.
    pub fn all() -> impl Iterator<Item = Quantity> {
        Self::SCALARS
            .iter()
            .copied()
            .chain(Pipe::ALL.iter().map(|pipe| Quantity::Work(*pipe)))
            .chain(Pipe::ALL.iter().map(|pipe| Quantity::Peak(*pipe)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_are_dense_and_columns_unique() {
        let mut columns = std::collections::BTreeSet::new();
        for (position, quantity) in Quantity::all().enumerate() {
            assert_eq!(quantity.index(), position, "{quantity:?}");
            assert!(columns.insert(quantity.column()), "{quantity:?}");
        }
        assert_eq!(columns.len(), Quantity::COUNT);
    }
}
