//! A launch while its metrics are gathered, and what a whole file of them shows.

use super::{Catalog, Context, Deriver, Gathered, OriginCache, Raw};
use crate::ingest::{Numerals, Reading};
use crate::model::{Head, HintId, Quantity, Values};
use crate::units::Hertz;

/// The launch being read.
pub(super) struct Row {
    pub(super) raw: Gathered,
    values: Values,
    origins: OriginCache,
    pub(super) numerals: Numerals,
    pub(super) units: &'static str,
    memory_clock: f64,
    /// Launches whose bytes and byte rate tell of different executions.
    inconsistent: u64,
}

/// Two routes to one quantity may differ by this share before their passes count as inconsistent.
const PASSES_AGREE: f64 = 0.03;

impl Row {
    pub(super) fn new(numerals: Numerals) -> Self {
        Self {
            raw: Gathered::default(),
            values: Values::default(),
            origins: OriginCache::default(),
            numerals,
            units: "base",
            memory_clock: 0.0,
            inconsistent: 0,
        }
    }

    /// Derives the canonical values and appends the launch.
    pub(super) fn push(
        &mut self,
        reading: &mut Reading<'_>,
        catalog: &Catalog,
        head: Head,
        kernel: &[u8],
    ) -> usize {
        self.derive(reading, catalog, head.device, kernel);
        reading.push(head, &self.values)
    }

    /// The values derived last.
    pub(super) fn values(&self) -> &Values {
        &self.values
    }

    /// Derives the canonical values of the launch gathered.
    pub(super) fn derive(
        &mut self,
        reading: &mut Reading<'_>,
        catalog: &Catalog,
        device: HintId,
        kernel: &[u8],
    ) {
        self.values.clear();
        let capability = reading.device(device).compute_capability.clone();
        let kernel = String::from_utf8_lossy(kernel);
        let context = Context { kernel: &kernel, compute_capability: capability.as_deref() };
        Deriver { reading, origins: &mut self.origins, raw: &self.raw, values: &mut self.values }
            .derive(catalog, context);
        let raw = &self.raw;
        if let (Some(bytes), Some(rate), Some(time)) =
            (raw.get(Raw::DramBytes), raw.get(Raw::DramRate), raw.get(Raw::TimeSum))
            && (bytes - rate * time).abs() > PASSES_AGREE * bytes.max(rate * time)
        {
            self.inconsistent += 1;
        }
        if let Some(clock) = self.values.get(Quantity::DramClock) {
            self.memory_clock = self.memory_clock.max(clock);
        }
    }

    /// Passes on what was seen over the whole file.
    pub(super) fn finish(&self, reading: &mut Reading<'_>) {
        if self.memory_clock > 0.0 {
            reading.observed_memory_clock(Hertz::new(self.memory_clock));
        }
        if self.inconsistent > 0 {
            let clue = format!(
                "{} launches: bytes and bytes per second × time differ by more than 3 %: their passes saw different executions",
                self.inconsistent
            );
            reading.source.clues.push(clue);
        }
    }
}
