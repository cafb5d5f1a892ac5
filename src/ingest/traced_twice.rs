//! One trace in two forms: the database of Nsight Systems beside tables that `nsys stats` made of it.
//!
//! Tables have no process, and no operators, so launches are not the same to the last figure. But no two runs have all
//! their launches at the same nanoseconds.

use std::collections::HashMap;

use crate::model::{Profile, Profiler, Quantity};
use crate::plain::counted;

/// Fewer launches at the same times are not enough to see that two traces are one.
const FEWEST: usize = 2;

/// A launch in a trace: start since that of the first one, time, both in nanoseconds; blocks, row.
type Ran = (u64, i64, Option<u64>, usize);

/// Leaves out the launches of traces that have those of another in another format, and says so.
pub(super) fn leave_out(profile: &mut Profile) {
    let sources = profile.sources.iter().enumerate();
    let is_trace = |profiler: Profiler| profiler.is_timeline();
    let traces: Vec<usize> =
        sources.filter(|(_, it)| is_trace(it.profiler) && !it.sums).map(|(at, _)| at).collect();
    if traces.len() < 2 {
        return;
    }
    let ran = ran(profile);
    // Traces that begin and end alike are compared, in the order of what they say.
    let mut alike: HashMap<(usize, i64, u64), Vec<usize>> = HashMap::new();
    for source in traces {
        if let (Some(first), Some(last)) = (ran[source].first(), ran[source].last())
            && ran[source].len() >= FEWEST
        {
            alike.entry((ran[source].len(), first.1, last.0)).or_default().push(source);
        }
    }
    let mut gone = vec![false; profile.launches.len()];
    let mut alike: Vec<Vec<usize>> = alike.into_values().filter(|them| them.len() > 1).collect();
    alike.sort_unstable();
    for mut sources in alike {
        // The database says more than the tables: calls, operators, processes.
        sources.sort_by_key(|source| (profile.sources[*source].format != "nsys-sqlite", *source));
        for (at, source) in sources.iter().copied().enumerate() {
            let format = |source: usize| &profile.sources[source].format;
            let first = sources[..at].iter().copied().find(|first| {
                format(*first) != format(source)
                    && !gone[ran[*first][0].3]
                    && ran[*first].iter().zip(&ran[source]).all(|(one, two)| is_same(one, two))
            });
            let Some(first) = first else { continue };
            ran[source].iter().for_each(|(.., row)| gone[*row] = true);
            let launches = ran[source].len() as u64;
            profile.sources[source].repeated += launches;
            let note = format!(
                "{} repeats {}: {} at the same times; counted once",
                profile.sources[source].path,
                profile.sources[first].path,
                counted(launches, "launch", "launches")
            );
            profile.check(note);
        }
    }
    if gone.contains(&true) {
        profile.launches.retain(|row| !gone[row]);
        profile.forget_devices();
    }
}

/// The launches of each source in the order of their start; none where one has no start or no time.
fn ran(profile: &Profile) -> Vec<Vec<Ran>> {
    let mut ran: Vec<Option<Vec<Ran>>> = vec![Some(Vec::new()); profile.sources.len()];
    for row in 0..profile.launches.len() {
        let head = profile.launches.head(row);
        let time = profile.launches.get(row, Quantity::Duration);
        let of_source = &mut ran[usize::from(head.source)];
        match (head.start, time, of_source.as_mut()) {
            (Some(start), Some((time, _)), Some(all)) => {
                all.push((start, (time * 1e9).round() as i64, head.shape.blocks, row));
            }
            _ => *of_source = None,
        }
    }
    let sorted = |ran: Option<Vec<Ran>>| {
        let mut ran = ran.unwrap_or_default();
        ran.sort_unstable();
        // A database counts from 1970, a table from the start of the session.
        let first = ran.first().map_or(0, |first| first.0);
        for one in &mut ran {
            one.0 -= first;
        }
        ran
    };
    ran.into_iter().map(sorted).collect()
}

fn is_same(one: &Ran, two: &Ran) -> bool {
    let differ = one.2.zip(two.2).is_some_and(|(one, two)| one != two);
    (one.0, one.1) == (two.0, two.1) && !differ
}

#[cfg(test)]
mod tests {
    use crate::ingest::{Input, Options, read};

    const OF_DLPROF: &str = "Iteration,Op Name,Device ID,GPU Start Time (ns),GPU Duration (ns),Grid X,Grid Y,Grid Z,Block X,Block Y,Block Z,Long Kernel Name\n";
    const OF_NSYS: &str =
        "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Device,Ctx,Strm,Name\n";

    /// Launches that remain of two traces, each given as starts, times and grids.
    fn left(one: &[(u32, u32, u32)], two: &[(u32, u32, u32)]) -> (usize, Vec<String>) {
        let one = one
            .iter()
            .map(|(start, time, grid)| format!("0,op,0,{start},{time},{grid},1,1,128,1,1,k\n"));
        let two = two.iter().enumerate().map(|(id, (start, time, grid))| {
            format!("{start},{time},{id},{grid},1,1,128,1,1,A100 SXM4 40GB (0),1,7,void k(int)\n")
        });
        let text = |header: &str, rows: Vec<String>| header.to_owned() + &rows.concat();
        let inputs = [
            Input::text("one.csv", &text(OF_DLPROF, one.collect())),
            Input::text("two.csv", &text(OF_NSYS, two.collect())),
        ];
        let profile = read(&inputs, &Options::default()).unwrap();
        (profile.launches.len(), profile.checks)
    }

    #[test]
    fn launches_at_the_same_times_are_those_of_one_run() {
        let trace = [(1_000, 500, 64), (2_000, 700, 32)];
        // Another form counts from another instant.
        let (count, checks) =
            left(&trace, &trace.map(|(start, time, grid)| (start + 5, time, grid)));
        assert_eq!(count, 2);
        assert_eq!(checks, ["two.csv repeats one.csv: 2 launches at the same times; counted once"]);
        for other in [
            [(1_000, 500, 64), (2_001, 700, 32)],
            [(1_000, 500, 64), (2_000, 701, 32)],
            [(1_000, 500, 64), (2_000, 700, 33)],
        ] {
            assert_eq!(left(&trace, &other), (4, Vec::new()), "{other:?}");
        }
        // One launch says too little.
        assert_eq!(left(&trace[..1], &trace[..1]).0, 2);
    }
}
