//! Identifies the device of each launch.

use std::sync::{Arc, Mutex, PoisonError};

use super::AnalysisError;
use super::ceilings::Roofs;
use crate::catalog::{Catalog, CatalogError, Device, Observed};
use crate::model::{DeviceHint, MI350, Pipe, Profile, Quantity};

/// A device on which launches of the profile ran.
#[derive(Debug, Clone)]
pub struct DeviceUse {
    /// Its catalog entry; `None` if it is unknown.
    pub device: Option<Device>,
    /// How it was found, as a phrase.
    pub how: String,
    /// Why it is unknown and what to do; `None` if it is known.
    pub unknown: Option<Unknown>,
    /// True if the user set it, which overrides the export.
    pub is_asked: bool,
    /// Its attributes in the export.
    pub hint: DeviceHint,
    /// Figures derived from its launches.
    pub observed: Observed,
    /// Disagreements between export and catalog, one sentence each.
    pub notes: Vec<String>,
    /// Name while it is unknown.
    stand_in: String,
    /// True if all launches were profiled with AMD's profilers.
    has_amd_profilers: bool,
    pub(super) roofs: Roofs,
}

impl DeviceUse {
    /// Returns the share of its peak memory bandwidth that good kernels reach, and the ceilings `achievable` ask for.
    pub(crate) fn achievable_memory(&self) -> f64 {
        self.roofs.law.achievable_memory()
    }

    /// The same of the peak of a pipe.
    pub(crate) fn achievable_math(&self, pipe: Pipe) -> f64 {
        self.roofs.law.achievable_math(pipe)
    }
}

/// Returns `true` if Nsight Compute does not support a compute capability: below 7.0, where nvprof has metrics.
pub(super) fn is_before_counters(capability: Option<&str>) -> bool {
    let major = capability.and_then(|known| known.split('.').next()?.parse::<u32>().ok());
    major.is_some_and(|major| major < 7)
}

/// Why a device is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// What the export says, and why it is not enough.
    pub reason: String,
    /// The next step, with the option that resolves it.
    pub help: String,
    /// Unique names of matching devices, most likely first; may be empty.
    pub candidates: Vec<String>,
}

impl Unknown {
    fn new(cause: CatalogError) -> Self {
        let (reason, help) = (cause.to_string(), cause.help());
        let candidates = match cause {
            CatalogError::Unidentified { candidates, .. }
            | CatalogError::Ambiguous { candidates, .. }
            | CatalogError::Part { candidates, .. } => candidates,
            CatalogError::NotFound { nearest, .. } => nearest,
            _ => Vec::new(),
        };
        Self { reason, help, candidates }
    }
}

impl DeviceUse {
    /// Returns the name for reports; for an unknown device it includes its known attributes.
    #[must_use]
    pub fn name(&self) -> &str {
        self.device.as_ref().map_or(&self.stand_in, |device| &device.name)
    }

    /// Returns where the export contradicts the catalog entry, one sentence each; none for an unknown device and for a part
    /// of one, which other attributes describe.
    #[must_use]
    pub fn contradictions(&self) -> &[String] {
        let is_whole = self.device.as_ref().is_some_and(|device| device.part.is_none());
        if is_whole { &self.notes } else { &[] }
    }

    /// Returns `true` if the export has nothing that identifies the device.
    #[must_use]
    pub fn is_nameless(&self) -> bool {
        self.name() == UNKNOWN
    }

    /// Returns `true` if it is older than the GPUs that Nsight Compute supports.
    #[must_use]
    pub fn is_before_counters(&self) -> bool {
        is_before_counters(self.compute_capability())
    }

