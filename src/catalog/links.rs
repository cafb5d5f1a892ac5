//! Bandwidths of the links a device has to its host and to its peers.

use super::Device;
use crate::units::BytesPerSecond;

impl Device {
    /// Returns the bandwidth to the host in one direction, and what link that is: NVLink-C2C where the device has it,
    /// else PCI Express, net of encoding.
    #[must_use]
    pub fn host_link(&self) -> Option<(BytesPerSecond, String)> {
        if let Some(both) = &self.c2c {
            return Some((
                both.value / 2.0,
                format!("NVLink-C2C, half of both directions ({})", both.source),
            ));
        }
        let pcie = self.pcie.as_deref()?;
        Some((pcie_bandwidth(pcie)?, format!("PCIe {pcie}, net of encoding")))
    }
}

/// Returns the bytes per second in one direction of a link such as `5.0 x16`: transfers per lane,
/// net of encoding.
///
/// Source: *PCI Express Base Specification*: 8b/10b up to 2.x, 128b/130b up to 5.0, and flits of 256
/// bytes of which 242 carry packets from 6.0 on.
pub(super) fn pcie_bandwidth(text: &str) -> Option<BytesPerSecond> {
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
    let lanes: u32 = lanes.parse().ok().filter(|lanes| (1..=32).contains(lanes))?;
    Some(BytesPerSecond::new(transfers * efficiency / 8.0 * f64::from(lanes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;
    use crate::model::DeviceHint;

    #[test]
    fn nvlink_c2c_comes_before_pcie() {
        for (name, gigabytes) in
            [("GH200 96GB HBM3", 450.0), ("GB200 (one GPU)", 450.0), ("H100 SXM5 80GB", 63.0)]
        {
            let device = Catalog::builtin().find(name, &DeviceHint::default()).unwrap();
            let (one_way, source) = device.host_link().unwrap();
            assert!((one_way.get() / 1e9 / gigabytes - 1.0).abs() < 1e-3, "{name}: {one_way:?}");
            assert_eq!(source.starts_with("NVLink-C2C, half"), gigabytes > 100.0, "{source}");
        }
    }

    #[test]
    fn generations_and_lanes_give_the_known_bandwidths() {
        for (text, gigabytes) in
            [("3.0 x16", 15.75), ("4.0 x16", 31.5), ("5.0 x16", 63.0), ("4.0 x8", 15.75)]
        {
            let bandwidth = pcie_bandwidth(text).unwrap().get() / 1e9;
            assert!((bandwidth / gigabytes - 1.0).abs() < 1e-3, "{text}: {bandwidth}");
        }
        assert!(pcie_bandwidth("9.0 x16").is_none());
        for text in ["OAM", "5.0 x-16", "5.0 x0", "5.0 x64", "5.0 xnan", "3.1 x16", "5.0x16"] {
            assert!(pcie_bandwidth(text).is_none(), "{text}");
        }
    }
}
