//! What an export says about its device besides the name, and which devices agree with that.

use super::attributes::known;
use super::device::Device;
use crate::model::DeviceHint;
use crate::units::Hertz;

/// Observed clocks are averages over a kernel; the three A100 memory clocks lie 5 % apart or more.
const MEMORY_CLOCK_TOLERANCE: f64 = 0.03;

/// Rated and reported SM clocks of one device differ by rounding only.
const SM_CLOCK_TOLERANCE: f64 = 0.02;

/// Published figures of equal devices differ by rounding only.
const ROUNDING: f64 = 0.005;

/// Whether a device agrees with one attribute of the export; `None` if either does not have it.
type Criterion = fn(&Device, &Evidence) -> Option<bool>;

/// Attributes that rule a device out.
const DECISIVE: &[Criterion] = &[same_sms, same_bus, same_memory_clock];

/// Attributes that prefer one device to another: rated clocks depend on the maker and power mode.
const PREFERRED: &[Criterion] = &[same_l2, same_sm_clock];

/// Attributes of an export; zero counts as missing.
pub(super) struct Evidence {
    sms: Option<u32>,
    bus_bits: Option<u32>,
    memory_clock: Option<Hertz>,
    sm_clock: Option<Hertz>,
    l2_bytes: Option<u64>,
}

impl Evidence {
    pub(super) fn of(hint: &DeviceHint) -> Self {
        let memory_clock = known(hint.max_memory_clock);
        Self {
            sms: hint.sms.filter(|sms| *sms > 0),
            bus_bits: hint.memory_bus_bits.filter(|bits| *bits > 0),
            memory_clock: memory_clock.or_else(|| known(hint.observed_memory_clock)),
            sm_clock: known(hint.max_sm_clock),
            l2_bytes: hint.l2_bytes.filter(|bytes| *bytes > 0),
        }
    }

    /// Whether there is more than the compute capability.
    pub(super) fn is_specific(&self) -> bool {
        self.sms.is_some() || self.bus_bits.is_some() || self.memory_clock.is_some()
    }

    /// The devices that agree. A device of which an attribute is not known gives way to one that
    /// agrees on it.
    pub(super) fn narrow(&self, mut devices: Vec<Device>) -> Vec<Device> {
        for criterion in DECISIVE {
            let sure = devices.iter().any(|device| criterion(device, self) == Some(true));
            devices.retain(|device| match criterion(device, self) {
                Some(agrees) => agrees,
                None => !sure,
            });
        }
        for criterion in PREFERRED {
            if devices.iter().any(|device| criterion(device, self) == Some(true)) {
                devices.retain(|device| criterion(device, self) == Some(true));
            }
        }
        devices
    }

    /// The evidence in words, with the compute capability it goes with.
    pub(super) fn describe(&self, capability: &str) -> String {
        let capability = format!("compute capability {capability}");
        let sms = self.sms.map(|sms| format!("{sms} SMs"));
        let bus = self.bus_bits.map(|bits| format!("a memory bus of {bits} bits"));
        let clock = self.memory_clock.map(|clock| clock.get() / 1e9);
        let clock = clock.map(|ghz| format!("a memory clock near {ghz:.3} GHz"));
        let more: Vec<String> = [sms, bus, clock].into_iter().flatten().collect();
        match more.split_last() {
            None => capability,
            Some((last, [])) => format!("{capability} with {last}"),
            Some((last, rest)) => format!("{capability} with {} and {last}", rest.join(", ")),
        }
    }
}

fn same_sms(device: &Device, evidence: &Evidence) -> Option<bool> {
    Some(device.sms? == evidence.sms?)
}

fn same_bus(device: &Device, evidence: &Evidence) -> Option<bool> {
    Some(device.memory.bus_bits? == evidence.bus_bits?)
}

fn same_memory_clock(device: &Device, evidence: &Evidence) -> Option<bool> {
    let clock = device.memory_clock().filter(|_| !device.shares_host_memory())?;
    Some(near(clock / evidence.memory_clock?, MEMORY_CLOCK_TOLERANCE))
}

fn same_l2(device: &Device, evidence: &Evidence) -> Option<bool> {
    Some(device.l2_bytes? == evidence.l2_bytes?)
}

fn same_sm_clock(device: &Device, evidence: &Evidence) -> Option<bool> {
    Some(near(device.boost_clock.as_ref()?.value / evidence.sm_clock?, SM_CLOCK_TOLERANCE))
}

fn near(ratio: f64, tolerance: f64) -> bool {
    (ratio - 1.0).abs() <= tolerance
}

/// Whether two devices have the same roofs: SMs, clocks, bandwidth and all peaks.
pub(super) fn alike(a: &Device, b: &Device) -> bool {
    let boost = |device: &Device| device.boost_clock.as_ref().map(|clock| clock.value.get());
    let tensor = |device: &Device| device.tensor_clock.as_ref().map(|clock| clock.value.get());
    let bandwidth = |device: &Device| device.memory.bandwidth.as_ref().map(|peak| peak.value.get());
    let peaks = || a.peaks.values().zip(b.peaks.values());
    a.sms == b.sms
        && equal(boost(a), boost(b))
        && equal(tensor(a), tensor(b))
        && equal(bandwidth(a), bandwidth(b))
        && a.peaks.keys().eq(b.peaks.keys())
        && peaks().all(|(a, b)| near(a.value / b.value, ROUNDING))
}

fn equal(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => near(a / b, ROUNDING),
        (None, None) => true,
        _ => false,
    }
}
