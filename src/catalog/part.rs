//! A part of a device that profilers see as a device: a MIG slice of NVIDIA's, a partition of AMD's.
//!
//! Peaks belong to SMs and bandwidth to memory: a part has both in proportion. What benchmarks reached on the whole device
//! says nothing of a part.
//!
//! Sources: NVIDIA, *Multi-Instance GPU User Guide* (memory slices are eighths of L2, memory and bandwidth; A30: quarters; compute slices of A100 and A30 have 14 SMs);
//! AMD, *Instinct MI300X GPU partitioning overview* (SPX, DPX, TPX, QPX, CPX divide compute units; NPS1 to NPS8 divide memory).

use super::device::{Achievable, Device, Part};
use super::figure::Figure;

/// L2 of one compute die of CDNA 3 and 4, in bytes: CPX makes a device of each die.
const L2_OF_DIE: u64 = 4 << 20;

/// SMs of a compute slice of A100 and A30.
const SMS_OF_SLICE: u32 = 14;

/// Memory slices of MIG are eighths of the device.
const SLICES: f64 = 8.0;

/// Separates what names a part from the name of the whole device: ` MIG 1g.10gb`, ` CPX/NPS4`.
pub(super) fn split_part(name: &str) -> (&str, Option<&str>) {
    let name = name.trim_end();
    if let Some(at) = name.to_ascii_lowercase().find(" mig ") {
        let part = name[at + 1..].trim();
        return match slice_of(part) {
            Some(_) => (&name[..at], Some(part)),
            None => (name, None),
        };
    }
    match name.rsplit_once(' ') {
        Some((whole, part)) if partition(part) != (None, None) => (whole, Some(part)),
        _ => (name, None),
    }
}

/// How many devices a compute partition makes of one, 0 for one of each die; and how many domains a memory partition makes.
fn partition(part: &str) -> (Option<u64>, Option<u64>) {
    let upper = part.to_ascii_uppercase();
    let (compute, memory) = match upper.split_once('/') {
        Some((compute, memory)) => (compute, Some(memory)),
        None => (&*upper, None),
    };
    let compute = match compute {
        "SPX" => Some(1),
        "DPX" => Some(2),
        "TPX" => Some(3),
        "QPX" => Some(4),
        "CPX" => Some(0),
        _ => None,
    };
    let memory = memory.map(|mode| match mode {
        "NPS1" => Some(1),
        "NPS2" => Some(2),
        "NPS4" => Some(4),
        "NPS8" => Some(8),
        _ => None,
    });
    // Both halves must be known modes.
    if compute.is_none() || memory == Some(None) {
        return (None, None);
    }
    (compute, memory.flatten())
}

/// A slice of MIG: `3g.20gb`, `1c.3g.20gb`, `1g.10gb+me`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Slice {
    /// Compute slices of which SMs are: those of a compute instance, where one is named.
    compute: u32,
    gigabytes: f64,
}

/// What the name of a part says of its MIG slice.
fn slice_of(name: &str) -> Option<Slice> {
    let lower = name.to_ascii_lowercase();
    let slice = lower.strip_prefix("mig ")?.trim_start();
    let (sizes, rest) = slice.split_once("gb")?;
    // Further engines, or none: `+me`, `+gfx`, `-me`.
    let is_attribute =
        |letter: char| letter.is_ascii_alphabetic() || matches!(letter, '+' | '-' | '.');
    let mut sizes = sizes.rsplit('.');
    let gigabytes = sizes.next()?.parse().ok().filter(|size: &f64| *size > 0.0)?;
    let of_instance = sizes.next()?.strip_suffix('g')?.parse::<u32>().ok()?;
    let of_compute = match sizes.next() {
        Some(compute) => Some(compute.strip_suffix('c')?.parse::<u32>().ok()?),
        None => None,
    };
    let is_whole = sizes.next().is_none() && rest.chars().all(is_attribute);
    let compute = of_compute.unwrap_or(of_instance);
    (is_whole && compute > 0).then_some(Slice { compute, gigabytes })
}

impl Device {
    /// Whether it may have a part of that name: MIG came with compute capability 8.0, partitions are AMD's.
    pub(super) fn has_part(&self, name: &str) -> bool {
        let Some(slice) = slice_of(name) else { return self.is_amd() };
        let major = self
            .compute_capability
            .as_deref()
            .and_then(|one| one.split_once('.')?.0.parse::<u32>().ok());
        let bytes = self.memory.bytes.map_or(f64::INFINITY, |bytes| bytes as f64);
        major.is_none_or(|major| major >= 8)
            && !self.is_amd()
            && slice.gigabytes * 1e9 <= bytes * 1.05
    }

    fn is_amd(&self) -> bool {
        self.vendor.as_deref() == Some("AMD")
    }

