//! The verdict on a whole run, as the first lines of every human-readable report.

use super::{checks, groups, read};
use crate::analysis::{Analysis, Confidence, Kernel};
use crate::report::Report;
use crate::report::document::Fact;
use crate::report::view::{Style, count, factor, overall, percent, printable, range, si};
use crate::roofline;
use crate::units::Seconds;

/// What the run is, what it can save and what is to be checked, with so many notes: a label and a sentence each.
pub(super) fn verdict(report: &Report<'_>, notes: usize, style: &Style) -> Vec<Fact> {
    let mut lines = vec![("GPU time", gpu_time(report))];
    let sentences = [
        ("Savings", savings(report)),
        ("Unproven", unproven(report)),
        ("Targets", groups::targets(report)),
        ("Inputs", read::ranks(report).into_iter().next()),
    ];
    lines.extend(sentences.into_iter().filter_map(|(label, text)| Some((label, text?))));
    lines.extend(checks::checks(report, notes, style).into_iter().map(|line| ("Check", line)));
    lines.into_iter().map(|(label, line)| Fact::new(label, line)).collect()
}

/// How the run was judged: what was compared with which roofs, and from where on a kernel is flagged.
pub(super) fn method(report: &Report<'_>) -> Vec<Fact> {
    let analysis = report.analysis;
    let mut lines = unknown_devices(report);
    let sentences = [
        ("Compared", modeled(report)),
        ("Overall", distance(report)),
        ("Flagged", flagged(report)),
    ];
    lines.extend(sentences.into_iter().filter_map(|(label, text)| Some((label, text?))));
    let ceilings = format!("{} ({})", analysis.ceilings.label(), analysis.ceilings_reason);
    lines.push(("Ceilings", ceilings));
    lines.into_iter().map(|(label, line)| Fact::new(label, line)).collect()
}

/// What is missing where a device is not known, and what supplies it.
fn unknown_devices(report: &Report<'_>) -> Vec<(&'static str, String)> {
    let unknown = report.analysis.devices.iter().filter_map(|used| {
        let unknown = used.unknown.as_ref()?;
        let mut text = format!("unknown: {}; {}", unknown.reason, unknown.help);
        if let Some(peak) = used.observed.dram {
            let rate = si(peak.value.get(), "B/s");
            text.push_str(&format!(
                "; until then its only roof is {rate} of memory ({})",
                peak.how
            ));
        }
        Some(("Device", printable(&text)))
    });
    let mut lines: Vec<_> = unknown.collect();
    lines.dedup();
    lines
}

fn time(time: Seconds) -> String {
    si(time.get(), "s")
}

/// The names of the devices of a run.
pub(in crate::report) fn devices(analysis: &Analysis) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    // Some launches of a file may say less of their device than others.
    let has_more =
        analysis.devices.iter().any(|device| device.unknown.is_some() && !device.is_nameless());
    for device in analysis.devices.iter().filter(|device| !(has_more && device.is_nameless())) {
        let name = printable(device.name());
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn gpu_time(report: &Report<'_>) -> String {
    let totals = &report.analysis.totals;
    let whole = format!(
        "{} of {} on {}",
        count(totals.launches, "launch", "launches"),
        count(totals.kernels as u64, "kernel", "kernels"),
        devices(report.analysis).join(", ")
    );
    let mut text = if totals.measured.get() > 0.0 {
        format!("{} in {whole}", time(totals.measured))
    } else {
        format!("unknown: no durations in {whole}")
    };
    let untimed = totals.launches - totals.timed_launches;
    if untimed > 0 && totals.measured.get() > 0.0 {
        let untimed = count(untimed, "launch has", "launches have");
        text.push_str(&format!("; {untimed} no duration"));
    }
    if totals.instrumented.get() > 0.0 {
        let left_out = time(totals.instrumented);
        text.push_str(&format!("; another {left_out}, taken while instrumented, is left out"));
    }
    text
}

fn modeled(report: &Report<'_>) -> Option<String> {
    let totals = &report.analysis.totals;
    let share = |part: Seconds| percent(part / totals.measured);
    if totals.measured.get() <= 0.0 {
        return None;
    }
    let mut text = format!("{} of the time", share(totals.modeled));
    let unsure: Vec<String> = [Confidence::Likely, Confidence::Possible]
        .into_iter()
        .filter(|confidence| totals.graded(*confidence) > Seconds::ZERO)
        .map(|confidence| format!("{} {}", share(totals.graded(confidence)), confidence.label()))
        .collect();
    if !unsure.is_empty() {
        text.push_str(&format!(" ({})", unsure.join(", ")));
    }
    let by_utilization = || {
        let kernels = report.analysis.kernels.iter();
        kernels.filter(|kernel| kernel.by_utilization && kernel.state.is_modeled())
    };
    let time: Seconds = by_utilization().map(|kernel| kernel.modeled).sum();
    if time > Seconds::ZERO {
        let mut reasons: Vec<&str> = by_utilization().map(stands_in_for).collect();
        reasons.sort_unstable();
        reasons.dedup();
        text.push_str(&format!(
            ", {} by how busy its units were because {}",
            share(time),
            reasons.join(", or ")
        ));
    }
    if totals.unmodeled.get() > 0.0 {
        text.push_str(&format!("; {} lacks data", share(totals.unmodeled)));
    }
    let rest = totals.measured - totals.modeled - totals.unmodeled;
    if rest.get() > 1e-12 {
        text.push_str(&format!("; {} not covered by the roofline model", share(rest)));
    }
    Some(text)
}

/// What of a kernel its utilization stands in for.
fn stands_in_for(kernel: &Kernel) -> &'static str {
    if kernel.math_time.is_none() { kernel.why_no_math_time() } else { "bytes were not counted" }
}

