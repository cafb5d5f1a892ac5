//! Where the figures of one kernel come from: what `--explain` prints as arithmetic.

use super::ceilings::From;
use super::{Analysis, Kernel};
use crate::catalog::Provenance;
use crate::model::{Origin, Pipe, Profile};
use crate::units::{BytesPerSecond, FlopsPerSecond, Hertz};

/// The sources behind a kernel's figures, read off its longest launch.
#[derive(Debug)]
pub struct Explanation {
    /// How the time was measured.
    pub time: Option<Origin>,
    /// How the bytes were counted.
    pub bytes: Option<Origin>,
    /// The memory roof and where it comes from.
    pub bandwidth: Option<(BytesPerSecond, String)>,
    /// Per pipe with work: how it was counted, and its roof with where that comes from.
    pub work: Vec<ExplainedWork>,
    /// Which pipes share hardware with which: pipes of one number add up, others overlap.
    pub groups: Vec<usize>,
    /// SM clock of the longest launch, capped at the device's highest.
    pub clock: Option<Hertz>,
    /// Multiprocessors.
    pub sms: Option<u32>,
    /// Blocks of the longest launch that fit on one of them at a time.
    pub resident: Option<u32>,
    /// They were computed from threads, registers and shared memory, as the export does not tell.
    pub resident_is_computed: bool,
}

/// Work on one pipe: how it was counted, and its roof with where that comes from.
pub type ExplainedWork = (Pipe, Origin, Option<(FlopsPerSecond, String)>);

/// Gathers the sources behind a kernel's figures.
#[must_use]
pub fn explain(profile: &Profile, analysis: &Analysis, kernel: &Kernel) -> Explanation {
    let launch = profile.launch(kernel.longest);
    let device = &analysis.devices[kernel.device];
    let roofs = &device.roofs;
    let name = device.name();
    let own =
        device.device.as_ref().is_some_and(|device| device.provenance == Provenance::Attributes);
    let figure = if own {
        "from the device attributes of the export".to_owned()
    } else {
        format!("catalog figure of {name}")
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
    let work: Vec<_> = launch
        .work()
        .filter(|(_, operations, _)| operations.get() > 0.0)
        .map(|(pipe, _, origin)| {
            let roof = roofs.peak(&launch, pipe, analysis.ceilings);
            (pipe, origin.clone(), roof.map(|roof| (roof.value, words(roof.from))))
        })
        .collect();
    let resident = roofs.resident(&launch);
    Explanation {
        time: launch.duration().map(|(_, origin)| origin.clone()),
        bytes: launch.dram_bytes().map(|(_, origin)| origin.clone()),
        bandwidth: roofs
            .dram(&launch, analysis.ceilings)
            .map(|roof| (roof.value, words(roof.from))),
        groups: work.iter().map(|(pipe, ..)| roofs.group(*pipe)).collect(),
        work,
        clock: roofs.clock(&launch),
        sms: roofs.sms_of(&launch),
        resident: resident.map(|resident| resident.blocks),
        resident_is_computed: resident.is_some_and(|resident| resident.is_computed),
    }
}
