//! Fields that attribute patterns can set, and how their texts are parsed.

use std::collections::BTreeMap;

use super::class::{Architecture, Class};
use super::fused::Fused;
use super::words::{Category, Direction};
use crate::model::DataType;

macro_rules! fields {
    ($($variant:ident, $key:literal;)*) => {
        /// A field that an attribute pattern can set.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Field { $($variant),* }

        impl Field {
            pub(super) const ALL: &'static [Field] = &[$(Field::$variant),*];

            pub(super) const fn key(self) -> &'static str {
                match self { $(Field::$variant => $key),* }
            }
        }
    };
}

fields! {
    Tensor, "tensor";
    Mma, "mma";
    TileM, "tile_m";
    TileN, "tile_n";
    TileK, "tile_k";
    Stages, "stages";
    HeadDim, "head_dim";
    A, "a";
    B, "b";
    Accumulate, "accumulate";
    Output, "output";
    Stored, "stored";
    Inferred, "inferred";
    Layout, "layout";
    SplitK, "split_k";
    Direction, "direction";
    BuiltFor, "built_for";
    Align, "align";
    Fused, "fused";
    Library, "library";
}

impl Field {
    pub(super) fn from_key(key: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|field| field.key() == key)
    }

    /// Checks that a fixed value is valid; the error lists what is allowed.
    pub(super) fn check(self, value: &str) -> Result<(), Vec<String>> {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let (good, allowed) = match self {
            Self::Tensor | Self::SplitK | Self::Inferred => {
                (Answer::from_key(value).is_some(), texts(&Answer::WORDS))
            }
            Self::TileM
            | Self::TileN
            | Self::TileK
            | Self::Stages
            | Self::HeadDim
            | Self::Align => (number(value).is_some(), texts(&["a whole number above 0"])),
            Self::A | Self::B | Self::Accumulate | Self::Output | Self::Stored => {
                let mut names: Vec<&str> = DataType::ALL.iter().map(|kind| kind.name()).collect();
                names.push("unknown");
                (value == "unknown" || DataType::parse(value).is_some(), texts(&names))
            }
            Self::Direction => {
                let keys: Vec<&str> = Direction::ALL.iter().map(|way| way.key()).collect();
                (Direction::from_key(value).is_some(), texts(&keys))
            }
            Self::BuiltFor => (
                architecture(value).is_some(),
                texts(&["a family such as ampere", "digits such as 90"]),
            ),
            Self::Mma | Self::Layout | Self::Fused | Self::Library => {
                (!value.is_empty(), texts(&["a word"]))
            }
        };
        if good { Ok(()) } else { Err(allowed) }
    }
}

/// A yes or no value that may be unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Answer(pub(super) Option<bool>);

impl Answer {
    pub(super) const WORDS: [&'static str; 3] = ["yes", "no", "unknown"];

    pub(super) fn from_key(word: &str) -> Option<Self> {
        match word {
            "yes" => Some(Self(Some(true))),
            "no" => Some(Self(Some(false))),
            "unknown" => Some(Self(None)),
            _ => None,
        }
    }

    pub(super) fn known(self) -> Option<bool> {
        self.0
    }
}

/// Texts found in one name, by field; the first one per field is kept.
#[derive(Debug, Default)]
pub(super) struct Texts<'a>([Option<Text<'a>>; Field::ALL.len()]);

