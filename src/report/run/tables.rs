//! The kernels of a run as tables: ranked opportunities, and all others.

use crate::analysis::{Analysis, Confidence, Kernel, State};
use crate::model::OriginKind;
use crate::report::Report;
use crate::report::document::{Cell, Column, Form, Table};
use crate::report::run::advice;
use crate::report::run::brief::Brief;
use crate::report::view::{Style, name, percent, printable, shape, si};
use crate::roofline::{Limiter, run_speedup};
use crate::units::{FlopsPerByte, Seconds, Share};

/// Notes of a row, by the position of the kernel.
type Notes<'a> = &'a dyn Fn(&Kernel) -> Vec<String>;

/// The ranked opportunities, each with what the rules say of it: what the brief says is not said again.
pub(in crate::report) fn opportunities(
    kernels: &[&Kernel],
    report: &Report<'_>,
    brief: &Brief<'_>,
    style: &Style,
) -> Table {
    let notes = |kernel: &Kernel| {
        let open = kernel.is_unproven().then(|| {
            let most = si(kernel.savings_high.get(), "s");
            format!("savings are unproven without a certain cause: at most {most}")
        });
        let sized = std::iter::once(kernel.meaning()).chain(open).chain(sizes(kernel));
        let found = report.findings_of(kernel);
        sized.chain(advice::causes(found, brief.told(kernel))).collect()
    };
    ranked(kernels, report.analysis, style, &notes)
}

fn ranked(kernels: &[&Kernel], analysis: &Analysis, style: &Style, notes: Notes<'_>) -> Table {
    let total = analysis.totals.measured;
    let devices = Devices::of(analysis);
    let mut table = Table::new(
        "opportunities",
        devices.columns(
            10,
            vec![
                Column::number("rank", "#", Form::Count),
                Column::name("name", "kernel"),
                Column::number("shape", "grid / block", Form::Count).spare(12),
                Column::number("launches", "launches", Form::Count).spare(14),
                Column::number("measured_s", "measured", Form::Time),
                Column::number("roofline_s", "roofline", Form::Time).spare(6),
                Column::number("headroom", "vs. roofline", Form::Factor),
                Column::text("verdict", "verdict").spare(5),
                Column::text("limiter", "limiter").spare(13),
                Column::number("arithmetic_intensity_flop_per_byte", "FLOP/B", Form::Digits)
                    .spare(17),
                Column::number("ridge_point_flop_per_byte", "ridge", Form::Digits).spare(18),
                Column::number("share", "share", Form::Share).spare(11),
                Column::number("savings_s", "savings", Form::Time),
                Column::number("coverage", "cumulative", Form::Share).spare(15),
                Column::number("run_speedup", "run speedup", Form::Factor).spare(16),
            ],
        ),
    );
    for kernel in kernels {
        let per_byte = |value: Option<FlopsPerByte>| Cell::maybe(value.map(FlopsPerByte::get));
        let [value, low, high] =
            [kernel.savings, kernel.savings_low, kernel.savings_high].map(Seconds::get);
        // None that is proven, as in the brief; a note says how much it is at most.
        let savings = if value > 0.0 { Cell::Around { value, low, high } } else { Cell::Missing };
        let cells = [
            Cell::count(kernel.rank as u64),
            Cell::text(name(kernel, style)),
            Cell::text(shape(kernel)),
            Cell::count(kernel.launches),
            Cell::time(kernel.measured),
            roofline_time(kernel),
            headroom(kernel),
            Cell::text(verdict(kernel)),
            Cell::text(kernel.limiter.label()),
            // Without a pipe that takes time there is no ridge point either.
            per_byte(kernel.busiest_intensity().or_else(|| kernel.intensity())),
            per_byte(kernel.ridge_point()),
            share(kernel, total),
            savings,
            Cell::maybe(kernel.coverage.map(Share::get)),
            Cell::Number(run_speedup(total, kernel.savings)),
        ];
        table.push_with(devices.cells(kernel, cells.into()), notes(kernel));
    }
    table
}

