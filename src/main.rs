//! The program: parse, run, exit code; nothing else.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(rooflint::cli::run(std::env::args_os()))
}
