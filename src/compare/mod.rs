//! Compares runs of the same program: matches kernels, even if their names change from build to
//! build, and measures the shift of each with its noise.

mod both;
mod comparison;
mod conditions;
mod contributions;
mod evidence;
mod family;
mod kernels;
mod noise;
mod pairing;
mod proposals;
mod rows;
mod run;
mod saved;
mod shared;
mod shifts;
mod sides;
mod statistics;
mod table;

pub use comparison::{Basis, Common, Comparison, Side};
pub use contributions::{Contribution, ContributionKind, Contributions};
pub use evidence::{
    Change, Counted, Evidence, Inferred, Lone, Measured, Proposal, ProposalKind, Unit, WorkChange,
};
pub use family::family;
pub use noise::Noise;
pub use pairing::{MatchLevel, Pair, Pairing, pair};
#[cfg(test)]
pub(crate) use run::tests as made;
pub use run::{
    Run, RunDevice, RunFile, RunFinding, RunKernel, RunOrigin, SAMPLES, SCHEMA, by_severity,
    fingerprint,
};
pub use sides::kernels;
pub use statistics::benjamini_hochberg;
pub(crate) use statistics::{
    mean, median, squares, student_quantile, student_tail, weighted_median,
};
pub use table::{Setting, compare};
