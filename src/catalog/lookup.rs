//! From what an export or a user calls a device to the one entry that is meant.

use std::fs;
use std::path::Path;

use super::device::Device;
use super::error::{CatalogError, quoted};
use super::evidence::{Evidence, alike};
use super::names::{nearest, normalised, split_mig};
use super::{BuiltinDevice, DEVICES, file};
use crate::model::DeviceHint;

/// The devices that can be looked up: the built-in ones and those of a user's files.
///
/// ```
/// use rooflint::catalog::Catalog;
/// use rooflint::model::{DeviceHint, Pipe};
/// let device = Catalog::builtin().find("NVIDIA H100 80GB HBM3", &DeviceHint::default())?;
/// assert_eq!(device.need_peak(Pipe::Bf16Matrix)?.get(), 989.4e12);
/// # Ok::<(), rooflint::catalog::CatalogError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    user: Vec<Device>,
}

/// A device and how it was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Identified {
    /// The catalogue entry.
    pub device: Device,
    /// How it was found, to be read after its name and a comma.
    pub how: String,
}

impl Catalog {
    /// The devices shipped with the program.
    #[must_use]
    pub const fn builtin() -> Self {
        Self { user: Vec::new() }
    }

    /// Adds the devices of a user's file, which hide built-in ones of the same name.
    ///
    /// # Errors
    /// [`CatalogError::Read`], [`CatalogError::Malformed`] with line and column, or
    /// [`CatalogError::Duplicate`].
    pub fn with_file(self, path: &Path) -> Result<Self, CatalogError> {
        let shown = path.display().to_string();
        match fs::read_to_string(path) {
            Ok(text) => self.with_text(&shown, &text),
            Err(cause) => Err(CatalogError::Read { path: shown, cause }),
        }
    }

    /// Adds the devices of a device file's text; `path` is what errors call it.
    ///
    /// # Errors
    /// As [`Catalog::with_file`], without reading.
    pub fn with_text(mut self, path: &str, text: &str) -> Result<Self, CatalogError> {
        for device in file::user(path, text)? {
            let name = normalised(&device.name);
            if self.user.iter().any(|known| normalised(&known.name) == name) {
                return Err(CatalogError::Duplicate { path: path.to_owned(), name: device.name });
            }
            self.user.push(device);
        }
        Ok(self)
    }

    /// Every device: the user's in the order of their files, then the built-in ones they do not hide.
    ///
    /// Each built-in file is parsed as it is reached.
    ///
    /// # Errors
    /// An item is an error if a built-in file is malformed, which the tests rule out.
    pub fn devices(&self) -> impl Iterator<Item = Result<Device, CatalogError>> {
        let shown = |builtin: &&BuiltinDevice| !self.user.iter().any(|own| hides(own, builtin));
        let builtin = DEVICES.iter().filter(shown).map(BuiltinDevice::parse);
        self.user.iter().cloned().map(Ok).chain(builtin)
    }

    /// The unique names of all devices.
    ///
    /// # Errors
    /// As [`Catalog::devices`].
    pub fn names(&self) -> Result<Vec<String>, CatalogError> {
        self.devices().map(|device| Ok(device?.name)).collect()
    }

    /// The device of this name.
    ///
    /// Whole names are compared, without regard to case, separators and vendor: identifier, unique
    /// name, driver's name and aliases. Where several devices share the name, what the export says
    /// about SMs, memory bus, memory clock, L2 and SM clock decides. A MIG suffix is left out.
    ///
    /// # Errors
    /// [`CatalogError::NotFound`] with similar names, [`CatalogError::Ambiguous`] with the
    /// candidates.
    pub fn find(&self, name: &str, hint: &DeviceHint) -> Result<Device, CatalogError> {
        let (whole, slice) = split_mig(name);
        let named = self.named(&normalised(whole))?;
        if named.is_empty() {
            let nearest = nearest(whole, &self.spellings()?);
            return Err(CatalogError::NotFound { name: name.to_owned(), nearest });
        }
        let candidates: Vec<String> = named.iter().map(|device| device.name.clone()).collect();
        let fitting = if candidates.len() == 1 { named } else { Evidence::of(hint).narrow(named) };
        let Ok([mut device]) = <[Device; 1]>::try_from(fitting) else {
            return Err(CatalogError::Ambiguous { name: name.to_owned(), candidates });
        };
        if let Some(slice) = slice {
            device.notes.push(format!(
                "the export names the MIG slice {slice}; figures are those of the whole device, of \
                 which a slice has its share of SMs, L2 and bandwidth"
            ));
        }
        Ok(device)
    }

