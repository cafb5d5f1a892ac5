//! `sql`: the model as SQL.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;

use super::args::threshold;
use super::exit::{Code, Failure};
use super::terminal::Terminal;
use crate::analysis::CeilingSet;
use crate::sql::{self, Engine, Limits};
use crate::table::Facts;

/// Print the model as SQL for DuckDB, Spark or DataFusion
#[derive(Debug, Args)]
pub(super) struct Sql {
    /// Choose the engine
    #[arg(long, value_name = "ENGINE", value_parser = PossibleValuesParser::new(Engine::ALL.map(Engine::key)))]
    engine: String,

    /// Read the tables from this folder; without it, tables launches, devices and names are expected
    #[arg(long, value_name = "FOLDER")]
    launches: Option<PathBuf>,

    /// Choose the ceilings; without it, each run has those of `analyze`
    #[arg(long, value_name = "SET", value_parser = PossibleValuesParser::new(CeilingSet::ALL.map(CeilingSet::label)))]
    ceilings: Option<String>,

    /// Minimum measured/roofline ratio to flag a kernel
    #[arg(long, value_name = "H", value_parser = threshold)]
    threshold: Option<f64>,
}

pub(super) fn run(command: &Sql, terminal: &Terminal) -> Result<(), Failure> {
    let engine = Engine::ALL.into_iter().find(|one| one.key() == command.engine);
    let engine = engine.unwrap_or(Engine::DuckDb);
    let is_it = |set: &CeilingSet| Some(set.label()) == command.ceilings.as_deref();
    let ceilings = CeilingSet::ALL.into_iter().find(is_it);
    let limits = Limits { threshold: command.threshold, ..Limits::default() };
    let folder = command.launches.as_ref().map(|folder| folder.display().to_string());
    let facts = match &command.launches {
        #[cfg(feature = "frames")]
        Some(folder) if folder.exists() => crate::fleet::facts(folder)?,
        Some(folder) => {
            let message = format!(
                "{}: not read, so the text has every column of the launch table",
                folder.display()
            );
            terminal.note(Code::Input, &message);
            Facts::default()
        }
        None => Facts::default(),
    };
    let model = sql::Model { engine, ceilings, limits, folder: folder.as_deref(), facts };
    terminal.print(&model.text())
}
