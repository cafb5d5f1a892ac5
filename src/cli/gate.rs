//! `gate` and `diff`: a run against its baseline, by a policy.

use std::path::{Path, PathBuf};
use std::slice::from_ref;
use std::sync::Arc;

use clap::builder::PossibleValuesParser;
use clap::{Args, value_parser};

use super::anchor;
use super::args::{self, Configuration, Model, Reading};
use super::exit::{self, Failure};
use super::held::Held;
use super::origin::found;
use super::output::{self, Places};
use super::self_test::rehearse;
use super::sides::{self, Sides};
use super::terminal::Terminal;
use super::yardstick::Yardstick;
use super::{baseline, clock, config};
use crate::analysis::{Waiver, is_called};
use crate::compare::Run;
use crate::config::Config;
use crate::gate::{self, Outcome, Policy, Setting};
use crate::history::{DEFAULT_NAME, Filter, Store};
use crate::report::{self, GATE_OUTPUTS, GateReport, Style};
use crate::units::{RelativeChange, Share};

const GATE_EXAMPLES: &str = "\
Examples:
  rooflint gate now.csv --baseline main.csv          one run each: declared noise
  rooflint gate 'now-*.csv' --baseline 'main-*.csv'  repeated: measured noise
  rooflint gate b1.csv b2.csv --baseline a1.csv a2.csv --order ABBA
  rooflint gate 'now-*.csv' --baseline baselines/    the newest runs of a store
  rooflint gate now.csv                              only bounds, no baseline
  rooflint gate now.csv --baseline main.csv -o gate.md -o junit=report.xml -o -
  rooflint gate 'main-*.csv' --self-test             is a slowdown caught?

Policy: [gate] in rooflint.toml; see docs/gate-policy.md. Method and error rates: docs/gate.md.

Exit codes:
  0  passed
  1  failed
  2  usage, configuration, different devices
  3  unreadable, nothing measured, no baseline
  4  inconclusive";

/// Fail if a run is slower than its baseline or breaks a policy
///
/// Each file is a run; a folder is one run of several ranks. Repeated runs on each side measure the
/// noise; with one run on each side, the noise that the policy declares decides.
#[derive(Debug, Args)]
#[command(
    override_usage = "rooflint gate CURRENT... --baseline BASELINE... [OPTIONS]\n       rooflint gate CURRENT... [OPTIONS]",
    after_long_help = GATE_EXAMPLES
)]
pub(super) struct Gate {
    #[command(flatten)]
    reading: Reading,

    #[command(flatten)]
    side: Side,

    /// Compare with all files that follow: exports, saved runs, JSON reports; a store, or a table of dated runs (the newest before)
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Comparison")]
    baseline: Vec<PathBuf>,

    #[command(flatten)]
    yardstick: Yardstick,

    /// Compare with a second baseline of the store too: a commit, a tag, an entry, or `oldest`
    #[arg(
        long,
        value_name = "WORD",
        help_heading = "Comparison",
        requires = "baseline",
        hide_short_help = true
    )]
    anchor: Option<String>,

    /// Read the policy from this file instead of [gate] in rooflint.toml
    #[arg(long, value_name = "FILE", help_heading = "Policy")]
    policy: Option<PathBuf>,

    /// Require this share of the baseline's time to be compared, such as 90%
    #[arg(long, value_name = "SHARE", value_parser = coverage, help_heading = "Policy")]
    coverage: Option<Share>,

    /// Exit 0 whatever the verdict; what fails is reported as a warning
    #[arg(long, help_heading = "Policy")]
    exit_zero: bool,

    /// Check that the policy catches an injected slowdown
    #[arg(long, help_heading = "Policy", conflicts_with_all = ["paths", "exit_zero", "format", "across_devices", "full_names", "order", "allow_missing_baseline", "anchor"])]
    self_test: bool,

    /// Inject this slowdown with --self-test
    #[arg(long, value_name = "SHARE", default_value = "0.25", value_parser = slowdown, help_heading = "Policy", requires = "self_test", hide_short_help = true)]
    slowdown: RelativeChange,
}

