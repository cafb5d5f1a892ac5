//! Sums the times of projected launches to the projection of a kernel.

use super::{Neighbor, Projection, Sides};
use crate::analysis::Kernel;
use crate::roofline::Limiter;
use crate::units::{ExactSum, Seconds};

/// Times of one launch before and after a change, or of two that become one.
pub(super) struct Times {
    pub(super) measured: Seconds,
    pub(super) roofline_time: Seconds,
    /// Time at its measured headroom, never below the roofline time.
    pub(super) projected: Seconds,
    pub(super) sides: Sides,
}

/// Sums over launches.
#[derive(Debug, Default)]
pub(super) struct Sums {
    measured: ExactSum,
    roofline_time: ExactSum,
    ideal: ExactSum,
    projected: ExactSum,
    memory: ExactSum,
    math: ExactSum,
}

impl Sums {
    /// Adds this many launches.
    pub(super) fn add(&mut self, times: &Times, count: f64) {
        let ideal = times.sides.ideal();
        self.measured.add(times.measured.get() * count);
        self.roofline_time.add(times.roofline_time.get() * count);
        self.ideal.add(ideal.get() * count);
        self.projected.add(times.projected.max(ideal).get() * count);
        self.memory.add(times.sides.memory.get() * count);
        self.math.add(times.sides.math.get() * count);
    }

    /// Returns the projection of these kernels.
    pub(super) fn projection(&self, kernels: &[&Kernel], with: Option<Neighbor>) -> Projection {
        let time = |sum: &ExactSum| Seconds::new(sum.get());
        let (memory, math) = (time(&self.memory), time(&self.math));
        Projection {
            measured: time(&self.measured),
            roofline_time: time(&self.roofline_time),
            ideal: time(&self.ideal),
            projected: time(&self.projected),
            limiter: if math > memory { Limiter::Math } else { Limiter::Memory },
            is_lower_bound: kernels.iter().any(|kernel| kernel.is_lower_bound()),
            is_upper_bound: kernels.iter().any(|kernel| kernel.may_need_less()),
            with,
        }
    }
}
