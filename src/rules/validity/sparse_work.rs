//! Tells of kernels whose tensor operations are structured-sparse: another roof is theirs.

use crate::analysis::{State, Work};
use crate::model::{Engine, OriginKind, Pipe};
use crate::rules::{Check, Confidence, Judgment, Missing, Rule, Subject};
use crate::units::{Flops, Seconds, whole_percent};

pub(super) const RULE: Rule = Rule {
    id: "sparse-work",
    summary: "some tensor operations are structured-sparse; the sparse roof is used",
    documentation: "\
## What it finds
Kernels for which some tensor operations are counted as structured-sparse: two of four neighboring
values of one operand are zero and skipped.

## Why it costs time
No time is lost, but tensor cores do up to twice as much such work in the same time, so it has its
own roof. Compared with the dense roof, a sparse product would look up to twice as good as it is.

## Detection
A counter of sparse operations (`…_sparsity_on`) is above zero. That part of the work is compared
with the catalog's sparse peak, the rest with the dense one.

## Remedy
Compare with the dense product in time, not in FLOP/s: the sparse one does half of the
multiplications.

## False positives
NVIDIA does not document whether these counters include the skipped multiplications. If they do
not, the roofline time of this part is up to half of what it should be, and the headroom up to
twice.

## Sources
*Nsight Compute Profiling Guide*, \"Roofline Charts\" and \"Metrics Reference\"; NVIDIA, *A100 Tensor Core
GPU Architecture* (white paper), \"Fine-Grained Structured Sparsity\"; A. Mishra et al., *Accelerating
Sparse Deep Neural Networks*, arXiv 2104.08378.
",
    thresholds: &[],
    silences: &[],
    check: Check::KernelAlso(State::FasterThanRoofline, check),
};

/// Whether a format has sparse work that a counter without sparsity would hide.
fn hides(subject: &Subject<'_>, work: &Work) -> bool {
    let is_dense = work.pipe.engine() == Engine::Matrix && !work.pipe.is_sparse();
    if !is_dense || work.operations <= Flops::ZERO {
        return false;
    }
    let is_twin = |pipe: Pipe| pipe.is_sparse() && pipe.dense() == work.pipe;
    let has_twin = Pipe::ALL.iter().any(|pipe| is_twin(*pipe));
    let is_counted = subject.kernel.work.iter().any(|other| is_twin(other.pipe));
    has_twin && !is_counted
}

fn check(subject: &Subject<'_>) -> Judgment {
    let kernel = subject.kernel;
    let sparse = subject.operations(Pipe::is_sparse);
    if sparse <= Flops::ZERO {
        // Shapes tell dense work; before Ampere there is no other.
        let is_ampere = subject.compute_capability().is_none_or(|(major, _)| major >= 8);
        let can_hide = kernel.provenance != Some(OriginKind::Algorithmic) && is_ampere;
        if can_hide && kernel.work.iter().any(|work| hides(subject, work)) {
            return Err(Missing("sm__ops_path_tensor_*_sparsity_on.sum"));
        }
        return Ok(None);
    }
    let all = subject.operations(|pipe| pipe.engine() == Engine::Matrix);
    let parts = kernel.work.iter().filter(|work| work.pipe.is_sparse());
    let time: Seconds = parts.map(|work| work.time).sum();
    let share = sparse / all;
    let part = if share < 0.01 { "less than 1%".to_owned() } else { whole_percent(share) };
    let message = format!(
        "{part} of its tensor operations are structured-sparse: they are compared with the sparse roof"
    );
    let finding = subject
        .info(message)
        .confidence(Confidence::High)
        .evidence("sparse operations", sparse.get(), "FLOP")
        .evidence("share of all tensor operations", share, "1")
        .evidence("time they need at the sparse roof", time.get(), "s")
        .next("compare it with the dense product by time, not by FLOP/s");
    Ok(Some(finding))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Severity;
    use crate::rules::engine::bench_table::{Bench, kernel};

    const NAME: &str = "sm90_xmma_sparse_gemm_bf16";

    fn product() -> Bench {
        kernel(NAME, 100.0).bytes(1e7)
    }

    #[test]
    fn sparse_operations_are_told() {
        let found =
            product().work(Pipe::Bf16MatrixSparse, 60e9).work(Pipe::Bf16Matrix, 20e9).found(&RULE);
        assert_eq!((found.severity, found.at_stake_s), (Severity::Info, 0.0));
        assert!(found.message.starts_with("75% of its tensor"), "{}", found.message);
        // 60 GFLOP at the 1979 TFLOP/s of an H100: 30.3 µs.
        let time = found.evidence.iter().find(|one| one.unit == "s").unwrap();
        assert!((time.value - 30.3e-6).abs() < 0.1e-6, "{}", time.value);
    }

    #[test]
    fn dense_work_is_left_alone() {
        let dense = product().work(Pipe::Bf16MatrixSparse, 0.0).work(Pipe::Bf16Matrix, 20e9);
        assert!(dense.is_fine(&RULE));
        assert!(product().work(Pipe::Fp32Vector, 1e9).is_fine(&RULE));
        // No sparse twin, and no sparsity before Ampere.
        assert!(product().work(Pipe::Fp64Matrix, 1e9).is_fine(&RULE));
        let volta = kernel(NAME, 1000.0).bytes(1e7).on("Tesla V100-SXM2-16GB");
        assert!(volta.work(Pipe::Fp16Matrix, 20e9).is_fine(&RULE));
    }

    #[test]
    fn a_counter_without_sparsity_cannot_tell() {
        let dense = product().work(Pipe::Bf16Matrix, 20e9);
        assert_eq!(dense.lacks(&RULE), "sm__ops_path_tensor_*_sparsity_on.sum");
    }
}
