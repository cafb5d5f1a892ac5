//! Rules of the user's own: a condition over the columns of kernels or launches, and what to say.

#[cfg(not(feature = "expressions"))]
mod absent;
#[cfg(feature = "expressions")]
mod checker;
#[cfg(feature = "expressions")]
mod expression;
mod judge;
mod listing;
mod template;

#[cfg(not(feature = "expressions"))]
pub use absent::Expression;
#[cfg(feature = "expressions")]
pub use expression::Expression;
pub(super) use judge::check_launches;
pub use listing::columns_page;
pub use template::Template;

pub(crate) use judge::NOT_ESTIMATED;
pub(super) use judge::check_kernels;

use super::finding::Severity;
use crate::analysis::Columns;
use crate::plain;

/// A rule of the user's own.
#[derive(Debug, Clone, PartialEq)]
pub struct Custom {
    /// Its name; no built-in rule has it.
    pub id: String,
    /// What it looks at.
    pub over: Over,
    /// When it speaks.
    pub when: Expression,
    /// What it says.
    pub message: Template,
    /// How grave that is; without it, what follows from the time at stake.
    pub severity: Option<Severity>,
    /// The next experiment.
    pub next: Option<Template>,
    /// What a cure would bring, in seconds.
    pub at_stake: Option<Expression>,
}

/// What a custom rule looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Over {
    /// Every kernel: all launches of a name and shape as one.
    #[default]
    Kernels,
    /// Every launch; it speaks of a kernel once, however many of its launches match.
    Launches,
}

impl Over {
    /// Every one.
    pub const ALL: [Self; 2] = [Self::Kernels, Self::Launches];

    /// The word in a configuration.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Kernels => "kernels",
            Self::Launches => "launches",
        }
    }

    /// What can be asked.
    #[must_use]
    pub fn columns(self) -> &'static Columns {
        match self {
            Self::Kernels => Columns::of_kernels(),
            Self::Launches => Columns::of_launches(),
        }
    }

    fn no_column(self, name: &str, at: usize) -> Fault {
        let near = plain::did_you_mean(name, self.columns().all().iter().map(|one| &*one.name));
        let (one, word) = match self {
            Self::Kernels => ("kernel", "kernels"),
            Self::Launches => ("launch", "launches"),
        };
        Fault {
            at,
            message: format!("unknown {one} column {name:?}"),
            help: format!("{near}list them with `rooflint rules --columns {word}`"),
        }
    }
}

/// What is wrong in an expression or a message, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Byte of the text at which it stands.
    pub at: usize,
    /// What is wrong, in words.
    pub message: String,
    /// The next step, as one sentence.
    pub help: String,
}

impl Fault {
    fn new(at: usize, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { at, message: message.into(), help: help.into() }
    }
}
