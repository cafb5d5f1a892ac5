//! The tables of the sources, computed.

use rooflint::model::Pipe;
use rooflint::predict::{Grid, Options, predict};
use rooflint::roofline;
use rooflint::units::{Hertz, Seconds};

use super::super::count;
use super::{arguments, device, number, on, table, time};

/// Every table of this file.
pub(super) const NAMES: &[&str] = &[
    "smish-kernels",
    "smish-sparse",
    "smish-device",
    "article",
    "glossary-kernels",
    "glossary-ridge-points",
    "guide-layers",
    "guide-ridge-points",
    "guide-rates",
    "guide-tail",
    "guide-thread",
    "notebook-counts",
    "notebook-times",
];

pub(super) fn of(name: &str) -> String {
    match name {
        "smish-kernels" => smish_kernels(),
        "smish-sparse" => smish_sparse(),
        "smish-device" => smish_device(),
        "article" => article(),
        "glossary-kernels" => glossary_kernels(),
        "glossary-ridge-points" => glossary_ridge_points(),
        "guide-layers" => guide_layers(),
        "guide-ridge-points" => guide_ridge_points(),
        "guide-rates" => guide_rates(),
        "guide-tail" => guide_tail(),
        "guide-thread" => guide_thread(),
        "notebook-counts" => notebook_counts(),
        "notebook-times" => notebook_times(),
        other => panic!("no table is called {other}"),
    }
}

const COUNTS: &[&str] = &["kernel", "call", "FLOP", "B", "FLOP/B", "the source", "verdict"];

/// A row of counts: what the library says beside what the source says.
fn counted(kernel: &str, call: &str, source: &str, verdict: &str) -> Vec<String> {
    let count = count(call);
    vec![
        kernel.to_owned(),
        format!("`{call}`"),
        number(count.operations().get()),
        number(count.bytes().get()),
        number(count.intensity().unwrap().get()),
        source.to_owned(),
        verdict.to_owned(),
    ]
}

fn smish_kernels() -> String {
    let rows = [
        counted("axpy", "axpy n=1M", "2n, 12n, 1/6", "same"),
        counted("dot product", "dot n=1M", "2n, 8n, 1/4", "same"),
        counted("dense mat-vec", "gemv m=1k", "2n², 4(n²+2n), 1/(2+4/n)", "same"),
        counted(
            "sparse mat-vec, β=10",
            "spmv-ell n=1M width=10",
            "2βn, 4(2β+2)n, 1/(4+4/β)",
            "same",
        ),
        counted(
            "— in compressed rows",
            "spmv-csr n=1M beta=10",
            "",
            "row pointers are read as well",
        ),
        counted(
            "dense matrix product",
            "gemm m=1Ki n=1Ki k=1Ki dtype=fp32",
            "2n³, 12n², n/6",
            "same",
        ),
    ];
    table(COUNTS, &rows)
}

fn smish_sparse() -> String {
    let rows = [1, 2, 5, 10, 20, 50].map(|beta| {
        let ell = count(&format!("spmv-ell n=1M width={beta}")).intensity().unwrap().get();
        let csr = count(&format!("spmv-csr n=1M beta={beta}")).intensity().unwrap().get();
        let more = format!("{:.1}%", (1.0 - csr / ell) * 100.0);
        vec![beta.to_string(), number(ell), number(csr), more]
    });
    let head = [
        "β",
        "1/(4+4/β), no row pointers (FLOP/B)",
        "β/(4β+6), compressed rows (FLOP/B)",
        "less by",
    ];
    table(&head, &rows)
}

fn ridge(call: &str, name: &str) -> Vec<String> {
    let one = on(call, name);
    vec![
        name.to_owned(),
        format!("`{}`", one.pipes[0].pipe.key()),
        number(one.peak.unwrap().get() / 1e12),
        number(one.bandwidth.get() / 1e9),
        number(one.ridge_point.unwrap().get()),
    ]
}

const RIDGES: &[&str] =
    &["device", "pipe", "TFLOP/s", "GB/s", "ridge point (FLOP/B)", "the source"];

fn smish_device() -> String {
    let with = |mut row: Vec<String>, source: &str| {
        row.push(source.to_owned());
        row
    };
    let rows = [
        with(ridge("axpy n=1M", "Titan V (smish.dev)"), "15.4"),
        with(ridge("axpy n=1M", "TITAN V"), ""),
    ];
    table(RIDGES, &rows)
}

fn article() -> String {
    let rows = [512, 1].map(|batch| {
        let call = format!("linear batch={batch} in=1024 out=4096");
        let one = on(&call, "V100 SXM2 32GB");
        vec![
            format!("`{call}`"),
            number(one.operations.get()),
            number(one.bytes.get()),
            time(one.t_math.get()),
            time(one.t_mem.get()),
            time(one.roofline_time.get()),
            one.limiter.label().to_owned(),
        ]
    });
    table(&["call", "FLOP", "B", "t_math", "t_mem", "expected", "limiter"], &rows)
}

