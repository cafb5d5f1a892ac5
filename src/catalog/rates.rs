//! Multiply-adds per clock and SM by architecture: the table that peaks are checked against.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{LazyLock, OnceLock};

use serde::Deserialize;

use super::figure::Confidence;
use crate::model::{Engine, Pipe};

const TEXT: &str = include_str!("../../devices/architectures/rates.toml");

/// Classes by the words that tell them.
static CLASS_WORDS: LazyLock<BTreeMap<String, Vec<String>>> =
    LazyLock::new(|| toml::from_str(section("class_words]")).unwrap_or_default());

/// Citations by the words that stand for them.
static SOURCES: LazyLock<BTreeMap<String, String>> =
    LazyLock::new(|| toml::from_str(section("sources]")).unwrap_or_default());

/// The text of each target, with its rates by class, which are read when they are asked for.
/// Unreadable ones would be missing; a test sees to it that none are.
static TARGETS: LazyLock<BTreeMap<&str, (String, OnceLock<Classes>)>> = LazyLock::new(|| {
    let mut targets: BTreeMap<&str, (String, OnceLock<Classes>)> = BTreeMap::new();
    for section in TEXT.split("\n[") {
        let Some(rest) = section.strip_prefix("rates.\"") else { continue };
        let Some((target, class)) = rest.split_once("\".") else { continue };
        targets.entry(target).or_default().0.push_str(&format!("[{class}\n"));
    }
    targets
});

/// Returns the text of a section, which follows its name.
fn section(name: &str) -> &'static str {
    TEXT.split("\n[").find_map(|section| section.strip_prefix(name)).unwrap_or_default()
}

/// Returns the rates of an architecture by class.
fn classes(target: &str) -> Option<&'static Classes> {
    let (text, classes) = TARGETS.get(target)?;
    Some(classes.get_or_init(|| toml::from_str(text).unwrap_or_default()))
}

/// The classes that the table knows.
pub(super) fn class_names() -> &'static BTreeSet<&'static str> {
    // Every device asks for them.
    static NAMES: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
        let sections = TEXT.split("\n[").filter_map(|section| section.strip_prefix("rates.\""));
        let classes = sections.filter_map(|section| section.split_once("\".")?.1.split_once(']'));
        classes.map(|(class, _)| class).collect()
    });
    &NAMES
}

/// Multiply-adds per clock of one SM (AMD: compute unit) on one dense pipe.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// Multiply-adds per clock and SM, each of which counts as two operations; `None` if unknown.
    pub fma_per_clock_per_sm: Option<f64>,
    /// How well it is documented.
    pub confidence: Confidence,
    source: String,
    /// Remark on the rate.
    pub note: Option<String>,
}

impl Rate {
    /// The full citation.
    #[must_use]
    pub fn source(&self) -> &str {
        SOURCES.get(&self.source).unwrap_or(&self.source)
    }
}

type Pipes = BTreeMap<String, Rate>;

type Classes = BTreeMap<String, Pipes>;

/// The class whose rates apply to every device of an architecture.
const ALL: &str = "all";

/// Returns the rate of a dense pipe by compute capability or AMD target (`8.6`, `gfx942`) and rate
/// class.
#[must_use]
pub fn rate(target: &str, class: &str, pipe: Pipe) -> Option<&'static Rate> {
    let classes = classes(target)?;
    [class, ALL].iter().find_map(|class| classes.get(*class)?.get(pipe.key()))
}

/// Returns `true` if a class of an architecture has no matrix units (GTX 16 within 7.5).
pub(super) fn lacks_matrix_units(target: &str, class: &str) -> bool {
    let Some(classes) = classes(target) else { return false };
    let pipes = [class, ALL].into_iter().filter_map(|class| classes.get(class));
    let mut pipes = pipes.flat_map(Pipes::keys).filter_map(|key| Pipe::from_key(key));
    !pipes.any(|pipe| pipe.engine() == Engine::Matrix)
}

