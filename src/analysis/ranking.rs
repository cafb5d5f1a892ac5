//! The order of kernels by what can be won, and what that adds up to.

use super::{Confidence, Kernel, State, Totals};
use crate::units::Seconds;

/// Kernels by what can be won, then by time. Numbers them from 1.
pub(super) fn rank(kernels: &mut [Kernel]) {
    let savings = |kernel: &Kernel| {
        let (likely, most) = (kernel.recoverable.get(), kernel.recoverable_upper.get());
        if kernel.has_savings() && likely > 0.0 { (likely, most) } else { (0.0, 0.0) }
    };
    kernels.sort_by(|one, two| {
        let ((first, first_most), (second, second_most)) = (savings(one), savings(two));
        second
            .total_cmp(&first)
            .then(second_most.total_cmp(&first_most))
            .then(two.measured.get().total_cmp(&one.measured.get()))
            .then_with(|| (&one.name, one.longest).cmp(&(&two.name, two.longest)))
    });
    for (position, kernel) in kernels.iter_mut().enumerate() {
        kernel.rank = position + 1;
    }
}

/// Sums over ranked kernels, and how much of what can be won the first of them hold.
pub(super) fn sum_up(totals: &mut Totals, kernels: &mut [Kernel]) {
    totals.kernels = kernels.len();
    for kernel in kernels.iter() {
        let entry = totals.states.entry(kernel.state).or_insert((0, Seconds::ZERO));
        entry.0 += 1;
        entry.1 += kernel.measured;
        match kernel.state {
            State::Unmodelled => totals.unmodelled += kernel.measured,
            state if state.is_modelled() => {
                totals.modelled += kernel.modelled;
                totals.expected += kernel.expected.unwrap_or(Seconds::ZERO);
                totals.expected_likely += at_most_measured(kernel, kernel.expected_likely);
                totals.expected_high += at_most_measured(kernel, kernel.expected_high);
            }
            _ => {}
        }
        if let Some(confidence) = kernel.confidence {
            totals.graded[confidence as usize] += kernel.measured;
        }
        if kernel.has_savings() {
            totals.recoverable_low += kernel.recoverable_low;
            totals.recoverable += kernel.recoverable;
            totals.recoverable_upper += kernel.recoverable_upper;
            if kernel.confidence == Some(Confidence::Likely) {
                totals.recoverable_likely += kernel.recoverable;
            }
        } else if kernel.state.is_modelled() && kernel.state != State::Waived {
            totals.recoverable_unproven += kernel.recoverable_upper;
        }
    }
    cover(totals, kernels);
}

/// The share of the recoverable time that each kernel and those above it hold. The same sums in
/// the same order make the total, so that the last share is exactly 1.
fn cover(totals: &mut Totals, kernels: &mut [Kernel]) {
    /// Pareto's share: where most teams stop.
    const MOST: f64 = 0.8;
    let mut won = Seconds::ZERO;
    for kernel in kernels {
        if !kernel.has_savings() || kernel.recoverable <= Seconds::ZERO {
            kernel.coverage = None;
            continue;
        }
        totals.kernels_for_80_percent += usize::from(won / totals.recoverable < MOST);
        won += kernel.recoverable;
        kernel.coverage = Some(won / totals.recoverable);
    }
}

/// No kernel needs longer than it took: what nothing bounds is bounded by the measured time.
fn at_most_measured(kernel: &Kernel, bound: Option<Seconds>) -> Seconds {
    let bound = bound.unwrap_or(kernel.modelled).min(kernel.modelled);
    bound.max(kernel.expected.unwrap_or_default())
}
