//! `devices`: the catalog, or one device with every figure, its source, and its ridge points.

use std::path::PathBuf;

use clap::Args;

use super::catalog;
use super::exit::Failure;
use super::output::{self, Outputs};
use super::terminal::Terminal;
use crate::catalog::Device;
use crate::model::DeviceHint;
use crate::report::{DeviceList, DevicePage};

/// The catalog of devices, or one of them with every figure and its source
#[derive(Debug, Args)]
pub(super) struct Devices {
    /// One device, by any of its names
    name: Option<String>,

    /// Your own devices, in a TOML file
    #[arg(long = "devices", value_name = "FILE")]
    files: Vec<PathBuf>,

    #[command(flatten)]
    outputs: Outputs,
}

pub(super) fn run(command: &Devices, terminal: &Terminal) -> Result<(), Failure> {
    let places = command.outputs.places("format of devices")?;
    let catalog = catalog::load(&command.files)?;
    match &command.name {
        None => {
            let devices = catalog.devices().collect::<Result<Vec<Device>, _>>()?;
            output::write(&places, &DeviceList(&devices), |style, _| style, terminal)
        }
        Some(name) => {
            let device = catalog.find(name, &DeviceHint::default())?;
            output::write(&places, &DevicePage(&device), |style, _| style, terminal)
        }
    }
}
