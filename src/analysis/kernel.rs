//! Kernels: all launches of a name and shape on a device, summed and then judged.

use std::sync::Arc;

use super::called::folded;
use super::confidence::Confidence;
use super::extras::{Doubt, Extras, LevelTraffic};
use super::reason::Reason;
use super::{Algorithmic, KernelAdvice};
use crate::law::State;
use crate::model::{
    Engine, MemoryLevel, OriginId, OriginKind, Pipe, Precision, Quantity, Shape, Text,
};
use crate::roofline::{self, Limiter, formula};
use crate::taxonomy::{Class, Kind};
use crate::units::{
    Bytes, BytesPerSecond, Factor, Flops, FlopsPerByte, FlopsPerSecond, Seconds, Share,
};

/// Work of a kernel on one pipe.
#[derive(Debug, Clone)]
pub struct Work {
    /// Pipe that executed it.
    pub pipe: Pipe,
    /// Operations of all launches (FMA = 2).
    pub operations: Flops,
    /// Number of launches in which they were counted.
    pub launches: u64,
    /// Least time of these operations on the pipe; zero for zero work.
    pub time: Seconds,
    /// Origin of the count in the longest launch, see [`Analysis::origin`](super::Analysis::origin); `None` if only
    /// others have it.
    pub origin: Option<OriginId>,
}

impl Work {
    /// Returns the roof that was used: operations over their least time.
    #[must_use]
    pub fn peak(&self) -> Option<FlopsPerSecond> {
        (self.time.get() > 0.0).then(|| self.operations / self.time)
    }
}

/// The binding resource, which takes the longest of a kernel's times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding {
    /// The operations.
    Math,
    /// The traffic at a level.
    Memory(MemoryLevel),
}

impl Binding {
    /// Returns the name used in reports.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Math => "math",
            Self::Memory(level) => level.label(),
        }
    }

    /// Returns the name that machine-readable outputs use.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Math => "math",
            Self::Memory(level) => level.key(),
        }
    }
}

/// Averages over the launches of a kernel. Most kernels have those of the same quantities, which they share.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Averages {
    quantities: Arc<[Quantity]>,
    /// One for each quantity.
    values: Box<[f64]>,
}

impl Averages {
    pub(super) fn new(quantities: Arc<[Quantity]>, values: Box<[f64]>) -> Self {
        Self { quantities, values }
    }

    /// Iterates over the quantities and their averages, in SI base units.
    pub fn iter(&self) -> impl Iterator<Item = (Quantity, f64)> {
        self.quantities.iter().copied().zip(self.values.iter().copied())
    }
}

