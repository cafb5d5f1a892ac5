//! What must hold for every built-in device; adding a file adds it to all of these.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::names::normalized;
use super::*;
use crate::model::{DeviceHint, Engine, Pipe, Precision};
use crate::roofline;
use crate::units::Hertz;

/// Rounding of published figures.
const TOLERANCE: f64 = 0.02;

fn devices() -> Vec<Device> {
    Catalog::builtin().devices().map(Result::unwrap).collect()
}

/// All that an export can say about a device besides its name.
fn attributes(device: &Device) -> DeviceHint {
    DeviceHint {
        compute_capability: device.compute_capability.clone(),
        sms: device.sms,
        max_sm_clock: device.boost_clock.as_ref().map(|clock| clock.value),
        max_memory_clock: device.memory_clock(),
        memory_bus_bits: device.memory.bus_bits,
        l2_bytes: device.l2_bytes,
        ..DeviceHint::default()
    }
}

fn off(published: f64, formula: f64) -> bool {
    (published / formula - 1.0).abs() > TOLERANCE
}

#[test]
fn every_file_is_listed_and_every_listed_file_parses() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("devices");
    let files: BTreeSet<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    let listed: BTreeSet<String> = DEVICES.iter().map(|builtin| builtin.id.to_owned()).collect();
    assert_eq!(files, listed);
    assert_eq!(devices().len(), DEVICES.len());
    for (builtin, device) in DEVICES.iter().zip(devices()) {
        assert_eq!(builtin.id, device.id);
        assert!(
            builtin.text.starts_with(&format!("name = \"{}\"\n", device.name)),
            "{}",
            device.id
        );
        // Searches look no further than the head.
        let line = match (&device.compute_capability, &device.gfx) {
            (Some(capability), _) => format!("\ncompute_capability = \"{capability}\"\n"),
            (None, Some(gfx)) => format!("\ngfx = \"{gfx}\"\n"),
            (None, None) => continue,
        };
        assert!(builtin.head().contains(&line), "{}", device.id);
    }
}

#[test]
fn identifiers_and_unique_names_belong_to_one_device() {
    let devices = devices();
    for device in &devices {
        for other in devices.iter().filter(|other| other.id != device.id) {
            for name in other.names() {
                let taken = [&device.id, &device.name].map(|own| normalized(own));
                assert!(
                    !taken.contains(&normalized(name)),
                    "{} and {}: {name}",
                    device.id,
                    other.id
                );
            }
        }
    }
}

#[test]
fn every_name_leads_to_its_device_by_itself_or_with_the_attributes() {
    let catalog = Catalog::builtin();
    let devices = devices();
    let mut owners: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for device in &devices {
        for name in device.names() {
            owners.entry(normalized(name)).or_default().insert(&device.id);
        }
    }
    for device in &devices {
        for name in device.names() {
            let found = catalog.find(name, &attributes(device)).map(|found| found.id);
            assert_eq!(found.unwrap(), device.id, "{name}");
            if owners[&normalized(name)].len() > 1 {
                let nameless = catalog.find(name, &DeviceHint::default());
                assert!(matches!(nameless, Err(CatalogError::Ambiguous { .. })), "{name}");
            }
        }
    }
}

#[test]
fn peaks_follow_from_rate_sms_and_clock_or_the_file_says_why_not() {
    for device in devices() {
        let excepted = |key: &str| {
            let mut exceptions = device.exceptions.iter();
            exceptions.find(|exception| exception.figures.iter().any(|figure| figure == key))
        };
        for (&pipe, peak) in device.peaks.iter().filter(|(pipe, _)| !pipe.is_sparse()) {
            let fma = device.rate(pipe).and_then(|rate| rate.fma_per_clock_per_sm);
            let exception = excepted(pipe.key());
            let (Some(fma), Some(sms), Some(clock)) =
                (fma, device.sms, device.rated_clock_of(pipe))
            else {
                assert!(exception.is_none(), "{} {}: cannot be checked", device.id, pipe.key());
                continue;
            };
            let at = |clock| roofline::peak_rate(fma, sms, clock).get();
            let differs = off(peak.value.get(), at(clock));
            assert_eq!(
                differs,
                exception.is_some(),
                "{} {}: {:.4e} published, {:.4e} by the formula",
                device.id,
                pipe.key(),
                peak.value.get(),
                at(clock)
            );
            if let Some(implied) = exception.and_then(|exception| exception.implied_clock) {
                assert!(!off(peak.value.get(), at(implied)), "{} {}", device.id, pipe.key());
                assert_eq!(device.clock_of(pipe), Some(implied));
            }
        }
    }
}

