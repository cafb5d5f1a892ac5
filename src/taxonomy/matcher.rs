//! Pattern matching: a search for words decides which patterns can match a name, and only those are
//! compiled, when the first such name comes.
//!
//! The engines of `regex-automata` are used directly: its facade `regex` prepares each pattern for
//! gigabytes, which takes fifty milliseconds for this table and pays off for none of its short names.

use std::sync::{Mutex, OnceLock, PoisonError};

use regex_automata::nfa::thompson::backtrack::{self, BoundedBacktracker};
use regex_automata::nfa::thompson::pikevm::PikeVM;
use regex_automata::nfa::thompson::{self, NFA};
use regex_automata::util::captures::Captures;
use regex_automata::util::primitives::PatternID;
use regex_automata::util::syntax;

use super::literals::{Alternative, Place, SHORTEST, alternatives};

/// Memory limit in bytes of one compiled pattern.
const MOST: usize = 4 << 20;

/// Named groups with their texts.
pub(super) type Groups<'a> = Vec<(&'a str, &'a str)>;

/// One pattern with its groups.
#[derive(Debug)]
pub(super) struct Pattern {
    engine: BoundedBacktracker,
    cache: Mutex<backtrack::Cache>,
}

impl Pattern {
    /// Compiles a pattern; the error says why it cannot be used.
    pub(super) fn new(pattern: &str) -> Result<Self, String> {
        let compiled = Self::compiled(pattern)?;
        if compiled.is_match("") {
            return Err("matches every name".to_owned());
        }
        Ok(compiled)
    }

    fn compiled(pattern: &str) -> Result<Self, String> {
        // Names are ASCII: without Unicode classes patterns stay small and fast.
        let nfa = thompson::Compiler::new()
            .syntax(syntax::Config::new().unicode(false).utf8(false))
            .configure(thompson::Config::new().utf8(false).nfa_size_limit(Some(MOST)))
            .build(pattern)
            .map_err(|error| {
                // The last line of a syntax error says what is wrong; those before it draw the
                // pattern.
                let cause = std::error::Error::source(&error).map(ToString::to_string);
                let text = cause.unwrap_or_else(|| error.to_string());
                let last = text.trim().lines().last().unwrap_or_default();
                format!("is not a valid regular expression: {}", last.trim_start_matches("error: "))
            })?;
        let engine = BoundedBacktracker::new_from_nfa(nfa).map_err(|error| error.to_string())?;
        let cache = Mutex::new(engine.create_cache());
        Ok(Self { engine, cache })
    }

    fn nfa(&self) -> &NFA {
        self.engine.get_nfa()
    }

    /// Iterates over the names of its groups.
    pub(super) fn groups(&self) -> impl Iterator<Item = &str> {
        self.nfa().group_info().pattern_names(PatternID::ZERO).flatten()
    }

    fn is_match(&self, text: &str) -> bool {
        // A search prepares the cache that it is given: one left by a panic elsewhere is as good.
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        // Only a text that is too long for it is an error.
        self.engine.try_is_match(&mut cache, text).unwrap_or_else(|_| {
            self.slower().is_some_and(|engine| engine.is_match(&mut engine.create_cache(), text))
        })
    }

    /// Returns the captures of its named groups in the first match, if there is one.
    pub(super) fn captures<'a>(&'a self, text: &'a str) -> Option<Groups<'a>> {
        let mut slots = Captures::all(self.nfa().group_info().clone());
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if self.engine.try_captures(&mut cache, text, &mut slots).is_err() {
            let engine = self.slower()?;
            engine.captures(&mut engine.create_cache(), text, &mut slots);
        }
        let told = |name| Some((name, text.get(slots.get_group_by_name(name)?.range())?));
        slots.is_match().then(|| self.groups().filter_map(told).collect())
    }

    /// The engine for texts of any length.
    fn slower(&self) -> Option<PikeVM> {
        PikeVM::new_from_nfa(self.nfa().clone()).ok()
    }
}

/// Many patterns that are searched at once; empty by default.
#[derive(Debug, Default)]
pub(super) struct Matcher {
    /// The alternatives of all patterns, in their order.
    parts: Vec<Part>,
    /// What decides which of them to try, by bucket.
    words: Vec<Word>,
    /// Where the words of each bucket begin; one more than there are buckets.
    buckets: Vec<u32>,
}

