//! `learn`: a page that teaches the roofline model.

use std::path::PathBuf;

use clap::Args;

use super::catalog;
use super::exit::{Code, Failure};
use super::terminal::Terminal;
use crate::model::DeviceHint;
use crate::report::{self, LearnError};

/// Write an interactive roofline tutorial
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  rooflint learn -o learn.html
  rooflint learn -o learn.html --device 'RTX 4090'
  rooflint learn -o - > learn.html")]
pub(super) struct Learn {
    /// Write to this .html file, or `-` for standard output
    #[arg(short = 'o', long = "output", value_name = "PATH")]
    path: Option<PathBuf>,

    /// Start with this GPU
    #[arg(long, value_name = "NAME", default_value = "H100 SXM5 80GB")]
    device: String,

    /// Add devices from a TOML file
    #[arg(long, value_name = "FILE")]
    devices: Vec<PathBuf>,
}

pub(super) fn run(command: &Learn, terminal: &Terminal) -> Result<(), Failure> {
    let Some(path) = &command.path else {
        return Err(Failure::usage("no file is named to write the page to")
            .help("rooflint learn -o learn.html, or `-o -` for the standard output"));
    };
    let is_page = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("html"));
    if path.as_os_str() != "-" && !is_page {
        return Err(Failure::usage(format!("{}: the tutorial is a page", path.display()))
            .help("give a file that ends in .html, or `-` for the standard output"));
    }
    let catalog = catalog::load(&command.devices)?;
    let device = catalog.find(&command.device, &DeviceHint::default())?;
    let page = report::learn(&catalog, Some(&device)).map_err(|error| match error {
        LearnError::Catalog(error) => Failure::from(error),
        LearnError::Sms { .. } | LearnError::Predict { .. } => Failure::usage(error.to_string())
            .help(format!("`rooflint devices '{}'` shows what is known of it", device.name)),
    })?;
    for line in report::left_out_of_learn(&catalog)? {
        terminal.note(Code::Configuration, &line);
    }
    terminal.write(path, page.as_bytes())
}
