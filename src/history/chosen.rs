//! Selects entries of a store: by baseline, branch and device, or by a word.

use std::collections::HashSet;

use super::batch::batches;
use super::distinct::distinct;
use super::error::HistoryError;
use super::store::{Entry, Store};

/// Number of ambiguous entries that an error lists.
const NAMED: usize = 5;

/// Selects entries; all given criteria must match.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// The baseline.
    pub name: Option<String>,
    /// The branch.
    pub branch: Option<String>,
    /// A device that the run used, compared without case.
    pub device: Option<String>,
    /// The commit, or the beginning of its hash.
    pub commit: Option<String>,
}

impl Filter {
    /// Returns `true` if an entry matches.
    #[must_use]
    pub fn fits(&self, entry: &Entry) -> bool {
        self.name.as_ref().is_none_or(|name| *name == entry.name)
            && self
                .branch
                .as_ref()
                .is_none_or(|branch| entry.run.origin.branch.as_ref() == Some(branch))
            && self.commit.as_ref().is_none_or(|commit| {
                entry.run.origin.commit.as_ref().is_some_and(|own| own.starts_with(commit))
            })
            && self.device.as_ref().is_none_or(|device| {
                entry.run.device_names().iter().any(|name| name.eq_ignore_ascii_case(device))
            })
    }
}

impl Store {
    /// Returns the entries of an anchor: the oldest commit that fits the filter for the word `oldest`, else
    /// what [`Store::find`] finds for `commit`, which the word names in the repository, or for the word itself.
    ///
    /// # Errors
    /// [`HistoryError::NotFound`] if nothing fits.
    pub fn anchor(
        &self,
        word: &str,
        commit: Option<&str>,
        filter: &Filter,
    ) -> Result<Vec<&Entry>, HistoryError> {
        if word == "oldest" {
            let fitting = self.entries().iter().filter(|entry| filter.fits(entry));
            let oldest = batches(fitting).into_iter().next().map(|batch| batch.entries);
            return oldest.ok_or_else(|| HistoryError::NotFound { message: self.nothing(filter) });
        }
        let tagged = commit.and_then(|commit| self.find(commit).ok());
        tagged.map_or_else(|| self.find(word), Ok)
    }

    /// Finds the entries for a word: `latest`, or the beginning of an entry's name, commit or
    /// fingerprint. Several are returned only if they are of one commit.
    ///
    /// # Errors
    /// [`HistoryError::NotFound`] if none matches, or several that do not belong together.
    pub fn find(&self, word: &str) -> Result<Vec<&Entry>, HistoryError> {
        if word == "latest" {
            return self.baseline(&Filter::default());
        }
        let endings = [".json", ".parquet"];
        let word = endings.iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word);
        let is_exact = |entry: &&Entry| {
            entry.id == word || word.split_once('/') == Some((&entry.name, &entry.id))
        };
        if let Some(entry) = self.entries().iter().find(is_exact) {
            return Ok(vec![entry]);
        }
        let begins = |text: &str| !word.is_empty() && text.starts_with(word);
        let found: Vec<&Entry> = self
            .entries()
            .iter()
            .filter(|entry| {
                begins(&entry.id)
                    || begins(&format!("{}/{}", entry.name, entry.id))
                    || entry.run.origin.commit.as_deref().is_some_and(begins)
                    || begins(&entry.run.fingerprint)
            })
            .collect();
        let commits = found.iter().map(|entry| (&entry.name, &entry.run.origin.commit));
        match (found.len(), distinct(commits).as_slice()) {
            (0, _) => Err(HistoryError::NotFound { message: format!("no entry named {word:?}") }),
            (1, _) | (_, [(_, Some(_))]) => Ok(found),
            (count, _) => {
                let names: Vec<&str> = found.iter().take(NAMED).map(|entry| &*entry.id).collect();
                let more = if count > names.len() { ", …" } else { "" };
                let names = names.join(", ");
                let message = format!(
                    "{word:?} is ambiguous; it matches {count} entries: \
                    {names}{more}"
                );
                Err(HistoryError::NotFound { message })
            }
        }
    }

    /// Returns the newest matching runs: all of the latest commit, or all saved together if no
    /// commit is known. If the store has several baselines, the filter must name one.
    ///
    /// # Errors
    /// [`HistoryError::NotFound`] if nothing matches, [`HistoryError::Several`] if one must be named.
    pub fn baseline(&self, filter: &Filter) -> Result<Vec<&Entry>, HistoryError> {
        let fitting: Vec<&Entry> =
            self.entries().iter().filter(|entry| filter.fits(entry)).collect();
        let names = distinct(fitting.iter().map(|entry| entry.name.as_str()));
        if names.len() > 1 {
            let names = names.into_iter().map(str::to_owned).collect();
            return Err(HistoryError::Several { names });
        }
        let batches = batches(fitting);
        batches
            .into_iter()
            .next_back()
            .map(|batch| batch.entries)
            .ok_or_else(|| HistoryError::NotFound { message: self.nothing(filter) })
    }

    /// Returns the first commit of a lineage that has matching runs, with its position from 0.
    #[must_use]
    pub fn nearest<'a>(&self, filter: &Filter, lineage: &'a [String]) -> Option<(usize, &'a str)> {
        let fitting: HashSet<&str> = self
            .entries()
            .iter()
            .filter(|entry| filter.fits(entry))
            .filter_map(|entry| entry.run.origin.commit.as_deref())
            .collect();
        let mut lineage = lineage.iter().map(String::as_str).enumerate();
        lineage.find(|(_, commit)| fitting.contains(commit))
    }

    /// Returns the branches of the matching runs, each once.
    #[must_use]
    pub fn branches(&self, filter: &Filter) -> Vec<String> {
        let fitting = self.entries().iter().filter(|entry| filter.fits(entry));
        distinct(fitting.filter_map(|entry| entry.run.origin.branch.clone()))
    }

    /// Explains why nothing matches a filter: what was requested, and what exists.
    #[must_use]
    pub fn nothing(&self, filter: &Filter) -> String {
        if self.entries().is_empty() {
            return format!("no run is saved in {} yet", self.folder().display());
        }
        let devices = self.entries().iter().flat_map(|entry| entry.run.device_names());
        let branches = self.entries().iter().filter_map(|one| one.run.origin.branch.as_deref());
        let commits = self.entries().iter().filter_map(Entry::short_commit);
        let any = Filter::default;
        let of_name = Filter { name: filter.name.clone(), ..any() };
        let of_branch = Filter { branch: filter.branch.clone(), ..any() };
        let on_device = Filter { device: filter.device.clone(), ..any() };
        let of_commit = Filter { commit: filter.commit.clone(), ..any() };
        let parts = [
            ("baseline", &filter.name, self.names(), of_name),
            ("branch", &filter.branch, distinct(branches), of_branch),
            ("device", &filter.device, distinct(devices), on_device),
            ("commit", &filter.commit, distinct(commits), of_commit),
        ];
        let asked = parts.into_iter().filter_map(|(what, asked, there, alone)| {
            let is_there = self.entries().iter().any(|entry| alone.fits(entry));
            let there = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
            let asked = asked.as_ref()?;
            Some((is_there, format!("{what} {asked:?} (available: {there})")))
        });
        let mut asked: Vec<(bool, String)> = asked.collect();
        // What no run has at all is the reason; without such, no run has all of it together.
        if asked.iter().any(|(is_there, _)| !is_there) {
            asked.retain(|(is_there, _)| !is_there);
        }
        let asked: Vec<String> = asked.into_iter().map(|(_, asked)| asked).collect();
        format!("no run in {} is of {}", self.folder().display(), asked.join(" and "))
    }
}

