//! How the launches of kernels that have one key divide among them: whether a mean launch of all can be compared.

use super::run::RunKernel;
use crate::units::Shift;

/// Ratios of launches that differ by less than 2% are equal: a loop that ran once more or less.
pub(super) const SAME_WORK: Shift = Shift::new(0.02);

/// Parts of all launches that differ by less are equal.
const SAME_PART: f64 = 0.02;

/// The part that each kernel has of all launches, the most first.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mix(Vec<f64>);

impl Mix {
    /// The mix of these kernels.
    pub(crate) fn of<'a>(kernels: impl IntoIterator<Item = &'a RunKernel>) -> Self {
        let launches: Vec<f64> = kernels.into_iter().map(|kernel| kernel.launches as f64).collect();
        let all: f64 = launches.iter().sum();
        let mut parts: Vec<f64> = launches.iter().map(|one| one / all.max(1.0)).collect();
        parts.sort_by(|one, two| two.total_cmp(one));
        Self(parts)
    }

    /// How many kernels there are.
    pub(crate) fn kernels(&self) -> usize {
        self.0.len()
    }

    /// Whether these are other kernels than those, of which there were fewer or `more` launches by this shift: a mean
    /// launch of both says nothing of any. As many launches in all are the same work, whichever kernels do it.
    pub(crate) fn is_other(&self, than: &Self, more: Shift) -> bool {
        let are_several = self.kernels().max(than.kernels()) > 1;
        let is_near = |(one, two): (&f64, &f64)| (one - two).abs() < SAME_PART;
        let is_alike = self.kernels() == than.kernels() && self.0.iter().zip(&than.0).all(is_near);
        are_several && !is_alike && more.abs() > SAME_WORK
    }
}

#[cfg(test)]
mod tests {
    use super::super::made::kernel;
    use super::*;

    #[test]
    fn kernels_are_others_where_more_of_them_run_and_not_of_each_as_many_more() {
        let of = |launches: &[usize]| {
            let kernels: Vec<RunKernel> =
                launches.iter().map(|count| kernel("k", &vec![1e-3; *count])).collect();
            (Mix::of(&kernels), launches.iter().sum::<usize>() as f64)
        };
        for (before, after, is_other) in [
            (&[10, 10][..], &[10][..], true),
            (&[10, 10], &[10, 10, 10], true),
            (&[10, 10], &[10, 15], true),
            // Other kernels for the same work; twice the steps; a kernel alone that runs more often.
            (&[10, 10], &[20], false),
            (&[10, 10], &[15, 5], false),
            (&[10, 10], &[20, 20], false),
            (&[30, 10], &[5, 15], false),
            (&[10], &[15], false),
        ] {
            let ((one, fewer), (two, more)) = (of(before), of(after));
            let shift = Shift::between(fewer, more);
            assert_eq!(two.is_other(&one, shift), is_other, "{before:?} {after:?}");
            assert_eq!(one.is_other(&two, -shift), is_other, "{before:?} {after:?}");
        }
    }
}
