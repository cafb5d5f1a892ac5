//! Loops that look up, move and sort.

use super::super::meter::{Meter, check};

/// Seven lookups of five distinct rows.
const LOOKUPS: [usize; 7] = [4, 0, 2, 4, 9, 7, 0];
const WIDTH: usize = 3;

fn row(touch: impl FnMut(usize), at: usize) {
    (at * WIDTH..(at + 1) * WIDTH).for_each(touch);
}

#[test]
fn embeddings() {
    check("embedding n=7 d=3 unique=5", |m| {
        for (i, at) in LOOKUPS.into_iter().enumerate() {
            m.read("indices", i);
            row(|element| m.read("table rows", element), at);
            row(|element| m.write("output", element), i);
        }
    });
    check("embedding-backward n=7 d=3 unique=5", |m| {
        for (i, at) in LOOKUPS.into_iter().enumerate() {
            m.read("indices", i);
            row(|element| m.read("dy", element), i);
            row(|element| m.read("table rows", element), at);
            m.op(WIDTH as u64);
            row(|element| m.write("table rows", element), at);
        }
    });
    check("embedding-bag bags=4 length=5 d=3", |m| {
        for bag in 0..4 {
            for i in 0..5 {
                m.read("indices", bag * 5 + i);
                row(|element| m.read("table rows", element), bag * 5 + i);
                m.op(if i > 0 { WIDTH as u64 } else { 0 });
            }
            row(|element| m.write("output", element), bag);
        }
    });
}

#[test]
fn gathering_and_scattering() {
    let moved = |m: &mut Meter, adds: bool| {
        for i in 0..7 {
            m.read("indices", i);
            row(|element| m.read("source", element), i);
            if adds {
                row(|element| m.read("target", element), 6 - i);
                m.op(WIDTH as u64);
            }
            row(|element| m.write("target", element), 6 - i);
        }
    };
    check("gather n=7 d=3", |m| moved(m, false));
    check("scatter n=7 d=3", |m| moved(m, false));
    check("scatter-add n=7 d=3", |m| moved(m, true));
}

#[test]
fn copies() {
    check("transpose n=6*4", |m| {
        for i in 0..6 {
            for j in 0..4 {
                m.read("x", i * 4 + j);
                m.write("y", j * 6 + i);
            }
        }
    });
    check("memset bytes=64", |m| (0..64).for_each(|i| m.write("buffer", i)));
    check("memcpy-host bytes=64", |m| (0..64).for_each(|i| m.write("buffer", i)));
    check("memcpy-device bytes=64", |m| {
        (0..64).for_each(|i| {
            m.read("source", i);
            m.write("target", i);
        });
    });
}

#[test]
fn sorting() {
    check("radix-sort n=9 key=int32 value=int32", |m| {
        (0..9).for_each(|i| m.read("keys", i));
        m.phase();
        for _ in 0..4 {
            for i in 0..9 {
                for operand in ["keys", "values"] {
                    m.read(operand, i);
                    m.write(operand, i);
                }
            }
            m.phase();
        }
    });
}

#[test]
fn sums_over_devices() {
    // A ring of four: in each of 3 + 3 steps a device sends a quarter of 64 bytes of fp16.
    let count = super::super::count("all-reduce bytes=64 ranks=4 exact=yes");
    let (mut sent, mut added) = (0, 0);
    for step in 0..6 {
        sent += 64 / 4;
        added += if step < 3 { 64 / 4 / 2 } else { 0 };
    }
    assert_eq!(count.link.unwrap().bytes.get(), f64::from(sent));
    assert_eq!(count.operations().get(), f64::from(added));
}
