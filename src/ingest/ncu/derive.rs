//! Gathered metrics of one launch → canonical quantities, by the best source there is.
//!
//! Each quantity has a ladder of sources, most direct first; the rung taken is kept as the value's
//! [`Origin`]. Formulas: *Nsight Compute Profiling Guide* and the section files shipped with it.

use super::metrics::{Catalogue, Form, Gathered, Raw, sass_slot};
use super::tensor::{self, TensorMetric};
use crate::ingest::Reading;
use crate::model::{Origin, OriginId, OriginKind, Pipe, Quantity, Values};
use crate::roofline;
use crate::units::Hertz;

/// Bytes of one L1 writeback or shared-memory wavefront: 32 banks of 4 bytes.
const WAVEFRONT_BYTES: f64 = 128.0;

/// Bytes of a cache sector.
const SECTOR_BYTES: f64 = 32.0;

/// Halves per packed-half instruction; NVIDIA's present sections weight them 2, 2, 4.
const HALF_LANES: f64 = 2.0;

/// What is known of the launch beside its metrics.
#[derive(Debug, Clone, Copy)]
pub(in crate::ingest) struct Context<'a> {
    /// Kernel name as printed; its tokens tell tile and instruction shapes.
    pub(in crate::ingest) kernel: &'a str,
    /// Compute capability, where the export has one.
    pub(in crate::ingest) compute_capability: Option<&'a str>,
}

/// Origins by formula, so that a million launches do not compare strings.
#[derive(Debug, Default)]
pub(in crate::ingest) struct OriginCache(Vec<(&'static str, OriginKind, OriginId)>);

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
        let known = self.0.iter().find(|entry| std::ptr::eq(entry.0, formula) && entry.1 == kind);
        if let Some((_, _, id)) = known {
            return *id;
        }
        let id = reading.origin(&Origin::new(kind, formula).within(low, high));
        self.0.push((formula, kind, id));
        id
    }
}

/// Turns the metrics of one launch into canonical values.
pub(in crate::ingest) struct Deriver<'r, 'p, 'g> {
    pub(in crate::ingest) reading: &'r mut Reading<'p>,
    pub(in crate::ingest) origins: &'r mut OriginCache,
    pub(in crate::ingest) raw: &'g Gathered,
    pub(in crate::ingest) values: &'r mut Values,
}

