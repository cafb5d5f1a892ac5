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
    use crate::model::{Head, Profile, Quantity};

    /// What may stand in each column but number and time; of bare rows commas are in quotes, and the rest not.
    const CELLS: [(&str, [&str; 3]); 14] = [
        ("Direction", ["fprop", "bprop", ""]),
        ("Sub", ["0", "1", "x"]),
        ("Module", ["torch", "torch.nn.functional", ""]),
        ("Op", ["linear", "__mul__", "tanh"]),
        ("Kernel", ["volta_sgemm_128x64_tn", "k", ""]),
        ("KernelLName", ["", "void k<float>(int)", ""]),
        ("Params", ["M=8,N=4,K=16,fp32,", "T=[(8,)],['float32']", "na"]),
        ("TC", ["0", "1", "-"]),
        ("Device", ["0", "1", ""]),
        ("Stream", ["7", "8", "x"]),
        ("Grid", ["8,2,1", "4,1,1", "8"]),
        ("Block", ["256,1,1", "64,1,1", ""]),
        ("FLOPs", ["100", "1.5", "-3"]),
        ("Bytes", ["800", "0", "x"]),
    ];

    /// A row with its number: which cell stands in each column, and whether all are in quotes.
    fn row(number: usize, cells: &[usize], bare: bool) -> String {
        let cells = cells.iter().zip(CELLS).map(|(which, (_, texts))| texts[*which]);
        let number = number.to_string();
        let cells: Vec<String> = [number.as_str(), "1500"]
            .into_iter()
            .chain(cells)
            .map(|cell| {
                let is_bare = bare && !cell.contains(',');
                if is_bare { format!(" {cell} ") } else { format!("\"{cell}\"") }
            })
            .collect();
        cells.join(",")
    }

    fn read(rows: &[String]) -> Profile {
        let headers: Vec<String> =
            CELLS.iter().map(|(header, _)| format!("\"{header}\"")).collect();
        let text = format!("\"Idx\",\"Sil(ns)\",{}\n{}\n", headers.join(","), rows.join("\n"));
        read_text("table.csv", &text, &Options::default()).unwrap()
    }

    /// All that a launch came to, in words: ids differ from one profile to another.
    fn launch(profile: &Profile, row: usize) -> String {
        let launch = profile.launch(row);
        let values: Vec<_> = Quantity::all()
            .filter_map(|quantity| launch.get(quantity).map(|found| (quantity, found)))
            .collect();
        let Head { id, operator, shape, device, stream, .. } = launch.head;
        let (operator, device) = (profile.names.get(operator), &profile.devices[device.position()]);
        format!("{id} {} {operator} {shape:?} {device:?} {stream:?} {values:?}", launch.kernel())
    }

    proptest! {
        /// Rows that repeat others, or differ from them in one cell, are read as if each were alone.
        #[test]
        fn a_row_that_repeats_another_is_read_as_if_alone(
            cells in prop::collection::vec(0_usize..3, CELLS.len()),
            changes in prop::collection::vec((0..CELLS.len(), 0_usize..3, any::<bool>()), 1..40),
        ) {
            let rows: Vec<String> = changes
                .into_iter()
                .enumerate()
                .map(|(number, (column, which, bare))| {
                    let mut cells = cells.clone();
                    // Every other row is as all would be without changes.
                    if number % 2 == 1 {
                        cells[column] = which;
                    }
                    row(number, &cells, bare)
                })
                .collect();
            let all = read(&rows);
            prop_assert_eq!(all.launches.len(), rows.len());
            let mut skipped = 0;
            for (at, row) in rows.iter().enumerate() {
                let alone = read(std::slice::from_ref(row));
                prop_assert_eq!(launch(&all, at), launch(&alone, 0));
                skipped += alone.sources[0].skips.count;
            }
            prop_assert_eq!(all.sources[0].skips.count, skipped);
        }
    }
}
