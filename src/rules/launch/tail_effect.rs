//! Flags kernels whose last wave of blocks leaves much of the device idle.

use crate::roofline;
use crate::rules::{Check, Confidence, Judgment, Rule, Subject, Threshold};

pub(super) const RULE: Rule = Rule {
    id: "tail-effect",
    summary: "the last wave of blocks leaves SMs idle",
    documentation: "\
## What it finds
Kernels that run a few waves of blocks, the last of which fills only part of the device.

## Why it costs time
Blocks run in waves of (SMs × resident blocks). A last wave of one block takes almost as long as a
full one.

## Detection
There are one to `waves` waves, and at least `lost` of the SM time is lost by the lower estimate:
1 − (blocks ÷ SMs) ÷ (full waves × resident blocks + ⌈rest ÷ SMs⌉).

## Remedy
Choose tile or block sizes so that the grid is a multiple of a wave; use smaller tiles, split-K,
stream-K or persistent kernels.

## False positives
Blocks of very different length even out by themselves. Persistent kernels have one wave by design
and are exempt where name or grid show it. So are launches that take hardly longer than an empty
one, and kernels that had others beside them for half of their time or more.

## Sources
NVIDIA, *Matrix Multiplication Background*, \"Wave Quantization\"; `LaunchConfiguration.py` of Nsight
Compute; *Nsight Compute Profiling Guide*, \"Occupancy\".
",
    thresholds: &[WAVES, LOST],
    silences: &["sm-load-imbalance", "low-achieved-occupancy"],
    check: Check::Kernel(check),
};

const WAVES: Threshold =
    Threshold::new("waves", 8.0, "1", "above this, the tail is a small share of the time");

const LOST: Threshold = Threshold::new("lost", 0.10, "1", "smaller savings are not worth a change");

fn check(subject: &Subject<'_>) -> Judgment {
    let (blocks, sms, resident) = (subject.blocks()?, subject.sms()?, subject.resident()?);
    if subject.is_persistent() || subject.is_short() || subject.is_shared() {
        return Ok(None);
    }
    let waves = roofline::waves(blocks, sms, resident);
    let lost = 1.0 - roofline::sm_efficiency(blocks, sms, resident);
    let most = 1.0 - roofline::wave_efficiency(blocks, sms, resident);
    // What the subtraction rounds away does not decide.
    let is_little = lost + f64::EPSILON < subject.threshold(&LOST);
    if !(1.0..subject.threshold(&WAVES)).contains(&waves) || is_little {
        return Ok(None);
    }
    let (least, most) = (lost * 100.0, most.max(lost) * 100.0);
    let range = if most - least < 1.0 {
        format!("{least:.0}%")
    } else {
        format!("{least:.0}–{most:.0}%")
    };
    let wave = u64::from(sms) * u64::from(resident);
    let message = format!(
        "{waves:.2} waves of {wave} blocks: the partial last wave wastes {range} of the time"
    );
    let rest = blocks % wave;
    let finding = subject
        .finding(message, subject.tail()?)
        .confidence(Confidence::Medium)
        .evidence("waves", waves, "1")
        .evidence("blocks in the last wave", rest as f64, "1")
        .evidence("resident blocks per SM", f64::from(resident), "1")
        .evidence("share lost, at least", lost, "1")
        .next(subject.rewrite(format!(
            "make the grid a multiple of {wave} blocks, or slightly smaller than a multiple"
        )));
    Ok(Some(finding))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::model::Quantity;
    use crate::rules::engine::bench_table::kernel;

    /// 133 blocks on 132 SMs, one at a time: the second wave has one block. Others that run for half of the time fill the rest.
    #[test]
    fn a_tail_beside_other_kernels_wastes_nothing() {
        let is_fine = |beside_us: f64| {
            let tail = kernel("k", 1000.0).grid(133, 256).set(Quantity::ResidentBlocksPerSm, 1.0);
            tail.beside(beside_us).is_fine(&RULE)
        };
        assert_eq!([0.0, 499.0, 500.0].map(is_fine), [false, false, true]);
    }

    /// Who profiles a program calls the kernels of libraries, and does not write them.
    #[test]
    fn the_caller_of_a_library_is_advised_and_not_its_author() {
        let next = |name: &'static str| {
            let tail = kernel(name, 1000.0).grid(133, 256).set(Quantity::ResidentBlocksPerSm, 1.0);
            tail.found(&RULE).next.unwrap()
        };
        assert!(next("k").starts_with("make the grid a multiple of 132 blocks"));
        let fill = "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>(int)";
        for (name, says) in [
            ("maxwell_sgemmBatched_64x64_raggedMn_nn", "call cuBLAS with other sizes"),
            (fill, "fuse this PyTorch kernel"),
        ] {
            assert!(next(name).starts_with(says), "{}", next(name));
        }
    }
}
