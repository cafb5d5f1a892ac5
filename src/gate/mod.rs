//! Two sides of runs × policy → [`Decision`]: whether a change is acceptable, and why.

mod bounds;
mod certainty;
mod decision;
mod judge;
mod kernels;
mod policy;
mod rehearsal;
mod whole;
mod words;

pub use decision::{Check, Decision, Guess, Outcome, Subject, Value, Verdict};
pub use judge::{Setting, judge};
pub use policy::{Action, Bound, CodePlace, GateWaiver, Limit, Metric, Policy, Selector};
pub use rehearsal::{Calibration, Rehearsal, calibrate, self_test};
