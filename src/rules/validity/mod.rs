//! Rules on the profile itself: whether its figures can be what they seem.

mod clocks;

rules! {
    faster_than_roof,
    base_clock_profile,
    clock_throttled,
    device_mismatch,
    partial_gpu,
    mixed_devices,
    cold_cache_profile,
    coarse_timer,
    uncounted_work,
    bytes_below_minimum,
    not_enough_data,
    missing_metrics,
    zero_work_recorded,
    wrong_byte_formula,
    algorithmic_only,
    truncated_names,
    sparse_work,
    unweighted_flop_metric,
    tensor_undercount,
    tensor_parent_peak,
    inconsistent_passes,
}
