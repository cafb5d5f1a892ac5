//! Guesses at what happened to kernels that only one side has: renamed, fused, split.
//!
//! A guess with a stated confidence, from time, launches, place in the run, grid, category,
//! operator and the words of the names. Confident guesses without a rival are compared as one kernel.

use super::both::Both;
use super::evidence::{Lone, Proposal, ProposalKind};
use super::family::written;
use super::pairing::Pair;
use super::run::RunKernel;
use super::sides::Joined;
use crate::units::{Factor, Probability, Seconds, Share};

/// Key of the category of names that say nothing.
const UNKNOWN: &str = "unknown";
/// Number of kernels per side that guesses consider: those with the most time.
const LOOKED_AT: usize = 64;
/// Smallest confidence of a guess that is shown.
const SHOWN_CONFIDENCE: Probability = Probability::new(0.5);
/// A guess is sure from here on: as many launches at one place and most of what else can speak for it.
const SURE: Probability = Probability::new(0.6);
/// A guess is not sure if another one about the same kernels comes as near as this.
const AHEAD: f64 = 0.1;
/// Largest confidence of a guess: names and times are never certain.
const SUREST: Probability = Probability::new(0.95);
/// Most kernels of one fusion: longer chains share too few words with the result.
const FUSED: usize = 6;
/// Launch counts are equal if they differ by less than 7%: `1 - ln 1.07 / ln 2 = 0.9`.
const AS_MANY: f64 = 0.9;
/// Part of a run within which two kernels are at the same position: one layer of twenty.
const SAME_PLACE: f64 = 0.05;
/// Share of its words that a fused kernel has in common with the result, unless it has no
/// distinctive words.
const COVERED: f64 = 0.34;
/// Time of a fused kernel relative to its parts.
const FUSED_TIME: std::ops::RangeInclusive<f64> = 0.2..=2.0;
/// A fusion saves time; within 5% it is noise.
const NO_LONGER: f64 = 1.05;

/// Weights of the evidence for a rename, set by judgment. Equal launch counts alone are not enough:
/// time or name must agree, and only full agreement is near-certain.
mod renamed {
    pub(super) const AS_MANY_LAUNCHES: f64 = 0.15;
    pub(super) const TIME: f64 = 0.25;
    pub(super) const NAME: f64 = 0.25;
    pub(super) const SHAPE: f64 = 0.15;
    pub(super) const PLACE: f64 = 0.1;
    pub(super) const OPERATOR: f64 = 0.1;
    /// Nothing else went or came at the place with as many launches: whatever it is called, it is what
    /// runs there now.
    pub(super) const ONLY: f64 = 0.2;
}

/// Weights of the evidence for a fusion: same position, common words, no time lost.
mod fused {
    pub(super) const PLACE: f64 = 0.3;
    pub(super) const NAME: f64 = 0.4;
    pub(super) const TIME: f64 = 0.2;
    /// No other kernel came there.
    pub(super) const ONLY: f64 = 0.2;
}

/// A kernel with its identifying traits.
struct Trait<'a> {
    at: usize,
    lone: &'a Lone,
    words: Vec<String>,
    grid: &'a str,
    /// Position of its first launch among those of the kernels that both sides have.
    place: Share,
}

/// Several kernels of one side that may be one kernel of the other.
struct Fusion<'a, 'b> {
    parts: Vec<&'b Trait<'a>>,
    /// Time of the parts together, and of the other kernel.
    parts_s: Seconds,
    whole_s: Seconds,
    confidence: Probability,
    why: String,
}

impl Fusion<'_, '_> {
    fn places(&self) -> Vec<usize> {
        self.parts.iter().map(|part| part.at).collect()
    }

