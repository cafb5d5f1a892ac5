//! What a kernel's name says that no counter does: it moves data between devices, or its author
//! meant it for matrix products. A name is a hint and never overrides a counter.

/// Hints from the name of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Intent {
    /// A collective or peer transfer: bound by links, not by this device's roofs.
    pub(super) communication: bool,
    /// A copy between host and device: bound by `PCIe` or `NVLink`.
    pub(super) host_copy: bool,
    /// Does matrix products, or may well: then tensor cores may have worked unseen.
    pub(super) products: bool,
}

const COMMUNICATION_STARTS: [&str; 6] =
    ["nccldev", "ncclkernel", "ncclsymk", "rccl", "nccl_", "mscclkernel"];

const COMMUNICATION: [&str; 13] = [
    "nvshmem",
    "rocshmem",
    "deep_ep::",
    "deepep::",
    "cross_device_reduce",
    "one_shot_all_reduce",
    "two_shot_all_reduce",
    "oneshotallreduce",
    "twoshotallreduce",
    "multimem_all_reduce",
    "allreduce_fusion",
    "alltoall",
    "userbuffers",
];

const HOST_COPIES: [&str; 4] =
    ["memcpy htod", "memcpy dtoh", "copyhosttodevice", "copydevicetohost"];

/// MMA shapes, library and operator words; plain `mma` would match `gamma`.
const PRODUCTS: [&str; 40] = [
    "tensorop",
    "s16816",
    "h16816",
    "s1688",
    "h1688",
    "s884",
    "h884",
    "i16832",
    "hmma",
    "wmma",
    "wgmma",
    "_tensor16x8x",
    "nvjet",
    "warpspecialized",
    "gmma",
    "fmha",
    "gemm",
    "conv",
    "attn",
    "attention",
    "matmul",
    "matrix",
    "flash",
    "triton",
    "cutlass",
    "moe",
    "mlp",
    "xmma",
    "cask",
    "bmm",
    "dot",
    "einsum",
    "linear",
    "sdpa",
    "half",
    "fp16",
    "bf16",
    "bfloat16",
    "_f16",
    "float16",
];

impl Intent {
    /// Reads the head of a kernel name.
    pub(super) fn of(head: &str) -> Self {
        let name = head.to_lowercase();
        // `fbgemm_gpu::` and the like are namespaces, not operations.
        let name = name.trim_start_matches(['[', ' ']).replace("cuda memcpy", "memcpy");
        let contains = |words: &[&str]| words.iter().any(|word| name.contains(word));
        Self {
            communication: COMMUNICATION_STARTS.iter().any(|start| name.starts_with(start))
                || contains(&COMMUNICATION),
            host_copy: HOST_COPIES.iter().any(|copy| name.starts_with(copy)),
            products: contains(&PRODUCTS),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collectives_and_host_copies_are_no_roofline_kernels() {
        for name in [
            "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
            "ncclKernel_AllReduce_RING_LL_Sum_half",
            "vllm::cross_device_reduce_1stage",
        ] {
            assert!(Intent::of(name).communication, "{name}");
        }
        for name in ["[CUDA memcpy HtoD]", "Memcpy DtoH (Device -> Pinned)"] {
            assert!(Intent::of(name).host_copy, "{name}");
        }
        for name in ["[CUDA memcpy DtoD]", "reduce_kernel", "layer_norm_gamma_beta"] {
            let intent = Intent::of(name);
            assert!(!intent.communication && !intent.host_copy && !intent.products, "{name}");
        }
    }

    #[test]
    fn kernels_that_may_use_tensor_cores_are_recognised() {
        for name in [
            "ampere_fp16_s16816gemm_fp16_128x128",
            "nvjet_tst_128x128_64x6",
            "_attn_fwd",
            "volta_sgemm_128x64_nn",
        ] {
            assert!(Intent::of(name).products, "{name}");
        }
        for name in
            ["iterate_kn", "ij_deriv_kernel", "stencil_kernel<double>", "layer_norm<float, 128>"]
        {
            assert!(!Intent::of(name).products, "{name}");
        }
    }
}
