//! What is to be checked before the figures of a run are believed: what was not read, and notes that change what figures mean.

use crate::report::Report;
use crate::report::files::Files;
use crate::report::view::{Style, count};

/// How many notes stand at the beginning, where there is room; the list of inputs has all of them.
pub(super) const NOTES: usize = 3;

/// Characters of a note at the beginning, at most: three lines of a terminal.
const LONGEST: usize = 300;

/// What was skipped and not read, and this many notes.
pub(super) fn checks(report: &Report<'_>, most: usize, style: &Style) -> Vec<String> {
    let analysis = report.analysis;
    let whole = if style.full { "\"Input\" below" } else { "--full" };
    let mut lines = Vec::new();
    let skipped: u64 = analysis.sources.iter().map(|source| source.skips.count).sum();
    if skipped > 0 {
        let skipped = count(skipped, "record or cell was", "records or cells were");
        lines.push(format!("{skipped} skipped as unreadable ({whole} lists them)"));
    }
    if analysis.unread > 0 {
        let unread = count(analysis.unread as u64, "file was", "files were");
        lines.push(format!("{unread} not read ({whole} says why)"));
    }
    let files = Files::of(analysis);
    let notes = notes(report);
    lines.extend(notes.iter().take(most).map(|note| shortened(files.named(note), whole)));
    if let rest @ 1.. = notes.len().saturating_sub(most) {
        let them = if rest == 1 { "it" } else { "them" };
        let (note, notes) = if most > 0 { ("more note", "more notes") } else { ("note", "notes") };
        let rest = count(rest as u64, note, notes);
        lines.push(format!("{rest} on the input ({whole} lists {them})"));
    }
    lines
}

/// Notes that change what the figures mean, each once: on devices first, which every figure depends on; then what of the
/// configuration has no effect, though its author counts on it; then those on the input, which may be many.
pub(in crate::report) fn notes<'a>(report: &Report<'a>) -> Vec<&'a str> {
    let devices = report.analysis.devices.iter().flat_map(|device| &device.notes);
    let mut notes: Vec<&str> = Vec::new();
    let analysis = report.analysis;
    for note in devices.chain(&analysis.idle_settings).chain(&analysis.checks) {
        if !notes.contains(&note.as_str()) {
            notes.push(note);
        }
    }
    notes
}

/// The first words of a note that is too long for a screen.
fn shortened(note: String, whole: &str) -> String {
    let Some((end, _)) = note.char_indices().nth(LONGEST) else { return note };
    let end = note[..end].rfind(' ').unwrap_or(end);
    format!("{}… ({whole} has all of it)", note[..end].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::State;
    use crate::report::bench::run;

    #[test]
    fn notes_are_short_each_once_and_those_left_out_are_counted() {
        let mut bench = run(&[("a", State::Flagged, 10.0)]);
        let path = bench.analysis.sources[0].path.clone();
        let long = "word ".repeat(100);
        let notes = [format!("{path}: one"), format!("{path}: one"), long, "three".to_owned()];
        bench.analysis.checks = notes.into();
        bench.analysis.devices[0].notes = vec!["of the device".to_owned()];
        let cut = format!("{}… (--full has all of it)", "word ".repeat(60).trim_end());
        let all = ["of the device", "one", &cut, "three"];
        let style = Style::default();
        assert_eq!(checks(&bench.report(), 4, &style), all);
        let [first, second, ..] = all;
        let rest = "2 more notes on the input (--full lists them)";
        assert_eq!(checks(&bench.report(), 2, &style), [first, second, rest]);
        let none = "4 notes on the input (--full lists them)";
        assert_eq!(checks(&bench.report(), 0, &style), [none]);
        bench.analysis.sources[0].skips.count = 1;
        bench.analysis.unread = 2;
        let found = checks(&bench.report(), 3, &style);
        assert_eq!(found[0], "1 record or cell was skipped as unreadable (--full lists them)");
        assert_eq!(found[1], "2 files were not read (--full says why)");
        assert_eq!(found[5], "1 more note on the input (--full lists it)");
        // Who reads the whole report has it before them.
        let below = checks(&bench.report(), 3, &Style { full: true, ..style });
        assert_eq!(below[1], "2 files were not read (\"Input\" below says why)");
        assert_eq!(below.concat().matches("--full").count(), 0);
    }
}
