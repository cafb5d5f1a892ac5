//! Interned strings, and kernel names made short enough to read.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// Reference to a string in [`Names`]; the default is the empty string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct NameId(pub u32);

/// Strings that occur many times, kept once.
#[derive(Debug)]
pub struct Names {
    texts: Vec<Arc<str>>,
    ids: HashMap<Arc<str>, NameId>,
    last: NameId,
}

impl Default for Names {
    fn default() -> Self {
        let empty: Arc<str> = "".into();
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
            let text: Arc<str> = text.into();
            self.texts.push(Arc::clone(&text));
            self.ids.insert(text, id);
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

    /// The text of an id, shared.
    ///
    /// # Panics
    /// If the id came from another profile.
    #[must_use]
    pub fn shared(&self, id: NameId) -> Arc<str> {
        Arc::clone(&self.texts[id.0 as usize])
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
        let head = Self::head(name);
        let short = short(&head);
        Self { head, short }
    }

    /// Only the head of a name; what parsing costs is mostly the short one.
    #[must_use]
    pub fn head(name: &str) -> String {
        head(name)
    }
}

/// The part of a kernel name that identifies it: no return type, no parameter list.
fn head(name: &str) -> String {
    let mut name = undecorated(name).to_owned();
    if name.starts_with("_Z")
        && let Some(text) = demangled(&name)
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
    let name = undecorated(&name);
    let end = parameter_list(name).unwrap_or(name.len());
    let name = name[..end].trim();
    let name = name.strip_prefix("void ").unwrap_or(name);
    strip_return_type(name).to_owned()
}

/// A name without what profilers and compilers append: ` [1234]`, ` [clone …]`, `.kd`.
fn undecorated(name: &str) -> &str {
    let mut name = name.trim();
    loop {
        let mut shorter = name;
        for suffix in [".kd", " (.kd)"] {
            shorter = shorter.strip_suffix(suffix).unwrap_or(shorter);
        }
        if let Some(start) = shorter.rfind(" [")
            && let Some(inside) = shorter[start + 2..].strip_suffix(']')
            // nvprof appends a correlation id, the demangler the name of a compiler's copy.
            && (inside.bytes().all(|b| b.is_ascii_digit()) || inside.starts_with("clone "))
        {
            shorter = &shorter[..start];
        }
        if shorter.len() == name.len() {
            return name;
        }
        name = shorter.trim_end();
    }
}

/// A mangled name in words; `None` if it is not valid, or so nested that its text has no end.
fn demangled(name: &str) -> Option<String> {
    /// Back-references let a name of a hundred bytes stand for gigabytes.
    const LONGEST: usize = 1 << 16;

    struct Bounded(String);

    impl fmt::Write for Bounded {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            if self.0.len() + text.len() > LONGEST {
                return Err(fmt::Error);
            }
            self.0.push_str(text);
            Ok(())
        }
    }

