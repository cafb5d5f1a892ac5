//! Compares counted work with what the algorithm needs, by closed forms for kernels of known shape.
//!
//! Shapes come from the user's `[[closed-form]]` entries, from an operator column that holds a
//! closed form (`gemm m=4096 n=4096 k=1024`), from the parameters of `PyProf`'s products and
//! convolutions, or from the sizes of a product in `PyTorch`'s NVTX ranges.

use regex_automata::nfa::thompson::pikevm::PikeVM;

use super::{Algorithmic, DeviceUse, Kernel, Work};
use crate::model::{DataType, Dim3, Engine, OriginKind, Pipe};
use crate::predict::{Arguments, Options, PredictError, form, predict};
use crate::taxonomy::Kind;
use crate::units::{Bytes, Flops};

/// A closed form that the user assigned to kernels, such as `gemm m={m} n={n} k={k} dtype=fp16` for
/// the kernels `my_gemm_{m}x{n}x{k}_*`.
#[derive(Debug, Clone)]
pub struct ClosedForm {
    kernel: Option<Pattern>,
    operator: Option<Pattern>,
    grid: Option<Dim3>,
    call: String,
    place: String,
}

/// Why a closed form cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ClosedFormError {
    /// Neither a kernel nor an operator is given.
    #[error("missing kernel or operator pattern")]
    NoKernel,
    /// A size in braces is not defined by a pattern.
    #[error("{{{0}}} is not defined by a pattern")]
    Unbound(String),
    /// A pattern is invalid.
    #[error("{0}")]
    Pattern(String),
    /// The form or its arguments are invalid.
    #[error(transparent)]
    Form(#[from] PredictError),
}

impl ClosedFormError {
    /// Returns the next step, as one sentence for the `help:` line.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::NoKernel => "add kernel = \"…\" or operator = \"…\"".to_owned(),
            Self::Unbound(_) | Self::Pattern(_) => {
                "in a pattern, * matches anything and {m} matches a whole number that the form \
                 can use"
                    .to_owned()
            }
            Self::Form(error) => error.help().unwrap_or_else(|| {
                "list all forms with their parameters with `rooflint predict --list`".to_owned()
            }),
        }
    }
}

/// A pattern in which `*` matches anything and `{m}` matches a whole number named `m`.
#[derive(Debug, Clone)]
struct Pattern {
    compiled: PikeVM,
    names: Vec<String>,
}

impl Pattern {
    fn new(text: &str) -> Result<Self, ClosedFormError> {
        let (mut pattern, mut names) = (String::from("(?s)\\A"), Vec::new());
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            match c {
                '*' => pattern.push_str(".*"),
                '{' => {
                    let name = rest.split('}').next().unwrap_or_default();
                    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                        && name.starts_with(|c: char| c.is_ascii_alphabetic());
                    if !is_name || name.len() == rest.len() {
                        // A brace of a kernel's own name, such as that of a lambda.
                        pattern.push_str("\\{");
                        continue;
                    }
                    if names.iter().any(|known| known == name) {
                        let message = format!("{{{name}}} occurs twice in {text:?}");
                        return Err(ClosedFormError::Pattern(message));
                    }
                    names.push(name.to_owned());
                    pattern.push_str("([0-9]+)");
                    rest = &rest[name.len() + 1..];
                }
                c if c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii() => pattern.push(c),
                c => {
                    pattern.push('\\');
                    pattern.push(c);
                }
            }
        }
        pattern.push_str("\\z");
        let compiled =
            PikeVM::new(&pattern).map_err(|error| ClosedFormError::Pattern(error.to_string()))?;
        Ok(Self { compiled, names })
    }

    /// Returns the sizes in a matching text.
    fn sizes<'t>(&self, text: &'t str) -> Option<Vec<(&str, &'t str)>> {
        let mut slots = self.compiled.create_captures();
        self.compiled.captures(&mut self.compiled.create_cache(), text, &mut slots);
        slots.get_match()?;
        let named = self.names.iter().enumerate();
        Some(
            named
                .filter_map(|(at, name)| {
                    Some((name.as_str(), text.get(slots.get_group(at + 1)?.range())?))
                })
                .collect(),
        )
    }
}

