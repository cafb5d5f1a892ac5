//! Ranks that a run lacks, or that end before those like them, beside another run of the same job.

use super::run::Run;

/// Ranks that a sentence names.
const NAMED: usize = 3;

/// Returns the ranks of a run that another one lacks; none where it has no ranks by name.
fn missing<'a>(part: &Run, whole: &'a Run) -> Vec<&'a str> {
    let is_missing = |rank: &&String| !part.ranks.is_empty() && !part.ranks.contains_key(*rank);
    whole.ranks.keys().filter(is_missing).map(String::as_str).collect()
}

/// Lists ranks: those of a partitioned table have numbers, those of a folder the names of their files.
fn listed(ranks: &[&str]) -> String {
    let more = ranks.len().saturating_sub(NAMED);
    let is_number = ranks.iter().all(|rank| rank.bytes().all(|byte| byte.is_ascii_digit()));
    let word = match ranks.len() {
        _ if !is_number => "",
        1 => "rank ",
        _ => "ranks ",
    };
    let named = format!("{word}{}", ranks[..ranks.len() - more].join(", "));
    if more == 0 { named } else { format!("{named} and {more} more") }
}

/// Says which ranks of another run a run lacks; `None` if it lacks none.
pub(super) fn missing_ranks(part: &Run, whole: &Run) -> Option<String> {
    let missing = missing(part, whole);
    (!missing.is_empty()).then(|| listed(&missing))
}

/// Returns the ranks that a run lacks, where those that it has launch as many kernels as in another run: without a file
/// of each rank the total is not that of the job. A file that is there and is not an export is named as that.
pub(super) fn lost_ranks(part: &Run, whole: &Run) -> Option<String> {
    let missing = missing(part, whole);
    let is_there = |(rank, launches)| whole.ranks.get(rank) == Some(launches);
    if missing.is_empty() || !part.ranks.iter().all(is_there) {
        return None;
    }
    let is_unread = |rank: &&str| part.unread.iter().any(|file| file == rank);
    let (unread, absent): (Vec<&str>, Vec<&str>) = missing.into_iter().partition(is_unread);
    let is_absent = if absent.len() == 1 { "is" } else { "are" };
    let (part, whole) = (&part.label, &whole.label);
    let not_read =
        if unread.len() == 1 { "is not an export and was" } else { "are not exports and were" };
    Some(match (absent.is_empty(), unread.is_empty()) {
        (true, _) => format!(
            "{} in {part} {not_read} left out, unlike in {whole}, whose other ranks {part} has",
            listed(&unread)
        ),
        (false, true) => {
            format!(
                "{} of {whole} {is_absent} missing in {part}, which has the other ranks",
                listed(&absent)
            )
        }
        (false, false) => format!(
            "{} of {whole} {is_absent} missing in {part}, which has the other ranks, and {} there {not_read} left out",
            listed(&absent),
            listed(&unread)
        ),
    })
}

/// Returns the rank of a run that has fewer launches than in another run of as many ranks, while one that had as many
/// there still has them: a change of the program would have changed both.
pub(super) fn cut_rank(part: &Run, whole: &Run) -> Option<String> {
    if part.ranks.len() < 2 || !part.ranks.keys().eq(whole.ranks.keys()) {
        return None;
    }
    let both = || part.ranks.iter().zip(whole.ranks.values());
    let is_whole = |launches: u64| both().any(|((_, now), was)| *was == launches && *now >= *was);
    let ((rank, now), was) = both().find(|((_, now), was)| *now < was && is_whole(**was))?;
    // Ranks of a partitioned table have numbers, those of a folder the names of their files.
    let kind = if rank.bytes().all(|one| one.is_ascii_digit()) { "rank " } else { "" };
    Some(format!(
        "{kind}{rank} of {} has {now} of the {was} launches that it has in {}, and others that had as many have them still",
        part.label, whole.label
    ))
}

