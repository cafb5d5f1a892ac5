//! `attention`: softmax(Q·Kᵀ)·V in one kernel that keeps the scores on chip (FlashAttention),
//! forward.
//!
//! FLOPs: 4·B·H·Nq·Nk·d for the two products, and 5·B·H·Nq·Nk for the softmax if `softmax=yes`, on
//! the vector units. Causal: only Nq·Nk − Nq(Nq−1)/2 pairs, N(N+1)/2 in a square; papers often take
//! half.
//! Bytes: e·B(2H·Nq·d + 2G·Nk·d) + 4·B·H·Nq; Q and the output with H heads, K and V with G heads
//! (grouped-query attention), and the logarithm of the sum of exponentials in fp32.
//! Source: T. Dao, D. Fu, S. Ermon, A. Rudra, C. Ré, *FlashAttention*, NeurIPS 2022, arXiv
//! 2205.14135; J. Ainslie et al., *GQA*, EMNLP 2023, arXiv 2305.13245.

use super::{Arguments, Category, Count, DataType, Form, Heads, PLAIN, PredictError};

pub(super) const FORM: Form = Form {
    name: "attention",
    aliases: &["flash-attention", "sdpa"],
    summary: "fused attention, forward (FlashAttention)",
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
        .write("O", heads.queries, e)
        .write("log-sum-exp", heads.rows, DataType::Fp32))
}
