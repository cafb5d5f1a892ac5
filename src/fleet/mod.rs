//! Ranks of a training job, more than fit into memory: a launch table in partitions, its summary in mergeable
//! partials, and the comparison of ranks.

mod manifest;
mod names;
mod partials;
mod partition;
mod rows;
mod scan;
mod stragglers;

use std::num::NonZero;
use std::thread;

pub use manifest::{DEVICES, DeviceEntry, LAYOUT, MANIFEST, Manifest, PartEntry, SourceFile};
pub use names::{RankFiles, by_rank, rank_in};
pub use partials::{PARTIAL, merge_partials, partial_files, write_partial};
pub use partition::{Partitioned, Partitioning};
pub use scan::{Gathered, Rank, scan, summarize};
pub use stragglers::{Cause, Imbalance, Straggler, imbalances, stragglers};

/// Runs `work` on as many threads as are asked for (0: one per core), at most one per job, and waits for all.
fn side_by_side(threads: usize, jobs: usize, work: impl Fn() + Sync) {
    let cores = || thread::available_parallelism().map_or(1, NonZero::get);
    let threads = if threads == 0 { cores() } else { threads };
    thread::scope(|scope| {
        for _ in 0..threads.min(jobs) {
            scope.spawn(&work);
        }
    });
}
