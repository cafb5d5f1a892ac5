//! Analyzes a profile: compares every launch with its roofs, sums launches into kernels and ranks
//! them by savings.

mod advice;
mod algorithmic;
mod beside;
mod called;
mod ceilings;
mod columns;
mod confidence;
mod design;
mod error;
mod explain;
mod extras;
mod figures;
mod find;
mod grouping;
mod groups;
mod idle;
#[cfg(feature = "frames")]
mod inputs;
mod kernel;
mod law;
mod meaning;
mod named;
mod nature;
mod needed;
mod needs;
mod next_ncu;
mod over_ranks;
mod partial;
mod partition;
mod ranking;
mod ranks;
mod reason;
mod record;
mod resolve;
mod shared;
mod sketch;
mod summing;
mod sums;
mod supply;
mod timeline;
mod timers;
mod totals;
mod union;
mod verdict;
mod waivers;
mod what_if;

use std::collections::HashMap;
use std::sync::Arc;

pub(crate) use crate::plain::fits;
#[cfg(feature = "gate")]
pub(crate) use crate::roofline::formula::least_headroom;
pub use advice::{AdviceSpeedup, KernelAdvice};
pub use algorithmic::{ClosedForm, ClosedFormError};
use beside::Beside;
#[cfg(feature = "gate")]
pub(crate) use called::Called;
pub(crate) use called::{is_called, meant};
pub use columns::{Column, Columns, Place, Row};
pub use confidence::Confidence;
pub use design::Spare;
pub use error::AnalysisError;
pub use explain::{ExplainedWork, Explanation, explain};
pub use extras::LevelTraffic;
pub use figures::{DeviceRow, device_figures, device_rows};
pub use grouping::{Group, GroupTotals, Target, Worst};
pub use idle::IdleCauses;
#[cfg(feature = "frames")]
pub use inputs::compare_inputs;
pub(crate) use kernel::most_headroom;
pub use kernel::{Averages, Binding, FARTHEST, Kernel, Work};
pub use named::{NAMES_SCHEMA, names};
pub use needed::Algorithmic;
pub use needs::{Lack, NEEDS, Need, Use};
pub(crate) use next_ncu::free_name;
pub use next_ncu::{Collected, NameFilter, NextNcu, NothingToCollect};
pub use over_ranks::{KernelRanks, RankFigures, RankId};
pub use partial::{Concluded, KernelPart, Partial};
pub use partition::{Partition, Segment, TimePart};
pub use ranks::{Rank, Ranks, Spread};
pub use reason::Reason;
pub use resolve::{DeviceUse, NamedDevices, Unknown};
pub use sketch::Sketch;
pub use supply::{Supply, command_for, short_command_for};
pub(crate) use timeline::are_traces;
pub use timeline::{Copies, Moved, StepTime, Timeline};
pub use timers::Timer;
pub use totals::Totals;
pub use waivers::Waiver;
pub use what_if::{
    Change, Compulsory, Neighbor, Outcome, Projection, WhatIf, WhatIfTotals, what_if,
};

use crate::catalog::{Catalog, CatalogError};
pub use crate::law::{CeilingSet, State};
use crate::law::{Instrument, Nature};
use crate::model::{
    Launch, NameId, Origin, OriginId, OriginKind, Origins, Profile, Profiler, Quantity, Source,
};
use crate::roofline;
pub use crate::roofline::NEAR;
use crate::taxonomy::Taxonomy;
use crate::units::{Bytes, ExactSum, Factor, Flops, Seconds};
use algorithmic::Describer;
use groups::Groups;
use shared::Shared;
use summing::{Basis, Each, Summing};
use sums::Sums;
use verdict::Setting;

/// Options of an analysis.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Device by name, which overrides the export.
    pub device: Option<String>,
    /// Ceilings; `None` uses measured-clock ceilings if every launch has a clock, else the
    /// datasheet's.
    pub ceilings: Option<CeilingSet>,
    /// Headroom from which a kernel is flagged; `None` uses the default of the ceilings.
    pub threshold: Option<f64>,
    /// Smallest savings of a flagged kernel; `None` uses [`roofline::FLAG_FLOOR`], and less in a short run.
    pub floor: Option<Seconds>,
    /// Share of the run below which savings are ignored; `None` uses [`roofline::FLAG_SHARE`].
    pub floor_share: Option<f64>,
    /// Rules for kernel names; `None` uses the built-in ones.
    pub taxonomy: Option<Arc<Taxonomy>>,
    /// Closed forms of kernels whose shapes the user knows.
    pub closed_forms: Vec<ClosedForm>,
}

