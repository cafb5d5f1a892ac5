//! Buffers moved within a device and between devices.

use super::{
    Arguments, Category, Count, DTYPE, DataType, EXACT, Form, Link, Operand, PLAIN, Parameter,
    PredictError, each, elements,
};

pub(super) const FORMS: &[Form] = &[
    Form {
        name: "transpose",
        aliases: &["concat", "layout", "permute"],
        summary: "the same elements in another order",
        category: Category::DataMovement,
        parameters: &elements("fp32"),
        example: "n=4096*4096",
        count: |given| each(given, "transpose", 0.0, &[Operand::Read("x"), Operand::Write("y")]),
        derivation: "\
`transpose`: a transposition, a concatenation, or any other change of layout.

FLOPs: 0.
Bytes: 2en.
Source: G. Ruetsch, P. Micikevicius, *Optimizing Matrix Transpose in CUDA*, NVIDIA, 2009.",
        ..PLAIN
    },
    Form {
        name: "memset",
        aliases: &["fill"],
        summary: "a buffer filled with one value",
        category: Category::DataMovement,
        parameters: &[Parameter::size("bytes", "bytes of the buffer")],
        example: "bytes=256Mi",
        count: memset,
        derivation: "\
`memset`: n bytes filled with one value.

FLOPs: 0.
Bytes: n, written.
Source: CUDA Runtime API, `cudaMemset`.",
        ..PLAIN
    },
    Form {
        name: "memcpy-device",
        aliases: &["memcpy-dtod"],
        summary: "a copy within the device's memory",
        category: Category::DataMovement,
        parameters: &[Parameter::size("bytes", "bytes of the buffer")],
        example: "bytes=256Mi",
        count: memcpy_device,
        derivation: "\
`memcpy-device`: a copy of n bytes within the device's memory.

FLOPs: 0.
Bytes: 2n; each byte is read and written. Tools that print n per second show half of the
traffic.
Source: NVIDIA, *CUDA C++ Best Practices Guide*, \"Effective Bandwidth Calculation\".",
        ..PLAIN
    },
    Form {
        name: "memcpy-host",
        aliases: &["memcpy-htod", "memcpy-dtoh"],
        summary: "a copy between the host and the device",
        category: Category::DataMovement,
        parameters: &[Parameter::size("bytes", "bytes of the buffer")],
        example: "bytes=256Mi",
        count: memcpy_host,
        derivation: "\
`memcpy-host`: a copy of n bytes between the host and the device, in either direction.

FLOPs: 0.
Bytes: n in the device's memory and n over the link, which is the ceiling: PCIe 3.0, 4.0, 5.0
x16 carry 15.75, 31.5, 63 GB/s before packet headers, of which 80 to 90% are reached; NVLink-C2C of
a GH200 450 GB/s.
Source: *PCI Express Base Specification*: 8, 16, 32 GT/s per lane with 128b/130b encoding.",
        ..PLAIN
    },
    Form {
        name: "all-reduce",
        summary: "a sum over devices in a ring",
        category: Category::DataMovement,
        parameters: &[
            Parameter::size("bytes", "bytes of the buffer on each device"),
            Parameter::size("ranks", "devices"),
            DTYPE.or("fp16"),
            EXACT,
        ],
        example: "bytes=256Mi ranks=8",
        count: all_reduce,
        derivation: "\
`all-reduce`: a sum of n bytes over r devices in a ring, each device with a link in and a link
out.

FLOPs: n/e additions per device, customary; exactly (r−1)/r of that.
Bytes: 2n in the device's memory, and 2(r−1)/r·n over each link, which is the ceiling.
Source: P. Patarasuk, X. Yuan, *Bandwidth Optimal All-Reduce Algorithms for Clusters of
Workstations*, JPDC 69(2), 2009; NCCL Tests, *Performance reported by NCCL tests* (bus
bandwidth).",
        ..PLAIN
    },
];

fn memset(given: &Arguments) -> Result<Count, PredictError> {
    let bytes = given.number("bytes");
    Ok(Count::new().write("buffer", bytes, DataType::Int8).work_items(bytes / 4.0))
}

fn memcpy_device(given: &Arguments) -> Result<Count, PredictError> {
    let bytes = given.number("bytes");
    let count = Count::new().read("source", bytes, DataType::Int8);
    Ok(count.write("target", bytes, DataType::Int8).work_items(bytes / 4.0))
}

fn memcpy_host(given: &Arguments) -> Result<Count, PredictError> {
    let bytes = given.number("bytes");
    Ok(Count::new().write("buffer", bytes, DataType::Int8).over(Link::Host, bytes))
}

fn all_reduce(given: &Arguments) -> Result<Count, PredictError> {
    let (bytes, ranks, e) =
        (given.number("bytes"), given.number("ranks"), given.data_type("dtype"));
    let share = (ranks - 1.0) / ranks;
    let added = if given.is("exact") { share } else { 1.0 };
    Ok(Count::new()
        .vector("add", bytes / e.bytes() * added, e)
        .update("buffer", bytes, DataType::Int8)
        .over(Link::Peers, 2.0 * share * bytes))
}
