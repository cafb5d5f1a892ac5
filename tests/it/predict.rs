//! Closed forms against published figures, against loops that are literally run, and against laws.
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

mod loops;
mod measured;
mod meter;

use rooflint::predict::{Arguments, Count, PredictError, form};

/// The arguments of a call such as `axpy n=4 dtype=fp32`.
fn arguments(call: &str) -> Result<Arguments, PredictError> {
    let (name, pairs) = call.split_once(' ').unwrap_or((call, ""));
    Arguments::parse(form(name)?, pairs.split_whitespace())
}

fn count(call: &str) -> Count {
    arguments(call).unwrap().count().unwrap()
}
