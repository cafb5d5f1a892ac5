//! One trace in two forms: the database of Nsight Systems beside tables that `nsys stats` made of it.
//!
//! Tables have no process, and no operators, so launches are not the same to the last figure. But no two runs have all
//! their launches, kernel by kernel, at the same nanoseconds. What only one form has, such as counters, goes to the other.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::alike::Alike;
use super::duplicates;
use super::name_forms::identifier;
use super::runs::describe;
use crate::model::{Profile, Profiler, Quantity};
use crate::plain::counted;

/// Fewer launches at the same times are not enough to see that two traces are one.
const FEWEST: usize = 2;

/// As many traces with one outline are compared: there are a few forms of one.
const MOST_ALIKE: usize = 64;

/// With fewer launches the number of the GPU counts, too. It depends on the program, and so forms may differ in it.
const FEW: usize = 8;

/// A launch in a trace: start since that of the first one, time, both in nanoseconds; blocks, row.
type Ran = (u64, i64, Option<u64>, usize);

/// What two traces of one run have in common: launches, nanoseconds from the first start to the last, sum of the times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Outline {
    launches: usize,
    first: u64,
    last: u64,
    times: i64,
}

impl Outline {
    /// The same for traces that count from other instants.
    fn key(self) -> (usize, u64, i64) {
        (self.launches, self.last - self.first, self.times)
    }
}

/// Leaves out the launches of traces that have those of another in another format, and says so.
pub(super) fn leave_out(profile: &mut Profile) {
    let sources = profile.sources.iter().enumerate();
    let is_trace = |profiler: Profiler| profiler.is_timeline();
    let traces: Vec<usize> =
        sources.filter(|(_, it)| is_trace(it.profiler) && !it.sums).map(|(at, _)| at).collect();
    if traces.len() < 2 {
        return;
    }
    let outlines = outlines(profile);
    let mut alike: HashMap<(usize, u64, i64), Vec<usize>> = HashMap::new();
    for source in traces {
        if let Some(outline) = outlines[source].filter(|one| one.launches >= FEWEST) {
            alike.entry(outline.key()).or_default().push(source);
        }
    }
    let format = |profile: &Profile, source: usize| profile.sources[source].format.clone();
    let differ = |sources: &Vec<usize>| {
        sources.iter().any(|one| format(profile, *one) != format(profile, sources[0]))
    };
    let mut alike: Vec<Vec<usize>> = alike.into_values().filter(differ).collect();
    alike.sort_unstable();
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); profile.sources.len()];
    let sources: HashSet<usize> = alike.iter().flatten().copied().collect();
    for row in 0..profile.launches.len() {
        let source = usize::from(profile.launches.source(row));
        if sources.contains(&source) {
            rows[source].push(row);
        }
    }
    let mut gone = vec![false; profile.launches.len()];
    let mut alike_devices = Alike::default();
    for mut sources in alike {
        // The database says more than the tables: calls, operators, processes. Some tables have the bare names of
        // functions.
        let letters = |source: usize| -> usize {
            let name = |row: &usize| profile.names.get(profile.launches.head(*row).name).len();
            rows[source].iter().map(name).sum()
        };
        sources.sort_by_key(|source| {
            let is_table = profile.sources[*source].format != "nsys-sqlite";
            (is_table, Reverse(letters(*source)), *source)
        });
        let mut kept: Vec<(usize, Vec<Ran>)> = Vec::new();
        sources.truncate(MOST_ALIKE);
        for source in sources {
            let rows = std::mem::take(&mut rows[source]);
            let ran = ran(profile, rows, outlines[source].map_or(0, |one| one.first));
            let first = kept.iter().find(|(first, of_first)| {
                let are_few = ran.len() < FEW;
                let mut pairs = of_first.iter().zip(&ran);
                format(profile, *first) != format(profile, source)
                    && pairs.all(|(one, two)| {
                        is_same(profile, &mut alike_devices, one, two)
                            && !(are_few && are_on_others(profile, one, two))
                    })
            });
            let Some((first, of_first)) = first else {
                kept.push((source, ran));
                continue;
            };
            for (one, two) in of_first.iter().zip(&ran) {
                describe(profile, one.3, two.3);
                duplicates::complete(profile, one.3, two.3);
            }
            let note = format!(
                "{} repeats {}: {} at the same times; counted once",
                profile.sources[source].path,
                profile.sources[*first].path,
                counted(ran.len() as u64, "launch", "launches")
            );
            profile.check(note);
            for (.., row) in ran {
                gone[row] = true;
                profile.count_repeated(row);
            }
        }
    }
    profile.leave_out(&gone);
}

