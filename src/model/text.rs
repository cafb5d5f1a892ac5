//! Texts without an allocation of their own: a profile can have as many names as launches.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// A text that is a part of a larger one, and keeps all of that alive.
#[derive(Clone, Default)]
pub struct Text {
    block: Arc<String>,
    start: u32,
    len: u32,
}

/// Bytes of a block; longer texts have one of their own.
const BLOCK: usize = 1 << 16;

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        let (start, len) = (self.start as usize, self.len as usize);
        self.block.get(start..start + len).unwrap_or_default()
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        let len = u32::try_from(text.len()).unwrap_or(u32::MAX);
        Self { block: Arc::new(text), start: 0, len }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        self
    }
}

impl Borrow<str> for Text {
    fn borrow(&self) -> &str {
        self
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Text {}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// Texts by number, in blocks.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    blocks: Vec<Arc<String>>,
    places: Vec<Place>,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    block: u32,
    start: u32,
    len: u32,
}

impl Texts {
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Adds a text, whose number is that of the texts before it.
    pub(crate) fn push(&mut self, text: &str) {
        // Who has a text of a block may read it: then it stays as it is.
        let start = match self.blocks.last_mut().and_then(Arc::get_mut) {
            Some(block) if block.len() + text.len() <= BLOCK => {
                block.push_str(text);
                block.len() - text.len()
            }
            last => {
                last.into_iter().for_each(String::shrink_to_fit);
                self.blocks.push(Arc::new(text.to_owned()));
                0
            }
        };
        let [block, start, len] = [self.blocks.len() - 1, start, text.len()]
            .map(|number| u32::try_from(number).unwrap_or(u32::MAX));
        self.places.push(Place { block, start, len });
    }

    /// Returns the text with a number.
    ///
    /// # Panics
    /// If there is none.
    pub(crate) fn get(&self, number: usize) -> &str {
        let Place { block, start, len } = self.places[number];
        &self.blocks[block as usize][start as usize..][..len as usize]
    }

    /// Returns the text with a number for others to keep.
    ///
    /// # Panics
    /// If there is none.
    pub(crate) fn shared(&self, number: usize) -> Text {
        let Place { block, start, len } = self.places[number];
        Text { block: Arc::clone(&self.blocks[block as usize]), start, len }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_by_number_whoever_keeps_one() {
        let mut texts = Texts::default();
        let written: Vec<String> = (0..9_000).map(|at| format!("kernel µ{at}")).collect();
        let mut kept = Vec::new();
        for (at, text) in written.iter().enumerate() {
            texts.push(text);
            // Some are kept while others are added.
            kept.extend((at % 1_000 == 0).then(|| (at, texts.shared(at))));
        }
        let long = "x".repeat(3 * BLOCK);
        texts.push(&long);
        texts.push("");
        assert_eq!((texts.len(), texts.get(9_000), texts.get(9_001)), (9_002, &*long, ""));
        for (at, text) in written.iter().enumerate() {
            assert_eq!((texts.get(at), &*texts.shared(at)), (&**text, &**text));
        }
        // Three full blocks, and one for each that was kept, at most.
        assert!(texts.blocks.len() < 16, "{}", texts.blocks.len());
        drop(texts);
        assert!(kept.iter().all(|(at, text)| **text == *written[*at]));
    }

    #[test]
    fn a_text_is_compared_by_what_it_says() {
        let mut texts = Texts::default();
        for text in ["a", "b", "a"] {
            texts.push(text);
        }
        let [one, two, three] = [0, 1, 2].map(|at| texts.shared(at));
        assert!(one == three && one < two && one == Text::from("a"));
        let known = std::collections::HashSet::from([one, two]);
        assert!(known.contains("a") && !known.contains("ab"));
        assert_eq!(Text::default().to_string(), "");
        assert_eq!(size_of::<Option<Text>>(), 16);
    }
}
