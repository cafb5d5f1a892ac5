//! Pattern matching: a search for words decides which patterns can match a name, and only those are
//! compiled, when the first such name comes.
//!
//! The engines of `regex-automata` are used directly: its facade `regex` prepares each pattern for
//! gigabytes, which takes fifty milliseconds for this table and pays off for none of its short names.

use std::borrow::Cow;
use std::sync::{Mutex, OnceLock, PoisonError};

use regex_automata::nfa::thompson::backtrack::{self, BoundedBacktracker};
use regex_automata::nfa::thompson::pikevm::PikeVM;
use regex_automata::nfa::thompson::{self, NFA};
use regex_automata::util::captures::Captures;
use regex_automata::util::primitives::PatternID;
use regex_automata::util::syntax;

use super::literals::{Alternative, Place, SHORTEST, Text, alternatives};

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

/// A pattern as it is written, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Source {
    pub(super) text: Text,
    pub(super) alternatives: Cow<'static, [Alternative]>,
}

impl From<String> for Source {
    fn from(text: String) -> Self {
        Self { alternatives: alternatives(&text).into(), text: text.into() }
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
    pattern: Text,
    has_groups: bool,
    /// True if no words decide about it.
    always: bool,
    compiled: OnceLock<Option<Box<Pattern>>>,
}

/// A literal that an alternative needs.
#[derive(Debug)]
struct Word {
    text: Text,
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
    pub(super) fn new<'a>(patterns: impl Iterator<Item = &'a Source>) -> Self {
        let (mut parts, mut words) = (Vec::new(), Vec::new());
        for (of, source) in patterns.enumerate() {
            for one in source.alternatives.iter() {
                let Alternative { pattern, needs, ignores_case, whole, has_groups } = one;
                let (ignores_case, whole, part) = (*ignores_case, *whole, parts.len());
                let word = |text: &Text| Word { text: text.clone(), ignores_case, whole, part };
                words.extend(needs.iter().map(word));
                parts.push(Part {
                    of,
                    pattern: pattern.clone(),
                    has_groups: *has_groups,
                    always: needs.is_empty(),
                    compiled: OnceLock::new(),
                });
            }
        }
        let bucket = |word: &Word| bucket(word.text.as_bytes()[0], word.text.as_bytes()[1]);
        words.sort_by_key(bucket);
        let mut buckets = vec![0; BUCKETS + 1];
        for word in &words {
            buckets[bucket(word) + 1] += 1;
        }
        for at in 0..BUCKETS {
            buckets[at + 1] += buckets[at];
        }
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
                let wanted = word.text.as_bytes();
                let Some(here) = text.get(at..at + wanted.len()) else { continue };
                let is_here = if word.ignores_case {
                    here.eq_ignore_ascii_case(wanted)
                } else {
                    here == wanted
                };
                let sign = &mut signs[word.part];
                match word.whole {
                    _ if !is_here => {}
                    None => *sign = Sign::May,
                    Some(place) => {
                        let is_placed = (!place.start || at == 0)
                            && (!place.end || at + wanted.len() == text.len());
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
        let compiled =
            self.compiled.get_or_init(|| Pattern::compiled(&self.pattern).ok().map(Box::new));
        let compiled = compiled.as_ref()?;
        if self.has_groups {
            compiled.captures(text)
        } else {
            compiled.is_match(text).then(Vec::new)
        }
    }
}
