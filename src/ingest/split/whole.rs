//! The rows of a text that is in memory.

use super::index::Form;
use super::{Block, Record};

/// A text and its rows, none of which has doubled quotes left.
pub(in crate::ingest) struct Whole(Block);

impl Whole {
    /// Takes a text apart, to its end.
    pub(in crate::ingest) fn new(text: &[u8]) -> Self {
        let mut block = Block { buffer: text.to_vec(), length: text.len(), ..Block::default() };
        block.split(b',', true);
        for at in 0..block.len() {
            if block.index.rows[at].form == Form::Doubled {
                let mut copy = csv::ByteRecord::new();
                let _ = block.record(at, 0).undoubled(&mut copy);
                let first = block.others.len() as u32;
                block.others.push(copy);
                let row = &mut block.index.rows[at];
                (row.form, row.first, row.last) = (Form::Other, first, first + 1);
            }
        }
        Self(block)
    }

    /// The text.
    pub(in crate::ingest) fn text(&self) -> &[u8] {
        self.0.text()
    }

    /// The rows, in order.
    pub(in crate::ingest) fn records(&self) -> impl Iterator<Item = Record<'_>> {
        (0..self.0.len()).map(|at| self.0.record(at, 0))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rows_are_those_of_the_csv_crate(text in "([ab\",\r\n]|\"\"){0,60}") {
            let mut reader = csv::ReaderBuilder::new()
                .has_headers(false)
                .flexible(true)
                .from_reader(text.as_bytes());
            let wanted: Vec<Vec<Vec<u8>>> = reader
                .byte_records()
                .map(|record| record.unwrap().iter().map(<[u8]>::to_vec).collect())
                .collect();
            let found: Vec<Vec<Vec<u8>>> = Whole::new(text.as_bytes())
                .records()
                .map(|record| record.iter().map(<[u8]>::to_vec).collect())
                .collect();
            prop_assert_eq!(found, wanted);
        }
    }
}
