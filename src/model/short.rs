//! Shortens kernel names to the operation inside wrappers, in common words.

/// Maximum length of a short name, in characters.
pub(super) const LONGEST: usize = 72;

/// Generic names that need the namespace in front of them.
const GENERIC: [&str; 8] =
    ["kernel", "Kernel", "Kernel2", "device_kernel", "run", "run_kernel", "main", "compute"];

/// Maximum nesting that is examined; names nest a dozen levels.
const DEEPEST: usize = 24;

/// Returns a short, stable name for tables: last namespace component, distinctive template
/// arguments.
pub(super) fn short(head: &str) -> String {
    if head.is_empty() {
        return String::new();
    }
    let (base, arguments) = match head.find('<') {
        Some(open) if open > 0 => (&head[..open], &head[open..]),
        _ => (head, ""),
    };
    let mut components = base.rsplit("::");
    let last = components.next().unwrap_or(base);
    let generic = GENERIC.contains(&last);
    let namespace = components.next().filter(|_| generic);
    if generic && let Some(wrapped) = wrapped(arguments) {
        // The generated names of CUTLASS begin with the library and say everything.
        if wrapped.starts_with("cutlass") {
            return elide(wrapped, LONGEST);
        }
        let mut words: Vec<String> = tile(arguments).into_iter().collect();
        words.extend(scalars(arguments).first().map(|&word| word.to_owned()));
        let inner = bracketed(wrapped, &words);
        return elide(&bracketed(&qualified(namespace, last), &[inner]), LONGEST);
    }
    let mut words = telling(last, arguments);
    if generic && namespace.is_none() && !words.iter().any(|word| !is_scalar(word)) {
        words.splice(0..0, of_parameters(arguments));
    }
    elide(&bracketed(&qualified(namespace, last), &words), LONGEST)
}

fn qualified(namespace: Option<&str>, last: &str) -> String {
    let namespace = namespace.map(|text| text.rsplit(' ').next().unwrap_or(text));
    namespace.map_or_else(|| last.to_owned(), |namespace| format!("{namespace}::{last}"))
}

fn bracketed(name: &str, words: &[String]) -> String {
    if words.is_empty() { name.to_owned() } else { format!("{name}<{}>", words.join(", ")) }
}

/// Returns the class that a generic kernel runs, such as `FlashAttnFwdSm90`: the first argument,
/// without `enable_if` wrappers.
fn wrapped(arguments: &str) -> Option<&str> {
    let mut text = inside(arguments);
    for _ in 0..DEEPEST {
        let first = *split(text, ",").first()?;
        let class = *split(without_qualifiers(first), "::").last()?;
        let name = identifier(class);
        if name.starts_with("enable_") {
            text = inside(class);
            continue;
        }
        let is_class = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && scalar(name).is_none()
            && !name.ends_with("traits")
            && (class.contains('<') || name.starts_with("cutlass"));
        return is_class.then_some(name);
    }
    None
}

/// Names a kernel with a generic name such as `kernel` by the class of its parameters:
/// `cublasGemv`.
fn of_parameters(arguments: &str) -> Option<String> {
    split(inside(arguments), ",").into_iter().find_map(|argument| {
        let name = identifier(split(without_qualifiers(argument), "::").last()?);
        let name = name.strip_suffix("Ex").unwrap_or(name).strip_suffix("Params")?;
        (!name.is_empty()).then(|| name.to_owned())
    })
}

/// Returns what template arguments say about the work: functors, passes, tiles, types, without
/// casts and wrappers.
fn telling(base: &str, arguments: &str) -> Vec<String> {
    const MOST: usize = 3;
    let mut found = Found::default();
    for argument in split(inside(arguments), ",") {
        found.visit(argument, 0);
    }
    // The lambda of these takes an index, whatever is stored.
    let scalar = found.scalar.filter(|_| !base.ends_with("_with_index"));
    let is_operation = !found.words.is_empty();
    let mut words: Vec<String> = found.words;
    words.truncate(2);
    if found.is_pass {
        words.truncate(1);
        words.extend(tile(arguments));
        if arguments.contains("_tf32_traits") {
            words.push("tf32".to_owned());
            return words;
        }
    }
    match scalar {
        Some(word) => words.push(word.to_owned()),
        None => {
            let types = scalars(arguments);
            let most = if is_operation { 1 } else { 2 };
            words.extend(types.into_iter().take(most).map(str::to_owned));
        }
    }
    words.truncate(MOST);
    words
}

