//! What has been worked out of cells that come again and again.

use crate::model::Positions;

/// What has been worked out of so many cells of a row, by their texts.
pub(super) struct Known<T, const CELLS: usize> {
    cells: [Vocabulary; CELLS],
    keys: Vec<[u32; CELLS]>,
    positions: Positions,
    pub(super) items: Vec<T>,
    next: Successors,
}

impl<T, const CELLS: usize> Default for Known<T, CELLS> {
    fn default() -> Self {
        let cells = std::array::from_fn(|_| Vocabulary::default());
        let (keys, positions, items) = (Vec::new(), Positions::default(), Vec::new());
        Self { cells, keys, positions, items, next: Successors::default() }
    }
}

impl<T, const CELLS: usize> Known<T, CELLS> {
    /// Position of the item for these cells, worked out if they are new together.
    pub(super) fn at(&mut self, cells: [&[u8]; CELLS], item: impl FnOnce() -> T) -> usize {
        let mut key = [0; CELLS];
        for ((number, texts), cell) in key.iter_mut().zip(&mut self.cells).zip(cells) {
            *number = texts.number(cell);
        }
        let Self { keys, positions, items, next, .. } = self;
        if let Some(at) = next.expected()
            && keys.get(at) == Some(&key)
        {
            return next.pass(at);
        }
        let at = positions.find(&key, |at| &keys[at]).unwrap_or_else(|| {
            items.push(item());
            keys.push(key);
            positions.add(keys.len() - 1, |at| &keys[at]);
            keys.len() - 1
        });
        next.learn(at)
    }
}

/// Different texts, numbered as they are met: of cells there are fewer than of rows, and far fewer than
/// of rows put together.
#[derive(Default)]
struct Vocabulary {
    bytes: Vec<u8>,
    /// Where each text ends.
    ends: Vec<usize>,
    positions: Positions,
    next: Successors,
}

impl Vocabulary {
    fn number(&mut self, text: &[u8]) -> u32 {
        let Self { bytes, ends, positions, next } = self;
        let at = match next.expected() {
            Some(at) if known(bytes, ends, at) == text => next.pass(at),
            _ => {
                let at = positions.find(text, |at| known(bytes, ends, at)).unwrap_or_else(|| {
                    bytes.extend_from_slice(text);
                    ends.push(bytes.len());
                    positions.add(ends.len() - 1, |at| known(bytes, ends, at));
                    ends.len() - 1
                });
                next.learn(at)
            }
        };
        at as u32
    }
}

fn known<'a>(bytes: &'a [u8], ends: &[usize], at: usize) -> &'a [u8] {
    let start = at.checked_sub(1).map_or(0, |before| ends[before]);
    &bytes[start..ends[at]]
}

/// Which position came after each the last time: a training loop repeats its launches in order, and to
/// compare is cheaper than to look up.
#[derive(Default)]
struct Successors {
    after: Vec<u32>,
    last: usize,
}

impl Successors {
    fn expected(&self) -> Option<usize> {
        self.after.get(self.last).map(|at| *at as usize)
    }

    /// Goes on to a position that was expected.
    fn pass(&mut self, at: usize) -> usize {
        self.last = at;
        at
    }

    /// Goes on to a position that was not.
    fn learn(&mut self, at: usize) -> usize {
        if self.after.len() <= at.max(self.last) {
            self.after.resize(at.max(self.last) + 1, at as u32);
        }
        self.after[self.last] = at as u32;
        self.pass(at)
    }
}

#[cfg(test)]
mod tests {
    use super::Known;

    #[test]
    fn a_text_is_known_in_whatever_order_it_comes() {
        let mut known = Known::<_, 1>::default();
        for text in ["a", "b", "", "c", "a", "b", "a", "a", "c", "b", "", "d", "a", "b", "c"] {
            let at = known.at([text.as_bytes()], || text);
            assert_eq!(known.items[at], text);
        }
        assert_eq!(known.items, ["a", "b", "", "c", "d"]);
    }

    #[test]
    fn cells_are_known_together() {
        let mut known = Known::<_, 2>::default();
        for _ in 0..3 {
            for cells in [["a", "b"], ["ab", ""], ["b", "a"], ["a", "b"], ["", "ab"], ["a", "a"]] {
                let at = known.at(cells.map(str::as_bytes), || cells);
                assert_eq!(known.items[at], cells);
            }
        }
        assert_eq!(known.items, [["a", "b"], ["ab", ""], ["b", "a"], ["", "ab"], ["a", "a"]]);
    }
}
