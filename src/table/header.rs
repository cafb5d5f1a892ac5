//! The header of a launch table, and how its rows are read.

use std::collections::{HashMap, HashSet};

use super::columns::{LaunchColumn, columns};
use super::row::{Fault, Row};

/// Why a cell is not used.
const TWICE: &str = "given twice for one launch with different values; neither is used";

/// The columns of a table with their positions, found by name in any order.
#[derive(Debug, Default)]
pub struct Header {
    /// Position in a record and column, in the order of the list.
    known: Vec<(usize, &'static LaunchColumn)>,
    /// Positions of titles that are given again, each with that of the first.
    again: Vec<(usize, usize)>,
    unknown: Vec<String>,
}

impl Header {
    /// Finds the columns among these titles.
    #[must_use]
    pub fn new(titles: &[String]) -> Self {
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut again = Vec::new();
        for (at, title) in titles.iter().enumerate() {
            let first = *places.entry(title).or_insert(at);
            if first != at {
                again.push((first, at));
            }
        }
        let at = |name: &str| places.get(name).copied();
        let known: Vec<_> =
            columns().iter().filter_map(|column| Some((at(&column.name)?, column))).collect();
        let taken: HashSet<usize> = known.iter().map(|(at, _)| *at).collect();
        let unknown = titles.iter().enumerate().filter(|(at, _)| !taken.contains(at));
        let unknown = unknown.map(|(_, title)| title.clone()).collect();
        Self { known, again, unknown }
    }

    /// Returns titles that are unknown or duplicate.
    #[must_use]
    pub fn unknown(&self) -> &[String] {
        &self.unknown
    }

    /// Adds a column with a title that is new, at a position behind the others.
    pub fn add(&mut self, title: &str, at: usize) {
        let all = columns();
        let Some(place) = all.iter().position(|column| column.name == title) else {
            self.unknown.push(title.to_owned());
            return;
        };
        let is_before =
            |known: &&LaunchColumn| all[..place].iter().any(|one| std::ptr::eq(one, *known));
        let next = self.known.partition_point(|(_, known)| is_before(known));
        self.known.insert(next, (at, &all[place]));
    }

    /// Reads a record into a row. Invalid cells are reported with their position and skipped;
    /// returns `true` if the row as a whole is usable.
    ///
    /// # Errors
    /// Returns the error that the caller makes of a fault.
    pub fn read<'c, E>(
        &self,
        row: &mut Row,
        cell: impl Fn(usize) -> &'c [u8],
        mut tell: impl FnMut(usize, Fault) -> Result<(), E>,
    ) -> Result<bool, E> {
        let mut values = std::mem::take(&mut row.values);
        values.clear();
        *row = Row { values, ..Row::default() };
        for (at, column) in self.known.iter().filter(|(at, _)| !cell(*at).is_empty()) {
            if !column.is_about(row) {
                continue;
            }
            let others = self.again.iter().filter(|(first, _)| first == at);
            let mut others = others.map(|(_, other)| cell(*other));
            if others.any(|other| !other.is_empty() && other != cell(*at)) {
                tell(*at, Fault::Cell(TWICE))?;
                continue;
            }
            let text = String::from_utf8_lossy(cell(*at));
            let read = column.form.read(&text).map_err(Fault::Cell);
            let set = read.and_then(|value| value.map_or(Ok(()), |value| column.set(row, value)));
            if let Err(fault) = set {
                tell(*at, fault)?;
                if matches!(fault, Fault::Row(_)) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_are_added_are_those_of_a_header() {
        let titles = ["duration_s", "mood", "kernel", "dram_bytes", "source", "zest", "launches"];
        let mut added = Header::default();
        for (at, title) in titles.iter().enumerate() {
            added.add(title, at);
        }
        let whole = Header::new(&titles.map(str::to_owned));
        let known = |header: &Header| -> Vec<(usize, String)> {
            header.known.iter().map(|(at, column)| (*at, column.name.clone())).collect()
        };
        assert_eq!(known(&added), known(&whole));
        assert_eq!(added.unknown(), whole.unknown());
    }
}
