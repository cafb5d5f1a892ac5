//! What if the kernels of a profile ran on another device, or were written otherwise: projections,
//! stated as what they are.

mod device;
mod fused;
mod sums;
mod written;

pub use written::Compulsory;

use std::sync::Arc;

use sums::{Sums, Times};

use super::law::{self, Judged};
use super::{Analysis, CeilingSet, DeviceUse, Instruments, Kernel, State};
use crate::catalog::{CatalogError, Device};
use crate::model::{Launch, Profile};
use crate::roofline::{self, Limiter};
use crate::units::{ExactSum, Seconds};

/// Something to change in thought.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// The kernels run on this device.
    Device(Box<Device>),
    /// The kernels run on the device they ran on, at the clocks at which its peaks are quoted.
    RatedClock,
    /// Products of matrices that run on vector units run on tensor cores; FP32 becomes TF32.
    TensorCores,
    /// What is stored as FP32 is stored as BF16, and its products run on tensor cores.
    SixteenBit,
    /// A kernel moves what its closed form must move.
    Compulsory(Compulsory),
    /// Each kernel is one with the kernel that always follows it.
    Fused,
}

/// The kernels of a profile under a change.
#[derive(Debug, Clone, PartialEq)]
pub struct WhatIf {
    /// What is changed, in a few words: `H200 SXM 141GB`.
    pub change: String,
    /// Whether the kernels run on other roofs; else only how they are written is changed, and what is
    /// not projected really stays as it is.
    pub is_elsewhere: bool,
    /// What is kept, what is changed and what that leaves out, one sentence each.
    pub notes: Vec<String>,
    /// The outcome for each kernel of the analysis, in its order.
    pub kernels: Vec<Outcome>,
    /// Sums over all kernels.
    pub totals: WhatIfTotals,
}

/// What becomes of one kernel.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Its time can be projected.
    Projected(Projection),
    /// It is part of the projection of this kernel, with which it is fused.
    Merged(Neighbor),
    /// It cannot be projected, for this reason; in sums its time stays as measured.
    Kept(String),
}

/// A kernel that another one is fused with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Neighbor {
    /// Its place in the ranking of the whole profile, from 1.
    pub rank: usize,
    /// Its short name.
    pub name: Arc<str>,
}

impl Outcome {
    /// The projection, where there is one.
    #[must_use]
    pub const fn projection(&self) -> Option<&Projection> {
        match self {
            Self::Projected(projection) => Some(projection),
            Self::Merged(_) | Self::Kept(_) => None,
        }
    }
}

/// A kernel's times before and after a change, summed over its launches.
#[derive(Debug, Clone, PartialEq)]
pub struct Projection {
    /// Measured time of the launches that were judged.
    pub measured: Seconds,
    /// Their expected time as they ran.
    pub roofline_time: Seconds,
    /// The expected time of the same counts after the change.
    pub ideal: Seconds,
    /// The time after the change if each kernel keeps its measured distance from the roof.
    pub projected: Seconds,
    /// Which roof is met first after the change.
    pub limiter: Limiter,
    /// Whether some work was not counted, so that `ideal` and `projected` are only lower bounds.
    pub is_lower_bound: bool,
    /// The kernel it is fused with, whose times are in these sums.
    pub with: Option<Neighbor>,
}

impl Projection {
    /// How many times faster the kernel becomes; below 1 it becomes slower.
    #[must_use]
    pub fn speedup(&self) -> f64 {
        self.measured / self.projected
    }
}

/// Sums over the kernels of a what-if.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WhatIfTotals {
    /// Kernels that are projected.
    pub projected_kernels: usize,
    /// Their measured time.
    pub measured: Seconds,
    /// Their ideal time after the change.
    pub ideal: Seconds,
    /// Their projected time.
    pub projected: Seconds,
    /// Kernels that are not projected.
    pub kept_kernels: usize,
    /// Measured time that is not projected: of those kernels, and of launches that were not judged.
    pub kept: Seconds,
    /// Time of the whole run if what is not projected takes as long as it did; none where nothing is
    /// projected, or where that is more than a tenth of the run on another device.
    pub run: Option<Seconds>,
    /// Whether some work was not counted, so that the projected time is only a lower bound.
    pub is_lower_bound: bool,
}

