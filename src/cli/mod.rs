//! The command line: the only part that knows clap, the terminal, and exit codes.

mod analyze;
mod anchor;
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
mod inspect;
#[cfg(feature = "page")]
mod learn;
mod origin;
mod output;
mod parquet;
mod predict;
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

use clap::{CommandFactory, Parser};

use commands::Cli;
use terminal::Terminal;

/// Runs the program and returns its exit code.
#[must_use]
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments = with_default_command(arguments.into_iter().collect());
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version go to standard output with success, misuse to standard error.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { exit::USAGE } else { exit::DONE });
        }
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
