//! Comparison × policy → [`Decision`]: whether a change is acceptable, and why.

mod decision;
mod policy;

pub use decision::{Check, Decision, Guess, Outcome, Subject, Value, Verdict};
pub use policy::{Action, Bound, CodePlace, GateWaiver, Limit, Metric, Policy, Selector};
