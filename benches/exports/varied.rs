//! The same exports with as many shapes, operators and names as a long job has: hardly a row is like one shortly
//! before it, and the columns that are wanted stand among others.

use super::{Random, grouped, quoted};

/// What a metric's values are like.
#[derive(Clone, Copy)]
enum Values {
    Whole,
    Decimals,
    Percent,
}

use Values::{Decimals, Percent, Whole};

/// Metrics that a roofline needs, with their units.
const NEEDED: [(&str, &str, Values); 22] = [
    ("dram__bytes_read.sum", "byte", Whole),
    ("dram__bytes_write.sum", "byte", Whole),
    ("gpc__cycles_elapsed.max", "cycle", Whole),
    ("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "%", Percent),
    ("gpu__time_duration.sum", "ns", Whole),
    ("l1tex__t_bytes.sum", "byte", Whole),
    ("launch__registers_per_thread", "register/thread", Whole),
    ("launch__waves_per_multiprocessor", "", Percent),
    ("lts__t_bytes.sum", "byte", Whole),
    ("sm__cycles_elapsed.avg", "cycle", Decimals),
    ("sm__cycles_elapsed.avg.per_second", "hz", Decimals),
    ("sm__inst_executed_pipe_tensor.sum", "inst", Whole),
    ("sm__sass_thread_inst_executed_op_dadd_pred_on.sum", "inst", Whole),
    ("sm__sass_thread_inst_executed_op_dfma_pred_on.sum", "inst", Whole),
    ("sm__sass_thread_inst_executed_op_dmul_pred_on.sum", "inst", Whole),
    ("sm__sass_thread_inst_executed_op_fadd_pred_on.sum", "inst", Whole),
    ("sm__sass_thread_inst_executed_op_ffma_pred_on.sum", "inst", Whole),
    ("sm__sass_thread_inst_executed_op_fmul_pred_on.sum", "inst", Whole),
    ("sm__sass_thread_inst_executed_op_hadd_pred_on.sum", "inst", Whole),
    ("sm__sass_thread_inst_executed_op_hfma_pred_on.sum", "inst", Whole),
    ("sm__throughput.avg.pct_of_peak_sustained_elapsed", "%", Percent),
    ("sm__warps_active.avg.pct_of_peak_sustained_active", "%", Percent),
];

const KERNELS: [&str; 8] = [
    "void at::native::reduce_kernel<(int)512, (int)1, at::native::ReduceOp<float, at::native::MeanOps<float, float, float, float>, unsigned int, float, (int)4>>(T3)",
    "ampere_sgemm_128x64_tn",
    "volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn",
    "void cutlass::Kernel<cutlass_80_tensorop_f16_s16816gemm_relu_f16_256x128_32x3_nn_align8>(T1::Params)",
    "void flash_fwd_kernel<Flash_fwd_kernel_traits<(int)128, (int)128, (int)32, (int)4, cutlass::half_t>, (bool)0, (bool)1>(Flash_fwd_params)",
    "stencil3d_7pt(double *, const double *, int, int, int)",
    "void softmax_warp_forward<__half, __half, float, (int)10, (bool)0, (bool)0>(T2 *, const T1 *, int, int, int, const bool *, int, bool)",
    "triton_poi_fused_add_native_layer_norm_3",
];

const BLOCKS: [[u64; 3]; 6] =
    [[256, 1, 1], [128, 1, 1], [32, 8, 1], [512, 1, 1], [1024, 1, 1], [16, 16, 1]];

/// A kernel's name, one of a hundred.
fn kernel(random: &mut Random) -> String {
    let name = KERNELS[random.below(KERNELS.len() as u64) as usize];
    match random.below(13) {
        0 => name.to_owned(),
        version => format!("{name}_{version}"),
    }
}

/// A grid, one of a thousand.
fn grid(random: &mut Random) -> [u64; 3] {
    let number = random.below(1_000);
    [1 + number * 65, 1 + number % 3, 1 + number % 2 * 7]
}

/// A number of any length.
fn value(random: &mut Random, values: Values) -> String {
    let hundredths = random.below(100);
    match values {
        Percent => format!("{}.{hundredths:02}", random.below(90)),
        Whole | Decimals => {
            let bits = 8 + random.below(26);
            let whole = grouped(random.below(1 << bits));
            if matches!(values, Decimals) { format!("{whole}.{hundredths:02}") } else { whole }
        }
    }
}

/// So many metrics in the order of their names, as the profiler prints them.
fn metrics(count: usize) -> Vec<(String, String, Values)> {
    let units = ["dram", "fbpa", "gpc", "idc", "l1tex", "lts", "sm", "smsp"];
    let others = (0..count - NEEDED.len()).map(|at| {
        let (unit, kind) = (units[at % units.len()], [Whole, Decimals, Percent][at % 3]);
        let word = if matches!(kind, Percent) { "%" } else { "inst" };
        (format!("{unit}__other_metric_{at}.avg"), word.to_owned(), kind)
    });
    let needed = NEEDED.map(|(name, unit, values)| (name.to_owned(), unit.to_owned(), values));
    let mut all: Vec<_> = needed.into_iter().chain(others).collect();
    all.sort_by(|one, two| one.0.cmp(&two.0));
    all
}

fn extent(extent: [u64; 3]) -> String {
    format!("({}, {}, {})", extent[0], extent[1], extent[2])
}

/// A raw page of 261 columns.
pub(crate) fn wide(size: usize) -> String {
    let mut random = Random(52);
    let metrics = metrics(250);
    let identity = super::IDENTITY.map(str::to_owned);
    let names = metrics.iter().map(|(name, ..)| name.clone());
    let mut text = quoted(identity.into_iter().chain(names));
    let units = metrics.iter().map(|(_, unit, _)| unit.clone());
    text.push_str(&quoted(super::IDENTITY.map(|_| String::new()).into_iter().chain(units)));
    let mut launch = 0_u64;
    while text.len() < size {
        let block = BLOCKS[random.below(BLOCKS.len() as u64) as usize];
        let cells = [
            launch.to_string(),
            "4242".to_owned(),
            "python3.11".to_owned(),
            "127.0.0.1".to_owned(),
            kernel(&mut random),
            "1".to_owned(),
            (7 + random.below(4)).to_string(),
            extent(block),
            extent(grid(&mut random)),
            "0".to_owned(),
            "8.0".to_owned(),
        ];
        let values: Vec<_> =
            metrics.iter().map(|(.., values)| value(&mut random, *values)).collect();
        text.push_str(&quoted(cells.into_iter().chain(values)));
        launch += 1;
    }
    text
}

/// A list of 40 metrics for each launch.
pub(crate) fn long(size: usize) -> String {
    let mut random = Random(53);
    let metrics = metrics(40);
    let mut text = super::LIST.to_owned();
    let mut launch = 0;
    while text.len() < size {
        let (kernel, stream) = (kernel(&mut random), 7 + random.below(4));
        let before = format!(
            "\"{launch}\",\"4242\",\"python3.11\",\"127.0.0.1\",\"{kernel}\",\"2024-May-01 {:02}:{:02}:{:02}\",\"1\",\"{stream}\",\"Command line profiler metrics\"",
            launch / 3600 % 24,
            launch / 60 % 60,
            launch % 60
        );
        for (name, unit, values) in &metrics {
            let value = value(&mut random, *values);
            text.push_str(&format!("{before},\"{name}\",\"{unit}\",\"{value}\"\n"));
        }
        launch += 1;
    }
    text
}

/// `PyProf`'s table of 56,000 operators with their parameters, forward and backward.
pub(crate) fn pyprof(size: usize) -> String {
    const OPERATORS: [(&str, &str); 7] = [
        ("torch.nn.functional", "conv2d"),
        ("torch.nn.functional", "linear"),
        ("torch", "matmul"),
        ("Tensor", "add_"),
        ("torch.nn.functional", "batch_norm"),
        ("torch.nn.functional", "relu"),
        ("na", "na"),
    ];
    let mut random = Random(54);
    let parameters: Vec<String> = (0..4_000).map(|at| parameters(&mut random, at)).collect();
    let mut text = super::TABLE.to_owned();
    let mut launch = 1;
    while text.len() < size {
        let (module, operator) = OPERATORS[random.below(7) as usize];
        let kernel = kernel(&mut random);
        let kernel = kernel.split(['<', '(', ' ']).find(|word| *word != "void").unwrap_or(&kernel);
        let block = BLOCKS[random.below(BLOCKS.len() as u64) as usize];
        let plain = |extent: [u64; 3]| format!("{},{},{}", extent[0], extent[1], extent[2]);
        let cells = [
            launch.to_string(),
            if random.below(2) == 0 { "fprop" } else { "bprop" }.to_owned(),
            "0".to_owned(),
            module.to_owned(),
            operator.to_owned(),
            kernel.to_owned(),
            parameters[random.below(parameters.len() as u64) as usize].clone(),
            (1_200 + random.below(9_000_000)).to_string(),
            random.below(2).to_string(),
            "0".to_owned(),
            "7".to_owned(),
            plain(grid(&mut random)),
            plain(block),
            random.below(1 << 33).to_string(),
            (256 + random.below(1 << 32)).to_string(),
        ];
        text.push_str(&quoted(cells.into_iter()));
        launch += 1;
    }
    text
}

/// Parameters as `PyProf` prints those of a convolution, a product, or any operator.
fn parameters(random: &mut Random, number: usize) -> String {
    let size = |random: &mut Random| 1 << random.below(12);
    let [n, c, h, k] = [(); 4].map(|()| size(random));
    match number % 3 {
        0 => format!(
            "N={n},C={c},H={h},W={h},K={k},P={h},Q={h},R=3,S=3,ph=1,pw=1,U=1,V=1,dh=1,dw=1,g=1,fp16,"
        ),
        1 => format!("M={n},N={c},K={k},fp32,"),
        _ => format!("T=[({n},{c},{h},{k}),({c},)],type=['fp16', 'fp32']"),
    }
}
