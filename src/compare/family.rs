//! The part of a kernel's name that survives recompilation.
//!
//! Compilers number their kernels, libraries choose tiles by trial, and both say so in the name:
//! `triton_poi_fused_add_relu_7` is `…_12` after a change elsewhere, `ampere_sgemm_128x64_tn` is
//! `…_64x64_tn` on another day. Sources: Inductor's ordinals, pytorch #106351 and #108449; tile, stage
//! and alignment tokens of cuBLAS, CUTLASS and cuDNN names.

/// Returns the name without the parts that change from build to build: hashes, ordinals, and the
/// tile, stages, alignment and architecture that a library chose. Case and all other words are
/// kept.
///
/// ```
/// use rooflint::compare::family;
///
/// assert_eq!(family("triton_poi_fused_add_relu_7"), family("triton_poi_fused_add_relu_12"));
/// assert_eq!(family("ampere_sgemm_128x64_tn"), family("ampere_sgemm_64x64_tn"));
/// assert_ne!(family("ampere_sgemm_128x64_tn"), family("ampere_sgemm_128x64_nn"));
/// ```
#[must_use]
pub fn family(name: &str) -> String {
    let mut kept = String::with_capacity(name.len());
    let mut rest = name;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let is_last = after.is_empty();
        kept.push_str(if is_last && is_ordinal(name, word) { "#" } else { stable(word, &kept) });
        let gap = after.find(|c: char| c.is_ascii_alphanumeric()).unwrap_or(after.len());
        kept.push_str(&after[..gap]);
        rest = &after[gap..];
    }
    kept
}

/// Returns the word, or a placeholder for all words of its kind.
fn stable<'a>(word: &'a str, before: &str) -> &'a str {
    let after = |prefix: &str| {
        let rest = word.strip_prefix(prefix);
        rest.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
    };
    let is_number = !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
    if is_tile(word) || is_number && before.ends_with("stages_") {
        "TILE"
    } else if ["align", "ldg", "stages", "stage", "warpgroupsize"].into_iter().any(after) {
        "TUNED"
    } else if after("sm")
        || matches!(
            word,
            "maxwell" | "volta" | "turing" | "ampere" | "ada" | "hopper" | "blackwell"
        )
    {
        "ARCH"
    } else if is_hash(word) {
        "HASH"
    } else {
        word
    }
}

/// `128x64`, `128x128x32`, `16x8x16`.
fn is_tile(word: &str) -> bool {
    let mut parts = word.split('x');
    word.contains('x')
        && parts.all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
}

/// Returns `true` for a hash: at least eight hexadecimal characters, both digits and letters.
fn is_hash(word: &str) -> bool {
    let word = word.strip_prefix("17h").unwrap_or(word);
    word.len() >= 8
        && word.bytes().all(|b| b.is_ascii_hexdigit() && !b.is_ascii_uppercase())
        && word.bytes().any(|b| b.is_ascii_digit())
        && word.bytes().any(|b| b.is_ascii_alphabetic())
}

/// The number that Triton's compiler driver gives to each kernel, at the end of its name; and which of
/// its arguments were specialized, such as `0d1d2de`.
fn is_ordinal(name: &str, word: &str) -> bool {
    let is_number = !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
    let is_specialization = word.len() > 2
        && word.starts_with(|c: char| c.is_ascii_digit())
        && word.contains('d')
        && word.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'd' | b'e' | b'c'));
    name.starts_with("triton_") && is_number || is_specialization
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_build_changes_is_left_out() {
        for (one, two) in [
            ("triton_red_fused_native_layer_norm_3", "triton_red_fused_native_layer_norm_41"),
            ("kernel_0d1d2d3de", "kernel_0d1d2de"),
            (
                "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn",
                "ampere_fp16_s16816gemm_fp16_256x64_ldg8_f2f_stages_64x3_tn",
            ),
            (
                "cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4",
                "cutlass_80_tensorop_s1688gemm_64x64_16x10_nn_align2",
            ),
            ("sm80_xmma_gemm_f16f16_f16f32_tn_n", "sm90_xmma_gemm_f16f16_f16f32_tn_n"),
            ("volta_sgemm_128x64_nt", "ampere_sgemm_64x32_nt"),
            ("my_kernel_0f3a9c1d", "my_kernel_77e0b2aa"),
        ] {
            assert_eq!(family(one), family(two));
        }
    }

    #[test]
    fn what_a_kernel_does_stays() {
        for (one, two) in [
            ("triton_poi_fused_add_relu_7", "triton_poi_fused_add_mul_7"),
            ("ampere_sgemm_128x64_tn", "ampere_hgemm_128x64_tn"),
            ("cutlass_tensorop_s1688gemm", "cutlass_tensorop_s16816gemm"),
            ("layer_norm_1", "layer_norm_2"),
            ("reduce_1Block", "reduce_2Block"),
            ("facade", "decade"),
            ("vectorized<4>", "vectorized<2>"),
            ("Kernel", "kernel"),
        ] {
            assert_ne!(family(one), family(two));
        }
        assert_eq!(family(""), "");
        assert_eq!(family("µ_128x64"), "µ_TILE");
    }
}
