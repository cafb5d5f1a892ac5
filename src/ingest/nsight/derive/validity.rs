//! Whether the counters of a launch agree with each other, and what peak a tensor counter states.
//!
//! A launch is replayed for each group of counters, so that two of them can come from two runs of it.

use super::Deriver;
use super::diagnosis::sum;
use crate::ingest::nsight::form::Form;
use crate::ingest::nsight::metrics::{Catalog, Raw, sass_slot};
use crate::ingest::nsight::tensor;
use crate::model::{Engine, OriginKind, Pipe, Quantity};
use crate::roofline;

/// Resolution of the GPU's timer: start and end are each known to one tick.
const TWO_TICKS: f64 = 64e-9;

/// Two utilizations closer than this say the same.
const POINTS: f64 = 0.02;

/// Positions of the multiply-adds among the SASS operations, and the two ways to their count.
const FUSED: [(usize, &str); 3] = [
    (2, "…op_dfma_pred_on.sum and …per_cycle_elapsed × cycles"),
    (5, "…op_ffma_pred_on.sum and …per_cycle_elapsed × cycles"),
    (8, "…op_hfma_pred_on.sum and …per_cycle_elapsed × cycles"),
];

/// How far apart two figures are, of the greater; of `whole` where they are parts of something.
fn apart(one: Option<f64>, two: Option<f64>, whole: Option<f64>) -> Option<f64> {
    let (one, two) = one.zip(two)?;
    let whole = whole.unwrap_or(0.0).max(one).max(two);
    (whole > 0.0).then(|| (one - two).abs() / whole)
}

impl Deriver<'_, '_, '_> {
    pub(super) fn validity(&mut self, catalog: &Catalog) {
        self.parent_peak(catalog);
        self.disagreement();
    }

    /// Of the format that did most of the work: what its undivided counter calls the peak.
    fn parent_peak(&mut self, catalog: &Catalog) {
        let slots = catalog.tensor_slots().filter(|(metric, _)| metric.form == Form::Peak);
        let found: Vec<_> =
            slots.filter_map(|(metric, slot)| Some((*metric, self.raw.slot(slot)?))).collect();
        let work = |format: Pipe| -> f64 {
            let same = |pipe: &&Pipe| {
                pipe.engine() == Engine::Matrix && pipe.precision() == format.precision()
            };
            let pipes = Pipe::ALL.iter().filter(same);
            pipes.filter_map(|pipe| self.values.get(Quantity::Work(*pipe))).sum()
        };
        let used = tensor::parent_peaks(&found)
            .into_iter()
            .map(|(pipe, ratio)| (work(pipe), ratio))
            .filter(|(work, _)| *work > 0.0)
            .max_by(|one, two| one.0.total_cmp(&two.0));
        self.derived(
            Quantity::TensorParentPeak,
            used.map(|(_, ratio)| ratio),
            "sm__ops_path_tensor_src_*.sum.peak_sustained ÷ that of its fastest …_sparsity_off",
        );
    }

    /// The two figures that are furthest apart, of those that tell the same.
    fn disagreement(&mut self) {
        let raw = self.raw;
        let sectors = |count| raw.get(count).map(|count| roofline::sector_bytes(count).get());
        let (read, write) = (raw.get(Raw::DramRead), raw.get(Raw::DramWrite));
        let all = self.values.get(Quantity::DramBytes);
        let bytes = raw.get(Raw::DramBytes);
        let pairs = [
            (
                apart(bytes, sum(read, write), None),
                "dram__bytes.sum and dram__bytes_read.sum + dram__bytes_write.sum",
            ),
            (
                apart(bytes, sectors(Raw::DramSectors), None),
                "dram__bytes.sum and 32× dram__sectors.sum",
            ),
            (
                apart(read, sectors(Raw::DramSectorsRead), all),
                "dram__bytes_read.sum and 32× dram__sectors_read.sum",
            ),
            (
                apart(write, sectors(Raw::DramSectorsWrite), all),
                "dram__bytes_write.sum and 32× dram__sectors_write.sum",
            ),
            (self.times_apart(), "gpu__time_duration.sum and Duration"),
            (self.activities_apart(), "dram__bytes.sum ÷ (time × peak) and dram__cycles_active"),
        ];
        let cycles = self.cycles();
        let fused = FUSED.into_iter().map(|(operation, formula)| {
            let rate = raw.slot(sass_slot(operation, Form::PerCycle));
            let counted = rate.zip(cycles).map(|(rate, cycles)| rate * cycles);
            let sum = raw.slot(sass_slot(operation, Form::Sum));
            (apart(sum, counted, None), formula)
        });
        let pairs = pairs.into_iter().chain(fused);
        let known = pairs.filter_map(|(apart, formula)| Some((apart?, formula)));
        if let Some((apart, formula)) = known.max_by(|one, two| one.0.total_cmp(&two.0)) {
            self.set(Quantity::PassDisagreement, apart, OriginKind::Derived, formula);
        }
    }

    fn times_apart(&self) -> Option<f64> {
        let (one, two) = self.raw.get(Raw::TimeSum).zip(self.raw.get(Raw::TimeDetails))?;
        let clear = ((one - two).abs() - TWO_TICKS).max(0.0);
        let longer = one.max(two);
        (longer > 0.0).then(|| clear / longer)
    }

    /// The data share of device memory from its bytes and from its cycles.
    fn activities_apart(&self) -> Option<f64> {
        let value = |quantity| self.values.get(quantity);
        let most = value(Quantity::Duration)? * value(Quantity::DramBandwidth)?;
        let moved = value(Quantity::DramBytes)? / most;
        let active = value(Quantity::DramActive)?;
        let apart = apart(Some(moved), Some(active), None)?;
        Some(if (moved - active).abs() < POINTS { 0.0 } else { apart })
    }
}

