//! Which rank a file is of, by its name or that of its folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::ingest::IngestError;

/// The files of one rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankFiles {
    /// Number of the rank.
    pub rank: u64,
    /// Its files in order: one, or those of its folder.
    pub files: Vec<PathBuf>,
}

/// Returns the number after the word `rank` in a name: `rank3`, `rank-03`, `rank=3`, `step_rank_3.csv`.
#[must_use]
pub fn rank_in(name: &str) -> Option<u64> {
    let name = name.to_ascii_lowercase();
    name.match_indices("rank").find_map(|(at, word)| {
        let is_word = !name[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
        let rest = name[at + word.len()..].trim_start_matches(['-', '_', '=', '.', ' ']);
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest[..end].parse().ok().filter(|_| is_word)
    })
}

/// Groups files by rank. A rank is named by the file (`rank3.csv`) or by its folder, whose files it has then
/// all (`rank=3/`). Where no name has the word `rank`, the only number in which the names differ is the rank; a file
/// that is alone is rank 0.
///
/// # Errors
/// [`IngestError`] if a file has no rank, or two files or folders are of one rank.
pub fn by_rank(files: &[PathBuf]) -> Result<Vec<RankFiles>, IngestError> {
    let numbered = numbers(files);
    let mut places: BTreeMap<u64, (PathBuf, Vec<PathBuf>)> = BTreeMap::new();
    for file in files {
        let (rank, place) = named(file)
            .or_else(|| Some((*numbered.get(file)?, file.clone())))
            .ok_or_else(|| {
                IngestError::new(file.display(), "no rank in the name of the file or its folder")
                    .help("call it such as rank-0.csv, or put the files of a rank into a folder rank=0")
            })?;
        let (first, known) = places.entry(rank).or_insert_with(|| (place.clone(), Vec::new()));
        if *first != place {
            let message = format!("rank {rank} twice: {} is of the same rank", first.display());
            return Err(IngestError::new(file.display(), message)
                .help("rename one; files of one rank go into one folder, ranks of another run get --run NAME"));
        }
        known.push(file.clone());
    }
    Ok(places.into_iter().map(|(rank, (_, files))| RankFiles { rank, files }).collect())
}

/// Returns the rank of a file, and the file or folder that is named after it.
fn named(file: &Path) -> Option<(u64, PathBuf)> {
    let mut place = Some(file);
    while let Some(path) = place {
        let name = path.file_name().map(|name| name.to_string_lossy());
        if let Some(rank) = name.and_then(|name| rank_in(&name)) {
            return Some((rank, path.to_owned()));
        }
        place = path.parent();
    }
    None
}

/// Returns the ranks of files that differ by one number.
fn numbers(files: &[PathBuf]) -> BTreeMap<&PathBuf, u64> {
    if let [file] = files {
        return BTreeMap::from([(file, 0)]);
    }
    let parts: Vec<Vec<String>> =
        files.iter().map(|file| pieces(&file.to_string_lossy())).collect();
    let Some(first) =
        parts.first().filter(|first| parts.iter().all(|one| one.len() == first.len()))
    else {
        return BTreeMap::new();
    };
    let differs = |at: &usize| parts.iter().any(|one| one[*at] != first[*at]);
    let mut differing = (0..first.len()).filter(differs);
    let (Some(at), None) = (differing.next(), differing.next()) else { return BTreeMap::new() };
    let ranks: Option<BTreeMap<&PathBuf, u64>> = files
        .iter()
        .zip(&parts)
        .map(|(file, pieces)| Some((file, pieces[at].parse().ok()?)))
        .collect();
    ranks.unwrap_or_default()
}

/// Splits a text into runs of digits and what lies between them.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut was_digit = None;
    for c in text.chars() {
        let is_digit = c.is_ascii_digit();
        match pieces.last_mut().filter(|_| was_digit == Some(is_digit)) {
            Some(last) => last.push(c),
            None => pieces.push(c.to_string()),
        }
        was_digit = Some(is_digit);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranks(files: &[&str]) -> Result<Vec<(u64, usize)>, String> {
        let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
        let found = by_rank(&files).map_err(|error| error.to_string())?;
        Ok(found.iter().map(|one| (one.rank, one.files.len())).collect())
    }

    #[test]
    fn a_rank_is_named_by_the_file_or_its_folder() {
        for (name, rank) in [
            ("rank3.csv", Some(3)),
            ("Rank-003.csv.gz", Some(3)),
            ("step_rank_12_of_16.csv", Some(12)),
            ("rank=7", Some(7)),
            ("frank3.csv", None),
            ("rank.csv", None),
            ("h100.csv", None),
        ] {
            assert_eq!(rank_in(name), rank, "{name}");
        }
        assert_eq!(
            ranks(&["a/rank=1/x.csv", "a/rank=1/y.csv", "a/rank0.csv"]),
            Ok(vec![(0, 1), (1, 2)])
        );
    }

    #[test]
    fn names_without_the_word_differ_by_one_number() {
        assert_eq!(ranks(&["run-2.csv", "run-10.csv"]), Ok(vec![(2, 1), (10, 1)]));
        assert_eq!(ranks(&["h100.csv"]), Ok(vec![(0, 1)]));
        assert!(ranks(&["a1-b1.csv", "a2-b2.csv"]).unwrap_err().contains("no rank in the name"));
        assert!(ranks(&["a.csv", "b.csv"]).is_err());
    }

    #[test]
    fn a_rank_given_twice_is_refused() {
        let error = ranks(&["x/rank0.csv", "y/rank0.csv"]).unwrap_err();
        assert_eq!(error, "y/rank0.csv: rank 0 twice: x/rank0.csv is of the same rank");
    }
}
