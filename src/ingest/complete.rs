//! What two readings of one launch say together: each quantity once, and the same work in one way only.
//!
//! Work can be stated in two ways at once: counted and computed from shapes, or counted by type of the operands and by
//! instructions of any type. Both would add up to twice the work.

use crate::model::{Engine, OriginKind, Pipe, Profile, Quantity, Values};

/// Gives a launch what it lacks; what it has stays.
pub(super) fn complete(profile: &mut Profile, row: usize, values: &Values) {
    let Twice { own, others } = twice(profile, row, values, false);
    forget(profile, row, &own);
    profile.launches.fill(row, &without(values, &others));
}

/// Gives a launch values in the place of what it has.
pub(super) fn overrule(profile: &mut Profile, row: usize, values: &Values) {
    let Twice { own, others } = twice(profile, row, values, true);
    forget(profile, row, &own);
    profile.launches.revise(row, &without(values, &others));
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

/// Work that is stated in a better way on the other side.
#[derive(Debug, Default, PartialEq, Eq)]
struct Twice {
    own: Vec<Pipe>,
    others: Vec<Pipe>,
}

type Works = Vec<(Pipe, OriginKind)>;

fn twice(profile: &Profile, row: usize, values: &Values, others_win: bool) -> Twice {
    let kind = |origin| profile.origins.get(origin).kind;
    let works = |found: &dyn Fn(Quantity) -> Option<OriginKind>| -> Works {
        Pipe::ALL.iter().filter_map(|pipe| Some((*pipe, found(Quantity::Work(*pipe))?))).collect()
    };
    let own = works(&|quantity| Some(kind(profile.launches.get(row, quantity)?.1)));
    let others = works(&|wanted| {
        let found = values.all().find(|(quantity, ..)| *quantity == wanted)?;
        Some(kind(found.2))
    });
    settle(&own, &others, others_win)
}

/// Which work of two sides is stated twice, and on which side it is left out.
fn settle(own: &Works, others: &Works, others_win: bool) -> Twice {
    let [of_own, of_others] = [computed(own, others), computed(others, own)];
    let mut twice =
        Twice { own: [of_own.0, of_others.1].concat(), others: [of_others.0, of_own.1].concat() };
    let [mine, theirs] = [own, others].map(matrix);
    let pipes = |works: &Works| works.iter().map(|(pipe, _)| *pipe).collect::<Vec<Pipe>>();
    if !mine.is_empty() && !theirs.is_empty() && pipes(&mine) != pipes(&theirs) {
        let best = |works: &Works| works.iter().map(|(_, kind)| *kind).min();
        let is_theirs = match best(&mine).cmp(&best(&theirs)) {
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Equal => others_win,
            std::cmp::Ordering::Greater => true,
        };
        if is_theirs {
            twice.own.extend(pipes(&mine));
        } else {
            twice.others.extend(pipes(&theirs));
        }
    }
    twice
}

/// Work counted on matrix units.
fn matrix(works: &Works) -> Works {
    let counted = works.iter().filter(|(_, kind)| *kind != OriginKind::Algorithmic);
    counted.filter(|(pipe, _)| pipe.engine() == Engine::Matrix).copied().collect()
}

/// Work that one side computes from shapes where the other counts it, and work that the other counts only a part of.
fn computed(works: &Works, other: &Works) -> (Vec<Pipe>, Vec<Pipe>) {
    let counted = || other.iter().filter(|(_, kind)| *kind != OriginKind::Algorithmic);
    let counts_matrix = counted().any(|(pipe, _)| pipe.engine() == Engine::Matrix);
    let counts_vector = counted().any(|(pipe, _)| pipe.engine() == Engine::Vector);
    let (mut here, mut there) = (Vec::new(), Vec::new());
    for (pipe, _) in works.iter().filter(|(_, kind)| *kind == OriginKind::Algorithmic) {
        let is_counted = match pipe {
            // All of the work, wherever it ran.
            Pipe::Unstated => counts_matrix,
            pipe if pipe.engine() == Engine::Matrix => counts_matrix,
            _ => counts_vector,
        };
        if is_counted {
            here.push(*pipe);
        } else if *pipe == Pipe::Unstated {
            there.extend(counted().map(|(pipe, _)| *pipe));
        }
    }
    (here, there)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPES: OriginKind = OriginKind::Algorithmic;
    const COUNTED: OriginKind = OriginKind::Measured;
    const DERIVED: OriginKind = OriginKind::Derived;

    #[test]
    fn work_is_stated_once() {
        let unstated = (Pipe::Unstated, SHAPES);
        let by_name = (Pipe::Fp16Matrix, SHAPES);
        let by_type = (Pipe::Bf16Matrix, COUNTED);
        let by_instruction = (Pipe::Fp16Matrix, DERIVED);
        let epilogue = (Pipe::Fp32Vector, DERIVED);
        let lanes = (Pipe::Fp32Vector, SHAPES);
        for (own, others, left_out_of_own, left_out_of_others) in [
            // Counts take the place of what follows from shapes.
            (vec![unstated], vec![by_type, epilogue], vec![Pipe::Unstated], vec![]),
            (vec![by_name], vec![by_type], vec![Pipe::Fp16Matrix], vec![]),
            (vec![by_type], vec![by_name], vec![], vec![Pipe::Fp16Matrix]),
            (vec![lanes], vec![epilogue], vec![Pipe::Fp32Vector], vec![]),
            // What was not counted stays, with what was counted beside it, or as a whole.
            (vec![by_name], vec![epilogue], vec![], vec![]),
            (vec![unstated], vec![epilogue], vec![], vec![Pipe::Fp32Vector]),
            (vec![epilogue], vec![unstated], vec![Pipe::Fp32Vector], vec![]),
            // Counts by type take the place of those of any type.
            (vec![by_instruction], vec![by_type], vec![Pipe::Fp16Matrix], vec![]),
            (vec![by_type], vec![by_instruction], vec![], vec![Pipe::Fp16Matrix]),
            (vec![by_type], vec![by_type, epilogue], vec![], vec![]),
            (vec![], vec![by_type], vec![], vec![]),
        ] {
            let expected = Twice { own: left_out_of_own, others: left_out_of_others };
            for others_win in [false, true] {
                assert_eq!(settle(&own, &others, others_win), expected, "{own:?} {others:?}");
            }
        }
        // Of two that are as direct as each other the side that wins.
        let other = (Pipe::Fp16Matrix, COUNTED);
        assert_eq!(settle(&vec![by_type], &vec![other], true).own, [Pipe::Bf16Matrix]);
        assert_eq!(settle(&vec![by_type], &vec![other], false).others, [Pipe::Fp16Matrix]);
    }
}
