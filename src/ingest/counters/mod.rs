//! Joins the times of a trace with the counters that Nsight Compute took of the same program.
//!
//! A trace has every launch as it ran, without counters, and so has a table of PyProf. Nsight Compute has the counters of
//! a few launches, in a run of its own, at its own clocks. Launches of one kernel with the same grid and block do the
//! same work: the amounts and ratios of a launch go to the launches of the trace, its time and what depends on clocks
//! does not.

mod by_work;
mod names;
mod order;

use std::collections::{BTreeMap, BTreeSet};

use self::by_work::Fit;
use self::names::{Key, Names, key, pairs};
use self::order::{called, fullest, is_each, launched};
use super::alike::Alike;
use super::complete::overrule;
use super::means::mean;
use super::runs::adopt_advice;
use crate::model::{Head, HintId, NameId, Profile, Profiler};
use crate::plain::counted;

fn is_counting(profiler: Profiler) -> bool {
    profiler == Profiler::NsightCompute
}

/// Gives the launches of traces the counters of the same launches under Nsight Compute, which are then not counted.
pub(super) fn join(profile: &mut Profile) {
    let [has_trace, has_counters] = [Profiler::times_real_run, is_counting]
        .map(|of| profile.sources.iter().any(|source| of(source.profiler)));
    if !(has_trace && has_counters) {
        return;
    }
    let is_of = |profile: &Profile, row: usize, of: fn(Profiler) -> bool| {
        let source = profile.sources.get(usize::from(profile.launches.source(row)));
        source.is_some_and(|source| of(source.profiler))
    };
    let rows = |profile: &Profile, of: fn(Profiler) -> bool| -> Vec<usize> {
        (0..profile.launches.len()).filter(|row| is_of(profile, *row, of)).collect()
    };
    let hosts = rows(profile, Profiler::times_real_run);
    let all = rows(profile, is_counting);
    if hosts.is_empty() || all.is_empty() {
        return;
    }
    let mut report = Joined::default();
    let traced_on: BTreeSet<HintId> =
        hosts.iter().map(|row| profile.launches.head(*row).device).collect();
    let mut is_traced: BTreeMap<HintId, bool> = BTreeMap::new();
    let (donors, others): (Vec<usize>, Vec<usize>) = all.into_iter().partition(|row| {
        let device = profile.launches.head(*row).device;
        *is_traced.entry(device).or_insert_with(|| {
            traced_on.iter().any(|host| report.alike.are(&profile.devices, *host, device))
        })
    });
    if donors.is_empty() {
        return apart(profile, &hosts, &others, "are of different devices");
    }
    let hosts = called(profile, hosts);
    let mut names = Names::default();
    let mut by_work: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
    for row in &donors {
        let head = profile.launches.head(*row);
        let name = names.exact(profile, head.name).to_owned();
        by_work.entry(key(&name, head.shape)).or_default().push(*row);
    }
    let mut traced: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
    for row in &hosts {
        let head = profile.launches.head(*row);
        let name = names.exact(profile, head.name).to_owned();
        traced.entry(key(&name, head.shape)).or_default().push(*row);
    }
    let mut used: BTreeSet<&Key> = BTreeSet::new();
    for (host, donor) in pairs(&names, &by_work, &traced) {
        if report.give(profile, &traced[host], &by_work[donor]) {
            used.insert(donor);
        }
    }
    if used.is_empty() {
        let why = if report.other_work > 0 {
            "have only kernels in common that do other work with the same grid and block"
        } else if report.kernels > 0 {
            "have kernels in common, of which nothing but the time was collected"
        } else if hosts.iter().all(|row| profile.launches.head(*row).shape.grid.is_none()) {
            "cannot be joined without grids and blocks of both"
        } else {
            "have no kernel, grid and block in common"
        };
        return apart(profile, &hosts, &donors, why);
    }
    report.untraced = by_work.len() - used.len();
    report.others = counts(profile, &others);
    let note = report.note(profile, &hosts, &donors);
    profile.check(note);
    let mut gone = vec![false; profile.launches.len()];
    for row in donors {
        gone[row] = true;
    }
    profile.leave_out(&gone);
}

/// How many launches rows stand for: those of sums stand for several.
fn counts(profile: &Profile, rows: &[usize]) -> u64 {
    rows.iter().map(|row| u64::from(profile.launches.count(*row))).sum()
}

