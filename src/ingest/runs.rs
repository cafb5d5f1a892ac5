//! Joins launches whose counters were taken in separate runs.

use crate::model::Profile;

pub(super) fn join(_: &mut Profile) {}
