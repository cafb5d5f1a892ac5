//! A launch while its metrics are gathered, and what a whole file of them shows.

use super::passes::Parts;
use super::{
    Catalog, Context, Counter, Counts, Deriver, Gathered, Instructions, OriginCache, Raw,
    ranges_left_out,
};
use crate::ingest::numerals::NotANumber;
use crate::ingest::{Numerals, Reading};
use crate::model::{DeviceHint, Head, Quantity, Values};
use crate::plain::counted;
use crate::units::Hertz;

/// The launch being read.
pub(super) struct Row {
    pub(super) raw: Gathered,
    values: Values,
    origins: OriginCache,
    instructions: Instructions,
    /// The counters of sums and quotients of which the launch derived last has only some.
    parts: Vec<(Counter, f64)>,
    pub(super) numerals: Numerals,
    pub(super) units: &'static str,
    pub(super) seen: Seen,
}

/// What launches show of the whole file.
#[derive(Debug, Default)]
pub(super) struct Seen {
    memory_clock: f64,
    /// What of L2 is set aside for data that persists.
    persisting_l2: Option<f64>,
    /// Launches whose bytes and byte rate tell of different executions.
    inconsistent: u64,
    /// Results of ranges, which are left out.
    pub(super) ranges: u64,
    /// Launches of which bytes were rounded to zero.
    pub(super) rounded: u64,
    /// Launches of which the time was rounded by more than a hundredth of it.
    pub(super) coarse: u64,
    /// Those of which it was rounded to zero.
    pub(super) instant: u64,
    /// The counters of launches that another file may complete.
    parts: Parts,
}

impl Seen {
    /// Adds what launches show that come after these, the first of them in this row.
    pub(super) fn join(&mut self, other: &Self, first: usize) {
        self.parts.join(&other.parts, first);
        self.memory_clock = self.memory_clock.max(other.memory_clock);
        self.persisting_l2 = self.persisting_l2.or(other.persisting_l2);
        self.inconsistent += other.inconsistent;
        self.ranges += other.ranges;
        self.rounded += other.rounded;
        self.coarse += other.coarse;
        self.instant += other.instant;
    }
}

/// Why a metric is left out of a launch.
pub(super) const TWICE: &str = "given twice for one launch with different values; neither is used";

/// Two values of one metric in one unit are one value if they are the same but for rounding.
pub(super) const REPEATED: f64 = 1e-9;

/// In two units, scaled values have two decimals.
pub(super) const RESCALED: f64 = 0.005;

/// Whether two values of one metric are one value, up to this share.
pub(super) fn is_same(one: f64, two: f64, tolerance: f64) -> bool {
    (one - two).abs() <= tolerance * one.abs().max(two.abs())
}

/// Two routes to one quantity may differ by this share before their passes count as inconsistent.
const PASSES_AGREE: f64 = 0.03;

/// Where the value of a cell ends: `--print-metric-instances` writes those of its instances behind it, `12345 (6000; 6345)`.
pub(super) fn value_end(cell: &[u8]) -> usize {
    let list = cell.ends_with(b")").then(|| cell.windows(2).position(|part| part == b" ("));
    list.flatten().unwrap_or(cell.len())
}

impl Row {
    pub(super) fn new(numerals: Numerals) -> Self {
        Self {
            raw: Gathered::default(),
            values: Values::default(),
            origins: OriginCache::default(),
            instructions: Instructions::default(),
            parts: Vec::new(),
            numerals,
            units: "base",
            seen: Seen::default(),
        }
    }

    /// The value of a metric; `None` where none was collected.
    ///
    /// # Errors
    /// When the cell is text.
    pub(super) fn value(&self, cell: &[u8]) -> Result<Option<f64>, NotANumber> {
        let value = self.numerals.parse(cell);
        match value_end(cell) {
            end if value.is_err() && end < cell.len() => self.numerals.parse(&cell[..end]),
            _ => value,
        }
    }

    /// Derives the canonical values and appends the launch.
    pub(super) fn push(
        &mut self,
        reading: &mut Reading<'_>,
        catalog: &Catalog,
        head: Head,
    ) -> usize {
        self.derive(reading, catalog, &head);
        let row = reading.push(head, &self.values);
        self.keep(row);
        row
    }

    /// Keeps of the launch derived last, which is in this row, what another file may complete.
    pub(super) fn keep(&mut self, row: usize) {
        self.seen.parts.set(row, std::mem::take(&mut self.parts));
    }

    /// The values derived last.
    pub(super) fn values(&self) -> &Values {
        &self.values
    }

