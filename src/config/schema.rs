//! The JSON schema of `rooflint.toml`, from the structures that read it: editors complete and check by it.

use crate::json;

/// The JSON schema of the configuration, as pretty-printed JSON.
#[must_use]
pub fn schema() -> String {
    json::schema_of_toml::<super::Wire>("config", "Configuration of rooflint: rooflint.toml")
}
