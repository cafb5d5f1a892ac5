//! Sources of one kernel's figures, which `--explain` prints as arithmetic.

use super::ceilings::{Ceiling, From};
use super::{Analysis, CeilingSet, Kernel};
use crate::catalog::Provenance;
use crate::model::{Origin, Pipe, Profile};
use crate::units::{BytesPerSecond, FlopsPerSecond, Hertz, percent};

/// The sources of a kernel's figures, from its longest launch.
#[derive(Debug)]
pub struct Explanation {
    /// How the time was measured.
    pub time: Option<Origin>,
    /// How the bytes were counted.
    pub bytes: Option<Origin>,
    /// The memory roof and its source.
    pub bandwidth: Option<(BytesPerSecond, String)>,
    /// For each pipe with work: how it was counted, and its roof with the source.
    pub work: Vec<ExplainedWork>,
    /// Hardware groups of the pipes: times of one group add up, groups overlap.
    pub groups: Vec<usize>,
    /// SM clock of the longest launch, capped at the device's highest.
    pub clock: Option<Hertz>,
    /// Number of SMs.
    pub sms: Option<u32>,
    /// Resident blocks per SM of the longest launch.
    pub resident: Option<u32>,
    /// True if resident blocks were computed from threads, registers and shared memory instead of
    /// read from the export.
    pub resident_is_computed: bool,
}

/// Work on one pipe: how it was counted, and its roof with the source.
pub type ExplainedWork = (Pipe, Origin, Option<(FlopsPerSecond, String)>);

/// Returns the sources of a kernel's figures.
#[must_use]
pub fn explain(profile: &Profile, analysis: &Analysis, kernel: &Kernel) -> Explanation {
    let launch = profile.launch(kernel.longest);
    let device = &analysis.devices[kernel.device];
    let roofs = &device.roofs;
    let name = device.name();
    let figure = match device.device.as_ref().map(|device| &device.provenance) {
        Some(Provenance::Attributes) => "from the device attributes in the export".to_owned(),
        Some(Provenance::UserFile(path)) => format!("figure of {name} in the device file {path}"),
        Some(Provenance::Builtin) | None => format!("catalog figure of {name}"),
    };
    let words = |from: From| match from {
        From::Profile => "from the profile, at the clock it ran at".to_owned(),
        From::Scaled { rated, clock } => format!(
            "{figure}, scaled from {:.3} to the measured {:.3} GHz",
            rated.get() / 1e9,
            clock.get() / 1e9
        ),
        From::Catalog => figure.clone(),
        From::Derived(how) => how.to_owned(),
    };
    // An achievable roof is a share of that peak.
    let of_set = |from: From, share: f64, reached: Option<String>| {
        if analysis.ceilings != CeilingSet::Achievable {
            return words(from);
        }
        let reached = reached.unwrap_or_else(|| "the usual share".to_owned());
        let share = percent(share);
        format!("{share} of the peak, {}; achievable: {reached}", words(from))
    };
    let known = device.device.as_ref();
    let work: Vec<_> = launch
        .work()
        .filter(|(_, operations, _)| operations.get() > 0.0)
        .map(|(pipe, _, origin)| {
            let roof = roofs.peak(&launch, pipe, analysis.ceilings);
            let reached = || Some(known?.achievable_peak(pipe.dense())?.source);
            let share = roofs.law.achievable_math(pipe);
            let from = |roof: Ceiling<_>| (roof.value, of_set(roof.from, share, reached()));
            (pipe, origin.clone(), roof.map(from))
        })
        .collect();
    let resident = roofs.resident(&launch);
    Explanation {
        time: launch.duration().map(|(_, origin)| origin.clone()),
        bytes: launch.dram_bytes().map(|(_, origin)| origin.clone()),
        bandwidth: roofs.dram(&launch, analysis.ceilings).map(|roof| {
            let reached = known.and_then(|device| Some(device.achievable_bandwidth()?.source));
            (roof.value, of_set(roof.from, roofs.law.achievable_memory(), reached))
        }),
        groups: work.iter().map(|(pipe, ..)| roofs.group(*pipe)).collect(),
        work,
        clock: roofs.clock(&launch),
        sms: roofs.sms_of(&launch),
        resident: resident.map(|resident| resident.blocks),
        resident_is_computed: resident.is_some_and(|resident| resident.is_computed),
    }
}
