//! The verdict on a whole run, as the first lines of every human-readable report.

use super::Report;
use super::numbers::{factor, percent, printable, si};
use super::view::{MISSING, count, interval};
use crate::analysis::State;
use crate::units::Seconds;

/// The verdict, as label and sentence.
pub(super) fn verdict(report: &Report<'_>) -> Vec<(&'static str, String)> {
    let analysis = report.analysis;
    let totals = &analysis.totals;
    let time = |time: Seconds| si(time.get(), "s");
    let share = |part: Seconds| {
        if totals.measured.get() > 0.0 {
            percent(part / totals.measured)
        } else {
            MISSING.to_owned()
        }
    };
    let mut lines = Vec::new();
    let mut devices: Vec<String> = Vec::new();
    for device in &analysis.devices {
        let name = printable(device.name());
        if !devices.contains(&name) {
            devices.push(name);
        }
    }
    let instrumented = if totals.instrumented.get() > 0.0 {
        format!("; {} more, taken while instrumented, is left out", time(totals.instrumented))
    } else {
        String::new()
    };
    if totals.measured.get() > 0.0 {
        let untimed = totals.launches - totals.timed_launches;
        let untimed = if untimed > 0 {
            format!("; {} no duration", count(untimed, "launch has", "launches have"))
        } else {
            String::new()
        };
        lines.push((
            "GPU time",
            format!(
                "{} in {} of {} on {}{untimed}{instrumented}",
                time(totals.measured),
                count(totals.launches, "launch", "launches"),
                count(totals.kernels as u64, "kernel", "kernels"),
                devices.join(", ")
            ),
        ));
        let unmodelled = totals.unmodelled;
        let rest = totals.measured - totals.modelled - unmodelled;
        let mut modelled = format!("{} of the time", share(totals.modelled));
        if unmodelled.get() > 0.0 {
            modelled.push_str(&format!("; {} could not be judged", share(unmodelled)));
        }
        if rest.get() > 1e-12 {
            modelled.push_str(&format!("; {} outside the model", share(rest)));
        }
        lines.push(("Modelled", modelled));
    } else {
        lines.push((
            "GPU time",
            format!(
                "unknown: no durations in {} of {} on {}{instrumented}",
                count(totals.launches, "launch", "launches"),
                count(totals.kernels as u64, "kernel", "kernels"),
                devices.join(", ")
            ),
        ));
    }
    if let Some(headroom) = totals.headroom() {
        lines.push((
            "Distance",
            format!(
                "{} the expected time: {} measured, {} expected",
                interval(headroom, totals.modelled / totals.expected_high),
                time(totals.modelled),
                if totals.modelled / totals.expected_high < headroom * 0.999 {
                    format!("at least {}", time(totals.expected))
                } else {
                    time(totals.expected)
                }
            ),
        ));
    }
    let opportunities = totals.states.get(&State::Opportunity).map_or(0, |(kernels, _)| *kernels);
    if opportunities > 0 {
        let needed = totals.kernels_for_80_percent;
        let coverage = match (needed, opportunities) {
            (_, 1) => "all of it in one kernel".to_owned(),
            (1, _) => "one kernel brings 80 % of it".to_owned(),
            (needed, all) if needed == all => {
                format!("it takes all {all} kernels to win 80 % of it")
            }
            (needed, _) => format!("{needed} kernels bring 80 % of it"),
        };
        lines.push((
            "Recoverable",
            format!(
                "{} ({}) realistically, at most {}; {coverage}",
                time(totals.recoverable),
                share(totals.recoverable),
                time(totals.recoverable_upper)
            ),
        ));
    } else if totals.modelled.get() > 0.0 {
        lines.push((
            "Recoverable",
            format!(
                "nothing worth it: no kernel takes {} its expected time with {} to win",
                factor(analysis.threshold),
                si(crate::roofline::flag_floor(totals.measured, analysis.floor).get(), "s")
            ),
        ));
    }
    lines.push((
        "Ceilings",
        format!("{} ({})", analysis.ceilings.label(), analysis.ceilings_reason),
    ));
    let skipped: u64 = analysis.sources.iter().map(|source| source.skips.count).sum();
    if skipped > 0 {
        lines.push((
            "Check",
            format!(
                "{} could not be used; see below",
                count(skipped, "record or cell", "records or cells")
            ),
        ));
    }
    for note in analysis.devices.iter().flat_map(|device| &device.notes) {
        lines.push(("Check", printable(note)));
    }
    lines
}
