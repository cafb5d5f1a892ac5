//! Finds the entry for the device name of an export or a user.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::device::{Device, Provenance};
use super::error::{CatalogError, listed};
use super::evidence::{Evidence, alike, is_gfx};
use super::names::{nearest, normalized, run_together, with_part, with_words};
use super::observed::Observed;
use super::package;
use super::part::split_part;
use super::{BuiltinDevice, DEVICES, file};
use crate::model::DeviceHint;
use crate::plain;

/// The known devices: the built-in ones and those of the user's files.
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
    /// The catalog entry.
    pub device: Device,
    /// How it was found, as a phrase that follows its name and a comma.
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
        match plain::text_of(path, plain::PAGES) {
            Ok(text) => self.with_text(&shown, &text),
            Err(cause) => Err(CatalogError::Read { path: shown, cause }),
        }
    }

    /// Adds the devices of a device file's text; errors refer to it as `path`.
    ///
    /// # Errors
    /// As [`Catalog::with_file`], without reading.
    pub fn with_text(mut self, path: &str, text: &str) -> Result<Self, CatalogError> {
        let builtin = |name: &str| {
            let device = Self::builtin().find(name, &DeviceHint::default())?;
            if device.part.is_some() {
                let nearest = vec![split_part(&device.name).0.to_owned()];
                return Err(CatalogError::NotFound { name: name.to_owned(), nearest });
            }
            Ok(DEVICES.iter().find(|known| known.id == device.id).map_or("", |known| known.text))
        };
        for device in file::user(path, text, builtin)? {
            let name = normalized(&device.name);
            if self.user.iter().any(|known| normalized(&known.name) == name) {
                return Err(CatalogError::Duplicate { path: path.to_owned(), name: device.name });
            }
            self.user.push(device);
        }
        Ok(self)
    }

    /// Returns the devices of the user's files.
    #[must_use]
    pub fn own(&self) -> &[Device] {
        &self.user
    }

    /// Iterates over all devices: the user's in the order of their files, then the built-in ones
    /// they do not hide.
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

    /// Returns the unique names of all devices.
    ///
    /// # Errors
    /// As [`Catalog::devices`].
    pub fn names(&self) -> Result<Vec<String>, CatalogError> {
        self.devices().map(|device| Ok(device?.name)).collect()
    }

    /// Finds the device with this name.
    ///
    /// Full names are compared, ignoring case, separators and vendor: id, unique name, driver name
    /// and aliases. If several devices share the name, the export's SM count, memory bus, memory
    /// clock, L2 and SM clock decide. Where none is called so, it is the only one of several with all words of the name. What
    /// names a part (` MIG 3g.20gb`, ` CPX/NPS4`) makes it the part of the device.
    ///
    /// # Errors
    /// [`CatalogError::NotFound`] with similar names, [`CatalogError::Part`] and
    /// [`CatalogError::Ambiguous`] with the candidates.
    pub fn find(&self, name: &str, hint: &DeviceHint) -> Result<Device, CatalogError> {
        self.find_by(name, hint, &Observed::default())
    }

    /// The compute capability or AMD target of the devices with this name, if all have the same.
    pub(crate) fn target(&self, name: &str) -> Option<String> {
        let (named, _) = self.whole_and_part(name).ok()?;
        let first = named.first()?.target()?;
        let is_one = named.iter().all(|device| device.target() == Some(first));
        is_one.then(|| first.to_owned())
    }

    /// The devices of this name, or those of whose part it is the name, with that of the part. A device of the user's may
    /// be called as a part is.
    fn whole_and_part<'n>(
        &self,
        name: &'n str,
    ) -> Result<(Vec<Device>, Option<&'n str>), CatalogError> {
        let named = self.called(name)?;
        let (whole, Some(part)) = split_part(name) else { return Ok((named, None)) };
        if !named.is_empty() {
            return Ok((named, None));
        }
        let mut named = self.called(whole)?;
        named.retain(|device| device.has_part(part));
        Ok((named, Some(part)))
    }

    fn find_by(
        &self,
        name: &str,
        hint: &DeviceHint,
        observed: &Observed,
    ) -> Result<Device, CatalogError> {
        let (named, part) = self.whole_and_part(name)?;
        if named.is_empty() {
            return self.by_words(name, hint);
        }
        let candidates = package::names(named.iter());
        // A part has fewer SMs and less memory than any of them.
        let of_whole = match part {
            Some(_) => {
                DeviceHint { sms: None, l2_bytes: None, memory_bus_bits: None, ..hint.clone() }
            }
            None => hint.clone(),
        };
        let narrow = |named| Evidence::of(&of_whole, observed).narrow(named).best;
        let fitting = if candidates.len() == 1 { named } else { narrow(named) };
        let Ok([device]) = <[Device; 1]>::try_from(fitting) else {
            return Err(CatalogError::Ambiguous { name: name.to_owned(), candidates });
        };
        Ok(match part {
            Some(part) => device.part_of(part, hint.sms.or(observed.sms)),
            None => device,
        })
    }

    /// Finds the only one of several devices that has all words of a name which none is called by.
    fn by_words(&self, name: &str, hint: &DeviceHint) -> Result<Device, CatalogError> {
        let (whole, spellings) = (split_part(name).0, self.spellings()?);
        let fitting = with_part(whole, &spellings);
        if fitting.len() < 2 {
            let name = name.to_owned();
            return Err(CatalogError::NotFound { name, nearest: nearest(whole, &spellings) });
        }
        if let ([only], true) = (&with_words(name, &spellings)[..], whole == name) {
            return self.find(only, hint);
        }
        let devices: Result<Vec<Device>, _> = self.devices().collect();
        let mut devices = devices?;
        devices.retain(|device| fitting.contains(&device.name));
        devices.sort_unstable_by(|one, two| one.name.cmp(&two.name));
        let candidates = package::names(devices.iter());
        Err(CatalogError::Part { name: name.to_owned(), candidates })
    }

    /// Identifies the device of an export by its name, else by its attributes and launches.
    ///
    /// Without a name, compute capability together with SM count, bus width, memory clock, memory
    /// bandwidth or the size of L2 must match one device, or several with the same figures.
    ///
    /// # Errors
    /// As [`Catalog::find`], or [`CatalogError::Unidentified`] with the matching devices, most
    /// likely first.
    pub fn identify(
        &self,
        hint: &DeviceHint,
        observed: &Observed,
    ) -> Result<Identified, CatalogError> {
        let Some(name) = &hint.name else {
            return self.by_attributes(hint, &Evidence::of(hint, observed));
        };
        match self.find_by(name, hint, observed) {
            Ok(device) => {
                let from = hint.name_from.as_deref().unwrap_or("the export");
                Ok(Identified { device, how: format!("named by {from}") })
            }
            // Profilers of AMD write the name of a series, such as `MI200`.
            Err(error @ (CatalogError::NotFound { .. } | CatalogError::Part { .. }))
                if hint.gfx.is_some() =>
            {
                self.by_attributes(hint, &Evidence::of(hint, observed)).map_err(|_| error)
            }
            Err(error @ (CatalogError::NotFound { .. } | CatalogError::Part { .. })) => {
                from_attributes(hint).ok_or(error)
            }
            Err(error) => Err(error),
        }
    }

    /// Returns where an export contradicts a device, one sentence each; before them which device
    /// matches instead, if any.
    #[must_use]
    pub fn disagreements(
        &self,
        device: &Device,
        hint: &DeviceHint,
        observed: &Observed,
    ) -> Vec<String> {
        // Of a part, drivers tell the width of either bus, and no other device is like it.
        if device.part.is_some() {
            let hint = DeviceHint { memory_bus_bits: None, ..hint.clone() };
            return device.disagreements(&hint, observed);
        }
        let mut found = device.disagreements(hint, observed);
        let one = device.launches_on.as_ref();
        let one = one.and_then(|name| self.find(name, &DeviceHint::default()).ok());
        if let Some(package) = device.too_much(one.as_ref()) {
            found.insert(0, package);
        } else if !found.is_empty() {
            let evidence = Evidence::of(hint, observed);
            match self.by_attributes(hint, &evidence) {
                Ok(fits)
                    if fits.device.provenance != Provenance::Attributes
                        && fits.device.id != device.id =>
                {
                    let (name, other) = (&fits.device.name, &device.name);
                    let fits =
                        format!("{name} matches the export, {other} does not: --device {name:?}");
                    found.insert(0, fits);
                }
                Err(CatalogError::Unidentified { candidates, .. })
                    if !candidates.is_empty() && !candidates.contains(&device.name) =>
                {
                    let (names, other) = (listed(&candidates), &device.name);
                    let fit =
                        format!("{other} does not match the export; devices that do: {names}");
                    found.insert(0, fit);
                }
                _ => {}
            }
        }
        found
    }

    fn by_attributes(
        &self,
        hint: &DeviceHint,
        evidence: &Evidence,
    ) -> Result<Identified, CatalogError> {
        let unidentified = |reason: String, candidates: Vec<String>| {
            Err(CatalogError::Unidentified { reason, candidates })
        };
        let target = hint.target();
        let is_specific = evidence.is_specific(target.is_some());
        // Without an architecture, one figure would list half of the catalog.
        if target.is_none() && !is_specific {
            let reason = "it has no compute capability either".to_owned();
            return unidentified(reason, Vec::new());
        }
        let known = evidence.describe(target);
        let narrowed = evidence.narrow(self.of_target(target)?);
        let Some(likeliest) = narrowed.best.first() else {
            let fallback = from_attributes(hint).map(Ok);
            let reason = format!("no device of the catalog has {known}");
            return fallback.unwrap_or_else(|| unidentified(reason, Vec::new()));
        };
        if !is_specific || !narrowed.best.iter().all(|other| alike(likeliest, other)) {
            let names = narrowed.names();
            return unidentified(format!("{known} matches {}", listed(&names)), names);
        }
        let (same, less): (Vec<&Device>, Vec<&Device>) =
            narrowed.fitting.iter().partition(|other| alike(likeliest, other));
        let names = |devices: &[&Device]| -> String {
            devices.iter().map(|device| device.name.as_str()).collect::<Vec<_>>().join(", ")
        };
        let first = same.first().copied().unwrap_or(likeliest);
        let others = same.get(1..).unwrap_or_default();
        let mut how = match (others, less.as_slice()) {
            ([], []) => format!("the only catalog device of {known}"),
            ([], _) => format!("the most likely device of {known}"),
            (others, _) => format!("of {known}, like {} with the same figures", names(others)),
        };
        if !less.is_empty() {
            how.push_str(&format!("; less likely: {}", names(&less)));
        }
        Ok(Identified { device: first.clone(), how })
    }

    /// Returns the devices of a name; only where there are none, those whose names have blanks elsewhere.
    fn called(&self, name: &str) -> Result<Vec<Device>, CatalogError> {
        let mut named = self.named(&normalized(name))?;
        if named.is_empty() {
            for other in run_together(name, &self.spellings()?) {
                named.extend(self.named(&normalized(other))?);
            }
        }
        Ok(named)
    }

    /// Returns the user's devices of this normalized name; only where there are none, the built-in
    /// ones.
    fn named(&self, name: &str) -> Result<Vec<Device>, CatalogError> {
        let own: Vec<Device> =
            self.user.iter().filter(|device| device.is_called(name)).cloned().collect();
        if !own.is_empty() {
            return Ok(own);
        }
        let likely = DEVICES.iter().filter(|builtin| builtin.may_be_called(name));
        let mut found = Vec::new();
        for builtin in likely {
            let device = builtin.parse()?;
            if device.is_called(name) {
                // The user's entry stands for it, though it may not repeat the driver's name.
                let own = self.user.iter().find(|own| hides(own, builtin));
                found.push(own.cloned().unwrap_or(device));
            }
        }
        Ok(found)
    }

    /// Returns the devices of a compute capability or AMD target, or all that have a capability if
    /// it is unknown.
    fn of_target(&self, target: Option<&str>) -> Result<Vec<Device>, CatalogError> {
        let of = |device: &&Device| match target {
            Some(_) => device.target() == target,
            None => device.compute_capability.is_some(),
        };
        let line = match target {
            Some(gfx) if is_gfx(gfx) => format!("gfx = \"{gfx}\"\n"),
            Some(capability) => format!("compute_capability = \"{capability}\"\n"),
            None => "compute_capability = ".to_owned(),
        };
        let builtin = DEVICES.iter().filter(|builtin| builtin.head().contains(&line));
        let shown = builtin.filter(|builtin| !self.user.iter().any(|own| hides(own, builtin)));
        let builtin: Result<Vec<Device>, _> = shown.map(BuiltinDevice::parse).collect();
        let all = self.user.iter().filter(of).cloned().chain(builtin?);
        // Profilers report the GPUs of a package, never all of it.
        Ok(all.filter(|device| device.launches_on.is_none()).collect())
    }

    /// Returns every spelling of every device, with its unique name.
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
    let how = "not in the catalog; its figures are derived from the device attributes in the \
        export";
    Some(Identified { device, how: how.to_owned() })
}