/// Compare two runs; whatever changed, it exits 0
///
/// Makes the same comparison as `gate`, with the same policy. Each side is a file, a folder of ranks,
/// a quoted pattern of repeated runs, or (the baseline) a store.
#[derive(Debug, Args)]
#[command(
    override_usage = "rooflint diff BASELINE CURRENT [OPTIONS]",
    after_long_help = "\
Examples:
  rooflint diff main.csv now.csv
  rooflint diff 'main-*.csv' 'now-*.csv' -o diff.md
  rooflint diff a100.csv h100.csv --across-devices   by ratio to the roofline"
)]
pub(super) struct Diff {
    /// The baseline, then the current run
    #[command(flatten)]
    pub(super) reading: Reading,

    #[command(flatten)]
    side: Side,
}

/// What both commands ask for.
#[derive(Debug, Args)]
struct Side {
    #[command(flatten)]
    model: Model,

    /// Set the GPU of the baseline, if it differs
    #[arg(long, value_name = "NAME", help_heading = "Comparison")]
    baseline_device: Option<String>,

    #[command(flatten)]
    configuration: Configuration,

    /// Declare the order of the runs, such as ABBA: A baseline, B current
    #[arg(long, value_name = "LETTERS", value_parser = order, help_heading = "Comparison")]
    order: Option<Order>,

    /// Skip this many first launches of each kernel
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = value_parser!(u32), help_heading = "Comparison")]
    warmup: u32,

    /// Compare runs on different GPUs, by their ratio to the roofline
    #[arg(long, help_heading = "Comparison")]
    across_devices: bool,

    /// Set the format of standard output
    #[arg(long, value_name = "FORMAT", help_heading = "Output", value_parser = PossibleValuesParser::new(report::formats_with(GATE_OUTPUTS).map(|format| format.name)))]
    format: Option<String>,

    #[arg(
        short = 'o',
        long = "output",
        value_name = "[FORMAT=]PATH",
        id = "paths",
        help = output::help(GATE_OUTPUTS, ""),
        help_heading = "Output"
    )]
    outputs: Vec<PathBuf>,

    /// Print full kernel names, as the profiler wrote them
    #[arg(long, help_heading = "Output")]
    full_names: bool,
}

/// The order of runs: `true` for those of the current side.
#[derive(Debug, Clone)]
struct Order(Vec<bool>);

fn order(text: &str) -> Result<Order, String> {
    let letters = text.chars().map(|letter| match letter.to_ascii_uppercase() {
        'A' => Ok(false),
        'B' => Ok(true),
        other => Err(format!("{other:?} is neither A (baseline) nor B (current); write ABBA")),
    });
    letters.collect::<Result<Vec<bool>, String>>().map(Order)
}

/// A share as a number, or in percent.
fn part(text: &str) -> Option<f64> {
    match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse().ok().map(|percent: f64| percent / 100.0),
        None => text.parse().ok(),
    }
}

fn coverage(text: &str) -> Result<Share, String> {
    match part(text) {
        Some(share) if (0.0..=1.0).contains(&share) => Ok(Share::new(share)),
        _ => Err("write a share such as 90% or 0.9, from 0 to 1".to_owned()),
    }
}

fn slowdown(text: &str) -> Result<RelativeChange, String> {
    match part(text) {
        Some(share) if share > 0.0 && share <= 10.0 => Ok(RelativeChange::new(share)),
        _ => Err("write a share such as 20% or 0.2, more than 0 and at most 10".to_owned()),
    }
}

