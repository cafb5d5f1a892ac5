//! Checks that the newest runs fit the earlier ones; a baseline far from its history is a poor
//! reference.
//!
//! The modified z-score of B. Iglewicz and D. Hoaglin, *How to Detect and Handle Outliers* (1993), on
//! logarithms of times: distance from the median in units of the median absolute deviation, above 3.5.

use super::batch::Batch;
use super::change::{MIN_CHANGE, WINDOW, turns};
use super::linked::linked;
use crate::compare::{Run, mean};
use crate::units::{RelativeChange, Seconds, Share, Shift, median, percent, si};

/// Number of earlier commits on the same devices that the check needs.
pub const BEFORE: usize = 5;

/// Above this modified z-score a value is an outlier (Iglewicz and Hoaglin 1993).
const FAR: f64 = 3.5;

/// Kernels with less than 1% of the time are not checked: among many, one is always an outlier.
const SHARE: Share = Share::new(0.01);

/// The median absolute deviation, and the mean one, of a normal distribution, in standard deviations: the
/// constants of the modified z-score (Iglewicz and Hoaglin 1993).
const MEDIAN_DEVIATION: f64 = 0.6745;
const STANDARD_OF_MEAN_DEVIATION: f64 = 1.253_314;

/// Largest score that is shown; beyond it the earlier commits hardly differ.
const LARGEST_SCORE: f64 = 1000.0;

/// A time of the newest commit that is far from all earlier commits.
#[derive(Debug, Clone, PartialEq)]
pub struct Outlier {
    /// The kernel; `None` for the whole run.
    pub kernel: Option<String>,
    /// Time in the newest commit, in seconds.
    pub time_s: Seconds,
    /// Median of the earlier commits, in seconds.
    pub usual_s: Seconds,
    /// Relative change from that median.
    pub change: RelativeChange,
    /// Modified z-score; infinite if the earlier commits do not differ.
    pub score: f64,
    /// Number of earlier commits it is compared with.
    pub commits: usize,
}

impl Outlier {
    /// Describes the outlier in a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let what = self.kernel.as_ref().map_or_else(
            || "the newest runs take".to_owned(),
            |kernel| format!("one launch of {kernel} takes"),
        );
        let direction = if self.change < RelativeChange::ZERO { "less" } else { "more" };
        let score = if self.score < LARGEST_SCORE {
            format!("modified z-score {:.1}", self.score)
        } else {
            "which hardly vary".to_owned()
        };
        format!(
            "{what} {}, {} {direction} than the median of the {} previous commits ({}; {score})",
            si(self.time_s.get(), "s"),
            percent(self.change.abs().get()),
            self.commits,
            si(self.usual_s.get(), "s"),
        )
    }
}

