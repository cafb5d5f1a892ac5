//! Groups of kernels defined by the user: time, efficiency and targets.

use super::{Analysis, Kernel, State, fits};
use crate::model::Text;
use crate::roofline;
use crate::taxonomy::{Category, Kind};
use crate::units::Seconds;

/// Definition of a group of kernels, with its target efficiency.
///
/// A kernel belongs to the first group all of whose conditions it meets.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Group {
    /// Name of the group.
    pub name: String,
    /// Full kernel name, or a pattern in which `*` matches anything.
    pub kernel: Option<String>,
    /// Full name or pattern of the operator that launched the kernel.
    pub operator: Option<String>,
    /// Category of the operation, derived from the name.
    pub category: Option<Category>,
    /// Kind of operation, derived from the name.
    pub kind: Option<Kind>,
    /// Target efficiency of the group (roofline over measured time): more than 0, at most 1.
    pub target: Option<f64>,
}

impl Group {
    /// Group of kernels that belong to no group of the user.
    pub const REST: &'static str = "other";

    fn holds(&self, kernel: &Kernel) -> bool {
        let operator = kernel.operator.as_deref();
        self.kernel.as_ref().is_none_or(|pattern| kernel.is_named(pattern))
            && self
                .operator
                .as_ref()
                .is_none_or(|pattern| operator.is_some_and(|operator| fits(pattern, operator)))
            && self.category.is_none_or(|category| kernel.class.category == category)
            && self.kind.is_none_or(|kind| kernel.class.kind == Some(kind))
    }
}

/// Result of comparing a group with its target efficiency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The target is certainly met.
    Met,
    /// The target is certainly missed, even with all uncounted and unjudged work.
    Missed,
    /// Undecided, because it depends on work that was not counted or not judged.
    CannotTell,
}

impl Target {
    /// Returns the name used in reports.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Missed => "missed",
            Self::CannotTell => "cannot tell",
        }
    }

    /// Returns the name that machine-readable outputs use.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::CannotTell => "cannot_tell",
            other => other.label(),
        }
    }
}

/// A kernel that makes its group miss its target.
#[derive(Debug, Clone)]
pub struct Worst {
    /// Rank in the whole profile.
    pub rank: usize,
    /// Short, readable name.
    pub name: Text,
    /// Measured time of the launches that the model covers.
    pub measured: Seconds,
    /// Efficiency: roofline over measured time.
    pub efficiency: f64,
    /// Upper bound of the efficiency, given what was not counted.
    pub efficiency_high: f64,
}

/// Sums over the kernels of a group.
#[derive(Debug, Clone, Default)]
pub struct GroupTotals {
    /// Name of the group.
    pub name: String,
    /// Number of kernels.
    pub kernels: usize,
    /// Number of launches.
    pub launches: u64,
    /// Measured time.
    pub measured: Seconds,
    /// Share of the measured time of the whole profile.
    pub share: f64,
    /// Measured time that was judged and not waived; the following fields refer to it.
    pub judged: Seconds,
    /// Roofline time of the judged time.
    pub roofline_time: Seconds,
    /// Part of their roofline time that is certainly needed.
    pub roofline_time_low: Seconds,
    /// Upper bound of the roofline time, at most the measured time of each kernel.
    pub roofline_time_high: Seconds,
    /// Time of kernels with not enough data, and of launches without it of other kernels.
    pub unmodeled: Seconds,
    /// Time of waived kernels.
    pub waived: Seconds,
    /// Pessimistic savings of its opportunities.
    pub savings_low: Seconds,
    /// Realistic savings of its opportunities.
    pub savings: Seconds,
    /// Optimistic savings of its opportunities.
    pub savings_high: Seconds,
    /// Target efficiency.
    pub target: Option<f64>,
    /// If the target is not certainly met: the kernels that lose most compared with it, most first.
    pub worst: Vec<Worst>,
    /// Lower and upper bound of the roofline time of unjudged kernels.
    unjudged_roofline_time: (Seconds, Seconds),
}

/// Largest number of worst kernels listed.
const WORST: usize = 3;

