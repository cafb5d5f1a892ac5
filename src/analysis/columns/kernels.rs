//! The list of a kernel's figures; then what its name tells, and the quantities of its launches.

use super::{Column, Get, Place, named};
use crate::analysis::{Analysis, Binding, Confidence, Kernel, State};
use crate::model::{MemoryLevel, OriginKind, Quantity};
use crate::roofline::Limiter;
use crate::table::{Cell, Form};
use crate::units::Seconds;

type Of = for<'a> fn(&'a Analysis, &'a Kernel) -> Option<Cell<'a>>;

/// A figure of every report.
fn column(name: &str, form: Form, about: &str, get: Of) -> Column {
    Column::new(name, form, about, Get::Kernel(get)).shown_in(Place::Report)
}

/// A figure that JSON has within what it belongs to.
fn nested(name: &str, form: Form, about: &str, get: Of) -> Column {
    column(name, form, about, get).shown_in(Place::Nested)
}

/// A figure for custom rules.
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
        column("rank", Count, "place in the ranking, from 1", |_, kernel| {
            Some(Cell::Count(kernel.rank as u64))
        })
        .always(),
        column("name", Text, "short name", |_, kernel| Some(Cell::word(&kernel.name))).always(),
        column("full_name", Text, "name as the profiler wrote it", |_, kernel| {
            Some(Cell::word(&kernel.full_name))
        })
        .always(),
        column("operator", Text, "framework operator and its parameters", |_, kernel| {
            kernel.operator.as_deref().map(Cell::word)
        }),
        column("device", Text, "name of the device", |analysis, kernel| {
            Some(Cell::word(analysis.devices[kernel.device].name()))
        })
        .always(),
        column("blocks", Count, "blocks of the grid", |_, kernel| {
            kernel.shape.blocks.map(Cell::Count)
        }),
        column("threads_per_block", Count, "threads of a block", |_, kernel| {
            kernel.shape.threads_per_block.map(Cell::Count)
        }),
        column("launches", Count, "executions", |_, kernel| Some(Cell::Count(kernel.launches)))
            .always(),
    ]
}

fn measured() -> Vec<Column> {
    use Form::{Number, Share, Text};
    vec![
        column("measured_s", Number("s"), "measured time of all launches", |_, kernel| {
            seconds(is_timed(kernel).then_some(kernel.measured))
        }),
        asked("mean_s", Number("s"), "measured time of one launch on average", |_, kernel| {
            seconds(is_timed(kernel).then(|| kernel.mean()))
        }),
        asked(
            "judged_s",
            Number("s"),
            "measured time of the launches that were judged; expected time is that of these",
            |_, kernel| seconds(is_timed(kernel).then_some(kernel.modeled)),
        ),
        column("share", Share, "measured time over that of the run", |_, kernel| {
            is_timed(kernel).then_some(Cell::Number(kernel.share))
        }),
        column(
            "flops",
            Number("FLOP"),
            "floating-point operations of all launches; a fused multiply-add counts 2",
            |_, kernel| kernel.flops.map(|flops| Cell::Number(flops.get())),
        ),
        column(
            "integer_operations",
            Number("OP"),
            "integer operations on tensor cores",
            |_, kernel| kernel.integer_operations.map(|operations| Cell::Number(operations.get())),
        ),
        column(
            "bytes",
            Number("B"),
            "bytes to and from device memory, of all launches",
            |_, kernel| kernel.bytes.map(|bytes| Cell::Number(bytes.get())),
        ),
        column("provenance", Text, "how bytes and operations came about", |_, kernel| {
            Some(Cell::word(kernel.provenance_label()))
        })
        .always()
        .of(OriginKind::ALL.map(OriginKind::label).into_iter().chain(["none"])),
    ]
}

/// What the algorithm needs, where a closed form describes the kernel.
fn needed() -> Vec<Column> {
    use Form::{Factor, Number};
    vec![
        nested(
            "algorithmic_operations",
            Number("OP"),
            "operations that the closed form needs, of all launches",
            |_, kernel| {
                let needed = kernel.algorithmic.as_deref()?;
                Some(Cell::Number(needed.operations.get() * kernel.launches as f64))
            },
        ),
        nested(
            "algorithmic_bytes",
            Number("B"),
            "compulsory bytes of the closed form, of all launches",
            |_, kernel| {
                let needed = kernel.algorithmic.as_deref()?;
                Some(Cell::Number(needed.bytes.get() * kernel.launches as f64))
            },
        ),
        nested("traffic_factor", Factor, "bytes counted over compulsory ones", |_, kernel| {
            kernel.algorithmic.as_deref()?.traffic_factor.map(Cell::Number)
        }),
        nested("work_factor", Factor, "operations counted over needed ones", |_, kernel| {
            kernel.algorithmic.as_deref()?.work_factor.map(Cell::Number)
        }),
    ]
}

fn intensity() -> Vec<Column> {
    use Form::Number;
    vec![
        column(
            "arithmetic_intensity_flop_per_byte",
            Number("FLOP/B"),
            "FLOPs over bytes",
            |_, kernel| kernel.intensity.map(|intensity| Cell::Number(intensity.get())),
        ),
        column(
            "ridge_point_flop_per_byte",
            Number("FLOP/B"),
            "where the kernel's own compute roof meets the memory roof",
            |_, kernel| kernel.ridge_point.map(|ridge| Cell::Number(ridge.get())),
        ),
    ]
}

