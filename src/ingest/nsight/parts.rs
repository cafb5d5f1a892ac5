//! Launches whose rows do not stand together: an export that was sorted, or printed in parts.
//!
//! What is gathered of each launch is kept until it is clear that its rows end with the next launch's:
//! its quantities follow from all of its metrics, not from those of one part.

use hashbrown::HashMap;

/// Values kept while no launch has come again; longer exports are taken to have theirs together.
const MOST_UNTIL_ONE_RETURNS: usize = 1_000_000;

/// Values kept at all: 320 MB.
const MOST: usize = 40_000_000;

/// Launches with one number that are looked at for the one that rows are of. A file with more of them, in which their rows
/// were sorted too, is not known.
const MOST_ALIKE: usize = 256;

/// A metric of the file with its value, in the order of the rows.
pub(super) type Cell = (u32, f64);

/// What rows of a launch that came before are to those that come now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    /// None of them came before.
    New,
    /// They are another part of the launch in this row.
    Part(usize),
    /// They repeat this launch, in another table or with another value: what comes again is compared run by run.
    Again(u32),
    /// They may be a part of a launch of which too much came since.
    Lost,
}

/// Where the values of a part are, and of which metrics they are.
#[derive(Debug, Clone, Copy)]
struct Part {
    layout: u32,
    start: u32,
}

/// The launches of a file by number, with what was gathered of them.
#[derive(Default)]
pub(super) struct Parts {
    by_key: HashMap<(u32, u32), u32>,
    /// The launch before with the number of this one.
    earlier: HashMap<u32, u32>,
    /// The first part of each launch; launches have consecutive rows.
    first: Vec<Part>,
    first_row: usize,
    /// The further parts of launches that came again.
    more: HashMap<u32, Vec<Part>>,
    layouts: Vec<Vec<u32>>,
    layout_ids: HashMap<Vec<u32>, u32>,
    values: Vec<f64>,
    is_dropped: bool,
    /// Launches before the header that came last.
    before: u32,
    /// Launches that repeat the number of another, with that one.
    again: Vec<[u32; 2]>,
}

impl Parts {
    /// Whether a launch with this key came before.
    pub(super) fn has(&self, key: (u32, u32)) -> bool {
        self.by_key.contains_key(&key)
    }

    /// Notes a header: what follows may be another run.
    pub(super) fn turn(&mut self) {
        self.before = u32::try_from(self.first.len()).unwrap_or(u32::MAX);
    }

    /// What the launch with this key is to these cells; `is_same` says whether a row has its name, grid and device.
    pub(super) fn known(
        &self,
        key: (u32, u32),
        cells: &[Cell],
        is_same: impl Fn(usize) -> bool,
        contradicts: impl FnOnce(usize) -> bool,
    ) -> Known {
        let last = self.by_key.get(&key).copied();
        let alike = std::iter::successors(last, |at| self.earlier.get(at).copied());
        let mut alike = alike.take(MOST_ALIKE);
        let Some(at) = alike.find(|at| is_same(self.first_row + *at as usize)) else {
            return Known::New;
        };
        let row = self.first_row + at as usize;
        // One row that comes twice among sorted ones is a copy of a row, not another launch.
        let is_whole = at < self.before || cells.len() > 1;
        if self.is_dropped {
            let known = self.first.get(at as usize).map(|part| &self.layouts[part.layout as usize]);
            let shares = cells.iter().any(|(metric, _)| known.is_some_and(|k| k.contains(metric)));
            let repeats = is_whole
                && cells.iter().all(|(metric, _)| known.is_some_and(|k| k.contains(metric)));
            return match (shares, contradicts(row) || repeats) {
                (true, true) => Known::Again(at),
                (true, false) => Known::Part(row),
                (false, _) => Known::Lost,
            };
        }
        let other =
            |(metric, value): &Cell| self.value(at, *metric).is_some_and(|one| one != *value);
        let repeats = is_whole
            && !cells.is_empty()
            && cells.iter().all(|(metric, _)| self.value(at, *metric).is_some());
        if repeats || cells.iter().any(other) { Known::Again(at) } else { Known::Part(row) }
    }

