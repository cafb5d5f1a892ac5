//! Rules on the whole run: what many kernels cost together.

rules! {
    host_bound,
    launch_bound_share,
    many_tiny_launches,
    dtype_casts,
    layout_transforms,
    device_copies,
    memset_share,
    host_device_copies,
    unfused_optimizer,
    unfused_elementwise,
    communication_share,
    split_k_overhead,
    materialized_attention,
    convolution_layout_or_algorithm,
}
