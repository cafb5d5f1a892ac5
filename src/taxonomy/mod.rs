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
mod matcher;
mod operator;
mod table;
mod words;

use std::sync::LazyLock;

use attributes::{Field, Texts};
pub use class::{Architecture, Class, Formats};
pub use error::{Fault, TaxonomyError};
pub use fused::Fused;
pub use kind::Kind;
use matcher::Matcher;
use table::Table;
pub use words::{Category, Direction};

use crate::model::KernelName;

/// The built-in rules.
const BUILTIN: &str = include_str!("kernel-names.toml");

/// Rules that classify kernels by name.
#[derive(Debug, Default)]
pub struct Taxonomy {
    table: Table,
    classes: Matcher,
    attributes: Matcher,
    operators: Matcher,
}

impl Taxonomy {
    /// The built-in rules.
    #[must_use]
    pub fn builtin() -> &'static Self {
        static BUILTIN: LazyLock<Taxonomy> =
            // The table is part of the program, and a test reads it: there is nothing to report.
            LazyLock::new(|| builtin_table().and_then(Taxonomy::new).unwrap_or_default());
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
        Self::new(table.before(builtin_table()?))
    }

    /// Classifies a name as written by any profiler; unrecognized names get an empty class.
    ///
    /// Runs in linear time in the length of the name, and accepts any text.
    #[must_use]
    pub fn classify(&self, name: &str) -> Class {
        let head = KernelName::head(name);
        // A namespace that contains `gemm`, and has nothing to do with it.
        let head = head.replace("fbgemm_gpu::", "");
        let mut class = Class::unknown();
        let rule = self.classes.matches(&head).first().copied();
        let rule = rule.and_then(|at| self.table.classes.get(at));
        if let Some(rule) = rule {
            class.rule = Some(rule.id.clone());
            class.kind = Some(rule.kind);
            class.category = rule.kind.category();
            class.library.clone_from(&rule.library);
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
        let rule = self.operators.matches(&word).first().copied();
        if let Some(rule) = rule.and_then(|at| self.table.by_operator.get(at)) {
            class.rule = Some(rule.id.clone());
            class.kind = Some(rule.kind);
            class.category = rule.kind.category();
            class.library.clone_from(&rule.library);
            class.tensor = rule.tensor.and_then(attributes::Answer::known);
            class.by_operator = true;
            class.direction = direction(rule.kind)
                .or_else(|| word.contains("backward").then_some(Direction::Backward));
        }
        class
    }

    /// Returns the text of each field.
    fn texts<'a>(&'a self, head: &'a str) -> Texts<'a> {
        let mut texts = Texts::default();
        for at in self.attributes.matches(head) {
            let rule = &self.table.attributes[at];
            for (name, text) in
                rule.groups().map(|groups| groups.captures(head)).unwrap_or_default()
            {
                if let Some(field) = Field::from_key(name) {
                    texts.capture(field, text);
                }
            }
            for (field, text) in &rule.set {
                texts.set(*field, text);
            }
        }
        texts
    }

    fn new(table: Table) -> Result<Self, TaxonomyError> {
        // Each pattern was compiled alone before: only all together can they be too much.
        let together = |reason| TaxonomyError {
            path: "kernel names".to_owned(),
            line: 1,
            column: 1,
            fault: Fault::Syntax(format!("the patterns cannot be compiled together: {reason}")),
        };
        let classes = table.classes.iter().map(|rule| rule.pattern.as_str());
        let classes = Matcher::new(classes).map_err(together)?;
        let attributes = table.attributes.iter().map(|rule| rule.pattern.as_str());
        let attributes = Matcher::new(attributes).map_err(together)?;
        let operators = table.by_operator.iter().map(|rule| rule.pattern.as_str());
        let operators = Matcher::new(operators).map_err(together)?;
        Ok(Self { table, classes, attributes, operators })
    }
}

/// Where the built-in table comes from.
const BUILTIN_PATH: &str = "src/taxonomy/kernel-names.toml";

fn builtin_table() -> Result<Table, TaxonomyError> {
    Table::trusted(BUILTIN_PATH, BUILTIN)
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
    use super::*;

    #[test]
    fn the_builtin_table_is_valid() {
        Taxonomy::new(Table::parse(BUILTIN_PATH, BUILTIN).unwrap()).unwrap();
        assert!(Taxonomy::builtin().table.classes.len() > 70);
    }
}
