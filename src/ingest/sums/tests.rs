//! Tables of sums beside each other and beside launches.

use crate::ingest::{Input, Options, read};
use crate::model::Profile;

const HEADER: &str = "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n";
const ROWS: &str = "\"add\",3,6000,2000,75\n\"mul\",1,2000,2000,25\n";

fn read_all(texts: &[&str]) -> Profile {
    let inputs: Vec<Input> = texts
        .iter()
        .enumerate()
        .map(|(at, text)| Input::text(&format!("{at}.csv"), text))
        .collect();
    read(&inputs, &Options::default()).unwrap()
}

fn launches(profile: &Profile) -> u32 {
    profile.iter().map(|launch| launch.head.count).sum()
}

/// 2374 ns are printed as 2.37 us, 0.17% less; 2390 are of another run.
#[test]
fn a_summary_is_rounded() {
    let page = |time: u32| {
        format!(
            "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\",\
             \"Grid Size\",\"Device\",\"CC\",\"gpu__time_duration.sum\"\n\
             \"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"ns\"\n\
             \"0\",\"7\",\"app\",\"host\",\"k\",\"1\",\"7\",\"(256, 1, 1)\",\"(64, 1, 1)\",\"0\",\"9.0\",\"{time}\"\n"
        )
    };
    let summary = "\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\
                   \"Invocations\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Minimum\",\"Maximum\",\"Average\"\n\
                   \"7\",\"app\",\"host\",\"k\",\"(256, 1, 1)\",\"(64, 1, 1)\",\"0\",\"9.0\",\"1\",\"Command line profiler metrics\",\
                   \"gpu__time_duration.sum\",\"us\",\"2.37\",\"2.37\",\"2.37\"\n";
    assert_eq!(launches(&read_all(&[&page(2374), summary])), 1);
    assert_eq!(launches(&read_all(&[&page(2390), summary])), 2);
}

#[test]
fn a_table_that_is_in_its_file_twice_counts_once() {
    for twice in [format!("{HEADER}{ROWS}{HEADER}{ROWS}"), format!("{HEADER}{ROWS}{ROWS}")] {
        let profile = read_all(&[&twice]);
        assert_eq!((launches(&profile), profile.sources[0].repeated), (4, 4));
        let check = "0.csv: 2 rows of sums are repeated in this table (same kernel, launches and values; counted once)";
        assert_eq!(profile.checks, [check]);
    }
    let profile = read_all(&[&format!("{HEADER}{ROWS}\"mul\",1,2000,2000,25\n")]);
    assert_eq!(launches(&profile), 4);
    assert!(
        profile.checks[0].starts_with("0.csv: 1 row of sums is repeated"),
        "{:?}",
        profile.checks
    );
}

#[test]
fn another_run_counts_and_is_named() {
    // One kernel took exactly as long, the other did not.
    let more = "\"add\",3,6000,2000,75\n\"mul\",1,2001,2001,25\n";
    let profile = read_all(&[&format!("{HEADER}{ROWS}{HEADER}{more}")]);
    assert_eq!(launches(&profile), 8);
    let check = "0.csv: 2 rows of sums have the kernel of an earlier row, with other values; counted as another run or process";
    assert_eq!(profile.checks, [check]);
    assert!(read_all(&[&format!("{HEADER}{ROWS}")]).checks.is_empty());
}

#[test]
fn names_that_are_cut_alike_are_several_kernels() {
    let rows = "\"vectorized_elementwise_kernel<4, at...\",2,6000,3000,50\n";
    let profile = read_all(&[&format!("{HEADER}{rows}{rows}{ROWS}")]);
    assert_eq!((launches(&profile), profile.checks.len()), (8, 0));
    let profile = read_all(&[&format!("{HEADER}{rows}{rows}")]);
    assert_eq!((launches(&profile), profile.checks.len()), (4, 0));
    let all = format!("{rows}{rows}{ROWS}");
    let profile = read_all(&[&format!("{HEADER}{all}{HEADER}{all}")]);
    assert_eq!((launches(&profile), profile.sources[0].repeated), (8, 8));
}

