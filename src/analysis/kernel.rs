//! A kernel: all launches of a name and shape on a device, added up, then judged as one.

use std::sync::Arc;

use serde::Serialize;

use super::called::folded;
use super::confidence::Confidence;
use super::reason::Reason;
use super::{Algorithmic, KernelAdvice};
use crate::model::{MemoryLevel, Origin, OriginKind, Pipe, Quantity, Shape};
use crate::roofline::Limiter;
use crate::taxonomy::{Class, Kind};
use crate::units::{Bytes, Flops, FlopsPerByte, FlopsPerSecond, Seconds};

/// What the analysis concludes about a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Far from its roof, for certain or in all likelihood, and with enough time to win.
    Flagged,
    /// Close to its roof: at most [`NEAR`](super::NEAR) times the expected time.
    NearRoofline,
    /// Between near the roof and the threshold.
    Fair,
    /// Far from its roof, but with too little time at stake to matter.
    LowImpact,
    /// Launching costs more than the work: fewer launches help, a faster kernel does not.
    LaunchBound,
    /// The caches carry the traffic: the DRAM roof does not apply.
    CacheResident,
    /// Faster than the model allows: a device, clock or metric is wrong, or the model overcounts.
    FasterThanRoofline,
    /// Far from its roof, unless work that was not counted takes the time.
    Possible,
    /// The export does not allow a judgment; the reason says what is missing.
    NotEnoughData,
    /// Communication or a host copy: bound by links, not by this device's roofs.
    NotRoofline,
    /// Left alone on purpose, by a waiver.
    Waived,
}

impl State {
    /// Every state, in the order of reports.
    pub const ALL: [Self; 11] = [
        Self::Flagged,
        Self::Fair,
        Self::NearRoofline,
        Self::LowImpact,
        Self::LaunchBound,
        Self::CacheResident,
        Self::FasterThanRoofline,
        Self::Possible,
        Self::NotEnoughData,
        Self::NotRoofline,
        Self::Waived,
    ];

    /// The words used in reports.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Flagged => "flagged",
            Self::NearRoofline => "near roofline",
            Self::Fair => "fair",
            Self::LowImpact => "low impact",
            Self::LaunchBound => "launch-bound",
            Self::CacheResident => "cache-resident",
            Self::FasterThanRoofline => "faster than roofline",
            Self::Possible => "possible",
            Self::NotEnoughData => "not enough data",
            Self::NotRoofline => "communication/copy",
            Self::Waived => "waived",
        }
    }

    /// The word that machine-readable outputs use.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Flagged => "flagged",
            Self::NearRoofline => "near_roofline",
            Self::Fair => "fair",
            Self::LowImpact => "low_impact",
            Self::LaunchBound => "launch_bound",
            Self::CacheResident => "cache_resident",
            Self::FasterThanRoofline => "faster_than_roofline",
            Self::Possible => "possible",
            Self::NotEnoughData => "not_enough_data",
            Self::NotRoofline => "communication_copy",
            Self::Waived => "waived",
        }
    }

    /// Whether the roofline says how long such a kernel should take.
    #[must_use]
    pub const fn is_modeled(self) -> bool {
        matches!(
            self,
            Self::Flagged
                | Self::NearRoofline
                | Self::Fair
                | Self::LowImpact
                | Self::Possible
                | Self::Waived
        )
    }

    /// Whether the kernel is set apart from the ranking, with a reason of its own.
    #[must_use]
    pub const fn is_set_apart(self) -> bool {
        !matches!(self, Self::Flagged | Self::NearRoofline | Self::Fair)
    }
}

/// Work of a kernel on one pipe.
#[derive(Debug, Clone, Serialize)]
pub struct Work {
    /// Where it executed.
    pub pipe: Pipe,
    /// Operations of all launches (FMA = 2).
    pub operations: Flops,
    /// The time the pipe needs at least for them; zero for zero work.
    pub time: Seconds,
    /// How the kernel's longest launch counted them; `None` if only others did.
    pub origin: Option<Origin>,
}

impl Work {
    /// The roof used: operations over the time they need.
    #[must_use]
    pub fn peak(&self) -> Option<FlopsPerSecond> {
        (self.time.get() > 0.0).then(|| self.operations / self.time)
    }
}

/// Traffic of a kernel at one level of the memory hierarchy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelTraffic {
    /// Where.
    pub level: MemoryLevel,
    /// Bytes of all launches for which they were counted.
    pub bytes: Bytes,
    /// The time they need at least; none where the bandwidth of the level is not known.
    pub time: Option<Seconds>,
    /// Launches for which they were counted.
    pub launches: u64,
}

