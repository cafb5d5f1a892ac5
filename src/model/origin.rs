//! Origins of figures, with their uncertainty.

use std::sync::Arc;

use serde::Serialize;

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

/// The derivation of a value: its kind, the formula in the export's own words, and its uncertainty.
#[derive(Debug, Clone, PartialEq, Serialize)]
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

    /// Returns `true` if the value is exact rather than an interval.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.low == 1.0 && self.high == 1.0
    }
}

/// Reference to an [`Origin`] in [`Origins`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct OriginId(pub u8);

/// The distinct origins of a profile: at most 255, the rest share the last one.
#[derive(Debug, Clone, Default)]
pub struct Origins(Vec<Arc<Origin>>);

impl Origins {
    /// Returns the id of an origin, adding it if it is new.
    pub fn id(&mut self, origin: &Origin) -> OriginId {
        let position = self.0.iter().position(|known| **known == *origin).unwrap_or_else(|| {
            if self.0.len() < usize::from(u8::MAX) {
                self.0.push(Arc::new(origin.clone()));
            }
            self.0.len() - 1
        });
        OriginId(u8::try_from(position).unwrap_or(u8::MAX))
    }

    /// Returns the origins from an id on.
    pub(super) fn since(&self, first: usize) -> Vec<Arc<Origin>> {
        self.0[first..].to_vec()
    }

    /// Iterates over all origins by id.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Origin> {
        self.0.iter().map(|origin| &**origin)
    }

    /// Returns the origin with this id.
    ///
    /// # Panics
    /// If the id came from another profile.
    #[must_use]
    pub fn get(&self, id: OriginId) -> &Origin {
        &self.0[usize::from(id.0)]
    }
}
