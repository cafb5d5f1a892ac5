//! What has been worked out of texts that come again and again.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

/// What has been worked out, by the text it was worked out from.
pub(super) struct Known<T> {
    at: HashMap<Arc<[u8]>, usize, BuildHasherDefault<TextHasher>>,
    texts: Vec<Arc<[u8]>>,
    pub(super) items: Vec<T>,
    /// Which item came after each item the last time: a training loop repeats its launches in order, and
    /// to compare a text is cheaper than to look it up.
    successors: Vec<usize>,
    last: usize,
}

impl<T> Default for Known<T> {
    fn default() -> Self {
        let (at, texts, items, successors) =
            (HashMap::default(), Vec::new(), Vec::new(), Vec::new());
        Self { at, texts, items, successors, last: 0 }
    }
}

impl<T> Known<T> {
    /// Position of the item for a text, worked out if it is new.
    pub(super) fn at(&mut self, text: &[u8], item: impl FnOnce() -> T) -> usize {
        let expected = self.successors.get(self.last).copied();
        if let Some(at) = expected
            && *self.texts[at] == *text
        {
            self.last = at;
            return at;
        }
        let at = self.at.get(text).copied().unwrap_or_else(|| {
            let (text, at) = (Arc::<[u8]>::from(text), self.items.len());
            self.items.push(item());
            self.texts.push(Arc::clone(&text));
            self.successors.push(at);
            self.at.insert(text, at);
            at
        });
        self.successors[self.last] = at;
        self.last = at;
        at
    }
}

/// Eight bytes at a time, multiplied and rotated: one look-up per field is most of the reading time,
/// and the keys are a profiler's, not an attacker's.
#[derive(Default)]
struct TextHasher(u64);

impl TextHasher {
    fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl Hasher for TextHasher {
    fn write(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            let mut word = [0; 8];
            word.copy_from_slice(chunk);
            self.mix(u64::from_le_bytes(word));
        }
        let mut word = [0; 8];
        word[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
        self.mix(u64::from_le_bytes(word));
    }

    fn finish(&self) -> u64 {
        // The map takes its bits from both ends.
        self.0 ^ (self.0 >> 32)
    }
}

#[cfg(test)]
mod tests {
    use super::Known;

    #[test]
    fn a_text_is_known_in_whatever_order_it_comes() {
        let mut known = Known::default();
        for text in ["a", "b", "c", "a", "b", "a", "a", "c", "b", "d", "a", "b", "c"] {
            let at = known.at(text.as_bytes(), || text);
            assert_eq!(known.items[at], text);
        }
        assert_eq!(known.items, ["a", "b", "c", "d"]);
    }
}