/// The rate class of a device that is not in the catalog, if its name identifies it or its
/// architecture has only one class.
pub(super) fn class_of(target: &str, name: &str) -> Option<&'static str> {
    let classes = classes(target)?;
    if classes.keys().all(|class| class == ALL) {
        return Some(ALL);
    }
    let says = |words: &Vec<String>| words.iter().any(|word| name.contains(word.as_str()));
    let told = CLASS_WORDS.iter().find(|(_, words)| says(words));
    told.map(|(class, _)| class.as_str()).filter(|class| classes.contains_key(*class))
}

/// Returns the rate of a pipe if the class is unknown: only vector pipes, and only if the classes
/// that list the pipe agree. Classes differ in their Tensor Cores, and some chips of an
/// architecture have none (GTX 16).
pub(super) fn undisputed_rate(target: &str, pipe: Pipe) -> Option<&'static Rate> {
    if pipe.engine() == Engine::Matrix {
        return None;
    }
    let mut rates = classes(target)?.values().filter_map(|pipes| pipes.get(pipe.key()));
    let first = rates.next()?;
    rates.all(|rate| rate.fma_per_clock_per_sm == first.fma_per_clock_per_sm).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_readable_and_its_keys_are_pipes() {
        let whole: toml::Table = toml::from_str(TEXT).unwrap();
        let keys: Vec<&str> = whole.keys().map(String::as_str).collect();
        assert_eq!(keys, ["class_words", "rates", "sources"]);
        assert_eq!(whole["class_words"].as_table().unwrap().len(), CLASS_WORDS.len());
        assert_eq!(whole["sources"].as_table().unwrap().len(), SOURCES.len());
        let targets = whole["rates"].as_table().unwrap();
        let mut rates = Vec::new();
        for (target, expected) in targets {
            let found = classes(target).unwrap();
            let lengths = |name: &String| expected[name].as_table().unwrap().len();
            assert_eq!(found.len(), expected.as_table().unwrap().len(), "{target}");
            for (name, pipes) in found {
                assert_eq!(pipes.len(), lengths(name), "{target} {name}");
                rates.extend(pipes);
            }
        }
        assert!(!rates.is_empty());
        for (key, rate) in rates {
            assert!(Pipe::from_key(key).is_some_and(|pipe| !pipe.is_sparse()), "{key}");
            assert!(rate.fma_per_clock_per_sm.is_none_or(|fma| fma > 0.0), "{key}");
            assert!(rate.source.contains(' ') || SOURCES.contains_key(&rate.source));
        }
    }

    #[test]
    fn a_class_falls_back_to_what_holds_for_all() {
        let fma = |class, pipe| rate("8.6", class, pipe).unwrap().fma_per_clock_per_sm;
        assert_eq!(fma("geforce", Pipe::Bf16Matrix), Some(256.0));
        assert_eq!(fma("full", Pipe::Bf16Matrix), Some(512.0));
        assert_eq!(fma("full", Pipe::Fp32Vector), Some(128.0));
        assert!(rate("8.6", "full", Pipe::Fp8Matrix).is_none());
    }

    #[test]
    fn a_class_without_matrix_rates_has_no_matrix_units() {
        assert!(lacks_matrix_units("7.5", "plain"));
        assert!(!lacks_matrix_units("7.5", "geforce"));
        assert!(!lacks_matrix_units("8.0", "all"));
        assert!(rate("7.5", "plain", Pipe::Int8Matrix).is_none());
    }

    #[test]
    fn the_name_tells_the_class_or_nothing_does() {
        assert_eq!(class_of("8.9", "NVIDIA GeForce RTX 4070 Laptop GPU"), Some("geforce"));
        assert_eq!(class_of("8.6", "NVIDIA RTX A2000"), Some("full"));
        assert_eq!(class_of("7.5", "NVIDIA GeForce GTX 1660"), Some("plain"));
        assert_eq!(class_of("7.5", "NVIDIA CMP 40HX"), None);
        assert_eq!(class_of("10.0", "anything"), Some("all"));
        assert!(undisputed_rate("7.5", Pipe::Fp32Vector).is_some());
        assert!(undisputed_rate("7.5", Pipe::Int8Matrix).is_none());
        assert!(undisputed_rate("9.0", Pipe::Fp64Vector).is_none());
    }
}
