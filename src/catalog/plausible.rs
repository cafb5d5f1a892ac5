//! Figures in a user's device file that no GPU has: most are in another unit than that of their key.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::device::Device;
use super::error::CatalogError;
use crate::plain;

/// GPUs that work in TFLOP/s have at least this bandwidth, in GB/s.
const LEAST_BANDWIDTH: f64 = 10.0;

/// What figures of a kind of keys can be, from GPUs within processors to packages to come.
struct Kind {
    unit: &'static str,
    least: f64,
    most: f64,
    /// Other units in which datasheets give it, and how many of `unit` they are.
    others: &'static [(&'static str, f64)],
}

impl Kind {
    const fn new(
        unit: &'static str,
        least: f64,
        most: f64,
        others: &'static [(&'static str, f64)],
    ) -> Self {
        Self { unit, least, most, others }
    }

    /// That of a key such as `memory.bandwidth_gbs`; `None` where a figure has no bounds.
    fn of(key: &str) -> Option<Self> {
        const CLOCKS: &[(&str, f64)] = &[("GHz", 1e3), ("kHz", 1e-3), ("Hz", 1e-6)];
        const RATES: &[(&str, f64)] = &[("TB/s", 1e3), ("MB/s", 1e-3), ("B/s", 1e-9)];
        const BYTES: &[(&str, f64)] = &[("TB", 1e3), ("MB", 1e-3), ("B", 1e-9)];
        const CACHES: &[(&str, f64)] = &[("GiB", 1024.0), ("KiB", 1.0 / 1024.0)];
        const WORK: &[(&str, f64)] = &[("PFLOP/s", 1e3), ("GFLOP/s", 1e-3), ("FLOP/s", 1e-12)];
        const INTEGERS: &[(&str, f64)] = &[("POP/s", 1e3), ("GOP/s", 1e-3), ("OP/s", 1e-12)];
        Some(match key {
            "base_clock_mhz"
            | "boost_clock_mhz"
            | "lowest_boost_clock_mhz"
            | "tensor_clock_mhz" => Self::new("MHz", 100.0, 1e4, CLOCKS),
            // Old cards have some GB/s; new ones in TB/s are told from them by their work.
            "memory.bandwidth_gbs" => Self::new("GB/s", 1.0, 1e5, RATES),
            "achievable_gbs.dram" | "achievable_gbs.lattice_boltzmann" => {
                Self::new("GB/s", 0.1, 1e5, RATES)
            }
            "cache.l2_bandwidth_gbs" | "achievable_gbs.l2" => Self::new("GB/s", 1.0, 1e6, RATES),
            "memory.size_gb" => Self::new("GB", 0.1, 8e3, BYTES),
            "cache.l2_mib" | "cache.last_level_mib" => Self::new("MiB", 0.01, 1e4, CACHES),
            _ => {
                let (section, pipe) = key.split_once('.')?;
                if !matches!(section, "peaks_tflops" | "peaks_sparse_tflops" | "achievable_tflops")
                {
                    return None;
                }
                // Vector pipes of all widths, then products by the width of their operands.
                let most = match pipe {
                    _ if pipe.ends_with("_vector") => 2e3,
                    "fp64_matrix" | "fp32_matrix" | "tf32_matrix" => 2e4,
                    _ if pipe.contains("16_matrix") => 1e5,
                    _ => 1e6,
                };
                let (unit, others) =
                    if pipe.starts_with("int") { ("TOP/s", INTEGERS) } else { ("TFLOP/s", WORK) };
                Self::new(unit, 1e-3, most, others)
            }
        })
    }

    fn has(&self, value: f64) -> bool {
        (self.least..=self.most).contains(&value)
    }
}

/// A number of a device in the text of its file.
struct Written<'t> {
    /// Its path, such as `memory.bandwidth_gbs`.
    key: String,
    text: &'t str,
    at: usize,
}

impl Written<'_> {
    /// Whether it is a peak of at least one TFLOP/s.
    fn is_large_peak(&self) -> bool {
        self.key.starts_with("peaks_tflops.") && self.value().is_some_and(|value| value >= 1.0)
    }

    /// None of what is not a decimal number.
    fn value(&self) -> Option<f64> {
        self.text.replace('_', "").parse().ok()
    }
}

/// Refuses a file with a figure that no GPU has.
///
/// # Errors
/// [`CatalogError::Malformed`] at the first such figure.
pub(super) fn check(path: &str, text: &str) -> Result<(), CatalogError> {
    let mut wrong = None::<(usize, CatalogError)>;
    let has_base = text.lines().any(|line| line.starts_with("base"));
    for device in all(text) {
        // What works in TFLOP/s reads more than some GB/s, as old cards do.
        let is_new = has_base || device.iter().any(Written::is_large_peak);
        for written in &device {
            let Some(mut kind) = Kind::of(&written.key) else { continue };
            if is_new && written.key == "memory.bandwidth_gbs" {
                kind.least = LEAST_BANDWIDTH;
            }
            let is_first = wrong.as_ref().is_none_or(|(at, _)| written.at < *at);
            if is_first && let Some(error) = refusal(path, text, written, &kind) {
                wrong = Some((written.at, error));
            }
        }
    }
    wrong.map_or(Ok(()), |(_, error)| Err(error))
}

