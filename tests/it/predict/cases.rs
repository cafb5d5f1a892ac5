//! Published and derived figures: what a prediction makes of the inputs of a case.

use rooflint::catalog::{Catalog, Device};
use rooflint::model::DeviceHint;
use rooflint::predict::{Grid, Options, Prediction, l2_intensity, predict};
use rooflint::roofline;
use rooflint::units::{BytesPerSecond, FlopsPerSecond, Hertz};

use super::{arguments, count};
use crate::cases::{Answer, Inputs};

impl Inputs {
    fn or(&self, name: &str, default: f64) -> f64 {
        self.0.get(name).copied().unwrap_or(default)
    }

    /// `name=value` for the names that are given.
    fn pairs(&self, names: &[&str]) -> String {
        let given = names.iter().filter_map(|name| Some((name, self.0.get(*name)?)));
        given.map(|(name, value)| format!(" {name}={value}")).collect()
    }

    /// The format whose elements take `e` bytes, and the index format of `i` bytes.
    fn formats(&self) -> String {
        let format = match self.or("e", 4.0) {
            8.0 => "fp64",
            4.0 => "fp32",
            2.0 => "fp16",
            // Where `e` is no size of an element, no form is asked.
            _ => "none",
        };
        match self.0.get("i") {
            Some(4.0) => format!(" dtype={format} index=int32"),
            Some(8.0) => format!(" dtype={format} index=int64"),
            _ => format!(" dtype={format}"),
        }
    }
}

/// A device with the peak, bandwidth and SMs of a row, which are rounder than any GPU's.
fn device(inputs: &Inputs) -> Device {
    let sms = inputs.or("sm", 1.0);
    let text = format!(
        "name = \"case\"\nsms = {sms}\n[memory]\nbandwidth_gbs = 100\n[peaks_tflops]\n\
         fp32_vector = 1\nfp16_matrix = 1\n"
    );
    let catalog = Catalog::builtin().with_text("case.toml", &text).unwrap();
    let mut device = catalog.find("case", &DeviceHint::default()).unwrap();
    let bandwidth = device.memory.bandwidth.as_mut().unwrap();
    bandwidth.value = BytesPerSecond::new(inputs.or("bw", 1e9));
    for peak in device.peaks.values_mut() {
        peak.value = FlopsPerSecond::new(inputs.or("peak", 1e12));
    }
    device
}

fn on_device(call: &str, inputs: &Inputs) -> Prediction {
    let grid = inputs.0.get("grid").zip(inputs.0.get("block"));
    let grid =
        grid.map(|(blocks, threads)| Grid { blocks: *blocks as u64, threads: *threads as u64 });
    let options = Options { grid, ..Options::default() };
    predict(&arguments(call).unwrap(), &device(inputs), &options).unwrap()
}

fn given(inputs: &Inputs) -> Prediction {
    let (flops, bytes) = (inputs.or("flops", 0.0), inputs.or("bytes", 0.0));
    on_device(&format!("given flops={flops} read={bytes}"), inputs)
}

fn operations(call: &str) -> f64 {
    count(call).operations().get()
}

fn bytes(call: &str) -> f64 {
    count(call).bytes().get()
}

fn intensity(call: &str) -> f64 {
    count(call).intensity().unwrap().get()
}

/// A grid of so many blocks: one tile of 128×128 for each.
fn tiles(inputs: &Inputs) -> rooflint::predict::Tiling {
    let (rows, resident) = (128.0 * inputs.get("grid"), inputs.get("blocks"));
    on_device(&format!("gemm m={rows} n=128 k=64 resident={resident}"), inputs).tiling.unwrap()
}

/// What predictions answer; none for what they do not state.
pub(crate) fn answer(quantity: &str, inputs: &Inputs) -> Option<Answer> {
    match quantity {
        "limiter" | "limiter_roofline" => Some(Answer::Word(given(inputs).limiter.label())),
        _ => number(quantity, inputs).map(Answer::Number),
    }
}

