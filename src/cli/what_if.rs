//! What `--what-if` names: devices of the catalogue.

use super::exit::Failure;
use crate::analysis::{Analysis, CeilingSet, Change};
use crate::catalog::{Catalog, Device};
use crate::model::DeviceHint;

/// Reads the changes that are asked for.
pub(super) fn changes(
    asked: &[String],
    catalog: &Catalog,
    analysis: &Analysis,
) -> Result<Vec<Change>, Failure> {
    let mut changes = Vec::new();
    for device in devices(asked, catalog)? {
        changes.push(Change::Device(Box::new(device)));
    }
    // Other devices are taken at their rated clock: what that alone does is shown first.
    if !changes.is_empty() && analysis.ceilings == CeilingSet::MeasuredClock {
        changes.insert(0, Change::RatedClock);
    }
    Ok(changes)
}

/// The devices named in lists separated by commas; a name that itself holds a comma is taken whole.
pub(super) fn devices(asked: &[String], catalog: &Catalog) -> Result<Vec<Device>, Failure> {
    let mut devices: Vec<Device> = Vec::new();
    for list in asked {
        let whole = catalog.find(list.trim(), &DeviceHint::default());
        let found =
            match whole {
                Ok(device) => vec![device],
                Err(_) if list.contains(',') => {
                    let names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
                    names
                        .map(|name| Ok(catalog.find(name, &DeviceHint::default())?))
                        .collect::<Result<Vec<_>, Failure>>()?
                }
                Err(error) => return Err(error.into()),
            };
        for device in found {
            if devices.iter().all(|known| known.id != device.id) {
                devices.push(device);
            }
        }
    }
    Ok(devices)
}
