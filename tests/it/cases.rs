//! The numbers that must come out: hand-checked cases from papers, datasheets and public profiles,
//! `fixtures/cases/cases.csv`. The law answers what it states itself, predictions the closed forms.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rooflint::ingest;
use rooflint::model::Quantity;
use rooflint::roofline as law;
use rooflint::units::{Bytes, BytesPerSecond, Flops, FlopsPerSecond, Hertz, Seconds};

use crate::predict;

/// Numbers by name: the inputs of a case.
pub(crate) struct Inputs(pub(crate) BTreeMap<String, f64>);

impl Inputs {
    fn of(text: &str) -> Self {
        let pairs = text.split(';').map(|pair| pair.split_once('=').unwrap());
        Self(pairs.map(|(name, value)| (name.to_owned(), value.parse().unwrap())).collect())
    }

    pub(crate) fn get(&self, name: &str) -> f64 {
        *self.0.get(name).unwrap_or_else(|| panic!("no {name} among {:?}", self.0))
    }
}

/// What the program makes of a case.
pub(crate) enum Answer {
    Number(f64),
    Word(&'static str),
}

struct Case {
    id: String,
    quantity: String,
    inputs: Inputs,
    expected: String,
    /// Relative; `None` where the number must be the very same.
    tolerance: Option<f64>,
    /// What the source printed, where that is wrong.
    misprint: Option<f64>,
}

impl Case {
    /// What is wrong with an answer.
    fn fault(&self, answer: &Answer) -> Option<String> {
        let (id, expected) = (&self.id, &self.expected);
        let number = match answer {
            Answer::Word(word) if word == expected => return None,
            Answer::Word(word) => return Some(format!("{id}: {word}, expected {expected}")),
            Answer::Number(number) => *number,
        };
        let is = |wanted: f64| match self.tolerance {
            Some(tolerance) => (number / wanted - 1.0).abs() <= tolerance,
            None => number == wanted,
        };
        if !is(expected.parse().unwrap()) {
            return Some(format!("{id}: {number}, expected {expected}"));
        }
        let is_misprint = self.misprint.is_some_and(is);
        is_misprint.then(|| format!("{id}: the printed error is repeated"))
    }
}

fn rows(name: &str) -> Vec<BTreeMap<String, String>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cases");
    let text = fs::read_to_string(folder.join(name)).unwrap();
    csv::Reader::from_reader(text.as_bytes()).deserialize().map(Result::unwrap).collect()
}

fn cases() -> Vec<Case> {
    let case = |row: BTreeMap<String, String>| Case {
        id: row["id"].clone(),
        quantity: row["quantity"].clone(),
        inputs: Inputs::of(&row["inputs"]),
        expected: row["expected"].clone(),
        tolerance: row["rel_tolerance"].parse().ok(),
        misprint: row["published"].parse().ok().filter(|_| row["verdict"] == "differs"),
    };
    rows("cases.csv").into_iter().map(case).collect()
}

