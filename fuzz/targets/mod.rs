//! The fuzz targets: what each does with bytes, and what must hold then.
//!
//! libFuzzer calls them (`fuzz/main.rs`), and so do plain tests, with the corpora of the repository and with random
//! bytes (`tests/it/fuzz.rs`). A target fails by panicking.

pub(crate) mod choices;
pub(crate) mod dialects;
pub(crate) mod joined;
pub(crate) mod launches;
pub(crate) mod meaning;
pub(crate) mod oracles;
pub(crate) mod readers;
pub(crate) mod sheet;
pub(crate) mod texts;
pub(crate) mod traces;

/// A target.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) name: &'static str,
    /// Files and folders, from the root of the repository, whose content it starts from.
    pub(crate) seeds: &'static [&'static str],
    /// Longest input in bytes.
    pub(crate) longest: usize,
    pub(crate) run: fn(&[u8]),
}

const fn target(
    name: &'static str,
    seeds: &'static [&'static str],
    longest: usize,
    run: fn(&[u8]),
) -> Target {
    Target { name, seeds, longest, run }
}

/// All targets: readers, texts that people write, and launches written in any dialect.
pub(crate) const TARGETS: &[Target] = &[
    target(
        "any-export",
        &["fixtures/bad", "fixtures/ncu_wide", "fixtures/ncu_long", "fixtures/pyprof"],
        16_384,
        readers::any,
    ),
    target("ncu-wide", &["fixtures/ncu_wide"], 16_384, readers::wide),
    target("ncu-long", &["fixtures/ncu_long"], 16_384, readers::long),
    target("ncu-summary", &["fixtures/ncu_summary"], 8_192, readers::summary),
    target("ncu-rep", &["fixtures/ncu_rep"], 16_384, readers::report),
    target("nsys-sqlite", &["fixtures/nsys_sqlite"], 32_768, readers::nsys_sqlite),
    target("nsys-trace", &["fixtures/nsys_trace"], 8_192, readers::nsys_trace),
    target("nsys-sum", &["fixtures/nsys_sum"], 8_192, readers::nsys_sum),
    target("nvprof-trace", &["fixtures/nvprof_trace"], 8_192, readers::nvprof_trace),
    target("nvprof-summary", &["fixtures/nvprof_summary"], 8_192, readers::nvprof_summary),
    target("nvprof-metrics", &["fixtures/nvprof_metrics"], 8_192, readers::nvprof_metrics),
    target("pyprof", &["fixtures/pyprof"], 8_192, readers::pyprof),
    target("pyprof-text", &["fixtures/pyprof"], 8_192, readers::pyprof_text),
    target("pytorch-trace", &["fixtures/pytorch_trace"], 16_384, readers::pytorch_trace),
    target("pytorch-averages", &["fixtures/pytorch_averages"], 8_192, readers::pytorch_averages),
    target("proton", &["fixtures/proton"], 8_192, readers::proton),
    target("xprof", &["fixtures/xprof"], 8_192, readers::xprof),
    target("dlprof", &["fixtures/dlprof"], 8_192, readers::dlprof),
    target("nsight-python", &["fixtures/nsight_python"], 8_192, readers::nsight_python),
    target("rocprof", &["fixtures/rocprof"], 8_192, readers::rocprof),
    target("launch-table", &["fixtures/launch_table"], 16_384, readers::launch_table),
    target("mapped", &["fixtures/mapped"], 8_192, readers::mapped),
    target("numbers", &["fuzz/seeds/numbers"], 512, texts::numbers),
    target(
        "configuration",
        &["fuzz/seeds/configuration", "fixtures/rules"],
        8_192,
        texts::configuration,
    ),
    target("condition", &["fuzz/seeds/condition"], 2_048, texts::condition),
    target("devices", &["devices", "fixtures/predict"], 16_384, texts::devices),
    target("mapping", &["fixtures/mapped"], 4_096, texts::mapping),
    target("kernel-names", &["fuzz/seeds/kernel-names"], 4_096, texts::kernel_names),
    target("name", &["fuzz/seeds/name"], 2_048, texts::name),
    target("saved-run", &["fuzz/seeds/saved-run"], 16_384, texts::saved),
    target("partial", &["fuzz/seeds/partial"], 32_768, texts::partial),
    target("partitions", &["fuzz/seeds/partitions"], 16_384, texts::partitions),
    target("predict", &["fuzz/seeds/predict", "fixtures/predict"], 2_048, texts::predict),
    target("dialect", &[], 512, meaning::any_dialect),
    target("unmarked", &[], 512, meaning::unmarked),
    target("damaged", &[], 512, meaning::damaged),
    target("table-dialect", &[], 512, meaning::launch_table),
    target("joined", &[], 512, joined::joined),
];
