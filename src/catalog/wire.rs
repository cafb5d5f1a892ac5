//! The device file as it is written: TOML shapes and their checks, private to the catalog.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::figure::Confidence;
use super::links::pcie_bandwidth;
use super::rates;
use crate::json;
use crate::model::Pipe;

/// The JSON schema of device files, as pretty-printed JSON.
#[must_use]
pub fn schema() -> String {
    json::schema_of_toml::<FileWire>("devices", "Device file of rooflint")
}

/// A device file of a user: one device, or several.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used: which of the two a file is, its keys say")]
pub(super) enum FileWire {
    Many(ManyWire),
    One(Box<DeviceWire>),
}

/// Several devices in one file of the user.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ManyWire {
    /// The devices.
    pub(super) device: Vec<DeviceWire>,
}

/// One device; only the name is required.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DeviceWire {
    /// Unique name, shown in reports.
    pub(super) name: Name,
    /// A built-in device whose figures hold where this one gives none; peaks follow from clock and SMs.
    #[schemars(with = "Option<String>")]
    pub(super) base: Option<toml::Spanned<String>>,
    /// Name that the driver reports.
    pub(super) driver_name: Option<String>,
    /// Names that other tools use.
    #[serde(default)]
    pub(super) aliases: Vec<String>,
    /// Vendor, such as NVIDIA.
    pub(super) vendor: Option<String>,
    /// Architecture, such as Hopper.
    pub(super) architecture: Option<String>,
    /// Chip, such as GH100.
    pub(super) chip: Option<String>,
    /// Compute capability of an NVIDIA device, such as "9.0".
    pub(super) compute_capability: Option<Capability>,
    /// Target of an AMD device, such as "gfx942".
    pub(super) gfx: Option<Gfx>,
    /// Class of rates per clock, where devices of one target differ.
    pub(super) rate_class: Option<RateClass>,
    /// How well the main figures are documented.
    pub(super) confidence: Option<Confidence>,
    /// Of a package whose GPUs are devices of their own: the device of one, on which a launch runs.
    pub(super) launches_on: Option<String>,
    /// Remarks, one sentence each.
    #[serde(default)]
    pub(super) notes: Vec<String>,
    /// Multiprocessors (compute units, Xe cores) as the profiler sees them.
    pub(super) sms: Option<Cited<Count>>,
    /// Base clock in MHz.
    pub(super) base_clock_mhz: Option<Cited<Positive>>,
    /// Clock in MHz at which peaks are quoted.
    pub(super) boost_clock_mhz: Option<Cited<Positive>>,
    /// Rated boost clock in MHz at the lowest power, of laptop parts and modules.
    pub(super) lowest_boost_clock_mhz: Option<Cited<Positive>>,
    /// Clock in MHz at which peaks of tensor cores are quoted, if it is another.
    pub(super) tensor_clock_mhz: Option<Cited<Positive>>,
    /// Power limit in watts.
    pub(super) tdp_w: Option<Cited<Count>>,
    /// Bandwidth of `NVLink` in GB/s.
    pub(super) nvlink_gbs: Option<Cited<Positive>>,
    /// Bandwidth of `NVLink-C2C` to the host in GB/s, both directions together.
    pub(super) c2c_gbs: Option<Cited<Positive>>,
    /// Year of the launch.
    pub(super) launch_year: Option<Cited<u16>>,
    /// PCI Express generation and lanes.
    pub(super) pcie: Option<Cited<Lanes>>,
    /// Device memory.
    #[serde(default)]
    pub(super) memory: MemoryWire,
    /// Caches.
    #[serde(default)]
    pub(super) cache: CacheWire,
    /// Dense peaks per pipe in TFLOP/s; integers in TOP/s.
    #[serde(default)]
    #[schemars(with = "Pipes<false, Cited<Positive>>")]
    pub(super) peaks_tflops: BTreeMap<Key<false>, Cited<Positive>>,
    /// Peaks of matrix pipes with structured sparsity, in TFLOP/s; integers in TOP/s.
    #[serde(default)]
    #[schemars(with = "Pipes<true, Cited<Positive>>")]
    pub(super) peaks_sparse_tflops: BTreeMap<Key<true>, Cited<Positive>>,
    /// Bandwidths in GB/s that published benchmarks reached.
    #[serde(default)]
    pub(super) achievable_gbs: AchievableWire,
    /// Rates per pipe in TFLOP/s that published benchmarks reached.
    #[serde(default)]
    #[schemars(with = "Pipes<false, AchievedWire>")]
    pub(super) achievable_tflops: BTreeMap<Key<false>, AchievedWire>,
    /// Published figures that do not follow from rate, units and clock.
    #[serde(default)]
    pub(super) exceptions: Vec<ExceptionWire>,
    /// Citations by the keys that figures name as their source.
    #[serde(default)]
    pub(super) sources: BTreeMap<String, String>,
}

