//! Shares that rules judge by: sectors, conflicts, spills, instruction mix, pipes and stalls.
//!
//! Names and meanings: *Nsight Compute Profiling Guide*, "Metrics Reference" and "Memory Tables".

use super::Deriver;
use crate::ingest::nsight::form::Form;
use crate::ingest::nsight::metrics::{Catalog, Raw};
use crate::model::{OriginKind, Pipe, Quantity};
use crate::roofline;

/// Positions of the additions among the SASS operations; multiplication and multiply-add follow.
const DADD: usize = 0;
const FADD: usize = 3;

/// A part over a whole that is not zero, held within 0–1: differences of counters can stray.
pub(super) fn share(part: Option<f64>, whole: Option<f64>) -> Option<f64> {
    Some((part? / whole.filter(|whole| *whole > 0.0)?).clamp(0.0, 1.0))
}

pub(super) fn sum(one: Option<f64>, two: Option<f64>) -> Option<f64> {
    Some(one? + two?)
}

/// How much a pipe was used, by one counter.
struct Used {
    quantity: Quantity,
    /// As a share of elapsed cycles.
    elapsed: (Raw, &'static str),
    /// As a share of the cycles in which an SM had warps.
    active: (Raw, &'static str),
    /// What makes that a share of elapsed cycles.
    of_working: &'static str,
}

macro_rules! used {
    ($($quantity:ident, $elapsed:ident, $active:ident, $counter:literal;)*) => {
        [$(Used {
            quantity: Quantity::$quantity,
            elapsed: (Raw::$elapsed, concat!($counter, ".avg.pct_of_peak_sustained_elapsed")),
            active: (Raw::$active, concat!($counter, ".avg.pct_of_peak_sustained_active")),
            of_working: concat!(
                $counter,
                ".avg.pct_of_peak_sustained_active × active ÷ elapsed cycles of the SMs"
            ),
        }),*]
    };
}

/// The pipes, the better counter of each first.
const PIPES: &[Used] = &used! {
    PipeFma, PipeFmaCyclesElapsed, PipeFmaCycles, "sm__pipe_fma_cycles_active";
    PipeFma, PipeFmaInstElapsed, PipeFmaInst, "sm__inst_executed_pipe_fma";
    PipeAlu, PipeAluCyclesElapsed, PipeAluCycles, "sm__pipe_alu_cycles_active";
    PipeAlu, PipeAluInstElapsed, PipeAluInst, "sm__inst_executed_pipe_alu";
    PipeFp64, PipeFp64CyclesElapsed, PipeFp64Cycles, "sm__pipe_fp64_cycles_active";
    PipeFp64, PipeFp64InstElapsed, PipeFp64Inst, "sm__inst_executed_pipe_fp64";
    PipeFp16, PipeFp16InstElapsed, PipeFp16Inst, "sm__inst_executed_pipe_fp16";
    PipeXu, PipeXuInstElapsed, PipeXuInst, "sm__inst_executed_pipe_xu";
    PipeLsu, PipeLsuInstElapsed, PipeLsuInst, "sm__inst_executed_pipe_lsu";
};

impl Deriver<'_, '_, '_> {
    /// Everything that tells why a kernel is slow rather than how slow it is.
    pub(super) fn diagnosis(&mut self, catalog: &Catalog) {
        let raw = self.raw;
        if raw.has_any(Raw::LoadSectors..=Raw::SharedPct) {
            self.global_accesses();
            self.local_and_shared();
        }
        if raw.has_any(Raw::LtsSectors..=Raw::AtomicPct) {
            self.l2_traffic();
        }
        if raw.has_any(Raw::IssuePct..=Raw::PredicatedPerInstruction) {
            self.scheduling();
        }
        self.instruction_mix(catalog);
        self.residency();
        if raw.has_any(Raw::PipeFmaCyclesElapsed..=Raw::PipeLsuInst) {
            self.pipes();
        }
        if raw.has_any(Raw::WarpLatency..=Raw::StallGmmaPct) {
            self.stalls();
        }
    }

    fn l2_traffic(&mut self) {
        let raw = self.raw;
        // Without the total, reads and writes are nearly all there is.
        let all = raw
            .get(Raw::LtsSectors)
            .or_else(|| sum(raw.get(Raw::LtsReadSectors), raw.get(Raw::LtsWriteSectors)));
        let system = sum(raw.get(Raw::LtsSystemRead), raw.get(Raw::LtsSystemWrite));
        for (quantity, part, formula) in [
            (
                Quantity::L2FabricShare,
                raw.get(Raw::LtsFabric),
                "lts__t_sectors_srcunit_ltcfabric.sum ÷ lts__t_sectors.sum",
            ),
            (
                Quantity::L2SystemShare,
                raw.get(Raw::LtsSystemMiss),
                "lts__t_sectors_aperture_sysmem_lookup_miss.sum ÷ lts__t_sectors.sum",
            ),
            (
                Quantity::L2SystemShare,
                system,
                "lts__t_sectors_aperture_sysmem_op_{read,write}.sum ÷ lts__t_sectors.sum",
            ),
            (
                Quantity::L2PeerShare,
                raw.get(Raw::LtsPeerMiss),
                "lts__t_sectors_aperture_peer_lookup_miss.sum ÷ lts__t_sectors.sum",
            ),
        ] {
            self.derived(quantity, share(part, all), formula);
        }
        let atomics = sum(raw.get(Raw::LtsTexAtomics), raw.get(Raw::LtsTexReductions));
        self.derived(
            Quantity::L2AtomicShare,
            share(atomics, raw.get(Raw::LtsTexSectors)),
            "lts__t_sectors_srcunit_tex_op_{atom,red}.sum ÷ lts__t_sectors_srcunit_tex.sum",
        );
        let atomics = sum(raw.get(Raw::LtsAtomics), raw.get(Raw::LtsReductions));
        self.derived(
            Quantity::L2AtomicShare,
            share(atomics, all),
            "lts__t_sectors_op_{atom,red}.sum ÷ lts__t_sectors.sum",
        );
        self.measured(
            Quantity::L2AtomicActive,
            Raw::AtomicPct,
            "lts__d_atomic_input_cycles_active.avg.pct_of_peak_sustained_elapsed",
        );
        // Without the reads of all clients: those of the multiprocessors, and of their instructions
        // and constants.
        let by_client = sum(raw.get(Raw::LtsTexReadMiss), raw.get(Raw::LtsGccMiss));
        for (missed, formula) in [
            (
                raw.get(Raw::LtsReadMiss),
                "(dram__bytes_read.sum − 32× lts__t_sectors_op_read_lookup_miss.sum) ÷ dram__bytes.sum",
            ),
            (
                by_client,
                "(dram__bytes_read.sum − 32 × (lts__t_sectors_srcunit_tex_op_read_lookup_miss.sum + lts__t_sectors_srcunit_gcc_lookup_miss.sum)) ÷ dram__bytes.sum",
            ),
        ] {
            let missed = missed.map(|missed| roofline::sector_bytes(missed).get());
            let read = self.values.get(Quantity::DramReadBytes);
            let excess = read.zip(missed).map(|(read, missed)| read - missed);
            let all = self.values.get(Quantity::DramBytes);
            self.derived(Quantity::DramExcessReads, share(excess, all), formula);
        }
    }

    fn scheduling(&mut self) {
        for (quantity, raw, formula) in &[
            (
                Quantity::IssueActive,
                Raw::IssuePct,
                "smsp__issue_active.avg.pct_of_peak_sustained_active",
            ),
            // A scheduler issues at most one instruction per cycle.
            (Quantity::IssueActive, Raw::IssueRate, "smsp__issue_active.avg.per_cycle_active"),
            // Of elapsed cycles a little less than of active ones.
            (
                Quantity::IssueActive,
                Raw::IssuedPct,
                "sm__inst_issued.avg.pct_of_peak_sustained_active or …_elapsed",
            ),
            (
                Quantity::EligibleWarps,
                Raw::EligibleWarps,
                "smsp__warps_eligible.avg.per_cycle_active",
            ),
            (
                Quantity::ThreadsPerInstruction,
                Raw::ThreadsPerInstruction,
                "smsp__thread_inst_executed_per_inst_executed.ratio",
            ),
            (
                Quantity::PredicatedThreadsPerInstruction,
                Raw::PredicatedPerInstruction,
                "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio",
            ),
        ] {
            self.measured(*quantity, *raw, formula);
        }
    }

    fn instruction_mix(&mut self, catalog: &Catalog) {
        let raw = self.raw;
        let integer = raw.get(Raw::IntegerInstructions);
        for (all, formula) in [
            (
                Raw::PredicatedInstructions,
                "…op_integer_pred_on.sum ÷ thread instructions that a predicate left on",
            ),
            (
                Raw::ThreadInstructions,
                "…op_integer_pred_on.sum ÷ thread instructions, predicated off ones included",
            ),
        ] {
            self.derived(Quantity::IntegerInstructionShare, share(integer, raw.get(all)), formula);
        }
        for (quantity, first, formula) in [
            (
                Quantity::UnfusedShareFp32,
                FADD,
                "the lesser of fadd and fmul ÷ (fadd + fmul + ffma) (…_pred_on.sum)",
            ),
            (
                Quantity::UnfusedShareFp64,
                DADD,
                "the lesser of dadd and dmul ÷ (dadd + dmul + dfma) (…_pred_on.sum)",
            ),
        ] {
            let count = |operation: usize| self.counts[operation].map(|(count, _)| count);
            let (add, mul, fma) = (count(first), count(first + 1), count(first + 2));
            let pairs = add.zip(mul).map(|(add, mul)| add.min(mul));
            self.derived(quantity, share(pairs, sum(sum(add, mul), fma)), formula);
        }
        self.warp_mma(catalog);
    }

    /// How much of the tensor work is done by single warps, where warp groups could do it.
    fn warp_mma(&mut self, catalog: &Catalog) {
        // Each form is a multiple of the others, so one of them is enough.
        for form in [Form::Sum, Form::PerCycle, Form::PerSecond] {
            let (mut by_warp, mut by_group, mut has_groups) = (0.0, 0.0, false);
            for (metric, slot) in catalog.tensor_slots() {
                // FP64 has no instruction for warp groups.
                if metric.form != form || !metric.is_child || metric.pipe == Pipe::Fp64Matrix {
                    continue;
                }
                let Some(count) = self.raw.slot(slot) else { continue };
                if metric.is_warp_group {
                    has_groups = true;
                    by_group += count;
                } else {
                    by_warp += count;
                }
            }
            if has_groups {
                let formula = "sm__ops_path_tensor_op_{h,i}mma_* ÷ those and sm__ops_path_tensor_op_{h,i}gmma_*";
                self.derived(
                    Quantity::WarpMmaShare,
                    share(Some(by_warp), Some(by_warp + by_group)),
                    formula,
                );
                return;
            }
        }
    }

    fn residency(&mut self) {
        let raw = self.raw;
        for (quantity, raw, formula) in &[
            (Quantity::BlocksByRegisters, Raw::LimitRegisters, "launch__occupancy_limit_registers"),
            (
                Quantity::BlocksBySharedMemory,
                Raw::LimitShared,
                "launch__occupancy_limit_shared_mem",
            ),
            (Quantity::BlocksBySlots, Raw::LimitBlocks, "launch__occupancy_limit_blocks"),
            (Quantity::BlocksByWarps, Raw::LimitWarps, "launch__occupancy_limit_warps"),
        ] {
            self.measured(*quantity, *raw, formula);
        }
        let longer =
            raw.get(Raw::SmActiveMax).zip(raw.get(Raw::SmActiveAvg)).map(|(max, avg)| max - avg);
        for (elapsed, formula) in [
            (
                Raw::SmCyclesMax,
                "(sm__cycles_active.max − sm__cycles_active.avg) ÷ sm__cycles_elapsed.max",
            ),
            (
                Raw::SmCycles,
                "(sm__cycles_active.max − sm__cycles_active.avg) ÷ sm__cycles_elapsed.avg",
            ),
        ] {
            self.derived(Quantity::SmImbalance, share(longer, raw.get(elapsed)), formula);
        }
    }

    /// Utilization of the pipes: cycles in which a pipe worked, else instructions over the most. Of elapsed cycles: where a
    /// few SMs work, or some longer than others, a pipe may be full while they do and idle for most of the time.
    fn pipes(&mut self) {
        /// By which instructions per cycle are rounded at most.
        const HALF_DIGIT: f64 = 0.005;
        let raw = self.raw;
        let is_there =
            |used: &Used| [used.elapsed.0, used.active.0].iter().any(|one| raw.get(*one).is_some());
        if !PIPES.iter().any(is_there) {
            return;
        }
        let elapsed = raw.get(Raw::SmCycles).or_else(|| raw.get(Raw::SmCyclesMax));
        // The same instructions over two numbers of cycles are their quotient, too: at most, as they are rounded.
        let of_ipc = || {
            let most = raw.get(Raw::IpcElapsed).map(|rate| rate + HALF_DIGIT);
            share(most, raw.get(Raw::IpcActive).map(|rate| rate - HALF_DIGIT))
        };
        let counted = share(raw.get(Raw::SmActiveAvg), elapsed);
        self.derived(Quantity::SmActive, counted, "sm__cycles_active.avg ÷ sm__cycles_elapsed");
        let working = counted.or_else(of_ipc);
        self.derived(
            Quantity::SmActive,
            working,
            "at most sm__inst_executed.avg.per_cycle_elapsed ÷ ….per_cycle_active",
        );
        for pipe in PIPES {
            self.measured(pipe.quantity, pipe.elapsed.0, pipe.elapsed.1);
            let active = raw.get(pipe.active.0).zip(working);
            self.derived(
                pipe.quantity,
                active.map(|(used, working)| used * working),
                pipe.of_working,
            );
        }
        // At most: as if the SMs worked all the time.
        for pipe in PIPES {
            self.measured(pipe.quantity, pipe.active.0, pipe.active.1);
        }
    }

    /// Shares of a warp's time between two instructions; a share in percent is the same quotient.
    fn stalls(&mut self) {
        let raw = self.raw;
        let latency = raw.get(Raw::WarpLatency);
        for (quantity, waiting, percent) in STALLS {
            self.derived(
                *quantity,
                share(raw.get(*waiting), latency),
                "smsp__average_warps_issue_stalled_*_per_issue_active.ratio ÷ smsp__average_warp_latency_per_inst_issued.ratio",
            );
            if let Some(share) = raw.get(*percent) {
                let formula = "smsp__warp_issue_stalled_*_per_warp_active.pct";
                self.set(*quantity, share.clamp(0.0, 1.0), OriginKind::Measured, formula);
            }
        }
    }
}

/// Each reason to wait: warps waiting per issue, and the share where it is given as such.
const STALLS: &[(Quantity, Raw, Raw)] = &[
    (Quantity::StallLongScoreboard, Raw::StallLongScoreboard, Raw::StallLongScoreboardPct),
    (Quantity::StallLgThrottle, Raw::StallLgThrottle, Raw::StallLgThrottlePct),
    (Quantity::StallShortScoreboard, Raw::StallShortScoreboard, Raw::StallShortScoreboardPct),
    (Quantity::StallMioThrottle, Raw::StallMioThrottle, Raw::StallMioThrottlePct),
    (Quantity::StallTexThrottle, Raw::StallTexThrottle, Raw::StallTexThrottlePct),
    (Quantity::StallBarrier, Raw::StallBarrier, Raw::StallBarrierPct),
    (Quantity::StallMembar, Raw::StallMembar, Raw::StallMembarPct),
    (Quantity::StallMathThrottle, Raw::StallMathThrottle, Raw::StallMathThrottlePct),
    (Quantity::StallWait, Raw::StallWait, Raw::StallWaitPct),
    (Quantity::StallDrain, Raw::StallDrain, Raw::StallDrainPct),
    (Quantity::StallBranch, Raw::StallBranch, Raw::StallBranchPct),
    (Quantity::StallNoInstruction, Raw::StallNoInstruction, Raw::StallNoInstructionPct),
    (Quantity::StallConstant, Raw::StallConstant, Raw::StallConstantPct),
    (Quantity::StallDispatch, Raw::StallDispatch, Raw::StallDispatchPct),
    (Quantity::StallSleeping, Raw::StallSleeping, Raw::StallSleepingPct),
    (Quantity::StallGmma, Raw::StallGmma, Raw::StallGmmaPct),
];

#[cfg(test)]
mod tests {
    use crate::ingest::nsight::derive::bench::check;
    use crate::model::Quantity;

