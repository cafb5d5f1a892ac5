//! The run's time as one bar, with a line that says what its parts are: a sign and a color for each.

use unicode_width::UnicodeWidthStr;

use crate::analysis::{Segment, TimePart};
use crate::report::view::{Style, percent, si};

/// Columns of the bar where the terminal leaves room for more.
const WIDEST: usize = 80;

/// Columns between two entries of the legend.
const GAP: usize = 3;

/// The sign of a part, the one in ASCII, and its color.
const fn sign(part: TimePart) -> (char, char, &'static str) {
    match part {
        TimePart::Roofline => ('█', '#', "32"),
        TimePart::Gap => ('▒', '=', "34"),
        TimePart::Savings => ('▚', '$', "1;33"),
        TimePart::Unproven => ('░', '?', "33"),
        TimePart::Waived => ('w', 'w', "2"),
        TimePart::LaunchBound => ('┆', '|', "35"),
        TimePart::CacheResident => ('o', 'o', "36"),
        TimePart::Communication => ('≈', '~', "36"),
        TimePart::FasterThanRoofline => ('!', '!', "31"),
        TimePart::NotEnoughData => ('·', '.', "2"),
    }
}

/// The bar, and below it its legend, as lines without indentation.
pub(super) fn lines(segments: &[Segment], room: Option<usize>, style: &Style) -> Vec<String> {
    if segments.is_empty() {
        return Vec::new();
    }
    let room = room.unwrap_or(WIDEST);
    let drawn = |part: TimePart, times: usize| {
        let (sign, ascii, color) = sign(part);
        let sign = if style.ascii { ascii } else { sign };
        style.paint(color, &sign.to_string().repeat(times))
    };
    let shares: Vec<f64> = segments.iter().map(|segment| segment.share).collect();
    let widths = widths(&shares, room.clamp(shares.len(), WIDEST.max(shares.len())));
    let parts = segments.iter().zip(widths);
    let mut lines = vec![parts.map(|(segment, width)| drawn(segment.part, width)).collect()];
    let (mut line, mut used) = (String::new(), 0);
    for segment in segments {
        let time = si(segment.time.get(), "s");
        let words = format!("{} {time} ({})", segment.part.label(), percent(segment.share));
        let words = style.adapted(words);
        let width = words.width() + 2;
        if used > 0 && used + GAP + width > room {
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        if used > 0 {
            line.push_str(&" ".repeat(GAP));
            used += GAP;
        }
        line.push_str(&format!("{} {words}", drawn(segment.part, 1)));
        used += width;
    }
    lines.push(line);
    lines
}

/// Columns of each part: in proportion to its share, at least one, together exactly `room`.
fn widths(shares: &[f64], room: usize) -> Vec<usize> {
    let mut widths: Vec<usize> = Vec::with_capacity(shares.len());
    for share in shares {
        widths.push(((share * room as f64).round() as usize).max(1));
    }
    // What rounding took or gave too much is taken from or given to the longest, where it shows least.
    let mut sum: usize = widths.iter().sum();
    while sum != room {
        let Some(longest) = widths.iter_mut().max() else { break };
        if sum > room {
            if *longest == 1 {
                break;
            }
            *longest -= 1;
            sum -= 1;
        } else {
            *longest += 1;
            sum += 1;
        }
    }
    widths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Seconds;

    #[test]
    fn parts_fill_the_bar_and_none_is_lost() {
        assert_eq!(widths(&[0.5, 0.5], 10), [5, 5]);
        assert_eq!(widths(&[0.999, 0.0005, 0.0005], 10), [8, 1, 1]);
        assert_eq!(widths(&[1.0 / 3.0; 3], 10).iter().sum::<usize>(), 10);
        assert_eq!(widths(&[0.25; 4], 2), [1, 1, 1, 1]);
    }

    #[test]
    fn each_part_has_a_sign_of_its_own_in_ascii_too() {
        for pick in
            [|(one, _, _): (char, char, &str)| one, |(_, ascii, _): (char, char, &str)| ascii]
        {
            let mut signs: Vec<char> =
                TimePart::ALL.into_iter().map(|part| pick(sign(part))).collect();
            signs.sort_unstable();
            signs.dedup();
            assert_eq!(signs.len(), TimePart::ALL.len());
        }
        assert!(TimePart::ALL.into_iter().all(|part| sign(part).1.is_ascii()));
    }

    #[test]
    fn the_legend_keeps_to_its_room_and_names_every_part() {
        let segments: Vec<Segment> = TimePart::ALL
            .into_iter()
            .map(|part| Segment { part, time: Seconds::new(1e-3), share: 0.1 })
            .collect();
        for ascii in [false, true] {
            let style = Style { ascii, ..Style::default() };
            for room in [40, 60, 98] {
                let lines = lines(&segments, Some(room), &style);
                assert!(lines.iter().all(|line| line.width() <= room), "{lines:?}");
                assert!(!ascii || lines.iter().all(|line| line.is_ascii()), "{lines:?}");
                let legend = lines[1..].join(" ");
                assert!(TimePart::ALL.iter().all(|part| legend.contains(part.label())));
            }
        }
    }
}
