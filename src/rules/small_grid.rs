//! Flags kernels that launch too few blocks to occupy every multiprocessor.

use super::{Finding, Missing, Rule, Severity, Subject};
use crate::units::Seconds;

pub(super) const RULE: Rule = Rule {
    id: "small-grid",
    severity: Severity::High,
    summary: "fewer blocks than multiprocessors",
    documentation: "\
## What it finds
Kernels whose grid has fewer blocks than the device has multiprocessors.

## Why it costs time
A block runs on one multiprocessor. With fewer blocks than multiprocessors, some of the device never
gets work, however well the kernel is written.

## How it decides
Blocks in the grid < multiprocessors of the device. (NVIDIA's *GPU Performance Background* asks for
four times as many blocks as multiprocessors before parallelism counts as sufficient.)

## What to try
Split the work into more blocks (split-K, smaller tiles), process several inputs in one launch, or
run independent kernels side by side on other streams.

## When it is wrong
Kernels meant to run beside others, and persistent kernels that use clusters of a few multiprocessors.
",
    check,
};

fn check(subject: &Subject<'_>) -> Result<Option<Finding>, Missing> {
    let kernel = subject.kernel;
    let blocks = kernel.shape.blocks.ok_or(Missing("launch__grid_size"))?;
    let sms = subject.sms.ok_or(Missing("launch__sm_count"))?;
    if blocks >= u64::from(sms) {
        return Ok(None);
    }
    let idle = 1.0 - blocks as f64 / f64::from(sms);
    let message = format!(
        "{blocks} block{} on {sms} multiprocessors: {:.0} % of the device has no work",
        if blocks == 1 { "" } else { "s" },
        idle * 100.0
    );
    let at_stake = Seconds::new(kernel.measured.get() * idle);
    Ok(Some(
        Finding::new(&RULE, subject, message, at_stake)
            .evidence("blocks", blocks as f64)
            .evidence("multiprocessors", f64::from(sms)),
    ))
}