/// The error of a figure that is not of its kind.
fn refusal(path: &str, text: &str, written: &Written<'_>, kind: &Kind) -> Option<CatalogError> {
    let value = written.value().filter(|value| !kind.has(*value))?;
    let (key, found, Kind { unit, least, most, .. }) = (&written.key, written.text, kind);
    let message =
        format!("{key} = {found} is not possible: such GPUs have from {least} to {most} {unit}");
    let meant = kind.others.iter().find(|(_, size)| kind.has(value * size));
    let help = match meant {
        Some((other, size)) => {
            // Without the noise of binary fractions.
            let right = (value * size * 1e6).round() / 1e6;
            format!("was it {found} {other}? write {key} = {right}, in {unit}")
        }
        None => format!("write it in {unit}, as the key ends"),
    };
    Some(malformed(path, text, written.at, message, help))
}

/// Refuses a device that reached more than it can, where the file says what it reached.
///
/// # Errors
/// [`CatalogError::Malformed`] at the figure that was reached.
pub(super) fn check_reached(
    path: &str,
    text: &str,
    number: usize,
    device: &Device,
) -> Result<(), CatalogError> {
    /// Datasheets round, and caches help benchmarks.
    const ROUNDED: f64 = 1.05;
    let Some(written) = all(text).into_iter().nth(number) else { return Ok(()) };
    let published = device.memory.bandwidth.as_ref().map(|figure| figure.value.get());
    for written in written {
        let reached = match written.key.as_str() {
            "achievable_gbs.dram" => &device.achievable.dram,
            "achievable_gbs.lattice_boltzmann" => &device.achievable.lattice_boltzmann,
            _ => continue,
        };
        let reached = reached.as_ref().map(|reached| reached.value.get());
        if let (Some(reached), Some(published)) = (reached, published)
            && reached > published * ROUNDED
        {
            let message = format!(
                "{} = {} is more than the bandwidth of {}, {} GB/s",
                written.key,
                written.text,
                device.name,
                published / 1e9
            );
            let help = "no kernel moves more than memory.bandwidth_gbs: correct one of the two";
            return Err(malformed(path, text, written.at, message, help.to_owned()));
        }
    }
    Ok(())
}

fn malformed(path: &str, text: &str, at: usize, message: String, help: String) -> CatalogError {
    let (line, column) = plain::place(text, at);
    CatalogError::Malformed { path: path.to_owned(), line, column, message, help }
}

/// The numbers of each device of a file.
fn all(text: &str) -> Vec<Vec<Written<'_>>> {
    let Ok(file) = DeTable::parse(text) else { return Vec::new() };
    let numbers = |table: &DeTable<'_>| {
        let mut found = Vec::new();
        walk(table, "", text, &mut found);
        found
    };
    match file.get_ref().get("device").map(toml::Spanned::get_ref) {
        Some(DeValue::Array(devices)) => {
            let tables = devices.iter().filter_map(|device| device.get_ref().as_table());
            tables.map(numbers).collect()
        }
        _ => vec![numbers(file.get_ref())],
    }
}

/// A key at the top of a file that stands for `[[device]]`, which begins each of several devices.
///
/// # Errors
/// [`CatalogError::Malformed`] where there is one.
pub(super) fn check_tables(path: &str, text: &str) -> Result<(), CatalogError> {
    const MEANT: [&str; 5] = ["device", "devices", "gpu", "gpus", "accelerator"];
    let Ok(file) = DeTable::parse(text) else { return Ok(()) };
    for (name, value) in file.get_ref() {
        let key: &str = name.get_ref();
        let is_one = key == "device" && matches!(value.get_ref(), DeValue::Array(_));
        let is_meant = MEANT.iter().any(|meant| key.eq_ignore_ascii_case(meant));
        let is_table = matches!(value.get_ref(), DeValue::Array(_) | DeValue::Table(_));
        if is_meant && is_table && !is_one {
            let message = format!("unknown key {key:?}");
            let help = "did you mean [[device]]? it begins each device of a file with several";
            return Err(malformed(path, text, name.span().start, message, help.to_owned()));
        }
    }
    Ok(())
}

