//! Which of our rules look at the same thing as a rule of Nsight Compute, and why, or why none does.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use crate::golden::check;

/// What a rule of Nsight Compute says, and who of us looks at it.
pub(super) struct Topic {
    /// Its rule.
    pub(super) rule: &'static str,
    /// A part of what it is about; the rule says different things in one name.
    pub(super) about: &'static str,
    /// Our rules on the same topic, the closest first.
    pub(super) ours: &'static [&'static str],
    /// Our rules whose finding makes the topic idle: something else comes first.
    pub(super) instead: &'static [&'static str],
    /// Why these, or why none.
    pub(super) why: &'static str,
}

const fn topic(
    rule: &'static str,
    about: &'static str,
    ours: &'static [&'static str],
    why: &'static str,
) -> Topic {
    Topic { rule, about, ours, instead: &[], why }
}

impl Topic {
    const fn unless(self, instead: &'static [&'static str]) -> Self {
        Self { instead, ..self }
    }
}

/// Where the grid has too few blocks, or uneven ones, room for more of them changes nothing.
const GRID: &[&str] = &["small-grid", "insufficient-parallelism", "launch-bound"];

const UNEVEN: &[&str] =
    &["tail-effect", "sm-load-imbalance", "small-grid", "insufficient-parallelism"];

const LATENCY: &[&str] = &[
    "low-issue-utilization",
    "warp-stalls",
    "memory-latency-bound",
    "launch-bound",
    "small-grid",
    "insufficient-parallelism",
    "tail-effect",
    "sm-load-imbalance",
    "occupancy-limited",
    "low-achieved-occupancy",
];

const COMPUTE: &[&str] = &[
    "pipe-saturated",
    "special-function-bound",
    "integer-address-overhead",
    "unfused-multiply-add",
    "gemm-on-cuda-cores",
    "half-gemm-on-cuda-cores",
    "fp64-on-consumer-gpu",
    "fp64-in-single-precision-code",
    "low-tensor-utilization",
];

const L2: &[&str] =
    &["l2-bandwidth-bound", "uncoalesced-access", "l2-fabric-traffic", "atomic-contention"];

const FULL: &[&str] =
    &["dram-saturated", "l2-bandwidth-bound", "l1-bandwidth-bound", "pipe-saturated"];

