//! Explains the state of a kernel, which the law derives from its sums.

use super::ceilings::Roofs;
use super::confidence::Confidence;
use super::design::Spare;
use super::kernel::Kernel;
use super::reason::Reason;
use super::sums::Sums;
use crate::catalog::CatalogError;
use crate::law::{self, Bar, CeilingSet, Ground, Problem, State, Uncounted};
use crate::model::{Engine, MemoryLevel, Precision, Quantity};
use crate::roofline;
use crate::taxonomy::Kind;
use crate::units::{self, Bytes, ExactSum, Seconds};

/// Inputs of the verdict on a kernel besides its own sums.
pub(super) struct Setting<'a> {
    pub(super) roofs: &'a Roofs,
    pub(super) ceilings: CeilingSet,
    pub(super) threshold: f64,
    /// Default threshold.
    pub(super) usual_threshold: f64,
    /// Smallest savings that matter in this run.
    pub(super) floor: Seconds,
    pub(super) fixed_cost: Seconds,
    /// True if the profiler could have collected more counters.
    pub(super) counters: bool,
    /// True if FLOPs and bytes follow from shapes where they are known.
    pub(super) shapes: bool,
    /// Realistic and largest savings of all grids of the kernel together.
    pub(super) family: (Seconds, Seconds),
    /// A figure that the device lacks and launches of the kernel need.
    pub(super) missing: Option<CatalogError>,
}

/// Sets state, confidence, reason and limiter of a kernel whose sums are set.
pub(super) fn conclude(kernel: &mut Kernel, sums: &Sums, setting: &Setting<'_>) {
    let known = known(kernel, sums, setting);
    let bar = Bar {
        threshold: setting.threshold,
        usual_threshold: setting.usual_threshold,
        floor: setting.floor.get(),
    };
    kernel.limiter = known.limiter();
    let ground = known.ground(&bar, kernel.limiter);
    kernel.state = ground.state();
    if ground == Ground::Link {
        kernel.has_no_roofline();
    }
    // Sizes tell what an operator needs, not what this kernel did.
    let counted = if sums.algorithmic { Confidence::Likely } else { Confidence::Certain };
    let by_likelihood = known.is_far_by_likelihood(&bar);
    // Nobody knows how much of what kept its SMs busy was needed, or of what may have been counted too high.
    // Only how busy the SMs were bounds the work that was not counted.
    let part = sums.part();
    let is_by_units = part.has_memory && part.uncounted >= Uncounted::Open;
    let is_open = match ground {
        Ground::Near | Ground::Fair => kernel.may_need_less(),
        Ground::LikelyNear | Ground::LikelyFair => is_by_units,
        _ => false,
    };
    let counted = if is_open { Confidence::Possible } else { counted };
    kernel.confidence = confidence(ground, counted, by_likelihood, is_open);
    kernel.reason = reason(ground, kernel, sums, setting);
    // Whatever the threshold: it labels, and takes no part in what can be won.
    kernel.is_winnable = known.is_winnable(kernel.limiter);
    if kernel.is_shared() && kernel.state.is_modeled() {
        share(kernel);
    }
    if !kernel.state.is_modeled() || !kernel.is_winnable {
        kernel.savings_low = Seconds::ZERO;
        kernel.savings = Seconds::ZERO;
    }
}

/// Leaves of a verdict what is true of a kernel that shared its GPU: what it lacks of the roofs others may have had.
fn share(kernel: &mut Kernel) {
    kernel.is_winnable = false;
    let is_far = matches!(kernel.state, State::Flagged | State::LowImpact);
    if is_far || kernel.state == State::Fair {
        kernel.confidence = Some(Confidence::Possible);
        let share = 100.0 * (kernel.shared() / kernel.measured);
        kernel.reason.push(&format!("; shared the GPU with other kernels {share:.0}% of the time"));
    }
    if is_far {
        kernel.state = State::Possible;
    }
}

