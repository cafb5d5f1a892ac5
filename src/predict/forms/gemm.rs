//! `gemm`: the matrix product D = α·A·B + β·C with A of M×K, B of K×N, one or a batch of b.
//!
//! FLOPs: 2MNK·b, customary; exactly MN·b more to scale by α≠1, and 2MN·b more if β≠0. Complex
//! operands: 8MNK·b, since a multiplication is 6 operations and an addition 2; lower orders
//! likewise.
//! Bytes: (e_A·MK + e_B·KN + e_D·MN)·b, and e_C·MN·b more if β≠0; an operand that is shared counts
//! once.
//! Intensity: square, β=0: 2N/(3e), N/6 FLOP/B for fp32; C = A·B + C reads C as well: N/(2e), N/8.
//! What the tiles of a kernel add (padding, waves, traffic from L2) stands beside these counts.
//! Source: J. Dongarra, J. Du Croz, S. Hammarling, I. Duff, *A Set of Level 3 Basic Linear Algebra
//! Subprograms*, ACM TOMS 16(1), 1990; NVIDIA, *Matrix Multiplication Background User's Guide*.

use super::{
    Arguments, Category, Count, DTYPE, EXACT, Form, PLAIN, Parameter, PredictError, Product,
};

pub(super) const FORM: Form = Form {
    name: "gemm",
    aliases: &["matmul", "hgemm", "bmm"],
    summary: "D = α·A·B + β·C, a dense matrix product, one or a batch",
    category: Category::DotProduct,
    parameters: &[
        Parameter::size("m", "rows of the result"),
        Parameter::size("n", "columns of the result"),
        Parameter::size("k", "depth"),
        Parameter::size("batch", "products in one launch").or("1"),
        Parameter::real("alpha", "factor of the product").or("1"),
        Parameter::real("beta", "factor of C; 0: C is not read").or("0"),
        Parameter::flag("shared_a", "one A for the whole batch (stride 0)"),
        Parameter::flag("shared_b", "one B for the whole batch (stride 0)"),
        DTYPE.or("fp16"),
        Parameter::data_type("dtype_a", "format of A").same_as("dtype"),
        Parameter::data_type("dtype_b", "format of B").same_as("dtype"),
        Parameter::data_type("dtype_d", "format of D").same_as("dtype"),
        Parameter::data_type("dtype_c", "format of C").same_as("dtype_d"),
        EXACT,
    ],
    example: "m=4096 n=4096 k=4096 dtype=bf16",
    tiled: true,
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let [m, n, k, batch] = ["m", "n", "k", "batch"].map(|key| given.number(key));
    let (a, b) = (given.data_type("dtype_a"), given.data_type("dtype_b"));
    let (c, d) = (given.data_type("dtype_c"), given.data_type("dtype_d"));
    let wide = a.wider(b);
    let (multiply, add) = if wide.is_complex() { (6.0, 2.0) } else { (1.0, 1.0) };
    let old = f64::from(given.number("beta") != 0.0);
    let scaled = f64::from(given.number("alpha") != 1.0);
    let minor = f64::from(given.is("exact")) * m * n * (multiply * (scaled + old) + add * old);
    let copies = |key| if given.is(key) { 1.0 } else { batch };
    let count = Count::new()
        .products("multiply and add", batch * ((multiply + add) * m * n * k + minor), wide)
        .read("A", copies("shared_a") * m * k, a)
        .read("B", copies("shared_b") * k * n, b)
        .moved("C", batch * m * n, c, old, 0.0)
        .write("D", batch * m * n, d);
    Ok(count.tiled(Product { batch, m, n, k, a, b, d }))
}