/// Device memory.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct MemoryWire {
    /// Kind, such as HBM3.
    pub(super) kind: Option<String>,
    /// Size in GB (10⁹ bytes).
    pub(super) size_gb: Option<Cited<Positive>>,
    /// Width of the bus in bits.
    pub(super) bus_bits: Option<Cited<Count>>,
    /// Data rate of a pin in Gbit/s.
    pub(super) pin_rate_gbps: Option<Cited<Positive>>,
    /// Bandwidth in GB/s; computed from bus and pin rate if left out.
    pub(super) bandwidth_gbs: Option<Cited<Positive>>,
}

/// Caches.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct CacheWire {
    /// L1 and shared memory of a multiprocessor in KiB.
    pub(super) l1_shared_kib_per_sm: Option<Cited<Positive>>,
    /// L2 in MiB.
    pub(super) l2_mib: Option<Cited<Positive>>,
    /// Bandwidth of L2 in GB/s.
    pub(super) l2_bandwidth_gbs: Option<Cited<Positive>>,
    /// Last-level cache in MiB, such as AMD's Infinity Cache.
    pub(super) last_level_mib: Option<Cited<Positive>>,
}

/// Bandwidths that published benchmarks reached.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct AchievableWire {
    /// Of device memory, by the best simple kernel.
    pub(super) dram: Option<AchievedWire>,
    /// Of device memory, by a lattice-Boltzmann program.
    pub(super) lattice_boltzmann: Option<AchievedWire>,
    /// Of L2.
    pub(super) l2: Option<AchievedWire>,
}

/// A rate that was reached: a bare value, or one with what reached it.
pub(super) struct AchievedWire(pub(super) AchievedTable);

/// A rate that a published benchmark reached.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AchievedTable {
    /// The rate, in the unit of the table.
    pub(super) value: Positive,
    /// Kernel of the benchmark.
    pub(super) kernel: Option<String>,
    /// The benchmark and how it computes its result.
    pub(super) method: Option<String>,
    /// Shapes, versions, clocks and power.
    pub(super) conditions: Option<String>,
    /// Citation, or a key of `[sources]`.
    pub(super) source: Option<String>,
}

/// Published figures that do not follow from rate, units and clock.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ExceptionWire {
    /// Keys of the figures: pipes, or `bandwidth`.
    pub(super) figures: Vec<String>,
    /// Why the published value is used.
    pub(super) reason: String,
    /// Clock in MHz at which the formula gives the published value.
    pub(super) implied_clock_mhz: Option<Positive>,
}

/// A value with its source, or a bare value: `132`, `{ value = 132, source = "datasheet" }`.
pub(super) struct Cited<T> {
    pub(super) value: T,
    pub(super) source: Option<String>,
    pub(super) derived: bool,
}

