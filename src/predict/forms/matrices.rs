//! Matrices by vectors, sparse or dense, and by matrices.

use super::{
    Arguments, Category, Count, DTYPE, EXACT, Form, INDEX, PLAIN, Parameter, PredictError, Product,
};

pub(super) const FORMS: &[Form] = &[
    Form {
        name: "gemv",
        aliases: &["matvec"],
        summary: "y = α·A·x + β·y, a dense matrix times a vector",
        category: Category::DotProduct,
        parameters: &[
            Parameter::size("m", "rows of A"),
            Parameter::size("n", "columns of A").same_as("m"),
            Parameter::real("alpha", "factor of the product").or("1"),
            Parameter::real("beta", "factor of the old y; 0: y is not read").or("0"),
            DTYPE.or("fp32"),
        ],
        example: "m=16384 dtype=fp64",
        count: gemv,
        derivation: "\
`gemv`: y = α·A·x + β·y with A of M×N.

FLOPs: 2MN for the dot products, M more to scale by α≠1, 2M more for β·y and its addition if
β≠0.
Bytes: e(MN + N + M), and eM more if β≠0; A and x are read, y is written, and read only for β.
Intensity: 2/e for large sizes: 1/2 FLOP/B for fp32, 1/4 for fp64, 1 for fp16.
The simple kernel has one thread per row, which leaves a device idle below some ten thousand
rows.
Source: J. Dongarra, J. Du Croz, S. Hammarling, R. Hanson, *An Extended Set of FORTRAN Basic
Linear Algebra Subprograms*, ACM TOMS 14(1), 1988.",
        ..PLAIN
    },
    Form {
        name: "ger",
        summary: "A = A + x·yᵀ, the rank-1 update of a matrix",
        category: Category::DotProduct,
        parameters: &[
            Parameter::size("m", "rows of A"),
            Parameter::size("n", "columns of A").same_as("m"),
            DTYPE.or("fp32"),
        ],
        example: "m=8192",
        count: ger,
        derivation: "\
`ger`: the rank-1 update A = A + x·yᵀ with A of M×N.

FLOPs: 2MN, a multiplication and an addition per element.
Bytes: e(2MN + M + N); A is read and written, x and y are read.
Intensity: 1/e for large sizes.
Source: J. Dongarra, J. Du Croz, S. Hammarling, R. Hanson, *An Extended Set of FORTRAN Basic
Linear Algebra Subprograms*, ACM TOMS 14(1), 1988.",
        ..PLAIN
    },
    Form {
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
        count: spmv_csr,
        derivation: "\
`spmv-csr`: y = A·x with a sparse A of n rows and β non-zeros per row, in compressed sparse
rows.

FLOPs: 2βn.
Bytes: n·(β(e+i) + i + 2e) for a square A; values and columns, a row pointer per row, x once, y.
Exactly one row pointer more. If no element of x is ever reused: n·(β(2e+i) + i + e), the other
end of what a kernel moves. Without row pointers it is the form of older tables, n·(β(e+i) +
2e), which is exact for ELLPACK (`spmv-ell`).
Intensity: 2β/(β(e+i) + i + 2e): β/(4β+6) FLOP/B for fp32 values and int32 indices.
Source: N. Bell, M. Garland, *Efficient Sparse Matrix-Vector Multiplication on CUDA*, NVIDIA
Technical Report NVR-2008-004, 2008.",
        ..PLAIN
    },
    Form {
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
        count: spmv_ell,
        derivation: "\
`spmv-ell`: y = A·x with a sparse A of n rows, each stored in w entries (ELLPACK), β of them
non-zero.

FLOPs: 2βn; padded entries are skipped or multiply zero, and do not count.
Bytes: n·(w(e+i) + 2e) for a square A; values and columns with padding, x once, y. There are no
row pointers: with w = β this is the form that many tables give for \"sparse mat-vec\".
Intensity: 2β/(w(e+i) + 2e): β/(4β+4) FLOP/B for fp32, int32 and no padding.
Source: N. Bell, M. Garland, *Efficient Sparse Matrix-Vector Multiplication on CUDA*, NVIDIA
Technical Report NVR-2008-004, 2008.",
        ..PLAIN
    },
    Form {
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
        is_complex: true,
        count: gemm,
        derivation: "\
`gemm`: the matrix product D = α·A·B + β·C with A of M×K, B of K×N, one or a batch of b.

FLOPs: 2MNK·b, customary; exactly MN·b more to scale by α≠1, and 2MN·b more if β≠0. Complex
operands: 8MNK·b, since a multiplication is 6 operations and an addition 2; lower orders
likewise.
Bytes: (e_A·MK + e_B·KN + e_D·MN)·b, and e_C·MN·b more if β≠0; an operand that is shared counts
once.
Intensity: square, β=0: 2N/(3e), N/6 FLOP/B for fp32; C = A·B + C reads C as well: N/(2e), N/8.
What the tiles of a kernel add (padding, waves, traffic from L2) stands beside these counts.
Source: J. Dongarra, J. Du Croz, S. Hammarling, I. Duff, *A Set of Level 3 Basic Linear Algebra
Subprograms*, ACM TOMS 16(1), 1990; NVIDIA, *Matrix Multiplication Background User's Guide*.",
    },
    Form {
        name: "syrk",
        summary: "C = A·Aᵀ, one triangle of a symmetric product",
        category: Category::DotProduct,
        parameters: &[
            Parameter::size("n", "rows and columns of C"),
            Parameter::size("k", "columns of A"),
            DTYPE.or("fp32"),
            EXACT,
        ],
        example: "n=4096 k=4096",
        count: syrk,
        derivation: "\
`syrk`: one triangle of C = A·Aᵀ with A of n×k.

FLOPs: n²k, customary, half of the full product; exactly n(n+1)k with the whole diagonal.
Bytes: e(nk + n²/2), customary; exactly e(nk + n(n+1)/2). A is read, the triangle is written.
Source: J. Dongarra, J. Du Croz, S. Hammarling, I. Duff, *A Set of Level 3 Basic Linear Algebra
Subprograms*, ACM TOMS 16(1), 1990.",
        ..PLAIN
    },
    Form {
        name: "trsm",
        summary: "X = T⁻¹·B, a triangular system with many right-hand sides",
        category: Category::DotProduct,
        parameters: &[
            Parameter::size("n", "rows and columns of the triangle"),
            Parameter::size("m", "right-hand sides"),
            DTYPE.or("fp32"),
            EXACT,
        ],
        example: "n=4096 m=4096",
        count: trsm,
        derivation: "\
`trsm`: T·X = B solved for X, with a triangle T of n×n and m right-hand sides in place of B.

FLOPs: n²m; exactly that too: n(n−1)/2 multiplications and as many subtractions, and n
divisions, for each right-hand side.
Bytes: e(n²/2 + 2nm), customary; exactly e(n(n+1)/2 + 2nm). T is read, B is read and
overwritten.
Source: J. Dongarra, J. Du Croz, S. Hammarling, I. Duff, *A Set of Level 3 Basic Linear Algebra
Subprograms*, ACM TOMS 16(1), 1990.",
        ..PLAIN
    },
];

