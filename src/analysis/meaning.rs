//! Describes what the state of a kernel means for the user.

use super::confidence::Confidence;
use super::kernel::Binding;
use super::{Kernel, State};
use crate::model::{MemoryLevel, OriginKind, Pipe, Quantity};
use crate::roofline::{self, Limiter};
use crate::units::Seconds;

impl Kernel {
    /// Describes its state for the user in a sentence: the limiter, the known cause, the next step.
    #[must_use]
    pub fn meaning(&self) -> String {
        /// Ratio of largest to smallest headroom from which launches are reported as different.
        const WIDE: f64 = 4.0;
        let mut meaning = if self.is_shared() && self.state != State::NearRoofline {
            shared(self)
        } else {
            by_limiter(self)
        };
        let judged =
            matches!(self.state, State::Flagged | State::Fair | State::LowImpact | State::Possible);
        if judged
            && let Some((low, high)) = self.headrooms.map(|(low, high)| (low.get(), high.get()))
            && high > low * WIDE
        {
            meaning.push_str(&format!("; launches vary between {low:.1}× and {high:.1}×"));
        }
        meaning
    }

    /// Returns `true` if operations of any kind were counted.
    #[must_use]
    pub fn has_operations(&self) -> bool {
        self.work.iter().any(|work| work.operations.get() > 0.0)
    }

    /// Returns `true` if operations or bytes were counted, and the device has no roof for any of them.
    #[must_use]
    pub fn lacks_roofs(&self) -> bool {
        let is_counted = self.bytes.is_some_and(|bytes| bytes.get() > 0.0) || self.has_operations();
        let (memory, math) = (self.memory_time, self.math_time);
        let takes_time = |time: Option<Seconds>| time.is_some_and(|time| time > Seconds::ZERO);
        is_counted && !takes_time(memory) && !takes_time(math)
    }

    /// Returns the busiest of the SMs, L2 and L1 with its verb, and the share of the time for which it was busy, by its
    /// utilization, or of the cache whose traffic asks for the most time.
    pub(crate) fn busiest_unit(&self) -> Option<(&'static str, f64)> {
        let of = |quantity| self.average(quantity);
        let [memory, l2, dram] =
            [Quantity::MemoryThroughput, Quantity::L2Throughput, Quantity::DramThroughput].map(of);
        // The figure of all memory is that of its busiest part: L1 where it is of no other.
        let is_other =
            |other: Option<f64>| memory.zip(other).is_some_and(|(all, other)| all > other * 1.01);
        let l1 = memory.filter(|_| is_other(l2) && is_other(dram));
        let units = [("the SMs are", of(Quantity::SmThroughput)), ("L2 is", l2), ("L1 is", l1)];
        let known = units.into_iter().filter_map(|(unit, busy)| Some((unit, busy?)));
        known.chain(self.binding_level()).max_by(|one, two| one.1.total_cmp(&two.1))
    }

    /// Returns the cache whose traffic asks for the most time, as the beginning of a sentence, and for which share of it.
    fn binding_level(&self) -> Option<(&'static str, f64)> {
        use MemoryLevel::{L1, L2, Shared};
        let unit = match self.binding()? {
            Binding::Memory(Shared) => "shared memory is",
            Binding::Memory(L1) => "L1 is",
            Binding::Memory(L2) => "L2 is",
            _ => return None,
        };
        // Above its own time a counter or a roof does not fit.
        let busy = self.hierarchical()? / self.modeled;
        (busy <= 1.0).then_some((unit, busy))
    }

    /// Returns `true` if bytes were counted in some of its launches, and not in others.
    pub(super) fn has_bytes_of_some(&self) -> bool {
        self.bytes.is_some() && self.counted < self.launches && self.is_partly_counted()
    }

    /// Returns why its math time is unknown: operations that were not counted, or have no roof.
    pub(crate) fn why_no_math_time(&self) -> &'static str {
        if self.has_operations() {
            "the peaks of the device are not known"
        } else {
            "operations were not counted"
        }
    }
}

/// Says that others had a part of the roofs, and how to see how fast the kernel is by itself.
fn shared(kernel: &Kernel) -> String {
    let share = 100.0 * (kernel.shared() / kernel.measured);
    format!(
        "other streams computed during {share:.0}% of its time and shared the roofs: profile it alone to judge it"
    )
}