    /// The device an export was taken on: by its name, else by its attributes.
    ///
    /// Without a name, compute capability together with SM count, bus width or memory clock must
    /// leave one device, or several with the same figures.
    ///
    /// # Errors
    /// As [`Catalog::find`], or [`CatalogError::Unidentified`] with the devices that fit.
    pub fn identify(&self, hint: &DeviceHint) -> Result<Identified, CatalogError> {
        let Some(name) = &hint.name else { return self.by_attributes(hint) };
        match self.find(name, hint) {
            Ok(device) => {
                let from = hint.name_from.as_deref().unwrap_or("the export");
                Ok(Identified { device, how: format!("named by {from}") })
            }
            Err(error @ CatalogError::NotFound { .. }) => from_attributes(hint).ok_or(error),
            Err(error) => Err(error),
        }
    }

    fn by_attributes(&self, hint: &DeviceHint) -> Result<Identified, CatalogError> {
        let unidentified = |reason: String, candidates: Vec<String>| {
            Err(CatalogError::Unidentified { reason, candidates })
        };
        let Some(capability) = &hint.compute_capability else {
            let reason = "it does not state a compute capability either".to_owned();
            return unidentified(reason, Vec::new());
        };
        let evidence = Evidence::of(hint);
        let known = evidence.describe(capability);
        let candidates = evidence.narrow(self.of_capability(capability)?);
        let names: Vec<String> = candidates.iter().map(|device| device.name.clone()).collect();
        let Some((first, others)) = candidates.split_first() else {
            let fallback = from_attributes(hint).map(Ok);
            let reason = format!("no device of the catalogue has {known}");
            return fallback.unwrap_or_else(|| unidentified(reason, names));
        };
        if !evidence.is_specific() || !others.iter().all(|other| alike(first, other)) {
            return unidentified(format!("{known} fits {}", quoted(&names)), names);
        }
        let how = if others.is_empty() {
            format!("the only catalogue device of {known}")
        } else {
            let others = names[1..].join(", ");
            format!("of {known}; so are {others}, with the same figures")
        };
        Ok(Identified { device: first.clone(), how })
    }

    /// The user's devices of this normalised name; only where there are none, the built-in ones.
    fn named(&self, name: &str) -> Result<Vec<Device>, CatalogError> {
        let own: Vec<Device> =
            self.user.iter().filter(|device| device.is_called(name)).cloned().collect();
        if !own.is_empty() {
            return Ok(own);
        }
        let likely = DEVICES.iter().filter(|builtin| builtin.may_be_called(name));
        let parsed: Result<Vec<Device>, _> = likely.map(BuiltinDevice::parse).collect();
        Ok(parsed?.into_iter().filter(|device| device.is_called(name)).collect())
    }

    fn of_capability(&self, capability: &str) -> Result<Vec<Device>, CatalogError> {
        let of = |device: &&Device| device.compute_capability.as_deref() == Some(capability);
        let line = format!("compute_capability = \"{capability}\"\n");
        let builtin = DEVICES.iter().filter(|builtin| builtin.text.contains(&line));
        let shown = builtin.filter(|builtin| !self.user.iter().any(|own| hides(own, builtin)));
        let builtin: Result<Vec<Device>, _> = shown.map(BuiltinDevice::parse).collect();
        Ok(self.user.iter().filter(of).cloned().chain(builtin?).collect())
    }

    /// Every spelling of every device with the unique name it stands for.
    fn spellings(&self) -> Result<Vec<(String, String)>, CatalogError> {
        let mut spellings = Vec::new();
        for device in self.devices() {
            let device = device?;
            spellings.extend(device.names().map(|name| (name.to_owned(), device.name.clone())));
        }
        Ok(spellings)
    }
}

fn from_attributes(hint: &DeviceHint) -> Option<Identified> {
    let device = Device::from_attributes(hint)?;
    let how = "not in the catalogue; its figures follow from the device attributes of the export";
    Some(Identified { device, how: how.to_owned() })
}

/// Whether a user's device takes the place of a built-in one: same identifier or unique name.
fn hides(own: &Device, builtin: &BuiltinDevice) -> bool {
    let name = normalised(&own.name);
    normalised(builtin.id) == name
        || builtin.unique_name().is_some_and(|other| normalised(other) == name)
}

impl Device {
    /// Identifier, unique name, driver's name and aliases.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let own = [self.id.as_str(), self.name.as_str()].into_iter();
        own.chain(self.driver_name.as_deref()).chain(self.aliases.iter().map(String::as_str))
    }

    fn is_called(&self, normalised_name: &str) -> bool {
        self.names().any(|name| normalised(name) == normalised_name)
    }
}

impl BuiltinDevice {
    /// Parses the file.
    pub(super) fn parse(&self) -> Result<Device, CatalogError> {
        file::builtin(self.id, self.text)
    }

    /// The lines before the first blank one, where the names are.
    fn head(&self) -> &'static str {
        self.text.split("\n\n").next().unwrap_or(self.text)
    }

    /// Whether the name occurs anywhere in the names: cheap, and true for every device that has it.
    fn may_be_called(&self, normalised_name: &str) -> bool {
        normalised(self.id) == normalised_name || normalised(self.head()).contains(normalised_name)
    }

    fn unique_name(&self) -> Option<&'static str> {
        self.text.strip_prefix("name = \"")?.split('"').next()
    }
}