impl GroupTotals {
    /// Returns the efficiency of the judged time: the ratio of summed roofline and measured times.
    #[must_use]
    pub fn efficiency(&self) -> Option<f64> {
        (self.judged.get() > 0.0).then(|| roofline::efficiency(self.roofline_time, self.judged))
    }

    /// Returns the lower bound of the efficiency of the judged time: counts may be too high.
    #[must_use]
    pub fn efficiency_low(&self) -> Option<f64> {
        (self.judged.get() > 0.0).then(|| roofline::efficiency(self.roofline_time_low, self.judged))
    }

    /// Returns the upper bound of the efficiency of the judged time, given what was not counted.
    #[must_use]
    pub fn efficiency_high(&self) -> Option<f64> {
        (self.judged.get() > 0.0)
            .then(|| roofline::efficiency(self.roofline_time_high, self.judged))
    }

    /// Returns the measured time that the roofline does not cover: links, caches, launch cost,
    /// impossible times.
    #[must_use]
    pub fn outside(&self) -> Seconds {
        (self.measured - self.judged - self.unmodeled - self.waived).max(Seconds::ZERO)
    }

    /// Compares the group with its target; `None` without one. Unjudged time widens the interval of
    /// the efficiency, which must lie entirely on one side of the target.
    #[must_use]
    pub fn verdict(&self) -> Option<Target> {
        let target = self.target?;
        let time = self.judged + self.unmodeled;
        if time.get() <= 0.0 {
            return Some(Target::CannotTell);
        }
        let (low, high) = self.unjudged_roofline_time;
        Some(if roofline::efficiency(self.roofline_time_high + high, time) < target {
            Target::Missed
        } else if roofline::efficiency(self.roofline_time_low + low, time) >= target {
            Target::Met
        } else {
            Target::CannotTell
        })
    }

    /// Returns the savings of reaching the target in the judged time: certain, and at most.
    #[must_use]
    pub fn above_target(&self) -> Option<(Seconds, Seconds)> {
        let target = self.target?;
        let above = |roofline_time| roofline::above_target(self.judged, roofline_time, target);
        Some((above(self.roofline_time_high), above(self.roofline_time_low)))
    }

    fn add(&mut self, kernel: &Kernel) {
        self.kernels += 1;
        self.launches += kernel.launches;
        self.measured += kernel.measured;
        match kernel.state {
            State::Flagged
            | State::Fair
            | State::NearRoofline
            | State::LowImpact
            | State::Possible => {
                let (roofline_time, high) = bounds(kernel);
                let rest = kernel.unmodeled();
                self.judged += kernel.modeled;
                self.unmodeled += rest;
                self.unjudged_roofline_time.1 += rest;
                self.roofline_time += roofline_time;
                self.roofline_time_low += kernel.least_roofline_time().unwrap_or_default();
                self.roofline_time_high += high;
            }
            State::NotEnoughData => {
                // Launches that were compared with no roof may have been at theirs.
                let (roofline_time, high) = bounds(kernel);
                let rest = kernel.measured - kernel.modeled;
                self.unmodeled += kernel.measured;
                self.unjudged_roofline_time.0 +=
                    kernel.least_roofline_time().unwrap_or(roofline_time);
                self.unjudged_roofline_time.1 += high + rest;
            }
            State::Waived => self.waived += kernel.measured,
            _ => {}
        }
        if kernel.has_savings() {
            self.savings_low += kernel.savings_low;
            self.savings += kernel.savings;
            self.savings_high += kernel.savings_high;
        }
    }

