//! The numbers that must come out: hand-checked cases from papers, datasheets and public profiles.

use std::collections::HashMap;

use rooflint::roofline as law;
use rooflint::units::{Bytes, BytesPerSecond, Flops, FlopsPerByte, FlopsPerSecond, Hertz, Seconds};

struct Case {
    id: String,
    quantity: String,
    inputs: HashMap<String, f64>,
    expected: String,
    tolerance: Option<f64>,
}

fn cases(text: &str) -> Vec<Case> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let mut cases = Vec::new();
    for row in reader.records() {
        let row = row.unwrap();
        let inputs = row[3]
            .split(';')
            .filter_map(|pair| pair.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.parse().unwrap()))
            .collect();
        cases.push(Case {
            id: row[0].to_owned(),
            quantity: row[2].to_owned(),
            inputs,
            expected: row[4].to_owned(),
            tolerance: row[6].parse().ok(),
        });
    }
    cases
}

enum Answer {
    Number(f64),
    Word(&'static str),
    /// A closed form, checked with the kernels it belongs to.
    ClosedForm,
}

#[expect(clippy::too_many_lines, reason = "one line per quantity, as a table")]
fn answer(case: &Case) -> Answer {
    use Answer::{ClosedForm, Number, Word};
    let input =
        |name: &str| *case.inputs.get(name).unwrap_or_else(|| panic!("{}: no {name}", case.id));
    let seconds = |name: &str| Seconds::new(input(name));
    let flops = |name: &str| Flops::new(input(name));
    let bytes = || Bytes::new(input("bytes"));
    let peak = || FlopsPerSecond::new(input("peak"));
    let bw = || BytesPerSecond::new(input("bw"));
    let clock = || Hertz::new(input("clock"));
    let expected = || {
        law::expected_time(law::memory_time(bytes(), bw()), law::math_time(flops("flops"), peak()))
    };
    let yes = |condition: bool| Word(if condition { "yes" } else { "no" });
    let limiter = |blocks, threads, sms| {
        law::limiter(
            law::memory_time(bytes(), bw()),
            law::math_time(flops("flops"), peak()),
            blocks,
            threads,
            sms,
            0.0,
        )
        .label()
    };
    match case.quantity.as_str() {
        "ridge" => Number(law::ridge_point(peak(), bw()).get()),
        "peak" => {
            Number(law::peak_rate(input("fma_per_clk_per_sm"), input("sm") as u32, clock()).get())
        }
        "peak_from_counter" => {
            Number(law::peak_at_clock(input("per_cycle"), input("ops_per_inst"), clock()).get())
        }
        "bandwidth_from_counter" => {
            Number(law::bandwidth_at_clock(input("bytes_per_cycle"), clock()).get())
        }
        "bandwidth_ddr" => Number(
            law::ddr_bandwidth(input("bus_bits") as u32, Hertz::new(input("mem_clock"))).get(),
        ),
        "intensity" => Number((flops("flops") / bytes()).get()),
        "t_mem" => Number(law::memory_time(bytes(), bw()).get()),
        "t_math" => Number(law::math_time(flops("flops"), peak()).get()),
        "expected_time" => Number(expected().get()),
        "headroom" => Number(law::headroom(seconds("t"), expected())),
        "recoverable" => Number(law::recoverable(seconds("t"), expected()).get()),
        "attainable" => Number(law::attainable(FlopsPerByte::new(input("ai")), peak(), bw()).get()),
        "achieved_bandwidth" => Number((bytes() / seconds("t")).get()),
        "fraction" => Number(input("part") / input("whole")),
        "limiter_roofline" => Word(limiter(None, None, None)),
        "limiter" => Word(limiter(
            Some(input("grid") as u64),
            Some(input("block") as u64),
            Some(input("sm") as u32),
        )),
        "flops_from_counts" => {
            Number(law::operations(input("add"), input("mul"), input("fma")).get())
        }
        "flops_half" => Number(
            law::half_operations(input("hadd"), input("hmul"), input("hfma"), input("lanes")).get(),
        ),
        "flops_packed_fp32" => Number(
            law::operations(input("fadd"), input("fmul"), input("ffma")).get()
                + law::half_operations(input("fadd2"), input("fmul2"), input("ffma2"), 2.0).get(),
        ),
        "flops_from_rate" => Number(
            law::operations_from_rate(
                input("rate_per_cycle"),
                input("weight"),
                input("cycles_sum"),
                input("sm") as u32,
            )
            .get(),
        ),
        "unweighted_lower" => Number(input("n")),
        "unweighted_upper" => Number(law::operations(0.0, 0.0, input("n")).get()),
        "mma_flops" => Number(
            law::mma_operations(input("m") as u32, input("n") as u32, input("k") as u32).get(),
        ),
        "tensor_flops_from_inst" => Number(input("inst") * input("flop_per_inst")),
        "tensor_flops_from_pipe" => Number(
            law::operations_from_activity(input("active_fraction"), peak(), seconds("t")).get(),
        ),
        "dense_quotient" => Number(input("counter_peak") / input("catalog_dense")),
        "half_lanes" => Number(law::half_lanes(
            input("catalog_flops_per_clk_sm"),
            input("hfma_peak_per_clk_sm"),
        )),
        "sector_bytes" => Number(law::sector_bytes(input("sectors")).get()),
        "sectors_per_request" => Number(input("sectors") / input("requests")),
        "amdahl" => Number(law::amdahl(input("share"), input("speedup"))),
        "program_gain" => Number(law::program_gain(seconds("total"), seconds("recoverable"))),
        "kernel_headroom" => {
            Number(law::headroom(seconds("t1") + seconds("t2"), seconds("e1") + seconds("e2")))
        }
        "t_math_groups" => Number(
            law::grouped_math_time([seconds("serial_a") + seconds("serial_b"), seconds("other")])
                .get(),
        ),
        "violation" => yes(law::is_faster_than_roof(seconds("t"), seconds("e"))),
        "launch_bound" => yes(law::is_launch_floored(seconds("t"), seconds("e"), seconds("t_fix"))),
        "flagged" => yes(law::is_opportunity(
            seconds("t"),
            seconds("e"),
            input("threshold"),
            law::flag_floor(seconds("total"), law::FLAG_FLOOR, law::FLAG_SHARE),
        )),
        "duration_from_cycles" => Number(law::duration_from_cycles(input("cycles"), clock()).get()),
        "waves" => {
            Number(law::waves(input("grid") as u64, input("sm") as u32, input("blocks") as u32))
        }
        "wave_efficiency" => Number(law::wave_efficiency(
            input("grid") as u64,
            input("sm") as u32,
            input("blocks") as u32,
        )),
        "sm_efficiency" => Number(law::sm_efficiency(
            input("grid") as u64,
            input("sm") as u32,
            input("blocks") as u32,
        )),
        "limit_registers" => Number(f64::from(law::register_limited_blocks(
            input("threads") as u32,
            input("regs") as u32,
        ))),
        "limit_warps" => Number(f64::from(law::warp_limited_blocks(
            input("threads") as u32,
            input("warps_max") as u32,
        ))),
        "limit_shared" => Number(f64::from(law::shared_limited_blocks(
            input("alloc") as u32,
            input("smem_config") as u32,
        ))),
        "blocks_per_sm" => Number(f64::from(blocks_per_sm(&input))),
        "occupancy" => Number(law::occupancy(
            input("blocks") as u32,
            input("threads") as u32,
            input("warps_max") as u32,
        )),
        "tail_hint" => {
            Number(law::tail_hint(input("grid") as u64, input("sm") as u32, input("blocks") as u32))
        }
        "excess_fraction" => Number(law::excess_fraction(input("theoretical"), input("ideal"))),
        "next_bottleneck" => Number(
            law::next_bottleneck(
                seconds("t"),
                input("u_affected"),
                input("k"),
                input("u_other_max"),
            )
            .get(),
        ),
        "bound_class" => Word(match law::bound(input("u_mem"), input("u_math")) {
            law::Limiter::Memory => "memory-bound",
            law::Limiter::Math => "math-bound",
            _ => "latency-bound",
        }),
        "fma_mix_derate" => Number(law::fma_mix_derate(input("alpha"))),
        "bytes_in_flight" => Number(law::bytes_in_flight(bw(), seconds("latency")).get()),
        "l2_binds_hit_rate" => Number(law::l2_binds_from(
            BytesPerSecond::new(input("bw_dram")),
            BytesPerSecond::new(input("bw_l2")),
        )),
        "memcpy_dtod_dram_bytes" => Number(2.0 * input("n")),
        _ => ClosedForm,
    }
}

/// The tightest of the four limits of resident blocks.
fn blocks_per_sm(input: &dyn Fn(&str) -> f64) -> u32 {
    let whole = |name| input(name) as u32;
    let asked = whole("smem_static_dynamic") + whole("reserved");
    let shared =
        law::shared_limited_blocks(asked.next_multiple_of(whole("gran")), whole("smem_config"));
    law::register_limited_blocks(whole("threads"), whole("regs"))
        .min(law::warp_limited_blocks(whole("threads"), whole("warps_max")))
        .min(whole("blocks_max"))
        .min(shared)
}

#[test]
fn every_case_comes_out() {
    let text = include_str!("../../fixtures/cases/law.csv");
    let mut wrong = Vec::new();
    let cases = cases(text);
    for case in &cases {
        match answer(case) {
            Answer::Word(word) if word == case.expected => {}
            Answer::Number(number) => {
                let expected: f64 = case.expected.parse().unwrap();
                let close = match case.tolerance {
                    Some(tolerance) => (number / expected - 1.0).abs() <= tolerance,
                    None => number == expected,
                };
                if !close {
                    wrong.push(format!("{}: {number}, expected {expected}", case.id));
                }
            }
            Answer::Word(word) => {
                wrong.push(format!("{}: {word}, expected {}", case.id, case.expected));
            }
            Answer::ClosedForm => {
                wrong.push(format!("{}: no formula for {}", case.id, case.quantity));
            }
        }
    }
    assert!(cases.len() > 150, "{} cases", cases.len());
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Quantities that belong to parts which do not exist yet, or are tested where they are computed.
const ELSEWHERE: [&str; 44] = [
    // Counters of AMD devices, which no reader takes in yet.
    "amd_mfma_flops",
    "amd_read_gfx90a",
    "amd_read_gfx942",
    "amd_valu_flops",
    "amd_write",
    // The floor of the gate, tested beside it.
    "single_launch_noise",
    // Repaired by the PyProf reader, and tested beside it.
    "pyprof_linear_bytes_faulty",
    "pyprof_linear_bytes_repaired",
    // Closed forms of kernels.
    "adam_bytes",
    "attention_bwd_flops",
    "attention_bytes_flash",
    "attention_bytes_unfused",
    "attention_flops",
    "attention_pairs_causal",
    "axpy_ai",
    "axpy_bytes",
    "axpy_flops",
    "conv2d_bytes",
    "conv2d_flops",
    "conv2d_out",
    "decode_attention_ai",
    "dot_ai",
    "elementwise_ai",
    "embedding_bytes",
    "gemm_ai",
    "gemm_ai_l2",
    "gemm_bytes",
    "gemm_executed_flops",
    "gemm_flops",
    "gemv_bytes",
    "gemv_flops",
    "gemv_plain_ai",
    "layernorm_ai",
    "linear_ai",
    "linear_bytes",
    "pool_ai",
    "rfft_ai",
    "rfft_flops",
    "sgd_momentum_bytes",
    "softmax_ai",
    "spmv_ai_no_rowptr",
    "spmv_csr_ai",
    "transpose_bytes",
    "winograd_reduction",
];

#[test]
fn no_case_of_the_collection_is_left_out() {
    let Some(path) = crate::profiles::named("ROOFLINT_CASES") else { return };
    let text = std::fs::read_to_string(path).unwrap();
    let ours: Vec<String> = cases(include_str!("../../fixtures/cases/law.csv"))
        .into_iter()
        .map(|case| case.id)
        .collect();
    let missing: Vec<String> = cases(&text)
        .into_iter()
        .filter(|case| !ELSEWHERE.contains(&case.quantity.as_str()))
        .map(|case| case.id)
        .filter(|id| !ours.contains(id))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