fn gemv(given: &Arguments) -> Result<Count, PredictError> {
    let (m, n, e) = (given.number("m"), given.number("n"), given.data_type("dtype"));
    let scaled = f64::from(given.number("alpha") != 1.0);
    let old = f64::from(given.number("beta") != 0.0);
    Ok(Count::new()
        .vector("dot products", 2.0 * m * n + m * scaled + 2.0 * m * old, e)
        .read("A", m * n, e)
        .read("x", n, e)
        .moved("y", m, e, old, 1.0)
        .work_items(m))
}

fn ger(given: &Arguments) -> Result<Count, PredictError> {
    let (m, n, e) = (given.number("m"), given.number("n"), given.data_type("dtype"));
    Ok(Count::new()
        .vector("multiply and add", 2.0 * m * n, e)
        .update("A", m * n, e)
        .read("x", m, e)
        .read("y", n, e)
        .work_items(m * n))
}

fn spmv_csr(given: &Arguments) -> Result<Count, PredictError> {
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

fn spmv_ell(given: &Arguments) -> Result<Count, PredictError> {
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

fn gemm(given: &Arguments) -> Result<Count, PredictError> {
    let [m, n, k, batch] = ["m", "n", "k", "batch"].map(|key| given.number(key));
    let (a, b) = (given.data_type("dtype_a"), given.data_type("dtype_b"));
    let (c, d) = (given.data_type("dtype_c"), given.data_type("dtype_d"));
    let wide = given.multiplied(a, b)?;
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

fn syrk(given: &Arguments) -> Result<Count, PredictError> {
    let (n, k, e) = (given.number("n"), given.number("k"), given.data_type("dtype"));
    let other = if given.is("exact") { n + 1.0 } else { n };
    Ok(Count::new().products("multiply and add", n * other * k, e).read("A", n * k, e).write(
        "C",
        n * other / 2.0,
        e,
    ))
}

fn trsm(given: &Arguments) -> Result<Count, PredictError> {
    let (n, m, e) = (given.number("n"), given.number("m"), given.data_type("dtype"));
    let other = if given.is("exact") { n + 1.0 } else { n };
    Ok(Count::new()
        .products("multiply and subtract", n * n * m, e)
        .read("T", n * other / 2.0, e)
        .update("B", n * m, e))
}
