//! Selects entries of a store to delete.

use super::batch::{Batch, batches};
use super::chosen::Filter;
use super::moment::Moment;
use super::store::{Entry, Store};

impl Store {
    /// Returns the entries that can be deleted: for each baseline, branch and device those beyond
    /// the newest `keep` commits, and of these only those saved more than `older_than` days before
    /// `now`. Either limit is optional. The newest commit of each and entries without a time are
    /// always kept.
    #[must_use]
    pub fn prunable(
        &self,
        filter: &Filter,
        keep: Option<usize>,
        older_than: Option<u64>,
        now: Moment,
    ) -> Vec<&Entry> {
        let all = batches(self.entries().iter().filter(|entry| filter.fits(entry)));
        let mut gone = Vec::new();
        for (position, batch) in all.iter().enumerate() {
            let is_same = |other: &&Batch| batch.is_like(other) && batch.branch() == other.branch();
            let newer = all[position + 1..].iter().filter(is_same).count();
            let is_beyond = newer >= keep.unwrap_or(1).max(1);
            for entry in batch.entries.iter().filter(|_| is_beyond) {
                let is_old = match older_than {
                    Some(days) => entry.saved.is_some_and(|saved| saved.is_older_than(days, now)),
                    None => keep.is_some(),
                };
                if is_old {
                    gone.push(*entry);
                }
            }
        }
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::super::store::tests::save;
    use super::*;

    #[test]
    fn pruning_leaves_the_newest_of_each() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        for day in 1..=5 {
            let (commit, saved) = (format!("c{day}"), format!("2026-11-{day:02}"));
            let seconds = f64::from(day);
            save(path, "default", "L4", Some(&commit), &saved, &[seconds, seconds + 0.5]);
        }
        save(path, "default", "H100", Some("c1"), "2026-11-01", &[0.5]);
        let store = Store::open(path).unwrap();
        let now = "2026-11-10".parse().unwrap();
        let gone = |keep, days| {
            let gone = store.prunable(&Filter::default(), keep, days, now);
            gone.iter().map(|entry| entry.run.origin.commit.clone().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(gone(Some(3), None), ["c1", "c1", "c2", "c2"]);
        assert_eq!(gone(None, Some(7)), ["c1", "c1", "c2", "c2"]);
        // Everything is old, and something stays.
        assert_eq!(gone(None, Some(1)).len(), 8);
        assert_eq!(gone(Some(0), None).len(), 8);
        assert_eq!(gone(Some(4), Some(1)), ["c1", "c1"]);
        assert!(gone(None, None).is_empty() && gone(Some(9), None).is_empty());
        let other = Filter { device: Some("H100".to_owned()), ..Filter::default() };
        assert!(store.prunable(&other, Some(1), None, now).is_empty());
    }
}
