//! Tests of launches that were read twice.

use super::agree::is_within_digits;
use super::*;
use crate::model::{DeviceHint, Origin, OriginId, Profiler, Shape, Source};

/// Seconds since 1970 in the place of a duration, and the longest time there can be.
#[test]
fn times_of_any_length_are_compared() {
    for time in [1.7e18, 9.9e38] {
        let mut profile =
            profile(&[(0, 1, 0, time, None), (0, 1, 1, 1e3, None), (1, 1, 0, time, None)]);
        leave_out(&mut profile, Which::All);
        assert_eq!(profile.launches.len(), 2, "{time}");
    }
    assert_eq!([999_999, 1_000_000, LONGEST].map(step), [10, 10_000, 10_i64.pow(16)]);
}

/// Launches given as (source, process, id, time in ns, bytes).
fn profile(rows: &[(u16, u32, u32, f64, Option<f64>)]) -> Profile {
    let sources = ["a.csv", "b.csv", "c.csv"];
    let source = |path: &&str| Source { path: (*path).to_owned(), ..Source::default() };
    let mut profile =
        Profile { sources: sources.iter().map(source).collect(), ..Profile::default() };
    let name = profile.names.id("kernel");
    let origin = profile.origins.id(&Origin::measured("column"));
    for (source, process, id, time, bytes) in rows {
        let mut values = Values::default();
        values.set(Quantity::Duration, time * 1e-9, origin);
        if let Some(bytes) = bytes {
            values.set(Quantity::DramBytes, *bytes, origin);
        }
        let head =
            Head { source: *source, process: *process, id: *id, name, count: 1, ..Head::default() };
        profile.launches.push(head, &values);
    }
    profile
}

/// Rows that stand for 3 and 2 launches, and a copy of them: 5 launches are repeated.
#[test]
fn what_is_repeated_is_counted_in_launches() {
    let header = "source,source_format,kernel,process,id,device_ordinal,launches,grid_x,threads_per_block,duration_s\n";
    let rows = "a.csv,ncu-wide,k,1,0,0,3,8,256,0.5\na.csv,ncu-wide,j,1,1,0,2,8,256,0.25\n";
    let text = format!("{header}{rows}");
    let inputs = ["one.csv", "two.csv"].map(|name| crate::ingest::Input::text(name, &text));
    let found = crate::ingest::read(&inputs, &crate::ingest::Options::default()).unwrap();
    let counts = found.sources.iter().map(|source| (source.launches, source.repeated));
    assert_eq!(counts.collect::<Vec<_>>(), [(5, 0), (5, 5)]);
    assert_eq!(found.launches.len(), 2);
}

/// The table of a trace twice: its copy is there once, as its kernels are.
#[test]
fn copies_that_are_repeated_with_the_launches_count_once() {
    let path =
        concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/nsys_trace/h100-2022-microseconds.csv");
    let text = std::fs::read_to_string(path).unwrap();
    let read = |text: &str| {
        let options = crate::ingest::Options::default();
        let found = crate::ingest::read_text("trace.csv", text, &options).unwrap();
        let moved = found.activities.iter().map(|one| one.bytes).collect::<Vec<_>>();
        (found.launches.len(), moved)
    };
    let once = read(&text);
    assert_eq!(once.1.len(), 1);
    let begin = text.find("Start").unwrap();
    assert_eq!(read(&format!("{}\n{}", text.trim_end(), &text[begin..])), once);
}

