//! The ranks of a job: what is known of each, and what limits their comparison.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use super::jobs::side_by_side;
use super::names::Positions;
use super::own::OwnDevice;
use crate::analysis::{AnalysisError, Options, Partial, RankFigures, RankId};
use crate::catalog::Catalog;
use crate::ingest::IngestError;
use crate::model::Profile;
use crate::plain::counted;
use crate::units::{Seconds, si};

/// One rank of a fleet.
#[derive(Debug, Clone, PartialEq)]
pub struct Rank {
    /// Run and number.
    pub id: RankId,
    /// Sums over its launches.
    pub figures: RankFigures,
    /// Its positions on the axes of parallelism, as far as they are known.
    pub positions: Positions,
    /// What changes the meaning of its figures, one sentence each.
    pub checks: Arc<[String]>,
}

impl Rank {
    /// Returns its measured time; `None` if none of its launches has a duration: such a rank is neither fast nor slow.
    #[must_use]
    pub fn measured(&self) -> Option<Seconds> {
        Some(self.figures.measured).filter(|time| *time > Seconds::ZERO)
    }

    /// Returns a part of its time in seconds; `None` if none of its launches has a duration.
    pub(crate) fn timed(&self, part: Seconds) -> Option<f64> {
        self.measured().map(|_| part.get())
    }
}

/// Many ranks, merged.
pub struct Gathered {
    /// Sums by kernel.
    pub partial: Partial,
    /// The ranks by run and number.
    pub ranks: Vec<Rank>,
    /// What limits the comparison of the ranks, one sentence each.
    pub notes: Vec<String>,
    /// Rows of the launch table.
    pub rows: u64,
    /// Devices of users' files among those of the kernels.
    pub own_devices: Vec<OwnDevice>,
}

impl Gathered {
    /// Orders what was merged, and names what limits the comparison of the ranks.
    pub(super) fn of(
        (partial, mut ranks): (Partial, Vec<Rank>),
        rows: u64,
        catalog: &Catalog,
    ) -> Self {
        ranks.sort_by(|one, two| one.id.cmp(&two.id));
        let mut notes = gaps(ranks.iter().map(|rank| &rank.id));
        notes.extend(other_devices(&ranks));
        notes.extend(copies(&ranks));
        notes.extend(remarks(ranks.iter().map(|rank| (&rank.id, &*rank.checks))));
        let own_devices = OwnDevice::used(&partial, catalog);
        Self { partial: partial.ordered(), ranks, notes, rows, own_devices }
    }

    /// The same for summaries, whose ranks keep the figures that they were summarized with.
    pub(super) fn of_summaries(whole: (Partial, Vec<Rank>), rows: u64, catalog: &Catalog) -> Self {
        let mut gathered = Self::of(whole, rows, catalog);
        gathered.notes.extend(reclassified(&gathered));
        gathered
    }
}

/// Sums the launches of one rank that was read already.
///
/// # Errors
/// [`AnalysisError`] under the same conditions as [`crate::analysis::analyze`].
pub fn summarize(
    profile: &Profile,
    id: RankId,
    catalog: &Catalog,
    options: &Options,
) -> Result<Gathered, AnalysisError> {
    let partial = Partial::of(profile, &id, catalog, options, options.ceilings)?;
    let halved = partial.halved_reads().map(str::to_owned);
    let checks =
        partial.contradiction().into_iter().chain(halved).chain(profile.remarks()).collect();
    let rank = Rank { id, figures: partial.figures(), positions: Positions::new(), checks };
    let rows = profile.launches.len() as u64;
    let own_devices = OwnDevice::used(&partial, catalog);
    let partial = partial.ordered();
    Ok(Gathered { partial, ranks: vec![rank], notes: Vec::new(), rows, own_devices })
}

