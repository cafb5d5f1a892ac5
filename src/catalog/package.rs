//! Packages of several GPUs that the driver and profilers report as a device each: both GCDs of an MI250X.

use super::device::Device;

impl Device {
    /// Returns why its roofs are too high for a launch, with the device to use instead: `one`, where the catalog has it. `None`
    /// unless it is a package.
    pub(super) fn too_much(&self, one: Option<&Self>) -> Option<String> {
        let instead = self.launches_on.as_deref()?;
        let share = self.sms.zip(one.and_then(|one| one.sms));
        let roofs = match share.map(|(whole, one)| f64::from(whole) / f64::from(one)) {
            Some(2.0) => "twice as high as it can reach".to_owned(),
            Some(times) => format!("{times:.3}× as high as it can reach"),
            None => "higher than it can reach".to_owned(),
        };
        let own = &self.name;
        Some(format!(
            "a launch runs on one GPU of a package, and the roofs of {own} are {roofs}: --device {instead:?}"
        ))
    }
}

/// The names of devices, packages last: no launch runs on one, so it is not what an export means.
pub(super) fn names<'d>(devices: impl Iterator<Item = &'d Device>) -> Vec<String> {
    let (whole, single): (Vec<&Device>, Vec<&Device>) =
        devices.partition(|device| device.launches_on.is_some());
    single.into_iter().chain(whole).map(|device| device.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use crate::catalog::{Catalog, CatalogError, Observed};
    use crate::model::DeviceHint;

    const GCD: &str = "Instinct MI250X (one GCD = one ROCm device)";

    #[test]
    fn what_names_a_package_and_its_gpus_suggests_a_gpu() {
        let fails = |name: &str| Catalog::builtin().find(name, &DeviceHint::default()).unwrap_err();
        for (name, first) in [
            ("MI250X", GCD),
            ("AMD Instinct MI250X", GCD),
            ("MI250", "Instinct MI250 (one GCD = one ROCm device)"),
            ("Instinct MI250X (", GCD),
        ] {
            let error = fails(name);
            assert!(error.help().ends_with(&format!("--device {first:?}")), "{name}: {error:?}");
            let (CatalogError::Ambiguous { candidates, .. }
            | CatalogError::Part { candidates, .. }) = error
            else {
                panic!("{name}: {error}")
            };
            assert!(candidates.last().unwrap().contains("whole OAM"), "{candidates:?}");
        }
    }

    #[test]
    fn whole_words_that_only_one_device_has_are_its_name() {
        let found = |name: &str| Catalog::builtin().find(name, &DeviceHint::default());
        assert_eq!(found("MI250X GCD").unwrap().name, GCD);
        assert_eq!(found("mi250 gcd").unwrap().name, "Instinct MI250 (one GCD = one ROCm device)");
        // Several have them, or none has all of them.
        for name in ["GCD", "A100 80GB", "MI300", "RTX 4000"] {
            assert!(matches!(found(name), Err(CatalogError::Part { .. })), "{name}");
        }
        // What only one name begins with may still be another device.
        assert!(found("RX 7900").is_err());
    }

    #[test]
    fn a_package_is_checked_with_the_gpu_to_use() {
        let catalog = Catalog::builtin();
        for (name, one) in
            [("MI250X", GCD), ("MI250", "Instinct MI250 (one GCD = one ROCm device)")]
        {
            let whole = format!("Instinct {name} (whole OAM, 2 GCDs)");
            let whole = catalog.find(&whole, &DeviceHint::default()).unwrap();
            let said = catalog.disagreements(&whole, &DeviceHint::default(), &Observed::default());
            let [note] = said.as_slice() else { panic!("{said:?}") };
            let roofs =
                format!("{} are twice as high as it can reach: --device {one:?}", whole.name);
            assert!(note.ends_with(&roofs), "{note}");
            let one = catalog.find(one, &DeviceHint::default()).unwrap();
            let said = catalog.disagreements(&one, &DeviceHint::default(), &Observed::default());
            assert_eq!(said, Vec::<String>::new());
        }
    }

    #[test]
    fn a_device_based_on_a_package_is_one_unless_its_units_are_others() {
        for (own, is_package) in [("boost_clock_mhz = 1400", true), ("sms = 110", false)] {
            let text =
                format!("name = 'mine'\nbase = 'Instinct MI250X (whole OAM, 2 GCDs)'\n{own}\n");
            let catalog = Catalog::builtin().with_text("own.toml", &text).unwrap();
            let mine = catalog.find("mine", &DeviceHint::default()).unwrap();
            let said = catalog.disagreements(&mine, &DeviceHint::default(), &Observed::default());
            assert_eq!(said.len(), usize::from(is_package), "{said:?}");
        }
    }

    #[test]
    fn every_package_names_a_device_of_which_it_has_several() {
        let catalog = Catalog::builtin();
        let packages =
            catalog.devices().map(Result::unwrap).filter(|one| one.launches_on.is_some());
        let packages: Vec<_> = packages.collect();
        assert_eq!(packages.len(), 2);
        for whole in packages {
            let one = catalog.find(whole.launches_on.as_deref().unwrap(), &DeviceHint::default());
            let one = one.unwrap();
            assert_eq!((whole.sms.unwrap() % one.sms.unwrap(), one.launches_on), (0, None));
            assert!(whole.sms > one.sms, "{}", whole.name);
        }
    }

    #[test]
    fn no_package_is_proposed_for_an_export_without_a_name() {
        let hint = DeviceHint { gfx: Some("gfx90a".to_owned()), ..DeviceHint::default() };
        let found = Catalog::builtin().identify(&hint, &Observed::default());
        let Err(CatalogError::Unidentified { candidates, .. }) = found else { panic!("{found:?}") };
        assert!(candidates.iter().any(|name| name == GCD), "{candidates:?}");
        assert!(!candidates.iter().any(|name| name.contains("OAM")), "{candidates:?}");
    }
}