/// Returns what the law reads of a kernel.
fn known(kernel: &Kernel, sums: &Sums, setting: &Setting<'_>) -> law::Kernel<f64> {
    let part = sums.part();
    let side = |has: bool, sum: &ExactSum| has.then(|| sum.get()).into();
    let (family, family_most) = setting.family;
    let names = kernel.names();
    let spare = names.spare(&kernel.class);
    law::Kernel {
        launches: kernel.launches as f64,
        timed: kernel.timed as f64,
        measured: kernel.measured.get(),
        is_judged: sums.is_judged(),
        part: part.launches as f64,
        time: part.time.get(),
        roofline: part.roofline_time.get(),
        likely: part.roofline_time_likely.get(),
        high: part.roofline_time_high.get(),
        memory: side(part.has_memory, &part.memory),
        math: side(part.has_math, &part.math),
        l2: part.level_time(MemoryLevel::L2).map(Seconds::get).into(),
        bytes: kernel.bytes.map(Bytes::get).into(),
        savings_high: kernel.savings_high.get(),
        most: kernel.roofline_time_high.map_or(0.0, Seconds::get),
        uncounted: part.uncounted,
        is_math_by_utilization: part.math_by_utilization,
        is_algorithmic: sums.algorithmic,
        is_faster: sums.is_faster(setting.ceilings),
        is_untimed: matches!(problem(sums), Some(Problem::NoTime | Problem::Instrumented)),
        averages: law::Averages::of(|quantity| kernel.average(quantity).into()),
        blocks: kernel.shape.blocks.map(|blocks| blocks as f64).into(),
        threads_per_block: kernel.shape.threads_per_block.map(|threads| threads as f64).into(),
        sms: setting.roofs.sms().map(f64::from).into(),
        l2_bytes: setting.roofs.l2_bytes().into(),
        crosses_link: kernel.class.crosses_link(),
        is_product: kernel.is_product(),
        is_persistent_by_name: names.is_persistent(),
        is_serial_by_name: spare == Spare::Nothing,
        has_work_by_name: spare == Spare::Work,
        is_per_element: kernel.class.is_per_element(),
        family: (family.get(), family_most.get()),
        fixed_cost: setting.fixed_cost.get(),
    }
}

/// Returns the confidence of a state.
fn confidence(
    ground: Ground,
    counted: Confidence,
    by_likelihood: bool,
    is_open: bool,
) -> Option<Confidence> {
    match ground {
        Ground::Link | Ground::Unjudged | Ground::NothingCounted | Ground::MainWorkMissing => None,
        Ground::ShortUnjudged => Some(Confidence::Certain),
        Ground::FairIfCounted | Ground::Possible => Some(Confidence::Possible),
        Ground::LikelyNear | Ground::LikelyFair if is_open => Some(Confidence::Possible),
        Ground::LikelyNear | Ground::LikelyFair => Some(Confidence::Likely),
        Ground::Flagged | Ground::TooLittle | Ground::NoRoom | Ground::GridExplains
            if by_likelihood =>
        {
            Some(Confidence::Likely)
        }
        _ => Some(counted),
    }
}

