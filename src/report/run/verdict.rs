//! The verdict on a whole run, as the first lines of every human-readable report.

use super::groups;
use crate::analysis::State;
use crate::report::Report;
use crate::report::document::Fact;
use crate::report::view::{count, factor, interval, percent, printable, range, si};
use crate::units::Seconds;

/// The verdict, a label and a sentence each.
pub(super) fn verdict(report: &Report<'_>) -> Vec<Fact> {
    let analysis = report.analysis;
    let mut lines = unknown_devices(report);
    lines.push(("GPU time", gpu_time(report)));
    let sentences = [
        ("Modelled", modelled(report)),
        ("Distance", distance(report)),
        ("Recoverable", recoverable(report)),
        ("Flagged", flagged(report)),
        ("Targets", groups::targets(report)),
    ];
    lines.extend(sentences.into_iter().filter_map(|(label, text)| Some((label, text?))));
    let ceilings = format!("{} ({})", analysis.ceilings.label(), analysis.ceilings_reason);
    lines.push(("Ceilings", ceilings));
    let skipped: u64 = analysis.sources.iter().map(|source| source.skips.count).sum();
    if skipped > 0 {
        let skipped = count(skipped, "record or cell", "records or cells");
        lines.push(("Check", format!("{skipped} could not be used; see below")));
    }
    if analysis.unread > 0 {
        let unread = count(analysis.unread as u64, "file was", "files were");
        lines.push(("Check", format!("{unread} not read; see below")));
    }
    for note in analysis.devices.iter().flat_map(|device| &device.notes) {
        lines.push(("Check", printable(note)));
    }
    lines.into_iter().map(|(label, line)| Fact::new(label, line)).collect()
}

/// What is missing where a device is not known, and what supplies it.
fn unknown_devices(report: &Report<'_>) -> Vec<(&'static str, String)> {
    let unknown = report.analysis.devices.iter().filter_map(|used| {
        let unknown = used.unknown.as_ref()?;
        let mut text = format!("not known: {}; {}", unknown.reason, unknown.help);
        if let Some(peak) = used.observed.dram {
            let rate = si(peak.value.get(), "B/s");
            text.push_str(&format!(
                "; until then its only roof is {rate} of memory ({})",
                peak.how
            ));
        }
        Some(("Device", printable(&text)))
    });
    let mut lines: Vec<_> = unknown.collect();
    lines.dedup();
    lines
}

fn time(time: Seconds) -> String {
    si(time.get(), "s")
}

fn gpu_time(report: &Report<'_>) -> String {
    let totals = &report.analysis.totals;
    let mut devices: Vec<String> = Vec::new();
    for device in &report.analysis.devices {
        let name = printable(device.name());
        if !devices.contains(&name) {
            devices.push(name);
        }
    }
    let whole = format!(
        "{} of {} on {}",
        count(totals.launches, "launch", "launches"),
        count(totals.kernels as u64, "kernel", "kernels"),
        devices.join(", ")
    );
    let mut text = if totals.measured.get() > 0.0 {
        format!("{} in {whole}", time(totals.measured))
    } else {
        format!("unknown: no durations in {whole}")
    };
    let untimed = totals.launches - totals.timed_launches;
    if untimed > 0 && totals.measured.get() > 0.0 {
        let untimed = count(untimed, "launch has", "launches have");
        text.push_str(&format!("; {untimed} no duration"));
    }
    if totals.instrumented.get() > 0.0 {
        let left_out = time(totals.instrumented);
        text.push_str(&format!("; {left_out} more, taken while instrumented, is left out"));
    }
    text
}

fn modelled(report: &Report<'_>) -> Option<String> {
    let totals = &report.analysis.totals;
    let share = |part: Seconds| percent(part / totals.measured);
    if totals.measured.get() <= 0.0 {
        return None;
    }
    let mut text = format!("{} of the time", share(totals.modelled));
    if totals.unmodelled.get() > 0.0 {
        text.push_str(&format!("; {} could not be judged", share(totals.unmodelled)));
    }
    let rest = totals.measured - totals.modelled - totals.unmodelled;
    if rest.get() > 1e-12 {
        text.push_str(&format!("; {} outside the model", share(rest)));
    }
    Some(text)
}

fn distance(report: &Report<'_>) -> Option<String> {
    let totals = &report.analysis.totals;
    let headroom = totals.headroom()?;
    let low = totals.modelled / totals.expected_high;
    let at_least = if low < headroom * 0.999 { "at least " } else { "" };
    Some(format!(
        "{} the expected time: {} measured, {at_least}{} expected",
        interval(headroom, low),
        time(totals.modelled),
        time(totals.expected)
    ))
}

fn recoverable(report: &Report<'_>) -> Option<String> {
    let analysis = report.analysis;
    let totals = &analysis.totals;
    // Many small kernels can hold more than the few that are worth naming.
    let minor = if totals.recoverable_minor >= analysis.smallest_win() {
        format!("; minor kernels hold {} together", time(totals.recoverable_minor))
    } else {
        String::new()
    };
    let opportunities = totals.states.get(&State::Opportunity).map_or(0, |(kernels, _)| *kernels);
    if opportunities == 0 {
        return (totals.modelled.get() > 0.0)
            .then(|| format!("nothing worth it: no kernel is flagged{minor}"));
    }
    let coverage = match (totals.kernels_for_80_percent, opportunities) {
        (_, 1) => "all of it in one kernel".to_owned(),
        (1, _) => "one kernel brings 80 % of it".to_owned(),
        (needed, all) if needed == all => format!("it takes all {all} kernels to win 80 % of it"),
        (needed, _) => format!("{needed} kernels bring 80 % of it"),
    };
    Some(format!(
        "{} ({}) realistically, {}: the run gets {} as fast; {coverage}{minor}",
        time(totals.recoverable),
        percent(totals.recoverable / totals.measured),
        range(totals.recoverable_low, totals.recoverable_upper),
        factor(totals.gain())
    ))
}

/// From which distance and which win on a kernel is an opportunity in this run, and why.
fn flagged(report: &Report<'_>) -> Option<String> {
    let analysis = report.analysis;
    let (total, floor) = (analysis.totals.measured, analysis.smallest_win());
    if analysis.totals.modelled.get() <= 0.0 {
        return None;
    }
    let why = if floor <= total * analysis.floor_share {
        format!("{} of the run", percent(analysis.floor_share))
    } else if floor >= analysis.floor {
        "the least in any run".to_owned()
    } else {
        format!("{} of so short a run", percent(floor / total))
    };
    Some(format!(
        "what certainly takes {} its expected time, with at least {} to win ({why})",
        factor(analysis.threshold),
        time(floor)
    ))
}
