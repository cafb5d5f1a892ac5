//! What of a store is read wholly: a save and a gate read all entries without their kernels, and then those that they
//! compare.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::batch::{Batch, batches};
use super::chosen::Filter;
use super::error::HistoryError;
use super::outlier::like;
use super::store::{Entry, Placed, Store};

/// Files of entries, each with the name of its baseline.
type Wanted = BTreeMap<PathBuf, String>;

impl Store {
    /// Adds what was just saved under a name, and reads wholly what the newest entries of this name
    /// are compared with.
    pub fn complete(&mut self, placed: &[Placed], name: &str) {
        for placed in placed {
            self.add_file(placed.path.clone(), name);
        }
        self.sort();
        let all = batches(self.entries.iter().filter(|entry| entry.name == name));
        let mut needed = Wanted::new();
        for (position, batch) in all.iter().enumerate() {
            if !all[position + 1..].iter().any(|later| later.is_like(batch)) {
                needed.extend(with_earlier(batch, &all[..position]));
            }
        }
        needed.retain(|path, _| self.heads.contains(path));
        self.read_wholly(needed);
    }

    /// Reads wholly what [`Store::baseline`] returns for a filter, and the earlier commits that show whether it is an
    /// outlier. A file that cannot be read is in [`Store::unreadable`] from then on.
    ///
    /// # Errors
    /// As [`Store::baseline`].
    pub fn complete_baseline(&mut self, filter: &Filter) -> Result<(), HistoryError> {
        self.complete_chosen(|store| {
            store.baseline(filter)?;
            let all = batches(store.entries.iter().filter(|entry| filter.fits(entry)));
            let needed = all.split_last().map(|(last, before)| with_earlier(last, before));
            Ok(needed.unwrap_or_default())
        })
    }

    /// Reads wholly what [`Store::anchor`] returns for these arguments.
    ///
    /// # Errors
    /// As [`Store::anchor`].
    pub fn complete_anchor(
        &mut self,
        word: &str,
        commit: Option<&str>,
        filter: &Filter,
    ) -> Result<(), HistoryError> {
        self.complete_chosen(|store| {
            let entries = store.anchor(word, commit, filter)?;
            Ok(entries.into_iter().map(file).collect())
        })
    }

    /// Reads wholly what is chosen. What cannot be read or was pruned meanwhile does not count as an entry any more, and another one may
    /// take its place.
    fn complete_chosen(
        &mut self,
        choose: impl Fn(&Self) -> Result<Wanted, HistoryError>,
    ) -> Result<(), HistoryError> {
        loop {
            let mut needed = choose(self)?;
            needed.retain(|path, _| self.heads.contains(path));
            if needed.is_empty() {
                return Ok(());
            }
            self.read_wholly(needed);
        }
    }

    fn read_wholly(&mut self, needed: Wanted) {
        self.entries.retain(|entry| !needed.contains_key(&entry.path));
        for (path, name) in needed {
            self.heads.remove(&path);
            self.add_file(path, &name);
        }
        self.sort();
    }
}

/// Returns the files of a batch and of those before it that it is compared with.
fn with_earlier(batch: &Batch<'_>, before: &[Batch<'_>]) -> Wanted {
    let before = like(batch, before);
    before.iter().chain([batch]).flat_map(|batch| &batch.entries).map(|entry| file(entry)).collect()
}

fn file(entry: &Entry) -> (PathBuf, String) {
    (entry.path.clone(), entry.name.clone())
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

    /// Fifty-three commits on one device and one on another: a gate needs the newest of a device and the fifty before it.
    #[test]
    fn a_gate_reads_the_newest_commit_and_those_before_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        for commit in 0..53 {
            let saved = format!("2026-{:02}-{:02}", 1 + commit / 28, 1 + commit % 28);
            let seconds = 1.0 + f64::from(commit) / 1000.0;
            save(path, "default", "A", Some(&format!("c{commit:02}")), &saved, &[seconds]);
        }
        save(path, "default", "B", Some("c52"), "2026-03-01", &[0.5]);
        let on = |device: &str| Filter { device: Some(device.to_owned()), ..Filter::default() };
        let lacking = |store: &Store| {
            let heads = store.entries().iter().filter(|entry| entry.run.kernels.is_empty());
            heads.map(|entry| entry.run.origin.commit.clone().unwrap()).collect::<Vec<_>>()
        };
        let mut store = Store::open_heads(path).unwrap();
        assert_eq!(lacking(&store).len(), 54);
        store.complete_baseline(&on("A")).unwrap();
        assert_eq!(lacking(&store), ["c00", "c01", "c52"]);
        let whole = Store::open(path).unwrap();
        assert_eq!(store.baseline(&on("A")).unwrap(), whole.baseline(&on("A")).unwrap());
        store.complete_anchor("oldest", None, &on("A")).unwrap();
        assert_eq!(lacking(&store), ["c01", "c52"]);
        assert!(store.complete_baseline(&on("C")).is_err());
        store.complete_anchor("c01", None, &on("A")).unwrap();
        store.complete_baseline(&on("B")).unwrap();
        assert_eq!(store, whole);
    }

    /// A damaged kernel is seen where its document is needed: then it is unreadable, and what is left is chosen.
    #[test]
    fn damage_is_seen_where_a_document_is_read_wholly() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        for (day, seconds) in [("01", 0.5), ("02", 0.75)] {
            let date = format!("2026-01-{day}T00:00:00Z");
            save(path, "default", "A", Some(day), &date, &[seconds]);
        }
        let newest = Store::open(path).unwrap().entries()[1].path.clone();
        let text = std::fs::read_to_string(&newest).unwrap();
        let damaged = text.replace("\"judged_s\": 0.75", "\"judged_s\": 0.76");
        assert_ne!(damaged, text);
        std::fs::write(&newest, damaged).unwrap();
        let mut store = Store::open_heads(path).unwrap();
        assert!(store.unreadable().is_empty() && store.check(None).is_ok());
        store.complete_baseline(&Filter::default()).unwrap();
        assert_eq!(store.unreadable()[0].path, newest);
        assert!(store.check(Some("default")).is_err() && store.check(Some("other")).is_ok());
        let commits: Vec<_> = store.entries().iter().map(|one| &one.run.origin.commit).collect();
        assert_eq!(commits, [&Some("01".to_owned())]);
        assert!(!store.entries()[0].run.kernels.is_empty());
    }
}
