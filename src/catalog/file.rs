//! Reads device files, built in or the user's: from TOML text to [`Device`].

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;

use super::based;
use super::device::{Achievable, Device, Memory, Provenance};
use super::error::CatalogError;
use super::figure::{Achieved, Citation, Exception, Figure};
use super::names::slug;
use super::plausible;
use super::wire::{AchievedWire, Cited, Count, DeviceWire, ExceptionWire, Key, ManyWire, Positive};
use crate::model::Pipe;
use crate::plain;
use crate::roofline;
use crate::units::{BytesPerSecond, FlopsPerSecond, Hertz};

const MEGA: f64 = 1e6;
const GIGA: f64 = 1e9;
const TERA: f64 = 1e12;
const KIBI: f64 = 1024.0;
const MEBI: f64 = KIBI * KIBI;

/// Reads one built-in device file.
pub(super) fn builtin(id: &str, text: &str) -> Result<Device, CatalogError> {
    let wire: DeviceWire = parse(&format!("devices/{id}.toml"), text)?;
    Ok(device(wire, Some(id), Provenance::Builtin))
}

/// Reads a user's file: one device at top level, or several under `[[device]]`.
///
/// `builtin` finds the text of a built-in device, for those that are based on one.
pub(super) fn user(
    path: &str,
    text: &str,
    builtin: impl Fn(&str) -> Result<&'static str, CatalogError>,
) -> Result<Vec<Device>, CatalogError> {
    let mut table: toml::Table = parse(path, text)?;
    plausible::check_tables(path, text)?;
    let (wires, tables) = match table.get_mut("device").and_then(toml::Value::as_array_mut) {
        Some(tables) => (parse::<ManyWire>(path, text)?.device, std::mem::take(tables)),
        None => (vec![parse::<DeviceWire>(path, text)?], vec![toml::Value::Table(table)]),
    };
    plausible::check(path, text)?;
    let from_file = |(number, (wire, own)): (usize, (DeviceWire, toml::Value))| {
        let wire = match (&wire.base, own) {
            (Some(base), toml::Value::Table(own)) => {
                let malformed = |message: String, help: String| {
                    let (line, column) = plain::place(text, base.span().start);
                    CatalogError::Malformed { path: path.to_owned(), line, column, message, help }
                };
                let known = builtin(base.get_ref())
                    .map_err(|error| malformed(error.to_string(), error.help()))?;
                let known = based::cited(parse(base.get_ref(), known)?);
                let merged = toml::Value::Table(based::merged(known, own));
                merged.try_into().map_err(|error: toml::de::Error| {
                    malformed(error.message().to_owned(), String::new())
                })?
            }
            _ => wire,
        };
        let device = device(wire, None, Provenance::UserFile(path.to_owned()));
        plausible::check_reached(path, text, number, &device)?;
        Ok(device)
    };
    wires.into_iter().zip(tables).enumerate().map(from_file).collect()
}

fn parse<T: DeserializeOwned>(path: &str, text: &str) -> Result<T, CatalogError> {
    toml::from_str(text).map_err(|error| {
        let fault = plain::toml(text, &error);
        CatalogError::Malformed {
            path: path.to_owned(),
            line: fault.line,
            column: fault.column,
            message: fault.message,
            help: fault.help,
        }
    })
}

