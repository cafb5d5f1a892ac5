//! The device catalog: GPUs with the source of every figure, found by the names that tools print.
//!
//! A device is one file in `devices/`, readable and editable without knowing Rust, and one line in
//! [`DEVICES`]. Files are parsed when they are looked up, because a run needs only one or two.

mod achievable;
mod attributes;
mod based;
mod device;
mod error;
mod evidence;
mod figure;
mod file;
mod limits;
mod links;
mod lookup;
mod names;
mod observed;
mod package;
mod part;
mod plausible;
mod rates;
#[cfg(test)]
mod sanity;
mod wire;

pub use device::{Achievable, Device, Memory, Part, Provenance};
pub use error::CatalogError;
pub use figure::{Achieved, Citation, Confidence, Exception, Figure};
pub use limits::Limits;
pub use lookup::{Catalog, Identified};
pub(crate) use names::normalized;
pub use observed::{DerivedPeak, Observed};
pub use rates::{Rate, rate};
pub use wire::schema;

/// A device file compiled into the program.
#[derive(Debug, Clone, Copy)]
pub struct BuiltinDevice {
    /// Stem of the file name, which is the id of the device.
    pub id: &'static str,
    /// Text of the file.
    pub text: &'static str,
}

macro_rules! devices {
    ($($id:literal),* $(,)?) => {
        /// All built-in devices, by vendor and generation. Of devices with equal figures, the first
        /// one is assumed for an export without a name.
        pub const DEVICES: &[BuiltinDevice] = &[$(BuiltinDevice {
            id: $id,
            text: include_str!(concat!("../../devices/", $id, ".toml")),
        }),*];
    };
}

