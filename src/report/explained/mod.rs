//! The arithmetic of one kernel, line by line, with units and where each number came from.

mod levels;
mod reading;

use super::document::{Block, Document, Figure, Item};
use super::view::{self, Style, printable};
use super::{Reported, tool_advice};
use crate::analysis::{Analysis, Explanation, Kernel, State};
use crate::model::{Origin, Quantity};
use crate::roofline;
use crate::rules::{self, Finding, NOT_ESTIMATED};
use crate::taxonomy::{Category, Kind};
use crate::units::{self, FlopsPerByte, Seconds};

/// One kernel with its arithmetic.
#[derive(Debug, Clone, Copy)]
pub struct Explained<'a> {
    /// The run it belongs to.
    pub analysis: &'a Analysis,
    /// The kernel.
    pub kernel: &'a Kernel,
    /// Where its numbers came from.
    pub explanation: &'a Explanation,
    /// What the rules found.
    pub findings: &'a [Finding],
}

impl Reported for Explained<'_> {
    fn document(&self, style: &Style) -> Document {
        let mut document = Document::new(view::name(self.kernel, style));
        document.push(Block::Figures(self.figures()));
        document.section("Findings", vec![Block::List(self.findings.iter().map(advice).collect())]);
        let told = tool_advice::rows(self.kernel);
        let told = told.map(|[rule, mark, remark]| Figure::new(rule, mark, remark)).collect();
        document.section("Nsight Compute says", vec![Block::Figures(told)]);
        document
    }
}

impl Explained<'_> {
    /// The arithmetic, line by line.
    fn figures(&self) -> Vec<Figure> {
        let Self { analysis, kernel, explanation, .. } = *self;
        let mut lines = Lines::default();
        let device = &analysis.devices[kernel.device];
        lines.add("kernel", printable(&kernel.full_name), String::new());
        if let Some(operator) = &kernel.operator {
            lines.add("operator", printable(operator), String::new());
        }
        if let Some(place) = &kernel.place {
            lines.add("place", printable(place), "of its longest launch".to_owned());
        }
        lines.add("device", printable(device.name()), device.how.clone());
        lines.add(
            "launches",
            kernel.launches.to_string(),
            format!("grid / block {}; sums over all launches follow", view::shape(kernel)),
        );
        let (kind, told) = kind(kernel);
        lines.add("kind", kind, told);
        if kernel.timed > 0 {
            lines.add("T", time(kernel.measured), origin(explanation.time.as_ref()));
        } else {
            lines.add("T", view::MISSING.to_owned(), kernel.reason.to_string());
        }
        memory(&mut lines, kernel, explanation);
        work(&mut lines, kernel, explanation);
        intensity(&mut lines, kernel);
        algorithmic(&mut lines, kernel);
        conclusion(&mut lines, analysis, kernel);
        assessment(&mut lines, analysis, kernel, explanation);
        lines.add(
            "limiter",
            kernel.limiter.label().to_owned(),
            limiter(analysis, kernel, explanation),
        );
        lines.add("state", kernel.state.label().to_owned(), kernel.reason.to_string());
        lines.add("meaning", String::new(), kernel.meaning());
        if let Some(chapter) = reading::chapter(kernel, explanation, device.is_of_amd()) {
            lines.add("read next", String::new(), chapter.to_owned());
        }
        lines.0
    }
}