/// A kernel of a second has all times printed in seconds, with whole microseconds.
#[test]
fn a_page_in_seconds_beside_the_page_in_base_units_is_counted_once() {
    const HEADER: &str = "ID,Process ID,Kernel Name,Block Size,Grid Size,Device,CC,gpu__time_duration.sum,\
                          dram__bytes_read.sum,dram__bytes_write.sum\n";
    let page = |[time, bytes]: [&str; 2], rows: [[&str; 3]; 3]| {
        let rows = rows.iter().enumerate().map(|(id, [time, read, write])| {
            format!("{id},100,k{id},\"(256, 1, 1)\",\"(1024, 1, 1)\",0,9.0,{time},{read},{write}\n")
        });
        format!("{HEADER},,,,,,,{time},{bytes},{bytes}\n{}", rows.collect::<String>())
    };
    let exact = [
        ["1234567123", "1000500000123", "500250000123"],
        ["1600", "512345", "256123"],
        ["480", "10234", "0"],
    ];
    let seconds = [
        ["1.234567", "1000.500000", "500.250000"],
        ["0.000002", "0.000512", "0.000256"],
        ["0.000000", "0.000010", "0.000000"],
    ];
    let base = page(["ns", "byte"], exact);
    let auto = |rows| page(["second", "Gbyte"], rows);
    let read = |pages: &[(&str, &str)]| {
        let inputs: Vec<_> =
            pages.iter().map(|(name, text)| crate::ingest::Input::text(name, text)).collect();
        crate::ingest::read(&inputs, &crate::ingest::Options::default()).unwrap()
    };
    let (base, rounded) = (("base.csv", &*base), auto(seconds));
    let rounded = ("auto.csv", &*rounded);
    for pages in [[base, rounded], [rounded, base]] {
        let both = read(&pages);
        let times: Vec<_> = both.iter().map(|launch| launch.value(Quantity::Duration)).collect();
        assert_eq!(times, [1_234_567_123.0, 1600.0, 480.0].map(|time| Some(time * 1e-9)));
        assert_eq!(both.notes.len(), 1, "{:?}", both.notes);
    }
    let clues = &read(&[rounded]).sources[0].clues;
    let clue = "2 launches have times rounded by more than 1%, 1 of them to zero: the unit is too large; export with --print-units base";
    assert!(clues.iter().any(|one| one == clue), "{clues:?}");
    // Another run: one launch took more than any rounding makes of it.
    let mut slower = seconds;
    slower[1][0] = "0.000004";
    assert_eq!(read(&[base, ("auto.csv", &*auto(slower))]).launches.len(), 6);
}

/// The last launch has cycles and a clock, of which its time is computed: 2,000 ÷ 1.98 GHz = 1.01 µs for 1.02 µs.
#[test]
fn a_page_that_was_cut_off_before_a_time_is_a_copy() {
    const HEADER: &str = "ID,Process ID,Kernel Name,Block Size,Grid Size,Device,CC,Section Name,Metric Name,Metric Unit,Metric Value\n";
    let metrics = [
        ("SM Frequency", "Ghz", "1.98"),
        ("Elapsed Cycles", "cycle", "2000"),
        ("Duration", "us", "1.02"),
        ("DRAM Throughput", "%", "12.5"),
    ];
    let mut lines = Vec::new();
    for id in 0..7 {
        lines.extend(metrics.iter().map(|(name, unit, value)| {
            format!("{id},100,k,\"(32, 1, 1)\",\"(8, 1, 1)\",0,9.0,GPU Speed Of Light Throughput,{name},{unit},{value}\n")
        }));
    }
    let page = |lines: &[String]| format!("{HEADER}{}", lines.concat());
    let whole = page(&lines);
    for cut in 21..=28 {
        let part = page(&lines[..cut]);
        let files = [("part.csv", &part), ("whole.csv", &whole)];
        for files in [files, [files[1], files[0]]] {
            let inputs = files.map(|(name, text)| crate::ingest::Input::text(name, text));
            let found = crate::ingest::read(&inputs, &crate::ingest::Options::default()).unwrap();
            let times = found.iter().map(|launch| launch.value(Quantity::Duration).unwrap());
            let time: f64 = times.sum();
            assert_eq!(found.launches.len(), 7, "{cut}: {:?}", found.notes);
            assert!((time - 7.0 * 1.02e-6).abs() < 1e-12, "{cut}: {time}");
        }
    }
}

fn left(rows: &[(u16, u32, u32, f64, Option<f64>)], which: Which) -> (usize, Vec<String>) {
    let mut profile = profile(rows);
    leave_out(&mut profile, which);
    (profile.launches.len(), profile.notes)
}