/// What needs most of a kernel's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding {
    /// The operations.
    Math,
    /// The traffic at a level.
    Memory(MemoryLevel),
}

impl Binding {
    /// The word in reports.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Math => "math",
            Self::Memory(level) => level.label(),
        }
    }

    /// The word that machine-readable outputs use.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Math => "math",
            Self::Memory(level) => level.key(),
        }
    }
}

/// All launches of one name and shape on one device.
#[derive(Debug, Clone)]
pub struct Kernel {
    /// Place in the ranking of the whole profile, from 1.
    pub rank: usize,
    /// Short and readable.
    pub name: Arc<str>,
    /// As the export writes it; empty where it writes none.
    pub full_name: Arc<str>,
    /// Framework operator and parameters, where the export has them.
    pub operator: Option<Arc<str>>,
    /// What its name tells.
    pub class: Arc<Class>,
    /// Grid and block.
    pub shape: Shape,
    /// Position among the devices of the analysis.
    pub device: usize,
    /// Number of executions.
    pub launches: u64,
    /// Measured time of all launches.
    pub measured: Seconds,
    /// Measured time of the launches that were judged: what expected time is compared with.
    pub modeled: Seconds,
    /// Measured time over that of the whole profile.
    pub share: f64,
    /// What its algorithm needs, where its shape is known.
    pub algorithmic: Option<Box<Algorithmic>>,
    /// Floating-point operations on all pipes; `None` if none were counted.
    pub flops: Option<Flops>,
    /// Integer operations on tensor pipes; apart from FLOPs.
    pub integer_operations: Option<Flops>,
    /// Work per pipe.
    pub work: Vec<Work>,
    /// Bytes to and from device memory.
    pub bytes: Option<Bytes>,
    /// How bytes and operations came about, the least direct of both; `None` where there are none.
    pub provenance: Option<OriginKind>,
    /// FLOPs over bytes.
    pub intensity: Option<FlopsPerByte>,
    /// Where the kernel's own compute roof meets the memory roof.
    pub ridge_point: Option<FlopsPerByte>,
    /// Time its bytes need at least.
    pub memory_time: Option<Seconds>,
    /// Time its operations need at least.
    pub math_time: Option<Seconds>,
    /// Traffic per level of the memory hierarchy, from the multiprocessor outwards.
    pub levels: Vec<LevelTraffic>,
    /// The longer of memory and math time.
    pub roofline_time: Option<Seconds>,
    /// The expected time if every level of the memory hierarchy counts, not only DRAM: launch by launch
    /// the longest of memory, math and the other levels; none where no other level was counted.
    pub hierarchical: Option<Seconds>,
    /// The most the expected time is likely to be, by what the kernel is; infinite if that says nothing.
    pub roofline_time_likely: Option<Seconds>,
    /// The most the expected time can be, given what was not counted; infinite if nothing bounds it.
    pub roofline_time_high: Option<Seconds>,
    /// How busy a unit was stands in for work that was not counted.
    pub by_utilization: bool,
    /// What remains if only the implementation improves: launch cost, tail, achievable share.
    pub structural: Option<Seconds>,
    /// Measured over expected time.
    pub headroom: Option<f64>,
    /// Headroom that is certain: measured over the most that can be expected.
    pub headroom_low: Option<f64>,
    /// Least and greatest headroom of a launch.
    pub headrooms: Option<(f64, f64)>,
    /// What the algorithm meets first.
    pub limiter: Limiter,
    /// The conclusion.
    pub state: State,
    /// How sure the conclusion is; `None` where there is none.
    pub confidence: Option<Confidence>,
    /// Why it is in that state, in a phrase.
    pub reason: Reason,
    /// Whether it can be won at all: not where work that nobody counted may take the time, nor where there is no
    /// more work to spread over an idle device. Then only the optimistic end is told, apart from all sums.
    pub is_winnable: bool,
    /// What is won if a rewrite only just comes near its roofs, needs all that was not counted, and moves
    /// as much through every level of memory as now: the pessimistic end. Zero where nothing bounds that.
    pub savings_low: Seconds,
    /// Time that a better implementation can win realistically: above the structural expectation.
    pub savings: Seconds,
    /// Time above the ideal expectation: the optimistic end.
    pub savings_high: Seconds,
    /// Speed-up of the whole profile if [`Kernel::savings`] is won.
    pub run_speedup: f64,
    /// Share of the savings of the run that this one and those above it hold; `None` where
    /// nothing can be won.
    pub coverage: Option<f64>,
    /// The group it is counted in.
    pub group: Arc<str>,
    /// Averages over the launches, weighted by time, of quantities that do not add up.
    pub averages: Vec<(Quantity, f64)>,
    /// Row of its longest launch in the profile.
    pub longest: usize,
    /// Pipes nobody counted, where the export counts others.
    pub uncounted: Vec<&'static str>,
    /// What the profiler's own rules say of it; empty where the export has no rules.
    pub tool_advice: Vec<KernelAdvice>,
}

