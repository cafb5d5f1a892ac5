//! Exit codes, and which error leads to which.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use super::environment::{self, Variable};
use crate::analysis::AnalysisError;
use crate::catalog::CatalogError;
use crate::config::ConfigError;
use crate::ingest::IngestError;
use crate::plain;
use crate::predict::PredictError;
use crate::session::SessionError;
use crate::taxonomy::TaxonomyError;

/// Done.
pub const DONE: u8 = 0;
/// A gate failed.
pub const GATE_FAILED: u8 = 1;
/// Usage, configuration or device.
pub const USAGE: u8 = 2;
/// An input could not be read, or holds no kernel.
pub const UNREADABLE: u8 = 3;
/// Inconclusive: the gate could not compare, or a policy asks for it.
pub const INCONCLUSIVE: u8 = 4;

/// Every exit code with its meaning, as `--help` and the documentation list them.
pub const TABLE: [(u8, &str); 5] = [
    (DONE, "done"),
    (GATE_FAILED, "a gate failed"),
    (USAGE, "usage, configuration or device error"),
    (UNREADABLE, "the input could not be read or holds no kernel"),
    (INCONCLUSIVE, "inconclusive, as nothing could be compared or the policy asks for it"),
];

/// What kind of error it is, for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Code {
    /// The command line: an unknown option, a missing argument, a value or name that does not exist.
    Usage,
    /// The configuration.
    Configuration,
    /// A mapping of columns.
    Mapping,
    /// A file of kernel names.
    KernelNames,
    /// A device, a figure of a device, or a device file.
    Device,
    /// An input: it cannot be read, or holds no kernels.
    Input,
    /// Launches cannot be compared with their roofs.
    Analysis,
    /// A prediction is not possible.
    Prediction,
    /// A baseline is missing, or the store of baselines cannot be used.
    Baseline,
    /// An output cannot be written.
    Output,
}

/// Where an error is.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Site<'a> {
    pub(super) file: Option<&'a str>,
    /// Line, counted from 1.
    pub(super) line: Option<u64>,
    /// Character in the line, counted from 1.
    pub(super) column: Option<u64>,
    /// Column of a table, by its name.
    pub(super) field: Option<&'a str>,
}

impl<'a> Site<'a> {
    fn of(file: &'a str) -> Self {
        Self { file: Some(file), ..Self::default() }
    }

    fn at(file: &'a str, line: usize, column: usize) -> Self {
        let (line, column) = (Some(line as u64), Some(column as u64));
        Self { file: Some(file), line, column, field: None }
    }

    fn of_input(error: &'a IngestError) -> Self {
        Self {
            file: error.path(),
            line: error.line_number(),
            column: error.character_number().map(u64::from),
            field: error.column_name(),
        }
    }

    fn of_catalog(error: &'a CatalogError) -> Self {
        match error {
            CatalogError::Read { path, .. } | CatalogError::Duplicate { path, .. } => {
                Self::of(path)
            }
            CatalogError::Malformed { path, line, column, .. } => Self::at(path, *line, *column),
            _ => Self::default(),
        }
    }
}

/// Anything that ends a command early.
#[derive(Debug)]
pub(super) enum Failure {
    Usage {
        message: String,
        help: Option<String>,
    },
    /// What clap returned instead of a command: a misuse, or help or the version that were asked for.
    CommandLine(Box<clap::Error>),
    Config(ConfigError),
    Mapping(IngestError),
    KernelNames(TaxonomyError),
    /// A store or file of the baseline is not there, or holds no run that fits.
    MissingBaseline {
        message: String,
        help: Option<String>,
    },
    Ingest(IngestError),
    Catalog(CatalogError),
    Analysis(AnalysisError),
    Predict(PredictError),
    History(crate::history::HistoryError),
    /// A verdict that was given in full, and ends the command with this code.
    Verdict(u8),
    Output {
        path: String,
        cause: std::io::Error,
    },
    /// Another failure, whose cause is the value of this variable.
    Set {
        variable: &'static str,
        cause: Box<Failure>,
    },
}