const B: Option<f64> = Some(1e6);

#[test]
fn a_copy_is_counted_once_and_named() {
    let rows = [(0, 1, 0, 500.0, B), (0, 1, 1, 700.0, B), (1, 1, 0, 500.0, B), (1, 1, 1, 700.0, B)];
    let (launches, notes) = left(&rows, Which::Equal);
    assert_eq!(launches, 2);
    assert_eq!(
        notes,
        [
            "b.csv repeats a.csv: 2 launches (same process, launch ID, kernel and values; counted once)"
        ]
    );
}

/// Launches of three ranks, of which the first two have one duration in common, and their copies.
#[test]
fn copies_of_ranks_are_known_whatever_durations_ranks_share() {
    let mut profile = profile(&[]);
    profile.sources.extend(
        ["d.csv", "e.csv"].map(|path| Source { path: path.to_owned(), ..Source::default() }),
    );
    for (source, rank) in [(0, 0), (1, 1), (2, 2), (3, 1), (4, 2)] {
        for id in 0..4 {
            let time = if id == 2 && rank < 2 { 500.0 } else { 501.0 + f64::from(rank * 10 + id) };
            let mut values = Values::default();
            values.set(Quantity::Duration, time * 1e-9, OriginId::default());
            let start = Some(u64::from(1_000 * id + rank));
            profile.launches.push(Head { source, id, start, count: 1, ..Head::default() }, &values);
        }
    }
    leave_out(&mut profile, Which::All);
    assert_eq!(profile.launches.len(), 12);
    assert_eq!(profile.notes.len(), 2, "{:?}", profile.notes);
}

/// Of one number are two grids, and all come again in another order.
#[test]
fn a_number_that_two_grids_share_is_no_other_run_in_a_copy() {
    let mut profile = profile(&[]);
    for (source, grids) in [(0, [64, 128]), (1, [128, 64])] {
        for blocks in grids {
            let mut values = Values::default();
            values.set(Quantity::Duration, blocks as f64 * 1e-7, OriginId::default());
            let shape = Shape { blocks: Some(blocks), ..Shape::default() };
            profile
                .launches
                .push(Head { source, id: 3, shape, count: 1, ..Head::default() }, &values);
        }
    }
    leave_out(&mut profile, Which::All);
    assert_eq!(profile.launches.len(), 2);
}

/// An old page has no grid, and its time follows from cycles and their rate; another grid is another launch.
#[test]
fn a_page_without_grids_repeats_a_report_with_them() {
    let left = |computed: f64, blocks: [Option<u64>; 2]| {
        let mut profile = profile(&[]);
        for (source, (time, blocks)) in [1_057_408.0, computed].into_iter().zip(blocks).enumerate()
        {
            let mut values = Values::default();
            values.set(Quantity::Duration, time * 1e-9, OriginId::default());
            let shape = Shape { blocks, ..Shape::default() };
            let head = Head { source: source as u16, id: 3, shape, count: 1, ..Head::default() };
            profile.launches.push(head, &values);
        }
        leave_out(&mut profile, Which::All);
        profile.launches.len()
    };
    let printed = 1_057_407.996_179_772_4;
    assert_eq!(left(printed, [Some(64), None]), 1);
    assert_eq!(left(printed, [Some(64), Some(64)]), 1);
    assert_eq!(left(printed, [Some(64), Some(32)]), 2);
    assert_eq!(left(1_057_407.5, [Some(64), None]), 2);
}

