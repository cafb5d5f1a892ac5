//! Exports of Nsight Systems: what each launch is, which range it lies in, and what must never be printed.

use std::path::{Path, PathBuf};

use rooflint::ingest::{self, Input, Options};
use rooflint::model::{Profile, Quantity};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

fn read(path: &Path) -> Result<Profile, String> {
    ingest::read(&[Input::Named(path.to_owned())], &Options::default())
        .map_err(|error| format!("{error} | help: {}", error.next_step().unwrap_or_default()))
}

const RANKS: &str = "nsys_sqlite/h100-two-ranks-2025.5.sqlite";

/// What the generator wrote: three steps of five launches in two processes, and one launch before.
#[test]
fn launches_of_a_database_are_those_of_its_rows_in_the_order_of_their_start() {
    let profile = read(&fixture(RANKS)).unwrap();
    assert_eq!(profile.launches.len(), 31);
    let starts: Vec<u64> = profile.iter().map(|launch| launch.head.start.unwrap()).collect();
    assert!(starts.is_sorted());
    // The zero of the capture, and the row with the smallest start.
    assert_eq!(starts[0], 1_760_000_000_000_000_000 + 150_000_000);
    let first = profile.launch(0);
    assert_eq!((first.kernel(), first.head.process, first.head.id), ("<string 99>", 4100, 0));
    let gemms: Vec<_> =
        profile.iter().filter(|launch| launch.kernel().contains("cutlass")).collect();
    assert_eq!(gemms.len(), 6);
    let gemm = gemms[0];
    let grid = gemm.head.shape.grid.unwrap();
    assert_eq!((grid.x, grid.y, grid.z), (132, 4, 1));
    assert_eq!(gemm.head.shape.threads_per_block, Some(128));
    assert_eq!(gemm.value(Quantity::Duration), Some(412e-6));
    assert_eq!(gemm.value(Quantity::RegistersPerThread), Some(168.0));
    // 96 KiB asked for, and 1 KiB that the driver takes on this generation.
    assert_eq!(gemm.value(Quantity::SharedMemoryPerBlock), Some(97.0 * 1024.0));
    assert_eq!(gemm.head.stream, Some(7));
    // Numbers of launches are those within their process.
    let mut ids: Vec<u32> =
        profile.iter().filter(|one| one.head.process == 4200).map(|one| one.head.id).collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..15).collect::<Vec<u32>>());
    let source = &profile.sources[0];
    assert_eq!((source.rows, source.launches, source.skips.count), (31, 31, 0));
    let has = |part: &str| source.clues.iter().any(|clue| clue.contains(part));
    assert!(has("5 copies and memsets (81.5 µs) are left out"), "{:?}", source.clues);
    assert!(profile.checks.iter().any(|check| check.contains("Not all CUDA events")));
}

/// One warning is in the file; of six more and a repeated one two are shown and four counted.
#[test]
fn messages_of_the_profiler_beyond_the_first_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("warned.sqlite");
    std::fs::copy(fixture(RANKS), &path).unwrap();
    let database = rusqlite::Connection::open(&path).unwrap();
    for number in [1, 2, 2, 3, 4, 5, 6] {
        let text = format!("CUDA buffer {number} was lost");
        let row = "INSERT INTO DIAGNOSTIC_EVENT (severity, text) VALUES (3, ?1)";
        database.execute(row, [text]).unwrap();
    }
    drop(database);
    let told = |profile: &Profile| {
        let says = |check: &&String| check.contains("the profiler");
        let all = profile.checks.iter().filter(says);
        all.map(|check| check.split_once("the profiler ").unwrap().1.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        told(&read(&path).unwrap()),
        [
            "says: Not all CUDA events might have been collected.",
            "says: CUDA buffer 1 was lost",
            "says: CUDA buffer 2 was lost",
            "has 4 more messages of what it may have lost",
        ]
    );
    let database = rusqlite::Connection::open(&path).unwrap();
    database.execute("DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL", []).unwrap();
    drop(database);
    let error = read(&path).unwrap_err();
    let said = "; nsys says: Not all CUDA events might have been collected. (and 6 more)";
    assert!(error.contains(said), "{error}");
}