    /// Returns what the vendor of the device calls its SMs.
    #[must_use]
    pub fn units_label(&self) -> &'static str {
        match &self.device {
            Some(device) => device.units_label(),
            None if self.is_of_amd() => "compute units",
            None => "SMs",
        }
    }

    /// Returns `true` if launches on the two are launches on one device.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (&self.device, &other.device) {
            (Some(one), Some(two)) => {
                one.id == two.id
                    && (self.notes == other.notes || self.is_described_like(other))
                    && self.hint.reached == other.hint.reached
            }
            (None, None) => {
                self.stand_in == other.stand_in && self.hint.l2_bytes == other.hint.l2_bytes
            }
            _ => false,
        }
    }

    /// Whether the exports say the same of both: what else contradicts the catalog is of their launches.
    fn is_described_like(&self, other: &Self) -> bool {
        let bare = |hint: &DeviceHint| DeviceHint {
            ordinal: None,
            reached: None,
            name_from: None,
            observed_memory_clock: None,
            ..hint.clone()
        };
        bare(&self.hint) == bare(&other.hint)
    }

    /// Returns `true` if it is a device of AMD: by the catalog, by what the export says of it, or by the profilers, which
    /// profile no others.
    #[must_use]
    pub fn is_of_amd(&self) -> bool {
        let Self { device, hint, .. } = self;
        let is_named = || {
            let mut words = hint.name.iter().flat_map(|name| name.split_whitespace());
            words.any(|word| ["AMD", "Instinct", "Radeon"].contains(&word))
        };
        match device {
            Some(device) => device.units_label() == "compute units",
            None => hint.gfx.is_some() || self.has_amd_profilers || is_named(),
        }
    }

    /// Returns what its platform calls launches that are replayed together.
    #[must_use]
    pub fn graph_label(&self) -> &'static str {
        if self.is_of_amd() { "HIP graph" } else { "CUDA graph" }
    }

    /// Its compute capability, by the catalog or the export.
    pub(super) fn compute_capability(&self) -> Option<&str> {
        let device = self.device.as_ref().and_then(|device| device.compute_capability.as_deref());
        device.or(self.hint.compute_capability.as_deref())
    }
}

/// How a device is called of which the export names nothing.
const UNKNOWN: &str = "unknown device";

/// Returns the name of a device that is not in the catalog.
fn stand_in(hint: &DeviceHint) -> String {
    if let Some(name) = &hint.name {
        return name.clone();
    }
    let capability = hint.compute_capability.as_ref();
    let capability = capability.map(|capability| format!("compute capability {capability}"));
    let units = if hint.gfx.is_some() { "compute units" } else { "SMs" };
    let sms = hint.sms.filter(|sms| *sms > 0).map(|sms| format!("{sms} {units}"));
    let known: Vec<String> = capability.or(hint.gfx.clone()).into_iter().chain(sms).collect();
    if known.is_empty() { UNKNOWN.to_owned() } else { format!("{UNKNOWN} ({})", known.join(", ")) }
}

/// Returns the devices of a profile, and for each hint the index of its device.
pub(super) fn devices(
    profile: &Profile,
    catalog: &Catalog,
    asked: Option<&str>,
) -> Result<(Vec<DeviceUse>, Vec<usize>), AnalysisError> {
    let mut devices: Vec<DeviceUse> = Vec::new();
    let mut of_hint = Vec::new();
    let empty = [DeviceHint::default()];
    let hints = if profile.devices.is_empty() { &empty[..] } else { &profile.devices };
    for (hint, observed) in hints.iter().zip(Observed::of(profile)) {
        let found = device(profile, catalog, asked, (hint, observed))?;
        let same = devices.iter().position(|known| known.is_same(&found));
        of_hint.push(same.unwrap_or(devices.len()));
        match same {
            None => devices.push(found),
            // A file without percentages of a peak shares the roof of one that has them.
            Some(at) if devices[at].observed.dram.is_none() && found.device.is_none() => {
                devices[at] = found;
            }
            Some(at) => {
                for note in found.notes {
                    if !devices[at].notes.contains(&note) {
                        devices[at].notes.push(note);
                    }
                }
            }
        }
    }
    Ok((devices, of_hint))
}

/// Returns what to check of bytes whose counters take reads of 128 bytes for reads of 64 on MI350.
pub(super) fn halved_reads(
    profile: &Profile,
    devices: &[DeviceUse],
    of_hint: &[usize],
) -> Option<String> {
    let halves = |at: &usize| {
        devices[*at].device.as_ref().and_then(|device| device.gfx.as_deref()) == Some(MI350)
    };
    if !of_hint.iter().any(halves) {
        return None;
    }
    let is_halved = |row: &usize| {
        let device = profile.launches.device(*row).position();
        let bytes = profile.launches.get(*row, Quantity::DramBytes);
        of_hint.get(device).is_some_and(halves)
            && bytes.is_some_and(|(_, origin)| profile.origins.get(origin).halves_reads_of_mi350())
    };
    let count = (0..profile.launches.len()).filter(is_halved).count();
    (count > 0).then(|| {
        format!(
            "on MI350, TCC_BUBBLE, and FETCH_SIZE before ROCm 10.0, count reads of 128 bytes as 64: the bytes of {count} \
             launch{} may be up to twice as many. Collect TCC_EA0_RDREQ_128B_sum, TCC_EA0_RDREQ_64B_sum and \
             TCC_EA0_RDREQ_32B_sum",
            if count == 1 { "" } else { "es" }
        )
    })
}

/// The devices that documents name by their ids in a catalog, each looked up once.
#[derive(Debug)]
pub struct NamedDevices<'a> {
    catalog: &'a Catalog,
    known: Mutex<Vec<NamedDevice>>,
}