pub(super) fn gate(command: &Gate, terminal: &Terminal) -> Result<(), Failure> {
    let outputs = places(&command.side)?;
    let (config, policy) = command.policy(terminal)?;
    let (current, baseline) = match both(command, (&config, &policy), terminal) {
        Ok(Some(sides)) => sides,
        Ok(None) => return Ok(()),
        Err(failure) => {
            refuse(&failure, &policy, (&command.side, &outputs), terminal)?;
            return Err(failure);
        }
    };
    let decided = decided(command, (&config, policy), (current, baseline), terminal)?;
    write(&decided, (&command.side, &outputs), terminal)?;
    match decided.code() {
        exit::DONE => Ok(()),
        code => Err(Failure::Verdict(code)),
    }
}

impl Gate {
    /// The configuration, and the policy with what the command line says over it.
    fn policy(&self, terminal: &Terminal) -> Result<(Config, Policy), Failure> {
        let (config, mut policy) = policy(self.policy.as_deref(), &self.side, terminal)?;
        policy.warn_only |= self.exit_zero;
        policy.coverage = self.coverage.unwrap_or(policy.coverage);
        Ok((config, policy))
    }
}

/// A decision with all that is said of it.
#[derive(Debug)]
pub(super) struct Decided {
    pub(super) decision: gate::Decision,
    policy: Policy,
    /// The runs of the current side.
    pub(super) current: Vec<Run>,
    /// The options with which an export of the current side is read by itself.
    reading: String,
}

impl Decided {
    /// The exit code of `gate`.
    pub(super) const fn code(&self) -> u8 {
        code(self.decision.outcome, self.policy.warn_only)
    }

    /// Whether nothing could be compared at all.
    pub(super) const fn is_without_result(&self) -> bool {
        matches!(self.decision.outcome, Outcome::NothingMeasured | Outcome::DifferentDevices)
    }

    /// The report of it.
    pub(super) fn report<'a>(&'a self, command: Option<&'a str>) -> GateReport<'a> {
        let mut files = self.current.iter().flat_map(|run| &run.files);
        GateReport {
            command,
            export: files.next().map(|file| file.path.as_str()),
            reading: &self.reading,
            current: &self.current,
            ..GateReport::new(&self.decision, &self.policy)
        }
    }
}

/// Decides for another program; outputs are not looked at.
pub(super) fn decide(
    mut command: Gate,
    held: Held,
    terminal: &Terminal,
) -> Result<Decided, Failure> {
    command.reading.held = Some(Arc::new(held));
    let (config, policy) = command.policy(terminal)?;
    let rehearsed = || Failure::usage("--self-test makes no decision");
    let (current, baseline) =
        both(&command, (&config, &policy), terminal)?.ok_or_else(rehearsed)?;
    decided(&command, (&config, policy), (current, baseline), terminal)
}

/// Reads the current side and its baseline; nothing where the policy was rehearsed instead.
fn both(
    command: &Gate,
    (config, policy): (&Config, &Policy),
    terminal: &Terminal,
) -> Result<Option<(sides::Side, sides::Side)>, Failure> {
    let side = sides(&command.reading, &command.side, config)?;
    let current = side.runs(&command.reading.files)?;
    let baseline = against(command, &side, &current.runs, policy, terminal)?;
    Ok(baseline.map(|baseline| (current, baseline)))
}