impl Failure {
    /// The same, with the variable that has the value which is wrong.
    pub(super) fn of_variables(self, used: &[Variable]) -> Self {
        let message = self.to_string();
        let is_in = |value: &str, option: &str| match (&self, option) {
            (Self::Config(_), "config") | (Self::Catalog(_), "devices") => message.contains(value),
            (Self::Usage { .. }, "select" | "ignore") => {
                let words = value.split(',').map(str::trim);
                words.into_iter().any(|word| message == format!("unknown rule {word:?}"))
            }
            (Self::Catalog(_) | Self::Analysis(_), "device") => {
                message.contains(&format!("{value:?}"))
            }
            _ => false,
        };
        let is_wrong = |one: &&Variable| {
            environment::value(one.name)
                .is_some_and(|value| is_in(&value.to_string_lossy(), one.option))
        };
        match used.iter().find(is_wrong) {
            Some(one) => Self::Set { variable: one.name, cause: Box::new(self) },
            None => self,
        }
    }

    pub(super) fn usage(message: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), help: None }
    }

    pub(super) fn help(self, help: impl Into<String>) -> Self {
        match self {
            Self::Usage { message, .. } => Self::Usage { message, help: Some(help.into()) },
            Self::MissingBaseline { message, .. } => {
                Self::MissingBaseline { message, help: Some(help.into()) }
            }
            other => other,
        }
    }

    /// The standard output cannot be written.
    pub(super) fn stdout(cause: std::io::Error) -> Self {
        Self::Output { path: "<stdout>".to_owned(), cause }
    }

    pub(super) fn missing_baseline(message: impl Into<String>) -> Self {
        Self::MissingBaseline { message: message.into(), help: None }
    }

    /// Whether an input could not be read, rather than a wrong question asked.
    pub(super) const fn is_unreadable(&self) -> bool {
        match self {
            Self::Ingest(_) | Self::MissingBaseline { .. } => true,
            Self::History(error) => error.is_unreadable(),
            _ => false,
        }
    }

    /// The exit code; the match is exhaustive on purpose.
    pub(super) fn exit_code(&self) -> u8 {
        match self {
            Self::Verdict(code) => *code,
            Self::Set { cause, .. } => cause.exit_code(),
            Self::CommandLine(error) if !error.use_stderr() => DONE,
            Self::Usage { .. }
            | Self::CommandLine(_)
            | Self::Config(_)
            | Self::Mapping(_)
            | Self::KernelNames(_)
            | Self::Catalog(_)
            | Self::Analysis(_)
            | Self::Predict(_)
            | Self::Output { .. } => USAGE,
            Self::History(error) if !error.is_unreadable() => USAGE,
            Self::Ingest(_) | Self::History(_) | Self::MissingBaseline { .. } => UNREADABLE,
        }
    }

    /// What kind of error it is; none where it is not one.
    pub(super) fn kind(&self) -> Option<Code> {
        match self {
            Self::Verdict(_) => None,
            Self::Set { cause, .. } => cause.kind(),
            Self::CommandLine(error) if !error.use_stderr() => None,
            Self::Usage { .. } | Self::CommandLine(_) => Some(Code::Usage),
            Self::Config(_) => Some(Code::Configuration),
            Self::Mapping(_) => Some(Code::Mapping),
            Self::KernelNames(_) => Some(Code::KernelNames),
            Self::Catalog(_)
            | Self::Analysis(AnalysisError::Device(_))
            | Self::Predict(PredictError::Catalog(_)) => Some(Code::Device),
            Self::Ingest(_) => Some(Code::Input),
            Self::Analysis(_) => Some(Code::Analysis),
            Self::Predict(_) => Some(Code::Prediction),
            Self::MissingBaseline { .. } | Self::History(_) => Some(Code::Baseline),
            Self::Output { .. } => Some(Code::Output),
        }
    }

    /// Where it is, as far as known.
    pub(super) fn site(&self) -> Site<'_> {
        match self {
            Self::Config(ConfigError::Read { path, .. })
            | Self::Predict(PredictError::Read { path, .. })
            | Self::Output { path, .. } => Site::of(path),
            Self::Config(ConfigError::Wrong { path, line, column, .. })
            | Self::Predict(PredictError::Model { path, line, column, .. }) => {
                Site::at(path, *line, *column)
            }
            Self::Set { cause, .. } => cause.site(),
            Self::KernelNames(error) => Site::at(&error.path, error.line, error.column),
            Self::Ingest(error) | Self::Mapping(error) => Site::of_input(error),
            Self::Catalog(error)
            | Self::Analysis(AnalysisError::Device(error))
            | Self::Predict(PredictError::Catalog(error)) => Site::of_catalog(error),
            _ => Site::default(),
        }
    }

    /// What was considered before this failure, a line each.
    pub(super) fn considered(&self) -> &[String] {
        match self {
            Self::Ingest(error) => error.candidates(),
            Self::Set { cause, .. } => cause.considered(),
            _ => &[],
        }
    }

    /// The user's next step.
    pub(super) fn next_step(&self) -> Option<String> {
        match self {
            Self::Usage { help, .. } | Self::MissingBaseline { help, .. } => help.clone(),
            Self::CommandLine(error) => tips(error),
            Self::Config(error) => Some(error.help().to_owned()),
            Self::Mapping(error) => {
                let help = error.next_step();
                Some(help.unwrap_or("see docs/formats.md for a mapping to start from").to_owned())
            }
            Self::KernelNames(error) => Some(error.help().to_owned()),
            Self::Ingest(error) => error.next_step().map(str::to_owned),
            Self::Catalog(error) => Some(error.help()),
            Self::Analysis(error) => Some(error.help()),
            Self::Predict(error) => error.help(),
            Self::History(error) => Some(error.help().to_owned()),
            Self::Verdict(_) => None,
            Self::Set { variable, cause } => {
                let help = cause.next_step().map_or_else(String::new, |help| help + "; ");
                Some(format!("{help}the environment variable {variable} sets it"))
            }
            Self::Output { cause, .. } => Some(plain::to_write(cause).to_owned()),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage { message, .. } | Self::MissingBaseline { message, .. } => {
                f.write_str(message)
            }
            Self::CommandLine(error) => f.write_str(&first(&error.to_string())),
            Self::Config(error) => error.fmt(f),
            Self::KernelNames(error) => error.fmt(f),
            Self::Ingest(error) | Self::Mapping(error) => error.fmt(f),
            Self::Catalog(error) => chain(error, f),
            Self::Analysis(error) => chain(error, f),
            Self::Predict(error) => chain(error, f),
            Self::History(error) => error.fmt(f),
            Self::Verdict(code) => write!(f, "exit code {code}"),
            Self::Set { cause, .. } => cause.fmt(f),
            Self::Output { path, cause } => write!(f, "{path}: cannot write: {}", plain::io(cause)),
        }
    }
}

