//! `devices`: the catalogue, or one device with every figure, its source, and its ridge points.

use super::args::Devices;
use super::exit::Failure;
use super::terminal::Terminal;
use super::{catalog, output};
use crate::catalog::Device;
use crate::model::DeviceHint;
use crate::report::{DeviceList, DevicePage};

pub(super) fn run(command: &Devices, terminal: &Terminal) -> Result<(), Failure> {
    let places = command.outputs.places("format of devices")?;
    let catalog = catalog(&command.files)?;
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
