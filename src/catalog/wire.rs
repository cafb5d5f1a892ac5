//! The device file as it is written: TOML shapes and their checks, private to the catalog.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::figure::Confidence;
use crate::model::Pipe;

/// Several devices in one file of the user.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ManyWire {
    pub(super) device: Vec<DeviceWire>,
}

/// One device; only the name is required.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DeviceWire {
    pub(super) name: String,
    pub(super) driver_name: Option<String>,
    #[serde(default)]
    pub(super) aliases: Vec<String>,
    pub(super) vendor: Option<String>,
    pub(super) architecture: Option<String>,
    pub(super) chip: Option<String>,
    pub(super) compute_capability: Option<String>,
    pub(super) gfx: Option<String>,
    pub(super) rate_class: Option<String>,
    pub(super) confidence: Option<Confidence>,
    #[serde(default)]
    pub(super) notes: Vec<String>,
    pub(super) sms: Option<Cited<u32>>,
    pub(super) base_clock_mhz: Option<Cited<Positive>>,
    pub(super) boost_clock_mhz: Option<Cited<Positive>>,
    pub(super) lowest_boost_clock_mhz: Option<Cited<Positive>>,
    pub(super) tensor_clock_mhz: Option<Cited<Positive>>,
    pub(super) tdp_w: Option<Cited<u32>>,
    pub(super) nvlink_gbs: Option<Cited<Positive>>,
    pub(super) launch_year: Option<Cited<u16>>,
    pub(super) pcie: Option<Cited<String>>,
    #[serde(default)]
    pub(super) memory: MemoryWire,
    #[serde(default)]
    pub(super) cache: CacheWire,
    #[serde(default)]
    pub(super) peaks_tflops: BTreeMap<Key<false>, Cited<Positive>>,
    #[serde(default)]
    pub(super) peaks_sparse_tflops: BTreeMap<Key<true>, Cited<Positive>>,
    #[serde(default)]
    pub(super) achievable_gbs: AchievableWire,
    #[serde(default)]
    pub(super) achievable_tflops: BTreeMap<Key<false>, AchievedWire>,
    #[serde(default)]
    pub(super) exceptions: Vec<ExceptionWire>,
    #[serde(default)]
    pub(super) sources: BTreeMap<String, String>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct MemoryWire {
    pub(super) kind: Option<String>,
    pub(super) size_gb: Option<Cited<Positive>>,
    pub(super) bus_bits: Option<Cited<u32>>,
    pub(super) pin_rate_gbps: Option<Cited<Positive>>,
    pub(super) bandwidth_gbs: Option<Cited<Positive>>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct CacheWire {
    pub(super) l1_shared_kib_per_sm: Option<Cited<Positive>>,
    pub(super) l2_mib: Option<Cited<Positive>>,
    pub(super) l2_bandwidth_gbs: Option<Cited<Positive>>,
    pub(super) last_level_mib: Option<Cited<Positive>>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct AchievableWire {
    pub(super) dram: Option<AchievedWire>,
    pub(super) lattice_boltzmann: Option<AchievedWire>,
    pub(super) l2: Option<AchievedWire>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AchievedWire {
    pub(super) value: Positive,
    pub(super) kernel: Option<String>,
    pub(super) method: Option<String>,
    pub(super) conditions: Option<String>,
    pub(super) source: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExceptionWire {
    pub(super) figures: Vec<String>,
    pub(super) reason: String,
    pub(super) implied_clock_mhz: Option<Positive>,
}

/// A value with its source, or a bare value: `132`, `{ value = 132, source = "datasheet" }`.
pub(super) struct Cited<T> {
    pub(super) value: T,
    pub(super) source: Option<String>,
    pub(super) derived: bool,
}

/// A number above zero; unknown figures are omitted, never written as zero.
#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "f64")]
pub(super) struct Positive(pub(super) f64);

impl TryFrom<f64> for Positive {
    type Error = String;

    fn try_from(value: f64) -> Result<Self, String> {
        if value.is_finite() && value > 0.0 {
            Ok(Self(value))
        } else {
            Err(format!("{value} is not above zero; omit unknown figures"))
        }
    }
}

/// The key of a pipe; in tables of sparse peaks, written without `_sparse`.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key<const SPARSE: bool>(pub(super) Pipe);

impl<'de, const SPARSE: bool> Deserialize<'de> for Key<SPARSE> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let key = String::deserialize(deserializer)?;
        let known = |pipe: &Pipe| pipe.is_sparse() == SPARSE && *pipe != Pipe::Unstated;
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