fn glossary_kernels() -> String {
    let rows = [
        counted(
            "SAXPY, y = ax + y",
            "saxpy n=1M",
            "2N, 8N, 1/4",
            "**12N, 1/6**: y is read and written",
        ),
        counted(
            "real FFT, single precision",
            "rfft n=1Mi passes=2",
            "2.5N log N, 16N, 5/32 log N",
            "same: two passes, log₂",
        ),
        counted("— one pass", "rfft n=1Mi", "", "8N is what must move"),
        counted(
            "SGEMM, C = A·B + C",
            "gemm m=1Ki n=1Ki k=1Ki beta=1 dtype=fp32",
            "2N³, 24N², N/12",
            "**16N², N/8**: four matrices of 4N² bytes",
        ),
        counted("— C = A·B", "gemm m=1Ki n=1Ki k=1Ki dtype=fp32", "", "12N², N/6"),
        counted("— C = A·B, fp64", "gemm m=1Ki n=1Ki k=1Ki dtype=fp64", "", "this is 24N², N/12"),
    ];
    table(COUNTS, &rows)
}

fn glossary_ridge_points() -> String {
    let rows = [
        ("A100", "bf16", "156", "A100 SXM4 80GB"),
        ("H100", "bf16", "295", "H100 SXM5 80GB"),
        ("B200", "bf16", "281", "B200 (HGX/DGX) 180GB"),
        ("H100", "fp8", "592", "H100 SXM5 80GB"),
        ("B200", "fp8", "562", "B200 (HGX/DGX) 180GB"),
        ("B200", "fp4", "1125", "B200 (HGX/DGX) 180GB"),
    ]
    .map(|(name, format, printed, catalog)| {
        let call = format!("gemm m=4Ki n=4Ki k=4Ki dtype={format}");
        let stated = ridge(&call, &format!("{name} (glossary)"));
        let listed = ridge(&call, catalog);
        let system = format!("{name} {} tensor", format.to_uppercase());
        let [_, _, peak, bandwidth, point] = <[String; 5]>::try_from(stated).unwrap();
        let [listed_name, _, listed_peak, listed_bandwidth, listed_point] =
            <[String; 5]>::try_from(listed).unwrap();
        let listed = format!("{listed_peak} / {listed_bandwidth}");
        vec![system, peak, bandwidth, point, printed.to_owned(), listed_name, listed, listed_point]
    });
    let head = [
        "system",
        "TFLOP/s",
        "GB/s",
        "ridge point (FLOP/B)",
        "the source",
        "device of the catalog",
        "TFLOP/s / GB/s",
        "ridge point (FLOP/B)",
    ];
    table(&head, &rows)
}

fn guide_layers() -> String {
    let rows = [
        (
            "linear, 4096 outputs, 1024 inputs, batch 512",
            "linear batch=512 in=1024 out=4096",
            "315, arithmetic",
        ),
        (
            "linear, 4096 outputs, 1024 inputs, batch 1",
            "linear batch=1 in=1024 out=4096",
            "1, memory",
        ),
        ("max pooling, 3×3, unit stride", "pool n=32 c=64 h=112 r=3 pad=1", "2.25, memory"),
        ("ReLU", "relu n=16M", "0.25, memory"),
        ("layer normalization", "layernorm rows=8192 columns=1024", "< 10, memory"),
    ]
    .map(|(layer, call, source)| {
        let one = on(call, "V100 (guide)");
        vec![
            layer.to_owned(),
            format!("`{call}`"),
            number(one.intensity.unwrap().get()),
            number(one.ridge_point.unwrap().get()),
            one.limiter.label().to_owned(),
            source.to_owned(),
        ]
    });
    table(&["layer", "call", "FLOP/B", "ridge point (FLOP/B)", "limiter", "NVIDIA's guide"], &rows)
}

fn guide_ridge_points() -> String {
    let rows = ["V100 (guide)", "V100 SXM2 32GB"].map(|name| {
        let one = on("linear batch=512 in=1024 out=4096", name);
        let l2 = device(name).l2_bandwidth.unwrap().value;
        vec![
            name.to_owned(),
            number(one.peak.unwrap().get() / 1e12),
            number(one.bandwidth.get() / 1e9),
            number(one.ridge_point.unwrap().get()),
            number(l2.get() / 1e9),
            number(one.l2_ridge_point.unwrap().get()),
        ]
    });
    let head = [
        "device",
        "TFLOP/s",
        "DRAM (GB/s)",
        "ridge point (FLOP/B)",
        "L2 (GB/s)",
        "ridge point from L2 (FLOP/B)",
    ];
    table(&head, &rows)
}

