//! The views with the verdicts on kernels: of each rank, and over the ranks of a run.

use std::collections::BTreeSet;

use super::columns::operations;
use super::engine::Engine;
use super::expr::{Arena, Choice, Condition, Figure};
use super::steps::Steps;
use super::summed::{Limits, Summed};
use super::sums::{self, KEY, TEXTS};
use crate::law::{Ground, State};
use crate::model::{MemoryLevel, Pipe};
use crate::scalar::{Maybe, Number, Word};
use crate::table::Facts;

/// Returns the state that rests on a ground.
fn state(ground: Choice<'_, Ground>) -> Choice<'_, State> {
    Ground::ALL.iter().rev().fold(Choice::Known(State::BLANK), |rest, one| {
        Figure::select(Figure::is(ground, *one), || Choice::Known(one.state()), || rest)
    })
}

/// Returns whether a kernel with this ground has a state by the model.
fn is_modeled(ground: Choice<'_, Ground>) -> Condition<'_> {
    let modeled = Ground::ALL.iter().filter(|one| one.state().is_modeled());
    modeled.fold(Condition::Known(false), |any, one| any | Figure::is(ground, *one))
}

/// Outputs of the law, in order, with their expressions.
fn outputs<'a>(sums: &Summed<'a, '_>, limits: Limits) -> Vec<(String, u32)> {
    let arena = sums.arena;
    let (kernel, bar) = (sums.kernel(), sums.bar(limits));
    let zero = Figure::of(0.0);
    let limiter = arena.named_choice(kernel.limiter(), "limiter");
    let ground = arena.named_choice(kernel.ground(&bar, limiter), "ground");
    let is_modeled = is_modeled(ground);
    let is_winnable = is_modeled & kernel.is_winnable(limiter);
    let of = |is: Condition<'a>, name: &str| Maybe::when(is, || arena.present(name));
    let infinite = Figure::of(f64::INFINITY);
    let is_compared = kernel.has_roofline();
    let bounded = |name: &str| of(is_compared & sums.figure(name).less(infinite), name);
    let has_roofline = is_compared & zero.less(kernel.roofline);
    let counted = !kernel.is_math_by_utilization;
    let mut all: Vec<(String, u32)> = Vec::new();
    let mut number = |name: &str, value: Maybe<Figure<'a>, Figure<'a>>| {
        all.push((name.to_owned(), arena.or_null(value)));
    };
    number("launches", Maybe::known(sums.figure("launches")));
    let is_timed = zero.less(sums.figure("measured_s"));
    number("measured_s", of(is_timed, "measured_s"));
    number("judged_s", of(is_compared, "judged_s"));
    let total = sums.figure("run_measured_s");
    number("share", Maybe::when(is_timed, || sums.figure("measured_s") / total));
    number("bytes", sums.part("bytes"));
    for pipe in Pipe::ALL {
        for name in [operations(*pipe), format!("t_{}_s", pipe.key())] {
            number(&name, sums.part(&name));
        }
    }
    number("t_mem_s", sums.part("t_mem_s"));
    // How busy a unit was is not the time of work that was counted.
    number("t_math_s", Maybe::only_if(counted, || sums.part("t_math_s")));
    for level in MemoryLevel::ALL.into_iter().filter(|level| *level != MemoryLevel::Dram) {
        let name = format!("t_{}_s", level.key());
        number(&name, sums.part(&name));
    }
    number("roofline_s", of(has_roofline, "roofline_s"));
    number("roofline_likely_s", bounded("roofline_likely_s"));
    number("roofline_high_s", bounded("roofline_high_s"));
    number("structural_s", of(has_roofline, "structural_s"));
    number("headroom", kernel.headroom());
    number("headroom_low", kernel.least_headroom());
    number("headroom_likely", kernel.headroom_likely());
    for name in ["headroom_least", "headroom_greatest"] {
        number(name, Maybe::only_if(!kernel.crosses_link, || sums.maybe(name)));
    }
    let won = |name: &str| {
        Maybe::when(is_modeled, || Figure::select(is_winnable, || arena.present(name), || zero))
    };
    number("savings_low_s", won("savings_low_s"));
    number("savings_s", won("savings_s"));
    number("savings_high_s", Maybe::when(is_modeled, || kernel.savings_high));
    // Profilers with other launch costs among the launches of one kernel leave its state open.
    let is_settled = sums.figure("fixed_cost_least_s").same(sums.figure("fixed_cost_greatest_s"));
    all.push(("limiter".to_owned(), limiter.node(arena)));
    let state = Maybe::when(is_settled, || state(ground));
    all.push(("state".to_owned(), arena.or_null_word(state)));
    all.push(("ground".to_owned(), arena.or_null_word(Maybe::when(is_settled, || ground))));
    all.push(("is_winnable".to_owned(), is_winnable.node(arena)));
    all
}

/// Whose launches a kernel has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// Those of a rank.
    Rank,
    /// Those of all ranks of a run.
    Run,
}