#[test]
fn bandwidth_follows_from_pin_rate_and_bus_width_or_the_file_says_why_not() {
    for device in devices() {
        let memory = &device.memory;
        let excepted = device.exceptions.iter().flat_map(|exception| &exception.figures);
        let excepted = excepted.into_iter().any(|figure| figure == "bandwidth");
        let (Some(bits), Some(clock), Some(bandwidth)) =
            (memory.bus_bits, &memory.clock, &memory.bandwidth)
        else {
            assert!(!excepted, "{}: cannot be checked", device.id);
            continue;
        };
        let formula = roofline::ddr_bandwidth(bits, clock.value);
        assert_eq!(off(bandwidth.value / formula, 1.0), excepted, "{}", device.id);
    }
}

#[test]
fn exceptions_name_figures_the_device_has_and_a_reason() {
    for device in devices() {
        for exception in &device.exceptions {
            assert!(!exception.reason.is_empty() && !exception.figures.is_empty(), "{}", device.id);
            for figure in &exception.figures {
                let pipe = Pipe::from_key(figure);
                let known = pipe.is_some_and(|pipe| device.peak(pipe).is_some());
                assert!(known || figure == "bandwidth", "{}: {figure}", device.id);
            }
        }
    }
}

#[test]
fn sparse_peaks_are_twice_the_dense_ones_or_excepted() {
    for device in devices() {
        for (pipe, sparse) in device.peaks.iter().filter(|(pipe, _)| pipe.is_sparse()) {
            let dense = device.peak(pipe.dense()).unwrap().value;
            assert!(sparse.value >= dense, "{} {}", device.id, pipe.key());
            let excepted = device.exceptions.iter().flat_map(|exception| &exception.figures);
            let excepted = excepted.into_iter().any(|figure| figure == pipe.key());
            assert_eq!(off(sparse.value / dense, 2.0), excepted, "{} {}", device.id, pipe.key());
        }
    }
}

/// Structured sparsity came with Ampere (8.0) and with CDNA3.
#[test]
fn no_device_before_structured_sparsity_has_sparse_peaks() {
    for device in devices().iter().filter(|device| device.peaks.keys().any(|pipe| pipe.is_sparse()))
    {
        let major = device.compute_capability.as_deref().and_then(|it| it.split('.').next());
        let is_new = match (major, device.gfx.as_deref()) {
            (Some(major), _) => major.parse::<u32>().unwrap() >= 8,
            (None, Some(gfx)) => ["gfx942", "gfx950"].contains(&gfx),
            (None, None) => true,
        };
        assert!(is_new, "{}", device.id);
    }
}

#[test]
fn matrix_engines_are_no_slower_than_vector_lanes() {
    for device in devices() {
        for (vector, peak) in
            device.peaks.iter().filter(|(pipe, _)| pipe.engine() == Engine::Vector)
        {
            for (matrix, other) in &device.peaks {
                let same = matrix.precision() == vector.precision();
                if same && matrix.engine() == Engine::Matrix {
                    assert!(other.value >= peak.value, "{} {}", device.id, matrix.key());
                }
            }
        }
        let double = Pipe::ALL.iter().filter(|pipe| pipe.precision() == Precision::Fp64);
        assert_eq!(double.count(), 2);
    }
}

#[test]
fn nothing_published_is_far_above_the_peak() {
    // Cards of one name differ in power and clock: 17% above the rated peak was published (RTX 5090).
    const ABOVE: f64 = 1.25;
    for device in devices() {
        for (pipe, achieved) in &device.achievable.peaks {
            let Some(peak) = device.peak(*pipe) else { continue };
            assert!(achieved.value / peak.value <= ABOVE, "{} {}", device.id, pipe.key());
        }
        let Some(peak) = &device.memory.bandwidth else { continue };
        let achievable = &device.achievable;
        for achieved in [&achievable.dram, &achievable.lattice_boltzmann].into_iter().flatten() {
            assert!(achieved.value <= peak.value, "{}", device.id);
        }
    }
}