/// Returns the reason of a state.
fn reason(ground: Ground, kernel: &Kernel, sums: &Sums, setting: &Setting<'_>) -> Reason {
    let headroom = kernel.headroom().unwrap_or(1.0);
    // As it was set: 1.75 is not 1.8.
    let below = |headroom: f64| {
        let rounds_to_it = units::factor(headroom) == units::factor(setting.threshold);
        let just = if rounds_to_it { "just " } else { "" };
        format!(", {just}below the threshold of {:?}", setting.threshold)
    };
    let at_most = kernel.headroom_likely().unwrap_or(headroom);
    let likely = |rest: &str| {
        let rest = format!(
            "{}, assuming no redundant work of its units{}",
            beside(kernel, sums, rest),
            // Once is enough.
            if kernel.by_utilization { String::new() } else { busiest(kernel) }
        );
        Reason::times(at_most, &rest)
    };
    match ground {
        Ground::Link => across_link(kernel).into(),
        Ground::ShortUnjudged => {
            short(kernel.mean(), "no more than the launch cost", setting.fixed_cost).into()
        }
        Ground::Unjudged => unmodeled(kernel, sums, setting),
        Ground::FitsInCache => fits_in_cache(kernel, sums, setting).into(),
        Ground::Faster => faster(kernel, sums).into(),
        Ground::LaunchBound => {
            let part = sums.part();
            let mean = Seconds::new(part.time.get()) / part.launches.max(1) as f64;
            short(mean, "close to the launch cost", setting.fixed_cost).into()
        }
        Ground::NothingCounted => unsettled(uncounted(kernel, sums), kernel, sums, setting),
        Ground::Near | Ground::Flagged => at(kernel, sums, headroom, ""),
        Ground::CachedByTraffic | Ground::CachedByThroughput | Ground::CachedByHits => {
            cache_resident(ground, kernel, sums).into()
        }
        Ground::MainWorkMissing | Ground::Possible => bounded(kernel, sums, setting, headroom),
        // What is known at least may be above it.
        Ground::Fair | Ground::FairIfCounted if kernel.may_need_less() => {
            at(kernel, sums, headroom, "")
        }
        Ground::Fair | Ground::FairIfCounted => at(kernel, sums, headroom, &below(headroom)),
        Ground::TooLittle => {
            let floor = microseconds(setting.floor);
            ratio(kernel, headroom, &format!(", but savings are below {floor}"))
        }
        Ground::NoRoom => {
            ratio(kernel, headroom, ", but nothing shows that more threads could share its work")
        }
        Ground::GridExplains => {
            // Less than the last digit shown is nothing.
            let left = Some(kernel.savings).filter(|time| time.get() >= 0.05e-6);
            let left =
                left.map_or_else(String::new, |time| format!(" except {}", microseconds(time)));
            ratio(kernel, headroom, &format!(", which its grid and usual losses explain{left}"))
        }
        Ground::LikelyNear => likely(""),
        Ground::LikelyFair => likely(&below(at_most)),
    }
}

/// Says which link limits a kernel.
fn across_link(kernel: &Kernel) -> &'static str {
    match kernel.class.kind {
        Some(Kind::MemcpyPeer) => "copy between devices: limited by links",
        Some(Kind::MemcpyHost | Kind::PageFault) => {
            "copy between host and device: limited by PCIe or NVLink"
        }
        _ => "communication: limited by links and peers",
    }
}

/// Compares the time of a launch with the launch cost.
fn short(mean: Seconds, than: &str, fixed_cost: Seconds) -> String {
    format!("{:.2} µs per launch, {than} of {:.1} µs", mean.get() * 1e6, fixed_cost.get() * 1e6)
}

/// Says what is missing of a kernel of which nothing that takes time was counted.
fn uncounted(kernel: &Kernel, sums: &Sums) -> &'static str {
    let part = sums.part();
    match (part.has_memory, part.has_math) {
        (true, true) if kernel.uncounted().is_empty() => {
            "neither floating-point work nor DRAM traffic: its time has another cause"
        }
        (true, true) => "all counters are zero: its time has another cause",
        (true, false) => "no DRAM traffic, and FLOPs were not collected",
        (false, _) => "no FLOPs were counted, and DRAM bytes were not collected",
    }
}

/// Describes the ratio of a kernel to its roofline time.
fn at(kernel: &Kernel, sums: &Sums, headroom: f64, rest: &str) -> Reason {
    ratio(kernel, headroom, &beside(kernel, sums, rest))
}