/// Facts found in template arguments.
#[derive(Default)]
struct Found {
    words: Vec<String>,
    /// Type of the elements.
    scalar: Option<&'static str>,
    /// True if the words are passes of a convolution.
    is_pass: bool,
}

impl Found {
    fn visit(&mut self, argument: &str, depth: usize) {
        /// Names for how operands are addressed, not for the operation.
        const ADDRESSING: [&str; 8] = [
            "Array",
            "array",
            "TrivialOffsetCalculator",
            "OffsetCalculator",
            "LoadWithCast",
            "StoreWithCast",
            "TensorInfo",
            "function_traits",
        ];
        let argument = argument.trim();
        if depth > DEEPEST || argument.starts_with('(') {
            return;
        }
        if let Some(function) = argument.strip_prefix('&') {
            let name = split(function, "::").last().map_or("", |last| identifier(last));
            // An activation has a short name; how an index is computed has a long one.
            if name.len() <= 16 {
                self.push(name);
            }
            return;
        }
        let parts = split(without_qualifiers(argument), "::");
        for (at, part) in parts.iter().enumerate() {
            let name = identifier(part);
            if ADDRESSING.contains(&name) {
                return;
            }
            if ["fprop", "dgrad", "wgrad"].iter().any(|pass| name.starts_with(pass)) {
                self.is_pass = true;
                self.push(name);
                return;
            }
            if is_operation(name) {
                let first = split(inside(part), ",").first().and_then(|text| scalar(text));
                let lambda = parts[at..].iter().rev().find_map(|part| of_lambda(part));
                let on = if name.ends_with("_and_transform") {
                    first.or(lambda)
                } else {
                    lambda.or(first)
                };
                self.scalar = self.scalar.or(on);
                self.push(&operation(name));
                return;
            }
        }
        for part in parts {
            for argument in split(inside(part), ",") {
                self.visit(argument, depth + 1);
            }
        }
    }

    fn push(&mut self, word: &str) {
        if !word.is_empty() && !self.words.iter().any(|known| known == word) {
            self.words.push(word.to_owned());
        }
    }
}

/// Returns `true` if a class or function is the operation of a kernel rather than a wrapper.
fn is_operation(name: &str) -> bool {
    const WRAPPERS: [&str; 11] = [
        "gpu_kernel_impl",
        "gpu_kernel_impl_nocast",
        "gpu_index_kernel",
        "distribution_nullary_kernel",
        "BinaryFunctor",
        "AUnaryFunctor",
        "BUnaryFunctor",
        "UnaryFunctor",
        "kernel",
        "kernels",
        "Kernel",
    ];
    let ends =
        ["Ops", "_impl", "_cuda", "_cuda_out", "_and_transform", "Agent", "_kernel", "Kernel"];
    !WRAPPERS.contains(&name)
        && (name.contains("Functor")
            || name.contains("functor")
            || name.contains("CUDAKernel")
            || ends.iter().any(|end| name.ends_with(end))
            || name.starts_with("launch_")
            || name.starts_with("cutlass_"))
}

/// Returns the operation in the name of a functor or the function of a lambda: `FillFunctor` fills.
fn operation(name: &str) -> String {
    const BEFORE: [&str; 6] =
        ["CUDAFunctorOnSelf_", "CUDAFunctor_", "launch_", "direct_", "cuda_", "_"];
    const AFTER: [&str; 12] = [
        "_kernel",
        "_cuda",
        "_impl",
        "_out",
        "_nocast",
        "_scalar",
        "_functor",
        "_and_transform",
        "Functor",
        "Ops",
        "CUDAKernelImpl",
        "CUDAKernel",
    ];
    if name.starts_with("cutlass_") || name.ends_with("Agent") {
        return name.to_owned();
    }
    let mut left = name;
    loop {
        let mut shorter = left;
        for before in BEFORE {
            shorter = shorter.strip_prefix(before).unwrap_or(shorter);
        }
        for after in AFTER {
            shorter = shorter.strip_suffix(after).unwrap_or(shorter);
        }
        if shorter.is_empty() || shorter.len() == left.len() {
            break;
        }
        left = shorter;
    }
    let mut word = String::with_capacity(left.len() + 4);
    let mut before = '_';
    for c in left.chars() {
        if c.is_ascii_uppercase() && (before.is_ascii_lowercase() || before.is_ascii_digit()) {
            word.push('_');
        }
        word.push(c.to_ascii_lowercase());
        before = c;
    }
    word
}