/// The schema of a value that is checked as it is read, in the place where it is used.
macro_rules! inline_schema {
    ($value:ident, $schema:tt) => {
        impl JsonSchema for $value {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($value).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    };
}

/// A number above zero; unknown figures are omitted, never written as zero.
#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "f64")]
pub(super) struct Positive(pub(super) f64);

impl TryFrom<f64> for Positive {
    type Error = String;

    fn try_from(value: f64) -> Result<Self, String> {
        if value.is_nan() || value <= 0.0 {
            Err(format!("{value} is not above zero; omit unknown figures"))
        } else if value >= LARGEST {
            Err(format!("{value:e} is too large: a key ends in its unit, such as `_gbs` in GB/s"))
        } else {
            Ok(Self(value))
        }
    }
}

/// No figure of a device is as large in the unit of its key, and most are in base units.
const LARGEST: f64 = 1e9;

inline_schema!(Positive, { "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1e9 });

/// Generation and lanes of PCI Express.
#[derive(Clone, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Lanes(pub(super) String);

impl TryFrom<String> for Lanes {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match pcie_bandwidth(&text) {
            Some(_) => Ok(Self(text)),
            None => {
                Err(format!("{text:?} does not name a generation and lanes, such as \"5.0 x16\""))
            }
        }
    }
}

inline_schema!(Lanes, { "type": "string", "pattern": "^(?:[12]\\.[01]|[3-6]\\.0) x[1-9][0-9]?$" });

/// A whole number above zero.
#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "u32")]
pub(super) struct Count(pub(super) u32);

impl TryFrom<u32> for Count {
    type Error = String;

    fn try_from(value: u32) -> Result<Self, String> {
        Positive::try_from(f64::from(value)).map(|_| Self(value))
    }
}

inline_schema!(Count, { "type": "integer", "format": "uint32", "minimum": 1 });

/// A name that can be shown and asked for.
#[derive(Clone, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Name(pub(super) String);

impl TryFrom<String> for Name {
    type Error = &'static str;

    fn try_from(name: String) -> Result<Self, &'static str> {
        if name.trim().is_empty() { Err("a device needs a name") } else { Ok(Self(name)) }
    }
}

inline_schema!(Name, { "type": "string", "pattern": "\\S" });

/// A compute capability: major and minor.
#[derive(Clone, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Capability(pub(super) String);

impl TryFrom<String> for Capability {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let is_number = |text: &str| {
            (1..=3).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
        };
        // `9.0a` and `10.0f` are code for it, and no other device.
        let plain = text.strip_suffix(['a', 'f']).unwrap_or(&text);
        match plain.split_once('.') {
            Some((major, minor)) if is_number(major) && is_number(minor) => {
                Ok(Self(plain.to_owned()))
            }
            _ => Err(format!("{text:?} is not a compute capability, such as \"9.0\"")),
        }
    }
}

inline_schema!(Capability, { "type": "string", "pattern": "^[0-9]{1,3}\\.[0-9]{1,3}[af]?$" });

/// A target of AMD's compiler.
#[derive(Clone, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Gfx(pub(super) String);

impl TryFrom<String> for Gfx {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        // `gfx90a:sramecc+:xnack-` is how a device is set, and `gfx11-generic` code for several.
        let target = text.split(':').next().unwrap_or_default();
        let number = target.strip_prefix("gfx").unwrap_or_default();
        let number = number.strip_suffix("-generic").unwrap_or(number);
        let is_number = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-');
        if number.starts_with(|first: char| first.is_ascii_digit()) && number.bytes().all(is_number)
        {
            Ok(Self(target.to_owned()))
        } else {
            Err(format!("{text:?} is not a target of AMD's compiler, such as \"gfx942\""))
        }
    }
}

inline_schema!(Gfx, { "type": "string", "pattern": "^gfx[0-9][0-9a-f-]*(-generic)?(:.*)?$" });

/// A class of the table of rates.
#[derive(Clone, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct RateClass(pub(super) String);

impl TryFrom<String> for RateClass {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let known = rates::class_names();
        if known.contains(text.as_str()) {
            return Ok(Self(text));
        }
        let known = known.iter().copied().collect::<Vec<_>>().join(", ");
        Err(format!("unknown class of rates {text:?}, expected one of {known}"))
    }
}

impl JsonSchema for RateClass {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "RateClass".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": rates::class_names() })
    }
}

impl JsonSchema for AchievedWire {
    fn schema_name() -> Cow<'static, str> {
        "AchievedWire".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let bare = generator.subschema_for::<Positive>();
        let table = generator.subschema_for::<AchievedTable>();
        json_schema!({
            "description": "A rate that was reached, or one with what reached it.",
            "anyOf": [bare, table]
        })
    }
}

impl<'de> Deserialize<'de> for AchievedWire {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AchievedVisitor)
    }
}

