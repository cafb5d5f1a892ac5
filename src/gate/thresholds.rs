//! Numbers that several parts of the gate decide or speak by, each with its reason.

use crate::units::{Factor, Share, Shift};

/// What is left of a shift of 0 after calculating: nothing that is measured is so small.
pub(super) const ROUNDING: Shift = Shift::new(1e-9);

/// Shifts below 0.5% are not worth a sentence: a tenth of the smallest change that a default policy fails.
pub(super) const WORTH_SAYING: Shift = Shift::new(0.005);

/// A kernel is faster than its roof allows, beyond what clocks and counters are off by, if it takes less than
/// 97% of the expected time.
pub(super) const BEYOND_ROOF: Factor = Factor::new(0.97);

/// Kernels below 0.5% of the time are judged as part of the total (`docs/gate.md`, "What counts").
pub(super) const COUNTING_SHARE: Share = Share::new(0.005);
