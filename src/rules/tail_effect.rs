//! Flags kernels whose last wave of blocks leaves much of the device idle.

use super::{Finding, Missing, Rule, Severity, Subject};
use crate::model::Quantity;
use crate::roofline;
use crate::units::Seconds;

pub(super) const RULE: Rule = Rule {
    id: "tail-effect",
    severity: Severity::Medium,
    summary: "the last wave of blocks leaves multiprocessors idle",
    documentation: "\
## What it finds
Kernels that run a few waves of blocks, the last of which fills only part of the device.

## Why it costs time
Blocks run in waves of (multiprocessors × resident blocks). A last wave with one block takes almost
as long as a full one.

## How it decides
Between one and eight waves, and at least 10 % of the multiprocessor time lost by the lower estimate:
1 − (blocks ÷ SMs) ÷ (full waves × resident blocks + ⌈rest ÷ SMs⌉).

## What to try
Choose tile or block sizes so that the grid is a multiple of a wave; smaller tiles; split-K or
stream-K; persistent kernels.

## When it is wrong
Blocks of very different length even out by themselves; persistent kernels have one wave by design.
",
    check,
};

/// Beyond this many waves the tail is a small share of the whole.
const WAVES: f64 = 8.0;

/// Less than this is not worth a change.
const LOST: f64 = 0.10;

fn check(subject: &Subject<'_>) -> Result<Option<Finding>, Missing> {
    let kernel = subject.kernel;
    let blocks = kernel.shape.blocks.ok_or(Missing("launch__grid_size"))?;
    let sms = subject.sms.ok_or(Missing("launch__sm_count"))?;
    let resident = subject.need(Quantity::ResidentBlocksPerSm, "launch__occupancy_limit_*")? as u32;
    if blocks == 0 || sms == 0 || resident == 0 {
        return Ok(None);
    }
    let waves = roofline::waves(blocks, sms, resident);
    let lost = 1.0 - roofline::sm_efficiency(blocks, sms, resident);
    if !(1.0..WAVES).contains(&waves) || lost < LOST {
        return Ok(None);
    }
    let most = 1.0 - roofline::wave_efficiency(blocks, sms, resident);
    let (least, most) = (lost * 100.0, most.max(lost) * 100.0);
    let range = if most - least < 1.0 {
        format!("{least:.0} %")
    } else {
        format!("{least:.0} to {most:.0} %")
    };
    let message = format!(
        "{waves:.2} waves of {} blocks: the last one wastes {range} of the time",
        u64::from(sms) * u64::from(resident),
    );
    let at_stake = Seconds::new(kernel.measured.get() * lost);
    Ok(Some(
        Finding::new(&RULE, subject, message, at_stake)
            .evidence("waves", waves)
            .evidence("share lost", lost),
    ))
}
