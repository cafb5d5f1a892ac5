//! Layout of a store on disk.

/// File that marks a folder as a store.
pub const MARKER: &str = "rooflint-baselines.toml";

/// Name and major version of the layout.
pub const STORE_SCHEMA: &str = "rooflint/baselines/1";

/// Name of a baseline saved without a name.
pub const DEFAULT_NAME: &str = "default";