impl ClosedForm {
    /// Makes a closed form for the kernels that match all given patterns; `place` is its location
    /// in the configuration.
    ///
    /// # Errors
    /// [`ClosedFormError`] if there is no pattern, a size is not defined by a pattern, the form is
    /// unknown, or an argument is missing.
    pub fn new(
        kernel: Option<&str>,
        operator: Option<&str>,
        grid: Option<Dim3>,
        call: &str,
        place: &str,
    ) -> Result<Self, ClosedFormError> {
        if kernel.is_none() && operator.is_none() {
            return Err(ClosedFormError::NoKernel);
        }
        let kernel = kernel.map(Pattern::new).transpose()?;
        let operator = operator.map(Pattern::new).transpose()?;
        let this = Self { kernel, operator, grid, call: call.to_owned(), place: place.to_owned() };
        let patterns = this.kernel.iter().chain(&this.operator);
        let names = patterns.flat_map(|pattern| &pattern.names);
        // Any size shows whether the form can be read.
        let sample: Vec<(&str, &str)> = names.map(|name| (name.as_str(), "64")).collect();
        this.arguments(&sample)?.count()?;
        Ok(this)
    }

    /// Returns the call with its sizes, if the kernel matches.
    fn of(&self, kernel: &Kernel) -> Option<Result<Arguments, ClosedFormError>> {
        if self.grid.is_some() && kernel.shape.grid != self.grid {
            return None;
        }
        let mut sizes = Vec::new();
        if let Some(pattern) = &self.kernel {
            let names = [&*kernel.name, &*kernel.full_name];
            sizes.extend(names.iter().find_map(|name| pattern.sizes(name))?);
        }
        if let Some(pattern) = &self.operator {
            sizes.extend(pattern.sizes(kernel.operator.as_deref()?)?);
        }
        Some(self.arguments(&sizes))
    }

    fn arguments(&self, sizes: &[(&str, &str)]) -> Result<Arguments, ClosedFormError> {
        let mut call = self.call.clone();
        for (name, value) in sizes {
            call = call.replace(&format!("{{{name}}}"), value);
        }
        if let Some((_, rest)) = call.split_once('{') {
            let name = rest.split('}').next().unwrap_or_default();
            return Err(ClosedFormError::Unbound(name.to_owned()));
        }
        Ok(parse(&call)?)
    }
}

/// Parses a call such as `gemm m=4096 n=4096 k=1024`.
fn parse(call: &str) -> Result<Arguments, PredictError> {
    let mut words = call.split_whitespace();
    Arguments::parse(form(words.next().unwrap_or_default())?, words)
}

/// What came of a closed form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    /// It matches no kernel.
    Unmatched,
    /// Every kernel that it matches has an earlier form.
    Shadowed,
    /// A kernel is described by it.
    Used,
}

/// Finds the closed forms of kernels, and records unused forms and invalid calls.
pub(super) struct Describer<'a> {
    forms: &'a [ClosedForm],
    uses: Vec<Use>,
    wrong: usize,
    first_wrong: Option<String>,
}

impl<'a> Describer<'a> {
    pub(super) fn new(forms: &'a [ClosedForm]) -> Self {
        Self { forms, uses: vec![Use::Unmatched; forms.len()], wrong: 0, first_wrong: None }
    }

    /// Adds the algorithm's needs to a kernel whose sums are over this many launches.
    pub(super) fn describe(&mut self, kernel: &mut Kernel, launches: u64, device: &DeviceUse) {
        let mut said = None;
        for (form, of_form) in self.forms.iter().zip(&mut self.uses) {
            if said.is_none() {
                said = form.of(kernel).map(|arguments| (form.place.as_str(), arguments));
                if said.is_some() {
                    *of_form = Use::Used;
                }
            } else if *of_form == Use::Unmatched && form.of(kernel).is_some() {
                *of_form = Use::Shadowed;
            }
        }
        let found = said.or_else(|| Some(("the operator", of_operator(kernel)?)));
        let Some((from, arguments)) = found else { return };
        let counted = arguments.and_then(|arguments| Ok((arguments.count()?, arguments)));
        let (count, arguments) = match counted {
            Ok(counted) => counted,
            Err(error) => {
                self.wrong += 1;
                let kernel = &kernel.name;
                self.first_wrong.get_or_insert_with(|| format!("{kernel}: {from}: {error}"));
                return;
            }
        };
        let mut algorithmic = Algorithmic {
            call: format!("{} {}", arguments.form().name, arguments.text()),
            from: from.to_owned(),
            operations: count.operations(),
            bytes: count.bytes(),
            product: count.product,
            memory_time: None,
            math_time: None,
            traffic_factor: None,
            work_factor: None,
        };
        times(&mut algorithmic, kernel, &arguments, device, launches);
        beside(&mut algorithmic, kernel);
        // Work that the counters did not see takes its time all the same.
        if let (Some(math), Some(high)) = (algorithmic.math_time, kernel.roofline_time_high)
            && math > high
        {
            kernel.roofline_time_high = Some(math);
        }
        kernel.extras.get_or_insert_default().algorithmic = Some(Box::new(algorithmic));
    }

