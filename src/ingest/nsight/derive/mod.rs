//! Gathered metrics of one launch → canonical quantities, by the best source there is.
//!
//! Each quantity has a ladder of sources, most direct first; the rung taken is kept as the value's
//! [`Origin`]. Formulas: *Nsight Compute Profiling Guide* and the section files shipped with it.

mod accesses;
#[cfg(test)]
mod bench;
mod diagnosis;
mod memory;
mod parts;
mod traffic;
mod validity;
mod work;

pub(super) use parts::{
    COUNTERS, Counter, FP16_TERMS, FP32_TERMS, FP64_TERMS, PACKED_TERMS, Terms, of_some,
};
pub(super) use work::Instructions;

use super::form::Form;
use super::gathered::Gathered;
use super::metrics::{Catalog, Raw, SASS};
use crate::ingest::Reading;
use crate::model::{HintId, NameId, Origin, OriginId, OriginKind, Quantity, Values};
use crate::roofline;
use crate::units::Hertz;

/// What is known of the launch beside its metrics.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context {
    /// The kernel's name; its tokens tell tile and instruction shapes.
    pub(super) kernel: NameId,
    /// The device, whose compute capability the export may have.
    pub(super) device: HintId,
}

/// Origins by formula, so that a million launches do not compare strings.
#[derive(Debug)]
pub(super) struct OriginCache {
    known: Vec<Known>,
    /// The one met last of those that share a slot.
    recent: Box<[Option<Known>; SLOTS]>,
}

type Known = (&'static str, OriginKind, OriginId);

/// Slots, by where a formula is in the program.
const SLOTS: usize = 256;

impl Default for OriginCache {
    fn default() -> Self {
        Self { known: Vec::new(), recent: Box::new([None; SLOTS]) }
    }
}

impl OriginCache {
    fn id(
        &mut self,
        reading: &mut Reading<'_>,
        kind: OriginKind,
        formula: &'static str,
    ) -> OriginId {
        self.with(reading, kind, formula, 1.0, 1.0)
    }

    fn with(
        &mut self,
        reading: &mut Reading<'_>,
        kind: OriginKind,
        formula: &'static str,
        low: f64,
        high: f64,
    ) -> OriginId {
        let is_same = |entry: &Known| std::ptr::eq(entry.0, formula) && entry.1 == kind;
        let address = formula.as_ptr().addr();
        let slot = (address ^ address >> 8 ^ formula.len()) % SLOTS;
        if let Some(entry) = &self.recent[slot]
            && is_same(entry)
        {
            return entry.2;
        }
        let known = self.known.iter().copied().find(is_same);
        let entry = known.unwrap_or_else(|| {
            let id = reading.origin(&Origin::new(kind, formula).within(low, high));
            self.known.push((formula, kind, id));
            (formula, kind, id)
        });
        self.recent[slot] = Some(entry);
        entry.2
    }
}

/// The counts of SASS operations, by place, and how they were given.
pub(super) type Counts = [Option<(f64, Form)>; SASS.len()];

/// Turns the metrics of one launch into canonical values.
pub(super) struct Deriver<'r, 'p, 'g> {
    pub(super) reading: &'r mut Reading<'p>,
    pub(super) origins: &'r mut OriginCache,
    pub(super) instructions: &'r mut Instructions,
    pub(super) raw: &'g Gathered,
    pub(super) values: &'r mut Values,
    /// The executed thread instructions of each SASS operation that was counted.
    pub(super) counts: Counts,
}

