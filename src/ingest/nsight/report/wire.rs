//! The messages of a report, with the fields that are read; others are skipped undecoded.
//!
//! Field numbers: observed in reports of 2019 to 2026 and confirmed by public parsers (Extra-P, ncu-viewer). Text is
//! kept as bytes: names from source code need not be UTF-8.

use prost::Message;

/// The header of the file.
#[derive(Clone, PartialEq, Message)]
pub(super) struct FileHeader {
    /// Version of the format: 7 in every report seen.
    #[prost(uint32, optional, tag = "1")]
    pub(super) version: Option<u32>,
}

/// The header of a block; its payload holds sources, then results, then other entries.
#[derive(Clone, PartialEq, Message)]
pub(super) struct BlockHeader {
    #[prost(uint32, tag = "1")]
    pub(super) sources: u32,
    /// Launches.
    #[prost(uint32, tag = "2")]
    pub(super) results: u32,
    #[prost(message, optional, tag = "3")]
    pub(super) session: Option<Session>,
    /// A part of the string table, which all blocks fill one after the other.
    #[prost(message, optional, tag = "4")]
    pub(super) strings: Option<Strings>,
    /// Bytes of the payload.
    #[prost(uint32, tag = "5")]
    pub(super) payload: u32,
    #[prost(message, optional, tag = "6")]
    pub(super) process: Option<Process>,
    /// Results of range replay, which are no launches.
    #[prost(uint32, tag = "7")]
    pub(super) ranges: u32,
    /// Results of whole CUDA graphs, which are no launches either.
    #[prost(uint32, tag = "9")]
    pub(super) graphs: u32,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Strings {
    #[prost(bytes = "vec", repeated, tag = "1")]
    pub(super) all: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Process {
    #[prost(uint32, tag = "1")]
    pub(super) id: u32,
}

/// Where and how the program was profiled.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Session {
    #[prost(message, repeated, tag = "8")]
    pub(super) versions: Vec<Version>,
    /// The profiler's command line, since 2022.4.
    #[prost(bytes = "vec", tag = "11")]
    pub(super) command: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Version {
    #[prost(bytes = "vec", tag = "1")]
    pub(super) provider: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    pub(super) text: Vec<u8>,
}

/// A launch.
#[derive(Clone, PartialEq, Message)]
pub(super) struct LaunchResult {
    #[prost(uint32, tag = "1")]
    pub(super) thread: u32,
    #[prost(bytes = "vec", tag = "5")]
    pub(super) mangled: Vec<u8>,
    /// Without namespace, template arguments and parameters.
    #[prost(bytes = "vec", tag = "6")]
    pub(super) function: Vec<u8>,
    /// Empty where the symbol is not C++.
    #[prost(bytes = "vec", tag = "7")]
    pub(super) demangled: Vec<u8>,
    /// Blocks; until 2020.2 threads.
    #[prost(message, optional, tag = "10")]
    pub(super) grid: Option<Extent>,
    #[prost(message, optional, tag = "11")]
    pub(super) block: Option<Extent>,
    #[prost(message, repeated, tag = "13")]
    pub(super) metrics: Vec<Metric>,
    #[prost(message, repeated, tag = "19")]
    pub(super) rules: Vec<RuleResult>,
    #[prost(message, optional, tag = "21")]
    pub(super) nvtx: Option<NvtxState>,
    #[prost(uint32, optional, tag = "23")]
    pub(super) stream: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub(super) struct Extent {
    #[prost(uint64, tag = "1")]
    pub(super) x: u64,
    #[prost(uint64, tag = "2")]
    pub(super) y: u64,
    #[prost(uint64, tag = "3")]
    pub(super) z: u64,
}

/// A metric; its instances (field 3) are skipped, as launch totals do without them.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Metric {
    /// Position in the string table.
    #[prost(uint32, required, tag = "1")]
    pub(super) name: u32,
    /// Absent where the machine does not have the metric, or only instances do.
    #[prost(message, optional, tag = "2")]
    pub(super) value: Option<MetricValue>,
    /// Not zero for a series of PM sampling: its instances are points in time (seen in 2024.2).
    #[prost(uint32, tag = "4")]
    pub(super) sampled: u32,
}

/// One of several kinds; versions differ in the kind of the same metric.
#[derive(Clone, PartialEq, Message)]
pub(super) struct MetricValue {
    #[prost(bytes = "vec", optional, tag = "1")]
    pub(super) text: Option<Vec<u8>>,
    #[prost(float, optional, tag = "2")]
    pub(super) single: Option<f32>,
    #[prost(double, optional, tag = "3")]
    pub(super) double: Option<f64>,
    #[prost(uint64, optional, tag = "4")]
    pub(super) small: Option<u64>,
    #[prost(uint64, optional, tag = "5")]
    pub(super) whole: Option<u64>,
}

impl MetricValue {
    /// The number, if it is one and finite.
    pub(super) fn number(&self) -> Option<f64> {
        let whole = self.whole.or(self.small).map(|whole| whole as f64);
        let number = self.double.or(self.single.map(f64::from)).or(whole)?;
        number.is_finite().then_some(number)
    }
}

/// What a rule of the profiler says of a launch; without a body it ran and said nothing.
#[derive(Clone, PartialEq, Message)]
pub(super) struct RuleResult {
    #[prost(bytes = "vec", tag = "1")]
    pub(super) id: Vec<u8>,
    #[prost(message, optional, tag = "3")]
    pub(super) body: Option<RuleBody>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct RuleBody {
    #[prost(message, repeated, tag = "1")]
    pub(super) items: Vec<RuleItem>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct RuleItem {
    #[prost(message, optional, tag = "1")]
    pub(super) message: Option<RuleMessage>,
    #[prost(message, optional, tag = "10")]
    pub(super) speedup: Option<RuleSpeedup>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct RuleMessage {
    #[prost(bytes = "vec", tag = "1")]
    pub(super) text: Vec<u8>,
    /// 0 none, 1 ok, 2 warning, 3 error, 4 optimization.
    #[prost(uint32, tag = "2")]
    pub(super) kind: u32,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub(super) struct RuleSpeedup {
    /// 1 local, 2 global.
    #[prost(uint32, tag = "1")]
    pub(super) scope: u32,
    #[prost(double, tag = "2")]
    pub(super) percent: f64,
}

/// The NVTX ranges that were open at a launch, of every thread.
#[derive(Clone, PartialEq, Message)]
pub(super) struct NvtxState {
    #[prost(message, repeated, tag = "1")]
    pub(super) domains: Vec<NvtxDomain>,
    #[prost(message, repeated, tag = "2")]
    pub(super) threads: Vec<NvtxThread>,
    #[prost(message, repeated, tag = "3")]
    pub(super) open: Vec<NvtxOpen>,
    #[prost(uint64, tag = "4")]
    pub(super) default_domain: u64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct NvtxDomain {
    #[prost(uint64, tag = "1")]
    pub(super) id: u64,
    #[prost(bytes = "vec", tag = "2")]
    pub(super) name: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct NvtxThread {
    #[prost(uint32, tag = "1")]
    pub(super) id: u32,
    #[prost(message, repeated, tag = "2")]
    pub(super) stacks: Vec<NvtxStack>,
}

/// The ranges of a thread in a domain, the outermost first.
#[derive(Clone, PartialEq, Message)]
pub(super) struct NvtxStack {
    #[prost(uint64, tag = "1")]
    pub(super) domain: u64,
    #[prost(message, repeated, tag = "3")]
    pub(super) ranges: Vec<PushPop>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct PushPop {
    #[prost(bytes = "vec", tag = "1")]
    pub(super) name: Vec<u8>,
}

/// Ranges that were started and not yet ended, of a domain.
#[derive(Clone, PartialEq, Message)]
pub(super) struct NvtxOpen {
    #[prost(uint64, tag = "1")]
    pub(super) domain: u64,
    #[prost(message, repeated, tag = "3")]
    pub(super) ranges: Vec<StartEnd>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct StartEnd {
    #[prost(bytes = "vec", tag = "2")]
    pub(super) name: Vec<u8>,
}
