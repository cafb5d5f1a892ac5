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

impl Devices {
    /// Whether a device is named.
    pub(super) const fn is_one(&self) -> bool {
        self.name.is_some()
    }
}

pub(super) fn run(command: &Devices, terminal: &Terminal) -> Result<(), Failure> {
    let places = command.outputs.places("format of devices")?;
    let devices = known(command)?;
    match devices.as_slice() {
        [one] if command.is_one() => {
            output::write(&places, &DevicePage(one), |style, _| style, terminal)
        }
        all => output::write(&places, &DeviceList(all), |style, _| style, terminal),
    }
}

/// The devices of the catalog, or the one that is named.
pub(super) fn known(command: &Devices) -> Result<Vec<Device>, Failure> {
    let catalog = catalog::load(&command.files)?;
    match &command.name {
        None => Ok(catalog.devices().collect::<Result<_, _>>()?),
        Some(name) => Ok(vec![catalog.find(name, &DeviceHint::default())?]),
    }
}
