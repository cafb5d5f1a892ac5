//! `schema`: the JSON schema of a document.

use clap::{Args, ValueEnum};

use super::exit::Failure;
use super::terminal::Terminal;
use crate::config;
use crate::report;

/// Print the JSON schema of a report, prediction or configuration
#[derive(Debug, Args)]
pub(super) struct Schema {
    /// Choose the document
    #[arg(value_name = "DOCUMENT", default_value = "report")]
    document: Document,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Document {
    /// `analyze … --format json`
    Report,
    /// `predict KERNEL … --format json`
    Prediction,
    /// `predict --model FILE … --format json`
    StepPrediction,
    /// `gate` and `diff`, as JSON
    Gate,
    /// `rooflint.toml`
    Config,
}

pub(super) fn run(command: &Schema, terminal: &Terminal) -> Result<(), Failure> {
    terminal.print(&match command.document {
        Document::Report => report::schema(),
        Document::Prediction => report::prediction_schema(),
        Document::StepPrediction => report::step_prediction_schema(),
        Document::Gate => report::gate_schema(),
        Document::Config => config::schema(),
    })
}
