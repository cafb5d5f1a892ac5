//! What was read, how inputs compare, and which roofs were used.

use crate::model::MemoryLevel;
use crate::report::Report;
use crate::report::roofs::{bandwidths, peaks};
use crate::report::view::{count, printable, si};

/// What was read, one line per file, and what a reader must know of it.
pub(super) fn provenance(report: &Report<'_>) -> Vec<String> {
    const FILES: usize = 8;
    let analysis = report.analysis;
    let mut lines = Vec::new();
    for source in analysis.sources.iter().take(FILES) {
        lines.push(format!(
            "{}: {}, {}, {}, {}",
            printable(&source.path),
            source.format,
            printable(&source.dialect),
            count(source.launches, "launch", "launches"),
            match source.skips.count {
                0 => "nothing skipped".to_owned(),
                skipped =>
                    format!("{} SKIPPED", count(skipped, "record or cell", "records or cells")),
            }
        ));
        for skip in source.skips.first.iter().take(3) {
            let column = skip
                .column
                .as_ref()
                .map_or_else(String::new, |column| format!(" column {column:?}:"));
            lines.push(format!(
                "  line {}:{column} {} ({:?})",
                skip.line,
                printable(&skip.reason),
                printable(&skip.text)
            ));
        }
        if source.skips.count > 3 {
            lines.push(format!("  and {} more", source.skips.count - 3));
        }
        lines.extend(source.clues.iter().map(|clue| format!("  {}", printable(clue))));
    }
    if analysis.sources.len() > FILES {
        let rest = &analysis.sources[FILES..];
        let launches: u64 = rest.iter().map(|source| source.launches).sum();
        let skipped: u64 = rest.iter().map(|source| source.skips.count).sum();
        lines.push(format!(
            "and {}: {}, {skipped} records or cells skipped",
            count(rest.len() as u64, "more file", "more files"),
            count(launches, "launch", "launches")
        ));
    }
    for device in &analysis.devices {
        let line = format!("device {}: {}", printable(device.name()), printable(&device.how));
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines.extend(analysis.notes.iter().map(|note| printable(note)));
    lines
}

/// Several inputs beside each other: how far their times lie apart, and which kernels do it.
pub(super) fn ranks(report: &Report<'_>) -> Vec<String> {
    let analysis = report.analysis;
    let Some(ranks) = &analysis.ranks else { return Vec::new() };
    let path = |source: usize| {
        analysis.sources.get(source).map_or_else(String::new, |source| printable(&source.path))
    };
    let mut times: Vec<(f64, usize)> =
        ranks.ranks.iter().filter_map(|rank| Some((rank.measured?.get(), rank.source))).collect();
    times.sort_by(|one, two| one.0.total_cmp(&two.0));
    let (Some(fastest), Some(slowest)) = (times.first(), times.last()) else { return Vec::new() };
    let median = times[times.len() / 2].0;
    let mut lines = vec![format!(
        "{}{}: least {} ({}), median {}, greatest {} ({})",
        count(times.len() as u64, "input", "inputs"),
        match ranks.ranks.len() - times.len() {
            0 => String::new(),
            untimed => format!(" with durations, {untimed} without"),
        },
        si(fastest.0, "s"),
        path(fastest.1),
        si(median, "s"),
        si(slowest.0, "s"),
        path(slowest.1)
    )];
    for spread in
        ranks.spreads.iter().filter(|spread| spread.greatest.get() > spread.median.get() * 1.01)
    {
        lines.push(format!(
            "{}: {} to {} over {} inputs, median {}; slowest in {}",
            crate::model::KernelName::parse(&printable(&spread.kernel)).short,
            si(spread.least.get(), "s"),
            si(spread.greatest.get(), "s"),
            spread.sources,
            si(spread.median.get(), "s"),
            path(spread.slowest)
        ));
    }
    lines
}

/// The ceilings that the profile's work was compared with.
pub(super) fn ceilings(report: &Report<'_>) -> Vec<String> {
    let analysis = report.analysis;
    let mut lines = Vec::new();
    for (position, device) in analysis.devices.iter().enumerate() {
        let dram = bandwidths(&analysis.kernels, position);
        let dram = dram.iter().filter(|(level, _, _)| *level == MemoryLevel::Dram);
        let dram = dram.map(|(level, low, high)| (level.label(), low, high, "B/s"));
        let peaks = peaks(&analysis.kernels, position);
        let peaks = peaks.iter().map(|(pipe, low, high)| {
            let unit = if pipe.operation() == "OP" { "OP/s" } else { "FLOP/s" };
            (pipe.label(), low, high, unit)
        });
        let mut roofs: Vec<_> = dram.chain(peaks).collect();
        roofs.sort_by_key(|(name, ..)| *name);
        let shown: Vec<String> = roofs
            .into_iter()
            .map(|(name, low, high, unit)| {
                if high / low < 1.005 {
                    format!("{name} {}", si(high, unit))
                } else {
                    format!("{name} {} to {}", si(low, unit), si(high, unit))
                }
            })
            .collect();
        if !shown.is_empty() {
            lines.push(format!("{}: {}", printable(device.name()), shown.join(", ")));
        }
    }
    lines
}
