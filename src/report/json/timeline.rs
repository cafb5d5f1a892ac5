//! The time of each GPU of a trace in the JSON report.

use schemars::JsonSchema;
use serde::Serialize;

use crate::analysis::{Analysis, IdleCauses, StepTime, Timeline};
use crate::units::{Bytes, Seconds};

/// The time of one GPU in one trace. `compute_s`, `exposed_communication_s`, `exposed_copy_s` and `idle_s` add up to
/// `span_s`; times of several GPUs are never added.
#[derive(Serialize, JsonSchema)]
pub(super) struct TimelineDocument<'a> {
    /// Path of the file.
    input: &'a str,
    /// Name of the device.
    device: &'a str,
    /// Number of the device in the file; `null` if it has none.
    ordinal: Option<&'a str>,
    /// Number of launches.
    launches: u64,
    /// From first start to last end of its work.
    span_s: f64,
    /// Time with any work: the union over streams.
    busy_s: f64,
    /// Time without any work: `span_s` less `busy_s`.
    idle_s: f64,
    /// Why it was idle; `null` where the file records no calls that launch work.
    idle_causes: Option<IdleDocument>,
    /// Time with a kernel of computation.
    compute_s: f64,
    /// Time with communication.
    communication_s: f64,
    /// Part of it without computation.
    exposed_communication_s: f64,
    /// Number of copies and fills; `null` if the file does not record them.
    copies: Option<u64>,
    /// Their times added up.
    copy_s: Option<f64>,
    /// Time with any of them running: copies at one time count once.
    copy_covered_s: Option<f64>,
    /// Part of it without a kernel.
    exposed_copy_s: Option<f64>,
    /// Bytes that they moved; `null` if one has no size.
    copy_bytes: Option<f64>,
    /// Greatest error of `busy_s`, where times are cut to whole microseconds; else 0.
    cut_s: f64,
    /// Steps of the training loop; empty if none was recorded.
    steps: Vec<StepDocument>,
}

/// Why a GPU was idle, by the call that launched the work at the end of each gap. The times add up to `idle_s`.
#[derive(Serialize, JsonSchema)]
struct IdleDocument {
    /// Number of gaps.
    gaps: u64,
    /// The host had not begun to launch the next work.
    host_s: f64,
    /// The same, and the thread that launched it later was in a call that synchronizes or copies.
    host_waiting_s: f64,
    /// The launch had begun after the GPU fell idle: the call itself and the start of the work.
    launch_s: f64,
    /// Part of these three in gaps of 1 ms and longer, which no launch takes.
    long_host_s: f64,
    /// Number of such gaps.
    long_gaps: u64,
    /// The next work was launched before, and the gap is shorter than 2 µs.
    short_s: f64,
    /// The next work was launched before: it waited for an event, another stream, a copy or another GPU.
    dependency_s: f64,
    /// The call that launched the next work is not in the trace.
    unknown_s: f64,
    /// Share of the launched work whose call launched other work, too: that of graphs.
    in_graphs: f64,
}

/// A step of the training loop on one GPU.
#[derive(Serialize, JsonSchema)]
struct StepDocument {
    /// As the profiler counts.
    step: u64,
    /// From its first work to the first of the next step, or to the end of its own where none follows at once.
    time_s: f64,
    /// Time with any work.
    busy_s: f64,
    /// Kernels that were launched in it.
    launches: u64,
    /// Whether no step follows at once, so that its time ends with its own work.
    is_last: bool,
}

pub(super) fn documents(analysis: &Analysis) -> Vec<TimelineDocument<'_>> {
    analysis.timelines.iter().map(|one| document(one, analysis)).collect()
}

fn document<'a>(one: &'a Timeline, analysis: &'a Analysis) -> TimelineDocument<'a> {
    let step = |step: &StepTime| StepDocument {
        step: step.number,
        time_s: step.time.get(),
        busy_s: step.busy.get(),
        launches: step.launches,
        is_last: step.is_last,
    };
    let causes = |causes: IdleCauses| IdleDocument {
        gaps: causes.gaps,
        host_s: causes.host.get(),
        host_waiting_s: causes.host_waiting.get(),
        launch_s: causes.launch.get(),
        long_host_s: causes.long_host.get(),
        long_gaps: causes.long_gaps,
        short_s: causes.short.get(),
        dependency_s: causes.dependency.get(),
        unknown_s: causes.unknown.get(),
        in_graphs: causes.in_graphs.get(),
    };
    let copies = one.copies;
    let of =
        |time: fn(&crate::analysis::Copies) -> Seconds| copies.as_ref().map(time).map(Seconds::get);
    TimelineDocument {
        input: analysis.sources.get(one.source).map_or("", |source| &source.path),
        device: analysis.devices.get(one.device).map_or("", |device| device.name()),
        ordinal: one.ordinal.as_deref(),
        launches: one.launches,
        span_s: one.span.get(),
        busy_s: one.busy.get(),
        idle_s: one.idle().get(),
        idle_causes: one.idle_causes.map(causes),
        compute_s: one.compute.get(),
        communication_s: one.communication.get(),
        exposed_communication_s: one.exposed_communication.get(),
        copies: copies.map(|copies| copies.count),
        copy_s: of(|copies| copies.time),
        copy_covered_s: of(|copies| copies.covered),
        exposed_copy_s: of(|copies| copies.exposed),
        copy_bytes: copies.and_then(|copies| copies.bytes).map(Bytes::get),
        cut_s: one.cut.get(),
        steps: one.steps.iter().map(step).collect(),
    }
}
