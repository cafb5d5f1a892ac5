//! The view of the ranks of each run.

use super::engine::Engine;
use super::expr::Arena;
use super::steps::Steps;
use super::summed::Summed;
use crate::roofline::formula::STRAGGLES;
use crate::table::Facts;

/// Returns the statement that makes the view: a row per rank, beside the medians of its run. The limits are those of
/// `fleet`. A rank without durations has no times, and counts for no median. Kernels that are faster than the model allows
/// are in the time of a rank, not in what is compared with roofs.
pub(super) fn view(engine: Engine, facts: &Facts) -> String {
    let arena = Arena::default();
    let is_faster = Summed { arena: &arena, facts }.is_faster();
    let is_compared = !arena.truth("crosses_link") & !is_faster;
    let is_compared = Steps::inline(&arena, is_compared.node(&arena));
    format!(
        "{} rank_spread AS WITH\nkernels AS (\n  SELECT *, {is_compared} AS is_compared\n  FROM kernel_sums\n),\n\
         sums AS (\n  \
         SELECT run, rank, sum(launches) AS launches, nullif(sum(measured_s), 0e0) AS measured_s,\n    \
         sum(CASE WHEN crosses_link THEN measured_s ELSE 0e0 END) AS link_s,\n    \
         sum(CASE WHEN is_compared THEN judged_s ELSE 0e0 END) AS covered_s,\n    \
         sum(CASE WHEN is_compared THEN roofline_s ELSE 0e0 END) AS modeled_s\n  \
         FROM kernels GROUP BY run, rank\n),\n\
         timed AS (\n  SELECT run, rank, launches, measured_s,\n    \
         CASE WHEN measured_s IS NOT NULL THEN link_s END AS communication_s,\n    \
         CASE WHEN measured_s IS NOT NULL THEN covered_s END AS judged_s,\n    \
         CASE WHEN measured_s IS NOT NULL THEN modeled_s END AS roofline_s\n  FROM sums\n),\n\
         medians AS (\n  SELECT *, measured_s - communication_s AS compute_s,\n    \
         count(measured_s) OVER (PARTITION BY run) AS ranks,\n    \
         median(measured_s) OVER (PARTITION BY run) AS median_s,\n    \
         median(measured_s - communication_s) OVER (PARTITION BY run) AS median_compute_s\n  FROM timed\n),\n\
         ratios AS (\n  SELECT *, measured_s / nullif(median_s, 0) AS over_median,\n    \
         compute_s / nullif(median_compute_s, 0) AS compute_over_median\n  FROM medians\n)\n\
         SELECT run, rank, launches, measured_s, communication_s, compute_s, median_s, median_compute_s,\n  \
         over_median, compute_over_median, judged_s, roofline_s, judged_s / nullif(roofline_s, 0) AS headroom,\n  \
         ranks > 2 AND (coalesce(over_median, 1e0) >= {slow:e} OR coalesce(compute_over_median, 1e0) >= {slow:e}) \
         AS is_straggler\nFROM ratios;\n",
        engine.view(),
        slow = STRAGGLES,
    )
}
