//! Distinguishes kernels with equal short names by the differences of their full names.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::short::{elide, split};

/// Maximum characters of a parameter list shown in full, and of a distinguishing word.
const SHOWN: usize = 32;

/// Makes the short names of different kernels unique: adds the differing template argument, else
/// the parameter types, else `~2`. `parsed` gives head and parameter list of a
/// name, which only equal ones need.
pub(crate) fn make_unique(shown: &mut [Arc<str>], parsed: impl Fn(usize) -> (String, String)) {
    let names = |group: &[usize]| group.iter().map(|at| parsed(*at)).collect::<Vec<_>>();
    for group in same(shown) {
        let names = names(&group);
        let arguments: Vec<Vec<&str>> =
            names.iter().map(|(head, _)| words(template(head))).collect();
        for ((at, (head, _)), added) in group.iter().zip(&names).zip(differences(&arguments)) {
            shown[*at] = with_argument(&shown[*at], head, &added).into();
        }
    }
    for group in same(shown) {
        let names = names(&group);
        let parameters: Vec<Vec<&str>> = names.iter().map(|(_, list)| words(list)).collect();
        for ((at, (_, list)), added) in group.iter().zip(&names).zip(differences(&parameters)) {
            let list = types(list);
            let fits = list.chars().count() <= SHOWN;
            let list = if fits || added.is_empty() { elide(&list, SHOWN) } else { added };
            shown[*at] = format!("{}({list})", shown[*at]).into();
        }
    }
    let mut taken = HashSet::with_capacity(shown.len());
    // The number with which the search for a free one goes on, of names met again.
    let mut next: HashMap<Arc<str>, usize> = HashMap::new();
    for name in shown {
        if taken.insert(Arc::clone(name)) {
            continue;
        }
        let count = next.entry(Arc::clone(name)).or_insert(2);
        let mut numbered: Arc<str>;
        loop {
            numbered = format!("{name}~{count}").into();
            *count += 1;
            if taken.insert(Arc::clone(&numbered)) {
                break;
            }
        }
        *name = numbered;
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
fn words(text: &str) -> Vec<&str> {
    let is_joined = !text.contains(['<', ' ', ',']);
    let in_word =
        |c: char| c.is_alphanumeric() || c == '-' || (c == '_' && !is_joined) || !c.is_ascii();
    text.split(|c| !in_word(c)).filter(|word| !word.is_empty()).collect()
}

/// Returns for each of several texts the few words that distinguish it; empty if there are none.
fn differences(texts: &[Vec<&str>]) -> Vec<String> {
    /// More would be no short name.
    const MOST: usize = 3;
    let length = texts.first().map_or(0, Vec::len);
    let shorten = |word: &str| elide(word, SHOWN);
    if texts.iter().any(|words| words.len() != length) {
        // Of different structure: the first word that no other has.
        let mut count: HashMap<&str, usize> = HashMap::new();
        for words in texts {
            for word in words.iter().collect::<BTreeSet<_>>() {
                *count.entry(word).or_default() += 1;
            }
        }
        let own = |words: &Vec<&str>| {
            words
                .iter()
                .find(|word| count[**word] == 1)
                .map_or_else(String::new, |one| shorten(one))
        };
        return texts.iter().map(own).collect();
    }
    let mut chosen: Vec<usize> = Vec::new();
    let kinds = |chosen: &[usize]| {
        let key = |words: &Vec<&str>| chosen.iter().map(|at| words[*at].to_owned()).collect();
        texts.iter().map(key).collect::<HashSet<Vec<String>>>().len()
    };
    let varying: Vec<usize> =
        (0..length).filter(|at| texts.iter().any(|words| words[*at] != texts[0][*at])).collect();
    while chosen.len() < MOST && kinds(&chosen) < texts.len() {
        let more = varying.iter().filter(|at| !chosen.contains(at)).map(|at| {
            let with: Vec<usize> = chosen.iter().chain([at]).copied().collect();
            (kinds(&with), *at)
        });
        // The first of those that tell most apart.
        let best = more.max_by_key(|(kinds, at)| (*kinds, std::cmp::Reverse(*at)));
        let Some((_, at)) = best else { break };
        chosen.push(at);
    }
    chosen.sort_unstable();
    let text = |words: &Vec<&str>| {
        chosen.iter().map(|at| shorten(words[*at])).collect::<Vec<_>>().join(", ")
    };
    texts.iter().map(text).collect()
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
        let mut shown: Vec<Arc<str>> = names.iter().map(short).collect();
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
