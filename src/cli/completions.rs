//! `completions`: scripts by which shells complete commands, options and the names of our catalogs.
//!
//! The scripts are static: shells ask no program, so completing costs nothing and starting the program neither.

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, Args, Command, ValueHint};
use clap_complete::Shell;

use super::exit::Failure;
use super::terminal::Terminal;
use super::what_if::WORDS;
use crate::catalog::{Catalog, DEVICES};
use crate::ingest::FORMATS;
use crate::predict::FORMS;
use crate::rules::RULES;

const EXAMPLES: &str = "\
Examples:
  rooflint completions bash > ~/.local/share/bash-completion/completions/rooflint
  rooflint completions zsh > ~/.zfunc/_rooflint
  rooflint completions fish > ~/.config/fish/completions/rooflint.fish
  rooflint completions powershell >> $PROFILE
  rooflint completions elvish >> ~/.config/elvish/rc.elv";

/// Print a completion script for a shell
///
/// Completes commands, options, formats, devices, rules and kernels. Print it again after an update.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Completions {
    /// Choose the shell
    shell: Shell,
}

pub(super) fn run(
    chosen: &Completions,
    command: Command,
    terminal: &Terminal,
) -> Result<(), Failure> {
    let mut command = with_names(command)?;
    let mut script = Vec::new();
    clap_complete::generate(chosen.shell, &mut command, "rooflint", &mut script);
    if chosen.shell == Shell::Fish {
        script.extend_from_slice(names_in_fish(&command).as_bytes());
    }
    terminal.write(std::path::Path::new("-"), &script)
}

/// The names that options and arguments take.
struct Names {
    devices: Vec<PossibleValue>,
    rules: Vec<PossibleValue>,
    mappings: Vec<PossibleValue>,
    forms: Vec<PossibleValue>,
}

/// The command with the names that its options take. The program itself accepts more: other spellings of a device,
/// custom rules, files.
fn with_names(command: Command) -> Result<Command, Failure> {
    // Ids without vendor need no quotes in any shell, and are what one begins to type.
    let device = |(id, name): (&'static str, String)| {
        let short = id.split_once('-').map_or(id, |(_, short)| short);
        PossibleValue::new(short).help(name)
    };
    let names = Names {
        devices: DEVICES
            .iter()
            .map(|one| one.id)
            .zip(Catalog::builtin().names()?)
            .map(device)
            .collect(),
        rules: RULES.iter().map(|rule| PossibleValue::new(rule.id).help(rule.summary)).collect(),
        mappings: FORMATS
            .iter()
            .filter(|format| crate::ingest::preset(format.name).is_some())
            .map(|format| PossibleValue::new(format.name).help(format.summary))
            .collect(),
        forms: FORMS.iter().map(|form| PossibleValue::new(form.name)).collect(),
    };
    let analyze: Vec<Arg> = command
        .find_subcommand("analyze")
        .map(|analyze| analyze.get_arguments().cloned().collect())
        .unwrap_or_default();
    // `rooflint FILE` is `rooflint analyze FILE`, and has its options.
    let own = analyze.into_iter().filter(|one| !one.is_global_set() && !one.is_positional());
    let command = command.args(own);
    Ok(complete(command, &names))
}

/// What clap's script for fish leaves out: the names that are no options.
fn names_in_fish(command: &Command) -> String {
    let mut script = String::new();
    for inner in command.get_subcommands() {
        let names = inner.get_positionals().flat_map(Arg::get_possible_values);
        let names: Vec<String> = names.map(|value| value.get_name().to_owned()).collect();
        if !names.is_empty() {
            script.push_str(&format!(
                "complete -c rooflint -n \"__fish_rooflint_using_subcommand {}\" -f -a \"{}\"\n",
                inner.get_name(),
                names.join(" ")
            ));
        }
    }
    script
}

/// The same with the names, in this command and those below it.
fn complete(command: Command, names: &Names) -> Command {
    let name = command.get_name().to_owned();
    let inner: Vec<String> =
        command.get_subcommands().map(|inner| inner.get_name().to_owned()).collect();
    let command = inner
        .iter()
        .fold(command, |command, name| command.mut_subcommand(name, |one| complete(one, names)));
    command.mut_args(|argument| {
        let takes = |names: &[PossibleValue], argument: Arg| {
            argument.value_parser(PossibleValuesParser::new(names.to_vec()))
        };
        match (name.as_str(), argument.get_long(), argument.get_id().as_str()) {
            (_, Some("device" | "baseline-device"), _) | ("devices", None, "name") => {
                takes(&names.devices, argument)
            }
            (_, Some("what-if"), _) => {
                let words = WORDS.iter().map(|word| PossibleValue::new(*word));
                takes(&words.chain(names.devices.iter().cloned()).collect::<Vec<_>>(), argument)
            }
            (_, Some("select" | "ignore"), _) | ("rules", None, "id") => {
                takes(&names.rules, argument)
            }
            (_, Some("map"), _) => takes(&names.mappings, argument),
            ("predict", None, "call") => takes(&names.forms, argument),
            (_, Some("output"), _) => argument.value_hint(ValueHint::FilePath),
            _ => argument,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::DeviceHint;

    #[test]
    fn every_device_that_is_completed_is_found() {
        let catalog = Catalog::builtin();
        let names = catalog.names().unwrap();
        assert_eq!(names.len(), DEVICES.len());
        for (device, name) in DEVICES.iter().zip(names) {
            let (_, short) = device.id.split_once('-').unwrap();
            assert_eq!(catalog.find(short, &DeviceHint::default()).unwrap().name, name);
        }
    }
}
