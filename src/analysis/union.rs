//! Unions of intervals of time, in nanoseconds: a moment counts once.

/// The union of intervals in order of their starts; its own do not touch.
pub(super) fn union(intervals: impl IntoIterator<Item = (u64, u64)>) -> Vec<(u64, u64)> {
    let mut union: Vec<(u64, u64)> = Vec::new();
    for (start, end) in intervals.into_iter().filter(|(start, end)| end > start) {
        match union.last_mut() {
            Some((_, last)) if start <= *last => *last = end.max(*last),
            _ => union.push((start, end)),
        }
    }
    union
}

/// The length of a union.
pub(super) fn length(union: &[(u64, u64)]) -> u64 {
    union.iter().map(|(start, end)| end - start).sum()
}

/// How much of a union lies between two times.
pub(super) fn within(union: &[(u64, u64)], start: u64, end: u64) -> u64 {
    let first = union.partition_point(|(_, over)| *over <= start);
    let inside = union[first..].iter().take_while(|(begin, _)| *begin < end);
    inside.map(|(begin, over)| over.min(&end) - begin.max(&start)).sum()
}