/// Arithmetic intensity beside the ridge point, both of the busiest pipe.
fn intensity(lines: &mut Lines, kernel: &Kernel) {
    let Some(bytes) = kernel.bytes.map(|bytes| view::si(bytes.get(), "B")) else { return };
    let whole = kernel.flops().zip(kernel.intensity());
    let Some((pipe, intensity)) = kernel.busiest_pipe().zip(kernel.busiest_intensity()) else {
        if let Some((flops, intensity)) = whole {
            let flops = view::si(flops.get(), "FLOP");
            let intensity = format!("{} FLOP/B", view::digits(intensity.get()));
            lines.add("I", intensity, format!("F ÷ B = {flops} ÷ {bytes}"));
        }
        return;
    };
    let unit = pipe.pipe.operation();
    let per_byte = |intensity: FlopsPerByte| view::digits(intensity.get());
    let ridge = kernel.ridge_point().map_or_else(String::new, |ridge| {
        format!("; ridge point P ÷ BW = {} {unit}/B", per_byte(ridge))
    });
    // The roofs of other pipes have ridge points of their own.
    let all = whole.filter(|(flops, _)| *flops > pipe.operations * 1.01);
    let all = all.map_or_else(String::new, |(_, intensity)| {
        format!("; {} FLOP/B over all pipes", per_byte(intensity))
    });
    let operations = view::si(pipe.operations.get(), unit);
    let counted = kernel.work.iter().filter(|work| work.operations.get() > 0.0);
    let is_only = counted.count() == 1 && unit == "FLOP";
    let of = if is_only { "F".to_owned() } else { format!("F of {}", pipe.pipe.label()) };
    let intensity = format!("{} {unit}/B", per_byte(intensity));
    lines.add("I", intensity, format!("{of} ÷ B = {operations} ÷ {bytes}{ridge}{all}"));
}

/// A finding with the facts behind it and how its time at stake is estimated.
fn advice(finding: &Finding) -> Item {
    let stake = if finding.at_stake_s > 0.0 {
        let (low, high) = (finding.at_stake_low_s, finding.at_stake_s);
        let range = view::range(Seconds::new(low), Seconds::new(high));
        format!("at stake {range} by {}", finding.estimator)
    } else if finding.estimator == NOT_ESTIMATED {
        "savings are not estimated".to_owned()
    } else {
        "no savings by it".to_owned()
    };
    let (severity, confidence) = (finding.severity.label(), finding.confidence.label());
    let mut details = vec![format!("severity {severity}, confidence {confidence}; {stake}")];
    details.extend(finding.evidence.iter().map(|fact| {
        let value = match fact.unit {
            "1" => view::digits(fact.value),
            unit => view::si(fact.value, unit),
        };
        format!("{} = {value}", printable(&fact.name))
    }));
    details.extend(finding.next.as_ref().map(|next| format!("try: {}", printable(next))));
    let link = rules::link(&finding.rule);
    Item::labeled(&*finding.rule, printable(&finding.message)).with(details).linked(link)
}

/// What the kernel does by its name, and what else the name tells.
fn kind(kernel: &Kernel) -> (String, String) {
    let class = &kernel.class;
    if class.category == Category::Unknown {
        return ("unknown".to_owned(), "its name fits no rule".to_owned());
    }
    let is_other = |kind: &Kind| kind.key() != class.category.key();
    let kind =
        class.kind.filter(is_other).map_or_else(String::new, |kind| format!(", {}", kind.key()));
    let by = if class.by_operator { "by its operator" } else { "by its name" };
    let mut told = vec![by.to_owned()];
    told.extend(class.library.as_ref().map(|library| format!("library {library}")));
    if let Some(stored) = class.formats.stored {
        let inferred = if class.formats.inferred { " (inferred)" } else { "" };
        told.push(format!("stored as {}{inferred}", stored.name()));
    }
    told.extend(class.tile.map(|(m, n)| format!("tile {m}×{n}")));
    told.extend(class.head_dim.map(|size| format!("head dimension {size}")));
    if class.category == Category::DotProduct {
        told.push(match class.tensor {
            Some(true) => "uses tensor cores".to_owned(),
            Some(false) => "uses no tensor cores".to_owned(),
            None => "does not tell whether it uses tensor cores".to_owned(),
        });
    }
    (format!("{}{kind}", class.category.label()), told.join("; "))
}

