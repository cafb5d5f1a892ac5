//! Programs made up of kernels, with noise that is stated: no export is needed.

use std::error::Error;
use std::io::Write;

use rooflint::compare::{Run, RunKernel};
use rooflint::gate::{self, Outcome, Policy, Subject, Verdict};
use rooflint::units::{Factor, Hertz, Seconds};

use crate::random::Random;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Kernels of a program, and runs per side.
const KERNELS: [usize; 3] = [5, 50, 500];
const RUNS: [usize; 4] = [1, 3, 5, 10];

/// Launches of each kernel in a run.
const LAUNCHES: usize = 6;

/// Time of a run in seconds.
const TOTAL: f64 = 0.5;

/// Standard deviation of the clock of a run, on the logarithmic scale.
const CLOCK: f64 = 0.005;

/// What runs of the same code differ by.
#[derive(Clone, Copy)]
struct Noise {
    /// From launch to launch.
    launch: f64,
    /// Of a kernel, from run to run.
    kernel: f64,
    /// What else differs.
    extra: Extra,
}

#[derive(Clone, Copy, PartialEq)]
enum Extra {
    None,
    /// Each run is in one of two clock states, 6% apart.
    Clocks,
    /// 2% of launches take up to 2.5 times as long.
    Tails,
    /// A tenth of the kernels is chosen anew in each run, 15% apart; under another name or not.
    Swaps {
        named: bool,
    },
    /// The first launch takes three times as long.
    Warmup,
    /// Each side on a device of its own, which differ by 2% (a standard deviation).
    Device,
    /// The current side at a clock that is 4% lower; with clocks in the exports or not.
    Throttle {
        known: bool,
    },
    /// One run of either side takes 20% longer.
    Odd,
}

/// What the current side does otherwise.
#[derive(Clone, Copy, PartialEq)]
enum Change {
    None,
    /// The kernel with 5% or 20% of the time takes this much longer.
    Kernel {
        large: bool,
        by: f64,
    },
    All(f64),
    /// All, and one run of the baseline is hot.
    AllOdd(f64),
    /// Half of the kernels and one more.
    Most(f64),
    /// The kernel with 5% of the time is launched twice as often.
    Launches,
    /// A new kernel with 5% of the time.
    New,
    /// The kernels with 20% and 5% of the time are one now, which takes 30% longer than both.
    Fusion,
    /// The kernel with 20% of the time has another name, and takes 15% longer.
    Rename,
}

/// Writes the tables.
pub(crate) fn tables(trials: usize, out: &mut impl Write) -> Result<()> {
    false_alarms(trials, out)?;
    detections(trials, out)
}

fn header(first: &str, out: &mut impl Write) -> Result<()> {
    writeln!(
        out,
        "| {first} | 1 run per side | 3 | 5 | 10 |\n| --- | ---: | ---: | ---: | ---: |"
    )?;
    Ok(())
}

/// Gates of so many kernels: those of 500 take long.
fn gates(kernels: usize, trials: usize) -> usize {
    if kernels > 100 { trials.div_ceil(10) } else { trials }
}