/// Says which share of its roof a kernel reaches. Shapes may bound its work on both sides.
fn reaches(kernel: &Kernel) -> String {
    let percent = |headroom: f64| format!("{:.0}", 100.0 / headroom);
    let least = kernel.headroom().map_or_else(|| "0".to_owned(), percent);
    let is_bounded = kernel.is_lower_bound() && kernel.provenance == Some(OriginKind::Algorithmic);
    match kernel.headroom_low().filter(|_| is_bounded) {
        Some(low) if low <= 1.0 => format!("may reach only {least}%"),
        Some(low) if percent(low) != least => {
            format!("reaches only {least}–{}%", percent(low))
        }
        _ if least == "0" => "reaches less than 1%".to_owned(),
        _ if kernel.may_be_overcounted() && !kernel.is_lower_bound() => {
            format!("reaches at most {least}%")
        }
        _ => format!("reaches only {least}%"),
    }
}

/// Whether operations that may have run on any pipe ask for the most time.
fn is_unstated(kernel: &Kernel) -> bool {
    let is_any = kernel.work.iter().any(|work| work.pipe == Pipe::Unstated);
    is_any && kernel.math_time >= kernel.memory_time
}

/// What keeps the limiter unknown: what was not counted, or has no roof.
fn unknown_side(kernel: &Kernel) -> &'static str {
    match (kernel.bytes.is_some(), kernel.work.is_empty()) {
        (false, true) => "neither FLOPs nor bytes were counted",
        (false, false) => "bytes were not counted",
        (true, true) => "FLOPs were not counted",
        (true, false) if !kernel.has_operations() => {
            "it has no FLOPs, and its other work was not counted"
        }
        _ if kernel.memory_time.is_none() || kernel.math_time.is_none() => {
            "the peaks of the device are not known"
        }
        _ => "what was counted does not explain the time",
    }
}

/// Below this share of its nearest roof a kernel does not wait for it.
const FAR: f64 = 0.10;

/// What a kernel is bound by that reaches little of the roof which asks for the most time.
fn bound(kernel: &Kernel, by_roof: &str, side: &str) -> String {
    let most = kernel
        .headroom_low()
        .unwrap_or(1.0)
        .recip()
        .max(kernel.busiest_unit().map_or(0.0, |(_, busy)| busy));
    if most < FAR {
        format!("held up by latency, not by {side}:")
    } else {
        format!("{by_roof}, but")
    }
}

/// Whether it takes clearly less time than the work that follows from its shapes.
fn does_less(kernel: &Kernel) -> bool {
    kernel.provenance == Some(OriginKind::Algorithmic)
        && kernel.headroom().is_some_and(|headroom| headroom < 0.97)
}

/// Whether nothing but how busy its SMs were says that it is near its roofline: what was counted leaves it far.
fn is_near_by_units(kernel: &Kernel) -> bool {
    kernel.confidence == Some(Confidence::Possible)
        && kernel.headroom().is_some_and(|headroom| headroom > roofline::NEAR)
}

/// Says that warps wait, where work and utilization together leave every unit idle.
fn idle(kernel: &Kernel) -> Option<String> {
    let counted = kernel.headroom_low().map(f64::recip);
    let busiest = kernel.busiest_unit().map(|(_, busy)| busy);
    // Without a bound of the work, what is known of the SMs stands in for it.
    let is_known = counted.is_some_and(|share| share > 0.0)
        || kernel.average(Quantity::SmThroughput).is_some();
    let most = counted.into_iter().chain(busiest).filter(|_| is_known).reduce(f64::max)?;
    // Single launches may keep a unit busier.
    let on_average = if kernel.launches > 1 { " on average" } else { "" };
    (most < roofline::BUSY).then(|| {
        format!(
            "latency-bound: no unit is busier than {:.0}%{on_average}; warps wait for memory or for \
             instructions",
            100.0 * most
        )
    })
}

/// Share of the time by which a unit is busier than the roof is reached from which it does something else as well.
const BESIDE: f64 = 0.10;

