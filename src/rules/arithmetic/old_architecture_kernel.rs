//! Flags products whose kernel was built for an older generation than the device.

use crate::roofline::{BUSY, achievable};
use crate::rules::{Check, Confidence, Judgment, Missing, Rule, Subject, Unit};
use crate::taxonomy::Category;
use crate::units::whole_percent;

pub(super) const RULE: Rule = Rule {
    id: "old-architecture-kernel",
    summary: "a product runs in a kernel built for an older GPU generation",
    documentation: "\
## What it finds
Products whose name shows an older major generation than the device they ran on, such as
`ampere_…` on Hopper, and that keep no unit busy.

## Why it costs time
Each generation has its own matrix and copy instructions; a kernel built for an older one runs
without them.

## Detection
The architecture in the name is at least one major compute capability older than the device, the
kernel is a matmul, convolution or attention, and its busiest unit stays below 60%.

## Remedy
Use a newer cuBLAS, cuDNN or framework; build with `-gencode` for the device; try another
heuristic or autotuning.

## False positives
Libraries keep older kernels where they are the fastest for some shapes. Compute capability 12.x
has the matrix instructions of 8.x, and kernels for 8.x are meant for it: those pairs are exempt.

## Sources
*CUDA C++ Programming Guide*, \"Compute Capabilities\"; cuBLAS and CUTLASS kernel names.
",
    thresholds: &[],
    silences: &["low-tensor-utilization"],
    check: Check::Kernel(check),
};

fn check(subject: &Subject<'_>) -> Judgment {
    let class = subject.class();
    if class.category != Category::DotProduct {
        return Ok(None);
    }
    let built = class.built_for.as_ref().and_then(|built| Some((built, built.compute_capability?)));
    let Some((architecture, built)) = built else { return Ok(None) };
    let Some(device) = subject.capability()? else { return Ok(None) };
    let is_same = built.0 >= device.0 || (device.0 == 12 && built.0 >= 8);
    if is_same {
        return Ok(None);
    }
    let busy = subject.busiest();
    if busy <= 0.0 {
        return Err(Missing(Unit::Sm.metric()));
    }
    if busy >= BUSY {
        return Ok(None);
    }
    let message = format!(
        "built for {} but runs on compute capability {}.{}, and no unit is more than {} busy",
        architecture.name,
        device.0,
        device.1,
        whole_percent(busy)
    );
    let finding = subject
        .finding(message, subject.gap_to(achievable::MATRIX))
        .confidence(Confidence::Low)
        .evidence("compute capability it was built for", f64::from(built.0), "1")
        .evidence("compute capability of the device", f64::from(device.0), "1")
        .evidence("busiest unit", busy, "1")
        .next(
            "run the same product with the newest cuBLAS or cuDNN, and check which kernel is \
             chosen",
        );
    Ok(Some(finding))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Pipe;
    use crate::rules::engine::bench_table::{Bench, kernel};

    fn product(name: &'static str) -> Bench {
        kernel(name, 100.0).work(Pipe::Fp16Matrix, 30e9).bytes(1e7)
    }

    #[test]
    fn a_kernel_of_an_older_generation_is_found() {
        let found = product("ampere_fp16_s16816gemm_fp16_128x128").found(&RULE);
        assert_eq!(found.confidence, Confidence::Low);
        assert!(found.message.starts_with("built for ampere"), "{}", found.message);
    }

    #[test]
    fn the_same_generation_and_a_busy_unit_are_left_alone() {
        let same = product("ampere_fp16_s16816gemm_fp16_128x128").on("NVIDIA A100-SXM4-80GB");
        assert!(same.is_fine(&RULE));
        let busy = kernel("ampere_fp16_s16816gemm_fp16_128x128", 40.0);
        assert!(busy.work(Pipe::Fp16Matrix, 30e9).bytes(1e7).is_fine(&RULE));
        assert!(product("my_gemm").is_fine(&RULE));
    }

    #[test]
    fn without_any_unit_it_cannot_judge() {
        let bare = kernel("ampere_fp16_s16816gemm_fp16_128x128", 100.0);
        assert_eq!(bare.lacks(&RULE), Unit::Sm.metric());
    }
}
