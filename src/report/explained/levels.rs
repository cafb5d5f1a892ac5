//! What lies between measured and ideal time: the levels of the memory hierarchy, waves, structure.

use super::{Lines, time};
use crate::analysis::{Binding, Explanation, Kernel, State};
use crate::report::view;
use crate::roofline;
use crate::units::Seconds;

/// The levels beside DRAM, and the expected time if they count.
pub(super) fn hierarchy(lines: &mut Lines, kernel: &Kernel) {
    for traffic in kernel.levels() {
        let level = traffic.level;
        let (symbol, label) = (level.symbol(), level.label());
        let bytes = view::si(traffic.bytes.get(), "B");
        match traffic.time {
            Some(needed) if needed > Seconds::ZERO => {
                let bandwidth = view::si((traffic.bytes / needed).get(), "B/s");
                let remark =
                    format!("{label}: B ÷ BW = {bytes} ÷ {bandwidth}; beside the headline");
                lines.add(&format!("t_{symbol}"), time(needed), remark);
            }
            _ if traffic.bytes.get() == 0.0 => {}
            _ => {
                let remark = format!("{label}: traffic whose bandwidth is not known");
                lines.add(&format!("B_{symbol}"), bytes, remark);
            }
        }
    }
    let (Some(roofline_time), Some(hierarchical)) = (kernel.roofline_time, kernel.hierarchical())
    else {
        return;
    };
    let binding = kernel.binding().map_or("nothing", Binding::label);
    let remark = if hierarchical > kernel.modeled * 1.03 {
        format!(
            "E with all levels, {binding} the longest: above T, so a counter or a roof does not fit"
        )
    } else if hierarchical > roofline_time * 1.001 {
        let share = view::percent(hierarchical / kernel.modeled);
        format!("E with all levels, launch by launch; {binding} binds, and explains {share} of T")
    } else {
        format!("E with all levels, launch by launch; {binding} binds: the same as E")
    };
    lines.add("E hier.", time(hierarchical), remark);
}

/// From measured to structural to ideal time: what another implementation can win, and what launches, the grid and the
/// share of a roof that real code reaches cost any of them.
pub(super) fn way(lines: &mut Lines, kernel: &Kernel, roofline_time: Seconds, structural: Seconds) {
    let measured = kernel.modeled;
    // What is left for the hardware is not known of work that may not be needed.
    if measured <= Seconds::ZERO || !kernel.state.is_modeled() || kernel.may_need_less() {
        return;
    }
    let floor = structural.min(measured).max(roofline_time.min(measured));
    let share = |time: Seconds| view::percent(time / measured);
    // Launch by launch where the savings are counted; where no certain cause was found they are not.
    let (better, unproven) = if kernel.has_savings() {
        (kernel.savings.min(measured), "")
    } else if kernel.state == State::Waived {
        (measured - floor, ", waived and so not in the savings")
    } else if !kernel.is_unproven() {
        (measured - floor, "")
    } else {
        (measured - floor, ", unproven and so not in the savings")
    };
    let beyond = if kernel.is_lower_bound() {
        "launches, grid, what real code does not reach and what was not counted"
    } else {
        "launches, grid and what real code does not reach"
    };
    lines.add(
        "T → ideal",
        format!("{} → {} → {}", time(measured), time(floor), time(roofline_time.min(measured))),
        format!(
            "measured → structural → ideal: {} of T for a better implementation{unproven}, {} for {beyond}, {} for the hardware",
            share(better),
            share((measured - better - roofline_time.min(measured)).max(Seconds::ZERO)),
            share(roofline_time.min(measured)),
        ),
    );
}

/// How the grid fills the multiprocessors.
pub(super) fn waves(lines: &mut Lines, kernel: &Kernel, explanation: &Explanation, units: &str) {
    let (Some(blocks), Some(sms), Some(resident)) =
        (kernel.shape.blocks, explanation.sms, explanation.resident)
    else {
        return;
    };
    let waves = roofline::waves(blocks, sms, resident);
    let known = if explanation.resident_is_computed {
        "by threads, registers and shared memory"
    } else {
        "by the export"
    };
    let used = roofline::sm_efficiency(blocks, sms, resident);
    lines.add(
        "waves",
        view::digits(waves),
        format!(
            "{} ÷ ({sms} {units} × {resident} that fit at a time, {known}); the {units} have work {} of the time",
            view::count(blocks, "block", "blocks"),
            view::percent(used)
        ),
    );
}
