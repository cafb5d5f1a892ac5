//! Which device each launch ran on, and how that is known.

use super::AnalysisError;
use super::ceilings::Roofs;
use crate::catalog::{Catalog, CatalogError, Device};
use crate::model::{DeviceHint, Profile, Quantity};

/// A device on which launches of the profile ran.
#[derive(Debug)]
pub struct DeviceUse {
    /// Its catalogue entry; `None` if it is not known.
    pub device: Option<Device>,
    /// How it was found, in a phrase.
    pub how: String,
    /// Whether the user named it, whatever the export says.
    pub is_asked: bool,
    /// What the export says of it.
    pub hint: DeviceHint,
    /// Disagreements between export and catalogue, one sentence each.
    pub notes: Vec<String>,
    pub(super) roofs: Roofs,
    /// Why the device is not known.
    pub(super) unknown: Option<CatalogError>,
}

impl DeviceUse {
    /// The name for reports.
    #[must_use]
    pub fn name(&self) -> &str {
        match &self.device {
            Some(device) => &device.name,
            None => self.hint.name.as_deref().unwrap_or("unknown device"),
        }
    }
}

/// The devices of a profile, and for each hint the position of its device.
pub(super) fn devices(
    profile: &Profile,
    catalog: &Catalog,
    asked: Option<&str>,
) -> Result<(Vec<DeviceUse>, Vec<usize>), AnalysisError> {
    let mut devices: Vec<DeviceUse> = Vec::new();
    let mut of_hint = Vec::new();
    let empty = [DeviceHint::default()];
    let hints = if profile.devices.is_empty() { &empty[..] } else { &profile.devices };
    for hint in hints {
        let found = device(profile, catalog, asked, hint)?;
        let same = devices.iter().position(|known| match (&known.device, &found.device) {
            (Some(one), Some(two)) => one.id == two.id && known.notes == found.notes,
            (None, None) => known.hint == found.hint,
            _ => false,
        });
        of_hint.push(same.unwrap_or(devices.len()));
        if same.is_none() {
            devices.push(found);
        }
    }
    Ok((devices, of_hint))
}

fn device(
    profile: &Profile,
    catalog: &Catalog,
    asked: Option<&str>,
    hint: &DeviceHint,
) -> Result<DeviceUse, AnalysisError> {
    let of = |device: Option<Device>, how: String, unknown| {
        let notes = device.as_ref().map_or_else(Vec::new, |device| device.disagreements(hint));
        DeviceUse {
            roofs: Roofs::new(device.as_ref(), hint),
            hint: hint.clone(),
            device,
            how,
            is_asked: asked.is_some(),
            notes,
            unknown,
        }
    };
    if let Some(name) = asked {
        let device = catalog.find(name, hint)?;
        return Ok(of(Some(device), "named with --device".to_owned(), None));
    }
    match catalog.identify(hint) {
        Ok(found) => Ok(of(Some(found.device), found.how, None)),
        Err(error) => {
            if let Some(device) = Device::from_attributes(hint) {
                let how = "not in the catalogue; put together from the export's device attributes"
                    .to_owned();
                return Ok(of(Some(device), how, None));
            }
            let own = Quantity::all().any(|quantity| {
                matches!(quantity, Quantity::Peak(_) | Quantity::DramBandwidth)
                    && profile.launches.has(quantity)
            });
            let how = match (&hint.name, own) {
                (_, true) => "not known; the export carries its own peaks".to_owned(),
                (Some(_), false) => {
                    "not in the catalogue, and the export's attributes do not give its roofs"
                        .to_owned()
                }
                (None, false) => "not named".to_owned(),
            };
            Ok(of(None, how, Some(error)))
        }
    }
}

/// The error that tells why the device of a profile without roofs is unknown.
pub(super) fn unidentified(devices: &mut [DeviceUse]) -> Option<AnalysisError> {
    devices.iter_mut().find_map(|device| device.unknown.take()).map(AnalysisError::Device)
}