/// The analysis of a profile: totals, and every kernel.
#[derive(Debug)]
pub struct Analysis {
    /// The files, in the order given.
    pub sources: Vec<Source>,
    /// The devices the launches ran on.
    pub devices: Vec<DeviceUse>,
    /// Ceilings that were used.
    pub ceilings: CeilingSet,
    /// Why these ceilings were used.
    pub ceilings_reason: String,
    /// Headroom from which a kernel is flagged.
    pub threshold: f64,
    /// Smallest savings of a flagged kernel that the user set, besides the share; see [`Analysis::smallest_win`].
    pub floor: Option<Seconds>,
    /// Share of the run below which savings are ignored.
    pub floor_share: f64,
    /// Least cost of a launch as the profiler measures it.
    pub fixed_cost: Seconds,
    /// Totals of the run.
    pub totals: Totals,
    /// Kernels by savings, then by measured time.
    pub kernels: Vec<Kernel>,
    /// Data that verdicts need but parts of the run lack, most important first.
    pub lacking: Vec<Lack>,
    /// Time of each GPU of each trace, in order; empty where no file records all of a GPU's work.
    pub timelines: Vec<Timeline>,
    /// Copies and fills, which are no launches, longest first.
    pub moved: Vec<Moved>,
    /// Timer resolution of each file.
    pub timers: Vec<Timer>,
    /// Kernels by the user's groups, in their order, then the rest; by category if there are none.
    pub groups: Vec<GroupTotals>,
    /// Caveats about the whole profile, one sentence each.
    pub notes: Vec<String>,
    /// Those of the notes that change what the figures mean.
    pub checks: Vec<String>,
    /// Those of the notes that say which waivers and groups of the configuration have no effect.
    pub idle_settings: Vec<String>,
    /// Number of files found by a search that could not be read; the notes have the reasons.
    pub unread: usize,
    /// Comparison of the inputs, if there are several.
    pub ranks: Option<Ranks>,
    /// Whether only chosen kernels are left, for output; the totals are those of the whole run.
    pub is_narrowed: bool,
    /// For each device hint of the profile, the index of its device.
    of_hint: Vec<usize>,
    /// For each launch of the profile, its group: the launches of one kernel.
    of_row: Vec<u32>,
    /// The likely work of each group.
    natures: Vec<Nature<f64>>,
    /// The user's groups.
    grouping: Vec<Group>,
    /// Those of the profile.
    origins: Origins,
}

impl Analysis {
    /// Iterates over the kernels that are flagged or have comparable savings, largest savings
    /// first.
    pub fn ranked(&self) -> impl Iterator<Item = &Kernel> {
        self.kernels.iter().filter(|kernel| self.is_ranked(kernel))
    }

    /// Returns `true` if a kernel is flagged, or has comparable savings.
    #[must_use]
    pub fn is_ranked(&self, kernel: &Kernel) -> bool {
        let is_judged = kernel.state.is_modeled() && kernel.state != State::Waived;
        let most = kernel.most_savings();
        let is_worth_it = is_judged && most >= self.smallest_win() && most > Seconds::ZERO;
        kernel.state == State::Flagged || is_worth_it
    }

    /// Iterates over the flagged kernels, largest savings first.
    pub fn opportunities(&self) -> impl Iterator<Item = &Kernel> {
        self.kernels.iter().filter(|kernel| kernel.state == State::Flagged)
    }

    /// Returns where a figure of one of its kernels came from.
    #[must_use]
    pub fn origin(&self, id: OriginId) -> &Origin {
        self.origins.get(id)
    }

    /// Returns the smallest savings of a flagged kernel in this run.
    #[must_use]
    pub fn smallest_win(&self) -> Seconds {
        roofline::flag_floor(self.totals.measured, self.floor, self.floor_share)
    }
}

