//! Distinguishes kernels with equal short names by the differences of their full names.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};

use super::short::{elide, split};
use super::text::{Text, Texts};

/// Maximum characters of a parameter list shown in full, and of a distinguishing word.
const SHOWN: usize = 32;

/// Makes the short names of different kernels unique: adds the differing template argument, else
/// the parameter types, else `~2`. `parsed` gives head and parameter list of a
/// name, which only equal ones need.
pub(crate) fn make_unique<'n>(
    shown: &mut [Text],
    parsed: impl Fn(usize) -> (Cow<'n, str>, Cow<'n, str>),
) {
    let names = |group: &[usize]| group.iter().map(|at| parsed(*at)).collect::<Vec<_>>();
    for group in same(shown) {
        let names = names(&group);
        let arguments: Vec<&str> = names.iter().map(|(head, _)| template(head)).collect();
        let apart = Apart::of(&arguments);
        rename(shown, &group, |at, shown| {
            with_argument(shown, &names[at].0, &apart.told(arguments[at]))
        });
    }
    for group in same(shown) {
        let names = names(&group);
        let parameters: Vec<&str> = names.iter().map(|(_, list)| &**list).collect();
        let apart = Apart::of(&parameters);
        rename(shown, &group, |at, shown| {
            let (list, added) = (types(parameters[at]), apart.told(parameters[at]));
            let fits = list.chars().count() <= SHOWN;
            let list = if fits || added.is_empty() { elide(&list, SHOWN) } else { added };
            format!("{shown}({list})")
        });
    }
    let mut taken = HashSet::with_capacity(shown.len());
    // The number with which the search for a free one goes on, of names met again.
    let mut next: HashMap<Text, usize> = HashMap::new();
    for name in shown {
        if taken.insert(name.clone()) {
            continue;
        }
        let count = next.entry(name.clone()).or_insert(2);
        let mut numbered: Text;
        loop {
            numbered = format!("{name}~{count}").into();
            *count += 1;
            if taken.insert(numbered.clone()) {
                break;
            }
        }
        *name = numbered;
    }
}

/// Gives each name of a group another one.
fn rename(shown: &mut [Text], group: &[usize], name: impl Fn(usize, &str) -> String) {
    let mut renamed = Texts::default();
    for (at, place) in group.iter().enumerate() {
        renamed.push(&name(at, &shown[*place]));
    }
    for (at, place) in group.iter().enumerate() {
        shown[*place] = renamed.shared(at);
    }
}

/// Returns groups of positions with equal names, in the order of the names.
fn same(names: &[impl AsRef<str>]) -> Vec<Vec<usize>> {
    let name = |at: &u32| names[*at as usize].as_ref();
    let mut order: Vec<u32> = (0..names.len() as u32).collect();
    order.sort_unstable_by(|one, two| name(one).cmp(name(two)).then(one.cmp(two)));
    let groups = order.chunk_by(|one, two| name(one) == name(two));
    let groups = groups.filter(|group| group.len() > 1);
    groups.map(|group| group.iter().map(|at| *at as usize).collect()).collect()
}

/// Returns the template arguments of a name, or the whole name if it has none.
fn template(head: &str) -> &str {
    head.find('<').filter(|open| *open > 0).map_or(head, |open| &head[open..])
}

/// Splits a text into words; library names without brackets are words joined by `_`.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_joined = !text.contains(['<', ' ', ',']);
    let in_word =
        move |c: char| c.is_alphanumeric() || c == '-' || (c == '_' && !is_joined) || !c.is_ascii();
    text.split(move |c| !in_word(c)).filter(|word| !word.is_empty())
}

/// The few words that distinguish several texts. There can be as many texts as launches, so that none is kept in words.
enum Apart<'t> {
    /// Of different structure: how many texts have each word.
    Counts(HashMap<&'t str, usize>),
    /// The words at these places.
    Places(Vec<usize>),
}