impl Scope {
    const fn view(self) -> &'static str {
        match self {
            Self::Rank => "kernel_roofline",
            Self::Run => "kernel_spread",
        }
    }

    /// Returns the columns that tell kernels apart.
    fn key(self) -> impl Iterator<Item = &'static str> {
        let is_of_rank = |name: &&str| matches!(*name, "rank" | "device_number");
        KEY.into_iter().filter(move |name| self == Self::Rank || !is_of_rank(name))
    }

    /// Returns the columns that tell the ranks of a kernel from each other.
    const fn spread(self) -> &'static [&'static str] {
        match self {
            Self::Rank => &[],
            Self::Run => &["ranks", "measured_least_s", "measured_greatest_s"],
        }
    }
}

/// Returns the statement that makes the view of kernels.
pub(super) fn view(engine: Engine, scope: Scope, facts: &Facts, limits: Limits) -> String {
    let arena = Arena::default();
    let mut outputs = outputs(&Summed { arena: &arena, facts }, limits);
    if scope == Scope::Run {
        let [greatest, ranks, measured] =
            ["measured_greatest_s", "ranks", "measured_s"].map(|name| arena.present(name));
        let is_timed = Figure::of(0.0).less(measured);
        let imbalance = Maybe::when(is_timed, || greatest / (measured / ranks));
        outputs.push(("imbalance".to_owned(), arena.or_null(imbalance)));
    }
    let steps = Steps::new(&arena, &outputs);
    let key: Vec<&str> = scope.key().collect();
    let device = if scope == Scope::Rank {
        "run, rank, device_number"
    } else {
        "run, device_id, device_name"
    };
    let run = if scope == Scope::Rank { "run, rank" } else { "run" };
    let first = |columns: &BTreeSet<&str>| {
        let columns = columns.iter().map(|name| match *name {
            "run_measured_s" => format!("sum(measured_s) OVER (PARTITION BY {run}) AS {name}"),
            "family_savings_s" => {
                format!("sum(savings_s) OVER (PARTITION BY {device}, kernel_identity) AS {name}")
            }
            "family_savings_high_s" => {
                format!(
                    "sum(savings_high_s) OVER (PARTITION BY {device}, kernel_identity) AS {name}"
                )
            }
            name => name.to_owned(),
        });
        let columns: Vec<String> = columns.collect();
        let from = match scope {
            Scope::Rank => "kernel_sums".to_owned(),
            // A rank without a time for a kernel is neither its fastest nor its slowest.
            Scope::Run => {
                let merged: Vec<String> = sums::sums(facts).iter().map(sums::Sum::merged).collect();
                let key = key.join(", ");
                format!(
                    "(\n    SELECT {key},\n      CAST(count(DISTINCT rank) AS DOUBLE) AS ranks,\n      \
                     min(nullif(measured_s, 0)) AS measured_least_s,\n      \
                     max(nullif(measured_s, 0)) AS measured_greatest_s,\n      \
                     {}\n    FROM kernel_sums GROUP BY {key}\n  ) AS merged",
                    merged.join(",\n      ")
                )
            }
        };
        format!("  SELECT {}\n  FROM {from}", columns.join(",\n    "))
    };
    let kept: Vec<&str> = key
        .iter()
        .copied()
        .chain(TEXTS)
        .chain(["tensor", "crosses_link"])
        .chain(scope.spread().iter().copied())
        .collect();
    let query = steps.query(first, &kept, &outputs);
    format!("{} {} AS {query};\n", engine.view(), scope.view())
}
