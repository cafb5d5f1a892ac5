//! What the same code may show from run to run, where it cannot be measured.

use schemars::JsonSchema;
use serde::Serialize;

/// What noise alone may do between one run and another: it decides where there is one run a side.
///
/// The defaults are those of the roofline model's notes on comparing two profiles, checked against
/// recorded launches; `rooflint calibrate` measures them on the user's own machine.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Noise {
    /// Relative shift of one kernel, after the common shift was taken out, with at least
    /// [`Noise::ENOUGH`] launches a side.
    pub kernel: f64,
    /// The same with four launches a side; with fewer it grows, to twice as much for single launches.
    pub few_launches: f64,
    /// Relative shift of all kernels together: clocks, temperature.
    pub common: f64,
    /// What the timer cannot tell, in seconds.
    pub timer_s: f64,
}

impl Noise {
    /// Launches a side from which their spread can be measured.
    pub const ENOUGH: usize = 5;
}

impl Default for Noise {
    fn default() -> Self {
        // Two ticks of the 32 ns timer of NVIDIA GPUs.
        Self { kernel: 0.03, few_launches: 0.10, common: 0.10, timer_s: 64e-9 }
    }
}