    let symbol = cpp_demangle::Symbol::new(name.as_bytes()).ok()?;
    let mut text = Bounded(String::new());
    symbol.structured_demangle(&mut text, &cpp_demangle::DemangleOptions::new()).ok()?;
    Some(text.0)
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

/// Names that say nothing without the namespace in front of them.
const GENERIC: [&str; 8] =
    ["kernel", "Kernel", "Kernel2", "device_kernel", "run", "run_kernel", "main", "compute"];

/// A short, stable name for tables: last namespace component, telling template arguments.
fn short(head: &str) -> String {
    if head.is_empty() {
        return String::new();
    }
    let (base, arguments) = match head.find('<') {
        Some(open) if open > 0 => (&head[..open], &head[open..]),
        _ => (head, ""),
    };
    let mut components = base.rsplit("::");
    let last = components.next().unwrap_or(base);
    let mut short = match components.next().filter(|_| GENERIC.contains(&last)) {
        Some(namespace) => format!("{}::{last}", namespace.rsplit(' ').next().unwrap_or(namespace)),
        None => last.to_owned(),
    };
    let telling = telling_arguments(arguments);
    if !telling.is_empty() {
        short.push('<');
        short.push_str(&telling.join(", "));
        short.push('>');
    }
    elide(&short, KernelName::SHORT)
}

/// What template arguments say about the work: functors, passes, types; casts and wrappers dropped.
fn telling_arguments(arguments: &str) -> Vec<String> {
    const MOST: usize = 3;
    const PASSES: [&str; 3] = ["fprop", "dgrad", "wgrad"];
    const WRAPPERS: [&str; 5] =
        ["gpu_kernel_impl", "BinaryFunctor", "func_wrapper_t", "ReduceOp", "OpaqueType"];
    const TYPES: [&str; 12] = [
        "float",
        "double",
        "Half",
        "BFloat16",
        "__half",
        "__nv_bfloat16",
        "half",
        "bfloat16",
        "bfloat16_t",
        "half_t",
        "__nv_fp8_e4m3",
        "int8_t",
    ];
    let mut functors: Vec<&str> = Vec::new();
    let mut types: Vec<&str> = Vec::new();
    let in_word = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    for token in arguments.split(|c| !in_word(c)) {
        let last = token.rsplit("::").next().unwrap_or(token);
        let pass = PASSES.iter().find(|pass| token.split("::").any(|part| part == **pass));
        let functor = ["Functor", "functor", "Ops", "_impl", "_cuda", "_kernel", "Kernel"]
            .iter()
            .any(|mark| last.contains(mark))
            || last.starts_with("cutlass_")
            || last.starts_with("launch_");
        let found = match pass {
            Some(pass) => Some((*pass, &mut functors)),
            None if functor && !WRAPPERS.contains(&last) && !last.ends_with("_traits") => {
                Some((last, &mut functors))
            }
            None if TYPES.contains(&last) => {
                Some((last.trim_start_matches("__nv_").trim_start_matches("__"), &mut types))
            }
            None => None,
        };
        if let Some((word, words)) = found
            && !words.contains(&word)
        {
            words.push(word);
        }
    }
    // What it does says more than what it does it on.
    functors.into_iter().chain(types.into_iter().take(2)).take(MOST).map(str::to_owned).collect()
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
            (
                "void gemv_chunk_kernel<1024, 1>(const uint4 *, float *, int)",
                "gemv_chunk_kernel<1024, 1>",
            ),
            ("unnamed>::saxpy_kernel(float, const float *)", "saxpy_kernel"),
            ("<unnamed>::chr_nf4_gemm(const unsigned char *)", "chr_nf4_gemm"),
            (
                "void (anonymous namespace)::softmax_warp<float, 8>(float*)",
                "softmax_warp<float, 8>",
            ),
            ("_Z6vecaddPfS_S_i", "vecadd"),
            ("vecCopy(double*, double*, double*, int, int) [clone .kd]", "vecCopy"),
            ("dgemm_nn [1234]", "dgemm_nn"),
            ("_Z6vecaddPfS_S_i.kd", "vecadd"),
            ("_Z6vecaddPfS_S_i [clone .kd] [12]", "vecadd"),
            ("fused(int) [clone .constprop.0] (.kd)", "fused"),
            ("[CUDA memcpy HtoD]", "[CUDA memcpy HtoD]"),
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
            (
                "void cutlass::Kernel<cutlass_80_tensorop_s16816gemm_f16_256x128_32x3_nn_align8>(T1::Params)",
                "cutlass::Kernel<cutlass_80_tensorop_s16816gemm_f16_256x128_32x3_nn_align8>",
            ),
            ("ij_deriv_kernel(int, int)", "ij_deriv_kernel"),
            (
                "std::enable_if<!T7, void>::type internal::gemvx::kernel<int, int, float, (bool)0>(T1)",
                "gemvx::kernel<float>",
            ),
            (
                "void xmma_cudnn::gemm::kernel<xmma_cudnn::implicit_gemm::dgrad::Kernel_traits<xmma_cudnn::Cta_tile<xmma_cudnn::Ampere, (int)64>>>(T1::Params)",
                "gemm::kernel<dgrad>",
            ),
            (
                "void at::native::vectorized_elementwise_kernel<(int)4, at::native::BinaryFunctor<float, float, float, void at::native::<unnamed>::threshold_kernel_impl<float>(at::TensorIteratorBase &, T1, T1)::[lambda(float, float) (instance 1)]>>(int)",
                "vectorized_elementwise_kernel<threshold_kernel_impl, float>",
            ),
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
