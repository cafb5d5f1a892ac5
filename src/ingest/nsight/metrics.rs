//! The metrics that feed the model, under every name Nsight Compute gives them.
//!
//! A launch is gathered into [`Raw`] slots, in base units; [`super::derive`] turns those into the
//! canonical quantities. Names: *Nsight Compute Profiling Guide*, "Metrics Structure".

use std::collections::HashMap;
use std::sync::LazyLock;

use super::form::{Form, form};
use super::tensor::TensorMetric;
use super::units::Dimension;

/// Index of a gathered value of one launch.
pub(super) type Slot = usize;

macro_rules! raws {
    ($($variant:ident, $dimension:ident, [$($name:literal),*];)*) => {
        /// A metric with a slot of its own. What is derived together stands together: [`super::Gathered::has_any`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Raw { $($variant),* }

        #[cfg(test)]
        pub(super) const ALL: &[Raw] = &[$(Raw::$variant),*];

        const DIMENSIONS: &[Dimension] = &[$(Dimension::$dimension),*];

        const NAMES: &[&str] = &[$($($name,)*)*];

        static BY_NAME: LazyLock<HashMap<&'static str, Raw>> =
            LazyLock::new(|| HashMap::from([$($(($name, Raw::$variant),)*)*]));
    };
}

raws! {
    TimeSum, Time, ["gpu__time_duration.sum"];
    TimeAvg, Time, ["gpu__time_duration.avg"];
    TimeMax, Time, ["gpu__time_duration.max"];
    TimeActive, Time, ["gpu__time_active.avg", "gpu__time_active.sum"];
    TimeDetails, Time, [];
    SmCycles, Count, ["sm__cycles_elapsed.avg"];
    SmCyclesMax, Count, ["sm__cycles_elapsed.max"];
    SmspCycles, Count, ["smsp__cycles_elapsed.avg"];
    SmspCyclesSum, Count, ["smsp__cycles_elapsed.sum"];
    GpcCycles, Count, ["gpc__cycles_elapsed.max"];
    CyclesDetails, Count, [];
    SmClock, Frequency, ["sm__cycles_elapsed.avg.per_second"];
    SmspClock, Frequency, ["smsp__cycles_elapsed.avg.per_second"];
    GpcClock, Frequency, ["gpc__cycles_elapsed.avg.per_second", "gpc__frequency"];
    SmClockDetails, Frequency, [];
    DramClock, Frequency, ["dram__cycles_elapsed.avg.per_second", "dram__frequency"];
    DramClockDetails, Frequency, [];
    LtsClock, Frequency, ["lts__cycles_elapsed.avg.per_second"];
    L1Clock, Frequency, ["l1tex__cycles_elapsed.avg.per_second"];
    DramBytes, Bytes, ["dram__bytes.sum"];
    DramRead, Bytes, ["dram__bytes_read.sum", "dram__bytes_op_read.sum", "dram__read_bytes.sum", "fbpa__dram_read_bytes.sum"];
    DramWrite, Bytes, ["dram__bytes_write.sum", "dram__bytes_op_write.sum", "dram__write_bytes.sum", "fbpa__dram_write_bytes.sum"];
    DramRate, Bandwidth, ["dram__bytes.sum.per_second"];
    DramReadRate, Bandwidth, ["dram__bytes_read.sum.per_second", "dram__bytes_op_read.sum.per_second"];
    DramWriteRate, Bandwidth, ["dram__bytes_write.sum.per_second", "dram__bytes_op_write.sum.per_second"];
    DramRateDetails, Bandwidth, [];
    DramSectors, Count, ["dram__sectors.sum"];
    DramSectorsRead, Count, ["dram__sectors_read.sum"];
    DramSectorsWrite, Count, ["dram__sectors_write.sum"];
    DramActivePct, Percent, ["dram__cycles_active.avg.pct_of_peak_sustained_elapsed"];
    DramCyclesActive, Count, ["dram__cycles_active.avg"];
    DramCycles, Count, ["dram__cycles_elapsed.avg"];
    DramPeak, BytesPerCycle, ["dram__bytes.sum.peak_sustained"];
    DramPeakRate, Bandwidth, ["dram__bytes.sum.peak_sustained_elapsed.per_second"];
    LtsTexSectors, Count, ["lts__t_sectors_srcunit_tex.sum"];
    LtsTexSectorsPeak, Count, ["lts__t_sectors_srcunit_tex.avg.peak_sustained"];
    LtsSlicesClock, Frequency, ["lts__cycles_elapsed.sum.per_second"];
    LtsBytes, Bytes, ["lts__t_bytes.sum"];
    LtsBytesPeak, BytesPerCycle, ["lts__t_bytes.sum.peak_sustained"];
    LtsXbar, Count, ["lts__lts2xbar_cycles_active.sum"];
    LtsXbarPeak, Count, ["lts__lts2xbar_cycles_active.sum.peak_sustained"];
    LtsMissSectors, Count, ["lts__t_sectors_lookup_miss.sum"];
    L1Bytes, Bytes, ["l1tex__t_bytes.sum"];
    L2Persisting, Bytes, ["launch__persisting_l2_cache_size"];
    L1BytesPeak, BytesPerCycle, ["l1tex__t_bytes.sum.peak_sustained"];
    L1Writeback, Count, ["l1tex__lsu_writeback_active_mem_lgds.sum", "l1tex__lsu_writeback_active_mem_lg.sum", "l1tex__lsu_writeback_active.sum"];
    L1WritebackPeak, Count, ["l1tex__lsu_writeback_active_mem_lgds.sum.peak_sustained", "l1tex__lsu_writeback_active_mem_lg.sum.peak_sustained", "l1tex__lsu_writeback_active.sum.peak_sustained"];
    SmPct, Percent, ["sm__throughput.avg.pct_of_peak_sustained_elapsed"];
    SmInstructionPct, Percent, ["sm__instruction_throughput.avg.pct_of_peak_sustained_active"];
    MemoryPct, Percent, ["gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"];
    DramPct, Percent, ["gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "dram__throughput.avg.pct_of_peak_sustained_elapsed"];
    L2Pct, Percent, ["lts__throughput.avg.pct_of_peak_sustained_elapsed"];
    L1Pct, Percent, ["l1tex__throughput.avg.pct_of_peak_sustained_elapsed", "l1tex__throughput.avg.pct_of_peak_sustained_active"];
    L2Hit, Percent, ["lts__t_sector_hit_rate.pct"];
    L1Hit, Percent, ["l1tex__t_sector_hit_rate.pct"];
    TensorPct, Percent, ["sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"];
    TensorInstructions, Count, ["sm__inst_executed_pipe_tensor.sum", "smsp__inst_executed_pipe_tensor.sum"];
    UnweightedFp64, Count, ["sm__sass_thread_inst_executed_ops_dadd_dmul_dfma_pred_on.sum", "smsp__sass_thread_inst_executed_ops_dadd_dmul_dfma_pred_on.sum"];
    UnweightedFp32, Count, ["sm__sass_thread_inst_executed_ops_fadd_fmul_ffma_pred_on.sum", "smsp__sass_thread_inst_executed_ops_fadd_fmul_ffma_pred_on.sum"];
    UnweightedFp16, Count, ["sm__sass_thread_inst_executed_ops_hadd_hmul_hfma_pred_on.sum", "smsp__sass_thread_inst_executed_ops_hadd_hmul_hfma_pred_on.sum"];
    Blocks, Count, ["launch__grid_size"];
    Threads, Count, ["launch__block_size"];
    GridX, Count, ["launch__grid_dim_x"];
    GridY, Count, ["launch__grid_dim_y"];
    GridZ, Count, ["launch__grid_dim_z"];
    BlockX, Count, ["launch__block_dim_x"];
    BlockY, Count, ["launch__block_dim_y"];
    BlockZ, Count, ["launch__block_dim_z"];
    Registers, Count, ["launch__registers_per_thread"];
    SharedAllocated, BytesPerBlock, ["launch__shared_mem_per_block_allocated", "launch__shared_mem_per_block"];
    SharedDynamic, BytesPerBlock, ["launch__shared_mem_per_block_dynamic"];
    SharedStatic, BytesPerBlock, ["launch__shared_mem_per_block_static"];
    SharedDriver, BytesPerBlock, ["launch__shared_mem_per_block_driver"];
    Waves, Count, ["launch__waves_per_multiprocessor"];
    SmCount, Count, ["launch__sm_count"];
    LimitRegisters, Count, ["launch__occupancy_limit_registers"];
    LimitShared, Count, ["launch__occupancy_limit_shared_mem"];
    LimitBlocks, Count, ["launch__occupancy_limit_blocks"];
    LimitWarps, Count, ["launch__occupancy_limit_warps"];
    LimitBarriers, Count, ["launch__occupancy_limit_barriers"];
    AchievedPct, Percent, ["sm__warps_active.avg.pct_of_peak_sustained_active"];
    TheoreticalPct, Percent, ["sm__maximum_warps_per_active_cycle_pct"];
    LoadSectors, Count, ["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"];
    LoadRequests, Count, ["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"];
    StoreSectors, Count, ["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"];
    StoreRequests, Count, ["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"];
    Passes, Count, ["profiler__replayer_passes"];
    TheorySectors, Count, ["memory_l2_theoretical_sectors_global"];
    TheoryIdeal, Count, ["memory_l2_theoretical_sectors_global_ideal"];
    TheoryLocal, Count, ["memory_l2_theoretical_sectors_local"];
    LoadBytesPerSector, Count, ["smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio"];
    LoadBytesPerSectorPct, Percent, ["smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"];
    StoreBytesPerSector, Count, ["smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio"];
    StoreBytesPerSectorPct, Percent, ["smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct"];
    Memory8, Count, ["smsp__sass_inst_executed_op_memory_8b.sum"];
    Memory16, Count, ["smsp__sass_inst_executed_op_memory_16b.sum"];
    Memory32, Count, ["smsp__sass_inst_executed_op_memory_32b.sum"];
    Memory64, Count, ["smsp__sass_inst_executed_op_memory_64b.sum"];
    Memory128, Count, ["smsp__sass_inst_executed_op_memory_128b.sum"];
    L1Sectors, Count, ["l1tex__t_sectors.sum"];
    LocalLoadSectors, Count, ["l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum"];
    LocalStoreSectors, Count, ["l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"];
    SpillPct, Percent, ["derived__local_spilling_requests_pct"];
    SpillRequests, Count, ["derived__local_spilling_requests", "sass__inst_executed_register_spilling_mem_local"];
    InstructionsExecuted, Count, ["smsp__inst_executed.sum", "sm__inst_executed.sum", "inst_executed"];
    SharedLoadConflicts, Count, ["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"];
    SharedLoadWavefronts, Count, ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"];
    SharedStoreConflicts, Count, ["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"];
    SharedStoreWavefronts, Count, ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"];
    SharedWavefronts, Count, ["memory_l1_wavefronts_shared"];
    SharedDataWavefronts, Count, ["l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"];
    SharedIdeal, Count, ["memory_l1_wavefronts_shared_ideal"];
    SharedPct, Percent, ["l1tex__data_pipe_lsu_wavefronts_mem_shared.sum.pct_of_peak_sustained_elapsed", "l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed"];
    EccEnabled, Count, ["device__attribute_ecc_enabled"];
    GenericCompressed, Percent, ["lts__average_gcomp_input_sector_success_rate.pct"];
    GenericInput, Count, ["lts__gcomp_input_sectors.sum"];
    InlineCompressed, Percent, ["lrc__average_ilc_input_sector_success_rate.pct"];
    InlineInput, Count, ["lrc__ilc_input_sectors.sum"];
    CompressedDetails, Percent, [];
    CompressionInputDetails, Count, [];
    LtsSectors, Count, ["lts__t_sectors.sum"];
    LtsReadSectors, Count, ["lts__t_sectors_op_read.sum"];
    LtsWriteSectors, Count, ["lts__t_sectors_op_write.sum"];
    LtsReadHit, Count, ["lts__t_sectors_op_read_lookup_hit.sum"];
    LtsReadMiss, Count, ["lts__t_sectors_op_read_lookup_miss.sum"];
    LtsTexReadMiss, Count, ["lts__t_sectors_srcunit_tex_op_read_lookup_miss.sum"];
    LtsGccMiss, Count, ["lts__t_sectors_srcunit_gcc_lookup_miss.sum"];
    LtsFabric, Count, ["lts__t_sectors_srcunit_ltcfabric.sum"];
    LtsSystemMiss, Count, ["lts__t_sectors_aperture_sysmem_lookup_miss.sum"];
    LtsSystemRead, Count, ["lts__t_sectors_aperture_sysmem_op_read.sum"];
    LtsSystemWrite, Count, ["lts__t_sectors_aperture_sysmem_op_write.sum"];
    LtsPeerMiss, Count, ["lts__t_sectors_aperture_peer_lookup_miss.sum"];
    LtsTexAtomics, Count, ["lts__t_sectors_srcunit_tex_op_atom.sum"];
    LtsTexReductions, Count, ["lts__t_sectors_srcunit_tex_op_red.sum"];
    LtsAtomics, Count, ["lts__t_sectors_op_atom.sum"];
    LtsReductions, Count, ["lts__t_sectors_op_red.sum"];
    AtomicPct, Percent, ["lts__d_atomic_input_cycles_active.avg.pct_of_peak_sustained_elapsed"];
    IssuePct, Percent, ["smsp__issue_active.avg.pct_of_peak_sustained_active"];
    IssuedPct, Percent, ["sm__inst_issued.avg.pct_of_peak_sustained_active", "sm__inst_issued.avg.pct_of_peak_sustained_elapsed"];
    IssueRate, Count, ["smsp__issue_active.avg.per_cycle_active"];
    EligibleWarps, Count, ["smsp__warps_eligible.avg.per_cycle_active"];
    ThreadsPerInstruction, Count, ["smsp__thread_inst_executed_per_inst_executed.ratio"];
    PredicatedPerInstruction, Count, ["smsp__thread_inst_executed_pred_on_per_inst_executed.ratio"];
    IntegerInstructions, Count, ["smsp__sass_thread_inst_executed_op_integer_pred_on.sum", "sm__sass_thread_inst_executed_op_integer_pred_on.sum"];
    PredicatedInstructions, Count, ["thread_inst_executed_true", "smsp__thread_inst_executed_pred_on.sum"];
    ThreadInstructions, Count, ["thread_inst_executed", "smsp__sass_thread_inst_executed.sum", "smsp__thread_inst_executed.sum"];
    SmActiveAvg, Count, ["sm__cycles_active.avg"];
    SmActiveMax, Count, ["sm__cycles_active.max"];
    IpcActive, Count, ["sm__inst_executed.avg.per_cycle_active"];
    IpcElapsed, Count, ["sm__inst_executed.avg.per_cycle_elapsed"];
    PipeFmaCyclesElapsed, Percent, ["sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed"];
    PipeFmaCycles, Percent, ["sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active"];
    PipeFmaInstElapsed, Percent, ["sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_elapsed"];
    PipeFmaInst, Percent, ["sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active"];
    PipeAluCyclesElapsed, Percent, ["sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_elapsed"];
    PipeAluCycles, Percent, ["sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active"];
    PipeAluInstElapsed, Percent, ["sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_elapsed"];
    PipeAluInst, Percent, ["sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active"];
    PipeFp64CyclesElapsed, Percent, ["sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_elapsed"];
    PipeFp64Cycles, Percent, ["sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active"];
    PipeFp64InstElapsed, Percent, ["sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_elapsed"];
    PipeFp64Inst, Percent, ["sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active"];
    PipeFp16InstElapsed, Percent, ["sm__inst_executed_pipe_fp16.avg.pct_of_peak_sustained_elapsed", "sm__inst_executed_pipe_fma_type_fp16.avg.pct_of_peak_sustained_elapsed"];
    PipeFp16Inst, Percent, ["sm__inst_executed_pipe_fp16.avg.pct_of_peak_sustained_active", "sm__inst_executed_pipe_fma_type_fp16.avg.pct_of_peak_sustained_active"];
    PipeXuInstElapsed, Percent, ["sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_elapsed"];
    PipeXuInst, Percent, ["sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active"];
    PipeLsuInstElapsed, Percent, ["sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_elapsed"];
    PipeLsuInst, Percent, ["sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active"];
    WarpLatency, Count, ["smsp__average_warp_latency_per_inst_issued.ratio"];
    StallLongScoreboard, Count, ["smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio"];
    StallLgThrottle, Count, ["smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio"];
    StallShortScoreboard, Count, ["smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio"];
    StallMioThrottle, Count, ["smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio"];
    StallTexThrottle, Count, ["smsp__average_warps_issue_stalled_tex_throttle_per_issue_active.ratio"];
    StallBarrier, Count, ["smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio"];
    StallMembar, Count, ["smsp__average_warps_issue_stalled_membar_per_issue_active.ratio"];
    StallMathThrottle, Count, ["smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio"];
    StallWait, Count, ["smsp__average_warps_issue_stalled_wait_per_issue_active.ratio"];
    StallDrain, Count, ["smsp__average_warps_issue_stalled_drain_per_issue_active.ratio"];
    StallBranch, Count, ["smsp__average_warps_issue_stalled_branch_resolving_per_issue_active.ratio"];
    StallNoInstruction, Count, ["smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio"];
    StallConstant, Count, ["smsp__average_warps_issue_stalled_imc_miss_per_issue_active.ratio"];
    StallDispatch, Count, ["smsp__average_warps_issue_stalled_dispatch_stall_per_issue_active.ratio"];
    StallSleeping, Count, ["smsp__average_warps_issue_stalled_sleeping_per_issue_active.ratio"];
    StallGmma, Count, ["smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio"];
    StallLongScoreboardPct, Percent, ["smsp__warp_issue_stalled_long_scoreboard_per_warp_active.pct"];
    StallLgThrottlePct, Percent, ["smsp__warp_issue_stalled_lg_throttle_per_warp_active.pct"];
    StallShortScoreboardPct, Percent, ["smsp__warp_issue_stalled_short_scoreboard_per_warp_active.pct"];
    StallMioThrottlePct, Percent, ["smsp__warp_issue_stalled_mio_throttle_per_warp_active.pct"];
    StallTexThrottlePct, Percent, ["smsp__warp_issue_stalled_tex_throttle_per_warp_active.pct"];
    StallBarrierPct, Percent, ["smsp__warp_issue_stalled_barrier_per_warp_active.pct"];
    StallMembarPct, Percent, ["smsp__warp_issue_stalled_membar_per_warp_active.pct"];
    StallMathThrottlePct, Percent, ["smsp__warp_issue_stalled_math_pipe_throttle_per_warp_active.pct"];
    StallWaitPct, Percent, ["smsp__warp_issue_stalled_wait_per_warp_active.pct"];
    StallDrainPct, Percent, ["smsp__warp_issue_stalled_drain_per_warp_active.pct"];
    StallBranchPct, Percent, ["smsp__warp_issue_stalled_branch_resolving_per_warp_active.pct"];
    StallNoInstructionPct, Percent, ["smsp__warp_issue_stalled_no_instruction_per_warp_active.pct"];
    StallConstantPct, Percent, ["smsp__warp_issue_stalled_imc_miss_per_warp_active.pct"];
    StallDispatchPct, Percent, ["smsp__warp_issue_stalled_dispatch_stall_per_warp_active.pct"];
    StallSleepingPct, Percent, ["smsp__warp_issue_stalled_sleeping_per_warp_active.pct"];
    StallGmmaPct, Percent, ["smsp__warp_issue_stalled_gmma_per_warp_active.pct"];
}

/// The SASS operations that are counted, in slot order.
pub(super) const SASS: [&str; 12] = [
    "dadd", "dmul", "dfma", "fadd", "fmul", "ffma", "hadd", "hmul", "hfma", "fadd2", "fmul2",
    "ffma2",
];

const FORMS: usize = 4;
/// The first slot after those of [`Raw`].
pub(super) const SASS_BASE: Slot = DIMENSIONS.len();
/// The first slot of tensor counters, of which an export has any number.
pub(super) const TENSOR_BASE: Slot = SASS_BASE + SASS.len() * FORMS;

/// The slot of a SASS operation (by its position in [`SASS`]) in one form.
pub(super) const fn sass_slot(operation: usize, form: Form) -> Slot {
    SASS_BASE + operation * FORMS + form as usize
}

/// How a metric is collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// By patching the kernel's code, which slows it down.
    Sass,
    /// By a hardware counter in a pass of its own.
    Hardware,
    /// Cycles, launch attributes, device attributes: present whatever else was collected.
    Neutral,
}

