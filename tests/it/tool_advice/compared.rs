//! Kernel by kernel, what Nsight Compute's rules say and what ours say on the same topic.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use rooflint::analysis::{Analysis, Kernel, KernelAdvice, State};
use rooflint::model::{AdviceKind, Profile, SpeedupScope};
use rooflint::roofline;
use rooflint::rules::{self, Check, Findings, Settings, Subject};

use super::topics::{Topic, mapped, topics};
use crate::golden::{check, fixtures};
use crate::profiles::collection;
use crate::rules::judged;

/// What one of our rules says of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Ours {
    Found,
    /// Found, and explained by another finding.
    Silenced,
    /// Found, with too little time at stake to show.
    Minor,
    Content,
    CannotJudge(&'static str),
    NotExamined,
}

/// How Nsight Compute and we stand to each other on one topic of one kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    Agree,
    AgreeExplained,
    AgreeMinor,
    OtherCause,
    UnitBusy,
    OtherFormula,
    SmallEstimate,
    Threshold,
    CannotJudge,
    AtLaunchCost,
    NotJudged,
    NoTime,
    Remark,
    NoCounterpart,
    Unknown,
    OursAlone,
}

impl Verdict {
    const ALL: [(Self, &'static str, &'static str); 16] = [
        (Self::Agree, "agree", "a finding of ours on the same topic"),
        (Self::AgreeExplained, "agree, explained", "ours gives way to a finding that explains it"),
        (Self::AgreeMinor, "agree, minor", "ours has too little time at stake to show"),
        (
            Self::OtherCause,
            "other cause",
            "ours is silent on it: another finding of ours comes first",
        ),
        (
            Self::UnitBusy,
            "unit busy",
            "ours is content: a unit or roof is busier than 60%, so more warps are not what it lacks",
        ),
        (
            Self::OtherFormula,
            "other formula",
            "ours is content: how full the last wave is counts, not only that there is one",
        ),
        (
            Self::SmallEstimate,
            "small estimate",
            "ours is content: Nsight Compute itself expects less than 5% of the kernel",
        ),
        (
            Self::Threshold,
            "threshold",
            "ours is content by its own threshold; each is worth a look",
        ),
        (Self::CannotJudge, "cannot judge", "the export lacks what our closest rule needs"),
        (
            Self::AtLaunchCost,
            "at launch cost",
            "the kernel is launch-bound: we say so, and nothing else",
        ),
        (
            Self::NotJudged,
            "not judged",
            "faster than its roof, or not bound by it: a figure is wrong first",
        ),
        (Self::NoTime, "no time", "the export has no duration: nothing can be ranked"),
        (Self::Remark, "remark", "Nsight Compute advises nothing here"),
        (
            Self::NoCounterpart,
            "no counterpart",
            "no rule of ours looks at it; the table of topics says why",
        ),
        (Self::Unknown, "unknown", "a text or rule that the table of topics does not know"),
        (
            Self::OursAlone,
            "ours alone",
            "a finding on which Nsight Compute is silent, of a rule that the table names",
        ),
    ];

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(verdict, ..)| *verdict == self).unwrap().1
    }
}

/// Everything that those of our rules which the table of topics names say of the kernels of one profile.
///
/// Only these run: a new rule without a counterpart in Nsight Compute changes nothing here, not even
/// by explaining a finding of another one.
struct Said<'a> {
    analysis: &'a Analysis,
    findings: Findings,
    settings: Settings,
    /// Per rule, the kernels on which it finds something when no other rule runs.
    alone: BTreeMap<&'static str, BTreeSet<usize>>,
}

impl<'a> Said<'a> {
    fn new(analysis: &'a Analysis) -> Self {
        let select = |ids: &[&str]| Settings {
            select: ids.iter().map(|id| (*id).to_owned()).collect(),
            ..Settings::default()
        };
        let mut alone = BTreeMap::new();
        for id in mapped() {
            let found = rules::check(&Profile::default(), analysis, &select(&[id]));
            let speaks = (0..analysis.kernels.len()).filter(|at| !found.of(*at).is_empty());
            alone.insert(id, speaks.collect());
        }
        let settings = select(&Vec::from_iter(mapped()));
        let findings = rules::check(&Profile::default(), analysis, &settings);
        Self { analysis, findings, settings, alone }
    }

