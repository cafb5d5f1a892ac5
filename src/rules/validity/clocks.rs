//! The SM clocks at which the kernels of a run ran.

use crate::model::Quantity;
use crate::rules::engine::run::Run;
use crate::rules::engine::threshold::Missing;
use crate::units::Seconds;

/// SM clocks of the kernels on one device, in hertz.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clocks {
    /// Averaged over time.
    pub(super) mean: f64,
    pub(super) lowest: f64,
    pub(super) highest: f64,
}

/// In shorter launches the cycles before and after the kernel distort its clock.
const SHORTEST: Seconds = Seconds::new(20e-6);

impl Clocks {
    /// The clocks of every device, by its position, of which a kernel of some length tells its own.
    ///
    /// # Errors
    /// [`Missing`] where no kernel at all tells its clock.
    pub(super) fn all(run: &Run<'_>) -> Result<Vec<(usize, Self)>, Missing> {
        let kernels = &run.analysis.kernels;
        if !kernels.iter().any(|kernel| kernel.average(Quantity::SmClock).is_some()) {
            return Err(Missing("sm__cycles_elapsed.avg.per_second"));
        }
        let devices = 0..run.analysis.devices.len();
        Ok(devices.filter_map(|device| Some((device, Self::of(run, device)?))).collect())
    }

    fn of(run: &Run<'_>, device: usize) -> Option<Self> {
        let known = run
            .analysis
            .kernels
            .iter()
            .filter(|kernel| kernel.device == device && kernel.mean() >= SHORTEST)
            .filter_map(|kernel| {
                let clock = kernel.average(Quantity::SmClock).filter(|clock| *clock > 0.0)?;
                Some((clock, kernel.measured.get()))
            });
        let (mut sum, mut time) = (0.0, 0.0);
        let (mut lowest, mut highest) = (f64::INFINITY, 0.0_f64);
        for (clock, weight) in known {
            sum += clock * weight;
            time += weight;
            lowest = lowest.min(clock);
            highest = highest.max(clock);
        }
        (time > 0.0).then(|| Self { mean: sum / time, lowest, highest })
    }

    /// How far the lowest lies below the highest, as a share of it.
    pub(super) fn spread(&self) -> f64 {
        1.0 - self.lowest / self.highest
    }
}
