//! Stands in for expressions where the feature `expressions` is left out: none can be read.

use std::convert::Infallible;

use super::{Fault, Over};
use crate::analysis::{Column, Row};
use crate::rules::Missing;

/// An expression; this build reads none.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression(Infallible);

impl Expression {
    /// Reads a condition.
    ///
    /// # Errors
    /// Always: this build has no reader of expressions.
    pub fn condition(_: &str, _: Over) -> Result<Self, Fault> {
        Err(absent())
    }

    /// Reads an amount.
    ///
    /// # Errors
    /// Always, as [`Expression::condition`].
    pub fn amount(_: &str, _: Over) -> Result<Self, Fault> {
        Err(absent())
    }

    /// The expression as written.
    #[must_use]
    pub fn text(&self) -> &str {
        match self.0 {}
    }

    /// The columns it names.
    #[must_use]
    pub fn columns(&self) -> &[&'static Column] {
        match self.0 {}
    }

    pub(super) fn holds(&self, _: &Row<'_>) -> Result<bool, Missing> {
        match self.0 {}
    }

    pub(super) fn number(&self, _: &Row<'_>) -> Result<f64, Missing> {
        match self.0 {}
    }
}

fn absent() -> Fault {
    let help = "build it with the feature `expressions`";
    Fault::new(0, "this build of rooflint has no custom rules", help)
}