impl Kernel {
    /// The word for how bytes and operations came about; `none` where there are none.
    #[must_use]
    pub fn provenance_label(&self) -> &'static str {
        self.provenance.map_or("none", OriginKind::label)
    }

    /// Whether its short or full name is this one, or fits it as a pattern with `*`.
    #[must_use]
    pub fn is_named(&self, pattern: &str) -> bool {
        super::is_called(pattern, &self.name, &self.full_name)
    }

    /// Whether its name, library, category or kind contains a text that was folded.
    pub(super) fn mentions(&self, part: &str) -> bool {
        let class = &self.class;
        let texts = [&*self.name, &self.full_name, class.category.label(), class.category.key()];
        let kind = class.kind.map(Kind::key);
        let mut texts = texts.into_iter().chain(class.library.as_deref()).chain(kind);
        texts.any(|text| folded(text).contains(part))
    }

    /// A time-weighted average such as achieved occupancy.
    #[must_use]
    pub fn average(&self, quantity: Quantity) -> Option<f64> {
        self.averages.iter().find(|(known, _)| *known == quantity).map(|(_, value)| *value)
    }

    /// Whether the expected time is only a lower bound of what the roofline would say.
    #[must_use]
    pub fn is_lower_bound(&self) -> bool {
        match (self.roofline_time, self.roofline_time_high) {
            (Some(roofline_time), Some(high)) => high.get() > roofline_time.get() * 1.001,
            _ => false,
        }
    }

    /// Headroom that is likely: measured over the most that the expected time is likely to be.
    #[must_use]
    pub fn headroom_likely(&self) -> Option<f64> {
        self.roofline_time_likely
            .filter(|likely| *likely > Seconds::ZERO)
            .map(|time| self.modeled / time)
    }

    /// Whether its savings are likely, not certain: nothing bounds what was not counted, or bytes and
    /// operations come from sizes.
    #[must_use]
    pub fn has_likely_savings(&self) -> bool {
        let is_unbounded = self.roofline_time_high.is_none_or(|high| high.get().is_infinite());
        is_unbounded || self.provenance == Some(OriginKind::Algorithmic)
    }

    /// Whether its savings count in those of the run.
    #[must_use]
    pub fn has_savings(&self) -> bool {
        self.state.is_modeled() && self.state != State::Waived && self.is_winnable
    }

    /// Whether what lies above its roofline is apart from all savings: no certain cause shows that it can be saved.
    #[must_use]
    pub fn is_unproven(&self) -> bool {
        self.state.is_modeled() && self.state != State::Waived && !self.is_winnable
    }

    /// Its traffic at a level, where it was counted.
    #[must_use]
    pub fn level(&self, level: MemoryLevel) -> Option<&LevelTraffic> {
        self.levels.iter().find(|traffic| traffic.level == level)
    }

    /// Time that its traffic at a level needs at least.
    #[must_use]
    pub fn level_time(&self, level: MemoryLevel) -> Option<Seconds> {
        self.level(level)?.time
    }

    /// What needs the longest of its times: math, or the traffic at a level; none where nothing that
    /// needs time was counted.
    #[must_use]
    pub fn binding(&self) -> Option<Binding> {
        let levels = self
            .levels
            .iter()
            .filter_map(|traffic| Some((Binding::Memory(traffic.level), traffic.time?)));
        let math = self.math_time.map(|time| (Binding::Math, time));
        let longest = math.into_iter().chain(levels);
        let longest = longest.max_by(|one, two| one.1.get().total_cmp(&two.1.get()));
        longest.filter(|(_, time)| *time > Seconds::ZERO).map(|(binding, _)| binding)
    }

    /// Measured time of one launch on average.
    #[must_use]
    pub fn mean(&self) -> Seconds {
        self.measured / self.launches.max(1) as f64
    }
}