/// The outline of each source; none where a launch has no start or no time.
fn outlines(profile: &Profile) -> Vec<Option<Outline>> {
    let launches = &profile.launches;
    let mut all: Vec<Option<Outline>> =
        vec![
            Some(Outline { launches: 0, first: u64::MAX, last: 0, times: 0 });
            profile.sources.len()
        ];
    for row in 0..launches.len() {
        let of_source = &mut all[usize::from(launches.source(row))];
        let Some(outline) = of_source.as_mut() else { continue };
        let Some((start, time)) = launches.start(row).zip(nanoseconds(profile, row)) else {
            *of_source = None;
            continue;
        };
        outline.launches += 1;
        outline.first = outline.first.min(start);
        outline.last = outline.last.max(start);
        outline.times = outline.times.saturating_add(time);
    }
    all
}

fn nanoseconds(profile: &Profile, row: usize) -> Option<i64> {
    let (time, _) = profile.launches.get(row, Quantity::Duration)?;
    Some((time * 1e9).round() as i64)
}

/// The launches of a source in the order of their start. A database counts from 1970, a table from the start of the session.
fn ran(profile: &Profile, rows: Vec<usize>, first: u64) -> Vec<Ran> {
    let launches = &profile.launches;
    let mut ran: Vec<Ran> = rows
        .into_iter()
        .filter_map(|row| {
            let since = launches.start(row)?.saturating_sub(first);
            Some((since, nanoseconds(profile, row)?, launches.head(row).shape.blocks, row))
        })
        .collect();
    ran.sort_unstable();
    ran
}

/// Whether two launches began at the same time, took as long, and may be of the same kernel and GPU.
fn is_same(profile: &Profile, alike: &mut Alike, one: &Ran, two: &Ran) -> bool {
    let differ = one.2.zip(two.2).is_some_and(|(one, two)| one != two);
    if (one.0, one.1) != (two.0, two.1) || differ {
        return false;
    }
    let head = |ran: &Ran| profile.launches.head(ran.3);
    let name = |ran: &Ran| identifier(profile.names.get(head(ran).name));
    name(one) == name(two) && alike.are(&profile.devices, head(one).device, head(two).device)
}

/// Whether two launches ran on GPUs with other numbers.
fn are_on_others(profile: &Profile, one: &Ran, two: &Ran) -> bool {
    let ordinal = |ran: &Ran| profile.ordinal(profile.launches.device(ran.3));
    ordinal(one).zip(ordinal(two)).is_some_and(|(one, two)| one != two)
}

#[cfg(test)]
mod tests {
    use crate::ingest::{Input, Options, read};

    const OF_DLPROF: &str = "Iteration,Op Name,Device ID,GPU Start Time (ns),GPU Duration (ns),Grid X,Grid Y,Grid Z,Block X,Block Y,Block Z,Long Kernel Name\n";
    const OF_NSYS: &str =
        "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Device,Ctx,Strm,Name\n";

