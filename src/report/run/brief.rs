//! What a run is in five seconds: its kernels with most to save, what to do about each, and what is missing.
//!
//! Computed once from the judged run, and drawn by every format. Each microsecond is claimed once: kernels share
//! no savings, and a step for the whole run says which of the kernels above it replaces.

use std::collections::HashSet;

use super::entry::{Entry, entries};
use super::sentence::{ROOM_OF_RUN, sentence, within};
use super::timeline::OverTime;
use crate::analysis::{Analysis, DeviceUse, Kernel, NameFilter, State, Supply, free_name};
use crate::model::{Profiler, Source};
use crate::plain;
use crate::report::Report;
use crate::report::next_ncu::{AMD_WHY, filter};
use crate::report::view::{Style, name, percent, printable, si};
use crate::rules::{Confidence, DEVICE_MISMATCH, Finding, Severity, Tally};
use crate::units::Seconds;

/// The shortest useful account of a run.
#[derive(Debug)]
pub(in crate::report) struct Brief<'a> {
    /// How the time of the GPUs was used; none without the starts of all work.
    pub(in crate::report) over_time: Option<OverTime<'a>>,
    /// Kernels with savings, most first; then those whose savings are unproven, most first.
    pub(in crate::report) kernels: Vec<Entry<'a>>,
    /// Kernels that could be listed with these, grids with the same cause counted once.
    pub(in crate::report) all: usize,
    /// What to do about the run as a whole, most time first.
    pub(in crate::report) steps: Vec<RunStep<'a>>,
    /// What a faster pipe would save in other kernels, beyond all savings.
    pub(in crate::report) beyond: Option<Beyond<'a>>,
    /// What is missing, and the one command that supplies it.
    pub(in crate::report) missing: Option<Missing>,
}

/// What to do about the run as a whole.
#[derive(Debug)]
pub(in crate::report) struct RunStep<'a> {
    /// What was found.
    pub(in crate::report) finding: &'a Finding,
    /// Ranks of listed kernels whose time it is about: it replaces what is to save in them.
    pub(in crate::report) replaces: Vec<usize>,
}

/// What kernels would save on a faster pipe, or with fewer bytes, than the ones they use, and what those would save that caches
/// serve: no part of the savings, which are for the roof as it is.
#[derive(Debug)]
pub(in crate::report) struct Beyond<'a> {
    /// What was found about the kernel with most of it.
    pub(in crate::report) finding: &'a Finding,
    /// That kernel.
    pub(in crate::report) kernel: &'a Kernel,
    /// How many kernels the same rule fires on.
    pub(in crate::report) kernels: usize,
    /// The most that they would save.
    pub(in crate::report) most: Seconds,
}

/// What the export lacks.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::report) struct Missing {
    /// What, and what follows.
    pub(in crate::report) what: String,
    /// What supplies it.
    pub(in crate::report) remedy: Remedy,
}

/// What supplies something that the export lacks.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::report) enum Remedy {
    /// An option or a setting, in words.
    Help(String),
    /// A command line to copy.
    Command(String),
}

impl Missing {
    /// What is missing and what supplies it, in one sentence.
    pub(in crate::report) fn sentence(&self) -> String {
        match &self.remedy {
            Remedy::Help(help) => format!("{} → {help}", self.what),
            Remedy::Command(command) => format!("{} → `{command}`", self.what),
        }
    }
}

/// As many kernels as a brief has at most.
pub(in crate::report) const KERNELS: usize = 5;

impl<'a> Brief<'a> {
    /// The brief of a report, with so many kernels at most.
    pub(in crate::report) fn of(report: &Report<'a>, most: usize) -> Self {
        let (kernels, all) = entries(report, most);
        Self::about(report, kernels, all)
    }

    /// The same brief with no more kernels and steps than these.
    pub(super) fn first(&self, report: &Report<'a>, kernels: usize, steps: usize) -> Self {
        let kernels = self.kernels.iter().take(kernels).copied().collect();
        let mut brief = Self::about(report, kernels, self.all);
        brief.steps.truncate(steps);
        brief
    }

