//! `attention-unfused-backward`: the gradients of attention as five kernels: dV = Pᵀ·dO, dP =
//! dO·Vᵀ, dS from P and dP, dQ = dS·K, dK = dSᵀ·Q. The sum of all five is predicted.
//!
//! FLOPs: 8·B·H·Nq·Nk·d, four products, twice forward; 4·B·H·Nq·Nk for dS if `softmax=yes`.
//! Bytes: e·B(4H·Nq·d + 4G·Nk·d + 7H·Nq·Nk); each kernel reads its inputs once and writes its
//! output once: P is read twice, dP written and read, dS written and read twice; dO is read twice,
//! Q once, dQ written; V and K read once, dV and dK written.
//! Source: T. Dao, D. Fu, S. Ermon, A. Rudra, C. Ré, *FlashAttention*, NeurIPS 2022, arXiv
//! 2205.14135, algorithm 3, whose bytes are added here kernel by kernel.

use super::{Arguments, Category, Count, DataType, Form, Heads, PLAIN, PredictError};

pub(super) const FORM: Form = Form {
    name: "attention-unfused-backward",
    summary: "attention as separate kernels, backward",
    category: Category::DotProduct,
    parameters: Heads::PARAMETERS,
    example: "b=8 h=32 nq=2048 d=128",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let heads = Heads::of(given)?;
    let e = heads.data_type;
    let softmax = f64::from(given.is("softmax")) * 4.0 * heads.pairs;
    Ok(Count::new()
        .products("four products", 8.0 * heads.pairs * heads.width, e)
        .vector("softmax", softmax, DataType::Fp32)
        .moved("dO", heads.queries, e, 2.0, 0.0)
        .read("Q", heads.queries, e)
        .write("dQ", heads.queries, e)
        .read("K", heads.keys, e)
        .read("V", heads.keys, e)
        .write("dK", heads.keys, e)
        .write("dV", heads.keys, e)
        .moved("P", heads.square, e, 2.0, 0.0)
        .update("dP", heads.square, e)
        .moved("dS", heads.square, e, 2.0, 1.0))
}
