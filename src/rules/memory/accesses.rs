//! Global accesses of a kernel by side: how much of what they touch is needed, and how much of the traffic they are.

use crate::model::Quantity;
use crate::rules::engine::subject::Subject;

/// A warp of 32 threads reading 16 bytes each, side by side, fills 16 sectors.
const WIDEST_COALESCED: f64 = 16.0;

/// Global loads, or global stores.
#[derive(Debug, Clone, Copy)]
pub(super) struct Side {
    /// `loads` or `stores`.
    pub(super) word: &'static str,
    /// Sectors that a request touches.
    pub(super) sectors: Option<f64>,
    /// Share of the bytes of these sectors that is used.
    pub(super) used: Option<f64>,
    /// Its sectors over all.
    pub(super) share: Option<f64>,
}

impl Side {
    /// Whether its requests are known, or that there are none.
    pub(super) fn is_counted(&self) -> bool {
        self.sectors.is_some() || self.share == Some(0.0)
    }

    /// Share of its sectors that is needed: of those beyond what the widest coalesced access fills none is.
    pub(super) fn efficiency(&self) -> Option<f64> {
        let by_sectors = || {
            let sectors = self.sectors?;
            Some(if sectors > WIDEST_COALESCED { WIDEST_COALESCED / sectors } else { 1.0 })
        };
        self.used.or_else(by_sectors)
    }
}

/// Loads and stores.
pub(super) fn sides(subject: &Subject<'_>) -> [Side; 2] {
    [
        Side {
            word: "loads",
            sectors: subject.get(Quantity::LoadSectorsPerRequest),
            used: subject.get(Quantity::LoadSectorEfficiency),
            share: subject.get(Quantity::LoadSectorShare),
        },
        Side {
            word: "stores",
            sectors: subject.get(Quantity::StoreSectorsPerRequest),
            used: subject.get(Quantity::StoreSectorEfficiency),
            share: subject.get(Quantity::StoreSectorShare),
        },
    ]
}

/// Share of the sectors of global accesses that is needed, if it is known of loads and stores together. A side of which
/// nothing else is known than its share counts as needed.
pub(super) fn efficiency(sides: &[Side; 2]) -> Option<f64> {
    let [loads, stores] = sides;
    let whole = loads.share? + stores.share?;
    let wasted = wasted(sides)?;
    (whole > 0.0).then(|| 1.0 - (wasted / whole).clamp(0.0, 1.0))
}

/// Share of all sectors that global accesses touch and do not need, if their shares are known.
pub(super) fn wasted(sides: &[Side; 2]) -> Option<f64> {
    let of = |side: &Side| Some(side.share? * (1.0 - side.efficiency().unwrap_or(1.0)));
    Some(of(&sides[0])? + of(&sides[1])?)
}
