//! How a kernel is built, as far as name, grid and figures tell: what advice about it has to respect.

use super::subject::Subject;
use crate::analysis::Spare;
use crate::model::Quantity;
use crate::taxonomy::Kind;
use crate::units::Seconds;

impl Subject<'_> {
    /// Whether it multiplies matrices: by its name or operator, or by the closed form that describes it.
    pub(in crate::rules) fn is_product(&self) -> bool {
        self.kernel.is_product()
    }

    /// Whether it is attention, fused.
    pub(in crate::rules) fn is_attention(&self) -> bool {
        let kinds = [Kind::AttentionFwd, Kind::AttentionBwd, Kind::AttentionDecode];
        self.class().kind.is_some_and(|kind| kinds.contains(&kind))
    }

    /// Whether the number of its blocks is its own choice; see [`Kernel::is_persistent`].
    ///
    /// [`Kernel::is_persistent`]: crate::analysis::Kernel::is_persistent
    pub(in crate::rules) fn is_persistent(&self) -> bool {
        self.kernel.is_persistent(self.sms().ok())
    }

    /// Whether there are fewer blocks than multiprocessors: what their warps wait for then matters little beside
    /// those that have none.
    pub(in crate::rules) fn leaves_idle(&self) -> bool {
        self.blocks().ok().zip(self.sms().ok()).is_some_and(|(blocks, sms)| blocks < u64::from(sms))
    }

    /// Whether its launches take hardly longer than any: fewer of them help, and little else.
    pub(in crate::rules) fn is_short(&self) -> bool {
        self.kernel.is_short(self.analysis.fixed_cost)
    }

    /// Part of its time in which no other kernel ran on its GPU, from 0 to 1: where others run, what it leaves idle is not.
    pub(in crate::rules) fn alone(&self) -> f64 {
        let time = self.kernel.measured;
        if time > Seconds::ZERO { 1.0 - self.kernel.beside() / time } else { 1.0 }
    }

    /// Whether other kernels ran beside it for half of its time or more.
    pub(in crate::rules) fn is_shared(&self) -> bool {
        self.alone() <= 0.5
    }

    /// What more blocks would have to work on.
    pub(in crate::rules) fn spare(&self) -> Spare {
        self.kernel.spare(self.analysis.fixed_cost)
    }

    /// Whether registers or shared memory, and not the grid or the size of a block, keep more blocks away:
    /// more or larger blocks then change nothing.
    pub(in crate::rules) fn lacks_room(&self) -> bool {
        let admits = |quantity| self.get(quantity).map(f64::round);
        let scarce = [Quantity::BlocksByRegisters, Quantity::BlocksBySharedMemory];
        let scarce = scarce.into_iter().filter_map(admits).reduce(f64::min);
        let slots = [Quantity::BlocksBySlots, Quantity::BlocksByWarps];
        let slots = slots.into_iter().filter_map(admits).fold(f64::INFINITY, f64::min);
        scarce.is_some_and(|scarce| scarce < slots)
    }
}

#[cfg(test)]
#[allow(
    clippy::redundant_closure_for_method_calls,
    reason = "lifetimes: method paths do not compile"
)]
mod tests {
    use crate::analysis::Spare;
    use crate::model::Quantity;
    use crate::rules::engine::bench_table::{Bench, kernel};
    use crate::rules::rule;

    fn spare(bench: &Bench) -> Spare {
        bench.seen(rule("small-grid").unwrap(), |subject| subject.spare())
    }

    #[test]
    fn a_wave_of_blocks_is_a_choice_and_more_is_none() {
        let flash = "void cutlass::device_kernel<flash::FlashAttnFwdSm90<…>>(Params)";
        let is = |name, blocks, resident| {
            let bench = kernel(name, 100.0).grid(blocks, 384);
            let bench = bench.set(Quantity::ResidentBlocksPerSm, resident);
            bench.seen(rule("small-grid").unwrap(), |subject| subject.is_persistent())
        };
        assert!(is(flash, 132, 1.0) && is(flash, 67, 1.0) && !is(flash, 264, 1.0));
        assert!(is(flash, 264, 2.0));
        // Half of the 132 SMs without a block are too few tiles.
        assert!(!is(flash, 66, 1.0));
        // Any product with exactly a wave of blocks; other kernels may have it by chance.
        assert!(
            is("sm90_xmma_gemm_bf16bf16", 132, 1.0) && !is("sm90_xmma_gemm_bf16bf16", 131, 1.0)
        );
        assert!(!is("k", 132, 1.0));
    }

    #[test]
    fn there_is_no_more_parallelism_than_work() {
        assert_eq!(spare(&kernel("splitKreduce_kernel<float>", 50.0).grid(4, 128)), Spare::Nothing);
        assert_eq!(
            spare(&kernel("moe_align_block_size_kernel", 90.0).grid(2, 1024)),
            Spare::Nothing
        );
        assert_eq!(spare(&kernel("ampere_sgemm_128x64_nn", 50.0).grid(4, 128)), Spare::Work);
        assert_eq!(spare(&kernel("fit", 50.0).grid(4, 64)), Spare::Unknown);
        let add =
            |us, bytes| kernel("vectorized_elementwise_kernel<4, AddFunctor>", us).bytes(bytes);
        assert_eq!(spare(&add(50.0, 1e6).grid(1, 128)), Spare::Work);
        assert_eq!(spare(&add(50.0, 8.0).grid(1, 128)), Spare::Nothing);
        let loss = "void at::native::vectorized_elementwise_kernel<4, at::native::mse_kernel_cuda>";
        assert_eq!(spare(&kernel(loss, 50.0).grid(1, 256)), Spare::Nothing);
        // Four times 1.5 µs are a launch's own.
        assert_eq!(spare(&kernel("ampere_sgemm_128x64_nn", 5.0).grid(4, 128)), Spare::Nothing);
    }
}
