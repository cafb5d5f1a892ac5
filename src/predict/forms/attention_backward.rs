//! `attention-backward`: the gradients of attention in one kernel that computes the scores again.
//!
//! FLOPs: 10·B·H·Nq·Nk·d, five products, one of them recomputed: 2.5 times forward. The softmax's
//! own 5·B·H·Nq·Nk count if `softmax=yes`. Causal as forward.
//! Bytes: e·B(4H·Nq·d + 4G·Nk·d) + 8·B·H·Nq; Q, O, dO read and dQ written, K, V read and dK, dV
//! written, log-sum-exp and row sums in fp32. Kernels that add dQ with atomics move 8·B·H·Nq·d more
//! (`atomics=yes`).
//! Source: T. Dao, D. Fu, S. Ermon, A. Rudra, C. Ré, *FlashAttention*, NeurIPS 2022, arXiv
//! 2205.14135, algorithm 4; T. Dao, *FlashAttention-2*, ICLR 2024, arXiv 2307.08691.

use super::{Arguments, Category, Count, DataType, Form, Heads, PLAIN, PredictError};

pub(super) const FORM: Form = Form {
    name: "attention-backward",
    summary: "fused attention, backward (FlashAttention)",
    category: Category::DotProduct,
    parameters: Heads::BACKWARD,
    example: "b=8 h=32 nq=2048 d=128",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let heads = Heads::of(given)?;
    let (e, single) = (heads.data_type, DataType::Fp32);
    let softmax = f64::from(given.is("softmax")) * 5.0 * heads.pairs;
    let atomics = f64::from(given.is("atomics")) * heads.queries;
    Ok(Count::new()
        .products("five products", 10.0 * heads.pairs * heads.width, e)
        .vector("softmax", softmax, single)
        .read("Q", heads.queries, e)
        .read("O", heads.queries, e)
        .read("dO", heads.queries, e)
        .write("dQ", heads.queries, e)
        .read("K", heads.keys, e)
        .read("V", heads.keys, e)
        .write("dK", heads.keys, e)
        .write("dV", heads.keys, e)
        .read("log-sum-exp", heads.rows, single)
        .read("row sums", heads.rows, single)
        .update("dQ in fp32", atomics, single))
}
