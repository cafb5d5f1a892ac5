//! What the Nsight Compute dialects share: metrics, units, derivations, identity, messages.

mod derive;
mod form;
mod identity;
mod messages;
mod metrics;
mod nvtx;
mod rule_texts;
mod rules;
mod tensor;
mod units;

pub(in crate::ingest) use derive::{Context, Deriver, OriginCache};
pub(in crate::ingest) use identity::{Attributes, Identity, complete_shape};
pub(in crate::ingest) use messages::{Preamble, no_table};
pub(in crate::ingest) use metrics::{Catalogue, Gathered, Kind, Raw, Wanted, kind};
pub(in crate::ingest) use rules::RuleColumns;
pub(in crate::ingest) use units::{Dimension, unit};

/// The command that gives the best input: one row per launch, all levels, base units.
pub(in crate::ingest) const BEST: &str = "ncu --set full -o report APP && ncu --import report.ncu-rep --csv --page raw --print-units base > report.csv";
