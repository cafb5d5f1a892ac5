//! rooflint reads exports of GPU profilers, computes how fast each kernel could run by the roofline
//! model, and ranks kernels by potential savings.
//!
//! A profiler says what was **measured**; a catalog says what the hardware **can** do; the roofline
//! says how long it **should** have taken; rules say **why** it took longer; a report says it
//! **plainly**. One stage, one module, data flowing down:
//!
//! ```text
//! CSV ──ingest──▶ Profile ─┐
//!                          ├─analysis─▶ Analysis ──rules──▶ Findings ──report──▶ text · markdown · json · csv · html
//! devices ─catalog▶ Device ┘  (roofline law)      │
//!                                                 └─▶ Run ──compare──▶ Comparison ──gate──▶ Decision ──report──▶ …
//!                               history keeps ─────────┘                  policy ─┘
//! ```
//!
//! `cli` calls the stages, and owns the terminal and the exit code.
//!
//! Without a profile, [`predict`] compares closed forms of kernels with the same devices. The rules
//! of [`taxonomy`] classify kernels by their names.
//!
//! ```
//! use rooflint::{ingest, report, session::Session};
//!
//! let profile = ingest::read_text("demo", rooflint::SAMPLE, &ingest::Options::default())?;
//! let judged = Session::default().judge(&profile)?;
//!
//! let first = judged.analysis.opportunities().next().expect("the sample has opportunities");
//! assert!(first.headroom().unwrap() > judged.analysis.threshold);
//!
//! let report = report::Report {
//!     analysis: &judged.analysis, findings: &judged.findings, top: 10, what_if: &[], command: None,
//! };
//! let text = report::written(&report, "text", &report::Style::default()).expect("a format");
//! assert!(text.starts_with("GPU time"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(test, allow(clippy::unwrap_used))]

/// Joins the lists of several files in a constant, so that each entry is listed once, in its own
/// file.
macro_rules! joined {
    ($one:ty, $lists:expr) => {{
        const LISTS: &[&[$one]] = $lists;
        const COUNT: usize = {
            let (mut list, mut count) = (0, 0);
            while list < LISTS.len() {
                count += LISTS[list].len();
                list += 1;
            }
            count
        };
        const ALL: [$one; COUNT] = {
            let mut all = [LISTS[0][0]; COUNT];
            let (mut list, mut count) = (0, 0);
            while list < LISTS.len() {
                let mut at = 0;
                while at < LISTS[list].len() {
                    all[count] = LISTS[list][at];
                    (at, count) = (at + 1, count + 1);
                }
                list += 1;
            }
            all
        };
        &ALL
    }};
}

pub mod analysis;
pub mod catalog;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "gate")]
pub mod compare;
pub mod config;
#[cfg(feature = "gate")]
pub mod fleet;
#[cfg(feature = "gate")]
pub mod gate;
#[cfg(feature = "gate")]
pub mod history;
pub mod ingest;
mod json;
mod law;
pub mod model;
mod plain;
pub mod predict;
pub mod report;
pub mod roofline;
pub mod rules;
mod scalar;
pub mod session;
pub mod sql;
pub mod table;
pub mod taxonomy;
#[cfg(any(feature = "gate", feature = "sqlite"))]
mod unfinished;
pub mod units;

/// A sample profile: one step of a small transformer's training on an H100, as Nsight Compute's raw page.
pub const SAMPLE: &str = include_str!("../fixtures/demo/h100-training-step.csv");

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
