//! The time of one launch of a kernel: the same in comparisons, trends, checks of new baselines and tables.

use super::run::RunKernel;
use super::statistics::pseudomedian;
use crate::units::Seconds;

impl RunKernel {
    /// Returns the logarithm of the time of a typical launch: the pseudo-median of the logarithms of single launches
    /// (Hodges–Lehmann), which does not jump between the modes of a kernel that has two; `None` where the times of
    /// single launches are unknown.
    #[must_use]
    pub(crate) fn launch_log(&self) -> Option<f64> {
        pseudomedian(&super::sides::logs(self.samples_s.iter().map(|time| time.get())))
    }

    /// Returns `true` if the times of single launches are known.
    #[must_use]
    pub(crate) fn has_launches(&self) -> bool {
        self.samples_s.iter().any(|time| *time > Seconds::ZERO)
    }

    /// Returns the time of one launch: a typical one if single launches are known, else the mean; `None` if none has a
    /// duration.
    #[must_use]
    pub fn launch_s(&self) -> Option<Seconds> {
        let mean = (self.timed > 0).then(|| self.mean_s());
        self.launch_log().map(|log| Seconds::new(log.exp())).or(mean)
    }

    /// Returns the time of all launches if each took that of a typical one.
    #[must_use]
    pub(crate) fn typical_s(&self) -> Seconds {
        self.launch_log().map_or(self.measured_s, |log| Seconds::new(log.exp() * self.timed as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::super::made::kernel;
    use super::*;

    /// Of 1, 1, 1, 4 and 4 ms, the 15 averages of two logarithms are six times that of 1 ms, six times that of 2 ms (the
    /// geometric mean) and three times that of 4 ms: the eighth is 2 ms. With one launch more in the other mode it is still
    /// 2 ms, where the median went from 1 to 4 ms.
    #[test]
    fn a_launch_lies_between_two_modes() {
        let of = |times: &[f64]| kernel("a", times).launch_s().unwrap().get();
        assert!((of(&[1e-3, 1e-3, 1e-3, 4e-3, 4e-3]) - 2e-3).abs() < 1e-15);
        assert!((of(&[1e-3, 1e-3, 4e-3, 4e-3, 4e-3]) - 2e-3).abs() < 1e-15);
        let typical = kernel("a", &[1e-3, 1e-3, 4e-3, 4e-3, 4e-3]).typical_s().get();
        assert!((typical - 10e-3).abs() < 1e-15);
    }

    /// Without single launches it is the mean of 3 ms and 5 ms; without a duration there is none.
    #[test]
    fn without_single_launches_it_is_the_mean() {
        let averaged = RunKernel { samples_s: Vec::new(), ..kernel("a", &[3e-3, 5e-3]) };
        assert_eq!(averaged.launch_s(), Some(Seconds::new(4e-3)));
        assert_eq!((averaged.typical_s(), averaged.has_launches()), (Seconds::new(8e-3), false));
        let untimed = RunKernel { timed: 0, measured_s: Seconds::ZERO, ..averaged };
        assert_eq!(untimed.launch_s(), None);
    }
}