/// Compares every launch with its roofs, sums them by kernel and ranks kernels by savings.
///
/// An unknown device is not an error: [`DeviceUse::unknown`] has the reason, and everything that
/// needs no roofs is still computed.
///
/// # Errors
/// [`AnalysisError`] if the requested device is unknown, or a required figure of a known device is
/// missing.
pub fn analyze(
    profile: &Profile,
    catalog: &Catalog,
    options: &Options,
) -> Result<Analysis, AnalysisError> {
    let basis = Basis::of(profile, catalog, options.device.as_deref(), options.ceilings)?;
    let mut groups = Groups::new(options.taxonomy.clone());
    let setting = basis.setting(profile);
    let summing = Summing::new(setting, &mut groups);
    let company = Beside::of(profile, summing.of_row())
        .times(groups.keys.len(), |group| groups.computes(group));
    let found = conclude(&setting, options, groups, &|visit| {
        summing.each(|group, sums| visit(group, sums, company[group]));
    });
    let (of_row, natures) = summing.into_groups();
    let setup = Setup { profile, basis, of_row, natures };
    let halved = resolve::halved_reads(profile, &setup.basis.devices, &setup.basis.of_hint);
    let mut analysis = assemble(setup, options, found);
    analysis.checks.extend(halved);
    Ok(analysis)
}

/// The kernels of a profile, ranked, and what they add up to.
struct Found {
    kernels: Vec<Kernel>,
    totals: Totals,
    /// Notes on closed forms.
    notes: Vec<String>,
}

/// What the kernels were compared with, and where their launches are.
struct Setup<'p> {
    profile: &'p Profile,
    basis: Basis,
    of_row: Vec<u32>,
    natures: Vec<Nature<f64>>,
}

/// Returns the verdict on every kernel, whose launches are summed already.
fn conclude(
    setting: &summing::Setting<'_>,
    options: &Options,
    groups: Groups,
    each: Each<'_>,
) -> Found {
    let summing::Setting { profile, devices, ceilings, instruments, .. } = *setting;
    let (threshold, floor, floor_share) = limits(options, ceilings);
    let mut totals = Totals::default();
    let mut measured = ExactSum::default();
    // Most names have one grid, whose savings are those of all.
    let is_alone = groups.alone();
    let mut families = Families::new();
    let mut kernels = Vec::with_capacity(groups.keys.len());
    let (mut reasons, mut quantities) = (Shared::default(), Shared::default());
    each(&mut |group, sums, company| {
        measured.add(sums.measured.get());
        totals.instrumented += Seconds::new(sums.instrumented.get());
        totals.launches += sums.launches;
        totals.timed_launches += sums.timed_launches;
        let (head, .., device) = groups.keys[group];
        if !is_alone[head as usize] {
            let (likely, most) = families.entry((head, device as usize)).or_default();
            let own = savings(sums);
            (*likely, *most) = (*likely + own.0, *most + own.1);
        }
        let averages = sums.averages(&mut quantities);
        let mut kernel = add_up(profile, sums, (&groups, group), averages);
        kernel.place_beside(company);
        kernels.push(kernel);
    });
    totals.measured = Seconds::new(measured.get());
    // There can be as many names as launches: the kernels have them now.
    let heads = groups.into_heads();
    let mut described = Describer::new(&options.closed_forms);
    each(&mut |group, sums, _| {
        let kernel = &mut kernels[group];
        let device = kernel.device;
        let setting = Setting {
            roofs: &devices[device].roofs,
            threshold,
            ceilings,
            usual_threshold: ceilings.threshold(),
            floor: roofline::flag_floor(totals.measured, floor, floor_share),
            fixed_cost: instruments.fixed_cost(profile.launches.head(sums.longest.0).source),
            // Launches of a trace have the counters that they were given, and no other.
            counters: profile.sources.iter().any(|one| one.profiler == Profiler::NsightCompute)
                && !profile.sources.iter().any(|one| one.profiler.times_real_run()),
            shapes: profile
                .sources
                .iter()
                .all(|one| one.profiler == Profiler::PyTorch && !one.sums),
            family: families.get(&(heads[group], device)).copied().unwrap_or_else(|| savings(sums)),
            missing: missing_figure(sums, &devices[device]),
        };
        described.describe(kernel, sums.part().launches, &devices[device]);
        verdict::conclude(kernel, sums, &setting);
        kernel.reason.share(&mut reasons);
    });
    ranking::rank(&mut kernels);
    totals.sum_up(&mut kernels);
    Found { kernels, totals, notes: described.notes() }
}

/// Threshold, smallest savings and their smallest share.
fn limits(options: &Options, ceilings: CeilingSet) -> (f64, Option<Seconds>, f64) {
    (
        options.threshold.unwrap_or(ceilings.threshold()),
        options.floor,
        options.floor_share.unwrap_or(roofline::FLAG_SHARE),
    )
}