/// Returns the outliers of the last batch compared with earlier batches on the same devices: the
/// whole run first, then kernels by size of the change. Only the last [`WINDOW`] of these count, and
/// with fewer than [`BEFORE`] there are none.
#[must_use]
pub fn outliers(batches: &[Batch<'_>]) -> Vec<Outlier> {
    let Some((last, before)) = batches.split_last() else { return Vec::new() };
    let mut all = like(last, before);
    if all.len() < BEFORE {
        return Vec::new();
    }
    all.push(last.clone());
    let totals: Vec<Option<f64>> =
        all.iter().map(|batch| typical(batch, |run| Some(run.whole_s().get()))).collect();
    let whole = outlier(None, &totals);
    let mut kernels = Vec::new();
    for track in linked(&all) {
        let share = track.medians(|held| Some(held.share.get())).pop().flatten();
        if share.is_some_and(|share| share >= SHARE.get()) {
            let times = track.medians(|held| held.launch_s().map(Seconds::get));
            kernels.extend(outlier(Some(track.name.clone()), &times));
        }
    }
    kernels.sort_by(|one: &Outlier, two| {
        let size = |one: &Outlier| (one.time_s - one.usual_s).abs() / one.usual_s;
        size(two).total_cmp(&size(one))
    });
    whole.into_iter().chain(kernels).collect()
}

/// Returns the batches with which the last one is compared: the [`WINDOW`] before it on the same devices,
/// oldest first.
pub(super) fn like<'a>(last: &Batch<'a>, before: &[Batch<'a>]) -> Vec<Batch<'a>> {
    let like = before.iter().rev().filter(|batch| batch.is_like(last));
    let mut like: Vec<Batch<'a>> = like.take(WINDOW).cloned().collect();
    like.reverse();
    like
}

/// Returns the median over the runs of a batch.
pub(super) fn typical(batch: &Batch<'_>, of: impl Fn(&Run) -> Option<f64>) -> Option<f64> {
    median(&batch.entries.iter().filter_map(|entry| of(&entry.run)).collect::<Vec<_>>())
}

/// Compares the last value with the others.
fn outlier(kernel: Option<String>, values: &[Option<f64>]) -> Option<Outlier> {
    let (last, before) = values.split_last()?;
    let now = (*last)?.ln();
    let before: Vec<f64> = before.iter().flatten().map(|value| value.ln()).collect();
    if before.len() < BEFORE || !now.is_finite() || !before.iter().all(|log| log.is_finite()) {
        return None;
    }
    // After a change that was accepted, the new level is the usual one as soon as it has a history.
    let times: Vec<f64> = before.iter().map(|log| log.exp()).collect();
    let steps = turns(&times, MIN_CHANGE).steps;
    let lasting = steps.iter().rev().find(|step| before.len() - step.at >= BEFORE);
    let before = &before[lasting.map_or(0, |step| step.at)..];
    let usual = median(before)?;
    let away: Vec<f64> = before.iter().map(|log| (log - usual).abs()).collect();
    // Where half of the values are the same, the mean deviation stands in, as the source advises.
    let unit = match median(&away)? {
        deviation if deviation > 0.0 => deviation / MEDIAN_DEVIATION,
        _ => mean(&away) * STANDARD_OF_MEAN_DEVIATION,
    };
    let shift = Shift::new(now - usual);
    let score = if unit > 0.0 { shift.abs().get() / unit } else { f64::INFINITY };
    if score <= FAR || shift.abs() < MIN_CHANGE.shift() {
        return None;
    }
    Some(Outlier {
        kernel,
        time_s: Seconds::new(now.exp()),
        usual_s: Seconds::new(usual.exp()),
        change: shift.change(),
        score,
        commits: before.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::batch::batches;
    use super::super::store::Store;
    use super::super::store::tests::save;
    use super::*;

    fn found(seconds: &[f64]) -> Vec<Outlier> {
        let folder = tempfile::tempdir().unwrap();
        for (day, seconds) in seconds.iter().enumerate() {
            let (commit, saved) = (format!("c{day}"), format!("2026-11-{:02}", day + 1));
            save(folder.path(), "default", "L4", Some(&commit), &saved, &[*seconds]);
        }
        let store = Store::open(folder.path()).unwrap();
        outliers(&batches(store.entries()))
    }

    #[test]
    fn what_is_far_from_all_before_is_told() {
        let usual = [1.0, 1.01, 0.99, 1.005, 0.995, 1.002];
        let with = |last: f64| [&usual[..], &[last]].concat();
        let told = found(&with(1.2));
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].kernel.is_none() && told[1].kernel.as_deref() == Some("gemm"));
        assert!((told[0].change.get() - 0.2).abs() < 0.01 && told[0].score > 10.0, "{told:?}");
        assert_eq!(told[0].commits, 6);
        let sentence = told[0].sentence();
        assert!(sentence.starts_with("the newest runs take 1.20 s, 19.9% more"), "{sentence}");
        // Faster is as far.
        assert_eq!(found(&with(0.8)).len(), 2);
        // A level that lasts is the usual one.
        let lasting = [0.5, 0.502, 0.499, 0.501, 0.498, 0.503, 0.5004];
        assert!(found(&[&lasting[..], &with(1.015)].concat()).is_empty());
        assert_eq!(found(&[&lasting[..], &with(1.2)].concat())[0].commits, 6);
        // Within the least change, within the spread, or with too few before: nothing.
        assert!(found(&with(1.04)).is_empty());
        assert!(found(&[1.0, 1.3, 0.8, 1.1, 0.9, 1.2, 1.25]).is_empty());
        assert!(found(&[1.0, 1.01, 0.99, 1.001, 1.5]).is_empty());
    }

    #[test]
    fn a_history_that_never_varies_makes_any_change_one() {
        let told = found(&[1.0, 1.000_000_1, 1.000_000_4, 1.000_000_2, 1.000_000_3, 1.06]);
        assert!(told[0].score > 1e3, "{told:?}");
    }
}
