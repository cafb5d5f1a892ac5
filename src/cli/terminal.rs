//! Standard output and error: color, links, width, broken pipes, files that appear whole or not at all.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anstream::{AutoStream, ColorChoice};

use super::exit::{Code, Failure};
use super::problem::Problem;
use super::{args, help};
use crate::plain;
use crate::report::Style;
use crate::unfinished::Unfinished;

/// What is known of the terminal, and how the user wants it used.
pub(super) struct Terminal {
    style: Style,
    /// The width that was asked for.
    asked_width: Option<usize>,
    quiet: u8,
    stderr_color: bool,
    verbose: bool,
    /// Whether errors are for programs.
    json_errors: bool,
    /// The command as it would be typed again.
    command: String,
    /// Whether standard output and error are this program's; else they are the caller's.
    is_own: bool,
}

impl Terminal {
    /// The terminal of a command, which would be typed again as `command`.
    pub(super) fn new(options: &args::Terminal, command: String) -> Self {
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
        let is_colored = color(AutoStream::choice(&stdout));
        Self {
            style: Style {
                width,
                color: is_colored,
                // Who wants no escape sequences wants no links; FORCE_HYPERLINK decides for the others.
                links: is_colored && supports_hyperlinks::on(supports_hyperlinks::Stream::Stdout),
                ascii: options.ascii || !utf8_locale(),
                full_names: false,
                full: false,
                limit: None,
                verbose: options.verbose,
            },
            asked_width: options.width.map(usize::from),
            quiet: options.quiet,
            stderr_color: color(AutoStream::choice(&io::stderr())),
            verbose: options.verbose,
            json_errors: options.error_format == args::ErrorFormat::Json,
            command,
            is_own: true,
        }
    }

    /// A terminal that is another program's: nothing is said on it, and nothing printed.
    pub(super) fn silent(command: String) -> Self {
        Self {
            style: Style::default(),
            asked_width: None,
            quiet: 0,
            stderr_color: false,
            verbose: false,
            json_errors: false,
            command,
            is_own: false,
        }
    }

    /// The command as it would be typed again.
    pub(super) fn command(&self) -> &str {
        &self.command
    }

    /// The style for text on standard output.
    pub(super) fn style(&self) -> Style {
        self.style
    }

    /// How text is drawn in a file: as wide as it is, unless a width was asked for.
    pub(super) fn style_of_files(&self) -> Style {
        Style { width: self.asked_width, ..Style::default() }
    }

    /// How much of the text on standard output is left out: all but the verdict, or all of it.
    pub(super) fn quiet(&self) -> u8 {
        self.quiet
    }

    /// Writes what was done to standard output, unless no text is wanted there.
    pub(super) fn say(&self, text: &str) -> Result<(), Failure> {
        if self.quiet > 1 { Ok(()) } else { self.print(text) }
    }

    /// Writes to standard output.
    pub(super) fn print(&self, text: &str) -> Result<(), Failure> {
        self.write(Path::new("-"), text.as_bytes())
    }