fn roofline_time() -> Vec<Column> {
    use Form::{Factor, Number, Text, Truth};
    vec![
        column("t_mem_s", Number("s"), "time its bytes need at least", |_, kernel| {
            seconds(kernel.memory_time)
        }),
        column("t_math_s", Number("s"), "time its operations need at least", |_, kernel| {
            seconds(kernel.math_time)
        }),
        nested("t_l1_s", Number("s"), "time its L1 traffic needs at least", |_, kernel| {
            seconds(kernel.level_time(MemoryLevel::L1))
        }),
        nested(
            "t_shared_s",
            Number("s"),
            "time its shared-memory traffic needs at least",
            |_, kernel| seconds(kernel.level_time(MemoryLevel::Shared)),
        ),
        column("t_l2_s", Number("s"), "time its L2 traffic needs at least", |_, kernel| {
            seconds(kernel.level_time(MemoryLevel::L2))
        }),
        nested(
            "t_system_s",
            Number("s"),
            "time its traffic to and from the host's memory needs at least",
            |_, kernel| seconds(kernel.level_time(MemoryLevel::System)),
        ),
        nested(
            "t_peer_s",
            Number("s"),
            "time its traffic to and from other devices needs at least",
            |_, kernel| seconds(kernel.level_time(MemoryLevel::Peer)),
        ),
        column("roofline_s", Number("s"), "the longer of memory and math time", |_, kernel| {
            seconds(kernel.roofline_time)
        }),
        column(
            "hierarchical_s",
            Number("s"),
            "expected time if every level of the memory hierarchy counts; missing where only DRAM \
             was counted",
            |_, kernel| seconds(kernel.hierarchical),
        ),
        column("binding", Text, "what needs the longest of its times", |_, kernel| {
            kernel.binding().map(|binding| Cell::word(binding.key()))
        })
        .of(std::iter::once(Binding::Math)
            .chain(MemoryLevel::ALL.map(Binding::Memory))
            .map(Binding::key)),
        asked(
            "roofline_likely_s",
            Number("s"),
            "the most the expected time is likely to be, by what the kernel is; missing if unbounded",
            |_, kernel| seconds(kernel.roofline_time_likely),
        ),
        column(
            "roofline_high_s",
            Number("s"),
            "the most the expected time can be, given what was not counted; missing if unbounded",
            |_, kernel| seconds(kernel.roofline_time_high),
        ),
        column(
            "roofline_is_lower_bound",
            Truth,
            "whether `roofline_s` leaves out work that nobody counted",
            |_, kernel| Some(Cell::Truth(kernel.is_lower_bound())),
        )
        .always(),
        column(
            "structural_s",
            Number("s"),
            "what remains if only the implementation improves",
            |_, kernel| seconds(kernel.structural),
        ),
        column("headroom", Factor, "measured over expected time", |_, kernel| {
            kernel.headroom.map(Cell::Number)
        }),
        column("headroom_low", Factor, "headroom that is certain", |_, kernel| {
            kernel.headroom_low.map(Cell::Number)
        }),
    ]
}

fn concluded() -> Vec<Column> {
    use Form::{Factor, Number, Share, Text};
    vec![
        column("limiter", Text, "what the algorithm meets first", |_, kernel| {
            Some(Cell::word(kernel.limiter.label()))
        })
        .always()
        .of(Limiter::ALL.map(Limiter::label)),
        column("state", Text, "the conclusion", |_, kernel| Some(Cell::word(kernel.state.key())))
            .always()
            .of(State::ALL.map(State::key)),
        column("confidence", Text, "how sure the conclusion is", |_, kernel| {
            kernel.confidence.map(|confidence| Cell::word(confidence.label()))
        })
        .of(Confidence::ALL.map(Confidence::label)),
        column("reason", Text, "why it is in that state", |_, kernel| {
            Some(Cell::word(kernel.reason.as_str()))
        })
        .always(),
        column("meaning", Text, "what that means for the user, in a sentence", |_, kernel| {
            Some(Cell::Text(kernel.meaning().into()))
        })
        .always(),
        column(
            "savings_low_s",
            Number("s"),
            "the pessimistic end: what a rewrite wins that only just comes near its roofs, needs \
             all that was not counted, and moves as much through every level of memory as now",
            |_, kernel| seconds(kernel.state.is_modeled().then_some(kernel.savings_low)),
        ),
        column(
            "savings_s",
            Number("s"),
            "time that a better implementation can win",
            |_, kernel| seconds(kernel.state.is_modeled().then_some(kernel.savings)),
        ),
        column(
            "savings_high_s",
            Number("s"),
            "the optimistic end: measured minus expected time; minus the least known where only \
             utilization is",
            |_, kernel| seconds(kernel.state.is_modeled().then_some(kernel.savings_high)),
        ),
        column("run_speedup", Factor, "speed-up of the run if `savings_s` is won", |_, kernel| {
            kernel.state.is_modeled().then_some(Cell::Number(kernel.run_speedup))
        }),
        column(
            "coverage",
            Share,
            "share of what the run can win that it and those above it hold; missing where it can \
             win nothing",
            |_, kernel| kernel.coverage.map(Cell::Number),
        ),
        column("group", Text, "the group it is counted in", |_, kernel| {
            Some(Cell::word(&kernel.group))
        })
        .always(),
    ]
}

/// Work and the traffic of the memory hierarchy add up over the launches; what does not add up is
/// averaged by time. Time and the bytes of device memory stand above.
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
            other => (Get::Average(other), "average over the launches by time"),
        };
        let about = format!("{} ({over})", quantity.about().trim_end_matches('.'));
        all.push(Column::new(&quantity.column(), Form::Number(quantity.unit()), &about, get));
    }
    all
}

/// A kernel of which nothing was timed has no time, rather than a time of zero.
fn is_timed(kernel: &Kernel) -> bool {
    kernel.measured > Seconds::ZERO
}

fn seconds(time: Option<Seconds>) -> Option<Cell<'static>> {
    time.map(|time| Cell::Number(time.get()))
}
