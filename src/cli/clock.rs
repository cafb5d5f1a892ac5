//! The time: asked for here, and passed on to everything below.

use std::time::SystemTime;

use crate::history::Moment;

/// Now, to the second.
pub(super) fn now() -> Moment {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Moment::from_seconds(since.as_secs()).unwrap_or_default()
}
