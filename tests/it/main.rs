//! All integration tests, in one binary: each one that links polars costs seconds and disk.
#![allow(clippy::print_stdout, reason = "tests say what they measured or skipped")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bad;
mod cases;
mod cli;
mod golden;
mod house;
mod laws;
mod metrics;
mod predict;
mod profiles;
mod rules;
mod taxonomy;
mod tool_advice;
mod what_if;