/// What the algorithm needs, beside what was counted.
fn algorithmic(lines: &mut Lines, kernel: &Kernel) {
    let Some(needed) = kernel.algorithmic() else { return };
    lines.add("algorithm", needed.call.clone(), format!("from {}", printable(&needed.from)));
    let beside = |factor: Option<f64>, what: &str| match factor {
        None => "one launch; not counted beside it".to_owned(),
        Some(factor) if factor >= 1.0 => {
            format!("one launch; {} times as much was {what}", view::digits(factor))
        }
        Some(factor) => format!("one launch; {} of it was {what}", view::percent(factor)),
    };
    let bytes = view::si(needed.bytes.get(), "B");
    lines.add("B needed", bytes, beside(needed.traffic_factor, "moved to and from memory"));
    let operations = view::si(needed.operations.get(), "FLOP");
    lines.add("F needed", operations, beside(needed.work_factor, "counted"));
    if let (Some(memory), Some(math)) = (needed.memory_time, needed.math_time) {
        let remark = format!(
            "max({}, {}) of all launches, no byte moved twice and no operation done twice",
            time(memory),
            time(math)
        );
        lines.add("E needed", time(memory.max(math)), remark);
    }
}

/// The assessment of NVIDIA's *GPU Performance Background* guide: is there enough parallelism, on
/// which side of which ridge point does the kernel lie, and what was the hardware busy with.
fn assessment(lines: &mut Lines, analysis: &Analysis, kernel: &Kernel, explanation: &Explanation) {
    let units = analysis.devices[kernel.device].units_label();
    if let (Some(blocks), Some(sms)) = (kernel.shape.blocks, explanation.sms) {
        let each = blocks as f64 / f64::from(sms.max(1));
        let threads = kernel.shape.threads_per_block.map_or_else(String::new, |threads| {
            format!("; {threads} threads a block, at least {}", roofline::THREADS_PER_BLOCK)
        });
        lines.add(
            "parallelism",
            format!("{} blocks/{}", view::digits(each), units.trim_end_matches('s')),
            format!(
                "{} ÷ {sms} {units}; at least {} hide latency{threads}",
                view::count(blocks, "block", "blocks"),
                roofline::BLOCKS_PER_SM
            ),
        );
    }
    levels::waves(lines, kernel, explanation, units);
    let busiest = kernel.work.iter().filter(|work| work.time > Seconds::ZERO);
    let busiest = busiest.max_by(|one, two| one.time.get().total_cmp(&two.time.get()));
    let known = analysis.devices[kernel.device].device.as_ref();
    let l2 = known.and_then(|device| device.l2_bandwidth.as_ref()).map(|figure| figure.value);
    if let (Some(work), Some((dram, _))) = (busiest, &explanation.bandwidth)
        && let Some(peak) = work.peak()
    {
        let unit = work.pipe.operation();
        let off_chip = roofline::ridge_point(peak, *dram).get();
        let on_chip = l2.map_or_else(String::new, |l2| {
            let ridge = roofline::ridge_point(peak, l2).get();
            format!("; from L2, on chip, {} {unit}/B", view::digits(ridge))
        });
        lines.add(
            "ridge point",
            format!("{} {unit}/B", view::digits(off_chip)),
            format!("P ÷ BW of {}, from memory off chip{on_chip}", work.pipe.label()),
        );
    }
    if kernel.modeled > Seconds::ZERO
        && kernel.state != State::NotRoofline
        && !kernel.is_partly_counted()
        && let (Some(memory), Some(math)) = (kernel.memory_time, kernel.math_time)
    {
        let (memory, math) = (memory / kernel.modeled, math / kernel.modeled);
        let busy = roofline::bound(memory, math);
        let other = kernel.busiest_unit().filter(|(_, busy)| *busy >= roofline::BUSY);
        let other = other.filter(|_| memory.max(math) < roofline::BUSY);
        let label = match busy {
            _ if other.is_some() => "another unit",
            roofline::Limiter::Latency => "neither",
            _ => busy.label(),
        };
        // What it waits for, not the nearer roof, which may be far.
        lines.add("busy", label.to_owned(), {
            let shares = format!("memory {}, math {}", view::percent(memory), view::percent(math));
            let limit = view::percent(roofline::BUSY);
            if let Some((unit, busy)) = other {
                format!("{shares}, but {unit} {} busy", view::percent(busy))
            } else if memory.max(math) < roofline::BUSY {
                format!("{shares}: both below {limit}, so it waits for latency")
            } else {
                format!("{shares}: from {limit} on it waits for that unit")
            }
        });
    }
}