    fn about(report: &Report<'a>, kernels: Vec<Entry<'a>>, all: usize) -> Self {
        let (steps, missing) = (steps(report, &kernels), missing(report, &kernels));
        let beyond = beyond(report, &kernels);
        let over_time = OverTime::of(report.analysis);
        Self { over_time, kernels, all, steps, beyond, missing }
    }
}

impl Brief<'_> {
    /// The steps for the whole run that may save more than any kernel, and so come before them, and the others. A step
    /// that is about listed kernels comes after them.
    pub(in crate::report) fn steps_around(&self) -> [Vec<&RunStep<'_>>; 2] {
        let most = self.kernels.iter().map(|one| one.savings.get()).reduce(f64::max);
        let is_larger = |step: &&RunStep<'_>| {
            most.is_some_and(|most| step.finding.at_stake_s > most) && step.replaces.is_empty()
        };
        let (first, others) = self.steps.iter().partition(is_larger);
        [first, others]
    }

    /// The rule whose next step the brief tells of a kernel in full.
    pub(in crate::report) fn told(&self, kernel: &Kernel) -> Option<&str> {
        let mut listed = self.kernels.iter();
        let entry = listed.find(|entry| std::ptr::eq(entry.kernel, kernel))?;
        let is_whole = |finding: &&Finding| is_whole(finding, &entry.sentence());
        entry.finding.filter(is_whole).map(|finding| &*finding.rule)
    }
}

/// Whether a sentence has the whole next step of a finding.
pub(super) fn is_whole(finding: &Finding, sentence: &str) -> bool {
    finding.next.as_ref().is_some_and(|next| sentence.contains(&*printable(next)))
}

impl Beyond<'_> {
    /// Which kernels, cause and next step, and how much time it is about.
    pub(in crate::report) fn sentence(&self, style: &Style) -> String {
        let others = match self.kernels {
            1 => String::new(),
            several => format!(" and {} more", several - 1),
        };
        let (name, most) = (name(self.kernel, style), si(self.most.get(), "s"));
        format!("{name}{others}: {} (up to {most}, not in the savings)", sentence(self.finding))
    }
}

impl RunStep<'_> {
    /// Cause and next step, how much time it is about, and which kernels of the list it replaces.
    pub(in crate::report) fn sentence(&self) -> String {
        let mut about = Vec::new();
        if self.finding.at_stake_s > 0.0 {
            about.push(format!("up to {}", si(self.finding.at_stake_s, "s")));
        }
        if !self.replaces.is_empty() {
            let ranks: Vec<String> = self.replaces.iter().map(|rank| format!("#{rank}")).collect();
            about.push(format!("replaces {}", ranks.join(", ")));
        }
        let sentence = within(self.finding, ROOM_OF_RUN);
        if about.is_empty() { sentence } else { format!("{sentence} ({})", about.join("; ")) }
    }
}

/// As many steps for the whole run as a brief has, at most.
pub(super) const STEPS: usize = 2;