#[test]
fn rows_that_are_in_the_table_again_count_once() {
    let folder = tempfile::tempdir().unwrap();
    let twice = folder.path().join("twice.sqlite");
    std::fs::copy(fixture(RANKS), &twice).unwrap();
    let table = "CUPTI_ACTIVITY_KIND_KERNEL";
    let database = rusqlite::Connection::open(&twice).unwrap();
    // Two kernels of one call that began at once on two streams, as those of a graph do, stay two.
    database
        .execute_batch(&format!(
            "CREATE TEMP TABLE one AS SELECT * FROM {table} LIMIT 1; UPDATE one SET streamId = 99; \
             INSERT INTO {table} SELECT * FROM one; INSERT INTO {table} SELECT * FROM {table};"
        ))
        .unwrap();
    drop(database);
    let profile = read(&twice).unwrap();
    let source = &profile.sources[0];
    assert_eq!((profile.launches.len(), source.rows, source.repeated), (32, 64, 32));
    assert!(source.clues.iter().any(|clue| clue == "32 rows repeat earlier ones and are left out"));
}

#[test]
fn both_processes_see_a_device_0_and_are_on_different_ones() {
    let profile = read(&fixture(RANKS)).unwrap();
    let device = |process: u32| {
        let launch = profile.iter().find(|launch| launch.head.process == process).unwrap();
        &profile.devices[launch.head.device.position()]
    };
    assert_eq!(device(4100).name.as_deref(), Some("NVIDIA H100 80GB HBM3"));
    assert_eq!(device(4100).sms, Some(132));
    assert_eq!(
        (device(4100).ordinal.as_deref(), device(4200).ordinal.as_deref()),
        (Some("0"), Some("1"))
    );
    // The number of a device is not its place in the table.
    let old = read(&fixture("nsys_sqlite/a100-devices-renumbered-2022.1.sqlite")).unwrap();
    let used = &old.devices[old.launch(0).head.device.position()];
    assert_eq!(used.name.as_deref(), Some("NVIDIA A100-SXM4-40GB"));
    let clues = &old.sources[0].clues;
    assert!(clues.iter().any(|clue| clue.starts_with("4 of 8 launches have no")), "{clues:?}");
    // Clocks in kHz, in a table that newer exports do not have.
    let older = read(&fixture("nsys_sqlite/v100-2020.sqlite")).unwrap();
    let used = &older.devices[older.launch(0).head.device.position()];
    assert_eq!(used.name.as_deref(), Some("Tesla V100-SXM2-16GB"));
    assert_eq!(used.max_sm_clock.unwrap().get(), 1.53e9);
    assert_eq!(older.names.get(older.launch(0).head.operator), "step");
}

/// The profile of a fixture that was changed by SQL.
fn changed(sql: &str) -> Profile {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.sqlite");
    std::fs::copy(fixture(RANKS), &file).unwrap();
    rusqlite::Connection::open(&file).unwrap().execute_batch(sql).unwrap();
    read(&file).unwrap()
}

/// Before 2025.1 only the number is there that a process knows its GPU by, which is 0 where it sees one.
#[test]
fn processes_that_see_a_device_0_have_one_each_unless_there_is_only_one() {
    let devices = |sql: &str| {
        let profile = changed(&format!("DROP TABLE TARGET_INFO_CUDA_DEVICE; {sql}"));
        let ordinal = |process: u32| {
            let launch = profile.iter().find(|launch| launch.head.process == process).unwrap();
            let device = &profile.devices[launch.head.device.position()];
            assert_eq!(device.name.as_deref(), Some("NVIDIA H100 80GB HBM3"));
            device.ordinal.clone().unwrap()
        };
        let said = profile.checks.iter().find(|check| check.contains("2 processes used a GPU"));
        let said = said.map(|check| check.contains("as one GPU for each process"));
        ([ordinal(4100), ordinal(4200)], said)
    };
    let own = ["0 of process 4100", "0 of process 4200"].map(str::to_owned);
    let same = ["0", "0"].map(str::to_owned);
    assert_eq!(devices(""), (own, Some(true)));
    assert_eq!(
        devices("DELETE FROM TARGET_INFO_GPU WHERE cuDevice > 0 OR smCount = 0;"),
        (same.clone(), None)
    );
    // A process that sees two has not been shown one alone.
    let two = "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET deviceId = 1 WHERE start = (SELECT max(start) \
               FROM CUPTI_ACTIVITY_KIND_KERNEL);";
    assert_eq!(devices(two), (same, Some(false)));
    // Numbers other than 0 are of processes that see several.
    let third = ["3", "3"].map(str::to_owned);
    assert_eq!(devices("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET deviceId = 3;").0, third);
    // Of unlike GPUs it would not be known which a process has.
    let unlike = "UPDATE TARGET_INFO_GPU SET name = 'NVIDIA T400' WHERE cuDevice = 0 AND id > 0;";
    let unlike = changed(&format!("DROP TABLE TARGET_INFO_CUDA_DEVICE; {unlike}"));
    let launch = unlike.launch(0);
    assert_eq!(unlike.devices[launch.head.device.position()].ordinal.as_deref(), Some("0"));
}

