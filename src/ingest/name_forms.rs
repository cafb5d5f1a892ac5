//! Kernel names in several forms: some exports have only the name of the function, or mangle names; others have all.

use std::collections::HashMap;

use crate::model::{KernelName, NameId, Profile};

/// The name of a function without its type, its namespaces and what follows: some formats have no more.
pub(super) fn identifier(name: &str) -> String {
    let head = KernelName::head(name);
    let end = head.find('<').unwrap_or(head.len());
    let bare = head[..end].rsplit([' ', ':']).next().unwrap_or_default();
    if bare.is_empty() { name.to_owned() } else { bare.to_owned() }
}

/// Whether a name shows more than that of the function, as text.
pub(super) fn is_whole(name: &str) -> bool {
    !name.starts_with("_Z") && name.contains(['(', '<', ':', ' '])
}

/// What an export has of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Form {
    /// Only the function.
    Function,
    /// So many characters, and three points in the place of what follows.
    Cut(usize),
    /// All, or mangled names.
    Whole,
}

impl Form {
    /// The form that names of an export have.
    pub(super) fn of<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let (mut shortest, mut have_whole) = (usize::MAX, false);
        for name in names {
            if let Some(start) = name.strip_suffix(CUT) {
                shortest = shortest.min(start.chars().count());
            }
            have_whole = have_whole || is_whole(name) || name.starts_with("_Z");
        }
        match shortest {
            usize::MAX if have_whole => Self::Whole,
            usize::MAX => Self::Function,
            shortest => Self::Cut(shortest),
        }
    }

    /// A name in this form.
    pub(super) fn shortened(self, name: &str) -> String {
        match self {
            Self::Whole => name.to_owned(),
            Self::Function => identifier(name),
            Self::Cut(length) => {
                let start = name.strip_suffix(CUT).unwrap_or(name);
                let is_short =
                    start.len() == name.len() && name.chars().count() <= length + CUT.len();
                if is_short {
                    name.to_owned()
                } else {
                    start.chars().take(length).collect::<String>() + CUT
                }
            }
        }
    }
}

/// What stands in the place of the end of a name.
const CUT: &str = "...";

/// Whether one of two names with the same identifier may be that of the other in another form: two in one form are not.
pub(super) fn may_be_one(profile: &Profile, one: NameId, other: NameId) -> bool {
    let [first, second] = [one, other].map(|name| profile.names.get(name));
    let is_mangled = |name: &str| name.starts_with("_Z");
    one == other || (is_whole(first), is_mangled(first)) != (is_whole(second), is_mangled(second))
}

/// For each name the first that has its identifier, if some inputs have whole names and others have none.
pub(super) fn by_identifier(profile: &Profile) -> Option<HashMap<NameId, NameId>> {
    if profile.sources.len() < 2 {
        return None;
    }
    let mut known: HashMap<NameId, bool> = HashMap::new();
    let mut have_whole: Vec<Option<bool>> = vec![None; profile.sources.len()];
    for row in 0..profile.launches.len() {
        let name = profile.launches.head(row).name;
        let is = *known.entry(name).or_insert_with(|| is_whole(profile.names.get(name)));
        let has = have_whole[usize::from(profile.launches.source(row))].get_or_insert(false);
        *has = *has || is;
    }
    let is_mixed = [true, false].iter().all(|has| have_whole.contains(&Some(*has)));
    if !is_mixed {
        return None;
    }
    let mut names: Vec<NameId> = known.into_keys().collect();
    names.sort_unstable();
    let mut first: HashMap<String, NameId> = HashMap::new();
    let of = |name: NameId| *first.entry(identifier(profile.names.get(name))).or_insert(name);
    Some(names.iter().copied().zip(names.iter().copied().map(of)).collect())
}
