//! What rules on memory ask beside bytes: reads over all, error correction, compression, shared memory.
//!
//! Names and meanings: *Nsight Compute Profiling Guide*, "Metrics Reference" and "Memory Tables".

use super::Deriver;
use super::diagnosis::{share, sum};
use crate::ingest::nsight::metrics::Raw;
use crate::model::Quantity;
use crate::roofline;

impl Deriver<'_, '_, '_> {
    pub(super) fn traffic(&mut self) {
        self.reads();
        if !self.raw.has_any(Raw::TheorySectors..=Raw::CompressionInputDetails) {
            return;
        }
        self.shared();
        self.compression();
        self.measured(Quantity::EccEnabled, Raw::EccEnabled, "device__attribute_ecc_enabled");
    }

    fn reads(&mut self) {
        let value = |quantity| self.values.get(quantity);
        let (read, write) = (value(Quantity::DramReadBytes), value(Quantity::DramWriteBytes));
        let all = value(Quantity::DramBytes);
        for (whole, formula) in [
            (
                sum(read, write),
                "dram__bytes_read.sum ÷ (dram__bytes_read.sum + dram__bytes_write.sum)",
            ),
            // With one side alone the bytes are that side, which says nothing of its share.
            (
                all.zip(read).and_then(|(all, read)| (all > read).then_some(all)),
                "dram__bytes_read.sum ÷ dram__bytes.sum",
            ),
        ] {
            self.derived(Quantity::DramReadShare, share(read, whole), formula);
        }
    }

    /// L1's data stage serves one wavefront of shared memory per cycle on each multiprocessor.
    fn shared(&mut self) {
        let raw = self.raw;
        self.measured(
            Quantity::SharedThroughput,
            Raw::SharedPct,
            "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum.pct_of_peak_sustained_elapsed",
        );
        // Loads and stores do not add up to it: asynchronous copies and atomics are wavefronts too.
        let cycles = raw.get(Raw::SmCycles).zip(raw.get(Raw::SmCount)).map(|(one, sms)| one * sms);
        self.derived(
            Quantity::SharedThroughput,
            share(raw.get(Raw::SharedDataWavefronts), cycles),
            "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum ÷ (sm__cycles_elapsed.avg × launch__sm_count)",
        );
    }

    /// One unit at a time: a rate belongs to the sectors of its own.
    fn compression(&mut self) {
        let raw = self.raw;
        let all = self.values.get(Quantity::DramBytes);
        for (rate, input, rate_formula, input_formula) in [
            (
                Raw::GenericCompressed,
                Raw::GenericInput,
                "lts__average_gcomp_input_sector_success_rate.pct",
                "32× lts__gcomp_input_sectors.sum ÷ dram__bytes.sum",
            ),
            (
                Raw::InlineCompressed,
                Raw::InlineInput,
                "lrc__average_ilc_input_sector_success_rate.pct",
                "32× lrc__ilc_input_sectors.sum ÷ dram__bytes.sum",
            ),
            (
                Raw::CompressedDetails,
                Raw::CompressionInputDetails,
                "L2 Compression Success Rate",
                "32× L2 Compression Input Sectors ÷ bytes of device memory",
            ),
        ] {
            let Some((rate, input)) = raw.get(rate).zip(raw.get(input)) else { continue };
            let input = roofline::sector_bytes(input).get();
            self.derived(Quantity::CompressionSuccess, Some(rate.clamp(0.0, 1.0)), rate_formula);
            self.derived(Quantity::CompressionInputShare, share(Some(input), all), input_formula);
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::ingest::nsight::derive::bench::check;
    use crate::model::Quantity;

    #[test]
    fn reads_correction_and_compression_become_shares() {
        check(
            &[
                ("dram__bytes_read.sum", "byte", "2400"),
                ("dram__bytes_write.sum", "byte", "800"),
                ("device__attribute_ecc_enabled", "", "1"),
                // The rate of the other unit, without its sectors, is not mixed with these.
                ("lts__average_gcomp_input_sector_success_rate.pct", "%", "90"),
                ("lrc__average_ilc_input_sector_success_rate.pct", "%", "15"),
                ("lrc__ilc_input_sectors.sum", "sector", "20"),
            ],
            &[
                (Quantity::DramReadShare, Some(0.75)),
                (Quantity::EccEnabled, Some(1.0)),
                (Quantity::CompressionSuccess, Some(0.15)),
                (Quantity::CompressionInputShare, Some(640.0 / 3200.0)),
            ],
        );
    }

    #[test]
    fn one_side_alone_is_no_share() {
        check(
            &[("dram__bytes_read.sum", "byte", "2400")],
            &[(Quantity::DramReadShare, None), (Quantity::EccEnabled, None)],
        );
    }

    #[test]
    fn wavefronts_of_shared_memory_are_compared_with_one_a_cycle() {
        let all = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum";
        let percent =
            "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum.pct_of_peak_sustained_elapsed";
        let counts = [
            (all, "", "900"),
            ("sm__cycles_elapsed.avg", "cycle", "100"),
            ("launch__sm_count", "SM", "10"),
        ];
        check(&counts, &[(Quantity::SharedThroughput, Some(0.9))]);
        let mut stated = counts.to_vec();
        stated.push((percent, "%", "85"));
        check(&stated, &[(Quantity::SharedThroughput, Some(0.85))]);
        check(&counts[..2], &[(Quantity::SharedThroughput, None)]);
    }
}
