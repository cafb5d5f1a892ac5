//! `spmv-csr`: y = A·x with a sparse A of n rows and β non-zeros per row, in compressed sparse
//! rows.
//!
//! FLOPs: 2βn.
//! Bytes: n·(β(e+i) + i + 2e) for a square A; values and columns, a row pointer per row, x once, y.
//! Exactly one row pointer more. If no element of x is ever reused: n·(β(2e+i) + i + e), the other
//! end of what a kernel moves. Without row pointers it is the form of older tables, n·(β(e+i) +
//! 2e), which is exact for ELLPACK (`spmv-ell`).
//! Intensity: 2β/(β(e+i) + i + 2e): β/(4β+6) FLOP/B for fp32 values and int32 indices.
//! Source: N. Bell, M. Garland, *Efficient Sparse Matrix-Vector Multiplication on CUDA*, NVIDIA
//! Technical Report NVR-2008-004, 2008.

use super::{
    Arguments, Category, Count, DTYPE, EXACT, Form, INDEX, PLAIN, Parameter, PredictError,
};

pub(super) const FORM: Form = Form {
    name: "spmv-csr",
    aliases: &["spmv", "csr"],
    summary: "y = A·x with a sparse A in compressed rows",
    category: Category::DotProduct,
    parameters: &[
        Parameter::size("n", "rows"),
        Parameter::size("columns", "columns, the length of x").same_as("n"),
        Parameter::positive("beta", "non-zeros per row, on average"),
        Parameter::flag("row_pointers", "count the row pointers").or("yes"),
        Parameter::choice("x", &["once", "every"], "read x once, or anew for every non-zero"),
        DTYPE.or("fp32"),
        INDEX.or("int32"),
        EXACT,
    ],
    example: "n=1M beta=10",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let (n, columns) = (given.number("n"), given.number("columns"));
    let (e, i) = (given.data_type("dtype"), given.data_type("index"));
    let nonzeros = given.number("beta") * n;
    if nonzeros > n * columns {
        return Err(given.misfit("beta is larger than the number of columns"));
    }
    let pointers = n + f64::from(given.is("exact"));
    let x = if given.word("x") == "every" { nonzeros } else { columns };
    Ok(Count::new()
        .vector("multiply and add", 2.0 * nonzeros, e)
        .read("values", nonzeros, e)
        .read("column indices", nonzeros, i)
        .read("row pointers", if given.is("row_pointers") { pointers } else { 0.0 }, i)
        .read("x", x, e)
        .write("y", n, e)
        .work_items(n))
}
