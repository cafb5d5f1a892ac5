//! Interned strings, and kernel names made short enough to read.

use std::collections::HashMap;

/// Reference to a string in [`Names`]; the default is the empty string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct NameId(pub u32);

/// Strings that occur many times, kept once.
#[derive(Debug)]
pub struct Names {
    texts: Vec<Box<str>>,
    ids: HashMap<Box<str>, NameId>,
    last: NameId,
}

impl Default for Names {
    fn default() -> Self {
        let empty: Box<str> = "".into();
        Self {
            texts: vec![empty.clone()],
            ids: HashMap::from([(empty, NameId(0))]),
            last: NameId(0),
        }
    }
}

impl Names {
    /// The id of a text, added if it is new.
    pub fn id(&mut self, text: &str) -> NameId {
        if self.get(self.last) == text {
            return self.last;
        }
        self.last = self.ids.get(text).copied().unwrap_or_else(|| {
            let id = NameId(u32::try_from(self.texts.len()).unwrap_or(u32::MAX));
            self.texts.push(text.into());
            self.ids.insert(text.into(), id);
            id
        });
        self.last
    }

    /// The text of an id.
    ///
    /// # Panics
    /// If the id came from another profile.
    #[must_use]
    pub fn get(&self, id: NameId) -> &str {
        &self.texts[id.0 as usize]
    }
}

/// A kernel's name taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelName {
    /// Demangled, with return type, arguments and profiler decorations removed; identifies the kernel.
    pub head: String,
    /// Short and readable: namespaces dropped, template arguments folded to the telling ones.
    pub short: String,
}

impl KernelName {
    /// Longest [`KernelName::short`], in characters.
    pub const SHORT: usize = 64;

    /// Takes a name apart as any profiler writes it.
    #[must_use]
    pub fn parse(name: &str) -> Self {
        let head = head(name);
        let short = short(&head);
        Self { head, short }
    }
}

/// The part of a kernel name that identifies it: no return type, no parameter list.
fn head(name: &str) -> String {
    let mut name = name.trim().to_owned();
    for suffix in [".kd", " (.kd)", " [clone .kd]"] {
        if let Some(stripped) = name.strip_suffix(suffix) {
            name.truncate(stripped.len());
        }
    }
    // nvprof appends a correlation id: ` [1234]`.
    if let Some(start) = name.rfind(" [")
        && name[start + 2..].strip_suffix(']').is_some_and(|id| id.bytes().all(|b| b.is_ascii_digit()))
    {
        name.truncate(start);
    }
    if name.starts_with("_Z")
        && let Ok(symbol) = cpp_demangle::Symbol::new(name.as_bytes())
        && let Ok(text) = symbol.demangle()
    {
        name = text;
    }
    // MSVC writes `<unnamed>::`, sometimes with its first character lost.
    for torn in ["unnamed>::", "<unnamed>::"] {
        if let Some(rest) = name.strip_prefix(torn) {
            name = rest.to_owned();
        }
    }
    let name = name.replace("(anonymous namespace)::", "").replace("<unnamed>::", "");
    let end = parameter_list(&name).unwrap_or(name.len());
    let name = name[..end].trim();
    let name = name.strip_prefix("void ").unwrap_or(name);
    strip_return_type(name).to_owned()
}

/// Where the parameter list starts: the first `(` outside template brackets.
fn parameter_list(name: &str) -> Option<usize> {
    let mut depth = 0_i32;
    let bytes = name.as_bytes();
    for (position, byte) in bytes.iter().enumerate() {
        match byte {
            b'<' => depth += 1,
            // `->` closes nothing, and `operator>` is not a bracket either.
            b'>' if position > 0 && bytes[position - 1] != b'-' => depth -= 1,
            b'(' if depth == 0 && position > 0 => return Some(position),
            _ => {}
        }
    }
    None
}

/// Drops a return type such as `enable_if<!T7, void>::type ` in front of the name.
fn strip_return_type(name: &str) -> &str {
    let mut depth = 0_i32;
    let mut start = 0;
    for (position, byte) in name.bytes().enumerate() {
        match byte {
            b'<' => depth += 1,
            b'>' => depth -= 1,
            // A blank outside brackets that follows a type separates it from the name.
            b' ' if depth == 0 => {
                let before = &name[..position];
                if before.ends_with("::type") || before.ends_with("void") {
                    start = position + 1;
                }
            }
            _ => {}
        }
    }
    &name[start..]
}

/// A short, stable name for tables: last namespace component, telling template arguments.
fn short(head: &str) -> String {
    if head.is_empty() {
        return String::new();
    }
    let (base, arguments) = match head.find('<') {
        Some(open) if open > 0 => (&head[..open], &head[open..]),
        _ => (head, ""),
    };
    let mut short = base.rsplit("::").next().unwrap_or(base).to_owned();
    let telling = telling_arguments(arguments);
    if !telling.is_empty() {
        short.push('<');
        short.push_str(&telling.join(", "));
        short.push('>');
    }
    elide(&short, KernelName::SHORT)
}