/// The files of launches, for messages.
fn named(profile: &Profile, rows: &[usize]) -> String {
    let path = |row: &usize| {
        let source = profile.sources.get(usize::from(profile.launches.head(*row).source));
        source.map_or("", |source| source.path.as_str())
    };
    let paths: BTreeSet<&str> = rows.iter().map(path).collect();
    let first = paths.first().copied().unwrap_or_default().to_owned();
    if paths.len() > 1 { format!("{first} and {} more", paths.len() - 1) } else { first }
}

/// Says why nothing was joined.
fn apart(profile: &mut Profile, hosts: &[usize], counted: &[usize], why: &str) {
    let (trace, counters) = (named(profile, hosts), named(profile, counted));
    profile.check(format!("{trace} and {counters} {why}: they are reported side by side"));
}

/// What was joined, for the note.
#[derive(Default)]
struct Joined {
    /// Launches under Nsight Compute whose counters are used.
    donors: BTreeSet<usize>,
    /// Launches of the trace that got counters, and kernels of them.
    launches: u64,
    kernels: usize,
    /// Launches whose counters are means over launches under Nsight Compute.
    averaged: u64,
    /// Kernels that only Nsight Compute has.
    untraced: usize,
    /// Launches under Nsight Compute on other devices than those of the trace.
    others: u64,
    /// Launches of the trace whose shapes say that they do other work than those that were counted, or that one cannot say
    /// which of them were.
    other_work: u64,
    alike: Alike,
}

impl Joined {
    /// Gives launches of a trace the counters of launches of the same work on the same kind of device, and says whether
    /// there are any.
    fn give(&mut self, profile: &mut Profile, hosts: &[usize], donors: &[usize]) -> bool {
        let device = |row: usize| profile.launches.head(row).device;
        let mut on: BTreeMap<HintId, Vec<usize>> = BTreeMap::new();
        for host in hosts {
            on.entry(device(*host)).or_default().push(*host);
        }
        // GPUs of one kind take the same counters together.
        let mut fitting: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
        for (host, hosts) in on {
            let donors = donors.iter().copied();
            let donors: Vec<usize> = donors
                .filter(|donor| self.alike.are(&profile.devices, host, device(*donor)))
                .collect();
            if !donors.is_empty() {
                fitting.entry(donors).or_default().extend(hosts);
            }
        }
        self.kernels += usize::from(!fitting.is_empty());
        let before = self.launches;
        for (donors, hosts) in fitting {
            let donors = launched(profile, &donors);
            let by_work = by_work::apart(profile, &hosts, &donors);
            let is_each = is_each(profile, &hosts, &donors);
            if is_each && (by_work.len() == 1 || by_work::agree(profile, &hosts, &donors)) {
                self.pair(profile, &hosts, &donors);
                continue;
            }
            for Fit { hosts, donors } in by_work {
                if donors.is_empty() {
                    self.other_work += counts(profile, &hosts);
                } else {
                    self.pair(profile, &hosts, &donors);
                }
            }
        }
        self.launches > before
    }

    /// As many launches on both sides are the same ones, in the order in which they were launched; else each gets the
    /// mean, and so do those of several traces or GPUs.
    fn pair(&mut self, profile: &mut Profile, hosts: &[usize], donors: &[usize]) {
        let is_each = is_each(profile, hosts, donors);
        let fullest = if is_each { donors.to_vec() } else { fullest(profile, donors) };
        let donors = fullest.as_slice();
        let of_all = (!is_each).then(|| mean(profile, donors));
        let mut given = 0;
        for (at, host) in hosts.iter().enumerate() {
            let donor = donors[if is_each { at } else { 0 }];
            let own = if is_each { Some(mean(profile, &[donor])) } else { None };
            let values = of_all.as_ref().or(own.as_ref());
            if let Some(values) = values.filter(|values| values.all().next().is_some()) {
                overrule(profile, *host, values);
                given += u64::from(profile.launches.count(*host));
            }
            adopt_advice(profile, *host, donor);
            // A range of the program around one launch says nothing of another.
            let operator = profile.launches.head(donor).operator;
            let head = profile.launches.head(*host);
            if is_each && head.operator == NameId::default() {
                profile.launches.describe(*host, &Head { operator, ..head });
            }
        }
        self.launches += given;
        if given > 0 {
            self.donors.extend(donors);
        }
        if !is_each && donors.len() > 1 {
            self.averaged += given;
        }
    }

