//! `rfft`: a Fourier transform of N real numbers, one or a batch.
//!
//! FLOPs: 2.5N·log₂N, nominal, half of the complex transform.
//! Bytes: 2eN per pass, customary: N real numbers are read, N/2 complex ones are written; exactly
//! eN + 2e(⌊N/2⌋+1). For fp32 8N in one pass and 16N in two, as older tables have it.
//! Intensity: (5/16)·log₂N FLOP/B for fp32 in one pass, (5/32)·log₂N in two. Logarithms are of base
//! 2.
//! Passes: ⌈log₂N/log₂N_s⌉ where N_s points fit on chip, 4096 complex fp32 on most devices.
//! Source: M. Frigo, S. Johnson, *The Design and Implementation of FFTW3*, Proc. IEEE 93(2), 2005,
//! and benchFFT (the nominal count; real transforms do half).

use super::{Arguments, Category, Count, DTYPE, EXACT, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "rfft",
    summary: "Fourier transform of real numbers",
    category: Category::Other,
    parameters: &[
        Parameter::size("n", "points, best a power of two"),
        Parameter::size("batch", "transforms").or("1"),
        Parameter::auto(
            "passes",
            "times the data is read and written; auto: as on_chip makes necessary",
        )
        .or("1"),
        Parameter::size("on_chip", "points of the longest transform held on chip").or("4096"),
        DTYPE.or("fp32"),
        EXACT,
    ],
    example: "n=1Mi",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let [n, batch, chip] = ["n", "batch", "on_chip"].map(|key| given.number(key));
    let needed = (n.log2() / chip.log2()).ceil().max(1.0);
    let passes = given.optional("passes").unwrap_or(needed);
    let e = given.data_type("dtype");
    let half = if given.is("exact") { (n / 2.0).floor() + 1.0 } else { n / 2.0 };
    Ok(Count::new()
        .vector("butterflies", 2.5 * batch * n * n.log2(), e)
        .moved("points", batch * n, e, passes, 0.0)
        .moved("half spectrum", batch * 2.0 * half, e, 0.0, passes)
        .work_items(batch * n / 2.0))
}
