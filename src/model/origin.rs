//! Origins of figures, with their uncertainty.

use std::hash::{Hash, Hasher};
use std::num::NonZeroU32;
use std::sync::Arc;

use serde::Serialize;

use super::positions::Positions;

/// How a value was obtained, from most to least direct.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OriginKind {
    /// Read from one column of the export.
    Measured,
    /// Computed from measured columns of the same launch.
    Derived,
    /// Computed from measured columns together with a catalog figure or an assumption.
    Modeled,
    /// Counted from the operator's shapes, not measured (`PyProf`, closed forms).
    Algorithmic,
    /// Measured while the kernel was instrumented: not the time of the real run.
    Instrumented,
}

impl OriginKind {
    /// All kinds, most direct first.
    pub const ALL: [Self; 5] =
        [Self::Measured, Self::Derived, Self::Modeled, Self::Algorithmic, Self::Instrumented];

    /// Returns the name used in reports.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Derived => "derived",
            Self::Modeled => "modeled",
            Self::Algorithmic => "algorithmic",
            Self::Instrumented => "instrumented",
        }
    }
}

/// The AMD target whose reads of 128 bytes some counters take for reads of 64.
pub(crate) const MI350: &str = "gfx950";

/// The derivation of a value: its kind, the formula in the export's own words, and its uncertainty.
#[derive(Debug, Clone, Serialize)]
pub struct Origin {
    /// How the value was obtained.
    pub kind: OriginKind,
    /// The column or formula, such as `dram__bytes_read.sum + dram__bytes_write.sum`.
    pub formula: String,
    /// Lower bound of the true value as a factor (1 if exact, 0 if unbounded).
    pub low: f64,
    /// Upper bound of the true value as a factor (1 if exact).
    pub high: f64,
}

impl Origin {
    /// Makes the origin of an exact value of this kind.
    #[must_use]
    pub fn new(kind: OriginKind, formula: impl Into<String>) -> Self {
        Self { kind, formula: formula.into(), low: 1.0, high: 1.0 }
    }

    /// Makes the origin of a value read from one column.
    #[must_use]
    pub fn measured(column: impl Into<String>) -> Self {
        Self::new(OriginKind::Measured, column)
    }

    /// Makes the origin of a value computed from columns.
    #[must_use]
    pub fn derived(formula: impl Into<String>) -> Self {
        Self::new(OriginKind::Derived, formula)
    }

    /// Sets the uncertainty: the true value is within `low` to `high` times the value.
    #[must_use]
    pub fn within(mut self, low: f64, high: f64) -> Self {
        self.low = low;
        self.high = high;
        self
    }

    /// Returns `true` for bytes of AMD counters that take a read of 128 bytes for one of 64 on [`MI350`]: there
    /// `TCC_BUBBLE` stays 0, of which `FETCH_SIZE` is made before ROCm 10.0.
    ///
    /// Source: ROCm Compute Profiler 3.5, "Corrected the formula for metrics related to reads from L2 cache to HBM for
    /// AMD Instinct MI350 Series GPUs".
    pub(crate) fn halves_reads_of_mi350(&self) -> bool {
        ["TCC_BUBBLE", "FETCH_SIZE", "FetchSize"].iter().any(|one| self.formula.contains(one))
    }

    /// Returns `true` if the value is exact rather than an interval.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.low == 1.0 && self.high == 1.0
    }
}

/// Origins are one if nothing tells them apart; their bounds are compared by their bits, so that they can be hashed.
impl PartialEq for Origin {
    fn eq(&self, other: &Self) -> bool {
        let bits = |origin: &Self| [origin.low, origin.high].map(f64::to_bits);
        self.kind == other.kind && bits(self) == bits(other) && self.formula == other.formula
    }
}

impl Eq for Origin {}

impl Hash for Origin {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self { kind, formula, low, high } = self;
        (kind, formula, low.to_bits(), high.to_bits()).hash(state);
    }
}

/// Reference to an [`Origin`] in [`Origins`]; the default is the first one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OriginId(NonZeroU32);

impl Default for OriginId {
    fn default() -> Self {
        Self(NonZeroU32::MIN)
    }
}

impl OriginId {
    /// The id of the origin at a position.
    fn at(position: usize) -> Self {
        let position = u32::try_from(position).unwrap_or(u32::MAX);
        Self(NonZeroU32::MIN.saturating_add(position))
    }

    /// The position of the origin.
    pub(crate) const fn position(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// The distinct origins of a profile.
#[derive(Debug, Clone, Default)]
pub struct Origins {
    all: Vec<Arc<Origin>>,
    positions: Positions,
}

impl Origins {
    /// Returns the id of an origin, adding it if it is new.
    pub fn id(&mut self, origin: &Origin) -> OriginId {
        let Self { all, positions } = self;
        let position = positions.find(origin, |at| &*all[at]).unwrap_or_else(|| {
            all.push(Arc::new(origin.clone()));
            positions.add(all.len() - 1, |at| &*all[at]);
            all.len() - 1
        });
        OriginId::at(position)
    }

    /// Returns the origins from an id on.
    pub(super) fn since(&self, first: usize) -> Vec<Arc<Origin>> {
        self.all[first..].to_vec()
    }

    /// Iterates over all origins by id.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Origin> {
        self.all.iter().map(|origin| &**origin)
    }

    /// Returns the origin with this id.
    ///
    /// # Panics
    /// If the id came from another profile.
    #[must_use]
    pub fn get(&self, id: OriginId) -> &Origin {
        &self.all[id.position()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each of 70,000 kernels may have a range of its own.
    #[test]
    fn each_origin_is_itself_however_many_there_are() {
        let of = |at: u32| Origin::derived("mean").within(0.5, 1.0 + f64::from(at) / 1e6);
        let mut origins = Origins::default();
        let ids: Vec<OriginId> = (0..70_000).map(|at| origins.id(&of(at))).collect();
        for at in [0, 1, 254, 255, 256, 65_535, 65_536, 69_999] {
            let id = ids[at as usize];
            assert_eq!(origins.id(&of(at)), id);
            assert_eq!(*origins.get(id), of(at));
        }
        assert_eq!(origins.iter().count(), 70_000);
        assert_eq!(size_of::<Option<OriginId>>(), 4);
    }
}