/// How a metric is collected, from its name.
pub(super) fn kind(name: &str) -> Kind {
    if name.contains("__sass_") || name.contains("_pred_on") {
        Kind::Sass
    } else if name.contains("cycles_elapsed")
        || name.starts_with("launch__")
        || name.starts_with("device__")
        || name.starts_with("profiler__")
        || !name.contains("__")
    {
        Kind::Neutral
    } else {
        Kind::Hardware
    }
}

/// A metric that was recognized: where it goes and what unit it must have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Wanted {
    pub(super) slot: Slot,
    pub(super) dimension: Dimension,
    /// Factor beside the unit's, for chart rows that print twice the instruction count.
    pub(super) factor: f64,
}

/// Of several names of one value the one with the lowest rank counts.
pub(super) fn rank(name: &str) -> usize {
    NAMES.iter().position(|known| *known == name).unwrap_or(NAMES.len())
}

/// Which metrics of a file are wanted; tensor metrics get slots as they are met.
#[derive(Debug, Default, Clone)]
pub(super) struct Catalog {
    pub(super) tensor: Vec<TensorMetric>,
    /// Tensor metrics whose name could not be understood.
    unknown: Vec<String>,
}

impl Catalog {
    /// Recognizes a metric of a raw page or a `--metrics` list by its name.
    pub(super) fn metric(&mut self, name: &str) -> Option<Wanted> {
        if let Some(raw) = BY_NAME.get(name) {
            return Some(wanted(*raw));
        }
        if let Some((operation, form)) = sass(name) {
            let dimension =
                if form == Form::PerSecond { Dimension::CountPerSecond } else { Dimension::Count };
            return Some(Wanted { slot: sass_slot(operation, form), dimension, factor: 1.0 });
        }
        if !name.starts_with("sm__ops_path_tensor_") {
            return None;
        }
        let metric = match TensorMetric::parse(name) {
            Ok(metric) => metric?,
            Err(()) => {
                let counts = name.rsplit_once('.').is_some_and(|(_, rollup)| rollup == "sum");
                if counts && !self.unknown.iter().any(|known| known == name) {
                    self.unknown.push(name.to_owned());
                }
                return None;
            }
        };
        let dimension = if metric.form == Form::PerSecond {
            Dimension::CountPerSecond
        } else {
            Dimension::Count
        };
        let position = self.tensor.iter().position(|known| *known == metric).unwrap_or_else(|| {
            self.tensor.push(metric);
            self.tensor.len() - 1
        });
        Some(Wanted { slot: TENSOR_BASE + position, dimension, factor: 1.0 })
    }

