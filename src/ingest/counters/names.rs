//! Which kernel of a trace is which under Nsight Compute: demanglers spell names differently, and traces shorten them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::model::{Dim3, KernelName, NameId, Profile, Shape};

/// What launches of the same work share: the name in one spelling, and the shape.
pub(super) type Key = (String, Option<Dim3>, Option<Dim3>, Option<u64>, Option<u64>);

pub(super) fn key(name: &str, shape: Shape) -> Key {
    (name.to_owned(), shape.grid, shape.block, shape.blocks, shape.threads_per_block)
}

/// Keys of a trace with the keys of counters for them: by the whole name; of those that are left, by its words; then by the name
/// without template arguments where both sides have one kernel of that name and shape, unless the arguments contradict. A trace that has no more than the name of
/// a function may have several kernels under it: there the launches must be as many on both sides, too.
pub(super) fn pairs<'a>(
    names: &Names,
    counted: &'a BTreeMap<Key, Vec<usize>>,
    traced: &'a BTreeMap<Key, Vec<usize>>,
) -> Vec<(&'a Key, &'a Key)> {
    let mut pairs: Vec<(&Key, &Key)> = Vec::new();
    let mut taken: [BTreeSet<&Key>; 2] = Default::default();
    let mut take = |new: &mut dyn Iterator<Item = (&'a Key, &'a Key)>| {
        let free = |(host, donor): &(&'a Key, &'a Key)| {
            !taken[0].contains(host) && !taken[1].contains(donor)
        };
        let new: Vec<(&Key, &Key)> = new.filter(free).collect();
        taken[0].extend(new.iter().map(|pair| pair.0));
        taken[1].extend(new.iter().map(|pair| pair.1));
        pairs.extend(new);
    };
    let are_as_many = |host: &Key, donor: &Key| counted[donor].len() == traced[host].len();
    let is_bare = |key: &Key| bare(&key.0) == key.0;
    take(&mut traced.keys().filter_map(|key| Some((key, counted.get_key_value(key)?.0))));
    let by_words = alone(traced, counted, |key| names.words(&key.0).to_owned());
    take(&mut by_words.into_iter().filter(|(host, donor)| names.are_alike(&host.0, &donor.0)));
    let by_plain = alone(traced, counted, |key| plain(&key.0).to_owned());
    let by_plain = by_plain.into_iter().filter(|(host, donor)| !contradict(&host.0, &donor.0));
    take(&mut by_plain.filter(|(host, donor)| !is_bare(host) || are_as_many(host, donor)));
    let by_bare = alone(traced, counted, |key| bare(&key.0).to_owned()).into_iter();
    take(&mut by_bare.filter(|(host, donor)| is_bare(host) && are_as_many(host, donor)));
    pairs
}

/// Keys of both sides that are the only ones of a shape and a shorter name.
fn alone<'a>(
    traced: &'a BTreeMap<Key, Vec<usize>>,
    counted: &'a BTreeMap<Key, Vec<usize>>,
    short: impl Fn(&Key) -> String,
) -> Vec<(&'a Key, &'a Key)> {
    let unique = |keys: &'a BTreeMap<Key, Vec<usize>>| {
        let mut found: BTreeMap<Key, Option<&'a Key>> = BTreeMap::new();
        for key in keys.keys() {
            let of = (short(key), key.1, key.2, key.3, key.4);
            found.entry(of).and_modify(|known| *known = None).or_insert(Some(key));
        }
        found
    };
    let donors = unique(counted);
    let pair = |(of, host): (Key, Option<&'a Key>)| Some((host?, (*donors.get(&of)?)?));
    unique(traced).into_iter().filter_map(pair).collect()
}

/// Names of kernels in one spelling: demanglers differ in spaces, casts and suffixes of template arguments.
#[derive(Default)]
pub(super) struct Names {
    spelled: HashMap<NameId, String>,
    words: HashMap<String, Words>,
}

impl Names {
    pub(super) fn exact(&mut self, profile: &Profile, name: NameId) -> &str {
        self.spelled.entry(name).or_insert_with(|| {
            let head = KernelName::head(profile.names.get(name));
            let spelled = spelled(&head);
            self.words.entry(spelled.clone()).or_insert_with(|| Words::of(&head));
            spelled
        })
    }

    /// The words of a name that was spelled.
    fn words<'a>(&'a self, spelled: &'a str) -> &'a str {
        self.words.get(spelled).map_or(spelled, |words| &words.text)
    }

