//! Notes kernels that write compressible memory of which L2 can compress little.

use crate::model::Quantity;
use crate::rules::{Check, Confidence, Judgment, Rule, Subject, Threshold};
use crate::units::whole_percent;

pub(super) const RULE: Rule = Rule {
    id: "compression-ineffective",
    summary: "L2 compresses little of what is written to compressible memory",
    documentation: "\
## What it finds
Kernels that write compressible memory of which L2's compression unit can compress only a small
part.

## Why it costs time
Compression saves L2 and device-memory bandwidth where neighboring values repeat. Where it fails,
the unit and its metadata cost work, and the traffic stays the same.

## Detection
Bytes passed to the compression unit are at least `input` of the bytes moved by device memory, and
some of their sectors, but less than `success`, were compressed. No savings are claimed because
compressibility depends on the data. Devices before A100 do not compress what compute kernels
write.

## Remedy
Write whole 128-byte blocks at once from one warp; make only buffers with many zeros or equal
values compressible; otherwise drop `CU_MEM_ALLOCATION_COMP_GENERIC`.

## False positives
A rate of exactly zero is ignored, although Nsight Compute's own rule fires there: on Hopper the
unit also counts sectors that no program made compressible. Data may compress at another step of
the program.

## Sources
*Nsight Compute Profiling Guide*, \"L2 Cache\" and \"Memory Tables\"; `MemoryL2Compression.py` of Nsight
Compute (20%); NVIDIA, *A100 Tensor Core GPU Architecture* (white paper), \"Compute Data Compression\".
",
    thresholds: &[INPUT, SUCCESS],
    silences: &[],
    check: Check::Kernel(check),
};

const INPUT: Threshold =
    Threshold::new("input", 0.10, "1", "with less, compression would hardly change the traffic");

const SUCCESS: Threshold =
    Threshold::new("success", 0.20, "1", "below this, Nsight Compute's own rule fires");

fn check(subject: &Subject<'_>) -> Judgment {
    // No device before A100 compresses what compute kernels write.
    if subject.compute_capability().is_some_and(|(major, _)| major < 8) {
        return Ok(None);
    }
    let metric = "lts__average_gcomp_input_sector_success_rate.pct";
    let success = subject.need(Quantity::CompressionSuccess, metric)?;
    if success <= 0.0 || success >= subject.threshold(&SUCCESS) {
        return Ok(None);
    }
    let input = subject.need(Quantity::CompressionInputShare, "lts__gcomp_input_sectors.sum")?;
    if input < subject.threshold(&INPUT) {
        return Ok(None);
    }
    let message = format!(
        "L2 compressed only {} of the sectors written to compressible memory",
        whole_percent(success)
    );
    let finding = subject
        .info(message)
        .confidence(Confidence::High)
        .evidence("compressed share of the attempted sectors", success, "1")
        .evidence("attempted bytes over DRAM bytes", input, "1")
        .evidence_if("DRAM utilization", subject.get(Quantity::DramThroughput), "1");
    Ok(Some(
        finding
            .next("compare with non-compressible memory, and with stores of whole 128-byte blocks"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::engine::bench_figures::judge;
    use crate::rules::engine::bench_table::kernel;
    use crate::rules::{Missing, Severity};

    const FAILING: [(Quantity, f64); 2] =
        [(Quantity::CompressionSuccess, 0.05), (Quantity::CompressionInputShare, 0.4)];

    #[test]
    fn little_success_is_noted_and_promises_nothing() {
        let finding = judge(&RULE, &FAILING).unwrap().unwrap();
        assert_eq!((finding.severity, finding.at_stake_s), (Severity::Info, 0.0));
        assert!(finding.message.starts_with("L2 compressed only 5%"), "{}", finding.message);
    }

    #[test]
    fn success_no_compressible_memory_and_little_of_it_are_left_alone() {
        for (at, value) in [(0, 0.8), (0, 0.0), (1, 0.01)] {
            let mut figures = FAILING;
            figures[at].1 = value;
            assert!(judge(&RULE, &figures).unwrap().is_none(), "{:?}", figures[at]);
        }
    }

    #[test]
    fn before_ampere_there_is_nothing_to_compress() {
        let bare = |device| kernel("k", 100.0).bytes(1e6).on(device);
        assert!(bare("Tesla V100-SXM2-16GB").is_fine(&RULE));
        assert!(bare("NVIDIA A100-SXM4-40GB").lacks(&RULE).contains("success_rate"));
    }

    #[test]
    fn without_the_counters_it_cannot_judge() {
        let Missing(metric) = judge(&RULE, &FAILING[1..]).unwrap_err();
        assert!(metric.contains("success_rate"), "{metric}");
        let Missing(metric) = judge(&RULE, &FAILING[..1]).unwrap_err();
        assert!(metric.contains("gcomp_input_sectors"), "{metric}");
    }
}