    /// Whether no part may be another kernel than the one these kernels became.
    fn is_only(
        &self,
        others: &[Trait<'_>],
        is_for: impl Fn(&Trait<'_>, &Trait<'_>) -> bool,
    ) -> bool {
        let of = |part: &&Trait<'_>| others.iter().filter(|other| is_for(part, other)).count();
        self.parts.iter().all(|part| of(part) <= 1)
    }
}

/// Proposes what happened to the vanished kernels, highest confidence first; no kernel is in two
/// guesses. `lone` are the vanished and the new kernels.
pub(super) fn propose(
    sides: Both<&Joined<'_>>,
    lone: Both<&[Lone]>,
    pairs: &[Pair],
    work: Factor,
) -> Vec<Proposal> {
    let of = |pair: fn(&Pair) -> &[usize]| pairs.iter().map(pair).collect::<Vec<_>>();
    let old = traits(sides.before, lone.before, &of(|pair| &pair.before));
    let new = traits(sides.after, lone.after, &of(|pair| &pair.after));
    let mut guesses = Vec::new();
    for one in &old {
        guesses.extend(new.iter().filter_map(|two| {
            let guess = rename(one, two, work.get())?;
            let of_old = old.iter().filter(|old| is_for(old, two, work.get())).count();
            let of_new = new.iter().filter(|new| is_for(one, new, work.get())).count();
            let is_only = is_for(one, two, work.get()) && of_old == 1 && of_new == 1;
            Some(if is_only { only(guess, renamed::ONLY) } else { guess })
        }));
    }
    for two in &new {
        guesses.extend(fusion(&old, two, work.get(), |ratio| ratio).map(|fusion| {
            let is_only = fusion.is_only(&new, |part, new| is_for(part, new, work.get()));
            let guess = Proposal {
                kind: ProposalKind::Fusion,
                before: fusion.places(),
                after: vec![two.at],
                before_s: fusion.parts_s,
                after_s: fusion.whole_s,
                confidence: fusion.confidence,
                why: fusion.why,
                is_sure: false,
            };
            if is_only { only(guess, fused::ONLY) } else { guess }
        }));
    }
    for one in &old {
        guesses.extend(fusion(&new, one, 1.0 / work.get(), f64::recip).map(|fusion| {
            let is_only = fusion.is_only(&old, |part, old| is_for(old, part, work.get()));
            let guess = Proposal {
                kind: ProposalKind::Split,
                before: vec![one.at],
                after: fusion.places(),
                before_s: fusion.whole_s,
                after_s: fusion.parts_s,
                confidence: fusion.confidence,
                why: fusion.why,
                is_sure: false,
            };
            if is_only { only(guess, fused::ONLY) } else { guess }
        }));
    }
    surest(guesses, lone.map(<[Lone]>::len))
}

/// Whether a new kernel runs as often as one that vanished, at its place.
fn is_for(old: &Trait<'_>, new: &Trait<'_>, work: f64) -> bool {
    let launches = (old.lone.measured.launches * work, new.lone.measured.launches);
    nearness(launches.0, launches.1) >= AS_MANY && (is_there(old, new) || same_operator(old, new))
}

/// A guess to which there is no other.
fn only(guess: Proposal, more: f64) -> Proposal {
    let confidence = Probability::new(guess.confidence.get() + more).min(SUREST);
    let why = format!("{}, and nothing else came or went there", guess.why);
    Proposal { confidence, why, ..guess }
}

/// Returns the guesses to show, highest confidence first, each kernel only once.
fn surest(mut guesses: Vec<Proposal>, kernels: Both<usize>) -> Vec<Proposal> {
    guesses.retain(|guess| guess.confidence >= SHOWN_CONFIDENCE);
    guesses.sort_by(|one, two| {
        let by_confidence = two.confidence.total_cmp(&one.confidence);
        by_confidence.then_with(|| (&one.before, &one.after).cmp(&(&two.before, &two.after)))
    });
    let mut used = kernels.map(|count| vec![false; count]);
    let mut kept: Vec<Proposal> = Vec::new();
    for (at, guess) in guesses.iter().enumerate() {
        let rivals = guesses.iter().enumerate().filter(|(other, _)| *other != at);
        let nearest = rivals
            .filter(|(_, rival)| {
                rival.before.iter().any(|at| guess.before.contains(at))
                    || rival.after.iter().any(|at| guess.after.contains(at))
            })
            .map(|(_, rival)| rival.confidence.get())
            .fold(0.0, f64::max);
        let is_sure = guess.confidence >= SURE && guess.confidence.get() >= nearest + AHEAD;
        let free = guess.before.iter().all(|at| !used.before[*at])
            && guess.after.iter().all(|at| !used.after[*at]);
        if free {
            guess.before.iter().for_each(|at| used.before[*at] = true);
            guess.after.iter().for_each(|at| used.after[*at] = true);
            kept.push(Proposal { is_sure, ..guess.clone() });
        }
    }
    kept
}

/// What is known of the kernels of one side; `paired` are those that the other side has too, between which
/// they stand: how many launches there are in all may differ.
fn traits<'a>(runs: &Joined<'_>, lone: &'a [Lone], paired: &[&[usize]]) -> Vec<Trait<'a>> {
    let first = |kernels: &[&RunKernel]| kernels.iter().map(|kernel| kernel.rows[0]).min();
    let paired: Vec<Vec<Option<u64>>> = paired
        .iter()
        .map(|positions| runs.of(positions).by_run.iter().map(|run| first(run)).collect())
        .collect();
    let of = |(at, lone): (usize, &'a Lone)| {
        let group = runs.of(&[lone.kernel]);
        let mut there = group.by_run.iter().enumerate();
        let there = there.find_map(|(run, kernels)| Some((run, first(kernels)?)));
        let place = there.map_or(Share::ZERO, |(run, row)| {
            let before = paired.iter().filter(|pair| pair[run].is_some_and(|first| first < row));
            Share::new(before.count() as f64 / paired.len().max(1) as f64)
        });
        let shape = lone.measured.shape.as_str();
        let name = written(&lone.measured.full_name, &lone.name);
        Trait { at, lone, words: words(name), grid: shape, place }
    };
    lone.iter().enumerate().take(LOOKED_AT).map(of).collect()
}

/// Returns the distinctive words of a name: lower case, without numbers and generic words; all words
/// if none are distinctive.
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
    if words.is_empty() {
        let all = name.split(|c: char| !c.is_ascii_alphanumeric());
        words = all.filter(|word| !word.is_empty()).map(str::to_ascii_lowercase).collect();
    }
    words.sort_unstable();
    words.dedup();
    words
}