/// Traces of two ranks: the same numbers and times at other starts. One that began at the same time is a copy where
/// all are; a number that an input has twice is another run.
#[test]
fn launches_that_began_at_other_times_are_no_copies() {
    let traces = |rows: &[(u16, u32, u64)]| {
        let mut profile = profile(&[]);
        let mut values = Values::default();
        values.set(Quantity::Duration, 5e-7, OriginId::default());
        for (source, id, start) in rows {
            let (source, id, start) = (*source, *id, Some(*start));
            let head = Head { source, id, start, count: 1, ..Head::default() };
            profile.launches.push(head, &values);
        }
        profile
    };
    for (rows, is_apart, left) in [
        ([(0, 0, 10), (0, 1, 20), (1, 0, 11), (1, 1, 21)], true, 4),
        // Other launches at the same time.
        ([(0, 0, 10), (0, 1, 20), (1, 0, 20), (1, 1, 30)], true, 4),
        ([(0, 0, 10), (0, 1, 20), (1, 0, 10), (1, 1, 20)], false, 2),
        ([(0, 0, 10), (0, 1, 20), (1, 0, 10), (1, 1, 21)], false, 4),
        ([(0, 0, 10), (0, 1, 20), (0, 0, 30), (0, 1, 40)], false, 4),
    ] {
        let mut profile = traces(&rows);
        assert_eq!(began_apart(&profile), is_apart, "{rows:?}");
        leave_out(&mut profile, Which::All);
        assert_eq!(profile.launches.len(), left, "{rows:?}");
    }
}

#[test]
fn another_run_of_the_same_program_counts() {
    // One launch took exactly as long; the other did not.
    let rows = [(0, 1, 0, 500.0, B), (0, 1, 1, 700.0, B), (1, 1, 0, 500.0, B), (1, 1, 1, 701.0, B)];
    assert_eq!(left(&rows, Which::All), (4, Vec::new()));
    // Other processes are other runs, whatever they measured.
    let rows = [(0, 1, 0, 500.0, B), (1, 2, 0, 500.0, B)];
    assert_eq!(left(&rows, Which::All), (2, Vec::new()));
    // The same in one file is said.
    let rows = [(0, 1, 0, 500.0, B), (0, 1, 1, 700.0, B), (0, 1, 0, 500.0, B), (0, 1, 1, 701.0, B)];
    let (launches, notes) = left(&rows, Which::All);
    assert_eq!(launches, 4);
    assert!(notes[0].starts_with("a.csv: 2 launches repeat process, launch ID"), "{notes:?}");
}

#[test]
fn launches_that_began_at_other_times_or_on_other_gpus_are_no_copies() {
    let rows = [(0, 1, 0, 500.0, None), (1, 1, 0, 500.0, None)];
    let left = |change: &dyn Fn(usize, &mut Head, &mut Profile)| {
        let plain = profile(&rows);
        let mut profile = profile(&[]);
        profile.names.id("kernel");
        profile.origins.id(&Origin::measured("column"));
        for row in 0..2 {
            let mut head = plain.launches.head(row);
            head.start = Some(1_000);
            change(row, &mut head, &mut profile);
            let (time, origin) = plain.launches.get(row, Quantity::Duration).unwrap();
            let mut values = Values::default();
            values.set(Quantity::Duration, time, origin);
            profile.launches.push(head, &values);
        }
        leave_out(&mut profile, Which::All);
        profile.launches.len()
    };
    let on = |head: &mut Head, profile: &mut Profile, gpu: &str| {
        let hint = DeviceHint { ordinal: Some(gpu.to_owned()), ..DeviceHint::default() };
        head.device = profile.hint(hint);
    };
    let started = |starts: [Option<u64>; 2]| left(&|row, head, _| head.start = starts[row]);
    let ran = |gpus: [&str; 2]| left(&|row, head, profile| on(head, profile, gpus[row]));
    assert_eq!([started([Some(7); 2]), ran(["0"; 2])], [1, 1]);
    assert_eq!([started([Some(7), Some(8)]), ran(["0", "1"])], [2, 2]);
    // One that does not say does not contradict.
    assert_eq!(started([Some(7), None]), 1);
    // Another format may count from another moment.
    let other = left(&|row, head, profile| {
        head.start = Some(row as u64);
        profile.sources[1].format = "other".to_owned();
    });
    assert_eq!(other, 1);
}

#[test]
fn launches_that_overlap_are_counted_once() {
    let rows = [(0, 1, 0, 500.0, B), (0, 1, 1, 700.0, B), (1, 1, 1, 700.0, B), (1, 1, 2, 900.0, B)];
    let (launches, notes) = left(&rows, Which::Equal);
    assert_eq!(launches, 3);
    assert!(notes[0].starts_with("b.csv overlaps a.csv: 1 of 2 launches"), "{notes:?}");
}