/// The sizes that names, operators or the user tell, with the time that their closed form asks for beside
/// the measured one; where work is counted from sizes, the operator says them and the table has the time.
fn sizes(kernel: &Kernel) -> Option<String> {
    let needed = kernel.algorithmic()?;
    if kernel.provenance == Some(OriginKind::Algorithmic) && kernel.operator.is_some() {
        return None;
    }
    let call = printable(&needed.call);
    Some(needed.roofline_time().map_or_else(
        || call.clone(),
        |time| {
            let (time, measured) = (si(time.get(), "s"), si(kernel.modeled.get(), "s"));
            format!("{call}: {time} by its closed form, {measured} measured")
        },
    ))
}

/// The state of a kernel, and how sure it is where it is not certain.
fn verdict(kernel: &Kernel) -> String {
    match kernel.confidence {
        Some(confidence) if confidence > Confidence::Certain && kernel.state != State::Possible => {
            format!("{}, {}", state(kernel), confidence.label())
        }
        _ => state(kernel),
    }
}

/// The state of a kernel, and of which part of its time it is: headroom is that of the launches that were compared.
fn state(kernel: &Kernel) -> String {
    /// A smaller part of the time changes no figure.
    const WORTH_NAMING: f64 = 0.01;
    let label = kernel.state.label();
    let open = kernel.unmodeled();
    if kernel.state.is_modeled() && open > kernel.measured * WORTH_NAMING {
        format!("{label}, {} compared", percent(kernel.modeled / kernel.measured))
    } else {
        label.to_owned()
    }
}

/// All other kernels, by time, with their state.
pub(in crate::report) fn others(kernels: &[&Kernel], report: &Report<'_>, style: &Style) -> Table {
    let total = report.analysis.totals.measured;
    let devices = Devices::of(report.analysis);
    let mut table = Table::new(
        "others",
        devices.columns(
            10,
            vec![
                Column::number("rank", "#", Form::Count),
                Column::name("name", "kernel"),
                Column::number("shape", "grid / block", Form::Count).spare(12),
                Column::number("launches", "launches", Form::Count).spare(14),
                Column::number("measured_s", "measured", Form::Time),
                Column::number("roofline_s", "roofline", Form::Time).spare(6),
                Column::number("headroom", "vs. roofline", Form::Factor),
                Column::text("limiter", "limiter").spare(13),
                Column::number("share", "share", Form::Share).spare(11),
                Column::text("state", "state").spare(5),
            ],
        ),
    );
    for kernel in kernels {
        let unless = |dash: bool, cell: Cell| if dash { Cell::Missing } else { cell };
        // A time of zero is a missing one.
        let untimed = kernel.measured <= Seconds::ZERO;
        let cells = [
            Cell::count(kernel.rank as u64),
            Cell::text(name(kernel, style)),
            Cell::text(shape(kernel)),
            Cell::count(kernel.launches),
            unless(untimed, Cell::time(kernel.measured)),
            roofline_time(kernel),
            headroom(kernel),
            unless(kernel.limiter == Limiter::Unknown, Cell::text(kernel.limiter.label())),
            unless(untimed, share(kernel, total)),
            Cell::text(state(kernel)),
        ];
        let notes = sizes(kernel).into_iter().collect();
        table.push_with(devices.cells(kernel, cells.into()), notes);
    }
    table
}

/// The device of each kernel, in tables of runs on several; a run on one names it at its top.
pub(super) struct Devices(Vec<String>);

impl Devices {
    pub(super) fn of(analysis: &Analysis) -> Self {
        let names = analysis.devices.iter().map(|device| printable(device.name()));
        Self(if analysis.devices.len() > 1 { names.collect() } else { Vec::new() })
    }

    /// The columns of a table that begins with rank and name, and leaves out the device before all of a smaller number.
    pub(super) fn columns(&self, spare: u8, mut columns: Vec<Column>) -> Vec<Column> {
        if !self.0.is_empty() {
            columns.insert(2, Column::text("device", "device").spare(spare));
        }
        columns
    }

    pub(super) fn cells(&self, kernel: &Kernel, mut cells: Vec<Cell>) -> Vec<Cell> {
        if let Some(name) = self.0.get(kernel.device) {
            cells.insert(2, Cell::text(name.clone()));
        }
        cells
    }
}

