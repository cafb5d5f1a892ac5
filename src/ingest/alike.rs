//! Whether two descriptions may be of the same kind of device.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::catalog::Catalog;
use crate::model::{DeviceHint, HintId};

/// Which devices may be of the same kind; each two are compared once.
#[derive(Default)]
pub(super) struct Alike(BTreeMap<(HintId, HintId), bool>);

impl Alike {
    /// Whether two of these devices may be of the same kind.
    pub(super) fn are(&mut self, devices: &[DeviceHint], one: HintId, two: HintId) -> bool {
        let of = |id: HintId| devices.get(usize::from(id.0));
        *self.0.entry((one, two)).or_insert_with(|| {
            one == two || of(one).zip(of(two)).is_none_or(|(one, two)| may_be_one(one, two))
        })
    }
}

/// Whether two descriptions may be of the same kind of device: nothing that both say differs.
pub(super) fn may_be_one(one: &DeviceHint, two: &DeviceHint) -> bool {
    fn agree<T: PartialEq>(one: Option<T>, two: Option<T>) -> bool {
        one.zip(two).is_none_or(|(one, two)| one == two)
    }
    agree(spelled(one), spelled(two))
        && agree(target(one, two), target(two, one))
        && agree(one.sms, two.sms)
        && agree(one.memory_bus_bits, two.memory_bus_bits)
}

/// The name of a device, which drivers and profilers spell in several ways.
fn spelled(hint: &DeviceHint) -> Option<String> {
    let name = hint.name.as_ref()?.to_lowercase().replace("nvidia", "").replace("tesla", "");
    Some(name.chars().filter(char::is_ascii_alphanumeric).collect())
}

/// The architecture that a description states, or, where only the other one states it, that of its name: many traces
/// have only a name, and pages of Nsight Compute by default only a compute capability.
fn target<'a>(hint: &'a DeviceHint, other: &DeviceHint) -> Option<Cow<'a, str>> {
    if let Some(target) = hint.target() {
        return Some(Cow::Borrowed(target));
    }
    let name = hint.name.as_ref().filter(|_| other.target().is_some())?;
    let device = Catalog::builtin().find(name, hint).ok()?;
    device.target().map(|target| Cow::Owned(target.to_owned()))
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

    #[test]
    fn a_name_and_a_compute_capability_are_compared_by_the_catalog() {
        for (name, target, is_one) in [
            ("NVIDIA A100-SXM4-40GB", "8.0", true),
            ("NVIDIA A100-SXM4-40GB", "9.0", false),
            ("NVIDIA H100 80GB HBM3", "8.0", false),
            // Several devices have the first name, and none the second.
            ("A100", "9.0", true),
            ("NVIDIA X9000", "9.0", true),
        ] {
            let compute_capability = Some(target.to_owned());
            let other = DeviceHint { compute_capability, ..DeviceHint::default() };
            assert_eq!(may_be_one(&named(name), &other), is_one, "{name} {target}");
            assert_eq!(may_be_one(&other, &named(name)), is_one, "{name} {target}");
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
                .map(|(one, two)| alike.are(&devices, HintId(one), HintId(two)));
            assert_eq!(are, [true, false, false, true, false]);
        }
    }
}
