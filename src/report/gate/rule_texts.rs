//! Texts of a gate's rules, for code scanners that show a rule beside its findings.

use crate::gate::Metric;

/// Texts of one rule.
#[derive(Debug, Clone, Copy)]
pub(super) struct RuleText {
    /// Short title.
    pub(super) short: &'static str,
    /// What it means when it fires.
    pub(super) full: &'static str,
    /// What to do.
    pub(super) help: &'static str,
    /// Default level: `note`, `warning` or `error`.
    pub(super) level: &'static str,
}

impl RuleText {
    /// Returns the level as a `problem.severity` of code scanning.
    pub(super) fn severity(self) -> &'static str {
        if self.level == "note" { "recommendation" } else { self.level }
    }
}

/// Returns the text of a rule: by its name if known, else by its metric, because a policy names its
/// own rules.
pub(super) fn text(rule: &str, metric: Metric) -> RuleText {
    named(rule).unwrap_or_else(|| measured(metric))
}

fn named(rule: &str) -> Option<RuleText> {
    Some(match rule {
        "gate" => RuleText {
            short: "The gate as a whole",
            full: "The gate did not pass, or compared nothing, for a reason outside any single kernel.",
            help: "Read the reason. Nothing measured: check that the profiler ran, that the export is \
                   not empty, and that it is the file of this run. Nothing compared: check the name of the \
                   baseline, unless this is the first run.",
            level: "error",
        },
        "no-data" => RuleText {
            short: "Nothing measured",
            full: "A side has no launch with a duration, so there is nothing to check.",
            help: "Check that the profiler ran, that the export is not empty, and that it is the file \
                   of this run.",
            level: "error",
        },
        "no-match" => RuleText {
            short: "No kernel in common",
            full: "The sides have no kernel in common, so none of them can be compared.",
            help: "Check that both exports are of the same workload.",
            level: "error",
        },
        "coverage" => RuleText {
            short: "Too little compared",
            full: "Less of the baseline's time than the policy asks for is measured and matched.",
            help: "Check that the export holds the durations of all kernels of the same program. If kernels \
                   went on purpose, save a new baseline, or lower `coverage`.",
            level: "error",
        },
        "damaged-run" => RuleText {
            short: "A run is not a repeat",
            full: "A run is of another program, in another unit, or lacks durations that the others have.",
            help: "Check the file, and name only repeated runs of the same program on a side.",
            level: "warning",
        },
        "unit" => RuleText {
            short: "Another unit",
            full: "All kernels together differ by a factor that no change of code explains.",
            help: "Check the unit of the durations in both exports.",
            level: "error",
        },
        "many-kernels" => RuleText {
            short: "Many kernels slower together",
            full: "Half of the kernels or more got slower together, while the others stayed.",
            help: "Look for a change that these kernels share: a compiler flag, a library, a data type.",
            level: "error",
        },
        "incomplete" => RuleText {
            short: "The current side looks truncated",
            full: "The current side contains only the beginning of the baseline.",
            help: "Check that the profiled program ran to its end and that the export is complete.",
            level: "error",
        },
        "device" => RuleText {
            short: "Different devices",
            full: "The sides ran on different devices, and the policy does not compare across devices.",
            help: "Use a baseline of the same device, or let the policy compare by headroom.",
            level: "error",
        },
        "conditions" => RuleText {
            short: "Different conditions",
            full: "The sides were measured under different conditions, such as profiler or clocks.",
            help: "Measure both sides in the same way, or save a new baseline.",
            level: "warning",
        },
        "work" => RuleText {
            short: "Amount of work",
            full: "The sides did different amounts of work; times are compared for the same amount.",
            help: "Profile the same number of steps on both sides.",
            level: "warning",
        },
        "required-kernel" => RuleText {
            short: "Required kernel missing",
            full: "A kernel that the policy requires was not measured, or most runs lack it.",
            help: "Check that the workload still runs it, or change the list of required kernels in the \
                   policy.",
            level: "error",
        },
        "new" => RuleText {
            short: "New kernel",
            full: "A kernel occurs that the baseline, or most of its runs, does not have.",
            help: "If it replaces another, compare their times and the total. Save a new baseline \
                to accept it.",
            level: "note",
        },
        "vanished" => RuleText {
            short: "Vanished kernel",
            full: "A kernel of the baseline no longer occurs, or most runs lack it now.",
            help: "If it was renamed, fused or removed on purpose, save a new baseline; otherwise \
                check that the workload still does the same work.",
            level: "warning",
        },
        "few-runs" => RuleText {
            short: "Kernel in few runs",
            full: "Most runs of both sides lack the kernel, so it was not compared.",
            help: "Check that each run does the same work, or profile more runs.",
            level: "warning",
        },
        _ => return None,
    })
}