impl WhatIfTotals {
    /// How many times faster the projected kernels become together.
    #[must_use]
    pub fn speedup(&self) -> Option<f64> {
        (self.projected.get() > 0.0).then(|| self.measured / self.projected)
    }
}

/// Times of one launch after a change.
#[derive(Debug, Clone, Copy)]
struct Sides {
    memory: Seconds,
    math: Seconds,
}

impl Sides {
    fn ideal(self) -> Seconds {
        roofline::roofline_time(self.memory, self.math)
    }
}

/// One launch as it ran.
struct Scene<'a> {
    kernel: &'a Kernel,
    launch: &'a Launch<'a>,
    judged: &'a Judged,
    ran: &'a DeviceUse,
    /// The ceilings it was judged with.
    set: CeilingSet,
}

/// The law of a change: the times of a launch under it, or why they cannot be told.
trait Law {
    fn sides(&self, scene: &Scene<'_>) -> Result<Sides, String>;
}

/// Sums over the launches of one kernel under one change.
#[derive(Debug, Default)]
struct Sum {
    times: Sums,
    refused: Option<String>,
}

/// Asks what becomes of every kernel under each change.
///
/// Each launch is projected by itself, since a sum of maxima is not the maximum of sums: its counted
/// bytes and operations are held against the changed roofs. What a launch took beyond the launch
/// cost is then scaled by the ratio of the expected times, so that it keeps its measured distance
/// from the roof; the launch cost stays. Launches without any expected time stay as measured.
///
/// # Errors
/// [`CatalogError::MissingFigure`] where a device has no memory bandwidth.
pub fn what_if(
    profile: &Profile,
    analysis: &Analysis,
    changes: &[Change],
) -> Result<Vec<WhatIf>, CatalogError> {
    let mut laws: Vec<Option<Box<dyn Law + '_>>> = Vec::new();
    for change in changes {
        laws.push(match change {
            Change::Device(device) => {
                Some(Box::new(device::Elsewhere::new(device, analysis.ceilings)?))
            }
            Change::RatedClock => Some(Box::new(device::Rated)),
            Change::TensorCores => Some(Box::new(written::TensorCores)),
            Change::SixteenBit => Some(Box::new(written::SixteenBit)),
            Change::Compulsory(compulsory) => Some(Box::new(compulsory.clone())),
            Change::Fused => None,
        });
    }
    let sums = sums(profile, analysis, &laws);
    let answers = changes.iter().zip(laws).zip(sums).map(|((change, law), sums)| {
        let kernels = &analysis.kernels;
        let outcomes: Vec<Outcome> = match law {
            Some(_) => {
                let each = kernels.iter().zip(sums);
                each.map(|(one, sum)| outcome(one, sum, analysis.fixed_cost)).collect()
            }
            None => fused::outcomes(profile, analysis),
        };
        WhatIf {
            change: change.label(),
            is_elsewhere: change.is_elsewhere(),
            notes: change.notes(profile, analysis),
            totals: totals(kernels, &outcomes, change.is_elsewhere()),
            kernels: outcomes,
        }
    });
    Ok(answers.collect())
}

/// Adds up the launches of every kernel under every law.
fn sums(
    profile: &Profile,
    analysis: &Analysis,
    laws: &[Option<Box<dyn Law + '_>>],
) -> Vec<Vec<Sum>> {
    let kernels = &analysis.kernels;
    let mut sums: Vec<Vec<Sum>> =
        laws.iter().map(|_| kernels.iter().map(|_| Sum::default()).collect()).collect();
    let instruments = Instruments::of(profile);
    analysis.each_launch(profile, |position, launch, judged| {
        let (Some((time, _)), None, Some(roofline_time)) =
            (launch.duration(), judged.problem, judged.roofline_time())
        else {
            return;
        };
        if roofline::is_faster_than_roof(time, roofline_time.low) {
            return;
        }
        let cost = instruments.get(launch.head.source).fixed_cost;
        let count = f64::from(launch.head.count);
        let kernel = &kernels[position];
        let ran = &analysis.devices[kernel.device];
        let scene = Scene { kernel, launch, judged, ran, set: analysis.ceilings };
        for (law, sums) in laws.iter().zip(&mut sums) {
            let Some(law) = law else { continue };
            let sum = &mut sums[position];
            match law.sides(&scene) {
                Ok(sides) => sum.add(time, roofline_time.value, cost, sides, count),
                Err(reason) => sum.refused = Some(reason),
            }
        }
    });
    sums
}

impl Change {
    const fn is_elsewhere(&self) -> bool {
        matches!(self, Self::Device(_) | Self::RatedClock)
    }

    /// What is changed, in a few words.
    #[must_use]
    pub fn label(&self) -> String {
        match self {
            Self::Device(device) => device.name.clone(),
            Self::RatedClock => "rated clock".to_owned(),
            Self::TensorCores => "tensor cores".to_owned(),
            Self::SixteenBit => "bf16".to_owned(),
            Self::Compulsory(compulsory) => format!("as {}", compulsory.call),
            Self::Fused => "fused with its neighbor".to_owned(),
        }
    }

    fn notes(&self, profile: &Profile, analysis: &Analysis) -> Vec<String> {
        match self {
            Self::Device(device) => device::notes(device, analysis),
            Self::RatedClock => vec![
                "where it ran, at the clocks at which peaks are quoted: what of a projection is \
                 clock alone"
                    .to_owned(),
            ],
            Self::TensorCores => vec![
                "products of matrices off tensor cores run on them: fp32 as tf32, which keeps 10 \
                 bits of the mantissa"
                    .to_owned(),
            ],
            Self::SixteenBit => vec![
                "what is stored as fp32 takes half the bytes, and its products run on 16-bit tensor \
                 cores; other math stays fp32"
                    .to_owned(),
            ],
            Self::Compulsory(compulsory) => compulsory.notes(profile, analysis),
            Self::Fused => vec![
                "as if each kernel read from memory what the one before it in the file wrote there: \
                 the smaller of the two is neither written nor read, and one launch cost is saved; \
                 what passes through L2 is not seen, and a filtered export hides kernels between"
                    .to_owned(),
            ],
        }
    }
}

impl Sum {
    fn add(
        &mut self,
        time: Seconds,
        roofline_time: Seconds,
        cost: Seconds,
        sides: Sides,
        count: f64,
    ) {
        // What takes its time although nothing was counted has no distance from a roof to keep.
        if roofline_time <= Seconds::ZERO {
            return;
        }
        let cost = cost.min(time);
        let projected = cost + (time - cost) * (sides.ideal() / roofline_time);
        self.times.add(&Times { measured: time, roofline_time, projected, sides }, count);
    }
}

/// What becomes of a kernel, or why nothing can be said.
fn outcome(kernel: &Kernel, sum: Sum, fixed_cost: Seconds) -> Outcome {
    let each = kernel.roofline_time.map(|time| time / kernel.launches.max(1) as f64);
    let is_below_launch = each.is_some_and(|each| each < fixed_cost);
    if let Some(reason) = refusal(kernel) {
        return Outcome::Kept(reason.to_owned());
    }
    if is_below_launch {
        let reason = "its roofs ask for less than a launch costs, so something else takes its time";
        return Outcome::Kept(reason.to_owned());
    }
    if let Some(reason) = sum.refused {
        return Outcome::Kept(reason);
    }
    let projection = sum.times.projection(kernel.is_lower_bound(), None);
    if projection.ideal.get() <= 0.0 {
        return Outcome::Kept("what was counted takes no time after the change".to_owned());
    }
    Outcome::Projected(projection)
}

/// Why the distance of a kernel from its roof says nothing about another roof.
const fn refusal(kernel: &Kernel) -> Option<&'static str> {
    if kernel.by_utilization {
        return Some("its work was not counted, only how busy its units were");
    }
    Some(match kernel.state {
        State::LaunchBound => "its time is launch cost, which stays",
        State::CacheResident => {
            "caches carry its traffic, so the roof of device memory does not apply"
        }
        State::FasterThanRoofline => "faster than the model allows here, so its figures disagree",
        State::NotEnoughData => "the export does not allow a judgment here",
        State::NotRoofline => "bound by links, which no roof of a device tells",
        State::Flagged
        | State::NearRoofline
        | State::Fair
        | State::LowImpact
        | State::Possible
        | State::Waived => match kernel.limiter {
            Limiter::Latency => "too little parallelism limits it, which faster roofs do not help",
            Limiter::Memory | Limiter::Math | Limiter::Unknown => return None,
        },
    })
}

fn totals(kernels: &[Kernel], outcomes: &[Outcome], is_elsewhere: bool) -> WhatIfTotals {
    /// Where more of the run than this is not projected, nothing is said of the whole run elsewhere.
    const MOST_KEPT: f64 = 0.1;
    let mut totals = WhatIfTotals::default();
    for outcome in outcomes {
        match outcome {
            Outcome::Projected(one) => {
                totals.projected_kernels += 1;
                totals.measured += one.measured;
                totals.ideal += one.ideal;
                totals.projected += one.projected;
                totals.is_lower_bound |= one.is_lower_bound;
            }
            Outcome::Merged(_) => totals.projected_kernels += 1,
            Outcome::Kept(_) => {
                totals.kept_kernels += 1;
            }
        }
    }
    // Launches that were not judged stay as measured too.
    let mut kept = ExactSum::default();
    for kernel in kernels {
        kept.add(kernel.measured.get());
    }
    for one in outcomes.iter().filter_map(Outcome::projection) {
        kept.add(-one.measured.get());
    }
    totals.kept = Seconds::new(kept.get()).max(Seconds::ZERO);
    let all: Seconds = kernels.iter().map(|kernel| kernel.measured).sum();
    let is_whole = !is_elsewhere || totals.kept.get() <= MOST_KEPT * all.get();
    totals.run = (totals.projected_kernels > 0 && is_whole).then(|| totals.projected + totals.kept);
    totals
}

impl Analysis {
    /// Judges every launch again and shows it with the position of its kernel.
    fn each_launch(&self, profile: &Profile, mut visit: impl FnMut(usize, &Launch<'_>, &Judged)) {
        let instruments = Instruments::of(profile);
        self.each_with_nature(profile, |position, launch, nature| {
            let device = self.of_hint[usize::from(launch.head.device.0)];
            let instrument = instruments.get(launch.head.source);
            let roofs = &self.devices[device].roofs;
            let judged = law::judge(launch, roofs, self.ceilings, nature, instrument);
            visit(position, launch, &judged);
        });
    }
}

/// Math time of work with the group of its pipe: pipes of one group add up, groups overlap.
fn grouped(work: impl IntoIterator<Item = (usize, Seconds)>) -> Seconds {
    let mut groups: Vec<(usize, Seconds)> = Vec::new();
    for (group, time) in work {
        match groups.iter_mut().find(|(known, _)| *known == group) {
            Some((_, sum)) => *sum += time,
            None => groups.push((group, time)),
        }
    }
    roofline::grouped_math_time(groups.into_iter().map(|(_, sum)| sum))
}

/// The ceilings a device is given that nothing was measured on: there is no clock but the rated one.
const fn quoted(set: CeilingSet) -> CeilingSet {
    match set {
        CeilingSet::Achievable => CeilingSet::Achievable,
        CeilingSet::Spec | CeilingSet::MeasuredClock => CeilingSet::Spec,
    }
}
