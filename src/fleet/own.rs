//! Devices of users' files in summaries and tables: who reads them must know the devices as they were.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::analysis::Partial;
use crate::catalog::{Catalog, Device, Observed};
use crate::compare::fingerprint;
use crate::ingest::IngestError;
use crate::model::DeviceHint;

/// A device of a user's file, by which launches of a summary were judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OwnDevice {
    /// Id that kernels refer to.
    pub id: String,
    /// Name for reports.
    pub name: String,
    /// Fingerprint of its figures.
    pub figures: String,
}

impl OwnDevice {
    fn of(device: &Device) -> Self {
        let text = serde_json::to_string(device).unwrap_or_default();
        Self { id: device.id.clone(), name: device.name.clone(), figures: fingerprint(&text) }
    }

    /// Those of a catalog that launches of a partial ran on.
    pub(super) fn used(partial: &Partial, catalog: &Catalog) -> Vec<Self> {
        if catalog.own().is_empty() {
            return Vec::new();
        }
        let mut ids: Vec<String> = partial.parts().filter_map(|part| part.device).collect();
        ids.sort();
        ids.dedup();
        let own = catalog.own().iter().filter(|device| ids.contains(&device.id));
        let mut own: Vec<Self> = own.map(Self::of).collect();
        own.sort_by(|one, two| one.id.cmp(&two.id));
        own
    }

    /// The error where the file that defines it is not given.
    pub(super) fn unknown(file: &str, name: &str) -> IngestError {
        IngestError::new(file, format!("unknown device {name:?}"))
            .help("give the file that defines it: --devices FILE")
    }

    /// The error where it had other figures than those of `other`.
    pub(super) fn differs(file: &str, name: &str, other: &str) -> IngestError {
        IngestError::new(file, format!("made with other figures of {name} than {other}"))
            .help("summarize all ranks, and read them, with the same --devices FILE")
    }
}

/// Returns the fingerprint of all devices that are known.
#[cfg(feature = "frames")]
pub(super) fn known_devices(catalog: &Catalog) -> String {
    let mut text: String = crate::catalog::DEVICES.iter().map(|device| device.text).collect();
    for device in catalog.own() {
        text.push_str(&OwnDevice::of(device).figures);
    }
    fingerprint(&text)
}

/// The devices of a catalog by the ids in summaries, each looked up once.
pub(super) struct Known<'a> {
    catalog: &'a Catalog,
    own: Vec<OwnDevice>,
    found: Mutex<BTreeMap<String, Found>>,
}

#[derive(Clone)]
enum Found {
    BuiltIn,
    Own(OwnDevice),
    Nowhere,
}

impl<'a> Known<'a> {
    pub(super) fn of(catalog: &'a Catalog) -> Self {
        let own = catalog.own().iter().map(OwnDevice::of).collect();
        Self { catalog, own, found: Mutex::default() }
    }

    fn own(&self, id: &str) -> Option<&OwnDevice> {
        self.own.iter().find(|own| own.id == id)
    }

    /// Checks that a device which a summary says to be of a user's file is in one here, too.
    pub(super) fn has(&self, file: &str, said: &OwnDevice) -> Result<(), IngestError> {
        match self.find(&said.id) {
            Found::Own(_) => Ok(()),
            Found::BuiltIn => Err(OwnDevice::differs(file, &said.name, "those of the catalog")),
            Found::Nowhere => Err(OwnDevice::unknown(file, &said.name)),
        }
    }

    /// Checks that the device of a summary has the figures that it has here.
    pub(super) fn is_same(&self, file: &str, said: &OwnDevice) -> Result<(), IngestError> {
        match self.own(&said.id) {
            Some(here) if here.figures != said.figures => {
                Err(OwnDevice::differs(file, &said.name, HERE))
            }
            _ => Ok(()),
        }
    }

    fn find(&self, id: &str) -> Found {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = found.get(id) {
            return known.clone();
        }
        let new = match self.catalog.find(id, &DeviceHint::default()) {
            Ok(device) => {
                self.own(&device.id).map_or(Found::BuiltIn, |own| Found::Own(own.clone()))
            }
            Err(_) => Found::Nowhere,
        };
        found.insert(id.to_owned(), new.clone());
        new
    }

    /// Checks that the device of a launch is the one by which it was judged: one that is not known must not give way
    /// to what the export names. `said` are the devices of users' files that its summary names; `None` where it was written by a
    /// version that named none.
    pub(super) fn check(
        &self,
        file: &str,
        (id, hint): (&str, &DeviceHint),
        said: Option<&[OwnDevice]>,
    ) -> Result<(), IngestError> {
        match self.find(id) {
            Found::BuiltIn => Ok(()),
            Found::Own(own) => match said {
                Some(said) if said.iter().all(|one| one.id != own.id) => {
                    Err(OwnDevice::differs(file, &own.name, HERE))
                }
                _ => Ok(()),
            },
            Found::Nowhere => {
                // One that follows from attributes of the export has no entry.
                let again = self.catalog.identify(hint, &Observed::default());
                let is_it = again.is_ok_and(|found| found.device.id == id);
                if is_it { Ok(()) } else { Err(OwnDevice::unknown(file, id)) }
            }
        }
    }
}

/// What the figures of the command line are called.
const HERE: &str = "those of --devices";
