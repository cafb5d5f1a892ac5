//! Vectors summed to one number.

use super::{Arguments, Category, Count, DTYPE, EXACT, Form, PLAIN, Parameter, PredictError};

const PARAMETERS: &[Parameter] = &[Parameter::size("n", "elements"), DTYPE.or("fp32"), EXACT];

pub(super) const FORMS: &[Form] = &[
    Form {
        name: "dot",
        aliases: &["sdot"],
        summary: "x·y, the dot product of two vectors",
        category: Category::DotProduct,
        parameters: PARAMETERS,
        example: "n=16M",
        count: |given| sum(given, "multiply and add", 2.0, 1.0, &["x", "y"]),
        derivation: "\
`dot`: the dot product x·y.

FLOPs: 2N, customary; exactly N multiplications and N−1 additions.
Bytes: 2Ne; exactly one more element, the result.
Intensity: 1/e: 1/4 FLOP/B for fp32, 1/8 for fp64.
Source: C. Lawson, R. Hanson, D. Kincaid, F. Krogh, *Basic Linear Algebra Subprograms for
Fortran Usage*, ACM TOMS 5(3), 1979.",
        ..PLAIN
    },
    Form {
        name: "nrm2",
        summary: "√(x·x), the Euclidean norm of a vector",
        category: Category::Reduction,
        parameters: PARAMETERS,
        example: "n=16M",
        count: |given| sum(given, "square and add", 2.0, 0.0, &["x"]),
        derivation: "\
`nrm2`: the Euclidean norm √(x·x).

FLOPs: 2N, customary; exactly N multiplications, N−1 additions and one square root, also 2N.
Bytes: Ne; exactly one more element, the result.
Intensity: 2/e.
Source: C. Lawson, R. Hanson, D. Kincaid, F. Krogh, *Basic Linear Algebra Subprograms for
Fortran Usage*, ACM TOMS 5(3), 1979 (implementations that guard against overflow do more).",
        ..PLAIN
    },
    Form {
        name: "asum",
        summary: "Σ|x|, the sum of magnitudes of a vector",
        category: Category::Reduction,
        parameters: PARAMETERS,
        example: "n=16M",
        count: |given| sum(given, "add", 1.0, 1.0, &["x"]),
        derivation: "\
`asum`: the sum of magnitudes; taking a magnitude is free.

FLOPs: N, customary; exactly N−1 additions.
Bytes: Ne; exactly one more element, the result.
Intensity: 1/e.
Source: C. Lawson, R. Hanson, D. Kincaid, F. Krogh, *Basic Linear Algebra Subprograms for
Fortran Usage*, ACM TOMS 5(3), 1979.",
        ..PLAIN
    },
    Form {
        name: "sum",
        summary: "Σx, the sum of a vector",
        category: Category::Reduction,
        parameters: PARAMETERS,
        example: "n=16M",
        count: |given| sum(given, "add", 1.0, 1.0, &["x"]),
        derivation: "\
`sum`: the sum of a vector.

FLOPs: N, customary; exactly N−1 additions.
Bytes: Ne; exactly one more element, the result.
Intensity: 1/e.
Source: C. Lawson, R. Hanson, D. Kincaid, F. Krogh, *Basic Linear Algebra Subprograms for
Fortran Usage*, ACM TOMS 5(3), 1979.",
        ..PLAIN
    },
];

/// Counts this many operations per element by the customary form, or exactly `less` fewer, and one
/// result.
fn sum(
    given: &Arguments,
    what: &'static str,
    operations: f64,
    less: f64,
    operands: &[&'static str],
) -> Result<Count, PredictError> {
    let (n, e) = (given.number("n"), given.data_type("dtype"));
    let exact = f64::from(given.is("exact"));
    let count = Count::new().vector(what, operations * n - less * exact, e);
    let count = operands.iter().fold(count, |count, operand| count.read(operand, n, e));
    Ok(count.write("result", exact, e).work_items(n))
}
