//! The kernels of a run as tables: ranked opportunities, and all others.

use crate::analysis::{Kernel, State};
use crate::report::Report;
use crate::report::document::{Cell, Column, Form, Table};
use crate::report::run::advice;
use crate::report::view::{Style, name, shape};
use crate::roofline::Limiter;
use crate::units::{FlopsPerByte, Seconds};

/// Notes of a row, by the position of the kernel.
type Notes<'a> = &'a dyn Fn(&Kernel) -> Vec<String>;

/// The ranked opportunities, each with what the rules say of it.
pub(in crate::report) fn opportunities(
    kernels: &[&Kernel],
    report: &Report<'_>,
    style: &Style,
) -> Table {
    let notes = |kernel: &Kernel| {
        let found = kernel.rank.checked_sub(1).and_then(|at| report.findings.by_kernel.get(at));
        let found = found.map_or(&[][..], Vec::as_slice);
        std::iter::once(kernel.meaning()).chain(advice::causes(found)).collect()
    };
    ranked(kernels, report.analysis.totals.measured, style, &notes)
}

fn ranked(kernels: &[&Kernel], total: Seconds, style: &Style, notes: Notes<'_>) -> Table {
    let mut table = Table::new(
        "opportunities",
        vec![
            Column::number("rank", "#", Form::Count),
            Column::name("name", "kernel"),
            Column::number("shape", "grid / block", Form::Count).spare(12),
            Column::number("launches", "launches", Form::Count).spare(14),
            Column::number("measured_s", "measured", Form::Time),
            Column::number("expected_s", "expected", Form::Time).spare(6),
            Column::number("headroom", "headroom", Form::Factor),
            Column::text("limiter", "limiter").spare(13),
            Column::number("arithmetic_intensity_flop_per_byte", "FLOP/B", Form::Digits).spare(17),
            Column::number("ridge_point_flop_per_byte", "ridge", Form::Digits).spare(18),
            Column::number("share", "share", Form::Share).spare(11),
            Column::number("recoverable_s", "to win", Form::Time),
            Column::number("coverage", "covers", Form::Share).spare(15),
            Column::number("gain", "gain", Form::Factor).spare(16),
        ],
    );
    for kernel in kernels {
        let per_byte = |value: Option<FlopsPerByte>| Cell::maybe(value.map(FlopsPerByte::get));
        let cells = [
            Cell::count(kernel.rank as u64),
            Cell::text(name(kernel, style)),
            Cell::text(shape(kernel)),
            Cell::count(kernel.launches),
            Cell::time(kernel.measured),
            expected(kernel),
            headroom(kernel),
            Cell::text(kernel.limiter.label()),
            per_byte(kernel.intensity),
            per_byte(kernel.ridge_point),
            share(kernel, total),
            Cell::Around {
                value: kernel.recoverable.get(),
                low: kernel.recoverable_low.get(),
                high: kernel.recoverable_upper.get(),
            },
            Cell::maybe(kernel.coverage),
            Cell::Number(kernel.gain),
        ];
        table.push_with(cells, notes(kernel));
    }
    table
}

/// All other kernels, by time, with their state.
pub(in crate::report) fn others(kernels: &[&Kernel], report: &Report<'_>, style: &Style) -> Table {
    let total = report.analysis.totals.measured;
    let mut table = Table::new(
        "others",
        vec![
            Column::name("name", "kernel"),
            Column::number("shape", "grid / block", Form::Count).spare(12),
            Column::number("launches", "launches", Form::Count).spare(14),
            Column::number("measured_s", "measured", Form::Time),
            Column::number("expected_s", "expected", Form::Time).spare(6),
            Column::number("headroom", "headroom", Form::Factor),
            Column::text("limiter", "limiter").spare(13),
            Column::number("share", "share", Form::Share).spare(11),
            Column::text("state", "state").spare(5),
        ],
    );
    for kernel in kernels {
        // No roof of this device says how long communication takes.
        let roofless = kernel.state == State::NotRoofline;
        let unless = |dash: bool, cell: Cell| if dash { Cell::Missing } else { cell };
        // A time of zero is a missing one.
        let untimed = kernel.measured <= Seconds::ZERO;
        table.push([
            Cell::text(name(kernel, style)),
            Cell::text(shape(kernel)),
            Cell::count(kernel.launches),
            unless(untimed, Cell::time(kernel.measured)),
            unless(roofless, expected(kernel)),
            unless(roofless, headroom(kernel)),
            unless(
                roofless || kernel.limiter == Limiter::Unknown,
                Cell::text(kernel.limiter.label()),
            ),
            unless(untimed, share(kernel, total)),
            Cell::text(kernel.state.label()),
        ]);
    }
    table
}

/// The expected time; a lower bound says so.
fn expected(kernel: &Kernel) -> Cell {
    let time = Cell::maybe(kernel.expected.map(Seconds::get));
    if kernel.is_lower_bound() { time.at_least() } else { time }
}

/// A headroom; what was not counted makes it an interval, whose lower end is what is certain.
fn headroom(kernel: &Kernel) -> Cell {
    /// Below this the certain end says nothing, and the other is a bound.
    const NOTHING: f64 = 0.005;
    let low = kernel.headroom_low.filter(|_| kernel.is_lower_bound());
    match (kernel.headroom, low) {
        (None, _) => Cell::Missing,
        (Some(high), Some(low)) if low >= high * 0.999 => Cell::Number(high),
        (Some(high), Some(low)) if low > NOTHING => Cell::Between(low, high),
        (Some(high), Some(_)) => Cell::AtMost(high),
        (Some(headroom), None) => Cell::Number(headroom),
    }
}

fn share(kernel: &Kernel, total: Seconds) -> Cell {
    Cell::Number(kernel.measured / total)
}
