//! A number of a metric, and what it counts.

use schemars::JsonSchema;
use serde::Serialize;

use crate::units::{Bytes, Dimension, Factor, Flops, RelativeChange, Seconds, Share};

/// A value with the unit that tells how it is read: metrics of several dimensions stand in one list.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Value {
    /// The number, in SI units; a share is between 0 and 1.
    pub value: f64,
    /// `s`, `B`, `FLOP`, `ratio` (1.25 is 25% more), `share` (0.25 is 25%) or `count`.
    #[schemars(with = "String")]
    pub unit: Dimension,
}

impl Value {
    /// So many of something.
    #[must_use]
    pub const fn count(value: f64) -> Self {
        Self { value, unit: Dimension::Count }
    }
}

macro_rules! value {
    ($($quantity:ident is $dimension:ident;)*) => {$(
        impl From<$quantity> for Value {
            fn from(quantity: $quantity) -> Self {
                Self { value: quantity.get(), unit: Dimension::$dimension }
            }
        }
    )*};
}

value! {
    Seconds is Time;
    Bytes is Bytes;
    Flops is Operations;
    Factor is Factor;
    Share is Share;
}

/// What a policy allows: a change against the baseline, or a value without one. In documents it is the
/// number.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(into = "f64")]
pub enum Allowed {
    /// The greatest relative worsening.
    Change(RelativeChange),
    /// The least or the greatest value.
    Bound(Value),
}

impl From<Allowed> for f64 {
    fn from(allowed: Allowed) -> Self {
        match allowed {
            Allowed::Change(change) => change.get(),
            Allowed::Bound(bound) => bound.value,
        }
    }
}
