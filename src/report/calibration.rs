//! Report of measured run-to-run noise, with suggested floors for a policy.

use schemars::JsonSchema;
use serde::Serialize;

use super::document::{Block, Cell, Column, Document, Form, Table};
use super::view::{Style, count, printable};
use super::{Reported, pretty};
use crate::compare::Noise;
use crate::gate::{Alarms, Calibration, Grouped, Seen};
use crate::json;
use crate::units::{RelativeChange, Share};

/// Measured noise with the suggested floors.
#[derive(Debug, Clone, Copy)]
pub struct Calibrated<'a>(pub &'a Calibration);

/// What is suggested for runs that differ between groups.
fn suggested(by: Grouped, noise: &Noise) -> RelativeChange {
    match by {
        Grouped::Device => noise.device,
        Grouped::Day => noise.day,
    }
}

impl Reported for Calibrated<'_> {
    fn document(&self, _: &Style) -> Document {
        let mut document = Document::new("Run-to-run noise");
        document.push(Block::lines(self.lines()));
        document.section("Floors", vec![Block::Table(self.floors())]);
        document.section("For rooflint.toml", vec![Block::Code(self.policy())]);
        document
    }

    /// The suggested floors alone.
    fn verdict(&self, _: &Style) -> Document {
        let mut document = Document::new("Run-to-run noise");
        document.push(Block::Code(self.policy()));
        document
    }

    /// Renders text that can be appended to a configuration: everything except the floors is a
    /// comment.
    fn own(&self, format: &str, style: &Style) -> Option<String> {
        match format {
            "text" => {
                let comment = format!("# {}\n", self.lines().join("\n# "));
                Some(style.adapted(format!("{comment}\n{}", self.policy())))
            }
            "json" => Some(self.json()),
            _ => None,
        }
    }
}

impl Calibrated<'_> {
    fn lines(self) -> Vec<String> {
        let found = self.0;
        let percent = |share: f64| format!("{:.1}%", share * 100.0);
        let alarms = |alarms: &Alarms| {
            let (all, rate) = (2 * found.pairs, alarms.rate.get());
            format!("{} of {all} ({})", (rate * all as f64).round(), percent(rate))
        };
        let mut lines = vec![
            format!(
                "{} of the same code, {} compared",
                count(found.runs as u64, "run", "runs"),
                count(found.pairs as u64, "pair", "pairs")
            ),
            format!(
                "global shift: {} typical, {} at most{}",
                percent(found.common_typical.get()),
                percent(found.common_largest.get()),
                found.furthest.as_ref().filter(|_| found.pairs > 1).map_or_else(
                    String::new,
                    |[one, two]| format!(" ({} and {})", printable(one), printable(two))
                )
            ),
        ];
        let kernels = |Seen { percentile_99, compared }: Seen, what: &str| {
            percentile_99.map(|shift| {
                let shift = percent(shift.get());
                format!("kernels with {what}: 99% of {compared} comparisons are within {shift}")
            })
        };
        lines.extend(kernels(found.kernel, "5 or more launches"));
        lines.extend(
            kernels(found.few_launches, "fewer launches")
                .map(|line| format!("{line}; few-launches is for {} on each side", Noise::FEW)),
        );
        lines.extend(found.between.map(|between| {
            format!(
                "{}s differ by {} (standard deviation over {} of them, beyond the noise of their runs)",
                between.by.key(),
                percent(between.spread.get()),
                between.groups
            )
        }));
        lines.push(format!("false alarms with the current policy: {}", alarms(&found.alarms)));
        let proposed = alarms(&found.alarms_proposed);
        lines.push(format!("false alarms with the suggested floors: {proposed}"));
        for (kernel, times) in found.alarms.noisy.iter().take(5) {
            let times = count(*times as u64, "time", "times");
            lines.push(format!("failed {times} with the current policy: {}", printable(kernel)));
        }
        if found.runs < 5 {
            lines.push("too few runs; use at least five, taken on different days".to_owned());
        }
        lines
    }

    /// Makes the table of observed shifts and suggested floors.
    fn floors(self) -> Table {
        let found = self.0;
        let columns = vec![
            Column::text("floor", "floor"),
            Column::number("comparisons", "comparisons", Form::Count),
            Column::number("within", "within", Form::Share),
            Column::number("proposed", "suggested", Form::Share),
        ];
        let mut table = Table::new("floors", columns);
        for (floor, comparisons, within, proposed) in [
            ("kernel", found.kernel.compared, found.kernel.percentile_99, found.proposed.kernel),
            (
                "few-launches",
                found.few_launches.compared,
                found.few_launches.percentile_99,
                found.proposed.few_launches,
            ),
            ("common", found.pairs, Some(found.common_largest), found.proposed.common),
        ] {
            table.push([
                Cell::text(floor),
                Cell::count(comparisons as u64),
                Cell::maybe(within),
                Cell::Number(proposed.get()),
            ]);
        }
        if let Some(between) = found.between {
            table.push([
                Cell::text(between.by.key()),
                Cell::count(between.groups as u64),
                Cell::Missing,
                Cell::Number(suggested(between.by, &found.proposed).get()),
            ]);
        }
        table
    }

    /// Returns the floors as a section of the configuration.
    fn policy(self) -> String {
        let noise = self.0.proposed;
        let learned = self.0.between.map(|between| {
            let spread = suggested(between.by, &noise);
            format!("{} = {}\n", between.by.key(), spread.get())
        });
        format!(
            "[gate.noise]\nkernel = {}\nfew-launches = {}\ncommon = {}\n{}",
            noise.kernel.get(),
            noise.few_launches.get(),
            noise.common.get(),
            learned.unwrap_or_default()
        )
    }

    fn json(self) -> String {
        let found = self.0;
        pretty(&CalibrationDocument {
            schema: "rooflint/calibration/1",
            rooflint: env!("CARGO_PKG_VERSION"),
            runs: found.runs,
            pairs: found.pairs,
            common_largest: found.common_largest,
            common_typical: found.common_typical,
            kernel_99_percent: found.kernel.percentile_99,
            kernel_comparisons: found.kernel.compared,
            few_launches_99_percent: found.few_launches.percentile_99,
            few_launches_comparisons: found.few_launches.compared,
            between: found.between.map(|between| BetweenDocument {
                by: between.by.key(),
                groups: between.groups,
                spread: between.spread,
            }),
            false_alarms: found.alarms.rate,
            false_alarms_with_proposed: found.alarms_proposed.rate,
            proposed: found.proposed,
            noisy: found
                .alarms
                .noisy
                .iter()
                .map(|(kernel, failures)| NoisyKernel { kernel, failures: *failures })
                .collect(),
        })
    }
}

