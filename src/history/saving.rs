//! What a save reads of a store: all entries without their kernels, and wholly those that the newest ones
//! are compared with.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::batch::batches;
use super::outlier::like;
use super::store::{Placed, Store};

impl Store {
    /// Adds what was just saved under a name, and reads wholly what the newest entries of this name
    /// are compared with.
    pub fn complete(&mut self, placed: &[Placed], name: &str) {
        for placed in placed {
            self.add_file(placed.path.clone(), name);
        }
        self.sort();
        let all = batches(self.entries.iter().filter(|entry| entry.name == name));
        let mut wanted: BTreeSet<PathBuf> = BTreeSet::new();
        for (position, batch) in all.iter().enumerate() {
            if !all[position + 1..].iter().any(|later| later.is_like(batch)) {
                let before = like(batch, &all[..position]);
                let entries = before.iter().chain([batch]).flat_map(|batch| &batch.entries);
                wanted.extend(entries.map(|entry| entry.path.clone()));
            }
        }
        wanted.retain(|path| self.heads.contains(path));
        self.entries.retain(|entry| !wanted.contains(&entry.path));
        for path in wanted {
            self.heads.remove(&path);
            self.add_file(path, name);
        }
        self.sort();
    }
}

#[cfg(test)]
mod tests {
    use super::super::store::tests::save;
    use super::*;

    #[test]
    fn entries_lack_their_kernels_until_they_are_compared() {
        let folder = tempfile::tempdir().unwrap();
        for (day, seconds) in [("01", 0.5), ("02", 0.6), ("03", 0.7)] {
            let date = format!("2026-01-{day}T00:00:00Z");
            save(folder.path(), "default", "A", Some(day), &date, &[seconds]);
        }
        let whole = Store::open(folder.path()).unwrap();
        let mut heads = Store::open_or_new(folder.path()).unwrap();
        assert!(heads.entries().iter().all(|entry| entry.run.kernels.is_empty()));
        for (head, entry) in heads.entries().iter().zip(whole.entries()) {
            assert_eq!((&head.id, head.saved), (&entry.id, entry.saved));
            assert_eq!(head.run.fingerprint, entry.run.fingerprint);
            assert_eq!(head.run.origin, entry.run.origin);
        }
        heads.complete(&[], "another");
        assert_ne!(heads.entries(), whole.entries());
        heads.complete(&[], "default");
        assert_eq!(heads, whole);
    }
}
