//! Groups entries that belong together: repeated runs of one commit, or runs saved at once.

use std::collections::HashMap;

use super::moment::Moment;
use super::store::Entry;
use crate::plain::counted;

/// Repeated runs of one commit on the same devices, or of one save if no commit is known.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch<'a> {
    /// The entries, at least one, oldest first.
    pub entries: Vec<&'a Entry>,
}

impl<'a> Batch<'a> {
    fn first(&self) -> Option<&'a Entry> {
        self.entries.first().copied()
    }

    /// Returns the time at which its first run was saved.
    #[must_use]
    pub fn saved(&self) -> Option<Moment> {
        self.first()?.saved
    }

    /// Returns its commit.
    #[must_use]
    pub fn commit(&self) -> Option<&'a str> {
        self.first()?.run.origin.commit.as_deref()
    }

    /// Returns the branch of its first run.
    #[must_use]
    pub fn branch(&self) -> Option<&'a str> {
        self.first()?.run.origin.branch.as_deref()
    }

    /// Returns `true` if another batch is of the same baseline on the same devices.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        match (self.first(), other.first()) {
            (Some(one), Some(two)) => {
                one.name == two.name && one.run.device_names() == two.run.device_names()
            }
            _ => false,
        }
    }
}

/// Counts commits by whether each is known; where none is, the saves that stand for them.
pub(crate) fn counted_commits(are_known: impl Iterator<Item = bool>) -> String {
    let (mut all, mut known) = (0, 0);
    for is_known in are_known {
        all += 1;
        known += u64::from(is_known);
    }
    match known {
        _ if known == all => counted(all, "commit", "commits"),
        0 => counted(all, "save", "saves"),
        _ => counted(all, "commit or save", "commits or saves"),
    }
}

/// What the entries of a batch have alike.
#[derive(PartialEq, Eq, Hash)]
struct Key<'a> {
    name: &'a str,
    devices: Vec<&'a str>,
    source: Source<'a>,
}

/// What makes runs repeats of each other.
#[derive(PartialEq, Eq, Hash)]
enum Source<'a> {
    Commit(&'a str),
    /// The time at which all of them were saved, where no commit is known.
    Saved(Option<&'a str>),
}

fn key(entry: &Entry) -> Key<'_> {
    let origin = &entry.run.origin;
    let source = match &origin.commit {
        Some(commit) => Source::Commit(commit),
        None => Source::Saved(origin.saved.as_deref()),
    };
    Key { name: &entry.name, devices: entry.run.device_names(), source }
}

/// Groups entries by commit, in the order in which the first run of each was saved.
///
/// A commit that was measured again later keeps its position, because the order is that of the
/// code.
#[must_use]
pub fn batches<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Vec<Batch<'a>> {
    let mut batches: Vec<Batch<'a>> = Vec::new();
    let mut places: HashMap<Key<'a>, usize> = HashMap::new();
    for entry in entries {
        let place = *places.entry(key(entry)).or_insert(batches.len());
        match batches.get_mut(place) {
            Some(batch) => batch.entries.push(entry),
            None => batches.push(Batch { entries: vec![entry] }),
        }
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::super::store::Store;
    use super::super::store::tests::save;
    use super::*;

    #[test]
    fn runs_of_a_commit_or_of_a_save_belong_together() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        save(path, "default", "L4", Some("aaaa"), "2026-11-01", &[1.0, 1.1]);
        save(path, "default", "L4", None, "2026-11-02", &[1.2, 1.3]);
        save(path, "default", "L4", None, "2026-11-03", &[1.4]);
        save(path, "default", "L4", Some("aaaa"), "2026-11-04", &[1.5]);
        save(path, "default", "H100", Some("aaaa"), "2026-11-05", &[0.5]);
        save(path, "other", "L4", Some("aaaa"), "2026-11-06", &[1.0]);
        let store = Store::open(path).unwrap();
        let sizes: Vec<usize> =
            batches(store.entries()).iter().map(|batch| batch.entries.len()).collect();
        assert_eq!(sizes, [3, 2, 1, 1, 1]);
        let known = batches(store.entries()).into_iter().map(|batch| batch.commit().is_some());
        assert_eq!(counted_commits(known), "5 commits or saves");
    }

    #[test]
    fn what_is_not_known_is_not_called_a_commit() {
        let of = |known: &[bool]| counted_commits(known.iter().copied());
        for (known, expected) in [
            (&[true, true][..], "2 commits"),
            (&[true], "1 commit"),
            (&[false], "1 save"),
            (&[false, false], "2 saves"),
            (&[false, true], "2 commits or saves"),
            (&[], "0 commits"),
        ] {
            assert_eq!(of(known), expected, "{known:?}");
        }
    }
}
