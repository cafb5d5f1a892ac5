//! `fft`: a Fourier transform of N complex numbers, one or a batch.
//!
//! FLOPs: 5N·log₂N, nominal: exact for radix 2 with all twiddle factors multiplied, above what good
//! programs do.
//! Bytes: 2·N·e per pass, with e bytes for a complex number; each pass reads and writes all of
//! them.
//! Passes: ⌈log₂N/log₂N_s⌉ where N_s points fit on chip, 4096 complex fp32 on most devices.
//! Source: M. Frigo, S. Johnson, *The Design and Implementation of FFTW3*, Proc. IEEE 93(2), 2005,
//! and benchFFT (the nominal count; real transforms do half).

use super::{Arguments, Category, Count, DTYPE, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "fft",
    summary: "Fourier transform of complex numbers",
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
        DTYPE.or("c32"),
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
    if !e.is_complex() {
        return Err(given.misfit("dtype must be c32 or c64; for real numbers use rfft"));
    }
    Ok(Count::new()
        .vector("butterflies", 5.0 * batch * n * n.log2(), e)
        .moved("points", batch * n, e, passes, passes)
        .work_items(batch * n / 2.0))
}