    fn of(&self, id: &str, at: usize) -> Ours {
        let (rule, kernel) = (rules::rule(id).unwrap(), &self.analysis.kernels[at]);
        let is_set_apart = match kernel.state {
            State::NotRoofline | State::FasterThanRoofline => true,
            State::LaunchBound => rule.id != "launch-bound",
            _ => false,
        };
        let (Check::Kernel(check) | Check::KernelAlso(_, check)) = rule.check else {
            return Ours::NotExamined;
        };
        if is_set_apart || kernel.measured.get() <= 0.0 {
            return Ours::NotExamined;
        }
        let subject =
            Subject { rule: rule.id, kernel, analysis: self.analysis, settings: &self.settings };
        match check(&subject) {
            Err(missing) => Ours::CannotJudge(missing.0),
            Ok(None) => Ours::Content,
            Ok(Some(_)) if self.findings.of(at).iter().any(|one| one.rule == rule.id) => {
                Ours::Found
            }
            Ok(Some(_)) if self.alone[rule.id].contains(&at) => Ours::Silenced,
            Ok(Some(_)) => Ours::Minor,
        }
    }

    /// The sums of what is said here must be what the program counts.
    fn agrees_with_the_tally(&self) {
        for tally in &self.findings.tally {
            let rule = rules::rule(&tally.rule).unwrap();
            if matches!(rule.check, Check::Run(_)) || !self.alone.contains_key(rule.id) {
                continue;
            }
            let said: Vec<Ours> =
                (0..self.analysis.kernels.len()).map(|at| self.of(rule.id, at)).collect();
            let count = |what: fn(&Ours) -> bool| said.iter().filter(|one| what(one)).count();
            assert_eq!(
                (
                    count(|one| *one == Ours::Found),
                    count(|one| *one == Ours::Silenced),
                    count(|one| *one == Ours::Minor),
                    count(|one| *one == Ours::Content),
                    count(|one| matches!(one, Ours::CannotJudge(_))),
                ),
                (tally.found, tally.silenced, tally.minor, tally.content, tally.cannot_judge),
                "{}",
                tally.rule
            );
        }
    }
}

/// An estimate below this share of a kernel is small.
const SMALL: f64 = 0.05;

/// The greatest share of the kernel's time that Nsight Compute expects to win.
fn global(advice: &KernelAdvice) -> Option<f64> {
    let speedup = advice.speedup.filter(|one| one.scope == Some(SpeedupScope::Global));
    speedup.map(|speedup| speedup.high)
}

fn compare(said: &Said<'_>, at: usize, advice: &KernelAdvice, topic: &Topic) -> (Verdict, String) {
    let speaking = |rules: &[&'static str]| -> Vec<(&'static str, Ours)> {
        let states = rules.iter().map(|rule| (*rule, said.of(rule, at)));
        states.filter(|(_, state)| *state <= Ours::Minor).collect()
    };
    let words = |speaking: &[(&str, Ours)]| -> String {
        let words = speaking.iter().map(|(rule, state)| match state {
            Ours::Found => (*rule).to_owned(),
            Ours::Silenced => format!("{rule} (silenced)"),
            _ => format!("{rule} (minor)"),
        });
        words.collect::<Vec<_>>().join(", ")
    };
    let ours = speaking(topic.ours);
    if let Some(best) = ours.iter().map(|(_, state)| *state).min() {
        let verdict = match best {
            Ours::Found => Verdict::Agree,
            Ours::Silenced => Verdict::AgreeExplained,
            _ => Verdict::AgreeMinor,
        };
        return (verdict, words(&ours));
    }
    if advice.kind == AdviceKind::Information {
        return (Verdict::Remark, topic.why.to_owned());
    }
    let Some(closest) = topic.ours.first() else {
        return (Verdict::NoCounterpart, topic.why.to_owned());
    };
    let instead = speaking(topic.instead);
    if !instead.is_empty() {
        return (Verdict::OtherCause, words(&instead));
    }
    match said.of(closest, at) {
        Ours::CannotJudge(metric) => (Verdict::CannotJudge, format!("{closest} lacks {metric}")),
        _ => {
            let figures = figures(&said.analysis.kernels[at]);
            (content(said, at, advice, closest), format!("{closest} content{figures}"))
        }
    }
}

