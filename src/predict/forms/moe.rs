//! `moe`: the grouped matrix product of a mixture of experts, each expert with its own weights and
//! rows.
//!
//! FLOPs: Σ 2·m_x·N·K over the experts, which is 2·rows·N·K: it does not matter who gets the rows.
//! Bytes: e(rows·K + experts·N·K + rows·N); rows in and out, and the weights of every expert that
//! is touched. An expert without rows costs nothing.
//! As a matrix product: one per expert; tiles are estimated for rows spread evenly.
//! Source: T. Gale, D. Narayanan, C. Young, M. Zaharia, *MegaBlocks: Efficient Sparse Training with
//! Mixture-of-Experts*, MLSys 2023, arXiv 2211.15841.

use super::{Arguments, Category, Count, DTYPE, Form, PLAIN, Parameter, PredictError, Product};

pub(super) const FORM: Form = Form {
    name: "moe",
    aliases: &["grouped-gemm"],
    summary: "grouped product of a mixture of experts",
    category: Category::DotProduct,
    parameters: &[
        Parameter::size("rows", "rows of all experts together: tokens times experts per token"),
        Parameter::size("experts", "experts that receive at least one row"),
        Parameter::size("n", "outputs per row"),
        Parameter::size("k", "inputs per row"),
        DTYPE.or("fp16"),
        Parameter::data_type("dtype_w", "format of the weights").same_as("dtype"),
    ],
    example: "rows=16Ki experts=8 n=14336 k=4096",
    tiled: true,
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let [rows, experts, n, k] = ["rows", "experts", "n", "k"].map(|key| given.number(key));
    let (e, w) = (given.data_type("dtype"), given.data_type("dtype_w"));
    if experts > rows {
        return Err(given.misfit(format!("{rows} rows reach at most {rows} experts")));
    }
    let count = Count::new()
        .products("multiply and add", 2.0 * rows * n * k, e.wider(w))
        .read("x", rows * k, e)
        .read("W", experts * n * k, w)
        .write("y", rows * n, e);
    Ok(count.tiled(Product { batch: experts, m: rows / experts, n, k, a: e, b: w, d: e }))
}