/// Each text that Nsight Compute's rules are known to write.
pub(super) const TOPICS: &[Topic] = &[
    topic(
        "SOLBottleneck",
        "neither compute nor memory",
        LATENCY,
        "the rules that say why warps wait",
    ),
    topic(
        "SOLBottleneck",
        "the grid is too small",
        &["small-grid", "insufficient-parallelism", "launch-bound"],
        "blocks against multiprocessors",
    ),
    topic(
        "SOLBottleneck",
        "memory is busier than compute: DRAM",
        &[
            "dram-saturated",
            "partial-dram-bursts",
            "uncoalesced-access",
            "memory-bound-matmul",
            "memory-latency-bound",
        ],
        "device memory is the busiest unit",
    ),
    topic("SOLBottleneck", "memory is busier than compute: L2", L2, "L2 is the busiest unit"),
    topic(
        "SOLBottleneck",
        "memory is busier than compute: L1",
        &[
            "l1-bandwidth-bound",
            "shared-load-bank-conflicts",
            "shared-store-bank-conflicts",
            "local-arrays",
        ],
        "L1 is the busiest unit",
    ),
    topic("SOLBottleneck", "compute is busier than memory", COMPUTE, "a pipe is the busiest unit"),
    topic(
        "SOLBottleneck",
        "compute and memory are in balance",
        &[],
        "no advice in it: the state says the same",
    ),
    topic("SOLBottleneck", "the device is well used", FULL, "a unit above 80%"),
    topic(
        "LaunchConfiguration",
        "a last wave that is partly filled",
        &["tail-effect"],
        "waves of blocks",
    ),
    topic(
        "LaunchConfiguration",
        "fewer blocks than multiprocessors",
        &["small-grid"],
        "blocks against multiprocessors",
    ),
    topic(
        "LaunchConfiguration",
        "fewer than two blocks per multiprocessor",
        &["insufficient-parallelism"],
        "blocks that are there to be switched to",
    )
    .unless(&["small-grid"]),
    topic(
        "LaunchConfiguration",
        "the last warp of a block",
        &["block-size-not-warp-multiple"],
        "threads of a block against the warp",
    ),
    topic(
        "Occupancy",
        "limited by",
        &["occupancy-limited"],
        "the launch's own limits; one rule for both occupancies until 2023",
    )
    .unless(GRID),
    topic(
        "Occupancy",
        "achieved is below",
        &["low-achieved-occupancy"],
        "achieved against theoretical occupancy; one rule for both until 2023",
    )
    .unless(UNEVEN),
    topic("Occupancy", "not limited", &[], "no advice in it"),
    topic("TheoreticalOccupancy", "limited by", &["occupancy-limited"], "the launch's own limits")
        .unless(GRID),
    topic(
        "AchievedOccupancy",
        "achieved is below",
        &["low-achieved-occupancy"],
        "achieved against theoretical occupancy, and what lowers it",
    )
    .unless(UNEVEN),
    topic(
        "IssueSlotUtilization",
        "",
        &["low-issue-utilization"],
        "schedulers without a ready warp",
    ),
    topic("CPIStall", "where in the source", &[], "points at a table of the program's window"),
    topic("CPIStall", "L1TEX", &["warp-stalls", "memory-latency-bound"], "warps wait for loads"),
    topic("CPIStall", "stalled", &["warp-stalls"], "the stall reason with the largest share"),
    topic(
        "ThreadDivergence",
        "",
        &["warp-divergence", "predication-waste", "block-size-not-warp-multiple"],
        "threads of a warp that do not take part",
    ),
    topic(
        "WorkloadImbalance",
        "L2 Slices",
        &[],
        "addresses are spread over L2 slices by hardware; the program hardly decides it",
    ),
    topic(
        "WorkloadImbalance",
        "DRAM",
        &[],
        "addresses are spread over memory channels by hardware",
    ),
    topic(
        "WorkloadImbalance",
        "",
        &["sm-load-imbalance"],
        "active cycles of multiprocessors and their parts",
    )
    .unless(&["tail-effect", "small-grid"]),
    topic(
        "HighPipeUtilization",
        "no pipe is busy",
        LATENCY,
        "all pipes below 20%: the same as low issue",
    ),
    topic("HighPipeUtilization", "busiest pipe", COMPUTE, "the busiest pipe and its share"),
    topic(
        "FPInstructions",
        "",
        &["unfused-multiply-add"],
        "additions and multiplications that a fused one could do",
    ),
    topic(
        "MemoryCacheAccessPattern",
        "local",
        &["local-arrays", "register-spills"],
        "sectors of local memory",
    ),
    topic(
        "MemoryCacheAccessPattern",
        "global",
        &["uncoalesced-access", "misaligned-access"],
        "bytes used of each sector",
    ),
    topic(
        "SharedMemoryConflicts",
        "shared loads",
        &["shared-load-bank-conflicts"],
        "wavefronts that conflicts add",
    ),
    topic(
        "SharedMemoryConflicts",
        "shared stores",
        &["shared-store-bank-conflicts"],
        "wavefronts that conflicts add",
    ),
    topic("LocalMemoryUsage", "", &["register-spills", "local-arrays"], "sectors of local memory"),
    topic(
        "UncoalescedGlobalAccess",
        "",
        &["uncoalesced-access", "misaligned-access"],
        "sectors beyond the ideal, per instruction",
    ),
    topic(
        "UncoalescedSharedAccess",
        "",
        &["shared-load-bank-conflicts", "shared-store-bank-conflicts"],
        "wavefronts beyond the ideal, per instruction",
    ),
    topic(
        "MemoryL2Compression",
        "",
        &[],
        "compression is asked for when memory is allocated; without that its unit has nothing to do",
    ),
    topic(
        "SOLFPRoofline",
        "FP64 may bind",
        &["fp64-on-consumer-gpu", "fp64-in-single-precision-code"],
        "FP64 against FP32",
    ),
    topic("SOLFPRoofline", "", &[], "no advice in it: the report has the shares of all roofs"),
    topic("PMSamplingData", "", &[], "about the samples of the profile, not about the kernel"),
    topic("PCSamplingData", "", &[], "about the samples of the profile, not about the kernel"),
];

/// The topics of a result: one, or several where one text says several things.
pub(super) fn topics(rule: &str, about: &str) -> Vec<&'static Topic> {
    let parts = about.split("; ");
    let of = |part: &str| TOPICS.iter().find(|one| one.rule == rule && part.contains(one.about));
    let mut found: Vec<&'static Topic> = Vec::new();
    for topic in parts.filter_map(of) {
        if !found.iter().any(|known| std::ptr::eq(*known, topic)) {
            found.push(topic);
        }
    }
    found
}

/// Our rules that the table names.
pub(super) fn mapped() -> BTreeSet<&'static str> {
    TOPICS.iter().flat_map(|topic| topic.ours.iter().chain(topic.instead)).copied().collect()
}

#[test]
fn every_topic_is_named_once_and_names_rules_that_there_are() {
    let mut seen = BTreeSet::new();
    for topic in TOPICS {
        assert!(seen.insert((topic.rule, topic.about)), "{}: {}", topic.rule, topic.about);
        assert!(!topic.why.is_empty(), "{}", topic.rule);
    }
    for rule in mapped() {
        assert!(rooflint::rules::rule(rule).is_some(), "{rule}");
    }
}

const TABLE: &str = "| Nsight Compute | what about | ours, the closest first | why |\n";

/// The page ends with the table.
#[test]
fn the_page_has_the_table_of_topics() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/nsight-compute-advice.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, _) = page.split_once(TABLE).unwrap();
    let mut page = format!("{before}{TABLE}| --- | --- | --- | --- |\n");
    for (at, topic) in TOPICS.iter().enumerate() {
        let is_first = TOPICS[..at].iter().all(|earlier| earlier.rule != topic.rule);
        let about = match topic.about {
            "" if is_first => "anything",
            "" => "anything else",
            about => about,
        };
        let ours: Vec<String> = topic.ours.iter().map(|rule| format!("`{rule}`")).collect();
        let ours = if ours.is_empty() { "none".to_owned() } else { ours.join(", ") };
        let _ = writeln!(page, "| `{}` | {about} | {ours} | {} |", topic.rule, topic.why);
    }
    check(&path, &page);
}
