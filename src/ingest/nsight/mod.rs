//! Nsight Compute: its dialects, and what they share of metrics, units, derivations and messages.

mod derive;
mod form;
mod gathered;
mod header;
mod identity;
mod interleaved;
mod messages;
mod metrics;
mod nvtx;
mod parts;
mod passes;
mod row;
mod rule_texts;
mod rules;
mod scales;
mod tensor;
mod units;

formats! {
    wide,
    long,
    summary,
    report,
}

use derive::{
    COUNTERS, Context, Counter, Counts, Deriver, FP16_TERMS, FP32_TERMS, FP64_TERMS, Instructions,
    OriginCache, PACKED_TERMS, Terms, of_some,
};
use gathered::Gathered;
use identity::{Attributes, Identity, Whole, complete_shape};
use messages::Preamble;
pub(super) use messages::no_table;
use metrics::{Catalog, Kind, Raw, Wanted, kind, rank};
#[cfg(feature = "sqlite")]
pub(super) use nvtx::steady;
use rules::RuleColumns;
use units::{Dimension, content, unit};

/// Why the result of a whole graph is left out.
pub(super) const GRAPH: &str =
    "a whole CUDA graph: its counters are sums over several kernels, which have no common roof";

/// Says how many results of ranges are left out.
fn ranges_left_out(count: u64) -> String {
    if count == 1 {
        return "1 result of range replay is not read: it is not a launch".to_owned();
    }
    format!("{count} results of range replay are not read: they are not launches")
}

/// The command that gives the best input: one row per launch, all levels, base units.
const BEST: &str = "ncu --set full -o report APP && ncu --import report.ncu-rep --csv --page raw --print-units base > report.csv";

/// The command that gives one row per launch and metric, with the results of rules.
const DETAILS: &str = "ncu --set full -o report APP && ncu --import report.ncu-rep --csv --page details --print-units base > details.csv";