/// A graph that was traced as a whole is time of a GPU without kernels, unless its kernels are there, too.
#[test]
fn a_graph_is_missing_only_where_its_kernels_are() {
    let table = "DROP VIEW IF EXISTS CUPTI_ACTIVITY_KIND_GRAPH_TRACE; CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId INTEGER, \
                 globalPid INTEGER, correlationId INTEGER);";
    let rows = |correlation: &str| {
        changed(&format!(
            "{table} INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE SELECT start, end + 1000, deviceId, globalPid, \
             {correlation} FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE correlationId IS NOT NULL LIMIT 1;"
        ))
    };
    let graphs = |profile: &Profile| {
        let of = profile.activities.iter();
        let graphs = of.filter(|one| profile.names.get(one.name) == "[CUDA graph]").count();
        let said = profile.checks.iter().find(|check| check.contains("CUDA graph"));
        (graphs, said.map(|check| check.contains("1 launch of a CUDA graph was traced as a whole")))
    };
    assert_eq!(graphs(&rows("correlationId")), (0, None));
    assert_eq!(graphs(&rows("999999")), (1, Some(true)));
}

/// Branches of a graph run side by side, and the export has them on one stream.
#[test]
fn nodes_of_a_graph_at_one_time_are_no_repeats() {
    let table = "CUPTI_ACTIVITY_KIND_KERNEL";
    let node = |node: u32| {
        format!("UPDATE one SET graphNodeId = {node}; INSERT INTO {table} SELECT * FROM one;")
    };
    let again = |nodes: &[u32]| {
        let rows: String = nodes.iter().map(|number| node(*number)).collect();
        let profile = changed(&format!(
            "CREATE TEMP TABLE one AS SELECT * FROM {table} ORDER BY start LIMIT 1; DELETE FROM {table} WHERE start = \
             (SELECT start FROM one); {rows}"
        ));
        (profile.launches.len(), profile.sources[0].repeated)
    };
    assert_eq!(again(&[1]), (31, 0));
    assert_eq!(again(&[1, 2, 3]), (33, 0));
    assert_eq!(again(&[1, 2, 2, 1]), (32, 2));
}

/// The innermost range of the program on the thread of the call; a library's where there is none; nothing for the
/// process that has no ranges and for the launch without a call.
#[test]
fn a_launch_belongs_to_the_range_of_its_call() {
    let profile = read(&fixture(RANKS)).unwrap();
    let operators = |process: u32, kernel: &str| {
        let launches = profile
            .iter()
            .filter(|one| one.head.process == process && one.kernel().contains(kernel));
        let mut found: Vec<&str> =
            launches.map(|one| profile.names.get(one.head.operator)).collect();
        found.dedup();
        found
    };
    assert_eq!(operators(4100, "cutlass"), ["aten::addmm, sizes = [[4096], [8192, 4096]]"]);
    assert_eq!(operators(4100, "CUDAFunctor_add"), ["aten::add_"]);
    assert_eq!(operators(4100, "FillFunctor"), ["ProfilerStep"]);
    assert_eq!(operators(4100, "nccl"), ["ncclAllReduce"]);
    assert_eq!(operators(4100, "reduce_kernel"), [""]);
    assert_eq!(operators(4100, "<string 99>"), [""]);
    assert_eq!(operators(4200, "cutlass"), [""]);
}

/// Exports hold the environment of the profiled process, and names of users and hosts.
#[test]
fn nothing_private_of_an_export_is_passed_on() {
    let profile = read(&fixture(RANKS)).unwrap();
    let mut text = format!("{profile:?}");
    text.push_str(&rooflint::table::Table::of(&profile).json());
    assert!(!text.contains("SECRET") && !text.contains("hunter2"), "{text}");
    let bytes = std::fs::read(fixture(RANKS)).unwrap();
    assert!(bytes.windows(6).any(|window| window == b"SECRET"));
}

