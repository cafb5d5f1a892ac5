//! Loops of convolutions, pooling, softmax and normalization.

use super::super::count;
use super::super::meter::{Meter, check, check_with};

/// A small convolution: images, channels, size, filters, window, stride, padding, dilation, groups.
struct Shape {
    n: usize,
    c: usize,
    h: usize,
    k: usize,
    r: usize,
    stride: usize,
    pad: usize,
    dilation: usize,
    groups: usize,
}

const PLAIN: Shape =
    Shape { n: 2, c: 4, h: 6, k: 6, r: 3, stride: 1, pad: 1, dilation: 1, groups: 2 };
const STRIDED: Shape =
    Shape { n: 1, c: 2, h: 9, k: 3, r: 3, stride: 2, pad: 1, dilation: 1, groups: 1 };
const DILATED: Shape =
    Shape { n: 1, c: 2, h: 7, k: 2, r: 3, stride: 1, pad: 0, dilation: 2, groups: 1 };

/// Elements of input, filters and output that meet; no input element where a tap is padding.
struct Tap {
    x: Option<usize>,
    filter: usize,
    y: usize,
}

impl Shape {
    fn call(&self, form: &str) -> String {
        let Self { n, c, h, k, r, stride, pad, dilation, groups } = self;
        format!(
            "{form} n={n} c={c} h={h} k={k} r={r} stride={stride} pad={pad} dilation={dilation} \
             groups={groups}"
        )
    }

    /// P = Q, by trying every position.
    fn positions(&self) -> usize {
        let reach = self.dilation * (self.r - 1) + 1;
        (0..self.h + 2 * self.pad)
            .filter(|p| p * self.stride + reach <= self.h + 2 * self.pad)
            .count()
    }

    fn taps(&self, mut inner: impl FnMut(Tap)) {
        let (p, per_group) = (self.positions(), self.c / self.groups);
        for (image, k) in product(self.n, self.k) {
            let group = k / (self.k / self.groups);
            for (row, column) in product(p, p) {
                for channel in 0..per_group {
                    for (r, s) in product(self.r, self.r) {
                        let inside = |at: usize, tap: usize| {
                            let place =
                                (at * self.stride + tap * self.dilation).checked_sub(self.pad);
                            place.filter(|place| *place < self.h)
                        };
                        let place = inside(row, r).zip(inside(column, s));
                        let plane = image * self.c + group * per_group + channel;
                        inner(Tap {
                            x: place.map(|(y, x)| (plane * self.h + y) * self.h + x),
                            filter: ((k * per_group + channel) * self.r + r) * self.r + s,
                            y: ((image * self.k + k) * p + row) * p + column,
                        });
                    }
                }
            }
        }
    }
}

fn product(one: usize, two: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..one).flat_map(move |a| (0..two).map(move |b| (a, b)))
}

#[test]
fn convolutions() {
    for shape in [PLAIN, STRIDED, DILATED] {
        check(&shape.call("conv2d"), |m| {
            shape.taps(|tap| {
                tap.x.into_iter().for_each(|x| m.read("x", x));
                m.read("filters", tap.filter);
                m.op(2);
                m.write("y", tap.y);
            });
        });
        check(&shape.call("conv2d-dgrad"), |m| {
            shape.taps(|tap| {
                m.read("dy", tap.y);
                m.read("filters", tap.filter);
                m.op(2);
                tap.x.into_iter().for_each(|x| m.write("dx", x));
            });
        });
        check(&shape.call("conv2d-wgrad"), |m| {
            shape.taps(|tap| {
                tap.x.into_iter().for_each(|x| m.read("x", x));
                m.read("dy", tap.y);
                m.op(2);
                m.write("dfilters", tap.filter);
            });
        });
    }
}

#[test]
fn depthwise_and_transposed_convolutions() {
    let shape = Shape { c: 4, k: 4, groups: 4, ..PLAIN };
    check("conv2d-depthwise n=2 c=4 h=6 r=3 pad=1", |m| {
        shape.taps(|tap| {
            tap.x.into_iter().for_each(|x| m.read("x", x));
            m.read("filters", tap.filter);
            m.op(2);
            m.write("y", tap.y);
        });
    });
    let grouped = count(&shape.call("conv2d"));
    let depthwise = count("conv2d-depthwise n=2 c=4 h=6 r=3 pad=1");
    assert_eq!(depthwise.operations(), grouped.operations());
    assert_eq!(depthwise.bytes(), grouped.bytes());
    // Each input element is spread over a 4×4 window at distance 2; what falls outside is cut.
    let (n, c, h, k, r, stride, pad) = (1, 2, 5, 3, 4, 2, 1);
    let p = (h - 1) * stride + r - 2 * pad;
    check("conv2d-transposed n=1 c=2 h=5 k=3 r=4 stride=2 pad=1", |m| {
        for (image, channel) in product(n, c) {
            for (row, column) in product(h, h) {
                for (out, (y, x)) in (0..k).flat_map(|out| product(r, r).map(move |tap| (out, tap)))
                {
                    m.read("x", ((image * c + channel) * h + row) * h + column);
                    m.read("filters", ((channel * k + out) * r + y) * r + x);
                    m.op(2);
                    let place = |at: usize, tap: usize| (at * stride + tap).checked_sub(pad);
                    let place = place(row, y).zip(place(column, x));
                    if let Some((y, x)) = place.filter(|(y, x)| *y < p && *x < p) {
                        m.write("y", ((image * k + out) * p + y) * p + x);
                    }
                }
            }
        }
    });
}