fn decided(
    command: &Gate,
    (config, policy): (&Config, Policy),
    (current, mut baseline): (sides::Side, sides::Side),
    terminal: &Terminal,
) -> Result<Decided, Failure> {
    let sides::Side { runs: current, notes, .. } = current;
    // Without --baseline there never will be one.
    let missing = baseline.missing.take();
    let has_checks = !policy.bounds.is_empty() || !policy.required.is_empty();
    if baseline.runs.is_empty() && !has_checks && missing.is_none() {
        let help =
            "give --baseline FILE, or write [[gate.bound]] in rooflint.toml (docs/gate-policy.md)";
        return Err(Failure::usage("gate needs a baseline: --baseline FILE").help(help));
    }
    let order = ordered(&command.side, &baseline, current.len())?;
    let setting = Setting { today: Some(clock::now().date()), order, decides: true };
    let mut decision = gate::judge(&baseline.runs, &current, &policy, &setting);
    let word = command.anchor.as_deref().or(policy.anchor.as_deref());
    if let Some(word) = word.filter(|_| !baseline.runs.is_empty()) {
        let word = (word, command.anchor.is_some());
        let sides = (baseline.runs.as_slice(), current.as_slice());
        let store = baseline.store.as_mut();
        // The oldest of the branch that the newest baseline is of.
        let branch = baseline.runs.first().and_then(|run| run.origin.branch.clone());
        let name = command.yardstick.name().map(str::to_owned);
        let filter = Filter { name, branch, ..Filter::default() };
        let anchor = anchor::find(word, store, &filter, sides, &mut decision.notes)?;
        if let Some(anchor) = anchor {
            gate::beside(&mut decision, &anchor, &current, (&policy, &setting));
        }
    }
    // Later runs are not compared with one that violates a bound.
    if let Some(why) = missing {
        if decision.outcome == Outcome::Passed {
            baseline.note(first(command, &current, terminal)?);
        }
        decision = decision.without_baseline(why, has_checks);
    }
    baseline.note(notes);
    baseline.note(of_analysis(&config.waivers, &decision));
    decision.notes.extend(baseline.notes);
    let reading = again(&command.reading, &command.side);
    Ok(Decided { decision, policy, current, reading })
}

/// Says which waivers of `analyze` are for kernels that fail here, where they accept nothing.
fn of_analysis(waivers: &[Waiver], decision: &gate::Decision) -> Vec<String> {
    let is_for = |waiver: &Waiver, check: &gate::Check| match &check.subject {
        gate::Subject::Run => false,
        gate::Subject::Kernel { name, full_name, .. } => is_called(&waiver.kernel, name, full_name),
    };
    let failing = |waiver: &&Waiver| decision.deciding().any(|check| is_for(waiver, check));
    let note = |waiver: &Waiver| {
        format!(
            "[[waiver]] for {:?} leaves kernels out of the savings and accepts no check of the gate: [[gate.waiver]] does",
            waiver.kernel
        )
    };
    waivers.iter().filter(failing).map(note).collect()
}

/// The baseline; none where the policy was rehearsed instead, and an empty one where none is needed.
fn against(
    command: &Gate,
    side: &Sides<'_>,
    current: &[Run],
    policy: &Policy,
    terminal: &Terminal,
) -> Result<Option<sides::Side>, Failure> {
    let baseline = if command.baseline.is_empty() {
        Ok(sides::Side::default())
    } else {
        let mut yardstick = command.yardstick.clone();
        yardstick.across_devices = policy.across_devices;
        side.baseline(&command.baseline, (current, &yardstick), policy.max_age_days)
    };
    let baseline = match baseline {
        Err(Failure::MissingBaseline { message, .. })
            if command.yardstick.allow_missing_baseline =>
        {
            sides::Side { missing: Some(message), ..sides::Side::default() }
        }
        other => other?,
    };
    if command.self_test {
        let runs = if baseline.runs.is_empty() { current } else { &baseline.runs };
        rehearse(runs, policy, command.slowdown, terminal)?;
        return Ok(None);
    }
    baseline.apart_from(current)?;
    Ok(Some(baseline))
}

