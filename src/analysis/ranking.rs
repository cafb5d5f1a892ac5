//! Ranking of kernels by savings.

use super::kernel::Kernel;

/// Sorts kernels by savings, then by time, and numbers them from 1.
pub(super) fn rank(kernels: &mut [Kernel]) {
    let savings = |kernel: &Kernel| {
        let (likely, most) = (kernel.savings.get(), kernel.savings_high.get());
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
