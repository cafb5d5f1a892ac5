//! Interned strings, and kernel names made short enough to read.

use std::borrow::Cow;
use std::fmt;

use super::positions::Positions;
use super::short;
use super::text::{Text, Texts};

/// Whether a character leaves the terminal and the order of a text alone.
fn is_plain(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

fn is_printable(text: &str) -> bool {
    // Most names are plain bytes, of which no character needs to be decoded.
    text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) || text.chars().all(is_plain)
}

/// Removes what could control a terminal or disguise a text: control and bidirectional characters. Separators of lines
/// become blanks.
#[must_use]
pub fn printable(text: &str) -> String {
    if is_printable(text) {
        return text.to_owned();
    }
    let is_separator = |c| matches!(c, '\t' | '\n' | '\r' | '\u{2028}' | '\u{2029}');
    let blank = |c| if is_separator(c) { ' ' } else { c };
    text.chars().map(blank).filter(|c| is_plain(*c)).collect()
}

/// Reference to a string in [`Names`]; the default is the empty string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct NameId(pub u32);

/// Interned strings.
#[derive(Debug)]
pub struct Names {
    texts: Texts,
    positions: Positions,
    /// The text met last of those that share a slot, which saves most look-ups.
    recent: Vec<NameId>,
}

/// Slots of recent texts.
const RECENT: usize = 1024;

/// The slot of a text: by its length and both ends.
fn slot(text: &str) -> usize {
    let mut ends = [0; 16];
    let bytes = text.as_bytes();
    let (first, last) = (bytes.len().min(8), bytes.len().saturating_sub(8));
    ends[..first].copy_from_slice(&bytes[..first]);
    ends[8..8 + bytes.len() - last].copy_from_slice(&bytes[last..]);
    let mixed = u128::from_le_bytes(ends).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    ((mixed >> 96) as usize ^ bytes.len()) % RECENT
}

impl Default for Names {
    fn default() -> Self {
        let mut texts = Texts::default();
        texts.push("");
        let mut names =
            Self { texts, positions: Positions::default(), recent: vec![NameId(0); RECENT] };
        names.index();
        names
    }
}

impl Names {
    /// Returns the id of a text, adding it if it is new; without what [`printable`] removes.
    pub fn id(&mut self, text: &str) -> NameId {
        let slot = slot(text);
        if self.get(self.recent[slot]) == text {
            return self.recent[slot];
        }
        self.index();
        let id = match self.positions.find(text, |at| self.texts.get(at)) {
            Some(at) => NameId(at as u32),
            // Blanks that stood beside such a character are at an end now, where tables drop them.
            None if !is_printable(text) => self.id(printable(text).trim()),
            None => {
                self.texts.push(text);
                self.index();
                NameId(u32::try_from(self.len() - 1).unwrap_or(u32::MAX))
            }
        };
        self.recent[slot] = id;
        id
    }

    /// Makes every text known: one that was just added, or all after [`Names::finish`].
    fn index(&mut self) {
        for at in self.positions.len()..self.texts.len() {
            self.positions.add(at, |at| self.texts.get(at));
        }
    }

    /// Gives up what finds the id of a text, until one is asked for: after reading none is.
    pub(crate) fn finish(&mut self) {
        self.positions = Positions::default();
    }

    /// Returns the number of texts; the first is empty.
    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    /// Returns the texts from an id on.
    pub(super) fn since(&self, first: usize) -> Vec<Text> {
        (first..self.len()).map(|at| self.texts.shared(at)).collect()
    }

    /// Iterates over all texts by id; the first is empty.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|at| self.texts.get(at))
    }

    /// Returns the ids of the texts of which this holds.
    pub(crate) fn ids(&self, is_it: impl Fn(&str) -> bool) -> impl Iterator<Item = NameId> {
        (0..self.len()).filter(move |at| is_it(self.texts.get(*at))).map(|at| NameId(at as u32))
    }

    /// Returns the text of an id.
    ///
    /// # Panics
    /// If the id came from another profile.
    #[must_use]
    pub fn get(&self, id: NameId) -> &str {
        self.texts.get(id.0 as usize)
    }

    /// Returns the text of an id as a shared string.
    ///
    /// # Panics
    /// If the id came from another profile.
    #[must_use]
    pub fn shared(&self, id: NameId) -> Text {
        self.texts.shared(id.0 as usize)
    }
}

