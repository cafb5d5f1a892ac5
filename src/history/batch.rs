//! Groups entries that belong together: repeated runs of one commit, or runs saved at once.

use super::moment::Moment;
use super::store::Entry;

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

    /// Returns `true` if an entry belongs to it.
    fn holds(&self, entry: &Entry) -> bool {
        self.first().is_some_and(|first| {
            first.name == entry.name
                && first.run.device_names() == entry.run.device_names()
                && first.run.origin.commit == entry.run.origin.commit
                && (first.run.origin.commit.is_some()
                    || first.run.origin.saved == entry.run.origin.saved)
        })
    }
}

/// Groups entries by commit, in the order in which the first run of each was saved.
///
/// A commit that was measured again later keeps its position, because the order is that of the
/// code.
#[must_use]
pub fn batches<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Vec<Batch<'a>> {
    let mut batches: Vec<Batch<'a>> = Vec::new();
    for entry in entries {
        // The batch of an entry is nearly always the last one.
        match batches.iter_mut().rev().find(|batch| batch.holds(entry)) {
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
    }
}
