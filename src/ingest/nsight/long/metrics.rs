//! The metrics of a table, as they stand in its rows.

use std::collections::HashMap;

use crate::ingest::nsight::{Catalog, Dimension, Kind, Wanted, kind, unit};

/// A metric as it stands in the rows: section, name and unit decide what it is.
pub(super) struct Metric {
    pub(super) section: Vec<u8>,
    pub(super) name: Vec<u8>,
    pub(super) unit: Vec<u8>,
    /// The three as a record wrote them, quotes and delimiters included.
    written: Vec<u8>,
    pub(super) meaning: Meaning,
    pub(super) kind: Kind,
    pub(super) launches: u64,
    /// The launch that had it last, and its value there.
    pub(super) last: (u64, f64),
    /// The same metric in another unit.
    pub(super) twin: Option<usize>,
}

pub(super) enum Meaning {
    /// Not needed.
    Ignored,
    Value {
        slot: usize,
        factor: f64,
        dimension: Dimension,
    },
    /// Needed, but its unit cannot be used.
    Unusable(String),
}

/// The metrics of a file; rows of one launch mostly repeat the order of the launch before.
#[derive(Default)]
pub(super) struct Metrics {
    pub(super) known: Vec<Metric>,
    by_key: HashMap<Vec<u8>, usize>,
    /// The first metric of a section and name, whatever its unit.
    first: HashMap<Vec<u8>, usize>,
    order: Vec<usize>,
    next: usize,
    pub(super) catalog: Catalog,
    key: Vec<u8>,
}

impl Metrics {
    pub(super) fn restart(&mut self) {
        self.next = 0;
    }

    /// The metric that came at this place of the launch before, if this record writes it alike; an empty text says
    /// nothing.
    #[inline]
    pub(super) fn expected(&mut self, written: &[u8]) -> Option<usize> {
        let expected = *self.order.get(self.next)?;
        let is_same = !written.is_empty() && self.known[expected].written == written;
        self.next += usize::from(is_same);
        is_same.then_some(expected)
    }

    /// The metric of a record.
    pub(super) fn find(
        &mut self,
        section: &[u8],
        name: &[u8],
        unit: &[u8],
        written: &[u8],
    ) -> usize {
        let place = self.next;
        self.next += 1;
        if let Some(expected) = self.order.get(place).copied() {
            let metric = &self.known[expected];
            if metric.name == name && metric.section == section && metric.unit == unit {
                return expected;
            }
        }
        let found = self.look_up(section, name, unit);
        let metric = &mut self.known[found];
        metric.written.clear();
        metric.written.extend_from_slice(written);
        if place < self.order.len() {
            self.order[place] = found;
        } else if place == self.order.len() && place < 4096 {
            self.order.push(found);
        }
        found
    }

    pub(super) fn look_up(&mut self, section: &[u8], name: &[u8], unit: &[u8]) -> usize {
        self.key.clear();
        for part in [section, name, unit] {
            self.key.extend_from_slice(part);
            self.key.push(0);
        }
        self.by_key.get(&self.key).copied().unwrap_or_else(|| {
            let metric = self.understand(section, name, unit);
            self.first.entry([section, name].join(&0)).or_insert(self.known.len());
            self.known.push(metric);
            self.by_key.insert(self.key.clone(), self.known.len() - 1);
            self.known.len() - 1
        })
    }

    fn understand(&mut self, section: &[u8], name: &[u8], unit_word: &[u8]) -> Metric {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let (section_text, name_text, unit_text) = (text(section), text(name), text(unit_word));
        let wanted = self.catalog.row(&section_text, &name_text, unit_text == "%");
        let meaning = wanted.map_or(Meaning::Ignored, |wanted| meaning(wanted, &unit_text));
        Metric {
            section: section.to_vec(),
            name: name.to_vec(),
            unit: unit_word.to_vec(),
            written: Vec::new(),
            twin: self.first.get(&[section, name].join(&0)).copied(),
            meaning,
            kind: kind(&name_text),
            launches: 0,
            last: (0, 0.0),
        }
    }
}

fn meaning(wanted: Wanted, word: &str) -> Meaning {
    match unit(word) {
        Some(unit) if unit.dimension == wanted.dimension => Meaning::Value {
            slot: wanted.slot,
            factor: unit.factor * wanted.factor,
            dimension: wanted.dimension,
        },
        Some(_) if word.is_empty() => Meaning::Unusable("no unit".to_owned()),
        Some(_) => Meaning::Unusable(format!("unit {word:?} is not {}", wanted.dimension.noun())),
        None => Meaning::Unusable(format!("unknown unit {word:?}")),
    }
}