    /// Keeps the first part of a launch that was appended in this row, with what was known of its key.
    pub(super) fn keep(&mut self, key: (u32, u32), row: usize, cells: &[Cell], known: Known) {
        if self.first.is_empty() {
            self.first_row = row;
        }
        let part = self.part(cells);
        let at = u32::try_from(self.first.len()).unwrap_or(u32::MAX);
        self.first.push(part);
        if let Some(before) = self.by_key.insert(key, at) {
            self.earlier.insert(at, before);
        }
        if let Known::Again(known) = known {
            self.again.push([known, at]);
        }
        if self.more.is_empty() && self.values.len() > MOST_UNTIL_ONE_RETURNS {
            self.is_dropped = true;
            self.values = Vec::new();
        }
    }

    /// Keeps a further part; false if there is no room for it.
    pub(super) fn add(&mut self, row: usize, cells: &[Cell]) -> bool {
        if self.is_dropped {
            return true;
        }
        let at = u32::try_from(row - self.first_row).unwrap_or(u32::MAX);
        let new: Vec<Cell> =
            cells.iter().filter(|(metric, _)| self.value(at, *metric).is_none()).copied().collect();
        if !new.is_empty() {
            let part = self.part(&new);
            self.more.entry(at).or_default().push(part);
        }
        self.values.len() <= MOST
    }

    /// Whether no values are kept: launches are taken to have their rows together.
    pub(super) fn is_dropped(&self) -> bool {
        self.is_dropped
    }

    /// The rows of launches that came in parts, in order.
    pub(super) fn in_parts(&self) -> Vec<usize> {
        let mut rows: Vec<usize> =
            self.more.keys().map(|at| self.first_row + *at as usize).collect();
        rows.sort_unstable();
        rows
    }

    /// The values of the launch in this row, of all its parts.
    pub(super) fn of(&self, row: usize) -> Vec<Cell> {
        self.cells(u32::try_from(row - self.first_row).unwrap_or(u32::MAX)).collect()
    }

    /// Whether launches came in parts and again, so that a part may have gone to the wrong one.
    pub(super) fn are_mixed(&self) -> bool {
        let count = |at: u32| self.cells(at).count();
        !self.more.is_empty() && self.again.iter().any(|[one, two]| count(*one) != count(*two))
    }

    fn part(&mut self, cells: &[Cell]) -> Part {
        let metrics = cells.iter().map(|(metric, _)| *metric);
        let is_last =
            |layout: &u32| metrics.clone().eq(self.layouts[*layout as usize].iter().copied());
        let last = self.first.last().map(|part| part.layout);
        let layout = last.filter(is_last).unwrap_or_else(|| {
            let metrics: Vec<u32> = metrics.collect();
            let next = u32::try_from(self.layouts.len()).unwrap_or(u32::MAX);
            *self.layout_ids.entry(metrics).or_insert_with_key(|metrics| {
                self.layouts.push(metrics.clone());
                next
            })
        });
        let start = u32::try_from(self.values.len()).unwrap_or(u32::MAX);
        if !self.is_dropped {
            self.values.extend(cells.iter().map(|(_, value)| *value));
        }
        Part { layout, start }
    }