/// Returns the analysis with what it says besides its kernels.
fn assemble(setup: Setup<'_>, options: &Options, found: Found) -> Analysis {
    let Setup { profile, basis, of_row, natures } = setup;
    let Basis { devices, of_hint, ceilings, ceilings_reason, instruments } = basis;
    let Found { kernels, totals, notes: described } = found;
    let (threshold, floor, floor_share) = limits(options, ceilings);
    let mut notes = profile.notes.clone();
    notes.extend(described);
    let lacking = needs::lacking(profile, &kernels);
    let taxonomy = options.taxonomy.as_deref().unwrap_or_else(|| Taxonomy::builtin());
    let mut analysis = Analysis {
        lacking,
        timelines: timeline::timelines(profile, &of_hint, taxonomy),
        moved: timeline::moved(profile, taxonomy),
        timers: Timer::all(profile),
        sources: profile.sources.clone(),
        devices,
        ceilings,
        ceilings_reason,
        threshold,
        floor,
        floor_share,
        // Of files that were joined the first may have no launches left.
        fixed_cost: instruments.fixed_cost(first_source(profile)),
        totals,
        kernels,
        groups: Vec::new(),
        notes,
        checks: profile.checks.clone(),
        idle_settings: Vec::new(),
        unread: profile.unread,
        ranks: None,
        of_hint,
        of_row,
        natures,
        grouping: Vec::new(),
        origins: profile.origins.clone(),
        is_narrowed: false,
    };
    analysis.sum_groups();
    analysis
}

/// Head and device: a kernel with all its grids and operators.
type Family = (u32, usize);

/// Realistic and largest savings of the kernels of one name, whose grids are one finding.
type Families = HashMap<Family, (Seconds, Seconds)>;

/// Realistic and largest savings of a kernel.
fn savings(sums: &Sums) -> (Seconds, Seconds) {
    let part = sums.part();
    (Seconds::new(part.savings.get()), Seconds::new(part.savings_high.get()))
}

/// The profiler of each file.
struct Instruments(Vec<Instrument<f64>>);

impl Instruments {
    fn of(profile: &Profile) -> Self {
        Self(profile.sources.iter().map(instrument).collect())
    }

    fn get(&self, source: u16) -> Instrument<f64> {
        let known = self.0.get(usize::from(source)).copied();
        known.unwrap_or_else(|| instrument(&Source::default()))
    }

    /// Returns the least cost of a launch as the profiler of a file measures it.
    fn fixed_cost(&self, source: u16) -> Seconds {
        Seconds::new(self.get(source).fixed_cost)
    }
}

/// The file of the first launch.
fn first_source(profile: &Profile) -> u16 {
    if profile.launches.is_empty() { 0 } else { profile.launches.source(0) }
}

/// Whether kernels of the category with this key are limited by links, not by the roofs of a device.
#[cfg(feature = "gate")]
pub(crate) fn is_communication(category: &str) -> bool {
    category == crate::taxonomy::Category::Communication.key()
}

fn instrument(source: &Source) -> Instrument<f64> {
    let profiler = source.profiler;
    Instrument::of(profiler == Profiler::NsightCompute, profiler.selects_counters())
}

fn choose_ceilings(
    profile: &Profile,
    choice: Option<CeilingSet>,
) -> Result<(CeilingSet, String), AnalysisError> {
    let (mut timed, mut lacking) = (0, 0);
    let value = |row: usize, quantity| profile.launches.value(row, quantity);
    for row in 0..profile.launches.len() {
        if value(row, Quantity::Duration).is_some() {
            timed += 1;
            lacking += usize::from(value(row, Quantity::SmClock).is_none());
        }
    }
    match choice {
        Some(CeilingSet::MeasuredClock) if lacking > 0 => {
            Err(AnalysisError::NoClock { lacking, launches: timed })
        }
        Some(set) => Ok((set, "as requested".to_owned())),
        None if timed > 0 && lacking == 0 => {
            Ok((CeilingSet::MeasuredClock, "every launch has an SM clock".to_owned()))
        }
        None if lacking == timed => Ok((
            CeilingSet::Spec,
            "the export has no SM clock; datasheet peaks at boost clock".to_owned(),
        )),
        None => Ok((
            CeilingSet::Spec,
            format!(
                "{lacking} of {timed} launches have no SM clock; datasheet peaks at boost clock"
            ),
        )),
    }
}

