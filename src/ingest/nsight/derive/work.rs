//! Operations and peaks of CUDA cores and tensor cores from their counters.

use super::parts::{FP16_TERMS, FP32_TERMS, FP64_TERMS, PACKED_TERMS, of_some};
use super::{Context, Deriver};
use crate::ingest::nsight::form::Form;
use crate::ingest::nsight::metrics::{Catalog, Raw, sass_slot};
use crate::ingest::nsight::tensor::{self, TensorMetric};
use crate::ingest::operators::kernel::{Kernel, TensorCores};
use crate::model::{DeviceHint, Engine, NameId, OriginKind, Pipe, Quantity};
use crate::roofline;
use crate::units::Hertz;

/// Halves per packed-half instruction; NVIDIA's present sections weight them 2, 2, 4.
const HALF_LANES: f64 = 2.0;

/// Positions of the packed operations of FP32 among the SASS operations.
const PACKED: [usize; 3] = [9, 10, 11];

/// Position of `hfma` among the SASS operations.
const HFMA: usize = 8;

/// How FP32 operations follow from the sum of unweighted counts where packed ones are counted apart.
const UNWEIGHTED_AND_NOT_PACKED: &str = "…ops_fadd_fmul_ffma_pred_on.sum, multiply-adds counted once and packed ones not: at least the count";

