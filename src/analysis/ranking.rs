//! Ranking of kernels by savings.

use super::kernel::Kernel;

/// Sorts kernels by savings, then by time, and numbers them from 1.
pub(super) fn rank(kernels: &mut [Kernel]) {
    let savings = |kernel: &Kernel| {
        let (likely, most) = (kernel.savings.get(), kernel.savings_high.get());
        if kernel.has_savings() && likely > 0.0 { (likely, most) } else { (0.0, 0.0) }
    };
    // Kernels are large: their numbers are sorted, and each kernel is moved once.
    let mut order: Vec<u32> = (0..kernels.len() as u32).collect();
    order.sort_unstable_by(|one, two| {
        let (one, two) = (&kernels[*one as usize], &kernels[*two as usize]);
        let ((first, first_most), (second, second_most)) = (savings(one), savings(two));
        second
            .total_cmp(&first)
            .then(second_most.total_cmp(&first_most))
            .then(two.measured.get().total_cmp(&one.measured.get()))
            .then_with(|| (&one.name, one.longest).cmp(&(&two.name, two.longest)))
    });
    for position in 0..kernels.len() {
        let mut from = order[position] as usize;
        // What stood there was moved to where another came from.
        while from < position {
            from = order[from] as usize;
        }
        order[position] = from as u32;
        kernels.swap(position, from);
        kernels[position].rank = position + 1;
    }
}
