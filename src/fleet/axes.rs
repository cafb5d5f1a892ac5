//! Where ranks are on the axes of parallelism, and the imbalance along each axis.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use super::ranks::Rank;
use super::stragglers::compute;
use crate::analysis::RankId;
use crate::ingest::IngestError;
use crate::plain;
use crate::units::Seconds;

/// What gives the positions of ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PositionsFrom {
    /// The names of the files that the ranks were read from.
    Names,
    /// The numbers of the ranks, by the sizes of the axes.
    Sizes,
    /// A file.
    Layout,
}

/// Imbalance along an axis of parallelism.
#[derive(Debug, Clone, PartialEq)]
pub struct Imbalance {
    /// Name of the run.
    pub run: Arc<str>,
    /// Name of the axis, such as `tensor`.
    pub axis: Arc<str>,
    /// Number of positions on it that have ranks.
    pub size: u64,
    /// Position whose ranks take longest.
    pub slowest: u64,
    /// Mean time of its ranks outside communication.
    pub slowest_time: Seconds,
    /// Mean over all positions.
    pub mean: Seconds,
}

impl Imbalance {
    /// Returns the largest time over the mean: 1 is balanced.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        if self.mean > Seconds::ZERO { self.slowest_time / self.mean } else { 1.0 }
    }
}

/// Gives each rank the positions that follow from its number: the first axis changes fastest.
///
/// # Errors
/// A description of the problem if the sizes do not multiply to the number of ranks, or an axis is there twice.
pub fn place(ranks: &mut [Rank], axes: &[(String, u64)]) -> Result<(), String> {
    let mut known = HashSet::new();
    if let Some((axis, _)) = axes.iter().find(|(axis, _)| !known.insert(axis.as_str())) {
        return Err(format!("axis {axis} twice"));
    }
    let all: Option<u64> = axes.iter().try_fold(1_u64, |all, (_, size)| all.checked_mul(*size));
    let highest = ranks.iter().map(|rank| rank.id.rank.saturating_add(1)).max().unwrap_or_default();
    if all != Some(highest) {
        let all = all.map_or("too many".to_owned(), |all| all.to_string());
        return Err(format!(
            "the axes have {all} positions, the run has ranks 0 to {}",
            highest.saturating_sub(1)
        ));
    }
    let axes: Vec<(Arc<str>, u64)> =
        axes.iter().map(|(axis, size)| (axis.as_str().into(), *size)).collect();
    for rank in ranks {
        let mut rest = rank.id.rank;
        let on = |(axis, size): &(Arc<str>, u64)| {
            let position = rest % size;
            rest /= size;
            (Arc::clone(axis), position)
        };
        rank.positions = axes.iter().map(on).collect();
    }
    Ok(())
}

/// The positions of the ranks of jobs whose layout is not regular: a table with the column `rank`, one for each axis,
/// and `run` if it differs.
#[derive(Debug, Clone)]
pub struct Layout {
    name: String,
    axes: Vec<Arc<str>>,
    /// By run, if the table names them, and rank.
    of: BTreeMap<(Option<String>, u64), Vec<u64>>,
}

impl Layout {
    /// Reads the CSV file of a layout.
    ///
    /// # Errors
    /// [`IngestError`] if it cannot be read, or is not such a table.
    pub fn read(path: &Path) -> Result<Self, IngestError> {
        let text = plain::text_of(path, plain::WRITTEN).map_err(|cause| {
            let message = format!("cannot read: {}", plain::io(&cause));
            IngestError::new(path.display(), message).help("check the path given to --layout")
        })?;
        Self::parse(&path.display().to_string(), &text)
    }

    /// Reads the text of such a file.
    ///
    /// # Errors
    /// [`IngestError`] if it is not such a table.
    pub fn parse(name: &str, text: &str) -> Result<Self, IngestError> {
        let error = |message: String| {
            IngestError::new(name, message).help(
                "write a line for each rank below a header such as: rank,tensor,pipeline,data",
            )
        };
        let text = text.trim_start_matches('\u{feff}');
        let mut reader =
            csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
        let damaged = |cause: csv::Error| error(format!("not a table: {cause}"));
        let titles: Vec<String> =
            reader.headers().map_err(damaged)?.iter().map(str::to_ascii_lowercase).collect();
        let mut known = HashSet::new();
        if let Some(title) = titles.iter().find(|title| !known.insert(title.as_str())) {
            return Err(error(format!("column {title:?} twice")));
        }
        let rank_at = titles.iter().position(|title| title == "rank");
        let rank_at = rank_at.ok_or_else(|| error("no column \"rank\"".to_owned()))?;
        let run_at = titles.iter().position(|title| title == "run");
        let is_axis = |at: &usize| *at != rank_at && Some(*at) != run_at;
        let axes_at: Vec<usize> = (0..titles.len()).filter(is_axis).collect();
        if axes_at.is_empty() || titles.iter().any(String::is_empty) {
            return Err(error("no column that names an axis".to_owned()));
        }
        let mut of = BTreeMap::new();
        for row in reader.records() {
            let row = row.map_err(damaged)?;
            let line = row.position().map_or(0, csv::Position::line);
            let number = |at: usize| {
                let text = row.get(at).unwrap_or_default();
                let title = &titles[at];
                let wrong = || error(format!("{title} {text:?} is not a whole number")).line(line);
                text.parse::<u64>().map_err(|_| wrong())
            };
            let rank = number(rank_at)?;
            let positions = axes_at.iter().map(|at| number(*at)).collect::<Result<Vec<_>, _>>()?;
            let run = run_at.map(|at| row.get(at).unwrap_or_default().to_owned());
            if of.insert((run, rank), positions).is_some() {
                return Err(error(format!("rank {rank} twice")).line(line));
            }
        }
        let axes = axes_at.into_iter().map(|at| titles[at].as_str().into()).collect();
        Ok(Self { name: name.to_owned(), axes, of })
    }

