//! Performance of a run and its kernels over commits, with change points.

use schemars::JsonSchema;
use serde::Serialize;

use super::batch::{Batch, batches, counted_commits};
use super::change::{ENOUGH, MIN_CHANGE, MIN_SIDE};
use super::chosen::Filter;
use super::distinct::distinct;
use super::error::HistoryError;
use super::found::{Found, Times, control};
use super::line::{Line, Spread};
use super::linked::{Track, linked};
use super::metric::TrendMetric;
use super::outlier::typical;
use super::store::Store;
use crate::json;
use crate::plain::counted;
use crate::units::{Dimension, RelativeChange, Seconds, Share, median};

/// One commit, or one save if no commit is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Point {
    /// Time at which its first run was saved, as `2026-11-22T05:30:00Z`.
    pub saved: Option<String>,
    /// Its commit.
    pub commit: Option<String>,
    /// Its branch.
    pub branch: Option<String>,
    /// Names of its entries.
    pub entries: Vec<String>,
}

/// The smallest changes that are looked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Least {
    /// Of the whole run.
    pub run: RelativeChange,
    /// Of a kernel.
    pub kernel: RelativeChange,
}

impl Default for Least {
    /// [`MIN_CHANGE`] of both.
    fn default() -> Self {
        Self { run: MIN_CHANGE, kernel: MIN_CHANGE }
    }
}

/// Performance of a baseline over commits.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Trend {
    /// Type and major version of this document.
    pub schema: &'static str,
    /// Version of rooflint that wrote it.
    pub rooflint: &'static str,
    /// Name of the baseline.
    pub name: String,
    /// The devices of its runs.
    pub devices: Vec<String>,
    /// Name or pattern by which kernels were selected.
    pub chosen: Option<String>,
    /// The metric of a trend.
    pub metric: TrendMetric,
    /// Unit of the values: `s`, `ratio` or `share`.
    #[schemars(with = "String")]
    pub unit: Dimension,
    /// The commits, oldest first.
    pub points: Vec<Point>,
    /// The whole run; `None` if kernels are selected, and for shares.
    pub whole: Option<Line>,
    /// Kernels: largest change first, then most time.
    pub kernels: Vec<Line>,
    /// What exceeds a limit, one sentence each, if limits were asked for.
    pub exceeded: Vec<String>,
    /// What exceeds a limit that makes a gate inconclusive, or why nothing was checked, if limits were asked for.
    pub inconclusive: Vec<String>,
    /// What exceeds a limit that does not fail, or that a waiver accepts.
    pub warned: Vec<String>,
    /// Caveats, one sentence each.
    pub notes: Vec<String>,
}

/// Returns the JSON schema of a trend, as pretty-printed JSON.
#[must_use]
pub fn trend_schema() -> String {
    json::schema::<Trend>("trend-1", "Trend of saved runs by rooflint trend")
}

/// Kernels with less than 1% of the time are only tracked if they are named: among hundreds, some
/// change by chance.
const SHARE: Share = Share::new(0.01);

/// Computes the trend of a baseline: the whole run and every kernel with 1% of the time, or the
/// kernels that match a pattern. Steps and drifts smaller than `smallest` are not looked for.
///
/// # Errors
/// [`HistoryError::NotFound`] if nothing matches.
pub fn trend(
    store: &Store,
    filter: &Filter,
    metric: TrendMetric,
    kernel: Option<&str>,
    smallest: Least,
) -> Result<Trend, HistoryError> {
    let newest = store.baseline(filter)?;
    let Some(last) = newest.last() else {
        return Err(HistoryError::NotFound { message: store.nothing(filter) });
    };
    let devices = last.run.device_names();
    let fitting = store.entries().iter().filter(|entry| filter.fits(entry));
    let (same, others): (Vec<_>, Vec<_>) =
        fitting.partition(|entry| entry.run.device_names() == devices);
    let other_devices = distinct(others.iter().map(|entry| entry.run.device_names().join(", ")));
    let batches = batches(same);
    let tracks: Vec<Track<'_>> = linked(&batches)
        .into_iter()
        .filter(|track| match kernel {
            Some(pattern) => is_named(track, &batches, pattern),
            None => share(track) >= SHARE,
        })
        .collect();
    if let (Some(pattern), true) = (kernel, tracks.is_empty()) {
        let message = format!("no kernel of the saved runs matches {pattern:?}");
        return Err(HistoryError::NotFound { message });
    }
    let whole = if kernel.is_none() { whole(&batches, metric, smallest.run) } else { None };
    let mut found: Vec<Found> =
        tracks.iter().map(|track| found(track, metric, smallest.kernel)).collect();
    control(&mut found);
    let mut kernels: Vec<Line> = found.into_iter().map(Found::weighed).collect();
    // What is gone costs nothing any more.
    kernels.sort_by(|one, two| {
        one.is_gone.cmp(&two.is_gone).then_with(|| two.impact().total_cmp(&one.impact()))
    });
    let mut notes = notes(&batches, metric, &other_devices);
    let mixed = kernels.iter().filter(|line| line.metric != metric).count() as u64;
    if mixed > 0 {
        let lines = counted(mixed, "kernel stands", "kernels stand");
        notes.push(format!(
            "{lines} for several of one family, which are others from commit to commit: the time of all their launches \
             is followed"
        ));
    }
    Ok(Trend {
        schema: "rooflint/trend/1",
        rooflint: env!("CARGO_PKG_VERSION"),
        name: last.name.clone(),
        devices: devices.into_iter().map(str::to_owned).collect(),
        chosen: kernel.map(str::to_owned),
        metric,
        unit: metric.unit(),
        points: batches.iter().map(point).collect(),
        whole,
        kernels,
        exceeded: Vec::new(),
        inconclusive: Vec::new(),
        warned: Vec::new(),
        notes,
    })
}

