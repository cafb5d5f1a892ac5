//! Tells that durations are whole microseconds, too coarse for the short launches of the run.

use crate::analysis::Timer;
use crate::rules::{Check, Confidence, Finding, Missing, Rule, Run, Severity, Threshold};
use crate::units::{percent, si};

pub(super) const RULE: Rule = Rule {
    id: "coarse-timer",
    summary: "durations are whole microseconds and many launches are short",
    documentation: "\
## What it finds
Files in which every duration is a whole number of microseconds while launches of a few
microseconds take part of the run.

## Why it costs time
No time is lost, but a launch of 4 µs may have taken 3.5 or 4.5 µs, so its headroom is off by an
eighth. Comparing such launches shows timer steps, not the kernel.

## Detection
All durations of a file are multiples of 1 µs; launches shorter than 20 µs, for which 1 µs is more
than 5%, take `share` of the run or more; and at least `values` different durations occur among
them.

## Remedy
Export with nanoseconds: Nsight Compute with `--print-units base`, a newer PyTorch profiler, or
Nsight Systems. Judge short launches by sums over many of them.

## False positives
A few durations that happen to be whole.

## Sources
*Nsight Compute CLI*, `--print-units`; pytorch/pytorch issue 116830 and pull request 123650 (traces of
`torch.profiler` had whole microseconds until April 2024).
",
    thresholds: &[VALUES, SHARE],
    silences: &[],
    check: Check::Run(check),
};

const VALUES: Threshold = Threshold::new(
    "values",
    5.0,
    "1",
    "with 32 ns ticks one duration in 125 is whole by chance; five are not a coincidence",
);

const SHARE: Threshold = Threshold::new("share", 0.01, "1", "from here it can matter");

fn check(run: &Run<'_>) -> Result<Vec<Finding>, Missing> {
    let timers = &run.analysis.timers;
    if timers.is_empty() {
        return Err(Missing("gpu__time_duration.sum"));
    }
    let is_coarse = |timer: &&Timer| {
        timer.whole_micros
            && timer.values as f64 >= run.threshold(&VALUES).min(Timer::COUNTED as f64)
            && run.share(timer.short.1) >= run.threshold(&SHARE)
    };
    let found = timers.iter().filter(is_coarse).map(|timer| {
        let path = run.analysis.sources.get(timer.source).map_or("", |source| &source.path);
        let (launches, time) = timer.short;
        let share = run.share(time);
        let short = Timer::SHORT.get() * 1e6;
        run.finding(format!(
            "all {} durations of {path} are whole microseconds: too coarse for its launches under \
             {short:.0} µs ({launches}, {}, {} of the run)",
            timer.launches,
            si(time, "s"),
            percent(share)
        ))
        .severity(Severity::Info)
        .confidence(Confidence::High)
        .evidence("durations", timer.launches as f64, "1")
        .evidence("short launches", launches as f64, "1")
        .evidence("their time", time.get(), "s")
        .evidence("their share of the run", share, "1")
        .next("export durations in nanoseconds")
    });
    Ok(found.collect())
}

#[cfg(test)]
mod tests {
    use crate::rules::Severity;
    use crate::rules::engine::bench_launches::{Bench, h100};

    const RULE: &str = "coarse-timer";

    fn of(durations: &[f64]) -> Bench {
        let add = |bench: Bench, micros: &f64| bench.launch("k", (1000, 256), (1, *micros), &[]);
        durations.iter().fold(h100(), add)
    }

    #[test]
    fn tells_whole_microseconds() {
        let found = of(&[3.0, 4.0, 5.0, 8.0, 10.0, 70.0]).found(RULE);
        assert_eq!(
            found.message,
            "all 6 durations of table.csv are whole microseconds: too coarse for its launches under 20 µs (5, 30.0 µs, 30.0% of the run)"
        );
        assert_eq!((found.severity, found.at_stake_s), (Severity::Info, 0.0));
    }

    #[test]
    fn stays_quiet_on_finer_ones_few_ones_and_long_ones() {
        assert!(of(&[3.0, 4.0, 5.0, 8.032, 10.0, 70.0]).is_content(RULE));
        assert!(of(&[3.0, 4.0, 3.0, 4.0, 30.0, 40.0, 50.0, 70.0]).is_content(RULE));
        assert!(of(&[30.0, 40.0, 50.0, 80.0, 90.0]).is_content(RULE));
        assert!(of(&[3.0, 4.0, 5.0, 8.0, 10.0, 9000.0]).is_content(RULE));
    }

    #[test]
    fn cannot_judge_without_durations() {
        assert_eq!(of(&[f64::NAN]).lacks(RULE), ["gpu__time_duration.sum"]);
    }
}
