//! Closed forms against published figures, against loops that are literally run, and against laws;
//! and the tables of the documentation against what the library computes.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::format_collect,
    clippy::format_push_string,
    clippy::many_single_char_names,
    clippy::similar_names,
    clippy::unwrap_used,
    reason = "tests: what is wrong here shows at once"
)]

pub(crate) mod cases;
mod document;
mod laws;
mod loops;
mod measured;
mod meter;
mod models;
#[cfg(feature = "plot")]
mod pictures;
pub(crate) mod program;

use rooflint::catalog::{Catalog, Device};
use rooflint::model::DeviceHint;
use rooflint::predict::{Arguments, Count, Options, PredictError, Prediction, form, predict};

/// The arguments of a call such as `axpy n=4 dtype=fp32`.
fn arguments(call: &str) -> Result<Arguments, PredictError> {
    let (name, pairs) = call.split_once(' ').unwrap_or((call, ""));
    Arguments::parse(form(name)?, pairs.split_whitespace())
}

fn count(call: &str) -> Count {
    arguments(call).unwrap().count().unwrap()
}

fn device(name: &str) -> Device {
    Catalog::builtin().find(name, &DeviceHint::default()).unwrap()
}

fn predicted(call: &str, device: &Device) -> Prediction {
    predict(&arguments(call).unwrap(), device, &Options::default()).unwrap()
}
