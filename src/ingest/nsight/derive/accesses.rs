//! Shares of what accesses to global, local and shared memory move: sectors, wavefronts, conflicts.

use super::Deriver;
use super::diagnosis::{share, sum};
use crate::ingest::nsight::metrics::Raw;
use crate::model::Quantity;

/// Bytes of a sector.
const SECTOR: f64 = 32.0;

impl Deriver<'_, '_, '_> {
    /// Sectors of global memory: needed ones over touched ones, and which accesses touch them.
    pub(super) fn global_accesses(&mut self) {
        let raw = self.raw;
        self.derived(
            Quantity::CoalescingEfficiency,
            share(raw.get(Raw::TheoryIdeal), raw.get(Raw::TheorySectors)),
            "memory_l2_theoretical_sectors_global_ideal ÷ memory_l2_theoretical_sectors_global",
        );
        for (quantity, bytes, percent, formula, percent_formula) in &[
            (
                Quantity::LoadSectorEfficiency,
                Raw::LoadBytesPerSector,
                Raw::LoadBytesPerSectorPct,
                "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio ÷ 32",
                "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",
            ),
            (
                Quantity::StoreSectorEfficiency,
                Raw::StoreBytesPerSector,
                Raw::StoreBytesPerSectorPct,
                "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio ÷ 32",
                "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct",
            ),
        ] {
            // Zero bytes per sector means no such access, not a wasteful one.
            let used = raw.get(*bytes).filter(|bytes| *bytes > 0.0);
            self.derived(*quantity, share(used, Some(SECTOR)), formula);
            let used = raw.get(*percent).filter(|percent| *percent > 0.0);
            self.derived(*quantity, used.map(|used| used.min(1.0)), percent_formula);
        }
        let (loads, stores) = (raw.get(Raw::LoadSectors), raw.get(Raw::StoreSectors));
        let local = sum(raw.get(Raw::LocalLoadSectors), raw.get(Raw::LocalStoreSectors));
        let global = sum(loads, stores);
        let known = global.map(|global| global + local.unwrap_or(0.0));
        // Bulk copies (TMA) ask L2 for sectors that are none of L1's.
        let whole = raw.get(Raw::L1Sectors).into_iter().chain(known).reduce(f64::max);
        let whole = whole.map(|l1| raw.get(Raw::LtsTexSectors).map_or(l1, |l2| l2.max(l1)));
        for (quantity, part) in
            [(Quantity::LoadSectorShare, loads), (Quantity::StoreSectorShare, stores)]
        {
            self.derived(
                quantity,
                share(part, whole),
                "l1tex__t_sectors_pipe_lsu_mem_global_op_{ld,st}.sum ÷ the most of l1tex__t_sectors.sum, those of global and local memory, and lts__t_sectors_srcunit_tex.sum",
            );
        }
        let narrow = [Raw::Memory8, Raw::Memory16, Raw::Memory32];
        let wide = [Raw::Memory64, Raw::Memory128];
        let total = |metrics: &[Raw]| -> Option<f64> {
            metrics.iter().map(|metric| raw.get(*metric)).sum()
        };
        let narrow = total(&narrow);
        let all = sum(narrow, total(&wide));
        self.derived(
            Quantity::NarrowLoadShare,
            share(narrow, all),
            "smsp__sass_inst_executed_op_memory_{8,16,32}b.sum ÷ those of all widths",
        );
    }

    /// Sectors of local memory, and wavefronts of shared memory with their bank conflicts.
    pub(super) fn local_and_shared(&mut self) {
        let raw = self.raw;
        let local = sum(raw.get(Raw::LocalLoadSectors), raw.get(Raw::LocalStoreSectors));
        let quantity = Quantity::LocalSectorShare;
        let global = sum(raw.get(Raw::LoadSectors), raw.get(Raw::StoreSectors));
        for (whole, formula, beside) in [
            (
                raw.get(Raw::L1Sectors),
                "l1tex__t_sectors_pipe_lsu_mem_local_op_{ld,st}.sum ÷ l1tex__t_sectors.sum",
                "l1tex__t_sectors_pipe_lsu_mem_local_op_{ld,st}.sum ÷ lts__t_sectors_srcunit_tex.sum, more than l1tex__t_sectors.sum",
            ),
            (
                sum(local, global),
                "l1tex__t_sectors_pipe_lsu_mem_local_op_{ld,st}.sum ÷ those of global and local memory",
                "l1tex__t_sectors_pipe_lsu_mem_local_op_{ld,st}.sum ÷ lts__t_sectors_srcunit_tex.sum, more than those of L1",
            ),
        ] {
            let asked = raw.get(Raw::LtsTexSectors).zip(whole).filter(|(l2, l1)| l2 > l1);
            let formula = if asked.is_some() { beside } else { formula };
            self.derived(quantity, share(local, asked.map(|(l2, _)| l2).or(whole)), formula);
        }
        let local = raw.get(Raw::TheoryLocal);
        self.derived(
            quantity,
            share(local, sum(local, raw.get(Raw::TheorySectors))),
            "memory_l2_theoretical_sectors_local ÷ those of global and local memory",
        );
        self.measured(Quantity::SpillShare, Raw::SpillPct, "derived__local_spilling_requests_pct");
        // No spill is no share of whatever there is.
        let spills = raw.get(Raw::SpillRequests);
        let none = spills.filter(|requests| *requests == 0.0);
        self.derived(Quantity::SpillShare, none, "derived__local_spilling_requests");
        self.derived(
            Quantity::SpillInstructionShare,
            share(spills, raw.get(Raw::InstructionsExecuted)),
            "derived__local_spilling_requests ÷ smsp__inst_executed.sum",
        );
        for (quantity, part, whole, formula) in &[
            (
                Quantity::SharedLoadConflicts,
                Raw::SharedLoadConflicts,
                Raw::SharedLoadWavefronts,
                "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum ÷ l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
            ),
            (
                Quantity::SharedStoreConflicts,
                Raw::SharedStoreConflicts,
                Raw::SharedStoreWavefronts,
                "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum ÷ l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
            ),
            (
                Quantity::SharedEfficiency,
                Raw::SharedIdeal,
                Raw::SharedWavefronts,
                "memory_l1_wavefronts_shared_ideal ÷ memory_l1_wavefronts_shared",
            ),
        ] {
            self.derived(*quantity, share(raw.get(*part), raw.get(*whole)), formula);
        }
        let (loads, stores) =
            (raw.get(Raw::SharedLoadWavefronts), raw.get(Raw::SharedStoreWavefronts));
        let all = raw.get(Raw::SharedDataWavefronts).into_iter().chain(sum(loads, stores));
        let all = all.reduce(f64::max);
        for (quantity, part) in
            [(Quantity::SharedLoadShare, loads), (Quantity::SharedStoreShare, stores)]
        {
            self.derived(
                quantity,
                share(part, all),
                "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{ld,st}.sum ÷ l1tex__data_pipe_lsu_wavefronts_mem_shared.sum, or those of loads and stores",
            );
        }
        // A kernel that does not access shared memory has no conflicts there.
        for (quantity, part) in [
            (Quantity::SharedLoadConflicts, Raw::SharedLoadConflicts),
            (Quantity::SharedStoreConflicts, Raw::SharedStoreConflicts),
        ] {
            let none = raw.get(part).filter(|conflicts| *conflicts == 0.0);
            self.derived(quantity, none, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_*.sum");
        }
    }
}
