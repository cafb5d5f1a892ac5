//! Notes kernels of whose L2 traffic much crosses between the two halves of L2.

use super::{Check, Judgement, Rule, Subject, Threshold};
use crate::model::Quantity;

pub(super) const RULE: Rule = Rule {
    id: "l2-fabric-traffic",
    summary: "much of the L2 traffic crosses between the halves of L2",
    documentation: "\
## What it finds
Kernels on GPUs with a divided L2 (A100, H100 and their kin) of whose L2 sectors many come over the
fabric between the halves.

## Why it costs time
Each multiprocessor is attached to one half. Data whose home is the other half takes a longer way,
with more latency and less bandwidth, and fills both halves.

## How it decides
At least `fabric` of the sectors looked up in L2 came over the fabric, in a kernel that takes at least
`share` of the run. Nothing is promised, as a program hardly controls which half holds what.

## What to try
Let the same blocks work on the same part of the data from kernel to kernel; keep the working set small
enough for each half to hold its own copy.

## When it is wrong
Data that all multiprocessors read must cross once in any case. Crossing does not cost time while L2
and its latency do not limit the kernel.

## Sources
NVIDIA, *A100 Tensor Core GPU Architecture* (white paper), \"L2 Cache\"; *Nsight Compute Profiling
Guide*, \"L2 Cache\".
",
    thresholds: &[FABRIC, SHARE],
    check: Check::Kernel(check),
};

const FABRIC: Threshold =
    Threshold::new("fabric", 0.20, "1", "less hardly shows in the utilisation of L2");

const SHARE: Threshold = Threshold::new("share", 0.01, "1", "of smaller kernels it is no news");

fn check(subject: &Subject<'_>) -> Judgement {
    let metric = "lts__t_sectors_srcunit_ltcfabric.sum";
    let fabric = subject.need(Quantity::L2FabricShare, metric)?;
    if fabric < subject.threshold(&FABRIC) || subject.kernel.share < subject.threshold(&SHARE) {
        return Ok(None);
    }
    let message = format!(
        "{:.0} % of the L2 sectors came over the fabric between its halves",
        fabric * 100.0
    );
    let finding = subject
        .info(message)
        .evidence("sectors over the fabric, of all", fabric, "1")
        .evidence_if("L2 busy", subject.get(Quantity::L2Throughput), "1")
        .evidence_if("L2 hit rate", subject.get(Quantity::L2HitRate), "1");
    Ok(Some(finding.next("none, unless L2 limits: then give each half its own part of the data")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Severity;
    use crate::rules::bench::judge;

    #[test]
    fn much_traffic_between_the_halves_is_noted() {
        let finding = judge(&RULE, &[(Quantity::L2FabricShare, 0.4)]).unwrap().unwrap();
        assert_eq!((finding.severity, finding.at_stake_s), (Severity::Info, 0.0));
    }

    #[test]
    fn little_of_it_is_left_alone() {
        assert!(judge(&RULE, &[(Quantity::L2FabricShare, 0.1)]).unwrap().is_none());
    }

    #[test]
    fn without_the_counter_it_cannot_judge() {
        assert!(judge(&RULE, &[]).is_err());
    }
}