    /// Returns notes on unused forms and invalid calls.
    pub(super) fn notes(self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(first) = self.first_wrong {
            let kernels = if self.wrong == 1 { "kernel" } else { "kernels" };
            let count = self.wrong;
            notes.push(format!("the closed form of {count} {kernels} is invalid; {first}"));
        }
        notes.extend(self.forms.iter().zip(self.uses).filter_map(|(form, of_form)| {
            let except = match of_form {
                Use::Used => return None,
                Use::Unmatched => "",
                Use::Shadowed => " but those of earlier forms",
            };
            Some(format!("the closed form at {} matches no kernel{except}", form.place))
        }));
        notes
    }
}

/// Returns a closed form in the operator column, or from the sizes of a product or convolution.
fn of_operator(kernel: &Kernel) -> Option<Result<Arguments, ClosedFormError>> {
    // Of a path of ranges the innermost says what is computed.
    let operator = kernel.operator.as_deref()?.rsplit('/').next()?;
    let (name, rest) = operator.split_once(' ')?;
    if kernel.provenance == Some(OriginKind::Algorithmic) {
        // Helper kernels, such as those that add up a split product, carry the same parameters.
        if !kernel.class.is_product() {
            return None;
        }
        return pyprof_product(rest).or_else(|| pyprof_convolution(rest, kernel.class.kind?));
    }
    if let Some((_, sizes)) = rest.split_once("sizes = [")
        && kernel.class.is_product()
    {
        let formats = kernel.class.formats;
        return recorded_product(name, sizes, formats.stored.or(formats.a)?);
    }
    let is_call = rest.split_whitespace().all(|word| word.contains('=') && !word.contains(','));
    if !is_call || rest.trim().is_empty() || form(name).is_err() {
        return None;
    }
    Some(parse(operator).map_err(ClosedFormError::from))
}

/// Returns the number of a key among `PyProf`'s parameters: `N=24x128` is 3072.
fn pyprof_size(text: &str, key: &str) -> Option<u64> {
    let text = text.strip_prefix("bprop ").unwrap_or(text);
    let value = text.split(',').find_map(|part| part.trim().strip_prefix(key)?.strip_prefix('='));
    let mut sizes = value?.split('x').map(|part| part.parse().ok());
    sizes.try_fold(1_u64, |all, size| all.checked_mul(size?))
}

/// Returns the number format among `PyProf`'s parameters.
fn pyprof_format(text: &str) -> Option<&str> {
    text.split(',').map(str::trim).find(|part| ["fp16", "fp32", "fp64"].contains(part))
}

/// `N=32,C=64,H=56,…,g=1,fp16`, as `PyProf` writes the sizes of a convolution, if stride, padding
/// and dilation of both dimensions are equal.
fn pyprof_convolution(text: &str, kind: Kind) -> Option<Result<Arguments, ClosedFormError>> {
    let form = match kind {
        Kind::ConvFprop => "conv2d",
        Kind::ConvDgrad => "conv2d-dgrad",
        Kind::ConvWgrad => "conv2d-wgrad",
        _ => return None,
    };
    let size = |key: &str| pyprof_size(text, key);
    let same = |one: &str, other: &str| size(one).filter(|value| size(other) == Some(*value));
    let (stride, pad, dilation) = (same("U", "V")?, same("ph", "pw")?, same("dh", "dw")?);
    let keys = ["n", "c", "h", "w", "k", "r", "s"].map(|key| (key, key.to_ascii_uppercase()));
    let sizes: Option<Vec<String>> =
        keys.iter().map(|(key, theirs)| Some(format!("{key}={}", size(theirs)?))).collect();
    let (sizes, groups, format) = (sizes?.join(" "), size("g")?, pyprof_format(text)?);
    let call = format!(
        "{form} {sizes} stride={stride} pad={pad} dilation={dilation} groups={groups} dtype={format}"
    );
    Some(parse(&call).map_err(ClosedFormError::from))
}

