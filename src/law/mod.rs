//! The law of the model for one launch: what it needs at least on its device, with bounds.
//!
//! Written once over [`crate::scalar::Number`]: [`crate::analysis`] evaluates it, [`crate::sql`] prints
//! it. Numbers are in SI base units; shares are from 0 to 1.

mod ceilings;
mod figures;
mod ground;
mod interval;
mod judged;
mod kernel;
mod launch;
mod math;
mod nature;
mod reading;
mod roofs;
mod scene;
mod state;
mod structural;

pub use ceilings::CeilingSet;
pub(crate) use figures::{figures, roofs};
pub(crate) use ground::Ground;
pub(crate) use interval::Interval;
pub(crate) use judged::{Judged, PipeWork, Problem, Traffic};
pub(crate) use kernel::{
    AVERAGED, Averages, Bar, Blocks, Kernel, UNTIMED, has_several_items, is_short,
};
pub(crate) use launch::judge;
pub(crate) use math::work_time;
pub(crate) use nature::{Nature, Uncounted};
pub(crate) use reading::{Counted, Origin, Reading};
pub(crate) use roofs::{Limits, Roof, Roofs, group};
pub(crate) use scene::Instrument;
pub use state::State;