/// Saves the runs as the first baseline where a store was named, and says so.
fn first(command: &Gate, runs: &[Run], terminal: &Terminal) -> Result<Vec<String>, Failure> {
    let [path] = command.baseline.as_slice() else { return Ok(Vec::new()) };
    // A file is written by somebody else, a partitioned table by `convert`.
    let is_written_elsewhere = path.extension().is_some()
        || path.is_file()
        || sides::is_pattern(path)
        || sides::is_partitioned(path);
    if is_written_elsewhere {
        return Ok(Vec::new());
    }
    let store = Store::open_or_new(path)?;
    let (here, _) = found();
    let mut runs = runs.to_vec();
    for run in &mut runs {
        run.origin.commit = run.origin.commit.take().or_else(|| here.commit.clone());
        run.origin.branch = run.origin.branch.take().or_else(|| here.branch.clone());
    }
    // What is saved must be what the next gate asks for; a name that is mistyped never is.
    if let Some(reason) = command.yardstick.refusal(&runs) {
        return Ok(vec![format!("nothing was saved: {reason}")]);
    }
    let name = command.yardstick.name().unwrap_or(DEFAULT_NAME);
    let placed = baseline::keep(runs, &store, (name, store.form(name)), clock::now(), terminal)?;
    let many = report::count(placed.len() as u64, "run was", "runs were");
    Ok(vec![format!("{many} saved as the first baseline {name:?} in {}", path.display())])
}

/// The options with which an export of the current side is read by itself.
fn again(reading: &Reading, side: &Side) -> String {
    args::reading_again(reading, &side.model)
}

/// Writes to files why inputs could not be read: a pipeline shows its files, and an old one would lie.
fn refuse(
    failure: &Failure,
    policy: &Policy,
    (side, places): (&Side, &Places),
    terminal: &Terminal,
) -> Result<(), Failure> {
    if !failure.is_unreadable() {
        return Ok(());
    }
    let files: Places = places.iter().filter(|place| !place.is_stdout()).cloned().collect();
    let help = failure.next_step().map(|help| format!(" ({help})")).unwrap_or_default();
    let decision = gate::Decision::refused(format!("{failure}{help}"));
    let (policy, current) = (policy.clone(), Vec::new());
    let refused = Decided { decision, policy, current, reading: String::new() };
    write(&refused, (side, &files), terminal)
}

/// The exit code of an outcome; a policy that only warns forgives what it judges, not what it could not.
const fn code(outcome: Outcome, warn_only: bool) -> u8 {
    match outcome {
        Outcome::Passed => exit::DONE,
        Outcome::Failed | Outcome::Inconclusive if warn_only => exit::DONE,
        Outcome::Failed => exit::GATE_FAILED,
        Outcome::Inconclusive => exit::INCONCLUSIVE,
        Outcome::NothingMeasured => exit::UNREADABLE,
        Outcome::DifferentDevices => exit::USAGE,
    }
}

pub(super) fn diff(command: &Diff, terminal: &Terminal) -> Result<(), Failure> {
    let outputs = places(&command.side)?;
    let compared = compared(command, terminal)?;
    write(&compared, (&command.side, &outputs), terminal)?;
    // It informs; what could not be compared at all is no information.
    if compared.is_without_result() {
        return Err(Failure::Verdict(code(compared.decision.outcome, true)));
    }
    Ok(())
}

/// Compares for another program; outputs are not looked at.
pub(super) fn difference(
    mut command: Diff,
    held: Held,
    terminal: &Terminal,
) -> Result<Decided, Failure> {
    command.reading.held = Some(Arc::new(held));
    compared(&command, terminal)
}

