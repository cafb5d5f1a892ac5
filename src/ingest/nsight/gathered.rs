//! The values of one launch while its metrics are gathered.

use std::ops::RangeInclusive;

use super::metrics::{Kind, Raw, SASS_BASE, Slot, TENSOR_BASE};

/// Words of bits for the metrics with a name.
const WORDS: usize = SASS_BASE.div_ceil(64);

/// The gathered values of one launch, in base units.
#[derive(Debug, Clone)]
pub(super) struct Gathered {
    /// NaN where there is none.
    values: Box<[f64; TENSOR_BASE]>,
    /// The same of tensor counters, of which an export has any number.
    tensor: Vec<f64>,
    /// The slots with a value.
    filled: Vec<Slot>,
    /// The same of those that have a name, as bits.
    present: [u64; WORDS],
    /// Takes all metrics for present, so that nothing is passed over.
    #[cfg(test)]
    pub(super) assumes_all: bool,
    /// Whether instrumenting counters (SASS patching) were collected.
    pub(super) saw_sass: bool,
    /// Whether any hardware counter beside cycles was collected.
    pub(super) saw_hardware: bool,
}

impl Default for Gathered {
    fn default() -> Self {
        Self {
            values: Box::new([f64::NAN; TENSOR_BASE]),
            tensor: Vec::new(),
            filled: Vec::new(),
            present: [0; WORDS],
            #[cfg(test)]
            assumes_all: false,
            saw_sass: false,
            saw_hardware: false,
        }
    }
}

impl Gathered {
    /// Forgets the launch.
    pub(super) fn clear(&mut self) {
        while let Some(slot) = self.filled.pop() {
            self.unset(slot);
        }
        self.saw_sass = false;
        self.saw_hardware = false;
    }

    /// Keeps a value; the first one of a slot stays.
    #[inline]
    pub(super) fn set(&mut self, slot: Slot, value: f64) {
        if let Some(tensor) = slot.checked_sub(TENSOR_BASE)
            && self.tensor.len() <= tensor
        {
            self.tensor.resize(tensor + 1, f64::NAN);
        }
        if let Some(known) = self.place(slot)
            && known.is_nan()
        {
            *known = value;
            self.filled.push(slot);
            if let Some(word) = self.present.get_mut(slot / 64) {
                *word |= 1 << (slot % 64);
            }
        }
    }

    /// Takes a value back.
    pub(super) fn unset(&mut self, slot: Slot) {
        if let Some(value) = self.place(slot) {
            *value = f64::NAN;
        }
        if let Some(word) = self.present.get_mut(slot / 64) {
            *word &= !(1 << (slot % 64));
        }
    }

    /// Whether a metric has a value, of those from one to another in the order of [`Raw`].
    ///
    /// What follows from none of them need not be looked for: an export that lists its metrics has a few.
    #[inline]
    pub(super) fn has_any(&self, metrics: RangeInclusive<Raw>) -> bool {
        #[cfg(test)]
        if self.assumes_all {
            return true;
        }
        let (first, last) = (*metrics.start() as Slot, *metrics.end() as Slot);
        (first / 64..=last / 64).any(|word| {
            let from = first.saturating_sub(word * 64);
            let to = (last - word * 64).min(63);
            self.present[word] & (u64::MAX << from) & (u64::MAX >> (63 - to)) != 0
        })
    }

    #[inline]
    fn place(&mut self, slot: Slot) -> Option<&mut f64> {
        match slot.checked_sub(TENSOR_BASE) {
            None => self.values.get_mut(slot),
            Some(tensor) => self.tensor.get_mut(tensor),
        }
    }

    /// The value of a metric.
    #[inline]
    pub(super) fn get(&self, raw: Raw) -> Option<f64> {
        let value = self.values[raw as Slot];
        (!value.is_nan()).then_some(value)
    }

    /// The value in a slot.
    pub(super) fn slot(&self, slot: Slot) -> Option<f64> {
        let value = match slot.checked_sub(TENSOR_BASE) {
            None => self.values.get(slot),
            Some(tensor) => self.tensor.get(tensor),
        };
        value.copied().filter(|value| !value.is_nan())
    }

    /// Takes over which kinds of counter a whole file has.
    pub(super) fn saw_as(&mut self, other: &Self) {
        self.saw_sass = other.saw_sass;
        self.saw_hardware = other.saw_hardware;
    }

    /// Notes which kind of counter a metric is, for recognizing instrumented time.
    pub(super) fn saw(&mut self, kind: Kind) {
        match kind {
            Kind::Sass => self.saw_sass = true,
            Kind::Hardware => self.saw_hardware = true,
            Kind::Neutral => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_value_of_a_slot_stays_until_it_is_taken_back() {
        let mut raw = Gathered::default();
        let tensor = TENSOR_BASE + 3;
        for slot in [Raw::Passes as Slot, SASS_BASE, tensor] {
            raw.set(slot, 1.0);
            raw.set(slot, 2.0);
            assert_eq!(raw.slot(slot), Some(1.0));
            raw.unset(slot);
            assert_eq!(raw.slot(slot), None);
            raw.set(slot, 3.0);
        }
        assert_eq!((raw.get(Raw::Passes), raw.slot(tensor)), (Some(3.0), Some(3.0)));
        raw.clear();
        assert_eq!(
            (raw.get(Raw::Passes), raw.slot(SASS_BASE), raw.slot(tensor)),
            (None, None, None)
        );
    }

    #[test]
    fn a_stretch_of_metrics_has_one_or_none() {
        let (first, last) = (Raw::WarpLatency, Raw::StallGmmaPct);
        for (raw, is_there) in [
            (Raw::PipeLsuInst, false),
            (first, true),
            (Raw::StallWait, true),
            (last, true),
            (Raw::SmClock, false),
        ] {
            let mut gathered = Gathered::default();
            gathered.set(raw as Slot, 0.0);
            assert_eq!(gathered.has_any(first..=last), is_there, "{raw:?}");
            gathered.clear();
            assert!(!gathered.has_any(first..=last));
        }
        // What has no name is in no stretch, though its bits share a word with the last.
        let mut gathered = Gathered::default();
        gathered.set(SASS_BASE, 1.0);
        assert!(!gathered.has_any(first..=last));
    }
}
