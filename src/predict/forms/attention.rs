//! Attention, in one kernel or in several.

use super::{
    Arguments, Category, Count, DTYPE, DataType, EXACT, Form, Heads, PLAIN, Parameter, PredictError,
};

pub(super) const FORMS: &[Form] = &[
    Form {
        name: "attention",
        aliases: &["flash-attention", "sdpa"],
        summary: "fused attention, forward (FlashAttention)",
        category: Category::DotProduct,
        parameters: Heads::PARAMETERS,
        example: "b=8 h=32 nq=2048 d=128",
        count: attention,
        derivation: "\
`attention`: softmax(Q·Kᵀ)·V in one kernel that keeps the scores on chip (FlashAttention),
forward.

FLOPs: 4·B·H·Nq·Nk·d for the two products, and 5·B·H·Nq·Nk for the softmax if `softmax=yes`, on
the vector units. Causal: only Nq·Nk − Nq(Nq−1)/2 pairs, N(N+1)/2 in a square; papers often take
half.
Bytes: e·B(2H·Nq·d + 2G·Nk·d) + 4·B·H·Nq; Q and the output with H heads, K and V with G heads
(grouped-query attention), and the logarithm of the sum of exponentials in fp32.
Source: T. Dao, D. Fu, S. Ermon, A. Rudra, C. Ré, *FlashAttention*, NeurIPS 2022, arXiv
2205.14135; J. Ainslie et al., *GQA*, EMNLP 2023, arXiv 2305.13245.",
        ..PLAIN
    },
    Form {
        name: "attention-backward",
        summary: "fused attention, backward (FlashAttention)",
        category: Category::DotProduct,
        parameters: Heads::BACKWARD,
        example: "b=8 h=32 nq=2048 d=128",
        count: attention_backward,
        derivation: "\
`attention-backward`: the gradients of attention in one kernel that computes the scores again.

FLOPs: 10·B·H·Nq·Nk·d, five products, one of them recomputed: 2.5 times forward. The softmax's
own 5·B·H·Nq·Nk count if `softmax=yes`. Causal as forward.
Bytes: e·B(4H·Nq·d + 4G·Nk·d) + 8·B·H·Nq; Q, O, dO read and dQ written, K, V read and dK, dV
written, log-sum-exp and row sums in fp32. Kernels that add dQ with atomics move 8·B·H·Nq·d more
(`atomics=yes`).
Source: T. Dao, D. Fu, S. Ermon, A. Rudra, C. Ré, *FlashAttention*, NeurIPS 2022, arXiv
2205.14135, algorithm 4; T. Dao, *FlashAttention-2*, ICLR 2024, arXiv 2307.08691.",
        ..PLAIN
    },
    Form {
        name: "attention-unfused",
        aliases: &["naive-attention"],
        summary: "attention as separate kernels, forward",
        category: Category::DotProduct,
        parameters: Heads::PARAMETERS,
        example: "b=8 h=32 nq=2048 d=128",
        count: attention_unfused,
        derivation: "\
`attention-unfused`: attention as three kernels, forward: scores, softmax, values. The sum of
all three is predicted.

FLOPs: 4·B·H·Nq·Nk·d for the two products, and 5·B·H·Nq·Nk for the softmax if `softmax=yes`.
Causal counts the pairs that are needed, though these kernels compute all of them.
Bytes: e·B(2H·Nq·d + 2G·Nk·d + 4H·Nq·Nk); the scores S are written and read, the probabilities P
are written and read, whole matrices even where causal.
Source: T. Dao, D. Fu, S. Ermon, A. Rudra, C. Ré, *FlashAttention*, NeurIPS 2022, arXiv
2205.14135, algorithm 0.",
        ..PLAIN
    },
    Form {
        name: "attention-unfused-backward",
        summary: "attention as separate kernels, backward",
        category: Category::DotProduct,
        parameters: Heads::PARAMETERS,
        example: "b=8 h=32 nq=2048 d=128",
        count: attention_unfused_backward,
        derivation: "\
`attention-unfused-backward`: the gradients of attention as five kernels: dV = Pᵀ·dO, dP =
dO·Vᵀ, dS from P and dP, dQ = dS·K, dK = dSᵀ·Q. The sum of all five is predicted.

FLOPs: 8·B·H·Nq·Nk·d, four products, twice forward; 4·B·H·Nq·Nk for dS if `softmax=yes`.
Bytes: e·B(4H·Nq·d + 4G·Nk·d + 7H·Nq·Nk); each kernel reads its inputs once and writes its
output once: P is read twice, dP written and read, dS written and read twice; dO is read twice,
Q once, dQ written; V and K read once, dV and dK written.
Source: T. Dao, D. Fu, S. Ermon, A. Rudra, C. Ré, *FlashAttention*, NeurIPS 2022, arXiv
2205.14135, algorithm 3, whose bytes are added here kernel by kernel.",
        ..PLAIN
    },
    Form {
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
        count: attention_decode,
        derivation: "\
`attention-decode`: attention of one new token per sequence against Nk cached keys and values.

FLOPs: 4·B·H·Nk·d.
Bytes: 2e·B·G·Nk·d, the cache read once; exactly 2e·B·H·d more for the query and the output.
Intensity: 2(H/G)/e: 1 FLOP/B for fp16 with a key head per query head, 8 with groups of 8. Batch
does not raise it, since every sequence has a cache of its own.
Source: N. Shazeer, *Fast Transformer Decoding: One Write-Head is All You Need*, 2019, arXiv
1911.02150; J. Ainslie et al., *GQA*, EMNLP 2023, arXiv 2305.13245.",
        ..PLAIN
    },
];

