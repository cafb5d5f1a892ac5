//! `sql`: the model as SQL.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;

use super::args::{Ceilings, Configuration};
use super::config::find;
use super::exit::{Code, Failure};
use super::terminal::Terminal;
use crate::config;
use crate::sql::{self, Engine, Limits};
use crate::table::Facts;
use crate::units::Seconds;

/// Print the model as SQL for DuckDB, Spark or DataFusion
#[derive(Debug, Args)]
pub(super) struct Sql {
    /// Choose the engine
    #[arg(long, value_name = "ENGINE", value_parser = PossibleValuesParser::new(Engine::ALL.map(Engine::key)))]
    engine: String,

    /// Read the tables from this folder; without it, tables launches, devices and names are expected
    #[arg(long, value_name = "FOLDER")]
    launches: Option<PathBuf>,

    /// Choose the ceilings; `auto`: each run has those of `analyze`
    #[arg(long, value_name = "SET", default_value = "auto")]
    ceilings: Ceilings,

    /// Minimum measured/roofline ratio to flag a kernel [default: 1.5; 2.0 for spec]
    #[arg(long, value_name = "H", allow_negative_numbers = true, value_parser = config::written_threshold)]
    threshold: Option<f64>,

    /// Minimum savings to flag a kernel [default: 50us, at most 5% of the run]
    #[arg(long, value_name = "TIME", value_parser = config::time)]
    min_savings: Option<Seconds>,

    /// Ignore savings below this fraction of the run, such as 1% [default: 1%]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, value_parser = config::written_min_share)]
    min_share: Option<f64>,

    #[command(flatten)]
    configuration: Configuration,
}

pub(super) fn run(command: &Sql, terminal: &Terminal) -> Result<(), Failure> {
    let engine = Engine::ALL.into_iter().find(|one| one.key() == command.engine);
    let engine = engine.unwrap_or(Engine::DuckDb);
    let ceilings = command.ceilings.set();
    let limits = find(&command.configuration, terminal)?.limits;
    let limits = Limits {
        threshold: command.threshold.or(limits.threshold),
        floor: command.min_savings.or(limits.min_savings).map(Seconds::get),
        floor_share: command
            .min_share
            .or(limits.min_share)
            .unwrap_or(Limits::default().floor_share),
    };
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
