//! Vectors read and written once: a few operations for each element.

use super::{Category, Form, Operand, PLAIN, each, elements};

pub(super) const FORMS: &[Form] = &[
    Form {
        name: "copy",
        aliases: &["scopy"],
        summary: "y = x over a vector",
        category: Category::DataMovement,
        parameters: &elements("fp32"),
        example: "n=16M",
        count: |given| each(given, "copy", 0.0, &[Operand::Read("x"), Operand::Write("y")]),
        derivation: "\
`copy`: y = x over a vector.

FLOPs: 0.
Bytes: 2Ne; x is read, y is written.
Source: J. McCalpin, *STREAM: Sustainable Memory Bandwidth in High Performance Computers*, 1995
(two words per element; GPUs do not read what they overwrite).",
        ..PLAIN
    },
    Form {
        name: "scal",
        aliases: &["scale"],
        summary: "x = a·x over a vector",
        category: Category::Elementwise,
        parameters: &elements("fp32"),
        example: "n=16M",
        count: |given| each(given, "scale", 1.0, &[Operand::Update("x")]),
        derivation: "\
`scal`: x = a·x over a vector.

FLOPs: N, one multiplication per element.
Bytes: 2Ne; x is read and written.
Intensity: 1/(2e).
Source: C. Lawson, R. Hanson, D. Kincaid, F. Krogh, *Basic Linear Algebra Subprograms for
Fortran Usage*, ACM TOMS 5(3), 1979.",
        ..PLAIN
    },
    Form {
        name: "add",
        aliases: &["mul", "sub"],
        summary: "z = x + y over vectors, or any operation of two inputs",
        category: Category::Elementwise,
        parameters: &elements("fp32"),
        example: "n=16M",
        count: |given| {
            each(given, "add", 1.0, &[Operand::Read("x"), Operand::Read("y"), Operand::Write("z")])
        },
        derivation: "\
`add`: z = x + y, or x·y, or any other single operation of two inputs.

FLOPs: N.
Bytes: 3Ne; x and y are read, z is written.
Intensity: 1/(3e): 1/6 FLOP/B for fp16.
Source: J. McCalpin, *STREAM: Sustainable Memory Bandwidth in High Performance Computers*, 1995
(`Add`).",
        ..PLAIN
    },
    Form {
        name: "axpy",
        aliases: &["saxpy", "triad"],
        summary: "y = a·x + y over vectors, or the triad z = x + a·y",
        category: Category::Elementwise,
        parameters: &elements("fp32"),
        example: "n=16M",
        count: |given| {
            each(given, "multiply and add", 2.0, &[Operand::Read("x"), Operand::Update("y")])
        },
        derivation: "\
`axpy`: y = a·x + y, and the triad z = x + a·y.

FLOPs: 2N, a multiplication and an addition per element.
Bytes: 3Ne; x and y are read, y (or z) is written. That y is in a register between its read and
its write saves neither: 12N bytes for fp32, not 8N.
Intensity: 2/(3e): 1/6 FLOP/B for fp32, 1/12 for fp64, 1/3 for fp16.
Source: C. Lawson, R. Hanson, D. Kincaid, F. Krogh, *Basic Linear Algebra Subprograms for
Fortran Usage*, ACM TOMS 5(3), 1979; STREAM's `Triad` has the same counts.",
        ..PLAIN
    },
];