fn number(quantity: &str, inputs: &Inputs) -> Option<f64> {
    let i = |name: &str| inputs.get(name);
    let types = inputs.formats();
    let number = match quantity {
        "ridge" => on_device("given flops=1 read=1", inputs).ridge_point.unwrap().get(),
        "peak" => {
            let clock = Hertz::new(i("clock"));
            roofline::peak_rate(i("fma_per_clk_per_sm"), i("sm") as u32, clock).get()
        }
        "intensity" => given(inputs).intensity.unwrap().get(),
        "t_mem" => given(inputs).t_mem.get(),
        "t_math" => given(inputs).t_math.get(),
        "expected_time" => given(inputs).roofline_time.get(),
        "attainable" => {
            let call = format!("given flops={} read=1e9", i("ai") * 1e9);
            on_device(&call, inputs).attainable.unwrap().get()
        }
        "waves" => tiles(inputs).waves.unwrap(),
        "wave_efficiency" => tiles(inputs).wave_efficiency.unwrap(),
        "sm_efficiency" => tiles(inputs).sm_efficiency.unwrap(),
        "axpy_flops" => operations(&format!("axpy n={}", i("n"))),
        "axpy_bytes" => bytes(&format!("axpy n={}{types}", i("n"))),
        "axpy_ai" => intensity(&format!("axpy n=1M{types}")),
        "dot_ai" => intensity(&format!("dot n=1M{types}")),
        "gemv_flops" | "gemv_bytes" => {
            let call = format!("gemv alpha=0.2{}{types}", inputs.pairs(&["m", "n", "beta"]));
            if quantity == "gemv_flops" { operations(&call) } else { bytes(&call) }
        }
        "gemv_plain_ai" => intensity(&format!("gemv m={}{types}", i("n"))),
        "spmv_csr_ai" => intensity(&format!("spmv-csr n=1M beta={}{types}", i("beta"))),
        "spmv_ai_no_rowptr" => {
            let ell = intensity(&format!("spmv-ell n=1M width={}{types}", i("beta")));
            let beta = i("beta");
            assert_eq!(
                ell,
                intensity(&format!("spmv-csr n=1M beta={beta} row_pointers=no{types}"))
            );
            ell
        }
        "gemm_flops" | "gemm_bytes" | "gemm_ai" | "pyprof_linear_bytes_repaired" => {
            let call = format!("gemm{}{types}", inputs.pairs(&["m", "n", "k", "beta", "batch"]));
            match quantity {
                "gemm_flops" => operations(&call),
                "gemm_ai" => intensity(&call),
                _ => bytes(&call),
            }
        }
        "gemm_ai_l2" => l2_intensity(i("mt"), i("nt"), i("e")).get(),
        "gemm_executed_flops" => {
            let (mt, nt, kt) = (i("mt"), i("nt"), i("kt"));
            let tile = format!(" tile_m={mt} tile_n={nt} tile_k={kt}");
            let call = format!("gemm{}{tile}", inputs.pairs(&["m", "n", "k"]));
            on_device(&call, inputs).tiling.unwrap().executed.get()
        }
        "linear_ai" | "linear_bytes" => {
            let (batch, inp, out) = (i("batch"), i("inp"), i("out"));
            let call = format!("linear batch={batch} in={inp} out={out}{types}");
            if quantity == "linear_ai" { intensity(&call) } else { bytes(&call) }
        }
        _ => return layers(quantity, inputs),
    };
    Some(number)
}

