//! Compares runs of the same program: matches kernels, even if their names change from build to
//! build, and measures the shift of each with its noise.

mod both;
mod comparison;
mod conditions;
mod contributions;
mod counts;
mod coverage;
mod evidence;
mod family;
mod gathered;
mod kernels;
mod launch;
mod lost;
#[cfg(test)]
pub(crate) mod made;
mod measured;
mod mix;
mod noise;
mod odd;
#[cfg(feature = "frames")]
mod over_ranks;
mod pairing;
mod proposals;
mod rows;
mod rule_list;
mod run;
mod run_table;
mod saved;
mod seal;
mod shared;
mod shifts;
mod sides;
mod split;
mod statistics;
mod table;
mod untimed;

pub use comparison::{
    Basis, Common, Comparison, Contribution, ContributionKind, Contributions, Coverage, OddRun,
    Side, Split,
};
pub(crate) use conditions::{cut_off, is_beginning};
pub use counts::Counts;
pub use evidence::{
    Change, Counted, Evidence, Inferred, Lone, Measured, OfAll, OfRun, PerLaunch, Proposal,
    ProposalKind, Unit, WorkChange,
};
pub use family::family;
pub(crate) use family::written;
pub(crate) use measured::most_lack;
pub(crate) use mix::Mix;
pub use noise::Noise;
#[cfg(feature = "frames")]
pub(crate) use over_ranks::OverRanks;
pub use pairing::{MatchLevel, Pair, Pairing, pair};
pub use rule_list::RuleList;
pub use run::{
    Run, RunDevice, RunFile, RunFinding, RunKernel, RunOrigin, SAMPLES, SCHEMA, by_severity,
    run_schema,
};
pub use run_table::RUN_TABLE;
pub use seal::fingerprint;
pub use sides::kernels;
pub(crate) use sides::kernels_by_run;
pub use statistics::benjamini_hochberg;
pub(crate) use statistics::{
    CONFIDENCE, interval_confidence, mean, squares, student_quantile, student_tail, weighted_median,
};
pub use table::{Setting, alone, compare};
