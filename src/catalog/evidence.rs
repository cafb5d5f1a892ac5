//! Identifies devices by what an export says besides the name.

use super::device::Device;
use super::observed::{DerivedPeak, Observed};
use super::rates;
use crate::model::{DeviceHint, Pipe};
use crate::units::{BytesPerSecond, Hertz};

/// Observed clocks are averages over a kernel; the three A100 memory clocks lie 5% apart or more.
const MEMORY_CLOCK_TOLERANCE: f64 = 0.03;

/// Rated and reported SM clocks of one device differ by rounding only.
const SM_CLOCK_TOLERANCE: f64 = 0.02;

/// Published figures of equal devices differ by rounding only.
const ROUNDING: f64 = 0.005;

/// Compares a device with one attribute of the export; `None` if either lacks it.
type Criterion = fn(&Device, &Evidence) -> Option<bool>;

/// Peaks derived from rates and percentages fall short of the catalog's by refresh, at most this
/// far.
const BANDWIDTH_TOLERANCE: f64 = 0.03;

/// A derived peak this close belongs to the device rather than to a similar one.
const BANDWIDTH_CLOSE: f64 = 0.01;

/// The profiler locks the SM clock to the rated base clock; counted clocks are this close to it.
const BASE_CLOCK_TOLERANCE: f64 = 0.05;

/// Attributes that rule a device out.
const DECISIVE: &[Criterion] =
    &[same_sms, same_bus, same_memory_clock, same_bandwidth, reaches_sm_clock];

/// Attributes that prefer one device to another: rated clocks depend on the maker and power mode.
const PREFERRED: &[Criterion] = &[same_l2, same_sm_clock, close_bandwidth, locked_to_base_clock];

/// Attributes of an export and figures derived from its launches; zero counts as missing.
pub(super) struct Evidence {
    sms: Option<u32>,
    bus_bits: Option<u32>,
    memory_clock: Option<Hertz>,
    sm_clock: Option<Hertz>,
    l2_bytes: Option<u64>,
    bandwidth: Option<BytesPerSecond>,
    /// The clock at which launches ran.
    seen_clock: Option<Hertz>,
}

/// The devices that match an export.
pub(super) struct Narrowed {
    /// Devices that nothing rules out, in the order given.
    pub(super) fitting: Vec<Device>,
    /// The best matches among them.
    pub(super) best: Vec<Device>,
}

impl Narrowed {
    /// Returns the names of all matches, most likely first; of devices with the same figures, the
    /// first given.
    pub(super) fn names(&self) -> Vec<String> {
        let Self { fitting, best } = self;
        let alike = best.iter().flat_map(|one| fitting.iter().filter(|other| alike(one, other)));
        let mut names: Vec<String> = Vec::new();
        for device in alike.chain(fitting) {
            if !names.contains(&device.name) {
                names.push(device.name.clone());
            }
        }
        names
    }
}

impl Evidence {
    pub(super) fn of(hint: &DeviceHint, observed: &Observed) -> Self {
        let computed = || {
            let rate =
                rates::undisputed_rate(hint.compute_capability.as_deref()?, Pipe::Fp32Vector)?;
            let each = rate.fma_per_clock_per_sm? * 2.0;
            let sms = observed.fp32_per_clock? / each;
            (sms >= 1.0 && near(sms / sms.round(), ROUNDING)).then(|| sms.round() as u32)
        };
        Self {
            sms: hint.sms.or_else(computed),
            bus_bits: hint.memory_bus_bits,
            memory_clock: hint.max_memory_clock.or(hint.observed_memory_clock),
            sm_clock: hint.max_sm_clock,
            l2_bytes: hint.l2_bytes,
            bandwidth: observed.dram.filter(DerivedPeak::is_steady).map(|peak| peak.value),
            seen_clock: observed.sm_clock,
        }
    }

