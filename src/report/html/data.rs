//! What the script of the page works on: the kernels as columns, the scene, the findings.
//!
//! Numbers are in SI base units with six digits, three more than any shown; missing is `null`.
//! Texts that repeat (a kernel's name once per grid) stand once, in `strings`, and columns refer to
//! them.

use std::collections::{BTreeMap, HashMap};

use serde::{Serialize, Serializer};

use super::super::scene::{self, Roof, Scene};
use super::super::view::{Style, printable, shape};
use super::super::{Report, explained, numbers, tool_advice};
use crate::analysis::{
    Algorithmic, Analysis, CeilingSet, Column, Columns, FARTHEST, Kernel, NEAR, Row, State,
};
use crate::model::{MemoryLevel, OriginId, Pipe};
use crate::roofline::LAUNCH_FLOOR;
use crate::rules::{Finding, NOT_ESTIMATED};
use crate::table::Cell;
use crate::taxonomy::Category;

/// The data of a page as JSON that may stand inside a script element.
pub(super) fn json(report: &Report<'_>, style: &Style) -> String {
    // Every type below serializes.
    contained(&serde_json::to_string(&data(report, style)).unwrap_or_default())
}

/// JSON in which nothing can end or open an element: these characters stand only inside strings.
pub(super) fn contained(json: &str) -> String {
    let mut text = String::with_capacity(json.len() + json.len() / 64);
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                text.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => text.push(c),
        }
    }
    text
}

/// A number with six digits; what is not finite is missing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Number(pub(super) f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = self.0;
        if !value.is_finite() {
            return serializer.serialize_none();
        }
        if value.fract() == 0.0 && value.abs() < 1e6 {
            return serializer.serialize_i64(value as i64);
        }
        let short: f64 = format!("{value:.5e}").parse().unwrap_or(value);
        // Without the point of a float, which says nothing here; integers are exact below 2^53.
        if short.fract() == 0.0 && short.abs() < 1e15 {
            return serializer.serialize_i64(short as i64);
        }
        serializer.serialize_f64(short)
    }
}

pub(super) type Maybe = Option<Number>;

/// A position in `strings`.
type Text = usize;

