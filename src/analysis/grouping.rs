//! Kernels by the groups a team thinks in: their time, the efficiency they reach, the target they miss.

use std::sync::Arc;

use super::{Analysis, Kernel, State, fits};
use crate::roofline;
use crate::taxonomy::{Category, Kind};
use crate::units::Seconds;

/// Kernels that a team looks at together, and the efficiency it wants of them.
///
/// A kernel belongs to the first group all of whose conditions it meets.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Group {
    /// What the team calls it.
    pub name: String,
    /// A whole name, or a pattern in which `*` stands for anything.
    pub kernel: Option<String>,
    /// The same for the operator that launched the kernel.
    pub operator: Option<String>,
    /// The family of operation, as the name tells it.
    pub category: Option<Category>,
    /// The operation, as the name tells it.
    pub kind: Option<Kind>,
    /// Expected over measured time that is wanted of the group; more than 0, at most 1.
    pub target: Option<f64>,
}

impl Group {
    /// What kernels are called that belong to no group of the user.
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

/// Whether a group reaches the efficiency that is wanted of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// For certain.
    Met,
    /// For certain: not even with all that was not counted or not judged would it be reached.
    Missed,
    /// What was not counted or not judged decides.
    CannotTell,
}

impl Target {
    /// The word used in reports.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Missed => "missed",
            Self::CannotTell => "cannot tell",
        }
    }

    /// The word that machine-readable outputs use.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::CannotTell => "cannot_tell",
            other => other.label(),
        }
    }
}

/// A kernel that keeps its group from its target.
#[derive(Debug, Clone)]
pub struct Worst {
    /// Its place in the ranking of the whole profile.
    pub rank: usize,
    /// Short and readable.
    pub name: Arc<str>,
    /// Measured time of the launches that were judged.
    pub measured: Seconds,
    /// Expected over measured time.
    pub efficiency: f64,
    /// The most that can be, given what was not counted.
    pub efficiency_high: f64,
}

/// The kernels of a group added up.
#[derive(Debug, Clone, Default)]
pub struct GroupTotals {
    /// Its name.
    pub name: Arc<str>,
    /// Kernels.
    pub kernels: usize,
    /// Executions.
    pub launches: u64,
    /// Measured time.
    pub measured: Seconds,
    /// Measured time over that of the whole profile.
    pub share: f64,
    /// Measured time of what was judged and not waived; the following are about it.
    pub judged: Seconds,
    /// Its expected time.
    pub roofline_time: Seconds,
    /// The most that can be expected, kernel by kernel no more than was measured.
    pub roofline_time_high: Seconds,
    /// Time of kernels that the export does not allow to judge.
    pub unmodeled: Seconds,
    /// Time of kernels that are left alone on purpose.
    pub waived: Seconds,
    /// What its opportunities win, pessimistically.
    pub savings_low: Seconds,
    /// What its opportunities win, realistically.
    pub savings: Seconds,
    /// What its opportunities win, optimistically.
    pub savings_high: Seconds,
    /// Expected over measured time that is wanted.
    pub target: Option<f64>,
    /// Where a target is not met for certain: the kernels that lose most against it, most first.
    pub worst: Vec<Worst>,
    /// Least and most that can be expected of what could not be judged.
    unjudged_roofline_time: (Seconds, Seconds),
}

/// As many kernels as a reader follows up.
const WORST: usize = 3;

impl GroupTotals {
    /// Expected over measured time of what was judged: add up, then divide.
    #[must_use]
    pub fn efficiency(&self) -> Option<f64> {
        (self.judged.get() > 0.0).then(|| roofline::efficiency(self.roofline_time, self.judged))
    }

    /// The most the efficiency of what was judged can be, given what was not counted.
    #[must_use]
    pub fn efficiency_high(&self) -> Option<f64> {
        (self.judged.get() > 0.0)
            .then(|| roofline::efficiency(self.roofline_time_high, self.judged))
    }

    /// Measured time about which the roofline says nothing: links, caches, launch cost, impossible times.
    #[must_use]
    pub fn outside(&self) -> Seconds {
        (self.measured - self.judged - self.unmodeled - self.waived).max(Seconds::ZERO)
    }

