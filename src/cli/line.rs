//! The command line as it is understood: habits of other programs replaced, the default command added.

use std::ffi::OsString;
use std::path::Path;

use clap::{CommandFactory, FromArgMatches, ValueEnum};

use super::commands::Cli;
use super::exit::Failure;
use super::{apart, args, guesses};

/// A command line that runs no command: what is wrong with it, or help that it asks for.
pub(super) enum Misuse {
    Failure(Failure),
    Refused(clap::Error),
}

impl From<Failure> for Misuse {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

/// The command line, options that are habits of other programs replaced.
pub(super) fn parsed(arguments: &mut Vec<OsString>, width: Option<u16>) -> Result<Cli, Misuse> {
    guesses::words(arguments)?;
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
                return Ok(apart::check(&command, &found).map(|()| cli)?);
            }
            Err(error) => error,
        };
        if guesses::option(&error, arguments)? {
            continue;
        }
        guesses::nearest(&mut error, &command, &full);
        return Err(Misuse::Refused(error));
    }
}

/// The terminal's options before the command line is understood: help and errors follow them too.
pub(super) fn early(arguments: &[OsString]) -> args::Terminal {
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