    /// The part of this device of that name; `sms` are those that the export says it has.
    pub(super) fn part_of(mut self, name: &str, sms: Option<u32>) -> Self {
        if slice_of(name).is_none() && partition(name).0 == Some(1) {
            // One device has all of the memory, whatever its domains.
            return self;
        }
        let whole = self.sms;
        let stated = sms.zip(whole).filter(|(own, whole)| 0 < *own && own <= whole);
        let (own, memory_share) = match slice_of(name) {
            Some(slice) => {
                let total = self.memory.bytes.map(|bytes| bytes as f64 / 1e9);
                let share = total.map(|total| (slice.gigabytes / total * SLICES).round() / SLICES);
                // One slice is at least one of them; of newer devices the SMs of a slice differ.
                let of_ampere = self.compute_capability.as_deref() == Some("8.0");
                let named = of_ampere.then(|| slice.compute.saturating_mul(SMS_OF_SLICE));
                let named = named.filter(|own| whole.is_some_and(|whole| *own <= whole));
                let own = stated.map(|(own, _)| own).or(named);
                (own, share.filter(|share| (0.1..=1.0).contains(share)))
            }
            None => {
                let (devices, domains) = partition(name);
                let devices = match devices {
                    Some(0) => self.l2_bytes.map(|bytes| bytes / L2_OF_DIE),
                    devices => devices,
                };
                let count = devices.and_then(|devices| u32::try_from(devices).ok());
                let split = whole.zip(count.filter(|count| *count > 0));
                let split = split.filter(|(whole, count)| whole % count == 0);
                let split = split.map(|(whole, count)| whole / count);
                // An export that gives a part all of the units contradicts itself.
                let stated = stated.filter(|(own, whole)| own < whole || split.is_none());
                let own = stated.map(|(own, _)| own).or(split);
                // A device may span several domains.
                let least = count.map_or(0.0, |count| 1.0 / f64::from(count.max(1)));
                (own, domains.map(|domains| (1.0 / domains as f64).max(least)))
            }
        };
        let of_whole = own.zip(whole).map(|(own, whole)| (own, f64::from(own) / f64::from(whole)));
        let units = self.units_label();
        if let (Some((own, share)), Some(whole)) = (of_whole.filter(|(_, one)| *one < 1.0), whole) {
            let how = format!("{own} of {whole} {units}");
            self.peaks.values_mut().for_each(|peak| scale(peak, share, &how));
        }
        self.sms = own;
        if let Some(share) = memory_share.filter(|share| *share < 1.0) {
            let how = format!("{} of the memory", fraction(share));
            let memory = &mut self.memory;
            memory.bandwidth.iter_mut().for_each(|figure| scale(figure, share, &how));
            memory.bytes = memory.bytes.map(|bytes| (bytes as f64 * share) as u64);
            memory.bus_bits = memory.bus_bits.map(|bits| (f64::from(bits) * share) as u32);
            self.last_level_bytes = self.last_level_bytes.map(|all| (all as f64 * share) as u64);
        }
        // L2 is divided with the memory by MIG, and lies on the dies of AMD's compute units.
        let of_l2 = if self.is_amd() { of_whole.map(|(_, share)| share) } else { memory_share };
        if let Some(share) = of_l2.filter(|share| *share < 1.0) {
            self.l2_bytes = self.l2_bytes.map(|bytes| (bytes as f64 * share) as u64);
            self.l2_bandwidth.iter_mut().for_each(|one| scale(one, share, "its share of L2"));
        }
        self.achievable = Achievable::default();
        let compute_share = of_whole.map(|(_, share)| share);
        let peaks = of_whole
            .zip(whole)
            .map(|((own, _), whole)| format!("peaks are those of {own} of {whole} {units}"));
        let bandwidth = memory_share.map(|share| match share {
            1.0 => "memory bandwidth is all of it".to_owned(),
            share => format!("memory bandwidth is {} of it", fraction(share)),
        });
        let unknown = |what: &str| format!("{what} of the whole, as its share is not known");
        self.notes.push(format!(
            "{name} is a part of {}: {}, {}",
            self.name,
            peaks.unwrap_or_else(|| unknown("peaks are those")),
            bandwidth.unwrap_or_else(|| unknown("memory bandwidth is that")),
        ));
        self.id = format!("{} {name}", self.id);
        self.name = format!("{} {name}", self.name);
        self.part = Some(Part { name: name.to_owned(), compute_share, memory_share });
        self
    }
}

/// A share of a device in words: `1/4`, `3/8`.
fn fraction(share: f64) -> String {
    let exact = [2.0, 3.0, 4.0, 8.0].into_iter().find(|parts| (share * parts).fract() == 0.0);
    exact.map_or_else(|| share.to_string(), |parts| format!("{}/{parts}", share * parts))
}

