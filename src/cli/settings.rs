//! `config`: the settings that hold with where each comes from, and whether files are valid.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};

use super::args::{Advice, Ceilings, Model};
use super::config::{self, unread};
use super::environment::Variable;
use super::exit::{self, Code, Failure};
use super::output::{self, Outputs};
use super::terminal::Terminal;
use super::{reading, session};
use crate::analysis::CeilingSet;
use crate::catalog::Catalog;
use crate::config::{Config, ConfigError, Entry};
use crate::gate::Policy;
use crate::plain;
use crate::predict::ModelFile;
use crate::report::{self, Setting, SettingList, SettingOrigin};
use crate::roofline::{FLAG_FLOOR, FLAG_SHARE};
use crate::taxonomy::Taxonomy;
use crate::units::{RelativeChange, Seconds};

const EXAMPLES: &str = "\
Examples:
  rooflint config show                        the settings of this folder
  rooflint config show --device L4            as a command with this option has them
  rooflint config show --format json
  rooflint config check                       the configuration of this folder
  rooflint config check rooflint.toml my-gpu.toml mapping.toml";

/// Show the effective settings with their origins, or check files
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Settings {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show each setting with its value and where it comes from
    Show(Box<Show>),
    /// Check configurations, device files, mappings, kernel names and model files
    Check(Check),
}

#[derive(Debug, Args)]
struct Show {
    #[command(flatten)]
    model: Model,
    #[command(flatten)]
    advice: Advice,
    #[command(flatten)]
    outputs: Outputs,
}

#[derive(Debug, Args)]
struct Check {
    /// TOML files [default: the configuration of this folder]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

pub(super) fn run(
    command: &Settings,
    environment: &[Variable],
    terminal: &Terminal,
) -> Result<(), Failure> {
    match &command.action {
        Action::Show(command) => show(command, environment, terminal),
        Action::Check(command) => check(command, terminal),
    }
}

fn show(command: &Show, environment: &[Variable], terminal: &Terminal) -> Result<(), Failure> {
    let places = command.outputs.places("format of settings")?;
    let found = config::file(&command.advice.configuration);
    // What a command would refuse is refused here, too.
    let config = config::load(&command.advice, terminal)?;
    let rules = [&config.rules.select, &config.rules.ignore].map(|ids| list(ids.iter()));
    session::new(&command.model, config)?;
    let (file, ignored) = found.unwrap_or_default();
    let shown = file.display().to_string();
    let entries = if file.as_os_str().is_empty() {
        Vec::new()
    } else {
        crate::config::outline(&file, &text(&file)?)
    };
    let layers = Layers { file: &shown, entries, environment };
    let settings = layers.settings(command, rules);
    let ignored: Vec<String> = ignored.iter().map(|path| path.display().to_string()).collect();
    let file = Some(shown.as_str()).filter(|path| !path.is_empty());
    let is_without = command.advice.configuration.no_config;
    let list = SettingList { file, is_without, ignored: &ignored, settings: &settings };
    output::write(&places, &list, |style, _| style, terminal)
}

fn text(path: &Path) -> Result<String, Failure> {
    let read = plain::text_of(path, plain::PAGES);
    read.map_err(|cause| {
        Failure::Config(ConfigError::Read { path: path.display().to_string(), cause })
    })
}

/// Where settings come from.
struct Layers<'a> {
    file: &'a str,
    /// What the file sets.
    entries: Vec<Entry>,
    /// The variables that set options.
    environment: &'a [Variable],
}

impl Layers<'_> {
    /// Every setting: those with an option, those of the gate, and what else the file sets.
    fn settings(mut self, command: &Show, [select, ignore]: [String; 2]) -> Vec<Setting> {
        let Show { model, advice, .. } = command;
        let is_spec = model.roofs.ceilings.set() == Some(CeilingSet::Spec);
        let threshold = if is_spec { CeilingSet::Spec } else { CeilingSet::MeasuredClock };
        let micros = |time: Seconds| quoted(&format!("{}us", time.get() * 1e6));
        let has = |ids: &[String], written: &str| (!ids.is_empty()).then(|| written.to_owned());
        let paths = (!model.roofs.devices.is_empty())
            .then(|| list(model.roofs.devices.iter().map(|path| path.display().to_string())));
        let ceilings = model.roofs.ceilings.to_possible_value();
        let ceilings = ceilings.map(|value| quoted(value.get_name()));
        let is_default = model.roofs.ceilings == Ceilings::Auto;
        let mut all = vec![
            self.option("device", "device", model.roofs.device.as_deref().map(quoted), None),
            self.option("devices", "devices", paths, None),
            self.option(
                "ceilings",
                "ceilings",
                ceilings.filter(|_| !is_default),
                Some(quoted("auto")),
            ),
            self.option(
                "analysis.threshold",
                "threshold",
                model.threshold.map(|value| value.to_string()),
                Some(format!("{:?}", threshold.threshold())),
            ),
            self.option(
                "analysis.min-savings",
                "min-savings",
                model.min_savings.map(micros),
                Some(micros(FLAG_FLOOR)),
            ),
            self.option(
                "analysis.min-share",
                "min-share",
                model.min_share.map(|value| value.to_string()),
                Some(FLAG_SHARE.to_string()),
            ),
            // Rules of the file and of the command line add up.
            self.option("rules.select", "select", has(&advice.select, &select), None),
            self.option("rules.ignore", "ignore", has(&advice.ignore, &ignore), None),
        ];
        for (key, value) in gate(&Policy::default()) {
            all.push(self.option(&format!("gate.{key}"), "", None, Some(value)));
        }
        let rest = std::mem::take(&mut self.entries);
        all.extend(rest.iter().map(|entry| self.of_file(entry)));
        all
    }

    /// A setting, by the strongest layer that has it; what the file has of it is taken from the entries.
    fn option(
        &mut self,
        key: &str,
        option: &'static str,
        given: Option<String>,
        default: Option<String>,
    ) -> Setting {
        let former = key.replace("savings", "win");
        let at = self.entries.iter().position(|entry| entry.key == key || entry.key == former);
        let entry = at.map(|at| self.entries.remove(at));
        if let Some(written) = given {
            let variable = self.environment.iter().find(|variable| variable.option == option);
            let origin = match variable {
                Some(variable) => SettingOrigin::Environment { variable: variable.name.to_owned() },
                None => SettingOrigin::CommandLine { option: format!("--{option}") },
            };
            return setting(key, written, origin);
        }
        match entry {
            Some(entry) => Setting { key: key.to_owned(), ..self.of_file(&entry) },
            None => setting(key, default.unwrap_or_default(), SettingOrigin::Default),
        }
    }

    fn of_file(&self, entry: &Entry) -> Setting {
        let origin = SettingOrigin::File { file: self.file.to_owned(), line: entry.line };
        setting(&entry.key, entry.value.clone(), origin)
    }
}

