//! The model as SQL: views over a table of launches that compute what `law` computes, for
//! engines that hold the launches of many ranks. The tables beside the launches have what SQL cannot
//! derive: the figures of devices, and what names say.

mod check;
mod columns;
mod engine;
mod expr;
mod kernel;
mod launch;
mod ranks;
mod steps;
mod summed;
mod sums;

pub use engine::Engine;
pub use summed::Limits;

use kernel::Scope;

use crate::law::{self, CeilingSet};
use crate::scalar::Maybe;
use crate::table::Facts;

/// What the views leave out; the head of the text says so.
const LEFT_OUT: &[&str] = &[
    "closed forms: known sizes of an algorithm, which may raise roofline_high_s and so change a state",
    "rules: causes, and the savings of latency-bound kernels that only a cause backs",
    "waivers, groups, confidence and reasons; what the profiler's own rules say",
    "devices and names that are not in the tables devices and names: their figures are missing",
];

/// The model for an engine and its tables.
#[derive(Debug, Clone)]
pub struct Model<'a> {
    /// The engine.
    pub engine: Engine,
    /// Ceilings; `None`: those of the table of devices.
    pub ceilings: Option<CeilingSet>,
    /// What a kernel is judged by.
    pub limits: Limits,
    /// The folder of the tables; `None`: the text expects tables of their names.
    pub folder: Option<&'a str>,
    /// What is known of the columns of launches and of devices: the text has only what they need.
    pub facts: Facts,
}

impl Model<'_> {
    /// Returns the statements that make the views `launch_roofline`, `kernel_sums`, `kernel_roofline`,
    /// `kernel_spread`, `rank_spread` and, if anything is known of the tables, `model_check`; with a folder, also those
    /// that make its tables known.
    #[must_use]
    pub fn text(&self) -> String {
        let engine = self.engine;
        let launches = launch::view(engine, self.ceilings, &self.facts);
        let tables = self.folder.map(|folder| engine.tables(folder)).unwrap_or_default();
        let sums = sums::view(engine, &launches.facts);
        let [of_rank, of_run] = [Scope::Rank, Scope::Run]
            .map(|scope| kernel::view(engine, scope, &launches.facts, self.limits));
        let ranks = ranks::view(engine, &launches.facts);
        let check = if self.facts == Facts::default() {
            String::new()
        } else {
            let all = launch::view(engine, self.ceilings, &Facts::default()).reads;
            let all: Vec<String> = all.into_iter().map(|(name, _)| name).collect();
            check::view(engine, &self.facts, &all, &figures())
        };
        let mut text = format!(
            "-- The model of rooflint {} as SQL for {}.\n-- Not in SQL:\n",
            env!("CARGO_PKG_VERSION"),
            engine.name()
        );
        for left_out in LEFT_OUT {
            text.push_str(&format!("--   {left_out}\n"));
        }
        if !check.is_empty() {
            text.push_str(
                "-- Columns that are missing or constant in the tables are left out. Where other launches were added,\n\
                 -- model_check has cells: print the text again.\n",
            );
        }
        text.push_str("-- Columns of launches that it reads:\n");
        for (name, kind) in launches.reads {
            text.push_str(&format!("--   {name} {kind}\n"));
        }
        text.push_str(engine.settings());
        for part in [&tables, &launches.sql, &sums, &of_rank, &of_run, &ranks, &check] {
            if !part.is_empty() {
                text.push('\n');
                text.push_str(part);
            }
        }
        text.push_str(engine.settings_back());
        text
    }
}

/// Returns the columns of the table of devices that have figures.
#[must_use]
pub fn figures() -> Vec<String> {
    let all = law::figures(&law::roofs(|_| Maybe::known(1.0)));
    all.into_iter().map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spark_keeps_the_views_analyzed_and_no_others() {
        let text = Model {
            engine: Engine::Spark,
            ceilings: None,
            limits: Limits::default(),
            folder: None,
            facts: Facts::default(),
        }
        .text();
        let lines: Vec<&str> = text.lines().collect();
        let at = |line: &str| lines.iter().position(|one| *one == line).unwrap();
        let is_view = |line: &&str| line.starts_with("CREATE ");
        let views = lines.iter().position(is_view)..lines.iter().rposition(is_view);
        assert!(Some(at("SET spark.sql.legacy.storeAnalyzedPlanForView = true;")) < views.start);
        assert!(Some(at("RESET spark.sql.legacy.storeAnalyzedPlanForView;")) > views.end);
    }
}