#[test]
fn every_source_resolves_and_none_is_idle() {
    fn collect(value: &toml::Value, into: &mut BTreeSet<String>) {
        match value {
            toml::Value::Table(table) => {
                if let Some(source) = table.get("source").and_then(toml::Value::as_str) {
                    into.insert(source.to_owned());
                }
                table.values().for_each(|value| collect(value, into));
            }
            toml::Value::Array(values) => values.iter().for_each(|value| collect(value, into)),
            _ => {}
        }
    }
    for builtin in DEVICES {
        let mut table: toml::Table = toml::from_str(builtin.text).unwrap();
        let sources = table.remove("sources").unwrap();
        let known: BTreeSet<String> = sources.as_table().unwrap().keys().cloned().collect();
        let mut used = BTreeSet::from(["names".to_owned()]);
        collect(&toml::Value::Table(table), &mut used);
        used.retain(|key| key != "names" || known.contains(key));
        assert_eq!(used, known, "{}", builtin.id);
        assert!(!builtin.text.contains("user file"), "{}", builtin.id);
    }
    for device in devices() {
        assert!(device.peaks.values().all(|peak| peak.source != "user file"), "{}", device.id);
        assert!(
            device.citations.values().all(|plain| plain.source != "user file"),
            "{}",
            device.id
        );
    }
}

/// A year, a version or a commit, by which the very text can be found again. What follows from the
/// table of rates has its dates there.
fn dated(source: &str) -> bool {
    let tokens = || source.split(|c: char| !c.is_ascii_alphanumeric());
    let number = |token: &str| token.chars().all(|c| c.is_ascii_digit()) && !token.is_empty();
    let year = tokens().any(|token| {
        token.len() == 4 && token.parse().is_ok_and(|year: u16| (2007..2040).contains(&year))
    });
    let commit = source
        .split('@')
        .skip(1)
        .any(|after| after.chars().take_while(char::is_ascii_hexdigit).count() >= 12);
    let version = source.split([' ', '_', ',', ';', '(', ')']).any(|word| {
        let parts: Vec<&str> = word.split('.').collect();
        let numbered =
            word.strip_prefix('v').is_some_and(|rest| rest.starts_with(char::is_numeric));
        let edition = parts.len() == 2 && number(parts[0]) && parts[1] == "x";
        let release = parts.len() == 3 && parts.iter().all(|part| number(part));
        numbered || edition || release
    });
    year || commit || version || source.contains("architectures/rates.toml")
}

#[test]
fn every_source_names_a_date_a_version_or_a_commit() {
    fn sources(value: &toml::Value, into: &mut BTreeSet<String>) {
        let Some(table) = value.as_table() else { return };
        for (key, value) in table {
            match value.as_str() {
                Some(text) if key == "source" && text.contains(' ') => {
                    into.insert(text.to_owned());
                }
                _ => sources(value, into),
            }
        }
    }
    let mut undated = BTreeSet::new();
    let rates = include_str!("../../devices/architectures/rates.toml");
    let limits = include_str!("../../devices/architectures/limits.toml");
    let tables = DEVICES.iter().map(|builtin| (builtin.id, builtin.text));
    for (id, text) in tables.chain([("rates", rates), ("limits", limits)]) {
        let table: toml::Table = toml::from_str(text).unwrap();
        let named = table.get("sources").and_then(toml::Value::as_table);
        let named = named.into_iter().flatten().filter_map(|(_, source)| source.as_str());
        let mut texts: BTreeSet<String> = named.map(str::to_owned).collect();
        sources(&toml::Value::Table(table), &mut texts);
        assert!(!texts.is_empty(), "{id}");
        undated.extend(texts.into_iter().filter(|text| !dated(text)).map(|text| (id, text)));
    }
    assert_eq!(undated, BTreeSet::new());
    assert!(!dated("NVIDIA A30 datasheet figures (10.3 TFLOP/s, 933 GB/s)"));
    assert!(!dated("2048 B/clock × 1.53 GHz") && !dated("a bus of 4096 bits"));
}

#[test]
fn l2_is_faster_than_memory_and_no_benchmark_beats_it() {
    for device in devices() {
        if let (Some(l2), Some(dram)) = (device.l2_roof(), &device.memory.bandwidth) {
            assert!(l2 > dram.value, "{}", device.id);
        }
        if let (Some(l2), Some(reached)) = (&device.l2_bandwidth, &device.achievable.l2) {
            assert!(reached.value <= l2.value, "{}", device.id);
        }
    }
}

#[test]
fn the_clock_at_the_lowest_power_is_below_the_boost() {
    for device in devices() {
        let Some(lowest) = device.lowest_boost_clock else { continue };
        assert!(
            device.boost_clock.is_some_and(|boost| lowest.value < boost.value),
            "{}",
            device.id
        );
    }
}

