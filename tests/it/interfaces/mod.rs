//! What shells, editors, programs and assistants get: completions, manual pages, settings, errors, schemas, tools.

mod assistant;
mod machine;
mod settings;
mod shell;

use std::path::Path;
use std::process::Command;

/// What a run of the program printed.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs the program in a folder with nothing but these variables.
pub(crate) fn run_in(folder: &Path, variables: &[(&str, &str)], arguments: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rooflint"));
    command.args(arguments).current_dir(folder).env_clear().envs(variables.iter().copied());
    let output = command.output().unwrap();
    Run {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

pub(crate) fn run(arguments: &[&str]) -> Run {
    run_in(root(), &[], arguments)
}