/// The expected time; a bound says so.
pub(in crate::report) fn roofline_time(kernel: &Kernel) -> Cell {
    let time = Cell::maybe(kernel.roofline_time.map(Seconds::get));
    match (kernel.may_need_less(), kernel.is_lower_bound()) {
        (true, false) => time.at_most(),
        (false, true) => time.at_least(),
        _ => time,
    }
}

/// A headroom; what was not counted makes it an interval, whose lower end is what is certain.
pub(in crate::report) fn headroom(kernel: &Kernel) -> Cell {
    kernel.headroom_ends().map_or(Cell::Missing, |(most, least)| between(most, least))
}

/// A headroom that is certainly so large, and at most so large.
pub(super) fn between(high: f64, low: f64) -> Cell {
    /// Below this the certain end says nothing, and the other is a bound.
    const NOTHING: f64 = 0.005;
    if high.is_infinite() {
        Cell::AtLeast(low)
    } else if low >= high * 0.999 {
        Cell::Number(high)
    } else if low > NOTHING {
        Cell::Between(low, high)
    } else {
        Cell::AtMost(high)
    }
}

fn share(kernel: &Kernel, total: Seconds) -> Cell {
    Cell::Number(kernel.measured / total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::bench::run;

    /// A kernel expected to take 1 ms, or up to 2 ms with what was not counted.
    #[test]
    fn a_headroom_is_as_exact_as_what_was_counted() {
        let mut kernel = run(&[("a", State::Fair, 4.0)]).analysis.kernels.remove(0);
        kernel.modeled = Seconds::new(4e-3);
        let mut cell = |expected: Option<f64>, most: f64| {
            kernel.roofline_time = expected.map(Seconds::new);
            kernel.roofline_time_high = Some(Seconds::new(most));
            headroom(&kernel)
        };
        assert_eq!(cell(None, 1e-3), Cell::Missing);
        // All was counted: there is no other end.
        assert_eq!(cell(Some(1e-3), 1e-3), Cell::Number(4.0));
        assert_eq!(cell(Some(1e-3), 2e-3), Cell::Between(2.0, 4.0));
        // The other end is of no interest.
        assert_eq!(cell(Some(1e-3), 1.0005e-3), Cell::Number(4.0));
        // The roofline time is not longer than the measured one, whatever was not counted.
        assert_eq!(cell(Some(1e-3), 4.0), Cell::Between(1.0, 4.0));
        assert_eq!(cell(Some(1e-3), f64::INFINITY), Cell::Between(1.0, 4.0));
        // Faster than the roofline of what was counted.
        assert_eq!(cell(Some(5e-3), 8e-3), Cell::Between(0.5, 0.8));
        assert_eq!(cell(Some(5e-3), f64::INFINITY), Cell::AtMost(0.8));
    }

    #[test]
    fn what_no_roof_of_the_device_tells_is_missing() {
        let mut bench = run(&[
            ("copy", State::NotRoofline, 3.0),
            ("gemm", State::NearRoofline, 1.0),
            ("untimed", State::NotEnoughData, 0.0),
        ]);
        for kernel in &mut bench.analysis.kernels {
            // As the analysis leaves it: no roof of the device says how long communication takes.
            let is_link = kernel.state == State::NotRoofline;
            let known = (!is_link).then_some(Seconds::new(1e-3));
            let limiter = if is_link { Limiter::Unknown } else { Limiter::Memory };
            (kernel.roofline_time, kernel.roofline_time_high, kernel.limiter) =
                (known, known, limiter);
        }
        let kernels: Vec<&Kernel> = bench.analysis.kernels.iter().collect();
        let table = others(&kernels, &bench.report(), &Style::default());
        let at = |key: &str| table.columns.iter().position(|column| column.key == key).unwrap();
        let cells = |key: &str| {
            table.rows.iter().map(|row| row.cells[at(key)].clone()).collect::<Vec<Cell>>()
        };
        let (one, missing) = (Cell::Number(1e-3), Cell::Missing);
        assert_eq!(cells("roofline_s"), [missing.clone(), one.clone(), one]);
        assert_eq!(cells("limiter")[0], missing);
        // A time of zero is a missing one, and so is its share.
        assert_eq!(cells("share"), [Cell::Number(0.75), Cell::Number(0.25), missing.clone()]);
        assert_eq!(cells("measured_s")[2], missing);
    }
}
