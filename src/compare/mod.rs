//! Two runs of the same program: which kernels are the same, through names that change from build to build.

mod family;
mod pairing;

pub use family::family;
pub use pairing::{MatchLevel, Pair, Pairing, pair};
