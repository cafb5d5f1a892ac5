//! Tells that the profiler emptied the caches before kernels whose data would fit in L2.

use crate::analysis::{Kernel, State};
use crate::model::{OriginKind, Profiler, Source};
use crate::roofline::Limiter;
use crate::rules::engine::shares::Together;
use crate::rules::{Check, Confidence, Finding, Missing, Rule, Run, Severity, Threshold};

pub(super) const RULE: Rule = Rule {
    id: "cold-cache-profile",
    summary: "kernels whose data fits in L2 were profiled with flushed caches",
    documentation: "\
## What it finds
Nsight Compute profiles in which memory-bound kernels move no more bytes than L2 holds and the
caches were flushed before each of them.

## Why it costs time
Nothing is lost in production: the profiler flushes the caches before every pass so that passes
and runs are comparable. Where the previous kernel left the data in L2, production does not fetch
it from memory, and the profiled time is too long.

## Detection
Memory-bound kernels whose single launch moves at most the size of L2 take `share` of the run or
more. Exports do not record cache control unless the profiler's messages are in the file;
otherwise the default (flush) is assumed.

## Remedy
Keep flushed caches to compare versions of a kernel. For production times, profile with
`--cache-control none`, and whole kernel sequences with `--replay-mode application`.

## False positives
Production starts with cold data too where kernels in between fill L2. Exports taken with
`--cache-control none` do not always say so.

## Sources
*Nsight Compute Profiling Guide*, \"Cache Control\"; *Nsight Compute CLI*, `--cache-control`.
",
    thresholds: &[SHARE],
    silences: &[],
    check: Check::Run(check),
};

const SHARE: Threshold =
    Threshold::new("share", 0.10, "1", "below this, the whole run would be at most a tenth faster");

/// Whether all that a launch moves to and from memory would fit in L2.
fn fits(run: &Run<'_>, kernel: &Kernel) -> bool {
    let used = &run.analysis.devices[kernel.device];
    let listed = used.device.as_ref().and_then(|device| device.l2_bytes);
    let (Some(l2), Some(bytes)) = (used.hint.l2_bytes.or(listed), kernel.bytes) else {
        return false;
    };
    // Without a grid, launches of every size are one kernel, whose average fits or does not by chance.
    if kernel.shape.blocks.is_none() && kernel.launches > 1 {
        return false;
    }
    bytes.get() > 0.0 && bytes.get() <= l2 as f64 * kernel.launches as f64
}

/// Whether its bytes were counted while it ran, and what bounds it is memory.
fn is_memory_limited(kernel: &Kernel) -> bool {
    kernel.provenance != Some(OriginKind::Algorithmic)
        && kernel.limiter == Limiter::Memory
        && kernel.state != State::LaunchBound
}

fn check(run: &Run<'_>) -> Result<Vec<Finding>, Missing> {
    let analysis = run.analysis;
    let empties =
        |source: &Source| source.profiler == Profiler::NsightCompute && !source.keeps_caches;
    if !analysis.sources.iter().any(empties) {
        return Ok(Vec::new());
    }
    if analysis.kernels.iter().all(|kernel| kernel.bytes.is_none()) {
        return Err(Missing("dram__bytes.sum"));
    }
    if analysis.devices.iter().all(|used| {
        used.hint.l2_bytes.is_none()
            && used.device.as_ref().is_none_or(|one| one.l2_bytes.is_none())
    }) {
        return Err(Missing("device__attribute_l2_cache_size"));
    }
    let small = Together::of(run, |kernel| is_memory_limited(kernel) && fits(run, kernel))?;
    if small.launches == 0 || small.share < run.threshold(&SHARE) {
        return Ok(Vec::new());
    }
    let needed = small.kernels.iter().filter_map(|kernel| kernel.memory_time);
    let finding = small
        .finding(
            run,
            format!(
                "caches were flushed (profiler default) before kernels whose data fits in L2: {}",
                small.words()
            ),
        )
        .severity(Severity::Info)
        // The flag, and what ran before in production, are assumed.
        .confidence(Confidence::Low)
        .evidence("kernels", small.kernels.len() as f64, "1")
        .evidence(
            "time their bytes need from DRAM",
            needed.map(crate::units::Seconds::get).sum(),
            "s",
        )
        .next("profile with --cache-control none for times as in production");
    Ok(vec![finding])
}

#[cfg(test)]
mod tests {
    use crate::model::{Pipe, Quantity};
    use crate::rules::Severity;
    use crate::rules::engine::bench_launches::{Bench, h100};

    const RULE: &str = "cold-cache-profile";

    /// A kernel of 100 µs that moves so many megabytes, on a device with 50 MB of L2.
    fn copy(megabytes: f64) -> Bench {
        let pipes = [Pipe::Fp64Vector, Pipe::Fp32Vector, Pipe::Fp16Vector, Pipe::Fp16Matrix];
        let mut counted = pipes.map(|pipe| (Quantity::Work(pipe), 0.0)).to_vec();
        counted.push((Quantity::DramBytes, megabytes * 1e6));
        h100().ncu().bare("copy", (2000, 256), (2, 100.0), &counted)
    }

    fn other(micros: f64) -> Bench {
        copy(33.5).launch("k", (2000, 256), (1, micros), &[])
    }

    #[test]
    fn tells_kernels_that_would_find_their_data_in_l2() {
        let found = other(600.0).found(RULE);
        assert_eq!(
            found.message,
            "caches were flushed (profiler default) before kernels whose data fits in L2: 2 launches, \
             200 µs, 25.0% of the run"
        );
        assert_eq!((found.severity, found.at_stake_s), (Severity::Info, 0.0));
        let needed = found.evidence.iter().find(|one| one.name.starts_with("time their")).unwrap();
        assert!((needed.value - 67e6 / 3.352e12).abs() < 1e-7, "{}", needed.value);
    }

    #[test]
    fn stays_quiet_on_large_data_small_shares_and_where_caches_were_kept() {
        assert!(copy(100.0).is_content(RULE));
        assert!(other(2000.0).is_content(RULE));
        assert!(copy(33.5).keeping_caches().is_content(RULE));
        let timeline = h100().bare("copy", (2000, 256), (2, 100.0), &[(Quantity::DramBytes, 1e6)]);
        assert!(timeline.is_content(RULE));
    }

    #[test]
    fn cannot_judge_without_bytes() {
        let bench = h100().ncu().bare("copy", (2000, 256), (2, 100.0), &[]);
        assert_eq!(bench.lacks(RULE), ["dram__bytes.sum"]);
    }
}