/// A parsed kernel name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelName {
    /// Demangled, with return type, arguments and profiler decorations removed; identifies the kernel, but
    /// for overloads.
    pub head: String,
    /// Text of its parameter list; empty if there is none.
    pub parameters: String,
    /// Short and readable name: without namespaces, with only the distinctive template arguments.
    pub short: String,
}

impl KernelName {
    /// Maximum length of a short name, in characters.
    pub const SHORT: usize = short::LONGEST;

    /// Parses a name as written by any profiler.
    #[must_use]
    pub fn parse(name: &str) -> Self {
        let (head, parameters) = parts(name);
        let short = short::short(&head);
        Self { head: head.into_owned(), parameters: parameters.into_owned(), short }
    }

    /// Returns only the head of a name, which is much cheaper than the short name.
    #[must_use]
    pub fn head(name: &str) -> Cow<'_, str> {
        parts(name).0
    }

    /// Returns the parameter list as a key, independent of spaces and the position of `const`.
    fn overload(parameters: &str) -> String {
        let mut key = String::with_capacity(parameters.len());
        for parameter in short::split(parameters, ",") {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let words = parameter.split(|c| !is_word(c)).filter(|word| !word.is_empty());
            let mut words: Vec<&str> = words.collect();
            words.sort_unstable();
            key.push_str(&words.join(" "));
            key.extend(parameter.chars().filter(|c| "*&".contains(*c)));
            key.push(',');
        }
        key
    }

    /// Returns what tells kernels apart: the head of a name, and its parameter list as a key.
    pub(crate) fn identity(name: &str) -> (Cow<'_, str>, String) {
        let (head, parameters) = parts(name);
        let overload = Self::overload(&parameters);
        (head, overload)
    }

    /// Returns head and parameter list of a name.
    pub(crate) fn parts(name: &str) -> (Cow<'_, str>, Cow<'_, str>) {
        parts(name)
    }

    /// Returns the short name for a head.
    pub(crate) fn short(head: &str) -> String {
        short::short(head)
    }
}

/// Returns the part of a kernel name that identifies it, without return type and parameter list,
/// and this list.
fn parts(name: &str) -> (Cow<'_, str>, Cow<'_, str>) {
    match plain(name) {
        Cow::Borrowed(name) => {
            let (head, parameters) = divided(name);
            (head.into(), parameters.into())
        }
        Cow::Owned(name) => {
            let (head, parameters) = divided(&name);
            (head.to_owned().into(), parameters.to_owned().into())
        }
    }
}

/// Returns a name demangled, without the marks of namespaces that have no name.
fn plain(name: &str) -> Cow<'_, str> {
    let mut name = Cow::Borrowed(undecorated(name));
    if name.starts_with("_Z")
        && let Some(text) = demangled(&name)
    {
        name = text.into();
    }
    // MSVC writes `<unnamed>::`, sometimes with its first character lost.
    for torn in ["unnamed>::", "<unnamed>::"] {
        if let Some(rest) = name.strip_prefix(torn) {
            name = rest.to_owned().into();
        }
    }
    for mark in ["(anonymous namespace)::", "<unnamed>::"] {
        if name.contains(mark) {
            name = name.replace(mark, "").into();
        }
    }
    name
}

/// Divides a plain name into its head and its parameter list.
fn divided(name: &str) -> (&str, &str) {
    let name = undecorated(name);
    let end = parameter_list(name).unwrap_or(name.len());
    let parameters = name[end..].strip_prefix('(').unwrap_or_default();
    let parameters = parameters.rfind(')').map_or(parameters, |close| &parameters[..close]);
    let name = name[..end].trim();
    let name = name.strip_prefix("void ").unwrap_or(name);
    (strip_return_type(name), parameters.trim())
}

