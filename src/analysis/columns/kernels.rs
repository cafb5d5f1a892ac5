//! The columns of a kernel: figures, facts from its name, and quantities of its launches.

use super::{Column, Get, Place, named};
use crate::analysis::{Analysis, Binding, Confidence, Kernel, State};
use crate::model::{MemoryLevel, OriginKind, Quantity};
use crate::roofline::Limiter;
use crate::table::{Cell, Form};
use crate::units::Seconds;

type Of = for<'a> fn(&'a Analysis, &'a Kernel) -> Option<Cell<'a>>;

/// Makes a column of every report.
fn column(name: &str, form: Form, about: &str, get: Of) -> Column {
    Column::new(name, form, about, Get::Kernel(get)).shown_in(Place::Report)
}

/// Makes a column that JSON nests in the object it belongs to.
fn nested(name: &str, form: Form, about: &str, get: Of) -> Column {
    column(name, form, about, get).shown_in(Place::Nested)
}

/// Makes a column for custom rules.
fn asked(name: &str, form: Form, about: &str, get: Of) -> Column {
    column(name, form, about, get).shown_in(Place::Rules)
}

pub(super) fn columns() -> Vec<Column> {
    let mut all = identity();
    all.extend(measured());
    all.extend(needed());
    all.extend(intensity());
    all.extend(roofline_time());
    all.extend(concluded());
    all.extend(named::columns());
    all.extend(quantities());
    all
}

fn identity() -> Vec<Column> {
    use Form::{Count, Text};
    vec![
        column("rank", Count, "rank, from 1", |_, kernel| Some(Cell::Count(kernel.rank as u64)))
            .always(),
        column("name", Text, "short name", |_, kernel| Some(Cell::word(&kernel.name))).always(),
        column("full_name", Text, "name as written by the profiler", |_, kernel| {
            Some(Cell::word(&kernel.full_name))
        })
        .always(),
        column("operator", Text, "framework operator and its parameters", |_, kernel| {
            kernel.operator.as_deref().map(Cell::word)
        }),
        column(
            "place",
            Text,
            "modules, lines or function that made its longest launch",
            |_, kernel| kernel.place.as_deref().map(Cell::word),
        ),
        column("device", Text, "name of the device", |analysis, kernel| {
            Some(Cell::word(analysis.devices[kernel.device].name()))
        })
        .always(),
        column("blocks", Count, "blocks in the grid", |_, kernel| {
            kernel.shape.blocks.map(Cell::Count)
        }),
        column("threads_per_block", Count, "threads per block", |_, kernel| {
            kernel.shape.threads_per_block.map(Cell::Count)
        }),
        column("launches", Count, "number of launches", |_, kernel| {
            Some(Cell::Count(kernel.launches))
        })
        .always(),
        column(
            "timed_launches",
            Count,
            "launches that have a duration, where some have none",
            |_, kernel| {
                let lacks_some = is_timed(kernel) && kernel.timed < kernel.launches;
                lacks_some.then_some(Cell::Count(kernel.timed))
            },
        ),
    ]
}

fn measured() -> Vec<Column> {
    use Form::{Number, Share, Text};
    vec![
        column("measured_s", Number("s"), "measured time of all launches", |_, kernel| {
            seconds(is_timed(kernel).then_some(kernel.measured))
        }),
        asked("mean_s", Number("s"), "mean measured time of one launch", |_, kernel| {
            seconds(is_timed(kernel).then(|| kernel.mean()))
        }),
        asked(
            "judged_s",
            Number("s"),
            "measured time of the launches that the model covers, to which roofline time refers",
            |_, kernel| seconds(is_timed(kernel).then_some(kernel.modeled)),
        ),
        column("share", Share, "share of the measured time of the run", |analysis, kernel| {
            let share = || Cell::Number(analysis.totals.share(kernel.measured));
            is_timed(kernel).then(share)
        }),
        column(
            "concurrent_s",
            Number("s"),
            "time of it during which other streams of its GPU computed; missing if none did, and for communication and copies",
            |_, kernel| seconds(Some(kernel.shared()).filter(|time| *time > Seconds::ZERO)),
        ),
        column(
            "flops",
            Number("FLOP"),
            "floating-point operations of all launches; a fused multiply-add counts 2",
            |_, kernel| kernel.flops().map(|flops| Cell::Number(flops.get())),
        ),
        column(
            "integer_operations",
            Number("OP"),
            "integer operations on tensor cores",
            |_, kernel| {
                kernel.integer_operations().map(|operations| Cell::Number(operations.get()))
            },
        ),
        column(
            "bytes",
            Number("B"),
            "bytes to and from device memory, of all launches",
            |_, kernel| kernel.bytes.map(|bytes| Cell::Number(bytes.get())),
        ),
        column("provenance", Text, "origin of bytes and operations", |_, kernel| {
            Some(Cell::word(kernel.provenance_label()))
        })
        .always()
        .of(OriginKind::ALL.map(OriginKind::label).into_iter().chain(["none"])),
    ]
}

