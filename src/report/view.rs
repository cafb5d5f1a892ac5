//! What all human-readable outputs share: order, columns, one unit per column, rounding.

use super::Report;
pub(super) use super::numbers::{TimeUnit, count, digits, factor, percent, printable, si};
use super::roofs::{bandwidths, peaks};
use crate::analysis::{Kernel, State};
use crate::model::MemoryLevel;
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
                '±' => "~".to_owned(),
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

pub(super) fn optional(value: Option<String>) -> String {
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
        match kernel.headroom_low.filter(|_| kernel.is_lower_bound()) {
            Some(low) => interval(headroom, low),
            None => factor(headroom),
        }
    }))
}

/// A headroom; what was not counted makes it an interval, whose lower end is what is certain.
pub(super) fn interval(headroom: f64, low: f64) -> String {
    if low >= headroom * 0.999 {
        factor(headroom)
    } else if low > 0.005 {
        format!("{} to {}", digits(low), factor(headroom))
    } else {
        format!("≤{}", factor(headroom))
    }
}

/// A time that lies between two others; one unit if both have the same.
pub(super) fn range(low: Seconds, high: Seconds) -> String {
    let (low, high) = (si(low.get(), "s"), si(high.get(), "s"));
    let unit = |text: &str| text.split_once(' ').map(|(_, unit)| unit.to_owned());
    match low.split_once(' ') {
        _ if low == high => high,
        Some((number, _)) if unit(&low) == unit(&high) => format!("{number} to {high}"),
        _ => format!("{low} to {high}"),
    }
}

/// Columns of the terminal from which on the range of what can be won stands beside it: on narrower ones
/// it would push out the limiter and the share, which say more.
const ROOM_FOR_RANGE: usize = 132;

/// What can be won, from the pessimistic to the optimistic end where there is room.
fn win(kernel: &Kernel, unit: TimeUnit, style: &Style) -> String {
    let shown = unit.show(kernel.recoverable);
    let (low, high) = (unit.show(kernel.recoverable_low), unit.show(kernel.recoverable_upper));
    let narrow = style.width.is_some_and(|width| width < ROOM_FOR_RANGE);
    if narrow || low == high { shown } else { format!("{shown} ({low} to {high})") }
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
        ("covers", true),
        ("gain", true),
    ]);
    for kernel in kernels {
        table.rows.push(vec![
            kernel.rank.to_string(),
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
            win(kernel, unit, style),
            optional(kernel.coverage.map(percent)),
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
        // No roof of this device says how long communication takes.
        let roofless = kernel.state == State::NotRoofline;
        let unless = |dash: bool, text: String| if dash { MISSING.to_owned() } else { text };
        table.rows.push(vec![
            name(kernel, style),
            shape(kernel),
            kernel.launches.to_string(),
            // A time of zero is a missing one.
            optional((kernel.measured.get() > 0.0).then(|| unit.show(kernel.measured))),
            unless(roofless, expected(kernel, unit)),
            unless(roofless, headroom(kernel)),
            if roofless || kernel.limiter == Limiter::Unknown {
                MISSING.to_owned()
            } else {
                kernel.limiter.label().to_owned()
            },
            unless(kernel.measured.get() <= 0.0, percent(kernel.measured / total)),
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
    /// Reasons, the one with most time first; with the number of kernels where there are several.
    pub(super) reasons: Vec<String>,
}

/// Kernels that are set apart for one reason.
struct Reason<'a> {
    text: String,
    kernels: usize,
    time: Seconds,
    /// The kernel with most time: it stands for the others.
    example: &'a Kernel,
}

impl Reason<'_> {
    fn sentence(self, several: bool) -> String {
        let many = if several { format!("{} × ", self.kernels) } else { String::new() };
        let example = &self.example.reason;
        let figures = example.figures().filter(|_| example.general() == self.text);
        let text = match figures {
            Some(_) if self.kernels == 1 => printable(example.as_str()),
            Some(figures) => format!(
                "{} (the longest, {}: {})",
                self.text,
                printable(&self.example.name),
                printable(figures)
            ),
            None => self.text,
        };
        format!("{many}{text}")
    }
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
        let mut reasons: Vec<Reason> = Vec::new();
        for kernel in &kernels {
            // Numbers differ from kernel to kernel; the sentence around them is the reason.
            let text = match state {
                State::Unmodelled => kernel.reason.general().to_owned(),
                State::Waived => kernel.reason.to_string(),
                State::Minor => {
                    let win = si(analysis.totals.recoverable_minor.get(), "s");
                    format!(
                        "far from the roof, but each with too little to win to matter; {win} all together"
                    )
                }
                _ => kernel.meaning(),
            };
            match reasons.iter_mut().find(|known| known.text == text) {
                Some(known) => {
                    known.kernels += 1;
                    known.time += kernel.measured;
                    if kernel.measured > known.example.measured {
                        known.example = kernel;
                    }
                }
                None => {
                    reasons.push(Reason {
                        text,
                        kernels: 1,
                        time: kernel.measured,
                        example: kernel,
                    });
                }
            }
        }
        reasons.sort_by(|one, two| {
            two.time.get().total_cmp(&one.time.get()).then_with(|| one.text.cmp(&two.text))
        });
        let several = reasons.len() > 1;
        apart.push(Apart {
            state,
            kernels: kernels.len(),
            time: kernels.iter().map(|kernel| kernel.measured).sum(),
            reasons: reasons.into_iter().map(|reason| reason.sentence(several)).collect(),
        });
    }
    apart
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_style_leaves_only_ascii() {
        let style = Style { ascii: true, ..Style::default() };
        assert!(style.adapted("2.0 × µs ≥ … — é".to_owned()).is_ascii());
    }
}
