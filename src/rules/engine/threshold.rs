//! By which numbers a rule decides, and what it lacks where it cannot.

use serde::Serialize;

/// A metric without which a rule cannot judge, as the profiler calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Missing(pub &'static str);

/// A number that a rule decides by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    /// Its name in a configuration.
    pub key: &'static str,
    /// Its value unless set otherwise.
    pub default: f64,
    /// Its unit; `1` for shares and counts.
    pub unit: &'static str,
    /// Why this value, with its source.
    pub reason: &'static str,
}

impl Threshold {
    pub(in crate::rules) const fn new(
        key: &'static str,
        default: f64,
        unit: &'static str,
        reason: &'static str,
    ) -> Self {
        Self { key, default, unit, reason }
    }
}
