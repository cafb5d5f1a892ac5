//! What the state of a kernel rests on.

use super::state::State;
use crate::scalar::{Constant, Word};

macro_rules! grounds {
    ($($(#[$doc:meta])* $name:ident, $key:literal, $state:ident;)*) => {
        /// What the state of a kernel rests on: the first that holds.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum Ground { $($(#[$doc])* $name),* }

        impl Ground {
            /// All grounds.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$name),*];

            /// Returns the name in tables.
            const fn key(self) -> &'static str {
                match self { $(Self::$name => $key),* }
            }

            /// Returns the state.
            pub(crate) const fn state(self) -> State {
                match self { $(Self::$name => State::$state),* }
            }
        }
    };
}

grounds! {
    /// By its name it is communication or a host copy.
    Link, "link", NotRoofline;
    /// No launch could be compared, and launches take no longer than a launch costs.
    ShortUnjudged, "short_unjudged", LaunchBound;
    /// No launch could be compared.
    Unjudged, "unjudged", NotEnoughData;
    /// Faster than the model allows, but its bytes fit in L2.
    FitsInCache, "fits_in_cache", CacheResident;
    /// Faster than the model allows.
    Faster, "faster", FasterThanRoofline;
    /// Launching costs more than the work.
    LaunchBound, "launch_bound", LaunchBound;
    /// Nothing that takes time was counted.
    NothingCounted, "nothing_counted", NotEnoughData;
    /// Near its roofline.
    Near, "near", NearRoofline;
    /// L2 traffic takes most of the time.
    CachedByTraffic, "cached_by_traffic", CacheResident;
    /// The caches are busy and DRAM is not.
    CachedByThroughput, "cached_by_throughput", CacheResident;
    /// Lookups hit L2, which is busy.
    CachedByHits, "cached_by_hits", CacheResident;
    /// What its name says to be its work was not counted.
    MainWorkMissing, "main_work_missing", NotEnoughData;
    /// Below the threshold.
    Fair, "fair", Fair;
    /// Below the threshold, and nothing bounds what was not counted.
    FairIfCounted, "fair_if_counted", Fair;
    /// Far, with enough savings.
    Flagged, "flagged", Flagged;
    /// Far, with too little to save.
    TooLittle, "too_little", LowImpact;
    /// Far, with too few threads and no sign that its work can be divided.
    NoRoom, "no_room", LowImpact;
    /// Far, but its grid and usual losses explain it.
    GridExplains, "grid_explains", LowImpact;
    /// Near its roofline by the likely end.
    LikelyNear, "likely_near", NearRoofline;
    /// Below the threshold by the likely end.
    LikelyFair, "likely_fair", Fair;
    /// Far, unless uncounted work takes the time.
    Possible, "possible", Possible;
}

impl Word for Ground {
    const BLANK: Self = Self::Unjudged;

    fn constant(self) -> Constant {
        Constant::Text(self.key())
    }
}