/// All launches of one name and shape on one device.
#[derive(Debug, Clone)]
pub struct Kernel {
    /// Rank in the whole profile, from 1.
    pub rank: usize,
    /// Short, readable name.
    pub name: Text,
    /// Full name as written in the export; empty if there is none.
    pub full_name: Text,
    /// Framework operator and parameters, if the export has them.
    pub operator: Option<Text>,
    /// Where in the program its longest launch was made, if the export has it: modules or lines of code.
    pub place: Option<Text>,
    /// Facts derived from its name.
    pub class: Arc<Class>,
    /// Grid and block.
    pub shape: Arc<Shape>,
    /// Index among the devices of the analysis.
    pub device: usize,
    /// Number of launches.
    pub launches: u64,
    /// Number of those with a time that was not taken while instrumented.
    pub timed: u64,
    /// Measured time of these launches.
    pub measured: Seconds,
    /// Measured time of the launches that the model covers, with which roofline time is compared.
    pub modeled: Seconds,
    /// Work per pipe.
    pub work: Box<[Work]>,
    /// Origin of the time of its longest launch, see [`Analysis::origin`](super::Analysis::origin).
    pub time_origin: Option<OriginId>,
    /// Bytes to and from device memory.
    pub bytes: Option<Bytes>,
    /// Origin of the bytes of its longest launch; `None` if only others have them.
    pub bytes_origin: Option<OriginId>,
    /// Number of launches with counted bytes.
    pub counted: u64,
    /// Least direct origin of bytes and operations; `None` if there are none.
    pub provenance: Option<OriginKind>,
    /// Least time of its DRAM traffic.
    pub memory_time: Option<Seconds>,
    /// Least time of its operations.
    pub math_time: Option<Seconds>,
    /// Roofline time: the longer of memory and math time; `None` for communication and copies over links, too.
    pub roofline_time: Option<Seconds>,
    /// Likely upper bound of the roofline time, by the kind of kernel; infinite if there is none.
    pub roofline_time_likely: Option<Seconds>,
    /// Upper bound of the roofline time, given what was not counted; infinite if there is none.
    pub roofline_time_high: Option<Seconds>,
    /// True if utilization substitutes for work that was not counted.
    pub by_utilization: bool,
    /// Time that remains if only the implementation improves: launch cost, tail, achievable share.
    pub structural: Option<Seconds>,
    /// Smallest and largest headroom of a launch.
    pub headrooms: Option<(Factor, Factor)>,
    /// The first limit that the algorithm meets.
    pub limiter: Limiter,
    /// Conclusion on the kernel.
    pub state: State,
    /// Confidence of the conclusion; `None` if there is none.
    pub confidence: Option<Confidence>,
    /// Reason of the state, as a phrase.
    pub reason: Reason,
    /// True if the savings are backed by evidence. False if uncounted work may take the time, or if
    /// there is no more work for an idle device; then only the optimistic savings are reported,
    /// outside of all sums.
    pub is_winnable: bool,
    /// Pessimistic savings: a rewrite only just comes near its roofs, does all uncounted work, and
    /// asks as much of every pipe and memory level as now. Zero if that is unbounded.
    pub savings_low: Seconds,
    /// Realistic savings of a better implementation: the time above the structural time.
    pub savings: Seconds,
    /// Optimistic savings: the time above the roofline time.
    pub savings_high: Seconds,
    /// Cumulative share of the run's savings up to this rank; `None` if it has no savings.
    pub coverage: Option<Share>,
    /// Time-weighted averages over the launches, of quantities that do not add up.
    pub averages: Averages,
    /// Index of its longest launch in the profile.
    pub longest: usize,
    /// True if its bytes or operations come from sizes, not counters.
    pub(crate) is_algorithmic: bool,
    /// True if tensor pipes were seen to be active.
    pub(crate) has_tensor_activity: bool,
    /// What only some kernels have.
    pub(crate) extras: Option<Box<Extras>>,
}

/// Largest ratio of a time to what is certainly needed of it that says anything.
pub const FARTHEST: f64 = 1000.0;

/// Returns the most that headroom can be: a time over the part of its roofline time that is certainly needed; infinite
/// if that is next to nothing.
pub(crate) fn most_headroom(time: Seconds, roofline_time: Seconds, least: Seconds) -> f64 {
    if least >= roofline_time * 0.999 {
        return roofline::headroom(time, roofline_time);
    }
    let most = time / least;
    if most <= FARTHEST { most } else { f64::INFINITY }
}

impl Kernel {
    /// Returns the part of the measured time in which other kernels ran on the same GPU; zero where no timeline shows any.
    #[must_use]
    pub fn beside(&self) -> Seconds {
        self.extras.as_ref().map_or(Seconds::ZERO, |extras| extras.beside)
    }

    /// Returns the part of the measured time in which other streams of the same GPU computed; zero where no timeline shows
    /// any.
    #[must_use]
    pub fn shared(&self) -> Seconds {
        self.extras.as_ref().map_or(Seconds::ZERO, |extras| extras.shared)
    }

    /// Returns the time of launches that the roofline was not compared with, because nothing is known of their work and
    /// bytes: all of a kernel with not enough data, part of another one, and zero where only rounding tells them apart.
    #[must_use]
    pub fn unmodeled(&self) -> Seconds {
        left(self.measured, self.modeled)
    }

