//! Thresholds that several parts of the gate share, each with its reason.

use crate::units::{Factor, Share, Shift};

/// Rounding error of a shift of 0; no measured shift is this small.
pub(super) const ROUNDING: Shift = Shift::new(1e-9);

/// Shifts below 0.5% are not mentioned: a tenth of the smallest change that fails a default policy.
pub(super) const SHOWN_SHIFT: Shift = Shift::new(0.005);

/// Below this ratio of measured to roofline time a kernel is faster than its roofline, beyond the
/// error of clocks and counters.
pub(super) const BEYOND_ROOF: Factor = Factor::new(0.97);

/// Kernels below 0.5% of the run time are judged as part of the total (`docs/gate.md`, "What
/// counts").
pub(super) const COUNTING_SHARE: Share = Share::new(0.005);
