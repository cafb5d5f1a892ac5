//! `attention-decode`: attention of one new token per sequence against Nk cached keys and values.
//!
//! FLOPs: 4·B·H·Nk·d.
//! Bytes: 2e·B·G·Nk·d, the cache read once; exactly 2e·B·H·d more for the query and the output.
//! Intensity: 2(H/G)/e: 1 FLOP/B for fp16 with a key head per query head, 8 with groups of 8. Batch
//! does not raise it, since every sequence has a cache of its own.
//! Source: N. Shazeer, *Fast Transformer Decoding: One Write-Head is All You Need*, 2019, arXiv
//! 1911.02150; J. Ainslie et al., *GQA*, EMNLP 2023, arXiv 2305.13245.

use super::{Arguments, Category, Count, DTYPE, EXACT, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "attention-decode",
    aliases: &["decode-attention"],
    summary: "attention of one new token against a cache",
    category: Category::DotProduct,
    parameters: &[
        Parameter::size("b", "sequences").or("1"),
        Parameter::size("h", "query heads"),
        Parameter::size("g", "key and value heads").same_as("h"),
        Parameter::size("nk", "cached keys"),
        Parameter::size("d", "width of a head").or("128"),
        DTYPE.or("fp16"),
        Parameter::data_type("dtype_kv", "format of the cache").same_as("dtype"),
        EXACT,
    ],
    example: "b=16 h=32 g=8 nk=8192",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let [b, h, g, nk, d] = ["b", "h", "g", "nk", "d"].map(|key| given.number(key));
    let (e, cache) = (given.data_type("dtype"), given.data_type("dtype_kv"));
    if h % g != 0.0 {
        return Err(given.misfit(format!("g={g} must divide h={h}")));
    }
    let query = f64::from(given.is("exact")) * b * h * d;
    Ok(Count::new()
        .products("scores and values", 4.0 * b * h * nk * d, e)
        .read("K", b * g * nk * d, cache)
        .read("V", b * g * nk * d, cache)
        .read("q", query, e)
        .write("o", query, e))
}