/// Names the unit that is busy beside a roof that is not reached.
fn beside(kernel: &Kernel) -> String {
    let reached = kernel.headroom().map_or(0.0, f64::recip);
    let unit = kernel.busiest_unit();
    let unit = unit.filter(|(_, busy)| *busy >= roofline::BUSY && *busy >= reached + BESIDE);
    unit.map_or_else(String::new, |(unit, busy)| format!("; {unit} {:.0}% busy", busy * 100.0))
}

/// Says what keeps a kernel from being judged, and the step that helps.
fn not_enough(kernel: &Kernel) -> &'static str {
    if kernel.timed == 0 {
        "not enough data: no launch has a time; `rooflint inspect` names what is missing"
    } else if kernel.lacks_roofs() {
        // Another metric would not help.
        "not enough data: what was counted has no roofs; set the device with --device NAME, or add its figures with --devices FILE"
    } else {
        "not enough data: run `rooflint inspect` for the command that collects the missing metrics"
    }
}

/// Describes a kernel of which only the grid says why it is slow.
fn little_parallelism(kernel: &Kernel) -> String {
    let blocks = match kernel.shape.blocks {
        None => "few blocks".to_owned(),
        Some(1) => "one block".to_owned(),
        Some(blocks) => format!("{blocks} blocks"),
    };
    let Some(threads) = kernel.shape.threads_per_block else {
        return format!("too little parallelism to hide latency: only {blocks}");
    };
    if threads < roofline::THREADS_PER_BLOCK {
        let threads = match threads {
            1 => "one thread".to_owned(),
            threads => format!("{threads} threads"),
        };
        format!("too little parallelism to hide latency: {blocks} of only {threads}")
    } else {
        format!("too little parallelism to hide latency: only {blocks} of {threads} threads")
    }
}