/// The format in which a softmax computes: at least FP32.
fn of_softmax(data_type: DataType) -> DataType {
    if data_type == DataType::Fp64 { DataType::Fp64 } else { DataType::Fp32 }
}

fn attention(given: &Arguments) -> Result<Count, PredictError> {
    let heads = Heads::of(given)?;
    let e = heads.data_type;
    let softmax = f64::from(given.is("softmax")) * 5.0 * heads.pairs;
    Ok(Count::new()
        .products("scores and values", 4.0 * heads.pairs * heads.width, e)
        .vector("softmax", softmax, of_softmax(e))
        .read("Q", heads.queries, e)
        .read("K", heads.keys, e)
        .read("V", heads.keys, e)
        .write("O", heads.queries, e)
        .write("log-sum-exp", heads.rows, DataType::Fp32))
}

fn attention_backward(given: &Arguments) -> Result<Count, PredictError> {
    let heads = Heads::of(given)?;
    let (e, single) = (heads.data_type, DataType::Fp32);
    let softmax = f64::from(given.is("softmax")) * 5.0 * heads.pairs;
    let atomics = f64::from(given.is("atomics")) * heads.queries;
    Ok(Count::new()
        .products("five products", 10.0 * heads.pairs * heads.width, e)
        .vector("softmax", softmax, of_softmax(e))
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

fn attention_unfused(given: &Arguments) -> Result<Count, PredictError> {
    let heads = Heads::of(given)?;
    let e = heads.data_type;
    let softmax = f64::from(given.is("softmax")) * 5.0 * heads.pairs;
    Ok(Count::new()
        .products("scores and values", 4.0 * heads.pairs * heads.width, e)
        .vector("softmax", softmax, of_softmax(e))
        .read("Q", heads.queries, e)
        .read("K", heads.keys, e)
        .read("V", heads.keys, e)
        .update("S", heads.square, e)
        .update("P", heads.square, e)
        .write("O", heads.queries, e))
}

fn attention_unfused_backward(given: &Arguments) -> Result<Count, PredictError> {
    let heads = Heads::of(given)?;
    let e = heads.data_type;
    let softmax = f64::from(given.is("softmax")) * 4.0 * heads.pairs;
    Ok(Count::new()
        .products("four products", 8.0 * heads.pairs * heads.width, e)
        .vector("softmax", softmax, of_softmax(e))
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

fn attention_decode(given: &Arguments) -> Result<Count, PredictError> {
    let [b, h, g, nk, d] = ["b", "h", "g", "nk", "d"].map(|key| given.number(key));
    let (e, cache) = (given.data_type("dtype"), given.data_type("dtype_kv"));
    if h % g != 0.0 {
        return Err(given.misfit(format!("g={g} must divide h={h}")));
    }
    let query = f64::from(given.is("exact")) * b * h * d;
    let format = given.multiplied(e, cache)?;
    Ok(Count::new()
        .products("scores and values", 4.0 * b * h * nk * d, format)
        .read("K", b * g * nk * d, cache)
        .read("V", b * g * nk * d, cache)
        .read("q", query, e)
        .write("o", query, e))
}
