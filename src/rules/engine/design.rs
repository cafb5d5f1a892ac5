//! How a kernel is built, as far as name, grid and figures tell: what advice about it has to respect.

use super::subject::Subject;
use crate::model::Quantity;
use crate::taxonomy::{Category, Kind};

/// In the names of kernels that keep one set of blocks on the device and hand out the work themselves;
/// lower case. CUTLASS from version 3 on, FlashAttention-3 and cuBLAS's `nvjet` besides divide the warps
/// of a block into those that load and those that multiply.
const PERSISTENT: [&str; 11] = [
    "persistent",
    "tilescheduler",
    "tile_scheduler",
    "streamk",
    "stream_k",
    "warpspecialized",
    "warp_specialized",
    "nvjet",
    "flashattnfwdsm",
    "flashattnbwdsm",
    "cutlass::device_kernel",
];

/// In the names of kernels that one block or one thread goes through in order; lower case.
const SERIAL: [&str; 6] =
    ["prefix", "cumsum", "cumulative", "singletile", "single_block", "align_block_size"];

/// Kinds whose parallelism is that of a small result or of an order to keep.
const SERIAL_KINDS: [Kind; 4] =
    [Kind::SplitKReduce, Kind::AttentionCombine, Kind::Scan, Kind::Sort];

/// Launches up to this many times the fixed cost of one are the territory of fewer launches.
const TERRITORY: f64 = 4.0;

/// Bytes a thread moves from which it has several items, and other threads could take some: eight
/// accesses of 16 bytes.
const SEVERAL_ITEMS: f64 = 128.0;

/// What more parallelism has to work on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::rules) enum Spare {
    /// The grid has as many threads as there is work, or takes hardly longer than a launch.
    Nothing,
    /// Blocks have work that others could share.
    Work,
    /// Nothing tells: there may be no more items than threads.
    Unknown,
}

impl Subject<'_> {
    /// Whether it multiplies matrices: by its name or operator, or by the closed form that describes it.
    pub(in crate::rules) fn is_product(&self) -> bool {
        let form = self.kernel.algorithmic.as_deref();
        self.class().is_product() || form.is_some_and(|form| form.product.is_some())
    }

    /// Whether it is attention, fused.
    pub(in crate::rules) fn is_attention(&self) -> bool {
        let kinds = [Kind::AttentionFwd, Kind::AttentionBwd, Kind::AttentionDecode];
        self.class().kind.is_some_and(|kind| kinds.contains(&kind))
    }

    /// Whether the number of its blocks is its own choice, as many as the device holds at once: by its name
    /// and at most a wave of blocks, or a product of exactly a wave.
    pub(in crate::rules) fn is_persistent(&self) -> bool {
        let resident = u64::from(self.resident().unwrap_or(1));
        let wave = self.sms().ok().map(|sms| u64::from(sms) * resident);
        let blocks = self.blocks().ok();
        let is_a_wave = |is: fn(&u64, &u64) -> bool| {
            blocks.zip(wave).is_none_or(|(blocks, wave)| is(&blocks, &wave))
        };
        let is_known = blocks.is_some() && wave.is_some();
        self.is_named(&PERSISTENT) && is_a_wave(u64::le)
            || self.is_product() && is_known && is_a_wave(u64::eq)
    }

    /// Whether there are fewer blocks than multiprocessors: what their warps wait for then matters little beside
    /// those that have none.
    pub(in crate::rules) fn leaves_idle(&self) -> bool {
        self.blocks().ok().zip(self.sms().ok()).is_some_and(|(blocks, sms)| blocks < u64::from(sms))
    }

    /// Whether its launches take hardly longer than any: fewer of them help, and little else.
    pub(in crate::rules) fn is_short(&self) -> bool {
        self.mean() <= self.analysis.fixed_cost * TERRITORY
    }

    /// What more blocks would have to work on.
    pub(in crate::rules) fn spare(&self) -> Spare {
        let kernel = self.kernel;
        let is_serial = self.class().kind.is_some_and(|kind| SERIAL_KINDS.contains(&kind))
            || self.is_named(&SERIAL);
        if is_serial || self.is_short() {
            return Spare::Nothing;
        }
        match self.class().category {
            Category::DotProduct | Category::Reduction => Spare::Work,
            // Such kernels have threads by the number of their elements.
            Category::Elementwise | Category::DataMovement => {
                let threads = self.blocks().ok().zip(self.threads().ok());
                let threads = threads.map(|(blocks, threads)| (blocks * threads) as f64);
                let bytes = kernel.bytes.map(|bytes| bytes.get() / kernel.launches.max(1) as f64);
                match bytes.zip(threads) {
                    Some((bytes, threads)) if bytes >= SEVERAL_ITEMS * threads => Spare::Work,
                    Some(_) => Spare::Nothing,
                    None => Spare::Unknown,
                }
            }
            _ if self.is_product() => Spare::Work,
            _ => Spare::Unknown,
        }
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

    /// Whether one of these words is in its name.
    pub(in crate::rules) fn is_named(&self, words: &[&str]) -> bool {
        let names = [&self.kernel.full_name, &self.kernel.name];
        names.into_iter().any(|name| {
            let name = name.to_lowercase();
            words.iter().any(|word| name.contains(word))
        })
    }
}

#[cfg(test)]
#[allow(
    clippy::redundant_closure_for_method_calls,
    reason = "lifetimes: method paths do not compile"
)]
mod tests {
    use super::Spare;
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
        assert!(is(flash, 132, 1.0) && is(flash, 64, 1.0) && !is(flash, 264, 1.0));
        assert!(is(flash, 264, 2.0));
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
        // Four times 1.5 µs are a launch's own.
        assert_eq!(spare(&kernel("ampere_sgemm_128x64_nn", 5.0).grid(4, 128)), Spare::Nothing);
    }
}
