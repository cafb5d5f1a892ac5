//! Exit codes, and which error leads to which.

use std::fmt;

use crate::analysis::AnalysisError;
use crate::catalog::CatalogError;
use crate::ingest::IngestError;
use crate::plain;
use crate::predict::PredictError;
use crate::session::SessionError;

/// Done.
pub const DONE: u8 = 0;
/// A gate failed.
pub const GATE_FAILED: u8 = 1;
/// Usage, configuration or device.
pub const USAGE: u8 = 2;
/// An input could not be read, or holds no kernel.
pub const UNREADABLE: u8 = 3;
/// Inconclusive, where a policy asks for it.
pub const INCONCLUSIVE: u8 = 4;

/// Every exit code with its meaning, as `--help` and the documentation list them.
pub const TABLE: [(u8, &str); 5] = [
    (DONE, "done"),
    (GATE_FAILED, "a gate failed"),
    (USAGE, "usage, configuration or device error"),
    (UNREADABLE, "the input could not be read or holds no kernel"),
    (INCONCLUSIVE, "inconclusive, where the policy asks for it"),
];

/// Anything that ends a command early.
#[derive(Debug)]
pub(super) enum Failure {
    Usage {
        message: String,
        help: Option<String>,
    },
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
    /// The reader of the output went away: not a failure of ours.
    BrokenPipe,
    /// A verdict that was given in full, and ends the command with this code.
    Verdict(u8),
    Output {
        path: String,
        cause: std::io::Error,
    },
}

impl Failure {
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
    pub(super) const fn code(&self) -> u8 {
        match self {
            Self::BrokenPipe => DONE,
            Self::Verdict(code) => *code,
            Self::Usage { .. }
            | Self::Catalog(_)
            | Self::Analysis(_)
            | Self::Predict(_)
            | Self::Output { .. } => USAGE,
            Self::History(error) if !error.is_unreadable() => USAGE,
            Self::Ingest(_) | Self::History(_) | Self::MissingBaseline { .. } => UNREADABLE,
        }
    }

    /// What was considered before this failure, a line each.
    pub(super) fn considered(&self) -> &[String] {
        match self {
            Self::Ingest(error) => error.candidates(),
            _ => &[],
        }
    }

    /// The user's next step.
    pub(super) fn next_step(&self) -> Option<String> {
        match self {
            Self::Usage { help, .. } | Self::MissingBaseline { help, .. } => help.clone(),
            Self::Ingest(error) => error.next_step().map(str::to_owned),
            Self::Catalog(error) => Some(error.help()),
            Self::Analysis(error) => Some(error.help()),
            Self::Predict(error) => error.help(),
            Self::History(error) => Some(error.help().to_owned()),
            Self::BrokenPipe | Self::Verdict(_) => None,
            Self::Output { .. } => {
                Some("check that the folder exists and can be written to".to_owned())
            }
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage { message, .. } | Self::MissingBaseline { message, .. } => {
                f.write_str(message)
            }
            Self::Ingest(error) => error.fmt(f),
            Self::Catalog(error) => chain(error, f),
            Self::Analysis(error) => chain(error, f),
            Self::Predict(error) => chain(error, f),
            Self::History(error) => error.fmt(f),
            Self::BrokenPipe => f.write_str("broken pipe"),
            Self::Verdict(code) => write!(f, "exit code {code}"),
            Self::Output { path, cause } => write!(f, "{path}: cannot write: {}", plain::io(cause)),
        }
    }
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

impl From<crate::config::ConfigError> for Failure {
    fn from(error: crate::config::ConfigError) -> Self {
        Self::usage(error.to_string()).help(error.help().to_owned())
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
