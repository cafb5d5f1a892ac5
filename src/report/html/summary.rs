//! The first screen of the page: three figures, the run's time as a bar, what to check, and a card per next step.

use crate::analysis::{Analysis, Segment};
use crate::report::files::Files;
use crate::report::formats::html;
use crate::report::numbers::change;
use crate::report::run::{Brief, Certainty, Entry, KERNELS, OverTime, RunStep, devices, notes};
use crate::report::view::{
    MISSING, Style, count, factor, interval, overall, percent, printable, range, si,
};
use crate::report::{GateReport, Report, gate};
use crate::units::Seconds;

/// A large number.
pub(super) struct Figure {
    pub(super) label: &'static str,
    pub(super) value: String,
    pub(super) note: String,
    /// Its color.
    pub(super) class: &'static str,
}

/// A part of the bar, in hundredths of its width.
pub(super) struct Part {
    pub(super) key: &'static str,
    pub(super) label: &'static str,
    pub(super) from: String,
    pub(super) width: String,
    pub(super) share: String,
    pub(super) time: String,
}

/// One step.
pub(super) struct Card {
    /// The kernel that a press selects.
    pub(super) rank: Option<usize>,
    pub(super) name: String,
    pub(super) savings: String,
    /// In hundredths of the width that the largest savings have; empty where they are not known.
    pub(super) width: String,
    /// As HTML.
    pub(super) text: String,
    pub(super) notes: String,
}

/// What a reader should know before using the numbers.
pub(super) struct Notice {
    pub(super) label: &'static str,
    /// As HTML.
    pub(super) text: String,
}

/// Devices, launches and kernels, for the line beside the title.
pub(super) fn by(report: &Report<'_>) -> String {
    let totals = &report.analysis.totals;
    let mut parts = devices(report.analysis);
    parts.push(count(totals.launches, "launch", "launches"));
    parts.push(count(totals.kernels as u64, "kernel", "kernels"));
    if report.analysis.sources.len() > 1 {
        parts.push(count(report.analysis.sources.len() as u64, "input", "inputs"));
    }
    parts.join(" · ")
}

/// GPU time, savings and speedup; with a baseline what changed, too.
pub(super) fn figures(report: &Report<'_>, changes: Option<&GateReport<'_>>) -> Vec<Figure> {
    let analysis = report.analysis;
    let totals = &analysis.totals;
    let is_timed = totals.measured > Seconds::ZERO;
    let has_savings = totals.savings > Seconds::ZERO;
    let is_worth_it = has_savings && totals.savings >= analysis.smallest_win();
    let untimed = totals.launches - totals.timed_launches;
    let time_note = match (is_timed, untimed) {
        (false, _) => "no durations in the input".to_owned(),
        (true, 0) => overall(totals).map_or_else(
            || "no roofline to compare with".to_owned(),
            |ratio| format!("{ratio} the roofline time"),
        ),
        (true, untimed) => format!("{} without duration", count(untimed, "launch", "launches")),
    };
    let (savings, savings_note) = if !is_timed || totals.modeled <= Seconds::ZERO {
        (MISSING.to_owned(), "not enough data".to_owned())
    } else if has_savings {
        let share = percent(totals.savings / totals.measured);
        let note = if is_worth_it {
            format!("range {}", range(totals.savings_low, totals.savings_high))
        } else {
            "too little to matter".to_owned()
        };
        (si(totals.savings.get(), "s"), format!("{share}, {note}"))
    } else {
        let unproven = totals.savings_unproven;
        let is_open = unproven >= analysis.smallest_win() && unproven > Seconds::ZERO;
        let most = || format!("≤{} unproven", si(unproven.get(), "s"));
        ("none".to_owned(), if is_open { most() } else { "none found".to_owned() })
    };
    let (speedup, speedup_note) = if !is_timed || totals.modeled <= Seconds::ZERO {
        (MISSING.to_owned(), String::new())
    } else if is_worth_it {
        (factor(totals.run_speedup(totals.savings)), coverage(analysis))
    } else {
        (factor(totals.run_speedup(totals.savings)), "nothing worth a rewrite".to_owned())
    };
    // A trace shows that GPUs do not always compute: the run gets less faster than its kernels.
    let speedup_of = if analysis.timelines.is_empty() { "Speedup" } else { "Kernel speedup" };
    let time = if is_timed { si(totals.measured.get(), "s") } else { MISSING.to_owned() };
    let mut figures = vec![
        Figure { label: "GPU time", value: time, note: time_note, class: "" },
        Figure {
            label: "Potential savings",
            value: savings,
            note: savings_note,
            class: if is_worth_it { "savings" } else { "" },
        },
        Figure { label: speedup_of, value: speedup, note: speedup_note, class: "" },
    ];
    figures.extend(OverTime::of(report.analysis).map(|one| Figure {
        label: "GPU busy",
        value: one.share(),
        note: one.note(),
        class: "",
    }));
    figures.extend(changes.and_then(gate::total).map(|(relative, note)| Figure {
        label: "Since the baseline",
        value: change(relative),
        note,
        class: gate::tone_of(relative),
    }));
    figures
}

