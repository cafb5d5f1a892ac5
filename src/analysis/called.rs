//! Matches kernel names against texts from the command line or a policy.

use crate::model::KernelName;

/// Folds a text for searching: lower case, with `x` for `×`.
pub(super) fn folded(text: &str) -> String {
    text.to_lowercase().replace('×', "x")
}

/// Returns `true` if a pattern equals or matches a kernel's name: as shown, as in the export,
/// without the disambiguating suffix, or without return type and parameters.
pub(crate) fn is_called(pattern: &str, name: &str, full: &str) -> bool {
    if fits(pattern, name) || fits(pattern, full) {
        return true;
    }
    // Most names have nothing of a pattern, and need not be taken apart.
    let start = pattern.split(['*', '<', ':']).next().unwrap_or_default();
    full.contains(start) && {
        let parsed = KernelName::parse(full);
        fits(pattern, &parsed.head) || fits(&respelled(pattern), &parsed.short)
    }
}

/// Converts type names of older reports, which policies may contain, to the current spelling.
fn respelled(pattern: &str) -> String {
    ["bfloat16_t", "bfloat16", "BFloat16"]
        .iter()
        .fold(pattern.to_owned(), |text, old| text.replace(old, "bf16"))
}

/// Returns `true` if a text equals a pattern or matches it, where `*` matches anything.
pub(crate) fn fits(pattern: &str, text: &str) -> bool {
    if pattern.contains('*') { matches(pattern, text) } else { pattern == text }
}

/// Returns `true` if a text matches a pattern in which `*` matches anything.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.len() >= last.len() && rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::{is_called, matches};

    #[test]
    fn names_are_those_of_the_export_and_those_that_are_shown() {
        let full = "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, \
                    at::native::MeanOps<float, float>>>(T3)";
        let name = "reduce_kernel<mean, float, 512>";
        for (pattern, is_it) in [
            (name, true),
            (full, true),
            ("reduce_kernel<mean, float>", true),
            ("at::native::reduce_kernel<*", true),
            ("reduce_kernel<*", true),
            ("*MeanOps*", true),
            ("reduce_kernel", false),
            ("mean", false),
        ] {
            assert_eq!(is_called(pattern, name, full), is_it, "{pattern}");
        }
        let full = "void flash_fwd_kernel<cutlass::bfloat16_t>(Params)";
        assert!(is_called("flash_fwd_kernel<bfloat16_t>", "flash_fwd_kernel<bf16>", full));
    }

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, text, fits) in [
            ("gemm*", "gemm_nn", true),
            ("*nn", "gemm_nn", true),
            ("*mm*n", "gemm_nn", true),
            ("gemm", "gemm_nn", false),
            ("*x*", "gemm_nn", false),
            ("a*a", "a", false),
        ] {
            assert_eq!(matches(pattern, text), fits, "{pattern} {text}");
        }
    }
}
