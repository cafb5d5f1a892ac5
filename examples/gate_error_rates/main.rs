//! Measures how often the gate is wrong: false alarms on the same code, and slowdowns that it misses.
//!
//! `cargo run --release --example gate_error_rates -- [--trials N] [EXPORT...]` writes the tables of
//! `docs/gate-error-rates.md` to the standard output: without exports those of made-up programs, with
//! exports those of runs that are made by drawing from their launches. What the launches of one export cannot tell (clocks and temperature between runs) is
//! added as stated in the table. The same exports and trials give the same numbers.

mod random;
mod synthetic;

use std::error::Error;
use std::io::Write;

use rooflint::compare::{Run, RunKernel};
use rooflint::gate::{self, Outcome, Policy, Subject, Verdict};
use rooflint::ingest::{self, Input};
use rooflint::model::Profile;
use rooflint::session::Session;
use rooflint::units::{Factor, Seconds, Share};

use random::Random;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Standard deviation of the clock of a run, on the logarithmic scale: temperature, neighbors, a driver.
const CLOCK: f64 = 0.015;
/// Standard deviation of a kernel's own time from run to run: layout, caches, allocation.
const KERNEL: f64 = 0.007;
/// Drift of the clock from the first run to the last.
const DRIFT: f64 = 0.03;
/// Share of launches that something interrupts, and by how much at most.
const OUTLIERS: (f64, f64) = (0.02, 2.5);
/// Share of kernels whose implementation is chosen by trial at start, and how far the choices differ.
const BIMODAL: (f64, f64) = (0.1, 0.15);

/// What runs differ by although the code is the same.
#[derive(Clone, Copy, Default)]
struct Conditions {
    clock: f64,
    kernel: f64,
    drift: f64,
    outliers: bool,
    bimodal: bool,
}

/// Which kernels get slower in the current runs.
#[derive(Clone, Copy, PartialEq)]
enum Slowed {
    None,
    /// One with at least 5% of the time.
    One,
    /// The same; only gates that name it count.
    Named,
    /// A quarter of them.
    Some,
    All,
}

fn main() -> Result<()> {
    let mut trials = 200;
    let mut files = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--trials" {
            trials = arguments.next().unwrap_or_default().parse()?;
        } else {
            files.push(argument);
        }
    }
    if files.is_empty() {
        return synthetic::tables(trials, &mut std::io::stdout().lock());
    }
    let inputs: Vec<std::path::PathBuf> = files.iter().map(Into::into).collect();
    let mut exports: Vec<(String, Run)> = Vec::new();
    let mut out = std::io::stdout().lock();
    for input in ingest::expand(&inputs)? {
        let Some((name, run)) = usable(&input) else { continue };
        exports.push((name, run));
    }
    exports.sort_by(|one, two| one.0.cmp(&two.0));
    if exports.is_empty() {
        return Err("none of the files has kernels with several timed launches".into());
    }
    let launches: u64 = exports.iter().map(|(_, run)| run.timed_launches).sum();
    let kernels: usize = exports.iter().map(|(_, run)| run.kernels.len()).sum();
    writeln!(
        out,
        "{} exports with {kernels} kernels and {launches} timed launches; {trials} gates for each \
         export and line.\n",
        exports.len()
    )?;
    false_alarms(&exports, trials, &mut out)?;
    detections(&exports, trials, &mut out)?;
    Ok(())
}

/// A run of this export, if it has enough launches that are repeated.
fn usable(input: &Input) -> Option<(String, Run)> {
    let profile: Profile =
        ingest::read(std::slice::from_ref(input), &ingest::Options::default()).ok()?;
    // Where the export does not name its device, times are compared all the same.
    let any = Session::default().on(Some("A100 SXM4 80GB".to_owned()));
    let run = Session::default().judge(&profile).or_else(|_| any.judge(&profile)).ok()?.run(0);
    let repeated = run.kernels.iter().filter(|kernel| kernel.samples_s.len() >= 3);
    let enough = repeated.map(|kernel| kernel.share).sum::<Share>() >= Share::new(0.5);
    enough.then(|| (run.label.clone(), run))
}