fn false_alarms(trials: usize, out: &mut impl Write) -> Result<()> {
    let blank = Blank::new()?;
    let quiet = |extra| Noise { launch: 0.01, kernel: 0.01, extra };
    let lines = [
        ("launches ±1%, kernels ±1%", quiet(Extra::None)),
        ("launches ±3%, kernels ±1%", Noise { launch: 0.03, ..quiet(Extra::None) }),
        ("launches ±1%, kernels ±3%", Noise { kernel: 0.03, ..quiet(Extra::None) }),
        ("launches ±3%, kernels ±3%", Noise { launch: 0.03, kernel: 0.03, extra: Extra::None }),
        ("±1%, ±1%, two clock states 6% apart", quiet(Extra::Clocks)),
        ("±1%, ±1%, heavy tails", quiet(Extra::Tails)),
        ("±1%, ±1%, autotuned swaps", quiet(Extra::Swaps { named: false })),
        ("±1%, ±1%, swaps that change the name", quiet(Extra::Swaps { named: true })),
        ("±1%, ±1%, warm-up", quiet(Extra::Warmup)),
        ("±1%, ±1%, another GPU of the model, ±2%", quiet(Extra::Device)),
        ("±1%, ±1%, throttled by 4%, no clocks", quiet(Extra::Throttle { known: false })),
        ("±1%, ±1%, throttled by 4%, clocks known", quiet(Extra::Throttle { known: true })),
        ("±1%, ±1%, one run 20% slower", quiet(Extra::Odd)),
    ];
    for kernels in KERNELS {
        let all = gates(kernels, trials);
        writeln!(
            out,
            "### False alarms, {kernels} kernels ({all} gates a cell): failed (warned)\n"
        )?;
        header("what differs from run to run", out)?;
        for (words, noise) in lines {
            write!(out, "| {words} ")?;
            for runs in RUNS {
                let found = rate(kernels, runs, noise, Change::None, (&blank, all));
                write!(out, "| {} ({}) ", percent(found.failed, all), percent(found.warned, all))?;
            }
            writeln!(out, "|")?;
            out.flush()?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn detections(trials: usize, out: &mut impl Write) -> Result<()> {
    let blank = Blank::new()?;
    let kernel = |large, by| Change::Kernel { large, by };
    let lines = [
        ("+5% in a kernel with 5% of the time", kernel(false, 0.05)),
        ("+10%", kernel(false, 0.1)),
        ("+20%", kernel(false, 0.2)),
        ("+5% in a kernel with 20% of the time", kernel(true, 0.05)),
        ("+10%", kernel(true, 0.1)),
        ("+20%", kernel(true, 0.2)),
        ("all kernels +5%", Change::All(0.05)),
        ("all kernels +15%", Change::All(0.15)),
        ("all kernels +15%, one hot run of the baseline", Change::AllOdd(0.15)),
        ("more than half of the kernels +6.5%", Change::Most(0.065)),
        ("launches × 2 of a kernel with 5%", Change::Launches),
        ("a new kernel with 5%", Change::New),
        ("a fusion 30% slower", Change::Fusion),
        ("a rename 15% slower", Change::Rename),
    ];
    for (launch, which) in [(0.01, 0.01), (0.03, 0.01), (0.03, 0.03)] {
        let noise = Noise { launch, kernel: which, extra: Extra::None };
        let is_quiet = launch == which;
        for kernels in
            KERNELS.into_iter().filter(|kernels| is_quiet && which < 0.02 || *kernels == 50)
        {
            let all = gates(kernels, trials);
            writeln!(
                out,
                "### Detections, {kernels} kernels, launches ±{:.0}%, kernels ±{:.0}% ({all} gates a cell): \
                 failed (not passed)\n",
                launch * 100.0,
                which * 100.0
            )?;
            header("slower", out)?;
            let (mut wrong, mut judged) = (0, 0);
            for (words, change) in lines {
                write!(out, "| {words} ")?;
                for runs in RUNS {
                    let found = rate(kernels, runs, noise, change, (&blank, all));
                    if runs >= 5 {
                        wrong += found.wrong;
                        judged += all;
                    }
                    write!(
                        out,
                        "| {} ({}) ",
                        percent(found.failed, all),
                        percent(found.open, all)
                    )?;
                }
                writeln!(out, "|")?;
                out.flush()?;
            }
            writeln!(
                out,
                "\nFrom 5 runs per side, {} blame a wrong kernel.\n",
                percent(wrong, judged)
            )?;
        }
    }
    Ok(())
}

fn percent(count: usize, all: usize) -> String {
    format!("{:.1}%", count as f64 / all.max(1) as f64 * 100.0)
}

#[derive(Default)]
struct Found {
    failed: usize,
    /// Failed or inconclusive.
    open: usize,
    /// Passed with a warning of a change.
    warned: usize,
    /// Blamed a kernel that did not change.
    wrong: usize,
}

fn rate(
    kernels: usize,
    runs: usize,
    noise: Noise,
    change: Change,
    (blank, trials): (&Blank, usize),
) -> Found {
    let mut found = Found::default();
    let policy = Policy::default();
    let setting = gate::Setting { decides: true, ..gate::Setting::default() };
    for trial in 0..trials {
        let mut random = Random((trial * 7919 + kernels * 31 + runs) as u64);
        let (one, two) = sides(kernels, runs, noise, change, (blank, &mut random));
        let decision = gate::judge(&one, &two, &policy, &setting);
        let failed = decision.outcome == Outcome::Failed;
        found.failed += usize::from(failed);
        found.open += usize::from(decision.outcome != Outcome::Passed);
        let is_doubt = |check: &gate::Check| {
            check.action == gate::Action::Warn && check.verdict == Verdict::Ambiguous
        };
        found.warned += usize::from(!failed && decision.checks.iter().any(is_doubt));
        let is_wrong = |check: &gate::Check| match &check.subject {
            Subject::Kernel { full_name, .. } => {
                check.verdict == Verdict::Regression && !changed(change, full_name, kernels)
            }
            Subject::Run => false,
        };
        found.wrong += usize::from(decision.deciding().any(is_wrong));
    }
    found
}

/// The name of a kernel; those of a library have a tile in it.
fn name(at: usize, tile: &str) -> String {
    let words = ["gemm", "softmax", "norm", "copy", "conv", "reduce", "scatter", "gelu"];
    let letters: String =
        [at / 26, at % 26].map(|digit| char::from(b'a' + (digit % 26) as u8)).iter().collect();
    format!("lib_{}_{letters}_{tile}_tn", words[at % words.len()])
}

/// Whether the kernel of this name got slower on purpose.
fn changed(change: Change, full: &str, kernels: usize) -> bool {
    let is = |at: usize| full == name(at, "128x64") || full == name(at, "64x64");
    match change {
        Change::None => false,
        Change::Kernel { large, .. } => is(usize::from(!large)),
        Change::All(_) | Change::AllOdd(_) => true,
        Change::Most(_) => (0..=kernels / 2).any(is),
        Change::Launches => is(1),
        Change::New | Change::Fusion | Change::Rename => !(0..kernels).any(is),
    }
}

/// Shares of the time: 20%, 5%, and the rest falling as those of real programs do.
fn shares(kernels: usize) -> Vec<f64> {
    let rest: Vec<f64> = (2..kernels).map(|at| 1.0 / (at as f64 - 1.0).powf(0.8)).collect();
    let sum: f64 = rest.iter().sum();
    [0.2, 0.05].into_iter().chain(rest.into_iter().map(|share| share / sum * 0.75)).collect()
}

fn sides(
    kernels: usize,
    runs: usize,
    noise: Noise,
    change: Change,
    (blank, random): (&Blank, &mut Random),
) -> (Vec<Run>, Vec<Run>) {
    let shares = shares(kernels);
    let tuned: Vec<bool> = shares.iter().map(|_| random.uniform() < 0.1).collect();
    let devices = [0.02 * random.normal(), 0.02 * random.normal()];
    let odd = random.below(2 * runs);
    let (mut one, mut two) = (Vec::new(), Vec::new());
    for place in 0..2 * runs {
        let later = place % 2 == 1;
        let mut clock = CLOCK * random.normal();
        let mut lower = 0.0_f64;
        match noise.extra {
            Extra::Clocks if random.uniform() < 0.5 => clock += 0.06,
            Extra::Device => clock += devices[usize::from(later)],
            Extra::Throttle { .. } if later => lower = 0.04,
            Extra::Odd if place == odd => clock += 0.2_f64.ln_1p(),
            _ => {}
        }
        if matches!(change, Change::AllOdd(_)) && place == 0 {
            clock += 0.2_f64.ln_1p();
        }
        let mut run: Vec<RunKernel> = Vec::new();
        let mut add = |name: &str, time: f64, launches: usize, random: &mut Random| {
            let times: Vec<f64> = (0..launches)
                .map(|launch| {
                    let mut factor = (noise.launch * random.normal()).exp();
                    if noise.extra == Extra::Tails && random.uniform() < 0.02 {
                        factor *= 1.2 + random.uniform() * 1.3;
                    }
                    if noise.extra == Extra::Warmup && launch == 0 {
                        factor *= 3.0;
                    }
                    time * factor
                })
                .collect();
            let known =
                (noise.extra == Extra::Throttle { known: true }).then(|| 1.5e9 * (-lower).exp());
            run.push(blank.kernel(name, times, known));
        };
        for (at, share) in shares.iter().enumerate() {
            let mut shift = clock + lower + noise.kernel * random.normal();
            let mut tile = "128x64";
            if let Extra::Swaps { named } = noise.extra
                && tuned[at]
                && random.uniform() < 0.5
            {
                shift += 0.15_f64.ln_1p();
                tile = if named { "64x64" } else { tile };
            }
            let (mut launches, mut full) = (LAUNCHES, name(at, tile));
            if later {
                match change {
                    Change::Kernel { large, by } if at == usize::from(!large) => {
                        shift += by.ln_1p();
                    }
                    Change::All(by) | Change::AllOdd(by) => shift += by.ln_1p(),
                    Change::Most(by) if at <= kernels / 2 => shift += by.ln_1p(),
                    Change::Launches if at == 1 => launches *= 2,
                    Change::Rename if at == 0 => {
                        shift += 0.15_f64.ln_1p();
                        "lib_gemm_aa_split_k_fast".clone_into(&mut full);
                    }
                    Change::Fusion if at < 2 => continue,
                    _ => {}
                }
            }
            add(&full, TOTAL * share / LAUNCHES as f64 * shift.exp(), launches, random);
        }
        let level = (clock + lower + noise.kernel * random.normal()).exp() / LAUNCHES as f64;
        if later && change == Change::New {
            add("new_transpose", TOTAL * 0.05 * level, LAUNCHES, random);
        }
        if later && change == Change::Fusion {
            add("fused_gemm_softmax_aa_ab", TOTAL * 0.25 * 1.3 * level, LAUNCHES, random);
        }
        let run = blank.run(run, place);
        if later { two.push(run) } else { one.push(run) }
    }
    (one, two)
}

/// A kernel and a run as saved runs hold them, to be filled.
struct Blank {
    kernel: RunKernel,
    run: Run,
}

impl Blank {
    fn new() -> Result<Self> {
        let kernel = serde_json::json!({
            "name": "", "full_name": "", "operator": null, "grid": [64, 1, 1],
            "block": [256, 1, 1], "blocks": 64, "threads_per_block": 256, "device": 0,
            "category": "other", "launches": 0, "timed": 0, "measured_s": 0.0, "share": 0.0,
            "samples_s": [], "clock_hz": null, "bytes": null, "flops": null, "fp64_flops": null,
            "judged_s": 0.0, "roofline_s": null, "roofline_high_s": null, "savings_s": 0.0,
            "findings": [], "rows": [0, 0]
        });
        let device = serde_json::json!({ "name": "H100", "known": true, "dram_bytes_per_s": null });
        let run = serde_json::json!({
            "schema": "rooflint/run/2", "rooflint": "0", "label": "", "files": [],
            "devices": [device], "ceilings": "spec", "launches": 0, "timed_launches": 0,
            "measured_s": 0.0, "kernels": [], "fingerprint": ""
        });
        Ok(Self { kernel: serde_json::from_value(kernel)?, run: serde_json::from_value(run)? })
    }

    fn kernel(&self, name: &str, mut times: Vec<f64>, clock: Option<f64>) -> RunKernel {
        times.sort_unstable_by(f64::total_cmp);
        let cycles = clock.map(|clock| times.iter().map(|time| time * clock).collect());
        RunKernel {
            name: name.to_owned(),
            full_name: name.to_owned(),
            launches: times.len() as u64,
            timed: times.len() as u64,
            measured_s: Seconds::new(times.iter().sum()),
            samples_s: times.into_iter().map(Seconds::new).collect(),
            samples_cycles: cycles.unwrap_or_default(),
            clock_hz: clock.map(Hertz::new),
            ..self.kernel.clone()
        }
    }

    fn run(&self, kernels: Vec<RunKernel>, place: usize) -> Run {
        let (label, fingerprint) = (format!("run {place}"), place.to_string());
        Run { label, fingerprint, kernels, ..self.run.clone() }.slowed(Factor::ONE, |_| false)
    }
}