    /// Whether each word of one name lies in the scopes of the same word of the other.
    fn are_alike(&self, one: &str, other: &str) -> bool {
        let scopes = |name: &str| self.words.get(name).map(|words| &words.scopes);
        let (Some(one), Some(other)) = (scopes(one), scopes(other)) else { return false };
        one.len() == other.len() && one.iter().zip(other).all(|(one, other)| have_like(one, other))
    }
}

/// Whether one list of scopes is the other, some of which Nsight Compute leaves out: `at::copy` of `at::native::copy`.
fn have_like(one: &[String], other: &[String]) -> bool {
    let (few, many) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    let mut rest = many.iter();
    few.iter().all(|scope| rest.any(|other| other == scope))
}

/// The words of a name in one spelling, without scopes, casts and what only one of two demanglers writes. Nsight Compute has
/// `at::f<128, void at::g<T>(at::It &, const T1 &)::[lambda(float) (instance 1)]>` for
/// `at::native::f<128, at::native::g<T>(at::It&, T const&)::{lambda(float)#1}>`.
#[derive(Debug, Default, PartialEq)]
struct Words {
    text: String,
    /// The scopes of each word.
    scopes: Vec<Vec<String>>,
}

impl Words {
    fn of(head: &str) -> Self {
        let text = head.replace("(anonymous namespace)::", "").replace("<unnamed>::", "");
        let text = text.replace("(anonymousnamespace)::", "").replace("(instance ", "#(");
        let text = text.as_str();
        let is_of_word = |c: char| c.is_alphanumeric() || c == '_';
        let (mut words, mut scopes, mut at) = (Self::default(), Vec::new(), 0);
        while let Some(next) = text[at..].chars().next() {
            let rest = &text[at..];
            if next == '(' {
                let before = text[..at].trim_end().chars().next_back();
                let (inner, after) = rest.split_at(group(rest));
                let is_value = after.starts_with(|c: char| is_of_word(c) || c == '-');
                // A cast, or the parameters of a template, which Nsight Compute calls T1, T2, …
                let is_cast = matches!(before, None | Some('<' | ',' | '(')) && is_value;
                let is_dropped = is_cast || before == Some('>');
                at += if is_dropped { inner.len() } else { 1 };
            } else if is_of_word(next) {
                let end = rest.find(|c| !is_of_word(c)).unwrap_or(rest.len());
                let (word, after) = rest.split_at(end);
                at += end;
                if after.starts_with("::") {
                    scopes.push(word.to_owned());
                    at += 2;
                    continue;
                }
                let is_return = word == "void" && after.trim_start().starts_with(is_of_word);
                let of_word = std::mem::take(&mut scopes);
                if word == "const" || is_return {
                    continue;
                }
                words.text.push(' ');
                words.text.push_str(match word {
                    "true" => "1",
                    "false" => "0",
                    word => without_suffix(word),
                });
                words.scopes.push(of_word);
            } else {
                if matches!(next, '*' | '&' | '-' | '<' | '>' | ',') {
                    words.text.push(next);
                }
                at += next.len_utf8();
            }
        }
        words
    }
}

/// A number without what says its type: `32u`, `3ul`.
fn without_suffix(word: &str) -> &str {
    let digits = word.trim_end_matches(['u', 'U', 'l', 'L']);
    let is_number = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit());
    if is_number { digits } else { word }
}

/// The length of what stands in parentheses at the beginning of a text.
fn group(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    text.len()
}

/// Whether each of two names has a type or a number among its template arguments that the other lacks: `f<float>` and
/// `f<double>` are two kernels. Where only one has more, Nsight Compute left something out.
fn contradict(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(arguments);
    !one.is_subset(&other) && !other.is_subset(&one)
}

/// The numbers and the types of floating-point numbers after the first `<` of a name, in one spelling.
fn arguments(name: &str) -> BTreeSet<&str> {
    const TYPES: [(&str, &str); 6] = [
        ("bfloat16", "bf16"),
        ("bf16", "bf16"),
        ("half", "half"),
        ("e4m3", "e4m3"),
        ("e5m2", "e5m2"),
        ("double", "double"),
    ];
    let after = &name[plain(name).len()..];
    let words = after.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    words
        .filter_map(|word| match word {
            "true" => Some("1"),
            "false" => Some("0"),
            "float" => Some("float"),
            "Half" => Some("half"),
            "BFloat16" => Some("bf16"),
            word if word.starts_with(|c: char| c.is_ascii_digit()) => Some(without_suffix(word)),
            word => TYPES.iter().find(|(part, _)| word.contains(part)).map(|(_, known)| *known),
        })
        .collect()
}