    /// Recognizes a row of the details page by section, name and unit.
    ///
    /// The same name means different things in different sections (`Memory Throughput` is a
    /// percentage in one and a rate in another), so all three decide.
    pub(super) fn row(&mut self, section: &str, name: &str, is_percent: bool) -> Option<Wanted> {
        if section == "Command line profiler metrics" || name.contains("__") {
            return self.metric(name);
        }
        if section.contains("Roofline") {
            return chart(name);
        }
        let raw = match (name, is_percent) {
            ("Duration", _) => Raw::TimeDetails,
            ("Elapsed Cycles", _) => Raw::CyclesDetails,
            ("SM Frequency", _) => Raw::SmClockDetails,
            ("DRAM Frequency", _) => Raw::DramClockDetails,
            ("Memory Throughput" | "SOL Memory" | "Memory [%]", true) => Raw::MemoryPct,
            ("Compute (SM) Throughput" | "SOL SM" | "SM [%]", true) => Raw::SmPct,
            ("DRAM Throughput" | "SOL DRAM", true) => Raw::DramPct,
            ("L2 Cache Throughput" | "SOL L2 Cache", true) => Raw::L2Pct,
            ("L1/TEX Cache Throughput" | "SOL L1/TEX Cache", true) => Raw::L1Pct,
            ("Memory Throughput", false) => Raw::DramRateDetails,
            ("L2 Hit Rate", _) => Raw::L2Hit,
            ("L2 Persisting Size", _) => Raw::L2Persisting,
            ("L1/TEX Hit Rate", _) => Raw::L1Hit,
            ("L2 Compression Success Rate", true) => Raw::CompressedDetails,
            ("L2 Compression Input Sectors", _) => Raw::CompressionInputDetails,
            ("Grid Size", _) => Raw::Blocks,
            ("Block Size", _) => Raw::Threads,
            ("Registers Per Thread", _) => Raw::Registers,
            ("Dynamic Shared Memory Per Block", _) => Raw::SharedDynamic,
            ("Static Shared Memory Per Block", _) => Raw::SharedStatic,
            ("Driver Shared Memory Per Block", _) => Raw::SharedDriver,
            ("Waves Per SM", _) => Raw::Waves,
            ("# SMs", _) => Raw::SmCount,
            ("Block Limit Registers", _) => Raw::LimitRegisters,
            ("Block Limit Shared Mem", _) => Raw::LimitShared,
            ("Block Limit SM", _) => Raw::LimitBlocks,
            ("Block Limit Warps", _) => Raw::LimitWarps,
            ("Block Limit Barriers", _) => Raw::LimitBarriers,
            ("Achieved Occupancy", _) => Raw::AchievedPct,
            ("Theoretical Occupancy", _) => Raw::TheoreticalPct,
            ("One or More Eligible", true) => Raw::IssuePct,
            ("Issued Warp Per Scheduler", _) => Raw::IssueRate,
            ("Eligible Warps Per Scheduler", _) => Raw::EligibleWarps,
            ("Avg. Active Threads Per Warp", _) => Raw::ThreadsPerInstruction,
            ("Avg. Not Predicated Off Threads Per Warp", _) => Raw::PredicatedPerInstruction,
            ("Warp Cycles Per Issued Instruction", _) => Raw::WarpLatency,
            ("Local Memory Spilling Request Overhead", true) => Raw::SpillPct,
            // Another section has a row of the same name in bytes.
            ("Local Memory Spilling Requests", _) if section == "Memory Workload Analysis" => {
                Raw::SpillRequests
            }
            ("Executed Instructions", _) => Raw::InstructionsExecuted,
            _ => return None,
        };
        Some(wanted(raw))
    }

