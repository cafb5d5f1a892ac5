//! The levels of the memory hierarchy beside the headline: figures worked out apart, and their law.

use rooflint::analysis::{self, Analysis, Binding, CeilingSet, Kernel, Options};
use rooflint::catalog::Catalog;
use rooflint::ingest::{self, Input};
use rooflint::model::MemoryLevel;
use rooflint::units::Seconds;

use super::golden::{fixtures, reading};

fn analyzed(text: &str, device: &str) -> Analysis {
    let text: &'static str = Box::leak(text.to_owned().into_boxed_str());
    let profile = ingest::read_text("text", text, &ingest::Options::default()).unwrap();
    let options = Options { device: Some(device.to_owned()), ..Options::default() };
    analysis::analyze(&profile, &Catalog::builtin(), &options).unwrap()
}

fn near(found: Option<Seconds>, expected: f64, label: &str) {
    let found = found.unwrap_or_else(|| panic!("{label} is missing")).get();
    assert!((found / expected - 1.0).abs() < 1e-9, "{label}: {found}, expected {expected}");
}

/// Python, with the counters of the fixture's two launches:
///
/// ```text
/// >>> clock = 1309394950.84
/// >>> (2_073_600_000 + 2_115_072_000) / (80 * 128 * clock)          # L1: 128 B a clock and SM
/// 0.000312396194698618
/// >>> (1_244_160_000 + 1_269_043_200) / (3133e9 * clock / 1.53e9)   # L2, catalog, at the clock
/// 0.0009373202033033237
/// >>> (690_960_320 + 704_779_526) / 900e9                           # DRAM
/// 0.001550822051111111
/// ```
#[test]
fn levels_take_what_their_bytes_and_bandwidths_say() {
    let text = include_str!("../../fixtures/ncu_long/v100-nersc-cycles-over-rate.csv");
    let analysis = analyzed(text, "V100-SXM2-16GB");
    let kernel = &analysis.kernels[0];
    near(kernel.level_time(MemoryLevel::L1), 0.000_312_396_194_698_618, "L1");
    near(kernel.level_time(MemoryLevel::L2), 0.000_937_320_203_303_323_7, "L2");
    near(kernel.level_time(MemoryLevel::Dram), 0.001_550_822_051_111_111, "DRAM");
    assert_eq!(kernel.level(MemoryLevel::Shared), None);
    assert_eq!(kernel.binding(), Some(Binding::Memory(MemoryLevel::Dram)));
    near(kernel.hierarchical(), 0.001_550_822_051_111_111, "hierarchical");
}

