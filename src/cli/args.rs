//! Options that several commands share, and the command as it was typed. No command is named here.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};

use crate::analysis::CeilingSet;
use crate::config;
use crate::ingest::FORMATS;
use crate::units::Seconds;

#[derive(Debug, Args)]
#[command(next_help_heading = "Terminal")]
pub(super) struct Terminal {
    /// Colors; `auto` follows the terminal, `NO_COLOR`, `FORCE_COLOR`, `CLICOLOR` and `CLICOLOR_FORCE`
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_short_help = true
    )]
    pub(super) color: Color,

    /// Only ASCII characters
    #[arg(long, global = true, hide_short_help = true)]
    pub(super) ascii: bool,

    /// Columns to fit the text into, instead of the terminal's width
    #[arg(long, global = true, value_name = "COLUMNS", value_parser = clap::value_parser!(u16).range(40..), hide_short_help = true)]
    pub(super) width: Option<u16>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Reading")]
pub(super) struct Reading {
    /// Exports: files, directories, patterns, `-` for standard input
    #[arg(value_name = "FILE", required = true)]
    pub(super) files: Vec<PathBuf>,

    /// Read as this format, whatever the content looks like
    #[arg(long, value_name = "FORMAT", value_parser = PossibleValuesParser::new(FORMATS.iter().map(|format| format.name)), conflicts_with = "map")]
    pub(super) from: Option<String>,

    /// Read as a CSV whose columns this TOML file names
    #[arg(long, value_name = "MAPPING")]
    pub(super) map: Option<PathBuf>,

    /// Stop at the first record that cannot be used, instead of counting it
    #[arg(long)]
    pub(super) strict: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Model")]
pub(super) struct Model {
    /// The GPU, where the export does not name it (or to overrule it)
    #[arg(long, value_name = "NAME")]
    pub(super) device: Option<String>,

    /// Your own devices, in a TOML file
    #[arg(long, value_name = "FILE")]
    pub(super) devices: Vec<PathBuf>,

    /// Which roofs to compare with; `auto` takes the measured clock if every launch has it
    #[arg(long, value_name = "SET", default_value = "auto")]
    pub(super) ceilings: Ceilings,

    /// Headroom from which a kernel is an opportunity [default: 2.0 for spec, else 1.5]
    #[arg(long, value_name = "H", value_parser = threshold)]
    pub(super) threshold: Option<f64>,

    /// Smallest time to win that makes an opportunity, beside the share
    /// [default: 50us, and at most 5% of the run]
    #[arg(long, value_name = "TIME", value_parser = config::time)]
    pub(super) min_win: Option<Seconds>,

    /// Share of the run below which a win is noise [default: 0.01]
    #[arg(long, value_name = "SHARE", value_parser = min_share)]
    pub(super) min_share: Option<f64>,
}

fn threshold(text: &str) -> Result<f64, String> {
    config::threshold(text.parse().map_err(|_| "not a number".to_owned())?)
}

fn min_share(text: &str) -> Result<f64, String> {
    config::min_share(text.parse().map_err(|_| "not a number".to_owned())?)
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
    /// Rules, limits, groups, waivers and kernel names of your own [default: rooflint.toml here or in a folder above]
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,

    /// Read no configuration
    #[arg(long, conflicts_with = "config")]
    pub(super) no_config: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Rules")]
pub(super) struct Advice {
    #[command(flatten)]
    pub(super) configuration: Configuration,

    /// Run only these rules, separated by commas
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub(super) select: Vec<String>,

    /// Leave out these rules, separated by commas
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub(super) ignore: Vec<String>,
}

/// How pictures look.
#[derive(Debug, Args)]
#[command(next_help_heading = "Pictures")]
pub(super) struct Picture {
    /// Size of pictures, in pixels [default: 960 wide, as high as needed]
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = size, hide_short_help = true)]
    pub(super) size: Option<(u32, u32)>,

    /// Light or dark ground of pictures
    #[arg(long, value_name = "THEME", default_value = "light", hide_short_help = true)]
    pub(super) theme: Theme,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Theme {
    Light,
    Dark,
}

#[cfg(feature = "plot")]
impl Picture {
    /// The canvas that is asked for.
    pub(super) fn canvas(&self) -> crate::report::Canvas {
        let default = crate::report::Canvas::default();
        let (width, height) = match self.size {
            Some((width, height)) => (width, Some(height)),
            None => (default.width, default.height),
        };
        crate::report::Canvas { width, height, dark: self.theme == Theme::Dark }
    }
}

/// A size such as `960x640`.
fn size(text: &str) -> Result<(u32, u32), String> {
    let sides = text.split_once(['x', '×']).and_then(|(width, height)| {
        Some((width.trim().parse().ok()?, height.trim().parse().ok()?))
    });
    let fits = |side: &u32| (240..=8192).contains(side);
    match sides {
        Some((width, height)) if fits(&width) && fits(&height) => Ok((width, height)),
        Some(_) => Err("each side is 240 to 8192 pixels".to_owned()),
        None => Err("write for example 960x640".to_owned()),
    }
}

/// The command as it would be typed again, whatever the program's path is.
pub(super) fn typed(arguments: impl Iterator<Item = std::ffi::OsString>) -> String {
    let quoted = arguments.map(|argument| {
        let text = argument.to_string_lossy().into_owned();
        let is_plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%#~".contains(c);
        // A shell takes a word that begins with a number sign for a comment.
        if !text.is_empty() && text.chars().all(is_plain) && !text.starts_with('#') {
            text
        } else {
            format!("'{}'", text.replace('\'', r"'\''"))
        }
    });
    std::iter::once("rooflint".to_owned()).chain(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_typed_again() {
        let words = ["run 1.csv", "--kernel", "#1", "-o", "a.html", "it's", ""];
        let typed = typed(words.iter().map(std::ffi::OsString::from));
        assert_eq!(typed, r"rooflint 'run 1.csv' --kernel '#1' -o a.html 'it'\''s' ''");
    }
}
