//! Devices from the attributes in an export: built from them, or compared with the catalog.

use std::collections::BTreeMap;

use super::device::{Achievable, Device, Memory, Provenance};
use super::figure::{Confidence, Figure};
use super::names::slug;
use super::observed::Observed;
use super::rates;
use crate::model::{DeviceHint, Pipe};
use crate::roofline;
use crate::units::{BytesPerSecond, Hertz, digits};

/// Compute capabilities of chips that share the host's memory: their drivers report a memory clock
/// of zero (Thor) or the data rate itself (GB10), so no bandwidth follows from it.
const SHARED_MEMORY: &[&str] = &["5.3", "6.2", "7.2", "8.7", "11.0", "12.1"];

/// Tolerance for figures derived from launches, which are less exact than stated ones.
const SEEN_TOLERANCE: f64 = 0.05;

/// Beyond this, catalog and export disagree; below it is rounding of published figures.
const TOLERANCE: f64 = 0.02;

impl Device {
    /// A device that is not in the catalog, from an export that gives SM count, clocks, bus width
    /// and compute capability.
    ///
    /// Peaks follow from the rates of the architecture: matrix pipes only if the name gives the
    /// rate class or the architecture has one class, vector pipes if its classes agree.
    #[must_use]
    pub fn from_attributes(hint: &DeviceHint) -> Option<Self> {
        let capability = hint.compute_capability.as_deref()?;
        if SHARED_MEMORY.contains(&capability) {
            return None;
        }
        let sms = hint.sms.filter(|sms| *sms > 0)?;
        let clock = hint.max_sm_clock?;
        let memory_clock = hint.max_memory_clock?;
        let bus_bits = hint.memory_bus_bits?;
        let name = hint.name.clone();
        let name = name.unwrap_or_else(|| format!("unnamed device {capability} with {sms} SMs"));
        let class = rates::class_of(capability, &name);
        let attribute = "device attributes of the export";
        let bandwidth = roofline::ddr_bandwidth(bus_bits, memory_clock);
        Some(Self {
            id: slug(&name),
            driver_name: hint.name.clone(),
            aliases: Vec::new(),
            vendor: Some("NVIDIA".to_owned()),
            architecture: None,
            chip: None,
            gfx: None,
            rate_class: class.map(str::to_owned),
            sms: Some(sms),
            base_clock: None,
            boost_clock: Some(Figure {
                value: clock,
                source: attribute.to_owned(),
                derived: false,
            }),
            lowest_boost_clock: None,
            tensor_clock: None,
            memory: Memory {
                kind: None,
                bytes: None,
                bus_bits: Some(bus_bits),
                clock: Some(Figure {
                    value: memory_clock,
                    source: attribute.to_owned(),
                    derived: false,
                }),
                bandwidth: Some(Figure {
                    value: bandwidth,
                    source: format!("2 × memory clock × bus width, {attribute}"),
                    derived: true,
                }),
            },
            l1_shared_bytes_per_sm: None,
            l2_bytes: hint.l2_bytes.filter(|bytes| *bytes > 0),
            last_level_bytes: None,
            l2_bandwidth: None,
            peaks: peaks(capability, class, sms, clock),
            achievable: Achievable::default(),
            tdp_watts: None,
            pcie: None,
            c2c: None,
            nvlink: None,
            launch_year: None,
            confidence: None,
            notes: notes(capability, class),
            exceptions: Vec::new(),
            citations: BTreeMap::new(),
            provenance: Provenance::Attributes,
            launches_on: None,
            part: None,
            compute_capability: Some(capability.to_owned()),
            name,
        })
    }

    /// Returns where an export contradicts this entry, one sentence each: a sign of another device
    /// of the same name, a MIG slice, or a wrong catalog entry.
    #[must_use]
    pub fn disagreements(&self, hint: &DeviceHint, observed: &Observed) -> Vec<String> {
        let mut found = self.stated_otherwise(hint);
        found.extend(self.seen_otherwise(hint, observed));
        found
    }