fn memory(lines: &mut Lines, kernel: &Kernel, explanation: &Explanation) {
    match (kernel.bytes, kernel.memory_time) {
        (Some(bytes), Some(memory)) => {
            lines.add("B", view::si(bytes.get(), "B"), origin(explanation.bytes.as_ref()));
            let from = explanation.bandwidth.as_ref().map_or("", |(_, from)| from.as_str());
            let bandwidth = kernel.bandwidth().unwrap_or(bytes / memory);
            lines.add("BW", view::si(bandwidth.get(), "B/s"), from.to_owned());
            let mut how = format!(
                "B ÷ BW = {} ÷ {}",
                view::si(bytes.get(), "B"),
                view::si(bandwidth.get(), "B/s")
            );
            if let Some(of_bytes) = kernel.time_of_bytes() {
                how.push_str(&format!(" = {}; the rest by how busy DRAM was", time(of_bytes)));
            }
            lines.add("t_mem", time(memory), how);
        }
        (None, Some(memory)) => {
            lines.add("t_mem", time(memory), busy_memory(kernel).to_owned());
        }
        (Some(bytes), None) => {
            let why = if kernel.timed > 0 {
                "no bandwidth to divide by"
            } else {
                "no T to compare it with"
            };
            lines.add("B", view::si(bytes.get(), "B"), why.to_owned());
        }
        (None, None) => lines.add("B", view::MISSING.to_owned(), "not in the export".to_owned()),
    }
}

/// What `t_mem` follows from where bytes are not counted.
pub(super) fn busy_memory(kernel: &Kernel) -> &'static str {
    if kernel.average(Quantity::DramActive).is_some() {
        "share of DRAM cycles with data × T"
    } else {
        "DRAM throughput in percent of its peak × T: the most, as it counts commands besides data"
    }
}

fn conclusion(lines: &mut Lines, analysis: &Analysis, kernel: &Kernel) {
    if let Some(roofline_time) = kernel.roofline_time {
        let high = kernel.roofline_time_high.map_or(f64::INFINITY, Seconds::get);
        let high = high.is_finite().then(|| view::si(high, "s"));
        // Busy time is more than was needed, so a side that was not counted leaves no bound at all.
        let bound = match (kernel.is_lower_bound(), kernel.may_need_less(), high) {
            (is_least, ..) if kernel.may_be_overcounted() => {
                let rest = if is_least { ", or not all of it" } else { "" };
                format!("; what was counted may be more than was done{rest}")
            }
            (false, ..) => String::new(),
            (true, true, None) => "; what else was not counted may need longer".to_owned(),
            (true, true, Some(high)) => {
                format!("; what else was not counted may need up to {high}")
            }
            (true, false, None) => {
                "; a lower bound: nothing limits what was not counted".to_owned()
            }
            (true, false, Some(high)) => {
                format!("; a lower bound: what was not counted allows up to {high}")
            }
        };
        let formula = match (kernel.is_by_busy_time(), kernel.is_partly_counted()) {
            // The time of the busy SMs stands in for that of their operations.
            (true, _) => format!(
                "the SMs were busy for so long, which stands in for t_math: {}",
                kernel.why_no_math_time()
            ),
            (false, false) => "max(t_mem, t_math)".to_owned(),
            (false, true) => "max(t_mem, t_math) of each launch".to_owned(),
        };
        lines.add("E", time(roofline_time), format!("{formula}{bound}"));
        if let Some(headroom) = kernel.headroom() {
            let is_least = kernel.may_need_less() && !kernel.is_lower_bound();
            let at_least = if is_least { "at least " } else { "" };
            lines.add(
                "headroom",
                view::factor(headroom),
                format!(
                    "{at_least}T ÷ E = {} ÷ {}{}",
                    time(kernel.modeled),
                    time(roofline_time),
                    if kernel.modeled < kernel.measured * 0.999 {
                        "; the launches that can be judged"
                    } else {
                        ""
                    }
                ),
            );
        }
    }
    levels::hierarchy(lines, kernel);
    if let Some(structural) = kernel.structural {
        lines.add(
            "structural",
            time(structural),
            format!(
                "{} a launch + the longest of t_mem, t_math and t_L2 at their achievable share, with idle multiprocessors and what was not counted included; at least {} a launch",
                view::si(analysis.fixed_cost.get(), "s"),
                view::si(analysis.fixed_cost.get() * roofline::LAUNCH_FLOOR, "s")
            ),
        );
        if let Some(roofline_time) = kernel.roofline_time {
            levels::way(lines, kernel, roofline_time, structural);
        }
        if kernel.state.is_modeled() {
            lines.add(
                "savings",
                time(kernel.savings),
                format!(
                    "T above structural, launch by launch; between {} (T above {}× the most that any roof or unit asks for) and {} (T above {})",
                    time(kernel.savings_low),
                    crate::analysis::NEAR,
                    time(kernel.savings_high),
                    if kernel.may_need_less() { "what is certainly needed" } else { "E" }
                ) + match kernel.state {
                    State::Waived => "; 0, because it is waived",
                    _ if kernel.is_unproven() => "; 0, because no certain cause was found",
                    _ => "",
                },
            );
            lines.add(
                "run speedup",
                view::factor(analysis.totals.run_speedup(kernel.savings)),
                "total ÷ (total − savings)".to_owned(),
            );
        }
    }
}