fn setting(key: &str, written: String, origin: SettingOrigin) -> Setting {
    Setting { key: key.to_owned(), value: crate::config::value(&written), written, origin }
}

/// A text in TOML.
fn quoted(text: &str) -> String {
    // Strings of JSON are strings of TOML.
    serde_json::Value::from(text).to_string()
}

/// A list of texts in TOML.
fn list(texts: impl Iterator<Item = impl AsRef<str>>) -> String {
    format!("[{}]", texts.map(|text| quoted(text.as_ref())).collect::<Vec<_>>().join(", "))
}

/// The keys of `[gate]` that have a default, with it.
fn gate(policy: &Policy) -> [(&'static str, String); 21] {
    let noise = &policy.noise;
    let change = |change: RelativeChange| change.get().to_string();
    [
        ("warn-only", policy.warn_only.to_string()),
        ("new", quoted(policy.new.key())),
        ("vanished", quoted(policy.vanished.key())),
        ("renamed", quoted(policy.renamed.key())),
        ("normalize", quoted(policy.normalize.key())),
        ("ambiguous", quoted(policy.ambiguous.key())),
        ("incomparable", quoted(policy.incomparable.key())),
        ("implausible", quoted(policy.implausible.key())),
        ("incomplete", quoted(policy.incomplete.key())),
        ("listed-share", policy.listed_share.get().to_string()),
        ("implausible-factor", format!("{:?}", policy.implausible_factor.get())),
        ("across-devices", policy.across_devices.to_string()),
        ("max-age", policy.max_age_days.to_string()),
        ("coverage", policy.coverage.get().to_string()),
        ("false-discovery", policy.false_discovery.get().to_string()),
        ("noise.kernel", change(noise.kernel)),
        ("noise.few-launches", change(noise.few_launches)),
        ("noise.common", change(noise.common)),
        ("noise.device", change(noise.device)),
        ("noise.day", change(noise.day)),
        ("noise.timer", quoted(&format!("{:.0}ns", noise.timer_s.get() * 1e9))),
    ]
}

fn check(command: &Check, terminal: &Terminal) -> Result<(), Failure> {
    let mut files = command.files.clone();
    if files.is_empty() {
        let Some((nearest, beside)) = config::nearest() else {
            return terminal.print("no configuration here or above\n");
        };
        if let Some(note) = unread(&nearest, &beside) {
            terminal.note(Code::Configuration, &note);
        }
        files.push(nearest);
    }
    let (mut valid, mut is_wrong) = (String::new(), false);
    for file in &files {
        match checked(file) {
            Ok(what) => {
                let path = report::printable(&file.display().to_string());
                valid.push_str(&format!("{path}: valid {what}\n"));
            }
            Err(failure) => {
                terminal.fail(&failure);
                is_wrong = true;
            }
        }
    }
    terminal.print(&valid)?;
    if is_wrong { Err(Failure::Verdict(exit::USAGE)) } else { Ok(()) }
}

/// Whether a file has devices under another key than `[[device]]`, of which its errors know. A path or a list of paths is
/// the option `devices`.
fn is_table_of_devices(keys: &toml::Table) -> bool {
    let is_table = |value: &toml::Value| {
        value.is_table()
            || value.as_array().is_some_and(|all| all.iter().any(toml::Value::is_table))
    };
    ["devices", "gpu", "gpus"].iter().any(|key| keys.get(*key).is_some_and(is_table))
}

/// What a file is, by its keys, if it is valid.
fn checked(path: &Path) -> Result<&'static str, Failure> {
    let text = text(path)?;
    let shown = path.display().to_string();
    let is_named = crate::config::FILES.iter().any(|name| path.ends_with(name));
    let keys: toml::Table = if is_named {
        toml::Table::new()
    } else {
        // A file without a place among the others is a configuration, and its errors say so.
        toml::from_str(&text).unwrap_or_default()
    };
    let has = |names: &[&str]| names.iter().any(|name| keys.contains_key(*name));
    if has(&["columns"]) {
        reading::mapping(path)?;
        Ok("mapping")
    } else if has(&["op"]) {
        ModelFile::read(path)?;
        Ok("model file")
    } else if has(&["device", "name"]) || is_table_of_devices(&keys) {
        Catalog::builtin().with_file(path)?;
        Ok("device file")
    } else if has(&["class", "operator", "attr", "data-types", "fused"]) {
        Taxonomy::with_text(&shown, &text).map_err(Failure::KernelNames)?;
        Ok("file of kernel names")
    } else {
        let config = Config::read(path)?;
        session::taxonomy(&config)?;
        Ok("configuration")
    }
}
