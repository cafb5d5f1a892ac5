//! Launches that were never measured: what an export says when it is read rightly.

use super::choices::Choices;

/// A launch, with amounts as whole numbers of the smallest unit: nanoseconds, bytes, instructions.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Truth {
    pub(crate) id: u32,
    pub(crate) process: u32,
    pub(crate) kernel: String,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) stream: u32,
    pub(crate) nanoseconds: Option<u64>,
    /// Bytes read from device memory, and written to it.
    pub(crate) bytes: Option<[u64; 2]>,
    /// Thread instructions in single precision: sums, products, fused multiply-adds.
    pub(crate) instructions: Option<[u64; 3]>,
}

impl Truth {
    pub(crate) fn seconds(&self) -> Option<f64> {
        self.nanoseconds.map(|time| time as f64 * 1e-9)
    }

    pub(crate) fn dram_bytes(&self) -> Option<f64> {
        self.bytes.map(|[read, written]| (read + written) as f64)
    }

    pub(crate) fn flops(&self) -> Option<f64> {
        self.instructions.map(|[add, multiply, fused]| (add + multiply + 2 * fused) as f64)
    }
}

/// Parts of names: what kernels are called, and what breaks tables.
const PARTS: [&str; 24] = [
    "gemm",
    "relu",
    "kernel",
    "copy",
    "reduce",
    "void ",
    "<float, 3>",
    "(const float *, int)",
    "::",
    "ns",
    "_128x64",
    "\"quoted\"",
    ",",
    ";",
    "é",
    "核",
    "'",
    "=1+1",
    "@sum",
    "-",
    "|",
    "a b",
    "$x$",
    "{}",
];

fn name(choices: &mut Choices<'_>) -> String {
    let parts = 1 + choices.index(4);
    let name: String = (0..parts).map(|_| choices.pick(&PARTS)).collect();
    // Exports do not begin or end names with blanks, and readers may cut them.
    let name = name.trim().to_owned();
    if name.is_empty() { "kernel".to_owned() } else { name }
}

/// One to eight launches; all of one process, or of two.
pub(crate) fn launches(choices: &mut Choices<'_>) -> Vec<Truth> {
    let count = 1 + choices.index(8);
    let processes = 1 + choices.index(2);
    let complete = !choices.once_in(3);
    let mut all = Vec::new();
    for at in 0..count {
        let missing = |choices: &mut Choices<'_>| !complete && choices.once_in(4);
        let extent = |choices: &mut Choices<'_>, digits| choices.amount(digits) as u32;
        all.push(Truth {
            id: at as u32,
            process: 60_000 + (at % processes) as u32,
            kernel: name(choices),
            grid: [extent(choices, 5), extent(choices, 2), 1],
            block: [32 * (1 + choices.index(32)) as u32, 1, 1],
            stream: 7 + choices.index(3) as u32,
            nanoseconds: (!missing(choices)).then(|| choices.amount(9)),
            bytes: (!missing(choices)).then(|| [choices.amount(12), choices.amount(12)]),
            instructions: (!missing(choices))
                .then(|| [choices.amount(13), choices.amount(3), choices.amount(13)]),
        });
    }
    all
}