    /// Returns where the launches contradict this entry.
    fn seen_otherwise(&self, hint: &DeviceHint, observed: &Observed) -> Vec<String> {
        let mut found = Vec::new();
        let giga = |rate: BytesPerSecond| digits(rate.get() / 1e9);
        if let Some(listed) = self.memory.bandwidth.as_ref().map(|figure| figure.value) {
            let derived = observed.dram.filter(|peak| peak.is_steady() && peak.is_whole());
            let derived = derived.map(|peak| peak.value);
            // At a lower memory clock the peak is lower, and the device the same.
            let clocks = observed.memory_clock.zip(hint.max_memory_clock);
            let scale = clocks.map(|(seen, highest)| seen / highest);
            let scale = scale.filter(|scale| (0.5..1.0).contains(scale)).unwrap_or(1.0);
            let off = |derived: &BytesPerSecond| {
                ((*derived / (listed * scale)) - 1.0).abs() > SEEN_TOLERANCE
                    && ((*derived / listed) - 1.0).abs() > SEEN_TOLERANCE
            };
            let beyond = listed * (1.0 + SEEN_TOLERANCE);
            if let Some(derived) = derived.filter(off) {
                found.push(format!(
                    "the export's rates and percentages of peak imply a memory bandwidth of {} \
                     GB/s, {} says {} GB/s for {}",
                    giga(derived),
                    self.listed_in(),
                    giga(listed),
                    self.name
                ));
            } else if let Some(least) = observed.least_dram
                && least > beyond
            {
                found.push(format!(
                    "the export's rates and percentages of peak imply a memory bandwidth of at least {} \
                     GB/s, {} says {} GB/s for {}",
                    giga(least),
                    self.listed_in(),
                    giga(listed),
                    self.name
                ));
            } else if let Some(rate) = observed.highest_rate
                && rate > beyond
            {
                found.push(format!(
                    "launches moved up to {} GB/s, more than the {} GB/s of {}",
                    giga(rate),
                    giga(listed),
                    self.name
                ));
            }
        }
        if let (Some(seen), Some(highest)) = (observed.sm_clock, self.highest_sm_clock())
            && seen > highest * (1.0 + SEEN_TOLERANCE)
        {
            found.push(format!(
                "launches ran at {} MHz, more than the {} MHz that {} reaches",
                digits(seen.get() / 1e6),
                digits(highest.get() / 1e6),
                self.name
            ));
        }
        found
    }

    /// Returns where the attributes in the export contradict this entry.
    fn stated_otherwise(&self, hint: &DeviceHint) -> Vec<String> {
        let mut found = Vec::new();
        if let (Some(exported), Some(listed)) = (&hint.compute_capability, &self.compute_capability)
            && exported != listed
        {
            found.push(format!(
                "the export says compute capability {exported}, {} {listed} for {}",
                self.listed_in(),
                self.name
            ));
        }
        let sms = hint.sms.filter(|sms| *sms > 0);
        if let (Some(exported), Some(listed)) = (sms, self.sms)
            && exported != listed
        {
            found.push(format!(
                "the export says {exported} {}, {} {listed} for {}",
                self.units_label(),
                self.listed_in(),
                self.name
            ));
        }
        if let (Some(exported), Some(clock)) = (hint.max_sm_clock, &self.boost_clock)
            && apart(exported / clock.value)
            && !self.allows(exported)
        {
            found.push(format!(
                "the export says a maximum SM clock of {} MHz, {} {} MHz for {}",
                digits(exported.get() / 1e6),
                self.listed_in(),
                digits(clock.value.get() / 1e6),
                self.name
            ));
        }
        if let (Some(exported), Some(listed)) = (exported_bandwidth(hint), &self.memory.bandwidth)
            && !self.shares_host_memory()
            && apart(exported / listed.value)
        {
            found.push(format!(
                "memory clock and bus width of the export imply {} GB/s, {} says {} GB/s for {}",
                digits(exported.get() / 1e9),
                self.listed_in(),
                digits(listed.value.get() / 1e9),
                self.name
            ));
        }
        found
    }

    /// Returns `true` if a maximum clock is within the range that the device's power settings
    /// allow.
    fn allows(&self, clock: Hertz) -> bool {
        // Boards of other makers than NVIDIA are clocked higher at the factory.
        let rated = self.boost_clock.as_ref().map(|figure| figure.value);
        if rated
            .zip(self.highest_sm_clock())
            .is_some_and(|(rated, most)| rated <= clock && clock <= most)
        {
            return true;
        }
        let lowest = self.lowest_boost_clock.as_ref().map(|figure| figure.value);
        let highest = self.boost_clock.as_ref().map(|figure| figure.value);
        lowest.zip(highest).is_some_and(|(lowest, highest)| {
            clock >= lowest * (1.0 - TOLERANCE) && clock <= highest
        })
    }
}