fn compared(command: &Diff, terminal: &Terminal) -> Result<Decided, Failure> {
    let (baseline, current) = match (&command.reading.held, command.reading.files.as_slice()) {
        (Some(held), files) => {
            let (baseline, current) = files.split_at(held.earlier.min(files.len()));
            let empty = [(baseline, "the baseline"), (current, "the current side")];
            if let Some((_, side)) = empty.into_iter().find(|(files, _)| files.is_empty()) {
                return Err(Failure::usage(format!("{side} has no runs"))
                    .help("give at least one run of each side; does a pattern match nothing?"));
            }
            (baseline, current)
        }
        (None, [baseline, current]) => (from_ref(baseline), from_ref(current)),
        (None, _) => {
            return Err(Failure::usage("diff takes two sides: a baseline and a current one").help(
                "several runs of a side: a quoted pattern such as 'main-*.csv', or `rooflint gate`",
            ));
        }
    };
    let (config, policy) = policy(None, &command.side, terminal)?;
    let side = sides(&command.reading, &command.side, &config)?;
    let sides::Side { runs: current, notes, .. } = side.runs(current)?;
    let yardstick = Yardstick::default();
    let mut baseline = side.baseline(baseline, (&current, &yardstick), policy.max_age_days)?;
    let order = ordered(&command.side, &baseline, current.len())?;
    let setting = Setting { today: Some(clock::now().date()), order, decides: false };
    let mut decision = gate::judge(&baseline.runs, &current, &policy, &setting);
    baseline.note(notes);
    decision.notes.extend(baseline.notes);
    let reading = again(&command.reading, &command.side);
    Ok(Decided { decision, policy, current, reading })
}

fn sides<'a>(reading: &'a Reading, side: &Side, config: &Config) -> Result<Sides<'a>, Failure> {
    let sides = Sides::new(reading, &side.model, config, side.warmup)?;
    sides.with_baseline_on(side.baseline_device.clone())
}

/// The configuration and the policy in it, or in a file of its own.
fn policy(
    file: Option<&Path>,
    side: &Side,
    terminal: &Terminal,
) -> Result<(Config, Policy), Failure> {
    let mut config = config::find(&side.configuration, terminal)?;
    if let Some(path) = file {
        config = Config::read_over(path, config)?;
    }
    let mut policy = config.gate.clone();
    policy.across_devices |= side.across_devices;
    Ok((config, policy))
}

/// The declared order, which must name as many runs as there are, in an order that is known.
fn ordered(side: &Side, baseline: &sides::Side, current: usize) -> Result<Vec<bool>, Failure> {
    let Some(Order(order)) = &side.order else { return Ok(Vec::new()) };
    if let Some(reason) = &baseline.unordered {
        return Err(Failure::usage(format!("--order needs runs in their order: {reason}")).help(
            "give the exports of the baseline in the order in which they were taken: --baseline FILE...",
        ));
    }
    let baseline = baseline.runs.len();
    let later = order.iter().filter(|later| **later).count();
    let earlier = order.len() - later;
    if (earlier, later) == (baseline, current) {
        return Ok(order.clone());
    }
    let of = |runs: usize, one: &str, many: &str| report::count(runs as u64, one, many);
    let (named, others) = (of(earlier, "run A", "runs A"), of(later, "run B", "runs B"));
    let (before, now) = (of(baseline, "run", "runs"), of(current, "run", "runs"));
    let there = format!("the baseline has {before}, the current side {now}");
    Err(Failure::usage(format!("--order names {named} and {others}, and {there}"))
        .help("one letter for each run, in the order in which they were taken, such as ABBA"))
}

/// What messages call the formats of a decision.
pub(super) const FORMAT: &str = "gate format";

/// Where to write what.
fn places(side: &Side) -> Result<Places, Failure> {
    let asked = (side.outputs.as_slice(), side.format.as_deref());
    output::places_for(asked, GATE_OUTPUTS, FORMAT)
}

fn write(
    decided: &Decided,
    (side, places): (&Side, &Places),
    terminal: &Terminal,
) -> Result<(), Failure> {
    let report = decided.report(Some(terminal.command()));
    let summary = std::env::var_os("GITHUB_STEP_SUMMARY");
    let style = |style, path: &Path| {
        // A job summary takes more than a comment.
        let is_summary = summary.as_deref().is_some_and(|summary| summary == path.as_os_str());
        let limit = if is_summary { GateReport::SUMMARY } else { GateReport::COMMENT };
        Style { full_names: side.full_names, limit: Some(limit), ..style }
    };
    output::write(places, &report, style, terminal)
}