/// Why our rule is content where Nsight Compute is not, as far as figures tell.
fn content(said: &Said<'_>, at: usize, advice: &KernelAdvice, closest: &str) -> Verdict {
    let rule = rules::rule(closest).unwrap();
    let kernel = &said.analysis.kernels[at];
    let subject =
        Subject { rule: rule.id, kernel, analysis: said.analysis, settings: &said.settings };
    if closest == "tail-effect" {
        Verdict::OtherFormula
    } else if subject.busiest() >= roofline::BUSY {
        Verdict::UnitBusy
    } else if global(advice).is_some_and(|share| share < SMALL) {
        Verdict::SmallEstimate
    } else {
        Verdict::Threshold
    }
}

/// The figures by which a reader sees why a rule is content.
fn figures(kernel: &Kernel) -> String {
    use rooflint::model::Quantity;
    let mut figures = Vec::new();
    for (name, quantity) in [
        ("issue", Quantity::IssueActive),
        ("occupancy", Quantity::AchievedOccupancy),
        ("of", Quantity::TheoreticalOccupancy),
        ("dram", Quantity::DramThroughput),
        ("l2", Quantity::L2Throughput),
        ("l1", Quantity::L1Throughput),
        ("sm", Quantity::SmThroughput),
    ] {
        figures
            .extend(kernel.average(quantity).map(|share| format!("{name} {:.0}%", share * 100.0)));
    }
    if figures.is_empty() { String::new() } else { format!(" ({})", figures.join(", ")) }
}

#[derive(Default)]
struct Comparison {
    counts: BTreeMap<Verdict, usize>,
    by_rule: BTreeMap<String, BTreeMap<Verdict, usize>>,
    /// Per kernel with global estimates, their sum: how much of its time would go.
    sums: Vec<f64>,
    text: String,
}

impl Comparison {
    fn count(&mut self, rule: &str, verdict: Verdict, times: usize) {
        *self.counts.entry(verdict).or_default() += times;
        *self.by_rule.entry(rule.to_owned()).or_default().entry(verdict).or_default() += times;
    }

    fn profile(&mut self, label: &str, analysis: &Analysis) {
        let _ = writeln!(self.text, "\n{label}");
        let said = Said::new(analysis);
        said.agrees_with_the_tally();
        // Kernels of which nothing of ours is said are not listed one by one.
        let mut whole: BTreeMap<(Verdict, &str), (usize, usize)> = BTreeMap::new();
        for (at, kernel) in analysis.kernels.iter().enumerate() {
            let estimates: Vec<f64> = kernel.tool_advice().iter().filter_map(global).collect();
            if !estimates.is_empty() {
                self.sums.push(estimates.iter().sum());
            }
            let reason = match kernel.state {
                _ if kernel.measured.get() <= 0.0 => Some(Verdict::NoTime),
                State::LaunchBound => Some(Verdict::AtLaunchCost),
                State::NotRoofline | State::FasterThanRoofline => Some(Verdict::NotJudged),
                _ => None,
            };
            let Some(verdict) = reason else {
                self.kernel(&said, at);
                continue;
            };
            let group = whole.entry((verdict, kernel.state.label())).or_default();
            for advice in kernel.tool_advice() {
                self.count(&advice.rule, verdict, 1);
                group.1 += 1;
            }
            group.0 += 1;
        }
        for ((verdict, state), (kernels, results)) in whole {
            let name = verdict.name();
            let _ = writeln!(self.text, "  {kernels} kernels, {state}: {results} results, {name}");
        }
    }

