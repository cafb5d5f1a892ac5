//! What a trace says beside its events.

use super::devices::Properties;

/// What stands around the list of events.
#[derive(Debug, Default)]
pub(super) struct About {
    pub(super) devices: Vec<Properties>,
    /// Nanoseconds since 1970 at which its times begin.
    pub(super) base: u64,
    pub(super) rank: Option<String>,
}