/// An alternative of a pattern.
#[derive(Debug)]
struct Part {
    /// Index of the pattern.
    of: usize,
    pattern: String,
    has_groups: bool,
    /// True if no words decide about it.
    always: bool,
    compiled: OnceLock<Option<Pattern>>,
}

/// A literal that an alternative needs.
#[derive(Debug)]
struct Word {
    text: Box<[u8]>,
    ignores_case: bool,
    /// Where it must be for a match, if it is all there is to match.
    whole: Option<Place>,
    part: usize,
}

/// What the words of a text say about an alternative.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Cannot,
    May,
    Does,
}

/// Number of [`bucket`]s.
const BUCKETS: usize = 1 << 10;

/// The bucket of a text's first two bytes, which is the same for both cases of a letter.
fn bucket(first: u8, second: u8) -> usize {
    usize::from(first & 31) << 5 | usize::from(second & 31)
}

impl Matcher {
    /// Prepares valid patterns.
    pub(super) fn new<'a>(patterns: impl Iterator<Item = &'a str>) -> Self {
        let (mut parts, mut words) = (Vec::new(), Vec::new());
        for (of, pattern) in patterns.enumerate() {
            for one in alternatives(pattern) {
                let (ignores_case, whole, part) = (one.ignores_case, one.whole, parts.len());
                let always = one.needs.is_empty();
                words.extend(one.needs.into_iter().map(|text| {
                    let text = text.into_bytes().into_boxed_slice();
                    Word { text, ignores_case, whole, part }
                }));
                let compiled = OnceLock::new();
                let Alternative { pattern, has_groups, .. } = one;
                parts.push(Part { of, pattern, has_groups, always, compiled });
            }
        }
        let bucket = |word: &Word| bucket(word.text[0], word.text[1]);
        words.sort_by_key(bucket);
        let begins = |at| words.partition_point(|word| bucket(word) < at) as u32;
        let buckets = (0..=BUCKETS).map(begins).collect();
        Self { parts, words, buckets }
    }

    /// Iterates over the patterns that match anywhere in the text, in order: index and groups.
    pub(super) fn matches<'a>(
        &'a self,
        text: &'a str,
    ) -> impl Iterator<Item = (usize, Groups<'a>)> {
        let signs = self.signs(text.as_bytes());
        let mut last = None;
        self.parts.iter().zip(signs).filter_map(move |(part, sign)| {
            if sign == Sign::Cannot || last == Some(part.of) {
                return None;
            }
            let groups = if sign == Sign::Does { Vec::new() } else { part.groups(text)? };
            last = Some(part.of);
            Some((part.of, groups))
        })
    }

    fn signs(&self, text: &[u8]) -> Vec<Sign> {
        let sign = |part: &Part| if part.always { Sign::May } else { Sign::Cannot };
        let mut signs: Vec<Sign> = self.parts.iter().map(sign).collect();
        for (at, pair) in text.windows(SHORTEST).enumerate() {
            let bucket = bucket(pair[0], pair[1]);
            let range = self.buckets[bucket] as usize..self.buckets[bucket + 1] as usize;
            for word in &self.words[range] {
                let Some(here) = text.get(at..at + word.text.len()) else { continue };
                let is_here = if word.ignores_case {
                    here.eq_ignore_ascii_case(&word.text)
                } else {
                    *here == *word.text
                };
                let sign = &mut signs[word.part];
                match word.whole {
                    _ if !is_here => {}
                    None => *sign = Sign::May,
                    Some(place) => {
                        let is_placed = (!place.start || at == 0)
                            && (!place.end || at + word.text.len() == text.len());
                        if is_placed {
                            *sign = Sign::Does;
                        }
                    }
                }
            }
        }
        signs
    }
}

impl Part {
    /// Returns the named groups if the text matches.
    fn groups<'a>(&'a self, text: &'a str) -> Option<Groups<'a>> {
        let compiled = self.compiled.get_or_init(|| Pattern::compiled(&self.pattern).ok());
        let compiled = compiled.as_ref()?;
        if self.has_groups {
            compiled.captures(text)
        } else {
            compiled.is_match(text).then(Vec::new)
        }
    }
}