fn scale<T: std::ops::Mul<f64, Output = T> + Copy>(figure: &mut Figure<T>, share: f64, how: &str) {
    figure.value = figure.value * share;
    figure.source = format!("{how}: {}", figure.source);
    figure.derived = true;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;
    use crate::model::{DeviceHint, Pipe};

    fn found(name: &str, sms: Option<u32>) -> Device {
        let hint = DeviceHint { sms, ..DeviceHint::default() };
        Catalog::builtin().find(name, &hint).unwrap()
    }

    fn bandwidth(device: &Device) -> f64 {
        device.need_bandwidth().unwrap().get()
    }

    fn peak(device: &Device, pipe: Pipe) -> f64 {
        device.need_peak(pipe).unwrap().get()
    }

    #[test]
    fn names_of_parts_are_split_off() {
        for (name, whole, part) in [
            ("NVIDIA A100-SXM4-40GB MIG 1g.5gb", "NVIDIA A100-SXM4-40GB", Some("MIG 1g.5gb")),
            ("NVIDIA A100-SXM4-40GB", "NVIDIA A100-SXM4-40GB", None),
            ("MI300X CPX/NPS4", "MI300X", Some("CPX/NPS4")),
            ("MI300X dpx", "MI300X", Some("dpx")),
            ("MI300X CPX/NPS3", "MI300X CPX/NPS3", None),
            ("MI300X NPS4", "MI300X NPS4", None),
            ("A100 SXM4 40GB MIG 3g.20gb,L4", "A100 SXM4 40GB MIG 3g.20gb,L4", None),
            ("A100 SXM4 40GB MIG foo", "A100 SXM4 40GB MIG foo", None),
            ("A100 SXM4 40GB MIG 1c.3g.20gb+me", "A100 SXM4 40GB", Some("MIG 1c.3g.20gb+me")),
            ("MI300X", "MI300X", None),
        ] {
            assert_eq!(split_part(name), (whole, part), "{name}");
        }
    }

    /// An A100 with 40 GB has 108 SMs, 1555 GB/s, 312 TFLOP/s of FP16 and 40 MiB of L2: 42 SMs have 121.3 of them, four of
    /// eight memory slices half of the rest.
    #[test]
    fn a_slice_of_mig_has_peaks_by_its_sms_and_bandwidth_by_its_memory() {
        let whole = found("A100 SXM4 40GB", None);
        let slice = found("NVIDIA A100-SXM4-40GB MIG 3g.20gb", Some(42));
        assert_eq!(slice.name, "A100 SXM4 40GB MIG 3g.20gb");
        assert_eq!((slice.sms, slice.l2_bytes), (Some(42), Some(20 << 20)));
        assert_eq!(bandwidth(&slice), bandwidth(&whole) / 2.0);
        let share = peak(&slice, Pipe::Fp16Matrix) / peak(&whole, Pipe::Fp16Matrix);
        assert!((share - 42.0 / 108.0).abs() < 1e-12);
        assert!((peak(&slice, Pipe::Fp16Matrix) / 1e12 - 121.3).abs() < 0.1);
        let note = "MIG 3g.20gb is a part of A100 SXM4 40GB: peaks are those of 42 of 108 SMs, memory bandwidth is 1/2 of it";
        assert_eq!(slice.notes.last().unwrap(), note);
        // Its name leads back to it, and so does its id.
        for name in [&slice.name, &slice.id] {
            assert_eq!(found(name, Some(42)), slice);
        }
        for (slice, share) in [
            ("A100 SXM4 40GB MIG 1g.5gb", 1.0 / 8.0),
            ("A100 SXM4 80GB MIG 1g.20gb", 2.0 / 8.0),
            ("H100 SXM5 80GB MIG 1g.10gb+me", 1.0 / 8.0),
            ("H200 SXM 141GB MIG 1g.18gb", 1.0 / 8.0),
            ("H200 SXM 141GB MIG 3g.71gb", 4.0 / 8.0),
            ("A100 SXM4 40GB MIG 1c.3g.20gb", 4.0 / 8.0),
            ("A100 SXM4 40GB MIG 7g.40gb", 1.0),
        ] {
            let part = found(slice, None).part.unwrap();
            assert_eq!(part.memory_share, Some(share), "{slice}");
        }
        // 14 SMs for each slice of an A100; on Hopper the count must come from the export.
        let sms = |name| found(name, None).sms;
        assert_eq!(
            (sms("A100 SXM4 40GB MIG 3g.20gb"), sms("A100 SXM4 40GB MIG 1c.3g.20gb")),
            (Some(42), Some(14))
        );
        assert_eq!(sms("H100 SXM5 80GB MIG 1g.10gb"), None);
        assert_eq!(sms("A100 SXM4 40GB MIG 7g.40gb"), Some(98));
        for name in ["A100 SXM4 40GB MIG 9g.99gb", "V100 SXM2 16GB MIG 1g.5gb"] {
            assert!(Catalog::builtin().find(name, &DeviceHint::default()).is_err(), "{name}");
        }
    }

    /// MI300X has 304 compute units on 8 dies, 5.3 TB/s, 1307.4 TFLOP/s; MI300A 228 on 6.
    #[test]
    fn partitions_of_amd_divide_compute_units_and_memory() {
        for (name, sms, tflops, gigabytes) in [
            ("MI300X CPX/NPS4", 38, 1307.4 / 8.0, 5300.0 / 4.0),
            ("MI300X CPX/NPS1", 38, 1307.4 / 8.0, 5300.0),
            ("MI300X dpx/nps2", 152, 1307.4 / 2.0, 5300.0 / 2.0),
            ("MI300X SPX/NPS1", 304, 1307.4, 5300.0),
            ("Instinct MI300A TPX/NPS1", 76, 980.6 / 3.0, 5300.0),
        ] {
            let device = found(name, None);
            assert_eq!(device.sms, Some(sms), "{name}");
            assert!((peak(&device, Pipe::Fp16Matrix) / 1e12 / tflops - 1.0).abs() < 1e-3, "{name}");
            assert!((bandwidth(&device) / 1e9 / gigabytes - 1.0).abs() < 1e-12, "{name}");
            assert_eq!(device.part.is_some(), sms < 304, "{name}");
        }
        // Two devices have two of four domains each, and one has all.
        assert_eq!(found("MI300X DPX/NPS4", None).part.unwrap().memory_share, Some(0.5));
        assert_eq!(found("MI300X SPX/NPS4", None), found("MI300X", None));
        // What is not divided is as published.
        let all = found("MI300X CPX/NPS1", None);
        assert_eq!(all.memory.bandwidth, found("MI300X", None).memory.bandwidth);
        // Nothing of NVIDIA's is divided so.
        let hint = DeviceHint::default();
        assert!(Catalog::builtin().find("H100 SXM5 80GB CPX", &hint).is_err());
        // Without a mode of the memory, its share is not known.
        let cpx = found("MI300X CPX", None);
        assert_eq!(cpx.part.unwrap().memory_share, None);
        assert!(
            cpx.notes
                .last()
                .unwrap()
                .ends_with("memory bandwidth is that of the whole, as its share is not known")
        );
    }

    /// A driver that states the units of the whole device, or more, says nothing of its part.
    #[test]
    fn more_units_than_a_part_can_have_are_not_its_own() {
        for (name, stated, sms) in [
            ("A100 SXM4 40GB MIG 3g.20gb", 109, Some(42)),
            ("A100 SXM4 40GB MIG 3g.20gb", 0, Some(42)),
            ("A100 SXM4 40GB MIG 3g.20gb", 44, Some(44)),
            ("H100 SXM5 80GB MIG 1g.10gb", 133, None),
            ("H100 SXM5 80GB MIG 1g.10gb", 16, Some(16)),
            ("MI300X CPX/NPS4", 304, Some(38)),
            ("MI300X CPX/NPS4", 305, Some(38)),
            ("MI300X CPX/NPS4", 37, Some(37)),
        ] {
            assert_eq!(found(name, Some(stated)).sms, sms, "{name} with {stated}");
        }
        // All peaks then are those of the whole.
        let slice = found("H100 SXM5 80GB MIG 1g.10gb", Some(133));
        let whole = found("H100 SXM5 80GB", None);
        assert_eq!(peak(&slice, Pipe::Fp16Matrix), peak(&whole, Pipe::Fp16Matrix));
        assert_eq!(slice.part.unwrap().compute_share, None);
    }

    /// A device file may describe a part under its own name. A part of a built-in device cannot be a base.
    #[test]
    fn a_part_that_the_user_describes_is_that_one() {
        let catalog = |text: &str| Catalog::builtin().with_text("own.toml", text);
        let own = |name: &str, base: &str| {
            let text = format!(
                "[[device]]\nname = \"{name}\"\nbase = \"{base}\"\nsms = 42\n[device.memory]\nbandwidth_gbs = 700\n"
            );
            catalog(&text)
        };
        for name in ["A100 SXM4 40GB MIG 3g.20gb", "My GPU CPX"] {
            let all = own(name, "A100 SXM4 40GB").unwrap();
            let device = all.find(name, &DeviceHint::default()).unwrap();
            assert_eq!((device.sms, &device.part), (Some(42), &None), "{name}");
            assert_eq!(bandwidth(&device), 700e9);
        }
        let error = own("Mine", "A100 SXM4 40GB MIG 3g.20gb").unwrap_err().to_string();
        assert!(error.contains("A100 SXM4 40GB MIG 3g.20gb"), "{error}");
    }
}
