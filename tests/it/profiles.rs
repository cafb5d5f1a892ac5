//! Every real export of a collection is read: launches and total time as counted independently
//! (Python's csv module, exact units), or refused for the right reason.
//!
//! The collection is not part of the repository, because no license covers that. Where there is one,
//! `ROOFLINT_PROFILES` names its folder; without it these tests say that they were skipped.

use std::path::{Path, PathBuf};

use rooflint::analysis::{self, Kernel, Options, State};
use rooflint::catalog::Catalog;
use rooflint::ingest::{self, Input};
use rooflint::model::{Dim3, OriginKind, Profile, Quantity};

/// The folder of the collection.
pub(crate) fn collection() -> Option<PathBuf> {
    let path = named("ROOFLINT_PROFILES")?;
    assert!(path.is_dir(), "ROOFLINT_PROFILES={} is not a folder", path.display());
    Some(path)
}

/// The path that an environment variable names; without it a test is skipped, and says so.
pub(crate) fn named(variable: &str) -> Option<PathBuf> {
    let path = std::env::var_os(variable).map(PathBuf::from);
    if path.is_none() {
        println!("SKIPPED: {variable} is not set");
    }
    path
}

pub(crate) fn read(path: &Path) -> Result<Profile, String> {
    ingest::read(&[Input::Named(path.to_owned())], &ingest::Options::default())
        .map_err(|error| format!("{error} | help: {}", error.next_step().unwrap_or_default()))
}