    /// Returns the needs of its algorithm, if its shape is known.
    #[must_use]
    pub fn algorithmic(&self) -> Option<&Algorithmic> {
        self.extras.as_ref()?.algorithmic.as_deref()
    }

    /// Returns the traffic at the levels of the memory hierarchy beside device memory, from the SM outwards; see
    /// [`Kernel::traffic`].
    #[must_use]
    pub fn levels(&self) -> &[LevelTraffic] {
        self.extras.as_ref().map_or(&[], |extras| &extras.levels)
    }

    /// Returns the roofline time over all levels of the memory hierarchy, not only DRAM: per launch the longest of memory,
    /// math and the other levels. `None` if no other level was counted.
    #[must_use]
    pub fn hierarchical(&self) -> Option<Seconds> {
        self.extras.as_ref()?.hierarchical
    }

    /// Returns results of the profiler's own rules; empty if the export has none.
    #[must_use]
    pub fn tool_advice(&self) -> &[KernelAdvice] {
        self.extras.as_ref().map_or(&[], |extras| &extras.tool_advice)
    }

    /// Takes away what follows from the roofs of the device: how long communication takes is up to links and peers.
    pub(super) fn has_no_roofline(&mut self) {
        self.roofline_time = None;
        self.roofline_time_likely = None;
        self.roofline_time_high = None;
        self.structural = None;
        self.headrooms = None;
        self.by_utilization = false;
        if let Some(extras) = &mut self.extras {
            extras.hierarchical = None;
        }
    }

    /// Returns what its launches do not have in common; `None` for most kernels.
    fn doubt(&self) -> Option<&Doubt> {
        self.extras.as_ref()?.doubt.as_ref()
    }

