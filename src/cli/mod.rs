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
mod config;
mod convert;
mod devices;
pub mod exit;
mod formats;
mod gate;
mod guesses;
mod held;
mod inspect;
#[cfg(feature = "page")]
mod learn;
mod line;
mod origin;
mod output;
mod predict;
mod progress;
mod reading;
mod rules;
mod schema;
mod session;
mod sides;
mod store;
mod terminal;
mod trend;
mod what_if;
mod yardstick;

use std::ffi::OsString;

use line::Misuse;
use terminal::Terminal;

/// Runs the program and returns its exit code.
#[must_use]
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    let typed = args::typed(arguments.iter().skip(1));
    let early = line::early(&arguments);
    let terminal = Terminal::new(&early, String::new());
    let failed = |failure: &exit::Failure, terminal: &Terminal| {
        terminal.fail(failure);
        failure.code()
    };
    let cli = match line::parsed(&mut arguments, early.width) {
        Ok(cli) => cli,
        Err(Misuse::Failure(failure)) => return failed(&failure, &terminal),
        Err(Misuse::Refused(error)) => {
            // Help and version go to standard output with success, misuse to standard error.
            terminal.show(&error);
            return if error.use_stderr() { exit::USAGE } else { exit::DONE };
        }
    };
    let terminal = Terminal::new(&cli.terminal, typed);
    cli.command.run(&terminal).map_or_else(|failure| failed(&failure, &terminal), |()| exit::DONE)
}
