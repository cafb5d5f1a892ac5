//! Design of a kernel, as far as name, grid and figures show: persistent grids, and work available
//! for more parallelism.

use super::kernel::Kernel;
use crate::law;
use crate::model::Quantity;
use crate::taxonomy::{Category, Class, Kind};
use crate::units::Seconds;

/// Words in the names of persistent kernels, which keep one set of blocks on the device and
/// distribute the work themselves; lower case. CUTLASS from version 3 on, FlashAttention-3 and
/// cuBLAS's `nvjet` besides divide the warps of a block into those that load and those that
/// multiply.
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

/// Words in the names of serial kernels, which one block or thread processes in order; lower case.
const SERIAL: [&str; 6] =
    ["prefix", "cumsum", "cumulative", "singletile", "single_block", "align_block_size"];

/// Kinds whose parallelism is limited by a small result or a fixed order.
const SERIAL_KINDS: [Kind; 4] =
    [Kind::SplitKReduce, Kind::AttentionCombine, Kind::Scan, Kind::Sort];

/// Work available for more parallelism.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Spare {
    /// None: the grid has a thread per item, or takes hardly longer than a launch.
    Nothing,
    /// Blocks have work that others could share.
    Work,
    /// Unknown: there may be no more items than threads.
    #[default]
    Unknown,
}

/// A kernel by its names.
pub(super) struct Names<'a> {
    /// Name as written by the profiler.
    pub(super) full: &'a str,
    /// Short name.
    pub(super) short: &'a str,
}

impl Names<'_> {
    /// Returns `true` if a name contains one of these words, in lower case.
    fn is_with(&self, words: &[&str]) -> bool {
        [self.full, self.short].into_iter().any(|name| {
            let name = name.to_lowercase();
            words.iter().any(|word| name.contains(word))
        })
    }

    /// Returns `true` if it is persistent by its name.
    pub(super) fn is_persistent(&self) -> bool {
        self.is_with(&PERSISTENT)
    }

    /// Returns the work available for more blocks, by name and class alone.
    pub(super) fn spare(&self, class: &Class) -> Spare {
        let is_serial = class.kind.is_some_and(|kind| SERIAL_KINDS.contains(&kind));
        if is_serial || self.is_with(&SERIAL) {
            return Spare::Nothing;
        }
        match class.category {
            // A loss whose terms stay apart has threads by the number of its elements.
            Category::Reduction if self.is_with(&["elementwise_kernel"]) => Spare::Nothing,
            Category::DotProduct | Category::Reduction => Spare::Work,
            _ => Spare::Unknown,
        }
    }
}

impl Kernel {
    /// Returns `true` if it multiplies matrices, by its name, its operator or its closed form.
    #[must_use]
    pub fn is_product(&self) -> bool {
        let form = self.algorithmic();
        self.class.is_product() || form.is_some_and(|form| form.product.is_some())
    }

    /// Returns `true` if its name contains one of these words, in lower case.
    #[must_use]
    pub fn is_named_with(&self, words: &[&str]) -> bool {
        self.names().is_with(words)
    }

    pub(super) fn names(&self) -> Names<'_> {
        Names { full: &self.full_name, short: &self.name }
    }

    /// Returns `true` if its launches take hardly longer than the launch cost, so that mainly fewer
    /// launches help.
    #[must_use]
    pub fn is_short(&self, fixed_cost: Seconds) -> bool {
        law::is_short(self.mean().get(), fixed_cost.get())
    }

    /// Returns `true` if it is persistent, with as many blocks as this many SMs hold: by its name
    /// and at most one wave of blocks on more than half of the SMs, or a product of exactly one wave.
    #[must_use]
    pub fn is_persistent(&self, sms: Option<u32>) -> bool {
        let number = |count: Option<u64>| count.map(|count| count as f64).into();
        let blocks = law::Blocks {
            number: number(self.shape.blocks),
            resident: self.average(Quantity::ResidentBlocksPerSm).into(),
        };
        let sms = number(sms.map(u64::from));
        blocks.is_persistent(sms, self.names().is_persistent(), self.is_product())
    }

    /// Returns the work available for more blocks.
    #[must_use]
    pub fn spare(&self, fixed_cost: Seconds) -> Spare {
        let by_name = self.names().spare(&self.class);
        if by_name == Spare::Nothing || self.is_short(fixed_cost) {
            return Spare::Nothing;
        }
        match self.class.category {
            _ if by_name == Spare::Work => Spare::Work,
            // Such kernels have threads by the number of their elements.
            Category::Elementwise | Category::DataMovement => {
                let bytes = self.bytes.map(|bytes| bytes.get() / self.launches.max(1) as f64);
                match bytes.zip(self.threads()) {
                    Some((bytes, threads)) if law::has_several_items(bytes, threads as f64) => {
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

    /// Returns the threads of a launch; `None` if the export has no grid.
    #[must_use]
    pub fn threads(&self) -> Option<u64> {
        self.shape
            .blocks
            .zip(self.shape.threads_per_block)
            .map(|(blocks, threads)| blocks.saturating_mul(threads))
    }
}
