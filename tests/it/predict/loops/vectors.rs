//! Loops over vectors and elements: BLAS 1, elementwise work, optimizers.

use super::super::meter::{Meter, check, check_with};

const N: usize = 37;

/// One pass over N elements that reads, computes and writes.
fn pass(meter: &mut Meter, reads: &[&'static str], operations: u64, writes: &[&'static str]) {
    for i in 0..N {
        for operand in reads {
            meter.read(operand, i);
        }
        meter.op(operations);
        for operand in writes {
            meter.write(operand, i);
        }
    }
}

#[test]
fn vector_updates() {
    check("copy n=37", |m| pass(m, &["x"], 0, &["y"]));
    check("scal n=37", |m| pass(m, &["x"], 1, &["x"]));
    check("add n=37", |m| pass(m, &["x", "y"], 1, &["z"]));
    check("axpy n=37", |m| pass(m, &["x", "y"], 2, &["y"]));
}

#[test]
fn vector_sums() {
    let sum = |m: &mut Meter, operands: &[&'static str], each: u64| {
        for i in 0..N {
            for operand in operands {
                m.read(operand, i);
            }
            // The first element begins the sum, every other one is added to it.
            m.op(each + u64::from(i > 0));
        }
        m.write("result", 0);
    };
    check("dot n=37 exact=yes", |m| sum(m, &["x", "y"], 1));
    check("asum n=37 exact=yes", |m| sum(m, &["x"], 0));
    check("sum n=37 exact=yes", |m| sum(m, &["x"], 0));
    check("nrm2 n=37 exact=yes", |m| {
        sum(m, &["x"], 1);
        m.op(1);
    });
    check("scan n=37", |m| {
        for i in 0..N {
            m.read("x", i);
            // Added to a running sum of zero at first: the customary n.
            m.op(1);
            m.write("sums", i);
        }
    });
}

#[test]
fn elementwise_operations() {
    check("relu n=37", |m| pass(m, &["x"], 1, &["y"]));
    check("relu-backward n=37", |m| pass(m, &["x", "dy"], 1, &["dx"]));
    // exp, add, divide; and a multiplication by x.
    check("sigmoid n=37", |m| pass(m, &["x"], 1 + 1 + 1, &["y"]));
    check("silu n=37", |m| pass(m, &["x"], 1 + 1 + 1 + 1, &["y"]));
    check("dropout n=37", |m| pass(m, &["x"], 1 + 1, &["y", "mask"]));
    check("cast n=37", |m| pass(m, &["x"], 0, &["y"]));
    check("batchnorm-inference n=37", |m| pass(m, &["x"], 1 + 1, &["y"]));
    check("elementwise n=37 ops=3 inputs=2 outputs=1 broadcast=5", |m| {
        for i in 0..N {
            m.read("inputs", i);
            m.read("inputs", N + i);
            m.read("broadcast operands", i % 5);
            m.op(3);
            m.write("outputs", i);
        }
    });
}

#[test]
fn optimizer_steps() {
    check("sgd n=37", |m| pass(m, &["p", "g"], 2, &["p"]));
    check("momentum n=37", |m| pass(m, &["p", "v", "g"], 2 + 2, &["p", "v"]));
    let adam = |m: &mut Meter, decay: u64, writes: &[&'static str]| {
        let first_moment = 3;
        let second_moment = 4;
        let corrected = 2;
        let root_epsilon_divide_rate_subtract = 5;
        let step = first_moment + second_moment + corrected + root_epsilon_divide_rate_subtract;
        pass(m, &["p", "m", "v", "g"], step + decay, writes);
    };
    check("adam n=37", |m| adam(m, 0, &["p", "m", "v"]));
    check("adam n=37 decay=yes gradient=fp16 copy=fp16", |m| {
        adam(m, 2, &["p", "m", "v", "copy of p"]);
    });
}

#[test]
fn batch_normalization() {
    // Per element: sum; difference, square, sum; difference, scale, shift. Channels are left out.
    check("batchnorm n=37", |m| {
        pass(m, &["x"], 1 + 3, &[]);
        m.phase();
        pass(m, &["x"], 3, &["y"]);
    });
    check("batchnorm n=37 single_pass=yes", |m| {
        pass(m, &["x"], 1 + 3, &[]);
        pass(m, &["x"], 3, &["y"]);
    });
    // x̂ (2), its product with dy and both sums (3); x̂ again (2), its scaling, two differences and
    // the scaling of the result (4).
    check("batchnorm-backward n=37", |m| {
        pass(m, &["x", "dy"], 2 + 3, &[]);
        m.phase();
        pass(m, &["x", "dy"], 2 + 4, &["dx"]);
    });
}

#[test]
fn reductions_to_several_results() {
    // Six results of groups of six or seven elements.
    check("reduction n=37 m=6", |m| {
        let mut begun = [false; 6];
        for i in 0..N {
            m.read("x", i);
            m.op(u64::from(begun[i % 6]));
            begun[i % 6] = true;
        }
        (0..6).for_each(|group| m.write("results", group));
    });
}

#[test]
fn fourier_transforms() {
    // Radix 2 with every twiddle factor multiplied: 6 for the product, 4 for two sums.
    fn transform(m: &mut Meter, length: usize) {
        if length == 1 {
            return;
        }
        transform(m, length / 2);
        transform(m, length / 2);
        (0..length / 2).for_each(|_| m.op(6 + 2 + 2));
    }
    check("fft n=64 batch=3", |m| {
        for one in 0..3 {
            transform(m, 64);
            for i in 0..64 {
                m.read("points", 64 * one + i);
                m.write("points", 64 * one + i);
            }
        }
    });
    // Passes: 2^13 points in transforms of at most 2^6.
    let passes = super::super::count("fft n=2^13 on_chip=64 passes=auto").traffic[0].reads;
    assert_eq!(passes, 3.0);
    // Real transforms: half of the work, N real numbers in, N/2+1 complex ones out.
    check_with("rfft n=64 exact=yes", 5 * 64 * 6 / 2, |m| {
        transform(m, 64);
        (0..64).for_each(|i| m.read("points", i));
        (0..2 * 33).for_each(|i| m.write("half spectrum", i));
    });
}