/// Begins with the ratio, which is the most that it can be if the counts leave room, and the least where they may be
/// too high or the SMs were busy with what was not counted.
fn ratio(kernel: &Kernel, headroom: f64, rest: &str) -> Reason {
    let (most, least) = kernel.headroom_ends().unwrap_or((headroom, headroom));
    if kernel.may_be_overcounted() && kernel.is_lower_bound() {
        if most.is_finite() {
            Reason::up_to(most, rest)
        } else {
            let rest = format!(" as counted, which may be too much or too little{rest}");
            Reason::times(headroom, &rest)
        }
    } else if kernel.may_need_less() {
        Reason::at_least(least, rest)
    } else if kernel.is_lower_bound() {
        Reason::up_to(headroom, rest)
    } else {
        Reason::times(headroom, rest)
    }
}

/// What follows the ratio.
fn beside(kernel: &Kernel, sums: &Sums, rest: &str) -> String {
    let busiest = if kernel.by_utilization { busiest(kernel) } else { String::new() };
    let faster = match sums.faster_launches() {
        0 => String::new(),
        1 => "; 1 launch is faster than the roofline".to_owned(),
        count => format!("; {count} launches are faster than the roofline"),
    };
    format!("{rest}{busiest}{faster}")
}

fn microseconds(time: Seconds) -> String {
    let value = time.get() * 1e6;
    if value >= 999.5 {
        units::si(time.get(), "s")
    } else if value >= 10.0 {
        format!("{value:.0} µs")
    } else {
        format!("{value:.1} µs")
    }
}

/// What most launches of a kernel lack.
fn problem(sums: &Sums) -> Option<Problem> {
    sums.problems.iter().max_by_key(|(_, count)| **count).map(|(problem, _)| *problem)
}

/// Why a kernel was not judged whose work or bytes were counted, on a device that nothing is known of.
const UNKNOWN_DEVICE: &str = "unknown device, so its roofs are unknown";

/// Explains why a kernel was not judged.
fn unmodeled(kernel: &Kernel, sums: &Sums, setting: &Setting<'_>) -> Reason {
    match problem(sums) {
        Some(Problem::NoTime) => "no duration in the export".into(),
        Some(Problem::Instrumented) => {
            "only timed while instrumented for SASS counters, which is not the time of the real \
             run"
            .into()
        }
        Some(Problem::NoRoof) => match &setting.missing {
            Some(cause) => format!(
                "{cause}: did it run on this device? a missing figure is added with --devices FILE"
            )
            .into(),
            None => UNKNOWN_DEVICE.into(),
        },
        _ if setting.shapes => unsettled(unshaped(kernel), kernel, sums, setting),
        _ => unsettled("neither FLOPs nor DRAM bytes were collected", kernel, sums, setting),
    }
}

/// Explains why work does not follow from the shapes of a trace.
fn unshaped(kernel: &Kernel) -> &'static str {
    let Some(operator) = &kernel.operator else {
        return "the trace has no operator that launched it, so its FLOPs and bytes are unknown; --next-ncu prints the command that counts them";
    };
    let is_shape = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_digit())
            && word.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'x' | b','))
    };
    if ["CompiledFunction", "Torch-Compiled Region", "CompiledFxGraph"]
        .iter()
        .any(|region| operator.contains(region))
    {
        "compiled code launched it, and the trace has no shapes of its single operations; --next-ncu prints the command that counts its FLOPs and bytes"
    } else if operator.split(' ').skip(1).any(is_shape) {
        "its FLOPs and bytes do not follow from the shapes of its operator; --next-ncu prints the command that counts them"
    } else {
        "the trace has no shapes of its operator (record_shapes=True records those of most); --next-ncu prints the command that counts its FLOPs and bytes"
    }
}