fn layers(quantity: &str, inputs: &Inputs) -> Option<f64> {
    let i = |name: &str| inputs.get(name);
    let types = inputs.formats();
    let number = match quantity {
        "pool_ai" => {
            let (r, s) = (i("r"), i("s"));
            let pad = (r - 1.0) / 2.0;
            intensity(&format!("pool n=8 c=4 h=64 r={r} s={s} pad={pad}{types}"))
        }
        "elementwise_ai" => {
            let pairs = inputs.pairs(&["ops", "inputs", "outputs"]);
            intensity(&format!("elementwise n=1M{pairs}{types}"))
        }
        "layernorm_ai" => intensity(&format!("layernorm rows=100M columns=1k{types}")),
        "softmax_ai" => intensity(&format!("softmax rows=1k columns=1k{types}")),
        "conv2d_out" => {
            let dilation = i("dil");
            let pairs = inputs.pairs(&["h", "pad", "r", "stride"]);
            let call = format!("conv2d n=1 c=1 k=1 dilation={dilation}{pairs}");
            count(&call).traffic.iter().find(|one| one.operand == "y").unwrap().elements.sqrt()
        }
        "conv2d_flops" => {
            // Stride 1 and half the filter as padding keep the size: H×W is P×Q.
            let (p, q, pad) = (i("p"), i("q"), (i("r") - 1.0) / 2.0);
            let pairs = inputs.pairs(&["n", "c", "k", "r", "s", "groups"]);
            operations(&format!("conv2d h={p} w={q} pad={pad}{pairs}"))
        }
        "conv2d_bytes" => {
            let pad = (i("r") - 1.0) / 2.0;
            let pairs = inputs.pairs(&["n", "c", "h", "w", "k", "r", "s", "groups"]);
            bytes(&format!("conv2d pad={pad}{pairs}{types}"))
        }
        "winograd_reduction" => {
            let shape = format!("conv2d n=1 c=8 h=16 k=8 r={} pad=1", i("r"));
            operations(&shape) / operations(&format!("{shape} winograd={}", i("m")))
        }
        "rfft_flops" => operations(&format!("rfft n={}", i("n"))),
        "rfft_ai" => intensity(&format!("rfft{}{types}", inputs.pairs(&["n", "passes"]))),
        "attention_flops" => operations(&attention("attention", inputs)),
        "attention_bwd_flops" => operations(&attention("attention-backward", inputs)),
        "attention_bytes_flash" => bytes(&attention("attention", inputs)),
        "attention_bytes_unfused" => bytes(&attention("attention-unfused", inputs)),
        "attention_pairs_causal" => {
            operations(&format!("attention h=1 d=1 causal=yes{}", inputs.pairs(&["nq", "nk"])))
                / 4.0
        }
        "decode_attention_ai" => {
            intensity(&format!("attention-decode nk=4096{}{types}", inputs.pairs(&["h", "g"])))
        }
        "adam_bytes" => bytes(&format!("adam n={}", i("params"))),
        "sgd_momentum_bytes" => bytes(&format!("momentum n={}", i("params"))),
        "embedding_bytes" => bytes(&format!("embedding{}{types}", inputs.pairs(&["n", "d"]))),
        "transpose_bytes" => bytes(&format!("transpose{}{types}", inputs.pairs(&["n"]))),
        "memcpy_dtod_dram_bytes" => bytes(&format!("memcpy-device bytes={}", i("n"))),
        _ => return of_form(quantity, inputs),
    };
    Some(number)
}

/// `bytes of transpose`: a figure of a form, by its name, at the sizes of the row.
fn of_form(quantity: &str, inputs: &Inputs) -> Option<f64> {
    let (figure, form) = quantity.split_once(" of ")?;
    let sizes: Vec<&str> = inputs.0.keys().map(String::as_str).collect();
    let call = format!("{form}{}", inputs.pairs(&sizes));
    match figure {
        "operations" => Some(operations(&call)),
        "bytes" => Some(bytes(&call)),
        "intensity" => Some(intensity(&call)),
        _ => None,
    }
}

fn attention(form: &str, inputs: &Inputs) -> String {
    format!("{form}{}{}", inputs.pairs(&["b", "h", "g", "nq", "nk", "d"]), inputs.formats())
}
