//! Traces without a kernel: why there is none.

use super::ranks::Ranks;
use crate::ingest::{IngestError, Reading};
use crate::plain::counted;

/// Why there is nothing to analyze.
pub(super) fn without_kernels(reading: &Reading<'_>, ranks: &Ranks) -> IngestError {
    const RECORD: &str = "record the GPU: torch.profiler.profile(activities=[ProfilerActivity.CPU, \
        ProfilerActivity.CUDA], record_shapes=True), and let the work end before the profiler stops \
        (torch.cuda.synchronize())";
    let moved = ranks.sum(|of| of.moved.len() as u64);
    let launching = ranks.sum(|of| of.launching.len() as u64);
    let calls = ranks.sum(|of| of.calls.len() as u64);
    if let Some(skip) = reading.source.skips.first.first() {
        let events = counted(reading.source.skips.count, "event", "events");
        return reading
            .error(format!("no kernel can be read of {events}: {}: {:?}", skip.reason, skip.text))
            .column(skip.column.clone())
            .help("write the trace again: a list of events, each with its start (ts) and length (dur) in microseconds");
    }
    if ranks.sum(|of| of.replays) > 0 {
        return reading
            .error("the trace has counters of replayed ranges and no kernels")
            .help("record it without experimental_config: counters are read from `ncu`");
    }
    if moved > 0 {
        return reading
            .error(format!(
                "the trace has {} and no kernels",
                counted(moved, "copy or fill", "copies and fills")
            ))
            .help(RECORD);
    }
    if launching > 0 {
        return reading
            .error(format!(
                "the trace launches {} and has no GPU work: the profiler did not record the GPU",
                counted(launching, "kernel", "kernels")
            ))
            .help(RECORD);
    }
    if calls > 0 {
        return reading
            .error(format!(
                "the trace has no GPU work: {} ran on the CPU only, or the GPU was not recorded",
                counted(calls, "operator", "operators")
            ))
            .help(RECORD);
    }
    reading.error("the trace has no GPU work").help(RECORD)
}
