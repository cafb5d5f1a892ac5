//! Judges two sides of runs by a policy: the [`Decision`] says if a change is acceptable, and why.

mod anchor;
mod bounds;
mod causes;
mod certainty;
mod coverage;
mod damaged;
mod decision;
mod idle;
mod judge;
mod kernel_total;
mod kernels;
mod known;
mod metrics;
mod policy;
mod presence;
mod rehearsal;
mod renumbered;
mod self_test;
mod thresholds;
mod value;
mod waive;
mod whole;
mod words;

pub use anchor::{Anchor, beside};
pub use causes::how;
pub use damaged::no_repeats;
pub use decision::{Check, Decision, Detectable, Guess, Outcome, Subject, Verdict};
pub use judge::{Setting, judge};
pub use policy::{
    Action, Bound, CodePlace, GateWaiver, Limit, Metric, Normalize, Policy, Selector,
};
pub use rehearsal::{Alarms, Between, Calibration, Grouped, Seen, calibrate};
pub use self_test::{Must, Obstacle, Rehearsal, self_test};
pub use value::{Allowed, Value};
pub(crate) use words::is_scaled;
