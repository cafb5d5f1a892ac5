//! Rows of a table that are read beside the thread that reads the file.
//!
//! A thread reads the rows of a chunk as a file of their own, with all that was known when the threads
//! started. Whatever depends on rows before them, or changes what rows after them mean, is left to the
//! thread that reads the file: it reads the whole chunk again, in its order.

use std::any::Any;

use super::observed::Observed;
use super::part::Part;
use super::{IngestError, Reading};
use crate::model::{Batch, Profile};

/// With more names than this a thread forgets them all: it would hold those of the whole file. In tests a few are
/// many.
const FEW_NAMES: usize = if cfg!(test) { 1 << 6 } else { 1 << 13 };

/// Names that come again are worth more room, up to so many: tens of megabytes for operators with their sizes.
const MOST_NAMES: usize = 8 * FEW_NAMES;

/// After so many chunks in a row that are to be read in order, a thread tries no more.
const MOST_REFUSED: usize = 16;

/// Reads chunks, with a state that remembers what was met.
pub(super) struct Beside<S> {
    thread: usize,
    is_strict: bool,
    make: Box<dyn Fn(&mut Reading<'_>) -> S + Send>,
    known: Option<Known<S>>,
    /// Names that it may remember.
    room: usize,
    refused: usize,
}

struct Known<S> {
    profile: Profile,
    observed: Observed,
    state: S,
    given: [usize; 3],
    /// Launches since it began with no names.
    launches: u64,
}

impl<S> Known<S> {
    /// Whether there are no more names than there is room for, which grows where they come again.
    fn fits(&self, room: &mut usize) -> bool {
        let names = self.profile.names.len();
        let come_again = self.launches as usize > names + names / 4;
        while names >= *room && come_again && *room < MOST_NAMES {
            *room *= 2;
        }
        names < *room
    }
}

impl<S> Beside<S> {
    /// The thread with this number, whose state is made anew whenever it forgets.
    pub(super) fn new(
        thread: usize,
        is_strict: bool,
        make: impl Fn(&mut Reading<'_>) -> S + Send + 'static,
    ) -> Self {
        let make = Box::new(make);
        Self { thread, is_strict, make, known: None, room: FEW_NAMES, refused: 0 }
    }

    /// Reads the rows of a chunk; `None` if they are to be read in order, because one is no row, or
    /// `read` says so.
    pub(super) fn read<M: Any + Send>(
        &mut self,
        read: impl FnOnce(&mut Reading<'_>, &mut S) -> Result<Option<M>, IngestError>,
    ) -> Option<Part> {
        if self.refused == MOST_REFUSED {
            return None;
        }
        self.refused += 1;
        let room = &mut self.room;
        let known = self.known.take().filter(|known| known.fits(room));
        let is_first = known.is_none();
        let mut known = known.unwrap_or_else(|| {
            let mut profile = Profile::default();
            let mut reading = Reading::beside(&mut profile, Observed::default(), self.is_strict);
            let state = (self.make)(&mut reading);
            let observed = reading.observed();
            Known { profile, observed, state, given: [0; 3], launches: 0 }
        });
        let mut reading = Reading::beside(&mut known.profile, known.observed, self.is_strict);
        let more = read(&mut reading, &mut known.state).ok().flatten();
        let is_regular = reading.source.other_lines == 0;
        let counts = [reading.source.rows, reading.source.launches];
        let (skips, idle) = (std::mem::take(&mut reading.source.skips), reading.idle());
        known.observed = reading.observed();
        known.launches += counts[1];
        // What it has learnt of rows that it does not give away, it forgets.
        let more = Box::new(more.filter(|_| is_regular)?);
        let batch = Batch::take(&mut known.profile, &mut known.given);
        (self.known, self.refused) = (Some(known), 0);
        Some(Part { batch, thread: self.thread, is_first, counts, skips, before: 0, idle, more })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(names: usize, launches: u64) -> Known<()> {
        let mut profile = Profile::default();
        for name in 1..names {
            profile.names.id(&format!("kernel {name}"));
        }
        Known { profile, observed: Observed::default(), state: (), given: [0; 3], launches }
    }

    #[test]
    fn names_that_come_again_are_remembered_and_others_are_not() {
        let mut room = FEW_NAMES;
        assert!(known(FEW_NAMES - 1, 1).fits(&mut room));
        let many = 3 * FEW_NAMES;
        assert!(!known(many, many as u64).fits(&mut room));
        assert!(known(many, 2 * many as u64).fits(&mut room));
        assert_eq!(room, 4 * FEW_NAMES);
        assert!(!known(MOST_NAMES, u64::MAX).fits(&mut room));
        assert_eq!(room, MOST_NAMES);
    }
}