/// A name without template arguments.
fn plain(name: &str) -> &str {
    name.split('<').next().unwrap_or(name)
}

/// The name of a function without namespaces, which is all that some traces have.
fn bare(name: &str) -> &str {
    let plain = plain(name);
    plain.rsplit(':').next().filter(|bare| !bare.is_empty()).unwrap_or(plain)
}

/// A name without blanks, casts and suffixes of numbers: `f<(int)4, (bool)1, 8u>` and `f<4, true, 8>` are one.
fn spelled(head: &str) -> String {
    let text: String = head.chars().filter(|c| !c.is_whitespace()).collect();
    let text = text.replace("(bool)0", "false").replace("(bool)1", "true");
    let mut spelled = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(next) = rest.chars().next() {
        // A cast stands before a number.
        if next == '('
            && let Some(end) = rest.find(')')
            && rest[end + 1..].trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit())
        {
            rest = &rest[end + 1..];
            continue;
        }
        let starts_number =
            next.is_ascii_digit() && !spelled.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        if starts_number {
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            spelled.push_str(&rest[..end]);
            let after = rest[end..].trim_start_matches(['u', 'U', 'l', 'L']);
            let is_suffix = !after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
            rest = if is_suffix { after } else { &rest[end..] };
            continue;
        }
        spelled.push(next);
        rest = &rest[next.len_utf8()..];
    }
    spelled
}

#[cfg(test)]
mod tests {
    use super::*;

    fn are_same(one: &str, other: &str) -> bool {
        let [one, other] = [one, other].map(|name| Words::of(&KernelName::head(name)));
        let mut scopes = one.scopes.iter().zip(&other.scopes);
        one.text == other.text && scopes.all(|(one, other)| have_like(one, other))
    }

    /// Kernels of PyTorch 2.11 in a trace and under Nsight Compute 2025.3.
    #[test]
    fn two_demanglers_use_the_same_words() {
        for (trace, counters) in [
            (
                "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::native::(anonymous namespace)::masked_fill_kernel(at::TensorIterator&, c10::Scalar const&)::{lambda()#1}::operator()() const::{lambda()#12}::operator()() const::{lambda(c10::BFloat16, bool)#1}>(at::TensorIteratorBase&, at::native::(anonymous namespace)::masked_fill_kernel(at::TensorIterator&, c10::Scalar const&)::{lambda()#1}::operator()() const::{lambda()#12}::operator()() const::{lambda(c10::BFloat16, bool)#1} const&)::{lambda(int)#1}>(int, at::native::gpu_kernel_impl_nocast)",
                "void at::elementwise_kernel<128, 4, void at::gpu_kernel_impl_nocast<at::<unnamed>::masked_fill_kernel(at::TensorIterator &, const c10::Scalar &)::[lambda() (instance 1)]::operator ()() const::[lambda() (instance 12)]::operator ()() const::[lambda(c10::BFloat16, bool) (instance 1)]>(at::TensorIteratorBase &, const T1 &)::[lambda(int) (instance 1)]>(int, T3)",
            ),
            (
                "void at::native::unrolled_elementwise_kernel<at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>, 4, TrivialOffsetCalculator<2, unsigned int>, TrivialOffsetCalculator<1, unsigned int>, at::native::memory::LoadWithCast<2>, at::native::memory::StoreWithCast<1> >(int, at::native::CUDAFunctor_add<float>)",
                "void at::unrolled_elementwise_kernel<at::CUDAFunctor_add<float>, std::array<char *, 3>, 4, TrivialOffsetCalculator<2, unsigned int>, TrivialOffsetCalculator<1, unsigned int>, memory::LoadWithCast<2>, memory::StoreWithCast<1>>(int, T1, T2, T4, T5, T6, T7)",
            ),
            (
                "void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernelTemplate<float, float, 32u, 32u, 256u, false, true, false>(long, long)",
                "void at::<unnamed>::GammaBetaBackwardCUDAKernelTemplate<float, float, 32, 32, 256, 0, 1, 0>(long, long, const T1 *)",
            ),
            ("f<float const*, 3>(int)", "f<const float *, 3>(int)"),
            ("f<(ns::E)-1, (bool)1>(int)", "f<-1, true>(int)"),
            (
                "f<g(float const&)::{lambda(float const&, long)#2}>(int)",
                "f<void <unnamed>::g(const float &)::[lambda(const float &, long) (instance 2)]>(int)",
            ),
        ] {
            assert!(are_same(trace, counters), "{trace}\n{counters}");
        }
    }

