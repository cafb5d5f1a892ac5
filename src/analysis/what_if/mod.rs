//! What-if projections: the kernels of a profile on another device, or implemented differently.

mod device;
mod fused;
mod sums;
mod written;

pub use written::Compulsory;

use sums::{Sums, Times};

use super::law::{Alike, Judged};
use super::{Analysis, CeilingSet, DeviceUse, Instruments, Kernel, State};
use crate::catalog::{CatalogError, Device};
use crate::law::Nature;
use crate::model::{Launch, Profile, Text};
use crate::roofline::{self, Limiter};
use crate::units::{ExactSum, Seconds};

/// A hypothetical change.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// The kernels run on this device.
    Device(Box<Device>),
    /// The kernels run on the device they ran on, at the clocks at which its peaks are quoted.
    RatedClock,
    /// Matrix products on vector units run on tensor cores instead; FP32 becomes TF32.
    TensorCores,
    /// FP32 data is stored as BF16, and its products run on tensor cores.
    SixteenBit,
    /// A kernel moves only the compulsory traffic of its closed form.
    Compulsory(Compulsory),
    /// Each kernel is fused with the kernel that always follows it.
    Fused,
}

/// The kernels of a profile under a change.
#[derive(Debug, Clone, PartialEq)]
pub struct WhatIf {
    /// The change, in a few words: `H200 SXM 141GB`.
    pub change: String,
    /// True if the kernels run on other roofs. Otherwise only their implementation changes, and
    /// kernels that are not projected stay as they are.
    pub is_elsewhere: bool,
    /// Assumptions and limits of the projection, one sentence each.
    pub notes: Vec<String>,
    /// Outcome of each kernel of the analysis, in its order.
    pub kernels: Vec<Outcome>,
    /// Sums over all kernels.
    pub totals: WhatIfTotals,
}

/// Outcome of one kernel.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The kernel's time was projected.
    Projected(Projection),
    /// The kernel is part of the projection of this kernel, with which it is fused.
    Merged(Neighbor),
    /// The kernel was not projected for this reason; in sums its time stays as measured.
    Kept(String),
}

/// A kernel with which another one is fused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Neighbor {
    /// Rank in the whole profile, from 1.
    pub rank: usize,
    /// Short name.
    pub name: Text,
}

impl Outcome {
    /// Returns the projection, if there is one.
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
    /// Measured time of the launches that the model covers.
    pub measured: Seconds,
    /// Roofline time of these launches as they ran.
    pub roofline_time: Seconds,
    /// Roofline time of the same counts after the change.
    pub ideal: Seconds,
    /// Time after the change if each kernel keeps its measured headroom.
    pub projected: Seconds,
    /// Limiter after the change.
    pub limiter: Limiter,
    /// True if some work was not counted, so that `ideal` and `projected` are only lower bounds.
    pub is_lower_bound: bool,
    /// True if counts may be too high, so that `ideal` and `projected` are only upper bounds.
    pub is_upper_bound: bool,
    /// The kernel it is fused with, whose times are in these sums.
    pub with: Option<Neighbor>,
}

impl Projection {
    /// Returns the speedup of the kernel; below 1 it becomes slower.
    #[must_use]
    pub fn speedup(&self) -> f64 {
        self.measured / self.projected
    }
}

/// Sums over the kernels of a what-if.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WhatIfTotals {
    /// Number of projected kernels.
    pub projected_kernels: usize,
    /// Measured time of the projected kernels.
    pub measured: Seconds,
    /// Roofline time of the projected kernels after the change.
    pub ideal: Seconds,
    /// Projected time of these kernels.
    pub projected: Seconds,
    /// Number of kernels that are not projected.
    pub kept_kernels: usize,
    /// Measured time that is not projected: of those kernels, and of launches that were not judged.
    pub kept: Seconds,
    /// Time of the whole run if kernels that are not projected take as long as before; `None` if
    /// nothing is projected, or if they are more than a tenth of the run on another device.
    pub run: Option<Seconds>,
    /// True if some work was not counted, so that the projected time is only a lower bound.
    pub is_lower_bound: bool,
    /// True if counts may be too high, so that the projected time is only an upper bound. With both it is neither.
    pub is_upper_bound: bool,
}

