//! What has been worked out of cells that come again and again.

use crate::model::Positions;

/// Different texts, numbered from 0 as they are met.
#[derive(Default)]
pub(super) struct Texts {
    bytes: Vec<u8>,
    /// Where each text begins and ends.
    spans: Vec<(usize, usize)>,
    positions: Positions,
    next: Successors,
}

impl Texts {
    /// The number of a text.
    pub(super) fn number(&mut self, text: &[u8]) -> usize {
        let Self { bytes, spans, positions, next } = self;
        if let Some(at) = next.expected()
            && known(bytes, spans, at) == text
        {
            return next.pass(at);
        }
        let at = positions.find(text, |at| known(bytes, spans, at)).unwrap_or_else(|| {
            let start = bytes.len();
            bytes.extend_from_slice(text);
            spans.push((start, bytes.len()));
            positions.add(spans.len() - 1, |at| known(bytes, spans, at));
            spans.len() - 1
        });
        next.learn(at)
    }

    /// Number of bytes in all texts.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.len()
    }
}

fn known<'a>(bytes: &'a [u8], spans: &[(usize, usize)], at: usize) -> &'a [u8] {
    let (start, end) = spans[at];
    &bytes[start..end]
}

/// What has been worked out of two texts, by their numbers.
pub(super) struct Pairs<T> {
    items: Vec<Pair<T>>,
    positions: Positions,
    next: Successors,
}

/// An item beside the numbers that it is found by: there are more of them than the caches of a processor hold, and
/// so one access to memory leads to both.
#[repr(align(32))]
struct Pair<T> {
    /// Both numbers, as one word.
    numbers: u64,
    item: T,
}

impl<T> Default for Pairs<T> {
    fn default() -> Self {
        Self { items: Vec::new(), positions: Positions::default(), next: Successors::default() }
    }
}

impl<T> Pairs<T> {
    /// Whether an item takes half a line of a cache.
    pub(super) const IS_HALF_A_LINE: bool = size_of::<Pair<T>>() == 32;

    /// Position of the item for two texts with these numbers, worked out if they are new together.
    pub(super) fn at(&mut self, numbers: [usize; 2], item: impl FnOnce() -> T) -> usize {
        let numbers = (numbers[0] as u64) << 32 | numbers[1] as u64;
        let Self { items, positions, next } = self;
        if let Some(at) = next.expected()
            && items.get(at).is_some_and(|known| known.numbers == numbers)
        {
            return next.pass(at);
        }
        let at = positions.find(&numbers, |at| &items[at].numbers).unwrap_or_else(|| {
            items.push(Pair { numbers, item: item() });
            positions.add(items.len() - 1, |at| &items[at].numbers);
            items.len() - 1
        });
        next.learn(at)
    }

    /// The item at a position.
    pub(super) fn get(&self, at: usize) -> &T {
        &self.items[at].item
    }
}

/// Which position came after each the last time: a training loop repeats its launches in order, and to
/// compare is cheaper than to look up.
#[derive(Default)]
struct Successors {
    after: Vec<u32>,
    last: usize,
    /// How much more often another position came of late, up to [`MOST_WRONG`].
    wrong: u8,
}

/// Where another position has come so much more often, none is expected: to compare with the wrong one takes
/// an access to memory.
const TOO_WRONG: u8 = 4;
const MOST_WRONG: u8 = 8;

impl Successors {
    fn expected(&self) -> Option<usize> {
        if self.wrong > TOO_WRONG {
            return None;
        }
        self.after.get(self.last).map(|at| *at as usize)
    }

    /// Goes on to a position that was expected.
    fn pass(&mut self, at: usize) -> usize {
        self.wrong = self.wrong.saturating_sub(1);
        self.last = at;
        at
    }

    /// Goes on to a position that had to be looked up.
    fn learn(&mut self, at: usize) -> usize {
        if self.after.len() <= at.max(self.last) {
            // The first is as good a guess as any.
            self.after.resize(at.max(self.last) + 1, 0);
        }
        let after = &mut self.after[self.last];
        if *after == at as u32 {
            return self.pass(at);
        }
        *after = at as u32;
        self.wrong = MOST_WRONG.min(self.wrong + 1);
        self.last = at;
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_one_number_in_whatever_order_it_comes() {
        let mut texts = Texts::default();
        let mut met: Vec<&str> = Vec::new();
        // First none comes after the same one, then each does.
        for rows in ["ab cacb bda", "bcddacb a", "abcd abcd abcd abcd abcd "] {
            for text in rows.split_inclusive(|_| true).map(str::trim) {
                let number = texts.number(text.as_bytes());
                if number == met.len() {
                    met.push(text);
                }
                assert_eq!(met[number], text);
            }
        }
        assert_eq!(met, ["a", "b", "", "c", "d"]);
        assert_eq!(texts.bytes(), 4);
    }

    #[test]
    fn items_are_known_by_both_numbers() {
        let mut pairs = Pairs::default();
        for _ in 0..20 {
            for numbers in [[0, 1], [2, 3], [1, 0], [0, 1], [0, 0], [3, 2]] {
                let at = pairs.at(numbers, || numbers);
                assert_eq!(*pairs.get(at), numbers);
            }
        }
        assert_eq!(pairs.items.len(), 5);
    }

    #[test]
    fn what_never_comes_is_no_longer_expected_until_it_comes() {
        let mut next = Successors::default();
        for at in 0..20 {
            assert_eq!(next.expected().is_none(), at == 0 || at > usize::from(TOO_WRONG) + 1);
            next.learn(at);
        }
        for round in 0..3 {
            for at in 0..20 {
                if round == 2 {
                    assert_eq!(next.expected(), Some(at));
                }
                next.learn(at);
            }
        }
    }
}
