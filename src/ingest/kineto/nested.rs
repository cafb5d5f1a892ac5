//! Events of the CPU that nest on their threads: which of them are around a moment.

/// When an event was, and on which thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) thread: u32,
    /// Nanoseconds, on the clock of the file.
    pub(super) start: i64,
    pub(super) end: i64,
}

impl Span {
    /// Whether two events may be one that was recorded twice, or one within the other: those of a thread nest.
    pub(super) fn may_nest(self, other: Self) -> bool {
        let holds = |one: Self, two: Self| one.start <= two.start && two.end <= one.end;
        self.thread == other.thread && (holds(self, other) || holds(other, self))
    }
}

/// What has a span.
pub(super) trait Spanned {
    /// Its span.
    fn span(&self) -> Span;
}

/// Events by their threads and times.
pub(super) struct Nested<'a, T> {
    events: &'a [T],
    /// Positions of events by thread and start.
    ordered: Vec<u32>,
    /// Of each event the one that encloses it, or [`NONE`].
    parents: Vec<u32>,
}

/// Marks an event that no other encloses.
const NONE: u32 = u32::MAX;

impl<'a, T: Spanned> Nested<'a, T> {
    /// Puts events in order.
    pub(super) fn new(events: &'a [T]) -> Self {
        let mut ordered: Vec<u32> = (0_u32..).zip(events).map(|(at, _)| at).collect();
        ordered.sort_by_key(|at| {
            let span = events[*at as usize].span();
            (span.thread, span.start, std::cmp::Reverse(span.end))
        });
        let mut parents = vec![NONE; events.len()];
        let mut open: Vec<u32> = Vec::new();
        for at in &ordered {
            let span = events[*at as usize].span();
            let is_over = |outer: &u32| {
                let outer = events[*outer as usize].span();
                // One that ends where the next begins is not around it; a moment at its end may be within it.
                let is_next = outer.end == span.start && span.start < span.end;
                outer.thread != span.thread || outer.end < span.start || is_next
            };
            while open.last().is_some_and(is_over) {
                open.pop();
            }
            parents[*at as usize] = open.last().copied().unwrap_or(NONE);
            open.push(*at);
        }
        Self { events, ordered, parents }
    }

    /// The event that encloses another, by position.
    pub(super) fn parent(&self, at: u32) -> Option<u32> {
        Some(self.parents[at as usize]).filter(|parent| *parent != NONE)
    }

    /// Positions of the events around a moment of a thread, from the innermost outwards.
    pub(super) fn around(&self, thread: u32, time: i64) -> impl Iterator<Item = u32> {
        let later = self.ordered.partition_point(|at| {
            let span = self.events[*at as usize].span();
            (span.thread, span.start) <= (thread, time)
        });
        let last = later.checked_sub(1).map(|last| self.ordered[last]);
        let span = |at: &u32| self.events[*at as usize].span();
        std::iter::successors(last, |at| self.parent(*at))
            .take_while(move |at| span(at).thread == thread)
            .filter(move |at| span(at).end >= time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Spanned for Span {
        fn span(&self) -> Span {
            *self
        }
    }

    /// Times of whole microseconds: an event often begins when the one before it ends.
    #[test]
    fn an_event_that_ends_where_another_begins_is_not_around_it() {
        let of = |(start, end): (i64, i64)| Span { thread: 1, start, end };
        let spans = [(0, 40), (0, 10), (10, 20), (12, 12), (20, 20), (20, 30), (40, 40)].map(of);
        let nested = Nested::new(&spans);
        let parents: Vec<Option<u32>> = (0..7).map(|at| nested.parent(at)).collect();
        // A moment at the end of an event may be within it; where another begins, it is within that.
        let expected = [None, Some(0), Some(0), Some(2), Some(5), Some(0), Some(0)];
        assert_eq!(parents, expected);
        let around = |time| nested.around(1, time).collect::<Vec<_>>();
        assert_eq!(around(15), [2, 0]);
        assert_eq!(around(25), [5, 0]);
    }
}
