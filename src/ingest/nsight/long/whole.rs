//! Which rows of a block belong to launches that are whole in it.

use std::ops::Range;

use crate::ingest::Record;
use crate::ingest::nsight::Identity;
use crate::ingest::split::Block;

/// The rows of a block that are whole launches, whatever comes before and after it: from the second
/// launch up to the last. A row has at least and at most so many fields.
pub(super) fn launches_of(
    block: &Block,
    identity: &Identity,
    [shortest, longest]: [usize; 2],
) -> Option<Range<usize>> {
    type Key = [Vec<u8>; 3];
    // A row that is none leaves open which launch the rows beside it belong to.
    let key = |at: usize| -> Option<Key> {
        let mut key = None;
        let take = |record: &Record<'_>| -> Result<(), ()> {
            let [process, id] = identity.number_cells(record);
            let kernel = record.get(identity.kernel).unwrap_or_default();
            let is_row = record.fits(shortest..=longest);
            let is_launch = is_row && identity.key(record).is_some();
            key = is_launch.then(|| [process, id, kernel].map(<[u8]>::to_vec));
            Ok(())
        };
        block.each(at..at + 1, take).ok()?;
        key
    };
    let rows = block.len();
    let end = rows.checked_sub(1)?;
    let (first, last) = (key(0)?, key(end)?);
    let start = (1..rows).find(|at| key(*at).as_ref() != Some(&first))?;
    let end = (start..rows).rfind(|at| key(*at).as_ref() != Some(&last))? + 1;
    (key(start).is_some() && key(end - 1).is_some()).then_some(start..end)
}
