//! Sentences broken into lines; a number never parts from its unit.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::report::view::Style;

/// Writes a sentence after `lead`, broken at blanks to fit the terminal and indented below itself.
pub(super) fn wrap(text: &mut String, lead: &str, indent: usize, sentence: &str, style: &Style) {
    wrap_from(text, lead, indent, indent, sentence, style);
}

/// The same where the first line begins in another column than the others.
pub(super) fn wrap_from(
    text: &mut String,
    lead: &str,
    first_column: usize,
    indent: usize,
    sentence: &str,
    style: &Style,
) {
    text.push_str(lead);
    let Some(terminal) = style.width else {
        text.push_str(sentence);
        text.push('\n');
        return;
    };
    let sentence = &style.adapted(sentence.to_owned());
    // Leading blanks of a sub-entry are kept.
    let kept = sentence.len() - sentence.trim_start().len();
    text.push_str(&sentence[..kept]);
    let mut column = first_column + kept;
    let mut first = true;
    for word in words(sentence) {
        let mut word = word.as_str();
        let mut width = word.width();
        if !first && column + 1 + width > terminal {
            text.push('\n');
            text.push_str(&" ".repeat(indent + kept));
            column = indent + kept;
        } else if !first {
            text.push(' ');
            column += 1;
        }
        first = false;
        // A word longer than the line (a path, a name) is broken where it must be.
        while column + width > terminal && terminal > indent + kept + 8 {
            let room = terminal.saturating_sub(column);
            let cut = cut(word, room);
            text.push_str(&word[..cut]);
            width -= word[..cut].width().min(width);
            text.push('\n');
            text.push_str(&" ".repeat(indent + kept));
            column = indent + kept;
            word = &word[cut..];
        }
        text.push_str(word);
        column += width;
    }
    text.push('\n');
}

/// Where to cut a word that is longer than this many columns: behind the last part of a path or of the name of a metric
/// that fits, if half of the room or more is used. Wide letters take two columns.
fn cut(word: &str, room: usize) -> usize {
    let mut used = 0;
    let beyond = word.char_indices().find(|(_, letter)| {
        used += letter.width().unwrap_or(0);
        used > room
    });
    let end = beyond.map_or(word.len(), |(at, _)| at);
    let part = word[..end].rfind(['/', '.', '_', ',']).map(|at| at + 1);
    part.filter(|part| end < word.len() && *part >= room / 2).unwrap_or(end)
}

/// The words of a sentence; a number and its unit are one.
fn words(sentence: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in sentence.split_whitespace() {
        match words.last_mut() {
            Some(before) if is_joined(before, word) => {
                before.push(' ');
                before.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

/// Whether two words stay on one line.
fn is_joined(before: &str, word: &str) -> bool {
    let is_sign = matches!(before, "≥" | "≤" | "<" | ">" | "~" | ">=" | "<=");
    let begins = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    is_sign && begins(word)
        || before.ends_with(|c: char| c.is_ascii_digit())
            && before
                .trim_start_matches(['(', '+', '-', '≥', '≤', '<', '>', '~', '[', '"'])
                .starts_with(|c: char| c.is_ascii_digit())
            && is_unit(word)
}

/// Whether a word is a unit, with a prefix and punctuation or without.
fn is_unit(word: &str) -> bool {
    let word = word.trim_end_matches([',', ';', '.', ':', ')', ']', '"']);
    let bare = word.strip_prefix(['k', 'K', 'M', 'G', 'T', 'P', 'm', 'µ', 'u', 'n']);
    let known = |word: &str| {
        let word = word.strip_prefix('i').unwrap_or(word);
        let (unit, per) = word.split_once('/').map_or((word, ""), |(unit, per)| (unit, per));
        let is_quantity = matches!(
            unit,
            "s" | "B" | "bit" | "FLOP" | "OP" | "op" | "Hz" | "byte" | "bytes" | "W"
        );
        is_quantity
            && (per.is_empty() || matches!(per, "s" | "B" | "clk" | "clk/SM" | "byte" | "SM"))
    };
    known(word) || bare.is_some_and(known) || matches!(word, "%" | "×" | "x")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 33 letters do not fit beside a column, and 18 of them do.
    #[test]
    fn the_name_of_a_metric_is_cut_between_its_parts() {
        let style = Style { width: Some(30), ..Style::default() };
        let mut text = String::new();
        wrap(&mut text, "", 8, "measured: sm__cycles_elapsed.avg.per_second", &style);
        assert_eq!(text, "measured:\n        sm__cycles_elapsed.\n        avg.per_second\n");
        // No part fits, or too little of the line would be used.
        assert_eq!(
            (cut("abcdefghijklmnopqrstuvwxyz", 20), cut("a.bcdefghijklmnopqrstu", 20)),
            (20, 20)
        );
    }

    #[test]
    fn a_number_and_its_unit_stay_on_one_line() {
        let joined = words(
            "it took 1.32 ms, or 3.2–3.8 µs (at 3.35 TB/s) of 12 kernels in 2 steps, \u{2265} 1.5×",
        );
        for whole in ["1.32 ms,", "3.2–3.8 µs", "3.35 TB/s)", "\u{2265} 1.5×"] {
            assert!(joined.iter().any(|word| word == whole), "{joined:?}");
        }
        assert!(
            joined.iter().any(|word| word == "12") && joined.iter().any(|word| word == "steps,")
        );
        for width in 12..60 {
            let mut text = String::new();
            let sentence = "one two 1.32 ms three 98.3 GB/s four 3.35 TB/s five 12 FLOP/B";
            wrap(&mut text, "", 0, sentence, &Style { width: Some(width), ..Style::default() });
            for line in text.lines() {
                let first = line.split(' ').next().unwrap_or_default();
                assert!(!is_unit(first), "{width}: {text}");
            }
        }
    }
}