#[cfg(test)]
mod tests {
    use crate::ingest::nsight::derive::bench::check;
    use crate::model::Quantity;

    const QUANTITY: Quantity = Quantity::PassDisagreement;

    #[test]
    fn the_routes_that_are_furthest_apart_count() {
        let bytes = [
            ("dram__bytes.sum", "byte", "1000"),
            ("dram__bytes_read.sum", "byte", "700"),
            ("dram__bytes_write.sum", "byte", "250"),
        ];
        // 950 of 1000 B.
        check(&bytes, &[(QUANTITY, Some(0.05))]);
        let mut more = bytes.to_vec();
        more.push(("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "inst", "800"));
        let rate = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed";
        more.push((rate, "inst/cycle", "10"));
        more.push(("smsp__cycles_elapsed.avg", "cycle", "100"));
        // 800 of 10 × 100 operations.
        check(&more, &[(QUANTITY, Some(0.2))]);
    }

    #[test]
    fn a_part_is_compared_with_the_whole_and_one_route_with_nothing() {
        let sides = [
            ("dram__bytes_read.sum", "byte", "960"),
            ("dram__bytes_write.sum", "byte", "40"),
            ("dram__sectors_read.sum", "sector", "30"),
            ("dram__sectors_write.sum", "sector", "1"),
        ];
        // 8 of 1000 B, though a fifth of the writes.
        check(&sides, &[(QUANTITY, Some(0.008))]);
        check(&sides[..2], &[(QUANTITY, None)]);
    }

    #[test]
    fn activity_and_bytes_of_device_memory_agree_within_two_points() {
        // 1 µs at 1000 B/cycle and 1 GHz could move 1 MB.
        let of = |bytes, active| {
            [
                ("dram__bytes.sum", "byte", bytes),
                ("dram__bytes.sum.peak_sustained", "byte/cycle", "1000"),
                ("dram__cycles_elapsed.avg.per_second", "cycle/nsecond", "1"),
                ("dram__cycles_active.avg.pct_of_peak_sustained_elapsed", "%", active),
            ]
        };
        check(&of("500000", "40"), &[(QUANTITY, Some(0.2))]);
        check(&of("50000", "4"), &[(QUANTITY, Some(0.0))]);
    }

    #[test]
    fn an_undivided_tensor_counter_states_the_sparse_peak() {
        let tensor = |name: &str| format!("sm__ops_path_tensor_{name}.sum");
        let work = tensor("src_bf16_dst_fp32");
        let parent = work.clone() + ".peak_sustained";
        let leaf = tensor("op_hgmma_src_bf16_dst_fp32_sparsity_off") + ".peak_sustained";
        let peaks = [(parent.as_str(), "", "1081344"), (leaf.as_str(), "", "540672")];
        let of = |count| [peaks[0], peaks[1], (work.as_str(), "", count)];
        check(&of("4096"), &[(Quantity::TensorParentPeak, Some(2.0))]);
        check(&of("0"), &[(Quantity::TensorParentPeak, None)]);
    }
}