    /// Gives each rank its positions. Returns what the layout has and the job has not, one sentence each.
    ///
    /// # Errors
    /// [`IngestError`] if a rank is not in the layout.
    pub fn place(&self, ranks: &mut [Rank]) -> Result<Vec<String>, IngestError> {
        let has_runs = self.of.keys().any(|(run, _)| run.is_some());
        let key = |id: &RankId| (has_runs.then(|| id.run.to_string()), id.rank);
        for rank in &mut *ranks {
            let positions = self.of.get(&key(&rank.id)).ok_or_else(|| {
                IngestError::new(&self.name, format!("rank {} is not in the layout", rank.id))
                    .help("add a line for it")
            })?;
            let axes = self.axes.iter().map(Arc::clone);
            rank.positions = axes.zip(positions.iter().copied()).collect();
        }
        let there: BTreeSet<(Option<String>, u64)> = ranks.iter().map(|one| key(&one.id)).collect();
        let missing = self.of.keys().filter(|key| !there.contains(key)).count();
        let note = || format!("{missing} of {} ranks of the layout are not there", self.of.len());
        Ok((missing > 0).then(note).into_iter().collect())
    }
}

/// An axis as the ranks of a run have it.
struct Axis<'a> {
    name: &'a Arc<str>,
    /// Times outside communication and numbers of ranks by position.
    times: BTreeMap<u64, (f64, u64)>,
    /// Ranks that have a position on it.
    placed: usize,
}

