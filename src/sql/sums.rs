//! The view with the sums over the launches of each kernel of a rank. Sums of several ranks merge.

use super::columns::operations;
use super::engine::Engine;
use crate::law::{AVERAGED, Problem, UNTIMED};
use crate::model::{MemoryLevel, Pipe};
use crate::table::{Fact, Facts};

/// What makes a kernel of launches: same name, operator, grid, block and device.
pub(super) const KEY: [&str; 16] = [
    "run",
    "rank",
    "ceilings",
    "device_number",
    "device_id",
    "device_name",
    "kernel_identity",
    "operator",
    "grid_x",
    "grid_y",
    "grid_z",
    "block_x",
    "block_y",
    "block_z",
    "blocks",
    "threads_per_block",
];

/// Texts that describe a kernel, the same for all its launches but for the spelling of its name.
pub(super) const TEXTS: [&str; 3] = ["kernel", "category", "kind"];

/// What a name says.
const FLAGS: [&str; 7] = [
    "tensor",
    "crosses_link",
    "is_matrix_product",
    "is_per_element",
    "is_persistent_by_name",
    "is_serial_by_name",
    "has_work_by_name",
];

/// Sums over the launches that were judged.
const JUDGED: [&str; 9] = [
    "duration_s",
    "roofline_s",
    "roofline_likely_s",
    "roofline_high_s",
    "hierarchical_s",
    "structural_s",
    "savings_low_s",
    "savings_s",
    "savings_high_s",
];

/// How the sums of two groups of launches make that of both.
#[derive(Debug, Clone, Copy)]
enum Merge {
    Sum,
    Least,
    Greatest,
    Any,
}

/// A sum over launches.
pub(super) struct Sum {
    pub(super) name: String,
    /// The expression over the columns of the view of launches.
    text: String,
    merge: Merge,
}

impl Sum {
    /// Returns the expression that merges it.
    pub(super) fn merged(&self) -> String {
        let function = match self.merge {
            Merge::Sum => "sum",
            Merge::Least => "min",
            Merge::Greatest => "max",
            Merge::Any => "bool_or",
        };
        format!("{function}({}) AS {}", self.name, self.name)
    }
}

/// Sums that are kept apart for the launches that were judged and for the others.
fn of_parts() -> Vec<String> {
    let mut all: Vec<String> =
        ["bytes", "t_mem_s", "t_math_s", "t_tensor_activity_s"].map(str::to_owned).into();
    for pipe in Pipe::ALL {
        all.push(operations(*pipe));
        all.push(format!("t_{}_s", pipe.key()));
    }
    for level in MemoryLevel::ALL.into_iter().filter(|level| *level != MemoryLevel::Dram) {
        all.push(format!("bytes_{}", level.key()));
        all.push(format!("t_{}_s", level.key()));
    }
    all
}

/// Returns the sums over the launches of each kernel, without those that are missing in all of them.
pub(super) fn sums(facts: &Facts) -> Vec<Sum> {
    let mut all = Vec::new();
    let mut add = |name: &str, merge: Merge, text: String| {
        all.push(Sum { name: name.to_owned(), text, merge });
    };
    for name in TEXTS {
        add(name, Merge::Least, format!("min({name})"));
    }
    for flag in FLAGS {
        add(flag, Merge::Any, format!("bool_or({flag})"));
    }
    let of = |is: &str, name: &str| format!("sum(CASE WHEN {is} THEN {name} END)");
    let known = |sum: String| format!("coalesce({sum}, 0e0)");
    let number = |count: String| format!("CAST(coalesce({count}, 0) AS DOUBLE)");
    add("launches", Merge::Sum, "CAST(sum(launches) AS DOUBLE)".to_owned());
    let measured = known(of("NOT is_instrumented", "duration_s * launches"));
    add("measured_s", Merge::Sum, measured);
    add("judged_launches", Merge::Sum, number(of("is_judged", "launches")));
    for name in JUDGED {
        let column = if name == "duration_s" { "judged_s" } else { name };
        add(column, Merge::Sum, known(of("is_judged", &format!("{name} * launches"))));
    }
    let headroom = "CASE WHEN is_judged THEN headroom END";
    add("headroom_least", Merge::Least, format!("min({headroom})"));
    add("headroom_greatest", Merge::Greatest, format!("max({headroom})"));
    let faster = "is_judged AND is_faster_than_roofline";
    add("faster_launches", Merge::Sum, number(of(faster, "launches")));
    add("faster_s", Merge::Sum, known(of(faster, "duration_s * launches")));
    for (part, is) in [("judged", "is_judged"), ("rest", "NOT is_judged")] {
        for name in of_parts() {
            if *facts.of(&name) != Fact::Missing {
                let sum = of(is, &format!("{name} * launches"));
                add(&format!("{part}_{name}"), Merge::Sum, sum);
            }
        }
        let worst = format!("max(CASE WHEN {is} THEN uncounted END)");
        add(&format!("{part}_uncounted"), Merge::Greatest, worst);
        for name in ["by_utilization", "math_by_utilization"] {
            add(&format!("{part}_{name}"), Merge::Any, format!("bool_or({is} AND {name})"));
        }
    }
    add("is_algorithmic", Merge::Any, "bool_or(is_algorithmic)".to_owned());
    for problem in Problem::ALL {
        let key = problem.key();
        let is = format!("problem = '{key}'");
        add(&format!("problem_{key}"), Merge::Sum, number(of(&is, "launches")));
    }
    let weight = format!("coalesce(duration_s, {UNTIMED:e}) * launches");
    for quantity in AVERAGED {
        let name = quantity.column();
        if *facts.of(&name) != Fact::Missing {
            let sum = format!("sum({name} * {weight})");
            let weights = of(&format!("{name} IS NOT NULL"), &weight);
            add(&format!("{name}_sum"), Merge::Sum, sum);
            add(&format!("{name}_weight"), Merge::Sum, weights);
            add(&format!("{name}_least"), Merge::Least, format!("min({name})"));
            add(&format!("{name}_greatest"), Merge::Greatest, format!("max({name})"));
        }
    }
    for name in ["multiprocessors", "l2_cache_bytes"] {
        if *facts.of(name) != Fact::Missing {
            add(name, Merge::Greatest, format!("max({name})"));
        }
    }
    add("fixed_cost_least_s", Merge::Least, "min(fixed_cost_s)".to_owned());
    add("fixed_cost_greatest_s", Merge::Greatest, "max(fixed_cost_s)".to_owned());
    all
}

/// Returns the statement that makes the view.
pub(super) fn view(engine: Engine, facts: &Facts) -> String {
    let sums: Vec<String> =
        sums(facts).iter().map(|sum| format!("{} AS {}", sum.text, sum.name)).collect();
    let key = KEY.join(", ");
    format!(
        "{} kernel_sums AS\nSELECT {key},\n  {}\nFROM launch_roofline GROUP BY {key}{};\n",
        engine.view(),
        sums.join(",\n  "),
        engine.after_grouping(),
    )
}