#[test]
fn names_that_public_exports_carry_are_known() {
    let with_sms = |sms| DeviceHint { sms: Some(sms), ..DeviceHint::default() };
    for (name, sms, found) in [
        ("NVIDIA A100-PG509-200", 108, "A100 SXM4 40GB"),
        ("Tesla V100-DGXS-32GB", 80, "Tesla V100 DGXS 32GB"),
        ("GeForce GTX 1060 with Max-Q Design", 10, "GeForce GTX 1060 Max-Q"),
        ("TITAN Xp", 30, "TITAN Xp"),
        ("NVIDIA GeForce RTX 2070 SUPER", 40, "GeForce RTX 2070 SUPER"),
        ("NVIDIA GeForce RTX 2080 SUPER", 48, "GeForce RTX 2080 SUPER"),
        ("NVIDIA GeForce RTX 4070 Laptop GPU", 36, "GeForce RTX 4070 Laptop"),
        ("NVIDIA Thor", 20, "Jetson T5000 (AGX Thor)"),
        ("NVIDIA Thor", 12, "Jetson T4000"),
    ] {
        assert_eq!(Catalog::builtin().find(name, &with_sms(sms)).unwrap().name, found);
    }
}

#[test]
fn a_device_without_tensor_cores_has_no_matrix_units() {
    let units = |name: &str| {
        let device = Catalog::builtin().find(name, &DeviceHint::default()).unwrap();
        device.has_units(Pipe::Fp16Matrix)
    };
    assert_eq!(units("GTX 1660 Ti"), Some(false));
    assert_eq!(units("T1000"), Some(false));
    assert_eq!(units("Tesla T4"), Some(true));
}

#[test]
fn whole_names_are_compared_never_parts() {
    let catalog = Catalog::builtin();
    let find = |name: &str| catalog.find(name, &DeviceHint::default());
    assert_eq!(find("NVIDIA H200").unwrap().name, "H200 SXM 141GB");
    assert_eq!(find("NVIDIA H20").unwrap().name, "H20 96GB");
    assert_eq!(find("NVIDIA L4").unwrap().name, "L4");
    assert_eq!(find("nvidia l40").unwrap().name, "L40");
    assert_eq!(find("NVIDIA A10").unwrap().name, "A10");
    assert_eq!(find("NVIDIA B200").unwrap().name, "B200 (HGX/DGX) 180GB");
    assert_eq!(find("NVIDIA GB200").unwrap().name, "GB200 (one GPU)");
    assert_eq!(find("RTX 4090").unwrap().name, "GeForce RTX 4090");
    assert_eq!(find("NVIDIA RTX A1000").unwrap().name, "RTX A1000");
    assert_eq!(find("NVIDIA GeForce RTX 4070").unwrap().name, "GeForce RTX 4070");
    assert_eq!(find("NVIDIA GeForce RTX 4070 Laptop GPU").unwrap().name, "GeForce RTX 4070 Laptop");
    for absent in ["NVIDIA RTX A10000", "A10G9", "", "NVIDIA GeForce RTX 4070 Mobile GPU"] {
        assert!(matches!(find(absent), Err(CatalogError::NotFound { .. })), "{absent}");
    }
    for (part, some) in
        [("A100", "A100 SXM4 80GB"), ("MI300", "Instinct MI300X"), ("V100", "Tesla V100 PCIe 16GB")]
    {
        let CatalogError::Part { candidates, .. } = find(part).unwrap_err() else { panic!() };
        let has_part = |name: &String| name.contains(part) && !name.contains("A1000");
        assert!(candidates.iter().any(|name| name == some), "{candidates:?}");
        assert!(candidates.iter().all(has_part), "{candidates:?}");
    }
    let CatalogError::Ambiguous { candidates, .. } = find("NVIDIA H100").unwrap_err() else {
        panic!()
    };
    assert_eq!(candidates.len(), 5);
}

