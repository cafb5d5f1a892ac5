//! Transforms, sorting, and whatever is given.

use super::{
    Arguments, Category, Count, DTYPE, DataType, EXACT, Form, Kind, Operand, PLAIN, Parameter,
    PredictError, each, elements,
};

pub(super) const FORMS: &[Form] = &[
    Form {
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
        is_complex: true,
        count: fft,
        derivation: "\
`fft`: a Fourier transform of N complex numbers, one or a batch.

FLOPs: 5N·log₂N, nominal: exact for radix 2 with all twiddle factors multiplied, above what good
programs do.
Bytes: 2·N·e per pass, with e bytes for a complex number; each pass reads and writes all of
them.
Passes: ⌈log₂N/log₂N_s⌉ where N_s points fit on chip, 4096 complex fp32 on most devices.
Source: M. Frigo, S. Johnson, *The Design and Implementation of FFTW3*, Proc. IEEE 93(2), 2005,
and benchFFT (the nominal count; real transforms do half).",
        ..PLAIN
    },
    Form {
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
        count: rfft,
        derivation: "\
`rfft`: a Fourier transform of N real numbers, one or a batch.

FLOPs: 2.5N·log₂N, nominal, half of the complex transform.
Bytes: 2eN per pass, customary: N real numbers are read, N/2 complex ones are written; exactly
eN + 2e(⌊N/2⌋+1). For fp32 8N in one pass and 16N in two, as older tables have it.
Intensity: (5/16)·log₂N FLOP/B for fp32 in one pass, (5/32)·log₂N in two. Logarithms are of base
2.
Passes: ⌈log₂N/log₂N_s⌉ where N_s points fit on chip, 4096 complex fp32 on most devices.
Source: M. Frigo, S. Johnson, *The Design and Implementation of FFTW3*, Proc. IEEE 93(2), 2005,
and benchFFT (the nominal count; real transforms do half).",
        ..PLAIN
    },
    Form {
        name: "scan",
        aliases: &["prefix-sum"],
        summary: "running sums of a vector",
        category: Category::Reduction,
        parameters: &elements("fp32"),
        example: "n=16M",
        count: |given| each(given, "add", 1.0, &[Operand::Read("x"), Operand::Write("sums")]),
        derivation: "\
`scan`: all running sums of n elements, in a single pass.

FLOPs: n, customary for n−1 additions; the second sweep of a parallel scan is not counted.
Bytes: 2en.
Source: D. Merrill, M. Garland, *Single-Pass Parallel Prefix Scan with Decoupled Look-back*,
NVIDIA Technical Report NVR-2016-002, 2016.",
        ..PLAIN
    },
    Form {
        name: "radix-sort",
        aliases: &["sort"],
        summary: "keys, or keys with values, sorted",
        category: Category::Other,
        parameters: &[
            Parameter::size("n", "keys"),
            Parameter::data_type("key", "format of the keys").or("int32"),
            Parameter::data_type("value", "format of the values")
                .of(Kind::DataTypeOrNone)
                .or("none"),
            Parameter::size("digit", "key bits sorted in one pass").or("8"),
        ],
        example: "n=16M",
        count: radix_sort,
        derivation: "\
`radix-sort`: n keys, alone or with values, sorted by digits of 8 bits.

FLOPs: 0; the work is on integers and not counted.
Bytes: (k/8)·2(key + value) + key per element for keys of k bits; each digit reads and writes
everything, and one pass at the start counts the digits.
Source: A. Adinets, D. Merrill, *Onesweep*, 2022, arXiv 2206.01784.",
        ..PLAIN
    },
    Form {
        name: "given",
        summary: "any kernel whose operations and bytes are known",
        category: Category::Other,
        parameters: &[
            Parameter::real("flops", "operations").or("0"),
            Parameter::real("read", "bytes read").or("0"),
            Parameter::real("written", "bytes written").or("0"),
            Parameter::flag("product", "products of matrices, which matrix units can execute"),
            DTYPE.or("fp32"),
        ],
        example: "flops=16000 read=16",
        is_complex: true,
        count: given,
        derivation: "\
`given`: any kernel, by the operations and bytes that are given.

FLOPs: as given.
Bytes: as given.
Source: a profiler, a paper, or the reader's own count.",
        ..PLAIN
    },
];

fn fft(given: &Arguments) -> Result<Count, PredictError> {
    let [n, batch, chip] = points(given)?;
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

/// Points of a transform, transforms, and points that fit on chip.
fn points(given: &Arguments) -> Result<[f64; 3], PredictError> {
    let points = ["n", "batch", "on_chip"].map(|key| given.number(key));
    if points[2] < 2.0 {
        return Err(given.misfit("on_chip must be at least 2 points"));
    }
    Ok(points)
}

fn rfft(given: &Arguments) -> Result<Count, PredictError> {
    let [n, batch, chip] = points(given)?;
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

fn radix_sort(given: &Arguments) -> Result<Count, PredictError> {
    let (n, key) = (given.number("n"), given.data_type("key"));
    let passes = (key.bits() / given.number("digit")).ceil();
    let sorted = Count::new().moved("keys", n, key, passes + 1.0, passes).work_items(n);
    Ok(match given.optional_data_type("value") {
        Some(value) => sorted.moved("values", n, value, passes, passes),
        None => sorted,
    })
}

fn given(given: &Arguments) -> Result<Count, PredictError> {
    let [flops, read, written] = ["flops", "read", "written"].map(|key| given.number(key));
    if flops < 0.0 || read < 0.0 || written < 0.0 {
        return Err(given.misfit("operations and bytes cannot be negative"));
    }
    let (e, byte) = (given.data_type("dtype"), DataType::Int8);
    let count = Count::new().read("bytes read", read, byte).write("bytes written", written, byte);
    Ok(if given.is("product") {
        count.products("operations", flops, e)
    } else {
        count.vector("operations", flops, e)
    })
}