impl Deriver<'_, '_, '_> {
    /// Derives everything the metrics allow.
    pub(in crate::ingest) fn derive(mut self, catalogue: &Catalogue, context: Context<'_>) {
        self.clocks();
        self.time();
        self.clock_from_cycles();
        self.dram();
        self.caches();
        self.vector_work();
        self.tensor_work(catalogue, context);
        self.launch();
        self.speed_of_light();
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
        self.measured(SmClock, Raw::SmClock, "sm__cycles_elapsed.avg.per_second");
        self.measured(SmClock, Raw::SmspClock, "smsp__cycles_elapsed.avg.per_second");
        self.measured(SmClock, Raw::GpcClock, "gpc__cycles_elapsed.avg.per_second");
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
        for (cycles, clock, formula) in [
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
                "Elapsed Cycles ÷ SM Frequency (within 0.5 %)",
            ),
        ] {
            self.positive_time(quotient(cycles, clock), kind, formula);
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

    fn dram(&mut self) {
        let raw = self.raw;
        let bytes = Quantity::DramBytes;
        self.measured(bytes, Raw::DramBytes, "dram__bytes.sum");
        let both = |one, two| Some(raw.get(one)? + raw.get(two)?);
        self.derived(
            bytes,
            both(Raw::DramRead, Raw::DramWrite),
            "dram__bytes_read.sum + dram__bytes_write.sum",
        );
        self.derived(
            bytes,
            raw.get(Raw::DramSectors).map(|s| SECTOR_BYTES * s),
            "32 × dram__sectors.sum",
        );
        self.derived(
            bytes,
            both(Raw::DramSectorsRead, Raw::DramSectorsWrite).map(|s| SECTOR_BYTES * s),
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
        if let Some(sectors) = raw.get(Raw::LtsMissSectors) {
            let formula = "32 × lts__t_sectors_lookup_miss.sum; no DRAM counter on this device";
            self.set(bytes, SECTOR_BYTES * sectors, OriginKind::Modelled, formula);
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

    fn caches(&mut self) {
        let raw = self.raw;
        let per_cycle = |peak: Option<f64>, clock| Some(peak? * raw.get(clock)?);
        // One definition for bytes and peak: mixing them would give a wrong utilisation.
        if let Some(sectors) = raw.get(Raw::LtsTexSectors) {
            self.set(
                Quantity::L2Bytes,
                SECTOR_BYTES * sectors,
                OriginKind::Derived,
                "32 × lts__t_sectors_srcunit_tex.sum",
            );
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
                SECTOR_BYTES * cycles,
                OriginKind::Derived,
                "32 × lts__lts2xbar_cycles_active.sum",
            );
            let peak =
                per_cycle(raw.get(Raw::LtsXbarPeak).map(|peak| SECTOR_BYTES * peak), Raw::LtsClock);
            self.derived(Quantity::L2Bandwidth, peak, "32 × lts__lts2xbar_cycles_active.sum.peak_sustained × lts__cycles_elapsed.avg.per_second");
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
                "128 × l1tex__lsu_writeback_active.sum",
            );
            let peak = per_cycle(
                raw.get(Raw::L1WritebackPeak).map(|peak| WAVEFRONT_BYTES * peak),
                Raw::L1Clock,
            );
            self.derived(Quantity::L1Bandwidth, peak, "128 × l1tex__lsu_writeback_active.sum.peak_sustained × l1tex__cycles_elapsed.avg.per_second");
        }
    }

    /// Elapsed cycles of an SM, to turn rates per cycle into counts.
    fn cycles(&self) -> Option<f64> {
        let raw = self.raw;
        raw.get(Raw::SmspCycles)
            .or_else(|| raw.get(Raw::SmCycles))
            .or_else(|| Some(raw.get(Raw::SmspCyclesSum)? / (4.0 * raw.get(Raw::SmCount)?)))
            .or_else(|| raw.get(Raw::CyclesDetails))
            .or_else(|| Some(self.sm_clock()? * self.duration()?))
    }

    /// Executed thread instructions of one SASS operation.
    fn count(&self, operation: usize) -> Option<(f64, Form)> {
        let raw = self.raw;
        if let Some(count) = raw.slot(sass_slot(operation, Form::Sum)) {
            return Some((count, Form::Sum));
        }
        if let Some(rate) = raw.slot(sass_slot(operation, Form::PerCycle)) {
            // Zero per cycle is zero, whether or not the cycles are known.
            let cycles = if rate == 0.0 { 0.0 } else { self.cycles()? };
            return Some((rate * cycles, Form::PerCycle));
        }
        let rate = raw.slot(sass_slot(operation, Form::PerSecond))?;
        let time = if rate == 0.0 { 0.0 } else { self.duration()? };
        Some((rate * time, Form::PerSecond))
    }

    fn vector_work(&mut self) {
        for (pipe, first, lanes) in [
            (Pipe::Fp64Vector, 0, 1.0),
            (Pipe::Fp32Vector, 3, 1.0),
            (Pipe::Fp16Vector, 6, HALF_LANES),
        ] {
            let counts = [first, first + 1, first + 2].map(|operation| self.count(operation));
            self.vector_pipe(pipe, counts, lanes);
            let peak = self.raw.slot(sass_slot(first + 2, Form::Peak)).zip(self.sm_clock());
            let formula = match pipe {
                Pipe::Fp64Vector => "2 × …op_dfma_pred_on.sum.peak_sustained × SM clock",
                Pipe::Fp32Vector => "2 × …op_ffma_pred_on.sum.peak_sustained × SM clock",
                _ => "2 × 2 lanes × …op_hfma_pred_on.sum.peak_sustained × SM clock",
            };
            self.derived(
                Quantity::Peak(pipe),
                peak.map(|(peak, clock)| {
                    roofline::peak_at_clock(peak, 2.0 * lanes, Hertz::new(clock)).get()
                }),
                formula,
            );
        }
        for (pipe, raw, lanes, formula) in [
            (
                Pipe::Fp64Vector,
                Raw::UnweightedFp64,
                1.0,
                "…ops_dadd_dmul_dfma_pred_on.sum, multiply-adds counted once: 1–2 × the count",
            ),
            (
                Pipe::Fp32Vector,
                Raw::UnweightedFp32,
                1.0,
                "…ops_fadd_fmul_ffma_pred_on.sum, multiply-adds counted once: 1–2 × the count",
            ),
            (
                Pipe::Fp16Vector,
                Raw::UnweightedFp16,
                HALF_LANES,
                "2 lanes × …ops_hadd_hmul_hfma_pred_on.sum, multiply-adds counted once: ½–2 × the count",
            ),
        ] {
            if let Some(count) = self.raw.get(raw) {
                let low = if lanes > 1.0 { 1.0 / lanes } else { 1.0 };
                let origin =
                    self.origins.with(self.reading, OriginKind::Derived, formula, low, 2.0);
                self.values.set(Quantity::Work(pipe), count * lanes, origin);
            }
        }
    }

    fn vector_pipe(&mut self, pipe: Pipe, counts: [Option<(f64, Form)>; 3], lanes: f64) {
        let known: Vec<(f64, Form)> = counts.iter().flatten().copied().collect();
        let Some((_, form)) = known.first().copied() else { return };
        let [add, mul, fma] = counts.map(|count| count.map_or(0.0, |(count, _)| count));
        let mut flops = roofline::half_operations(add, mul, fma, lanes).get();
        // Packed FP32 of compute capability 10: two lanes each.
        if pipe == Pipe::Fp32Vector {
            let [add, mul, fma] =
                [9, 10, 11].map(|op| self.count(op).map_or(0.0, |(count, _)| count));
            flops += 2.0 * roofline::operations(add, mul, fma).get();
        }
        let quantity = Quantity::Work(pipe);
        if known.len() < 3 {
            let formula = "add + mul + 2 × fma, of which only some were collected";
            let origin =
                self.origins.with(self.reading, OriginKind::Derived, formula, 1.0, f64::INFINITY);
            self.values.set(quantity, flops, origin);
            return;
        }
        if lanes > 1.0 {
            let formula = "2 lanes × (hadd + hmul + 2 × hfma); half of it if one lane is idle";
            let origin = self.origins.with(self.reading, OriginKind::Derived, formula, 0.5, 1.0);
            self.values.set(quantity, flops, origin);
            return;
        }
        let formula = match (form, pipe) {
            (Form::Sum, Pipe::Fp64Vector) => "dadd + dmul + 2 × dfma (…_pred_on.sum)",
            (Form::Sum, _) => "fadd + fmul + 2 × ffma (…_pred_on.sum)",
            (Form::PerCycle, Pipe::Fp64Vector) => {
                "(dadd + dmul + 2 × dfma) per cycle × cycles elapsed"
            }
            (Form::PerCycle, _) => "(fadd + fmul + 2 × ffma) per cycle × cycles elapsed",
            (_, Pipe::Fp64Vector) => "(dadd + dmul + 2 × dfma) per second × time",
            _ => "(fadd + fmul + 2 × ffma) per second × time",
        };
        self.set(quantity, flops, OriginKind::Derived, formula);
    }

    fn tensor_work(&mut self, catalogue: &Catalogue, context: Context<'_>) {
        let (cycles, time, clock) = (self.cycles(), self.duration(), self.sm_clock());
        let mut counts = Vec::new();
        let mut peaks = Vec::new();
        for (metric, slot) in catalogue.tensor_slots() {
            let Some(value) = self.raw.slot(slot) else { continue };
            let factor = match metric.form {
                Form::Sum => Some(1.0),
                Form::PerCycle => cycles,
                Form::PerSecond => time,
                Form::Peak => {
                    peaks.push((*metric, value));
                    continue;
                }
            };
            if value == 0.0 {
                counts.push((metric.as_sum(), 0.0));
            } else if let Some(factor) = factor {
                counts.push((metric.as_sum(), value * factor));
            }
        }
        dedup(&mut counts);
        for (pipe, operations) in tensor::operations(&counts) {
            self.set(
                Quantity::Work(pipe),
                operations,
                OriginKind::Measured,
                "sm__ops_path_tensor_* (one level of the counter tree)",
            );
        }
        if let Some(clock) = clock {
            for (pipe, peak) in tensor::peaks(&peaks) {
                self.set(
                    Quantity::Peak(pipe),
                    roofline::peak_at_clock(peak, 1.0, Hertz::new(clock)).get(),
                    OriginKind::Derived,
                    "sm__ops_path_tensor_*_sparsity_off.sum.peak_sustained × SM clock",
                );
            }
        }
        self.measured(
            Quantity::TensorActive,
            Raw::TensorPct,
            "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
        );
        if counts.is_empty() {
            self.tensor_instructions(context);
        }
    }

    /// Tensor operations from warp instructions, where the instruction's shape is known.
    fn tensor_instructions(&mut self, context: Context<'_>) {
        let Some(count) = self.raw.get(Raw::TensorInstructions) else { return };
        let work = Quantity::Work(Pipe::Fp16Matrix);
        if count == 0.0 {
            self.set(work, 0.0, OriginKind::Measured, "sm__inst_executed_pipe_tensor.sum");
        } else if let Some(each) = shape_in_name(context.kernel) {
            self.set(work, count * each, OriginKind::Derived, "sm__inst_executed_pipe_tensor.sum × 2·m·n·k of the instruction in the kernel's name");
        } else if context.compute_capability == Some("7.0") {
            self.set(
                work,
                count * 512.0,
                OriginKind::Derived,
                "512 × sm__inst_executed_pipe_tensor.sum (HMMA.884, FP32 accumulate)",
            );
        } else {
            // The smallest instruction since Turing is 16×8×8.
            let formula = "at least 2048 × sm__inst_executed_pipe_tensor.sum; the instruction's shape is not known";
            let each = roofline::mma_operations(16, 8, 8).get();
            let origin =
                self.origins.with(self.reading, OriginKind::Modelled, formula, 1.0, f64::INFINITY);
            self.values.set(work, count * each, origin);
        }
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
        let limits = [Raw::LimitRegisters, Raw::LimitShared, Raw::LimitBlocks, Raw::LimitWarps];
        let limits: Option<Vec<f64>> = limits.into_iter().map(|limit| raw.get(limit)).collect();
        if let Some(limits) = limits {
            let barriers =
                raw.get(Raw::LimitBarriers).filter(|limit| *limit > 0.0).unwrap_or(f64::INFINITY);
            let least = limits.into_iter().fold(barriers, f64::min);
            self.derived(
                Quantity::ResidentBlocksPerSm,
                Some(least),
                "smallest of the launch__occupancy_limit_*",
            );
        }
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
        for (quantity, raw, formula) in [
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
            self.measured(quantity, raw, formula);
        }
    }
}

/// Keeps one count per counter: the same counter can come as a sum and as a rate.
fn dedup(counts: &mut Vec<(TensorMetric, f64)>) {
    let mut seen: Vec<TensorMetric> = Vec::new();
    counts.retain(|(metric, _)| {
        let fresh = !seen.contains(metric);
        seen.push(*metric);
        fresh
    });
}

/// Operations of the matrix instruction that a cuBLAS or CUTLASS kernel name spells out.
fn shape_in_name(name: &str) -> Option<f64> {
    const TOKENS: [(&str, u32, u32, u32); 7] = [
        ("16832", 16, 8, 32),
        ("16816", 16, 8, 16),
        ("1688", 16, 8, 8),
        ("1684", 16, 8, 4),
        ("8816", 8, 8, 16),
        ("tensor16x8x16", 16, 8, 16),
        ("tensor16x8x8", 16, 8, 8),
    ];
    let preceded = |at: usize| at > 0 && b"shdicz_".contains(&name.as_bytes()[at - 1]);
    TOKENS.iter().find_map(|(token, m, n, k)| {
        let at = name.find(token)?;
        (token.starts_with('t') || preceded(at)).then(|| roofline::mma_operations(*m, *n, *k).get())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instruction_shapes_are_read_from_names() {
        for (name, operations) in [
            ("ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_nn", Some(4096.0)),
            ("turing_fp16_s1688gemm_fp16_128x128", Some(2048.0)),
            ("sm80_xmma_gemm_f16f16_tensor16x8x16_aligned", Some(4096.0)),
            ("volta_sgemm_128x64_nn", None),
            ("kernel_1688", Some(2048.0)),
            ("run16880", None),
        ] {
            assert_eq!(shape_in_name(name), operations, "{name}");
        }
    }
}
