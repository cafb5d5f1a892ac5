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
#[cfg(feature = "frames")]
mod fleet;
mod formats;
mod gate;
mod guesses;
mod held;
mod inspect;
#[cfg(feature = "page")]
mod learn;
mod line;
mod man;
mod mcp;
mod origin;
mod output;
mod predict;
mod problem;
mod progress;
mod reading;
mod rules;
mod schema;
mod session;
mod settings;
mod sides;
mod store;
#[cfg(feature = "frames")]
mod summarize;
mod terminal;
mod trend;
mod what_if;
mod yardstick;

use std::ffi::OsString;

use exit::Failure;
use terminal::Terminal;

/// Runs the program and returns its exit code.
#[must_use]
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let typed = args::typed(arguments.iter().skip(1));
    let early = line::early(&arguments);
    let (terminal, done) = match line::understood(arguments, early.width) {
        Ok(cli) => {
            let terminal = Terminal::new(&cli.terminal, typed);
            let done = cli.run(&terminal, again);
            (terminal, done)
        }
        Err(failure) => (Terminal::new(&early, typed), Err(failure)),
    };
    match done {
        Ok(()) => exit::DONE,
        Err(failure) => {
            terminal.fail(&failure);
            failure.exit_code()
        }
    }
}

/// Runs a command for another one, as if it were typed.
fn again(words: Vec<OsString>, terminal: &Terminal) -> Result<(), Failure> {
    line::understood(words, None)?.run(terminal, again)
}
