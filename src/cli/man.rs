//! `man`: manual pages, one for the program and one for each command, from the definition of the command line.

use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_mangen::roff::{Roff, bold, roman};

use super::environment::{OTHERS, VARIABLES};
use super::exit::{Failure, TABLE};
use super::terminal::Terminal;
use crate::config;

const EXAMPLES: &str = "\
Examples:
  rooflint man | man -l -
  rooflint man -o ~/.local/share/man/man1";

/// Print the manual page, or write a page for each command
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Man {
    /// Write the pages of all commands to this folder; it is created if missing
    #[arg(short = 'o', long = "output", value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

pub(super) fn run(chosen: &Man, command: Command, terminal: &Terminal) -> Result<(), Failure> {
    // A manual page has all options, also those that the short help leaves out.
    let mut command = whole(command.disable_help_subcommand(true));
    command.build();
    let Some(folder) = &chosen.folder else {
        let text = page(&command, &command).map_err(Failure::stdout)?;
        return terminal.write(Path::new("-"), &text);
    };
    std::fs::create_dir_all(folder)
        .map_err(|cause| Failure::Output { path: folder.display().to_string(), cause })?;
    write(&command, &command, folder, terminal)
}

/// The command with every option shown, in itself and those below it.
fn whole(command: Command) -> Command {
    let inner: Vec<String> =
        command.get_subcommands().map(|inner| inner.get_name().to_owned()).collect();
    let command = inner.iter().fold(command, |command, name| command.mut_subcommand(name, whole));
    command.mut_args(|argument| argument.hide_short_help(false))
}

/// Writes the page of a command, and those of the commands below it.
fn write(
    whole: &Command,
    command: &Command,
    folder: &Path,
    terminal: &Terminal,
) -> Result<(), Failure> {
    let path = folder.join(format!("{}.1", name(command)));
    let failed = |cause| Failure::Output { path: path.display().to_string(), cause };
    let text = page(whole, command).map_err(failed)?;
    terminal.write(&path, &text)?;
    command.get_subcommands().try_for_each(|inner| write(whole, inner, folder, terminal))
}

/// The name of a page: `rooflint`, `rooflint-gate`, `rooflint-baseline-save`.
fn name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

/// A page in roff.
fn page(whole: &Command, command: &Command) -> io::Result<Vec<u8>> {
    let version = whole.get_version().unwrap_or_default();
    let man = clap_mangen::Man::new(command.clone())
        .source(format!("rooflint {version}"))
        .manual("rooflint");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.get_subcommands().next().is_some() {
        man.render_subcommands_section(&mut page)?;
    }
    let after = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    sections(whole, command, &after).to_writer(&mut page)?;
    Ok(plain(&String::from_utf8_lossy(&page)).into_bytes())
}

/// The page in ASCII: formatters take other characters by their numbers, whatever the encoding is.
fn plain(page: &str) -> String {
    let mut plain = String::with_capacity(page.len());
    for c in page.chars() {
        if c.is_ascii() {
            plain.push(c);
        } else {
            plain.push_str(&format!("\\[u{:04X}]", u32::from(c)));
        }
    }
    plain
}

/// The sections that clap knows nothing of.
fn sections(whole: &Command, command: &Command, after: &str) -> Roff {
    let mut roff = Roff::new();
    // What follows the options in the help: paragraphs with a title, and remarks without one.
    let paragraphs = after.split("\n\n").map(str::trim_end).filter(|text| !text.is_empty());
    let mut remarks = Vec::new();
    for paragraph in paragraphs {
        let titled = paragraph.split_once(":\n").filter(|(_, rest)| rest.starts_with("  "));
        match titled {
            // These are sections of their own.
            Some(("Exit codes" | "Configuration", _)) => {}
            Some((title, lines)) => {
                roff.control("SH", [title.to_uppercase().as_str()]);
                verbatim(&mut roff, lines);
            }
            None => remarks.push(paragraph),
        }
    }
    if !remarks.is_empty() {
        roff.control("SH", ["NOTES"]);
        for remark in remarks {
            roff.control("PP", []);
            roff.text([roman(remark.replace('\n', " "))]);
        }
    }
    roff.control("SH", ["EXIT STATUS"]);
    for (code, meaning) in TABLE {
        entry(&mut roff, &code.to_string(), meaning);
    }
    roff.control("SH", ["ENVIRONMENT"]);
    for variable in VARIABLES {
        let means = format!("stands for --{}, which is stronger", variable.option);
        entry(&mut roff, variable.name, &means);
    }
    for (name, effect) in OTHERS {
        entry(&mut roff, name, effect);
    }
    roff.control("SH", ["FILES"]);
    let files = config::FILES.join(", ");
    entry(
        &mut roff,
        &files,
        "configuration: the first of these in the current folder, else in the nearest one above it; \
         in pyproject.toml the table [tool.rooflint]",
    );
    entry(&mut roff, "rooflint-baselines.toml", "makes a folder a store of baselines");
    roff.control("SH", ["SEE ALSO"]);
    let mut pages: Vec<String> = Vec::new();
    if name(command) == name(whole) {
        pages.extend(whole.get_subcommands().map(|inner| format!("{}(1)", name(inner))));
    } else {
        pages.push(format!("{}(1)", name(whole)));
        pages.extend(command.get_subcommands().map(|inner| format!("{}(1)", name(inner))));
    }
    roff.text([roman(pages.join(", "))]);
    roff.control("PP", []);
    roff.text([roman(concat!("Documentation: ", env!("CARGO_PKG_REPOSITORY")))]);
    roff
}

/// Lines as they are.
fn verbatim(roff: &mut Roff, lines: &str) {
    roff.control("nf", []);
    for line in lines.lines() {
        roff.text([roman(line.trim_end())]);
    }
    roff.control("fi", []);
}

/// A term and its meaning.
fn entry(roff: &mut Roff, term: &str, meaning: &str) {
    roff.control("TP", []);
    roff.text([bold(term)]);
    roff.text([roman(meaning)]);
}