/// Says that kernels of summaries have other classes here than where their ranks were summarized.
fn reclassified(gathered: &Gathered) -> Option<String> {
    /// Sums of ranks are rounded once each.
    const ROUNDING: f64 = 1e-9;
    let figures = gathered.partial.figures();
    let ranks: Seconds = gathered.ranks.iter().map(|rank| rank.figures.communication).sum();
    let difference = (figures.communication.get() - ranks.get()).abs();
    (difference > ROUNDING * figures.measured.get()).then(|| {
        format!(
            "{} of communication are {} in the ranks, which keep the kernel names they were summarized with: summarize \
             them with the configuration given here",
            si(figures.communication, "s"),
            si(ranks, "s")
        )
    })
}

/// Merges what `read` returns for each item, side by side; nothing is merged if one fails, of several the first.
pub(super) fn merged<T: Sync>(
    items: &[T],
    threads: usize,
    read: impl Fn(usize, &T) -> Result<(Partial, Vec<Rank>), IngestError> + Sync,
) -> Result<(Partial, Vec<Rank>), IngestError> {
    let each = |(partial, ranks): &mut (Partial, Vec<Rank>), at, item: &T| {
        let (one, some) = read(at, item)?;
        partial.merge(one);
        ranks.extend(some);
        Ok(())
    };
    let mut whole = (Partial::default(), Vec::new());
    for (partial, ranks) in side_by_side(threads, items, each)? {
        whole.0.merge(partial);
        whole.1.extend(ranks);
    }
    Ok(whole)
}

/// Says what changes the meaning of the figures of ranks: of a few as their exports say it.
pub(super) fn remarks<'a, I: fmt::Display>(
    ranks: impl Iterator<Item = (I, &'a [String])>,
) -> Vec<String> {
    /// How many are said.
    const SAID: usize = 3;
    let mut some: Vec<(I, &[String])> = ranks.filter(|(_, own)| !own.is_empty()).collect();
    let rest = some.split_off(some.len().min(SAID));
    let of = |(id, own): (I, &[String])| format!("rank {id}: {}", own.join("; "));
    let mut notes: Vec<String> = some.into_iter().map(of).collect();
    if let [(first, _), ..] = rest.as_slice() {
        let ranks = counted(rest.len() as u64, "more rank has a note", "more ranks have a note");
        notes.push(format!("{ranks} on its export, the first {first}"));
    }
    notes
}

/// Names the ranks that lack below the highest of each run.
fn gaps<'a>(ids: impl Iterator<Item = &'a RankId>) -> Vec<String> {
    /// How many gaps are named.
    const NAMED: usize = 8;
    let mut runs: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    for id in ids {
        runs.entry(&id.run).or_default().insert(id.rank);
    }
    let mut notes = Vec::new();
    for (run, ranks) in runs {
        let (mut missing, mut gaps, mut next) = (0, Vec::new(), 0);
        for rank in &ranks {
            if *rank > next {
                missing += rank - next;
                let last = rank - 1;
                gaps.push(if last == next {
                    format!("{next}")
                } else {
                    format!("{next}–{last}")
                });
            }
            next = rank.saturating_add(1);
        }
        if missing > 0 {
            let rest = gaps.len().saturating_sub(NAMED);
            gaps.truncate(NAMED);
            let rest = if rest > 0 { format!(" and {rest} more gaps") } else { String::new() };
            notes.push(format!(
                "run {run}: {missing} of {next} ranks are missing ({}{rest}); sums are those of the ranks that \
                 are there",
                gaps.join(", ")
            ));
        }
    }
    notes
}