fn time(time: Seconds) -> String {
    view::si(time.get(), "s")
}

fn work(lines: &mut Lines, kernel: &Kernel, explanation: &Explanation) {
    /// By less an active tensor pipe explains nothing.
    const LONGER: f64 = 1.01;
    let mut any = false;
    let counted: Seconds = kernel.work.iter().map(|work| work.time).sum();
    for work in kernel.work.iter().filter(|work| work.operations.get() > 0.0) {
        any = true;
        let unit = work.pipe.operation();
        let source = explanation.work.iter().find(|(pipe, ..)| *pipe == work.pipe);
        let label = work.pipe.label();
        lines.add(
            &format!("F {label}"),
            view::si(work.operations.get(), unit),
            origin(source.map(|(_, origin, _)| origin)),
        );
        let Some(peak) = work.peak() else { continue };
        let from =
            source.and_then(|(_, _, roof)| roof.as_ref()).map_or("", |(_, from)| from.as_str());
        lines.add(
            &format!("P {label}"),
            view::si(peak.get(), &format!("{unit}/s")),
            from.to_owned(),
        );
        lines.add(
            &format!("t {label}"),
            view::si(work.time.get(), "s"),
            format!(
                "F ÷ P = {} ÷ {}",
                view::si(work.operations.get(), unit),
                view::si(peak.get(), &format!("{unit}/s"))
            ),
        );
    }
    match kernel.math_time {
        Some(math) if any => lines.add(
            "t_math",
            view::si(math.get(), "s"),
            if kernel.has_tensor_activity && math > counted * LONGER {
                "the tensor pipe was active for longer than its counted work takes".to_owned()
            } else {
                "pipes that share hardware add up, others overlap".to_owned()
            },
        ),
        Some(math) if math.get() == 0.0 => {
            lines.add("t_math", "0 s".to_owned(), "all counted work is zero".to_owned());
        }
        Some(math) => lines.add(
            "t_math",
            view::si(math.get(), "s"),
            "share of cycles with an active tensor pipe × T".to_owned(),
        ),
        None if any => {
            let why =
                if kernel.timed > 0 { "no peak to divide by" } else { "no T to compare it with" };
            lines.add("t_math", view::MISSING.to_owned(), why.to_owned());
        }
        None => lines.add("F", view::MISSING.to_owned(), "not in the export".to_owned()),
    }
    if kernel.is_partly_counted() {
        let of = |what: &str, launches: u64| format!("{what} {launches}");
        let bytes = kernel.bytes.map(|_| of("bytes", kernel.counted));
        let work = kernel.work.iter().map(|work| of(work.pipe.label(), kernel.launches_of(work)));
        lines.add(
            "partly counted",
            bytes.into_iter().chain(work).collect::<Vec<_>>().join(", "),
            format!("of {} launches: they have no common F ÷ B", kernel.launches),
        );
    }
    if !kernel.uncounted().is_empty() {
        lines.add(
            "not counted",
            kernel.uncounted().join(", "),
            if kernel.state == State::NotRoofline {
                "nothing follows from it: links limit communication".to_owned()
            } else if kernel.roofline_time.is_none() {
                "may need time too: without E, nothing rules it out".to_owned()
            } else if kernel.is_lower_bound() {
                "may need time too: E is a lower bound".to_owned()
            } else {
                "taken as unused: what else is known leaves no room for it".to_owned()
            },
        );
    }
}

