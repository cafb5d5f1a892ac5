//! Whether tensor cores may have worked in a kernel unseen: by its class, or by words in a name that
//! no rule knows. A name is a hint and never overrides a counter.

use crate::taxonomy::{Category, Class};

/// Words in names that no rule recognises; plain `mma` would match `gamma`.
const WORDS: [&str; 18] = [
    "hmma",
    "wmma",
    "wgmma",
    "gmma",
    "tensorop",
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
    "linear",
    "einsum",
];

/// Whether a kernel may use tensor cores: then their work is only taken as absent if it was counted.
pub(super) fn may_use_tensor_cores(class: &Class, head: &str) -> bool {
    match class.category {
        Category::DotProduct => class.tensor != Some(false),
        Category::Unknown => {
            let name = head.to_lowercase();
            WORDS.iter().any(|word| name.contains(word))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::taxonomy::Taxonomy;

    fn may(name: &str) -> bool {
        may_use_tensor_cores(&Taxonomy::builtin().classify(name), name)
    }

    #[test]
    fn kernels_that_may_use_tensor_cores_are_recognised() {
        for name in [
            "ampere_fp16_s16816gemm_fp16_128x128",
            "nvjet_tst_128x128_64x6",
            "_attn_fwd",
            "my_wmma_test",
        ] {
            assert!(may(name), "{name}");
        }
        for name in [
            "iterate_kn",
            "ij_deriv_kernel",
            "stencil_kernel<double>",
            "layer_norm<float, 128>",
            "volta_sgemm_128x64_nn",
            "vectorized_elementwise_kernel<4, Half>",
        ] {
            assert!(!may(name), "{name}");
        }
    }
}
