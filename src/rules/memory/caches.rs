//! What several rules about caches and shared memory have in common.

use crate::model::{MemoryLevel, Quantity};
use crate::roofline::{self, BUSY};
use crate::rules::engine::finding::{Confidence, Finding, Stake};
use crate::rules::engine::subject::{Subject, Unit};
use crate::rules::engine::threshold::{Missing, Threshold};
use crate::taxonomy::{Category, Kind};
use crate::units::{Bytes, Seconds, whole_percent};

/// Time that goes if L1 and L2 had only `factor` of their traffic: by the unit that binds. Where
/// neither was measured, at most the share of the time that is share of the traffic.
pub(super) fn excess(subject: &Subject<'_>, factor: f64) -> Stake {
    let units = [Unit::L1, Unit::L2].map(|unit| subject.next_bottleneck(unit, factor).ok());
    let known = units.into_iter().flatten();
    known.max_by(|one, two| one.high.get().total_cmp(&two.high.get())).unwrap_or_else(|| Stake {
        low: Seconds::ZERO,
        ..subject.share(1.0 - factor, "less-traffic")
    })
}

/// A finding about sectors of which only `factor` are needed, by what goes with the others: `stake`, or more where they come from
/// device memory, whose roof moves with the bytes that it need not move.
pub(super) fn about_excess(
    subject: &Subject<'_>,
    message: String,
    factor: f64,
    stake: Stake,
) -> Finding {
    let fewer = fewer_bytes(subject, factor).filter(|(_, saved)| *saved > stake.high);
    let Some((share, saved)) = fewer else { return subject.finding(message, stake) };
    let stake = Stake { low: stake.low, high: saved, estimator: "excess-traffic" };
    subject.finding_against(message, stake, subject.time() - saved).evidence(
        "bytes needed over DRAM bytes",
        share,
        "1",
    )
}

/// Where memory is the limit and DRAM moves more than warps need: the share of its bytes that is needed, and the time that goes
/// with the others, which caches need not move either.
fn fewer_bytes(subject: &Subject<'_>, factor: f64) -> Option<(f64, Seconds)> {
    /// Above this share hardly any bytes are in excess.
    const NEARLY_ALL: f64 = 0.8;
    let kernel = subject.kernel;
    let requested = kernel.level(MemoryLevel::L2)?.bytes;
    let missed = Some(1.0 - subject.get(Quantity::L1HitRate)?).filter(|missed| *missed > 0.0)?;
    // What is asked of L2 is what missed in L1.
    let share = factor * requested.get() / missed / kernel.bytes?.get();
    let dram = subject.utilization(Unit::Dram).ok()?;
    let busy = |unit: Unit| subject.utilization(unit).unwrap_or(0.0);
    let (caches, sm) = (busy(Unit::L1).max(busy(Unit::L2)), busy(Unit::Sm));
    let used = dram.max(caches);
    if used < BUSY || used < sm || !share.is_finite() || share >= NEARLY_ALL {
        return None;
    }
    let left = (dram * share).max(caches * factor).max(sm) / used;
    Some((share, subject.time() * (1.0 - left)))
}

/// A finding about bytes that device memory need not move: at least and at most so many.
///
/// The roof of the kernel counts them too, so the time above the roof of what is left caps it.
pub(super) fn spared(
    subject: &Subject<'_>,
    message: String,
    (least, most): (Bytes, Bytes),
) -> Result<Finding, Missing> {
    let (low, high) = (subject.traffic(least)?.low, subject.traffic(most)?);
    let kernel = subject.kernel;
    let left = kernel
        .bytes
        .map_or(1.0, |all| roofline::excess_fraction(all.get(), most.get()).clamp(0.0, 1.0));
    let memory = kernel.memory_time.unwrap_or(Seconds::ZERO) * left;
    let math = kernel.math_time.unwrap_or(Seconds::ZERO);
    let expected = roofline::roofline_time(memory, math);
    Ok(subject.finding_against(message, Stake { low, ..high }, expected))
}