    /// Whether the target is reached; `None` without one. What could not be judged widens the interval
    /// in which the efficiency lies: only an interval wholly on one side of the target decides.
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
        } else if roofline::efficiency(self.roofline_time + low, time) >= target {
            Target::Met
        } else {
            Target::CannotTell
        })
    }

    /// What reaching the target would win of the judged time: for certain, and at most.
    #[must_use]
    pub fn above_target(&self) -> Option<(Seconds, Seconds)> {
        let target = self.target?;
        let above = |roofline_time| roofline::above_target(self.judged, roofline_time, target);
        Some((above(self.roofline_time_high), above(self.roofline_time)))
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
                self.judged += kernel.modeled;
                self.roofline_time += roofline_time;
                self.roofline_time_high += high;
            }
            State::NotEnoughData => {
                // Launches that were compared with no roof may have been at theirs.
                let (roofline_time, high) = bounds(kernel);
                let rest = kernel.measured - kernel.modeled;
                self.unmodeled += kernel.measured;
                self.unjudged_roofline_time.0 += roofline_time;
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

    /// The judged kernels below the target, those that lose most for certain first.
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
                    name: Arc::clone(&kernel.name),
                    measured: kernel.modeled,
                    efficiency: roofline::efficiency(roofline_time, kernel.modeled),
                    efficiency_high: roofline::efficiency(high, kernel.modeled),
                }
            })
            .collect();
    }
}

/// Least and most expected time of the launches that were compared with their roofs. What nothing
/// bounds is bounded by the measured time: no kernel is better than at its roof.
fn bounds(kernel: &Kernel) -> (Seconds, Seconds) {
    let Some(roofline_time) = kernel.roofline_time else { return (Seconds::ZERO, kernel.modeled) };
    let high = kernel.roofline_time_high.unwrap_or(kernel.modeled).min(kernel.modeled);
    (roofline_time, high.max(roofline_time))
}

impl Analysis {
    /// Adds kernels up by the user's groups instead of by category.
    ///
    /// A group that holds no kernel changes nothing, and the notes say so.
    pub fn group(&mut self, groups: &[Group]) {
        self.grouping = groups.to_vec();
        self.sum_groups();
        for group in groups {
            if self.groups.iter().any(|found| *found.name == *group.name) {
                continue;
            }
            let taken = self.kernels.iter().any(|kernel| group.holds(kernel));
            let why = if taken { ", but for those of groups before it" } else { "" };
            self.notes.push(format!("the group {:?} fits no kernel{why}", group.name));
        }
    }

    /// The group that a kernel is counted in.
    #[must_use]
    pub fn group_of(&self, kernel: &Kernel) -> Option<&GroupTotals> {
        self.groups.iter().find(|group| group.name == kernel.group)
    }

    /// Whether the groups are the user's own.
    #[must_use]
    pub fn has_own_groups(&self) -> bool {
        !self.grouping.is_empty()
    }

    /// Gives each kernel its group and adds the groups up; in the user's order, or by time.
    pub(super) fn sum_groups(&mut self) {
        let names: Vec<Arc<str>> = if self.has_own_groups() {
            let own = self.grouping.iter().map(|group| group.name.as_str());
            own.chain([Group::REST]).map(Arc::from).collect()
        } else {
            Category::ALL.iter().map(|category| category.label().into()).collect()
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
        for (at, kernel) in self.kernels.iter_mut().enumerate() {
            let position = if self.grouping.is_empty() {
                Category::ALL.iter().position(|category| *category == kernel.class.category)
            } else {
                self.grouping.iter().position(|group| group.holds(kernel))
            };
            let position = position.unwrap_or(groups.len() - 1);
            kernel.group = Arc::clone(&groups[position].name);
            groups[position].add(kernel);
            members[position].push(at);
        }
        for (group, members) in groups.iter_mut().zip(members) {
            let whole = self.totals.measured;
            group.share = if whole.get() > 0.0 { group.measured / whole } else { 0.0 };
            group.find_worst(members.into_iter().map(|at| &self.kernels[at]));
        }
        groups.retain(|group| group.kernels > 0);
        if self.grouping.is_empty() {
            groups.sort_by(|one, two| two.measured.get().total_cmp(&one.measured.get()));
        }
        self.groups = groups;
    }
}