#[cfg(test)]
mod tests {
    use super::super::store::tests::save;
    use super::*;

    #[test]
    fn the_baseline_is_every_run_of_the_latest_commit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        save(path, "default", "L4", Some("aaaa"), "2026-11-01", &[1.0, 1.1]);
        save(path, "default", "L4", Some("bbbb"), "2026-11-02", &[1.2, 1.3]);
        save(path, "default", "H100", Some("cccc"), "2026-11-03", &[0.5]);
        save(path, "default", "L4", Some("bbbb"), "2026-11-04", &[1.4]);
        let store = Store::open(path).unwrap();
        let of = |device: Option<&str>, branch: Option<&str>| {
            let filter = Filter {
                device: device.map(str::to_owned),
                branch: branch.map(str::to_owned),
                ..Filter::default()
            };
            store.baseline(&filter).map(|entries| {
                entries.iter().map(|entry| entry.run.measured_s.get()).collect::<Vec<_>>()
            })
        };
        let mut latest = of(Some("l4"), Some("main")).unwrap();
        latest.sort_by(f64::total_cmp);
        assert_eq!(latest, [1.2, 1.3, 1.4]);
        assert_eq!(of(None, None).unwrap(), [0.5]);
        let error = of(Some("A100"), None).unwrap_err().to_string();
        assert!(error.contains("\"A100\" (available: L4, H100)"), "{error}");
        let error = of(Some("L4"), Some("dev")).unwrap_err().to_string();
        let expected =
            format!("no run in {} is of branch \"dev\" (available: main)", path.display());
        assert_eq!(error, expected, "the device is there");
        save(path, "other", "L4", None, "2026-11-05", &[1.0]);
        let store = Store::open(path).unwrap();
        let error = store.baseline(&Filter::default()).unwrap_err().to_string();
        assert!(error.ends_with("several baselines: default, other"), "{error}");
    }

    #[test]
    fn entries_are_found_by_what_they_begin_with() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        save(path, "default", "L4", Some("aaaa1"), "2026-11-01", &[1.0, 1.1]);
        save(path, "default", "L4", Some("aaaa2"), "2026-11-02", &[1.2]);
        save(path, "default", "L4", None, "2026-11-03", &[1.3, 1.4]);
        let store = Store::open(path).unwrap();
        assert_eq!(store.find("aaaa1").unwrap().len(), 2);
        assert_eq!(store.find("2026-11-02").unwrap().len(), 1);
        assert_eq!(store.find("latest").unwrap().len(), 2);
        let id = format!("{}.json", store.entries()[0].id);
        assert_eq!(store.find(&id).unwrap().len(), 1);
        assert!(store.find("aaaa").unwrap_err().to_string().contains("matches 3 entries"));
        assert!(store.find("2026-11-03").is_err());
        assert!(store.find("").is_err() && store.find("zzz").is_err());
    }
}
