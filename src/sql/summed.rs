//! The law's view of a kernel: the columns with the sums over its launches.

use super::expr::{Arena, Condition, Figure};
use crate::law::{Averages, Bar, CeilingSet, Kernel, Uncounted};
use crate::model::Quantity;
use crate::roofline::{self, formula};
use crate::scalar::{Maybe, Number};
use crate::table::{Fact, Facts};

/// Limits that a user can set.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Headroom from which a kernel is flagged; by the ceilings if `None`.
    pub threshold: Option<f64>,
    /// Smallest savings of a flagged kernel, in seconds; the usual ones if `None`.
    pub floor: Option<f64>,
    /// Share of the run below which savings are ignored.
    pub floor_share: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { threshold: None, floor: None, floor_share: roofline::FLAG_SHARE }
    }
}

/// The columns with the sums of a kernel.
pub(super) struct Summed<'a, 'f> {
    pub(super) arena: &'a Arena,
    /// What is known of the columns of the view of launches.
    pub(super) facts: &'f Facts,
}

impl<'a> Summed<'a, '_> {
    pub(super) fn figure(&self, name: &str) -> Figure<'a> {
        self.arena.present(name)
    }

    pub(super) fn maybe(&self, name: &str) -> Maybe<Figure<'a>, Figure<'a>> {
        self.arena.column(name)
    }

    /// Returns whether any launch was judged.
    pub(super) fn is_judged(&self) -> Condition<'a> {
        Figure::of(0.0).less(self.figure("judged_launches"))
    }

    /// Returns a sum over the launches that stand for a kernel: those that were judged, or else all.
    pub(super) fn part(&self, name: &str) -> Maybe<Figure<'a>, Figure<'a>> {
        if *self.facts.of(name) == Fact::Missing {
            return Maybe::missing();
        }
        let [judged, rest] = ["judged", "rest"].map(|part| self.maybe(&format!("{part}_{name}")));
        Figure::select(self.is_judged(), || judged, || rest)
    }

    /// Returns the time-weighted average of a quantity.
    fn average(&self, quantity: Quantity) -> Maybe<Figure<'a>, Figure<'a>> {
        let name = quantity.column();
        if *self.facts.of(&name) == Fact::Missing {
            return Maybe::missing();
        }
        let [sum, least, greatest] =
            ["sum", "least", "greatest"].map(|end| self.figure(&format!("{name}_{end}")));
        let weight = self.maybe(&format!("{name}_weight"));
        // The mean of equal values is that value.
        let weight = weight.filter(|weight| Figure::of(0.0).less(weight));
        weight.map(|weight| (sum / weight).max(least).min(greatest))
    }

    /// Returns by what the kernel is judged.
    pub(super) fn bar(&self, limits: Limits) -> Bar<Figure<'a>> {
        let is_spec = self.arena.is_text("ceilings", CeilingSet::Spec.label());
        let usual = Figure::select(
            is_spec,
            || Figure::of(CeilingSet::Spec.threshold()),
            || Figure::of(CeilingSet::MeasuredClock.threshold()),
        );
        let total = self.figure("run_measured_s");
        let (floor, share) = (limits.floor.map(Figure::of), Figure::of(limits.floor_share));
        Bar {
            threshold: limits.threshold.map_or(usual, Figure::of),
            usual_threshold: usual,
            floor: formula::flag_floor(total, floor, share),
        }
    }

    /// Returns whether the launches are faster than the model allows.
    pub(super) fn is_faster(&self) -> Condition<'a> {
        formula::are_faster_than_roof(
            (self.figure("judged_s"), self.figure("roofline_s")),
            self.figure("faster_s"),
            Figure::of(0.0).less(self.figure("faster_launches")),
            !self.arena.is_text("ceilings", CeilingSet::Achievable.label()),
        )
    }

    /// Returns whether most launches that were not judged have no time. Of as many launches with one problem as with
    /// another, the later one counts.
    fn is_untimed(&self) -> Condition<'a> {
        let count = |name: &str| self.figure(&format!("problem_{name}"));
        let untimed = count("no_time").max(count("instrumented"));
        count("no_counters").max(count("no_roof")).less(untimed)
    }

    /// Returns what the law reads.
    pub(super) fn kernel(&self) -> Kernel<Figure<'a>> {
        let figure = |name: &str| self.figure(name);
        let truth = |name: &str| self.arena.truth(name);
        let is_judged = self.is_judged();
        let parts = ["judged", "rest"];
        let [judged, rest] =
            parts.map(|part| self.arena.choice::<Uncounted>(&format!("{part}_uncounted")));
        let uncounted = Figure::select(is_judged, || judged, || rest);
        let [judged, rest] = parts.map(|part| truth(&format!("{part}_math_by_utilization")));
        Kernel {
            launches: figure("launches"),
            timed: figure("launches") - figure("problem_no_time") - figure("problem_instrumented"),
            measured: figure("measured_s"),
            is_judged,
            part: Figure::select(is_judged, || figure("judged_launches"), || figure("launches")),
            time: figure("judged_s"),
            roofline: figure("roofline_s"),
            likely: figure("roofline_likely_s"),
            high: figure("roofline_high_s"),
            memory: self.part("t_mem_s"),
            math: self.part("t_math_s"),
            l2: self.part("t_l2_s"),
            bytes: self.part("bytes"),
            savings_high: figure("savings_high_s"),
            most: figure("roofline_high_s"),
            uncounted,
            is_math_by_utilization: (is_judged & judged) | (!is_judged & rest),
            is_algorithmic: truth("is_algorithmic"),
            is_faster: self.is_faster(),
            is_untimed: self.is_untimed(),
            averages: Averages::of(|quantity| self.average(quantity)),
            blocks: self.maybe("blocks"),
            threads_per_block: self.maybe("threads_per_block"),
            sms: self.maybe("multiprocessors"),
            l2_bytes: self.maybe("l2_cache_bytes"),
            crosses_link: truth("crosses_link"),
            is_product: truth("is_matrix_product"),
            is_persistent_by_name: truth("is_persistent_by_name"),
            is_serial_by_name: truth("is_serial_by_name"),
            has_work_by_name: truth("has_work_by_name"),
            is_per_element: truth("is_per_element"),
            family: (figure("family_savings_s"), figure("family_savings_high_s")),
            fixed_cost: figure("fixed_cost_least_s"),
        }
    }
}
