//! Loops of matrix products, triangular and sparse ones, and of layers.

use super::super::count;
use super::super::meter::{Meter, check, check_with};

#[test]
fn matrix_vector() {
    let (rows, columns) = (5, 7);
    let product = |m: &mut Meter, alpha: bool, beta: bool| {
        for i in 0..rows {
            for j in 0..columns {
                m.read("A", i * columns + j);
                m.read("x", j);
                m.op(2);
            }
            m.op(u64::from(alpha));
            if beta {
                m.read("y", i);
                m.op(2);
            }
            m.write("y", i);
        }
    };
    check("gemv m=5 n=7", |m| product(m, false, false));
    check("gemv m=5 n=7 alpha=0.2 beta=1", |m| product(m, true, true));
    check("ger m=5 n=7", |m| {
        for i in 0..rows {
            for j in 0..columns {
                m.read("x", i);
                m.read("y", j);
                m.read("A", i * columns + j);
                m.op(2);
                m.write("A", i * columns + j);
            }
        }
    });
}

#[test]
fn sparse_matrix_vector() {
    // Three non-zeros in each of 8 rows, so that every column occurs.
    let (rows, beta) = (8, 3);
    let column = |row: usize, entry: usize| (row + 2 * entry) % rows;
    let csr = |m: &mut Meter, anew: bool| {
        for row in 0..rows {
            m.read("row pointers", row);
            m.read("row pointers", row + 1);
            for entry in 0..beta {
                let at = row * beta + entry;
                m.read("values", at);
                m.read("column indices", at);
                m.read("x", if anew { at } else { column(row, entry) });
                m.op(2);
            }
            m.write("y", row);
        }
    };
    check("spmv-csr n=8 beta=3 exact=yes", |m| csr(m, false));
    check("spmv-csr n=8 beta=3 exact=yes x=every", |m| csr(m, true));
    check("spmv-ell n=8 width=4 beta=3", |m| {
        for row in 0..rows {
            for entry in 0..4 {
                m.read("values", row * 4 + entry);
                m.read("column indices", row * 4 + entry);
                if entry < beta {
                    m.read("x", column(row, entry));
                    m.op(2);
                }
            }
            m.write("y", row);
        }
    });
}

#[test]
fn matrix_matrix() {
    let (batch, rows, columns, depth) = (2, 3, 4, 5);
    check("gemm m=3 n=4 k=5 batch=2 alpha=0.5 beta=1 shared_b=yes exact=yes", |m| {
        for b in 0..batch {
            for i in 0..rows {
                for j in 0..columns {
                    for k in 0..depth {
                        m.read("A", (b * rows + i) * depth + k);
                        m.read("B", k * columns + j);
                        m.op(2);
                    }
                    m.op(1);
                    m.read("C", (b * rows + i) * columns + j);
                    m.op(2);
                    m.write("D", (b * rows + i) * columns + j);
                }
            }
        }
    });
    // The customary form leaves the scaling by alpha and the addition of C out: 3 per element.
    let exact = count("gemm m=3 n=4 k=5 alpha=0.5 beta=1 exact=yes").operations().get();
    let customary = count("gemm m=3 n=4 k=5 alpha=0.5 beta=1").operations().get();
    assert_eq!(exact - customary, 3.0 * 12.0);
}

#[test]
fn triangles() {
    let (n, k) = (6, 5);
    let rank_k = |m: &mut Meter| {
        for i in 0..n {
            for j in 0..=i {
                for l in 0..k {
                    m.read("A", i * k + l);
                    m.read("A", j * k + l);
                    m.op(2);
                }
                m.write("C", i * n + j);
            }
        }
    };
    check("syrk n=6 k=5 exact=yes", rank_k);
    // The customary form leaves half of the diagonal out, in operations and in elements.
    let (exact, customary) = (count("syrk n=6 k=5 exact=yes"), count("syrk n=6 k=5"));
    assert_eq!(exact.operations().get() - customary.operations().get(), 6.0 * 5.0);
    assert_eq!(exact.written_bytes().get() - customary.written_bytes().get(), 4.0 * 6.0 / 2.0);
    let right_hand_sides = 4;
    check("trsm n=6 m=4 exact=yes", |m| {
        for column in 0..right_hand_sides {
            for i in 0..n {
                m.read("B", i * right_hand_sides + column);
                for j in 0..i {
                    m.read("T", i * n + j);
                    m.op(2);
                }
                m.read("T", i * n + i);
                m.op(1);
                m.write("B", i * right_hand_sides + column);
            }
        }
    });
}

/// Batch, inputs and outputs of a layer, and its innermost operation.
fn layer(mut inner: impl FnMut(usize, usize, usize)) {
    for b in 0..3 {
        for i in 0..4 {
            for o in 0..5 {
                inner(b, i, o);
            }
        }
    }
}

#[test]
fn fully_connected_layers() {
    check("linear batch=3 in=4 out=5 bias=yes", |m| {
        layer(|b, i, o| {
            m.read("x", b * 4 + i);
            m.read("W", o * 4 + i);
            m.op(2);
            if i == 0 {
                m.read("bias", o);
                m.op(1);
            }
            m.write("y", b * 5 + o);
        });
    });
    check("linear-dgrad batch=3 in=4 out=5", |m| {
        layer(|b, i, o| {
            m.read("dy", b * 5 + o);
            m.read("W", o * 4 + i);
            m.op(2);
            m.write("dx", b * 4 + i);
        });
    });
    // Adding to the gradients that are there: 5·4 and 5 additions, which the form leaves out.
    check_with("linear-wgrad batch=3 in=4 out=5 bias=yes accumulate=yes", 5 * 4 + 5, |m| {
        layer(|b, i, o| {
            m.read("dy", b * 5 + o);
            m.read("x", b * 4 + i);
            m.op(2 + u64::from(i == 0));
            m.read("dW", o * 4 + i);
            m.read("dbias", o);
            m.op(u64::from(b == 0) + u64::from(b == 0 && i == 0));
            m.write("dW", o * 4 + i);
            m.write("dbias", o);
        });
    });
}

#[test]
fn mixtures_of_experts() {
    // Five experts of which one receives nothing, with 4, 1, 2 and 3 rows.
    let rows_of = [4, 0, 1, 2, 3];
    check("moe rows=10 experts=4 n=3 k=2", |m| {
        let mut row = 0;
        for (expert, rows) in rows_of.into_iter().enumerate() {
            for _ in 0..rows {
                for j in 0..3 {
                    for k in 0..2 {
                        m.read("x", row * 2 + k);
                        m.read("W", (expert * 3 + j) * 2 + k);
                        m.op(2);
                    }
                    m.write("y", row * 3 + j);
                }
                row += 1;
            }
        }
    });
}

#[test]
fn recurrent_cells() {
    let (batch, inputs, hidden) = (2, 3, 4);
    // About thirty operations per unit beside the products: taken as thirty.
    check("lstm-cell batch=2 in=3 hidden=4", |m| {
        for b in 0..batch {
            for gate in 0..4 * hidden {
                for i in 0..inputs + hidden {
                    m.read("weights", gate * (inputs + hidden) + i);
                    if i < inputs {
                        m.read("x", b * inputs + i);
                    } else {
                        m.read("hidden state", b * hidden + i - inputs);
                    }
                    m.op(2);
                }
                m.read("biases", 2 * gate);
                m.read("biases", 2 * gate + 1);
            }
            for unit in 0..hidden {
                m.op(30);
                m.read("cell state", b * hidden + unit);
                m.write("cell state", b * hidden + unit);
                m.write("hidden state", b * hidden + unit);
            }
        }
    });
}