/// Adds the numbers of a table: bare ones, and those of tables with a source beside the value.
fn walk<'t>(table: &DeTable<'_>, path: &str, text: &'t str, found: &mut Vec<Written<'t>>) {
    for (name, value) in table {
        let name: &str = name.get_ref();
        let key = match path {
            "" => name.to_owned(),
            path if name == "value" => path.to_owned(),
            path => format!("{path}.{name}"),
        };
        match value.get_ref() {
            DeValue::Table(inner) => walk(inner, &key, text, found),
            DeValue::Integer(_) | DeValue::Float(_) => {
                let Range { start, end } = value.span();
                found.push(Written {
                    key,
                    text: text.get(start..end).unwrap_or_default(),
                    at: start,
                });
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::catalog::{Catalog, CatalogError, DEVICES};

    fn fault(text: &str) -> String {
        match Catalog::builtin().with_text("my.toml", text) {
            Ok(_) => String::new(),
            Err(error) => format!("{error} | {}", error.help()),
        }
    }

    /// TB/s, GHz, GFLOP/s: they passed, and every kernel was faster than its roofline.
    #[test]
    fn figures_in_another_unit_are_refused_where_they_are() {
        for (line, says) in [
            (
                "memory.bandwidth_gbs = 3.35\npeaks_tflops.bf16_matrix = 989",
                "my.toml:2:24: memory.bandwidth_gbs = 3.35 is not possible: such GPUs have from 10 to 100000 GB/s | \
                 was it 3.35 TB/s? write memory.bandwidth_gbs = 3350, in GB/s",
            ),
            (
                "boost_clock_mhz = { source = 'x', value = 1.5 }",
                "my.toml:2:43: boost_clock_mhz = 1.5 is not possible: such GPUs have from 100 to 10000 MHz | \
                 was it 1.5 GHz? write boost_clock_mhz = 1500, in MHz",
            ),
            (
                "peaks_tflops.fp32_vector = 15_400",
                "my.toml:2:28: peaks_tflops.fp32_vector = 15_400 is not possible: such GPUs have from 0.001 to 2000 TFLOP/s | \
                 was it 15_400 GFLOP/s? write peaks_tflops.fp32_vector = 15.4, in TFLOP/s",
            ),
            (
                "base_clock_mhz = 1_095_000",
                "was it 1_095_000 kHz? write base_clock_mhz = 1095, in MHz",
            ),
            ("memory.size_gb = 80_000", "was it 80_000 MB? write memory.size_gb = 80, in GB"),
            (
                "peaks_tflops = { int8_matrix = 4e6 }",
                "was it 4e6 GOP/s? write peaks_tflops.int8_matrix = 4000, in TOP/s",
            ),
        ] {
            let found = fault(&format!("name = 'My GPU'\n{line}\n"));
            assert!(found.contains(says), "{line}: {found}");
        }
        let two = "[[device]]\nname = 'a'\n[device.memory]\nbandwidth_gbs = 900\n[[device]]\nname = 'b'\nboost_clock_mhz = 2\n";
        assert!(fault(two).starts_with("my.toml:7:19: boost_clock_mhz = 2 "), "{}", fault(two));
    }

    #[test]
    fn no_device_reaches_more_than_its_bandwidth() {
        let text = "name = 'My GPU'\nmemory.bandwidth_gbs = 300\nachievable_gbs.dram = 320\n";
        assert_eq!(
            fault(text),
            "my.toml:3:23: achievable_gbs.dram = 320 is more than the bandwidth of My GPU, 300 GB/s | no kernel moves \
             more than memory.bandwidth_gbs: correct one of the two",
        );
        // The bandwidth is that of the base.
        let of = |reached: u32| {
            fault(&format!(
                "name = 'x'\nbase = 'H100 SXM5 80GB'\n[achievable_gbs]\ndram = {reached}\n"
            ))
        };
        assert!(
            of(3600).starts_with("my.toml:4:8: achievable_gbs.dram = 3600 is more"),
            "{}",
            of(3600)
        );
        assert_eq!(of(3000), "");
    }

    #[test]
    fn figures_of_built_in_devices_are_possible() {
        for device in DEVICES {
            if let Err(error) = super::check(device.id, device.text) {
                panic!("{error}");
            }
        }
        let small = "name = 'iGPU'\nboost_clock_mhz = 300\nmemory.bandwidth_gbs = 12.8\npeaks_tflops.fp64_vector = 0.005\n";
        assert_eq!(fault(small), "");
        let old = "name = 'GeForce 8400 GS'\nmemory.bandwidth_gbs = 6.4\npeaks_tflops.fp32_vector = 0.0432\n";
        assert_eq!(fault(old), "");
    }

    /// `[[devices]]` had a list of all keys of one device for an answer.
    #[test]
    fn a_table_that_is_named_otherwise_leads_to_its_name() {
        for text in [
            "[[devices]]\nname = 'a'\n",
            "# mine\n\n[[gpu]]\nname = 'a'\n",
            "[device]\nname = 'a'\n",
        ] {
            let error = Catalog::builtin().with_text("my.toml", text).unwrap_err();
            assert!(matches!(error, CatalogError::Malformed { .. }), "{text}");
            assert!(error.help().contains("[[device]]"), "{text}: {error} {}", error.help());
        }
        let found = fault("# mine\n\n[[devices]]\nname = 'a'\n");
        assert_eq!(
            found,
            "my.toml:3:3: unknown key \"devices\" | did you mean [[device]]? it begins each device of a file with several",
        );
    }
}
