//! Least time of a transfer over a link, to the host or to other devices.

use schemars::JsonSchema;
use serde::Serialize;

use super::count::{Link, Transfer};
use crate::catalog::{CatalogError, Device};
use crate::units::{Bytes, BytesPerSecond, Seconds};

/// A transfer over a link and its least time.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LinkTime {
    /// The link.
    pub over: Link,
    /// Bytes in one direction.
    pub bytes: Bytes,
    /// Bandwidth of the link in one direction, packet headers included.
    #[serde(rename = "bandwidth_bytes_per_s")]
    pub bandwidth: BytesPerSecond,
    /// Bytes over bandwidth.
    #[serde(rename = "time_s")]
    pub time: Seconds,
    /// Source of the bandwidth.
    pub source: String,
}

/// Returns the least time of a transfer.
///
/// # Errors
/// [`CatalogError::MissingFigure`] with the name of the link's figure.
pub(super) fn time(transfer: Transfer, device: &Device) -> Result<LinkTime, CatalogError> {
    let Transfer { over, bytes } = transfer;
    let found = match over {
        Link::Host => device.host_link(),
        Link::Peers => device
            .nvlink
            .as_ref()
            .map(|both| (both.value / 2.0, format!("half of both directions ({})", both.source))),
    };
    let figure = match over {
        Link::Host => "pcie",
        Link::Peers => "nvlink_gbs",
    };
    let (bandwidth, source) = found.ok_or_else(|| device.missing(figure))?;
    Ok(LinkTime { over, bytes, bandwidth, time: bytes / bandwidth, source })
}
