//! Every closed form: one file each, one line each in the list below.
#![expect(
    clippy::doc_markdown,
    clippy::many_single_char_names,
    clippy::unnecessary_wraps,
    reason = "formulas and their letters; one signature for all"
)]

use super::arguments::Arguments;
use super::count::{Count, Link, Product};
use super::error::PredictError;
use super::form::{Category, Form};
use super::heads::Heads;
use super::parameter::{DTYPE, EXACT, INDEX, Kind, Parameter};
use super::window::{Convolution, Window};
use crate::model::DataType;

/// What most forms have: no other names, no tiles. The list adds the text.
const PLAIN: Form = Form {
    name: "",
    aliases: &[],
    summary: "",
    category: Category::Other,
    parameters: &[],
    example: "",
    tiled: false,
    count: |_| Ok(Count::new()),
    text: "",
};

macro_rules! forms {
    ($($module:ident),* $(,)?) => {
        $(mod $module;)*
        /// Every closed form, in the order in which they are listed.
        pub const FORMS: &[Form] = &[$(Form {
            text: include_str!(concat!(stringify!($module), ".rs")),
            ..$module::FORM
        }),*];
    };
}

forms! {
    // vectors
    copy,
    scal,
    add,
    axpy,
    dot,
    nrm2,
    asum,
    sum,
    // matrices
    gemv,
    ger,
    spmv_csr,
    spmv_ell,
    gemm,
    syrk,
    trsm,
    // dense layers and convolutions
    linear,
    linear_dgrad,
    linear_wgrad,
    conv2d,
    conv2d_dgrad,
    conv2d_wgrad,
    conv2d_depthwise,
    conv2d_transposed,
    moe,
    lstm_cell,
    // attention
    attention,
    attention_backward,
    attention_unfused,
    attention_unfused_backward,
    attention_decode,
    // elementwise
    elementwise,
    relu,
    relu_backward,
    gelu,
    silu,
    sigmoid,
    dropout,
    cast,
    quantise,
    // reductions and norms
    reduction,
    pool,
    softmax,
    softmax_backward,
    log_softmax_nll,
    layernorm,
    layernorm_backward,
    rmsnorm,
    batchnorm,
    batchnorm_backward,
    batchnorm_inference,
    // optimisers
    sgd,
    momentum,
    adam,
    // tables and movement
    embedding,
    embedding_bag,
    embedding_backward,
    gather,
    scatter,
    scatter_add,
    transpose,
    memset,
    memcpy_device,
    memcpy_host,
    all_reduce,
    // transforms and the rest
    fft,
    rfft,
    scan,
    radix_sort,
    given,
}
