//! The catalog that a command works with.

use std::path::PathBuf;

use super::exit::Failure;
use crate::catalog::Catalog;

/// Loads the built-in catalog and the user's device files.
pub(super) fn load(files: &[PathBuf]) -> Result<Catalog, Failure> {
    let mut catalog = Catalog::builtin();
    for file in files {
        catalog = catalog.with_file(file)?;
    }
    Ok(catalog)
}
