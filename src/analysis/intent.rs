//! What a kernel's name says that no counter does: it moves data between devices, or its author
//! meant it for tensor cores. A name is a hint and never overrides a counter.

/// Hints from the name of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Intent {
    /// A collective or peer transfer: bound by links, not by this device's roofs.
    pub(super) communication: bool,
    /// A copy between host and device: bound by `PCIe` or `NVLink`.
    pub(super) host_copy: bool,
    /// Meant for tensor cores.
    pub(super) tensor: bool,
    /// Works on half precision.
    pub(super) half: bool,
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

/// MMA shapes and library words; plain `mma` would match `gamma`.
const TENSOR: [&str; 16] = [
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
    "fmha_cutlass",
];

const HALF: [&str; 8] = ["half", "fp16", "bf16", "bfloat16", "_f16", "float16", "e4m3", "e5m2"];

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
            tensor: contains(&TENSOR),
            half: contains(&HALF),
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
            assert!(!intent.communication && !intent.host_copy && !intent.tensor, "{name}");
        }
    }

    #[test]
    fn tensor_core_kernels_are_recognised_by_their_instruction_shapes() {
        assert!(Intent::of("ampere_fp16_s16816gemm_fp16_128x128").tensor);
        assert!(Intent::of("nvjet_tst_128x128_64x6").tensor);
        assert!(!Intent::of("volta_sgemm_128x64_nn").tensor);
    }
}
