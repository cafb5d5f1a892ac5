//! Pattern matching: all patterns at once to find the matching ones, single patterns for their
//! groups.
//!
//! The engines of `regex-automata` are used directly: its facade `regex` prepares each pattern for
//! gigabytes, which takes fifty milliseconds for this table and pays off for none of its short names.

use std::sync::{Mutex, PoisonError};

use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::pikevm::PikeVM;
use regex_automata::nfa::thompson::{self, NFA, WhichCaptures};
use regex_automata::util::primitives::PatternID;
use regex_automata::util::syntax;
use regex_automata::{Input, MatchKind, PatternSet};

/// Memory limit in bytes of the cache of states; beyond it they are rebuilt.
const CACHE: usize = 32 << 20;

/// Names are ASCII: without Unicode classes patterns stay small and fast.
fn compiler(captures: WhichCaptures) -> thompson::Compiler {
    let mut compiler = thompson::Compiler::new();
    compiler
        .syntax(syntax::Config::new().unicode(false).utf8(false))
        .configure(thompson::Config::new().utf8(false).which_captures(captures));
    compiler
}

fn dfa(nfa: NFA) -> Result<DFA, String> {
    let config = DFA::config()
        .match_kind(MatchKind::All)
        .cache_capacity(CACHE)
        .skip_cache_capacity_check(true);
    DFA::builder().configure(config).build_from_nfa(nfa).map_err(|error| error.to_string())
}

/// One pattern with its groups.
#[derive(Debug, Clone)]
pub(super) struct Pattern(PikeVM);

impl Pattern {
    /// Compiles a pattern; the error says why it cannot be used.
    pub(super) fn new(pattern: &str) -> Result<Self, String> {
        let nfa = compiler(WhichCaptures::All).build(pattern).map_err(|error| {
            // The last line of a syntax error says what is wrong; those before it draw the pattern.
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            let text = cause.unwrap_or_else(|| error.to_string());
            let last = text.trim().lines().last().unwrap_or_default();
            format!("is not a valid regular expression: {}", last.trim_start_matches("error: "))
        })?;
        dfa(nfa.clone()).map_err(|error| format!("cannot be compiled for search: {error}"))?;
        let pattern = PikeVM::new_from_nfa(nfa).map(Self).map_err(|error| error.to_string())?;
        if pattern.0.is_match(&mut pattern.0.create_cache(), "") {
            return Err("matches every name".to_owned());
        }
        Ok(pattern)
    }

    /// Iterates over the names of its groups.
    pub(super) fn groups(&self) -> impl Iterator<Item = &str> {
        self.0.get_nfa().group_info().pattern_names(PatternID::ZERO).flatten()
    }

    /// Returns the captures of its named groups in the first match.
    pub(super) fn captures<'a>(&'a self, text: &'a str) -> Vec<(&'a str, &'a str)> {
        let mut slots = self.0.create_captures();
        self.0.captures(&mut self.0.create_cache(), text, &mut slots);
        let told = |name| Some((name, text.get(slots.get_group_by_name(name)?.range())?));
        self.groups().filter_map(told).collect()
    }
}

/// Many patterns that are searched at once; empty by default.
#[derive(Debug, Default)]
pub(super) struct Matcher(Option<(DFA, Mutex<Cache>)>);

impl Matcher {
    /// Compiles all patterns; the error says why they cannot be used together.
    pub(super) fn new<'a>(patterns: impl Iterator<Item = &'a str>) -> Result<Self, String> {
        let patterns: Vec<&str> = patterns.collect();
        let nfa = compiler(WhichCaptures::None)
            .build_many(&patterns)
            .map_err(|error| error.to_string())?;
        let dfa = dfa(nfa)?;
        let cache = Mutex::new(dfa.create_cache());
        Ok(Self(Some((dfa, cache))))
    }

    /// Returns the indices of the patterns that match anywhere in the text, in order.
    pub(super) fn matches(&self, text: &str) -> Vec<usize> {
        let Some((dfa, cache)) = &self.0 else { return Vec::new() };
        let mut found = PatternSet::new(dfa.pattern_len());
        // A cache only holds states built so far: one left by a panic elsewhere is as good.
        let mut cache = cache.lock().unwrap_or_else(PoisonError::into_inner);
        // Searching fails only for limits that are not set here.
        let searched = dfa.try_which_overlapping_matches(&mut cache, &Input::new(text), &mut found);
        if searched.is_err() {
            return Vec::new();
        }
        found.iter().map(|pattern| pattern.as_usize()).collect()
    }
}
