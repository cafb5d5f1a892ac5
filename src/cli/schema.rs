//! `schema`: the JSON schema of a document or file.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};

use super::exit::Failure;
use super::output;
use super::problem;
use super::terminal::Terminal;
use crate::catalog;
use crate::compare;
use crate::config;
use crate::fleet;
use crate::history;
use crate::ingest;
use crate::report::{self, FORMATS, SchemaLine, SchemaList};

/// Print the JSON schema of a document or of a TOML file
#[derive(Debug, Args)]
pub(super) struct Schema {
    /// Choose the document or file
    #[arg(value_name = "NAME", default_value = "report", value_parser = names())]
    document: String,

    /// List the schemas
    #[arg(long, conflicts_with = "document")]
    list: bool,

    /// Set the format of the list
    #[arg(long, value_name = "FORMAT", requires = "list", value_parser = PossibleValuesParser::new(FORMATS.iter().map(|format| format.name)))]
    format: Option<String>,
}

/// A schema that can be printed.
struct Known {
    line: SchemaLine,
    text: fn() -> String,
}

const fn known(name: &'static str, describes: &'static str, text: fn() -> String) -> Known {
    Known { line: SchemaLine { name, describes }, text }
}

/// Every schema, documents first, then files.
const ALL: [Known; 22] = [
    known("report", "JSON of `analyze`", report::schema),
    known("inspection", "JSON of `inspect`", report::inspection_schema),
    known("calibration", "JSON of `calibrate`", report::calibration_schema),
    known("prediction", "JSON of `predict`", report::prediction_schema),
    known("step-prediction", "JSON of `predict --model`", report::step_prediction_schema),
    known("gate", "JSON of `gate` and `diff`", report::gate_schema),
    known("run", "runs saved by `baseline save`", compare::run_schema),
    known("trend", "JSON of `trend`", history::trend_schema),
    known("fleet", "JSON of `fleet`", report::fleet_schema),
    known("partial", "summaries of ranks by `summarize` and `merge`", fleet::partial_schema),
    known("partitions", "_rooflint.json of a folder by `convert`", fleet::manifest_schema),
    known("settings", "JSON of `config show`", report::settings_schema),
    known("known-devices", "JSON of `devices`", report::device_list_schema),
    known("rules", "JSON of `rules`", report::rule_list_schema),
    known("formats", "JSON of `formats`", report::format_list_schema),
    known("predictable-kernels", "JSON of `predict --list`", report::form_list_schema),
    known("baselines-list", "JSON of `baseline list`", report::baseline_list_schema),
    known("schemas", "JSON of `schema --list`", report::schema_list_schema),
    known("error", "errors with `--error-format json`", problem::schema),
    known("config", "rooflint.toml, and [tool.rooflint] of pyproject.toml", config::schema),
    known("mapping", "mappings, for `--map`", ingest::mapping_schema),
    known("devices", "device files, for `--devices`", catalog::schema),
];

fn names() -> PossibleValuesParser {
    let value = |one: &Known| PossibleValue::new(one.line.name).help(one.line.describes);
    PossibleValuesParser::new(ALL.iter().map(value))
}

pub(super) fn run(command: &Schema, terminal: &Terminal) -> Result<(), Failure> {
    if command.list {
        let asked = (&[][..], command.format.as_deref());
        let places = output::places_for(asked, report::NO_OWN, "format of lists")?;
        let lines = ALL.map(|one| one.line);
        return output::write(&places, &SchemaList(&lines), |style, _| style, terminal);
    }
    let chosen = ALL.iter().find(|one| one.line.name == command.document);
    terminal.print(&chosen.map(|one| (one.text)()).unwrap_or_default())
}
