//! Which kernel of a trace is which under Nsight Compute: demanglers spell names differently, and traces shorten them.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use crate::model::{Dim3, KernelName, NameId, Profile, Shape};

/// What launches of the same work share: the name in one spelling, and the shape.
pub(super) type Key = (String, Option<Dim3>, Option<Dim3>, Option<u64>, Option<u64>);

pub(super) fn key(name: &str, shape: Shape) -> Key {
    (name.to_owned(), shape.grid, shape.block, shape.blocks, shape.threads_per_block)
}

/// Keys of a trace with the keys of counters for them: by the whole name, else by the name without template arguments where
/// both sides have one kernel of that name and shape. A trace that has no more than the name of a function may have several
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
    let mut pairs: Vec<(&Key, &Key)> = Vec::new();
    for (host, launches) in traced {
        let same = counted.get_key_value(host).map(|(donor, _)| donor);
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
