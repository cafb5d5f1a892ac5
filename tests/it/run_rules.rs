//! What rules say about the whole run of a trace: the time that copies take alone, and the time that GPUs wait for the host.

use rooflint::rules::{Finding, Severity};
use rooflint::session::Judged;

use super::timeline::{call, events_of, kernel, text, with_files};

fn run_finding<'a>(judged: &'a Judged<'_>, rule: &str) -> Option<&'a Finding> {
    judged.findings.run.iter().find(|finding| finding.rule == rule)
}

/// Work of a GPU: kind, device, start and length in µs.
type Work = (&'static str, u32, u32, u32);

/// A Chrome trace.
fn trace(work: &[Work]) -> String {
    let events = work.iter().enumerate().map(|(at, (kind, device, start, length))| {
        let (category, name) = match *kind {
            "kernel" => ("kernel", "some_kernel"),
            "reduce" => ("kernel", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"),
            "HtoD" => ("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)"),
            "DtoH" => ("gpu_memcpy", "Memcpy DtoH (Device -> Pinned)"),
            _ => ("gpu_memcpy", "Memcpy DtoD (Device -> Device)"),
        };
        format!(
            r#"{{"ph": "X", "cat": "{category}", "name": "{name}", "pid": {device}, "tid": {at}, "ts": {start}.5, "dur": {length}.0, "args": {{"External id": 1, "device": {device}, "stream": {at}, "correlation": {at}, "bytes": 1000}}}}"#
        )
    });
    events_of(&events.collect::<Vec<_>>())
}

/// A kernel of 900 µs, and copies within the device of 100 µs, half of them beside it.
#[test]
fn copies_of_a_trace_count_where_copies_are_judged() {
    let work = [("kernel", 0, 1000, 900), ("DtoD", 0, 1850, 100)];
    with_files(&[("trace.json", trace(&work))], |judged| {
        let found = run_finding(judged, "device-copies").unwrap();
        assert_eq!(
            found.message,
            "copies within device memory: 1 copy, 100 µs, 10.0% of kernels and copies"
        );
        // No launch is not a launch of none.
        let named = |name: &str| found.evidence.iter().find(|one| one.name == name);
        assert_eq!(named("copies and fills").map(|one| one.value), Some(1.0));
        assert!(named("launches").is_none(), "{:?}", found.evidence);
        // What ran beside the kernel costs nothing.
        assert!((found.at_stake_s - 50e-6).abs() < 1e-12, "{}", found.at_stake_s);
    });
}

/// Beside a kernel from 0 to 1 ms: what of the copies runs alone, in µs, and what two rules claim of it.
#[test]
fn copies_claim_the_time_in_which_nothing_else_runs() {
    const HIDDEN: &str = "; other work always runs beside them";
    let cases: &[(&[Work], &str, f64, Option<f64>)] = &[
        (&[("HtoD", 0, 100, 400)], HIDDEN, 0.0, None),
        (&[("HtoD", 0, 1000, 400)], "; for 400 µs nothing else runs", 400.0, None),
        (&[("HtoD", 0, 700, 400)], "; for 100 µs nothing else runs", 100.0, None),
        // Too little to be worth a change.
        (&[("HtoD", 0, 602, 400)], "; for 2.00 µs nothing else runs", 0.0, None),
        // Other copies are not those that are hidden, also on another GPU.
        (&[("HtoD", 0, 100, 400), ("DtoD", 0, 1000, 300)], HIDDEN, 0.0, Some(300.0)),
        (
            &[("HtoD", 0, 100, 400), ("kernel", 1, 0, 10), ("DtoD", 1, 100, 300)],
            HIDDEN,
            0.0,
            Some(300.0),
        ),
        // Without either the other goes on.
        (&[("HtoD", 0, 1000, 300), ("DtoD", 0, 1000, 300)], HIDDEN, 0.0, None),
        (
            &[("HtoD", 0, 1000, 400), ("DtoH", 0, 1000, 400)],
            "; for 400 µs nothing else runs",
            400.0,
            None,
        ),
    ];
    for (work, alone, claimed, of_device_copies) in cases {
        let work = [&[("kernel", 0, 0, 1000)][..], work].concat();
        with_files(&[("trace.json", trace(&work))], |judged| {
            let found = run_finding(judged, "host-device-copies").unwrap();
            assert!(found.message.ends_with(alone), "{work:?}: {}", found.message);
            assert!((found.at_stake_s - claimed * 1e-6).abs() < 1e-12, "{work:?}: {found:?}");
            assert_eq!(found.at_stake_low_s, 0.0, "{work:?}");
            assert_eq!(found.severity == Severity::Info, *claimed == 0.0, "{work:?}");
            assert_eq!(found.next.is_none(), *alone == HIDDEN, "{work:?}");
            let others = run_finding(judged, "device-copies").map(|found| found.at_stake_s * 1e6);
            let others = others.map(|time| (time * 1e3).round() / 1e3);
            assert_eq!(others, *of_device_copies, "{work:?}");
        });
    }
    // Copies without a start may run beside anything.
    let list = "Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Device,Ctx,Strm,Name\n\
                500000,1,64,1,1,128,1,1,GPU (0),1,7,gemm\n\
                400000,2,,,,,,,GPU (0),1,7,[CUDA memcpy HtoD]\n";
    let work = [("kernel", 0, 0, 1000), ("HtoD", 0, 1000, 400)];
    with_files(&[("trace.json", trace(&work)), ("list.csv", list.to_owned())], |judged| {
        let found = run_finding(judged, "host-device-copies").unwrap();
        assert!(found.message.ends_with("of kernels and copies"), "{}", found.message);
        assert_eq!((found.severity, found.at_stake_s), (Severity::Info, 0.0));
    });
}

/// Beside a kernel from 0 to 1 ms: an all-reduce of 600 µs, and how long nothing is computed beside it.
#[test]
fn communication_claims_the_time_in_which_nothing_is_computed() {
    for (start, claimed, message) in [
        (
            800,
            400.0,
            "400 µs of exposed communication (28.6% of the span); in all 1 launch, 600 µs, 37.5% of the run",
        ),
        (
            500,
            100.0,
            "100 µs of exposed communication (9.1% of the span); in all 1 launch, 600 µs, 37.5% of the run",
        ),
        (100, 0.0, "communication: 1 launch, 600 µs, 37.5% of the run"),
    ] {
        let work = [("kernel", 0, 0, 1000), ("reduce", 0, start, 600)];
        with_files(&[("trace.json", trace(&work))], |judged| {
            let found = run_finding(judged, "communication-share").unwrap();
            assert_eq!(found.message, message);
            assert!((found.at_stake_s - claimed * 1e-6).abs() < 1e-12, "{found:?}");
            assert_eq!(found.at_stake_low_s, 0.0);
            let is_step = text(judged, "text", false)
                .contains(&format!("Whole run    {claimed:.0} µs of exposed communication"));
            assert_eq!(is_step, claimed > 0.0);
        });
    }
}

/// Message and beginning of the next step, and the time at stake in µs.
type Said = (&'static str, &'static str, f64);

/// The finding, and the brief's sentence of it.
fn check_host_bound(events: &[String], expected: Option<Said>) {
    with_files(&[("trace.json", events_of(events))], |judged| {
        let found = run_finding(judged, "host-bound");
        let Some((message, next, stake)) = expected else { return assert_eq!(found, None) };
        let found = found.unwrap();
        assert_eq!(found.message, message);
        assert!(found.next.as_deref().is_some_and(|said| said.starts_with(next)), "{found:?}");
        assert!((found.at_stake_s - stake * 1e-6).abs() < 1e-12, "{found:?}");
        assert_eq!((found.at_stake_low_s, found.severity), (0.0, Severity::High));
        let brief = text(judged, "text", false);
        // Two lines of a terminal hold what is last in parentheses only where they have room.
        let aside = message.strip_suffix(')').and_then(|message| message.rsplit_once(" ("));
        let message = aside.map_or(message, |(message, _)| message);
        assert!(brief.contains(&format!("Whole run    {message}")), "{brief}");
        let step = next.split(": ").next().unwrap();
        assert!(brief.contains(step), "{brief}");
    });
}

/// By hand: the time from the end of a kernel to the start of the next, where the call of the next is later than that end.
#[test]
fn a_gpu_that_waits_for_the_host_is_told_with_what_most_of_it_is() {
    let launched = |at: u32, dur: u32, called: u32, number: u32| {
        [call("cudaLaunchKernel", 1, (called, 5), number), kernel(at, dur, number)]
    };
    // Three gaps of 100 µs, 80 of them before the call.
    let short = (0..4).flat_map(|at| launched(200 + at * 200, 100, 180 + at * 200, at + 1));
    // Two gaps of 90 µs, 60 of them in calls that wait, 20 before the launch.
    let waits = (0..3).flat_map(|at| {
        let begin = at * 170;
        let waits = [
            call("cudaStreamSynchronize", 1, (begin + 70, 80), 0),
            call("cudaMemcpyAsync", 1, (begin + 150, 10), 0),
        ];
        launched(begin + 20, 80, begin + 10, at + 1).into_iter().chain(waits)
    });
    // One of 1 ms, and one of 30 µs.
    let long = [(0, 100, 0), (1100, 100, 1090), (1230, 100, 1210)];
    let long = (1..)
        .zip(long)
        .flat_map(|(number, (at, dur, called))| launched(100 + at, dur, 100 + called, number));
    // Three gaps of 100 µs, 90 of them from the call on.
    let latency = (0..4).flat_map(|at| launched(200 + at * 200, 100, 110 + at * 200, at + 1));
    // 20 of 220 µs.
    let busy = [(0, 100, 0), (120, 100, 110)];
    let busy = (1..)
        .zip(busy)
        .flat_map(|(number, (at, dur, called))| launched(100 + at, dur, 100 + called, number));
    // Two graphs of two kernels each, 300 µs apart, 230 of them before the second call.
    let graphs = [(90, 100, 1), (430, 500, 2)].into_iter().flat_map(|(called, at, number)| {
        [
            call("cudaGraphLaunch", 1, (called, 5), number),
            kernel(at, 50, number),
            kernel(at + 50, 50, number),
        ]
    });
    // One gap of 1.2 ms, all but 10 µs of it after the call.
    let first = [(100, 100, 90), (1400, 100, 210)];
    let first =
        (1..).zip(first).flat_map(|(number, (at, dur, called))| launched(at, dur, called, number));
    // The same gap, a quarter of it after the call.
    let both = [(100, 100, 90), (1400, 100, 1100)];
    let both =
        (1..).zip(both).flat_map(|(number, (at, dur, called))| launched(at, dur, called, number));
    let cases: [(Vec<String>, Option<Said>); 8] = [
        (
            graphs.collect(),
            Some((
                "the GPU waits 300 µs for the host (60.0% of the span); 230 µs before launch calls",
                "put more of the step into each CUDA graph",
                300.0,
            )),
        ),
        (
            first.collect(),
            Some((
                "the GPU waits 1.20 ms for the host (85.7% of the span); 1.20 ms in one gap (1.19 ms of it inside launch calls)",
                "warm up before profiling: a kernel's first launch loads its module",
                1200.0,
            )),
        ),
        (
            both.collect(),
            Some((
                "the GPU waits 1.20 ms for the host (85.7% of the span); 1.20 ms in one gap (300 µs of it inside launch calls)",
                "find out what the host does then; warm up before profiling: first launches load modules",
                1200.0,
            )),
        ),
        (
            short.collect(),
            Some((
                "the GPU waits 300 µs for the host (42.9% of the span); 240 µs before launch calls",
                "use a CUDA graph or torch.compile",
                300.0,
            )),
        ),
        (
            waits.collect(),
            Some((
                "the GPU waits 180 µs for the host (42.9% of the span); 120 µs in calls that synchronize or copy",
                "avoid synchronizations (.item(), .cpu())",
                180.0,
            )),
        ),
        (
            long.collect(),
            Some((
                "the GPU waits 1.03 ms for the host (77.4% of the span); 1.00 ms in one gap",
                "find out what the host does then",
                1030.0,
            )),
        ),
        (
            latency.collect(),
            Some((
                "the GPU waits 300 µs for the host (42.9% of the span); 270 µs of launch latency",
                "use a CUDA graph or torch.compile",
                300.0,
            )),
        ),
        (busy.collect(), None),
    ];
    for (events, expected) in cases {
        check_host_bound(&events, expected);
    }
}

/// A trace and the launch table made of it, in both orders: the timeline is that of the trace, and launches count once.
#[test]
fn a_trace_keeps_its_timeline_behind_its_own_launch_table() {
    let trace = trace(&[("kernel", 0, 0, 1000), ("HtoD", 0, 1000, 400)]);
    let mut table = String::new();
    with_files(&[("trace.json", trace.clone())], |judged| {
        table = rooflint::table::Table::of(judged.profile).csv();
    });
    let (trace, table) = (("trace.json", trace), ("table.csv", table));
    for files in [[trace.clone(), table.clone()], [table, trace]] {
        with_files(&files, |judged| {
            assert_eq!(judged.analysis.totals.launches, 1);
            assert_eq!(judged.analysis.timelines.len(), 1);
            assert!(run_finding(judged, "host-device-copies").is_some());
        });
    }
}