/// The figure that launches need of a known device and that nobody states.
fn missing_figure(sums: &Sums, device: &DeviceUse) -> Option<CatalogError> {
    let known = device.device.as_ref()?;
    let peak = sums.without_peak.and_then(|pipe| known.need_peak(pipe).err());
    peak.or_else(|| known.need_bandwidth().err().filter(|_| sums.without_bandwidth))
}

fn add_up(
    profile: &Profile,
    sums: &Sums,
    (groups, group): (&Groups, usize),
    averages: Averages,
) -> Kernel {
    let launch = profile.launch(sums.longest.0);
    let operator = profile.names.get(launch.head.operator);
    let part = sums.part();
    let origin = |quantity| profile.launches.get(launch.row(), quantity).map(|(_, origin)| origin);
    let work: Box<[Work]> = part
        .work
        .iter()
        .map(|sum| Work {
            pipe: sum.pipe,
            operations: Flops::new(sum.operations.get()),
            launches: sum.launches,
            time: Seconds::new(sum.time.get()),
            origin: origin(Quantity::Work(sum.pipe)),
        })
        .collect();
    let bytes = (part.launches_with_bytes > 0).then(|| Bytes::new(part.bytes.get()));
    let modeled = Seconds::new(part.time.get());
    let judged = sums.is_judged();
    let roofline_time =
        judged.then(|| Seconds::new(part.roofline_time.get())).filter(|time| time.get() > 0.0);
    let roofline_time_likely = judged.then(|| Seconds::new(part.roofline_time_likely.get()));
    let roofline_time_high = judged.then(|| Seconds::new(part.roofline_time_high.get()));
    let measured = Seconds::new(sums.measured.get());
    let short = groups.short(group);
    Kernel {
        name: if short.is_empty() { unnamed(operator).into() } else { short },
        class: groups.class(group),
        full_name: profile.names.shared(launch.head.name),
        operator: (!operator.is_empty()).then(|| profile.names.shared(launch.head.operator)),
        place: (launch.head.place != NameId::default())
            .then(|| profile.names.shared(launch.head.place)),
        shape: groups.shape(group),
        device: groups.keys[group].3 as usize,
        rank: 0,
        launches: sums.launches,
        timed: sums.timed_launches,
        measured,
        modeled,
        time_origin: origin(Quantity::Duration),
        bytes,
        bytes_origin: origin(Quantity::DramBytes),
        counted: part.launches_with_bytes,
        provenance: provenance(&launch),
        memory_time: part.has_memory.then(|| Seconds::new(part.memory.get())),
        // How busy a unit was is not the time of work that was counted.
        math_time: (part.has_math && !part.math_by_utilization)
            .then(|| Seconds::new(part.math.get())),
        roofline_time,
        roofline_time_likely,
        roofline_time_high,
        by_utilization: judged && part.by_utilization,
        structural: roofline_time.map(|_| Seconds::new(part.structural.get())),
        limiter: roofline::Limiter::Unknown,
        state: State::NotEnoughData,
        confidence: None,
        reason: Reason::default(),
        is_winnable: true,
        savings_low: Seconds::new(part.savings_low.get()),
        savings: Seconds::new(part.savings.get()),
        savings_high: Seconds::new(part.savings_high.get()),
        coverage: None,
        averages,
        headrooms: part.headrooms.map(|(low, high)| (Factor::new(low), Factor::new(high))),
        longest: sums.longest.0,
        is_algorithmic: sums.algorithmic,
        has_tensor_activity: part.tensor_activity.get() > 0.0,
        work,
        extras: extras::Extras {
            algorithmic: None,
            levels: part.traffic(),
            hierarchical: roofline_time
                .filter(|_| part.has_level_times())
                .map(|_| Seconds::new(part.hierarchical.get())),
            doubt: part.doubt(),
            bandwidth: part.other_bandwidth(),
            tool_advice: sums.advice.named(profile),
            ..extras::Extras::default()
        }
        .kept(),
    }
}

/// Returns a placeholder for a missing kernel name.
fn unnamed(operator: &str) -> String {
    let operator = operator.split([' ', '(']).next().unwrap_or_default();
    if operator.is_empty() { "(unnamed kernel)".to_owned() } else { format!("({operator})") }
}

/// Returns the least direct origin of bytes and operations of a launch.
fn provenance(launch: &Launch<'_>) -> Option<OriginKind> {
    launch
        .dram_bytes()
        .map(|(_, origin)| origin.kind)
        .into_iter()
        .chain(launch.work().map(|(_, _, origin)| origin.kind))
        .max()
}
