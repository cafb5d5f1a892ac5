//! Stub.
use super::{Analysis, Kernel};
use crate::model::Profile;
/// Stub.
#[derive(Debug)]
pub struct Explanation;
/// Stub.
#[must_use]
pub fn explain(_: &Profile, _: &Analysis, _: &Kernel) -> Explanation { Explanation }
