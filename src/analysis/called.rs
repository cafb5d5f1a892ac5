//! Matches kernel names against texts from the command line or a policy.

use std::borrow::Cow;
use std::cell::OnceCell;

use crate::model::KernelName;
use crate::plain::{self, POINTER, fits, with_pointers};

/// Folds a text for searching: lower case, with `x` for `×`.
pub(super) fn folded(text: &str) -> String {
    text.to_lowercase().replace('×', "x")
}

/// Returns `true` if a pattern equals or matches a kernel's name: as shown, as in the export,
/// without the disambiguating suffix, or without return type and parameters.
pub(crate) fn is_called(pattern: &str, name: &str, full: &str) -> bool {
    Called::new(name, full).is(pattern)
}

/// Asks for the pattern that was probably meant where one matches none of these kernels, by names as shown and as in the
/// export; empty where no name is like it.
pub(crate) fn meant<'a>(
    pattern: &str,
    names: &(impl Iterator<Item = (&'a str, &'a str)> + Clone),
) -> String {
    let part = pattern.trim_matches('*');
    let wider = [format!("{part}*"), format!("*{part}*")];
    let mut wider = wider.iter().filter(|_| !part.is_empty());
    let found = wider.find_map(|wider| {
        let (name, _) = names.clone().find(|(name, full)| is_called(wider, name, full))?;
        Some(format!("did you mean {wider:?}, which matches {name}?"))
    });
    let near = || plain::did_you_mean(pattern, names.clone().map(|(name, _)| name));
    let meant = found.unwrap_or_else(|| near().trim_end().to_owned());
    if meant.is_empty() { meant } else { format!(", or correct the name ({meant})") }
}

/// The names of a kernel, which are taken apart once for all patterns.
pub(crate) struct Called<'a> {
    name: &'a str,
    full: &'a str,
    parsed: OnceCell<KernelName>,
}

impl<'a> Called<'a> {
    /// Makes them of the name as shown and of that in the export.
    pub(crate) fn new(name: &'a str, full: &'a str) -> Self {
        Self { name, full, parsed: OnceCell::new() }
    }

    /// As [`is_called`].
    pub(crate) fn is(&self, pattern: &str) -> bool {
        if let Some(pattern) = with_pointers(pattern) {
            return [self.name, self.full]
                .iter()
                .any(|name| fits(&pattern, &name.replace('*', POINTER)));
        }
        if fits(pattern, self.name) || fits(pattern, self.full) {
            return true;
        }
        // Most names have nothing of a pattern, and need not be taken apart.
        let start = pattern.split(['*', '<', ':']).next().unwrap_or_default();
        self.full.contains(start) && {
            let parsed = self.parsed.get_or_init(|| KernelName::parse(self.full));
            fits(pattern, &parsed.head) || fits(&respelled(pattern), &parsed.short)
        }
    }
}

/// Converts type names of older reports, which policies may contain, to the current spelling.
fn respelled(pattern: &str) -> Cow<'_, str> {
    const OLD: [&str; 3] = ["bfloat16_t", "bfloat16", "BFloat16"];
    if !pattern.contains("loat16") {
        return pattern.into();
    }
    OLD.iter().fold(pattern.to_owned(), |text, old| text.replace(old, "bf16")).into()
}

#[cfg(test)]
mod tests {
    use super::{is_called, meant};
    use crate::plain::fits;

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
    fn a_pattern_without_a_kernel_asks_for_the_one_that_was_meant() {
        let names = [
            ("softmax_rows<float>", "void softmax_rows<float>(float *)"),
            ("layer_norm", "layer_norm(int)"),
        ];
        for (pattern, expected) in [
            ("softmax_rows", "\"softmax_rows*\", which matches softmax_rows<float>"),
            ("norm*", "\"*norm*\", which matches layer_norm"),
            ("layer_nrom", "\"layer_norm\""),
        ] {
            let expected = format!(", or correct the name (did you mean {expected}?)");
            assert_eq!(meant(pattern, &names.into_iter()), expected, "{pattern}");
        }
        assert_eq!(meant("zzz", &names.into_iter()), "");
        assert_eq!(meant("**", &[].into_iter()), "");
    }

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, text, expected) in [
            ("gemm*", "gemm_nn", true),
            ("*nn", "gemm_nn", true),
            ("*mm*n", "gemm_nn", true),
            ("gemm", "gemm_nn", false),
            ("*x*", "gemm_nn", false),
            ("a*a", "a", false),
            ("g*m*m*_*n", "gemm_nn", true),
            ("g**n", "gemm_nn", true),
            ("*", "", true),
        ] {
            assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn pointers_of_parameters_are_no_wildcards() {
        let one = "void scale(float*)";
        let two = "void scale(float*, float*)";
        let spaced = "void scale(float *, const int *)";
        for (pattern, expected) in [
            (one, [true, false, false]),
            (two, [false, true, false]),
            (spaced, [false, false, true]),
            ("void scale(float *)", [false; 3]),
            ("*scale(float*)", [true, false, false]),
            ("void sc*(float*, float*)", [false, true, false]),
            ("void scale(*)", [true; 3]),
            ("void scale(float*, *)", [false, true, false]),
            ("void scale(float *, *)", [false, false, true]),
            ("void scale(float*", [true, true, true]),
            ("void scale*", [true; 3]),
            ("scale", [true; 3]),
        ] {
            let found = [one, two, spaced].map(|full| is_called(pattern, "scale", full));
            assert_eq!(found, expected, "{pattern}");
        }
        // Pointers to pointers, functions as parameters, unbalanced brackets.
        let deep = "void k(float**, void (*)(int), T<int>*)";
        assert!(is_called(deep, "k", deep) && !is_called("void k(float**)", "k", deep));
        assert!(is_called("void k(float**, *)", "k", deep));
        assert!(!is_called("float*)", "k", deep) && !is_called(")", "k", deep));
    }
}
