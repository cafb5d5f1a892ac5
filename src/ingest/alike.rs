//! Whether two descriptions may be of the same kind of device.

use std::collections::BTreeMap;

use crate::catalog::{Catalog, normalized};
use crate::model::{DeviceHint, HintId};

/// Which devices may be of the same kind; each pair is compared once.
#[derive(Default)]
pub(super) struct Alike(BTreeMap<(HintId, HintId), bool>);

impl Alike {
    /// Whether two of these devices may be of the same kind.
    pub(super) fn are(&mut self, devices: &[DeviceHint], one: HintId, two: HintId) -> bool {
        let of = |id: HintId| devices.get(id.position());
        *self.0.entry((one, two)).or_insert_with(|| {
            one == two || of(one).zip(of(two)).is_none_or(|(one, two)| may_be_one(one, two))
        })
    }
}

/// Whether two descriptions may be of the same kind of device: nothing that both state differs.
pub(super) fn may_be_one(one: &DeviceHint, two: &DeviceHint) -> bool {
    fn agree<T: PartialEq>(one: Option<T>, two: Option<T>) -> bool {
        one.zip(two).is_none_or(|(one, two)| one == two)
    }
    agree(name(one), name(two))
        && agree(target(one, two), target(two, one))
        && agree(one.sms, two.sms)
        && agree(one.memory_bus_bits, two.memory_bus_bits)
}

/// The name of a device, which drivers and profilers spell in several ways.
fn name(hint: &DeviceHint) -> Option<String> {
    hint.name.as_deref().map(normalized)
}

/// The architecture that a description states, or, where only the other one states it, that of its name: many traces
/// have only a name, and pages of Nsight Compute by default only a compute capability.
fn target(hint: &DeviceHint, other: &DeviceHint) -> Option<String> {
    let Some(stated) = hint.target() else {
        let name = hint.name.as_ref().filter(|_| other.target().is_some())?;
        return Catalog::builtin().target(name);
    };
    if stated.starts_with("gfx") {
        return Some(stated.to_owned());
    }
    // Spreadsheets write 8.0 as 8, or with a comma. Text that is not a number is not compared.
    let text = stated.trim().replace(',', ".");
    let (major, minor) = text.split_once('.').unwrap_or((&text, "0"));
    let major: u32 = major.parse().ok().filter(|major| *major < 30)?;
    let minor = minor.trim_end_matches('0');
    let minor: u32 = if minor.is_empty() { 0 } else { minor.parse().ok()? };
    // Thor is 10.1 up to CUDA 12 and 11.0 from CUDA 13 on.
    Some(if (major, minor) == (10, 1) { "11.0".to_owned() } else { format!("{major}.{minor}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> DeviceHint {
        DeviceHint { name: Some(name.to_owned()), ..DeviceHint::default() }
    }

    #[test]
    fn a_device_is_one_in_several_spellings() {
        assert!(may_be_one(&named("NVIDIA A100-SXM4-40GB"), &named("A100-SXM4-40GB")));
        assert!(may_be_one(&named("Tesla V100-SXM2-16GB"), &DeviceHint::default()));
        assert!(!may_be_one(&named("NVIDIA A100-SXM4-40GB"), &named("NVIDIA H200")));
    }

    fn of(target: &str) -> DeviceHint {
        DeviceHint { compute_capability: Some(target.to_owned()), ..DeviceHint::default() }
    }

    #[test]
    fn a_name_and_a_compute_capability_are_compared_by_the_catalog() {
        for (name, target, is_one) in [
            ("NVIDIA A100-SXM4-40GB", "8.0", true),
            ("NVIDIA A100-SXM4-40GB", "9.0", false),
            ("NVIDIA A100-SXM4-40GB MIG 1g.5gb", "9.0", false),
            ("NVIDIA H100 80GB HBM3", "8.0", false),
            // Several devices of one architecture have these names.
            ("NVIDIA H100", "9.0", true),
            ("NVIDIA H100", "8.0", false),
            ("NVIDIA GeForce RTX 3080", "8.6", true),
            ("NVIDIA GeForce RTX 3080", "9.0", false),
            ("AMD Instinct MI250X", "8.0", false),
            ("NVIDIA Thor", "10.1", true),
            ("NVIDIA Thor", "11.0", true),
            ("NVIDIA Thor", "10.0", false),
            // The catalog does not know it.
            ("NVIDIA X9000", "9.0", true),
        ] {
            assert_eq!(may_be_one(&named(name), &of(target)), is_one, "{name} {target}");
            assert_eq!(may_be_one(&of(target), &named(name)), is_one, "{name} {target}");
        }
    }

    #[test]
    fn a_capability_is_one_in_several_forms() {
        for (one, two, is_one) in [
            ("8", "8.0", true),
            ("8,0", "8.0", true),
            ("8.00", "8.0", true),
            ("8.60", "8.6", true),
            ("12", "12.0", true),
            ("8", "9.0", false),
            ("8.6", "8.0", false),
            ("sm_80", "9.0", true),
            ("", "9.0", true),
        ] {
            assert_eq!(may_be_one(&of(one), &of(two)), is_one, "{one} {two}");
        }
    }

    #[test]
    fn devices_are_compared_by_what_both_say() {
        let mut devices = vec![named("L4"), named("T4"), named("NVIDIA L4")];
        devices[0].sms = Some(58);
        devices[2].sms = Some(60);
        let mut alike = Alike::default();
        for _ in 0..2 {
            let are = [(0, 0), (0, 1), (0, 2), (0, 7), (1, 2)]
                .map(|(one, two)| alike.are(&devices, HintId::at(one), HintId::at(two)));
            assert_eq!(are, [true, false, false, true, false]);
        }
    }
}
