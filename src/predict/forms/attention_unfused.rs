//! `attention-unfused`: attention as three kernels, forward: scores, softmax, values. The sum of
//! all three is predicted.
//!
//! FLOPs: 4·B·H·Nq·Nk·d for the two products, and 5·B·H·Nq·Nk for the softmax if `softmax=yes`.
//! Causal counts the pairs that are needed, though these kernels compute all of them.
//! Bytes: e·B(2H·Nq·d + 2G·Nk·d + 4H·Nq·Nk); the scores S are written and read, the probabilities P
//! are written and read, whole matrices even where causal.
//! Source: T. Dao, D. Fu, S. Ermon, A. Rudra, C. Ré, *FlashAttention*, NeurIPS 2022, arXiv
//! 2205.14135, algorithm 0.

use super::{Arguments, Category, Count, DataType, Form, Heads, PLAIN, PredictError};

pub(super) const FORM: Form = Form {
    name: "attention-unfused",
    aliases: &["naive-attention"],
    summary: "attention as separate kernels, forward",
    category: Category::DotProduct,
    parameters: Heads::PARAMETERS,
    example: "b=8 h=32 nq=2048 d=128",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let heads = Heads::of(given)?;
    let e = heads.data_type;
    let softmax = f64::from(given.is("softmax")) * 5.0 * heads.pairs;
    Ok(Count::new()
        .products("scores and values", 4.0 * heads.pairs * heads.width, e)
        .vector("softmax", softmax, DataType::Fp32)
        .read("Q", heads.queries, e)
        .read("K", heads.keys, e)
        .read("V", heads.keys, e)
        .update("S", heads.square, e)
        .update("P", heads.square, e)
        .write("O", heads.queries, e))
}