impl WhatIfTotals {
    /// Returns the speedup of the projected kernels together.
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
    /// What its name says of its work.
    nature: Nature<f64>,
    judged: &'a Judged,
    ran: &'a DeviceUse,
    /// Ceilings with which it was judged.
    set: CeilingSet,
}

/// The times of a launch under a change, or why they are unknown.
trait Law {
    fn sides(&self, scene: &Scene<'_>) -> Result<Sides, String>;
}

/// Sums over the launches of one kernel under one change.
#[derive(Debug, Default)]
struct Sum {
    times: Sums,
    /// Measured time, or the roofline time after the change where that is longer, of each launch.
    least: ExactSum,
    /// Roofline times of the launches, and what launching them cost.
    roofline_times: ExactSum,
    costs: ExactSum,
    refused: Option<String>,
}

/// Projects every kernel under each change.
///
/// Each launch is projected by itself, since a sum of maxima is not the maximum of sums: its
/// counted bytes and operations are compared with the changed roofs. The time beyond the launch
/// cost is scaled by the ratio of the roofline times, so that a launch keeps its measured headroom;
/// the launch cost is unchanged. Launches without a roofline time stay as measured.
///
/// # Errors
/// [`CatalogError::MissingFigure`] if a device has no memory bandwidth.
pub fn what_if(
    profile: &Profile,
    analysis: &Analysis,
    changes: &[Change],
) -> Result<Vec<WhatIf>, CatalogError> {
    if changes.is_empty() {
        return Ok(Vec::new());
    }
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
                let is_elsewhere = change.is_elsewhere();
                each.map(|(one, sum)| outcome(one, sum, is_elsewhere)).collect()
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

/// Sums the launches of every kernel under every change.
fn sums(
    profile: &Profile,
    analysis: &Analysis,
    laws: &[Option<Box<dyn Law + '_>>],
) -> Vec<Vec<Sum>> {
    let kernels = &analysis.kernels;
    let mut sums: Vec<Vec<Sum>> =
        laws.iter().map(|_| kernels.iter().map(|_| Sum::default()).collect()).collect();
    if laws.iter().all(Option::is_none) {
        return sums;
    }
    let instruments = Instruments::of(profile);
    analysis.each_launch(profile, |position, launch, nature, judged| {
        let (Some((time, _)), Some(times)) = (launch.duration(), &judged.times) else { return };
        if times.is_faster {
            return;
        }
        let roofline_time = times.roofline_time;
        let cost = instruments.fixed_cost(launch.head.source);
        let count = f64::from(launch.head.count);
        let kernel = &kernels[position];
        let ran = &analysis.devices[kernel.device];
        let scene = Scene { kernel, launch, nature, judged, ran, set: analysis.ceilings };
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

    /// Returns the change, in a few words.
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
                "same device at the clocks at which peaks are quoted: the effect of the clock \
                 difference alone"
                    .to_owned(),
            ],
            Self::TensorCores => vec![
                "matrix products on CUDA cores move to tensor cores: fp32 as tf32, which keeps 10 \
                 bits of the mantissa"
                    .to_owned(),
            ],
            Self::SixteenBit => vec![
                "fp32 data takes half the bytes, and its products run on 16-bit tensor cores; \
                 other math stays fp32"
                    .to_owned(),
            ],
            Self::Compulsory(compulsory) => compulsory.notes(profile, analysis),
            Self::Fused => vec![
                "assumes that each kernel reads what the previous one in the file wrote: the \
                 smaller of the two is neither written nor read, and one launch cost is saved; \
                 traffic through L2 is not modeled, and a filtered export hides kernels in between"
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
        self.roofline_times.add(roofline_time.get() * count);
        self.costs.add(cost.get() * count);
        // What takes its time although nothing was counted has no distance from a roof to keep.
        if roofline_time <= Seconds::ZERO {
            return;
        }
        self.least.add(time.max(sides.ideal()).get() * count);
        let cost = cost.min(time);
        let projected = cost + (time - cost) * (sides.ideal() / roofline_time);
        self.times.add(&Times { measured: time, roofline_time, projected, sides }, count);
    }
}

/// Returns the outcome of a kernel.
fn outcome(kernel: &Kernel, sum: Sum, is_elsewhere: bool) -> Outcome {
    /// Quotient from which a time is a longer one.
    const LONGER: f64 = 1.001;
    let is_below_launch = sum.roofline_times.get() < sum.costs.get();
    let mut projection = sum.times.projection(&[kernel], None);
    let refusal = refusal(kernel).or(is_below_launch.then_some(Refusal {
        reason: "its roofline time is below the launch cost, so something else takes its time",
        is_time: true,
    }));
    match (refusal, sum.refused) {
        (None, None) if projection.ideal.get() <= 0.0 => {
            Outcome::Kept("its counted work takes no time after the change".to_owned())
        }
        (None, None) => Outcome::Projected(projection),
        (None, Some(reason)) => Outcome::Kept(reason),
        // What takes its time here stays, but its bytes and operations need theirs: on lower roofs that may be more.
        (Some(Refusal { is_time: true, .. }), None)
            if is_elsewhere && sum.least.get() > projection.measured.get() * LONGER =>
        {
            projection.projected = Seconds::new(sum.least.get());
            projection.is_lower_bound = true;
            Outcome::Projected(projection)
        }
        (Some(Refusal { reason, .. }), _) => Outcome::Kept(reason.to_owned()),
    }
}

/// Why a kernel does not follow its roofs.
struct Refusal {
    reason: &'static str,
    /// True if that is what takes its time: then what the roofs ask for is still the least that it takes.
    is_time: bool,
}

/// Returns why a kernel cannot be projected to other roofs, if so.
const fn refusal(kernel: &Kernel) -> Option<Refusal> {
    let (reason, is_time) = match kernel.state {
        _ if kernel.by_utilization => {
            ("its work was not counted, only the utilization of its units", false)
        }
        State::LaunchBound => ("launch-bound; the launch cost is unchanged", true),
        State::CacheResident => {
            ("cache-resident, so the roof of device memory does not apply", true)
        }
        State::FasterThanRoofline => {
            ("faster than the roofline here, so its data is inconsistent", false)
        }
        State::NotEnoughData => ("not enough data in the export", false),
        State::NotRoofline => ("limited by links, not by the roofs of a device", false),
        State::Flagged
        | State::NearRoofline
        | State::Fair
        | State::LowImpact
        | State::Possible
        | State::Waived => match kernel.limiter {
            Limiter::Latency => {
                ("limited by too little parallelism, which faster roofs do not help", true)
            }
            Limiter::Memory | Limiter::Math | Limiter::Unknown => return None,
        },
    };
    Some(Refusal { reason, is_time })
}

fn totals(kernels: &[Kernel], outcomes: &[Outcome], is_elsewhere: bool) -> WhatIfTotals {
    /// Largest share of the run that may stay unprojected for a time of the whole run on another
    /// device.
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
                totals.is_upper_bound |= one.is_upper_bound;
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
    /// Judges every launch again and visits it with the index of its kernel.
    fn each_launch(
        &self,
        profile: &Profile,
        mut visit: impl FnMut(usize, &Launch<'_>, Nature<f64>, &Judged),
    ) {
        let instruments = Instruments::of(profile);
        self.each_with_nature(profile, |position, launch, nature| {
            let device = self.of_hint[launch.head.device.position()];
            let instrument = instruments.get(launch.head.source);
            let roofs = &self.devices[device].roofs;
            let mut alike = Alike::judge(launch, roofs, self.ceilings, nature, instrument);
            visit(position, launch, nature, alike.with_time_of(launch));
        });
    }
}

/// Returns the ceilings for a device without measurements, which only has rated clocks.
const fn quoted(set: CeilingSet) -> CeilingSet {
    match set {
        CeilingSet::Achievable => CeilingSet::Achievable,
        CeilingSet::Spec | CeilingSet::MeasuredClock => CeilingSet::Spec,
    }
}
