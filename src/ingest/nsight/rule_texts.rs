//! What a rule's text is about, in a few words: the texts are long, and differ in their figures only.

use std::borrow::Cow;

/// How a text tells what it is about.
enum Clue {
    /// It has this phrase.
    Has(&'static str, &'static str),
    /// What stands between two phrases, after an introduction of ours.
    Between(&'static str, &'static str, &'static str),
}

use Clue::{Between, Has};

/// The rules of Nsight Compute whose texts say one of several things, or say it late.
///
/// The phrases are those of exports of 2021 to 2026 and of the rules that are installed with
/// Nsight Compute (`sections/*.py`).
const CLUES: &[(&str, &[Clue])] = &[
    (
        "SOLBottleneck",
        &[
            Has("exhibits low compute throughput and memory", "neither compute nor memory is busy"),
            Has("grid is too small", "the grid is too small for the device"),
            Has("identify the DRAM bottleneck", "memory is busier than compute: DRAM"),
            Has("identify the L2 bottleneck", "memory is busier than compute: L2"),
            Has("identify the L1 bottleneck", "memory is busier than compute: L1"),
            Has("Compute is more heavily utilized", "compute is busier than memory"),
            Has("are well-balanced", "compute and memory are in balance"),
            Has("is utilizing greater than", "the device is well used"),
        ],
    ),
    (
        "LaunchConfiguration",
        &[
            Has("A wave of thread blocks", "a last wave that is partly filled"),
            Has("which is less than the", "fewer blocks than multiprocessors"),
            Has("If you execute __syncthreads()", "fewer than two blocks per multiprocessor"),
            Has(
                "some threads in a warp are masked off",
                "the last warp of a block is partly filled",
            ),
        ],
    ),
    ("Occupancy", OCCUPANCY),
    ("TheoreticalOccupancy", OCCUPANCY),
    ("AchievedOccupancy", OCCUPANCY),
    (
        "IssueSlotUtilization",
        &[Has("Every scheduler is capable", "schedulers without a ready warp")],
    ),
    ("WorkloadImbalance", &[Between("One or more ", " have a much", "unequal work of ")]),
    (
        "CPIStall",
        &[
            Between("being stalled ", ".", "stalled "),
            Has("for the top stall locations", "where in the source warps stall"),
        ],
    ),
    ("ThreadDivergence", &[Has("all 32 threads of a warp", "threads of a warp that idle")]),
    ("MemoryCacheAccessPattern", ACCESS),
    ("SharedMemoryConflicts", ACCESS),
    (
        "LocalMemoryUsage",
        &[
            Has("accesses local memory", "local memory"),
            Has("due to register spilling", "register spilling"),
        ],
    ),
    (
        "MemoryL2Compression",
        &[
            Has("successfully compressed", "little that L2 can compress"),
            Has("access patterns for writes", "scattered writes to compressible memory"),
        ],
    ),
    ("UncoalescedGlobalAccess", &[Has("uncoalesced global", "uncoalesced global accesses")]),
    ("UncoalescedSharedAccess", &[Has("uncoalesced shared", "uncoalesced shared accesses")]),
    (
        "HighPipeUtilization",
        &[
            Has("All compute pipelines are under-utilized", "no pipe is busy"),
            Between("", " is the highest-utilized pipeline", "busiest pipe: "),
        ],
    ),
    (
        "FPInstructions",
        &[
            Has("non-fused FP32", "FP32 instructions that are not fused"),
            Has("non-fused FP64", "FP64 instructions that are not fused"),
            Has("non-fused FP16", "FP16 instructions that are not fused"),
        ],
    ),
    (
        "SOLFPRoofline",
        &[
            Has("FP64 bound", "FP64 may bind the kernel"),
            Has("fp64 bound", "FP64 may bind the kernel"),
            Has("ratio of peak float", "shares of the FP32 and FP64 peaks"),
        ],
    ),
    ("PMSamplingData", SAMPLES),
    ("PCSamplingData", SAMPLES),
];

const OCCUPANCY: &[Clue] = &[
    Has("not impacted by any block limit", "not limited by the launch"),
    Has("the number of required registers", "limited by registers"),
    Has("the required amount of shared memory", "limited by shared memory"),
    Has("the number of blocks that can fit on the SM", "limited by blocks per multiprocessor"),
    Has("the number of warps within each block", "limited by the size of blocks"),
    Has("measured achieved occupancy", "achieved is below theoretical occupancy"),
];

const ACCESS: &[Clue] = &[Between("memory access pattern for ", " might not be optimal", "")];

const SAMPLES: &[Clue] = &[
    Has("Sampling interval is larger", "too few samples"),
    Has("no samples could be collected", "no samples"),
];

/// A text of another rule is cut after its first sentence, and after this many characters.
const LONGEST: usize = 120;

/// What a rule's text is about; empty for an empty text.
pub(super) fn about<'a>(rule: &str, text: &'a str) -> Cow<'a, str> {
    let clues = CLUES.iter().find(|(known, _)| *known == rule).map_or(&[][..], |(_, clues)| clues);
    let mut told: Vec<Cow<'a, str>> = clues.iter().filter_map(|clue| clue.read(text)).collect();
    match told.len() {
        0 => first_sentence(text),
        1 => told.remove(0),
        _ => told.join("; ").into(),
    }
}