/// Run-to-run noise measured from repeated runs of the same code.
#[derive(Serialize, JsonSchema)]
struct CalibrationDocument<'a> {
    /// Type and major version of this document.
    schema: &'static str,
    /// Version of rooflint that wrote it.
    rooflint: &'static str,
    /// Number of runs.
    runs: usize,
    /// Number of pairs compared.
    pairs: usize,
    /// Largest shift of all kernels together between two runs.
    common_largest: RelativeChange,
    /// Typical size of that shift.
    common_typical: RelativeChange,
    /// What 99% of the shifts of kernels with 5 or more launches stay below; `null` if there were none.
    kernel_99_percent: Option<RelativeChange>,
    /// Number of these shifts.
    kernel_comparisons: usize,
    /// What 99% of the shifts of kernels with fewer launches stay below; `null` if there were none.
    few_launches_99_percent: Option<RelativeChange>,
    /// Number of these shifts.
    few_launches_comparisons: usize,
    /// What devices or days add, with `--groups`.
    between: Option<BetweenDocument>,
    /// Share of pairs that fail under the current policy, counted in both directions.
    false_alarms: Share,
    /// The same with the suggested floors.
    false_alarms_with_proposed: Share,
    /// Noise floors suggested by these runs.
    proposed: Noise,
    /// Kernels that failed under the current policy, most frequent first.
    noisy: Vec<NoisyKernel<'a>>,
}

/// What devices or days add to the noise of runs.
#[derive(Serialize, JsonSchema)]
struct BetweenDocument {
    /// What differs from group to group: `device` or `day`.
    by: &'static str,
    /// Number of groups.
    groups: usize,
    /// Standard deviation of the time of a run from group to group, beyond that within them.
    spread: RelativeChange,
}

/// A kernel that failed between runs of the same code.
#[derive(Serialize, JsonSchema)]
struct NoisyKernel<'a> {
    /// Its name.
    kernel: &'a str,
    /// Number of pairs that it failed in.
    failures: usize,
}

/// Returns the JSON schema of calibrations, as pretty-printed JSON.
#[must_use]
pub fn calibration_schema() -> String {
    json::schema::<CalibrationDocument<'_>>(
        "calibration-1",
        "Run-to-run noise measured by rooflint",
    )
}
