//! Which kernel of a trace is which under Nsight Compute: demanglers spell names differently, and traces shorten them.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use crate::model::{Dim3, KernelName, NameId, Profile, Shape};

/// What launches of the same work share: the name in one spelling, and the shape.
pub(super) type Key = (String, Option<Dim3>, Option<Dim3>, Option<u64>, Option<u64>);

pub(super) fn key(name: &str, shape: Shape) -> Key {
    (name.to_owned(), shape.grid, shape.block, shape.blocks, shape.threads_per_block)
}

/// Keys of a trace with the keys of counters for them: by the whole name, else by its words, else by the name without template
/// arguments where both sides have one kernel of that name and shape. A trace that has no more than the name of a function may have several
/// kernels under it: there the launches must be as many on both sides, too.
pub(super) fn pairs<'a>(
    counted: &'a BTreeMap<Key, Vec<usize>>,
    traced: &'a BTreeMap<Key, Vec<usize>>,
) -> Vec<(&'a Key, &'a Key)> {
    let shorter: [fn(&str) -> &str; 2] = [plain, bare];
    let [by_plain, by_bare] = shorter.map(|short| (unique(traced, short), unique(counted, short)));
    let one_of = |key: &Key, short: fn(&str) -> &str, (of_traced, of_counted): &Uniques<'a>| {
        let short = with_name(key, short(&key.0));
        let is_alone = of_traced.get(&short).is_some_and(Option::is_some);
        let donor = of_counted.get(&short).copied().flatten().filter(|_| is_alone)?;
        (!traced.contains_key(donor)).then_some(donor)
    };
    let by_words = (by_words(traced), by_words(counted));
    let mut pairs: Vec<(&Key, &Key)> = Vec::new();
    for (host, launches) in traced {
        let same = counted.get_key_value(host).map(|(donor, _)| donor);
        let same = same.or_else(|| {
            let words = with_name(host, &words(&host.0));
            let is_alone = by_words.0.get(&words).is_some_and(Option::is_some);
            let donor = by_words.1.get(&words).copied().flatten().filter(|_| is_alone)?;
            let is_other = traced.contains_key(donor) || !have_like_scopes(&host.0, &donor.0);
            (!is_other).then_some(donor)
        });
        let donor = same.or_else(|| {
            let is_cut = bare(&host.0) == host.0;
            let donor = one_of(host, plain, &by_plain)
                .or_else(|| one_of(host, bare, &by_bare).filter(|_| is_cut))?;
            (!is_cut || counted[donor].len() == launches.len()).then_some(donor)
        });
        pairs.extend(donor.map(|donor| (host, donor)));
    }
    pairs
}

/// The keys of both sides by a shorter name; `None` where several have it.
type Uniques<'a> = (Unique<'a>, Unique<'a>);
type Unique<'a> = HashMap<Key, Option<&'a Key>>;

fn with_name(key: &Key, name: &str) -> Key {
    (name.to_owned(), key.1, key.2, key.3, key.4)
}

fn unique<'a>(known: &'a BTreeMap<Key, Vec<usize>>, short: fn(&str) -> &str) -> Unique<'a> {
    let mut found: Unique<'a> = HashMap::new();
    for full in known.keys() {
        match found.entry(with_name(full, short(&full.0))) {
            Entry::Vacant(free) => _ = free.insert(Some(full)),
            Entry::Occupied(mut taken) => _ = taken.insert(None),
        }
    }
    found
}

fn by_words(known: &BTreeMap<Key, Vec<usize>>) -> Unique<'_> {
    let mut found: Unique<'_> = HashMap::new();
    for full in known.keys() {
        match found.entry(with_name(full, &words(&full.0))) {
            Entry::Vacant(free) => _ = free.insert(Some(full)),
            Entry::Occupied(mut taken) => _ = taken.insert(None),
        }
    }
    found
}

/// Whether one name is in the scopes of the other, some of which Nsight Compute leaves out: `at::copy` of `at::native::copy`.
fn have_like_scopes(one: &str, other: &str) -> bool {
    let scopes = |name: &str| -> Vec<String> {
        let name = plain(&name.replace(UNNAMED.0, "").replace(UNNAMED.1, "")).to_owned();
        let mut scopes: Vec<String> = name.split("::").map(str::to_owned).collect();
        scopes.pop();
        scopes
    };
    let (one, other) = (scopes(one), scopes(other));
    let (few, many) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    let mut rest = many.iter();
    few.iter().all(|scope| rest.any(|other| other == scope))
}

/// A namespace without a name, as the two demanglers write it.
const UNNAMED: (&str, &str) = ("(anonymousnamespace)::", "<unnamed>::");

