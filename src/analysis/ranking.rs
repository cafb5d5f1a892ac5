//! The order of kernels by what can be won, and what that adds up to.

use super::{Kernel, State, Totals};
use crate::units::Seconds;

/// Opportunities by what can be won, then by time; the rest by time. Numbers them from 1.
pub(super) fn rank(kernels: &mut [Kernel]) {
    kernels.sort_by(|one, two| {
        let first = |kernel: &Kernel| kernel.state == State::Opportunity;
        first(two)
            .cmp(&first(one))
            .then_with(|| {
                if first(one) && first(two) {
                    two.recoverable
                        .get()
                        .total_cmp(&one.recoverable.get())
                        .then(two.recoverable_upper.get().total_cmp(&one.recoverable_upper.get()))
                } else {
                    std::cmp::Ordering::Equal
                }
            })
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
                totals.expected_high += kernel.expected_high.unwrap_or(Seconds::new(f64::INFINITY));
            }
            _ => {}
        }
        if kernel.state == State::Opportunity {
            totals.recoverable_low += kernel.recoverable_low;
            totals.recoverable += kernel.recoverable;
            totals.recoverable_upper += kernel.recoverable_upper;
        }
    }
    totals.recoverable_minor = kernels
        .iter()
        .filter(|kernel| kernel.state == State::Minor)
        .map(|kernel| kernel.recoverable)
        .sum();
    cover(totals, kernels);
}

/// The share of the recoverable time that each opportunity and those above it hold. The same sums in
/// the same order make the total, so that the last share is exactly 1.
fn cover(totals: &mut Totals, kernels: &mut [Kernel]) {
    /// Pareto's share: where most teams stop.
    const MOST: f64 = 0.8;
    let mut won = Seconds::ZERO;
    for kernel in kernels {
        if kernel.state != State::Opportunity || totals.recoverable <= Seconds::ZERO {
            kernel.coverage = None;
            continue;
        }
        totals.kernels_for_80_percent += usize::from(won / totals.recoverable < MOST);
        won += kernel.recoverable;
        kernel.coverage = Some(won / totals.recoverable);
    }
}
