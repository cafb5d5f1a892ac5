//! Rules on launches and parallelism: too few blocks, too few warps, too little work in each.

mod latency;

rules! {
    launch_bound,
    small_grid,
    tail_effect,
    insufficient_parallelism,
    block_size_not_warp_multiple,
    occupancy_limited,
    low_achieved_occupancy,
    sm_load_imbalance,
    low_issue_utilization,
    warp_stalls,
    warp_divergence,
    predication_waste,
}
