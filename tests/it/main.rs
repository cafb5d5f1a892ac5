//! All integration tests, in one binary: each one that links polars costs seconds and disk.
#![allow(clippy::print_stdout, reason = "tests say what they measured or skipped")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod advice;
mod algorithmic;
mod alike;
mod arithmetic;
mod attacks;
mod bad;
mod brief;
#[cfg(feature = "page")]
mod browser;
#[cfg(feature = "encodings")]
mod captured;
mod cases;
mod circles;
mod cli;
mod columns;
mod custom_rules;
mod devices;
#[cfg(all(unix, feature = "page"))]
mod documented;
mod duplicates;
#[cfg(all(feature = "frames", feature = "cli"))]
mod fleet;
#[cfg(all(feature = "frames", feature = "cli"))]
mod folders;
mod foreign;
#[cfg(all(unix, feature = "page"))]
mod forges;
mod formats_page;
#[cfg(all(feature = "encodings", feature = "expressions"))]
mod fuzz;
mod gate;
mod golden;
mod history;
mod hostile;
mod house;
mod interfaces;
mod judged;
mod lacks;
mod laws;
mod levels;
mod metrics;
mod misread;
mod ncu_report;
#[cfg(feature = "frames")]
mod next_steps;
#[cfg(feature = "sqlite")]
mod nsys;
mod nvprof;
mod nvtx;
#[cfg(feature = "plot")]
mod pictures;
mod pipes;
mod policy;
mod predict;
mod profiles;
mod program;
mod ranking;
mod roofs;
mod rule_coverage;
mod rules;
mod run_rules;
mod saved;
mod site;
#[cfg(feature = "frames")]
mod sql;
mod taxonomy;
mod terminal;
mod timeline;
mod times_alone;
mod tool_advice;
mod verdicts;
mod what_if;
mod whole;
#[cfg(unix)]
mod with_ncu;
mod wording;
mod worked_cases;
mod workload;
