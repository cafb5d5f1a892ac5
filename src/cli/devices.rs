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

/// List known GPUs, or show one with its figures and sources
#[derive(Debug, Args)]
pub(super) struct Devices {
    /// Show this device, by any of its names
    name: Option<String>,

    /// Add devices from a TOML file
    #[arg(id = "devices", long = "devices", value_name = "FILE")]
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
