//! Ranks that take longer than the others of their run, and why.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::ranks::{Rank, usual_devices};
use crate::analysis::RankId;
use crate::roofline::formula::STRAGGLES;
use crate::units::{Seconds, median};

/// Part of the excess that a cause must explain.
const EXPLAINS: f64 = 0.5;

/// Why a rank is slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// It ran on another device.
    Device,
    /// It executed more operations, moved more bytes, or launched more kernels.
    Work,
    /// Its SM clock was lower.
    Clock,
    /// It spent the time in communication: it waits for others, or its links are slower.
    Waiting,
    /// Nothing that was recorded explains it.
    Unknown,
}

impl Cause {
    /// Returns the cause in words.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Device => "other device",
            Self::Work => "more work",
            Self::Clock => "lower clock",
            Self::Waiting => "waits in communication",
            Self::Unknown => "unknown",
        }
    }
}

/// A rank that takes longer than the others of its run.
#[derive(Debug, Clone, PartialEq)]
pub struct Straggler {
    /// The rank.
    pub id: RankId,
    /// Its measured time.
    pub measured: Seconds,
    /// Its measured time over the median of the run.
    pub ratio: f64,
    /// Its time outside communication over the median of the run.
    pub compute_ratio: f64,
    /// Why.
    pub cause: Cause,
    /// The figure behind the cause; empty if there is none.
    pub evidence: String,
}

/// Returns the time outside communication, in seconds.
pub(super) fn compute(rank: &Rank) -> f64 {
    (rank.figures.measured - rank.figures.communication).get()
}

/// Returns the ranks that take at least 5% longer than the median of their run, or do so outside communication; the
/// slowest first. Ranks without durations are neither, and count for no median.
#[must_use]
pub fn stragglers(ranks: &[Rank]) -> Vec<Straggler> {
    let mut runs: BTreeMap<&str, Vec<&Rank>> = BTreeMap::new();
    for rank in ranks.iter().filter(|rank| rank.measured().is_some()) {
        runs.entry(&rank.id.run).or_default().push(rank);
    }
    let mut found = Vec::new();
    for of_run in runs.values().filter(|of_run| of_run.len() > 2) {
        let usual = Usual::of(of_run);
        found.extend(of_run.iter().filter_map(|rank| usual.straggler(rank)));
    }
    let most = |one: &Straggler| one.ratio.max(one.compute_ratio);
    found.sort_by(|one, two| most(two).total_cmp(&most(one)).then_with(|| one.id.cmp(&two.id)));
    found
}

/// Medians over the ranks of a run.
struct Usual {
    measured: f64,
    compute: f64,
    communication: f64,
    operations: f64,
    bytes: f64,
    launches: f64,
    clock: Option<f64>,
    devices: Arc<[String]>,
}

impl Usual {
    fn of(ranks: &[&Rank]) -> Self {
        let middle = |of: fn(&Rank) -> f64| {
            median(&ranks.iter().map(|rank| of(rank)).collect::<Vec<f64>>()).unwrap_or_default()
        };
        let clocks = ranks.iter().filter_map(|rank| Some(rank.figures.clock?.get()));
        let clocks: Vec<f64> = clocks.collect();
        Self {
            measured: middle(|rank| rank.figures.measured.get()),
            compute: middle(compute),
            communication: middle(|rank| rank.figures.communication.get()),
            operations: middle(|rank| rank.figures.operations),
            bytes: middle(|rank| rank.figures.bytes),
            launches: middle(|rank| rank.figures.launches as f64),
            clock: median(&clocks),
            devices: usual_devices(ranks.iter().copied()).cloned().unwrap_or_default(),
        }
    }

    fn straggler(&self, rank: &Rank) -> Option<Straggler> {
        let over = |value: f64, usual: f64| if usual > 0.0 { value / usual } else { 1.0 };
        let figures = &rank.figures;
        let ratio = over(figures.measured.get(), self.measured);
        let compute_ratio = over(compute(rank), self.compute);
        let is_slow = |ratio: f64| ratio >= STRAGGLES;
        if !is_slow(ratio) && !is_slow(compute_ratio) {
            return None;
        }
        let computes = is_slow(compute_ratio).then(|| self.cause(rank, compute_ratio - 1.0));
        let (cause, evidence) = computes
            .flatten()
            .or_else(|| self.waiting(rank))
            .unwrap_or_else(|| (Cause::Unknown, String::new()));
        let id = rank.id.clone();
        Some(Straggler { id, measured: figures.measured, ratio, compute_ratio, cause, evidence })
    }

    /// Returns that communication beyond the median explains its excess, if it does.
    fn waiting(&self, rank: &Rank) -> Option<(Cause, String)> {
        let figures = &rank.figures;
        let more = figures.communication.get() - self.communication;
        let excess = figures.measured.get() - self.measured;
        (more > 0.0 && more >= excess * EXPLAINS).then(|| {
            let share = more / figures.measured.get() * 100.0;
            (Cause::Waiting, format!("{share:.1}% of its time is communication beyond the median"))
        })
    }

