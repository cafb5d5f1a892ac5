//! Notes FP64 kernels on devices that have few FP64 units.

use crate::model::{Pipe, Precision, Quantity};
use crate::rules::{Check, Judgment, Missing, Rule, Subject, Threshold};
use crate::units::whole_percent;

pub(super) const RULE: Rule = Rule {
    id: "fp64-on-consumer-gpu",
    summary: "FP64 work on a device with few FP64 units",
    documentation: "\
## What it finds
Kernels that compute in FP64 on a device with at most one FP64 unit per 32 FP32 units.

## Why it costs time
Such devices support FP64 for compatibility only: the FP64 pipe is full while everything else
waits.

## Detection
FP64 is at least `share` of the FLOPs, the device's FP64 peak is at most `ratio` of its FP32 peak,
and the FP64 pipe is at least `busy` busy, by its utilization or by the time its operations need.

## Remedy
Use another device (V100, A100, H100 and B200 run FP64 at half the FP32 rate); FP32 with
compensated summation; FP32 with iterative refinement; pairs of FP32.

## False positives
Where results need FP64 and the run is short, nothing is wrong. The finding is informational and
claims no savings; its evidence shows what FP32 would save.

## Sources
*CUDA C++ Programming Guide*, \"Arithmetic Instructions\" (results per clock and multiprocessor).
",
    thresholds: &[SHARE, RATIO, USED],
    silences: &["pipe-saturated"],
    check: Check::Kernel(check),
};

const SHARE: Threshold = Threshold::new("share", 0.50, "1", "most of the kernel's math is FP64");

const RATIO: Threshold = Threshold::new(
    "ratio",
    0.032,
    "1",
    "1/32 or less, with room for rounded peaks; devices built for FP64 have 1/2",
);

const USED: Threshold =
    Threshold::new("busy", 0.50, "1", "below this, something else takes the time");

fn check(subject: &Subject<'_>) -> Judgment {
    if !subject.kernel.work.iter().any(|work| work.pipe == Pipe::Fp64Vector) {
        return Err(Missing(
            "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum and …dadd…, …dmul…",
        ));
    }
    let share = subject.share_of_flops(|pipe| pipe.precision() == Precision::Fp64);
    let Some(share) = share.filter(|share| *share >= subject.threshold(&SHARE)) else {
        return Ok(None);
    };
    let device = subject.device()?;
    let peak = |pipe| device.need_peak(pipe).map_err(|_| Missing("peak of the pipe"));
    let ratio = peak(Pipe::Fp64Vector)? / peak(Pipe::Fp32Vector)?;
    let measured = subject.get(Quantity::PipeFp64);
    let used = measured.into_iter().chain(subject.roof_of(Pipe::Fp64Vector)).fold(0.0, f64::max);
    if ratio > subject.threshold(&RATIO) || used < subject.threshold(&USED) {
        return Ok(None);
    }
    let message = format!(
        "FP64 runs at 1/{:.0} of the FP32 rate on {}, and the FP64 pipe is {} busy",
        1.0 / ratio,
        device.name,
        whole_percent(used)
    );
    let saved = subject.pipe(Pipe::Fp32Vector).ok().map(|stake| stake.high.get());
    let finding = subject
        .info(message)
        .evidence("FP64 share of the FLOPs", share, "1")
        .evidence("FP64 peak over FP32 peak", ratio, "1")
        .evidence("FP64 pipe utilization", used, "1")
        .evidence_if("time saved by FP32, if it is accurate enough", saved, "s")
        .next("use FP32 with compensated summation, or a device with full-rate FP64");
    Ok(Some(finding))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Severity;
    use crate::rules::engine::bench_table::kernel;

    #[test]
    fn fp64_is_noted_on_a_consumer_device_only() {
        let on = |device| {
            let kernel = kernel("dgemm", 1000.0).on(device).bytes(1e7);
            kernel.work(Pipe::Fp64Vector, 0.5e9)
        };
        let found = on("NVIDIA GeForce RTX 3090").found(&RULE);
        assert_eq!((found.severity, found.at_stake_s), (Severity::Info, 0.0));
        assert!(found.message.contains("1/64"), "{}", found.message);
        assert!(on("NVIDIA H100 80GB HBM3").is_fine(&RULE));
    }

    #[test]
    fn an_idle_pipe_is_left_alone() {
        let kernel = kernel("k", 1000.0).on("NVIDIA GeForce RTX 3090").bytes(1e7);
        assert!(kernel.work(Pipe::Fp64Vector, 0.1e9).is_fine(&RULE));
    }

    #[test]
    fn without_counts_it_cannot_judge() {
        assert!(kernel("dgemm", 1000.0).bytes(1e8).lacks(&RULE).contains("dfma"));
    }
}