/// Names ranks on other devices than most.
fn other_devices(ranks: &[Rank]) -> Vec<String> {
    let Some(usual) = usual_devices(ranks.iter()) else { return Vec::new() };
    let others: Vec<&Rank> = ranks.iter().filter(|rank| rank.figures.devices != *usual).collect();
    let Some(first) = others.first() else { return Vec::new() };
    let more = match others.len() {
        1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    vec![format!(
        "rank {}{more} ran on {}, most ran on {}; kernels are summed for each device",
        first.id,
        first.figures.devices.join(", "),
        usual.join(", ")
    )]
}

/// Names ranks whose figures are those of another rank to the last digit: one file under two numbers, most likely.
fn copies(ranks: &[Rank]) -> Option<String> {
    let mut first: HashMap<[u64; 8], &RankId> = HashMap::new();
    let mut pairs = Vec::new();
    // Two ranks may well agree in the time of one launch.
    let several = |rank: &&Rank| rank.figures.launches > 1 && rank.figures.measured > Seconds::ZERO;
    for rank in ranks.iter().filter(several) {
        let RankFigures { launches, measured, communication, judged, roofline, .. } = rank.figures;
        let times = [measured, communication, judged, roofline].map(|time| time.get().to_bits());
        let [measured, communication, judged, roofline] = times;
        let work = [rank.figures.operations, rank.figures.bytes].map(f64::to_bits);
        let clock = rank.figures.clock.map_or(0, |clock| clock.get().to_bits());
        let key = [launches, measured, communication, judged, roofline, work[0], work[1], clock];
        let known = *first.entry(key).or_insert(&rank.id);
        if *known != rank.id {
            pairs.push((known, &rank.id));
        }
    }
    let (one, two) = pairs.first()?;
    let more = match pairs.len() {
        1 => String::new(),
        pairs => format!(", and {} more those of others", pairs - 1),
    };
    Some(format!(
        "rank {two} has exactly the figures of rank {one}{more}: the same file may have been given twice; all \
         are counted"
    ))
}

/// Returns the devices that most ranks have.
pub(super) fn usual_devices<'r>(
    ranks: impl Iterator<Item = &'r Rank>,
) -> Option<&'r Arc<[String]>> {
    let mut counts: BTreeMap<&Arc<[String]>, usize> = BTreeMap::new();
    for rank in ranks {
        *counts.entry(&rank.figures.devices).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(devices, _)| devices)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_ranks_are_named() {
        let ids: Vec<RankId> =
            [0, 1, 3, 7].map(|rank| RankId { run: "a".into(), rank }).into_iter().collect();
        let notes = gaps(ids.iter());
        assert!(notes[0].starts_with("run a: 4 of 8 ranks are missing (2, 4–6)"), "{notes:?}");
        assert!(gaps(ids[..2].iter()).is_empty());
    }

    /// 3 launches of 5 ms in all; another launch, a time of another length or one launch alone are no copy.
    #[test]
    fn ranks_with_the_figures_of_others_are_named() {
        let rank = |number, launches, milliseconds: f64| Rank {
            id: RankId { run: "a".into(), rank: number },
            figures: RankFigures {
                launches,
                measured: Seconds::new(milliseconds * 1e-3),
                communication: Seconds::ZERO,
                judged: Seconds::ZERO,
                roofline: Seconds::ZERO,
                operations: 0.0,
                bytes: 7.0,
                clock: None,
                devices: Arc::from([]),
            },
            positions: Positions::default(),
            checks: Arc::from([]),
        };
        let apart =
            [rank(0, 3, 5.0), rank(1, 4, 5.0), rank(2, 3, 5.001), rank(3, 1, 2.0), rank(4, 1, 2.0)];
        assert_eq!(copies(&apart), None);
        let one = copies(&[rank(0, 3, 5.0), rank(1, 4, 5.0), rank(2, 3, 5.0)]).unwrap();
        let says =
            "rank a/2 has exactly the figures of rank a/0: the same file may have been given twice";
        assert!(one.starts_with(says), "{one}");
        let three = copies(&[0, 1, 2, 3].map(|number| rank(number, 3, 5.0))).unwrap();
        let says = "rank a/1 has exactly the figures of rank a/0, and 2 more those of others: ";
        assert!(three.starts_with(says), "{three}");
    }
}