/// Describes what is unknown, with the metric that would resolve it.
fn unsettled(missing: &str, kernel: &Kernel, sums: &Sums, setting: &Setting<'_>) -> Reason {
    let part = sums.part();
    let metric = match (part.has_memory, kernel.uncounted().contains(&"tensor")) {
        (true, true) => "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
        (true, false) => "sm__throughput.avg.pct_of_peak_sustained_elapsed",
        (false, _) if part.has_math => "dram__bytes.sum",
        (false, _) => "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
    };
    let settles = if setting.counters { format!(" (collect {metric})") } else { String::new() };
    Reason::new(&format!("{missing}{settles}"), &busiest(kernel))
}

/// Describes the utilization of the busiest unit, if the export has it.
fn busiest(kernel: &Kernel) -> String {
    let known = |(quantity, unit)| Some((kernel.average(quantity)?, unit));
    // The figure of all memory is that of its busiest part; without it, the parts are.
    let parts = [
        (Quantity::DramThroughput, "DRAM"),
        (Quantity::L2Throughput, "L2"),
        (Quantity::L1Throughput, "L1"),
    ];
    let parts = parts.into_iter().filter(|_| kernel.average(Quantity::MemoryThroughput).is_none());
    [(Quantity::SmThroughput, "compute"), (Quantity::MemoryThroughput, "memory")]
        .into_iter()
        .chain(parts)
        .filter_map(known)
        .max_by(|one, two| one.0.total_cmp(&two.0))
        .map_or_else(String::new, |(share, unit)| {
            format!("; its busiest unit ({unit}) reached {:.0}% of speed-of-light", share * 100.0)
        })
}

/// Explains why a headroom is not certain.
fn bounded(kernel: &Kernel, sums: &Sums, setting: &Setting<'_>, headroom: f64) -> Reason {
    let part = sums.part();
    let share = 100.0 / headroom;
    if kernel.limiter == roofline::Limiter::Memory && kernel.has_bytes_of_some() {
        let (counted, launches) = (kernel.counted, kernel.launches);
        let counted = format!("bytes were counted in {counted} of {launches} launches");
        return Reason::new(
            &counted,
            &format!(": they account for {share:.0}% of the time of all"),
        );
    }
    let (missing, known) = match (part.has_memory, part.has_math) {
        (true, false) => ("FLOPs were not counted".to_owned(), "bytes alone account for"),
        (false, true) => ("bytes were not counted".to_owned(), "math alone accounts for"),
        _ if kernel.uncounted().is_empty() => {
            ("counts are only known within bounds".to_owned(), "they account for at least")
        }
        _ => (
            format!("{} not counted", kernel.uncounted().join(", ")),
            "the counters collected \
            account for",
        ),
    };
    let figures = format!(": {known} {share:.0}% of the time{}", busiest(kernel));
    Reason::new(&unsettled(&missing, kernel, sums, setting).general(), &figures)
}

/// Says that the data of a kernel fit in the cache.
fn fits_in_cache(kernel: &Kernel, sums: &Sums, setting: &Setting<'_>) -> String {
    let launches = sums.part().launches.max(1) as f64;
    let each = kernel.bytes.map_or(0.0, |bytes| bytes.get() / launches);
    let l2 = setting.roofs.l2_bytes().unwrap_or_default();
    format!(
        "its {} fit in the {} L2 cache, so the DRAM roof does not apply",
        megabytes(each),
        megabytes(l2)
    )
}

/// Says why a kernel may be faster than the model allows.
fn faster(kernel: &Kernel, sums: &Sums) -> String {
    let part = sums.part();
    let half = kernel.work.iter().any(|work| {
        work.pipe.precision() == Precision::Fp16
            && work.pipe.engine() == Engine::Vector
            && work.operations.get() > 0.0
    });
    let cause = if sums.algorithmic && kernel.full_name.contains("winograd") {
        "Winograd's algorithm multiplies less than the direct convolution whose FLOPs are counted"
    } else if sums.algorithmic {
        "the operator's FLOPs or bytes overcount this kernel, or its data came from a cache"
    } else if half {
        "half-precision instructions may use one lane only; otherwise the device, clock or a \
         metric is wrong"
    } else {
        "the device, clock or a metric is wrong, or counters and time are of different runs"
    };
    let reached = 100.0 * part.roofline_time.get() / part.time.get();
    format!("{reached:.0}% of its roofline: {cause}")
}

