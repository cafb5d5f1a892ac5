//! Tells which kernels are faster than the model allows: a figure behind them is wrong.

use crate::analysis::State;
use crate::model::OriginKind;
use crate::rules::engine::shares::Together;
use crate::rules::{Check, Confidence, Finding, Missing, Rule, Run, Severity};
use crate::units::si;

pub(super) const RULE: Rule = Rule {
    id: "faster-than-roof",
    summary: "kernels run faster than their roofline time",
    documentation: "\
## What it finds
Kernels that took less time than their bytes or operations need at the device's peak.

## Why it costs time
No time is lost, but a figure must be wrong: the device, its clock, a metric, or the count of
bytes or operations. Other kernels of the profile may have the same error without showing it.

## Detection
Measured time is below the roofline time by more than 3% (or two ticks of the 32 ns timer).
Kernels whose data fits in L2 and whose bytes come from shapes are reported as cache-resident
instead. The kernels are left out of the ranking.

## Remedy
Check the device (`--device`), the clocks (`--ceilings`) and the units of the columns. Where
operations or bytes come from framework shapes, check that they belong to this kernel alone.
Profile again with counters and time in the same run.

## False positives
Data that stays in L2 between launches needs no memory traffic; bytes from shapes then overcount.
So they do where two operands are one tensor, as in `x + x`: a trace has their shapes alone.

## Sources
*Nsight Compute Profiling Guide*, \"Kernel Replay\" and \"Clock Control\"; S. Williams et al., *Roofline*,
CACM 2009.
",
    thresholds: &[],
    silences: &[],
    check: Check::Run(check),
};

fn check(run: &Run<'_>) -> Result<Vec<Finding>, Missing> {
    let fast = Together::of(run, |kernel| kernel.state == State::FasterThanRoofline)?;
    let Some(first) = fast.kernels.first() else { return Ok(Vec::new()) };
    let count = fast.kernels.len();
    let (plural, verb) = if count == 1 { ("", "is") } else { ("s", "are") };
    let times = first.roofline_time.map_or_else(String::new, |expected| {
        format!(
            "; {} took {}, its roofline time is {}",
            first.name,
            si(first.modeled, "s"),
            si(expected, "s")
        )
    });
    let is_from_shapes =
        fast.kernels.iter().all(|kernel| kernel.provenance == Some(OriginKind::Algorithmic));
    let message = format!(
        "{count} kernel{plural} ({}) {verb} faster than the roofline allows{times}",
        fast.words()
    );
    let finding = fast
        .finding(run, message)
        .severity(Severity::Medium)
        .confidence(Confidence::High)
        .evidence("kernels", count as f64, "1")
        .evidence_if(
            "roofline time of the longest",
            first.roofline_time.map(crate::units::Seconds::get),
            "s",
        )
        .evidence("measured time of the longest", first.modeled.get(), "s")
        .next(if is_from_shapes {
            "look for operands that are one tensor (x + x), which is read once, and data that stayed in L2; then check device and clocks"
        } else {
            "check device, clocks and units, then whether data stayed in L2 or work is overcounted"
        });
    Ok(vec![finding])
}

#[cfg(test)]
mod tests {
    use crate::model::Quantity;
    use crate::rules::Severity;
    use crate::rules::engine::bench_launches::h100;

    const RULE: &str = "faster-than-roof";

    #[test]
    fn tells_impossible_kernels() {
        // Twice what the memory of the device can move in the time.
        let bytes = [(Quantity::DramBytes, 2.0 * 3.35e12 * 1e-3)];
        let found = h100().launch("k", (1000, 256), (1, 1000.0), &bytes).found(RULE);
        assert_eq!(found.severity, Severity::Medium);
        assert!(found.message.starts_with("1 kernel (1 launch, 1.00 ms, 100.0% of the run) is"));
    }

    #[test]
    fn stays_quiet_on_possible_ones() {
        assert!(h100().launch("k", (1000, 256), (1, 1000.0), &[]).is_content(RULE));
    }
}
