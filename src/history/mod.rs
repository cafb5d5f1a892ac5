//! Saved runs over time: the baseline store, outlier checks of new baselines, and change points of
//! a program's performance.
//!
//! Nothing here reads the clock or the environment: the caller passes both.

mod batch;
mod change;
mod chosen;
mod dated;
mod distinct;
mod error;
mod folder;
mod form;
mod found;
mod git;
mod layout;
mod line;
mod linked;
mod metric;
mod moment;
mod needed;
mod outlier;
mod prune;
mod store;
mod trend;

pub(crate) use batch::counted_commits;
pub use batch::{Batch, batches};
pub use change::{
    ChangePoint, Drift, ENOUGH, MAX_P, MIN_CHANGE, MIN_SIDE, MIN_STEP, Turns, WINDOW, turns,
};
pub use chosen::Filter;
pub use dated::Dated;
pub use error::HistoryError;
pub use folder::is_baseline;
pub use form::SavedAs;
pub use git::{Head, head};
pub(crate) use layout::short;
pub use layout::{DEFAULT_NAME, MARKER, STORE_SCHEMA};
pub use line::{Line, Spread, TrendChange};
pub use metric::TrendMetric;
pub use moment::Moment;
pub use outlier::{BEFORE, Outlier, outliers};
pub use store::{Entry, Placed, Store, Unreadable};
pub use trend::{Least, Point, Trend, trend, trend_schema};
