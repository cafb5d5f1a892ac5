//! The table of names: TOML entries, checked with their position in the file.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;

use super::attributes::{Answer, Field};
use super::error::{Fault, TaxonomyError};
use super::kind::Kind;
use super::literals::Text;
use super::matcher::{Pattern, Source};
use crate::model::DataType;
use crate::plain;

/// A checked table; the order of entries is their precedence.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Table {
    pub(super) classes: Vec<ClassRule>,
    pub(super) attributes: Vec<AttributeRule>,
    /// Spellings of data types in names.
    pub(super) data_types: BTreeMap<String, DataType>,
    /// Rules for operators, used for kernels whose names are not recognized.
    pub(super) by_operator: Vec<ClassRule>,
    /// Operators whose names contain `_`.
    pub(super) operators: Vec<String>,
}

/// Recognizes what a kernel does.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ClassRule {
    pub(super) id: Text,
    pub(super) kind: Kind,
    pub(super) library: Option<Text>,
    /// Value that overrides the attributes.
    pub(super) tensor: Option<Answer>,
    pub(super) pattern: Source,
}

/// Reads fields from a name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AttributeRule {
    pub(super) pattern: Source,
    pub(super) set: Cow<'static, [(Field, Text)]>,
}

impl Table {
    /// The built-in entries, which the build made constants of.
    pub(super) fn builtin() -> Self {
        let data_type = |(word, data_type): &(&str, DataType)| ((*word).to_owned(), *data_type);
        Self {
            classes: builtin::CLASSES.to_vec(),
            attributes: builtin::ATTRIBUTES.to_vec(),
            data_types: builtin::DATA_TYPES.iter().map(data_type).collect(),
            by_operator: builtin::BY_OPERATOR.to_vec(),
            operators: builtin::FUSED.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    /// Parses and checks a file's entries; messages refer to it as `path`.
    pub(super) fn parse(path: &str, text: &str) -> Result<Self, TaxonomyError> {
        let place = Place { path, text };
        let wire: Wire = toml::from_str(text).map_err(|error| {
            let fault = Fault::Syntax(plain::toml(text, &error).message);
            place.error(&error.span().unwrap_or_default(), fault)
        })?;
        let mut table =
            Self { operators: wire.fused.unwrap_or_default().operators, ..Self::default() };
        for (word, name) in wire.data_types {
            let data_type = DataType::parse(name.get_ref()).ok_or_else(|| {
                let allowed = DataType::ALL.iter().map(|kind| kind.name().to_owned()).collect();
                place.value("data type", &name, allowed)
            })?;
            table.data_types.insert(word, data_type);
        }
        for entry in wire.class {
            table.classes.push(place.class(entry)?);
        }
        for entry in wire.operator {
            table.by_operator.push(place.class(entry)?);
        }
        for entry in wire.attr {
            table.attributes.push(place.attribute(entry)?);
        }
        Ok(table)
    }

    /// Puts these entries before the other's.
    pub(super) fn before(mut self, other: Self) -> Self {
        self.classes.extend(other.classes);
        self.attributes.extend(other.attributes);
        self.by_operator.extend(other.by_operator);
        for (word, data_type) in other.data_types {
            self.data_types.entry(word).or_insert(data_type);
        }
        self.operators.extend(other.operators);
        self
    }
}

/// The file, for messages with positions.
struct Place<'a> {
    path: &'a str,
    text: &'a str,
}

impl Place<'_> {
    fn error(&self, at: &Range<usize>, fault: Fault) -> TaxonomyError {
        let before = self.text.get(..at.start).unwrap_or(self.text);
        TaxonomyError {
            path: self.path.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before.rsplit('\n').next().unwrap_or_default().chars().count() + 1,
            fault,
        }
    }

    fn value(
        &self,
        what: &'static str,
        value: &Spanned<String>,
        allowed: Vec<String>,
    ) -> TaxonomyError {
        let value_text = value.get_ref().clone();
        self.error(&value.span(), Fault::Value { what, value: value_text, allowed })
    }

    fn class(&self, entry: ClassWire) -> Result<ClassRule, TaxonomyError> {
        self.check(&entry.pattern)?;
        let kind = Kind::from_key(entry.kind.get_ref()).ok_or_else(|| {
            let allowed = Kind::ALL.iter().map(|kind| kind.key().to_owned()).collect();
            self.value("kind", &entry.kind, allowed)
        })?;
        let tensor = match &entry.tensor {
            None => None,
            Some(word) => Some(Answer::from_key(word.get_ref()).ok_or_else(|| {
                let allowed = Answer::WORDS.map(str::to_owned).to_vec();
                self.value("answer", word, allowed)
            })?),
        };
        Ok(ClassRule {
            id: entry.id.into(),
            kind,
            library: entry.library.map(Text::from),
            tensor,
            pattern: entry.pattern.into_inner().into(),
        })
    }

    fn attribute(&self, entry: AttributeWire) -> Result<AttributeRule, TaxonomyError> {
        let compiled = self.check(&entry.pattern)?;
        let fields = || Field::ALL.iter().map(|field| field.key().to_owned()).collect();
        for name in compiled.groups() {
            if Field::from_key(name).is_none() {
                let fault =
                    Fault::Value { what: "field", value: name.to_owned(), allowed: fields() };
                return Err(self.error(&entry.pattern.span(), fault));
            }
        }
        let mut set = Vec::new();
        for (key, value) in &entry.set {
            let field =
                Field::from_key(key.get_ref()).ok_or_else(|| self.value("field", key, fields()))?;
            if let Err(allowed) = field.check(value.get_ref()) {
                return Err(self.value("value", value, allowed));
            }
            set.push((field, value.get_ref().clone().into()));
        }
        let pattern = entry.pattern;
        if set.is_empty() && compiled.groups().count() == 0 {
            let fault = Fault::TellsNothing { pattern: pattern.get_ref().clone() };
            return Err(self.error(&pattern.span(), fault));
        }
        Ok(AttributeRule { pattern: pattern.into_inner().into(), set: set.into() })
    }

    /// Compiles the pattern.
    fn check(&self, pattern: &Spanned<String>) -> Result<Pattern, TaxonomyError> {
        Pattern::new(pattern.get_ref()).map_err(|reason| {
            let text = pattern.get_ref().clone();
            self.error(&pattern.span(), Fault::Pattern { pattern: text, reason })
        })
    }
}

/// What the build made of `kernel-names.toml`.
mod builtin {
    use super::{Answer, AttributeRule, ClassRule, Cow, DataType, Field, Kind, Source};
    use crate::taxonomy::literals::{Alternative, Place};

    include!(concat!(env!("OUT_DIR"), "/kernel_names.rs"));
}

/// The file as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    #[serde(default)]
    class: Vec<ClassWire>,
    #[serde(default)]
    attr: Vec<AttributeWire>,
    #[serde(default)]
    operator: Vec<ClassWire>,
    #[serde(default, rename = "data-types")]
    data_types: BTreeMap<String, Spanned<String>>,
    fused: Option<FusedWire>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClassWire {
    id: String,
    kind: Spanned<String>,
    pattern: Spanned<String>,
    library: Option<String>,
    tensor: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AttributeWire {
    pattern: Spanned<String>,
    #[serde(default)]
    set: BTreeMap<Spanned<String>, Spanned<String>>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct FusedWire {
    operators: Vec<String>,
}
