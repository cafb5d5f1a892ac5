//! `spmv-ell`: y = A·x with a sparse A of n rows, each stored in w entries (ELLPACK), β of them
//! non-zero.
//!
//! FLOPs: 2βn; padded entries are skipped or multiply zero, and do not count.
//! Bytes: n·(w(e+i) + 2e) for a square A; values and columns with padding, x once, y. There are no
//! row pointers: with w = β this is the form that many tables give for "sparse mat-vec".
//! Intensity: 2β/(w(e+i) + 2e): β/(4β+4) FLOP/B for fp32, int32 and no padding.
//! Source: N. Bell, M. Garland, *Efficient Sparse Matrix-Vector Multiplication on CUDA*, NVIDIA
//! Technical Report NVR-2008-004, 2008.

use super::{Arguments, Category, Count, DTYPE, Form, INDEX, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "spmv-ell",
    aliases: &["ell", "ellpack"],
    summary: "y = A·x with a sparse A in ELLPACK rows of equal width",
    category: Category::DotProduct,
    parameters: &[
        Parameter::size("n", "rows"),
        Parameter::size("columns", "columns, the length of x").same_as("n"),
        Parameter::size("width", "stored entries per row, padding included"),
        Parameter::positive("beta", "non-zeros per row, on average").same_as("width"),
        DTYPE.or("fp32"),
        INDEX.or("int32"),
    ],
    example: "n=1M width=12 beta=10",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let (n, columns, width) = (given.number("n"), given.number("columns"), given.number("width"));
    let (e, i) = (given.data_type("dtype"), given.data_type("index"));
    let beta = given.number("beta");
    if beta > width || width > columns {
        return Err(given.misfit("beta may not exceed width, nor width the number of columns"));
    }
    Ok(Count::new()
        .vector("multiply and add", 2.0 * beta * n, e)
        .read("values", width * n, e)
        .read("column indices", width * n, i)
        .read("x", columns, e)
        .write("y", n, e)
        .work_items(n))
}