    fn kernel(&mut self, said: &Said<'_>, at: usize) {
        let kernel = &said.analysis.kernels[at];
        let _ = writeln!(
            self.text,
            "  #{} {} ({}, {:.1}% of the run, {} launches)",
            kernel.rank,
            kernel.name,
            kernel.state.label(),
            said.analysis.totals.share(kernel.measured) * 100.0,
            kernel.launches
        );
        let mut covered: BTreeSet<&str> = BTreeSet::new();
        for advice in kernel.tool_advice() {
            let about = advice.about.as_deref().unwrap_or_default();
            let estimate = advice.speedup.map_or_else(String::new, |speedup| {
                let scope = speedup.scope.map_or("?", SpeedupScope::key);
                format!(" {scope} {:.1}%", speedup.high * 100.0)
            });
            let found = topics(&advice.rule, about);
            if found.is_empty() {
                self.count(&advice.rule, Verdict::Unknown, 1);
                let _ = writeln!(self.text, "    {}{estimate}: {about} | ? | unknown", advice.rule);
            }
            for topic in found {
                covered.extend(topic.ours);
                let (verdict, ours) = compare(said, at, advice, topic);
                self.count(&advice.rule, verdict, 1);
                let name = verdict.name();
                let _ =
                    writeln!(self.text, "    {}{estimate}: {about} | {ours} | {name}", advice.rule);
            }
        }
        for finding in said.findings.of(at) {
            if !covered.contains(&*finding.rule) {
                self.count("(none)", Verdict::OursAlone, 1);
                let _ = writeln!(self.text, "    (none) | {} | ours alone", finding.rule);
            }
        }
    }

    fn table(&self) -> String {
        let mut text = "What Nsight Compute's rules say, what ours say on the same topic, kernel by kernel.\n\
            A kernel is all launches of a name and shape; a result is one topic of one rule on one kernel.\n\
            Only rules of ours that the table of topics names take part.\n\n"
            .to_owned();
        for (verdict, name, meaning) in Verdict::ALL {
            let count = self.counts.get(&verdict).copied().unwrap_or_default();
            let _ = writeln!(text, "{count:5}  {name}: {meaning}");
        }
        let over = self.sums.iter().filter(|sum| **sum > 1.0).count();
        let most = self.sums.iter().fold(0.0, |most: f64, sum| most.max(*sum));
        let _ = writeln!(
            text,
            "\nGlobal estimates of one kernel, added up: more than its whole time on {over} of {} \
             kernels, at most {:.0}%",
            self.sums.len(),
            most * 100.0
        );
        text.push_str("\nBy rule of Nsight Compute\n");
        for (rule, counts) in &self.by_rule {
            let counts: Vec<String> = counts
                .iter()
                .map(|(verdict, count)| format!("{} {count}", verdict.name()))
                .collect();
            let _ = writeln!(text, "  {rule}: {}", counts.join("; "));
        }
        text.push_str(&self.text);
        text
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn compared(files: Vec<(String, PathBuf, Option<String>)>) -> Comparison {
    let mut comparison = Comparison::default();
    for (label, path, device) in files {
        let Ok((analysis, _)) = judged(&path, device) else { continue };
        if analysis.kernels.iter().any(|kernel| !kernel.tool_advice().is_empty()) {
            comparison.profile(&label, &analysis);
        }
    }
    comparison
}

#[test]
fn the_advice_in_every_fixture_is_compared() {
    let label = |path: &Path| path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
    let files = fixtures().into_iter().map(|(path, device)| (label(&path), path, device));
    let comparison = compared(files.collect());
    check(&root().join("tests/golden/ncu-advice-on-fixtures.txt"), &comparison.table());
}

fn has_rules(bytes: &[u8]) -> bool {
    let name = b"\"Rule Name\"";
    bytes.windows(name.len()).any(|part| part == name)
}

#[test]
fn the_advice_in_every_real_export_is_compared() {
    let Some(collection) = collection() else { return };
    let entries = std::fs::read_dir(collection.join("ncu")).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "csv"));
    paths.sort();
    let label = |path: &Path| format!("ncu/{}", path.file_name().unwrap().to_string_lossy());
    let golden = root().join("tests/golden/ncu-advice-on-profiles.txt");
    let known = std::fs::read_to_string(&golden).unwrap_or_default();
    let mut files: Vec<_> = paths.into_iter().map(|path| (label(&path), path, None)).collect();
    if std::env::var_os("BLESS").is_none() {
        // The collection grows by itself: what nobody has reviewed yet is named, and fails nothing.
        files.retain(|(label, path, _)| {
            let is_known = known.lines().any(|line| line == label);
            let has_rules = || std::fs::read(path).is_ok_and(|bytes| has_rules(&bytes));
            if !is_known && has_rules() {
                println!("NOT REVIEWED: {label}");
            }
            is_known
        });
    }
    let comparison = compared(files);
    assert_eq!(comparison.counts.get(&Verdict::Unknown), None);
    check(&golden, &comparison.table());
}