#[test]
fn sums_of_two_ranks_are_nearly_equal_and_both_count() {
    let other = ROWS.replace("6000,2000", "6002,2000.67");
    let profile = read_all(&[&format!("{HEADER}{ROWS}"), &format!("{HEADER}{other}")]);
    assert_eq!((launches(&profile), profile.checks.len()), (8, 0));
    let profile = read_all(&[&format!("{HEADER}{ROWS}"), &format!("{HEADER}{ROWS}")]);
    assert_eq!((launches(&profile), profile.checks.len()), (4, 1));
}

/// `nsys stats` with two reports in one file.
#[test]
fn sums_of_kernels_beside_sums_by_grid_count_once() {
    let header =
        "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns)";
    let sums = format!(
        "{header},Name\n75.0,6000,3,2000.0,1,1,1,0.0,add\n25.0,2000,1,2000.0,1,1,1,0.0,mul\n"
    );
    let row = |part: &str| format!("{part},1,1,1,0.0,  64    1    1, 128    1    1");
    let by_grid = format!(
        "{header},GridXYZ,BlockXYZ,Name\n{},add\n50.0,4000,2,2000.0,1,1,1,0.0,  32    1    1, 128    1    1,add\n{},mul\n",
        row("25.0,2000,1,2000.0"),
        row("25.0,2000,1,2000.0")
    );
    for text in [format!("{sums}\n{by_grid}"), format!("{by_grid}\n{sums}")] {
        let profile = read_all(&[&text]);
        assert_eq!((launches(&profile), profile.sources[0].repeated), (4, 4), "{text}");
        assert_eq!(
            profile.checks,
            ["0.csv: the sums of kernels are also there by grid; counted once"]
        );
        assert!(profile.iter().all(|launch| launch.head.shape.blocks.is_some()));
    }
    // Sums of another run.
    let other = sums.replace("6000,3,2000.0", "6600,3,2200.0");
    assert_eq!(launches(&read_all(&[&format!("{other}\n{by_grid}")])), 8);
}

const TRACE: &str = "Index,KernelName,gpu-id,queue-id,grd,wgr,DispatchNs,BeginNs,EndNs,CompleteNs\n\
    0,\"add\",1,0,64,64,1,1000,3000,5\n1,\"mul\",1,0,64,64,1,4000,6000,5\n\
    2,\"add\",1,0,64,64,1,7000,9000,5\n3,\"add\",1,0,64,64,1,10000,12000,5\n";

/// A mapping says of its file that rows are sums; the launch table made of it does not.
#[test]
fn the_launch_table_of_mapped_sums_counts_once_beside_the_launches() {
    let header = "source,source_format,kernel,device_ordinal,launches,grid_x,threads_per_block,duration_s,duration_s_origin\n";
    let sums = format!(
        "{header}s.csv,mapped,add,,3,,,0.000002,derived\ns.csv,mapped,mul,,1,,,0.000002,derived\n"
    );
    for texts in [[TRACE, &sums], [&sums, TRACE]] {
        let profile = read_all(&texts);
        assert_eq!((launches(&profile), profile.checks.len()), (4, 1), "{:?}", profile.checks);
    }
    // Each row is a launch here.
    let each = sums.replace(",add,,3,", ",add,,1,");
    assert_eq!(launches(&read_all(&[TRACE, &each])), 6);
}

