//! The program: parse, run, exit code; nothing else.

use std::process::ExitCode;

fn main() -> ExitCode {
    rooflint::cli::watch();
    ExitCode::from(rooflint::cli::run(std::env::args_os()))
}