    /// Returns the origin of bytes and operations as a word; `none` if there are none.
    #[must_use]
    pub fn provenance_label(&self) -> &'static str {
        self.provenance.map_or("none", OriginKind::label)
    }

    /// Returns `true` if its short or full name equals or matches this pattern with `*`.
    #[must_use]
    pub fn is_named(&self, pattern: &str) -> bool {
        super::is_called(pattern, &self.name, &self.full_name)
    }

    /// Returns `true` if its name, library, category or kind contains a folded text.
    pub(super) fn mentions(&self, part: &str) -> bool {
        let class = &self.class;
        let texts = [&*self.name, &self.full_name, class.category.label(), class.category.key()];
        let kind = class.kind.map(Kind::key);
        let mut texts = texts.into_iter().chain(class.library.as_deref()).chain(kind);
        texts.any(|text| folded(text).contains(part))
    }

    /// Returns a time-weighted average such as achieved occupancy.
    #[must_use]
    pub fn average(&self, quantity: Quantity) -> Option<f64> {
        self.averages.iter().find(|(known, _)| *known == quantity).map(|(_, value)| value)
    }

    /// Returns `true` if the roofline time is only a lower bound.
    #[must_use]
    pub fn is_lower_bound(&self) -> bool {
        match (self.roofline_time, self.roofline_time_high) {
            (Some(roofline_time), Some(high)) => high.get() > roofline_time.get() * 1.001,
            _ => false,
        }
    }

    /// Returns `true` if its roofline time is the time for which its SMs were busy, because its operations were not
    /// counted. Work that need not be done counts in it, so the true roofline time may be shorter.
    #[must_use]
    pub fn is_by_busy_time(&self) -> bool {
        let memory = self.memory_time.unwrap_or_default();
        self.math_time.is_none() && self.roofline_time.is_some_and(|time| time > memory * 1.001)
    }

    /// Returns `true` if its counts may be too high, so that the true roofline time may be shorter.
    #[must_use]
    pub fn may_be_overcounted(&self) -> bool {
        /// Less is not worth a word.
        const SAME: f64 = 0.99;
        let Some((doubt, time)) = self.doubt().zip(self.roofline_time) else { return false };
        doubt.roofline_time_low < time * SAME && !self.is_by_busy_time()
    }

    /// Returns `true` if the true roofline time may be shorter: counts that may be too high, or busy SMs, lie behind it.
    #[must_use]
    pub fn may_need_less(&self) -> bool {
        self.may_be_overcounted() || self.is_by_busy_time()
    }

    /// Returns `true` if launches that were judged lack bytes or operations that others have.
    pub(crate) fn is_partly_counted(&self) -> bool {
        self.doubt().is_some_and(|doubt| doubt.is_partly_counted)
    }

    /// Returns the number of launches with operations on any pipe.
    pub(crate) fn with_work(&self) -> u64 {
        let of_all = || self.work.first().map_or(0, |work| work.launches);
        self.doubt().map_or_else(of_all, |doubt| doubt.with_work)
    }

    /// Returns `true` if a launch has operations on every pipe.
    #[cfg(feature = "gate")]
    pub(crate) fn has_all_pipes(&self) -> bool {
        self.doubt().is_none_or(|doubt| doubt.has_all_pipes)
    }

    /// Returns the launches that the operations on a pipe are of: those in which it was counted, or all with any
    /// operations where launches run on different pipes.
    pub(crate) fn launches_of(&self, work: &Work) -> u64 {
        match self.doubt() {
            Some(doubt) if !doubt.has_all_pipes => doubt.with_work,
            _ => work.launches,
        }
    }

    /// Returns the floating-point operations on all pipes; `None` if none were counted.
    #[must_use]
    pub fn flops(&self) -> Option<Flops> {
        self.operations(false)
    }

    /// Returns the integer operations on tensor pipes, separate from FLOPs.
    #[must_use]
    pub fn integer_operations(&self) -> Option<Flops> {
        self.operations(true)
    }

    fn operations(&self, integer: bool) -> Option<Flops> {
        let is_integer = |work: &&Work| (work.pipe.operation() == "OP") == integer;
        let mut of_kind = self.work.iter().filter(is_integer).peekable();
        of_kind.peek().is_some().then(|| of_kind.map(|work| work.operations).sum::<Flops>())
    }

    /// Returns FLOPs over bytes; `None` if they are not of the same launches, or are not all bytes.
    #[must_use]
    pub fn intensity(&self) -> Option<FlopsPerByte> {
        if self.has_other_launches() {
            return None;
        }
        let bytes = self.bytes.filter(|bytes| bytes.get() > 0.0)?;
        Some(self.flops()? / bytes)
    }

    /// Whether its bytes are not of the launches that its operations and times are of, so that neither is divided by another.
    pub(crate) fn has_other_launches(&self) -> bool {
        self.is_partly_counted() || self.time_of_bytes().is_some()
    }

    /// Returns the intensity at which the kernel's own compute roof, that of its busiest pipe, meets the
    /// memory roof; both are averages over its launches.
    #[must_use]
    pub fn ridge_point(&self) -> Option<FlopsPerByte> {
        Some(roofline::ridge_point(self.busiest_pipe()?.peak()?, self.bandwidth()?))
    }

    /// Returns the time of its bytes at the memory roof where its memory time is another one: of launches without bytes,
    /// or with a part of them, that is how busy DRAM was.
    #[must_use]
    pub fn time_of_bytes(&self) -> Option<Seconds> {
        let other = self.extras.as_ref().and_then(|extras| extras.bandwidth)?;
        Some(roofline::memory_time(self.bytes?, other))
    }

    /// Returns the operations of its busiest pipe over bytes, in FLOP/B or OP/B: what stands beside [`Self::ridge_point`],
    /// which is of that pipe. `None` where [`Self::intensity`] is, or no pipe takes time.
    #[must_use]
    pub fn busiest_intensity(&self) -> Option<FlopsPerByte> {
        if self.has_other_launches() {
            return None;
        }
        let bytes = self.bytes.filter(|bytes| bytes.get() > 0.0)?;
        Some(self.busiest_pipe()?.operations / bytes)
    }

    /// Returns the work on the pipe that needs the most time.
    #[must_use]
    pub fn busiest_pipe(&self) -> Option<&Work> {
        let busy = self.work.iter().filter(|work| work.time.get() > 0.0);
        busy.max_by(|one, two| one.time.get().total_cmp(&two.time.get()))
    }

    /// Returns the memory roof, an average over its launches; `None` without bytes.
    #[must_use]
    pub fn bandwidth(&self) -> Option<BytesPerSecond> {
        let bytes = self.bytes.filter(|bytes| bytes.get() > 0.0)?;
        let time = self.memory_time.filter(|time| time.get() > 0.0)?;
        let other = self.extras.as_ref().and_then(|extras| extras.bandwidth);
        Some(other.unwrap_or(bytes / time))
    }

    /// Returns measured over roofline time.
    #[must_use]
    pub fn headroom(&self) -> Option<f64> {
        self.roofline_time.map(|time| roofline::headroom(self.modeled, time))
    }

    /// Returns the lower bound of headroom: measured time over the upper bound of the roofline time.
    #[must_use]
    pub fn headroom_low(&self) -> Option<f64> {
        let high = self.roofline_time_high.filter(|high| high.get() > 0.0)?;
        let headroom = self.headroom().unwrap_or(f64::INFINITY);
        Some(formula::least_headroom(self.modeled / high, headroom))
    }

    /// Returns the most and the least that headroom can be; equal where all work was counted.
    ///
    /// Whatever was not counted, the true roofline time is not longer than the measured one: the least is 1. A kernel
    /// faster than its roofline contradicts that and keeps its own. Where only busy SMs tell of its work, the most is
    /// that of the work that is certainly needed; infinite if none is.
    #[must_use]
    pub fn headroom_ends(&self) -> Option<(f64, f64)> {
        let headroom = self.headroom()?;
        let least = self.headroom_low().filter(|_| self.is_lower_bound()).unwrap_or(headroom);
        let most = most_headroom(self.modeled, self.roofline_time?, self.least_roofline_time()?);
        Some((most, least))
    }

    /// Returns the roofline time of the work that is certainly needed: the least that was counted, not what kept the SMs
    /// busy.
    #[must_use]
    pub fn least_roofline_time(&self) -> Option<Seconds> {
        let roofline_time = self.roofline_time?;
        if !self.is_by_busy_time() {
            let doubt = self.doubt().filter(|_| self.may_be_overcounted());
            return Some(doubt.map_or(roofline_time, |doubt| doubt.roofline_time_low));
        }
        Some((self.modeled - self.savings_high).max(Seconds::ZERO).min(roofline_time))
    }

    /// Returns the likely headroom: measured time over the likely upper bound of the roofline time.
    #[must_use]
    pub fn headroom_likely(&self) -> Option<f64> {
        self.roofline_time_likely
            .filter(|likely| *likely > Seconds::ZERO)
            .map(|time| self.modeled / time)
    }

    /// Returns `true` if its savings are likely, not certain: uncounted work is unbounded, or bytes
    /// and operations come from sizes.
    #[must_use]
    pub fn has_likely_savings(&self) -> bool {
        let is_unbounded = self.roofline_time_high.is_none_or(|high| high.get().is_infinite());
        is_unbounded || self.provenance == Some(OriginKind::Algorithmic)
    }

    /// Returns `true` if its savings count in those of the run.
    #[must_use]
    pub fn has_savings(&self) -> bool {
        self.state.is_modeled() && self.state != State::Waived && self.is_winnable
    }

    /// Returns whether its time above the roofline is in no savings because no certain cause was found. A kernel that is not
    /// slower than what can be expected of real code has none to find: what was not counted can only raise that.
    #[must_use]
    pub fn is_unproven(&self) -> bool {
        let is_expected = self.structural.is_some_and(|expected| expected >= self.modeled);
        let has_none = is_expected && !self.may_need_less();
        self.state.is_modeled() && self.state != State::Waived && !self.is_winnable && !has_none
    }

    /// Its savings; where they are unproven, the most that there can be.
    #[must_use]
    pub fn most_savings(&self) -> Seconds {
        if self.is_unproven() { self.savings_high } else { self.savings }
    }

    /// Iterates over its traffic at all levels that were counted, from the SM outwards.
    pub fn traffic(&self) -> impl Iterator<Item = LevelTraffic> {
        let is_inside = |one: &LevelTraffic| (one.level as usize) < MemoryLevel::Dram as usize;
        let levels = self.levels();
        let (inside, outside) = levels.split_at(levels.partition_point(is_inside));
        let dram = self.bytes.map(|bytes| LevelTraffic {
            level: MemoryLevel::Dram,
            bytes,
            time: self.memory_time,
            launches: self.counted,
        });
        inside.iter().copied().chain(dram).chain(outside.iter().copied())
    }

    /// Returns its traffic at a level, if it was counted.
    #[must_use]
    pub fn level(&self, level: MemoryLevel) -> Option<LevelTraffic> {
        self.traffic().find(|traffic| traffic.level == level)
    }

    /// Returns the least time of its traffic at a level.
    #[must_use]
    pub fn level_time(&self, level: MemoryLevel) -> Option<Seconds> {
        self.level(level)?.time
    }

    /// Returns the binding resource: math, or the traffic at a level; `None` if nothing that takes
    /// time was counted.
    #[must_use]
    pub fn binding(&self) -> Option<Binding> {
        let levels = self
            .traffic()
            .filter_map(|traffic| Some((Binding::Memory(traffic.level), traffic.time?)));
        let math = self.math_time.map(|time| (Binding::Math, time));
        // Its bytes may not be counted, but how busy it was.
        let dram = self.memory_time.map(|time| (Binding::Memory(MemoryLevel::Dram), time));
        let longest = math.into_iter().chain(dram).chain(levels);
        let longest = longest.max_by(|one, two| one.1.get().total_cmp(&two.1.get()));
        longest.filter(|(_, time)| *time > Seconds::ZERO).map(|(binding, _)| binding)
    }

    /// Returns the kinds of work that were not counted, if the export counts others.
    #[must_use]
    pub fn uncounted(&self) -> Vec<&'static str> {
        if self.work.is_empty() || self.is_algorithmic {
            return Vec::new();
        }
        let has = |fits: &dyn Fn(Pipe) -> bool| self.work.iter().any(|work| fits(work.pipe));
        let mut missing = Vec::new();
        if !has(&|pipe| pipe == Pipe::Fp64Vector) {
            missing.push("fp64");
        }
        if !has(&|pipe| pipe == Pipe::Fp32Vector) {
            missing.push("fp32");
        }
        if !has(&|pipe| pipe.precision() == Precision::Fp16 && pipe.engine() == Engine::Vector) {
            missing.push("fp16");
        }
        if !has(&|pipe| pipe.engine() == Engine::Matrix) && !self.has_tensor_activity {
            missing.push("tensor");
        }
        missing
    }

    /// Returns the mean measured time of one launch, over those with a time.
    #[must_use]
    pub fn mean(&self) -> Seconds {
        self.measured / self.timed.max(1) as f64
    }
}

/// What is left of a time without a part of it; nothing where only rounding tells them apart.
pub(super) fn left(whole: Seconds, part: Seconds) -> Seconds {
    let left = whole - part;
    if left > whole * 1e-9 { left } else { Seconds::ZERO }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// There can be a million: the table in docs/performance.md says what each takes.
    #[cfg(target_pointer_width = "64")]
    #[test]
    fn a_kernel_takes_no_more_than_is_documented() {
        assert_eq!(size_of::<Kernel>(), 352);
        assert_eq!(size_of::<Work>(), 32);
    }
}
