//! Rows that say what an earlier row said, but for their number and time: a training loop launches the same
//! kernels on the same shapes over and over.

use super::columns::{Column, Columns};
use super::known::Texts;
use crate::ingest::rows::Row;

/// Most different rows that are kept. In tests a few are many.
const MOST: usize = if cfg!(test) { 8 } else { 1 << 12 };

/// Most bytes of different rows that are kept.
const MOST_BYTES: usize = MOST << 9;

/// What was understood of rows, by the text of the cells that count.
pub(super) struct Repeats<T> {
    /// Columns that count, from each to another with none between them that does not.
    runs: Vec<(usize, usize)>,
    text: Vec<u8>,
    texts: Texts,
    items: Vec<Option<T>>,
    /// Rows that were known.
    again: usize,
    /// Whether rows do not repeat, or differ by more than the cells that count.
    is_off: bool,
}

impl<T> Repeats<T> {
    /// Rows of these columns, none known.
    pub(super) fn new(columns: &Columns) -> Self {
        let mut at: Vec<usize> = Column::ALL
            .iter()
            .filter(|column| !matches!(column, Column::Idx | Column::Time))
            .filter_map(|column| columns.at(*column))
            .collect();
        at.sort_unstable();
        let runs = at.chunk_by(|one, next| one + 1 == *next);
        let runs = runs.filter_map(|run| Some((*run.first()?, *run.last()?))).collect();
        let is_off = !columns.again().is_empty();
        let (text, texts, items) = (Vec::new(), Texts::default(), Vec::new());
        Self { runs, text, texts, items, again: 0, is_off }
    }

    /// The number of a row, equal for rows that differ in nothing that counts; `None` if it is not looked for.
    pub(super) fn number(&mut self, row: &Row) -> Option<usize> {
        if self.is_off {
            return None;
        }
        if self.items.len() >= MOST || self.texts.bytes() >= MOST_BYTES {
            self.is_off = self.again < self.items.len();
            (self.texts, self.items, self.again) = (Texts::default(), Vec::new(), 0);
        }
        self.text.clear();
        for (first, last) in &self.runs {
            row.append_run(*first, *last, &mut self.text)?;
        }
        Some(self.texts.number(&self.text))
    }

    /// What was understood of rows with this number.
    pub(super) fn get(&mut self, number: usize) -> Option<&T> {
        let known = self.items.get(number)?.as_ref();
        self.again += usize::from(known.is_some());
        known
    }

    /// Keeps what was understood of a row, if it is the same for all with its number.
    pub(super) fn keep(&mut self, number: usize, item: Option<T>) {
        if self.items.len() <= number {
            self.items.resize_with(number + 1, || None);
        }
        self.items[number] = item;
    }
}