impl Clue {
    fn read<'a>(&self, text: &'a str) -> Option<Cow<'a, str>> {
        match self {
            Has(phrase, about) => text.contains(phrase).then(|| (*about).into()),
            Between(start, end, lead) => {
                let (_, rest) = text.split_once(start)?;
                let found = rest.split_once(end)?.0.trim();
                let is_short = !found.is_empty() && found.chars().count() <= LONGEST;
                is_short.then(|| format!("{lead}{found}").into())
            }
        }
    }
}

/// The beginning of a text that no clue explains, as it stands.
fn first_sentence(text: &str) -> Cow<'_, str> {
    let end = text.find(['\n', '\r']).unwrap_or(text.len());
    let line = &text[..end];
    let sentence = line.split_once(". ").map_or(line, |(first, _)| first).trim_end_matches('.');
    match sentence.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}…", &sentence[..cut]).into(),
        None => sentence.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_one_rule_are_told_apart_and_lose_their_figures() {
        for (rule, text, expected) in [
            (
                "LaunchConfiguration",
                "A wave of thread blocks is defined as the maximum number of blocks. 50.0% of it",
                "a last wave that is partly filled",
            ),
            (
                "LaunchConfiguration",
                "The grid for this launch is configured to execute only 1 blocks, which is less than \
                 the GPU's 108 multiprocessors. More.",
                "fewer blocks than multiprocessors",
            ),
            // Two matters in one text, as one rule said it until 2023; the full stop between is missing.
            (
                "Occupancy",
                "This kernel's theoretical occupancy (62.5%) is limited by the number of required \
                 registers The difference between calculated theoretical (62.5%) and measured achieved \
                 occupancy (49.2%) can be the result of …",
                "limited by registers; achieved is below theoretical occupancy",
            ),
            (
                "CPIStall",
                "On average, each warp of this workload spends 4.2 cycles being stalled waiting for \
                 sibling warps at a CTA barrier. A high number of warps",
                "stalled waiting for sibling warps at a CTA barrier",
            ),
            (
                "WorkloadImbalance",
                "One or more L2 Slices have a much higher number of active cycles than the average.",
                "unequal work of L2 Slices",
            ),
            (
                "HighPipeUtilization",
                "FMA is the highest-utilized pipeline (42.0%) based on elapsed cycles.",
                "busiest pipe: FMA",
            ),
        ] {
            assert_eq!(about(rule, text), expected, "{rule}");
        }
    }

    #[test]
    fn unknown_texts_keep_their_beginning() {
        assert_eq!(about("OurRule", "Use 3.5 more. Or less."), "Use 3.5 more");
        assert_eq!(about("OurRule", "One line\nfloat division by zero"), "One line");
        assert_eq!(about("OurRule", ""), "");
        assert_eq!(
            about("CPIStall", "being stalled without an end"),
            "being stalled without an end"
        );
        let long = "ä".repeat(5000);
        assert_eq!(about("OurRule", &long).chars().count(), LONGEST + 1);
        assert_eq!(
            about("CPIStall", &format!("being stalled {long}.")).chars().count(),
            LONGEST + 1
        );
    }
}