fn megabytes(bytes: f64) -> String {
    if bytes < 1e6 { format!("{:.1} kB", bytes / 1e3) } else { format!("{:.1} MB", bytes / 1e6) }
}

/// Says how the caches carry the traffic of a kernel.
fn cache_resident(ground: Ground, kernel: &Kernel, sums: &Sums) -> String {
    let sums = sums.part();
    let time = sums.time.get();
    let l2 = sums.level_time(MemoryLevel::L2).unwrap_or_default().get();
    let average = |quantity| kernel.average(quantity);
    let share = |quantity| 100.0 * average(quantity).unwrap_or_default();
    let dram = average(Quantity::DramThroughput).unwrap_or(sums.memory.get() / time);
    match ground {
        Ground::CachedByTraffic => format!(
            "L2 traffic accounts for {:.0}% of the time, DRAM for {:.0}%",
            100.0 * l2 / time,
            100.0 * sums.memory.get() / time
        ),
        Ground::CachedByThroughput => format!(
            "the caches run at {:.0}% of their peak, DRAM at {:.0}%",
            share(Quantity::MemoryThroughput),
            dram * 100.0
        ),
        _ => format!(
            "{:.0}% of its L2 look-ups hit and L2 runs at {:.0}% of its peak",
            share(Quantity::L2HitRate),
            share(Quantity::L2Throughput)
        ),
    }
}

#[cfg(test)]
mod tests {
    use crate::ingest::{Options, read_text};
    use crate::session::Session;

    /// The SMs at 20% of their peak are not the busiest beside L2 at 50%; the figure of all memory is that of any part.
    #[test]
    fn the_busiest_unit_may_be_a_part_of_memory() {
        let columns = [
            "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
            "lts__throughput.avg.pct_of_peak_sustained_elapsed",
            "l1tex__throughput.avg.pct_of_peak_sustained_elapsed",
            "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
        ];
        for (values, said) in [
            ([45, 50, 40, 0], "(L2) reached 50%"),
            ([45, 30, 40, 0], "(DRAM) reached 45%"),
            ([30, 30, 85, 0], "(L1) reached 85%"),
            ([15, 10, 10, 0], "(compute) reached 20%"),
            ([45, 50, 40, 50], "(memory) reached 50%"),
        ] {
            let known: Vec<usize> = (0..4).filter(|at| values[*at] > 0).collect();
            let names: Vec<String> =
                known.iter().map(|at| format!("\"{}\"", columns[*at])).collect();
            let cells: Vec<String> =
                known.iter().map(|at| format!("\"{}\"", values[*at])).collect();
            let text = format!(
                "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"device__attribute_display_name\",\
                 \"gpu__time_duration.sum\",\"sm__throughput.avg.pct_of_peak_sustained_elapsed\",{}\n\
                 \"\",\"\",\"\",\"\",\"\",\"\",\"\",\"nsecond\",\"%\"{}\n\
                 \"0\",\"stencil\",\"(256, 1, 1)\",\"(1056, 1, 1)\",\"0\",\"9.0\",\"NVIDIA H100 80GB HBM3\",\
                 \"1000000\",\"20\",{}\n",
                names.join(","),
                ",\"%\"".repeat(known.len()),
                cells.join(",")
            );
            let profile = read_text("t.csv", text.leak(), &Options::default()).unwrap();
            let kernel = Session::default().analyze(&profile).unwrap().kernels.remove(0);
            let reason = kernel.reason.to_string();
            assert!(
                reason.ends_with(&format!("its busiest unit {said} of speed-of-light")),
                "{reason}"
            );
        }
    }
}