fn by_limiter(kernel: &Kernel) -> String {
    let percent =
        |quantity: Quantity| kernel.average(quantity).map(|value| (value * 100.0).round());
    match kernel.state {
        State::Flagged | State::Fair | State::LowImpact | State::Possible | State::Waived => {
            match kernel.limiter {
                Limiter::Latency => little_parallelism(kernel),
                Limiter::Math if kernel.math_time.is_none() => idle(kernel).unwrap_or_else(|| {
                    format!(
                        "limited by the SMs according to their utilization; {}",
                        kernel.why_no_math_time()
                    )
                }),
                Limiter::Memory => {
                    let reaches = reaches(kernel);
                    let occupancy = percent(Quantity::AchievedOccupancy)
                        .map_or_else(String::new, |value| format!("; achieved occupancy {value}%"));
                    let busy = beside(kernel);
                    let bound = bound(kernel, "memory-bound", "memory");
                    if kernel.has_bytes_of_some() {
                        let share = 100.0 / kernel.headroom().unwrap_or(f64::INFINITY);
                        return format!(
                            "memory-bound, at least {share:.0}% of the memory roof: bytes were counted in {} of {} \
                             launches{busy}{occupancy}",
                            kernel.counted, kernel.launches
                        );
                    }
                    format!("{bound} {reaches} of the memory roof{busy}{occupancy}")
                }
                Limiter::Math => {
                    let reaches = reaches(kernel);
                    let pipe = kernel
                        .work
                        .iter()
                        .max_by(|one, two| one.time.get().total_cmp(&two.time.get()))
                        .map_or("math", |work| work.pipe.label());
                    let busy = beside(kernel);
                    let bound = bound(kernel, "compute-bound", "computing");
                    format!("{bound} {reaches} of the {pipe} roof{busy}")
                }
                Limiter::Unknown => idle(kernel).unwrap_or_else(|| {
                    let busy = beside(kernel);
                    format!("limiter unknown, because {}{busy}", unknown_side(kernel))
                }),
            }
        }
        State::NearRoofline if does_less(kernel) => {
            "faster than the work that its shapes ask for: it does less, as \
            Winograd and reuse in a cache do, so how far it is from its roof is not known"
                .to_owned()
        }
        State::NearRoofline if kernel.is_by_busy_time() || is_near_by_units(kernel) => {
            "the SMs are busy: which pipe is, and \
            whether with useful work, shows only where operations and pipes are counted"
                .to_owned()
        }
        State::NearRoofline if kernel.may_be_overcounted() || is_unstated(kernel) => {
            match (is_unstated(kernel), kernel.headroom()) {
                (true, Some(headroom)) if headroom < 1.0 => {
                    "its precision is not known: above the roofs of 16-bit work, it must be narrower"
                }
                (true, Some(headroom)) if headroom > roofline::NEAR => {
                    "at its roof if it computes in FP32 without tensor cores: its precision is not known"
                }
                (true, _) => "at its roof if its work is 16-bit or TF32: its precision is not known",
                (false, _) => "at its roof if all that was counted was done: the count may be too high",
            }
            .to_owned()
        }
        State::NearRoofline => match kernel.limiter {
            Limiter::Memory => "at the memory roof: only moving fewer bytes helps (fusion, \
                smaller types)"
                .to_owned(),
            Limiter::Math => "at the compute roof: only less work or a faster pipe helps (tensor \
                cores, lower precision)"
                .to_owned(),
            _ => "at its roof".to_owned(),
        },
        State::LaunchBound => "dominated by launch overhead: fuse launches, use CUDA or HIP \
            graphs, or larger batches"
            .to_owned(),
        State::CacheResident => "served by the caches: compare it with the L2 roof, not with DRAM \
            bandwidth"
            .to_owned(),
        State::FasterThanRoofline => "faster than the model allows, so not ranked: check device, \
            clocks and metrics"
            .to_owned(),
        State::NotEnoughData => not_enough(kernel).to_owned(),
        State::NotRoofline => "limited by link bandwidth and overlap, not by this \
            roofline"
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Analysis, Confidence, Kernel, State};
    use crate::ingest::{Options, read_text};
    use crate::roofline::Limiter;
    use crate::session::Session;

    /// A table on a GPU of 616 GB/s and 13.4 TFLOP/s.
    fn analysis(table: String) -> Analysis {
        let profile = read_text("table.csv", table.leak(), &Options::default()).unwrap();
        let session = Session::default().on(Some("RTX 2080 Ti".to_owned()));
        session.analyze(&profile).unwrap()
    }

    /// Its only kernel.
    fn kernel(table: String) -> Kernel {
        analysis(table).kernels.remove(0)
    }

    fn meaning(table: String) -> String {
        kernel(table).meaning()
    }

    /// A collective of 1 MB in 400 µs: what links it waits for, no roof of the device knows.
    #[test]
    fn communication_has_no_roofline() {
        let kernel = |name: &str| {
            kernel(format!(
                "source,kernel,device_ordinal,launches,grid_x,blocks,threads_per_block,duration_s,dram_bytes,l2_bytes,\
                 flops_fp32_vector\nrun,{name},0,1,4096,4096,256,400e-6,1e6,2e6,1e6\n"
            ))
        };
        let local = kernel("vector_add");
        assert!(local.headroom().is_some() && local.structural.is_some());
        let collective = kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL");
        assert_eq!(collective.state, State::NotRoofline);
        let times = [collective.roofline_time, collective.structural, collective.hierarchical()];
        assert_eq!(times, [None; 3]);
        assert_eq!((collective.headroom(), collective.headrooms), (None, None));
        assert_eq!(collective.limiter, Limiter::Unknown);
        // What was counted stays.
        assert_eq!(collective.bytes, local.bytes);
        assert_eq!(collective.memory_time, local.memory_time);
    }

    /// Counters are selected, whichever profiler's launches they were joined with: of a product on tensor cores FP32
    /// operations and bytes say little. Pascal has no tensor cores; what a user states is all of it.
    #[test]
    fn selected_counters_leave_room_for_what_they_do_not_count() {
        let on = |device: &str, format: &str, name: &str| {
            let table = format!(
                "source,source_format,kernel,device,device_ordinal,launches,grid_x,blocks,threads_per_block,duration_s,\
                 dram_bytes,flops_fp64_vector,flops_fp32_vector,flops_fp16_vector\n\
                 run,{format},{name},{device},0,1,4096,4096,256,400e-6,1e6,0,4e6,0\n"
            );
            let profile = read_text("table.csv", table.leak(), &Options::default()).unwrap();
            let kernel = Session::default().analyze(&profile).unwrap().kernels.remove(0);
            (kernel.state, kernel.has_savings())
        };
        let product = "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn";
        for format in ["ncu-wide", "nsys-trace", "nvprof-trace", "pytorch-trace", "rocprof-v3"] {
            let found = on("A100 SXM4 40GB", format, product);
            assert_eq!(found, (State::NotEnoughData, false), "{format}");
        }
        assert_eq!(on("A100 SXM4 40GB", "mapped", product), (State::Flagged, true));
        let found = on("GeForce GTX 1080 Ti", "nvprof-trace", "matrixMulCUDA");
        assert_eq!(found, (State::Flagged, true));
        // Of bytes alone it does not follow that a product multiplies nothing.
        let table = "source,source_format,kernel,device,device_ordinal,launches,grid_x,blocks,threads_per_block,duration_s,\
             dram_bytes\nrun,nvprof-trace,matrixMulCUDA,GeForce GTX 1080 Ti,0,1,4096,4096,256,400e-6,1e6\n";
        let profile = read_text("table.csv", table, &Options::default()).unwrap();
        assert!(!Session::default().analyze(&profile).unwrap().kernels[0].has_savings());
    }

    /// Busy multiprocessors say how long the work took that was done, not how much of it was needed.
    #[test]
    fn busy_multiprocessors_bound_the_ratio_on_one_side() {
        let table = |bytes: &str| {
            format!(
                "source,kernel,device_ordinal,launches,grid_x,blocks,threads_per_block,duration_s,\
                 dram_bytes,sm_throughput\nrun,gemm,0,1,4096,4096,256,400e-6,{bytes},0.8\n"
            )
        };
        let launch = |bytes: &str| kernel(table(bytes));
        let near = |one: f64, two: f64| (one - two).abs() < 1e-9 * two;
        // 61.6 MB take 100 µs, and nobody knows what else is needed of the 320 µs.
        let kernel = launch("61.6e6");
        let (most, least) = kernel.headroom_ends().unwrap();
        assert!(near(most, 4.0) && near(least, 1.25), "{least}–{most}");
        assert!(near(kernel.savings_high.get(), 300e-6), "{:?}", kernel.savings_high);
        assert_eq!(
            (kernel.state, kernel.confidence),
            (State::NearRoofline, Some(Confidence::Possible))
        );
        assert!(kernel.reason.to_string().starts_with("at least 1.25× the roofline time"));
        // What would say more is asked for.
        let lacking = analysis(table("61.6e6")).lacking;
        assert!(lacking.iter().any(|lack| lack.need.what == "FP32 operations"));
        // Next to nothing is certainly needed.
        assert_eq!(launch("61.6e3").headroom_ends().unwrap().0, f64::INFINITY);
    }

    /// FP32 work of 100 of 400 µs was counted, and SMs were busy for 93% of the time: with what, nobody knows.
    #[test]
    fn busy_multiprocessors_alone_make_no_kernel_near_its_roofline() {
        let table = |doubles: &str| {
            format!(
                "source,source_format,kernel,device_ordinal,launches,grid_x,blocks,threads_per_block,duration_s,\
                 dram_bytes,sm_throughput,flops_fp32_vector,flops_fp32_vector_origin,flops_fp64_vector\n\
                 run,ncu-wide,k,0,1,4096,4096,256,400e-6,1e6,0.93,1.34e9,measured,{doubles}\n"
            )
        };
        let open = kernel(table(""));
        assert_eq!(
            (open.state, open.confidence),
            (State::NearRoofline, Some(Confidence::Possible)),
            "{}",
            open.reason
        );
        assert!(open.meaning().starts_with("the SMs are busy"), "{}", open.meaning());
    }

    /// 4.8 GFLOP at 13.4 TFLOP/s take 358 of 400 µs; a tenth of them takes 35.8 µs, and half as much again 537.
    #[test]
    fn a_count_that_may_be_too_high_bounds_the_ratio_from_below() {
        let counted = |operations: &str, bounds: &str| {
            kernel(format!(
                "source,kernel,device_ordinal,launches,grid_x,blocks,threads_per_block,duration_s,dram_bytes,\
                 flops_fp32_vector,flops_fp32_vector_origin,flops_fp32_vector_low,flops_fp32_vector_high\n\
                 run,k,0,1,4096,4096,256,400e-6,1e6,{operations},measured,{bounds}\n"
            ))
        };
        let launch = |bounds: &str| counted("4.8e9", bounds);
        let near = |one: f64, two: f64| (one / two - 1.0).abs() < 5e-3;
        let exact = launch(",");
        let (most, least) = exact.headroom_ends().unwrap();
        assert!(near(most, 400.0 / 358.0) && near(least, most), "{least}–{most}");
        assert_eq!(
            (exact.state, exact.confidence),
            (State::NearRoofline, Some(Confidence::Certain))
        );
        let open = launch("0.1,1");
        let (most, least) = open.headroom_ends().unwrap();
        assert!(near(most, 4000.0 / 358.0) && near(least, 400.0 / 358.0), "{least}–{most}");
        assert_eq!(
            (open.state, open.confidence),
            (State::NearRoofline, Some(Confidence::Possible))
        );
        assert!(open.reason.to_string().starts_with("at least 1.12× "), "{}", open.reason);
        assert!(open.meaning().ends_with("the count may be too high"), "{}", open.meaning());
        assert!(near(open.savings_high.get(), 400e-6 - 35.8e-6), "{:?}", open.savings_high);
        let both = launch("0.1,1.5");
        let (most, least) = both.headroom_ends().unwrap();
        assert!(near(most, 4000.0 / 358.0) && near(least, 1.0), "{least}–{most}");
        assert!(both.reason.to_string().starts_with("up to 11.2× "), "{}", both.reason);
        let far = counted("3e9", "0.1,1").meaning();
        assert_eq!(far, "compute-bound, but reaches at most 56% of the fp32 roof");
    }

    #[test]
    fn a_kernel_that_does_less_than_its_shapes_ask_for_is_not_at_its_roof() {
        // 2·32·64·56²·64·9 operations take 552 µs; Winograd does a quarter of them.
        let winograd = meaning(
            "\"Op\",\"Kernel\",\"Params\",\"Sil(ns)\",\"Grid\",\"Block\"\n\
             \"conv2d\",\"volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1\",\
             \"N=32,C=64,H=56,W=56,K=64,P=56,Q=56,R=3,S=3,ph=1,pw=1,U=1,V=1,dh=1,dw=1,g=1,fp32,\",\
             \"400000\",\"1792,1,1\",\"256,1,1\"\n"
                .to_owned(),
        );
        assert!(winograd.starts_with("faster than the work that its shapes ask for"), "{winograd}");
    }

    #[test]
    fn work_within_bounds_reaches_a_range_of_the_roof() {
        // The gradient of a pooling moves 51.4 MB at least, up to 8 times as much: 83.4 to 667 µs.
        let pooling = |nanoseconds: u32| {
            meaning(format!(
                "\"Direction\",\"Sub\",\"Op\",\"Params\",\"Sil(ns)\",\"Grid\",\"Block\"\n\
                 \"bprop\",\"1\",\"max_pool2d\",\"T=[(32,64,112,112)],['float16']\",\
                 \"{nanoseconds}\",\"49,32,64\",\"256,1,1\"\n"
            ))
        };
        let begins = "memory-bound, but";
        assert_eq!(pooling(1_200_488), format!("{begins} reaches only 7–56% of the memory roof"));
        assert_eq!(pooling(600_000), format!("{begins} may reach only 14% of the memory roof"));
    }

    #[test]
    fn counted_work_reaches_a_share_and_busy_multiprocessors_are_no_compute_roof() {
        // 61.6 MB take 100 µs.
        let launch = |microseconds: u32, bytes: &str, busy: &str| {
            meaning(format!(
                "source,kernel,device_ordinal,launches,grid_x,blocks,threads_per_block,duration_s,\
                 dram_bytes,sm_throughput\n\
                 run,gemm,0,1,4096,4096,256,{microseconds}e-6,{bytes},{busy}\n"
            ))
        };
        assert_eq!(
            launch(400, "61.6e6", "0.1"),
            "memory-bound, but reaches only 25% of the memory roof"
        );
        let busy = launch(400, "61.6e6", "0.97");
        assert!(busy.starts_with("the SMs are busy: which pipe is"), "{busy}");
    }
}
