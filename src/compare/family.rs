//! The part of a kernel's name that survives recompilation.
//!
//! Compilers number their kernels, libraries choose tiles by trial, and both say so in the name:
//! `triton_poi_fused_add_relu_7` is `…_12` after a change elsewhere, `ampere_sgemm_128x64_tn` is
//! `…_64x64_tn` on another day. Sources: Inductor's ordinals, pytorch #106351 and #108449; tile, stage
//! and alignment tokens of cuBLAS, CUTLASS and cuDNN names.

/// Returns the name without the parts that change from build to build: hashes, ordinals, and the
/// tile, stages, alignment, schedule and architecture that a library chose. Case and all other words
/// are kept.
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
    let name = &spelled(name);
    // Behind the macro tile, every word of a Tensile name is a tuning parameter.
    let tensile = name.strip_prefix("Cijk_").and_then(|_| {
        let tuned = name.match_indices("_MT").map(|(at, _)| at);
        tuned.into_iter().find(|at| name[at + 3..].starts_with(|c: char| c.is_ascii_digit()))
    });
    if let Some(tuned) = tensile {
        return format!("{}_TUNED", &name[..tuned]);
    }
    let mut kept = String::with_capacity(name.len());
    let mut rest: &str = name;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let gap = after.find(|c: char| c.is_ascii_alphanumeric()).unwrap_or(after.len());
        let word = if is_ordinal(name, word, after) { "#" } else { stable(word, &kept, name) };
        if !word.is_empty() {
            kept.push_str(word);
            kept.push_str(&after[..gap]);
        } else if kept.is_empty() {
            kept.push_str(&after[..gap]);
        }
        rest = &after[gap..];
    }
    kept
}

/// Replaces line breaks and other control characters of a name by blanks: names come from outside, and
/// stand in lines of stores, reports and logs.
pub(super) fn one_line(name: &mut String) {
    if name.contains(char::is_control) {
        let words = name.split(char::is_control).filter(|part| !part.is_empty());
        *name = words.collect::<Vec<_>>().join(" ");
    }
}

/// Returns the name in one spelling: template arguments without casts (`<(int)128>` is `<128>`), integer
/// suffixes and blanks, and `true` and `false` as numbers.
pub(super) fn spelled(name: &str) -> String {
    const CASTS: [&str; 13] = [
        "(int)",
        "(unsigned int)",
        "(bool)",
        "(long)",
        "(unsigned long)",
        "(long long)",
        "(unsigned long long)",
        "(short)",
        "(unsigned short)",
        "(char)",
        "(signed char)",
        "(unsigned char)",
        "(__nv_bool)",
    ];
    if !name.contains('<') {
        return name.to_owned();
    }
    let mut kept = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(next) = rest.chars().next() {
        let is_argument = kept.ends_with(['<', ',']);
        if is_argument && let Some(cast) = CASTS.iter().find(|cast| rest.starts_with(**cast)) {
            rest = &rest[cast.len()..];
            continue;
        }
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let word = &rest[..rest.find(|c: char| !is_word(c)).unwrap_or(rest.len())];
        if !word.is_empty() {
            let is_whole = is_argument && rest[word.len()..].trim_start().starts_with([',', '>']);
            kept.push_str(match word {
                "true" if is_whole => "1",
                "false" if is_whole => "0",
                number if is_whole && number.starts_with(|c: char| c.is_ascii_digit()) => {
                    number.trim_end_matches(['u', 'U', 'l', 'L'])
                }
                word => word,
            });
            rest = &rest[word.len()..];
            continue;
        }
        rest = &rest[next.len_utf8()..];
        // Blanks tell words apart, and nothing beside a bracket or a comma.
        let is_loose = kept.ends_with(['<', '>', ',', ' ']) || rest.starts_with(['>', ',', '<']);
        if next != ' ' || !is_loose {
            kept.push(next);
        }
    }
    kept
}

/// Returns the word, a placeholder for all words of its kind, or nothing for optional ones.
fn stable<'a>(word: &'a str, before: &str, name: &str) -> &'a str {
    let after = |prefix: &str| {
        let rest = word.strip_prefix(prefix);
        rest.is_some_and(|rest| is_number(rest) || is_tile(rest))
    };
    if is_tile(word) || is_number(word) && before.ends_with("stages_") || after("tilesize") {
        "TILE"
    } else if ["align", "ldg", "stages", "stage", "warpgroupsize", "clustersize"]
        .into_iter()
        .any(after)
    {
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
    } else if is_schedule(word, name) {
        ""
    } else if let Some(product) = product_of_tile(word) {
        product
    } else {
        word
    }
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit())
}