impl Deriver<'_, '_, '_> {
    /// Elapsed cycles of an SM, to turn rates per cycle into counts.
    pub(super) fn cycles(&self) -> Option<f64> {
        let raw = self.raw;
        raw.get(Raw::SmspCycles)
            .or_else(|| raw.get(Raw::SmCycles))
            .or_else(|| {
                let (sum, sms) = (raw.get(Raw::SmspCyclesSum)?, raw.get(Raw::SmCount)?);
                Some(roofline::elapsed_cycles(sum, sms))
            })
            .or_else(|| raw.get(Raw::CyclesDetails))
            .or_else(|| Some(self.sm_clock()? * self.duration()?))
    }

    /// Executed thread instructions of one SASS operation.
    pub(super) fn count(&self, operation: usize) -> Option<(f64, Form)> {
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

    pub(super) fn vector_work(&mut self, context: Context) {
        let capability = &self.reading.device(context.device).compute_capability;
        let is_packed = capability.as_deref().is_some_and(DeviceHint::counts_packed_fp32);
        for (pipe, first, lanes) in [
            (Pipe::Fp64Vector, 0, 1.0),
            (Pipe::Fp32Vector, 3, 1.0),
            (Pipe::Fp16Vector, 6, HALF_LANES),
        ] {
            let counts = [first, first + 1, first + 2].map(|operation| self.counts[operation]);
            if pipe == Pipe::Fp32Vector {
                self.fp32_work(counts, is_packed);
            } else {
                self.vector_pipe(pipe, counts, lanes);
            }
            let peak = self.raw.slot(sass_slot(first + 2, Form::Peak)).zip(self.sm_clock());
            let formula = match pipe {
                Pipe::Fp64Vector => "2× …op_dfma_pred_on.sum.peak_sustained × SM clock",
                Pipe::Fp32Vector => "2× …op_ffma_pred_on.sum.peak_sustained × SM clock",
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
                "…ops_dadd_dmul_dfma_pred_on.sum, multiply-adds counted once: 1–2× the count",
            ),
            (
                Pipe::Fp32Vector,
                Raw::UnweightedFp32,
                1.0,
                "…ops_fadd_fmul_ffma_pred_on.sum, multiply-adds counted once: 1–2× the count",
            ),
            (
                Pipe::Fp16Vector,
                Raw::UnweightedFp16,
                HALF_LANES,
                "2 lanes × …ops_hadd_hmul_hfma_pred_on.sum, multiply-adds counted once: ½–2× the count",
            ),
        ] {
            if let Some(count) = self.raw.get(raw) {
                let low = if lanes > 1.0 { 1.0 / lanes } else { 1.0 };
                let (formula, high) = if is_packed && pipe == Pipe::Fp32Vector {
                    if count == 0.0 {
                        continue;
                    }
                    (UNWEIGHTED_AND_NOT_PACKED, f64::INFINITY)
                } else {
                    (formula, 2.0)
                };
                let origin =
                    self.origins.with(self.reading, OriginKind::Derived, formula, low, high);
                self.values.set(Quantity::Work(pipe), count * lanes, origin);
            }
        }
    }

    /// FP32 operations. Packed instructions are two operations for each of another, and in none of the other three counts.
    fn fp32_work(&mut self, counts: [Option<(f64, Form)>; 3], is_packed: bool) {
        let packed = PACKED.map(|operation| self.counts[operation]);
        let has = |counts: &[Option<(f64, Form)>; 3]| counts.iter().flatten().count();
        if !is_packed && has(&packed) == 0 {
            return self.vector_pipe(Pipe::Fp32Vector, counts, 1.0);
        }
        let of = |counts: [Option<(f64, Form)>; 3]| {
            let [add, mul, fma] = counts.map(|count| count.map_or(0.0, |(count, _)| count));
            roofline::operations(add, mul, fma).get()
        };
        let flops = of(counts) + 2.0 * of(packed);
        if (has(&counts), has(&packed)) == (3, 3) {
            let formula = "fadd + fmul + 2 × ffma + 2 × (fadd2 + fmul2 + 2 × ffma2)";
            self.set(Quantity::Work(Pipe::Fp32Vector), flops, OriginKind::Derived, formula);
            return;
        }
        let known: Vec<bool> = counts.iter().chain(&packed).map(Option::is_some).collect();
        let formula = of_some(PACKED_TERMS, &known);
        self.at_least(Pipe::Fp32Vector, flops, formula);
    }

    /// Keeps operations of which more may have run. Of none that were counted nothing follows: they are missing.
    fn at_least(&mut self, pipe: Pipe, flops: f64, formula: &'static str) {
        if flops > 0.0 {
            let (kind, high) = (OriginKind::Derived, f64::INFINITY);
            let origin = self.origins.with(self.reading, kind, formula, 1.0, high);
            self.values.set(Quantity::Work(pipe), flops, origin);
        }
    }

    fn vector_pipe(&mut self, pipe: Pipe, counts: [Option<(f64, Form)>; 3], lanes: f64) {
        let mut known = counts.iter().flatten();
        let Some((_, form)) = known.next().copied() else { return };
        let is_whole = known.count() == 2;
        let [add, mul, fma] = counts.map(|count| count.map_or(0.0, |(count, _)| count));
        let flops = roofline::half_operations(add, mul, fma, lanes).get();
        let quantity = Quantity::Work(pipe);
        if !is_whole {
            let terms = match pipe {
                Pipe::Fp64Vector => FP64_TERMS,
                Pipe::Fp32Vector => FP32_TERMS,
                _ => FP16_TERMS,
            };
            self.at_least(pipe, flops, of_some(terms, &counts.map(|count| count.is_some())));
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

    pub(super) fn tensor_work(&mut self, catalog: &Catalog, context: Context) {
        let (cycles, time, clock) = (self.cycles(), self.duration(), self.sm_clock());
        let mut counts = Vec::new();
        let mut peaks = Vec::new();
        for (metric, slot) in catalog.tensor_slots() {
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

    /// Warp instructions that so many packed-half operations of threads may take beyond those of full warps: threads that
    /// a predicate left off are in no count of threads, and their warps are in that of instructions.
    fn idle_packed_half(&self, half: f64) -> f64 {
        let on = self.raw.get(Raw::PredicatedPerInstruction).unwrap_or(16.0).clamp(1.0, 32.0);
        half / on - half / 32.0
    }

    /// Tensor operations from warp instructions, where the instruction's shape is known.
    fn tensor_instructions(&mut self, context: Context) {
        let Some(mut count) = self.raw.get(Raw::TensorInstructions) else { return };
        let mut is_least = false;
        let device = self.reading.device(context.device);
        let capability = device.compute_capability.as_deref();
        let (is_known, is_volta) = (capability.is_some(), capability == Some("7.0"));
        // GA100 and GH100 run packed-half multiply-adds on the tensor pipe (HFMA2.MMA).
        let has_packed_half = matches!(capability, Some("8.0" | "9.0"));
        let Instruction { operations: shape, pipe, is_stated } =
            self.instructions.of(context.kernel, self.reading.text(context.kernel));
        // A name may have the type of what is stored: without a unit for FP8 it is multiplied as FP16.
        let before_fp8 = ["7.0", "7.2", "7.5", "8.0", "8.6", "8.7"];
        let lacks_fp8 = capability.is_some_and(|capability| before_fp8.contains(&capability));
        let pipe = if lacks_fp8 && pipe == Pipe::Fp8Matrix { Pipe::Fp16Matrix } else { pipe };
        let work = Quantity::Work(pipe);
        // The smallest instruction since Turing is 16×8×8, and for FP64 8×8×4.
        let is_fp64 = pipe == Pipe::Fp64Matrix;
        let smallest = if is_fp64 { (8, 8, 4) } else { (16, 8, 8) };
        let smallest = roofline::mma_operations(smallest.0, smallest.1, smallest.2).get();
        if has_packed_half && count > 0.0 {
            let Some((half, _)) = self.counts[HFMA] else {
                let formula = match (shape, is_fp64) {
                    (Some(_), _) => {
                        "sm__inst_executed_pipe_tensor.sum, which may hold packed-half instructions, × 2·m·n·k of the instruction in the kernel's name"
                    }
                    (None, false) => {
                        "2048× sm__inst_executed_pipe_tensor.sum, which may hold packed-half instructions"
                    }
                    (None, true) => {
                        "512× sm__inst_executed_pipe_tensor.sum, which may hold packed-half instructions"
                    }
                };
                let (low, high) = (0.0, if shape.is_some() { 1.0 } else { f64::INFINITY });
                let kind = OriginKind::Modeled;
                let origin = self.origins.with(self.reading, kind, formula, low, high);
                return self.values.set(work, count * shape.unwrap_or(smallest), origin);
            };
            count = (count - half / 32.0).max(0.0);
            if shape.is_none() && count <= self.idle_packed_half(half) {
                count = 0.0;
            }
        } else if !is_known
            && let Some((half, _)) = self.counts[HFMA]
            && half > 0.0
        {
            // An unknown device may be one of these: what is left is tensor work on any. Where
            // nothing is left, all of it may be, or none.
            count -= half / 32.0;
            if count <= 0.0 || shape.is_none() && count <= self.idle_packed_half(half) {
                return;
            }
            is_least = true;
        }
        if count == 0.0 {
            self.set(work, 0.0, OriginKind::Measured, "sm__inst_executed_pipe_tensor.sum");
        } else if let Some(each) = shape {
            // One text for each interval: origins with equal texts are one.
            let (formula, high) = if is_least {
                (
                    "at least (sm__inst_executed_pipe_tensor.sum − …op_hfma… ÷ 32) × 2·m·n·k of the instruction in the kernel's name",
                    f64::INFINITY,
                )
            } else {
                (
                    "sm__inst_executed_pipe_tensor.sum × 2·m·n·k of the instruction in the kernel's name",
                    1.0,
                )
            };
            let kind = OriginKind::Derived;
            let origin = self.origins.with(self.reading, kind, formula, 1.0, high);
            self.values.set(work, count * each, origin);
        } else if is_volta {
            // Four steps make a product of 8×8×4 by each quarter of a warp, or two that accumulate in FP16.
            let (each, formula, high) = match (pipe, is_stated) {
                (Pipe::Fp16MatrixFp16Acc, _) => (
                    1024.0,
                    "1024× sm__inst_executed_pipe_tensor.sum (HMMA.884, FP16 accumulate)",
                    1.0,
                ),
                (_, true) => (
                    512.0,
                    "512× sm__inst_executed_pipe_tensor.sum (HMMA.884, FP32 accumulate)",
                    1.0,
                ),
                (_, false) => (
                    512.0,
                    "512× sm__inst_executed_pipe_tensor.sum (HMMA.884), twice as many where it accumulates in FP16",
                    2.0,
                ),
            };
            let kind = OriginKind::Derived;
            let origin = self.origins.with(self.reading, kind, formula, 1.0, high);
            self.values.set(work, count * each, origin);
        } else {
            let formula = if is_fp64 {
                "at least 512× sm__inst_executed_pipe_tensor.sum; the instruction's shape is not known"
            } else {
                "at least 2048× sm__inst_executed_pipe_tensor.sum; the instruction's shape is not known"
            };
            let origin =
                self.origins.with(self.reading, OriginKind::Modeled, formula, 1.0, f64::INFINITY);
            self.values.set(work, count * smallest, origin);
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

/// What a name shows of a kernel's matrix instructions.
#[derive(Debug, Clone, Copy)]
struct Instruction {
    /// Operations of one, if the name spells out its shape.
    operations: Option<f64>,
    /// The pipe of its operands; that of FP16 where the name does not say.
    pipe: Pipe,
    /// Whether the name says it.
    is_stated: bool,
}

impl Instruction {
    fn named(name: &str) -> Self {
        let stated = Kernel::of(name).product_pipe(None, TensorCores::Listed);
        let is_stated = stated != Pipe::Unstated && stated.engine() == Engine::Matrix;
        let pipe = if is_stated { stated } else { Pipe::Fp16Matrix };
        Self { operations: shape_in_name(name), pipe, is_stated }
    }
}

/// What the names of kernels tell of their matrix instructions: a million launches have few names.
#[derive(Debug, Default)]
pub(in crate::ingest::nsight) struct Instructions {
    /// The name met last of those that share a slot.
    recent: Vec<Option<(NameId, Instruction)>>,
}

impl Instructions {
    /// Slots, by the number of a name.
    const SLOTS: usize = 256;

    fn of(&mut self, id: NameId, name: &str) -> Instruction {
        self.recent.resize(Self::SLOTS, None);
        let slot = &mut self.recent[id.0 as usize % Self::SLOTS];
        match slot {
            Some((known, instruction)) if *known == id => *instruction,
            _ => slot.insert((id, Instruction::named(name))).1,
        }
    }
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
    // Of Volta's 8×8×4, two accumulators have two numbers of operations.
    let is_fp64 = |token: &&str| {
        let after = name
            .split(token)
            .skip(1)
            .map(|after| after.trim_start_matches("cudnn").trim_start_matches("gemm"));
        after.into_iter().any(|after| !after.starts_with(|c: char| c.is_ascii_alphanumeric()))
    };
    if ["d884", "z884"].iter().any(is_fp64) {
        return Some(roofline::mma_operations(8, 8, 4).get());
    }
    TOKENS.iter().find_map(|(token, m, n, k)| {
        let at = name.find(token)?;
        (token.starts_with('t') || preceded(at)).then(|| roofline::mma_operations(*m, *n, *k).get())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::{Options, read_text};

    #[test]
    fn the_pipe_of_matrix_instructions_is_read_from_names() {
        for (name, pipe) in [
            ("ampere_s1688gemm_128x128_nn", Pipe::Tf32Matrix),
            ("ampere_fp16_s1688gemm_fp16_128x128_nn", Pipe::Fp16Matrix),
            ("turing_s1688gemm_fp16_128x128_nn", Pipe::Fp16Matrix),
            ("ampere_bf16_s16816gemm_bf16_128x64_tn", Pipe::Bf16Matrix),
            ("cutlass_80_tensorop_i16832gemm_s8_128x256_128x3_tn_align16", Pipe::Int8Matrix),
            ("cutlass_80_tensorop_d884gemm_64x64_16x4_nn_align1", Pipe::Fp64Matrix),
            ("volta_h884gemm_64x64_ldg8_nn", Pipe::Fp16MatrixFp16Acc),
            ("my_kernel", Pipe::Fp16Matrix),
            ("triton_tem_fused_add_d884ab", Pipe::Fp16Matrix),
        ] {
            assert_eq!(Instruction::named(name).pipe, pipe, "{name}");
        }
    }

    #[test]
    fn instruction_shapes_are_read_from_names() {
        for (name, operations) in [
            ("ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_nn", Some(4096.0)),
            ("turing_fp16_s1688gemm_fp16_128x128", Some(2048.0)),
            ("sm80_xmma_gemm_f16f16_tensor16x8x16_aligned", Some(4096.0)),
            ("volta_sgemm_128x64_nn", None),
            ("kernel_1688", Some(2048.0)),
            ("ampere_d884gemm_64x64_nn", Some(512.0)),
            ("volta_s884gemm_fp16_128x64_nn", None),
            ("triton_tem_fused_add_d884ab", None),
            ("run16880", None),
        ] {
            assert_eq!(shape_in_name(name), operations, "{name}");
        }
    }

    #[test]
    fn a_step_of_volta_is_512_operations_or_1024_with_fp16_accumulators() {
        let text = "ID,Kernel Name,Block Size,Grid Size,Device,CC,gpu__time_duration.sum,sm__inst_executed_pipe_tensor.sum\n\
                    ,,,,,,ns,inst\n\
                    0,volta_h884gemm_128x128_ldg8_nn,\"(256, 1, 1)\",\"(80, 1, 1)\",0,7.0,1000,10\n\
                    1,volta_fp16_s884gemm_fp16_128x128_ldg8_nn,\"(256, 1, 1)\",\"(80, 1, 1)\",0,7.0,1000,10\n\
                    2,wmma_kernel,\"(256, 1, 1)\",\"(80, 1, 1)\",0,7.0,1000,10\n";
        let profile = read_text("raw.csv", text, &Options::default()).unwrap();
        for (row, pipe, operations, high) in [
            (0, Pipe::Fp16MatrixFp16Acc, 10_240.0, 1.0),
            (1, Pipe::Fp16Matrix, 5_120.0, 1.0),
            (2, Pipe::Fp16Matrix, 5_120.0, 2.0),
        ] {
            let launch = profile.launch(row);
            let (value, origin) = launch.get(Quantity::Work(pipe)).unwrap();
            assert_eq!((value, origin.high), (operations, high));
        }
    }
}
