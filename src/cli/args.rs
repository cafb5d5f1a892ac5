//! Options that several commands share, and the command as it was typed. No command is named here.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};

use super::held::Held;
use crate::analysis::CeilingSet;
use crate::config;
use crate::ingest::{DecimalSign, FORMATS};
use crate::plain;
use crate::units::Seconds;

#[derive(Debug, Args)]
#[command(next_help_heading = "Terminal")]
pub(super) struct Terminal {
    /// Use colors; `auto` follows the terminal, `NO_COLOR` and `FORCE_COLOR`
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_short_help = true
    )]
    pub(super) color: Color,

    /// Print ASCII characters only
    #[arg(long, global = true, hide_short_help = true)]
    pub(super) ascii: bool,

    /// Print only the verdict; twice, print no text at all
    #[arg(short = 'q', long, global = true, action = clap::ArgAction::Count, hide_short_help = true)]
    pub(super) quiet: u8,

    /// Fit text into this many columns instead of the terminal's width
    #[arg(long, global = true, value_name = "COLUMNS", value_parser = clap::value_parser!(u16).range(40..), hide_short_help = true)]
    pub(super) width: Option<u16>,

    /// Print errors as text, or as one JSON object per line
    #[arg(
        long,
        global = true,
        value_name = "FORMAT",
        default_value = "text",
        hide_short_help = true
    )]
    pub(super) error_format: ErrorFormat,

    /// Print everything: whole lists, and what was considered before an error
    #[arg(short = 'v', long, global = true, hide_short_help = true)]
    pub(super) verbose: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ErrorFormat {
    /// For people
    Text,
    /// For programs: schema `rooflint/error/1`
    Json,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Reading")]
pub(super) struct Reading {
    /// Profiler exports: files, folders, quoted patterns, or `-` for standard input
    #[arg(value_name = "FILE", required = true)]
    pub(super) files: Vec<PathBuf>,

    /// Force the input format
    #[arg(long, value_name = "FORMAT", value_parser = PossibleValuesParser::new(FORMATS.iter().map(|format| format.name)), conflicts_with = "map")]
    pub(super) from: Option<String>,

    /// Read any table, CSV or JSON, with its columns named in this TOML file; or the name of a built-in mapping
    #[arg(long, value_name = "MAPPING")]
    pub(super) map: Option<PathBuf>,

    /// Read Nsight Compute reports (.ncu-rep) through the `ncu` on the path
    #[arg(long, conflicts_with_all = ["from", "map"])]
    pub(super) with_ncu: bool,

    /// Set the decimal sign of numbers, if the file leaves it open
    #[arg(long, value_name = "SIGN")]
    pub(super) decimal_sign: Option<Sign>,

    /// Fail on the first unreadable record instead of skipping it
    #[arg(long)]
    pub(super) strict: bool,

    /// Number of threads that read; 0: one per core. Results do not depend on it
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(super) threads: usize,

    /// What another program has in memory; none on the command line
    #[arg(skip)]
    pub(super) held: Option<Arc<Held>>,

    /// Whether damaged exports of a folder are errors: what is made of the rest does not say that it is not whole
    #[arg(skip)]
    pub(super) whole: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Sign {
    /// `1.5`; commas group digits
    #[value(alias = ".")]
    Point,
    /// `1,5`; points group digits
    #[value(alias = ",")]
    Comma,
}

impl Sign {
    pub(super) fn decimal(self) -> DecimalSign {
        match self {
            Self::Point => DecimalSign::Point,
            Self::Comma => DecimalSign::Comma,
        }
    }
}

/// The device and the roofs that launches are compared with.
#[derive(Debug, Args)]
#[command(next_help_heading = "Model")]
pub(super) struct Roofs {
    /// Set the GPU, if the export does not name it or names it wrong
    #[arg(long, value_name = "NAME")]
    pub(super) device: Option<String>,

    /// Add devices from a TOML file
    #[arg(long, value_name = "FILE")]
    pub(super) devices: Vec<PathBuf>,

    /// Choose the roofs to compare with; `auto`: at measured clocks if available
    #[arg(long, value_name = "SET", default_value = "auto")]
    pub(super) ceilings: Ceilings,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Model")]
pub(super) struct Model {
    #[command(flatten)]
    pub(super) roofs: Roofs,

    /// Minimum measured/roofline ratio to flag a kernel [default: 1.5; 2.0 for spec]
    #[arg(long, value_name = "H", allow_negative_numbers = true, value_parser = config::written_threshold)]
    pub(super) threshold: Option<f64>,

    /// Minimum savings to flag a kernel [default: 50us, at most 5% of the run]
    #[arg(long, alias = "min-win", value_name = "TIME", value_parser = config::time)]
    pub(super) min_savings: Option<Seconds>,

    /// Ignore savings below this fraction of the run, such as 1% [default: 1%]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, value_parser = config::written_min_share)]
    pub(super) min_share: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Ceilings {
    /// Measured clock if every launch has it, else the datasheet
    Auto,
    /// Datasheet peaks at the rated boost clock
    Spec,
    /// Peaks at the clock each launch ran at
    MeasuredClock,
    /// What published benchmarks reach
    Achievable,
}

impl Ceilings {
    pub(super) fn set(self) -> Option<CeilingSet> {
        match self {
            Self::Auto => None,
            Self::Spec => Some(CeilingSet::Spec),
            Self::MeasuredClock => Some(CeilingSet::MeasuredClock),
            Self::Achievable => Some(CeilingSet::Achievable),
        }
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Rules")]
pub(super) struct Configuration {
    /// Read this configuration [default: the nearest rooflint.toml, .rooflint.toml or pyproject.toml, here or above]
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,

    /// Ignore configuration files
    #[arg(long, conflicts_with = "config")]
    pub(super) no_config: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Rules")]
pub(super) struct Advice {
    #[command(flatten)]
    pub(super) configuration: Configuration,

    /// Run only these rules (comma-separated)
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub(super) select: Vec<String>,

    /// Skip these rules (comma-separated)
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub(super) ignore: Vec<String>,
}

/// How pictures look.
#[derive(Debug, Args)]
#[command(next_help_heading = "Pictures")]
pub(super) struct Picture {
    /// Set the size of pictures in pixels, or their width alone [default: 960 wide, as high as needed]
    #[arg(long, value_name = "WIDTH[xHEIGHT]", value_parser = size, hide_short_help = true)]
    pub(super) size: Option<(u32, Option<u32>)>,

    /// Use a light or dark background for pictures [default: light]
    #[arg(long, value_name = "THEME", hide_short_help = true)]
    pub(super) theme: Option<Theme>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Theme {
    Light,
    Dark,
}

impl Picture {
    /// The options, and which were given.
    pub(super) fn given(&self) -> [(&'static str, bool); 2] {
        [("--size", self.size.is_some()), ("--theme", self.theme.is_some())]
    }
}

#[cfg(feature = "plot")]
impl Picture {
    /// The canvas that is asked for.
    pub(super) fn canvas(&self) -> crate::report::Canvas {
        let default = crate::report::Canvas::default();
        let (width, height) = self.size.unwrap_or((default.width, default.height));
        crate::report::Canvas { width, height, dark: self.theme == Some(Theme::Dark) }
    }
}

/// A size such as `960x640`, or a width alone.
fn size(text: &str) -> Result<(u32, Option<u32>), String> {
    let side = |side: &str| side.trim().parse::<u32>().ok();
    let sides = match text.split_once(['x', '×']) {
        Some((width, height)) => side(width).zip(side(height).map(Some)),
        None => side(text).map(|width| (width, None)),
    };
    let fits = |side: &u32| (240..=8192).contains(side);
    match sides {
        Some((width, height)) if fits(&width) && height.as_ref().is_none_or(fits) => {
            Ok((width, height))
        }
        Some(_) => Err("each side is 240 to 8192 pixels".to_owned()),
        None => Err("write for example 960x640, or 960 for a width".to_owned()),
    }
}

/// The options with which an export is read again, and its device.
pub(super) fn reading_again(reading: &Reading, model: &Model) -> String {
    let path = |path: &PathBuf| path.display().to_string();
    let mut options = Vec::new();
    let mut add = |name: &str, value: Option<String>| {
        options.extend(value.map(|value| format!("{name} {}", plain::quoted(&value))));
    };
    add("--from", reading.from.clone());
    add("--map", reading.map.as_ref().map(path));
    add("--device", model.roofs.device.clone());
    for file in &model.roofs.devices {
        add("--devices", Some(path(file)));
    }
    options.join(" ")
}

/// The name of a run, which is that of a folder in a partitioned launch table.
pub(super) fn run_name(text: &str) -> Result<String, String> {
    let is_name = crate::fleet::is_run_name(text);
    let wrong = "not the name of a run; use letters, digits, `.`, `_`, `+` and `-`";
    is_name.then(|| text.to_owned()).ok_or_else(|| wrong.to_owned())
}

/// The command as it would be typed again, whatever the program's path is.
pub(super) fn typed<'a>(arguments: impl Iterator<Item = &'a OsString>) -> String {
    let quoted = arguments.map(|argument| plain::quoted(&argument.to_string_lossy()));
    std::iter::once("rooflint".to_owned()).chain(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_typed_again() {
        let words = ["run 1.csv", "--kernel", "#1", "-o", "a.html", "it's", ""];
        let typed = typed(words.map(OsString::from).iter());
        assert_eq!(typed, r"rooflint 'run 1.csv' --kernel '#1' -o a.html 'it'\''s' ''");
    }
}