/// Returns the first two sides of the output tile: `128×128`. Clusters are nested deeper, or
/// smaller.
fn tile(arguments: &str) -> Option<String> {
    let mut level = split(inside(arguments), ",");
    for _ in 0..DEEPEST {
        let mut tiles: Vec<Vec<u64>> = Vec::new();
        let mut next = Vec::new();
        for argument in level {
            for part in split(without_qualifiers(argument), "::") {
                let inner = split(inside(part), ",");
                let sizes: Vec<Option<u64>> = inner.iter().map(|text| size(text)).collect();
                let sizes = match identifier(part) {
                    "tuple" | "Shape" | "GemmShape" => sizes.into_iter().collect(),
                    "Cta_tile" => Some(sizes.into_iter().flatten().take(3).collect()),
                    _ => None,
                };
                tiles.extend(sizes.filter(|sizes: &Vec<u64>| sizes.len() > 1));
                next.extend(inner);
            }
        }
        let area = |sizes: &Vec<u64>| sizes.iter().fold(1_u64, |all, one| all.saturating_mul(*one));
        // The first of the largest.
        let largest = tiles.iter().rev().max_by_key(|sizes| area(sizes));
        if let Some(sizes) = largest.filter(|sizes| area(sizes) > 1) {
            return Some(format!("{}×{}", sizes[0], sizes[1]));
        }
        if next.is_empty() {
            return None;
        }
        level = next;
    }
    None
}

/// Parses a number as an argument: `128`, `(int)128`, `cute::C<128>`, `Int<128>`.
fn size(text: &str) -> Option<u64> {
    let text = *split(text.trim(), "::").last()?;
    let text = match identifier(text) {
        "C" | "Int" => inside(text),
        _ => text,
    };
    text.rsplit(')').next()?.trim().parse().ok()
}

/// Returns the type of the first parameter of a lambda, if it is a number.
fn of_lambda(part: &str) -> Option<&'static str> {
    let after = &part[part.find("lambda")?..];
    let list = &after[after.find('(')? + 1..];
    scalar(split(&list[..list.find(')')?], ",").first()?)
}

/// Returns the short name of a numeric type.
fn scalar(text: &str) -> Option<&'static str> {
    let text = text.trim();
    let text = text.strip_prefix("const ").unwrap_or(text);
    Some(match split(text, "::").last()?.trim() {
        "float" => "float",
        "double" => "double",
        "Half" | "__half" | "half" | "half_t" => "half",
        "BFloat16" | "__nv_bfloat16" | "nv_bfloat16" | "bfloat16" | "bfloat16_t" => "bf16",
        "__nv_fp8_e4m3" | "Float8_e4m3fn" | "float_e4m3_t" => "fp8_e4m3",
        "__nv_fp8_e5m2" | "Float8_e5m2" | "float_e5m2_t" => "fp8_e5m2",
        "tfloat32_t" => "tf32",
        "int8_t" | "signed char" => "int8_t",
        "int" => "int",
        "long" | "long long" => "long",
        "bool" => "bool",
        _ => return None,
    })
}

fn is_scalar(word: &str) -> bool {
    word == "bf16" || scalar(word).is_some()
}

/// Returns the numeric types in arguments, each once, without those of counts and flags.
fn scalars(arguments: &str) -> Vec<&'static str> {
    let in_word = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let mut found = Vec::new();
    for word in arguments.split(|c| !in_word(c)).filter_map(scalar) {
        if !["int", "long", "bool"].contains(&word) && !found.contains(&word) {
            found.push(word);
        }
    }
    found
}

/// Removes qualifiers in front of a type or function.
fn without_qualifiers(text: &str) -> &str {
    let mut text = text.trim();
    for word in ["const ", "void ", "static "] {
        text = text.strip_prefix(word).unwrap_or(text);
    }
    text
}

/// Returns the name before the brackets of a path component.
fn identifier(part: &str) -> &str {
    let end = part.find(['<', '(', '[', '{', ' ', '*', '&']).unwrap_or(part.len());
    &part[..end]
}

/// Returns the text in the first angle brackets.
fn inside(part: &str) -> &str {
    let Some(open) = part.find('<') else { return "" };
    let text = &part[open + 1..];
    let mut depth = 0_usize;
    for (at, bracket) in brackets(text) {
        match (bracket, depth) {
            (1, _) => depth += 1,
            (_, 0) => return &text[..at],
            _ => depth -= 1,
        }
    }
    text
}

