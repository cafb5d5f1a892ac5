//! Reports of Nsight Compute through the profiler's own reader, where the user asks for it: `ncu --import` prints
//! the raw page.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::{self, JoinHandle};

use super::Options;
use super::error::Fault;
use super::steps::{IMPORT, filled};
use crate::plain;

/// The next step for a report that cannot be read: the option, and the command that makes a readable export.
pub(super) fn help(path: &str) -> String {
    let command = filled(IMPORT, path);
    if path.starts_with('<') {
        return command;
    }
    let file = plain::quoted(path);
    format!("with Nsight Compute at hand: rooflint {file} --with-ncu, or {command}")
}

/// What reports begin with.
pub(super) const REPORT: &[u8; 4] = b"NVR\0";

/// What `ncu` prints of a report; `None` if the file is not a report, or the user did not ask for it.
pub(super) fn of(path: &Path, options: &Options) -> Option<Result<Imported, Fault>> {
    if !options.with_ncu || !is_report(path) {
        return None;
    }
    Some(Imported::start(path).map_err(|error| {
        let path = path.display().to_string();
        let (message, help): (_, Cow<'static, str>) = if error.kind() == io::ErrorKind::NotFound {
            let command = filled(IMPORT, &path);
            let help = format!("leave out --with-ncu, or where Nsight Compute is: {command}");
            ("`ncu` is not on the path".to_owned(), help.into())
        } else {
            (format!("cannot run `ncu`: {}", plain::io(&error)), "leave out --with-ncu".into())
        };
        Fault { message, help, is_missing: false, is_foreign: false }
    }))
}

/// Whether a file begins as reports do.
fn is_report(path: &Path) -> bool {
    let mut head = [0; REPORT.len()];
    // Opening a pipe would take from it what is to be read.
    path.is_file()
        && File::open(path).is_ok_and(|mut file| file.read_exact(&mut head).is_ok())
        && head == *REPORT
}

/// The output of `ncu` while it runs.
pub(super) struct Imported {
    ncu: Child,
    output: ChildStdout,
    /// Collects its messages, which it would else wait to be rid of.
    messages: Option<JoinHandle<String>>,
}

impl Imported {
    fn start(path: &Path) -> io::Result<Self> {
        // A name that begins with a dash would be taken for an option.
        let path = if path.is_relative() { Path::new(".").join(path) } else { path.to_owned() };
        let mut ncu = Command::new("ncu")
            .arg("--import")
            .arg(path)
            .args(["--csv", "--page", "raw", "--print-units", "base"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let (Some(output), Some(mut errors)) = (ncu.stdout.take(), ncu.stderr.take()) else {
            return Err(io::Error::other("it has no output"));
        };
        let messages = thread::spawn(move || {
            let mut all = Vec::new();
            let _ = errors.read_to_end(&mut all);
            let text = String::from_utf8_lossy(&all);
            let last = text.lines().rev().map(str::trim).find(|line| !line.is_empty());
            last.unwrap_or_default().to_owned()
        });
        Ok(Self { ncu, output, messages: Some(messages) })
    }
}

impl Read for Imported {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.output.read(buffer)?;
        if read > 0 || buffer.is_empty() {
            return Ok(read);
        }
        let status = self.ncu.wait()?;
        if status.success() {
            return Ok(0);
        }
        let said = self.messages.take().and_then(|messages| messages.join().ok());
        let said = said.filter(|said| !said.is_empty()).map(|said| format!(" ({said})"));
        Err(io::Error::other(format!(
            "`ncu --import` failed: {status}{}",
            said.unwrap_or_default()
        )))
    }
}

impl Drop for Imported {
    fn drop(&mut self) {
        // Where reading stopped before its end, nobody waits for the rest.
        let _ = self.ncu.kill();
        let _ = self.ncu.wait();
    }
}
