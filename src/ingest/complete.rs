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
    for quantity in known_better(profile, &own, &kept) {
        profile.launches.forget(row, quantity);
    }
    profile.launches.fill(row, &kept);
    add_sides(profile, row, &own);
}

/// Whether a value is the part of a sum that was counted.
pub(super) fn is_part(origin: &Origin) -> bool {
    origin.low >= 1.0 && origin.high.is_infinite()
}

/// Quantities of which the launch has a part, and the other reading the whole or a larger part.
fn known_better(profile: &Profile, own: &Values, others: &Values) -> Vec<Quantity> {
    let known = |(_, value, origin): (Quantity, f64, OriginId)| {
        (value, is_part(profile.origins.get(origin)))
    };
    let is_better = |other: &(Quantity, f64, OriginId)| {
        let Some(mine) = own.all().find(|mine| mine.0 == other.0) else { return false };
        let [(part, is_part), (value, is_also_part)] = [mine, *other].map(known);
        is_part && (!is_also_part || value > part)
    };
    others.all().filter(is_better).map(|(quantity, ..)| quantity).collect()
}

/// Adds up reads and writes of device memory where one of them was counted by each reading.
fn add_sides(profile: &mut Profile, row: usize, own: &Values) {
    let sides = [Quantity::DramReadBytes, Quantity::DramWriteBytes];
    if sides.iter().all(|side| own.get(*side).is_some()) {
        return;
    }
    let [Some((read, of_read)), Some((written, of_written))] =
        sides.map(|side| profile.launches.get(row, side))
    else {
        return;
    };
    let known = profile.launches.get(row, Quantity::DramBytes);
    if known.is_some_and(|(_, origin)| !is_part(profile.origins.get(origin))) {
        return;
    }
    let [one, two] = [of_read, of_written].map(|origin| profile.origins.get(origin));
    let formula = format!("{} + {}", one.formula, two.formula);
    let sum = Origin::new(one.kind.max(two.kind).max(OriginKind::Derived), formula)
        .within(one.low.min(two.low), one.high.max(two.high));
    let origin = profile.origins.id(&sum);
    profile.launches.replace(row, Quantity::DramBytes, read + written, origin);
}

/// Gives a launch values in the place of what it has.
pub(super) fn overrule(profile: &mut Profile, row: usize, values: &Values) {
    let own = profile.launches.values(row);
    let Twice { own: gone, others } = settle(&works(profile, &own), &works(profile, values), true);
    forget(profile, row, &gone);
    let kept = without(values, &others);
    profile.launches.revise(row, &kept);
}

/// What two readings of one launch have together; of what both have the first, but for a smaller part of a sum.
pub(super) fn together(profile: &Profile, one: &Values, two: &Values) -> Values {
    let Twice { own, others } = settle(&works(profile, one), &works(profile, two), false);
    let (own, others) = (without(one, &own), without(two, &others));
    let better = known_better(profile, &own, &others);
    let kept = own.all().filter(|(quantity, ..)| !better.contains(quantity));
    let mut all = Values::default();
    for (quantity, value, origin) in kept.chain(others.all()) {
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

    /// A raw page of one launch, of this process, with these metrics and their units.
    fn page(process: u32, metrics: &[(&str, &str, &str)]) -> String {
        let line = |cell: &dyn Fn(&(&str, &str, &str)) -> String| {
            metrics.iter().map(|metric| [",\"", &cell(metric), "\""].concat()).collect::<String>()
        };
        format!(
            "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\",\
             \"Grid Size\",\"Device\",\"CC\"{}\n{}{}\n\
             0,{process},app,host,k,1,7,\"(128, 1, 1)\",\"(512, 1, 1)\",0,8.0{}\n",
            line(&|metric| metric.0.to_owned()),
            "\"\",".repeat(10) + "\"\"",
            line(&|metric| metric.1.to_owned()),
            line(&|metric| metric.2.to_owned()),
        )
    }

    const TIME: (&str, &str, &str) = ("gpu__time_duration.sum", "ns", "1000000");
    const READ: (&str, &str, &str) = ("dram__bytes_read.sum", "byte", "1000000000");
    const WRITTEN: (&str, &str, &str) = ("dram__bytes_write.sum", "byte", "100000000");
    const BOTH: (&str, &str, &str) = ("dram__bytes.sum", "byte", "1100000000");

    fn op(name: &str) -> String {
        format!("smsp__sass_thread_inst_executed_op_{name}_pred_on.sum")
    }

    /// A quantity of the only launch of two files in either order, with its bounds as factors.
    fn of_two_files(one: &str, two: &str, quantity: Quantity) -> [Option<(f64, f64, f64)>; 2] {
        use crate::ingest::{Input, Options, read};
        [[one, two], [two, one]].map(|texts| {
            let names = ["a.csv", "b.csv"];
            let files = names.iter().zip(texts).map(|(name, text)| Input::text(name, text));
            let profile = read(&files.collect::<Vec<_>>(), &Options::default()).unwrap();
            assert_eq!(profile.launches.len(), 1, "{:?} {:?}", profile.notes, profile.checks);
            let (value, origin) = profile.launch(0).get(quantity)?;
            Some((value, origin.low, origin.high))
        })
    }

    #[test]
    fn sides_of_device_memory_that_two_files_counted_are_added() {
        let bytes = |one: &str, two: &str| of_two_files(one, two, Quantity::DramBytes);
        let whole = [Some((1.1e9, 1.0, 1.0)); 2];
        // One run in two pages, two runs of which one has the time, and the sum beside a side.
        assert_eq!(bytes(&page(7, &[TIME, READ]), &page(7, &[TIME, WRITTEN])), whole);
        assert_eq!(bytes(&page(7, &[TIME, READ]), &page(7, &[WRITTEN])), whole);
        assert_eq!(bytes(&page(7, &[TIME, READ]), &page(8, &[WRITTEN])), whole);
        assert_eq!(bytes(&page(7, &[TIME, READ]), &page(7, &[TIME, BOTH])), whole);
        assert_eq!(
            bytes(&page(7, &[TIME, READ]), &page(7, &[TIME, ("a", "", "1")])),
            [Some((1e9, 1.0, f64::INFINITY)); 2]
        );
    }

    #[test]
    fn parts_of_the_work_that_two_files_counted_are_added() {
        let counts = [op("fadd"), op("fmul"), op("ffma")];
        let [add, mul, fma] =
            [0, 1, 2].map(|at| (counts[at].as_str(), "inst", ["10", "20", "40"][at]));
        let work = |one: &str, two: &str| of_two_files(one, two, Quantity::Work(Pipe::Fp32Vector));
        let whole = [Some((110.0, 1.0, 1.0)); 2];
        assert_eq!(work(&page(7, &[TIME, add, mul]), &page(7, &[TIME, fma])), whole);
        // Of runs that overlap each counter counts once; two of three are a lower bound.
        assert_eq!(work(&page(7, &[TIME, add, mul]), &page(8, &[mul, fma])), whole);
        let part = [Some((90.0, 1.0, f64::INFINITY)); 2];
        assert_eq!(work(&page(7, &[TIME, add]), &page(7, &[TIME, fma])), part);
        let all = page(7, &[TIME, add, mul, fma]);
        assert_eq!(work(&page(7, &[TIME, fma]), &all), whole);
    }
}