fn device(wire: DeviceWire, id: Option<&str>, provenance: Provenance) -> Device {
    let mut sources = Sources { texts: wire.sources, plain: BTreeMap::new() };
    sources.cite_names();
    let (memory, cache) = (wire.memory, wire.cache);
    Device {
        id: id.map_or_else(|| slug(&wire.name.0), str::to_owned),
        sms: sources.count("sms", wire.sms),
        base_clock: sources.figure(wire.base_clock_mhz, MEGA, Hertz::new),
        boost_clock: sources.figure(wire.boost_clock_mhz, MEGA, Hertz::new),
        lowest_boost_clock: sources.figure(wire.lowest_boost_clock_mhz, MEGA, Hertz::new),
        tensor_clock: sources.figure(wire.tensor_clock_mhz, MEGA, Hertz::new),
        memory: with_bandwidth(Memory {
            kind: memory.kind,
            bytes: sources.bytes("memory.size_gb", memory.size_gb, GIGA),
            bus_bits: sources.count("memory.bus_bits", memory.bus_bits),
            clock: sources.figure(memory.pin_rate_gbps, GIGA / 2.0, Hertz::new),
            bandwidth: sources.figure(memory.bandwidth_gbs, GIGA, BytesPerSecond::new),
        }),
        l1_shared_bytes_per_sm: sources.bytes(
            "cache.l1_shared_kib_per_sm",
            cache.l1_shared_kib_per_sm,
            KIBI,
        ),
        l2_bytes: sources.bytes("cache.l2_mib", cache.l2_mib, MEBI),
        last_level_bytes: sources.bytes("cache.last_level_mib", cache.last_level_mib, MEBI),
        l2_bandwidth: sources.figure(cache.l2_bandwidth_gbs, GIGA, BytesPerSecond::new),
        peaks: sources.peaks(wire.peaks_tflops, wire.peaks_sparse_tflops),
        achievable: Achievable {
            dram: sources.achieved(wire.achievable_gbs.dram, GIGA, BytesPerSecond::new),
            lattice_boltzmann: sources.achieved(
                wire.achievable_gbs.lattice_boltzmann,
                GIGA,
                BytesPerSecond::new,
            ),
            l2: sources.achieved(wire.achievable_gbs.l2, GIGA, BytesPerSecond::new),
            l1: None,
            shared: None,
            peaks: sources.achieved_peaks(wire.achievable_tflops),
        },
        tdp_watts: sources.count("tdp_w", wire.tdp_w),
        pcie: sources.plain("pcie", wire.pcie).map(|lanes| lanes.0),
        c2c: sources.figure(wire.c2c_gbs, GIGA, BytesPerSecond::new),
        nvlink: sources.figure(wire.nvlink_gbs, GIGA, BytesPerSecond::new),
        launch_year: sources.plain("launch_year", wire.launch_year),
        exceptions: wire.exceptions.into_iter().map(exception).collect(),
        name: wire.name.0,
        driver_name: wire.driver_name,
        aliases: wire.aliases,
        vendor: wire.vendor,
        architecture: wire.architecture,
        chip: wire.chip,
        compute_capability: wire.compute_capability.map(|capability| capability.0),
        gfx: wire.gfx.map(|gfx| gfx.0),
        rate_class: wire.rate_class.map(|class| class.0),
        confidence: wire.confidence,
        notes: wire.notes,
        citations: sources.plain,
        provenance,
        launches_on: wire.launches_on,
        part: None,
    }
}

/// Computes the bandwidth from bus width and pin rate, if only these are given.
fn with_bandwidth(mut memory: Memory) -> Memory {
    if let (None, Some(bits), Some(clock)) = (&memory.bandwidth, memory.bus_bits, &memory.clock) {
        memory.bandwidth = Some(Figure {
            value: roofline::ddr_bandwidth(bits, clock.value),
            source: format!("pin rate × bus width ({})", clock.source),
            derived: true,
        });
    }
    memory
}

fn exception(wire: ExceptionWire) -> Exception {
    let implied_clock = wire.implied_clock_mhz.map(|Positive(mhz)| Hertz::new(mhz * MEGA));
    Exception { figures: wire.figures, reason: wire.reason, implied_clock }
}

/// Rounds to whole numbers of the base unit, which 4.11 × 10¹² in binary is not.
fn whole(value: f64) -> f64 {
    value.round()
}

/// The citations of one file, and the attributes that have one.
struct Sources {
    texts: BTreeMap<String, String>,
    plain: BTreeMap<&'static str, Citation>,
}

impl Sources {
    /// Returns the full citation: the entry under `[sources]`, else the text itself.
    fn cite(&self, key: Option<String>) -> String {
        let Some(key) = key else { return "user file".to_owned() };
        self.texts.get(&key).cloned().unwrap_or(key)
    }

    /// Cites all names by the key `names`, because they have no source key of their own.
    fn cite_names(&mut self) {
        if let Some(source) = self.texts.get("names").cloned() {
            self.plain.insert("names", Citation { source, derived: false });
        }
    }

    fn count(&mut self, name: &'static str, cited: Option<Cited<Count>>) -> Option<u32> {
        self.plain(name, cited).map(|Count(count)| count)
    }