fn point(batch: &Batch<'_>) -> Point {
    Point {
        saved: batch.saved().map(|saved| saved.to_string()),
        commit: batch.commit().map(str::to_owned),
        branch: batch.branch().map(str::to_owned),
        entries: batch.entries.iter().map(|entry| entry.id.clone()).collect(),
    }
}

/// Returns `true` if any of the kernels tracked as one has this name.
fn is_named(track: &Track<'_>, batches: &[Batch<'_>], pattern: &str) -> bool {
    // A kernel is called by its newest name, or by the name of any that fits and is linked to it.
    let mut kernels = batches.iter().flat_map(|batch| &batch.entries);
    kernels.any(|entry| {
        entry.run.kernels.iter().any(|kernel| {
            let is_it = kernel.name == track.name
                && (kernel.full_name == track.full_name || kernel.full_name.is_empty());
            is_it && kernel.operator == track.operator && kernel.is_named(pattern)
        })
    })
}

/// Returns the share of the run time in the newest runs that have it.
fn share(track: &Track<'_>) -> Share {
    let shares = track.medians(|held| Some(held.share.get()));
    Share::new(shares.into_iter().flatten().next_back().unwrap_or(0.0))
}

fn spread(values: &[f64]) -> Option<Spread> {
    let median = median(values)?;
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Some(Spread { median, least, greatest, runs: values.len() })
}

