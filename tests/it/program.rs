//! The whole program, run with arguments as a user gives them.

use std::process::Command;

pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rooflint"));
    command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).env_clear();
    command
}

pub(crate) fn finish(mut command: Command) -> Run {
    let output = command.output().unwrap();
    Run {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

pub(crate) fn run(arguments: &[&str]) -> Run {
    finish(command(arguments))
}
