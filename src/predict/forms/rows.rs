//! Rows of tables, looked up, added up and moved by an index.

use super::{Arguments, Category, Count, DTYPE, Form, INDEX, PLAIN, Parameter, PredictError};

const LOOKED_UP: &[Parameter] = &[
    Parameter::size("n", "lookups"),
    Parameter::size("d", "width of a row"),
    Parameter::size("unique", "distinct rows").same_as("n"),
    DTYPE.or("fp32"),
    INDEX.or("int64"),
];

const MOVED: &[Parameter] = &[
    Parameter::size("n", "rows moved"),
    Parameter::size("d", "elements of a row").or("1"),
    DTYPE.or("fp32"),
    INDEX.or("int64"),
];

pub(super) const FORMS: &[Form] = &[
    Form {
        name: "embedding",
        summary: "rows of a table by index",
        category: Category::DataMovement,
        parameters: LOOKED_UP,
        example: "n=700 d=200",
        count: embedding,
        derivation: "\
`embedding`: n rows of width d, looked up in a table.

FLOPs: 0.
Bytes: n·i + 2e·n·d; the indices, the rows read and written. With U distinct rows that stay in a
cache once read: n·i + e·d(U+n) (`unique=U`).
Source: PyTorch, `torch.nn.functional.embedding` (int64 indices).",
        ..PLAIN
    },
    Form {
        name: "embedding-bag",
        summary: "sums of rows of a table",
        category: Category::Reduction,
        parameters: &[
            Parameter::size("bags", "sums"),
            Parameter::size("length", "rows per sum"),
            Parameter::size("d", "width of a row"),
            DTYPE.or("fp32"),
            INDEX.or("int64"),
        ],
        example: "bags=4096 length=20 d=128",
        count: embedding_bag,
        derivation: "\
`embedding-bag`: sums of L rows of width d each, looked up in a table.

FLOPs: (L−1)·d per bag.
Bytes: L(i + ed) + ed per bag; indices and rows are read, one row is written.
Source: PyTorch, `torch.nn.EmbeddingBag`; M. Naumov et al., *Deep Learning Recommendation
Model*, 2019, arXiv 1906.00091.",
        ..PLAIN
    },
    Form {
        name: "embedding-backward",
        summary: "gradients added to rows of a table",
        category: Category::DataMovement,
        parameters: LOOKED_UP,
        example: "n=700 d=200",
        count: embedding_backward,
        derivation: "\
`embedding-backward`: n gradients of width d added to the rows of a table, U of them distinct.

FLOPs: n·d additions.
Bytes: n·i + e·n·d + 2e·U·d; indices and gradients are read, the rows touched are read and
written.
Source: PyTorch, `torch.nn.functional.embedding` and its gradient.",
        ..PLAIN
    },
    Form {
        name: "gather",
        summary: "rows taken from anywhere",
        category: Category::DataMovement,
        parameters: MOVED,
        example: "n=1M d=64",
        count: gather,
        derivation: "\
`gather`: n rows of width d, taken from anywhere by an index.

FLOPs: 0.
Bytes: n·i + 2e·n·d; the indices, the rows read and written. Rows narrower than a 32-byte sector
move whole sectors, which a compulsory count leaves out.
Source: PyTorch, `torch.gather`.",
        ..PLAIN
    },
    Form {
        name: "scatter",
        summary: "rows put anywhere",
        category: Category::DataMovement,
        parameters: MOVED,
        example: "n=1M d=64",
        count: gather,
        derivation: "\
`scatter`: n rows of width d, put anywhere by an index.

FLOPs: 0.
Bytes: n·i + 2e·n·d; the indices, the rows read and written. Rows narrower than a 32-byte sector
move whole sectors, which a compulsory count leaves out.
Source: PyTorch, `torch.scatter`.",
        ..PLAIN
    },
    Form {
        name: "scatter-add",
        summary: "rows added anywhere",
        category: Category::DataMovement,
        parameters: MOVED,
        example: "n=1M d=64",
        count: scatter_add,
        derivation: "\
`scatter-add`: n rows of width d added anywhere by an index.

FLOPs: n·d additions.
Bytes: n·i + 3e·n·d; the indices, the rows read, and the target read and written.
Source: PyTorch, `torch.scatter_add`.",
        ..PLAIN
    },
];

fn embedding(given: &Arguments) -> Result<Count, PredictError> {
    let (count, rows) = looked_up(given)?;
    let e = given.data_type("dtype");
    Ok(count.read("table rows", rows.distinct, e).write("output", rows.elements, e))
}

fn embedding_backward(given: &Arguments) -> Result<Count, PredictError> {
    let (count, rows) = looked_up(given)?;
    let e = given.data_type("dtype");
    Ok(count.vector("add", rows.elements, e).read("dy", rows.elements, e).update(
        "table rows",
        rows.distinct,
        e,
    ))
}

fn embedding_bag(given: &Arguments) -> Result<Count, PredictError> {
    let [bags, length, d] = ["bags", "length", "d"].map(|key| given.number(key));
    let (e, i) = (given.data_type("dtype"), given.data_type("index"));
    Ok(Count::new()
        .vector("add", bags * (length - 1.0) * d, e)
        .read("indices", bags * length, i)
        .read("table rows", bags * length * d, e)
        .write("output", bags * d, e)
        .work_items(bags * d))
}

fn gather(given: &Arguments) -> Result<Count, PredictError> {
    let (count, elements) = indexed(given);
    let e = given.data_type("dtype");
    Ok(count.read("source", elements, e).write("target", elements, e))
}

fn scatter_add(given: &Arguments) -> Result<Count, PredictError> {
    let (count, elements) = indexed(given);
    let e = given.data_type("dtype");
    Ok(count.vector("add", elements, e).read("source", elements, e).update("target", elements, e))
}

/// The indices of n rows, and the elements of these rows.
fn indexed(given: &Arguments) -> (Count, f64) {
    let elements = given.number("n") * given.number("d");
    let indices = Count::new().read("indices", given.number("n"), given.data_type("index"));
    (indices.work_items(elements), elements)
}

/// Elements of the rows that lookups return, and of the distinct ones among them.
struct Rows {
    elements: f64,
    distinct: f64,
}

/// The indices of n lookups, and the rows they reach.
fn looked_up(given: &Arguments) -> Result<(Count, Rows), PredictError> {
    let (n, unique) = (given.number("n"), given.number("unique"));
    if unique > n {
        return Err(given.misfit(format!("{n} lookups touch at most {n} rows")));
    }
    let (count, elements) = indexed(given);
    Ok((count, Rows { elements, distinct: unique * given.number("d") }))
}
