//! Classifies kernels by name: operation, formats, units and library.
//!
//! A name is the only sign of intent in a profile. It is a hint and never overrides a counter. The
//! rules are data (`kernel-names.toml`); a user's entries come before them.
//!
//! ```
//! use rooflint::taxonomy::{Category, Kind, Taxonomy};
//!
//! let name = "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn";
//! let class = Taxonomy::builtin().classify(name);
//! assert_eq!((class.category, class.kind), (Category::DotProduct, Some(Kind::Gemm)));
//! assert_eq!((class.tensor, class.tile), (Some(true), Some((128, 128))));
//! ```

mod attributes;
mod class;
mod error;
mod fused;
mod kind;
mod literals;
mod matcher;
mod operator;
mod table;
mod words;

use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use attributes::{Field, Texts};
pub use class::{Architecture, Class, Formats};
pub use error::{Fault, TaxonomyError};
pub use fused::Fused;
use hashbrown::{HashMap, HashSet};
pub use kind::Kind;
use matcher::Matcher;
use table::Table;
pub use words::{Category, Direction};

use crate::model::KernelName;

/// Rules that classify kernels by name.
#[derive(Debug, Default)]
pub struct Taxonomy {
    table: Table,
    classes: Matcher,
    attributes: Matcher,
    /// Prepared for the first operator: few profiles have any.
    operators: OnceLock<Matcher>,
    /// Names classified before: several runs, and several walks over one, have the same.
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    names: HashMap<Box<str>, Arc<Class>>,
    /// The classes themselves: many names have the same.
    classes: HashSet<Arc<Class>>,
}

impl Taxonomy {
    /// The built-in rules.
    #[must_use]
    pub fn builtin() -> &'static Self {
        static BUILTIN: LazyLock<Taxonomy> = LazyLock::new(|| Taxonomy::new(Table::builtin()));
        &BUILTIN
    }

    /// Makes a taxonomy of a user's entries before the built-in rules; messages refer to the text
    /// as `path`.
    ///
    /// ```
    /// use rooflint::taxonomy::{Kind, Taxonomy};
    ///
    /// let text = "[[class]]\nid = 'advection'\nkind = 'stencil'\npattern = '^advect_'";
    /// let taxonomy = Taxonomy::with_text("rooflint.toml", text)?;
    /// assert_eq!(taxonomy.classify("advect_tracers").kind, Some(Kind::Stencil));
    /// # Ok::<(), rooflint::taxonomy::TaxonomyError>(())
    /// ```
    ///
    /// # Errors
    /// [`TaxonomyError`] with line and column if the text is invalid TOML, has an unknown key,
    /// kind, field or value, or an unusable pattern.
    pub fn with_text(path: &str, text: &str) -> Result<Self, TaxonomyError> {
        let table = Table::parse(path, text)?;
        Ok(Self::new(table.before(Table::builtin())))
    }

    /// Classifies a name as written by any profiler; unrecognized names get an empty class.
    ///
    /// Runs in linear time in the length of the name, and accepts any text.
    #[must_use]
    pub fn classify(&self, name: &str) -> Class {
        // A namespace that contains `gemm`, and has nothing to do with it.
        const APART: &str = "fbgemm_gpu::";

        let mut head = KernelName::head(name);
        if head.contains(APART) {
            head = head.replace(APART, "").into();
        }
        let mut class = Class::unknown();
        let rule = self.classes.matches(&head).next();
        let rule = rule.and_then(|(at, _)| self.table.classes.get(at));
        if let Some(rule) = rule {
            class.rule = Some(rule.id.to_string());
            class.kind = Some(rule.kind);
            class.category = rule.kind.category();
            class.library = rule.library.as_deref().map(str::to_owned);
        }
        self.texts(&head).fill(&mut class, &self.table.data_types, &self.table.operators);
        if let Some(tensor) = rule.and_then(|rule| rule.tensor) {
            class.tensor = tensor.known();
        } else if rule.is_some() && class.category != Category::DotProduct {
            class.tensor = Some(false);
        }
        if let Some(direction) = class.kind.and_then(direction) {
            class.direction = Some(direction);
        }
        class
    }

    /// Returns the class of a name, which is shared with those who asked for it before.
    #[must_use]
    pub fn shared(&self, name: &str) -> Arc<Class> {
        /// Names and classes that are remembered; a run with more of them has no room to waste.
        const MOST: usize = 1 << 16;

        let lock = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(class) = lock().names.get(name) {
            return Arc::clone(class);
        }
        let class = self.classify(name);
        let mut known = lock();
        let same = known.classes.get(&class).map(Arc::clone);
        let class = same.unwrap_or_else(|| {
            let class = Arc::new(class);
            if known.classes.len() < MOST {
                known.classes.insert(Arc::clone(&class));
            }
            class
        });
        if known.names.len() < MOST {
            known.names.insert(name.into(), Arc::clone(&class));
        }
        class
    }

    /// Classifies the operator that launched a kernel, for kernels whose own name is not
    /// recognized. Accepts an operator with parameters, or a path of ranges, of which the innermost
    /// is used.
    ///
    /// ```
    /// use rooflint::taxonomy::{Kind, Taxonomy};
    ///
    /// let class = Taxonomy::builtin().classify_operator("forward/layer.3/aten::addmm, sizes = [[8, 4]]");
    /// assert_eq!((class.kind, class.tensor, class.by_operator), (Some(Kind::Gemm), None, true));
    /// ```
    #[must_use]
    pub fn classify_operator(&self, operator: &str) -> Class {
        let mut class = Class::unknown();
        let word = operator::word(operator);
        let rule = self.operators().matches(&word).next();
        if let Some(rule) = rule.and_then(|(at, _)| self.table.by_operator.get(at)) {
            class.rule = Some(rule.id.to_string());
            class.kind = Some(rule.kind);
            class.category = rule.kind.category();
            class.library = rule.library.as_deref().map(str::to_owned);
            class.tensor = rule.tensor.and_then(attributes::Answer::known);
            class.by_operator = true;
            class.direction = direction(rule.kind)
                .or_else(|| word.contains("backward").then_some(Direction::Backward));
        }
        class
    }

    fn operators(&self) -> &Matcher {
        let patterns = || self.table.by_operator.iter().map(|rule| &rule.pattern);
        self.operators.get_or_init(|| Matcher::new(patterns()))
    }

    /// Returns the text of each field.
    fn texts<'a>(&'a self, head: &'a str) -> Texts<'a> {
        let mut texts = Texts::default();
        for (at, groups) in self.attributes.matches(head) {
            for (name, text) in groups {
                if let Some(field) = Field::from_key(name) {
                    texts.capture(field, text);
                }
            }
            for (field, text) in self.table.attributes[at].set.iter() {
                texts.set(*field, text);
            }
        }
        texts
    }

    fn new(table: Table) -> Self {
        let classes = Matcher::new(table.classes.iter().map(|rule| &rule.pattern));
        let attributes = Matcher::new(table.attributes.iter().map(|rule| &rule.pattern));
        Self { table, classes, attributes, operators: OnceLock::new(), known: Mutex::default() }
    }
}

