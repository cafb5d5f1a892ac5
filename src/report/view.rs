//! What all human-readable outputs share: order, columns, one unit per column, rounding.

use super::Report;
pub(super) use super::numbers::{TimeUnit, digits, factor, percent, printable, si};
use crate::analysis::{Kernel, State};
use crate::roofline::Limiter;
use crate::units::Seconds;

/// How a human-readable output is drawn.
#[derive(Debug, Clone, Copy, Default)]
pub struct Style {
    /// Columns of the terminal; `None` keeps every name whole.
    pub width: Option<usize>,
    /// Whether escape sequences for colour may be used.
    pub color: bool,
    /// Whether only ASCII may be used.
    pub ascii: bool,
    /// Whether names are printed as the profiler wrote them.
    pub full_names: bool,
}

impl Style {
    /// Wraps text in a colour, if colours are on. Colour never says what the words do not.
    pub(super) fn paint(&self, code: &str, text: &str) -> String {
        if self.color { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// Bold.
    pub(super) fn bold(&self, text: &str) -> String {
        self.paint("1", text)
    }

    /// The text as this style allows it: in ASCII, if asked for.
    #[must_use]
    pub fn adapted(&self, text: String) -> String {
        if !self.ascii {
            return text;
        }
        text.chars()
            .map(|c| match c {
                '×' => "x".to_owned(),
                '÷' => "/".to_owned(),
                '·' => "*".to_owned(),
                'µ' => "u".to_owned(),
                '…' => "...".to_owned(),
                '—' | '–' | '−' => "-".to_owned(),
                '≥' => ">=".to_owned(),
                '≤' => "<=".to_owned(),
                c if c.is_ascii() => c.to_string(),
                _ => "?".to_owned(),
            })
            .collect()
    }
}

/// A table before it is drawn.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) headers: Vec<Header>,
    pub(super) rows: Vec<Vec<String>>,
}

/// A column's title, and whether its cells are numbers.
#[derive(Debug, Clone)]
pub(super) struct Header {
    pub(super) title: String,
    pub(super) number: bool,
}

impl Table {
    pub(super) fn new(columns: &[(&str, bool)]) -> Self {
        let headers = columns
            .iter()
            .map(|(title, number)| Header { title: (*title).to_owned(), number: *number })
            .collect();
        Self { headers, rows: Vec::new() }
    }
}

/// The dash that stands for a missing value.
pub(super) const MISSING: &str = "-";

fn optional(value: Option<String>) -> String {
    value.unwrap_or_else(|| MISSING.to_owned())
}

/// The name of a kernel as tables show it, with what tells it from others of the same name.
pub(super) fn name(kernel: &Kernel, style: &Style) -> String {
    let name = if style.full_names && !kernel.full_name.is_empty() {
        &kernel.full_name
    } else {
        &kernel.name
    };
    let name = printable(name);
    match &kernel.operator {
        Some(operator) => format!("{name} [{}]", printable(operator)),
        None => name,
    }
}

/// Grid × block, as far as known.
pub(super) fn shape(kernel: &Kernel) -> String {
    let part = |dim: Option<crate::model::Dim3>, product: Option<u64>| match (dim, product) {
        (Some(dim), _) if dim.y == 1 && dim.z == 1 => dim.x.to_string(),
        (Some(dim), _) => dim.to_string(),
        (None, Some(product)) => product.to_string(),
        (None, None) => MISSING.to_owned(),
    };
    let shape = &kernel.shape;
    if shape.blocks.is_none() && shape.threads_per_block.is_none() {
        return MISSING.to_owned();
    }
    format!("{} / {}", part(shape.grid, shape.blocks), part(shape.block, shape.threads_per_block))
}

/// The expected time; a lower bound says so.
fn expected(kernel: &Kernel, unit: TimeUnit) -> String {
    optional(kernel.expected.map(|time| {
        let shown = unit.show(time);
        let mark = if kernel.is_lower_bound() && !shown.starts_with('<') { "≥" } else { "" };
        format!("{mark}{shown}")
    }))
}

fn headroom(kernel: &Kernel) -> String {
    optional(kernel.headroom.map(|headroom| {
        // What was not counted makes it an interval; its lower end is what is certain.
        match kernel.headroom_low.filter(|_| kernel.is_lower_bound()) {
            Some(low) if low > 0.005 => format!("{} to {}", digits(low), factor(headroom)),
            Some(_) => format!("≤{}", factor(headroom)),
            None => factor(headroom),
        }
    }))
}

/// The ranked opportunities.
pub(super) fn opportunities(kernels: &[&Kernel], total: Seconds, style: &Style) -> Table {
    let unit = TimeUnit::of(kernels.iter().map(|kernel| kernel.measured));
    let mut table = Table::new(&[
        ("#", true),
        ("kernel", false),
        ("grid / block", true),
        ("launches", true),
        (&format!("measured [{}]", unit.symbol), true),
        (&format!("expected [{}]", unit.symbol), true),
        ("headroom", true),
        ("limiter", false),
        ("FLOP/B", true),
        ("ridge", true),
        ("share", true),
        (&format!("to win [{}]", unit.symbol), true),
        ("gain", true),
    ]);
    for (rank, kernel) in kernels.iter().enumerate() {
        table.rows.push(vec![
            (rank + 1).to_string(),
            name(kernel, style),
            shape(kernel),
            kernel.launches.to_string(),
            unit.show(kernel.measured),
            expected(kernel, unit),
            headroom(kernel),
            kernel.limiter.label().to_owned(),
            optional(kernel.intensity.map(|intensity| digits(intensity.get()))),
            optional(kernel.ridge_point.map(|ridge| digits(ridge.get()))),
            percent(kernel.measured / total),
            unit.show(kernel.recoverable),
            factor(kernel.gain),
        ]);
    }
    table
}

/// All other kernels, by time, with their state.
pub(super) fn others(kernels: &[&Kernel], total: Seconds, style: &Style) -> Table {
    let unit = TimeUnit::of(kernels.iter().map(|kernel| kernel.measured));
    let mut table = Table::new(&[
        ("kernel", false),
        ("grid / block", true),
        ("launches", true),
        (&format!("measured [{}]", unit.symbol), true),
        (&format!("expected [{}]", unit.symbol), true),
        ("headroom", true),
        ("limiter", false),
        ("share", true),
        ("state", false),
    ]);
    for kernel in kernels {
        table.rows.push(vec![
            name(kernel, style),
            shape(kernel),
            kernel.launches.to_string(),
            // A time of zero is a missing one.
            optional((kernel.measured.get() > 0.0).then(|| unit.show(kernel.measured))),
            expected(kernel, unit),
            headroom(kernel),
            if kernel.limiter == Limiter::Unknown {
                MISSING.to_owned()
            } else {
                kernel.limiter.label().to_owned()
            },
            if total.get() > 0.0 { percent(kernel.measured / total) } else { MISSING.to_owned() },
            kernel.state.label().to_owned(),
        ]);
    }
    table
}

/// The states that are set apart, each with its kernels' reasons, most time first.
pub(super) struct Apart {
    pub(super) state: State,
    pub(super) kernels: usize,
    pub(super) time: Seconds,
    /// Reasons with the number of kernels and their time, most time first.
    pub(super) reasons: Vec<(String, usize, Seconds)>,
}

pub(super) fn apart(report: &Report<'_>) -> Vec<Apart> {
    let analysis = report.analysis;
    let mut apart = Vec::new();
    for state in State::ALL.into_iter().filter(|state| state.is_set_apart()) {
        let kernels: Vec<&Kernel> =
            analysis.kernels.iter().filter(|kernel| kernel.state == state).collect();
        if kernels.is_empty() {
            continue;
        }
        let mut reasons: Vec<(String, usize, Seconds)> = Vec::new();
        for kernel in &kernels {
            // Numbers differ from kernel to kernel; the sentence around them is the reason.
            let reason = match state {
                State::Unmodelled => generic(&kernel.reason),
                State::Minor => {
                    "far from the roof, but each with too little time to win to matter".to_owned()
                }
                _ => kernel.meaning(),
            };
            match reasons.iter_mut().find(|known| known.0 == reason) {
                Some((_, count, time)) => {
                    *count += 1;
                    *time += kernel.measured;
                }
                None => reasons.push((reason, 1, kernel.measured)),
            }
        }
        reasons.sort_by(|one, two| two.2.get().total_cmp(&one.2.get()).then(one.0.cmp(&two.0)));
        apart.push(Apart {
            state,
            kernels: kernels.len(),
            time: kernels.iter().map(|kernel| kernel.measured).sum(),
            reasons,
        });
    }
    apart
}

/// A reason without the numbers of one kernel.
fn generic(reason: &str) -> String {
    match reason
        .find(": they explain")
        .or_else(|| reason.find(": bytes alone"))
        .or_else(|| reason.find(": math alone"))
        .or_else(|| reason.find(": what was"))
        .or_else(|| reason.find("; its busiest"))
    {
        Some(end) => reason[..end].to_owned(),
        None => reason.to_owned(),
    }
}

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
    let devices: Vec<String> =
        analysis.devices.iter().map(|device| printable(device.name())).collect();
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
                "{} in {} of {} on {}{untimed}",
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
            modelled.push_str(&format!("; {} set apart", share(rest)));
        }
        lines.push(("Modelled", modelled));
    } else {
        lines.push((
            "GPU time",
            format!(
                "unknown: no durations in {} of {} on {}",
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
                factor(headroom),
                time(totals.modelled),
                time(totals.expected)
            ),
        ));
    }
    let opportunities = analysis.opportunities().count();
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