/// Returns how close two positive numbers are: 1 if equal, 0 from a factor of 2.
fn nearness(one: f64, two: f64) -> f64 {
    if one <= 0.0 || two <= 0.0 {
        return 0.0;
    }
    (1.0 - (one / two).ln().abs() / std::f64::consts::LN_2).max(0.0)
}

/// Returns the share of words that both names have.
fn likeness(one: &[String], two: &[String]) -> f64 {
    let shared = one.iter().filter(|word| two.contains(word)).count();
    let all = one.len() + two.len() - shared;
    if all == 0 { 0.0 } else { shared as f64 / all as f64 }
}

fn is_there(one: &Trait<'_>, two: &Trait<'_>) -> bool {
    (one.place - two.place).abs().get() < SAME_PLACE
}

fn same_operator(one: &Trait<'_>, two: &Trait<'_>) -> bool {
    one.lone.measured.operator.is_some() && one.lone.measured.operator == two.lone.measured.operator
}

/// Proposes a rename.
fn rename(one: &Trait<'_>, two: &Trait<'_>, work: f64) -> Option<Proposal> {
    let (before, after) = (&one.lone.measured, &two.lone.measured);
    let launches = nearness(before.launches * work, after.launches);
    // A kernel without a duration may be any.
    let [launch_before, launch_after] = [before.launch_s?, after.launch_s?];
    let time = nearness(launch_before.get(), launch_after.get());
    // As many launches, and neither twice as fast nor twice as slow: else it is another kernel.
    let is_alike = before.category == after.category
        || [&before.category, &after.category].into_iter().any(|category| category == UNKNOWN);
    if launches < AS_MANY || time == 0.0 || !is_alike {
        return None;
    }
    let name = likeness(&one.words, &two.words);
    let shape = !one.grid.is_empty() && one.grid == two.grid;
    let place = is_there(one, two);
    let operator = same_operator(one, two);
    let counts = |holds: bool| f64::from(u8::from(holds));
    let confidence = renamed::AS_MANY_LAUNCHES
        + renamed::TIME * time
        + renamed::NAME * name
        + renamed::SHAPE * counts(shape)
        + renamed::PLACE * counts(place)
        + renamed::OPERATOR * counts(operator);
    let mut why = vec!["same number of launches".to_owned()];
    why.push(format!("{:.0}% of the time", launch_after / launch_before * 100.0));
    if shape {
        why.push("same grid and block".to_owned());
    }
    if place {
        why.push("same position in the run".to_owned());
    }
    if operator {
        why.push("same operator".to_owned());
    }
    if name > 0.0 {
        why.push(format!("{:.0}% of the words in the names", name * 100.0));
    }
    Some(Proposal {
        kind: ProposalKind::Rename,
        before: vec![one.at],
        after: vec![two.at],
        confidence: Probability::new(confidence).min(SUREST),
        why: why.join(", "),
        before_s: before.time_s?,
        after_s: after.time_s?,
        is_sure: false,
    })
}

