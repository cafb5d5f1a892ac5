//! The command line: the only part that knows clap, the terminal, and exit codes.

mod analyze;
mod anchor;
mod apart;
mod args;
mod baseline;
mod calibrate;
pub mod call;
mod catalog;
mod clock;
mod commands;
mod completions;
mod config;
mod convert;
mod devices;
mod environment;
pub mod exit;
mod fleet;
mod formats;
mod gate;
mod guesses;
mod held;
mod help;
mod inspect;
#[cfg(unix)]
mod interrupt;
#[cfg(feature = "page")]
mod learn;
mod line;
mod listing;
mod man;
mod mcp;
#[cfg(feature = "frames")]
mod nights;
mod origin;
mod output;
mod predict;
mod problem;
mod progress;
mod reading;
mod rules;
mod schema;
mod self_test;
mod session;
mod settings;
mod sides;
mod sql;
mod store;
mod summarize;
mod terminal;
mod trend;
mod trend_limits;
mod what_if;
mod yardstick;

use std::ffi::OsString;

use clap::CommandFactory;

use commands::{Cli, Command};
use exit::Failure;
use terminal::Terminal;

/// Lets no part of an output stay behind an interrupt. For a process that is the program's own.
pub fn watch() {
    #[cfg(unix)]
    interrupt::watch();
}

/// Runs the program and returns its exit code.
#[must_use]
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let typed = args::typed(arguments.iter().skip(1));
    let early = line::early(&arguments);
    let (terminal, done) = match line::understood(arguments, early.width) {
        Ok(cli) => {
            let terminal = Terminal::new(&cli.terminal, typed);
            let done =
                perform(&cli, &terminal).map_err(|failure| failure.of_variables(&cli.environment));
            (terminal, done)
        }
        Err(failure) => {
            let terminal = Terminal::new(&early, typed);
            let done = terminal.answer(failure);
            (terminal, done)
        }
    };
    match done {
        Ok(()) => exit::DONE,
        Err(failure) => {
            terminal.fail(&failure);
            failure.exit_code()
        }
    }
}

/// Runs the command.
fn perform(cli: &Cli, terminal: &Terminal) -> Result<(), Failure> {
    match &cli.command {
        Command::Analyze(command) => analyze::files(command, terminal),
        Command::Inspect(command) => inspect::run(command, terminal),
        Command::Convert(command) => convert::run(command, terminal),
        Command::Predict(command) => predict::run(command, terminal),
        Command::Gate(command) => gate::gate(command, terminal),
        Command::Diff(command) => gate::diff(command, terminal),
        Command::Calibrate(command) => calibrate::run(command, terminal),
        Command::Baseline(command) => baseline::run(command, terminal),
        Command::Trend(command) => trend::run(command, terminal),
        Command::Fleet(command) => fleet::run(command, terminal),
        Command::Summarize(command) => summarize::summarize(command, terminal),
        Command::Merge(command) => summarize::merge(command, terminal),
        #[cfg(feature = "page")]
        Command::Learn(command) => learn::run(command, terminal),
        Command::Devices(command) => devices::run(command, terminal),
        Command::Formats(command) => formats::run(command, terminal),
        Command::Rules(command) => rules::run(command, terminal),
        Command::Demo(command) => analyze::demo(command, terminal),
        Command::Config(command) => settings::run(command, &cli.environment, terminal),
        Command::Schema(command) => schema::run(command, terminal),
        Command::Completions(command) => completions::run(command, Cli::command(), terminal),
        Command::Sql(command) => sql::run(command, terminal),
        Command::Man(command) => man::run(command, Cli::command(), terminal),
        Command::Mcp => mcp::run(),
    }
}
