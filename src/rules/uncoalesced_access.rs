//! Flags kernels whose warps fetch more cache sectors per request than their data needs.

use super::{Finding, Missing, Rule, Severity, Subject};
use crate::model::Quantity;
use crate::units::Seconds;

pub(super) const RULE: Rule = Rule {
    id: "uncoalesced-access",
    severity: Severity::High,
    summary: "warps touch many more memory sectors than their data fills",
    documentation: "\
## What it finds
Global loads or stores that touch more 32-byte sectors per warp request than contiguous access would.

## Why it costs time
Memory moves whole sectors. A warp whose 32 threads read 4-byte elements side by side touches 4
sectors; scattered, it touches up to 32, and most of each sector is thrown away.

## How it decides
Sectors per request of global loads or stores is above 16: the most that contiguous 16-byte accesses
of a warp can need. Below that, wide elements explain the number.

## What to try
Let neighbouring threads read neighbouring addresses; turn arrays of structures into structures of
arrays; stage irregular accesses through shared memory.

## When it is wrong
Gathers whose indices are truly random have nothing to coalesce; caching or sorting helps instead.
",
    check,
};

/// A warp of 32 threads reading 16 bytes each, side by side, fills 16 sectors.
const WIDEST_COALESCED: f64 = 16.0;

fn check(subject: &Subject<'_>) -> Result<Option<Finding>, Missing> {
    let kernel = subject.kernel;
    let sides = [
        ("loads", kernel.average(Quantity::LoadSectorsPerRequest)),
        ("stores", kernel.average(Quantity::StoreSectorsPerRequest)),
    ];
    if sides.iter().all(|(_, sectors)| sectors.is_none()) {
        return Err(Missing("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum and …requests…"));
    }
    let worst = sides
        .into_iter()
        .filter_map(|(side, sectors)| Some((side, sectors?)))
        .max_by(|one, two| one.1.total_cmp(&two.1));
    let Some((side, sectors)) = worst.filter(|(_, sectors)| *sectors > WIDEST_COALESCED) else {
        return Ok(None);
    };
    let message = format!(
        "global {side} touch {sectors:.1} sectors per warp request; 4 suffice for 4-byte elements side by side"
    );
    // The traffic beyond the widest coalesced access could go, and with it that share of the time.
    let at_stake = Seconds::new(kernel.measured.get() * (1.0 - WIDEST_COALESCED / sectors));
    Ok(Some(
        Finding::new(&RULE, subject, message, at_stake)
            .evidence(format!("sectors per request, global {side}"), sectors),
    ))
}