    #[test]
    fn sectors_and_wavefronts_become_shares() {
        check(
            &[
                ("memory_l2_theoretical_sectors_global", "sectors", "24"),
                ("memory_l2_theoretical_sectors_global_ideal", "sectors", "8"),
                (
                    "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio",
                    "byte/sector",
                    "8",
                ),
                (
                    "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio",
                    "byte/sector",
                    "0",
                ),
                ("l1tex__t_sectors.sum", "sector", "100"),
                ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sector", "60"),
                ("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "sector", "30"),
                ("l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", "sector", "6"),
                ("l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", "sector", "4"),
                ("derived__local_spilling_requests", "", "0"),
                ("smsp__inst_executed.sum", "inst", "500"),
                ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "", "75"),
                ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "", "100"),
                ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "", "-3"),
                ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "", "100"),
                ("memory_l1_wavefronts_shared", "sectors", "0"),
                ("memory_l1_wavefronts_shared_ideal", "sectors", "0"),
                ("dram__bytes_read.sum", "byte", "6400"),
                ("dram__bytes_write.sum", "byte", "1600"),
                ("lts__t_sectors_op_read_lookup_miss.sum", "sector", "100"),
                ("lts__t_sectors.sum", "sector", "1000"),
                ("lts__t_sectors_srcunit_ltcfabric.sum", "sector", "250"),
                ("lts__t_sectors_aperture_sysmem_lookup_miss.sum", "sector", "50"),
                ("lts__t_sectors_aperture_peer_lookup_miss.sum", "sector", "0"),
                ("lts__t_sectors_srcunit_tex.sum", "sector", "500"),
                ("lts__t_sectors_srcunit_tex_op_atom.sum", "sector", "100"),
                ("lts__t_sectors_srcunit_tex_op_red.sum", "sector", "25"),
            ],
            &[
                (Quantity::CoalescingEfficiency, Some(1.0 / 3.0)),
                (Quantity::LoadSectorEfficiency, Some(0.25)),
                (Quantity::StoreSectorEfficiency, None),
                (Quantity::LocalSectorShare, Some(0.02)),
                (Quantity::SpillShare, Some(0.0)),
                (Quantity::SpillInstructionShare, Some(0.0)),
                (Quantity::SharedLoadConflicts, Some(0.75)),
                (Quantity::SharedStoreConflicts, Some(0.0)),
                (Quantity::SharedEfficiency, None),
                (Quantity::DramExcessReads, Some(0.4)),
                (Quantity::L2FabricShare, Some(0.25)),
                (Quantity::L2SystemShare, Some(0.05)),
                (Quantity::L2PeerShare, Some(0.0)),
                (Quantity::L2AtomicShare, Some(0.25)),
                (Quantity::NarrowLoadShare, None),
                (Quantity::SharedLoadShare, Some(0.5)),
                (Quantity::SharedStoreShare, Some(0.5)),
                // Of 500 that L2 is asked for, more than the 100 of L1.
                (Quantity::LoadSectorShare, Some(0.12)),
                (Quantity::StoreSectorShare, Some(0.06)),
            ],
        );
    }

    #[test]
    fn a_pipe_is_used_for_a_share_of_elapsed_cycles() {
        let of = |end: &str| format!("sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_{end}");
        let (active, elapsed) = (of("active"), of("elapsed"));
        let cycles =
            [("sm__cycles_active.avg", "cycle", "30"), ("sm__cycles_elapsed.max", "cycle", "1000")];
        let used = (active.as_str(), "%", "90");
        let is = |value| [(Quantity::PipeLsu, Some(value))];
        check(&[used], &is(0.9));
        check(&[used, cycles[0], cycles[1]], &is(0.9 * 0.03));
        check(&[used, cycles[0], cycles[1], (&elapsed, "%", "2.5")], &is(0.025));
        let rate = |end, value| (end, "inst/cycle", value);
        let rates = [
            rate("sm__inst_executed.avg.per_cycle_active", "0.5"),
            rate("sm__inst_executed.avg.per_cycle_elapsed", "0.01"),
        ];
        // At most 0.015 of 0.495.
        check(&[used, rates[0], rates[1]], &is(0.9 * (0.015 / 0.495)));
    }

    #[test]
    fn scheduling_and_pipes_become_shares() {
        let pipe = "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active";
        let instructions = "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active";
        let stall = "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio";
        check(
            &[
                (instructions, "%", "30"),
                (pipe, "%", "40"),
                ("smsp__issue_active.avg.pct_of_peak_sustained_active", "%", "25"),
                ("smsp__warps_eligible.avg.per_cycle_active", "warp", "0.5"),
                ("smsp__thread_inst_executed_per_inst_executed.ratio", "", "24"),
                ("smsp__average_warp_latency_per_inst_issued.ratio", "cycle", "20"),
                (stall, "inst", "15"),
                ("smsp__warp_issue_stalled_barrier_per_warp_active.pct", "%", "12"),
                ("sm__cycles_active.avg", "cycle", "600"),
                ("sm__cycles_active.max", "cycle", "900"),
                ("sm__cycles_elapsed.max", "cycle", "1000"),
                ("launch__occupancy_limit_registers", "block", "3"),
                ("smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", "inst", "30"),
                ("smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", "inst", "20"),
                ("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "inst", "50"),
                ("sm__sass_thread_inst_executed_op_integer_pred_on.sum", "inst", "60"),
                ("thread_inst_executed", "inst", "240"),
                ("sm__ops_path_tensor_op_hmma_src_fp16_dst_fp32_sparsity_off.sum", "", "25"),
                ("sm__ops_path_tensor_op_hgmma_src_fp16_sparsity_off.sum", "", "75"),
            ],
            &[
                // By cycles, and SMs worked for 600 of 1000.
                (Quantity::PipeFma, Some(0.24)),
                (Quantity::PipeAlu, None),
                (Quantity::IssueActive, Some(0.25)),
                (Quantity::EligibleWarps, Some(0.5)),
                (Quantity::ThreadsPerInstruction, Some(24.0)),
                (Quantity::StallLongScoreboard, Some(0.75)),
                (Quantity::StallBarrier, Some(0.12)),
                (Quantity::StallDrain, None),
                (Quantity::SmImbalance, Some(0.3)),
                (Quantity::BlocksByRegisters, Some(3.0)),
                (Quantity::UnfusedShareFp32, Some(0.2)),
                (Quantity::UnfusedShareFp64, None),
                (Quantity::IntegerInstructionShare, Some(0.25)),
                (Quantity::WarpMmaShare, Some(0.25)),
            ],
        );
    }
}