fn distance(report: &Report<'_>) -> Option<String> {
    let totals = &report.analysis.totals;
    let (most, least) = totals.headroom_ends()?;
    let at_least = if least < most * 0.999 { "at least " } else { "" };
    let ideal = if totals.roofline_time_low > Seconds::ZERO {
        format!("{at_least}{} ideal", time(totals.roofline_time_low))
    } else {
        "of which none is certainly needed".to_owned()
    };
    let (ratio, measured) = (overall(totals)?, time(totals.modeled));
    Some(format!("{ratio} the roofline time ({measured} measured, {ideal})"))
}

/// What the run can save: how much, whether that is only likely, and in how many kernels.
fn savings(report: &Report<'_>) -> Option<String> {
    let analysis = report.analysis;
    let totals = &analysis.totals;
    if totals.modeled.get() <= 0.0 {
        return None;
    }
    if totals.savings <= Seconds::ZERO {
        return Some("none found".to_owned());
    }
    let share = percent(totals.savings / totals.measured);
    if totals.savings < analysis.smallest_win() {
        return Some(format!("{} ({share}): too little to matter", time(totals.savings)));
    }
    let certainty = if totals.savings_likely.get() >= totals.savings.get() * 0.9995 {
        ", likely".to_owned()
    } else if totals.savings_likely > Seconds::ZERO {
        format!("; {} of this is only likely", percent(totals.savings_likely / totals.savings))
    } else {
        String::new()
    };
    let with_savings = analysis.kernels.iter().filter(|kernel| kernel.coverage.is_some()).count();
    let coverage = match (totals.kernels_for_80_percent, with_savings) {
        (_, 1) => "all in one kernel".to_owned(),
        (1, _) => "80% in one kernel".to_owned(),
        (needed, _) => format!("80% in {needed} kernels"),
    };
    Some(format!(
        "{} ({share}; range {}){certainty}: {}, {coverage}",
        time(totals.savings),
        range(totals.savings_low, totals.savings_high),
        faster(analysis, factor(totals.run_speedup(totals.savings)))
    ))
}

/// How much faster a run gets: of a trace, which shows that GPUs do not always compute, only its kernels.
pub(super) fn faster(analysis: &Analysis, speedup: impl std::fmt::Display) -> String {
    if analysis.timelines.is_empty() {
        format!("{speedup} faster overall")
    } else {
        format!("kernels {speedup} faster")
    }
}

