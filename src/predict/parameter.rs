//! Parameters of closed forms, with kinds, defaults and meanings.

use schemars::JsonSchema;
use serde::Serialize;

/// One parameter of a closed form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Parameter {
    /// The key in `key=value`.
    pub name: &'static str,
    /// Kind of its values.
    pub kind: Kind,
    /// Default when it is not given.
    pub default: Fallback,
    /// Meaning, in a few words.
    pub meaning: &'static str,
}

/// Kind of a parameter's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", content = "words", rename_all = "kebab-case")]
pub enum Kind {
    /// A whole number from 1 on.
    Size,
    /// A whole number from 0 on.
    Whole,
    /// A number above zero.
    Positive,
    /// Any finite number.
    Real,
    /// A format such as `fp16`; see [`super::DataType`].
    DataType,
    /// A format, or `none`.
    DataTypeOrNone,
    /// `yes` or `no`.
    Flag,
    /// A whole number from 1 on, or `auto`.
    SizeOrAuto,
    /// One of these words.
    Choice(
        /// The words.
        &'static [&'static str],
    ),
}

/// Default of a parameter that is not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "from", content = "value", rename_all = "kebab-case")]
pub enum Fallback {
    /// None: the parameter is required.
    Needed,
    /// This value.
    Text(
        /// The value.
        &'static str,
    ),
    /// The value of an earlier parameter.
    SameAs(
        /// The name of that parameter.
        &'static str,
    ),
}

impl Parameter {
    const fn needed(name: &'static str, kind: Kind, meaning: &'static str) -> Self {
        Self { name, kind, default: Fallback::Needed, meaning }
    }

    /// A whole number from 1 on that must be given.
    pub(super) const fn size(name: &'static str, meaning: &'static str) -> Self {
        Self::needed(name, Kind::Size, meaning)
    }

    /// A whole number from 0 on that must be given.
    pub(super) const fn whole(name: &'static str, meaning: &'static str) -> Self {
        Self::needed(name, Kind::Whole, meaning)
    }

    /// A number above zero that must be given.
    pub(super) const fn positive(name: &'static str, meaning: &'static str) -> Self {
        Self::needed(name, Kind::Positive, meaning)
    }

    /// Any number that must be given.
    pub(super) const fn real(name: &'static str, meaning: &'static str) -> Self {
        Self::needed(name, Kind::Real, meaning)
    }

    /// A format that must be given.
    pub(super) const fn data_type(name: &'static str, meaning: &'static str) -> Self {
        Self::needed(name, Kind::DataType, meaning)
    }

    /// `yes` or `no`, and `no` when not given.
    pub(super) const fn flag(name: &'static str, meaning: &'static str) -> Self {
        Self::needed(name, Kind::Flag, meaning).or("no")
    }

    /// A whole number from 1 on, and `auto` when not given.
    pub(super) const fn auto(name: &'static str, meaning: &'static str) -> Self {
        Self::needed(name, Kind::SizeOrAuto, meaning).or("auto")
    }

    /// One of these words; the first when not given.
    pub(super) const fn choice(
        name: &'static str,
        words: &'static [&'static str],
        meaning: &'static str,
    ) -> Self {
        Self::needed(name, Kind::Choice(words), meaning).or(words[0])
    }

    /// Sets a default.
    pub(super) const fn or(mut self, text: &'static str) -> Self {
        self.default = Fallback::Text(text);
        self
    }

    /// Sets another parameter as the default.
    pub(super) const fn same_as(mut self, other: &'static str) -> Self {
        self.default = Fallback::SameAs(other);
        self
    }

    /// Sets the kind.
    pub(super) const fn of(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }

    /// Returns its default for people: `required`, the value, or `= other`.
    #[must_use]
    pub fn shown_default(&self) -> String {
        match self.default {
            Fallback::Needed => "required".to_owned(),
            Fallback::Text(text) => text.to_owned(),
            Fallback::SameAs(other) => format!("= {other}"),
        }
    }
}

impl Kind {
    /// Returns `true` if it can be swept over a range.
    #[must_use]
    pub const fn is_number(self) -> bool {
        self.is_whole() || matches!(self, Self::Positive | Self::Real)
    }

    /// Returns `true` if its values are whole numbers.
    #[must_use]
    pub const fn is_whole(self) -> bool {
        matches!(self, Self::Size | Self::Whole | Self::SizeOrAuto)
    }
}

/// The default format of all operands.
pub(super) const DTYPE: Parameter = Parameter::data_type("dtype", "format of the operands");

/// The format of indices.
pub(super) const INDEX: Parameter = Parameter::data_type("index", "format of the indices");

/// Flag to count lower-order terms, which the customary form omits.
pub(super) const EXACT: Parameter =
    Parameter::flag("exact", "count the lower-order terms that the customary form omits");

/// Parameters of forms that run as tiled matrix products; they change waves and executed work,
/// never the algorithmic counts.
pub(super) const TILING: &[Parameter] = &[
    Parameter::auto("tile_m", "rows of the output tile of one block; auto: 128, or 64 if m ≤ 64"),
    Parameter::auto("tile_n", "columns of the output tile; auto: 128, or 64 if n ≤ 64"),
    Parameter::auto("tile_k", "depth of one step; auto: 128 bytes of A"),
    Parameter::size("split_k", "blocks that share one output tile along k").or("1"),
    Parameter::size("cluster_m", "blocks along m that share what they load of B").or("1"),
    Parameter::size("cluster_n", "blocks along n that share what they load of A").or("1"),
    Parameter::auto("threads", "threads per block; auto: 256, or 128 below 128×128 outputs"),
    Parameter::auto("resident", "blocks resident on one SM; auto: from registers, shared memory"),
];
