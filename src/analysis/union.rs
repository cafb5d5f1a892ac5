//! Unions of intervals of time, in nanoseconds: a moment counts once.

/// An interval of time from start to end.
pub(super) type Interval = (u64, u64);

/// The union of intervals in any order, in their place; its own do not touch.
pub(super) fn union(mut intervals: Vec<Interval>) -> Vec<Interval> {
    intervals.sort_unstable();
    intervals.retain(|(start, end)| end > start);
    intervals.dedup_by(|next, last| {
        let touch = next.0 <= last.1;
        if touch {
            last.1 = last.1.max(next.1);
        }
        touch
    });
    intervals
}

/// The union of two unions, one interval after the other.
pub(super) fn both<'a>(
    one: &'a [Interval],
    other: &'a [Interval],
) -> impl Iterator<Item = Interval> + 'a {
    let (mut one, mut other) = (one.iter().copied().peekable(), other.iter().copied().peekable());
    let mut next = move || match (one.peek(), other.peek()) {
        (Some(first), Some(second)) if second < first => other.next(),
        (Some(_), _) => one.next(),
        (None, _) => other.next(),
    };
    let mut open = next();
    std::iter::from_fn(move || {
        let (start, mut end) = open?;
        open = next();
        while let Some((_, further)) = open.filter(|(begin, _)| *begin <= end) {
            end = end.max(further);
            open = next();
        }
        Some((start, end))
    })
}

/// The length of a union.
pub(super) fn length(union: impl IntoIterator<Item = Interval>) -> u64 {
    union.into_iter().map(|(start, end)| end - start).sum()
}

/// How much of a union lies between two times.
pub(super) fn within(union: &[Interval], start: u64, end: u64) -> u64 {
    let first = union.partition_point(|(_, over)| *over <= start);
    let inside = union[first..].iter().take_while(|(begin, _)| *begin < end);
    inside.map(|(begin, over)| over.min(&end) - begin.max(&start)).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Moments that an interval covers are the plain definition.
    fn covered(intervals: &[Interval]) -> Vec<bool> {
        (0..80)
            .map(|at| intervals.iter().any(|(start, end)| (*start..*end).contains(&at)))
            .collect()
    }

    fn intervals() -> impl Strategy<Value = Vec<Interval>> {
        prop::collection::vec(
            (0_u64..60, 0_u64..9).prop_map(|(start, of)| (start, start + of)),
            0..12,
        )
    }

    fn is_apart(union: &[Interval]) -> bool {
        union.windows(2).all(|pair| pair[0].1 < pair[1].0) && union.iter().all(|(a, b)| a < b)
    }

    proptest! {
        #[test]
        fn a_union_covers_what_its_parts_cover(one in intervals(), other in intervals()) {
            let all: Vec<Interval> = one.iter().chain(&other).copied().collect();
            let (one, other) = (union(one), union(other));
            let whole: Vec<Interval> = both(&one, &other).collect();
            prop_assert_eq!(covered(&whole), covered(&all));
            prop_assert_eq!(&whole, &union(all));
            prop_assert!(is_apart(&whole) && is_apart(&one) && is_apart(&other));
            let moments = covered(&whole).iter().filter(|is_in| **is_in).count() as u64;
            prop_assert_eq!(length(whole.iter().copied()), moments);
            let first = covered(&whole)[..20].iter().filter(|is_in| **is_in).count() as u64;
            prop_assert_eq!(within(&whole, 0, 20), first);
        }
    }
}