    fn note(&self, profile: &Profile, hosts: &[usize], donors: &[usize]) -> String {
        let launches = |number: u64| counted(number, "launch", "launches");
        let used: Vec<usize> = self.donors.iter().copied().collect();
        let mut note = format!(
            "{}: counters of {} are used for {} of {} in {}: same kernel, grid and block; times are those of the trace",
            named(profile, donors),
            launches(counts(profile, &used)),
            launches(self.launches),
            counted(self.kernels as u64, "kernel", "kernels"),
            named(profile, hosts)
        );
        if self.averaged > 0 {
            let have = counted(self.averaged, "launch has", "launches have");
            note.push_str(&format!("; {have} the mean of several"));
        }
        if self.other_work > 0 {
            let launches = launches(self.other_work);
            note.push_str(&format!(
                "; {launches} with the same grid and block as one that was counted, and other work, as their shapes say, have none"
            ));
        }
        let without = counts(profile, hosts) - self.launches - self.other_work;
        if without > 0 {
            let have = counted(without, "launch of the trace has", "launches of the trace have");
            note.push_str(&format!("; {have} no counters"));
        }
        if self.untraced > 0 {
            let are = counted(self.untraced as u64, "kernel is", "kernels are");
            note.push_str(&format!("; {are} not in the trace and not counted"));
        }
        if self.others > 0 {
            let are = counted(self.others, "launch is", "launches are");
            note.push_str(&format!("; {are} of another device and reported side by side"));
        }
        note
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::{Input, Options, read};
    use crate::model::{OriginKind, Quantity};

    const COUNTERS: &str = "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"gpu__time_duration.sum\",\"dram__bytes.sum\",\"sm__throughput.avg.pct_of_peak_sustained_elapsed\"\n\
        \"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"ns\",\"byte\",\"%\"\n";

    const TRACE: &str = "Iteration,Op Name,Device ID,GPU Start Time (ns),GPU Duration (ns),Grid X,Grid Y,Grid Z,Block X,Block Y,Block Z,Long Kernel Name\n";

    const TRACE_WITHOUT: &str =
        "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Device,Ctx,Strm,Name\n";

    fn counted(id: u32, name: &str, grid: u32, bytes: u32) -> String {
        format!(
            "\"{id}\",\"7\",\"app\",\"host\",\"{name}\",\"1\",\"7\",\"(128, 1, 1)\",\"({grid}, 1, 1)\",\"0\",\"8.0\",\"5000\",\"{bytes}\",\"50\"\n"
        )
    }

    fn traced(start: u32, time: u32, name: &str, grid: u32) -> String {
        format!("0,op,0,{start},{time},{grid},1,1,128,1,1,\"{name}\"\n")
    }

    fn joined(trace: &str, counters: &str) -> Profile {
        let inputs = [
            Input::text("trace.csv", &format!("{TRACE}{trace}")),
            Input::text("counters.csv", &format!("{COUNTERS}{counters}")),
        ];
        read(&inputs, &Options { strict: true, ..Options::default() }).unwrap()
    }

    #[test]
    fn a_trace_keeps_its_times_and_takes_the_counters_of_the_same_work() {
        let trace = [
            traced(0, 1000, "void gemm<4, true, 8>(float*)", 64),
            traced(2000, 1100, "void gemm<4, true, 8>(float*)", 64),
            traced(4000, 900, "void gemm<4, true, 8>(float*)", 32),
            traced(5000, 300, "void copy<2>(int)", 16),
            traced(6000, 400, "lonely", 1),
        ];
        let counters = [
            counted(0, "void gemm<(int)4, (bool)1, 8u>(float*)", 64, 300),
            counted(1, "void gemm<(int)4, (bool)1, 8u>(float*)", 64, 500),
            counted(2, "void gemm<(int)4, (bool)1, 8u>(float*)", 64, 400),
            counted(3, "void copy<int>(int)", 16, 70),
            counted(4, "void other(int)", 16, 70),
        ];
        let profile = joined(&trace.concat(), &counters.concat());
        let found: Vec<_> = profile
            .iter()
            .map(|one| (one.value(Quantity::Duration), one.value(Quantity::DramBytes)))
            .collect();
        let ns = |time: f64| Some(time * 1e-9);
        assert_eq!(
            found,
            [
                (ns(1000.0), Some(400.0)),
                (ns(1100.0), Some(400.0)),
                (ns(900.0), None),
                (ns(300.0), Some(70.0)),
                (ns(400.0), None)
            ]
        );
        let (_, origin) = profile.launch(0).get(Quantity::DramBytes).unwrap();
        assert_eq!(origin.formula, "dram__bytes.sum, mean of 3 launches under Nsight Compute");
        assert_eq!((origin.kind, origin.low, origin.high), (OriginKind::Derived, 0.75, 1.25));
        // A share of elapsed cycles belongs to the time that is not taken.
        assert_eq!(profile.launch(0).value(Quantity::SmThroughput), None);
        assert_eq!(
            profile.notes,
            [
                "counters.csv: counters of 4 launches are used for 3 launches of 2 kernels in trace.csv: same kernel, grid \
                 and block; times are those of the trace; 2 launches have the mean of several; 2 launches of the trace have \
                 no counters; 1 kernel is not in the trace and not counted"
            ]
        );
    }

    /// The numbers of the first two launches of a trace are those of the counters, and it has registers, which they lack;
    /// their page knows less of the GPU.
    #[test]
    fn a_trace_is_no_run_that_counters_lack() {
        let launch = |id: u32, time: u32| {
            format!("{id}0000,{time},{id},64,1,1,128,1,1,32,A100 SXM4 40GB (0),1,7,gemm\n")
        };
        let header = "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,Device,Ctx,Strm,Name\n";
        let trace = [launch(0, 1000), launch(1, 1100), launch(2, 1200), launch(3, 1300)].concat();
        let counters = [counted(0, "gemm", 64, 300), counted(1, "gemm", 64, 500)].concat();
        let inputs = [
            Input::text("trace.csv", &format!("{header}{trace}")),
            Input::text("counters.csv", &format!("{COUNTERS}{counters}")),
        ];
        let profile = read(&inputs, &Options { strict: true, ..Options::default() }).unwrap();
        let times = profile.iter().map(|one| one.value(Quantity::Duration).unwrap() * 1e9);
        assert_eq!(times.map(f64::round).sum::<f64>(), 4600.0);
        assert!(profile.iter().all(|one| one.value(Quantity::DramBytes) == Some(400.0)));
        assert_eq!((profile.launches.len(), profile.devices.len()), (4, 1));
    }

    /// PyProf has times of the real run, but neither starts nor more than the bare name of a function.
    #[test]
    fn pyprof_takes_counters_as_traces_do() {
        let header = "Idx,Direction,Sub,Module,Op,Kernel,Params,Sil(ns),TC,Device,Stream,Grid,Block,FLOPs,Bytes\n";
        let row = |id: u32, kernel: &str, time: u32, flops: u32| {
            format!(
                "{id},fprop,0,torch,add,{kernel},\"('T', (64,), 'fp32')\",{time},-,0,7,\"64,1,1\",\"128,1,1\",{flops},768\n"
            )
        };
        let rows = [row(1, "elementwise_kernel", 900, 64), row(2, "gemm", 1000, 64)].concat();
        let counters = [
            counted(
                1,
                "void at::native::(anonymous namespace)::elementwise_kernel<4>(int)",
                64,
                800,
            ),
            counted(2, "void gemm<float>(int)", 64, 500),
            counted(3, "void gemm<double>(int)", 64, 500),
        ];
        let inputs = [
            Input::text("pyprof.csv", &format!("{header}{rows}")),
            Input::text("counters.csv", &format!("{COUNTERS}{}", counters.concat())),
        ];
        let profile = read(&inputs, &Options::default()).unwrap();
        let found: Vec<_> = profile
            .iter()
            .map(|one| {
                (one.kernel(), one.value(Quantity::Duration), one.value(Quantity::DramBytes))
            })
            .collect();
        // Two kernels have this name, and it is not known which one ran.
        let expected =
            [("elementwise_kernel", Some(9e-7), Some(800.0)), ("gemm", Some(1e-6), Some(768.0))];
        assert_eq!(found, expected, "{:?}", profile.notes);
        assert!(profile.notes[0].contains("counters of 1 launch are used for 1 launch"));
    }

    /// The range around a launch under Nsight Compute names the launch of the trace that is the same, and no other.
    #[test]
    fn a_launch_that_is_paired_takes_the_range_of_the_program() {
        let header = COUNTERS.replacen(
            "\"CC\",",
            "\"CC\",\"thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg\",",
            1,
        );
        let header = header.replacen("\"\",\"ns\"", "\"\",\"\",\"ns\"", 1);
        let row = |id: u32, range: &str| {
            let range = format!(
                "\"8.0\",\"1 \"\"<default domain>:{range}:none:none:none:none:none:none\"\" \","
            );
            counted(id, "gemm", 64, 300).replace("\"8.0\",", &range)
        };
        let counters = [row(0, "forward"), row(1, "backward")].concat();
        let operators = |trace: &[String]| -> Vec<String> {
            let inputs = [
                Input::text("trace.csv", &format!("{TRACE_WITHOUT}{}", trace.concat())),
                Input::text("counters.csv", &format!("{header}{counters}")),
            ];
            let profile = read(&inputs, &Options { strict: true, ..Options::default() }).unwrap();
            assert!(profile.iter().all(|one| one.value(Quantity::DramBytes) == Some(300.0)));
            profile.iter().map(|one| profile.names.get(one.head.operator).to_owned()).collect()
        };
        let launch = |start: u32| {
            format!("{start},1000,{start},64,1,1,128,1,1,A100 SXM4 40GB (0),1,7,gemm\n")
        };
        assert_eq!(operators(&[0, 2000].map(launch)), ["forward", "backward"]);
        assert_eq!(operators(&[0, 2000, 4000].map(launch)), ["", "", ""]);
    }

    /// Such a name may stand for several kernels, and one of another namespace is another kernel.
    #[test]
    fn a_name_that_was_cut_takes_the_counters_of_as_many_launches_only() {
        let cut = [traced(0, 1000, "reduce", 64), traced(2000, 1100, "reduce", 64)].concat();
        let one = counted(0, "void ns::reduce<float>(int)", 64, 300);
        let both = [one.clone(), counted(1, "void ns::reduce<float>(int)", 64, 500)].concat();
        let bytes = |trace: &str, counters: &str| -> Vec<Option<f64>> {
            let profile = joined(trace, counters);
            let traced = profile.iter().filter(|one| one.head.start.is_some());
            traced.map(|one| one.value(Quantity::DramBytes)).collect()
        };
        assert_eq!(bytes(&cut, &one), [None, None]);
        assert_eq!(bytes(&cut, &both), [Some(300.0), Some(500.0)]);
        let other = traced(0, 1000, "void other::reduce<float>(int)", 64);
        assert_eq!(bytes(&other, &one), [None]);
    }

    /// Two processes count from zero each, and files may come in any order.
    #[test]
    fn launches_of_two_processes_are_not_told_apart() {
        let trace = [traced(0, 1000, "gemm", 64), traced(2000, 1100, "gemm", 64)].concat();
        let other = counted(0, "gemm", 64, 500).replace("\"7\",\"app\"", "\"8\",\"app\"");
        let counters = [counted(0, "gemm", 64, 300), other].concat();
        let profile = joined(&trace, &counters);
        assert!(profile.iter().all(|one| one.value(Quantity::DramBytes) == Some(400.0)));
    }

    #[test]
    fn as_many_launches_on_both_sides_are_paired_in_order() {
        let trace = [traced(0, 1000, "gemm", 64), traced(2000, 1100, "gemm", 64)].concat();
        let counters = [counted(0, "gemm", 64, 300), counted(1, "gemm", 64, 500)].concat();
        let profile = joined(&trace, &counters);
        let bytes: Vec<_> = profile.iter().map(|one| one.value(Quantity::DramBytes)).collect();
        assert_eq!(bytes, [Some(300.0), Some(500.0)]);
    }

    /// Files and rows may come in any order, the launches of a trace too.
    #[test]
    fn launches_are_paired_in_the_order_in_which_they_were_launched() {
        let of = |ids: [u32; 2]| ids.map(|id| counted(id, "gemm", 64, 300 + 100 * id)).concat();
        let [first, second] = [[0, 1], [3, 2]].map(of);
        let starts = [4000, 0, 6000, 2000];
        let trace = starts.map(|start| traced(start, 1000 + start, "gemm", 64)).concat();
        for counters in [[&first, &second], [&second, &first]] {
            let inputs = [
                Input::text("trace.csv", &format!("{TRACE}{trace}")),
                Input::text("one.csv", &format!("{COUNTERS}{}", counters[0])),
                Input::text("two.csv", &format!("{COUNTERS}{}", counters[1])),
            ];
            let profile = read(&inputs, &Options { strict: true, ..Options::default() }).unwrap();
            let mut bytes: Vec<_> = profile
                .iter()
                .map(|one| (one.head.start, one.value(Quantity::DramBytes).unwrap()))
                .collect();
            bytes.sort_by_key(|(start, _)| *start);
            let bytes: Vec<f64> = bytes.into_iter().map(|(_, bytes)| bytes).collect();
            assert_eq!(bytes, [300.0, 400.0, 500.0, 600.0]);
        }
    }

    #[test]
    fn programs_with_nothing_in_common_are_reported_side_by_side() {
        let profile = joined(&traced(0, 1000, "gemm", 64), &counted(0, "relu", 64, 300));
        assert_eq!(profile.launches.len(), 2);
        assert_eq!(
            profile.checks,
            [
                "trace.csv and counters.csv have no kernel, grid and block in common: they are reported side by side"
            ]
        );
    }

    #[test]
    fn sums_without_grids_take_no_counters_and_say_why() {
        let sums = "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n\
            100.0,1000,1,1000.0,1000.0,1000,1000,0.0,gemm\n";
        let inputs = [
            Input::text("sums.csv", sums),
            Input::text("counters.csv", &format!("{COUNTERS}{}", counted(0, "gemm", 64, 300))),
        ];
        let profile = read(&inputs, &Options::default()).unwrap();
        assert_eq!(
            profile.checks,
            [
                "sums.csv and counters.csv cannot be joined without grids and blocks of both: they are reported side by side"
            ]
        );
    }

    /// A trace of launches by the name of their GPU and their kernel.
    fn on_gpus(launches: &[(&str, &str)]) -> String {
        let mut trace =
            "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Device,Ctx,Strm,Name\n"
                .to_owned();
        for (at, (device, name)) in launches.iter().enumerate() {
            trace += &format!("{at}000,500,{at},64,1,1,128,1,1,{device},1,7,{name}\n");
        }
        trace
    }

    fn joined_on(launches: &[(&str, &str)], counters: &str) -> Profile {
        let inputs = [
            Input::text("trace.csv", &on_gpus(launches)),
            Input::text("counters.csv", &format!("{COUNTERS}{counters}")),
        ];
        read(&inputs, &Options { strict: true, ..Options::default() }).unwrap()
    }

    fn bytes(profile: &Profile) -> Vec<Option<f64>> {
        profile.iter().map(|one| one.value(Quantity::DramBytes)).collect()
    }

    const A100: &str = "NVIDIA A100-SXM4-40GB (0)";
    const H100: &str = "NVIDIA H100 80GB HBM3 (1)";

    /// The trace says which GPU it is of, the counters only their compute capability, 8.0.
    #[test]
    fn counters_of_another_architecture_are_not_used() {
        let counters = counted(0, "gemm", 64, 300);
        // A run of one launch, and a launch of several.
        for names in [&["gemm"][..], &["relu", "gemm", "gemm"]] {
            let on = |device| -> Vec<_> { names.iter().map(|name| (device, *name)).collect() };
            let same = joined_on(&on(A100), &counters);
            assert_eq!(bytes(&same).len(), names.len());
            assert_eq!(bytes(&same).last(), Some(&Some(300.0)));
            let other = joined_on(&on(H100), &counters);
            let mut apart = vec![None; names.len()];
            apart.push(Some(300.0));
            assert_eq!(bytes(&other), apart);
            assert_eq!(
                other.checks,
                [
                    "trace.csv and counters.csv are of different devices: they are reported side by side"
                ]
            );
        }
    }

    #[test]
    fn each_gpu_of_a_trace_takes_the_counters_of_its_kind() {
        let of_h100 = |line: String| line.replace("\"8.0\"", "\"9.0\"");
        let counters = counted(0, "gemm", 64, 300);
        for order in [[A100, H100], [H100, A100]] {
            let launches = order.map(|device| (device, "gemm"));
            let found = joined_on(&launches, &counters);
            let expected = order.map(|device| (device == A100).then_some(300.0));
            assert_eq!(bytes(&found), expected);
            assert!(found.notes[0].contains("for 1 launch of 1 kernel"), "{:?}", found.notes);
            let both = counters.clone() + &of_h100(counted(1, "gemm", 64, 500));
            let expected = order.map(|device| Some(if device == A100 { 300.0 } else { 500.0 }));
            assert_eq!(bytes(&joined_on(&launches, &both)), expected);
        }
        // Counters of two devices, a trace of one.
        let both = of_h100(counted(0, "gemm", 64, 500)) + &counted(1, "relu", 64, 70);
        let found = joined_on(&[(H100, "gemm"), (H100, "relu"), (H100, "relu")], &both);
        assert_eq!(bytes(&found), [Some(500.0), None, None, Some(70.0)]);
        assert!(
            found.notes[0].ends_with("; 1 launch is of another device and reported side by side"),
            "{:?}",
            found.notes
        );
    }
}
