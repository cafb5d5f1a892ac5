//! Notes kernels of whose L2 traffic much crosses between the two halves of L2.

use crate::model::Quantity;
use crate::rules::{Check, Judgment, Rule, Subject, Threshold, Unit};
use crate::units::whole_percent;

pub(super) const RULE: Rule = Rule {
    id: "l2-fabric-traffic",
    summary: "much of the L2 traffic crosses between the L2 partitions",
    documentation: "\
## What it finds
Kernels on GPUs with a partitioned L2 (A100, H100 and similar) for which many L2 sectors come over
the fabric between the partitions.

## Why it costs time
Each SM is attached to one partition. Data homed in the other one takes a longer path with more
latency and less bandwidth, and occupies both.

## Detection
At least `fabric` of the sectors looked up in L2 came over the fabric, and L2 is at least `busy`
of its peak, so that its traffic matters. No savings are claimed, because a program hardly
controls data placement.

## Remedy
Have the same blocks work on the same data from kernel to kernel; keep the working set small
enough for each partition to hold its own copy.

## False positives
Data is spread evenly over both partitions, so half of what misses in the near one crosses: a
third of all sectors of a stream, and almost half of those of random reads, is natural. Data read by all SMs must cross once in any case.

## Sources
NVIDIA, *A100 Tensor Core GPU Architecture* (white paper), \"L2 Cache\"; *Nsight Compute Profiling
Guide*, \"L2 Cache\".
",
    thresholds: &[FABRIC, BUSY],
    silences: &[],
    check: Check::Kernel(check),
};

const FABRIC: Threshold = Threshold::new(
    "fabric",
    0.50,
    "1",
    "33% in streams and 46% in random reads on an H100: that much is natural",
);

const BUSY: Threshold = Threshold::new(
    "busy",
    0.60,
    "1",
    "below this, L2 has room for the traffic between its partitions",
);

fn check(subject: &Subject<'_>) -> Judgment {
    let metric = "lts__t_sectors_srcunit_ltcfabric.sum";
    let fabric = subject.need(Quantity::L2FabricShare, metric)?;
    let busy = subject.utilization(Unit::L2)?;
    if fabric < subject.threshold(&FABRIC) || busy < subject.threshold(&BUSY) {
        return Ok(None);
    }
    let message = format!(
        "{} of the L2 sectors came over the fabric between its partitions",
        whole_percent(fabric)
    );
    let finding = subject
        .info(message)
        .evidence("fabric share of the sectors", fabric, "1")
        .evidence("L2 busy", busy, "1")
        .evidence_if("L2 hit rate", subject.get(Quantity::L2HitRate), "1");
    Ok(Some(
        finding.next("give each group of blocks its own part of the data, then compare the share"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Severity;
    use crate::rules::engine::bench_figures::judge;

    const CROSSING: [(Quantity, f64); 2] =
        [(Quantity::L2FabricShare, 0.6), (Quantity::L2Throughput, 0.8)];

    #[test]
    fn much_traffic_between_the_halves_of_a_busy_l2_is_noted() {
        let finding = judge(&RULE, &CROSSING).unwrap().unwrap();
        assert_eq!((finding.severity, finding.at_stake_s), (Severity::Info, 0.0));
    }

    #[test]
    fn little_of_it_and_an_idle_l2_are_left_alone() {
        // Half of random reads cross without any fault of the kernel.
        for (at, value) in [(0, 0.46), (1, 0.3)] {
            let mut figures = CROSSING;
            figures[at].1 = value;
            assert!(judge(&RULE, &figures).unwrap().is_none(), "{:?}", figures[at]);
        }
    }

    #[test]
    fn without_the_counter_it_cannot_judge() {
        assert!(judge(&RULE, &CROSSING[1..]).is_err());
    }
}