/// Returns `true` if a user's device replaces a built-in one: same id or unique name.
fn hides(own: &Device, builtin: &BuiltinDevice) -> bool {
    let name = normalized(&own.name);
    normalized(builtin.id) == name
        || builtin.unique_name().is_some_and(|other| normalized(other) == name)
}

impl Device {
    /// Iterates over id, unique name, driver name and aliases.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let own = [self.id.as_str(), self.name.as_str()].into_iter();
        own.chain(self.driver_name.as_deref()).chain(self.aliases.iter().map(String::as_str))
    }

    fn is_called(&self, normalized_name: &str) -> bool {
        self.names().any(|name| normalized(name) == normalized_name)
    }
}

impl BuiltinDevice {
    /// Parses the file, once: a device is asked for by what checks its name, and by each profile.
    pub(super) fn parse(&self) -> Result<Device, CatalogError> {
        static PARSED: Mutex<BTreeMap<&str, Device>> = Mutex::new(BTreeMap::new());

        let lock = || PARSED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(device) = lock().get(self.id) {
            return Ok(device.clone());
        }
        let device = file::builtin(self.id, self.text)?;
        lock().insert(self.id, device.clone());
        Ok(device)
    }

    /// Returns the lines before the first blank one, which have the names and the architecture.
    pub(super) fn head(&self) -> &'static str {
        self.text.find("\n\n").map_or(self.text, |end| &self.text[..=end])
    }

    /// Returns `true` if every word of the name occurs in the id or in the names: a cheap filter
    /// without false negatives.
    fn may_be_called(&self, normalized_name: &str) -> bool {
        let occurs = |word: &[u8], text: &[u8]| {
            // The first letter rules most places out.
            let (small, capital) = (word[0].to_ascii_lowercase(), word[0].to_ascii_uppercase());
            let mut places = memchr::memchr2_iter(small, capital, text);
            places.any(|at| {
                let part = text.get(at..at + word.len());
                part.is_some_and(|part| part.eq_ignore_ascii_case(word))
            })
        };
        let texts = [self.id.as_bytes(), self.head().as_bytes()];
        let mut words = normalized_name.split_whitespace().map(str::as_bytes);
        words.all(|word| texts.iter().any(|text| occurs(word, text)))
    }

    fn unique_name(&self) -> Option<&'static str> {
        self.text.strip_prefix("name = \"")?.split('"').next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::DerivedPeak;
    use crate::units::{BytesPerSecond, Hertz};

    /// What launches tell: a memory bandwidth in GB/s, an SM clock in MHz.
    fn seen(bandwidth: f64, clock: Option<f64>) -> Observed {
        let value = BytesPerSecond::new(bandwidth * 1e9);
        Observed {
            dram: Some(DerivedPeak { value, spread: 0.002, how: "derived", is_part: false }),
            sm_clock: clock.map(|mhz| Hertz::new(mhz * 1e6)),
            ..Observed::default()
        }
    }

    fn hint(capability: &str, sms: Option<u32>, memory_ghz: Option<f64>) -> DeviceHint {
        DeviceHint {
            compute_capability: Some(capability.to_owned()),
            sms,
            observed_memory_clock: memory_ghz.map(|ghz| Hertz::new(ghz * 1e9)),
            ..DeviceHint::default()
        }
    }

    #[test]
    fn the_memory_bandwidth_and_the_clock_of_launches_tell_devices_apart() {
        let catalog = Catalog::builtin();
        // 757.6 GB/s at 42.32% of the peak; RTX PRO 6000 have the bandwidth but other clocks.
        let observed = seen(757.6 / 0.4232, Some(1930.0));
        let found = catalog.identify(&hint("12.0", None, Some(13.985)), &observed).unwrap();
        assert_eq!(found.device.name, "GeForce RTX 5090");
        assert!(found.how.starts_with("the most likely device of compute capability 12.0 with"));
        assert!(found.how.contains("less likely: RTX PRO 6000"), "{}", found.how);
        // 1.95 GHz are out of the NVL's reach, 4.79 TB/s are 2.2% below a GH200's.
        let of_h200 = hint("9.0", Some(132), Some(3.19));
        let found = catalog.identify(&of_h200, &seen(4792.0, Some(1950.0))).unwrap();
        assert_eq!(found.device.name, "H200 SXM 141GB");
        let found = catalog.identify(&hint("8.9", None, None), &seen(293.3, None)).unwrap();
        assert_eq!(found.device.name, "L4");
    }

    #[test]
    fn the_size_of_l2_and_peaks_of_the_export_tell_devices_apart() {
        let catalog = Catalog::builtin();
        let with_l2 =
            |mib: u64| DeviceHint { l2_bytes: Some(mib << 20), ..hint("12.0", None, Some(13.98)) };
        let of = |hint| catalog.identify(&hint, &seen(1790.0, None)).map(|found| found.device.name);
        assert_eq!(of(with_l2(96)).unwrap(), "GeForce RTX 5090");
        let CatalogError::Unidentified { candidates, .. } = of(with_l2(128)).unwrap_err() else {
            panic!()
        };
        assert!(candidates[0].starts_with("RTX PRO 6000"), "{candidates:?}");
        // 43,520 operations per clock are 170 SMs of 128 multiply-adds.
        let observed = Observed { fp32_per_clock: Some(43_520.0), ..seen(1756.0, Some(2150.0)) };
        let found = catalog.identify(&hint("12.0", None, None), &observed).unwrap();
        assert_eq!(found.device.name, "GeForce RTX 5090");
        assert!(found.how.contains("170 SMs"), "{}", found.how);
    }

    #[test]
    fn what_does_not_tell_devices_apart_names_the_likeliest_first() {
        let found = Catalog::builtin().identify(&hint("12.0", None, None), &seen(1790.0, None));
        let Err(CatalogError::Unidentified { reason, candidates }) = found else { panic!() };
        assert_eq!(candidates[0], "GeForce RTX 5090");
        assert!(
            reason.starts_with("compute capability 12.0 with a memory bandwidth near 1790 GB/s")
        );
        // Bytes and times of different executions do not identify a device.
        let mut unsteady = seen(1790.0, None);
        unsteady.dram = unsteady.dram.map(|peak| DerivedPeak { spread: 0.05, ..peak });
        let found = Catalog::builtin().identify(&hint("12.0", None, None), &unsteady);
        let Err(CatalogError::Unidentified { candidates, .. }) = found else { panic!() };
        assert!(candidates.len() > 10, "{candidates:?}");
        // Without a compute capability, one figure is not enough.
        let bare = DeviceHint::default();
        assert!(Catalog::builtin().identify(&bare, &seen(1790.0, None)).is_err());
    }

    #[test]
    fn an_export_that_contradicts_a_device_names_the_one_that_fits() {
        let catalog = Catalog::builtin();
        let of_h200 = hint("9.0", Some(132), Some(3.19));
        let observed = seen(4792.0, Some(1950.0));
        let h100 = catalog.find("H100 SXM5 80GB", &DeviceHint::default()).unwrap();
        assert_eq!(
            catalog.disagreements(&h100, &of_h200, &observed),
            [
                "H200 SXM 141GB matches the export, H100 SXM5 80GB does not: --device \"H200 SXM 141GB\"",
                "the export's rates and percentages of peak imply a memory bandwidth of 4792 GB/s, the \
                 catalog says 3352 GB/s for H100 SXM5 80GB",
            ]
        );
        let h200 = catalog.find("H200 SXM 141GB", &DeviceHint::default()).unwrap();
        assert_eq!(catalog.disagreements(&h200, &of_h200, &observed), Vec::<String>::new());
        let fast = Observed {
            highest_rate: Some(BytesPerSecond::new(4000e9)),
            sm_clock: Some(Hertz::new(2.2e9)),
            ..Observed::default()
        };
        let found = h100.disagreements(&DeviceHint::default(), &fast);
        assert_eq!(
            found[0],
            "launches moved up to 4000 GB/s, more than the 3352 GB/s of H100 SXM5 80GB"
        );
        assert!(
            found[1].starts_with("launches ran at 2200 MHz, more than the 1980 MHz"),
            "{found:?}"
        );
    }

    #[test]
    fn a_users_device_stands_for_the_built_in_one_under_the_drivers_name() {
        let text = "name = \"H200 SXM 141GB\"\nmemory.bandwidth_gbs = 4600\n";
        let catalog = Catalog::builtin().with_text("my.toml", text).unwrap();
        for name in ["NVIDIA H200", "NVIDIA H200 (0)"] {
            let named = DeviceHint { name: Some(name.to_owned()), ..DeviceHint::default() };
            let found = catalog.identify(&named, &Observed::default()).unwrap();
            assert_eq!(found.device.provenance, Provenance::UserFile("my.toml".into()), "{name}");
        }
    }
}