/// What template arguments say about the work: functors, types, tile sizes; casts and noise dropped.
fn telling_arguments(arguments: &str) -> Vec<String> {
    const WRAPPERS: [&str; 12] = [
        "at", "native", "c10", "std", "cuda", "detail", "thrust", "cub", "cutlass", "cute", "Array", "T",
    ];
    let mut words: Vec<String> = Vec::new();
    // `(int)128` and `(bool)0` are casts that newer versions no longer print.
    let mut text = arguments.to_owned();
    for cast in ["(int)", "(bool)", "(unsigned int)", "(unsigned long)", "(long)"] {
        text = text.replace(cast, "");
    }
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    for token in text.split(|c| !word(c)) {
        let last = token.rsplit("::").next().unwrap_or(token);
        let functor = last.contains("Functor") || last.contains("Ops") || last.ends_with("_cuda")
            || last.starts_with("cutlass_") || last.ends_with("_kernel") || last.contains("Op");
        let dtype = matches!(
            last,
            "float" | "double" | "Half" | "BFloat16" | "__half" | "__nv_bfloat16" | "half" | "bfloat16"
                | "__nv_fp8_e4m3" | "e4m3" | "int8_t"
        );
        if last.is_empty() || WRAPPERS.contains(&last) || !(functor || dtype) {
            continue;
        }
        let plain = last.trim_start_matches("__nv_").trim_start_matches("__").to_owned();
        if !words.contains(&plain) && words.len() < 3 {
            words.push(plain);
        }
    }
    words
}

/// Shortens a text to `width` characters by leaving out its middle: the head names the family, the tail the tile.
#[must_use]
pub(crate) fn elide(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width || width < 5 {
        return text.to_owned();
    }
    let tail = (width - 1) / 3;
    let start: String = text.chars().take(width - 1 - tail).collect();
    let end: String = text.chars().skip(length - tail).collect();
    format!("{start}…{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kept_once() {
        let mut names = Names::default();
        let gemm = names.id("gemm");
        assert_eq!(names.id("axpy"), NameId(2));
        assert_eq!(names.id("gemm"), gemm);
        assert_eq!(names.get(gemm), "gemm");
        assert_eq!(names.get(NameId::default()), "");
    }

    #[test]
    fn heads_drop_return_type_arguments_and_decorations() {
        for (name, expected) in [
            ("void gemv_chunk_kernel<1024, 1>(const uint4 *, float *, int)", "gemv_chunk_kernel<1024, 1>"),
            ("unnamed>::saxpy_kernel(float, const float *)", "saxpy_kernel"),
            ("<unnamed>::chr_nf4_gemm(const unsigned char *)", "chr_nf4_gemm"),
            ("void (anonymous namespace)::softmax_warp<float, 8>(float*)", "softmax_warp<float, 8>"),
            ("_Z6vecaddPfS_S_i", "vecadd"),
            ("vecCopy(double*, double*, double*, int, int) [clone .kd]", "vecCopy"),
            ("dgemm_nn [1234]", "dgemm_nn"),
            ("enable_if<!T7, void>::type kernel<int, float>(T1)", "kernel<int, float>"),
            ("kernel<(a)->b>(int)", "kernel<(a)->b>"),
            ("broken<unbalanced(int", "broken<unbalanced(int"),
            ("", ""),
        ] {
            assert_eq!(KernelName::parse(name).head, expected, "{name}");
        }
    }

    #[test]
    fn short_names_keep_what_tells_kernels_apart() {
        for (name, expected) in [
            (
                "void at::native::vectorized_elementwise_kernel<(int)4, at::native::FillFunctor<float>, at::detail::Array<char *, (int)1>>(int, T2, T3)",
                "vectorized_elementwise_kernel<FillFunctor, float>",
            ),
            ("void cutlass::Kernel<cutlass_80_tensorop_s16816gemm_f16_256x128_32x3_nn_align8>(T1::Params)",
             "Kernel<cutlass_80_tensorop_s16816gemm_f16_256x128_32x3_nn_align8>"),
            ("ij_deriv_kernel(int, int)", "ij_deriv_kernel"),
        ] {
            let short = KernelName::parse(name).short;
            assert!(short.chars().count() <= KernelName::SHORT);
            assert_eq!(short, elide(expected, KernelName::SHORT), "{name}");
        }
    }

    #[test]
    fn eliding_keeps_both_ends() {
        assert_eq!(elide("abcdefghij", 7), "abcd…ij");
        assert_eq!(elide("abc", 7), "abc");
    }
}