#[expect(clippy::too_many_lines, reason = "one line per quantity, as a table")]
/// What the law makes of a case; none for what it does not state.
fn answer(case: &Case) -> Option<Answer> {
    use Answer::{Number, Word};
    let input = |name: &str| case.inputs.get(name);
    let seconds = |name: &str| Seconds::new(input(name));
    let flops = |name: &str| Flops::new(input(name));
    let bytes = || Bytes::new(input("bytes"));
    let peak = || FlopsPerSecond::new(input("peak"));
    let bw = || BytesPerSecond::new(input("bw"));
    let clock = || Hertz::new(input("clock"));
    let expected = || {
        law::roofline_time(law::memory_time(bytes(), bw()), law::math_time(flops("flops"), peak()))
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
    Some(match case.quantity.as_str() {
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
        "recoverable" => Number(law::savings(seconds("t"), expected()).get()),
        "achieved_bandwidth" => Number((bytes() / seconds("t")).get()),
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
        "flops_from_rate" => {
            let cycles = law::elapsed_cycles(input("cycles_sum"), input("sm"));
            let count = input("rate_per_cycle") * cycles;
            Number(law::operations(input("weight") * count, 0.0, 0.0).get())
        }
        "unweighted_lower" => Number(law::operations(input("n"), 0.0, 0.0).get()),
        "unweighted_upper" => Number(law::operations(0.0, 0.0, input("n")).get()),
        "mma_flops" => Number(
            law::mma_operations(input("m") as u32, input("n") as u32, input("k") as u32).get(),
        ),
        "sector_bytes" => Number(law::sector_bytes(input("sectors")).get()),
        "program_gain" => Number(law::run_speedup(seconds("total"), seconds("recoverable"))),
        "kernel_headroom" => {
            Number(law::headroom(seconds("t1") + seconds("t2"), seconds("e1") + seconds("e2")))
        }
        "t_math_groups" => Number(
            law::grouped_math_time([
                (0, seconds("serial_a")),
                (0, seconds("serial_b")),
                (1, seconds("other")),
            ])
            .get(),
        ),
        "violation" => yes(law::is_faster_than_roof(seconds("t"), seconds("e"))),
        "launch_bound" => yes(law::is_launch_floored(seconds("t"), seconds("e"), seconds("t_fix"))),
        "flagged" => yes(law::is_opportunity(
            seconds("t"),
            seconds("e"),
            input("threshold"),
            law::flag_floor(seconds("total"), None, law::FLAG_SHARE),
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
        _ => return None,
    })
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

/// What the reader of AMD's counters makes of a case.
fn amd_counters(case: &Case) -> Option<Answer> {
    let vector = "SQ_INSTS_VALU_";
    let (generation, counters): (&str, Vec<(String, &str)>) = match case.quantity.as_str() {
        "amd_mfma_flops" => ("EA0", vec![(format!("{vector}MFMA_MOPS_BF16"), "mops")]),
        "amd_valu_flops" => {
            let counters = [("ADD", "add"), ("MUL", "mul"), ("TRANS", "trans"), ("FMA", "fma")];
            ("EA", counters.map(|(name, input)| (format!("{vector}{name}_F32"), input)).to_vec())
        }
        "amd_read_gfx90a" => ("EA", reads("EA")),
        "amd_read_gfx942" => {
            ("EA0", [reads("EA0"), vec![("TCC_BUBBLE_sum".to_owned(), "bubble")]].concat())
        }
        "amd_write" => {
            let all = ("TCC_EA0_WRREQ_sum".to_owned(), "wr");
            ("EA0", vec![all, ("TCC_EA0_WRREQ_64B_sum".to_owned(), "wr64")])
        }
        _ => return None,
    };
    let mut columns: BTreeMap<String, f64> = ["RDREQ", "RDREQ_32B", "WRREQ", "WRREQ_64B"]
        .into_iter()
        .map(|kind| (format!("TCC_{generation}_{kind}_sum"), 0.0))
        .chain([("TCC_BUBBLE_sum".to_owned(), 0.0)])
        .collect();
    columns.extend(counters.into_iter().map(|(name, input)| (name, case.inputs.get(input))));
    let (names, values): (Vec<_>, Vec<_>) =
        columns.into_iter().map(|(name, value)| (name, value.to_string())).unzip();
    let text = format!(
        "Dispatch_ID,Kernel_Name,GPU_ID,Grid_Size,Workgroup_Size,{},Start_Timestamp,End_Timestamp\n\
         0,kernel,0,256,256,{},1000,2000\n",
        names.join(","),
        values.join(",")
    );
    let options = ingest::Options { strict: true, ..ingest::Options::default() };
    let profile = ingest::read_text("pmc_perf.csv", text.leak(), &options).unwrap();
    let launch = profile.launch(0);
    let flops = launch.work().map(|(_, flops, _)| flops.get()).sum();
    Some(Answer::Number(match case.quantity.as_str() {
        "amd_mfma_flops" | "amd_valu_flops" => flops,
        _ => launch.value(Quantity::DramBytes).unwrap(),
    }))
}

/// Counters of read requests, by the generation of their names.
fn reads(generation: &str) -> Vec<(String, &'static str)> {
    let counter = |kind| format!("TCC_{generation}_{kind}_sum");
    vec![(counter("RDREQ"), "rd"), (counter("RDREQ_32B"), "rd32")]
}

/// Quantities that nothing in the program computes, and why.
const NOT_RUN: &[(&str, &str)] = &[
    ("amdahl", "gains are of time saved, `program_gain`, never of a part's speed-up"),
    ("bytes_in_flight", "no export has the latency of a memory"),
    ("dense_quotient", "a quotient that `tensor-parent-peak` takes, and tests"),
    ("fma_mix_derate", "`unfused-multiply-add` counts instructions, of the pipe that is busy"),
    ("fraction", "a quotient: the rows keep what sources print beside what they measured"),
    (
        "half_lanes",
        "both halves of a packed instruction count, and the range says that one may idle",
    ),
    ("l2_binds_hit_rate", "each level has its own time, from its own bytes"),
    ("occupancy", "read from the export, never computed"),
    ("pyprof_linear_bytes_faulty", "what PyProf writes; its reader repairs it, and tests that"),
    ("sectors_per_request", "a quotient of counters that the reader takes, and tests"),
    ("single_launch_noise", "a default of the gate, which measures noise where it can"),
    ("tail_hint", "the tail is a range, from `sm_efficiency` to `wave_efficiency`"),
    ("tensor_flops_from_inst", "a count times `mma_flops`; the reader tests shapes by name"),
    ("tensor_flops_from_pipe", "the time that the pipe is active is taken as it is"),
];

#[test]
fn every_case_comes_out() {
    let mut wrong = Vec::new();
    let cases = cases();
    for case in &cases {
        let is_left_out = NOT_RUN.iter().any(|(quantity, _)| *quantity == case.quantity);
        let by_form = predict::cases::answer(&case.quantity, &case.inputs);
        let by_form = by_form.or_else(|| amd_counters(case));
        let answers: Vec<Answer> = answer(case).into_iter().chain(by_form).collect();
        if answers.is_empty() != is_left_out {
            wrong.push(format!("{}: {} is computed, or has a reason", case.id, case.quantity));
        }
        wrong.extend(answers.iter().filter_map(|answer| case.fault(answer)));
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    for (quantity, _) in NOT_RUN {
        assert!(cases.iter().any(|case| case.quantity == *quantity), "{quantity}");
    }
}

/// A kernel of a timeline: when it ran, in nanoseconds, and what each of its roofs asks for.
struct Modeled {
    start: f64,
    end: f64,
    floor: Seconds,
}

/// Start and end, either of which may be negative.
fn span(text: &str) -> (f64, f64) {
    let dash = text[1..].find('-').unwrap() + 1;
    (text[..dash].parse().unwrap(), text[dash + 1..].parse().unwrap())
}

/// The kernels of a case that have a model.
fn modeled(activities: &str, expected: &BTreeMap<&str, &str>) -> Vec<Modeled> {
    let kernels = activities.split(';').filter_map(|activity| {
        let mut parts = activity.split(':');
        let name = parts.next().unwrap();
        let (start, end) = span(parts.nth(2)?);
        let model = expected.get(format!("model.{name}").as_str())?;
        let times: BTreeMap<&str, &str> =
            model.split('/').map(|part| part.split_once(':').unwrap()).collect();
        let time = |roof| Seconds::new(times.get(roof).map_or(0.0, |time| time.parse().unwrap()));
        Some(Modeled { start, end, floor: law::roofline_time(time("mem"), time("flop")) })
    });
    kernels.collect()
}

/// Of `fixtures/cases/timeline.csv`, what the law states today: the roofs of kernels that run one at a
/// time and whole. Kernels that share the device, windows, gaps, steps and ranges wait for a reader
/// of timelines.
#[test]
fn kernels_of_timelines_that_run_alone_meet_their_roofs() {
    let rows = rows("timeline.csv");
    assert_eq!(rows.len(), 26);
    let mut checked = Vec::new();
    for row in &rows {
        let expected: BTreeMap<&str, &str> =
            row["expected"].split(';').filter_map(|pair| pair.split_once('=')).collect();
        let kernels = modeled(&row["activities"], &expected);
        if kernels.is_empty() {
            continue;
        }
        let (from, to) = span(&row["window_ns"]);
        let is_whole = kernels.iter().all(|kernel| kernel.start >= from && kernel.end <= to);
        let follow = |pair: &[Modeled]| pair[0].end <= pair[1].start;
        if !is_whole || !kernels.windows(2).all(follow) {
            continue;
        }
        let (mut roofs, mut savings) = (Seconds::ZERO, Seconds::ZERO);
        for kernel in &kernels {
            let measured = Seconds::new(kernel.end - kernel.start);
            let saved = law::savings(measured, kernel.floor);
            savings += saved;
            roofs += measured - saved;
        }
        let wanted = |name: &str| expected[name].parse::<f64>().unwrap();
        let sums = (roofs.get(), savings.get());
        assert_eq!(sums, (wanted("roofline"), wanted("savings")), "{}", row["case"]);
        checked.push(row["case"].as_str());
    }
    assert_eq!(checked, ["T18", "T19", "T20"]);
}