fn limiter(analysis: &Analysis, kernel: &Kernel, explanation: &Explanation) -> String {
    let units = analysis.devices[kernel.device].units_label();
    let blocks = kernel.shape.blocks.map_or_else(|| "?".to_owned(), |blocks| blocks.to_string());
    let threads = kernel
        .shape
        .threads_per_block
        .map_or_else(|| "?".to_owned(), |threads| threads.to_string());
    let sms = explanation.sms.map_or_else(|| "?".to_owned(), |sms| sms.to_string());
    if kernel.state == State::NotRoofline {
        return "links and peers limit communication, not the roofs of the device".to_owned();
    }
    if kernel.limiter == roofline::Limiter::Unknown {
        return if kernel.timed == 0 {
            "there is no T to compare with"
        } else if kernel.lacks_roofs() {
            "what was counted has no roofs, so neither t_mem nor t_math is known"
        } else {
            "no side that was counted explains the time, so the other may be the longer one"
        }
        .to_owned();
    }
    let few = kernel
        .shape
        .blocks
        .zip(explanation.sms)
        .is_some_and(|(blocks, sms)| blocks < u64::from(sms) * roofline::BLOCKS_PER_SM);
    let reached = kernel.roofline_time.is_some_and(|time| time >= kernel.modeled * roofline::BUSY);
    // As many blocks as fit say nothing of parallelism: the law leaves their number out.
    let resident = if few
        && !reached
        && matches!(kernel.limiter, roofline::Limiter::Memory | roofline::Limiter::Math)
    {
        "; by its name or as one full wave its grid is made to fit, so the number of its blocks does not count"
    } else {
        ""
    };
    format!(
        "latency below {:.0}% of a roof if blocks < {} × {units}, or threads < {} and fewer than {} at once ({} of {threads} threads, {sms} {units}); else the longer of t_mem and t_math{resident}",
        roofline::BUSY * 100.0,
        roofline::BLOCKS_PER_SM,
        roofline::THREADS_PER_BLOCK,
        roofline::BLOCKS_PER_SM * roofline::THREADS_PER_BLOCK,
        if blocks == "1" { "1 block".to_owned() } else { format!("{blocks} blocks") },
    )
}

/// Where a sum over launches came from, by its longest launch.
pub(super) fn origin(origin: Option<&Origin>) -> String {
    match origin {
        None => "not in its longest launch".to_owned(),
        Some(origin) if origin.is_exact() => {
            format!("{}: {}", origin.kind.label(), printable(&origin.formula))
        }
        Some(origin) => {
            let high = if origin.high.is_finite() {
                view::factor(origin.high)
            } else {
                "∞×".to_owned()
            };
            let within = units::interval(&view::factor(origin.low), &high);
            let formula = format!("{}: {}", origin.kind.label(), printable(&origin.formula));
            if within == view::factor(1.0) {
                return formula;
            }
            format!("{formula} (true value {within} this)")
        }
    }
}

/// Labeled values, each with a remark.
#[derive(Default)]
struct Lines(Vec<Figure>);

impl Lines {
    fn add(&mut self, symbol: &str, value: String, remark: String) {
        self.0.push(Figure::new(symbol, value, remark));
    }
}