#[derive(Debug)]
struct NamedDevice {
    hint: DeviceHint,
    id: Option<String>,
    found: Arc<DeviceUse>,
}

impl<'a> NamedDevices<'a> {
    /// No devices yet, of this catalog.
    #[must_use]
    pub fn of(catalog: &'a Catalog) -> Self {
        Self { catalog, known: Mutex::default() }
    }

    /// Returns the device that a launch ran on.
    pub(super) fn get(
        &self,
        hint: &DeviceHint,
        id: Option<&str>,
    ) -> Result<Arc<DeviceUse>, AnalysisError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |one: &&NamedDevice| one.id.as_deref() == id && one.hint == *hint;
        if let Some(one) = known.iter().find(is_it) {
            return Ok(Arc::clone(&one.found));
        }
        let found = Arc::new(again(self.catalog, hint, id)?);
        let id = id.map(str::to_owned);
        known.push(NamedDevice { hint: hint.clone(), id, found: Arc::clone(&found) });
        Ok(found)
    }
}

fn again(
    catalog: &Catalog,
    hint: &DeviceHint,
    id: Option<&str>,
) -> Result<DeviceUse, AnalysisError> {
    let observed = Observed::default();
    let known = id.and_then(|id| catalog.find(id, hint).ok());
    let Some(known) = known else {
        return device(&Profile::default(), catalog, None, (hint, observed));
    };
    Ok(DeviceUse {
        notes: Vec::new(),
        roofs: Roofs::new(Some(&known), hint, &observed),
        hint: hint.clone(),
        observed,
        stand_in: stand_in(hint),
        device: Some(known),
        has_amd_profilers: false,
        how: "as the partial says".to_owned(),
        is_asked: false,
        unknown: None,
    })
}

fn device(
    profile: &Profile,
    catalog: &Catalog,
    asked: Option<&str>,
    (hint, observed): (&DeviceHint, Observed),
) -> Result<DeviceUse, AnalysisError> {
    let has_amd_profilers = !profile.sources.is_empty()
        && profile.sources.iter().all(|source| source.profiler.is_of_amd());
    let of = |mut device: Option<Device>, mut how: String, unknown: Option<CatalogError>| {
        let notes = device
            .as_ref()
            .map_or_else(Vec::new, |device| catalog.disagreements(device, hint, &observed));
        if let (Some(device), Some(reached)) = (&mut device, &hint.reached)
            && (hint.gfx.is_none() || hint.gfx == device.gfx)
        {
            let left_out = device.take_reached(reached);
            how.push_str(&format!(
                "; achievable rates measured by {} ({})",
                reached.by, reached.from
            ));
            if !left_out.is_empty() {
                how.push_str(&format!("; not used: {}", left_out.join(", ")));
            }
        }
        DeviceUse {
            notes,
            roofs: Roofs::new(device.as_ref(), hint, &observed),
            hint: hint.clone(),
            observed: observed.clone(),
            stand_in: stand_in(hint),
            has_amd_profilers,
            device,
            how,
            is_asked: asked.is_some(),
            unknown: unknown.map(Unknown::new),
        }
    };
    if let Some(name) = asked {
        let device = catalog.find(name, hint)?;
        let named = catalog.identify(hint, &observed).ok().map(|found| found.device);
        let other = named.filter(|named| named.target() != device.target());
        let mut used = of(Some(device), "set with --device".to_owned(), None);
        if let Some(named) = other.filter(|_| used.notes.is_empty()) {
            used.notes.push(format!("the export ran on {}, not on {}", named.name, used.name()));
        }
        return Ok(used);
    }
    let error = match catalog.identify(hint, &observed) {
        Ok(found) => return Ok(of(Some(found.device), found.how, None)),
        Err(error) => error,
    };
    if let Some(device) = Device::from_attributes(hint) {
        let how = "not in the catalog; derived from the export's device attributes";
        return Ok(of(Some(device), how.to_owned(), None));
    }
    let own = Quantity::all().any(|quantity| {
        matches!(quantity, Quantity::Peak(_) | Quantity::DramBandwidth)
            && profile.launches.has(quantity)
    });
    let how = match (&hint.name, own) {
        (_, true) => "unknown device; the export has its own peaks",
        _ if observed.dram.is_some_and(|peak| peak.is_whole()) => {
            "unknown device; its memory bandwidth is derived from the \
            export"
        }
        (Some(_), false) => {
            "not in the catalog, and the export's attributes are not enough to \
            derive its roofs"
        }
        (None, false) => "not named in the export",
    };
    Ok(of(None, how.to_owned(), Some(error)))
}
