//! What was read, how inputs compare, and which roofs were used.

use crate::analysis::DeviceUse;
use crate::model::{MemoryLevel, Pipe};
use crate::report::Report;
use crate::report::files::Files;
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
            lines.push(format!("  {}", printable(&skip.to_string())));
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
        let notes = device.notes.iter().map(|note| format!("  {}", printable(note)));
        for line in std::iter::once(line).chain(notes) {
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    lines.extend(analysis.notes.iter().map(|note| printable(note)));
    lines
}

/// Several inputs beside each other: how far their times lie apart, and which kernels do it.
pub(super) fn ranks(report: &Report<'_>) -> Vec<String> {
    let analysis = report.analysis;
    let Some(ranks) = &analysis.ranks else { return Vec::new() };
    let files = Files::of(analysis);
    let path = |source: usize| {
        analysis.sources.get(source).map_or_else(String::new, |source| files.name(&source.path))
    };
    let mut times: Vec<(f64, usize)> =
        ranks.ranks.iter().filter_map(|rank| Some((rank.measured?.get(), rank.source))).collect();
    times.sort_by(|one, two| one.0.total_cmp(&two.0));
    let (Some(fastest), Some(slowest)) = (times.first(), times.last()) else { return Vec::new() };
    let median = f64::midpoint(times[(times.len() - 1) / 2].0, times[times.len() / 2].0);
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
    let kernels = &report.analysis.kernels;
    let shown = |full: &str| {
        let found = kernels.iter().find(|kernel| *kernel.full_name == *full);
        printable(found.map_or(full, |kernel| &*kernel.name))
    };
    for spread in
        ranks.spreads.iter().filter(|spread| spread.greatest.get() > spread.median.get() * 1.01)
    {
        lines.push(format!(
            "{}: {} to {} over {} inputs, median {}; slowest in {}",
            shown(&spread.kernel),
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
        let used: Vec<Pipe> = peaks.iter().map(|(pipe, ..)| pipe).collect();
        let peaks = peaks
            .iter()
            .map(|(pipe, low, high)| (pipe.label(), low, high, pipe.operations_per_second()));
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
        lines.extend(reached(device, |pipe| used.contains(&pipe)));
    }
    lines
}

/// The rates that a benchmark reached on the machine of the launches, of memory and of the pipes that were used.
fn reached(device: &DeviceUse, is_used: impl Fn(Pipe) -> bool) -> Option<String> {
    let (known, reached) = (device.device.as_ref()?, device.hint.reached.as_ref()?);
    let achievable = &known.achievable;
    let memory = [
        ("DRAM", &achievable.dram),
        ("L2", &achievable.l2),
        ("L1", &achievable.l1),
        ("LDS", &achievable.shared),
    ];
    let memory = memory.into_iter().filter_map(|(name, rate)| {
        let rate = rate.as_ref().filter(|rate| rate.source == reached.from)?;
        Some(format!("{name} {}", si(rate.value.get(), "B/s")))
    });
    let peaks = achievable.peaks.iter();
    let peaks = peaks.filter(|(pipe, rate)| rate.source == reached.from && is_used(**pipe));
    let peaks = peaks.map(|(pipe, rate)| {
        format!("{} {}", pipe.label(), si(rate.value.get(), pipe.operations_per_second()))
    });
    let rates: Vec<String> = memory.chain(peaks).collect();
    let from = printable(&reached.from);
    (!rates.is_empty()).then(|| {
        format!("achievable, measured by {} ({from}): {}", printable(&reached.by), rates.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Rank, Ranks, Spread, State};
    use crate::model::{Skip, Source};
    use crate::report::bench::{Bench, run};
    use crate::units::Seconds;

    fn bench(files: usize) -> Bench {
        let mut bench = run(&[("a", State::Fair, 1.0)]);
        let source = |at| Source {
            path: format!("{at}.csv"),
            format: "mapped".to_owned(),
            dialect: "a table".to_owned(),
            launches: 5,
            ..Source::default()
        };
        bench.analysis.sources = (0..files).map(source).collect();
        bench
    }

    /// Inputs of so many seconds.
    fn compared(times: &[Option<f64>], spreads: Vec<Spread>) -> Vec<String> {
        let mut bench = bench(times.len());
        let rank = |(source, time): (usize, &Option<f64>)| Rank {
            source,
            launches: 1,
            measured: time.map(Seconds::new),
        };
        let ranks = times.iter().enumerate().map(rank).collect();
        bench.analysis.ranks = Some(Ranks { ranks, spreads });
        ranks_of(&bench)
    }

    fn ranks_of(bench: &Bench) -> Vec<String> {
        ranks(&bench.report())
    }

    #[test]
    fn the_median_of_two_inputs_lies_between_them() {
        let two = compared(&[Some(3.0), Some(1.0)], Vec::new());
        assert_eq!(two, ["2 inputs: least 1.00 s (1.csv), median 2.00 s, greatest 3.00 s (0.csv)"]);
        let three = compared(&[Some(9.0), None, Some(1.0), Some(2.0)], Vec::new());
        assert_eq!(
            three,
            ["3 inputs with durations, 1 without: least 1.00 s (2.csv), median 2.00 s, greatest \
              9.00 s (0.csv)"]
        );
        assert_eq!(compared(&[None], Vec::new()), [""; 0]);
    }

    #[test]
    fn kernels_that_hardly_differ_between_inputs_are_not_told() {
        let spread = |kernel: &str, greatest: f64| Spread {
            kernel: kernel.to_owned(),
            sources: 2,
            least: Seconds::new(0.5),
            median: Seconds::new(1.0),
            greatest: Seconds::new(greatest),
            slowest: 1,
        };
        let spreads = vec![spread("gemm", 1.02), spread("copy", 1.01)];
        let lines = compared(&[Some(1.0), Some(1.0)], spreads);
        assert_eq!(
            lines[1..],
            ["gemm: 500 ms to 1.02 s over 2 inputs, median 1.00 s; slowest in 1.csv"]
        );
    }

    #[test]
    fn what_was_skipped_is_counted_and_the_first_shown() {
        let mut bench = bench(1);
        for line in 1..=5 {
            let column = (line == 1).then(|| "time".to_owned());
            let (text, reason) = ("x".to_owned(), "not a number".to_owned());
            bench.analysis.sources[0].skips.add(Skip { line, column, text, reason });
        }
        let lines = provenance(&bench.report());
        assert_eq!(
            lines[..5],
            [
                "0.csv: mapped, a table, 5 launches, 5 records or cells SKIPPED",
                "  line 1: column \"time\": not a number (\"x\")",
                "  line 2: not a number (\"x\")",
                "  line 3: not a number (\"x\")",
                "  and 2 more",
            ]
        );
    }

    #[test]
    fn behind_eight_files_the_others_are_added_up() {
        let mut bench = bench(10);
        bench.analysis.sources[9].skips.count = 3;
        let lines = provenance(&bench.report());
        assert_eq!(lines[7], "7.csv: mapped, a table, 5 launches, nothing skipped");
        assert_eq!(lines[8], "and 2 more files: 10 launches, 3 records or cells skipped");
    }
}
