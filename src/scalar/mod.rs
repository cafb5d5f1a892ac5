//! Scalars that the model is written over: numbers of one launch, or expressions over a table's columns.
//!
//! A formula that is generic over [`Number`] is evaluated with `f64` and printed as SQL with an
//! expression, so that both come from one text.

mod maybe;
mod number;

pub(crate) use maybe::Maybe;
pub(crate) use number::{Branch, Constant, Number, Truth, Word};
