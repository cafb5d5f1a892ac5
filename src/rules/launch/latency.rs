//! Whether latency, and not the throughput of a unit, limits a kernel; and what that leaves to win.

use crate::roofline::BUSY;
use crate::rules::engine::subject::{Subject, Unit};
use crate::rules::engine::threshold::Missing;

/// The next experiment where attention has few queries, and so few blocks have work.
pub(super) const SPLIT_KV: &str =
    "split keys and values over more blocks (FlashDecoding, num_splits in FlashAttention)";

/// Utilization of the busiest unit where it is too low for throughput to be the limit; none where a
/// unit or a roof is busy.
///
/// # Errors
/// [`Missing`] where neither a utilization nor a roof is known.
pub(super) fn limits(subject: &Subject<'_>) -> Result<Option<f64>, Missing> {
    let busy = subject.busiest();
    if busy <= 0.0 && subject.kernel.headroom().is_none() {
        return Err(Missing(Unit::Sm.metric()));
    }
    Ok((busy < BUSY).then_some(busy))
}

/// Share of the time that would go if the busiest unit became busy: what hiding latency can bring.
pub(super) fn idle(busy: f64) -> f64 {
    (1.0 - busy / BUSY).clamp(0.0, 1.0)
}

/// Whether instructions or math limit a kernel, so that work on fewer lanes costs time in full; none
/// where the export does not tell.
pub(super) fn issues(subject: &Subject<'_>) -> Option<bool> {
    let issue = subject.get(crate::model::Quantity::IssueActive);
    let sm = subject.utilization(Unit::Sm).ok();
    issue.into_iter().chain(sm).reduce(f64::max).map(|used| used >= BUSY)
}