fn false_alarms(exports: &[(String, Run)], trials: usize, out: &mut impl Write) -> Result<()> {
    let calm = Conditions::default();
    let usual = Conditions { clock: CLOCK, kernel: KERNEL, ..calm };
    let lines = [
        ("launches drawn anew, nothing else differs", calm),
        ("clock ±1.5%, each kernel ±0.7%", usual),
        ("the same, and the clock drifts by 3%", Conditions { drift: DRIFT, ..usual }),
        ("the same, and 2% of launches take up to 2.5×", Conditions { outliers: true, ..usual }),
        (
            "the same, and a tenth of the kernels is autotuned, 15% apart",
            Conditions { bimodal: true, ..usual },
        ),
    ];
    writeln!(out, "### False alarms: gates that fail although the code is the same\n")?;
    writeln!(
        out,
        "| what differs from run to run | 1 run per side | 3 per side | 5 per side | 5 per side, warnings |"
    )?;
    writeln!(out, "| --- | ---: | ---: | ---: | ---: |")?;
    for (words, conditions) in lines {
        let mut cells = Vec::new();
        for runs in [1, 3, 5] {
            let found = rate(exports, trials, runs, conditions, (Slowed::None, 0.0));
            cells.push(percent(found.failed, found.gates));
            if runs == 5 {
                cells.push(percent(found.warned, found.gates));
            }
        }
        writeln!(out, "| {words} | {} |", cells.join(" | "))?;
    }
    writeln!(out)?;
    Ok(())
}

