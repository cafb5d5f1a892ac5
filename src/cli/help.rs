//! Help that fits the terminal: commands to be copied stay whole, and paragraphs are broken into lines once.

use clap::builder::StyledStr;
use clap::{Arg, Command};

/// A blank at which no line ends; it is printed as a blank.
pub(super) const NO_BREAK: char = '\u{a0}';

/// Columns of the help where nothing else is known, and at most where no width was asked for.
const USUAL: usize = 80;

/// Programs that examples call.
const PROGRAMS: [&str; 3] = ["rooflint ", "ncu ", "claude "];

/// What an example means goes below it where fewer columns than these are left beside it, unless it is short itself.
const BESIDE: usize = 24;

/// Columns before what stands below an example.
const BELOW: usize = 6;

/// The columns that help may have.
pub(super) fn columns(asked: Option<u16>) -> usize {
    let seen = || {
        let seen = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        let seen = seen.or_else(|| std::env::var("COLUMNS").ok()?.parse().ok());
        seen.map_or(USUAL, |width| width.min(USUAL))
    };
    asked.map_or_else(seen, usize::from)
}

/// The command with its help laid out for so many columns.
pub(super) fn laid_out(command: Command, columns: usize) -> Command {
    let mut command = command.max_term_width(columns).term_width(columns);
    if let Some(about) = command.get_about().map(whole) {
        command = command.about(about);
    }
    if let Some(about) = command.get_long_about().map(whole) {
        command = command.long_about(about);
    }
    if let Some(after) = command.get_after_long_help().map(ToString::to_string) {
        command = command.after_long_help(paragraphs(&after, columns));
    }
    command.mut_args(argument).mut_subcommands(|inner| laid_out(inner, columns))
}

fn argument(mut argument: Arg) -> Arg {
    if let Some(help) = argument.get_help().map(whole) {
        argument = argument.help(help);
    }
    match argument.get_long_help().map(whole) {
        Some(help) => argument.long_help(help),
        None => argument,
    }
}

/// The text with no line ending within quotes: `--print-units base`, 'H200 SXM 141GB'.
fn whole(text: &StyledStr) -> String {
    quotes_whole(&text.to_string())
}

fn quotes_whole(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['`', '\'']) {
        let (before, from) = rest.split_at(at);
        kept.push_str(before);
        let mark = if from.starts_with('`') { '`' } else { '\'' };
        // An apostrophe stands behind a letter.
        let is_quote = mark == '`' || !kept.ends_with(char::is_alphanumeric);
        let end = from[1..].find(mark).filter(|_| is_quote).map(|end| end + 2);
        let end = end.filter(|end| !from[..*end].contains('\n'));
        let (quoted, after) = from.split_at(end.unwrap_or(1));
        kept.push_str(&joined(quoted));
        rest = after;
    }
    kept.push_str(rest);
    kept
}

fn joined(text: &str) -> String {
    text.replace(' ', &NO_BREAK.to_string())
}

/// Examples, lists and paragraphs, as they are written below the options: those that do not fit are laid out anew.
fn paragraphs(text: &str, columns: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for paragraph in text.split("\n\n") {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        if paragraph.lines().all(|line| line.chars().count() <= columns) {
            lines.extend(paragraph.lines().map(str::to_owned));
        } else {
            laid_out_lines(paragraph, columns, &mut lines);
        }
    }
    lines.join("\n")
}

fn laid_out_lines(paragraph: &str, columns: usize, lines: &mut Vec<String>) {
    let mut prose = String::new();
    let mut indent = 0;
    for (at, line) in paragraph.lines().enumerate() {
        let own = line.len() - line.trim_start().len();
        let text = line.trim();
        let parts = text.split_once("  ").map(|(head, rest)| (head, rest.trim_start()));
        let is_command = PROGRAMS.iter().any(|program| text.starts_with(program));
        let is_title = at == 0 && text.ends_with(':');
        if parts.is_none() && !is_command && !is_title {
            if prose.is_empty() {
                indent = own;
            } else {
                prose.push(' ');
            }
            prose.push_str(text);
            continue;
        }
        fill(&std::mem::take(&mut prose), ("", indent), columns, lines);
        let (head, rest) = parts.unwrap_or((text, ""));
        let head = if is_command { joined(head) } else { head.to_owned() };
        let beside = line.len() - rest.len();
        if rest.is_empty() {
            lines.push(format!("{:own$}{head}", ""));
        } else if beside <= BELOW || beside + rest.len().min(BESIDE) <= columns {
            let lead = format!("{:own$}{head}", "");
            fill(rest, (&format!("{lead:<beside$}"), beside), columns, lines);
        } else {
            lines.push(format!("{:own$}{head}", ""));
            fill(rest, ("", BELOW), columns, lines);
        }
    }
    fill(&prose, ("", indent), columns, lines);
}

/// Adds a sentence in lines that are indented, the first of them behind `lead` if there is one.
fn fill(text: &str, (lead, indent): (&str, usize), columns: usize, lines: &mut Vec<String>) {
    let text = quotes_whole(text);
    let mut line = if lead.is_empty() { " ".repeat(indent) } else { lead.to_owned() };
    let mut is_begun = false;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        if is_begun && line.chars().count() + 1 + word.chars().count() > columns {
            lines.push(std::mem::replace(&mut line, " ".repeat(indent)));
        } else if is_begun {
            line.push(' ');
        }
        line.push_str(word);
        is_begun = true;
    }
    if is_begun {
        lines.push(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quoted_has_no_blank_to_break_at() {
        let shown = |text: &str| quotes_whole(text).replace(NO_BREAK, "_");
        assert_eq!(shown("run `a b c` or 'd e'"), "run `a_b_c` or 'd_e'");
        assert_eq!(shown("the run's time, users' names"), "the run's time, users' names");
        assert_eq!(shown("the run's 'a b', or `c"), "the run's 'a_b', or `c");
    }

    #[test]
    fn examples_stay_whole_and_paragraphs_are_filled() {
        let text = "Examples:\n  rooflint demo --kernel '#1'   shows one kernel\n  rooflint demo   all\n\n\
                    One two three four five six\nseven eight.\n\nCodes:\n  0  done\n  1  one two three four five six";
        let shown = paragraphs(text, 26).replace(NO_BREAK, " ");
        let expected = "Examples:\n  rooflint demo --kernel '#1'\n      shows one kernel\n  rooflint demo   all\n\n\
                        One two three four five\nsix seven eight.\n\nCodes:\n  0  done\n  1  one two three four\n     \
                        five six";
        assert_eq!(shown, expected);
    }
}