fn whole(batches: &[Batch<'_>], metric: TrendMetric, least: RelativeChange) -> Option<Line> {
    let values: Vec<Option<Spread>> = batches
        .iter()
        .map(|batch| {
            let runs = batch.entries.iter().filter_map(|entry| metric.of_run(&entry.run));
            spread(&runs.collect::<Vec<_>>())
        })
        .collect();
    if values.iter().all(Option::is_none) {
        return None;
    }
    let times = batches.iter().map(|batch| typical(batch, |run| Some(run.whole_s().get())));
    let times = times.map(|run| run.map(|run| Times { run, mean: run })).collect();
    let line = Line { metric, share: Share::new(1.0), values, ..Line::default() };
    Some(Found::of(line, times, least).weighed())
}

fn found(track: &Track<'_>, metric: TrendMetric, least: RelativeChange) -> Found {
    let metric = match metric {
        TrendMetric::Time if track.is_mixed => TrendMetric::Total,
        metric => metric,
    };
    let values = track.batches.iter().map(|runs| {
        spread(&runs.iter().filter_map(|held| metric.of_kernel(held)).collect::<Vec<_>>())
    });
    let line = Line {
        kernel: Some(track.name.clone()),
        full_name: Some(track.full_name.clone()),
        operator: track.operator.clone(),
        shape: track.shape.clone(),
        category: track.category.clone(),
        metric,
        share: share(track),
        values: values.collect(),
        ..Line::default()
    };
    let runs = track.medians(|held| Some(held.time_s.get()));
    // A slower launch and more launches are two changes: the time of a launch does not contain the second.
    let means = match metric {
        TrendMetric::Time | TrendMetric::Headroom => {
            track.medians(|held| held.mean_s().map(Seconds::get))
        }
        TrendMetric::Total | TrendMetric::Share => runs.clone(),
    };
    let times = runs.into_iter().zip(means);
    let times = times.map(|(run, mean)| Some(Times { run: run?, mean: mean? })).collect();
    Found::of(line, times, least)
}

fn notes(batches: &[Batch<'_>], metric: TrendMetric, other_devices: &[String]) -> Vec<String> {
    let mut notes = Vec::new();
    if batches.len() < ENOUGH {
        let commits = counted_commits(batches.iter().map(|batch| batch.commit().is_some()));
        let is = if batches.len() == 1 { "is" } else { "are" };
        notes.push(format!(
            "{commits} {is} too few to find changes; at least {ENOUGH} are needed, {MIN_SIDE} on each side of a change"
        ));
    }
    if !other_devices.is_empty() {
        notes.push(format!(
            "runs on other devices are excluded ({}); select them with --device",
            other_devices.join("; ")
        ));
    }
    let entries = || batches.iter().flat_map(|batch| &batch.entries);
    let branches = distinct(entries().filter_map(|entry| entry.run.origin.branch.as_deref()));
    if branches.len() > 1 {
        notes.push(format!("runs of several branches are combined: {}", branches.join(", ")));
    }
    let launches = || entries().map(|entry| entry.run.launches);
    let (least, most) = (launches().min().unwrap_or(0), launches().max().unwrap_or(0));
    if least != most && matches!(metric, TrendMetric::Time | TrendMetric::Total) {
        notes.push(format!(
            "runs have between {least} and {most} launches; a total may change with the amount of \
             work"
        ));
    }
    let ceilings = distinct(entries().map(|entry| entry.run.ceilings.as_str()));
    if ceilings.len() > 1 && metric == TrendMetric::Headroom {
        notes.push(format!(
            "headroom refers to different ceilings ({}); compare with care",
            ceilings.join(", ")
        ));
    }
    let times = || batches.iter().filter_map(|batch| Some((batch.saved()?, batch.commit())));
    let at_once =
        times().zip(times().skip(1)).filter(|(one, two)| one.0 == two.0 && one.1 != two.1).count();
    if at_once > 0 {
        notes.push(format!(
            "{} saved at the same time as the one before: their order is unknown, and so is the commit of a change; save \
             them with the time of day (--date 2026-11-22T05:30)",
            if at_once == 1 { "1 commit was".to_owned() } else { format!("{at_once} commits were") }
        ));
    }
    let undated = entries().filter(|entry| entry.saved.is_none()).count();
    if undated > 0 {
        notes.push(format!("{undated} entries have no save time and are listed first"));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::super::form::SavedAs;
    use super::super::layout::MARKER;
    use super::super::store::Entry;
    use super::super::store::tests::{kernel, run};
    use super::*;
    use crate::compare::Run;

    /// A store with a commit a day: seconds of `a` and of `b`, in two runs each.
    fn made(folder: &std::path::Path, days: &[(f64, f64)]) -> Store {
        std::fs::write(folder.join(MARKER), Store::marker()).unwrap();
        std::fs::create_dir_all(folder.join("default")).unwrap();
        for (day, (a, b)) in days.iter().enumerate() {
            let runs = [1.0, 1.002].map(|factor| {
                let name = format!("triton_poi_fused_b_{day}");
                run("L4", vec![kernel("a", a * factor), kernel(&name, b * factor)])
            });
            let saved = format!("2026-11-{:02}", day + 1).parse().unwrap();
            let store = Store::open(folder).unwrap();
            let commit = format!("{day:08x}");
            let of_commit = |mut run: Run| {
                run.origin.commit = Some(commit.clone());
                run
            };
            let runs = runs.map(of_commit).to_vec();
            for placed in store.place(runs, ("default", SavedAs::Json), saved).unwrap() {
                std::fs::write(placed.path, placed.content).unwrap();
            }
        }
        Store::open(folder).unwrap()
    }

    fn wobble(day: usize) -> f64 {
        1.0 + 0.004 * ((day * 7 % 5) as f64 - 2.0)
    }

    #[test]
    fn a_step_of_a_kernel_is_found_at_its_commit() {
        let folder = tempfile::tempdir().unwrap();
        let days: Vec<(f64, f64)> = (0..14)
            .map(|day| {
                let b = if day < 8 { 1.0 } else { 1.5 };
                (3.0 * wobble(day), b * wobble(day + 3))
            })
            .collect();
        let store = made(folder.path(), &days);
        let found =
            trend(&store, &Filter::default(), TrendMetric::Time, None, Least::default()).unwrap();
        assert_eq!((found.points.len(), found.points[8].commit.as_deref()), (14, Some("00000008")));
        let [b, a] = found.kernels.as_slice() else { panic!("{found:?}") };
        assert_eq!(b.kernel.as_deref(), Some("triton_poi_fused_b_13"));
        let [change] = b.changes.as_slice() else { panic!("{b:?}") };
        assert_eq!((change.point, change.step.values_before), (8, 8));
        assert!((change.step.change.get() - 0.5).abs() < 0.01, "{change:?}");
        assert!((change.impact_s.get() - 0.5).abs() < 0.02, "{change:?}");
        // One launch of two.
        assert!((change.step.before - 0.5).abs() < 0.01);
        assert!(a.changes.is_empty());
        // The whole moved by 0.5 of 4 seconds.
        let whole = found.whole.unwrap();
        assert_eq!(whole.changes.len(), 1);
        assert!((whole.changes[0].step.change.get() - 0.125).abs() < 0.01);
        let spread = whole.values[0].unwrap();
        assert_eq!(spread.runs, 2);
        assert!(spread.least < spread.median && spread.median < spread.greatest);
        assert!(found.notes.is_empty(), "{:?}", found.notes);
    }

    #[test]
    fn metrics_and_kernels_are_chosen() {
        let folder = tempfile::tempdir().unwrap();
        let days: Vec<(f64, f64)> = (0..8).map(|day| (3.0 * wobble(day), wobble(day))).collect();
        let store = made(folder.path(), &days);
        let of = |metric, pattern: &str| {
            trend(&store, &Filter::default(), metric, Some(pattern), Least::default()).map(
                |found| {
                    assert!(found.whole.is_none());
                    let values = found.kernels.iter().map(|line| line.values[2].unwrap().median);
                    values.collect::<Vec<_>>()
                },
            )
        };
        let share = of(TrendMetric::Share, "a").unwrap();
        assert!((share[0] - 0.75).abs() < 1e-9);
        // The expected time of every kernel is 0.25 s.
        let headroom = of(TrendMetric::Headroom, "triton*").unwrap();
        assert!((headroom[0] - 4.0 * wobble(2) * 1.001).abs() < 1e-9);
        assert_eq!(of(TrendMetric::Total, "*").unwrap().len(), 2);
        let error = of(TrendMetric::Time, "c").unwrap_err().to_string();
        assert!(error.contains("\"c\""), "{error}");
        let whole =
            trend(&store, &Filter::default(), TrendMetric::Headroom, None, Least::default())
                .unwrap();
        assert!(
            (whole.whole.unwrap().values[2].unwrap().median - 8.0 * wobble(2) * 1.001).abs() < 1e-9
        );
    }

    #[test]
    fn what_does_not_belong_together_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = made(folder.path(), &[(3.0, 1.0), (3.1, 1.0)]);
        let found =
            trend(&store, &Filter::default(), TrendMetric::Time, None, Least::default()).unwrap();
        assert!(found.notes[0].starts_with("2 commits are too few"), "{:?}", found.notes);
        assert!(found.kernels.iter().all(|line| !line.is_judged));
        let other =
            Entry { run: run("H100", vec![kernel("a", 9.0)]), ..store.entries()[0].clone() };
        store = with(&store, &other);
        let found =
            trend(&store, &Filter::default(), TrendMetric::Time, None, Least::default()).unwrap();
        assert_eq!((found.devices, found.points.len()), (vec!["L4".to_owned()], 2));
        assert!(found.notes[1].contains("H100"), "{:?}", found.notes);
        let nowhere = Filter { branch: Some("dev".to_owned()), ..Filter::default() };
        assert!(trend(&store, &nowhere, TrendMetric::Time, None, Least::default()).is_err());
    }

    /// Five launches of 1 ms and 4 ms, of which two, then three are in the slower mode: the median goes from 1 to 4 ms, and
    /// a typical launch takes 2 ms on all twelve days, as in a gate.
    #[test]
    fn a_kernel_with_two_modes_makes_no_step() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(MARKER), Store::marker()).unwrap();
        std::fs::create_dir_all(folder.path().join("default")).unwrap();
        for day in 0..12_usize {
            let slow = if day < 6 { 2 } else { 3 };
            let times = [[1e-3; 5], [4e-3; 5]].concat()[slow..slow + 5].to_vec();
            let mut kernel = kernel("a", times.iter().sum());
            (kernel.launches, kernel.timed) = (5, 5);
            kernel.samples_s = times.into_iter().map(Seconds::new).collect();
            let mut run = run("L4", vec![kernel]);
            run.origin.commit = Some(format!("{day:08x}"));
            run.origin.saved = Some(format!("2026-11-{:02}T00:00:00Z", day + 1));
            run.fingerprint = format!("{day:032x}");
            std::fs::write(folder.path().join(format!("default/{day:02}.json")), run.json())
                .unwrap();
        }
        let store = Store::open(folder.path()).unwrap();
        let found = trend(&store, &Filter::default(), TrendMetric::Time, None, Least::default());
        let line = &found.unwrap().kernels[0];
        let is_two = |value: &Option<Spread>| (value.unwrap().median - 2e-3).abs() < 1e-15;
        assert!(line.values.iter().all(is_two), "{line:?}");
        assert!(line.is_judged && line.changes.is_empty() && line.drift.is_none(), "{line:?}");
    }

    /// The store with an entry before all others.
    fn with(store: &Store, entry: &Entry) -> Store {
        let path = store.folder().join("default/2026-10-01T000000Z-none-00000000.json");
        std::fs::write(path, entry.run.json()).unwrap();
        Store::open(store.folder()).unwrap()
    }
}