/// A word of the name, or of the table, which uses our own names for data types.
#[derive(Debug, Clone, Copy)]
enum Text<'a> {
    Captured(&'a str),
    Set(&'a str),
}

impl<'a> Texts<'a> {
    pub(super) fn capture(&mut self, field: Field, text: &'a str) {
        self.0[field as usize].get_or_insert(Text::Captured(text));
    }

    pub(super) fn set(&mut self, field: Field, text: &'a str) {
        self.0[field as usize].get_or_insert(Text::Set(text));
    }

    fn get(&self, field: Field) -> Option<&'a str> {
        match self.0[field as usize]? {
            Text::Captured(text) | Text::Set(text) => Some(text),
        }
    }

    fn owned(&self, field: Field) -> Option<String> {
        self.get(field).map(str::to_owned)
    }

    fn number(&self, field: Field) -> Option<u32> {
        self.get(field).and_then(number)
    }

    fn answer(&self, field: Field) -> Option<bool> {
        self.get(field).and_then(Answer::from_key).and_then(Answer::known)
    }

    fn data_type(&self, field: Field, words: &BTreeMap<String, DataType>) -> Option<DataType> {
        match self.0[field as usize]? {
            Text::Captured(text) => words.get(text).copied(),
            Text::Set(text) => DataType::parse(text),
        }
    }

    /// Completes a class whose rule, category, kind and library are known, given the spellings of
    /// data types and the operators whose names contain `_`.
    pub(super) fn fill(
        &self,
        class: &mut Class,
        data_types: &BTreeMap<String, DataType>,
        operators: &[String],
    ) {
        class.library = class.library.take().or_else(|| self.owned(Field::Library));
        class.direction = self.get(Field::Direction).and_then(Direction::from_key);
        class.built_for = self.get(Field::BuiltFor).and_then(architecture);
        class.alignment = self.number(Field::Align);
        self.formats(class, data_types);
        class.fused = self.get(Field::Fused).map(|list| {
            // XLA numbers its fusions outside the list.
            let numbered = class.library.as_deref() != Some("xla");
            Fused::read(list, numbered, operators)
        });
        if class.category == Category::DotProduct {
            class.tensor = self.answer(Field::Tensor);
            class.mma = self.owned(Field::Mma);
            class.tile = self.number(Field::TileM).zip(self.number(Field::TileN));
            class.tile_k = self.number(Field::TileK);
            class.stages = self.number(Field::Stages);
            class.head_dim = self.number(Field::HeadDim);
            class.split_k = self.answer(Field::SplitK).unwrap_or(false);
            class.layout = self.get(Field::Layout).map(str::to_ascii_lowercase);
        }
    }

    fn formats(&self, class: &mut Class, words: &BTreeMap<String, DataType>) {
        let formats = &mut class.formats;
        formats.a = self.data_type(Field::A, words);
        formats.b = self.data_type(Field::B, words).or(formats.a);
        formats.accumulate = self.data_type(Field::Accumulate, words);
        formats.output = self.data_type(Field::Output, words);
        formats.stored = match self.get(Field::Stored) {
            Some(_) => self.data_type(Field::Stored, words),
            None => formats.a,
        };
        // TF32 is a mode of the matrix units; in memory it is FP32.
        if formats.stored == Some(DataType::Tf32) {
            formats.stored = Some(DataType::Fp32);
        }
        formats.inferred = self.answer(Field::Inferred).unwrap_or(false);
        if class.category != Category::DotProduct {
            formats.b = None;
            formats.accumulate = None;
        }
    }
}

fn number(text: &str) -> Option<u32> {
    text.parse().ok().filter(|number| *number > 0)
}

/// Parses a family (`ampere`), the digits of a compute capability (`90`), or an AMD target (`90a`).
fn architecture(text: &str) -> Option<Architecture> {
    const FAMILIES: [(&str, (u32, u32)); 7] = [
        ("maxwell", (5, 0)),
        ("pascal", (6, 0)),
        ("volta", (7, 0)),
        ("turing", (7, 5)),
        ("ampere", (8, 0)),
        ("hopper", (9, 0)),
        ("blackwell", (10, 0)),
    ];
    if let Some((family, capability)) = FAMILIES.iter().find(|(family, _)| *family == text) {
        return Some(Architecture {
            name: (*family).to_owned(),
            compute_capability: Some(*capability),
        });
    }
    if !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    match (text.len(), text.parse::<u32>()) {
        // gfx targets below 10 have three digits, the last hexadecimal: 908, 90a, 942; 10 and up four.
        (3, Ok(digits)) if (900..1000).contains(&digits) => Some(gfx(text)),
        (2 | 3, Ok(digits)) => Some(Architecture {
            name: format!("sm_{digits}"),
            compute_capability: Some((digits / 10, digits % 10)),
        }),
        (3 | 4, _) => Some(gfx(text)),
        _ => None,
    }
}

fn gfx(text: &str) -> Architecture {
    Architecture { name: format!("gfx{text}"), compute_capability: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn architectures_are_read_from_families_digits_and_amd_targets() {
        for (text, name, capability) in [
            ("turing", "turing", Some((7, 5))),
            ("80", "sm_80", Some((8, 0))),
            ("103", "sm_103", Some((10, 3))),
            ("120", "sm_120", Some((12, 0))),
            ("90a", "gfx90a", None),
            ("942", "gfx942", None),
            ("1100", "gfx1100", None),
        ] {
            let read = architecture(text).unwrap();
            assert_eq!((read.name.as_str(), read.compute_capability), (name, capability));
        }
        assert_eq!(architecture("fermi"), None);
    }
}
