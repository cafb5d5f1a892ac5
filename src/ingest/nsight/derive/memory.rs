//! Bytes and bandwidths of DRAM, L2 and L1 from their counters.

use super::Deriver;
use crate::ingest::nsight::metrics::Raw;
use crate::model::{OriginKind, Quantity};
use crate::roofline;
use crate::units::Hertz;

/// Bytes of one L1 writeback or shared-memory wavefront: 32 banks of 4 bytes.
const WAVEFRONT_BYTES: f64 = 128.0;

/// Bytes of so many cache sectors.
fn sectors(count: f64) -> f64 {
    roofline::sector_bytes(count).get()
}

impl Deriver<'_, '_, '_> {
    /// Reads and writes apart.
    fn dram_sides(&mut self) {
        use Quantity::{DramReadBytes, DramWriteBytes};
        self.measured(DramReadBytes, Raw::DramRead, "dram__bytes_read.sum");
        self.measured(DramWriteBytes, Raw::DramWrite, "dram__bytes_write.sum");
        let (raw, time) = (self.raw, self.duration());
        let of_sectors = |raw_sectors| raw.get(raw_sectors).map(sectors);
        let over_time = |rate| Some(raw.get(rate)? * time?);
        self.derived(DramReadBytes, of_sectors(Raw::DramSectorsRead), "32× dram__sectors_read.sum");
        self.derived(
            DramWriteBytes,
            of_sectors(Raw::DramSectorsWrite),
            "32× dram__sectors_write.sum",
        );
        self.derived(
            DramReadBytes,
            over_time(Raw::DramReadRate),
            "dram__bytes_read.sum.per_second × time",
        );
        self.derived(
            DramWriteBytes,
            over_time(Raw::DramWriteRate),
            "dram__bytes_write.sum.per_second × time",
        );
    }

    /// Reads and writes that were counted in two ways, such as bytes of one and sectors of the other.
    fn sum_of_sides(&self) -> Option<(f64, &'static str)> {
        const FORMULAS: [[&str; 3]; 3] = [
            [
                "dram__bytes_read.sum + dram__bytes_write.sum",
                "dram__bytes_read.sum + 32× dram__sectors_write.sum",
                "dram__bytes_read.sum + dram__bytes_write.sum.per_second × time",
            ],
            [
                "32× dram__sectors_read.sum + dram__bytes_write.sum",
                "32 × (dram__sectors_read.sum + dram__sectors_write.sum)",
                "32× dram__sectors_read.sum + dram__bytes_write.sum.per_second × time",
            ],
            [
                "dram__bytes_read.sum.per_second × time + dram__bytes_write.sum",
                "dram__bytes_read.sum.per_second × time + 32× dram__sectors_write.sum",
                "(dram__bytes_read.sum.per_second + dram__bytes_write.sum.per_second) × time",
            ],
        ];
        let sides = [Quantity::DramReadBytes, Quantity::DramWriteBytes];
        let [read, written] = sides.map(|side| self.values.get(side));
        let way = |ways: [Raw; 3]| ways.iter().position(|raw| self.raw.get(*raw).is_some());
        let of_reads = way([Raw::DramRead, Raw::DramSectorsRead, Raw::DramReadRate])?;
        let of_writes = way([Raw::DramWrite, Raw::DramSectorsWrite, Raw::DramWriteRate])?;
        Some((read? + written?, FORMULAS[of_reads][of_writes]))
    }

    pub(super) fn dram(&mut self) {
        self.dram_sides();
        let raw = self.raw;
        let bytes = Quantity::DramBytes;
        self.measured(bytes, Raw::DramBytes, "dram__bytes.sum");
        let both = |one, two| Some(raw.get(one)? + raw.get(two)?);
        self.derived(
            bytes,
            both(Raw::DramRead, Raw::DramWrite),
            "dram__bytes_read.sum + dram__bytes_write.sum",
        );
        self.derived(bytes, raw.get(Raw::DramSectors).map(sectors), "32× dram__sectors.sum");
        self.derived(
            bytes,
            both(Raw::DramSectorsRead, Raw::DramSectorsWrite).map(sectors),
            "32 × (dram__sectors_read.sum + dram__sectors_write.sum)",
        );
        let time = self.duration();
        let over_time = |rate: Option<f64>| Some(rate? * time?);
        self.derived(bytes, over_time(raw.get(Raw::DramRate)), "dram__bytes.sum.per_second × time");
        self.derived(
            bytes,
            over_time(both(Raw::DramReadRate, Raw::DramWriteRate)),
            "(dram__bytes_read.sum.per_second + dram__bytes_write.sum.per_second) × time",
        );
        if let Some((sum, formula)) = self.sum_of_sides() {
            self.derived(bytes, Some(sum), formula);
        }
        self.derived(
            bytes,
            over_time(raw.get(Raw::DramRateDetails)),
            "Memory Throughput (byte/s) × Duration",
        );
        for (one, formula) in [
            (Raw::DramRead, "dram__bytes_read.sum; the write side was not collected"),
            (Raw::DramWrite, "dram__bytes_write.sum; the read side was not collected"),
        ] {
            if let Some(value) = raw.get(one) {
                let origin = self.origins.with(
                    self.reading,
                    OriginKind::Measured,
                    formula,
                    1.0,
                    f64::INFINITY,
                );
                self.values.set(bytes, value, origin);
            }
        }
        if let Some(missed) = raw.get(Raw::LtsMissSectors) {
            let formula = "32× lts__t_sectors_lookup_miss.sum; no DRAM counter on this device";
            self.set(bytes, sectors(missed), OriginKind::Modeled, formula);
        }
        if raw.has_any(Raw::LtsSectors..=Raw::AtomicPct) {
            self.l2_misses();
        }
        self.measured(
            Quantity::DramActive,
            Raw::DramActivePct,
            "dram__cycles_active.avg.pct_of_peak_sustained_elapsed",
        );
        let share = raw
            .get(Raw::DramCyclesActive)
            .zip(raw.get(Raw::DramCycles))
            .map(|(active, all)| active / all);
        self.derived(
            Quantity::DramActive,
            share,
            "dram__cycles_active.avg ÷ dram__cycles_elapsed.avg",
        );
        self.measured(
            Quantity::DramBandwidth,
            Raw::DramPeakRate,
            "dram__bytes.sum.peak_sustained_elapsed.per_second",
        );
        let clock = self.values.get(Quantity::DramClock);
        let peak = raw.get(Raw::DramPeak).zip(clock);
        self.derived(
            Quantity::DramBandwidth,
            peak.map(|(peak, clock)| roofline::bandwidth_at_clock(peak, Hertz::new(clock)).get()),
            "dram__bytes.sum.peak_sustained × dram__cycles_elapsed.avg.per_second",
        );
    }

    /// Integrated devices have no counter of DRAM, and some exports only those of L2: what reads missed came
    /// from device memory, and what was written goes there sooner or later.
    fn l2_misses(&mut self) {
        let raw = self.raw;
        let written = raw.get(Raw::LtsWriteSectors);
        let hits = raw.get(Raw::LtsReadSectors).zip(raw.get(Raw::LtsReadHit));
        let (missed, with_writes, alone) = match (raw.get(Raw::LtsReadMiss), hits) {
            (Some(missed), _) => (
                missed,
                "32 × (lts__t_sectors_op_read_lookup_miss.sum + lts__t_sectors_op_write.sum); no DRAM \
                 counter, and L2 may keep what is written",
                "32× lts__t_sectors_op_read_lookup_miss.sum; no DRAM counter, and writes were not \
                 collected",
            ),
            (None, Some((all, hits))) => (
                (all - hits).max(0.0),
                "32 × (lts__t_sectors_op_read.sum − …_lookup_hit.sum + lts__t_sectors_op_write.sum); \
                 no DRAM counter, and L2 may keep what is written",
                "32 × (lts__t_sectors_op_read.sum − lts__t_sectors_op_read_lookup_hit.sum); no DRAM \
                 counter, and writes were not collected",
            ),
            (None, None) => return,
        };
        let (count, formula, low, high) = match written {
            Some(written) => (missed + written, with_writes, 0.0, 1.0),
            None => (missed, alone, 1.0, f64::INFINITY),
        };
        let origin = self.origins.with(self.reading, OriginKind::Modeled, formula, low, high);
        self.values.set(Quantity::DramBytes, sectors(count), origin);
    }

    /// Shared memory, and what leaves L2 for other memories than the device's own.
    fn beside_l1(&mut self) {
        let raw = self.raw;
        let wavefronts = |count: Option<f64>| Some(WAVEFRONT_BYTES * count?);
        let both = |one, two| Some(raw.get(one)? + raw.get(two)?);
        // The wavefronts of all shared memory are also those of other instructions: without loads and stores of it,
        // or without any of it, they are nobody's traffic.
        let is_none = |one, two| both(one, two) == Some(0.0);
        let is_unused = is_none(Raw::SharedLoadWavefronts, Raw::SharedStoreWavefronts)
            || is_none(Raw::SharedStatic, Raw::SharedDynamic);
        for (count, formula) in [
            (
                raw.get(Raw::SharedDataWavefronts).filter(|_| !is_unused),
                "128× l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
            ),
            (
                both(Raw::SharedLoadWavefronts, Raw::SharedStoreWavefronts),
                "128× l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{ld,st}.sum",
            ),
        ] {
            self.derived(Quantity::SharedBytes, wavefronts(count), formula);
        }
        for (quantity, count, formula) in [
            (
                Quantity::SystemBytes,
                raw.get(Raw::LtsSystemMiss),
                "32× lts__t_sectors_aperture_sysmem_lookup_miss.sum",
            ),
            (
                Quantity::SystemBytes,
                both(Raw::LtsSystemRead, Raw::LtsSystemWrite),
                "32× lts__t_sectors_aperture_sysmem_op_{read,write}.sum",
            ),
            (
                Quantity::PeerBytes,
                raw.get(Raw::LtsPeerMiss),
                "32× lts__t_sectors_aperture_peer_lookup_miss.sum",
            ),
        ] {
            self.derived(quantity, count.map(sectors), formula);
        }
    }

    pub(super) fn caches(&mut self) {
        let raw = self.raw;
        if raw.has_any(Raw::TheorySectors..=Raw::AtomicPct) {
            self.beside_l1();
        }
        let per_cycle = |peak: Option<f64>, clock| Some(peak? * raw.get(clock)?);
        // One definition for bytes and peak: mixing them would give a wrong utilization.
        if let Some(requested) = raw.get(Raw::LtsTexSectors) {
            self.set(
                Quantity::L2Bytes,
                sectors(requested),
                OriginKind::Derived,
                "32× lts__t_sectors_srcunit_tex.sum",
            );
            let peak = per_cycle(raw.get(Raw::LtsTexSectorsPeak).map(sectors), Raw::LtsSlicesClock);
            self.derived(Quantity::L2Bandwidth, peak, "32× lts__t_sectors_srcunit_tex.avg.peak_sustained × lts__cycles_elapsed.sum.per_second");
        } else if let Some(bytes) = raw.get(Raw::LtsBytes) {
            self.set(Quantity::L2Bytes, bytes, OriginKind::Measured, "lts__t_bytes.sum");
            let peak = per_cycle(raw.get(Raw::LtsBytesPeak), Raw::LtsClock);
            self.derived(
                Quantity::L2Bandwidth,
                peak,
                "lts__t_bytes.sum.peak_sustained × lts__cycles_elapsed.avg.per_second",
            );
        } else if let Some(cycles) = raw.get(Raw::LtsXbar) {
            self.set(
                Quantity::L2Bytes,
                sectors(cycles),
                OriginKind::Derived,
                "32× lts__lts2xbar_cycles_active.sum",
            );
            let peak = per_cycle(raw.get(Raw::LtsXbarPeak).map(sectors), Raw::LtsClock);
            self.derived(Quantity::L2Bandwidth, peak, "32× lts__lts2xbar_cycles_active.sum.peak_sustained × lts__cycles_elapsed.avg.per_second");
        }
        if let Some(bytes) = raw.get(Raw::L1Bytes) {
            self.set(Quantity::L1Bytes, bytes, OriginKind::Measured, "l1tex__t_bytes.sum");
            let peak = per_cycle(raw.get(Raw::L1BytesPeak), Raw::L1Clock);
            self.derived(
                Quantity::L1Bandwidth,
                peak,
                "l1tex__t_bytes.sum.peak_sustained × l1tex__cycles_elapsed.avg.per_second",
            );
        } else if let Some(cycles) = raw.get(Raw::L1Writeback) {
            self.set(
                Quantity::L1Bytes,
                WAVEFRONT_BYTES * cycles,
                OriginKind::Derived,
                "128× l1tex__lsu_writeback_active.sum",
            );
            let peak = per_cycle(
                raw.get(Raw::L1WritebackPeak).map(|peak| WAVEFRONT_BYTES * peak),
                Raw::L1Clock,
            );
            self.derived(Quantity::L1Bandwidth, peak, "128× l1tex__lsu_writeback_active.sum.peak_sustained × l1tex__cycles_elapsed.avg.per_second");
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::ingest::nsight::derive::bench::{check, raw_page};
    use crate::model::Quantity;

    /// A sector is 32 bytes, the launch takes 1,000 ns.
    #[test]
    fn bytes_come_from_the_best_counter_that_was_collected() {
        use Quantity::{DramBytes, DramReadBytes, DramWriteBytes};
        let sides =
            [("dram__bytes_read.sum", "byte", "600"), ("dram__bytes_write.sum", "byte", "40")];
        let rate = ("dram__bytes.sum.per_second", "byte/second", "3000000000");
        let sectors = ("dram__sectors.sum", "sector", "10");
        check(
            &[sides[0], sides[1], rate, sectors],
            &[(DramReadBytes, Some(600.0)), (DramWriteBytes, Some(40.0)), (DramBytes, Some(640.0))],
        );
        check(&[rate, sectors], &[(DramBytes, Some(320.0)), (DramReadBytes, None)]);
        check(&[rate], &[(DramBytes, Some(3000.0))]);
        check(
            &[
                ("dram__sectors_read.sum", "sector", "2"),
                ("dram__sectors_write.sum", "sector", "3"),
            ],
            &[(DramBytes, Some(160.0)), (DramReadBytes, Some(64.0)), (DramWriteBytes, Some(96.0))],
        );
    }

    /// 640 GB/s in 1,000 ns are 640,000 bytes; 2 sectors are 64 bytes.
    #[test]
    fn reads_and_writes_may_be_counted_in_two_ways() {
        use Quantity::{DramBytes, DramReadShare};
        let rate = |side| (side, "byte/second", "640000000000");
        let (read, write) = ("dram__bytes_read.sum", "dram__bytes_write.sum");
        let [read_rate, write_rate] =
            ["dram__bytes_read.sum.per_second", "dram__bytes_write.sum.per_second"].map(rate);
        let [read, write] = [read, write].map(|name| (name, "byte", "160000"));
        let read_sectors = ("dram__sectors_read.sum", "sector", "2");
        let write_sectors = ("dram__sectors_write.sum", "sector", "2");
        for (sides, bytes) in [
            ([read_rate, write], 800_000.0),
            ([read, write_rate], 800_000.0),
            ([read, write_sectors], 160_064.0),
            ([read_sectors, write], 160_064.0),
            ([read_rate, write_sectors], 640_064.0),
            ([read_sectors, write_rate], 640_064.0),
        ] {
            check(&sides, &[(DramBytes, Some(bytes))]);
            let found = raw_page(&sides);
            let (_, origin) = found.launch(0).get(DramBytes).unwrap();
            assert!(origin.is_exact(), "{origin:?}");
        }
        check(&[read_rate, write], &[(DramReadShare, Some(0.8))]);
    }

    #[test]
    fn one_side_alone_is_a_lower_bound() {
        let found = raw_page(&[("dram__bytes_read.sum", "byte", "600")]);
        let launch = found.launch(0);
        let (bytes, origin) = launch.get(Quantity::DramBytes).unwrap();
        assert_eq!((bytes, origin.low, origin.high), (600.0, 1.0, f64::INFINITY));
    }

    #[test]
    fn dram_is_active_for_a_share_of_its_cycles() {
        let cycles = [
            ("dram__cycles_active.avg", "cycle", "300"),
            ("dram__cycles_elapsed.avg", "cycle", "400"),
        ];
        check(&cycles, &[(Quantity::DramActive, Some(0.75))]);
        check(&cycles[..1], &[(Quantity::DramActive, None)]);
    }

    /// Bytes of one definition are not held against the peak of another: 100 sectors requested, 64 bytes a
    /// cycle at 2 GHz of what moved.
    #[test]
    fn bytes_and_peak_of_l2_are_of_one_definition() {
        use Quantity::{L2Bandwidth, L2Bytes};
        let moved = [
            ("lts__t_bytes.sum", "byte", "6400"),
            ("lts__t_bytes.sum.peak_sustained", "byte/cycle", "64"),
            ("lts__cycles_elapsed.avg.per_second", "cycle/second", "2000000000"),
        ];
        check(&moved, &[(L2Bytes, Some(6400.0)), (L2Bandwidth, Some(128e9))]);
        let requested =
            [&moved[..], &[("lts__t_sectors_srcunit_tex.sum", "sector", "100")]].concat();
        check(&requested, &[(L2Bytes, Some(3200.0)), (L2Bandwidth, None)]);
        // 2 sectors a cycle in each of 80 slices at 1.7 GHz.
        let peak = [
            ("lts__t_sectors_srcunit_tex.avg.peak_sustained", "sector/cycle", "2"),
            ("lts__cycles_elapsed.sum.per_second", "cycle/second", "136000000000"),
        ];
        let requested = [&requested[..], &peak].concat();
        check(&requested, &[(L2Bytes, Some(3200.0)), (L2Bandwidth, Some(8.704e12))]);
    }

    /// 32 banks of 4 bytes a wavefront.
    #[test]
    fn wavefronts_of_shared_memory_are_128_bytes() {
        let (load, store) = (
            ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "", "3"),
            ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "", "1"),
        );
        check(&[load, store], &[(Quantity::SharedBytes, Some(512.0))]);
        check(&[load], &[(Quantity::SharedBytes, None)]);
    }
}
