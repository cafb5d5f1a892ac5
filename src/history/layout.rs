//! What a store looks like on disk.

/// The file that makes a folder a store.
pub const MARKER: &str = "rooflint-baselines.toml";

/// Name and major version of the layout.
pub const STORE_SCHEMA: &str = "rooflint/baselines/1";