#[test]
fn pooling() {
    let shape = Shape { c: 4, k: 4, groups: 4, ..PLAIN };
    let pool = |m: &mut Meter, first: bool, places: bool| {
        let mut begun = std::collections::BTreeSet::new();
        shape.taps(|tap| {
            tap.x.into_iter().for_each(|x| m.read("x", x));
            m.op(u64::from(!begun.insert(tap.y) || first));
            m.write("y", tap.y);
            if places {
                m.write("indices", tap.y);
            }
        });
    };
    let call = "pool n=2 c=4 h=6 r=3 pad=1";
    check(call, |m| pool(m, true, false));
    check(&format!("{call} exact=yes indices=yes"), |m| pool(m, false, true));
    // An average divides once, so RS operations are exact.
    check(&format!("{call} exact=yes kind=avg"), |m| {
        pool(m, false, false);
        m.op(2 * 4 * 36);
    });
}

const ROWS: usize = 3;
const COLUMNS: usize = 7;

/// One pass over all elements.
fn pass(m: &mut Meter, reads: &[&'static str], operations: u64, writes: &[&'static str]) {
    for i in 0..ROWS * COLUMNS {
        for operand in reads {
            m.read(operand, i);
        }
        m.op(operations);
        for operand in writes {
            m.write(operand, i);
        }
    }
}

fn once(m: &mut Meter, operand: &'static str, elements: usize) {
    (0..elements).for_each(|i| m.read(operand, i));
}

#[test]
fn softmax() {
    let [maximum, difference, exponential, sum, division] = [1; 5];
    check("softmax rows=3 columns=7", |m| {
        pass(m, &["x"], maximum, &[]);
        pass(m, &[], difference + exponential + sum, &[]);
        pass(m, &[], division, &["y"]);
    });
    check_with("softmax rows=3 columns=7 on_chip=no", 2 * 21, |m| {
        pass(m, &["x"], maximum, &[]);
        m.phase();
        pass(m, &["x"], difference + exponential + sum, &[]);
        m.phase();
        // Computed again since it was not kept: two operations more than the form counts.
        pass(m, &["x"], difference + exponential + division, &["y"]);
    });
    check("softmax-backward rows=3 columns=7", |m| {
        pass(m, &["y", "dy"], 1 + 1, &[]);
        pass(m, &[], 1 + 1, &["dx"]);
    });
    check("log-softmax-nll rows=3 columns=7 output=yes", |m| {
        pass(m, &["x"], maximum, &[]);
        pass(m, &[], difference + exponential + sum, &[]);
        pass(m, &[], 1, &["log-softmax"]);
        for row in 0..ROWS {
            m.read("labels", row);
            m.op(1);
            m.write("losses", row);
        }
    });
}

#[test]
fn normalization_of_rows() {
    // Work of whole rows (a division, a root) is left out by the forms and by these loops.
    check("layernorm rows=3 columns=7 statistics=yes", |m| {
        pass(m, &["x"], 1, &[]);
        pass(m, &[], 1 + 1 + 1, &[]);
        once(m, "weight", COLUMNS);
        once(m, "bias", COLUMNS);
        pass(m, &[], 1 + 1 + 1 + 1, &["y"]);
        (0..2 * ROWS).for_each(|i| m.write("statistics", i));
    });
    check("layernorm-backward rows=3 columns=7", |m| {
        once(m, "weight", COLUMNS);
        once(m, "statistics", 2 * ROWS);
        let (normalized, weighted, sums) = (2, 1, 1 + 2);
        pass(m, &["x", "dy"], normalized + weighted + sums, &[]);
        let (weighted_again, rest) = (1, 4);
        pass(m, &[], weighted_again + rest, &["dx"]);
        let (weight, bias) = (2, 1);
        pass(m, &[], weight + bias, &[]);
        (0..COLUMNS).for_each(|i| {
            m.write("dweight", i);
            m.write("dbias", i);
        });
    });
    check("rmsnorm rows=3 columns=7", |m| {
        pass(m, &["x"], 1 + 1, &[]);
        once(m, "weight", COLUMNS);
        pass(m, &[], 1 + 1, &["y"]);
    });
    check("quantize rows=3 columns=7", |m| {
        pass(m, &["x"], 1, &[]);
        pass(m, &[], 1 + 1 + 1, &["q"]);
        (0..ROWS).for_each(|row| m.write("scales", row));
    });
}
