//! Flags kernels whose partly written sectors make device memory read before it can write.

use super::caches::spared;
use crate::model::Quantity;
use crate::roofline::BUSY;
use crate::rules::{Check, Confidence, Judgment, Missing, Rule, Subject, Threshold, Unit};
use crate::units::whole_percent;

pub(super) const RULE: Rule = Rule {
    id: "ecc-partial-writes",
    summary: "ECC reads back sectors that the kernel writes only in part",
    documentation: "\
## What it finds
Kernels that mostly write, on devices with ECC enabled, for which DRAM reads far more than the
kernel asked for.

## Why it costs time
ECC protects whole 32-byte sectors. To write part of one, memory must read the sector, merge it
and recompute the code: an 8-byte store then moves 64 bytes.

## Detection
ECC is on; global stores fill less than `filled` of the sectors they touch; DRAM writes more than
the reads that missed L2 asked for; bytes read beyond those are at least `reads` of the bytes
written; atomics, which read too, are less than a tenth of L2 traffic where counted; and DRAM is
at least 60% busy, so that its traffic costs time.

## Remedy
Write whole sectors: have consecutive threads write consecutive addresses, collect small results
in shared memory first, pad records to 32 bytes, store 16 bytes per thread.

## False positives
If the rest of a sector is written soon enough, L2 merges it at no cost and DRAM does not read.
64-byte bursts of which reads need half look similar (`partial-dram-bursts`).

## Sources
US patent 9110809, *Reducing memory traffic in DRAM ECC mode* (partial writes need a fill first); *CUDA
C++ Best Practices Guide*, \"Theoretical Bandwidth Calculation\" (the cost of error correction depends on
the access pattern); *Nsight Compute Profiling Guide*, \"Memory Tables\".
",
    thresholds: &[FILLED, READS],
    silences: &["partial-dram-bursts"],
    check: Check::Kernel(check),
};

const FILLED: Threshold =
    Threshold::new("filled", 0.90, "1", "fuller sectors hardly need a read before the write");

const READS: Threshold = Threshold::new(
    "reads",
    0.20,
    "1",
    "less can come from constants, instructions and page tables",
);

/// Share of atomics in the L2 traffic from which their own reads may be the excess.
const ATOMICS: f64 = 0.1;

fn check(subject: &Subject<'_>) -> Judgment {
    let is_on = subject.get(Quantity::EccEnabled).map(|is_on| is_on > 0.0);
    let filled = subject.get(Quantity::StoreSectorEfficiency);
    // Either settles it alone.
    if is_on == Some(false) || filled.is_some_and(|filled| filled >= subject.threshold(&FILLED)) {
        return Ok(None);
    }
    is_on.ok_or(Missing("device__attribute_ecc_enabled"))?;
    let metric = "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio";
    let filled = filled.ok_or(Missing(metric))?;
    let metric = "lts__t_sectors_op_read_lookup_miss.sum";
    let excess = subject.need(Quantity::DramExcessReads, metric)?;
    let read = subject.need(Quantity::DramReadShare, "dram__bytes_read.sum and …write.sum")?;
    let busy = subject.utilization(Unit::Dram)?;
    let bytes = subject.kernel.bytes.ok_or(Missing("dram__bytes_write.sum"))?;
    let (written, asked) = (1.0 - read, read - excess);
    let atomics = subject.get(Quantity::L2AtomicShare).unwrap_or(0.0);
    let is_mostly_writes = written > asked && atomics < ATOMICS;
    if !is_mostly_writes || excess < subject.threshold(&READS) * written || busy < BUSY {
        return Ok(None);
    }
    let wasted = bytes * excess;
    let message = format!(
        "stores fill only {} of the sectors they touch: ECC reads {:.2} B per byte written",
        whole_percent(filled),
        excess / written
    );
    let finding = spared(subject, message, (wasted, wasted))?
        .confidence(Confidence::Medium)
        .evidence("bytes used per stored sector", filled, "1")
        .evidence("bytes written", (bytes * written).get(), "B")
        .evidence("bytes read beyond L2 misses", wasted.get(), "B")
        .evidence("DRAM utilization", busy, "1")
        .evidence_if(
            "sectors per request, stores",
            subject.get(Quantity::StoreSectorsPerRequest),
            "1",
        );
    Ok(Some(
        finding.next(subject.rewrite("write whole 32-byte sectors, then compare the bytes read")),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::engine::bench_figures::judge;

    /// 1 GB in 1 ms: 0.5 written, 0.4 read to merge, 0.1 read for the kernel.
    const MERGING: [(Quantity, f64); 5] = [
        (Quantity::EccEnabled, 1.0),
        (Quantity::StoreSectorEfficiency, 0.25),
        (Quantity::DramExcessReads, 0.4),
        (Quantity::DramReadShare, 0.5),
        (Quantity::DramThroughput, 0.8),
    ];

    #[test]
    fn reads_that_only_merge_are_found() {
        let finding = judge(&RULE, &MERGING).unwrap().unwrap();
        let wasted = 4e8 / (0.9 * 3.352e12);
        assert!((finding.at_stake_s - wasted).abs() < 1e-7, "{}", finding.at_stake_s);
        assert!(finding.message.contains("0.80 B per byte"), "{}", finding.message);
        let of = |name: &str| finding.evidence.iter().find(|one| one.name == name).unwrap().value;
        assert!((of("bytes written") - 5e8).abs() < 1.0);
    }

    #[test]
    fn each_condition_keeps_it_quiet() {
        for (at, value) in [(0, 0.0), (1, 0.95), (2, 0.09), (3, 0.9), (4, 0.3)] {
            let mut figures = MERGING;
            figures[at].1 = value;
            assert!(judge(&RULE, &figures).unwrap().is_none(), "{:?}", figures[at]);
        }
        assert!(judge(&RULE, &[(Quantity::StoreSectorEfficiency, 1.0)]).unwrap().is_none());
        let mut figures = MERGING.to_vec();
        figures.push((Quantity::L2AtomicShare, 0.3));
        assert!(judge(&RULE, &figures).unwrap().is_none());
    }

    #[test]
    fn it_says_which_figure_it_lacks() {
        for (at, metric) in [
            (0, "ecc_enabled"),
            (1, "bytes_per_sector"),
            (2, "op_read_lookup_miss"),
            (3, "dram__bytes_read"),
            (4, "gpu__dram_throughput"),
        ] {
            let mut figures = MERGING.to_vec();
            figures.remove(at);
            let Missing(lacked) = judge(&RULE, &figures).unwrap_err();
            assert!(lacked.contains(metric), "{lacked}");
        }
    }
}