#[test]
fn a_repetition_within_a_file_is_counted_once() {
    let rows = [(0, 1, 0, 500.0, B), (0, 1, 0, 500.0, B), (0, 1, 1, 700.0, B)];
    let (launches, notes) = left(&rows, Which::Equal);
    assert_eq!(launches, 2);
    assert!(notes[0].starts_with("a.csv: 1 launch is repeated in this file"), "{notes:?}");
}

#[test]
fn times_are_printed_with_two_decimals_of_a_unit() {
    let ns = |time: i64| print(time * 1000);
    // 2464 ns is 2.46 us, 45,678 ns is 45.68 us, 1,234,567 ns is 1.23 ms.
    assert_eq!([ns(640), ns(2464), ns(45_678)], [640_000, 2_460_000, 45_680_000]);
    assert_eq!(ns(1_234_567), 1_230_000_000);
}

#[test]
fn what_has_more_figures_is_left_until_runs_are_joined_and_then_completes() {
    let rows = [(0, 1, 0, 500.0, None), (1, 1, 0, 500.0, B)];
    assert_eq!(left(&rows, Which::Equal), (2, Vec::new()));
    let mut profile = profile(&rows);
    leave_out(&mut profile, Which::All);
    assert_eq!(profile.launches.len(), 1);
    assert_eq!(profile.launch(0).value(Quantity::DramBytes), B);
}

/// A page with `--print-units auto` rounds times to two decimals of its unit, one with `base` does not.
#[test]
fn pages_of_one_report_in_two_units_are_one_run() {
    let left = |times: [f64; 2], bytes: [f64; 2]| {
        let rows = [(0, 1, 0, times[0], Some(bytes[0])), (1, 1, 0, times[1], Some(bytes[1]))];
        left(&rows, Which::All).0
    };
    assert_eq!(left([12_345.0, 12_350.0], [1e6, 1.004e6]), 1);
    assert_eq!(left([12_350.0, 12_345.0], [1e6, 1.004e6]), 1);
    // Too far apart, neither is rounded, both are, or their bytes differ.
    assert_eq!(left([12_345.0, 12_360.0], [1e6, 1e6]), 2);
    assert_eq!(left([12_345.0, 12_347.0], [1e6, 1e6]), 2);
    assert_eq!(left([12_340.0, 12_350.0], [1e6, 1e6]), 2);
    assert_eq!(left([12_345.0, 12_350.0], [1e6, 1.1e6]), 2);
}

/// `--print-kernel-base function` shows only the name of the function, `mangled` that of the compiler.
#[test]
fn pages_of_one_report_with_other_forms_of_names_are_one_run() {
    let left = |names: [&str; 2], profilers: [Profiler; 2]| {
        let mut profile = profile(&[]);
        for (source, profiler) in profilers.into_iter().enumerate() {
            profile.sources[source].profiler = profiler;
        }
        let mut values = Values::default();
        values.set(Quantity::Duration, 5e-7, OriginId::default());
        for (source, name) in names.into_iter().enumerate() {
            let name = profile.names.id(name);
            let head = Head { source: source as u16, id: 3, name, count: 1, ..Head::default() };
            profile.launches.push(head, &values);
        }
        leave_out(&mut profile, Which::All);
        let name = profile.names.get(profile.launches.head(0).name);
        (profile.launches.len(), name.to_owned())
    };
    let whole = "void ns::gemm<4>(int)";
    let ncu = [Profiler::NsightCompute; 2];
    for names in [[whole, "gemm"], ["gemm", whole], ["_ZN2ns4gemmILi4EEEvi", whole]] {
        assert_eq!(left(names, ncu), (1, whole.to_owned()), "{names:?}");
    }
    for names in [[whole, "relu"], [whole, "void ns::gemm<8>(int)"], ["relu", "gemm"]] {
        assert_eq!(left(names, ncu).0, 2, "{names:?}");
    }
    // Numbers of launches of two profilers have nothing in common.
    assert_eq!(left([whole, "gemm"], [Profiler::NsightSystems, Profiler::PyProf]).0, 2);
}