    /// What a reader must know of the metrics met.
    pub(super) fn clues(&self) -> impl Iterator<Item = String> {
        self.unknown
            .iter()
            .map(|name| format!("tensor counter of an unknown kind, not counted: {name}"))
    }

    /// The tensor metrics met, with the slot of each.
    pub(super) fn tensor_slots(&self) -> impl Iterator<Item = (&TensorMetric, Slot)> {
        self.tensor.iter().enumerate().map(|(position, metric)| (metric, TENSOR_BASE + position))
    }
}

fn wanted(raw: Raw) -> Wanted {
    Wanted { slot: raw as Slot, dimension: DIMENSIONS[raw as usize], factor: 1.0 }
}

/// `smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed` → operation and form.
fn sass(name: &str) -> Option<(usize, Form)> {
    let rest = name.strip_prefix("smsp__").or_else(|| name.strip_prefix("sm__"))?;
    let rest = rest.strip_prefix("sass_thread_inst_executed_op_")?;
    let (operation, rest) = rest.split_once("_pred_on.sum")?;
    let operation = SASS.iter().position(|known| *known == operation)?;
    Some((operation, form(rest)?))
}

/// A row of the roofline chart section (`--print-details all`).
fn chart(name: &str) -> Option<Wanted> {
    let count = |operation: &str, form, factor| {
        let operation = SASS.iter().position(|known| known.eq_ignore_ascii_case(operation))?;
        Some(Wanted { slot: sass_slot(operation, form), dimension: Dimension::Count, factor })
    };
    match name {
        "SM Frequency" => return Some(wanted(Raw::SmClockDetails)),
        "DRAM Frequency" => return Some(wanted(Raw::DramClockDetails)),
        "DRAM Bandwidth" => return Some(wanted(Raw::DramRateDetails)),
        "Theoretical DRAM Bytes Accessible" => return Some(wanted(Raw::DramPeak)),
        _ => {}
    }
    if let Some(rest) = name.strip_prefix("Theoretical Predicated-On ") {
        let operation = rest.strip_suffix(" Thread Instructions Executed")?;
        return count(operation, Form::Peak, 1.0);
    }
    let rest = name.strip_prefix("Predicated-On ")?;
    if let Some(operation) = rest.strip_suffix(" Thread Instructions Executed Per Cycle") {
        return count(operation, Form::PerCycle, 1.0);
    }
    // Printed as operations: two for each fused multiply-add.
    count(rest.strip_suffix(" Operations Per Cycle")?, Form::PerCycle, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_counter_families_share_a_slot() {
        let mut catalog = Catalog::default();
        let sm = catalog.metric("sm__sass_thread_inst_executed_op_ffma_pred_on.sum").unwrap();
        let smsp = catalog.metric("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum").unwrap();
        assert_eq!(sm.slot, smsp.slot);
        assert_eq!(catalog.metric("sm__sass_thread_inst_executed_op_ffma_pred_on.avg"), None);
        assert_eq!(catalog.metric("smsp__sass_thread_inst_executed_op_control_pred_on.sum"), None);
    }

    #[test]
    fn the_same_label_means_different_things_in_different_units() {
        let mut catalog = Catalog::default();
        let percent =
            catalog.row("GPU Speed Of Light Throughput", "Memory Throughput", true).unwrap();
        let rate = catalog.row("Memory Workload Analysis", "Memory Throughput", false).unwrap();
        assert_eq!(percent.slot, Raw::MemoryPct as usize);
        assert_eq!(rate.slot, Raw::DramRateDetails as usize);
    }

    #[test]
    fn chart_rows_give_counts_and_peaks() {
        let mut catalog = Catalog::default();
        let section = "GPU Speed Of Light Roofline Chart";
        let peak = catalog
            .row(section, "Theoretical Predicated-On FFMA Thread Instructions Executed", false)
            .unwrap();
        assert_eq!(peak.slot, sass_slot(5, Form::Peak));
        let doubled =
            catalog.row(section, "Predicated-On FFMA Operations Per Cycle", false).unwrap();
        assert_eq!((doubled.slot, doubled.factor), (sass_slot(5, Form::PerCycle), 0.5));
    }

    #[test]
    fn only_counters_that_patch_the_kernel_are_instrumenting() {
        assert_eq!(kind("sm__sass_thread_inst_executed_op_dfma_pred_on.sum"), Kind::Sass);
        assert_eq!(kind("sm__cycles_elapsed.avg"), Kind::Neutral);
        assert_eq!(kind("dram__bytes.sum"), Kind::Hardware);
        assert_eq!(kind("launch__grid_size"), Kind::Neutral);
    }

    /// The code below a folder, without its tests.
    fn code(folder: &std::path::Path) -> String {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let texts = entries.map(|path| {
            if path.is_dir() {
                return code(&path);
            }
            let text = std::fs::read_to_string(path).unwrap();
            text.split("#[cfg(test)]").next().unwrap_or_default().to_owned()
        });
        texts.collect()
    }

    /// A name that rules or needs ask for and that is not read would be asked for again and again.
    #[test]
    fn metrics_that_are_asked_for_are_read() {
        const UNITS: [&str; 6] = ["sm__", "smsp__", "l1tex__", "lts__", "dram__", "gpu__"];
        let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let code = ["analysis", "rules"].map(|stage| code(&source.join(stage))).concat();
        let is_end = |c: char| !c.is_ascii_alphanumeric() && !"_.*".contains(c);
        let words = code.split(is_end).map(|word| word.trim_end_matches('.'));
        let metrics = words.filter(|word| {
            let is_counter = UNITS.iter().any(|unit| word.starts_with(unit)) && word.contains('.');
            (is_counter || word.starts_with("launch__")) && !word.contains('*')
        });
        let asked: std::collections::BTreeSet<&str> = metrics.collect();
        assert!(asked.len() > 50, "{}", asked.len());
        let is_read = |name: &&&str| Catalog::default().metric(name).is_some();
        let (_, others): (Vec<&str>, Vec<&str>) = asked.iter().partition(is_read);
        assert_eq!(others, Vec::<&str>::new());
    }
}
