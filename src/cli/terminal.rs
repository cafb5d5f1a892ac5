//! Standard output and error: color, width, broken pipes, files that appear whole or not at all.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use anstream::{AutoStream, ColorChoice};

use super::args;
use super::exit::Failure;
use crate::report::Style;

/// What is known of the terminal, and how the user wants it used.
pub(super) struct Terminal {
    style: Style,
    quiet: u8,
    stderr_color: bool,
}

impl Terminal {
    pub(super) fn new(options: &args::Terminal) -> Self {
        let stdout = io::stdout();
        let color = |auto: ColorChoice| match options.color {
            args::Color::Always => true,
            args::Color::Never => false,
            args::Color::Auto => match auto {
                ColorChoice::Never => forced(),
                _ => true,
            },
        };
        // The terminal is asked once, when text is drawn for it.
        let width = options.width.map(usize::from).or_else(|| {
            if !stdout.is_terminal() {
                return None;
            }
            let seen = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
            seen.or_else(|| std::env::var("COLUMNS").ok()?.parse().ok()).or(Some(80))
        });
        Self {
            style: Style {
                width,
                color: color(AutoStream::choice(&stdout)),
                ascii: options.ascii || !utf8_locale(),
                full_names: false,
                full: false,
                limit: None,
            },
            quiet: options.quiet,
            stderr_color: color(AutoStream::choice(&io::stderr())),
        }
    }

    /// The style for text on standard output.
    pub(super) fn style(&self) -> Style {
        self.style
    }

    /// How much of the text on standard output is left out: all but the verdict, or all of it.
    pub(super) fn quiet(&self) -> u8 {
        self.quiet
    }

    /// Writes to standard output.
    #[expect(
        clippy::unused_self,
        reason = "output goes through the terminal, whatever it needs to know"
    )]
    pub(super) fn print(&self, text: &str) -> Result<(), Failure> {
        put(text.as_bytes())
    }

    /// Writes a file that appears whole or not at all; `-` is standard output.
    #[expect(
        clippy::unused_self,
        reason = "output goes through the terminal, whatever it needs to know"
    )]
    pub(super) fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), Failure> {
        if path.as_os_str() == "-" {
            return put(bytes);
        }
        let failed = |cause| Failure::Output { path: path.display().to_string(), cause };
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        file.write_all(bytes).map_err(failed)?;
        allow_reading(file.path()).map_err(failed)?;
        file.persist(path).map_err(|error| failed(error.error))?;
        Ok(())
    }

    /// Reports a failure on standard error.
    pub(super) fn fail(&self, failure: &Failure) {
        if matches!(failure, Failure::BrokenPipe | Failure::Verdict(_)) {
            return;
        }
        let paint = |code: &str, text: &str| {
            if self.stderr_color {
                format!("\u{1b}[{code}m{text}\u{1b}[0m")
            } else {
                text.to_owned()
            }
        };
        let mut text = format!(
            "{} {}\n",
            paint("1;31", "error:"),
            crate::report::printable_lines(&failure.to_string())
        );
        if let Some(help) = failure.next_step() {
            text.push_str(&format!(
                "{} {}\n",
                paint("1;36", "help:"),
                crate::report::printable_lines(&help)
            ));
        }
        // Nothing is left to do if standard error is gone.
        let _ = io::stderr().write_all(text.as_bytes());
    }
}

/// Temporary files are private; an output is as readable as any other file of the user.
#[cfg(unix)]
fn allow_reading(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn allow_reading(_: &Path) -> io::Result<()> {
    Ok(())
}

/// `FORCE_COLOR` is Node's convention and not known to anstream; `NO_COLOR` is stronger.
fn forced() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !set("NO_COLOR")
        && std::env::var_os("FORCE_COLOR").is_some_and(|value| !value.is_empty() && value != "0")
}

/// Whether the locale can show more than ASCII; one that is not set at all is taken to.
fn utf8_locale() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    locale.is_none_or(|locale| {
        let locale = locale.to_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

/// Writes to the standard output.
fn put(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Failure::BrokenPipe),
        Err(cause) => Err(Failure::Output { path: "<stdout>".to_owned(), cause }),
    }
}
