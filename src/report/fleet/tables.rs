//! Kernels and ranks of a fleet as tables of typed columns: CSV, Parquet, data frames.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{FleetReport, HOUR};
use crate::analysis::{Kernel, KernelRanks, RankId, Sketch};
use crate::fleet::{Rank, Straggler};
use crate::report::tables::{self, named, push};
use crate::table::{Cell, Cells, Form, Table};
use crate::units::{Hertz, Seconds};

const SECONDS: Form = Form::Number("s");

/// What a cell of a kernel is made of.
type OfKernel<'a> = &'a dyn Fn(&Kernel, &Sketch, &KernelRanks) -> Option<Cell<'static>>;

/// What a cell of a rank is made of.
type OfRank<'a> = &'a dyn Fn(&Rank) -> Option<Cell<'static>>;

#[expect(clippy::unnecessary_wraps, reason = "cells may be missing")]
fn text(text: impl Into<String>) -> Option<Cell<'static>> {
    Some(Cell::Text(text.into().into()))
}

#[expect(clippy::unnecessary_wraps, reason = "cells may be missing")]
fn seconds(time: Seconds) -> Option<Cell<'static>> {
    Some(Cell::Number(time.get()))
}

impl FleetReport<'_> {
    /// Returns the kernels over all ranks: the columns of a run's kernels, then their spread over the ranks.
    #[must_use]
    pub fn kernel_table(&self) -> Table<'static> {
        let mut table = tables::kernels(&self.run());
        let mut add = |name: &str, form: Form, about: &str, of: OfKernel<'_>| {
            let cells = self.analysis.kernels.iter().map(|kernel| {
                let (times, ranks) = self.spread_of(kernel)?;
                of(kernel, times, ranks)
            });
            push(&mut table, name, form, about, Cells::of(form, cells));
        };
        let time = |end: &Option<(RankId, Seconds)>| seconds(end.as_ref()?.1);
        let rank = |end: &Option<(RankId, Seconds)>| text(end.as_ref()?.0.to_string());
        let hours = Form::Number("h");
        add("savings_gpu_hours", hours, "savings in hours of a GPU", &|kernel, _, _| {
            kernel.has_savings().then(|| Cell::Number(kernel.savings.get() / HOUR))
        });
        let about = "median time of a launch, within 1%";
        add("median_launch_s", SECONDS, about, &|_, times, _| seconds(times.median()?));
        add("ranks", Form::Count, "number of ranks with the kernel", &|_, _, ranks| {
            Some(Cell::Count(ranks.count()))
        });
        let about = "time of all its launches in the fastest rank";
        add("least_rank_s", SECONDS, about, &|_, _, ranks| time(&ranks.least));
        add("least_rank", Form::Text, "run and number of the fastest rank", &|_, _, ranks| {
            rank(&ranks.least)
        });
        let about = "median over the ranks; within 1% if there are more than 4096";
        add("median_rank_s", SECONDS, about, &|_, _, ranks| seconds(ranks.median()?));
        let about = "time of all its launches in the slowest rank";
        add("greatest_rank_s", SECONDS, about, &|_, _, ranks| time(&ranks.greatest));
        add("slowest_rank", Form::Text, "run and number of the slowest rank", &|_, _, ranks| {
            rank(&ranks.greatest)
        });
        table
    }

    /// Returns the ranks by run and number, with their positions on each axis of parallelism.
    #[must_use]
    pub fn rank_table(&self) -> Table<'static> {
        let mut table = Table { height: self.ranks.len(), ..Table::default() };
        let medians = self.medians();
        let stragglers: BTreeMap<&RankId, &Straggler> =
            self.stragglers.iter().map(|straggler| (&straggler.id, straggler)).collect();
        let mut add = |name: &str, form: Form, about: &str, of: OfRank<'_>| {
            push(&mut table, name, form, about, Cells::of(form, self.ranks.iter().map(of)));
        };
        add("run", Form::Text, "name of the run", &|rank| text(&*rank.id.run));
        add("rank", Form::Count, "number of the rank", &|rank| Some(Cell::Count(rank.id.rank)));
        add("device", Form::Text, "names of its devices", &|rank| {
            text(rank.figures.devices.join(", "))
        });
        add("launches", Form::Count, "number of launches", &|rank| {
            Some(Cell::Count(rank.figures.launches))
        });
        add("measured_s", SECONDS, "measured time", &|rank| {
            rank.timed(rank.figures.measured).map(Cell::Number)
        });
        let about = "relative difference from the median time of its run";
        add("from_median", Form::Number("1"), about, &|rank| {
            Self::from_median(rank, &medians).map(Cell::Number)
        });
        let about = "time in communication and copies over links";
        add("communication_s", SECONDS, about, &|rank| {
            rank.timed(rank.figures.communication).map(Cell::Number)
        });
        let about =
            "time that is compared with roofs, without kernels faster than the model allows";
        add("judged_s", SECONDS, about, &|rank| rank.timed(rank.figures.judged).map(Cell::Number));
        let about = "roofline time of the time that is compared with roofs";
        add("roofline_s", SECONDS, about, &|rank| {
            rank.timed(rank.figures.roofline).map(Cell::Number)
        });
        add("operations", Form::Number("1"), "operations of all launches", &|rank| {
            Some(Cell::Number(rank.figures.operations))
        });
        add("bytes", Form::Number("B"), "bytes of all launches", &|rank| {
            Some(Cell::Number(rank.figures.bytes))
        });
        let about = "average SM clock, weighted by time";
        add("sm_clock_hz", Form::Number("Hz"), about, &|rank| {
            Some(Cell::Number(rank.figures.clock.map(Hertz::get)?))
        });
        let about = "why it is slower than the others; missing if it is not";
        add("cause", Form::Text, about, &|rank| text(stragglers.get(&rank.id)?.cause.label()));
        add("evidence", Form::Text, "figure behind the cause", &|rank| {
            text(stragglers.get(&rank.id)?.evidence.as_str())
        });
        let mut axes: Vec<&Arc<str>> = Vec::new();
        for (axis, _) in self.ranks.iter().flat_map(|rank| &rank.positions) {
            if !axes.contains(&axis) {
                axes.push(axis);
            }
        }
        for axis in axes {
            let about = format!("position on the axis {axis}");
            add(&format!("position_{axis}"), Form::Count, &about, &|rank| {
                let position = rank.positions.iter().find(|(known, _)| known == axis)?;
                Some(Cell::Count(position.1))
            });
        }
        named(table, "ranks")
    }
}