    /// Returns why a rank computes longer by this share than the median, if that shows.
    fn cause(&self, rank: &Rank, excess: f64) -> Option<(Cause, String)> {
        let figures = &rank.figures;
        if figures.devices != self.devices {
            return Some((Cause::Device, figures.devices.join(", ")));
        }
        let more = |value: f64, usual: f64| if usual > 0.0 { value / usual - 1.0 } else { 0.0 };
        let work = [
            (more(figures.operations, self.operations), "operations"),
            (more(figures.bytes, self.bytes), "bytes"),
            (more(figures.launches as f64, self.launches), "launches"),
        ];
        let work = work.into_iter().max_by(|one, two| one.0.total_cmp(&two.0));
        let (work, what) = work.unwrap_or((0.0, ""));
        let clock = figures.clock.zip(self.clock);
        let clock_ratio = clock.map_or(0.0, |(own, usual)| usual / own.get() - 1.0);
        let needed = excess * EXPLAINS;
        if work >= needed && work >= clock_ratio {
            Some((Cause::Work, format!("{:.1}% more {what} than the median", work * 100.0)))
        } else if clock_ratio >= needed
            && let Some((own, usual)) = clock
        {
            let (own, usual) = (own.get() / 1e6, usual / 1e6);
            Some((Cause::Clock, format!("{own:.0} MHz, median {usual:.0} MHz")))
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::RankFigures;
    use crate::units::Hertz;

    /// Eight ranks of one second each, with the changes of a test.
    fn ranks(change: impl Fn(u64, &mut RankFigures)) -> Vec<Rank> {
        let one = |rank| {
            let mut figures = RankFigures {
                launches: 100,
                measured: Seconds::new(1.0),
                communication: Seconds::new(0.2),
                operations: 1e12,
                bytes: 1e9,
                clock: Some(Hertz::new(1.5e9)),
                devices: Arc::new(["H100".to_owned()]),
                ..RankFigures::default()
            };
            change(rank, &mut figures);
            Rank {
                id: RankId { run: "run".into(), rank },
                figures,
                positions: Vec::new(),
                checks: Arc::from([]),
            }
        };
        (0..8).map(one).collect()
    }

    fn cause(change: impl Fn(&mut RankFigures)) -> Vec<(u64, Cause)> {
        let ranks = ranks(|rank, figures| {
            if rank == 3 {
                change(figures);
            }
        });
        stragglers(&ranks).iter().map(|one| (one.id.rank, one.cause)).collect()
    }

    #[test]
    fn ranks_without_durations_make_no_stragglers() {
        let untimed = ranks(|rank, figures| {
            if rank % 2 == 1 {
                (figures.measured, figures.communication) = (Seconds::ZERO, Seconds::ZERO);
            }
        });
        assert!(stragglers(&untimed).is_empty());
    }

    #[test]
    fn a_straggler_is_named_with_its_cause() {
        let slow = |figures: &mut RankFigures| figures.measured = Seconds::new(1.2);
        assert_eq!(cause(|_| {}), []);
        assert_eq!(cause(|figures| figures.measured = Seconds::new(1.03)), []);
        assert_eq!(cause(slow), [(3, Cause::Unknown)]);
        assert_eq!(
            cause(|figures| {
                slow(figures);
                figures.devices = Arc::new(["A100".to_owned()]);
            }),
            [(3, Cause::Device)]
        );
        assert_eq!(
            cause(|figures| {
                slow(figures);
                figures.clock = Some(Hertz::new(1.2e9));
            }),
            [(3, Cause::Clock)]
        );
        assert_eq!(
            cause(|figures| {
                slow(figures);
                figures.operations = 1.25e12;
            }),
            [(3, Cause::Work)]
        );
        assert_eq!(
            cause(|figures| {
                slow(figures);
                figures.communication = Seconds::new(0.4);
            }),
            [(3, Cause::Waiting)]
        );
        // It computes 6% longer, and communicates for 15 times as long.
        assert_eq!(
            cause(|figures| {
                figures.measured = Seconds::new(3.848);
                figures.communication = Seconds::new(3.0);
            }),
            [(3, Cause::Waiting)]
        );
        // 5% longer, to the last digit.
        let exact = |figures: &mut RankFigures| {
            figures.measured = Seconds::new(1.05);
            figures.communication = Seconds::new(0.21);
        };
        assert_eq!(cause(exact).len(), 1);
    }

    /// The others wait for it, so that all take the same time.
    #[test]
    fn a_rank_that_others_wait_for_is_found_by_its_computation() {
        let ranks = ranks(|rank, figures| {
            figures.communication = Seconds::new(if rank == 5 { 0.05 } else { 0.2 });
        });
        let found = stragglers(&ranks);
        assert_eq!((found.len(), found[0].id.rank, found[0].ratio), (1, 5, 1.0));
    }
}