impl Deriver<'_, '_, '_> {
    /// Derives everything the metrics allow.
    pub(super) fn derive(&mut self, catalog: &Catalog, context: Context) {
        self.clocks();
        self.time();
        self.clock_from_cycles();
        self.dram();
        self.caches();
        self.counts = std::array::from_fn(|operation| self.count(operation));
        self.vector_work(context);
        self.tensor_work(catalog, context);
        self.launch();
        self.speed_of_light();
        self.diagnosis(catalog);
        self.traffic();
        self.validity(catalog);
    }

    fn set(&mut self, quantity: Quantity, value: f64, kind: OriginKind, formula: &'static str) {
        let origin = self.origins.id(self.reading, kind, formula);
        self.values.set(quantity, value, origin);
    }

    fn measured(&mut self, quantity: Quantity, raw: Raw, formula: &'static str) {
        if let Some(value) = self.raw.get(raw) {
            self.set(quantity, value, OriginKind::Measured, formula);
        }
    }

    fn derived(&mut self, quantity: Quantity, value: Option<f64>, formula: &'static str) {
        if let Some(value) = value {
            self.set(quantity, value, OriginKind::Derived, formula);
        }
    }

    fn clocks(&mut self) {
        use Quantity::{DramClock, SmClock};
        // Nsight Compute's own SM frequency. The cycles of SMs come from another pass than the time that they are divided by:
        // launches of microseconds on an H100 at 1.98 GHz show 1.5 to 2.4 GHz.
        self.measured(SmClock, Raw::GpcClock, "gpc__cycles_elapsed.avg.per_second");
        self.measured(SmClock, Raw::SmClock, "sm__cycles_elapsed.avg.per_second");
        self.measured(SmClock, Raw::SmspClock, "smsp__cycles_elapsed.avg.per_second");
        self.measured(SmClock, Raw::SmClockDetails, "SM Frequency (two decimals)");
        self.measured(DramClock, Raw::DramClock, "dram__cycles_elapsed.avg.per_second");
        self.measured(DramClock, Raw::DramClockDetails, "DRAM Frequency (two decimals)");
    }

    /// A clock that no column states follows from cycles and time.
    fn clock_from_cycles(&mut self) {
        let (raw, time) = (self.raw, self.duration());
        let quotient = |cycles| Some(raw.get(cycles)? / time?);
        self.derived(Quantity::SmClock, quotient(Raw::SmCycles), "sm__cycles_elapsed.avg ÷ time");
        self.derived(
            Quantity::SmClock,
            quotient(Raw::SmspCycles),
            "smsp__cycles_elapsed.avg ÷ time",
        );
        self.derived(Quantity::SmClock, quotient(Raw::CyclesDetails), "Elapsed Cycles ÷ Duration");
    }

    fn time(&mut self) {
        let raw = self.raw;
        self.positive_time(raw.get(Raw::TimeSum), OriginKind::Measured, "gpu__time_duration.sum");
        self.positive_time(raw.get(Raw::TimeDetails), OriginKind::Measured, "Duration");
        self.positive_time(raw.get(Raw::TimeAvg), OriginKind::Measured, "gpu__time_duration.avg");
        self.positive_time(raw.get(Raw::TimeMax), OriginKind::Measured, "gpu__time_duration.max");
        self.positive_time(raw.get(Raw::TimeActive), OriginKind::Measured, "gpu__time_active");
        // SASS counters run the patched kernel; if nothing else was collected, so did the cycles.
        let patched = raw.saw_sass && !raw.saw_hardware;
        let kind = if patched { OriginKind::Instrumented } else { OriginKind::Derived };
        let quotient = |cycles, clock| {
            let (cycles, clock) = (raw.get(cycles)?, raw.get(clock)?);
            Some(roofline::duration_from_cycles(cycles, Hertz::new(clock)).get())
        };
        for (cycles, clock, formula) in &[
            (
                Raw::SmCycles,
                Raw::SmClock,
                "sm__cycles_elapsed.avg ÷ sm__cycles_elapsed.avg.per_second",
            ),
            (
                Raw::SmCyclesMax,
                Raw::SmClock,
                "sm__cycles_elapsed.max ÷ sm__cycles_elapsed.avg.per_second",
            ),
            (
                Raw::SmspCycles,
                Raw::SmspClock,
                "smsp__cycles_elapsed.avg ÷ smsp__cycles_elapsed.avg.per_second",
            ),
            (
                Raw::GpcCycles,
                Raw::GpcClock,
                "gpc__cycles_elapsed.max ÷ gpc__cycles_elapsed.avg.per_second",
            ),
            (
                Raw::CyclesDetails,
                Raw::SmClockDetails,
                "Elapsed Cycles ÷ SM Frequency (within 0.5%)",
            ),
        ] {
            self.positive_time(quotient(*cycles, *clock), kind, formula);
        }
    }

    /// A time of zero is a failed measurement, not an instant kernel.
    fn positive_time(&mut self, time: Option<f64>, kind: OriginKind, formula: &'static str) {
        if let Some(time) = time.filter(|time| *time > 0.0) {
            self.set(Quantity::Duration, time, kind, formula);
        }
    }

    fn duration(&self) -> Option<f64> {
        self.values.get(Quantity::Duration)
    }

    fn sm_clock(&self) -> Option<f64> {
        self.values.get(Quantity::SmClock)
    }

    fn launch(&mut self) {
        let raw = self.raw;
        self.measured(Quantity::RegistersPerThread, Raw::Registers, "launch__registers_per_thread");
        self.measured(
            Quantity::SharedMemoryPerBlock,
            Raw::SharedAllocated,
            "launch__shared_mem_per_block_allocated",
        );
        let parts = [Raw::SharedDynamic, Raw::SharedStatic].map(|part| raw.get(part));
        if let [Some(dynamic), Some(fixed)] = parts {
            let driver = raw.get(Raw::SharedDriver).unwrap_or(0.0);
            self.derived(
                Quantity::SharedMemoryPerBlock,
                Some(dynamic + fixed + driver),
                "dynamic + static + driver shared memory per block",
            );
        }
        self.measured(Quantity::Waves, Raw::Waves, "launch__waves_per_multiprocessor");
        self.measured(Quantity::SmCount, Raw::SmCount, "launch__sm_count");
        let barriers =
            raw.get(Raw::LimitBarriers).filter(|limit| *limit > 0.0).unwrap_or(f64::INFINITY);
        let limits = [Raw::LimitRegisters, Raw::LimitShared, Raw::LimitBlocks, Raw::LimitWarps];
        let least =
            limits.into_iter().try_fold(barriers, |least, limit| Some(least.min(raw.get(limit)?)));
        self.derived(
            Quantity::ResidentBlocksPerSm,
            least,
            "smallest of the launch__occupancy_limit_*",
        );
        self.measured(
            Quantity::AchievedOccupancy,
            Raw::AchievedPct,
            "sm__warps_active.avg.pct_of_peak_sustained_active",
        );
        self.measured(
            Quantity::TheoreticalOccupancy,
            Raw::TheoreticalPct,
            "sm__maximum_warps_per_active_cycle_pct",
        );
        self.measured(Quantity::ReplayPasses, Raw::Passes, "profiler__replayer_passes");
        let quotient =
            |sectors, requests| Some(raw.get(sectors)? / raw.get(requests).filter(|r| *r > 0.0)?);
        self.derived(
            Quantity::LoadSectorsPerRequest,
            quotient(Raw::LoadSectors, Raw::LoadRequests),
            "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum ÷ …requests…",
        );
        self.derived(
            Quantity::StoreSectorsPerRequest,
            quotient(Raw::StoreSectors, Raw::StoreRequests),
            "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum ÷ …requests…",
        );
    }

    fn speed_of_light(&mut self) {
        for (quantity, raw, formula) in &[
            (
                Quantity::SmThroughput,
                Raw::SmPct,
                "sm__throughput.avg.pct_of_peak_sustained_elapsed",
            ),
            // Of active cycles, so at least the share of elapsed ones: still an upper bound.
            (
                Quantity::SmThroughput,
                Raw::SmInstructionPct,
                "sm__instruction_throughput.avg.pct_of_peak_sustained_active",
            ),
            (
                Quantity::MemoryThroughput,
                Raw::MemoryPct,
                "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
            ),
            (
                Quantity::DramThroughput,
                Raw::DramPct,
                "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
            ),
            (
                Quantity::L2Throughput,
                Raw::L2Pct,
                "lts__throughput.avg.pct_of_peak_sustained_elapsed",
            ),
            (Quantity::L1Throughput, Raw::L1Pct, "l1tex__throughput.avg.pct_of_peak_sustained"),
            (Quantity::L2HitRate, Raw::L2Hit, "lts__t_sector_hit_rate.pct"),
            (Quantity::L1HitRate, Raw::L1Hit, "l1tex__t_sector_hit_rate.pct"),
        ] {
            self.measured(*quantity, *raw, formula);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::ingest::nsight::metrics::{ALL, Raw};
    use crate::ingest::nsight::row::Row;
    use crate::ingest::{Input, Numerals, Options, Reading};
    use crate::model::{DeviceHint, Head, Profile, Quantity};

    /// What follows from these metrics, if what none of them leads to is passed over, or if nothing is.
    fn derived(metrics: &[(Raw, f64)], assumes_all: bool) -> Vec<(Quantity, f64)> {
        let mut profile = Profile::default();
        let input = Input::text("page.csv", "ID\n");
        let mut reading = Reading::open(&input, &Options::default(), &mut profile).unwrap();
        let head = Head { device: reading.hint(DeviceHint::default()), ..Head::default() };
        let mut row = Row::new(Numerals::default());
        row.raw.assumes_all = assumes_all;
        for (raw, value) in metrics {
            row.raw.set(*raw as usize, *value);
        }
        row.derive(&mut reading, &super::Catalog::default(), &head);
        row.values().iter().collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn what_is_passed_over_leads_to_nothing(
            metrics in prop::collection::vec((prop::sample::select(ALL), 0_u32..5), 0..12),
        ) {
            let metrics: Vec<_> =
                metrics.into_iter().map(|(raw, value)| (raw, f64::from(value) / 2.0)).collect();
            prop_assert_eq!(derived(&metrics, false), derived(&metrics, true));
        }

        /// Whatever is passed over for want of these, all that it could be combined with is there.
        #[test]
        fn a_stretch_of_metrics_that_is_missing_leads_to_nothing(
            ends in prop::array::uniform2(0..ALL.len()),
            values in prop::collection::vec(1_u32..5, ALL.len()),
        ) {
            let [first, last] = [ends[0].min(ends[1]), ends[0].max(ends[1])];
            let all = ALL.iter().zip(values).enumerate();
            let metrics: Vec<_> = all
                .filter(|(at, _)| !(first..=last).contains(at))
                .map(|(_, (raw, value))| (*raw, f64::from(value) / 2.0))
                .collect();
            prop_assert_eq!(derived(&metrics, false), derived(&metrics, true));
        }
    }

    #[test]
    fn no_metric_is_passed_over_alone() {
        for raw in ALL {
            assert_eq!(derived(&[(*raw, 1.0)], false), derived(&[(*raw, 1.0)], true), "{raw:?}");
        }
    }
}
