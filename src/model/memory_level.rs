//! Levels of the memory hierarchy, whose traffic profilers count separately.

use schemars::JsonSchema;
use serde::Serialize;

use super::Quantity;

/// A level of the memory hierarchy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MemoryLevel {
    /// L1/TEX cache, global and local accesses.
    L1,
    /// Shared memory.
    Shared,
    /// L2 cache.
    L2,
    /// Device memory.
    Dram,
    /// Memory of the host.
    System,
    /// Memory of another device.
    Peer,
}

impl MemoryLevel {
    /// All levels, from the SM outwards.
    pub const ALL: [Self; 6] =
        [Self::L1, Self::Shared, Self::L2, Self::Dram, Self::System, Self::Peer];

    /// Returns the name used in reports.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::L1 => "L1",
            Self::Shared => "shared memory",
            Self::L2 => "L2",
            Self::Dram => "DRAM",
            Self::System => "system memory",
            Self::Peer => "peer memory",
        }
    }

    /// Returns its symbol in formulas: `t_L2` is the time of its traffic, `B_L2` the traffic.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::L1 => "L1",
            Self::Shared => "sh",
            Self::L2 => "L2",
            Self::Dram => "mem",
            Self::System => "sys",
            Self::Peer => "peer",
        }
    }

    /// Returns the name that machine-readable outputs use.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::L1 => "l1",
            Self::Shared => "shared",
            Self::L2 => "l2",
            Self::Dram => "dram",
            Self::System => "system",
            Self::Peer => "peer",
        }
    }

    /// Returns the quantity that counts its traffic.
    #[must_use]
    pub const fn bytes(self) -> Quantity {
        match self {
            Self::L1 => Quantity::L1Bytes,
            Self::Shared => Quantity::SharedBytes,
            Self::L2 => Quantity::L2Bytes,
            Self::Dram => Quantity::DramBytes,
            Self::System => Quantity::SystemBytes,
            Self::Peer => Quantity::PeerBytes,
        }
    }
}