/// Removes what profilers and compilers append: ` [1234]`, ` [clone …]`, `.kd`.
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

/// Demangles a name; `None` if it is invalid, or nested so deeply that the result is too long.
fn demangled(name: &str) -> Option<String> {
    /// Maximum length of the result, because back-references let a hundred bytes expand to
    /// gigabytes.
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

/// Finds the start of the parameter list: the first `(` outside template brackets.
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

/// Removes a return type such as `enable_if<!T7, void>::type ` in front of the name.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_control_the_terminal() {
        assert_eq!(printable("a\u{1b}]0;pwned\u{7}b\u{202e}c\td"), "a]0;pwnedbc d");
    }

    #[test]
    fn no_name_controls_a_terminal() {
        let mut names = Names::default();
        let id = names.id("a\u{1b}[31mb");
        assert_eq!(names.get(id), "a[31mb");
        for same in ["a[31mb", "a\u{1b}[31mb", "\u{7f} a[31mb \u{7f}"] {
            assert_eq!(names.id(same), id);
        }
    }

    #[test]
    fn names_are_kept_once() {
        let mut names = Names::default();
        let gemm = names.id("gemm");
        assert_eq!(names.id("axpy"), NameId(2));
        assert_eq!(names.id("gemm"), gemm);
        assert_eq!(names.get(gemm), "gemm");
        assert_eq!(names.get(NameId::default()), "");
        let many: Vec<NameId> = (0..200).map(|at| names.id(&format!("kernel {at}"))).collect();
        names.finish();
        for (at, id) in many.into_iter().enumerate() {
            assert_eq!(names.id(&format!("kernel {at}")), id);
        }
        assert_eq!(names.id("another"), NameId(203));
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
    fn overloads_are_told_by_their_parameters_however_these_are_spaced() {
        let overload = |name: &str| KernelName::identity(name).1;
        assert_eq!(overload("f(const float *, int)"), overload("f(float const*,int)"));
        for other in ["f(float *, int)", "f(const float *)", "f(const float *, long)", "f"] {
            assert_ne!(overload("f(const float *, int)"), overload(other), "{other}");
        }
    }

    #[test]
    fn short_names_keep_what_tells_kernels_apart() {
        for (name, expected) in [
            (
                "void at::native::vectorized_elementwise_kernel<(int)4, at::native::FillFunctor<float>, at::detail::Array<char *, (int)1>>(int, T2, T3)",
                "vectorized_elementwise_kernel<fill, float>",
            ),
            (
                "void cutlass::Kernel<cutlass_80_tensorop_s16816gemm_f16_256x128_32x3_nn_align8>(T1::Params)",
                "cutlass_80_tensorop_s16816gemm_f16_256x128_32x3_nn_align8",
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
                "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<flash::CollectiveMainloopFwdSm90<2, cute::tuple<cute::C<1>, cute::C<1>, cute::C<1>>, cute::tuple<cute::C<128>, cute::C<128>, cute::C<128>>, 128, cutlass::bfloat16_t, float, arch::Sm90, 1, 0>>>>(T1::Params)",
                "cutlass::device_kernel<FlashAttnFwdSm90<128×128, bf16>>",
            ),
            (
                "void cutlass::device_kernel<flash::FlashAttnFwdCombine<cute::tuple<cute::C<8>, cute::C<128>>, 5, 256, 1, 0, 1, cutlass::bfloat16_t, float, arch::Sm90>>(T1::Params)",
                "cutlass::device_kernel<FlashAttnFwdCombine<8×128, bf16>>",
            ),
            // The cluster (2×1×1) is no tile, and strides are none either.
            (
                "void device_kernel<GemmUniversal<GroupProblemShape<tuple<long, long, long>>, CollectiveMma<MainloopSm90ArrayTmaGmmaWarpSpecialized<12, tuple<C<2>, C<1>, C<1>>, KernelPtrArrayTmaWarpSpecializedCooperative>, tuple<C<128>, C<16>, C<64>>, bfloat16_t, tuple<long, C<1>, C<0>> *, bfloat16_t>>>(T1::Params)",
                "device_kernel<GemmUniversal<128×16, bf16>>",
            ),
            (
                "void xmma_cudnn::gemm::kernel<xmma_cudnn::implicit_gemm::wgrad_indexed::Kernel_traits<xmma_cudnn::Ampere_hmma_tf32_traits<unsigned int, float>, xmma_cudnn::Cta_tile<xmma_cudnn::Ampere, (int)128, (int)64, (int)16, (int)2, (int)2, (int)1, (int)1>>>(T1::Params)",
                "gemm::kernel<wgrad_indexed, 128×64, tf32>",
            ),
            (
                "enable_if<!T7, void>::type kernel<int, int, __nv_bfloat16, __nv_bfloat16, __nv_bfloat16, float, 0, 1, cublasGemvParamsEx<int, cublasGemvTensorStridedBatched<const __nv_bfloat16>>>(T13)",
                "kernel<cublasGemv, bf16, float>",
            ),
            (
                "void at::elementwise_kernel<128, 4, void at::gpu_kernel_impl_nocast<at::direct_copy_kernel_cuda(at::TensorIteratorBase &)::[lambda() (instance 3)]::operator ()() const::[lambda() (instance 12)]::operator ()() const::[lambda(c10::BFloat16) (instance 1)]>(at::TensorIteratorBase &, const T1 &)::[lambda(int) (instance 1)]>(int, T3)",
                "elementwise_kernel<copy, bf16>",
            ),
            (
                "void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#2}::operator()() const::{lambda()#4}::operator()() const::{lambda(c10::Half)#1}, std::array<char*, 2ul> >(int)",
                "vectorized_elementwise_kernel<gelu, half>",
            ),
            (
                "void at::index_elementwise_kernel<128, 4, void at::gpu_index_kernel<void at::index_put_kernel_impl<at::OpaqueType<4>>(at::TensorIterator &, c10::ArrayRef<long>)::[lambda(char *, const char *, long) (instance 1)]>(at::TensorIteratorBase &)::[lambda(int) (instance 1)]>(long, T3)",
                "index_elementwise_kernel<index_put>",
            ),
            (
                "void at::native::<unnamed>::distribution_elementwise_grid_stride_kernel<float, (int)4, void at::native::templates::cuda::uniform_and_transform<c10::Half, float, (unsigned long)4, at::CUDAGeneratorImpl *>(at::TensorIteratorBase &)::[lambda(curandStatePhilox4_32_10 *) (instance 2)]>(int)",
                "distribution_elementwise_grid_stride_kernel<uniform, half>",
            ),
            (
                "void at::native::<unnamed>::multi_tensor_apply_kernel<at::native::<unnamed>::FusedOptimizerTensorListMetadata<4>, at::native::<unnamed>::FusedAdamMathFunctor<float, 4>>(int)",
                "multi_tensor_apply_kernel<fused_adam_math, float>",
            ),
            (
                "void activation::act_and_mul_kernel<__nv_bfloat16, &silu<float>>(T1 *, const T1 *, int)",
                "act_and_mul_kernel<silu, bf16>",
            ),
            (
                "void cudnn::ops::nchwToNhwcKernel<float, float, float, (bool)0, (bool)1, (cudnnKernelDataType_t)2>(T1)",
                "nchwToNhwcKernel<float>",
            ),
            ("void cub::f<&, ::, <>>(", "f"),
            (
                "void at::native::vectorized_elementwise_kernel<(int)4, at::native::BinaryFunctor<float, float, float, void at::native::<unnamed>::threshold_kernel_impl<float>(at::TensorIteratorBase &, T1, T1)::[lambda(float, float) (instance 1)]>>(int)",
                "vectorized_elementwise_kernel<threshold, float>",
            ),
        ] {
            let short = KernelName::parse(name).short;
            assert!(short.chars().count() <= KernelName::SHORT);
            assert_eq!(short, expected, "{name}");
        }
    }
}