impl<'t> Apart<'t> {
    fn of(texts: &[&'t str]) -> Self {
        /// More would be no short name.
        const MOST: usize = 3;
        let first: Vec<&str> = texts.iter().take(1).flat_map(|text| words(text)).collect();
        if texts.iter().any(|text| words(text).count() != first.len()) {
            let mut counts: HashMap<&str, usize> = HashMap::new();
            for text in texts {
                for word in words(text).collect::<BTreeSet<_>>() {
                    *counts.entry(word).or_default() += 1;
                }
            }
            return Self::Counts(counts);
        }
        let mut varies = vec![false; first.len()];
        for text in texts {
            for ((word, first), varies) in words(text).zip(&first).zip(&mut varies) {
                *varies |= word != *first;
            }
        }
        let varying: Vec<usize> = (0..first.len()).filter(|at| varies[*at]).collect();
        if varying.len() < 2 {
            return Self::Places(varying);
        }
        let mut chosen: Vec<usize> = Vec::new();
        // Texts that the chosen words do not distinguish have the same number.
        let mut kinds: Vec<usize> = vec![0; texts.len()];
        let mut told = 1;
        while chosen.len() < MOST && told < texts.len() {
            let more = varying.iter().filter(|at| !chosen.contains(at)).map(|at| {
                let with = texts.iter().zip(&kinds).map(|(text, kind)| (*kind, word(text, *at)));
                (with.collect::<HashSet<_>>().len(), *at)
            });
            // The first of those that tell most apart.
            let best = more.max_by_key(|(told, at)| (*told, Reverse(*at)));
            let Some((_, at)) = best else { break };
            chosen.push(at);
            let mut numbers = HashMap::new();
            for (text, kind) in texts.iter().zip(&mut kinds) {
                let next = numbers.len();
                *kind = *numbers.entry((*kind, word(text, at))).or_insert(next);
            }
            told = numbers.len();
        }
        chosen.sort_unstable();
        Self::Places(chosen)
    }

    /// Returns the words that distinguish one of the texts; empty if there are none.
    fn told(&self, text: &str) -> String {
        let shorten = |word: &str| elide(word, SHOWN);
        match self {
            // The first word that no other has.
            Self::Counts(counts) => words(text)
                .find(|word| counts.get(word) == Some(&1))
                .map_or_else(String::new, shorten),
            Self::Places(places) => {
                let words: Vec<String> = places.iter().map(|at| shorten(word(text, *at))).collect();
                words.join(", ")
            }
        }
    }
}

/// Returns the word of a text at a place.
fn word(text: &str, at: usize) -> &str {
    words(text).nth(at).unwrap_or_default()
}

/// Adds one argument to a short name.
fn with_argument(short: &str, head: &str, added: &str) -> String {
    match short.strip_suffix('>') {
        _ if added.is_empty() => short.to_owned(),
        Some(start) => format!("{start}, {added}>"),
        None if head.contains('<') => format!("{short}<{added}>"),
        None if short.ends_with('…') => format!("{short}{added}"),
        None => format!("{short}~{added}"),
    }
}

/// Returns the types of a parameter list, without their namespaces and arguments: `float*, int`.
fn types(parameters: &str) -> String {
    let of = |parameter: &str| {
        let marks: String = parameter.chars().rev().take_while(|c| "*& ".contains(*c)).collect();
        let path = split(parameter, "::");
        let last = path.last().copied().unwrap_or_default();
        let name = last.split(['<', '*', '&']).next().unwrap_or_default().trim();
        let name = name.strip_prefix("const ").or(name.strip_suffix(" const")).unwrap_or(name);
        let is_const = parameter.split([' ', '*', '&']).any(|word| word == "const");
        let constant = if is_const && !marks.is_empty() { "const " } else { "" };
        format!("{constant}{name}{}", marks.trim())
    };
    split(parameters, ",").into_iter().map(of).collect::<Vec<_>>().join(", ")
}

/// Elides texts to a width; texts that would become equal keep the part where they differ.
pub(crate) fn elide_apart(texts: &[&str], width: usize) -> Vec<String> {
    let mut shown: Vec<String> = texts.iter().map(|text| elide(text, width)).collect();
    for group in same(&shown) {
        let mut whole: Vec<&str> = group.iter().map(|at| texts[*at]).collect();
        whole.sort_unstable();
        whole.dedup();
        if whole.len() < 2 {
            continue;
        }
        for at in group {
            let Ok(place) = whole.binary_search(&texts[at]) else { continue };
            let beside = [place.checked_sub(1), Some(place + 1)].into_iter().flatten();
            let shared = beside.filter_map(|other| whole.get(other));
            let shared = shared.map(|other| common(texts[at], other)).max().unwrap_or(0);
            shown[at] = around(texts[at], shared, width);
        }
    }
    shown
}

/// Returns the length of the common beginning of two texts, in characters.
fn common(one: &str, two: &str) -> usize {
    one.chars().zip(two.chars()).take_while(|(one, two)| one == two).count()
}

/// Elides a text so that a position stays visible.
fn around(text: &str, place: usize, width: usize) -> String {
    /// Characters kept before the position.
    const BEFORE: usize = 2;
    let length = text.chars().count();
    let room = (width - 2) / 2;
    let from = place.saturating_sub(BEFORE).min(length.saturating_sub(room));
    let window: String = text.chars().skip(from).take(room).collect();
    let after = if from + room < length { "…" } else { "" };
    let start = width.saturating_sub(window.chars().count() + 1 + after.chars().count());
    let start: String = text.chars().take(start.min(from)).collect();
    format!("{start}…{window}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::KernelName;

    fn apart(names: &[&str]) -> Vec<String> {
        let short = |name: &&str| KernelName::parse(name).short.into();
        let mut shown: Vec<Text> = names.iter().map(short).collect();
        make_unique(&mut shown, |at| KernelName::parts(names[at]));
        shown.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_template_argument_that_differs_is_added() {
        let tail = "cublasGemvParams<cublasGemvTensorStridedBatched<const float>, float>>(T13)";
        let gemv = |flags: &str| {
            format!(
                "std::enable_if<!T7, void>::type internal::gemvx::kernel<int, int, float, float, \
                 float, float, {flags}, (bool)0, {tail}"
            )
        };
        let names = [
            gemv("(bool)0, (bool)1, (bool)0, (bool)0, (int)6"),
            gemv("(bool)0, (bool)1, (bool)0, (bool)0, (int)7"),
            gemv("(bool)1, (bool)1, (bool)0, (bool)0, (int)8"),
        ];
        assert_eq!(
            apart(&names.each_ref().map(String::as_str)),
            ["gemvx::kernel<float, 6>", "gemvx::kernel<float, 7>", "gemvx::kernel<float, 8>"]
        );
        let unary = |which: &str| {
            format!(
                "void at::native::vectorized_elementwise_kernel<(int)4, at::native::{which}<float, \
                 float, float, at::native::binary_internal::MulFunctor<float>>, \
                 at::detail::Array<char *, (int)2>>(int, T2, T3)"
            )
        };
        assert_eq!(
            apart(&[&unary("AUnaryFunctor"), &unary("BUnaryFunctor")]),
            [
                "vectorized_elementwise_kernel<mul, float, AUnaryFunctor>",
                "vectorized_elementwise_kernel<mul, float, BUnaryFunctor>"
            ]
        );
    }

    #[test]
    fn overloads_are_told_apart_by_their_parameters() {
        assert_eq!(
            apart(&[
                "traccc::cuda::kernels::fill_sort_keys(traccc::container_view<const \
                 traccc::finding_result, const traccc::measurement>, \
                 vecmem::data::vector_view<float>, vecmem::data::vector_view<unsigned int>)",
                "traccc::cuda::kernels::fill_sort_keys(traccc::device::fill_sort_keys_payload)",
            ]),
            ["fill_sort_keys(container_view)", "fill_sort_keys(fill_sort_keys_payload)"]
        );
        assert_eq!(
            apart(&["scale(float *, int)", "scale(double *, int)", "scale(const float *)"]),
            ["scale(float*, int)", "scale(double*, int)", "scale(const float*)"]
        );
    }

    #[test]
    fn long_names_of_libraries_keep_their_tile_and_what_differs() {
        let name = |rest: &str| {
            format!(
                "sm75_xmma_wgrad_implicit_gemm_indexed_f16f16_f16f32_f32_nhwckrsc_nhwc_{rest}_kernel_cudnn"
            )
        };
        assert_eq!(
            apart(&[
                &name("tilesize128x128x32_stage1_warpsize2x2x1_g1_tensor16x8x8_execute"),
                &name("tilesize128x128x32_stage1_warpsize2x2x1_g1_tensor16x8x8_t1r1s1_execute"),
                &name("tilesize64x128x32_stage1_warpsize2x2x1_g1_tensor16x8x8_execute"),
            ]),
            [
                "sm75_xmma_wgrad_implicit_gemm_indexed_f16f16_f16f32…tilesize128x128x32…",
                "sm75_xmma_wgrad_implicit_gemm_indexed_f16f16_f16f32…tilesize128x128x32…t1r1s1",
                "sm75_xmma_wgrad_implicit_gemm_indexed_f16f16_f16f32_f…tilesize64x128x32…",
            ]
        );
    }

    #[test]
    fn what_nothing_tells_apart_is_numbered() {
        assert_eq!(apart(&["ns::f(a::t)", "ns::f(b::t)", "g"]), ["f(t)", "f(t)~2", "g"]);
        assert_eq!(apart(&["one::f", "two::f"]), ["f~one", "f~two"]);
    }

    #[test]
    fn elided_names_show_where_they_differ() {
        let texts = [
            "convolution_with_tile_64x64_and_more_words",
            "convolution_with_tile_64x32_and_more_words",
        ];
        let shown = elide_apart(&texts, 24);
        assert_eq!(shown, ["convolution…4x64_and_mo…", "convolution…4x32_and_mo…"]);
        assert!(shown.iter().all(|text| text.chars().count() <= 24));
        assert_eq!(elide_apart(&["same_long_name"; 2], 9), ["same_l…me"; 2]);
    }
}
