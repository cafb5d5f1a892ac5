//! Rows that say what an earlier row said, but for their number and time: a training loop launches the same
//! kernels on the same shapes over and over.

use super::columns::{Column, Columns};
use super::known::Texts;
use crate::ingest::rows::Row;

/// Most different rows that are kept. In tests a few are many.
const MOST: usize = if cfg!(test) { 8 } else { 1 << 12 };

/// Most bytes of different rows that are kept.
const MOST_BYTES: usize = MOST << 9;

/// Rows that were read, by the text of the cells that count.
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

    /// The row with this number, if it is kept.
    pub(super) fn get(&mut self, number: usize) -> Option<&T> {
        let known = self.items.get(number)?.as_ref();
        self.again += usize::from(known.is_some());
        known
    }

    /// Keeps a row with this number, if others with it are read alike.
    pub(super) fn keep(&mut self, number: usize, item: Option<T>) {
        if self.items.len() <= number {
            self.items.resize_with(number + 1, || None);
        }
        self.items[number] = item;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::ingest::{Options, read_text};
    use crate::model::{Profile, Quantity};

    proptest! {
        /// Rows that repeat others, but for number and time, are read as if each were alone.
        #[test]
        fn a_row_that_repeats_another_is_read_as_if_alone(
            table in prop::collection::vec((0_usize..15, any::<bool>()), 1..60),
        ) {
            let row = |(number, (which, bare)): (usize, (usize, bool))| {
                let kernel = ["volta_sgemm_128x64_tn", "k", ""][which % 3];
                let (op, params) = [
                    ("linear", "M=8,N=4,K=16,fp32,"),
                    ("linear", "M=8,N=4,K=32,fp32,"),
                    ("__mul__", "na"),
                    ("relu", "T=[(8,)],['float32']"),
                    ("mul,", "\"x\""),
                ][which % 5];
                let stream = if which == 7 { "x" } else { "7" };
                let flops = ["100", "", "0", "1.5", "-3"][which / 3];
                let cells = [&number.to_string(), "0", "torch", op, kernel, params, "1500", "0", stream, "8,2,1", "256,1,1", flops, "800"];
                if bare && which % 5 == 2 {
                    cells.map(|cell| if cell.contains(',') { format!("\"{cell}\"") } else { format!(" {cell} ") }).join(",")
                } else {
                    format!("\"{}\"", cells.join("\",\""))
                }
            };
            let header = "\"Idx\",\"Sub\",\"Module\",\"Op\",\"Kernel\",\"Params\",\"Sil(ns)\",\"Device\",\"Stream\",\"Grid\",\"Block\",\"FLOPs\",\"Bytes\"";
            let read = |rows: &[String]| {
                let text = format!("{header}\n{}\n", rows.join("\n"));
                read_text("table.csv", &text, &Options::default()).unwrap()
            };
            let read_as = |profile: &Profile, row: usize| {
                let launch = profile.launch(row);
                let values: Vec<_> = Quantity::all()
                    .filter_map(|quantity| launch.get(quantity).map(|(value, origin)| (quantity, value, origin.clone())))
                    .collect();
                let head = launch.head;
                (launch.kernel().to_owned(), profile.names.get(head.operator).to_owned(), head.id, head.shape, head.stream, values)
            };
            let rows: Vec<String> = table.into_iter().enumerate().map(row).collect();
            let all = read(&rows);
            prop_assert_eq!(all.launches.len(), rows.len());
            let mut skipped = 0;
            for (at, row) in rows.iter().enumerate() {
                let alone = read(std::slice::from_ref(row));
                prop_assert_eq!(read_as(&all, at), read_as(&alone, 0));
                skipped += alone.sources[0].skips.count;
            }
            prop_assert_eq!(all.sources[0].skips.count, skipped);
        }
    }
}