devices! {
    "nvidia-tesla-k80",
    "nvidia-tesla-p4",
    "nvidia-tesla-p40",
    "nvidia-tesla-p100-sxm2",
    "nvidia-tesla-p100-pcie-16gb",
    "nvidia-tesla-p100-pcie-12gb",
    "nvidia-geforce-gtx-1050",
    "nvidia-geforce-gtx-1050-ti",
    "nvidia-geforce-gtx-1060-3gb",
    "nvidia-geforce-gtx-1060-6gb",
    "nvidia-geforce-gtx-1060-max-q",
    "nvidia-geforce-gtx-1070",
    "nvidia-geforce-gtx-1070-ti",
    "nvidia-geforce-gtx-1080",
    "nvidia-geforce-gtx-1080-ti",
    "nvidia-titan-x-pascal",
    "nvidia-titan-xp",
    "nvidia-tesla-v100-sxm2-16gb",
    "nvidia-tesla-v100-sxm2-32gb",
    "nvidia-tesla-v100-dgxs-32gb",
    "nvidia-tesla-v100-sxm3-32gb",
    "nvidia-tesla-v100-pcie-16gb",
    "nvidia-tesla-v100-pcie-32gb",
    "nvidia-tesla-v100s-pcie-32gb",
    "nvidia-titan-v",
    "nvidia-jetson-agx-xavier",
    "nvidia-jetson-xavier-nx-8gb",
    "nvidia-tesla-t4",
    "nvidia-t400",
    "nvidia-t600",
    "nvidia-t1000",
    "nvidia-geforce-gtx-1630",
    "nvidia-geforce-gtx-1650-gddr5",
    "nvidia-geforce-gtx-1650-gddr6",
    "nvidia-geforce-gtx-1650-super",
    "nvidia-geforce-gtx-1660",
    "nvidia-geforce-gtx-1660-super",
    "nvidia-geforce-gtx-1660-ti",
    "nvidia-geforce-rtx-2060-6gb",
    "nvidia-geforce-rtx-2060-12gb",
    "nvidia-geforce-rtx-2060-super",
    "nvidia-geforce-rtx-2070",
    "nvidia-geforce-rtx-2070-super",
    "nvidia-geforce-rtx-2080",
    "nvidia-geforce-rtx-2080-super",
    "nvidia-geforce-rtx-2080-ti",
    "nvidia-quadro-rtx-4000",
    "nvidia-quadro-rtx-5000",
    "nvidia-quadro-rtx-6000",
    "nvidia-quadro-rtx-8000",
    "nvidia-titan-rtx",
    "nvidia-a100-sxm4-40gb",
    "nvidia-a100-sxm4-80gb",
    "nvidia-a100-pcie-40gb",
    "nvidia-a100-pcie-80gb",
    "nvidia-a100-custom-64gb",
    "nvidia-a800-sxm4-80gb",
    "nvidia-a800-sxm4-40gb",
    "nvidia-a800-pcie-80gb",
    "nvidia-a800-40gb-active",
    "nvidia-a30",
    "nvidia-a40",
    "nvidia-a10",
    "nvidia-a10g",
    "nvidia-a16",
    "nvidia-a2",
    "nvidia-geforce-rtx-3050-8gb",
    "nvidia-geforce-rtx-3050-6gb",
    "nvidia-geforce-rtx-3050-oem",
    "nvidia-geforce-rtx-3060",
    "nvidia-geforce-rtx-3060-ti",
    "nvidia-geforce-rtx-3070",
    "nvidia-geforce-rtx-3070-ti",
    "nvidia-geforce-rtx-3080-10gb",
    "nvidia-geforce-rtx-3080-12gb",
    "nvidia-geforce-rtx-3080-ti",
    "nvidia-geforce-rtx-3090",
    "nvidia-geforce-rtx-3090-ti",
    "nvidia-geforce-rtx-3050-laptop",
    "nvidia-geforce-rtx-3050-6gb-laptop",
    "nvidia-geforce-rtx-3050-ti-laptop",
    "nvidia-geforce-rtx-3060-laptop",
    "nvidia-geforce-rtx-3070-laptop",
    "nvidia-geforce-rtx-3070-ti-laptop",
    "nvidia-geforce-rtx-3080-laptop",
    "nvidia-geforce-rtx-3080-ti-laptop",
    "nvidia-rtx-a400",
    "nvidia-rtx-a1000",
    "nvidia-rtx-a2000",
    "nvidia-rtx-a4000",
    "nvidia-rtx-a4500",
    "nvidia-rtx-a5000",
    "nvidia-rtx-a5500",
    "nvidia-rtx-a6000",
    "nvidia-rtx-a2000-laptop",
    "nvidia-rtx-a3000-laptop",
    "nvidia-rtx-a3000-12gb-laptop",
    "nvidia-rtx-a4000-laptop",
    "nvidia-rtx-a4500-laptop",
    "nvidia-rtx-a5000-laptop",
    "nvidia-rtx-a5500-laptop",
    "nvidia-jetson-agx-orin-64gb",
    "nvidia-jetson-agx-orin-32gb",
    "nvidia-jetson-orin-nx-16gb",
    "nvidia-jetson-orin-nx-8gb",
    "nvidia-jetson-orin-nano-8gb",
    "nvidia-jetson-orin-nano-4gb",
    "nvidia-l4",
    "nvidia-l40",
    "nvidia-l40s",
    "nvidia-l20",
    "nvidia-rtx-2000-ada-generation",
    "nvidia-rtx-4000-sff-ada-generation",
    "nvidia-rtx-4000-ada-generation",
    "nvidia-rtx-4500-ada-generation",
    "nvidia-rtx-5000-ada-generation",
    "nvidia-rtx-6000-ada-generation",
    "nvidia-geforce-rtx-4060",
    "nvidia-geforce-rtx-4060-ti",
    "nvidia-geforce-rtx-4070",
    "nvidia-geforce-rtx-4070-super",
    "nvidia-geforce-rtx-4070-ti",
    "nvidia-geforce-rtx-4070-ti-super",
    "nvidia-geforce-rtx-4080",
    "nvidia-geforce-rtx-4080-super",
    "nvidia-geforce-rtx-4090",
    "nvidia-geforce-rtx-4090-d",
    "nvidia-geforce-rtx-4050-laptop",
    "nvidia-geforce-rtx-4060-laptop",
    "nvidia-geforce-rtx-4070-laptop",
    "nvidia-geforce-rtx-4080-laptop",
    "nvidia-geforce-rtx-4090-laptop",
    "nvidia-h100-sxm5-80gb",
    "nvidia-h100-pcie-80gb",
    "nvidia-h100-nvl-94gb",
    "nvidia-h100-sxm5-64gb",
    "nvidia-h100-sxm5-94gb",
    "nvidia-h800-sxm5-80gb",
    "nvidia-h800-pcie-80gb",
    "nvidia-h20-96gb",
    "nvidia-h20-3e-141gb",
    "nvidia-h200-sxm-141gb",
    "nvidia-h200-nvl-141gb",
    "nvidia-gh200-96gb-hbm3",
    "nvidia-gh200-144gb-hbm3e",
    "nvidia-b200",
    "nvidia-gb200",
    "nvidia-b100",
    "nvidia-b300",
    "nvidia-gb300",
    "nvidia-jetson-t5000",
    "nvidia-jetson-t4000",
    "nvidia-geforce-rtx-5050",
    "nvidia-geforce-rtx-5060",
    "nvidia-geforce-rtx-5060-ti",
    "nvidia-geforce-rtx-5070",
    "nvidia-geforce-rtx-5070-ti",
    "nvidia-geforce-rtx-5080",
    "nvidia-geforce-rtx-5090",
    "nvidia-geforce-rtx-5050-laptop",
    "nvidia-geforce-rtx-5060-laptop",
    "nvidia-geforce-rtx-5070-laptop",
    "nvidia-geforce-rtx-5070-ti-laptop",
    "nvidia-geforce-rtx-5080-laptop",
    "nvidia-geforce-rtx-5090-laptop",
    "nvidia-rtx-pro-2000-blackwell",
    "nvidia-rtx-pro-4000-blackwell",
    "nvidia-rtx-pro-4500-blackwell",
    "nvidia-rtx-pro-5000-blackwell",
    "nvidia-rtx-pro-6000-blackwell-workstation-edition",
    "nvidia-rtx-pro-6000-blackwell-server-edition",
    "nvidia-rtx-pro-6000-blackwell-max-q",
    "nvidia-gb10",
    "amd-radeon-instinct-mi50",
    "amd-radeon-instinct-mi60",
    "amd-instinct-mi100",
    "amd-instinct-mi210",
    "amd-instinct-mi250-oam",
    "amd-instinct-mi250x-oam",
    "amd-instinct-mi250-gcd",
    "amd-instinct-mi250x-gcd",
    "amd-instinct-mi300a-apu",
    "amd-instinct-mi300x",
    "amd-instinct-mi325x",
    "amd-instinct-mi350x",
    "amd-instinct-mi355x",
    "amd-radeon-rx-7900-xtx",
    "intel-data-center-gpu-max-1550",
    "intel-data-center-gpu-max-1100",
}