    /// Lists the judged kernels below the target, largest certain loss first.
    fn find_worst<'k>(&mut self, kernels: impl Iterator<Item = &'k Kernel>) {
        let Some(target) = self.target.filter(|_| self.verdict() != Some(Target::Met)) else {
            return;
        };
        let mut losing: Vec<((f64, f64), &Kernel)> = kernels
            .filter(|kernel| kernel.state.is_modeled() && kernel.state != State::Waived)
            .filter_map(|kernel| {
                let (roofline_time, high) = bounds(kernel);
                let lost = |time| roofline::above_target(kernel.modeled, time, target).get();
                Some(((lost(high), lost(roofline_time)), kernel)).filter(|(lost, _)| lost.1 > 0.0)
            })
            .collect();
        losing.sort_by(|((low, upper), one), ((other_low, other_upper), two)| {
            other_low
                .total_cmp(low)
                .then(other_upper.total_cmp(upper))
                .then(one.rank.cmp(&two.rank))
        });
        self.worst = losing
            .into_iter()
            .take(WORST)
            .map(|(_, kernel)| {
                let (roofline_time, high) = bounds(kernel);
                Worst {
                    rank: kernel.rank,
                    name: kernel.name.clone(),
                    measured: kernel.modeled,
                    efficiency: roofline::efficiency(roofline_time, kernel.modeled),
                    efficiency_high: roofline::efficiency(high, kernel.modeled),
                }
            })
            .collect();
    }
}

/// Returns the lower and upper bound of the roofline time of the judged launches. Unbounded times
/// are capped at the measured time.
fn bounds(kernel: &Kernel) -> (Seconds, Seconds) {
    let Some(roofline_time) = kernel.roofline_time else { return (Seconds::ZERO, kernel.modeled) };
    let high = kernel.roofline_time_high.unwrap_or(kernel.modeled).min(kernel.modeled);
    (roofline_time, high.max(roofline_time))
}

impl Analysis {
    /// Sums kernels by the user's groups instead of by category.
    ///
    /// Groups without kernels are reported in the notes and in [`Analysis::idle_settings`].
    pub fn group(&mut self, groups: &[Group]) {
        self.grouping = groups.to_vec();
        self.sum_groups();
        for group in groups {
            if self.groups.iter().any(|found| *found.name == *group.name) {
                continue;
            }
            let taken = self.kernels.iter().any(|kernel| group.holds(kernel));
            let why = if taken { ", except those of earlier groups" } else { "" };
            self.note_idle(format!("group {:?} matches no kernel{why}", group.name));
        }
    }

    /// Returns the group of a kernel.
    #[must_use]
    pub fn group_of(&self, kernel: &Kernel) -> Option<&GroupTotals> {
        let name = self.group_name(kernel);
        self.groups.iter().find(|group| *group.name == *name)
    }

    /// Returns the name of the group of a kernel: the first that holds it, or its category.
    pub(super) fn group_name(&self, kernel: &Kernel) -> &str {
        if !self.has_own_groups() {
            return kernel.class.category.label();
        }
        let own = self.grouping.iter().find(|group| group.holds(kernel));
        own.map_or(Group::REST, |group| &group.name)
    }

    /// Returns `true` if the groups are defined by the user.
    #[must_use]
    pub fn has_own_groups(&self) -> bool {
        !self.grouping.is_empty()
    }

    /// Assigns each kernel its group and sums the groups, in the user's order or by time.
    pub(super) fn sum_groups(&mut self) {
        let names: Vec<String> = if self.has_own_groups() {
            let own = self.grouping.iter().map(|group| group.name.as_str());
            own.chain([Group::REST]).map(str::to_owned).collect()
        } else {
            Category::ALL.iter().map(|category| category.label().to_owned()).collect()
        };
        let mut groups: Vec<GroupTotals> = names
            .into_iter()
            .enumerate()
            .map(|(position, name)| GroupTotals {
                name,
                target: self.grouping.get(position).and_then(|group| group.target),
                ..GroupTotals::default()
            })
            .collect();
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); groups.len()];
        for (at, kernel) in self.kernels.iter().enumerate() {
            let position = if self.grouping.is_empty() {
                Category::ALL.iter().position(|category| *category == kernel.class.category)
            } else {
                self.grouping.iter().position(|group| group.holds(kernel))
            };
            let position = position.unwrap_or(groups.len() - 1);
            groups[position].add(kernel);
            members[position].push(at);
        }
        for (group, members) in groups.iter_mut().zip(members) {
            group.share = self.totals.share(group.measured);
            group.find_worst(members.into_iter().map(|at| &self.kernels[at]));
        }
        groups.retain(|group| group.kernels > 0);
        if self.grouping.is_empty() {
            groups.sort_by(|one, two| two.measured.get().total_cmp(&one.measured.get()));
        }
        self.groups = groups;
    }
}