/// What is expected of a file: launches as exported, and nanoseconds in all.
enum Expected {
    Read { launches: u64, nanoseconds: Option<f64> },
    Refused(&'static str),
}

const fn ok(launches: u64, nanoseconds: f64) -> Expected {
    Expected::Read { launches, nanoseconds: Some(nanoseconds) }
}

const fn untimed(launches: u64) -> Expected {
    Expected::Read { launches, nanoseconds: None }
}

const NCU: &[(&str, Expected)] = &[
    ("a100-40gb-raw-kerneltime-cisc0f-vgg11.csv", ok(111, 2_424_416.0)),
    ("a100-80gb-raw-noduration-souffle-rammer.csv", untimed(2)),
    ("a100-details-rules-clima-mod.csv", ok(6, 30_692_220.0)),
    ("a100-details18-rules-nospeedup-leleucas-pooling16.csv", untimed(240)),
    ("a100-metrics-long12-nsecond-leleucas-dropout.csv", ok(162, 5_689_984.0)),
    ("a100-metrics-long12-preamble-leleucas-conv2d.csv", untimed(1)),
    ("a100-metrics-rules15-leleucas-bert-flashattn.csv", ok(10, 58_048.0)),
    ("a100-metrics-terminated-preamble-leleucas-virtual.csv", ok(2, 11_712.0)),
    ("a100-pandas-resaved-leleucas-nearest.csv", ok(49, 12_553_312.0)),
    ("b200-details-base-clocale-superbench.csv", ok(1, 406_240.0)),
    ("b200-raw-multiprocess-preamble-decodebench-flashinfer.csv", ok(16, 3_731_072.0)),
    ("b200-raw-preamble-decodebench-sdpa-cudnn.csv", ok(16, 1_476_384.0)),
    ("gpu-unknown-empty-permission-apprepr-swordfish.csv", Expected::Refused("not permitted")),
    ("h200-details-multiline-rule-sglang-decode.csv", ok(30, 132_320.0)),
    ("h200-details-rules-sglang-lfm-prefill.csv", ok(24, 1_347_910.0)),
    ("h200-metrics-long-autoscaled-qwen-b32.csv", ok(24, 343_270.0)),
    ("h200-metrics-long-noduration-cutlass.csv", untimed(4)),
    ("h200-raw-autoscaled-2232col-sglang.csv", ok(30, 132_320.0)),
    ("l4-metrics-clocale-preamble-sudb97-gemv.csv", ok(1, 215_552.0)),
    ("review-a100-details-clima-baseline.csv", ok(6, 145_380_000.0)),
    ("review-a100-raw-resnet18.csv", ok(235, 2_497_280.0)),
    ("review-a100-resaved-pooling64.csv", ok(244, 255_940_735.942)),
    ("review-b200-raw-flashinfer-paged-decode.csv", ok(64, 40_292_608.0)),
    ("review-h200-details-sglang-concurrent-decode.csv", ok(30, 174_860.0)),
    ("review-h200-raw-sglang-long-prefill.csv", ok(50, 26_653_152.0)),
    ("review-h200-raw-sglang-medium.csv", ok(30, 152_416.0)),
    ("review-rtx2080ti-raw-traccc-v120.csv", ok(400, 134_012_288.0)),
    ("review-rtx5090-details-cuda3d-directfill.csv", ok(12, 1_294_432.0)),
    ("rtx2080ti-raw-grouped-traccc-maxreg128.csv", ok(114, 36_439_200.0)),
    ("rtx30-metrics-decimalcomma-deepfold-excerpt.csv", untimed(4)),
    (
        "rtx4070laptop-empty-nokernels-hypertensor.csv",
        Expected::Refused("no kernels were profiled"),
    ),
    ("rtx4070laptop-empty-permission-hypertensor.csv", Expected::Refused("not permitted")),
    ("rtx4070laptop-metrics-windows-hypertensor-l2.csv", ok(100, 11_054_400.0)),
    ("rtx4070laptop-summary-perkernel-utf16-hypertensor.csv", untimed(200)),
    ("rtx5070-metrics-bom-crlf-preamble-olajide-gemm.csv", ok(1, 9_589_248.0)),
    ("rtx5070-metrics-bom-crlf-preamble-olajide-saxpy.csv", ok(1, 292_928.0)),
    ("rtx5090-details-auto-cuda3d-vpml-short.csv", ok(5, 284_010.0)),
    ("rtx5090-details-base-preamble-cuda3d-cpml.csv", ok(12, 1_537_760.0)),
    ("rtx5090-details-bodyitemlabel-roofline-dsocr.csv", untimed(1)),
    ("rtx5090-details-noduration-cuda3d-source.csv", untimed(10)),
    ("rtx5090-details-with-metrics-na-dsocr.csv", ok(1, 6_750.0)),
    ("rtx5090-metrics-section-na-dsocr.csv", ok(1, 6_750.0)),
    ("thor-not-ncu-derived-summary-hibouwu.csv", Expected::Refused("unknown table")),
    ("thor-raw-appstdout-preamble-hibouwu-hbmduplex.csv", ok(4, 45_722_496.0)),
    ("thor-raw-preamble-hibouwu-copystream.csv", ok(3, 185_134_240.0)),
    ("v100-nersc-metrics-celeritas.csv", ok(82, 31_583_008.0)),
    ("v100-nersc-rank0-timedram-gene.csv", ok(8, 7_924_000.0)),
    ("v100-nersc-rank1-timedram-gene.csv", ok(8, 7_927_840.0)),
    ("v100-nersc-rank1-timeflops-gene.csv", ok(8, 1_162_963_360.0)),
    ("v100-nersc-two-runs-concatenated-gene.csv", ok(16, 7_927_840.0)),
];

#[test]
fn every_real_ncu_export_is_read_as_counted_by_hand() {
    check("ncu", NCU);
}

const PYPROF: &[(&str, Expected)] = &[
    ("GEN_nvidia-3.11dev_conv2d_80_all-20col.csv", ok(80, 21_785_339.0)),
    ("GEN_nvidia-3.11dev_conv2d_80_default-8col.csv", ok(80, 21_785_339.0)),
    ("GEN_nvidia-3.11dev_conv2d_80_space-separated.txt", Expected::Refused("--csv")),
    ("GEN_nvidia-3.11dev_conv2d_80_w150-text.txt", ok(80, 21_785_339.0)),
    ("GEN_nvidia-3.11dev_lenet-like-2070super_46_all-20col.csv", ok(46, 346_684.0)),
    ("GEN_nvidia-3.11dev_lm160_TRUNCATED-by-assert.csv", ok(144, 7_075_140.0)),
    ("GEN_nvidia-3.11dev_resnet-amp-2080ti_1058_16col.csv", ok(1058, 67_709_663.0)),
    ("GEN_pyprof2_lm160_all-20col.csv", ok(160, 7_296_770.0)),
    ("GEN_pyprof2_lm160_w150-text.txt", ok(160, 7_296_770.0)),
    ("apex_stdout-noise-only_transformer.csv", Expected::Refused("start messages without a table")),
    ("apex_transformer-lm_160.dict", Expected::Refused("pyprof.prof")),
    ("apex_transformer-lm_160_12col.csv", ok(160, 7_296_770.0)),
    ("fork_conv2d_80.dict", Expected::Refused("pyprof.prof")),
    ("fork_conv2d_80_25col-lowercase.csv", ok(80, 21_785_339.0)),
];

const KINETO: &[(&str, Expected)] = &[
    ("hta_a100_alexnet.json.gz", ok(79, 10_692_000.0)),
    ("hta_a100_nccl-fractional-us.json.gz", ok(2_700, 162_532_340.0)),
    ("hta_a100_triton-one-kernel.json.gz", ok(1, 1_760.0)),
    ("hta_cpu-only_no-kernels.json.gz", Expected::Refused("no GPU work")),
    ("hta_mi250_rocm6.2_toy-train.json.gz", ok(14, 110_881.0)),
    ("hta_no-deviceProperties_sampled.json.gz", ok(1_154, 606_519_000.0)),
    ("hta_old-schema_capital-Kernel_tiny.json.gz", ok(4, 30_000.0)),
    ("hta_tiny_uncompressed.json", ok(1, 45_000.0)),
    ("hta_v100_trace-diff-test_input-dims.json.gz", ok(9_876, 801_858_000.0)),
    ("tbplugin_resnet50_list-root_2020.json.gz", ok(9_538, 635_237_000.0)),
    ("tbplugin_v100_resnet50_Operator-Kernel-cats.json.gz", ok(8_868, 594_868_000.0)),
];

#[test]
fn every_real_trace_of_pytorch_is_read_as_counted_by_another_program() {
    check("kineto", KINETO);
}

#[test]
fn every_real_pyprof_export_is_read_as_counted_by_hand() {
    check("pyprof", PYPROF);
}

const ROCPROF: &[(&str, Expected)] = &[
    ("omniperf_vcopy_mi100_pmc_perf.csv", ok(3, 62_560.0)),
    ("omniperf_vcopy_mi100_sysinfo.csv", Expected::Refused("pmc_perf.csv")),
    ("omniperf_vcopy_mi100_timestamps.csv", ok(3, 62_560.0)),
    ("omniperf_vcopy_mi200_SQ_LEVEL_WAVES.csv", ok(3, 52_320.0)),
    ("omniperf_vcopy_mi200_pmc_perf.csv", ok(3, 52_320.0)),
    ("omniperf_vcopy_mi200_roofline.csv", Expected::Refused("pmc_perf.csv")),
    ("omniperf_vcopy_mi200_sysinfo.csv", Expected::Refused("pmc_perf.csv")),
    ("omniperf_vcopy_mi200_timestamps.csv", ok(3, 52_320.0)),
    // Start and end are equal, or were rounded to the same number by a spreadsheet.
    ("omniperf_vcopy_mi300x_a1_pmc_perf.csv", untimed(3)),
    ("omniperf_vcopy_mi300x_a1_sysinfo.csv", Expected::Refused("pmc_perf.csv")),
    ("omniperf_vcopy_mi300x_a1_timestamps.csv", untimed(3)),
    ("rocprofv1_gunrock-bfs_gfx942_results.csv", ok(56, 9_025_354.0)),
    ("rocprofv1_gunrock-bfs_gfx942_results.stats.csv", ok(56, 9_025_354.0)),
    ("rocprofv1_pytorch_headerless_1.csv", Expected::Refused("without the line that names")),
    ("rocprofv1_vecadd_pmc_unquoted-header_no-time.csv", Expected::Refused("no times of kernels")),
    ("rocprofv1_vecadd_results.hip_stats.csv", Expected::Refused("no row is a kernel: 7 rows")),
    ("rocprofv1_vecadd_results.stats.csv", ok(1, 3_431_611.0)),
    ("rocprofv3_docs_counter_collection.csv", Expected::Refused("no times of kernels")),
    (
        "rocprofv3_docs_hip_api_stats.csv",
        Expected::Refused("this is a table of rocprofv3 --stats without kernels"),
    ),
    ("rocprofv3_docs_kernel_trace.csv", ok(7, 795_453.0)),
    ("rocprofv3_docs_memory_copy_trace.csv", Expected::Refused("no times of kernels")),
    ("rpc_bmm1_mi300x_pmc_dispatch_info.csv", Expected::Refused("pmc_perf.csv")),
    ("rpc_bmm1_mi300x_pmc_kernel_top.csv", ok(301, 5_201_167.0)),
    ("rpc_bmm1_mi300x_pmc_perf.csv.gz", ok(301, 5_201_167.0)),
    ("rpc_bmm1_mi300x_roofline.csv", Expected::Refused("pmc_perf.csv")),
    ("rpc_bmm1_mi300x_sysinfo.csv", Expected::Refused("pmc_perf.csv")),
];

#[test]
fn every_real_table_of_rocprof_is_read_as_counted_by_hand() {
    check("rocprof", ROCPROF);
}

/// The operations and bytes of 301 dispatches, as counted from the same columns by hand.
#[test]
fn counters_of_an_amd_device_become_operations_and_bytes() {
    let Some(folder) = collection() else { return };
    let profile = read(&folder.join("rocprof/rpc_bmm1_mi300x_pmc_perf.csv.gz")).unwrap();
    let flops: f64 = profile
        .iter()
        .flat_map(|launch| launch.work().map(|(_, flops, _)| flops.get()).collect::<Vec<_>>())
        .sum();
    let bytes: f64 = profile.iter().filter_map(|one| one.value(Quantity::DramBytes)).sum();
    assert_eq!((flops, bytes), (322_122_547_200.0, 12_944_723_872.0));
}

const XPROF: &[(&str, Expected)] = &[
    ("GEN_xprof-2.24.2_framework_op_stats_idle-row.csv", Expected::Refused("Kernel Stats")),
    ("GEN_xprof-2.24.2_hlo_stats_header-only.csv", Expected::Refused("Kernel Stats")),
    ("GEN_xprof-2.24.2_kernel_stats_2080ti-resnet.csv", ok(1058, 67_709_663.0)),
    ("GEN_xprof-2.24.2_kernel_stats_datatable_first20.json", ok(143, 26_933_389.0)),
    ("GEN_xprof-2.24.2_roofline_model_header-only.csv", Expected::Refused("Kernel Stats")),
];

#[test]
fn every_real_table_of_xprof_is_read_as_counted_by_hand() {
    check("xprof", XPROF);
}

const DLPROF: &[(&str, Expected)] = &[
    ("pytorch_2070super_no-relu_detailed.csv", Expected::Refused("--reports=iteration")),
    ("pytorch_2070super_no-relu_expert_systems.csv", Expected::Refused("--reports=iteration")),
    ("pytorch_2070super_no-relu_group_op.csv", Expected::Refused("--reports=iteration")),
    ("pytorch_2070super_no-relu_iteration.csv", ok(51, 308_960.0)),
    ("pytorch_2070super_no-relu_kernel.csv", Expected::Refused("--reports=iteration")),
    ("pytorch_2070super_no-relu_op_type.csv", Expected::Refused("--reports=iteration")),
    ("pytorch_2070super_no-relu_summary.csv", Expected::Refused("--reports=iteration")),
    ("pytorch_2070super_no-relu_tensor_core.csv", Expected::Refused("--reports=iteration")),
    ("tf1_keras_v100_detailed.csv", Expected::Refused("--reports=iteration")),
];

#[test]
fn every_real_report_of_dlprof_is_read_as_counted_by_hand() {
    check("dlprof", DLPROF);
}

const PROTON: &[(&str, Expected)] =
    &[("triton_cuda.json", ok(11, 409_600.0)), ("triton_scope_real-times.json", ok(1, 1_664.0))];

#[test]
fn every_real_profile_of_proton_is_read_as_counted_by_hand() {
    check("proton", PROTON);
}

const NSYS: &[(&str, Expected)] = &[
    ("RECONSTRUCTED_2080ti_conv2d_cuda_gpu_kern_gb_sum.csv", ok(80, 21_785_339.0)),
    ("RECONSTRUCTED_2080ti_conv2d_gpukernsum_2021-style.csv", ok(80, 21_785_339.0)),
    ("RECONSTRUCTED_2080ti_conv2d_gputrace_2021-style.csv", ok(80, 21_785_339.0)),
    ("RECONSTRUCTED_2080ti_conv2d_gputrace_2022-style.csv", ok(80, 21_785_339.0)),
    ("dlprof_2070s_2022.1_pytorch-nvtx.sqlite", ok(46, 346_684.0)),
    ("extrap_gtx1060_2022.1_4-streams-concurrent.sqlite", ok(12, 230_271_811.0)),
    ("h100_llama2-70b_cuda_gpu_mem_time_sum.csv", Expected::Refused("which has no kernels")),
    ("nsysai_h100x2_2026.2_fsdp-nccl-window.sqlite", ok(4010, 535_200_650.0)),
    ("phobos_2080super_bubble_cuda_gpu_kern_sum.csv", ok(116_336, 1_702_324_072.0)),
    ("phobos_2080super_llamacpp-prefill_cuda_gpu_kern_sum.csv", ok(742, 12_827_897.0)),
    // 14 kernels and 6 copies by their names: the list of sources says 13 and 7.
    ("phobos_2080super_lmhead_cuda_gpu_trace_HEAD-EXTRACT.csv", ok(14, 159_253.0)),
    ("pipit_a100x4_2024.5_cloverleaf.sqlite", ok(1312, 294_404_540.0)),
    ("testcuda_4060ti_2026.1_4-streams-copies.sqlite", ok(4, 4_839_761.0)),
];

#[cfg(feature = "sqlite")]
#[test]
fn every_real_export_of_nsight_systems_is_read_as_counted_by_hand() {
    check("nsys", NSYS);
}

const NVPROF: &[(&str, Expected)] = &[
    ("magus_cudasdk_BlackScholes_gpu-trace.csv", ok(512, 115_075_900.0)),
    ("magus_cudasdk_BlackScholes_metrics-all.csv", untimed(512)),
    ("magus_cudasdk_batchCUBLAS_gpu-trace.csv", ok(44, 1_625_266.0)),
    ("magus_cudasdk_batchCUBLAS_metrics-all.csv", untimed(44)),
    ("magus_cudasdk_matrixMul_gpu-trace.csv", ok(301, 28_870_755.0)),
    ("magus_cudasdk_matrixMul_metrics-all.csv", untimed(301)),
    ("magus_cudasdk_transpose_gpu-trace.csv", ok(808, 23_542_626.0)),
    ("magus_cudasdk_transpose_metrics-all.csv", untimed(808)),
    ("p100_deepspeech_summary_textmode.txt", Expected::Refused("nvprof --csv")),
    ("tegrax1_celeba-dcnn-l1_metrics.csv", untimed(6)),
    ("tegrax1_mnist-dcnn-l1_gpu-trace.csv", ok(4, 249_988_031.0)),
    ("titanxp_babelstream_gpu-trace_textmode.txt", Expected::Refused("nvprof --csv")),
    // The sum of the column of times of its four kernels.
    ("titanxp_cfd_gpu-summary.csv", ok(14_003, 371_284_709.0)),
    ("titanxp_cfd_gpu-trace_unified-memory.csv", ok(14_003, 402_140_420.0)),
];

#[test]
fn every_real_output_of_nvprof_is_read_as_counted_by_hand() {
    check("nvprof", NVPROF);
}

/// The roof by hand: 131,072,000 operations in 95.9 µs are 12% of 11.3 TFLOP/s, and `flop_sp_efficiency` says 11.9%.
#[test]
fn a_trace_and_its_metrics_are_one_run() {
    let Some(folder) = collection() else { return };
    let input = |name: &str| Input::Named(folder.join("nvprof").join(name));
    for (program, launches, kernels) in
        [("matrixMul", 301, 1), ("BlackScholes", 512, 1), ("transpose", 808, 8)]
    {
        let inputs = ["gpu-trace", "metrics-all"]
            .map(|what| input(&format!("magus_cudasdk_{program}_{what}.csv")));
        let profile = ingest::read(&inputs, &ingest::Options::default()).unwrap();
        assert_eq!(profile.launches.len(), launches, "{program}");
        assert!(profile.iter().all(|one| one.duration().is_some() && one.dram_bytes().is_some()));
        let analysis =
            analysis::analyze(&profile, &Catalog::builtin(), &Options::default()).unwrap();
        assert_eq!(analysis.kernels.len(), kernels, "{program}");
        if program == "matrixMul" {
            let share = 1.0 / analysis.kernels[0].headroom().unwrap();
            assert!((0.115..0.125).contains(&share), "{share}");
        }
    }
}

/// The devices of the exports, which mostly do not name them, by the beginning of the file's name.
pub(crate) const DEVICES: &[(&str, &str)] = &[
    ("v100", "Tesla V100-SXM2-16GB"),
    ("a100", "NVIDIA A100-SXM4-40GB"),
    ("h200", "NVIDIA H200"),
    ("b200", "NVIDIA B200"),
    ("l4", "NVIDIA L4"),
    ("rtx30", "NVIDIA GeForce RTX 3090"),
    ("rtx4070laptop", "NVIDIA GeForce RTX 4070 Laptop GPU"),
    ("rtx5070", "NVIDIA GeForce RTX 5070"),
    ("rtx5090", "NVIDIA GeForce RTX 5090"),
    ("rtx2080ti", "NVIDIA GeForce RTX 2080 Ti"),
    ("apex", "Tesla V100-SXM2-16GB"),
    ("GEN_pyprof2", "Tesla V100-SXM2-16GB"),
    ("GEN_nvidia-3.11dev_lm160", "Tesla V100-SXM2-16GB"),
    ("GEN_nvidia-3.11dev_lenet-like-2070super", "NVIDIA GeForce RTX 2070 SUPER"),
    ("GEN", "NVIDIA GeForce RTX 2080 Ti"),
    ("fork", "NVIDIA GeForce RTX 2080 Ti"),
    ("nsysai_h100", "NVIDIA H100 80GB HBM3"),
    ("phobos_2080super", "NVIDIA GeForce RTX 2080 SUPER"),
    ("RECONSTRUCTED_2080ti", "NVIDIA GeForce RTX 2080 Ti"),
    ("titanxp", "NVIDIA TITAN Xp"),
    ("triton_cuda", "NVIDIA H100 SXM5 80GB"),
    ("triton_scope", "GeForce RTX 3050 8GB"),
    ("omniperf_vcopy_mi100", "AMD Instinct MI100"),
    ("omniperf_vcopy_mi200", "AMD Instinct MI210"),
    ("omniperf_vcopy_mi300x", "AMD Instinct MI300X"),
    ("rocprof", "AMD Instinct MI300X"),
    ("rpc_bmm1", "AMD Instinct MI300X"),
    ("pytorch_2070super", "NVIDIA GeForce RTX 2070 SUPER"),
];

/// Judges a profile, checks what must hold for any, and returns its states for the table.
fn states(file: &str, profile: &Profile) -> String {
    let whose = file.trim_start_matches("review-");
    let device = DEVICES
        .iter()
        .find(|(start, _)| whose.starts_with(start))
        .map(|(_, name)| (*name).to_owned());
    let options = Options { device, ..Options::default() };
    let analysis = analysis::analyze(profile, &Catalog::builtin(), &options)
        .unwrap_or_else(|error| panic!("{file}: {error}"));
    let totals = &analysis.totals;
    let share = |kernel: &Kernel| analysis.totals.share(kernel.measured);
    let shares: f64 = analysis.kernels.iter().map(share).sum();
    assert!(totals.measured.get() == 0.0 || (shares - 1.0).abs() < 1e-9, "{file}: {shares}");
    assert!(totals.savings.get() <= totals.savings_high.get() * 1.000_001, "{file}");
    assert!(totals.savings_high.get() <= totals.measured.get(), "{file}");
    for kernel in &analysis.kernels {
        let name = &kernel.name;
        if kernel.state == State::FasterThanRoofline {
            assert_eq!(kernel.savings.get(), 0.0, "{file}: {name}");
        }
        if kernel.state == State::Flagged {
            // Far from the roof for certain, or by all that is likely.
            let low = kernel.headroom_low().unwrap().max(kernel.headroom_likely().unwrap());
            assert!(low >= analysis.threshold, "{file}: {name}");
        }
        if let (Some(expected), Some(high)) = (kernel.roofline_time, kernel.roofline_time_high) {
            assert!(expected.get() <= high.get() * 1.000_001, "{file}: {name}");
        }
        assert!(!kernel.reason.to_string().is_empty(), "{file}: {name}: no reason");
    }
    totals
        .states
        .iter()
        .map(|(state, (kernels, _))| format!("{} {kernels}", state.label()))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Total time in nanoseconds; `None` if no launch has one.
fn nanoseconds(profile: &Profile) -> Option<f64> {
    let mut sum = rooflint::units::ExactSum::default();
    let mut any = false;
    for launch in profile.iter() {
        if let Some((time, _)) = launch.duration() {
            sum.add(time.get() * 1e9 * f64::from(launch.head.count));
            any = true;
        }
    }
    any.then(|| sum.get())
}

/// Every folder of the collection has a table above, or a test below.
#[test]
fn no_folder_of_the_collection_is_left_out() {
    let Some(collection) = collection() else { return };
    let tested = [
        "dlprof", "kineto", "ncu", "ncu-rep", "nsys", "nvprof", "proton", "pyprof", "rocprof",
        "xprof",
    ];
    let mut folders: Vec<String> = std::fs::read_dir(&collection)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    folders.sort();
    assert_eq!(folders, tested);
}

fn check(folder: &str, expected: &[(&str, Expected)]) {
    let Some(collection) = collection() else { return };
    let folder = collection.join(folder);
    let mut files: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| *name != "SOURCES.md")
        .collect();
    files.sort();
    let gone = expected.iter().filter(|(name, _)| !files.iter().any(|file| file == name));
    let mut wrong: Vec<String> =
        gone.map(|(name, _)| format!("{name}: in the table, not in the folder")).collect();
    for file in &files {
        let path = folder.join(file);
        let Some((_, expected)) = expected.iter().find(|(name, _)| name == file) else {
            wrong.push(format!("{file}: not in the table of this test"));
            continue;
        };
        match (read(&path), expected) {
            (Ok(profile), Expected::Read { launches, nanoseconds: time }) => {
                let source = &profile.sources[0];
                let found = nanoseconds(&profile);
                let instrumented = profile
                    .iter()
                    .filter_map(|launch| launch.duration())
                    .any(|(_, origin)| origin.kind == OriginKind::Instrumented);
                println!(
                    "{file:62} {:12} {:4} launches {:>14} ns{} | {} | {} | skipped {}",
                    source.format,
                    source.launches,
                    found.map_or_else(|| "-".to_owned(), |time| format!("{time:.0}")),
                    if instrumented { " instrumented" } else { "" },
                    source.dialect,
                    source.numerals,
                    source.skips.count,
                );
                println!("    {}", states(file, &profile));
                for skip in &source.skips.first {
                    println!("    {skip:?}");
                }
                let close = match (found, time) {
                    (None, None) => true,
                    (Some(found), Some(time)) => (found / time - 1.0).abs() < 1e-6,
                    _ => false,
                };
                if source.launches != *launches || !close {
                    wrong.push(format!(
                        "{file}: {} launches, {found:?} ns; expected {launches}, {time:?}",
                        source.launches
                    ));
                }
            }
            (Err(error), Expected::Refused(reason)) => {
                println!("{file:62} refused: {error}");
                if !error.contains(reason) {
                    wrong.push(format!("{file}: refused because {error:?}, expected {reason:?}"));
                }
            }
            (Ok(_), Expected::Refused(reason)) => {
                wrong.push(format!("{file}: read, expected {reason:?}"));
            }
            (Err(error), Expected::Read { .. }) => wrong.push(format!("{file}: refused: {error}")),
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Every report of the collection, launch by launch, as NVIDIA's own reader gives it.
#[test]
fn reports_have_the_launches_that_the_profilers_own_reader_finds() {
    let Some(folder) = collection() else { return };
    let mut reports = 0;
    let ends = |end: &str| {
        let files = std::fs::read_dir(folder.join("ncu-rep")).unwrap();
        files.filter(|file| file.as_ref().unwrap().path().to_string_lossy().ends_with(end)).count()
    };
    assert_eq!(ends(".ncu-rep"), ends(".expected.tsv"));
    for entry in std::fs::read_dir(folder.join("ncu-rep")).unwrap() {
        let path = entry.unwrap().path();
        let Some(name) = path.to_string_lossy().strip_suffix(".expected.tsv").map(str::to_owned)
        else {
            continue;
        };
        let profile = read(Path::new(&format!("{name}.ncu-rep"))).unwrap();
        let table = std::fs::read_to_string(&path).unwrap();
        let mut lines = table.lines();
        let header: Vec<&str> = lines.next().unwrap().split('\t').collect();
        let rows: Vec<Vec<&str>> = lines.map(|line| line.split('\t').collect()).collect();
        assert_eq!(profile.launches.len(), rows.len(), "{name}");
        reports += 1;
        for (at, row) in rows.iter().enumerate() {
            let launch = profile.launch(at);
            assert_eq!(launch.head.id.to_string(), row[0], "{name}");
            assert!(launch.kernel().contains(row[1]), "{name}: {}", launch.kernel());
            let extent = |of: Option<Dim3>| {
                of.map(|of| format!("{}x{}x{}", of.x, of.y, of.z)).unwrap_or_default()
            };
            let shape = launch.head.shape;
            assert_eq!([extent(shape.grid), extent(shape.block)], [row[2], row[3]], "{name}");
            let is = |title: &str, wanted: Option<f64>, factor: f64| {
                let column = header.iter().position(|one| one.starts_with(title));
                let Some(cell) = column.map(|column| row[column]).filter(|cell| *cell != "-")
                else {
                    return;
                };
                let found: f64 = cell.parse().unwrap();
                let wanted = wanted.unwrap_or_else(|| panic!("{name}: {title} of launch {at}"));
                assert!(
                    (wanted / factor - found).abs() <= 1e-9 * found.abs(),
                    "{name}: {title}: {wanted} and {found}"
                );
            };
            let duration = launch.duration().map(|(time, _)| time.get());
            is("gpu__time_duration.sum", duration, 1e-9);
            is("dram__bytes.sum", launch.value(Quantity::DramBytes), 1.0);
            is("dram__bytes_read.sum", launch.value(Quantity::DramReadBytes), 1.0);
            is("launch__registers_per_thread", launch.value(Quantity::RegistersPerThread), 1.0);
        }
    }
    assert_eq!(reports, 6);
}

/// The same launches of a report and of its CSV, which rounds.
#[test]
fn a_report_and_its_csv_have_the_same_launches() {
    let Some(folder) = collection() else { return };
    let report = read(&folder.join("ncu-rep/v100-2020.1-gene-timedram-nvtx.ncu-rep")).unwrap();
    let csv = read(&folder.join("ncu/v100-nersc-rank0-timedram-gene.csv")).unwrap();
    assert_eq!(report.launches.len(), csv.launches.len());
    for row in 0..csv.launches.len() {
        let (one, two) = (report.launch(row), csv.launch(row));
        assert_eq!((one.kernel(), one.head.id), (two.kernel(), two.head.id));
        for quantity in Quantity::all() {
            // The report has more than was printed.
            let Some(printed) = two.value(quantity) else { continue };
            let found = one.value(quantity).unwrap();
            assert!(
                (found - printed).abs() <= 2e-4 * printed.abs(),
                "{quantity:?}: {found} {printed}"
            );
        }
    }
}
