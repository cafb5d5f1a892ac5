//! `devices`: the catalog, or one device with every figure, its source, and its ridge points.

use std::path::PathBuf;

use clap::Args;

use super::catalog;
use super::exit::Failure;
use super::listing::Listing;
use super::output::Outputs;
use super::terminal::Terminal;
use crate::model::DeviceHint;

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
    found(command)?.write(&places, terminal)
}

/// The devices of the catalog, or the one that is named.
pub(super) fn found(command: &Devices) -> Result<Listing, Failure> {
    let catalog = catalog::load(&command.files)?;
    match &command.name {
        None => Ok(Listing::Devices(catalog.devices().collect::<Result<_, _>>()?)),
        Some(name) => Ok(Listing::Device(Box::new(catalog.find(name, &DeviceHint::default())?))),
    }
}
