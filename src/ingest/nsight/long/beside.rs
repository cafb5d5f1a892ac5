//! Launches whose rows another thread reads.

use std::collections::HashSet;
use std::mem::take;

use super::Table;
use super::metrics::Metric;
use super::whole::launches_of;
use crate::ingest::beside::Beside;
use crate::ingest::nsight::parts::{Cell, Known};
use crate::ingest::nsight::row::Seen;
use crate::ingest::part::Part;
use crate::ingest::split::Understand;
use crate::ingest::{IngestError, Reading};

/// A launch with what was gathered of it.
pub(super) struct Apart {
    pub(super) key: (u32, u32),
    pub(super) cells: Vec<Cell>,
}

/// What the rows of another thread add to what is known of the whole table.
struct More {
    launches: Vec<Apart>,
    /// Section, name and unit of the metrics that are new with them.
    metrics: Vec<[Vec<u8>; 3]>,
    /// Launches with a value, by metric.
    counts: Vec<u64>,
    rules: u64,
    crowded: u64,
    seen: Seen,
}

impl Table {
    /// Lets another thread read rows as this table reads those that come next.
    pub(super) fn understand(&self, thread: usize, is_strict: bool) -> Understand {
        let (identity, columns) = (self.identity.like(), self.columns);
        let (preamble, sms, numerals) = (self.preamble.clone(), self.sms, self.row.numerals);
        let mut beside = Beside::new(thread, is_strict, move |_| Self {
            sms,
            apart: Some(Vec::new()),
            ..Self::new(identity.clone(), columns, numerals, preamble.clone())
        });
        let identity = self.identity.like();
        Box::new(move |block| {
            let rows = launches_of(block, &identity, [columns.value + 1, columns.width])?;
            let part = beside.read(|reading, table: &mut Self| {
                let known = table.metrics.known.len();
                table.is_within = false;
                block.each(rows.clone(), |record| table.record(reading, record, record.line()))?;
                table.flush(reading)?;
                Ok((!table.has_turned).then(|| table.more(known)))
            })?;
            Some((rows, part))
        })
    }

    /// Takes out what [`Table::join`] adds, with the metrics after so many.
    fn more(&mut self, known: usize) -> More {
        let key = |metric: &Metric| [&metric.section, &metric.name, &metric.unit].map(Clone::clone);
        More {
            launches: self.apart.replace(Vec::new()).unwrap_or_default(),
            metrics: self.metrics.known[known..].iter().map(key).collect(),
            counts: self.metrics.known.iter_mut().map(|one| take(&mut one.launches)).collect(),
            rules: take(&mut self.rules),
            crowded: take(&mut self.crowded),
            seen: take(&mut self.row.seen),
        }
    }

    /// Whether no launch that another thread has read is known.
    pub(super) fn fits(&self, part: &Part) -> bool {
        let Some(More { launches, .. }) = part.more.downcast_ref() else { return false };
        let mut keys: HashSet<_> = self.current.iter().map(|current| current.key).collect();
        launches.iter().all(|one| keys.insert(one.key) && !self.parts.has(one.key))
    }

    /// Appends what another thread has read.
    pub(super) fn join(
        &mut self,
        reading: &mut Reading<'_>,
        part: Part,
    ) -> Result<(), IngestError> {
        self.flush(reading)?;
        self.is_within = false;
        let (thread, is_first, first) = (part.thread, part.is_first, reading.launches());
        let Some(more) = reading.join::<More>(part)? else { return Ok(()) };
        self.numbers.resize_with(self.numbers.len().max(thread + 1), Vec::new);
        let mut numbers = take(&mut self.numbers[thread]);
        if is_first {
            numbers.clear();
        }
        for [section, name, unit] in &more.metrics {
            numbers.push(self.metrics.look_up(section, name, unit) as u32);
        }
        for (number, count) in numbers.iter().zip(more.counts) {
            self.metrics.known[*number as usize].launches += count;
        }
        for (Apart { key, mut cells }, row) in more.launches.into_iter().zip(first..) {
            for (metric, _) in &mut cells {
                *metric = numbers[*metric as usize];
            }
            self.parts.keep(key, row, &cells, Known::New);
        }
        self.numbers[thread] = numbers;
        self.rules += more.rules;
        self.crowded += more.crowded;
        self.row.seen.join(&more.seen, first);
        Ok(())
    }
}
