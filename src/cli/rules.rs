//! `rules`: the list, the documentation of one, or what custom rules can ask.

use clap::Args;
use clap::builder::PossibleValuesParser;

use super::args::Configuration;
use super::config::{find, no_rule};
use super::exit::Failure;
use super::listing::Listing;
use super::output::Outputs;
use super::terminal::Terminal;
use crate::rules::{self, Over};

/// List the rules that find causes, or document one
#[derive(Debug, Args)]
pub(super) struct Rules {
    /// Show this rule
    id: Option<String>,

    /// List the columns that custom rules can use, of kernels or launches
    #[arg(long, value_name = "OVER", num_args = 0..=1, default_missing_value = "kernels", value_parser = PossibleValuesParser::new(Over::ALL.map(Over::key)), conflicts_with = "id")]
    columns: Option<String>,

    #[command(flatten)]
    configuration: Configuration,

    #[command(flatten)]
    outputs: Outputs,
}

pub(super) fn run(command: &Rules, terminal: &Terminal) -> Result<(), Failure> {
    let places = command.outputs.places("format of rules")?;
    found(command, terminal)?.write(&places, terminal)
}

/// The rules, one of them, or the columns that they can use.
pub(super) fn found(command: &Rules, terminal: &Terminal) -> Result<Listing, Failure> {
    if let Some(over) = &command.columns {
        let over = Over::ALL.into_iter().find(|one| one.key() == over).unwrap_or_default();
        return Ok(Listing::Page(rules::columns_page(over)));
    }
    let custom = find(&command.configuration, terminal)?.rules.custom;
    let Some(id) = &command.id else { return Ok(Listing::Rules(custom)) };
    let built_in = rules::rule(id).map(rules::Rule::page);
    let own = || Some(custom.iter().find(|rule| rule.id == *id)?.page());
    built_in.or_else(own).map(Listing::Page).ok_or_else(|| no_rule(id, &custom))
}
