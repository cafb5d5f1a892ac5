//! The geometry of attention: heads, queries, keys, and which pairs of them meet.

use super::arguments::Arguments;
use super::error::PredictError;
use super::parameter::{DTYPE, Parameter};
use crate::model::DataType;

/// Attention of Nq queries to Nk keys, with H query heads in G groups of key and value heads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Heads {
    pub(super) data_type: DataType,
    /// d, the width of a head.
    pub(super) width: f64,
    /// B·H·Nq, the rows of all score matrices.
    pub(super) rows: f64,
    /// B·H times the pairs of a query and a key that meet.
    pub(super) pairs: f64,
    /// B·H·Nq·Nk, the elements of all score matrices.
    pub(super) square: f64,
    /// B·H·Nq·d, the elements of Q and of the output.
    pub(super) queries: f64,
    /// B·G·Nk·d, the elements of K and of V.
    pub(super) keys: f64,
}

const B: Parameter = Parameter::size("b", "sequences").or("1");
const H: Parameter = Parameter::size("h", "query heads");
const G: Parameter = Parameter::size("g", "key and value heads").same_as("h");
const NQ: Parameter = Parameter::size("nq", "queries of a sequence");
const NK: Parameter = Parameter::size("nk", "keys of a sequence").same_as("nq");
const D: Parameter = Parameter::size("d", "width of a head").or("128");
const CAUSAL: Parameter =
    Parameter::flag("causal", "a query sees its own key and those before; the last query sees all");
const SOFTMAX: Parameter = Parameter::flag("softmax", "count the softmax's operations as well");
const ATOMICS: Parameter = Parameter::flag("atomics", "dQ is summed in fp32 with atomics");
const TYPE: Parameter = DTYPE.or("fp16");

impl Heads {
    pub(super) const PARAMETERS: &'static [Parameter] =
        &[B, H, G, NQ, NK, D, CAUSAL, SOFTMAX, TYPE];
    pub(super) const BACKWARD: &'static [Parameter] =
        &[B, H, G, NQ, NK, D, CAUSAL, SOFTMAX, ATOMICS, TYPE];

    pub(super) fn of(given: &Arguments) -> Result<Self, PredictError> {
        let [b, h, g] = ["b", "h", "g"].map(|key| given.number(key));
        let [nq, nk, width] = ["nq", "nk", "d"].map(|key| given.number(key));
        if h % g != 0.0 {
            return Err(given.misfit(format!("g={g} must divide h={h}")));
        }
        let causal = given.is("causal");
        if causal && nq > nk {
            let reason =
                format!("causal attention of nq={nq} queries to nk={nk} keys is ambiguous");
            return Err(given.misfit(reason));
        }
        // Query i of Nq, counted from the end, sees all keys but the i that come after it.
        let hidden = if causal { nq * (nq - 1.0) / 2.0 } else { 0.0 };
        Ok(Self {
            data_type: given.data_type("dtype"),
            width,
            rows: b * h * nq,
            pairs: b * h * (nq * nk - hidden),
            square: b * h * nq * nk,
            queries: b * h * nq * width,
            keys: b * g * nk * width,
        })
    }
}