/// Proposes the kernels that may have been fused into `whole`: same number of launches, same
/// position, common words, and together between half and five times its
/// time. `change` makes the change of the time of the ratio of the whole to its parts: in a split the parts come later.
fn fusion<'a, 'b>(
    parts: &'b [Trait<'a>],
    whole: &Trait<'_>,
    work: f64,
    change: fn(f64) -> f64,
) -> Option<Fusion<'a, 'b>> {
    let mut fitting: Vec<(&Trait<'_>, f64)> = parts
        .iter()
        .filter_map(|part| {
            let same = nearness(part.lone.measured.launches * work, whole.lone.measured.launches);
            let shared = part.words.iter().filter(|word| whole.words.contains(word)).count();
            let covered = shared as f64 / part.words.len().max(1) as f64;
            let near = is_there(part, whole) || same_operator(part, whole);
            (same >= AS_MANY && near && covered >= COVERED).then_some((part, covered))
        })
        .collect();
    fitting.sort_by(|one, two| two.1.total_cmp(&one.1).then(one.0.at.cmp(&two.0.at)));
    fitting.truncate(FUSED);
    if fitting.len() < 2 {
        return None;
    }
    let parts_s: Seconds =
        fitting.iter().map(|(part, _)| part.lone.measured.time_s).sum::<Option<Seconds>>()?;
    let whole_s = whole.lone.measured.time_s?;
    let ratio = whole_s / (parts_s * work);
    if !FUSED_TIME.contains(&ratio) {
        return None;
    }
    let covered = fitting.iter().map(|(_, covered)| covered).sum::<f64>() / fitting.len() as f64;
    let after = change(ratio);
    let faster = if after <= NO_LONGER { fused::TIME } else { 0.0 };
    let confidence = Probability::new(fused::PLACE + fused::NAME * covered + faster).min(SUREST);
    let why = format!(
        "same number of launches, same position in the run, {:.0}% of the words in the names, \
         {:.0}% of the time",
        covered * 100.0,
        after * 100.0
    );
    let mut parts: Vec<&Trait<'_>> = fitting.into_iter().map(|(part, _)| part).collect();
    parts.sort_by_key(|part| part.at);
    Some(Fusion { parts, parts_s, whole_s, confidence, why })
}

#[cfg(test)]
mod tests {
    use super::super::evidence::Measured;
    use super::*;

    /// Ten launches of so many milliseconds together.
    fn lone(name: &str, milliseconds: f64) -> Lone {
        let time_s = Some(Seconds::new(milliseconds * 1e-3));
        let launch_s = time_s.map(|time| time / 10.0);
        let measured = Measured { launches: 10.0, time_s, launch_s, ..Measured::default() };
        Lone { kernel: 0, name: name.to_owned(), measured }
    }

    fn looked_at(at: usize, lone: &Lone) -> Trait<'_> {
        let (words, grid) = (words(&lone.name), lone.measured.shape.as_str());
        Trait { at, lone, words, grid, place: Share::ZERO }
    }

    fn near(found: Probability, expected: f64) -> bool {
        (found.get() - expected).abs() < 1e-12
    }

    #[test]
    fn what_every_kernel_is_called_tells_nothing() {
        assert_eq!(
            words("void at::native::Vectorized_add_kernel<4, float>"),
            ["add", "vectorized"]
        );
        assert_eq!(words("triton_poi_fused_add_add_7"), ["add"]);
    }

    /// On a logarithmic scale the square root of 2 is half way to 2.
    #[test]
    fn nearness_falls_to_nothing_at_a_factor_of_two() {
        assert_eq!((nearness(3.0, 3.0), nearness(1.0, 2.0), nearness(8.0, 1.0)), (1.0, 0.0, 0.0));
        assert!((nearness(1.0, 2_f64.sqrt()) - 0.5).abs() < 1e-12);
        assert_eq!((nearness(0.0, 1.0), nearness(1.0, 0.0)), (0.0, 0.0));
    }

    /// 0.15 for launches, 0.25 for time, a third of 0.25 for one word of three, 0.1 for the place; the grid
    /// brings 0.15 more, and nothing is surer than 0.95.
    #[test]
    fn what_speaks_for_a_rename_adds_up() {
        let (one, two) = (lone("row_softmax", 2.0), lone("warp_softmax", 2.0));
        let found = rename(&looked_at(0, &one), &looked_at(1, &two), 1.0).unwrap();
        assert!(near(found.confidence, 0.15 + 0.25 + 0.25 / 3.0 + 0.1), "{found:?}");
        assert!(
            found.why.ends_with("position in the run, 33% of the words in the names"),
            "{found:?}"
        );
        let shaped = |name: &str| {
            let mut one = lone(name, 2.0);
            one.measured.shape = "8 / 256".to_owned();
            one
        };
        let (one, two) = (shaped("row_softmax"), shaped("warp_softmax"));
        let found = rename(&looked_at(0, &one), &looked_at(1, &two), 1.0).unwrap();
        assert!(near(found.confidence, 0.65 + 0.25 / 3.0), "{found:?}");
        let mut same = shaped("row_softmax");
        same.measured.operator = Some("softmax".to_owned());
        let found = rename(&looked_at(0, &same), &looked_at(1, &same), 1.0).unwrap();
        assert_eq!(found.confidence, SUREST);
    }

    #[test]
    fn another_kernel_is_no_rename() {
        let one = lone("row_softmax", 2.0);
        let is_rename =
            |two: &Lone, work| rename(&looked_at(0, &one), &looked_at(0, two), work).is_some();
        let changed = |change: fn(&mut Measured)| {
            let mut two = lone("warp_softmax", 2.0);
            change(&mut two.measured);
            two
        };
        assert!(is_rename(&changed(|_| {}), 1.0));
        assert!(!is_rename(
            &changed(|two| two.launch_s = two.launch_s.map(|time| time * 2.0)),
            1.0
        ));
        assert!(!is_rename(&changed(|two| (two.time_s, two.launch_s) = (None, None)), 1.0));
        assert!(!is_rename(&changed(|two| two.category = "copy".to_owned()), 1.0));
        // 8% more launches, unless all of the run has them.
        let more = changed(|two| two.launches = 10.8);
        assert!(!is_rename(&more, 1.0) && is_rename(&more, 1.08));
    }

    /// Two kernels of 1 ms each with all their words in the third: 0.3 + 0.4, and 0.2 if no time is lost.
    #[test]
    fn kernels_whose_words_and_time_the_next_one_has_were_fused() {
        let (scale, mask, copy) = (lone("scale", 1.0), lone("mask", 1.0), lone("copy", 1.0));
        let parts = [looked_at(0, &scale), looked_at(1, &copy), looked_at(2, &mask)];
        let fused = |milliseconds: f64| {
            let whole = lone("scale_mask_softmax", milliseconds);
            let found = fusion(&parts, &looked_at(0, &whole), 1.0, |ratio| ratio)?;
            Some((found.places(), (found.confidence.get() * 100.0).round()))
        };
        assert_eq!(fused(1.5), Some((vec![0, 2], 90.0)));
        assert_eq!(fused(2.2), Some((vec![0, 2], 70.0)));
        // Without a duration of a part nobody knows whether the times fit.
        let mut untimed = lone("mask", 1.0);
        untimed.measured.time_s = None;
        let whole = lone("scale_mask_softmax", 1.5);
        let with = [looked_at(0, &scale), looked_at(1, &untimed)];
        assert!(fusion(&with, &looked_at(0, &whole), 1.0, |ratio| ratio).is_none());
        // More than twice as long, or less than a fifth, is something else.
        assert_eq!((fused(4.1), fused(0.39)), (None, None));
        let whole = lone("scale_mask_softmax", 1.0);
        assert!(
            fusion(&parts[..2], &looked_at(0, &whole), 1.0, |ratio| ratio).is_none(),
            "one part is a rename"
        );
    }

    #[test]
    fn a_kernel_is_in_the_surest_guess_only() {
        let guess = |before: usize, after: usize, confidence: f64| Proposal {
            is_sure: false,
            kind: ProposalKind::Rename,
            before: vec![before],
            after: vec![after],
            confidence: Probability::new(confidence),
            why: String::new(),
            before_s: Seconds::ZERO,
            after_s: Seconds::ZERO,
        };
        let guesses = vec![guess(0, 0, 0.6), guess(0, 1, 0.9), guess(1, 0, 0.49), guess(2, 0, 0.5)];
        let kept = surest(guesses, Both { before: 3, after: 2 });
        let kept: Vec<(usize, usize)> =
            kept.iter().map(|guess| (guess.before[0], guess.after[0])).collect();
        assert_eq!(kept, [(0, 1), (2, 0)]);
    }
}
