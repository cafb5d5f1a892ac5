//! Steps of a training loop: ranges that are named like one and repeat on a thread.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use super::database::{Database, Failure, STRINGS, integer, text};
use super::ranges::RANGES;
use super::slots::process;
use crate::ingest::timeline::Annotated;

/// Words of which the name of a step is made, and those of which it has one at least.
const AROUND: [&str; 2] = ["train", "training"];
const STEPS: [&str; 7] =
    ["step", "iteration", "iter", "profilerstep", "trainstep", "trainingstep", "trainiteration"];

/// Ranges of one thread, and ranges that may end on another; each recorded, and read from a text.
const KINDS: [i64; 4] = [59, 60, 70, 71];

/// A range that is named like a step: its number, if it has one, start and end.
type Named = (Option<u64>, i64, i64);

/// The steps of a thread of a process.
pub(super) struct OfThread {
    pub(super) thread: i64,
    /// The time of all of its ranges, in nanoseconds.
    time: i64,
    pub(super) steps: Vec<Annotated>,
}

/// The steps of each process, of all threads that have some: those whose ranges take the most time first.
pub(super) fn annotated(database: &Database) -> Result<BTreeMap<i64, Vec<OfThread>>, Failure> {
    let mut steps: BTreeMap<i64, Vec<OfThread>> = BTreeMap::new();
    for ((thread, _), ranges) in named(database)? {
        let Some(annotated) = in_turn(ranges) else { continue };
        let times = annotated.iter().map(|step| step.end.saturating_sub(step.start));
        let time = times.fold(0, i64::saturating_add);
        let of = steps.entry(process(thread)).or_default();
        of.push(OfThread { thread, time, steps: annotated });
    }
    for of in steps.values_mut() {
        of.sort_by_key(|one| Reverse(one.time));
    }
    Ok(steps)
}

/// Ranges that are named like a step, by their thread and their name without its number.
fn named(database: &Database) -> Result<BTreeMap<(i64, String), Vec<Named>>, Failure> {
    let mut named: BTreeMap<(i64, String), Vec<Named>> = BTreeMap::new();
    if !database.has(RANGES) {
        return Ok(named);
    }
    let mut texts: HashMap<i64, (String, Option<u64>)> = HashMap::new();
    database.each(STRINGS, ["id", "value"], |[id, value]| {
        let id_and_name = integer(id).zip(text(value).and_then(step));
        texts.extend(id_and_name);
        Ok(())
    })?;
    let columns = ["eventType", "globalTid", "start", "end", "text", "textId"];
    database.each(RANGES, columns, |[kind, thread, start, end, words, id]| {
        let [kind, thread, start, end, id] = [kind, thread, start, end, id].map(integer);
        let (true, Some(thread), Some(start), Some(end)) =
            (kind.is_some_and(|kind| KINDS.contains(&kind)), thread, start, end)
        else {
            return Ok(());
        };
        let found = match text(words) {
            Some(words) => step(words),
            None => id.and_then(|id| texts.get(&id).cloned()),
        };
        if let Some((name, number)) = found.filter(|_| end > start) {
            named.entry((thread, name)).or_default().push((number, start, end));
        }
        Ok(())
    })?;
    Ok(named)
}

/// Steps that follow each other, with the numbers of their names, or counted from 0.
fn in_turn(mut ranges: Vec<Named>) -> Option<Vec<Annotated>> {
    ranges.sort_by_key(|(_, start, _)| *start);
    let follow = ranges.windows(2).all(|pair| pair[0].2 <= pair[1].1);
    if ranges.len() < 2 || !follow {
        return None;
    }
    let mut numbers: Vec<u64> = ranges.iter().filter_map(|(number, ..)| *number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let are_numbered = numbers.len() == ranges.len();
    let step = |(at, (number, start, end)): (u64, &Named)| Annotated {
        number: number.filter(|_| are_numbered).unwrap_or(at),
        start: *start,
        end: *end,
    };
    Some((0_u64..).zip(&ranges).map(step).collect())
}

/// A name like `ProfilerStep#3`, `Iteration 12` or `train_step` without its number, and the number.
fn step(name: &[u8]) -> Option<(String, Option<u64>)> {
    /// No name of a step is longer.
    const LONGEST: usize = 40;
    let name = std::str::from_utf8(name).ok().filter(|name| name.len() <= LONGEST)?;
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = name[bare.len()..].parse().ok();
    let bare = bare.to_ascii_lowercase();
    let words = || bare.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let is_step = words().any(|word| STEPS.contains(&word))
        && words().all(|word| STEPS.contains(&word) || AROUND.contains(&word));
    is_step.then(|| (words().collect::<Vec<_>>().join(" "), number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_known_by_its_name() {
        for (name, expected) in [
            ("ProfilerStep#3", Some(("profilerstep", Some(3)))),
            ("Iteration 12", Some(("iteration", Some(12)))),
            ("step", Some(("step", None))),
            ("train_step: 7", Some(("train step", Some(7)))),
            ("Optimizer.step#SGD.step", None),
            ("time step of the solver", None),
            ("training", None),
            ("steps", None),
        ] {
            let found = step(name.as_bytes());
            let found = found.as_ref().map(|(name, number)| (name.as_str(), *number));
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    fn ranges_that_overlap_or_stand_alone_are_no_steps() {
        assert_eq!(in_turn(vec![(Some(1), 0, 10)]), None);
        assert_eq!(in_turn(vec![(Some(1), 0, 10), (Some(2), 5, 15)]), None);
        let numbers = |ranges| {
            let steps: Vec<Annotated> = in_turn(ranges).unwrap();
            steps.iter().map(|step| step.number).collect::<Vec<_>>()
        };
        assert_eq!(numbers(vec![(Some(8), 20, 30), (Some(7), 0, 10)]), [7, 8]);
        // Numbers that repeat, as those of two epochs, name no step.
        assert_eq!(numbers(vec![(Some(7), 0, 10), (Some(7), 20, 30), (None, 40, 50)]), [0, 1, 2]);
    }
}
