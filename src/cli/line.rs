//! The command line as it is understood: habits of other programs replaced, the default command and the options of
//! the environment added.

use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, ValueEnum};

use super::commands::Cli;
use super::environment::{self, Variable};
use super::exit::Failure;
use super::{apart, args, guesses, help};

/// The command line; options that are habits of other programs replaced, and those added that the environment sets.
pub(super) fn understood(mut arguments: Vec<OsString>, width: Option<u16>) -> Result<Cli, Failure> {
    guesses::words(&mut arguments)?;
    let mut environment: Option<Vec<Variable>> = None;
    loop {
        let full = with_default_command(arguments.clone());
        let mut command = Cli::command();
        if let Some(width) = width {
            command = command.max_term_width(usize::from(width)).term_width(usize::from(width));
        }
        let matches = command.try_get_matches_from_mut(&full);
        let known = matches.and_then(|found| Ok((Cli::from_arg_matches(&found)?, found)));
        let mut error = match known {
            Ok((mut cli, found)) => {
                if environment.is_none() {
                    let used = environment::add(&command, &found, &mut arguments);
                    let is_final = used.is_empty();
                    environment = Some(used);
                    if !is_final {
                        continue;
                    }
                }
                apart::check(&command, &found)?;
                cli.environment = environment.unwrap_or_default();
                return Ok(cli);
            }
            Err(error) => error,
        };
        if matches!(
            error.kind(),
            ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        ) {
            // The same once more, laid out: most commands are none that ask for help.
            let mut command = help::laid_out(Cli::command(), help::columns(width));
            let again = command.try_get_matches_from_mut(&full).err().unwrap_or(error);
            return Err(Failure::CommandLine(Box::new(again)));
        }
        if let Some(variable) = environment.as_ref().and_then(|used| blamed(&error, used)) {
            let message = Failure::CommandLine(Box::new(error)).to_string();
            let help = format!("change or unset the environment variable {}", variable.name);
            return Err(Failure::usage(message).help(help));
        }
        if guesses::option(&error, &mut arguments)? {
            continue;
        }
        guesses::number(&error, &arguments)?;
        guesses::greedy(&error, &arguments)?;
        guesses::nearest(&mut error, &command, &full);
        return Err(Failure::CommandLine(Box::new(error)));
    }
}

/// The variable whose value is wrong.
fn blamed(error: &clap::Error, used: &[Variable]) -> Option<Variable> {
    if error.kind() == ErrorKind::InvalidUtf8 {
        let is_wrong = |one: &&Variable| {
            environment::value(one.name).is_some_and(|value| value.to_str().is_none())
        };
        return used.iter().find(is_wrong).copied();
    }
    let Some(ContextValue::String(wrong)) = error.get(ContextKind::InvalidArg) else { return None };
    let wrong = wrong.split([' ', '=']).next()?.strip_prefix("--")?;
    used.iter().find(|variable| variable.option == wrong).copied()
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
    // Before options are read, variables can only be asked for.
    let set = |name: &str| environment::value(name)?.into_string().ok();
    let never = has(&["--no-color", "--no-colour", "--nocolor"]).then_some("never".to_owned());
    args::Terminal {
        color: value("--color")
            .or(never)
            .or_else(|| set(environment::COLOR))
            .and_then(|color| args::Color::from_str(&color, false).ok())
            .unwrap_or(args::Color::Auto),
        error_format: value("--error-format")
            .or_else(|| set(environment::ERROR_FORMAT))
            .and_then(|format| args::ErrorFormat::from_str(&format, false).ok())
            .unwrap_or(args::ErrorFormat::Text),
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
        && command
            .get_subcommands()
            .any(|sub| crate::plain::likeness(sub.get_name(), &first) > 0.8);
    if !is_command(&first) && !asks_of_the_program(&command, &arguments) && !looks_like_command {
        // Global options may come before a command that is named.
        let named = arguments[1..].iter().any(|argument| is_command(&argument.to_string_lossy()));
        if !(first.starts_with('-') && named) {
            arguments.insert(1, OsString::from("analyze"));
        }
    }
    arguments
}

/// Whether the help or the version of the program is asked for, with nothing before but options that all commands have.
fn asks_of_the_program(command: &clap::Command, arguments: &[OsString]) -> bool {
    let mut words = arguments.iter().skip(1).map(|word| word.to_string_lossy());
    while let Some(word) = words.next() {
        if matches!(&*word, "-h" | "--help" | "-V" | "--version") {
            return true;
        }
        let (name, value) = word.split_once('=').map_or((&*word, None), |(a, b)| (a, Some(b)));
        let option = command.get_arguments().find(|option| {
            let short = option.get_short().map(|short| format!("-{short}"));
            let long = option.get_long().map(|long| format!("--{long}"));
            short.as_deref() == Some(name) || long.as_deref() == Some(name)
        });
        let Some(option) = option else { return false };
        if option.get_action().takes_values() && value.is_none() {
            words.next();
        }
    }
    false
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
        assert_eq!(with(&["--color", "always", "--version"]), ["--color", "always", "--version"]);
        assert_eq!(with(&["--color=always", "-q", "-h"]), ["--color=always", "-q", "-h"]);
        assert_eq!(with(&["--top", "3", "--help"]), ["analyze", "--top", "3", "--help"]);
        assert_eq!(with(&["anaylze", "run.csv"]), ["anaylze", "run.csv"]);
    }
}