    #[test]
    fn other_kernels_have_other_words() {
        for (one, other) in [
            ("f<g(int)::{lambda(float)#1}>", "f<g(int)::[lambda(double) (instance 1)]>"),
            ("f<g(float)::{lambda(int)#1}>", "f<g(double)::[lambda(int) (instance 1)]>"),
            (
                "f<Tag<void (*)(float*), &(foo(float*)), 1u>>",
                "f<Tag<void (*)(float*), &(bar(float*)), 1u>>",
            ),
            ("f<void (*)(float)>", "f<void (*)(double)>"),
            ("one::f<1>", "two::f<1>"),
            ("f<one::Op>", "f<two::Op>"),
            ("f<(&one::g)>", "f<(&two::h)>"),
            ("f<-1>", "f<1>"),
            ("f<float*>", "f<float>"),
            ("f<float&>", "f<float&&>"),
            ("f<A<B>, C>", "f<A<B, C>>"),
            ("f<float, void>", "f<float>"),
        ] {
            assert!(!are_same(one, other), "{one}\n{other}");
        }
        assert_eq!(Words::of("f(((").text, " f");
    }

    /// The second kernel must not take what the first one has.
    #[test]
    fn counters_are_given_to_one_kernel() {
        let mut profile = Profile::default();
        let mut names = Names::default();
        let mut keyed = |names: &mut Names, all: &[&str]| -> BTreeMap<Key, Vec<usize>> {
            let mut key_of = |name: &&str| {
                let id = profile.names.id(name);
                (key(names.exact(&profile, id), Shape::default()), vec![0])
            };
            all.iter().map(&mut key_of).collect()
        };
        let traced = keyed(&mut names, &["void at::native::f<1>(int)", "void at::f<2>(int)"]);
        let counted = keyed(&mut names, &["void at::f<1>(int)"]);
        let pairs = pairs(&names, &counted, &traced);
        let pairs: Vec<(&str, &str)> =
            pairs.iter().map(|(host, donor)| (host.0.as_str(), donor.0.as_str())).collect();
        assert_eq!(pairs, [("at::native::f<1>", "at::f<1>")]);
        let traced = keyed(&mut names, &["void f<float>(float*)", "void g<A<1>>(int)"]);
        let counted = keyed(&mut names, &["void f<double>(double*)", "void g<B>(int)"]);
        let pairs = super::pairs(&names, &counted, &traced);
        assert_eq!(pairs.len(), 1);
        assert!(pairs[0].0.0.starts_with("g<"), "{pairs:?}");
    }

    #[test]
    fn other_types_and_numbers_are_other_instances() {
        for (one, other) in [
            ("f<float>", "f<double>"),
            ("f<128,float,A>", "f<256,float,A>"),
            ("f<c10::Half,true>", "f<c10::BFloat16,true>"),
            ("f<cutlass::half_t>", "f<__nv_bfloat16>"),
            ("f<true>", "f<false>"),
        ] {
            assert!(contradict(one, other), "{one} {other}");
        }
        for (one, other) in [
            ("f<__half,32u>", "f<c10::Half,32>"),
            ("f<true,A<2>>", "f<1>"),
            ("f<float>", "f"),
            ("ns2::f<3ul>", "f<3>"),
            ("f<at::g<float>>", "f<at::h<float,int>>"),
        ] {
            assert!(!contradict(one, other), "{one} {other}");
        }
    }

    #[test]
    fn names_have_one_spelling() {
        for (one, two) in [
            ("f<(int)4, (bool)1, 8u>", "f<4, true, 8>"),
            ("f<(ns::E)-1, float, std::array<char *, 2ul> >", "f<-1, float, std::array<char*, 2>>"),
            ("ns::g2u<(unsigned long)3>", "ns::g2u<3ul>"),
        ] {
            assert_eq!(spelled(one), spelled(two));
        }
        assert_ne!(spelled("f<4>"), spelled("f<8>"));
        assert_eq!(
            spelled("ns::(anonymousnamespace)::f<16u16>"),
            "ns::(anonymousnamespace)::f<16u16>"
        );
    }
}
