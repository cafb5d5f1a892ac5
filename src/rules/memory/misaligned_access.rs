//! Flags kernels whose warps touch one sector more than their data fills.

use super::accesses::{self, Side};
use super::caches::excess;
use crate::model::Quantity;
use crate::rules::{Check, Confidence, Judgment, Missing, Rule, Stake, Subject, Threshold};
use crate::units::Seconds;

pub(super) const RULE: Rule = Rule {
    id: "misaligned-access",
    summary: "warps start inside a memory sector and touch one more than needed",
    documentation: "\
## What it finds
Contiguous global loads or stores that do not start at a multiple of 32 bytes.

## Why it costs time
Memory moves whole 32-byte sectors. A warp that reads 128 contiguous bytes touches 4 sectors; if
the first byte lies inside a sector it touches 5, and a fifth of the traffic carries nothing.

## Detection
Sectors per request are 5, 9 or 17, within `tolerance`: one more than the 4, 8 or 16 that a full
warp needs for elements of 4, 8 or 16 bytes. Where the used share of each sector is known, it must
agree. What is at stake follows the part of all sectors that these loads or stores are.

## Remedy
Align rows to 128 bytes (`cudaMallocPitch`, padding); handle the first elements separately so that
the main loop starts aligned; pass offsets that are multiples of the vector width.

## False positives
The extra sector is often a neighbor's and hits in L1 or L2; then it costs requests, not DRAM
traffic. Scattered accesses can average to the same figure, but use a different share of each
sector. Stencils read their neighbors at every offset by nature.

## Sources
*CUDA C++ Best Practices Guide*, \"Effects of Misaligned Accesses\"; *Nsight Compute Profiling Guide*,
\"Memory Tables\".
",
    thresholds: &[TOLERANCE],
    silences: &[],
    check: Check::Kernel(check),
};

const TOLERANCE: Threshold = Threshold::new(
    "tolerance",
    0.1,
    "1",
    "the first and last warps of a row can differ; a larger deviation has another cause",
);

/// Sectors that a full warp fills with elements of 4, 8 and 16 bytes.
const IDEAL: [f64; 3] = [4.0, 8.0, 16.0];

/// How far the measured share of each sector that is used may lie from the expected one.
const AGREES: f64 = 0.04;

fn check(subject: &Subject<'_>) -> Judgment {
    let tolerance = subject.threshold(&TOLERANCE);
    let sides = accesses::sides(subject);
    let known = sides.iter().filter_map(|side| Some((side, side.sectors?)));
    let misaligned = known.filter_map(|(side, sectors)| {
        let ideal = IDEAL.into_iter().find(|ideal| (sectors - ideal - 1.0).abs() <= tolerance)?;
        let agrees = side.used.is_none_or(|used| (used - ideal / (ideal + 1.0)).abs() <= AGREES);
        // Without its part of the traffic it may be little beside the other.
        let left = 1.0 - side.share.unwrap_or(1.0) / (ideal + 1.0);
        agrees.then_some((side, sectors, ideal, left))
    });
    let found = misaligned.min_by(|one, two| one.3.total_cmp(&two.3));
    let Some((side, sectors, ideal, left)) = found else {
        // What was not counted may be misaligned.
        let is_known = sides.iter().all(Side::is_counted);
        let metric = "l1tex__t_sectors_pipe_lsu_mem_global_op_{ld,st}.sum and …requests…";
        return if is_known { Ok(None) } else { Err(Missing(metric)) };
    };
    let (word, used) = (side.word, side.used);
    let stake = excess(subject, left);
    let low = if side.share.is_some() { stake.low } else { Seconds::ZERO };
    let message = format!(
        "misaligned global {word}: {sectors:.1} sectors per request where {ideal:.0} would hold \
         the data"
    );
    let finding = subject
        .finding(message, Stake { low, ..stake })
        .confidence(if used.is_some() { Confidence::Medium } else { Confidence::Low })
        .evidence(format!("sectors per request, global {word}"), sectors, "1")
        .evidence("sectors needed by a full, aligned warp", ideal, "1")
        .evidence_if("used share of each sector", used, "1")
        .evidence_if(format!("sectors of global {word} over all"), side.share, "1")
        .evidence("bytes per thread, if the warp is full", ideal, "B")
        .evidence_if("L1 hit rate", subject.get(Quantity::L1HitRate), "1");
    Ok(Some(finding.next("align the start of each row to 128 bytes, and measure again")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::engine::bench_figures::judge;

    #[test]
    fn one_sector_too_many_is_found() {
        let figures = [
            (Quantity::LoadSectorsPerRequest, 5.0),
            (Quantity::LoadSectorEfficiency, 0.8),
            (Quantity::L1Throughput, 0.9),
            (Quantity::L2Throughput, 0.5),
        ];
        let finding = judge(&RULE, &figures).unwrap().unwrap();
        assert!(finding.message.contains("5.0 sectors per request where 4"), "{}", finding.message);
        assert_eq!(finding.confidence, Confidence::Medium);
        assert!((finding.at_stake_s - 0.2e-3).abs() < 1e-9, "{}", finding.at_stake_s);
    }

    #[test]
    fn aligned_and_scattered_accesses_are_left_alone() {
        for (sectors, used) in [(4.0, 1.0), (8.0, 0.5), (5.0, 0.3), (6.0, 0.7)] {
            let figures = [
                (Quantity::LoadSectorsPerRequest, sectors),
                (Quantity::LoadSectorEfficiency, used),
                (Quantity::StoreSectorShare, 0.0),
            ];
            assert!(judge(&RULE, &figures).unwrap().is_none(), "{sectors} {used}");
        }
    }

    /// One sector of five, of a tenth of all: 2% of 1 ms, where L1 is the busiest unit.
    #[test]
    fn a_few_misaligned_accesses_beside_many_cost_little() {
        let figures = [
            (Quantity::LoadSectorsPerRequest, 5.0),
            (Quantity::LoadSectorShare, 0.1),
            (Quantity::StoreSectorsPerRequest, 4.0),
            (Quantity::StoreSectorShare, 0.9),
            (Quantity::L1Throughput, 0.9),
            (Quantity::L2Throughput, 0.5),
        ];
        let finding = judge(&RULE, &figures).unwrap().unwrap();
        assert!((finding.at_stake_s - 0.02e-3).abs() < 1e-9, "{}", finding.at_stake_s);
    }

    #[test]
    fn without_sectors_it_cannot_judge() {
        assert!(judge(&RULE, &[]).is_err());
        assert!(judge(&RULE, &[(Quantity::StoreSectorsPerRequest, 4.0)]).is_err());
    }
}