#[test]
fn an_export_without_a_name_is_identified_by_what_it_says() {
    let catalog = Catalog::builtin();
    let ampere = DeviceHint {
        compute_capability: Some("8.0".into()),
        sms: Some(108),
        ..DeviceHint::default()
    };
    let at = |ghz: f64| DeviceHint {
        observed_memory_clock: Some(Hertz::new(ghz * 1e9)),
        ..ampere.clone()
    };
    for (ghz, name) in
        [(1.21, "A100 SXM4 40GB"), (1.51, "A100 PCIe 80GB"), (1.59, "A100 SXM4 80GB")]
    {
        let identified = catalog.identify(&at(ghz), &Observed::default()).unwrap();
        assert_eq!(identified.device.name, name, "{}", identified.how);
        assert!(
            identified.how.contains("compute capability 8.0 with 108 SMs"),
            "{}",
            identified.how
        );
    }
    let how = catalog.identify(&at(1.59), &Observed::default()).unwrap().how;
    assert_eq!(
        how,
        "of compute capability 8.0 with 108 SMs and a memory clock near 1.590 GHz, like A800 SXM4 \
         80GB with the same figures"
    );
    let b200 = DeviceHint {
        compute_capability: Some("10.0".into()),
        sms: Some(148),
        max_memory_clock: Some(Hertz::new(3.996e9)),
        ..DeviceHint::default()
    };
    let identified = catalog.identify(&b200, &Observed::default()).unwrap();
    assert_eq!(identified.device.id, "nvidia-b200");
    assert_eq!(
        identified.how,
        "the only catalog device of compute capability 10.0 with 148 SMs and a memory clock near \
         3.996 GHz"
    );
}

#[test]
fn an_export_that_fits_several_devices_is_an_error_that_lists_them() {
    let catalog = Catalog::builtin();
    // The A30 has the memory clock of the A100 40 GB; without the SM count it could be either.
    let hint = DeviceHint {
        compute_capability: Some("8.0".into()),
        observed_memory_clock: Some(Hertz::new(1.215e9)),
        ..DeviceHint::default()
    };
    let CatalogError::Unidentified { candidates, .. } =
        catalog.identify(&hint, &Observed::default()).unwrap_err()
    else {
        panic!()
    };
    assert!(candidates.contains(&"A30".to_owned()));
    assert!(candidates.contains(&"A100 SXM4 40GB".to_owned()));
    let error =
        catalog.identify(&DeviceHint::default(), &Observed::default()).unwrap_err().to_string();
    assert!(error.ends_with("it has no compute capability either"), "{error}");
}

#[test]
fn a_name_that_is_not_listed_falls_back_to_the_attributes() {
    let hint = DeviceHint {
        name: Some("NVIDIA RTX 3000 Ada Generation Laptop GPU".into()),
        compute_capability: Some("8.9".into()),
        sms: Some(36),
        max_sm_clock: Some(Hertz::new(1.98e9)),
        max_memory_clock: Some(Hertz::new(8.001e9)),
        memory_bus_bits: Some(128),
        ..DeviceHint::default()
    };
    let identified = Catalog::builtin().identify(&hint, &Observed::default()).unwrap();
    assert_eq!(identified.device.provenance, Provenance::Attributes);
    assert!(identified.how.starts_with("not in the catalog"));
}

#[test]
fn a_users_device_takes_the_place_of_a_built_in_one() {
    let text = "name = \"A100 SXM4 80GB\"\nmemory.bandwidth_gbs = 1900\n";
    let catalog = Catalog::builtin().with_text("my.toml", text).unwrap();
    let device = catalog.find("nvidia-a100-sxm4-80gb", &DeviceHint::default()).unwrap();
    assert_eq!(device.provenance, Provenance::UserFile("my.toml".into()));
    assert_eq!(catalog.names().unwrap().len(), DEVICES.len());
    let again = catalog.with_text("other.toml", text).unwrap_err();
    assert!(matches!(again, CatalogError::Duplicate { .. }));
}

#[test]
fn the_example_of_the_readme_is_a_device() {
    let readme = include_str!("../../devices/README.md");
    let example = readme.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let catalog = Catalog::builtin().with_text("README.md", example).unwrap();
    assert!(catalog.find("My GPU", &DeviceHint::default()).is_ok());
}

#[test]
fn json_carries_units_in_its_keys() {
    let device = Catalog::builtin().find("H100 PCIe 80GB", &DeviceHint::default()).unwrap();
    let json = serde_json::to_value(&device).unwrap();
    assert_eq!(json["peaks_flop_per_s"]["bf16_matrix"]["value"], 756e12);
    assert_eq!(json["memory"]["bandwidth_bytes_per_s"]["value"], 2039e9);
    assert_eq!(json["tensor_clock_hz"]["value"], 1.62e9);
    assert_eq!(json["provenance"]["kind"], "builtin");
    assert_eq!(json["last_level_bytes"], serde_json::Value::Null);
}