/// Splits a text at separators outside all brackets; empty for an empty text.
pub(super) fn split<'t>(text: &'t str, separator: &str) -> Vec<&'t str> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    let mut within = brackets(text).peekable();
    for (at, _) in text.match_indices(separator) {
        while let Some((_, step)) = within.next_if(|(bracket, _)| *bracket < at) {
            depth = depth.saturating_add_signed(step);
        }
        if depth == 0 {
            parts.push(&text[start..at]);
            start = at + separator.len();
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Finds opening and closing brackets; the arrow `->` is not one.
fn brackets(text: &str) -> impl Iterator<Item = (usize, isize)> + '_ {
    let bytes = text.as_bytes();
    bytes.iter().enumerate().filter_map(|(at, byte)| match byte {
        b'<' | b'(' | b'[' | b'{' => Some((at, 1)),
        b'>' if at > 0 && bytes[at - 1] == b'-' => None,
        b'>' | b')' | b']' | b'}' => Some((at, -1)),
        _ => None,
    })
}

/// Shortens a text to `width` characters by eliding its middle: the head names the family, the tail
/// the end of the tile. Template arguments and a tile in the middle are kept.
#[must_use]
pub(crate) fn elide(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width || width < 5 {
        return text.to_owned();
    }
    if let Some(told) = elided_base(text, length, width) {
        return told;
    }
    let mut tail = (width - 1) / 3;
    if let Some(at) = text.find("tilesize") {
        let tile = text[at..].split('_').next().unwrap_or_default();
        let end = text[..at].chars().count() + tile.chars().count();
        let room = width.saturating_sub(tile.chars().count() + 2);
        if end < width {
            tail = tail.min(width - 1 - end);
        } else if room >= width / 2 {
            let start: String = text.chars().take(room).collect();
            return format!("{}…{tile}…", start.trim_end_matches('_'));
        }
    }
    let start: String = text.chars().take(width - 1 - tail).collect();
    let end: String = text.chars().skip(length - tail).collect();
    format!("{start}…{end}")
}

/// Elides a name before its template arguments, which identify the wrapped operation.
fn elided_base(text: &str, length: usize, width: usize) -> Option<String> {
    /// Characters of the base name that are kept, enough to recognize the library.
    const BASE: usize = 6;
    let base = text[..text.find('<')?].chars().count();
    let arguments = length - base;
    let room = width.checked_sub(arguments + 1).unwrap_or(BASE).max(BASE);
    if base <= room + 1 || text[..text.find('<')?].contains(' ') {
        return None;
    }
    let left = width.checked_sub(room + 1).filter(|left| *left > BASE)?;
    let start: String = text.chars().take(room).collect();
    let told: String = text.chars().skip(base).collect();
    if arguments <= left {
        return Some(format!("{start}…{told}"));
    }
    let told: String = told.chars().take(left - 1).collect();
    Some(format!("{start}…{told}…"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_that_do_not_match_are_taken_as_they_come() {
        for text in ["", "<", ">", "<<>", "a::<", "(::", "&", "f<&>", "f<(,>", "f<->", "×<×::×>"]
        {
            assert!(short(text).chars().count() <= LONGEST, "{text}");
        }
        let deep = format!("f{}", "<a::b".repeat(20_000));
        assert!(short(&deep).starts_with('f'));
    }

    #[test]
    fn eliding_keeps_both_ends() {
        assert_eq!(elide("abcdefghij", 7), "abcd…ij");
        assert_eq!(elide("abc", 7), "abc");
        let name = "vectorized_elementwise_kernel<gelu, bf16>";
        assert_eq!(elide(name, 30), "vectorized_elemen…<gelu, bf16>");
        let name = "cutlass::device_kernel<FlashAttnFwdSm90<128×128, bf16>>";
        assert_eq!(elide(name, 26), "cutlas…<FlashAttnFwdSm90<…");
        let name = "sm80_xmma_fprop_implicit_gemm_tilesize128x64x32_stage5_warpsize2x2x1_g1";
        assert_eq!(elide(name, 40), "sm80_xmma_fprop_impli…tilesize128x64x32…");
        let name = "sm90_xmma_gemm_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_kernel";
        assert_eq!(elide(name, 48), "sm90_xmma_gemm_tn_n_tilesize128x128x64…te_kernel");
    }
}
