//! Launches without a number in tables where others have one: they are none of those.

use super::Reading;
use super::rows::fields;

/// Launches without a number among others that have one are numbered from here on.
pub(super) const UNNUMBERED: u32 = 1 << 31;

/// So many rows tell whether launches have numbers.
const NUMBERED_ROWS: usize = 1000;

/// Whether a row of the sample below a header with these titles has a number at this place.
pub(super) fn are_numbered(
    reading: &Reading<'_>,
    titles: &[String],
    at: usize,
    delimiter: u8,
) -> bool {
    let rows = reading.sample.lines().map(|line| fields(line, delimiter));
    let mut below = rows.skip_while(|row| row != titles).skip(1).take(NUMBERED_ROWS);
    below.any(|row| row.get(at).is_some_and(|cell| cell.trim().parse::<u32>().is_ok()))
}