fn measured(metric: Metric) -> RuleText {
    const SLOWER: &str = "Check what changed in this kernel's code, its shape, its launch \
        configuration and its libraries; `rooflint diff` shows the details of both runs. If the \
        change is intended, waive it with a reason or save a new baseline.";
    let (short, full, help) = match metric {
        Metric::Time => (
            "Time of a kernel",
            "A kernel takes longer than in the baseline, for the same amount of work.",
            SLOWER,
        ),
        Metric::KernelTotal => (
            "Time of all launches of a kernel",
            "All launches of a kernel together take longer than in the baseline, for the same amount of \
             work of the run.",
            "Compare the number of launches of both runs: look for a lost batch, a lost graph or a loop \
             that runs more often. If it is meant, waive it with a reason or save a new baseline.",
        ),
        Metric::Share => ("Share of a kernel", "A kernel takes a larger share of the run.", SLOWER),
        Metric::Headroom => (
            "Headroom of a kernel",
            "A kernel's time exceeds its roofline time by more than allowed.",
            SLOWER,
        ),
        Metric::Roof => (
            "Share of the roof reached",
            "A kernel reaches less of its roof: roofline over measured time fell, or is below its \
             bound.",
            SLOWER,
        ),
        Metric::Bytes => (
            "Memory traffic of a kernel",
            "A launch moves more bytes to and from device memory.",
            "Look for a lost fusion, a wider data type, or accesses that became less regular.",
        ),
        Metric::Flops => (
            "Operations of a kernel",
            "A launch executes more floating-point operations.",
            "Look for duplicated work, padding, or a changed algorithm.",
        ),
        Metric::Fp64 => (
            "Double precision",
            "A kernel executes operations in double precision that the policy does not allow.",
            "Look for unsuffixed literals and functions that make an expression double precision.",
        ),
        Metric::Findings => (
            "Findings of the rules",
            "There are more findings of a severity or rule than the policy allows.",
            "Run `rooflint analyze` to see the findings with causes and fixes.",
        ),
        Metric::Savings => (
            "Potential savings",
            "The potential savings exceed what the policy allows.",
            "Run `rooflint analyze` to rank kernels by potential savings.",
        ),
        Metric::Launches => (
            "Launches of a kernel",
            "A kernel is launched more often.",
            "Look for a loop that was unrolled into launches, lost batching or a lost CUDA graph.",
        ),
        Metric::Total => (
            "Time of the whole run",
            "The run takes longer than in the baseline, for the same amount of work.",
            "Check which kernels got slower and which are new; many small changes can add up \
             without a single regression.",
        ),
        Metric::CommonShift => (
            "Global shift",
            "All kernels together became slower: clock, temperature, driver or a compiler flag.",
            "Compare clocks, driver and compiler of both runs; lock the clocks and measure again.",
        ),
        Metric::Presence => (
            "Presence of a kernel",
            "A kernel is on one side only, or is missing where it is required.",
            "Check that both runs do the same work; a renamed kernel needs a new baseline.",
        ),
    };
    RuleText { short, full, help, level: "error" }
}
