//! Rules on arithmetic: which pipe does the work, and how busy it is.

rules! {
    gemm_on_cuda_cores,
    half_gemm_on_cuda_cores,
    fp64_in_single_precision_code,
    fp64_on_consumer_gpu,
    unaligned_gemm_dimensions,
    unaligned_gemm_kernel,
    tile_quantization,
    low_tensor_utilization,
    warp_mma_on_hopper,
    old_architecture_kernel,
    memory_bound_matmul,
    unfused_multiply_add,
    integer_address_overhead,
    special_function_bound,
    instruction_bound,
    pipe_saturated,
}
