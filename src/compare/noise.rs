//! Declared run-to-run noise, for cases in which it cannot be measured; `docs/gate-error-rates.md`
//! has the resulting error rates of a gate.

use schemars::JsonSchema;
use serde::Serialize;

use crate::units::{RelativeChange, Seconds, Shift};

/// Noise floors: the shift that noise alone could explain between two runs. They decide when there is
/// one run per side.
///
/// The defaults are those of the roofline model's notes on comparing two profiles, checked against
/// recorded launches; `rooflint calibrate` measures them on the user's own machine.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Noise {
    /// Relative shift of one kernel, after the common shift was subtracted, with at least
    /// [`Noise::ENOUGH`] launches per side.
    pub kernel: RelativeChange,
    /// Relative shift of one kernel with four launches per side; with fewer it grows, up to twice
    /// as much for single launches.
    pub few_launches: RelativeChange,
    /// Relative shift of all kernels together, from clocks or temperature.
    pub common: RelativeChange,
    /// Standard deviation of all kernels together from one device of a model to another.
    pub device: RelativeChange,
    /// The same from one day to another.
    pub day: RelativeChange,
    /// Resolution of the timer, in seconds.
    pub timer_s: Seconds,
}

impl Noise {
    /// Launches per side needed to measure their spread: with fewer, a robust spread depends on one
    /// or two of them (`docs/gate.md`, "One run per side").
    pub const ENOUGH: usize = 5;

    /// Launches per side for which [`Noise::few_launches`] is declared.
    pub const FEW: usize = 4;

    /// A kernel with enough launches: three standard deviations of the difference of two runs with
    /// 0.7% noise each. Of 1,000 gates on such runs, 3 raise a false alarm
    /// (`docs/gate-error-rates.md`).
    const KERNEL: RelativeChange = RelativeChange::new(0.03);

    /// A kernel with few launches, where one interrupted launch is a quarter of all. Slowdowns of
    /// 20% are still found (`docs/gate-error-rates.md`).
    const FEW_LAUNCHES: RelativeChange = RelativeChange::new(0.10);

    /// All kernels together: with one run per side, a clock change cannot be separated from a code
    /// change (`docs/gate-error-rates.md`, "What follows").
    const COMMON: RelativeChange = RelativeChange::new(0.10);

    /// GPUs of one model differ by 8% on average over five clusters, slow ones included (P. Sinha et al.,
    /// *Not All GPUs Are Created Equal*, SC 2022); those of one machine, cooled alike, by a quarter of it.
    const DEVICE: RelativeChange = RelativeChange::new(0.02);

    /// Two runs of the same code on one machine differ by that on any two days.
    const DAY: RelativeChange = RelativeChange::new(0.01);

    /// One in twenty pairs of devices and days lies further apart, on one side: the 95% quantile of the
    /// normal distribution, times the root of two for a difference.
    const PAIRS: f64 = 1.645 * std::f64::consts::SQRT_2;

    /// The floor for few launches per side: declared for [`Noise::FEW`], it grows as their mean gets
    /// less certain.
    #[must_use]
    pub fn few(&self, before: usize, after: usize) -> Shift {
        self.few_launches.shift() * Self::growth(before, after)
    }

    /// How many times the shift of [`Noise::FEW`] launches per side noise makes with so many; at least 1.
    #[must_use]
    pub fn growth(before: usize, after: usize) -> f64 {
        let variance = |before: usize, after: usize| 1.0 / before as f64 + 1.0 / after as f64;
        let declared = variance(Self::FEW, Self::FEW);
        (variance(before.max(1), after.max(1)) / declared).sqrt().max(1.0)
    }

    /// What all kernels together may shift between two sides that were not taken in turns, however many runs
    /// each has.
    #[must_use]
    pub fn between_sides(&self) -> Shift {
        let (device, day) = (self.device.shift().get(), self.day.shift().get());
        Shift::new(Self::PAIRS * device.hypot(day))
    }

    /// Two ticks of the 32 ns timer of NVIDIA GPUs: one at the beginning of a launch, one at its end.
    const TIMER: Seconds = Seconds::new(64e-9);
}

impl Default for Noise {
    fn default() -> Self {
        Self {
            kernel: Self::KERNEL,
            few_launches: Self::FEW_LAUNCHES,
            common: Self::COMMON,
            device: Self::DEVICE,
            day: Self::DAY,
            timer_s: Self::TIMER,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 3% and 4% are 5% together; 1.645 × √2 of it are 11.6%, on the logarithmic scale.
    #[test]
    fn devices_and_days_add_up_as_variances() {
        let of = |share: f64| Shift::new(share).change();
        let noise = Noise { device: of(0.03), day: of(0.04), ..Noise::default() };
        assert!((noise.between_sides().get() - 0.1163).abs() < 1e-4);
        let none = Noise { device: of(0.0), day: of(0.0), ..noise };
        assert_eq!(none.between_sides(), Shift::ZERO);
    }
}
