//! What two readings of one launch say together: each quantity once, and the same work in one way only.
//!
//! Work can be stated in two ways at once: counted and computed from shapes, or counted by type of the operands and by
//! instructions of any type. Both would add up to twice the work. Counts take the place of what follows from shapes where
//! they are counts of that work: not where another type was counted, nor where only a bound is known.

use std::cmp::Ordering;

use crate::model::{
    Engine, Origin, OriginId, OriginKind, Pipe, Precision, Profile, Quantity, Values,
};

/// Gives a launch what it lacks; what it has stays, but for what follows from shapes where the other was counted.
pub(super) fn complete(profile: &mut Profile, row: usize, values: &Values) {
    let own = profile.launches.values(row);
    let Twice { own: gone, others } = settle(&works(profile, &own), &works(profile, values), false);
    forget(profile, row, &gone);
    let kept = without(values, &others);
    if is_counted_bytes(profile, &own, &kept) {
        profile.launches.forget(row, Quantity::DramBytes);
    }
    profile.launches.fill(row, &kept);
}

/// Gives a launch values in the place of what it has.
pub(super) fn overrule(profile: &mut Profile, row: usize, values: &Values) {
    let own = profile.launches.values(row);
    let Twice { own: gone, others } = settle(&works(profile, &own), &works(profile, values), true);
    forget(profile, row, &gone);
    let kept = without(values, &others);
    profile.launches.revise(row, &kept);
}

/// What two readings of one launch have together; of what both have the first.
pub(super) fn together(profile: &Profile, one: &Values, two: &Values) -> Values {
    let Twice { own, others } = settle(&works(profile, one), &works(profile, two), false);
    let mut all = without(one, &own);
    for (quantity, value, origin) in without(two, &others).all() {
        // The first value of a quantity stays.
        all.set(quantity, value, origin);
    }
    all
}

/// Whether the other reading counted the bytes that follow from shapes here.
fn is_counted_bytes(profile: &Profile, own: &Values, others: &Values) -> bool {
    let is_from_shapes = |values: &Values| {
        let origin = values.all().find(|(quantity, ..)| *quantity == Quantity::DramBytes)?.2;
        Some(profile.origins.get(origin).kind == OriginKind::Algorithmic)
    };
    is_from_shapes(own) == Some(true) && is_from_shapes(others) == Some(false)
}

fn forget(profile: &mut Profile, row: usize, pipes: &[Pipe]) {
    for pipe in pipes {
        profile.launches.forget(row, Quantity::Work(*pipe));
    }
}

fn without(values: &Values, pipes: &[Pipe]) -> Values {
    let mut kept = Values::default();
    for (quantity, value, origin) in values.all() {
        if !matches!(quantity, Quantity::Work(pipe) if pipes.contains(&pipe)) {
            kept.set(quantity, value, origin);
        }
    }
    kept
}

/// How work is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Known {
    /// Counted by the type of its operands.
    Counted,
    /// Computed from counts.
    Derived,
    /// Within bounds of which one is open.
    Guessed,
    /// From the shapes of operands.
    Stated,
}

impl Known {
    fn of(origin: &Origin) -> Self {
        match origin.kind {
            OriginKind::Algorithmic => Self::Stated,
            _ if origin.low <= 0.0 || origin.high.is_infinite() => Self::Guessed,
            OriginKind::Measured => Self::Counted,
            _ => Self::Derived,
        }
    }
}

/// Whether two values of a quantity are known in the same way: only those have a mean. Counts of matrix work by type differ
/// from what follows from instructions of any type; elsewhere the sum of two columns says what one column says, but not what
/// follows from an assumption.
pub(super) fn are_known_alike(quantity: Quantity, one: &Origin, two: &Origin) -> bool {
    let known = [one, two].map(Known::of);
    let is_matrix = matches!(quantity, Quantity::Work(pipe) if pipe.engine() == Engine::Matrix);
    let are_counts =
        one.kind.max(two.kind) <= OriginKind::Derived && known[0].max(known[1]) <= Known::Derived;
    one.kind == two.kind && known[0] == known[1] || !is_matrix && are_counts
}

/// Work on a pipe.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Work {
    pipe: Pipe,
    known: Known,
    operations: f64,
}