    fn cells(&self, at: u32) -> impl Iterator<Item = Cell> + '_ {
        let more = self.more.get(&at).into_iter().flatten();
        self.first.get(at as usize).into_iter().chain(more).flat_map(move |part| {
            let values = self.values.get(part.start as usize..).unwrap_or_default();
            self.layouts[part.layout as usize].iter().copied().zip(values.iter().copied())
        })
    }

    fn value(&self, at: u32, metric: u32) -> Option<f64> {
        self.cells(at).find(|(known, _)| *known == metric).map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(parts: &Parts, id: u32, cells: &[Cell]) -> Known {
        parts.known((1, id), cells, |_| true, |_| true)
    }

    #[test]
    fn a_part_has_other_metrics_and_another_run_other_values() {
        let mut parts = Parts::default();
        parts.keep((1, 0), 7, &[(0, 1.0), (1, 2.0)], Known::New);
        parts.keep((1, 1), 8, &[(0, 3.0)], Known::New);
        assert_eq!(known(&parts, 2, &[(0, 1.0)]), Known::New);
        assert_eq!(known(&parts, 0, &[(2, 5.0)]), Known::Part(7));
        assert_eq!(known(&parts, 0, &[(1, 2.0), (2, 5.0)]), Known::Part(7));
        assert_eq!(known(&parts, 0, &[(1, 2.5), (2, 5.0)]), Known::Again(0));
        // The same again is another run, or a copy of this one; a single row may only be there twice.
        assert_eq!(known(&parts, 0, &[(0, 1.0), (1, 2.0)]), Known::Again(0));
        assert_eq!(known(&parts, 1, &[(0, 3.0)]), Known::Part(8));
        assert!(parts.add(7, &[(1, 2.0), (2, 5.0)]));
        assert_eq!(parts.cells(0).collect::<Vec<_>>(), [(0, 1.0), (1, 2.0), (2, 5.0)]);
        assert_eq!(known(&parts, 0, &[(2, 6.0)]), Known::Again(0));
        assert_eq!(parts.in_parts(), [7]);
        parts.turn();
        assert_eq!(known(&parts, 1, &[(0, 3.0)]), Known::Again(1));
        parts.keep((1, 0), 9, &[(0, 1.0), (1, 2.0), (2, 6.0)], Known::Again(0));
        assert!(!parts.are_mixed());
        parts.keep((1, 1), 10, &[(1, 4.0)], Known::Again(1));
        parts.add(10, &[(3, 4.0)]);
        assert!(parts.are_mixed());
    }

    #[test]
    fn what_was_let_go_is_not_guessed() {
        let mut parts = Parts::default();
        parts.keep((1, 0), 0, &[(0, 1.0)], Known::New);
        (parts.is_dropped, parts.values) = (true, Vec::new());
        assert_eq!(known(&parts, 0, &[(0, 2.0)]), Known::Again(0));
        assert_eq!(known(&parts, 0, &[(1, 2.0)]), Known::Lost);
        assert_eq!(parts.known((1, 0), &[(0, 1.0)], |_| true, |_| false), Known::Part(0));
    }

    fn listed(rows: &[(&str, &str, &str, &str)]) -> crate::model::Profile {
        let mut text = "ID,Process ID,Process Name,Host Name,Kernel Name,Section Name,Metric Name,\
                        Metric Unit,Metric Value\n"
            .to_owned();
        for (id, metric, unit, value) in rows {
            let section = "Command line profiler metrics";
            text.push_str(&format!("{id},1,a,h,k,{section},{metric},{unit},{value}\n"));
        }
        let options = crate::ingest::Options::default();
        crate::ingest::read_text("list.csv", text.leak(), &options).unwrap()
    }

    const TIME: &str = "gpu__time_duration.sum";
    const READ: &str = "dram__bytes_read.sum";
    const WRITE: &str = "dram__bytes_write.sum";

    /// Sorted by metric: 30 + 12 bytes are what the launch moves, not one of them.
    #[test]
    fn a_launch_whose_rows_are_apart_is_put_together() {
        use crate::model::Quantity::{DramBytes, Duration};
        let found = listed(&[
            ("0", READ, "byte", "30"),
            ("1", READ, "byte", "50"),
            ("0", WRITE, "byte", "12"),
            ("1", WRITE, "byte", "14"),
            ("0", TIME, "ns", "500"),
            ("1", TIME, "ns", "700"),
        ]);
        let values: Vec<_> =
            found.iter().map(|one| (one.value(Duration), one.value(DramBytes))).collect();
        assert_eq!(values, [(Some(500.0 * 1e-9), Some(42.0)), (Some(700.0 * 1e-9), Some(64.0))]);
        assert_eq!(found.sources[0].launches, 2);
        assert!(found.sources[0].clues[0].starts_with("the rows of 2 launches"));
    }

    #[test]
    fn a_metric_with_two_values_is_left_out_and_named() {
        let found = listed(&[
            ("0", TIME, "ns", "500"),
            ("0", READ, "byte", "30"),
            ("0", READ, "byte", "30"),
            ("0", TIME, "us", "0.5"),
            ("1", TIME, "ns", "500"),
            ("1", TIME, "us", "0.7"),
        ]);
        assert_eq!(found.launch(0).value(crate::model::Quantity::Duration), Some(500.0 * 1e-9));
        assert_eq!(found.launch(1).value(crate::model::Quantity::Duration), None);
        let skips = &found.sources[0].skips;
        assert_eq!((skips.count, skips.first[0].line, skips.first[0].text.as_str()), (1, 7, "0.7"));
    }
}