/// Returns the imbalance of each run along the axes on which its ranks have different positions, and in a sentence each
/// axis on which only some have one: nothing is compared there.
#[must_use]
pub fn imbalances(ranks: &[Rank]) -> (Vec<Imbalance>, Vec<String>) {
    let mut runs: BTreeMap<&Arc<str>, Vec<&Rank>> = BTreeMap::new();
    for rank in ranks {
        runs.entry(&rank.id.run).or_default().push(rank);
    }
    let (mut found, mut notes) = (Vec::new(), Vec::new());
    for (run, mut ranks) in runs {
        let all = ranks.len();
        ranks.retain(|rank| rank.measured().is_some());
        if ranks.len() < all && ranks.iter().any(|rank| !rank.positions.is_empty()) {
            let timed = ranks.len();
            notes.push(format!(
                "run {run}: only {timed} of {all} ranks have durations; the imbalance is that of these"
            ));
        }
        let mut axes: Vec<Axis<'_>> = Vec::new();
        let mut known: HashMap<&Arc<str>, usize> = HashMap::new();
        for rank in &ranks {
            let time = compute(rank);
            for (name, position) in &rank.positions {
                let at = *known.entry(name).or_insert_with(|| {
                    axes.push(Axis { name, times: BTreeMap::new(), placed: 0 });
                    axes.len() - 1
                });
                let (sum, count) = axes[at].times.entry(*position).or_default();
                (*sum, *count) = (*sum + time, *count + 1);
                axes[at].placed += 1;
            }
        }
        for Axis { name: axis, times, placed } in axes {
            // The size of an axis is in the names of all ranks, and is no position.
            if times.len() < 2 {
                continue;
            }
            if placed < ranks.len() {
                notes.push(format!(
                    "run {run}: only {placed} of {} ranks have a position on the axis {axis}, which is not compared",
                    ranks.len()
                ));
                continue;
            }
            let means = times.iter().map(|(at, (time, count))| (*at, time / *count as f64));
            let means: Vec<(u64, f64)> = means.collect();
            let slowest = means.iter().rev().max_by(|one, two| one.1.total_cmp(&two.1));
            let (slowest, time) = slowest.copied().unwrap_or_default();
            let sum: f64 = means.iter().map(|(_, mean)| mean).sum();
            found.push(Imbalance {
                run: Arc::clone(run),
                axis: Arc::clone(axis),
                size: means.len() as u64,
                slowest,
                slowest_time: Seconds::new(time),
                mean: Seconds::new(sum / means.len() as f64),
            });
        }
    }
    (found, notes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::RankFigures;

    /// Ranks of a second each, with the times that a test gives them.
    fn ranks(count: u64, time: impl Fn(u64) -> f64) -> Vec<Rank> {
        let one = |rank| {
            let figures =
                RankFigures { measured: Seconds::new(time(rank)), ..RankFigures::default() };
            let id = RankId { run: "run".into(), rank };
            Rank { id, figures, positions: Vec::new(), checks: Arc::from([]) }
        };
        (0..count).map(one).collect()
    }

    fn parsed(text: &str) -> Result<Layout, String> {
        Layout::parse("layout.csv", text).map_err(|error| error.to_string())
    }

    #[test]
    fn imbalance_follows_the_position_on_each_axis() {
        // Two tensor positions, four pipeline stages; the third stage takes 1.8 s instead of 0.8 s.
        let mut ranks = ranks(8, |rank| if rank / 2 == 2 { 1.8 } else { 0.8 });
        let axes = [("tensor".to_owned(), 2), ("pipeline".to_owned(), 4)];
        place(&mut ranks, &axes).unwrap();
        let (found, notes) = imbalances(&ranks);
        assert_eq!((found[0].ratio(), found[1].slowest, notes.len()), (1.0, 2, 0));
        assert!((found[1].ratio() - 1.8 / 1.05).abs() < 1e-12, "{found:?}");
        let error = place(&mut ranks, &axes[..1]).unwrap_err();
        assert_eq!(error, "the axes have 2 positions, the run has ranks 0 to 7");
        let twice = ["data", "data"].map(|axis| (axis.to_owned(), 2));
        assert_eq!(place(&mut ranks, &twice).unwrap_err(), "axis data twice");
    }

    #[test]
    fn ranks_without_durations_count_for_no_mean() {
        let mut ranks = ranks(4, |rank| if rank % 2 == 1 { 0.0 } else { 1.0 });
        place(&mut ranks, &[("tensor".to_owned(), 2), ("data".to_owned(), 2)]).unwrap();
        let (found, notes) = imbalances(&ranks);
        // Nothing is known of the second tensor position.
        let [data] = &found[..] else { panic!("{found:?}") };
        assert_eq!((&*data.axis, data.ratio()), ("data", 1.0));
        assert_eq!(
            notes,
            ["run run: only 2 of 4 ranks have durations; the imbalance is that of these"]
        );
    }

    #[test]
    fn an_axis_without_a_position_for_each_rank_is_named_and_left_out() {
        let mut ranks = ranks(4, |rank| 1.0 + rank as f64);
        for rank in &mut ranks {
            // The same for all: a size. Different: a position.
            rank.positions = vec![("data".into(), 8), ("tensor".into(), rank.id.rank % 2)];
        }
        let (found, notes) = imbalances(&ranks);
        assert_eq!((found.len(), &*found[0].axis, found[0].slowest), (1, "tensor", 1));
        assert!(notes.is_empty(), "{notes:?}");
        ranks[3].positions.truncate(1);
        let (found, notes) = imbalances(&ranks);
        assert!(found.is_empty());
        assert!(
            notes[0].starts_with("run run: only 3 of 4 ranks have a position on the axis tensor")
        );
    }

    #[test]
    fn a_layout_places_ranks_by_number() {
        let layout = parsed("Rank, tensor, Stage\n0,0,0\n1,1,0\n2,0,1\n3,0,2\n9,0,3\n").unwrap();
        let mut ranks = ranks(4, |rank| if rank == 3 { 3.0 } else { 1.0 });
        let notes = layout.place(&mut ranks).unwrap();
        assert_eq!(notes, ["1 of 5 ranks of the layout are not there"]);
        let (found, _) = imbalances(&ranks);
        // The only rank of the last stage; of tensor position 0 there are three.
        assert_eq!((found[1].slowest, found[1].slowest_time), (2, Seconds::new(3.0)));
        assert_eq!((found[0].slowest_time, found[0].size), (Seconds::new(5.0 / 3.0), 2));
        ranks[0].id.rank = 7;
        let error = layout.place(&mut ranks).unwrap_err().to_string();
        assert_eq!(error, "layout.csv: rank run/7 is not in the layout");
    }

    #[test]
    fn a_layout_may_differ_by_run() {
        let layout = parsed("run,rank,data\na,0,0\na,1,1\nrun,0,1\nrun,1,0\n").unwrap();
        let mut ranks = ranks(2, |_| 1.0);
        assert_eq!(layout.place(&mut ranks).unwrap().len(), 1);
        assert_eq!(ranks[0].positions, [("data".into(), 1)]);
    }

    #[test]
    fn what_is_not_a_layout_is_refused() {
        for (text, expected) in [
            ("tensor,data\n0,0\n", "no column \"rank\""),
            ("rank\n0\n", "no column that names an axis"),
            ("rank,\n0,1\n", "no column that names an axis"),
            ("rank,a,A\n0,1,2\n", "column \"a\" twice"),
            ("rank,a\n0,x\n", ":2: a \"x\" is not a whole number"),
            ("rank,a\n0,1\n0,2\n", ":3: rank 0 twice"),
            ("rank,a\n0\n", "not a table"),
        ] {
            let error = parsed(text).unwrap_err();
            assert!(error.contains(expected), "{text:?}: {error}");
        }
    }
}