/// 80% of 10 ms in DRAM, whose bytes were not counted, are more than 2 × 10⁹ FLOP on an A100 take (0.1 ms).
#[test]
fn dram_binds_by_its_utilization_where_its_bytes_were_not_counted() {
    let header = "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\
                  \"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\
                  \"Metric Value\"\n";
    let line = |metric: &str, unit: &str, value: &str| {
        format!(
            "\"0\",\"1\",\"app\",\"h\",\"k\",\"1\",\"7\",\"(256, 1, 1)\",\"(8640, 1, 1)\",\"0\",\"8.0\",\"S\",\"{metric}\",\
             \"{unit}\",\"{value}\"\n"
        )
    };
    let text = [
        header.to_owned(),
        line("gpu__time_duration.sum", "ns", "10,000,000"),
        line("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "%", "80"),
        line("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "inst", "1,000,000,000"),
        line("smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", "inst", "0"),
        line("smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", "inst", "0"),
    ];
    let analysis = analyzed(&text.concat(), "A100 SXM4 80GB");
    let kernel = &analysis.kernels[0];
    assert_eq!(kernel.bytes, None);
    assert!(kernel.math_time.is_some_and(|time| time.get() < 2e-4), "{:?}", kernel.math_time);
    near(kernel.memory_time, 8e-3, "DRAM");
    assert_eq!(kernel.binding(), Some(Binding::Memory(MemoryLevel::Dram)));
}

/// A launch with as many sectors to the host and to another device as into device memory.
fn linked(system: &str, peer: &str) -> String {
    let mut text = String::from(
        "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\
         \"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\
         \"Metric Value\"\n",
    );
    for (metric, unit, value) in [
        ("gpu__time_duration.sum", "ns", "10,000,000"),
        ("dram__bytes.sum", "byte", "32,000,000"),
        ("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", "", "1,000,000"),
        ("lts__t_sectors_aperture_sysmem_lookup_miss.sum", "sector", system),
        ("lts__t_sectors_aperture_peer_lookup_miss.sum", "sector", peer),
    ] {
        text.push_str(&format!(
            "\"0\",\"7\",\"app\",\"127.0.0.1\",\"gather\",\"1\",\"7\",\"(256, 1, 1)\",\"(4096, 1, 1)\",\
             \"0\",\"7.0\",\"Command line profiler metrics\",\"{metric}\",\"{unit}\",\"{value}\"\n"
        ));
    }
    text
}

/// Python: `PCIe` 3.0 x16 is 8 GT/s × 16 lanes × 128/130 in each direction, `NVLink` of V100 300 GB/s both
/// ways; shared memory 128 B a clock and SM at the rated 1.53 GHz.
///
/// ```text
/// >>> 32e6 / (2 * 8e9 * 16 / 8 * 128 / 130)
/// 0.001015625
/// >>> 64e6 / 300e9
/// 0.00021333333333333333
/// >>> 128e6 / (80 * 128 * 1.53e9)
/// 8.169934640522876e-06
/// ```
#[test]
fn links_take_both_directions_and_bind_where_they_are_longest() {
    let analysis = analyzed(&linked("1,000,000", "2,000,000"), "V100-SXM2-16GB");
    let kernel = &analysis.kernels[0];
    near(kernel.level_time(MemoryLevel::System), 0.001_015_625, "system");
    near(kernel.level_time(MemoryLevel::Peer), 64e6 / 300e9, "peer");
    near(kernel.level_time(MemoryLevel::Shared), 8.169_934_640_522_876e-6, "shared");
    near(kernel.roofline_time, 32e6 / 900e9, "expected");
    near(kernel.hierarchical(), 0.001_015_625, "hierarchical");
    assert_eq!(kernel.binding(), Some(Binding::Memory(MemoryLevel::System)));
    // Nothing through a link takes no time, and is not the same as not counted.
    let analysis = analyzed(&linked("0", "0"), "V100-SXM2-16GB");
    let kernel = &analysis.kernels[0];
    assert_eq!(kernel.level_time(MemoryLevel::System), Some(Seconds::ZERO));
    assert_eq!(kernel.binding(), Some(Binding::Memory(MemoryLevel::Dram)));
}

/// The hierarchical time is the expected one or longer, as long as every level's, and the binding one is
/// the longest of all.
fn lawful(kernel: &Kernel, label: &str) {
    let (Some(expected), Some(hierarchical)) = (kernel.roofline_time, kernel.hierarchical()) else {
        // Without another level there is nothing beside the headline.
        assert!(kernel.hierarchical().is_none(), "{label}: hierarchical without expected");
        return;
    };
    let (least, slack) = (hierarchical.get() * 1.000_001, 1e-15);
    assert!(expected.get() <= least + slack, "{label}: {hierarchical:?} < {expected:?}");
    for traffic in kernel.traffic() {
        let Some(time) = traffic.time else { continue };
        // Launches that were not judged count in the level and not in the sums.
        if kernel.modeled == kernel.measured {
            assert!(time.get() <= least + slack, "{label}: {traffic:?} above {hierarchical:?}");
        }
    }
    let times = kernel.traffic().filter_map(|traffic| traffic.time).chain(kernel.math_time);
    let longest = times.fold(Seconds::ZERO, Seconds::max);
    match kernel.binding() {
        Some(Binding::Math) => assert_eq!(kernel.math_time, Some(longest), "{label}"),
        Some(Binding::Memory(level)) => {
            assert_eq!(kernel.level_time(level), Some(longest), "{label}");
        }
        None => assert_eq!(longest, Seconds::ZERO, "{label}"),
    }
}

#[test]
fn on_every_fixture_more_levels_never_shorten_the_expectation() {
    let mut seen = 0;
    for (path, device) in fixtures() {
        let inputs = [Input::Named(path.clone())];
        let profile = ingest::read(&inputs, &reading(&path)).unwrap();
        for ceilings in [None, Some(CeilingSet::Spec), Some(CeilingSet::Achievable)] {
            let options = Options { device: device.clone(), ceilings, ..Options::default() };
            let Ok(analysis) = analysis::analyze(&profile, &Catalog::builtin(), &options) else {
                continue;
            };
            for kernel in &analysis.kernels {
                lawful(kernel, &format!("{}: {}", path.display(), kernel.name));
                seen += usize::from(kernel.hierarchical().is_some());
            }
        }
    }
    assert!(seen > 10, "{seen} kernels with levels");
}
