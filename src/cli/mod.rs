//! The command line: the only part that knows clap, the terminal, and exit codes.

mod analyze;
mod anchor;
mod apart;
mod args;
mod baseline;
mod calibrate;
mod catalog;
mod clock;
mod commands;
mod config;
mod convert;
mod devices;
pub mod exit;
mod formats;
mod gate;
mod guesses;
mod inspect;
#[cfg(feature = "page")]
mod learn;
mod origin;
mod output;
mod predict;
mod progress;
mod reading;
mod rules;
mod schema;
mod session;
mod sides;
mod store;
mod terminal;
mod trend;
mod what_if;
mod yardstick;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, ValueEnum};

use commands::Cli;
use terminal::Terminal;

/// Runs the program and returns its exit code.
#[must_use]
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    let early = early(&arguments);
    let terminal = Terminal::new(&early);
    let cli = match parsed(&mut arguments, early.width, &terminal) {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    let terminal = Terminal::new(&cli.terminal);
    match cli.command.run(&terminal) {
        Ok(()) => ExitCode::from(exit::DONE),
        Err(failure) => {
            terminal.fail(&failure);
            failure.code()
        }
    }
}

/// The command line, options that are habits of other programs replaced.
fn parsed(
    arguments: &mut Vec<OsString>,
    width: Option<u16>,
    terminal: &Terminal,
) -> Result<Cli, ExitCode> {
    let failed = |failure: exit::Failure| {
        terminal.fail(&failure);
        failure.code()
    };
    guesses::words(arguments).map_err(failed)?;
    loop {
        let full = with_default_command(arguments.clone());
        let mut command = Cli::command();
        if let Some(width) = width {
            command = command.max_term_width(usize::from(width)).term_width(usize::from(width));
        }
        let matches = command.try_get_matches_from_mut(&full);
        let known = matches.and_then(|found| Ok((Cli::from_arg_matches(&found)?, found)));
        let mut error = match known {
            Ok((cli, found)) => {
                return apart::check(&command, &found).map(|()| cli).map_err(failed);
            }
            Err(error) => error,
        };
        if guesses::option(&error, arguments).map_err(failed)? {
            continue;
        }
        guesses::nearest(&mut error, &command, &full);
        // Help and version go to standard output with success, misuse to standard error.
        terminal.show(&error);
        return Err(ExitCode::from(if error.use_stderr() { exit::USAGE } else { exit::DONE }));
    }
}

/// The terminal's options before the command line is understood: help and errors follow them too.
fn early(arguments: &[OsString]) -> args::Terminal {
    let words: Vec<_> = arguments.iter().map(|one| one.to_string_lossy()).collect();
    let value = |name: &str| {
        words.iter().enumerate().find_map(|(at, word)| match word.strip_prefix(name)? {
            "" => words.get(at + 1).map(ToString::to_string),
            rest => rest.strip_prefix('=').map(str::to_owned),
        })
    };
    let has = |names: &[&str]| words.iter().any(|word| names.contains(&word.as_ref()));
    let never = has(&["--no-color", "--no-colour", "--nocolor"]).then_some("never".to_owned());
    args::Terminal {
        color: value("--color")
            .or(never)
            .and_then(|color| args::Color::from_str(&color, false).ok())
            .unwrap_or(args::Color::Auto),
        ascii: has(&["--ascii"]),
        width: value("--width").and_then(|width| width.parse().ok()).filter(|width| *width >= 40),
        quiet: 0,
        verbose: has(&["-v", "--verbose"]),
    }
}

/// `rooflint FILE` means `rooflint analyze FILE`.
fn with_default_command(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let Some(first) = arguments.get(1).map(|first| first.to_string_lossy().into_owned()) else {
        return arguments;
    };
    let command = Cli::command();
    let is_command = |name: &str| {
        name == "help"
            || command.get_subcommands().any(|sub| {
                sub.get_name() == name || sub.get_all_aliases().any(|alias| alias == name)
            })
    };
    // A misspelt command is no file: clap's suggestion is more help than "no such file".
    let looks_like_command = !first.starts_with('-')
        && !first.contains(['.', '/', '\\', '*'])
        && !Path::new(&first).exists()
        && command.get_subcommands().any(|sub| strsim::jaro_winkler(sub.get_name(), &first) > 0.8);
    let is_own_flag = matches!(first.as_str(), "-h" | "--help" | "-V" | "--version");
    if !is_command(&first) && !is_own_flag && !looks_like_command {
        // Global options may come before a command that is named.
        let named = arguments[1..].iter().any(|argument| is_command(&argument.to_string_lossy()));
        if !(first.starts_with('-') && named) {
            arguments.insert(1, OsString::from("analyze"));
        }
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_file_alone_is_analyzed() {
        let with = |arguments: &[&str]| -> Vec<String> {
            let arguments = std::iter::once("rooflint")
                .chain(arguments.iter().copied())
                .map(OsString::from)
                .collect();
            with_default_command(arguments)
                .into_iter()
                .skip(1)
                .map(|a| a.into_string().unwrap())
                .collect()
        };
        assert_eq!(with(&["run.csv"]), ["analyze", "run.csv"]);
        assert_eq!(with(&["-"]), ["analyze", "-"]);
        assert_eq!(
            with(&["--device", "H100", "run.csv"]),
            ["analyze", "--device", "H100", "run.csv"]
        );
        assert_eq!(with(&["--color", "never", "demo"]), ["--color", "never", "demo"]);
        assert_eq!(with(&["inspect", "run.csv"]), ["inspect", "run.csv"]);
        assert_eq!(with(&["--help"]), ["--help"]);
        assert_eq!(with(&["anaylze", "run.csv"]), ["anaylze", "run.csv"]);
    }
}
