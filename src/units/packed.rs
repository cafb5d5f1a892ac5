//! Numbers of which an `Option` takes no more room than one itself: most figures of a kernel may be missing, and a
//! profile may have a million kernels.

use std::cmp::Ordering;
use std::fmt;
use std::num::NonZero;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A float with its bits inverted. One of the 2⁵³ spellings of NaN, that of all ones, is left to
/// `None`.
#[derive(Clone, Copy)]
pub(super) struct Packed(NonZero<u64>);

impl Packed {
    pub(super) const fn new(value: f64) -> Self {
        match NonZero::new(!value.to_bits()) {
            Some(bits) => Self(bits),
            // NaN, too.
            None => Self(NonZero::<u64>::MIN),
        }
    }

    pub(super) const fn get(self) -> f64 {
        f64::from_bits(!self.0.get())
    }
}

impl Default for Packed {
    fn default() -> Self {
        Self::new(0.0)
    }
}

impl fmt::Debug for Packed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl PartialEq for Packed {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl PartialOrd for Packed {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.get().partial_cmp(&other.get())
    }
}

impl Serialize for Packed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.get().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Packed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        f64::deserialize(deserializer).map(Self::new)
    }
}

#[cfg(test)]
mod tests {
    use proptest::num::f64::ANY;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_number_comes_back(value in ANY) {
            let back = Packed::new(value).get();
            prop_assert!(back.to_bits() == value.to_bits() || back.is_nan() && value.is_nan());
            let one = Packed::new(1.0);
            prop_assert_eq!(Packed::new(value).partial_cmp(&one), value.partial_cmp(&1.0));
            prop_assert_eq!(Packed::new(value) == one, value == 1.0);
            prop_assert_eq!(format!("{:?}", Packed::new(value)), format!("{value:?}"));
        }
    }

    #[test]
    fn a_missing_number_takes_no_room() {
        assert_eq!(size_of::<Option<Packed>>(), size_of::<f64>());
        let every_one = f64::from_bits(u64::MAX);
        assert!(Packed::new(every_one).get().is_nan());
        assert_eq!(Packed::default().get().to_bits(), 0);
    }
}
