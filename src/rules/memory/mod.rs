//! Rules on memory: how much is moved, through which level, and in which pieces.

mod accesses;
mod caches;

rules! {
    uncoalesced_access,
    misaligned_access,
    partial_dram_bursts,
    random_gather_bound,
    ecc_partial_writes,
    narrow_global_loads,
    redundant_dram_traffic,
    l2_bandwidth_bound,
    l1_bandwidth_bound,
    l2_fabric_traffic,
    l2_thrashing,
    compression_ineffective,
    dram_saturated,
    memory_latency_bound,
    sysmem_traffic,
    peer_traffic,
    atomic_contention,
    register_spills,
    local_arrays,
    shared_load_bank_conflicts,
    shared_store_bank_conflicts,
    shared_bandwidth_bound,
}