fn guide_rates() -> String {
    let devices = [
        "V100 SXM2 32GB",
        "TITAN RTX",
        "A100 SXM4 80GB",
        "RTX A6000",
        "L40S",
        "H100 SXM5 80GB",
        "B200 (HGX/DGX) 180GB",
    ];
    let pipes = [
        Pipe::Fp64Vector,
        Pipe::Fp32Vector,
        Pipe::Fp16Vector,
        Pipe::Fp64Matrix,
        Pipe::Tf32Matrix,
        Pipe::Fp16Matrix,
        Pipe::Fp8Matrix,
        Pipe::Int8Matrix,
    ];
    let mut head = vec!["device"];
    head.extend(pipes.iter().map(|pipe| pipe.label()));
    let rows = devices.map(|name| {
        let device = device(name);
        let rate = |pipe: &Pipe| device.rate(*pipe).and_then(|rate| rate.fma_per_clock_per_sm);
        let rates = pipes.iter().map(|pipe| rate(pipe).map_or("–".to_owned(), number));
        std::iter::once(name.to_owned()).chain(rates).collect()
    });
    let a100 = device("A100 SXM4 80GB");
    let peak = |pipe: Pipe| {
        let rate = a100.rate(pipe).and_then(|rate| rate.fma_per_clock_per_sm).unwrap();
        let peak = roofline::peak_rate(rate, a100.sms.unwrap(), Hertz::new(1.41e9));
        format!("{} TFLOP/s", number(peak.get() / 1e12))
    };
    let (tf32, fp16) = (peak(Pipe::Tf32Matrix), peak(Pipe::Fp16Matrix));
    let sums = format!("\n2 × rate × 108 SMs × 1.41 GHz for an A100: TF32 {tf32}, FP16 {fp16}.\n");
    table(&head, &rows) + &sums
}

fn guide_tail() -> String {
    let rows = [8, 12, 16, 17].map(|blocks| {
        let call = format!("gemm m={} n=128 k=4096 resident=1", 128 * blocks);
        let tiling = on(&call, "8 SMs (guide)").tiling.unwrap();
        let share = |share: Option<f64>| {
            share.map_or("–".to_owned(), |share| format!("{}%", number(share * 100.0)))
        };
        vec![
            format!("`{call}`"),
            tiling.blocks.to_string(),
            number(tiling.waves.unwrap()),
            share(tiling.wave_efficiency),
            share(tiling.sm_efficiency),
        ]
    });
    table(&["call", "blocks on 8 SMs", "waves", "wave efficiency", "SM efficiency"], &rows)
}

fn guide_thread() -> String {
    let call = "given flops=16000 read=16 dtype=fp16 product=yes";
    let guide = device("V100 (guide)");
    let rows = [None, Some(Grid { blocks: 1, threads: 1 })].map(|grid| {
        let options = Options { grid, ..Options::default() };
        let one = predict(&arguments(call).unwrap(), &guide, &options).unwrap();
        vec![
            grid.map_or("not given", |_| "1 block of 1 thread").to_owned(),
            number(one.intensity.unwrap().get()),
            number(one.ridge_point.unwrap().get()),
            one.limiter.label().to_owned(),
        ]
    });
    table(&["grid", "FLOP/B", "ridge point (FLOP/B)", "limiter"], &rows)
}

const GEMV: &str = "gemv m=16384 alpha=0.2 beta=1 dtype=fp64";

fn notebook_counts() -> String {
    let rows = [
        counted(
            "y = αAx + βy",
            GEMV,
            "2N²+3N, 8(N²+2N), ≈ 0.25",
            "8(N²+3N): y is read and written",
        ),
        counted("y = αAx", "gemv m=16384 alpha=0.2 dtype=fp64", "", "8(N²+2N)"),
    ];
    table(COUNTS, &rows)
}

fn notebook_times() -> String {
    let measured = Seconds::new(0.015_257_023_811_340_331);
    let row =
        |name: &str, value: String, source: &str| vec![name.to_owned(), value, source.to_owned()];
    let p100 = device("Tesla P100 SXM2");
    let one = on(GEMV, "Tesla P100 SXM2");
    let grid = Some(Grid { blocks: 128, threads: 128 });
    let options = Options { grid, ..Options::default() };
    let launched = predict(&arguments(GEMV).unwrap(), &p100, &options).unwrap();
    let achieved = (one.bytes / measured).get();
    let share = achieved / one.bandwidth.get();
    let rows = [
        row("ridge point", format!("{} FLOP/B", number(one.ridge_point.unwrap().get())), "7.24"),
        row("t_mem", time(one.t_mem.get()), ""),
        row("t_math", time(one.t_math.get()), ""),
        row("expected", time(one.roofline_time.get()), ""),
        row("limiter by the roofs", one.limiter.label().to_owned(), "memory"),
        row("limiter with 128 blocks of 128 threads", launched.limiter.label().to_owned(), ""),
        row("measured", time(measured.get()), "15.257 ms"),
        row(
            "headroom",
            format!("{}×", number(roofline::headroom(measured, one.roofline_time))),
            "",
        ),
        row(
            "achieved bandwidth",
            format!("{} GB/s", number(achieved / 1e9)),
            "140.771 GB/s, y once",
        ),
        row("share of the peak", format!("{}%", number(share * 100.0)), "“1/4”"),
    ];
    table(&["", "library", "the source"], &rows)
}
