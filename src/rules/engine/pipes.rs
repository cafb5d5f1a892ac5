//! What rules about arithmetic ask alike: which pipe works how much, on what, and what binds next.

use crate::model::{Engine, OriginKind, Pipe, Precision, Quantity};
use crate::roofline;
use crate::rules::engine::finding::{Confidence, Finding};
use crate::rules::{Missing, Stake, Subject, Unit};
use crate::units::{Flops, Seconds};

/// A pipe of the multiprocessor whose utilization profilers report.
#[derive(Debug, Clone, Copy)]
pub(in crate::rules) struct Measured {
    pub(in crate::rules) quantity: Quantity,
    /// Its name in sentences.
    pub(in crate::rules) name: &'static str,
    /// The metric that tells its utilization.
    pub(in crate::rules) metric: &'static str,
    /// Whether floating-point operations run on it; they explain nothing if another one is busy.
    pub(in crate::rules) computes: bool,
}

/// The pipes, in the order in which equal ones are named.
pub(in crate::rules) const PIPES: [Measured; 7] = [
    Measured {
        quantity: Quantity::TensorActive,
        name: "tensor",
        metric: "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
        computes: true,
    },
    Measured {
        quantity: Quantity::PipeFma,
        name: "FMA",
        metric: "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_elapsed",
        computes: true,
    },
    Measured {
        quantity: Quantity::PipeFp64,
        name: "FP64",
        metric: "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_elapsed",
        computes: true,
    },
    Measured {
        quantity: Quantity::PipeFp16,
        name: "FP16",
        metric: "sm__inst_executed_pipe_fp16.avg.pct_of_peak_sustained_elapsed",
        computes: true,
    },
    Measured {
        quantity: Quantity::PipeAlu,
        name: "ALU",
        metric: "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_elapsed",
        computes: false,
    },
    Measured {
        quantity: Quantity::PipeXu,
        name: "XU",
        metric: "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_elapsed",
        computes: false,
    },
    Measured {
        quantity: Quantity::PipeLsu,
        name: "load/store",
        metric: "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_elapsed",
        computes: false,
    },
];

/// Activity below which the tensor pipe did nothing worth the name.
const NO_ACTIVITY: f64 = 0.01;

/// What counts tensor work in the formats that an export left out.
const OTHER_TENSOR: &str = "sm__ops_path_tensor_* of all formats";

/// In the names of products of integers, which counters of floating-point formats do not see.
const INTEGER_PRODUCTS: [&str; 7] = ["int8", "int4", "imma", "i8i8", "s8s8", "w8a8", "w4a4"];

/// Busy multiprocessors beyond all pipes that were counted, from which a pipe is missing.
const UNSEEN: f64 = 0.25;

/// Share of the operations of a product that is all of it, but for edges and epilogues.
const WHOLE: f64 = 0.9;

/// A pipe hardly faster than the present one wins nothing, such as TF32 on GeForce.
const FASTER: f64 = 1.1;

/// That of a pipe may count active cycles, where an export has no others, and comes from another pass: only a clear excess
/// over it tells of another busy pipe.
const OTHER_PIPE: f64 = 0.02;

/// What tensor cores would do for a product.
#[derive(Debug, Clone, Copy)]
pub(in crate::rules) struct Vectorized {
    /// Peak of that pipe over the peak of the one it runs on.
    pub(in crate::rules) ratio: f64,
    /// What the move would bring.
    pub(in crate::rules) stake: Stake,
}