    /// Derives the canonical values of the launch gathered.
    pub(super) fn derive(&mut self, reading: &mut Reading<'_>, catalog: &Catalog, head: &Head) {
        let Self { raw, values, origins, instructions, .. } = self;
        values.clear();
        let context = Context { kernel: head.name, device: head.device };
        let capability = reading.device(head.device).compute_capability.as_deref();
        let is_packed = capability.is_some_and(DeviceHint::counts_packed_fp32);
        let counts = Counts::default();
        let mut deriver = Deriver { reading, origins, instructions, raw, values, counts };
        deriver.derive(catalog, context);
        self.parts = deriver.parts(is_packed);
        let raw = &self.raw;
        if let (Some(bytes), Some(rate), Some(time)) =
            (raw.get(Raw::DramBytes), raw.get(Raw::DramRate), raw.get(Raw::TimeSum))
            && (bytes - rate * time).abs() > PASSES_AGREE * bytes.max(rate * time)
        {
            self.seen.inconsistent += 1;
        }
        self.seen.persisting_l2 = self.seen.persisting_l2.or(raw.get(Raw::L2Persisting));
        if let Some(clock) = self.values.get(Quantity::DramClock) {
            self.seen.memory_clock = self.seen.memory_clock.max(clock);
        }
    }

    /// Passes on what was seen over the whole file.
    pub(super) fn finish(&self, reading: &mut Reading<'_>) {
        self.seen.parts.may_be_completed(reading);
        if self.seen.memory_clock > 0.0 {
            reading.observed_memory_clock(Hertz::new(self.seen.memory_clock));
        }
        if let Some(bytes) = self.seen.persisting_l2.and_then(l2_bytes) {
            reading.computed_l2(bytes);
        }
        if self.seen.ranges > 0 {
            reading.source.clues.push(ranges_left_out(self.seen.ranges));
        }
        if self.seen.rounded > 0 {
            let launches = counted(self.seen.rounded, "launch has", "launches have");
            reading.source.clues.push(format!(
                "{launches} zero bytes in a unit too large to tell: they are missing; export with --print-units base"
            ));
        }
        if self.seen.coarse > 0 {
            let launches = counted(self.seen.coarse, "launch has a time", "launches have times");
            let zeros = match self.seen.instant {
                0 => String::new(),
                instant => format!(", {instant} of them to zero"),
            };
            reading.source.clues.push(format!(
                "{launches} rounded by more than 1%{zeros}: the unit is too large; export with --print-units base"
            ));
        }
        if self.seen.inconsistent > 0 {
            let launches = counted(self.seen.inconsistent, "launch", "launches");
            reading.source.clues.push(format!(
                "{launches}: bytes and bytes per second × time differ by more than 3%: the passes saw different executions"
            ));
        }
    }
}

/// The size of L2 from what is set aside of it for data that persists: a quarter of the three quarters
/// that may be, where the program asked for nothing else. Exports of A100, H200, B200 and Thor print
/// exactly that beside the size. Scaled units leave four digits; caches come in halves of a MiB.
fn l2_bytes(persisting: f64) -> Option<u64> {
    const SHARE: f64 = 0.25 * 0.75;
    const HALF_MIB: f64 = 524_288.0;
    /// Four digits of a size.
    const ROUNDING: f64 = 1e-3;
    let halves = persisting / SHARE / HALF_MIB;
    let is_whole = (halves - halves.round()).abs() <= ROUNDING * halves;
    (is_whole && (1.0..1e4).contains(&halves)).then(|| (halves.round() * HALF_MIB) as u64)
}

#[cfg(test)]
mod tests {
    use super::{l2_bytes, value_end};

    #[test]
    fn the_values_of_instances_are_not_the_value() {
        for (cell, value) in [
            ("12345 (6000; 6345)", "12345"),
            ("1.5 (1: 0.5; 2: 1)", "1.5"),
            ("7", "7"),
            ("(16, 1, 1)", "(16, 1, 1)"),
            ("7 (", "7 ("),
            (")", ")"),
            ("", ""),
        ] {
            assert_eq!(&cell[..value_end(cell.as_bytes())], value);
        }
    }

    #[test]
    fn the_size_of_l2_follows_from_what_is_set_aside() {
        // Sizes in MiB by the device attributes that stand beside: A100 40, H200 60, B200 126.5, Thor 32.
        for (persisting, mib) in [
            (7.86e6, 40.0),
            (11_796_480.0, 60.0),
            (11.80e6, 60.0),
            (24_870_912.0, 126.5),
            (6_291_456.0, 32.0),
        ] {
            assert_eq!(l2_bytes(persisting), Some((mib * 1_048_576.0) as u64), "{persisting}");
        }
        // A program's own choice that is no such share, and none at all.
        assert_eq!(l2_bytes(1_000_000.0), None);
        assert_eq!(l2_bytes(0.0), None);
    }
}
