//! A file that several threads read.

use std::collections::BTreeMap;

use super::tail::Tail;
use super::{Bytes, Reading};
use crate::ingest::lines::{Lines, Understand};
use crate::ingest::observed::Observed;
use crate::ingest::part::Part;
use crate::ingest::{IngestError, Sample};
use crate::model::{Ids, Profile, Source};

/// From this many bytes on, lines are worth other threads. In tests small files are large.
const LARGE: u64 = if cfg!(test) { 1 << 16 } else { 8 << 20 };

impl<'a> Reading<'a> {
    /// Nothing of a file, to be read into a profile of its own with what was seen there before.
    pub(in crate::ingest) fn beside(
        profile: &'a mut Profile,
        observed: Observed,
        strict: bool,
    ) -> Self {
        Self {
            source: Source::default(),
            sample: Sample::new(b""),
            profile,
            bytes: None,
            #[cfg(feature = "sqlite")]
            file: None,
            metadata: BTreeMap::new(),
            lines: 0,
            read: 0,
            idle: 0,
            led: None,
            titles: Vec::new(),
            tables: Vec::new(),
            position: 0,
            strict,
            threads: 1,
            beside: Vec::new(),
            observed,
            undescribed: None,
            decimal: None,
            parts: Vec::new(),
            part: 0,
            tail: Tail::default(),
            breaks_off: false,
        }
    }

    /// Whether anything wrong ends the reading.
    pub(in crate::ingest) fn is_strict(&self) -> bool {
        self.strict
    }

    /// Lines and cells in a row that led to no launch: before the first, and after the last.
    pub(in crate::ingest) fn idle(&self) -> [u64; 2] {
        [self.led.unwrap_or(self.idle), self.idle]
    }

    /// Ends what [`Reading::beside`] began.
    pub(in crate::ingest) fn observed(self) -> Observed {
        self.observed
    }

    /// Appends what another thread has read of the rows that come next, as if it had been read here;
    /// gives what else it kept of them.
    ///
    /// # Errors
    /// When a million lines and cells in a row led to no launch.
    pub(in crate::ingest) fn join<M: 'static>(
        &mut self,
        part: Part,
    ) -> Result<Option<M>, IngestError> {
        let Part { batch, thread, is_first, counts, skips, before, idle, more } = part;
        self.beside.resize_with(self.beside.len().max(thread + 1), Ids::default);
        let ids = &mut self.beside[thread];
        if is_first {
            *ids = Ids::default();
        }
        for id in self.profile.append_batch(&batch, self.position, ids) {
            self.observed.see(id);
        }
        let [rows, launches] = counts;
        self.source.rows += rows;
        self.source.launches += launches;
        self.source.skips.join(skips, before);
        let [first, last] = idle;
        self.idled(first)?;
        if launches > 0 {
            self.idle = last;
        }
        Ok(more.downcast().ok().map(|more| *more))
    }

    /// Whether several threads may read the lines of a large file.
    #[inline]
    pub(in crate::ingest) fn may_share(&self) -> bool {
        self.threads > 1
    }

    /// Whether it has turned out to be large enough for that, and they have not started.
    pub(in crate::ingest) fn is_large(&self) -> bool {
        self.read >= LARGE && self.threads > 1 && matches!(self.bytes, Some(Bytes::Alone(_)))
    }

    /// Lets other threads read lines, too; each in a way of its own, by its number.
    pub(in crate::ingest) fn share(&mut self, understand: impl Fn(usize) -> Understand) {
        self.bytes = match self.bytes.take() {
            Some(Bytes::Alone(bytes)) => {
                let (ready, threads) = (bytes.buffer().to_vec(), self.threads);
                let lines = Lines::new(bytes.into_inner(), ready, threads, understand);
                Some(Bytes::Shared(Box::new(lines)))
            }
            other => other,
        };
    }

    /// What the next lines came to, where another thread has read them.
    ///
    /// # Errors
    /// When the input fails.
    pub(in crate::ingest) fn part(&mut self) -> Result<Option<Part>, IngestError> {
        let Some(Bytes::Shared(lines)) = &mut self.bytes else { return Ok(None) };
        match lines.part() {
            Ok(Some((part, lines))) => {
                let before = self.lines;
                self.lines += lines;
                Ok(Some(Part { before, ..part }))
            }
            Ok(None) => Ok(None),
            Err(error) => Err(self.failed(error).line(self.lines + 1)),
        }
    }

    /// Lines mean something else from here on: whatever other threads make of them is not used.
    pub(in crate::ingest) fn read_alone(&mut self) {
        if let Some(Bytes::Shared(lines)) = &mut self.bytes {
            lines.read_alone();
        }
    }
}
