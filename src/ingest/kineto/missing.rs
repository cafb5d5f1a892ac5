//! Traces without a kernel: why there is none.

use super::gathered::Gathered;
use crate::ingest::{IngestError, Reading};
use crate::plain::counted;

/// Why there is nothing to analyze.
pub(super) fn without_kernels(reading: &Reading<'_>, gathered: &Gathered) -> IngestError {
    const RECORD: &str = "record the GPU: torch.profiler.profile(activities=[ProfilerActivity.CPU, \
        ProfilerActivity.CUDA], record_shapes=True), and let the work end before the profiler stops \
        (torch.cuda.synchronize())";
    let Gathered { moved, launching, calls, replays, .. } = gathered;
    if let Some(skip) = reading.source.skips.first.first() {
        let events = counted(reading.source.skips.count, "event", "events");
        return reading
            .error(format!("no kernel can be read of {events}: {}: {:?}", skip.reason, skip.text))
            .column(skip.column.clone())
            .help("write the trace again; times are numbers of microseconds with a decimal point");
    }
    if *replays > 0 {
        return reading
            .error("the trace has counters of replayed ranges and no kernels")
            .help("record it without experimental_config: counters are read from `ncu`");
    }
    if !moved.is_empty() {
        return reading
            .error(format!(
                "the trace has {} and no kernels",
                counted(moved.len() as u64, "copy or fill", "copies and fills")
            ))
            .help(RECORD);
    }
    if !launching.is_empty() {
        return reading
            .error(format!(
                "the trace launches {} and has no GPU work: the profiler did not record the GPU",
                counted(launching.len() as u64, "kernel", "kernels")
            ))
            .help(RECORD);
    }
    if !calls.is_empty() {
        return reading
            .error(format!(
                "the trace has no GPU work: {} ran on the CPU only, or the GPU was not recorded",
                counted(calls.len() as u64, "operator", "operators")
            ))
            .help(RECORD);
    }
    reading.error("the trace has no GPU work").help(RECORD)
}
