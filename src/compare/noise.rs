//! What the same code may show from run to run, where it cannot be measured; `docs/gate-error-rates.md` says
//! how often a gate is wrong under it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::units::{RelativeChange, Seconds};

/// What noise alone may do between one run and another: it decides where there is one run a side.
///
/// The defaults are those of the roofline model's notes on comparing two profiles, checked against
/// recorded launches; `rooflint calibrate` measures them on the user's own machine.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Noise {
    /// Relative shift of one kernel, after the common shift was taken out, with at least
    /// [`Noise::ENOUGH`] launches a side.
    pub kernel: RelativeChange,
    /// The same with four launches a side; with fewer it grows, to twice as much for single launches.
    pub few_launches: RelativeChange,
    /// Relative shift of all kernels together: clocks, temperature.
    pub common: RelativeChange,
    /// What the timer cannot tell, in seconds.
    pub timer_s: Seconds,
}

impl Noise {
    /// Launches a side from which their spread can be measured: with fewer, a robust spread hangs on one or
    /// two of them (`docs/gate.md`, "One run a side").
    pub const ENOUGH: usize = 5;

    /// Launches a side for which [`Noise::few_launches`] is declared.
    pub const FEW: usize = 4;

    /// A kernel with enough launches: three standard deviations of the difference of two runs in each of
    /// which it has 0.7% of its own. Of 1,000 gates of such runs 3 raise an alarm
    /// (`docs/gate-error-rates.md`).
    const KERNEL: RelativeChange = RelativeChange::new(0.03);

    /// A kernel with few launches: one that something interrupted is a quarter of all. Slowdowns of 20%
    /// are still found (`docs/gate-error-rates.md`).
    const FEW_LAUNCHES: RelativeChange = RelativeChange::new(0.10);

    /// All kernels: a clock of one run a side cannot be told from the code, however many launches agree
    /// (`docs/gate-error-rates.md`, "What follows").
    const COMMON: RelativeChange = RelativeChange::new(0.10);

    /// Two ticks of the 32 ns timer of NVIDIA GPUs: one at the beginning of a launch, one at its end.
    const TIMER: Seconds = Seconds::new(64e-9);
}

impl Default for Noise {
    fn default() -> Self {
        Self {
            kernel: Self::KERNEL,
            few_launches: Self::FEW_LAUNCHES,
            common: Self::COMMON,
            timer_s: Self::TIMER,
        }
    }
}
