//! Outputs of nvprof: units that differ from column to column, and metrics that find their launches by name.

use std::path::{Path, PathBuf};

use rooflint::ingest::{self, Input, Options};
use rooflint::model::{Pipe, Profile, Quantity};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

fn read(names: &[&str]) -> Profile {
    let inputs: Vec<Input> = names.iter().map(|name| Input::Named(fixture(name))).collect();
    ingest::read(&inputs, &Options { strict: true, ..Options::default() }).unwrap()
}

const TRACE: &str = "nvprof_trace/p100-cuda8.csv";
const UNIFIED: &str = "nvprof_trace/p100-unified-memory-cuda10.csv";
const SUMMARY: &str = "nvprof_summary/p100.csv";
const METRICS: &str = "nvprof_metrics/p100.csv";

#[test]
fn traces_of_both_eras_have_the_same_launches() {
    let rows = |name: &str| {
        let profile = read(&[name]);
        let launches = profile.iter().map(|launch| {
            let head = launch.head;
            let figures =
                [Quantity::Duration, Quantity::RegistersPerThread, Quantity::SharedMemoryPerBlock]
                    .map(|quantity| launch.value(quantity).map(|value| (value * 1e9).round()));
            let start = head.start.unwrap() / 1_000;
            (launch.kernel().to_owned(), figures, start, head.shape, head.stream)
        });
        (launches.collect::<Vec<_>>(), profile.sources[0].clues.clone())
    };
    let (old, clues) = rows(TRACE);
    assert_eq!(clues, ["1 copy or memset (373 µs) is left out: it is not a kernel"]);
    assert_eq!(old.len(), 6);
    let (name, figures, start, shape, stream) = &old[1];
    // The number of the launch stands behind the name here.
    assert_eq!(name, "transpose(float*, float const *, int)");
    assert_eq!(figures[0], Some(88_250.0));
    // 4.125 KB of 1024 bytes.
    assert_eq!(figures[2], Some(4_224e9));
    assert_eq!((*start, shape.blocks, *stream), (648_200, Some(1024), Some(7)));
    let (new, clues) = rows(UNIFIED);
    assert!(clues[0].starts_with("2 copies, memsets and page faults"), "{clues:?}");
    assert_eq!(new, old);
}

#[test]
fn a_summary_has_kernels_and_nothing_of_the_host() {
    let profile = read(&["nvprof_summary/p100.csv"]);
    let rows: Vec<_> = profile
        .iter()
        .map(|one| (one.head.count, (one.value(Quantity::Duration).unwrap() * 1e9).round()))
        .collect();
    assert_eq!(rows, [(2, 95_500.0), (2, 88_250.0), (2, 21_500.0)]);
}

#[test]
fn metrics_join_the_launches_of_their_kernel() {
    let profile = read(&[TRACE, METRICS]);
    assert_eq!(profile.launches.len(), 6);
    assert!(profile.notes.iter().any(|note| note.contains("joined the metrics of 3 kernels")));
    for launch in profile.iter() {
        let (bytes, origin) = launch.dram_bytes().unwrap();
        // All launches of the kernel are alike: their sum is right.
        assert!(origin.is_exact());
        let product = launch.kernel().contains("product");
        let flops = launch.value(Quantity::Work(Pipe::Fp32Vector));
        assert_eq!(flops, Some(if product { 131_072_000.0 } else { 0.0 }));
        if product {
            assert_eq!(bytes.get(), 32.0 * (39_200.0 + 25_600.0));
        }
        let stores = launch.value(Quantity::StoreSectorEfficiency);
        assert_eq!(stores, Some(if launch.kernel().contains("transpose") { 0.125 } else { 1.0 }));
    }
}

