//! Values of the file with their place, and with the schema that editors check them by.

use std::borrow::Cow;
use std::ops::Range;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};

use crate::taxonomy::{Category, Kind};

/// A value and where it stands; in the schema it is the value alone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Spanned<T>(toml::Spanned<T>);

impl<T> Spanned<T> {
    /// The bytes of the file that hold it.
    pub(super) fn span(&self) -> Range<usize> {
        self.0.span()
    }

    pub(super) fn get_ref(&self) -> &T {
        self.0.get_ref()
    }

    pub(super) fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Spanned<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        toml::Spanned::deserialize(deserializer).map(Self)
    }
}

impl<T: JsonSchema> JsonSchema for Spanned<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

macro_rules! inline_schema {
    ($name:ident, $schema:expr) => {
        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    };
}

/// A number, or a text with a number and a unit.
#[derive(Debug, Clone, Deserialize)]
#[serde(transparent)]
pub(super) struct Amount(pub(super) toml::Value);

inline_schema!(Amount, json_schema!({ "type": ["number", "string"] }));

impl Amount {
    /// A number as it is; a text by `read`, as the option of the same name takes it.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub(super) fn number(&self, read: impl Fn(&str) -> Result<f64, String>) -> Result<f64, String> {
        match &self.0 {
            toml::Value::Float(number) => Ok(*number),
            toml::Value::Integer(number) => Ok(*number as f64),
            toml::Value::String(text) => read(text),
            other => {
                let found = match other {
                    toml::Value::Boolean(value) => value.to_string(),
                    toml::Value::Array(_) => "a list".to_owned(),
                    toml::Value::Table(_) => "a table".to_owned(),
                    _ => "a date".to_owned(),
                };
                Err(format!("expected a number or text in quotes, found {found}"))
            }
        }
    }
}

/// A date; TOML writes it without quotes, and editors take it for a text.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(transparent)]
pub(super) struct Day(pub(super) toml::value::Datetime);

inline_schema!(Day, json_schema!({ "type": "string", "format": "date" }));

/// Stands in the schema for the key of a category.
pub(super) struct CategoryKey;

inline_schema!(CategoryKey, {
    let keys: Vec<&str> = Category::ALL.iter().map(|one| one.key()).collect();
    json_schema!({ "type": "string", "enum": keys })
});

/// Stands in the schema for the key of a kind of operation.
pub(super) struct KindKey;

inline_schema!(KindKey, {
    let keys: Vec<&str> = Kind::ALL.iter().map(|one| one.key()).collect();
    json_schema!({ "type": "string", "enum": keys })
});
