//! Flags products on Hopper that use the warp-level matrix instructions of older devices.

use crate::model::Quantity;
use crate::roofline::achievable;
use crate::rules::{Check, Confidence, Judgment, Missing, Rule, Subject, Threshold};
use crate::units::whole_percent;

pub(super) const RULE: Rule = Rule {
    id: "warp-mma-on-hopper",
    summary: "a product on Hopper uses the matrix instructions of older GPUs",
    documentation: "\
## What it finds
Tensor-core kernels on Hopper whose matrix instructions are warp-level (`mma.sync`, HMMA in SASS)
instead of warp-group-level (`wgmma`, HGMMA).

## Why it costs time
On Hopper only warp-group instructions, with operands in shared memory, reach the full rate.
Warp-level ones are reported to reach about 60% of it.

## Detection
Compute capability 9.0, warp-level instructions are more than `share` of the tensor operations,
and the kernel is compute-bound (t_math > t_mem).

## Remedy
Use a library built for `sm_90a`: cuBLAS 12 or later, CUTLASS 3 or later, FlashAttention-3, Triton
3 or later.

## False positives
Products too small for a tile of 64 rows gain nothing. FP64 has no other instructions on Hopper.

## Sources
Luo et al., *Benchmarking and Dissecting the Nvidia Hopper GPU Architecture via Microbenchmarking*,
arXiv 2402.13499; *PTX ISA*, \"Asynchronous Warpgroup Level Matrix Instructions\"; CUTLASS 3 documentation.
",
    thresholds: &[SHARE],
    silences: &["low-tensor-utilization", "old-architecture-kernel", "warp-stalls"],
    check: Check::Kernel(check),
};

const SHARE: Threshold =
    Threshold::new("share", 0.90, "1", "a fused kernel may use some for its small products");

fn check(subject: &Subject<'_>) -> Judgment {
    let kernel = subject.kernel;
    if subject.capability()?.is_none_or(|(major, _)| major != 9) {
        return Ok(None);
    }
    let tensor = subject.uses_tensor_cores();
    if tensor == Ok(false) || (tensor.is_err() && !subject.class().is_product()) {
        return Ok(None);
    }
    let metric = "sm__ops_path_tensor_op_hmma_* and …_op_hgmma_*";
    let share = subject.need(Quantity::WarpMmaShare, metric)?;
    if share <= subject.threshold(&SHARE) {
        return Ok(None);
    }
    let math = kernel.math_time.ok_or(Missing("sm__ops_path_tensor_*"))?;
    // Where bytes were not counted, how busy memory was shows the longer side.
    let busy = subject.get(Quantity::MemoryThroughput).map(|busy| kernel.measured * busy);
    if math <= kernel.memory_time.or(busy).ok_or(Missing("dram__bytes_read.sum"))? {
        return Ok(None);
    }
    let built = subject.class().built_for.as_ref();
    let built = built
        .map_or_else(String::new, |built| format!("; the kernel was built for {}", built.name));
    let message = format!(
        "{} of its tensor operations use warp-level mma instead of Hopper's faster warp-group \
         wgmma{built}",
        whole_percent(share)
    );
    let finding = subject
        .finding(message, subject.gap_to(achievable::MATRIX))
        .confidence(Confidence::High)
        .evidence("warp-level share of the tensor operations", share, "1")
        .evidence_if("tensor pipe active", subject.get(Quantity::TensorActive), "1")
        .next("run the same product with cuBLAS 12 or later, or with CUTLASS built for sm_90a");
    Ok(Some(finding))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Pipe;
    use crate::rules::engine::bench_table::{Bench, kernel};

    fn product() -> Bench {
        let name = "ampere_fp16_s16816gemm_fp16_128x128";
        kernel(name, 100.0).work(Pipe::Fp16Matrix, 30e9).bytes(1e7)
    }

    #[test]
    fn warp_level_instructions_are_found_on_hopper_only() {
        let found = product().set(Quantity::WarpMmaShare, 1.0).found(&RULE);
        assert!(found.at_stake_s > 60e-6, "{}", found.at_stake_s);
        assert!(found.message.ends_with("the kernel was built for ampere"), "{}", found.message);
        assert!(product().set(Quantity::WarpMmaShare, 0.1).is_fine(&RULE));
        assert!(product().on("NVIDIA A100-SXM4-80GB").is_fine(&RULE));
        // Without bytes: memory 70% busy, for 70 µs, and 30 GFLOP at 989 TFLOP/s, 30 µs.
        let open =
            || kernel("ampere_fp16_s16816gemm_fp16_128x128", 100.0).work(Pipe::Fp16Matrix, 30e9);
        let open = || open().set(Quantity::WarpMmaShare, 1.0);
        assert!(open().set(Quantity::MemoryThroughput, 0.7).is_fine(&RULE));
        assert!(open().set(Quantity::MemoryThroughput, 0.1).found(&RULE).at_stake_s > 0.0);
        assert!(open().lacks(&RULE).contains("dram__bytes"));
    }

    #[test]
    fn without_counters_it_cannot_judge() {
        assert!(product().lacks(&RULE).contains("hgmma"));
        assert!(kernel("reduce_kernel", 100.0).bytes(1e7).is_fine(&RULE));
    }
}