/// While a kernel ran that cannot be read, the GPU was not idle.
#[test]
fn a_database_with_a_kernel_that_cannot_be_read_has_no_timeline() {
    use rooflint::model::Recorded;
    let of = |sql: &str| {
        let profile = changed(sql);
        let source = &profile.sources[0];
        (profile.launches.len(), source.skips.count, source.recorded)
    };
    let first = "WHERE start = (SELECT min(start) FROM CUPTI_ACTIVITY_KIND_KERNEL)";
    let broken = format!("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = start - 1 {first};");
    assert_eq!(of(""), (31, 0, Recorded::Everything));
    assert_eq!(of(&broken), (30, 1, Recorded::Launches));
    // Nor was it while something was copied.
    let copied = |sql: &str| {
        let source = &changed(&format!("UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET {sql};")).sources[0];
        let clue = source.clues.iter().find(|clue| clue.contains("no start, or no end after it"));
        (clue.is_some(), source.recorded)
    };
    assert_eq!(copied("end = NULL"), (true, Recorded::Launches));
    assert_eq!(copied("start = end + 1"), (true, Recorded::Launches));
    assert_eq!(copied("bytes = 0"), (false, Recorded::Everything));
    // One that was not recorded is not known to be missing.
    let deleted = format!("DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL {first};");
    assert_eq!(of(&deleted), (30, 0, Recorded::Everything));
}

#[test]
fn a_database_may_come_compressed_or_with_a_name_that_needs_care() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = std::fs::read(fixture(RANKS)).unwrap();
    let odd = folder.path().join("100% of #1?.sqlite");
    std::fs::write(&odd, &bytes).unwrap();
    let zipped = folder.path().join("run.sqlite.gz");
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, &bytes).unwrap();
    std::fs::write(&zipped, encoder.finish().unwrap()).unwrap();
    for path in [&odd, &zipped] {
        assert_eq!(read(path).unwrap().launches.len(), 31, "{}", path.display());
    }
    // Nothing is left beside it.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn a_database_that_is_still_written_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.sqlite");
    std::fs::copy(fixture(RANKS), &path).unwrap();
    for (ending, what) in [("-wal", "write-ahead log"), ("-journal", "journal")] {
        let beside = folder.path().join(format!("run.sqlite{ending}"));
        std::fs::write(&beside, "").unwrap();
        assert!(read(&path).is_ok(), "an empty {what}");
        std::fs::write(&beside, "x").unwrap();
        let error = read(&path).unwrap_err();
        assert!(error.contains("unfinished or in use") && error.contains(what), "{error}");
        std::fs::remove_file(&beside).unwrap();
    }
}

#[test]
fn kernels_of_dlprof_have_their_operators() {
    let profile = read(&fixture("nsys_sqlite/v100-dlprof-1.8.sqlite")).unwrap();
    assert_eq!(profile.launches.len(), 6);
    let launch = profile.launch(0);
    assert!(launch.kernel().contains("cutlass_80_tensorop"));
    assert_eq!(launch.value(Quantity::Duration), Some(150e-6));
    assert_eq!(launch.head.shape.blocks, Some(128));
    assert_eq!(profile.names.get(launch.head.operator), "/MatMul");
    let device = &profile.devices[launch.head.device.position()];
    assert_eq!(device.name.as_deref(), Some("Tesla V100-SXM2-16GB"));
    assert_eq!(profile.sources[0].profiler.label(), "DLProf");
}

/// The same seven launches in three eras: units differ, and what is printed of them.
#[test]
fn traces_of_all_eras_have_the_same_launches() {
    let rows = |name: &str| {
        let profile = read(&fixture(name)).unwrap();
        let clues = &profile.sources[0].clues;
        assert_eq!(clues, &["1 copy or memset (1.22 µs) is left out: it is not a kernel"]);
        let launches = profile.iter().map(|launch| {
            let head = launch.head;
            let time = launch.value(Quantity::Duration).unwrap();
            let start = head.start.unwrap() / 1_000;
            (launch.kernel().to_owned(), (time * 1e9).round(), start, head.shape, head.stream)
        });
        launches.collect::<Vec<_>>()
    };
    let new = rows("nsys_trace/h100-2025-stdout.csv");
    assert_eq!(new.len(), 7);
    assert_eq!((new[0].1, new[0].2, new[0].4), (412_001.0, 150_001, Some(7)));
    assert_eq!(new[6].4, Some(20));
    assert_eq!(rows("nsys_trace/h100-2022-microseconds.csv"), new);
    assert_eq!(rows("nsys_trace/h100-2021.csv"), new);
    let profile = read(&fixture("nsys_trace/h100-2025-stdout.csv")).unwrap();
    assert_eq!(profile.launch(0).value(Quantity::RegistersPerThread), Some(168.0));
    let device = &profile.devices[profile.launch(0).head.device.position()];
    assert_eq!(device.name.as_deref(), Some("NVIDIA H100 80GB HBM3"));
    assert_eq!(device.ordinal.as_deref(), Some("0"));
}