fn works(profile: &Profile, values: &Values) -> Vec<Work> {
    let known = |origin: OriginId| Known::of(profile.origins.get(origin));
    let work = |(quantity, operations, origin)| match quantity {
        Quantity::Work(pipe) => Some(Work { pipe, known: known(origin), operations }),
        _ => None,
    };
    values.all().filter_map(work).collect()
}

/// Pipes of work that is stated in a better way on the other side.
#[derive(Debug, Default, PartialEq, Eq)]
struct Twice {
    own: Vec<Pipe>,
    others: Vec<Pipe>,
}

/// Which work of two sides is stated twice, and on which side it is left out.
fn settle(own: &[Work], others: &[Work], others_win: bool) -> Twice {
    let [of_own, of_others] = [stated(own, others), stated(others, own)];
    let mut twice = Twice {
        own: [of_own.here, of_others.there].concat(),
        others: [of_others.here, of_own.there].concat(),
    };
    let matrix = |works: &[Work]| -> Vec<Work> {
        let counted = works.iter().filter(|work| work.known != Known::Stated);
        counted.filter(|work| work.pipe.engine() == Engine::Matrix).copied().collect()
    };
    let (mine, theirs) = (matrix(own), matrix(others));
    if let Some(is_theirs) = better(&mine, &theirs, others_win) {
        let (gone, worse) =
            if is_theirs { (&mut twice.own, &mine) } else { (&mut twice.others, &theirs) };
        gone.extend(worse.iter().map(|work| work.pipe));
    }
    twice
}

/// Whether the second of two counts of matrix work is the one to take, `None` where they complete each other.
fn better(one: &[Work], two: &[Work], two_wins: bool) -> Option<bool> {
    let best = |works: &[Work]| works.iter().map(|work| work.known).min();
    let (first, second) = best(one).zip(best(two))?;
    let did = |works: &[Work]| works.iter().any(|work| work.operations > 0.0);
    let pipes = |works: &[Work]| works.iter().map(|work| work.pipe).collect::<Vec<Pipe>>();
    match first.cmp(&second) {
        // None of one type, and some of another or of any.
        Ordering::Less if !did(one) && did(two) => Some(true),
        Ordering::Greater if did(one) && !did(two) => Some(false),
        Ordering::Less => Some(false),
        Ordering::Greater => Some(true),
        Ordering::Equal if !did(one) && did(two) && first != Known::Counted => Some(true),
        Ordering::Equal if did(one) && !did(two) && first != Known::Counted => Some(false),
        Ordering::Equal if first == Known::Counted || pipes(one) == pipes(two) => None,
        Ordering::Equal => Some(two_wins),
    }
}

/// What is left out where work is stated on one side.
#[derive(Default)]
struct Left {
    /// Of the side that states it: it was counted.
    here: Vec<Pipe>,
    /// Of the other side: it knows a part of it, or a bound.
    there: Vec<Pipe>,
}

fn stated(works: &[Work], other: &[Work]) -> Left {
    let mut left = Left::default();
    let of = |engine: Engine| other.iter().filter(move |work| work.pipe.engine() == engine);
    let is_counted = |work: &&Work| work.known < Known::Guessed;
    let did = |engine: Engine| of(engine).filter(is_counted).any(|work| work.operations > 0.0);
    for work in works.iter().filter(|work| work.known == Known::Stated) {
        let own_type = |other: &Work| {
            other.pipe.engine() == work.pipe.engine()
                && family(other.pipe.precision()) == family(work.pipe.precision())
        };
        // Half of it or more, wherever it ran.
        let all: f64 = other.iter().filter(is_counted).map(|work| work.operations).sum();
        let is_most = all > 0.0 && all >= work.operations / 2.0;
        let counts = is_most
            || match work.pipe {
                Pipe::Unstated => did(Engine::Matrix),
                // Adding up the product in single precision is not the product.
                pipe => {
                    pipe.engine() == Engine::Matrix && did(Engine::Matrix)
                        || other.iter().filter(is_counted).any(own_type)
                }
            };
        if counts {
            left.here.push(work.pipe);
            continue;
        }
        let is_part = |one: &&Work| {
            one.known == Known::Guessed && one.pipe.engine() == Engine::Matrix
                || work.pipe == Pipe::Unstated && one.known != Known::Stated
        };
        left.there.extend(other.iter().filter(is_part).map(|one| one.pipe));
    }
    left
}