/// What rules say about the whole run, most time first; of steps about the same kernels only the first.
fn steps<'a>(report: &Report<'a>, listed: &[Entry<'_>]) -> Vec<RunStep<'a>> {
    let grave = report.findings.run.iter().filter(|finding| {
        let is_grave = finding.at_stake_s > 0.0 && finding.severity >= Severity::Medium
            || finding.severity == Severity::High;
        is_grave && finding.next.is_some() && !is_about_input(finding)
    });
    let mut grave: Vec<&Finding> = grave.collect();
    grave.sort_by(|one, two| two.at_stake_s.total_cmp(&one.at_stake_s));
    let mut claimed: HashSet<&str> = HashSet::new();
    let mut steps = Vec::new();
    for finding in grave {
        let names = finding.kernels.iter().map(String::as_str);
        let is_new =
            finding.kernels.is_empty() || names.clone().any(|name| !claimed.contains(name));
        if !is_new || steps.len() == STEPS {
            continue;
        }
        claimed.extend(names);
        let about = listed.iter().filter(|entry| {
            finding.at_stake_s > 0.0
                && finding.kernels.iter().any(|name| **name == *entry.kernel.name)
        });
        steps.push(RunStep { finding, replaces: about.map(|entry| entry.kernel.rank).collect() });
    }
    steps
}

/// What kernels would save beyond their roofs, where their entries do not say so: by the rule with most of it.
fn beyond<'a>(report: &Report<'a>, listed: &[Entry<'_>]) -> Option<Beyond<'a>> {
    let analysis = report.analysis;
    let is_told = |kernel: &Kernel, finding: &Finding| {
        let mut told = listed.iter().filter(|entry| entry.kernel.name == kernel.name);
        told.any(|entry| entry.finding.is_some_and(|told| told.rule == finding.rule))
    };
    let mut rules: Vec<Beyond<'a>> = Vec::new();
    for (kernel, found) in report.findings.of_kernels(analysis) {
        let is_cached = kernel.state == State::CacheResident;
        let apart = found.iter().filter(|one| {
            let is_apart =
                one.goes_beyond_the_roof() || is_cached && one.confidence > Confidence::Low;
            is_apart && one.next.is_some()
        });
        // Two rules about one kernel are about the same time.
        let largest = apart.max_by(|one, two| one.at_stake_s.total_cmp(&two.at_stake_s));
        let Some(finding) = largest.filter(|finding| !is_told(kernel, finding)) else { continue };
        if kernel.state == State::Waived {
            continue;
        }
        let most = Seconds::new(finding.at_stake_s);
        match rules.iter_mut().find(|known| known.finding.rule == finding.rule) {
            Some(known) => {
                if finding.at_stake_s > known.finding.at_stake_s {
                    (known.finding, known.kernel) = (finding, kernel);
                }
                known.kernels += 1;
                known.most += most;
            }
            None => rules.push(Beyond { finding, kernel, kernels: 1, most }),
        }
    }
    let floor = analysis.smallest_win();
    let worth_it = rules.into_iter().filter(|one| one.most >= floor && one.most > Seconds::ZERO);
    worth_it.max_by(|one, two| one.most.total_cmp(&two.most))
}

/// Rules that say what the export lacks, or how it disagrees with the device: the brief has a place for each.
const ABOUT_INPUT: [&str; 3] = ["missing-metrics", "not-enough-data", DEVICE_MISMATCH];

/// Whether a finding says what the export lacks, or how it disagrees with the device.
pub(super) fn is_about_input(finding: &Finding) -> bool {
    ABOUT_INPUT.contains(&&*finding.rule)
}

/// What a profiler could supply, the most important first.
fn lacking(supply: &Supply<'_>) -> String {
    /// As many as a reader takes in.
    const NAMED: usize = 2;
    let named = supply.lacking.iter().take(NAMED).map(|lack| lack.need.what);
    let mut what = named.collect::<Vec<_>>().join(", ");
    if supply.lacking.len() > NAMED {
        what.push_str(&format!(" and {} more", supply.lacking.len() - NAMED));
    }
    what
}

/// What is missing first: the device, then counters, then why listed kernels wait, then what rules lacked.
fn missing(report: &Report<'_>, listed: &[Entry<'_>]) -> Option<Missing> {
    /// Less of the run is not worth another profile.
    const SHARE: f64 = 0.01;
    let analysis = report.analysis;
    if let Some(unknown) = analysis.devices.iter().find_map(|used| used.unknown.as_ref()) {
        let is_nameless = analysis.devices.iter().all(|used| used.hint.name.is_none());
        if is_nameless && analysis.has_times_alone() {
            let command = analysis.supply(SHARE).map(|supply| Remedy::Command(supply.command));
            let amd = || Remedy::Command(AMD_WHY.to_owned());
            let remedy = command
                .or_else(|| is_of_workload(analysis).then(|| Remedy::Help(WORKLOAD.to_owned())))
                .or_else(|| analysis.is_of_amd().then(amd));
            if let Some(remedy) = remedy {
                let what = "operations, bytes and the GPU: times alone have no roofline".to_owned();
                return Some(Missing { what, remedy });
            }
        }
        // A run without durations has to be profiled again whatever its device.
        if analysis.totals.measured == Seconds::ZERO
            && let Some(supply) = analysis.supply(SHARE)
        {
            let lacking = lacking(&supply);
            let and = if lacking.contains(" and ") { "; and" } else { " and" };
            let what = format!("{lacking}{and} the GPU");
            return Some(Missing { what, remedy: Remedy::Command(supply.command) });
        }
        if let Some(Missing { remedy, .. }) = untimed(analysis) {
            return Some(Missing { what: "time and the GPU".to_owned(), remedy });
        }
        let what = format!("the GPU: {}", printable(&unknown.reason));
        return Some(Missing { what, remedy: Remedy::Help(printable(&unknown.help)) });
    }
    if let Some(supply) = analysis.supply(SHARE) {
        let mut what = lacking(&supply);
        let share = supply.lacking.iter().map(|lack| analysis.share_of(lack)).fold(0.0, f64::max);
        what.push_str(&format!(" (up to {} of the run)", percent(share)));
        return Some(Missing { what, remedy: Remedy::Command(supply.command) });
    }
    if let Some(missing) = untimed(analysis) {
        return Some(missing);
    }
    if is_of_workload(analysis) && analysis.has_times_alone() {
        let what = "operations and bytes: times alone have no roofline".to_owned();
        return Some(Missing { what, remedy: Remedy::Help(WORKLOAD.to_owned()) });
    }
    if let Some(missing) = waits(analysis, listed) {
        return Some(missing);
    }
    let lacks = report.findings.tally.iter().any(Tally::lacks_metrics);
    // Where all devices are older than Nsight Compute supports, nvprof has no more to give.
    let is_in_reach =
        analysis.devices.is_empty() || !analysis.devices.iter().all(DeviceUse::is_before_counters);
    let supplies =
        |source: &Source| matches!(source.profiler, Profiler::NsightCompute | Profiler::PyProf);
    let is_by_inspect = analysis.sources.iter().any(supplies);
    // What only some rules need is in no command.
    let has_remedy = if analysis.is_of_amd() {
        !is_of_workload(analysis)
    } else {
        !is_by_inspect || analysis.supply(0.0).is_some()
    };
    (lacks && is_in_reach && has_remedy).then(|| {
        let remedy = if analysis.is_of_amd() {
            Remedy::Command(AMD_WHY.to_owned())
        } else if is_by_inspect {
            let file = analysis.sources.iter().find(|source| supplies(source));
            let file = file.map_or_else(|| "FILE".to_owned(), |source| plain::file(&source.path));
            Remedy::Help(format!("`rooflint inspect {file}` prints the command"))
        } else {
            Remedy::Help(format!("`{} --next-ncu` prints the command", again(report)))
        };
        Missing { what: "counters that some rules need on some kernels".to_owned(), remedy }
    })
}

/// The command that reads the same files in the same way, to which `--next-ncu` can be added.
fn again(report: &Report<'_>) -> String {
    /// Options with a value that say how files are read.
    const OF_READING: [&str; 6] =
        ["--map", "--from", "--device", "--devices", "--decimal-sign", "--config"];
    let is_of_reading = |word: &str| {
        let option = word.split('=').next().unwrap_or_default();
        !word.starts_with('-') || OF_READING.contains(&option)
    };
    let is_alike = |command: &&str| command.split(' ').all(is_of_reading);
    report.command.filter(is_alike).unwrap_or("rooflint FILE").to_owned()
}

/// What has all that ROCm Compute Profiler recorded of a run.
const WORKLOAD: &str = "give the folder of the workload as the profiler wrote it";

/// Whether a table is part of a workload of ROCm Compute Profiler: the same profile again has no more than its folder.
fn is_of_workload(analysis: &Analysis) -> bool {
    analysis.sources.iter().any(|source| source.profiler == Profiler::RocprofCompute)
}

/// What a run without a single duration lacks first, where no command of its profiler is known that supplies it.
fn untimed(analysis: &Analysis) -> Option<Missing> {
    if analysis.totals.launches == 0 || analysis.totals.measured > Seconds::ZERO {
        return None;
    }
    let help = if is_of_workload(analysis) {
        WORKLOAD
    } else {
        "give an export with the durations of the launches"
    };
    let what = "time: no launch has one".to_owned();
    Some(Missing { what, remedy: Remedy::Help(help.to_owned()) })
}

/// Why kernels are slow of which no rule says so: what their warps wait for, and where that was counted, in which lines.
fn waits(analysis: &Analysis, listed: &[Entry<'_>]) -> Option<Missing> {
    let open: Vec<&Entry<'_>> = listed.iter().filter(|one| one.is_unexplained()).collect();
    if open.is_empty() || analysis.devices.iter().any(DeviceUse::is_before_counters) {
        return None;
    }
    let ranks = |open: &[&Entry<'_>]| {
        open.iter().map(|one| format!("#{}", one.kernel.rank)).collect::<Vec<_>>().join(", ")
    };
    if analysis.is_of_amd() {
        let what = format!("what the wavefronts of {} wait for", ranks(&open));
        let remedy = if is_of_workload(analysis) {
            Remedy::Help(AMD_WAITS.to_owned())
        } else {
            Remedy::Command(AMD_WHY.to_owned())
        };
        return Some(Missing { what, remedy });
    }
    let blank: Vec<&Entry<'_>> =
        open.iter().copied().filter(|one| longest_wait(one.kernel).is_none()).collect();
    if !blank.is_empty() {
        let what = format!("what the warps of {} wait for", ranks(&blank));
        return Some(Missing { what, remedy: Remedy::Command(why(&blank, &analysis.sources)) });
    }
    // No table of Nsight Compute that is read has lines of code.
    let told = open.iter().filter_map(|one| {
        let (stall, share) = longest_wait(one.kernel)?;
        Some(format!("#{} ({stall} {})", one.kernel.rank, percent(share)))
    });
    let what =
        format!("where in the code the warps of {} wait", told.collect::<Vec<_>>().join(", "));
    Some(Missing { what, remedy: Remedy::Help(SOURCE_PAGE.to_owned()) })
}

/// Where the lines of code are at which warps wait.
const SOURCE_PAGE: &str = "page Source of the report in Nsight Compute, if it was recorded with --set full or --section SourceCounters";

/// Where what wavefronts wait for is shown, once it was counted.
const AMD_WAITS: &str =
    "`rocprof-compute analyze -p FOLDER`, \"Wavefront Runtime Stats\", shows it";

/// What warps of a kernel wait for the longest, and the share of their time, if it was counted: a few metrics that explain
/// little of the time may not be those that matter.
fn longest_wait(kernel: &Kernel) -> Option<(&'static str, f64)> {
    /// Half of the reasons that Nsight Compute tells apart.
    const MANY: usize = 8;
    const MUCH: f64 = 1.0 / 3.0;
    let waits = kernel.averages.iter();
    let waits = waits.filter_map(|(quantity, share)| Some((quantity.stall()?, share)));
    let waits: Vec<(&str, f64)> = waits.collect();
    let all: f64 = waits.iter().map(|(_, share)| share).sum();
    let is_counted = waits.len() >= MANY || all >= MUCH;
    waits.into_iter().filter(|_| is_counted).max_by(|one, two| one.1.total_cmp(&two.1))
}

/// The command that shows what the warps of kernels wait for.
fn why(entries: &[&Entry<'_>], beside: &[Source]) -> String {
    let mut names: Vec<NameFilter> = Vec::new();
    for entry in entries {
        let kernel = entry.kernel;
        let name = NameFilter::of_kernel(&kernel.full_name, kernel.operator.as_deref());
        names.extend(name.filter(|name| !names.contains(name)));
    }
    let report = free_name(beside, "why");
    format!("ncu --set full --import-source yes {}-o {report} APP", filter(&names))
}

#[cfg(test)]
mod tests {
    use super::super::entry::{Certainty, cause};
    use super::*;
    use crate::report::bench::{Bench, run as judged};
    use crate::rules::Confidence;

    #[test]
    fn rules_about_the_input_exist() {
        for id in ABOUT_INPUT {
            assert_eq!(crate::rules::rule(id).map(|rule| rule.id), Some(id));
        }
    }

    fn ms(time: f64) -> Seconds {
        Seconds::new(time * 1e-3)
    }

    /// Kernels of 10 ms each, which save so many milliseconds for a certain cause.
    fn bench(kernels: &[(&str, f64)]) -> Bench {
        let states: Vec<_> =
            kernels.iter().map(|(name, _)| (*name, State::Flagged, 10.0)).collect();
        let mut bench = judged(&states);
        for (at, (_, savings)) in kernels.iter().enumerate() {
            bench.analysis.kernels[at].savings = ms(*savings);
            bench.find(at, bench.finding("one", Severity::High, *savings));
        }
        bench
    }

    fn names<'a>(brief: &Brief<'a>) -> Vec<&'a str> {
        brief.kernels.iter().map(|entry| &*entry.kernel.name).collect()
    }

    #[test]
    fn kernels_come_by_savings_and_little_ones_are_left_out() {
        let bench = bench(&[("a", 2.0), ("b", 5.0), ("c", 3.0), ("d", 0.01)]);
        let brief = Brief::of(&bench.report(), KERNELS);
        assert_eq!((names(&brief), brief.all), (vec!["b", "c", "a"], 3));
        assert_eq!(names(&Brief::of(&bench.report(), 2)), ["b", "c"]);
        let sentence = brief.kernels[0].sentence();
        assert_eq!(sentence, "message → next");
    }

    /// The grids of a kernel save 2 and 1 ms of 10 ms each; another cause is another entry.
    #[test]
    fn grids_with_the_same_cause_are_one_entry() {
        let mut bench = bench(&[("a", 2.0), ("a", 1.0), ("a", 3.0)]);
        bench.find(2, bench.finding("another", Severity::High, 3.0));
        let brief = Brief::of(&bench.report(), KERNELS);
        let grids: Vec<usize> = brief.kernels.iter().map(|entry| entry.grids).collect();
        assert_eq!(grids, [2, 1]);
        let both = &brief.kernels[0];
        assert_eq!((both.measured, both.savings), (ms(20.0), ms(3.0)));
        assert_eq!(both.name(&Style::default()), "a (2 grids)");
    }

    /// What is unproven comes last, in no sum, and never more than three such kernels.
    #[test]
    fn unproven_savings_come_after_the_others_and_count_for_nothing() {
        let names = ["a", "b", "c", "d", "e"];
        let mut bench = bench(&names.map(|name| (name, 1.0)));
        for (at, kernel) in bench.analysis.kernels.iter_mut().enumerate().skip(1) {
            kernel.is_winnable = false;
            kernel.savings_high = ms(2.0 + at as f64);
        }
        let brief = Brief::of(&bench.report(), KERNELS);
        assert_eq!(self::names(&brief), ["a", "e", "d"]);
        assert_eq!(brief.kernels[1].certainty, Certainty::Unproven);
        assert_eq!(brief.kernels[1].savings, Seconds::ZERO);
    }

    /// A kernel saves 4 ms. The surest of the findings that explain half as much as the largest explains it.
    #[test]
    fn the_cause_is_the_surest_of_those_that_explain_much() {
        let mut bench = bench(&[("a", 4.0)]);
        let mut found = |at_stake: [f64; 3]| {
            let confidence = [Confidence::Low, Confidence::High, Confidence::Medium];
            let rules = ["low", "high", "medium"];
            let all = rules.into_iter().zip(confidence).zip(at_stake);
            let findings = all.map(|((rule, confidence), at_stake)| {
                let mut finding = bench.finding(rule, Severity::High, at_stake);
                finding.confidence = confidence;
                finding
            });
            bench.findings.by_kernel.insert(0, findings.collect());
            let kernel = &bench.analysis.kernels[0];
            cause(bench.findings.of(0), kernel).map(|finding| finding.rule.to_string())
        };
        assert_eq!(found([4.0, 2.5, 3.0]).as_deref(), Some("high"));
        assert_eq!(found([4.0, 1.0, 3.0]).as_deref(), Some("medium"));
        assert_eq!(found([4.0, 1.0, 1.0]).as_deref(), Some("low"));
        // A guess gives way to a count of a third.
        assert_eq!(found([4.0, 1.4, 1.0]).as_deref(), Some("high"));
        // None of these says where the 4 ms go.
        assert_eq!(found([0.5, 0.5, 0.5]), None);
        // A counter shows what takes the time, though nobody knows what it would save.
        assert_eq!(found([0.5, 0.0, 0.5]).as_deref(), Some("high"));
    }

    /// The run saves 3 ms in a, which is on the list, and 1 ms in kernels that are not.
    #[test]
    fn a_step_for_the_run_says_which_kernels_it_replaces() {
        let mut bench = bench(&[("a", 2.0), ("b", 1.0)]);
        let about = |bench: &Bench, milliseconds: f64, kernel: &str| {
            let mut whole = bench.finding("whole", Severity::Medium, milliseconds);
            whole.kernels = vec![kernel.to_owned()];
            whole
        };
        bench.findings.run =
            vec![about(&bench, 1.0, "c"), about(&bench, 3.0, "a"), about(&bench, 2.0, "a")];
        let brief = Brief::of(&bench.report(), KERNELS);
        let steps: Vec<String> = brief.steps.iter().map(RunStep::sentence).collect();
        // The second about the same kernel would claim its time twice.
        assert_eq!(
            steps,
            ["message → next (up to 3.00 ms; replaces #1)", "message → next (up to 1.00 ms)"]
        );
    }

    #[test]
    fn a_faster_pipe_is_told_apart_from_savings() {
        let mut bench = bench(&[("a", 2.0), ("b", 0.0), ("c", 0.0)]);
        for (at, milliseconds) in [(1, 4.0), (2, 5.0)] {
            let mut finding = bench.finding("pipe", Severity::High, milliseconds);
            finding.estimator = "pipe";
            bench.find(at, finding);
        }
        let brief = Brief::of(&bench.report(), KERNELS);
        let sentence = brief.beyond.unwrap().sentence(&Style::default());
        assert_eq!(sentence, "c and 1 more: message → next (up to 9.00 ms, not in the savings)");
    }

    #[test]
    fn the_command_names_the_kernels_that_no_rule_explains() {
        let mut bench = bench(&[("a<float>", 2.0), ("ns::b(int)", 1.5)]);
        bench.findings.by_kernel.clear();
        bench.analysis.lacking.clear();
        let missing = Brief::of(&bench.report(), KERNELS).missing.unwrap();
        assert_eq!(missing.what, "what the warps of #1, #2 wait for");
        let command = "ncu --set full --import-source yes -k 'regex:^(a|b)$' -o why APP";
        assert_eq!(missing.remedy, Remedy::Command(command.to_owned()));
    }
}
