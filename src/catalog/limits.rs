//! Occupancy limits of one SM by compute capability, from which occupancy and waves follow.

use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::roofline;

const TEXT: &str = include_str!("../../devices/architectures/limits.toml");

/// Registers of an SM for which [`roofline::register_limited_blocks`] holds.
const REGISTERS: u32 = 65_536;

type Entry = (&'static str, OnceLock<Option<Limits>>);

/// The entries by compute capability: the text of each, which is parsed when it is asked for. An
/// unreadable one would be missing; a test sees to it that none is.
static TABLE: LazyLock<BTreeMap<&str, Entry>> = LazyLock::new(|| {
    let entries = TEXT.split("\n[\"").filter_map(|entry| entry.split_once("\"]"));
    entries.map(|(key, text)| (key, (text, OnceLock::new()))).collect()
});

/// Occupancy limits of one SM (CUDA C++ Programming Guide, technical specifications per compute
/// capability). 1 KiB is 1024 bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Architecture and chips, such as `Ampere GA100`.
    pub architecture: String,
    /// Threads per warp.
    pub threads_per_warp: u32,
    /// Maximum resident threads per SM.
    pub max_threads_per_sm: u32,
    /// Maximum resident warps per SM.
    pub max_warps_per_sm: u32,
    /// Maximum resident blocks per SM.
    pub max_blocks_per_sm: u32,
    /// Maximum threads per block.
    pub max_threads_per_block: u32,
    /// 32-bit registers per SM.
    pub registers_per_sm: u32,
    /// Maximum 32-bit registers per thread.
    pub max_registers_per_thread: u32,
    /// Registers are allocated per warp in multiples of this.
    pub register_granularity: u32,
    /// Warps are allocated in multiples of this.
    pub warp_granularity: Option<u32>,
    /// L1 cache and shared memory together in KiB, if they are unified.
    pub l1_shared_kib_per_sm: Option<u32>,
    /// Shared memory per SM in KiB, including the reserved part.
    pub shared_kib_per_sm: u32,
    /// Shared memory per block in KiB, without opt-in.
    pub shared_kib_per_block: u32,
    /// Maximum shared memory per block in KiB, with opt-in.
    pub shared_kib_per_block_optin: u32,
    /// Shared memory that the system reserves per resident block, in bytes.
    pub reserved_shared_bytes_per_block: u32,
    /// Shared memory is allocated in multiples of this, in bytes.
    pub shared_granularity_bytes: u32,
    /// Bytes per clock that the data path of shared memory delivers, which is that of L1, too, from Volta on: 32 banks of 4
    /// bytes (CUDA C++ Programming Guide).
    pub on_chip_bytes_per_clock: Option<u32>,
    /// Input formats of the Tensor Cores, such as `bf16`.
    pub matrix_inputs: Vec<String>,
    /// The full citation.
    pub source: String,
    /// Remark on the entry.
    pub note: Option<String>,
}

impl Limits {
    /// Returns the limits of a compute capability such as `9.0`.
    #[must_use]
    pub fn of(compute_capability: &str) -> Option<&'static Self> {
        let (text, limits) = TABLE.get(compute_capability)?;
        limits.get_or_init(|| toml::from_str(text).ok()).as_ref()
    }

    /// Returns the shared memory of one SM, in bytes.
    #[must_use]
    pub const fn shared_bytes_per_sm(&self) -> u32 {
        self.shared_kib_per_sm * 1024
    }

    /// Returns the shared memory in bytes that a resident block takes for a request of `bytes`:
    /// rounded up, with the reserved part.
    #[must_use]
    pub const fn shared_bytes_taken(&self, bytes: u32) -> u32 {
        (bytes + self.reserved_shared_bytes_per_block)
            .next_multiple_of(self.shared_granularity_bytes)
    }

    /// Returns the resident blocks per SM: the smallest number that threads, registers per thread,
    /// shared memory (`shared_taken` in bytes, reserved part included) and slots allow. `None` if
    /// not even one block fits, or if the formula does not apply to the size of the register file.
    #[must_use]
    pub fn resident_blocks(&self, threads: u32, registers: u32, shared_taken: u32) -> Option<u32> {
        if !self.is_register_file_usual() || threads == 0 {
            return None;
        }
        let by_shared = roofline::shared_limited_blocks(shared_taken, self.shared_bytes_per_sm());
        let least = roofline::register_limited_blocks(threads, registers)
            .min(roofline::warp_limited_blocks(threads, self.max_warps_per_sm))
            .min(by_shared)
            .min(self.max_blocks_per_sm);
        (least > 0).then_some(least)
    }

    /// Returns `true` if the register file has the size for which blocks by registers are computed.
    #[must_use]
    pub const fn is_register_file_usual(&self) -> bool {
        self.registers_per_sm == REGISTERS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_readable_and_consistent() {
        let table: BTreeMap<String, Limits> = toml::from_str(TEXT).unwrap();
        assert_eq!(table.len(), 17);
        for (capability, limits) in &table {
            assert_eq!(Limits::of(capability), Some(limits));
            let threads = limits.max_warps_per_sm * limits.threads_per_warp;
            assert_eq!(threads, limits.max_threads_per_sm, "{capability}");
            assert!(limits.shared_kib_per_block_optin <= limits.shared_kib_per_sm, "{capability}");
            let unified = limits.l1_shared_kib_per_sm;
            assert!(unified.is_none_or(|kib| kib >= limits.shared_kib_per_sm), "{capability}");
        }
    }

    #[test]
    fn the_scarcest_resource_decides_how_many_blocks_fit() {
        let ampere = Limits::of("8.6").unwrap();
        // 48 warps, 16 slots, 100 KiB: 8 blocks of 1 KiB fit a carve-out of 8 KiB, but here the whole is
        // free; 256 threads of 18 registers are 8 warps of 768 registers each.
        assert_eq!(ampere.resident_blocks(256, 18, 1024), Some(6));
        assert_eq!(ampere.resident_blocks(32, 18, 1024), Some(16));
        // 128 registers: 4 warps of 4096 in each quarter, so 2 blocks of 8 warps.
        assert_eq!(ampere.resident_blocks(256, 128, 1024), Some(2));
        assert_eq!(ampere.resident_blocks(256, 18, 34 * 1024), Some(2));
        assert_eq!(ampere.resident_blocks(1024, 128, 0), None);
        // The register file of GK210 is twice as large.
        assert_eq!(Limits::of("3.7").unwrap().resident_blocks(256, 18, 0), None);
    }

    #[test]
    fn shared_memory_is_rounded_up_with_what_is_reserved() {
        let hopper = Limits::of("9.0").unwrap();
        assert_eq!(hopper.shared_bytes_per_sm(), 228 * 1024);
        assert_eq!(hopper.shared_bytes_taken(1), 1152);
        assert_eq!(hopper.shared_bytes_taken(0), 1024);
        assert_eq!(Limits::of("7.0").unwrap().shared_bytes_taken(1000), 1024);
        assert!(Limits::of("1.0").is_none());
    }
}
