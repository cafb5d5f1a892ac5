//! Options from the environment: variables that stand for options that the command line leaves open.
//!
//! They become options before the command line is read for good, so that each is checked as if it were typed.

use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};

/// A variable that stands for an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Variable {
    pub(super) name: &'static str,
    /// The option's name without its dashes.
    pub(super) option: &'static str,
}

const fn variable(name: &'static str, option: &'static str) -> Variable {
    Variable { name, option }
}

/// Variables for options: those that belong to a machine or a pipeline rather than to one call.
pub(super) const VARIABLES: [Variable; 13] = [
    variable("ROOFLINT_CONFIG", "config"),
    variable("ROOFLINT_DEVICE", "device"),
    variable("ROOFLINT_DEVICES", "devices"),
    variable("ROOFLINT_CEILINGS", "ceilings"),
    variable("ROOFLINT_THRESHOLD", "threshold"),
    variable("ROOFLINT_MIN_SAVINGS", "min-savings"),
    variable("ROOFLINT_MIN_SHARE", "min-share"),
    variable("ROOFLINT_SELECT", "select"),
    variable("ROOFLINT_IGNORE", "ignore"),
    variable(STORE, "store"),
    variable("ROOFLINT_THREADS", "threads"),
    variable(COLOR, "color"),
    variable(ERROR_FORMAT, "error-format"),
];

/// Stands for `--store`, and for the argument of `trend`.
pub(super) const STORE: &str = "ROOFLINT_STORE";

/// Stands for `--color`.
pub(super) const COLOR: &str = "ROOFLINT_COLOR";

/// Stands for `--error-format`.
pub(super) const ERROR_FORMAT: &str = "ROOFLINT_ERROR_FORMAT";

/// Other variables that are read, with their effects; those of CI systems are in the documents of their commands.
pub(super) const OTHERS: [(&str, &str); 8] = [
    ("NO_COLOR", "set and not empty: no color, and no links"),
    ("FORCE_COLOR", "set, not empty and not 0: color even where standard output is not a terminal"),
    ("CLICOLOR_FORCE", "as FORCE_COLOR"),
    ("CLICOLOR", "0: no color on a terminal"),
    ("FORCE_HYPERLINK", "0: no links; else links where there is color, whatever the terminal"),
    ("COLUMNS", "width, if standard output is a terminal of unknown width"),
    ("LC_ALL, LC_CTYPE, LANG", "the first that is set: if it is not UTF-8, text is ASCII"),
    ("GITHUB_STEP_SUMMARY", "a file of this name grows instead of being replaced"),
];

/// The value of a variable; one that is empty is not set.
pub(super) fn value(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Whether a variable is set that stands for this option.
pub(super) fn stands_for(option: &str) -> bool {
    VARIABLES.iter().any(|one| one.option == option && value(one.name).is_some())
}

/// The command that was chosen, with its arguments.
pub(super) fn chosen<'a>(
    mut command: &'a Command,
    mut matches: &'a ArgMatches,
) -> (&'a Command, &'a ArgMatches) {
    while let Some((name, inner)) = matches.subcommand()
        && let Some(found) = command.find_subcommand(name)
    {
        (command, matches) = (found, inner);
    }
    (command, matches)
}

/// Adds options for the variables that are set, where the command has the option and the command line neither sets
/// it nor excludes it. Returns the variables that were used.
pub(super) fn add(
    command: &Command,
    matches: &ArgMatches,
    arguments: &mut Vec<OsString>,
) -> Vec<Variable> {
    let (command, matches) = chosen(command, matches);
    let is_typed = |one: &Arg| {
        let source = matches.value_source(one.get_id().as_str());
        source == Some(ValueSource::CommandLine)
    };
    let excludes = |one: &Arg, other: &Arg| {
        command.get_arg_conflicts_with(one).iter().any(|arg| arg.get_id() == other.get_id())
    };
    let mut used = Vec::new();
    for variable in VARIABLES {
        // A filter of saved runs is called as the option is, and is not the same.
        let id = variable.option.replace('-', "_");
        let option = command
            .get_arguments()
            .find(|one| one.get_id() == id.as_str() && one.get_long() == Some(variable.option));
        let (Some(option), Some(value)) = (option, value(variable.name)) else { continue };
        let mut typed = command.get_arguments().filter(|one| is_typed(one));
        if is_typed(option) || typed.any(|one| excludes(one, option) || excludes(option, one)) {
            continue;
        }
        let mut word = OsString::from(format!("--{}=", variable.option));
        word.push(value);
        // Words after `--` are files, not options.
        let at = arguments.iter().position(|one| one == "--").unwrap_or(arguments.len());
        arguments.insert(at, word);
        used.push(variable);
    }
    used
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_called_as_its_option() {
        for Variable { name, option } in VARIABLES {
            assert_eq!(name, format!("ROOFLINT_{}", option.to_uppercase().replace('-', "_")));
        }
    }
}