/// Alone they have no time; with another number of launches they are of another run.
#[test]
fn metrics_that_do_not_fit_stay_apart_and_say_so() {
    let alone = read(&[METRICS]);
    assert_eq!((alone.launches.len(), alone.sources[0].launches), (3, 6));
    assert!(alone.iter().all(|launch| launch.duration().is_none()));
    assert!(!alone.launch(0).dram_bytes().unwrap().1.is_exact());

    let folder = tempfile::tempdir().unwrap();
    let cut = folder.path().join("trace.csv");
    let text = std::fs::read_to_string(fixture(TRACE)).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    std::fs::write(&cut, lines[..lines.len() - 1].join("\n")).unwrap();
    let inputs = [Input::Named(cut), Input::Named(fixture(METRICS))];
    let profile = ingest::read(&inputs, &Options::default()).unwrap();
    assert!(profile.notes.iter().any(|note| note.contains("1 kernel was not joined: the trace")));
    assert_eq!(profile.launches.len(), 5 + 1);

    // The summary of the trace is not another run; with other times it is.
    let both = read(&[TRACE, SUMMARY, METRICS]);
    assert!(both.notes.iter().any(|note| note.contains("sums up")), "{:?}", both.notes);
    let other = folder.path().join("summary.csv");
    let text = std::fs::read_to_string(fixture(SUMMARY)).unwrap();
    let slower = text.replacen("0.191000,2", "0.291000,2", 1);
    std::fs::write(&other, slower).unwrap();
    let inputs = [fixture(TRACE), other, fixture(METRICS)].map(Input::Named);
    let both = ingest::read(&inputs, &Options::default()).unwrap();
    assert!(both.notes.iter().any(|note| note.contains("several traces have the same kernels")));
}

/// Launches of one name with different grids: each lies between the extremes that were seen.
#[test]
fn averages_over_different_grids_bound_each_launch() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.csv");
    let text = std::fs::read_to_string(fixture(TRACE)).unwrap();
    std::fs::write(&path, text.replacen(",20,10,1,32,32,1,", ",40,10,1,32,32,1,", 1)).unwrap();
    let metrics = folder.path().join("metrics.csv");
    let text = std::fs::read_to_string(fixture(METRICS)).unwrap();
    let uneven = text.replace("131072000,131072000,131072000", "65536000,196608000,131072000");
    std::fs::write(&metrics, uneven).unwrap();
    let inputs = [Input::Named(path), Input::Named(metrics)];
    let profile = ingest::read(&inputs, &Options::default()).unwrap();
    let product = profile.iter().find(|launch| launch.kernel().contains("product")).unwrap();
    let (flops, origin) = product.get(Quantity::Work(Pipe::Fp32Vector)).unwrap();
    assert_eq!((flops, origin.low, origin.high), (131_072_000.0, 0.5, 1.5));
}

/// Fills of 608 ns on one stream, whose starts are printed alike: the numbers of nvprof tell them apart.
#[test]
fn copies_with_numbers_of_their_own_all_count() {
    let read = |second: u32| {
        let fill = |number: u32| {
            format!(
                "1.234567,0.608000,,,,,,,,,,1.000000,2.0,\"P100 (0)\",1,7,\"[CUDA memset]\",{number}\n"
            )
        };
        let text = format!(
            "==7== Profiling result:\n\"Start\",\"Duration\",\"Grid X\",\"Grid Y\",\"Grid Z\",\"Block X\",\"Block Y\",\"Block Z\",\
             \"Registers Per Thread\",\"Static SMem\",\"Dynamic SMem\",\"Size\",\"Throughput\",\"Device\",\"Context\",\"Stream\",\
             \"Name\",\"Correlation_ID\"\ns,us,,,,,,,,KB,B,KB,MB/s,,,,,\n\
             1.300000,5.000000,1,1,1,32,1,1,8,0,0,,,\"P100 (0)\",1,7,k,9\n{}{}",
            fill(11),
            fill(second)
        );
        let profile = ingest::read_text("trace.csv", text.leak(), &Options::default()).unwrap();
        (
            profile.activities.len(),
            profile.notes.iter().any(|note| note.contains("1 copy or fill is repeated")),
        )
    };
    assert_eq!([read(12), read(11)], [(2, false), (1, true)]);
}