/// In how many kernels most of the savings are. Of a selection, nothing is counted that is not there.
fn coverage(analysis: &Analysis) -> String {
    let with_savings = analysis.kernels.iter().filter(|kernel| kernel.coverage.is_some()).count();
    if with_savings == 1 && !analysis.is_narrowed {
        return "all of it in 1 kernel".to_owned();
    }
    let needed = analysis.totals.kernels_for_80_percent as u64;
    format!("80% of it in {}", count(needed, "kernel", "kernels"))
}

/// How the time of the GPUs was used.
pub(super) fn over_time(report: &Report<'_>) -> Option<String> {
    OverTime::of(report.analysis).map(|one| one.sentence())
}

/// The run's time, part by part.
pub(super) fn parts(report: &Report<'_>) -> Vec<Part> {
    let mut from = 0.0;
    let part = |segment: Segment| {
        let width = segment.share * 100.0;
        let part = Part {
            key: segment.part.key(),
            label: segment.part.label(),
            from: format!("{from:.3}"),
            width: format!("{width:.3}"),
            share: percent(segment.share),
            time: si(segment.time.get(), "s"),
        };
        from += width;
        part
    };
    report.analysis.totals.parts.segments().map(part).collect()
}

/// Which kernels were chosen, unknown devices, skipped records, unread files, notes on devices.
pub(super) fn notices(report: &Report<'_>) -> Vec<Notice> {
    let analysis = report.analysis;
    let mut notices: Vec<Notice> = Vec::new();
    let mut add = |label, text: String| {
        let text = html::prose(&text);
        if !notices.iter().any(|known| known.text == text) {
            notices.push(Notice { label, text });
        }
    };
    if analysis.is_narrowed {
        let kernels = count(analysis.totals.kernels as u64, "kernel", "kernels");
        let part: Seconds = analysis.kernels.iter().map(|kernel| kernel.measured).sum();
        let share = percent(part / analysis.totals.measured);
        let of_time =
            if part > Seconds::ZERO { format!(", {share} of the time") } else { String::new() };
        add(
            "Selection",
            format!(
                "{} of {kernels}{of_time}; GPU time, savings and speedup are of the whole run",
                analysis.kernels.len()
            ),
        );
    }
    for unknown in analysis.devices.iter().filter_map(|used| used.unknown.as_ref()) {
        add("Device", printable(&format!("not known: {}; {}", unknown.reason, unknown.help)));
    }
    let skipped: u64 = analysis.sources.iter().map(|source| source.skips.count).sum();
    if skipped > 0 {
        add(
            "Skipped",
            format!("{} could not be used", count(skipped, "record or cell", "records or cells")),
        );
    }
    if analysis.unread > 0 {
        add(
            "Unread",
            format!("{} not read", count(analysis.unread as u64, "file was", "files were")),
        );
    }
    let files = Files::of(analysis);
    for note in notes(report) {
        add("Check", files.named(note));
    }
    notices
}

/// A card per kernel with savings, one per step for the whole run, and what is missing: what the terminal says. Steps
/// that may save more than any kernel come first: of a long list the end is not seen.
pub(super) fn cards(report: &Report<'_>, style: &Style) -> Vec<Card> {
    let brief = Brief::of(report, KERNELS);
    let most = brief.kernels.iter().map(|one| one.savings.get()).fold(0.0, f64::max);
    let kernels = brief.kernels.iter().map(|one| kernel(one, most, style));
    let of_run = |text: String, notes: String| Card {
        rank: None,
        name: "Whole run".to_owned(),
        savings: String::new(),
        width: String::new(),
        text: html::prose(&printable(&text)),
        notes,
    };
    let [larger, smaller] = brief.steps_around();
    let cards = |steps: Vec<&RunStep<'_>>| -> Vec<Card> {
        let card = |step: &RunStep<'_>| of_run(step.sentence(), step.finding.rule.to_string());
        steps.into_iter().map(card).collect()
    };
    let missing =
        brief.missing.iter().map(|one| of_run(one.sentence(), "missing metrics".to_owned()));
    let first = cards(larger).into_iter().chain(kernels);
    first.chain(cards(smaller)).chain(missing).collect()
}

fn kernel(entry: &Entry<'_>, most: f64, style: &Style) -> Card {
    let savings = match entry.certainty {
        Certainty::Unproven => format!("≤{}", si(entry.range.1.get(), "s")),
        _ => si(entry.savings.get(), "s"),
    };
    let ratio = entry
        .headroom
        .map_or_else(String::new, |(ratio, low)| format!(" · {} roofline", interval(ratio, low)));
    let width = if most > 0.0 { entry.savings.get() / most * 100.0 } else { 0.0 };
    Card {
        rank: Some(entry.kernel.rank),
        name: entry.name(style),
        savings,
        width: format!("{width:.2}"),
        text: html::prose(&printable(&entry.sentence())),
        notes: format!("{} of time{ratio} · {}", percent(entry.share), entry.verdict()),
    }
}
