//! What the names of AMD's libraries tell: of Tensile, the generator of the products of hipBLASLt and rocBLAS, and of `MIOpen`.

use crate::model::Precision;

/// The type of a product by AMD's Tensile, and whether it runs on matrix units: the fourth part of
/// `Cijk_Ailk_Bljk_HHS_BH_…_MI32x32x8x1_…` has the type of the operands first.
pub(super) fn tensile(head: &str) -> Option<(Precision, bool)> {
    let mut words = head.split('_');
    if words.next() != Some("Cijk") {
        return None;
    }
    let operands = words.nth(2)?.as_bytes();
    // The math operation, where it is not that of the type: `S_MX_B` is XF32, AMD's TF32.
    let is_reduced = words.clone().next() == Some("MX");
    let precision = match operands {
        [b'S', ..] if is_reduced => Precision::Tf32,
        [b'F' | b'B', b'8', ..] => Precision::Fp8,
        [b'I', b'8', ..] => Precision::Int8,
        [b'H', ..] => Precision::Fp16,
        [b'B', ..] => Precision::Bf16,
        [b'S', ..] => Precision::Fp32,
        [b'D', ..] => Precision::Fp64,
        _ => return None,
    };
    let instructs = |word: &str| {
        word.strip_prefix("MI").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    Some((precision, words.any(instructs)))
}

/// The format in which `MIOpen`'s reference convolution multiplies: it converts to that of its sums, the second of the three
/// types in its name (`naive_conv_fwd_nchw_half_double_half`).
///
/// Source: `MIOpen`, `src/kernels/naive_conv.cpp`.
pub(super) fn naive(head: &str) -> Option<Precision> {
    let type_of = |word| match word {
        "double" => Some(Some(Precision::Fp64)),
        "float" => Some(Some(Precision::Fp32)),
        "half" | "ushort" => Some(None),
        _ => None,
    };
    head.split(['_', '.']).filter_map(type_of).nth(1).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fourth_part_of_a_name_has_the_type_of_the_operands() {
        for (name, found) in [
            ("Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI32x32x8x1_SN", Some((Precision::Fp16, true))),
            (
                "Cijk_Alik_Bjlk_S_MX_B_Bias_HA_S_SAV_UserArgs_MT128x128x32_MI16x16x1_SN",
                Some((Precision::Tf32, true)),
            ),
            ("Cijk_Alik_Bljk_SB_MT64x16x32_MI16x16x1_SN", Some((Precision::Fp32, true))),
            ("Cijk_Ailk_Bljk_SB_MT64x64x16_SE_K1", Some((Precision::Fp32, false))),
            ("Cijk_Ailk", None),
            ("ampere_sgemm_128x64_tn", None),
        ] {
            assert_eq!(tensile(name), found, "{name}");
        }
    }
}
