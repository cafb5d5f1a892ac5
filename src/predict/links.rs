//! How long a transfer over a link takes at least, to the host or to other devices.

use schemars::JsonSchema;
use serde::Serialize;

use super::count::{Link, Transfer};
use crate::catalog::{CatalogError, Device};
use crate::units::{Bytes, BytesPerSecond, Seconds};

/// A transfer over a link and its least time.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LinkTime {
    /// Which link.
    pub over: Link,
    /// Bytes in one direction.
    pub bytes: Bytes,
    /// What the link carries in one direction, packet headers included.
    #[serde(rename = "bandwidth_bytes_per_s")]
    pub bandwidth: BytesPerSecond,
    /// Bytes over bandwidth.
    #[serde(rename = "time_s")]
    pub time: Seconds,
    /// What the bandwidth follows from.
    pub source: String,
}

/// The least time of a transfer.
///
/// # Errors
/// [`CatalogError::MissingFigure`] that names the link's figure.
pub(super) fn time(transfer: Transfer, device: &Device) -> Result<LinkTime, CatalogError> {
    let Transfer { over, bytes } = transfer;
    let found = match over {
        Link::Pcie => device.pcie.as_deref().and_then(|pcie| {
            Some((pcie_bandwidth(pcie)?, format!("PCIe {pcie}, encoding taken off")))
        }),
        Link::Peers => device
            .nvlink
            .as_ref()
            .map(|both| (both.value / 2.0, format!("half of both directions ({})", both.source))),
    };
    let figure = match over {
        Link::Pcie => "pcie",
        Link::Peers => "nvlink_gbs",
    };
    let (bandwidth, source) = found.ok_or_else(|| CatalogError::MissingFigure {
        device: device.name.clone(),
        figure: figure.to_owned(),
    })?;
    Ok(LinkTime { over, bytes, bandwidth, time: bytes / bandwidth, source })
}

/// Bytes per second in one direction of `5.0 x16`: transfers per lane, less the encoding.
///
/// Source: *PCI Express Base Specification*: 8b/10b up to 2.x, 128b/130b up to 5.0, and flits of 256
/// bytes of which 242 carry packets from 6.0 on.
fn pcie_bandwidth(text: &str) -> Option<BytesPerSecond> {
    let (generation, lanes) = text.split_once(" x")?;
    let (transfers, efficiency) = match generation {
        "1.0" | "1.1" => (2.5e9, 8.0 / 10.0),
        "2.0" | "2.1" => (5e9, 8.0 / 10.0),
        "3.0" => (8e9, 128.0 / 130.0),
        "4.0" => (16e9, 128.0 / 130.0),
        "5.0" => (32e9, 128.0 / 130.0),
        "6.0" => (64e9, 242.0 / 256.0),
        _ => return None,
    };
    let lanes: f64 = lanes.trim().parse().ok()?;
    Some(BytesPerSecond::new(transfers * efficiency / 8.0 * lanes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generations_and_lanes_give_the_known_bandwidths() {
        for (text, gigabytes) in
            [("3.0 x16", 15.75), ("4.0 x16", 31.5), ("5.0 x16", 63.0), ("4.0 x8", 15.75)]
        {
            let bandwidth = pcie_bandwidth(text).unwrap().get() / 1e9;
            assert!((bandwidth / gigabytes - 1.0).abs() < 1e-3, "{text}: {bandwidth}");
        }
        assert!(pcie_bandwidth("9.0 x16").is_none());
        assert!(pcie_bandwidth("OAM").is_none());
    }
}