/// Formats that share counters.
fn family(precision: Precision) -> Precision {
    if precision == Precision::Bf16 { Precision::Fp16 } else { precision }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPES: Known = Known::Stated;
    const COUNTED: Known = Known::Counted;
    const DERIVED: Known = Known::Derived;
    const GUESSED: Known = Known::Guessed;

    /// Work on both sides, and what is left out of each.
    type Case<'a> = (&'a [Work], &'a [Work], &'a [Pipe], &'a [Pipe]);

    #[test]
    fn work_is_stated_once() {
        use Pipe::{Bf16Matrix, Fp16Matrix, Fp32Vector, Fp64Vector, Int8Matrix, Unstated};
        let work = |pipe, known, operations| Work { pipe, known, operations };
        let unstated = work(Unstated, SHAPES, 1e9);
        let by_name = work(Fp16Matrix, SHAPES, 1e9);
        let by_type = work(Bf16Matrix, COUNTED, 1e9);
        let by_instruction = work(Fp16Matrix, DERIVED, 1e9);
        let bound = work(Fp16Matrix, GUESSED, 5e8);
        let epilogue = work(Fp32Vector, DERIVED, 1e6);
        let lanes = work(Fp32Vector, SHAPES, 1e9);
        let none_fp64 = work(Fp64Vector, DERIVED, 0.0);
        let none_int8 = work(Int8Matrix, COUNTED, 0.0);
        let cases: [Case; 17] = [
            // Counts take the place of what follows from shapes.
            (&[unstated], &[by_type, epilogue], &[Unstated], &[]),
            (&[by_name], &[by_type], &[Fp16Matrix], &[]),
            (&[by_type], &[by_name], &[], &[Fp16Matrix]),
            (&[lanes], &[epilogue], &[Fp32Vector], &[]),
            (&[unstated], &[work(Fp32Vector, DERIVED, 6e8)], &[Unstated], &[]),
            (&[lanes], &[by_type], &[Fp32Vector], &[]),
            // What was not counted stays, with what was counted beside it, or as a whole.
            (&[by_name], &[epilogue], &[], &[]),
            (&[unstated], &[epilogue], &[], &[Fp32Vector]),
            (&[epilogue], &[unstated], &[Fp32Vector], &[]),
            // None of another type says nothing.
            (&[lanes], &[none_fp64], &[], &[]),
            (&[by_name], &[none_int8], &[], &[]),
            (&[unstated], &[none_int8], &[], &[Int8Matrix]),
            // Nor does a bound.
            (&[by_name], &[bound], &[], &[Fp16Matrix]),
            (&[unstated], &[bound], &[], &[Fp16Matrix]),
            // Counts by type take the place of those of any type.
            (&[by_instruction], &[by_type], &[Fp16Matrix], &[]),
            (&[by_type], &[bound], &[], &[Fp16Matrix]),
            (&[by_type], &[by_type, epilogue], &[], &[]),
        ];
        for (own, others, left_out_of_own, left_out_of_others) in cases {
            let expected =
                Twice { own: left_out_of_own.to_vec(), others: left_out_of_others.to_vec() };
            for others_win in [false, true] {
                assert_eq!(settle(own, others, others_win), expected, "{own:?} {others:?}");
            }
        }
        // Types complete each other; of two kinds of any type one is taken.
        let other = work(Fp16Matrix, COUNTED, 1e9);
        assert_eq!(settle(&[by_type], &[other], true), Twice::default());
        let another = work(Bf16Matrix, DERIVED, 1e9);
        assert_eq!(settle(&[by_instruction], &[another], true).own, [Fp16Matrix]);
        assert_eq!(settle(&[by_instruction], &[another], false).others, [Bf16Matrix]);
        // None of one type is not none of any.
        let none = work(Fp16Matrix, COUNTED, 0.0);
        assert_eq!(settle(&[none], &[by_instruction], false).own, [Fp16Matrix]);
        assert_eq!(settle(&[by_instruction], &[none], true).others, [Fp16Matrix]);
    }
}