    #[test]
    fn another_kernel_or_gpu_is_another_run() {
        let of_dlprof = |name: &str| {
            format!(
                "{OF_DLPROF}0,op,0,1000,500,64,1,1,128,1,1,{name}\n0,op,0,2000,700,64,1,1,128,1,1,{name}\n"
            )
        };
        let of_nsys = |name: &str, gpu: u32| {
            let row = |start: u32, time: u32| {
                format!("{start},{time},{start},64,1,1,128,1,1,H100 ({gpu}),1,7,{name}\n")
            };
            format!("{OF_NSYS}{}{}", row(1000, 500), row(2000, 700))
        };
        let left = |one: String, two: String| {
            let inputs = [Input::text("one.csv", &one), Input::text("two.csv", &two)];
            read(&inputs, &Options::default()).unwrap().launches.len()
        };
        let name = "void at::native::(anonymous namespace)::gemm<4>(int)";
        assert_eq!(left(of_dlprof("gemm"), of_nsys(name, 0)), 2);
        assert_eq!(left(of_dlprof("relu"), of_nsys(name, 0)), 4);
        assert_eq!(left(of_dlprof("gemm"), of_nsys(name, 1)), 4);
    }

    /// DLProf has operators and no streams, Nsight Systems streams and no operators.
    #[test]
    fn operators_and_streams_come_from_whichever_has_them() {
        let of_dlprof = format!(
            "{OF_DLPROF}0,conv1,0,1000,500,64,1,1,128,1,1,gemm\n0,conv2,0,2000,700,64,1,1,128,1,1,gemm\n"
        );
        let of_nsys = format!(
            "{OF_NSYS}1000,500,1,64,1,1,128,1,1,H100 (0),1,13,gemm\n2000,700,2,64,1,1,128,1,1,H100 (0),1,14,gemm\n"
        );
        let inputs = [Input::text("one.csv", &of_dlprof), Input::text("two.csv", &of_nsys)];
        for inputs in [[0, 1], [1, 0]].map(|order| order.map(|at| inputs[at].clone())) {
            let profile = read(&inputs, &Options::default()).unwrap();
            let of = |launch: crate::model::Launch<'_>| {
                (profile.names.get(launch.head.operator).to_owned(), launch.head.stream)
            };
            let found: Vec<_> = profile.iter().map(of).collect();
            assert_eq!(found, [("conv1".to_owned(), Some(13)), ("conv2".to_owned(), Some(14))]);
        }
    }

    /// `rocprofv3 --kernel-trace --pmc` writes both tables.
    #[test]
    fn counters_of_the_other_form_are_taken() {
        let counters = include_str!("../../fixtures/rocprof/v3-counters.csv");
        let mut trace = "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Thread_Id\",\"Dispatch_Id\",\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\",\"Private_Segment_Size\",\"Group_Segment_Size\",\"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"\n".to_owned();
        let alone = read(&[Input::text("counters.csv", counters)], &Options::default()).unwrap();
        for launch in alone.iter() {
            let start = launch.head.start.unwrap();
            let end = start + (launch.duration().unwrap().0.get() * 1e9).round() as u64;
            let (name, id) = (launch.kernel(), launch.head.id);
            let items = launch.head.shape.blocks.unwrap() * 256;
            trace += &format!(
                "\"KERNEL_DISPATCH\",1,1,1,{id},{id},\"{name}\",{id},{start},{end},0,0,256,1,1,{items},1,1\n"
            );
        }
        let trace = || Input::text("trace.csv", &trace);
        let counters = || Input::text("counters.csv", counters);
        for inputs in [[trace(), counters()], [counters(), trace()]] {
            let found = read(&inputs, &Options::default()).unwrap();
            let bytes = |profile: &crate::model::Profile| -> Vec<_> {
                profile.iter().map(|one| one.value(crate::model::Quantity::DramBytes)).collect()
            };
            assert_eq!(bytes(&found), bytes(&alone), "{:?}", found.checks);
            assert!(bytes(&found)[0].is_some());
        }
    }

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
        // The second has the whole name.
        assert_eq!(checks, ["one.csv repeats two.csv: 2 launches at the same times; counted once"]);
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
