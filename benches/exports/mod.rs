//! Exports of any size, the same bytes each time: what the benches and `cargo xtask instructions` read.
#![allow(missing_docs, dead_code)]

use std::fmt::Write as _;

pub(crate) mod varied;

/// A small generator of pseudo-random numbers (xorshift64*); the same bytes in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % limit
    }
}

const KERNELS: [&str; 5] = [
    "void at::native::vectorized_elementwise_kernel<(int)4, at::native::FillFunctor<float>>(int, T2, T3)",
    "ampere_sgemm_128x64_nn",
    "void layer_norm_kernel<float, 128>(const float *, float *, int)",
    "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x64x8_stage3_warpsize1x4x1_ffma_aligna4_alignc4",
    "void softmax_warp_forward<float, float, float, (int)10, (bool)1>(T2 *, const T1 *, int, int, int)",
];

const WANTED: [(&str, &str); 16] = [
    ("dram__bytes_read.sum", "byte"),
    ("dram__bytes_write.sum", "byte"),
    ("gpu__time_duration.sum", "ns"),
    ("lts__t_bytes.sum", "byte"),
    ("l1tex__t_bytes.sum", "byte"),
    ("sm__cycles_elapsed.avg.per_second", "hz"),
    ("sm__cycles_elapsed.avg", "cycle"),
    ("sm__warps_active.avg.pct_of_peak_sustained_active", "%"),
    ("smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", "inst"),
    ("smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", "inst"),
    ("smsp__sass_thread_inst_executed_op_dmul_pred_on.sum", "inst"),
    ("smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", "inst"),
    ("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "inst"),
    ("smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", "inst"),
    ("sm__throughput.avg.pct_of_peak_sustained_elapsed", "%"),
    ("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "%"),
];

/// The columns of a raw page that say which launch a row is.
const IDENTITY: [&str; 11] = [
    "ID",
    "Process ID",
    "Process Name",
    "Host Name",
    "Kernel Name",
    "Context",
    "Stream",
    "Block Size",
    "Grid Size",
    "Device",
    "CC",
];

/// The header of a list of metrics.
const LIST: &str = "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Kernel Time\",\"Context\",\"Stream\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n";

/// The header of `PyProf`'s table.
const TABLE: &str = "\"Idx\",\"Direction\",\"Sub\",\"Module\",\"Op\",\"Kernel\",\"Params\",\"Sil(ns)\",\"TC\",\"Device\",\"Stream\",\"Grid\",\"Block\",\"FLOPs\",\"Bytes\"\n";

/// A row, each field between quotes.
fn quoted(fields: impl Iterator<Item = String>) -> String {
    fields.map(|field| format!("\"{field}\"")).collect::<Vec<_>>().join(",") + "\n"
}

fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (at, c) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(c);
    }
    text
}

fn value(random: &mut Random, unit: &str) -> String {
    match unit {
        "%" => format!("{}.{:02}", random.below(90), random.below(100)),
        "hz" => format!(
            "{}.{:02}",
            grouped(1_000_000_000 + random.below(400_000_000)),
            random.below(100)
        ),
        "ns" => grouped(2_000 + random.below(2_000_000)),
        _ => grouped(random.below(1 << 31)),
    }
}

/// A raw page of 257 columns.
pub(crate) fn wide(size: usize) -> String {
    let mut random = Random(42);
    let others: Vec<String> = (0..230).map(|at| format!("sm__other_metric_{at}.avg")).collect();
    let names = IDENTITY
        .iter()
        .map(|name| (*name).to_owned())
        .chain(WANTED.iter().map(|(name, _)| (*name).to_owned()))
        .chain(others.iter().cloned());
    let mut text = quoted(names);
    let units = IDENTITY
        .iter()
        .map(|_| String::new())
        .chain(WANTED.iter().map(|(_, unit)| (*unit).to_owned()))
        .chain(others.iter().map(|_| "inst".to_owned()));
    text.push_str(&quoted(units));
    let mut launch = 0;
    while text.len() < size {
        let kernel = random.below(KERNELS.len() as u64) as usize;
        let _ = write!(
            text,
            "\"{launch}\",\"42\",\"python3\",\"127.0.0.1\",\"{}\",\"1\",\"7\",\"(256, 1, 1)\",\"({}, 1, 1)\",\"0\",\"8.0\"",
            KERNELS[kernel],
            64 << kernel
        );
        for (_, unit) in WANTED {
            let _ = write!(text, ",\"{}\"", value(&mut random, unit));
        }
        for _ in 0..others.len() {
            let _ = write!(text, ",\"{}\"", grouped(random.below(1 << 24)));
        }
        text.push('\n');
        launch += 1;
    }
    text
}

/// A list of metrics, one row each.
pub(crate) fn long(size: usize) -> String {
    let mut random = Random(43);
    let mut text = LIST.to_owned();
    let mut launch = 0;
    while text.len() < size {
        let kernel = KERNELS[random.below(KERNELS.len() as u64) as usize];
        for (name, unit) in WANTED {
            let _ = writeln!(
                text,
                "\"{launch}\",\"42\",\"python3\",\"127.0.0.1\",\"{kernel}\",\"2024-May-01 00:00:00\",\"1\",\"7\",\"Command line profiler metrics\",\"{name}\",\"{unit}\",\"{}\"",
                value(&mut random, unit)
            );
        }
        launch += 1;
    }
    text
}

/// `PyProf`'s table.
pub(crate) fn pyprof(size: usize) -> String {
    let mut random = Random(44);
    let mut text = TABLE.to_owned();
    let mut launch = 1;
    while text.len() < size {
        let n = 64_u64 << random.below(6);
        let _ = writeln!(
            text,
            "\"{launch}\",\"fprop\",\"0\",\"torch.nn.functional\",\"linear\",\"volta_sgemm_128x64_nn\",\"M={n},N=512,K=1024,fp32,\",\"{}\",\"0\",\"0\",\"7\",\"{n},1,1\",\"256,1,1\",\"{}\",\"{}\"",
            2_000 + random.below(1_000_000),
            2 * n * 512 * 1024,
            n * 512 + n * 1024 + 512 * 1024 * 4
        );
        launch += 1;
    }
    text
}

/// A raw page of so many launches, each of a kernel of its own.
pub(crate) fn kernels(launches: usize, run: u64) -> String {
    let mut random = Random(44 + run);
    let mut text = String::from(
        "\"ID\",\"Process ID\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\"",
    );
    let mut units = String::from("\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\"");
    for (name, unit) in WANTED {
        let _ = (write!(text, ",\"{name}\""), write!(units, ",\"{unit}\""));
    }
    let _ = write!(text, "\n{units}\n");
    for launch in 0..launches {
        let _ = write!(
            text,
            "\"{launch}\",\"42\",\"{}_{launch}\",\"1\",\"7\",\"(256, 1, 1)\",\"({}, 1, 1)\",\"0\",\"8.0\"",
            ["gemm_f32_64x64_tn", "triton_poi_fused_add_mul", "void softmax_warp_forward"]
                [launch % 3],
            1 + launch % 1000
        );
        for (_, unit) in WANTED {
            let _ = write!(text, ",\"{}\"", value(&mut random, unit));
        }
        text.push('\n');
    }
    text
}