impl Subject<'_> {
    /// Compute capability; none for other vendors' devices.
    ///
    /// # Errors
    /// [`Missing`] where the device is not known.
    pub(in crate::rules) fn capability(&self) -> Result<Option<(u32, u32)>, Missing> {
        match self.compute_capability() {
            Some(capability) => Ok(Some(capability)),
            None => self.device().map(|_| None),
        }
    }

    /// Operations on the pipes for which something holds.
    pub(in crate::rules) fn operations(&self, holds: impl Fn(Pipe) -> bool) -> Flops {
        self.kernel.work.iter().filter(|work| holds(work.pipe)).map(|work| work.operations).sum()
    }

    /// Share of the floating-point operations that run on pipes for which something holds; none
    /// where there are none, or their formats are not known.
    pub(in crate::rules) fn share_of_flops(&self, holds: impl Fn(Pipe) -> bool) -> Option<f64> {
        let all = self.kernel.flops().filter(|flops| *flops > Flops::ZERO)?;
        let unstated = self.operations(|pipe| pipe == Pipe::Unstated);
        (unstated <= Flops::ZERO).then(|| self.operations(holds) / all)
    }

    /// Share of its roof that a pipe reaches, by the operations counted.
    pub(in crate::rules) fn roof_of(&self, pipe: Pipe) -> Option<f64> {
        let work = self.kernel.work.iter().find(|work| work.pipe == pipe)?;
        let time = self.kernel.modeled;
        (time > Seconds::ZERO && work.time > Seconds::ZERO).then(|| work.time / time)
    }

    /// Whether operations were counted where they ran, rather than taken from shapes.
    pub(in crate::rules) fn is_counted(&self) -> bool {
        self.kernel.flops().is_some() && self.kernel.provenance != Some(OriginKind::Algorithmic)
    }

    /// Whether tensor cores work: by operations, by activity, by name; counters come first.
    ///
    /// # Errors
    /// [`Missing`] where nothing tells.
    pub(in crate::rules) fn uses_tensor_cores(&self) -> Result<bool, Missing> {
        let is_counted = self.is_counted();
        let is_matrix = |pipe: Pipe| pipe.engine() == Engine::Matrix;
        if is_counted && self.operations(is_matrix) > Flops::ZERO {
            return Ok(true);
        }
        // Packed halves run on the tensor pipe too (`HFMA2.MMA`), and are counted as what they are.
        let is_packed = self.operations(|pipe| pipe == Pipe::Fp16Vector) > Flops::ZERO;
        let has_counts = is_counted && self.kernel.work.iter().any(|work| is_matrix(work.pipe));
        if has_counts && is_packed && !self.may_multiply_unseen() {
            return Ok(false);
        }
        if let Some(active) = self.get(Quantity::TensorActive) {
            return Ok(active >= NO_ACTIVITY);
        }
        if self.kernel.integer_operations().is_some_and(|operations| operations > Flops::ZERO) {
            return Ok(true);
        }
        if is_counted && self.kernel.work.iter().any(|work| is_matrix(work.pipe)) {
            return if self.may_multiply_unseen() { Err(Missing(OTHER_TENSOR)) } else { Ok(false) };
        }
        // Elsewhere all of the product was found: nothing is left for tensor cores.
        let form = self.kernel.algorithmic().filter(|form| form.product.is_some());
        let found = form.and_then(|form| form.work_factor).unwrap_or(0.0);
        if is_counted && found >= WHOLE {
            return Ok(false);
        }
        self.class().tensor.ok_or(Missing(PIPES[0].metric))
    }

    /// Whether tensor cores may have multiplied a format that was not counted, where others were: by the
    /// format in the name, or because the multiprocessors are busier than all that is known of them.
    fn may_multiply_unseen(&self) -> bool {
        let counted = |precision: Precision| {
            let mut matrix =
                self.kernel.work.iter().filter(|work| work.pipe.engine() == Engine::Matrix);
            matrix.any(|work| work.pipe.precision() == precision)
        };
        if self.kernel.is_named_with(&INTEGER_PRODUCTS) {
            return !counted(Precision::Int8) && !counted(Precision::Int4);
        }
        if self.class().precision().is_some() {
            return self.class().tensor == Some(true)
                && !self.class().precision().is_some_and(counted);
        }
        let known = self.busiest_pipe().map_or(self.math_reached(), |(_, used)| used);
        self.get(Quantity::SmThroughput).is_some_and(|sm| sm >= known + UNSEEN)
    }

    /// The tensor pipe for a product of 16-bit operands, by what was counted or by its name.
    pub(in crate::rules) fn half_pipe(&self, share: f64) -> Option<Pipe> {
        let half = |pipe: Pipe| matches!(pipe, Pipe::Fp16Vector | Pipe::Bf16Vector);
        let named = self.class().precision();
        if named == Some(Precision::Bf16) {
            return Some(Pipe::Bf16Matrix);
        }
        if named == Some(Precision::Fp16) {
            return Some(Pipe::Fp16Matrix);
        }
        if self.share_of_flops(half)? < share {
            return None;
        }
        let of = |wanted: Pipe| self.operations(|pipe| pipe == wanted);
        let is_bf16 = of(Pipe::Bf16Vector) > of(Pipe::Fp16Vector);
        Some(if is_bf16 { Pipe::Bf16Matrix } else { Pipe::Fp16Matrix })
    }

    /// What moving the kernel's main work to this tensor pipe would bring: at least the difference of
    /// the roofs, at most all above what good kernels reach there. None where the device has no such
    /// pipe, memory takes longer than the math as it is, or the move wins nothing.
    ///
    /// # Errors
    /// [`Missing`] when a peak or the operations are not known.
    pub(in crate::rules) fn vectorized(&self, to: Pipe) -> Result<Option<Vectorized>, Missing> {
        let device = self.device()?;
        if device.has_units(to) == Some(false) {
            return Ok(None);
        }
        let mut stake = self.pipe(to)?;
        let main = self.main_work()?;
        let memory = self.kernel.memory_time.unwrap_or(Seconds::ZERO);
        if main.time <= memory {
            return Ok(None);
        }
        let here = main.peak().ok_or(Missing("FLOP counters"))?;
        let ratio = self.roof_beside(main, to)? / here;
        if ratio < FASTER {
            return Ok(None);
        }
        let roof = roofline::roofline_time(memory, main.time / ratio);
        stake.low = roofline::savings(main.time, roof).min(stake.high);
        Ok((stake.high > Seconds::ZERO).then_some(Vectorized { ratio, stake }))
    }

    /// Utilization of a pipe.
    ///
    /// # Errors
    /// [`Missing`] when the export does not have it.
    pub(in crate::rules) fn pipe_used(&self, pipe: Quantity) -> Result<f64, Missing> {
        let metric = PIPES.iter().find(|known| known.quantity == pipe).map(|known| known.metric);
        self.need(pipe, metric.unwrap_or("sm__inst_executed_pipe_*"))
    }

    /// The busiest pipe that was measured.
    pub(in crate::rules) fn busiest_pipe(&self) -> Option<(Measured, f64)> {
        let used = PIPES.iter().filter_map(|pipe| Some((*pipe, self.get(pipe.quantity)?)));
        // The first of equal ones.
        used.reduce(|one, two| if two.1 > one.1 { two } else { one })
    }

    /// `next-bottleneck` for a pipe: what would bind if it had only `factor` of its work. The
    /// cautious end counts the issue slots as a unit of their own.
    ///
    /// # Errors
    /// [`Missing`] when the pipe, or every other unit, was not measured.
    pub(in crate::rules) fn next_pipe(
        &self,
        pipe: Quantity,
        factor: f64,
    ) -> Result<Stake, Missing> {
        let used = self.pipe_used(pipe)?;
        let memory = [Quantity::L1Throughput, Quantity::L2Throughput, Quantity::DramThroughput];
        let pipes = PIPES.iter().map(|known| known.quantity).filter(|known| *known != pipe);
        let others = pipes.chain(memory).filter_map(|quantity| self.get(quantity));
        let issue = self.issue().unwrap_or(0.0);
        // Busier than all pipes, and not by its issue slots: by a pipe that was not measured.
        let sm = self.get(Quantity::SmThroughput);
        let sm = sm.filter(|sm| *sm > used + OTHER_PIPE && *sm > issue + OTHER_PIPE);
        let next = others.chain(sm).reduce(f64::max).ok_or(Missing(Unit::Dram.metric()))?;
        let factor = factor.clamp(0.0, 1.0);
        let won = |next: f64| roofline::next_bottleneck(self.time(), used, factor, next);
        Ok(Stake { low: won(next.max(issue)), high: won(next), estimator: "next-bottleneck" })
    }

    /// `gap` to what good kernels reach: the roof over the achievable share of it.
    pub(in crate::rules) fn gap_to(&self, achievable: f64) -> Stake {
        let kernel = self.kernel;
        let share = self.good(achievable);
        let good = |roof: Seconds| roofline::savings(kernel.modeled, roof / share);
        let high = kernel.roofline_time.map_or(Seconds::ZERO, good);
        Stake { low: kernel.savings.min(high), high, estimator: "gap" }
    }

    /// A finding whose cure has another roof: capped by the time above `expected`, the time the cured
    /// kernel needs at least.
    pub(in crate::rules) fn finding_against(
        &self,
        message: String,
        stake: Stake,
        expected: Seconds,
    ) -> Finding {
        let most = roofline::savings(self.time(), expected);
        let mut finding = Finding::info(self.rule, message).confidence(Confidence::Medium);
        finding.at_stake_s = stake.high.min(most).max(Seconds::ZERO).get();
        finding.at_stake_low_s = stake.low.min(most).max(Seconds::ZERO).get();
        finding.estimator = stake.estimator;
        (finding.is_fixed, finding.is_beyond) = (false, true);
        finding
    }
}