#[test]
fn a_table_of_sums_beside_its_launches_counts_once() {
    let sums = format!("{HEADER}{ROWS}");
    for texts in [[TRACE, &sums], [&sums, TRACE]] {
        let profile = read_all(&texts);
        assert_eq!((profile.launches.len(), launches(&profile)), (4, 4));
        let check = &profile.checks[0];
        assert!(check.contains(".csv sums up ") && check.ends_with("counted once"), "{check}");
    }
    // Where each kernel was launched once, both have as many rows.
    let (once, of_once) = (
        TRACE.split_once("2,\"add\"").unwrap().0,
        format!("{HEADER}\"add\",1,2000,2000,50\n\"mul\",1,2000,2000,50\n"),
    );
    for texts in [[once, &of_once], [&of_once, once]] {
        let profile = read_all(&texts);
        assert_eq!((launches(&profile), profile.checks.len()), (2, 1));
        assert!(profile.iter().all(|launch| launch.head.start.is_some()));
    }
    // A launch table made of it is still a table of sums.
    let options = Options::default();
    let alone = crate::ingest::read_text("sums.csv", &sums, &options).unwrap();
    let table = crate::table::Table::of(&alone).csv();
    for texts in [[TRACE, &table], [&table, TRACE]] {
        assert_eq!(launches(&read_all(&texts)), 4);
    }
    // That of another run is not it.
    let other = sums.replace("6000,2000", "6100,2033");
    let profile = read_all(&[TRACE, &other]);
    assert_eq!((launches(&profile), profile.checks.len()), (8, 0));
    let other = sums.replace("\"mul\"", "\"sub\"");
    assert_eq!(launches(&read_all(&[TRACE, &other])), 8);
}

/// Three launches of one report of Nsight Compute, and its summary of them.
#[test]
fn a_summary_of_a_report_beside_its_page_counts_once() {
    let mut page = "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n".to_owned();
    for (id, name, time) in [(0, "a", "100"), (1, "a", "300"), (2, "b", "50")] {
        page += &format!(
            "\"{id}\",\"1\",\"app\",\"127.0.0.1\",\"{name}\",\"1\",\"7\",\"(256, 1, 1)\",\"(64, 1, 1)\",\"0\",\"9.0\",\"Command line profiler metrics\",\"gpu__time_duration.sum\",\"ns\",\"{time}\"\n"
        );
    }
    let mut summary = "\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Invocations\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Minimum\",\"Maximum\",\"Average\"\n".to_owned();
    for (name, count, [least, most, mean]) in [("a", 2, [100, 300, 200]), ("b", 1, [50, 50, 50])] {
        summary += &format!(
            "\"1\",\"app\",\"127.0.0.1\",\"{name}\",\"(256, 1, 1)\",\"(64, 1, 1)\",\"0\",\"9.0\",\"{count}\",\"Command line profiler metrics\",\"gpu__time_duration.sum\",\"ns\",\"{least}\",\"{most}\",\"{mean}\"\n"
        );
    }
    assert_eq!(launches(&read_all(&[&summary])), 3);
    for texts in [[&page, &summary], [&summary, &page]] {
        let profile = read_all(&texts.map(String::as_str));
        assert_eq!((launches(&profile), profile.checks.len()), (3, 1));
        assert!(profile.checks[0].ends_with("counted once"), "{:?}", profile.checks);
    }
    // Of another run.
    let other = summary.replace("\"200\"", "\"210\"");
    assert_eq!(launches(&read_all(&[&page, &other])), 6);
}

/// XProf has a row for each grid of a kernel: those of some grids are not all of the kernel.
#[test]
fn some_rows_of_a_table_beside_all_of_it_count_once() {
    let header = "Rank,Kernel Name,Registers per thread,Shared Mem bytes,Block dim,Grid dim,Op Name,Occurrences,\
                  Total Duration (μs),Avg Duration (μs)\n";
    let row = |at: u32, time: u32| {
        format!(
            "{at},fusion_{},24,0,\"256,1,1\",\"{at},1,1\",add,2,{time}.5,{}.25\n",
            at % 3,
            time / 2
        )
    };
    let table = |rows: &[(u32, u32)]| {
        header.to_owned() + &rows.iter().map(|(at, time)| row(*at, *time)).collect::<String>()
    };
    let all = table(&[(1, 10), (2, 20), (3, 30), (4, 40), (5, 50), (6, 60)]);
    let part = table(&[(1, 10), (2, 20), (3, 30), (6, 60)]);
    for texts in [[&all, &part], [&part, &all]] {
        let profile = read_all(&texts.map(String::as_str));
        assert_eq!((launches(&profile), profile.checks.len()), (12, 1), "{:?}", profile.checks);
    }
    // Three rows may be equal by chance, and one other time is another run.
    for other in [table(&[(1, 10), (2, 20), (6, 60)]), table(&[(1, 10), (2, 20), (3, 30), (6, 62)])]
    {
        let profile = read_all(&[&all, &other]);
        assert!(launches(&profile) > 12 && profile.checks.is_empty(), "{:?}", profile.checks);
    }
}