    /// Writes a file that appears whole or not at all; `-` is standard output.
    ///
    /// A link stays a link, a pipe or device takes what is written, and the summary of a job grows: other
    /// steps wrote to it before.
    pub(super) fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), Failure> {
        self.stream(path, |to| to.write_all(bytes))
    }

    /// Writes a file as [`Terminal::write`] does, from what writes it part by part.
    pub(super) fn stream(
        &self,
        path: &Path,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        if path.as_os_str() == "-" {
            if self.is_own {
                return put(write);
            }
            return Err(Failure::usage("standard output is the calling program's")
                .help("give the path of a file"));
        }
        let failed = |cause| Failure::Output { path: path.display().to_string(), cause };
        if appends(path) || is_stream(path) {
            let mut file = open_to_append(path).map_err(failed)?;
            return buffered(&mut file, write).map_err(failed);
        }
        let path = &target(path);
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let make = || private_to_no_one().tempfile_in(folder);
        let (mut file, _unfinished) =
            Unfinished::making(make, |file| file.path()).map_err(failed)?;
        buffered(&mut file, write).map_err(failed)?;
        if let Ok(there) = std::fs::metadata(path) {
            std::fs::set_permissions(file.path(), there.permissions()).map_err(failed)?;
        }
        file.persist(path).map_err(|error| failed(error.error))?;
        Ok(())
    }

    /// Reports a failure on standard error.
    pub(super) fn fail(&self, failure: &Failure) {
        if matches!(failure, Failure::Verdict(_)) {
            return;
        }
        if let Some(problem) = Problem::of(failure).filter(|_| self.json_errors) {
            // Nothing is left to do if standard error is gone.
            let _ = io::stderr().write_all((problem.json() + "\n").as_bytes());
            return;
        }
        if let Failure::CommandLine(message) = failure {
            let text = self.rendered(message, self.stderr_color);
            // Nothing is left to do if standard error is gone.
            let _ = io::stderr().write_all(text.as_bytes());
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
        let considered = failure.considered();
        if self.verbose {
            for line in considered {
                text.push_str(&format!("  {}\n", crate::report::printable_lines(line)));
            }
        } else if !considered.is_empty() {
            text.push_str("note: what was considered: --verbose\n");
        }
        // Nothing is left to do if standard error is gone.
        let _ = io::stderr().write_all(self.style.adapted(text).as_bytes());
    }

    /// Says on standard error what did not end the command; nothing on a quiet terminal.
    pub(super) fn note(&self, code: Code, message: &str) {
        let line = if self.json_errors {
            Problem::note(code, message).json() + "\n"
        } else {
            self.style.adapted(format!("note: {}\n", crate::report::printable_lines(message)))
        };
        if self.is_own && self.quiet == 0 {
            let _ = io::stderr().write_all(line.as_bytes());
        }
    }

    /// Prints the help or the version, if that was asked for; any other failure stays one.
    pub(super) fn answer(&self, failure: Failure) -> Result<(), Failure> {
        match failure {
            Failure::CommandLine(asked) if !asked.use_stderr() => {
                self.print(&self.rendered(&asked, self.style.color))
            }
            failure => Err(failure),
        }
    }

    fn rendered(&self, message: &clap::Error, color: bool) -> String {
        let text = message.render();
        let text = if color { text.ansi().to_string() } else { text.to_string() };
        self.style.adapted(text.replace(help::NO_BREAK, " "))
    }
}

/// Files that grow by convention, by the variable that names them: what stands in them is of other steps.
const GROWING: [&str; 1] = ["GITHUB_STEP_SUMMARY"];

fn appends(path: &Path) -> bool {
    GROWING.iter().any(|name| std::env::var_os(name).is_some_and(|named| named == path.as_os_str()))
}

/// Whether a path is a pipe or a device, which cannot be replaced.
fn is_stream(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir())
}

fn open_to_append(path: &Path) -> io::Result<std::fs::File> {
    std::fs::OpenOptions::new().append(true).create(!is_stream(path)).open(path)
}

/// The file that a path leads to, through links.
pub(super) fn target(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    // As many as Linux follows.
    for _ in 0..40 {
        let Ok(next) = std::fs::read_link(&path) else { break };
        path = path.parent().unwrap_or(Path::new("")).join(next);
    }
    path
}

/// Temporary files are private; an output is as readable as the user's umask says.
fn private_to_no_one() -> tempfile::Builder<'static, 'static> {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "permissions are set where there are any"))]
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder
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

/// Lets through what is written in large parts; all of it, or an error.
fn buffered(
    to: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut to = io::BufWriter::with_capacity(1 << 16, to);
    write(&mut to)?;
    to.flush()
}

/// Writes to the standard output.
fn put(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    match buffered(&mut io::stdout().lock(), write) {
        Ok(()) => Ok(()),
        // Who reads has enough. Other outputs are wanted all the same, and so is the verdict.
        Err(error) if plain::is_closed_pipe(&error) => Ok(()),
        Err(cause) => Err(Failure::stdout(cause)),
    }
}
