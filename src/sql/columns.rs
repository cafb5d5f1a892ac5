//! Columns that several views share.

use crate::model::Pipe;

/// Returns the column with the operations on a pipe.
pub(super) fn operations(pipe: Pipe) -> String {
    format!("{}s_{}", pipe.operation().to_lowercase(), pipe.key())
}