/// Visitor with clear error messages, unlike an untagged enum.
struct AchievedVisitor;

impl AchievedVisitor {
    fn bare<E: Error>(value: f64) -> Result<AchievedWire, E> {
        let value = Positive::try_from(value).map_err(E::custom)?;
        let (kernel, method, conditions, source) = (None, None, None, None);
        Ok(AchievedWire(AchievedTable { value, kernel, method, conditions, source }))
    }
}

impl<'de> Visitor<'de> for AchievedVisitor {
    type Value = AchievedWire;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter
            .write_str("a number, or a table with value, kernel, method, conditions and source")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
        Self::bare(value as f64)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
        Self::bare(value)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        AchievedTable::deserialize(MapAccessDeserializer::new(map)).map(AchievedWire)
    }
}

impl<T: JsonSchema> JsonSchema for Cited<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("Cited_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let value = generator.subschema_for::<T>();
        json_schema!({
            "description": "A value, or a value with its source.",
            "anyOf": [value.clone(), {
                "type": "object",
                "additionalProperties": false,
                "required": ["value"],
                "properties": {
                    "value": { "description": "The value.", "allOf": [value] },
                    "source": {
                        "description": "Citation, or a key of `[sources]`.",
                        "type": "string"
                    },
                    "derived": {
                        "description": "True if it was computed from other figures instead of published.",
                        "type": "boolean"
                    }
                }
            }]
        })
    }
}

/// Stands in the schema for a table by pipes.
pub(super) struct Pipes<const SPARSE: bool, T>(PhantomData<T>);

impl<const SPARSE: bool, T: JsonSchema> JsonSchema for Pipes<SPARSE, T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Pipes".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let value = generator.subschema_for::<T>();
        let known = Pipe::ALL.iter().filter(|pipe| is_key::<SPARSE>(**pipe));
        let of = |pipe: &Pipe| {
            let described = json_schema!({ "description": pipe.label(), "allOf": [value.clone()] });
            (pipe.dense().key().to_owned(), described.to_value())
        };
        let keys: serde_json::Map<String, serde_json::Value> = known.map(of).collect();
        json_schema!({ "type": "object", "additionalProperties": false, "properties": keys })
    }
}

/// Whether a pipe has a key in a table of sparse peaks, or of dense ones.
fn is_key<const SPARSE: bool>(pipe: Pipe) -> bool {
    pipe.is_sparse() == SPARSE && pipe != Pipe::Unstated
}

/// The key of a pipe; in tables of sparse peaks, written without `_sparse`.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key<const SPARSE: bool>(pub(super) Pipe);

impl<'de, const SPARSE: bool> Deserialize<'de> for Key<SPARSE> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let key = String::deserialize(deserializer)?;
        let known = |pipe: &Pipe| is_key::<SPARSE>(*pipe);
        let pipe = Pipe::from_key(&if SPARSE { format!("{key}_sparse") } else { key.clone() });
        pipe.filter(known).map(Self).ok_or_else(|| {
            let keys = Pipe::ALL.iter().copied().filter(known).map(|pipe| pipe.dense().key());
            let keys = keys.collect::<Vec<_>>().join(", ");
            D::Error::custom(format!("unknown pipe {key:?}, expected one of {keys}"))
        })
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Cited<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CitedVisitor(PhantomData))
    }
}

/// Visitor with clear error messages, unlike an untagged enum.
struct CitedVisitor<T>(PhantomData<T>);

impl<T> CitedVisitor<T> {
    fn bare<'de, E: Error>(value: impl IntoDeserializer<'de, E>) -> Result<Cited<T>, E>
    where
        T: Deserialize<'de>,
    {
        let value = T::deserialize(value.into_deserializer())?;
        Ok(Cited { value, source: None, derived: false })
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for CitedVisitor<T> {
    type Value = Cited<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a value, or a table with value, source and derived")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
        Self::bare(value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
        Self::bare(value)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Self::Value, E> {
        Self::bare(value)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Table<T> {
            value: T,
            source: Option<String>,
            #[serde(default)]
            derived: bool,
        }
        let table = Table::<T>::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Cited { value: table.value, source: table.source, derived: table.derived })
    }
}