/// 412,001 + 413,001 ns of two products, and so on; a row stands for its launches.
#[test]
fn sums_stand_for_their_launches() {
    for (name, rows, launches) in [
        ("nsys_sum/h100-gpukernsum-2021.csv", 5, 7),
        ("nsys_sum/h100-cuda_gpu_kern_sum.csv", 6, 11),
        ("nsys_sum/h100-cuda_gpu_kern_gb_sum.csv", 5, 7),
        ("nsys_sum/h100-cuda_gpu_sum.csv", 5, 7),
    ] {
        let profile = read(&fixture(name)).unwrap();
        assert_eq!(
            (profile.launches.len(), profile.sources[0].launches),
            (rows, launches),
            "{name}"
        );
        let gemm = profile.iter().find(|launch| launch.kernel().contains("cutlass")).unwrap();
        assert_eq!(gemm.head.count, 2, "{name}");
        assert!((gemm.value(Quantity::Duration).unwrap() - 412_501e-9).abs() < 1e-15, "{name}");
        let blocks = name.contains("_gb_").then_some(528);
        assert_eq!(gemm.head.shape.blocks, blocks, "{name}");
        let is_uneven = profile.sources[0].clues.iter().any(|clue| clue.contains("differ widely"));
        assert_eq!(is_uneven, name.ends_with("kern_sum.csv"), "{name}");
    }
}

/// One process with a thread for each of two GPUs, of which each annotates its own steps of three kernels: those of GPU 1
/// take half as long again. Two copies that begin and end at once on two streams are two.
#[test]
fn a_gpu_has_the_steps_of_the_thread_that_launches_its_kernels() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.sqlite");
    let (process, start) = (281_543_763_296_256_i64, 1_000_000_i64);
    let mut sql = "CREATE TABLE META_DATA_EXPORT (name, value); INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.17.1'); \
        CREATE TABLE TARGET_INFO_GPU (id, name, cuDevice, smCount); \
        INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H100 80GB HBM3', 0, 132), (1, 'NVIDIA H100 80GB HBM3', 1, 132); \
        CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value); INSERT INTO StringIds VALUES (1, 'k'); \
        CREATE TABLE NVTX_EVENTS (start, end, eventType, text, globalTid); \
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId); \
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, correlationId, globalPid, demangledName, \
        gridX, gridY, gridZ, blockX, blockY, blockZ); \
        CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, streamId, correlationId, globalPid, bytes, copyKind);"
        .to_owned();
    let mut correlation = 0;
    for (device, period) in [(0, 100_000), (1, 150_000)] {
        let thread = process + 100 + device;
        for step in 0..4 {
            let begin = start + step * period;
            let (from, to) = (begin - 20_000, begin + 60_000);
            sql += &format!(
                "INSERT INTO NVTX_EVENTS VALUES ({from}, {to}, 59, 'step {step}', {thread});"
            );
            for kernel in 0..3 {
                correlation += 1;
                let at = begin + kernel * 20_000;
                let (called, end) = (at - 9_000, at + 15_000);
                sql += &format!(
                    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ({called}, {called} + 4000, {thread}, {correlation}, 1); \
                     INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({at}, {end}, {device}, 7, {correlation}, {process}, 1, \
                     8, 1, 1, 128, 1, 1);"
                );
            }
        }
    }
    for stream in [13, 14] {
        sql += &format!(
            "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES ({start}, {start} + 500, 0, {stream}, NULL, {process}, 4096, 1);"
        );
    }
    rusqlite::Connection::open(&path).unwrap().execute_batch(&sql).unwrap();
    let profile = read(&path).unwrap();
    let steps = |ordinal: &str| -> Vec<(u64, u64)> {
        let of = profile.steps.iter().filter(|step| {
            profile.devices[step.device.position()].ordinal.as_deref() == Some(ordinal)
        });
        of.filter(|step| !step.is_last).map(|step| (step.end - step.start, step.launches)).collect()
    };
    assert_eq!(steps("0"), [(100_000, 3); 3]);
    assert_eq!(steps("1"), [(150_000, 3); 3]);
    let copied: u64 = profile.activities.iter().filter_map(|one| one.bytes).sum();
    assert_eq!((profile.activities.len(), copied), (2, 8192));
}
