//! Loops of attention: fused, as separate kernels, and of one new token.

use super::super::meter::{Meter, check};

/// Sequences, query heads, key heads, queries, keys and width of the attention that is run.
const HEADS: [usize; 6] = [2, 4, 2, 3, 5, 6];
const CALL: &str = "b=2 h=4 g=2 nq=3 nk=5 d=6";

/// Runs through all pairs of a query and a key that meet: heads and rows as flat indices.
fn pairs(causal: bool, mut inner: impl FnMut(usize, usize, usize)) {
    let [b, h, g, nq, nk, _] = HEADS;
    for head in 0..b * h {
        // Query heads share key heads in groups.
        let key_head = head / h * g + head % h / (h / g);
        for query in 0..nq {
            for key in 0..nk {
                if !causal || key <= query + nk - nq {
                    inner(
                        head * nq + query,
                        key_head * nk + key,
                        head * nq * nk + query * nk + key,
                    );
                }
            }
        }
    }
}

fn vector(m: &mut Meter, operand: &'static str, row: usize) {
    (0..HEADS[5]).for_each(|i| m.read(operand, row * HEADS[5] + i));
}

fn result(m: &mut Meter, operand: &'static str, row: usize) {
    (0..HEADS[5]).for_each(|i| m.write(operand, row * HEADS[5] + i));
}

#[test]
fn fused_attention() {
    for (causal, flag) in [(false, "no"), (true, "yes")] {
        check(&format!("attention {CALL} causal={flag} softmax=yes"), |m| {
            pairs(causal, |query, key, _| {
                vector(m, "Q", query);
                vector(m, "K", key);
                vector(m, "V", key);
                // Score, softmax (maximum, difference, exponential, sum, division), value.
                m.op(2 * 6 + 5 + 2 * 6);
                m.write("log-sum-exp", query);
                result(m, "O", query);
            });
        });
        check(&format!("attention-backward {CALL} causal={flag}"), |m| {
            pairs(causal, |query, key, _| {
                for operand in ["Q", "O", "dO"] {
                    vector(m, operand, query);
                }
                vector(m, "K", key);
                vector(m, "V", key);
                m.read("log-sum-exp", query);
                m.read("row sums", query);
                let [scores, dv, dp, dq, dk] = [2 * 6; 5];
                m.op(scores + dv + dp + dq + dk);
                result(m, "dQ", query);
                result(m, "dK", key);
                result(m, "dV", key);
            });
        });
    }
    check("attention-decode b=2 h=4 g=2 nk=5 d=6 exact=yes", |m| {
        for head in 0..8 {
            let key_head = head / 4 * 2 + head % 4 / 2;
            vector(m, "q", head);
            for key in 0..5 {
                vector(m, "K", key_head * 5 + key);
                vector(m, "V", key_head * 5 + key);
                m.op(2 * 6 + 2 * 6);
            }
            result(m, "o", head);
        }
    });
}

#[test]
fn unfused_attention() {
    check(&format!("attention-unfused {CALL} softmax=yes"), |m| {
        pairs(false, |query, key, pair| {
            vector(m, "Q", query);
            vector(m, "K", key);
            m.op(2 * 6);
            m.write("S", pair);
        });
        m.phase();
        pairs(false, |_, _, pair| {
            m.read("S", pair);
            m.op(5);
            m.write("P", pair);
        });
        m.phase();
        pairs(false, |query, key, pair| {
            m.read("P", pair);
            vector(m, "V", key);
            m.op(2 * 6);
            result(m, "O", query);
        });
    });
    check(&format!("attention-unfused-backward {CALL} softmax=yes"), |m| {
        let product = |m: &mut Meter, left: &'static str, right: &[(&'static str, bool)], out| {
            pairs(false, |query, key, pair| {
                if !left.is_empty() {
                    m.read(left, pair);
                }
                for (operand, by_query) in right {
                    vector(m, operand, if *by_query { query } else { key });
                }
                m.op(2 * 6);
                match out {
                    "dP" => m.write("dP", pair),
                    "dQ" => result(m, "dQ", query),
                    _ => result(m, out, key),
                }
            });
            m.phase();
        };
        product(m, "P", &[("dO", true)], "dV");
        product(m, "", &[("dO", true), ("V", false)], "dP");
        pairs(false, |_, _, pair| {
            m.read("P", pair);
            m.read("dP", pair);
            m.op(4);
            m.write("dS", pair);
        });
        m.phase();
        product(m, "dS", &[("K", false)], "dQ");
        product(m, "dS", &[("Q", true)], "dK");
    });
}
