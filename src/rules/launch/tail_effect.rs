//! Flags kernels whose last wave of blocks leaves much of the device idle.

use crate::roofline;
use crate::rules::{Check, Confidence, Judgment, Rule, Subject, Threshold};

pub(super) const RULE: Rule = Rule {
    id: "tail-effect",
    summary: "the last wave of blocks leaves multiprocessors idle",
    documentation: "\
## What it finds
Kernels that run a few waves of blocks, the last of which fills only part of the device.

## Why it costs time
Blocks run in waves of (multiprocessors × resident blocks). A last wave with one block takes almost
as long as a full one.

## How it decides
From one to `waves` waves, and at least `lost` of the multiprocessor time lost by the lower estimate:
1 − (blocks ÷ SMs) ÷ (full waves × resident blocks + ⌈rest ÷ SMs⌉).

## What to try
Choose tile or block sizes so that the grid is a multiple of a wave; smaller tiles; split-K or
stream-K; persistent kernels.

## When it is wrong
Blocks of very different length even out by themselves; persistent kernels have one wave by design,
and are left alone where name or grid tell. So are launches that take hardly longer than any.

## Sources
NVIDIA, *Matrix Multiplication Background*, \"Wave Quantization\"; `LaunchConfiguration.py` of Nsight
Compute; *Nsight Compute Profiling Guide*, \"Occupancy\".
",
    thresholds: &[WAVES, LOST],
    silences: &["sm-load-imbalance", "low-achieved-occupancy"],
    check: Check::Kernel(check),
};

const WAVES: Threshold =
    Threshold::new("waves", 8.0, "1", "beyond, the tail is a small share of the whole");

const LOST: Threshold = Threshold::new("lost", 0.10, "1", "less is not worth a change");

fn check(subject: &Subject<'_>) -> Judgment {
    let (blocks, sms, resident) = (subject.blocks()?, subject.sms()?, subject.resident()?);
    if subject.is_persistent() || subject.is_short() {
        return Ok(None);
    }
    let waves = roofline::waves(blocks, sms, resident);
    let lost = 1.0 - roofline::sm_efficiency(blocks, sms, resident);
    let most = 1.0 - roofline::wave_efficiency(blocks, sms, resident);
    if !(1.0..subject.threshold(&WAVES)).contains(&waves) || lost < subject.threshold(&LOST) {
        return Ok(None);
    }
    let (least, most) = (lost * 100.0, most.max(lost) * 100.0);
    let range = if most - least < 1.0 {
        format!("{least:.0}%")
    } else {
        format!("{least:.0} to {most:.0}%")
    };
    let wave = u64::from(sms) * u64::from(resident);
    let message =
        format!("{waves:.2} waves of {wave} blocks: the last one wastes {range} of the time");
    let rest = blocks % wave;
    let finding = subject
        .finding(message, subject.tail()?)
        .confidence(Confidence::Medium)
        .evidence("waves", waves, "1")
        .evidence("blocks in the last wave", rest as f64, "1")
        .evidence("resident blocks per multiprocessor", f64::from(resident), "1")
        .evidence("share lost, at least", lost, "1")
        .next(format!("make the grid a multiple of {wave} blocks, or a little less"));
    Ok(Some(finding))
}