/// The next experiment for kernels that use each element once: their accesses, as there is no tile to keep.
pub(super) fn access(subject: &Subject<'_>) -> Option<&'static str> {
    let class = subject.class();
    match (class.category, class.kind) {
        (_, Some(Kind::Transpose | Kind::Layout)) => Some(TRANSPOSE),
        (Category::Elementwise, _) => Some(
            "make operands contiguous or check their strides, then compare the sectors requested \
             from L2",
        ),
        (Category::DataMovement, _) => {
            Some("have the threads of a warp read and write whole consecutive sectors")
        }
        _ => None,
    }
}

/// The next experiment for a transpose.
pub(super) const TRANSPOSE: &str =
    "read and write whole rows: stage a tile, padded by one column, through shared memory";

/// The greater of the shares of time that warps wait for device memory or for the queue to it.
pub(super) fn memory_stall(subject: &Subject<'_>) -> Option<f64> {
    let waits = [Quantity::StallLongScoreboard, Quantity::StallLgThrottle];
    waits.into_iter().filter_map(|wait| subject.get(wait)).reduce(f64::max)
}

/// One kind of access to shared memory.
pub(super) struct SharedAccess {
    /// Wavefronts that conflicts add, over all.
    pub(super) conflicts: Quantity,
    /// What the profiler calls them.
    pub(super) metric: &'static str,
    /// Wavefronts of these accesses, over those of all.
    pub(super) share: Quantity,
    /// `loads` or `stores`.
    pub(super) word: &'static str,
}

/// Conflicts of one kind of access that are less than this part of the limit beside all wavefronts are not worth a fix.
const LEAST_PART: f64 = 0.5;

/// Bank conflicts of one kind of access, if they take at least `limit` of its wavefronts.
pub(super) fn bank_conflicts(
    subject: &Subject<'_>,
    access: &SharedAccess,
    limit: &Threshold,
) -> Result<Option<Finding>, Missing> {
    let limit = subject.threshold(limit);
    let counted = subject.need(access.conflicts, access.metric)?;
    let part = subject.get(access.share);
    // The counter includes waiting for other traffic; what the code needs at least, of all accesses, does not.
    let ideal = subject.get(Quantity::SharedEfficiency);
    let of_all = |own: f64| own * part.unwrap_or(1.0);
    let excess = ideal.map_or(of_all(counted), |ideal| of_all(counted).min(1.0 - ideal));
    let own = if excess > 0.0 { (excess / of_all(1.0)).min(counted) } else { 0.0 };
    if own < limit || excess < limit * LEAST_PART {
        return Ok(None);
    }
    let waits = [Quantity::StallShortScoreboard, Quantity::StallMioThrottle];
    let waits = waits.into_iter().filter_map(|wait| subject.get(wait)).reduce(f64::max);
    let stake = match (subject.next_bottleneck(Unit::L1, 1.0 - excess), waits) {
        // Without their part of the traffic they may be few beside others.
        (Ok(stake), _) if part.is_none() && ideal.is_none() => {
            Stake { low: Seconds::ZERO, ..stake }
        }
        (Ok(stake), _) => stake,
        (Err(_), Some(waits)) => subject.stall(waits * excess),
        // Wavefronts of shared memory alone, where it is what binds.
        (Err(missing), None) => {
            let Some(used) = subject.get(Quantity::SharedThroughput) else { return Err(missing) };
            if used < BUSY {
                return Ok(None);
            }
            let next = subject.busiest_pipe().map_or(0.0, |(_, used)| used);
            let others =
                [Unit::Dram, Unit::L2].map(|unit| subject.utilization(unit).unwrap_or(0.0));
            let next = others.into_iter().fold(next, f64::max);
            let saved = roofline::next_bottleneck(subject.time(), used, 1.0 - excess, next);
            Stake { low: Seconds::ZERO, high: saved, estimator: "next-bottleneck" }
        }
    };
    let message = format!(
        "bank conflicts cause {} of the wavefronts of shared-memory {}",
        whole_percent(own),
        access.word
    );
    let confidence = if ideal.is_some() { Confidence::High } else { Confidence::Medium };
    let finding = subject
        .finding(message, stake)
        .confidence(confidence)
        .evidence("conflicts over wavefronts, from counters", counted, "1")
        .evidence("executed wavefronts per needed wavefront", 1.0 / (1.0 - own).max(0.01), "1")
        .evidence_if(format!("wavefronts of {} over all", access.word), part, "1")
        .evidence_if("wavefronts needed over executed, from the code", ideal, "1")
        .evidence_if("L1 and shared-memory utilization", subject.utilization(Unit::L1).ok(), "1")
        .evidence_if(
            "shared-memory wavefronts, of the peak",
            subject.get(Quantity::SharedThroughput),
            "1",
        );
    Ok(Some(finding))
}