/// `[8, 4], [4, 16]]`, the sizes of `aten::mm`, as `PyTorch`'s `emit_nvtx` records them.
fn recorded_product(
    name: &str,
    sizes: &str,
    format: DataType,
) -> Option<Result<Arguments, ClosedFormError>> {
    let (sizes, _) = sizes.split_once("]]")?;
    let shape = |text: &str| {
        let numbers = text.trim_matches(['[', ',', ' ']).split(',');
        numbers.map(|number| number.trim().parse::<u64>().ok()).collect::<Option<Vec<_>>>()
    };
    // A scalar has no sizes, and takes no part.
    let shapes: Vec<Vec<u64>> =
        sizes.split(']').map(|text| shape(text).unwrap_or_default()).collect();
    let at = |index: usize| shapes.get(index).map(Vec::as_slice);
    let (batch, [m, k], [depth, n]) = match (name.trim_end_matches(',').rsplit(':').next()?, at(0)?)
    {
        ("mm" | "matmul", &[m, k]) => (1, [m, k], at(1)?.try_into().ok()?),
        ("addmm", _) => (1, at(1)?.try_into().ok()?, at(2)?.try_into().ok()?),
        ("bmm" | "matmul", &[batch, m, k]) => match *at(1)? {
            [other, depth, n] if other == batch => (batch, [m, k], [depth, n]),
            _ => return None,
        },
        ("linear", [rows @ .., k]) => match *at(1)? {
            [n, depth] => {
                let rows = rows.iter().try_fold(1_u64, |all, size| all.checked_mul(*size))?;
                (1, [rows, *k], [depth, n])
            }
            _ => return None,
        },
        _ => return None,
    };
    if k != depth {
        return None;
    }
    let call = format!("gemm m={m} n={n} k={k} batch={batch} dtype={}", format.name());
    Some(parse(&call).map_err(ClosedFormError::from))
}

/// `M=3072,N=24x128,K=768,fp16`, as `PyProf` writes the sizes of a matrix product.
fn pyprof_product(text: &str) -> Option<Result<Arguments, ClosedFormError>> {
    let size = |key| pyprof_size(text, key);
    let (m, n, k) = (size("M")?, size("N")?, size("K")?);
    let batch = size("B").unwrap_or(1);
    let format = pyprof_format(text)?;
    let call = format!("gemm m={m} n={n} k={k} batch={batch} dtype={format}");
    Some(parse(&call).map_err(ClosedFormError::from))
}

/// Returns the times of the closed form at the kernel's own roofs, if its counts give them.
fn times(
    algorithmic: &mut Algorithmic,
    kernel: &Kernel,
    arguments: &Arguments,
    device: &DeviceUse,
    launches: u64,
) {
    let Some(known) = &device.device else { return };
    let on_matrix = kernel
        .work
        .iter()
        .any(|work| work.pipe.engine() == Engine::Matrix && work.operations > Flops::ZERO);
    let engine = (kernel.class.tensor == Some(false) && !on_matrix).then_some(Engine::Vector);
    let options = Options { engine, ..Options::default() };
    let Ok(prediction) = predict(arguments, known, &options) else { return };
    let count = launches as f64;
    let scale = kernel.bandwidth().map_or(1.0, |roof| prediction.bandwidth / roof);
    algorithmic.memory_time = Some(prediction.t_mem * scale * count);
    // Peaks follow the clock. Those of other units may be rated at another clock, and reach another share of it.
    let main = prediction.pipes.first().map(|pipe| pipe.pipe);
    let scale_of = |work: &Work| Some(known.peak(work.pipe)?.value / work.peak()?);
    let of = |is_it: &dyn Fn(Pipe) -> bool| {
        kernel.work.iter().filter(|work| is_it(work.pipe)).find_map(scale_of)
    };
    let scale = main.and_then(|main| {
        of(&|pipe| pipe == main).or_else(|| of(&|pipe| pipe.engine() == main.engine()))
    });
    algorithmic.math_time = Some(prediction.t_math * scale.unwrap_or(1.0) * count);
}