/// Without times, rows of the same figures are copies; other figures are of another run.
#[test]
fn a_copy_of_sums_without_times_counts_once() {
    let header = "\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\
                  \"Invocations\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Minimum\",\"Maximum\",\"Average\"\n";
    let row = |name: &str, bytes: u32| {
        format!(
            "\"7\",\"app\",\"host\",\"{name}\",\"(256, 1, 1)\",\"(64, 1, 1)\",\"0\",\"9.0\",\"5\",\"Command line profiler metrics\",\
             \"dram__bytes.sum\",\"byte\",\"{bytes}\",\"{bytes}\",\"{bytes}\"\n"
        )
    };
    let table = |last: u32| {
        header.to_owned() + &row("a", 4000) + &row("b", 5000) + &row("c", 6000) + &row("d", last)
    };
    let (one, other) = (table(7000), table(7100));
    let alone =
        crate::ingest::read_text("sums.csv", one.clone().leak(), &Options::default()).unwrap();
    let converted = crate::table::Table::of(&alone).csv();
    for texts in [[&one, &one], [&one, &converted], [&converted, &one]] {
        let profile = read_all(&texts.map(String::as_str));
        assert_eq!((launches(&profile), profile.checks.len()), (20, 1), "{:?}", profile.checks);
    }
    // Operations are those of any rank.
    let counted =
        one.replace("dram__bytes.sum", "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum");
    let counted = counted.replace("\"byte\"", "\"inst\"");
    for texts in [[&one, &other], [&counted, &counted.replace("\"7\",", "\"8\",")]] {
        let profile = read_all(&texts.map(String::as_str));
        assert_eq!(launches(&profile), 40, "{:?}", profile.checks);
    }
}

/// `key_averages().table()` cuts names, and shows the kernels that took longest.
#[test]
fn sums_of_names_that_are_cut_or_bare_lie_in_a_trace() {
    let kernel = |at: u32| format!("void at::native::elementwise_kernel<128, 4, Functor{at}>(int)");
    let header =
        "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Device,Ctx,Strm,Name\n";
    let launch = |at: u32| {
        format!(
            "{at}000,{}000,{at},64,1,1,128,1,1,A100 (0),1,7,\"{}\"\n",
            10 + at % 6,
            kernel(at % 6)
        )
    };
    let trace = header.to_owned() + &(0..12).map(launch).collect::<String>();
    let averages = |kernels: std::ops::Range<u32>, longer: u32| {
        let row = |at: u32| {
            let name: String = kernel(at).chars().take(52).collect();
            format!(
                "{name}...  0.00%  0.000us  0.00%  0.000us  0.000us  {}.000us  9.00%  1us  1us  2\n",
                2 * (10 + at) + longer
            )
        };
        "Name  Self CPU %  Self CPU  CPU total %  CPU total  CPU time avg  Self CUDA  Self CUDA %  CUDA total  CUDA time avg  # of Calls\n"
            .to_owned()
            + &kernels.map(row).collect::<String>()
    };
    for (table, all) in [
        (averages(0..6, 0), 12),
        (averages(2..6, 0), 12),
        // Three kernels are not enough, and other sums are of another run.
        (averages(3..6, 0), 18),
        (averages(0..6, 1), 24),
    ] {
        for texts in [[&trace, &table], [&table, &trace]] {
            let profile = read_all(&texts.map(String::as_str));
            let is_named = profile.checks.iter().any(|check| check.contains(" sums up "));
            assert_eq!((launches(&profile), is_named), (all, all == 12), "{table}");
        }
    }
    // Only the names of functions: all six are one.
    let time: u32 = (0..6).map(|at| 2000 * (10 + at)).sum();
    let base = format!(
        "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n100.0,{time},12,{}.0,1.0,1,1,0.0,elementwise_kernel\n",
        time / 12
    );
    let profile = read_all(&[&trace, &base]);
    assert_eq!((launches(&profile), profile.checks.len()), (12, 1));
}