#[cfg(test)]
mod tests {
    use super::super::conditions::{cut_off, doubts};
    use super::super::made::{kernel, run};
    use super::*;

    /// Eight ranks of 46 launches, of which one lacks 16; where all lose as many, or those like it too, the program changed.
    #[test]
    fn a_rank_that_ends_before_those_like_it_is_cut_off() {
        let side = |label: &str, launches: [u64; 4]| {
            let ranks = launches.iter().enumerate();
            let ranks = ranks.map(|(rank, launches)| (rank.to_string(), *launches)).collect();
            [Run { ranks, label: label.to_owned(), ..run(vec![kernel("a", &[1e-3])]) }]
        };
        let cut = |before, now| cut_off(&side("main", before), &side("branch", now));
        // Two stages of a pipeline, of two ranks each.
        let whole = [46, 46, 20, 20];
        let says = "rank 1 of branch has 30 of the 46 launches that it has in main, and others that had as many have them still";
        let says = format!("{says}: truncated file?");
        assert_eq!(cut(whole, [46, 30, 20, 20]), Some(says));
        for changed in [[30, 30, 20, 20], [46, 46, 18, 18], [46, 50, 20, 20], whole] {
            assert_eq!(cut(whole, changed), None, "{changed:?}");
        }
        // A baseline that was cut off is a reason to doubt.
        let doubts = doubts(&side("main", [46, 30, 20, 20]), &side("branch", whole));
        assert!(doubts.len() == 1 && doubts[0].starts_with("rank 1 of main has 30"), "{doubts:?}");
        assert!(doubts[0].ends_with("truncated file?"), "{doubts:?}");
    }

    /// Eight files of ranks, of which one is gone, in one run or in all; a job on fewer GPUs launches other kernels.
    #[test]
    fn a_run_without_the_file_of_a_rank_is_not_whole() {
        let side = |label: &str, ranks: &[u64]| {
            let launches = |rank: &u64| if *rank == 9 { 30 } else { 46 };
            let ranks = ranks.iter().map(|rank| (format!("rank-{rank}.csv"), launches(rank)));
            Run {
                ranks: ranks.collect(),
                label: label.to_owned(),
                ..run(vec![kernel("a", &[1e-3])])
            }
        };
        let whole = [side("main", &[0, 1, 2, 3, 4, 5])];
        let cut = |runs: &[Run]| cut_off(&whole, runs);
        let without = |left: &[u64]| side("branch", left);
        let says = Some("rank-2.csv of main is missing in branch, which has the other ranks");
        let one = without(&[0, 1, 3, 4, 5]);
        assert_eq!(cut(std::slice::from_ref(&one)).as_deref(), says);
        assert_eq!(cut(&[one.clone(), one]).as_deref(), says);
        let most = cut(&[without(&[3])]).unwrap();
        assert!(
            most.starts_with(
                "rank-0.csv, rank-1.csv, rank-2.csv and 2 more of main are missing in"
            ),
            "{most}"
        );
        // A file that is there is not missing, but is not read either.
        let unread = |left: &[u64], unread: &str| {
            cut(&[Run { unread: vec!["notes.csv".to_owned(), unread.to_owned()], ..without(left) }])
        };
        let says = "rank-2.csv in branch is not an export and was left out, unlike in main, whose other ranks branch has";
        assert_eq!(unread(&[0, 1, 3, 4, 5], "rank-2.csv").as_deref(), Some(says));
        let says = "rank-1.csv of main is missing in branch, which has the other ranks, and rank-2.csv there is not an export \
                    and was left out";
        assert_eq!(unread(&[0, 3, 4, 5], "rank-2.csv").as_deref(), Some(says));
        // Of other names, with a rank of other launches, and with more of them nothing is lost.
        for other in [&[7, 8][..], &[0, 1, 2, 3, 9], &[0, 1, 2, 3, 4, 5, 6]] {
            assert_eq!(cut(&[without(other)]), None, "{other:?}");
        }
    }
}
