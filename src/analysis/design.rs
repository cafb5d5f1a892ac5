//! How a kernel is built, as far as name, grid and figures tell: whether it chooses its own grid, and what more
//! parallelism would have to work on.

use super::kernel::Kernel;
use crate::model::Quantity;
use crate::taxonomy::{Category, Kind};
use crate::units::Seconds;

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Spare {
    /// The grid has as many threads as there is work, or takes hardly longer than a launch.
    Nothing,
    /// Blocks have work that others could share.
    Work,
    /// Nothing tells: there may be no more items than threads.
    #[default]
    Unknown,
}

impl Kernel {
    /// Whether it multiplies matrices: by its name or operator, or by the closed form that describes it.
    #[must_use]
    pub fn is_product(&self) -> bool {
        let form = self.algorithmic.as_deref();
        self.class.is_product() || form.is_some_and(|form| form.product.is_some())
    }

    /// Whether one of these words, in lower case, is in its name.
    #[must_use]
    pub fn is_named_with(&self, words: &[&str]) -> bool {
        [&self.full_name, &self.name].into_iter().any(|name| {
            let name = name.to_lowercase();
            words.iter().any(|word| name.contains(word))
        })
    }

    /// Whether its launches take hardly longer than any, at this cost of one: fewer of them help, and little
    /// else.
    #[must_use]
    pub fn is_short(&self, fixed_cost: Seconds) -> bool {
        self.mean() <= fixed_cost * TERRITORY
    }

    /// Whether the number of its blocks is its own choice, as many as so many multiprocessors hold at once: by
    /// its name and at most a wave of blocks, or a product of exactly a wave.
    #[must_use]
    pub fn is_persistent(&self, sms: Option<u32>) -> bool {
        let resident = self.average(Quantity::ResidentBlocksPerSm).filter(|blocks| *blocks >= 1.0);
        let resident = resident.map_or(1, |blocks| blocks.round() as u64);
        let wave = sms.map(|sms| u64::from(sms) * resident);
        let blocks = self.shape.blocks.filter(|blocks| *blocks > 0);
        let is_a_wave = |is: fn(&u64, &u64) -> bool| {
            blocks.zip(wave).is_none_or(|(blocks, wave)| is(&blocks, &wave))
        };
        let is_known = blocks.is_some() && wave.is_some();
        self.is_named_with(&PERSISTENT) && is_a_wave(u64::le)
            || self.is_product() && is_known && is_a_wave(u64::eq)
    }

    /// What more blocks would have to work on.
    #[must_use]
    pub fn spare(&self, fixed_cost: Seconds) -> Spare {
        let is_serial = self.class.kind.is_some_and(|kind| SERIAL_KINDS.contains(&kind))
            || self.is_named_with(&SERIAL);
        if is_serial || self.is_short(fixed_cost) {
            return Spare::Nothing;
        }
        match self.class.category {
            Category::DotProduct | Category::Reduction => Spare::Work,
            // Such kernels have threads by the number of their elements.
            Category::Elementwise | Category::DataMovement => {
                let bytes = self.bytes.map(|bytes| bytes.get() / self.launches.max(1) as f64);
                match bytes.zip(self.threads()) {
                    Some((bytes, threads)) if bytes >= SEVERAL_ITEMS * threads as f64 => {
                        Spare::Work
                    }
                    Some(_) => Spare::Nothing,
                    None => Spare::Unknown,
                }
            }
            _ if self.is_product() => Spare::Work,
            _ => Spare::Unknown,
        }
    }

    /// Threads of a launch; none where the export has no grid.
    #[must_use]
    pub fn threads(&self) -> Option<u64> {
        self.shape
            .blocks
            .zip(self.shape.threads_per_block)
            .map(|(blocks, threads)| blocks * threads)
    }
}