/// What may be saved beside that, where no certain cause shows it.
fn unproven(report: &Report<'_>) -> Option<String> {
    let unproven = report.analysis.totals.savings_unproven;
    let is_worth_it = unproven >= report.analysis.smallest_win() && unproven > Seconds::ZERO;
    is_worth_it.then(|| {
        if is_all(unproven, report.analysis.totals.measured) {
            return "not bounded: too little was counted to say how much of the time is needed"
                .to_owned();
        }
        format!("at most {} more, where no certain cause was found", time(unproven))
    })
}

/// Sums of the same times differ by less.
const ROUNDED: f64 = 1.0 - 1e-9;

/// Whether all of a time may be saved: nothing was counted that needs any.
pub(super) fn is_all(savings: Seconds, of: Seconds) -> bool {
    savings >= of * ROUNDED
}

/// From which ratio and which savings on a kernel is flagged in this run, and why.
fn flagged(report: &Report<'_>) -> Option<String> {
    let analysis = report.analysis;
    let (total, floor) = (analysis.totals.measured, analysis.smallest_win());
    let flagged = analysis.opportunities().count();
    if analysis.totals.modeled.get() <= 0.0 {
        return None;
    }
    let why = if floor <= total * analysis.floor_share {
        format!("{} of the run", percent(analysis.floor_share))
    } else if floor >= analysis.floor.unwrap_or(roofline::FLAG_FLOOR) {
        "the minimum for any run".to_owned()
    } else {
        format!("{} of so short a run", percent(floor / total))
    };
    // What counts are the savings of all grids of a name.
    let is_apart = |kernel: &Kernel| kernel.savings_high < floor;
    let together = if analysis.opportunities().any(is_apart) {
        ", all grids of a kernel together"
    } else {
        ""
    };
    Some(format!(
        "{} at ≥ {} the roofline time that could save ≥ {}{together} ({why})",
        count(flagged as u64, "kernel", "kernels"),
        factor(analysis.threshold),
        time(floor)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::State;
    use crate::report::bench::{Bench, run};
    use crate::units::Share;

    /// A run of 10 ms; times below are in milliseconds, too.
    fn bench() -> Bench {
        run(&[("a", State::Flagged, 10.0)])
    }

    fn ms(time: f64) -> Seconds {
        Seconds::new(time * 1e-3)
    }

    #[test]
    fn gpu_time_says_what_it_leaves_out() {
        let mut bench = bench();
        let totals = &mut bench.analysis.totals;
        (totals.launches, totals.timed_launches, totals.kernels) = (12, 10, 3);
        totals.instrumented = ms(1.0);
        assert_eq!(
            gpu_time(&bench.report()),
            "10.0 ms in 12 launches of 3 kernels on H100 SXM5 80GB; 2 launches have no duration; \
             another 1.00 ms, taken while instrumented, is left out"
        );
        let totals = &mut bench.analysis.totals;
        (totals.measured, totals.instrumented, totals.timed_launches) = (ms(0.0), ms(0.0), 0);
        let unknown = gpu_time(&bench.report());
        assert_eq!(unknown, "unknown: no durations in 12 launches of 3 kernels on H100 SXM5 80GB");
    }

    #[test]
    fn the_parts_of_the_time_add_up_to_all_of_it() {
        let mut bench = bench();
        assert_eq!(modeled(&bench.report()).unwrap(), "100.0% of the time");
        let totals = &mut bench.analysis.totals;
        (totals.modeled, totals.unmodeled) = (ms(6.0), ms(3.0));
        let text = "60.0% of the time; 30.0% lacks data; 10.0% not covered by the roofline model";
        assert_eq!(modeled(&bench.report()).unwrap(), text);
        bench.analysis.totals.measured = ms(0.0);
        assert_eq!(modeled(&bench.report()), None);
    }

    /// 6 ms over 3 ms, or over 4 ms where not all was counted.
    #[test]
    fn the_distance_is_an_interval_where_not_all_was_counted() {
        let mut bench = bench();
        let totals = &mut bench.analysis.totals;
        (totals.modeled, totals.roofline_time, totals.roofline_time_high) =
            (ms(6.0), ms(3.0), ms(4.0));
        totals.roofline_time_low = ms(3.0);
        let text = "1.50–2.00× the roofline time (6.00 ms measured, at least 3.00 ms ideal)";
        assert_eq!(distance(&bench.report()).unwrap(), text);
        bench.analysis.totals.roofline_time_high = ms(3.0);
        let text = "2.00× the roofline time (6.00 ms measured, 3.00 ms ideal)";
        assert_eq!(distance(&bench.report()).unwrap(), text);
        // 2 ms of it are those of busy multiprocessors.
        bench.analysis.totals.roofline_time_low = ms(1.0);
        let text = "2.00–6.00× the roofline time (6.00 ms measured, at least 1.00 ms ideal)";
        assert_eq!(distance(&bench.report()).unwrap(), text);
        bench.analysis.totals.roofline_time = ms(0.0);
        assert_eq!(distance(&bench.report()), None);
    }

    /// 2 ms of 10 ms: 10 / 8 as fast.
    #[test]
    fn what_can_be_won_says_how_sure_it_is_and_how_many_kernels_it_takes() {
        let mut bench = run(&[("a", State::Flagged, 8.0), ("b", State::Fair, 2.0)]);
        let totals = &mut bench.analysis.totals;
        (totals.savings_low, totals.savings) = (ms(1.0), ms(2.0));
        totals.savings_high = ms(3.0);
        totals.savings_unproven = ms(0.0);
        for (holds, likely, needed, sure, coverage) in [
            (1, 0.0, 1, "", "all in one kernel"),
            (2, 0.5, 1, "; 25.0% of this is only likely", "80% in one kernel"),
            (2, 2.0, 2, ", likely", "80% in 2 kernels"),
        ] {
            bench.analysis.totals.kernels_for_80_percent = needed;
            bench.analysis.totals.savings_likely = ms(likely);
            for (at, kernel) in bench.analysis.kernels.iter_mut().enumerate() {
                kernel.coverage = (at < holds).then_some(Share::new(1.0));
            }
            let text = savings(&bench.report()).unwrap();
            let range = "2.00 ms (20.0%; range 1.00–3.00 ms)";
            assert_eq!(text, format!("{range}{sure}: 1.25× faster overall, {coverage}"));
        }
        assert_eq!(unproven(&bench.report()), None);
        let totals = &mut bench.analysis.totals;
        totals.savings = ms(0.0);
        totals.savings_unproven = ms(4.0);
        assert_eq!(savings(&bench.report()).unwrap(), "none found");
        assert_eq!(
            unproven(&bench.report()).unwrap(),
            "at most 4.00 ms more, where no certain cause was found"
        );
        bench.analysis.totals.savings_unproven = ms(10.0);
        assert_eq!(
            unproven(&bench.report()).unwrap(),
            "not bounded: too little was counted to say how much of the time is needed"
        );
        bench.analysis.totals.savings = ms(0.01);
        assert_eq!(savings(&bench.report()).unwrap(), "10.0 µs (0.1%): too little to matter");
    }

    #[test]
    fn grades_are_told_where_not_all_is_certain() {
        let mut bench = bench();
        bench.analysis.totals.graded = [ms(0.0), ms(8.0), ms(2.0)];
        let text = "100.0% of the time (80.0% likely, 20.0% possible)";
        assert_eq!(modeled(&bench.report()).unwrap(), text);
    }

    /// The floor is 50 µs or 1% of the run, and no more than 5% of a short one; where it is set to 20 µs, it is that at least.
    #[test]
    fn the_smallest_win_says_where_it_comes_from() {
        let mut bench = bench();
        let analysis = &mut bench.analysis;
        analysis.floor_share = 0.01;
        let mut why = |milliseconds: f64, floor| {
            bench.analysis.floor = floor;
            bench.analysis.totals.measured = ms(milliseconds);
            let text = flagged(&bench.report()).unwrap();
            text.split_once("save ≥ ").unwrap().1.to_owned()
        };
        assert_eq!(why(10.0, None), "100 µs (1.0% of the run)");
        assert_eq!(why(2.0, None), "50.0 µs (the minimum for any run)");
        assert_eq!(why(0.1, None), "5.00 µs (5.0% of so short a run)");
        assert_eq!(why(10.0, Some(ms(0.02))), "100 µs (1.0% of the run)");
        assert_eq!(why(0.1, Some(ms(0.02))), "20.0 µs (the minimum for any run)");
    }
}