/// `128x64`, `128x128x32`, `16x8x16`.
fn is_tile(word: &str) -> bool {
    word.contains('x') && word.split('x').all(is_number)
}

/// How a library schedules the warps of a tile: chosen with it, and written or not.
fn is_schedule(word: &str, name: &str) -> bool {
    let of_cutlass = matches!(word, "warpspecialized" | "pingpong" | "cooperative");
    let of_nvjet = matches!(word, "v" | "h" | "bz" | "coopA" | "coopB" | "splitK");
    of_cutlass && name.starts_with("cutlass") || of_nvjet && name.starts_with("nvjet")
}

/// `s64x128x16gemm` is a product whatever part of its tile one instruction computes.
fn product_of_tile(word: &str) -> Option<&str> {
    let tile = word.strip_suffix("gemm")?.trim_start_matches(|c: char| c.is_ascii_lowercase());
    (is_tile(tile) && tile.split('x').count() == 3).then_some("TILEgemm")
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
fn is_ordinal(name: &str, word: &str, after: &str) -> bool {
    let is_specialization = |word: &str| {
        word.len() > 2
            && word.starts_with(|c: char| c.is_ascii_digit())
            && word.contains('d')
            && word.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'd' | b'e' | b'c'))
            && is_numbered_upwards(word)
    };
    let is_last = after.is_empty() || is_specialization(after.trim_start_matches('_'));
    let is_numbered = name.starts_with("triton_") && is_number(word);
    is_last && is_numbered || after.is_empty() && is_specialization(word)
}

/// Whether the numbers of a word grow, as those of arguments do and those of a hash hardly ever.
fn is_numbered_upwards(word: &str) -> bool {
    let numbers = word.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
    let numbers: Option<Vec<u32>> = numbers.map(|number| number.parse().ok()).collect();
    numbers.is_some_and(|numbers| numbers.is_sorted_by(|one, two| one < two))
}

/// Returns the full name of a kernel as written in the export, or the short one if there is none.
pub(crate) fn written<'n>(full_name: &'n str, name: &'n str) -> &'n str {
    if full_name.is_empty() { name } else { full_name }
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
            ("my_kernel_0f3a9c1d", "my_kernel_77ee66dd55cc"),
            ("triton_poi_fused_add_7_0d1d2de", "triton_poi_fused_add_12_0d1d2d3de"),
            (
                "sm90_xmma_gemm_bf16f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_kernel",
                "sm90_xmma_gemm_bf16f32_tn_n_tilesize64x256x64_warpgroupsize2x1x1_execute_kernel",
            ),
            (
                "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI32x32x8x1_SN_1LDSB0_APM1_WG32_8_1",
                "Cijk_Ailk_Bljk_HHS_BH_MT64x64x64_MI16x16x16x1_SN_1LDSB1_APM1_GRVW2_WG64_4_1",
            ),
            (
                "cutlass3x_sm90_tensorop_s64x128x16gemm_bf16_128x128x64_2x1x1_0_tnn_align8_warpspecialized_pingpong_epi_tma",
                "cutlass3x_sm90_tensorop_s64x256x16gemm_bf16_128x256x64_1x2x1_0_tnn_align8_warpspecialized_epi_tma",
            ),
            ("nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNT", "nvjet_tst_192x192_64x3_1x2_h_bz_TNT"),
            ("reduce<(int)128, (bool)1>", "reduce<128, true>"),
            ("reduce<128u, float >", "reduce<128,float>"),
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
            ("reduce<(int)128>", "reduce<256>"),
            ("Cijk_Ailk_Bljk_HHS_BH_MT128x128x32", "Cijk_Alik_Bljk_HHS_BH_MT128x128x32"),
            ("triton_poi_fused_add_1_relu_7", "triton_poi_fused_add_2_relu_7"),
            ("nvjet_tst_128x256_64x4_2x1_v_bz_TNT", "nvjet_tst_128x256_64x4_2x1_v_bz_TNN"),
            ("unsigned int", "unsignedint"),
        ] {
            assert_ne!(family(one), family(two));
        }
        assert_eq!(family(""), "");
        assert_eq!(family("µ_128x64"), "µ_TILE");
    }
}