/// A number with its noun.
pub(super) fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

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
            "and {} more files: {launches} launches, {skipped} records or cells skipped",
            rest.len()
        ));
    }
    for device in &analysis.devices {
        lines.push(format!("device {}: {}", printable(device.name()), printable(&device.how)));
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
        ranks.ranks.iter().map(|rank| (rank.measured.get(), rank.source)).collect();
    times.sort_by(|one, two| one.0.total_cmp(&two.0));
    let (Some(fastest), Some(slowest)) = (times.first(), times.last()) else { return Vec::new() };
    let median = times[times.len() / 2].0;
    let mut lines = vec![format!(
        "{} inputs: least {} ({}), median {}, greatest {} ({})",
        times.len(),
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
    use std::collections::BTreeMap;
    let analysis = report.analysis;
    let mut lines = Vec::new();
    for (position, device) in analysis.devices.iter().enumerate() {
        let kernels = || analysis.kernels.iter().filter(move |kernel| kernel.device == position);
        // Clocks differ a little from launch to launch: the range says so.
        let mut roofs: BTreeMap<String, (f64, f64, &'static str)> = BTreeMap::new();
        let mut add = |name: &str, value: f64, unit: &'static str| {
            let entry = roofs.entry(name.to_owned()).or_insert((value, value, unit));
            entry.0 = entry.0.min(value);
            entry.1 = entry.1.max(value);
        };
        for kernel in kernels() {
            if let (Some(bytes), Some(time)) = (kernel.bytes, kernel.memory_time)
                && time.get() > 0.0
            {
                add("DRAM", (bytes / time).get(), "B/s");
            }
            for work in &kernel.work {
                if let Some(peak) = work.peak() {
                    add(
                        work.pipe.label(),
                        peak.get(),
                        if work.pipe.operation() == "OP" { "OP/s" } else { "FLOP/s" },
                    );
                }
            }
        }
        let shown: Vec<String> = roofs
            .iter()
            .map(|(name, (low, high, unit))| {
                if high / low < 1.005 {
                    format!("{name} {}", si(*high, unit))
                } else {
                    format!("{name} {} to {}", si(*low, unit), si(*high, unit))
                }
            })
            .collect();
        if !shown.is_empty() {
            lines.push(format!("{}: {}", printable(device.name()), shown.join(", ")));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_style_leaves_only_ascii() {
        let style = Style { ascii: true, ..Style::default() };
        assert!(style.adapted("2.0 × µs ≥ … — é".to_owned()).is_ascii());
    }
}
