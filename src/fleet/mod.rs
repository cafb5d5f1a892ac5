//! Ranks of a training job, more than fit into memory: a launch table in partitions, its summary in mergeable
//! partials, and the comparison of ranks.

mod axes;
#[cfg(feature = "frames")]
mod beside;
mod jobs;
mod manifest;
mod names;
mod own;
mod partials;
#[cfg(feature = "frames")]
mod partition;
mod ranks;
mod rows;
#[cfg(feature = "frames")]
mod runs;
#[cfg(feature = "frames")]
mod scan;
mod stragglers;

pub use axes::{Imbalance, Layout, PositionsFrom, imbalances, place};
#[cfg(feature = "frames")]
pub use beside::facts;
pub use manifest::{
    DEVICES, DeviceEntry, LAYOUT, MANIFEST, Manifest, NAMES, PartEntry, SourceFile, manifest_schema,
};
pub use names::{Numbered, Positions, RankFiles, by_rank, is_run_name, positions_in, rank_in};
pub use own::OwnDevice;
pub use partials::{
    PARTIAL, merge_partials, parse_partial, partial_files, partial_schema, write_partial,
};
#[cfg(feature = "frames")]
pub use partition::{Partitioned, Partitioning};
pub use ranks::{Gathered, Rank, summarize};
#[cfg(feature = "frames")]
pub use runs::{Listed, Runs, listed, partitioned, runs};
#[cfg(feature = "frames")]
pub use scan::scan;
pub use stragglers::{Cause, Straggler, stragglers};
