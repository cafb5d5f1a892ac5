//! rooflint reads what a GPU profiler measured, says how long each kernel should have taken by the
//! roofline model, and ranks what can be won.
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod analysis;
pub mod catalog;
#[cfg(feature = "cli")]
pub mod cli;
pub mod ingest;
pub mod model;
pub mod report;
pub mod roofline;
pub mod rules;
pub mod units;