fn exported_bandwidth(hint: &DeviceHint) -> Option<BytesPerSecond> {
    let bus_bits = hint.memory_bus_bits?;
    Some(roofline::ddr_bandwidth(bus_bits, hint.max_memory_clock?))
}

fn apart(ratio: f64) -> bool {
    (ratio - 1.0).abs() > TOLERANCE
}

fn peaks(
    capability: &str,
    class: Option<&str>,
    sms: u32,
    clock: Hertz,
) -> BTreeMap<Pipe, Figure<crate::units::FlopsPerSecond>> {
    let rate = |pipe| match class {
        Some(class) => rates::rate(capability, class, pipe),
        None => rates::undisputed_rate(capability, pipe),
    };
    let peak = |pipe| {
        let rate = rate(pipe).filter(|rate| rate.confidence < Confidence::ThirdParty)?;
        Some(Figure {
            value: roofline::peak_rate(rate.fma_per_clock_per_sm?, sms, clock),
            source: format!("2 × FMA per clock and SM × SMs × highest clock ({})", rate.source()),
            derived: true,
        })
    };
    Pipe::ALL.iter().filter_map(|&pipe| Some((pipe, peak(pipe)?))).collect()
}

fn notes(capability: &str, class: Option<&str>) -> Vec<String> {
    let mut notes = vec!["derived from the device attributes in the export".to_owned()];
    if class.is_none() {
        notes.push(format!(
            "devices of compute capability {capability} differ in their Tensor Cores and the name \
             does not identify the rates, so matrix peaks are unknown"
        ));
    } else if matches!(capability, "9.0" | "10.0" | "10.3") {
        notes.push(format!(
            "matrix peaks are computed at the maximum SM clock; vendors quote those of compute \
             capability {capability} at a lower clock"
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::super::Catalog;
    use super::super::observed::DerivedPeak;
    use super::*;
    use crate::units::FlopsPerSecond;

    fn laptop() -> DeviceHint {
        DeviceHint {
            name: Some("NVIDIA GeForce RTX 4070 Laptop GPU".into()),
            compute_capability: Some("8.9".into()),
            sms: Some(36),
            max_sm_clock: Some(Hertz::new(1.98e9)),
            max_memory_clock: Some(Hertz::new(8.001e9)),
            memory_bus_bits: Some(128),
            ..DeviceHint::default()
        }
    }

    #[test]
    fn attributes_make_a_device() {
        let device = Device::from_attributes(&laptop()).unwrap();
        assert_eq!(device.need_bandwidth().unwrap(), BytesPerSecond::new(256.032e9));
        assert_eq!(
            device.need_peak(Pipe::Fp32Vector).unwrap(),
            FlopsPerSecond::new(2.0 * 128.0 * 36.0 * 1.98e9)
        );
        assert_eq!(
            device.need_peak(Pipe::Bf16Matrix).unwrap(),
            FlopsPerSecond::new(2.0 * 256.0 * 36.0 * 1.98e9)
        );
        assert!(device.peaks.values().all(|figure| figure.derived));
    }

    #[test]
    fn what_is_missing_or_ambiguous_gives_no_figure() {
        // Drivers write a zero for what they do not know.
        let mut profile = crate::model::Profile::default();
        profile.hint(DeviceHint { memory_bus_bits: Some(0), ..laptop() });
        assert!(Device::from_attributes(&profile.devices[0]).is_none());
        let hint = DeviceHint { compute_capability: Some("11.0".into()), ..laptop() };
        assert!(Device::from_attributes(&hint).is_none());
        let device = Device::from_attributes(&DeviceHint { name: None, ..laptop() }).unwrap();
        assert!(device.peak(Pipe::Fp32Vector).is_some());
        assert!(device.peak(Pipe::Bf16Matrix).is_none());
        assert!(device.notes[1].contains("matrix peaks are unknown"));
    }

    #[test]
    fn a_laptop_may_run_at_any_clock_of_its_range() {
        let name = "NVIDIA GeForce RTX 4070 Laptop GPU";
        let device = Catalog::builtin().find(name, &DeviceHint::default()).unwrap();
        assert_eq!(device.disagreements(&laptop(), &Observed::default()), Vec::<String>::new());
        for mhz in [1000.0, 2700.0] {
            let hint = DeviceHint { max_sm_clock: Some(Hertz::new(mhz * 1e6)), ..laptop() };
            assert!(
                device.disagreements(&hint, &Observed::default())[0]
                    .contains("a maximum SM clock of"),
                "{mhz}"
            );
        }
    }

    /// 320 GB/s at 5.001 GHz are 297 at 4.640.
    #[test]
    fn a_lower_memory_clock_is_no_other_device() {
        let device = Catalog::builtin().find("T4", &DeviceHint::default()).unwrap();
        let hint =
            DeviceHint { max_memory_clock: Some(Hertz::new(5.001e9)), ..DeviceHint::default() };
        let of = |gigabytes: f64, gigahertz: Option<f64>, is_part: bool| {
            let value = BytesPerSecond::new(gigabytes * 1e9);
            let dram = Some(DerivedPeak { value, spread: 0.01, how: "", is_part });
            let memory_clock = gigahertz.map(|clock| Hertz::new(clock * 1e9));
            device.disagreements(&hint, &Observed { dram, memory_clock, ..Observed::default() })
        };
        let seen = |gigabytes, gigahertz| of(gigabytes, gigahertz, false);
        assert_eq!(seen(297.0, Some(4.640)), Vec::<String>::new());
        assert_eq!(seen(319.0, Some(4.640)), Vec::<String>::new());
        assert!(seen(297.0, None)[0].contains("297 GB/s"));
        assert!(seen(240.0, Some(4.640))[0].contains("240 GB/s"));
        // Reads without writes over the share of both are no bandwidth.
        assert_eq!(of(160.0, None, true), Vec::<String>::new());
    }

    /// However much launches differ, three of four moved more per share of the peak than the device could.
    #[test]
    fn shares_of_a_higher_peak_show_another_device() {
        let device = Catalog::builtin().find("A100 SXM4 40GB", &DeviceHint::default()).unwrap();
        let seen = |gigabytes: f64| {
            let least_dram = Some(BytesPerSecond::new(gigabytes * 1e9));
            let observed = Observed { least_dram, ..Observed::default() };
            device.disagreements(&DeviceHint::default(), &observed)
        };
        assert!(seen(1808.0)[0].contains("at least 1808 GB/s, the catalog says 1555 GB/s"));
        assert_eq!(seen(1600.0), Vec::<String>::new());
    }

    /// "the catalog says 3 GB/s" hid that a file had TB/s.
    #[test]
    fn figures_of_a_device_file_are_called_so_and_keep_three_digits() {
        let text = "name = 'My GPU'\nsms = 40\nmemory.bandwidth_gbs = 33.5\n";
        let catalog = crate::catalog::Catalog::builtin().with_text("my.toml", text).unwrap();
        let device = catalog.find("My GPU", &DeviceHint::default()).unwrap();
        let hint = DeviceHint {
            sms: Some(132),
            max_memory_clock: Some(Hertz::new(2.619e9)),
            memory_bus_bits: Some(5120),
            ..DeviceHint::default()
        };
        let fast =
            Observed { highest_rate: Some(BytesPerSecond::new(1600e9)), ..Observed::default() };
        assert_eq!(
            device.disagreements(&hint, &fast),
            [
                "the export says 132 SMs, the device file my.toml 40 for My GPU",
                "memory clock and bus width of the export imply 3352 GB/s, the device file my.toml says 33.5 GB/s for \
                 My GPU",
                "launches moved up to 1600 GB/s, more than the 33.5 GB/s of My GPU",
            ]
        );
    }

    #[test]
    fn an_export_is_held_against_the_catalog() {
        let device = Catalog::builtin().find("A100 SXM4 40GB", &DeviceHint::default()).unwrap();
        let hint = DeviceHint {
            sms: Some(108),
            max_sm_clock: Some(Hertz::new(1.41e9)),
            max_memory_clock: Some(Hertz::new(1.215e9)),
            memory_bus_bits: Some(5120),
            ..DeviceHint::default()
        };
        assert_eq!(device.disagreements(&hint, &Observed::default()), Vec::<String>::new());
        let hint = DeviceHint {
            sms: Some(14),
            max_memory_clock: Some(Hertz::new(1.593e9)),
            compute_capability: Some("9.0".to_owned()),
            ..hint
        };
        assert_eq!(
            device.disagreements(&hint, &Observed::default()),
            [
                "the export says compute capability 9.0, the catalog 8.0 for A100 SXM4 40GB",
                "the export says 14 SMs, the catalog 108 for A100 SXM4 40GB",
                "memory clock and bus width of the export imply 2039 GB/s, the catalog says 1555 \
                 GB/s for A100 SXM4 40GB",
            ]
        );
    }
}