/// Computes the ratios of counted to needed work.
fn beside(algorithmic: &mut Algorithmic, kernel: &Kernel) {
    if kernel.provenance == Some(OriginKind::Algorithmic) {
        return;
    }
    let counted = kernel.level(crate::model::MemoryLevel::Dram);
    algorithmic.traffic_factor = counted
        .filter(|_| algorithmic.bytes > Bytes::ZERO)
        .map(|traffic| traffic.bytes / (algorithmic.bytes * traffic.launches.max(1) as f64));
    let counted: Flops = kernel.work.iter().map(|work| work.operations).sum();
    // Operations may have been counted in some of the launches only.
    let needed = algorithmic.operations * kernel.with_work().max(1) as f64;
    algorithmic.work_factor =
        (!kernel.work.is_empty() && needed > Flops::ZERO).then(|| counted / needed);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(pattern: &str, text: &str) -> Option<Vec<(String, String)>> {
        let pattern = Pattern::new(pattern).unwrap();
        let sizes = pattern.sizes(text)?;
        Some(sizes.into_iter().map(|(name, size)| (name.to_owned(), size.to_owned())).collect())
    }

    #[test]
    fn sizes_are_read_off_names() {
        let of = |text| sizes("triton_mm_{m}x{n}x{k}_*", text);
        let [m, n, k] = [("m", "8192"), ("n", "512"), ("k", "64")]
            .map(|(name, size)| (name.to_owned(), size.to_owned()));
        assert_eq!(of("triton_mm_8192x512x64_0d1d2"), Some(vec![m, n, k]));
        assert_eq!(of("triton_mm_8192x512_0d1d2"), None);
        assert_eq!(
            sizes("f(int)::{lambda}*", "f(int)::{lambda}"),
            Some(Vec::new()).filter(|_| false)
        );
        assert_eq!(sizes("a.b*", "a.b<float>").map(|sizes| sizes.len()), Some(0));
        assert_eq!(sizes("a.b", "axb"), None);
    }

    fn call(found: Option<Result<Arguments, ClosedFormError>>) -> Option<String> {
        let arguments = found?.unwrap();
        Some(format!("{} {}", arguments.form().name, arguments.text()))
    }

    #[test]
    fn sizes_of_recorders_are_closed_forms() {
        let of = |name, sizes| call(recorded_product(name, sizes, DataType::Bf16));
        let gemm =
            |m, n, k, batch| Some(format!("gemm m={m} n={n} k={k} batch={batch} dtype=bf16"));
        assert_eq!(of("aten::mm,", "[8, 4], [4, 16]]"), gemm(8, 16, 4, 1));
        assert_eq!(of("aten::addmm,", "[16], [8, 4], [4, 16], [], []]"), gemm(8, 16, 4, 1));
        assert_eq!(of("aten::bmm,", "[2, 8, 4], [2, 4, 16]]"), gemm(8, 16, 4, 2));
        assert_eq!(of("aten::linear,", "[2, 3, 4], [16, 4], [16]]"), gemm(6, 16, 4, 1));
        for (name, sizes) in [
            ("aten::mm,", "[8, 4], [5, 16]]"),
            ("aten::mm,", "[8, 4]]"),
            ("aten::mm,", "[8, 4], [4, 16"),
            ("aten::bmm,", "[2, 8, 4], [3, 4, 16]]"),
            ("aten::add,", "[8, 4], [8, 4]]"),
        ] {
            assert_eq!(of(name, sizes), None, "{name} {sizes}");
        }
        let convolution = |u, kind| {
            let text = format!(
                "bprop N=32,C=64,H=56,W=56,K=128,P=28,Q=28,R=3,S=3,ph=1,pw=1,U=2,V={u},\
                 dh=1,dw=1,g=1,fp16"
            );
            call(pyprof_convolution(&text, kind))
        };
        let sizes =
            "n=32 c=64 h=56 w=56 k=128 r=3 s=3 stride=2 pad=1 dilation=1 groups=1 dtype=fp16";
        assert_eq!(convolution(2, Kind::ConvDgrad), Some(format!("conv2d-dgrad {sizes}")));
        assert_eq!(convolution(2, Kind::ConvWgrad), Some(format!("conv2d-wgrad {sizes}")));
        assert_eq!(convolution(1, Kind::ConvDgrad), None);
        assert_eq!(convolution(2, Kind::Gemm), None);
    }

    #[test]
    fn what_cannot_be_used_is_told() {
        let new = |kernel: Option<&str>, call: &str| {
            ClosedForm::new(kernel, None, None, call, "a").unwrap_err().to_string()
        };
        assert_eq!(new(None, "copy n=4"), "missing kernel or operator pattern");
        assert_eq!(new(Some("k_{m}"), "copy n={n}"), "{n} is not defined by a pattern");
        assert!(new(Some("k"), "gem m=1").contains("unknown kernel \"gem\""));
        assert!(new(Some("k"), "gemm m=1 n=2").contains("gemm needs \"k\""));
        assert!(new(Some("k{m}{m}"), "copy n={m}").contains("twice"));
    }

    #[test]
    fn parameters_of_pyprof_become_a_product() {
        let read = |text| pyprof_product(text).map(|read| read.unwrap().count().unwrap());
        let product = read("bprop M=3072,N=24x128,K=768,fp16").unwrap();
        assert_eq!(product.operations().get(), 2.0 * 3072.0 * 3072.0 * 768.0);
        assert_eq!(product.bytes().get(), 2.0 * (3072.0 * 3072.0 + 2.0 * 3072.0 * 768.0));
        assert!(read("M=3072,N=24x128,fp16").is_none());
        assert!(read("M=3072,N=-,K=4,fp16").is_none());
    }
}