    /// Returns `true` if there is enough evidence to distinguish devices: one attribute besides the
    /// compute capability, two if that is unknown.
    pub(super) fn is_specific(&self, has_capability: bool) -> bool {
        let told = [
            self.sms.is_some(),
            self.bus_bits.is_some(),
            self.memory_clock.is_some(),
            self.bandwidth.is_some(),
            self.l2_bytes.is_some(),
        ];
        told.into_iter().filter(|told| *told).count() >= if has_capability { 1 } else { 2 }
    }

    /// Returns the matching devices. A device with an unknown attribute yields to one that matches
    /// it.
    pub(super) fn narrow(&self, mut devices: Vec<Device>) -> Narrowed {
        for criterion in DECISIVE {
            let sure = devices.iter().any(|device| criterion(device, self) == Some(true));
            devices.retain(|device| match criterion(device, self) {
                Some(agrees) => agrees,
                None => !sure,
            });
        }
        let fitting = devices.clone();
        for criterion in PREFERRED {
            if devices.iter().any(|device| criterion(device, self) == Some(true)) {
                devices.retain(|device| criterion(device, self) == Some(true));
            }
        }
        Narrowed { fitting, best: devices }
    }

    /// Describes the evidence, with the compute capability or AMD target if it is known.
    pub(super) fn describe(&self, target: Option<&str>) -> String {
        let units = if target.is_some_and(is_gfx) { "compute units" } else { "SMs" };
        let sms = self.sms.map(|sms| format!("{sms} {units}"));
        let bus = self.bus_bits.map(|bits| format!("a memory bus of {bits} bits"));
        let clock = self.memory_clock.map(|clock| clock.get() / 1e9);
        let clock = clock.map(|ghz| format!("a memory clock near {ghz:.3} GHz"));
        let peak = self.bandwidth.map(|peak| peak.get() / 1e9);
        let peak = peak.map(|rate| format!("a memory bandwidth near {rate:.0} GB/s"));
        let more: Vec<String> = [sms, bus, clock, peak].into_iter().flatten().collect();
        let more = match more.split_last() {
            None => None,
            Some((last, [])) => Some(last.clone()),
            Some((last, rest)) => Some(format!("{} and {last}", rest.join(", "))),
        };
        let target = target.map(|target| match target {
            gfx if is_gfx(gfx) => gfx.to_owned(),
            capability => format!("compute capability {capability}"),
        });
        match (target, more) {
            (Some(target), Some(more)) => format!("{target} with {more}"),
            (Some(target), None) => target,
            (None, Some(more)) => more,
            (None, None) => "nothing".to_owned(),
        }
    }
}

/// Returns `true` if the name of an architecture is an AMD target.
pub(super) fn is_gfx(target: &str) -> bool {
    target.starts_with("gfx")
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

fn same_bandwidth(device: &Device, evidence: &Evidence) -> Option<bool> {
    bandwidth_within(device, evidence, BANDWIDTH_TOLERANCE)
}

fn close_bandwidth(device: &Device, evidence: &Evidence) -> Option<bool> {
    bandwidth_within(device, evidence, BANDWIDTH_CLOSE)
}

fn bandwidth_within(device: &Device, evidence: &Evidence, tolerance: f64) -> Option<bool> {
    let ratio = evidence.bandwidth? / device.memory.bandwidth.as_ref()?.value;
    // The percentage counts overhead too, so what follows from it is never above the peak but by rounding.
    Some((1.0 - tolerance..=1.0 + BANDWIDTH_CLOSE).contains(&ratio))
}

/// Returns `true` if a device can run at the counted clock, or if its clock is unknown.
fn reaches_sm_clock(device: &Device, evidence: &Evidence) -> Option<bool> {
    let seen = evidence.seen_clock?;
    let highest = device.highest_sm_clock();
    Some(highest.is_none_or(|highest| seen <= highest * (1.0 + SM_CLOCK_TOLERANCE)))
}

fn locked_to_base_clock(device: &Device, evidence: &Evidence) -> Option<bool> {
    let base = device.base_clock.as_ref()?.value;
    Some(near(evidence.seen_clock? / base, BASE_CLOCK_TOLERANCE))
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

/// Returns `true` if two devices have the same roofs: SMs, clocks, bandwidth and all peaks.
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