#[cfg(test)]
#[allow(
    clippy::redundant_closure_for_method_calls,
    reason = "lifetimes: method paths do not compile"
)]
mod tests {
    use super::*;
    use crate::rules::engine::bench_table::{Bench, kernel};
    use crate::rules::{Rule, rule};

    fn a_rule() -> &'static Rule {
        rule("pipe-saturated").unwrap()
    }

    #[test]
    fn after_a_pipe_another_unit_or_the_issue_slots_bind() {
        let fma = |bench: &Bench| {
            let stake = bench.seen(a_rule(), |subject| subject.next_pipe(Quantity::PipeFma, 0.5));
            stake.map(|stake| (stake.low.get() * 1e6, stake.high.get() * 1e6))
        };
        let bench = || kernel("k", 100.0).set(Quantity::PipeFma, 0.8);
        assert_eq!(fma(&bench()), Err(Missing(Unit::Dram.metric())));
        let close = |(low, high): (f64, f64), wanted: (f64, f64)| {
            assert!(
                (low - wanted.0).abs() < 1e-6 && (high - wanted.1).abs() < 1e-6,
                "{low} {high}"
            );
        };
        close(fma(&bench().set(Quantity::L2Throughput, 0.2)).unwrap(), (50.0, 50.0));
        close(fma(&bench().set(Quantity::PipeXu, 0.6)).unwrap(), (25.0, 25.0));
        let issuing = bench().set(Quantity::L2Throughput, 0.2).set(Quantity::IssueActive, 0.7);
        close(fma(&issuing).unwrap(), (12.5, 50.0));
        // Multiprocessors busier than the pipe: one that was not measured is.
        let other = bench().set(Quantity::L2Throughput, 0.2).set(Quantity::SmThroughput, 0.9);
        close(fma(&other).unwrap(), (0.0, 0.0));
    }

    #[test]
    fn counters_tell_of_tensor_cores_before_names() {
        let uses = |bench: &Bench| bench.seen(a_rule(), |subject| subject.uses_tensor_cores());
        let named = || kernel("ampere_fp16_s16816gemm_fp16_128x128", 100.0).bytes(1e7);
        assert_eq!(uses(&named()), Ok(true));
        assert_eq!(uses(&named().set(Quantity::TensorActive, 0.0)), Ok(false));
        assert_eq!(uses(&named().work(Pipe::Fp16Matrix, 0.0)), Ok(false));
        assert_eq!(uses(&kernel("ampere_sgemm_128x64_nn", 100.0).bytes(1e7)), Ok(false));
        assert_eq!(uses(&kernel("my_gemm", 100.0).bytes(1e7)), Err(Missing(PIPES[0].metric)));
    }
}