/// The words of a name in one spelling: its last names and numbers, without scopes, parameters and casts. Nsight Compute writes
/// `at::f<128, at::g(at::It &)::[lambda(float) (instance 1)]>` for `at::native::f<128, at::native::g(at::It&)::{lambda(float)#1}>`.
fn words(spelled: &str) -> String {
    let text = spelled.replace(UNNAMED.0, "").replace(UNNAMED.1, "").replace("(instance", "#(");
    let text = text.as_str();
    let is_of_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut words, mut at) = (String::new(), 0);
    while let Some(next) = text[at..].chars().next() {
        let rest = &text[at..];
        if next == '(' {
            let keeps = words.ends_with("lambda") || text[..at].ends_with('#');
            at += if keeps { 1 } else { group(rest) };
        } else if is_of_word(next) {
            let end = rest.find(|c| !is_of_word(c)).unwrap_or(rest.len());
            let word = &rest[..end];
            at += end;
            // What stands before the scope of a name is left out with it.
            if rest[end..].starts_with("::") {
                continue;
            }
            let word = match word {
                "true" => "1",
                "false" => "0",
                "const" | "void" => continue,
                word => word,
            };
            words.push(' ');
            words.push_str(word);
        } else {
            at += next.len_utf8();
        }
    }
    words
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

/// Names of kernels in one spelling: demanglers differ in spaces, casts and suffixes of template arguments.
#[derive(Default)]
pub(super) struct Names(HashMap<NameId, String>);

impl Names {
    pub(super) fn exact(&mut self, profile: &Profile, name: NameId) -> &str {
        self.0.entry(name).or_insert_with(|| spelled(&KernelName::head(profile.names.get(name))))
    }
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

    /// Kernels of PyTorch 2.11 in a trace and under Nsight Compute 2025.3.
    #[test]
    fn two_demanglers_use_the_same_words() {
        let same = |trace: &str, counters: &str| {
            let [trace, counters] = [trace, counters].map(|name| spelled(&KernelName::head(name)));
            assert_eq!(words(&trace), words(&counters));
            assert!(have_like_scopes(&trace, &counters), "{trace} {counters}");
        };
        same(
            "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::native::(anonymous namespace)::masked_fill_kernel(at::TensorIterator&, c10::Scalar const&)::{lambda()#1}::operator()() const::{lambda()#12}::operator()() const::{lambda(c10::BFloat16, bool)#1}>(at::TensorIteratorBase&, at::native::(anonymous namespace)::masked_fill_kernel(at::TensorIterator&, c10::Scalar const&)::{lambda()#1}::operator()() const::{lambda()#12}::operator()() const::{lambda(c10::BFloat16, bool)#1} const&)::{lambda(int)#1}>(int, at::native::gpu_kernel_impl_nocast)",
            "void at::elementwise_kernel<128, 4, void at::gpu_kernel_impl_nocast<at::<unnamed>::masked_fill_kernel(at::TensorIterator &, const c10::Scalar &)::[lambda() (instance 1)]::operator ()() const::[lambda() (instance 12)]::operator ()() const::[lambda(c10::BFloat16, bool) (instance 1)]>(at::TensorIteratorBase &, const T1 &)::[lambda(int) (instance 1)]>(int, T3)",
        );
        same(
            "void at::native::unrolled_elementwise_kernel<at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>, 4, TrivialOffsetCalculator<2, unsigned int>, TrivialOffsetCalculator<1, unsigned int>, at::native::memory::LoadWithCast<2>, at::native::memory::StoreWithCast<1> >(int, at::native::CUDAFunctor_add<float>)",
            "void at::unrolled_elementwise_kernel<at::CUDAFunctor_add<float>, std::array<char *, 3>, 4, TrivialOffsetCalculator<2, unsigned int>, TrivialOffsetCalculator<1, unsigned int>, memory::LoadWithCast<2>, memory::StoreWithCast<1>>(int, T1, T2, T4, T5, T6, T7)",
        );
        same(
            "void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernelTemplate<float, float, 32u, 32u, 256u, false, true, false>(long, long)",
            "void at::<unnamed>::GammaBetaBackwardCUDAKernelTemplate<float, float, 32, 32, 256, 0, 1, 0>(long, long, const T1 *)",
        );
        let other =
            ["f<at::g(int)::{lambda(float)#1}>", "f<at::g(int)::[lambda(double) (instance 1)]>"];
        let [one, two] = other.map(|name| words(&spelled(&KernelName::head(name))));
        assert_ne!(one, two);
        assert!(!have_like_scopes("one::f<1>", "two::f<1>"));
        assert!(have_like_scopes("f<1>", "one::two::f<1>"));
        assert_eq!(words("f((("), " f");
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