#[test]
fn bytes_that_a_page_in_gigabytes_shows_as_none_do_not_contradict() {
    let is = |one, two| is_within_digits((Quantity::DramWriteBytes, one, two), 0.0);
    assert!(is(0.0, 104.0) && is(104.0, 0.0));
    assert!(!is(0.0, 0.0) && !is(0.0, 600.0) && !is(1.0, 104.0));
    assert!(!is_within_digits((Quantity::AchievedOccupancy, 0.0, 0.4), 0.0));
}

/// Bytes in gigabytes with six decimals: 3,840 bytes print as 4 kB, and 64,000,512 as 64,001 kB; 3,499 would print as 3 kB.
#[test]
fn pages_in_two_units_agree_up_to_the_last_digit_of_the_coarser_one() {
    use crate::ingest::{Input, Options, read};
    let page = |[bytes, time]: [&str; 2], rows: [[&str; 2]; 2]| {
        let row = |(id, [bytes, time]): (usize, [&str; 2])| {
            format!("{id},7,k{id},\"(1, 1, 1)\",\"(32, 1, 1)\",0,8.0,{bytes},{time}\n")
        };
        let rows: String = rows.into_iter().enumerate().map(row).collect();
        format!(
            "ID,Process ID,Kernel Name,Grid Size,Block Size,Device,CC,dram__bytes.sum,gpu__time_duration.sum\n\
             ,,,,,,,{bytes},{time}\n{rows}"
        )
    };
    let scaled = page(["Gbyte", "ms"], [["0.064001", "0.100352"], ["0.000004", "0.002304"]]);
    for (small, launches) in [("3840", 2), ("4499", 2), ("3499", 4)] {
        let base = page(["byte", "ns"], [["64000512", "100352"], [small, "2304"]]);
        for texts in [[&base, &scaled], [&scaled, &base]] {
            let files = texts.iter().zip(["a.csv", "b.csv"]);
            let files: Vec<Input> = files.map(|(text, name)| Input::text(name, text)).collect();
            let found = read(&files, &Options::default()).unwrap();
            assert_eq!(found.launches.len(), launches, "{small}: {:?}", found.checks);
            // Those of the page with more digits stay.
            let bytes = found.iter().filter_map(|one| one.value(Quantity::DramBytes));
            assert!(bytes.into_iter().any(|bytes| bytes == small.parse::<f64>().unwrap()));
        }
    }
}

/// Equal counts of two instructions, with the same number, kernel and time.
#[test]
fn files_with_other_counters_are_no_copies() {
    use crate::ingest::{Input, Options, read};
    let page = |metrics: &str, units: &str, values: &str| {
        format!(
            "ID,Process ID,Kernel Name,Grid Size,Block Size,Device,CC,gpu__time_duration.sum,{metrics}\n\
             ,,,,,,,ns,{units}\n0,7,k,\"(1, 1, 1)\",\"(32, 1, 1)\",0,8.0,1000,{values}\n"
        )
    };
    let op = |name: &str| format!("smsp__sass_thread_inst_executed_op_{name}_pred_on.sum");
    for (one, two, told) in [
        (
            page(&op("fadd"), "inst", "5"),
            page(&op("fmul"), "inst", "5"),
            "joined 1 launch of b.csv with those of a.csv, counters of another run, by launch number, kernel and grid",
        ),
        (
            page("dram__bytes_read.sum", "byte", "5"),
            page("dram__bytes_write.sum", "byte", "5"),
            "b.csv has other counters of 1 launch of a.csv (same process, launch ID and kernel; joined)",
        ),
    ] {
        let files = [Input::text("a.csv", &one), Input::text("b.csv", &two)];
        let found = read(&files, &Options::default()).unwrap();
        assert_eq!((found.launches.len(), found.notes), (1, vec![told.to_owned()]));
    }
}
