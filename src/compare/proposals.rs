//! What may have become of kernels that only one side has: renamed, fused, split.
//!
//! A guess with a stated confidence, from time, launches, place in the run, grid, category, operator and
//! the words of the names. It never decides about a kernel: the total does, whatever the names.

use super::evidence::{Lone, Proposal, ProposalKind};
use super::sides::Joined;

/// Kernels of a side that are looked at: those with most time. Guesses about the rest would help nobody.
const LOOKED_AT: usize = 64;
/// A guess is worth saying from this confidence on.
const WORTH_SAYING: f64 = 0.5;
/// Kernels that may become one.
const FUSED: usize = 6;

/// A kernel with what speaks for what it is.
struct Trait<'a> {
    at: usize,
    lone: &'a Lone,
    words: Vec<String>,
    grid: &'a str,
    /// Where its launches lie in the run, from 0 to 1: the first, and the last.
    place: (f64, f64),
}

/// Proposes what happened to the vanished kernels, the surest guess first; no kernel is in two guesses.
pub(super) fn propose(
    (before, vanished): (&Joined<'_>, &[Lone]),
    (after, new): (&Joined<'_>, &[Lone]),
    work: f64,
) -> Vec<Proposal> {
    let (old, new) = (traits(before, vanished), traits(after, new));
    let mut guesses = Vec::new();
    for one in &old {
        for two in &new {
            guesses.extend(rename(one, two, work));
        }
    }
    for two in &new {
        guesses.extend(fusion(&old, two, work).map(|(parts, confidence, why)| {
            let of = |at: &&Trait<'_>| at.lone.measured.time_s;
            Proposal {
                kind: ProposalKind::Fusion,
                before: parts.iter().map(|part| part.at).collect(),
                after: vec![two.at],
                confidence,
                why,
                before_s: parts.iter().map(of).sum(),
                after_s: two.lone.measured.time_s,
            }
        }));
    }
    for one in &old {
        guesses.extend(fusion(&new, one, 1.0 / work).map(|(parts, confidence, why)| {
            let of = |at: &&Trait<'_>| at.lone.measured.time_s;
            Proposal {
                kind: ProposalKind::Split,
                before: vec![one.at],
                after: parts.iter().map(|part| part.at).collect(),
                confidence,
                why,
                before_s: one.lone.measured.time_s,
                after_s: parts.iter().map(of).sum(),
            }
        }));
    }
    guesses.retain(|guess| guess.confidence >= WORTH_SAYING);
    guesses.sort_by(|one, two| {
        let by_confidence = two.confidence.total_cmp(&one.confidence);
        by_confidence.then_with(|| (&one.before, &one.after).cmp(&(&two.before, &two.after)))
    });
    let (mut used_before, mut used_after) = (vec![false; vanished.len()], vec![false; new.len()]);
    let mut kept: Vec<Proposal> = Vec::new();
    for guess in guesses {
        let free = guess.before.iter().all(|at| !used_before[*at])
            && guess.after.iter().all(|at| !used_after.get(*at).copied().unwrap_or(true));
        if free {
            guess.before.iter().for_each(|at| used_before[*at] = true);
            guess.after.iter().for_each(|at| used_after[*at] = true);
            kept.push(guess);
        }
    }
    kept
}

fn traits<'a>(runs: &Joined<'_>, lone: &'a [Lone]) -> Vec<Trait<'a>> {
    let ends: Vec<f64> = runs
        .runs
        .iter()
        .map(|run| run.kernels.iter().map(|kernel| kernel.rows[1]).max().unwrap_or(0) as f64 + 1.0)
        .collect();
    let of = |(at, lone): (usize, &'a Lone)| {
        let group = runs.of(&[lone.kernel]);
        let mut places = group.by_run.iter().zip(&ends).flat_map(|(kernels, end)| {
            kernels
                .iter()
                .map(move |kernel| (kernel.rows[0] as f64 / end, kernel.rows[1] as f64 / end))
        });
        let place = places.next().unwrap_or((0.0, 1.0));
        let shape = lone.measured.shape.as_str();
        let full = &lone.measured.full_name;
        let name = if full.is_empty() { &lone.name } else { full };
        Trait { at, lone, words: words(name), grid: shape, place }
    };
    lone.iter().enumerate().take(LOOKED_AT).map(of).collect()
}

/// The telling words of a name: lower case, without numbers and what every kernel is called.
fn words(name: &str) -> Vec<String> {
    const COMMON: [&str; 14] = [
        "void", "kernel", "at", "native", "triton", "poi", "red", "per", "fused", "cuda", "std",
        "const", "int", "float",
    ];
    let mut words: Vec<String> = name
        .split(|c: char| !c.is_ascii_alphabetic())
        .filter(|word| word.len() > 1)
        .map(str::to_ascii_lowercase)
        .filter(|word| !COMMON.contains(&word.as_str()))
        .collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// How near two positive numbers are: 1 where they agree, 0 from a factor of 2 on.
fn nearness(one: f64, two: f64) -> f64 {
    if one <= 0.0 || two <= 0.0 {
        return 0.0;
    }
    (1.0 - (one / two).ln().abs() / std::f64::consts::LN_2).max(0.0)
}

/// Share of the words of both that both have.
fn likeness(one: &[String], two: &[String]) -> f64 {
    let shared = one.iter().filter(|word| two.contains(word)).count();
    let all = one.len() + two.len() - shared;
    if all == 0 { 0.0 } else { shared as f64 / all as f64 }
}

fn is_there(one: &Trait<'_>, two: &Trait<'_>) -> bool {
    (one.place.0 - two.place.0).abs() < 0.05
}

fn same_operator(one: &Trait<'_>, two: &Trait<'_>) -> bool {
    one.lone.measured.operator.is_some() && one.lone.measured.operator == two.lone.measured.operator
}

/// One kernel under another name.
fn rename(one: &Trait<'_>, two: &Trait<'_>, work: f64) -> Option<Proposal> {
    let (before, after) = (&one.lone.measured, &two.lone.measured);
    let launches = nearness(before.launches * work, after.launches);
    let time = nearness(before.launch_s, after.launch_s);
    // As many launches, and neither twice as fast nor twice as slow: else it is another kernel.
    if launches < 0.9 || time == 0.0 || before.category != after.category {
        return None;
    }
    let name = likeness(&one.words, &two.words);
    let shape = !one.grid.is_empty() && one.grid == two.grid;
    let place = is_there(one, two);
    let operator = same_operator(one, two);
    let confidence = 0.15
        + 0.25 * time
        + 0.25 * name
        + 0.15 * f64::from(u8::from(shape))
        + 0.1 * f64::from(u8::from(place))
        + 0.1 * f64::from(u8::from(operator));
    let mut why = vec!["as many launches".to_owned()];
    why.push(format!("{:.0} % as long", after.launch_s / before.launch_s * 100.0));
    if shape {
        why.push("the same grid and block".to_owned());
    }
    if place {
        why.push("at the same place of the run".to_owned());
    }
    if operator {
        why.push("the same operator".to_owned());
    }
    if name > 0.0 {
        why.push(format!("{:.0} % of the words of the names", name * 100.0));
    }
    Some(Proposal {
        kind: ProposalKind::Rename,
        before: vec![one.at],
        after: vec![two.at],
        confidence: confidence.min(0.95),
        why: why.join(", "),
        before_s: before.time_s,
        after_s: after.time_s,
    })
}

/// The kernels that may have become `whole`: as many launches each, at the same place, with words that the
/// whole has too, or none that tell; together they took no less than half of it and no more than five
/// times.
fn fusion<'a, 'b>(
    parts: &'b [Trait<'a>],
    whole: &Trait<'_>,
    work: f64,
) -> Option<(Vec<&'b Trait<'a>>, f64, String)> {
    let mut fitting: Vec<(&Trait<'_>, f64)> = parts
        .iter()
        .filter_map(|part| {
            let same = nearness(part.lone.measured.launches * work, whole.lone.measured.launches);
            let shared = part.words.iter().filter(|word| whole.words.contains(word)).count();
            let covered = shared as f64 / part.words.len().max(1) as f64;
            let near = is_there(part, whole) || same_operator(part, whole);
            (same >= 0.9 && near && covered >= 0.34).then_some((part, covered))
        })
        .collect();
    fitting.sort_by(|one, two| two.1.total_cmp(&one.1).then(one.0.at.cmp(&two.0.at)));
    fitting.truncate(FUSED);
    if fitting.len() < 2 {
        return None;
    }
    let sum: f64 = fitting.iter().map(|(part, _)| part.lone.measured.time_s).sum::<f64>() * work;
    let ratio = whole.lone.measured.time_s / sum;
    if !(0.2..=2.0).contains(&ratio) {
        return None;
    }
    let covered = fitting.iter().map(|(_, covered)| covered).sum::<f64>() / fitting.len() as f64;
    let confidence = (0.3 + 0.4 * covered + if ratio <= 1.05 { 0.2 } else { 0.0 }).min(0.95);
    let why = format!(
        "as many launches, at the same place of the run, {:.0} % of the words of the names, {:.0} % of \
         the time",
        covered * 100.0,
        ratio * 100.0
    );
    let mut parts: Vec<&Trait<'_>> = fitting.into_iter().map(|(part, _)| part).collect();
    parts.sort_by_key(|part| part.at);
    Some((parts, confidence, why))
}