    fn plain<T>(&mut self, name: &'static str, cited: Option<Cited<T>>) -> Option<T> {
        let Cited { value, source, derived } = cited?;
        self.plain.insert(name, Citation { source: self.cite(source), derived });
        Some(value)
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive by type, rounded, and far below 2^53"
    )]
    fn bytes(
        &mut self,
        name: &'static str,
        cited: Option<Cited<Positive>>,
        unit: f64,
    ) -> Option<u64> {
        self.plain(name, cited).map(|Positive(value)| (value * unit).round() as u64)
    }

    fn figure<T>(
        &self,
        cited: Option<Cited<Positive>>,
        unit: f64,
        quantity: fn(f64) -> T,
    ) -> Option<Figure<T>> {
        let Cited { value: Positive(value), source, derived } = cited?;
        Some(Figure { value: quantity(whole(value * unit)), source: self.cite(source), derived })
    }

    fn peaks(
        &self,
        dense: BTreeMap<Key<false>, Cited<Positive>>,
        sparse: BTreeMap<Key<true>, Cited<Positive>>,
    ) -> BTreeMap<Pipe, Figure<FlopsPerSecond>> {
        let dense = dense.into_iter().map(|(Key(pipe), cited)| (pipe, cited));
        let sparse = sparse.into_iter().map(|(Key(pipe), cited)| (pipe, cited));
        let peak = |cited| self.figure(Some(cited), TERA, FlopsPerSecond::new);
        dense.chain(sparse).filter_map(|(pipe, cited)| Some((pipe, peak(cited)?))).collect()
    }

    fn achieved<T>(
        &self,
        wire: Option<AchievedWire>,
        unit: f64,
        quantity: fn(f64) -> T,
    ) -> Option<Achieved<T>> {
        let AchievedWire(wire) = wire?;
        Some(Achieved {
            value: quantity(whole(wire.value.0 * unit)),
            kernel: wire.kernel,
            method: wire.method,
            conditions: wire.conditions,
            source: self.cite(wire.source),
        })
    }

    fn achieved_peaks(
        &self,
        wires: BTreeMap<Key<false>, AchievedWire>,
    ) -> BTreeMap<Pipe, Achieved<FlopsPerSecond>> {
        let achieved = |wire| self.achieved(Some(wire), TERA, FlopsPerSecond::new);
        wires.into_iter().filter_map(|(Key(pipe), wire)| Some((pipe, achieved(wire)?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file whose devices are based on no other.
    fn user(path: &str, text: &str) -> Result<Vec<Device>, CatalogError> {
        super::user(path, text, |_| Ok(""))
    }

    /// Six lines are enough for a device of one's own.
    const SMALL: &str = r#"
name = "My GPU"
sms = 40
boost_clock_mhz = 1500
memory.bandwidth_gbs = 300
peaks_tflops.fp32_vector = 8.1
peaks_tflops.fp16_matrix = { value = 65, source = "datasheet" }
"#;

    #[test]
    fn a_small_file_is_a_device() {
        let device = user("my.toml", SMALL).unwrap().remove(0);
        assert_eq!((device.id.as_str(), device.sms), ("my-gpu", Some(40)));
        assert_eq!(device.boost_clock.as_ref().unwrap().value, Hertz::new(1.5e9));
        assert_eq!(device.need_bandwidth().unwrap(), BytesPerSecond::new(300e9));
        assert_eq!(device.peak(Pipe::Fp32Vector).unwrap().source, "user file");
        assert_eq!(device.peak(Pipe::Fp16Matrix).unwrap().source, "datasheet");
        assert_eq!(device.provenance, Provenance::UserFile("my.toml".into()));
        let missing = device.need_peak(Pipe::Fp8MatrixSparse).unwrap_err().to_string();
        assert_eq!(
            missing,
            "the device file my.toml does not have peaks_sparse_tflops.fp8_matrix for My GPU"
        );
    }

    #[test]
    fn several_devices_fit_in_one_file() {
        let text = "[[device]]\nname = \"One\"\n\n[[device]]\nname = \"Two\"\nmemory = { bus_bits = 256, pin_rate_gbps = 14 }\n";
        let devices = user("two.toml", text).unwrap();
        assert_eq!(devices.len(), 2);
        assert_eq!(devices[1].need_bandwidth().unwrap(), BytesPerSecond::new(448e9));
    }

    #[test]
    fn faults_are_reported_where_they_are() {
        let fault = |text: &str| user("my.toml", text).unwrap_err().to_string();
        let at = |text: &str| fault(text).split(": ").next().unwrap().to_owned();
        assert_eq!(at("name = \"X\"\nsms = \"many\"\n"), "my.toml:2:7");
        assert_eq!(at("name = \"X\"\nclock = 3\n"), "my.toml:2:1");
        assert_eq!(at("name = \"X\"\n[memory]\nbandwidth_gbs = 0\n"), "my.toml:3:17");
        assert_eq!(at("name = \"X\"\npeaks_tflops.fp23 = 3\n"), "my.toml:2:14");
        assert_eq!(at("name = \"X\"\nsms = { value = 3, unit = 4 }\n"), "my.toml:2:20");
        assert_eq!(at("name = \"X\nsms = 4\n"), "my.toml:1:10");
        assert!(fault("sms = 4\n").contains("missing key \"name\""));
        let pipes = fault("name = \"X\"\npeaks_sparse_tflops.fp64_vector = 3\n");
        assert!(pipes.contains("unknown pipe \"fp64_vector\""), "{pipes}");
    }
}
