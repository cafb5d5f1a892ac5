//! The roofs with which the kernels of a run were compared.

use std::collections::BTreeMap;

use crate::analysis::Kernel;
use crate::model::{MemoryLevel, Pipe};
use crate::units::Seconds;

/// Iterates over the kernels of a device, with their indices.
pub(super) fn on(kernels: &[Kernel], device: usize) -> impl Iterator<Item = (usize, &Kernel)> {
    kernels.iter().enumerate().filter(move |(_, kernel)| kernel.device == device)
}

/// Smallest and largest rate per roof with which kernels were compared. Roofs follow the clocks,
/// which differ a little from launch to launch.
#[derive(Debug)]
pub(super) struct Ranges<Kind>(BTreeMap<Kind, (f64, f64)>);

impl<Kind: Ord + Copy> Ranges<Kind> {
    fn of(rates: impl Iterator<Item = (Kind, f64)>) -> Self {
        let mut ranges: BTreeMap<Kind, (f64, f64)> = BTreeMap::new();
        for (kind, rate) in rates {
            let range = ranges.entry(kind).or_insert((rate, rate));
            *range = (range.0.min(rate), range.1.max(rate));
        }
        Self(ranges)
    }

    /// Iterates over kind, smallest and largest rate, in the order of the kinds.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Kind, f64, f64)> {
        self.0.iter().map(|(kind, (least, greatest))| (*kind, *least, *greatest))
    }
}

/// Returns the bandwidths with which the kernels of a device were compared.
pub(super) fn bandwidths(kernels: &[Kernel], device: usize) -> Ranges<MemoryLevel> {
    Ranges::of(on(kernels, device).flat_map(|(_, kernel)| {
        let dram = kernel.bandwidth().map(|roof| (MemoryLevel::Dram, roof.get()));
        let others = kernel.levels().iter().filter_map(|one| {
            let time = one.time.filter(|time| *time > Seconds::ZERO)?;
            Some((one.level, (one.bytes / time).get()))
        });
        dram.into_iter().chain(others).collect::<Vec<_>>()
    }))
}

/// Returns the peaks with which the kernels of a device were compared.
pub(super) fn peaks(kernels: &[Kernel], device: usize) -> Ranges<Pipe> {
    let works = on(kernels, device).flat_map(|(_, kernel)| &kernel.work);
    Ranges::of(works.filter_map(|work| Some((work.pipe, work.peak()?.get()))))
}
