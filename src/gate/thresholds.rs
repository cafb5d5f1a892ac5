//! Thresholds that several parts of the gate share, each with its reason.

use crate::units::{Factor, Probability, RelativeChange, Share, Shift};

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

/// Largest share of the run that a floor in seconds may take, so that short runs are still checked
/// (`docs/gate.md`, "What counts").
pub(super) const LARGEST_FLOOR: f64 = 0.01;

/// Where the noise was not measured, one run per side fails only beyond 22%: GPUs of one model in one cluster
/// differ by 8% on average and by 22% at most, outliers aside (P. Sinha et al., *Not All GPUs Are Created
/// Equal*, SC 2022), and kernels that a library chose anew, 15% apart, with 3% of noise by no more
/// (`docs/gate-error-rates.md`).
pub(super) const UNDECLARED: RelativeChange = RelativeChange::new(0.22);

/// Runs per side, beyond the one there is, that measure their spread: it decides then instead of what is declared.
pub(super) const MORE_RUNS: u32 = 2;

/// A change is beyond its limit with a confidence of 95%: of changes as large as the limit, 1 in 20 is
/// called larger.
pub(super) const END: Probability = Probability::new(0.05);