#[derive(Serialize)]
struct Data {
    /// GPU time of the run.
    total: Number,
    /// Headroom from which a kernel is an opportunity.
    threshold: Number,
    /// What any launch costs at least.
    fixed: Number,
    /// As short as a launch is by the model.
    shortest: Number,
    /// Whether roofs are those at the clocks of the launches.
    is_at_measured_clock: bool,
    /// Headroom up to which a kernel is near its roofs.
    near: f64,
    /// The ratio beyond which the upper end of one says nothing.
    farthest: f64,
    /// Whether kernels are shown by their names as the profiler wrote them.
    full_names: bool,
    /// The words of the columns that hold positions among them.
    words: BTreeMap<&'static str, &'static [&'static str]>,
    states: Vec<[&'static str; 2]>,
    categories: Vec<[&'static str; 2]>,
    levels: Vec<[&'static str; 3]>,
    pipes: Vec<[&'static str; 3]>,
    devices: Vec<String>,
    scenes: Vec<SceneData>,
    kernels: Kernels,
    /// Positions of the kernels whose bytes and operations are not of the same launches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    partly: Vec<usize>,
    /// The memory roof where it is not bytes over memory time, by position of the kernel.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    bandwidths: BTreeMap<usize, Number>,
    /// What memory time follows from where bytes are not counted, by position of the kernel.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    busy: BTreeMap<usize, Text>,
    /// By position of the kernel.
    findings: BTreeMap<usize, Vec<FindingData>>,
    /// What the algorithm needs, by position of the kernel.
    needed: BTreeMap<usize, Needed>,
    /// What the profiler's own rules say, by position of the kernel: rule, mark and remark.
    told: BTreeMap<usize, Vec<[Text; 3]>>,
    /// Groups of the user's own; none where kernels are grouped by category.
    groups: Vec<String>,
    strings: Vec<String>,
}

/// Level or pipe; theoretical, achievable and lowest rate.
type RoofData = (usize, Number, Maybe, Number);

/// Kernel, and the pipe whose operations are those of its point: the page divides them by bytes and
/// time, which it has.
type PointData = (usize, usize);

#[derive(Serialize)]
struct SceneData {
    device: usize,
    memory: Vec<RoofData>,
    compute: Vec<RoofData>,
    points: Vec<PointData>,
    /// Reason, kernels, time.
    absent: Vec<(&'static str, usize, Number)>,
}

/// The figures that the page asks for, by their names in the list. Quotients of two of them are
/// left to the page: share, headroom, intensity, gain.
const FIGURES: [&str; 36] = [
    "rank",
    "name",
    "full_name",
    "operator",
    "blocks",
    "launches",
    "timed_launches",
    "measured_s",
    "judged_s",
    "flops",
    "bytes",
    "provenance",
    "ridge_point_flop_per_byte",
    "t_mem_s",
    "t_math_s",
    "roofline_s",
    "hierarchical_s",
    "binding",
    "roofline_high_s",
    "roofline_low_s",
    "roofline_is_lower_bound",
    "structural_s",
    "headroom_low",
    "limiter",
    "state",
    "reason",
    "meaning",
    "savings_low_s",
    "savings_s",
    "savings_high_s",
    "coverage",
    "group",
    "category",
    "kind",
    "library",
    "sm_clock_hz",
];

/// One entry per kernel in every column.
#[derive(Serialize, Default)]
struct Kernels {
    #[serde(flatten)]
    figures: BTreeMap<&'static str, Vec<Entry>>,
    /// Position among the devices.
    device: Vec<usize>,
    /// Grid and block, as tables show them.
    shape: Vec<Text>,
    /// Where time and bytes of the longest launch came from.
    time_from: Vec<Text>,
    bytes_from: Vec<Text>,
    uncounted: Vec<Option<Text>>,
    /// Pipe, operations, the time they need, and how they were counted.
    work: Vec<Vec<(usize, Number, Number, Text)>>,
    /// Level, bytes and the time they need.
    levels: Vec<Vec<(usize, Number, Maybe)>>,
}

/// A figure of one kernel: words as positions, yes and no as 1 and 0.
#[derive(Serialize)]
#[serde(untagged)]
enum Entry {
    Missing,
    Whole(u64),
    Number(Number),
}

#[derive(Serialize)]
struct FindingData {
    rule: Text,
    severity: &'static str,
    confidence: &'static str,
    message: Text,
    /// What was measured, and its value with the unit.
    evidence: Vec<(Text, Text)>,
    stake: Number,
    stake_low: Number,
    /// None where what it would win is not estimated.
    estimator: Option<&'static str>,
    next: Option<Text>,
}

#[derive(Serialize)]
struct Needed {
    call: Text,
    from: Text,
    bytes: Number,
    operations: Number,
    traffic: Maybe,
    work: Maybe,
    memory: Maybe,
    math: Maybe,
}

/// Texts, each once.
#[derive(Default)]
struct Strings {
    texts: Vec<String>,
    known: HashMap<String, Text>,
}

impl Strings {
    fn of(&mut self, text: &str) -> Text {
        let text = printable(text);
        if let Some(known) = self.known.get(&text) {
            return *known;
        }
        self.texts.push(text.clone());
        self.known.insert(text, self.texts.len() - 1);
        self.texts.len() - 1
    }
}

fn data(report: &Report<'_>, style: &Style) -> Data {
    let analysis = report.analysis;
    let mut strings = Strings::default();
    let mut kernels = Kernels::default();
    let (mut findings, mut needed, mut told) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let own = analysis.groups.iter().filter(|_| analysis.has_own_groups());
    let mut partly = Vec::new();
    let (mut bandwidths, mut busy) = (BTreeMap::new(), BTreeMap::new());
    for (position, kernel) in analysis.kernels.iter().enumerate() {
        kernels.add(analysis, kernel, &mut strings);
        if kernel.has_other_launches() {
            partly.push(position);
        }
        if let (Some(_), Some(bandwidth)) = (kernel.time_of_bytes(), kernel.bandwidth()) {
            bandwidths.insert(position, Number(bandwidth.get()));
        }
        if kernel.bytes.is_none() && kernel.memory_time.is_some() {
            busy.insert(position, strings.of(explained::busy_memory(kernel)));
        }
        let found = report.findings.of(position);
        if !found.is_empty() {
            let found = found.iter().map(|one| finding(one, &mut strings)).collect();
            findings.insert(position, found);
        }
        if let Some(one) = kernel.algorithmic() {
            needed.insert(position, need(one, &mut strings));
        }
        if !kernel.tool_advice().is_empty() {
            let rows = tool_advice::rows(kernel).map(|row| row.map(|text| strings.of(&text)));
            told.insert(position, rows.collect());
        }
    }
    Data {
        total: Number(analysis.totals.measured.get()),
        threshold: Number(analysis.threshold),
        fixed: Number(analysis.fixed_cost.get()),
        shortest: Number(analysis.fixed_cost.get() * LAUNCH_FLOOR),
        is_at_measured_clock: analysis.ceilings == CeilingSet::MeasuredClock,
        near: NEAR,
        farthest: FARTHEST,
        full_names: style.full_names,
        words: figures()
            .map(|one| (&*one.name, &*one.words))
            .filter(|one| !one.1.is_empty())
            .collect(),
        states: State::ALL.iter().map(|state| [state.key(), state.label()]).collect(),
        categories: Category::ALL.iter().map(|one| [one.key(), one.label()]).collect(),
        levels: MemoryLevel::ALL
            .iter()
            .map(|level| [level.key(), level.label(), level.symbol()])
            .collect(),
        pipes: Pipe::ALL.iter().map(|pipe| [pipe.key(), pipe.label(), pipe.operation()]).collect(),
        devices: analysis.devices.iter().map(|device| printable(device.name())).collect(),
        scenes: scene::scenes(report).iter().map(scene).collect(),
        kernels,
        partly,
        bandwidths,
        busy,
        findings,
        needed,
        told,
        groups: own.map(|group| printable(&group.name)).collect(),
        strings: strings.texts,
    }
}

fn figures() -> impl Iterator<Item = &'static Column> {
    FIGURES.iter().filter_map(|name| Columns::of_kernels().get(name))
}

/// Where something stands in a list of all of its kind.
fn position<T: PartialEq>(all: &[T], one: &T) -> usize {
    all.iter().position(|other| other == one).unwrap_or_default()
}

fn level(level: MemoryLevel) -> usize {
    position(&MemoryLevel::ALL, &level)
}

fn scene(scene: &Scene) -> SceneData {
    fn roof<Kind: Copy>(roof: &Roof<Kind>, word: impl Fn(Kind) -> usize) -> RoofData {
        let achievable = roof.achievable.map(Number);
        (word(roof.kind), Number(roof.theoretical), achievable, Number(roof.lowest))
    }
    SceneData {
        device: scene.device,
        memory: scene.memory.iter().map(|one| roof(one, level)).collect(),
        compute: scene.compute.iter().map(|one| roof(one, |pipe| pipe as usize)).collect(),
        points: scene.points.iter().map(|point| (point.kernel, point.pipe as usize)).collect(),
        absent: scene
            .absent
            .iter()
            .map(|one| (one.reason, one.kernels, Number(one.measured.get())))
            .collect(),
    }
}

impl Kernels {
    fn add(&mut self, analysis: &Analysis, kernel: &Kernel, strings: &mut Strings) {
        let row = Row::Kernel(analysis, kernel);
        for column in figures() {
            let cell = column.get(&row).filter(|_| says_something(&column.name, analysis, kernel));
            let entry = match cell {
                None => Entry::Missing,
                Some(Cell::Truth(truth)) => Entry::Whole(u64::from(truth)),
                Some(Cell::Count(count)) => Entry::Whole(count),
                Some(Cell::Number(number)) => Entry::Number(Number(number)),
                Some(Cell::Text(text)) => {
                    let word = column.words.iter().position(|word| *word == text);
                    Entry::Whole(word.unwrap_or_else(|| strings.of(&text)) as u64)
                }
            };
            self.figures.entry(&column.name).or_default().push(entry);
        }
        self.device.push(kernel.device);
        self.shape.push(strings.of(&shape(kernel)));
        let mut from = |origin: Option<OriginId>| {
            strings.of(&explained::origin(origin.map(|id| analysis.origin(id))))
        };
        self.time_from.push(from(kernel.time_origin));
        self.bytes_from.push(from(kernel.bytes_origin));
        let counted = kernel.work.iter().filter(|work| work.operations.get() > 0.0);
        let work = counted.map(|work| {
            let (operations, time) = (Number(work.operations.get()), Number(work.time.get()));
            (work.pipe as usize, operations, time, from(work.origin))
        });
        self.work.push(work.collect());
        let uncounted = kernel.uncounted().join(", ");
        self.uncounted.push((!uncounted.is_empty()).then(|| strings.of(&uncounted)));
        // Traffic of DRAM stands in columns of its own.
        let levels = kernel.levels().iter().map(|traffic| {
            let time = traffic.time.map(|time| Number(time.get()));
            (level(traffic.level), Number(traffic.bytes.get()), time)
        });
        self.levels.push(levels.collect());
    }
}

/// Whether a figure tells the page something; what it would only repeat is left out.
fn says_something(name: &str, analysis: &Analysis, kernel: &Kernel) -> bool {
    match name {
        // No roof of this device says how long communication takes.
        "limiter" => kernel.state != State::NotRoofline,
        "roofline_high_s" | "headroom_low" => kernel.is_lower_bound(),
        "roofline_low_s" => kernel.may_need_less(),
        "group" => analysis.has_own_groups(),
        "judged_s" => kernel.modeled != kernel.measured,
        _ => true,
    }
}

fn finding(finding: &Finding, strings: &mut Strings) -> FindingData {
    let evidence = finding.evidence.iter().map(|fact| {
        let value = match fact.unit {
            "1" => numbers::digits(fact.value),
            unit => numbers::si(fact.value, unit),
        };
        (strings.of(&fact.name), strings.of(&value))
    });
    let evidence = evidence.collect();
    FindingData {
        rule: strings.of(&finding.rule),
        severity: finding.severity.label(),
        confidence: finding.confidence.label(),
        evidence,
        message: strings.of(&finding.message),
        stake: Number(finding.at_stake_s),
        stake_low: Number(finding.at_stake_low_s),
        estimator: Some(finding.estimator).filter(|estimator| *estimator != NOT_ESTIMATED),
        next: finding.next.as_ref().map(|next| strings.of(next)),
    }
}

fn need(one: &Algorithmic, strings: &mut Strings) -> Needed {
    Needed {
        call: strings.of(&one.call),
        from: strings.of(&one.from),
        bytes: Number(one.bytes.get()),
        operations: Number(one.operations.get()),
        traffic: one.traffic_factor.map(Number),
        work: one.work_factor.map(Number),
        memory: one.memory_time.map(|time| Number(time.get())),
        math: one.math_time.map(|time| Number(time.get())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_of_the_page_is_in_the_list() {
        assert_eq!(figures().count(), FIGURES.len());
    }

    #[test]
    fn nothing_in_the_data_can_end_its_element() {
        let text = contained(&serde_json::to_string("</script><!--&\u{2028}").unwrap());
        assert!(!text.contains(['<', '>', '&', '\u{2028}']), "{text}");
        let back: String = serde_json::from_str(&text).unwrap();
        assert_eq!(back, "</script><!--&\u{2028}");
    }

    #[test]
    fn numbers_are_short_and_what_is_not_finite_is_missing() {
        let text = serde_json::to_string(&[
            Number(1.0 / 3.0),
            Number(132.0),
            Number(3.35e12),
            Number(f64::INFINITY),
            Number(1.234_567_89e-6),
        ]);
        assert_eq!(text.unwrap(), "[0.333333,132,3350000000000,null,1.23457e-6]");
    }
}
