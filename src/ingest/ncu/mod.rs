//! What the Nsight Compute dialects share.

use super::{IngestError, Reading};

pub(super) fn no_table(_: &Reading<'_>) -> Option<IngestError> {
    None
}
