//! What the rules of a gate mean, for code scanners that show a rule beside its findings.

use crate::gate::Metric;

/// What a rule is about.
#[derive(Debug, Clone, Copy)]
pub(super) struct RuleText {
    /// A few words.
    pub(super) short: &'static str,
    /// What it says when it fires.
    pub(super) full: &'static str,
    /// What to do.
    pub(super) help: &'static str,
    /// How grave it is where a policy says nothing else: `note`, `warning` or `error`.
    pub(super) level: &'static str,
}

impl RuleText {
    /// The same in the words for problems that are not of security.
    pub(super) fn severity(self) -> &'static str {
        if self.level == "note" { "recommendation" } else { self.level }
    }
}

/// The text of a rule: by its name if it is known, else by what it measures, as rules of a policy have
/// names of their own.
pub(super) fn text(rule: &str, metric: Metric) -> RuleText {
    named(rule).unwrap_or_else(|| measured(metric))
}

fn named(rule: &str) -> Option<RuleText> {
    Some(match rule {
        "gate" => RuleText {
            short: "The gate as a whole",
            full: "The gate did not pass, for a reason that lies in no single kernel.",
            help: "Read the reason. Nothing measured: check that the profiler ran, that the export is \
                   not empty, and that it is the file of this run.",
            level: "error",
        },
        "no-data" => RuleText {
            short: "Nothing measured",
            full: "A side holds no launch with a duration: there is nothing to judge.",
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
        "incomplete" => RuleText {
            short: "The current side looks cut off",
            full: "The current side holds the beginning of the baseline only.",
            help: "Check that the profiled program ran to its end, and that the export was written whole.",
            level: "error",
        },
        "device" => RuleText {
            short: "Different devices",
            full: "The sides ran on different devices, and the policy does not compare across devices.",
            help: "Take a baseline of the same device, or let the policy compare by headroom.",
            level: "error",
        },
        "conditions" => RuleText {
            short: "Different conditions",
            full: "The sides differ in what makes a comparison doubtful, such as profiler or clocks.",
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
            short: "A required kernel",
            full: "A kernel that the policy requires was not measured.",
            help: "Check that the workload still runs it, or change the list of required kernels in the \
                   policy.",
            level: "error",
        },
        "new" => RuleText {
            short: "A new kernel",
            full: "A kernel was measured that the baseline does not have.",
            help: "If it replaces another, compare their times and the total. A new baseline makes it \
                   known.",
            level: "note",
        },
        "vanished" => RuleText {
            short: "A vanished kernel",
            full: "A kernel of the baseline was not measured.",
            help: "If it was renamed, fused or removed on purpose, save a new baseline; else check that \
                   the workload still does the same work.",
            level: "warning",
        },
        _ => return None,
    })
}

fn measured(metric: Metric) -> RuleText {
    const SLOWER: &str = "Look at what changed in this kernel's code, its shape, its launch \
         configuration and the libraries it comes from; `rooflint diff` shows all that both runs tell \
         of it. If the change is meant, waive it with a reason or save a new baseline.";
    let (short, full, help) = match metric {
        Metric::Time => (
            "Time of a kernel",
            "A kernel takes longer than in the baseline, for the same amount of work.",
            SLOWER,
        ),
        Metric::Share => {
            ("Share of a kernel", "A kernel takes a greater share of the run.", SLOWER)
        }
        Metric::Headroom => (
            "Distance from the roof",
            "A kernel lies further above its expected time by the roofline.",
            SLOWER,
        ),
        Metric::Roof => (
            "Part of the roof that is reached",
            "A kernel reaches less of its roof: expected over measured time fell, or is below its bound.",
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
            "Look for work that is done twice, padding, or a changed algorithm.",
        ),
        Metric::Fp64 => (
            "Double precision",
            "A kernel executes operations in double precision that the policy does not allow.",
            "Look for literals and functions without a suffix that make an expression double precision.",
        ),
        Metric::Findings => (
            "Findings of the rules",
            "There are more findings of a severity or rule than the policy allows.",
            "`rooflint analyze` shows the findings with their causes and remedies.",
        ),
        Metric::Savings => (
            "Time to win",
            "More time than the policy allows is lost to implementations far from their roofs.",
            "`rooflint analyze` ranks what can be won, kernel by kernel.",
        ),
        Metric::Launches => (
            "Launches of a kernel",
            "A kernel is launched more often.",
            "Look for a loop that was unrolled into launches, a lost batch or a lost graph.",
        ),
        Metric::Total => (
            "Time of the whole run",
            "The run takes longer than in the baseline, for the same amount of work.",
            "See which kernels grew and which are new; many small changes can add up without any of \
             them being a regression.",
        ),
        Metric::CommonShift => (
            "Shift of all kernels",
            "All kernels together became slower: a clock, the temperature, a driver, a compiler flag.",
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