/// Columns of the algorithm's needs, if a closed form describes the kernel.
fn needed() -> Vec<Column> {
    use Form::{Factor, Number};
    vec![
        nested(
            "algorithmic_operations",
            Number("OP"),
            "operations that the closed form needs, of all launches",
            |_, kernel| {
                let needed = kernel.algorithmic()?;
                Some(Cell::Number(needed.operations.get() * kernel.launches as f64))
            },
        ),
        nested(
            "algorithmic_bytes",
            Number("B"),
            "compulsory bytes of the closed form, of all launches",
            |_, kernel| {
                let needed = kernel.algorithmic()?;
                Some(Cell::Number(needed.bytes.get() * kernel.launches as f64))
            },
        ),
        nested("traffic_factor", Factor, "bytes counted over compulsory ones", |_, kernel| {
            kernel.algorithmic()?.traffic_factor.map(Cell::Number)
        }),
        nested("work_factor", Factor, "operations counted over needed ones", |_, kernel| {
            kernel.algorithmic()?.work_factor.map(Cell::Number)
        }),
    ]
}

fn intensity() -> Vec<Column> {
    use Form::Number;
    vec![
        column(
            "arithmetic_intensity_flop_per_byte",
            Number("FLOP/B"),
            "operations of the pipe that needs the most time over bytes, beside its ridge point; OP/B for integers; absent if they are not of the same launches",
            |_, kernel| {
                let intensity = kernel.busiest_intensity().or_else(|| kernel.intensity());
                intensity.map(|intensity| Cell::Number(intensity.get()))
            },
        ),
        column(
            "ridge_point_flop_per_byte",
            Number("FLOP/B"),
            "intensity at which the kernel's own compute roof meets the memory roof",
            |_, kernel| kernel.ridge_point().map(|ridge| Cell::Number(ridge.get())),
        ),
    ]
}

fn roofline_time() -> Vec<Column> {
    use Form::{Factor, Number, Text, Truth};
    vec![
        column("t_mem_s", Number("s"), "least time of its DRAM traffic", |_, kernel| {
            seconds(kernel.memory_time)
        }),
        column("t_math_s", Number("s"), "least time of its operations", |_, kernel| {
            seconds(kernel.math_time)
        }),
        nested("t_l1_s", Number("s"), "least time of its L1 traffic", |_, kernel| {
            seconds(kernel.level_time(MemoryLevel::L1))
        }),
        nested(
            "t_shared_s",
            Number("s"),
            "least time of its shared-memory traffic",
            |_, kernel| seconds(kernel.level_time(MemoryLevel::Shared)),
        ),
        column("t_l2_s", Number("s"), "least time of its L2 traffic", |_, kernel| {
            seconds(kernel.level_time(MemoryLevel::L2))
        }),
        nested(
            "t_system_s",
            Number("s"),
            "least time of its traffic to and from host memory",
            |_, kernel| seconds(kernel.level_time(MemoryLevel::System)),
        ),
        nested(
            "t_peer_s",
            Number("s"),
            "least time of its traffic to and from other devices",
            |_, kernel| seconds(kernel.level_time(MemoryLevel::Peer)),
        ),
        column(
            "roofline_s",
            Number("s"),
            "roofline time: the longer of memory and math time; missing for communication and copies over links",
            |_, kernel| seconds(kernel.roofline_time),
        ),
        column(
            "hierarchical_s",
            Number("s"),
            "roofline time over all levels of the memory hierarchy; missing if only DRAM was \
             counted",
            |_, kernel| seconds(kernel.hierarchical()),
        ),
        column(
            "binding",
            Text,
            "what takes the longest of its times: math or a memory level",
            |_, kernel| kernel.binding().map(|binding| Cell::word(binding.key())),
        )
        .of(std::iter::once(Binding::Math)
            .chain(MemoryLevel::ALL.map(Binding::Memory))
            .map(Binding::key)),
        asked(
            "roofline_likely_s",
            Number("s"),
            "likely upper bound of the roofline time, by the kind of kernel; missing if unbounded",
            |_, kernel| seconds(kernel.roofline_time_likely),
        ),
        column(
            "roofline_high_s",
            Number("s"),
            "upper bound of the roofline time, given what was not counted; missing if unbounded",
            |_, kernel| seconds(kernel.roofline_time_high),
        ),
        column(
            "roofline_low_s",
            Number("s"),
            "part of the roofline time that is certainly needed: counts may be too high, or busy SMs stand in for them",
            |_, kernel| seconds(kernel.least_roofline_time()),
        ),
        column(
            "roofline_is_lower_bound",
            Truth,
            "true if `roofline_s` omits work that was not counted",
            |_, kernel| Some(Cell::Truth(kernel.is_lower_bound())),
        )
        .always(),
        column(
            "structural_s",
            Number("s"),
            "time that remains if only the implementation improves",
            |_, kernel| seconds(kernel.structural),
        ),
        column("headroom", Factor, "measured over roofline time", |_, kernel| {
            kernel.headroom().map(Cell::Number)
        }),
        column("headroom_low", Factor, "lower bound of headroom, if there is one", |_, kernel| {
            // Where the roofline time has no upper end, headroom has no lower one.
            kernel.headroom_low().filter(|low| *low > 0.0).map(Cell::Number)
        }),
    ]
}