/// The first paragraph of what clap says, on one line; the others are tips and usage.
fn first(message: &str) -> String {
    let lines = message.lines().take_while(|line| !line.trim().is_empty());
    let words = lines.map(str::trim).collect::<Vec<_>>().join(" ");
    words.strip_prefix("error: ").unwrap_or(&words).to_owned()
}

/// What clap proposes.
fn tips(error: &clap::Error) -> Option<String> {
    let message = error.to_string();
    let tips: Vec<&str> =
        message.lines().filter_map(|line| line.trim().strip_prefix("tip: ")).collect();
    if !tips.is_empty() {
        return Some(tips.join("; "));
    }
    let usage = message.lines().find_map(|line| line.trim().strip_prefix("Usage: "));
    usage.map(|usage| format!("usage: {usage}"))
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{error}")?;
    let mut cause = error.source();
    while let Some(error) = cause {
        write!(f, ": {error}")?;
        cause = error.source();
    }
    Ok(())
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

impl From<crate::history::HistoryError> for Failure {
    fn from(error: crate::history::HistoryError) -> Self {
        Self::History(error)
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Analysis(error) => Self::Analysis(error),
            #[cfg(feature = "frames")]
            SessionError::Inputs(error) => Self::usage(error.to_string()),
            sums @ SessionError::Sums { .. } => {
                let help = sums.help().unwrap_or_default();
                Self::usage(sums.to_string()).help(help)
            }
        }
    }
}

impl From<IngestError> for Failure {
    fn from(error: IngestError) -> Self {
        Self::Ingest(error)
    }
}

impl From<CatalogError> for Failure {
    fn from(error: CatalogError) -> Self {
        Self::Catalog(error)
    }
}

impl From<AnalysisError> for Failure {
    fn from(error: AnalysisError) -> Self {
        Self::Analysis(error)
    }
}

impl From<PredictError> for Failure {
    fn from(error: PredictError) -> Self {
        Self::Predict(error)
    }
}
