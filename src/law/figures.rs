//! The roofs of a device as named figures, for tables of devices.

use super::roofs::{Limits, Roof, Roofs};
use crate::model::Pipe;
use crate::scalar::{Maybe, Number};

/// Reads the roofs of a device from its figures.
pub(crate) fn roofs<N: Number>(column: impl Fn(&str) -> Maybe<N, N>) -> Roofs<N> {
    let roof = |name: &str| {
        let known = column(name).zip(column(&format!("{name}_share")));
        known.map(|(value, achievable)| Roof {
            value,
            clock: column(&format!("{name}_clock_hz")),
            achievable,
        })
    };
    let [warps, blocks, shared, reserved, granularity] = LIMITS.map(&column);
    let limits = warps.zip(blocks).zip(shared.zip(reserved.zip(granularity)));
    Roofs {
        peaks: Pipe::ALL.iter().map(|pipe| roof(&peak(*pipe))).collect(),
        dram: {
            let known = column(DRAM).zip(column("roof_dram_share"));
            known.map(|(value, achievable)| Roof { value, clock: Maybe::missing(), achievable })
        },
        is_derived: column("roof_dram_is_derived").is_some_and(|is| is.same(N::of(1.0))),
        l2: column("roof_l2"),
        measured_l2: column("roof_l2_measured"),
        measured_l1: column("roof_l1_measured"),
        measured_shared: column("roof_shared_measured"),
        highest_clock: column("highest_sm_clock_hz"),
        rated_clock: column("rated_sm_clock_hz"),
        memory_clock: column("rated_memory_clock_hz"),
        highest_memory_clock: column("highest_memory_clock_hz"),
        groups: Pipe::ALL.iter().map(|pipe| column(&group(*pipe)).unwrap_or(N::of(0.0))).collect(),
        limits: limits.map(|((warps, blocks), (shared_bytes, (reserved, granularity)))| Limits {
            warps,
            blocks,
            shared_bytes,
            reserved_shared_bytes: reserved,
            shared_granularity: granularity,
        }),
        lacks_matrix_units: column("lacks_matrix_units").is_some_and(|is| is.same(N::of(1.0))),
        on_chip: column("on_chip_bytes_per_clock"),
        system: column("roof_system"),
        peer: column("roof_peer"),
        l2_bytes: column("l2_cache_bytes"),
        sms: column("multiprocessors"),
    }
}

const DRAM: &str = "roof_dram";

const LIMITS: [&str; 5] = [
    "limit_warps",
    "limit_blocks",
    "limit_shared_bytes",
    "limit_reserved_shared_bytes",
    "limit_shared_granularity_bytes",
];

fn peak(pipe: Pipe) -> String {
    format!("roof_{}", pipe.key())
}

fn group(pipe: Pipe) -> String {
    format!("group_{}", pipe.key())
}

/// Returns the figures of a device, in order, in SI base units.
pub(crate) fn figures(roofs: &Roofs<f64>) -> Vec<(String, Option<f64>)> {
    let mut all: Vec<(String, Option<f64>)> = Vec::new();
    for (pipe, roof) in Pipe::ALL.iter().zip(&roofs.peaks) {
        let (name, roof) = (peak(*pipe), roof.option());
        all.push((format!("{name}_clock_hz"), roof.and_then(|roof| roof.clock.option())));
        all.push((format!("{name}_share"), roof.map(|roof| roof.achievable)));
        all.push((name, roof.map(|roof| roof.value)));
        all.push((group(*pipe), Some(roofs.groups[*pipe as usize])));
    }
    let dram = roofs.dram.option();
    let limits = roofs.limits.option();
    let limits = [
        limits.map(|limits| limits.warps),
        limits.map(|limits| limits.blocks),
        limits.map(|limits| limits.shared_bytes),
        limits.map(|limits| limits.reserved_shared_bytes),
        limits.map(|limits| limits.shared_granularity),
    ];
    all.extend(LIMITS.into_iter().map(str::to_owned).zip(limits));
    let rest = [
        (DRAM, dram.map(|roof| roof.value)),
        ("roof_dram_share", dram.map(|roof| roof.achievable)),
        ("roof_dram_is_derived", Some(f64::from(u8::from(roofs.is_derived)))),
        ("roof_l2", roofs.l2.option()),
        ("roof_l2_measured", roofs.measured_l2.option()),
        ("roof_l1_measured", roofs.measured_l1.option()),
        ("roof_shared_measured", roofs.measured_shared.option()),
        ("highest_sm_clock_hz", roofs.highest_clock.option()),
        ("rated_sm_clock_hz", roofs.rated_clock.option()),
        ("rated_memory_clock_hz", roofs.memory_clock.option()),
        ("highest_memory_clock_hz", roofs.highest_memory_clock.option()),
        ("lacks_matrix_units", Some(f64::from(u8::from(roofs.lacks_matrix_units)))),
        ("on_chip_bytes_per_clock", roofs.on_chip.option()),
        ("roof_system", roofs.system.option()),
        ("roof_peer", roofs.peer.option()),
        ("l2_cache_bytes", roofs.l2_bytes.option()),
        ("multiprocessors", roofs.sms.option()),
    ];
    all.extend(rest.map(|(name, value)| (name.to_owned(), value)));
    all
}