fn concluded() -> Vec<Column> {
    use Form::{Factor, Number, Share, Text};
    vec![
        column("limiter", Text, "the first limit that the algorithm meets", |_, kernel| {
            Some(Cell::word(kernel.limiter.label()))
        })
        .always()
        .of(Limiter::ALL.map(Limiter::label)),
        column("state", Text, "conclusion on the kernel", |_, kernel| {
            Some(Cell::word(kernel.state.key()))
        })
        .always()
        .of(State::ALL.map(State::key)),
        column("confidence", Text, "confidence of the conclusion", |_, kernel| {
            kernel.confidence.map(|confidence| Cell::word(confidence.label()))
        })
        .of(Confidence::ALL.map(Confidence::label)),
        column("reason", Text, "reason of the state", |_, kernel| {
            Some(Cell::Text(kernel.reason.to_string().into()))
        })
        .always(),
        column("meaning", Text, "meaning for the user, in a sentence", |_, kernel| {
            Some(Cell::Text(kernel.meaning().into()))
        })
        .always(),
        column(
            "savings_low_s",
            Number("s"),
            "pessimistic savings: a rewrite only just comes near its roofs, does all uncounted \
             work, and asks as much of every pipe and memory level as now",
            |_, kernel| seconds(kernel.state.is_modeled().then_some(kernel.savings_low)),
        ),
        column(
            "savings_s",
            Number("s"),
            "potential savings: time that a better implementation could save",
            |_, kernel| seconds(kernel.state.is_modeled().then_some(kernel.savings)),
        ),
        column(
            "savings_high_s",
            Number("s"),
            "optimistic savings: measured time minus what is certainly needed of the roofline time",
            |_, kernel| seconds(kernel.state.is_modeled().then_some(kernel.savings_high)),
        ),
        column(
            "run_speedup",
            Factor,
            "speedup of the run if `savings_s` is realized",
            |analysis, kernel| {
                let speedup = || Cell::Number(analysis.totals.run_speedup(kernel.savings));
                kernel.state.is_modeled().then(speedup)
            },
        ),
        column(
            "coverage",
            Share,
            "cumulative share of the run's savings up to this rank; missing if it has no savings",
            |_, kernel| kernel.coverage.map(|share| Cell::Number(share.get())),
        ),
        column("group", Text, "group of the kernel", |analysis, kernel| {
            Some(Cell::word(analysis.group_name(kernel)))
        })
        .always(),
    ]
}

/// Returns the columns of quantities: work and traffic are summed over the launches, the rest is
/// averaged by time. Time and bytes of device memory are already listed.
fn quantities() -> Vec<Column> {
    let mut all = Vec::new();
    for quantity in Quantity::all() {
        let (get, over) = match quantity {
            Quantity::Work(pipe) => (Get::Work(pipe), "sum over the launches"),
            Quantity::DramBytes | Quantity::Peak(_) => continue,
            other if other.is_additive() => {
                match MemoryLevel::ALL.into_iter().find(|level| level.bytes() == other) {
                    Some(level) => (Get::Traffic(level), "sum over the launches"),
                    None => continue,
                }
            }
            other => (Get::Average(other), "time-weighted average over the launches"),
        };
        let about = format!("{} ({over})", quantity.about().trim_end_matches('.'));
        all.push(Column::new(&quantity.column(), Form::Number(quantity.unit()), &about, get));
    }
    all
}

/// Returns `true` if any launch was timed; otherwise the kernel has no time, rather than a time of
/// zero.
fn is_timed(kernel: &Kernel) -> bool {
    kernel.measured > Seconds::ZERO
}

fn seconds(time: Option<Seconds>) -> Option<Cell<'static>> {
    time.map(|time| Cell::Number(time.get()))
}
