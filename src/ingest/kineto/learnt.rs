//! What was learnt of a whole trace beside its launches, over all of its ranks.

use std::collections::BTreeSet;

use super::about::About;
use super::earlier;
use super::gathered::Gathered;
use crate::plain::counted;
use crate::units::si;

/// So many ranks are named, at most.
const NAMED: usize = 8;

/// Counts over the ranks of a trace, and what is not the same in all of them.
#[derive(Debug, Default)]
pub(super) struct Learnt {
    /// Launches with a time of 0.
    pub(super) short: u64,
    /// Launches that were written again.
    pub(super) twice: u64,
    /// Launches from before the trace that took the operators of later ones.
    pub(super) earlier: u64,
    /// Launches that belong to no operator.
    pub(super) unnamed: u64,
    /// Those of them whose numbers are those of several processes.
    pub(super) of_several: u64,
    /// How many copies and fills there are, and their time in nanoseconds.
    moved: [(u64, i64); 2],
    ranks: Vec<OfRank>,
}

/// What is known of one rank.
#[derive(Debug)]
struct OfRank {
    label: String,
    launches: u64,
    steps: BTreeSet<u64>,
    /// Whether its operators have no shapes.
    is_shapeless: bool,
}

impl Learnt {
    /// Takes a rank of which nothing is written yet.
    pub(super) fn begin(&mut self, label: &str, gathered: &Gathered) {
        for (all, is_fill) in self.moved.iter_mut().zip([false, true]) {
            let (number, time) = moved_in_all(gathered, is_fill);
            *all = (all.0 + number, all.1.saturating_add(time));
        }
        self.ranks.push(OfRank {
            label: label.to_owned(),
            launches: gathered.kernels.len() as u64,
            steps: gathered.steps.iter().map(|step| step.number).collect(),
            is_shapeless: false,
        });
    }

    /// Takes how many launches of the rank have operators, and how many of these have shapes.
    pub(super) fn end(&mut self, operators: u64, shapes: u64) {
        if let Some(rank) = self.ranks.last_mut() {
            rank.is_shapeless = operators > 0 && shapes == 0;
        }
    }

    /// One sentence for each thing that a reader should know.
    pub(super) fn clues(&self, about: &About, is_coarse: bool) -> Vec<String> {
        let mut clues = Vec::new();
        clues.extend(self.merged());
        // The file of a merger has this of one rank, if at all.
        if let (Some(rank), [_]) = (&about.rank, self.ranks.as_slice()) {
            clues.push(format!("this is {rank}"));
        }
        clues.extend(about.devices.first().and_then(|device| device.clue.clone()));
        if is_coarse {
            let short = match self.short {
                0 => String::new(),
                short => format!(
                    "; {} of less than 1 µs have no time",
                    counted(short, "launch", "launches")
                ),
            };
            clues.push(format!(
                "times are cut to whole microseconds: a launch took up to 1 µs longer than written{short}"
            ));
        } else if self.short > 0 {
            let launches = counted(self.short, "launch has", "launches have");
            clues.push(format!("{launches} a time of 0"));
        }
        clues.extend(self.without_shapes());
        let unnamed = self.unnamed.saturating_sub(self.of_several);
        if unnamed > 0 {
            clues.push(format!(
                "{} to no operator that the trace has",
                counted(unnamed, "launch belongs", "launches belong")
            ));
        }
        clues.extend(self.of_several());
        clues.extend(self.left_out());
        clues.extend(self.steps());
        if self.twice > 0 {
            let launches = counted(self.twice, "launch is", "launches are");
            clues.push(format!("{launches} in the trace twice and counted once"));
        }
        clues.extend(earlier::clue(self.earlier));
        clues
    }

    /// Which ranks the file has, if several.
    fn merged(&self) -> Option<String> {
        if self.ranks.len() < 2 {
            return None;
        }
        let all: Vec<&OfRank> = self.ranks.iter().collect();
        let idle: Vec<&OfRank> = self.ranks.iter().filter(|rank| rank.launches == 0).collect();
        let idle = match idle.as_slice() {
            [] => String::new(),
            idle => format!("; without kernels: {}", named(idle)),
        };
        Some(format!("the file merges the traces of {} ranks: {}{idle}", all.len(), named(&all)))
    }

    fn without_shapes(&self) -> Option<String> {
        let (without, with): (Vec<&OfRank>, Vec<&OfRank>) =
            self.ranks.iter().filter(|rank| rank.launches > 0).partition(|one| one.is_shapeless);
        let of = if with.is_empty() { String::new() } else { format!(" in {}", named(&without)) };
        (!without.is_empty()).then(|| {
            format!("no shapes of tensors were recorded{of} (record_shapes=True), so there are no FLOPs and bytes")
        })
    }

    /// What is to be done about launches whose process is unknown.
    fn of_several(&self) -> Option<String> {
        (self.of_several > 0).then(|| {
            format!(
                "{} no operator: the file has calls of several processes with the same numbers, and a kernel does not say \
                 whose it is; read the trace of each process for itself",
                counted(self.of_several, "launch has", "launches have")
            )
        })
    }

    fn left_out(&self) -> Option<String> {
        let time = |nanoseconds: i64| si(nanoseconds as f64 / 1e9, "s");
        let kinds = [("copy", "copies"), ("fill", "fills")].into_iter().zip(self.moved);
        let left_out: Vec<String> = kinds
            .filter(|(_, (number, _))| *number > 0)
            .map(|((one, more), (number, taken))| {
                format!("{} ({})", counted(number, one, more), time(taken))
            })
            .collect();
        (!left_out.is_empty())
            .then(|| format!("left out, because they are not kernels: {}", left_out.join(" and ")))
    }

    /// Which steps are recorded: once for all ranks that have the same.
    fn steps(&self) -> Vec<String> {
        let mut groups: Vec<(&BTreeSet<u64>, Vec<&OfRank>)> = Vec::new();
        for rank in self.ranks.iter().filter(|rank| rank.launches > 0) {
            match groups.iter_mut().find(|(steps, _)| **steps == rank.steps) {
                Some((_, ranks)) => ranks.push(rank),
                None => groups.push((&rank.steps, vec![rank])),
            }
        }
        let are_several = groups.len() > 1;
        let clue = |(steps, ranks): (&BTreeSet<u64>, Vec<&OfRank>)| {
            let (first, last) = (steps.first()?, steps.last()?);
            let of = if are_several { format!(" in {}", named(&ranks)) } else { String::new() };
            Some(match steps.len() {
                1 => format!("one step of the profiler is recorded{of}: ProfilerStep#{first}"),
                steps => format!(
                    "{steps} steps of the profiler are recorded{of}: ProfilerStep#{first} to #{last}"
                ),
            })
        };
        groups.into_iter().filter_map(clue).collect()
    }
}

/// The labels of ranks, of many the first ones.
fn named(ranks: &[&OfRank]) -> String {
    let label = |rank: &&OfRank| match rank.label.as_str() {
        "" => "one without a label".to_owned(),
        label => label.to_owned(),
    };
    let shown: Vec<String> = ranks.iter().take(NAMED).map(label).collect();
    let more = match ranks.len() - shown.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", shown.join(", "))
}

/// How many copies, or fills, there are, and their time in nanoseconds.
fn moved_in_all(gathered: &Gathered, is_fill: bool) -> (u64, i64) {
    let of_kind = gathered.moved.iter().filter(|one| one.is_fill == is_fill);
    of_kind.fold((0, 0_i64), |(number, time), one| {
        (number + 1, time.saturating_add(one.duration.max(0)))
    })
}