fn detections(exports: &[(String, Run)], trials: usize, out: &mut impl Write) -> Result<()> {
    let usual = Conditions { clock: CLOCK, kernel: KERNEL, ..Conditions::default() };
    for runs in [1, 3, 5] {
        writeln!(
            out,
            "### Detections with {runs} run{} per side: gates that fail\n",
            if runs == 1 { "" } else { "s" }
        )?;
        writeln!(out, "| slower | 1% | 2% | 5% | 10% | 20% |")?;
        writeln!(out, "| --- | ---: | ---: | ---: | ---: | ---: |")?;
        for (words, slowed) in [
            ("one kernel with ≥ 5% of the time", Slowed::One),
            ("… and the gate names that kernel", Slowed::Named),
            ("a quarter of the kernels", Slowed::Some),
            ("all kernels", Slowed::All),
        ] {
            let cells: Vec<String> = [0.01, 0.02, 0.05, 0.1, 0.2]
                .into_iter()
                .map(|slowdown| {
                    let found = rate(exports, trials, runs, usual, (slowed, slowdown));
                    percent(
                        if slowed == Slowed::Named { found.blamed } else { found.failed },
                        found.gates,
                    )
                })
                .collect();
            writeln!(out, "| {words} | {} |", cells.join(" | "))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn percent(count: usize, all: usize) -> String {
    let percent = count as f64 / all.max(1) as f64 * 100.0;
    format!("{percent:.1}%")
}

#[derive(Default)]
struct Found {
    gates: usize,
    failed: usize,
    warned: usize,
    /// Gates that fail for the very kernel that got slower.
    blamed: usize,
}

/// How gates end whose sides are made of the same launches, but for what is slowed.
fn rate(
    exports: &[(String, Run)],
    trials: usize,
    runs: usize,
    conditions: Conditions,
    (slowed, slowdown): (Slowed, f64),
) -> Found {
    let mut found = Found::default();
    let policy = Policy::default();
    let noise = residuals(exports);
    for (number, (_, export)) in exports.iter().enumerate() {
        let weighty: Vec<usize> = (0..export.kernels.len())
            .filter(|at| export.kernels[*at].share >= Share::new(0.05))
            .collect();
        for trial in 0..trials {
            let mut random = Random(number as u64 * 1_000_003 + trial as u64 * 7919 + runs as u64);
            let is_slowed: Vec<bool> = match slowed {
                Slowed::None => vec![false; export.kernels.len()],
                Slowed::All => vec![true; export.kernels.len()],
                Slowed::Some | Slowed::One | Slowed::Named => {
                    let Some(one) = weighty.get(random.below(weighty.len())).copied() else {
                        continue;
                    };
                    let share = if slowed == Slowed::Some { 0.25 } else { 0.0 };
                    let all = 0..export.kernels.len();
                    all.map(|at| at == one || random.uniform() < share).collect()
                }
            };
            let (one, two) =
                sides(export, runs, conditions, (&is_slowed, slowdown), &noise, &mut random);
            let setting = gate::Setting { decides: true, ..gate::Setting::default() };
            let decision = gate::judge(&one, &two, &policy, &setting);
            found.gates += 1;
            let failed = decision.outcome == Outcome::Failed;
            found.failed += usize::from(failed);
            let warned = decision.checks.iter().any(|check| check.action == gate::Action::Warn);
            found.warned += usize::from(warned);
            let blamed = decision.deciding().any(|check| {
                check.verdict == Verdict::Regression
                    && match &check.subject {
                        Subject::Kernel { full_name, .. } => export
                            .kernels
                            .iter()
                            .zip(&is_slowed)
                            .any(|(kernel, slowed)| *slowed && kernel.full_name == *full_name),
                        Subject::Run => false,
                    }
            });
            found.blamed += usize::from(blamed);
        }
    }
    found
}

/// Runs of both sides, taken in turns: A B A B …
fn sides(
    export: &Run,
    runs: usize,
    conditions: Conditions,
    (slowed, slowdown): (&[bool], f64),
    noise: &[f64],
    random: &mut Random,
) -> (Vec<Run>, Vec<Run>) {
    let autotuned: Vec<bool> =
        export.kernels.iter().map(|_| random.uniform() < BIMODAL.0).collect();
    let (mut one, mut two) = (Vec::new(), Vec::new());
    for place in 0..2 * runs {
        let later = place % 2 == 1;
        let drift = conditions.drift * place as f64 / (2 * runs - 1) as f64;
        let clock = conditions.clock * random.normal() + drift;
        let mut run = export.clone();
        for (at, kernel) in run.kernels.iter_mut().enumerate() {
            let mut shift = clock + conditions.kernel * random.normal();
            if conditions.bimodal && autotuned[at] && random.uniform() < 0.5 {
                shift += BIMODAL.1.ln_1p();
            }
            if later && slowed[at] {
                shift += slowdown.ln_1p();
            }
            redraw(kernel, shift.exp(), conditions.outliers, noise, random);
        }
        run.label = format!("{} {place}", export.label);
        let run = run.slowed(Factor::ONE, |_| false);
        if later { two.push(run) } else { one.push(run) }
    }
    (one, two)
}

/// Launches of which one takes more than this many times as long as another did different work: another
/// run would do the same again, not draw from it.
const REPEATS: f64 = 1.3;

/// Draws the launches of a kernel anew: from its own, where they repeat the same work, else each as it was
/// recorded, with noise that was recorded of launches that do.
fn redraw(kernel: &mut RunKernel, factor: f64, outliers: bool, noise: &[f64], random: &mut Random) {
    let recorded = seconds(kernel);
    kernel.samples_cycles.clear();
    if recorded.is_empty() {
        kernel.measured_s = kernel.measured_s * factor;
        return;
    }
    let repeats = recorded.len() >= 3 && spread(&recorded) <= REPEATS;
    let mut drawn: Vec<f64> = recorded
        .iter()
        .map(|time| {
            let mut drawn = if repeats {
                recorded[random.below(recorded.len())]
            } else {
                time * noise.get(random.below(noise.len())).copied().unwrap_or(0.0).exp()
            };
            if outliers && random.uniform() < OUTLIERS.0 {
                drawn *= 1.2 + random.uniform() * (OUTLIERS.1 - 1.2);
            }
            drawn * factor
        })
        .collect();
    drawn.sort_unstable_by(f64::total_cmp);
    let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
    kernel.measured_s = Seconds::new(mean * kernel.timed as f64);
    kernel.samples_s = drawn.into_iter().map(Seconds::new).collect();
}

/// Times of the launches of a kernel, in seconds.
fn seconds(kernel: &RunKernel) -> Vec<f64> {
    kernel.samples_s.iter().map(|time| time.get()).collect()
}

/// The middle value of values in order.
fn middle(sorted: &[f64]) -> f64 {
    sorted[sorted.len() / 2]
}

/// The longest over the shortest of times in order.
fn spread(times: &[f64]) -> f64 {
    times.last().zip(times.first()).map_or(1.0, |(longest, shortest)| longest / shortest)
}

/// How launches lie about the middle of their kernel, where they repeat the same work.
fn residuals(exports: &[(String, Run)]) -> Vec<f64> {
    let kernels = exports.iter().flat_map(|(_, run)| &run.kernels);
    kernels
        .map(seconds)
        .filter(|times| times.len() >= 5 && spread(times) <= REPEATS)
        .flat_map(|times| {
            let center = middle(&times).ln();
            times.into_iter().map(move |time| time.ln() - center)
        })
        .collect()
}