/// Returns the pass that a kind implies.
const fn direction(kind: Kind) -> Option<Direction> {
    match kind {
        Kind::ConvFprop | Kind::AttentionFwd | Kind::AttentionDecode => Some(Direction::Forward),
        Kind::ConvDgrad => Some(Direction::DataGradient),
        Kind::ConvWgrad => Some(Direction::WeightGradient),
        Kind::AttentionBwd => Some(Direction::Backward),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::matcher::Pattern;
    use super::table::ClassRule;
    use super::*;

    #[test]
    fn the_builtin_table_is_valid_and_what_the_build_made_of_it() {
        let text = include_str!("kernel-names.toml");
        let read = Table::parse("src/taxonomy/kernel-names.toml", text).unwrap();
        assert!(read.classes.len() > 70);
        assert_eq!(read, Table::builtin());
    }

    /// Every text of every fixture: kernels, operators, and what was never meant as a name; with
    /// `ROOFLINT_PROFILES` those of real exports, too.
    fn texts(folder: &Path, into: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                texts(&path, into);
            } else if path.extension().is_some_and(|ending| ending == "csv") {
                let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
                let is_name = |cell: &&str| {
                    cell.len() > 3 && cell.bytes().filter(u8::is_ascii_alphabetic).count() > 2
                };
                into.extend(text.split(['"', '\n']).filter(is_name).map(str::to_owned));
            }
        }
    }

    /// The words that patterns need decide nothing else than a search with every whole pattern.
    #[test]
    fn patterns_find_what_each_alone_finds() {
        let mut names = BTreeSet::new();
        texts(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures"), &mut names);
        if let Ok(real) = std::env::var("ROOFLINT_PROFILES") {
            texts(Path::new(&real), &mut names);
        }
        let upper: Vec<String> = names.iter().map(|name| name.to_uppercase()).collect();
        let cut: Vec<String> = names.iter().map(|name| name.chars().skip(3).collect()).collect();
        names.extend(upper.into_iter().step_by(7).chain(cut.into_iter().step_by(5)));
        let taxonomy = Taxonomy::builtin();
        let Table { classes, attributes, by_operator, .. } = &taxonomy.table;
        let patterns = |rules: &[ClassRule]| -> Vec<Pattern> {
            rules.iter().map(|rule| Pattern::new(&rule.pattern.text).unwrap()).collect()
        };
        let of_attributes: Vec<Pattern> =
            attributes.iter().map(|rule| Pattern::new(&rule.pattern.text).unwrap()).collect();
        // Each pattern by itself is slow: a third of the names is for each kind of patterns.
        let thirds = (0..).map(|first| names.iter().skip(first).step_by(3));
        for ((matcher, alone), names) in [
            (&taxonomy.classes, patterns(classes)),
            (taxonomy.operators(), patterns(by_operator)),
            (&taxonomy.attributes, of_attributes),
        ]
        .into_iter()
        .zip(thirds)
        {
            let mut found = 0;
            for name in names {
                let each = alone.iter().enumerate();
                let expected: Vec<_> =
                    each.filter_map(|(at, one)| Some((at, one.captures(name)?))).collect();
                found += expected.len();
                assert_eq!(matcher.matches(name).collect::<Vec<_>>(), expected, "{name}");
            }
            assert!(found > 0);
        }
    }
}
