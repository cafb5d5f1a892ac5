//! Flags kernels on tensor cores that math limits and that keep the tensor pipe idle much of the time.

use crate::model::{Engine, Quantity};
use crate::roofline::{BUSY, achievable};
use crate::rules::{Check, Confidence, Judgment, Missing, Rule, Subject, Threshold, Unit};
use crate::units::{Seconds, whole_percent};

pub(super) const RULE: Rule = Rule {
    id: "low-tensor-utilization",
    summary: "compute-bound, but tensor cores are idle much of the time",
    documentation: "\
## What it finds
Tensor-core kernels whose math needs longer than their memory traffic, yet whose tensor pipe is
idle much of the time.

## Why it costs time
Good kernels keep the tensor pipe 80 to 95% active. Less means operands do not arrive in time:
small tiles, few pipeline stages, an unfavorable layout, or few blocks.

## Detection
The kernel is compute-bound (t_math > t_mem), no other pipe needs longer than the tensor pipe, DRAM
is not busy, and the tensor pipe is active less than `active`. Without that counter, the share of
the tensor roof reached by the operations decides.

## Remedy
Use larger tiles and more stages; K contiguous in both operands (TN); a larger batch; a newer
library, or its autotuning.

## False positives
Where fusion adds other work (softmax in attention), the pipe waits for it. A counter without
`_sparsity_` in its name relates to the sparse peak and reads half.

## Sources
NVIDIA, *Matrix Multiplication Background*; *Nsight Compute Profiling Guide*, \"Pipelines\"; the 60% of
`SpeedOfLight.py` of Nsight Compute.
",
    thresholds: &[ACTIVE],
    silences: &[],
    check: Check::Kernel(check),
};

const ACTIVE: Threshold =
    Threshold::new("active", BUSY, "1", "NVIDIA's rules count a unit as well utilized from here");

fn check(subject: &Subject<'_>) -> Judgment {
    let kernel = subject.kernel;
    let measured = subject.get(Quantity::TensorActive);
    match subject.uses_tensor_cores() {
        Ok(true) => {}
        Err(missing) if subject.class().is_product() => return Err(missing),
        Ok(false) | Err(_) => return Ok(None),
    }
    let tensor = kernel.work.iter().filter(|work| work.pipe.engine() == Engine::Matrix);
    let tensor: Seconds = tensor.map(|work| work.time).sum();
    let math = kernel.math_time.ok_or(Missing("sm__ops_path_tensor_*"))?;
    let memory = kernel.memory_time.ok_or(Missing("dram__bytes.sum"))?;
    // Larger tiles do not help where CUDA cores have more to do. Pipes that share hardware add up in t_math.
    let others = kernel.work.iter().filter(|work| work.pipe.engine() != Engine::Matrix);
    let other = others.map(|work| work.time).max_by(|one, two| one.get().total_cmp(&two.get()));
    let busy = tensor.max(kernel.modeled * measured.unwrap_or(0.0));
    let waits_for_another = tensor > Seconds::ZERO && other.is_some_and(|other| other > busy);
    let is_saturated = subject.utilization(Unit::Dram).is_ok_and(|used| used >= BUSY);
    let roof =
        (tensor > Seconds::ZERO && kernel.modeled > Seconds::ZERO).then(|| tensor / kernel.modeled);
    let active = measured.or(roof).ok_or(Missing(crate::rules::engine::pipes::PIPES[0].metric))?;
    if math <= memory || waits_for_another || is_saturated || active >= subject.threshold(&ACTIVE) {
        return Ok(None);
    }
    let message = format!(
        "compute-bound, but the tensor pipe is {} only {} of the time",
        if measured.is_some() { "active" } else { "needed" },
        whole_percent(active)
    );
    let tile = subject.class().tile;
    let finding = subject
        .finding(message, subject.gap_to(achievable::MATRIX))
        .confidence(if measured.is_some() { Confidence::Medium } else { Confidence::Low })
        .evidence_if("tensor pipe active", measured, "1")
        .evidence_if("share of the tensor roof", roof, "1")
        .evidence_if("tile rows", tile.map(|tile| f64::from(tile.0)), "1")
        .evidence_if("tile columns", tile.map(|tile| f64::from(tile.1)), "1")
        .evidence_if("pipeline stages", subject.class().stages.map(f64::from), "1")
        .evidence_if("waves", subject.get(Quantity::Waves), "1")
        .next("use larger tiles or a larger batch, then a different library version");
    Ok(Some(finding))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Pipe;
    use crate::rules::engine::bench_table::kernel;

    const NAME: &str = "ampere_fp16_s16816gemm_fp16_128x128";

    #[test]
    fn an_idle_tensor_pipe_is_found() {
        let slow = kernel(NAME, 100.0).work(Pipe::Fp16Matrix, 30e9).bytes(1e7);
        let found = slow.set(Quantity::TensorActive, 0.33).found(&RULE);
        let most = 100e-6 - 30e9 / 989.4e12 / 0.8;
        assert!((found.at_stake_s - most).abs() < 1e-6, "{}", found.at_stake_s);
        assert!(found.at_stake_low_s <= found.at_stake_s);
    }

    #[test]
    fn a_busy_pipe_and_a_memory_bound_kernel_are_left_alone() {
        let fast = kernel(NAME, 40.0).work(Pipe::Fp16Matrix, 30e9).bytes(1e7);
        assert!(fast.set(Quantity::TensorActive, 0.8).is_fine(&RULE));
        let skinny = kernel(NAME, 100.0).work(Pipe::Fp16Matrix, 3e9).bytes(2e8);
        assert!(skinny.set(Quantity::TensorActive, 0.05).is_fine(&RULE));
        let single = kernel("ampere_sgemm_128x64_nn", 1000.0).work(Pipe::Fp32Vector, 10e9);
        assert!(single.bytes(1e7).is_fine(&RULE));
    }

    /// 10 GFLOP of FP32 need 149 µs of an H100 and 50 GFLOP of FP16 51 µs: FP32 limits.
    #[test]
    fn a_tensor_pipe_that_waits_for_cuda_cores_is_left_alone() {
        let mixed = |fp32| {
            kernel(NAME, 500.0).work(Pipe::Fp16Matrix, 50e9).work(Pipe::Fp32Vector, fp32).bytes(1e7)
        };
        assert!(mixed(10e9).is_fine(&RULE));
        assert!(!mixed(3e9).is_fine(&RULE));
        // Half the time active, which is longer than FP32 needs.
        assert!(!mixed(10e9).set(Quantity::TensorActive, 0.5).is_fine(&RULE));
        // An epilogue in FP64, which shares hardware with tensor cores there, is no other work to wait for.
        let epilogue = kernel(NAME, 500.0).work(Pipe::Fp16Matrix, 50e9).work(Pipe::Fp64Vector, 1e6);
        assert!(!epilogue.bytes(1e7).is_fine(&RULE));
    }

    #[test]
    fn without_bytes_it_cannot_judge() {
        let bare = kernel(NAME, 100.0).work(Pipe::Fp16Matrix, 30e9);
        assert_eq!(bare.lacks(&RULE), "dram__bytes.sum");
    }
}
